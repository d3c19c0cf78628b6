"""lighteval's rows become outputs, metrics words about them; log-probabilities are no text, and are refused."""

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

from affidavit.errors import InputError
from affidavit.exchange.lighteval_details import LIGHTEVAL
from affidavit.exchange.log import HEAD, Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from support.log_mutations import mutations, read_or_refused

TIME = "2026-01-02T03-04-05.678901"
TASK = "quiz:art|0"


def row(name: str, texts: object = ("I say B",), metrics: object = None, **more) -> dict:
    doc = {
        "id": name,
        "query": f"[{name}] Which?",
        "choices": ["A", "B"],
        "gold_index": [1],
        "specific": {"subject": "art"},
        "sampling_methods": ["GENERATIVE"],
        "num_samples": 1,
    }
    response = {
        "input": [{"role": "user", "content": "Q: Which?"}],
        "text": list(texts) if isinstance(texts, tuple) else texts,
        "text_post_processed": ["B"],
        "logprobs": [],
        "input_tokens": [1, 2],
    }
    found = {"doc": doc, "metric": {"em": 1.0} if metrics is None else metrics, "model_response": response}
    for part in ("doc", "model_response"):
        found[part] |= more.get(part, {})
    return found


def old_row(name: str, predictions: object = ("I say B",), **more) -> dict:
    return {
        "example": f"[{name}] Which?",
        "full_prompt": f"Few shots. [{name}] Which?",
        "predictions": list(predictions) if isinstance(predictions, tuple) else predictions,
        "gold": ["B"],
        "choices": [],
        "gold_index": [],
        "metrics": {"em": 0.0},
        "specifics": {"subject": "art"},
        "cont_tokens": [[1]],
    } | more


RESULTS = {
    "config_general": {"lighteval_sha": "?", "max_samples": 2, "model_name": "lab/tiny"},
    "results": {TASK: {"em": 0.5, "em_stderr": 0.1, "f1_corpus": 0.25}, "all": {"em": 0.5}},
    "config_tasks": {
        TASK: {
            "metrics": [
                {"metric_name": "em", "corpus_level_fn": "mean"},
                {"metric_name": ["f1_corpus"], "corpus_level_fn": {"f1_corpus": "CorpusF1()"}},
            ]
        }
    },
}


def written(folder: Path, rows: Iterable[dict], results: object = None) -> Path:
    details = folder / "details" / "lab" / "tiny" / TIME
    details.mkdir(parents=True, exist_ok=True)
    path = details / f"details_{TASK}_{TIME}.parquet"
    with path.open("wb") as stream:
        pl.DataFrame(list(rows), strict=False, infer_schema_length=None).write_parquet(stream)
    if results is not None:
        beside = folder / "results" / "lab" / "tiny"
        beside.mkdir(parents=True, exist_ok=True)
        (beside / f"results_{TIME}.json").write_text(json.dumps(results))
    return path


def opened(folder: Path, *rows: dict, results: object = None) -> Log:
    return LIGHTEVAL.opened(written(folder, rows, results))


def outputs(folder: Path, *rows: dict) -> list[LoggedOutput]:
    return list(opened(folder, *rows).outputs())


def test_a_row_is_an_output_with_a_word_for_each_metric(tmp_path):
    (found,) = outputs(tmp_path, row("q1", metrics={"em": 1.0, "f1": 0.5, "bleu": 1.0, "judgement": ["fine"]}))
    assert (found.item_id, found.model, found.raw_output, found.question, found.prompt, found.place) == (
        "q1",
        "lab/tiny",
        "I say B",
        "[q1] Which?",
        "Q: Which?",
        "row 1",
    )
    assert (found.options, found.answer, found.verbatim) == (["A", "B"], "B", True)
    assert found.more == {"subject": "art", "metrics": {"judgement": ["fine"]}}
    assert [(word.scorer, word.points, word.correct) for word in found.words] == [
        ("em", 1.0, True),
        ("f1", 0.5, None),
        ("bleu", 1.0, None),
    ]


