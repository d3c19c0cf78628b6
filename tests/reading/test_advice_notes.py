"""Notes on parameters that outputs call for, wherever outputs are read."""

from collections import Counter

import pytest

from affidavit.contracts.parts import Advice
from affidavit.reading.advice_notes import advice_notes
from support.command import affidavit
from support.outputs_elsewhere import write_jsonl

TEXTS = [
    "So\n#### 72",
    "#### 7\nDone.",
    "Answer: 3",
    "<answer>72</answer>\n#### 72",
    "It is 72.",
    "So #### 72",
    None,
]
NOTES = [
    "note: 2 outputs have a line that begins with `####`: --param marker='####'",
    "note: 1 outputs have a line that begins with `Answer:`: --param marker=Answer:",
]
WAYS = {"rows": ["-o", "read.jsonl"], "a study": ["--out", "study"], "groups": ["--by", "condition"]}


def told(arguments: list[str], folder) -> list[str]:
    rows = [{"id": f"q{n}", "condition": "c", "raw_output": text} for n, text in enumerate(TEXTS)]
    write_jsonl(folder / "rows.jsonl", rows)
    done = affidavit("read", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.decode().splitlines() if "--param" in line]


@pytest.mark.parametrize("way", WAYS)
def test_outputs_that_call_for_a_marker_are_counted(tmp_path, way):
    """Compliant outputs call for nothing, nor does a marker within a line."""
    assert told(["number", "rows.jsonl", *WAYS[way]], tmp_path) == NOTES


@pytest.mark.parametrize(
    "arguments", [["number", "rows.jsonl", "--param", "marker=Result:"], ["text", "rows.jsonl"]]
)
def test_where_a_marker_was_given_or_means_nothing_none_is_proposed(tmp_path, arguments):
    assert told([*arguments, "-o", "read.jsonl"], tmp_path) == []


def test_a_value_is_quoted_for_the_shell():
    assert advice_notes(Counter({Advice("are so", "unit", "it's"): 3})) == [
        "3 outputs are so: --param unit='it'\"'\"'s'"
    ]
