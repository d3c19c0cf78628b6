"""Logs that somebody damaged: every part of a value replaced in turn, and what a reader makes of the file."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from affidavit.errors import InputError
from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput

KINDS = (None, 7, [], ["x"], "x", {}, {"x": 1})
"""A value of each kind that JSON has."""


def mutations(value: object, *others: object) -> Iterator[object]:
    """The value with each of its parts in turn replaced by each of the others, or left out."""
    yield from others
    if isinstance(value, dict):
        for name, part in value.items():
            yield {key: each for key, each in value.items() if key != name}
            yield from ({**value, name: changed} for changed in mutations(part, *others))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in mutations(part, *others))


def read_or_refused(opened: Callable[[Path], Log], path: Path) -> list[LoggedOutput] | InputError:
    """The outputs of a log, each of them sound and all figures made again; or the refusal, which says where."""
    try:
        return _read(opened(path))
    except InputError as error:
        refused = error
    folder = path if path.is_dir() else path.parent
    assert refused.where.startswith(str(folder)), refused
    assert refused.expected, refused
    return refused


def _read(log: Log) -> list[LoggedOutput]:
    again = [printed.recount() for printed in log.printed if printed.recount is not None]
    found = []
    for output in log.outputs():
        assert_sound(output)
        found.append(output)
        for each in again:
            each.add(output)
    for each in again:
        each.value()
    return found


def assert_sound(output: LoggedOutput) -> None:
    """Whatever is read can be kept: a text or none, and a row of JSON."""
    assert output.raw_output is None or isinstance(output.raw_output, str)
    assert output.place, output
    json.dumps(output.row(log="log", task="task"))
