"""What every contract states of itself: name, version, parameters, words and grammar."""

import json
import unicodedata
from itertools import combinations_with_replacement as hands

import pytest

from affidavit import Hand, MultipleChoice, game24, json_object, judge, mcqa
from affidavit.contracts.contract import AnswerKey, label
from affidavit.contracts.expression import solve
from affidavit.contracts.pattern import Pattern
from affidavit.contracts.rubric import DEFAULT
from affidavit.contracts.text import text
from affidavit.errors import InputError, UsageError
from affidavit.reading.rows import RowReader
from affidavit.reading.tally import Tally
from support import break_rulings

# Byte for byte what the answer output protocol gives to every model.
BASE_INSTRUCTION = (
    "Answer the following multiple-choice question by outputting your final answer\n"
    "in the following exact format:\n"
    "\n"
    "<answer>X</answer>\n"
    "\n"
    "Do not include any other text."
)


@pytest.mark.parametrize(
    ("contract", "expected"),
    [
        (mcqa, ("mcqa/1", {"options": "A-D"})),
        (MultipleChoice("A-J"), ("mcqa/1", {"options": "A-J"})),
        (mcqa.lenient_readings()[0], ("mcqa-after-think/1", {"options": "A-D"})),
        (mcqa.lenient_readings()[1], ("mcqa-last-tag/1", {"options": "A-D"})),
        (game24, ("game24/1", {})),
        (judge, ("judge/1", {"rubric_sha256": DEFAULT.sha256(), "unicode": unicodedata.unidata_version})),
        (text, ("text/1", {})),
    ],
)
def test_name_version_and_parameters_identify_a_contract(contract, expected):
    """Ruling C3."""
    assert (label(contract), contract.params) == expected
    json.dumps(contract.params)


def test_the_words_of_multiple_choice():
    assert mcqa.instruction() == BASE_INSTRUCTION
    assert all(lens.instruction() == BASE_INSTRUCTION for lens in mcqa.lenient_readings())
    assert mcqa.grammar() == 'root ::= "<answer>" [A-D] "</answer>"'
    assert MultipleChoice("A-E").grammar() == 'root ::= "<answer>" [A-E] "</answer>"'


def test_the_words_of_the_game():
    """Rulings G10, G11: hand and target first, then the fixed words, and no example to copy."""
    words = (
        "You may show intermediate steps. Put the final expression, and nothing else, between <answer> and "
        "</answer>, using each number exactly once."
    )
    given = game24.instruction(Hand((4, 9, 10, 13), 30))
    assert game24.instruction() == words
    assert given.endswith(words)
    head = given.removesuffix(words)
    assert "4 9 10 13" in head
    assert "30" in head
    assert game24.read(given, Hand((4, 9, 10, 13), 30)).candidate in ("", "and")


def test_the_grammar_of_the_game_is_finite_and_made_of_the_hand():
    grammar = game24.grammar(Hand((10, 4, 4)))
    assert grammar.splitlines() == [
        'root ::= "<answer>" e3 "</answer>"',
        'op ::= " + " | " - " | " * " | " / "',
        'e1 ::= "4" | "10"',
        'p2 ::= "(" e2 ")" | e2',
        "e2 ::= e1 op e1",
        "e3 ::= e1 op p2 | p2 op e1",
    ]
    assert game24.grammar() is None
    assert game24.grammar(Hand((7,))).splitlines()[0] == 'root ::= "<answer>" e1 "</answer>"'


def test_an_open_task_has_no_words_and_no_grammar():
    assert (text.instruction(), text.grammar(), text.validate(text.read("x"), None)) == ("", None, None)


@pytest.mark.parametrize("options", ["", "A", "A-A", "B-D", "A-X", "A-Z", "a-d", "A-DD", "ABCD", "A–D", "A-D\n"])
def test_option_sets_that_cannot_be_are_refused(options):
    """Ruling M3."""
    with pytest.raises(UsageError, match="a run of 2 to 23 letters from A"):
        MultipleChoice(options)


WHOLE = "^hand: expected whole numbers from 0 of at most 500 digits, found"


def test_a_hand_of_nothing_is_refused():
    with pytest.raises(InputError, match=r"^hand: expected at least one number, found none"):
        Hand(())


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ((True,), "True"),
        ((-1,), "-1"),
        ((1.0,), "1.0"),
        (("1",), "'1'"),
        ((10**500,), "a longer one"),
        ((10**5000,), "a longer one"),
        ((None,), "None"),
    ],
)
def test_hands_that_cannot_be_are_refused(numbers, found):
    with pytest.raises(InputError, match=f"{WHOLE} {found}"):
        Hand(numbers)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (None, "None"),
        (24.0, "24.0"),
        (True, "True"),
        ("24", "'24'"),
        (10**500, "a longer one"),
        (-(10**500), "a longer one"),
    ],
)
def test_targets_that_cannot_be_are_refused(target, found):
    with pytest.raises(InputError, match=f"{WHOLE} {found}"):
        Hand((1,), target)


