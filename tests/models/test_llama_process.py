"""The process of an embedded model is ended once, whoever asks for it."""

import asyncio
import sys
from asyncio.subprocess import PIPE

from affidavit.models.llama_process import LlamaProcess


class Ended:
    """A process that counts how often it was signalled."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process, self.signals = process, 0
        self.stderr, self.stdout = process.stderr, process.stdout

    def kill(self) -> None:
        self.signals += 1
        self._process.kill()

    async def wait(self) -> int:
        return await self._process.wait()


def test_a_process_that_was_killed_is_not_signalled_again():
    """It may have ended meanwhile, and a second signal would take its end from asyncio."""

    async def killed_twice() -> int:
        waiting = (sys.executable, "-c", "input()")
        child = Ended(await asyncio.create_subprocess_exec(*waiting, stdin=PIPE, stdout=PIPE, stderr=PIPE))
        process = LlamaProcess(child, "m")
        process.kill()
        await process.end()
        return child.signals

    assert asyncio.run(killed_twice()) == 1
