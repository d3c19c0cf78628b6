"""`attempts.jsonl`: when each attempt began, how long it took and what came of it. No part of the root digest."""

import json
from collections import deque
from pathlib import Path
from typing import NamedTuple

import msgspec

from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import ATTEMPTS
from affidavit.archive.regular_files import open_to_read
from affidavit.json_values import Fields
from affidavit.models.model import Answer, Failure, Reason
from affidavit.models.response_ids import FIRST_ANSWERS, KEPT


class Attempt(NamedTuple):
    """One attempt to have a question answered."""

    key: str
    """Of the question."""
    model: str
    number: int
    """Counted from 1."""
    began: float
    """Seconds since 1970."""
    seconds: float
    answer: Answer
    server: str = ""
    """Its address without any secret, where the model has several."""


def _outcome(answer: Answer) -> Fields:
    """What came of an attempt, and the id of the response (ruling C9)."""
    said: Fields = {"outcome": "response"}
    if isinstance(answer, Failure):
        said = {"outcome": answer.reason, "detail": answer.detail}
    return said if answer.response_id is None else {**said, "id": answer.response_id}


class Attempts:
    """The file, for one run; until it is opened, what is added waits."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._file: int | None = None

    def open(self, directory: Path, disk: Disk) -> None:
        """From now on, write to the file of a directory."""
        self._path, self._disk = directory / ATTEMPTS, disk
        with storage_errors(str(self._path)):
            self._file = disk.reopen_lines(self._path)

    def add(self, attempt: Attempt) -> None:
        """One attempt more; it is written with others."""
        fields: Fields = {"key": attempt.key, "model": attempt.model, "attempt": attempt.number}
        fields |= {"began": round(attempt.began, 3), "seconds": round(attempt.seconds, 4)}
        fields |= {"server": attempt.server} if attempt.server else {}
        self._add({**fields, **_outcome(attempt.answer)})

    def add_batched(self, key: str, model: str, batch: str, answer: Answer) -> None:
        """An answer that came in a file of this name: when it was asked for and how long it took, nobody knows."""
        self._add({"key": key, "model": model, "batch": batch, **_outcome(answer)})

    def _add(self, fields: Fields) -> None:
        self._waiting.append(json.dumps(fields))
        if len(self._waiting) >= 200:
            self.flush()

    def flush(self) -> None:
        """Write what has come together."""
        if self._waiting and self._file is not None:
            content = "".join(f"{line}\n" for line in self._waiting).encode()
            self._waiting.clear()
            with storage_errors(str(self._path)):
                self._disk.write(self._file, content)

    def close(self) -> None:
        """Write the rest and let go."""
        self.flush()
        if self._file is not None:
            self._disk.close(self._file)


class _Answered(msgspec.Struct):
    """What is read of a line: which response came to which request."""

    key: str
    model: str
    outcome: str
    id: str | None = None


_line = msgspec.json.Decoder(_Answered)


def ids_on_record(directory: Path) -> dict[str, list[tuple[str, bytes]]]:
    """The ids of a directory's responses with the keys of their questions, by model: the first and the last ones.

    One that comes again is astray whenever it comes, and the first ones show whether a server repeats them.
    """
    first: dict[str, list[tuple[str, bytes]]] = {}
    last: dict[str, deque[tuple[str, bytes]]] = {}
    path = directory / ATTEMPTS
    if not path.is_file():
        return {}
    with storage_errors(str(path)), open_to_read(path) as stream:
        for line in stream:
            try:
                said = _line.decode(line)
                key = bytes.fromhex(said.key)
            except (msgspec.MsgspecError, ValueError):
                continue  # a kill may have cut it short
            if said.outcome != Reason.STRAY_RESPONSE and said.id is not None:
                few = first.setdefault(said.model, [])
                kept = few if len(few) < FIRST_ANSWERS else last.setdefault(said.model, deque(maxlen=KEPT))
                kept.append((said.id, key))
    return {model: [*few, *last.get(model, ())] for model, few in first.items()}
