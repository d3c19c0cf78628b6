"""Rows of outputs, as often as they are asked for: taken apart, their samples numbered, each as its record."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from affidavit.archive.record import Failed, Response
from affidavit.contracts.contract import AnyContract
from affidavit.errors import InputError
from affidavit.json_values import shown
from affidavit.reading.imported_records import NamedRow, Prompts, RecordMaker, RowNames
from affidavit.reading.output_columns import OutputColumns, Role
from affidavit.reading.repeat_counts import ALL_BITS, RepeatCounts, hashes_of
from affidavit.reading.source import Row

_AT_ONCE = 512
"""Rows whose names are counted together."""


@dataclass(frozen=True)
class OutputRows:
    """Rows of outputs, as often as they are asked for, and how they are taken apart."""

    rows: Callable[[], Iterable[Row]]
    columns: OutputColumns
    prompts: Prompts | None = None
    told_by_first: bool = True
    """Whether the first row told which columns there are."""

    def named(self) -> Iterator[NamedRow]:
        """Row after row, taken apart."""
        names = RowNames(self.columns, self.prompts, told_by_first=self.told_by_first)
        return (names.of(row, number) for number, row in enumerate(self.rows(), 1))

    def records(self, study: str, contract: AnyContract) -> Iterator[Response | Failed]:
        """Record after record, in the order of the rows; one that another row has said is refused by name."""
        maker, numbers = RecordMaker(study, self.columns, contract), SampleNumbers(self)
        rows = self.named()
        while batch := list(islice(rows, _AT_ONCE)):
            for row, sample in numbers.of(batch):
                yield maker.record(row, sample)

    def refuse_double(self, double: NamedRow) -> None:
        """Refuse a row that names what an earlier one has named."""
        names = _own_names(double)
        first = next(row.where for row in self.named() if _own_names(row) == names)
        if first == double.where:
            return  # two names that met by chance
        said = shown([name for name in names[1:] if name is not None])
        raise InputError(
            double.where, expected="an output that no other row has", found=f"the names of {first}: {said}"
        )


class SampleNumbers:
    """The numbers of samples, batch by batch: those that rows have, or how many of the same came before."""

    def __init__(self, rows: OutputRows) -> None:
        self._rows = rows
        # Rows that number their samples need not be counted.
        self._counted = Role.ID in rows.columns.paths and Role.SAMPLE not in rows.columns.paths
        self._named = bool({Role.SAMPLE, Role.OUTPUT_ID} & rows.columns.paths.keys())
        self.repeats, self._told = RepeatCounts(), RepeatCounts()

    def of(self, batch: Sequence[NamedRow]) -> Iterator[tuple[NamedRow, int]]:
        """Every row with the number of its sample; a row that another has named is refused."""
        earlier = [0] * len(batch)
        if self._counted:
            names = [[row.task for row in batch], [row.item_id for row in batch]]
            names += [[row.condition for row in batch], [row.model for row in batch]]
            earlier = self.repeats.before(hashes_of(names)).tolist()
        if self._named:
            hashes = np.fromiter((hash(_own_names(row)) & ALL_BITS for row in batch), np.uint64, len(batch))
            told = self._told.before(hashes).tolist()
            for row in (row for row, times in zip(batch, told, strict=True) if times):
                self._rows.refuse_double(row)
        return ((row, n if row.sample is None else row.sample) for row, n in zip(batch, earlier, strict=True))


def _own_names(row: NamedRow) -> tuple[object, ...]:
    """What no two rows may have in common, where they name samples or outputs."""
    return row.task, row.item_id, row.condition, row.model, row.sample, row.output_id
