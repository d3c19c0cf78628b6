"""The log of runs, read again: what a run could have written counts, and nothing else."""

import json
from datetime import timedelta

import pytest

from affidavit.archive.layout import RUN_LOG
from affidavit.archive.run_events import RunTimes, run_times

NOON = "2026-03-01T12:00:00+00:00"
LATER = "2026-03-01T12:00:41+00:00"


def line(run, event, at, **more):
    return json.dumps({"run": run, "event": event, "at": at, **more})


@pytest.mark.parametrize(
    ("lines", "runs", "took", "without_end"),
    [
        ([], 0, 0, 0),
        ([line("a", "began", NOON), line("a", "ended", LATER)], 1, 41, 0),
        ([line("a", "began", NOON), line("b", "began", NOON), line("b", "ended", LATER)], 2, 41, 1),
        ([line("a", "ended", LATER)], 0, 0, 0),
        ([line("a", "began", LATER), line("a", "ended", NOON)], 1, 0, 0),
        (["", "{", "[1]", "null", '{"run": 1}', line("a", "began", "soon"), line("a", "began", "2026-03-01T12:00:00")],
         0, 0, 0),
        (["[" * 5000, line("a", "began", NOON, models=[]), line("a", "began", NOON)], 1, 0, 1),
    ],
)  # fmt: skip
def test_times_are_those_of_lines_that_a_run_could_have_written(tmp_path, lines, runs, took, without_end):
    (tmp_path / RUN_LOG).write_text("".join(f"{each}\n" for each in lines))
    found = run_times(tmp_path)
    assert (found.runs, found.took, found.without_end) == (runs, timedelta(seconds=took), without_end)


def test_of_a_sealed_log_only_its_sealed_part_counts(tmp_path):
    assert run_times(tmp_path) == RunTimes()
    first = line("a", "began", NOON) + "\n"
    (tmp_path / RUN_LOG).write_text(first + line("b", "began", LATER) + "\n")
    assert run_times(tmp_path, len(first)).runs == 1
