"""Everything that is on the page of a study, before it is a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from affidavit.results.page.headline import Answer
from affidavit.results.page.samples import JudgeSample, Sample
from affidavit.results.table import Table


@dataclass(frozen=True)
class Prompt:
    """The words of one condition of a task, with their placeholders."""

    task: str
    condition: str
    turns: Sequence[tuple[str, str]]
    """Who speaks, and what."""
    sha256: str | None
    """None where the words are a contract of the study's own."""


@dataclass(frozen=True)
class AskedSection:
    """What was asked of whom, and how."""

    summary: str
    tables: Sequence[Table]
    prompts: Sequence[Prompt]
    note: str = ""


@dataclass(frozen=True)
class Content:
    """Everything that is on the page."""

    name: str
    sealed: bool
    root_sha256: str | None
    by: Sequence[str]
    asked: AskedSection
    answers: Sequence[Answer]
    tables: Sequence[Table]
    comparisons: Mapping[str, Table] = field(default_factory=dict)
    """Differences from the control, by condition and control."""
    samples: Sequence[Sample] = ()
    kinds: int = 0
    """Of failing outputs there are in all."""
    findings: Sequence[JudgeSample] = ()
    notes: Sequence[str] = ()
    digests: Sequence[tuple[str, str]] = ()
    commands: Sequence[tuple[str, str]] = ()
    """What each is for, and what to type."""
