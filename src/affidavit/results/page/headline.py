"""The five questions that a reader has, each with an answer in a sentence or two, from the tables alone.

Compliance, accuracy, uncertainty, reasons of failure, validity of the judges. A sentence says no more than its
table: the overlap of two intervals is never offered as a test, and of rows that are equal none is named before the
others (ruling S9).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose, isfinite
from typing import NamedTuple, TypeAlias

from affidavit.plain_text import counted_noun
from affidavit.results.caveats import FEWEST, nothing_arrived
from affidavit.results.judging_tables import OWN, OWN_ALONE
from affidavit.results.label_scores import lowest_f1
from affidavit.results.page.row_names import naming, short_labels
from affidavit.results.page.text import brief
from affidavit.results.solving import ALL
from affidavit.results.table import Table
from affidavit.results.values import Chance, Points
from affidavit.results.words import in_cell, label_of
from affidavit.statistics.estimate import EQUAL, Estimate, worded

_NAME = 60
_JUDGE = ("judge", "judging condition", "method")
_NO_DIAGNOSIS = "unspecified"


class Answer(NamedTuple):
    """One question, its answer, and the table that it is from."""

    question: str
    answer: str
    table: str


def headline(tables: Mapping[str, Table], by: Sequence[str]) -> list[Answer]:
    """The answers, in the order of the questions; `by` names the columns that tell rows apart.

    A sentence speaks within a task, and of figures over ten items or more; whose figures it leaves out, it says
    (ruling S9).
    """
    compliance, accuracy, over_all = (
        _by_task(tables[name], column, by) if name in tables else {}
        for name, column in (
            ("compliance", "compliance"),
            ("accuracy", "accuracy over compliant"),
            ("accuracy", "yield"),
        )
    )
    none = list(_without_figures(tables["compliance"], by))
    answers = [Answer("Who follows the format?", " ".join((_each(compliance, "Compliance"), *none)), "compliance")]
    if "accuracy" in tables:
        answers.append(Answer("Who is right?", " ".join((_accuracy(accuracy, over_all), *none)), "accuracy"))
    if "solve rate" in tables:
        whole = _of_all_methods(tables["solve rate"])
        solved = _by_task(whole, "solve rate", by)
        # Whether nothing was checked, or not all, is said by the table.
        rate = [_each(solved, "Solve rate")] if any(solved.values()) else []
        solving = " ".join((*rate, *whole.notes))
        answers.append(Answer("How many outputs solve their problem?", solving, "solve rate"))
    if "label scores" in tables:
        weakest = _weakest_labels(tables["label scores"], by)
        answers.append(Answer("Which labels are found least well?", weakest, "label scores"))
    if preferred := list(_letters(tables.get("letters"), by)):
        answers.append(Answer("Does a model prefer a letter?", " ".join(preferred), "letters"))
    measured = {"compliance": compliance, "accuracy over compliant": accuracy, "yield": over_all}
    answers += [
        Answer("How certain are the figures?", _certainty(measured), "accuracy" if accuracy else "compliance"),
        Answer("Why were outputs not compliant, or missing?", _why(tables, len(by)), "deviations"),
    ]
    if "judges" in tables:
        answers.append(Answer("Are the judges' evaluations valid?", _judges(tables), "judges"))
    return answers


Shares: TypeAlias = dict[str, dict[str, Estimate]]
"""Estimates by task and by the names of their rows."""


def _estimates(table: Table, column: str, names: Sequence[str]) -> dict[str, Estimate]:
    """The estimates of a column by the names of their rows, which are the first columns."""
    rows = [row[: len(names)] for row in table.rows]
    named = short_labels(rows, naming(names), _NAME, always="judge" in names)
    values = zip(named, table.column(column), strict=True)
    return {brief(label, _NAME): value for label, value in values if isinstance(value, Estimate)}


def _by_task(table: Table, column: str, by: Sequence[str]) -> Shares:
    """The estimates of a column, task by task; of tables that are not told apart by task, under no name."""
    if "task" not in by:
        return {"": _estimates(table, column, by)}
    at = by.index("task")
    tasks = dict.fromkeys(str(row[at]) for row in table.rows)
    return {
        task: _estimates(replace(table, rows=tuple(row for row in table.rows if row[at] == task)), column, by)
        for task in tasks
    }


_OUTCOMES = ("compliant", "non-compliant", "failed", "unread", "pending")


def _without_figures(table: Table, by: Sequence[str]) -> Iterator[str]:
    """Which rows have no figure because nothing of them arrived, by what became of their questions."""
    labels = short_labels([row[: len(by)] for row in table.rows], naming(by), _NAME)
    found: dict[str, list[str]] = {}
    for label, *counts in zip(labels, *map(table.counts, _OUTCOMES), strict=True):
        _, _, failed, _, pending = counts
        if (why := nothing_arrived(failed, pending, sum(counts))) is not None:
            found.setdefault(why, []).append(brief(label, _NAME))
    for why, names in found.items():
        each = f"{why} each" if len(names) > 1 else why
        yield f"No figure for {_together(names, ', ')}: {each}."


_NAMED = 5
"""Rows that a sentence names."""


def _together(parts: Sequence[str], between: str) -> str:
    """The first parts, and how many more there are."""
    more = f" and {len(parts) - _NAMED:,} more" if len(parts) > _NAMED else ""
    return between.join(parts[:_NAMED]) + more


def _of_all_methods(table: Table) -> Table:
    at = table.columns.index("extraction_method")
    return replace(table, rows=tuple(row for row in table.rows if row[at] == ALL))


def _enough(shares: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The figures of a task that a headline may name (ruling S9)."""
    return {name: share for name, share in shares.items() if (share.clusters or share.n) >= FEWEST}


