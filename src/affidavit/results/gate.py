"""Thresholds on a study's figures: whether each holds, and the record of it for a CI.

A threshold is held by the value itself or, if asked, by the end of its interval on the wrong side: then a study
that is too small to be sure does not pass. Against a baseline it is always the end of the interval: of the paired
difference, this study less the baseline (ruling S2), which may be at most a margin below zero.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from math import ceil, isfinite
from xml.etree import ElementTree

import polars as pl

from affidavit.errors import UsageError
from affidavit.json_values import Fields
from affidavit.plain_text import counted_noun, plain
from affidavit.results.caveats import trial_note
from affidavit.results.comparison import Comparison, Side, pair_sides, read_otherwise
from affidavit.results.counting import groups
from affidavit.results.groups import Group
from affidavit.results.judging import JudgeFigures, JudgingFigures
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.text_forms import escaped, json_value
from affidavit.results.values import Points, Value
from affidavit.results.words import in_cell, label_of
from affidavit.statistics.estimate import Estimate, signed
from affidavit.statistics.shares import ClusterSums, share, wilson

MEASURES = {
    "min_compliance": "compliance",
    "min_accuracy": "accuracy over compliant",
    "min_yield": "yield",
    "max_invalid": "invalid evaluations",
    "max_fabricated": "fabricated quotes",
    "max_failed": "failed",
}
"""What can be gated, by the name of its option."""
JUDGED = ("invalid evaluations", "fabricated quotes")
AGAINST_BASELINE = ("compliance", "yield")
"""What may not be lower than in a baseline."""
MARGIN = 0.02


@dataclass(frozen=True)
class Baseline:
    """What a study is compared with, and by how much it may be lower."""

    side: Side
    margin: float = MARGIN


@dataclass(frozen=True)
class ThresholdCheck:
    """One threshold on one group."""

    who: str
    measure: str
    threshold: float
    at_least: bool
    found: Estimate | None
    on_interval: bool
    baseline: str = ""
    """The name of what it is compared with: then the figure is a difference."""

    @property
    def decided(self) -> float | None:
        """The number that is held against the threshold: the value, or an end of its interval; None without it."""
        if self.found is None:
            return None
        end = self.found.low if self.at_least else self.found.high
        decided = end if self.on_interval else self.found.value
        return decided if isfinite(decided) else None

    @property
    def held(self) -> bool:
        """Whether it is met; a figure that is not there meets nothing."""
        if self.decided is None:
            return False
        return self.decided >= self.threshold if self.at_least else self.decided <= self.threshold

    @property
    def in_table(self) -> Value:
        """The figure as a table shows it: a difference in points."""
        return Points(self.found) if self.baseline and self.found is not None else self.found

    @property
    def decided_by(self) -> str:
        """What decides, in words, with as many digits as tell it from the threshold."""
        if self.decided is None:
            return "no interval" if self.found is not None else "no figure"
        which = "value" if not self.on_interval else "lower end" if self.at_least else "upper end"
        return f"{which} {self._worded(self.decided)}"

    @property
    def required(self) -> str:
        """The threshold in words."""
        return f"{'≥' if self.at_least else '≤'} {self._worded(self.threshold)}"

    @property
    def _digits(self) -> int:
        decided = self.threshold if self.decided is None else self.decided
        return _digits_apart(self.threshold, decided, fewest=max(1, _digits_given(self.threshold)))

    def _worded(self, number: float) -> str:
        digits = self._digits
        if self.baseline:
            return f"{signed(number * 100, digits)} points"
        return f"{number * 100:.{digits}f}%"

    def __str__(self) -> str:
        bound = "at least" if self.at_least else "at most"
        required = self._worded(self.threshold) + (f" against {self.baseline}" if self.baseline else "")
        figure = f"{self.who}, {label_of(self.measure)}: {in_cell(self.in_table)}"
        # The figure has digits of its own, which may round it up to the threshold.
        end = f"; {self.decided_by} decides" if self.on_interval or self._digits > 1 else ""
        return f"{figure}, required {bound} {required}{end}"


def _digits_apart(first: float, second: float, *, fewest: int) -> int:
    """So many digits after the point that two shares in per cent do not look alike unless they are."""
    several = range(fewest, 11)
    apart = (digits for digits in several if f"{first * 100:.{digits}f}" != f"{second * 100:.{digits}f}")
    return fewest if first == second else next(apart, several[-1])


def _digits_given(threshold: float) -> int:
    """Digits after the point that a share has in per cent as it was given, at most ten.

    >>> _digits_given(0.8995), _digits_given(0.9), _digits_given(-0.0205), _digits_given(1 / 3)
    (2, 0, 2, 10)
    """
    exponent = (Decimal(repr(threshold)) * 100).normalize().as_tuple().exponent
    return min(max(-int(exponent), 0), 10)


@dataclass(frozen=True)
class GateResult:
    """Every check of a gate; true if all of them are met."""

    name: str
    """Of the study."""
    checks: tuple[ThresholdCheck, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What must be known before any figure."""

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
        state = "met" if self.held else f"{len(self.failed)} of {counted_noun(len(self), 'check')} not met"
        return f"<GateResult of {self.name!r}: {state}>"

    def __str__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    @property
    def table(self) -> Table:
        """A row for each check."""
        rows = tuple(
            (
                "yes" if check.held else "no",
                check.who,
                check.measure,
                check.in_table,
                check.decided_by,
                check.required,
            )
            for check in self.checks
        )
        checks = counted_noun(len(self), "check")
        foot = f"{checks} = {len(self) - len(self.failed)} met + {len(self.failed)} not met"
        columns = ("met", "group", "measure", "found", "decided by", "required")
        notes = (*self.warnings, *self.notes)
        return Table("gate", f"Does {self.name} meet its thresholds?", columns, rows, foot, notes)

    @property
    def heading(self) -> str:
        """Whether the thresholds are met, in a line."""
        lost = len(self.failed)
        found = f"does not meet {lost} of {len(self)} thresholds" if lost else "meets its thresholds"
        return f"{self.name} {found}"

    def to_markdown(self) -> str:
        """What `affidavit gate --format md` prints."""
        return _summary(self)

    def as_json(self) -> Fields:
        """The checks as JSON values."""
        checks = [_check_as_json(check) for check in self.checks]
        return {"held": self.held, "checks": checks, "notes": [*self.warnings, *self.notes]}


