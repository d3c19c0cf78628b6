"""Records as columns: one row for each question or judgement, the answer or else the last failure.

The columns are a copy for counting. A text that holds lone surrogates, which no column can, is null in
`raw_output` and stands JSON-escaped in `raw_output_escaped`; in any other column they are spelt out. Everything
can be made again from the journal.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from affidavit.archive.record import Kind
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.contracts.rubric import TOTAL

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
    "extraction_method": pl.String(),
    "reason": pl.String(),
    "failure": pl.String(),
    "truncated": pl.Boolean(),
    "prompt_tokens": pl.Int64(),
    "completion_tokens": pl.Int64(),
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
"""`answer` is in the item's own letters, `letter` and `right_letter` as they were shown; `options` is the option
set of multiple choice; `failure` is why nothing arrived."""
_NAMES = tuple(SCHEMA)


def row_of(record: Mapping[str, Any]) -> tuple[object, ...]:
    """The row of a record."""
    failed = record["kind"] == Kind.FAILURE
    asked = record.get("asked") or {}
    found: dict[str, object] = {
        **{name: record.get(name) for name in _COPIED},
        "failure": record["reason"] if failed else None,
        "reason": None if failed else record.get("reason"),
        "method": asked.get("method"),
        "target_model": asked.get("target_model"),
    }
    if failed:
        return tuple(found.get(name) for name in _NAMES)
    raw, usage = record[RAW_OUTPUT], record.get("usage") or {}
    found["raw_output"], found["raw_output_escaped"] = _storable(raw)
    found["answer"] = record.get("own_answer", record.get("extracted_answer"))
    found.update({name: _text(found[name]) for name in _OWN})
    if (options := _options(record)) is not None:
        found["letter"], found["right_letter"] = record.get("extracted_answer"), record.get("right_answer")
        found["options"] = options
    found["truncated"] = record.get("finish_reason") == "length"
    for name in ("prompt_tokens", "completion_tokens"):
        found[name] = _count(usage.get(name))
    if record["kind"] == Kind.JUDGEMENT:
        found.update(_judged(record))
    return tuple(found.get(name) for name in _NAMES)


_COPIED = (
    "kind", "key", "task", "item_id", "model", "condition", "sample", "contract", "protocol_compliant", "unread",
    "deviation", "correct", "keyed", "extraction_method", "judge", "judging_condition", "judged_key", "repeat",
)  # fmt: skip
_OWN = ("answer", "deviation", "extraction_method", "reason")
"""Whatever a contract of the user's own puts there is shown as a text."""


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _options(record: Mapping[str, Any]) -> str | None:
    """The option set of multiple choice; a contract of the user's own may mean anything by that word."""
    options = (record.get("contract_params") or {}).get("options")
    if not isinstance(options, str) or not str(record.get("contract")).startswith("mcqa/"):
        return None
    return options if re.fullmatch("A-[B-W]", options) else None


def _count(value: object) -> int | None:
    """A count that a server told, if a column can hold it."""
    return value if isinstance(value, int) and abs(value) < 2**63 else None


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


def _judged(record: Mapping[str, Any]) -> dict[str, object]:
    scores, kinds = record["scores"], [each["kind"] for each in record["evidence"]]
    return {
        "flags": record["flags"],
        "findings": list(dict.fromkeys(each["code"] for each in record["findings"])),
        "verdict": record["verdict"],
        TOTAL: None if scores is None else sum(scores.values()),
        "scores": None if scores is None else json.dumps(scores, sort_keys=True),
        **{f"quotes_{kind}": kinds.count(kind) for kind in _QUOTES},
    }


def frame_of(rows: Iterable[tuple[object, ...]]) -> pl.DataFrame:
    """Rows as a frame."""
    gathered = list(rows)
    try:
        return pl.DataFrame(gathered, schema=SCHEMA, orient="row")
    except UnicodeEncodeError:
        told = [[without_surrogates(each) if isinstance(each, str) else each for each in row] for row in gathered]
        return pl.DataFrame(told, schema=SCHEMA, orient="row")
