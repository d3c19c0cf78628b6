"""What the samples of an item give together (rulings M7, S5 and G12), beside a count item by item."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit import AnswerKey, Number
from affidavit.errors import UsageError
from affidavit.results.counting import groups
from affidavit.results.majorities import _shift, majority_table, repeated_table
from affidavit.statistics.shares import wilson
from support.record_sets import Row, choice, hand, named_rows, record_set

COUNTS = ("items with an answer", "too few answers", "with a majority", "tied")
LEAD, RIGHT = "mean share of the leader", "majority right"
OK, TOO, WRONG, BARE, NOTHING = (
    "<answer>(13-9)*(10-4)</answer>", "<answer>(10-4)*(13-9)</answer>", "<answer>4+9+10+13</answer>",
    "(13-9)*(10-4)", "I give up.",
)  # fmt: skip


def said(letters: str, item: str = "q0", right: str | None = "B") -> list[Row]:
    """One output for each letter; a dash is not compliant, a full stop failed."""
    return [
        {"task": "quiz", "item_id": item, "sample": sample, "kind": "failure", "failure": "server_error"}
        if letter == "."
        else choice(item, None if letter == "-" else letter, right, sample=sample)
        for sample, letter in enumerate(letters)
    ]


def majorities(rows: Iterable[Row]) -> list[tuple]:
    records = record_set(rows)
    made = named_rows(majority_table(records, groups(records)))
    return [
        (*(row[name] for name in COUNTS), *(row[name] and row[name].value for name in (LEAD, RIGHT)))
        for row in made
    ]


@pytest.mark.parametrize(
    ("letters", "right", "counts", "lead", "share"),
    [
        ("BBB", "B", (1, 0, 1, 0), 1, 1),
        ("AAB", "B", (1, 0, 1, 0), 2 / 3, 0),
        ("ABC", "B", (1, 0, 0, 1), 1 / 3, 1 / 3),
        ("ACD", "B", (1, 0, 0, 1), 1 / 3, 0),
        ("AABB", "B", (1, 0, 0, 1), 1 / 2, 1 / 2),
        ("AABBC", "C", (1, 0, 0, 1), 2 / 5, 0),
        ("AABBCC", "C", (1, 0, 0, 1), 1 / 3, 1 / 3),
        # Three that hold an answer, whatever else was asked.
        ("BB-B.", "B", (1, 0, 1, 0), 1, 1),
        # One answer is no majority, and two are none.
        ("B", "B", (1, 1, 0, 0), None, None),
        ("BB-", "B", (1, 1, 0, 0), None, None),
        ("AB..", "B", (1, 1, 0, 0), None, None),
        # Where nobody knows what is right there is a leader, and none that is right or wrong.
        ("AAB", None, (1, 0, 1, 0), 2 / 3, None),
    ],
)
def test_one_item_by_hand(letters, right, counts, lead, share):
    near = (each if each is None else pytest.approx(each) for each in (lead, share))
    assert majorities(said(letters, right=right)) == [(*counts, *near)]


@pytest.mark.parametrize(
    ("values", "share"),
    [
        (["10.1", "10.1", "9.9", "9.9", "7"], 1),
        (["10.1", "10.1", "10", "7", "7"], 1 / 2),
        (["10.1", "9.9", "7"], 2 / 3),
        (["10.1", "9.9", "10.2", "7", "7"], 0),
    ],
)
def test_within_a_tolerance_several_leaders_may_be_right(values, share):
    """Ruling S5 with ruling N8: votes are by value, and each leader is right or wrong by itself."""
    contract = Number(tolerance="0.5")
    rows = [
        {**choice("q0", value, "10", sample=sample), "correct": contract.validate(contract.read(f"<answer>{value}</answer>"), AnswerKey("10")).correct}
        for sample, value in enumerate(values)
    ]  # fmt: skip
    assert majorities(rows)[0][-1] == pytest.approx(share)


def test_items_without_any_answer_have_no_row():
    assert majorities([*said("---"), *said("...", "q1")]) == []


@pytest.mark.parametrize(
    ("texts", "counts", "lead", "share"),
    [
        # Two ways to write a right answer are one answer, whichever way it was found.
        ((OK, TOO, WRONG), (1, 0, 1, 0), 2 / 3, 1),
        ((OK, BARE, WRONG, WRONG), (1, 0, 0, 1), 1 / 2, 1 / 2),
        ((WRONG, "<answer>4*9*10*13</answer>", BARE), (1, 0, 1, 0), 2 / 3, 0),
        # No expression is no vote.
        ((OK, BARE, NOTHING), (1, 1, 0, 0), None, None),
        ((OK, BARE, TOO, NOTHING), (1, 0, 1, 0), 1, 1),
    ],
)
def test_the_game_of_24_votes_by_the_validators_word(texts, counts, lead, share):
    rows = [hand("h0", text, sample=sample) for sample, text in enumerate(texts)]
    near = (each if each is None else pytest.approx(each) for each in (lead, share))
    assert majorities(rows) == [(*counts, *near)]


def test_equal_verdicts_over_items_have_the_interval_of_the_items():
    rows = [row for number in range(12) for row in said("BBA" if number else "AAB", f"q{number}")]
    records = record_set(rows)
    (row,) = named_rows(majority_table(records, groups(records)))
    assert (row[RIGHT].low, row[RIGHT].high, row[RIGHT].n) == pytest.approx(
        (wilson(11, 12).low, wilson(11, 12).high, 12)
    )
    assert row[LEAD].low < row[LEAD].value < row[LEAD].high, "agreement is no certainty"


# --- random records ---


def random_rows(draw: Random, items: int, samples: int) -> list[Row]:
    texts, rows = (OK, TOO, WRONG, BARE, NOTHING), []
    for number in range(items):
        for condition in ("plain", "urged"):
            right = None if number % 5 == 4 else "ABC"[number % 3]
            for sample in range(samples):
                place = {"condition": condition, "sample": sample}
                if draw.random() < 0.8:
                    rows.append(choice(f"q{number}", draw.choice(["A", "B", "B", "C", None]), right, **place))
                if draw.random() < 0.8:
                    rows.append(hand(f"h{number}", draw.choice(texts), **place))
    return rows


def votes_of(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, list[bool | None]]]:
    """By cell and item: the answers, and of each sample that gave it whether that is right."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        if row["answer"] is not None:
            answer = str(row["correct"]) if row["task"] == "hands" else row["answer"]
            found[row["task"], row["condition"]][row["item_id"]][answer].append(row["correct"])
    return found


