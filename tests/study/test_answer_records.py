"""The record of an answer: everything that follows from the raw text and the item, and nothing of the day."""

import pytest

from affidavit.contracts.mcqa import MultipleChoice
from affidavit.items.item import Item
from affidavit.models.model import Completion, Failure, Reason
from affidavit.study.answer_records import failure_record, identity, response_record
from affidavit.study.check import parse_study
from affidavit.study.plan import Plan
from affidavit.study.task import Question

STUDY = """
[study]
name = "s"
[models.m]
base_url = "http://127.0.0.1:1/v1"
flavour = "llamacpp"
[tasks.quiz]
contract = "mcqa"
items = "items.jsonl"
option_order = "{order}"
[conditions.free]
[conditions.held]
constrained = true
"""
ITEM = Item("q1", {"question": "Two?", "options": ["1", "2", "3", "4"], "answer": "B"})


def question(order: str = "as_given", condition: str = "free", item: Item = ITEM) -> Question:
    study = parse_study(STUDY.format(order=order), where="study.toml")
    plan = Plan(study, {"quiz": MultipleChoice()}, {"quiz": 1}, {})
    return next(each for each in plan.questions(plan.tasks["quiz"], item, "m") if each.condition == condition)


@pytest.mark.parametrize(
    ("raw", "compliant", "answer", "correct"),
    [
        ("<answer>B</answer>", True, "B", True),
        ("<answer>A</answer>", True, "A", False),
        ("B", False, None, None),
        ("", False, None, None),
    ],
)
def test_what_follows_from_the_text_is_in_the_record(raw, compliant, answer, correct):
    """Ruling C2."""
    record = response_record("s", question(), Completion(raw, "stop", None, {"prompt_tokens": 3}))
    assert (record.raw_output, record.protocol_compliant) == (raw, compliant)
    assert (record.fields["extracted_answer"], record.fields["correct"]) == (answer, correct)
    assert (record.fields["right_answer"], record.keyed) == ("B", True)
    assert (record.contract, record.contract_params) == ("mcqa/1", {"options": "A-D"})
    assert (record.finish_reason, record.usage) == ("stop", {"prompt_tokens": 3})


def test_an_item_whose_answer_nobody_knows_is_read_and_not_compared():
    unknown = Item("q1", {**ITEM.fields, "answer": None})
    record = response_record("s", question(item=unknown), Completion("<answer>B</answer>"))
    assert (record.keyed, record.fields["correct"], record.fields["right_answer"]) == (False, None, None)


def test_where_options_stand_in_another_order_the_answer_is_also_told_in_the_items_own_letters():
    asked = next(
        each
        for number in range(50)
        if (each := question("shuffle", item=Item(f"q{number}", ITEM.fields))).item.fields["answer"] != "B"
    )
    letter = asked.item.fields["answer"]
    record = response_record("s", asked, Completion(f"<answer>{letter}</answer>"))
    assert (record.fields["extracted_answer"], record.fields["own_answer"]) == (letter, "B")
    assert record.fields["correct"] is True
    assert sorted(record.fields["option_order"]) == list("ABCD")


def test_a_failure_keeps_its_reason_and_nothing_of_the_day():
    record = failure_record("s", question(), Failure(Reason.TIMEOUT, "no answer within 5 s", 3.0))
    assert (record.subject, record.reason) == (identity("s", question()), "timeout")
    assert "5 s" not in str(record)


def test_a_grammar_is_kept_by_its_digest():
    assert identity("s", question()).grammar_sha256 is None
    held = identity("s", question(condition="held"))
    assert len(held.grammar_sha256) == 64
    assert held.key != identity("s", question()).key
