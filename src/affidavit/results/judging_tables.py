"""The figures of a judging as tables, and as JSON values (ruling J15).

Tables of evaluations of others' outputs come first. What judges say of their own outputs has tables of its own, by
the same names and `OWN`, never rows in the others (ruling J8); if both are pooled, every question says so.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from affidavit.contracts.evaluation import JudgingMethod
from affidavit.contracts.rubric import Verdict
from affidavit.json_values import Fields
from affidavit.results.groups import CELL
from affidavit.results.judge_scores import (
    Agreement,
    Group,
    QuestionCounts,
    VariantDifference,
    agreements,
    grouped,
    overall_bounds,
    score_means,
    self_preferences,
    variant_differences,
)
from affidavit.results.judging import (
    KINDS,
    POOLED,
    Evaluation,
    Given,
    JudgedSide,
    JudgeFigures,
    JudgingFigures,
    output_share,
)
from affidavit.results.table import Table
from affidavit.results.text_forms import json_value
from affidavit.results.values import Chance, Mean, Value
from affidavit.statistics.estimate import Estimate, Form
from affidavit.statistics.means import FEWEST_CLUSTERS
from affidavit.statistics.multiplicity import Verdict as SaidOfDifference
from affidavit.statistics.multiplicity import family

BLIND = "blind judging: judges were given aliases in place of the targets' names"
WITHOUT_TASK = "judged without the words of the task: judges were told that these are not known"
NAMES = ("judge", "judging condition", "method")
OWN = ", own outputs"
"""Ends the name of a table of what judges say of their own outputs."""
OWN_ALONE = "Judges were given only their own outputs, none of others: see the tables of own outputs."
"""Said where there are no figures of others' outputs because none were to be judged."""

_BY_JUDGE = (
    "judges", "flags", "quotes", "quotes by kind", "verdicts by judge", "scores", "score bounds",
    "score differences", "agreement", "test-retest",
)  # fmt: skip
_OVER_JUDGES = (
    "verdicts", "pooled scores", "scores by target", "scores by variant", "pooled score bounds",
    "pooled score differences", "pooled agreement",
)  # fmt: skip
JUDGING_TABLES = (*_BY_JUDGE, *_OVER_JUDGES, *(name + OWN for name in _BY_JUDGE), "self-preference")
"""The names that tables of a judging have."""

GROUPINGS: dict[str, tuple[str, Callable[[Evaluation], str]]] = {
    "task": ("task", lambda each: each.task),
    "model": ("target", lambda each: each.target),
    "condition": ("variant", lambda each: each.variant),
}
"""By the names that records are grouped by: the column of a judge's table, and where it comes from."""


def judging_tables(figures: JudgingFigures, by: Sequence[str] = CELL) -> list[Table]:
    """A table for each question that a reader has about the judges; those without rows are left out.

    `by` is what records are grouped by: judgements know task, model (the target) and condition (the variant).
    """
    known = [name for name in by if name in GROUPINGS and (name != "task" or task_column(figures))]
    tables = list(_tables_of(figures, figures.primary, known))
    if not figures.pooled:
        tables += [
            replace(table, name=table.name + OWN, question=f"Of judges' own outputs: {table.question}")
            for table in _tables_of(figures, figures.own, known)
            if table.name in _BY_JUDGE
        ]
    tables.append(_self_preference_table(figures))
    over_tasks = tasks_note(figures)
    notes = tuple(_notes(figures, [name for name in by if name not in GROUPINGS]))
    shown = [table for table in tables if table.rows or table.name == "judges"]
    return [
        replace(
            table,
            notes=(*table.notes, *(over_tasks if "task" not in table.columns else ()), *notes),
            question=_said(table, figures),
        )
        for table in shown
    ]


def tasks_note(figures: JudgingFigures) -> tuple[str, ...]:
    """What a table without a column for the task is over; nothing where one task is judged."""
    if not task_column(figures):
        return ()
    counts = (f"{name} ({count:,} question{'s' * (count != 1)})" for name, count in figures.tasks.items())
    return (f"Without a column for the task, a row is over all of them: {', '.join(counts)}.",)


