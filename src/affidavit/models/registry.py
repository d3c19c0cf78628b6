"""The providers of models, and the model tables of a file read with them.

A new provider is one file, with its settings and its model, and one line in `PROVIDERS`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from affidavit.errors import InputError, Mistakes, UsageError, did_you_mean
from affidavit.models.embedded import EmbeddedProvider
from affidavit.models.environment_values import refuse_unset
from affidavit.models.model import Model
from affidavit.models.openai_compatible import ServerProvider
from affidavit.models.replay import ReplayProvider
from affidavit.models.request_body import TokenLimit
from affidavit.models.settings import Limits, ModelTable, Provider
from affidavit.models.shown_names import quoted_name, shown_name
from affidavit.models.table_mistakes import converted, kind_in_words

PROVIDERS: dict[str, type[Provider]] = {
    "base_url": ServerProvider,
    "embedded": EmbeddedProvider,
    "gguf": EmbeddedProvider,
    "replay": ReplayProvider,
}
"""The key of a model table that names what is asked, and who then answers."""

_COMMON_KEYS = tuple(name for name in ModelTable.__struct_fields__ if name != "provider")


def read_model_tables(tables: Mapping[str, object], *, where: str) -> dict[str, ModelTable]:
    """The models of a file by their names, each checked: `tables` is what TOML gives for `[models]`.

    >>> read_model_tables({"m": {"replay": "other-study"}}, where="study.toml")["m"].identity
    'm'
    >>> read_model_tables({"m": {"replay": "other-study", "slots": 4}}, where="study.toml")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: expected no slots in models.m: it has no meaning beside replay, found slots given
    """  # noqa: E501
    mistakes, found = Mistakes(), dict[str, ModelTable]()
    for name, fields in tables.items():
        with mistakes.gathered():
            found[name] = _read_model(name, fields, where=where)
    mistakes.refuse()
    return found


def _read_model(name: str, fields: object, *, where: str) -> ModelTable:
    place = f"models.{name}"
    if not isinstance(fields, dict):
        # Whatever stands there may be a key: only its kind is told. So may the name, if it is none of a table.
        place = f"models.{shown_name(name)}"
        raise InputError(where, expected=f"a table [{place}]", found=kind_in_words(fields))
    mistakes = Mistakes()
    provider = _provider_of(fields, mistakes, where=where, place=place)
    own = {key: value for key, value in fields.items() if key in provider.__struct_fields__}
    common = {key: value for key, value in fields.items() if key in _COMMON_KEYS}
    with mistakes.gathered():
        common["provider"] = converted(own, provider, where=where, place=place)
    with mistakes.gathered():
        # Whoever answers is another matter than what is the same for all.
        table = converted({"provider": provider(), **common}, ModelTable, where=where, place=place)
    mistakes.refuse()
    table = msgspec.structs.replace(table, model=table.model or name, identity=table.identity or name)
    table.check(where=where, place=place)
    return table


def _provider_of(fields: Mapping[str, object], mistakes: Mistakes, *, where: str, place: str) -> type[Provider]:
    """Who answers, by the one key that says so; a key that is nobody's, or another's, is a mistake."""
    known = {*_COMMON_KEYS, *(key for provider in PROVIDERS.values() for key in provider.__struct_fields__)}
    for key in fields:
        if key not in known:
            hint, found = did_you_mean(key, sorted(known)), quoted_name(key, known)
            mistakes.add(InputError(where, expected=f"known keys in {place}", found=found, hint=hint))
    given = [key for key in PROVIDERS if fields.get(key)]
    if len(given) != 1:
        mistakes.refuse()  # the key that says so may be misspelt
        expected = f"exactly one of {', '.join(PROVIDERS)} in {place}"
        raise InputError(where, expected=expected, found=" and ".join(given) or "none")
    provider = PROVIDERS[given[0]]
    for key in fields:
        if key in known and key not in _COMMON_KEYS and key not in provider.__struct_fields__:
            expected = f"no {key} in {place}: it has no meaning beside {given[0]}"
            mistakes.add(InputError(where, expected=expected, found=f"{key} given"))
    return provider


class _FrozenModel(msgspec.Struct, frozen=True):
    flavour: str
    context: int
    model: str
    identity: str
    tools: list[dict[str, Any]]
    token_limit: TokenLimit
    body: dict[str, Any]
    seed: bool = True


def model_from_frozen(name: str, fields: Mapping[str, Any]) -> ModelTable:
    """The table of a model as it was frozen with a study: it decides the same answers, but knows nobody to ask."""
    frozen = msgspec.convert(fields, _FrozenModel)
    flavour = frozen.flavour
    for provider in PROVIDERS.values():
        if flavour in provider.flavours:
            return ModelTable(
                provider=provider.from_frozen(flavour=flavour, context=frozen.context),
                model=frozen.model,
                identity=frozen.identity,
                tools=frozen.tools,
                token_limit=frozen.token_limit,
                body=frozen.body,
                seed=frozen.seed,
            )
    known = ", ".join(dict.fromkeys(word for provider in PROVIDERS.values() for word in provider.flavours))
    raise InputError(f"models.{name}.flavour", expected=known, found=repr(flavour))


def weights_of(models: Mapping[str, ModelTable], *, beside: Path, where: str) -> dict[str, Path]:
    """The file of weights of each model that has one; paths are meant from `beside`, `where` is their file."""
    mistakes, files = Mistakes(), dict[str, Path]()
    for name, table in models.items():
        with mistakes.gathered():
            _refuse_unknown_name(name, table, where=where)
            if (file := table.provider.weights(beside=beside)) is not None:
                files[name] = file
    mistakes.refuse()
    return files


def refuse_unknown_weights(models: Mapping[str, ModelTable], *, where: str) -> None:
    """Refuse names of weights that nobody knows; a known model's file need not be here."""
    mistakes = Mistakes()
    for name, table in models.items():
        with mistakes.gathered():
            _refuse_unknown_name(name, table, where=where)
    mistakes.refuse()


def _refuse_unknown_name(name: str, table: ModelTable, *, where: str) -> None:
    try:
        table.provider.refuse_unknown_weights()
    except UsageError as error:
        place, found = f"{where}: models.{name}.embedded", repr(error.where)
        raise UsageError(place, expected=error.expected, found=found, hint=error.hint) from error


def check_environment(models: Mapping[str, ModelTable]) -> None:
    """Refuse models whose environment variables hold nothing; all of these are told at once."""
    needed = ((name, *each) for name, table in models.items() for each in table.variables())
    refuse_unset((f"models.{name}.{key}", variable) for name, key, variable in needed)


def open_model(name: str, table: ModelTable, limits: Limits, *, beside: Path) -> Model:
    """The model that a table stands for, ready for `async with`; paths are meant from `beside`."""
    return table.provider.open(name, table, limits, beside=beside)