@pytest.mark.slow
@settings(max_examples=12)
@given(draw=st.randoms(use_true_random=False), items=st.integers(1, 8), samples=st.integers(3, 6))
def test_majorities_are_those_counted_item_by_item(draw, items, samples):
    rows, expected = random_rows(draw, items, samples), {}
    for cell, items_of in votes_of(rows).items():
        few = alone = tied = 0
        leads, rights = [], []
        for answers in items_of.values():
            sizes = {answer: len(many) for answer, many in answers.items()}
            if sum(sizes.values()) < 3:
                few += 1
                continue
            leaders = [answer for answer, n in sizes.items() if n == max(sizes.values())]
            alone, tied = alone + (len(leaders) == 1), tied + (len(leaders) > 1)
            leads.append(max(sizes.values()) / sum(sizes.values()))
            if answers[leaders[0]][0] is not None:
                rights.append(sum(answers[answer][0] for answer in leaders) / len(leaders))
        means = (pytest.approx(sum(many) / len(many)) if many else None for many in (leads, rights))
        expected[cell] = (len(items_of), few, alone, tied, *means)
    records = record_set(rows)
    found = {
        (row["task"], row["condition"]): (
            *(row[name] for name in COUNTS),
            *(row[name] and row[name].value for name in (LEAD, RIGHT)),
        )
        for row in named_rows(majority_table(records, groups(records)))
    }
    assert found == expected


@pytest.mark.slow
@settings(max_examples=8)
@given(draw=st.randoms(use_true_random=False), items=st.integers(1, 6), samples=st.integers(2, 5))
def test_one_of_k_is_right_as_often_as_in_all_subsets(draw, items, samples):
    rows = random_rows(draw, items, samples)
    records = record_set(rows)
    for row in named_rows(repeated_table(records, groups(records), samples)):
        outputs, answered = defaultdict(list), defaultdict(list)
        for each in rows:
            if (each["task"], each["condition"]) == (row["task"], row["condition"]) and each["keyed"]:
                outputs[each["item_id"]].append(bool(each["correct"]))
                answered[each["item_id"]] += [each["correct"]] if each["answer"] is not None else []
        for name, of, number in (("pass@k", answered, "items"), ("yield@k", outputs, "items of yield")):
            passed = []
            for verdicts in of.values():
                subsets = list(combinations(verdicts, row["k"]))
                passed += [sum(map(any, subsets)) / len(subsets)] if subsets else []
            assert row[number] == len(passed)
            assert (row[name] and row[name].value) == (
                pytest.approx(sum(passed) / len(passed), abs=1e-12) if passed else None
            )


def test_k_is_2_5_10_and_all_samples():
    records = record_set([row for number in range(2) for row in said("BABABAB", f"q{number}")])
    assert [row["k"] for row in named_rows(repeated_table(records, groups(records), 7))] == [2, 5, 7]
    assert Counter(row["left out"] for row in named_rows(repeated_table(records, groups(records), 12))) == {
        0: 2,
        2: 2,
    }


@pytest.mark.slow
def test_an_item_may_have_any_number_of_outputs_that_a_study_has():
    some = said("A" * 40_000 + "B" * 30_000 + "-" * 10)
    assert majorities(some) == [(1, 0, 1, 0, 4 / 7, 0)]


def test_more_outputs_of_an_item_than_bits_can_hold_are_refused():
    with pytest.raises(UsageError, match="fewer than 1,048,576 outputs of an item in a group"):
        _shift(2**20)
    assert _shift(2**20 - 1) == 2**20
