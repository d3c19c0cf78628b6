"""Every Eval Ever: files that its schemas take, figures that are ours, and no output called wrong that gave no answer."""

import json
import re
from hashlib import sha256
from pathlib import Path

import jsonschema_rs
import pytest

from affidavit.archive.record import ImportIdentity, Response
from affidavit.contracts.mcqa import mcqa
from affidavit.errors import UsageError
from affidavit.exchange.registry import logs_of
from affidavit.integrations.every_eval_ever_files import EVERY_EVAL_EVER
from affidavit.integrations.every_eval_ever_rows import Asked, OfRun, instance, left_out_as
from support.exports import HOSTILE, TIMEOUT, exported, imported, of_logs, planned
from support.golden_files import GOLDEN, golden
from support.written_logs import write_log
from support.written_study import here, questions, reported, tables, written

RUN = OfRun("quiz/m/0", "quiz", "quiz/m/0/accuracy_over_answers", "m")


def files(out: Path) -> list[tuple[dict, list[dict]]]:
    """Each aggregate with its instances."""
    found = []
    for path in sorted(out.rglob("*.json")):
        aggregate = json.loads(path.read_bytes())
        details = aggregate.get("detailed_evaluation_results")
        rows = [] if details is None else (out / details["file_path"]).read_bytes().splitlines()
        found.append((aggregate, list(map(json.loads, rows))))
    return found


def written_files(study: Path) -> list[tuple[dict, list[dict]]]:
    exported(study, EVERY_EVAL_EVER, study.parent / "eee")
    return files(study.parent / "eee")


def verdicts(log: Path) -> dict[tuple[str, int, str | None], bool | None]:
    """By item and repeat, the text and the word of its source, as our reader has them."""
    (found,) = logs_of([log])
    return {(each.item_id, each.sample, each.raw_output): each.words[0].correct for each in found.outputs()}


