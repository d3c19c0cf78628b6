"""Accuracy by any reading, and figures that rows brought along, as labels by people correct them (ruling S10).

A reading errs: an output that means the right answer may break the format, and one that fits may be read wrongly.
Labels of what outputs mean, or of whether they are right, correct the accuracy over all outputs by any reading.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from affidavit.judging.label_questions import ANSWER, CORRECT, NO_ANSWER, LabelValue
from affidavit.results.corrected_figures import Corrected, Measured, corrected
from affidavit.results.corrected_tables import FIGURES, figure_cells, figure_columns, figure_notes
from affidavit.results.counting import RecordSet, name_of
from affidavit.results.label_set import DrawnLabels, LabelSet
from affidavit.results.other_readings import right_by_readings
from affidavit.results.row_values import row_values
from affidavit.results.table import Table
from affidavit.results.values import Mean, Value
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import mean_by_cluster
from affidavit.statistics.shares import ClusterSums, share

OWN = "the contract"
"""The reading by the contract of the task itself."""
_Groups = dict[tuple[str, ...], list[Measured]]


def reading_tables(records: RecordSet, labels: LabelSet, foot: str) -> Iterator[Table]:
    """A table for accuracy, and one for each name of the study's own that rows have numbers for."""
    for about in _of_answers(labels):
        yield from _accuracy(records, labels.of(about), foot)
    for about in _of_numbers(labels):
        yield from _means(records, labels.of(about), foot)


def reading_figures(records: RecordSet, labels: LabelSet) -> Iterator[tuple[str, str, Corrected]]:
    """Question, name and figure of each group by the contract itself, and of numbers that rows brought along."""
    for about in _of_answers(labels):
        for (*group, reading), _, found in _accuracies(records, labels.of(about)):
            if reading == OWN:
                yield about, ", ".join(group), found
    for about in _of_numbers(labels):
        own = labels.of(about)
        for place, measured in sorted(_numbers(records, own).groups.items()):
            yield about, ", ".join(place), _corrected_number(measured, own)


def _of_answers(labels: LabelSet) -> list[str]:
    return [each for each in (CORRECT, ANSWER) if each in labels.questions]


def _of_numbers(labels: LabelSet) -> list[str]:
    return [each for each in labels.questions if labels.of(each).ends is not None]


# --- accuracy ---


@dataclass(frozen=True)
class _Answers:
    """Outputs whose right answer is known, by group, as each reading counts them."""

    groups: Mapping[str, _Groups]
    """By reading."""
    right: Mapping[str, str | None]
    """By output: the right answer, where it can be compared as a text."""


def _accuracy(records: RecordSet, labels: DrawnLabels, foot: str) -> Iterator[Table]:
    found, answers = list(_accuracies(records, labels)), _answers(records)
    rows: list[tuple[Value, ...]] = [
        (*names, *figure_cells(naive, each, lambda shown: shown, shares=True)) for names, naive, each in found
    ]
    question = "How many outputs are right, by what people say that they mean?"
    if labels.about == CORRECT:
        question = "How many outputs are right, by what people say?"
    if rows:
        heads = (*records.by, "reading", *FIGURES)
        keys = [each.key for members in answers.groups[OWN].values() for each in members]
        named = [(", ".join(names[:-1]), each) for names, _, each in found]
        notes = (*figure_notes(labels, named, shares=True, later=labels.later(keys)), _ONE_QUANTITY)
        yield Table(
            f"corrected accuracy by {labels.about}",
            question,
            heads,
            tuple(rows),
            _with_coverage(foot, labels),
            notes,
        )


_ONE_QUANTITY = (
    "All readings of a group are corrected to one and the same quantity, what people would say of all outputs: "
    f"cite that of {OWN}, not the one with the narrowest interval."
)


def _with_coverage(foot: str, labels: DrawnLabels) -> str:
    return "; ".join(each for each in (foot, labels.coverage) if each)


def _accuracies(
    records: RecordSet, labels: DrawnLabels
) -> Iterator[tuple[tuple[str, ...], Estimate | None, Corrected]]:
    """By group and reading: its own accuracy, and what labels make of it; groups stand together."""
    answers = _answers(records)
    for group in sorted({group for groups in answers.groups.values() for group in groups}):
        for reading, groups in answers.groups.items():
            measured = groups.get(group, [])
            if labels.about == ANSWER:  # what is not known as a text cannot be what somebody meant
                measured = [each for each in measured if answers.right[each.key] is not None]
            if measured:
                found = corrected(
                    measured, labels, lambda key, value: _is_right(key, value, answers), scale=(0.0, 1.0)
                )
                yield (*group, reading), _share(_listed(measured, labels)), found


