"""Tables → charts. Every chart shows what a table beside it says, and says what it leaves out.

Colours are those of Okabe and Ito, which people with any colour vision can distinguish; nothing is said by colour
alone. Blue is compliant, dark blue compliant and right; orange is non-compliant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

import matplotlib as mpl
from matplotlib.patches import Rectangle

from affidavit.results.comparison import is_distinguishable
from affidavit.results.page.row_names import naming, short_labels, telling
from affidavit.results.page.svg import INK, as_svg, drawing, plot, sheet
from affidavit.results.page.text import brief
from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points, Value
from affidavit.results.words import label_of
from affidavit.statistics.estimate import Estimate, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORANGE, SKY, GREEN, BLUE = "#e69f00", "#56b4e9", "#009e73", "#0072b2"
VERMILLION, PURPLE, GREY = "#d55e00", "#cc79a7", "#9a9a9a"
DARK, LIGHT = "#010101", "#ffffff"
"""Of words on a colour, whatever the page's own; the library says nothing of plain black."""
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK)
SHAPES = "os^Dv<>pPX"
WIDTH = 720
MOST_ROWS, MOST_POINTS, MOST_PANELS = 30, 24, 6
_LONGEST, _ROW = 40, 26
"""Characters of a label; pixels of a row."""


@dataclass(frozen=True)
class Chart:
    """A drawing, and what it leaves out."""

    name: str
    title: str
    svg: str
    note: str = ""


def ends(value: Estimate) -> tuple[float, float]:
    """Below and above the value, as far as its interval is known."""
    low, high = value.value - value.low, value.high - value.value
    return (max(0.0, low) if isfinite(low) else 0.0), (max(0.0, high) if isfinite(high) else 0.0)


def _left_out(shown: int, all_of: int, what: str = "rows") -> str:
    return "" if shown >= all_of else f"The first {shown:,} of {all_of:,} {what} are shown."


def _share(value: float) -> str:
    return f"{value:.1%}"


def _named(names: Sequence[Sequence[Value]], lone: int, *, always: bool = False) -> list[str]:
    """Labels that there is room for, with nothing in them that cannot be seen."""
    return [brief(label, _LONGEST) for label in short_labels(names, lone, _LONGEST, always=always)]


def _width(text: str) -> float:
    """Pixels that a text takes at most, in whatever font the page has."""
    wide, broad, usual = 13.0, 9.2, 7.0
    return sum(
        wide if east_asian_width(each) in "FW" else broad if each.isupper() or each in "mw%…" else usual
        for each in text
    )


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
    """Compliance across, accuracy over compliant up, each with its interval; every point is named beside it."""
    known = [
        (label, model, across, up)
        for label, model, (across, up) in zip(_named(names, lone), _models(names), points, strict=True)
        if isinstance(across, Estimate) and isinstance(up, Estimate)
    ]
    drawn = known[:MOST_POINTS]
    side, left, below = 340, 58, 56
    height = max(below + side + 24, below + 40 + 17 * len(drawn))
    with drawing():
        figure, over = sheet(WIDTH, height)
        axes = plot(figure, left, height - side - 24, side, side)
        _shares_axes(axes)
        marks = _by_model([model for _, model, _, _ in drawn])
        for model, (colour, shape) in marks.items():
            _points(axes, [(p[2], p[3]) for p in drawn if p[1] == model], colour, shape)
        at = [(left + p[2].value * side, height - side - 24 + p[3].value * side) for p in drawn]
        _named_beside(over, left + side + 34, at, [(p[0], *marks[p[1]]) for p in drawn])
        title = f"{what}: compliance and accuracy" if what else "Compliance and accuracy"
        description = "; ".join(
            f"{p[0]}: compliance {_share(p[2].value)}, accuracy {_share(p[3].value)}" for p in drawn
        )
        svg = as_svg(figure, name, brief(title, 120), brief(description, 4000))
    note = _left_out(len(drawn), len(known), "points")
    if len(known) < len(points):
        missing = f"{len(points) - len(known):,} of {len(points):,} groups"
        note += f" Not drawn: {missing}, without a compliant output whose right answer is known."
    if bare := sum(not (isfinite(p[2].low) and isfinite(p[3].low)) for p in drawn):
        note += f" {bare:,} without an interval in one or both directions: from a single item."
    return Chart(name, brief(title, 120), svg, note.strip())


