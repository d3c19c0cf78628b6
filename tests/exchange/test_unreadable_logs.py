"""A log that cannot be read ends everything with a word on what to do, or is left out by name: never silently."""

from pathlib import Path

import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.number import number
from affidavit.contracts.read_by import ReadBy
from affidavit.errors import InputError, UsageError
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.results.second_readings import audit_fields, audit_report
from affidavit.running.second_reading import audit_terms, audited
from support.written_logs import NAME, write_log


@pytest.fixture
def logs(tmp_path) -> Path:
    """One that can be read, one that ends too early, and a file of another kind."""
    (tmp_path / "logs").mkdir()
    whole = write_log(tmp_path / "logs")
    (tmp_path / "logs" / "cut").mkdir()
    (tmp_path / "logs" / "cut" / NAME).write_text(whole.read_text()[:-9])
    (tmp_path / "logs" / "notes.txt").write_text("hello")
    return tmp_path / "logs"


def test_whoever_gave_several_logs_is_told_of_the_way_on(logs):
    unreadable = UnreadableLogs.among([logs], skipped=False)
    with pytest.raises(InputError, match=r"notes.txt: expected a log") as caught:
        audited([logs], audit_terms(mcqa), unreadable)
    assert "--skip-unreadable goes on without logs such as this one" in caught.value.hint
    (logs / "notes.txt").unlink()
    with pytest.raises(InputError, match=rf"cut/{NAME}:3: ") as caught:
        audited([logs], audit_terms(mcqa), unreadable)
    assert "--skip-unreadable" in caught.value.hint
    cut = logs / "cut" / NAME
    with pytest.raises(InputError) as caught:
        audited([cut], audit_terms(mcqa), UnreadableLogs.among([cut], skipped=False))
    assert "--skip-unreadable" not in caught.value.hint


def test_those_that_are_left_out_are_named_before_all_others_and_for_programs(logs):
    unreadable = UnreadableLogs.among([logs], skipped=True)
    readings = audited([logs], audit_terms(mcqa), unreadable)
    assert [each.log for each in readings] == [f"tiny/{NAME}"]
    kinds, ended = audit_report(readings, ReadBy.of(mcqa), unreadable=unreadable).warnings[:2]
    assert kinds.startswith(f"left out: {logs}/notes.txt: expected a log")
    assert ended.startswith(f"left out: {logs}/cut/{NAME}:3: expected a JSON object")
    left_out = audit_fields(readings, unreadable)["left_out"]
    assert [each["log"] for each in left_out] == [f"{logs}/notes.txt", f"{logs}/cut/{NAME}"]


def test_a_log_that_does_not_fit_the_contract_is_left_out_too_and_nothing_is_no_audit(logs):
    unreadable = UnreadableLogs.among([logs], skipped=True)
    with pytest.raises(UsageError, match="expected at least one output, found none") as caught:
        audited([logs], audit_terms(number), unreadable)
    assert f"tiny/{NAME}: line 1: expected a number" in caught.value.hint
    assert len(unreadable.found) == 3
