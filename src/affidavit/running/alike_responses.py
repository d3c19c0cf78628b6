"""Responses that are counted alike, counted together: a study has many outputs and few different readings."""

from msgspec.msgpack import Encoder

from affidavit.archive.record import Response
from affidavit.contracts.parts import Parts
from affidavit.reading.tally import Tally
from affidavit.running.server_words import ServerWords

MOST_ALIKE = 1000
"""Different responses that are remembered."""

_packed = Encoder().encode
"""Values as bytes, which are equal only for values that no contract can tell apart, as it can tell 1 from true."""


def what_counts(response: Response) -> bytes | None:
    """All of a response that is counted, but its tokens; None if it may not be counted with others."""
    if response.rendered_prompt is not None:
        return None
    subject = response.subject
    try:
        return _packed(
            (
                subject.task,
                subject.model,
                subject.condition,
                response.keyed,
                response.protocol_compliant,
                response.finish_reason == "length",
                response.server_model,
                response.system_fingerprint,
                response.fields,
            )
        )
    except (ValueError, OverflowError, RecursionError):  # halves of characters, numbers beyond 64 bits
        return None


class AlikeResponses:
    """One response that was counted, and how many more are like it that were not."""

    __slots__ = ("_first", "_known", "_parts", "tally", "times")

    def __init__(self, first: Response, tally: Tally, parts: Parts, *, known: bool | None) -> None:
        self._first, self._parts, self._known = first, parts, known
        self.tally = tally
        self.times = 0

    def count(self, words: ServerWords) -> None:
        """Count those that were not."""
        first, times, self.times = self._first, self.times, 0
        if times:
            self.tally.add(first.reading, parts=self._parts, right_answer_known=self._known, times=times)
            self.tally.truncated += times * (first.finish_reason == "length")
            words.add(first, times=times)