def _any_enough(shares: Shares) -> bool:
    return any(map(_enough, shares.values()))


def _each(shares: Shares, what: str, units: str = "items") -> str:
    """A sentence for each task; of figures over fewer than ten units it says only whose they are."""
    too_few = f"no figure is over {FEWEST} {units} or more; see the table."
    if not any(shares.values()):
        return "No output has arrived yet."
    if not _any_enough(shares):
        return f"{what}: {too_few}"
    if len(shares) == 1:
        return f"{what}: {_within_task(next(iter(shares.values())), units)}."
    sentences = [
        f"{brief(task, _NAME)}: {_within_task(named, units)}." for task, named in shares.items() if _enough(named)
    ]
    if few := [brief(task, _NAME) for task, named in shares.items() if named and not _enough(named)]:
        sentences.append(f"In {_together(few, ', ')} {too_few}")
    return f"{what}, by task. " + " ".join(sentences)


def _within_task(shares: Mapping[str, Estimate], units: str) -> str:
    """The range of the figures that may be named, and whose figures may not."""
    enough = _enough(shares)
    few = [name for name in shares if name not in enough]
    rest = f"; over fewer than {FEWEST} {units}, so only in the table: {_together(few, ', ')}" if few else ""
    return _ranged(enough) + rest


def _ranged(shares: Mapping[str, Estimate]) -> str:
    """The highest and the lowest share with all rows that have it, to follow a colon."""
    ranked = sorted(shares.items(), key=lambda named: (-named[1].value, named[0]))
    most, least = (_equal(ranked, extreme.value) for _, extreme in (ranked[0], ranked[-1]))
    if len(ranked) == 1:
        return _with_rows(most)
    if len(most) == len(ranked):
        alike = "both" if len(ranked) == 2 else f"all {len(ranked):,}"
        return f"equal for {alike}, {_with_rows(most)}"
    return f"observed from {_with_rows(most)} to {_with_rows(least)}"


def _equal(named: Iterable[tuple[str, Estimate]], value: float) -> list[tuple[str, Estimate]]:
    return [each for each in named if isclose(each[1].value, value, rel_tol=EQUAL, abs_tol=EQUAL)]


def _with_rows(named: Iterable[tuple[str, Estimate]]) -> str:
    """The figures of equal rows, each with the rows that have it; equal values may differ in n and interval."""
    rows: dict[str, list[str]] = {}
    for name, share in named:
        rows.setdefault(in_cell(share), []).append(name)
    return _together([f"{figure} ({_together(names, ', ')})" for figure, names in rows.items()], ", ")


def _accuracy(over_answers: Shares, over_all: Shares) -> str:
    if any(over_answers.values()) and not _any_enough(over_answers) and not _any_enough(over_all):
        return _each(over_all, "Accuracy")
    rest = _each(over_all, "Accuracy over all outputs")
    if not any(over_answers.values()):
        return f"No output holds an answer whose right one is known. {rest}"
    return f"{_each(over_answers, 'Accuracy over answers')} {rest}"


def _weakest_labels(table: Table, by: Sequence[str]) -> str:
    """Of each row of other tables the label of the lowest F1."""
    found = lowest_f1(table, len(by))
    labels = short_labels(list(found), naming(by), _NAME)
    said = [f"{brief(label, _NAME)}: {words}." for label, words in zip(labels, found.values(), strict=True)]
    return _together(said, " ")


