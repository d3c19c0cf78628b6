"""One row of outputs read by a contract: which fields make the item, which fields are added.

A row is what `affidavit read` gets: a text in `raw_output` (or another field) and, beside it, whatever the
contract needs to know of the question. A row whose text is null holds no output: nothing arrived, so
nothing is read and nothing counts against the model (ruling C1).
"""

import json
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Protocol, cast

from affidavit.contracts.contract import (
    COMPLIANT,
    RAW_OUTPUT,
    AnswerKey,
    AnyContract,
    Read,
    Unread,
    Validation,
    guarded,
    label,
)
from affidavit.contracts.game24 import Game24, Hand
from affidavit.contracts.judge import NAMES, Asked, Judge
from affidavit.contracts.mcqa import AfterThink, LastTag, MultipleChoice
from affidavit.contracts.pattern import Pattern
from affidavit.contracts.text import Text
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, shown

CHOICE_FIELDS = (COMPLIANT, "extracted_answer", "deviation", "correct", "unread", "other_readings")
"""What multiple choice adds to a row, or clears away from it."""


class Layout(Protocol):
    """How the items and readings of one kind of contract stand in a row."""

    needs: ClassVar[str]
    """The field without which answers are read but not checked; empty if there is none."""
    unchecked: ClassVar[str]
    """What to tell a person whose rows lack it."""
    counted: ClassVar[tuple[str, ...]]
    """The added fields whose values are worth counting."""
    reads: ClassVar[tuple[str, ...] | None]
    """The fields that make the item; None if any may."""

    def item(self, row: Fields, *, where: str) -> object:
        """What the contract is told of the question; None if the row says nothing of it."""

    def columns(self, row: Fields) -> Iterable[str]:
        """The fields that a row gains beside `protocol_compliant`, in their order."""

    def has_key(self, row: Fields) -> bool:
        """Whether the right answer is known, so that a missing one is missed."""

    def validation(self, row: Fields, validation: Validation | None) -> Fields:
        """The fields that say whether the answer is right."""


@dataclass(frozen=True, slots=True)
class KeyLayout:
    """An optional `answer` gives `correct`."""

    contract: MultipleChoice | AfterThink | LastTag | Pattern
    needs: ClassVar[str] = ""
    unchecked: ClassVar[str] = ""
    counted: ClassVar[tuple[str, ...]] = ("deviation",)
    reads: ClassVar[tuple[str, ...] | None] = ("answer",)

    def item(self, row: Fields, *, where: str) -> AnswerKey:
        """The key in `answer`, which must be one that the contract could ever read."""
        answer = row.get("answer")
        if type(answer) in (int, float) and isinstance(self.contract, Pattern):
            answer = f"{Decimal(repr(answer)):f}"
        if answer is not None and not (isinstance(answer, str) and self.contract.can_answer(answer)):
            expected = f"{self.contract.answers} in 'answer'"
            raise InputError(where, expected=expected, found=shown(answer), hint=self._hint())
        return AnswerKey(answer)

    def _hint(self) -> str:
        if isinstance(self.contract, Pattern):
            return ""
        return "Give the option set with --options, for example --options A-E; leave 'answer' null if unknown."

    def columns(self, row: Fields) -> Iterable[str]:
        """The letter and its diagnosis, or the answer and its place."""
        if isinstance(self.contract, MultipleChoice):
            yield from ("extracted_answer", "deviation")
        else:
            yield from ("extracted_answer", "answer_start", "answer_end")
        if "answer" in row:
            yield "correct"

    def has_key(self, row: Fields) -> bool:
        """`answer` is there and not null."""
        return row.get("answer") is not None

    def validation(self, row: Fields, validation: Validation | None) -> Fields:
        """`correct` where the row has a key; null for an answer that was not given (ruling M6)."""
        if "answer" not in row:
            return {}
        return {"correct": None if validation is None else validation.correct}


