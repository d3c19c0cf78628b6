"""Bytes that come once, such as standard input, kept in a temporary file so that they can be read again."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from affidavit.reading.source import Source, file_source, reading_on


@contextmanager
def read_again(sources: list[Source]) -> Iterator[list[Source]]:
    """The same sources, each with a file that can be opened as often as it is needed."""
    with tempfile.TemporaryDirectory(prefix="affidavit-") as folder:
        yield [
            source if source.path is not None else _spooled(source, Path(folder) / f"{number}")
            for number, source in enumerate(sources)
        ]


def _spooled(source: Source, path: Path) -> Source:
    with source.opened() as stream, path.open("wb") as file, reading_on(source.name):
        shutil.copyfileobj(stream, file, 1 << 20)
    return replace(file_source(path), name=source.name)
