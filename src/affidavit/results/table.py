"""A table: a question, and its answer in rows. What is counted makes them; what is shown reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from affidavit.errors import UsageError, did_you_mean
from affidavit.plain_text import plain
from affidavit.results.latex import LatexTable, latex_table
from affidavit.results.values import CHANCES, ESTIMATED, Chance, Value, estimate_of
from affidavit.results.words import in_cell, label_of

if TYPE_CHECKING:
    import polars as pl

MOST_SHOWN = 200
"""Rows that are printed, or shown in a notebook."""


@dataclass(frozen=True, repr=False)
class Table:
    """One question and its answer.

    >>> table = Table("fruit", "What is there?", ("kind", "count"), (("apple", 3), ("pear", None)), "2 kinds")
    >>> table.column("kind"), table.counts("count")
    (['apple', 'pear'], [3, 0])
    >>> table
    <Table 'fruit': 2 rows, 2 columns>
    >>> print(table)
    What is there?
    <BLANKLINE>
      kind   count
      apple      3
      pear       –
    <BLANKLINE>
      2 kinds
    """

    name: str
    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    foot: str
    """The accounting identity over everything that the table is about (ruling C5)."""
    notes: tuple[str, ...] = ()
    explains: tuple[str, ...] | None = ()
    """Of a count of labels: those that say why an output is not compliant; None: all of them."""
    value_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By column: what people read in place of a text that does not explain itself; programs get the text."""

    def column(self, name: str) -> list[Value]:
        """The values under a heading, row by row; by its own name, or by the words that people read."""
        places = [at for at, each in enumerate(self.columns) if name in (each, label_of(each))]
        if not places:
            expected = f"a column of {self.name!r}: {', '.join(self.columns)}"
            raise UsageError("column", expected=expected, found=repr(name), hint=did_you_mean(name, self.columns))
        return [row[places[0]] for row in self.rows]

    def counts(self, name: str) -> list[int]:
        """A column of whole numbers; where there is nothing to count, none."""
        return [value if isinstance(value, int) else 0 for value in self.column(name)]

    # --- for people ---

    def labelled(self, column: str, value: Value) -> Value:
        """The value, or what people read in its place: a measure is named like its column."""
        if not isinstance(value, str):
            return value
        return label_of(value) if column == "measure" else self.value_labels.get(column, {}).get(value, value)

    def in_cells(self, row: Sequence[Value]) -> list[str]:
        """A row of the table in its cells, in the words that people read."""
        return [in_cell(self.labelled(column, value)) for column, value in zip(self.columns, row, strict=True)]

    def __repr__(self) -> str:
        return f"<Table {self.name!r}: {len(self.rows)} rows, {len(self.columns)} columns>"

    def __str__(self) -> str:
        heads, rows, numeric = self._heads(), self._cells(), self._numeric()
        widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
        lines = []
        for cells in (heads, *rows):
            fitted = zip(cells, widths, numeric, strict=True)
            line = "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in fitted)
            lines.append(f"  {line}".rstrip())
        below = [f"  {plain(line)}" for line in self._below()]
        return "\n".join([plain(self.question), "", *lines, *(["", *below] if below else [])])

    def _repr_html_(self) -> str:
        """The table for a notebook: plain HTML, every text escaped; the method of a figure is its title."""
        sides = [f' style="text-align: {"right" if numeric else "left"}"' for numeric in self._numeric()]
        heads = "".join(f"<th{side}>{escape(head)}</th>" for head, side in zip(self._heads(), sides, strict=True))
        rows = []
        for row, cells in zip(self.rows, self._cells(), strict=False):
            shown = zip(row, cells, sides, strict=True)
            rows.append("".join(f"<td{side}{_method(value)}>{escape(cell)}</td>" for value, cell, side in shown))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        caption = (
            '<caption style="text-align: left; caption-side: top">' + escape(plain(self.question)) + "</caption>"
        )
        below = "".join(f"<p>{escape(plain(line))}</p>" for line in self._below())
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{below}"

    def _heads(self) -> list[str]:
        return [plain(label_of(name)) for name in self.columns]

    def _cells(self) -> list[list[str]]:
        return [list(map(plain, self.in_cells(row))) for row in self.rows[:MOST_SHOWN]]

    def _numeric(self) -> list[bool]:
        return [
            bool(self.rows) and not any(isinstance(row[place], str) for row in self.rows)
            for place in range(len(self.columns))
        ]

    def _below(self) -> list[str]:
        left_out = len(self.rows) - MOST_SHOWN
        more = [f"{left_out:,} more rows are not shown; to_polars() gives all."] if left_out > 0 else []
        return [line for line in (*more, self.foot, *self.notes) if line]

    def to_latex(self) -> str:
        r"""The table for a paper: booktabs in a float, its question as the caption; every text is escaped.

        >>> fruit = Table("fruit", "What is there?", ("kind", "share"), (("apple_1", 0.5),), "1 kind")
        >>> print(fruit.to_latex().split("\\toprule")[1].split("\\bottomrule")[0].strip())
        kind & share \\
        \midrule
        apple\_1 & 50.0\% \\
        """
        heads, rows = [label_of(name) for name in self.columns], [self.in_cells(row) for row in self.rows]
        brackets = any(estimate_of(value) is not None for row in self.rows for value in row)
        said = "In brackets: 95 % intervals, or at the level that stands beside them." if brackets else ""
        below = [line for line in (self.foot, said, *self.notes) if line]
        return latex_table(LatexTable(self.name, self.question, heads, rows, self._numeric(), below))

    # --- for programs ---

    def flat_columns(self) -> dict[str, list[Any]]:
        """The columns as programs take them, by their names: estimates apart, everything else as it is."""
        columns: dict[str, list[Any]] = {}
        for name in self.columns:
            columns |= _parts(name, self.column(name))
        return columns

    def to_polars(self) -> "pl.DataFrame":
        """The rows as a Polars frame.

        An estimate in the column NAME becomes NAME, NAME_low, NAME_high, NAME_n and NAME_clusters; the ends of an
        interval that does not exist are null. Shares are from 0 to 1. Everything else stays as it is.

        >>> from affidavit.statistics.shares import wilson
        >>> Table("t", "How many?", ("model", "share"), (("m", wilson(22, 30)),), "").to_polars().columns
        ['model', 'share', 'share_low', 'share_high', 'share_n', 'share_clusters']
        """
        import polars as pl  # noqa: PLC0415 - heavy, and a run does without

        from affidavit.archive.record_columns import without_surrogates  # noqa: PLC0415 - it brings Polars

        columns: dict[str, pl.Series] = {}
        for name, values in self.flat_columns().items():
            storable = [without_surrogates(value) if isinstance(value, str) else value for value in values]
            columns[name] = pl.Series(name, storable, dtype=_type(name, storable, pl))
        return pl.DataFrame(columns)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas is no dependency
        """The same columns as a pandas frame, if pandas is installed."""
        from affidavit.reading.pandas_frames import pandas_frame  # noqa: PLC0415 - it brings Polars

        return pandas_frame(self.to_polars())


