"""mcqa/1 over a whole column of texts: equal to `read` row by row, for every text that a column can hold.

>>> read_choices(pl.Series(["<answer>B</answer>", "B. Paris", None]), "A-D").rows()
[(True, 'B', None), (False, None, 'option_text'), (None, None, None)]
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

import polars as pl

from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END, Deviation

WHITESPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Every code point that Python's `str.isspace` knows (ruling M1); Rust's own idea differs at U+001C to U+001F."""

_BLANK = "[" + "".join(rf"\u{{{ord(character):x}}}" for character in WHITESPACE) + "]"
_TAG_BYTES = len(f"{OPENING}A{CLOSING}")


def read_choices(raw: pl.Series, options: str, *, deviations: bool = True) -> pl.DataFrame:
    """Compliance, answer and, unless they are left out, deviations of a column of outputs.

    Texts are first told apart by their length and by where they sort, which costs next to nothing; only the
    few that can still be the padded tag are trimmed.
    """
    chosen = [chr(code) for code in range(ord(options[0]), ord(options[-1]) + 1)]
    tags = pl.DataFrame({"text": [f"{OPENING}{letter}{CLOSING}" for letter in chosen]})
    tags = tags.with_columns(letter=pl.Series(chosen))
    rows = pl.int_range(len(raw), eager=True, dtype=pl.UInt32)
    size = raw.str.len_bytes()
    letters = pl.Series([None], dtype=pl.String).new_from_index(0, len(raw))
    every = _Part(rows, raw)
    part = _Part.of_all([every.where(size == _TAG_BYTES), *_padded(every.where(size > _TAG_BYTES))])
    known = part.texts.to_frame("text").join(tags, on="text", how="left", maintain_order="left")
    letters = letters.scatter(part.rows, known["letter"])
    answered = letters.is_not_null()
    frame = pl.DataFrame({"protocol_compliant": answered, "extracted_answer": letters})
    if deviations:
        frame = frame.with_columns(_deviations(every.where(~answered), options, len(raw)))
    return frame if raw.null_count() == 0 else frame.with_columns(pl.when(raw.is_not_null()).then(pl.all()))


def _padded(part: "_Part") -> "Iterator[_Part]":
    """The texts that could be the tag with whitespace around it, trimmed.

    Such a text begins with whitespace, all of which sorts before `!` or after `~`; or it begins as the tag does
    and ends with whitespace.
    """
    begins_as_tag = part.where((part.texts > OPENING[:2]) & (part.texts < "<b"))
    last = begins_as_tag.texts.str.tail(1)
    for found in (
        part.where((part.texts < "!") | (part.texts > "~")),
        begins_as_tag.where((last < "!") | (last > "~")),
    ):
        yield _Part(found.rows, found.texts.str.strip_chars(WHITESPACE))


class _Part:
    """Some rows of a column: their numbers and their texts."""

    def __init__(self, rows: pl.Series, texts: pl.Series) -> None:
        self.rows = rows
        self.texts = texts

    @classmethod
    def of_all(cls, parts: "Sequence[_Part]") -> "_Part":
        """The rows of all these parts."""
        return cls(pl.concat([part.rows for part in parts]), pl.concat([part.texts for part in parts]))

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, holds: pl.Series) -> "_Part":
        """The rows of which it holds; not those of which it is unknown."""
        return _Part(self.rows.filter(holds), self.texts.filter(holds))

    def matching(self, pattern: str) -> pl.Series:
        """Whether each text has a match of the pattern."""
        return self.texts.str.contains(pattern) if len(self) else _NOTHING_HOLDS

    def having(self, piece: str) -> pl.Series:
        """Whether each text has this very piece."""
        return self.texts.str.contains(piece, literal=True) if len(self) else _NOTHING_HOLDS


_PartT = TypeVar("_PartT", bound=_Part)
_NOTHING_HOLDS = pl.Series([], dtype=pl.Boolean)  # of no texts at all


class _Diagnoses:
    """Which rows got which diagnosis. Settled rows leave their part, so that later tests see fewer."""

    def __init__(self, height: int) -> None:
        self._codes = pl.zeros(height, dtype=pl.UInt8, eager=True)

    def settle(self, part: _Part, deviation: Deviation) -> None:
        """Give all rows of the part this diagnosis."""
        self._codes = self._codes.scatter(part.rows, _CODES[deviation])

    def sift(self, part: _PartT, deviation: Deviation, holds: pl.Series) -> _PartT:
        """Give the rows of which it holds this diagnosis; the others are left."""
        self.settle(part.where(holds), deviation)
        return cast("_PartT", part.where(~holds))

    def names(self) -> pl.Series:
        """The diagnoses as a column; null where there is none."""
        return pl.Series("deviation", [None, *Deviation], dtype=pl.String).gather(self._codes)


_CODES = {deviation: code for code, deviation in enumerate(Deviation, 1)}


def _deviations(part: _Part, options: str, height: int) -> pl.Series:
    """The diagnosis of every row of the part, by the closed list of ruling M4."""
    found = _Diagnoses(height)
    first = part.texts.str.find(OPENING, literal=True)
    opened = first.is_not_null()
    _diagnose_tagged(_Tagged.of(part.where(opened), first.filter(opened)), options, found)
    rest = part.where(~opened)
    closed = rest.matching(_any_case(CLOSING))
    suspicious = rest.where(closed)
    suspicious = found.sift(suspicious, Deviation.WRONG_CASE, suspicious.matching(_wrong_case(options)))
    suspicious = found.sift(suspicious, Deviation.UNOPENED_TAG, suspicious.having(CLOSING))
    for untagged in (suspicious, rest.where(~closed)):
        _diagnose_untagged(untagged, options, found)
    return found.names()


