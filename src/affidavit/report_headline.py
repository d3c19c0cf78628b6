"""The five questions that a reader has, each with an answer in a sentence or two, from the tables alone.

Who obeys, who is right, how sure are we, why did outputs fail, can the judges be trusted. A sentence says no more
than its table: where two intervals overlap it does not call one higher.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from affidavit.contracts.game24 import Method
from affidavit.estimates import Estimate
from affidavit.page_text import brief
from affidavit.report_text import told
from affidavit.row_labels import labels
from affidavit.table import Table

_NAME = 60
_JUDGE = 3
"""Columns that name a judge: itself, the condition under which it judged, the method."""


class Answer(NamedTuple):
    """One question, its answer, and the table that it is from."""

    question: str
    answer: str
    table: str


def headline(tables: Mapping[str, Table], by: int) -> list[Answer]:
    """The answers, in the order of the questions."""
    compliance, accuracy = _estimates(tables["compliance"], "compliance", by), {}
    if "accuracy" in tables:
        accuracy = _estimates(tables["accuracy"], "accuracy over compliant", by)
    found = [
        Answer("Who obeys?", _ranged(compliance, "keeps the contract", "No output has arrived yet."), "compliance")
    ]
    if "accuracy" in tables:
        found.append(Answer("Who is right?", _right(tables, accuracy, by), "accuracy"))
    found += [
        Answer("How sure are we?", _sure(accuracy or compliance), "accuracy" if accuracy else "compliance"),
        Answer("Why did outputs fail?", _why(tables, by), "deviations"),
    ]
    if "judges" in tables:
        found.append(Answer("Can the judges be trusted?", _judges(tables), "judges"))
    return found


def _estimates(table: Table, column: str, names: int) -> dict[str, Estimate]:
    """The estimates of a column by the names of their rows, which are the first columns."""
    rows = zip(labels([row[:names] for row in table.rows]), table.column(column), strict=True)
    return {label: value for label, value in rows if isinstance(value, Estimate)}


def _ranged(shares: Mapping[str, Estimate], does: str, nothing: str) -> str:
    if not shares:
        return nothing
    ranked = sorted(shares.items(), key=lambda each: (-each[1].value, each[0]))
    (best, most), (worst, least) = ((brief(name, _NAME), share) for name, share in (ranked[0], ranked[-1]))
    if len(ranked) == 1:
        return f"{best} {does} in {told(most)}."
    if most.value == least.value:
        return f"All {len(ranked):,} alike, such as {best}: {told(most)}."
    overlap = " Their intervals overlap." if most.low <= least.high else ""
    return f"From {told(most)} ({best}) down to {told(least)} ({worst}).{overlap}"


def _right(tables: Mapping[str, Table], accuracy: Mapping[str, Estimate], by: int) -> str:
    first = _ranged(accuracy, "is right", "No compliant output has a right answer to compare with.")
    yields = _estimates(tables["accuracy"], "yield", by)
    if not yields or not accuracy:
        return first
    best = max(yields, key=lambda name: yields[name].value)
    whose = f" ({brief(best, _NAME)})" if len(yields) > 1 else ""
    return f"{first} The highest yield, right of all outputs that arrived, is {told(yields[best])}{whose}."


def _sure(shares: Mapping[str, Estimate]) -> str:
    known = {name: each for name, each in shares.items() if isfinite(each.low) and isfinite(each.high)}
    if not known:
        return "There is nothing yet to be sure of."
    widest = max(known, key=lambda name: known[name].high - known[name].low)
    points = (known[widest].high - known[widest].low) * 100
    sizes = [each.n for each in known.values()]
    whose = f" ({brief(widest, _NAME)}, n={known[widest].n:,})" if len(known) > 1 else f" (n={known[widest].n:,})"
    smaller = f" The smallest n is {min(sizes):,}, the largest {max(sizes):,}." if len(set(sizes)) > 1 else ""
    return f"The widest 95 % interval spans {points:.0f} percentage points{whose}.{smaller}"


def _why(tables: Mapping[str, Table], by: int) -> str:
    compliance = tables["compliance"]
    broke, failed, unread, pending = (
        _sum(compliance, name) for name in ("non-compliant", "failed", "unread", "pending")
    )
    arrived = broke + _sum(compliance, "compliant")
    parts = []
    if broke:
        found = _counted(tables.get("deviations"), by)
        found.update({kind: n for kind, n in _counted(tables.get("expressions"), by).items() if kind in _UNMARKED})
        kinds = _listed(found.most_common(3), len(found))
        parts.append(f"{broke:,} of {arrived:,} outputs broke the contract{f': {kinds}' if kinds else ''}.")
    elif arrived:
        parts.append(f"All {arrived:,} outputs keep the contract.")
    if failed:
        parts.append(f"{failed:,} questions got no output ({_most(tables.get('failures'), by)}).")
    for count, words in ((unread, "could not be read by their own contract"), (pending, "are not asked yet")):
        if count:
            parts.append(f"{count:,} {words}.")
    return " ".join(parts) or "Nothing has arrived yet."


def _sum(table: Table, column: str) -> int:
    return sum(table.counts(column))


_UNMARKED = (Method.FALLBACK_BOTTOM_SCAN, Method.EMPTY)
"""Where an expression is looked for when no marker was used (ruling G9)."""


def _most(table: Table | None, by: int) -> str:
    """The most frequent labels of a breakdown."""
    counted = _counted(table, by)
    return _listed(counted.most_common(3), len(counted))


def _counted(table: Table | None, by: int) -> Counter[str]:
    """How often each label of a breakdown occurs."""
    counted: Counter[str] = Counter()
    if table is not None:
        for row, count in zip(table.rows, table.counts("count"), strict=True):
            counted[str(row[by])] += count
    return counted


def _listed(ranked: Sequence[tuple[str, int]], all_of: int) -> str:
    rest = all_of - len(ranked)
    more = f" and {rest:,} more kind{'s' * (rest > 1)}" if rest > 0 else ""
    return ", ".join(f"{count:,} {brief(name, 40)}" for name, count in ranked) + more


def _judges(tables: Mapping[str, Table]) -> str:
    valid = _estimates(tables["judges"], "share valid", _JUDGE)
    invented = _estimates(tables["quotes"], "fabricated", _JUDGE) if "quotes" in tables else {}
    if not valid:
        return "No judgement has arrived yet."
    parts = [f"Valid evaluations: {_lower(_ranged(valid, 'is valid', ''))}"]
    if invented:
        worst = max(invented, key=lambda name: invented[name].value)
        whose = f" ({brief(worst, _NAME)})" if len(invented) > 1 else ""
        parts.append(f"Quotes that are nowhere in the judged text: {told(invented[worst])}{whose} at the worst.")
    return " ".join(parts)


def _lower(sentence: str) -> str:
    """A sentence that goes on from a colon."""
    return sentence.replace("From ", "from ", 1) if sentence.startswith("From ") else sentence


def as_lines(answers: Iterable[Answer]) -> str:
    """The answers for a terminal."""
    return "".join(f"{each.question} {each.answer}\n" for each in answers)
