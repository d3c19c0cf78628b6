"""Where everything that was planned stands: the counts, and the keys that need no more asking.

Every planned question is compliant, non-compliant, unread, failed or pending; every planned judgement valid,
invalid, failed or pending (ruling C5). A later record of a key takes the place of a failure, never of an answer.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from affidavit.archive.record import Kind
from affidavit.contracts.judge import judge as judge_contract
from affidavit.contracts.parts import Parts
from affidavit.contracts.text import text as text_contract
from affidavit.errors import StorageError
from affidavit.json_values import Fields
from affidavit.judging.plan import FrozenJudging, JudgeCell, JudgingPlan
from affidavit.models.model import PERMANENT, Reason
from affidavit.reading.tally import Tally
from affidavit.running.changed_answers import Answers
from affidavit.running.manifest import judge_sections, manifest_page, task_sections
from affidavit.study.plan import Plan
from affidavit.study.study_file import Cell

CellT = TypeVar("CellT", bound=tuple[str, ...])


class Ledger(ABC, Generic[CellT]):
    """The counts of one kind of record, by cell."""

    def __init__(self, planned: Mapping[CellT, int], *, retry_failed: bool = False) -> None:
        self.retry_failed = retry_failed
        self.settled: set[bytes] = set()
        self.tallies = {cell: Tally(pending=count) for cell, count in planned.items()}
        self.rendered: dict[CellT, tuple[str, str]] = {}
        """Of each cell, the least key whose prompt is known as the model's template made it, and that prompt."""
        self._failures: dict[str, str] = {}

    @abstractmethod
    def cell_of(self, fields: Mapping[str, object]) -> CellT:
        """The cell of a record."""

    @abstractmethod
    def parts_for(self, fields: Mapping[str, object]) -> Parts:
        """The parts of the contract that read a record: they say what is worth counting."""

    def load(self, fields: Mapping[str, object]) -> None:
        """A record of an earlier run."""
        self.add(fields)
        failed = fields["kind"] == Kind.FAILURE
        may_pass = failed and Reason(str(fields["reason"])) not in PERMANENT
        if not failed or not (may_pass or self.retry_failed):
            self.settled.add(bytes.fromhex(str(fields["key"])))

    def add(self, fields: Mapping[str, object]) -> None:
        """Count a record; a later one of the same key takes the place of a failure."""
        key, cell = str(fields["key"]), self.cell_of(fields)
        tally = self.tallies[cell]
        earlier = self._failures.pop(key, None)
        if earlier is None:
            tally.pending -= 1
        else:
            tally.failed -= 1
            tally.failures -= Counter([earlier])
        if fields["kind"] == Kind.FAILURE:
            reason = str(fields["reason"])
            self._failures[key] = reason
            tally.failed += 1
            tally.failures[reason] += 1
            return
        tally.add(fields, parts=self.parts_for(fields), has_key=fields.get("keyed") is True)
        tally.truncated += fields["finish_reason"] == "length"
        tally.add_tokens(fields["usage"])
        rendered = fields["rendered_prompt"]
        if rendered is not None and (cell not in self.rendered or key < self.rendered[cell][0]):
            self.rendered[cell] = (key, str(rendered))

    @property
    def open(self) -> int:
        """Failed or not asked yet."""
        return sum(tally.failed + tally.pending for tally in self.tallies.values())


class Standing(Ledger[Cell]):
    """The questions of a study's plan."""

    def __init__(self, plan: Plan, *, retry_failed: bool = False) -> None:
        super().__init__(plan.planned, retry_failed=retry_failed)
        self._parts = {name: task.reader.parts for name, task in plan.tasks.items()}
        self.answers = Answers(plan.study)

    def cell_of(self, fields: Mapping[str, object]) -> Cell:
        """Task, model and condition."""
        return _cell(fields)

    def parts_for(self, fields: Mapping[str, object]) -> Parts:
        """Those of the task's contract."""
        return self._parts[str(fields["task"])]

    def add(self, fields: Mapping[str, object]) -> None:
        """Count a record, and keep what flips are told from."""
        super().add(fields)
        self.answers.add(self.cell_of(fields), fields)

    def counts(self) -> Fields:
        """The counts of a seal, in the order of names: a frozen study does not know the order of its file."""
        return {
            "cells": _listed(self.tallies),
            "flips": [
                {**cell._asdict(), "control": control.condition, **flips.counts()}
                for cell, control, flips in sorted(self.answers.flips(), key=lambda each: each[0])
            ],
        }