def _said(table: Table, figures: JudgingFigures) -> str:
    """The question, and whether evaluations of others' outputs and of own ones are pooled (ruling J8)."""
    return f"{table.question} ({POOLED}: own outputs are pooled in)" if figures.pooled else table.question


def _notes(figures: JudgingFigures, unknown: Sequence[str]) -> Iterator[str]:
    if figures.blind:
        yield BLIND
    if figures.without_task:
        yield WITHOUT_TASK
    if unknown:
        yield f"Judgements are not grouped by {', '.join(unknown)}."


def _tables_of(figures: JudgingFigures, side: JudgedSide, by: Sequence[str]) -> Iterator[Table]:
    """All tables of one side, in the order of questions."""
    foot = side.identities
    yield _validity_table(side.judges, foot)
    yield _flag_table(side.judges, foot)
    yield _quote_table(side.judges, foot)
    yield _quote_kind_table(side.judges, foot)
    columns = tuple(GROUPINGS[name][0] for name in by)
    valid = [each for each in side.evaluations if each.valid]
    verdicts = verdict_table("verdicts", ("judging condition", *columns), valid, pooled_group(by), foot)
    yield replace(verdicts, notes=panel_notes(figures, side, columns))
    yield verdict_table("verdicts by judge", (*NAMES, *columns), valid, _judge_group(by, figures), foot)
    yield from _score_tables(figures, side, by)
    yield from _bounds_tables(figures, side)
    yield from _difference_tables(figures, side)
    yield from _agreement_tables(figures, side)
    yield _retest_table(figures, side)


def task_column(figures: JudgingFigures) -> tuple[str, ...]:
    """Where several tasks are judged, the column that says of which one a row is."""
    return ("task",) if len(figures.tasks) > 1 else ()


def _names(each: Given, figures: JudgingFigures) -> Group:
    return each.judge, each.condition, POOLED if figures.pooled else each.method


def _judge_group(by: Sequence[str], figures: JudgingFigures) -> Callable[[Evaluation], Group]:
    return lambda each: (*_names(each, figures), *(GROUPINGS[name][1](each) for name in by))


def pooled_group(by: Sequence[str]) -> Callable[[Evaluation], Group]:
    """What evaluations are grouped by over all judges of a condition."""
    return lambda each: (each.condition, *(GROUPINGS[name][1](each) for name in by))


# --- validity, flags, quotes ---


def _validity_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    rows = tuple(
        (
            *judge.names,
            judge.planned,
            *(judge.coverage[name] for name in ("valid", "invalid", "failed", "pending")),
            judge.truncated,
            judge.invalid_truncated,
            judge.valid,
            judge.invalid,
            judge.valid_quotes_aside,
            judge.failed,
        )
        for judge in judges
    )
    counts = ("planned", "valid", "invalid", "failed", "pending", "truncated", "invalid and truncated")
    columns = (*NAMES, *counts, "share valid", "share invalid", "valid, quotes aside", "share of planned failed")
    return Table("judges", "Which evaluations are valid?", columns, rows, foot)


def _flag_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    rows = tuple(
        (*judge.names, flag, round(share.value * share.n), share)
        for judge in judges
        for flag, share in judge.flags.items()
    )
    columns = (*NAMES, "flag", "evaluations", "share of evaluations")
    return Table("flags", "Why are evaluations invalid?", columns, rows, foot)


def _quote_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    kinds = tuple(kind.value for kind in KINDS)
    rows = tuple((*judge.names, *(judge.quotes[kind] for kind in kinds), judge.fabricated) for judge in judges)
    question = "Are the judges' quotes in the judged text?"
    return Table("quotes", question, (*NAMES, *kinds, "fabricated"), rows, foot)


