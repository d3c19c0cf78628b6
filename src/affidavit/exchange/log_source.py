"""Logs as sources of rows: `read` and `import` take them like any file of outputs, under our names for columns."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.errors import UsageError
from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput
from affidavit.exchange.plain_tables import Tables
from affidavit.exchange.registry import distinct_names, format_of_log, logs_of
from affidavit.exchange.right_answers import AnswerPattern
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.reading.source import Columns, Format, Row, Source, Stream

NOT_VERBATIM, SENTINELS, ERRORS_WITH_A_TEXT = "not verbatim", "sentinels", "errors with a text"
OTHER_TEXTS = "with other texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSource(Source):
    """The rows of a log."""

    log: Log
    log_name: str
    """Which no other log beside it has: what its outputs are called by."""
    counted: Counter[str] = field(default_factory=Counter)
    """What was seen of outputs in the last walk: why there was none, which texts are not verbatim, and so on."""
    answers: AnswerPattern | None = None
    """What takes right answers out of what the log keeps of them; None: they are it as they stand."""


def _rows(source: Source, _columns: Columns) -> Iterator[Row]:
    assert isinstance(source, LogSource)  # noqa: S101 - no other source has this format
    source.counted.clear()
    for number, output in enumerate(source.log.outputs(), 1):
        _count(source.counted, output)
        row, where = output.row(log=source.log_name, task=source.log.task), f"{source.name}: {output.place}"
        yield Row(where, number, row if source.answers is None else source.answers.of(row, where=where))


def _count(counted: Counter[str], output: LoggedOutput) -> None:
    counted["outputs"] += 1
    if output.no_answer is not None:
        counted[output.no_answer.value] += 1
    elif output.error is not None:
        counted[ERRORS_WITH_A_TEXT] += 1
    if any(word.no_answer is not None for word in output.words):
        counted[SENTINELS] += 1
    if not output.verbatim:
        counted[NOT_VERBATIM] += 1
    if output.other_texts:
        counted[OTHER_TEXTS] += 1


LOG_ROWS = Format("a log", (), lambda _head: False, _rows)
"""What the rows of every log are."""


def log_sources(
    paths: Iterable[Path], tables: Tables | None = None, unreadable: UnreadableLogs | None = None
) -> list[LogSource]:
    """The logs of files and directories, each as a source of its rows; `tables` says how plain tables are read,
    and `unreadable` what happens to logs that are none."""
    return sources_of(list(logs_of(list(paths), tables, unreadable)))


def sources_of(logs: Sequence[Log]) -> list[LogSource]:
    """Logs as sources, each output named by its log and its place in there; UsageError for one given twice."""
    seen: set[Path] = set()
    for log in logs:
        if (real := log.path.resolve()) in seen:
            raise UsageError("LOGS", expected="every log once", found=f"{log.path} again")
        seen.add(real)
    names = distinct_names([log.path for log in logs])
    return [
        LogSource(str(log.path), _no_bytes, log.path, LOG_ROWS, log=log, log_name=name)
        for log, name in zip(logs, names, strict=True)
    ]


def _no_bytes() -> AbstractContextManager[Stream]:
    raise UsageError("a log", expected="to be read output by output", found="a reader of its bytes")


def source_if_log(path: Path) -> LogSource | None:
    """The rows of a path that is one log; None if it is none."""
    found = format_of_log(path) if path.exists() else None
    return None if found is None else sources_of([found.opened(path)])[0]
