"""How far a run has come: a line for each model and condition on a terminal, a line for all elsewhere."""

from typing import TYPE_CHECKING, Self, TextIO

from affidavit.commands.progress import StatusLine
from affidavit.commands.run_line import judge_line, run_line
from affidavit.judging.plan import JudgeCell
from affidavit.running.asked_now import AskedNow
from affidavit.study.crossing import Cell

if TYPE_CHECKING:
    from affidavit.commands.run_display import RunDisplay


class RunProgress:
    """How far a run has come: on a terminal a line for each model and condition, elsewhere one line for all."""

    def __init__(self, stream: TextIO) -> None:
        self._line = StatusLine(stream)
        self._live = _display(stream) if stream.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.end()

    def tell(self, now: AskedNow[Cell]) -> None:
        """Say where things stand, if it is time to."""
        if self._live is not None:
            self._live.tell(now)
        else:
            self._line.show(lambda seconds: run_line(now, seconds))

    def tell_judging(self, now: AskedNow[JudgeCell]) -> None:
        """The same of a judging."""
        if self._live is not None:
            self._live.tell_judging(now)
        else:
            self._line.show(lambda seconds: judge_line(now, seconds))


def _display(stream: TextIO) -> "RunDisplay":
    from affidavit.commands.run_display import RunDisplay  # it brings rich, which a run in a file does without

    return RunDisplay(stream)
