"""What is added to a study, and a judging, is frozen by its first answer (ruling C11): until then it can be mended."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import StorageError
from affidavit.running.first_failures import MOST_ALIKE
from affidavit.running.study_run import Options, run_study
from affidavit.study.files import load
from support.command import COMMAND, ENVIRONMENT, affidavit
from support.fault_server import FaultServer, bad_request, every, hang, held_until, says, status
from support.judged_studies import agreeable, judge_again, open_study, serving
from support.kills import wait
from support.scripted_judge import judge_prompt
from support.studies import (
    every_byte,
    fine,
    items,
    laid_over,
    records,
    run,
    told_by_verify,
    write_items,
    write_study,
)

REFUSED = {f"q{n}": every(bad_request) for n in range(60)}
BEGUN = {"conditions": {"plain": {}}, "limits": {"attempts": 1}}


def grown(folder: Path, url: str, models: dict, *, count: int = 4) -> None:
    """The study of four questions and one model, and these models added."""
    write_study(folder, url, count=count, changed=laid_over(BEGUN, {"models": models}))


@pytest.fixture
def begun(tmp_path):
    with FaultServer() as server:
        grown(tmp_path, server.url, {})
        assert fine(run(tmp_path), 0)
        yield tmp_path, server.url


@pytest.mark.slow
def test_a_growth_that_nobody_has_answered_can_be_mended(begun):
    """Also if fewer failed than would be called one mistake."""
    folder, url = begun
    before = every_byte(folder / "out")
    with FaultServer(REFUSED) as other:
        grown(folder, url, {"n": {"base_url": other.url}})
        done = run(folder)
    assert fine(done, 4)
    assert b"4 failed in this run with bad_request" in done.stderr
    assert b"none of the 4 questions that were asked was answered; nothing was added to " in done.stderr
    assert every_byte(folder / "out") == before
    grown(folder, url, {"n": {"base_url": url, "seed": False}})
    assert fine(run(folder), 0)
    assert len(records(folder / "out")) == 8


@pytest.mark.slow
def test_answers_of_a_trial_that_answer_nothing_here_freeze_nothing(begun):
    folder, url = begun
    grown(folder, url, {}, count=4)
    assert fine(run(folder, "--limit", "2"), 0)
    before = every_byte(folder / "out")
    with FaultServer(REFUSED) as other:
        grown(folder, url, {"n": {"base_url": other.url}})
        assert fine(run(folder), 4)
        assert fine(run(folder, "--model", "m"), 4), "it is complete: nothing is asked"
    assert every_byte(folder / "out") == before


@pytest.fixture
def one_is_left(tmp_path):
    """The same study, of which one question has failed for now and is asked again in the next run."""
    with FaultServer({"q3": every(status(500))}) as server:
        grown(tmp_path, server.url, {})
        assert fine(run(tmp_path), 4)
        server.script = {}
        yield tmp_path, server


@pytest.mark.slow
@pytest.mark.parametrize(("count", "code"), [(4, 4), (40, 2)], ids=["a few", "one mistake"])
def test_a_growth_is_not_frozen_by_an_answer_to_what_was_asked_before(one_is_left, count, code):
    """Nobody has answered what was added, so that it can be mended; the rest is asked after it."""
    folder, server = one_is_left
    before = every_byte(folder / "out")
    asked = server.questions()
    with FaultServer(REFUSED) as other:
        more = {"tasks": {"more": {"contract": "mcqa", "items": "more.jsonl", "models": ["n"]}}}
        write_items(folder / "more.jsonl", items(count))
        changed = laid_over(laid_over(BEGUN, {"models": {"n": {"base_url": other.url}}}), more)
        write_study(
            folder, server.url, count=4, changed=laid_over(changed, {"tasks": {"quiz": {"models": ["m"]}}})
        )
        done = run(folder)
    assert fine(done, code)
    assert b"nothing was added to " in done.stderr
    assert every_byte(folder / "out") == before
    assert server.questions() == asked
    grown(folder, server.url, {"n": {"base_url": server.url, "seed": False}})
    assert fine(run(folder), 0)
    found = told_by_verify(folder / "out")
    assert (len(found["revisions"]), len(records(folder / "out"))) == (2, 9)


@pytest.mark.slow
def test_once_a_growth_is_frozen_the_rest_is_asked_and_nothing_twice(one_is_left):
    folder, server = one_is_left
    refused = {"q0": every(status(500)), "q1": every(status(500))}
    with FaultServer(refused) as other:
        grown(folder, server.url, {"n": {"base_url": other.url, "connections": 1}})
        done = run(folder)
    assert fine(done, 4)
    assert other.questions() == {"q0": 2, "q1": 1, "q2": 1, "q3": 1}, "q0 in the trial, and after it"
    kept = [(each["model"], each["item_id"], each["kind"]) for each in records(folder / "out")][4:]
    assert sorted(kept) == [
        ("m", "q3", "response"),
        ("n", "q0", "failure"),
        ("n", "q1", "failure"),
        ("n", "q2", "response"),
        ("n", "q3", "response"),
    ]
    assert kept.index(("n", "q2", "response")) < kept.index(("m", "q3", "response"))
    assert fine(affidavit("verify", folder / "out"), 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed", [{"decoding": {"samples": 2}}, {"conditions": {"polite": {"preamble": "Please."}}}]
)
def test_more_samples_and_conditions_are_frozen_by_their_own_answer_too(one_is_left, changed):
    folder, server = one_is_left
    before = every_byte(folder / "out")
    asked = server.questions()
    server.script = REFUSED
    write_study(folder, server.url, count=4, changed=laid_over(BEGUN, changed))
    assert fine(run(folder), 4)
    assert every_byte(folder / "out") == before
    assert (server.questions() - asked).total() == 4, "the added ones, and no other"
    server.script = {}
    assert fine(run(folder), 0)
    assert len(records(folder / "out")) == 9


@pytest.mark.slow
def test_a_run_that_asks_nothing_of_what_was_added_is_refused(one_is_left):
    folder, server = one_is_left
    before = every_byte(folder / "out")
    grown(folder, server.url, {"n": {"base_url": server.url}})
    done = run(folder, "--model", "m")
    assert fine(done, 2)
    assert b"--model: expected a model that is asked what was added to the study: n, found m\n" in done.stderr
    assert every_byte(folder / "out") == before
    assert fine(run(folder, "--model", "n"), 4)
    assert fine(run(folder, "--model", "m"), 0)


@pytest.mark.slow
def test_an_answer_that_is_taken_over_freezes_only_what_it_answers(one_is_left):
    folder, server = one_is_left
    before = every_byte(folder / "out")
    assert fine(affidavit("run", "study.toml", "--out", "other", cwd=folder), 0)
    with FaultServer(REFUSED) as other:
        grown(folder, server.url, {"n": {"base_url": other.url}})
        assert fine(run(folder, "--reuse", str(folder / "other")), 4)
    assert every_byte(folder / "out") == before
    grown(folder, server.url, {"n": {"base_url": server.url}})
    assert fine(run(folder, "--reuse", str(folder / "other")), 0)
    assert len(records(folder / "out")) == 9


class NoLog(Disk):
    """A disk that refuses one file."""

    def reopen_lines(self, path: Path) -> int:
        if path.name == "run_log.jsonl":
            raise OSError(27, "File too large")
        return super().reopen_lines(path)


@pytest.mark.slow
def test_a_disk_that_refuses_while_a_growth_is_frozen_is_asked_once(begun):
    """Two answers of the trial wait at that moment: the second must not make a revision of its own."""
    folder, url = begun
    grown(folder, url, {"n": {"base_url": url}, "o": {"base_url": url}})
    with pytest.raises(StorageError, match="run_log"):
        run_study(load(folder / "study.toml"), Options(folder / "out", disk=NoLog()))
    assert [path.name for path in (folder / "out" / "revisions").iterdir()] == ["000002.json"]
    grown(folder, url, {"n": {"base_url": url, "seed": False}})
    assert fine(run(folder), 0), "nothing was written after the revision: it may be another one"
    assert [len(told_by_verify(folder / "out")["revisions"]), len(records(folder / "out"))] == [2, 8]


@pytest.mark.slow
def test_a_forged_answer_from_elsewhere_freezes_nothing(begun):
    """Records that stand under the key of another question, in a directory whose checksums and seal all fit."""
    folder, url = begun
    before = every_byte(folder / "out")
    grown(folder, url, {"n": {"base_url": url}})
    other = folder / "other"
    assert fine(affidavit("run", "study.toml", "--out", "other", cwd=folder), 0)
    journal = other / "records" / "000001.jsonl"
    records_there = [checked_fields(line) for line in journal.read_bytes().splitlines(keepends=True)]
    forged = [{**each, "item_id": "another"} if each["model"] == "n" else each for each in records_there]
    lines = [{name: value for name, value in each.items() if name != "sha256"} for each in forged]
    journal.write_bytes(b"".join(map(checked_line, lines)))
    (other / "seal.json").unlink()
    archive = StudyDirectory(other).archive(Disk())
    assert len(list(archive.recover())) == 8
    archive.seal({})
    done = run(folder, "--reuse", str(other))
    assert fine(done, 5)
    assert b"expected answers to the questions of their keys, found another record" in done.stderr
    assert every_byte(folder / "out") == before


@pytest.mark.slow
def test_an_answer_after_the_last_refusal_is_kept_and_so_are_they(tmp_path):
    """It was paid for; and what it says of the refusals is that they are no mistake of the setup."""
    with FaultServer(REFUSED) as server:
        late = held_until(lambda: len([each for each in server.log if each.answered]) >= MOST_ALIKE + 9)
        server.script = {**REFUSED, "q0": every(late)}
        changed = {"limits": {"attempts": 1, "connect": 1}, "models": {"m": {"connections": 30}}}
        write_study(tmp_path, server.url, count=30, changed=changed)
        done = run(tmp_path)
    assert fine(done, 4)
    assert b"requests were refused alike (HTTP 400" in done.stderr
    assert b"none of it was kept" not in done.stderr
    kinds = [record["kind"] for record in records(tmp_path / "out")]
    assert (kinds.count("response"), kinds.count("failure")) == (1, 29)


async def judges_nothing(call) -> None:
    await (agreeable if judge_prompt(call.asked.prompt) is None else bad_request)(call)


@pytest.mark.slow
def test_a_judging_that_nobody_has_answered_can_be_mended(tmp_path):
    """Ruling J7: also if fewer failed than would be called one mistake."""
    with serving(judges_nothing, questions=("q1",)) as server:
        open_study(tmp_path, server.url, {}, questions=("q1",))
        assert fine(run(tmp_path), 0)
        before = every_byte(tmp_path / "out")
        done = judge_again(tmp_path)
        assert fine(done, 4)
        assert b"was answered; nothing of the judging was written" in done.stderr
        assert every_byte(tmp_path / "out") == before
    with serving(questions=("q1",)) as server:
        open_study(tmp_path, server.url, {}, questions=("q1",))
        assert fine(judge_again(tmp_path, "--temperature", "0.5"), 0)


JUDGED = {"judging": {"judges": ["alpha"]}}


@pytest.mark.slow
def test_a_run_that_ends_before_its_first_record_says_so_also_where_it_would_be_judged(tmp_path):
    with serving(hang) as server:
        open_study(tmp_path, server.url, JUDGED)
        command = [COMMAND, "run", "study.toml", "--out", "out"]
        begun = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE)
        wait(begun, lambda: server.log)
        begun.send_signal(signal.SIGINT)
        said = begun.communicate(timeout=60)[1]
    assert (begun.returncode, said.endswith(b"stopped by SIGINT; nothing was written\n")) == (130, True), said
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_answers_of_a_trial_that_a_signal_ends_are_counted(tmp_path):
    async def one_of_two(call) -> None:
        await (says("<answer>B</answer>") if call.asked.body["model"] == "m" else hang)(call)

    with FaultServer({f"q{n}": every(one_of_two) for n in range(4)}) as server:
        grown(tmp_path, server.url, {"n": {"base_url": server.url}})
        command = [COMMAND, "run", "study.toml", "--out", "out", "--json"]
        begun = subprocess.Popen(
            command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        wait(begun, lambda: len(server.log) >= 2 and any(each.answered for each in server.log))
        begun.send_signal(signal.SIGINT)
        out, said = begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert b"1 answers of the trial were dropped; nothing was written" in said
    assert json.loads(out)["directory"] is None