@dataclass(frozen=True, slots=True)
class HandLayout:
    """`numbers` and an optional `target` make the hand."""

    needs: ClassVar[str] = "numbers"
    unchecked: ClassVar[str] = "candidates were looked for without a hand and not checked"
    counted: ClassVar[tuple[str, ...]] = ("extraction_method", "reason")
    reads: ClassVar[tuple[str, ...] | None] = ("numbers", "target")

    def item(self, row: Fields, *, where: str) -> Hand | None:
        """The hand, its numbers as a list or as a text such as `4 9 10 13`."""
        numbers = row.get("numbers")
        if numbers is None:
            return None
        if isinstance(numbers, str):
            numbers = [_whole(part) for part in numbers.split()]
        target = row.get("target")
        try:
            return Hand(tuple(numbers) if isinstance(numbers, list) else (), 24 if target is None else target)  # type: ignore[arg-type]  # the hand itself refuses what is no whole number
        except InputError as error:
            raise InputError(
                where,
                expected=f"a hand in 'numbers' and 'target': {error.expected}",
                found=f"{error.found} in numbers {shown(row['numbers'])} and target {shown(target)}",
                hint='Write a hand as [4, 9, 10, 13] or "4 9 10 13"; the target is 24 unless given.',
            ) from error

    def columns(self, row: Fields) -> Iterable[str]:
        """The candidate, where it stands, and whether it solves the hand."""
        return ("candidate", "extraction_method", "candidate_start", "candidate_end", "correct", "reason")

    def has_key(self, row: Fields) -> bool:
        """There is a hand to check against."""
        return row.get("numbers") is not None

    def validation(self, row: Fields, validation: Validation | None) -> Fields:
        """`correct` and `reason`; null without a hand."""
        if validation is None:
            return {"correct": None, "reason": None}
        return {"correct": validation.correct, "reason": validation.reason}


def _whole(part: str) -> int | str:
    """The number that a part of a hand is; the part itself if it is none."""
    return int(part) if part.isascii() and part.isdigit() and len(part) <= 500 else part


@dataclass(frozen=True, slots=True)
class JudgeLayout:
    """`judged_output` and `asked`, both optional, say what the judge was given."""

    needs: ClassVar[str] = "judged_output"
    unchecked: ClassVar[str] = "quotes could not be checked (evidence_checked is false)"
    counted: ClassVar[tuple[str, ...]] = ("flags", "findings", "judge_flags", "verdict", "evidence", "declared")
    reads: ClassVar[tuple[str, ...] | None] = ("judged_output", "asked")

    def item(self, row: Fields, *, where: str) -> Asked:
        """The judged text and the meta that was asked for."""
        judged, asked = row.get("judged_output"), row.get("asked")
        if judged is not None and not isinstance(judged, str):
            raise InputError(where, expected="a text in 'judged_output'", found=shown(judged))
        if asked is None:
            asked = {}
        if not isinstance(asked, dict):
            raise InputError(where, expected="an object in 'asked'", found=shown(asked))
        for name in (*NAMES, "method"):
            if asked.get(name) is not None and not isinstance(asked[name], str):
                raise InputError(where, expected=f"a text in 'asked.{name}'", found=shown(asked[name]))
        return Asked({name: asked[name] for name in (*NAMES, "method") if asked.get(name) is not None}, judged)

    def columns(self, row: Fields) -> Iterable[str]:
        """What the evaluation says and what speaks against it."""
        return (
            "valid",
            "flags",
            "findings",
            "judge_flags",
            "scores",
            "verdict",
            "evidence",
            "evidence_checked",
        )

    def has_key(self, row: Fields) -> bool:
        """Never."""
        return False

    def validation(self, row: Fields, validation: Validation | None) -> Fields:
        """Nothing: there is no key to a judgement."""
        return {}


