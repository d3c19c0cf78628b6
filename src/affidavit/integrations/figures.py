"""The three figures of outputs, as harnesses have them: what an output counts in each, and their shares.

Compliance is over the outputs that were read; accuracy over answers is over those that hold an answer, if it could
be compared; accuracy over all outputs is over those whose right answer is known, and what holds no answer is not
right there (ruling M6). The same rules as in the summary of `affidavit read`, output by output.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from affidavit.contracts.contract import Read, Unread
from affidavit.contracts.parts import Parts
from affidavit.reading.rows import RowResult
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import ClusterSums, share


class OutputCounts(NamedTuple):
    """What one output counts in each figure, by its name: a success or none; null where it is not counted."""

    compliance: bool | None
    accuracy_over_answers: bool | None
    accuracy_over_all_outputs: bool | None
    unsaid: bool = False
    """Whether nobody says if the right answer is known. Such an output counts as not right in accuracy over all
    outputs, if any of the answers beside it was compared: see `settled`."""


FIGURES: tuple[str, ...] = ("compliance", "accuracy_over_answers", "accuracy_over_all_outputs")


def counts_of(result: RowResult, parts: Parts) -> OutputCounts:
    """What an output counts that a contract with these parts has read.

    >>> from affidavit import mcqa
    >>> from affidavit.reading.rows import RowReader
    >>> rows = [{"raw_output": text, "answer": "B"} for text in ("<answer>B</answer>", "B. Paris")]
    >>> for row in rows:
    ...     print(tuple(counts_of(RowReader(mcqa).read(row, where="here"), mcqa)))
    (True, True, True, False)
    (False, None, False, False)
    """
    known, outcome = result.right_answer_known, result.outcome
    unsaid, of_all = known is None, False if known else None
    match outcome:
        case Read():
            correct = result.added.get("correct") if parts.holds_answer(result.added) else None
            answered = correct if isinstance(correct, bool) else None
            return OutputCounts(outcome.reading.protocol_compliant, answered, answered or of_all, unsaid)
        case Unread():
            return OutputCounts(None, None, of_all, unsaid)
    return OutputCounts(None, None, None)


def settled(counts: Sequence[OutputCounts]) -> list[OutputCounts]:
    """The same of outputs that stand together: where any answer was compared, those of which nobody says so too.

    >>> settled([OutputCounts(True, True, True), OutputCounts(False, None, None, unsaid=True)])[1][:3]
    (False, None, False)
    """
    compared = any(each.accuracy_over_answers is not None for each in counts)
    return [
        each._replace(accuracy_over_all_outputs=False) if compared and each.unsaid else each for each in counts
    ]


def estimate(counted: Iterable[tuple[object, bool]]) -> Estimate | None:
    """The share of successes with its interval over clusters, each named beside its outputs; None over nothing.

    >>> print(estimate([("q1", True), ("q1", True), ("q2", False)]))
    66.7% [12.9, 96.4] n=3 (2 clusters)
    """
    clusters: dict[object, list[bool]] = {}
    for cluster, success in counted:
        clusters.setdefault(cluster, []).append(success)
    return share(ClusterSums.of((sum(each), len(each)) for each in clusters.values())) if clusters else None
