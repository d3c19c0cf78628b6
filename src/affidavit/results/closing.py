"""What a run came to, for people and for programs: a table for each task, whose rows add up.

Compliance, accuracy over answers and accuracy over all outputs stand apart, each with its interval and n
(rulings C5 and M6). They are the figures of the report: the same groups, the same shares, the same words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Group as RichGroup
from rich.console import RenderableType
from rich.text import Text

from affidavit.archive.study_directory import PlannedStudy, StudyDirectory
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.parts import Parts, parts_of
from affidavit.contracts.read_by import ReadBy
from affidavit.json_values import Fields
from affidavit.plain_text import plain
from affidavit.reading.output_columns import ANSWER, Role
from affidavit.reading.summary import Shares, figures, unknown_answers_note, worded_blocks
from affidavit.reading.tally import Tally, ranked
from affidavit.results.caveats import AskedCell, nothing_arrived, pending_note, trial_note
from affidavit.results.changed_answers import AGAINST_CHANCE, REASONS, ChangeCounts, changes_table
from affidavit.results.groups import Group, groups_of_tallies, identity
from affidavit.results.table import Table
from affidavit.results.terminal import shown
from affidavit.results.token_counts import tallies_by, token_line, tokens_json
from affidavit.results.values import Value
from affidavit.statistics.estimate import Estimate, in_words
from affidavit.study.crossing import Cell

if TYPE_CHECKING:
    from affidavit.running.import_outputs import Kept
    from affidavit.running.study_run import Ended

MOST_LABELS = 6
"""Labels of a breakdown that are named; the others are counted together."""
_RARE = ("truncated", "unread", "failed", "pending")


@dataclass(frozen=True, kw_only=True)
class ClosedRun:
    """Everything that the tables at the end of a run are made of."""

    read_by: Mapping[str, ReadBy]
    """The contract of each task, by its label and its parameters."""
    parts: Mapping[str, Parts]
    """Of each task's contract."""
    tallies: Mapping[Cell, Tally]
    groups: Sequence[Group]
    """Of every cell, in the order of the tallies."""
    samples: int = 1
    """Answers to each question."""
    changes: Iterable[Mapping[str, Any]] = ()
    """Answers that changed against the control, by cell."""
    changed: Table | None = None
    """The same as a table; None where no condition has a control."""
    tasks: Mapping[str, Group] = field(default_factory=dict)
    """Of every task with several cells, which share their items; of no other, nor where nobody asked for it."""
    unsaid: Mapping[str, int] = field(default_factory=dict)
    """By task, outputs that count as not right although nobody says whether their right answer is known."""
    lowest_f1: Mapping[tuple[Value, ...], str] = field(default_factory=dict)
    """By cell, the label of the lowest F1 in words; nothing where answers are no labels."""
    trial: int | None = None
    """Of a trial: it is about the first so many items of each task."""
    asked: Sequence[AskedCell] = ()
    """How far questions were asked, cell by cell; empty where nothing is pending."""
    asked_here: bool = True
    """Whether servers were asked for the outputs, so that their tokens could be counted."""

    def of_task(self, task: str) -> list[tuple[Cell, Tally, Group]]:
        """The cells of one task."""
        cells = zip(self.tallies.items(), self.groups, strict=True)
        return [(cell, tally, group) for (cell, tally), group in cells if cell.task == task]

    def by_model(self) -> dict[str, Tally]:
        """All that each model was asked, in the order of the study."""
        return tallies_by((cell.model, tally) for cell, tally in self.tallies.items())


