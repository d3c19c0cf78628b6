"""Differences between targets, as labels by people correct them (rulings S3 and S10), and the order of targets."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isclose, isfinite
from typing import NamedTuple

from affidavit.contracts.rubric import Verdict
from affidavit.plain_text import counted_noun
from affidavit.results.judge_scores import Group
from affidavit.results.labelled_judging import JUDGES, LabelledJudging, Measure, MeasuredGroup
from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points, Value
from affidavit.statistics.corrected_means import Correction, corrected_difference, corrected_verdicts
from affidavit.statistics.estimate import EQUAL, Form, without_interval
from affidavit.statistics.multiplicity import Verdict as SaidOfDifference


class _Pair(NamedTuple):
    """Two targets under one judge, by one measure."""

    names: Group
    measure: Measure
    first: MeasuredGroup
    second: MeasuredGroup

    @property
    def targets(self) -> tuple[str, str]:
        """From which, to which."""
        return self.first.names[-1], self.second.names[-1]

    @property
    def naive(self) -> float:
        """The judge's own difference; none if the two are level up to rounding."""
        one, other = _own(self.first), _own(self.second)
        return 0.0 if isclose(one, other, rel_tol=EQUAL, abs_tol=EQUAL) else other - one


def _own(side: MeasuredGroup) -> float:
    return 0.0 if side.naive is None else side.naive.value


def _correction(side: MeasuredGroup) -> Correction:
    if side.found.correction is None:
        raise AssertionError(side.name)
    return side.found.correction


def _pairs(judging: LabelledJudging) -> Iterator[_Pair]:
    """Every two targets that have a corrected figure."""
    every = list(judging.groups((*judging.task, "target"), pooled=False))
    for measure in judging.measures:
        if measure.is_share and measure.name != Verdict.PASS:
            continue
        sides: dict[Group, list[MeasuredGroup]] = defaultdict(list)
        for each in every:
            if each.measure is measure and each.found.correction is not None and each.naive is not None:
                sides[each.names[:-1]].append(each)
        for names, own in sides.items():
            yield from (_Pair(names, measure, *both) for both in combinations(own, 2))


def difference_tables(judging: LabelledJudging) -> Iterator[Table]:
    """Every two targets, paired by question; all rows are one family (ruling S3)."""
    pairs = list(_pairs(judging))
    verdicts = corrected_verdicts(
        [corrected_difference(_correction(each.first), _correction(each.second)) for each in pairs]
    )
    rows = tuple(
        (
            *pair.names,
            pair.measure.name,
            pair.first.names[-1],
            pair.second.names[-1],
            *_difference_cells(pair, said),
        )
        for pair, said in zip(pairs, verdicts, strict=True)
    )
    notes = (
        *_rankings(pairs, verdicts),
        "The second target minus the first. Outputs to one question are paired; t tests, Holm over the table, "
        "each interval at the level of its verdict. What stands uncorrected has no interval here.",
    )
    columns = (
        *JUDGES, *judging.task, "measure", "from", "to", "labels", "uncorrected difference", "difference", "level",
        "p", "p, Holm", "in words",
    )  # fmt: skip
    question = "Do targets differ once the judges are corrected by people?"
    if rows:
        yield Table("corrected differences", question, columns, rows, judging.figures.primary.identities, notes)


def _difference_cells(pair: _Pair, said: SaidOfDifference) -> tuple[Value, ...]:
    shown = Points if pair.measure.is_share else Mean
    sizes = (0 if side.naive is None else side.naive.n for side in (pair.first, pair.second))
    words = (
        said.in_words(Form.POINTS if pair.measure.is_share else Form.MEAN)
        if isfinite(said.estimate.low)
        else said.estimate.method
    )
    return (
        said.estimate.n,
        shown(without_interval(pair.naive, sum(sizes), "no interval")),
        shown(said.estimate),
        Chance(said.level),
        Chance(said.significance.p_value),
        Chance(said.adjusted),
        words,
    )


# --- the order of targets ---


def _rankings(pairs: Sequence[_Pair], verdicts: Sequence[SaidOfDifference]) -> Iterator[str]:
    """For each judge and measure, whether its order of targets is that of the corrected figures."""
    together: dict[tuple[Group, str], list[tuple[_Pair, SaidOfDifference]]] = defaultdict(list)
    for pair, said in zip(pairs, verdicts, strict=True):
        together[pair.names, pair.measure.name].append((pair, said))
    for (names, name), own in together.items():
        sides = {side.names: side for pair, _ in own for side in (pair.first, pair.second)}
        before = _order([(side.names[-1], _own(side)) for side in sides.values()])
        after = _order([(side.names[-1], _correction(side).estimate.value) for side in sides.values()])
        where = ", ".join(each for each in (names[0], *names[len(JUDGES) :]) if each)
        kept = "and so it is when corrected" if before == after else f"corrected it is {after}"
        yield f"{name} by {where}: the judge has {before}; {kept}. {_told(own)}"


def _told(own: Sequence[tuple[_Pair, SaidOfDifference]]) -> str:
    """How many of the pairs that the judge puts in an order are told apart by the corrected figures, and how."""
    ordered = [(pair, said.direction) for pair, said in own if pair.naive]
    if not ordered:
        return "The judge orders no pair of targets."
    agree = [(pair.naive > 0) == (direction == "higher") for pair, direction in ordered if direction is not None]
    pairs = counted_noun(len(ordered), "pair")
    if not agree:
        return f"The judge orders {pairs}; the corrected figures tell none of them apart."
    return (
        f"The judge orders {pairs}; the corrected figures tell {len(agree):,} of them apart, {sum(agree):,} the "
        f"same way round and {len(agree) - sum(agree):,} the other way round."
    )


def _order(figures: Sequence[tuple[str, float]]) -> str:
    """Targets from the highest to the lowest figure, those with equal ones together.

    >>> _order([("a", 0.5), ("c", 0.7), ("b", 0.5)]), _order([("a", 0.5), ("b", 0.5)])
    ('c before a and b level', 'a and b level')
    """
    places: list[tuple[float, list[str]]] = []
    for name, value in sorted(figures, key=lambda each: (-each[1], each[0])):
        if places and isclose(places[-1][0], value, rel_tol=EQUAL, abs_tol=EQUAL):
            places[-1][1].append(name)
        else:
            places.append((value, [name]))
    return " before ".join(
        names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} level" for _, names in places
    )
