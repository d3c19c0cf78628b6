"""The first requests of a run: what they wait for, and what is done while they are answered."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from affidavit.archive.journal import Archive
from affidavit.archive.study_directory import StudyDirectory
from affidavit.models.model import Completion, Failure, Request
from affidavit.models.settings import Limits
from affidavit.running.ledger import QuestionLedger
from affidavit.running.runner import Runner
from affidavit.running.study_work import StudyWork
from affidavit.study.files import load
from affidavit.study.freezing import draft
from affidavit.study.task import Question
from support.studies import write_study
from support.written_study import NOBODY, Hasty


class Watched:
    """A model that answers a little later, and notes when it is asked."""

    name, connections = "m", 4

    def __init__(self, events: list[str]) -> None:
        self._events = events

    async def __aenter__(self) -> "Watched":
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    def notes(self) -> list[str]:
        return []

    async def reachable(self) -> Failure | None:
        return None

    async def complete(self, request: Request) -> Completion:
        self._events.append("asked")
        await asyncio.sleep(0.001)
        self._events.append("answered")
        return Completion("<answer>A</answer>", "stop")

    async def setup_fault(self, failure: Failure) -> None:
        return


class Work(StudyWork):
    """The questions of a study; notes when each is made."""

    events: list[str]

    def questions(self, model: str) -> Iterator[Question]:
        for question in super().questions(model):
            self.events.append("made")
            yield question


def events_of_a_run(folder: Path) -> list[str]:
    write_study(folder, NOBODY, count=10)
    files, directory = load(folder / "study.toml"), StudyDirectory(folder / "out")
    directory.path.mkdir()
    drafted, archive = draft(directory, files, Hasty()), directory.archive(Hasty())
    work = Work(drafted)
    work.events = []
    runner = Runner(work, [Watched(work.events)], QuestionLedger(drafted.plan), limits=Limits())

    def begin() -> None:
        work.events.append("frozen")
        work.frozen = drafted.freeze(Hasty())

    async def tried_and_run(archive: Archive) -> None:
        async with runner:
            await runner.trial(with_questions=True)
            work.events.append("tried")
            await runner.run(archive, begin, at_once=False)

    asyncio.run(tried_and_run(archive))
    archive.close()
    assert runner.asked == 10
    return work.events


def test_a_model_is_tried_with_its_first_question_before_the_others_are_looked_at(tmp_path):
    events = events_of_a_run(tmp_path)
    trial = events[: events.index("tried")]
    assert trial == ["made", "asked", *["made"] * 9, "answered"]


def test_others_are_asked_before_the_answer_of_the_trial_freezes_the_plan(tmp_path):
    """An answer is there (ruling C11), and the disk is waited for while others think."""
    events = events_of_a_run(tmp_path)
    first = events[events.index("tried") + 1 : events.index("frozen")]
    assert first.count("asked") == Watched.connections - 1
    assert "answered" not in first
