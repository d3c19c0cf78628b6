"""What is frozen of a study: everything that decides the answers, and what may not change once it was begun."""

from collections.abc import Mapping
from typing import Any

import msgspec

from affidavit.archive.json_bytes import loads
from affidavit.errors import UsageError
from affidavit.json_values import Fields, canonical
from affidavit.models.registry import model_from_frozen
from affidavit.models.settings import SettingsTable
from affidavit.study.study_file import Study, decoding_of


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

    >>> from affidavit.study.study_file import decode_study
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
