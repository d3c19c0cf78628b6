"""number/1 over a whole column of texts: equal to `read` row by row, for every text that a column can hold.

>>> texts = pl.Series(["So <answer>1,072</answer>", "72", None])
>>> read_numbers(texts, Notation(), "").select("value", "deviation").rows()
[('1072', None), (None, 'bare_number'), (None, None)]
"""

import polars as pl

from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.notation import MOST_DIGITS, Notation, escaped, in_any_case
from affidavit.contracts.number_deviation import BOX, NumberDeviation, NumberMethod
from affidavit.contracts.whitespace import WHITESPACE

SCHEMA = pl.Schema(
    {
        "protocol_compliant": pl.Boolean(),
        "extracted_answer": pl.String(),
        "answer_start": pl.Int64(),
        "answer_end": pl.Int64(),
        "value": pl.String(),
        "deviation": pl.String(),
        "extraction_method": pl.String(),
    }
)
_LINE_BLANK = "[" + "".join(rf"\u{{{ord(blank):x}}}" for blank in WHITESPACE if blank not in "\n\r") + "]"
_TEXT, _CONTENT, _ANSWER = pl.col("text"), pl.col("content"), pl.col("answer")


def read_numbers(raw: pl.Series, notation: Notation, marker: str) -> pl.DataFrame:
    """Everything that the contract's fields say of a column of outputs.

    Rows are parted by where their answer stands, so that each test sees only the texts that it is about.
    """
    rows = pl.DataFrame({"row": pl.int_range(len(raw), eager=True), "text": raw}).drop_nulls("text")
    rows = rows.with_columns(_after_last(THINK_END), whole=_TEXT.str.len_chars().cast(pl.Int64))
    rows = rows.with_columns(before=pl.col("whole") - _TEXT.str.len_chars())
    blocks, rest = _blocks(rows)
    lines, nowhere = _marker_lines(rest, marker)
    read = [
        _numbers(blocks, notation, NumberMethod.ANSWER_BLOCK),
        _numbers(lines, notation, NumberMethod.MARKER_LINE),
        _without_numbers(nowhere, notation, marker),
    ]
    everything = pl.DataFrame({"row": pl.int_range(len(raw), eager=True)})
    joined = everything.join(pl.concat(read), on="row", how="left", maintain_order="left")
    return joined.select(SCHEMA.names())


def _after_last(tag: str) -> pl.Expr:
    found = _TEXT.str.contains(tag, literal=True)
    return pl.when(found).then(_TEXT.str.split(tag).list.last()).otherwise(_TEXT)


