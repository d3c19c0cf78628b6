"""Hands of the Game of 24: those that can be solved, all of them or a sample."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations_with_replacement, islice

from affidavit.contracts.expression import solve
from affidavit.errors import UsageError
from affidavit.json_values import Fields

SOLVABLE_HANDS = 1362
"""Hands of four numbers from 1 to 13 that make 24."""
TARGET = 24


def generated_hands(count: int | None, seed: int) -> Iterator[tuple[str, Fields]]:
    """Place and item of every solvable hand of four numbers from 1 to 13, or of a sample of `count` of them.

    All come in order of their numbers, and `seed` does nothing. A sample comes in the order of the SHA-256 of
    seed, line feed and id, so that a larger one of the same seed begins with a smaller one.

    >>> [row["id"] for _, row in generated_hands(2, seed=0)]
    ['3-6-8-13', '2-8-8-12']
    """
    if count is not None and not 1 <= count <= SOLVABLE_HANDS:
        raise UsageError("count", expected=f"1 to {SOLVABLE_HANDS} hands", found=str(count))
    hands = [("-".join(map(str, hand)), hand) for hand in combinations_with_replacement(range(1, 14), 4)]
    if count is not None:
        hands.sort(key=lambda hand: sha256(f"{seed}\n{hand[0]}".encode()).digest())
    solvable = (
        (f"generated hands:{name}", {"id": name, "numbers": [*numbers], "target": TARGET, "metadata": {}})
        for name, numbers in hands
        if solve(numbers, TARGET) is not None
    )
    return islice(solvable, count)
