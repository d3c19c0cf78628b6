"""Contracts by the names that people type: `mcqa`, `game24` and others, or `my_file.py:name`."""

from collections.abc import Mapping
from typing import Any

from affidavit.contracts.contract import AnyContract, label
from affidavit.contracts.declaration import DeclaredParts
from affidavit.contracts.game24 import game24
from affidavit.contracts.json_object import json_object
from affidavit.contracts.judge import judge
from affidavit.contracts.labels import labels
from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.mcqa_reasoned import mcqa_reasoned
from affidavit.contracts.number import number
from affidavit.contracts.own_file import is_in_file, load_contract
from affidavit.contracts.parts import Parts, parts_of
from affidavit.contracts.pattern import pattern
from affidavit.contracts.text import text
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.json_values import shown

BUILT_IN: dict[str, AnyContract] = {
    "mcqa": mcqa,
    "mcqa-reasoned": mcqa_reasoned,
    "number": number,
    "labels": labels,
    "json": json_object,
    "game24": game24,
    "judge": judge,
    "pattern": pattern,
    "text": text,
}
"""The contracts that have a name; a new one is a file and a line here."""


def contract_named(
    name: str, options: str | None = None, parameters: Mapping[str, object] | None = None
) -> AnyContract:
    """The contract of this name, over this option set and with these parameters if any are given."""
    contract = _with_parameters(name, parameters or {})
    return contract if options is None else parts_of(contract).with_options(options)


def task_contract_named(name: str, options: str, parameters: Mapping[str, object] | None = None) -> AnyContract:
    """The contract of a study's task; the option set means nothing to a contract that shows none."""
    contract = _with_parameters(name, parameters or {})
    # One that a file names has the parameters that the file gave it.
    chosen = not is_in_file(name) and parts_of(contract).shows_options
    return parts_of(contract).with_options(options) if chosen else contract


def _with_parameters(name: str, given: Mapping[str, object]) -> AnyContract:
    """The contract of this name with these parameters; it is asked also if there are none, as it may need some."""
    known = parts_named(name).parameters
    for other in (other for other in given if other not in known):
        hint = did_you_mean(other, known)
        if is_in_file(name):
            hint = "A contract from a file has the parameters that the file gives it."
        expected = f"a parameter of {name}: {', '.join(known)}" if known else f"no parameters of {name}"
        raise UsageError("parameters", expected=expected, found=repr(other), hint=hint)
    contract = _contract(name)
    return parts_of(contract).with_parameters(given) if known else contract


def parts_named(name: str) -> Parts:
    """The parts of a built-in contract by its name or label; of any other the defaults, as its code is not run.

    >>> [parts_named(name).shows_options for name in ("mcqa", "mcqa/1", "own.py:x")]
    [True, True, False]
    """
    contract = None if is_in_file(name) else BUILT_IN.get(name.partition("/")[0])
    return Parts() if contract is None else parts_of(contract)


def is_known(name: str) -> bool:
    """Whether a name is that of a built-in contract, or of one in a file, which is not opened."""
    return name in BUILT_IN or is_in_file(name)


def refuse_unknown(name: str, *, where: str) -> None:
    """Refuse a name that no contract has, without running any code; `where` is said to be where it stands.

    >>> refuse_unknown("mcq", where="study.toml: tasks.quiz.contract")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: tasks.quiz.contract: expected mcqa, mcqa-reasoned, number, labels, json, game24, judge, pattern, text or my_file.py:name, found 'mcq'
    Did you mean mcqa?
    """  # noqa: E501
    if not is_known(name):
        raise InputError(where, expected=_names(), found=repr(name), hint=_hint(name))


def frozen_parts(name: str, described: Mapping[str, Any]) -> Parts:
    """The parts of a contract that a study froze: a built-in one's own, of a user's own what was declared.

    A file may also name a built-in contract with parameters of its own; then its label says which it is.
    """
    if name not in BUILT_IN and "declared" in described:
        return DeclaredParts(described["declared"])
    contract = BUILT_IN.get(name)
    if contract is None:
        contract = next((each for each in BUILT_IN.values() if label(each) == described["contract"]), None)
    if contract is None:
        return Parts()
    parts = parts_of(contract)
    given = own_parameters(parts, described)
    return parts_of(parts.with_parameters(given)) if parts.parameters else parts


def own_parameters(parts: Parts, described: Mapping[str, Any]) -> dict[str, object]:
    """What a study froze of a contract's parameters, as `with_parameters` takes them.

    A built-in contract freezes all of its parameters and nothing else (ruling C3): other names are refused.
    """
    known = getattr(parts, "params", None)
    if known is None:
        return {}  # a contract from a file has those that the file gives it
    given = described["params"]
    if not isinstance(given, Mapping) or given.keys() != known.keys():
        expected = f"exactly these: {', '.join(known)}" if known else "none of them"
        found = shown(sorted(given), 1000) if isinstance(given, Mapping) else shown(given)
        raise InputError("parameters", expected=expected, found=found)
    return {name: given[name] for name in parts.parameters}


def _contract(name: str) -> AnyContract:
    if name in BUILT_IN:
        return BUILT_IN[name]
    if is_in_file(name):
        return load_contract(name)
    raise UsageError(
        "CONTRACT",
        expected=_names(),
        found=repr(name),
        hint=_hint(name),
    )


def _names() -> str:
    return f"{', '.join(BUILT_IN)} or my_file.py:name"


def _hint(name: str) -> str:
    if name.endswith(".py"):
        return f"Which contract of the file? Name it after a colon: {name}:NAME."
    return did_you_mean(name, BUILT_IN)
