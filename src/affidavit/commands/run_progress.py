"""How far a run has come: a line for each model and condition on a terminal, a line for all elsewhere."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from time import monotonic
from typing import Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from affidavit.commands.progress import SILENT_FOR, StatusLine
from affidavit.judging.plan import JudgeCell
from affidavit.plain_text import plain
from affidavit.reading.tally import Tally, ranked
from affidavit.study.crossing import Cell


class RunProgress:
    """How far a run has come: on a terminal a line for each model and condition, elsewhere one line for all."""

    def __init__(self, stream: TextIO) -> None:
        self._line = StatusLine(stream)
        self._live = RunDisplay(stream) if stream.isatty() else None
        self._already: int | None = None
        self._judged_already: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.end()

    def tell(self, tallies: Mapping[Cell, Tally]) -> None:
        """Say where things stand, if it is time to; the first time says where they stood at the start."""
        if self._already is None:
            self._already = sum(tally.n - tally.pending for tally in tallies.values())
        already = self._already
        self._show(lambda room: run_lines(tallies, room), lambda s: run_line(tallies.values(), s, already))

    def tell_judging(self, tallies: Mapping[JudgeCell, Tally]) -> None:
        """The same of a judging."""
        if self._judged_already is None:
            self._judged_already = sum(tally.n - tally.pending for tally in tallies.values())
        already = self._judged_already
        self._show(lambda room: judge_lines(tallies, room), lambda s: judge_line(tallies.values(), s, already))

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


def run_lines(tallies: Mapping[Cell, Tally], room: int) -> Table:
    """A line for each model and condition; where there is not room for all, those that are not done come first."""
    lines: dict[tuple[str, str], list[Tally]] = {}
    for cell, tally in tallies.items():
        lines.setdefault((cell.model, cell.condition), []).append(tally)
    totals = [(name, Tally.total(many)) for name, many in lines.items()]
    if len(totals) > room:
        totals = sorted(totals, key=lambda each: not each[1].pending)[:room]
    table = Table.grid(padding=(0, 2, 0, 0))
    for (model, condition), tally in totals:
        done = tally.n - tally.pending
        so_far = f"{tally.compliant / tally.arrived:.1%} compliant" if tally.arrived else ""
        bar = ProgressBar(total=tally.n, completed=done, width=24)
        table.add_row(Text(plain(model)), Text(plain(condition)), bar, f"{done:,} of {tally.n:,}", so_far)
    return table


def judge_lines(tallies: Mapping[JudgeCell, Tally], room: int) -> Table:
    """A line for each judge, condition and method: valid, flags, quotes found."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for cell, tally in list(tallies.items())[:room]:
        done = tally.n - tally.pending
        bar = ProgressBar(total=tally.n, completed=done, width=24)
        names = (plain(cell.judge), cell.judging_condition, cell.method)
        table.add_row(*map(Text, names), bar, f"{done:,} of {tally.n:,}", judge_words([tally]))
    return table


def judge_line(tallies: Collection[Tally], seconds: float, already: int) -> str:
    """The line of a judging after so many seconds.

    >>> tally = Tally(compliant=3, non_compliant=1, pending=4, breakdowns={"flags": Counter(UNPARSABLE_OUTPUT=1)})
    >>> judge_line([tally], 4.0, 0)
    '4 of 8 judged  1.0/s  75.0% valid  1 UNPARSABLE_OUTPUT  4 s to go'
    """
    done, to_go = _pace(tallies, seconds, already, "judged")
    return "  ".join(filter(None, (done, judge_words(tallies), to_go)))


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


def run_line(tallies: Collection[Tally], seconds: float, already: int) -> str:
    """The line after so many seconds of a run that found some answers already there.

    >>> tally = Tally(compliant=300, non_compliant=100, failed=2, pending=400, failures=Counter(timeout=2))
    >>> run_line([tally], 4.0, 202)
    '402 of 802 done  50/s  75.0% compliant  8 s to go  failed: 2 timeout'
    """
    done, to_go = _pace(tallies, seconds, already, "done")
    arrived = sum(tally.arrived for tally in tallies)
    kept = f"{sum(tally.compliant for tally in tallies) / arrived:.1%} compliant" if arrived else ""
    failures = sum((tally.failures for tally in tallies), Counter())
    return "  ".join(filter(None, (done, kept, to_go, _failed(failures))))


def _failed(failures: Counter[str]) -> str:
    named = ", ".join(f"{count:,} {reason}" for reason, count in ranked(failures))
    return f"failed: {named}" if named else ""


def _pace(tallies: Collection[Tally], seconds: float, already: int, done_so: str) -> tuple[str, str]:
    """How much is done, and how fast; how long the rest will take, empty where nobody can tell."""
    planned, pending = sum(tally.n for tally in tallies), sum(tally.pending for tally in tallies)
    done = planned - pending
    rate = (done - already) / seconds
    to_go = f"{_duration(pending / rate)} to go" if rate > 0 else ""
    return f"{done:,} of {planned:,} {done_so}  {_rate(rate)}", to_go


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
