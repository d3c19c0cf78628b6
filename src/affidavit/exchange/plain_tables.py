"""Plain tables as logs: CSV, JSON Lines or Parquet, with the word of whoever wrote them in columns that are named.

Which column is what follows the rules of `affidavit read`: those that were named, and those of our names; nothing
is guessed. A verdict is one of a few unmistakable words, and any other cell is refused; an empty one says that the
source has no verdict. A table prints no figure: what is made from its rows is the mean of the scores or, where
there are none, of the verdicts.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.json_values import Fields, canonical, shown
from affidavit.reading.cell_values import cell_value
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.csv_files import CSV
from affidavit.reading.imported_records import NamedRow
from affidavit.reading.output_columns import ANSWER, OPTIONS, OutputColumns, Role, columns_of, proposals
from affidavit.reading.output_rows import OutputRows, SampleNumbers
from affidavit.reading.source import Format, Row, Source, file_source
from affidavit.reading.sources import format_of, rows_of

_AT_ONCE, _TEXT_AT_ONCE = 512, 1 << 20
"""Rows whose samples are numbered together, and characters of their texts: fewer where these are long."""
_VERDICTS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_VERBATIM = ColumnPath("verbatim")
_INVALID = "[invalid]"
"""What lm-eval writes where its filter found nothing."""


class SourceRole(StrEnum):
    """What a column can say of the source's own reading."""

    ANSWER = "source_answer"
    CORRECT = "source_correct"
    SCORE = "source_score"


SOURCE_OPTIONS = {role: f"--{role.value.replace('_', '-')}" for role in SourceRole}
"""What names the column of a role on the command line."""


def roles_named(columns: Mapping[str, str]) -> tuple[dict[Role, str], dict[SourceRole, str]]:
    """Columns by what they are said to hold, those of the source's word apart; UsageError for what is no role.

    >>> outputs, source = roles_named({"text": "completion", "source_correct": "ok"})
    >>> outputs[Role.TEXT], source[SourceRole.CORRECT]
    ('completion', 'ok')
    """
    roles = [role.value for role in OPTIONS if role is not Role.ANSWER] + [role.value for role in SourceRole]
    for name in columns:
        if name not in roles:
            expected, hint = f"one of {', '.join(roles)}", did_you_mean(name, roles)
            raise UsageError("columns", expected=expected, found=repr(name), hint=hint)
    source = {SourceRole(name): path for name, path in columns.items() if name in list(SourceRole)}
    return {Role(name): path for name, path in columns.items() if name not in source}, source


@dataclass(frozen=True)
class Tables:
    """How files that are no log of a harness are read as tables of outputs."""

    given: Mapping[Role, str] = field(default_factory=dict)
    """The columns that were named, as for `affidavit read`."""
    source: Mapping[SourceRole, str] = field(default_factory=dict)
    """The columns that were named as the source's word."""
    unknown: Collection[str] = (ANSWER,)
    """The columns in which an empty cell says that nobody knows."""

    @property
    def are_meant(self) -> bool:
        """Whether a column was named that only a table has: then every file is one."""
        return bool(self.source) or bool(self.given.keys() - {Role.ANSWER})

    def has_texts(self, path: Path) -> bool:
        """Whether a file's first row has texts under our name for them."""
        with suppress(InputError):  # then it is no table
            source = file_source(path)
            first = next(self._rows(source, format_of(source)), None)
            return first is not None and RAW_OUTPUT in first.fields
        return False

    def opened(self, path: Path) -> Log:
        """The table, its columns told by its first row; UsageError for one that was named and is not there."""
        source = file_source(path)
        if source.path is None:
            raise UsageError(str(path), expected="a file that can be read again", found="none")
        row_format = format_of(source)
        first = next(self._rows(source, row_format), None)
        if first is None:
            raise InputError(source.name, expected="at least one row", found="columns and no rows")
        columns = columns_of(first.fields, self.given, where=first.where)
        table = _Table(path.stem, columns, self._source_columns(first, columns))
        rows = OutputRows(partial(self._rows, source, row_format), columns)
        return Log(
            path=path,
            format=f"a table ({row_format.name})",
            task=path.stem,
            outputs=partial(_outputs, rows, table, source.name),
            has_mean=True,
            notes=tuple(table.notes(first.fields)),
        )

    def _rows(self, source: Source, row_format: Format) -> Iterator[Row]:
        """The rows, cells of CSV as a contract takes them."""
        if row_format is not CSV:
            yield from rows_of(source)
            return
        text = self.given.get(Role.TEXT, RAW_OUTPUT)
        for row in CSV.rows(source, lambda cells: cells if text in cells else None):
            fields = {
                name: cell if name == text else cell_value(name, str(cell), self.unknown)
                for name, cell in row.fields.items()
            }
            yield Row(row.where, row.number, fields)

    def _source_columns(self, first: Row, columns: OutputColumns) -> dict[SourceRole, ColumnPath]:
        """The columns of the source's word: those that were named, and those of our names."""
        found: dict[SourceRole, ColumnPath] = {}
        taken = {path.text: OPTIONS.get(role, role.value) for role, path in columns.paths.items()}
        for role in SourceRole:
            path, option = ColumnPath(self.source.get(role, role.value)), SOURCE_OPTIONS[role]
            if path.text in taken:
                if role in self.source:
                    expected = f"a column that is not {taken[path.text]} already"
                    raise UsageError(option, expected=expected, found=repr(path.text))
            elif path.is_in(first.fields):
                found[role] = path
                taken[path.text] = option
            elif role in self.source:
                expected = f"a column of {first.where}: {', '.join(first.fields)}"
                hint = did_you_mean(path.text, first.fields)
                raise UsageError(option, expected=expected, found=repr(path.text), hint=hint)
        return found


