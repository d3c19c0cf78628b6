"""An evaluation: what a judge was asked, what its answer says, and what became of each quote."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from affidavit.contracts.bounded_findings import FurtherFindings
from affidavit.contracts.contract import Span
from affidavit.contracts.finding import Finding, Flag
from affidavit.contracts.rubric import Rubric, Verdict
from affidavit.json_values import Fields

IDENTIFIERS = ("question_id", "prompt_variant", "target_model", "output_id")
_IDENTIFIERS = frozenset(IDENTIFIERS)
NAMES = ("judge_model", *IDENTIFIERS)
META = ("judge_model", "target_model", "question_id", "prompt_variant", "output_id", "method", "timestamp")
MOST_JUDGE_FLAGS = 200
"""Of the judge's own flags that are kept; the others are counted."""
LONGEST_QUOTE = 60
"""Words; a longer quote is noted, and invalidates nothing."""


class JudgingMethod(StrEnum):
    """Whose output is judged: another model's, or the judge's own."""

    CROSS = "cross_judge"
    SELF = "self_judge"


class EvidenceKind(StrEnum):
    """What became of one evidence item."""

    EXACT = "exact"
    NORMALISED = "normalised"
    ELIDED = "elided"
    ABSENT = "absent"
    ABSENCE = "absence"
    """A blank quote: evidence that something is not there."""
    UNCHECKED = "unchecked"
    """There was no judged output to look in."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a judge was asked: the meta it must repeat, the output it judged, the rubric it was given.

    All may be unknown: without meta nothing is compared, without the judged output no quote is checked,
    and without a rubric the contract's own applies.
    """

    meta: Mapping[str, str] = field(default_factory=dict)
    judged_output: str | None = None
    rubric: Rubric | None = None
    repeat: str | None = None
    """Which asking it was, where the same was asked several times."""

    @property
    def identified(self) -> bool:
        """Whether all of it is known that tells one output from others (ruling J9)."""
        return self.meta.keys() >= _IDENTIFIERS


NOTHING_ASKED = Asked()


class Evidence(NamedTuple):
    """One quote, the dimension it stands for, and where it was found in the judged output."""

    dimension: str
    quote: str
    kind: EvidenceKind
    span: Span | None

    def fields(self) -> Fields:
        """The evidence as a JSON object."""
        start, end = self.span if self.span is not None else (None, None)
        return {
            "dimension": self.dimension,
            "quote": self.quote,
            "kind": self.kind,
            "start": start,
            "end": end,
        }


class EvaluationReading(NamedTuple):
    """What one judge's answer says, and everything that speaks against it."""

    findings: tuple[Finding, ...]
    flags: tuple[Flag, ...]
    evidence_checked: bool
    identifiers_checked: bool
    """Whether the identifiers that the judge states could be compared with those that it was given."""
    meta: Mapping[str, str]
    """What the judge states, as far as it is text."""
    scores: Mapping[str, int] | None = None
    """One per dimension, if all are there and on the scale."""
    verdict: Verdict | None = None
    judge_flags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    further_findings: tuple[FurtherFindings, ...] = ()
    """Those beyond the findings that are kept, counted by code (ruling J4)."""
    further_judge_flags: int = 0

    @property
    def protocol_compliant(self) -> bool:
        """No flag was raised: the evaluation is valid."""
        return not self.flags

    def fields(self) -> Fields:
        """The evaluation's columns in a row."""
        return {
            "valid": self.protocol_compliant,
            "flags": list(self.flags),
            "findings": [finding.fields() for finding in self.findings],
            "further_findings": [further.fields() for further in self.further_findings],
            "judge_flags": list(self.judge_flags),
            "further_judge_flags": self.further_judge_flags,
            "scores": None if self.scores is None else dict(self.scores),
            "verdict": self.verdict,
            "evidence": [evidence.fields() for evidence in self.evidence],
            "evidence_checked": self.evidence_checked,
            "identifiers_checked": self.identifiers_checked,
        }


def own_method(judge_model: str, target_model: str) -> JudgingMethod:
    """How a judge judges a target: itself, if the two names are the same string (ruling J13)."""
    return JudgingMethod.SELF if judge_model == target_model else JudgingMethod.CROSS
