"""Everything that is on the page of a study, before it is a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from affidavit.results.page.headline import Answer
from affidavit.results.page.samples import JudgeSample, Sample
from affidavit.results.table import Table


@dataclass(frozen=True)
class Prompt:
    """The prompt of one condition of a task, with its placeholders."""

    task: str
    condition: str
    turns: Sequence[tuple[str, str]]
    """Role and content of each message."""
    sha256: str | None
    """None where the prompt is made by code of the study's own."""


@dataclass(frozen=True)
class AskedSection:
    """Models, tasks, conditions and prompts."""

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
    """How many kinds of outputs there are, non-compliant or wrong, shown or not."""
    findings: Sequence[JudgeSample] = ()
    notes: Sequence[str] = ()
    digests: Sequence[tuple[str, str]] = ()
    commands: Sequence[tuple[str, str]] = ()
    """What each is for, and what to type."""
    seal_sha256: str | None = None
    """The digest to publish; None if the study is not sealed."""
    trial: bool = False
    imported: bool = False
    """Whether the outputs were made elsewhere: nothing is known of requests, and keys are digests of names."""
    made_of: str = "{}"
    """What the page was made of and how, as JSON: with it, it can be made again and compared."""
