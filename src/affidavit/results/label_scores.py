"""Precision, recall and F1 of every label, in tasks whose answers are sets of labels (rulings L7, L8)."""

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from affidavit.contracts.label_set import KnownLabels
from affidavit.contracts.labels import LabelSet
from affidavit.results.caveats import FEWEST
from affidavit.results.coded_records import GROUP, UNIT
from affidavit.results.counting import RecordSet, identity_of_tasks, names_of, place_of
from affidavit.results.groups import Group
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.results.words import in_cell
from affidavit.statistics.estimate import EQUAL, Estimate
from affidavit.statistics.f1_scores import f1_scores
from affidavit.statistics.shares import ClusterSums, share

MACRO = "macro average, labels that occur"
"""The row over labels; no label has a comma (ruling L1)."""
_COLUMNS = ("label", "outputs", "TP", "FP", "FN", "precision", "recall", "F1")
_NOTE = (
    "Over outputs with an answer whose right answer is known. TP: outputs that give a label where it is right; "
    "FP: where it is not; FN: outputs that do not give it where it is right. Macro: the mean over labels that "
    "occur in an answer or a right answer. The n of an F1 counts outputs that give the label or should; its ends "
    "are the outer ones of two intervals over items or the named clusters, one drawn and one of shares."
)
_PAIR = "number of the pair"
_Counts = npt.NDArray[np.int64]


def label_score_table(
    records: RecordSet, groups: Sequence[Group], tasks: Sequence[str], controls: Mapping[str, str]
) -> Table | None:
    """How often is each label right where it is given, and given where it is right?"""
    labels, kinds = _labels(records, tasks), _kinds(records, tasks)
    rows = [row for kind in kinds for row in _rows(kind, labels, records.seed)]
    question = "How often is a label right where it is given, and given where it is right?"
    foot = identity_of_tasks(records, groups, tasks)
    columns = (*records.by, *_COLUMNS)
    return Table("label scores", question, columns, tuple(rows), foot, (_NOTE,)) if rows else None


def lowest_f1(table: Table, named: int) -> dict[tuple[Value, ...], str]:
    """The label of the lowest F1 of each group, in words, from the table; the first so many columns name groups.

    Labels of equal F1 are all named; over fewer than ten items or clusters none is (ruling S9).
    """
    label, f1 = table.columns.index("label"), table.columns.index("F1")
    found: dict[tuple[Value, ...], dict[str, Estimate]] = {}
    for row in table.rows:
        score = row[f1]
        if isinstance(score, Estimate):
            found.setdefault(row[:named], {})[str(row[label])] = score
    return {names: f"lowest F1: {_lowest(scores)}" for names, scores in found.items()}


def _lowest(scores: dict[str, Estimate]) -> str:
    """The labels with the lowest score, each with its figure; why none is named, where there are too few outputs.

    >>> few, many = (Estimate(0.6, 0.4, 0.8, n=n, method="") for n in (9, 10))
    >>> _lowest({"bug": few, "question": few, MACRO: many})
    'bug 60.0% [40.0, 80.0] n=9, question 60.0% [40.0, 80.0] n=9'
    >>> _lowest({"bug": few, MACRO: few})
    'no label named, over fewer than 10 items'
    """
    whole = scores.pop(MACRO)  # over all outputs with an answer, where a label is over those that it is in
    if (whole.clusters or whole.n) < FEWEST:
        return f"no label named, over fewer than {FEWEST} items"
    least = min(score.value for score in scores.values())
    lowest = [name for name, score in scores.items() if isclose(score.value, least, rel_tol=EQUAL, abs_tol=EQUAL)]
    more = f" and {len(lowest) - _NAMED:,} more" if len(lowest) > _NAMED else ""
    return ", ".join(f"{name} {in_cell(scores[name])}" for name in lowest[:_NAMED]) + more


_NAMED = 5
"""Labels that a line names."""


class _Pair(NamedTuple):
    """A set that was given, and the right one."""

    given: frozenset[str]
    right: frozenset[str]


