"""What a worker does of an import: usual rows of a range of a file → the lines of their records, digests, columns.

A range is taken in two steps. After the first, the names of its rows are known to whoever counts samples over all
ranges in their order; with these numbers the records are made in the second.
"""

from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from affidavit.archive.copy_parts import ROW_GROUP
from affidavit.archive.record import encode
from affidavit.contracts.frozen_contract import frozen_contract
from affidavit.contracts.own_file import GivenContracts
from affidavit.reading.bulk_records import BulkRecords, CodedRows, KnownRows
from affidavit.reading.import_messages import ImportSetup, Look, Made, Make, range_of
from affidavit.reading.output_columns import OutputColumns
from affidavit.reading.worker_channel import Answer, Message

_setup = msgspec.msgpack.Decoder(ImportSetup)
_asked: "msgspec.msgpack.Decoder[Look | Make]" = msgspec.msgpack.Decoder(Look | Make)


def begin(setup: Message) -> "ImportJob":
    """The job that a setup is about."""
    said = _setup.decode(setup.content)
    contract = frozen_contract(said.contract, said.options, said.described, GivenContracts(()))
    return ImportJob(BulkRecords(said.study, said.first, OutputColumns.of(said.columns), contract))


class ImportJob:
    """Ranges of files, one after another."""

    def __init__(self, bulk: BulkRecords) -> None:
        self._bulk = bulk
        self._known: KnownRows | None = None

    def __call__(self, message: Message) -> Answer:
        """Do what is asked."""
        asked = _asked.decode(message.content)
        return self._looked(asked) if isinstance(asked, Look) else self._made(asked, message.body)

    def _looked(self, asked: Look) -> Answer:
        """How many usual rows there are, and what samples are counted by; nothing if one is not usual."""
        self._known = self._bulk.known(range_of(asked.path, asked.start, asked.size), 0)
        hashes = None if self._known is None else self._known.rows.hashes()
        return Answer(b"", [] if hashes is None else [hashes.data.cast("B")])

    def _made(self, asked: Make, samples: memoryview) -> Answer:
        assert self._known is not None  # noqa: S101 - nobody asks for records of rows that are not usual
        known, self._known = self._known, None
        numbers = np.frombuffer(samples, np.int64) if samples else np.zeros(known.rows.height, np.int64)
        batch = self._bulk.made(CodedRows(known, numbers, asked.before))
        assert isinstance(batch.columns, pl.DataFrame)  # noqa: S101 - columns are made at hand
        said = Made(
            len(batch.lines),
            [(encode(record, seq=1, group=1), times) for record, times in batch.counts],
            batch.samples,
            None if asked.part is None else _written(batch.columns, Path(asked.part)),
        )
        return Answer(msgspec.msgpack.encode(said), (batch.lines, batch.entries))


def _written(columns: pl.DataFrame, path: Path) -> str | None:
    """The digest of columns in a file; None if they could not be written, which costs nothing but time."""
    file = BytesIO()
    known = columns.select(column for column in columns if column.null_count() < len(column))
    with suppress(OSError, pl.exceptions.PolarsError):
        known.write_parquet(file, compression="lz4", statistics=False, row_group_size=ROW_GROUP)
        content = file.getbuffer()
        path.write_bytes(content)
        return sha256(content).hexdigest()
    return None
