"""Rows of outputs that exist already → their records, and the same records once more from what they hold.

A record keeps the text verbatim, the names that it is counted under, and all other fields of its row. What the
contract says of the text follows from these alone (ruling C2): nothing else has to be kept for a later check. A
row whose text is null is a failure, `no_content` (ruling C1): it is on the record, and moves no score.

`sample` is the number in its column or, where there is none, how many earlier rows have the same task, item, model
and condition. `output_id` is the row's own, or none. A row without an id is its own item, by its number.
"""

from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from affidavit.archive.checked_lines import LONGEST_TEXT
from affidavit.archive.corruption import as_written, contract_as_written
from affidavit.archive.record import Failed, ImportIdentity, Response
from affidavit.archive.seal import Root
from affidavit.archive.study_directory import IMPORTED, ImportedStudy
from affidavit.contracts.contract import RAW_OUTPUT, AnyContract, Unread, guarded
from affidavit.contracts.frozen_contract import frozen_contract
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import InputError
from affidavit.json_values import Fields, digest, shown
from affidavit.reading.json_cells import json_cells
from affidavit.reading.output_columns import (
    ANSWER,
    NAMES,
    ONE_CONDITION,
    UNNAMED,
    OutputColumns,
    Role,
    name_in,
    no_text,
    not_a_text,
    number_in,
    refuse_new_names,
)
from affidavit.reading.record_fields import record_fields_of
from affidavit.reading.rows import LENIENT_READINGS, UNREAD, RowReader
from affidavit.reading.source import Row

if TYPE_CHECKING:
    from affidavit.reading.repeat_counts import RepeatCounts

FINISH_REASON = "finish_reason"
NO_CONTENT = "no_content"
"""Why nothing arrived of a row whose text is null (ruling C1)."""

Prompts = Callable[[str, str], str | None]
"""The words of a task by item and condition, where a file of its own has them."""


class NamedRow(NamedTuple):
    """One row, taken apart."""

    where: str
    task: str
    item_id: str
    model: str
    condition: str
    sample: int | None
    """None: it is counted."""
    output_id: str | None
    prompt: str | None
    raw: str | None
    """None: nothing arrived."""
    rest: Fields


class RowNames:
    """Takes rows apart by their columns; what does not fit is refused with its place."""

    def __init__(
        self, columns: OutputColumns, prompts: Prompts | None = None, *, told_by_first: bool = True
    ) -> None:
        """`told_by_first`: the first row told which columns there are, and no other may say otherwise."""
        self._columns = columns
        self._paths = columns.paths
        self._prompts = prompts
        self._told_by_first = told_by_first
        self._names = [(role, path) for role in NAMES if (path := self._paths.get(role))]
        # Names of columns are taken out of one copy of the row; ways into columns copy what they lead into.
        self._flat = [path.text for path in columns.taken if not path.is_nested]
        self._nested = [path for path in columns.taken if path.is_nested]

    def of(self, row: Row, number: int) -> NamedRow:
        """The parts of a row; `number` is its own among all rows."""
        where, fields = row.where, row.fields
        found = {role: name_in(fields, path, where=where) for role, path in self._names}
        if self._told_by_first:
            refuse_new_names(fields, self._columns, where=where)
            for role, name in found.items():
                if not name.isascii():
                    _refuse_half_pairs(name, self._paths[role].text, where)
        item, condition = found.get(Role.ID, str(number)), found.get(Role.CONDITION, ONE_CONDITION)
        sample = self._paths.get(Role.SAMPLE)
        return NamedRow(
            where,
            found.get(Role.TASK, IMPORTED),
            item,
            found.get(Role.MODEL, UNNAMED),
            condition,
            None if sample is None else number_in(fields, sample, where=where),
            found.get(Role.OUTPUT_ID),
            self._prompt(fields, item, condition, where),
            self._text(fields, where),
            json_cells(self._rest(fields), where=where),
        )

    def _rest(self, fields: Fields) -> Fields:
        """The row without what stands in its record under names of its own."""
        rest = fields.copy()
        for name in self._flat:
            rest.pop(name, None)
        for path in self._nested:
            rest = path.taken_out(rest)
        return rest

    def _text(self, fields: Fields, where: str) -> str | None:
        path = self._columns.text
        raw = path.of(fields)
        if raw is None:
            if not path.is_in(fields):
                raise no_text(path, fields, where=where)
            return None
        if not isinstance(raw, str):
            raise not_a_text(path, raw, where=where)
        if len(raw) > LONGEST_TEXT:
            expected = f"at most {LONGEST_TEXT:,} characters in {path.text!r}"
            raise InputError(where, expected=expected, found=f"{len(raw):,}")
        return raw

    def _prompt(self, fields: Fields, item: str, condition: str, where: str) -> str | None:
        """The words that a row answers: its own, or those of a file of tasks, if they do not contradict them."""
        path = self._paths.get(Role.PROMPT)
        prompt = None if path is None else path.of(fields)
        if prompt is not None and not isinstance(prompt, str):
            name = "" if path is None else path.text
            raise InputError(where, expected=f"a text in {name!r}", found=shown(prompt))
        given = None if self._prompts is None else self._prompts(item, condition)
        if given is None or path is None or prompt is None or not prompt.strip():
            return prompt if given is None else given
        if prompt != given:
            expected = f"in {path.text!r} what the file of tasks says of it: {shown(given)}"
            raise InputError(where, expected=expected, found=shown(prompt))
        return prompt


