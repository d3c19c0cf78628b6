"""`affidavit batch`: what it refuses, what it says, and what it leaves to a live run."""

import json
from pathlib import Path

import pytest
from click import BadParameter

from affidavit.commands.batch import Bytes
from affidavit.commands.batch_words import exported_lines
from affidavit.models.batch_files import BatchFile
from affidavit.running.batch_export import Exported
from support.batch_service import failed, requests_in, said, write_lines
from support.command import affidavit
from support.fault_server import FaultServer
from support.own_contracts import ECHO
from support.studies import every_byte, fine, records, run, told_by_verify, write_study

NOWHERE = "http://127.0.0.1:9/v1"
EMBEDDED = {"models": {"m": {"base_url": None, "connections": None, "embedded": "smollm2"}}}
REPLAY = {"models": {"old": {"replay": "elsewhere"}}}


def export(folder: Path, *options: object, source: object = "study.toml", **environment: str):
    return affidavit("batch", "export", source, *options, cwd=folder, **environment)


def take_in(folder: Path, *files: object, directory: object = "trial"):
    return affidavit("batch", "import", directory, *files, cwd=folder)


@pytest.fixture
def study(tmp_path) -> Path:
    write_study(tmp_path, NOWHERE, count=3)
    return tmp_path


@pytest.fixture
def exported(study) -> Path:
    assert fine(export(study), 0)
    return study


def keys(folder: Path) -> list[str]:
    return [each["custom_id"] for each in requests_in(sorted((folder / "trial-batch").iterdir()))]


@pytest.mark.parametrize(
    ("size", "number"), [("200MB", 200_000_000), ("7", 7), ("7B", 7), ("1 kb", 1000), ("2GB", 2_000_000_000)]
)
def test_sizes_are_read_as_people_write_them(size, number):
    assert Bytes().convert(size, None, None) == number


