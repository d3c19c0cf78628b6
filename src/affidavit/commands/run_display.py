"""How far a run has come, on a terminal: a line for each model and condition, written over and over."""

from collections.abc import Callable, Collection
from time import monotonic
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from affidavit.commands.progress import SILENT_FOR
from affidavit.commands.run_line import judge_line, judge_words, run_line
from affidavit.judging.plan import JudgeCell
from affidavit.plain_text import plain
from affidavit.reading.tally import Tally
from affidavit.running.asked_now import AskedNow, CellT
from affidavit.study.crossing import Cell


class RunDisplay:
    """Lines that are written over and over, as many as the terminal has room for."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._started = monotonic()
        self._next = self._started + SILENT_FOR

    def tell(self, now: AskedNow[Cell]) -> None:
        """Say where a run stands, if it is time to."""
        self._show(lambda room: run_lines(now, room), lambda seconds: run_line(now, seconds))

    def tell_judging(self, now: AskedNow[JudgeCell]) -> None:
        """The same of a judging."""
        self._show(lambda room: judge_lines(now, room), lambda seconds: judge_line(now, seconds))

    def _show(self, lines: Callable[[int], Table], total: Callable[[float], str]) -> None:
        now = monotonic()
        if now < self._next:
            return
        if not self._live.is_started:
            self._live.start()
            self._console.show_cursor(show=True)  # whoever ends us at once finds it where it was
        self._next = now + 0.2
        room = max(1, self._console.size.height - 3)
        self._live.update(Group(lines(room), Text(total(now - self._started))), refresh=True)

    def end(self) -> None:
        """Wipe the lines."""
        if self._live.is_started:
            self._live.stop()


def run_lines(now: AskedNow[Cell], room: int) -> Table:
    """A line for each model and condition; where there is not room for all, those that are not done come first."""
    lines: dict[tuple[str, str], list[Cell]] = {}
    for cell in now.to_ask:
        lines.setdefault((cell.model, cell.condition), []).append(cell)
    names = list(lines)
    counts = {name: _of_cells(now, cells) for name, cells in lines.items()}
    if len(names) > room:
        names = sorted(names, key=lambda name: counts[name][0] == counts[name][1])[:room]
    table = Table.grid(padding=(0, 2, 0, 0))
    for name in names:
        tally = Tally.total(now.tallies[cell] for cell in lines[name])
        so_far = f"{tally.compliant / tally.arrived:.1%} compliant" if tally.arrived else ""
        table.add_row(*(Text(plain(each)) for each in name), *_bar(*counts[name]), so_far)
    return table


def judge_lines(now: AskedNow[JudgeCell], room: int) -> Table:
    """A line for each judge, condition and method: valid, flags, quotes found."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for cell in list(now.to_ask)[:room]:
        names = (plain(cell.judge), cell.judging_condition, cell.method)
        table.add_row(*map(Text, names), *_bar(*_of_cells(now, [cell])), judge_words([now.tallies[cell]]))
    return table


def _of_cells(now: AskedNow[CellT], cells: Collection[CellT]) -> tuple[int, int]:
    """How many questions of some cells have ended in this run, and how many it asks."""
    return sum(now.ended[cell] for cell in cells), sum(now.to_ask[cell] for cell in cells)


def _bar(done: int, planned: int) -> tuple[ProgressBar, str]:
    return ProgressBar(total=planned, completed=done, width=24), f"{done:,} of {planned:,}"
