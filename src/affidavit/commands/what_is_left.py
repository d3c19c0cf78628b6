"""What is left when a command ends, and what to type for it."""

from collections.abc import Iterable

from affidavit.models.model import PERMANENT
from affidavit.reading.tally import Tally


def what_is_left(tallies: Iterable[Tally], again: str, *, lacking: str) -> str | None:
    """How many have no answer, and how to go on; None if nothing is left.

    What failed permanently is asked again only where that is said.

    >>> what_is_left([Tally(pending=2)], "affidavit run s.toml", lacking="an answer")
    '2 without an answer; to continue: affidavit run s.toml'
    >>> from collections import Counter
    >>> refused = Tally(failed=3, failures=Counter(bad_request=3))
    >>> what_is_left([refused], "affidavit run s.toml", lacking="an answer")
    '3 without an answer, failed permanently; to ask them again: affidavit run s.toml --retry-failed'
    """
    total = Tally.total(tallies)
    left = total.failed + total.pending
    if not left:
        return None
    permanent = sum(count for reason, count in total.failures.items() if reason in PERMANENT)
    if permanent == left:
        return f"{left:,} without {lacking}, failed permanently; to ask them again: {again} --retry-failed"
    besides = f" ({permanent:,} failed permanently: --retry-failed asks them again too)" if permanent else ""
    return f"{left:,} without {lacking}; to continue: {again}{besides}"
