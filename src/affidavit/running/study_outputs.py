"""The outputs of a study's directory that can be judged.

Where each stands is noted while the journal is walked for other reasons; its text is read when its turn comes, so
that a large study stays small in memory.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from affidavit.archive.corruption import corrupt
from affidavit.archive.record import Failed, ImportIdentity, JudgementIdentity, Label, Response
from affidavit.archive.segments import Line, Place
from affidavit.archive.study_directory import IMPORTED, FrozenStudy, ImportedStudy, NotArrived, StudyDirectory
from affidavit.contracts.registry import parts_named
from affidavit.items.item import Item
from affidavit.judging.outputs import imported_task, output_of, transcript
from affidavit.judging.plan import Output
from affidavit.study.freezing import frozen_items
from affidavit.study.plan import Plan

NOT_ASKED = "not asked yet"


class StudyOutputs:
    """The outputs of some tasks of a study, or of an import, as far as its journal was shown to this."""

    def __init__(
        self, directory: StudyDirectory, study: FrozenStudy, plan: Plan | None, tasks: Collection[str]
    ) -> None:
        self._directory = directory
        self._study = study
        self._plan = plan
        self._tasks = frozenset(tasks)
        self._items: dict[tuple[str, str], Item] = {}
        if plan is not None:
            self._items = {(task, item.id): item for task, item in frozen_items(directory) if task in self._tasks}
        self._places: list[Place] = []
        self._failed: dict[str, str] = {}
        self.keys: list[str] = []
        """Of all outputs, in the order of the journal."""
        self.targets: Counter[str] = Counter()
        """How many outputs there are of each model, by its identity."""

    def add(self, line: Line) -> None:
        """One line of the journal; all of them are shown to this, in order."""
        record = line.record
        if isinstance(record, Label) or isinstance(record.subject, JudgementIdentity):
            return
        if isinstance(record, Failed):
            self._failed[record.key] = record.reason
        elif record.subject.task in self._tasks:
            self._places.append(line.place)
            self.keys.append(record.key)
            self.targets[self._study.identities[record.subject.model]] += 1

    def __iter__(self) -> Iterator[Output]:
        """Every output, in the order of the journal."""
        for record in self._directory.records_at(self._places):
            if isinstance(record, Response):
                identity = self._study.identities[record.subject.model]
                yield output_of(record, identity=identity, task=self._words(record))

    def _words(self, response: Response) -> str:
        subject = response.subject
        if isinstance(subject, ImportIdentity):
            return imported_task(subject)
        item, question = self._items.get((subject.task, subject.item_id)), None
        if self._plan is not None and item is not None:
            task = self._plan.tasks[subject.task]
            question = self._plan.question(task, item, subject.model, subject.condition, subject.sample)
        if question is None:
            where = f"{self._directory}: record {subject.key[:16]}…"
            raise corrupt(where, "an answer to a question of the plan", f"one about the item {subject.item_id!r}")
        return transcript(question.request.messages)

    def not_arrived(self) -> Iterator[NotArrived]:
        """What was planned and is not there."""
        if isinstance(self._study, ImportedStudy):
            yield from self._study.not_arrived
        if self._plan is None:
            return
        arrived = frozenset(self.keys)
        for (name, _), item in self._items.items():
            task = self._plan.tasks[name]
            for model in task.conditions:
                for question in self._plan.questions(task, item, model):
                    if question.key not in arrived:
                        why = self._failed.get(question.key, NOT_ASKED)
                        target = self._study.identities[model]
                        yield NotArrived(item.id, question.condition, target, question.sample, why)


def open_tasks(study: FrozenStudy) -> list[str]:
    """The tasks whose outputs are judged unless others are named: open ones, or those from elsewhere."""
    if isinstance(study, ImportedStudy):
        return [IMPORTED]
    return [name for name, task in study.config["tasks"].items() if parts_named(task["contract"]).open_ended]
