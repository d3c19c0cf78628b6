"""Files of outputs through a contract, in this process: rows in, the same rows with new fields out."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from affidavit.contract import Fields, Read
from affidavit.contracts.judge import Asked, EvaluationReading, Judge
from affidavit.errors import InputError, UsageError
from affidavit.jsonl import decode_row, splice
from affidavit.judge_archive import JudgeArchive, judge_archive
from affidavit.rows import Outcome, RowReader
from affidavit.tally import Tally

_LFS = b"version https://git-lfs.github.com/spec/"
_BOM = b"\xef\xbb\xbf"


@dataclass
class Result:
    """What was read: the counts, and what a person should be told once."""

    tally: Tally = field(default_factory=Tally)
    unchecked: int = 0
    """Rows without the field that the contract needs to check answers."""
    replaced: set[str] = field(default_factory=set)
    """Fields that were in the rows already and now hold what this contract says."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of JSON Lines: its name, for messages, and its bytes."""

    name: str
    stream: BinaryIO

    def lines(self) -> Iterator[tuple[str, str]]:
        """Place and text of every line that is not blank."""
        number = 0
        try:
            for number, line in enumerate(self.stream, 1):
                text = _text(line, first=number == 1, where=f"{self.name}:{number}")
                if not text.isspace():
                    yield f"{self.name}:{number}", text.rstrip("\n")
        except OSError as error:
            where, reason = f"{self.name}:{number + 1}", error.strerror or str(error)
            raise InputError(where, expected="to read on", found=reason) from error


def _text(line: bytes, *, first: bool, where: str) -> str:
    if first:
        if line.startswith(_LFS):
            raise InputError(
                where,
                expected="rows of outputs",
                found="a Git LFS pointer, which stands for a file that was not downloaded",
                hint="Run `git lfs pull` in its repository.",
            )
        line = line.removeprefix(_BOM)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            where,
            expected="text in UTF-8",
            found=f"byte 0x{line[error.start]:02x} at byte {error.start + 1} of the line",
            hint="Convert the file, for example with `iconv -f latin1 -t utf-8`.",
        ) from error


def open_source(path: Path) -> BinaryIO:
    """The file's bytes."""
    try:
        return path.open("rb")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(str(path), expected="a file to read", found=reason) from error


def read_rows(
    sources: list[Source], reader: RowReader, *, out: BinaryIO | None, archive: Path | None = None
) -> Result:
    """Read every row of every source in order; write the rows with their new fields to `out`."""
    result = Result()
    with ExitStack() as stack:
        trees = None
        if archive is not None:
            if not isinstance(reader.contract, Judge):
                raise UsageError("--archive", expected="the contract judge", found=reader.contract.name)
            trees = stack.enter_context(judge_archive(archive, reader.contract))
        for source in sources:
            for where, line in source.lines():
                row = decode_row(line, where=where)
                read = reader.read(row, where=where)
                result.tally.add(read.added, has_key=read.has_key, counted=reader.layout.counted)
                result.unchecked += bool(reader.layout.needs) and row.get(reader.layout.needs) is None
                result.replaced.update(row.keys() & read.added.keys())
                if out is not None:
                    out.write(splice(line, row, read.added).encode() + b"\n")
                if trees is not None:
                    _file_away(trees, reader, row, read.outcome, where)
    return result


def _file_away(trees: JudgeArchive, reader: RowReader, row: Fields, outcome: Outcome, where: str) -> None:
    raw = reader.raw(row, where=where)
    if isinstance(outcome, Read) and isinstance(outcome.reading, EvaluationReading) and isinstance(raw, str):
        asked = reader.layout.item(row, where=where)
        trees.add(raw, asked if isinstance(asked, Asked) else Asked(), outcome.reading, where)
