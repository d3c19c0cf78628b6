"""How long a question waits before it is asked again."""

import random

from affidavit.models.model import Failure
from affidavit.models.settings import Limits

FIRST, LONGEST = 0.5, 30.0
"""Seconds: doubled with every attempt, as long as the server names none itself."""


class RetryWaits:
    """The waits of one run: what the server asked for, or a time that doubles; never all at the same moment."""

    def __init__(self, limits: Limits, *, seed: int | None = None) -> None:
        self._limits = limits
        self._random = random.Random(seed)  # noqa: S311 - jitter, not a secret

    def before_next(self, failure: Failure, number: int) -> float | None:
        """Seconds between the failed attempt of this number and the next; None if there is none."""
        if not failure.may_pass or number >= self._limits.attempts:
            return None
        backoff = min(LONGEST, FIRST * 2.0 ** min(number - 1, 10)) * self._random.uniform(0.5, 1.0)
        asked = min(failure.retry_after or 0.0, self._limits.retry_after)
        # A little more than asked, so that a crowd does not come back at once.
        return max(backoff, asked * self._random.uniform(1.0, 1.1))
