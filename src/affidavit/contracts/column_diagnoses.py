"""What outputs of multiple choice did instead of answering, over whole columns (rulings M4, M10).

Rows are sifted: those that have their diagnosis leave, so that later tests see fewer texts. What is here is what
both contracts share: texts without a well-formed block, as `ChoiceForms.without_block` has it for one text.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar, cast

import polars as pl

from affidavit.contracts.deviation import CLOSING, OPENING, Deviation
from affidavit.contracts.whitespace import WHITESPACE

BLANK = "[" + "".join(rf"\u{{{ord(character):x}}}" for character in WHITESPACE) + "]"
"""A pattern of one blank."""


class Part:
    """Some rows of a column: their numbers and their texts."""

    def __init__(self, rows: pl.Series, texts: pl.Series) -> None:
        self.rows = rows
        self.texts = texts

    @classmethod
    def of_all(cls, parts: "Sequence[Part]") -> "Part":
        """The rows of all these parts."""
        return cls(pl.concat([part.rows for part in parts]), pl.concat([part.texts for part in parts]))

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, holds: pl.Series) -> "Part":
        """The rows of which it holds; not those of which it is unknown."""
        return Part(self.rows.filter(holds), self.texts.filter(holds))

    def matching(self, pattern: str) -> pl.Series:
        """Whether each text has a match of the pattern."""
        return self.texts.str.contains(pattern) if len(self) else _NOTHING_HOLDS

    def having(self, piece: str) -> pl.Series:
        """Whether each text has this very piece."""
        return self.texts.str.contains(piece, literal=True) if len(self) else _NOTHING_HOLDS


class Tagged(Part):
    """Rows with an opening tag, and each text from its first one on: there stands every exact block."""

    def __init__(self, rows: pl.Series, texts: pl.Series, tails: pl.Series) -> None:
        super().__init__(rows, texts)
        self.tails = Part(rows, tails)

    def where(self, holds: pl.Series) -> "Tagged":
        """The rows of which it holds."""
        return Tagged(self.rows.filter(holds), self.texts.filter(holds), self.tails.texts.filter(holds))


_PartT = TypeVar("_PartT", bound=Part)
_NOTHING_HOLDS = pl.Series([], dtype=pl.Boolean)  # of no texts at all


def by_opening_tag(part: Part) -> tuple[Tagged, Part]:
    """The rows that have an opening tag, and the others."""
    first = part.texts.str.find(OPENING, literal=True)
    opened = first.is_not_null()
    found = part.where(opened)
    tails = found.texts.cast(pl.Binary).to_frame("text").select(pl.col("text").bin.slice(first.filter(opened)))
    return Tagged(found.rows, found.texts, tails.to_series().cast(pl.String)), part.where(~opened)


class Diagnoses:
    """Which rows got which diagnosis of a closed list."""

    def __init__(self, height: int, names: Iterable[StrEnum]) -> None:
        self._names = list(names)
        # By their names: both lists have some of them.
        self._numbers = {str(name): number for number, name in enumerate(self._names, 1)}
        self._codes = pl.zeros(height, dtype=pl.UInt8, eager=True)

    def settle(self, part: Part, deviation: StrEnum) -> None:
        """Give all rows of the part this diagnosis."""
        self._codes = self._codes.scatter(part.rows, self._numbers[str(deviation)])

    def sift(self, part: _PartT, deviation: StrEnum, holds: pl.Series) -> _PartT:
        """Give the rows of which it holds this diagnosis; the others are left."""
        self.settle(part.where(holds), deviation)
        return cast("_PartT", part.where(~holds))

    def names(self) -> pl.Series:
        """The diagnoses as a column; null where there is none."""
        return pl.Series("deviation", [None, *self._names], dtype=pl.String).gather(self._codes)


# --- texts without a well-formed block ---


def diagnose_broken(part: Tagged, options: str, found: Diagnoses) -> None:
    """Settle texts that have an opening tag and no well-formed block."""
    closed = part.tails.having(CLOSING)
    left = _diagnose_broken_blocks(part.where(closed), options, found)
    for others, otherwise in (
        (left, Deviation.ANSWER_NOT_A_LETTER),
        (part.where(~closed), Deviation.UNCLOSED_TAG),
    ):
        wrong_case = others.matching(_wrong_case(options))
        found.settle(found.sift(others, Deviation.WRONG_CASE, wrong_case), otherwise)


def _diagnose_broken_blocks(part: Tagged, options: str, found: Diagnoses) -> Tagged:
    """Settle what closed blocks that are not well-formed explain; the other rows are left."""
    beyond, either = f"[{chr(ord(options[-1]) + 1)}-Z]", _either_case(options)
    for deviation, block in (
        (Deviation.PLACEHOLDER, f"{OPENING}X{CLOSING}"),
        (Deviation.OPTION_OUT_OF_SET, f"{OPENING}{beyond}{CLOSING}"),
        (Deviation.INNER_WHITESPACE, f"{OPENING}(?:{BLANK}+{either}{BLANK}*|{either}{BLANK}+){CLOSING}"),
    ):
        part = found.sift(part, deviation, part.tails.matching(block))
    return part


def diagnose_unopened(part: Part, options: str, found: Diagnoses) -> None:
    """Settle texts that have no opening tag."""
    closed = part.matching(_any_case(CLOSING))
    suspicious = part.where(closed)
    suspicious = found.sift(suspicious, Deviation.WRONG_CASE, suspicious.matching(_wrong_case(options)))
    suspicious = found.sift(suspicious, Deviation.UNOPENED_TAG, suspicious.having(CLOSING))
    for untagged in (suspicious, part.where(~closed)):
        _diagnose_untagged(untagged, options, found)


def _any_case(tag: str) -> str:
    """A tag in any ASCII case; spelled out, because Rust's own folding knows more than ASCII."""
    return "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in tag)


def _wrong_case(options: str) -> str:
    return f"{_any_case(OPENING)}{_either_case(options)}{_any_case(CLOSING)}"


def _either_case(options: str) -> str:
    last = options[-1]
    return f"[A-{last}a-{last.lower()}]"


def _diagnose_untagged(part: Part, options: str, found: Diagnoses) -> None:
    """Settle texts without any tag; all but a few are known by their first character."""
    letter, last = f"[{options}]", options[-1]
    worth_a_look = (part.texts < "!") | (part.texts > "~")
    for first, beyond in (("A", chr(ord(last) + 1)), ("(", ")"), ("*", "+"), ("`", "a")):
        worth_a_look |= (part.texts >= first) & (part.texts < beyond)
    part = found.sift(part, Deviation.NO_TAG, ~worth_a_look)
    part = Part(part.rows, part.texts.str.strip_chars(WHITESPACE))
    part = found.sift(part, Deviation.EMPTY, part.texts == "")
    bare = part.matching(rf"\A(?:{letter}[.)]?|\({letter}\)|`{letter}`)\z") | _starred(part, letter)
    part = found.sift(part, Deviation.BARE_LETTER, bare)
    part = found.sift(part, Deviation.OPTION_TEXT, part.matching(rf"\A{letter}[.):]"))
    found.settle(part, Deviation.NO_TAG)


def _starred(part: Part, letter: str) -> pl.Series:
    """Whether a text is a letter between equal runs of asterisks."""
    between = part.matching(rf"\A\*+{letter}\*+\z")
    if not between.any():
        return between
    # Between equal runs, the letter stands in the middle.
    middle = part.texts.str.len_bytes() // 2
    found = part.texts.to_frame("text").select(pl.col("text").str.slice(middle, 1)).to_series()
    return between & (found != "*") & (part.texts.str.len_bytes() % 2 == 1)
