"""Inspect's JSON: how a header and a sample are decoded, and the `.json` log, one object with all of them.

A decoder that knows the fields decodes only what is used. It refuses NaN and half of a surrogate pair, which
Inspect writes: then a patient one decodes all, and says what is wrong if it is something else. The samples of a
document are decoded one by one from its bytes, so that it never becomes objects as a whole.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from affidavit.errors import InputError
from affidavit.exchange.inspect_logs import Attachment, Header, Sample, StoredSample, log_of
from affidavit.exchange.json_documents import document, list_in, object_in, object_of, refuse
from affidavit.exchange.log import Log, LogFormat
from affidavit.json_values import Fields
from affidavit.reading.source import LONGEST_ROW, reading_on

_VERSIONS = (1, 2, 3)
"""Of the schema; 3 is 2 with samples that may be in parts."""
_SAMPLE = "a sample of an Inspect log"
_OBJECT = re.compile(rb"(\xef\xbb\xbf)?\s*\{")
_KEYS = (rb'"version"\s*:', rb'"status"\s*:', rb'"eval"\s*:\s*\{')
_NEAR_THE_START = 4096
"""Bytes in which all of these stand: a log is written in the order of its fields."""
_MISMATCH = re.compile(r"Expected `(?P<expected>.+)`, got `(?P<found>.+)` - at `\$\.?(?P<path>.*)`", re.DOTALL)
_REFUSED = (msgspec.MsgspecError, ValueError, RecursionError)
"""By a decoder that knows the fields."""
_Shape = TypeVar("_Shape")


class _Stored(Sample):
    attachments: msgspec.Raw = msgspec.Raw(b"{}")


class _Document(msgspec.Struct):
    version: object = None
    status: object = None
    eval: object = None
    plan: object = None
    results: object = None
    stats: object = None
    error: object = None
    invalidated: object = None
    samples: list[msgspec.Raw] | None = None


_stored = msgspec.json.Decoder(_Stored)
_document = msgspec.json.Decoder(_Document)


def header_of(fields: Fields, where: str) -> Header:
    """The header of a log; refused if its version is not known here."""
    version = fields.get("version")
    if version not in _VERSIONS or not isinstance(version, int):
        refuse(where, expected="a log of Inspect in version 1, 2 or 3", found=version)
    given = {name: value for name, value in fields.items() if value is not None}
    return _typed(given, Header, where=where, what="the header of an Inspect log")


def sample_in_bytes(content: bytes, where: str) -> tuple[Sample, Attachment]:
    """The sample that JSON is, and its attachments, which are decoded only if asked for."""
    try:
        stored = _stored.decode(content)
    except _REFUSED:
        return sample_in_fields(object_of(content, where=where, what=_SAMPLE), where)
    return stored, partial(_attachment_in_bytes, stored, where)


def sample_in_fields(fields: object, where: str) -> tuple[Sample, Attachment]:
    """The sample that fields are, and its attachments."""
    if not isinstance(fields, dict):
        refuse(where, expected=_SAMPLE, found=fields)
    known = {name: value for name, value in fields.items() if name != "attachments"}
    return _typed(known, Sample, where=where, what=_SAMPLE), partial(_attachment_in_fields, fields, where)


def _attachment_in_bytes(stored: _Stored, where: str, name: str) -> str | None:
    fields = object_of(bytes(stored.attachments), where=f"{where}, attachments", what="an object of texts")
    return _attachment_in_fields({"attachments": fields}, where, name)


def _attachment_in_fields(fields: Fields, where: str, name: str) -> str | None:
    text = object_in(fields, "attachments", where=where).get(name) if "attachments" in fields else None
    return text if isinstance(text, str) else None


def _typed(fields: Fields, shape: type[_Shape], *, where: str, what: str) -> _Shape:
    """Fields in the shape that they must have; InputError with the path to one that has not."""
    try:
        return msgspec.convert(fields, shape)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter: half a pair, where no text may be
        hint = "Nothing is guessed of a log: if this is a newer version of its format, it is not known here yet."
        found = _MISMATCH.fullmatch(str(error))
        if found is None:
            raise InputError(where, expected=what, found=f"another: {error}", hint=hint) from error
        expected = f"{what} with {found['expected']} in {found['path']!r}"
        raise InputError(where, expected=expected, found=found["found"], hint=hint) from error


def _recognises(head: bytes, _path: Path) -> bool:
    start = head[:_NEAR_THE_START]
    return _OBJECT.match(start) is not None and all(re.search(key, start) for key in _KEYS)


def _opened(path: Path) -> Log:
    fields, _ = _read(path)
    return log_of(path, INSPECT_JSON.name, header_of(fields, str(path)), partial(_samples, path))


def _read(path: Path) -> tuple[Fields, Sequence[object]]:
    """The fields of the header, and the samples: as bytes, or as objects where it takes the patient decoder."""
    with reading_on(str(path)), path.open("rb") as stream:
        content = stream.read(LONGEST_ROW + 1)
    if len(content) <= LONGEST_ROW:
        try:
            found = _document.decode(content)
        except _REFUSED:
            del content
        else:
            fields = msgspec.structs.asdict(found)
            return fields, fields.pop("samples") or ()
    fields = document(path, what="an Inspect log", may_repeat=True)
    return fields, () if fields.get("samples") is None else list_in(fields, "samples", where=str(path))


def _samples(path: Path) -> Iterator[StoredSample]:
    _, samples = _read(path)
    for number, stored in enumerate(samples):
        place = f"samples[{number}]"
        where = f"{path}: {place}"
        read = sample_in_bytes(bytes(stored), where) if isinstance(stored, msgspec.Raw) else None
        sample, attachment = read or sample_in_fields(stored, where)
        yield StoredSample(place, where, sample, attachment)


INSPECT_JSON = LogFormat("Inspect .json", _recognises, _opened)
