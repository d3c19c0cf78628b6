"""What the source of imported outputs scored, beside what the contract says of the same outputs (ruling I5).

The source's word is that of its first scorer, as the rows keep it; a word about all samples of an item together is
about none of them, and is left out. The two figures are paired by item, and all rows of the table are one family.
"""

from collections.abc import Iterator

import polars as pl

from affidavit.results.counting import RecordSet, holds_answer, names_of
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.multiplicity import family
from affidavit.statistics.shares import ClusterSums, share

NAME = "source scores"
_NAMED = 3
"""Scorers that the note names."""


def source_scores(records: RecordSet) -> Table | None:
    """The share that is right by the source and by the contract, by group; None where no row has a verdict."""
    told = records.outputs().filter(pl.col("row").str.contains('"source_correct":(true|false)'))
    by = list(records.by)
    said = pl.col("row").str.json_path_match("$.source_correct")
    about = pl.col("row").str.json_path_match("$.source_word_about")
    own = holds_answer(records.tasks_by_validation) & pl.col("correct").fill_null(value=False)
    known = pl.col("keyed").fill_null(value=False) & pl.col("failure").is_null()
    unit = list(dict.fromkeys((*by, "task", records.cluster)))
    counted = (
        told.with_columns(said=said, about=about, scorer=pl.col("row").str.json_path_match("$.source_scorer"))
        .filter(pl.col("said").is_in(["true", "false"]) & pl.col("about").is_null())
        .with_columns(right_there=pl.col("said") == "true", own=own, known=known)
        .group_by(unit)
        .agg(
            verdicts=pl.len().cast(pl.Int64),
            source_right=pl.col("right_there").sum().cast(pl.Int64),
            both=pl.col("known").sum().cast(pl.Int64),
            both_source=(pl.col("right_there") & pl.col("known")).sum().cast(pl.Int64),
            both_own=(pl.col("own") & pl.col("known")).sum().cast(pl.Int64),
            scorers=pl.col("scorer").unique(),
        )
        .sort(unit)
        .collect(engine="streaming")
    )
    if counted.is_empty():
        return None
    groups = {names_of(names): part for names, part in counted.partition_by(by, as_dict=True).items()}
    rows = tuple(_rows(groups, records.seed))
    scorers = sorted({str(name) for names in counted["scorers"] for name in names if name is not None})
    columns = (*by, "outputs", "right by the source", "yield", "difference", "level", "p, Holm", "in words")
    foot = (
        "Right by the source: of outputs of which it has a verdict. Difference: right by the contract less right "
        "by the source, over those whose right answer is known too, paired by item; Holm over all rows, each "
        "interval at the level of its verdict"
    )
    whose = (
        f"The source's word is that of: {', '.join(scorers[:_NAMED])}{' and others' * (len(scorers) > _NAMED)}."
    )
    notes = (whose,) if scorers else ()
    question = "What did the source score, and what does the contract say?"
    return Table(NAME, question, columns, rows, foot, notes)


def _rows(groups: dict[tuple[str, ...], pl.DataFrame], seed: int) -> Iterator[tuple[Value, ...]]:
    differences = {names: found for names, part in groups.items() if (found := _difference(part)) is not None}
    verdicts = dict(zip(differences, family(list(differences.values()), seed=seed), strict=True))
    for names, part in groups.items():
        verdict = verdicts.get(names)
        outputs = int(part["verdicts"].sum())
        figures = (_share(part, "source_right", "verdicts"), _share(part, "both_own", "both"))
        if verdict is None:
            yield (*names, outputs, *figures, None, None, None, "no right answer is known")
            continue
        chances = Chance(verdict.level), Chance(verdict.adjusted)
        yield (*names, outputs, *figures, Points(verdict.estimate), *chances, verdict.in_words())


def _difference(part: pl.DataFrame) -> PairedDifference | None:
    both = part.filter(pl.col("both") > 0)
    if both.is_empty():
        return None
    source, own, sizes = (both[name].to_numpy() for name in ("both_source", "both_own", "both"))
    return PairedDifference.of_counts(source, sizes, own, sizes)


def _share(part: pl.DataFrame, successes: str, of: str) -> Estimate | None:
    sums = ClusterSums.of(part.select(successes, of).rows())
    return share(sums) if sums.n else None