def test_several_texts_are_samples_and_words_are_about_their_document(tmp_path):
    more = {"model_response": {"reasonings": ["hm", None, "so"]}}
    found = outputs(tmp_path, row("q", ("A", None, "B"), {"pass@k:k=1": 0.5}, **more))
    assert [(each.sample, each.raw_output, each.reasoning, each.place) for each in found] == [
        (0, "A", "hm", "row 1, text 1"),
        (1, None, None, "row 1, text 2"),
        (2, "B", "so", "row 1, text 3"),
    ]
    assert [each.no_answer for each in found] == [None, NoAnswer.MISSING, None]
    assert [each.verbatim for each in found] == [False, True, False], "what stood in <think> may have been cut out"
    assert {(word.about_item, word.correct) for each in found for word in each.words} == {(True, None)}


@pytest.mark.parametrize(
    ("texts", "asked", "expected"),
    [
        (("",), 2, ["", None]),
        (("A", "B"), 2, ["A", "B"]),
        (("A", "B"), 1, ["A", "B"]),
        ((), 2, [None, None]),
        (("A",), None, ["A"]),
    ],
)
def test_texts_that_were_asked_for_and_are_not_there_are_missing(tmp_path, texts, asked, expected):
    found = outputs(tmp_path, row("q", texts, doc={"num_samples": asked}))
    assert [each.raw_output for each in found] == expected
    assert [each.no_answer for each in found] == [NoAnswer.MISSING if text is None else None for text in expected]
    assert {word.about_item for each in found for word in each.words} == {len(expected) > 1}


@pytest.mark.parametrize(
    ("settings", "texts", "said"),
    [
        ({"provider": "openai"}, ("", "A"), ["1 text is empty"]),
        ({"provider": "openai"}, ("", ""), ["2 texts are empty"]),
        ({"provider": None}, ("A", " "), []),
        ({"dtype": "float16"}, ("", "A"), []),
        ({"provider": "openai"}, "text", []),
    ],
)
def test_empty_texts_are_told_where_a_server_was_asked(tmp_path, settings, texts, said):
    """There a request that failed in every try is written as one; elsewhere an empty text is what a model said."""
    results = {"config_general": {"model_config": settings}}
    notes = opened(tmp_path, row("q", texts), row("r", "B" if texts == "text" else ("B",)), results=results).notes
    assert [note.partition(":")[0] for note in notes] == said


@pytest.mark.parametrize(
    ("doc", "answer", "options", "references"),
    [
        ({"gold_index": [0]}, "A", ["A", "B"], None),
        ({"gold_index": 0}, "A", ["A", "B"], None),
        ({"gold_index": [0, 1]}, None, None, ["A", "B"]),
        ({"choices": ["x"], "gold_index": [0]}, "x", None, None),
        ({"choices": ["x", "x"], "gold_index": [0, 1]}, "x", None, None),
        ({"choices": [["x", "y"]], "gold_index": [0]}, None, None, ["x", "y"]),
        ({"gold_index": [-1]}, None, None, None),
        ({"choices": None, "gold_index": None}, None, None, None),
    ],
)
def test_choices_are_options_where_not_all_are_right(tmp_path, doc, answer, options, references):
    (found,) = outputs(tmp_path, row("q", doc=doc))
    assert (found.answer, found.options, found.more.get("references")) == (answer, options, references)


@pytest.mark.parametrize(
    ("name", "value", "points", "correct"),
    [
        ("em", 0.0, 0.0, False),
        ("qem", 1.0, 1.0, True),
        ("extractive_match", 1, 1.0, True),
        ("acc", 0.25, 0.25, None),
        ("math_pass@1:1_samples", 1.0, 1.0, True),
        ("pass@10", 1.0, 1.0, None),
        ("rougeL", 0.0, 0.0, None),
        ("is_correct", True, 1.0, True),
        ("em", float("nan"), None, None),
    ],
)
def test_only_0_and_1_of_some_metrics_are_verdicts(tmp_path, name, value, points, correct):
    (found,) = outputs(tmp_path, row("q", metrics={name: value}))
    assert [(word.points, word.correct) for word in found.words] == [(points, correct)]


def test_a_metric_that_a_row_does_not_have_is_no_word_about_it(tmp_path):
    found = outputs(tmp_path, row("a", metrics={"em": 1.0}), row("b", metrics={"f1": 0.5}))
    assert [[word.scorer for word in each.words] for each in found] == [["em"], ["f1"]]


@pytest.mark.parametrize(
    ("texts", "raw", "no_answer"),
    [((), None, NoAnswer.MISSING), (None, None, NoAnswer.MISSING), (("",), "", None), ((" \r\n",), " \r\n", None)],
)
def test_an_empty_text_is_a_text_and_no_text_is_none(tmp_path, texts, raw, no_answer):
    found = outputs(tmp_path, row("a"), row("b", texts))
    assert (found[1].raw_output, found[1].no_answer) == (raw, no_answer)


