"""number/1: reasoning is welcome; the last answer block holds one number and nothing else.

Where there is no block, the last line that begins with a marker will do, if the contract was given one. What
stands there is a number in one notation or it is not compliant: nothing is searched for within a sentence, and
nothing is repaired. What a non-compliant output did instead is diagnosed (ruling N6). Numbers are compared
exactly, as decimals of up to a thousand digits, never as floats.

    >>> reading = number.read("48 + 24 = 72\\n<answer>1,072.0</answer>")
    >>> reading.extracted_answer, reading.value, number.validate(reading, AnswerKey("1072")).correct
    ('1,072.0', '1072', True)
    >>> number.read("<answer>72 apples</answer>").deviation.value
    'unit_unknown'
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

from affidavit.contracts.contract import Answered, AnswerKey, Span, Validation
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.notation import Notation, escaped, exact_text, in_any_case
from affidavit.contracts.number_deviation import BOX, NumberDeviation, NumberMethod
from affidavit.contracts.number_parameters import (
    exact_tolerance,
    refuse_marker,
    refuse_separators,
    refuse_sign,
    refuse_unit,
    shown_number,
)
from affidavit.contracts.parts import PLACE, Advice, FieldType, KeyedParts, Mark
from affidavit.errors import InputError
from affidavit.json_values import Fields

if TYPE_CHECKING:
    import polars as pl

STEPS = "You may show intermediate steps."
INSTRUCTION = f"{STEPS} Put the final number, and nothing else, between {OPENING} and {CLOSING}."
"""Ruling N9. It holds no number: small models copy what they are shown."""
SOLUTION_MARKER = "####"
"""What stands before the answer in the solutions of GSM8K (ruling N7)."""
FREE_CHARACTERS, WHOLE_DIGITS, DECIMAL_DIGITS = 400, 15, 6
"""What a grammar leaves to a model at most, so that it comes to an end (ruling N9)."""


@dataclass(frozen=True, slots=True)
class NumberReading:
    """The number with its place and its exact value, or why there is none: a deviation is there if no value is."""

    extracted_answer: str | None
    answer_span: Span | None
    value: str | None
    deviation: NumberDeviation | None
    extraction_method: NumberMethod | None

    @property
    def protocol_compliant(self) -> bool:
        """A number, and nothing else, stands where it should."""
        return self.deviation is None

    def fields(self) -> Fields:
        """All of it by the names in the record."""
        start, end = self.answer_span if self.answer_span is not None else (None, None)
        return {
            "extracted_answer": self.extracted_answer,
            "answer_start": start,
            "answer_end": end,
            "value": self.value,
            "deviation": self.deviation,
            "extraction_method": self.extraction_method,
        }


@dataclass(frozen=True)
class Number(KeyedParts):
    """The contract of a short answer that is a number.

    >>> Number(marker="####", unit="$").read("24 + 48\\n#### $72").extracted_answer
    '$72'
    """

    marker: str = ""
    thousands: str = ","
    decimal: str = "."
    sign: bool = True
    unit: str = ""
    tolerance: object = "0"
    """A number, or its text with a decimal point; kept as the text."""
    name: str = field(default="number", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)

    def __post_init__(self) -> None:
        refuse_separators(self.thousands, self.decimal)
        refuse_sign(self.sign)
        refuse_marker(self.marker)
        refuse_unit(self.unit, self.thousands, self.decimal)
        object.__setattr__(self, "tolerance", exact_tolerance(self.tolerance))

    @property
    def params(self) -> Mapping[str, object]:
        """All that may be given."""
        return {name: getattr(self, name) for name in self.parameters}

    @cached_property
    def notation(self) -> Notation:
        """How numbers are written."""
        return Notation(self.thousands, self.decimal, self.sign, self.unit)

    def instruction(self, item: object = None, /) -> str:
        """Where the number is to stand, and how it is to be written (ruling N9)."""
        said = [INSTRUCTION]
        if self.marker:
            said = [f"{STEPS} End with a line that holds {self.marker} and the final number, and nothing else."]
        if self.decimal != ".":
            said.append("Write decimals with a comma.")
        if not self.sign:
            said.append("Write the number without a sign.")
        if self.unit:
            said.append(f"Its unit, {self.unit}, may be added or left out.")
        return " ".join(said)

    def read(self, raw: str, item: object = None, /) -> NumberReading:
        """The number in the last block or on the marker line (rulings N1 to N5), or the diagnosis (ruling N6)."""
        place = self._place(raw)
        if place is None:
            return NumberReading(None, None, None, self._nowhere(raw[_spoken_from(raw) :]), None)
        method, span = place
        answer = raw[span.start : span.end]
        if not answer:
            return NumberReading(None, None, None, NumberDeviation.EMPTY_ANSWER, method)
        value = self.notation.value(answer)
        if value is None:
            return NumberReading(None, None, None, self.notation.deviation(answer), method)
        return NumberReading(answer, span, value, None, method)

    def validate(self, reading: NumberReading, item: Answered, /) -> Validation | None:
        """Compare with the right answer, exactly and within the tolerance (ruling N7); None if one is missing."""
        if reading.value is None or item.answer is None:
            return None
        key = self._key(item.answer)
        right = _key_value(self.notation, key) if isinstance(key, str) else None
        if right is None:
            raise InputError("answer", expected="a number to compare with", found=shown_number(item.answer))
        correct = reading.value == right
        if not correct and self.tolerance != "0":
            correct = abs(Fraction(reading.value) - Fraction(right)) <= Fraction(str(self.tolerance))
        return Validation(correct, "ok" if correct else "wrong_value")

    def grammar(self, item: object = None, /) -> str:
        """A finite GBNF grammar: some text without a tag, then the number where it is asked for (ruling N9)."""
        sign = '"-"? ' if self.sign else ""
        root = f'root ::= free "{OPENING}" number "{CLOSING}"'
        if self.marker:
            root = f'root ::= (free "\\n")? "{_in_grammar(self.marker)} " number'
        return "\n".join(
            (
                root,
                f"free ::= [^<]{{0,{FREE_CHARACTERS}}}",
                f'number ::= {sign}whole ("{self.decimal}" decimals)?',
                f'whole ::= "0" | [1-9] [0-9]{{0,{WHOLE_DIGITS - 1}}}',
                f"decimals ::= [0-9]{{1,{DECIMAL_DIGITS}}}",
            )
        )

    # --- the optional parts ---

    summary: ClassVar[str] = "One number, and nothing else, in the last answer block or on a marker line."
    rulings: ClassVar[str] = "N1-N9"
    passing: ClassVar[str] = "48 / 2 = 24, and 48 + 24 = 72.\n<answer>72</answer>"
    failing: ClassVar[str] = "48 / 2 = 24, and 48 + 24 = 72.\n<answer>72 clips</answer>"
    parameters: ClassVar[Mapping[str, str]] = {
        "marker": "what a line with the answer begins with, where there is no block",
        "thousands": "what may part full groups of three digits, or an empty text: nothing may",
        "decimal": "what stands before decimals, a point or a comma",
        "sign": "whether a plus or a minus may stand before the number",
        "unit": "a text that may stand directly before or after the number, such as $ or km",
        "tolerance": "how far off a right answer may be, as an exact decimal",
    }
    meaning_compared: ClassVar[bool] = True
    meaning_words: ClassVar[str] = "a number, as an output would write it"
    counted: ClassVar[Mapping[str, str]] = {"deviation": "deviations", "extraction_method": "methods"}
    failing_field = "deviation"
    tables = (
        CountTable(
            name="deviations",
            question="What did non-compliant outputs do instead?",
            fields=("deviation",),
            share="arrived",
            only_non_compliant=True,
            explains=None,
        ),
        CountTable(
            name="extraction methods",
            question="Where was the answer found?",
            fields=("extraction_method",),
            share="compliant",  # an answer that was refused was not found
        ),
    )

    def with_parameters(self, given: Mapping[str, object]) -> "Number":
        """The same with these parameters; an InputError at the name of one that does not fit."""
        return replace(self, **given) if given else self  # type: ignore[arg-type]  # they are checked as they come

    def advice(self, raw: str, fields: Mapping[str, object]) -> Advice | None:
        """A marker that begins a line of an output without a block, or a sign of money as the unit of a number.

        Each only where none was given. Of units only signs of money: what else stands beside a number may be
        anything.
        """
        if fields.get("deviation") == NumberDeviation.UNIT_UNKNOWN and not self.unit:
            return self._money(raw)
        if self.marker or fields.get("deviation") is None or fields.get("extraction_method") is not None:
            return None
        text = raw[_spoken_from(raw) :]
        for marker, lines in _USUAL_MARKERS.items():
            if marker in text and _last_line(text, lines) is not None:
                return Advice(f"have a line that begins with `{marker}`", "marker", marker)
        return None

    def _money(self, raw: str) -> Advice | None:
        if (place := self._place(raw)) is None:
            return None
        answer = raw[place[1].start : place[1].end]
        found = next((sign for sign in _MONEY if sign in answer), None)
        if found is None or replace(self, unit=found).notation.value(answer) is None:
            return None
        return Advice(f"have a number with `{found}`", "unit", found)

    @property
    def answers(self) -> str:
        """What a key may be, in words."""
        return f"a number, as an output would write it, or a solution with {SOLUTION_MARKER} before it,"

    def can_answer(self, key: str) -> bool:
        """Whether an output could ever give this answer."""
        return _key_value(self.notation, key) is not None

    def item(self, row: Fields, *, where: str) -> AnswerKey:
        """The key in `answer`: a text in the contract's own notation, or a JSON number (ruling N7)."""
        answer = self._key(row.get("answer"))
        if type(answer) is int:
            raise InputError(where, expected=f"{self.answers} in 'answer'", found=shown_number(answer))
        return super().item({**row, "answer": answer}, where=where)

    def _key(self, answer: object) -> object:
        """A right answer that is a number as a text of the contract's own notation; anything else as it is."""
        exact = None if isinstance(answer, str) else exact_text(answer)
        return answer if exact is None else self.notation.written(exact)

    def meant(self, typed: str) -> str | None:
        """The number, however it is written: equal numbers are one answer.

        >>> number.meant("1,000.0"), number.meant("a dozen")
        ('1000', None)
        """
        value = self.notation.value(typed.strip())
        return None if value is None else self.notation.written(value)

    def answer_hint(self, answer: object, row: Fields) -> str:
        """In which notation it is to be, and what else to do."""
        said = f"Decimals stand after {self.decimal!r}"
        said += f", full groups of three may be parted by {self.thousands!r}." if self.thousands else "."
        return f"{said} Other ways to write numbers are parameters of the contract. Unknown: leave it null."

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The number, its place and its value, and the diagnosis; `correct` where the row has a key."""
        added: dict[str, FieldType] = {
            "extracted_answer": str,
            "answer_start": int,
            "answer_end": int,
            "value": str,
            "deviation": str,
            "extraction_method": str,
        }
        return {**added, "correct": bool} if "answer" in row else added

    def read_texts(self, texts: "pl.Series") -> "pl.DataFrame":
        """All that is read of a column of texts."""
        from affidavit.contracts.number_columns import read_numbers  # noqa: PLC0415 - it brings Polars

        return read_numbers(texts, self.notation, self.marker)

    def example(self, row: Fields, *, where: str) -> str | None:
        """The right number where it is asked for."""
        key = self.item(row, where=where).answer
        value = None if key is None else _key_value(self.notation, key)
        if value is None:
            return None
        written = self.notation.written(value)
        return f"{self.marker} {written}" if self.marker else f"{OPENING}{written}{CLOSING}"

    def marks(self, raw: str, fields: Mapping[str, object]) -> Iterator[Mark]:
        """The number; or what stands in its place."""
        if fields.get("answer_start") is not None:
            yield from super().marks(raw, fields)
        elif (place := self._place(raw)) is not None and place[1].start < place[1].end:
            yield Mark(*place[1], PLACE)

    def result_columns(self, fields: Mapping[str, object], params: Mapping[str, object]) -> Fields:
        """The value is the answer: equal numbers are equal answers, however they are written (ruling N8).

        The right one is a number as well, also where the key is a whole solution.
        """
        return {"answer": fields.get("value"), "right_letter": self._right(fields.get("right_answer"))}

    def _right(self, key: object) -> str | None:
        """The number that a key means, as this notation writes it; None if it means none."""
        exact = None if isinstance(key, str) else exact_text(key)
        text = key if exact is None else self.notation.written(exact)
        value = _key_value(self.notation, text) if isinstance(text, str) else None
        return None if value is None else self.notation.written(value)

    # --- where the number stands ---

    def _place(self, raw: str) -> tuple[NumberMethod, Span] | None:
        """The trimmed content of the last block, or else of the last marker line; None if there is neither."""
        begin = _spoken_from(raw)
        if (block := _last_block(raw, begin)) is not None:
            return NumberMethod.ANSWER_BLOCK, _trimmed(raw, block)
        if not self.marker or self.marker not in raw:
            return None
        line = _last_line(raw[begin:], self._marker_line)
        if line is None:
            return None
        return NumberMethod.MARKER_LINE, _trimmed(raw, Span(begin + line.start, begin + line.end))

    @cached_property
    def _marker_line(self) -> re.Pattern[str]:
        return _line_pattern(escaped(self.marker))

    @cached_property
    def _marker_line_in_any_case(self) -> re.Pattern[str]:
        return _line_pattern(in_any_case(self.marker))

    def _nowhere(self, text: str) -> NumberDeviation:
        """What a text did that has neither a block nor a marker line (ruling N6)."""
        trimmed = text.strip()
        if not trimmed:
            return NumberDeviation.EMPTY
        if self._has_place_in_any_case(text):
            return NumberDeviation.WRONG_CASE
        for sign, deviation in (
            (OPENING, NumberDeviation.UNCLOSED_TAG),
            (CLOSING, NumberDeviation.UNOPENED_TAG),
            (BOX, NumberDeviation.BOXED_ANSWER),
        ):
            if sign in text:
                return deviation
        if self.notation.is_number(trimmed):
            return NumberDeviation.BARE_NUMBER
        return NumberDeviation.NO_ANSWER if _DIGIT.search(text) is None else NumberDeviation.NUMBER_IN_TEXT

    def _has_place_in_any_case(self, text: str) -> bool:
        opening = _ANY_OPENING.search(text)
        # A second search, as one expression for both tags would look for the closing one from every opening one.
        if opening is not None and _ANY_CLOSING.search(text, opening.end()):
            return True
        return bool(self.marker) and _last_line(text, self._marker_line_in_any_case) is not None


_DIGIT = re.compile("[0-9]")
_ANY_OPENING, _ANY_CLOSING = re.compile(in_any_case(OPENING)), re.compile(in_any_case(CLOSING))


def _spoken_from(raw: str) -> int:
    """Where the text after the last `</think>` begins; 0 if there is none (ruling N1)."""
    thought = raw.rfind(THINK_END)
    return 0 if thought < 0 else thought + len(THINK_END)


def _last_block(raw: str, begin: int) -> Span | None:
    """The content of the last block (ruling N2): that of the last opening tag which has a closing one after it."""
    last_closing = raw.rfind(CLOSING, begin)
    opening = raw.rfind(OPENING, begin, last_closing) if last_closing >= 0 else -1
    if opening < 0:
        return None
    start = opening + len(OPENING)
    return Span(start, raw.find(CLOSING, start))


def _line_pattern(marker: str) -> re.Pattern[str]:
    """Everything up to the end of the last line that begins with a marker; what follows the marker is the group.

    Linear: going back from the end, each line feed is tried once, and the blanks behind it are looked at once.
    """
    return re.compile(rf"(?s:.*)\n[^\S\n]*+{marker}([^\n]*+)")


def _last_line(text: str, pattern: re.Pattern[str]) -> Span | None:
    """What follows the marker on the last line that begins with it (ruling N3)."""
    last = pattern.match("\n" + text.replace("\r", "\n"))
    return None if last is None else Span(last.start(1) - 1, last.end(1) - 1)


def _trimmed(raw: str, span: Span) -> Span:
    text = raw[span.start : span.end]
    start = span.end - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


# --- right answers ---

_SOLUTION_LINE = _line_pattern(escaped(SOLUTION_MARKER))
_MONEY = ("$", "€", "£", "¥")
_USUAL_MARKERS = {SOLUTION_MARKER: _SOLUTION_LINE, "Answer:": _line_pattern("Answer:")}
"""Markers that models use without being told, by what finds their lines."""


def answer_of_solution(solution: str) -> str | None:
    """What follows `####` on the last line of a solution that begins with it; None if none does (ruling N7).

    >>> answer_of_solution("24 + 48 = 72\\n#### 72"), answer_of_solution("72")
    ('72', None)
    """
    line = _last_line(solution, _SOLUTION_LINE) if SOLUTION_MARKER in solution else None
    return None if line is None else solution[line.start : line.end].strip()


@lru_cache(maxsize=4096)
def _key_value(notation: Notation, key: str) -> str | None:
    """The value of a right answer: a number, or a solution that ends with one."""
    answer = answer_of_solution(key)
    return notation.value((key if answer is None else answer).strip())


def _in_grammar(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


number = Number()
