"""One row of outputs read by a contract: which fields make the item, which fields are added.

A row is what `affidavit read` gets: a text in `raw_output` (or another field) and, beside it, whatever the
contract needs to know of the question. A row whose text is null holds no output: nothing arrived, so
nothing is read and nothing counts against the model (ruling C1).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from affidavit.contracts.contract import (
    COMPLIANT,
    RAW_OUTPUT,
    AnyContract,
    Read,
    Unread,
    Validation,
    guarded,
    label,
)
from affidavit.contracts.parts import FieldType, Parts, is_ours, parts_of
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import ANSWER, no_text, not_a_text, with_answer

UNREAD, LENIENT_READINGS = "unread", "other_readings"
"""Fields that only some readings have: an error of the contract, and what more lenient contracts read."""


@dataclass(frozen=True, slots=True)
class NoOutput:
    """The row's text is null: nothing arrived."""


Outcome = Read | Unread | NoOutput
_RESERVED = (RAW_OUTPUT, COMPLIANT, UNREAD, "correct", "reason", LENIENT_READINGS)
_OF_RECORDS = (
    "kind", "key", "study", "task", "item_id", "model", "condition", "sample", "contract", "contract_params",
    "keyed", "prompt_sha256", "grammar_sha256", "output_id", "prompt", "row", "right_answer", "option_order",
    "own_answer", "finish_reason", "reasoning", "rendered_prompt", "usage", "server_model",
    "system_fingerprint", "judge", "judged_key", "seq", "group", "v", "sha256",
)  # fmt: skip
"""What a record says of its question and its place: no contract may say otherwise."""


_READERS_KEPT = 1_000
"""Readers of items' own contracts that are kept; a contract may make a new one for each row."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """The reading of a user's contract, asked once and found to be of the right shape."""

    protocol_compliant: bool
    own_fields: Fields

    def fields(self) -> Fields:
        """What the contract's own `fields` gave."""
        return self.own_fields


@dataclass(frozen=True, slots=True)
class RowResult:
    """What was said of one row."""

    outcome: Outcome
    item: object
    added: Fields
    right_answer_known: bool | None
    """None where nobody says so: see `Tally.unsaid`."""
    right_readings: frozenset[str] = frozenset()
    """The lenient readings by which the answer would be right."""