def _quote_kind_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    rows = tuple(
        (*judge.names, kind, judge.quotes[kind], share)
        for judge in judges
        for kind, share in judge.quote_shares.items()
    )
    question = "How were the judges' quotes located?"
    return Table("quotes by kind", question, (*NAMES, "kind", "quotes", "share of quotes"), rows, foot)


# --- verdicts and scores ---


def verdict_table(
    name: str, columns: tuple[str, ...], valid: Sequence[Evaluation], key: Callable[[Evaluation], Group], foot: str
) -> Table:
    """How often each verdict is given, of valid evaluations, by group."""
    rows: list[tuple[Value, ...]] = []
    for group, members in grouped(valid, key).items():
        for verdict in Verdict:
            given = [each for each in members if each.verdict == verdict]
            share = output_share(members, _gives(verdict))
            rows.append((*group, verdict.value, len(given), share))
    question = "Which verdicts do the judges give?" if name != "verdicts" else "Which verdicts do outputs get?"
    return Table(name, question, (*columns, "verdict", "evaluations", "share of valid"), tuple(rows), foot)


def _gives(verdict: Verdict) -> Callable[[Evaluation], bool]:
    return lambda each: each.verdict == verdict


def _score_tables(figures: JudgingFigures, side: JudgedSide, by: Sequence[str]) -> Iterator[Table]:
    """By judge and group, and pooled over judges: by group, by target, by variant."""
    columns = tuple(GROUPINGS[name][0] for name in by)
    question = "Which scores do the judges give?"
    yield score_table(figures, side, ("scores", question), (*NAMES, *columns), _judge_group(by, figures))
    over = "Which scores do outputs get, over all judges?"
    yield score_table(figures, side, ("pooled scores", over), ("judging condition", *columns), pooled_group(by))
    task = task_column(figures)
    for name in ("model", "condition"):
        column = GROUPINGS[name][0]
        asked = f"Which scores does each {column} get, over all judges?"
        keyed = ("judging condition", *task, column)
        yield score_table(figures, side, (f"scores by {column}", asked), keyed, pooled_group([*task, name]))


DIFFERENT_JUDGES = "Targets are scored by different judges"
"""How the note under such rows begins."""


def panel_notes(figures: JudgingFigures, side: JudgedSide, columns: Sequence[str]) -> tuple[str, ...]:
    """Under rows of targets over all judges: who has scored which, where these are not the same for all."""
    if "target" not in columns or "judge" in columns:
        return ()
    valid = [each for each in side.evaluations if each.valid]
    by_condition = grouped(valid, lambda each: (each.condition,))
    panels: dict[str, list[str]] = defaultdict(list)
    for (condition,), members in by_condition.items():
        panels[_panels(members)].append(condition)
    never = "" if figures.pooled else ", never by themselves"
    notes = []
    for said, conditions in panels.items():
        where = f" (judging condition {', '.join(conditions)})" if len(conditions) < len(by_condition) else ""
        if said:
            notes.append(
                f"{DIFFERENT_JUDGES}{never}: {said}{where}. Differences between rows hold "
                "how severe these judges are."
            )
    return tuple(notes)


def _panels(evaluations: Sequence[Evaluation]) -> str:
    """The targets that the same judges have scored, by these; empty if that is all of them."""
    judges: dict[str, set[str]] = defaultdict(set)
    for each in evaluations:
        judges[each.target].add(each.judge)
    targets: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for target, panel in sorted(judges.items()):
        targets[tuple(sorted(panel))].append(target)
    if len(targets) < 2:
        return ""
    return "; ".join(f"{', '.join(scored)} by {', '.join(panel)}" for panel, scored in targets.items())


def score_table(
    figures: JudgingFigures,
    side: JudgedSide,
    titles: tuple[str, str],
    columns: tuple[str, ...],
    key: Callable[[Evaluation], Group],
) -> Table:
    """The means of every score by group; `titles` are the table's name and question."""
    rows = tuple(
        (
            *score.group,
            score.column.name,
            score.column.range,
            Mean.of(score.mean),
            Mean.of(score.mean_quotes_aside),
        )
        for score in score_means(side.evaluations, figures.rubric, key)
    )
    shown = (*columns, "dimension", "range", "mean", "mean, quotes aside")
    return Table(*titles, shown, rows, side.identities, panel_notes(figures, side, columns))


