"""A zip file's members are read whatever packs them, and never further than they say of themselves."""

import struct
import tracemalloc
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from affidavit.errors import InputError
from affidavit.exchange.zip_members import content_of, first_name, members_of
from affidavit.reading.compressed import zstd
from affidavit.reading.source import LONGEST_ROW

STORED, DEFLATED, ZSTANDARD = 0, 8, 93


class Packed(NamedTuple):
    """A member as a zip file has it; what it says of itself may be a lie."""

    name: str
    content: bytes
    method: int
    size: int
    checksum: int
    flags: int = 0
    at: int | None = None


def packed(name: str, content: bytes, method: int = DEFLATED) -> Packed:
    deflate = zlib.compressobj(wbits=-15)
    ways = {
        STORED: lambda: content,
        DEFLATED: lambda: deflate.compress(content) + deflate.flush(),
        ZSTANDARD: lambda: zstd.compress(content[:7]) + zstd.compress(content[7:]),
    }
    return Packed(name, ways[method](), method, len(content), zlib.crc32(content))


def zip_of(members: Sequence[Packed]) -> bytes:
    """A zip file written by hand, since the standard library knows no Zstandard, and tells no lies."""
    body, directory = b"", b""
    for each in members:
        name = each.name.encode()
        at = len(body) if each.at is None else each.at
        sizes = (each.checksum, len(each.content), each.size, len(name), 0)
        body += struct.pack("<4s5H3L2H", b"PK\x03\x04", 63, each.flags, each.method, 0, 33, *sizes)
        body += name + each.content
        directory += struct.pack("<4s6H3L2H", b"PK\x01\x02", 63, 63, each.flags, each.method, 0, 33, *sizes)
        directory += struct.pack("<3H2L", 0, 0, 0, 0, at) + name
    count = len(members)
    return (
        body + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    )


def contents(path: Path) -> dict[str, bytes]:
    with path.open("rb") as stream:
        return {each.filename: content_of(stream, each, f"{path}: {each.filename}") for each in members_of(path)}


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
@pytest.mark.parametrize("content", [b"", b"x", b'{"a": 1}' * 10_000], ids=["nothing", "a byte", "many"])
def test_every_packing_is_read_in_several_frames_too(tmp_path, method, content):
    path = tmp_path / "a.zip"
    path.write_bytes(zip_of([packed("first", b"1"), packed("second", content, method)]))
    assert contents(path) == {"first": b"1", "second": content}
    assert first_name(path.read_bytes()) == "first"


HONEST = packed("a", b"content " * 50)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([HONEST._replace(method=12)], "method 12"),
        ([HONEST._replace(flags=1)], "an encrypted one"),
        ([HONEST._replace(size=LONGEST_ROW + 1)], f"found {LONGEST_ROW + 1:,}"),
        ([HONEST._replace(size=399)], "399 bytes with the checksum"),
        ([HONEST._replace(size=401)], "401 bytes with the checksum"),
        ([HONEST._replace(checksum=1)], "400 bytes with the checksum"),
        ([HONEST._replace(content=b"\xff\xff\xff")], "broken deflate data"),
        ([HONEST._replace(content=b"\xff\xff\xff", method=ZSTANDARD)], "broken Zstandard data"),
        ([packed("a", b"content", ZSTANDARD)._replace(content=zstd.compress(b"content")[:-3])], "too early"),
        ([HONEST, HONEST._replace(name="b", at=0)], "those of another"),
        ([HONEST, HONEST._replace(name="b", at=20)], "those of another"),
        ([HONEST._replace(at=7)], "where the directory has it"),
        ([HONEST._replace(at=5000)], "where the directory has it"),
    ],
)  # fmt: skip
def test_a_member_that_lies_is_refused_with_its_name(tmp_path, members, said):
    path = tmp_path / "a.zip"
    path.write_bytes(zip_of(members))
    with pytest.raises(InputError) as refused:
        contents(path)
    assert said in str(refused.value)
    assert refused.value.where.startswith(str(path))


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_a_bomb_is_unpacked_no_further_than_it_says(tmp_path, method):
    path = tmp_path / "a.zip"
    bomb = packed("a", bytes(3_000_000), method)
    path.write_bytes(zip_of([bomb._replace(size=10)]))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="10 bytes with the checksum"):
            contents(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_zip_file_that_was_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    whole = zip_of([HONEST, packed("b", b"more")])
    for size in range(0, len(whole), 17):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="a whole zip file"):
            members_of(path)


@pytest.mark.slow
def test_any_byte_may_be_another(tmp_path):
    path = tmp_path / "a.zip"
    whole = zip_of([packed("a", b"content " * 4), packed("b", b"more", STORED)])
    for place in range(len(whole)):
        for other in (0x00, 0x7F, 0xFF):
            path.write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
            try:
                read = contents(path)
            except InputError:
                continue
            assert all(each in (b"content " * 4, b"more") for each in read.values())
