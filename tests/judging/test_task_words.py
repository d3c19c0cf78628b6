"""The words of tasks, for outputs from elsewhere: found by question and variant, refused by name."""

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.judging.task_words import Unasked, is_known, refuse_unknown_tasks, task_words
from affidavit.reading.source import Row
from affidavit.running.import_outputs import judged_outputs
from support.outputs_elsewhere import bare, row


def words(*rows: dict):
    return task_words((f"tasks.csv:{number}", each) for number, each in enumerate(rows, 2))


def test_a_variant_has_its_own_words_or_those_of_its_question():
    found = words(
        {"question_id": "q1", "prompt": "Why?", "prompt_variant": ""},
        {"question_id": "q1", "prompt": "Why? Be brief.", "prompt_variant": "brief"},
        {"question_id": 2, "prompt": " How?\n"},
        {"question_id": "q1", "prompt": "Why?", "prompt_variant": None},
    )
    assert [found.of(*names) for names in (("q1", "brief"), ("q1", "A"), ("2", "A"), ("q3", "A"))] == [
        "Why? Be brief.", "Why?", " How?\n", None
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "q1", "question": "Why?"}], "tasks.csv:2: expected a name in 'question_id', found null"),
        (
            [{"id": "q1", "question": "Why?"}],
            "question_id and prompt, and may have prompt_variant. Here: id, question.",
        ),
        ([{"question_id": " ", "prompt": "Why?"}], "tasks.csv:2: expected a name in 'question_id'"),
        ([{"question_id": "q1", "question": "Why?"}], "the words of a task in 'prompt', found null"),
        ([{"question_id": "q1", "prompt": " \n"}], "the words of a task in 'prompt', found \" \\n\""),
        ([{"question_id": "q1", "prompt": 5}], "the words of a task in 'prompt', found 5"),
        ([{"question_id": "q1", "prompt": "x", "prompt_variant": 1.5}], "a name in 'prompt_variant', found 1.5"),
        (
            [{"question_id": "q1", "prompt": "Why?"}, {"question_id": "q1", "prompt": "How?"}],
            'tasks.csv:3: expected the same words as in tasks.csv:2: both are of "q1", found "How?"',
        ),
    ],
)
def test_rows_that_say_nothing_or_two_things_are_refused_by_name(rows, said):
    with pytest.raises(InputError) as refused:
        words(*rows)
    assert said in str(refused.value)


def test_outputs_have_their_own_words_or_those_of_the_file():
    tasks = words({"question_id": "Q1", "prompt": "Why?"})
    given = [bare(output="o1"), {**bare(output="o2"), "prompt": ""}, {**bare("Q2"), "prompt": "How?"}, bare("Q3")]
    rows = [Row(str(number), number, each) for number, each in enumerate(given)]
    _, taken = judged_outputs("x", lambda: rows, tasks)
    assert [response.subject.prompt for response in taken] == ["Why?", "Why?", "How?", None]
    with pytest.raises(
        InputError, match=r"expected in 'prompt' what the file of tasks says of it: \"Why\?\", found"
    ):
        judged_outputs("x", lambda: [Row("outputs.jsonl:1", 1, row())], tasks)


def test_an_empty_cell_is_no_task():
    assert [is_known(prompt) for prompt in (None, "", " \t\n", "?")] == [False, False, False, True]


@pytest.mark.parametrize(
    ("count", "listed"),
    [(1, 'none for 1 of 9: "q0", "A"'), (5, '"q0", "A"; "q1", "A"; "q2", "A", and 2 more')],
)
def test_what_has_no_task_is_listed(count, listed):
    with pytest.raises(UsageError) as refused:
        refuse_unknown_tasks("outputs.csv", [Unasked(f"q{n}", "A") for n in range(count)], 9, hint="Give them.")
    assert listed in str(refused.value)
    refuse_unknown_tasks("outputs.csv", [], 9, hint="")