def test_rows_without_an_id_are_items_by_their_number(tmp_path):
    found = outputs(tmp_path, row(""), row(""))
    assert [each.item_id for each in found] == ["1", "2"]


def test_earlier_versions_are_read(tmp_path):
    choices = {"gold": [], "choices": ["A", "B"], "gold_index": [1]}
    first, second = outputs(tmp_path, old_row("a"), old_row("b", ("A", "B"), **choices))[:2]
    assert (first.item_id, first.raw_output, first.prompt, first.question, first.answer, first.more) == (
        "1",
        "I say B",
        "Few shots. [a] Which?",
        "[a] Which?",
        "B",
        {"subject": "art"},
    )
    assert [(word.scorer, word.points, word.correct) for word in first.words] == [("em", 0.0, False)]
    assert (second.item_id, second.answer, second.options, second.place) == ("2", "B", ["A", "B"], "row 2, text 1")


# --- results ---


def test_what_was_printed_is_made_again_where_it_is_the_mean(tmp_path):
    log = opened(tmp_path, row("a"), row("b", metrics={"em": 0.0}), results=RESULTS)
    assert [(each.scorer, each.metric, each.value) for each in log.printed] == [
        ("em", "mean", 0.5),
        ("f1_corpus", "f1_corpus", 0.25),
    ]
    assert log.printed[1].recount is None
    assert log.printed[0].recount is not None
    again = log.printed[0].recount()
    for each in log.outputs():
        again.add(each)
    assert again.value() == 0.5
    assert log.facts == {"results": f"results_{TIME}.json", "lighteval_sha": "?", "max_samples": 2}
    assert log.task == TASK


@pytest.mark.parametrize(
    "place",
    ["details/lab/tiny/{time}/results_{time}.json", "details/lab/tiny/results_{time}.json", "results/lab/tiny/results_{time}.json"],
)  # fmt: skip
def test_results_are_found_where_versions_put_them(tmp_path, place):
    path = written(tmp_path, [row("a")])
    beside = tmp_path / place.format(time=TIME)
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text(json.dumps(RESULTS | {"config_general": {"model_config": {"model_name": "by results"}}}))
    log = LIGHTEVAL.opened(path)
    assert len(log.printed) == 2
    assert [each.model for each in log.outputs()] == ["by results"]


def test_a_folder_with_the_name_of_a_pattern_is_a_folder(tmp_path):
    path = written(tmp_path / "a[b]*", [row("q")])
    assert LIGHTEVAL.recognises(b"PAR1", path)
    assert [each.item_id for each in LIGHTEVAL.opened(path).outputs()] == ["q"]


def test_without_results_or_folders_the_model_has_no_name(tmp_path):
    path = written(tmp_path, [row("a")])
    alone = path.rename(tmp_path / "mine.parquet")
    log = LIGHTEVAL.opened(alone)
    assert ([each.model for each in log.outputs()], log.task, log.printed) == (["unnamed"], "mine", ())


@pytest.mark.parametrize(
    "results",
    [
        RESULTS | {"results": {TASK: {"em": 10**400, "f1": None, "g": "n/a", "h": float("nan")}}},
        RESULTS | {"results": []},
        RESULTS | {"results": {TASK: 5}, "config_tasks": {TASK: {"metrics": 5}}},
        {},
    ],
)
def test_results_without_figures_print_nothing(tmp_path, results):
    assert opened(tmp_path, row("a"), results=results).printed == ()


# --- what is refused ---


LOGPROBS = {"sampling_methods": ["LOGPROBS"]}