def closed_run(ended: "Ended", contracts: Mapping[str, AnyContract], *, with_tasks: bool = False) -> ClosedRun:
    """The figures of the report. Where items were asked once each, the running counts are all they are made of.

    Whole tasks are counted only if they are asked for: the cells of one share their items, which only the records
    tell.
    """
    directory, groups = StudyDirectory(ended.directory), groups_of_tallies(ended.tallies, seed=ended.seed)
    # The running counts are of compliant outputs; where every answer counts, only the records tell (ruling G12).
    every = any(parts_of(contract).every_answer_counts for contract in contracts.values())
    counted = _Counted()
    scored = _labels_are_scored(map(parts_of, contracts.values()))
    if ended.samples > 1 or every or scored or _some_say_nothing(ended.tallies.values()):
        counted = _counted(directory, Cell._fields)
        groups = [counted.groups[cell] for cell in ended.tallies]
    cells, frozen = Counter(cell.task for cell in ended.tallies), directory.frozen_or_none()
    several = with_tasks and max(cells.values(), default=0) > 1
    by_task = _counted(directory, ("task",)).groups if several else {}
    return ClosedRun(
        read_by={name: ReadBy.of(contract) for name, contract in contracts.items()},
        parts={name: parts_of(contract) for name, contract in contracts.items()},
        tallies=ended.tallies,
        groups=groups,
        samples=ended.samples,
        changes=ended.flips,
        changed=_changed(directory, ended) if ended.flips else None,
        tasks={names[0]: group for names, group in by_task.items() if cells[names[0]] > 1},
        unsaid=counted.unsaid,
        lowest_f1=counted.lowest_f1,
        asked=counted.asked,
        trial=frozen.trial if isinstance(frozen, PlannedStudy) else None,
    )


def closed_import(kept: "Kept", *, with_tasks: bool = False) -> ClosedRun:
    """The figures of outputs from elsewhere: from their counts, where these tell all; else from the records."""
    config, parts = kept.directory.frozen().config, kept.directory.parts()
    every = any(each.every_answer_counts for each in parts.values())
    tallies, counted = dict(sorted(kept.tallies.items())), _Counted()
    groups = groups_of_tallies(tallies, seed=0)
    # Outputs that have names of their own may be several of one item, such as those of two runs.
    may_be_several = Role.OUTPUT_ID in config["columns"] and not kept.one_output_each
    if (
        kept.samples > 1
        or may_be_several
        or every
        or _labels_are_scored(parts.values())
        or _some_say_nothing(tallies.values())
    ):
        counted = _counted(kept.directory, Cell._fields)
        groups = [counted.groups[cell] for cell in tallies]
    read_by = {task: ReadBy.frozen(each) for task, each in config["contracts"].items()}
    several = with_tasks and max(Counter(cell.task for cell in tallies).values()) > 1
    by_task = _counted(kept.directory, ("task",)).groups if several else {}
    return ClosedRun(
        read_by=read_by,
        parts=parts,
        tallies=tallies,
        groups=groups,
        samples=kept.samples,
        tasks={names[0]: group for names, group in by_task.items()},
        unsaid=counted.unsaid,
        lowest_f1=counted.lowest_f1,
        asked_here=False,
    )


def _some_say_nothing(tallies: Iterable[Tally]) -> bool:
    """Whether only their items tell of some questions if a right answer is known (rulings M6 and S6)."""
    total = Tally.total(tallies)
    return total.unread + total.failed + total.pending + total.unsaid > 0


@dataclass(frozen=True)
class _Counted:
    """What only the records tell."""

    groups: Mapping[tuple[str, ...], Group] = field(default_factory=dict)
    unsaid: Mapping[str, int] = field(default_factory=dict)
    """By task, outputs of which nobody says what is right."""
    asked: Sequence[AskedCell] = ()
    lowest_f1: Mapping[tuple[Value, ...], str] = field(default_factory=dict)


def _labels_are_scored(every: Iterable[Parts]) -> bool:
    return any("label scores" in parts.tables for parts in every)


def _counted(directory: StudyDirectory, by: tuple[str, ...]) -> _Counted:
    """The groups of the report, and what is to be said of them."""
    # A run does without columns, and most runs end without them too.
    from affidavit.results.counting import groups  # noqa: PLC0415
    from affidavit.results.study_results import StudyResults  # noqa: PLC0415
    from affidavit.results.tables import lowest_f1_of  # noqa: PLC0415

    results = StudyResults(directory, by)
    found = {group.names: group for group in groups(results.records)}
    lowest = lowest_f1_of(results.records, list(found.values()))
    return _Counted(found, results.outputs_unsaid, results.asked({}), lowest)


