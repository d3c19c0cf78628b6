"""The same contracts over whole columns: equal to `read` row by row, for every text that a column can hold.

Where the contract allows it, the work is done in the columns by Polars: multiple choice, patterns, open text.
Where it does not (an expression has to be parsed, a judgement decoded), equal rows are read once. A missing
text (null) gives null throughout: nothing arrived, so nothing is read.

A text with lone surrogates cannot be in a column at all; such rows are read one by one.

    >>> mcqa(pl.Series(["<answer>B</answer>", "B. Paris", None])).rows()
    [(True, 'B', None), (False, None, 'option_text'), (None, None, None)]
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import polars as pl

from affidavit.contracts.game24 import Game24, Hand
from affidavit.contracts.judge import Asked, EvaluationReading, Judge
from affidavit.contracts.mcqa import CLOSING, OPENING, THINK_END, Deviation, MultipleChoice
from affidavit.contracts.pattern import Pattern

WHITESPACE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Every code point that Python's `str.isspace` knows (ruling M1); Rust's own idea differs at U+001C to U+001F."""

_BLANK = "[" + "".join(rf"\u{{{ord(character):x}}}" for character in WHITESPACE) + "]"
_TAG_BYTES = len(f"{OPENING}A{CLOSING}")


Read = Callable[[Sequence[pl.Series]], pl.Series]
"""A contract over columns that stand side by side, giving a column of structs."""


def choice_schema(*, deviations: bool = True) -> pl.Schema:
    """The columns that `mcqa` gives."""
    names = ("extracted_answer", "deviation") if deviations else ("extracted_answer",)
    return pl.Schema({"protocol_compliant": pl.Boolean(), **dict.fromkeys(names, pl.String())})


# --- multiple choice ---


def mcqa(raw: pl.Series, *, options: str = "A-D", deviations: bool = True) -> pl.DataFrame:
    """Compliance, answer and, unless they are left out, deviations of a column of outputs.

    Texts are first told apart by their length and by where they sort, which costs next to nothing; only the
    few that can still be the padded tag are trimmed.
    """
    contract = MultipleChoice(options)
    tags = pl.DataFrame({"text": [f"{OPENING}{letter}{CLOSING}" for letter in contract.letters]})
    tags = tags.with_columns(letter=pl.Series(list(contract.letters)))
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
        frame = frame.with_columns(_deviations(every.where(~answered), contract, len(raw)))
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


def _deviations(part: _Part, contract: MultipleChoice, height: int) -> pl.Series:
    """The diagnosis of every row of the part, by the closed list of ruling M4."""
    found = _Diagnoses(height)
    first = part.texts.str.find(OPENING, literal=True)
    opened = first.is_not_null()
    _diagnose_tagged(_Tagged.of(part.where(opened), first.filter(opened)), contract, found)
    rest = part.where(~opened)
    closed = rest.matching(_any_case(CLOSING))
    suspicious = rest.where(closed)
    suspicious = found.sift(suspicious, Deviation.WRONG_CASE, suspicious.matching(_wrong_case(contract)))
    suspicious = found.sift(suspicious, Deviation.UNOPENED_TAG, suspicious.having(CLOSING))
    for untagged in (suspicious, rest.where(~closed)):
        _diagnose_untagged(untagged, contract, found)
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


def _wrong_case(contract: MultipleChoice) -> str:
    return f"{_any_case(OPENING)}{_either_case(contract)}{_any_case(CLOSING)}"


def _either_case(contract: MultipleChoice) -> str:
    last = contract.options[-1]
    return f"[A-{last}a-{last.lower()}]"


def _diagnose_tagged(part: _Tagged, contract: MultipleChoice, found: _Diagnoses) -> None:
    """Settle texts with an opening tag."""
    block = f"{OPENING}[{contract.options}]{CLOSING}"
    count = part.tails.texts.str.count_matches(block)
    whole, whole_count = part.where(count > 0), count.filter(count > 0)
    after_think = whole.matching(rf"{THINK_END}{_BLANK}*{block}{_BLANK}*\z")
    rest = found.sift(whole, Deviation.REASONING_THEN_ANSWER, after_think)
    several = found.sift(rest, Deviation.TEXT_AROUND, whole_count.filter(~after_think) == 1)
    different = several.texts.str.extract_all(block).list.n_unique() > 1
    found.settle(found.sift(several, Deviation.CONFLICTING_ANSWERS, different), Deviation.REPEATED_ANSWER)
    broken = part.where(count == 0)
    closed = broken.tails.having(CLOSING)
    left = _diagnose_broken_blocks(broken.where(closed), contract, found)
    for others, otherwise in (
        (left, Deviation.ANSWER_NOT_A_LETTER),
        (broken.where(~closed), Deviation.UNCLOSED_TAG),
    ):
        wrong_case = others.matching(_wrong_case(contract))
        found.settle(found.sift(others, Deviation.WRONG_CASE, wrong_case), otherwise)


