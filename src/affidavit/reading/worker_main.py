"""The program of a worker process: `python -m affidavit.reading.worker_main JOB`, with a socket as its input.

The first message says what the job is about, and is not answered; every other is answered in its turn. Whatever
goes wrong ends the process, and its own words go where those of the command go.
"""

import gc
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from affidavit.reading.worker_channel import Answer, Channel, Message

JOBS = {
    "derive": "affidavit.running.derivation_job",
    "import": "affidavit.reading.import_job",
    "part_files": "affidavit.reading.part_files.part_job",
}
"""The module of each job: its function `begin` is given the first message."""


Work = Callable[[Message], Answer]
"""A job that has begun."""


def main(job: str, end: socket.socket) -> None:
    """Work until nobody asks for more."""
    gc.disable()  # modules are no garbage, and need not be looked through again and again
    module = import_module(JOBS[job])
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
    gc.enable()
    with end, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        channel = Channel(end)
        work: Work = module.begin(channel.receive())
        while True:
            channel.send(*work(channel.receive()))


if __name__ == "__main__":
    main(sys.argv[1], socket.socket(fileno=0))
