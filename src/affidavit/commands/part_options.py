"""The options of `read` for files of any size: part files, workers, shards."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from affidavit.errors import UsageError

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


class PartOptions(NamedTuple):
    """What was given of them."""

    folder: Path | None
    workers: int | None
    shard: str | None
    files_from: Path | None
    engine: str | None
    strict: bool

    @property
    def any(self) -> bool:
        """Whether ranges are to be read at all."""
        return any(each is not None for each in self[:5]) or self.strict


def refuse_beside_parts(given: Mapping[str, object]) -> None:
    """Refuse options that are not for ranges, given by their names."""
    for option in (name for name, value in given.items() if value is not None):
        expected = "no --parts, --workers, --shard or --files-from beside it"
        raise UsageError(option, expected=expected, found="both")


_OPTIONS = (
    click.option(
        "--parts",
        "parts_folder",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Write the rows as part files with a manifest; interrupted, it goes on with those that are missing.",
    ),
    click.option(
        "--workers",
        "parts_workers",
        type=click.IntRange(1, 64),
        metavar="N",
        help="So many processes; with --parts as many as there are cores, at most 8, unless given.",
    ),
    click.option(
        "--shard",
        "parts_shard",
        metavar="I/N",
        help="With --parts: read every N-th part from the I-th on; `affidavit merge` puts shards together.",
    ),
    click.option(
        "--files-from",
        "parts_files_from",
        type=click.Path(path_type=Path),
        metavar="LIST",
        help="With --parts or --workers: read the files that this file names, one on a line.",
    ),
    click.option(
        "--engine",
        "parts_engine",
        metavar="NAME",
        help="With --parts: who reads them, `local` unless given.",
    ),
    click.option(
        "--strict",
        "parts_strict",
        is_flag=True,
        help="With --parts or --workers: stop at the first row that is none, in place of leaving it out.",
    ),
)


def part_options(command: CommandT) -> CommandT:
    """Add these options to a command; it gets them under names that begin with `parts_`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_parts(given: Mapping[str, Any]) -> PartOptions:
    """What was given of them."""
    return PartOptions(
        given["parts_folder"],
        given["parts_workers"],
        given["parts_shard"],
        given["parts_files_from"],
        given["parts_engine"],
        bool(given["parts_strict"]),
    )
