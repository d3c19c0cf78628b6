"""The words of the Python interface: what it takes, and errors that speak of arguments in place of options."""

import os
import re
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeAlias, TypeVar

from affidavit.errors import AffidavitError

Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")
Place: TypeAlias = str | os.PathLike[str]
Names: TypeAlias = str | Iterable[str]
"""Names in a list; a text may hold several, with commas between them."""


def for_python(function: Callable[Arguments, Given]) -> Callable[Arguments, Given]:
    """The function; what it refuses, it refuses in the words of Python, without a traceback into the rooms."""

    @wraps(function)
    def speaking(*arguments: Arguments.args, **named: Arguments.kwargs) -> Given:
        try:
            return function(*arguments, **named)
        except AffidavitError as error:
            refused = error
        words = (_in_python(text) for text in (refused.where, refused.expected, refused.hint))
        where, expected, hint = words
        raise type(refused)(where, expected=expected, found=refused.found, hint=hint)

    return speaking


def _in_python(text: str) -> str:
    """A message about options of a command, as one about arguments.

    >>> _in_python("Name it: --models study.toml"), _in_python("Name the column with --field.")
    ("Name it: models='study.toml'", 'Name the column with text=.')
    """
    return re.sub(r"--([a-z][a-z-]*)( [A-Z]-[A-Z]\b| [A-Z]+\b| '[^']*'| \S+\.toml)?", _argument, text)


def _argument(option: re.Match[str]) -> str:
    name, value = _ARGUMENTS.get(option[1], option[1].replace("-", "_")), (option[2] or "").strip()
    # At the front of a message stands the name alone; within a sentence, what one would type.
    if option.start() == 0 and option.end() == len(option.string):
        return name
    literal = value.startswith("'") or value.isalpha() or not value
    return f"{name}={value}" if literal else f"{name}={value!r}"


_ARGUMENTS = {
    "field": "text",
    "study": "study_file",
    "model": "models",
    "judge": "judges",
    "task": "tasks",
    "tasks": "tasks_file",
    "condition": "conditions",
    "contract": "contracts",
    "label": "labels",
}
"""Options whose argument has another name."""


def names_in(names: Names) -> tuple[str, ...]:
    """The names, one by one."""
    listed = names.split(",") if isinstance(names, str) else names
    return tuple(name.strip() for name in listed if name.strip())


def path_of(place: Place) -> Path:
    """Where a place is."""
    return Path(place).expanduser()
