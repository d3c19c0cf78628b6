"""What a reader wants to know first, task by task, in a few short sentences from the tables alone.

A sentence says no more than its table: the overlap of two intervals is never offered as a test, a best model is
named only by the tests of all pairs, and of rows that are equal none is named before the others (ruling S9).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose
from typing import NamedTuple

from affidavit.plain_text import counted_noun
from affidavit.results.caveats import FEWEST, nothing_arrived
from affidavit.results.judging_tables import DIFFERENT_JUDGES, OWN, OWN_ALONE
from affidavit.results.label_scores import lowest_f1
from affidavit.results.model_ranking import MOST_RANKED, Standing, standings
from affidavit.results.page.ranges import NAME, any_known, enough, figures, in_range
from affidavit.results.page.row_names import naming, short_labels
from affidavit.results.page.text import brief
from affidavit.results.solving import ALL
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points, Value
from affidavit.results.words import in_cell, label_of
from affidavit.statistics.estimate import EQUAL

_NO_DIAGNOSIS = "unspecified"
_MOST_KINDS, _MOST_CONDITIONS, _NAMED = 2, 3, 3
"""Reasons, conditions and rows that a sentence names."""
_JUDGE = ("judge", "judging condition", "method")
OUTCOMES = ("compliant", "non-compliant", "failed", "unread", "pending")


class Answer(NamedTuple):
    """What a sentence is about, the sentence, and the table that it is from."""

    question: str
    answer: str
    table: str


@dataclass(frozen=True)
class Summary:
    """The sentences of one task, or of a judging."""

    title: str | None
    """The task, empty where records are not told apart by task; None: the judging."""
    answers: Sequence[Answer]


@dataclass(frozen=True)
class Compared:
    """What was tested, beside the tables of the report."""

    models: Table | None = None
    """Every two models of a task."""
    controls: Mapping[str, Table] = field(default_factory=dict)
    """Differences from the control, by condition and control."""
    not_ranked: str = ""
    """Why models were not compared two by two; empty where they were."""


def headline(
    tables: Mapping[str, Table], by: Sequence[str], compared: Compared, tasks: Sequence[str] = ()
) -> list[Summary]:
    """The sentences of every task, in this order of tasks; those of a judging come first."""
    known = _tasks(tables["compliance"], by)
    ordered = [*(task for task in tasks if task in known), *(task for task in known if task not in tasks)]
    found = [Summary(None, list(judging_answers(tables)))] if "judges" in tables else []
    standing = standings(compared.models)
    for task in ordered:
        own = {name: of_task(table, task) for name, table in tables.items()}
        controls = {name: of_task(table, task) for name, table in compared.controls.items()}
        answers = list(_task_answers(own, by, replace(compared, controls=controls), standing.get(task)))
        found.append(Summary(task, answers))
    return found


def _tasks(table: Table, by: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(str, table.column("task")))) if "task" in by else [""]


def of_task(table: Table, task: str) -> Table:
    """The rows of one task; all of a table that does not tell tasks apart."""
    if "task" not in table.columns or not task:
        return table
    at = table.columns.index("task")
    return replace(table, rows=tuple(row for row in table.rows if row[at] == task))


def _task_answers(
    tables: Mapping[str, Table], by: Sequence[str], compared: Compared, standing: Standing | None
) -> Iterator[Answer]:
    compliance, names = tables["compliance"], [name for name in by if name != "task"] or list(by)
    if (source := tables.get("source scores")) is not None and source.rows:
        yield Answer("Source and contract", source_sentence(source), "source scores")
    if standing is not None:
        yield Answer("Best model", best_sentence(standing), "models compared")
    elif compared.not_ranked and len({*compliance.column("model")} if "model" in by else ()) > 1:
        yield Answer("Best model", compared.not_ranked, "accuracy")
    yield from _ranges(tables, names)
    if changes := list(_condition_sentences(compared.controls)):
        yield Answer("Conditions", " ".join(changes), "differences")
    if "label scores" in tables and tables["label scores"].rows:
        yield Answer("Labels", _weakest_labels(tables["label scores"], by), "label scores")
    if preferred := _letters(tables.get("letters"), names):
        yield Answer("Letters", preferred, "letters")
    if why := _why(tables, by):
        yield Answer("Not compliant", why, "deviations")
    if none := _without_figures(compliance, names):
        yield Answer("No figure", none, "compliance")


def _ranges(tables: Mapping[str, Table], names: Sequence[str]) -> Iterator[Answer]:
    """The ranges of the measures that a task has."""
    compliance = figures(tables["compliance"], "compliance", names)
    if not any_known(compliance):
        yield Answer("Outputs", "No output has arrived yet.", "compliance")
        return
    solved = tables.get("solve rate")
    if solved is not None and solved.rows:
        at = solved.columns.index("extraction_method")
        whole = replace(solved, rows=tuple(row for row in solved.rows if row[at] == ALL))
        rates = figures(whole, "solve rate", names)
        said = [in_range("Solve rate", rates)] if any_known(rates) else []
        # Whether nothing was checked, or not all, is said by the table.
        yield Answer("Solved", " ".join((*said, *solved.notes)), "solve rate")
    elif "accuracy" in tables and any_known(over_all := figures(tables["accuracy"], "yield", names)):
        yield Answer("Accuracy", in_range("Over all outputs", over_all), "accuracy")
    yield Answer("Format", _format(tables["compliance"], compliance), "compliance")


def _format(table: Table, shares: Mapping[str, Value]) -> str:
    """The range of compliance; where every output follows the format, that alone."""
    kept, broken = (sum(table.counts(name)) for name in ("compliant", "non-compliant"))
    if broken or not kept:
        return in_range("Compliance", shares)
    return "The only output follows the format." if kept == 1 else f"All {kept:,} outputs follow the format."


# --- models ---


def best_sentence(standing: Standing) -> str:
    """Which model is the best by the tests of all pairs, if one is (ruling S9).

    >>> print(best_sentence(Standing("free", ("a", "b", "c"), ("a",), {"a": 2, "b": 0, "c": 0}, 3)))
    a: higher than each other model in accuracy over all outputs (free, paired by item, Holm over 3 pairs).
    >>> print(best_sentence(Standing("free", ("a", "b"), ("a", "b"), {"a": 0, "b": 0}, 1)))
    None is named: a and b are not distinguishable at this n (free, paired by item, Holm over 1 pair).
    """
    others = len(standing.models) - 1
    how = f"({brief(standing.condition, NAME)}, paired by item, Holm over {counted_noun(standing.pairs, 'pair')})."
    names = [brief(name, NAME) for name in standing.unbeaten]
    if len(names) == 1:
        wins = standing.beats[standing.unbeaten[0]]
        if wins == others:
            than = "each other model" if others > 1 else "the other model"
            return f"{names[0]}: higher than {than} in accuracy over all outputs {how}"
        than = f"higher than {wins:,} of {others:,} others in accuracy over all outputs"
        return f"{names[0]}: {than}, not distinguishable from the rest at this n {how}"
    if len(names) == len(standing.models) and len(names) > _NAMED:
        return f"None is named: no two of the {len(names):,} models are distinguishable at this n {how}"
    listed = _and(names) if len(names) <= 2 * _NAMED else f"the {len(names):,} models that no other exceeds"
    return f"None is named: {listed} are not distinguishable at this n {how}"


NOT_RANKED_LARGE = "Not tested for every two models, as the study is large; use affidavit compare."
NOT_RANKED_MANY = f"Not tested for every two of more than {MOST_RANKED} models; use affidavit compare."


def _and(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


# --- conditions ---


def _condition_sentences(controls: Mapping[str, Table]) -> Iterator[str]:
    """For each condition how many differences from its control are distinguishable, and in which direction."""
    tested = {name: table for name, table in controls.items() if table.rows}
    said = {name: words for name, table in tested.items() if (words := _directions(table))}
    for name, words in list(said.items())[:_MOST_CONDITIONS]:
        condition, _, control = name.partition(" − ")
        yield f"{brief(condition, NAME)} against {brief(control, NAME)}: {words}."
    if len(said) > _MOST_CONDITIONS:
        yield f"{counted_noun(len(said) - _MOST_CONDITIONS, 'more condition')} in the table of differences."
    if tested and not said:
        count = sum(len(table.rows) for table in tested.values())
        over = counted_noun(count, "comparison")
        yield f"No difference from the control is distinguishable at this n ({over} in this task)."


def _directions(table: Table) -> str:
    """Distinguishable differences of one condition, counted by measure; empty if there is none."""
    counts: dict[str, Counter[str]] = {}
    for measure, words in zip(table.column("measure"), table.column("in words"), strict=True):
        counts.setdefault(str(measure), Counter())[str(words)] += 1
    parts = []
    for measure, found in counts.items():
        of = f" of {found.total():,} models" if found.total() > 1 else ""
        directions = [
            f"{direction} in {found[direction]:,}{of}" if of else direction
            for direction in ("higher", "lower")
            if found[direction]
        ]
        if directions:
            parts.append(f"{label_of(measure)} {' and '.join(directions)}")
    return ", ".join(parts)


# --- sources of imported outputs ---


def source_sentence(table: Table) -> str:
    """How the source's score and the contract's differ, over the rows of a task that a sentence may name."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    named = [cells for cells in rows if enough({"": cells["right by the source"]})]
    if not named:
        return f"No figure of the source is over {FEWEST} items or more; see the table."
    words = Counter(str(cells["in words"]) for cells in named)
    higher, lower = words["higher"], words["lower"]
    if len(named) > 1:
        if not higher and not lower:
            return f"In none of {len(named):,} rows is the contract's accuracy distinguishable from the source's."
        rate = f"higher than the source's in {higher:,} of {len(named):,} rows, lower in {lower:,}"
        return f"The contract's accuracy over all outputs is {rate}."
    source, own = (in_cell(named[0][name]) for name in ("right by the source", "yield"))
    said = f"{source} right by the source, {own} by the contract"
    if not isinstance(named[0]["difference"], Points):
        return f"{said}."
    if higher or lower:
        return f"{said}, which is {'higher' if higher else 'lower'} ({in_cell(named[0]['difference'])})."
    return f"{said}: not distinguishable at this n."


