"""What is frozen of a study: everything that decides the answers, and what may not change once it was begun."""

from collections.abc import Mapping
from typing import Any, NamedTuple

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
        "tasks": {name: _without(each, "items", "parameters") for name, each in study.tasks.items()},
        "conditions": {name: _without(each, "examples") for name, each in study.conditions.items()},
        "decoding": {**decoding_of(study.decoding), "samples": study.decoding.samples},
    }


def _without(table: SettingsTable, *names: str) -> Fields:
    """The keys of a table but for some, whose content is frozen elsewhere, and for what is not given."""
    fields: Fields = msgspec.to_builtins(table)
    return {key: value for key, value in fields.items() if key not in names and value is not None}


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


class Change(NamedTuple):
    """One place at which two descriptions differ."""

    path: tuple[str, ...]
    was: object
    is_now: object
    added: bool = False
    """It was not there before."""
    removed: bool = False

    def __str__(self) -> str:
        place = ".".join(self.path)
        if self.removed:
            return f"{place}: was {self.was!r}, is not there now"
        was = "not there" if self.added else repr(self.was)
        return f"{place}: was {was}, is {self.is_now!r}"


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> list[Change]:
    """What is different, by place.

    >>> list(map(str, changes({"seed": 1, "a": {"b": 1}}, {"seed": 2, "a": {}})))
    ['a.b: was 1, is not there now', 'seed: was 1, is 2']
    """
    # Through JSON once, as what was frozen has gone: tuples are lists there.
    return _changes(loads(canonical(before)), loads(canonical(after)), ())


def _changes(before: Fields, after: Fields, path: tuple[str, ...]) -> list[Change]:
    found = []
    for name in sorted(before.keys() | after.keys()):
        place, old, new = (*path, name), before.get(name), after.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += _changes(old, new, place)
        elif name not in after or name not in before or old != new:
            found.append(Change(place, old, new, added=name not in before, removed=name not in after))
    return found


def refuse_changes(
    where: str, before: Mapping[str, object], after: Mapping[str, object], *, begun: str, hint: str
) -> None:
    """Refuse to go on with something else than what was begun, and say what is different."""
    if changed := changes(before, after):
        raise not_the_same(where, changed, begun=begun, hint=hint)


def not_the_same(where: str, changed: list[Change], *, begun: str, hint: str) -> UsageError:
    """The error that says what is different from what was begun."""
    found = "another one:\n  " + "\n  ".join(map(str, changed))
    return UsageError(where, expected=f"the {begun} that was begun there", found=found, hint=hint)
