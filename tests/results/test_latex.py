"""Tables as LaTeX: read back by a small tokenizer, every text is what it was, and nothing in it is a command."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.plain_text import plain
from affidavit.results.latex import MOST_ROWS, PAGE_CHARACTERS, LatexTable, in_latex, label_name, latex_table
from affidavit.results.table import Table
from affidavit.results.text_forms import Report, as_latex
from affidavit.results.values import Points
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson

PRINTED = {
    r"\textbackslash": "\\", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#", r"\%": "%", r"\_": "_",
    r"\textasciitilde": "~", r"\textasciicircum": "^", r"\textless": "<", r"\textgreater": ">", r"\textbar": "|",
    r"\textasciigrave": "`", r"\char34": '"', r"\ldots": "…", "$-$": "−", r"$\geq$": "≥", r"$\leq$": "≤",
    r"$\times$": "×", r"$\cdot$": "·", "{--}": "–", "{---}": "—", "{[}": "[", "{]}": "]", "{*}": "*",
}  # fmt: skip
"""What LaTeX prints for what we write."""
TOKEN = re.compile(
    r"\$[^$]*\$|\{---?\}|\{[\[\]*]\}|\\char34|\\[a-zA-Z]+|\\.|\{\}|(?P<special>[\\{}$&#%_~^<>|`\"\[\]*])|(?P<plain>.)",
    re.DOTALL,
)


def printed(latex: str) -> str:
    """The text that LaTeX would print; fails on whatever LaTeX would take for something else."""
    assert not re.search(r"--|''|,,", re.sub(r"\{---?\}", "", latex)), "set as one other sign"
    found = ""
    for token in TOKEN.finditer(latex):
        assert token["special"] is None, latex
        text = token[0]
        found += text if token["plain"] else "" if text == "{}" else PRINTED[text]
    return found


@pytest.mark.slow
@given(st.text(st.one_of(st.characters(), st.sampled_from(r"""\{}$&#%_~^<>|`"[]*-',−–—…≥""")), max_size=30))
def test_every_text_is_printed_as_it_is(text):
    assert printed(in_latex(text)) == plain(text)


@dataclass(frozen=True)
class Tabular:
    """One tabular as it was read back."""

    kinds: list[str]
    heads: list[str]
    rows: list[list[str]]


def read_back(latex: str) -> list[Tabular]:
    """The tabulars of a fragment; environments are closed as they were opened, and rules are where they belong."""
    opened: list[str] = []
    for which, name in re.findall(r"(?<!\\)\\(begin|end)\{(\w+)\}", latex):
        if which == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    shape = (
        r"\\begin\{tabular\}\{(.*)\}\n\\toprule\n(.*) \\\\\n\\midrule\n((?:.*\n)*?)\\bottomrule\n\\end\{tabular\}"
    )
    found = []
    for kinds, heads, body in re.findall(shape, latex):
        rows = [line.removesuffix(r" \\") for line in body.splitlines()]
        assert len(rows) == body.count("\\\\\n")
        cells = [[printed(cell) for cell in re.split(r"(?<!\\) & ", row)] for row in rows]
        kept = re.findall(r"[lr]|p\{[^}]*\}", kinds)
        assert {len(kept), len(re.split(r"(?<!\\) & ", heads))} == {len(row) for row in cells}
        words = [re.sub(r"^\\shortstack\[[lr]\]\{(.*)\}$", r"\1", head) for head in re.split(r"(?<!\\) & ", heads)]
        found.append(Tabular(kept, [printed(word.replace(r" \\ ", " ")) for word in words], cells))
    assert len(found) == latex.count(r"\begin{tabular}")
    return found


HOSTILE = ["a&b", "50%", "x_y", r"\end{tabular}", "{", "[2ex]", "*", "a\nb", "--", "日本", "$x$", "a \\\\ b"]


def test_a_table_of_hostile_names_stays_a_table():
    rows = tuple((name, n, wilson(n, 20)) for n, name in enumerate(HOSTILE))
    latex = Table("a_b %", "Is 5% & more_ok?", ("model", "count", "share"), rows, "1 = 1 & 0", ("{",)).to_latex()
    (found,) = read_back(latex)
    assert found.heads == ["model", "count", "share"]
    assert found.kinds == ["l", "r", "r"]
    assert [row[0] for row in found.rows] == list(map(plain, HOSTILE))
    assert found.rows[3][2] == str(wilson(3, 20))
    assert r"\caption{Is 5\% \& more\_ok?}" in latex
    assert r"\label{tab:a-b}" in latex
    assert r"\parbox{\linewidth}{\raggedright 1 = 1 \& 0 \\ In brackets: " in latex


def test_differences_have_their_minus_interval_and_n():
    estimate = Estimate(-0.051, -0.127, 0.025, 40, "")
    latex = Table("d", "What?", ("difference",), ((Points(estimate),),), "").to_latex()
    assert r"$-$5.1 points {[}$-$12.7, +2.5{]} n=40 \\" in latex


def test_a_wide_table_is_set_in_parts_and_a_long_one_in_floats():
    columns = ("task", "model", *(f"share number {n}" for n in range(8)))
    count = MOST_ROWS + 5
    rows = tuple(("quiz", f"model-{n}", *[wilson(n, count)] * 8) for n in range(count))
    table = Table("wide", "How many?", columns, rows, "foot")
    latex = table.to_latex()
    found = read_back(latex)
    floats = latex.count(r"\begin{table}")
    assert floats == latex.count(r"\caption{") == 4
    assert len(found) == 4 * 3
    assert latex.count(r"\raggedright foot \\ In brackets: ") == 1
    assert r"\caption{How many? (task: quiz; part 4 of 4)}" in latex
    assert sum(len(part.rows) for part in found) == 3 * count
    assert max(len(part.rows) for part in found) * 3 <= MOST_ROWS
    assert all(part.heads[0] == "model" for part in found)
    assert sum(len(part.heads) - 1 for part in found) == floats * 8
    for part in found:
        assert sum(max(map(len, cells)) + 2 for cells in zip(*part.rows, strict=True)) <= PAGE_CHARACTERS + 2


def test_long_texts_are_paragraphs_and_no_rows_are_said():
    latex = Table("t", "Q?", ("a", "b"), (("x", "a sentence of many words that goes on and on"),), "").to_latex()
    assert r"\begin{tabular}{lp{0.3\linewidth}}" in latex
    assert "No rows." in latex_table(LatexTable("t", "Q?", ["a"], [], [False], []))


def test_a_report_is_one_table_for_each_question():
    tables = [Table(f"t{n}", f"Question {n}?", ("a",), (("x",),), "") for n in range(3)]
    latex = as_latex(Report("a\n\\title", {}, tables, ["a note"]))
    assert re.findall(r"\\caption\{(.*)\}", latex) == [table.question for table in tables]
    head = latex[: latex.index(r"\begin")]
    assert all(line.startswith("%") for line in head.splitlines() if line)


@pytest.mark.parametrize(("name", "label"), [("pass@k", "pass-k"), ("", "table"), ("..", "table"), ("Ä b", "b")])
def test_labels_are_safe_everywhere(name, label):
    assert label_name(name) == label
