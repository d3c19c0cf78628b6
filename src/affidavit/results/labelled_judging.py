"""Judges' figures with the labels that correct them: what is measured, of whom, over what (ruling S10)."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from affidavit.contracts.rubric import Verdict
from affidavit.judging.label_questions import SCORE, VERDICT, LabelValue
from affidavit.results.corrected_figures import Corrected, Measured, corrected
from affidavit.results.judge_scores import Group, grouped
from affidavit.results.judging import POOLED, Evaluation, JudgingFigures, output_share
from affidavit.results.label_set import LabelSet
from affidavit.results.output_places import OutputPlaces
from affidavit.results.values import Mean, Value
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import mean_by_cluster

JUDGES = ("judge", "judging condition", "method")
"""The columns that say whose figure it is."""


@dataclass(frozen=True)
class Measure:
    """One figure of judges: of a verdict, or of a score."""

    about: str
    name: str
    scale: tuple[float, float]
    of: Callable[[Evaluation], float]
    number: Callable[[str, LabelValue], float]

    @property
    def is_share(self) -> bool:
        """Whether it is shown in per cent."""
        return self.about == VERDICT

    def shown(self, estimate: Estimate | None) -> Value:
        """As it stands in a table."""
        return estimate if self.is_share else Mean.of(estimate)

    def naive(
        self, evaluations: Sequence[Evaluation], cluster: Callable[[Evaluation], Hashable]
    ) -> Estimate | None:
        """The judges' own figure, as other tables have it; None of no evaluations."""
        if self.is_share or not evaluations:
            return output_share(evaluations, lambda each: self.of(each) == 1)
        return mean_by_cluster([(cluster(each), self.of(each)) for each in evaluations])


def _measures(figures: JudgingFigures, labels: LabelSet) -> Iterator[Measure]:
    rubric, asked = figures.rubric, labels.questions
    if VERDICT in asked:
        for verdict in Verdict:
            yield Measure(VERDICT, verdict.value, (0.0, 1.0), _gives(verdict), _is_verdict(verdict))
    for name in (each for each in rubric.ids if f"{SCORE}{each}" in asked):
        ends = float(rubric.scores[0]), float(rubric.scores[-1])
        yield Measure(f"{SCORE}{name}", name, ends, _score(name), lambda _key, value: float(value))


def _gives(verdict: Verdict) -> Callable[[Evaluation], float]:
    return lambda each: float(each.verdict == verdict)


def _is_verdict(verdict: Verdict) -> Callable[[str, LabelValue], float]:
    return lambda _key, value: float(value == verdict.value)


def _score(name: str) -> Callable[[Evaluation], float]:
    return lambda each: float((each.scores or {})[name])


# --- groups ---


class MeasuredGroup(NamedTuple):
    """One figure of a group of evaluations, such as those of a target by a judge."""

    names: Group
    measure: Measure
    naive: Estimate | None
    found: Corrected

    @property
    def name(self) -> str:
        """The figure in words."""
        return ", ".join((self.measure.name, *self.names))


@dataclass(frozen=True)
class LabelledJudging:
    """Judges' figures with the labels that correct them."""

    figures: JudgingFigures
    labels: LabelSet
    places: OutputPlaces

    @cached_property
    def valid(self) -> Sequence[Evaluation]:
        """The evaluations that figures are about."""
        return [each for each in self.figures.primary.evaluations if each.valid]

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """What people were asked of what judges say."""
        return list(_measures(self.figures, self.labels))

    @property
    def task(self) -> tuple[str, ...]:
        """The column of tasks, where there are several."""
        return ("task",) if len(self.figures.tasks) > 1 else ()

    @property
    def several(self) -> bool:
        """Whether more than one judge has judged."""
        return len({each.judge for each in self.valid}) > 1

    def groups(self, by: Sequence[str], *, pooled: bool) -> Iterator[MeasuredGroup]:
        """Every figure, by judge or over all of them."""
        named, outputs = _names(self.figures, pooled=pooled), self.outputs(by)
        members_of = grouped(self.valid, lambda each: (*named(each), *(getattr(each, name) for name in by)))
        for group, members in members_of.items():
            keys = outputs.get(group[len(group) - len(by) :], ())
            for measure in self.measures:
                labels = self.labels.of(measure.about)
                listed = [each for each in members if labels.draw is None or each.output in labels.strata]
                measured = self._measured(members, keys, measure.of)
                found = corrected(measured, labels, measure.number, scale=measure.scale)
                yield MeasuredGroup(group, measure, measure.naive(listed, self.places.cluster), found)

    def outputs(self, by: Sequence[str]) -> Mapping[Group, Sequence[str]]:
        """All outputs of a target, judged or not."""
        return self.places.of_targets(self.figures, by)

    def _measured(
        self, evaluations: Sequence[Evaluation], keys: Sequence[str], of: Callable[[Evaluation], float]
    ) -> list[Measured]:
        """What judges say of each output: the mean over all valid evaluations of it; nothing of the others."""
        values: dict[str, list[float]] = defaultdict(list)
        clusters: dict[str, Hashable] = {key: self.places.of[key].cluster for key in keys}
        for each in evaluations:
            values[each.output].append(of(each))
            clusters[each.output] = self.places.cluster(each)
        return [
            Measured(key, cluster, sum(found) / len(found) if (found := values.get(key)) else None)
            for key, cluster in clusters.items()
        ]


def judge_figures(judging: LabelledJudging) -> Iterator[tuple[str, str, Corrected]]:
    """Question, name and figure of each judge and target, over all variants."""
    found = list(judging.groups(("target",), pooled=False))
    for measure in judging.measures:
        for each in found:
            if each.measure is measure:
                yield measure.about, ", ".join((measure.name, *each.names)), each.found


def _names(figures: JudgingFigures, *, pooled: bool) -> Callable[[Evaluation], Group]:
    if pooled:
        return lambda each: (each.condition,)
    return lambda each: (each.judge, each.condition, POOLED if figures.pooled else each.method)
