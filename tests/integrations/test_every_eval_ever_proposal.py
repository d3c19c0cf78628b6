"""The two fields that are proposed to Every Eval Ever: the worked file has them, and needs them."""

import json
import re

import jsonschema_rs
import pytest

from support.pages import ROOT

PAGE = ROOT / "docs" / "every-eval-ever.md"
WORKED = json.loads((ROOT / "docs" / "every-eval-ever-proposal.json").read_bytes())


def merged(schema: object, change: object) -> object:
    """A schema with a change laid over it."""
    if not isinstance(schema, dict) or not isinstance(change, dict):
        return change
    return {**schema, **{name: merged(schema.get(name), value) for name, value in change.items()}}


@pytest.fixture
def schemas(public_data) -> dict[str, tuple[dict, dict]]:
    """Each schema as it is published, and as it would be."""
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    found = {}
    for name, change in json.loads(block).items():
        published = json.loads((public_data / "logs" / "every_eval_ever" / name).read_bytes())
        found[name.partition(".")[0]] = (published, merged(published, change))
    return found


def takes(schema: dict, value: dict) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(value)


def test_with_both_fields_every_output_is_an_instance(schemas):
    published, proposed = schemas["instance_level_eval"]
    assert [takes(proposed, row) for row in WORKED["instances"]] == [True] * 4
    assert [takes(published, row) for row in WORKED["instances"]] == [True, True, False, False]


@pytest.mark.parametrize("value", [{"score": 0.0}, {"is_correct": False}, {"score": 0.0, "is_correct": False}])
def test_an_output_without_an_answer_cannot_be_called_wrong(schemas, value):
    _, proposed = schemas["instance_level_eval"]
    for row in WORKED["instances"]:
        other = {**row, "evaluation": {**row["evaluation"], **value}}
        assert takes(proposed, other) == (row["evaluation"]["outcome"]["kind"] == "answered")


def test_files_that_exist_stay_valid_and_none_becomes_so(schemas):
    published, proposed = schemas["instance_level_eval"]
    for evaluation in ({"score": 1.0, "is_correct": True}, {"score": 1.0}, {}):
        row = {**WORKED["instances"][0], "evaluation": evaluation}
        assert takes(published, row) == takes(proposed, row) == (len(evaluation) == 2)


def test_the_aggregate_says_what_its_score_is_not_over(schemas):
    published, proposed = schemas["eval"]
    kinds = [row["evaluation"]["outcome"]["kind"] for row in WORKED["instances"]]
    assert takes(published, WORKED["aggregate"])
    assert takes(proposed, WORKED["aggregate"])
    for result in WORKED["aggregate"]["evaluation_results"]:
        assert result["score_details"]["outcomes"] == {kind: kinds.count(kind) for kind in set(kinds)}
    broken = json.loads(json.dumps(WORKED["aggregate"]).replace('"answered": 2', '"answered": -2'))
    assert not takes(proposed, broken)