@pytest.mark.parametrize(
    ("rows", "place", "said"),
    [
        ([row("a"), row("a")], ":row 2", "an id that no other row has"),
        ([row("a", (), doc=LOGPROBS, model_response={"logprobs": [-1.5, -2.0]})], ":row 1", "log-probabilities"),
        ([row("a", (), doc={"sampling_methods": None}, model_response={"logprobs": [-1.5]})], ":row 1", "log-probabilities"),
        ([row("a", doc={"gold_index": [2]})], ":row 1", "numbers below 2 in 'gold_index'"),
        ([row("a", doc={"query": None})], ":row 1", "a text in 'query'"),
        ([row("a", doc={"id": 5})], ":row 1", "a text in 'id'"),
        ([row("a", doc={"num_samples": 10**9})], ":row 1", "a number from 1 to 100000 in 'num_samples'"),
        ([row("a", doc={"num_samples": 0})], ":row 1", "a number from 1 to 100000 in 'num_samples'"),
        ([row("a", "text")], ":row 1", "a list in 'text'"),
        ([row("a", ((5,),))], ":row 1", "texts in 'text'"),
        ([row("a", metrics="{'em': 1}")], ":row 1", "an object in 'metric'"),
        ([row("a") | {"doc": "Doc(...)"}], "", "a struct with 'id' in the column 'doc'"),
        ([old_row("a", (0.5, -1.0))], ":row 1", "log-probabilities"),
        ([old_row("a", ((-1.0, 2.0),))], ":row 1", "log-probabilities"),
        ([old_row("a", "['I say B']")], ":row 1", "a list in 'predictions'"),
        ([{"doc": "x"}], "", "the columns of lighteval's details"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, rows, place, said):
    path = written(tmp_path, [json.loads(json.dumps(each)) for each in rows])
    with pytest.raises(InputError) as refused:
        list(LIGHTEVAL.opened(path).outputs())
    assert refused.value.where == f"{path}{place}"
    assert said in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize("whole", [row("q"), old_row("q")], ids=["new", "old"])
def test_a_wrong_type_anywhere_is_refused_or_read_soundly(tmp_path, whole):
    for changed in mutations(whole, None, 7, [], ["x"], "x", {"x": 1}):
        if not isinstance(changed, dict):
            continue
        try:
            path = written(tmp_path, [changed])
        except (pl.exceptions.PolarsError, TypeError):  # no column can hold it
            continue
        found = read_or_refused(LIGHTEVAL.opened, path)
        if isinstance(found, InputError):
            assert found.where.startswith(str(path))
        else:
            assert all((each.raw_output is None) == (each.no_answer is not None) for each in found)


def test_a_cut_file_is_refused(tmp_path):
    path = written(tmp_path, [row("a"), row("b")])
    whole = path.read_bytes()
    assert LIGHTEVAL.recognises(whole[:HEAD], path)
    for size in range(1, len(whole), 401):
        path.write_bytes(whole[:size])
        assert not LIGHTEVAL.recognises(whole[:size], path)
        with pytest.raises(InputError) as refused:
            LIGHTEVAL.opened(path)
        assert refused.value.where == str(path)


@pytest.mark.slow
def test_a_changed_byte_never_breaks_the_reader(tmp_path):
    path = written(tmp_path, [row("a"), row("b")])
    whole = path.read_bytes()
    for place in range(4, len(whole) - 4, 61):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        found = read_or_refused(LIGHTEVAL.opened, path)
        assert isinstance(found, InputError | list)


def test_results_nested_a_million_deep_are_refused(tmp_path):
    path = written(tmp_path, [row("a")], {})
    beside = tmp_path / "results" / "lab" / "tiny" / f"results_{TIME}.json"
    beside.write_text('{"config_general": ' + "[" * 1_000_000)
    with pytest.raises(InputError, match="nested too deeply"):
        LIGHTEVAL.opened(path)


# --- how files are told ---


def test_files_are_told_by_their_columns(tmp_path):
    path = written(tmp_path, [row("a")], RESULTS)
    beside = tmp_path / "results" / "lab" / "tiny" / f"results_{TIME}.json"
    on_hub = tmp_path / f"results_{TIME}.parquet"
    pl.DataFrame({"config_general": ["{}"], "results": ["{}"]}).write_parquet(on_hub)
    other = tmp_path / "other.parquet"
    pl.DataFrame({"raw_output": ["model_response, doc, metric"]}).write_parquet(other)
    old = written(tmp_path / "old", [old_row("a")])
    for each, is_log, belongs in ((path, True, False), (old, True, False), (beside, False, True), (on_hub, False, True), (other, False, False)):  # fmt: skip
        head = each.read_bytes()[:HEAD]
        assert (LIGHTEVAL.recognises(head, each), LIGHTEVAL.belongs(head, each)) == (is_log, belongs), each


@pytest.mark.slow
def test_many_rows_come_in_their_order(tmp_path):
    found = outputs(tmp_path, *(row(str(number), (f"text {number}",)) for number in range(1_200)))
    assert [each.raw_output for each in found] == [f"text {number}" for number in range(1_200)]