def _blocks(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows with a block and the content of the last one (ruling N2); and those without.

    It begins at the last opening tag before the last closing one, and ends at the next closing tag.
    """
    tagged = _TEXT.str.contains(CLOSING, literal=True) & _TEXT.str.contains(OPENING, literal=True)
    cut = rows.with_columns(tagged=tagged)
    tail = _TEXT.str.split(CLOSING).list.last().str.len_chars().cast(pl.Int64)
    heads = cut.filter("tagged").with_columns(
        head=_TEXT.str.head(_TEXT.str.len_chars().cast(pl.Int64) - tail - len(CLOSING))
    )
    opened = pl.col("head").str.contains(OPENING, literal=True)
    part = pl.col("head").str.split(OPENING).list.last()
    blocks = heads.filter(opened).select(
        "row",
        start=pl.col("before") + pl.col("head").str.len_chars() - part.str.len_chars(),
        content=part.str.split(CLOSING).list.first(),
    )
    others = pl.concat([cut.filter(~pl.col("tagged")), heads.filter(~opened).drop("head")])
    return blocks, others.drop("tagged")


def _marker_lines(rows: pl.DataFrame, marker: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows with a marker line and what follows the marker on the last one (ruling N3); and those without."""
    if not marker:
        return rows.head(0).select("row", start="before", content="text"), rows
    # As long as it was, with its lines ended by line feeds alone.
    lines = _TEXT.str.replace_all("\r", "\n", literal=True)
    found = rows.with_columns(line=lines.str.extract_groups(_marker_line(escaped(marker))))
    fields = pl.col("line").struct
    marked = fields.field("rest").is_not_null()
    placed = found.filter(marked).select(
        "row", start=pl.col("before") + fields.field("until").str.len_chars(), content=fields.field("rest")
    )
    return placed, found.filter(~marked).drop("line")


def _marker_line(marker: str) -> str:
    return rf"(?s)\A(?P<until>(?:.*\n)?{_LINE_BLANK}*{marker})(?P<rest>[^\n]*)"


def _numbers(rows: pl.DataFrame, notation: Notation, method: NumberMethod) -> pl.DataFrame:
    """What is read of rows whose answer has a place (rulings N4 to N7)."""
    blank = _CONTENT.str.len_chars() - _CONTENT.str.strip_chars_start(WHITESPACE).str.len_chars()
    found = rows.select(
        "row", answer=_CONTENT.str.strip_chars(WHITESPACE), start=(pl.col("start") + blank).cast(pl.Int64)
    )
    found = found.with_columns(is_number=_is(_ANSWER, notation.form()))
    # Apart, because Polars computes every branch for every text, and most of what is long is no number.
    numbers, others = found.filter("is_number"), found.filter(~pl.col("is_number"))
    read = [
        numbers.with_columns(value=_value(notation), deviation=_number_deviation(notation)),
        others.with_columns(value=pl.lit(None, pl.String), deviation=_other_deviation(notation)),
    ]
    compliant = pl.col("deviation").is_null()
    return pl.concat(read).select(
        "row",
        protocol_compliant=compliant,
        extracted_answer=pl.when(compliant).then(_ANSWER),
        answer_start=pl.when(compliant).then("start"),
        answer_end=pl.when(compliant).then((pl.col("start") + _ANSWER.str.len_chars()).cast(pl.Int64)),
        value=pl.when(compliant).then("value"),
        deviation="deviation",
        extraction_method=pl.lit(method.value),
    )


def _value(notation: Notation) -> pl.Expr:
    """The one form of equal numbers, for an answer that is a number."""
    halves = _kept(notation).str.splitn(notation.decimal, 2).struct
    whole = halves.field("field_0").str.strip_chars_start("0")
    fraction = halves.field("field_1").fill_null("").str.strip_chars_end("0")
    digits = pl.when(whole == "").then(pl.lit("0")).otherwise(whole)
    value = pl.when(fraction == "").then(digits).otherwise(digits + "." + fraction)
    negative = _ANSWER.str.contains("-", literal=True) & (value != "0")
    return pl.when(negative).then("-" + value).otherwise(value)


def _kept(notation: Notation) -> pl.Expr:
    return _ANSWER.str.replace_all(notation.value_characters, "")


def _number_deviation(notation: Notation) -> pl.Expr:
    """What is wrong with an answer that is a number; null if nothing is (ruling N6)."""
    kept = _kept(notation)
    digits = kept.str.len_bytes() - kept.str.contains(notation.decimal, literal=True).cast(pl.UInt32)
    return pl.when(digits > MOST_DIGITS).then(pl.lit(NumberDeviation.TOO_LONG.value))


def _other_deviation(notation: Notation) -> pl.Expr:
    """What is wrong with an answer that is none (ruling N6)."""
    count = _ANSWER.str.count_matches(notation.piece)
    return (
        pl.when(_ANSWER == "")
        .then(pl.lit(NumberDeviation.EMPTY_ANSWER.value))
        .when(_is(_ANSWER, notation.signed_form()))
        .then(pl.lit(NumberDeviation.SIGN_NOT_ALLOWED.value))
        .when(_is(_ANSWER, notation.other_unit()))
        .then(pl.lit(NumberDeviation.UNIT_UNKNOWN.value))
        .when((count > 0) & _is(_ANSWER, f"{notation.number_characters}*"))
        .then(pl.lit(NumberDeviation.MALFORMED_NUMBER.value))
        .when(count == 0)
        .then(pl.lit(NumberDeviation.NOT_A_NUMBER.value))
        .when(count > 1)
        .then(pl.lit(NumberDeviation.SEVERAL_NUMBERS.value))
        .otherwise(pl.lit(NumberDeviation.TEXT_IN_ANSWER.value))
    )


def _without_numbers(rows: pl.DataFrame, notation: Notation, marker: str) -> pl.DataFrame:
    """What rows did that have neither a block nor a marker line (ruling N6)."""
    trimmed = _TEXT.str.strip_chars(WHITESPACE)
    in_case = _TEXT.str.contains(f"(?s){in_any_case(OPENING)}.*{in_any_case(CLOSING)}")
    if marker:
        lines = _TEXT.str.replace_all("\r", "\n", literal=True)
        in_case |= lines.str.contains(_marker_line(in_any_case(marker)))
    deviation = (
        pl.when(trimmed == "")
        .then(pl.lit(NumberDeviation.EMPTY.value))
        .when(in_case)
        .then(pl.lit(NumberDeviation.WRONG_CASE.value))
        .when(_TEXT.str.contains(OPENING, literal=True))
        .then(pl.lit(NumberDeviation.UNCLOSED_TAG.value))
        .when(_TEXT.str.contains(CLOSING, literal=True))
        .then(pl.lit(NumberDeviation.UNOPENED_TAG.value))
        .when(_TEXT.str.contains(BOX, literal=True))
        .then(pl.lit(NumberDeviation.BOXED_ANSWER.value))
        .when(_is(trimmed, notation.form()))
        .then(pl.lit(NumberDeviation.BARE_NUMBER.value))
        .when(_TEXT.str.contains("[0-9]"))
        .then(pl.lit(NumberDeviation.NUMBER_IN_TEXT.value))
        .otherwise(pl.lit(NumberDeviation.NO_ANSWER.value))
    )
    nothing = {name: pl.lit(None, dtype=SCHEMA[name]) for name in SCHEMA}
    told = {"protocol_compliant": pl.lit(False), "deviation": deviation}  # noqa: FBT003 - a literal of a column
    return rows.select("row", **{**nothing, **told})


def _is(text: pl.Expr, form: str) -> pl.Expr:
    return text.str.contains(rf"\A(?:{form})\z")
