"""The ids of responses: one id for two different requests means that an answer went astray (ruling C9).

Some servers give the same ids again and again, from their first answers on; then ids prove nothing. The same holds
when a request that was put once more, over a connection of its own, gets an id that is known again.
"""

from collections import OrderedDict
from hashlib import blake2b

FIRST_ANSWERS = 20
"""Among so many answers a repeated id is a habit of the server."""
KEPT = 4096
"""Ids that are remembered, of each server."""


def request_name(content: bytes) -> bytes:
    """What tells a request from others: equal ones may have one answer, whichever questions they are of."""
    return blake2b(content, digest_size=16).digest()


class ResponseIds:
    """The ids that one server gave, and with which request each came.

    >>> ids = ResponseIds()
    >>> [ids.is_stray(f"id-{n}", b"%d" % n) for n in range(FIRST_ANSWERS)].count(True)
    0
    >>> ids.is_stray("id-3", b"3"), ids.is_stray("id-3", b"another")
    (False, True)
    """

    def __init__(self, *, prove_nothing: bool = False) -> None:
        self.prove_nothing = prove_nothing
        """Whether the server is known, or was seen, to repeat them."""
        self.repeated = False
        """Whether it was seen to."""
        self._answers = 0
        self._requests: OrderedDict[str, bytes] = OrderedDict()

    def is_stray(self, response_id: str | None, request: bytes, *, asked_again: bool = False) -> bool:
        """Whether a response belongs to another request than the one it came for."""
        if self.prove_nothing or response_id is None:
            return False
        self._answers += 1
        before = self._requests.setdefault(response_id, request)
        if len(self._requests) > KEPT:
            self._requests.popitem(last=False)
        if before == request:
            return False
        if self._answers <= FIRST_ANSWERS or asked_again:
            self.prove_nothing = self.repeated = True
            self._requests.clear()
            return False
        return True
