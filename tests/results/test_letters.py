"""Letters against the key, and what guessing gives, beside scipy and a count item by item."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import pytest
import scipy.stats

from affidavit.results.choices import chance_table, letter_table
from affidavit.results.counting import groups
from affidavit.results.groups import CELL
from affidavit.results.table import Table
from affidavit.results.values import Chance
from support.literal_shares import literal_share, same
from support.record_sets import Row, choice, named_rows, record_set

LETTERS = "ABCD"
AGAINST = "against the key"


def letters(rows: Sequence[Row], by: Sequence[str] = CELL, cluster: str = "item_id") -> Table | None:
    records = record_set(rows, by=by, cluster=cluster)
    return letter_table(records, groups(records), ["quiz"], {})


def chance(rows: Sequence[Row], by: Sequence[str] = CELL) -> Table | None:
    records = record_set(rows, by=by)
    return chance_table(records, groups(records), ["quiz"], {})


def random_rows(seed: int, items: int, samples: int) -> list[Row]:
    """Answers of which B is the favourite; some are not compliant, some of items without a known answer."""
    draw, rows = Random(seed), []  # noqa: S311
    for number in range(items):
        right = None if number % 9 == 8 else LETTERS[draw.randrange(4)]
        for sample in range(samples):
            letter = draw.choice([*LETTERS, "B", "B", right, right, None])
            passage = {"metadata.passage": f"p{number // 2}"}
            rows.append(choice(f"q{number}", letter, right, sample=sample, **passage))
    return rows


def differences(rows: Sequence[Row], letter: str, unit: str) -> list[float]:
    """Of each item: the share of outputs that choose the letter, less the share whose right answer it is."""
    given = defaultdict(list)
    for row in rows:
        if row["letter"] is not None and row["right_letter"] is not None:
            given[row[unit]].append((row["letter"] == letter) - (row["right_letter"] == letter))
    return [sum(each) / len(each) for each in given.values()]


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Holm, step by step: the least times m, the next times m − 1, never less than one before, at most 1."""
    found, before = [0.0] * len(p_values), 0.0
    for step, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        before = max(before, min(1.0, p_values[at] * (len(p_values) - step)))
        found[at] = before
    return found


def levels(p_values: Sequence[float]) -> list[float]:
    """The level of each test by Holm, step by step: after the first that fails all have its level."""
    found, failed = [0.0] * len(p_values), None
    for step, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        level = 0.05 / (len(p_values) - step)
        if failed is None and p_values[at] > level:
            failed = level
        found[at] = failed or level
    return found


@pytest.mark.parametrize("unit", ["item_id", "metadata.passage"])
@pytest.mark.parametrize(("seed", "items", "samples"), [(1, 30, 1), (2, 26, 3), (3, 60, 2), (4, 40, 5)])
def test_a_letter_against_the_key_is_a_t_test_over_items(unit, seed, items, samples):
    rows = random_rows(seed, items, samples)
    found = {row["letter"]: row for row in named_rows(letters(rows, cluster=unit))}
    assert list(found) == list(LETTERS)
    tested = [scipy.stats.ttest_1samp(differences(rows, letter, unit), 0) for letter in LETTERS]
    p_values = [test.pvalue for test in tested]
    steps = zip(LETTERS, tested, adjusted(p_values), levels(p_values), strict=True)
    for letter, test, holm, level in steps:
        row, ends = found[letter], test.confidence_interval(1 - level)
        of_units = differences(rows, letter, unit)
        assert row[AGAINST].estimate.value == pytest.approx(sum(of_units) / len(of_units), abs=1e-12)
        assert row[AGAINST].estimate.n == len(of_units)
        over = "items" if unit == "item_id" else "clusters"
        assert row[AGAINST].estimate.method == f"t {100 * (1 - level):.3g}% over {over}"
        assert (row[AGAINST].estimate.low, row[AGAINST].estimate.high) == pytest.approx((ends.low, ends.high))
        assert (row["p"].value, row["p (Holm)"].value) == pytest.approx((test.pvalue, holm))


@pytest.mark.parametrize("unit", ["item_id", "metadata.passage"])
def test_share_and_recall_of_a_letter_have_the_interval_of_their_items(unit):
    rows = [row for row in random_rows(5, 20, 3) if row["letter"] is not None]
    for found in named_rows(letters(rows, cluster=unit)):
        chosen, there = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0])
        for row in rows:
            mine = row["letter"] == found["letter"]
            chosen[row[unit]][0] += mine
            chosen[row[unit]][1] += 1
            if row["right_letter"] == found["letter"]:
                there[row[unit]][0] += mine
                there[row[unit]][1] += 1
        assert same(found["share"], literal_share([tuple(each) for each in chosen.values()]))
        assert same(found["recall"], literal_share([tuple(each) for each in there.values()]))
        assert found["chosen"] == sum(each[0] for each in chosen.values())
        assert found["right there"] == sum(each[1] for each in there.values())


def test_twelve_items_by_hand():
    """The key stands at A, B, C and D three times each; the model says A nine times and is right at three."""
    keys, said = "AAABBBCCCDDD", "AAAAAABCAAAD"
    rows = [choice(f"q{n}", letter, key) for n, (letter, key) in enumerate(zip(said, keys, strict=True))]
    found = {row["letter"]: row for row in named_rows(letters(rows))}
    assert {letter: (row["chosen"], row["right there"]) for letter, row in found.items()} == {
        "A": (9, 3), "B": (1, 3), "C": (1, 3), "D": (1, 3),
    }  # fmt: skip
    values = {letter: row[AGAINST].estimate.value for letter, row in found.items()}
    assert values == pytest.approx({"A": 6 / 12, "B": -2 / 12, "C": -2 / 12, "D": -2 / 12})
    p = scipy.stats.ttest_1samp([0] * 6 + [1] * 6, 0).pvalue
    assert found["A"]["p"].value == pytest.approx(p)
    assert found["A"]["p (Holm)"].value == pytest.approx(4 * p)


