"""lm-eval's rows become outputs, filters words about them; what is no text, or does not fit together, is refused."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.lm_eval_samples import LM_EVAL
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.registry import format_of_log, logs_of
from affidavit.exchange.unreadable_logs import UnreadableLogs

TIME = "2026-01-02T03-04-05.678901"


def row(doc: int, filtered_by: str, texts: Iterable[str | None], answer: object, value: object, **more) -> dict:
    return {
        "doc_id": doc,
        "doc": {"question": f"[{doc}] Which?", "choices": ["x", "y"], "subject": "art"},
        "target": "B",
        "arguments": {"gen_args_0": {"arg_0": ["Q: Which?"], "arg_1": {"until": []}}},
        "resps": [list(texts)],
        "filtered_resps": [answer],
        "filter": filtered_by,
        "metrics": ["exact_match"],
        "exact_match": value,
        **more,
    }


def written(folder: Path, rows: Iterable[dict], results: dict | None = None) -> Path:
    path = folder / f"samples_quiz_{TIME}.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    if results is not None:
        (folder / f"results_{TIME}.json").write_text(json.dumps(results))
    return path


def outputs(path: Path) -> list[LoggedOutput]:
    return list(LM_EVAL.opened(path).outputs())


ROWS = [
    row(0, "strict", ["I say B"], "[invalid]", 0.0),
    row(1, "strict", ["B"], "B", 1.0),
    row(0, "loose", ["I say B"], "B", 1.0),
    row(1, "loose", ["B"], "B", 1.0),
]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)], ids=["by filter", "by document"])
def test_rows_of_one_output_are_brought_together(tmp_path, order):
    first, second = outputs(written(tmp_path, [ROWS[each] for each in order]))
    assert (first.item_id, first.raw_output, first.sample, first.question) == ("0", "I say B", 0, "[0] Which?")
    assert (first.options, first.answer, first.prompt, first.more) == (
        ["x", "y"],
        "B",
        "Q: Which?",
        {"subject": "art"},
    )
    strict, loose = first.words
    assert (strict.scorer, strict.answer, strict.correct, strict.no_answer) == (
        "exact_match,strict",
        None,
        False,
        NoAnswer.SENTINEL,
    )
    assert (loose.scorer, loose.answer, loose.correct, loose.points) == ("exact_match,loose", "B", True, 1.0)
    assert [word.correct for word in second.words] == [True, True]


def test_a_log_that_has_grown_is_walked_to_its_new_end(tmp_path):
    log = LM_EVAL.opened(written(tmp_path, ROWS[:2]))
    assert [len(output.words) for output in log.outputs()] == [1, 1]
    written(tmp_path, ROWS)
    assert [len(output.words) for output in log.outputs()] == [2, 2]


def test_with_repeats_a_verdict_is_about_the_document(tmp_path):
    path = written(
        tmp_path, [row(7, "vote", ["B", None, "C"], "B", 1.0), row(8, "vote", ["C", "C", "C"], "C", 0.0)]
    )
    found = outputs(path)
    assert [(each.item_id, each.sample, each.raw_output) for each in found[:3]] == [
        ("7", 0, "B"),
        ("7", 1, None),
        ("7", 2, "C"),
    ]
    assert found[1].no_answer is NoAnswer.MISSING
    assert {(word.about_item, word.correct) for each in found for word in each.words} == {(True, None)}


def test_what_was_printed_is_made_again_from_the_rows(tmp_path):
    results = {
        "results": {"quiz": {"alias": "quiz", "exact_match,strict": 0.5, "exact_match_stderr,strict": 0.5}},
        "n-samples": {"quiz": {"original": 9, "effective": 2}},
        "configs": {"quiz": {"repeats": 3}},
        "model_name": "tiny",
    }
    log = LM_EVAL.opened(written(tmp_path, ROWS, results))
    (printed,) = log.printed
    assert (log.task, log.planned, printed.scorer, printed.value) == ("quiz", 6, "exact_match,strict", 0.5)
    assert printed.recount is not None
    again = printed.recount()
    for each in log.outputs():
        assert each.model == "tiny"
        again.add(each)
    assert again.value() == printed.value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "N/A", None])
def test_a_figure_that_is_no_finite_number_is_none(tmp_path, value):
    results = {"results": {"quiz": {"exact_match,strict": value}}}
    assert LM_EVAL.opened(written(tmp_path, ROWS, results)).printed == ()


@pytest.mark.parametrize(
    ("value", "points", "correct"),
    [
        (1.0, 1.0, True),
        ("0.0", 0.0, False),
        (0.5, 0.5, None),
        ("n/a", None, None),
        (None, None, None),
        ([1], None, None),
    ],
)
def test_values_may_be_texts_and_only_0_and_1_are_verdicts(tmp_path, value, points, correct):
    (found,) = outputs(written(tmp_path, [row(0, "strict", ["B"], "B", value)]))
    (word,) = found.words
    assert (word.points, word.correct, word.score) == (points, correct, value)


def test_0_and_1_of_a_scale_are_no_verdicts(tmp_path):
    scale = row(0, "none", ["B"], "B", 1.0) | {"metrics": ["bleu"], "bleu": 1.0}
    (found,) = outputs(written(tmp_path, [scale]))
    assert [(word.scorer, word.points, word.correct) for word in found.words] == [("bleu,none", 1.0, None)]


@pytest.mark.parametrize(
    ("rows", "place", "said"),
    [
        ([row(0, "f", ["B"], "B", 1.0), row(0, "f", ["C"], "C", 0.0)], ":2", "a doc_id that no other row"),
        ([row(0, "f", ["B"], "B", 1.0), row(0, "g", ["B"], "B", 1.0), row(1, "g", ["B"], "B", 1.0)], ":3", "no row"),
        (
            [row(0, "f", ["B"], "B", 1), row(1, "f", ["B"], "B", 1), row(1, "g", ["B"], "B", 1), row(0, "g", ["B"], "B", 1)],
            ":3",
            "doc_id 0 by the filter 'g'",
        ),
        ([row(0, "f", [], "B", 1.0) | {"resps": [[["-1.5", "False"]], [["-2", "True"]]]}], ":1", "log-likelihoods"),
        ([row(0, "f", [5], "B", 1.0)], ":1", "texts in 'resps'"),
        ([row(0, "f", ["B"], "B", 1.0) | {"resps": None}], ":1", "a list in 'resps'"),
        ([row(0, "f", ["B"], "B", 1.0) | {"filter": 5}], ":1", "expected a filter"),
        ([row(0, "f", ["B"], "B", 1.0) | {"doc": "text"}], ":1", "an object in 'doc'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, rows, place, said):
    path = written(tmp_path, rows)
    with pytest.raises(InputError) as refused:
        outputs(path)
    assert refused.value.where == f"{path}{place}"
    assert said in str(refused.value)


def test_a_cut_log_ends_with_its_place(tmp_path):
    path = written(tmp_path, ROWS)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    ends = {
        len(b"".join(lines[:count])) + less for count in (1, 2, 4) for less in (0, -1)
    }  # 3: one word is missing
    for size in sorted({*range(1, len(whole), 97), *ends}):
        path.write_bytes(whole[:size])
        if whole[:size].endswith((b"}\n", b"}")) and size in ends:
            assert len(outputs(path)) <= 2
        else:
            with pytest.raises(InputError) as refused:
                outputs(path)
            assert refused.value.where.startswith(f"{path}:")


def test_halves_of_surrogate_pairs_are_kept(tmp_path):
    (found,) = outputs(written(tmp_path, [row(0, "f", ["\ud800B"], "B", 1.0)]))
    assert found.raw_output == "\ud800B"


def test_real_logs(public_data):
    folder = public_data / "logs" / "lm_eval"
    logs = [LM_EVAL.opened(path) for path in sorted(folder.glob("samples_*"))]
    assert all(format_of_log(log.path) is LM_EVAL for log in logs)
    found = {log.task: list(log.outputs()) for log in logs}
    assert {task: len(each) for task, each in found.items()} == {
        "gsm8k": 3,
        "mmlu_pro_plus_chemistry": 3,
        "mmlu_pro_plus_psychology": 3,
    }
    assert [log.planned for log in logs] == [100, 100, 100]
    assert [each.words[0].correct for each in found["gsm8k"]] == [True, False, False]
    assert [each.words[0].answer for each in found["gsm8k"]] == ["230", "59800", "3.5"]
    assert {each.model for each in found["gsm8k"]} == {"gemma3:12b-u1"}


def test_a_request_to_which_nothing_came_back_has_one_missing_answer(tmp_path):
    (found,) = outputs(written(tmp_path, [row(0, "strict", [], "[invalid]", 0.0)]))
    assert (found.raw_output, found.no_answer) == (None, NoAnswer.MISSING)


def test_ids_are_told_apart_as_they_are_written(tmp_path):
    with pytest.raises(InputError, match="a doc_id that no other row of its filter has"):
        outputs(written(tmp_path, [row(1, "strict", ["B"], "B", 1.0), row("1", "strict", ["B"], "B", 1.0)]))


@pytest.mark.parametrize(
    ("aggregation", "metric", "again"), [("mean", "mean", True), ("median", "(median)", False)]
)
def test_only_means_are_made_again(tmp_path, aggregation, metric, again):
    config = {"metric_list": [{"metric": "exact_match", "aggregation": aggregation}]}
    results = {"results": {"quiz": {"exact_match,strict": 0.0}}, "configs": {"quiz": config}}
    (printed,) = LM_EVAL.opened(written(tmp_path, [ROWS[0]], results)).printed
    assert (printed.metric, printed.recount is not None) == (metric, again)


def test_another_text_under_another_filter_is_kept_beside_and_not_read(tmp_path):
    """Rulings I2, I4."""
    other = row(1, "loose", ["It is B"], "B", 1.0)
    first, second = outputs(written(tmp_path, [*ROWS[:3], other]))
    assert (first.other_texts, second.raw_output, second.other_texts) == ({}, "B", {"loose: resps": "It is B"})
    assert second.row(log="l", task="t")["source_other_texts"] == {"loose: resps": "It is B"}
    with pytest.raises(InputError, match=r"jsonl:4: expected 1 texts in 'resps', as by the first filter, found 2"):
        outputs(written(tmp_path, [*ROWS[:3], row(1, "loose", ["B", "C"], "B", 1.0)]))


def test_what_a_filter_left_beside_its_one_answer_is_kept(tmp_path):
    texts = ["B", "C", "D"]
    first, *others = outputs(written(tmp_path, [row(0, "two", texts, "", 1.0, filtered_resps=[["B", "C"]])]))
    assert [each.answer for each in first.words] == ["B"]
    assert first.other_texts == {"two: filtered_resps[1]": "C"}
    assert [each.other_texts for each in others] == [{}, {}]
    for whole in (["B"], texts):
        found = outputs(written(tmp_path, [row(0, "all", texts, "", 1.0, filtered_resps=[whole])]))
        assert [each.other_texts for each in found] == [{}, {}, {}]


def test_a_filter_without_a_metric_has_a_word_all_the_same(tmp_path):
    (output,) = outputs(written(tmp_path, [ROWS[0], row(0, "loose", ["I say B"], "B", 1.0, metrics=[])]))
    assert [(each.scorer, each.answer, each.points) for each in output.words] == [
        ("exact_match,strict", None, 0.0),
        ("loose", "B", None),
    ]


def test_results_whose_samples_are_not_beside_them_are_told(tmp_path):
    path = written(tmp_path, [row(0, "strict", ["B"], "B", 1.0)], {"n-samples": {"quiz": {}, "other": {}}})
    watch = UnreadableLogs()
    (log,) = logs_of([tmp_path], unreadable=watch)
    assert log.path == path
    (said,) = watch.without_outputs.values()
    assert said.startswith("results of lm-eval without the samples of 1 task: other;")
