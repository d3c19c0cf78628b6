"""Outputs as instance records of Every Eval Ever 0.3.0, and those that it has no words for.

An instance must say whether the answer is correct. Of an output without an answer, or without a known right
answer, there is nothing true to say there: it is left out, and its kind is counted. What is said of one output,
the reader in `exchange.every_eval_ever` finds again: its text, its question, the repeat, the verdict, and whether
it is verbatim. Options stand as they were shown, and letters with them: the text of an output says no others.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from affidavit.archive.record import Failed, ImportIdentity, Response
from affidavit.contracts.contract import guarded
from affidavit.contracts.parts import NOT_COMPLIANT, Parts
from affidavit.exchange.study_records import answer_of
from affidavit.json_values import Fields, canonical
from affidavit.reading.output_columns import OutputColumns

SCHEMA_VERSION = "0.3.0"
_OF_THE_ITEM = ("id", "question", "options", "answer", "raw_output", "prompt")
"""Fields that an instance has places for; all others go into its metadata."""


ORDER = "option_order"
"""The field of a record that says, by the item's own letters, in which order its options were shown."""


class Asked(NamedTuple):
    """What an output answers, as far as it is known."""

    item: Mapping[str, object]
    prompt: str | None = None
    verbatim: bool = True
    from_elsewhere: bool = False
    """Whether the item is whatever else stood in a row: then nobody knows which of it was asked."""


class OfRun(NamedTuple):
    """What all instances of a file have in common."""

    evaluation_id: str
    evaluation_name: str
    result_id: str
    model_id: str


def left_out_as(record: Response | Failed, parts: Parts) -> str | None:
    """Why a record is no instance, in words that can be counted; None if it is one."""
    if isinstance(record, Failed):
        return f"failed: {record.reason}"
    if record.protocol_compliant is None:
        return "unread"
    if not parts.holds_answer(record.reading):
        failing = parts.kind_of_failing(record.reading)
        return "non-compliant" if failing in (None, NOT_COMPLIANT) else f"non-compliant: {failing}"
    return None if record.correct is not None else "right answer not known"


def instance(record: Response, asked: Asked, parts: Parts, run: OfRun) -> Fields:
    """The instance of an output that has an answer and a verdict."""
    question, answer = _question(asked, parts), asked.item.get("answer")
    references = [] if answer is None else [_text(answer)]
    given: Fields = {"raw": question, "reference": references}
    if asked.prompt is not None:
        given["formatted"] = asked.prompt
    if (options := _texts(asked.item.get("options"))) is not None:
        given["choices"] = options
    output: Fields = {"raw": [record.raw_output]}
    if record.reasoning is not None:
        output["reasoning_trace"] = [record.reasoning]
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": run.evaluation_id,
        "model_id": run.model_id,
        "evaluation_name": run.evaluation_name,
        "evaluation_result_id": run.result_id,
        "sample_id": record.subject.item_id,
        # The schema would have it of what was asked and what is right, one after the other.
        "sample_hash": sha256("".join((question, *references)).encode("utf-8", "surrogatepass")).hexdigest(),
        "interaction_type": "single_turn",
        "input": given,
        "output": output,
        "answer_attribution": [_attribution(record, parts)],
        "evaluation": {"score": 1.0 if record.correct else 0.0, "is_correct": bool(record.correct)},
        "metadata": _metadata(record, asked),
        **_usage(record),
    }


def _question(asked: Asked, parts: Parts) -> str:
    """The item's own words: its question, or what was put to the model; empty where nobody knows (ruling I4).

    An item whose contract has no words for it is all that it holds, but for its right answer.
    """
    question = asked.item.get("question")
    if isinstance(question, str) and question.strip():
        return question
    if asked.prompt is not None:
        return asked.prompt
    words = guarded(lambda: parts.problem(asked.item))
    if isinstance(words, str) or asked.from_elsewhere:
        return words if isinstance(words, str) else ""
    return canonical({name: value for name, value in asked.item.items() if name != "answer"}).decode()


def _attribution(record: Response, parts: Parts) -> Fields:
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": _given_answer(record, parts) or "",
        "extraction_method": record.contract,
        "is_terminal": True,
    }


def _given_answer(record: Response, parts: Parts) -> str | None:
    """What was read, by the letters that stand in the output: an item's own may be others."""
    shown = record.fields.get("extracted_answer")
    return shown if ORDER in record.fields and isinstance(shown, str) else answer_of(record, parts)


def _metadata(record: Response, asked: Asked) -> Fields:
    subject = record.subject
    said: dict[str, object] = {
        "epoch": str(subject.sample + 1),
        "condition": subject.condition,
        "contract": record.contract,
        "contract_params": json.dumps(record.contract_params, sort_keys=True),
        "protocol_compliant": json.dumps(record.protocol_compliant),
        "verbatim": json.dumps(asked.verbatim),
        "key": record.key,
    }
    if record.finish_reason is not None:
        said["finish_reason"] = record.finish_reason
    if ORDER in record.fields:
        said |= {name: _text(record.fields.get(name)) for name in (ORDER, "own_answer")}
    if isinstance(subject, ImportIdentity):
        if subject.output_id is not None:
            said["output_id"] = subject.output_id
    else:
        said["prompt_sha256"] = subject.prompt_sha256
    rest = {
        f"item.{name}": _text(value)
        for name, value in asked.item.items()
        if name not in _OF_THE_ITEM and value is not None
    }
    return {**said, **rest}


def _usage(record: Response) -> Fields:
    usage = record.usage or {}
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    asked, said = (count if isinstance(count, int) else None for count in counts)
    if asked is None or said is None:
        return {}
    return {"token_usage": {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _texts(value: object) -> list[str] | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return None
    return [each for each in value if isinstance(each, str)]


def asked_of_row(subject: ImportIdentity, columns: OutputColumns) -> Asked:
    """What an output from elsewhere answers, by the row that it came in."""
    verbatim = subject.row.get("verbatim") is not False
    return Asked(columns.item_row(subject.row), subject.prompt, verbatim, from_elsewhere=True)
