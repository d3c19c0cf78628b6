"""The ledger: what became of everything that was planned, by cell, and the keys that need no more asking.

Every planned question is compliant, non-compliant, unread, failed or pending; every planned judgement valid,
invalid, failed or pending (ruling C5). A later record of a key takes the place of a failure, never of an answer.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

from affidavit.archive.record import (
    Failed,
    Judgement,
    JudgementIdentity,
    Label,
    Record,
    Response,
)
from affidavit.archive.study_directory import FrozenStudy, ImportedStudy, parts_of_study
from affidavit.contracts.judge import judge as judge_contract
from affidavit.contracts.parts import Parts
from affidavit.errors import StorageError
from affidavit.json_values import Fields
from affidavit.judging.plan import JudgeCell, JudgingPlan
from affidavit.judging.terms import FrozenJudging
from affidavit.models.model import PERMANENT
from affidavit.reading.tally import Tally
from affidavit.running.alike_responses import MOST_ALIKE, AlikeResponses, what_counts
from affidavit.running.asked_now import AskedNow, left_to_ask
from affidavit.running.changed_answers import Answers
from affidavit.running.manifest import judge_sections, manifest_page, task_sections
from affidavit.running.server_words import ServerWords
from affidavit.study.crossing import Cell
from affidavit.study.plan import Plan

CellT = TypeVar("CellT", bound=tuple[str, ...])


class Ledger(ABC, Generic[CellT]):
    """The counts of one kind of record, by cell."""

    def __init__(self, planned: Mapping[CellT, int], *, retry_failed: bool = False) -> None:
        self.retry_failed = retry_failed
        self.settled: set[bytes] = set()
        """The keys that need no more asking."""
        self.tallies = {cell: Tally(pending=count) for cell, count in planned.items()}
        self._by_names: Mapping[tuple[str, ...], Tally] = self.tallies  # type: ignore[assignment]  # a cell is a tuple
        self.rendered: dict[CellT, tuple[str, str]] = {}
        """Of each cell, the least key whose prompt is known as the model's template made it, and that prompt."""
        self.server_words = ServerWords()
        self._failures: dict[str, str] = {}
        self._now: AskedNow[CellT] | None = None
        """Once a run has begun to ask."""

    @abstractmethod
    def asks(self, cell: CellT) -> str:
        """The model that the questions of a cell are put to."""

    @abstractmethod
    def cell(self, names: tuple[str, str, str]) -> CellT:
        """The cell of these names."""

    @abstractmethod
    def parts(self, names: tuple[str, str, str]) -> Parts:
        """The parts of the contract of the cell of these names: they say what is worth counting."""

    def begin(self, models: Collection[str]) -> AskedNow[CellT]:
        """What a run of these models will ask; whatever is added from now on is its own."""
        left = {cell: left_to_ask(tally, retry_failed=self.retry_failed) for cell, tally in self.tallies.items()}
        asked = {cell: count for cell, count in left.items() if count and self.asks(cell) in models}
        self._now = AskedNow(self.tallies, asked)
        return self._now

    def load(self, record: Response | Judgement | Failed) -> None:
        """A record of an earlier run."""
        self.add(record)
        if not isinstance(record, Failed) or (record.reason in PERMANENT and not self.retry_failed):
            self.settled.add(bytes.fromhex(record.key))

    def add(self, record: Response | Judgement | Failed) -> None:
        """Count a record; a later one of the same key takes the place of a failure."""
        subject = record.subject
        # There may be a million records: no cell is made of names that are as good a key.
        key, names = subject.key, subject.cell
        tally = self._by_names.get(names)
        if tally is None:
            raise _unplanned(key, names)
        if self._now is not None:
            self._now.ended[self.cell(names)] += 1
        earlier = self._failures.pop(key, None) if self._failures else None
        if earlier is None:
            if not tally.pending:
                raise _unplanned(key, names)
            tally.pending -= 1
        else:
            tally.failed -= 1
            tally.failures -= Counter([earlier])
        if isinstance(record, Failed):
            self._failures[key] = record.reason
            tally.failed += 1
            tally.failures[record.reason] += 1
            return
        tally.add(record.reading, parts=self.parts(names), right_answer_known=_known(record))
        tally.truncated += record.finish_reason == "length"
        tally.add_tokens(record.usage)
        self.server_words.add(record)
        if isinstance(record, Response):
            self._see(record)
        if (rendered := record.rendered_prompt) is not None:
            cell = self.cell(names)
            if cell not in self.rendered or key < self.rendered[cell][0]:
                self.rendered[cell] = (key, rendered)

    def failure_of(self, key: str) -> str | None:
        """Why a question has no answer, where the last that was heard of it is a failure."""
        return self._failures.get(key)

    def add_all(self, records: Iterable[Response | Failed]) -> None:
        """Count records of earlier runs, as `add` does one by one; those that are alike, together."""
        alike: dict[bytes, AlikeResponses] = {}
        for record in records:
            key = what_counts(record) if isinstance(record, Response) else None
            if key is None or isinstance(record, Failed) or (self._failures and record.key in self._failures):
                self.add(record)
            elif (found := alike.get(key)) is not None and found.tally.pending:
                found.times += 1
                found.tally.pending -= 1
                found.tally.add_tokens(record.usage)
                self._see(record)
            else:
                self.add(record)
                if len(alike) == MOST_ALIKE:
                    self._count(alike)
                alike[key] = self._alone(record)
        self._count(alike)

    def _alone(self, response: Response) -> AlikeResponses:
        names = response.subject.cell
        return AlikeResponses(response, self._by_names[names], self.parts(names), known=_known(response))

    def _count(self, alike: dict[bytes, AlikeResponses]) -> None:
        for each in alike.values():
            each.count(self.server_words)
        alike.clear()

    def _see(self, response: Response) -> None:
        """Keep what is kept of every response, whatever it is like."""

    @property
    def open(self) -> int:
        """Failed or not asked yet."""
        return sum(tally.failed + tally.pending for tally in self.tallies.values())