# --- what else a task has ---


def _weakest_labels(table: Table, by: Sequence[str]) -> str:
    """Of each row of other tables the label of the lowest F1."""
    found = lowest_f1(table, len(by))
    labels = short_labels(list(found), naming(by), NAME)
    said = [f"{brief(label, NAME)}: {words}." for label, words in zip(labels, found.values(), strict=True)]
    more = f" {counted_noun(len(said) - _NAMED, 'more row')} in the table." if len(said) > _NAMED else ""
    return " ".join(said[:_NAMED]) + more


def _letters(table: Table | None, names: Sequence[str]) -> str:
    """The letters that are chosen most above the key, if that is no matter of chance; empty if none is."""
    rows = [] if table is None else [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    preferred = [
        (cells["against the key"], cells)
        for cells in rows
        if isinstance(cells["p (Holm)"], Chance) and cells["p (Holm)"].value < 0.05
    ]
    ahead = [(each.estimate.value, cells) for each, cells in preferred if isinstance(each, Points)]
    most = max((value for value, _ in ahead), default=0.0)
    if most <= 0:
        return ""
    first = [cells for value, cells in ahead if isclose(value, most, rel_tol=EQUAL)]
    said = " ".join(
        f"{brief(', '.join(str(cells[name]) for name in names), NAME)} chooses {cells['letter']} in "
        f"{in_cell(cells['share'])} of its answers, {in_cell(cells['against the key'])} against how often the "
        f"right one stands there (p {in_cell(cells['p (Holm)'])}, Holm)."
        for cells in first[:_NAMED]
    )
    rest = sum(value > 0 for value, _ in ahead) - len(first[:_NAMED])
    return (
        f"{said} So {'does' if rest == 1 else 'do'} {counted_noun(rest, 'more row')} of the table."
        if rest
        else said
    )


def _without_figures(table: Table, names: Sequence[str]) -> str:
    """Which rows have no figure because nothing of them arrived, by what became of their questions."""
    rows = list(zip(*(table.column(name) for name in names), strict=True))
    labels = short_labels(rows, naming(names), NAME) if rows else []
    found: dict[str, list[str]] = {}
    for label, *counts in zip(labels, *map(table.counts, OUTCOMES), strict=True):
        _, _, failed, _, pending = counts
        if (why := nothing_arrived(failed, pending, sum(counts))) is not None:
            found.setdefault(why, []).append(brief(label, NAME))
    return " ".join(
        f"{', '.join(named[:_NAMED])}{f' and {len(named) - _NAMED:,} more' if len(named) > _NAMED else ''}: "
        f"{why}{' each' if len(named) > 1 else ''}."
        for why, named in found.items()
    )


def why_not_compliant(tables: Mapping[str, Table], by: int) -> Counter[str]:
    """Non-compliant outputs by what they did instead; all of them, also those that no table explains."""
    kinds: Counter[str] = Counter()
    for table in tables.values():
        for kind, count in _counted(table, by).items() if table.explains != () else ():
            if table.explains is None or kind in table.explains:
                kinds[str(table.labelled(table.columns[by], kind))] += count
    rest = sum(tables["compliance"].counts("non-compliant")) - kinds.total()
    return kinds + Counter({_NO_DIAGNOSIS: rest})


def _why(tables: Mapping[str, Table], by: Sequence[str]) -> str:
    """Why outputs are not compliant, and what is missing; empty where nothing is."""
    compliant, non_compliant, failed, unread, pending = (
        sum(tables["compliance"].counts(name)) for name in OUTCOMES
    )
    parts = []
    if non_compliant:
        kinds = _listed(why_not_compliant(tables, len(by)))
        arrived = counted_noun(non_compliant + compliant, "output")
        parts.append(f"{non_compliant:,} of {arrived} did not follow the format: {kinds}.")
    if failed:
        reasons = _listed(_counted(tables.get("failures"), len(by)))
        parts.append(f"{counted_noun(failed, 'question')} failed{f' ({reasons})' if reasons else ''}.")
    if unread:
        parts.append(f"{counted_noun(unread, 'output')} could not be read: the contract raised an error.")
    if pending:
        parts.append(f"{counted_noun(pending, 'question')} pending.")
    return " ".join(parts)


def _counted(table: Table | None, by: int) -> Counter[str]:
    """How often each label of a breakdown occurs, by its machine name."""
    counted: Counter[str] = Counter()
    if table is not None:
        for row, count in zip(table.rows, table.counts("count"), strict=True):
            counted[str(row[by])] += count
    return counted


def _listed(counted: Counter[str]) -> str:
    """The most frequent kinds, and how many there are besides."""
    ranked = sorted(counted.items(), key=lambda kind: (-kind[1], kind[0]))[:_MOST_KINDS]
    rest = counted.total() - sum(count for _, count in ranked)
    kinds = "another kind" if len(counted) == len(ranked) + 1 else "other kinds"
    more = f" and {rest:,} of {kinds}" if rest else ""
    return ", ".join(f"{count:,} {brief(name, 40)}" for name, count in ranked) + more


# --- judging ---


def judging_answers(tables: Mapping[str, Table]) -> Iterator[Answer]:
    """The scores that outputs get, and whether the judges can be relied on."""
    if (targets := tables.get("targets")) is not None and targets.rows:
        names = [name for name in ("judging condition", "task", "target", "variant") if name in targets.columns]
        totals = [name for name in targets.columns if "overall" in name]
        for total in totals[-1:]:
            said = in_range(total[:1].upper() + total[1:], figures(targets, total, names), "questions")
            differ = any(note.startswith(DIFFERENT_JUDGES) for note in targets.notes)
            yield Answer("Scores", " ".join((said, *_SAME_JUDGES[not differ])), "pooled scores")
    valid = figures(tables["judges"], "share valid", _JUDGE)
    if not any_known(valid):
        planned = any(tables["judges"].counts("planned"))
        alone = f"judges{OWN}" in tables and not planned
        yield Answer(
            "Judges", OWN_ALONE if alone else "No judgement of another model's output has arrived yet.", "judges"
        )
        return
    yield Answer("Judges", in_range("Share of valid evaluations", valid, "outputs"), "judges")
    if "quotes" in tables and any_known(fabricated := figures(tables["quotes"], "fabricated", _JUDGE)):
        what = "Share of quotes that are not in the judged text"
        yield Answer("Quotes", in_range(what, fabricated, "evaluations"), "quotes")


_SAME_JUDGES = {True: (), False: ("No target is named as the best: they are scored by different judges.",)}


def as_lines(summaries: Iterable[Summary]) -> str:
    """The sentences for a terminal."""
    lines = []
    for summary in summaries:
        lines += [summary.title] if summary.title else []
        lines += [f"  {answer.question}: {answer.answer}" for answer in summary.answers]
    return "".join(f"{line}\n" for line in lines)