@dataclass(frozen=True, slots=True)
class TextLayout:
    """Nothing but the text."""

    needs: ClassVar[str] = ""
    unchecked: ClassVar[str] = ""
    counted: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...] | None] = ()

    def item(self, row: Fields, *, where: str) -> None:
        """None."""

    def columns(self, row: Fields) -> Iterable[str]:
        """None."""
        return ()

    def has_key(self, row: Fields) -> bool:
        """Never."""
        return False

    def validation(self, row: Fields, validation: Validation | None) -> Fields:
        """Nothing."""
        return {}


@dataclass(frozen=True, slots=True)
class OwnLayout:
    """A contract of the user's own gets the whole row as its item."""

    needs: ClassVar[str] = ""
    unchecked: ClassVar[str] = ""
    counted: ClassVar[tuple[str, ...]] = ("reason",)
    reads: ClassVar[tuple[str, ...] | None] = None

    def item(self, row: Fields, *, where: str) -> Fields:
        """A copy of the row, so that nothing which is done to it reaches the output."""
        return deepcopy(row)

    def columns(self, row: Fields) -> Iterable[str]:
        """Unknown until something was read."""
        return ()

    def has_key(self, row: Fields) -> bool:
        """Only the contract knows: its validation says so."""
        return False

    def validation(self, row: Fields, validation: Validation | None) -> Fields:
        """`correct` and `reason`; null where the contract compared nothing."""
        if validation is None:
            return {"correct": None, "reason": None}
        return {"correct": validation.correct, "reason": validation.reason}


def layout_of(contract: AnyContract) -> Layout:
    """How this contract's rows look. A subclass of a built-in contract is a contract of the user's own."""
    if type(contract) in (MultipleChoice, AfterThink, LastTag, Pattern):
        return KeyLayout(cast("MultipleChoice | Pattern", contract))
    built_in: dict[type, Layout] = {Game24: HandLayout(), Judge: JudgeLayout(), Text: TextLayout()}
    return built_in.get(type(contract), OwnLayout())


@dataclass(frozen=True, slots=True)
class NoOutput:
    """The row's text is null: nothing arrived."""


_OWN_COLUMNS = ("fields", "correct", "reason", "unread")
"""In tables, which need their columns beforehand, the fields of a user's contract stand together as JSON."""


def column_names(reader: "RowReader", header: Fields) -> list[str]:
    """The columns that a table with this header gains, in their order."""
    first = [COMPLIANT] if reader.field == RAW_OUTPUT else [RAW_OUTPUT, COMPLIANT]
    about: Fields = {name: None for name in header if name != reader.field}
    own = reader.layout.columns(about) if reader.built_in else _OWN_COLUMNS
    return [*first, *own, *(["other_readings"] if reader.lenses else [])]


def column_values(reader: "RowReader", added: Fields, names: Iterable[str]) -> list[object]:
    """What a row gained, as the values of these columns."""
    if reader.built_in:
        return [added.get(name) for name in names]
    known = {RAW_OUTPUT, COMPLIANT, *_OWN_COLUMNS}
    others = {name: value for name, value in added.items() if name not in known}
    gathered = {**added, "fields": json.dumps(others) if added[COMPLIANT] is not None else None}
    return [gathered.get(name) for name in names]


Outcome = Read | Unread | NoOutput
_RESERVED = (RAW_OUTPUT, COMPLIANT, "unread", "correct", "reason", "other_readings")
_OF_RECORDS = (
    "kind", "key", "study", "task", "item_id", "model", "condition", "sample", "contract", "contract_params",
    "keyed", "prompt_sha256", "grammar_sha256", "right_answer", "option_order", "own_answer", "finish_reason",
    "reasoning", "rendered_prompt", "usage", "judge", "judged_key", "seq", "group", "v", "sha256",
)  # fmt: skip
"""What a record says of its question and its place: no contract may say otherwise."""
_PASSING = ("unread", "other_readings")
"""Fields that only some readings have: where an earlier one left them and this one has none, they become null."""


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
    has_key: bool


