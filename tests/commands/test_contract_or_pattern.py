"""A contract or a pattern: exactly one of the two reads a log."""

import pytest

from affidavit.commands.contract_or_pattern import contract_or_pattern
from affidavit.errors import UsageError


@pytest.mark.parametrize(
    ("contract", "pattern", "name"), [("mcqa", None, "mcqa"), (None, "a", "pattern"), ("pattern", "a", "pattern")]
)
def test_what_reads_has_one_name(contract, pattern, name):
    assert contract_or_pattern("audit", contract, pattern, hint="") == name


@pytest.mark.parametrize(("contract", "pattern", "found"), [(None, None, "neither"), ("mcqa", "a", "both")])
def test_neither_and_both_are_refused(contract, pattern, found):
    with pytest.raises(UsageError, match=f"either --contract NAME or --pattern REGEX, found {found}"):
        contract_or_pattern("audit", contract, pattern, hint="")
