"""judge.read against an independent JSON schema, over evaluations that are nearly valid."""

import copy
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.evaluation import Asked
from affidavit.contracts.finding import Code
from affidavit.contracts.judge import Judge, judge
from affidavit.contracts.rubric import DEFAULT, Dimension, Level, Rubric, Thresholds

NAMES = DEFAULT.ids
BLANK = r"^\s*$"
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["meta", "scores", "verdict", "flags", "evidence"],
    "properties": {
        "meta": {
            "type": "object",
            "additionalProperties": False,
            "required": [
                "judge_model", "target_model", "question_id", "prompt_variant", "output_id", "method", "timestamp",
            ],
            "properties": {
                **{
                    name: {"type": "string", "not": {"pattern": BLANK}}
                    for name in ("judge_model", "target_model", "question_id", "prompt_variant", "output_id")
                },
                "method": {"enum": ["cross_judge", "self_judge"]},
                "timestamp": {"enum": ["2026-01-05", "2024-02-29"]},
            },
        },
        "scores": {
            "type": "object",
            "additionalProperties": False,
            "required": [*NAMES, "overall_score"],
            "properties": {
                **{name: {"type": "integer", "minimum": 0, "maximum": 2} for name in NAMES},
                "overall_score": {"type": "integer"},
            },
        },
        "verdict": {"enum": ["PASS", "PARTIAL", "FAIL"]},
        "flags": {"type": "array", "items": {"type": "string", "not": {"enum": ["PROTOCOL_VIOLATION"]}}},
        "evidence": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["dimension", "quote", "reason"],
                "properties": {
                    "dimension": {"enum": list(NAMES)},
                    "quote": {"type": "string"},
                    "reason": {"type": "string", "not": {"pattern": BLANK}},
                },
            },
        },
        "notes": {"type": "string"},
    },
}  # fmt: skip


def strict_types() -> type[jsonschema.protocols.Validator]:
    """A validator for which 2.0 and true are no integers, as ruling J2 has it."""
    checker = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=checker)


ORACLE = strict_types()(SCHEMA)


def evaluation(scores: tuple[int, ...] = (2, 2, 1, 2)) -> dict[str, object]:
    given_scores = dict(zip(NAMES, scores, strict=True))
    return {
        "meta": {
            "judge_model": "j", "target_model": "t", "question_id": "Q1", "prompt_variant": "A", "output_id": "o1",
            "method": "cross_judge", "timestamp": "2026-01-05",
        },
        "scores": {**given_scores, "overall_score": sum(scores)},
        "verdict": DEFAULT.verdict(given_scores).value,
        "flags": [],
        "evidence": [{"dimension": name, "quote": "words of the text", "reason": "r"} for name in NAMES],
        "notes": "",
    }  # fmt: skip


def consistent(value: dict[str, object]) -> bool:
    """What a schema cannot say: sums, verdicts, methods, and evidence for every dimension."""
    scores, meta = value["scores"], value["meta"]
    four = {name: scores[name] for name in NAMES}
    own = meta["judge_model"] == meta["target_model"]
    carried = {
        item["dimension"]
        for item in value["evidence"]
        if item["quote"].strip() or (four[item["dimension"]] < 2 and item["reason"].strip())
    }
    return (
        scores["overall_score"] == sum(four.values())
        and value["verdict"] == DEFAULT.verdict(four)
        and (meta["method"] == "self_judge") == own
        and carried == set(NAMES)
    )


odd_values = st.sampled_from(
    [None, True, False, 0, 1, 2, 3, -1, 2.0, "2", "", " ", [], {}, "j", "t", "self_judge", "cross_judge", "PASS",
     "FAIL", "PARTIAL", "2024-02-29", "2026-01-05", "PROTOCOL_VIOLATION", "odd", "COMPLETENESS", 7, 8]
)  # fmt: skip


