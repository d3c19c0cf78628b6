"""A small model under a grammar made from a schema: whatever ended by itself complies (ruling O9)."""

import json

import pytest

from support.command import affidavit
from support.pages import ROOT
from support.weight_files import ready_to_run

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {
        "who": {"$ref": "#/$defs/person"},
        "kind": {"enum": ["discovery", 'the "other" \\ one', None]},
        "years": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 2},
        "share": {"type": "number"},
        "sure": {"type": ["boolean", "null"]},
        "é/~ note": {"type": "string", "maxLength": 5},
    },
    "required": ["who", "kind", "years", "share", "sure"],
    "additionalProperties": False,
    "$defs": {
        "person": {
            "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 12}},
            "required": ["name"],
        }
    },
}


@pytest.fixture(scope="module", autouse=True)
def smollm2():
    """The weights, and the library to run them."""
    return ready_to_run()


def test_what_ended_by_itself_under_a_grammar_complies(tmp_path):
    study = (ROOT / "examples" / "extraction.toml").read_text()
    study = study.replace("[conditions.free]", "").replace("max_tokens = 128", "max_tokens = 160\nsamples = 2")
    (tmp_path / "study.toml").write_text(study)
    (tmp_path / "extraction_schema.json").write_text(json.dumps(SCHEMA))
    lines = (ROOT / "examples" / "extraction_items.jsonl").read_text().splitlines()[:4]
    items = [{**json.loads(line), "answer": {"sure": True}} for line in lines]
    (tmp_path / "extraction_items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    done = affidavit("run", "study.toml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    records = [
        json.loads(line)
        for path in (tmp_path / "out" / "records").iterdir()
        for line in path.read_text().splitlines()
    ]
    ended = [record for record in records if record["finish_reason"] == "stop"]
    assert len(records) == 8
    assert ended
    for record in ended:
        assert record["protocol_compliant"], (record["raw_output"], record["findings"])
    assert affidavit("verify", "out", cwd=tmp_path).returncode == 0