def _check_as_json(check: ThresholdCheck) -> Fields:
    return {**asdict(check), "found": json_value(check.found), "decided": check.decided, "held": check.held}


def gate(
    results: StudyResults,
    thresholds: Mapping[str, float | None],
    *,
    on_interval: bool,
    chosen: Mapping[str, str] | None = None,
    baseline: Baseline | None = None,
) -> GateResult:
    """A study, or what was chosen of it, held against the thresholds that are given and against a baseline.

    The names of thresholds are those of `MEASURES`. A part of a study is its outputs: a judging is gated as a
    whole.
    """
    given = _checked({name: bound for name, bound in thresholds.items() if bound is not None}, baseline)
    chosen = chosen or {}
    judged = [name for name in given if MEASURES[name] in JUDGED]
    if chosen and judged:
        option = f"--{judged[0].replace('_', '-')}"
        raise UsageError(option, expected="a whole study", found="a part of one", hint="Judgings have no parts.")
    side = results.side(f"{results.name}{_part_in_words(chosen)}", chosen)
    named = [pl.col(column) == value for column, value in chosen.items()]
    records = results.records
    if named:
        records = records.part(*named)
    if records.planned.is_empty():
        hint = "Each of these names is one of the study's; together they name nothing that is asked."
        raise UsageError(side.name, expected="a part that is asked", found="none", hint=hint)
    judging = None if chosen else results.judging_figures()
    found = list(checks(groups(records), judging, given, on_interval=on_interval))
    notes = [*trial_note(results.trial), *results.cluster_notes(chosen), *_too_few(found)]
    if baseline is not None:
        # Only what was chosen on both sides may differ between them; a cell that the baseline lacks is not met.
        free = {name for name in ("model", "condition") if name in chosen and name in baseline.side.chosen}
        shared = ["task", *(name for name in ("model", "condition") if name not in free)]
        paired = pair_sides(baseline.side, side, shared=shared, cluster=records.cluster_name)
        against = list(no_worse(paired, baseline, records.planned))
        found += against
        notes += _baseline_notes(paired, baseline, against)
    warnings = () if baseline is None else tuple(read_otherwise(baseline.side, side))
    return GateResult(side.name, tuple(found), tuple(dict.fromkeys(notes)), warnings)


def _baseline_notes(paired: Comparison, baseline: Baseline, against: Sequence[ThresholdCheck]) -> Iterator[str]:
    """What is to be said of a comparison with a baseline: what was left out of it, and what it could not show."""
    yield f"differences are to {baseline.side.name}, paired by item"
    if paired.without_partner:
        yield paired.without_partner
    yield from paired.notes
    for row in paired.rows:
        if row.left_out and row.measure in AGAINST_BASELINE:
            yield (
                f"{', '.join(row.names)}, {label_of(row.measure)}: {counted_noun(row.left_out, 'item')} left out, "
                "of which one side has no output that was read, or no right answer"
            )
    margin = baseline.margin
    few = [check.found.n for check in against if not check.held and check.found and check.found.value >= -margin]
    # The interval around no change at all reaches z²/(n + z²) down (Tango).
    if few and margin > 0 and _Z2 / (max(few) + _Z2) > margin:
        needed, wide = ceil(_Z2 * (1 - margin) / margin), _Z2 / (max(few) + _Z2)
        yield (
            f"{max(few):,} items are too few for a margin of {margin * 100:g} points, even if nothing changed: "
            f"that takes {needed:,} items, or --margin {ceil(wide * 100) / 100:.2f}, and more where something did"
        )


