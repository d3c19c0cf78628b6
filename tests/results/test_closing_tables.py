"""What a run came to, on a terminal and for programs: counts with their shares, whatever the names."""

import io
import json
from collections import Counter

import pytest
from rich.console import Console

from affidavit import mcqa
from affidavit.reading.tally import Tally
from affidavit.results.closing_tables import MOST_LABELS, Standings, as_json, as_tables, listed, told_share
from affidavit.study.study_file import Cell

FREE, URGED = Cell("quiz", "m", "free"), Cell("quiz", "m", "urged")


def standings(**changed: object) -> Standings:
    tallies = {
        FREE: Tally(compliant=8, non_compliant=2, right=6, compared=8, keyed=10),
        URGED: Tally(compliant=5, failed=1, pending=4, failures=Counter(timeout=1)),
    }
    parts = {"contracts": {"quiz": "mcqa/1"}, "parts": {"quiz": mcqa}, "tallies": tallies}
    return Standings(**{**parts, **changed})


def shown(of: Standings) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(as_tables(of))
    return console.file.getvalue()


def test_every_cell_has_its_row_and_every_task_adds_up():
    text = shown(standings())
    assert "8/10 80.0% [49.0, 94.3]" in text
    assert "6/8 75.0%" in text
    assert "6/10 60.0%" in text
    assert "20 planned = 13 compliant + 2 non-compliant + 0 unread + 1 failed + 4 pending" in text
    assert "m, urged, failed: 1 timeout" in text


def test_columns_that_are_rarely_needed_stand_only_where_they_are():
    assert "pending" in shown(standings()).splitlines()[2]
    usual = standings(tallies={FREE: Tally(compliant=1)})
    assert "pending" not in shown(usual).splitlines()[2]


def test_intervals_of_several_samples_say_what_they_assume():
    assert "Wilson 95%\n" in shown(standings())
    assert "as if the samples of an item were independent" in shown(standings(samples=3))


def test_programs_get_the_same_counts():
    found = json.loads(json.dumps(as_json(standings())))
    assert found["tasks"]["quiz"]["n"] == 20 == sum(cell["n"] for cell in found["cells"])
    assert [(cell["condition"], cell["compliant"]) for cell in found["cells"]] == [("free", 8), ("urged", 5)]


@pytest.mark.parametrize(
    ("successes", "n", "words"),
    [(0, 0, "–"), (0, 10, "0/10 0.0% [0.0, 27.8]"), (1500, 1500, "1,500/1,500 100.0% [99.7, 100.0]")],
)
def test_a_share_has_its_counts_and_its_interval(successes, n, words):
    assert told_share(successes, n) == words


def test_labels_are_cut_and_counted_together_where_there_are_many():
    many = Counter({f"l{number}": 9 - number for number in range(9)})
    assert listed(many) == "9 l0, 8 l1, 7 l2, 6 l3, 5 l4, 4 l5, 6 others"
    assert MOST_LABELS == 6
    assert listed(Counter({"x\n" * 100: 1})).isprintable()
