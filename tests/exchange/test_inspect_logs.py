"""Inspect's samples become outputs, whichever file they are in; what a version does not have is refused."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.inspect_json import INSPECT_JSON
from affidavit.exchange.inspect_logs import ReducedMean
from affidavit.exchange.log import Grader, Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord


def sample(number: int | str = 1, epoch: int = 1, text: object = "ANSWER: B", **more) -> dict:
    message = {"role": "assistant", "content": text, "source": "generate"}
    return {
        "id": number,
        "epoch": epoch,
        "input": "Which?",
        "choices": ["x", "y"],
        "target": "B",
        "messages": [{"role": "user", "content": "Which? A) x B) y"}, message],
        "output": {
            "model": "tiny-1",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": {"output_tokens": 3},
            "completion": text if isinstance(text, str) else "",
        },
        "scores": {"match": {"value": "C", "answer": "B", "explanation": "ANSWER: B"}},
        "metadata": {"subject": "art"},
        "store": {},
        "events": [{"event": "info", "data": {"id": 7, "epoch": 7}}],
        "attachments": {"abc": "the text that was put aside"},
        **more,
    }


def replied(choice: dict, output: dict | None = None, **more) -> dict:
    """A sample whose only choice has these fields, its message those of `message`."""
    found = sample(**more)
    message = {"role": "assistant", "content": "B", **choice.pop("message", {})}
    return found | {
        "output": {
            "choices": [{"stop_reason": "stop", **choice, "message": message}],
            "usage": {"output_tokens": 3},
            **(output or {}),
        }
    }


def metrics(**values: float) -> dict:
    return {name: {"name": name, "value": value, "params": {}} for name, value in values.items()}


def header(*scores: dict, **more) -> dict:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": "2026-01-02T03:04:05+00:00",
            "task": "quiz",
            "model": "openai/tiny",
            "dataset": {"samples": 9, "sample_ids": [1, 2], "shuffled": False},
            "config": {"epochs": 2, "epochs_reducer": ["mean"]},
            "packages": {"inspect_ai": "0.3.150"},
            **more.pop("eval", {}),
        },
        "plan": {"steps": [{"solver": "generate", "params": {}}], **more.pop("plan", {})},
        "results": {"total_samples": 4, "completed_samples": 2, "scores": list(scores)},
        "stats": {"model_usage": {"openai/tiny": {}}},
        **more,
    }


def scored(name: str = "match", **more) -> dict:
    return {"name": name, "scorer": name, "params": {}, "metrics": metrics(accuracy=1.0), **more}


def log(folder: Path, *samples: dict, head: dict | None = None) -> Log:
    path = folder / "log.json"
    path.write_text(json.dumps({**(header(scored()) if head is None else head), "samples": list(samples)}))
    return INSPECT_JSON.opened(path)


def only(folder: Path, *samples: dict, head: dict | None = None) -> LoggedOutput:
    (found,) = log(folder, *samples, head=head).outputs()
    return found


def word(folder: Path, value: object, head: dict | None = None, **more) -> SourceWord:
    (found,) = only(folder, sample(scores={"match": {"value": value, **more}}), head=head).words
    return found


def test_a_sample_becomes_an_output(tmp_path):
    found = only(tmp_path, sample(7, 2))
    assert (found.item_id, found.sample, found.model, found.raw_output, found.verbatim) == (
        "7",
        1,
        "openai/tiny",
        "ANSWER: B",
        True,
    )
    assert (found.question, found.prompt, found.options, found.answer) == (
        "Which?",
        "Which? A) x B) y",
        ["x", "y"],
        "B",
    )
    assert (found.finish_reason, found.error, found.no_answer, found.reasoning) == ("stop", None, None, None)
    assert (found.place, found.more) == ("samples[0]", {"subject": "art"})
    assert found.words == (SourceWord(scorer="match", answer="B", correct=True, points=1.0, score="C"),)


def test_a_header_says_what_was_printed_planned_and_made(tmp_path):
    read = log(tmp_path, sample(), head=header(scored(scored_samples=1, unscored_samples=3), invalidated=True))
    assert (read.task, read.planned, read.graders) == ("quiz", 4, ())
    assert [(each.scorer, each.metric, each.value) for each in read.printed] == [("match", "accuracy", 1.0)]
    assert read.facts == {
        "version": 2,
        "status": "success",
        "created": "2026-01-02T03:04:05+00:00",
        "invalidated": True,
        "completed": 2,
        "scored": {"match": 1},
        "unscored": {"match": 3},
        "inspect_ai": "0.3.150",
        "models_used": ["openai/tiny"],
    }
    stopped = header(status="error", error={"message": "out of money", "traceback": ""}, results=None)
    read = log(tmp_path, head=stopped)
    assert (read.planned, read.printed, list(read.outputs())) == (4, (), [])
    assert (read.facts["status"], read.facts["error"]) == ("error", "out of money")
    assert log(tmp_path, head=header(results=None, eval={"dataset": {"samples": 9}})).planned is None


@pytest.mark.parametrize(
    ("value", "points", "correct", "no_answer"),
    [
        ("C", 1.0, True, None),
        ("I", 0.0, False, None),
        ("P", 0.5, None, None),
        ("N", 0.0, None, NoAnswer.SENTINEL),
        (True, 1.0, True, None),
        (False, 0.0, False, None),
        (1, 1.0, True, None),
        (0.0, 0.0, False, None),
        (0.25, 0.25, None, None),
        ("yes", 1.0, True, None),
        ("False", 0.0, False, None),
        ("0.5", 0.5, None, None),
        ("banana", 0.0, None, None),
        (None, None, None, None),
        (float("inf"), None, None, None),
    ],
)
def test_values_count_as_inspect_counts_them(tmp_path, value, points, correct, no_answer):
    found = word(tmp_path, value)
    assert (found.points, found.correct, found.no_answer, found.score) == (points, correct, no_answer, value)


def test_a_value_that_is_no_number_is_unscored_and_the_sample_read(tmp_path):
    found = word(tmp_path, float("nan"))
    assert (found.points, found.correct) == (None, None)


def test_0_and_1_are_verdicts_only_where_accuracy_is_made(tmp_path):
    assert word(tmp_path, 1, header(scored(metrics=metrics(mean=1.0)))).correct is None
    assert word(tmp_path, "yes", header(scored(metrics=metrics(mean=1.0)))).correct is None
    unfinished = header(
        results=None, eval={"scorers": [{"name": "match", "metrics": [{"name": "inspect_ai/accuracy"}]}]}
    )
    assert word(tmp_path, 1, unfinished).correct is True


def test_values_of_several_entries_are_several_words(tmp_path):
    head = header(
        scored("fluent", scorer="match", metrics=metrics(mean=3.0)),
        scored("right", scorer="match"),
    )
    two = {
        "match": {"value": {"fluent": 3, "right": 1, "unknown": None}, "answer": "B"},
        "other": {"value": [1, "I"]},
    }
    read = log(tmp_path, sample(scores=two), head=head)
    (found,) = read.outputs()
    assert [(each.scorer, each.points, each.correct) for each in found.words] == [
        ("match.fluent", 3.0, None),
        ("match.right", 1.0, True),
        ("match.unknown", None, None),
        ("other.1", 1.0, None),
        ("other.2", 0.0, False),
    ]
    assert [each.scorer for each in read.printed] == ["match.fluent", "match.right"]
    assert recounted(read) == [3.0, 1.0]


def test_a_grader_without_a_grade_is_an_error_that_was_scored(tmp_path):
    found = word(tmp_path, "I", explanation="Grade not found in model output: I like it")
    assert (found.correct, found.points, found.no_answer) == (False, 0.0, NoAnswer.ERROR)


QA = "model_graded_qa"


@pytest.mark.parametrize(
    ("evaluated", "params", "graders"),
    [
        ({}, {}, [("openai/tiny", QA)]),
        ({}, {"model": "openai/judge"}, [("openai/judge", QA)]),
        ({}, {"model": ["a/one", {"model": "b/two"}]}, [("a/one", QA), ("b/two", QA)]),
        ({"model_roles": {"grader": {"model": "openai/judge", "config": {}}}}, {}, [("openai/judge", QA)]),
        ({"model_roles": {"critic": {"model": "a/critic"}}}, {"model_role": "critic"}, [("a/critic", QA)]),
        (
            {"scorers": [{"name": "o/own", "options": {"model": "a/own"}}]},
            {},
            [("a/own", "own"), ("openai/tiny", QA)],
        ),
    ],
)
def test_whoever_graded_is_named_the_evaluated_model_too(tmp_path, evaluated, params, graders):
    head = header(scored("model_graded_qa", params=params), eval=evaluated)
    assert [(each.model, each.scorer) for each in log(tmp_path, head=head).graders] == graders


def test_a_role_is_of_any_scorer_where_none_is_known_to_ask_a_model(tmp_path):
    head = header(scored("own"), eval={"model_roles": {"grader": "a/judge"}})
    assert log(tmp_path, head=head).graders == (Grader("a/judge"),)


TWO = [{"type": "text", "text": "one"}, {"type": "image", "image": "x"}, {"type": "text", "text": "two"}]
SIGNED = {"type": "reasoning", "reasoning": "hm", "signature": "s"}
UNSIGNED = {"type": "reasoning", "reasoning": "hm"}
REDACTED = {"type": "reasoning", "reasoning": "xyz", "redacted": True, "signature": "s"}


@pytest.mark.parametrize(
    ("content", "text", "verbatim", "reasoning"),
    [
        ("one\n", "one\n", True, None),
        ("", "", True, None),
        ([{"type": "text", "text": "one"}], "one", True, None),
        (TWO, "one\ntwo", False, None),
        ([SIGNED, {"type": "text", "text": "B"}], "B", True, "hm"),
        ([UNSIGNED, {"type": "text", "text": "B"}], "B", False, "hm"),
        ([UNSIGNED, {"type": "text", "text": "\nB"}], "\nB", True, "hm"),
        ([REDACTED, {"type": "text", "text": "B"}], "B", True, None),
        ("\ud800B", "\ud800B", True, None),
    ],
)
def test_parts_are_joined_and_what_inspect_may_have_changed_is_not_called_verbatim(
    tmp_path, content, text, verbatim, reasoning
):
    found = only(tmp_path, replied({"message": {"content": content}}))
    assert (found.raw_output, found.verbatim, found.reasoning) == (text, verbatim, reasoning)


def test_a_solver_that_shuffles_options_writes_the_answer_anew(tmp_path):
    head = header(plan={"steps": [{"solver": "multiple_choice", "params": {"shuffle": True}}]})
    read = list(log(tmp_path, sample(1), sample(2, text="I say B"), head=head).outputs())
    assert [(each.verbatim, each.prompt) for each in read] == [(False, None), (True, None)]


def test_a_completion_that_is_not_the_text_is_kept_beside_it(tmp_path):
    found = only(tmp_path, replied({}, {"completion": "cleaned"}))
    assert (found.raw_output, found.verbatim, found.more["inspect_completion"]) == ("B", True, "cleaned")
    found = only(tmp_path, replied({}, {"completion": "attachment://abc"}))
    assert "inspect_completion" not in found.more


LIMIT = {"limit": {"type": "token", "limit": 9}}
ERROR = {"error": {"message": "boom", "traceback": "", "traceback_ansi": ""}}
TOOL = [{"id": "1", "function": "bash", "arguments": {}}]
EMPTY = sample(output={"choices": [], "completion": ""})


@pytest.mark.parametrize(
    ("one", "text", "kind", "why"),
    [
        (EMPTY, None, NoAnswer.MISSING, (None, None)),
        (EMPTY | ERROR, None, NoAnswer.ERROR, ("boom", None)),
        (EMPTY | LIMIT, None, NoAnswer.LIMIT, (None, None)),
        (sample(output=None), None, NoAnswer.MISSING, (None, None)),
        (sample(**ERROR), "ANSWER: B", None, ("boom", "stop")),
        (sample(**LIMIT), "ANSWER: B", None, (None, "stop")),
        (sample(text="", **LIMIT), None, NoAnswer.LIMIT, (None, "stop")),
        (replied({"message": {"content": "", "tool_calls": TOOL}}), None, NoAnswer.MISSING, (None, "stop")),
        (replied({"message": {"content": None}}), None, NoAnswer.MISSING, (None, "stop")),
        (replied({"message": {"content": None}, "stop_reason": "max_tokens"}), "", None, (None, "length")),
        (replied({"message": {"content": [UNSIGNED]}}), "", None, (None, "stop")),
        (replied({"message": {"content": ""}, "stop_reason": "content_filter"}), None, NoAnswer.ERROR, ("content_filter", "content_filter")),
        (replied({"stop_reason": "content_filter"}, {"error": "B"}), None, NoAnswer.ERROR, ("B", "content_filter")),
        (replied({"stop_reason": "content_filter"}, {"error": "no"}), "B", None, ("no", "content_filter")),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told_by_kind(tmp_path, one, text, kind, why):
    found = only(tmp_path, one)
    assert (found.raw_output, found.no_answer, (found.error, found.finish_reason)) == (text, kind, why)


@pytest.mark.parametrize(
    ("stop_reason", "usage", "finish_reason", "verbatim"),
    [
        ("max_tokens", {"output_tokens": 3}, "length", True),
        ("model_length", {"output_tokens": 3}, "length", True),
        ("model_length", None, "model_length", False),
        ("content_filter", {"output_tokens": 3}, "content_filter", True),
        ("content_filter", None, "content_filter", False),
        ("stop", None, "stop", True),
    ],
)
def test_a_text_in_place_of_an_error_is_not_called_verbatim(tmp_path, stop_reason, usage, finish_reason, verbatim):
    found = only(tmp_path, replied({"stop_reason": stop_reason}, {"usage": usage}))
    assert (found.finish_reason, found.verbatim) == (finish_reason, verbatim)
    assert found.more.get("inspect_stop_reason") == (stop_reason if stop_reason != finish_reason else None)


USER, SAID, SYSTEM = ({"role": role, "content": f"the {role}"} for role in ("user", "assistant", "system"))


@pytest.mark.parametrize(
    ("messages", "prompt", "system"),
    [
        ([USER, SAID], "the user", None),
        ([USER], "the user", None),
        ([SYSTEM, USER, SAID], "the user", ["the system"]),
        ([USER | {"content": "attachment://abc"}, SAID], "the text that was put aside", None),
        ([USER | {"content": "attachment://none"}, SAID], None, None),
        ([USER | {"content": TWO}, SAID], None, None),
        ([USER | {"content": TWO[:1]}, SAID], "one", None),
        ([SYSTEM | {"content": TWO}, USER, SAID], None, None),
        ([USER, SAID, USER, SAID], None, None),
        ([USER, USER], None, None),
        ([SAID], None, None),
        ([], None, None),
        (None, None, None),
    ],
)
def test_the_prompt_is_the_one_message_that_was_sent(tmp_path, messages, prompt, system):
    found = only(tmp_path, sample(messages=messages))
    assert (found.prompt, found.more.get("inspect_system")) == (prompt, system)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("attachment://abc", "the text that was put aside"),
        ("attachment://none", None),
        ([USER], None),
    ],
)
def test_the_question_is_the_input_where_that_is_a_text(tmp_path, said, question):
    assert only(tmp_path, sample(input=said)).question == question
    assert only(tmp_path, sample(input=said, metadata={"half": "\ud800"})).question == question


@pytest.mark.parametrize(
    ("target", "answer", "targets"),
    [("B", "B", None), (["B"], "B", None), (["B", "C"], None, ["B", "C"]), ("", None, None), ([], None, None)],
)
def test_several_targets_are_no_answer(tmp_path, target, answer, targets):
    found = only(tmp_path, sample(target=target))
    assert (found.answer, found.more.get("inspect_targets")) == (answer, targets)


def test_version_1_has_one_score(tmp_path):
    old = sample()
    del old["scores"]
    results = {"total_samples": 1, "scorer": {"name": "includes", "params": {}}, "metrics": metrics(accuracy=1.0)}
    read = log(tmp_path, old | {"score": {"value": "C"}}, head=header(version=1, results=results))
    (found,) = read.outputs()
    assert [(each.scorer, each.correct) for each in found.words] == [("includes", True)]
    assert [(each.scorer, each.value) for each in read.printed] == [("includes", 1.0)]
    assert recounted(read) == [1.0]


def recounted(read: Log) -> list[float | None]:
    found = []
    for printed in read.printed:
        if printed.recount is not None:
            again = printed.recount()
            for output in read.outputs():
                again.add(output)
            found.append(again.value())
    return found


@pytest.mark.parametrize(
    ("reducer", "again"),
    [
        (None, 0.5),
        ("mean", 0.5),
        ("mode", 0.5),
        ("max", 1.0),
        ("median", 0.5),
        ("at_least_1", 1.0),
        ("at_least_2", 0.5),
        ("at_least_3", 0.0),
        ("pass_at_1", (2 / 3 + 1 / 3) / 2),
        ("pass_at_2", (1 + 2 / 3) / 2),
        ("pass_at_9", None),
    ],
)
def test_epochs_are_brought_together_as_the_log_says(tmp_path, reducer, again):
    values = {1: "CCI", 2: "ICI"}
    samples = [
        sample(number, epoch, scores={"match": {"value": value}})
        for number in values
        for epoch, value in reversed(list(enumerate(values[number], 1)))
    ]
    (found,) = recounted(log(tmp_path, *samples, head=header(scored(reducer=reducer))))
    assert found == (None if again is None else pytest.approx(again, abs=1e-12))


def test_over_nothing_there_is_no_mean(tmp_path):
    mean = ReducedMean("match", reducer=len)
    assert mean.value() is None
    mean.add(only(tmp_path, sample(scores={"match": {"value": None}, "other": {"value": "C"}})))
    assert mean.value() is None


def test_of_equally_common_scores_that_of_the_first_epoch_counts(tmp_path):
    samples = [sample(1, epoch, scores={"match": {"value": value}}) for epoch, value in ((2, "C"), (1, "P"))]
    assert recounted(log(tmp_path, *samples, head=header(scored(reducer="mode")))) == [0.5]


def test_what_is_between_wrong_and_right_hangs_on_a_threshold(tmp_path):
    samples = [sample(1, epoch, scores={"match": {"value": "P"}}) for epoch in (1, 2)]
    assert recounted(log(tmp_path, *samples, head=header(scored(reducer="at_least_1")))) == [None]


@pytest.mark.parametrize(
    "head",
    [
        header(scored(reducer="own")),
        header(scored(reducer="at_least_x")),
        header(scored(), eval={"config": {"epochs_reducer": []}}),
        header(scored(), eval={"config": {"epochs_reducer": ["mean", "max"]}}),
        header(scored(metrics=metrics(stderr=0.1))),
        header(scored(metrics={"accuracy": {"name": "own/accuracy", "value": 1.0}})),
        header(scored(metrics={"accuracy": {"name": "accuracy", "value": 1.0, "params": {"to_float": "own"}}})),
    ],
)
def test_what_the_rows_do_not_say_is_not_made_again(tmp_path, head):
    (printed,) = log(tmp_path, head=head).printed
    assert printed.recount is None


def test_two_reducers_are_two_figures(tmp_path):
    head = header(scored(reducer="mean"), scored(reducer="max"))
    assert [each.metric for each in log(tmp_path, head=head).printed] == ["accuracy", "accuracy (max)"]
    nan = header(scored(metrics={"accuracy": {"name": "accuracy", "value": float("nan")}}))
    assert log(tmp_path, head=nan).printed == ()


# --- refusals ---


@pytest.mark.parametrize("version", [0, 4, 99, -1, 2.5, "2", None, True, [2]])
def test_other_versions_are_refused_by_name(tmp_path, version):
    with pytest.raises(InputError, match="version") as refused:
        log(tmp_path, head=header(version=version))
    assert refused.value.where == str(tmp_path / "log.json")


@pytest.mark.parametrize(
    ("samples", "place", "said"),
    [
        ([sample(1), sample("1")], "samples[1]", "'1', epoch 1 again"),
        ([sample(1), sample(2), sample(1, 2), sample(2)], "samples[3]", "'2', epoch 1 again"),
        ([sample(1, 0)], "samples[0]", "an epoch from 1 on, found 0"),
        ([sample(1, 1 << 40)], "samples[0]", "an epoch from 1 on"),
        ([sample(score={"value": "C"})], "samples[0]", "a score or scores"),
        ([sample(scores={"match": {"value": {"a": [1]}}})], "samples[0]", "the score of 'match.a'"),
        ([sample(epoch="1")], "samples[0]", "with int in 'epoch', found str"),
        ([sample(1.5)], "samples[0]", "'id', found float"),
        ([replied({"message": {"content": 5}})], "samples[0]", "'output.choices[0].message.content'"),
        ([sample(input=None)], "samples[0]", "'input', found null"),
        ([{}], "samples[0]", "missing required field `id`"),
        ([[]], "samples[0]", "a sample of an Inspect log"),
        ([None], "samples[0]", "a sample of an Inspect log"),
        ([sample(input="attachment://abc", attachments=5)], "samples[0], attachments", "found 5"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, samples, place, said):
    with pytest.raises(InputError) as refused:
        list(log(tmp_path, *samples).outputs())
    assert refused.value.where == f"{tmp_path / 'log.json'}: {place}"
    assert said in str(refused.value)


def paths_in(value: object) -> Iterator[tuple[str | int, ...]]:
    """The way to every value within a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (key,)
        yield from ((key, *rest) for rest in paths_in(each))


