"""The five questions that a reader has, each with an answer in a sentence or two, from the tables alone.

Who obeys, who is right, how sure are we, why did outputs fail, can the judges be trusted. A sentence says no more
than its table: where two intervals overlap it does not call one higher.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from affidavit.results.page.labels import naming, short_labels
from affidavit.results.page.text import brief
from affidavit.results.table import Table
from affidavit.results.text_forms import in_cell
from affidavit.statistics.estimate import Estimate

_NAME = 60
_JUDGE = ("judge", "judging condition", "method")
_NO_DIAGNOSIS = "without a diagnosis"


class Answer(NamedTuple):
    """One question, its answer, and the table that it is from."""

    question: str
    answer: str
    table: str


def headline(tables: Mapping[str, Table], by: Sequence[str]) -> list[Answer]:
    """The answers, in the order of the questions; `by` names the columns that tell rows apart."""
    compliance = _estimates(tables["compliance"], "compliance", by)
    accuracy = _estimates(tables["accuracy"], "accuracy over compliant", by) if "accuracy" in tables else {}
    yields = _estimates(tables["accuracy"], "yield", by) if "accuracy" in tables else {}
    obeys = _ranged(compliance, "keeps the contract", "No output has arrived yet.")
    found = [Answer("Who obeys?", obeys, "compliance")]
    if "accuracy" in tables:
        found.append(Answer("Who is right?", _right(accuracy, yields), "accuracy"))
    measured = {"compliance": compliance, "accuracy": accuracy, "yield": yields}
    found += [
        Answer("How sure are we?", _sure(measured), "accuracy" if accuracy else "compliance"),
        Answer("Why did outputs fail?", _why(tables, len(by)), "deviations"),
    ]
    if "judges" in tables:
        found.append(Answer("Can the judges be trusted?", _judges(tables), "judges"))
    return found


def many(count: int, noun: str) -> str:
    """A count with its noun.

    >>> many(1, "question"), many(2000, "question")
    ('1 question', '2,000 questions')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _estimates(table: Table, column: str, names: Sequence[str]) -> dict[str, Estimate]:
    """The estimates of a column by the names of their rows, which are the first columns."""
    rows = [row[: len(names)] for row in table.rows]
    named = short_labels(rows, naming(names), _NAME, always="judge" in names)
    values = zip(named, table.column(column), strict=True)
    return {brief(label, _NAME): value for label, value in values if isinstance(value, Estimate)}


def _ranged(shares: Mapping[str, Estimate], does: str, nothing: str) -> str:
    if not shares:
        return nothing
    ranked = sorted(shares.items(), key=lambda each: (-each[1].value, each[0]))
    (best, most), (worst, least) = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return f"{best} {does} in {in_cell(most)}."
    if most.value == least.value:
        alike = "Both" if len(ranked) == 2 else f"All {len(ranked):,}"
        return f"{alike} alike, such as {best}: {in_cell(most)}."
    overlap = " Their intervals overlap." if most.low <= least.high else ""
    return f"From {in_cell(most)} ({best}) down to {in_cell(least)} ({worst}).{overlap}"


def _right(accuracy: Mapping[str, Estimate], yields: Mapping[str, Estimate]) -> str:
    first = _ranged(accuracy, "is right", "No compliant output has a right answer to compare with.")
    if not yields or not accuracy:
        return first
    best = max(yields, key=lambda name: yields[name].value)
    whose = f" ({best})" if len(yields) > 1 else ""
    what = "right of all outputs that arrived and have a key"
    return f"{first} The highest yield, {what}, is {in_cell(yields[best])}{whose}."


def _sure(measured: Mapping[str, Mapping[str, Estimate]]) -> str:
    """The widest interval of all measures, and what has none."""
    every = [(what, name, each) for what, shares in measured.items() for name, each in shares.items()]
    known = [one for one in every if isfinite(one[2].low) and isfinite(one[2].high)]
    if not known:
        return "There is nothing yet to be sure of."
    what, name, widest = max(known, key=lambda one: one[2].high - one[2].low)
    points, sizes = (widest.high - widest.low) * 100, [each.n for _, _, each in known]
    whose = f"{what} of {name}, n={widest.n:,}"
    parts = [f"The widest 95 % interval spans {points:.0f} percentage points ({whose})."]
    if len(set(sizes)) > 1:
        parts.append(f"The smallest n is {min(sizes):,}, the largest {max(sizes):,}.")
    if bare := len(every) - len(known):
        parts.append(f"{many(bare, 'figure')} without an interval, each from a single item.")
    return " ".join(parts)


def why_not_compliant(tables: Mapping[str, Table], by: int) -> Counter[str]:
    """Non-compliant outputs by what they did instead; all of them, also those without a diagnosis."""
    found: Counter[str] = Counter()
    for table in tables.values():
        counted = _counted(table, by) if table.explains != () else Counter()
        found.update({kind: n for kind, n in counted.items() if table.explains is None or kind in table.explains})
    rest = sum(tables["compliance"].counts("non-compliant")) - found.total()
    return found + Counter({_NO_DIAGNOSIS: rest})


def _why(tables: Mapping[str, Table], by: int) -> str:
    compliant, broke, failed, unread, pending = (
        sum(tables["compliance"].counts(name))
        for name in ("compliant", "non-compliant", "failed", "unread", "pending")
    )
    arrived, parts = broke + compliant, []
    if broke:
        kinds = _listed(why_not_compliant(tables, by))
        parts.append(f"{broke:,} of {many(arrived, 'output')} broke the contract: {kinds}.")
    elif arrived:
        parts.append(f"{'The only output' if arrived == 1 else f'All {arrived:,} outputs'} kept the contract.")
    if failed:
        reasons = _listed(_counted(tables.get("failures"), by))
        parts.append(f"{many(failed, 'question')} got no output{f' ({reasons})' if reasons else ''}.")
    if unread:
        parts.append(f"{many(unread, 'output')} could not be read by the contract.")
    if pending:
        parts.append(f"{many(pending, 'question')} not asked yet.")
    return " ".join(parts) or "Nothing has arrived yet."


def _counted(table: Table | None, by: int) -> Counter[str]:
    """How often each label of a breakdown occurs."""
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
    invented = _estimates(tables["quotes"], "fabricated", _JUDGE) if "quotes" in tables else {}
    if not valid:
        return "No judgement has arrived yet."
    parts = [f"Valid evaluations: {_lower(_ranged(valid, 'is valid', ''))}"]
    if invented:
        worst = max(invented, key=lambda name: invented[name].value)
        whose = f" ({worst})" if len(invented) > 1 else ""
        parts.append(
            f"Quotes that are nowhere in the judged text: {in_cell(invented[worst])}{whose} at the worst."
        )
    return " ".join(parts)


def _lower(sentence: str) -> str:
    """A sentence that goes on from a colon."""
    return sentence.replace("From ", "from ", 1) if sentence.startswith("From ") else sentence


def as_lines(answers: Iterable[Answer]) -> str:
    """The answers for a terminal."""
    return "".join(f"{each.question} {each.answer}\n" for each in answers)
