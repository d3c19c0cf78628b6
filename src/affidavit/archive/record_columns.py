"""Records as columns: one row for each question or judgement, the answer or else the last failure.

The columns are a copy for counting. A text that holds lone surrogates, which no column can, is null in
`raw_output` and stands JSON-escaped in `raw_output_escaped`; in any other column they are spelt out. Everything
can be made again from the journal.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from affidavit.archive.record import (
    Failed,
    ImportIdentity,
    Judgement,
    JudgementIdentity,
    QuestionIdentity,
    Response,
)
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.parts import Parts
from affidavit.contracts.rubric import TOTAL
from affidavit.json_values import canonical

_QUOTES = ("exact", "normalised", "elided", "absent", "absence")
SCHEMA: dict[str, pl.DataType] = {
    "kind": pl.String(),
    "key": pl.String(),
    "task": pl.String(),
    "item_id": pl.String(),
    "model": pl.String(),
    "condition": pl.String(),
    "sample": pl.Int64(),
    "contract": pl.String(),
    "raw_output": pl.String(),
    "raw_output_escaped": pl.String(),
    "protocol_compliant": pl.Boolean(),
    "unread": pl.String(),
    "answer": pl.String(),
    "letter": pl.String(),
    "deviation": pl.String(),
    "correct": pl.Boolean(),
    "keyed": pl.Boolean(),
    "right_letter": pl.String(),
    "options": pl.String(),
    "row": pl.String(),
    "extraction_method": pl.String(),
    "reason": pl.String(),
    "failure": pl.String(),
    "failing": pl.String(),
    "marks": pl.String(),
    "fields": pl.String(),
    "truncated": pl.Boolean(),
    "prompt_tokens": pl.Int64(),
    "completion_tokens": pl.Int64(),
    "server_model": pl.String(),
    "system_fingerprint": pl.String(),
    "judge": pl.String(),
    "judging_condition": pl.String(),
    "method": pl.String(),
    "judged_key": pl.String(),
    "repeat": pl.Int64(),
    "target_model": pl.String(),
    "flags": pl.List(pl.String()),
    "findings": pl.List(pl.String()),
    "verdict": pl.String(),
    "overall_score": pl.Int64(),
    "scores": pl.String(),
    **{f"quotes_{kind}": pl.Int64() for kind in _QUOTES},
}
"""`answer` is in the item's own letters, `letter` and `right_letter` as they were shown, or sets of labels or
right numbers as texts; `options` is the option set of multiple choice; `row` holds, as JSON, what else stood in
the row of an output from elsewhere; `failure` is why nothing arrived; `failing` is what is out of order in an
output that did; and `marks` holds, as JSON, the fields that say where the contract read what it read. `fields`
holds, as JSON, all fields of a contract of the user's own."""

NEVER_IMPORTED = (
    "prompt_tokens", "completion_tokens", "server_model", "system_fingerprint", "judge", "judging_condition",
    "method", "judged_key", "repeat", "target_model", "flags", "findings", "verdict", TOTAL, "scores",
    *(f"quotes_{kind}" for kind in _QUOTES),
)  # fmt: skip
"""The columns that only a server and judges fill: no output from elsewhere has anything there."""

_FIELDS = ("correct", "deviation", "extraction_method", "protocol_compliant", "reason")
"""The columns that are fields of a reading under their own names, whichever contract has them."""


def column_of(field: str) -> str:
    """The column that holds a field of a contract; one that only some contracts have is called `field.NAME`.

    Whatever a contract calls its field, it is never taken for a column that means something else.

    >>> column_of("reason"), column_of("style"), column_of("flags")
    ('reason', 'field.style', 'field.flags')
    """
    return field if field in _FIELDS else f"field.{field}"


