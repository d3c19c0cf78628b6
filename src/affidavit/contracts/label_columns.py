"""labels/1 over a whole column of texts: equal to `read` row by row, for every text that a column can hold.

Blocks are found in the columns. What blocks hold is read once for each content that there is: a few labels make few.

>>> read_labels(pl.Series(["So:\\n<answer>b, a</answer>", "a", None]), KnownLabels(("a", "b"))).rows()
[(True, 'a, b', ['a', 'b'], 12, 16, None), (False, None, None, None, None, 'no_block'), (None, None, None, None, None, None)]
"""  # noqa: E501

import polars as pl

from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.label_set import KnownLabels, LabelDeviation
from affidavit.contracts.whitespace import WHITESPACE

SCHEMA = pl.Schema(
    {
        "protocol_compliant": pl.Boolean(),
        "extracted_answer": pl.String(),
        "extracted_labels": pl.List(pl.String()),
        "answer_start": pl.Int64(),
        "answer_end": pl.Int64(),
        "deviation": pl.String(),
    }
)


def read_labels(raw: pl.Series, known: KnownLabels) -> pl.DataFrame:
    """What `read` says of each text of a column; null of a text that is missing."""
    blocks = _last_blocks(raw)
    contents = blocks["content"].drop_nulls().unique()
    found = _found(contents, known)
    read = blocks.join(found, on="content", how="left", maintain_order="left")
    compliant, arrived = pl.col("extracted_answer").is_not_null(), pl.col("raw").is_not_null()
    start = pl.when(compliant).then(pl.col("start").cast(pl.Int64))
    return read.select(
        protocol_compliant=pl.when(arrived).then(compliant),
        extracted_answer="extracted_answer",
        extracted_labels="extracted_labels",
        answer_start=start,
        answer_end=start + pl.col("content").str.len_chars(),
        deviation=pl.coalesce("without_block", "deviation"),
    ).cast(SCHEMA)


def _last_blocks(raw: pl.Series) -> pl.DataFrame:
    """The trimmed content of each text's last block, and where it begins; or why nothing can be read in it."""
    text, tail, inside, after = (pl.col(name) for name in ("text", "tail", "inside", "after"))
    held = inside.str.strip_chars_start(WHITESPACE)
    ends_well = after.str.strip_chars(WHITESPACE) == ""
    found = raw.alias("raw").to_frame().with_columns(text=_behind(pl.col("raw"), THINK_END))
    found = found.with_columns(tail=pl.when(_has(text, OPENING)).then(_behind(text, OPENING)))
    closed = tail.str.splitn(CLOSING, 2)
    found = found.with_columns(inside=closed.struct[0], after=closed.struct[1])
    start = pl.col("raw").str.len_chars() - tail.str.len_chars() + inside.str.len_chars() - held.str.len_chars()
    without_block = pl.when(after.is_null()).then(_without_last_block()).when(~ends_well).then(_TEXT_AFTER)
    return found.select(
        "raw",
        content=pl.when(ends_well).then(held.str.strip_chars_end(WHITESPACE)),
        start=start,
        without_block=without_block,
    )


def _has(texts: pl.Expr, piece: str) -> pl.Expr:
    return texts.str.contains(piece, literal=True)


def _behind(texts: pl.Expr, tag: str) -> pl.Expr:
    """What follows the last such tag; the whole text if there is none."""
    return pl.when(_has(texts, tag)).then(texts.str.split(tag).list.last()).otherwise(texts)


def _any_case(tag: str) -> str:
    """A tag in any ASCII case; spelled out, because Rust's own folding knows more than ASCII."""
    return "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in tag)


_IN_ANY_CASE = f"(?s){_any_case(OPENING)}.*{_any_case(CLOSING)}"
_IN_EXACT_CASE = f"(?s){OPENING}.*{CLOSING}"
_TEXT_AFTER = pl.lit(LabelDeviation.TEXT_AFTER.value)


def _without_last_block() -> pl.Expr:
    """The diagnosis of a text whose last opening tag, if it has any, is not closed (ruling L4)."""
    raw, text = pl.col("raw"), pl.col("text")
    return (
        pl.when(raw.is_null())
        .then(None)
        .when(raw.str.strip_chars(WHITESPACE) == "")
        .then(pl.lit(LabelDeviation.EMPTY.value))
        .when(text.str.strip_chars(WHITESPACE) == "")
        .then(pl.lit(LabelDeviation.ONLY_REASONING.value))
        .when(text.str.contains(_IN_ANY_CASE) & ~text.str.contains(_IN_EXACT_CASE))
        .then(pl.lit(LabelDeviation.TAG_IN_WRONG_CASE.value))
        .when(_has(text, OPENING))
        .then(pl.lit(LabelDeviation.UNCLOSED_TAG.value))
        .when(_has(text, CLOSING))
        .then(pl.lit(LabelDeviation.UNOPENED_TAG.value))
        .otherwise(pl.lit(LabelDeviation.NO_BLOCK.value))
    )


def _found(contents: pl.Series, known: KnownLabels) -> pl.DataFrame:
    """What each content says."""
    rows: list[tuple[str, str | None, list[str] | None, str | None]] = []
    for content in contents:
        said = known.said(content)
        if isinstance(said, LabelDeviation):
            rows.append((content, None, None, said.value))
        else:
            rows.append((content, known.written(said), list(said), None))
    names = ("extracted_answer", "extracted_labels", "deviation")
    schema = {"content": pl.String(), **{name: SCHEMA[name] for name in names}}
    return pl.DataFrame(rows, schema=schema, orient="row")
