"""Predictions of OpenCompass become outputs, LawBench's published figures are made again; what is no text is refused."""

import json
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.opencompass_predictions import OPENCOMPASS
from affidavit.exchange.registry import HEAD
from support.log_mutations import mutations, read_or_refused

DEMAND = "从A,B,C,D中选出一个，例如[正确答案]A<eoa>。\n"
HEADER = "task,model_name,score,abstention_rate\n"


def row(said: object, reference: object = "正确答案：B。", prompt: object = DEMAND, **more: object) -> dict:
    return {"origin_prompt": prompt, "prediction": said, "refr": reference, **more}


def human(text: object) -> dict:
    return {"role": "HUMAN", "prompt": text}


ROWS = {
    "0": row("[正确答案]B<eoa>", prompt=[human(DEMAND)]),
    "1": row("C<eoa>\n"),
    "2": row("A or B"),
    "3": row(""),
}


def written(folder: Path, rows: object, published: str | bytes | None = None) -> Path:
    path = folder / "tiny" / "1-2.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rows))
    if published is not None:
        (folder / "results.csv").write_bytes(published if isinstance(published, bytes) else published.encode())
    return path


def outputs(path: Path) -> list[LoggedOutput]:
    return list(OPENCOMPASS.opened(path).outputs())


def recognised(path: Path) -> bool:
    return OPENCOMPASS.recognises(path.read_bytes()[:HEAD], path)


def recounted(path: Path) -> dict[str, tuple[float, float | None]]:
    log = OPENCOMPASS.opened(path)
    again = [printed.recount() for printed in log.printed if printed.recount is not None]
    for output in log.outputs():
        for each in again:
            each.add(output)
    return {
        printed.metric: (printed.value, each.value()) for printed, each in zip(log.printed, again, strict=True)
    }


def test_outputs_are_verbatim_and_lawbench_has_its_word(tmp_path):
    path = written(tmp_path, ROWS, HEADER + "1-2,tiny,0.25,0.25\n1-2,other,1.0,0.0\n")
    found = outputs(path)
    assert recognised(path)
    assert [(each.item_id, each.model, each.raw_output, each.verbatim) for each in found] == [
        ("0", "tiny", "[正确答案]B<eoa>", True),
        ("1", "tiny", "C<eoa>\n", True),
        ("2", "tiny", "A or B", True),
        ("3", "tiny", "", True),
    ]
    assert {(each.answer, each.prompt, each.no_answer) for each in found} == {("正确答案：B。", DEMAND, None)}
    words = [word for each in found for word in each.words]
    assert [(word.scorer, word.answer, word.correct, word.points, word.no_answer) for word in words] == [
        ("lawbench", "B", True, 1.0, None),
        ("lawbench", "C", False, 0.0, None),
        ("lawbench", None, False, 0.0, None),
        ("lawbench", None, False, 0.0, NoAnswer.SENTINEL),
    ]
    assert recounted(path) == {"score": (0.25, 0.25), "abstention_rate": (0.25, 0.25)}


@pytest.mark.parametrize(
    ("prompt", "reference", "published", "has_word"),
    [
        (DEMAND, "正确答案：B。", None, True),
        ("Which?", "正确答案：B。", HEADER + "1-2,tiny,1,0\n", True),
        ("Which?", "正确答案：B。", None, False),
        ("Which?", "正确答案：B。", HEADER + "1-2,other,1,0\n", False),
        ("Which?", "正确答案：B。", "task,model,accuracy\n1-2,tiny,1\n", False),
        (DEMAND, "B", None, False),
        (DEMAND, "罪名:盗窃", HEADER + "1-2,tiny,1,0\n", False),
        ([{"role": "SYSTEM", "prompt": DEMAND}, human("Q")], "正确答案：B。", None, True),
    ],
)
def test_lawbench_has_a_word_only_where_its_rule_was_meant(tmp_path, prompt, reference, published, has_word):
    path = written(tmp_path, {"0": row("B", reference, prompt)}, published)
    (found,) = outputs(path)
    assert bool(found.words) is has_word
    assert found.answer == reference


