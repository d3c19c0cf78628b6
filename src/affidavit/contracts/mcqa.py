"""mcqa/1: one tag around one letter, and nothing else.

The whole output, trimmed, is `<answer>B</answer>` or it is not compliant; there is no repair and no
second guess. What a non-compliant output did instead is *diagnosed* (ruling M4) for the people who read
the tables; a diagnosis never becomes an answer. Lenses (ruling M5) read the same text more leniently, or
as other harnesses would, under names of their own, so that the cost of strictness can be seen and is never hidden.

    >>> mcqa.read("<answer>B</answer>").extracted_answer
    'B'
    >>> mcqa.read("The answer is <answer>B</answer>").deviation
    <Deviation.TEXT_AROUND: 'text_around'>
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, ClassVar

from affidavit.contracts.choice_forms import ChoiceForms, after_think
from affidavit.contracts.choice_readings import LastTag, lenient_readings_of
from affidavit.contracts.contract import Answered, AnyContract, Validation
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END, Deviation, ReasonedDeviation
from affidavit.contracts.harness_readings import harness_readings_of
from affidavit.contracts.parts import (
    LENIENT,
    OPTIONS,
    QUESTION,
    FieldType,
    KeyedParts,
    Mark,
    lettered_problem,
    no_field,
)
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown

if TYPE_CHECKING:
    import polars as pl

BASE_INSTRUCTION = """\
Answer the following multiple-choice question by outputting your final answer
in the following exact format:

<answer>X</answer>

Do not include any other text."""
"""The protocol's own words; the same for every item, option set and condition."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVW"
"""What an option may be called (ruling M3)."""
AUTO = "auto"
"""The option set of a task whose items have each their own number of options (ruling M3)."""


def _place(answer: object) -> int | None:
    """The number that a right answer is, as a number or as a text; None if it is none."""
    if isinstance(answer, str) and answer.isascii() and answer.isdecimal() and len(answer) <= 2:
        return int(answer)
    return answer if type(answer) is int and answer >= 0 else None


def _has_letter_within(answer: str) -> bool:
    """Whether a longer text has one letter that stands alone, as the sentence does that names an option.

    >>> [_has_letter_within(each) for each in ("答案：B。", "B", "A or B", "12")]
    [True, False, False, False]
    """
    words = "".join(each if each.isascii() and each.isalnum() else " " for each in answer).split()
    return len(answer) > 1 and sum(word in LETTERS for word in words if len(word) == 1) == 1


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """The letter, or why there is none: exactly one of the two is there."""

    extracted_answer: str | None
    deviation: Deviation | ReasonedDeviation | None

    @property
    def protocol_compliant(self) -> bool:
        """The output is the tag and nothing else."""
        return self.deviation is None

    def fields(self) -> Fields:
        """The letter and the diagnosis by their names in the record."""
        return {"extracted_answer": self.extracted_answer, "deviation": self.deviation}


