"""game24/1: reasoning is welcome, the final expression is found by a fixed order of places.

Raw output → candidate → validator. `read` looks for the candidate: the last `<answer>` block that holds
something, else the last `Output:` line, else the lowest line that could be an expression. `validate` sees
the candidate and the hand, never the raw output, and computes exactly.

    >>> hand = Hand((4, 9, 10, 13))
    >>> reading = game24.read("13-9 is 4, 10-4 is 6.\\n<answer>(13-9)*(10-4) = 24</answer>", hand)
    >>> reading.candidate, reading.extraction_method.value, game24.validate(reading, hand).reason
    ('(13-9)*(10-4)', 'answer_block', 'ok')
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import ClassVar

from affidavit.contracts.contract import Span, Validation
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.deviation import CLOSING, OPENING
from affidavit.contracts.expression import Expression, Malformed, parse, solve
from affidavit.contracts.parts import FieldType, Parts
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown

OUTPUT = "Output:"
LONGEST = 500
"""Characters of a candidate, at most (ruling G8)."""

HAND = "Make {target} from the numbers {numbers} with + - * / and parentheses."
"""How a hand is put."""
INSTRUCTION = (
    "You may show intermediate steps. Put the final expression, and nothing else, between <answer> and "
    "</answer>, using each number exactly once."
)
"""Ruling G11. It holds no example: small models copy examples (ruling G10)."""


class Method(StrEnum):
    """Where the candidate was found (ruling G9)."""

    ANSWER_BLOCK = "answer_block"
    OUTPUT_LINE = "output_line"
    FALLBACK_BOTTOM_SCAN = "fallback_bottom_scan"
    EMPTY = "empty"


class Reason(StrEnum):
    """The validator's verdict; the first that applies (ruling G8)."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    ILLEGAL_CHARACTERS = "illegal_characters"
    FORMAT_ERROR = "format_error"
    WRONG_NUMBERS = "wrong_numbers"
    DIVISION_BY_ZERO = "division_by_zero"
    WRONG_VALUE = "wrong_value"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Hand:
    """The numbers of one game and the value to reach."""

    numbers: tuple[int, ...]
    target: int = 24

    def __post_init__(self) -> None:
        for number in (*self.numbers, abs(self.target) if type(self.target) is int else self.target):
            # A candidate has at most 500 characters, so a longer number could never be used.
            if type(number) is not int or not 0 <= number < 10**LONGEST:
                raise InputError(
                    "hand", expected=f"whole numbers from 0 of at most {LONGEST} digits", found=_brief(number)
                )
        if not self.numbers:
            raise InputError("hand", expected="at least one number", found="none")


@dataclass(frozen=True, slots=True)
class ExpressionReading:
    """The candidate, where it was found and where it stands; no candidate has no place."""

    candidate: str
    extraction_method: Method
    candidate_span: Span | None

    @property
    def protocol_compliant(self) -> bool:
        """A marker was used (ruling G9)."""
        return self.extraction_method in (Method.ANSWER_BLOCK, Method.OUTPUT_LINE)

    def fields(self) -> Fields:
        """Candidate, method and place by their names in a row."""
        start, end = self.candidate_span if self.candidate_span is not None else (None, None)
        return {
            "candidate": self.candidate,
            "extraction_method": self.extraction_method,
            "candidate_start": start,
            "candidate_end": end,
        }


