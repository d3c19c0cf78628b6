"""One line that says how far a run has come: how much is done, how fast, how the answers look, what failed."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from affidavit.judging.plan import JudgeCell
from affidavit.plain_text import plain
from affidavit.reading.tally import Tally, ranked
from affidavit.running.asked_now import AskedNow
from affidavit.study.crossing import Cell


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