def with_another(whole: dict, way: tuple, other: object) -> dict:
    found = json.loads(json.dumps(whole))
    place = found
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = other
    return found


RICH = {
    **header(
        scored("model_graded_qa", reducer="at_least_1", scored_samples=1, unscored_samples=0),
        eval={
            "model_roles": {"grader": {"model": "openai/judge"}},
            "scorers": [
                {"name": "match", "options": {"model": "a"}, "metrics": [{"name": "inspect_ai/accuracy"}]}
            ],
        },
        plan={"steps": [{"solver": "multiple_choice", "params": {"shuffle": False}}]},
        error={"message": "boom"},
    ),
    "samples": [
        sample(target=["B"], input="attachment://abc", **LIMIT, **ERROR),
        replied({"message": {"content": [SIGNED, *TWO]}}, number=2),
        sample(3, scores={"match": {"value": {"a": 1}}, "other": {"value": ["C"]}}),
    ],
}
OTHERS = (None, -1, True, [[7]], {"a": 7}, "\ud800")


@pytest.mark.slow
def test_any_field_may_be_of_any_other_type(tmp_path):
    path = tmp_path / "log.json"
    seen = {"read": 0, "refused": 0}
    for way in paths_in(RICH):
        for other in OTHERS if not {"events", "packages", "metadata"}.intersection(way[:-1]) else ():
            path.write_text(json.dumps(with_another(RICH, way, other)))
            seen[outcome_of(lambda: INSPECT_JSON.opened(path))] += 1
    assert min(seen.values()) > 100