def _points(axes: "Axes", points: Sequence[tuple[Estimate, Estimate]], colour: str, shape: str) -> None:
    across, up = ([point[way] for point in points] for way in (0, 1))
    axes.errorbar(
        [each.value for each in across], [each.value for each in up],
        xerr=_error_bars(across), yerr=_error_bars(up), color=colour, marker=shape, linestyle="none", markersize=7,
        markeredgecolor=INK, markeredgewidth=0.6, elinewidth=1.3, clip_on=False,
    )  # fmt: skip


def _error_bars(values: Sequence[Estimate]) -> tuple[list[float], list[float]]:
    both = [ends(value) for value in values]
    return [low for low, _ in both], [high for _, high in both]


def _models(names: Sequence[Sequence[Value]]) -> list[str]:
    """What the colour stands for: the first name that tells rows apart, most often the model."""
    places = telling(names)
    return [str(row[places[0]]) if places else "" for row in names]


def _by_model(models: Iterable[str]) -> dict[str, tuple[str, str]]:
    distinct = dict.fromkeys(models)
    return {model: (CYCLE[at % len(CYCLE)], SHAPES[at % len(SHAPES)]) for at, model in enumerate(distinct)}


def _shares_axes(axes: "Axes") -> None:
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="compliance", ylabel="accuracy over compliant")
    axes.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axes.grid(visible=True)


def _named_beside(
    over: "Axes", left: float, at: Sequence[tuple[float, float]], names: Sequence[tuple[str, str, str]]
) -> None:
    """Names in a column, in the order of height, each with its colour and shape, and led to its point."""
    order = sorted(range(len(at)), key=lambda place: -at[place][1])
    top = over.get_ylim()[1] - 14
    heights: list[float] = []
    for place in order:
        heights.append(min(top if not heights else heights[-1] - 17, at[place][1]))
    if heights and heights[-1] < 12:
        heights = [height + 12 - heights[-1] for height in heights]
        for back in range(len(heights) - 2, -1, -1):
            heights[back] = min(top - 17 * back, max(heights[back + 1] + 17, at[order[back]][1]))
    for place, height in zip(order, heights, strict=True):
        (x, y), (label, colour, shape) = at[place], names[place]
        over.plot([x, left - 12, left - 3], [y, height, height], color=INK, linewidth=0.6, alpha=0.35)
        over.plot([left + 3], [height], marker=shape, markersize=6, color=colour)
        over.text(left + 12, height, label, va="center", fontsize=12)


# --- bars ---

Part = tuple[str, str, list[int]]
"""What a part of the bars is called, its colour, and its count in each bar."""


def stacked(name: str, title: str, rows: Sequence[str], parts: Sequence[Part], unit: str) -> Chart:
    """A bar for each row, its parts one after the other with their counts; the names of the parts stand above."""
    shown = rows[:MOST_ROWS]
    used = [part for part in parts if any(part[2])]
    totals = [sum(part[2][at] for part in used) for at in range(len(shown))]
    left = _label_width(shown)
    lines = _legend_lines([part[0] for part in used])
    top = 22 * len(lines) + 8
    height = top + _ROW * len(shown) + 8
    with drawing():
        figure, over = sheet(WIDTH, height)
        for line, entries in enumerate(lines):
            _legend(over, height - 14 - 22 * line, [(n, c) for n, c, _ in used if n in entries])
        for at, label in enumerate(shown):
            y = height - top - _ROW * (at + 0.5)
            over.text(left - 8, y, label, ha="right", va="center")
            _bar(over, left, y, WIDTH - left - 60, [(part[2][at], part[1]) for part in used])
            over.text(WIDTH - 54, y, f"{totals[at]:,}", va="center", fontsize=11, alpha=0.75)
        description = "; ".join(
            f"{row}: " + ", ".join(f"{p[2][at]:,} {p[0]}" for p in used) for at, row in enumerate(shown)
        )
        svg = as_svg(figure, name, title, brief(f"Number of {unit}. {description}", 6000))
    return Chart(name, title, svg, _left_out(len(shown), len(rows)))