STUDIES = {
    "planned": lambda folder: planned(folder, "<answer>B</answer>", "<answer>A</answer>", "B", "", TIMEOUT),
    "imported": imported,
    "without a verdict": lambda folder: imported(folder, contract="text"),
    "several conditions": lambda folder: written(
        folder,
        tables(
            models=("org/m", "../x"),
            conditions={"plain": {}, "firm": {}},
            decoding={"samples": 2, "temperature": 0.5},
        ),
        {"quiz": questions(3)},
        lambda asked: f"<answer>{'AB'[asked.sample]}</answer>",
    ),
    "a log": lambda folder: of_logs(folder, write_log(folder), contract="mcqa"),
    "kept, planned": lambda _: GOLDEN / "studies" / "planned",
    "kept, mixed": lambda _: GOLDEN / "studies" / "mixed",
    "kept, own": lambda _: GOLDEN / "studies" / "own",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_every_file_follows_the_published_schemas(public_data, tmp_path, name):
    schemas = [
        json.loads((public_data / "logs" / "every_eval_ever" / f"{each}.schema.json").read_bytes())
        for each in ("eval", "instance_level_eval")
    ]
    of_aggregate, of_instance = (jsonschema_rs.validator_for(schema) for schema in schemas)
    exported(STUDIES[name](tmp_path), EVERY_EVAL_EVER, tmp_path / "eee")
    found = files(tmp_path / "eee")
    assert found
    for aggregate, rows in found:
        of_aggregate.validate(aggregate)
        for row in rows:
            of_instance.validate(row)


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_the_two_files_belong_together_and_add_up(tmp_path, name):
    exported(STUDIES[name](tmp_path), EVERY_EVAL_EVER, tmp_path / "eee")
    for aggregate, rows in files(tmp_path / "eee"):
        counts = {
            key: int(value)
            for key, value in aggregate["source_metadata"]["additional_details"].items()
            if key != "root_sha256"
        }
        left = sum(count for key, count in counts.items() if key.startswith("left out: "))
        assert counts["planned"] == counts["instances"] + left + counts["pending"]
        assert counts["instances"] == len(rows)
        results = {each["metric_config"]["metric_id"]: each for each in aggregate["evaluation_results"]}
        assert {row["evaluation_id"] for row in rows} <= {aggregate["evaluation_id"]}
        assert len({row["metadata"]["key"] for row in rows}) == len(rows)
        if rows:
            details, first = aggregate["detailed_evaluation_results"], results["accuracy_over_answers"]
            content = (tmp_path / "eee" / details["file_path"]).read_bytes()
            assert (details["checksum"], details["total_rows"]) == (sha256(content).hexdigest(), len(rows))
            mean = sum(row["evaluation"]["score"] for row in rows) / len(rows)
            assert first["score_details"]["score"] == pytest.approx(mean)
            assert first["score_details"]["uncertainty"]["num_samples"] == len(rows)
            assert {row["evaluation_result_id"] for row in rows} == {first["evaluation_result_id"]}


@pytest.mark.slow
def test_figures_are_those_of_the_report(tmp_path):
    study = STUDIES["planned"](tmp_path)
    ((aggregate, rows),) = written_files(study)
    (row,) = reported(here("report", study, "--format", "json"))["accuracy"]["rows"]
    results = {
        each["metric_config"]["metric_id"]: each["score_details"] for each in aggregate["evaluation_results"]
    }
    for name, column in (
        ("accuracy_over_answers", "accuracy over compliant"),
        ("accuracy_over_all_outputs", "yield"),
    ):
        interval = results[name]["uncertainty"]["confidence_interval"]
        assert results[name]["score"] == row[column]["value"]
        assert [interval["lower"], interval["upper"]] == [row[column]["low"], row[column]["high"]]
    assert [each["evaluation"]["is_correct"] for each in rows] == [True, False]
    assert results["compliance"]["details"] == {
        "planned": "6", "compliant": "2", "non-compliant": "2", "unread": "0", "failed": "1", "pending": "1",
        "instances": "2", "left out: failed: timeout": "1", "left out: non-compliant: bare_letter": "1",
        "left out: non-compliant: empty": "1",
    }  # fmt: skip


SAME = ("sample_id", "output", "evaluation", "input", "sample_hash", "answer_attribution")
"""What an instance says of an output, wherever it was written from."""


def there_and_back(study: Path, contract: str, **parameters: object) -> tuple[list[dict], list[dict]]:
    """The instances of a study, and those of the study that was made of them."""
    folder = study.parent
    exported(study, EVERY_EVAL_EVER, folder / "eee")
    back = of_logs(folder / "back", folder / "eee", contract=contract, **parameters)
    exported(back, EVERY_EVAL_EVER, folder / "again")
    ((_, first),), ((_, second),) = files(folder / "eee"), files(folder / "again")
    return first, second


def said(rows: list[dict]) -> list[dict]:
    return [{key: row[key] for key in SAME} for row in rows]


def options_row(name: str, raw: str) -> dict:
    row = {"id": name, "answer": "B", "question": f"[{name}]?", "options": ["w", "x", "y", "z"]}
    return {**row, "raw_output": raw}


@pytest.mark.slow
def test_every_output_with_an_answer_comes_back_with_its_text_and_our_verdict(tmp_path):
    rows = [options_row(f"q{n}", f"<answer>{letter}</answer>") for n, letter in enumerate("BABCB")]
    first, second = there_and_back(imported(tmp_path, [*rows, options_row("q9", "text")]), "mcqa")
    assert said(first) == said(second)
    (log,) = logs_of([tmp_path / "eee"])
    outputs = list(log.outputs())
    assert {(each.item_id, each.raw_output, each.answer, each.question) for each in outputs} == {
        (row["id"], row["raw_output"], "B", row["question"]) for row in rows
    }
    assert [each.words[0].correct for each in outputs] == [True, False, True, False, True]
    assert [each.options for each in outputs] == [["w", "x", "y", "z"]] * 5
    assert {each.verbatim for each in outputs} == {True}
    printed = {each.metric: each for each in log.printed}
    again = printed["accuracy over answers"].recount()
    for each in outputs:
        again.add(each)
    assert again.value() == pytest.approx(printed["accuracy over answers"].value) == 0.6


@pytest.mark.parametrize("contract", ["mcqa", "mcqa-reasoned"])
def test_options_and_letters_stand_as_they_were_shown(tmp_path, contract):
    """An instance whose choices stood in the item's order would be contradicted by its own text."""
    rows = [{**each, "options": [f"{each['id']} {option}" for option in "wxyz"]} for each in questions(3)]
    study = written(
        tmp_path,
        tables(
            conditions={"plain": {}},
            decoding={"samples": 2},
            tasks={"quiz": {"contract": contract, "items": "quiz.jsonl", "option_order": "shuffle"}},
        ),
        {"quiz": rows},
        lambda asked: (
            f"<reasoning>so</reasoning><answer>{asked.item.fields['answer']}</answer>"
            if contract != "mcqa"
            else f"<answer>{asked.item.fields['answer']}</answer>"
        ),
    )
    ((_, found),) = written_files(study)
    assert len(found) == 6
    for row in found:
        (reference,), (attribution,) = row["input"]["reference"], row["answer_attribution"]
        assert f"<answer>{reference}</answer>" in row["output"]["raw"][0]
        assert attribution["extracted_value"] == reference
        assert row["input"]["choices"]["ABCD".index(reference)] == f"{row['sample_id']} x"
        assert row["metadata"]["option_order"]["ABCD".index(reference)] == row["metadata"]["own_answer"] == "B"
    assert len({row["metadata"]["option_order"] for row in found}) > 1
    back = of_logs(tmp_path / "back", tmp_path / "eee", contract=contract)
    exported(back, EVERY_EVAL_EVER, tmp_path / "again")
    ((_, again),) = files(tmp_path / "again")
    assert said(again) == said(found)


@pytest.mark.slow
def test_a_real_log_comes_back_from_ours(public_data, tmp_path):
    (log,) = (public_data / "logs" / "lm_eval").glob("samples_gsm8k*")
    study = of_logs(tmp_path, log, contract="number", marker="####")
    first, second = there_and_back(study, "number", marker="####")
    assert said(first) == said(second)
    texts = [json.loads(line)["resps"][0][0] for line in log.read_bytes().splitlines()]
    assert {text for row in first for text in row["output"]["raw"]} == set(texts)


@pytest.mark.slow
def test_a_text_that_is_not_verbatim_stays_so(tmp_path):
    """What an import says of its texts goes with them (ruling I1)."""
    row = {**options_row("q", "<answer>B</answer>"), "verbatim": False}
    first, _ = there_and_back(imported(tmp_path, [row]), "mcqa")
    assert first[0]["metadata"]["verbatim"] == "false"
    ((aggregate, _),) = files(tmp_path / "eee")
    assert aggregate["source_metadata"]["additional_details"]["not verbatim"] == "1"
    (log,) = logs_of([tmp_path / "eee"])
    assert [each.verbatim for each in log.outputs()] == [False]


@pytest.mark.slow
def test_samples_of_an_item_stay_apart(tmp_path):
    exported(STUDIES["several conditions"](tmp_path), EVERY_EVAL_EVER, tmp_path / "eee")
    paths = sorted((tmp_path / "eee").rglob("*_samples.jsonl"))
    assert len(paths) == 4
    for path in paths:
        found = verdicts(path)
        assert len(found) == 6
        assert {(sample, correct) for (_, sample, _), correct in found.items()} == {(0, False), (1, True)}


@pytest.mark.slow
def test_names_are_no_paths(tmp_path):
    exported(STUDIES["several conditions"](tmp_path), EVERY_EVAL_EVER, tmp_path / "eee")
    pattern = r"data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(_samples)?\.jsonl?"
    found = [path.relative_to(tmp_path / "eee").as_posix() for path in (tmp_path / "eee").rglob("*.json*")]
    assert len(found) == 8
    assert [name for name in found if re.fullmatch(pattern, name) is None or ".." in name] == []


HOSTILE_ANSWERED = [text for text in HOSTILE if "<answer>" in text]


def test_hostile_texts_without_an_answer_are_counted_and_not_written(tmp_path):
    ((aggregate, rows),) = written_files(imported(tmp_path))
    assert [row["output"]["raw"] for row in rows] == [[text] for text in HOSTILE_ANSWERED]
    assert int(aggregate["source_metadata"]["additional_details"]["left out: failed: no_content"]) == 1


def response(raw: str, **fields: object) -> Response:
    subject = ImportIdentity("0" * 64, "s", "t", "q", "m", "base", 2, "o", "Which?", {})
    own = {"extracted_answer": None, "deviation": None, "correct": None, **fields}
    return Response(subject, raw, "mcqa/1", {"options": "A-D"}, fields.get("extracted_answer") is not None, own)


@pytest.mark.parametrize(
    ("item", "prompt", "raw"),
    [
        ({"question": "2 + 2?"}, "Solve: 2 + 2?", "2 + 2?"),
        ({"question": " "}, "Solve it.", "Solve it."),
        ({"numbers": [1, 2]}, None, '{"numbers":[1,2]}'),
        ({"question": "half \ud800"}, None, "half \ud800"),
    ],
)
def test_what_was_asked_is_said_as_far_as_it_is_known(item, prompt, raw):
    found = instance(
        response("<answer>B</answer>", extracted_answer="B", correct=True), Asked(item, prompt), mcqa, RUN
    )
    assert found["input"]["raw"] == raw
    assert found["input"].get("formatted") == prompt
    assert found["metadata"]["epoch"] == "3"
    assert found["answer_attribution"][0]["extracted_value"] == "B"


def test_what_nobody_knows_is_not_made_up_of_what_stood_beside_it():
    """A row from elsewhere may hold its key under any name: none of it is a question (ruling I4)."""
    said = response("<answer>B</answer>", extracted_answer="B", correct=True)
    asked = Asked({"answer": "B", "target": "B", "subject": "art"}, None, from_elsewhere=True)
    assert instance(said, asked, mcqa, RUN)["input"]["raw"] == ""
    planned = Asked({"answer": "B", "numbers": [1, 2]}, None)
    assert instance(said, planned, mcqa, RUN)["input"]["raw"] == '{"numbers":[1,2]}'


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"extracted_answer": "B", "correct": True}, None),
        ({"extracted_answer": "B", "correct": False}, None),
        ({"extracted_answer": "B"}, "right answer not known"),
        ({"deviation": "no_tag"}, "non-compliant: no_tag"),
    ],
)
def test_an_instance_has_an_answer_and_a_verdict(fields, said):
    assert left_out_as(response("x", **fields), mcqa) == said


def test_what_is_there_stays(tmp_path):
    study = imported(tmp_path)
    exported(study, EVERY_EVAL_EVER, tmp_path / "eee")
    with pytest.raises(UsageError, match="free"):
        exported(study, EVERY_EVAL_EVER, tmp_path / "eee")
    with pytest.raises(UsageError, match="evidence"):
        exported(study, EVERY_EVAL_EVER, study)
    assert len(files(tmp_path / "eee")) == 1


def test_the_files_of_a_small_study_are_kept(tmp_path):
    """What a reader of the format gets, looked at once."""
    rows = [
        {"id": "q1", "question": "Which?", "answer": "B", "subject": "art", "raw_output": "<answer>B</answer>"},
        {"id": "q2", "question": "And now?", "answer": "C", "subject": "art", "raw_output": "<answer>B</answer>"},
        {"id": "q3", "question": "At last?", "answer": "A", "subject": "art", "raw_output": "A"},
    ]
    ((aggregate, instances),) = written_files(imported(tmp_path, rows))
    aggregate["eval_library"]["version"] = "VERSION"
    both = json.dumps({"aggregate": aggregate, "instances": instances}, indent=1, sort_keys=True) + "\n"
    assert golden("every_eval_ever.json", both) == both
