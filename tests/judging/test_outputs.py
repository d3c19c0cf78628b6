"""Outputs that came from elsewhere: which part of a path is which name, and what a row must say."""

import re

import pytest

from affidavit.archive.record import Failed, ImportIdentity, Response
from affidavit.errors import InputError, UsageError
from affidavit.judging.outputs import WITHOUT_TEXT, MissingOutputs, folder_rows, path_pattern

PATTERN = "{question_id}/{prompt_variant}_{target_model}.md"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("Q1/A_gpt.md", ("Q1", "A", "gpt")),
        ("Q1/A_b_gpt.md", ("Q1", "A", "b_gpt")),
        ("Q 1/é_m.1.md", ("Q 1", "é", "m.1")),
        ("Q1/x/A_gpt.md", None),
        ("Q1/A_gptxmd", None),
        ("Q1/_gpt.md", None),
    ],
)
def test_a_pattern_says_which_part_of_a_path_is_which_name(path, names):
    found = path_pattern(PATTERN).fullmatch(path)
    assert (found and found.groups()) == names


@pytest.mark.parametrize(
    "pattern", ["", "{question_id}", PATTERN + "{question_id}", PATTERN.replace("variant", "x")]
)
def test_a_pattern_names_each_part_once(pattern):
    why = r"--pattern: expected each of \{question_id\}, \{prompt_variant\} and \{target_model\} once, found "
    with pytest.raises(UsageError, match=why):
        path_pattern(pattern)


def test_the_texts_of_a_folder_are_rows_and_one_that_does_not_fit_is_named():
    rows = folder_rows([("Q1/A_m.md", "text"), ("notes.md", "x")], PATTERN)
    where, row = next(rows)
    assert (where, row["output_id"], row["raw_output"]) == ("Q1/A_m.md", "Q1/A_m.md", "text")
    why = f'notes.md: expected a path like {PATTERN}, found "notes.md"\nEvery text of the folder has to fit'
    with pytest.raises(InputError, match=re.escape(why)):
        next(rows)


def record(question: str, variant: str, target: str, raw: str | None = "text") -> Response | Failed:
    subject = ImportIdentity("0" * 64, "s", "imported", question, target, variant, 0, None, None)
    return Failed(subject, "no_content", False) if raw is None else Response(subject, raw, "text/1", {}, True, {})


def test_what_is_missing_among_the_rows_is_known():
    outputs = MissingOutputs()
    for each in (record("Q1", "A", "m"), record("Q1", "B", "n"), record("Q2", "A", "m", None)):
        outputs.add(each)
    missing = {(each.question_id, each.prompt_variant, each.target_model): each.why for each in outputs.listed()}
    assert missing.pop(("Q2", "A", "m")) == WITHOUT_TEXT
    assert set(missing) == {
        ("Q1", "A", "n"), ("Q1", "B", "m"), ("Q2", "A", "n"), ("Q2", "B", "m"), ("Q2", "B", "n"),
    }  # fmt: skip
    assert set(missing.values()) == {"there is no such output"}


def test_a_grid_of_which_nearly_everything_is_missing_is_refused(monkeypatch):
    monkeypatch.setattr("affidavit.judging.outputs.MOST_PLACES", 26)
    outputs = MissingOutputs()
    for number in range(3):
        outputs.add(record(f"Q{number}", f"V{number}", f"M{number}"))
    with pytest.raises(InputError, match="at most 26 places of question × variant × target, found 27"):
        outputs.listed()