def _label_width(rows: Sequence[str]) -> float:
    return min(330.0, 16 + max(map(_width, rows), default=0))


def _bar(over: "Axes", left: float, y: float, width: float, parts: Sequence[tuple[int, str]]) -> None:
    total, x = sum(count for count, _ in parts), left
    for count, colour in parts:
        long = width * count / total if total else 0
        if count:
            over.add_patch(Rectangle((x, y - 9), long, 18, facecolor=colour, edgecolor=INK, linewidth=0.5))
        if long > 8 + _width(f"{count:,}"):
            ink = LIGHT if colour == BLUE else DARK
            over.text(x + long / 2, y, f"{count:,}", ha="center", va="center", fontsize=11, color=ink)
        x += long


def _legend_lines(names: Sequence[str]) -> list[list[str]]:
    lines: list[list[str]] = [[]]
    room = WIDTH
    for name in names:
        long = 34 + _width(name)
        if lines[-1] and long > room:
            lines.append([])
            room = WIDTH
        lines[-1].append(name)
        room -= int(long)
    return lines


def _legend(over: "Axes", y: float, entries: Sequence[tuple[str, str]]) -> None:
    x = 2.0
    for name, colour in entries:
        over.add_patch(Rectangle((x, y - 6), 12, 12, facecolor=colour, edgecolor=INK, linewidth=0.5))
        over.text(x + 18, y, name, va="center")
        x += 34 + _width(name)


def outcomes(compliance: Table, accuracy: Table | None, by: Sequence[str]) -> Chart:
    """The outcome of everything that was planned."""
    names = [row[: len(by)] for row in compliance.rows]
    right, compared = [0] * len(names), [0] * len(names)
    if accuracy is not None:
        right, compared = accuracy.counts("right"), accuracy.counts("compared")
    compliant = compliance.counts("compliant")
    parts: list[Part] = [
        ("compliant, right", BLUE, right),
        ("compliant, wrong", SKY, [n - r for n, r in zip(compared, right, strict=True)]),
        ("compliant" if not any(compared) else "compliant, right answer unknown", GREEN,
         [n - c for n, c in zip(compliant, compared, strict=True)]),
        ("non-compliant", ORANGE, compliance.counts("non-compliant")),
        ("unread", PURPLE, compliance.counts("unread")),
        ("failed", VERMILLION, compliance.counts("failed")),
        ("pending", GREY, compliance.counts("pending")),
    ]  # fmt: skip
    return stacked("outcomes", "Outcome of every planned question", _named(names, naming(by)), parts, "questions")


def deviations(totals: Mapping[str, int]) -> Chart:
    """Why outputs are not compliant, the most frequent reason first."""
    ranked = sorted(totals.items(), key=lambda each: (-each[1], each[0]))
    shown, most = ranked[:MOST_ROWS], max(totals.values())
    left = _label_width([brief(name, _LONGEST) for name, _ in shown])
    height, all_of = 8 + _ROW * len(shown), sum(totals.values())
    with drawing():
        figure, over = sheet(WIDTH, height)
        for at, (name, count) in enumerate(shown):
            y = height - 4 - _ROW * (at + 0.5)
            long = (WIDTH - left - 130) * count / most
            over.text(left - 8, y, brief(name, _LONGEST), ha="right", va="center")
            over.add_patch(Rectangle((left, y - 9), long, 18, facecolor=ORANGE, edgecolor=INK, linewidth=0.5))
            over.text(left + long + 8, y, f"{count:,} ({count / all_of:.0%})", va="center", fontsize=11)
        description = "; ".join(f"{name}: {count:,}" for name, count in shown)
        title = f"Reasons why {all_of:,} outputs are not compliant"
        svg = as_svg(figure, "deviations", title, brief(description, 4000))
    return Chart("deviations", title, svg, _left_out(len(shown), len(ranked), "kinds"))