class _Tagged(_Part):
    """Rows with an opening tag, and each text from its first one on: there stands every exact block."""

    def __init__(self, rows: pl.Series, texts: pl.Series, tails: pl.Series) -> None:
        super().__init__(rows, texts)
        self.tails = _Part(rows, tails)

    @classmethod
    def of(cls, part: _Part, first: pl.Series) -> "_Tagged":
        """The part, with the byte at which each text has its first opening tag."""
        tails = part.texts.cast(pl.Binary).to_frame("text").select(pl.col("text").bin.slice(first))
        return cls(part.rows, part.texts, tails.to_series().cast(pl.String))

    def where(self, holds: pl.Series) -> "_Tagged":
        """The rows of which it holds."""
        return _Tagged(self.rows.filter(holds), self.texts.filter(holds), self.tails.texts.filter(holds))


def _any_case(tag: str) -> str:
    """A tag in any ASCII case; spelled out, because Rust's own folding knows more than ASCII."""
    return "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in tag)


def _wrong_case(options: str) -> str:
    return f"{_any_case(OPENING)}{_either_case(options)}{_any_case(CLOSING)}"


def _either_case(options: str) -> str:
    last = options[-1]
    return f"[A-{last}a-{last.lower()}]"


def _diagnose_tagged(part: _Tagged, options: str, found: _Diagnoses) -> None:
    """Settle texts with an opening tag."""
    block = f"{OPENING}[{options}]{CLOSING}"
    count = part.tails.texts.str.count_matches(block)
    whole, whole_count = part.where(count > 0), count.filter(count > 0)
    after_think = whole.matching(rf"{THINK_END}{_BLANK}*{block}{_BLANK}*\z")
    rest = found.sift(whole, Deviation.REASONING_THEN_ANSWER, after_think)
    several = found.sift(rest, Deviation.TEXT_AROUND, whole_count.filter(~after_think) == 1)
    different = several.texts.str.extract_all(block).list.n_unique() > 1
    found.settle(found.sift(several, Deviation.CONFLICTING_ANSWERS, different), Deviation.REPEATED_ANSWER)
    broken = part.where(count == 0)
    closed = broken.tails.having(CLOSING)
    left = _diagnose_broken_blocks(broken.where(closed), options, found)
    for others, otherwise in (
        (left, Deviation.ANSWER_NOT_A_LETTER),
        (broken.where(~closed), Deviation.UNCLOSED_TAG),
    ):
        wrong_case = others.matching(_wrong_case(options))
        found.settle(found.sift(others, Deviation.WRONG_CASE, wrong_case), otherwise)


def _diagnose_broken_blocks(part: _Tagged, options: str, found: _Diagnoses) -> _Tagged:
    """Settle what closed blocks that are not well-formed explain; the other rows are left."""
    beyond, either = f"[{chr(ord(options[-1]) + 1)}-Z]", _either_case(options)
    for deviation, block in (
        (Deviation.PLACEHOLDER, f"{OPENING}X{CLOSING}"),
        (Deviation.OPTION_OUT_OF_SET, f"{OPENING}{beyond}{CLOSING}"),
        (Deviation.INNER_WHITESPACE, f"{OPENING}(?:{_BLANK}+{either}{_BLANK}*|{either}{_BLANK}+){CLOSING}"),
    ):
        part = found.sift(part, deviation, part.tails.matching(block))
    return part


def _diagnose_untagged(part: _Part, options: str, found: _Diagnoses) -> None:
    """Settle texts without any tag; all but a few are known by their first character."""
    letter, last = f"[{options}]", options[-1]
    worth_a_look = (part.texts < "!") | (part.texts > "~")
    for first, beyond in (("A", chr(ord(last) + 1)), ("(", ")"), ("*", "+"), ("`", "a")):
        worth_a_look |= (part.texts >= first) & (part.texts < beyond)
    part = found.sift(part, Deviation.NO_TAG, ~worth_a_look)
    part = _Part(part.rows, part.texts.str.strip_chars(WHITESPACE))
    part = found.sift(part, Deviation.EMPTY, part.texts == "")
    bare = part.matching(rf"\A(?:{letter}[.)]?|\({letter}\)|`{letter}`)\z") | _starred(part, letter)
    part = found.sift(part, Deviation.BARE_LETTER, bare)
    part = found.sift(part, Deviation.OPTION_TEXT, part.matching(rf"\A{letter}[.):]"))
    found.settle(part, Deviation.NO_TAG)


def _starred(part: _Part, letter: str) -> pl.Series:
    """Whether a text is a letter between equal runs of asterisks."""
    between = part.matching(rf"\A\*+{letter}\*+\z")
    if not between.any():
        return between
    # Between equal runs, the letter stands in the middle.
    middle = part.texts.str.len_bytes() // 2
    found = part.texts.to_frame("text").select(pl.col("text").str.slice(middle, 1)).to_series()
    return between & (found != "*") & (part.texts.str.len_bytes() % 2 == 1)
