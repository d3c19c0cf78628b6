"""How tables are worded, the same everywhere: on the page, in a terminal, in Markdown, in a notebook."""

from affidavit.results.values import Chance, Mean, Points, Value, estimate_of
from affidavit.statistics.estimate import Form, in_words


def label_of(name: str) -> str:
    """A column, a measure or a table as people read it; its own name is the one for programs.

    >>> label_of("yield"), label_of("compliance")
    ('accuracy over all outputs', 'compliance')
    """
    return _LABELS.get(name, name)


_LABELS = {
    "yield": "accuracy over all outputs",
    "accuracy over compliant": "accuracy over answers",
    "compared": "with an answer, right answer known",
    "if missing wrong": "accuracy if missing answers are wrong",
    "if missing right": "accuracy if missing answers are right",
    "pass@k": "pass@k over outputs with an answer",
    "left out": "items left out",
    "level": "level of test and interval",
    "yield@k": "pass@k over all outputs",
    "items of yield": "items with k outputs",
    "mean share of the leader": "mean share of the most frequent answer",
    "right there": "times the right answer",
    "right, of outputs": "accuracy over all outputs",
    "other readings": "lenient readings",
    "flips": "changed answers",
    "kept": "unchanged",
    "flipped": "changed",
    "share of decidable": "share changed",
    "control not arrived": "control not read",
    "to_wrong": "to wrong",
    "to_right": "to right",
    "to_other": "to other",
    "extraction_method": "extraction method",
    "chance": "chance level",
    "valid, quotes aside": "valid if quotes are ignored",
    "mean, quotes aside": "mean if quotes are ignored",
    "fabricated": "fabricated quotes",
    "own, raw mean": "raw mean of own scores",
    "others, raw mean": "raw mean of others' scores of the same outputs",
    "if missing lowest": "mean if missing scores are lowest",
    "if missing highest": "mean if missing scores are highest",
    "in words": "result",
    "uncorrected": "as it stands",
    "uncorrected difference": "difference as it stands",
}
"""Names that programs know, and what people read: of tables, columns and measures."""


def in_cell(value: Value) -> str:
    """A value in a cell of a table.

    >>> from affidavit.statistics.shares import wilson
    >>> in_cell(wilson(22, 30)), in_cell(None), in_cell(1200), in_cell(0.25)
    ('73.3% [55.6, 85.8] n=30', '–', '1,200', '25.0%')
    """
    if (estimate := estimate_of(value)) is not None:
        return in_words(estimate, form_of(value))
    if value is None:
        return "–"
    if isinstance(value, Chance):
        return f"{value.value:.3g}"
    if isinstance(value, float):
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def form_of(value: Value) -> Form:
    """What kind of figure an estimate in a table is."""
    if isinstance(value, Mean):
        return Form.MEAN
    return Form.POINTS if isinstance(value, Points) else Form.SHARE
