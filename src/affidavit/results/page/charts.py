"""Tables → charts. Every chart shows what a table beside it says, and says what it leaves out.

Colours are those of Okabe and Ito, which people with any colour vision can distinguish; nothing is said by colour
alone. Blue is compliant, dark blue compliant and right; orange is non-compliant.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite

from affidavit.contracts.rubric import TOTAL
from affidavit.results.judge_scores import MAPPED
from affidavit.results.page.bars import Part, ranked_bars, stacked_bars
from affidavit.results.page.chart_rows import Label
from affidavit.results.page.heat_map import heat_map
from affidavit.results.page.multiples import Multiple, small_multiples
from affidavit.results.page.plots import Difference, Dot, Panel, ends, forest_plot, scatter_plot
from affidavit.results.page.row_names import labels, naming, short_labels, telling
from affidavit.results.page.svg import NARROW, SHAPES, WIDE, Drawing
from affidavit.results.page.text import brief
from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points, Value
from affidavit.results.words import label_of
from affidavit.statistics.estimate import Estimate, signed
from affidavit.statistics.power import LEVEL

COLOURS = ("blue", "vermillion", "green", "purple", "orange", "sky", "ink")
MOST_ROWS, MOST_POINTS, MOST_PANELS, MOST_MULTIPLES = 30, 24, 6, 24
FEWEST_POINTS = 2
"""Of a scatter plot: a single point says no more than its row of the table."""
_LONGEST, _LONGEST_FULL = 40, 400
"""Characters of a label, and of the full name behind it."""


@dataclass(frozen=True)
class Chart:
    """A drawing, for a window and for a telephone, and what it leaves out."""

    name: str
    title: str
    svg: str
    note: str = ""


def _chart(name: str, title: str, description: str, draw: Callable[[Drawing], None], note: str = "") -> Chart:
    drawings = Drawing(name, WIDE), Drawing(f"{name}-narrow", NARROW)
    for drawing in drawings:
        draw(drawing)
    return Chart(name, title, "\n".join(drawing.element(title, description) for drawing in drawings), note)


def _left_out(shown: int, all_of: int, what: str = "rows") -> str:
    return "" if shown >= all_of else f"The first {shown:,} of {all_of:,} {what} are shown."


def _share(value: float) -> str:
    return f"{value:.1%}"


def _named(names: Sequence[Sequence[Value]], lone: int, *, always: bool = False) -> list[Label]:
    """Labels that there is room for, with nothing in them that cannot be seen."""
    short, full = short_labels(names, lone, _LONGEST, always=always), labels(names, lone, always=always)
    return [_label(*both) for both in zip(short, full, strict=True)]


def _label(short: str, full: str) -> Label:
    return Label(brief(short, _LONGEST), brief(full, _LONGEST_FULL))


def with_rest(drawn: list[Chart], all_of: int, what: str) -> list[Chart]:
    """The charts, the last of which says how many more there could be."""
    if len(drawn) < all_of:
        note = f"{len(drawn)} of {all_of:,} {what} are shown."
        drawn[-1] = replace(drawn[-1], note=f"{drawn[-1].note} {note}".strip())
    return drawn


# --- the scatter plot ---


def scatter(
    what: str, names: Sequence[Sequence[Value]], lone: int, points: Sequence[tuple[Value, Value]], name: str
) -> Chart:
    """Compliance across, accuracy over compliant up, each with its interval; every point is named."""
    known = [
        (label, model, across, up)
        for label, model, (across, up) in zip(_named(names, lone), _models(names), points, strict=True)
        if isinstance(across, Estimate) and isinstance(up, Estimate)
    ]
    drawn = known[:MOST_POINTS]
    marks = _marks(model for _, model, _, _ in drawn)
    dots = [Dot(label, across, up, *marks[model], _told(label, across, up)) for label, model, across, up in drawn]
    note = _left_out(len(drawn), len(known), "points")
    if len(known) < len(points):
        missing = f"{len(points) - len(known):,} of {len(points):,} groups"
        note += f" Not drawn: {missing}, without a compliant output whose right answer is known."
    if bare := sum(not (isfinite(dot.across.low) and isfinite(dot.up.low)) for dot in dots):
        note += f" {bare:,} without an interval in one or both directions: from a single item."
    title = brief(f"{what}: compliance and accuracy" if what else "Compliance and accuracy", 120)

    def draw(drawing: Drawing) -> None:
        scatter_plot(drawing, dots, "compliance", label_of("accuracy over compliant"))

    return _chart(name, title, brief("; ".join(dot.told for dot in dots), 4000), draw, note.strip())


def _told(label: Label, across: Estimate, up: Estimate) -> str:
    return f"{label.short}: compliance {_share(across.value)}, accuracy {_share(up.value)}"


def _models(names: Sequence[Sequence[Value]]) -> list[str]:
    """What the colour stands for: the first name that tells rows apart, most often the model."""
    places = telling(names)
    return [str(row[places[0]]) if places else "" for row in names]


def _marks(models: Iterable[str]) -> dict[str, tuple[str, str]]:
    """A colour and a shape for each model."""
    distinct = dict.fromkeys(models)
    return {model: (COLOURS[at % len(COLOURS)], SHAPES[at % len(SHAPES)]) for at, model in enumerate(distinct)}


# --- bars ---


def stacked(name: str, title: str, rows: Sequence[Label], parts: Sequence[Part], unit: str) -> Chart:
    """A bar for each row, its parts one after the other with their counts; the names of the parts stand above."""
    shown = rows[:MOST_ROWS]
    used = [part for part in parts if any(part.counts)]
    description = "; ".join(
        f"{row.short}: " + ", ".join(f"{part.counts[at]:,} {part.name}" for part in used)
        for at, row in enumerate(shown)
    )

    def draw(drawing: Drawing) -> None:
        stacked_bars(drawing, shown, used)

    told = brief(f"Number of {unit}. {description}", 6000)
    return _chart(name, title, told, draw, _left_out(len(shown), len(rows)))


def outcomes(compliance: Table, accuracy: Table | None, by: Sequence[str]) -> Chart:
    """The outcome of everything that was planned."""
    names = [row[: len(by)] for row in compliance.rows]
    right, compared = [0] * len(names), [0] * len(names)
    if accuracy is not None:
        right, compared = accuracy.counts("right"), accuracy.counts("compared")
    compliant, others = compliance.counts("compliant"), compliance.counts("non-compliant")
    # Where every answer counts, some of the right and wrong ones are not compliant (ruling G12).
    unknown = [max(0, n - c) for n, c in zip(compliant, compared, strict=True)]
    rest = [n + o - c - u for n, o, c, u in zip(compliant, others, compared, unknown, strict=True)]
    whose = "compliant" if rest == others else "answer"
    parts = [
        Part(f"{whose}, right", "blue", right),
        Part(f"{whose}, wrong", "sky", [n - r for n, r in zip(compared, right, strict=True)]),
        Part("compliant" if not any(compared) else "compliant, right answer unknown", "green", unknown),
        Part("non-compliant" if rest == others else "no answer", "orange", rest),
        Part("unread", "purple", compliance.counts("unread")),
        Part("failed", "vermillion", compliance.counts("failed")),
        Part("pending", "grey", compliance.counts("pending")),
    ]  # fmt: skip
    return stacked("outcomes", "Outcome of every planned question", _named(names, naming(by)), parts, "questions")


def deviations(totals: Mapping[str, int]) -> Chart:
    """Why outputs are not compliant, the most frequent reason first."""
    ranked = sorted(totals.items(), key=lambda each: (-each[1], each[0]))
    shown, all_of = ranked[:MOST_ROWS], sum(totals.values())
    counts = list(zip(_named([(name,) for name, _ in ranked], 0), [count for _, count in shown], strict=False))

    def draw(drawing: Drawing) -> None:
        ranked_bars(drawing, counts, all_of, "orange")

    description = brief("; ".join(f"{name}: {count:,}" for name, count in shown), 4000)
    title = f"Reasons why {all_of:,} outputs are not compliant"
    return _chart("deviations", title, description, draw, _left_out(len(shown), len(ranked), "kinds"))


_QUOTES = {"exact": "blue", "normalised": "sky", "elided": "green", "absent": "vermillion", "absence": "grey"}


def quoted(table: Table) -> int:
    """Quotes of all judges, located or not."""
    return sum(sum(table.counts(kind)) for kind in _QUOTES)


def quotes(table: Table) -> Chart:
    """How the quotes of each judge were located."""
    words = {"absent": "absent: not in the judged text", "absence": "absence: states that something is missing"}
    parts = [Part(words.get(kind, kind), colour, table.counts(kind)) for kind, colour in _QUOTES.items()]
    rows = _named([row[:3] for row in table.rows], 0, always=True)
    return stacked("quotes", "How the judges' quotes were located", rows, parts, "quotes")


# --- differences ---


def differences(tables: Mapping[str, Table], measures: Sequence[str]) -> Chart | None:
    """Differences against the control by measure, with their intervals; `tables` by what is compared."""
    rows = _by_measure(tables)
    if not rows:
        return None
    shown = list(rows)[:MOST_ROWS]
    names = _named(list(rows), 1)[:MOST_ROWS]
    every = [d for each in rows.values() for d, _ in each.values()]
    most = _scale(every)
    panels = [Panel(label_of(measure), [rows[row].get(measure) for row in shown]) for measure in measures]
    description = "; ".join(
        f"{name.short}, {label_of(measure)}: {signed(found[0].value * 100)} points"
        for name, row in zip(names, shown, strict=True)
        for measure, found in rows[row].items()
    )

    def draw(drawing: Drawing) -> None:
        forest_plot(drawing, names, panels, most)

    title = "Differences from the control, paired by item"
    return _chart("differences", title, brief(description, 6000), draw, _left_out(len(shown), len(rows)))


def _by_measure(tables: Mapping[str, Table]) -> dict[tuple[str, ...], dict[str, Difference]]:
    """The differences of every measure, by the names of the cell and what is compared."""
    rows: dict[tuple[str, ...], dict[str, Difference]] = {}
    for what, table in tables.items():
        place = table.columns.index("measure")
        for row, difference, words in zip(
            table.rows, table.column("difference"), table.column("in words"), strict=True
        ):
            if isinstance(difference, Points):
                claimed = words in ("higher", "lower")
                rows.setdefault((*map(str, row[:place]), what), {})[str(row[place])] = difference.estimate, claimed
    return rows


def letters(table: Table, by: Sequence[str]) -> Chart | None:
    """How much more often each letter is chosen than the right answer stands there: a panel for each group."""
    rows = list(dict.fromkeys(map(str, table.column("letter"))))
    groups: dict[tuple[str, ...], dict[str, Difference]] = {}
    columns = (table.column(name) for name in ("letter", "against the key", "p (Holm)"))
    for row, letter, ahead, p in zip(table.rows, *columns, strict=True):
        if isinstance(ahead, Points):
            sure = isinstance(p, Chance) and p.value < LEVEL
            groups.setdefault(tuple(map(str, row[: len(by)])), {})[str(letter)] = ahead.estimate, sure
    if not groups:
        return None
    names = _named(list(groups), naming(by))
    panels = [
        Multiple(name, [found.get(letter) for letter in rows])
        for name, found in zip(names, groups.values(), strict=True)
    ]
    shown = panels[:MOST_MULTIPLES]
    every = [d for panel in shown for found in panel.differences if found is not None for d in found[:1]]
    description = "; ".join(
        f"{name.short}: "
        + ", ".join(f"{brief(letter, 4)} {signed(d.value * 100)}" for letter, (d, _) in found.items())
        for name, found in zip(names[:MOST_MULTIPLES], groups.values(), strict=False)
    )

    def draw(drawing: Drawing) -> None:
        small_multiples(drawing, [brief(letter, 4) for letter in rows], shown, _scale(every))

    title = "How much more often a letter is chosen than the right answer stands there, in percentage points"
    note = "Filled: distinguishable from zero, by Holm over the table. Hollow: not distinguishable at this n."
    rest = _left_out(len(shown), len(panels), "groups")
    return _chart("letters", title, brief(description, 6000), draw, f"{note} {rest}".strip())


def _scale(differences: Sequence[Estimate]) -> float:
    """The end of a scale that all differences and their intervals are on, in steps of a tenth."""
    return min(1.0, max(0.1, ceil(10 * max(abs(d.value) + max(ends(d)) for d in differences)) / 10))


# --- scores ---


def scores(table: Table) -> list[Chart]:
    """A heat map of mean scores for each judge: groups of outputs down, dimensions across, all of one scale."""
    place, mean = table.columns.index("dimension"), table.columns.index("mean")
    by_judge: dict[tuple[str, ...], list[_Score]] = {}
    for row in table.rows:
        if row[place] not in (TOTAL, MAPPED):
            found = (row[3:place], str(row[place]), row[mean])
            by_judge.setdefault(tuple(map(str, row[:3])), []).append(found)
    named = dict(zip(by_judge, _named(list(by_judge), 0, always=True), strict=True))
    groups = list(dict.fromkeys(group for rows in by_judge.values() for group, _, _ in rows))
    names = _named(groups, 0) if place > 3 else [_label("all outputs", "all outputs")] * len(groups)
    whose = dict(zip(groups, names, strict=True))
    given = [each.estimate.value for rows in by_judge.values() for _, _, each in rows if isinstance(each, Mean)]
    most = max(given, default=0.0) or 1.0
    drawn = [
        _heat(f"scores-{number}", named[judge].short, rows, whose, most)
        for number, (judge, rows) in enumerate(list(by_judge.items())[:MOST_PANELS], 1)
    ]
    return with_rest(drawn, len(by_judge), "judges")


_Score = tuple[tuple[Value, ...], str, Value]
"""A group of outputs, a dimension, and the mean score."""


def _heat(
    name: str, judge: str, rows: Sequence[_Score], whose: Mapping[tuple[Value, ...], Label], most: float
) -> Chart:
    means = {(group, dimension): each.estimate for group, dimension, each in rows if isinstance(each, Mean)}
    down = list(dict.fromkeys(group for group, _, _ in rows))
    across = list(dict.fromkeys(dimension for _, dimension, _ in rows))
    shown = down[:MOST_ROWS]
    description = "; ".join(
        f"{', '.join([*map(str, group), dimension])}: {mean.value:.2f}"
        for (group, dimension), mean in means.items()
    )

    def draw(drawing: Drawing) -> None:
        heads = [brief(dimension.replace("_", " ").lower(), _LONGEST) for dimension in across]
        cells = [[means.get((group, dimension)) for dimension in across] for group in shown]
        heat_map(drawing, [whose[group] for group in shown], heads, cells, most)

    title = brief(f"Mean scores given by {judge}", 120)
    return _chart(name, title, brief(description, 6000), draw, _left_out(len(shown), len(down)))
