"""Samples and scores as Inspect has them, by the fields that they have; the real ones are in `make interop`."""

import json
from dataclasses import dataclass, field
from math import isnan

import pytest

from affidavit import MultipleChoice, Pattern, game24, label, mcqa
from affidavit.errors import InputError, UsageError
from affidavit.integrations.figures import FIGURES
from affidavit.integrations.inspect_samples import figure, row_of, score_of, text_of
from affidavit.reading.rows import RowReader


@dataclass
class Message:
    text: str
    tool_calls: list[object] | None = None
    content: object = ""


@dataclass
class Part:
    """Of a message whose content is a list."""

    type: str
    reasoning: str = ""
    internal: object = None


@dataclass
class Choice:
    message: Message
    stop_reason: str = "stop"


@dataclass
class Output:
    completion: str = ""
    choices: list[Choice] = field(default_factory=list)
    error: str | None = None


@dataclass
class Option:
    value: str
    original_position: int


@dataclass
class State:
    output: Output
    sample_id: int | str = "q1"
    input_text: str = "Capital of France?"
    metadata: dict[str, object] = field(default_factory=dict)
    choices: list[Option] = field(default_factory=list)
    target: list[str] = field(default_factory=lambda: [""])


@dataclass
class Score:
    value: object
    metadata: dict[str, object] | None = None


@dataclass
class SampleScore:
    sample_id: int | str | None
    score: Score


def said(text: str, stop_reason: str = "stop", *, tools: bool = False) -> Output:
    return Output(text, [Choice(Message(text, [object()] if tools else None), stop_reason)])


def options(*places: int) -> list[Option]:
    return [Option("wxyz"[place], place) for place in places]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (said("B"), "B"),
        (said(" B\n"), " B\n"),
        (said(""), ""),
        (said("", "max_tokens"), ""),
        (said("", "content_filter"), None),
        (said("B", "content_filter"), "B"),
        (said("", "tool_calls", tools=True), None),
        (said("B", "tool_calls", tools=True), "B"),
        (Output(), None),
        (Output("refused by the server", [Choice(Message(""))], error="refused by the server"), None),
    ],
)
def test_what_arrived_is_the_model_s_text(output, text):
    assert text_of(output) == text


def thought(text: str, *parts: Part) -> Output:
    return Output(text, [Choice(Message(text, content=[*parts, Part("text")]))])


CUT = Part("reasoning", "Is it B?", "think")


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (thought("<answer>B</answer>", CUT), "<think>\nIs it B?\n</think>\n\n<answer>B</answer>"),
        (thought("<think>Is it B?</think>", CUT), "<think>Is it B?</think>"),
        (thought("<think>more</think>", CUT), "<think>\nIs it B?\n</think>\n\n<think>more</think>"),
        (thought("B", Part("reasoning", "hm", "reasoning_content")), "B"),
        (thought("B", Part("reasoning", "hm", {"signature": "s"})), "B"),
        (thought("B", Part("reasoning", "hm")), "B"),
        (thought("B"), "B"),
    ],
)
def test_thoughts_that_inspect_cut_out_of_the_text_are_put_back_and_no_others(output, text):
    """Ruling C7: reasoning is apart from the output where the server gave it apart."""
    assert text_of(output) == text
    score = score_of(RowReader(mcqa), State(output, target=["B"]))
    assert score.metadata.get("verbatim", True) == (text == output.completion)


def test_an_answer_behind_thoughts_is_no_more_compliant_because_inspect_cut_them_out():
    score = score_of(RowReader(mcqa), State(thought("<answer>B</answer>", CUT), target=["B"]))
    assert score.value["compliance"] == 0
    assert score.metadata["deviation"] == "reasoning_then_answer"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({}, {}),
        ({"target": ["B"]}, {"answer": "B"}),
        ({"target": ["A", "B"]}, {"answer": ["A", "B"]}),
        ({"target": []}, {}),
        ({"target": ["B"], "metadata": {"answer": "C", "subject": "towns"}}, {"answer": "B", "subject": "towns"}),
        (
            {"metadata": {"answer": {"year": 1}, "options": ["p", "q"]}},
            {"answer": {"year": 1}, "options": ["p", "q"]},
        ),
        ({"choices": options(0, 1), "metadata": {"options": ["p"]}}, {"options": ["w", "x"]}),
        ({"sample_id": 7}, {"id": "7"}),
    ],
)
def test_a_sample_becomes_a_row(state, expected):
    row = row_of(State(said("B"), **state))
    assert row == {"id": "q1", "question": "Capital of France?", **expected}


def test_choices_that_a_solver_shuffled_are_refused():
    with pytest.raises(UsageError) as refused:
        row_of(State(said("B"), choices=options(1, 0), target=["A"]))
    assert "sample 'q1'" in str(refused.value)
    assert "shuffle_choices" in str(refused.value)


NAN = "not scored"


