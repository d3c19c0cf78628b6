"""Which outputs a page shows: of every outcome the few with the smallest keys, or all of a small study.

A key is a digest of what was asked, or of an output's names if it came from elsewhere, so nobody chose them, and
the same study shows the same ones.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from affidavit.errors import UsageError

PER_KIND, MOST_KINDS, MOST_SAMPLES, MOST_WHOLE = 3, 40, 1_000, 5_000
"""Outputs of each kind; kinds; outputs of each kind that one may ask for; outputs of a study shown whole."""
RIGHT, WRONG, UNKNOWN = "compliant, right", "compliant, wrong", "compliant, right answer not known"
"""The kinds of outputs that follow the format, by whether their answer is the right one."""
LENIENT, TRUNCATED, FAILED = "right by a lenient reading alone", "truncated", "no output: "
"""Outputs that are not compliant and whose answer another reading finds; that were cut at the token limit;
questions without one, by why."""
SHOWN = ("task", "item_id", "model", "condition", "sample", "contract", "key")
_READ = (
    "raw_output", "raw_output_escaped", "options", "right_letter", "unread", "marks", "row", "failure", "letter",
    "answer", "protocol_compliant", "correct",
)  # fmt: skip
_LOOKED_THROUGH = 200
"""Outputs that are not compliant, by their keys, among which lenient readings look for right answers."""


class Chosen(NamedTuple):
    """The rows of the outputs that are shown."""

    rows: pl.DataFrame
    """By kind and key, with `of_kind`, the number of such outputs; null where nobody has counted them."""
    kinds: int
    """How many kinds there are, shown or not."""


_Row = Mapping[str, Any]


def chosen_outputs(
    outputs: pl.LazyFrame, per_kind: int = PER_KIND, *, lenient: Callable[[_Row], bool] | None = None
) -> Chosen:
    """Outputs of every kind; `lenient` says of a row whether some lenient reading finds its right answer."""
    kinds = _kinds(outputs, per_kind)
    shown = kinds.head(MOST_KINDS)
    place = {(kind, contract): at for at, (kind, contract) in enumerate(shown.select("kind", "contract").rows())}
    keys = (
        shown.with_columns(place=pl.int_range(pl.len())).explode("key").select("key", "kind", "of_kind", "place")
    )
    if lenient is not None and per_kind and (found := _by_readings(outputs, per_kind, lenient)):
        more = {"key": found, "kind": LENIENT, "of_kind": None, "place": len(place)}
        keys = pl.concat([keys, pl.DataFrame(more, schema=keys.schema)])
    wanted = keys["key"].unique().to_list()
    rows = outputs.filter(pl.col("key").is_in(wanted)).select(*SHOWN, *_READ).collect(engine="streaming")
    return Chosen(keys.join(rows, on="key").sort("place", "key"), len(kinds))


def _kinds(outputs: pl.LazyFrame, per_kind: int) -> pl.DataFrame:
    """The kinds with their smallest keys: compliant ones first, then by how many there are."""
    compliant, correct = pl.col("protocol_compliant").eq_missing(other=True), pl.col("correct")
    # Some contracts have kinds of their own for wrong answers.
    kind = pl.coalesce(
        "failing",
        pl.when(compliant & correct.eq_missing(other=True)).then(pl.lit(RIGHT)),
        pl.when(compliant & correct.eq_missing(other=False)).then(pl.lit(WRONG)),
        pl.when(compliant).then(pl.lit(UNKNOWN)),
        pl.when(pl.col("failure").is_not_null()).then(pl.lit(FAILED) + pl.col("failure")),
    )
    cut = pl.when(pl.col("truncated").eq_missing(other=True)).then(pl.lit(TRUNCATED))
    counted = [
        outputs.select("contract", "key", kind=each)
        .filter(pl.col("kind").is_not_null())
        .group_by("kind", "contract")
        .agg(of_kind=pl.len().cast(pl.Int64), key=pl.col("key").bottom_k(per_kind).sort())
        for each in (kind, cut)
    ]
    first = pl.col("kind").replace_strict({RIGHT: 0, WRONG: 1, UNKNOWN: 2}, default=3, return_dtype=pl.Int64)
    return (
        pl.concat(counted)
        .sort(first, "of_kind", "kind", "contract", descending=[False, True, False, False])
        .collect(engine="streaming")
    )


def _by_readings(outputs: pl.LazyFrame, per_kind: int, lenient: Callable[[_Row], bool]) -> list[str]:
    """The keys of outputs that are not compliant and right by a lenient reading, among the first by their keys."""
    broken = outputs.filter(pl.col("protocol_compliant").eq_missing(other=False) & pl.col("options").is_not_null())
    some = (
        broken.select(*SHOWN, *_READ).bottom_k(_LOOKED_THROUGH, by="key").collect(engine="streaming").sort("key")
    )
    return [row["key"] for row in some.iter_rows(named=True) if lenient(row)][:per_kind]


def every_output(
    outputs: pl.LazyFrame, order: Sequence[str] = ("task", "item_id", "condition", "model", "sample")
) -> pl.DataFrame:
    """All outputs of a small study, item by item; one with too many for a page is refused."""
    count = int(outputs.select(pl.len()).collect(engine="streaming").item())
    if count > MOST_WHOLE:
        raise UsageError(
            "--all",
            expected=f"a study of at most {MOST_WHOLE:,} outputs",
            found=f"{count:,}",
            hint="--samples 20 shows twenty of every outcome; records/*.jsonl holds every output.",
        )
    rows = outputs.select(*SHOWN, *_READ).collect(engine="streaming").sort(list(order))
    return rows.with_columns(kind=pl.lit(""), of_kind=pl.lit(1, dtype=pl.Int64), place=pl.lit(0))
