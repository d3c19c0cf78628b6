"""Files that hold no rows that are read here: told by their first bytes, with what to do about it."""

import codecs
import io
import re
import zipfile
from dataclasses import dataclass
from typing import BinaryIO

from affidavit.errors import InputError

ROWS = "rows as JSON Lines, CSV or Parquet"
"""What every file of rows is expected to hold."""
_LARGEST_ZIP = 1 << 27
"""Bytes of a zip file in which names are looked for."""
_CSV = "Save it as CSV in UTF-8 with the program that wrote it."
_UNPACK = "Unpack it first."
_DOWNLOAD = "Download the file itself."


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A kind of file that is not read."""

    found: str
    hint: str
    expected: str = ROWS


_BY_MARK = {
    b"version https://git-lfs.github.com/spec/": _Foreign(
        "a Git LFS pointer, which stands for a file that was not downloaded",
        "Run `git lfs pull` in its repository.",
    ),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": _Foreign("an Excel workbook of the old kind (.xls)", _CSV),
    b"BZh": _Foreign("a bzip2 file", "Unpack it first: `bunzip2`."),
    b"\xfd7zXZ\0": _Foreign("an xz file", "Unpack it first: `unxz`."),
    b"7z\xbc\xaf\x27\x1c": _Foreign("a 7z archive", _UNPACK),
    b"Rar!\x1a\x07": _Foreign("a RAR archive", _UNPACK),
    b"ARROW1\0\0": _Foreign("an Arrow file", "Write it again as Parquet."),
    b"FEA1": _Foreign("a Feather file", "Write it again as Parquet."),
    b"Obj\x01": _Foreign("an Avro file", "Write it again as Parquet or JSON Lines."),
    b"SQLite format 3\0": _Foreign("an SQLite database", "Export its table as CSV."),
    b"%PDF-": _Foreign("a PDF document", "Give the file that holds the rows."),
}
_UTF16_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_HTML = re.compile(rb"\s*+<(?:!doctype\s+html|html|head|\?xml[^>]*>\s*<!doctype\s+html)\b", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def refuse_foreign(head: bytes, stream: BinaryIO, *, where: str) -> None:
    """Refuse a file by its first bytes, unless they may be text in UTF-8."""
    foreign = _foreign(head, stream)
    if foreign is not None:
        raise InputError(where, expected=foreign.expected, found=foreign.found, hint=foreign.hint)


def _foreign(head: bytes, stream: BinaryIO) -> _Foreign | None:
    for mark, foreign in _BY_MARK.items():
        if head.startswith(mark):
            return foreign
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(head, stream)
    if head[257:262] == b"ustar":
        return _Foreign("a tar archive", "Unpack it first: `tar -xf`.")
    if _HTML.match(head):
        return _Foreign("a web page (HTML)", _DOWNLOAD)
    return _other_text(head)


def _zipped(head: bytes, stream: BinaryIO) -> _Foreign:
    """A zip file is whatever its members say."""
    if any(name.startswith("xl/") for name in _members(stream)):
        return _Foreign("an Excel workbook (.xlsx)", _CSV)
    if b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet" in head[:128]:
        return _Foreign("an OpenDocument spreadsheet (.ods)", _CSV)
    return _Foreign("a zip archive", "Unpack it first: `unzip`.")


def _members(stream: BinaryIO) -> list[str]:
    """The names in a zip file, as far as they can be had; their list stands at its end."""
    try:
        with zipfile.ZipFile(io.BytesIO(stream.read(_LARGEST_ZIP))) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return []


def _other_text(head: bytes) -> _Foreign | None:
    """Text of another encoding, and bytes that are no text."""
    encoding = next((name for mark, name in _UTF16_MARKS.items() if head.startswith(mark)), None)
    if encoding is None and _every_second_is_zero(head):
        encoding = "utf-16be" if head[0] == 0 else "utf-16le"
    if encoding is not None:
        hint = f"Convert the file, for example with `iconv -f {encoding} -t utf-8`."
        return _Foreign(f"text in {encoding.upper()}", hint, "text in UTF-8")
    if head.count(0) * 10 > len(head) or (_CONTROL.search(head) and not _is_utf8(head)):
        return _Foreign("a binary file", "Give a file of one of these kinds.")
    return None


def _every_second_is_zero(head: bytes) -> bool:
    """Whether this is how Western text in UTF-16 begins that has no byte order mark."""
    first = head[:64]
    zeros = {place % 2 for place, byte in enumerate(first) if byte == 0}
    return len(first) >= 4 and len(zeros) == 1 and first.count(0) == len(first[min(zeros) :: 2])


def _is_utf8(head: bytes) -> bool:
    """Whether bytes may be the beginning of a text in UTF-8: the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
