"""Our own other readings of multiple choice: more lenient than the contract, never different (rulings M5, M20 to M23)."""

import random
import re

import pytest
from hypothesis import given

from affidavit.contracts.choice_readings import AnswerLine, BareLetter, LastLetter, OptionText, lenient_readings_of
from affidavit.contracts.contract import AnswerKey, label
from affidavit.contracts.deviation import Deviation
from affidavit.contracts.mcqa import MultipleChoice, mcqa
from support.harness_texts import PARTS, asked
from support.strategies import any_text, choice_texts, made_of

OURS = lenient_readings_of(mcqa)
texts = made_of(*PARTS)


def test_their_names_stand_in_their_order():
    assert [label(lens) for lens in OURS] == [
        "mcqa-after-think/1", "mcqa-last-tag/1", "mcqa-bare-letter/1", "mcqa-option-text/1", "mcqa-answer-line/1",
        "mcqa-last-letter/1",
    ]  # fmt: skip
    assert [*mcqa.lenient_readings()[: len(OURS)]] == [*OURS]


@pytest.mark.slow
@given(any_text | choice_texts | texts)
def test_whatever_the_contract_accepts_they_read_alike_and_point_at_it(raw):
    strict = mcqa.read(raw)
    for lens in OURS:
        reading = lens.read(raw)
        if strict.protocol_compliant:
            assert reading.extracted_answer == strict.extracted_answer
        assert (reading.extracted_answer is None) == (reading.answer_span is None)
        if reading.answer_span is not None:
            assert raw[slice(*reading.answer_span)] == reading.extracted_answer


@given(any_text | choice_texts | texts)
def test_two_of_them_read_what_the_diagnosis_counts(raw):
    """Rulings M20 and M21."""
    deviation = mcqa.read(raw).deviation
    assert (BareLetter(mcqa).read(raw).extracted_answer is not None) == (
        deviation in (None, Deviation.BARE_LETTER)
    )
    assert (OptionText(mcqa).read(raw).extracted_answer is not None) == (
        deviation in (None, Deviation.OPTION_TEXT)
    )


def answer_lines(raw: str) -> list[str]:
    """The letters of all such lines, straight from ruling M22."""
    lines = [line.strip() for line in re.split("\r\n|\r|\n", raw)]
    heads = [(line[:7].lower(), line[7:].strip()) for line in lines if line.isascii() or line[:7].isascii()]
    return [rest[0] for head, rest in heads if head == "answer:" and re.fullmatch(r"[A-D]\.?", rest)]


@given(texts)
def test_answer_lines_are_found_by_their_definition(raw):
    found, strict = answer_lines(raw), mcqa.read(raw)
    expected = strict.extracted_answer or (found[-1] if found else None)
    assert AnswerLine(mcqa).read(raw).extracted_answer == expected


@pytest.mark.slow
def test_drawn_texts_are_read_by_their_definitions():
    """Twenty thousand of them; words are told apart one character at a time."""
    chance = random.Random(5)  # noqa: S311 - no secret
    for each in asked(20_000, seed=3):
        raw = each.raw if chance.random() < 0.5 else f"{each.raw}\nAnswer: {chance.choice('ABCDE')}"
        lone = [
            letter
            for place, letter in enumerate(raw)
            if letter in "ABCD"
            and not any(is_word(near) for near in (raw[place - 1 : place], raw[place + 1 : place + 2]))
        ]
        assert LastLetter(mcqa).read(raw).extracted_answer == (lone[-1] if lone else None)
        strict, found = mcqa.read(raw).extracted_answer, answer_lines(raw)
        assert AnswerLine(mcqa).read(raw).extracted_answer == (strict or (found[-1] if found else None))


def is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@pytest.mark.parametrize("lens", OURS, ids=label)
def test_they_are_contracts_over_an_option_set(lens):
    larger = type(lens)(MultipleChoice("A-E"))
    assert (lens.params, larger.params) == ({"options": "A-D"}, {"options": "A-E"})
    assert larger.read("<answer>E</answer>").extracted_answer == "E"
    assert lens.read("<answer>E</answer>").extracted_answer is None
    assert lens.item({"answer": "B"}, where="here") == AnswerKey("B")
    assert lens.validate(lens.read("<answer>B</answer>"), AnswerKey("B")).correct
    assert lens.validate(lens.read("<answer>B</answer>"), AnswerKey(None)) is None
    assert lens.validate(lens.read("?"), AnswerKey("B")) is None
    assert lens.knows_enough(None)
