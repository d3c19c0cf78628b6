"""Rows of Every Eval Ever become outputs with a word for each metric; what a converter rewrote is not verbatim."""

import json
from collections.abc import Iterable
from pathlib import Path

import jsonschema_rs
import pytest

from affidavit.errors import InputError
from affidavit.exchange.every_eval_ever import EVERY_EVAL_EVER
from affidavit.exchange.log import HEAD, Grader, Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.registry import logs_of
from affidavit.exchange.unreadable_logs import UnreadableLogs
from support.log_mutations import KINDS, mutations, read_or_refused

UUID = "9b2c1a30-7c1e-4d6f-8a53-2f1b0c9d8e7f"


def row(sample: str, texts: Iterable[str] = ("B",), score: object = 1.0, **more) -> dict:
    found = {
        "schema_version": "0.3.0",
        "evaluation_id": "quiz/lab/tiny/1747312345",
        "model_id": "lab/tiny",
        "evaluation_name": "quiz",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": f"[{sample}] Which?", "formatted": None, "reference": ["B"], "choices": ["A", "B"]},
        "output": {"raw": list(texts), "reasoning_trace": None},
        "messages": None,
        "answer_attribution": [attribution("B", "regex")],
        "evaluation": {"score": score, "is_correct": score == 1.0},
        "error": None,
        "metadata": {"subject": "art"},
    }
    return found | more


def attribution(value: str, method: str) -> dict:
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": value,
        "extraction_method": method,
        "is_terminal": True,
    }


def result(name: str, score: object, metric: str = "accuracy", **more) -> dict:
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": "quiz", "source_type": "other"},
        "metric_config": {"metric_name": metric, "lower_is_better": False},
        "score_details": {"score": score},
    } | more


def aggregate(*results: dict, library: str = "own", **more) -> dict:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "quiz/lab/tiny/1747312345",
        "retrieved_timestamp": "1747312345",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "lab",
            "evaluator_relationship": "first_party",
        },
        "eval_library": {"name": library, "version": "1"},
        "model_info": {
            "name": "tiny",
            "id": "lab/tiny",
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": list(results),
    } | more


def written(folder: Path, rows: Iterable[object], summary: object = None) -> Path:
    path = folder / f"{UUID}_samples.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    if summary is not None:
        (folder / f"{UUID}.json").write_text(json.dumps(summary, indent=4))
    return path


def opened(folder: Path, *rows: object, summary: object = None) -> Log:
    return EVERY_EVAL_EVER.opened(written(folder, rows, summary))


def outputs(folder: Path, *rows: object, summary: object = None) -> list[LoggedOutput]:
    return list(opened(folder, *rows, summary=summary).outputs())


def test_a_row_is_an_output_and_a_word(tmp_path):
    (found,) = outputs(tmp_path, row("q1", ["I say B.\r\n"]))
    assert (found.item_id, found.model, found.raw_output, found.question, found.answer, found.place) == (
        "q1",
        "lab/tiny",
        "I say B.\r\n",
        "[q1] Which?",
        "B",
        "line 1",
    )
    assert (found.options, found.verbatim, found.prompt, found.more) == (
        ["A", "B"],
        True,
        None,
        {"subject": "art"},
    )
    (word,) = found.words
    assert (word.scorer, word.answer, word.correct, word.points, word.score) == ("quiz", "B", True, 1.0, 1.0)


def test_rows_of_several_metrics_are_words_about_one_output(tmp_path):
    found = outputs(
        tmp_path,
        row("q1", evaluation_result_id="em"),
        row("q2", evaluation_result_id="em"),
        row("q1", score=0.4, evaluation_result_id="f1"),
        row("q2", score=0.0, evaluation_result_id="f1"),
    )
    assert [each.place for each in found] == ["lines 1, 3", "lines 2, 4"]
    assert [[(word.scorer, word.points, word.correct) for word in each.words] for each in found] == [
        [("em", 1.0, True), ("f1", 0.4, None)],
        [("em", 1.0, True), ("f1", 0.0, False)],
    ]


