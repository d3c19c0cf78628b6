"""What crosses with what: every task put to its models under its conditions, and what cannot be asked so."""

from collections.abc import Iterator
from typing import NamedTuple

from affidavit.contracts.registry import parts_named
from affidavit.models.settings import ModelTable
from affidavit.plain_text import plain
from affidavit.study.prompt import Condition
from affidavit.study.study_file import Study, TaskTable


class Cell(NamedTuple):
    """One task put to one model under one condition."""

    task: str
    model: str
    condition: str


class LeftOut(NamedTuple):
    """A cell that cannot be asked, and why."""

    cell: Cell
    why: str


def cells(study: Study, *, only: str | None = None) -> list[Cell | LeftOut]:
    """Tasks, or only one, crossed with models and conditions; a task's own lists and variants are kept to."""
    found: list[Cell | LeftOut] = []
    for name, task in study.tasks.items():
        if only not in (None, name):
            continue
        models = task.models or list(study.models)
        conditions = task.variants or task.conditions or study.conditions
        for cell in (Cell(name, model, condition) for model in models for condition in conditions):
            why = _cannot(task, study.models[cell.model], condition_of(study, name, cell.condition))
            found.append(cell if why is None else LeftOut(cell, why))
    return found


def _cannot(task: TaskTable, model: ModelTable, condition: Condition) -> str | None:
    """Why a task cannot be put to a model under a condition; None if it can."""
    parts = parts_named(task.contract)
    if condition.names_options and not parts.shows_options:
        return f"{task.contract} has no options that the condition could name"
    if condition.constrained and not parts.has_grammar:
        return "an open task has no grammar"
    if condition.constrained and not model.provider.takes_grammar:
        return f'a server of the flavour {model.provider.flavour!r} takes no grammar; "llamacpp" and "vllm" do'
    return None


def condition_of(study: Study, task: str, name: str) -> Condition:
    """A condition of the study, or a variant of a task, by its name."""
    variants = study.tasks[task].variants
    if variants:
        return Condition(name, variant=variants[name])
    table = study.conditions[name]
    return Condition(name, table.preamble, table.system, table.constrained)


def example_files(study: Study) -> dict[tuple[str, str], str]:
    """The file of worked examples for each task and condition that has one."""
    found = {}
    for cell in cells(study):
        if isinstance(cell, LeftOut) or study.tasks[cell.task].variants:
            continue
        examples = study.conditions[cell.condition].examples
        file = examples if isinstance(examples, str) else examples.get(cell.task, "")
        if file:
            found[cell.task, cell.condition] = file
    return found


def left_out(study: Study) -> Iterator[str]:
    """What of the crossing of tasks, models and conditions is not asked, and why."""
    for each in cells(study):
        if isinstance(each, LeftOut):
            (task, model, condition), why = each
            yield plain(f"left out: {task} of {model} under {condition}: {why}")
