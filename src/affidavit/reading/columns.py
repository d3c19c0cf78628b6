"""The same contracts over whole columns: equal to `read` row by row, for every text that a column can hold.

Where the contract allows it, the work is done in the columns by Polars: multiple choice, numbers, patterns, text.
Where it does not (an expression has to be parsed, a judgement decoded), equal rows are read once. A missing
text (null) gives null throughout: nothing arrived, so nothing is read.

A text with lone surrogates cannot be in a column at all; such rows are read one by one.

    >>> mcqa(pl.Series(["<answer>B</answer>", "B. Paris", None])).rows()
    [(True, 'B', None), (False, None, 'option_text'), (None, None, None)]
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import polars as pl

from affidavit.contracts.choice_columns import read_choices
from affidavit.contracts.evaluation import Asked, EvaluationReading
from affidavit.contracts.game24 import Game24, Hand
from affidavit.contracts.judge import Judge
from affidavit.contracts.label_columns import read_labels
from affidavit.contracts.labels import LabelSet
from affidavit.contracts.number import Number
from affidavit.contracts.parts import FieldType
from affidavit.contracts.pattern import Pattern
from affidavit.contracts.reasoned_columns import read_reasoned
from affidavit.contracts.whitespace import WHITESPACE

Read = Callable[[Sequence[pl.Series]], pl.Series]
"""A contract over columns that stand side by side, giving a column of structs."""


def choice_schema(*, deviations: bool = True) -> pl.Schema:
    """The columns that `mcqa` gives."""
    names = ("extracted_answer", "deviation") if deviations else ("extracted_answer",)
    return pl.Schema({"protocol_compliant": pl.Boolean(), **dict.fromkeys(names, pl.String())})


def polars_type(kind: FieldType) -> pl.DataType:
    """The type of a column for the type of a contract's field.

    >>> polars_type([{"code": str, "start": int}])
    List(Struct({'code': String, 'start': Int64}))
    """
    if isinstance(kind, list):
        return pl.List(polars_type(kind[0]))
    if isinstance(kind, dict):
        return pl.Struct({name: polars_type(inner) for name, inner in kind.items()})
    return _PLAIN_TYPES[cast("type", kind)]


_PLAIN_TYPES: dict[type, pl.DataType] = {bool: pl.Boolean(), int: pl.Int64(), str: pl.String()}


# --- multiple choice ---


def mcqa(raw: pl.Series, *, options: str = "A-D", deviations: bool = True) -> pl.DataFrame:
    """Compliance, answer and, unless they are left out, deviations of a column of outputs."""
    return read_choices(raw, options, deviations=deviations)


def mcqa_reasoned(raw: pl.Series, *, options: str = "A-D") -> pl.DataFrame:
    """Compliance, answer, deviation and the answer's place of outputs that may reason before they answer.

    >>> mcqa_reasoned(pl.Series(["So B. <answer>B</answer>"])).row(0)
    (True, 'B', None, 14, 15)
    """
    return read_reasoned(raw, options)


REASONED_SCHEMA = pl.Schema({**choice_schema(), "answer_start": pl.Int64(), "answer_end": pl.Int64()})


# --- labels, open text and patterns ---


def labels(raw: pl.Series, contract: LabelSet) -> pl.DataFrame:
    """Compliance, the set as a text and as a list, its place, and deviations under a contract over labels.

    >>> labels(pl.Series(["<answer>b, a</answer>", "a"]), LabelSet(["a", "b"]))["extracted_answer"].to_list()
    ['a, b', None]
    """
    return read_labels(raw, contract.vocabulary)


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


def number(raw: pl.Series, contract: Number | None = None) -> pl.DataFrame:
    """The number of each output, its place and its value, or the deviation; `contract` has its parameters.

    >>> number(pl.Series(["<answer>1,072</answer>", "It is 72."])).select("value", "deviation").rows()
    [('1072', None), (None, 'number_in_text')]
    """
    return (contract or Number()).read_texts(raw)


NUMBER_SCHEMA = pl.Schema(
    {
        "protocol_compliant": pl.Boolean(),
        **{name: polars_type(kind) for name, kind in Number().fields_added({}).items()},
    }
)


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


def judge_schema(contract: Judge) -> pl.Schema:
    """The columns that `judge` gives; scores have a field for each dimension of the rubric."""
    types = contract.fields_added({})
    return pl.Schema({"protocol_compliant": pl.Boolean(), **{name: polars_type(types[name]) for name in types}})


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
        self._further: list[Any] = []
        self._evidence: list[Any] = []

    def add_nothing(self) -> None:
        """A row without an output."""
        self._height += 1
        self._plain.extend([None] * (len(_PLAIN) + len(self._dimensions)))

    def add(self, reading: EvaluationReading) -> None:
        """A row with an output."""
        row, scores = self._height, reading.scores
        self._height += 1
        self._plain.extend((not reading.flags, reading.verdict, reading.evidence_checked, scores is not None))
        self._plain.extend((reading.further_judge_flags, reading.identifiers_checked))
        self._plain.extend([None] * len(self._dimensions) if scores is None else scores.values())
        for flag in reading.flags:
            self._flags.extend((row, flag))
        for word in reading.judge_flags:
            self._judge_flags.extend((row, word))
        for finding in reading.findings:
            self._findings.extend((row, finding.code, finding.path, finding.expected, finding.found))
        for further in reading.further_findings:
            self._further.extend((row, further.code, further.count))
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
            self._listed("further_findings", self._further, _FURTHER, present),
            self._listed("judge_flags", self._judge_flags, {"judge_flags": pl.String()}, present),
            "further_judge_flags",
            pl.when("scored").then(pl.struct(*self._dimensions)).alias("scores"),
            "verdict",
            self._listed("evidence", self._evidence, _EVIDENCE, present),
            "evidence_checked",
            "identifiers_checked",
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
    "further_judge_flags": pl.Int64(),
    "identifiers_checked": pl.Boolean(),
}
_FURTHER: dict[str, pl.DataType] = {"code": pl.String(), "count": pl.Int64()}
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
