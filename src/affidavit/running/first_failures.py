"""The failures at the beginning of a run, held until one question is answered.

A request that a server refuses in the same words twenty times, without a single answer in between, is no matter of
the questions: something is set up wrongly. Then these failures are dropped, so that nothing has to be asked again
on purpose once it is mended.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from affidavit.models.model import Failure, Reason

MOST_ALIKE = 20
"""Refusals in the same words that are one mistake."""
_Question = TypeVar("_Question")


class FirstFailures(Generic[_Question]):
    """What failed before anything was answered.

    >>> first = FirstFailures[str]()
    >>> refused = Failure(Reason.BAD_REQUEST, "HTTP 400: no")
    >>> [first.holds(f"q{number}", refused) for number in range(20)].count(True), first.setup_mistake()
    (20, 'the first 20 requests were refused alike (HTTP 400: no): a mistake of the setup; none of it was kept')
    >>> list(first.to_keep())
    []
    """

    def __init__(self) -> None:
        self._held: list[tuple[_Question, Failure]] = []
        self._over = False
        """Whether one was answered, or failed in another way: then each is kept as it comes."""
        self.mistake = False
        """Whether they were a mistake of the setup."""

    def holds(self, question: _Question, failure: Failure) -> bool:
        """Whether this failure is held: it is like all before it, and nothing was answered."""
        alike = failure.reason is Reason.BAD_REQUEST and all(
            failure.detail == earlier.detail for _, earlier in self._held
        )
        if self.mistake or (alike and not self._over):
            self._held.append((question, failure))
            return True
        return False

    def setup_mistake(self) -> str | None:
        """Why to stop, once so many were refused alike."""
        if len(self._held) < MOST_ALIKE or self.mistake:
            return None
        self.mistake = True
        said = self._held[0][1].detail
        alike = f"the first {len(self._held):,} requests were refused alike ({said})"
        return f"{alike}: a mistake of the setup; none of it was kept"

    def to_keep(self) -> Iterator[tuple[_Question, Failure]]:
        """What was held, once it is known that it is no mistake of the setup."""
        self._over = True
        held, self._held = self._held, []
        return iter([] if self.mistake else held)
