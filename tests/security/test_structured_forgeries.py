"""Forgeries that take thought: what a file says twice, names elsewhere, leaves out, or says in another form."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_content
from support.command import affidavit
from support.forgery import Files, fields_of, in_memory, line_of, make_studies, put, resealed, server
from support.studies import fine, run, write_items, write_study

pytestmark = pytest.mark.slow  # whole studies, judged

FIRST = "records/000001.jsonl"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    with server() as serving:
        make_studies(folder, serving.url)
        yield folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def told(folder: Path, *command: str) -> tuple[int, bytes]:
    done = affidavit(*command, cwd=folder)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, done.stdout + done.stderr


def verified(folder: Path, study: str = "planned", *options: str) -> tuple[int, bytes]:
    named = ("--contract", "own.py:own") if study == "planned" else ()
    return told(folder, "verify", study, *named, *options)


def raw_line(body: bytes) -> bytes:
    """A line of any bytes whose checksum fits."""
    return b'%b,"sha256":"%b"}\n' % (body, sha256(body).hexdigest().encode())


def with_body(line: bytes, change: Callable[[bytes], bytes]) -> bytes:
    content = checked_content(line)
    assert content is not None
    return raw_line(change(content[:-1]))


ODD = {
    "a number of 5,000 digits": b',"x":' + b"9" * 5000,
    "a value that is too deep": b',"x":' + b"[" * 100_000 + b"]" * 100_000,
    "bytes that are no text": b',"x":"\xff"',
    "two objects": b'}{"x":1',
    "NaN": b',"x":NaN',
    "a name twice": b',"v":2',
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["study.json", "seal.json", "judging.json", "items.jsonl"])
def test_a_line_that_fits_its_checksum_and_was_never_written_is_refused(folder, name, odd):
    path = folder / "planned" / name
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(with_body(first, lambda body: body + ODD[odd]) + b"".join(others))
    if name == "items.jsonl":
        files = resealed(in_memory(folder / "planned"), folder / "planned")
        put(files, folder / "planned")
    code, said = verified(folder)
    assert (code, f"{name}:".encode() in said) == (5, True), said
    for command in (("report", "planned", "--by", "metadata.x"), ("gate", "planned", "--min-compliance", "0.1")):
        assert told(folder, *command)[0] in (0, 2, 3, 5)


def test_a_record_that_says_its_text_twice_is_refused_also_under_the_root_digest(folder):
    """Other readers of JSON would take the first."""
    root = json.loads(verified(folder, "planned", "--json")[1])["root_sha256"]
    files = in_memory(folder / "planned")
    first, *others = files[FIRST].splitlines(keepends=True)
    decoy = with_body(first, lambda body: b'{"raw_output":"DECOY","group":1,' + body[1:])
    put(resealed({**files, FIRST: decoy + b"".join(others)}, folder / "planned"), folder / "planned")
    for options in ((), ("--expect", root)):
        code, said = verified(folder, "planned", *options)
        assert (code, b"has a name twice" in said) == (5, True), said


@pytest.mark.parametrize("name", ["/etc/passwd", "../own.py", "records/000001.jsonl", "x/attempts.jsonl"])
def test_a_seal_names_nothing_but_files_of_a_study(folder, name):
    path = folder / "planned" / "seal.json"
    fields = fields_of("seal.json", path.read_bytes())
    content = Path(name).read_bytes() if name.startswith("/") else b""
    fields["files"][name] = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    path.write_bytes(line_of("seal.json", fields))
    code, said = verified(folder)
    assert (code, b"expected digests of the files of a study" in said) == (5, True), said


def study_with(folder: Path, study: str, change: Callable[[dict], object]) -> None:
    files = in_memory(folder / study)
    fields = fields_of("study.json", files["study.json"])
    change(fields)
    forged = resealed({**files, "study.json": line_of("study.json", fields)}, folder / study)
    put(forged, folder / study)


def without_quiz(fields: dict) -> None:
    for part in ("tasks", "contracts", "items"):
        del fields["config"][part]["quiz"]
    del fields["counts"]["quiz"]


PLANS: dict[str, tuple[str, Callable[[dict], object]]] = {
    "a task left out": ("planned", without_quiz),
    "fewer items": ("planned", lambda fields: fields["counts"].update(quiz=1)),
    "items below zero": ("planned", lambda fields: fields["counts"].update(quiz=-1)),
    "items beyond counting": ("planned", lambda fields: fields["counts"].update(quiz=10**30)),
    "a cell left out": ("imported", lambda fields: fields["config"]["imported"]["cells"].pop()),
    "a cell twice": ("imported", lambda fields: fields["config"]["imported"]["cells"].append(["imported", "gpt", "A", 1])),
    "cells that balance": (
        "imported",
        lambda fields: fields["config"]["imported"].update(cells=[["imported", "gpt", "A", 4], ["imported", "gpt", "B", -2]]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_without_a_place_for_every_record_shows_no_figure(folder, plan):
    """No table leaves a record out, and no gate passes because of it."""
    study, change = PLANS[plan]
    study_with(folder, study, change)
    for command in (("report", study, "--format", "json"), ("gate", study, "--min-compliance", "0.1")):
        code, said = told(folder, *command)
        assert (code, b"study.json:1" in said) == (5, True), (command, said)
    assert verified(folder, study)[0] == 5


def missing(question: str, why: str) -> dict[str, object]:
    return {"question_id": question, "prompt_variant": "A", "target_model": "gpt", "sample": 0, "why": why}


DESCRIBED: dict[str, tuple[str, str, Callable[[dict], object], str]] = {
    "another digest of the outputs": (
        "imported", "study.json", lambda fields: fields["config"]["imported"].update(sha256="0" * 64), "it describes other outputs"
    ),
    "an output that never was": (
        "imported", "judging.json", lambda fields: fields["not_arrived"].append(missing("Q9", "there is no such output")), "it lists other outputs as missing"
    ),
    "a target that never answered": (
        "imported", "study.json", lambda fields: fields["config"]["models"].update(ghost={"identity": "ghost"}), "it describes other outputs"
    ),
    "an output that was to be judged": (
        "planned", "judging.json", lambda fields: fields["not_arrived"].append(missing("w9", "timeout")), "it lists other outputs as missing"
    ),
    "no task, so that nothing is missing": (
        "planned", "judging.json", lambda fields: fields.update(tasks=[], not_arrived=[]), "outputs of other tasks than its own"
    ),
    "a task that the study does not have": (
        "planned", "judging.json", lambda fields: fields.update(tasks=[*fields["tasks"], "ghost"]), "its tasks are not those of the study"
    ),
    "a task twice": (
        "planned", "judging.json", lambda fields: fields.update(tasks=fields["tasks"] * 2), "its tasks are not those of the study"
    ),
    "another task of an import": (
        "imported", "judging.json", lambda fields: fields.update(tasks=["ghost"]), "its tasks are not those of the study"
    ),
    "a judge who is asked nothing": (
        "planned", "judging.json", lambda fields: fields["judges"].update(ghost={**fields["judges"]["alpha"], "conditions": []}), "the fields of a judging"
    ),
    "a target whose outputs are still to be judged": (
        "planned", "judging.json", lambda fields: fields["targets"].update(ghost=1), "its targets are not those of its outputs"
    ),
}  # fmt: skip


@pytest.mark.parametrize("forgery", DESCRIBED)
def test_what_is_frozen_of_the_outputs_follows_from_them(folder, forgery):
    """What was missing, and how many outputs each target gave, are figures too (rulings J9, C10)."""
    study, name, change, words = DESCRIBED[forgery]
    files = in_memory(folder / study)
    fields = fields_of(name, files[name])
    change(fields)
    put(resealed({**files, name: line_of(name, fields)}, folder / study), folder / study)
    code, said = verified(folder, study)
    assert (code, words.encode() in said) == (5, True), said


def items_with(files: Files, change: Callable[[list[bytes]], list[bytes]]) -> Files:
    return {**files, "items.jsonl": b"".join(change(files["items.jsonl"].splitlines(keepends=True)))}


def changed_item(line: bytes, **changes: object) -> bytes:
    return line_of("items.jsonl", {**fields_of("items.jsonl", line), **changes})


ITEMS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "one twice": lambda lines: [*lines, lines[-1]],
    "a decoy": lambda lines: [changed_item(lines[-1], item={"question": "another"}), *lines],
    "one that was never asked": lambda lines: [*lines, changed_item(lines[-1], id="q9")],
    "one of no task": lambda lines: [*lines, changed_item(lines[-1], task="ghost")],
    "one less": lambda lines: lines[1:],
}


@pytest.mark.parametrize("forgery", ITEMS)
def test_items_that_are_not_those_of_the_plan_are_refused(folder, forgery):
    files = items_with(in_memory(folder / "planned"), ITEMS[forgery])
    put(resealed(files, folder / "planned"), folder / "planned")
    code, said = verified(folder)
    assert (code, b"items.jsonl: expected items of different names" in said) == (5, True), said


def test_names_of_files_write_no_lines_of_their_own(folder):
    (folder / "planned" / "a\nroot digest   000\nevery checksum fits").touch()
    code, said = verified(folder)
    assert code == 0
    assert sum(line.startswith(b"root digest") for line in said.splitlines()) == 1


def test_a_run_that_was_killed_before_its_seal_goes_on(tmp_path):
    """The list of prompts is written before the seal: between the two, it is newer than the last seal."""
    with server() as serving:
        write_study(tmp_path, serving.url, count=3)
        assert fine(run(tmp_path), 0)
        before = (tmp_path / "out" / "seal.json").read_bytes()
        write_study(tmp_path, serving.url, count=6)
        assert fine(run(tmp_path), 0)
        (tmp_path / "out" / "seal.json").write_bytes(before)
        code, said = told(tmp_path, "verify", "out")
        assert (code, b"used_prompt_manifest.md is newer than the seal" in said) == (7, True), said
        assert fine(run(tmp_path), 0)
        assert told(tmp_path, "verify", "out")[0] == 0


def test_a_name_that_is_half_a_character_is_shown_in_every_table(made, tmp_path):
    row = {"question_id": "w1", "prompt_variant": "A\ud800", "target_model": "\udfff", "output_id": "o1"}
    write_items(tmp_path / "one.jsonl", [{**row, "raw_output": "Said.", "prompt": "Say it.\ud800"}])
    order = ("judge", "one.jsonl", "--out", "one", "--judge", "alpha", "--models", made / "study.toml")
    assert told(tmp_path, *map(str, order))[0] in (0, 4)
    for command in (("report", "one"), ("report", "one", "--format", "csv"), ("compare", "one", "one")):
        assert told(tmp_path, *command)[0] in (0, 2)
    assert told(tmp_path, "gate", "one", "--min-compliance", "0.1")[0] in (0, 3)
    assert told(tmp_path, "verify", "one")[0] == 0
