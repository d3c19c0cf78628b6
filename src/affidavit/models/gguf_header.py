"""The front of a GGUF file, read without trust and without a library: metadata, and the type of every tensor."""

import struct
from collections import Counter
from typing import BinaryIO

_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
    12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
    20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
    29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0",
}  # fmt: skip
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value of each kind that is no text and no array."""
_TEXT, _ARRAY = 8, 9


class Header:
    """Metadata, then a line for each tensor. Raises ValueError, in words that finish `found …`."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._size = stream, size
        if self._bytes(4) != b"GGUF":
            raise ValueError("no GGUF mark at its beginning")
        version = self._number("<I")
        if version not in (2, 3):
            raise ValueError(f"version {version} of the format")
        tensors, entries = self._number("<Q"), self._number("<Q")
        self.texts: dict[str, str] = {}
        """The metadata that are texts."""
        for _ in range(entries):
            name, kind = self._text(), self._number("<I")
            if kind == _TEXT:
                self.texts[name] = self._text()
            else:
                self._pass(kind)
        self._last_offset = 0
        self.types = Counter(self._type() for _ in range(tensors))
        """How many tensors there are of each type."""
        if stream.tell() + self._last_offset > size:
            raise ValueError("an end before its last tensor")

    def _bytes(self, count: int) -> bytes:
        if count > self._size:
            raise ValueError("a length beyond its end")
        content = self._stream.read(count)
        if len(content) < count:
            raise ValueError("a header that ends early")
        return content

    def _number(self, form: str) -> int:
        number: int = struct.unpack(form, self._bytes(struct.calcsize(form)))[0]
        return number

    def _text(self) -> str:
        return self._bytes(self._number("<Q")).decode("utf-8", "replace")

    def _pass(self, kind: int) -> None:
        """Go on behind a value that nobody asks for."""
        if kind != _ARRAY:
            self._bytes(self._size_of(kind))
            return
        inner, count = self._number("<I"), self._number("<Q")
        if inner == _TEXT:
            for _ in range(count):
                self._bytes(self._number("<Q"))
        else:
            self._bytes(count * self._size_of(inner))

    @staticmethod
    def _size_of(kind: int) -> int:
        if kind not in _SIZES:
            raise ValueError(f"a value of the unknown kind {kind}")
        return _SIZES[kind]

    def _type(self) -> str:
        self._text()
        self._bytes(8 * self._number("<I"))
        number = self._number("<I")
        self._last_offset = max(self._last_offset, self._number("<Q"))
        return _TYPES.get(number, f"type {number}")