class RowReader:
    """A contract over rows."""

    def __init__(
        self,
        contract: AnyContract,
        *,
        field: str = RAW_OUTPUT,
        answer: str = ANSWER,
        lenses: bool = False,
        of_one_item: bool = False,
    ) -> None:
        """`field` and `answer` are the columns of texts and of right answers, or ways into nested values.

        `of_one_item`: the contract is the one that an item has of its own, and reads it as it is.
        """
        self.contract = contract
        self.text, self.answer = ColumnPath(field), ColumnPath(answer)
        self._asks_for_item = not of_one_item and parts_of(contract).differs_by_item
        self._of_items: dict[int, RowReader] = {}
        self.field = field
        self.parts = parts_of(contract)
        self.ours = is_ours(contract)
        self.lenses = self.parts.lenient_readings() if lenses else ()
        if lenses and not self.lenses:
            raise UsageError(
                "--lenses",
                expected="a contract that has lenient readings: mcqa or mcqa-reasoned",
                found=contract.name,
            )

    @cached_property
    def label(self) -> str:
        """The contract's name and version, which every record tells (ruling C3)."""
        return label(self.contract)

    @cached_property
    def params(self) -> Fields:
        """The contract's parameters, which every record tells too."""
        return dict(self.contract.params)

    @cached_property
    def in_columns(self) -> bool:
        """Whether whole columns of texts can be read at once, and compared with their keys.

        The text has to be in a field of its own: not in one that is added, or that holds the key. Items must not
        have contracts of their own.
        """
        if self._asks_for_item:
            return False
        added = (COMPLIANT, *self.parts.fields_added({ANSWER: None}), UNREAD, LENIENT_READINGS)
        if self.text.is_nested or self.answer.is_nested or self.answer.text in (*added, RAW_OUTPUT):
            return False
        taken = (*added, self.answer.text)
        return self.ours and self.parts.equals_key and not self.lenses and self.field not in taken

    def raw(self, row: Fields, *, where: str) -> str | NoOutput:
        """The row's text."""
        if not self.text.is_in(row):
            if _is_failure_record(row):
                return NoOutput()
            raise no_text(self.text, row, where=where)
        raw = self.text.of(row)
        if raw is None:
            return NoOutput()
        if not isinstance(raw, str):
            raise not_a_text(self.text, raw, where=where)
        return raw

    def item(self, row: Fields, *, where: str) -> object:
        """What the contract is told of a row's question; `Unread` if a user's contract raised."""
        if self.ours:
            try:
                return self.parts.item(row, where=where)
            except InputError as error:
                raise self._in_words_of_the_file(error) from error
        return guarded(lambda: self.parts.item(row, where=where))

    def _in_words_of_the_file(self, error: InputError) -> InputError:
        """The same, with the column of right answers called as it is in the file."""
        ours, theirs = repr(ANSWER), repr(self.answer.text)
        said = {"expected": error.expected, "found": error.found, "hint": error.hint}
        if ours == theirs:
            return error
        return InputError(error.where, **{name: words.replace(ours, theirs) for name, words in said.items()})

    def about(self, row: Fields) -> Fields:
        """What a row says of its question: all but the text, the right answer under our name for it."""
        about = row if self.field == RAW_OUTPUT else self.text.taken_out(row)
        return with_answer(about, row, self.answer)

    def read(self, row: Fields, *, where: str) -> "RowResult":
        """What the contract says of the row's text, and the fields that the row gets by it."""
        raw = self.raw(row, where=where)
        # The text itself is no part of the question, whatever its field is called.
        about = self.about(row)
        item: object
        if self._asks_for_item:
            item = self._fitting(about, where=where)
            if isinstance(item, RowReader):
                return item.read(row, where=where)
        else:
            item = self.item(about, where=where)
        outcome = raw if isinstance(raw, NoOutput) else self._outcome(raw, item)
        known = self._right_answer_known(item, outcome)
        if isinstance(known, Unread) and isinstance(outcome, Read):
            outcome = known
        added: Fields = {} if self.field == RAW_OUTPUT else {RAW_OUTPUT: self.text.of(row)}
        match outcome:
            case NoOutput():
                added.update(dict.fromkeys((COMPLIANT, *self.parts.fields_added(about))))
            case Unread(error=error):
                added.update({COMPLIANT: None, UNREAD: error})
            case Read(reading=reading, validation=validation):
                added[COMPLIANT] = reading.protocol_compliant
                added.update(reading.fields())
                added.update(self.parts.verdict(about, validation))
        right_readings: frozenset[str] = frozenset()
        if self.lenses:
            added[LENIENT_READINGS], right_readings = self._lenient_readings(raw, about, where=where)
        # Where an earlier reading left one of these and this one has none, it becomes null.
        for name in (UNREAD, LENIENT_READINGS):
            if name in row and name not in added:
                added[name] = None
        return RowResult(outcome, item, added, None if isinstance(known, Unread) else known, right_readings)

    def _fitting(self, about: Fields, *, where: str) -> "RowReader | Unread":
        """The reader of the contract that the row's item has of its own; `Unread` if a user's contract gives none.

        A row that a contract of ours has no contract for is a mistake in the file (ruling M3).
        """
        if self.ours:
            contract: AnyContract | Unread = self.parts.for_item(about, where=where)
        else:
            contract = guarded(lambda: self.parts.for_item(about, where=where))
        if isinstance(contract, Unread):
            return contract
        # By identity, as a user's contract need not be comparable: a reader keeps its contract alive.
        known = self._of_items.get(id(contract))
        if known is None:
            known = RowReader(
                contract,
                field=self.field,
                answer=self.answer.text,
                lenses=bool(self.lenses),
                of_one_item=True,
            )
            if len(self._of_items) >= _READERS_KEPT:
                self._of_items.clear()
            self._of_items[id(contract)] = known
        return known

    def _right_answer_known(self, item: object, outcome: Outcome) -> bool | Unread | None:
        """Whether a right answer is known: what was compared had one, whatever the contract says besides.

        None for an output that is not compliant, unread or not there, where only a validation would tell. Of a
        compliant one it has told: there is nothing to compare with.
        """
        if isinstance(outcome, Read) and outcome.validation is not None:
            return True
        if self.ours:
            return self.parts.right_answer_known(item) is True
        said = None if isinstance(item, Unread) else guarded(lambda: self.parts.right_answer_known(item))
        if isinstance(said, Unread):
            return said
        compliant = isinstance(outcome, Read) and outcome.reading.protocol_compliant
        return None if said is None and not compliant else said is True

    def _outcome(self, raw: str, item: object) -> Outcome:
        if self.ours:
            return self._read(raw, item)
        return item if isinstance(item, Unread) else guarded(lambda: self._read_own(raw, item))

    def _read(self, raw: str, item: object) -> Read:
        reading = self.contract.read(raw, item)
        return Read(reading, None if item is None else self.contract.validate(reading, item))

    def _read_own(self, raw: str, item: object) -> Read:
        """A user's contract, held to the shape that it promises: whatever breaks it is kept as `unread`."""
        reading = self.contract.read(raw, item)
        compliant, fields = reading.protocol_compliant, reading.fields()
        validation = self.contract.validate(reading, item)
        if not isinstance(compliant, bool):
            raise TypeError(f"protocol_compliant must be True or False, not {compliant!r}")
        if not isinstance(fields, dict) or not all(isinstance(name, str) for name in fields):
            raise TypeError("fields() must be a dict with texts as keys")
        if taken := fields.keys() & {*_RESERVED, *_OF_RECORDS}:
            raise TypeError(f"fields() must leave the names {', '.join(sorted(taken))} alone")
        copied: Fields = json.loads(json.dumps(fields, allow_nan=False))
        if validation is not None and not _is_validation(validation):
            raise TypeError(f"validate() must give a Validation of a bool and a text, or None, not {validation!r}")
        return Read(_Checked(compliant, copied), validation)

    def _lenient_readings(
        self, raw: str | NoOutput, about: Fields, *, where: str
    ) -> tuple[Fields | None, frozenset[str]]:
        """What more lenient contracts read (ruling M5), and which of them are right.

        It stands apart from the protocol's own fields, never among them.

        A reading that would need to know more of the question is left out: it has not read (ruling M24).
        """
        if isinstance(raw, NoOutput):
            return None, frozenset()
        found: Fields = {}
        right = set[str]()
        for name, lens, parts in self._labelled_lenses:
            item = parts.item(about, where=where)
            if parts.knows_enough(item):
                reading = lens.read(raw, item)
                found[name] = reading.extracted_answer
                validation = lens.validate(reading, item)
                if validation is not None and validation.correct:
                    right.add(name)
        return found, frozenset(right)

    @cached_property
    def _labelled_lenses(self) -> list[tuple[str, AnyContract, Parts]]:
        return [(label(lens), lens, parts_of(lens)) for lens in self.lenses]

    @property
    def item_fields(self) -> tuple[str, ...] | None:
        """The fields of a row that decide, beside its text, what it gets; None if any may."""
        every = [self.parts.item_fields, *(parts.item_fields for _, _, parts in self._labelled_lenses)]
        known = [each for each in every if each is not None]
        return tuple(dict.fromkeys(name for each in known for name in each)) if len(known) == len(every) else None