def _bounds_tables(figures: JudgingFigures, side: JudgedSide) -> Iterator[Table]:
    """By judge, then over all judges of a condition; only where something is missing.

    What is over all judges has a table of its own: whatever a judge is called, its rows are not taken for these.
    """
    members: dict[Group, list[Given]] = defaultdict(list)
    for each in side.given:
        members[each.judge, each.condition].append(each)
        members[(each.condition,)].append(each)
    conditions: dict[str, list[JudgeFigures]] = defaultdict(list)
    by_judge: list[tuple[Value, ...]] = []
    for judge in side.judges:
        conditions[judge.judging_condition].append(judge)
        by_judge += _bounds_rows(judge.names, members[judge.names[:2]], [judge], figures)
    question = "Where would the mean overall score lie, whatever the missing evaluations said?"
    yield _bounds_table(side, ("score bounds", question), NAMES, by_judge)
    pooled = [
        row
        for condition, judges in conditions.items()
        if len(judges) > 1
        for row in _bounds_rows((condition,), members[(condition,)], judges, figures)
    ]
    over = "Where would the mean overall score over all judges lie, whatever the missing evaluations said?"
    yield _bounds_table(side, ("pooled score bounds", over), ("judging condition",), pooled)


_COVERS_SAMPLING = (
    "Intervals are t over questions, from ten on: the range from the lower end of the first mean to the upper end "
    "of the second covers both what is missing and sampling."
)


def _bounds_table(
    side: JudgedSide, titles: tuple[str, str], names: tuple[str, ...], rows: Sequence[tuple[Value, ...]]
) -> Table:
    columns = (*names, "planned", "missing", "if missing lowest", "if missing highest")
    return Table(*titles, columns, tuple(rows), side.identities, (_COVERS_SAMPLING,))


def _bounds_rows(
    names: Group, given: Sequence[Given], judges: Sequence[JudgeFigures], figures: JudgingFigures
) -> list[tuple[Value, ...]]:
    bounds = overall_bounds(given, judges, figures.rubric)
    if bounds is None or not bounds.missing:
        return []
    return [(*names, bounds.lowest.n, bounds.missing, Mean(bounds.lowest), Mean(bounds.highest))]


# --- differences ---


def _difference_tables(figures: JudgingFigures, side: JudgedSide) -> Iterator[Table]:
    task, by_task = task_column(figures), len(figures.tasks) > 1
    question = "Does the overall score depend on the prompt variant?"
    by_judge = list(variant_differences(side, figures, lambda each: _names(each, figures), by_task=by_task))
    yield _difference_table(figures, side, ("score differences", question), (*NAMES, *task), by_judge)
    asked = "Does the overall score depend on the prompt variant, over all judges?"
    over = list(variant_differences(side, figures, lambda each: (each.condition,), by_task=by_task))
    columns = ("judging condition", *task)
    yield _difference_table(figures, side, ("pooled score differences", asked), columns, over)


_LEFT_OUT = ("one variant only", "not judged")
_PAIRED_BY_JUDGE = (
    "Points of the overall score under the second variant less those under the first, over questions of which "
    "this judge has scored both. Not judged: it has given no valid evaluation of either."
)
_PAIRED_OVER_JUDGES = (
    "Points of the overall score under the second variant less those under the first: of each question the mean "
    "over the judges that have scored both. Not judged: nobody has given a valid evaluation of either."
)
_COUNTED_ONLY = "Intervals are t over questions, from ten paired questions on; below that only the counts."


def _in_one_family(size: int) -> str:
    over = f"{size:,} comparison{'s' * (size != 1)}"
    return f"Tests are sign flips over questions; Holm over {over}, each interval at the level of its verdict."


