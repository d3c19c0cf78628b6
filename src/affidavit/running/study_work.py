"""The questions of a study's plan, read from the disk item by item, and the records that their answers become."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from affidavit.archive.record import Failed, Response
from affidavit.archive.study_directory import PlannedStudy
from affidavit.contracts.parts import is_ours
from affidavit.items.item import Item
from affidavit.models.model import Completion, Failure
from affidavit.study.crossing import Cell, cells
from affidavit.study.freezing import Draft, added_items, frozen_items
from affidavit.study.frozen_form import from_frozen
from affidavit.study.plan import Plan
from affidavit.study.task import Question


@dataclass
class StudyWork:
    """The questions of a study's plan."""

    draft: Draft
    frozen: PlannedStudy | None = None
    """The plan once all of it is frozen: then items are read from there."""

    @property
    def plan(self) -> Plan:
        """What is asked."""
        return self.draft.plan

    def questions(self, model: str) -> Iterator[Question]:
        """Item by item, from the disk."""
        for name, item in self.items():
            yield from self.plan.questions(self.plan.tasks[name], item, model)

    def added_questions(self, model: str) -> Iterator[Question]:
        """What a growth asks of a model beside what was planned: about new items, or more about old ones."""
        before = self.draft.before
        if before is None or not self.draft.content:
            return
        tables = from_frozen(before.config)
        asked, samples = set(cells(tables)), tables.decoding.samples
        now = {cell for cell in self.plan.cells if cell.model == model}
        if not now <= asked or self.plan.study.decoding.samples > samples:
            for name, item in frozen_items(self.draft.directory):
                for each in self.plan.questions(self.plan.tasks[name], item, model):
                    if each.sample >= samples or Cell(name, model, each.condition) not in asked:
                        yield each
        for name, item in self._added_items():
            yield from self.plan.questions(self.plan.tasks[name], item, model)

    def adds(self, models: Iterable[str]) -> bool:
        """Whether a growth asks anything of these models."""
        return any(next(self.added_questions(name), None) is not None for name in models)

    def items(self) -> Iterator[tuple[str, Item]]:
        """Task and item; whoever began before the plan was frozen goes on with the same ones."""
        at_first = self.frozen
        if at_first is not None or self.draft.before is not None:
            yield from frozen_items(self.draft.directory)
        if at_first is None:
            yield from self._added_items()

    def _added_items(self) -> Iterator[tuple[str, Item]]:
        now = self.frozen
        yield from self.draft.added() if now is None else added_items(self.draft.directory, now)

    def response(self, question: Question, completion: Completion, /) -> Response:
        """The record of an answer."""
        return self.plan.response(question, completion)

    def failure(self, question: Question, failure: Failure, /) -> Failed:
        """The record of a question that nobody answered."""
        return self.plan.failure(question, failure)

    def fits(self, question: Question, completion: Completion, /) -> bool:
        """Whether a whole answer under a grammar of ours is compliant, as the grammar has it."""
        constrained = question.request.grammar is not None and is_ours(question.task.contract)
        if not constrained or completion.finish_reason != "stop":
            return True
        return self.plan.response(question, completion).protocol_compliant is True
