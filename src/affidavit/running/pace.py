"""How many requests are open at once: more while the server keeps up, fewer when it says that it does not.

From a small start the number doubles with every round of answers, until the server pushes back; then it is halved,
and grows by one a round.

    >>> pace = Pace(100)
    >>> pace.limit
    16
    >>> for _ in range(16): pace.kept_up()
    >>> pace.limit
    32
    >>> pace.pushed_back(now=0.0)
    >>> pace.limit
    16
"""

_START = 16
_CALM = 1.0
"""Seconds in which a crowd of refusals counts as one."""


class Pace:
    """The limit at a moment."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(most, _START))
        self._doubling = True
        self._last = float("-inf")

    @property
    def limit(self) -> int:
        """Requests that may be open now."""
        return int(self._limit)

    def kept_up(self) -> None:
        """An answer came."""
        self._limit = min(self._most, self._limit + (1 if self._doubling else 1 / self._limit))

    def pushed_back(self, *, now: float) -> None:
        """The server asked for less."""
        if now - self._last >= _CALM:
            self._limit = max(1.0, self._limit / 2)
            self._last = now
        self._doubling = False
