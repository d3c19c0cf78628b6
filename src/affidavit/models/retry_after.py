"""The `Retry-After` header: how long a server asks to wait. How long is really waited is the runner's business."""

from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after(header: str | None, *, now: datetime) -> float | None:
    """The seconds that a server asks to wait, given as seconds or as a date; None if it says nothing sensible.

    >>> retry_after("8", now=datetime(2026, 1, 1, tzinfo=UTC))
    8.0
    >>> retry_after("Thu, 01 Jan 2026 00:00:05 GMT", now=datetime(2026, 1, 1, tzinfo=UTC))
    5.0
    >>> retry_after("soon", now=datetime(2026, 1, 1, tzinfo=UTC))
    """
    if header is None:
        return None
    with suppress(ValueError):
        seconds = float(header)
        return seconds if 0 <= seconds < float("inf") else None
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())
