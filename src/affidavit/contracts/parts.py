"""What a contract may own beside its core, each part with a default.

A contract says what is asked and how the answer is read. Whatever else is particular to it (what a row must hold,
how an item is put to a model, which fields it adds and of which type, what is worth counting, which stretch of a
text to mark, which tables a report has) is an optional part of the same object: an attribute or a method of the
name it has here. `Parts` is the contract that has none of its own. Built-in contracts inherit from it; a contract
of the user's own may, and need not: `parts_of` looks for the parts that it has.

Nobody outside this room asks which contract it is. They ask for a part.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeGuard, cast

from affidavit.contracts.contract import COMPLIANT, AnswerKey, AnyContract, Unread, Validation, guarded, label
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.shape import misfit
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, shown

if TYPE_CHECKING:
    import polars as pl

FieldType = object
"""`bool`, `int` or `str`; `[type]` for a list; `{name: type}` for an object."""
QUESTION, OPTIONS = "{question}", "{options}"
"""What stands for an item's question and for its options in a prompt's template. Under a contract that does not
speak of options itself, `{question}` stands for the question with the options that the item has."""


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """What keeping the contract, and breaking it, is called."""

    kept: str = "compliant"
    broken: str = "non-compliant"
    nearly: str = ""
    """What is kept but for one clause, and which; empty if there is no such thing."""
    nearly_how: str = ""


class Mark(NamedTuple):
    """A stretch of a text that is marked, in code points, and as what."""

    start: int
    end: int
    kind: str


class Advice(NamedTuple):
    """A parameter that an output calls for, and what of the output does."""

    seen: str
    """What outputs do, as in "have a line that begins with `####`"."""
    parameter: str
    value: str


ANSWER, LENIENT, PLACE = "answer", "lenient", "place"
"""What marks are of: what was read, what only a lenient reading would take, what stands in the answer's place."""
MARKED: Mapping[str, str] = {
    ANSWER: "what the contract read",
    LENIENT: "the last well-formed block, which a lenient reading would accept and the protocol does not",
    PLACE: "what stands where the answer should stand, and is not in the format",
}
"""What people are told of a mark, by its kind."""


NOT_COMPLIANT = "not compliant"
"""What is out of order in an output of which the contract says nothing more."""