def outcome_of(opened: Callable[[], Log]) -> str:
    """Whether a log is read to its end, and its rows are sound, or refused."""
    try:
        read = opened()
        for output in read.outputs():
            json.dumps(output.row(log="log", task="t"))
            assert isinstance(output.raw_output, str) or output.no_answer is not None
        recounted(read)
    except InputError:
        return "refused"
    return "read"


def test_a_document_that_was_cut_is_refused(tmp_path):
    path = tmp_path / "log.json"
    whole = json.dumps(RICH, indent=1).encode()
    for size in range(1, len(whole) - 1, 211):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            INSPECT_JSON.opened(path)


@pytest.mark.parametrize(
    "before", ['{"version": 2, "a": ', '{"version": 2, "samples": [', '{"version": 2, "eval": ']
)
def test_a_million_brackets_are_refused(tmp_path, before):
    path = tmp_path / "log.json"
    path.write_text(before + "[" * 1_000_000)
    with pytest.raises(InputError, match="nested too deeply"):
        list(INSPECT_JSON.opened(path).outputs())


def test_further_choices_are_kept_beside_the_first_and_not_read(tmp_path):
    """Rulings I2, I4."""
    found = sample()
    others = [{"message": {"role": "assistant", "content": text}} for text in ("ANSWER: C", [])]
    found["output"]["choices"] += others
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**header(), "samples": [found, sample(2)]}))
    first, second = INSPECT_JSON.opened(path).outputs()
    assert (first.raw_output, first.other_texts) == ("ANSWER: B", {"choices[1]": "ANSWER: C", "choices[2]": ""})
    assert second.other_texts == {}