def _letters(table: Table | None, by: Sequence[str]) -> Iterator[str]:
    """Of each task the letters that are chosen most above the key, if that is no matter of chance."""
    found: dict[str, list[tuple[float, str]]] = {}
    rows = [] if table is None else [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    for cells in rows:
        ahead, p = cells["against the key"], cells["p (Holm)"]
        if not isinstance(ahead, Points) or not isinstance(p, Chance):
            continue
        if p.value >= 0.05 or ahead.estimate.value <= 0:
            continue
        task = str(cells.get("task", ""))
        who = ", ".join(str(cells[name]) for name in by if name != "task")
        words = (
            f"{brief(f'{task}, {who}' if task else who, _NAME)} chooses {cells['letter']} in "
            f"{in_cell(cells['share'])} of its answers, {in_cell(ahead)} against how often the right one stands "
            f"there (p {in_cell(p)}, Holm)."
        )
        found.setdefault(task, []).append((ahead.estimate.value, words))
    for preferred in found.values():
        most = max(value for value, _ in preferred)
        first = [words for value, words in preferred if isclose(value, most, rel_tol=EQUAL)][:_NAMED]
        yield " ".join(first)
        if rest := len(preferred) - len(first):
            yield f"So {'does' if rest == 1 else 'do'} {counted_noun(rest, 'more row')} of the table."


def _certainty(measured: Mapping[str, Shares]) -> str:
    """The widest interval of these measures, with all figures that have it, and how many figures have none."""
    several = len(measured["compliance"]) > 1
    figures = [
        (measure, f"{brief(task, _NAME)}, {name}" if several else name, share)
        for measure, tasks in measured.items()
        for task, shares in tasks.items()
        for name, share in shares.items()
    ]
    known = [figure for figure in figures if isfinite(figure[2].low) and isfinite(figure[2].high)]
    if not known:
        return "No figure of compliance or accuracy has an interval yet."
    widest = max(share.high - share.low for _, _, share in known)
    points, sizes = widest * 100, [share.n for _, _, share in known]
    whose = [
        f"{label_of(measure)}, {name}, {worded(share).size}"
        for measure, name, share in known
        if isclose(share.high - share.low, widest, rel_tol=EQUAL)
    ]
    spans = f"{points:.0f}" if points >= 1 else f"{points:.2g}"
    # Other tables have figures too, and may have wider intervals.
    whole = "compliance and accuracy" if len({measure for measure, _, _ in figures}) > 1 else "compliance"
    parts = [f"Of {whole}, the widest 95 % interval spans {spans} percentage points ({_together(whose, '; ')})."]
    if len(set(sizes)) > 1:
        parts.append(f"n is between {min(sizes):,} and {max(sizes):,}.")
    if without := len(figures) - len(known):
        parts.append(f"{counted_noun(without, 'figure')} without an interval, each from a single item.")
    return " ".join(parts)


def why_not_compliant(tables: Mapping[str, Table], by: int) -> Counter[str]:
    """Non-compliant outputs by what they did instead; all of them, also those that no table explains."""
    kinds: Counter[str] = Counter()
    for table in tables.values():
        for kind, count in _counted(table, by).items() if table.explains != () else ():
            if table.explains is None or kind in table.explains:
                kinds[str(table.labelled(table.columns[by], kind))] += count
    rest = sum(tables["compliance"].counts("non-compliant")) - kinds.total()
    return kinds + Counter({_NO_DIAGNOSIS: rest})


def _why(tables: Mapping[str, Table], by: int) -> str:
    compliant, non_compliant, failed, unread, pending = (
        sum(tables["compliance"].counts(name)) for name in _OUTCOMES
    )
    arrived, parts = non_compliant + compliant, []
    if non_compliant:
        kinds = _listed(why_not_compliant(tables, by))
        parts.append(f"{non_compliant:,} of {counted_noun(arrived, 'output')} did not follow the format: {kinds}.")
    elif arrived:
        subject = "The only output follows" if arrived == 1 else f"All {arrived:,} outputs follow"
        parts.append(f"{subject} the format.")
    if failed:
        reasons = _listed(_counted(tables.get("failures"), by))
        parts.append(f"{counted_noun(failed, 'question')} failed{f' ({reasons})' if reasons else ''}.")
    if unread:
        parts.append(f"{counted_noun(unread, 'output')} could not be read: the contract raised an error.")
    if pending:
        parts.append(f"{counted_noun(pending, 'question')} pending.")
    return " ".join(parts) or "No output has arrived yet."


def _counted(table: Table | None, by: int) -> Counter[str]:
    """How often each label of a breakdown occurs, by its machine name."""
    counted: Counter[str] = Counter()
    if table is not None:
        for row, count in zip(table.rows, table.counts("count"), strict=True):
            counted[str(row[by])] += count
    return counted


def _listed(counted: Counter[str]) -> str:
    """The most frequent kinds, and how many there are besides."""
    ranked = counted.most_common(3)
    rest = counted.total() - sum(count for _, count in ranked)
    more = (
        f" and {rest:,} of {'another kind' if len(counted) == len(ranked) + 1 else 'other kinds'}" if rest else ""
    )
    return ", ".join(f"{count:,} {brief(name, 40)}" for name, count in ranked) + more


def _judges(tables: Mapping[str, Table]) -> str:
    valid = _estimates(tables["judges"], "share valid", _JUDGE)
    fabricated = _estimates(tables["quotes"], "fabricated", _JUDGE) if "quotes" in tables else {}
    if not valid:
        planned = any(tables["judges"].counts("planned"))
        alone = f"judges{OWN}" in tables and not planned
        return OWN_ALONE if alone else "No judgement of another model's output has arrived yet."
    sentences = [_each({"": valid}, "Share of valid evaluations", "outputs")]
    if fabricated:
        sentences.append(_each({"": fabricated}, "Share of quotes that are not in the judged text", "evaluations"))
    return " ".join(sentences)


def as_lines(answers: Iterable[Answer]) -> str:
    """The answers for a terminal."""
    return "".join(f"{answer.question} {answer.answer}\n" for answer in answers)
