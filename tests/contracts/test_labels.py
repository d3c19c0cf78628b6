"""Sets of labels: what the parameters may be, what a right answer may be, the words, and the grammar."""

import json
import re
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import AnswerKey, LabelSet
from affidavit.contracts.contract import label
from affidavit.contracts.label_set import LONGEST, KnownLabels, LabelDeviation
from affidavit.contracts.labels import MOST_REASONING, labels
from affidavit.contracts.parts import ANSWER
from affidavit.contracts.registry import contract_named, frozen_parts
from affidavit.errors import InputError, UsageError
from affidavit.reading.rows import RowReader

TOPICS = LabelSet(["art", "economy", "sport"])
OR_NONE = LabelSet(["art", "economy", "sport"], none="none")
ONE = LabelSet(["art", "economy", "sport"], single=True)


# --- parameters ---


def test_name_version_and_parameters_identify_the_contract():
    """Ruling C3."""
    assert (label(OR_NONE), OR_NONE.params) == (
        "labels/1",
        {"labels": ["art", "economy", "sport"], "none": "none", "single": False},
    )
    assert LabelSet(("art", "economy", "sport"), "none") == OR_NONE
    assert LabelSet(["economy", "art", "sport"]) != TOPICS, "the order is that of answers"


@pytest.mark.parametrize("contract", [TOPICS, OR_NONE, ONE, LabelSet(["é 😀"])])
def test_the_parameters_give_the_same_contract_again(contract):
    given_again = json.loads(json.dumps(contract.params))
    assert contract_named("labels", parameters=given_again) == contract
    described = {"contract": "labels/1", "params": given_again}
    assert frozen_parts("labels", described) == frozen_parts("own.py:topics", described) == contract


@pytest.mark.parametrize(
    "value",
    [
        None, "a", 3, {}, [], [""], [" "], ["a", 1], ["a", None], [["a"]], ["a,b"], ["a<b"], ["a\nb"], ["a\rb"],
        ["a\u2028b"], ["a\x85b"], ["a\tb"], ["a\0"], [" a"], ["a\u3000"], ["\ud800"], ["a", "b", "a"], ["a" * (LONGEST + 1)],
        [f"{number}" for number in range(5_000)], [True],
    ],
)  # fmt: skip
def test_lists_of_labels_that_cannot_be_are_refused_at_their_place(value):
    """Ruling L1."""
    with pytest.raises(InputError, match=r"^parameters\.labels: expected "):
        contract_named("labels", parameters={"labels": value})


@pytest.mark.parametrize("value", [None, 3, True, [], " ", "a,b", "no\nne", "<none>", " none", "\udfff", "art"])
def test_words_for_none_that_cannot_be_are_refused_at_their_place(value):
    """Ruling L1."""
    with pytest.raises(InputError, match=r"^parameters\.none: expected "):
        contract_named("labels", parameters={"labels": ["art"], "none": value})


@pytest.mark.parametrize("value", [None, 0, 1, "true", [], {}])
def test_single_is_true_or_false(value):
    with pytest.raises(InputError, match=r"^parameters\.single: expected true or false"):
        contract_named("labels", parameters={"labels": ["art"], "single": value})


def test_exactly_one_label_has_no_word_for_none():
    """Ruling L1."""
    with pytest.raises(InputError, match=r"(?s)^parameters\.none: .*make the word for none one of the labels"):
        LabelSet(["art", "sport"], none="none", single=True)


def test_labels_have_to_be_given_and_nothing_else_can_be():
    with pytest.raises(InputError, match=r"(?s)parameters\.labels: .*found null.*Say which there are"):
        contract_named("labels")
    with pytest.raises(UsageError, match=r"(?s)a parameter of labels: labels, none, single, found 'lables'"):
        contract_named("labels", parameters={"lables": ["a"]})