def _changed(directory: StudyDirectory, ended: "Ended") -> Table:
    """Changed answers; where items were asked several times, the records tell which outputs belong together."""
    if ended.samples > 1:
        from affidavit.results.study_results import StudyResults  # noqa: PLC0415
        from affidavit.results.tables import changed_answers_of  # noqa: PLC0415

        results = StudyResults(directory)
        if (found := changed_answers_of(results.records, results.controls)) is not None:
            return found
    return changes_table([ChangeCounts.of(each, single=ended.samples == 1) for each in ended.flips])


def task_table(run: ClosedRun, task: str) -> Table:
    """The figures of one task, a row for each model and condition."""
    cells = run.of_task(task)
    rare = [name for name in _RARE if any(getattr(tally, name) for _, tally, _ in cells)]
    rows = tuple(
        (cell.model, cell.condition, *_shares(group)[:3], *(getattr(tally, name) for name in rare))
        for cell, tally, group in cells
    )
    # The same shares, by the words that the report has for them (ruling G12).
    every = run.parts[task].every_answer_counts
    followed, right = ("marker rate", "solve rate") if every else ("compliance", "yield")
    columns = ("model", "condition", followed, "accuracy over compliant", right, *rare)
    return Table(task, task, columns, rows, identity(group for _, _, group in cells))


def _shares(group: Group) -> Shares:
    return Shares(
        compliance=group.share("compliant", "compliant", "non_compliant"),
        accuracy=group.share("right", "compared"),
        right_of_all=group.share("right", "keyed"),
        bounds=group.bounds(),
    )


def as_json(run: ClosedRun) -> Fields:
    """The figures as JSON values."""
    tasks: Fields = {}
    for task in run.read_by:
        cells = run.of_task(task)
        tally = Tally.total(tally for _, tally, _ in cells)
        whole = run.tasks[task] if len(cells) > 1 else cells[0][2] if cells else Group((task,), 0, {}, 0)
        tasks[task] = _figures(run, task, tally, whole)
    return {
        "tasks": tasks,
        "cells": [
            {**cell._asdict(), **_figures(run, task, tally, group)}
            for task in run.read_by
            for cell, tally, group in run.of_task(task)
        ],
        "flips": list(run.changes),
        "notes": warnings(run),
        "tokens": tokens_json(run.by_model()),
    }


def _figures(run: ClosedRun, task: str, tally: Tally, group: Group) -> Fields:
    by = run.read_by[task]
    return figures(tally, by.label, dict(by.params), run.parts[task], _shares(group))


def as_tables(run: ClosedRun) -> RenderableType:
    """The tables for a terminal."""
    parts: list[RenderableType] = [Text(warning, "bold") for warning in warnings(run)]
    for task in run.read_by:
        lines = list(_breakdowns(run, task))
        parts.append(shown(task_table(run, task), beside=plain(str(run.read_by[task])), lines=lines))
    if run.changed is not None:
        parts.append(shown(_brief(run.changed)))
    parts += [Text(line) for line in _notes(run)]
    return RichGroup(*parts)


def warnings(run: ClosedRun) -> list[str]:
    """What must be known before any figure."""
    return [*trial_note(run.trial), *pending_note(run.asked)]


def notes(run: ClosedRun) -> Iterator[str]:
    """What a person should be told of the figures of each task."""
    for task in run.read_by:
        tally = Tally.total(tally for _, tally, _ in run.of_task(task))
        if (note := unknown_answers_note(tally, run.unsaid.get(task, 0))) is not None:
            yield f"{plain(task)}: {note}"
        if not run.asked_here and (note := _unchecked_note(tally, run.parts[task])) is not None:
            yield f"{plain(task)}: {note}"
        for error, count in tally.errors.most_common(MOST_LABELS):
            yield f"{plain(task)}: {count:,} unread: {error}"