def test_one_id_of_several_evaluations_is_several_items(tmp_path):
    other = {"evaluation_name": "art", "input": row("x")["input"] | {"raw": "Another?"}}
    log = opened(tmp_path, row("0"), row("0", **other), row("1"))
    assert [each.item_id for each in log.outputs()] == ["quiz: 0", "art: 0", "quiz: 1"]
    assert log.task == UUID


def test_several_texts_are_samples_and_the_word_is_about_their_item(tmp_path):
    output = {"raw": ["A", "B"], "reasoning_trace": ["hm", "so"]}
    found = outputs(tmp_path, row("q", output=output, score=0.5))
    assert [(each.sample, each.raw_output, each.reasoning, each.place) for each in found] == [
        (0, "A", "hm", "line 1, text 1"),
        (1, "B", "so", "line 1, text 2"),
    ]
    assert {(word.about_item, word.correct, word.points) for each in found for word in each.words} == {
        (True, None, 0.5)
    }


def test_epochs_are_samples(tmp_path):
    rows = [
        row("q", [text], metadata={"epoch": str(epoch), "stop_reason": "stop"})
        for epoch, text in ((1, "A"), (2, "B"))
    ]
    found = outputs(tmp_path, *rows)
    assert [(each.item_id, each.sample, each.verbatim) for each in found] == [("q", 0, False), ("q", 1, False)]


LM_EVAL = {"lm_eval_metrics": "{}", "filter": "strict-match"}


@pytest.mark.parametrize(
    ("changes", "library", "verbatim"),
    [
        ({}, "own", True),
        ({}, "lm_eval", False),
        ({}, "lm-evaluation-harness", False),
        ({}, "inspect_ai", False),
        ({"metadata": LM_EVAL}, "own", False),
        ({"answer_attribution": []}, "own", True),
        ({"answer_attribution": [attribution("the text", "strict-match")]}, "own", False),
        ({"answer_attribution": [attribution("the text", "exact_match")]}, "helm", True),
        ({"answer_attribution": [attribution("text", "regex")]}, "own", True),
    ],
)
def test_what_a_converter_rewrote_is_not_verbatim(tmp_path, changes, library, verbatim):
    given = row("q", ["the text"], **changes)
    given["input"] = given["input"] | {"choices": None}
    (found,) = outputs(tmp_path, given, summary=aggregate(library=library))
    assert (found.raw_output, found.verbatim) == ("the text", verbatim)


@pytest.mark.parametrize(
    ("texts", "error", "raw", "no_answer"),
    [
        (["x"], None, "x", None),
        ([""], None, "", None),
        ([], None, None, NoAnswer.MISSING),
        ([], "timeout", None, NoAnswer.ERROR),
        ([""], "timeout", None, NoAnswer.ERROR),
        (["half"], "timeout", "half", None),
        (["[invalid]"], None, "[invalid]", None),
    ],
)
def test_where_there_is_no_text_its_kind_is_told(tmp_path, texts, error, raw, no_answer):
    (found,) = outputs(tmp_path, row("q", texts, error=error))
    assert (found.raw_output, found.no_answer, found.error) == (raw, no_answer, error)


def test_a_sentinel_of_lm_eval_is_no_answer(tmp_path):
    given = row("q", ["[invalid]"], score=0.0, metadata=LM_EVAL, input={"raw": "?", "reference": ["B"]})
    (found,) = outputs(tmp_path, given)
    assert (found.raw_output, found.no_answer, found.words[0].no_answer, found.words[0].answer) == (
        None,
        NoAnswer.SENTINEL,
        NoAnswer.SENTINEL,
        None,
    )


@pytest.mark.parametrize(
    ("score", "is_correct", "points", "correct"),
    [
        (1.0, True, 1.0, True),
        (0, False, 0.0, False),
        (0.7, True, 0.7, True),
        (0.7, False, 0.7, None),
        (1.0, False, 1.0, None),
        (0.5, None, 0.5, None),
        (None, True, None, True),
        (float("nan"), False, None, None),
        (10**400, True, None, True),
    ],
)
def test_false_beside_a_part_of_the_points_is_no_verdict(tmp_path, score, is_correct, points, correct):
    (found,) = outputs(tmp_path, row("q", evaluation={"score": score, "is_correct": is_correct}))
    assert (found.words[0].points, found.words[0].correct) == (points, correct)