@dataclass(frozen=True)
class Game24(Parts):
    """The reasoning-friendly contract for the Game of 24, with any target and any count of numbers."""

    name: str = field(default="game24", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)

    @property
    def params(self) -> Mapping[str, object]:
        """None: hand and target belong to the item."""
        return {}

    def instruction(self, item: Hand | None = None, /) -> str:
        """The hand and the target, then the words of ruling G11."""
        if item is None:
            return INSTRUCTION
        numbers = " ".join(map(str, item.numbers))
        return f"{HAND.format(target=item.target, numbers=numbers)}\n\n{INSTRUCTION}"

    def read(self, raw: str, item: Hand | None = None, /) -> ExpressionReading:
        """The candidate by the order of places; without an item, any calculation is plausible."""
        for method, place in (
            (Method.ANSWER_BLOCK, _in_last_block),
            (Method.OUTPUT_LINE, _in_output_line),
            (Method.FALLBACK_BOTTOM_SCAN, _in_lowest_line),
        ):
            span = place(raw, item)
            if span is not None:
                return ExpressionReading(raw[span.start : span.end], method, span)
        return ExpressionReading("", Method.EMPTY, None)

    def validate(self, reading: ExpressionReading, item: Hand, /) -> Validation:
        """Whether the candidate solves the hand (ruling G8)."""
        reason = _judge(reading.candidate, item)
        return Validation(reason is Reason.OK, reason.value)

    def grammar(self, item: Hand | None = None, /) -> str | None:
        """A finite GBNF grammar: an answer block with as many numbers as the hand has, all from the hand.

        Finite on purpose: a small model in an endless grammar opens parentheses until its tokens run out.
        """
        if item is None:
            return None
        count = len(item.numbers)
        rules = [f'root ::= "{OPENING}" e{count} "{CLOSING}"', 'op ::= " + " | " - " | " * " | " / "']
        rules.append("e1 ::= " + " | ".join(f'"{number}"' for number in sorted(set(item.numbers))))
        rules.extend(f'p{size} ::= "(" e{size} ")" | e{size}' for size in range(2, count))
        for size in range(2, count + 1):
            splits = (f"{_part(left)} op {_part(size - left)}" for left in range(1, size))
            rules.append(f"e{size} ::= " + " | ".join(splits))
        return "\n".join(rules)

    # --- the optional parts ---

    summary = "Any reasoning, and an expression that makes the target from the numbers of a hand, behind a marker."
    rulings = "G1-G12"
    passing = f"13 - 9 is 4, and 10 - 4 is 6.\n{OPENING}(13-9)*(10-4){CLOSING}"
    failing = "13 - 9 is 4, and 10 - 4 is 6, so:\n(13-9)*(10-4)"

    columns_hold_all = True
    generates_items = True
    item_fields = ("numbers", "target")
    checked_by = "numbers"
    unchecked = "candidates were looked for without a hand and not checked"
    counted: ClassVar[Mapping[str, str]] = {"extraction_method": "methods", "reason": "reasons"}
    value_labels: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "extraction_method": {Method.EMPTY: "no expression found"},
        "reason": {Reason.EMPTY: "no expression found", "": "not checked: no hand"},
    }
    problem_template = ""
    instruction_template = f"{HAND}\n\n{INSTRUCTION}"
    mark_fields = (("candidate_start", "candidate_end"),)
    every_answer_counts = True
    tables = (
        "solve rate",
        CountTable(
            name="expressions",
            question="Where was the expression found, and what does the validator say of it?",
            fields=("extraction_method", "reason"),
            explains=(Method.FALLBACK_BOTTOM_SCAN, Method.EMPTY),
        ),
    )

    def holds_answer(self, fields: Mapping[str, object]) -> bool:
        """Whatever was extracted is an answer, with a marker or without (ruling G12)."""
        return fields["extraction_method"] != Method.EMPTY

    def item(self, row: Fields, *, where: str) -> Hand | None:
        """The hand, its numbers as a list or as a text such as `4 9 10 13`; None if there is none."""
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

    def right_answer_known(self, item: object) -> bool:
        """Whether there is a hand to check against."""
        return item is not None

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The candidate, where it stands, and whether it solves the hand."""
        return {
            "candidate": str,
            "extraction_method": str,
            "candidate_start": int,
            "candidate_end": int,
            "correct": bool,
            "reason": str,
        }

    def check(self, row: Fields, *, where: str) -> None:
        """A hand; it needs no question."""
        if row.get("numbers") is None:
            raise InputError(where, expected="a hand in 'numbers'", found="none")

    def problem(self, row: Mapping[str, object]) -> str:
        """Nothing: the instruction states the hand."""
        return ""

    def example(self, row: Fields, *, where: str) -> str | None:
        """A solution of the hand in an answer block."""
        hand = self.item(row, where=where)
        solution = None if hand is None else solve(hand.numbers, hand.target)
        return None if solution is None else f"{OPENING}{solution}{CLOSING}"

    def solved_by(self, words: str) -> Iterable[tuple[tuple[int, ...], Fraction]]:
        """The numbers and the value of every calculation in the words (ruling G10)."""
        return calculations(words)

    def given_away(self, row: Fields, solved: Collection[object]) -> bool:
        """Whether a calculation uses just the hand's numbers and makes its target (ruling G10)."""
        hand = self.item(row, where="")
        return hand is not None and (tuple(sorted(hand.numbers)), Fraction(hand.target)) in solved

    def result_columns(self, fields: Mapping[str, object], params: Mapping[str, object]) -> Fields:
        """The candidate is the answer, whatever the method (ruling G12)."""
        return {"answer": fields.get("candidate") or None}

    def kind_of_failing(self, fields: Mapping[str, object]) -> str | None:
        """Where the candidate was found, and what the validator says of it; None if it is right."""
        if fields.get("correct") is True:
            return None if fields.get("protocol_compliant") is not False else "not compliant"
        reasons = [
            labels.get(str(fields[name]), str(fields[name]))
            for name, labels in self.value_labels.items()
            if fields.get(name) is not None
        ]
        return ": ".join(dict.fromkeys(reasons))


