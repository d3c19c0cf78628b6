"""What is a growth of a plan, and what is a change of it (ruling C11)."""

import pytest

from affidavit.archive.study_directory import Revision
from affidavit.study.frozen_form import frozen
from affidavit.study.growth import additions, growth_notes, refused
from affidavit.study.study_file import decode_study
from support.studies import laid_over, toml

PLAN = {
    "study": {"name": "s"},
    "models": {"a": {"base_url": "http://h"}, "b": {"base_url": "http://h"}},
    "tasks": {
        "quiz": {"contract": "mcqa", "items": "i", "models": ["a"], "conditions": ["plain"]},
        "open": {"contract": "text", "items": "i", "variants": {"A": "{question}"}},
    },
    "conditions": {"plain": {}, "urged": {"preamble": "!"}},
}


def config(changed: dict) -> dict:
    study = decode_study("\n".join(toml(laid_over(PLAN, changed))), where="s")
    return {**frozen(study), "examples": {}, "items": {"quiz": "digest"}}


GROWTHS = {
    "nothing": {},
    "a model": {"models": {"c": {"base_url": "http://h"}}},
    "a model of a task": {"tasks": {"quiz": {"models": ["a", "b"]}}},
    "all models of a task": {"tasks": {"quiz": {"models": None}}},
    "a condition of a task": {"tasks": {"quiz": {"conditions": ["plain", "urged"]}}},
    "a variant": {"tasks": {"open": {"variants": {"B": "Please: {question}"}}}},
    "samples": {"decoding": {"samples": 3}},
    "another address": {"models": {"a": {"base_url": "http://elsewhere"}}},
    "a larger sample": {"tasks": {"quiz": {"sample": 5}}},
}
CHANGES = {
    "a model goes": {"models": {"b": None}},
    "a task goes": {"tasks": {"open": None}},
    "another contract": {"tasks": {"quiz": {"contract": "text"}}},
    "other options": {"tasks": {"quiz": {"options": "A-E"}}},
    "another order": {"tasks": {"quiz": {"option_order": "shuffle"}}},
    "another variant": {"tasks": {"open": {"variants": {"A": "Please: {question}"}}}},
    "a task asks another model": {"tasks": {"quiz": {"models": ["b"]}}},
    "a seed": {"study": {"seed": 3}},
    "a body": {"models": {"a": {"body": {"top_k": 3}}}},
    "no seed": {"models": {"a": {"seed": False}}},
    "decoding": {"decoding": {"max_tokens": 9}},
}


@pytest.mark.parametrize("changed", GROWTHS.values(), ids=GROWTHS)
def test_a_growth_is_allowed(changed):
    assert refused(config({}), config(changed)) == []


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_a_change_is_refused(changed):
    assert refused(config({}), config(changed))


def test_examples_are_added_with_new_conditions_alone():
    before = config({})
    rows = [{"id": "e", "item": {}, "response": "r"}]
    assert refused(before, {**before, "examples": {"quiz": {"urged": rows}}}) == []
    assert refused(before, {**before, "examples": {"quiz": {"plain": rows}}})
    taught = {**before, "examples": {"quiz": {"urged": rows}}}
    assert refused(taught, {**taught, "examples": {"quiz": {"urged": rows, "more": rows}}}) == []
    assert refused(taught, before), "nor do they go"


def test_what_was_added_is_said():
    before = config({})
    after = config(laid_over(GROWTHS["a model"], laid_over(GROWTHS["a variant"], GROWTHS["samples"])))
    counts = {"quiz": 3, "open": 1}, {"quiz": 5, "open": 1}
    said = ["the model c", "the variant B of open", "2 items of quiz", "samples 2 to 3"]
    assert additions(before, after, counts) == said
    revisions = [
        Revision(1, "study.json:1", before, counts[0], ""),
        Revision(2, "revisions/000002.json:1", after, counts[1], "", "2026-02-03"),
    ]
    (note,) = growth_notes(revisions)
    assert note.startswith(
        "The plan has grown: revision 2, of 2026-02-03, added the model c, the variant B of open"
    )