def _too_few(found: Sequence[ThresholdCheck]) -> Iterator[str]:
    """Thresholds that so few items could not meet, whatever their outputs are."""
    for check in found:
        figure = check.found
        if check.held or not check.on_interval or figure is None:
            continue
        size = figure.clusters or figure.n
        room = 1 - check.threshold if check.at_least else check.threshold
        if room > 0 and not _could_meet(check, size, figure.n):
            yield (
                f"{check.who}, {label_of(check.measure)}: {counted_noun(size, 'item')} "
                f"{'is' if size == 1 else 'are'} too few to meet {check.required} by the end of an interval, "
                f"whatever the outputs are: that takes {_items_needed(check, size, figure.n)}"
            )


def _could_meet(check: ThresholdCheck, items: int, outputs: int) -> bool:
    """Whether so many items meet a threshold at best, their outputs shared out evenly among them."""
    each, more = divmod(outputs, items)
    sizes = ((each, items - more), (each + 1, more))
    best = share(ClusterSums.counted((size * check.at_least, size, times) for size, times in sizes))
    return replace(check, found=best).held


_MOST_NEEDED = 10**9
"""Items; of more, nobody needs to know how many."""


def _items_needed(check: ThresholdCheck, items: int, outputs: int) -> str:
    """The fewest items that could meet a threshold, each with as many outputs as those at hand have on average."""

    def meets(many: int) -> bool:
        return _could_meet(check, many, round(many * outputs / items))

    few, enough = items, 2 * items
    while not meets(enough):
        few, enough = enough, 2 * enough
        if few > _MOST_NEEDED:
            return f"more than {_MOST_NEEDED:,}"
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if meets(middle) else (middle, enough)
    return f"{enough:,}"


_Z2 = 1.959964**2


def _checked(given: Mapping[str, float], baseline: Baseline | None) -> Mapping[str, float]:
    margin = {} if baseline is None else {"margin": baseline.margin}
    for name, bound in {**given, **margin}.items():
        if not 0 <= bound <= 1:
            where, hint = f"--{name.replace('_', '-')}", f"Write {bound / 100:g}." if 1 < bound <= 100 else ""
            raise UsageError(where, expected="a share from 0 to 1", found=str(bound), hint=hint)
    if not given and baseline is None:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in MEASURES)
        hint = f"There are {names}, and --baseline."
        raise UsageError("gate", expected="at least one threshold", found="none", hint=hint)
    return given


def _part_in_words(chosen: Mapping[str, str]) -> str:
    return f"@{','.join(f'{name}={value}' for name, value in chosen.items())}" if chosen else ""


# --- against a baseline ---


def no_worse(paired: Comparison, baseline: Baseline, planned: pl.DataFrame) -> Iterator[ThresholdCheck]:
    """For every cell, whether compliance and accuracy over all outputs are at most a margin below the baseline's.

    The lower end of the paired difference decides, at 95 %. A cell that the baseline lacks is not known to be no
    worse, nor is one of so few items that there is no interval.
    """
    found = {
        (row.names, row.measure): None if row.difference is None else row.difference.estimate()
        for row in paired.rows
    }
    there, shared = {row.names for row in paired.rows}, list(paired.shared)
    cells = planned.select(shared).unique().sort(shared).rows()
    for names in (tuple(map(str, cell)) for cell in cells):
        for measure in AGAINST_BASELINE if names in there else AGAINST_BASELINE[:1]:
            if names in there and (names, measure) not in found:
                continue  # no right answer is known on either side: there is nothing to be worse in
            yield ThresholdCheck(
                ", ".join(names),
                measure,
                -baseline.margin,
                at_least=True,
                found=found.get((names, measure)),
                on_interval=True,
                baseline=baseline.side.name,
            )


# --- thresholds ---


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
        for name in ("pending", "unread"):
            if group.total(name) and (found := group.share_of_planned(name)) is not None:
                yield _none_allowed(group.names, name, found)
    # Figures are of others' outputs alone (ruling J8); a judging of own ones that is not finished is not finished.
    for judge in () if judging is None else (*judging.judges, *judging.own.judges):
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
    if measure in JUDGED:
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
            yield ", ".join(judge.names), judge.failed


def _judged(measure: str, judge: JudgeFigures) -> Estimate | None:
    if measure == "fabricated quotes":
        return judge.fabricated
    return judge.invalid


def _of_group(measure: str, group: Group) -> Estimate | None:
    match measure:
        case "compliance":
            return group.share("compliant", "compliant", "non_compliant")
        case "accuracy over compliant":
            return group.share("right", "compared")
        case "yield":
            return group.share("right", "keyed")
        case _:
            return group.share_of_planned("failed")


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


def _summary(result: GateResult) -> str:
    """The checks as a short page of Markdown."""
    head, rule = "| | figure | found | decided by | required |", "|---|---|--:|--:|--:|"
    lines = [f"## {escaped(result.heading)}", ""]
    lines += [f"**{escaped(warning)}**\n" for warning in result.warnings]
    lines += [head, rule]
    for check in result.checks:
        figure = f"{check.who}: {label_of(check.measure)}"
        cells = (figure, in_cell(check.in_table), check.decided_by, check.required)
        lines.append(f"| {'✓' if check.held else '✗'} | {' | '.join(map(escaped, cells))} |")
    lines += [f"\n{escaped(note)}" for note in result.notes]
    return "\n".join(lines) + "\n"