def _whole(part: str) -> int | str:
    """The number that a part of a hand is; the part itself if it is none."""
    return int(part) if part.isascii() and part.isdigit() and len(part) <= LONGEST else part


def _brief(value: object) -> str:
    # Python refuses to write out integers of more than 4,300 digits.
    return "a longer one" if type(value) is int and abs(value) >= 10**LONGEST else repr(value)


def _part(size: int) -> str:
    return "e1" if size == 1 else f"p{size}"


def _judge(candidate: str, hand: Hand) -> Reason:
    if not candidate:
        return Reason.EMPTY
    if len(candidate) > LONGEST:
        return Reason.TOO_LONG
    expression = parse(candidate)
    if isinstance(expression, Malformed):
        return Reason(expression.value)
    if not _uses(expression, hand):
        return Reason.WRONG_NUMBERS
    try:
        value = expression.value()
    except ZeroDivisionError:
        return Reason.DIVISION_BY_ZERO
    return Reason.OK if value == hand.target else Reason.WRONG_VALUE


def _uses(expression: Expression, hand: Hand) -> bool:
    """Whether the expression's numbers are the hand's, each as often."""
    literals = islice(expression.literals(), len(hand.numbers) + 1)
    return sorted(literals) == sorted(map(str, hand.numbers))


def _plausible(text: str, hand: Hand | None) -> bool:
    """Ruling G5, on cleaned text. `=` and arrows need no test of their own: they are not in the alphabet."""
    expression = parse(text)
    if isinstance(expression, Malformed):
        return False
    return expression.has_binary_operator() if hand is None else _uses(expression, hand)


# --- the three places ---


# Within a line, every blank of ruling M1; lines end at \n, \r\n or \r and nowhere else (ruling G2).
_PAD = r"[^\S\n]*+"
_LITERAL = re.compile("[0-9]+")
_OUTPUT_LINE = re.compile(rf"\n{_PAD}{OUTPUT}{_PAD}[^\n]++")


def _in_last_block(raw: str, hand: Hand | None) -> Span | None:
    """The candidate in the last block with non-blank content (rulings G1 to G3)."""
    if OPENING not in raw:
        return None
    *pieces, tail = raw.split(CLOSING)
    closing = len(raw) - len(tail)
    for piece in reversed(pieces):
        closing -= len(CLOSING)
        opening = piece.rfind(OPENING)
        if opening >= 0 and piece[opening + len(OPENING) :].strip():
            return _in_content(raw, Span(closing - len(piece) + opening + len(OPENING), closing), hand)
        closing -= len(piece)
    return None


def _in_content(raw: str, content: Span, hand: Hand | None) -> Span:
    """Ruling G2: the one line, the whole, the lowest plausible line, or the last line."""
    trimmed = _trimmed(raw, content)
    last_break = max(raw.rfind("\n", *trimmed), raw.rfind("\r", *trimmed))
    whole = _cleaned(raw, trimmed, hand)
    if last_break < 0 or _plausible(raw[whole.start : whole.end], hand):
        return whole
    last_line = Span(last_break + 1, trimmed.end)
    return _lowest_plausible(raw, trimmed, hand) or _cleaned(raw, last_line, hand)


def _in_output_line(raw: str, hand: Hand | None) -> Span | None:
    """The candidate in the last line that starts with `Output:` and goes on (ruling G4)."""
    if OUTPUT not in raw:
        return None
    last = None
    for match in _OUTPUT_LINE.finditer("\n" + _with_line_feeds(raw)):
        last = match
    return None if last is None else _cleaned(raw, Span(last.start(), last.end() - 1), hand)


def _in_lowest_line(raw: str, hand: Hand | None) -> Span | None:
    """The lowest plausible line of the whole output (ruling G5)."""
    return _lowest_plausible(raw, Span(0, len(raw)), hand)


