"""Everything that is on the page of a study, before it is a page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from affidavit.results.groups import CELL
from affidavit.results.page.chosen_outputs import PER_KIND
from affidavit.results.page.headline import Summary
from affidavit.results.page.judge_samples import JudgeSample
from affidavit.results.page.overview import Fact
from affidavit.results.page.samples import Sample
from affidavit.results.page.summary_table import SummaryTable
from affidavit.results.table import Table


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """What a page is asked to show, and how."""

    by: Sequence[str] = CELL
    cluster: str | None = None
    include_self: bool = False
    samples: int = PER_KIND
    """Outputs of each kind that are shown."""
    every: bool = False
    """Whether every output is shown."""
    mask: Callable[[str], str] = str
    """Covers what must not be shown in a text, which stays as long as it is."""

    @property
    def masked(self) -> bool:
        """Whether anything may be covered."""
        return self.mask is not str


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
class Section:
    """The summary of a task, or of a judging: its sentences, then its tables."""

    summary: Summary
    tables: Sequence[SummaryTable] = ()


@dataclass(frozen=True)
class Content:
    """Everything that is on the page."""

    name: str
    sealed: bool
    root_sha256: str | None
    by: Sequence[str]
    asked: AskedSection
    sections: Sequence[Section]
    tables: Sequence[Table]
    overview: Sequence[Fact] = ()
    warnings: Sequence[str] = ()
    """What must be known before any figure."""
    models: Table | None = None
    """Every two models of a task, compared."""
    comparisons: Mapping[str, Table] = field(default_factory=dict)
    """Differences from the control, by condition and control."""
    samples: Sequence[Sample] = ()
    kinds: int = 0
    """How many kinds of outputs there are, shown or not."""
    per_kind: int = PER_KIND
    """How many of each kind are shown at most."""
    every: Sequence[Sample] = ()
    """All outputs, where that was asked for."""
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
