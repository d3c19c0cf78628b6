"""A directory that somebody sent is data for every command: it runs no code, leads nowhere, and lets nobody in."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.layout import ATTEMPTS, FILES, RUN_LOG
from support.command import affidavit
from support.fault_server import FaultServer
from support.forgery import CONTRACT
from support.studies import QUICK, fine, run, told, toml, write_items

ITEMS = [{"id": f"q{n}", "question": f"[q{n}] How many?", "answer": "7"} for n in range(4)]
JUDGE = {"judging": {"judges": ["m"], "tasks": ["sum"]}}


@pytest.fixture(scope="module")
def server():
    with FaultServer(answer=lambda asked: "7") as serving:
        yield serving


@pytest.fixture(scope="module")
def sent(tmp_path_factory, server) -> Path:
    """A folder with a study whose contract leaves a trace when it is run; it was run once."""
    folder = tmp_path_factory.mktemp("sent")
    trace = folder / "trace"
    (folder / "own.py").write_text(CONTRACT.format(trace=str(trace)))
    write_items(folder / "items.jsonl", ITEMS)
    tables = {
        "study": {"name": "sums", "seed": 1},
        "models": {"m": {"base_url": server.url, "connections": 2}},
        "tasks": {"sum": {"contract": "own.py:own", "items": "items.jsonl"}},
        "limits": QUICK,
    }
    (folder / "study.toml").write_text("\n".join(toml(tables)))
    assert fine(run(folder), 0)
    assert trace.exists()
    return folder


@pytest.fixture
def trace(sent) -> Path:
    """What the contract leaves when it is run, wherever its file is by then; it is not there yet."""
    path = sent / "trace"
    path.unlink(missing_ok=True)
    return path


@pytest.fixture
def study(tmp_path, sent, trace) -> Path:
    """A copy of that folder for one test."""
    return shutil.copytree(sent, tmp_path, dirs_exist_ok=True)


# --- code ---


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("verify", "out"),
        ("report", "out", "--format", "json"),
        ("report", "out"),
        ("gate", "out", "--min-compliance", "0.5"),
        ("compare", "out", "out"),
        ("judge", "out", "--judge", "m", "--task", "sum"),
    ],
    ids=lambda command: " ".join(command[:3:2]),
)
def test_no_command_runs_code_that_only_the_directory_names(study, trace, command):
    done = affidavit(*command, cwd=study)
    assert not trace.exists()
    if command[0] in ("verify", "judge"):
        assert done.returncode == 2
        assert b"--contract own.py:own" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "named", [("--contract", "own.py:own"), ("--study", "study.toml")], ids=lambda each: each[0]
)
def test_the_commands_that_a_judging_prints_name_the_code_again(study, server, named):
    judging = ("judge", "out", "--judge", "m", "--task", "sum", *named)
    done = affidavit(*judging, cwd=study)
    assert fine(done, 0)
    printed = re.search(r"^to verify: affidavit (.+)$", done.stdout.decode(), re.MULTILINE)[1].split()
    assert printed == ["verify", "out", *named]
    assert fine(affidavit(*printed, cwd=study), 0)


@pytest.mark.slow
def test_a_replay_runs_none_either(study, trace, tmp_path):
    tables = {
        "study": {"name": "again", "seed": 1},
        "models": {"m": {"replay": "out"}},
        "tasks": {"sum": {"contract": "text", "items": "items.jsonl"}},
    }
    (study / "again.toml").write_text("\n".join(toml(tables)))
    done = affidavit("run", "again.toml", "--out", "replayed", cwd=study)
    assert done.returncode in (0, 4), done.stderr
    assert not trace.exists()


@pytest.mark.slow
def test_code_that_is_named_is_run_if_it_is_the_code_on_record(study, trace):
    assert fine(affidavit("verify", "out", "--contract", "own.py:own", cwd=study), 0)
    assert trace.exists()
    assert fine(affidavit("verify", "out", "--study", "study.toml", cwd=study), 0)
    (study / "elsewhere").mkdir()
    shutil.copy(study / "own.py", study / "elsewhere" / "renamed.py")
    assert fine(affidavit("verify", "out", "--contract", "elsewhere/renamed.py:own", cwd=study), 0)


@pytest.mark.parametrize("option", [("--contract", "own.py:own"), ("--study", "study.toml")])
def test_another_file_of_the_same_name_is_not_run(study, trace, option):
    (study / "own.py").write_text((study / "own.py").read_text() + "\n# changed\n")
    done = affidavit("verify", "out", *option, cwd=study)
    assert (done.returncode, b"Name the file as it was" in done.stderr) == (2, True)
    assert not trace.exists()


def test_a_study_file_beside_the_directory_is_not_looked_for(study, tmp_path_factory):
    """It would say whom to ask, with which key."""
    done = affidavit("judge", study / "out", "--judge", "m", "--task", "sum", cwd=tmp_path_factory.mktemp("here"))
    assert (done.returncode, b"expected the study's own file here" in done.stderr) == (2, True)


def test_a_digest_is_compared_before_any_code_is_run(study, trace):
    done = affidavit("verify", "out", "--contract", "own.py:own", "--expect", "0" * 64, cwd=study)
    assert (done.returncode, b"It is another study, or was changed since" in done.stderr) == (5, True)
    assert not trace.exists()


@pytest.mark.slow
def test_without_the_code_all_is_checked_that_needs_none(study, trace):
    """The figures of the page too; what is not checked is said, and nothing pushes anybody to run the code."""
    assert fine(affidavit("report", "out", cwd=study), 0)
    done = affidavit("verify", "out", "--json", cwd=study)
    found = json.loads(done.stdout)
    assert (done.returncode, found["sealed"], found["records"], found["differing"]) == (2, True, 4, 0)
    assert "records/: checksums and seal" in found["checked"]
    assert "report.html: made again from the records and compared" in found["checked"]
    assert "what was read from the raw texts: a contract is code that nobody named" in found["not_checked"]
    page = study / "out" / "report.html"
    page.write_text(page.read_text().replace("100.0%", "99.9%"))
    done = affidavit("verify", "out", cwd=study)
    assert (done.returncode, b"it is not the page of these records" in done.stderr) == (5, True)
    assert not trace.exists()


def test_a_contract_of_another_name_is_told_as_such(study):
    done = affidavit("verify", "out", "--contract", "own.py:other", cwd=study)
    assert (done.returncode, b"found none of that name: own.py:other" in done.stderr) == (2, True)


# --- links ---

COMMANDS = [
    ("verify", "out", "--study", "study.toml"),
    ("report", "out"),
    ("gate", "out", "--min-compliance", "0.5"),
    ("run", "study.toml", "--out", "out"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_link_is_never_followed(study, name):
    mine = study / "mine"
    mine.write_text("mine\n")
    (study / "out" / name).unlink(missing_ok=True)
    (study / "out" / name).symlink_to(mine)
    for command in COMMANDS:
        done = affidavit(*command, cwd=study)
        assert (done.returncode, b"found a symbolic link" in done.stderr) == (5, True), (command, done.stderr)
        assert b"mine" not in done.stdout.replace(b"/mine", b"")
    assert mine.read_text() == "mine\n"


@pytest.mark.parametrize("name", [ATTEMPTS, RUN_LOG])
def test_nothing_is_asked_where_a_file_has_a_second_name(study, server, name):
    (study / "out" / "seal.json").unlink()
    os.link(study / "out" / name, study / "mine")
    before, asked = (study / "mine").read_bytes(), len(server.log)
    done = affidavit("run", "study.toml", "--out", "out", cwd=study)
    assert (done.returncode, b"2 names" in done.stderr) == (5, True)
    assert (study / "mine").read_bytes() == before
    assert len(server.log) == asked


def test_a_pipe_keeps_nobody_waiting(study):
    (study / "out" / "items.jsonl").unlink()
    os.mkfifo(study / "out" / "items.jsonl")
    done = affidavit("verify", "out", "--study", "study.toml", cwd=study)
    assert (done.returncode, b"found a pipe" in done.stderr) == (5, True)


def test_a_folder_of_texts_is_read_by_the_same_rule(study):
    (study / "texts").mkdir()
    (study / "secret.md").write_text("a secret")
    (study / "texts" / "q_a_m.md").symlink_to(study / "secret.md")
    pattern = "{question_id}_{prompt_variant}_{target_model}.md"
    done = affidavit(
        "judge",
        "texts",
        "--out",
        "taken",
        "--judge",
        "m",
        "--models",
        "study.toml",
        "--pattern",
        pattern,
        cwd=study,
    )
    assert (done.returncode, b"found a symbolic link" in done.stderr) == (2, True)
    assert b"a secret" not in b"".join(path.read_bytes() for path in (study / "taken").glob("*.json*"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seal.json", "attempts.jsonl", "used_prompt_manifest.md"])
def test_what_stands_in_the_way_of_a_file_is_told_before_anything_is_asked(study, server, name):
    (study / "out" / "seal.json").unlink()
    (study / "out" / f".{name}.partial").mkdir()
    asked = len(server.log)
    done = affidavit("run", "study.toml", "--out", "out", cwd=study)
    assert (done.returncode, f".{name}.partial".encode() in done.stderr, len(server.log)) == (5, True, asked)
    (study / "out" / f".{name}.partial").rmdir()
    (study / "out" / f".{name}.partial").symlink_to(study / "own.py")
    assert fine(affidavit("run", "study.toml", "--out", "out", cwd=study), 0)
    assert (study / "own.py").read_text().startswith("\nfrom pathlib")


# --- a second truth ---


def test_the_counts_of_a_seal_are_never_printed(study):
    """They are counted again from the records."""
    path = study / "out" / "seal.json"
    seal = checked_fields(path.read_bytes())
    seal["counts"]["cells"][0].update(compliant=4000, right=4000, compared=4000, keyed=4000)
    path.write_bytes(checked_line(seal))
    done = affidavit("run", "study.toml", "--out", "out", "--json", cwd=study)
    assert told(done)["tasks"]["sum"]["compliant"] == 4
    checked = affidavit("verify", "out", "--study", "study.toml", cwd=study)
    assert (checked.returncode, b"its counts are not those of the records" in checked.stderr) == (5, True)


# --- digests ---


def digests(study: Path, *options: object):
    done = affidavit("verify", "out", "--study", "study.toml", "--json", *options, cwd=study)
    return done.returncode, json.loads(done.stdout or "{}")


@pytest.mark.slow
def test_either_digest_may_be_expected_and_no_other(study):
    code, found = digests(study)
    assert (code, found["sealed"]) == (0, True)
    for known in (found["root_sha256"], found["seal_sha256"], f"sha256:{found['seal_sha256'].upper()}"):
        assert digests(study, "--expect", known)[0] == 0
    for known, word in ((found["root_sha256"], "root digest"), (found["seal_sha256"], "seal's digest")):
        done = affidavit("verify", "out", "--study", "study.toml", "--expect", known, cwd=study)
        assert f"the expected digest is the {word}".encode() in done.stdout
    assert digests(study, "--expect", "0" * 64)[0] == 5
    short = affidavit("verify", "out", "--study", "study.toml", "--expect", found["seal_sha256"][:16], cwd=study)
    assert (short.returncode, b"64 hexadecimal digits" in short.stderr) == (2, True)


CHANGES = {
    "study.json": 5,
    "items.jsonl": 5,
    "records/000001.jsonl": 5,
    "attempts.jsonl": 5,
    "run_log.jsonl": 5,
    "used_prompt_manifest.md": 5,
    "seal.json": 5,
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("change", ["flipped", "removed"])
def test_a_silent_change_of_any_file_is_found(study, name, change):
    path = study / "out" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink() if change == "removed" else path.write_bytes(content)
    done = affidavit("verify", "out", "--study", "study.toml", cwd=study)
    expected = {("study.json", "removed"): 2, ("seal.json", "removed"): 7}.get((name, change), CHANGES[name])
    assert done.returncode == expected, (done.stdout, done.stderr)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", [ATTEMPTS, RUN_LOG])
def test_lines_that_were_added_after_the_seal_are_told_as_not_sealed(study, name):
    with (study / "out" / name).open("a") as stream:
        stream.write('{"run": "forged"}\n')
    done = affidavit("verify", "out", "--study", "study.toml", cwd=study)
    assert (done.returncode, f"{name} has grown since it was sealed".encode() in done.stdout) == (7, True)


@pytest.mark.slow
def test_a_forged_answer_under_a_new_seal_is_told_by_a_digest_that_was_kept(study):
    _, kept = digests(study)
    path = study / "out" / "records" / "000001.jsonl"
    forged = []
    for line in path.read_bytes().splitlines(keepends=True):
        fields = checked_fields(line)
        forged.append(checked_line({**fields, "raw_output": "7 "}))
    path.write_bytes(b"".join(forged))
    (study / "out" / "seal.json").unlink()
    assert affidavit("verify", "out", "--study", "study.toml", cwd=study).returncode == 7
    assert fine(affidavit("run", "study.toml", "--out", "out", cwd=study), 0)
    code, found = digests(study)
    assert (code, found["sealed"]) == (0, True), "consistent: whoever has all of it can make it anew"
    assert re.fullmatch("[0-9a-f]{64}", found["root_sha256"])
    assert digests(study, "--expect", kept["root_sha256"])[0] == 5
    assert digests(study, "--expect", kept["seal_sha256"])[0] == 5
