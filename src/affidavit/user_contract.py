"""A contract of the user's own, loaded from `my_file.py:name`.

The file is code that the user trusts; it runs in this process. What is checked here is only that the object
has the shape of a contract, so that a slip is named before the first output is read.
"""

import importlib.util
from pathlib import Path

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
    if not path.is_file():
        raise UsageError(place, expected="a Python file before the colon", found=f"no file {file!r}")
    contract = _attribute(path, name, place)
    for part, kind in _SHAPE.items():
        if not _fits(contract, part):
            raise UsageError(
                place,
                expected=f"a contract, with {kind} in {part!r}",
                found=repr(getattr(contract, part, "nothing of that name"))[:80],
                hint="A contract has name, version, params, instruction, read, validate and grammar; "
                "see docs/contracts.md.",
            )
    return contract  # type: ignore[return-value]  # its shape was just checked, member by member


def _attribute(path: Path, name: str, place: str) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(place, expected="a Python file, its name ending in .py", found=str(path))
    module = importlib.util.module_from_spec(spec)
    loaded = guarded(lambda: spec.loader.exec_module(module))  # type: ignore[union-attr]
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
        return isinstance(value, str) and bool(value)
    if part == "version":
        return type(value) is int
    if part == "params":
        return hasattr(value, "keys")
    return callable(value)
