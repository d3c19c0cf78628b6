"""One question asked once and everything known about it, as a line that can be checked.

A line is one JSON object in ASCII with its keys sorted, and a checksum at its end over the bytes before it:

    >>> line = encode({"kind": "response", "raw_output": "é"}, seq=1, group=1)
    >>> print(line.decode(), end="")  # doctest: +ELLIPSIS
    {"group":1,"kind":"response","raw_output":"\\u00e9","seq":1,"v":1,"sha256":"...
    >>> decode(line)["raw_output"]
    'é'

Any byte that is changed, any line that is cut, is found out by `decode`.
"""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from affidavit.archive.json_bytes import loads
from affidavit.json_values import Fields, canonical

VERSION = 1

_CHECKSUM = b',"sha256":"'
_END = b'"}\n'
_CHECKSUM_AT = -(len(_CHECKSUM) + 64 + len(_END))


class Kind(StrEnum):
    """What a record tells of."""

    RESPONSE = "response"
    FAILURE = "failure"
    JUDGEMENT = "judgement"


def checked_line(fields: Mapping[str, object]) -> bytes:
    """The fields as one line with a checksum at its end."""
    start = canonical(fields)[:-1]
    return b"".join((start, _CHECKSUM, sha256(start).hexdigest().encode(), _END))


def encode(fields: Mapping[str, object], *, seq: int, group: int) -> bytes:
    """The line of a record."""
    return Encoded.of(fields).line(seq=seq, group=group)


class Encoded(NamedTuple):
    """A record in canonical JSON, open at the three places where its position in the journal goes.

    So it is encoded once, for the line and for the digest of what it says.
    """

    before_group: bytes
    before_seq: bytes
    before_v: bytes
    after_v: bytes

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> "Encoded":
        """The record that holds these fields."""
        parts: tuple[Fields, Fields, Fields, Fields] = ({}, {}, {}, {})
        for name, value in fields.items():
            parts[(name > "group") + (name > "seq") + (name > "v")][name] = value
        return cls(*(canonical(part)[1:-1] if part else b"" for part in parts))

    def line(self, *, seq: int, group: int) -> bytes:
        """The record at its place, with its checksum."""
        position = (b'"group":%d' % group, b'"seq":%d' % seq, b'"v":%d' % VERSION)
        start = b"{" + b",".join(
            filter(None, (self[0], position[0], self[1], position[1], self[2], position[2], self[3]))
        )
        return b"".join((start, _CHECKSUM, sha256(start).hexdigest().encode(), _END))

    def digest(self) -> bytes:
        """The digest of all that the record says, wherever it stands."""
        return sha256(b"{" + b",".join(filter(None, self)) + b"}").digest()


def is_whole(line: bytes) -> bool:
    """Whether a line is as it was written, to the last bit."""
    start = line[:_CHECKSUM_AT]
    return bool(start) and line[_CHECKSUM_AT:] == b"".join((_CHECKSUM, sha256(start).hexdigest().encode(), _END))


def decode(line: bytes) -> Fields | None:
    """The fields of a whole line, without the checksum; None for any other."""
    if not is_whole(line):
        return None
    fields: Fields = loads(line[:_CHECKSUM_AT] + b"}")
    return fields


def content_digest(fields: Mapping[str, object], encoded: Encoded | None = None) -> bytes:
    """The digest of what a record says, wherever it stands.

    Of a failure only the reason counts: how often it was tried is a fact about the day, not about the study.
    """
    if fields["kind"] == Kind.FAILURE:
        return sha256(canonical({"kind": Kind.FAILURE, "key": fields["key"], "reason": fields["reason"]})).digest()
    if encoded is not None:
        return encoded.digest()
    return Encoded.of({name: fields[name] for name in fields if name not in ("seq", "group", "v")}).digest()