class RowReader:
    """A contract over rows."""

    def __init__(self, contract: AnyContract, *, field: str = RAW_OUTPUT, lenses: bool = False) -> None:
        self.contract = contract
        self.field = field
        self.layout = layout_of(contract)
        self.built_in = not isinstance(self.layout, OwnLayout)
        if lenses and not isinstance(contract, MultipleChoice):
            raise UsageError("--lenses", expected="the contract mcqa", found=contract.name)
        self.lenses = contract.lenses if lenses and isinstance(contract, MultipleChoice) else ()

    @cached_property
    def about(self) -> Fields:
        """What every record says of its contract (ruling C3)."""
        return {"contract": label(self.contract), "contract_params": dict(self.contract.params)}

    def strict_choices(self) -> MultipleChoice | None:
        """The contract, if it is multiple choice with nothing beside it, so that texts can be read in columns.

        The text has to be in a field of its own: not in one that is added, or that holds the key.
        """
        plain = self.built_in and not self.lenses and self.field not in (*CHOICE_FIELDS, "answer")
        return self.contract if plain and isinstance(self.contract, MultipleChoice) else None

    def raw(self, row: Fields, *, where: str) -> str | NoOutput:
        """The row's text."""
        if self.field not in row:
            raise InputError(
                where,
                expected=f"a field {self.field!r}",
                found="the fields " + ", ".join(map(repr, row)) if row else "no field at all",
                hint="Name the field that holds the model's text with --field.",
            )
        raw = row[self.field]
        if raw is None:
            return NoOutput()
        if not isinstance(raw, str):
            raise InputError(where, expected=f"a text in {self.field!r}", found=shown(raw))
        return raw

    def read(self, row: Fields, *, where: str) -> "RowResult":
        """What the contract says of the row's text, and the fields that the row gains by it."""
        raw = self.raw(row, where=where)
        # The text itself is no part of the question, whatever its field is called.
        about = row if self.field == RAW_OUTPUT else {key: row[key] for key in row if key != self.field}
        item = self.layout.item(about, where=where)
        outcome = raw if isinstance(raw, NoOutput) else self._outcome(raw, item)
        added: Fields = {} if self.field == RAW_OUTPUT else {RAW_OUTPUT: row[self.field]}
        has_key = self.layout.has_key(about)
        match outcome:
            case NoOutput():
                added.update(dict.fromkeys((COMPLIANT, *self.layout.columns(about))))
            case Unread(error=error):
                added.update({COMPLIANT: None, "unread": error})
            case Read(reading=reading, validation=validation):
                added[COMPLIANT] = reading.protocol_compliant
                added.update(reading.fields())
                added.update(self.layout.validation(about, validation))
                has_key = has_key or (not self.built_in and validation is not None)
        if self.lenses:
            added["other_readings"] = self._other_readings(raw)
        added.update({name: None for name in _PASSING if name in row and name not in added})
        return RowResult(outcome, item, added, has_key)

    def _outcome(self, raw: str, item: object) -> Outcome:
        return self._read(raw, item) if self.built_in else guarded(lambda: self._read_own(raw, item))

    def _read(self, raw: str, item: object) -> Read:
        reading = self.contract.read(raw, item)
        return Read(reading, None if item is None else self.contract.validate(reading, item))

    def _read_own(self, raw: str, item: object) -> Read:
        """A user's contract, held to the shape that it promises: whatever breaks it is told once, as `unread`."""
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

    def _other_readings(self, raw: str | NoOutput) -> Fields | None:
        """What the lenses read (ruling M5): apart from the protocol's own fields, never among them."""
        if isinstance(raw, NoOutput):
            return None
        return {f"{lens.name}/{lens.version}": lens.read(raw).extracted_answer for lens in self.lenses}


def _is_validation(value: object) -> bool:
    if not isinstance(value, Validation):
        return False
    correct, reason = cast("tuple[object, object]", (value.correct, value.reason))
    return isinstance(correct, bool) and isinstance(reason, str) and bool(reason.encode() or True)
