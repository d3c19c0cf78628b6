"""What a study would ask, without asking: requests, tokens and, where prices are given, cost.

Tokens of prompts are estimated (see `token_estimate`); answers are counted at their longest. So the cost is an
upper bound for short answers and a guess for prompts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from affidavit.contracts.own_file import is_in_file
from affidavit.contracts.registry import parts_named
from affidavit.contracts.rubric import DEFAULT
from affidavit.errors import InputError, Mistakes
from affidavit.json_values import Fields
from affidavit.models.settings import Limits, ModelTable, Price
from affidavit.models.token_estimate import estimated_tokens
from affidavit.plain_text import plain
from affidavit.study.contract_notes import contract_notes
from affidavit.study.crossing import Cell, example_files, left_out
from affidavit.study.files import StudyFiles, items_for
from affidavit.study.first_prompts import FirstPrompt, prompt_lines
from affidavit.study.missing_answers import MissingAnswers
from affidavit.study.plan import Plan
from affidavit.study.study_file import Study, requests_of
from affidavit.study.task import Question, Task


@dataclass(frozen=True, kw_only=True)
class PlannedRequests:
    """How much would be asked under some names, such as a task, a model and a condition."""

    names: tuple[str, ...]
    model: str
    requests: int
    """What is left to ask."""
    prompt_tokens: int
    most_answer_tokens: int
    price: Price | None
    longest_prompt: int = 0
    """The tokens of the longest prompt, about."""
    answered: int = 0
    """What was planned beside, and is answered already."""
    failed: int = 0
    """What failed permanently, and is not asked again."""

    @property
    def longest_answer(self) -> int:
        """The tokens that one answer has at most."""
        return self.most_answer_tokens // self.requests if self.requests else 0

    @property
    def planned(self) -> int:
        """All that was planned, asked already or not."""
        return self.requests + self.answered + self.failed

    @property
    def most_cost(self) -> float | None:
        """The cost if every answer is as long as it may be; None without a price."""
        if self.price is None:
            return None
        return (self.prompt_tokens * self.price.input + self.most_answer_tokens * self.price.output) / 1e6

    def as_json(self) -> Fields:
        """The counts as JSON values."""
        return {
            "planned": self.planned,
            "answered": self.answered,
            "failed": self.failed,
            "requests": self.requests,
            "prompt_tokens": self.prompt_tokens,
            "most_answer_tokens": self.most_answer_tokens,
            "most_cost": self.most_cost,
        }


def requests_table(columns: Sequence[str], asked: Sequence[PlannedRequests]) -> RenderableType:
    """Counts for a terminal, with their totals; a column for the cost where any has a price."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim", show_footer=True)
    costs = most_costs(asked)
    for number, name in enumerate(columns):
        table.add_column(name, "" if number else "all", overflow="fold", no_wrap=True)
    totals = {
        "requests": sum(each.requests for each in asked),
        "tokens in, about": sum(each.prompt_tokens for each in asked),
        "out, at most": sum(each.most_answer_tokens for each in asked),
    }
    for name, count in totals.items():
        table.add_column(name, f"{count:,}", justify="right", overflow="fold")
    if costs:
        table.add_column("cost, at most", in_hundredths(sum(costs)), justify="right")
    for each in asked:
        counts = (each.requests, each.prompt_tokens, each.most_answer_tokens)
        cost = "–" if each.most_cost is None else in_hundredths(each.most_cost)
        table.add_row(*map(plain, each.names), *(f"{count:,}" for count in counts), *([cost] if costs else []))
    note = Text(f"\nThe cost is {without}." if costs and (without := without_price(asked)) else "")
    return Group(Padding.indent(table, 2), *([note] if note else []))


def without_price(asked: Iterable[PlannedRequests]) -> str:
    """Of which models a sum of costs says nothing; empty if all have a price.

    >>> free = dict(names=("quiz", "m"), requests=2, prompt_tokens=10, most_answer_tokens=4, price=None)
    >>> without_price([PlannedRequests(model="mb", **free), PlannedRequests(model="mc", **free)])
    'without that of mb and mc, which have no price'
    """
    models = list(dict.fromkeys(plain(each.model) for each in asked if each.price is None and each.requests))
    if not models:
        return ""
    named = " and ".join(filter(None, (", ".join(models[:-1]), models[-1])))
    return f"without that of {named}, which {'has' if len(models) == 1 else 'have'} no price"


def in_hundredths(most: float) -> str:
    """A cost that is at most so much, rounded up: rounded down it might be exceeded.

    >>> in_hundredths(0.0), in_hundredths(0.003), in_hundredths(1234.56)
    ('0.00', '0.01', '1,234.56')
    """
    return f"{ceil(round(most * 100, 6)) / 100:,.2f}"


