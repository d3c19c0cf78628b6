"""Real outputs of real models, against what their publishers recorded."""

import json
from collections import Counter
from pathlib import Path

import pytest

from affidavit import Hand, game24, judge, mcqa
from affidavit.contracts.finding import Code

STRICT_JSON = {
    Code.TEXT_AROUND_JSON, Code.JSON_SYNTAX, Code.NOT_AN_OBJECT, Code.DUPLICATE_KEY, Code.NOT_FINITE, Code.TOO_DEEP,
    Code.TOO_LARGE, Code.BAD_TEXT, Code.NO_JSON,
}  # fmt: skip
ANSWER = "Answer: "


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def last_line(raw: str) -> tuple[str, str]:
    """Everything before the last line, and the last line."""
    head, line_feed, last = raw.rpartition("\n")
    return head + line_feed, last


def correct(raw: str, row: dict[str, object]) -> bool:
    hand = Hand(tuple(row["numbers"]))
    return game24.validate(game24.read(raw, hand), hand).correct


@pytest.mark.slow
def test_nothing_is_read_from_answer_lines(public_data):
    methods = Counter(
        game24.read(row["raw_output"], Hand(tuple(row["numbers"]))).extraction_method.value
        for row in rows(public_data / "game24_gpt4_standard.jsonl")
    )
    # 276 outputs have no `Answer:` prefix; 262 of these end in a plausible line.
    assert methods == {"empty": 9738, "fallback_bottom_scan": 262}


@pytest.mark.slow
def test_output_lines_are_judged_as_the_authors_judged_them(public_data):
    data = rows(public_data / "game24_gpt4_standard.jsonl")
    without = 0
    for row in data:
        head, last = last_line(row["raw_output"])
        without += not last.startswith(ANSWER)
        raw = head + "Output: " + last.removeprefix(ANSWER) if last.startswith(ANSWER) else row["raw_output"]
        assert correct(raw, row) == row["recorded_correct"], row
    assert (len(data), without) == (10_000, 276)


@pytest.mark.slow
def test_answer_blocks_are_judged_as_the_authors_judged_them(public_data):
    for row in rows(public_data / "game24_gpt4_standard.jsonl"):
        head, last = last_line(row["raw_output"])
        raw = f"{head}<answer>{last.removeprefix(ANSWER)}</answer>"
        assert correct(raw, row) == row["recorded_correct"], row


def test_a_wrapped_completion_complies_exactly_if_it_is_one_letter(public_data):
    data = rows(public_data / "mcqa_helm_completions.jsonl")
    for row in data:
        reading = mcqa.read(f"<answer>{row['completion']}</answer>")
        assert reading.protocol_compliant == (row["completion"] in {"A", "B", "C", "D"}), row
    assert len(data) == 5395


@pytest.mark.slow
def test_strict_json_refuses_exactly_what_could_not_be_parsed(public_data):
    data = rows(public_data / "judge_json_outputs.jsonl")
    for row in data:
        codes = {finding.code for finding in judge.read(row["raw_output"]).findings}
        assert bool(codes & STRICT_JSON) == (row["recorded_label"] == "invalidprediction"), row
    assert len(data) == 4100
