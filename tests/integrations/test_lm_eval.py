"""What lm-eval calls, called as it calls it; the real one is in `make interop`."""

import json
import pickle
import sys
from copy import deepcopy

import pytest

from affidavit import Number, Pattern, game24, mcqa
from affidavit.errors import InputError, UsageError
from affidavit.integrations.contract_words import contract_words
from affidavit.integrations.figures import FIGURES
from affidavit.integrations.lm_eval import NO_ANSWER, NO_CONTENT, TaskContract

DOC = {"id": "q1", "question": "Capital of France?", "options": ["Rome", "Paris", "Bonn", "Oslo"], "answer": "B"}


def figures(task, texts, doc):
    """As lm-eval makes them of one document with so many outputs."""
    (answers,) = task.read().apply([texts], [doc])
    return task.figures(doc, [answers])


def test_nothing_of_lm_eval_is_imported():
    assert "lm_eval" not in sys.modules


@pytest.mark.parametrize(
    ("text", "answer", "counted"),
    [
        ("<answer>B</answer>", "B", [1.0, 1.0, 1.0]),
        ("<answer>A</answer>", "A", [1.0, 0.0, 0.0]),
        ("B. Paris", NO_ANSWER, [0.0, None, 0.0]),
        ("", NO_ANSWER, [0.0, None, 0.0]),
        (None, NO_ANSWER, [None, None, None]),
    ],
)
def test_an_output_has_an_answer_and_figures(text, answer, counted):
    task = TaskContract("mcqa")
    ((read,),) = task.read().apply([[text]], [DOC])
    assert read == answer
    assert json.dumps(read) == json.dumps(answer)
    # With take_first behind the filter, and without.
    expected = {name: value for name, value in zip(FIGURES, counted, strict=True) if value is not None}
    assert task.figures(DOC, [read]) == task.figures(DOC, [[read]]) == expected


@pytest.mark.parametrize(
    ("placeholder", "text", "arrived"),
    [
        (None, "", True),
        ("", "", True),
        ("(none)", "(none)", False),
        ("(none)", "", True),
        ("(none)", "none", True),
    ],
)
def test_what_lm_eval_put_in_the_place_of_an_output_is_none_where_it_can_be_told(
    monkeypatch, placeholder, text, arrived
):
    """Ruling C1: null content is no output. lm-eval has a text for it, which is empty unless a person names one."""
    monkeypatch.delenv(NO_CONTENT, raising=False)
    if placeholder is not None:
        monkeypatch.setenv(NO_CONTENT, placeholder)
    counted = {"compliance": 0.0, "accuracy_over_all_outputs": 0.0} if arrived else {}
    assert figures(TaskContract("mcqa"), [text], DOC) == counted


def test_figures_of_several_outputs_are_means_over_those_that_are_counted():
    texts = ["<answer>B</answer>", "<answer>A</answer>", "no", "<answer>B</answer>", None]
    expected = {"compliance": 3 / 4, "accuracy_over_answers": 2 / 3, "accuracy_over_all_outputs": 2 / 4}
    assert figures(TaskContract("mcqa"), texts, DOC) == expected


def test_answers_stay_in_the_order_of_documents_and_outputs():
    docs = [{**DOC, "answer": letter} for letter in "ABC"]
    texts = [
        ["<answer>A</answer>", "x"],
        ["<answer>B</answer>"],
        ["x", "<answer>D</answer>", "<answer>C</answer>"],
    ]
    task = TaskContract("mcqa")
    answers = task.read().apply(texts, docs)
    assert answers == [["A", NO_ANSWER], ["B"], [NO_ANSWER, "D", "C"]]
    rights = [
        task.figures(doc, [each])["accuracy_over_all_outputs"] for doc, each in zip(docs, answers, strict=True)
    ]
    assert rights == [1 / 2, 1.0, 1 / 3]