@pytest.mark.parametrize(
    ("choices", "reference", "options", "answer"),
    [
        (["A", "B"], ["B"], ["A", "B"], "B"),
        (["x", "y"], ["x", "y"], None, None),
        (None, [], None, None),
        ([], ["B"], None, "B"),
    ],
)
def test_right_answers_listed_as_choices_are_no_options(tmp_path, choices, reference, options, answer):
    (found,) = outputs(tmp_path, row("q", input={"raw": "?", "reference": reference, "choices": choices}))
    assert (found.options, found.answer) == (options, answer)
    assert found.more.get("references", reference) == reference


def test_dialogues_are_left_out_and_counted(tmp_path):
    turns = row("d", interaction_type="multi_turn", output=None, messages=[])
    agent = turns | {"sample_id": "e", "interaction_type": "agentic"}
    log = opened(
        tmp_path, turns, row("q"), agent, agent | {"sample_id": "f"}, summary=aggregate(result("quiz", 0.5))
    )
    assert [each.item_id for each in log.outputs()] == ["q"]
    assert log.facts["left_out"] == {"multi_turn": 1, "agentic": 2}
    assert [each.recount for each in log.printed] == [None]


# --- the aggregate ---


def test_what_was_printed_is_made_again_from_the_rows(tmp_path):
    judge = {"model_info": {"id": "lab/judge"}}
    judged = {"lower_is_better": False, "llm_scoring": {"judges": [judge], "input_prompt": ""}}
    rows = [
        row(sample, score=score, evaluation_result_id=metric)
        for sample, em, mean in (("a", 1.0, 0.25), ("b", 0.0, 0.5))
        for metric, score in (("em", em), ("judged", mean))
    ]
    log = opened(
        tmp_path,
        *rows,
        summary=aggregate(
            result("quiz", 0.5, evaluation_result_id="em"),
            result("quiz", 0.375, evaluation_result_id="judged", metric_config=judged),
            result("quiz", 27.5, "BLEU", evaluation_result_id="bleu"),
            result("other", 0.1),
            detailed_evaluation_results={
                "format": "jsonl",
                "file_path": f"data/a/b/c/{UUID}_samples.jsonl",
                "total_rows": 4,
            },
        ),
    )
    assert [(each.scorer, each.metric, each.value) for each in log.printed] == [
        ("em", "accuracy", 0.5),
        ("judged", "score", 0.375),
        ("quiz", "BLEU", 27.5),
        ("other", "accuracy", 0.1),
    ]
    again = [None if each.recount is None else each.recount() for each in log.printed]
    for each in log.outputs():
        for recount in again:
            if recount is not None:
                recount.add(each)
    assert [None if each is None else each.value() for each in again] == [0.5, 0.375, None, None]
    assert (log.graders, log.planned, log.task) == ((Grader("lab/judge"),), None, "quiz")
    assert log.facts == {"schema_version": ["0.3.0"], "aggregate": f"{UUID}.json", "source": "own"}


@pytest.mark.parametrize("metric", ["BLEU", "pass@5", "f1_macro", "Elo rating", "accuracy (percent)", "ROC AUROC"])
def test_what_may_be_no_mean_is_not_made_again(tmp_path, metric):
    log = opened(tmp_path, row("q"), summary=aggregate(result("quiz", 1.0, metric)))
    assert [each.recount for each in log.printed] == [None]


@pytest.mark.parametrize("score", [float("nan"), "NaN", "-Infinity", float("inf"), 10**400, None])
def test_a_figure_that_is_no_finite_number_is_none_and_the_rows_are_read(tmp_path, score):
    log = opened(tmp_path, row("q", score=score), summary=aggregate(result("quiz", score)))
    assert log.printed == ()
    assert [(each.raw_output, each.words[0].points) for each in log.outputs()] == [("B", None)]


