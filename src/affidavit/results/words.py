"""What people read in place of the names that programs know: of tables, columns, measures and values."""

from affidavit.results.table import Table, Value


def label_of(name: str) -> str:
    """A column, a measure or a table as people read it; its own name is the one for programs.

    >>> label_of("yield"), label_of("compliance")
    ('accuracy over all outputs', 'compliance')
    """
    return _LABELS.get(name, name)


_LABELS = {
    "yield": "accuracy over all outputs",
    "compared": "compliant, right answer known",
    "if missing wrong": "accuracy if missing answers are wrong",
    "if missing right": "accuracy if missing answers are right",
    "pass@k": "pass@k over compliant",
    "left out": "items left out",
    "yield@k": "pass@k over all outputs",
    "items of yield": "items with k outputs",
    "mean share of the leader": "mean share of the most frequent answer",
    "right there": "times the right answer",
    "other readings": "lenient readings",
    "flips": "changed answers",
    "kept": "unchanged",
    "flipped": "changed",
    "share of decidable": "share changed",
    "to_wrong": "to wrong",
    "to_right": "to right",
    "to_other": "to other",
    "extraction_method": "extraction method",
    "valid, quotes aside": "valid if quotes are ignored",
    "mean, quotes aside": "mean if quotes are ignored",
    "fabricated": "fabricated quotes",
    "in words": "result",
}
"""Names that programs know, and what people read: of tables, columns and measures."""


def labelled(table: Table, column: str, value: Value) -> Value:
    """The value, or what people read in its place: a measure is named like its column."""
    if not isinstance(value, str):
        return value
    return label_of(value) if column == "measure" else table.value_labels.get(column, {}).get(value, value)