def _is_failure_record(row: Fields) -> bool:
    """Whether a row is a line of a study's journal that says why no output arrived (ruling C1)."""
    return row.get("kind") == "failure" and isinstance(row.get("reason"), str) and isinstance(row.get("key"), str)


def _is_validation(value: object) -> bool:
    if not isinstance(value, Validation):
        return False
    correct, reason = cast("tuple[object, object]", (value.correct, value.reason))
    return isinstance(correct, bool) and isinstance(reason, str) and bool(reason.encode() or True)


# --- tables, which need their columns beforehand ---

_OWN_COLUMNS: Mapping[str, FieldType] = {"fields": str, "correct": bool, "reason": str, UNREAD: str}
"""The fields of a user's contract stand together as JSON, unless the contract says which it adds."""


def columns_added(reader: RowReader, header: Iterable[str]) -> dict[str, FieldType]:
    """The columns that a table with this header gets, in their order, with their types."""
    names = list(header)
    about: Fields = {name: None for name in names if name != reader.field}
    answer = reader.answer
    if answer.text != ANSWER and (answer.text in names or (answer.is_nested and answer.steps[0] in names)):
        about[ANSWER] = None
    own = reader.parts.fields_added(about) if reader.ours else _OWN_COLUMNS
    lenient: dict[str, FieldType] = {LENIENT_READINGS: {label(lens): str for lens in reader.lenses}}
    return {
        **({} if reader.field == RAW_OUTPUT else {RAW_OUTPUT: str}),
        COMPLIANT: bool,
        **own,
        **(lenient if reader.lenses else {}),
    }


def column_values(reader: RowReader, added: Fields, names: Iterable[str]) -> list[object]:
    """What a row got, as the values of these columns."""
    if reader.ours:
        return [added.get(name) for name in names]
    known = {RAW_OUTPUT, COMPLIANT, *_OWN_COLUMNS}
    others = {name: value for name, value in added.items() if name not in known}
    gathered = {**added, "fields": json.dumps(others) if added[COMPLIANT] is not None else None}
    return [gathered.get(name) for name in names]
