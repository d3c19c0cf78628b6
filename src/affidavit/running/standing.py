"""Whether one of several servers is asked: not for a while after it failed again and again, or asked for a wait.

Three failures in a row, without an answer in between, and it is left out for a second, or for as long as it asked.
Then one question tries it: if that fails, it is left out for twice as long, up to a minute; once it answers, it is
asked as before. A node that died, or a proxy before it, fails so quickly that it would always seem to have the
least to do. What is refused by one and answered by another counts as a failure of the first.

    >>> standing, gone = Standing(), Failure(Reason.CONNECTION, "the connection was refused")
    >>> [standing.failed(gone, now=0.0, longest_wait=9.0) for _ in range(FAILURES)], standing.serves(0.5)
    ([None, None, 1.0], False)
    >>> standing.is_due(0.5), standing.is_due(1.0), standing.failed(gone, now=1.0, longest_wait=9.0)
    (False, True, 2.0)
    >>> standing.answered(); standing.serves(1.5)
    True
"""

from affidavit.models.model import Failure, Reason

FAILURES = 3
"""In a row: then a server is left out."""
FIRST_REST, LONGEST_REST = 1.0, 60.0
"""Seconds: doubled whenever a question tries it in vain."""
_OF_THE_SERVER = frozenset(
    {Reason.CONNECTION, Reason.TIMEOUT, Reason.SERVER_ERROR, Reason.RATE_LIMITED, Reason.BAD_BODY}
)
"""What a server does that is not well, whatever it is asked; other failures are about the question."""


class Standing:
    """What the last attempts at a server say of it."""

    def __init__(self) -> None:
        self.why = ""
        """What was said of the failure for which it was left out last."""
        self.times = 0
        """How often it was left out."""
        self.tried = False
        """Whether a question tries it now."""
        self._failures = 0
        self._rest = FIRST_REST
        self._until = float("-inf")

    @property
    def left_out(self) -> bool:
        """Whether it failed again and again, and has not answered since."""
        return self._failures >= FAILURES

    def serves(self, now: float) -> bool:
        """Whether it can be asked like any other."""
        return not self.left_out and now >= self._until

    def is_due(self, now: float) -> bool:
        """Whether one question should try it again."""
        return self.left_out and not self.tried and now >= self._until

    def answered(self) -> None:
        """An answer came."""
        if self.left_out:
            self._until = float("-inf")
        self._failures, self._rest = 0, FIRST_REST

    def failed(self, failure: Failure, *, now: float, longest_wait: float) -> float | None:
        """Count a failure; for how many seconds it is left alone from now on, if that begins here."""
        # Whatever it is that a server fails with that was left out and is tried: it does not serve.
        if failure.reason not in _OF_THE_SERVER and not self.left_out:
            return None
        return self._counted(failure, now=now, asked=min(failure.retry_after or 0.0, longest_wait))

    def contradicted(self, failure: Failure, *, now: float) -> float | None:
        """Count a failure that was said to be about the question, which another server then answered."""
        return self._counted(failure, now=now)

    def _counted(self, failure: Failure, *, now: float, asked: float = 0.0) -> float | None:
        # What was open when it was left out fails with it: that says nothing new.
        if now < self._until:
            return None
        self._failures += 1
        if self.left_out:
            return self.leave_out(f"{failure.reason}: {failure.detail}", now=now, asked=asked)
        self._until = now + asked
        return asked or None

    def leave_out(self, why: str, *, now: float, asked: float = 0.0) -> float:
        """Ask it nothing for a while; how many seconds that are. `asked`: at least so many, by its own word."""
        self.times += self._failures <= FAILURES
        self.why, self._failures = why, FAILURES + 1
        rest, self._rest = max(self._rest, asked), min(2 * self._rest, LONGEST_REST)
        self._until = now + rest
        return rest
