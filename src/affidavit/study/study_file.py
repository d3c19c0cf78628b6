"""A study file: which models are asked what, under which conditions, and how.

Everything is checked before the first request. What decides the answers is frozen with the study; where a model
is reached and how patiently may change from run to run.
"""

import tomllib
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, Literal

import msgspec

from affidavit.contracts.given_parameters import exact_float
from affidavit.contracts.registry import parts_named
from affidavit.errors import InputError, Mistakes, did_you_mean
from affidavit.items.option_order import OptionOrder
from affidavit.json_values import Fields
from affidavit.models.registry import read_model_tables
from affidavit.models.settings import Limits, ModelTable, SettingsTable
from affidavit.models.shown_names import quoted_name, shown_name, without_long_names
from affidavit.models.table_mistakes import converted


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
    limit: int | None = None
    """The first so many items are asked about."""
    sample: int | None = None
    """So many items are asked about, chosen by a stable hash: a larger sample holds a smaller one."""
    options: str = "A-D"
    parameters: dict[str, Any] = {}
    """What the contract is given beside its name; frozen with the contract."""
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
    """A file of worked examples, or one for each task by its name; also a split of a data set, `hf:…`."""
    shots: int | None = None
    """So many of them, drawn by a stable hash; all of them unless given."""
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
    blind: bool = False
    """Whether judges are given aliases in place of the targets' names (ruling J16)."""
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
    tables, mistakes = _with_exact_parameters(toml_tables(text, where=where), text, where=where), Mistakes()
    for key in tables:
        if key not in Study.__struct_fields__:
            mistakes.add(_unknown_key(key, key, Study, where))
    with mistakes.gathered():
        if isinstance(models := tables.get("models"), dict):
            tables["models"] = read_model_tables(models, where=where)
    for holder, name, place, kind in _places(tables):
        with mistakes.gathered():
            holder[name] = _read_table(holder[name], kind, where=where, place=place)
    mistakes.refuse()
    return converted(tables, Study, where=where)


def _with_exact_parameters(tables: dict[str, Any], text: str, *, where: str) -> dict[str, Any]:
    """The same tables; numbers in `parameters` that a double would round are texts, as they were typed."""
    tasks = tables.get("tasks")
    given = [name for name, task in tasks.items() if _has_parameters(task)] if isinstance(tasks, dict) else []
    exact = toml_tables(text, where=where, parse_float=exact_float) if given else {}
    for name in given:
        tables["tasks"][name]["parameters"] = exact["tasks"][name]["parameters"]
    return tables


def _has_parameters(task: object) -> bool:
    return isinstance(task, dict) and "parameters" in task


def _places(tables: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str, type[SettingsTable]]]:
    """Every table apart from models that is there: what holds it, its name in it and in the file, and its kind."""
    for name, kind in _TABLES.items():
        if name in tables:
            yield tables, name, name, kind
    for name, kind in _TABLES_BY_NAME.items():
        several = tables.get(name)
        if isinstance(several, dict):
            for own, table in list(several.items()):
                # The name of a table is a name; whatever else stands there may be anything, and so may its key.
                yield several, own, f"{name}.{own if isinstance(table, dict) else shown_name(own)}", kind


def _read_table(table: object, kind: type[SettingsTable], *, where: str, place: str) -> SettingsTable:
    """One table, each key of its type; keys that it does not know are told with the one that may be meant."""
    mistakes = Mistakes()
    if isinstance(table, dict):
        known = {key: value for key, value in table.items() if key in kind.__struct_fields__}
        for key in [key for key in table if key not in known]:
            if kind is TaskTable and _is_parameter(key, table.get("contract")):
                hint = f"It is a parameter of {table['contract']}: parameters = {{ {key} = … }}."
                mistakes.add(_unknown_key(f"{place}.{key}", key, kind, where, hint))
                continue
            mistakes.add(_unknown_key(f"{place}.{key}", key, kind, where))
            # Read as the key that may be meant: that this one is missing is not told beside.
            for meant in get_close_matches(key, kind.__struct_fields__, 1):
                known.setdefault(meant, table[key])
        table = known
    with mistakes.gathered():
        read = converted(table, kind, where=where, place=place)
    mistakes.refuse()
    return read


def toml_tables(
    text: str, *, where: str, expected: str = "TOML", parse_float: Callable[[str], object] = float
) -> dict[str, Any]:
    """The tables of a TOML text.

    >>> toml_tables("a = " + "[" * 9000, where="study.toml")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: expected TOML, found values that are nested too deeply
    """
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError as error:
        raise InputError(where, expected=expected, found="values that are nested too deeply") from error
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise InputError(where, expected=expected, found=without_long_names(str(error))) from error


_TABLES: dict[str, type[SettingsTable]] = {
    "study": Header,
    "decoding": Decoding,
    "limits": Limits,
    "judging": JudgingTable,
}
_TABLES_BY_NAME: dict[str, type[SettingsTable]] = {"tasks": TaskTable, "conditions": ConditionTable}
"""Tables of which there are several, each under a name of its own."""


def _is_parameter(key: str, contract: object) -> bool:
    """Whether the contract of a task has a parameter of this name, which belongs into the task's parameters."""
    return isinstance(contract, str) and key in parts_named(contract).parameters


def _unknown_key(place: str, key: str, kind: type[SettingsTable], where: str, hint: str = "") -> InputError:
    known, elsewhere = kind.__struct_fields__, {name: each for name, each in _TABLES.items() if key in _keys(each)}
    hint = hint or did_you_mean(key, known)
    if not hint and elsewhere:
        hint = f"It is a key of [{next(iter(elsewhere))}]."
    table = place.removesuffix(f".{key}") if "." in place else "the file"
    found = quoted_name(key, known)
    return InputError(where, expected=f"a key of {table}: {', '.join(known)}", found=found, hint=hint)


def _keys(kind: type[SettingsTable]) -> tuple[str, ...]:
    return kind.__struct_fields__


def decoding_of(table: Decoding | JudgingTable) -> Fields:
    """What every request carries, by the names of the OpenAI interface."""
    chosen: Fields = {"temperature": table.temperature, "max_tokens": table.max_tokens}
    return chosen if table.top_p is None else {**chosen, "top_p": table.top_p}


def requests_of(study: Study) -> dict[str, Fields]:
    """What every request to each model carries beside messages, seed and constraint, merged (ruling C9)."""
    decoding = decoding_of(study.decoding)
    return {name: table.request(decoding) for name, table in study.models.items()}
