"""Tables in a terminal: at any width all there is to read, no line too long, nothing cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from affidavit.plain_text import plain
from affidavit.results.columns import GAP, ColumnWidth, column_parts, fitted
from affidavit.results.table import Table
from affidavit.results.terminal import shown, shown_report
from affidavit.results.text_forms import Report
from affidavit.results.values import Points
from affidavit.results.words import label_of
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson

WIDTHS = (60, 80, 120)


def at_width(table: Table, width: int) -> list[str]:
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(shown(table))
    return captured.get().split("\n")


def squeezed(text: str) -> str:
    return "".join(text.split())


def all_there(table: Table, lines: list[str], width: int) -> None:
    """No line is too long or cut, and every figure is there as often as it is in the table."""
    assert all(cell_len(line) <= width for line in lines)
    assert not any("…" in line for line in lines)


ESTIMATE = Estimate(0.512, 0.401, 0.622, 12_345, "", 4_115)
LONG = Table(
    "long",
    "How many answers changed?",
    ("task", "model", "condition", "flipped", "share of decidable", "yield", "difference", "p", "in words"),
    tuple(
        ("multiple-choice-of-capitals", f"meta-llama/Llama-3.1-{n}B-Instruct-Q4_K_M", "authority-harm-with-examples",
         1000 + n, ESTIMATE, wilson(n, 99), Points(ESTIMATE), 0.05, "not distinguishable at this n; more is needed")
        for n in (11, 22, 33)
    ),
    "3 rows = 3 rows",
    ("a note that says in many words what else there is to be known about these figures, and then some more",),
)  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_are_never_cut(width):
    lines = at_width(LONG, width)
    all_there(LONG, lines, width)
    text = squeezed("".join(lines))
    for row in LONG.rows:
        assert squeezed(str(row[1])) in text
    for name in LONG.columns:
        assert all(word in " ".join(lines) for word in label_of(name).split())
    assert squeezed(LONG.notes[0]) in text


@pytest.mark.parametrize("width", WIDTHS)
def test_short_tables_stand_in_one_part(width):
    table = Table("t", "Q?", ("model", "count", "share"), (("m", 1, wilson(1, 2)), ("n", 12, None)), "foot")
    assert [line.rstrip() for line in at_width(table, width)][:7] == [
        "Q?", "", "  model  count  share", "  m          1  50.0% [9.5, 90.5] n=2", "  n         12  –", "", "  foot",
    ]  # fmt: skip


def test_what_is_the_same_in_all_rows_is_said_once_where_room_is_short():
    rows = tuple(("quiz", f"model-{n}", *[wilson(n, 9)] * 4) for n in range(3))
    table = Table("t", "Q?", ("task", "model", "a", "b", "c", "d"), rows, "")
    lines = [line.rstrip() for line in at_width(table, 60)]
    assert lines[2:4] == ["  task: quiz", ""]
    assert sum(line.startswith("  model-1 ") for line in lines) == 2, "in parts, each with its names"
    assert "  task  model" in at_width(table, 200)[2]


def test_rows_are_stacked_where_parts_do_not_help():
    rows = tuple((f"{'x' * 50}{n}", f"{'y' * 50}{n}", n) for n in range(2))
    lines = [line.rstrip() for line in at_width(Table("t", "Q?", ("one", "two", "count"), rows, ""), 60)]
    assert lines[2:6] == [f"  one:   {'x' * 50}0", f"  two:   {'y' * 50}0", "  count: 0", ""]


cells = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.integers(0, 10**9),
    st.builds(wilson, st.integers(0, 9), st.just(9)),
    st.none(),
)


@st.composite
def tables(draw) -> Table:
    width = draw(st.integers(1, 9))
    columns = tuple(f"column number {n}" for n in range(width))
    rows = draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=4))
    return Table("t", "Q?", columns, tuple(rows), "")


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 4)
@given(tables(), st.integers(40, 130))
def test_nothing_is_lost_at_any_width(table, width):
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(shown(table))
    text = captured.get()
    assert all(cell_len(line) <= width for line in text.split("\n"))
    letters = set(squeezed(text))
    for row in table.rows:
        for cell in table.in_cells(row):
            assert set(squeezed(plain(cell))) <= letters


columns_drawn = st.lists(
    st.builds(
        lambda least, more, names: ColumnWidth(least + more, least, names=names),
        st.integers(1, 30), st.integers(0, 30), st.booleans(),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@given(columns_drawn, st.integers(20, 130))
def test_parts_hold_every_column_and_fit(columns, width):
    parts = column_parts(columns, width)
    if parts is None:
        return
    assert {at for part in parts for at in part} == set(range(len(columns)))
    for part in parts:
        widths = fitted([columns[at] for at in part], width)
        assert sum(widths) + GAP * (len(part) - 1) <= width
        assert all(columns[at].least <= wide <= columns[at].full for at, wide in zip(part, widths, strict=True))


def test_a_report_has_its_title_its_tables_and_its_notes():
    console = Console(width=80, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(shown_report(Report("the \x1btitle", {}, [LONG], ["a note"])))
    lines = captured.get().split("\n")
    assert lines[0].strip() == "the \\u001btitle"
    assert lines[-2].strip() == "a note"