def _refuse_half_pairs(name: str, column: str, where: str) -> None:
    """Refuse a name that no table can hold as it is: two such names would be one row of it."""
    if any("\ud800" <= character <= "\udfff" for character in name):
        found = f"{shown(name)}, with half of a surrogate pair"
        raise InputError(where, expected=f"a name in {column!r} that tables can hold", found=found)


def import_key(subject: ImportIdentity) -> str:
    """What the record of an output from elsewhere is kept under: a digest of its names."""
    return _key_of(
        subject.task, subject.item_id, subject.condition, subject.model, subject.sample, subject.output_id
    )


def _key_of(*names: str | int | None) -> str:
    return digest([IMPORTED, *names])


def _finish_reason(row: Fields) -> str | None:
    """Why an output ended, where its row says so under our name for it: by it, truncated ones are counted (C6)."""
    said = row.get(FINISH_REASON)
    return said if isinstance(said, str) else None


_TOLD = {
    Role.TASK: "task",
    Role.ID: "item_id",
    Role.CONDITION: "condition",
    Role.MODEL: "model",
    Role.SAMPLE: "sample",
    Role.OUTPUT_ID: "output_id",
    Role.PROMPT: "prompt",
}
"""What of a subject a contract is told under the column of each role."""


class RecordMaker:
    """Makes records by one contract."""

    def __init__(self, study: str, columns: OutputColumns, contract: AnyContract) -> None:
        self._study = study
        self._columns = columns
        self._reader = RowReader(contract)
        self._own: dict[AnyContract, RowReader] = {}
        flat = {role: path for role, path in columns.paths.items() if not path.is_nested}
        told = {flat[role].text: name for role, name in _TOLD.items() if role in flat}
        self._told_columns = tuple(told)
        # Two more than there are columns, as one alone would not come in a tuple.
        self._values = attrgetter(*told.values(), "key", "key")

    def record(self, row: NamedRow, sample: int) -> Response | Failed:
        """The record of a row."""
        key = _key_of(row.task, row.item_id, row.condition, row.model, sample, row.output_id)
        subject = ImportIdentity(
            key, self._study, row.task, row.item_id, row.model, row.condition, sample, row.output_id, row.prompt,
            row.rest,
        )  # fmt: skip
        return self._made(subject, row.raw, _finish_reason(row.rest), where=row.where)

    def again(self, record: Response | Failed, subject: ImportIdentity) -> Response | Failed:
        """The record as it must be, by the text and the row that it holds."""
        raw = record.raw_output if isinstance(record, Response) else None
        # Records of earlier versions do not say why an output ended, whatever their row does.
        is_said = isinstance(record, Response) and record.finish_reason is not None
        finish_reason = _finish_reason(subject.row) if is_said else None
        own = replace(subject, key=import_key(subject), study=self._study)
        return self._made(own, raw, finish_reason, where=f"record {subject.key[:16]}…")

    def _made(
        self, subject: ImportIdentity, raw: str | None, finish_reason: str | None, *, where: str
    ) -> Response | Failed:
        told = self._told(subject)
        try:
            reader = self._reader_for(told, where)
            read = record_fields_of(reader, {**told, RAW_OUTPUT: raw}, where=where)
        except InputError as error:
            if (by_column := self._by_its_column(error)) is error:
                raise
            raise by_column from error
        if raw is None:
            return Failed(subject, NO_CONTENT, read.keyed)
        return Response(
            subject,
            raw,
            contract=reader.label,
            contract_params=reader.params,
            protocol_compliant=read.protocol_compliant,
            fields=read.own,
            keyed=read.keyed,
            finish_reason=finish_reason,
        )

    def _by_its_column(self, error: InputError) -> InputError:
        """What is refused of a right answer, told by the column that it stands in."""
        if (column := self._columns.answer.text) == ANSWER or repr(ANSWER) not in error.expected:
            return error
        expected = error.expected.replace(repr(ANSWER), repr(column))
        return InputError(error.where, expected=expected, found=error.found, hint=error.hint)

    def _told(self, subject: ImportIdentity) -> Fields:
        """What the contract is told: the row, names as texts under their own columns, the right answer."""
        told: Fields = dict(zip(self._told_columns, self._values(subject)))  # noqa: B905 - they are two more
        told.update(self._columns.item_row(subject.row))
        for name in (UNREAD, LENIENT_READINGS, RAW_OUTPUT):
            told.pop(name, None)  # what an earlier reading left says nothing of the question
        return told

    def _reader_for(self, told: Fields, where: str) -> RowReader:
        """The contract with the parameters of the item, where items differ in them (ruling M3)."""
        base = self._reader
        if base.ours:
            fitting = base.parts.for_item(told, where=where)
            if fitting is base.contract:
                return base
            if fitting not in self._own:
                self._own[fitting] = RowReader(fitting, of_one_item=True)
            return self._own[fitting]
        if not base.parts.differs_by_item:
            return base
        own = guarded(lambda: base.parts.for_item(told, where=where))
        # What could not be made reads nothing: the contract says so itself.
        return base if isinstance(own, Unread) else RowReader(own, of_one_item=True)


