"""The range of a measure within a task, in a sentence: its highest and lowest figures, with whose they are.

Figures over fewer than ten units are left to the table, and of equal rows none is named before the others (ruling
S9).
"""

from collections.abc import Mapping, Sequence
from math import isclose

from affidavit.plain_text import counted_noun
from affidavit.results.caveats import FEWEST
from affidavit.results.page.row_names import naming, short_labels
from affidavit.results.page.text import brief
from affidavit.results.table import Table
from affidavit.results.values import Mean, Value, estimate_of
from affidavit.results.words import form_of
from affidavit.statistics.estimate import EQUAL, worded

NAME, _NAMED = 48, 2
"""Characters of a name in a sentence; rows that have one figure and are named: more are counted."""


def figures(table: Table, column: str, names: Sequence[str]) -> dict[str, Value]:
    """The figures of a column by the names of their rows, as short as they can be; of some rows there is none."""
    rows = list(zip(*(table.column(name) for name in names), strict=True))
    labels = short_labels(rows, naming(names), NAME) if rows else []
    return {brief(label, NAME): value for label, value in zip(labels, table.column(column), strict=True)}


def any_known(shares: Mapping[str, Value]) -> bool:
    """Whether there is any figure."""
    return any(estimate_of(value) is not None for value in shares.values())


def enough(shares: Mapping[str, Value]) -> dict[str, Value]:
    """Those that a sentence may name (ruling S9)."""
    return {
        name: value
        for name, value in shares.items()
        if (found := estimate_of(value)) is not None and (found.clusters or found.n) >= FEWEST
    }


def in_range(what: str, shares: Mapping[str, Value], units: str = "items") -> str:
    """The range of figures in a sentence, and how many are over too few units to be in it.

    >>> from affidavit.statistics.shares import wilson
    >>> in_range("Share", {"a": wilson(9, 10), "b": wilson(5, 10), "c": wilson(1, 2)})
    'Share: from 50.0% [23.7, 76.3] (b) to 90.0% [59.6, 98.2] (a); 1 row over fewer than 10 items is only in the table.'
    >>> in_range("Share", {"a": wilson(9, 10)}), in_range("Share", {"c": wilson(1, 2)})
    ('Share: 90.0% [59.6, 98.2] n=10.', 'Share: no figure is over 10 items or more; see the table.')
    """  # noqa: E501
    named = enough(shares)
    if not named:
        return f"{what}: no figure is over {FEWEST} {units} or more; see the table."
    rest = ""
    if few := sum(estimate_of(value) is not None for value in shares.values()) - len(named):
        rows, are = counted_noun(few, "row"), "is" if few == 1 else "are"
        rest = f"; {rows} over fewer than {FEWEST} {units} {are} only in the table"
    return f"{what}: {_ranged(named, alone=len(shares) == 1)}{rest}."


def _ranged(shares: Mapping[str, Value], *, alone: bool) -> str:
    ranked = sorted(shares.items(), key=lambda named: (_value(named[1]), named[0]))
    if len(ranked) == 1:
        name, value = ranked[0]
        return f"{_figure(value, sized=True)}{'' if alone else f' ({name})'}"
    least, most = ([each for each in ranked if _equal(each[1], end)] for end in (ranked[0][1], ranked[-1][1]))
    if len(least) == len(ranked):
        return f"{_figure(least[0][1], among=[value for _, value in least])} in all {len(ranked):,} rows"
    return f"from {_with_rows(least)} to {_with_rows(most)}"


def _with_rows(equal: Sequence[tuple[str, Value]]) -> str:
    """A figure with the rows that have it, by name if they are few."""
    said = _figure(equal[0][1], among=[value for _, value in equal])
    names = ", ".join(name for name, _ in equal) if len(equal) <= _NAMED else f"{len(equal):,} rows"
    return f"{said} ({names})"


def _figure(value: Value, among: Sequence[Value] = (), *, sized: bool = False) -> str:
    """The figure with its interval, where that is the same for all rows that have the figure."""
    estimate = estimate_of(value)
    if estimate is None:
        return "–"
    intervals = {
        worded(found, form_of(value)).interval for each in among if (found := estimate_of(each)) is not None
    }
    main, interval, size = worded(estimate, form_of(value))
    shown = interval if len(intervals) <= 1 else ""
    return " ".join(part for part in (main, shown, size if sized else "") if part)


def _value(value: Value) -> float:
    estimate = estimate_of(value)
    return 0.0 if estimate is None else estimate.value


def _equal(one: Value, other: Value) -> bool:
    scale = 1.0 if not isinstance(one, Mean) else max(1.0, abs(_value(one)))
    return isclose(_value(one), _value(other), rel_tol=EQUAL, abs_tol=EQUAL * scale)
