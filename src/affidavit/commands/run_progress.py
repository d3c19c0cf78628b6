"""How far a run has come: a line for each model and condition on a terminal, a line for all elsewhere."""

from collections import Counter
from collections.abc import Callable, Collection
from time import monotonic
from typing import Any, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from affidavit.commands.progress import SILENT_FOR, StatusLine
from affidavit.judging.plan import JudgeCell
from affidavit.plain_text import plain
from affidavit.reading.tally import Tally, ranked
from affidavit.running.asked_now import AskedNow, CellT
from affidavit.study.crossing import Cell


class RunProgress:
    """How far a run has come: on a terminal a line for each model and condition, elsewhere one line for all."""

    def __init__(self, stream: TextIO) -> None:
        self._line = StatusLine(stream)
        self._live = RunDisplay(stream) if stream.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.end()

    def tell(self, now: AskedNow[Cell]) -> None:
        """Say where things stand, if it is time to."""
        self._show(lambda room: run_lines(now, room), lambda seconds: run_line(now, seconds))

    def tell_judging(self, now: AskedNow[JudgeCell]) -> None:
        """The same of a judging."""
        self._show(lambda room: judge_lines(now, room), lambda seconds: judge_line(now, seconds))

    def _show(self, lines: Callable[[int], Table], total: Callable[[float], str]) -> None:
        if self._live is not None:
            self._live.show(lines, total)
        else:
            self._line.show(total)


class RunDisplay:
    """Lines that are written over and over, as many as the terminal has room for."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._started = monotonic()
        self._next = self._started + SILENT_FOR

    def show(self, lines: Callable[[int], Table], total: Callable[[float], str]) -> None:
        """Write the lines, if it is time to."""
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


def judge_line(now: AskedNow[JudgeCell], seconds: float) -> str:
    """The line of a judging after so many seconds.

    >>> tally = Tally(compliant=3, non_compliant=1, pending=4, breakdowns={"flags": Counter(UNPARSABLE_OUTPUT=1)})
    >>> cell = JudgeCell("j", "free", "cross_judge")
    >>> judge_line(AskedNow({cell: tally}, {cell: 8}, Counter({cell: 4})), 4.0)
    '4 of 8 judged  1.0/s  75.0% valid  1 UNPARSABLE_OUTPUT  4 s to go'
    """
    done, to_go = _pace(now, seconds, "judged")
    line = "  ".join(filter(None, (done, judge_words(now.tallies.values()), to_go)))
    return "\n".join((line, *map(plain, now.slow)))


def judge_words(tallies: Collection[Tally]) -> str:
    """Valid ones, flags and quotes so far."""
    total = Tally.total(tallies)
    parts = [f"{total.compliant / total.arrived:.1%} valid"] if total.arrived else []
    parts += [f"{count:,} {flag}" for flag, count in ranked(total.breakdowns.get("flags", Counter()))]
    kinds = total.breakdowns.get("evidence", Counter())
    found = sum(kinds[kind] for kind in ("exact", "normalised", "elided"))
    if looked_for := found + kinds["absent"]:
        parts.append(f"{found:,} of {looked_for:,} quotes found")
    return "  ".join(filter(None, (*parts, _failed(total.failures))))


def run_line(now: AskedNow[Cell], seconds: float) -> str:
    """The line after so many seconds: what a run has done of its own questions, and how all answers look so far.

    >>> tally = Tally(compliant=300, non_compliant=100, failed=2, pending=400, failures=Counter(timeout=2))
    >>> cell = Cell("quiz", "m", "free")
    >>> run_line(AskedNow({cell: tally}, {cell: 600}, Counter({cell: 200})), 4.0)
    '200 of 600 done  50/s  75.0% compliant  8 s to go  failed: 2 timeout'
    """
    done, to_go = _pace(now, seconds, "done")
    tallies = now.tallies.values()
    arrived = sum(tally.arrived for tally in tallies)
    kept = f"{sum(tally.compliant for tally in tallies) / arrived:.1%} compliant" if arrived else ""
    failures = sum((tally.failures for tally in tallies), Counter())
    line = "  ".join(filter(None, (done, kept, to_go, _failed(failures))))
    return "\n".join((line, *map(plain, now.slow)))


def _failed(failures: Counter[str]) -> str:
    named = ", ".join(f"{count:,} {reason}" for reason, count in ranked(failures))
    return f"failed: {named}" if named else ""


def _pace(now: AskedNow[Any], seconds: float, done_so: str) -> tuple[str, str]:
    """How much is done, and how fast; how long the rest will take, empty where nobody can tell."""
    rate = now.done / seconds
    to_go = f"{_duration((now.planned - now.done) / rate)} to go" if rate > 0 else ""
    return f"{now.done:,} of {now.planned:,} {done_so}  {_rate(rate)}", to_go


def _rate(each_second: float) -> str:
    """How fast, in the unit that suits it.

    >>> _rate(1234.5), _rate(1.25), _rate(0.03), _rate(0)
    ('1,234/s', '1.2/s', '1.8/min', '0/s')
    """
    if 0 < each_second < 0.1:
        return f"{60 * each_second:.1f}/min"
    return f"{each_second:,.0f}/s" if each_second >= 10 or not each_second else f"{each_second:.1f}/s"


def _duration(seconds: float) -> str:
    """How long, in the unit that suits it.

    >>> _duration(90), _duration(600), _duration(9000)
    ('90 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"
