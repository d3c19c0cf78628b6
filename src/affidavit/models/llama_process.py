"""The process that runs llama.cpp, seen by whoever started it: where it listens, whether it runs, what it said."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from affidavit.errors import UsageError
from affidavit.models.llama_server import KEY

_PROGRAM = Path(__file__).with_name("llama_server.py")
_LONGEST_START = 120.0
"""Seconds that loading may take."""
_LAST_WORDS = 8
"""Lines that are kept of what the process says."""


class LlamaProcess:
    """The process that runs llama.cpp, and the last of what it said."""

    def __init__(self, process: Process, name: str) -> None:
        self._process = process
        self._name = name
        self._words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._killed = False
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def started(cls, arguments: Sequence[str], *, name: str, key: str) -> Self:
        """A new process; in a session of its own, so that a signal from the terminal lets open requests end."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(_PROGRAM),
                *arguments,
                stdin=PIPE,  # never written to: its end tells the child that we are gone
                stdout=PIPE,
                stderr=PIPE,
                env={**os.environ, KEY: key},
                start_new_session=True,
            )
        except OSError as error:
            found = error.strerror or type(error).__name__
            raise UsageError(f"the embedded model {name}", expected="a process for it", found=found) from error
        return cls(process, name)

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    async def _listen(self) -> None:
        """Read all that it says, so that it never waits for us, and keep the last of it."""
        if self._process.stderr is not None:
            while piece := await self._process.stderr.read(65_536):
                for line in piece.decode(errors="replace").splitlines():
                    self._words.append(re.sub(r"^[\d.]+ [A-Z] ", "", line)[:200])

    def last_words(self) -> str:
        """The last lines it said, in one."""
        return "; ".join(self._words) or "it said nothing"

    async def address(self) -> str:
        """Where it listens, once the model is loaded."""
        line, found = b"", "a process that ended"
        try:
            async with asyncio.timeout(_LONGEST_START):
                if self._process.stdout is not None:
                    line = await self._process.stdout.readline()
        except TimeoutError:
            found = f"nothing within {_LONGEST_START:g} s"
        if line.startswith(b"http://127.0.0.1:"):
            return line.decode("ascii").strip()
        await self.end()
        raise UsageError(
            f"the embedded model {self._name}",
            expected="llama.cpp to load it and listen",
            found=f"{found}: {self.last_words()}",
        )

    def kill(self) -> None:
        """End it now; it has nothing to lose."""
        # Once: to signal a process that has just ended takes its end from whoever waits for it, with a warning.
        if not self._killed:
            self._killed = True
            with suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """Make sure that it has ended."""
        self.kill()
        await self._process.wait()
        await self._listening