_QUOTES = {"exact": BLUE, "normalised": SKY, "elided": GREEN, "absent": VERMILLION, "absence": GREY}


def quoted(table: Table) -> int:
    """Quotes of all judges, located or not."""
    return sum(sum(table.counts(kind)) for kind in _QUOTES)


def quotes(table: Table) -> Chart:
    """How the quotes of each judge were located."""
    words = {"absent": "absent: not in the judged text", "absence": "absence: states that something is missing"}
    parts = [(words.get(kind, kind), colour, table.counts(kind)) for kind, colour in _QUOTES.items()]
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
    left, height = _label_width(names), _TITLES + _ROW * len(shown) + _SCALE
    every = [d for each in rows.values() for d, _ in each.values()]
    most = min(1.0, max(0.1, ceil(10 * max(abs(d.value) + max(ends(d)) for d in every)) / 10))
    panel = (WIDTH - left - 12) / len(measures)
    with drawing():
        figure, over = sheet(WIDTH, height)
        for at, label in enumerate(names):
            over.text(left - 8, height - _TITLES - _ROW * (at + 0.5), label, ha="right", va="center")
        for column, measure in enumerate(measures):
            found = [rows[name].get(measure) for name in shown]
            _forest(figure, measure, (left + panel * column + 12, panel - 30, height), (most, found))
        description = "; ".join(
            f"{name}, {label_of(measure)}: {signed(found[0].value * 100)} points"
            for name, row in zip(names, shown, strict=True)
            for measure, found in rows[row].items()
        )
        title = "Differences from the control, paired by item"
        svg = as_svg(figure, "differences", title, brief(description, 6000))
    return Chart("differences", title, svg, _left_out(len(shown), len(rows)))


_TITLES, _SCALE = 46, 34
"""Pixels above and below the rows of differences: two lines of a title, the numbers of the scale."""
_Difference = tuple[Estimate, bool]
"""A difference, and whether it is distinguishable from zero."""


def _by_measure(tables: Mapping[str, Table]) -> dict[tuple[str, ...], dict[str, _Difference]]:
    """The differences of every measure, by the names of the cell and what is compared."""
    rows: dict[tuple[str, ...], dict[str, _Difference]] = {}
    for what, table in tables.items():
        place = table.columns.index("measure")
        chances = zip(table.rows, table.column("difference"), table.column("p, Holm"), strict=True)
        for row, difference, chance in chances:
            if isinstance(difference, Points) and isinstance(chance, Chance):
                difference_and_verdict = (
                    difference.estimate,
                    is_distinguishable(difference.estimate, chance.value),
                )
                rows.setdefault((*map(str, row[:place]), what), {})[str(row[place])] = difference_and_verdict
    return rows


def _forest(
    figure: "Figure",
    measure: str,
    place: tuple[float, float, int],
    points: tuple[float, Sequence[_Difference | None]],
) -> None:
    (left, width, height), (most, found) = place, points
    axes = plot(figure, left, _SCALE, width, height - _TITLES - _SCALE)
    axes.set(xlim=(-most, most), ylim=(len(found), 0), yticks=[])
    axes.set_title(label_of(measure).replace(" over ", "\nover "), fontsize=12, loc="left")
    axes.spines["left"].set_visible(False)
    ticks = (-most, 0, most)
    axes.set_xticks(ticks, [signed(tick * 100).partition(".")[0] for tick in ticks])
    axes.axvline(0, color=INK, linewidth=0.8, alpha=0.6)
    for sure in (True, False):
        rows = [(at, each[0]) for at, each in enumerate(found) if each is not None and each[1] is sure]
        if rows:
            values = [value for _, value in rows]
            axes.errorbar(
                [value.value for value in values], [at + 0.62 for at, _ in rows], xerr=_error_bars(values),
                marker="o", linestyle="none", markersize=6, color=BLUE, elinewidth=1.4,
                markerfacecolor=BLUE if sure else "none",
            )  # fmt: skip
        for at, value in rows:
            aligned = "left" if value.value <= 0 else "right"
            axes.text(value.value, at + 0.3, signed(value.value * 100), ha=aligned, va="center", fontsize=10)