def _diagnose_broken_blocks(part: _Tagged, contract: MultipleChoice, found: _Diagnoses) -> _Tagged:
    """Settle what closed blocks that are not well-formed explain; the other rows are left."""
    beyond, either = f"[{chr(ord(contract.options[-1]) + 1)}-Z]", _either_case(contract)
    for deviation, block in (
        (Deviation.PLACEHOLDER, f"{OPENING}X{CLOSING}"),
        (Deviation.OPTION_OUT_OF_SET, f"{OPENING}{beyond}{CLOSING}"),
        (Deviation.INNER_WHITESPACE, f"{OPENING}(?:{_BLANK}+{either}{_BLANK}*|{either}{_BLANK}+){CLOSING}"),
    ):
        part = found.sift(part, deviation, part.tails.matching(block))
    return part


def _diagnose_untagged(part: _Part, contract: MultipleChoice, found: _Diagnoses) -> None:
    """Settle texts without any tag; all but a few are known by their first character."""
    letter, last = f"[{contract.options}]", contract.options[-1]
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


# --- open text and patterns ---


def text(raw: pl.Series) -> pl.DataFrame:
    """Compliance with text/1.

    >>> text(pl.Series(["Dear reader", " ", None]))["protocol_compliant"].to_list()
    [True, False, None]
    """
    return pl.DataFrame({"protocol_compliant": raw.str.strip_chars(WHITESPACE) != ""})


def pattern(raw: pl.Series, contract: Pattern) -> pl.DataFrame:
    """Compliance and answer under a contract from one regular expression."""
    answers = raw.str.strip_chars(WHITESPACE).str.extract(contract.whole, contract.group)
    compliant = pl.select(pl.when(raw.is_not_null()).then(answers.is_not_null())).to_series()
    return pl.DataFrame({"protocol_compliant": compliant, "extracted_answer": answers}, PATTERN_SCHEMA)


PATTERN_SCHEMA = pl.Schema({"protocol_compliant": pl.Boolean, "extracted_answer": pl.String})


# --- what has to be read one by one, but each only once ---


GAME_SCHEMA = pl.Schema(
    {
        "protocol_compliant": pl.Boolean,
        "candidate": pl.String,
        "extraction_method": pl.String,
        "candidate_start": pl.Int64,
        "candidate_end": pl.Int64,
        "correct": pl.Boolean,
        "reason": pl.String,
    }
)


def game24(
    raw: pl.Series, numbers: pl.Series | None = None, target: pl.Series | int | None = None
) -> pl.DataFrame:
    """Candidate, its place and its validation; `numbers` is a column of lists, null where there is no hand.

    >>> game24(pl.Series(["<answer>(13-9)*(10-4)</answer>"]), pl.Series([[4, 9, 10, 13]])).row(0)[-2:]
    (True, 'ok')
    """
    contract = Game24()
    hands = _nothing(raw) if numbers is None else numbers
    targets = target if isinstance(target, pl.Series) else pl.Series([target]).new_from_index(0, len(raw))

    dealt: dict[tuple[tuple[int, ...], int], Hand] = {}  # many texts answer the same few hands

    def deal(hand: list[int] | None, goal: int | None) -> Hand | None:
        if hand is None:
            return None
        key = (tuple(hand), 24 if goal is None else goal)
        return dealt.get(key) or dealt.setdefault(key, Hand(*key))

    def read(text: str | None, hand: list[int] | None, goal: int | None) -> tuple[object, ...]:
        if text is None:
            return (None,) * len(GAME_SCHEMA)
        item = deal(hand, goal)
        reading = contract.read(text, item)
        validation = None if item is None else contract.validate(reading, item)
        judged = (None, None) if validation is None else (validation.correct, validation.reason)
        return (reading.protocol_compliant, *reading.fields().values(), *judged)

    distinct = _Distinct([raw, hands, targets])
    return distinct.spread(pl.DataFrame([read(*row) for row in distinct.rows()], GAME_SCHEMA, orient="row"))


def judge(
    raw: pl.Series,
    judged_output: pl.Series | None = None,
    asked: pl.Series | None = None,
    *,
    contract: Judge | None = None,
) -> pl.DataFrame:
    """Evaluations and everything that speaks against them; `asked` is a column of structs."""
    reader = contract or Judge()
    judged = _nothing(raw) if judged_output is None else judged_output
    distinct = _Distinct([raw, judged, _nothing(raw) if asked is None else asked])
    evaluations = _Evaluations(reader.rubric.ids)
    for text, judged_text, meta in distinct.rows():
        if text is None:
            evaluations.add_nothing()
        else:
            given = {name: value for name, value in meta.items() if value is not None} if meta else {}
            evaluations.add(reader.read(text, Asked(given, judged_text)))
    return distinct.spread(evaluations.frame())


def judge_schema(dimensions: Sequence[str]) -> pl.Schema:
    """The columns that `judge` gives; scores have a field for each dimension of the rubric."""
    return pl.Schema(
        {
            "protocol_compliant": pl.Boolean(),
            "valid": pl.Boolean(),
            "flags": pl.List(pl.String()),
            "findings": pl.List(pl.Struct(_FINDING)),
            "judge_flags": pl.List(pl.String()),
            "scores": pl.Struct(dict.fromkeys(dimensions, pl.Int64())),
            "verdict": pl.String(),
            "evidence": pl.List(pl.Struct(_EVIDENCE)),
            "evidence_checked": pl.Boolean(),
        }
    )