def _difference_table(
    figures: JudgingFigures,
    side: JudgedSide,
    titles: tuple[str, str],
    names: tuple[str, ...],
    differences: Sequence[VariantDifference],
) -> Table:
    """Paired by question (ruling S2); all rows are one family, with intervals at its levels (ruling S3)."""
    pooled = "judge" not in names
    tested = [each.scores for each in differences if each.scores is not None]
    verdicts = iter(family(tested, seed=figures.seed))
    rows = tuple(
        (
            *each.group,
            each.first,
            each.second,
            *_question_cells(each.questions, pooled=pooled),
            *_verdict_cells(None if each.scores is None else next(verdicts), pooled=pooled),
        )
        for each in differences
    )
    counted = ("questions", "paired questions", *(("by different judges only",) if pooled else ()), *_LEFT_OUT)
    said = ("higher", "lower", "equal", "difference", "level", "p", "p, Holm", "in words")
    notes = (_PAIRED_OVER_JUDGES if pooled else _PAIRED_BY_JUDGE, _COUNTED_ONLY, _in_one_family(len(tested)))
    columns = (*names, "target", "from", "to", *counted, *said)
    return Table(*titles, columns, rows, side.identities, notes)


def _question_cells(counts: QuestionCounts, *, pooled: bool) -> tuple[Value, ...]:
    """All questions, and what became of them; of one judge there are none that different judges have scored."""
    shown = [counts.paired, counts.different_judges, counts.one_variant, counts.not_judged]
    return sum(counts), *(shown if pooled else (counts.paired, *shown[2:]))


def _verdict_cells(verdict: SaidOfDifference | None, *, pooled: bool) -> tuple[Value, ...]:
    if verdict is None:
        judge = "the same judge" if pooled else "this judge"
        return 0, 0, 0, None, None, None, None, f"no question has scores of both variants by {judge}"
    # What the statistics call items are the questions of a judging.
    estimate = replace(verdict.estimate, method=verdict.estimate.method.replace("items", "questions"))
    enough = estimate.n >= FEWEST_CLUSTERS
    return (
        *verdict.signs,
        Mean(estimate) if enough else None,
        Chance(verdict.level),
        Chance(verdict.significance.p_value),
        Chance(verdict.adjusted),
        replace(verdict, estimate=estimate).in_words(Form.MEAN),
    )


def _self_preference_table(figures: JudgingFigures) -> Table:
    rows: list[tuple[Value, ...]] = []
    shared = False
    for each in self_preferences(figures):
        fitted, shared = each.fitted, shared or len(each.fitted.judges) > 1
        rows.append(
            (
                ", ".join(fitted.judges),
                len(fitted.judges),
                each.judging_condition,
                fitted.outputs,
                fitted.questions,
                each.questions_in_fit,
                Mean.of(fitted.gamma),
                Mean(each.own_mean),
                Mean(each.others_mean),
            )
        )
    notes = [
        "Points of the overall score that a judge adds to its own outputs, apart from how severe it is and how "
        "good the outputs are. The raw means are of the same outputs, and their difference holds all three.",
        "An interval needs ten questions that the judge has answered itself; its clusters are all questions in "
        "the fit, which are those with an output that two judges have scored.",
    ]
    if shared:
        notes.append(
            "Judges in one row share one figure: a third judge, or a target that does not judge, would tell them "
            "apart."
        )
    columns = (
        "judge", "judges", "judging condition", "own outputs", "own questions", "questions in the fit",
        "self-preference", "own, raw mean", "others, raw mean",
    )  # fmt: skip
    foot = "; ".join(side.identities for side in (figures.primary, figures.own) if side.judges)
    question = "Do judges prefer their own outputs?"
    return Table("self-preference", question, columns, tuple(rows), foot, tuple(notes))


# --- agreement ---

_AGREED = ("dimension", "outputs", "exact agreement", "weighted kappa", "ordinal alpha")
_RESAMPLED = (
    "The interval of exact agreement is Wilson's. Those of kappa and alpha are percentile bootstraps over "
    "outputs, from ten outputs on; with few outputs they are too narrow."
)