class Parts:
    """Every optional part, as it is for a contract that has none of its own."""

    # --- what people are told of it ---

    summary: ClassVar[str] = ""
    """What it asks for, and what complies, in one sentence."""
    rulings: ClassVar[str] = ""
    """The numbers of the rulings that it follows, such as `M1-M7`."""
    passing: ClassVar[str] = ""
    """An output that keeps the contract."""
    failing: ClassVar[str] = ""
    """One that does not, by the most usual mistake."""

    # --- what kind of task it makes ---

    differs_by_item: ClassVar[bool] = False
    """Whether items are read by contracts of their own, which `for_item` gives."""
    for_items: ClassVar[bool] = True
    """Whether items can be asked by it; the judge contract reads what judges say of outputs."""
    open_ended: ClassVar[bool] = False
    """Whether outputs are to be judged rather than compared with a right answer."""
    shows_options: ClassVar[bool] = False
    """Whether an item's options are shown at letters, so that their order and their names mean something."""
    generates_items: ClassVar[bool] = False
    """Whether a study can have its items drawn: `items = { generate = 20 }`."""
    has_grammar: ClassVar[bool] = True
    """Whether decoding can be constrained by it at all; an item may still have no grammar."""
    evaluates: ClassVar[bool] = False
    """Whether its outputs are evaluations of other outputs, to be sorted into valid and invalid ones."""

    # --- rows ---

    item_fields: ClassVar[tuple[str, ...] | None] = None
    """The fields of a row that make its item; None if any may."""
    checked_by: ClassVar[str] = ""
    """The field without which answers are read and not checked; empty if there is none."""
    unchecked: ClassVar[str] = ""
    """What a person is told whose rows lack that field."""

    def item(self, row: Fields, *, where: str) -> Any:  # noqa: ANN401 - the contract's own type
        """What the contract is told of the question: a copy of the row, which it may change."""
        return deepcopy(row)

    def right_answer_known(self, item: Any) -> bool | None:  # noqa: ANN401
        """Whether the right answer is known, so that one which is not given is missed.

        None: only a validation tells. That is so where the item has no `answer`, or null there: a contract may
        compare with something else.

        >>> [Parts().right_answer_known(item) for item in ({"answer": "4"}, {"answer": None}, {}, AnswerKey("4"))]
        [True, None, None, True]
        """
        answer = item.get("answer") if isinstance(item, Mapping) else getattr(item, "answer", None)
        return None if answer is None else True

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The fields that a row gets beside `protocol_compliant`, with their types; none where nobody can tell."""
        return {}

    def verdict(self, row: Fields, validation: Validation | None) -> Fields:
        """The fields that say whether the answer is right; null where nothing was compared."""
        if validation is None:
            return {"correct": None, "reason": None}
        return {"correct": validation.correct, "reason": validation.reason}

    def lenient_readings(self) -> tuple[AnyContract, ...]:
        """Companion contracts that read the same outputs more leniently, under names of their own (ruling M5)."""
        return ()

    needs_to_know: ClassVar[str] = ""
    """What must be known of a question beside its right answer, in words; empty if nothing must."""

    def knows_enough(self, item: Any) -> bool:  # noqa: ANN401
        """Whether what is known of the question suffices for reading; if not, nothing is read (ruling M24)."""
        return True

    parameters: ClassVar[Mapping[str, str]] = {}
    """What may be given beside the contract's name, each in a few words that name no default: `params` has it.

    All of them are in `params`."""
    required_parameters: ClassVar[tuple[str, ...]] = ()
    """Those of them that have to be given: `params` of the contract that has a name are an example's."""
    typed_with: ClassVar[Mapping[str, str]] = {}
    """Those of them that have an option of their own on a command line, which takes them as they stand."""
    file_parameters: ClassVar[tuple[str, ...]] = ()
    """Those of them that are given as the name of a JSON file, whose content counts."""

    def with_parameters(self, given: Mapping[str, object]) -> AnyContract:
        """The same contract with these parameters; an InputError at the name of one that does not fit.

        A contract's own `params` give the same contract again. Only called with names of `parameters`.
        """
        return cast("AnyContract", self)

    def why_no_grammar(self) -> str:
        """What in the parameters keeps the contract from having a grammar, in words; empty if nothing is known."""
        return ""

    def parameter_notes(self) -> tuple[str, ...]:
        """What a person should be told of the parameters before anything is read: they are allowed, and odd."""
        return ()

    def advice(self, raw: str, fields: Mapping[str, object]) -> Advice | None:
        """The parameter that would have this output read, if it is not compliant for want of it; None if none."""
        return None

    def with_options(self, options: str) -> AnyContract:
        """The same contract over an option set, such as `A-E`; refused unless it shows options."""
        name = getattr(self, "name", "another contract")
        raise UsageError(
            "--options", expected="a contract that shows options: mcqa or mcqa-reasoned", found=str(name)
        )

    # --- columns ---

    equals_key: ClassVar[bool] = False
    """Whether an answer is right exactly if it equals the key, so that whole columns can be compared."""

    def read_texts(self, texts: "pl.Series") -> "pl.DataFrame | None":
        """What `read` says of every text, as columns of a frame; None: the texts are read one by one."""
        return None

    def can_answer(self, key: str) -> bool:
        """Whether an output could ever give this answer."""
        return True

    # --- what people say that an output means (ruling S10) ---

    meaning_compared: ClassVar[bool] = False
    """Whether what a person says that an output means can be compared with the right answer, as a text."""
    meaning_words: ClassVar[str] = "the answer that is meant"
    """What a person is to say, in words, where the answers are too many to choose from."""

    def meanings(self, params: Mapping[str, object]) -> tuple[str, ...]:
        """All answers that an output may mean which was read with these parameters; empty: any may be typed."""
        return ()

    def meant(self, typed: str) -> str | None:
        """What a person has typed, written as right answers are (`right_letter`); None if it can be none."""
        return typed

    # --- counting ---

    outcome_words: ClassVar[OutcomeWords] = OutcomeWords()
    counted: ClassVar[Mapping[str, str]] = {"reason": "reasons"}
    """Which added fields are counted by their values, and the title of each count."""
    value_labels: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """By added field: what people read in place of a value that does not explain itself."""

    several_values: ClassVar[tuple[str, ...]] = ()
    """Counted fields that an output may have several values of: shares are of the values, not of the outputs."""
    counted_if_kept: ClassVar[tuple[str, ...]] = ()
    """Counted fields of outputs that keep the contract: shares are of these outputs, not of all."""

    def labels(self, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """What is counted of one output: the names of counted fields with their values, as text; null is no value.

        >>> list(Parts().labels({"reason": "ok"})), list(Parts().labels({"reason": None}))
        ([('reason', 'ok')], [])
        """
        for name in self.counted:
            if (value := fields.get(name)) is not None:
                yield name, value if isinstance(value, str) else json.dumps(value)

    def nearly_kept(self, fields: Mapping[str, object]) -> bool:
        """Whether an output keeps the contract but for the one clause that `outcome_words` names."""
        return False

    # --- asking ---

    takes_any_row: ClassVar[bool] = False
    """Whether the rows of its items are its own affair, so that they are taken as they stand in their file."""
    problem_template: ClassVar[str] = QUESTION
    """The item's own words in a prompt, with placeholders."""
    instruction_template: ClassVar[str | None] = None
    """The instruction with placeholders, where it depends on the item; None: as it is given without an item."""

    def check(self, row: Fields, *, where: str) -> None:
        """Refuse an item that could not be asked about."""
        question = row.get("question")
        if not isinstance(question, str) or not question.strip():
            raise no_field("question", row, expected="a text in 'question'", where=where)

    def problem(self, row: Mapping[str, object]) -> str:
        """The item's own words, as they stand in a prompt: the question, and its options at their letters.

        >>> print(Parts().problem({"question": "2 + 2?", "options": ["3", "4"]}))
        2 + 2?
        <BLANKLINE>
        A. 3
        B. 4
        """
        if row.get("options") is None:
            return str(row["question"])
        return lettered_problem(row)

    def for_item(self, row: Mapping[str, object], *, where: str) -> AnyContract:
        """The contract with the parameters of this item; the contract itself unless items differ in them."""
        return cast("AnyContract", self)

    def example(self, row: Fields, *, where: str) -> str | None:
        """The shortest right answer to an item that keeps the contract; None if the contract makes none."""
        return None

    def given_away(self, row: Fields, solved: Collection[object]) -> bool:
        """Whether one of the solved problems that a prompt's words hold is this item's (ruling G10)."""
        return False

    def solved_by(self, words: str) -> Iterable[object]:
        """The problems whose solution stands in these words of a prompt."""
        return ()

    # --- results ---

    columns_hold_all: ClassVar[bool] = False
    """Whether the columns of a record hold all fields of the contract; of others they are kept as JSON too."""
    tables: ClassVar[tuple[CountTable | str, ...]] = ()
    """The tables that a report adds: declared ones, and by their names such as cannot be declared."""
    mark_fields: ClassVar[tuple[tuple[str, str], ...]] = (("answer_start", "answer_end"),)
    """Pairs of fields that hold the first and the last but one place of what was read."""

    every_answer_counts: ClassVar[bool] = False
    """Whether whatever was extracted is an answer, compliant or not, and answers differ by the validator's word.

    `result_columns` gives what was extracted as `answer`, null where nothing was (ruling G12).
    """

    def right_means(self) -> str:
        """What an answer must be to be right, in a few words, where people might take it for less; else empty."""
        return ""

    def holds_answer(self, fields: Mapping[str, object]) -> bool:
        """Whether an output holds an answer by its contract: a compliant one does (ruling M6)."""
        return fields[COMPLIANT] is True

    def marks(self, raw: str, fields: Mapping[str, object]) -> Iterator[Mark]:
        """The stretches of a text that are worth marking."""
        for first, last in self.mark_fields:
            start, end = fields.get(first), fields.get(last)
            if isinstance(start, int) and isinstance(end, int):
                yield Mark(start, end, ANSWER)

    failing_field: ClassVar[str] = ""
    """The field that says in a word what is wrong with an output that is not compliant; empty if there is none."""

    def kind_of_failing(self, fields: Mapping[str, object]) -> str | None:
        """What is out of order in an output that was read, in a few words; None if nothing is."""
        if fields.get("protocol_compliant") is not False:
            return None
        said = fields.get(self.failing_field)
        return said if isinstance(said, str) and said else NOT_COMPLIANT

    def result_columns(self, fields: Mapping[str, object], params: Mapping[str, object]) -> Fields:
        """Further columns of a record for the tables that cannot be declared."""
        return {}


def readings_that_need_more(lenses: Iterable[AnyContract]) -> list[str]:
    """The labels of those readings that must know more of a question than its right answer."""
    return [label(lens) for lens in lenses if parts_of(lens).needs_to_know]


def lettered_problem(row: Mapping[str, object]) -> str:
    """A question and its options at the letters from A; refused if the options cannot be shown so."""
    options = row["options"]
    texts = isinstance(options, list) and all(isinstance(option, str) for option in options)
    if not texts or not isinstance(options, list) or not 1 <= len(options) <= len(ascii_uppercase):
        raise InputError(
            "options",
            expected=f"a list of 1 to {len(ascii_uppercase)} texts in 'options', which a prompt shows at letters",
            found=shown(options),
            hint="Take them out of the item, or give the contract a problem() that says how they are shown.",
        )
    lines = [f"{letter}. {option}" for letter, option in zip(ascii_uppercase, options, strict=False)]
    return "\n\n".join((str(row["question"]), "\n".join(lines)))


class KeyedParts(Parts):
    """The parts of a contract whose items have their right answer in `answer`."""

    item_fields: ClassVar[tuple[str, ...] | None] = ("answer",)
    counted: ClassVar[Mapping[str, str]] = {}

    @property
    def answers(self) -> str:
        """What a key may be, in words."""
        return "a text"

    def item(self, row: Fields, *, where: str) -> AnswerKey:
        """The key in `answer`, which must be one that an output could ever give."""
        answer = row.get("answer")
        if answer is not None and not (isinstance(answer, str) and self.can_answer(answer)):
            expected = f"{self.answers} in 'answer'"
            raise InputError(where, expected=expected, found=shown(answer), hint=self.answer_hint(answer, row))
        return AnswerKey(answer)

    def answer_hint(self, answer: object, row: Fields) -> str:
        """What to do about a key that no output could ever give."""
        return ""

    def right_answer_known(self, item: Any) -> bool:  # noqa: ANN401
        """Whether `answer` is there and not null."""
        return item is not None and item.answer is not None

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The answer and its place; `correct` where the row has a key."""
        added: dict[str, FieldType] = {"extracted_answer": str, "answer_start": int, "answer_end": int}
        return {**added, "correct": bool} if "answer" in row else added

    def verdict(self, row: Fields, validation: Validation | None) -> Fields:
        """`correct` where the row has a key; null for an answer that was not given (ruling M6)."""
        if "answer" not in row:
            return {}
        return {"correct": None if validation is None else validation.correct}


_CALLED_BY_OTHERS = {
    "id": ("question_id", "item_id", "doc_id", "example_id", "sample_id", "qid", "uid", "idx"),
    "question": ("prompt", "query", "problem", "stem", "input", "text"),
    "options": ("choices", "candidates", "alternatives"),
}


def no_field(name: str, row: Fields, *, expected: str, where: str) -> InputError:
    """The refusal of an item without a field, or with another kind of value there; a likely key is named.

    >>> print(no_field("options", {"id": "1", "choices": []}, expected="a list of texts in 'options'", where="i.jsonl:1"))
    i.jsonl:1: expected a list of texts in 'options', found no 'options' among the keys id, choices
    Did you mean choices? An item has it in 'options'.
    """  # noqa: E501
    if name in row:
        return InputError(where, expected=expected, found=shown(row[name]))
    found = f"no {name!r} among the keys {', '.join(row)}"
    near = [*get_close_matches(name, row, 1), *(key for key in _CALLED_BY_OTHERS.get(name, ()) if key in row)]
    hint = f"Did you mean {near[0]}? An item has it in {name!r}." if near else ""
    return InputError(where, expected=expected, found=found, hint=hint)


def are_mark_fields(value: object) -> bool:
    """Whether these are pairs of field names.

    >>> are_mark_fields((("from", "to"),)), are_mark_fields(["ab"]), are_mark_fields("")
    (True, False, False)
    """
    return _is_list(value) and all(
        _is_list(pair) and [type(name) for name in pair] == [str, str] for pair in value
    )


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def number_text(value: object) -> object:
    """A number as the text that it is compared by; anything else as it is.

    >>> number_text(1e20), number_text(4), number_text("4"), number_text(True)
    ('100000000000000000000', '4', '4', True)
    """
    return f"{Decimal(repr(value)):f}" if type(value) in (int, float) else value


def is_ours(contract: AnyContract) -> bool:
    """Whether a contract's class is part of this package.

    What our own contracts raise is our fault and must be seen; what others raise is kept as `unread` (ruling C8).
    """
    return _is_class_of_ours(type(contract))


@cache
def _is_class_of_ours(kind: type) -> bool:
    return kind.__module__.startswith("affidavit.")


def parts_of(contract: AnyContract) -> Parts:
    """The contract's own parts, and the defaults of those that it has not.

    >>> class Plain:
    ...     name, version, params = "plain", 1, {}
    ...     mark_fields = (("from", "to"),)
    >>> parts = parts_of(Plain())
    >>> list(parts.marks("so B", {"from": 3, "to": 4})), parts.shows_options
    ([Mark(start=3, end=4, kind='answer')], False)
    """
    return contract if isinstance(contract, Parts) and is_ours(contract) else _Completed(contract)


OWN_DATA: Mapping[str, str] = {
    "counted": "a mapping of field names to titles, no title twice,",
    "tables": "a tuple of CountTables, of which at most one explains,",
    "mark_fields": "a tuple of pairs of field names",
    "failing_field": "a field name",
    "problem_template": "a text",
    "instruction_template": "a text or None",
    "checked_by": "a field name",
    "unchecked": "a text",
}
"""The parts of a user's contract that are data, and what each must be."""
OWN_METHODS = ("item", "right_answer_known", "check", "problem", "example", "for_item")
"""Those that are code. All others of a user's contract are the defaults."""


def _is_written_by_user(contract: AnyContract, name: str) -> bool:
    """Whether a contract has this method, and not only because it inherits from one of ours."""
    method = getattr(contract, name, None)
    return method is not None and not str(getattr(method, "__module__", "")).startswith("affidavit.")


class _Completed(Parts):
    """A contract of the user's own: its parts, and defaults for the others; what its code raises is kept apart."""

    def __init__(self, contract: AnyContract) -> None:
        self._contract = contract
        for name in OWN_DATA:
            if hasattr(contract, name):
                setattr(self, name, getattr(contract, name))
        self.takes_any_row = _is_written_by_user(contract, "check")  # type: ignore[misc]
        self.differs_by_item = hasattr(contract, "for_item")  # type: ignore[misc]

    def item(self, row: Fields, *, where: str) -> Any:  # noqa: ANN401
        """See `Parts.item`; the user's code gets a copy, which it may change."""
        own = getattr(self._contract, "item", None)
        return super().item(row, where=where) if own is None else own(deepcopy(row), where=where)

    def right_answer_known(self, item: Any) -> bool | None:  # noqa: ANN401
        """See `Parts.right_answer_known`; another word than the three is a mistake of the contract."""
        own = getattr(self._contract, "right_answer_known", None)
        said = super().right_answer_known(item) if own is None else own(item)
        if said is not None and not isinstance(said, bool):
            raise TypeError(f"right_answer_known(item) must give True, False or None, not {said!r:.80}")
        return said

    def check(self, row: Fields, *, where: str) -> None:
        """See `Parts.check`."""
        self._asked("check", row, where=where)

    def problem(self, row: Mapping[str, object]) -> str:
        """See `Parts.problem`."""
        words = self._asked("problem", row, where="the contract's problem()")
        if not isinstance(words, str):
            raise InputError("the contract's problem()", expected="a text", found=repr(words)[:80])
        return words

    def example(self, row: Fields, *, where: str) -> str | None:
        """See `Parts.example`."""
        return cast("str | None", self._asked("example", row, where=where))

    def for_item(self, row: Mapping[str, object], *, where: str) -> AnyContract:
        """See `Parts.for_item`."""
        if not hasattr(self._contract, "for_item"):
            return self._contract
        fitting = self._asked("for_item", row, where=where)
        if (odd := misfit(fitting)) is not None:
            expected = odd.expected.replace("a contract", "a contract from the contract's for_item()")
            raise InputError(where, expected=expected, found=odd.found)
        return cast("AnyContract", fitting)

    def _asked(self, name: str, row: Mapping[str, object], *, where: str) -> object:
        """The contract's own part, or the default; what its code raises is an error of the item at this place."""
        own = getattr(self._contract, name, None)
        places = {} if name == "problem" else {"where": where}
        if own is None:
            return getattr(super(), name)(row, **places)
        # A copy: what the user's code does to it is not done to the item.
        result = guarded(lambda: own(deepcopy(dict(row)), **places))
        if isinstance(result, Unread):
            raise InputError(where, expected=f"{name}() of the contract to take this item", found=result.error)
        return result
