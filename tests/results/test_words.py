"""The words of tables: what people read, in every form, in place of what programs know."""

import pytest

from affidavit import game24
from affidavit.results.page.html import shown_table
from affidavit.results.table import Table
from affidavit.results.text_forms import Report, as_json, as_markdown
from affidavit.results.words import label_of
from affidavit.statistics.shares import wilson

TABLE = Table(
    "expressions",
    "?",
    ("model", "measure", "extraction_method", "yield"),
    (("yield", "yield", "empty", wilson(1, 4)), ("empty", "compliance", "answer_block", None)),
    "",
    value_labels=game24.value_labels,
)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("measure", "yield", "accuracy over all outputs"),
        ("measure", "compliance", "compliance"),
        ("extraction_method", "empty", "no expression found"),
        ("extraction_method", "answer_block", "answer_block"),
        ("model", "yield", "yield"),
        ("model", "empty", "empty"),
        ("yield", 3, 3),
    ],
)
def test_a_value_is_worded_by_its_column_alone(column, value, words):
    assert TABLE.labelled(column, value) == words


def test_people_read_words_and_programs_get_names():
    report = Report("study", {}, [TABLE])
    markdown = as_markdown(report)
    assert "| model | measure | extraction method | accuracy over all outputs |" in markdown
    assert "| yield | accuracy over all outputs | no expression found | 25.0%" in markdown
    row = as_json(report)["tables"]["expressions"]["rows"][0]
    assert list(row) == ["model", "measure", "extraction_method", "yield"]
    assert (row["measure"], row["extraction_method"]) == ("yield", "empty")
    shown = shown_table(TABLE)
    assert [name for name, _ in shown.heads] == [label_of(name) for name in TABLE.columns]
    assert [cell.main for cell in shown.rows[0]][:3] == [
        "yield",
        "accuracy over all outputs",
        "no expression found",
    ]