@pytest.mark.parametrize(
    ("output", "target", "values", "answer", "reason"),
    [
        (said("<answer>B</answer>"), "B", [1, 1, 1], "B", None),
        (said("<answer>B</answer>"), "A", [1, 0, 0], "B", None),
        (said("<answer>B</answer>"), "", [1, NAN, NAN], "B", None),
        (said("B"), "B", [0, NAN, 0], None, "invalid_response_format"),
        (said("B"), "", [0, NAN, NAN], None, "invalid_response_format"),
        (said(" \n"), "B", [0, NAN, 0], None, "no_response"),
    ],
)
def test_a_score_has_an_entry_for_each_figure(output, target, values, answer, reason):
    score = score_of(RowReader(mcqa), State(output, target=[target]))
    assert list(score.value) == list(FIGURES)
    assert [NAN if isnan(value) else value for value in score.value.values()] == values
    assert (score.answer, score.reason) == (answer, reason)


def test_the_reading_is_in_the_metadata_of_the_score():
    score = score_of(RowReader(MultipleChoice("A-E")), State(said("E."), target=["E"]))
    assert json.loads(json.dumps(score.metadata)) == score.metadata
    assert score.metadata == {
        "contract": label(mcqa),
        "contract_params": {"options": "A-E"},
        "protocol_compliant": False,
        "extracted_answer": None,
        "deviation": "bare_letter",
        "correct": None,
        "right_answer_known": True,
    }


def test_where_nothing_arrived_nothing_is_scored():
    score = score_of(RowReader(mcqa), State(Output(), target=["B"]))
    assert isnan(score.value)
    assert (score.answer, score.reason, score.explanation) == (None, "no_output", "no output")


def test_the_metadata_of_a_sample_has_what_a_contract_needs():
    hand = {"numbers": [4, 9, 10, 13]}
    score = score_of(RowReader(game24), State(said("<answer>(13-9)*(10-4)</answer>"), metadata=hand))
    assert list(score.value.values()) == [1, 1, 1]
    assert score.answer == "(13-9)*(10-4)"


def test_a_target_that_no_output_could_give_is_a_mistake_of_the_data_set():
    with pytest.raises(InputError) as refused:
        score_of(RowReader(mcqa), State(said("B"), target=["Paris"]))
    assert "sample 'q1'" in str(refused.value)


class Failing(Pattern):
    def read(self, raw, item=None, /):
        raise ValueError("not today")


def test_what_a_contract_of_the_user_s_own_raised_is_told():
    failing = Failing("failing", 1, "[A-D]", "One letter.")
    score = score_of(RowReader(failing), State(said("B"), target=["B"]))
    assert [NAN if isnan(value) else value for value in score.value.values()] == [NAN, NAN, 0]
    assert score.reason == "scoring_failed"
    assert "not today" in score.explanation


# --- metrics ---


def scored(sample_id, *values, **metadata):
    names = dict(zip(FIGURES, [float("nan") if value is None else value for value in values], strict=True))
    return SampleScore(sample_id, Score(names, metadata or None))


@pytest.mark.parametrize(
    ("scores", "name", "value", "n"),
    [
        ([scored(1, 1, 1, 1), scored(2, 0, None, 0)], "compliance", 0.5, 2),
        ([scored(1, 1, 1, 1), scored(2, 0, None, 0)], "accuracy_over_answers", 1.0, 1),
        ([scored(1, 1, 1, 1), scored(2, 0, None, 0)], "accuracy_over_all_outputs", 0.5, 2),
        ([scored(1, 1, 1, 1), scored(2, 0, None, None)], "accuracy_over_all_outputs", 1.0, 1),
        (
            [scored(1, 1, 1, 1), scored(2, 0, None, None, right_answer_known=None)],
            "accuracy_over_all_outputs", 0.5, 2,
        ),
        ([scored(1, True, True, True), SampleScore(2, Score("C")), SampleScore(3, Score([1]))], "compliance", 1.0, 1),
        ([scored(None, 1, 1, 1), scored(None, 0, None, 0)], "compliance", 0.5, 2),
    ],
)  # fmt: skip
def test_a_figure_is_over_what_it_counts(scores, name, value, n):
    made = figure(name, scores)
    assert list(made) == [name, f"{name}_low", f"{name}_high", f"{name}_n"]
    assert (made[name], made[f"{name}_n"]) == (value, n)
    assert made[f"{name}_low"] <= value <= made[f"{name}_high"]


@pytest.mark.parametrize("scores", [[], [scored(1, None, None, None)], [scored(1, 0, None, 0)]])
def test_over_nothing_there_is_no_figure(scores):
    assert figure("accuracy_over_answers", scores) == {}


def test_the_epochs_of_a_sample_are_a_cluster():
    alone = [scored(number, number // 4 % 2, None, None) for number in range(40)]
    epochs = [scored(number // 4, number // 4 % 2, None, None) for number in range(40)]
    assert figure("compliance", epochs)["compliance_low"] < figure("compliance", alone)["compliance_low"]
    # Inspect has ids as numbers and as texts; those of one sample are one.
    mixed = [*epochs[:20], *(scored(str(each.sample_id), *each.score.value.values()) for each in epochs[20:])]
    assert figure("compliance", mixed) == figure("compliance", epochs)
