"""A study that is asked by batch, or half by batch and half live, is the study that was asked live."""

import json
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.running.batch_export import ExportOptions, export_study
from affidavit.running.batch_import import ImportOptions, import_answers
from affidavit.study.files import load
from support.batch_service import answered, failed, requests_in, said, write_lines
from support.command import affidavit
from support.crash_disk import InstantDisk
from support.fault_server import FaultServer, every, says, status
from support.studies import accounted, fine, quiz, records, run, told, told_by_verify, write_study

pytestmark = pytest.mark.slow

COUNT = 12
VARIED = {
    f"q{n}": every(says(("<answer>A</answer>", "It is B.", "<answer>B</answer>")[n % 3])) for n in range(COUNT)
}
EXPORTED, ANSWERS = Path("batch"), Path("answers.jsonl")
TWICE = {"decoding": {"samples": 2}}


def export(folder: Path, *options: str, code: int = 0, **environment: str) -> list[Path]:
    order = ("batch", "export", "study.toml", "--directory", "out", "-o", EXPORTED, *options)
    assert fine(affidavit(*order, cwd=folder, **environment), code)
    return sorted((folder / EXPORTED).glob("**/*.jsonl"))


def taken_in(folder: Path, *files: Path | str, code: int = 0) -> dict:
    done = affidavit("batch", "import", "out", *files, "--json", cwd=folder)
    assert fine(done, code)
    return json.loads(done.stdout)


def root(directory: Path) -> str:
    return told_by_verify(directory)["root_sha256"]


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> Path:
    """The study, asked live."""
    folder = tmp_path_factory.mktemp("live")
    with FaultServer(VARIED) as server:
        write_study(folder, server.url, count=COUNT, changed=TWICE)
        assert fine(run(folder), 0)
    return folder / "out"


@pytest.fixture
def study(tmp_path) -> Path:
    """The same study, of which nothing was asked yet; its server is nowhere."""
    write_study(tmp_path, "http://127.0.0.1:9/v1", count=COUNT, changed=TWICE)
    return tmp_path


def without_place(record: dict) -> dict:
    """What a record says, without where it stands in the journal."""
    return {name: value for name, value in record.items() if name not in ("seq", "group", "sha256")}


def test_all_by_batch_is_the_same_as_all_live(study, live):
    """Exported, answered by the same server, shuffled, taken in: every record and the root digest are the same."""
    files = export(study, "--max-requests", "7")
    assert [len(requests_in([each])) for each in files] == [7, 7, 7, 3]
    with FaultServer(VARIED) as server:
        lines = answered(files, server.url)
        bodies = [asked.body for asked in server.log]
    seeded(1).shuffle(lines)
    told_of = taken_in(study, write_lines(study / ANSWERS, lines))
    assert (told_of["answers"], told_of["failures"], told_of["open"]) == (2 * COUNT, {}, 0)
    assert root(study / "out") == root(live)
    both = [{r["key"]: without_place(r) for r in records(each)} for each in (study / "out", live)]
    assert both[0] == both[1]
    assert bodies == [each["body"] for each in requests_in(files)]


def test_half_by_batch_and_half_live_is_the_same_too(study, live):
    """Errors, doubles, gaps and strangers in the file; the rest is asked live."""
    files = export(study)
    with FaultServer(VARIED) as server:
        lines = answered(files, server.url)
        keys = [each["custom_id"] for each in lines]
        gone = {"code": "batch_expired", "message": "It was not answered in time."}
        odd = [failed(keys[0], gone), failed(keys[1], "queue full"), failed("f" * 64, gone), said("mine", "hello")]
        given = [*odd, *lines[3:], *lines[5:8]]
        seeded(2).shuffle(given)
        told_of = taken_in(study, write_lines(study / ANSWERS, given), code=4)
        assert told_of["failures"] == {"server_error": 1, "timeout": 1}
        assert (told_of["answers"], told_of["open"]) == (2 * COUNT - 3, 3)
        assert {name: told_of[name]["count"] for name in ("doubled", "differing", "missing", "unknown")} == {
            "doubled": 3,
            "differing": 0,
            "missing": 1,
            "unknown": 2,
        }
        assert told_of["missing"]["first"] == [keys[2]]
        assert set(told_of["unknown"]["first"]) == {"f" * 64, '"mine"'}
        server.log.clear()
        write_study(study, server.url, count=COUNT, changed=TWICE)
        done = run(study, "--json")
        assert fine(done, 0)
        assert len(server.log) == 3
    assert told(done)["asked"] == 3
    assert accounted(quiz(done))
    assert root(study / "out") == root(live)
    assert told_by_verify(study / "out")["differences"] == []


