"""The failures at the beginning of a run, held until one question is answered.

A request that a server refuses in the same words twenty times, without a single answer in between, is no matter of
the questions: something is set up wrongly. Then these failures are dropped, so that nothing has to be asked again
on purpose once it is mended. What is added to a study, and a judging, is frozen by its first answer (ruling C11):
there all failures are held until then.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from affidavit.models.model import Failure, Reason

MOST_ALIKE = 20
"""Refusals in the same words that are one mistake."""
MOST_HELD = 1_000
"""Questions that are asked without a single answer, where nothing is written before one."""
_Question = TypeVar("_Question")


class FirstFailures(Generic[_Question]):
    """What failed before anything was answered.

    >>> first = FirstFailures[str]()
    >>> refused = Failure(Reason.BAD_REQUEST, "HTTP 400: no")
    >>> [first.holds(f"q{number}", refused) for number in range(20)].count(True), first.why_to_stop()
    (20, 'the first 20 requests were refused alike (HTTP 400: no): a mistake of the setup; none of it was kept')
    >>> list(first.to_keep())
    []
    """

    def __init__(self, *, every_kind: bool = False) -> None:
        """`every_kind`: whatever fails is held, in whatever words."""
        self._every_kind = every_kind
        self._held: list[tuple[_Question, Failure]] = []
        self._alike = True
        """Whether all that is held was refused in the same words."""
        self._over = False
        """Whether one was answered, or failed in a way that is not held: then each is kept as it comes."""
        self.mistake = False
        """Whether they were a mistake of the setup."""

    def holds(self, question: _Question, failure: Failure) -> bool:
        """Whether this failure is held: nothing was answered, and it is like all before it, or may be any."""
        alike = failure.reason is Reason.BAD_REQUEST and (
            not self._held or failure.detail == self._held[0][1].detail
        )
        if self._over or not (alike or self.mistake or self._every_kind):
            return False
        self._alike = self._alike and alike
        self._held.append((question, failure))
        return True

    def why_to_stop(self) -> str | None:
        """Why to ask nothing more, once so many were refused alike, or so many asked for nothing."""
        if self.mistake:
            return None
        if self._alike and len(self._held) >= MOST_ALIKE:
            self.mistake = True
            return f"{self._in_words()}: a mistake of the setup; none of it was kept"
        if len(self._held) >= MOST_HELD:
            return f"none of the first {len(self._held):,} questions was answered"
        return None

    def answered(self) -> str | None:
        """Something was answered after all; why nothing more is asked, if that was called a mistake before."""
        was, self.mistake = self.mistake, False
        return self._in_words() if was else None

    def _in_words(self) -> str:
        return f"the first {len(self._held):,} requests were refused alike ({self._held[0][1].detail})"

    def to_keep(self) -> Iterator[tuple[_Question, Failure]]:
        """What was held, once it is known that it is no mistake of the setup."""
        self._over = True
        held, self._held = self._held, []
        return iter([] if self.mistake else held)

    def to_drop(self) -> list[Failure]:
        """What was held for an answer that never came, and is kept nowhere."""
        return [failure for _, failure in self._held] if self._every_kind and not self._over else []
