"""Tables as Markdown, JSON and CSV: whatever a name holds, it stays one cell, and no spreadsheet computes it."""

import csv
import io
import json
from math import inf, isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from affidavit.models.model import Failure, Reason
from affidavit.plain_text import plain
from affidavit.results.table import Table
from affidavit.results.text_forms import Report, as_csv, as_csv_files, as_json, as_markdown, safe
from affidavit.results.values import Chance, Mean
from affidavit.results.words import in_cell
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson
from support.command import affidavit
from support.studies import fine
from support.written_study import here, questions, reported, tables, written

FORMULA = ("=", "+", "-", "@", "|", "%")
BLANKS = (" ", "\t", "\r", "\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\ufeff", "\x00", "\x0b")
names = st.builds(
    lambda before, sign, rest: f"{before}{sign}{rest}",
    st.lists(st.sampled_from(BLANKS), max_size=3).map("".join),
    st.sampled_from((*FORMULA, "'", '"', "", "1", "＝", "；")),
    st.one_of(
        st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
        st.sampled_from(
            [
                "cmd|' /C calc'!A1",
                "1+1",
                'HYPERLINK("x")',
                ',"',
                "a\rb",
                "a\nb",
                "|`x`[y](z)",
                "\x1b[31m",
                "<b>&lt;",
                "\\",
            ]
        ),
    ),
)
estimates = st.one_of(
    st.builds(lambda n, right: wilson(min(right, n), n), st.integers(1, 900), st.integers(0, 900)),
    st.just(Estimate(0.5, -inf, inf, 3, "one cluster: no interval")),
)
values = st.one_of(
    names, estimates, estimates.map(Mean), st.floats(-1, 1).map(Chance), st.floats(-5, 5), st.integers(), st.none()
)


@st.composite
def reports(draw) -> Report:
    """A report whose every name and text is a hostile one."""
    width = draw(st.integers(1, 4))
    columns = (*(f"c{n}" for n in range(width - 1)), draw(names))
    rows = draw(st.lists(st.tuples(*[values] * width), min_size=1, max_size=4))
    table = Table(draw(names), draw(names), columns, tuple(rows), draw(names), (draw(names),))
    return Report(draw(names), {"seed": draw(names)}, [table], [draw(names)])


