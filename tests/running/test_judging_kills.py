"""A judging that is killed loses nothing and doubles nothing; its trees are what the records make of them."""

import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.command import COMMAND, ENVIRONMENT, affidavit
from support.fault_server import Call, FaultServer, Turnstile, says
from support.judged_studies import MODELS, judge_again, judgements, open_study, said_by, variant_of
from support.killed_command import calls, killed
from support.kills import journal, wait, wait_for
from support.scripted_judge import TREES, WAYS, Always, judge_prompt, judged_in, reply
from support.studies import fine, run, told_by_verify

pytestmark = pytest.mark.slow

QUESTIONS, KILLS, CONNECTIONS = tuple(f"q{n}" for n in range(10)), 40, 8
JUDGEMENTS = 3 * 3 * 4 * len(QUESTIONS)
ANSWERED = {name: way for name, way in WAYS.items() if not way.failure}


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


async def judges_or_answers(call: Call) -> None:
    """Judges answer about each output in a way that only the output decides."""
    model, prompt = call.asked.body["model"], judge_prompt(call.asked.prompt)
    if prompt is None:
        await says(said_by(model, call.asked.question, variant_of(call.asked.prompt)))(call)
        return
    number = int(prompt.meta["question_id"][1:]) * 7 + len(prompt.meta["prompt_variant"]) + MODELS.index(model)
    await reply(call, list(ANSWERED.values())[number % len(ANSWERED)], prompt)


def trees(directory: Path) -> dict[str, bytes]:
    """Every byte of both trees, by path."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for tree in TREES
        for path in (directory / tree).rglob("*")
        if path.is_file()
    }


def half_made(directory: Path) -> list[str]:
    """What stands beside the trees under a name that is not for good."""
    return [path.name for path in directory.glob(".*partial")]


WITH_ALL = ("judge", "out", *(part for name in MODELS for part in ("--judge", name)), "--json")


@contextmanager
def judging(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The real command, on its way; it does not outlive the block."""
    order = [COMMAND, *WITH_ALL]
    process = subprocess.Popen(order, env=ENVIRONMENT, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True)
class Begun:
    """A study whose judging was killed before the first judgement: its terms and their date are frozen."""

    folder: Path
    server: FaultServer
    answers: Turnstile


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Iterator[Begun]:
    folder, answers = tmp_path_factory.mktemp("begun"), Turnstile(judges_or_answers)
    answers.open()
    with FaultServer(Always(answers)) as server:
        few = {"models": {name: {"connections": CONNECTIONS} for name in MODELS}}
        open_study(folder, server.url, few, questions=QUESTIONS)
        assert fine(run(folder), 0)
        answers.let_pass(len(MODELS))  # each judge is tried with one
        with judging(folder) as process:
            wait(process, (folder / "out/judging.json").exists)
            process.kill()
            process.wait()
        server.quiet()
        (folder / "out/records/000002.jsonl").unlink(missing_ok=True)  # as if the kill had come a moment before
        answers.open()
        yield Begun(folder, server, answers)


@pytest.fixture(scope="module")
def whole(begun, tmp_path_factory) -> tuple[Path, str]:
    """The same study judged without further interruption, and its root digest."""
    folder = tmp_path_factory.mktemp("whole") / "study"
    shutil.copytree(begun.folder, folder)
    done = judge_again(folder, "--json", judges=MODELS)
    assert fine(done, 0)
    return folder, json.loads(done.stdout)["root_sha256"]


def test_terms_without_a_judgement_are_no_fault_and_no_seal(begun):
    """A judging is killed after its terms were frozen and before the first judgement was there."""
    found = affidavit("verify", begun.folder / "out")
    assert fine(found, 7)
    assert b"120 records, 120 of them responses; not sealed" in found.stdout


