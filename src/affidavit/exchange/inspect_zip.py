"""Inspect's `.eval` log: a zip file with a header, and each sample in a member of its own or in several.

A log that was not finished has no header: its start is in the journal, and so are summaries of the samples that
were written. A sample in parts has a shell, which holds all that is read here but the metadata and the texts that
were put aside; its messages and events are not opened.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from typing import BinaryIO
from zipfile import ZipInfo

import msgspec

from affidavit.errors import InputError
from affidavit.exchange.inspect_json import header_of, sample_in_bytes
from affidavit.exchange.inspect_logs import StoredSample, log_of
from affidavit.exchange.json_documents import object_of, refuse
from affidavit.exchange.log import Log, LogFormat
from affidavit.exchange.zip_members import ZIP, content_of, first_name, members_of
from affidavit.reading.row_lines import DECODER
from affidavit.reading.source import reading_on
from affidavit.reading.utf8 import decoded_whole

_HEADER, _START = "header.json", "_journal/start.json"
_SUMMARIES = re.compile(r"_journal/summaries/\d+\.json")
_WHOLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)
_SHELL = re.compile(r"(?P<sample>samples/.+_epoch_\d+)/sample\.json", re.DOTALL)
_PUT_ASIDE = re.compile(r"(?P<sample>samples/.+_epoch_\d+)/attachments/(?P<first>\d{1,18})\.json", re.DOTALL)
_OWN = re.compile(r"_journal/start\.json$|header\.json$|samples/.")


def _recognises(head: bytes, path: Path) -> bool:
    if not head.startswith(ZIP):
        return False
    if _OWN.match(first_name(head)):
        return True
    try:
        return any(_OWN.match(each.filename) for each in members_of(path))
    except InputError:
        return False


def _opened(path: Path) -> Log:
    members = members_of(path)
    named = {each.filename: each for each in members}
    is_finished = _HEADER in named
    name = _HEADER if is_finished else _START
    if name not in named:
        raise InputError(str(path), expected=f"a member {_HEADER} or {_START}", found="neither")
    where = f"{path}: {name}"
    with reading_on(str(path)), path.open("rb") as stream:
        fields = object_of(
            content_of(stream, named[name], where), where=where, what="the header of an Inspect log"
        )
        summarised = None if is_finished else sum(_summaries(path, stream, members))
    header = header_of(fields, where)
    unfinished = None if is_finished else True
    samples = partial(_samples, path, members)
    return log_of(path, INSPECT_EVAL.name, header, samples, unfinished=unfinished, summarised=summarised)


def _summaries(path: Path, stream: BinaryIO, members: Sequence[ZipInfo]) -> Iterator[int]:
    """How many samples each summary of the journal has."""
    for member in members:
        if _SUMMARIES.fullmatch(member.filename):
            where = f"{path}: {member.filename}"
            yield len(_list_of(content_of(stream, member, where), where=where, what="a list of summaries"))


def _list_of(content: bytes, *, where: str, what: str) -> list[object]:
    try:
        found = DECODER.decode(decoded_whole(content, name=where))
    except JSONDecodeError as error:
        raise InputError(where, expected=what, found=f"no JSON: {error}") from error
    except RecursionError as error:
        raise InputError(where, expected=what, found="JSON nested too deeply") from error
    return found if isinstance(found, list) else refuse(where, expected=what, found=found)


def _samples(path: Path, members: Sequence[ZipInfo]) -> Iterator[StoredSample]:
    """The samples in the order of the members."""
    aside = _Aside(path, members)
    with reading_on(str(path)), path.open("rb") as stream:
        for member in members:
            name, where = member.filename, f"{path}: {member.filename}"
            shell = _SHELL.fullmatch(name)
            if shell is not None:
                yield aside.with_parts(stream, shell["sample"], name, content_of(stream, member, where))
            elif _WHOLE.fullmatch(name):
                sample, attachment = sample_in_bytes(content_of(stream, member, where), where)
                yield StoredSample(name, where, sample, attachment)


class _Aside:
    """What stands beside the shells of samples in parts."""

    def __init__(self, path: Path, members: Sequence[ZipInfo]) -> None:
        self._path = path
        self._members = {each.filename: each for each in members}
        self._texts: dict[str, list[tuple[int, ZipInfo]]] = {}
        for each in members:
            found = _PUT_ASIDE.fullmatch(each.filename)
            if found is not None:
                self._texts.setdefault(found["sample"], []).append((int(found["first"]), each))
        for texts in self._texts.values():
            texts.sort(key=lambda text: text[0])

    def with_parts(self, stream: BinaryIO, prefix: str, name: str, content: bytes) -> StoredSample:
        """The sample that a shell is of, with its metadata and with texts by their numbers."""
        where = f"{self._path}: {name}"
        sample, _ = sample_in_bytes(content, where)
        metadata = self._members.get(f"{prefix}/metadata.json")
        if metadata is not None:
            at = f"{self._path}: {metadata.filename}"
            fields = object_of(content_of(stream, metadata, at), where=at, what="the metadata of a sample")
            sample = msgspec.structs.replace(sample, metadata=fields)
        return StoredSample(name, where, sample, partial(self._text, stream, prefix))

    def _text(self, stream: BinaryIO, prefix: str, number: str) -> str | None:
        texts = self._texts.get(prefix, [])
        if not re.fullmatch("[0-9]{1,18}", number):
            return None
        at = bisect_right(texts, int(number), key=lambda text: text[0]) - 1
        if at < 0:
            return None
        first, member = texts[at]
        where = f"{self._path}: {member.filename}"
        found = _list_of(content_of(stream, member, where), where=where, what="a list of texts")
        text = found[int(number) - first] if int(number) - first < len(found) else None
        return text if isinstance(text, str) else None


INSPECT_EVAL = LogFormat("Inspect .eval", _recognises, _opened)