@pytest.mark.slow
def test_the_solver_finds_as_many_solvable_hands_as_are_known():
    """1,362 of the 1,820 hands of four numbers from 1 to 13."""
    assert sum(solve(hand) is not None for hand in hands(range(1, 14), 4)) == 1362


# --- patterns ---


def pattern(regex: str, compare: str = "text") -> Pattern:
    return Pattern(name="p", version=1, pattern=regex, words="w", compare=compare)


@pytest.mark.parametrize(
    ("regex", "raw", "answer"),
    [
        ("yes|no", " yes\n", "yes"),
        ("yes|no", "yes!", None),
        ("yes|no", "yes\nno", None),
        ("a(b)(c)", "abc", "b"),
        ("a(b)(?P<answer>c)", "abc", "c"),
        ("(?:x)y", "xy", "xy"),
        (r"(?s).*#### ([0-9]+)", "1\n#### 2\n#### 3", "3"),
        (r"(?s).*?#### ([0-9]+).*", "1\n#### 2\n#### 3", "2"),
        ("(a)|b", "b", None),
        (".*", "", ""),
        (".", "\ud800", "\ud800"),
        ("x(.)y", "x\udfffy", "\udfff"),
        ("(.+)", "\U000f0000\ud83d\ude00", "\U000f0000\ud83d\ude00"),
        (r"\w", "é", "é"),
        ("(?i)straße", "STRAßE", "STRAßE"),
    ],
)
def test_a_pattern_matches_the_whole_trimmed_text(regex, raw, answer):
    """Ruling C8."""
    assert pattern(regex).read(raw).extracted_answer == answer


@pytest.mark.parametrize(
    ("answer", "key", "reason"),
    [
        ("72", "72", "ok"),
        ("72.0", "72", "ok"),
        ("1,072", "1072", "ok"),
        ("-3", "-3.00", "ok"),
        ("73", "72", "wrong_answer"),
        ("1,07", "107", "not_a_number"),
        ("0.1", "0.10000000000000001", "wrong_answer"),
    ],
)
def test_numbers_are_compared_exactly(answer, key, reason):
    contract = pattern("(.*)", "number")
    assert contract.validate(contract.read(answer), AnswerKey(key)).reason == reason


def test_texts_are_compared_as_they_are():
    contract = pattern("(.*)")
    assert contract.validate(contract.read("72.0"), AnswerKey("72")).correct is False
    assert contract.validate(contract.read("72"), AnswerKey(None)) is None
    with pytest.raises(InputError, match="expected a number to compare with"):
        pattern("(.*)", "number").validate(contract.read("1"), AnswerKey("one"))


@pytest.mark.parametrize(
    ("regex", "why"),
    [
        ("(", "unclosed group"),
        (r"(a)\1", "backreferences are not supported"),
        ("(?=x)", "look-around, including look-ahead and look-behind, is not supported"),
        ("(?<=x)y", "look-around, including look-ahead and look-behind, is not supported"),
        ("a{2,1}", "invalid repetition count range"),
    ],
)
def test_patterns_that_cannot_run_in_linear_time_are_refused(regex, why):
    expected = "pattern 'p': expected a regular expression without look-around and backreferences, found"
    with pytest.raises(UsageError, match=rf"(?s)^{expected} .*error: {why}"):
        pattern(regex)


# --- the tally and the breaks ---


def test_only_compliant_outputs_enter_accuracy():
    """Ruling M6: a right answer in a non-compliant output counts for neither accuracy nor yield."""
    tally = Tally()
    for compliant, correct in ((True, True), (True, False), (False, True), (False, None), (None, None)):
        tally.add({"protocol_compliant": compliant, "correct": correct}, right_answer_known=True)
    assert (tally.right, tally.compared, tally.keyed, tally.failed, tally.n) == (1, 2, 4, 1, 5)


def test_every_break_of_a_ruling_still_stands_in_the_code():
    assert break_rulings.misplaced() == []


@pytest.mark.parametrize("contract", [mcqa, game24, json_object, judge, text])
def test_a_missing_text_is_no_output(contract):
    """Ruling C1: nothing arrived, so nothing is read and nothing is non-compliant."""
    added = RowReader(contract).read({"raw_output": None}, where="x:1").added
    assert set(added.values()) == {None}
    assert "protocol_compliant" in added