SOME = settings(max_examples=settings.default.max_examples // 4)


def shown(value: object) -> list[object]:
    """What the last six cells of a CSV row stand for."""
    value = value.estimate if isinstance(value, Mean) else value
    if isinstance(value, Estimate):
        ends = [end if isfinite(end) else None for end in (value.low, value.high)]
        clusters = value.n if value.clusters is None else value.clusters  # as JSON has it
        return [value.value, *ends, value.n, clusters, value.method]
    return [value.value if isinstance(value, Chance) else value, None, None, None, None, None]


def computed(cell: str) -> bool:
    """Whether a spreadsheet might take a cell for a formula."""
    visible = [each for each in cell if each.isprintable() and not each.isspace()]
    return cell[:1] in ("\t", "\r", "\n") or (bool(visible) and visible[0] in FORMULA)


def spelt_out(text: str) -> str:
    """All that cannot be seen in its numbers; line breaks are seen."""
    return "".join(each if each == "\n" or each.isprintable() else f"\\u{ord(each):04x}" for each in text)


@pytest.mark.parametrize("each", [*map(chr, range(32)), *map(chr, range(127, 160)), *"\u202e\u2066\u200f\ufeff"])
def test_nothing_unseen_is_in_a_cell_of_csv(each):
    """Neither a terminal nor an editor is commanded by what a model or a file said."""
    made = Table(f"t{each}", f"q{each}", (f"c{each}",), ((f"a{each}b",),), f"f{each}", (f"n{each}",))
    report = Report("r", {}, [made])
    for text in (as_csv(report), *as_csv_files(report).values()):
        assert all(character.isprintable() or character == "\n" for character in text)
    (_, row) = csv.reader(io.StringIO(as_csv(report), newline=""), strict=True)
    assert row[3] == (f"a{each}b" if each == "\n" else f"a\\u{ord(each):04x}b")


@pytest.mark.slow
@SOME
@given(reports())
def test_no_cell_of_csv_is_a_formula_and_numbers_stay_numbers(report):
    found = list(csv.reader(io.StringIO(as_csv(report), newline=""), strict=True))
    assert found[0] == ["table", "row", "column", "value", "low", "high", "n", "clusters", "method"]
    (table,) = report.tables
    expected = [(n, c, v) for n, row in enumerate(table.rows, 1) for c, v in zip(table.columns, row, strict=True)]
    assert len(found) == 1 + len(expected)
    for cells, (number, column, value) in zip(found[1:], expected, strict=True):
        assert cells[1] == str(number)
        for cell, original in zip(
            (cells[0], cells[2], *cells[3:]), (table.name, column, *shown(value)), strict=True
        ):
            if original is None:
                assert not cell
            elif isinstance(original, str):
                assert not computed(cell)
                spelt = spelt_out(original)
                assert cell in (spelt, f"'{spelt}")
            else:
                assert type(original)(cell) == original, "a number is a number, also a negative one"


@pytest.mark.parametrize("text", ["plain", "a=b", "1-2", "", "x =1", "é", "'quoted", "a-b@c"])
def test_harmless_texts_are_as_they_are(text):
    assert safe(text) == text


MARKDOWN = MarkdownIt("commonmark").enable("table")


def cells_of(page: str) -> list[list[str]]:
    """The cells of the one table of a page as a reader sees them; nothing in them may be more than text."""
    tokens, rows = MARKDOWN.parse(page), []
    assert sum(token.type == "table_open" for token in tokens) == 1
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            parts = tokens[place + 1].children
            assert {part.type for part in parts} <= {"text"}
            rows[-1].append("".join(part.content for part in parts))
    return rows


@SOME
@given(reports())
def test_every_name_stays_one_cell_of_one_row_in_markdown(report):
    page, (table,) = as_markdown(report), report.tables
    assert all(each.isprintable() or each == "\n" for each in page)
    texts = [list(table.columns), *([in_cell(value) for value in row] for row in table.rows)]
    assert cells_of(page) == [[plain(text).strip() for text in row] for row in texts]
    headings = [token.tag for token in MARKDOWN.parse(page) if token.type == "heading_open"]
    assert headings == ["h1", "h2"]
    kinds = {part.type for token in MARKDOWN.parse(page) if token.children for part in token.children}
    assert kinds <= {"text", "softbreak"}, "no link, no image, no HTML, no code"


@SOME
@given(reports())
def test_json_holds_every_value_as_it_is(report):
    content = json.loads(json.dumps(as_json(report), allow_nan=False))
    (table,) = report.tables
    (told_table,) = content["tables"].values()
    for row, values_of in zip(told_table["rows"], table.rows, strict=True):
        for column, value in zip(table.columns, values_of, strict=True):
            if table.columns.count(column) > 1:
                continue
            found, expected = row[column], shown(value)
            if isinstance(found, dict):
                assert [found[name] for name in ("value", "low", "high", "n")] == expected[:4]
                assert found["method"] == expected[5]
            else:
                assert found == expected[0]


# --- by the commands ---

HOSTILE = [
    "=1+1",
    "+x",
    " -2",
    "@SUM(A1)",
    "\tx",
    "\r=y",
    "a|b`c`[d](e)<i>&amp;",
    "line\nbreak",
    "\x1b[31mred",
    "%0|",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A study whose models, conditions, tasks and items are named like that."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [{**questions(1)[0], "id": name, "metadata": {"kind": name}} for name in HOSTILE]
    conditions = {HOSTILE[0]: {}, HOSTILE[6]: {"preamble": "!", "control": HOSTILE[0]}}
    study = tables(models=[HOSTILE[1], HOSTILE[8]], conditions=conditions)
    study["tasks"] = {HOSTILE[7]: {"contract": "mcqa", "items": "quiz.jsonl"}}

    def answer(question):
        kind = HOSTILE.index(question.item.id)
        return [Failure(Reason.TIMEOUT), "x <answer>B</answer>", "<answer>A</answer>"][min(kind, 2)]

    return written(folder, study, {"quiz": rows}, answer)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["task,model,condition", "metadata.kind"])
def test_the_report_of_a_study_of_hostile_names(hostile, by):
    command = affidavit if by == "metadata.kind" else here
    as_said = {name: command("report", hostile, "--by", by, "--format", name) for name in ("csv", "json", "md")}
    assert all(fine(done, 0) for done in as_said.values())
    found = list(csv.reader(io.StringIO(as_said["csv"].stdout.decode(), newline=""), strict=True))
    assert {len(cells) for cells in found} == {9}
    rows = {(c[0], c[1], c[2]): c[3] for c in found[1:]}
    for name, table in reported(as_said["json"]).items():
        for number, row in enumerate(table["rows"], 1):
            for column, value in row.items():
                cell = rows[name, str(number), column]
                if isinstance(value, str):
                    assert not computed(cell)
                    assert cell == safe(value)
                elif value is not None:
                    number_of = value["value"] if isinstance(value, dict) else value
                    assert float(cell) == number_of
    page = as_said["md"].stdout.decode()
    assert all(each.isprintable() or each == "\n" for each in page)
    widths = [len(line.replace("\\|", "").split("|")) for line in page.splitlines() if line.startswith("|")]
    tokens = MARKDOWN.parse(page)
    assert sum(token.type == "table_open" for token in tokens) == len(reported(as_said["json"]))
    assert len(widths) > 10
    assert {part.type for token in tokens for part in token.children or ()} <= {"text", "softbreak"}