def test_the_same_files_once_more_change_nothing(study, live):
    with FaultServer(VARIED) as server:
        lines = answered(export(study), server.url)
    first, second = lines[:9], [*lines[4:], failed(lines[0]["custom_id"], "late")]
    write_lines(study / ANSWERS, first)
    write_lines(study / "more.jsonl", [*second, failed("0" * 64, "late")])
    taken_in(study, ANSWERS, code=4)
    before = {path: path.read_bytes() for path in (study / "out").rglob("*") if path.is_file()}
    again = taken_in(study, ANSWERS, code=4)
    assert (again["answers"], again["known"]) == (0, 9)
    assert {path: path.read_bytes() for path in (study / "out").rglob("*") if path.is_file()} == before
    assert taken_in(study, ANSWERS, "more.jsonl")["answers"] == 2 * COUNT - 9
    assert root(study / "out") == root(live)


SAID = ("<answer>B</answer>", "It is A.", "", "half \ud800")


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> tuple[Path, list[str]]:
    """A study that was exported, and the keys of its questions."""
    folder = tmp_path_factory.mktemp("asked")
    write_study(folder, "http://127.0.0.1:9/v1", count=6)
    files = export_study(load(folder / "study.toml"), folder / "out", ExportOptions(folder / "batch")).files
    return folder, [each["custom_id"] for each in requests_in(file.path for file in files)]


@given(order=st.permutations(range(6)), cuts=st.tuples(st.integers(0, 6), st.integers(0, 6)))
@settings(max_examples=30)
def test_the_root_does_not_tell_in_which_order_or_how_often_answers_were_taken_in(asked, order, cuts):
    """Any order, in one import or in three, with lines that come twice and errors that are overcome."""
    folder, keys = asked
    low, high = sorted(cuts)
    lines = [said(keys[number], SAID[number % len(SAID)]) for number in order]
    roots = []
    for parts in ([lines], [lines[:high], [failed(keys[order[-1]], "late"), *lines[low:high]], lines[low:]]):
        out = folder / "copy"
        shutil.copytree(folder / "out", out)
        for part in parts:
            if part:
                imported = import_answers(
                    StudyDirectory(out),
                    [write_lines(folder / "part.jsonl", part)],
                    GivenContracts(),
                    ImportOptions(disk=InstantDisk()),
                )
        roots.append(imported.root_sha256)
        assert imported.open == 0
        assert sorted(r["key"] for r in records(out) if r["kind"] == "response") == sorted(keys)
        shutil.rmtree(out)
    assert roots[0] == roots[1]


def test_failures_alone_are_not_put_on_the_record(study):
    """A wrong name of a model fails every line: as in a live run, nothing is written until something is answered."""
    files = export(study)
    refused = {"error": {"message": "The model `m` does not exist.", "code": "model_not_found"}}
    lines = [
        {**failed(each["custom_id"], None), "response": {"status_code": 404, "request_id": "r", "body": refused}}
        for each in requests_in(files)
    ]
    done = affidavit("batch", "import", "out", write_lines(study / ANSWERS, lines), cwd=study)
    assert fine(done, 4)
    assert b"24 failed with bad_request: HTTP 404: The model `m` does not exist." in done.stderr
    assert b"not sealed" in done.stdout
    assert not (study / "out" / "records").exists()


def test_a_failure_that_is_permanent_gives_way_to_an_answer_and_not_to_itself(study):
    files = export(study)
    first, second, *_ = (each["custom_id"] for each in requests_in(files))
    refused = {**failed(first, None), "response": {"status_code": 400, "request_id": "r", "body": {"error": "no"}}}
    write_lines(study / ANSWERS, [refused, said(second, "It is A.")])
    for added in (1, 0):
        assert sum(taken_in(study, ANSWERS, code=4)["failures"].values()) == added
    write_lines(study / "later.jsonl", [said(first, "It is B.")])
    assert taken_in(study, "later.jsonl", code=4)["answers"] == 1
    assert [record["kind"] for record in records(study / "out")] == ["failure", "response", "response"]
    assert taken_in(study, ANSWERS, code=4)["known"] == 2


def test_an_exported_study_may_be_mended_until_something_is_answered(study):
    """As after a run in which nobody answered: the plan begins anew (ruling C11)."""
    export(study)
    write_study(study, "http://127.0.0.1:9/v1", count=COUNT - 1, changed=TWICE)
    again = affidavit("batch", "export", "study.toml", "--directory", "out", "-o", "again", cwd=study)
    assert fine(again, 0)
    assert len(requests_in((study / "again").glob("*.jsonl"))) == 2 * (COUNT - 1)


def test_a_study_that_grew_is_exported_as_far_as_it_is_open(study):
    files = export(study)
    lines = [said(each["custom_id"], "<answer>B</answer>") for each in requests_in(files)]
    taken_in(study, write_lines(study / ANSWERS, lines))
    write_study(study, "http://127.0.0.1:9/v1", count=COUNT + 2, changed=TWICE)
    assert fine(affidavit("batch", "export", "study.toml", "--directory", "out", "-o", "grown", cwd=study), 0)
    added = requests_in((study / "grown").glob("*.jsonl"))
    assert len(added) == 4
    assert (
        taken_in(study, write_lines(study / ANSWERS, [said(e["custom_id"], "A") for e in added]))["answers"] == 4
    )
    told_of = told_by_verify(study / "out")
    assert [each["number"] for each in told_of["revisions"]] == [1, 2]
    assert told_of["differences"] == []