def test_an_aggregate_of_another_name_is_found_by_where_it_points(tmp_path):
    details = {"format": "jsonl", "file_path": f"data/a/b/c/{UUID}_samples.jsonl", "total_rows": 9}
    (tmp_path / "mine.json").write_text(
        json.dumps(aggregate(result("quiz", 1.0), detailed_evaluation_results=details))
    )
    (tmp_path / "other.json").write_text(json.dumps(aggregate(result("quiz", 0.0))))
    (tmp_path / "broken.json").write_text(json.dumps(aggregate())[:-9])
    log = opened(tmp_path, row("q"))
    assert (log.facts["aggregate"], log.planned, len(log.printed)) == ("mine.json", 9, 1)


def test_an_aggregate_of_another_run_is_said(tmp_path):
    log = opened(tmp_path, row("q"), summary=aggregate(evaluation_id="another"))
    assert log.facts["evaluation_ids_differ"] is True


# --- what is refused ---


@pytest.mark.parametrize("version", ["0.2.1", "0.2.2", "instance_level_eval_0.2.2", "0.3.0"])
def test_versions_of_this_shape_are_read(tmp_path, version):
    assert len(outputs(tmp_path, row("q", schema_version=version))) == 1


@pytest.mark.parametrize(
    ("rows", "place", "said"),
    [
        ([row("q", schema_version="0.3.1")], ":1", "schema_version 0.3.0 or 0.2"),
        ([row("q", schema_version="0.4.0")], ":1", "schema_version 0.3.0 or 0.2"),
        ([row("q", schema_version="0.1.0")], ":1", "schema_version 0.3.0 or 0.2"),
        ([row("q"), row("q")], ":2", "one row for a sample and a metric"),
        ([row("q"), row("q", ["C"])], ":2", "a sample_id that no other row of its evaluation has"),
        ([row("q", output={"raw": "B"})], ":1", "a list in 'raw'"),
        ([row("q", output=None)], ":1", "an object in 'output'"),
        ([row("q", output={"raw": ["<image:0>"], "media": [{}]})], ":1", "expected texts"),
        ([row("q", modality="text_to_image")], ":1", "expected texts"),
        ([row("q", [5])], ":1", "texts in 'raw'"),
        ([row(4)], ":1", "a text in 'sample_id'"),
        ([row("q", interaction_type="batch")], ":1", "an interaction_type of the schema"),
        ([row("q", model_id=" ")], ":1", "a name in 'model_id'"),
        ([row("q", input={"raw": "?", "reference": "B"})], ":1", "a list in 'reference'"),
        ([row("q", answer_attribution=[attribution("B", "argmax_choice_logprob")])], ":1", "the text of an answer"),
        ([row("q", metadata=LM_EVAL)], ":1", "the text of an answer"),
        ([row("q", score=True)], ":1", "a number or null in 'score'"),
        ([row("q", ["A", "B"], metadata={"epoch": "2"})], ":1", "one text for each epoch"),
        ([row("d", interaction_type="agentic", output=None)], "", "rows of single turns"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, rows, place, said):
    path = written(tmp_path, rows)
    with pytest.raises(InputError) as refused:
        list(EVERY_EVAL_EVER.opened(path).outputs())
    assert refused.value.where == f"{path}{place}"
    assert said in str(refused.value)


@pytest.mark.slow
def test_a_wrong_type_anywhere_is_refused_or_read_soundly(tmp_path):
    path = written(tmp_path, [row("q")])
    for changed in mutations(row("q"), *KINDS):
        path.write_text(json.dumps(changed) + "\n")
        found = read_or_refused(EVERY_EVAL_EVER.opened, path)
        if isinstance(found, InputError):
            assert found.where.startswith(str(path))
        else:
            assert all((each.raw_output is None) == (each.no_answer is not None) for each in found)


@pytest.mark.slow
def test_a_wrong_type_in_the_aggregate_is_refused_or_read_soundly(tmp_path):
    config = {"metric_name": "accuracy", "llm_scoring": {"judges": [{"model_info": {"id": "j"}}]}}
    whole = aggregate(result("quiz", 1.0, metric_config=config), detailed_evaluation_results={"total_rows": 1})
    path = written(tmp_path, [row("q")])
    for changed in mutations(whole, *KINDS):
        (tmp_path / f"{UUID}.json").write_text(json.dumps(changed))
        found = read_or_refused(EVERY_EVAL_EVER.opened, path)
        if isinstance(found, InputError):
            assert found.where.startswith(str(tmp_path / f"{UUID}.json"))
        else:
            assert [each.raw_output for each in found] == ["B"]


def test_a_cut_log_ends_with_its_place(tmp_path):
    path = written(tmp_path, [row("a"), row("b")])
    whole = path.read_bytes()
    ends = {whole.index(b"\n"), whole.index(b"\n") + 1}
    for size in {*range(1, len(whole) - 1, 97)} - ends:
        path.write_bytes(whole[:size])
        with pytest.raises(InputError) as refused:
            list(EVERY_EVAL_EVER.opened(path).outputs())
        assert refused.value.where.startswith(f"{path}:")


def test_what_is_nested_a_million_deep_is_refused(tmp_path):
    path = written(tmp_path, [row("a")])
    path.write_text(json.dumps(row("b"))[:-1] + ', "more": ' + "[" * 1_000_000 + "\n")
    with pytest.raises(InputError, match="nested too deeply"):
        EVERY_EVAL_EVER.opened(path)


# --- how files are told ---


@pytest.mark.parametrize(
    ("head", "samples", "beside"),
    [
        (json.dumps(row("q", ["x" * 100_000]))[:HEAD], True, False),
        (json.dumps(aggregate(result("quiz", 1.0)), indent=4), False, True),
        (json.dumps({"schema_version": "0.3.0"}), False, False),
        (json.dumps({"more": row("q")}), False, False),
        ("[", False, False),
        ("", False, False),
    ],
)
def test_files_are_told_by_their_keys(tmp_path, head, samples, beside):
    told = head.encode()
    assert (EVERY_EVAL_EVER.recognises(told, tmp_path), EVERY_EVAL_EVER.belongs(told, tmp_path)) == (
        samples,
        beside,
    )


def test_the_rows_of_these_tests_follow_the_published_schemas(public_data):
    folder = public_data / "logs" / "every_eval_ever"
    instance, whole = (
        json.loads((folder / f"{name}.schema.json").read_text()) for name in ("instance_level_eval", "eval")
    )
    assert instance["version"] == row("q")["schema_version"]
    jsonschema_rs.validate(instance, row("q"))
    jsonschema_rs.validate(whole, aggregate(result("quiz", 1.0)))


def test_false_is_a_verdict_of_a_metric_that_says_true(tmp_path):
    """A metric that calls outputs correct calls others wrong, whatever part of the points they have."""
    said = [("a", 0.75, True), ("b", 0.25, False), ("c", 0.0, False)]
    rows = [row(name, evaluation={"score": score, "is_correct": correct}) for name, score, correct in said]
    assert [each.words[0].correct for each in outputs(tmp_path, *rows)] == [True, False, False]


def test_an_aggregate_without_instances_is_told_by_name(tmp_path):
    """A model of which nothing could be said in rows once vanished from an audit of its export."""
    ours = {"additional_details": {"planned": "500"}}
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    written(first, [row("q1")], aggregate(library="affidavit", source_metadata=ours))
    alone = second / f"{UUID}.json"
    alone.write_text(json.dumps(aggregate(library="affidavit", source_metadata=ours)))
    watch = UnreadableLogs()
    (log,) = logs_of([tmp_path], unreadable=watch)
    assert log.planned == 500
    said = "an aggregate of Every Eval Ever without instances, lab/tiny, by its own account of 500 outputs"
    assert list(watch.without_outputs) == [str(alone)]
    assert watch.notes() == [f"{alone}: {said}: no output of it is here"]
    with pytest.raises(InputError, match="without any, but 1 file") as refused:
        list(logs_of([second]))
    assert said in refused.value.hint
