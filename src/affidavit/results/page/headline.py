"""The five questions that a reader has, each with an answer in a sentence or two, from the tables alone.

Compliance, accuracy, uncertainty, reasons of failure, validity of the judges. A sentence says no more than its
table: where two intervals overlap it does not call one higher.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from affidavit.results.page.row_names import naming, short_labels
from affidavit.results.page.text import brief
from affidavit.results.table import Table
from affidavit.results.words import in_cell, label_of
from affidavit.statistics.estimate import Estimate

_NAME = 60
_JUDGE = ("judge", "judging condition", "method")
_NO_DIAGNOSIS = "unspecified"


class Answer(NamedTuple):
    """One question, its answer, and the table that it is from."""

    question: str
    answer: str
    table: str


def headline(tables: Mapping[str, Table], by: Sequence[str]) -> list[Answer]:
    """The answers, in the order of the questions; `by` names the columns that tell rows apart."""
    compliance = _estimates(tables["compliance"], "compliance", by)
    accuracy = _estimates(tables["accuracy"], "accuracy over compliant", by) if "accuracy" in tables else {}
    over_all = _estimates(tables["accuracy"], "yield", by) if "accuracy" in tables else {}
    answers = [Answer("Who follows the format?", _compliance(compliance), "compliance")]
    if "accuracy" in tables:
        answers.append(Answer("Who is right?", _accuracy(accuracy, over_all), "accuracy"))
    measured = {"compliance": compliance, "accuracy over compliant": accuracy, "yield": over_all}
    answers += [
        Answer("How certain are the figures?", _certainty(measured), "accuracy" if accuracy else "compliance"),
        Answer("Why were outputs not compliant, or missing?", _why(tables, len(by)), "deviations"),
    ]
    if "judges" in tables:
        answers.append(Answer("Are the judges' evaluations valid?", _judges(tables), "judges"))
    return answers


def counted_noun(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted_noun(1, "question"), counted_noun(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _estimates(table: Table, column: str, names: Sequence[str]) -> dict[str, Estimate]:
    """The estimates of a column by the names of their rows, which are the first columns."""
    rows = [row[: len(names)] for row in table.rows]
    named = short_labels(rows, naming(names), _NAME, always="judge" in names)
    values = zip(named, table.column(column), strict=True)
    return {brief(label, _NAME): value for label, value in values if isinstance(value, Estimate)}


def _compliance(shares: Mapping[str, Estimate]) -> str:
    return f"Compliance: {_ranged(shares)}" if shares else "No output has arrived yet."


def _ranged(shares: Mapping[str, Estimate]) -> str:
    """The highest and the lowest share with their rows, to follow a colon."""
    ranked = sorted(shares.items(), key=lambda named: (-named[1].value, named[0]))
    (best, most), (worst, least) = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return f"{in_cell(most)} ({best})."
    if most.value == least.value:
        alike = "both" if len(ranked) == 2 else f"all {len(ranked):,}"
        return f"equal for {alike}, e.g. {in_cell(most)} ({best})."
    overlap = " Their intervals overlap." if most.low <= least.high else ""
    return f"from {in_cell(most)} ({best}) to {in_cell(least)} ({worst}).{overlap}"


def _accuracy(over_compliant: Mapping[str, Estimate], over_all: Mapping[str, Estimate]) -> str:
    if not over_compliant:
        return "The right answer is known for no compliant output."
    best = max(over_all, key=lambda name: over_all[name].value)
    highest = f"{in_cell(over_all[best])} ({best})" if len(over_all) > 1 else in_cell(over_all[best])
    rest = f"Accuracy over all outputs{' is at most' if len(over_all) > 1 else ':'} {highest}."
    return f"Accuracy over compliant outputs: {_ranged(over_compliant)} {rest}"


def _certainty(measured: Mapping[str, Mapping[str, Estimate]]) -> str:
    """The widest interval of all measures, and how many figures have none."""
    figures = [(measure, name, share) for measure, shares in measured.items() for name, share in shares.items()]
    known = [figure for figure in figures if isfinite(figure[2].low) and isfinite(figure[2].high)]
    if not known:
        return "There is no figure with an interval yet."
    measure, name, widest = max(known, key=lambda figure: figure[2].high - figure[2].low)
    points, sizes = (widest.high - widest.low) * 100, [share.n for _, _, share in known]
    whose = f"{label_of(measure)}, {name}, n={widest.n:,}"
    parts = [f"The widest 95 % interval spans {points:.0f} percentage points ({whose})."]
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
        sum(tables["compliance"].counts(name))
        for name in ("compliant", "non-compliant", "failed", "unread", "pending")
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
        return "No judgement has arrived yet."
    sentences = [f"Share of valid evaluations: {_ranged(valid)}"]
    if fabricated:
        sentences.append(f"Share of quotes that are not in the judged text: {_ranged(fabricated)}")
    return " ".join(sentences)


def as_lines(answers: Iterable[Answer]) -> str:
    """The answers for a terminal."""
    return "".join(f"{answer.question} {answer.answer}\n" for answer in answers)
