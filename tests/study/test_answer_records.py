"""What an answer takes on the disk is bounded by its own size, whatever it says and whoever reads it."""

import pytest

from affidavit.reading.record_fields import LONGEST_READ
from affidavit.study import answer_records
from support.own_contracts import ECHO
from support.studies import records
from support.written_study import questions, tables, written

SIZE = 300_000
DERIVED = 100_000
HOSTILE = {
    "control characters": "\x01" * SIZE,
    "lone surrogates": "\udfff" * SIZE,
    "combining marks": "a" + "\u0301" * SIZE,
    "beyond the first plane": "\U0001f600" * (SIZE // 4),
    "a long block": f"<answer>{chr(1) * SIZE}</answer>",
    "a long line": f"Output: {'1+' * (SIZE // 2)}",
    "many blocks": "<answer>B</answer>" * (SIZE // 18),
    "many lines": "Output: 1\n" * (SIZE // 10),
    "open blocks": "<answer>" * (SIZE // 8),
    "thoughts": "<think>" * (SIZE // 7),
    "words for letters": "(A) or **B** " * (SIZE // 13),
}


@pytest.mark.slow
@pytest.mark.parametrize("contract", ["mcqa", "game24", "text", "number", "own.py:echo"])
def test_a_record_is_bounded_by_its_answer(tmp_path, contract):
    (tmp_path / "own.py").write_text(ECHO)
    task = {"quiz": {"contract": contract, "items": "quiz.jsonl", "options": None}}
    if contract == "text":
        task["quiz"]["variants"] = {"bare": "{question}"}
    rows = [
        {**row, "numbers": [4, 9, 10, 13], "id": name} for name, row in zip(HOSTILE, questions(99), strict=False)
    ]
    if contract == "number":
        rows = [{**row, "answer": "7"} for row in rows]
    study = written(tmp_path, tables(tasks=task), {"quiz": rows}, lambda question: HOSTILE[question.item.id])
    lines = (study / "records" / "000001.jsonl").read_bytes().splitlines(keepends=True)
    found = {fields["item_id"]: (fields, line) for fields, line in zip(records(study), lines, strict=True)}
    assert set(found) == set(HOSTILE)
    for name, (fields, line) in found.items():
        assert fields["raw_output"] == HOSTILE[name]
        size = len(HOSTILE[name].encode("utf-8", "surrogatepass"))
        assert len(line) <= 6 * size + DERIVED, (name, len(line) / size)


def test_a_long_answer_is_compared_whole_and_kept_by_its_head(tmp_path):
    """Two answers that differ behind the head are two answers."""
    pattern = "from affidavit import Pattern\nkey = Pattern('key', 1, '(?s).*', 'Say it.')\n"
    (tmp_path / "own.py").write_text(pattern)
    right = "x" * LONGEST_READ + "right"
    rows = [{"id": each, "question": each, "answer": right} for each in ("right", "wrong")]
    task = {"quiz": {"contract": "own.py:key", "items": "quiz.jsonl"}}
    study = written(
        tmp_path, tables(tasks=task), {"quiz": rows}, lambda question: "x" * LONGEST_READ + question.item.id
    )
    kept = {fields["item_id"]: fields for fields in records(study)}
    assert {name: fields["correct"] for name, fields in kept.items()} == {"right": True, "wrong": False}
    assert {fields["extracted_answer"] for fields in kept.values()} == {"x" * LONGEST_READ}


def test_what_raises_all_the_same_costs_the_reading_and_not_the_answer(tmp_path, monkeypatch):
    # ruling C8: the last resort of a run
    def raises(*_given: object, **_more: object) -> None:
        raise RuntimeError("our own fault")

    monkeypatch.setattr(answer_records, "record_fields_of", raises)
    (kept,) = records(written(tmp_path, tables(), {"quiz": questions(1)}, lambda _: "<answer>B</answer>"))
    assert (kept["raw_output"], kept["unread"]) == ("<answer>B</answer>", "RuntimeError: our own fault")
    assert (kept["protocol_compliant"], kept["keyed"]) == (None, False)
