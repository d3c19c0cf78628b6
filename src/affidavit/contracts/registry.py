"""Contracts by the names that people type: `mcqa`, `game24`, `judge`, `text`, or `my_file.py:name`.

A file is code that the user trusts; it runs in this process. What is checked of it here is only that the object
has the shape of a contract, so that a slip is named before the first output is read.
"""

import importlib.util
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import cast

from affidavit.contracts.contract import AnyContract, Unread, guarded
from affidavit.contracts.game24 import game24
from affidavit.contracts.judge import judge
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.contracts.text import text
from affidavit.errors import UsageError, did_you_mean

BUILT_IN = ("mcqa", "game24", "judge", "text")


def contract_named(name: str, options: str | None = None) -> AnyContract:
    """The contract of this name; only multiple choice has an option set."""
    if options is not None and name != "mcqa":
        raise UsageError("--options", expected="the contract mcqa", found=name)
    if name == "mcqa":
        return MultipleChoice("A-D" if options is None else options)
    built_in: dict[str, AnyContract] = {"game24": game24, "judge": judge, "text": text}
    if name in built_in:
        return built_in[name]
    if ":" in name:
        with redirect_stdout(sys.stderr):  # whatever the file prints is no result of ours
            return load_contract(name)
    raise UsageError(
        "CONTRACT",
        expected="mcqa, game24, judge, text or my_file.py:name",
        found=repr(name),
        hint=did_you_mean(name, BUILT_IN),
    )


def task_contract_named(name: str, options: str) -> AnyContract:
    """The contract of a study's task."""
    return contract_named(name, options if name == "mcqa" else None)


# --- a contract of the user's own ---

_SHAPE: dict[str, str] = {
    "name": "a text",
    "version": "a whole number",
    "params": "a mapping of JSON values",
    "instruction": "a method",
    "read": "a method",
    "validate": "a method",
    "grammar": "a method",
}


def load_contract(place: str) -> AnyContract:
    """The contract at `file.py:name`."""
    file, _, name = place.rpartition(":")
    path = Path(file)
    if isinstance(found := guarded(path.is_file), Unread) or not found:
        raise UsageError(place, expected="a Python file before the colon", found=f"no file {file!r}")
    contract = _attribute(path, name, place)
    for part, kind in _SHAPE.items():
        if guarded(partial(_fits, contract, part)) is not True:
            raise UsageError(
                place,
                expected=f"a contract, with {kind} in {part!r}",
                found=_shown(contract, part),
                hint="A contract has name, version, params, instruction, read, validate and grammar; "
                "see docs/contracts.md.",
            )
    return cast("AnyContract", contract)


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


def _fits(contract: object, part: str) -> bool:
    value = getattr(contract, part, None)
    if part == "name":
        return isinstance(value, str) and bool(value) and value.isprintable()
    if part == "version":
        return type(value) is int
    if part == "params":
        json.dumps(dict(cast("Mapping[str, object]", value)), allow_nan=False)
        return True
    return callable(value)


def _shown(contract: object, part: str) -> str:
    found = guarded(lambda: repr(getattr(contract, part, "nothing of that name"))[:80])
    return found.error if isinstance(found, Unread) else found
