"""How long a server asks to wait, whatever its header says."""

from datetime import UTC, datetime

import pytest

from affidavit.models.retry_after import retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("8", 8.0), ("0", 0.0), ("1.5", 1.5), ("-3", None), ("nan", None), ("inf", None),
        ("1000000000", 1e9), ("Thu, 01 Jan 2026 00:01:00 GMT", 60.0), ("Wed, 31 Dec 2025 00:00:00 GMT", 0.0),
        ("tomorrow", None), ("", None), ("Thu, 99 Foo 2026", None),
    ],
)  # fmt: skip
def test_retry_after(header, seconds):
    assert retry_after(header, now=NOW) == seconds
