"""Thresholds on a study's figures: whether each holds, and the record of it for a CI.

A threshold is held by the value itself or, if asked, by the end of its interval on the wrong side: then a study
that is too small to be sure does not pass.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from xml.etree import ElementTree

from affidavit.errors import UsageError
from affidavit.json_values import Fields
from affidavit.plain_text import plain
from affidavit.results.counting import groups
from affidavit.results.groups import Group
from affidavit.results.judging import JudgeFigures, JudgingFigures
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.text_forms import escaped, json_value
from affidavit.results.words import in_cell, label_of
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson

MEASURES = {
    "min_compliance": "compliance",
    "min_accuracy": "accuracy over compliant",
    "min_yield": "yield",
    "max_invalid": "invalid evaluations",
    "max_fabricated": "fabricated quotes",
    "max_failed": "failed",
}
"""What can be gated, by the name of its option."""


@dataclass(frozen=True)
class ThresholdCheck:
    """One threshold on one group."""

    who: str
    measure: str
    threshold: float
    at_least: bool
    found: Estimate | None
    on_interval: bool

    @property
    def held(self) -> bool:
        """Whether it is met; a figure that is not there meets nothing."""
        if self.found is None:
            return False
        if self.at_least:
            return (self.found.low if self.on_interval else self.found.value) >= self.threshold
        return (self.found.high if self.on_interval else self.found.value) <= self.threshold

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        end = " by the end of its interval" if self.on_interval else ""
        figure = f"{self.who}, {label_of(self.measure)}: {in_cell(self.found)}"
        return f"{figure}, required {bound} {self.threshold:.1%}{end}"


@dataclass(frozen=True)
class GateResult:
    """Every check of a gate; true if all of them are met."""

    name: str
    """Of the study."""
    checks: tuple[ThresholdCheck, ...]

    @property
    def held(self) -> bool:
        """Whether every threshold is met."""
        return all(check.held for check in self.checks)

    @property
    def failed(self) -> tuple[ThresholdCheck, ...]:
        """The checks that are not met."""
        return tuple(check for check in self.checks if not check.held)

    def __bool__(self) -> bool:
        return self.held

    def __iter__(self) -> Iterator[ThresholdCheck]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def __repr__(self) -> str:
        state = "met" if self.held else f"{len(self.failed)} of {len(self)} checks not met"
        return f"<GateResult of {self.name!r}: {state}>"

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @property
    def table(self) -> Table:
        """A row for each check."""
        rows = tuple(
            ("yes" if check.held else "no", check.who, check.measure, check.found, _required(check))
            for check in self.checks
        )
        foot = f"{len(self)} checks = {len(self) - len(self.failed)} met + {len(self.failed)} not met"
        columns = ("met", "group", "measure", "found", "required")
        return Table("gate", f"Does {self.name} meet its thresholds?", columns, rows, foot)

    def to_markdown(self) -> str:
        """What `affidavit gate` prints."""
        return summary(self.name, self.checks)

    def as_json(self) -> Fields:
        """The checks as JSON values."""
        return {"held": self.held, "checks": [_check_as_json(check) for check in self.checks]}


def _check_as_json(check: ThresholdCheck) -> Fields:
    return {**asdict(check), "found": json_value(check.found), "held": check.held}


def gate(results: StudyResults, thresholds: Mapping[str, float | None], *, on_interval: bool) -> GateResult:
    """A study held against the thresholds that are given; their names are those of `MEASURES`."""
    given = {name: threshold for name, threshold in thresholds.items() if threshold is not None}
    for name, threshold in given.items():
        if not 0 <= threshold <= 1:
            raise UsageError(f"--{name.replace('_', '-')}", expected="a share from 0 to 1", found=str(threshold))
    if not given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in MEASURES)
        raise UsageError("gate", expected="at least one threshold", found="none", hint=f"There are {names}.")
    judging = results.judging_figures()
    return GateResult(
        results.name, tuple(checks(groups(results.records), judging, given, on_interval=on_interval))
    )


def checks(
    cells: Sequence[Group],
    judging: JudgingFigures | None,
    thresholds: Mapping[str, float],
    *,
    on_interval: bool,
) -> Iterator[ThresholdCheck]:
    """Every threshold on everything that it is about; and that nothing is pending or unread, where something is.

    What is not asked yet, or was not read because its contract raised, could turn any figure: a study that is not
    finished passes no gate.
    """
    for group in cells:
        for name, count in (("pending", group.pending), ("unread", group.total("unread"))):
            if count:
                yield _none_allowed(group.names, name, wilson(count, group.planned))
    for judge in () if judging is None else judging.judges:
        if pending := judge.coverage["pending"]:
            yield _none_allowed(judge.names, "pending", wilson(pending, sum(judge.coverage.values())))
    for option, threshold in thresholds.items():
        measure, at_least = MEASURES[option], option.startswith("min_")
        for who, found in _figures(measure, cells, judging):
            yield ThresholdCheck(who, measure, threshold, at_least, found, on_interval)


def _none_allowed(names: tuple[str, ...], measure: str, found: Estimate) -> ThresholdCheck:
    return ThresholdCheck(", ".join(names), measure, 0.0, at_least=False, found=found, on_interval=False)


def _figures(
    measure: str, cells: Sequence[Group], judging: JudgingFigures | None
) -> Iterator[tuple[str, Estimate | None]]:
    if measure in ("invalid evaluations", "fabricated quotes"):
        if judging is None or not judging.judges:
            yield "judging", None
            return
        for judge in judging.judges:
            yield ", ".join(judge.names), _judged(measure, judge)
        return
    for group in cells:
        yield ", ".join(group.names), _of_group(measure, group)
    if measure == "failed" and judging is not None:
        for judge in judging.judges:
            planned = sum(judge.coverage.values())
            yield ", ".join(judge.names), wilson(judge.coverage["failed"], planned) if planned else None


def _judged(measure: str, judge: JudgeFigures) -> Estimate | None:
    if measure == "fabricated quotes":
        return judge.fabricated
    arrived = judge.coverage["valid"] + judge.coverage["invalid"]
    return wilson(judge.coverage["invalid"], arrived) if arrived else None


def _of_group(measure: str, group: Group) -> Estimate | None:
    match measure:
        case "compliance":
            return group.share("compliant", "compliant", "non_compliant")
        case "accuracy over compliant":
            return group.share("right", "compared")
        case "yield":
            return group.share("right", "keyed")
        case _:
            return wilson(group.total("failed"), group.planned) if group.planned else None


def junit(name: str, found: Sequence[ThresholdCheck]) -> bytes:
    """The checks as JUnit XML: a test case for each."""
    failures = sum(not check.held for check in found)
    suite = ElementTree.Element("testsuite", name=plain(name), tests=str(len(found)), failures=str(failures))
    for check in found:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"{plain(name)}.{check.measure}", name=plain(check.who)
        )
        if not check.held:
            message = plain(str(check))
            ElementTree.SubElement(case, "failure", message=message).text = message
    ElementTree.indent(suite)
    content = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{content}\n'.encode()


def summary(name: str, found: Sequence[ThresholdCheck]) -> str:
    """The checks as a short page of Markdown."""
    lost = [check for check in found if not check.held]
    head = f"does not meet {len(lost)} of {len(found)} thresholds" if lost else "meets its thresholds"
    lines = [f"## {escaped(name)} {head}", "", "| | figure | found | required |", "|---|---|--:|--:|"]
    for check in found:
        mark = "✓" if check.held else "✗"
        figure, found_there = escaped(f"{check.who}: {label_of(check.measure)}"), escaped(in_cell(check.found))
        lines.append(f"| {mark} | {figure} | {found_there} | {_required(check)} |")
    return "\n".join(lines) + "\n"


def _required(check: ThresholdCheck) -> str:
    return f"{'≥' if check.at_least else '≤'} {check.threshold:.1%}"
