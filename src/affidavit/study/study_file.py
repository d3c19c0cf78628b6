"""A study file: which models are asked what, under which conditions, and how.

Everything is checked before the first request. What decides the answers is frozen with the study; where a model
is reached and how patiently may change from run to run.
"""

import re
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import msgspec

from affidavit.archive.json_bytes import loads
from affidavit.contracts.registry import parts_named
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.items.option_order import OptionOrder
from affidavit.json_values import Fields, canonical
from affidavit.models.registry import model_from_frozen, read_model_tables
from affidavit.models.settings import Limits, ModelTable, SettingsTable
from affidavit.study.prompt import Condition


class Header(SettingsTable, frozen=True, kw_only=True):
    """`[study]`: the study's name, and the seed of everything that is drawn."""

    name: str
    seed: int = 0


class Generate(SettingsTable, frozen=True, kw_only=True):
    """`items = { generate = 20 }`: hands of 24 that can be solved, drawn by the study's seed."""

    generate: int


class TaskTable(SettingsTable, frozen=True, kw_only=True):
    """`[tasks.NAME]`: items and the contract that reads the answers."""

    contract: str
    items: str | Generate
    options: str = "A-D"
    option_order: OptionOrder = "as_given"
    variants: dict[str, str] = {}
    """Of an open task: other words around the question; each variant is a condition."""
    models: list[str] = []
    conditions: list[str] = []
    """Which of the study's are asked; all unless given."""


class ConditionTable(SettingsTable, frozen=True, kw_only=True):
    """`[conditions.NAME]`: what one way of asking adds."""

    preamble: str = ""
    system: str = ""
    constrained: bool = False
    examples: str | dict[str, str] = ""
    """A file of worked examples, or one for each task by its name."""
    paradigm: str = ""
    """The name of the group of conditions that it belongs to."""
    control: str = ""
    """The condition against which changed answers are counted (ruling M7)."""


class Decoding(SettingsTable, frozen=True, kw_only=True):
    """`[decoding]`: what every request carries, and how many samples each item gets."""

    temperature: float = 0.0
    max_tokens: int = 256
    top_p: float | None = None
    samples: int = 1


class JudgingTable(SettingsTable, frozen=True, kw_only=True):
    """`[judging]`: who judges the outputs of open tasks, and how."""

    judges: list[str]
    rubric: str = "default"
    """Or a TOML file."""
    tasks: list[str] = []
    """Whose outputs are judged; all open tasks unless given."""
    conditions: tuple[Literal["free", "schema"], ...] = ("free",)
    """Free decoding, or decoding constrained to the JSON schema of an evaluation."""
    repeats: int = 1
    temperature: float = 0.0
    max_tokens: int = 1024
    top_p: float | None = None


class Study(SettingsTable, frozen=True, kw_only=True):
    """A study file: what is asked of which models, under which conditions."""

    study: Header
    models: dict[str, ModelTable]
    tasks: dict[str, TaskTable]
    conditions: dict[str, ConditionTable] = msgspec.field(default_factory=lambda: {"base": ConditionTable()})
    decoding: Decoding = Decoding()
    limits: Limits = Limits()
    judging: JudgingTable | None = None


def decode_study(text: str, *, where: str) -> Study:
    """The tables of a TOML text, each key of its type; what they say together is checked by `study_check`."""
    try:
        tables = tomllib.loads(text)
        if isinstance(models := tables.get("models"), dict):
            tables["models"] = read_model_tables(models, where=where)
        return msgspec.convert(tables, Study)
    except tomllib.TOMLDecodeError as error:
        raise InputError(where, expected="TOML", found=str(error)) from error
    except msgspec.ValidationError as error:
        raise InputError(where, expected="a study", found=str(error), hint=_hint(str(error))) from error


_TABLES = (Study, Header, TaskTable, Generate, ConditionTable, Decoding, JudgingTable, Limits)


def _hint(message: str) -> str:
    unknown = re.search("unknown field `(.+?)`", message)
    known = sorted({name for table in _TABLES for name in table.__struct_fields__})
    return did_you_mean(unknown[1], known) if unknown else ""


# --- what crosses with what ---


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


def decoding_of(table: Decoding | JudgingTable) -> Fields:
    """What every request carries, by the names of the OpenAI interface."""
    chosen: Fields = {"temperature": table.temperature, "max_tokens": table.max_tokens}
    return chosen if table.top_p is None else {**chosen, "top_p": table.top_p}


# --- what is frozen ---


def frozen(study: Study) -> Fields:
    """Everything that decides the answers, as JSON values: no address, no header, no limit."""
    return {
        "name": study.study.name,
        "seed": study.study.seed,
        "models": {name: table.frozen() for name, table in study.models.items()},
        "tasks": {name: _without(each, "items") for name, each in study.tasks.items()},
        "conditions": {name: _without(each, "examples") for name, each in study.conditions.items()},
        "decoding": {**decoding_of(study.decoding), "samples": study.decoding.samples},
    }


def _without(table: SettingsTable, name: str) -> Fields:
    """The keys of a table but for one, whose content is frozen instead of its name."""
    fields: Fields = msgspec.to_builtins(table)
    return {key: value for key, value in fields.items() if key != name}


def from_frozen(config: Mapping[str, Any]) -> Study:
    """The study of a frozen one: it asks the same, but knows no server.

    >>> text = '[study]\\nname = "s"\\n[models.m]\\nbase_url = "http://h"\\n'
    >>> study = decode_study(text + '[tasks.t]\\ncontract = "mcqa"\\nitems = "i"', where="s")
    >>> frozen(from_frozen(frozen(study))) == frozen(study)
    True
    """
    tables = {
        "study": {"name": config["name"], "seed": config["seed"]},
        "models": {name: model_from_frozen(name, fields) for name, fields in config["models"].items()},
        "tasks": {name: {**task, "items": ""} for name, task in config["tasks"].items()},
        "conditions": config["conditions"],
        "decoding": config["decoding"],
    }
    return msgspec.convert(tables, Study)


def changes(before: Mapping[str, object], after: Mapping[str, object], *, path: str = "") -> list[str]:
    """What is different, one line for each place.

    >>> changes({"seed": 1, "a": {"b": 1}}, {"seed": 2, "a": {}})
    ['a.b: was 1, is not there now', 'seed: was 1, is 2']
    """
    found = []
    for name in sorted(before.keys() | after.keys()):
        place, old, new = f"{path}{name}", before.get(name), after.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += changes(old, new, path=f"{place}.")
        elif name not in after:
            found.append(f"{place}: was {old!r}, is not there now")
        elif name not in before:
            found.append(f"{place}: was not there, is {new!r}")
        elif old != new:
            found.append(f"{place}: was {old!r}, is {new!r}")
    return found


def refuse_changes(
    where: str, before: Mapping[str, object], after: Mapping[str, object], *, begun: str, hint: str
) -> None:
    """Refuse to go on with something else than what was begun, and say what is different."""
    # Through JSON once, as what was frozen has gone: tuples are lists there.
    changed = changes(loads(canonical(before)), loads(canonical(after)))
    if changed:
        found = "another one:\n  " + "\n  ".join(changed)
        raise UsageError(where, expected=f"the {begun} that was begun there", found=found, hint=hint)


def seed_of(study_seed: int, task: str, item: str, sample: int) -> int:
    """The seed of a request: 31 bits, the same in all conditions, so that pairs share it.

    >>> seed_of(7, "trivia", "q1", 0) == seed_of(7, "trivia", "q1", 0) < 2**31
    True
    """
    return int.from_bytes(sha256(canonical([study_seed, task, item, sample])).digest()[:4], "big") >> 1
