"""Other harnesses, from PyPI, on the same texts as our readings that are named after them (rulings M25 and M26).

Outside CI: `make interop` makes the environments and runs this file. With `AFFIDAVIT_GOLDEN=write` what the packages
read is kept anew.
"""

import json

import pytest

from support.golden_files import golden
from support.harness_readings import as_text, ours, theirs
from support.harness_texts import Asked, asked

NAMES = ("inspect", "lm_eval")
DRAWN = 10_000


@pytest.mark.parametrize("name", NAMES)
def test_drawn_texts_are_read_as_the_package_reads_them(name):
    texts = asked(DRAWN)
    answers = theirs(name, texts)
    assert len(answers) == DRAWN
    differing = [(each, answer) for each, answer in zip(texts, answers, strict=True) if ours(name, each) != answer]
    assert differing == []
    found = as_text(texts, answers)
    assert golden(f"read_by_{name}.jsonl", found) == found


@pytest.mark.parametrize("name", NAMES)
def test_real_completions_are_read_as_the_package_reads_them(name, public_data):
    """As they stand, and as the forms that people ask for."""
    options = ["Paris", "Rome", "None of the above", "A and B"]
    lines = (public_data / "mcqa_helm_completions.jsonl").read_text().splitlines()
    completions = [json.loads(line)["completion"] for line in lines]
    forms = ("{}", "Answer: {}", "The answer is ({}).", "<answer>{}</answer>")
    texts = [Asked(form.format(each), options) for each in completions for form in forms]
    answers = theirs(name, texts)
    assert [ours(name, each) for each in texts] == answers
