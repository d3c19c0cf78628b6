"""Disks that behave as disks do on a bad day: they lose power, refuse, or run full.

`TraceDisk` does every call and remembers it. `Platter` is told these calls one by one and knows, after each, what the
medium holds for sure and what it may or may not hold; `Platter.after_power_loss` draws one of the possible states.
"""

import errno
import os
import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from affidavit.archive.checked_lines import checked_fields
from affidavit.archive.disk import Disk
from affidavit.errors import AffidavitError

BLOCK = 512


class InstantDisk(Disk):
    """A disk that does not make anyone wait for a sync, and knows which files are open."""

    def __init__(self) -> None:
        self.open_files: set[int] = set()

    def create(self, path):
        return self._opened(super().create(path))

    def reopen(self, path):
        return self._opened(super().reopen(path))

    def _opened(self, file):
        self.open_files.add(file)
        return file

    def close(self, file):
        self.open_files.discard(file)
        super().close(file)

    def sync(self, file):
        os.fstat(file)

    def sync_directory(self, path):
        path.stat()

    def end_of_process(self) -> None:
        """Close what is open, as the system does for a process that was killed: nothing is synced."""
        for file in self.open_files:
            os.close(file)
        self.open_files.clear()


# --- loss of power ---


class Killed(BaseException):
    """The process ends here; no code of its own runs any more."""


class Call(NamedTuple):
    """One call that changed the disk. Paths are below the root of the trace."""

    name: str
    path: Path = Path()
    old: Path = Path()
    file: int = 0
    """Which file, whatever its name."""
    at: int = 0
    """Where a write begins; the size after a truncate; how many records are finished."""
    content: bytes = b""


class State(NamedTuple):
    """The files and directories below a root."""

    files: dict[Path, bytes]
    directories: frozenset[Path]

    @classmethod
    def of(cls, root: Path) -> "State":
        found = sorted(root.rglob("*"))
        files = {path.relative_to(root): path.read_bytes() for path in found if path.is_file()}
        return cls(files, frozenset(path.relative_to(root) for path in found if path.is_dir()))

    def rebuild(self, root: Path) -> None:
        """Make the root hold this and nothing else."""
        shutil.rmtree(root, ignore_errors=True)
        for directory in (Path(), *sorted(self.directories)):
            (root / directory).mkdir()
        for path, content in self.files.items():
            (root / path).write_bytes(content)