class RecordColumns:
    """The records of a study as rows and frames; `parts` are those of the contract of each task."""

    def __init__(self, parts: Mapping[str, Parts]) -> None:
        self._parts = parts
        self._own = {task: tuple(_declared_fields(each)) for task, each in parts.items()}
        declared = dict.fromkeys(column_of(field) for fields in self._own.values() for field in fields)
        self.schema: dict[str, pl.DataType] = {**SCHEMA, **dict.fromkeys(declared, pl.String())}
        self._empty: dict[str, object] = dict.fromkeys(self.schema)

    def row(self, record: Response | Failed | Judgement) -> tuple[object, ...]:
        """The row of a record."""
        # All columns are there in their order from the start: nothing has to be looked up by its name afterwards.
        cells = self._empty.copy()
        cells["kind"] = record.kind
        cells.update(_about(record.subject))
        if isinstance(record, Failed):
            cells["failure"] = record.reason
            cells["keyed"] = record.keyed
        else:
            cells.update(_arrived(record))
            if isinstance(record, Response):
                cells.update(_read(record))
                cells.update(self._by_contract(record))
            else:
                cells.update(_judged(record))
        return tuple(cells.values())

    def _by_contract(self, response: Response) -> dict[str, object]:
        """What the contract of the task says of its records, beyond what all of them have."""
        parts = self._parts.get(response.subject.task, _DEFAULT_PARTS)
        own = response.fields
        marked = {name: own[name] for pair in parts.mark_fields for name in pair if own.get(name) is not None}
        failing = "unread" if own.get("unread") is not None else parts.kind_of_failing(response.reading)
        cells: dict[str, object] = {"failing": failing, "marks": json.dumps(marked) if marked else None}
        if not parts.columns_hold_all:
            cells["fields"] = json.dumps(own)
        for field in self._own.get(response.subject.task, ()):
            cells[column_of(field)] = _text(own.get(field))
        for name, value in parts.result_columns(own, response.contract_params).items():
            if name in self._empty:
                cells[name] = value
        return cells

    def frame(self, rows: Iterable[tuple[object, ...]]) -> pl.DataFrame:
        """Rows as a frame."""
        gathered = list(rows)
        try:
            return pl.DataFrame(gathered, schema=self.schema, orient="row")
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error).partition("\n")[0]) from error
        except UnicodeEncodeError:
            spelt = [
                [without_surrogates(cell) if isinstance(cell, str) else cell for cell in row] for row in gathered
            ]
            return pl.DataFrame(spelt, schema=self.schema, orient="row")


_DEFAULT_PARTS = Parts()


def _declared_fields(parts: Parts) -> Iterator[str]:
    """The fields of a contract that its declared tables count and that not every record has."""
    for table in parts.tables:
        if isinstance(table, CountTable):
            yield from (field for field in table.fields if field not in _FIELDS)


def _about(subject: QuestionIdentity | ImportIdentity | JudgementIdentity) -> dict[str, object]:
    cells: dict[str, object] = {
        "key": subject.key,
        "item_id": subject.item_id,
        "model": subject.model,
        "condition": subject.condition,
        "sample": subject.sample,
    }
    if isinstance(subject, JudgementIdentity):
        cells.update(
            judge=subject.judge,
            judging_condition=subject.judging_condition,
            judged_key=subject.judged_key,
            repeat=subject.repeat,
            method=subject.method,
            target_model=subject.target_model,
        )
    else:
        cells["task"] = subject.task
        if isinstance(subject, ImportIdentity):
            cells["row"] = canonical(subject.row).decode()
    return cells


def _arrived(record: Response | Judgement) -> dict[str, object]:
    raw, escaped = _storable(record.raw_output)
    usage = record.usage or {}
    return {
        "contract": record.contract,
        "raw_output": raw,
        "raw_output_escaped": escaped,
        "protocol_compliant": record.protocol_compliant,
        "truncated": record.finish_reason == "length",
        "prompt_tokens": _count(usage.get("prompt_tokens")),
        "completion_tokens": _count(usage.get("completion_tokens")),
        "server_model": record.server_model,
        "system_fingerprint": record.system_fingerprint,
    }


def _read(response: Response) -> dict[str, object]:
    own = response.fields.get
    return {
        "unread": own("unread"),
        "correct": response.correct,
        "keyed": response.keyed,
        # Whatever a contract of the user's own puts there is shown as a text.
        "answer": _text(own("own_answer", own("extracted_answer"))),
        "deviation": _text(own("deviation")),
        "extraction_method": _text(own("extraction_method")),
        "reason": _text(own("reason")),
    }


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _count(value: object) -> int | None:
    """A count that a server told, if it is one."""
    return value if isinstance(value, int) else None


def without_surrogates(text: str) -> str:
    r"""The text with lone surrogates spelt out, which no column can hold.

    >>> without_surrogates("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def _storable(raw: str) -> tuple[str | None, str | None]:
    """The text for a column, or null and its escaped form."""
    try:
        raw.encode()
    except UnicodeEncodeError:
        return None, json.dumps(raw)
    return raw, None


def _judged(judgement: Judgement) -> dict[str, object]:
    scores, kinds = judgement.scores, [quote.kind for quote in judgement.evidence]
    return {
        "flags": list(judgement.flags),
        "findings": list(judgement.codes),
        "verdict": judgement.verdict,
        TOTAL: None if scores is None else sum(scores.values()),
        "scores": None if scores is None else json.dumps(scores, sort_keys=True),
        **{f"quotes_{kind}": kinds.count(kind) for kind in _QUOTES},
    }
