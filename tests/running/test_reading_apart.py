"""Answers to long questions are read in a thread, so that other answers are taken meanwhile."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive
from affidavit.archive.record import Judgement
from affidavit.archive.study_directory import StudyDirectory
from affidavit.judging.directory import read_judging
from affidavit.judging.plan import JudgingPlan, Output, PlannedJudgement
from affidavit.judging.terms import FREE, JudgeTerms
from affidavit.models.model import Completion, Failure, Request
from affidavit.models.settings import Limits
from affidavit.running.judging_run import LARGE
from affidavit.running.ledger import JudgingLedger
from affidavit.running.runner import Runner

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


class Prompt:
    """A model that answers at once."""

    name, connections = "late", 2

    async def __aenter__(self) -> "Prompt":
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def reachable(self) -> Failure | None:
        return None

    async def complete(self, request: Request) -> Completion:
        return Completion("I would rather not.", "stop")

    async def setup_fault(self, failure: Failure) -> None:
        return


@dataclass
class Work:
    """Two judgements, one of a short output and one of a long one; notes which thread reads each."""

    plan: JudgingPlan
    judge: JudgeTerms
    read_in: dict[str, str] = field(default_factory=dict)

    def questions(self, model: str) -> Iterator[PlannedJudgement]:
        for key, size in zip(self.plan.terms.outputs, (10, LARGE), strict=False):
            output = Output(key, None, "a1", "plain", "alpha", "alpha", 0, "x" * size, "What?")
            yield self.plan.judgement(self.judge, output, FREE, 1)

    def response(self, question: PlannedJudgement, completion: Completion, /) -> Judgement:
        size = "long" if len(question.output.text) >= LARGE else "short"
        self.read_in[size] = threading.current_thread().name
        return self.plan.response(question, completion)

    def failure(self, question: PlannedJudgement, failure: Failure, /) -> None:
        raise AssertionError(failure)

    def fits(self, question: PlannedJudgement, completion: Completion, /) -> bool:
        return True


async def tried_and_run(runner: Runner, archive: Archive) -> None:
    async with runner:
        await runner.trial(with_questions=True)
        await runner.run(archive, lambda: None, at_once=False)


@pytest.mark.parametrize(("thread_from", "apart"), [(LARGE, True), (None, False)])
def test_what_is_long_is_read_in_a_thread_and_kept_like_the_rest(tmp_path, thread_from, apart):
    directory = StudyDirectory(shutil.copytree(STUDIES / "planned", tmp_path / "planned"))
    frozen, judge = read_judging(directory), JudgeTerms("late", "late", {})
    work = Work(JudgingPlan("trial", 7, frozen.terms, [judge]), judge)
    ledger = JudgingLedger(work.plan, frozen.targets)
    archive = directory.archive(Disk())
    before = len(list(archive.recover()))
    runner = Runner(work, [Prompt()], ledger, limits=Limits(), thread_from=thread_from)
    asyncio.run(tried_and_run(runner, archive))
    archive.close()
    main = threading.current_thread().name
    assert work.read_in["short"] == main
    assert (work.read_in["long"] != main) is apart
    records = list(directory.records())[before:]
    assert sorted(record.subject.judged_key for record in records) == sorted(frozen.terms.outputs[:2])