def _listed(measured: Sequence[Measured], labels: DrawnLabels) -> list[Measured]:
    """Those that labels were drawn from; all of them where nothing was drawn."""
    return [each for each in measured if labels.draw is None or each.key in labels.strata]


def _is_right(key: str, value: LabelValue, found: _Answers) -> float:
    if isinstance(value, bool):
        return float(value)
    right = found.right.get(key)
    return float(
        right is not None and value != NO_ANSWER and str(value).strip().casefold() == right.strip().casefold()
    )


def _answers(records: RecordSet) -> _Answers:
    wanted = ("key", *records.by, "task", records.cluster, *_READ)
    outputs = records.outputs().select(*dict.fromkeys(wanted)).collect()
    lenient = right_by_readings(records)
    groups: dict[str, _Groups] = {OWN: defaultdict(list), **{name: defaultdict(list) for name in lenient}}
    right: dict[str, str | None] = {}
    columns = {
        name: outputs[name].to_list()
        for name in ("key", "task", records.cluster, "correct", "keyed", "right_letter")
    }
    arrived = (outputs["protocol_compliant"].is_not_null()).to_list()
    names = list(zip(*(outputs[name].to_list() for name in records.by), strict=True))
    for at, key in enumerate(columns["key"]):
        if not arrived[at] or not (columns["keyed"][at] or columns["right_letter"][at] is not None):
            continue
        group = tuple(map(name_of, names[at]))
        cluster: Hashable = (columns["task"][at], columns[records.cluster][at])
        right[key] = columns["right_letter"][at]
        groups[OWN][group].append(Measured(key, cluster, float(columns["correct"][at] is True)))
        for reading, said in lenient.items():
            if (each := said[at]) is not None:
                groups[reading][group].append(Measured(key, cluster, float(each)))
    return _Answers({name: each for name, each in groups.items() if each}, right)


def _share(measured: list[Measured]) -> Estimate | None:
    clusters: dict[Hashable, list[int]] = defaultdict(lambda: [0, 0])
    for each in measured:
        clusters[each.cluster][0] += each.value == 1
        clusters[each.cluster][1] += 1
    return share(ClusterSums.of((right, n) for right, n in clusters.values())) if clusters else None


# --- numbers that rows brought along ---


@dataclass(frozen=True)
class _Numbers:
    groups: _Groups
    without: int
    """Outputs that have no number on the scale under this name."""


def _numbers(records: RecordSet, labels: DrawnLabels) -> _Numbers:
    """The numbers that rows have under the question's name."""
    low, high = labels.ends or (0.0, 1.0)
    outputs = records.outputs().filter(pl.col("protocol_compliant").is_not_null())
    wanted = dict.fromkeys(("key", *records.by, "task", records.cluster))
    said = outputs.select(*wanted, row_values(labels.about).alias(_VALUE)).collect()
    groups: _Groups = defaultdict(list)
    without = 0
    for row in said.iter_rows(named=True):
        if (number := _number(row[_VALUE])) is None or not low <= number <= high:
            without += 1
        else:
            group = tuple(name_of(row[name]) for name in records.by)
            groups[group].append(Measured(row["key"], (row["task"], row[records.cluster]), number))
    return _Numbers(groups, without)


def _corrected_number(measured: list[Measured], labels: DrawnLabels) -> Corrected:
    return corrected(measured, labels, lambda _key, value: float(value), scale=labels.ends or (0.0, 1.0))


def _means(records: RecordSet, labels: DrawnLabels, foot: str) -> Iterator[Table]:
    """The mean of a number that rows have under the question's name."""
    found = _numbers(records, labels)
    groups = sorted(found.groups.items())
    figures = [(", ".join(group), _corrected_number(measured, labels)) for group, measured in groups]
    rows: list[tuple[Value, ...]] = [
        (*group, labels.about, *figure_cells(_mean(_listed(measured, labels)), each, Mean.of, shares=False))
        for (group, measured), (_, each) in zip(groups, figures, strict=True)
    ]
    keys = [each.key for _, measured in groups for each in measured]
    notes = list(figure_notes(labels, figures, shares=False, later=labels.later(keys)))
    if found.without:
        notes.append(f"{found.without:,} outputs have no such number under this name, and are left out.")
    if rows:
        name, question = f"corrected {labels.about}", f"What is the mean of {labels.about}, by people?"
        heads = (*records.by, "measure", *figure_columns(shares=False))
        yield Table(name, question, heads, tuple(rows), _with_coverage(foot, labels), tuple(notes))


_READ = ("correct", "keyed", "right_letter", "protocol_compliant")
_VALUE = "value of the row"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _mean(measured: list[Measured]) -> Estimate | None:
    values = [(each.cluster, each.value) for each in measured if each.value is not None]
    return mean_by_cluster(values) if values else None
