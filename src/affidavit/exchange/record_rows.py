"""Records as rows of a table that leaves: the columns for counting, and beside them what these leave out.

The columns are those of `study.records()`, in their order, `answer` by another name, and then those of `ADDED`. In
a column a text cannot hold half of a surrogate pair: such an output is null in `raw_output` and stands, escaped as
in JSON, in `raw_output_escaped`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

import polars as pl

from affidavit.archive.record import Failed, ImportIdentity, Judgement, Label, Record, Response
from affidavit.archive.record_columns import RecordColumns, without_surrogates
from affidavit.contracts.parts import Parts
from affidavit.json_values import Fields, canonical
from affidavit.reading.output_columns import ANSWER

ADDED = (
    "output_id", "prompt", "prompt_sha256", "finish_reason", "reasoning", "contract_params", "reading", "usage",
    "item", "about", "label", "rater", "date",
)  # fmt: skip
"""Texts. `reading` holds, as JSON, every field of the contract; `usage`, `contract_params`, `item` and `label` are
JSON as well. The last four are of labels by people."""
_READ = "extracted_answer"
"""What was read from an output leaves by this name: what a reader of rows finds in `answer` is a right answer."""
_AT_ONCE = 1_000
"""Records that are Python objects at the same time."""

Cells = tuple[object, ...]


class RecordRows:
    """The rows of a study's records; `parts` are those of the contract of each task, `item_of` what is asked."""

    def __init__(self, parts: Mapping[str, Parts], item_of: Callable[[Record], Fields | None]) -> None:
        self._columns, self._item_of = RecordColumns(parts), item_of
        counted = {_READ if name == ANSWER else name: kind for name, kind in self._columns.schema.items()}
        self.schema: dict[str, pl.DataType] = {**counted, **dict.fromkeys(ADDED, pl.String())}

    def cells(self, record: Record) -> Cells:
        """The cells of a record, by the order of the schema."""
        return (*self._counted(record), *self._added(record))

    def _counted(self, record: Record) -> Cells:
        if isinstance(record, Label):
            known = {"kind": record.kind, "key": record.labelled_key}
            return tuple(known.get(name) for name in self._columns.schema)
        return self._columns.row(record)

    def frames(self, records: Iterable[Record]) -> Iterator[pl.DataFrame]:
        """The rows as frames, some at a time."""
        rest = iter(records)
        while batch := list(islice(rest, _AT_ONCE)):
            counted = self._columns.frame(map(self._counted, batch))
            added = [dict(zip(ADDED, map(_spelt, self._added(record)), strict=True)) for record in batch]
            beside = pl.DataFrame(added, schema=dict.fromkeys(ADDED, pl.String()))
            yield counted.rename({ANSWER: _READ}).hstack(beside)

    def _added(self, record: Record) -> Cells:
        item = self._item_of(record)
        return _added(record, None if item is None else canonical(item).decode())


def _spelt(cell: object) -> object:
    return without_surrogates(cell) if isinstance(cell, str) else cell


def _added(record: Record, item: str | None) -> Cells:
    """The cells of `ADDED`."""
    if isinstance(record, Label):
        return (*[None] * (len(ADDED) - 4), record.about, json.dumps(record.value), record.rater, record.date)
    subject = record.subject
    output_id, prompt = (
        (subject.output_id, subject.prompt) if isinstance(subject, ImportIdentity) else (None, None)
    )
    asked = None if isinstance(subject, ImportIdentity) else subject.prompt_sha256
    return (output_id, prompt, asked, *_arrived(record), item, *[None] * 4)


def _arrived(record: Response | Judgement | Failed) -> Cells:
    if isinstance(record, Failed):
        return (None,) * 5
    return (
        record.finish_reason,
        record.reasoning,
        json.dumps(record.contract_params),
        json.dumps(record.reading),
        None if record.usage is None else json.dumps(record.usage),
    )
