"""Members of a zip file, read with care: in memory and one by one, nothing is ever extracted.

The directory is the standard library's to read. The members are read here, because it refuses Zstandard, and a
member may lie: of its size, of where it is, of what it unpacks to. None is unpacked further than it says itself,
nor beyond the limit; members that share bytes are refused, as are those whose bytes are not what was written.
"""

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from affidavit.errors import InputError
from affidavit.reading.compressed import COMPRESSIONS
from affidavit.reading.source import LONGEST_ROW, reading_on

ZIP = b"PK\x03\x04"
"""What a zip file begins with that has any members."""
_FIXED = 30
"""Bytes of a member's own header before its name."""
_ENCRYPTED = 0x1
_ZSTANDARD = 93
_READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)


def members_of(path: Path) -> list[zipfile.ZipInfo]:
    """Every member that the directory of a zip file has, in its order."""
    try:
        with reading_on(str(path)), zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, struct.error, ValueError, OverflowError, NotImplementedError) as error:
        hint = "The directory of a zip file is at its end: this one may have been cut, or is still being written."
        raise InputError(str(path), expected="a whole zip file", found=f"another: {error}", hint=hint) from error
    end = 0
    for member in sorted(members, key=lambda each: each.header_offset):
        if member.header_offset < end:
            raise InputError(f"{path}: {member.filename}", expected="bytes of its own", found="those of another")
        end = member.header_offset + _FIXED + member.compress_size
    return members


def first_name(head: bytes) -> str:
    """The name of the first member of a zip file that begins like this."""
    return head[_FIXED : _FIXED + int.from_bytes(head[26:28], "little")].decode("utf-8", "replace")


def content_of(stream: BinaryIO, member: zipfile.ZipInfo, where: str) -> bytes:
    """What a member of a file holds, unpacked and whole."""
    if member.flag_bits & _ENCRYPTED or member.compress_type not in _READ:
        found = "an encrypted one" if member.flag_bits & _ENCRYPTED else f"method {member.compress_type}"
        raise InputError(where, expected="a member that is stored, deflated or packed by Zstandard", found=found)
    if max(member.file_size, member.compress_size) > LONGEST_ROW:
        raise InputError(where, expected=f"at most {LONGEST_ROW:,} bytes", found=f"{member.file_size:,}")
    with reading_on(where):
        content = _unpacked(_packed(stream, member, where), member)
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        expected = f"{member.file_size:,} bytes with the checksum that the zip file has for them"
        raise InputError(where, expected=expected, found="others", hint="The file was damaged, or made by hand.")
    return content


def _packed(stream: BinaryIO, member: zipfile.ZipInfo, where: str) -> bytes:
    stream.seek(member.header_offset)
    head = stream.read(_FIXED)
    if len(head) == _FIXED and head.startswith(ZIP):
        stream.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), io.SEEK_CUR)
        content = stream.read(member.compress_size)
        if len(content) == member.compress_size:
            return content
    raise InputError(where, expected="the member where the directory has it", found="something else, or the end")


def _unpacked(content: bytes, member: zipfile.ZipInfo) -> bytes:
    """At most one byte more than there should be."""
    if member.compress_type == zipfile.ZIP_STORED:
        return content
    if member.compress_type == _ZSTANDARD:
        with io.BufferedReader(COMPRESSIONS[".zst"].unpacked(io.BytesIO(content))) as unpacked:  # type: ignore[arg-type]
            return unpacked.read(member.file_size + 1)
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, member.file_size + 1)
    except zlib.error as error:
        raise OSError(f"broken deflate data ({error})") from error
