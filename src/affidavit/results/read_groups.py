"""Outputs that were read, by group: the figures of a report, before anything is kept.

Units are items, so that an item with several rows in a group counts as what it is (ruling S1).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import polars as pl

from affidavit.archive.record import Failed, Response
from affidavit.archive.record_columns import RecordColumns
from affidavit.contracts.parts import Parts
from affidavit.errors import UsageError, did_you_mean
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import OutputColumns, Role
from affidavit.results.counting import RecordSet, groups
from affidavit.results.groups import CELL
from affidavit.results.known_answers import known_answers
from affidavit.results.no_value import METADATA, named_where_empty
from affidavit.results.row_values import items_of_rows, row_values
from affidavit.results.table import Table
from affidavit.results.tables import OUR_TABLES, accuracy_table, compliance_table, contract_tables
from affidavit.results.text_forms import Report

COUNTED = ("solve rate", "label scores", "field accuracy", "findings by path")
"""Tables of a summary beside those that contracts declare: they need neither texts nor other outputs."""
TABLES = ("compliance", "accuracy", *COUNTED)
"""The tables of a summary by group, beside those that contracts declare."""
_KNOWN = (*CELL, "sample")
_AT_ONCE = 20_000
_LONG = ("raw_output", "raw_output_escaped")


def group_columns(by: Sequence[str], first: Mapping[str, object], columns: OutputColumns) -> tuple[str, ...]:
    """The columns of records that somebody groups by: task, model, condition and sample, or columns of the rows.

    >>> group_columns(["model", "subject"], {"subject": "art", "m": 1}, OutputColumns.of({"model": "m"}))
    ('model', 'metadata.subject')
    """
    roles = {path.text: role for role, path in columns.paths.items() if role is not Role.ANSWER}
    found = []
    for name in by:
        own = roles.get(name)
        if name in _KNOWN or own in (Role.TASK, Role.MODEL, Role.CONDITION, Role.SAMPLE):
            found.append(name if own is None else own.value)
            continue
        field = name.removeprefix(METADATA)
        if not ColumnPath(field).is_in(first) or field in roles:
            others = [each for each in first if each not in roles]
            expected = f"{', '.join(_KNOWN)}, or a column of the rows: {', '.join(others) or 'there is no other'}"
            hint = did_you_mean(name, [*_KNOWN, *others])
            raise UsageError("--by", expected=expected, found=repr(name), hint=hint)
        found.append(f"{METADATA}{field}")
    if not found or len(set(found)) < len(found):
        raise UsageError("--by", expected="columns, each once", found=repr(",".join(by)))
    return tuple(found)


def chosen_tables(report: Report) -> Report:
    """The tables of a summary, of all that a report has: what non-compliant outputs did is one of them."""
    chosen = [table for table in report.tables if table.name in TABLES or table.name not in OUR_TABLES]
    return Report(report.title, report.facts, chosen)


def grouped_report(
    records: Iterable[Response | Failed],
    by: tuple[str, ...],
    columns: OutputColumns,
    parts: Mapping[str, Parts],
    *,
    own: bool,
) -> Report:
    """The tables of outputs that stand nowhere yet; `own`: their contract is of the user's own."""
    metadata = [name for name in by if name.startswith(METADATA)]
    frame = _frame(iter(records), RecordColumns(parts), with_rows=own or bool(metadata))
    if own:
        frame = known_answers(frame, lambda: items_of_rows(frame, columns), parts, list(parts)).records
    frame = frame.with_columns(row_values(name.removeprefix(METADATA)).alias(name) for name in metadata)
    extra = dict.fromkeys((*CELL, *by))
    planned = frame.group_by(list(extra)).agg(planned=pl.len().cast(pl.Int64)).collect()
    named = named_where_empty(planned, metadata)
    record_set = RecordSet(frame.with_columns(**named), planned.with_columns(**named), 0, by, parts)
    return Report(f"by {', '.join(by)}", {}, list(_tables(record_set)))


def _tables(records: RecordSet) -> Iterator[Table]:
    """In the order of a report."""
    found = groups(records)
    special = list(contract_tables(records, found, {}, built=COUNTED))
    yield compliance_table(records, found)
    yield from (table for table in special if table.explains is None)
    if any(group.total("keyed") for group in found):
        yield accuracy_table(records, found)
    yield from (table for table in special if table.explains is not None)


def _frame(records: Iterator[Response | Failed], columns: RecordColumns, *, with_rows: bool) -> pl.LazyFrame:
    """The columns of records without their texts: only what is counted."""
    names = list(columns.schema)
    blank = [names.index(name) for name in (*_LONG, *(() if with_rows else ("row",)))]
    frames = [columns.frame([])]
    while rows := [_without(columns.row(record), blank) for record in islice(records, _AT_ONCE)]:
        frames.append(columns.frame(rows))
    return pl.concat(frames).lazy()


def _without(row: tuple[object, ...], places: Sequence[int]) -> tuple[object, ...]:
    cells = list(row)
    for place in places:
        cells[place] = None
    return tuple(cells)