class _GroupKinds(NamedTuple):
    """The units of one group: which pairs a unit has, by their numbers, and how many units have just these."""

    names: tuple[object, ...]
    tasks: frozenset[str]
    pairs: Sequence[_Pair]
    units: Sequence[tuple[list[int], int]]


def _labels(records: RecordSet, tasks: Sequence[str]) -> dict[str, KnownLabels]:
    """The labels of each task."""
    return {task: parts.vocabulary for task in tasks if isinstance(parts := records.parts[task], LabelSet)}


def _kinds(records: RecordSet, tasks: Sequence[str]) -> Iterator[_GroupKinds]:
    """What was given and what was right, by group; few kinds are left of many units."""
    coded, labels = records.coded, _labels(records, tasks)
    answered = pl.col("holds_answer") & pl.col("letter").is_not_null() & pl.col("right_letter").is_not_null()
    chosen = coded.where(pl.col("task").is_in(list(tasks)) & answered)
    sets = ["task", "letter", "right_letter"]
    distinct = chosen.select(sets).unique().collect().with_row_index(_PAIR)
    pairs = [_pair(labels[task], given, right) for _, task, given, right in distinct.iter_rows()]
    of_task = dict(distinct.select(_PAIR, "task").iter_rows())
    units = (
        chosen.select(GROUP, UNIT, *sets)
        .join(distinct.lazy(), on=sets)
        .group_by(GROUP, UNIT)
        .agg(pl.col(_PAIR).sort())
        .group_by(GROUP, _PAIR)
        .agg(units=pl.len().cast(pl.Int64))
        .collect()
    )
    found: dict[int, list[tuple[list[int], int]]] = {}
    for group, held, many in units.iter_rows():
        found.setdefault(group, []).append((held, many))
    for group in sorted(found, key=lambda each: place_of(coded.names[each])):
        own = frozenset(str(of_task[pair]) for held, _ in found[group] for pair in held)
        yield _GroupKinds(coded.names[group], own, pairs, found[group])


def _pair(known: KnownLabels, given: str, right: str) -> _Pair:
    """Two sets as they are recorded, as sets."""
    return _Pair(*(frozenset(known.right(written) or ()) for written in (given, right)))


def _rows(kinds: _GroupKinds, labels: Mapping[str, KnownLabels], seed: int) -> Iterator[tuple[Value, ...]]:
    """A row for each label of a group's tasks in their order, and one over all of them."""
    names = names_of(kinds.names)
    own = list(dict.fromkeys(label for task in labels if task in kinds.tasks for label in labels[task].labels))
    each = np.array([_counted(pair, own) for pair in kinds.pairs], dtype=np.int64).reshape(-1, len(own), 3)
    counts = np.array([each[held].sum(axis=0) for held, _ in kinds.units])
    times = np.array([many for _, many in kinds.units])
    outputs = sum(len(held) * many for held, many in kinds.units)
    scores = f1_scores(counts, times, outputs=outputs, seed=seed)
    for at, label in enumerate(own):
        tp, fp, fn = (int(total) for total in (counts[:, at] * times[:, None]).sum(axis=0))
        precision, recall = (_share(counts[:, at], times, other) for other in (1, 2))
        yield (*names, label, outputs, tp, fp, fn, precision, recall, scores.labels[at])
    yield (*names, MACRO, outputs, None, None, None, None, None, scores.macro)


def _counted(pair: _Pair, labels: Sequence[str]) -> list[tuple[bool, bool, bool]]:
    """For each label, whether an output is a TP, an FP or an FN for it."""
    given, right = pair
    return [(each in given and each in right, each in given - right, each in right - given) for each in labels]


def _share(counts: _Counts, times: _Counts, other: int) -> Estimate | None:
    """TP of TP and FP, or of TP and FN, over clusters (ruling S1); None of nothing."""
    kinds = zip(counts[:, 0].tolist(), counts[:, other].tolist(), times.tolist(), strict=True)
    sums = ClusterSums.counted((tp, tp + missed, many) for tp, missed, many in kinds)
    return share(sums) if sums.n else None
