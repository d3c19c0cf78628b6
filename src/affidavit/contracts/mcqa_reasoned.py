"""mcqa-reasoned/1: reasoning in the open, then one tag around one letter, and nothing after it.

The answer is the block with which the trimmed output ends; there is no repair and no second guess here either.
What counts is the text after the last `</think>` (ruling M8): a model may try answers while it thinks, and may not
give two different ones afterwards (ruling M9). Everything that is not particular to this (options, items, keys,
tables) is that of mcqa/1.

    >>> mcqa_reasoned.read("Lyon is large, but no capital. <answer>B</answer>").extracted_answer
    'B'
    >>> mcqa_reasoned.read("<answer>B</answer> It is Paris.").deviation
    <ReasonedDeviation.TEXT_AFTER: 'text_after'>
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from affidavit.contracts.choice_forms import after_think
from affidavit.contracts.choice_readings import LastTag
from affidavit.contracts.contract import AnyContract, Span
from affidavit.contracts.deviation import CLOSING, OPENING, ReasonedDeviation
from affidavit.contracts.harness_readings import harness_readings_of
from affidavit.contracts.mcqa import AUTO, ChoiceReading, MultipleChoice, options_of_item
from affidavit.contracts.parts import ANSWER, LENIENT, FieldType, Mark
from affidavit.json_values import Fields

if TYPE_CHECKING:
    import polars as pl

REASONED_INSTRUCTION = """\
Answer the following multiple-choice question. You may reason before you answer.
End your output with your final answer in the following exact format:

<answer>X</answer>

Do not write anything after it."""
"""The same for every item, option set and condition (ruling M11)."""

LONGEST_REASONING = 800
"""Characters before the answer that the grammar lets through (ruling M11)."""
_BLOCK = len(f"{OPENING}A{CLOSING}")


@dataclass(frozen=True, slots=True)
class ReasonedReading(ChoiceReading):
    """The letter and its place, or why there is none."""

    answer_span: Span | None = None

    def fields(self) -> Fields:
        """The letter, the diagnosis and the letter's place by their names in the record."""
        start, end = self.answer_span or (None, None)
        return {
            "extracted_answer": self.extracted_answer,
            "deviation": self.deviation,
            "answer_start": start,
            "answer_end": end,
        }


@dataclass(frozen=True)
class ReasonedChoice(MultipleChoice):
    """Multiple choice after reasoning, over one option set.

    >>> ReasonedChoice(options="A-E").read("So E. <answer>E</answer>").answer_span
    Span(start=14, end=15)
    """

    name: str = field(default="mcqa-reasoned", init=False, repr=False)

    def lenient_readings(self) -> tuple[AnyContract, ...]:
        """Our one that reads every compliant output alike, and those of other harnesses (ruling M11)."""
        return (LastTag(self), *harness_readings_of(self))

    def instruction(self, item: object = None, /) -> str:
        """The instruction, byte for byte, whatever the item."""
        return REASONED_INSTRUCTION

    def read(self, raw: str, item: object = None, /) -> ReasonedReading:
        """The letter of the block at the end (ruling M9), else the diagnosis (ruling M10)."""
        trimmed = raw.rstrip()
        part = after_think(trimmed)
        letters = set(self.forms.block.findall(part))
        if len(letters) == 1 and self.forms.block.fullmatch(part, max(0, len(part) - _BLOCK)):
            start = len(trimmed) - len(CLOSING) - 1
            return ReasonedReading(trimmed[start], None, Span(start, start + 1))
        return ReasonedReading(None, self._reasoned_deviation(trimmed, part, letters))

    def _reasoned_deviation(self, trimmed: str, part: str, letters: set[str]) -> ReasonedDeviation:
        """The first entry of ruling M10 that applies; `letters` are those of the part's blocks."""
        if not trimmed:
            return ReasonedDeviation.EMPTY
        if letters:
            several = len(letters) > 1
            return ReasonedDeviation.CONFLICTING_ANSWERS if several else ReasonedDeviation.TEXT_AFTER
        if len(part) < len(trimmed):
            if self.forms.block.search(trimmed):
                return ReasonedDeviation.ANSWER_IN_REASONING
            if not part:  # the text is trimmed at its end
                return ReasonedDeviation.NOTHING_AFTER_REASONING
        return ReasonedDeviation(self.forms.without_block(part).value)

    def grammar(self, item: object = None, /) -> str:
        """A GBNF grammar of some reasoning and the block: all that it completes is compliant (ruling M11)."""
        return f'root ::= [^<]{{0,{LONGEST_REASONING}}} "{OPENING}" [{self.options}] "{CLOSING}"'

    # --- the optional parts, where they are not those of mcqa/1 ---

    summary = "Any reasoning, then one letter in one tag: the output ends with that tag."
    rulings = "M1, M3-M11"
    passing = f"Lyon is large, but the capital is Paris.\n{OPENING}B{CLOSING}"
    failing = f"{OPENING}B{CLOSING}\nParis is the capital of France."

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The letter, its diagnosis and its place; `correct` where the row has a key."""
        places: dict[str, FieldType] = {"answer_start": int, "answer_end": int}
        strict = dict(super().fields_added(row))
        keyed = {"correct": strict.pop("correct")} if "correct" in strict else {}
        return {**strict, **places, **keyed}

    def with_options(self, options: str) -> "ReasonedChoice":
        """The same over another option set; `auto`: over each item's own."""
        return ReasonedOfEachItem() if options == AUTO else ReasonedChoice(options)

    def read_texts(self, texts: "pl.Series") -> "pl.DataFrame":
        """Compliance, letter, diagnosis and place of a column of texts."""
        from affidavit.contracts.reasoned_columns import read_reasoned  # noqa: PLC0415 - it brings Polars

        return read_reasoned(texts, self.options)

    def marks(self, raw: str, fields: Mapping[str, object]) -> Iterator[Mark]:
        """The block that was read; else the last well-formed one, which a lenient reading would take."""
        start, kind = fields.get("answer_start"), ANSWER
        if not isinstance(start, int):
            span = LastTag(self).read(raw).answer_span
            start, kind = None if span is None else span.start, LENIENT
        if start is not None:
            yield Mark(start - len(OPENING), start + 1 + len(CLOSING), kind)


@dataclass(frozen=True)
class ReasonedOfEachItem(ReasonedChoice):
    """The same for items that have each an option set of their own (ruling M3)."""

    differs_by_item = True
    item_fields = ("answer", "options")

    @property
    def params(self) -> Mapping[str, object]:
        """That there is no one option set."""
        return {"options": AUTO}

    def for_item(self, row: Mapping[str, object], *, where: str) -> ReasonedChoice:
        """The contract over as many options as the item has."""
        return _reasoned_over(options_of_item(row, where=where))


_reasoned_over = cache(ReasonedChoice)
mcqa_reasoned = ReasonedChoice()
