"""What is read into part files: which inputs, cut into which ranges, by which contract.

The plan depends on the inputs alone, not on who reads them. So whoever reads a range, here or on another machine,
writes the same part, and shards need to agree on nothing but the plan.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from affidavit.contracts.frozen_contract import NamedContract
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, canonical
from affidavit.reading.csv_files import CSV
from affidavit.reading.first_row import first_names
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.parquet_files import PARQUET, row_count, schema_of
from affidavit.reading.source import HEAD, Format, Source, file_source, reading_on
from affidavit.reading.sources import EMPTY, format_of

RANGE_BYTES = 16 << 20
"""Of lines, in one part."""
RANGE_ROWS = 1 << 16
"""Of Parquet, in one part."""
_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


class Input(msgspec.Struct, frozen=True):
    """One file, as it was when it was planned."""

    name: str
    size: int
    ends_sha256: str
    """Of its first and last bytes: a file of the same name and size with other ends is another one."""


class InputRange(msgspec.Struct, frozen=True):
    """What one part is made of: the lines that begin between two bytes of a file, or rows of it."""

    input: int
    start: int
    stop: int | None
    """None: to the end, wherever it is, of a file that can be read only from its beginning."""


class ColumnsRead(msgspec.Struct, frozen=True):
    """Where texts and right answers are, and whether lenient readings are added."""

    field: str
    answer: str
    lenses: bool


class Plan(msgspec.Struct, frozen=True):
    """All that decides what is in the parts."""

    contract: str
    options: str
    described: Fields
    """What is frozen of the contract."""
    read: ColumnsRead
    format: str
    columns: list[str]
    """Of a table, each with its type where it has one: all files have the same."""
    inputs: list[Input]
    ranges: list[InputRange]
    v: int = 1

    def sha256(self) -> str:
        """By which shards know that they are of one plan; where the inputs lie does not matter."""
        fields = msgspec.to_builtins(self)
        for each in fields["inputs"]:
            each["name"] = Path(each["name"]).name
        return sha256(canonical(fields)).hexdigest()

    def bytes_of(self, number: int) -> int:
        """The bytes of its file that a range takes, about."""
        taken = self.ranges[number]
        return self.inputs[taken.input].size // sum(each.input == taken.input for each in self.ranges)

    def name_of(self, number: int) -> str:
        """Of a part, so that names sort as the parts do."""
        return f"part-{number:06}{_ENDINGS[self.format]}"


_ENDINGS = {"JSON Lines": ".jsonl", "JSON list": ".jsonl", "CSV": ".csv", "Parquet": ".parquet"}


class Shard(msgspec.Struct, frozen=True):
    """Which of the ranges are read here: every n-th, from the i-th on."""

    number: int = 1
    count: int = 1

    @classmethod
    def typed(cls, text: str) -> "Shard":
        """The shard that somebody typed.

        >>> Shard.typed("2/8")
        Shard(number=2, count=8)
        """
        found = _SHARD.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise UsageError("--shard", expected="i/n with i from 1 to n, such as 2/8", found=repr(text))
        return cls(int(found[1]), int(found[2]))

    def has(self, number: int) -> bool:
        """Whether a part is this shard's."""
        return number % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


class RangeSizes(msgspec.Struct, frozen=True):
    """How large a part is, about."""

    bytes: int = RANGE_BYTES
    rows: int = RANGE_ROWS


def planned(
    paths: Sequence[Path],
    read_by: NamedContract,
    columns: ColumnsRead,
    sizes: RangeSizes = RangeSizes(),  # noqa: B008 - frozen
) -> Plan:
    """The plan of these files; InputError for what is no file of rows, or of another kind than the first."""
    sources = [source for path in paths if format_of(source := _plain_file(path)) is not EMPTY]
    if not sources:
        raise InputError(str(paths[0]), expected="rows of outputs", found="an empty file")
    row_format = _common(sources)
    return Plan(
        read_by.name,
        read_by.options,
        read_by.described(),
        columns,
        row_format.name,
        _common_columns(sources, row_format),
        [_input(source) for source in sources],
        [each for number, source in enumerate(sources) for each in _ranges(number, source, row_format, sizes)],
    )


def _plain_file(path: Path) -> Source:
    source = file_source(path)
    if source.path is None:
        hint = "Leave out --parts, --workers and --shard, or write it into a file first."
        raise UsageError(str(path), expected="a file, of which any range can be read", found="a pipe", hint=hint)
    return source


def _common(sources: Sequence[Source]) -> Format:
    first, *others = [(source.name, format_of(source)) for source in sources]
    for name, row_format in others:
        if row_format is not first[1]:
            found = f"{first[0]} ({first[1].name}), {name} ({row_format.name})"
            raise UsageError("FILES", expected="files of one kind: JSON Lines, CSV or Parquet", found=found)
    return first[1]


def _common_columns(sources: Sequence[Source], row_format: Format) -> list[str]:
    """The columns of tables, which all files have; of lines, every one has its own names."""
    named = {CSV.name: first_names, PARQUET.name: schema_of}.get(row_format.name)
    if named is None:
        return []
    columns = named(sources[0])
    for source in sources[1:]:
        if (found := named(source)) != columns:
            expected = f"the columns {', '.join(columns)}, as in {sources[0].name}"
            raise InputError(source.name, expected=expected, found=f"the columns {', '.join(found)}")
    return columns


def _input(source: Source) -> Input:
    assert source.path is not None  # noqa: S101 - only files are planned
    with reading_on(source.name), source.path.open("rb", buffering=0) as stream:
        size, digest = source.path.stat().st_size, sha256(stream.read(HEAD))
        stream.seek(max(0, size - HEAD))
        digest.update(stream.read(HEAD))
    return Input(source.name, size, digest.hexdigest())


def _ranges(number: int, source: Source, row_format: Format, sizes: RangeSizes) -> Iterator[InputRange]:
    """The ranges of a file; one alone where nobody can tell where a row begins but by reading all before."""
    assert source.path is not None  # noqa: S101 - only files are planned
    if row_format is PARQUET:
        size, step = row_count(source), sizes.rows
    elif row_format is JSON_LINES and _is_plain(source):
        size, step = source.path.stat().st_size, sizes.bytes
    else:
        yield InputRange(number, 0, None)
        return
    for start in range(0, max(size, 1), step):
        yield InputRange(number, start, min(start + step, size))


def _is_plain(source: Source) -> bool:
    with source.opened() as stream:
        return stream.compression is None