class ImportedStanding(Ledger[Cell]):
    """Outputs that came from elsewhere: all of them are there."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__({Cell(*names): count for *names, count in config["imported"]["cells"]})

    def cell_of(self, fields: Mapping[str, object]) -> Cell:
        """Task, model and condition."""
        return _cell(fields)

    def parts_for(self, fields: Mapping[str, object]) -> Parts:
        """Those of the contract that takes any text."""
        return text_contract

    def counts(self) -> Fields:
        """The counts of a seal."""
        return {"cells": _listed(self.tallies), "flips": []}


class JudgeStanding(Ledger[JudgeCell]):
    """The judgements of a judging."""

    def __init__(self, plan: JudgingPlan, targets: Mapping[str, int], *, retry_failed: bool = False) -> None:
        planned: Counter[JudgeCell] = Counter()
        for judge in plan.judges.values():
            for condition in judge.conditions:
                for target, count in targets.items():
                    method = plan.method(judge, target)
                    planned[JudgeCell(judge.name, condition, method)] += count * judge.repeats
        super().__init__(planned, retry_failed=retry_failed)

    def cell_of(self, fields: Mapping[str, object]) -> JudgeCell:
        """Judge, condition and method."""
        asked: Any = fields["asked"]
        return JudgeCell(str(fields["judge"]), str(fields["judging_condition"]), str(asked["method"]))

    def parts_for(self, fields: Mapping[str, object]) -> Parts:
        """Those of the judge contract."""
        return judge_contract

    def counts(self) -> Fields:
        """The counts of a seal."""
        return {"judging": _listed(self.tallies)}


def _cell(fields: Mapping[str, object]) -> Cell:
    return Cell(str(fields["task"]), str(fields["model"]), str(fields["condition"]))


def asks_again(tally: Tally, *, retry_failed: bool) -> bool:
    """Whether anything is pending, or failed in a way that may pass."""
    return tally.pending > 0 or any(retry_failed or reason not in PERMANENT for reason in +tally.failures)


def is_judgement(fields: Mapping[str, object]) -> bool:
    """Whether a record tells of a judgement, given or failed."""
    return "judged_key" in fields


def _listed(tallies: Mapping[Any, Tally]) -> list[Fields]:
    return [{**cell._asdict(), **tallies[cell].counts()} for cell in sorted(tallies)]


# --- all counts of a study's directory ---


def judging_is_gone() -> StorageError:
    """There are judgements, and nothing says under which terms (ruling J7)."""
    hint = "It is written before the first judge is asked. Restore it from a copy."
    return StorageError("judging.json", expected="the terms of the judgements", found="no such file", hint=hint)


class StudyBooks:
    """The ledgers, each record in the one where it belongs."""

    def __init__(
        self,
        config: Mapping[str, Any],
        plan: Plan | None,
        judging: FrozenJudging | None,
        *,
        retry_failed: bool = False,
    ) -> None:
        self.name, self.seed = str(config["name"]), int(config["seed"])
        self.plan = plan
        self.outputs: Standing | ImportedStanding = (
            ImportedStanding(config) if plan is None else Standing(plan, retry_failed=retry_failed)
        )
        self.judging_plan: JudgingPlan | None = None
        self.judging: JudgeStanding | None = None
        if judging is not None:
            self.judging_plan = JudgingPlan(self.name, self.seed, judging.terms, judging.judges)
            self.judging = JudgeStanding(self.judging_plan, judging.targets, retry_failed=retry_failed)

    def load(self, record: Mapping[str, object]) -> None:
        """A record of an earlier run."""
        if not is_judgement(record):
            self.outputs.load(record)
        elif self.judging is None:
            raise judging_is_gone()
        else:
            self.judging.load(record)

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
        return manifest_page(self.name, sections)
