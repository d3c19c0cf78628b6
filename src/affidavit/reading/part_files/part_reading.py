"""One range read into one part: the same bytes whoever reads it, and however often.

A part is written under a name of nobody's, and has its own only when whoever leads the reading commits it. A row
that is none does not stop a part: it is told in a file beside it, unless that was not wanted.
"""

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from affidavit.archive.disk import storage_errors
from affidavit.contracts.contract import AnyContract
from affidavit.errors import InputError
from affidavit.json_values import Fields
from affidavit.reading.batches import BatchReader, Result
from affidavit.reading.engines import batch_reader, refuse_replaced
from affidavit.reading.line_batches import LineBatch
from affidavit.reading.parquet_files import PARQUET, RowRange
from affidavit.reading.part_files.counts import counts_of
from affidavit.reading.part_files.plan import InputRange, Plan
from affidavit.reading.part_files.range_source import lines_between
from affidavit.reading.rows import RowReader
from affidavit.reading.source import Source, file_source
from affidavit.reading.sources import FORMATS

_LINE = re.compile(r":(?:row )?([0-9]+)$")


class BadRow(msgspec.Struct, frozen=True):
    """A row that is none, and why."""

    file: str
    line: int | None
    """Of lines, counted from the beginning of the range; None where the row has no number."""
    expected: str
    found: str


class Part(msgspec.Struct, frozen=True):
    """What is known of a part that was written."""

    number: int
    name: str
    sha256: str
    size: int
    lines: int
    """Of the range, good, bad and blank."""
    bad: int
    input: InputRange
    counts: Fields


class WrittenPart(msgspec.Struct, frozen=True):
    """A part, and the names of nobody's under which it lies until it is committed."""

    part: Part
    content: str
    bad_rows: str | None


class Places(NamedTuple):
    """Where inputs are named from, and where parts are written."""

    base: Path
    folder: Path


class PartReader:
    """The ranges of a plan, one after another, under its contract."""

    def __init__(
        self, plan: Plan, contract: AnyContract, places: Places, named: Mapping[str, str], *, strict: bool
    ) -> None:
        self._plan = plan
        self._base, self._folder = places
        self._named = named
        self._strict = strict
        read = plan.read
        self._row_reader = RowReader(contract, field=read.field, answer=read.answer, lenses=read.lenses)

    def read(self, number: int) -> WrittenPart:
        """Read a range and write its part; InputError at a bad row if none may be left out."""
        try:
            return self._written(number, careful=False)
        except InputError:
            if self._strict:
                raise
        return self._written(number, careful=True)

    def _written(self, number: int, *, careful: bool) -> WrittenPart:
        taken = self._plan.ranges[number]
        source = _source(self._plan, taken, self._base)
        batches = batch_reader(FORMATS[self._plan.format], self._row_reader)
        content = self._folder / f".{self._plan.name_of(number)}.{secrets.token_hex(6)}.partial"
        walk = _Walk(batches, self._plan.inputs[taken.input].name, self._named, careful=careful)
        try:
            with storage_errors(str(self._folder)):
                with content.open("xb") as stream:
                    batches.write(walk.contents(source), stream)
                    stream.flush()
                    os.fsync(stream.fileno())
                with content.open("rb") as stream:
                    digest = file_digest(stream, "sha256").hexdigest()
                bad = self._bad_rows(content, walk.bad)
        except BaseException:
            with suppress(OSError):
                content.unlink(missing_ok=True)
            raise
        part = Part(
            number, self._plan.name_of(number), digest, content.stat().st_size, walk.lines, len(walk.bad), taken,
            counts_of(walk.result),
        )  # fmt: skip
        return WrittenPart(part, content.name, bad)

    def _bad_rows(self, content: Path, bad: list[BadRow]) -> str | None:
        if not bad:
            return None
        beside = content.with_name(f"{content.name}.bad")
        with beside.open("xb") as stream:
            stream.writelines(msgspec.json.encode(row) + b"\n" for row in bad)
            stream.flush()
            os.fsync(stream.fileno())
        return beside.name


def _source(plan: Plan, taken: InputRange, base: Path) -> Source:
    name = plan.inputs[taken.input].name
    path = base / name
    if taken.stop is None:
        return replace(file_source(path), name=name)
    if plan.format == PARQUET.name:
        whole = file_source(path)
        return RowRange(name, whole.opened, whole.path, PARQUET, start=taken.start, stop=taken.stop)
    return lines_between(name, path, taken.start, taken.stop)


class _Walk:
    """The batches of a source on their way into a part."""

    def __init__(
        self, batches: BatchReader[Any, Any], name: str, named: Mapping[str, str], *, careful: bool
    ) -> None:
        self._batches = batches
        self._name = name
        self._named = named
        self._careful = careful
        self.result = Result()
        self.bad: list[BadRow] = []
        self.lines = 0

    def contents(self, source: Source) -> Iterator[Any]:
        """What is written of each batch."""
        for batch in self._batches.batches([source]):
            for one in self._good(batch) if self._careful else (self._batches.read_batch(batch),):
                refuse_replaced(one.result.replaced, self._named)
                self.result += one.result
                yield one.content
            if isinstance(batch, LineBatch):
                self.lines += batch.hold()

    def _good(self, batch: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever the format has
        """The results of what can be read in a batch: halved until a bad row stands alone."""
        held = batch.halves()
        if held is None:
            yield from self._one(batch)
            return
        for half in held:
            try:
                yield self._batches.read_batch(half)
            except InputError:
                yield from self._good(half)

    def _one(self, batch: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever the format has
        try:
            yield self._batches.read_batch(batch)
        except InputError as error:
            line = _LINE.search(error.where)
            self.bad.append(BadRow(self._name, int(line[1]) if line else None, error.expected, error.found))
