"""The terms of a judging, frozen before the first judge is asked (ruling J7): rubric, prompts, date, outputs."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from affidavit.archive.study_directory import NotArrived
from affidavit.contracts.contract import label
from affidavit.contracts.evaluation import JudgingMethod
from affidavit.contracts.judge import Judge
from affidavit.contracts.rubric import Dimension, Level, MappingRule, Rubric, Thresholds
from affidavit.json_values import Fields, digest
from affidavit.judging.prompt import PROMPT_IDS, judge_template

FREE, SCHEMA = "free", "schema"
"""The conditions of judging: as the judge likes, or held to the shape of an evaluation."""


@dataclass(frozen=True)
class Terms:
    """What is frozen at the first judging."""

    rubric: Rubric
    date: str
    """Given to every judge, the same for all requests."""
    outputs: tuple[str, ...]
    """The keys of the outputs, sorted."""

    @cached_property
    def contract(self) -> Judge:
        """The contract over this rubric."""
        return Judge(self.rubric)

    def facts(self) -> Fields:
        """Everything that the digest is over."""
        return {
            "contract": label(self.contract),
            "contract_params": dict(self.contract.params),
            "rubric": asdict(self.rubric),
            "prompts": {PROMPT_IDS[each]: digest(judge_template(self.contract, each)) for each in JudgingMethod},
            "date": self.date,
            "evaluation_set": {"count": len(self.outputs), "sha256": digest(self.outputs)},
        }

    @cached_property
    def digest(self) -> str:
        """By which these terms are told from others (ruling J7)."""
        return digest(self.facts())

    @classmethod
    def of(cls, facts: Mapping[str, Any], outputs: Iterable[str]) -> "Terms":
        """The terms whose facts these are."""
        return cls(rubric_of(facts["rubric"]), str(facts["date"]), tuple(outputs))


def rubric_of(fields: Mapping[str, Any]) -> Rubric:
    """The rubric that was frozen as these fields."""
    limits = fields["thresholds"]
    return Rubric(
        fields["name"],
        tuple(Dimension(**each) for each in fields["dimensions"]),
        tuple(Level(**each) for each in fields["scale"]),
        Thresholds(limits["pass_from"], limits["fail_to"], tuple(limits["pass_needs_nonzero"])),
        fields["maps_to"],
        MappingRule(fields["maps_by"]),
    )


@dataclass(frozen=True)
class JudgeTerms:
    """How one judge is asked; frozen when it is first asked."""

    name: str
    """In the study, or in the file of models."""
    identity: str
    request: Mapping[str, object]
    """What every request to it carries beside messages, seed and schema, merged (ruling C9)."""
    conditions: tuple[str, ...] = (FREE,)
    repeats: int = 1

    def facts(self) -> Fields:
        """As it is frozen."""
        return {
            "identity": self.identity,
            "request": dict(self.request),
            "conditions": list(self.conditions),
            "repeats": self.repeats,
        }


@dataclass(frozen=True)
class FrozenJudging:
    """A judging as it stands in a study's directory."""

    terms: Terms
    judges: tuple[JudgeTerms, ...]
    not_arrived: tuple[NotArrived, ...]
    """Outputs that were planned and were not there when the set was frozen."""
    tasks: tuple[str, ...]
    targets: Mapping[str, int]
    """How many outputs of the set each target gave."""
