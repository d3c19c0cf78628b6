"""What `affidavit read` prints when it has read: the summary, and what a person should be told once."""

import json
from itertools import islice
from typing import TYPE_CHECKING

import click

from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from affidavit.judging.coverage import Coverage
    from affidavit.reading.batches import Result
    from affidavit.reading.output_columns import Role
    from affidavit.reading.rows import RowReader
    from affidavit.reading.source import Source


def print_summary(
    result: "Result", reader: "RowReader", coverage: "Coverage | None", *, as_json: bool, rows_on_stdout: bool
) -> None:
    """The summary, to standard error where the rows go to standard output; and the notes."""
    from affidavit import label
    from affidavit.contracts.read_by import ReadBy
    from affidavit.reading.summary import figures, shares_of, text

    name = label(reader.contract)
    if as_json:
        said = figures(result.tally, name, dict(reader.contract.params), reader.parts, shares_of(result.tally))
        summary = json.dumps(said if coverage is None else {**said, "coverage": coverage.fields()}, indent=2)
    else:
        summary = text(result.tally, str(ReadBy.of(reader.contract)), reader.parts)
        summary += "" if coverage is None else f"\n\n{coverage.text()}"
    click.echo(plain_lines(summary), err=rows_on_stdout)
    for note in _notes(result, reader):
        click.echo(f"note: {plain_lines(note)}", err=True)


def repeats_notes(sources: "Sequence[Source]", by_model: str) -> list[str]:
    """That several rows are of one item, if that shows in the first ones: then they are not independent (S1).

    `by_model` is what to type for figures by model.
    """
    from affidavit.reading.sources import rows_of

    if sources[0].path is None:
        return []
    names = [row.fields.get("id") for row in islice(rows_of(sources[0]), _LOOKED_AT)]
    told = [name for name in names if isinstance(name, str | int)]
    if len(set(told)) == len(told):
        return []
    return [
        "several rows have one id: the intervals above take every row for itself and are too narrow; --out DIR, "
        f"or {by_model}, makes them over items"
    ]


_LOOKED_AT = 1_000
"""Rows in which an id is looked for that is there twice."""


def _notes(result: "Result", reader: "RowReader") -> list[str]:
    from affidavit.reading.advice_notes import advice_notes
    from affidavit.reading.summary import unknown_answers_note

    notes = [] if result.tally.n else ["there are columns and no rows: nothing was read"]
    if (unknown := unknown_answers_note(result.tally)) is not None:
        notes.append(unknown)
    if result.unchecked:
        notes.append(
            f"{result.unchecked:,} of {result.tally.n:,} rows have no '{reader.parts.checked_by}': "
            f"{reader.parts.unchecked}"
        )
    if result.empty_cells:
        notes.append(
            f"{result.empty_cells:,} cells without a text were read as empty outputs: CSV cannot say that none "
            "arrived; JSON Lines and Parquet can, with null"
        )
    notes.extend(advice_notes(result.advised))
    if result.replaced:
        notes.append(f"fields that were there already were replaced: {', '.join(sorted(result.replaced))}")
    notes.extend(f"{count:,} unread: {error}" for error, count in result.tally.errors.most_common(5))
    return notes


def column_notes(
    names: "Sequence[str]", given: "Mapping[Role, str]", reader: "RowReader", by_model: str
) -> list[str]:
    """What a person should be told of the columns: likely right answers, and models that were pooled."""
    from affidavit.contracts.parts import readings_that_need_more
    from affidavit.reading.output_columns import ANSWER, OutputColumns, Role, options_proposals, proposals

    paths = {role.value: name for role, name in given.items()}
    paths |= {role.value: role.value for role in (Role.ANSWER, Role.MODEL) if role.value in names}
    columns = OutputColumns.of({**paths, Role.TEXT.value: reader.field})
    keyed = not reader.ours or ANSWER in (reader.parts.item_fields or ())
    notes = proposals(names, columns, (Role.ANSWER,)) if keyed else []
    for lens in readings_that_need_more(reader.lenses):
        notes.extend(options_proposals(names, lens))
    if Role.MODEL in columns.paths:
        notes.append(f"rows name their models: these figures are of all together; {by_model} has them apart")
    return notes
