"""Every case of the tables in `tables/`: a raw text, what the rulings say of it, and why."""

import json
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from affidavit import Asked, Hand, JsonObject, MultipleChoice, game24, judge, locate

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
    after_think, last_tag = (lens.read(case["raw"]).extracted_answer for lens in contract.lenient_readings())
    assert {
        "compliant": reading.protocol_compliant,
        "answer": reading.extracted_answer,
        "deviation": reading.deviation,
        "after_think": after_think,
        "last_tag": last_tag,
    } == {key: case[key] for key in ("compliant", "answer", "deviation", "after_think", "last_tag")}, case["why"]


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
