"""The summary of a tally: shares with their n, accuracy over compliant outputs, and the accounting identity."""

import json
from collections import Counter
from dataclasses import fields

import pytest

from affidavit import judge, mcqa
from affidavit.reading import accounting
from affidavit.reading.summary import LONGEST_LABEL, MOST_LABELS, figures, identity, shares_of, text
from affidavit.reading.tally import Tally

SOME = Tally(
    compliant=6, non_compliant=2, unread=2, failed=2, pending=2, right=3, compared=4, keyed=6,
    unread_keyed=1, failed_keyed=1,
)  # fmt: skip


def test_every_planned_output_is_in_one_place():
    """Ruling C5."""
    assert accounting.identity({"a": 1000, "b": 2}) == "1,002 planned = 1,000 a + 2 b"
    assert identity(SOME, mcqa) == "14 planned = 6 compliant + 2 non-compliant + 2 unread + 2 failed + 2 pending"
    assert (
        identity(Tally(compliant=1, failed=1), judge) == "2 planned = 1 valid + 0 invalid + 1 failed + 0 pending"
    )


def test_accuracy_is_over_compliant_outputs_and_yield_over_all_whose_answer_is_known():
    """Ruling M6."""
    found = figures(SOME, "mcqa/1", {}, mcqa, shares_of(SOME))
    shares = {name: (found[name]["value"], found[name]["n"]) for name in ("accuracy_over_compliant", "yield")}
    assert shares == {"accuracy_over_compliant": (0.75, 4), "yield": (3 / 7, 7)}, "an unread output is an output"
    assert (found["compliance"]["value"], found["compliance"]["n"]) == (0.75, 8)
    bounds = [(each["value"], each["n"]) for each in found["accuracy_bounds"]]
    assert bounds == [(3 / 8, 8), (7 / 8, 8)], "of unread and failed ones, those with a right answer (ruling S6)"
    json.dumps(found)


def test_a_share_of_nothing_is_null():
    nothing = Tally(pending=3)
    assert shares_of(nothing) == (None, None, None, None)
    found = figures(nothing, "mcqa/1", {}, mcqa, shares_of(nothing))
    assert (found["compliance"], found["accuracy_over_compliant"], found["yield"]) == (None, None, None)
    assert found["accuracy_bounds"] is None


def test_lines_stand_only_where_there_is_something_to_say():
    bare = text(Tally(compliant=1), "mcqa/1", mcqa)
    lines = [line.split()[0] for line in bare.splitlines() if line.startswith("  ")]
    assert lines == ["compliant", "non-compliant"]
    full = [" ".join(line.split()) for line in text(SOME, "mcqa/1", mcqa).splitlines()]
    assert "unread 2 the contract itself raised an error" in full
    assert "pending 2 not asked yet" in full
    assert "failed 2 no output arrived (the text is null)" in full
    why = text(Tally(failed=2, failures=Counter(timeout=2)), "mcqa/1", mcqa)
    assert "no output arrived (2 timeout)" in why


@pytest.mark.parametrize("label", ["x" * 500, "two\nlines", "\x1b[31m"])
def test_a_label_of_a_models_making_stays_on_its_line(label):
    tally = Tally(non_compliant=3, breakdowns={"deviation": Counter({label: 3})})
    (line,) = [line for line in text(tally, "mcqa/1", mcqa).splitlines() if line.endswith("100.0%")]
    assert line.isprintable()
    assert len(line) < LONGEST_LABEL + 40


def test_the_most_frequent_labels_are_told_and_the_others_counted_together():
    many = Counter({f"label {number:02}": 1 for number in range(MOST_LABELS + 7)})
    tally = Tally(non_compliant=many.total(), breakdowns={"deviation": many})
    lines = text(tally, "mcqa/1", mcqa).splitlines()
    assert sum(line.strip().startswith("label ") for line in lines) == MOST_LABELS
    (others,) = [line for line in lines if line.strip().startswith("others")]
    assert others.split()[1] == "7"


def test_the_summary_fits_into_a_terminal():
    """Of eighty columns, with thousands of rows."""
    counts = {each.name: 1_000 * getattr(SOME, each.name) for each in fields(SOME) if each.type is int}
    for tally in (SOME, Tally(**counts)):
        lines = text(tally, "mcqa/1", mcqa).splitlines()
        assert any("accuracy if all missing answers were right" in line for line in lines)
        assert max(len(line) for line in lines if "planned" not in line) <= 80


def test_verdicts_are_shares_of_the_valid_evaluations_and_add_up():
    counts = Counter(PASS=3, FAIL=1)
    found = Tally(compliant=4, non_compliant=4, breakdowns={"verdict": counts, "findings": Counter(no_score=4)})
    lines = [line.split() for line in text(found, "judge/1", judge).splitlines()]
    assert ["PASS", "3", "75.0%"] in lines
    assert ["FAIL", "1", "25.0%"] in lines
    assert ["no_score", "4", "50.0%"] in lines, "what speaks against evaluations is a share of all of them"
