"""What a judge is given, and what its record says: the same, unless the judging is blind (ruling J16)."""

import json

import pytest

from affidavit.contracts.rubric import DEFAULT
from affidavit.judging.plan import JudgingPlan, Output
from affidavit.judging.terms import FREE, JudgeTerms, Terms, aliases_of
from affidavit.models.model import Completion, Failure, Reason

KEYS = tuple(sorted(digit * 64 for digit in "12"))
OUTPUTS = [
    Output(KEYS[0], None, "Q1", "A", "first", "alpha", 0, "Take the long ladder.", "Which tool?"),
    Output(KEYS[1], None, "Q1", "A", "second", "beta", 0, "Take the short ladder.", "Which tool?"),
]
JUDGE = JudgeTerms("first", "alpha", {"temperature": 0.0})


def plan(*, blind: bool) -> JudgingPlan:
    aliases = aliases_of(["alpha", "beta"], KEYS) if blind else None
    return JudgingPlan("study", 7, Terms(DEFAULT, "2026-01-05", KEYS, aliases), [JUDGE])


def evaluation(meta: dict[str, str]) -> str:
    words = {"quote": "ladder", "reason": "it is there"}
    value = {
        "meta": meta,
        "scores": {**dict.fromkeys(DEFAULT.ids, 2), "overall_score": 8},
        "verdict": "PASS",
        "flags": [],
        "evidence": [{"dimension": each, **words} for each in DEFAULT.ids],
    }
    return json.dumps(value)


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize(("output", "method"), [(OUTPUTS[0], "self_judge"), (OUTPUTS[1], "cross_judge")])
def test_the_record_has_the_true_names_whatever_the_judge_was_given(output, method, blind):
    asked = plan(blind=blind).judgement(JUDGE, output, FREE, 1)
    given = asked.asked.meta
    assert given["method"] == ("cross_judge" if blind else method)
    assert (given["target_model"] == output.target_model) is not blind
    words = asked.request.messages[0]["content"]
    assert f'"target_model": "{given["target_model"]}"' in words
    assert (f'"target_model": "{output.target_model}"' in words) is not blind
    for record in (
        plan(blind=blind).response(asked, Completion(evaluation(dict(given)), "stop")),
        plan(blind=blind).failure(asked, Failure(Reason.TIMEOUT, "")),
    ):
        subject = record.subject
        assert (subject.target_model, subject.method, subject.blind) == (output.target_model, method, blind)
        assert subject.asked == given
        assert subject.cell == ("first", FREE, method)
        assert (subject.judged_key, subject.asked["output_id"]) == (output.key, output.key[:8])


@pytest.mark.parametrize("stated", ["alpha", "beta", "model-00000000"])
def test_what_a_judge_states_is_compared_with_what_it_was_given(stated):
    blind = plan(blind=True)
    for output in OUTPUTS:
        asked = blind.judgement(JUDGE, output, FREE, 1)
        right = blind.response(asked, Completion(evaluation(dict(asked.asked.meta)), "stop"))
        guessed = blind.response(
            asked, Completion(evaluation({**asked.asked.meta, "target_model": stated}), "stop")
        )
        assert (right.valid, right.flags) == (True, ())
        assert "identifier_mismatch" in guessed.codes


def test_all_outputs_of_a_target_have_one_alias_and_no_two_targets_share_one():
    blind = plan(blind=True)
    aliases = [blind.judgement(JUDGE, each, FREE, 1).asked.meta["target_model"] for each in (*OUTPUTS, OUTPUTS[0])]
    assert aliases[0] == aliases[2] != aliases[1]
