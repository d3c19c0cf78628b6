"""Contracts by the names that people type: `mcqa`, `game24`, `judge`, `text`, or `my_file.py:name`.

A file is code that the user trusts; it runs in this process. What is checked of it here is only that the object
has the shape of a contract, so that a slip is named before the first output is read.
"""

import importlib.util
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any, cast

from affidavit.contracts.contract import CORE, AnyContract, Unread, guarded, label
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.declaration import DeclaredParts
from affidavit.contracts.game24 import game24
from affidavit.contracts.judge import judge
from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.parts import OWN_DATA, OWN_METHODS, Parts, are_mark_fields, parts_of
from affidavit.contracts.shape import misfit, part_in_words
from affidavit.contracts.text import text
from affidavit.errors import UsageError, did_you_mean

BUILT_IN: dict[str, AnyContract] = {
    "mcqa": mcqa,
    "game24": game24,
    "judge": judge,
    "text": text,
}
"""The contracts that have a name; a new one is a file and a line here."""


def contract_named(name: str, options: str | None = None) -> AnyContract:
    """The contract of this name, over this option set if one is given."""
    contract = _contract(name)
    return contract if options is None else parts_of(contract).with_options(options)


def task_contract_named(name: str, options: str) -> AnyContract:
    """The contract of a study's task; the option set means nothing to a contract that shows none."""
    contract = _contract(name)
    # One that a file names has the parameters that the file gave it.
    chosen = not is_in_file(name) and parts_of(contract).shows_options
    return parts_of(contract).with_options(options) if chosen else contract


def is_in_file(name: str) -> bool:
    """Whether a contract's name is that of a place in a file, `my_file.py:name`: code of the user's own."""
    return ":" in name


def parts_named(name: str) -> Parts:
    """The parts of a built-in contract by its name or label; of any other the defaults, as its code is not run.

    >>> [parts_named(name).shows_options for name in ("mcqa", "mcqa/1", "own.py:x")]
    [True, True, False]
    """
    contract = None if is_in_file(name) else BUILT_IN.get(name.partition("/")[0])
    return Parts() if contract is None else parts_of(contract)


def frozen_parts(name: str, described: Mapping[str, Any]) -> Parts:
    """The parts of a contract that a study froze: a built-in one's own, of a user's own what was declared.

    A file may also name a built-in contract with parameters of its own; then its label says which it is.
    """
    if name not in BUILT_IN and "declared" in described:
        return DeclaredParts(described["declared"])
    contract = BUILT_IN.get(name)
    if contract is None:
        contract = next((each for each in BUILT_IN.values() if label(each) == described["contract"]), None)
    return Parts() if contract is None else parts_of(contract)


def _contract(name: str) -> AnyContract:
    if name in BUILT_IN:
        return BUILT_IN[name]
    if is_in_file(name):
        with redirect_stdout(sys.stderr):  # whatever the file prints is no result of ours
            return load_contract(name)
    raise UsageError(
        "CONTRACT",
        expected=f"{', '.join(BUILT_IN)} or my_file.py:name",
        found=repr(name),
        hint=_hint(name),
    )


def _hint(name: str) -> str:
    if name.endswith(".py"):
        return f"Which contract of the file? Name it after a colon: {name}:NAME."
    if name.lower() == "pattern":
        return "A pattern is written in a file of your own: my_file.py:name; see docs/contracts.md."
    return did_you_mean(name, BUILT_IN)


# --- a contract of the user's own ---


def load_contract(place: str) -> AnyContract:
    """The contract at `file.py:name`."""
    file, _, name = place.rpartition(":")
    path = Path(file)
    if isinstance(found := guarded(path.is_file), Unread) or not found:
        raise UsageError(place, expected="a Python file before the colon", found=f"no file {file!r}")
    return checked_contract(_attribute(path, name, place), place)


def checked_contract(contract: object, place: str) -> AnyContract:
    """The object, refused unless it has the shape of a contract; `place` is what the message calls it."""
    if (odd := misfit(contract)) is not None:
        hint = f"A contract has {', '.join(CORE)}; see docs/contracts.md."
        raise UsageError(place, expected=odd.expected, found=odd.found, hint=hint)
    _check_optional_parts(contract, place)
    return cast("AnyContract", contract)


def _check_optional_parts(contract: object, place: str) -> None:
    for part in (*OWN_METHODS, *OWN_DATA):
        if guarded(partial(_fits_or_is_not_there, contract, part)) is not True:
            raise UsageError(
                place,
                expected=f"{OWN_DATA.get(part, 'a method')} in {part!r}",
                found=part_in_words(contract, part),
                hint='This is the name of an optional part; see "Optional parts" in docs/contracts.md.',
            )


def _fits_or_is_not_there(contract: object, part: str) -> bool:
    if not hasattr(contract, part):
        return True
    value: Any = getattr(contract, part)
    match part:
        case "counted":
            different = len(set(value.values())) == len(value)
            return different and all(isinstance(text, str) for pair in value.items() for text in pair)
        case "mark_fields":
            return are_mark_fields(value)
        case "tables":
            return _are_tables(value, inherited=isinstance(contract, Parts))
        case "instruction_template":
            return value is None or isinstance(value, str)
        case _ if part in OWN_DATA:
            return isinstance(value, str)
    return callable(value)


def _are_tables(value: object, *, inherited: bool) -> bool:
    """Whether these can be tables of a user's contract; what it inherits from ours may name tables of ours."""
    known = (CountTable, str) if inherited else (CountTable,)
    if not isinstance(value, list | tuple) or not all(isinstance(table, known) for table in value):
        return False
    return sum(isinstance(table, CountTable) and table.explains != () for table in value) <= 1


def _attribute(path: Path, name: str, place: str) -> object:
    spec = importlib.util.spec_from_file_location(f"affidavit_user_contract_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(place, expected="a Python file, its name ending in .py", found=str(path))
    module = importlib.util.module_from_spec(spec)
    # As Python does for any program: the file's folder is where its imports are looked for first, and the module
    # is known by its name while it runs (dataclasses ask for it).
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    loaded = guarded(partial(spec.loader.exec_module, module))
    sys.path.pop(0)
    if isinstance(loaded, Unread):
        raise UsageError(str(path), expected="a file that Python can run", found=loaded.error)
    if not hasattr(module, name):
        known = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise UsageError(place, expected=f"a name {name!r} in the file", found=f"the names {known}")
    value: object = getattr(module, name)
    return value