class _Distinct:
    """The distinct rows of some columns, and the way from them back to all rows."""

    def __init__(self, columns: Sequence[pl.Series]) -> None:
        self._columns = columns
        self._groups: pl.DataFrame | None = None
        # Where the texts alone are all different, nothing else has to be compared.
        if columns[0].hash().n_unique() < len(columns[0]):
            frame = pl.DataFrame([column.alias(str(place)) for place, column in enumerate(columns)])
            self._groups = frame.with_row_index("row").group_by(frame.columns, maintain_order=True).agg("row")
            self._columns = self._groups.drop("row").get_columns()

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Every distinct row, in the order of first appearance."""
        return zip(*(column.to_list() for column in self._columns), strict=True)

    def spread(self, results: pl.DataFrame) -> pl.DataFrame:
        """One result for each distinct row becomes one for each row."""
        if self._groups is None:
            return results
        codes = self._groups.select("row").with_row_index("code").explode("row").sort("row")["code"]
        return results[codes]


class _Evaluations:
    """Readings taken apart into flat columns as they come, so that none of them has to be kept."""

    def __init__(self, dimensions: Sequence[str]) -> None:
        self._dimensions = dimensions
        self._height = 0
        self._plain: list[Any] = []
        self._flags: list[Any] = []
        self._judge_flags: list[Any] = []
        self._findings: list[Any] = []
        self._evidence: list[Any] = []

    def add_nothing(self) -> None:
        """A row without an output."""
        self._height += 1
        self._plain.extend([None] * (4 + len(self._dimensions)))

    def add(self, reading: EvaluationReading) -> None:
        """A row with an output."""
        row, scores = self._height, reading.scores
        self._height += 1
        self._plain.extend((not reading.flags, reading.verdict, reading.evidence_checked, scores is not None))
        self._plain.extend([None] * len(self._dimensions) if scores is None else scores.values())
        for flag in reading.flags:
            self._flags.extend((row, flag))
        for word in reading.judge_flags:
            self._judge_flags.extend((row, word))
        for finding in reading.findings:
            self._findings.extend((row, finding.code, finding.path, finding.expected, finding.found))
        for dimension, quote, kind, span in reading.evidence:
            start, end = span or (None, None)
            self._evidence.extend((row, dimension, quote, kind, start, end))

    def frame(self) -> pl.DataFrame:
        """All rows, their columns in the order of the record's fields."""
        plain = _unflattened(self._plain, _PLAIN | dict.fromkeys(self._dimensions, pl.Int64()))
        present = plain["valid"].is_not_null()
        return plain.select(
            pl.col("valid").alias("protocol_compliant"),
            "valid",
            self._listed("flags", self._flags, {"flags": pl.String()}, present),
            self._listed("findings", self._findings, _FINDING, present),
            self._listed("judge_flags", self._judge_flags, {"judge_flags": pl.String()}, present),
            pl.when("scored").then(pl.struct(*self._dimensions)).alias("scores"),
            "verdict",
            self._listed("evidence", self._evidence, _EVIDENCE, present),
            "evidence_checked",
        )

    def _listed(self, name: str, flat: list[Any], parts: dict[str, pl.DataType], present: pl.Series) -> pl.Series:
        """The parts as one list for each row: empty where there are none, null where nothing arrived."""
        element = pl.col(*parts) if len(parts) == 1 else pl.struct(*parts)
        flat_rows = _unflattened(flat, {"row": pl.UInt32(), **parts})
        lists = flat_rows.group_by("row", maintain_order=True).agg(element.alias(name))
        if len(lists) == self._height:
            return lists[name]
        if not len(lists):
            none = pl.Series(name, [[]], dtype=lists.schema[name])
            return none.new_from_index(0, self._height).zip_with(present, none.clear(1))
        rows = pl.DataFrame({"row": pl.int_range(self._height, dtype=pl.UInt32, eager=True), "present": present})
        joined = rows.join(lists, on="row", how="left", maintain_order="left")
        none_here = pl.lit([], dtype=joined.schema[name])
        return joined.select(pl.when("present").then(pl.col(name).fill_null(none_here)).alias(name)).to_series()


_PLAIN: dict[str, pl.DataType] = {
    "valid": pl.Boolean(),
    "verdict": pl.String(),
    "evidence_checked": pl.Boolean(),
    "scored": pl.Boolean(),
}
_FINDING: dict[str, pl.DataType] = dict.fromkeys(("code", "path", "expected", "found"), pl.String())
_EVIDENCE: dict[str, pl.DataType] = {
    **dict.fromkeys(("dimension", "quote", "kind"), pl.String()),
    **dict.fromkeys(("start", "end"), pl.Int64()),
}


def _unflattened(flat: list[Any], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """The columns of rows that stand one after the other in a flat list."""
    width = len(schema)
    return pl.DataFrame({name: flat[place::width] for place, name in enumerate(schema)}, schema)


def _nothing(raw: pl.Series) -> pl.Series:
    return pl.Series([None]).new_from_index(0, len(raw))