def _lowest_plausible(raw: str, part: Span, hand: Hand | None) -> Span | None:
    count = None if hand is None else len(hand.numbers)
    worth_a_look, wanted = _expression_line(count), None if hand is None else sorted(map(str, hand.numbers))
    text = _with_line_feeds(raw[part.start : part.end])
    # Each line once, from the lowest: models that lose their way write one line a thousand times.
    for line in dict.fromkeys(reversed(text.split("\n"))):
        if worth_a_look.fullmatch(line) and _begins_with(line, wanted):
            start, end = _cleaned(line, Span(0, len(line)), hand)
            if _plausible(line[start:end], hand):
                place = part.start + f"\n{text}\n".rfind(f"\n{line}\n")
                return Span(place + start, place + end)
    return None


def _begins_with(line: str, wanted: list[str] | None) -> bool:
    """Whether the first numbers of a line are the hand's: they are those of its calculation."""
    return wanted is None or sorted(_LITERAL.findall(line)[: len(wanted)]) == wanted


@cache
def _expression_line(numbers: int | None) -> re.Pattern[str]:
    """What a plausible line may look like before it is cleaned: all other lines need no closer look.

    Sound because cleaning cuts no more than `Output:` and an `=` with a number; it only saves time.
    """
    operand = r"[-( \t\v\f]*+[0-9]++[) \t\v\f]*+"
    more = "+" if numbers is None else f"{{{numbers - 1}}}"
    calculation = rf"{operand}(?:[-+*/]{operand}){more}+"
    return re.compile(rf"\s*+(?:{OUTPUT}\s*+)?{calculation}\s*+(?:=\s*+-?[0-9]++\.?\s*+)?")


def _with_line_feeds(text: str) -> str:
    """The text, as long as it was, with its lines ended by line feeds alone.

    A carriage return before a line feed makes an empty line, and empty lines are never looked at.
    """
    return text.replace("\r", "\n")


def _cleaned(raw: str, span: Span, hand: Hand | None) -> Span:
    """Ruling G6: trimmed, less one leading `Output:` and one trailing target; neither if nothing would remain."""
    start, end = _trimmed(raw, span)
    if raw.startswith(OUTPUT, start, end):
        rest = _trimmed(raw, Span(start + len(OUTPUT), end))
        start, end = rest if rest.start < rest.end else (start, end)
    equals = raw.rfind("=", start, end)
    if equals >= 0:
        target = str(24 if hand is None else hand.target)
        before = _trimmed(raw, Span(start, equals))
        if before.start < before.end and raw[equals + 1 : end].lstrip() in (target, f"{target}."):
            return before
    return Span(start, end)


def _trimmed(raw: str, span: Span) -> Span:
    text = raw[span.start : span.end]
    start = span.end - len(text.lstrip())
    return Span(start, max(start, span.start + len(text.rstrip())))


# --- calculations in the words of a prompt ---

_CALCULATION = re.compile(r"[-(]*+[0-9][-0-9()+*/ \t]*+")
_BETWEEN_OPERANDS = re.compile(r"(?<=[0-9)])[ \t]+(?=[0-9(])")
"""No calculation goes on where an operand follows another: `1) (13-9)*(10-4)`."""
_NUMBER_AND_DASH = re.compile(r"[0-9]+[ \t]*-[ \t]*")
"""What may be a calculation's first term or the prose before it: `Example 2 - (13-9)*(10-4)`."""


def calculations(words: str) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """The numbers and the value of every calculation in a text.

    >>> list(calculations("- 2 * 4 (or (1 + 2) * 3) - not 1 / 0."))
    [((2, 4), Fraction(8, 1)), ((1, 2, 3), Fraction(9, 1))]
    """
    for found in _pieces(words):
        expression = parse(_bare(found))
        if isinstance(expression, Malformed) or not expression.has_binary_operator():
            continue
        try:
            yield tuple(sorted(map(int, expression.literals()))), expression.value()
        except ZeroDivisionError:
            continue


def _pieces(words: str) -> Iterator[str]:
    """The parts of a text that may each be a calculation."""
    for match in _CALCULATION.finditer(words):
        for piece in _BETWEEN_OPERANDS.split(match[0]):
            yield piece
            if before := _NUMBER_AND_DASH.match(piece):
                yield piece[before.end() :]


def _bare(found: str) -> str:
    """A calculation without what belongs to the prose around it: dashes, and parentheses that do not close."""
    bare = found.lstrip("- \t").rstrip("-+*/( \t")
    while bare.count(")") > bare.count("(") and bare.endswith(")"):
        bare = bare[:-1].rstrip()
    while bare.count("(") > bare.count(")") and bare.startswith("("):
        bare = bare[1:].lstrip()
    return bare


game24 = Game24()
