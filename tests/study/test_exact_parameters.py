"""Numbers in the parameters of a study's task are those that were typed; all others are doubles."""

import pytest

from affidavit.errors import InputError
from affidavit.study.study_file import decode_study

LONG = "0.10000000000000000001"
STUDY = """
[study]
name = "small"
[models.one]
base_url = "http://127.0.0.1:1/v1"
[tasks.sums]
contract = "number"
items = "items.jsonl"
parameters = {{ tolerance = {tolerance}, more = [{{ half = 0.5, long = {tolerance} }}] }}
[tasks.quiz]
contract = "mcqa"
items = "items.jsonl"
[decoding]
temperature = {tolerance}
"""


def test_a_number_that_a_double_would_round_stays_a_text():
    """Ruling N7."""
    study = decode_study(STUDY.format(tolerance=LONG), where="study.toml")
    assert study.tasks["sums"].parameters == {"tolerance": LONG, "more": [{"half": 0.5, "long": LONG}]}
    assert study.tasks["quiz"].parameters == {}
    assert study.decoding.temperature == 0.1


def test_a_number_that_a_double_holds_stays_a_number():
    study = decode_study(STUDY.format(tolerance="0.10"), where="study.toml")
    assert study.tasks["sums"].parameters == {"tolerance": 0.1, "more": [{"half": 0.5, "long": 0.1}]}


@pytest.mark.parametrize("tasks", ["tasks = 3", "tasks = { sums = 3 }", "tasks = { sums = { parameters = 0.5 } }"])
def test_parameters_that_are_no_table_are_refused_as_ever(tasks):
    text = f"{tasks}\n[study]\nname = 'small'\n[models.one]\nbase_url = 'http://127.0.0.1:1/v1'"
    with pytest.raises(InputError, match="tasks"):
        decode_study(text, where="study.toml")
