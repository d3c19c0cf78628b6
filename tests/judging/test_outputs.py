"""Outputs that came from elsewhere: which part of a path is which name, and what a row must say."""

import re

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.judging.outputs import WITHOUT_TEXT, ImportFacts, folder_rows, imported, path_pattern

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


def row(question: str, variant: str, target: str, raw: object = "text") -> tuple[str, dict]:
    names = {"question_id": question, "prompt_variant": variant, "target_model": target}
    return f"{question}{variant}{target}", {
        **names,
        "output_id": f"{question}-{variant}-{target}",
        "raw_output": raw,
    }


def test_what_is_missing_among_the_rows_is_known():
    found = imported("s", [row("Q1", "A", "m"), row("Q1", "B", "n"), row("Q2", "A", "m", None)])
    facts = ImportFacts("s", found.without_text)
    for response in found.responses:
        facts.add(response)
    config = facts.config()
    assert config["imported"]["cells"] == [["imported", "m", "A", 1], ["imported", "n", "B", 1]]
    assert config["models"] == {"m": {"identity": "m"}, "n": {"identity": "n"}}
    missing = {
        (each["question_id"], each["prompt_variant"], each["target_model"]): each["why"]
        for each in config["not_arrived"]
    }
    assert missing.pop(("Q2", "A", "m")) == WITHOUT_TEXT
    assert set(missing) == {
        ("Q1", "A", "n"), ("Q1", "B", "m"), ("Q2", "A", "n"), ("Q2", "B", "m"), ("Q2", "B", "n"),
    }  # fmt: skip
    assert set(missing.values()) == {"there is no such output"}
