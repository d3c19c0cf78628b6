"""The outputs of a study's directory that can be judged.

Where each stands is noted while the journal is walked for other reasons; its text is read when its turn comes, so
that a large study stays small in memory.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from affidavit.archive.corruption import corrupt
from affidavit.archive.record import Failed, ImportIdentity, JudgementIdentity, Label, Response
from affidavit.archive.segments import Line, Place
from affidavit.archive.study_directory import FrozenStudy, NotArrived, StudyDirectory
from affidavit.contracts.registry import parts_named
from affidavit.items.item import Item
from affidavit.judging.outputs import MissingOutputs, imported_task, output_of, transcript
from affidavit.judging.plan import Output
from affidavit.judging.task_words import Unasked, is_known
from affidavit.judging.terms import FrozenJudging
from affidavit.reading.output_columns import OPTION_TEXTS
from affidavit.study.freezing import frozen_items
from affidavit.study.plan import Plan

NOT_ASKED = "not asked yet"


class StudyOutputs:
    """The outputs of some tasks of a study, or of an import, as far as its journal was shown to this."""

    def __init__(
        self, directory: StudyDirectory, study: FrozenStudy, plan: Plan | None, tasks: Collection[str]
    ) -> None:
        self._directory = directory
        self.where = str(directory)
        self._study = study
        self._plan = plan
        self._tasks = frozenset(tasks)
        self._items: dict[tuple[str, str], Item] = {}
        if plan is not None:
            self._items = {(task, item.id): item for task, item in frozen_items(directory) if task in self._tasks}
        self._places: list[Place] = []
        self._failed: dict[str, str] = {}
        self._missing = MissingOutputs()
        self.keys: list[str] = []
        """Of all outputs, in the order of the journal."""
        self.targets: Counter[str] = Counter()
        """How many outputs there are of each model, by its identity."""
        self.unasked: list[Unasked] = []
        """Outputs from elsewhere that came without the words of their tasks."""
        self.how_to_tell = (
            "Take them in again, into another --out: `judge FILE` with --tasks FILE, or `read` with a column "
            "`prompt`; or have judges told that they are not known: --without-task"
        )
        """What to do about these."""

    def late(self, frozen: FrozenJudging) -> int:
        """Outputs that arrived after the set of a judging was frozen."""
        return len(set(self.keys).difference(frozen.terms.outputs))

    def add(self, line: Line) -> None:
        """One line of the journal; all of them are shown to this, in order."""
        record = line.record
        if isinstance(record, Label) or isinstance(record.subject, JudgementIdentity):
            return
        if isinstance(record.subject, ImportIdentity) and record.subject.task in self._tasks:
            self._missing.add(record)
        if isinstance(record, Failed):
            self._failed[record.key] = record.reason
        elif record.subject.task in self._tasks:
            self._places.append(line.place)
            self.keys.append(record.key)
            self.targets[self._study.identities[record.subject.model]] += 1
            if isinstance(record.subject, ImportIdentity):
                self.unasked += _unasked(record.subject)

    def __iter__(self) -> Iterator[Output]:
        """Every output, in the order of the journal."""
        for record in self._directory.records_at(self._places):
            if isinstance(record, Response):
                identity = self._study.identities[record.subject.model]
                words, options = self._question(record)
                yield output_of(record, identity=identity, task=words, options=options)

    def _question(self, response: Response) -> tuple[str, object]:
        """The words that were answered, and the options in them."""
        subject = response.subject
        if isinstance(subject, ImportIdentity):
            return imported_task(subject), subject.row.get(OPTION_TEXTS)
        item, question = self._items.get((subject.task, subject.item_id)), None
        if self._plan is not None and item is not None:
            task = self._plan.tasks[subject.task]
            question = self._plan.question(task, item, subject.model, subject.condition, subject.sample)
        if question is None:
            where = f"{self._directory}: record {subject.key[:16]}…"
            raise corrupt(where, "an answer to a question of the plan", f"one about the item {subject.item_id!r}")
        return transcript(question.request.messages), question.item.fields.get(OPTION_TEXTS)

    def not_arrived(self) -> Iterator[NotArrived]:
        """What was planned and is not there."""
        if self._plan is None:
            yield from self._missing.listed()
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


class TakenOutputs:
    """Outputs from elsewhere, before they stand in any directory."""

    def __init__(
        self,
        taken: Iterable[Response | Failed],
        tasks: Collection[str],
        *,
        where: str,
        unused_words: Sequence[str] = (),
    ) -> None:
        """`unused_words`: rows of the file of tasks that are about none of them."""
        self.where = where
        self._missing, self._responses = MissingOutputs(), list[Response]()
        for record in taken:
            if isinstance(record.subject, ImportIdentity) and record.subject.task in tasks:
                self._missing.add(record)
                self._responses += [record] if isinstance(record, Response) else []
        self.keys = [response.key for response in self._responses]
        self.targets = Counter(response.subject.model for response in self._responses)
        self.unasked = [
            each
            for response in self._responses
            if isinstance(response.subject, ImportIdentity)
            for each in _unasked(response.subject)
        ]
        self.how_to_tell = (
            "Give them with --tasks FILE, whose rows have question_id and prompt, or in a column prompt beside "
            "raw_output; or have judges told that they are not known: --without-task"
        )
        if unused_words:
            named = f"{unused_words[0]}{', and others' if len(unused_words) > 1 else ''}"
            self.how_to_tell = f"A row of the file of tasks is about no output: {named}. {self.how_to_tell}"

    def __iter__(self) -> Iterator[Output]:
        """Every output, in its order."""
        for response in self._responses:
            if isinstance(response.subject, ImportIdentity):
                words = imported_task(response.subject)
                yield output_of(response, identity=response.subject.model, task=words)

    def not_arrived(self) -> Iterator[NotArrived]:
        """What is missing among them."""
        return iter(self._missing.listed())


def _unasked(subject: ImportIdentity) -> list[Unasked]:
    return [] if is_known(subject.prompt) else [Unasked(subject.item_id, subject.condition)]


def open_tasks(study: FrozenStudy) -> list[str]:
    """The tasks whose outputs are judged unless others are named: open ones."""
    return [name for name, task in study.config["tasks"].items() if parts_named(task["contract"]).open_ended]