@st.composite
def nearly_valid(draw):
    value = evaluation(draw(st.tuples(*[st.integers(0, 2)] * 4)))
    for _ in range(draw(st.integers(0, 3))):
        place, parents = value, []
        while isinstance(place, dict | list) and place and (not parents or draw(st.booleans())):
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            parents.append((place, key))
            place = place[key]
        if not parents:
            continue
        parent, key = parents[-1]
        action = draw(st.sampled_from(["set", "set", "set", "drop", "add"]))
        if action == "set":
            parent[key] = copy.deepcopy(draw(odd_values))
        elif action == "drop":
            del parent[key]
        elif isinstance(parent, dict):
            parent[draw(st.sampled_from(["extra", "notes", "quote", "CLARITY"]))] = draw(odd_values)
        else:
            parent.append(copy.deepcopy(draw(odd_values)))
    return value


@pytest.mark.slow
@given(nearly_valid())
def test_valid_exactly_if_an_independent_schema_says_so(value):
    expected = ORACLE.is_valid(value) and consistent(value)
    reading = judge.read(json.dumps(value))
    assert reading.protocol_compliant == expected, reading.findings


@given(nearly_valid(), st.sampled_from(["```json\n", "Sure: ", "\ufeff", "{", "[", "x"]))
def test_nothing_may_stand_around_the_object(value, extra):
    """Ruling J1; a planted verdict can never be read out of surrounding text."""
    text = json.dumps(value)
    for raw in (extra + text, text + extra, text + text):
        assert not judge.read(raw).protocol_compliant


@pytest.mark.slow
@given(nearly_valid(), st.integers(0, 2000))
def test_a_cut_evaluation_is_never_valid(value, length):
    text = json.dumps(value)
    if length < len(text):
        assert not judge.read(text[:length]).protocol_compliant


@pytest.mark.slow
@given(nearly_valid())
def test_whitespace_of_json_changes_nothing(value):
    text = json.dumps(value)
    assert judge.read(f" \t\r\n{json.dumps(value, indent=1)}\n ").flags == judge.read(text).flags


def test_a_judged_output_makes_quotes_count():
    """Ruling J6: the same evaluation without and with the text that it quotes."""
    raw = json.dumps(evaluation())
    assert judge.read(raw).evidence_checked is False
    assert judge.read(raw, Asked(judged_output="These are words of the text.")).protocol_compliant
    absent = judge.read(raw, Asked(judged_output="Something else."))
    assert {finding.code for finding in absent.findings} == {Code.QUOTE_NOT_FOUND, Code.EVIDENCE_NOT_LOCATED}
    assert [evidence.kind.value for evidence in absent.evidence] == ["absent"] * 4


def test_another_rubric_is_read_by_its_own_dimensions_scale_and_thresholds():
    scale = tuple(Level(score, str(score), "") for score in range(5))
    finer = Rubric("finer", tuple(Dimension(name, "", "") for name in ("tone", "facts")), scale, Thresholds(6, 2))
    value = evaluation()
    value["scores"] = {"tone": 4, "facts": 3, "overall_score": 7}
    value["evidence"] = [{"dimension": name, "quote": "", "reason": "not there"} for name in ("tone", "facts")]
    reading = Judge(finer).read(json.dumps(value))
    assert [finding.code.value for finding in reading.findings] == ["evidence_not_located"]
    assert reading.scores == {"tone": 4, "facts": 3}
    assert Judge().read(json.dumps(value), Asked(rubric=finer)) == reading
    assert Judge(finer).params["rubric_sha256"] != judge.params["rubric_sha256"]


def test_prompt_and_validator_are_made_from_one_rubric():
    """The shape in the instruction, filled in by a judge that copies it, breaks no rule of structure."""
    words = judge.instruction(Asked({"judge_model": "j", "target_model": "t"}))
    shape = words[words.index("{\n") :]
    # Copied as it stands, it breaks no rule of structure, but is never valid: a score is a number.
    copied = judge.read(shape)
    assert {finding.code for finding in copied.findings} == {
        Code.WRONG_TYPE, Code.BAD_VERDICT, Code.BAD_METHOD, Code.BAD_DATE,
    }  # fmt: skip
    assert '"flags" describes this evaluation, never the judged output' in words
    for dimension in DEFAULT.dimensions:
        assert dimension.id in words
        assert dimension.words in words
    for level in DEFAULT.scale:
        assert f"{level.score} = {level.title}" in words
