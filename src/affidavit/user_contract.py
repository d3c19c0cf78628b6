"""A contract of the user's own, loaded from `my_file.py:name`.

The file is code that the user trusts; it runs in this process. What is checked here is only that the object
has the shape of a contract, so that a slip is named before the first output is read.
"""

import importlib.util
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import cast

from affidavit.contract import Unread, guarded
from affidavit.errors import UsageError
from affidavit.rows import AnyContract

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