def test_the_last_of_repeated_fields_counts_as_in_any_json(tmp_path):
    text = json.dumps(sample(metadata={}))
    twice = text[:-1] + ', "epoch": 2, "target": "C"}'
    path = tmp_path / "log.json"
    for half in ("", ', "store": "\\ud800"'):
        path.write_text(f'{json.dumps(header())[:-1]}, "samples": [{twice[:-1]}{half}}}]}}')
        (found,) = INSPECT_JSON.opened(path).outputs()
        assert (found.sample, found.answer) == (1, "C")


@pytest.mark.parametrize("folder", ["", "\ufeff", " \n"])
def test_a_log_is_told_by_its_content(tmp_path, folder):
    path = tmp_path / "any.name"
    path.write_text(folder + json.dumps(RICH, indent=2))
    assert INSPECT_JSON.recognises(path.read_bytes()[:65536], path)
    assert len(list(INSPECT_JSON.opened(path).outputs())) == 3


@pytest.mark.parametrize(
    "text",
    ['{"version": 2, "status": "success"}', '{"version": 3, "results": {}}', '[{"version": 2, "status": 1, "eval": {}}]',
     '{"version": 2, "status": "a", "eval": "text"}', "", "PK", '{"evalId": "eval", "version": 3}'],
)  # fmt: skip
def test_other_documents_are_no_logs(tmp_path, text):
    assert not INSPECT_JSON.recognises(text.encode(), tmp_path)


@pytest.mark.parametrize("one", RICH["samples"])
def test_the_patient_decoder_reads_what_the_usual_one_does(tmp_path, one):
    assert only(tmp_path, one) == only(tmp_path, one | {"store": {"unused": float("nan")}})


def test_halves_of_surrogate_pairs_may_be_in_any_text(tmp_path):
    half = "\ud800"
    one = sample(half, text=[{"type": "text", "text": half}], target=half, choices=[half], error=half, limit=half)
    found = only(tmp_path, one | {"scores": {half: {"value": half, "answer": half}}})
    assert (found.item_id, found.raw_output, found.answer, found.error) == (half, half, half, half)
    assert [(each.scorer, each.answer, each.points) for each in found.words] == [(half, half, 0.0)]