def _known(record: Response | Judgement) -> bool | None:
    """Whether the right answer is known; a judgement is compared with none."""
    return record.keyed if isinstance(record, Response) else False


def _unplanned(key: str, cell: tuple[str, ...]) -> StorageError:
    return StorageError(
        f"record {key[:16]}…",
        expected="one that the plan has a place for",
        found=f"one of {', '.join(cell)}",
        hint="`affidavit verify` says where it stands, and what else does not follow.",
    )


class QuestionLedger(Ledger[Cell]):
    """The questions of a study's plan."""

    def __init__(self, plan: Plan, *, retry_failed: bool = False) -> None:
        super().__init__(plan.planned, retry_failed=retry_failed)
        self._parts = {name: task.reader.parts for name, task in plan.tasks.items()}
        self.answers = Answers(plan.study)

    def asks(self, cell: Cell) -> str:
        """The model."""
        return cell.model

    def cell(self, names: tuple[str, str, str]) -> Cell:
        """Task, model and condition."""
        return Cell(*names)

    def parts(self, names: tuple[str, str, str]) -> Parts:
        """Those of the task's contract."""
        return self._parts[names[0]]

    def _see(self, response: Response) -> None:
        """Keep the answers that are compared with those of a control condition."""
        self.answers.add(response)

    def counts(self) -> Fields:
        """The counts of a seal, in the order of names: a frozen study does not know the order of its file."""
        return {
            "cells": _listed(self.tallies),
            "flips": [
                {**cell._asdict(), "control": control.condition, **flips.counts()}
                for cell, control, flips in sorted(self.answers.flips(), key=lambda each: each[0])
            ],
        }


class ImportLedger(Ledger[Cell]):
    """Outputs that came from elsewhere: all of them are there."""

    def __init__(self, cells: Mapping[tuple[str, str, str], int], parts: Callable[[str], Parts]) -> None:
        """`parts` are those of each task's contract, as they were frozen."""
        super().__init__({Cell(*names): count for names, count in cells.items()})
        self._parts = parts

    def take(self, record: Response | Failed) -> None:
        """Count a record that nobody knew of before."""
        cell = self.cell(record.subject.cell)
        if cell not in self.tallies:
            self.tallies[cell] = Tally()
        self.tallies[cell].pending += 1
        self.add(record)

    def take_many(self, record: Response | Failed, times: int) -> None:
        """The same of so many records that are alike in all that is counted."""
        tally = self.tallies.setdefault(self.cell(record.subject.cell), Tally())
        if isinstance(record, Failed):
            tally.failed += times
            tally.failures[record.reason] += times
            return
        parts = self.parts(record.subject.cell)
        tally.add(record.reading, parts=parts, right_answer_known=record.keyed, times=times)

    def asks(self, cell: Cell) -> str:
        """The model."""
        return cell.model

    def cell(self, names: tuple[str, str, str]) -> Cell:
        """Task, model and condition."""
        return Cell(*names)

    def parts(self, names: tuple[str, str, str]) -> Parts:
        """Those of the task's contract."""
        return self._parts(names[0])

    @property
    def pending(self) -> int:
        """Rows that were to be taken in and are not there."""
        return sum(tally.pending for tally in self.tallies.values())

    def counts(self) -> Fields:
        """The counts of a seal."""
        return {"cells": _listed(self.tallies), "flips": []}


class JudgingLedger(Ledger[JudgeCell]):
    """The judgements of a judging."""

    def __init__(self, plan: JudgingPlan, targets: Mapping[str, int], *, retry_failed: bool = False) -> None:
        planned: Counter[JudgeCell] = Counter()
        for judge in plan.judges.values():
            for condition in judge.conditions:
                for target, count in targets.items():
                    method = plan.method(judge, target)
                    planned[JudgeCell(judge.name, condition, method)] += count * judge.repeats
        super().__init__(planned, retry_failed=retry_failed)

    def asks(self, cell: JudgeCell) -> str:
        """The judge."""
        return cell.judge

    def cell(self, names: tuple[str, str, str]) -> JudgeCell:
        """Judge, condition and method."""
        return JudgeCell(*names)

    def parts(self, names: tuple[str, str, str]) -> Parts:
        """Those of the judge contract."""
        return judge_contract

    def counts(self) -> Fields:
        """The counts of a seal."""
        return {"judging": _listed(self.tallies)}


