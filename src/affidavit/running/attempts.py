"""`attempts.jsonl`: when each attempt began, how long it took and what came of it. No part of the root digest."""

import json
from pathlib import Path
from typing import NamedTuple

from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import ATTEMPTS
from affidavit.models.model import Answer, Failure


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
        outcome, detail = "response", ""
        if isinstance(attempt.answer, Failure):
            outcome, detail = attempt.answer.reason, f', "detail": {json.dumps(attempt.answer.detail)}'
        if (response_id := attempt.answer.response_id) is not None:
            detail += f', "id": {json.dumps(response_id)}'
        self._waiting.append(
            f'{{"key": "{attempt.key}", "model": {json.dumps(attempt.model)}, "attempt": {attempt.number}, '
            f'"began": {attempt.began:.3f}, "seconds": {attempt.seconds:.4f}, "outcome": "{outcome}"{detail}}}'
        )
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