@pytest.mark.parametrize(
    ("given", "prompt", "more"),
    [
        ([human("Q")], "Q", {}),
        ("Q", "Q", {}),
        (None, None, {}),
        ([{"role": "BOT", "prompt": "Q"}], None, {}),
        ([human("Q"), human("R")], None, {"origin_prompt": [human("Q"), human("R")]}),
        ([human([{"type": "image"}])], None, {}),
    ],
)
def test_a_prompt_is_one_text_or_the_only_message(tmp_path, given, prompt, more):
    (found,) = outputs(written(tmp_path, {"0": row("x", "B", given)}))
    assert (found.prompt, dict(found.more)) == (prompt, more)


@pytest.mark.parametrize(
    ("fields", "answer", "more"),
    [
        ({"gold": "B"}, "B", {}),
        ({"gold": 7}, "7", {}),
        ({"gold": ["a", "b"]}, None, {"gold": ["a", "b"]}),
        ({}, None, {}),
        ({"gold": None, "res_length": 3}, None, {"res_length": 3}),
    ],
)
def test_a_reference_stays_as_it_stands(tmp_path, fields, answer, more):
    (found,) = outputs(written(tmp_path, {"0": {"origin_prompt": "Q", "prediction": "x", **fields}}))
    assert (found.answer, dict(found.more)) == (answer, more)


def test_several_predictions_are_samples_and_null_is_none(tmp_path):
    found = outputs(
        written(tmp_path, {"0": row(["B", None]), "1": row(None), "2": row("\ud800"), "3": row(" \r\n")})
    )
    assert [(each.item_id, each.sample, each.raw_output, each.no_answer) for each in found] == [
        ("0", 0, "B", None),
        ("0", 1, None, NoAnswer.MISSING),
        ("1", 0, None, NoAnswer.MISSING),
        ("2", 0, "\ud800", None),
        ("3", 0, " \r\n", None),
    ]
    assert [len(each.words) for each in found] == [1, 0, 0, 1, 1]
    assert len({each.place for each in found}) == 5


def test_gaps_are_counted(tmp_path):
    assert OPENCOMPASS.opened(written(tmp_path, {"0": row("B"), "4": row("C")})).planned == 5
    assert OPENCOMPASS.opened(written(tmp_path, ROWS)).planned is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"0": row("B"), "x": row("B")}, 'as names of predictions, found "x"'),
        ({"00": row("B")}, 'as names of predictions, found "00"'),
        ({"0": row(5)}, "a text in 'prediction', found 5"),
        ({"0": row([0.25, 0.75])}, "a text in 'prediction'"),
        ({"0": row([])}, "a text in 'prediction'"),
        ({"0": {"origin_prompt": "Q", "refr": "B"}}, "a field 'prediction'"),
        ({"0": {"label: A": {"PPL": 1.5}, "prediction": "A", "gold": "A"}}, "found perplexities of given answers"),
        ({"0": row("B", prompt=5)}, "a text or a list of messages"),
        ({"0": row("B", prompt=["Q"])}, "messages with a role"),
        ({"0": row(["a", "b"], prompt=[[human("Q")], [human("R")]])}, "found rounds of a conversation"),
        ({"0": "B"}, "an object with a prediction"),
        ([row("B")], "expected predictions of OpenCompass"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, rows, said):
    path = written(tmp_path, rows)
    with pytest.raises(InputError) as refused:
        outputs(path)
    assert refused.value.where.startswith(str(path))
    assert said in str(refused.value)


@pytest.mark.parametrize("between", [", ", ', "1": {"prediction": "C", "gold": {"2": 1}}, '])
def test_a_repeated_name_is_refused(tmp_path, between):
    path = written(tmp_path, {})
    path.write_text('{"0": {"prediction": "B"}' + between + '"0": {"prediction": "C"}}')
    with pytest.raises(InputError, match='names that no two values have, found "0"'):
        outputs(path)
    path.write_text('{"0": {"prediction": "B", "gold": {"0": 1, "7": 2}}}')
    assert len(outputs(path)) == 1


