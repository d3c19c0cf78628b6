"""A sample of Inspect and its output, as a contract takes them; the reading, as Inspect has scores.

Nothing of Inspect is imported here. Its objects are taken by the fields that they have, which `Sample` names.

A score has an entry for each figure: 1, 0, or NaN, which is how Inspect marks what is not scored: its own metrics
and reducers leave it out. Where nothing arrived (ruling C1), the whole score is NaN.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Protocol

from affidavit.errors import UsageError
from affidavit.integrations.figures import FIGURES, OutputCounts, estimate, settled
from affidavit.integrations.output_reading import OutputReading
from affidavit.json_values import Fields
from affidavit.reading.rows import RowReader

_KNOWN = "right_answer_known"
_CUT_OUT = "think"
"""How Inspect marks reasoning that it found between tags in the text, and took out of it."""


class Sample(Protocol):
    """What is used of the state of a sample."""

    sample_id: Any
    input_text: str
    metadata: Mapping[str, Any]
    choices: Sequence[Any]
    target: Sequence[str]
    output: Any


class Scored(Protocol):
    """What is used of a score of one sample and epoch, when metrics are made."""

    sample_id: Any
    score: Any


@dataclass(frozen=True, slots=True)
class SampleScore:
    """A score by the names that Inspect has for its parts."""

    value: float | dict[str, float]
    answer: str | None
    explanation: str
    reason: str | None
    metadata: Fields


def place_of(sample: Sample) -> str:
    """Where a sample is, for messages."""
    return f"sample {sample.sample_id!r}"


def row_of(sample: Sample) -> Fields:
    """What a sample says of its question, by our names: its metadata, and above them what it has of its own.

    The target is the right answer; several are a list. Without a target, or choices, the metadata may have them.
    """
    targets = list(sample.target)
    own: Fields = {"id": str(sample.sample_id), "question": sample.input_text}
    if targets not in ([], [""]):
        own["answer"] = targets[0] if len(targets) == 1 else targets
    if choices := list(sample.choices):
        if any(choice.original_position != at for at, choice in enumerate(choices)):
            raise UsageError(
                place_of(sample),
                expected="choices in the order of the data set, whose letters the target names",
                found="choices that a solver has shuffled",
                hint="Shuffle them with shuffle_choices when the data set is read: the target goes with them.",
            )
        own["options"] = [choice.value for choice in choices]
    return {**sample.metadata, **own}


def text_of(output: Any) -> str | None:  # noqa: ANN401 - Inspect's own type
    """What the model said; None where nothing arrived (ruling C1)."""
    text: str = output.completion
    if text:
        # A provider that refuses a request has its message put into the place of the text.
        return None if text == output.error else _with_thoughts(text, output)
    if not output.choices:
        return None
    first = output.choices[0]
    return None if first.stop_reason == "content_filter" or first.message.tool_calls else text


def _with_thoughts(text: str, output: Any) -> str:  # noqa: ANN401 - Inspect's own type
    """The text with the thoughts that Inspect cut out of it, and not those that the server gave apart (ruling C7).

    Where they stood it does not say; they stand first, as models think. Inspect leaves a text of nothing else.
    """
    content = output.choices[0].message.content if output.choices else text
    for part in () if isinstance(content, str) else content:
        if getattr(part, "type", None) == "reasoning" and part.internal == _CUT_OUT:
            is_whole = text.strip().startswith("<think") and text.strip().endswith("</think>")
            if not (is_whole and part.reasoning in text):
                return f"<think>\n{part.reasoning}\n</think>\n\n{text}"
    return text


def score_of(reader: RowReader, sample: Sample) -> SampleScore:
    """What a contract says of a sample's output, as a score."""
    text = text_of(sample.output)
    reading = OutputReading.of(reader, text, row_of(sample), where=place_of(sample))
    metadata = {
        "contract": reader.label,
        "contract_params": reader.params,
        **reading.fields,
        _KNOWN: reading.result.right_answer_known,
    }
    if text is not None and text != sample.output.completion:
        metadata["verbatim"] = False  # ruling I1
    values = dict(zip(FIGURES, map(_as_score, reading.counts), strict=False))
    return SampleScore(
        value=nan if text is None else values,
        answer=reading.answer,
        explanation=reading.words,
        reason=_reason(reading),
        metadata=metadata,
    )


def _as_score(counted: bool | None) -> float:  # noqa: FBT001
    return nan if counted is None else int(counted)


def _reason(reading: OutputReading) -> str | None:
    """Why a score is abnormal, in Inspect's words where it has one."""
    if reading.text is None:
        return "no_output"
    if reading.error is not None:
        return "scoring_failed"
    if reading.counts.compliance:
        return None
    return "invalid_response_format" if reading.text.strip() else "no_response"


def figure(name: str, scores: Iterable[Scored]) -> dict[str, float]:
    """A figure over scores, one for each sample and epoch: its value, the ends of its interval, and its n.

    The epochs of a sample are a cluster (ruling S1). Over nothing there is no figure: then nothing is in it.
    """
    listed = list(scores)
    counts = settled([_counts(each.score) for each in listed])
    counted = [
        (number if each.sample_id is None else str(each.sample_id), success)
        for number, (each, count) in enumerate(zip(listed, counts, strict=True))
        if (success := getattr(count, name)) is not None
    ]
    if (share := estimate(counted)) is None:
        return {}
    return {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high, f"{name}_n": share.n}


def _counts(score: Any) -> OutputCounts:  # noqa: ANN401 - Inspect's own type
    """What a score counts, as it stands in a log; a value that is no object of ours counts nowhere."""
    if not isinstance(score.value, Mapping):
        return OutputCounts(None, None, None)
    said = (score.value.get(name) for name in FIGURES)
    compliance, answered, of_all = (bool(each) if each in (0, 1) else None for each in said)
    return OutputCounts(compliance, answered, of_all, unsaid=(score.metadata or {}).get(_KNOWN, False) is None)