def test_kills_lose_and_double_nothing_and_the_trees_are_the_same(begun, whole, tmp_path):
    folder, server = tmp_path / "study", begun.server
    shutil.copytree(begun.folder, folder)
    chance, asked_before = seeded(2), len(server.log)
    before, lost = journal(folder / "out"), []
    outputs = len(before)
    for kill in range(KILLS):
        asked = len(server.log)
        some = chance.randrange(2 * (JUDGEMENTS + outputs - len(before)) // (KILLS - kill + 3) + 1)
        begun.answers.let_pass(some)
        with judging(folder) as process:
            # Some are killed as soon as they ask for more than is answered, some when all of that is written down.
            wait_for(server, asked + some + 1, process)
            if kill % 2:
                wait(process, lambda: len(journal(folder / "out")) >= len(before) + some)  # noqa: B023
            process.kill()
            process.wait()
        server.quiet()
        after = journal(folder / "out")
        assert after[: len(before)] == before, f"after kill {kill}"
        lost.append(len(server.log) - asked_before - (len(after) - outputs) - sum(lost))
        before = after
        if kill % 10 == 0:
            assert fine(affidavit("verify", folder / "out"), 7)
    begun.answers.open()
    done = judge_again(folder, "--json", judges=MODELS)
    assert fine(done, 0)
    assert journal(folder / "out")[: len(before)] == before
    asked = Counter(
        (each.body["model"], prompt.meta["output_id"]) for each, prompt in judged_in(server.log[asked_before:])
    )
    kept = Counter((each["judge"], each["asked"]["output_id"]) for each in judgements(folder / "out"))
    assert kept == dict.fromkeys(asked, 1), "each judgement once"
    assert kept.total() == JUDGEMENTS
    assert asked.total() - JUDGEMENTS == sum(lost), "asked again is only what was open at a kill"
    assert 0 < max(lost) <= CONNECTIONS * len(MODELS)
    assert json.loads(done.stdout)["root_sha256"] == whole[1] == told_by_verify(folder / "out")["root_sha256"]
    assert trees(folder / "out") == trees(whole[0] / "out")
    assert (folder / "out/judging.json").read_bytes() == (whole[0] / "out/judging.json").read_bytes()
    assert (folder / "out/used_prompt_manifest.md").read_bytes() == (
        whole[0] / "out/used_prompt_manifest.md"
    ).read_bytes()
    assert not half_made(folder / "out")


def without_trees(folder: Path) -> None:
    for tree in TREES:
        shutil.rmtree(folder / "out" / tree, ignore_errors=True)


def test_kills_while_the_trees_are_written_leave_whole_trees_or_none(whole, tmp_path):
    folder, chance = tmp_path / "study", seeded(3)
    shutil.copytree(whole[0], folder)
    there = trees(folder / "out")
    without_trees(folder)
    last = calls(*WITH_ALL, cwd=folder)  # more, where old trees or what a kill has left must go
    assert trees(folder / "out") == there
    assert last > len(there), "one for every file at least"
    at = sorted([1, last - 1, last, *chance.sample(range(2, last - 1), 9)])
    for number, call in enumerate(at):
        if number % 4 == 0:
            without_trees(folder)
        killed(call, *WITH_ALL, cwd=folder)
        assert trees(folder / "out").items() <= there.items(), f"no file is half-written, killed at call {call}"
    assert fine(judge_again(folder, judges=MODELS), 0)
    assert trees(folder / "out") == there
    assert not half_made(folder / "out")
    assert fine(affidavit("verify", folder / "out"), 0)


def test_deleted_trees_are_made_again_to_the_byte(whole, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(whole[0], folder)
    there, records = trees(folder / "out"), journal(folder / "out")
    for gone in (TREES, TREES[:1], TREES[1:]):
        for tree in gone:
            shutil.rmtree(folder / "out" / tree)
        assert fine(affidavit("verify", folder / "out"), 0 if gone == TREES else 5)
        assert fine(judge_again(folder, judges=MODELS), 0)
        assert trees(folder / "out") == there
        assert fine(affidavit("verify", folder / "out"), 0)
    assert journal(folder / "out") == records


def some_file(directory: Path, tree: str) -> Path:
    files = sorted((directory / tree).rglob("*.json"))
    return files[len(files) // 2]


def changed(directory: Path, tree: str) -> Path:
    path = some_file(directory, tree)
    path.write_bytes(path.read_bytes().replace(b'"flags"', b'"Flags"', 1))
    return path


def lengthened(directory: Path, tree: str) -> Path:
    path = some_file(directory, tree)
    path.write_bytes(path.read_bytes() + b"\n")
    return path


def removed(directory: Path, tree: str) -> Path:
    path = some_file(directory, tree)
    path.unlink()
    return path


def added(directory: Path, tree: str) -> Path:
    path = some_file(directory, tree)
    return Path(shutil.copy(path, path.with_name("2.json")))


def linked(directory: Path, tree: str) -> Path:
    path = some_file(directory, tree)
    kept = directory / "elsewhere.json"
    path.rename(kept)
    path.symlink_to(kept)
    return path


def linked_directory(directory: Path, tree: str) -> Path:
    path = directory / tree / "elsewhere"
    path.symlink_to(directory / TREES[0])
    return path


def moved(directory: Path, tree: str) -> Path:
    """An evaluation in the other tree."""
    path = some_file(directory, tree)
    (other,) = set(TREES) - {tree}
    to = directory / other / path.relative_to(directory / tree)
    to.parent.mkdir(parents=True, exist_ok=True)
    path.rename(to)
    return min(path, to)


def rewritten_page(directory: Path, tree: str) -> Path:
    path = directory / TREES[1] / "README.md"
    path.write_text(path.read_text().replace(" planned = ", " planned  = "))
    return path


@pytest.fixture(scope="module")
def little(tmp_path_factory) -> Path:
    """A judged study of two questions."""
    folder = tmp_path_factory.mktemp("little")
    with FaultServer(Always(judges_or_answers)) as server:
        open_study(folder, server.url, {"judging": {"judges": list(MODELS)}}, questions=("q0", "q4"))
        assert fine(run(folder), 0)
    return folder / "out"


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    "done_to", [changed, lengthened, removed, added, linked, linked_directory, moved, rewritten_page]
)
def test_verify_notices_whatever_is_done_to_the_trees(little, tmp_path, done_to, tree):
    folder = tmp_path / "study"
    shutil.copytree(little, folder)
    path = done_to(folder, tree)
    found = affidavit("verify", folder)
    assert fine(found, 5)
    assert str(path) in found.stderr.decode()
    assert "`affidavit judge` makes it anew" in found.stderr.decode()