@pytest.mark.slow
def test_without_enough_items_or_a_key_nothing_is_tested():
    few = named_rows(letters([choice(f"q{n}", "AB"[n % 2], "B") for n in range(9)]))
    assert [(row["letter"], row["p"], row["p (Holm)"]) for row in few] == [("A", None, None), ("B", None, None)]
    assert few[0][AGAINST].estimate.method == "fewer than 10 items: no interval"
    (row,) = named_rows(letters([choice(f"q{n}", "A", None) for n in range(12)]))
    assert (row["chosen"], row["right there"], row["recall"], row[AGAINST], row["p"]) == (12, 0, None, None, None)
    assert letters([choice("q0", None)]) is None


def test_a_letter_that_never_differs_is_one_of_the_family():
    """C is chosen where it stands, and only there; A and B are mixed up."""
    keys, said = "AABBCCAABBCC", "ABBBCCABBBCC"
    rows = [choice(f"q{n}", letter, key) for n, (letter, key) in enumerate(zip(said, keys, strict=True))]
    found = {row["letter"]: row for row in named_rows(letters(rows))}
    assert (found["C"][AGAINST].estimate.value, found["C"]["p"], found["C"]["p (Holm)"]) == (
        0.0,
        Chance(1),
        Chance(1),
    )
    p = scipy.stats.ttest_1samp([1, 1, *[0] * 10], 0).pvalue
    assert found["A"]["p"] == Chance(pytest.approx(p))
    assert found["B"]["p (Holm)"].value == pytest.approx(3 * p), "of three letters, whatever they show (S3)"


def test_the_whole_table_is_one_family():
    """Ruling S3."""
    rows = [
        {**row, "condition": condition}
        for condition, seed in (("plain", 6), ("urged", 7))
        for row in random_rows(seed, 20, 2)
    ]
    found = named_rows(letters(rows))
    assert [row["p (Holm)"].value for row in found] == pytest.approx(adjusted([row["p"].value for row in found]))
    alone = named_rows(letters([row for row in rows if row["condition"] == "plain"]))
    assert [row["p"] for row in found[:4]] == [row["p"] for row in alone]


# --- what guessing gives ---


def test_the_chance_level_is_the_mean_of_one_over_the_options():
    sizes = {"A-B": 2, "A-D": 3, "A-E": 4, "A-W": 1}
    rows = [
        choice(f"{options} {number}", "AB"[sample], "B", options=options, sample=sample)
        for options, count in sizes.items()
        for number in range(count)
        for sample in range(2)
    ]
    rows += [choice("of nobody", "A", None, options="A-C")]
    (row,) = named_rows(chance(rows))
    assert row["chance level"] == pytest.approx((2 / 2 + 3 / 4 + 4 / 5 + 1 / 23) / 10)
    assert (row["items"], row["options"]) == (10, "2, 4, 5, 23")
    assert same(row["accuracy over compliant"], literal_share([(1, 2)] * 10))


def test_an_item_that_was_asked_under_two_conditions_is_one_item_and_two_guesses():
    rows = [choice("q0", "B", options="A-B", condition=name) for name in ("plain", "urged")]
    rows += [choice("q1", "B", options="A-D")]
    (row,) = named_rows(chance(rows, by=("task",)))
    assert (row["items"], row["chance level"]) == (2, pytest.approx((2 / 2 + 1 / 4) / 3))


def test_a_guesser_is_compared_with_the_chance_of_what_was_answered():
    """Who answers only where there are two options is right half of the time, and no better than chance."""
    rows = [choice(f"two {n}", "AB"[n % 2], "B", options="A-B") for n in range(40)]
    rows += [choice(f"ten {n}", None, "B", options="A-J") for n in range(40)]
    (row,) = named_rows(chance(rows))
    assert (row["items"], row["options"], row["chance level"]) == (40, "2", 0.5)
    assert row["against chance"] == "interval includes chance"


@pytest.mark.parametrize(
    ("right", "words"),
    [(19, "interval above chance"), (5, "interval includes chance"), (0, "interval below chance"), (None, None)],
)
def test_beside_the_chance_level_stands_where_the_interval_lies(right, words):
    rows = [choice(f"q{n}", None if right is None else "BA"[n >= right], "B") for n in range(20)]
    (row,) = named_rows(chance(rows))
    assert row["against chance"] == words


def test_accuracy_beside_chance_is_of_the_tasks_that_were_guessed_at():
    """However records are grouped, another task's answers are no guesses among these options."""
    rows = [choice(f"q{n}", "A", "B") for n in range(20)]
    others = [{**choice(f"h{n}", "B", "B"), "task": "other"} for n in range(20)]
    (row,) = named_rows(chance([*rows, *others], by=("model",)))
    assert same(row["accuracy over compliant"], literal_share([(0, 1)] * 20))
    assert row["against chance"] == "interval below chance"


def test_without_an_answer_the_level_is_over_all_outputs_and_without_keys_there_is_none():
    (row,) = named_rows(chance([choice("q0", None), choice("q1", None, options="A-B")]))
    assert (row["items"], row["chance level"], row["accuracy over compliant"]) == (2, 0.375, None)
    assert chance([choice("q0", "A", None)]) is None
