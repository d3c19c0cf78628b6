"""The options that name columns of labels: the same for every command that takes outputs from elsewhere."""

import click
import pytest

from affidavit.commands.import_logs import import_logs
from affidavit.commands.judge import judge
from affidavit.commands.label_options import given_labels, label_options
from affidavit.commands.read import read
from affidavit.errors import UsageError
from support.command import affidavit
from support.outputs_elsewhere import write_jsonl
from support.studies import fine, records

NAMES = {"label_columns": (), "label_raters": (), "label_rater_column": None, "label_date_column": None}


@pytest.mark.parametrize("command", [read, judge, import_logs])
def test_every_command_that_takes_outputs_has_them(command):
    assert NAMES.keys() <= {each.name for each in command.params}


def test_they_are_given_as_columns():
    @label_options
    @click.command
    def nothing(**_given: object) -> None: ...

    assert NAMES.keys() == {each.name for each in nothing.params}
    assert given_labels(NAMES) is None
    found = given_labels({**NAMES, "label_columns": ("a=verdict",), "label_raters": ("anna",)})
    assert found is not None
    assert [(each.path.text, each.about, each.rater) for each in found.columns] == [("a", "verdict", "anna")]
    with pytest.raises(UsageError, match="--date-column"):
        given_labels({**NAMES, "label_date_column": "when"})


@pytest.mark.slow
def test_labels_of_a_log_are_kept(tmp_path):
    rows = [{"id": f"q{number}", "raw_output": "fine", "human": number % 2 > 0} for number in range(4)]
    write_jsonl(tmp_path / "table.jsonl", rows)
    done = affidavit("import", "table.jsonl", "-o", "study", "--label", "human=correct", cwd=tmp_path)
    assert fine(done, 0)
    assert [each["value"] for each in records(tmp_path / "study") if each["kind"] == "label"] == [
        False, True, False, True,
    ]  # fmt: skip
