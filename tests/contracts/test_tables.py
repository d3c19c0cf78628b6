"""Every case of the tables in `tables/`: a raw text, what the rulings say of it, and why."""

import json
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from affidavit import (
    Asked,
    Hand,
    JsonObject,
    LabelSet,
    MultipleChoice,
    Number,
    ReasonedChoice,
    game24,
    judge,
    locate,
    mcqa,
)
from affidavit.contracts.harness_readings import KeyAndOptions

TABLES = Path(__file__).parents[1] / "tables"


def cases(table: str) -> list[ParameterSet]:
    lines = map(json.loads, (TABLES / f"{table}.jsonl").read_text().splitlines())
    return [pytest.param(case, id=f"{table}:{number}-{case['ruling']}") for number, case in enumerate(lines, 1)]


def text_of(case: dict) -> str:
    """The raw text of a case; long ones are told by their parts and how often each is repeated."""
    return case["raw"] if "raw" in case else "".join(part * times for part, times in case["raw_repeat"])


@pytest.mark.parametrize("case", cases("mcqa"))
def test_mcqa(case):
    contract = MultipleChoice(case.get("options", "A-D"))
    reading = contract.read(case["raw"])
    after_think, last_tag = (lens.read(case["raw"]).extracted_answer for lens in contract.lenient_readings()[:2])
    assert {
        "compliant": reading.protocol_compliant,
        "answer": reading.extracted_answer,
        "deviation": reading.deviation,
        "after_think": after_think,
        "last_tag": last_tag,
    } == {key: case[key] for key in ("compliant", "answer", "deviation", "after_think", "last_tag")}, case["why"]


@pytest.mark.parametrize("case", cases("mcqa_reasoned"))
def test_mcqa_reasoned(case):
    contract = ReasonedChoice(case.get("options", "A-D"))
    reading = contract.read(case["raw"])
    last_tag, *_ = contract.lenient_readings()
    assert {
        "compliant": reading.protocol_compliant,
        "answer": reading.extracted_answer,
        "deviation": reading.deviation,
        "start": None if reading.answer_span is None else reading.answer_span.start,
        "last_tag": last_tag.read(case["raw"]).extracted_answer,
    } == {key: case[key] for key in ("compliant", "answer", "deviation", "start", "last_tag")}, case["why"]


@pytest.mark.parametrize("case", cases("choice_readings"))
def test_choice_readings(case):
    ours = MultipleChoice(case.get("options", "A-D")).lenient_readings()[2:6]
    found = {
        lens.name.removeprefix("mcqa-").replace("-", "_"): lens.read(case["raw"]).extracted_answer for lens in ours
    }
    assert found == {name: case[name] for name in found}, case["why"]


@pytest.mark.parametrize("case", cases("harness_readings"))
def test_harness_readings(case):
    (lens,) = (each for each in mcqa.lenient_readings() if each.name == case["lens"])
    options = case.get("options")
    reading = lens.read(case["raw"], options and KeyAndOptions(None, tuple(options)))
    assert (reading.extracted_answer, reading.no_answer) == (case["answer"], case["no_answer"]), case["why"]


@pytest.mark.parametrize("case", cases("game24"))
def test_game24(case):
    hand = None if case["numbers"] is None else Hand(tuple(case["numbers"]), case.get("target", 24))
    reading = game24.read(case["raw"], hand)
    start, end = reading.candidate_span or (None, None)
    assert {
        "candidate": reading.candidate,
        "method": reading.extraction_method,
        "start": start,
        "end": end,
        "reason": None if hand is None else game24.validate(reading, hand).reason,
    } == {key: case[key] for key in ("candidate", "method", "start", "end", "reason")}, case["why"]


@pytest.mark.parametrize("case", cases("number"))
def test_number(case):
    contract = Number(**case.get("params", {}))
    reading = contract.read(case["raw"])
    start, end = reading.answer_span or (None, None)
    assert {
        "answer": reading.extracted_answer,
        "start": start,
        "end": end,
        "value": reading.value,
        "deviation": reading.deviation,
        "method": reading.extraction_method,
    } == {key: case[key] for key in ("answer", "start", "end", "value", "deviation", "method")}, case["why"]
    if "key" in case:
        item = contract.item({"answer": case["key"]}, where="a case")
        assert contract.validate(reading, item).correct is case["correct"], case["why"]


@pytest.mark.parametrize("case", cases("labels"))
def test_labels(case):
    known = case.get("known", ["art", "economy", "politics", "sport"])
    contract = LabelSet(known, case.get("none", ""), case.get("single", False))
    reading = contract.read(case["raw"])
    expected = {key: case[key] for key in ("answer", "labels", "start", "end", "deviation")}
    assert dict(zip(expected, reading.fields().values(), strict=True)) == expected, case["why"]
    assert reading.protocol_compliant == (case["deviation"] is None)


@pytest.mark.parametrize("case", cases("json"))
def test_json(case):
    contract = JsonObject(case.get("schema"), case.get("fields"))
    reading = contract.read(text_of(case))
    key = contract.item({"answer": case.get("key")}, where="the table")
    validation = contract.validate(reading, key)
    answer = reading.extracted_answer
    if "answer_size" in case:
        assert len(answer) == case["answer_size"], case["why"]
        answer = None
    assert {
        "compliant": reading.protocol_compliant,
        "answer": answer,
        "deviation": reading.deviation,
        "findings": [[finding.code.value, finding.path] for finding in reading.findings],
        "reason": validation and validation.reason,
        "wrong_fields": validation and list(validation.wrong_fields),
    } == {
        name: case[name] for name in ("compliant", "answer", "deviation", "findings", "reason", "wrong_fields")
    }, case["why"]


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("judge"))
def test_judge(case):
    raw = text_of(case)
    reading = judge.read(raw, Asked(case["asked"] or {}, case["judged"]))
    assert {
        "findings": sorted([finding.code.value, finding.path] for finding in reading.findings),
        "flags": list(reading.flags),
        "judge_flags": list(reading.judge_flags),
        "valid": reading.protocol_compliant,
    } == {
        "findings": sorted(case["findings"]),
        "flags": case["flags"],
        "judge_flags": case["judge_flags"],
        "valid": not case["flags"],
    }, case["why"]


@pytest.mark.parametrize("case", cases("evidence"))
def test_evidence(case):
    location = locate(case["quote"], case["text"])
    start, end = location.span or (None, None)
    assert (location.kind, start, end) == (case["kind"], case["start"], case["end"]), case["why"]