@pytest.mark.parametrize(
    ("published", "place", "said"),
    [
        (HEADER + "1-2,tiny,0.5,0\n1-2,tiny,0.6,0\n", ":3", "one row of each task and model"),
        (HEADER + "1-2,tiny,many,0\n", ":2", 'a number, found "many"'),
        (HEADER + "1-2,tiny,0.5,nan\n", ":2", 'a number, found "nan"'),
        (HEADER + "1-2,tiny,0.5\n", ":2", "four cells"),
        (HEADER + '1-2,"tiny,0.5,0\n', ":2", "a row of a CSV table"),
        (HEADER.encode() + b"1-2,\xff,0.5,0\n", ":2", "text in UTF-8"),
    ],
)
def test_published_scores_that_do_not_fit_are_refused(tmp_path, published, place, said):
    path = written(tmp_path, ROWS, published)
    with pytest.raises(InputError) as refused:
        OPENCOMPASS.opened(path)
    assert refused.value.where == f"{tmp_path / 'results.csv'}{place}"
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("content", "is_log"),
    [
        ('{"0": {"origin_prompt": "Q"', True),
        ('{\n "17": {"label: A": {', True),
        ('{"0": {"prompt": "Q", "origin_prediction": "B"}}', False),
        ('{"accuracy": 5}', False),
        ('[{"prediction": "B"}]', False),
        ("", False),
    ],
)
def test_told_by_content(tmp_path, content, is_log):
    assert OPENCOMPASS.recognises(content.encode(), tmp_path / "x.json") is is_log


def test_published_scores_belong(tmp_path):
    for name, content, belongs in (
        ("results.csv", HEADER, True),
        ("results.csv", "task,model,score,abstention_rate\r\n", True),
        ("results.csv", "a,b\n", False),
        ("other.csv", HEADER, False),
    ):
        assert OPENCOMPASS.belongs(content.encode(), tmp_path / name) is belongs


def test_a_cut_log_is_refused_with_its_place(tmp_path):
    path = written(tmp_path, ROWS)
    whole = path.read_bytes()
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError) as refused:
            outputs(path)
        assert refused.value.where.startswith(str(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "other", [None, 5, -1.5, True, "text", [1], {"x": 1}, float("nan"), 10**400], ids=lambda value: str(value)[:8]
)
def test_wrong_types_anywhere_are_read_soundly_or_refused(tmp_path, other):
    rows = {**ROWS, "4": row("B", prompt=[human(DEMAND), human("R")], gold="B")}
    written(tmp_path, rows, HEADER + "1-2,tiny,0.25,0.25\n")
    for changed in mutations(rows, other):
        path = written(tmp_path, changed)
        read_or_refused(OPENCOMPASS.opened, path)


@pytest.mark.parametrize("begin", ['{"0": {"prediction": ', '{"0": {"prediction": "B"}, "0": '])
def test_nesting_without_end_is_refused(tmp_path, begin):
    path = written(tmp_path, {})
    path.write_text(begin + "[" * 1_000_000)
    with pytest.raises(InputError, match="nested too deeply"):
        outputs(path)


@pytest.mark.parametrize(
    ("model", "score", "abstention"),
    [("GPT4", 0.552, 0.002), ("internlm-chat-7b-8k-hf", 0.404, 0.0), ("qwen-7b-chat-hf", 0.34, 0.002)],
)
def test_published_figures_of_real_models_are_made_again(public_data, model, score, abstention):
    path = public_data / "logs" / "opencompass" / model / "1-2.json"
    assert recognised(path)
    log = OPENCOMPASS.opened(path)
    found = list(log.outputs())
    assert (log.task, len(found), log.planned, {each.model for each in found}) == ("1-2", 500, None, {model})
    assert found[0].answer == "正确答案：B。"
    assert recounted(path) == {"score": (score, score), "abstention_rate": (abstention, abstention)}