def test_as_many_labels_as_a_record_holds():
    """Ruling L1: an answer with all of them is not cut."""
    known = KnownLabels.of(["a" * (LONGEST // 2 - 1), "b" * (LONGEST // 2 - 1)])
    assert len(known.written(known.labels)) == LONGEST


def test_the_word_for_none_counts_among_the_characters():
    """Ruling L1: it is an answer too, which no record may cut."""
    assert len(KnownLabels.of(["art"], "n" * (LONGEST - 5)).none) == LONGEST - 5
    for word in ("n" * (LONGEST - 4), "n" * (LONGEST + 1)):
        with pytest.raises(InputError, match=r"^parameters\.none: expected .* at most 10,000 characters together"):
            KnownLabels.of(["art"], word)


def test_right_is_the_whole_set_where_there_may_be_several():
    """Ruling L5."""
    assert (TOPICS.right_means(), ONE.right_means()) == ("the whole set", "")


def test_what_the_contract_says_of_itself_is_so():
    assert labels.read(labels.passing).protocol_compliant
    assert labels.read(labels.failing).deviation is LabelDeviation.UNKNOWN_LABEL
    assert labels.summary
    assert labels.rulings == "L1-L8"
    assert labels.parameters.keys() == labels.params.keys()


# --- right answers ---


@pytest.mark.parametrize(
    ("contract", "answer", "right"),
    [
        (TOPICS, ["sport"], "sport"),
        (TOPICS, ["sport", "art"], "art, sport"),
        (TOPICS, "sport,art", "art, sport"),
        (TOPICS, " sport , art ", "art, sport"),
        (TOPICS, '["sport", "art"]', "art, sport"),
        (TOPICS, ' ["sport"] ', "sport"),
        (OR_NONE, "[]", "none"),
        (LabelSet(["[]", '["a"]', "a"]), '["a"]', '["a"]'),  # a text that is an answer is that answer
        (OR_NONE, [], "none"),
        (OR_NONE, "none", "none"),
        (ONE, ["art"], "art"),
        (ONE, "art", "art"),
        (TOPICS, None, None),
    ],
)
def test_a_right_answer_is_a_list_or_a_text(contract, answer, right):
    """Ruling L5."""
    assert contract.item({"answer": answer}, where="x:1") == AnswerKey(right)
    assert contract.example({"answer": answer}, where="x:1") == (right and f"<answer>{right}</answer>")
    if right is not None:
        assert contract.can_answer(right)
        reading = contract.read(contract.example({"answer": answer}, where="x:1"))
        assert contract.validate(reading, AnswerKey(right)).reason == "ok"


@pytest.mark.parametrize(
    ("contract", "answer", "hint"),
    [
        (TOPICS, ["sprot"], "Did you mean sport?"),
        (TOPICS, "art, sprot", "Did you mean sport?"),
        (TOPICS, ["Art"], "Did you mean art?"),
        (TOPICS, ["art", "art"], "The labels are"),
        (TOPICS, "art, art", "The labels are"),
        (TOPICS, [], "give the contract a word for that"),
        (TOPICS, "", "give the contract a word for that"),
        (TOPICS, "[]", "give the contract a word for that"),
        (TOPICS, '["art", "sprot"]', "Did you mean sport?"),
        (TOPICS, '["art", "art"]', "The labels are"),
        (TOPICS, '["art"', "Did you mean art?"),
        (TOPICS, "[art]", "Did you mean art?"),
        (TOPICS, "['art']", ""),
        (TOPICS, "[" * 5000, "The labels are"),
        (TOPICS, '{"art": 1}', "The labels are"),
        (ONE, '["art", "sport"]', "The labels are"),
        (TOPICS, [" art"], "The labels are"),
        (TOPICS, ["art, sport"], ""),
        (TOPICS, ["art", 3], "The labels are"),
        (TOPICS, [["art"]], "The labels are"),
        (TOPICS, 3, "The labels are"),
        (TOPICS, {"art": 1}, "The labels are"),
        (TOPICS, True, "The labels are"),
        (OR_NONE, ["none"], ""),
        (OR_NONE, "none, art", ""),
        (ONE, ["art", "sport"], "The labels are"),
        (ONE, "art, sport", "The labels are"),
        (ONE, [], "The labels are"),
    ],
)
def test_right_answers_that_no_output_could_give_are_refused(contract, answer, hint):
    """Ruling L5."""
    with pytest.raises(InputError, match=r"^x:1: expected .* in 'answer', found ") as caught:
        contract.item({"answer": answer}, where="x:1")
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        ("<answer>sport, art</answer>", "art, sport", "ok"),
        ("<answer>art</answer>", "sport, art", "wrong_set"),
        ("<answer>art, economy, sport</answer>", "art, sport", "wrong_set"),
        ("<answer>none</answer>", "none", "ok"),
        ("<answer>none</answer>", "art", "wrong_set"),
        ("<answer>art</answer>", "none", "wrong_set"),
        ("<answer>art</answer>", "art , sport", "wrong_set"),
    ],
)
def test_an_answer_is_right_if_the_sets_are_equal(text, answer, reason):
    """Ruling L5."""
    said = OR_NONE.validate(OR_NONE.read(text), AnswerKey(answer))
    assert (said.correct, said.reason) == (reason == "ok", reason)


def test_without_an_answer_or_a_right_one_nothing_is_compared():
    assert OR_NONE.validate(OR_NONE.read("art"), AnswerKey("art")) is None
    assert OR_NONE.validate(OR_NONE.read("<answer>art</answer>"), AnswerKey(None)) is None
    with pytest.raises(InputError, match=r"^answer: expected a list of labels"):
        OR_NONE.validate(OR_NONE.read("<answer>art</answer>"), AnswerKey("weather"))


def test_a_row_gets_the_fields_of_the_contract():
    reader = RowReader(OR_NONE)
    row = {"raw_output": "So <answer>sport, art</answer>", "answer": ["art", "sport"]}
    assert reader.read(row, where="x:1").added == {
        "protocol_compliant": True, "extracted_answer": "art, sport", "extracted_labels": ["art", "sport"], "answer_start": 11,
        "answer_end": 21, "deviation": None, "correct": True,
    }  # fmt: skip
    added = reader.read({"raw_output": None, "answer": "art"}, where="x:1").added
    assert added.keys() == {"protocol_compliant", *OR_NONE.fields_added({"answer": None})}
    assert set(added.values()) == {None}, "ruling C1: nothing arrived"
    assert "correct" not in reader.read({"raw_output": "x"}, where="x:1").added


def test_the_answer_is_marked_and_a_deviation_is_named():
    raw = "So <answer> sport, art </answer>"
    fields = OR_NONE.read(raw).fields()
    (mark,) = OR_NONE.marks(raw, fields)
    assert (raw[mark.start : mark.end], mark.kind) == ("sport, art", ANSWER)
    broken = {"protocol_compliant": False, **OR_NONE.read("art").fields()}
    assert list(OR_NONE.marks("art", broken)) == []
    assert OR_NONE.kind_of_failing(broken) == "no_block"


def test_tables_get_both_sets_as_they_are_recorded():
    fields = {"extracted_answer": "art", "right_answer": "sport, art"}
    assert TOPICS.result_columns(fields, {}) == {"letter": "art", "right_letter": "art, sport"}
    for forged in (None, 3, ["weather"], {}, [[]]):
        columns = TOPICS.result_columns({"extracted_answer": None, "right_answer": forged}, {})
        assert columns == {"letter": None, "right_letter": None}


# --- words ---


def test_the_words_name_every_label_and_hold_no_answer():
    for contract in (TOPICS, OR_NONE, ONE):
        words = contract.instruction()
        assert "art, economy, sport" in words
        assert contract.instruction(AnswerKey("art")) == words
        assert contract.read(words).deviation is LabelDeviation.TEXT_AFTER, (
            "whoever repeats the words has no answer"
        )
        assert ("put none there" in words) == (contract is OR_NONE)
        assert ("the one label" in words) == (contract is ONE)


# --- grammar ---


def sentences(grammar: str, *, reasoning: str = "") -> list[str]:
    """Every text of the grammar, with this in place of the free part."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines())
    free = f"[^<]{{0,{MOST_REASONING}}}"
    assert rules["root"].startswith(f"{free} ")
    rules["root"] = rules["root"].replace(free, json.dumps(reasoning), 1)
    tokens = {name: re.findall(r'"(?:[^"\\]|\\.)*"|\w+|[()|?]', body) for name, body in rules.items()}
    return [text for text, at in alternatives(tokens, "root", 0) if at == len(tokens["root"])]


def alternatives(rules: dict, name: str, at: int) -> list[tuple[str, int]]:
    """What stands from a word on: texts, and where each ends; ends at a parenthesis or at the end."""
    body, found, texts = rules[name], [], [""]
    while at < len(body) and body[at] != ")":
        word = body[at]
        at += 1
        if word == "|":
            found, texts = [*found, *texts], [""]
            continue
        if word == "(":
            inner = alternatives(rules, name, at)
            at = inner[0][1] + 1
            more = [text for text, _ in inner]
            if body[at : at + 1] == ["?"]:
                at, more = at + 1, ["", *more]
        elif word.startswith('"'):
            more = [json.loads(word)]
        else:
            more = [text for text, _ in alternatives(rules, word, 0)]
        texts = ["".join(pair) for pair in product(texts, more)]
    return [(text, at) for text in (*found, *texts)]


def test_the_grammar_is_every_set_once_in_the_order_of_the_labels():
    """Ruling L6."""
    known = ["art", "arts", 'so "it"\\', "é 😀", "x"]
    every = [", ".join(some) for size in range(1, 6) for some in combinations(known, size)]
    for none in ("", "none"):
        found = sentences(LabelSet(known, none).grammar())
        wanted = every if not none else [*every, none]
        assert sorted(found) == sorted(f"<answer>{each}</answer>" for each in wanted)
    assert sentences(LabelSet(known, single=True).grammar()) == [f"<answer>{each}</answer>" for each in known]
    assert sentences(LabelSet(["x"]).grammar()) == ["<answer>x</answer>"]


@given(
    st.lists(st.sampled_from(["art", "Art", "a b", "}", "|", '"', "\\", "é", "\\n", "]"]), min_size=1, max_size=5, unique=True),
    st.sampled_from(["", "none", "?"]),
    st.booleans(),
    st.text(st.characters(exclude_characters="<"), max_size=MOST_REASONING),
)  # fmt: skip
def test_whatever_the_grammar_admits_is_compliant(known, none, single, reasoning):
    """Ruling L6, with any reasoning that the free part admits."""
    contract = LabelSet(known, "" if single else none, single)
    for text in sentences(contract.grammar(), reasoning=reasoning.encode("utf-8", "replace").decode()):
        assert contract.read(text).protocol_compliant, text


def test_the_grammar_grows_with_the_labels_and_not_with_their_sets():
    assert len(LabelSet([f"label {number}" for number in range(500)]).grammar()) < 500 * 80
