"""One question asked once and everything known about it, as a line that can be checked.

A line is one JSON object in ASCII with its keys sorted, and a checksum at its end over the bytes before it:

    >>> line = encode({"kind": "response", "raw_output": "é"}, seq=1, group=1)
    >>> print(line.decode(), end="")  # doctest: +ELLIPSIS
    {"group":1,"kind":"response","raw_output":"\\u00e9","seq":1,"v":1,"sha256":"...
    >>> decode(line)["raw_output"]
    'é'

Any byte that is changed, any line that is cut, is found out by `decode`.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256

from affidavit.contract import Fields

VERSION = 1

_CHECKSUM = b',"sha256":"'
_END = b'"}\n'
_CHECKSUM_AT = -(len(_CHECKSUM) + 64 + len(_END))


class Kind(StrEnum):
    """What a record tells of."""

    RESPONSE = "response"
    FAILURE = "failure"
    JUDGEMENT = "judgement"


# Looking for circles costs a fifth of the time; what is encoded here holds none.
_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)


def canonical(value: object) -> bytes:
    """JSON in ASCII with sorted keys and no blanks: equal values, equal bytes.

    >>> canonical({"b": "\\ud800", "a": 1})
    b'{"a":1,"b":"\\\\ud800"}'
    """
    return _encoder.encode(value).encode("ascii")


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON."""
    return sha256(canonical(value)).hexdigest()


def checked_line(fields: Mapping[str, object]) -> bytes:
    """The fields as one line with a checksum at its end."""
    start = canonical(fields)[:-1]
    return b"".join((start, _CHECKSUM, sha256(start).hexdigest().encode(), _END))


def encode(fields: Mapping[str, object], *, seq: int, group: int) -> bytes:
    """The line of a record."""
    return checked_line({**fields, "v": VERSION, "seq": seq, "group": group})


def is_whole(line: bytes) -> bool:
    """Whether a line is as it was written, to the last bit."""
    start = line[:_CHECKSUM_AT]
    return bool(start) and line[_CHECKSUM_AT:] == b"".join((_CHECKSUM, sha256(start).hexdigest().encode(), _END))


def decode(line: bytes) -> Fields | None:
    """The fields of a whole line, without the checksum; None for any other."""
    if not is_whole(line):
        return None
    fields: Fields = json.loads(line[:_CHECKSUM_AT] + b"}")
    return fields


def content_digest(fields: Mapping[str, object]) -> bytes:
    """The digest of what a record says, wherever it stands.

    Of a failure only the reason counts: how often it was tried is a fact about the day, not about the study.
    """
    if fields["kind"] == Kind.FAILURE:
        return sha256(canonical({"kind": Kind.FAILURE, "key": fields["key"], "reason": fields["reason"]})).digest()
    said = {name: value for name, value in fields.items() if name not in ("seq", "group", "v")}
    return sha256(canonical(said)).digest()
