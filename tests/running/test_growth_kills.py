"""A growth that is killed, or loses its power, at any of its writes: the next run ends where an undisturbed one does.

A growth is done once, on a disk that remembers every call. Every state that a kill or a loss of power could have left
on the way is then made again, and the run goes on from there.
"""

import random
import shutil
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.running.study_run import Ended, Options, run_study
from affidavit.running.verify import verify
from affidavit.study.files import load
from support.command import affidavit
from support.crash_disk import InstantDisk, State, TraceDisk, broken_by, kills, losses, once, whole_lines
from support.fault_server import FaultServer
from support.killed_command import calls, killed
from support.kills import journal
from support.studies import fine, items, laid_over, records, run, told, told_by_verify, write_items, write_study

BEGUN = {"models": {"n": {"connections": 2}}, "conditions": {"plain": {}}}
MORE = {"more": {"contract": "mcqa", "items": "more.jsonl", "models": ["m"], "conditions": ["plain"]}}
STEPS: list[tuple[str, Mapping, int]] = [
    ("two models", {}, 2),
    ("a model", {"models": {"o": {"connections": 2}}}, 2),
    ("a condition", {"conditions": {"urged": {"preamble": "Think."}}}, 2),
    ("samples", {"decoding": {"samples": 2}}, 2),
    ("items", {}, 3),
    ("a task", {"tasks": MORE}, 3),
]
"""What is added, one after the other, and how many items the first task has then."""
ASKED = [4, 6, 12, 24, 36, 40]
"""Questions of the plan at first, and after each step."""
GROWTHS = {name: step for step, (name, _, _) in enumerate(STEPS) if step}


def after(step: int) -> dict:
    changed = dict(BEGUN)
    for _, added, _ in STEPS[: step + 1]:
        changed = laid_over(changed, added)
    return changed


def with_addresses(changed: Mapping, url: str) -> dict:
    return {**changed, "models": {name: {**table, "base_url": url} for name, table in changed["models"].items()}}


def write(folder: Path, url: str, step: int) -> None:
    """The study's file after so many steps."""
    write_study(folder, url, count=STEPS[step][2], changed=with_addresses(after(step), url))
    write_items(folder / "more.jsonl", [{**item, "id": f"m{item['id']}"} for item in items(2)])


def grown(folder: Path, disk: InstantDisk | None = None) -> Ended:
    return run_study(load(folder / "study.toml"), Options(folder / "out", disk=disk or InstantDisk()))


class Grown:
    """A growth that nothing disturbed, with what it did to the disk."""

    def __init__(self, folder: Path, server: FaultServer) -> None:
        self.folder, self.server = folder, server
        self.disk = TraceDisk(folder / "out")
        self.root = grown(folder, self.disk).root_sha256
        self.asked = len(records(folder / "out"))
        self.revisions = len(list((folder / "out" / "revisions").glob("*.json"))) + 1

    def goes_on_from(self, state: State) -> None:
        """Whatever was whole is kept and not asked again, and all ends as if nothing had happened."""
        out, before = self.folder / "out", len(self.server.log)
        state.rebuild(out)
        ended = grown(self.folder)
        assert ended.root_sha256 == self.root
        keys = [each["key"] for each in records(out)]
        assert len(set(keys)) == len(keys) == self.asked
        assert len(self.server.log) - before == ended.asked == self.asked - whole_lines(state)
        found = verify(StudyDirectory(out), GivenContracts())
        assert found, found.differences
        assert len(found.revisions) == self.revisions