# --- scores ---


def scores(table: Table) -> list[Chart]:
    """A heat map of mean scores for each judge: targets and variants down, dimensions across, all of one scale."""
    by_judge: dict[tuple[str, ...], list[tuple[Value, ...]]] = {}
    for row in table.rows:
        if row[5] != "overall_score":
            by_judge.setdefault(tuple(map(str, row[:3])), []).append(row)
    named = dict(zip(by_judge, _named(list(by_judge), 0, always=True), strict=True))
    pairs = list(dict.fromkeys((row[3], row[4]) for row in table.rows))
    whose = dict(zip(pairs, _named(pairs, 0), strict=True))
    given = [row[6].estimate.value for rows in by_judge.values() for row in rows if isinstance(row[6], Mean)]
    most = max(given, default=0.0) or 1.0
    drawn = [
        _heat(f"scores-{number}", named[judge], rows, whose, most)
        for number, (judge, rows) in enumerate(list(by_judge.items())[:MOST_PANELS], 1)
    ]
    return with_rest(drawn, len(by_judge), "judges")


def _heat(
    name: str, judge: str, rows: Sequence[tuple[Value, ...]], whose: Mapping[tuple[Value, Value], str], most: float
) -> Chart:
    means = {(row[3], row[4], row[5]): row[6].estimate for row in rows if isinstance(row[6], Mean)}
    down = list(dict.fromkeys((row[3], row[4]) for row in rows))
    across = list(dict.fromkeys(str(row[5]) for row in rows))
    shown, names = down[:MOST_ROWS], [whose[pair] for pair in down]
    left, top = _label_width(names), 40
    wide, height = min(130.0, (WIDTH - left) / max(1, len(across))), top + 30 * len(shown) + 6
    with drawing():
        figure, over = sheet(WIDTH, height)
        for column, dimension in enumerate(across):
            words = brief(dimension.replace("_", " ").lower(), 40).split(" ", 1)
            over.text(
                left + wide * (column + 0.5), height - 6, "\n".join(words), ha="center", va="top", fontsize=10.5
            )
        for at, (target, variant) in enumerate(shown):
            y = height - top - 30 * (at + 1)
            over.text(left - 8, y + 15, names[at], ha="right", va="center")
            for column, dimension in enumerate(across):
                mean = means.get((target, variant, dimension))
                _heat_cell(over, (left + wide * column, y, wide), mean, most)
        description = "; ".join(f"{t}, {v}, {d}: {mean.value:.2f}" for (t, v, d), mean in means.items())
        title = brief(f"Mean scores given by {judge}", 120)
        svg = as_svg(figure, name, title, brief(description, 6000))
    return Chart(name, title, svg, _left_out(len(shown), len(down)))


def _heat_cell(over: "Axes", place: tuple[float, float, float], mean: Estimate | None, most: float) -> None:
    left, y, wide = place
    if mean is None:
        over.add_patch(
            Rectangle((left, y), wide - 2, 28, facecolor="none", edgecolor=INK, linewidth=0.4, alpha=0.4)
        )
        return
    share = mean.value / most
    colour = mpl.colormaps["cividis"](share)
    over.add_patch(Rectangle((left, y), wide - 2, 28, facecolor=colour, edgecolor="none"))
    words = f"{mean.value:.2f}  n={mean.n:,}" if wide > 80 else f"{mean.value:.2f}"
    ink = DARK if share > 0.45 else LIGHT
    over.text(left + wide / 2, y + 14, words, ha="center", va="center", color=ink)
