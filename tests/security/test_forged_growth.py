"""Growth under attack: forged revisions, foreign trials, and studies from which answers are taken over (ruling C11)."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_content
from support.command import affidavit
from support.fault_server import RIGHT, FaultServer
from support.forgery import CONTRACT, Files, fields_of, in_memory, line_of, put, resealed, segments_of
from support.studies import every_byte, fine, laid_over, records, run, told_by_verify, write_study

SECOND, THIRD = "revisions/000002.json", "revisions/000003.json"
NEW_ITEMS = "revisions/000003.items.jsonl"


@pytest.fixture(scope="module")
def server():
    with FaultServer() as serving:
        yield serving


@pytest.fixture(scope="module")
def made(tmp_path_factory, server) -> Path:
    """A folder with a study that has grown twice: by a model, then by two items."""
    folder = tmp_path_factory.mktemp("grown")
    write_study(folder, server.url, count=2)
    assert fine(run(folder), 0)
    more = {"models": {"n": {"base_url": server.url}}}
    for count in (2, 4):
        write_study(folder, server.url, count=count, changed=more)
        assert fine(run(folder), 0)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


# --- forged revisions, all digests computed anew ---


def changed(name: str, change: Callable[[dict], object]) -> Callable[[Files], Files]:
    """The files with one whose first line says something else."""

    def forge(files: Files) -> Files:
        first, *rest = files[name].splitlines(keepends=True)
        fields = fields_of(name, first)
        change(fields)
        return {**files, name: line_of(name, fields) + b"".join(rest)}

    return forge


def without(*names: str) -> Callable[[Files], Files]:
    return lambda files: {name: content for name, content in files.items() if name not in names}


def swapped(files: Files) -> Files:
    return {**files, SECOND: files[THIRD], THIRD: files[SECOND]}


def without_the_second(files: Files) -> Files:
    """The third takes the place of the second: both are one growth then."""
    left = without(SECOND, THIRD, NEW_ITEMS)(files)
    return {**left, SECOND: files[THIRD], "revisions/000002.items.jsonl": files[NEW_ITEMS]}


def one_more(files: Files) -> Files:
    """A fourth that says what the third says, after all records."""
    name, fields = "revisions/000004.json", fields_of(THIRD, files[THIRD])
    fields["before"]["records"] = sum(files[each].count(b"\n") for each in segments_of(files))
    return {**files, name: line_of(name, fields)}


def model_twice(files: Files) -> Files:
    """A name that is there twice: of two readers, one would see the first and one the last."""
    line, models = files[THIRD], b'"models":{'
    content = checked_content(line)
    return {**files, THIRD: relined(content.replace(models, models + b'"n":{"identity":"other"},', 1))}


def relined(content: bytes) -> bytes:
    return content + b'"sha256":"' + sha256(content).hexdigest().encode() + b'"}\n'


REFUSED: dict[str, Callable[[Files], Files]] = {
    "the last is removed": without(THIRD, NEW_ITEMS),
    "two are made one": without_the_second,
    "they are swapped": swapped,
    "one changes a setting": changed(THIRD, lambda f: f["config"]["decoding"].update(max_tokens=77)),
    "one changes a model": changed(THIRD, lambda f: f["config"]["models"]["m"].update(model="other")),
    "one removes a model": changed(THIRD, lambda f: f["config"]["models"].pop("m")),
    "one removes items": changed(THIRD, lambda f: f["counts"].update(quiz=1)),
    "one claims more items": changed(THIRD, lambda f: f["counts"].update(quiz=5)),
    "one is of another study": changed(THIRD, lambda f: f["config"].update(name="other")),
    "one has another seed": changed(THIRD, lambda f: f["config"].update(seed=8)),
    "one names a model twice": model_twice,
    "one comes before all records": changed(THIRD, lambda f: f["before"].update(records=0)),
    "one comes after more records": changed(SECOND, lambda f: f["before"].update(records=3)),
    "one has a day that there is not": changed(THIRD, lambda f: f.update(date="2026-02-31")),
    "an added item has another answer": changed(NEW_ITEMS, lambda f: f["item"].update(answer="C")),
    "an added item is one that was there": changed(NEW_ITEMS, lambda f: f.update(id="q0")),
    "its items are gone": without(NEW_ITEMS),
    "one has items that it did not add": lambda files: {**files, "revisions/000002.items.jsonl": files[NEW_ITEMS]},
    "one adds nothing": one_more,
    "one is the plan itself": lambda files: {**files, THIRD: files["study.json"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("forgery", REFUSED)
def test_a_forged_revision_is_refused_though_every_digest_fits(folder, forgery):
    out = folder / "out"
    put(resealed(REFUSED[forgery](in_memory(out)), out), out)
    done = affidavit("verify", out)
    assert fine(done, 5), forgery


@pytest.mark.slow
def test_what_decides_no_answer_is_told_by_a_kept_seal_alone(folder):
    """Another day of a growth: consistent, and no part of what was asked (ruling C10)."""
    out, kept = folder / "out", told_by_verify(folder / "out")
    put(resealed(changed(SECOND, lambda f: f.update(date="2020-02-02"))(in_memory(out)), out), out)
    assert fine(affidavit("verify", out), 0)
    assert fine(affidavit("verify", out, "--expect", kept["root_sha256"]), 0)
    assert fine(affidavit("verify", out, "--expect", kept["seal_sha256"]), 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [SECOND, THIRD, NEW_ITEMS])
def test_a_revision_that_leads_elsewhere_is_not_read(folder, name):
    kept = folder / "elsewhere"
    (folder / "out" / name).rename(kept)
    (folder / "out" / name).symlink_to(kept)
    for done in (affidavit("verify", folder / "out"), run(folder)):
        assert fine(done, 5)
        assert b"a symbolic link" in done.stderr


# --- answers from other directories ---


def into_new(folder: Path, *reused: Path):
    options = [part for path in reused for part in ("--reuse", path)]
    return affidavit("run", folder / "study.toml", "--out", folder / "new", *options)


@pytest.mark.slow
def test_answers_of_a_grown_study_are_taken_over(folder, server):
    asked = len(server.log)
    assert fine(into_new(folder, folder / "out"), 0)
    assert len(server.log) == asked
    assert len(records(folder / "new")) == 8


def other_item(files: Files) -> Files:
    """A record under a key that is not that of its question."""
    return changed("records/000001.jsonl", lambda f: f.update(item_id="q1"))(files)


FOREIGN: dict[str, tuple[Callable[[Path], object], int, bytes]] = {
    "nothing": (shutil.rmtree, 2, b"expected a study directory, found nothing at this place"),
    "no study": (lambda path: (path / "study.json").unlink(), 2, b"found no study.json in it"),
    "no seal": (lambda path: (path / "seal.json").unlink(), 2, b"found one that is not sealed"),
    "a record changed": (
        lambda path: (path / "records/000001.jsonl").write_bytes(
            (path / "records/000001.jsonl").read_bytes().replace(b"<answer>B", b"<answer>C", 1)
        ),
        5,
        b"records/000001.jsonl:1: expected ",
    ),
    "a record of another key, all digests anew": (
        lambda path: put(resealed(other_item(in_memory(path)), path), path), 5, b"questions of their keys",
    ),
    "records elsewhere": (
        lambda path: (path / "records").rename(path.with_name("records")) and (path / "records").symlink_to(path.with_name("records")),
        5,
        b"found a symbolic link",
    ),
    "a revision removed": (lambda path: (path / THIRD).unlink(), 5, b"000003.json"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_nothing_is_taken_over_from_what_is_not_as_it_was_sealed(folder, server, name):
    spoil, code, said = FOREIGN[name]
    spoil(folder / "out")
    asked = len(server.log)
    done = into_new(folder, folder / "out")
    assert fine(done, code)
    assert said in done.stderr, done.stderr
    assert len(server.log) == asked
    if name != "a record of another key, all digests anew":  # which is seen when its question comes
        assert not (folder / "new").exists()


def test_outputs_from_elsewhere_answer_no_question(folder, tmp_path):
    imported = Path(__file__).parents[1] / "golden" / "studies" / "imported"
    done = into_new(folder, imported)
    assert fine(done, 2)
    assert b"expected a study with questions of its own, found outputs from elsewhere" in done.stderr


# --- trials ---


@pytest.fixture
def tried(tmp_path, server) -> Path:
    """A folder with the trial of a study, which itself has not begun."""
    write_study(tmp_path, server.url, count=3)
    assert fine(run(tmp_path, "--limit", "2"), 0)
    return tmp_path


def asked_by(folder: Path, server: FaultServer) -> int:
    before = len(server.log)
    assert fine(run(folder), 0)
    return len(server.log) - before


@pytest.mark.slow
def test_a_trial_behind_a_link_is_not_followed(tried, server):
    (tried / "out-trial").rename(tried / "elsewhere")
    (tried / "out-trial").symlink_to(tried / "elsewhere")
    before = every_byte(tried / "elsewhere")
    done = run(tried, "--limit", "3")
    assert fine(done, 2)
    assert b"out-trial: expected a directory of its own for the trial, found a symbolic link" in done.stderr
    assert every_byte(tried / "elsewhere") == before
    assert asked_by(tried, server) == 3, "nobody has named it; --reuse does"


@pytest.mark.slow
def test_a_trial_of_another_study_is_none_of_this_one(tried, server):
    write_study(tried, server.url, count=3, changed={"study": {"name": "other"}})
    done = run(tried, "--limit", "2")
    assert fine(done, 2)
    assert b"name: was 'trial', is 'other'" in done.stderr
    assert asked_by(tried, server) == 3


OTHERWISE = {
    "other words": ({"conditions": {"default": {"preamble": "Think."}}}, 3),
    "another seed": ({"study": {"seed": 8}}, 3),
    "another name at the server": ({"models": {"m": {"model": "other"}}}, 3),
    "one more model": ({"models": {"n": {}}}, 4),
    "the same questions": ({}, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERWISE)
def test_only_the_very_same_questions_are_taken_over(tried, server, name):
    more, asked = OTHERWISE[name]
    models = {each: table if table is None else {"base_url": server.url, **table} for each, table in more.get("models", {}).items()}  # fmt: skip
    write_study(tried, server.url, count=3, changed=laid_over(more, {"models": models} if models else {}))
    assert asked_by(tried, server) == asked


@pytest.mark.slow
def test_another_version_of_a_contract_reads_what_was_paid_for(tmp_path, server):
    """A key has no version of a contract in it: the answer is taken over, and read anew."""
    own, changed = tmp_path / "own.py", {"tasks": {"quiz": {"contract": "own.py:own"}}}
    own.write_text(CONTRACT.format(trace=str(tmp_path / "trace")))
    write_study(tmp_path, server.url, count=2, changed=changed)
    assert fine(run(tmp_path, "--limit", "2"), 0)
    second = own.read_text().replace('"own", 1,', '"own", 2,').replace("raw.strip()", "raw[8]")
    own.write_text(second)
    assert asked_by(tmp_path, server) == 0
    kept = records(tmp_path / "out")
    assert [(each["contract"], each["extracted_answer"]) for each in kept] == [("own/2", "B"), ("own/2", "B")]
    assert {each["raw_output"] for each in kept} == {RIGHT}


@pytest.mark.slow
def test_a_study_whose_files_are_only_written_otherwise_does_not_grow(folder, server):
    """Other blanks in a file of items ask nothing new: no revision says so, and nothing is refused."""
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(json.loads(line), indent=None, separators=(" ,", " : ")) + "\n" for line in path.read_text().splitlines()))  # fmt: skip
    before = told_by_verify(folder / "out")["root_sha256"]
    done = run(folder)
    assert fine(done, 0)
    assert not (folder / "out" / "revisions/000004.json").exists()
    assert told_by_verify(folder / "out")["root_sha256"] == before
