"""Another model of the same weights: its tensors quantised once more, to another type.

A file that was made from a quantised one says so in its name and inside, with the digest of the file that it comes
from. No file that is there is ever written over.
"""

import re
from contextlib import closing
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.archive.disk import new_path, storage_errors
from affidavit.errors import InputError, UsageError
from affidavit.models.weights import (
    TWICE,
    digest_of,
    make_models_directory,
    models_directory,
    not_installed,
    read_header,
    sync_file,
)

if TYPE_CHECKING:
    import gguf
    import numpy as np

KINDS = ("Q4_0", "Q8_0")
"""What `quantize` can make."""
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
    types = read_header(source).types
    changed = [name for name, _ in types.most_common() if name not in _STAY and name != kind]
    if not changed:
        raise _nothing_to_quantise(source, kind, f"only {', '.join(sorted(types))}")
    lossy = next((name for name in changed if name not in _EXACT), None)
    with storage_errors(str(models_directory())):
        target = make_models_directory() / _target_name(source, kind, lossy)
    twice_from = None if lossy is None else digest_of(source)
    if target.exists():
        _refuse_other(target, twice_from)
        return target
    with new_path(target) as partial:
        _write_quantized(source, partial, kind, twice_from)
        sync_file(partial)
    return target


def _nothing_to_quantise(source: Path, kind: str, found: str) -> UsageError:
    return UsageError(str(source), expected=f"tensors that can become {kind}", found=found)


def _refuse_other(target: Path, twice_from: str | None) -> None:
    if twice_from is None or read_header(target).texts.get(TWICE) != twice_from:
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