@pytest.fixture(scope="module")
def growths(tmp_path_factory) -> Iterator[dict[str, Grown]]:
    """Each growth of the same study, in a folder of its own."""
    found, folder = {}, tmp_path_factory.mktemp("growths") / "0"
    with FaultServer() as server:
        write(folder, server.url, 0)
        grown(folder)
        for name, step in GROWTHS.items():
            folder = Path(shutil.copytree(folder, folder.parent / str(step)))
            write(folder, server.url, step)
            found[name] = Grown(folder, server)
            assert len(server.log) == ASKED[step]
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWTHS)
def test_a_kill_at_any_write_of_a_growth_changes_nothing(growths, name):
    assert broken_by(growths[name].goes_on_from, kills(growths[name].disk)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", GROWTHS)
def test_a_loss_of_power_at_any_write_of_a_growth_changes_nothing(growths, name):
    assert broken_by(growths[name].goes_on_from, losses(growths[name].disk, seeded(1), tears=1)) == []


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


@pytest.fixture(scope="module")
def growth_of_an_open_study(tmp_path_factory) -> Iterator[Grown]:
    """A study that a kill has left without a seal grows by items and a task at once."""
    folder = tmp_path_factory.mktemp("open")
    with FaultServer() as server:
        write(folder, server.url, 0)
        grown(folder)
        for name in ("seal.json", "used_prompt_manifest.md"):
            (folder / "out" / name).unlink()
        changed = laid_over(BEGUN, {"tasks": MORE})
        write_study(folder, server.url, count=3, changed=with_addresses(changed, server.url))
        write_items(folder / "more.jsonl", items(2))
        yield Grown(folder, server)


@pytest.mark.slow
def test_the_old_state_is_sealed_whatever_happens_meanwhile(growth_of_an_open_study):
    disk = growth_of_an_open_study.disk
    assert broken_by(growth_of_an_open_study.goes_on_from, kills(disk)) == []
    assert broken_by(growth_of_an_open_study.goes_on_from, losses(disk, seeded(2), tears=1)) == []


@pytest.mark.slow
def test_a_kill_while_answers_are_taken_over_takes_none_twice(tmp_path):
    """The first plan of a study and the answers of its trial, at any write."""
    with FaultServer() as server:
        write(tmp_path, server.url, 0)
        assert fine(run(tmp_path, "--limit", "1"), 0)
        (tmp_path / "out").mkdir()
        disk = TraceDisk(tmp_path / "out")
        whole = grown(tmp_path, disk)
        assert (whole.asked, whole.taken_over) == (2, 2)
        for state in once(chain(kills(disk), losses(disk, seeded(4), tears=1))):
            state.rebuild(tmp_path / "out")
            asked = len(server.log)
            ended = grown(tmp_path)
            assert ended.root_sha256 == whole.root_sha256
            assert ended.asked + ended.taken_over == 4 - whole_lines(state)
            assert ended.asked == len(server.log) - asked <= 2
            assert verify(StudyDirectory(tmp_path / "out"), GivenContracts())


@pytest.mark.slow
def test_a_growth_goes_on_from_where_it_stood(growths):
    """The same, quickly: before the revision, after it, and before the seal."""
    growth, seen = growths["items"], dict[str, State]()
    for state in kills(growth.disk):
        names = {path.name for path in state.files}
        place = "an open segment" if "000005.jsonl" in names else "a revision" if "000005.json" in names else ""
        place = place or ("items without a revision" if "000005.items.jsonl" in names else "a draft")
        seen[place] = state
    assert list(seen) == ["a draft", "items without a revision", "a revision", "an open segment"]
    assert broken_by(growth.goes_on_from, iter(seen.values())) == []


@pytest.mark.slow
def test_items_of_a_growth_that_never_came_to_be_are_nobodys(growths, tmp_path):
    """Killed between its items and its revision, a growth leaves them; the next may add no items at all."""
    growth = growths["items"]
    state = next(state for state in kills(growth.disk) if Path("revisions/000005.items.jsonl") in state.files)
    assert Path("revisions/000005.json") not in state.files
    (tmp_path / "out").mkdir()
    state.rebuild(tmp_path / "out")
    changed = laid_over(after(GROWTHS["samples"]), {"conditions": {"again": {"preamble": "Once more."}}})
    write_study(tmp_path, growth.server.url, count=2, changed=with_addresses(changed, growth.server.url))
    disk = TraceDisk(tmp_path / "out")
    ended = grown(tmp_path, disk)
    assert (ended.asked, ended.open) == (12, 0)
    assert verify(StudyDirectory(tmp_path / "out"), GivenContracts())
    assert not (tmp_path / "out" / "revisions" / "000005.items.jsonl").exists()
    for state in once(losses(disk, seeded(3), tears=2)):
        state.rebuild(tmp_path / "out")
        StudyDirectory(tmp_path / "out").check_items(StudyDirectory(tmp_path / "out").frozen())


@pytest.mark.slow
def test_the_command_is_killed_while_a_study_grows(tmp_path):
    """A real process and a real signal, at calls that are spread over the whole growth."""
    order = ("run", "study.toml", "--out", "out", "--no-page")
    with FaultServer() as server:
        write(tmp_path / "begun", server.url, 0)
        assert fine(run(tmp_path / "begun"), 0)
        first = told_by_verify(tmp_path / "begun" / "out")["root_sha256"]
        write(tmp_path / "begun", server.url, len(STEPS) - 1)
        last = calls(*order, cwd=shutil.copytree(tmp_path / "begun", tmp_path / "whole"))
        whole = told_by_verify(tmp_path / "whole" / "out")["root_sha256"]
        for at in range(2, last + 1, max(1, last // 5)):
            folder = shutil.copytree(tmp_path / "begun", tmp_path / f"killed at {at}")
            killed(at, *order, cwd=folder)
            server.quiet()
            there, asked = len(journal(folder / "out")), len(server.log)
            done = run(folder, "--json")
            assert fine(done, 0)
            assert len(server.log) - asked == ASKED[-1] - there, "what is whole is not asked again"
            assert told(done)["root_sha256"] == whole
            for root in (first, whole):
                assert fine(affidavit("verify", folder / "out", "--expect", root), 0)