@pytest.mark.parametrize(
    ("contract", "more", "doc", "text", "answer"),
    [
        ("number", {"parameters": {"marker": "####"}}, {"answer": "42"}, "So\n#### 42", "42"),
        (Number(marker="####"), {"answer": "gold.number"}, {"gold": {"number": 42}}, "#### 42", "42"),
        ("mcqa", {"options": "A-E", "answer": "target"}, {"target": "E", "answer": 4}, "<answer>E</answer>", "E"),
        (Pattern("letter", 1, "[A-D]", "One letter."), {}, {"answer": "B"}, "B\n", "B"),
        (game24, {}, {"numbers": [4, 9, 10, 13]}, "(13-9)*(10-4)", "(13-9)*(10-4)"),
        ("text", {}, {}, "Dear reader", "Dear reader"),
    ],
)
def test_any_contract_can_be_meant(contract, more, doc, text, answer):
    task = TaskContract(contract, **more)
    ((read,),) = task.read().apply([[text]], [doc])
    assert read == answer
    assert task.figures(doc, [read]).get("accuracy_over_all_outputs") in (1.0, None)


def test_a_prompt_is_in_the_words_of_the_contract():
    assert TaskContract("mcqa").prompt(DOC) == contract_words(mcqa, DOC, where="here")
    renamed = {name: value for name, value in DOC.items() if name != "answer"} | {"answer": 1, "key": "B"}
    assert TaskContract("mcqa", answer="key").prompt(renamed) == contract_words(mcqa, DOC, where="here")


class Shouting:
    name, version, params = "shouting", 1, {}

    def instruction(self, item=None):
        return "Shout."

    def read(self, raw, item=None):
        return Pattern("capitals", 1, "[A-Z]+", "").read(raw)

    def validate(self, reading, item):
        return None if reading.extracted_answer is None else mcqa.validate(reading, mcqa.item(item, where="here"))

    def grammar(self, item=None):
        return None


def test_outputs_of_which_nobody_says_so_count_beside_those_that_were_compared():
    task, doc = TaskContract(Shouting()), {"answer": None}
    alone = task.read().apply([["no"]], [doc])
    beside = task.read().apply([["no"], ["B"]], [doc, {"answer": "B"}])
    assert task.figures(doc, alone) == {"compliance": 0.0}
    assert task.figures(doc, beside[:1]) == {"compliance": 0.0, "accuracy_over_all_outputs": 0.0}


def test_mistakes_are_told_before_anything_is_asked():
    with pytest.raises(UsageError, match="mqca"):
        TaskContract("mqca")
    with pytest.raises(UsageError, match="options: expected a contract that shows options"):
        TaskContract("number", options="A-E")


@pytest.mark.parametrize(
    ("doc", "place"),
    [
        ({**DOC, "answer": "Paris"}, 'document "q1"'),
        ({"question": "Capital?", "answer": "Paris"}, 'document "Capital?"'),
        ({"answer": "Paris"}, "a document"),
    ],
)
def test_a_right_answer_that_no_output_could_give_is_refused_where_it_stands(doc, place):
    with pytest.raises(InputError) as refused:
        TaskContract("mcqa").read().apply([["<answer>B</answer>"]], [doc])
    assert str(refused.value).startswith(place)


@pytest.mark.parametrize("result", ["B", ["B"], None, 1.0])
def test_figures_need_the_filter(result):
    with pytest.raises(UsageError) as refused:
        TaskContract("mcqa").figures(DOC, [result])
    assert "begins with its read" in str(refused.value)


def test_lm_eval_may_copy_and_send_what_it_is_given():
    task = TaskContract("mcqa")
    assert deepcopy({"filter": [task.read]})["filter"][0].__self__ is task
    assert "TaskContract(mcqa/1)" in str(task.read)
    ((read,),) = task.read().apply([["<answer>B</answer>"]], [DOC])
    sent = pickle.loads(pickle.dumps(read))  # noqa: S301 - it is ours
    assert sent == "B"
    assert task.figures(DOC, [sent]) == task.figures(DOC, [read])
