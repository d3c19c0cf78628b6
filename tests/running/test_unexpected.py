"""What nobody expected, while one answer is handled, concerns that answer alone; the run goes on and is sealed."""

import json
from pathlib import Path

import pytest

from affidavit.archive.journal import Archive
from affidavit.archive.record import Response
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import StorageError
from affidavit.models.model import Answer, Completion, Failure
from affidavit.models.settings import Limits
from affidavit.running.ledger import QuestionLedger
from affidavit.running.runner import Runner
from affidavit.running.study_run import Ended, Options, run_study
from affidavit.running.study_work import StudyWork
from affidavit.study.files import load
from affidavit.study.freezing import draft
from affidavit.study.task import Question
from support.command import affidavit
from support.fault_server import FaultServer
from support.studies import fine, quiz, records, run, write_study
from support.virtual_time import first, in_virtual_time, virtual_time
from support.written_study import NOBODY, Hasty

OWN = """
from affidavit import MultipleChoice

mcqa = MultipleChoice("A-D")
asked = 0


class Own:
    name, version, params = "own", 1, {}

    def instruction(self, item=None):
        return "Say it."

    def grammar(self, item=None):
        return None

    def read(self, raw, item=None):
        return mcqa.read(raw)

    def validate(self, reading, item):
        return None

    def for_item(self, fields, *, where):
        global asked
        odd = "[q3]" in fields["question"]
        asked += odd
        if odd and asked > MOST:
            raise KeyError("nobody thought of this")
        return self


own = Own()
"""


async def raises(attempt: int) -> Answer:
    raise ValueError("sk-a-secret")


def scripted(folder: Path, script, **limits: float) -> Ended:
    write_study(folder, NOBODY, count=10, changed={"limits": {"attempts": 2, **limits}})
    with virtual_time(script):
        files = load(folder / "study.toml")
        return run_study(files, Options(folder / "out", disk=Hasty()))


def test_a_model_that_raises_fails_its_question_alone(tmp_path):
    ended = scripted(tmp_path, {"q3": raises})
    (tally,) = ended.tallies.values()
    assert (tally.compliant, tally.failed, tally.pending, ended.asked) == (9, 1, 0, 10)
    assert ended.details == [("bad_body: an unexpected ValueError while the answer was handled", 1)]
    assert StudyDirectory(tmp_path / "out").seal() is not None
    made = [json.loads(line) for line in (tmp_path / "out" / "attempts.jsonl").read_text().splitlines()]
    assert sum(each["outcome"] == "bad_body" for each in made) == 2, "it is asked once more"
    assert "secret" not in str(made)


def test_one_that_raises_once_is_asked_again(tmp_path):
    async def once(attempt: int) -> Answer:
        return await raises(attempt) if attempt == 1 else Completion("<answer>B</answer>", "stop")

    (tally,) = scripted(tmp_path, {"q3": once}).tallies.values()
    assert (tally.compliant, tally.failed) == (10, 0)


# --- reading ---


@pytest.mark.slow
def test_an_answer_that_cannot_be_read_is_kept_unread(tmp_path):
    """Ruling C8, wherever the error comes from."""
    with FaultServer() as server:
        changed = {"tasks": {"quiz": {"contract": "own.py:own"}}}
        for most in range(1, 20):
            folder = tmp_path / str(most)
            write_study(folder, server.url, count=6, changed=changed)
            (folder / "own.py").write_text(OWN.replace("MOST", str(most)))
            done = run(folder, "--json")
            assert b"Traceback" not in done.stderr
            if (folder / "out" / "seal.json").exists():
                break
    assert fine(done, 4)
    figures = quiz(done)
    assert (figures["compliant"], figures["unread"], figures["failed"], figures["pending"]) == (5, 1, 0, 0)
    (unread,) = (each for each in records(folder / "out") if each["protocol_compliant"] is None)
    assert (unread["item_id"], unread["raw_output"]) == ("q3", "<answer>B</answer>")
    assert unread["unread"].endswith("KeyError: 'nobody thought of this'")


class Odd(StudyWork):
    """Makes no record of one answer."""

    error: Exception = ValueError("sk-a-secret")

    def response(self, question: Question, completion: Completion, /) -> Response:
        if question.item.id == "q3":
            raise self.error
        return super().response(question, completion)


class Full(Odd):
    error = StorageError("the disk", expected="room", found="none")


async def tried_and_run(runner: Runner, archive: Archive) -> None:
    async with runner:
        await runner.trial(with_questions=True)
        await runner.run(archive, lambda: None, at_once=False)


def asked_by(folder: Path, work: type[StudyWork]) -> tuple[Runner, QuestionLedger]:
    """A run over the questions of a study, by work of this kind."""
    write_study(folder, NOBODY, count=10)
    files = load(folder / "study.toml")
    directory = StudyDirectory(folder / "out")
    directory.path.mkdir()
    with virtual_time({}):
        drafted, archive = draft(directory, files, Hasty()), directory.archive(Hasty())
        drafted.freeze(Hasty())
        list(archive.recover())
        ledger = QuestionLedger(drafted.plan)
        runner = Runner(work(drafted, frozen=True), [files.model("m")], ledger, limits=Limits())
        in_virtual_time(tried_and_run(runner, archive))
        archive.seal(ledger.counts())
    return runner, ledger


def test_an_answer_of_which_no_record_can_be_made_is_a_failure(tmp_path):
    """As it is with judgements, which are valid or invalid and never unread."""
    runner, ledger = asked_by(tmp_path, Odd)
    (tally,) = ledger.tallies.values()
    assert (tally.compliant, dict(tally.failures), runner.asked) == (9, {"bad_body": 1}, 10)
    assert list(runner.details) == ["bad_body: an unexpected ValueError while the answer was handled"]
    assert json.loads(affidavit("verify", tmp_path / "out", "--json").stdout)["failures"] == 1


def test_a_disk_that_refuses_still_stops_the_run(tmp_path):
    with pytest.raises(StorageError, match=r"^the disk: expected room"):
        asked_by(tmp_path, Full)


def test_failures_that_were_expected_are_told_as_before(tmp_path):
    ended = scripted(tmp_path, {"q3": first(Failure("bad_request", "no"), attempts=9)})
    assert ended.details == [("bad_request: no", 1)]
