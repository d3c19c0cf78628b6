"""Text in UTF-8, or the byte that is none."""

from affidavit.errors import InputError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What some programs put before a text in UTF-8; it is no part of it."""


_CONVERT = "Convert the file, for example with `iconv -f latin1 -t utf-8`."


def decoded(line: bytes, *, where: str, hint: str = _CONVERT) -> str:
    r"""The text of a line.

    >>> decoded("é".encode(), where="a.csv:1")
    'é'
    >>> decoded("é".encode("latin1"), where="a.csv:1")
    Traceback (most recent call last):
    affidavit.errors.InputError: a.csv:1: expected text in UTF-8, found byte 0xe9 at byte 1 of the line
    Convert the file, for example with `iconv -f latin1 -t utf-8`.
    """
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            where,
            expected="text in UTF-8",
            found=f"byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line",
            hint=hint,
        ) from error


def decoded_whole(content: bytes, *, name: str) -> str:
    """The text of a whole file, without its byte order mark."""
    content = content.removeprefix(BYTE_ORDER_MARK)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        start = content.rfind(b"\n", 0, error.start) + 1
        line = content[start : error.end].partition(b"\n")[0]
        number = content.count(b"\n", 0, start) + 1
        return decoded(line, where=f"{name}:{number}")