@dataclass(frozen=True, slots=True)
class _Table:
    """What is known of a table before its rows."""

    task: str
    columns: OutputColumns
    source: Mapping[SourceRole, ColumnPath]

    def notes(self, first: Fields) -> Iterator[str]:
        """What a person should be told of its columns."""
        names = {role.value: path.text for role, path in self.columns.paths.items()}
        names |= {role.value: path.text for role, path in self.source.items()}
        yield "columns: " + ", ".join(f"`{name}` as {role}" for role, name in names.items())
        if Role.ID not in self.columns.paths:
            yield "rows have no id: each counts as an item of its own, by its number"
        if not self.source:
            options = ", ".join(SOURCE_OPTIONS.values())
            yield f"no column has the source's word on its outputs: name one with {options}"
        said = {path.text for path in self.source.values()}
        yield from proposals([name for name in first if name not in said], self.columns)

    def output(self, named: NamedRow, sample: int, place: str) -> LoggedOutput:
        """The output that a row is."""
        rest, paths = named.rest, self.columns.paths
        verbatim = _verdict(_VERBATIM.of(rest), _VERBATIM.text, named.where)
        answer = self.columns.answer.of(rest)
        word = self._word(rest, named.where) if self.source else None
        for path in (*self.source.values(), _VERBATIM):
            rest = path.taken_out(rest)
        return LoggedOutput(
            place=place,
            item_id=named.item_id,
            model=named.model,
            raw_output=named.raw,
            verbatim=verbatim is not False,
            sample=sample,
            condition=named.condition,
            task=named.task if Role.TASK in paths else None,
            prompt=named.prompt,
            answer=_text(answer),
            no_answer=NoAnswer.MISSING if named.raw is None else None,
            words=() if word is None else (word,),
            columns=rest if named.output_id is None else {**rest, "output_id": named.output_id},
        )

    def _word(self, row: Fields, where: str) -> SourceWord:
        """The source's word, called by the column that says most of it."""
        found = {role: _known(path.of(row)) for role, path in self.source.items()}
        decides = next(role for role in (SourceRole.CORRECT, SourceRole.SCORE, SourceRole.ANSWER) if role in found)
        correct, score = None, found.get(SourceRole.SCORE)
        if SourceRole.CORRECT in found:
            correct = _verdict(found[SourceRole.CORRECT], self.source[SourceRole.CORRECT].text, where)
        if SourceRole.SCORE in found:
            points = _points(score, self.source[SourceRole.SCORE].text, where)
        else:
            points = None if correct is None else float(correct)
        answer = found.get(SourceRole.ANSWER)
        return SourceWord(
            scorer=self.source[decides].text,
            answer=None if answer == _INVALID else _text(answer),
            correct=correct,
            points=points,
            score=score,
            no_answer=NoAnswer.SENTINEL if answer == _INVALID else None,
        )


def _outputs(rows: OutputRows, table: _Table, name: str) -> Iterator[LoggedOutput]:
    numbers = SampleNumbers(rows)
    for batch in _batches(rows.named()):
        for row, sample in numbers.of(batch):
            place = row.where.removeprefix(f"{name}:")
            yield table.output(row, sample, f"line {place}" if place.isdecimal() else place)


def _batches(rows: Iterable[NamedRow]) -> Iterator[list[NamedRow]]:
    batch, size = list[NamedRow](), 0
    for row in rows:
        batch.append(row)
        size += len(row.raw or "")
        if len(batch) == _AT_ONCE or size >= _TEXT_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _known(cell: object) -> object:
    """What a cell holds; None where it is empty."""
    return None if isinstance(cell, str) and not cell.strip() else cell


def _text(value: object) -> str | None:
    """A value as a text; what is none already, as JSON."""
    return value if value is None or isinstance(value, str) else canonical(value).decode()


def _verdict(cell: object, column: str, where: str) -> bool | None:
    """The verdict in a cell; None where it is empty. Of numbers, 1 and 0 are verdicts."""
    cell = _known(cell)
    if cell is None:
        return None
    # A column of booleans with gaps is written as 1.0 and 0.0.
    word = f"{cell:g}" if isinstance(cell, float) else str(cell).strip().casefold()
    word = word[0] if word in ("1.0", "0.0") else word
    if word in _VERDICTS:
        return _VERDICTS[word]
    hint = "Nothing is guessed of a verdict: write it as one of these words, or leave the cell empty."
    expected = f"true or false, 1 or 0, yes or no, or nothing in {column!r}"
    raise InputError(where, expected=expected, found=shown(cell), hint=hint)


def _points(score: object, column: str, where: str) -> float | None:
    """What a score counts; nothing where it is empty or not finite. What is no number is refused."""
    if score is None:
        return None
    try:
        points = float(score)  # type: ignore[arg-type] # whatever it is
    except (TypeError, ValueError, OverflowError) as error:
        hint = "A column of verdicts is named with --source-correct, one of answers with --source-answer."
        raise InputError(
            where, expected=f"a number or nothing in {column!r}", found=shown(score), hint=hint
        ) from error
    return points if math.isfinite(points) else None
