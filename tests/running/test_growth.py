"""A study grows: what is added is asked, nothing is asked twice, and every revision keeps its digest (ruling C11)."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.study_directory import StudyDirectory
from affidavit.running.revision_checks import RevisionChecks
from support.command import affidavit
from support.fault_server import FaultServer, bad_request, every, status
from support.judged_studies import open_study, serving
from support.studies import (
    every_byte,
    fine,
    items,
    laid_over,
    records,
    run,
    told,
    told_by_verify,
    write_items,
    write_study,
)

BEGUN = {"conditions": {"plain": {}}}
STEPS = {
    "a model": {"models": {"n": {"connections": 4}}},
    "a condition": {"conditions": {"urged": {"preamble": "Think."}}},
    "samples": {"decoding": {"samples": 2}},
}
"""What is added, one after the other."""
ASKED = [4, 8, 16, 32]
"""Questions of the plan at first, and after each step."""


def write(folder: Path, url: str, steps: int, *, count: int = 4) -> None:
    changed = BEGUN
    for added in list(STEPS.values())[:steps]:
        changed = laid_over(changed, added)
    for table in changed.get("models", {}).values():
        table["base_url"] = url
    write_study(folder, url, count=count, changed=changed)


def root_by_the_page(directory: Path) -> str:
    """The root digest of a study without failures and judging, as docs/running.md says how to compute it."""

    def canonical(value: object) -> bytes:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    def without(fields: dict, *names: str) -> dict:
        return {name: value for name, value in fields.items() if name not in names}

    of_the_day = ("kind", "v", "versions", "git", "sha256", "date", "before", "files", "order")
    study, *revisions = [
        without(json.loads(path.read_text()), *of_the_day)
        for path in (directory / "study.json", *sorted((directory / "revisions").glob("??????.json")))
    ]
    asked = {"format": 3, "study": study, "judging": None, "revisions": revisions}
    lines = [json.loads(line) for path in directory.glob("records/*") for line in path.read_text().splitlines()]
    said = {
        line["key"]: sha256(canonical(without(line, "v", "seq", "group", "sha256"))).digest() for line in lines
    }
    first = sha256(canonical(asked)).hexdigest().encode()
    return sha256(first + b"".join(said[key] for key in sorted(said))).hexdigest()


@pytest.mark.slow
def test_models_conditions_and_samples_are_added_and_nothing_is_asked_twice(tmp_path):
    roots = []
    with FaultServer() as server:
        for step, asked in enumerate(ASKED):
            write(tmp_path, server.url, step)
            done = run(tmp_path, "--json")
            assert fine(done, 0)
            assert len(server.log) == asked
            assert len({json.dumps(each.body, sort_keys=True) for each in server.log}) == asked
            roots.append(told(done)["root_sha256"])
    assert len(records(tmp_path / "out")) == 32
    found = told_by_verify(tmp_path / "out")
    assert [each["root_sha256"] for each in found["revisions"]] == roots
    assert root_by_the_page(tmp_path / "out") == roots[-1]
    assert [each["added"] for each in found["revisions"]] == [
        [], ["the model n"], ["the condition urged"], ["sample 2"],
    ]  # fmt: skip
    for number, root in enumerate(roots, 1):
        verified = affidavit("verify", tmp_path / "out", "--expect", root)
        assert fine(verified, 0)
        which = "root digest" if number == len(roots) else f"root digest of revision {number}"
        assert f"the expected digest is the {which}: ".encode() in verified.stdout
    report = json.loads(affidavit("report", tmp_path / "out", "--format", "json").stdout)
    assert [row["planned"] for row in report["tables"]["compliance"]["rows"]] == [8, 8, 8, 8]
    assert any("revision 2" in note and "the model n" in note for note in report["notes"])


@pytest.mark.slow
def test_items_and_tasks_are_added(tmp_path):
    with FaultServer() as server:
        write(tmp_path, server.url, 0, count=3)
        assert fine(run(tmp_path), 0)
        write(tmp_path, server.url, 0, count=5)
        assert fine(run(tmp_path), 0)
        assert len(server.log) == 5
        write_items(tmp_path / "more.jsonl", [{**item, "id": f"m{item['id']}"} for item in items(2)])
        task = {"more": {"contract": "mcqa", "items": "more.jsonl"}}
        write_study(tmp_path, server.url, count=5, changed=laid_over(BEGUN, {"tasks": task}))
        assert fine(run(tmp_path), 0)
        assert len(server.log) == 7
    assert [path.name for path in sorted((tmp_path / "out" / "revisions").iterdir())] == [
        "000002.items.jsonl", "000002.json", "000003.items.jsonl", "000003.json",
    ]  # fmt: skip
    assert [each["added"] for each in told_by_verify(tmp_path / "out")["revisions"]] == [
        [], ["2 items of quiz"], ["the task more"],
    ]  # fmt: skip


CHANGES = {
    "a model's name": ({"models": {"m": {"model": "other"}}}, "models.m.model: was 'm', is 'other'"),
    "a condition's words": ({"conditions": {"plain": {"preamble": "!"}}}, "conditions.plain.preamble: was ''"),
    "the seed": ({"study": {"seed": 8}}, "seed: was 7, is 8"),
    "the decoding": ({"decoding": {"temperature": 0.5}}, "decoding.temperature: was 0.0, is 0.5"),
    "fewer samples": ({"decoding": {"samples": 1}}, "decoding.samples: was 2, is 1"),
    "a condition that goes": ({"conditions": {"plain": None, "other": {}}}, "conditions.plain: was"),
    "a model that goes": (
        {"models": {"m": None, "x": {"base_url": "http://127.0.0.1:9/v1"}}}, "models.m: was",
    ),
    "a task that goes": (
        {"tasks": {"quiz": None, "other": {"contract": "mcqa", "items": "items.jsonl"}}}, "tasks.quiz: was",
    ),
    "the contract of a task": ({"tasks": {"quiz": {"contract": "text"}}}, "tasks.quiz.contract: was 'mcqa', is 'text'"),
    "the order of options": (
        {"tasks": {"quiz": {"option_order": "shuffle"}}}, "tasks.quiz.option_order: was 'as_given', is 'shuffle'",
    ),
    "what is sent besides": ({"models": {"m": {"body": {"top_k": 3}}}}, "models.m"),
    "the name": ({"study": {"name": "other"}}, "name: was 'trial', is 'other'"),
    "a change beside an addition": (
        {"study": {"seed": 8}, "conditions": {"urged": {"preamble": "!"}}}, "seed: was 7, is 8",
    ),
    "conditions that a task does not ask any more": (
        {"conditions": {"other": {}}, "tasks": {"quiz": {"conditions": ["other"]}}}, "quiz.m.plain: was",
    ),
    "examples for a condition that has been asked": (
        {"conditions": {"plain": {"examples": "shots.jsonl"}}}, "examples.quiz: was not there",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("changed", "said"), CHANGES.values(), ids=CHANGES)
def test_what_was_asked_does_not_change(begun, changed, said):
    folder, url = begun
    write_items(folder / "shots.jsonl", [{**items(99)[98], "answer": "A"}])
    write_study(folder, url, count=4, changed=laid_over(laid_over(BEGUN, TWICE), changed))
    before = every_byte(folder / "out" / "records")
    done = run(folder)
    assert fine(done, 2)
    assert said in done.stderr.decode()
    assert b"may be added" in done.stderr
    assert every_byte(folder / "out" / "records") == before
    assert not (folder / "out" / "revisions").exists()


TWICE = {"decoding": {"samples": 2}}


@pytest.fixture
def begun(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=4, changed=laid_over(BEGUN, TWICE))
        assert fine(run(tmp_path), 0)
        yield tmp_path, server.url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (items(3), 'the item "q3" of quiz is not there now'),
        ([*items(3), {**items(4)[3], "question": "[q3] Another?"}], 'the item "q3" of quiz has changed'),
    ],
)
def test_items_that_were_asked_about_stay_as_they_are(begun, rows, said):
    folder, _ = begun
    write_items(folder / "items.jsonl", rows)
    done = run(folder)
    assert fine(done, 2)
    assert f"expected the items that were asked about, found {said}" in done.stderr.decode()
    assert fine(affidavit("verify", folder / "out"), 0)


@pytest.mark.slow
def test_a_growth_that_fails_its_trial_leaves_everything_as_it_was(begun):
    folder, url = begun
    before = every_byte(folder / "out" / "records"), (folder / "out" / "seal.json").read_bytes()
    with FaultServer(models=status(401)) as other:
        added = {"models": {"n": {"base_url": other.url}}}
        write_study(folder, url, count=6, changed=laid_over(laid_over(BEGUN, TWICE), added))
        assert fine(run(folder), 2)
    assert (every_byte(folder / "out" / "records"), (folder / "out" / "seal.json").read_bytes()) == before
    assert not (folder / "out" / "revisions").exists()
    assert not list((folder / "out").glob(".*")), "nothing drafted is left"
    assert fine(affidavit("verify", folder / "out"), 0)


@pytest.mark.slow
def test_a_growth_whose_first_requests_are_all_refused_can_be_mended(begun):
    """Ruling C11: a plan is frozen by its first answer, and so is each growth."""
    folder, url = begun
    before = every_byte(folder / "out")
    refused = {f"q{n}": every(bad_request) for n in range(30)}
    with FaultServer(refused) as other:
        added = {"models": {"wrong": {"base_url": other.url}}}
        write_study(folder, url, count=30, changed=laid_over(laid_over(BEGUN, TWICE), added))
        done = run(folder, "--json", "--model", "wrong")
    assert fine(done, 2)
    assert f"none of it was kept; nothing was added to {folder / 'out'}" in done.stderr.decode()
    assert (told(done)["directory"], told(done)["asked"]) == (str(folder / "out"), 0)
    assert every_byte(folder / "out") == before, "neither the model nor the items"
    added = {"models": {"right": {"base_url": url}}}
    write_study(folder, url, count=5, changed=laid_over(laid_over(BEGUN, TWICE), added))
    assert fine(run(folder), 0), "another growth, without the model that nobody has heard"
    assert (len(records(folder / "out")), len(told_by_verify(folder / "out")["revisions"])) == (20, 2)


@pytest.mark.slow
def test_a_study_that_was_killed_is_sealed_before_it_grows(begun):
    folder, url = begun
    (folder / "out" / "seal.json").unlink()
    write_study(folder, url, count=6, changed=laid_over(BEGUN, TWICE))
    assert fine(run(folder), 0)
    found = told_by_verify(folder / "out")
    assert (found["sealed"], len(found["revisions"])) == (True, 2)


FORGERIES = {
    "a change": lambda fields: {**fields, "config": {**fields["config"], "decoding": {"temperature": 1.0, "max_tokens": 256, "samples": 2}}},
    "fewer items": lambda fields: {**fields, "counts": {"quiz": 1}},
    "another seed": lambda fields: {**fields, "config": {**fields["config"], "seed": 8}},
    "another root": lambda fields: {**fields, "before": {**fields["before"], "root_sha256": "0" * 64}},
    "more records before": lambda fields: {**fields, "before": {**fields["before"], "records": 7}},
    "no date": lambda fields: {**fields, "date": "yesterday"},
    "no config": lambda fields: {**fields, "config": {}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_revision_is_noticed(begun, forgery):
    folder, url = begun
    write_study(folder, url, count=6, changed=laid_over(BEGUN, TWICE))
    assert fine(run(folder), 0)
    path = folder / "out" / "revisions" / "000002.json"
    path.write_bytes(checked_line(forgery(without_checksum(path))))
    assert fine(affidavit("verify", folder / "out"), 5)
    (folder / "out" / "seal.json").unlink()
    done = affidavit("verify", folder / "out")
    assert fine(done, 5), "also without a seal"


def without_checksum(path: Path) -> dict:
    return {name: value for name, value in checked_fields(path.read_bytes()).items() if name != "sha256"}


@pytest.mark.slow
def test_a_revision_that_is_missing_or_flipped_is_corruption(begun):
    folder, url = begun
    for count in (5, 6):
        write_study(folder, url, count=count, changed=laid_over(BEGUN, TWICE))
        assert fine(run(folder), 0)
    for name in ("000002.json", "000002.items.jsonl", "000003.items.jsonl", "000003.json"):
        broken = shutil.copytree(folder / "out", folder / f"without-{name}")
        (broken / "revisions" / name).unlink()
        assert fine(affidavit("verify", broken), 5)
        flipped = shutil.copytree(folder / "out", folder / f"flipped-{name}")
        content = bytearray((flipped / "revisions" / name).read_bytes())
        content[len(content) // 2] ^= 1
        (flipped / "revisions" / name).write_bytes(bytes(content))
        assert fine(affidavit("verify", flipped), 5)


def test_an_imported_study_has_no_revisions():
    checks = RevisionChecks(StudyDirectory(Path("nowhere")), StudyDirectory(GOLDEN / "imported").frozen())
    assert (list(checks.differences()), checks.found("")) == ([], [])


GOLDEN = Path(__file__).parent.parent / "golden" / "studies"


@pytest.mark.slow
def test_what_was_judged_does_not_grow_but_is_taken_over(tmp_path):
    judged = {"judging": {"judges": ["alpha"]}}
    with serving() as server:
        open_study(tmp_path, server.url, judged)
        assert fine(run(tmp_path), 0)
        asked = len(server.log)
        open_study(tmp_path, server.url, judged, {"decoding": {"samples": 2}})
        done = run(tmp_path)
        assert fine(done, 2)
        assert (
            b"expected the outputs that were judged, found a study that grows after it was judged" in done.stderr
        )
        assert len(server.log) == asked
        advised = re.search(rb"with (--out NEW --reuse \S+),", done.stderr)[1].decode().replace("NEW", "new")
        done = affidavit("run", "study.toml", *advised.split(), cwd=tmp_path)
        assert fine(done, 0)
        assert b"24 answers to the same questions were taken over" in done.stdout
        assert len(server.log) == asked + 24 + 48, "the second samples, and all judgements"
    assert fine(affidavit("verify", tmp_path / "new"), 0)
