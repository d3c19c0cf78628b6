r"""Tables as LaTeX: the rows between the rules of booktabs, in a float with its question as the caption.

What it makes is a fragment for `\input`; it needs `\usepackage{booktabs}` and nothing else. A table that is wider
than a page is set in parts below each other, its naming columns repeated; a long one in several floats.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from affidavit.plain_text import plain
from affidavit.results.columns import ColumnWidth, column_parts, said_once

PAGE_CHARACTERS = 88
"""Of the size `\\footnotesize` in a line of a page of one column."""
MOST_ROWS = 40
"""Of all parts of one float: a float does not go on at the next page."""
_WRAPPED = 30
"""Characters of a text from which on it is set as a paragraph."""

NEEDS = "% Needs \\usepackage{booktabs}. Letters beyond Latin ones need XeLaTeX or LuaLaTeX.\n"


@dataclass(frozen=True)
class LatexTable:
    """What a table says, in the words that people read, not escaped yet."""

    name: str
    question: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool]
    """Columns of numbers stand at the right."""
    below: Sequence[str]


def in_latex(text: str) -> str:
    r"""A text as LaTeX prints it, whatever characters it holds.

    >>> in_latex("50% of a_b & {x}"), in_latex("−5.1 points [−12.7, +2.5]")
    ('50\\% of a\\_b \\& \\{x\\}', '$-$5.1 points {[}$-$12.7, +2.5{]}')
    """
    escaped = "".join(_SPELT.get(each, each) for each in plain(text))
    # Two of these in a row would be set as one other sign.
    return re.sub(r"([-',])(?=\1)", r"\1{}", escaped)


_SPELT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",  # a command of its own under some languages of babel
    "[": "{[}",  # after the end of a row it would be taken for a length
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "–": "{--}",
    "—": "{---}",
    "…": r"\ldots{}",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "·": r"$\cdot$",
}


def latex_table(table: LatexTable) -> str:
    """The table in one float, or in several where it is long."""
    widths = _widths(table)
    once = said_once(widths, PAGE_CHARACTERS)
    kept = [at for at in range(len(widths)) if at not in once]
    fitting = column_parts([widths[at] for at in kept], PAGE_CHARACTERS) or [tuple(range(len(kept)))]
    parts = [[kept[at] for at in part] for part in fitting]
    most = MOST_ROWS // len(parts) or 1
    pieces = [table.rows[at : at + most] for at in range(0, len(table.rows), most)] or [()]
    floats = []
    for number, rows in enumerate(pieces, 1):
        said = [f"{table.heads[at]}: {table.rows[0][at]}" for at in once]
        said += [f"part {number} of {len(pieces)}"] if len(pieces) > 1 else []
        caption = f"{table.question} ({'; '.join(said)})" if said else table.question
        label = label_name(table.name) + (f"-{number}" if len(pieces) > 1 else "")
        tabulars = [_tabular(table, rows, part) for part in parts] if rows else ["No rows."]
        floats.append(_float(caption, label, tabulars, table.below if number == len(pieces) else ()))
    return "\n".join(floats)


def label_name(name: str) -> str:
    """A name of small letters, digits and hyphens alone: for labels and files.

    >>> label_name("other readings"), label_name("../=ä")
    ('other-readings', 'table')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "table"


def _float(caption: str, label: str, tabulars: Sequence[str], below: Sequence[str]) -> str:
    lines = [r"\begin{table}[htbp]", r"\centering\footnotesize", rf"\caption{{{in_latex(caption)}}}"]
    lines += [rf"\label{{tab:{label}}}", "\n\\par\\medskip\n".join(tabulars)]
    if below:
        said = r" \\ ".join(map(in_latex, below))
        lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\raggedright {said}}}")
    return "\n".join([*lines, r"\end{table}", ""])


def _widths(table: LatexTable) -> list[ColumnWidth]:
    return [
        ColumnWidth.of(head, [(row[at], min(len(row[at]), _WRAPPED)) for row in table.rows], names=not numeric)
        for at, (head, numeric) in enumerate(zip(table.heads, table.numeric, strict=True))
    ]


def _tabular(table: LatexTable, rows: Sequence[Sequence[str]], part: Sequence[int]) -> str:
    kinds = "".join(_column_type(table, at) for at in part)
    heads = " & ".join(_head(table.heads[at], right=table.numeric[at]) for at in part)
    body = [" & ".join(in_latex(row[at]) for at in part) + r" \\" for row in rows]
    ends = r"\bottomrule", r"\end{tabular}"
    return "\n".join([rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", rf"{heads} \\", r"\midrule", *body, *ends])


def _column_type(table: LatexTable, at: int) -> str:
    if table.numeric[at]:
        return "r"
    longest = max((len(row[at]) for row in table.rows), default=0)
    return r"p{0.3\linewidth}" if longest > _WRAPPED else "l"


def _head(text: str, *, right: bool) -> str:
    """A heading in as many lines as it has words, if it is a long one."""
    if len(text) <= len("accuracy") or len(text.split()) == 1:
        return in_latex(text)
    lines = r" \\ ".join(map(in_latex, text.split()))
    return rf"\shortstack[{'r' if right else 'l'}]{{{lines}}}"