def _agreement_tables(figures: JudgingFigures, side: JudgedSide) -> Iterator[Table]:
    """Between every two judges of the same outputs, and between all of them where they are more.

    Of a judge's own outputs it is the agreement of the author with the others, which the primary table has no part
    of (ruling J8).
    """
    own = side is figures.own
    pairs: list[tuple[Value, ...]] = []
    pooled: list[tuple[Value, ...]] = []
    everything = [*figures.primary.evaluations, *(figures.own.evaluations if own else ())]
    for (condition,), members in grouped(everything, lambda each: (each.condition,)).items():
        judges = sorted({each.judge for each in members})
        for pair in combinations(judges, 2):
            rated = [each for each in members if each.judge in pair]
            if own:
                written = {each.output for each in rated if each.method == JudgingMethod.SELF}
                rated = [each for each in rated if each.output in written]
            pairs += _agreement_rows((*pair, condition), rated, figures)
        if len(judges) > 2 and not own:
            pooled += _agreement_rows((condition,), members, figures)
    question, foot = "Do the judges agree on the same outputs?", side.identities
    names = ("judge", "other judge", "judging condition")
    yield Table("agreement", question, (*names, *_AGREED), tuple(pairs), foot, (_RESAMPLED,))
    over = "Do all judges together agree on the same outputs?"
    yield Table("pooled agreement", over, ("judging condition", *_AGREED), tuple(pooled), foot, (_RESAMPLED,))


def _agreement_rows(
    names: Group, evaluations: Sequence[Evaluation], figures: JudgingFigures
) -> list[tuple[Value, ...]]:
    found = agreements(evaluations, figures.rubric, lambda each: each.judge, figures.seed)
    return [(*names, *_agreement_cells(each)) for each in found]


def _retest_table(figures: JudgingFigures, side: JudgedSide) -> Table:
    """Each repeat is a rater of its own."""
    rows = [
        (*names, *_agreement_cells(each))
        for names, members in grouped(side.evaluations, lambda each: _names(each, figures)).items()
        for each in agreements(members, figures.rubric, lambda e: e.repeat, figures.seed)
    ]
    question = "Does a judge agree with itself when it is asked again?"
    return Table("test-retest", question, (*NAMES, *_AGREED), tuple(rows), side.identities, (_RESAMPLED,))


def _agreement_cells(each: Agreement) -> tuple[Value, ...]:
    return each.column.name, each.exact.n, each.exact, Mean.of(each.kappa), Mean.of(each.alpha)


# --- as JSON ---


def judging_json(figures: JudgingFigures, by: Sequence[str] = CELL) -> Fields:
    """Counts and shares by judge, others' outputs first, and the rows of every table."""
    return {
        "pooled": figures.pooled,
        "blind": figures.blind,
        "without_task": figures.without_task,
        "judges": [_judge_json(judge) for judge in (*figures.primary.judges, *figures.own.judges)],
        "tables": {
            table.name: [dict(zip(table.columns, map(json_value, row), strict=True)) for row in table.rows]
            for table in judging_tables(figures, by)
        },
    }


def _judge_json(judge: JudgeFigures) -> Fields:
    return {
        "judge": judge.judge,
        "judging_condition": judge.judging_condition,
        "method": judge.method,
        "coverage": {"planned": judge.planned, **judge.coverage},
        "truncated": judge.truncated,
        "valid": _json(judge.valid),
        "failed": _json(judge.failed),
        "valid_quotes_aside": _json(judge.valid_quotes_aside),
        "flags": {name: share.fields() for name, share in judge.flags.items()},
        "findings": dict(judge.findings),
        "quotes": {**judge.quotes, "fabricated": _json(judge.fabricated)},
        "declared_by_judge": dict(judge.declared_by_judge),
    }


def _json(estimate: Estimate | None) -> Fields | None:
    return None if estimate is None else estimate.fields()
