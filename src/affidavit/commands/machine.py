"""What this machine and this installation have: the facts that a report of a mistake should come with."""

import os
import platform
import re
import resource
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from time import perf_counter

from affidavit.archive.user_cache import MOST_BYTES, cache_directory
from affidavit.errors import AffidavitError
from affidavit.models import weights
from affidavit.models.weights import Weights

_SYNCS = 5
"""How often a small file is synced to see how long that takes."""


@dataclass(frozen=True, kw_only=True)
class Extra:
    """A part that an installation may be made without."""

    name: str
    libraries: Mapping[str, str | None]
    """Their versions; None for one that is not installed."""

    @property
    def installed(self) -> bool:
        """Whether all of it is."""
        return None not in self.libraries.values()

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install 'affidavit[{self.name}]'"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """All facts; whatever could not be found out is None."""

    versions: Mapping[str, str]
    """Of Affidavit, Python, the platform and the libraries that it needs."""
    extras: tuple[Extra, ...] = ()
    weights: tuple[Weights, ...] = ()
    weights_fault: str | None = None
    """Why it cannot be said which weights are at hand."""
    models_directory: str = ""
    cache: str | None = None
    """Its directory; None if it is turned off or cannot be used."""
    cache_bytes: int = 0
    most_cache_bytes: int = MOST_BYTES
    open_files: tuple[int, int] = (0, 0)
    """As many as are allowed, and as many as may be asked for; -1 is without a limit."""
    cores: int = 1
    """That this process may use."""
    avx: bool | None = None
    """Whether the processor has AVX2; None where the question has no meaning, or no answer."""
    sync_seconds: float | None = None
    """Of a small file in the current directory, in the middle of five."""
    variables: tuple[str, ...] = ()
    """The names of our own environment variables that are set."""


def this_machine() -> Machine:
    """The facts, found out now."""
    extras = _extras(metadata.requires("affidavit") or ())
    found, fault = _weights()
    cache = cache_directory()
    return Machine(
        versions=_versions(extras.pop("", ())),
        extras=tuple(
            Extra(name=name, libraries={each: _version(each) for each in libraries})
            for name, libraries in extras.items()
            if name != "dev"
        ),
        weights=found,
        weights_fault=fault,
        models_directory="" if fault else _from_home(weights.models_directory()),
        cache=None if cache is None else _from_home(cache),
        cache_bytes=0 if cache is None else _bytes_in(cache),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        avx=_has_avx(Path("/proc/cpuinfo"), platform.machine()),
        sync_seconds=_sync_seconds(Path()),
        variables=tuple(sorted(name for name in os.environ if name.startswith("AFFIDAVIT_"))),
    )


def _extras(requirements: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The libraries that an installation needs, by the extra that they belong to; "" is all of them.

    >>> _extras(["click>=8.1", "gguf>=0.10; extra == 'embedded'", 'xllamacpp; extra == "embedded"'])
    {'': ('click',), 'embedded': ('gguf', 'xllamacpp')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", requirement)
        if name is not None:
            group = "" if extra is None else extra[1]
            found[group] = (*found.get(group, ()), name[0])
    return found


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    own = {"affidavit": _version("affidavit") or "unknown", "Python": python, "platform": platform.platform()}
    return {**own, **{each: _version(each) or "not installed" for each in libraries}}


def _version(library: str) -> str | None:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def _weights() -> tuple[tuple[Weights, ...], str | None]:
    try:
        return tuple(weights.at_hand()), None
    except AffidavitError as error:
        return (), str(error)


def _from_home(path: Path) -> str:
    """A path as it may be shown to others: whose home it is below is nobody's business."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)


def _bytes_in(directory: Path) -> int:
    """Of the files that are there; one that goes meanwhile has none."""
    size = 0
    with suppress(OSError):
        for each in directory.iterdir():
            with suppress(OSError):
                size += each.lstat().st_size
    return size


def _has_avx(cpu: Path, machine: str) -> bool | None:
    if machine.lower() not in ("x86_64", "amd64"):
        return None
    try:
        flags = re.search(r"^flags\s*:(.*)$", cpu.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if flags is None else "avx2" in flags[1].split()


def _sync_seconds(directory: Path) -> float | None:
    """How long it takes until a small file is on the disk; None if none can be written there."""
    took = []
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            for _ in range(_SYNCS):
                began = perf_counter()
                file.write(b"a" * 4096)
                file.flush()
                os.fsync(file.fileno())
                took.append(perf_counter() - began)
    except OSError:
        return None
    return median(took)
