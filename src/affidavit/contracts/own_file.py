"""A contract in a file of the user's own, `my_file.py:name`: code that the user trusts, run in this process.

What runs is what was read, byte for byte, so that its digest says which code it was; modules that the file imports
are not covered by it. What is checked of the object is only that it has the shape of a contract, so that a slip is
named before the first output is read.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, cast

from affidavit.contracts.contract import CORE, AnyContract, Unread, guarded
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.parts import OWN_DATA, OWN_METHODS, Parts, are_mark_fields
from affidavit.contracts.shape import misfit, part_in_words
from affidavit.errors import UsageError


def is_in_file(name: str) -> bool:
    """Whether a contract's name is that of a place in a file, `my_file.py:name`: code of the user's own."""
    return ":" in name


def object_name(place: str) -> str:
    """The name of the contract within its file.

    >>> object_name("folder/my_file.py:last_line")
    'last_line'
    """
    return place.rpartition(":")[2]


@dataclass(frozen=True)
class OwnFile:
    """A file that was read, and the name of the contract in it; nothing of it has run yet."""

    place: str
    source: bytes

    @cached_property
    def sha256(self) -> str:
        """The digest of the file."""
        return sha256(self.source).hexdigest()

    @cached_property
    def contract(self) -> AnyContract:
        """The contract: the file is run for it, once."""
        path = Path(self.place.rpartition(":")[0])
        with redirect_stdout(sys.stderr):  # whatever the file prints is no result of ours
            return checked_contract(_attribute(path, self.source, object_name(self.place), self.place), self.place)


def read_own_file(place: str) -> OwnFile:
    """The file of the contract at `file.py:name`, read and not run."""
    file = place.rpartition(":")[0]
    if isinstance(found := guarded(Path(file).is_file), Unread) or not found:
        raise UsageError(place, expected="a Python file before the colon", found=f"no file {file!r}")
    source = guarded(Path(file).read_bytes)
    if isinstance(source, Unread):
        raise UsageError(place, expected="a file that can be read", found=source.error)
    return OwnFile(place, source)


def load_contract(place: str) -> AnyContract:
    """The contract at `file.py:name`."""
    return read_own_file(place).contract


class GivenContracts:
    """The contracts of users' own that were named on this command line: no other code is run for a directory.

    A study's directory may come from anybody. It says which contract read its outputs, by the name and the digest
    of its file, and never where code is: only a file that the user names is run, and only if it is that one.
    """

    def __init__(self, places: Iterable[str] = ()) -> None:
        self._places = tuple(places)

    @property
    def places(self) -> tuple[str, ...]:
        """Where they were said to be."""
        return self._places

    @cached_property
    def _files(self) -> list[OwnFile]:
        for place in self._places:
            if not is_in_file(place):
                raise UsageError("--contract", expected="a contract in a file, FILE.py:NAME", found=repr(place))
        return [read_own_file(place) for place in self._places]

    def contract(self, frozen: str, digest: str) -> AnyContract:
        """The contract that was frozen as `my_file.py:name` with the digest of its file."""
        name = object_name(frozen)
        named = [file for file in self._files if object_name(file.place) == name]
        for file in named:
            if file.sha256 == digest:
                return file.contract
        expected = f"the file of the contract {name!r} that read these outputs, sha256 {digest[:16]}…"
        hint = (
            f"It is code: if you trust it, name it with --contract {frozen}, with its path from here, or with "
            "--study STUDY.toml."
        )
        if named:
            hint = "The file has changed since, or is another one. Name the file as it was."
        found = ", ".join(f"{file.place} with sha256 {file.sha256[:16]}…" for file in named)
        if not named:
            others = ", ".join(file.place for file in self._files)
            found = f"none of that name: {others}" if others else "none named"
        raise UsageError(frozen, expected=expected, found=found, hint=hint)


# --- what is checked of it ---


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


# --- running it ---


class _AsRead(SourceFileLoader):
    """Runs the bytes that were read, whatever stands in the file now or was compiled of it before."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """The code of these bytes."""
        compiled: Callable[..., CodeType] = self.source_to_code
        return compiled(self._source, self.path)


def _attribute(path: Path, source: bytes, name: str, place: str) -> object:
    if path.suffix != ".py":
        raise UsageError(place, expected="a Python file, its name ending in .py", found=str(path))
    module_name = f"affidavit_user_contract_{path.stem}"
    loader = _AsRead(module_name, str(path), source)
    spec = importlib.util.spec_from_loader(module_name, loader, origin=str(path))
    if spec is None:
        raise UsageError(place, expected="a Python file", found=str(path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    # As Python does for any program: the file's folder is where its imports are looked for first, and the module
    # is known by its name while it runs (dataclasses ask for it).
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    loaded = guarded(partial(loader.exec_module, module))
    sys.path.pop(0)
    if isinstance(loaded, Unread):
        raise UsageError(str(path), expected="a file that Python can run", found=loaded.error)
    if not hasattr(module, name):
        known = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise UsageError(place, expected=f"a name {name!r} in the file", found=f"the names {known}")
    value: object = getattr(module, name)
    return value