def _unchecked_note(tally: Tally, parts: Parts) -> str | None:
    """How many outputs from elsewhere lack what they are checked by; None where none does, or nothing is."""
    needed = parts.checked_by or (ANSWER if ANSWER in (parts.item_fields or ()) else "")
    unknown = tally.arrived - tally.keyed
    if not needed or unknown <= 0:
        return None
    said = parts.unchecked or ("accuracy is over the others" if tally.keyed else "there is no accuracy")
    return f"the rows of {unknown:,} of {tally.arrived:,} outputs have no '{needed}': {said}"


def _brief(changes: Table) -> Table:
    """The table of changed answers without what can be added up from the rest, and without columns of zeros.

    What is not decidable is one column: its reasons have columns in the report, and here a place in the foot.
    """
    reasons = [changes.column(name) for name in REASONS]
    undecided = [sum(count for count in each if isinstance(count, int)) for each in zip(*reasons, strict=True)]
    zero = {name for name in changes.columns[_NAMED:] if not any(changes.column(name))}
    gone = zero | {"kept", "flipped", AGAINST_CHANCE[1], *REASONS}  # which the report has
    kept = [at for at, name in enumerate(changes.columns) if name not in gone]
    last = ("not decidable",) if any(undecided) else ()
    rows = tuple(
        (*(row[at] for at in kept), *([count] if last else []))
        for row, count in zip(changes.rows, undecided, strict=True)
    )
    columns = (*(changes.columns[at] for at in kept), *last)
    # In which order reasons are asked is said in the report.
    return Table(changes.name, changes.question, columns, rows, changes.foot, changes.notes[:1])


_NAMED = 4
"""Columns that say of which cell, and against which control."""


def _breakdowns(run: ClosedRun, task: str) -> Iterator[str]:
    """What the outputs of each cell were like, in a line for each count, and the bounds of accuracy (M6)."""
    for cell, tally, group in run.of_task(task):
        for _, title, counts in worded_blocks(tally, run.parts[task]):
            yield f"{cell.model}, {cell.condition}, {plain(title)}: {listed(counts)}"
        if (lowest := run.lowest_f1.get(tuple(cell))) is not None:
            yield f"{cell.model}, {cell.condition}, {lowest}"
        if tally.failures:
            yield f"{cell.model}, {cell.condition}, failed: {listed(tally.failures)}"
        if (why := nothing_arrived(group.total("failed"), group.pending, group.planned)) is not None:
            yield f"{cell.model}, {cell.condition}, no figure: {why}"
        if (bounds := group.bounds()) is not None and bounds.if_wrong != bounds.if_right:
            least, most = map(in_words, bounds)
            where = f"{cell.model}, {cell.condition}"
            yield f"{where}, accuracy if all missing answers were wrong {least}, if all were right {most}"


def listed(counts: Counter[str]) -> str:
    """The most frequent labels with their counts, in one line.

    >>> listed(Counter(option_text=77, no_tag=3))
    '77 option_text, 3 no_tag'
    """
    named = [f"{count:,} {plain(label)[:40]}" for label, count in ranked(counts)]
    if len(named) > MOST_LABELS:
        rest = sum(count for _, count in ranked(counts)[MOST_LABELS:])
        named[MOST_LABELS:] = [f"{rest:,} others"]
    return ", ".join(named)


def _notes(run: ClosedRun) -> Iterator[str]:
    if run.asked_here:
        lines = (token_line(model, tally, "output") for model, tally in run.by_model().items())
        yield from (line for line in lines if line is not None)
    methods = {
        share.method.partition(", ")[0]
        for group in run.groups
        for share in _shares(group)
        if isinstance(share, Estimate)
    }
    if methods:
        yield f"intervals: {', '.join(sorted(methods))}"
