"""A study file: which models are asked what, under which conditions, and how.

Everything is checked before the first request. What decides the answers is frozen with the study; where a model
is reached and how patiently may change from run to run.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from affidavit.contract import Fields
from affidavit.errors import InputError
from affidavit.prompt import Condition
from affidavit.record import canonical

Flavour = Literal["openai", "llamacpp", "vllm", "ollama", "openrouter"]


class _Table(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A table of the file: it refuses keys that it does not know."""


class Header(_Table, frozen=True, kw_only=True):
    """`[study]`."""

    name: str
    seed: int = 0


class ModelTable(_Table, frozen=True, kw_only=True):
    """`[models.NAME]`: where a model is reached."""

    base_url: str | list[str] = ""
    replay: str = ""
    """Instead of an address: the directory of another study whose answers are given again."""
    model: str = ""
    """Its name at the server or in the other study; the name in this study unless given."""
    flavour: Flavour = "openai"
    key_env: str | None = None
    """The environment variable that holds the key; the key itself is never in a file."""
    connections: int = 32
    headers: dict[str, str] = {}
    body: dict[str, object] = {}
    """Further fields of every request."""


class Generate(_Table, frozen=True, kw_only=True):
    """`items = { generate = 20 }`: hands of 24 that can be solved, drawn by the study's seed."""

    generate: int


class TaskTable(_Table, frozen=True, kw_only=True):
    """`[tasks.NAME]`: items and the contract that reads the answers."""

    contract: str
    items: str | Generate
    options: str = "A-D"


class ConditionTable(_Table, frozen=True, kw_only=True):
    """`[conditions.NAME]`: what one way of asking adds."""

    preamble: str = ""
    system: str = ""
    constrained: bool = False


class Decoding(_Table, frozen=True, kw_only=True):
    """`[decoding]`."""

    temperature: float = 0.0
    max_tokens: int = 256
    top_p: float | None = None
    samples: int = 1


class Limits(_Table, frozen=True, kw_only=True):
    """`[limits]`: seconds, unless the name says otherwise. All are finite."""

    connect: float = 10.0
    attempt: float = 120.0
    sample: float = 900.0
    run: float = 7 * 86_400.0
    attempts: int = 6
    retry_after: float = 120.0
    """The longest wait that a server may ask for."""
    body_megabytes: float = 8.0


class Study(_Table, frozen=True, kw_only=True):
    """The whole file."""

    study: Header
    models: dict[str, ModelTable]
    tasks: dict[str, TaskTable]
    conditions: dict[str, ConditionTable] = msgspec.field(default_factory=lambda: {"base": ConditionTable()})
    decoding: Decoding = Decoding()
    limits: Limits = Limits()


def parse_study(text: str, *, where: str) -> Study:
    """The study that a TOML text describes."""
    try:
        study = msgspec.convert(tomllib.loads(text), Study)
    except tomllib.TOMLDecodeError as error:
        raise InputError(where, expected="TOML", found=str(error)) from error
    except msgspec.ValidationError as error:
        raise InputError(where, expected="a study", found=str(error), hint=_hint(str(error))) from error
    _check(study, where=where)
    return study


_TABLES = (Study, Header, ModelTable, TaskTable, Generate, ConditionTable, Decoding, Limits)


def _hint(message: str) -> str:
    unknown = re.search("unknown field `(.+?)`", message)
    known = sorted({name for table in _TABLES for name in table.__struct_fields__})
    nearest = difflib.get_close_matches(unknown[1], known, 1) if unknown else []
    return f"Did you mean {nearest[0]}?" if nearest else ""


def _check(study: Study, *, where: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", study.study.name):
        expected = "a name of letters, digits, dots, hyphens and underscores in study.name"
        raise InputError(where, expected=expected, found=repr(study.study.name))
    for name, many in (("models", study.models), ("tasks", study.tasks), ("conditions", study.conditions)):
        if not many:
            raise InputError(where, expected=f"at least one [{name}.NAME]", found="none")
    numbers: dict[str, float] = {
        f"limits.{name}": getattr(study.limits, name) for name in Limits.__struct_fields__
    }
    numbers |= {f"models.{name}.connections": table.connections for name, table in study.models.items()}
    numbers |= {"decoding.max_tokens": study.decoding.max_tokens, "decoding.samples": study.decoding.samples}
    for name, number in numbers.items():
        if not 0 < number < 1e9:
            raise InputError(where, expected=f"a positive, finite {name}", found=str(number))
    for name, task in study.tasks.items():
        if isinstance(task.items, Generate) and task.contract != "game24":
            expected = f"a file in tasks.{name}.items: only hands of game24 are generated"
            raise InputError(where, expected=expected, found=f"the contract {task.contract!r}")
    for name, table in study.models.items():
        _check_model(name, table, study, where=where)


def _check_model(name: str, table: ModelTable, study: Study, *, where: str) -> None:
    urls = [table.base_url] if isinstance(table.base_url, str) else table.base_url
    if table.replay and not any(urls):
        return
    for url in urls or [""]:
        if not _is_address(url):
            # The address itself is not repeated: it may hold a password.
            expected = f"an http:// or https:// address in models.{name}.base_url"
            raise InputError(where, expected=expected, found="something else")
    constrained = [condition for condition, each in study.conditions.items() if each.constrained]
    if constrained and table.flavour not in ("llamacpp", "vllm"):
        raise InputError(
            where,
            expected=f'flavour = "llamacpp" or "vllm" in models.{name} for the condition {constrained[0]}',
            found=repr(table.flavour),
            hint="Other servers take no grammar.",
        )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False


def conditions_of(study: Study) -> list[Condition]:
    """The conditions by name."""
    return [
        Condition(name, each.preamble, each.system, each.constrained) for name, each in study.conditions.items()
    ]


def decoding_of(study: Study) -> Fields:
    """What every request carries, by the names of the OpenAI interface."""
    table = study.decoding
    chosen: Fields = {"temperature": table.temperature, "max_tokens": table.max_tokens}
    return chosen if table.top_p is None else {**chosen, "top_p": table.top_p}


def frozen(study: Study) -> Fields:
    """Everything that decides the answers, as JSON values: no address, no header, no limit."""
    return {
        "name": study.study.name,
        "seed": study.study.seed,
        "models": {
            name: {"model": each.model or name, "body": each.body, "flavour": each.flavour}
            for name, each in study.models.items()
        },
        "tasks": {
            name: {"contract": each.contract, "options": each.options} for name, each in study.tasks.items()
        },
        "conditions": {name: msgspec.to_builtins(each) for name, each in study.conditions.items()},
        "decoding": {**decoding_of(study), "samples": study.decoding.samples},
    }


def thawed(config: Mapping[str, Any]) -> Study:
    """The study of a frozen one: it asks the same, but knows no server.

    >>> text = '[study]\\nname = "s"\\n[models.m]\\nbase_url = "http://h"\\n'
    >>> study = parse_study(text + '[tasks.t]\\ncontract = "mcqa"\\nitems = "i"', where="s")
    >>> frozen(thawed(frozen(study))) == frozen(study)
    True
    """
    tables = {
        "study": {"name": config["name"], "seed": config["seed"]},
        "models": config["models"],
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


def seed_of(study_seed: int, task: str, item: str, sample: int) -> int:
    """The seed of a request: 31 bits, the same in all conditions, so that pairs share it.

    >>> seed_of(7, "trivia", "q1", 0) == seed_of(7, "trivia", "q1", 0) < 2**31
    True
    """
    return int.from_bytes(sha256(canonical([study_seed, task, item, sample])).digest()[:4], "big") >> 1