def frozen_columns(study: ImportedStudy) -> OutputColumns:
    """The columns that a study says its rows had."""
    with as_written(study.where, "the columns of the rows"):
        columns = OutputColumns.of(study.config["columns"])
        if Role.TEXT not in columns.paths:
            raise ValueError("there is no column of texts")
        return columns


def record_makers(study: ImportedStudy, given: GivenContracts) -> dict[str, RecordMaker]:
    """What makes the records of each task again; a contract from a file only if the user has named it."""
    columns = frozen_columns(study)
    with as_written(study.where, "what outputs were read by"):
        said, makers = study.config["contracts"], {}
        for task, table in study.config["tasks"].items():
            with contract_as_written(study.where, task):
                contract = frozen_contract(str(table["contract"]), str(table["options"]), said[task], given)
            makers[task] = RecordMaker(study.name, columns, contract)
        return makers


_ALL_BITS = 2**64 - 1
_AT_ONCE = 512
"""Records whose items are looked at together."""


class ImportFacts:
    """What is frozen of outputs from elsewhere and follows from their records."""

    def __init__(self, study: str) -> None:
        self._study = study
        self.root = Root()
        """Over what the records say."""
        self.cells: Counter[tuple[str, str, str]] = Counter()
        """How many rows there are, by task, model and condition."""
        self._samples = 1
        self._waiting: list[int] = []
        self._repeats: RepeatCounts | None = None
        self._looked_at = 0
        self._some_repeat = False

    def add(self, record: Response | Failed, content: bytes) -> None:
        """One record more, and the digest of what it says."""
        self.root.add(record.key, content)
        self.count(record)

    def count(self, record: Response | Failed) -> None:
        """The same, if what it says is in the root digest already."""
        subject = record.subject
        self._waiting.append(hash((subject.cell, subject.item_id)) & _ALL_BITS)
        if len(self._waiting) == _AT_ONCE:
            self._look_at_items()
        self.count_many(record, 1, samples=subject.sample + 1)

    def _look_at_items(self) -> None:
        # Arrays are for those who import: a run loads this and asks nothing of it.
        import numpy as np  # noqa: PLC0415

        from affidavit.reading.repeat_counts import RepeatCounts  # noqa: PLC0415

        self._repeats = self._repeats or RepeatCounts()
        hashes = np.array(self._waiting, np.uint64)
        self._some_repeat = bool(self._repeats.before(hashes).any()) or self._some_repeat
        self._looked_at += len(self._waiting)
        self._waiting = []

    @property
    def one_output_each(self) -> bool:
        """Whether it is known that no item has two records in one cell, whatever the names of its outputs are."""
        self._look_at_items()
        return not self._some_repeat and self._looked_at == self.cells.total()

    def count_many(self, record: Response | Failed, times: int, *, samples: int) -> None:
        """So many records of the cell of this one, whose samples have numbers below this."""
        self.cells[record.subject.cell] += times
        self._samples = max(self._samples, samples)

    def config(self) -> Fields:
        """As it is frozen; it says of every record what it says, wherever its row stood."""
        return {
            "name": self._study,
            "seed": 0,
            "models": {model: {"identity": model} for model in sorted({cell[1] for cell in self.cells})},
            IMPORTED: {
                "sha256": self.root.records_sha256(),
                "cells": [[*cell, count] for cell, count in sorted(self.cells.items())],
                "samples": self._samples,
            },
        }
