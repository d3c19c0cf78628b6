"""Scores for `inspect score`: JSON Lines as Inspect's `precomputed_scores()` takes them, by sample id and epoch.

An answer that is right is `C`, one that is wrong `I`. An output without an answer is `N`, which Inspect counts as
not right: its accuracy is then ours over all outputs. What has no verdict is unscored, in Inspect's own way: NaN,
which its metrics leave out. That is so for a sample whose output never arrived, for an output that the contract
could not read, and where the right answer is not known: none of these is a wrong answer (ruling C1).

`precomputed_scores()` takes no `reason`. A `Score` takes one from `unscored_reason` in its metadata, and there it
is.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import NamedTuple

from affidavit.archive.disk import new_file
from affidavit.archive.record import Failed, ImportIdentity, Judgement, JudgementIdentity, Label, Response
from affidavit.archive.study_directory import FrozenStudy, ImportedStudy
from affidavit.contracts.parts import NOT_COMPLIANT, Parts
from affidavit.errors import UsageError
from affidavit.exchange.export_format import ExportFormat, ExportOrder, Written
from affidavit.exchange.study_records import answer_of
from affidavit.json_values import Fields

_RIGHT, _WRONG, _NO_ANSWER = "C", "I", "N"
_BAD_FORMAT, _NO_RESPONSE, _NOT_SCORED = "invalid_response_format", "no_response", "scoring_failed"
"""Inspect's reasons: the first two are the model's doing, the third is nobody's answer."""
_NAMES = ("task", "model", "condition")
_DEFAULT_PARTS = Parts()


class _Score(NamedTuple):
    """What Inspect is told of one sample."""

    value: str | float
    reason: str | None
    explanation: str
    outcome: str
    """Ours."""


def _score(record: Response | Failed, parts: Parts) -> _Score:
    if isinstance(record, Failed):
        return _Score(nan, _NOT_SCORED, f"no output arrived: {record.reason}", "failed")
    if record.protocol_compliant is None:
        return _Score(nan, _NOT_SCORED, f"unread: {record.fields.get('unread')}", "unread")
    failing = parts.kind_of_failing(record.reading)
    outcome = "compliant" if record.protocol_compliant else "non-compliant"
    said = outcome if failing is None or failing == NOT_COMPLIANT else f"{outcome}: {failing}"
    reason = _reason(record, has_answer=parts.holds_answer(record.reading))
    if reason is None and record.correct is not None:
        return _Score(_RIGHT if record.correct else _WRONG, None, said, outcome)
    if reason is None or record.keyed is False:
        return _Score(nan, reason, f"{said}; no verdict on the answer", outcome)
    return _Score(_NO_ANSWER, reason, said, outcome)


def _reason(record: Response, *, has_answer: bool) -> str | None:
    """Inspect's word for why there is no answer; None if there is one."""
    if has_answer:
        return None
    return _BAD_FORMAT if record.raw_output.strip() else _NO_RESPONSE


def _row(record: Response | Failed, parts: Parts) -> Fields:
    score, subject = _score(record, parts), record.subject
    ours: Fields = {"key": record.key, "outcome": score.outcome}
    if isinstance(record, Failed):
        ours["failure"] = record.reason
    else:
        ours |= {
            "contract": record.contract,
            "contract_params": record.contract_params,
            "finish_reason": record.finish_reason,
            "deviation": parts.kind_of_failing(record.reading),
            "fields": record.fields,
        }
    metadata: Fields = {"affidavit": ours}
    if score.reason is not None:
        metadata["unscored_reason"] = score.reason
    return {
        "id": subject.item_id,
        "epoch": subject.sample + 1,
        "value": score.value,
        "answer": None if isinstance(record, Failed) else answer_of(record, parts),
        "explanation": score.explanation,
        "metadata": metadata,
    }


# --- one file is of one log ---


class _Place(NamedTuple):
    """What an output is one of: scores of several would meet under one sample id."""

    log: str
    cell: tuple[str, str, str]

    def differs(self, other: "_Place") -> str:
        """What tells it from another, in words."""
        if self.log != other.log:
            return f"those of {self.log or 'no log'} and of {other.log or 'no log'}"
        pairs = zip(_NAMES, self.cell, other.cell, strict=True)
        return next(f"those of {name} {one!r} and of {name} {two!r}" for name, one, two in pairs if one != two)


def _log_names(frozen: FrozenStudy) -> Sequence[str]:
    return [file.name for file in frozen.files] if isinstance(frozen, ImportedStudy) else []


def _log_of(record: Response | Failed, names: Sequence[str]) -> str:
    """The log that an output was read from, with the folders that tell it from others; empty if from none."""
    subject = record.subject
    output_id = subject.output_id if isinstance(subject, ImportIdentity) else None
    for name in names if output_id is not None else ():
        before, there, _ = str(output_id).partition(f"{name}: ")
        if there and (not before or before.endswith("/")):
            return before + name
    return ""


def _chosen(order: ExportOrder) -> Iterator[Response | Failed]:
    """The outputs and failures of the part that was chosen."""
    for record in order.records:
        if isinstance(record, Label | Judgement):
            continue
        subject = record.subject
        if isinstance(subject, JudgementIdentity):
            continue
        named: Mapping[str, str] = dict(zip(_NAMES, subject.cell, strict=True))
        if all(named[name] == value for name, value in order.chosen.items()):
            yield record


def _write(order: ExportOrder) -> Written:
    written, names, parts = Written(), _log_names(order.records.frozen), order.records.parts
    place: _Place | None = None
    with new_file(order.out) as stream:
        for record in _chosen(order):
            at = _Place(_log_of(record, names), record.subject.cell)
            place = place or at
            if at != place:
                raise _several(place.differs(at), order)
            row = _row(record, parts.get(record.subject.cell[0], _DEFAULT_PARTS))
            stream.write(json.dumps(row, sort_keys=True).encode() + b"\n")
            written.rows["scored" if isinstance(row["value"], str) else "unscored"] += 1
        if place is None:
            raise UsageError(_where(order), expected="outputs to write scores of", found="none")
    return written


def _several(differ: str, order: ExportOrder) -> UsageError:
    hint = (
        "A score finds its sample by id and epoch, so a file of scores is of one log. Name the part: "
        "DIR@model=NAME,condition=NAME,task=NAME. Logs that agree in all three become studies of their own: "
        "affidavit import LOG -o DIR."
    )
    return UsageError(_where(order), expected="the outputs of one log", found=differ, hint=hint)


def _where(order: ExportOrder) -> str:
    part = ",".join(f"{name}={value}" for name, value in order.chosen.items())
    return f"{order.records.directory}{'@' if part else ''}{part}"


INSPECT_SCORES = ExportFormat(
    "inspect-scores", "scores for `inspect score`, by sample and epoch", ".jsonl", _write, takes_a_part=True
)
