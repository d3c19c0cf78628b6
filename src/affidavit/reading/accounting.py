"""The accounting identity: whatever was planned is in exactly one of the counts that follow it (ruling C5)."""

from collections.abc import Mapping


def identity(counts: Mapping[str, int]) -> str:
    """The identity in one line; the counts by what they are called, in their order.

    >>> identity({"compliant": 1200, "non-compliant": 3, "pending": 0})
    '1,203 planned = 1,200 compliant + 3 non-compliant + 0 pending'
    """
    parts = " + ".join(f"{count:,} {name}" for name, count in counts.items())
    return f"{sum(counts.values()):,} planned = {parts}"