@pytest.mark.parametrize("size", ["", "MB", "0", "-1", "1.5MB", "1TB", "x"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(BadParameter, match="is no size"):
        Bytes().convert(size, None, None)


@pytest.mark.slow
def test_an_export_says_what_it_wrote_and_what_to_do_next(study):
    done = export(study, "--json")
    assert fine(done, 0)
    told = json.loads(done.stdout)
    size = (study / "trial-batch" / "m-0001.jsonl").stat().st_size
    assert told == {
        "directory": "trial",
        "asks": "models",
        "requests": 3,
        "files": [{"path": "trial-batch/m-0001.jsonl", "model": "m", "requests": 3, "bytes": size}],
        "left_to_run": {},
        "judging_waits_for": 0,
    }
    again = export(study, source="trial")
    assert fine(again, 0)
    assert b"trial-batch-2/m-0001.jsonl" in again.stdout
    assert b"affidavit batch import trial ANSWERS..." in again.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "options", "words"),
    [
        (EMBEDDED, (), b"expected models behind a base_url"),
        (EMBEDDED, (), b"found m (embedded)"),
        (REPLAY, ("--model", "old"), b"--model: expected models behind a base_url"),
        ({}, ("--model", "nobody"), b"nobody"),
        ({}, ("-o", "items.jsonl"), b"expected a folder that is not there yet"),
        ({}, ("-o", "trial/batch"), b"expected a folder outside the study's directory"),
        ({}, ("--max-bytes", "100"), b"expected at most 100 bytes"),
        ({}, ("--max-bytes", "many"), b"'many' is no size"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_words(tmp_path, changed, options, words):
    write_study(tmp_path, NOWHERE, count=3, changed=changed)
    done = export(tmp_path, *options)
    assert fine(done, 2)
    assert words in done.stderr
    assert not (tmp_path / "trial-batch").exists()
    assert "--max-bytes" in options or not (tmp_path / "trial").exists()


@pytest.mark.slow
def test_models_that_take_no_batches_are_left_to_a_run(tmp_path):
    write_study(tmp_path, NOWHERE, count=3, changed=REPLAY)
    done = export(tmp_path)
    assert fine(done, 0)
    assert b"not in these files: 3 open questions to old" in done.stdout
    assert {each["body"]["model"] for each in requests_in((tmp_path / "trial-batch").iterdir())} == {"m"}


@pytest.mark.slow
def test_a_value_of_the_environment_is_in_the_file_and_that_is_said(tmp_path):
    changed = {"models": {"m": {"body": {"user": {"env": "WHO"}}}}}
    write_study(tmp_path, NOWHERE, count=3, changed=changed)
    done = export(tmp_path, WHO="somebody-17")
    assert fine(done, 0)
    assert b"hold the value of WHO from the environment" in done.stderr
    assert {each["body"]["user"] for each in requests_in((tmp_path / "trial-batch").iterdir())} == {"somebody-17"}
    write_lines(tmp_path / "a", [failed(key, "somebody-17 is unknown") for key in keys(tmp_path)[1:]])
    write_lines(tmp_path / "b", [said(keys(tmp_path)[0], "somebody-17", system_fingerprint="of somebody-17")])
    done = affidavit("batch", "import", "trial", "a", "b", cwd=tmp_path, WHO="somebody-17")
    assert fine(done, 4)
    kept = every_byte(tmp_path / "trial")
    assert kept.count(b"somebody-17") == 1, "the model's own words, and nothing else"
    assert b"of [secret]" in kept


@pytest.mark.slow
def test_what_a_trial_has_answered_is_not_exported(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=4)
        assert fine(affidavit("run", "study.toml", "--limit", "1", cwd=tmp_path), 0)
        assert fine(export(tmp_path), 0)
        assert len(requests_in((tmp_path / "trial-batch").iterdir())) == 3
        write_lines(tmp_path / "answers", [said(key, "<answer>B</answer>") for key in keys(tmp_path)])
        assert fine(take_in(tmp_path, "answers"), 4)
        server.log.clear()
        assert fine(affidavit("run", "study.toml", cwd=tmp_path), 0)
    assert server.log == []
    assert len(records(tmp_path / "trial")) == 4


@pytest.mark.slow
def test_where_all_is_answered_there_is_nothing_to_export(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=2)
        assert fine(run(tmp_path), 0)
    done = export(tmp_path, source="out")
    assert fine(done, 0)
    assert b"nothing was written: no questions are open for a batch" in done.stdout
    assert not (tmp_path / "out-batch").exists()


def test_a_judging_that_waits_and_models_that_are_asked_live_are_named():
    waiting = Exported(Path("out"), live={"small": 12}, judging_waits_for=1_000)
    assert list(exported_lines(waiting, [])) == [
        "not in these files: 12 open questions to small; `affidavit run` asks them",
        "the judging waits for 1,000 outputs that may still come: export again once they are there, or let "
        "`affidavit run` ask the judges live",
        "nothing was written: no questions are open for a batch",
    ]
    file = BatchFile(Path("b/m-0001.jsonl"), "m", 2, 300)
    written = list(exported_lines(Exported(Path("my out"), [file], judging=True), ["--contract", "own.py:mine"]))
    assert written[0] == "b/m-0001.jsonl  2 requests to m, 300 bytes"
    assert written[-1] == "  affidavit batch import 'my out' --contract own.py:mine ANSWERS..."


@pytest.mark.slow
def test_requests_can_name_another_endpoint(study):
    assert fine(export(study, "--url", "/chat/completions"), 0)
    assert {each["url"] for each in requests_in((study / "trial-batch").iterdir())} == {"/chat/completions"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["trial-batch/m-0001.jsonl"], b"expected answers of a batch, found its requests"),
        (["items.jsonl"], b"expected lines with a custom_id and a response"),
        (["nowhere"], b"nowhere"),
        (["."], b"."),
    ],
)
def test_what_holds_no_answers_is_refused(exported, files, words):
    before = every_byte(exported / "trial")
    done = take_in(exported, *files)
    assert fine(done, 2)
    assert words in done.stderr
    assert every_byte(exported / "trial") == before


def test_a_directory_is_named_once(exported):
    done = export(exported, "--directory", "other", source="trial")
    assert fine(done, 2)
    assert b"--directory: expected it beside a study file alone" in done.stderr


@pytest.mark.slow
def test_a_contract_of_the_users_own_is_code_that_has_to_be_named(tmp_path):
    changed = {"tasks": {"quiz": {"contract": "own.py:echo"}}}
    (tmp_path / "own.py").write_text(ECHO)
    write_study(tmp_path, NOWHERE, count=3, changed=changed)
    assert b"affidavit batch import trial --study study.toml ANSWERS..." in export(tmp_path).stdout
    write_lines(tmp_path / "answers", [said(key, "Anything.") for key in keys(tmp_path)])
    refused = take_in(tmp_path, "answers")
    assert fine(refused, 2)
    assert b"--contract" in refused.stderr
    assert fine(take_in(tmp_path, "answers", "--study", "study.toml"), 0)
    assert [record["contract"] for record in records(tmp_path / "trial")] == ["echo/1"] * 3


@pytest.mark.slow
def test_answers_go_into_a_study_and_nowhere_else(exported):
    write_lines(exported / "answers", [said(key, "A") for key in keys(exported)])
    assert b"expected a study directory" in take_in(exported, "answers", directory="trial-batch").stderr
    done = take_in(exported, "answers", directory="study.toml")
    assert fine(done, 2)
    assert b"affidavit batch import trial" in done.stderr


@pytest.mark.slow
def test_an_import_says_what_is_odd_and_what_is_left(exported):
    first, second, third = keys(exported)
    lines = [said(first, "It is A."), said(first, "<answer>B</answer>"), failed(second, "late"), said("mine", "x")]
    write_lines(exported / "answers", lines)
    with (exported / "answers").open("a") as stream:
        stream.write('{"custom_id": "')
    done = take_in(exported, "answers")
    assert fine(done, 4)
    assert b"from 5 lines were taken in: 1 answered, 1 failed (1 server_error)" in done.stdout
    assert b"failures that may pass, and are asked again by a live run: 1" in done.stdout
    for words in (
        f"questions with several lines, of which the first answer counts: 1 ({first})",
        f"of these with answers that differ: 1 ({first})",
        'lines with a custom_id that no question of this study has; they were left: 1 ("mine")',
        "lines that cannot be read; they were left: 1 (answers:5",
        f"open questions without a line; they stay open: 1 ({third})",
        "1 failed with server_error: late",
        "2 without an answer; to continue: affidavit run study.toml\n",
    ):
        assert words in done.stderr.decode()
    assert [record["raw_output"] for record in records(exported / "trial") if "raw_output" in record] == [
        "It is A."
    ]


@pytest.mark.slow
def test_attempts_have_the_file_and_the_id_of_an_answer_and_no_times(exported):
    write_lines(exported / "answers", [said(key, "A") for key in keys(exported)])
    assert fine(take_in(exported, "answers"), 0)
    lines = [json.loads(each) for each in (exported / "trial" / "attempts.jsonl").read_text().splitlines()]
    assert lines == [
        {"key": key, "model": "m", "batch": "answers", "outcome": "response", "id": f"c-{key}"}
        for key in keys(exported)
    ]
    began, ended = map(json.loads, (exported / "trial" / "run_log.jsonl").read_text().splitlines())
    assert [each["name"] for each in began["batch"]] == ["answers"]
    assert began["models"]["m"]["request"]["model"] == "m"
    assert ended["root_sha256"] == told_by_verify(exported / "trial")["root_sha256"]


@pytest.mark.slow
def test_one_id_for_two_requests_is_no_answer_to_the_second(tmp_path):
    """Ruling C9: unless the ids repeat from the first answers on."""
    write_study(tmp_path, NOWHERE, count=40)
    assert fine(export(tmp_path), 0)
    own = [said(key, "A", id=f"c-{number}") for number, key in enumerate(keys(tmp_path))]
    own[30] = said(keys(tmp_path)[30], "A", id="c-3")
    write_lines(tmp_path / "answers", own)
    assert fine(take_in(tmp_path, "answers"), 4)
    assert [r["reason"] for r in records(tmp_path / "trial") if r["kind"] == "failure"] == ["stray_response"]


@pytest.mark.slow
def test_a_service_that_repeats_its_ids_from_the_first_is_believed(tmp_path):
    write_study(tmp_path, NOWHERE, count=40)
    assert fine(export(tmp_path), 0)
    write_lines(tmp_path / "answers", [said(key, "A", id="always") for key in keys(tmp_path)])
    assert fine(take_in(tmp_path, "answers"), 0)