def asks_again(tally: Tally, *, retry_failed: bool) -> bool:
    """Whether anything is pending, or failed in a way that may pass."""
    return left_to_ask(tally, retry_failed=retry_failed) > 0


def _listed(tallies: Mapping[Any, Tally]) -> list[Fields]:
    return [{**cell._asdict(), **tallies[cell].counts()} for cell in sorted(tallies)]


# --- all counts of a study's directory ---


class StudyLedger:
    """The ledgers of a directory, each record in the one where it belongs."""

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        seed: int,
        outputs: QuestionLedger | ImportLedger,
        judging: FrozenJudging | None,
        *,
        plan: Plan | None = None,
        retry_failed: bool = False,
    ) -> None:
        self.name = name
        """Of the study."""
        self.seed = seed
        self.plan = plan
        self.outputs = outputs
        self.judging_plan: JudgingPlan | None = None
        self.judging: JudgingLedger | None = None
        if judging is not None:
            self.open_judging(judging, retry_failed=retry_failed)

    @classmethod
    def planned(cls, plan: Plan, judging: FrozenJudging | None, *, retry_failed: bool = False) -> Self:
        """Of a study that was planned here."""
        header, questions = plan.study.study, QuestionLedger(plan, retry_failed=retry_failed)
        return cls(header.name, header.seed, questions, judging, plan=plan, retry_failed=retry_failed)

    @classmethod
    def of(
        cls,
        study: FrozenStudy,
        plan: Plan | None,
        judging: FrozenJudging | None,
        *,
        retry_failed: bool = False,
    ) -> Self:
        """Of a study as it was frozen; one that was planned here is counted by its plan."""
        if isinstance(study, ImportedStudy):
            outputs = ImportLedger(study.cells, parts_of_study(study).__getitem__)
            return cls(study.name, study.seed, outputs, judging, retry_failed=retry_failed)
        if plan is None:
            raise ValueError("a study that was planned here is counted by its plan")
        return cls.planned(plan, judging, retry_failed=retry_failed)

    @property
    def questions(self) -> QuestionLedger:
        """The outputs of a study that was planned here."""
        assert isinstance(self.outputs, QuestionLedger)  # noqa: S101 - nobody else asks
        return self.outputs

    def open_judging(
        self, judging: FrozenJudging, *, retry_failed: bool = False
    ) -> tuple[JudgingPlan, JudgingLedger]:
        """Plan and ledger of a judging under these terms; all of its judgements are pending."""
        self.judging_plan = JudgingPlan(self.name, self.seed, judging.terms, judging.judges)
        self.judging = JudgingLedger(self.judging_plan, judging.targets, retry_failed=retry_failed)
        return self.judging_plan, self.judging

    def load(self, record: Record) -> None:
        """A record of an earlier run; labels are counted elsewhere."""
        if not isinstance(record, Label):
            self._ledger_of(record).load(record)

    def count_all(self, records: Iterable[Record]) -> None:
        """The same where nothing will be asked: which keys need no more asking is not remembered."""
        self.outputs.add_all(self._of_outputs(records))

    def _of_outputs(self, records: Iterable[Record]) -> Iterator[Response | Failed]:
        """The records of outputs; judgements are counted on the way."""
        for record in records:
            if isinstance(record, Label):
                continue
            if isinstance(record, Judgement) or isinstance(record.subject, JudgementIdentity):
                self._ledger_of(record).add(record)
            else:
                yield record

    def _ledger_of(self, record: Response | Judgement | Failed) -> Ledger[Any]:
        """Where a record belongs."""
        if not isinstance(record.subject, JudgementIdentity):
            return self.outputs
        if self.judging is None:
            raise judging_is_gone()
        return self.judging

    def counts(self) -> Fields:
        """The counts of a seal."""
        return {**self.outputs.counts(), **({} if self.judging is None else self.judging.counts())}

    def manifest(self) -> str:
        """The list of the prompts that were really used."""
        sections: list[str] = []
        if self.plan is not None:
            sections += task_sections(self.plan, self.outputs.tallies, self.outputs.rendered)
        if self.judging is not None and self.judging_plan is not None:
            sections += judge_sections(self.judging_plan, self.judging.tallies, self.judging.rendered)
        return manifest_page(self.name, sections, asked_here=self.plan is not None)


def judging_is_gone() -> StorageError:
    """There are judgements, and nothing says under which terms (ruling J7)."""
    hint = "It is written before the first judgement. Restore it from a copy."
    return StorageError("judging.json", expected="the terms of the judgements", found="no such file", hint=hint)
