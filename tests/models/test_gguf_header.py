"""The front of a file of weights: what it says, and in which words a broken one is refused."""

import io
import struct

import pytest

from affidavit.models.gguf_header import Header
from support.weight_files import gguf_bytes

WHOLE = gguf_bytes([3, 3, 0], {"general.license": "mit"})


def header(content):
    return Header(io.BytesIO(content), len(content))


def test_texts_and_the_types_of_tensors():
    read = header(WHOLE)
    assert read.texts == {"general.license": "mit"}
    assert read.types == {"Q4_1": 2, "F32": 1}


def test_a_type_that_is_not_known_is_named_by_its_number():
    assert header(gguf_bytes([99], {})).types == {"type 99": 1}


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_no_part_of_a_header_is_a_header(length):
    with pytest.raises(ValueError, match=r"no GGUF mark|ends early|beyond its end"):
        header(WHOLE[:length])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"GGML" + WHOLE[4:], "no GGUF mark at its beginning"),
        (WHOLE[:4] + struct.pack("<I", 9) + WHOLE[8:], "version 9 of the format"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**63), "a length beyond its end"),
        (b"GGUF" + struct.pack("<IQQQI", 3, 0, 1, 0, 77), "a value of the unknown kind 77"),
    ],
)
def test_what_is_no_header_says_why(content, why):
    with pytest.raises(ValueError, match=why):
        header(content)