class TraceDisk(InstantDisk):
    """Does every call for real and remembers it; ends the process at the call `kill_at`, counted from 1.

    Of a write at which the process ends, half is done.
    """

    def __init__(self, root: Path, *, kill_at: int = 0) -> None:
        super().__init__()
        self.root = root
        self.before = State.of(root)
        self.calls: list[Call] = []
        self.kill_at = kill_at
        self._done = 0
        self.numbers = {path: number for number, path in enumerate(self.before.files)}
        self._made = len(self.numbers)
        self._number_of: dict[int, int] = {}

    def finished(self, count: int) -> None:
        """So many records may not be lost from now on."""
        self.calls.append(Call("finished", at=count))

    def make_directory(self, path):
        self._step()
        if not path.is_dir():
            self.calls.append(Call("make_directory", self._below(path)))
        super().make_directory(path)

    def create(self, path):
        self._step()
        return self._named(super().create(path), path)

    def reopen(self, path):
        self._step()
        return self._named(super().reopen(path), path)

    def write(self, file, content):
        killed = self._is_last()
        done = content[: len(content) // 2] if killed else content
        self.calls.append(Call("write", file=self._number_of[file], at=os.fstat(file).st_size, content=done))
        super().write(file, done)
        if killed:
            raise Killed

    def sync(self, file):
        self._step()
        self.calls.append(Call("sync", file=self._number_of[file]))
        super().sync(file)

    def truncate(self, file, size):
        self._step()
        self.calls.append(Call("truncate", file=self._number_of[file], at=size))
        super().truncate(file, size)

    def replace(self, old, new):
        self._step()
        number = self._names().pop(self._below(old))
        self.calls.append(Call("replace", self._below(new), self._below(old), number))
        super().replace(old, new)

    def remove(self, path):
        self._step()
        if path.exists():
            self.calls.append(Call("remove", self._below(path)))
        super().remove(path)

    def sync_directory(self, path):
        self._step()
        self.calls.append(Call("sync_directory", self._below(path)))
        super().sync_directory(path)

    def _is_last(self) -> bool:
        self._done += 1
        return self._done == self.kill_at

    def _step(self) -> None:
        if self._is_last():
            raise Killed

    def _below(self, path: Path) -> Path:
        return path.relative_to(self.root)

    def _names(self) -> dict[Path, int]:
        """The names as every process sees them now."""
        names = dict(self.numbers)
        for call in self.calls:
            apply_to_names(names, set(), call)
        return names

    def _named(self, file: int, path: Path) -> int:
        number = self._names().get(self._below(path))
        if number is None:
            number, self._made = self._made, self._made + 1
            self.calls.append(Call("create", self._below(path), file=number))
        self._number_of[file] = number
        return file


def apply_to_names(names: dict[Path, int], directories: set[Path], call: Call) -> None:
    match call.name:
        case "create":
            names[call.path] = call.file
        case "replace":
            names.pop(call.old, None)
            names[call.path] = call.file
        case "remove":
            names.pop(call.path, None)
        case "make_directory":
            directories.add(call.path)


@dataclass
class Fate:
    """What becomes of all that was not synced: each piece is kept with the same odds.

    The pieces of a write are the whole of it, its blocks, or two parts at any byte. Where a later piece is kept and
    an earlier one is not, there is a hole of zeros; with `grown`, also where none is kept.
    """

    odds: float
    rng: random.Random
    cut: str = "whole"
    grown: bool = False

    def keeps(self) -> bool:
        return self.rng.random() < self.odds

    def pieces(self, call: Call) -> Iterator[Call]:
        if call.name == "truncate":
            yield call
            return
        at, rest = call.at, call.content
        while rest:
            size = self._size(at, len(rest))
            yield Call("write", file=call.file, at=at, content=rest[:size])
            at, rest = at + size, rest[size:]

    def _size(self, at: int, left: int) -> int:
        if self.cut == "blocks":
            return BLOCK - at % BLOCK
        if self.cut == "bytes":
            return self.rng.randint(1, left)
        return left

    def content(self, sure: bytes, loose: list[Call]) -> bytes:
        kept = patched(sure, (piece for call in loose for piece in self.pieces(call) if self.keeps()))
        if self.grown and loose and loose[-1].name == "write":
            kept = kept.ljust(loose[-1].at + len(loose[-1].content), b"\0")
        return kept


def patched(content: bytes, calls: Iterable[Call]) -> bytes:
    """A file after these writes and truncates."""
    changed = bytearray(content)
    for call in calls:
        if call.name == "truncate":
            del changed[call.at :]
        changed.extend(bytes(max(0, call.at - len(changed))))
        changed[call.at : call.at + len(call.content)] = call.content
    return bytes(changed)


DROPPED = Fate(0.0, random.Random(0))  # noqa: S311
KEPT = Fate(1.0, random.Random(0))  # noqa: S311


def torn(rng: random.Random) -> Fate:
    """Any fate between the two."""
    cut = rng.choice(("whole", "blocks", "blocks", "bytes", "bytes"))
    return Fate(rng.choice((0.1, 0.5, 0.9)), rng, cut, grown=rng.random() < 0.2)


@dataclass
class Platter:
    """What the medium holds for sure, and what it may hold, after the calls told so far."""

    before: State
    numbers: dict[Path, int]
    finished: int = 0
    loose_writes: dict[int, list[Call]] = field(default_factory=lambda: defaultdict(list))
    loose_names: dict[Path, list[Call]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.names = dict(self.numbers)
        self.directories = set(self.before.directories)
        self.contents = {self.numbers[path]: content for path, content in self.before.files.items()}

    def apply(self, call: Call) -> None:
        match call.name:
            case "finished":
                self.finished = call.at
            case "write" | "truncate":
                self.loose_writes[call.file].append(call)
            case "sync":
                loose = self.loose_writes.pop(call.file, [])
                self.contents[call.file] = patched(self.contents.get(call.file, b""), loose)
            case "sync_directory":
                for name in self.loose_names.pop(call.path, []):
                    apply_to_names(self.names, self.directories, name)
            case _:
                self.loose_names[call.path.parent].append(call)

    def after_power_loss(self, fate: Fate) -> State:
        names, directories = dict(self.names), set(self.directories)
        for calls in self.loose_names.values():
            for call in calls:
                if fate.keeps():
                    apply_to_names(names, directories, call)
        files = {
            path: fate.content(self.contents.get(number, b""), self.loose_writes.get(number, []))
            for path, number in sorted(names.items())
            if path.parent in directories or path.parent == Path()
        }
        return State(files, frozenset(directories))


# --- errors ---


class FailingDisk(InstantDisk):
    """Refuses the call `fail_at`, counted from 1, and if `lasting` every later one too.

    With `partly`, half of what a refused write was given is written before. A refused close has closed, as on Linux.
    """

    def __init__(
        self, fail_at: int, *, lasting: bool = False, partly: bool = False, code: int = errno.EIO
    ) -> None:
        super().__init__()
        self.fail_at, self.lasting, self.partly, self.code = fail_at, lasting, partly, code
        self.called = 0

    @property
    def has_failed(self) -> bool:
        return self.called >= self.fail_at

    def _step(self) -> None:
        self.called += 1
        if self.called == self.fail_at or (self.lasting and self.has_failed):
            raise OSError(self.code, os.strerror(self.code))

    def make_directory(self, path):
        self._step()
        super().make_directory(path)

    def create(self, path):
        self._step()
        return super().create(path)

    def reopen(self, path):
        self._step()
        return super().reopen(path)

    def write(self, file, content):
        try:
            self._step()
        except OSError:
            if self.partly:
                super().write(file, content[: len(content) // 2])
            raise
        super().write(file, content)

    def sync(self, file):
        self._step()
        super().sync(file)

    def truncate(self, file, size):
        self._step()
        super().truncate(file, size)

    def close(self, file):
        super().close(file)
        self._step()

    def replace(self, old, new):
        self._step()
        super().replace(old, new)

    def remove(self, path):
        self._step()
        super().remove(path)

    def sync_directory(self, path):
        self._step()
        super().sync_directory(path)


# --- everything that may be found after a bad moment ---


def kills(disk: TraceDisk) -> Iterator[State]:
    """What a kill may leave: all calls up to one are done, and of a write perhaps half."""
    platter = Platter(disk.before, disk.numbers)
    for call in disk.calls:
        if call.name == "write":
            halfway = deepcopy(platter)
            halfway.apply(call._replace(content=call.content[: len(call.content) // 2]))
            yield halfway.after_power_loss(KEPT)
        platter.apply(call)
        yield platter.after_power_loss(KEPT)


def losses(disk: TraceDisk, rng: random.Random, tears: int) -> Iterator[State]:
    """What a loss of power may leave: of what was not synced nothing, or any part."""
    platter = Platter(disk.before, disk.numbers)
    for call in disk.calls:
        platter.apply(call)
        yield platter.after_power_loss(DROPPED)
        yield from (platter.after_power_loss(torn(rng)) for _ in range(tears))


def once(states: Iterator[State]) -> Iterator[State]:
    seen = set()
    for state in states:
        known = (tuple(sorted(state.files.items())), state.directories)
        if known not in seen:
            seen.add(known)
            yield state


def broken_by(goes_on_from: Callable[[State], None], states: Iterator[State]) -> list[str]:
    """The states from which something did not go on, each with what came of it."""
    broken = []
    for number, state in enumerate(once(states)):
        try:
            goes_on_from(state)
        except (AffidavitError, AssertionError) as error:
            broken.append(f"state {number}: {type(error).__name__}: {error}")
    return broken


def whole_lines(state: State) -> int:
    """The records that whoever goes on finds there: up to the first line that is not whole."""
    count = 0
    for path in sorted(each for each in state.files if each.match("records/*.jsonl")):
        for line in state.files[path].splitlines(keepends=True):
            if checked_fields(line) is None:
                return count
            count += 1
    return count
