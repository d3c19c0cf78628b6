"""Requests as files for a batch service: JSON Lines as OpenAI takes them, and `vllm run-batch` does.

    {"custom_id": "<key>", "method": "POST", "url": "/v1/chat/completions", "body": {…}}

A service takes so many requests, and so many bytes, in one file, and one model: files are split by all three. They
take their names together, in a folder of their own, when all are written: a file that is there is whole.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from affidavit.archive.disk import storage_errors
from affidavit.archive.path_names import encode
from affidavit.errors import InputError, UsageError
from affidavit.json_values import canonical

CHAT_COMPLETIONS = "/v1/chat/completions"
MOST_REQUESTS, MOST_BYTES = 50_000, 200_000_000
"""What the hosted services take in one file."""


class BatchRequest(NamedTuple):
    """One request on its way into a file."""

    key: str
    """Of the question: by it the answer is found again."""
    model: str
    """Its name in the study."""
    body: bytes
    """What would be sent live, to the byte."""


class BatchFile(NamedTuple):
    """A file that was written."""

    path: Path
    model: str
    requests: int
    size: int
    """In bytes."""


@dataclass(frozen=True)
class BatchShape:
    """How files are split, and what stands in every line."""

    most_requests: int = MOST_REQUESTS
    most_bytes: int = MOST_BYTES
    url: str = CHAT_COMPLETIONS


def request_line(request: BatchRequest, url: str = CHAT_COMPLETIONS) -> bytes:
    r"""The line of a request.

    >>> request_line(BatchRequest("ab", "m", b'{"model":"m"}'))
    b'{"custom_id":"ab","method":"POST","url":"/v1/chat/completions","body":{"model":"m"}}\n'
    """
    return b'{"custom_id":"%b","method":"POST","url":%b,"body":%b}\n' % (
        request.key.encode(),
        canonical(url),
        request.body,
    )


@dataclass
class _Files:
    """The files of one folder, while they are written."""

    folder: Path
    shape: BatchShape
    written: list[BatchFile] = field(default_factory=list)
    _stream: BinaryIO | None = None
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, request: BatchRequest) -> None:
        line = request_line(request, self.shape.url)
        if len(line) > self.shape.most_bytes:
            raise InputError(
                f"the request {request.key[:16]}… to {request.model}",
                expected=f"at most {self.shape.most_bytes:,} bytes",
                found=f"{len(line):,}",
                hint="Allow larger files with --max-bytes, or ask this model live.",
            )
        if self._stream is None or not self._fits(request, len(line)):
            self._begin(request.model)
        assert self._stream is not None  # noqa: S101 - it was begun
        self._stream.write(line)
        last = self.written[-1]
        self.written[-1] = last._replace(requests=last.requests + 1, size=last.size + len(line))

    def _fits(self, request: BatchRequest, size: int) -> bool:
        last = self.written[-1]
        room = last.requests < self.shape.most_requests and last.size + size <= self.shape.most_bytes
        return room and last.model == request.model

    def _begin(self, model: str) -> None:
        self.finish()
        number = self._numbers[model] = self._numbers.get(model, 0) + 1
        *folders, name = encode(model)
        path = self.folder.joinpath(*folders, f"{name}-{number:04}.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("xb")
        self.written.append(BatchFile(path, model, 0, 0))

    def finish(self) -> None:
        """Whatever was written is on the disk, and the file closed."""
        if self._stream is not None:
            self._stream.flush()
            os.fsync(self._stream.fileno())
        self.close()

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def write_batch_files(requests: Iterable[BatchRequest], folder: Path, shape: BatchShape) -> list[BatchFile]:
    """The files of these requests, in a folder that is not there yet; no folder where there are no requests."""
    with _folder_at_once(folder) as partial, closing(_Files(partial, shape)) as files:
        for request in requests:
            with storage_errors(str(folder)):
                files.add(request)
        with storage_errors(str(folder)):
            files.finish()
    return [each._replace(path=folder / each.path.relative_to(partial)) for each in files.written]


@contextmanager
def _folder_at_once(folder: Path) -> Iterator[Path]:
    """A folder to fill, which takes its name when the block ends well and something is in it."""
    if os.path.lexists(folder):
        hint = (
            "Files of an earlier export may be on their way already. Name a folder that is not there yet, with -o."
        )
        raise UsageError(str(folder), expected="a folder that is not there yet", found="one that is", hint=hint)
    partial = folder.with_name(f".{folder.name}.partial")
    with storage_errors(str(folder)):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    try:
        yield partial
        if any(partial.iterdir()):
            with storage_errors(str(folder)):
                partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def refuse_taken(folder: Path) -> None:
    """Refuse a folder that is there."""
    if os.path.lexists(folder):
        hint = (
            "Files of an earlier export may be on their way already. Name a folder that is not there yet, with -o."
        )
        raise UsageError(str(folder), expected="a folder that is not there yet", found="one that is", hint=hint)


def free_folder(directory: Path) -> Path:
    """Where the batch files of a study are written unless another folder is named: beside it, never in it."""
    named = directory if directory.name not in ("", "..") else directory.resolve()
    first = named.with_name(f"{named.name}-batch")
    names = (first, *(first.with_name(f"{first.name}-{number}") for number in range(2, 10_000)))
    return next(each for each in names if not os.path.lexists(each))