def most_costs(asked: Iterable[PlannedRequests]) -> list[float]:
    """The costs that are known."""
    return [each.most_cost for each in asked if each.most_cost is not None]


@dataclass(frozen=True, kw_only=True)
class PlannedCell(PlannedRequests):
    """What one cell would be asked."""

    cell: Cell


@dataclass(frozen=True)
class DryRun:
    """What a run would ask, cell by cell, with tokens and cost; nothing is asked for it."""

    plan: Plan
    asked: list[PlannedCell]
    uses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What of the world a run would use, without any secret: addresses, environment, files, code."""
    notes: Sequence[str] = ()
    """What is to be known of the items, and of the models that run here."""
    prompts: Sequence[FirstPrompt] = ()
    """The first question of each task under each condition."""

    def as_json(self) -> Fields:
        """The plan as JSON values."""
        cells = [{**each.cell._asdict(), **each.as_json()} for each in self.asked]
        left = [{**each.cell._asdict(), "why": each.why} for each in self.plan.left_out]
        study = self.plan.study
        return {
            "study": study.study.name,
            "cells": cells,
            "left_out": left,
            "requests": requests_of(study),
            "uses": {kind: list(each) for kind, each in self.uses.items()},
            "notes": list(self.notes),
            "prompts": [each.as_json() for each in self.prompts],
        }

    def as_table(self) -> RenderableType:
        """The plan for a terminal."""
        title = Text.assemble((plain(self.plan.study.study.name), "bold"), f"  {asked_so_far(self.asked)}")
        notes = [Text(line) for line in (*already_lines(self.asked), *left_out(self.plan.study))]
        table = requests_table(Cell._fields, self.asked)
        more = [Text(line) for line in (*map(plain, self.notes), *prompt_lines(self.prompts))]
        return Group(title, Text(""), table, Text(""), *map(Text, used_lines(self.uses)), *notes, *more)


def asked_so_far(asked: Sequence[PlannedRequests]) -> str:
    """The heading of a plan: whether anything of it was asked before; a dry run itself asks nothing.

    >>> some = dict(names=("quiz", "m"), model="m", prompt_tokens=10, most_answer_tokens=4, price=None)
    >>> counts = ({"requests": 2}, {"requests": 2, "answered": 6}, {"requests": 0, "answered": 8})
    >>> [asked_so_far([PlannedRequests(**count, **some)]) for count in counts]
    ['nothing is asked yet', 'a part is answered already; this is the rest', 'nothing is left to ask']
    """
    left, planned = sum(each.requests for each in asked), sum(each.planned for each in asked)
    if left == planned:
        return "nothing is asked yet"
    return "a part is answered already; this is the rest" if left else "nothing is left to ask"


def already_lines(asked: Iterable[PlannedRequests]) -> Iterator[str]:
    """How much of what was planned is answered already, and how much is left; nothing where all of it is left.

    >>> some = dict(names=("quiz", "m"), model="m", prompt_tokens=10, most_answer_tokens=4, price=None)
    >>> list(already_lines([PlannedRequests(requests=2, answered=6, failed=1, **some)]))
    ['6 of 9 planned questions are answered already, 2 are left to ask', '1 failed permanently: --retry-failed asks again']
    """  # noqa: E501
    counts = [(each.planned, each.answered, each.requests, each.failed) for each in asked]
    planned, answered, left, failed = map(sum, zip(*counts, strict=True)) if counts else (0, 0, 0, 0)
    if planned > left:
        yield f"{answered:,} of {planned:,} planned questions are answered already, {left:,} are left to ask"
    if failed:
        yield f"{failed:,} failed permanently: --retry-failed asks again"


def machine_notes(
    asked: Iterable[PlannedRequests], models: Mapping[str, ModelTable], limits: Limits, *, beside: Path
) -> Iterator[str]:
    """Of models that run here: whether attempts may take too long, and what their seed does not fix."""
    by_model: dict[str, list[PlannedRequests]] = {}
    for each in asked:
        if each.requests:
            by_model.setdefault(each.model, []).append(each)
    for name, several in by_model.items():
        if (pace := models[name].provider.pace(beside=beside)) is None:
            continue
        longest = max(several, key=lambda each: pace.seconds(each.longest_prompt, each.longest_answer))
        seconds = pace.seconds(longest.longest_prompt, longest.longest_answer)
        if seconds > limits.attempt:
            yield (
                f"{name}: an attempt may take {seconds:,.0f} s, more than the {limits.attempt:g} s of attempt in "
                f"[limits]: {pace.shared}, prompts have up to {longest.longest_prompt:,} tokens and answers up to "
                f"{longest.longest_answer:,}, {pace.rates}. "
                + pace.advice(name, seconds, attempt=limits.attempt, sample=limits.sample)
            )
        if (needed := max(each.longest_prompt + each.longest_answer for each in several)) > pace.context:
            yield (
                f"{name}: a prompt and the longest answer take about {needed:,} tokens, more than its context of "
                f"{pace.context:,}: answers may be cut. Set context = {pace.enough_for(needed)} in "
                f"[models.{name}], or a smaller max_tokens."
            )
        if pace.slots > 1:
            yield (
                f"{name}: with slots = {pace.slots:,} questions are answered together, and the same seed does not "
                "always give the same text; with slots = 1 it does."
            )


_USED = {
    "addresses": "it would ask",
    "environment": "variables of the environment",
    "files": "files",
    "code": "code that is run, also for this listing",
}


def used_lines(uses: Mapping[str, Sequence[str]]) -> list[str]:
    """What of the world would be used, a line for each kind of thing."""
    return [plain(f"{_USED[kind]}: {', '.join(each)}") for kind, each in uses.items() if each]


def used_by(files: StudyFiles, models: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """What of the world a study would use, each thing once, without any secret."""
    study = files.study
    used = [table.uses() for name, table in study.models.items() if not models or name in models]
    contracts = [task.contract for task in study.tasks.values() if is_in_file(task.contract)]
    rubric = [] if study.judging is None or study.judging.rubric == DEFAULT.name else [study.judging.rubric]
    own = [task.items for task in study.tasks.values() if isinstance(task.items, str)]
    given = [file for each in used for file in each.files]
    found = {
        "addresses": [address for each in used for address in each.addresses],
        "environment": [name for each in used for name in each.environment],
        "files": [*own, *_parameter_files(study), *example_files(study).values(), *rubric, *given],
        "code": [contract.rpartition(":")[0] for contract in contracts],
    }
    return {kind: tuple(dict.fromkeys(each)) for kind, each in found.items()}


def _parameter_files(study: Study) -> list[str]:
    """The files that are named as a parameter of a contract, such as the schema of json."""
    return [
        value
        for task in study.tasks.values()
        for name, value in task.parameters.items()
        if name in parts_named(task.contract).file_parameters and isinstance(value, str)
    ]


@dataclass
class PromptCount:
    """Prompts that would be sent, counted one by one, and those that need not be."""

    requests: int = 0
    tokens: int = 0
    longest: int = 0
    answered: int = 0
    failed: int = 0

    def add(self, tokens: int) -> None:
        """One more that would be sent."""
        self.requests += 1
        self.tokens += tokens
        self.longest = max(self.longest, tokens)


def dry_run(
    files: StudyFiles,
    models: Collection[str] = (),
    *,
    answered: Set[bytes] = frozenset(),
    failed: Set[bytes] = frozenset(),
) -> DryRun:
    """Make every question, and count; by their keys, those that are answered, or failed permanently, are apart."""
    empty = files.plan(dict.fromkeys(files.contracts, 0))
    counts = {cell: PromptCount() for cell in empty.cells if not models or cell.model in models}
    mistakes, missing = Mistakes(), MissingAnswers(empty.tasks)
    prompts: dict[tuple[str, str], FirstPrompt] = {}
    for task in empty.tasks.values():
        with mistakes.gathered():
            for question in _questions(files, empty, task, models, missing):
                count = counts[Cell(task.name, question.model, question.condition)]
                if (named := (task.name, question.condition)) not in prompts:
                    prompts[named] = FirstPrompt.of(question)
                if (key := bytes.fromhex(question.key)) in answered:
                    count.answered += 1
                elif key in failed:
                    count.failed += 1
                else:
                    count.add(estimated_tokens(question.request.messages))
    mistakes.refuse()
    study = files.study
    asked = [
        PlannedCell(
            cell=cell,
            names=cell,
            model=cell.model,
            requests=count.requests,
            prompt_tokens=count.tokens,
            most_answer_tokens=count.requests * study.decoding.max_tokens,
            price=study.models[cell.model].price,
            longest_prompt=count.longest,
            answered=count.answered,
            failed=count.failed,
        )
        for cell, count in counts.items()
    ]
    about_items = (*contract_notes(empty.tasks), *missing.notes())
    notes = (*about_items, *machine_notes(asked, study.models, study.limits, beside=files.beside))
    return DryRun(empty, asked, used_by(files, models), notes, list(prompts.values()))


def _questions(
    files: StudyFiles, plan: Plan, task: Task, models: Collection[str], missing: MissingAnswers
) -> Iterator[Question]:
    item = None
    for item in items_for(files, task):
        missing.add(task.name, item)
        for model in task.conditions:
            if not models or model in models:
                yield from plan.questions(task, item, model)
    if item is None:
        raise InputError(str(files.items[task.name]), expected="at least one item", found="none")