def _method(value: Value) -> str:
    estimate = estimate_of(value)
    return "" if estimate is None else f' title="{escape(plain(estimate.method))}"'


def _parts(name: str, values: Sequence[Value]) -> dict[str, list[Any]]:
    """The columns that one column of a table becomes."""
    nothing_else = all(value is None or estimate_of(value) is not None for value in values)
    if (name in ESTIMATED and nothing_else) or any(estimate_of(value) is not None for value in values):
        fields = [{} if (estimate := estimate_of(value)) is None else estimate.fields() for value in values]
        ends = {f"{name}_{field}": field for field in ("low", "high", "n", "clusters")}
        return {column: [row.get(field) for row in fields] for column, field in {name: "value", **ends}.items()}
    return {name: [value.value if isinstance(value, Chance) else value for value in values]}


def _type(name: str, values: Sequence[object], pl: Any) -> Any:  # noqa: ANN401 - Polars comes in as an argument
    """The narrowest type that holds the values; of a column of nothing, what it would hold: else texts."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        of, _, part = name.rpartition("_")
        if of in ESTIMATED and part in ("n", "clusters"):
            return pl.Int64
        if name in ESTIMATED | CHANCES or (of in ESTIMATED and part in ("low", "high")):
            return pl.Float64
    if kinds == {int}:
        return pl.Int64
    return pl.Float64 if kinds and kinds <= {int, float} else pl.String
