"""All counts of a study's directory: of its questions, or of outputs from elsewhere, and of its judging."""

from collections.abc import Mapping
from typing import Any

from affidavit.contract import Fields
from affidavit.errors import StorageError
from affidavit.judging import FrozenJudging, JudgingPlan
from affidavit.plan import Plan
from affidavit.prompt_manifest import judge_sections, manifest_page, task_sections
from affidavit.standing import ImportedStanding, JudgeStanding, Standing, is_judgement


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
