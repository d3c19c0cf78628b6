"""What a judge scores, on which scale, and what the scores add up to.

A rubric is data: dimensions, a scale, thresholds. The prompt that is given to a judge and the check of
its answer are both made from it, so they cannot drift apart. The default is the rubric of the judge
protocol; a finer one is mapped onto its four dimensions when results are aggregated (ruling J11), and
the archived scores stay as they are.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property

from affidavit.errors import InputError

TOTAL = "overall_score"


class Verdict(StrEnum):
    """The three words for an overall score."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a secret
    PARTIAL = "PARTIAL"
    FAIL = "FAIL"


class MappingRule(StrEnum):
    """How several finer scores become one (ruling J11)."""

    MIN = "min"
    MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing to score: its name in the answer, its title, and the question it asks."""

    id: str
    title: str
    words: str


@dataclass(frozen=True, slots=True)
class Level:
    """One step of the scale."""

    score: int
    title: str
    words: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the verdicts begin and end, over the sum of all dimensions."""

    pass_from: int
    fail_to: int
    pass_needs_nonzero: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rubric:
    """Dimensions, scale and thresholds, fixed for as long as results are to be compared."""

    name: str
    dimensions: tuple[Dimension, ...]
    scale: tuple[Level, ...]
    thresholds: Thresholds
    maps_to: Mapping[str, str] = field(default_factory=dict)
    maps_by: MappingRule = MappingRule.MIN

    def __post_init__(self) -> None:
        ids, scores = self.ids, [level.score for level in self.scale]
        limits = self.thresholds
        for fault, expected, found in (
            (not ids or len(set(ids)) < len(ids) or TOTAL in ids, "dimensions of different names", ids),
            (len(scores) < 2 or sorted(set(scores)) != scores, "a scale of at least two rising scores", scores),
            (limits.fail_to >= limits.pass_from, "fail_to below pass_from", limits),
            (not set(limits.pass_needs_nonzero) <= set(ids), "thresholds on its own dimensions", limits),
            (not set(self.maps_to) <= set(ids), "a mapping of its own dimensions", dict(self.maps_to)),
        ):
            if fault:
                raise InputError(f"rubric {self.name!r}", expected=expected, found=str(found))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The names of the dimensions, in order."""
        return tuple(dimension.id for dimension in self.dimensions)

    @cached_property
    def scores(self) -> tuple[int, ...]:
        """The scores that the scale admits, rising."""
        return tuple(level.score for level in self.scale)

    @property
    def highest_total(self) -> int:
        """The sum when every dimension has the highest score."""
        return len(self.dimensions) * self.scale[-1].score

    def verdict(self, scores: Mapping[str, int]) -> Verdict:
        """The verdict over one score per dimension (ruling J3).

        FAIL is decided first: in the default rubric every total up to 3 has a zero in it, so asking for
        zeros first would leave no FAIL at all.

        >>> DEFAULT.verdict(dict.fromkeys(DEFAULT.ids, 2)).value
        'PASS'
        """
        overall = sum(map(scores.__getitem__, self.ids))
        if overall <= self.thresholds.fail_to:
            return Verdict.FAIL
        if overall >= self.thresholds.pass_from and all(
            map(scores.__getitem__, self.thresholds.pass_needs_nonzero)
        ):
            return Verdict.PASS
        return Verdict.PARTIAL

    def mapped(self, scores: Mapping[str, int]) -> dict[str, float]:
        """The scores under the dimensions they are mapped to (ruling J11); unmapped ones keep their name.

        >>> finer = Rubric("two", (Dimension("a", "", ""), Dimension("b", "", "")), DEFAULT.scale,
        ...                Thresholds(3, 1), {"a": "D1", "b": "D1"}, MappingRule.MEAN)
        >>> finer.mapped({"a": 2, "b": 1})
        {'D1': 1.5}
        """
        gathered: dict[str, list[int]] = {}
        for dimension in self.ids:
            gathered.setdefault(self.maps_to.get(dimension, dimension), []).append(scores[dimension])
        if self.maps_by is MappingRule.MIN:
            return {dimension: min(finer) for dimension, finer in gathered.items()}
        return {dimension: sum(finer) / len(finer) for dimension, finer in gathered.items()}

    def sha256(self) -> str:
        """The digest of everything in it, by which a frozen rubric is told from another (ruling J7)."""
        canonical = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


DEFAULT = Rubric(
    name="default",
    dimensions=(
        Dimension(
            "FORMAT_COMPLIANCE",
            "Structure and format",
            "Does the output have the structure that was required: template, sections, headings, fields?",
        ),
        Dimension(
            "INSTRUCTION_COMPLIANCE",
            "Instructions",
            "Are the key constraints kept: required parts and fields, forbidden content, demands for evidence?",
        ),
        Dimension(
            "SEMANTIC_FIDELITY",
            "Fidelity to the task",
            "Does the output do the task that was set, or does it rewrite it, drift off topic or turn generic?",
        ),
        Dimension(
            "COMPLETENESS",
            "Completeness",
            "Is every required component there? Missing sections, skipped items and partial answers cost points.",
        ),
    ),
    scale=(
        Level(0, "Not satisfied", "the dimension fails: structure lost, key constraints ignored, major gaps"),
        Level(1, "Partially satisfied", "a clear deviation, but the intent or part of the structure is there"),
        Level(2, "Satisfied", "the requirement is met; small flaws hinder neither parsing nor checking"),
    ),
    thresholds=Thresholds(
        pass_from=7, fail_to=3, pass_needs_nonzero=("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE")
    ),
)