@dataclass(frozen=True)
class MultipleChoice(KeyedParts):
    """The strict multiple-choice contract over one option set.

    >>> MultipleChoice(options="A-E").read("<answer>E</answer>").extracted_answer
    'E'
    """

    options: str = "A-D"
    name: str = field(default="mcqa", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    forms: ChoiceForms = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", ChoiceForms.of(self.options))

    @property
    def params(self) -> Mapping[str, object]:
        """The option set."""
        return {"options": self.options}

    @cached_property
    def letters(self) -> str:
        """Every letter of the option set, in order."""
        return "".join(map(chr, range(ord("A"), ord(self.options[-1]) + 1)))

    @property
    def answers(self) -> str:
        """What a key may be, in words."""
        return f"a letter from {self.options[0]} to {self.options[-1]}"

    def can_answer(self, key: str) -> bool:
        """Whether an output could ever give this answer (ruling M3)."""
        return len(key) == 1 and key in self.letters

    def lenient_readings(self) -> tuple[AnyContract, ...]:
        """Our own other readings, and those of other harnesses (rulings M5, M20 to M29)."""
        return (*lenient_readings_of(self), *harness_readings_of(self))

    def instruction(self, item: object = None, /) -> str:
        """The base instruction, byte for byte, whatever the item."""
        return BASE_INSTRUCTION

    def read(self, raw: str, item: object = None, /) -> ChoiceReading:
        """The letter if the trimmed text is the tag (rulings M1, M2), else the diagnosis (ruling M4)."""
        trimmed = raw.strip()
        match = self.forms.block.fullmatch(trimmed)
        if match is not None:
            return ChoiceReading(match[1], None)
        return ChoiceReading(None, self._deviation(raw, trimmed))

    def validate(self, reading: ChoiceReading, item: Answered, /) -> Validation | None:
        """Compare the letter with the key; None for a non-compliant output (ruling M6) or without a key."""
        if reading.extracted_answer is None or item.answer is None:
            return None
        correct = reading.extracted_answer == item.answer
        return Validation(correct, "ok" if correct else "wrong_option")

    def grammar(self, item: object = None, /) -> str:
        """A GBNF grammar whose language is exactly the compliant outputs, untrimmed."""
        return f'root ::= "{OPENING}" [{self.options}] "{CLOSING}"'

    # --- the optional parts ---

    summary = "One letter in one tag and nothing else: the whole output is that tag."
    rulings = "M1-M7"
    passing = f"{OPENING}B{CLOSING}"
    failing = f"The answer is {OPENING}B{CLOSING}."
    shows_options = True
    equals_key = True
    columns_hold_all = True
    meaning_compared = True
    meaning_words = "the letter of an option"
    counted: ClassVar[Mapping[str, str]] = {"deviation": "deviations"}
    problem_template = f"{QUESTION}\n\n{OPTIONS}"
    tables = (
        CountTable(
            name="deviations",
            question="What did non-compliant outputs do instead?",
            fields=("deviation",),
            share="arrived",
            only_non_compliant=True,
            explains=None,
        ),
        "chance",
        "letters",
        "other readings",
        "flips",
        "flips by paradigm",
    )

    def answer_hint(self, answer: object, row: Fields) -> str:
        """That it is a letter; where there may be more options than the set, or none at all, how to say so.

        >>> print(mcqa.answer_hint("E", {"options": ["w", "x", "y", "z"]}))
        A right answer is the letter of an option, a capital, not its text or its number. Unknown: leave it null.
        >>> print(mcqa.answer_hint("12", {}).partition("number. ")[2])
        A short answer needs a contract of your own; see "A study of short answers" in docs/contracts.md. Unknown: leave it null.
        """  # noqa: E501
        hint = "A right answer is the letter of an option, a capital, not its text or its number."
        options = row.get("options")
        fewer = isinstance(options, list) and len(options) <= len(self.letters)
        if isinstance(answer, str) and len(answer) == 1 and answer in LETTERS and not fewer:
            more = f"A-{answer}"
            hint += f' More options: options = "{more}" in a study, `affidavit read {self.name} --options {more}`.'
        if (place := _place(answer)) is not None and place <= len(self.letters):
            hint += f" If numbers are places, write the letters: counted from 0, {place} is {LETTERS[place]}"
            hint += f"; counted from 1, {LETTERS[place - 1]}." if place else "."
        letter = isinstance(answer, str) and len(answer) == 1 and answer.isalpha()
        if isinstance(answer, str) and _has_letter_within(answer):
            hint += " `affidavit audit --answer-pattern REGEX` takes a letter out of a longer text."
        elif not letter and not (isinstance(options, list) and answer in options):
            hint += " A short answer needs a contract of your own;"
            hint += ' see "A study of short answers" in docs/contracts.md.'
        return f"{hint} Unknown: leave it null."

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The letter and its diagnosis; `correct` where the row has a key."""
        added: dict[str, FieldType] = {"extracted_answer": str, "deviation": str}
        return {**added, "correct": bool} if "answer" in row else added

    def meanings(self, params: Mapping[str, object]) -> tuple[str, ...]:
        """The letters of the option set; none where only each item has one.

        >>> mcqa.meanings({"options": "A-C"}), mcqa.meanings({"options": "auto"})
        (('A', 'B', 'C'), ())
        """
        options = str(params.get("options", self.options))
        return () if options == AUTO else tuple(LETTERS[: LETTERS.index(options[-1]) + 1])

    def meant(self, typed: str) -> str | None:
        """The letter, in either case, also as `B.`, `B)` or `(B)`."""
        letter = (typed[:-1] if typed[-1:] in (".", ")") else typed).removeprefix("(").upper()
        return letter if len(letter) == 1 and letter in LETTERS else None

    def with_options(self, options: str) -> "MultipleChoice":
        """The same over another option set; `auto`: over each item's own."""
        return ChoiceOfEachItem() if options == AUTO else MultipleChoice(options)

    def read_texts(self, texts: "pl.Series") -> "pl.DataFrame":
        """Compliance, letter and diagnosis of a column of texts."""
        from affidavit.contracts.choice_columns import read_choices  # noqa: PLC0415 - it brings Polars

        return read_choices(texts, self.options)

    def check(self, row: Fields, *, where: str) -> None:
        """A question, and options that fit the option set (ruling M3), the right one there once."""
        super().check(row, where=where)
        options, metadata = row.get("options"), row.get("metadata")
        if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
            raise no_field("options", row, expected="a list of texts in 'options'", where=where)
        if len(options) != len(self.letters):
            raise InputError(
                where,
                expected=f"{len(self.letters)} options, as {self.options} says",
                found=f"{len(options)} options",
                hint='Give the task another option set: options = "A-E", or "auto" where each item has its own.',
            )
        # What a data set's own authors marked as flawed is kept as it is, and says so.
        if not (isinstance(metadata, dict) and metadata.get("flawed") is True):
            if not all(option.strip() for option in options):
                raise InputError(where, expected="a text in every option", found=shown(options))
            refuse_doubled_answer(options, row.get("answer"), where=where)

    def problem(self, row: Mapping[str, object]) -> str:
        """The question, and the options at the letters of their own set."""
        return lettered_problem(row)

    def example(self, row: Fields, *, where: str) -> str | None:
        """The tag around the right letter."""
        answer = row.get("answer")
        return f"{OPENING}{answer}{CLOSING}" if isinstance(answer, str) else None

    def marks(self, raw: str, fields: Mapping[str, object]) -> Iterator[Mark]:
        """The last well-formed block, which a lenient reading would take."""
        span = LastTag(self).read(raw).answer_span
        if span is not None:
            yield Mark(span.start - len(OPENING), span.end + len(CLOSING), LENIENT)

    def kind_of_failing(self, fields: Mapping[str, object]) -> str | None:
        """The deviation by its name; None for a compliant output."""
        deviation = fields.get("deviation")
        return None if deviation is None else str(deviation)

    def result_columns(self, fields: Mapping[str, object], params: Mapping[str, object]) -> Fields:
        """The letters as they were shown: the one chosen and the right one; and the option set of the item."""
        return {
            "letter": fields.get("extracted_answer"),
            "right_letter": fields.get("right_answer"),
            "options": params.get("options"),
        }

    def _deviation(self, raw: str, trimmed: str) -> Deviation:
        if not trimmed:
            return Deviation.EMPTY
        if THINK_END in raw and self.forms.block.fullmatch(after_think(raw).strip()):
            return Deviation.REASONING_THEN_ANSWER
        letters = self.forms.block.findall(raw)
        if len(letters) == 1:
            return Deviation.TEXT_AROUND
        if letters:
            return Deviation.CONFLICTING_ANSWERS if len(set(letters)) > 1 else Deviation.REPEATED_ANSWER
        return self.forms.without_block(raw)


@dataclass(frozen=True)
class ChoiceOfEachItem(MultipleChoice):
    """Multiple choice whose items have each an option set of their own (ruling M3)."""

    differs_by_item = True
    item_fields = ("answer", "options")

    @property
    def params(self) -> Mapping[str, object]:
        """That there is no one option set."""
        return {"options": AUTO}

    def for_item(self, row: Mapping[str, object], *, where: str) -> MultipleChoice:
        """The contract over as many options as the item has."""
        return _choice_of(options_of_item(row, where=where))


_choice_of = cache(MultipleChoice)


def options_of_item(row: Mapping[str, object], *, where: str) -> str:
    """The option set of an item, by how many options it has; refused if no set is so large (ruling M3).

    >>> options_of_item({"options": ["a", "b", "c"]}, where="items.jsonl:1")
    'A-C'
    """
    options = row.get("options")
    if not isinstance(options, list) or not 2 <= len(options) <= len(LETTERS):
        expected = f"a list of 2 to {len(LETTERS)} texts in 'options'"
        raise no_field("options", dict(row), expected=expected, where=where)
    return f"A-{LETTERS[len(options) - 1]}"


def equal_options(options: list[str]) -> list[list[str]]:
    """The letters of options that are equal but for outer blanks, together."""
    letters: dict[str, list[str]] = {}
    for letter, option in zip(LETTERS, options, strict=False):
        letters.setdefault(option.strip(), []).append(letter)
    return [together for together in letters.values() if len(together) > 1]


def refuse_doubled_answer(options: list[str], answer: object, *, where: str) -> None:
    """Refuse options of which the right one is there twice."""
    if len({*map(str.strip, options)}) < len(options) and any(answer in each for each in equal_options(options)):
        hint = "A right choice could be counted as wrong: mend the row or take it out."
        raise InputError(where, expected="one option with the right answer", found=shown(options), hint=hint)


mcqa = MultipleChoice()
