"""The job of a worker of `verify`: lines of the journal are derived again, and what does not follow is told.

The worker reads the plan and the items of the directory for itself, once, and is shown ranges of lines. What
depends on the lines before, such as which question is answered already, is looked at by whoever asks.
"""

from pathlib import Path
from typing import NamedTuple

import msgspec

from affidavit.archive.record_lines import decode
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.reading.worker_channel import Answer, Message
from affidavit.reading.worker_main import Work
from affidavit.running.rederivation import Derived, Rederivation
from affidavit.study.freezing import plan_of


class DerivationSetup(msgspec.Struct):
    """The first message: which study it is, and which contracts of users' own may be run."""

    directory: str
    contracts: tuple[str, ...]


class Found(NamedTuple):
    """One line of a range that does not say what it must."""

    number: int
    """Counted from 0."""
    derived: Derived


_setup = msgspec.msgpack.Decoder(DerivationSetup)
_found = msgspec.msgpack.Decoder(list[Found])


def found_in(body: memoryview) -> list[Found]:
    """What an answer says."""
    return _found.decode(body) if body else []


def begin(first: Message) -> Work:
    """The job, given the directory."""
    setup = _setup.decode(first.content)
    given, directory = GivenContracts(setup.contracts), StudyDirectory(Path(setup.directory))
    study = directory.frozen()
    again = Rederivation(directory, study, plan_of(study, given), given)

    def work(message: Message) -> Answer:
        found = [
            Found(number, derived)
            for number, line in enumerate(bytes(message.body).split(b"\n")[:-1])
            if (derived := _derived(again, line + b"\n")) != Derived()
        ]
        return Answer(b"", (msgspec.msgpack.encode(found),) if found else ())

    return work


def _derived(again: Rederivation, line: bytes) -> Derived:
    placed = decode(line)
    assert placed is not None  # noqa: S101 - whoever asks has read the line
    return again.derived(line, placed)