def test_a_server_that_fails_in_a_live_run_fails_alike_in_a_batch(study):
    """The reason on the record is the same, whichever way it came."""
    faults = {
        "q0": every(status(400)),
        "q1": every(status(503)),
        "q2": every(status(413)),
        "q3": every(status(404)),
    }
    with FaultServer({**VARIED, **faults}) as server:
        lines = answered(export(study), server.url)
        taken_in(study, write_lines(study / ANSWERS, lines), code=4)
        reasons = {r["item_id"]: r["reason"] for r in records(study / "out") if r["kind"] == "failure"}
        write_study(study, server.url, count=COUNT, changed=TWICE)
        assert fine(affidavit("run", "study.toml", "--out", "live", cwd=study), 4)
    assert reasons == {r["item_id"]: r["reason"] for r in records(study / "live") if r["kind"] == "failure"}
    assert root(study / "live") == root(study / "out")


@pytest.mark.parametrize("parts", [1, 3])
def test_a_stray_response_stays_one_however_often_it_is_given(study, parts):
    """Ruling C9: the ids of responses are on the record, whichever import they came with."""
    keys = [each["custom_id"] for each in requests_in(export(study))]
    ids = [f"r{number}" for number in range(len(keys) - 1)]
    lines = [said(key, "<answer>A</answer>", **{}) for key in keys]
    for line, response_id in zip(lines, [*ids, "r3"], strict=True):
        line["response"]["body"]["id"] = response_id
    size = len(lines) // parts
    for part in range(parts):
        taken_in(study, write_lines(study / ANSWERS, lines[: size * (part + 1)]), code=4)
    assert [r["reason"] for r in records(study / "out") if r["kind"] == "failure"] == ["stray_response"]
    before = root(study / "out")
    assert taken_in(study, ANSWERS, code=4)["answers"] == 0
    assert root(study / "out") == before


UNSEEDED = {**TWICE, "models": {"m": {"seed": False}}}


@pytest.mark.parametrize("parts", [1, 2])
def test_one_id_for_equal_requests_is_nothing_odd(study, parts):
    """Samples that send no seed are one request, put several times: a server that keeps answers gives one id (C9)."""
    write_study(study, "http://127.0.0.1:9/v1", count=COUNT, changed=UNSEEDED)
    requests = requests_in(export(study))
    assert len({json.dumps(each["body"]) for each in requests}) == len(requests) / 2
    lines = [said(each["custom_id"], "<answer>A</answer>") for each in requests]
    assert requests[-2]["body"] == requests[-1]["body"]
    lines[-1]["response"]["body"]["id"] = lines[-2]["response"]["body"]["id"]
    first = lines if parts == 1 else lines[:-1]
    write_lines(study / ANSWERS, first)
    write_lines(study / "more.jsonl", lines)
    assert taken_in(study, ANSWERS, code=0 if parts == 1 else 4)["failures"] == {}
    told_of = taken_in(study, "more.jsonl")
    assert (told_of["failures"], told_of["open"]) == ({}, 0)


def test_a_body_above_the_limit_of_a_live_run_is_too_large(study):
    """The limit is that of the study's file: the directory has none."""
    limited = {**TWICE, "limits": {"body_megabytes": 0.001}}
    write_study(study, "http://127.0.0.1:9/v1", count=COUNT, changed=limited)
    first, second, *_ = (each["custom_id"] for each in requests_in(export(study)))
    write_lines(study / ANSWERS, [said(first, "x" * 1000), said(second, "<answer>A</answer>")])
    assert taken_in(study, ANSWERS, code=4)["failures"] == {"too_large": 1}


def test_secrets_that_come_back_are_told_and_cleaned_as_in_a_live_run(study):
    """What a service says about a request is cleaned; an output stays word for word, and it is said (ruling C2)."""
    secret = {"BODY_SECRET": "body-SECRET789"}
    server = {"body": {"user": {"env": "BODY_SECRET"}}}
    write_study(study, "http://127.0.0.1:9/v1", count=COUNT, changed={**TWICE, "models": {"m": server}})
    keys = [each["custom_id"] for each in requests_in(export(study, **secret))]
    refused = failed(keys[1], {"code": "x", "message": f"no {secret['BODY_SECRET']}"})
    write_lines(study / ANSWERS, [said(keys[0], f"you are {secret['BODY_SECRET']}"), refused])
    shutil.copytree(study / "out", study / "before")
    done = affidavit("batch", "import", "out", ANSWERS, cwd=study, **secret)
    assert b"1 outputs of m hold a secret that was sent with the requests" in done.stderr
    assert secret["BODY_SECRET"] not in (study / "out" / "attempts.jsonl").read_text() + done.stderr.decode()
    unset = affidavit("batch", "import", "before", ANSWERS, cwd=study)
    assert b"BODY_SECRET not set here" in unset.stderr
