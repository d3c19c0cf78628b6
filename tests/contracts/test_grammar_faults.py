"""Which keywords keep a schema from having a grammar: named with their place, and no others (ruling O9)."""

import json

import pytest

from affidavit import JsonObject
from affidavit.contracts.grammar_faults import grammar_faults
from affidavit.json_values import canonical
from support.command import affidavit
from support.studies import toml, write_items
from support.written_study import tables

NUMBER = {"type": "integer", "minimum": 0, "maximum": 10_000_000}
FAULTS = {
    "far bounds": ({"n": NUMBER}, ["`maximum` at $.properties.n"]),
    "a pattern": ({"n": {"type": "string", "pattern": "^a", "minLength": 2}}, ["`pattern` at $.properties.n"]),
    "two": (
        {"a": {"type": "number", "minimum": 0}, "b": {"type": "array", "items": NUMBER, "uniqueItems": True}},
        [
            "`minimum` at $.properties.a",
            "`maximum` at $.properties.b.items",
            "`uniqueItems` at $.properties.b",
        ],
    ),
    "an unknown keyword": ({"n": {"type": "string", "nullable": True}}, ["`nullable` at $.properties.n"]),
    "open lists": ({"n": {"type": "array"}}, []),
    "so many that none is named": ({f"n{at:03}": NUMBER for at in range(60)}, []),
}


@pytest.mark.parametrize(("properties", "said"), FAULTS.values(), ids=FAULTS)
def test_keywords_at_fault_are_named(properties, said):
    schema = {"type": "object", "properties": properties}
    assert JsonObject(schema).grammar() is None
    assert list(map(str, grammar_faults(canonical(schema).decode()))) == said
    assert JsonObject(schema).why_no_grammar() == f"{', '.join(said) or 'a schema'} that no grammar keeps"


def test_a_study_that_constrains_decoding_is_refused_at_its_schema(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps({"properties": {"n": NUMBER}}))
    write_items(tmp_path / "quiz.jsonl", [{"id": "a", "question": "?", "answer": {"n": 1}}])
    task = {"contract": "json", "items": "quiz.jsonl", "parameters": {"schema": "schema.json"}}
    conditions = {"free": {}, "held": {"constrained": True}}
    study = tables(tasks={"quiz": task}, conditions=conditions)
    study["models"]["m"]["flavour"] = "llamacpp"
    (tmp_path / "study.toml").write_text("\n".join(toml(study)))
    done = affidavit("run", "study.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "affidavit: study.toml: tasks.quiz.parameters: expected parameters with a grammar: the condition held "
        "constrains decoding, found `maximum` at $.properties.n that no grammar keeps\n"
        "docs/json.md says what a grammar keeps. Change the schema, or write "
        'conditions = ["free"] in [tasks.quiz].\n'
    )
