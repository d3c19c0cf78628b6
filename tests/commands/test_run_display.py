"""What `affidavit run` shows while it runs: lines on a terminal that are gone in the end, and plain text elsewhere."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import IO

import pytest

from support.command import COMMAND, ENVIRONMENT
from support.fault_server import LONGEST, FaultServer, every, held
from support.studies import write_study

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 100, 30
CHOSEN = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "LINES", "COLUMNS")
"""What may say how to write, whoever reads."""
ON_A_TERMINAL = {k: v for k, v in ENVIRONMENT.items() if k not in CHOSEN} | {"TERM": "xterm-256color"}
MODELS, CONDITIONS = ("one", "two"), ("free", "urged")
SEQUENCE = re.compile(r"\x1b\[(?P<given>[?\d;]*)(?P<does>[A-Za-z])|(?P<control>[\r\n])|(?P<text>[^\x1b\r\n]+)")
HELD = re.compile(r"12 of 16 done  [\d.]+/(?:s|min)  100\.0% compliant  \d+ (?:s|min) to go")
"""The last of the lines, when all was answered but what is held back."""
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def screen(written: str) -> list[str]:
    """The lines that one sees after all this was written, as a terminal would show them."""
    rows, row, column, at = [""], 0, 0, 0
    for match in SEQUENCE.finditer(written):
        assert match.start() == at, f"something that this terminal does not know: {written[at : match.end()]!r}"
        at = match.end()
        if match["text"]:
            rows[row] = rows[row][:column].ljust(column) + match["text"] + rows[row][column + len(match["text"]) :]
            column += len(match["text"])
            assert column <= WIDTH, "a line that is too long for the terminal"
        elif match["control"] == "\r":
            column = 0
        elif match["control"] == "\n":
            row += 1
            rows += [""] * (row == len(rows))
        elif match["does"] == "A":
            row = max(0, row - int(match["given"] or 1))
        elif match["does"] == "K":
            rows[row] = {"": rows[row][:column], "2": ""}[match["given"]]
        else:
            assert match["does"] in "mhl", match[0]
    return [line.rstrip() for line in rows]


@dataclass
class Terminal:
    """A terminal, and what was written to it."""

    ours: int
    theirs: int
    written: bytes = b""

    def read(self, until: Callable[[str], object] = lambda _: False) -> str:
        """All that is written until something can be seen, or until whoever writes has ended."""
        end = monotonic() + LONGEST
        while not until(self.text):
            assert monotonic() < end, self.text
            if select.select([self.ours], [], [], 0.1)[0]:
                try:
                    piece = os.read(self.ours, 65_536)
                except OSError:  # nobody holds the other side any more
                    piece = b""
                if not piece:
                    break
                self.written += piece
        return self.text

    @property
    def text(self) -> str:
        return self.written.decode(errors="ignore")

    def left_to_others(self) -> None:
        """From now on only those that were started can write to it."""
        os.close(self.theirs)


@contextmanager
def terminal() -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    try:
        yield Terminal(ours, theirs)
    finally:
        os.close(ours)


@dataclass(frozen=True)
class Shown:
    """What three runs of the same study showed: one on a terminal, one into files, one with its output in a file."""

    during: str
    after: str
    out: bytes
    err: bytes
    kept: bytes
    beside: str


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Shown:
    """Two models, two conditions; all three runs at once, and held until their progress was seen."""
    tmp_path, over = tmp_path_factory.mktemp("shown"), Event()
    out, err, kept = (tmp_path / name for name in ("out", "err", "kept"))
    with (
        FaultServer({"q3": every(held(over))}) as server,
        terminal() as whole,
        terminal() as half,
        started(tmp_path / "0", server, whole.theirs, whole.theirs),
        out.open("wb") as out_file,
        err.open("wb") as err_file,
        started(tmp_path / "1", server, out_file, err_file),
        kept.open("wb") as kept_file,
        started(tmp_path / "2", server, kept_file, half.theirs),
    ):
        whole.left_to_others()
        half.left_to_others()
        try:
            during = whole.read(until=HELD.search)
            half.read(until=HELD.search)
            wait(err.read_bytes)
        finally:
            over.set()
        after, beside = whole.read(), half.read()
    during = during[: list(HELD.finditer(during))[-1].end()]
    return Shown(during, after, out.read_bytes(), err.read_bytes(), kept.read_bytes(), beside)


@contextmanager
def started(folder: Path, server: FaultServer, out: int | IO[bytes], err: int | IO[bytes]) -> Iterator[None]:
    """The real command, on its way; it must end well by the end of the block."""
    changed = {
        "models": {"m": None} | {name: {"base_url": server.url} for name in MODELS},
        "conditions": {"free": {}, "urged": {"preamble": "Think."}},
    }
    write_study(folder, server.url, count=4, changed=changed)
    order = [COMMAND, "run", folder / "study.toml", "--out", folder / "out"]
    process = subprocess.Popen(order, env=ON_A_TERMINAL, stdout=out, stderr=err)
    try:
        yield
        assert process.wait(LONGEST) == 0
    finally:
        process.kill()
        process.wait()


def wait(until: Callable[[], object]) -> None:
    end = monotonic() + LONGEST
    while not until():
        assert monotonic() < end
        sleep(0.01)


def test_a_terminal_shows_a_line_for_each_model_and_condition(shown):
    seen = [line for line in screen(shown.during) if line]
    assert len(seen) == 5
    for line, (model, condition) in zip(seen, [(m, c) for m in MODELS for c in CONDITIONS], strict=False):
        assert re.fullmatch(rf"{model}  {condition} +━+[╸╺]━* +3 of 4  100\.0% compliant", line), line
    assert HELD.fullmatch(seen[-1]), seen[-1]


def test_the_lines_are_wiped_and_the_tables_stay(shown):
    seen = screen(shown.after)
    assert not [line for line in seen if "━" in line or "done" in line or "to go" in line]
    assert seen[0] == "quiz  mcqa/1", "the first line is where the lines of the progress were"
    assert "16 planned = 16 compliant + 0 non-compliant + 0 unread + 0 failed + 0 pending" in "\n".join(seen)
    assert seen[-2].startswith("to verify: affidavit verify ")


def test_whoever_ends_it_finds_a_cursor(shown):
    for written in (shown.during, shown.after):
        assert re.findall(r"\x1b\[\?25([hl])", written)[-1] == "h"


def test_colours_are_for_terminals_only(shown):
    assert COLOUR.search(shown.during)
    assert COLOUR.search(shown.after[len(shown.during) :])
    for written in (shown.out, shown.err, shown.kept):
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f\x9b]", written), written
    assert shown.out.splitlines()[0] == b"quiz  mcqa/1"


def test_elsewhere_one_line_says_how_far_it_is(shown):
    first = shown.err.decode().splitlines()[0]
    assert re.fullmatch(r"\d+ of 16 done  [\d.]+/(s|min).*", first)


def test_output_kept_in_a_file_is_the_same_as_without_a_terminal(shown):
    assert re.sub(rb"digest \w+|\S+/\d/out", b"", shown.kept) == re.sub(rb"digest \w+|\S+/\d/out", b"", shown.out)
    assert not [line for line in screen(shown.beside) if line]
