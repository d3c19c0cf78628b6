"""Which of several models is right more often: every two of them, paired by item, under one condition of a task.

A best one is named by these tests alone (ruling S9). All pairs of one task are one family (ruling S3): each table
row has its interval at the level that its verdict used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import polars as pl

from affidavit.results.caveats import FEWEST
from affidavit.results.comparison import Side, item_counts
from affidavit.results.counting import ITEM, RecordSet
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.multiplicity import Verdict, family

MOST_RANKED = 12
"""Models of a task that are compared two by two: of more, a hundred pairs would leave no test any power."""
NAME = "models compared"
_READ = ("kind", "judge", "task", "model", "condition", ITEM, "protocol_compliant", "correct", "keyed", "answer")


class _Pair(NamedTuple):
    """Two models under one condition of a task."""

    task: str
    condition: str
    first: str
    second: str
    difference: PairedDifference
    """The second less the first."""
    left_out: int


@dataclass(frozen=True)
class Standing:
    """What the tests of one task came to."""

    condition: str
    models: tuple[str, ...]
    """All that were compared."""
    unbeaten: tuple[str, ...]
    """Those that no other is distinguishably higher than; no two of them are distinguishable from each other."""
    beats: Mapping[str, int]
    """How many others each is distinguishably higher than."""
    pairs: int


def models_compared(
    records: RecordSet, conditions: Mapping[str, str], models: Mapping[str, Sequence[str]]
) -> Table | None:
    """Accuracy over all outputs of every two models, by task; None where no task has two to compare.

    `conditions`: under which one each task's models are compared; `models`: these, in the order of their names.
    """
    wanted = {
        task: several for task, several in models.items() if 1 < len(several) <= MOST_RANKED and task in conditions
    }
    if not wanted:
        return None
    pairs = [pair for task, several in wanted.items() for pair in _pairs(records, task, conditions[task], several)]
    rows: list[tuple[Value, ...]] = []
    for task in wanted:
        own = [pair for pair in pairs if pair.task == task]
        verdicts = family([pair.difference for pair in own], seed=records.seed)
        rows += [_row(pair, verdict) for pair, verdict in zip(own, verdicts, strict=True)]
    columns = (
        "task", "condition", "model", "other model", "items", "left out", "difference", "level", "p", "p, Holm",
        "in words",
    )  # fmt: skip
    foot = (
        "Accuracy over all outputs of the other model less that of the model, paired by item; Holm over all pairs "
        "of a task, each interval at the level of its verdict"
    )
    question = "Which models are distinguishable from each other?"
    return Table(NAME, question, columns, tuple(rows), foot) if rows else None


def _row(pair: _Pair, verdict: Verdict) -> tuple[Value, ...]:
    return (
        *pair[:4],
        pair.difference.items,
        pair.left_out,
        Points(verdict.estimate),
        Chance(verdict.level),
        Chance(verdict.significance.p_value),
        Chance(verdict.adjusted),
        verdict.in_words(),
    )


def _pairs(records: RecordSet, task: str, condition: str, models: Sequence[str]) -> Iterator[_Pair]:
    """Every two models that have enough items in common for a sentence about them."""
    clustered = records.cluster != ITEM
    own = [records.cluster] if clustered else []
    chosen = {"task": task, "condition": condition}
    # One walk over the records of this cell, and of their columns what the counts go by.
    outputs = records.outputs().select(*dict.fromkeys((*_READ, *own)))
    side = Side("", outputs, chosen, records.seed, by_validation=records.tasks_by_validation)
    counts = item_counts(side, ["task", "model", ITEM], records.cluster).collect(engine="streaming")
    known = counts.filter(pl.col("keyed") > 0).partition_by("model", as_dict=True)
    for first, second in combinations([model for model in models if (model,) in known], 2):
        one, other = known[first,], known[second,]
        both = one.join(other, on=["task", ITEM], how="inner", suffix="_2").sort(ITEM)
        clusters = both.select("task", "cluster").rows() if clustered else None
        if (both["cluster"].n_unique() if clustered else len(both)) < FEWEST:
            continue
        four = [both[name].to_numpy() for name in ("right", "keyed", "right_2", "keyed_2")]
        difference = PairedDifference.of_counts(*four, clusters=clusters)
        left_out = one.select(ITEM).vstack(other.select(ITEM)).n_unique() - len(both)
        yield _Pair(task, condition, first, second, difference, left_out)


def standings(table: Table | None) -> dict[str, Standing]:
    """By task, what the tests came to."""
    rows: dict[str, list[dict[str, Value]]] = {}
    for row in () if table is None else table.rows:
        cells = dict(zip(table.columns if table else (), row, strict=True))
        rows.setdefault(str(cells["task"]), []).append(cells)
    return {task: _standing(pairs) for task, pairs in rows.items()}


def _standing(pairs: Sequence[Mapping[str, Value]]) -> Standing:
    models = dict.fromkeys(str(pair[name]) for name in ("model", "other model") for pair in pairs)
    beats = dict.fromkeys(models, 0)
    beaten = set()
    for pair in pairs:
        if pair["in words"] in ("higher", "lower"):
            two = str(pair["other model"]), str(pair["model"])
            winner, loser = two if pair["in words"] == "higher" else two[::-1]
            beats[winner] += 1
            beaten.add(loser)
    unbeaten = tuple(model for model in models if model not in beaten)
    return Standing(str(pairs[0]["condition"]), tuple(models), unbeaten, beats, len(pairs))
