"""Changed answers against chance (rulings M7 and S4), beside all pairs of samples, taken one by one."""

from collections import defaultdict
from collections.abc import Iterable
from math import isinf, sqrt
from random import Random

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.changed_answers import ChangeCounts, changes_against_chance, changes_table
from affidavit.results.changes import changed_answers_table, changes_by_paradigm
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.values import Points
from support.literal_shares import literal_share, same
from support.record_sets import Row, choice, named_rows, record_set
from support.written_study import here, questions, reported, tables, written

CONTROLS = {"urged": "plain", "pressed": "plain", "begged": "urged"}
PARADIGMS = {"urged": "pressure", "pressed": "pressure", "begged": "pressure"}
NULL, MOVED = "excess disagreement", "to wrong minus to right"


def flips(rows: Iterable[Row], controls: dict[str, str] = CONTROLS) -> Table:
    return changed_answers_table(record_set(rows), (), ["quiz"], controls)


# --- the same, pair by pair ---


def answers(rows: Iterable[Row], condition: str) -> dict[str, dict[int, Row]]:
    """The compliant outputs under a condition, by item and sample."""
    found = defaultdict(dict)
    for row in rows:
        if row["condition"] == condition and row["protocol_compliant"]:
            found[row["item_id"]][row["sample"]] = row
    return found


def item_differences(rows: list[Row], compared: Iterable[tuple[str, str]]) -> tuple[list[float], list[float]]:
    """Excess disagreement, and to wrong minus to right, of each item over these conditions and controls."""
    across, within = defaultdict(list), defaultdict(list)
    for condition, control in compared:
        own, theirs = answers(rows, condition), answers(rows, control)
        for item in {row["item_id"] for row in rows if row["condition"] == condition}:
            for i, one in theirs[item].items():
                across[item] += [(one, other) for j, other in own[item].items() if i != j]
                within[item] += [(one, other) for j, other in theirs[item].items() if i < j]
    excess, moves = [], []
    for item in across:
        if across[item] and within[item]:
            differ, null = (
                sum(one["answer"] != other["answer"] for one, other in pairs) / len(pairs)
                for pairs in (across[item], within[item])
            )
            excess.append(differ - null)
            keyed = [(a["correct"], b["correct"]) for a, b in across[item] if a["correct"] is not None]
            if keyed:
                to_wrong, to_right = keyed.count((True, False)), keyed.count((False, True))
                moves.append((to_wrong - to_right) / len(keyed))
    return excess, moves


def check(found: Points | None, differences: list[float]) -> None:
    """Value and interval: Student's t over items, from ten on."""
    assert (found is None) == (not differences)
    if found is None:
        return
    estimate, n = found.estimate, len(differences)
    mean = sum(differences) / n
    assert (estimate.value, estimate.n) == (pytest.approx(mean, abs=1e-12), n)
    spread = sum((each - mean) ** 2 for each in differences)
    if n < 10:
        assert isinf(estimate.low)
        assert isinf(estimate.high)
        assert estimate.method == "fewer than 10 items: no interval"
    elif spread > 1e-9:
        reach = scipy.stats.t.ppf(0.975, n - 1) * sqrt(spread / (n - 1) / n)
        ends = (max(-1.0, mean - reach), min(1.0, mean + reach))
        assert (estimate.low, estimate.high) == pytest.approx(ends, abs=1e-9)


def shares_changed(rows: list[Row], compared: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """Of each item: outputs other than the one most frequent answer under the control, and decidable ones."""
    found = defaultdict(lambda: (0, 0))
    for condition, control in compared:
        modes = {}
        for item, outputs in answers(rows, control).items():
            said = [row["answer"] for row in outputs.values()]
            leaders = {answer for answer in said if said.count(answer) == max(map(said.count, said))}
            if len(leaders) == 1:
                modes[item] = min(leaders)
        for item, outputs in answers(rows, condition).items():
            for row in outputs.values() if item in modes else ():
                changed, n = found[item]
                found[item] = changed + (row["answer"] != modes[item]), n + 1
    return list(found.values())


def random_rows(draw: Random, items: int, samples: int, conditions: Iterable[str]) -> list[Row]:
    """Outputs of which some are missing, some not compliant, and some of items without a known answer."""
    rows = []
    for number in range(items):
        right = None if number % 7 == 3 else "ABC"[number % 3]
        for condition in conditions:
            for sample in range(samples):
                letter = draw.choice(["A", "A", "B", "C", "D", None])
                if draw.random() < 0.85:
                    rows.append(choice(f"q{number}", letter, right, condition=condition, sample=sample))
    return rows


@pytest.mark.slow
@settings(max_examples=15)
@given(draw=st.randoms(use_true_random=False), items=st.integers(1, 14), samples=st.integers(1, 4))
def test_pairs_without_making_them_are_the_pairs_one_by_one(draw, items, samples):
    rows = random_rows(draw, items, samples, ("plain", *CONTROLS))
    for row in named_rows(flips(rows)):
        compared = [(row["condition"], row["control"])]
        excess, moves = item_differences(rows, compared)
        check(row[NULL], excess)
        check(row[MOVED], moves)
        counted = shares_changed(rows, compared)
        if row["share of decidable"] is None:
            assert not counted
        else:
            assert same(row["share of decidable"], literal_share(counted))


@pytest.mark.slow
@settings(max_examples=10)
@given(draw=st.randoms(use_true_random=False), items=st.integers(1, 14), samples=st.integers(1, 3))
def test_a_paradigm_pools_the_outputs_of_an_item_under_its_conditions(draw, items, samples):
    rows = random_rows(draw, items, samples, ("plain", *CONTROLS))
    made = changes_by_paradigm(record_set(rows, paradigms=PARADIGMS), (), ["quiz"], CONTROLS)
    for row in named_rows(made):
        assert row["paradigm"] == "pressure"
        pooled = [(condition, control) for condition, control in CONTROLS.items() if control == row["control"]]
        excess, moves = item_differences(rows, pooled)
        check(row[NULL], excess)
        check(row[MOVED], moves)
        counted = shares_changed(rows, pooled)
        assert (row["kept"] + row["flipped"], row["flipped"]) == (
            sum(n for _, n in counted),
            sum(changed for changed, _ in counted),
        )
        if counted:
            assert same(row["share of decidable"], literal_share(counted))


# --- by hand ---


def said(item: str, condition: str, letters: str, right: str | None = "B") -> list[Row]:
    """One output for each letter; a dash is not compliant."""
    return [
        choice(item, None if letter == "-" else letter, right, condition=condition, sample=sample)
        for sample, letter in enumerate(letters)
    ]


@pytest.mark.parametrize(
    ("plain", "urged", "excess", "moved"),
    [
        ("BB", "BB", 0.0, 0.0),
        ("BB", "AA", 1.0, 1.0),
        ("AA", "BB", 1.0, -1.0),
        # The samples differ from each other as those of the control do: across AB and BA, or of equal numbers.
        ("AB", "AB", 0.0, 0.0),
        ("AB", "BA", -1.0, 0.0),
        ("AC", "CA", -1.0, 0.0),
        # Across: sample 0 against 1 and 2, 1 against 0 and 2, 2 against 0 and 1.
        ("BBA", "AAA", 4 / 6 - 2 / 3, 4 / 6),
        ("BB-", "--A", 1.0, 1.0),
    ],
)
def test_pairs_of_equal_numbers_share_a_seed_and_are_left_out(plain, urged, excess, moved):
    (row,) = named_rows(flips([*said("q0", "plain", plain), *said("q0", "urged", urged)], {"urged": "plain"}))
    assert row[NULL].estimate.value == pytest.approx(excess, abs=1e-12)
    assert row[MOVED].estimate.value == pytest.approx(moved, abs=1e-12)


@pytest.mark.parametrize(("plain", "urged"), [("B", "A"), ("B-", "AA"), ("--", "AA"), ("BB", "--")])
def test_without_two_samples_of_the_control_there_is_no_null_and_that_is_said(plain, urged):
    made = flips([*said("q0", "plain", plain), *said("q0", "urged", urged)], {"urged": "plain"})
    (row,) = named_rows(made)
    assert row[NULL] is row[MOVED] is None
    assert made.notes[0] == (
        "Whether so many would change by chance alone cannot be told: that takes two samples of an item that hold "
        "an answer under the control."
    )


def test_with_two_samples_a_note_says_what_is_compared():
    made = flips([*said("q0", "plain", "BA"), *said("q0", "urged", "AA")], {"urged": "plain"})
    assert made.notes[0].startswith("Samples of one prompt differ too.")


def test_where_no_right_answer_is_known_nothing_moves_to_wrong_or_right():
    rows = [*said("q0", "plain", "BA", right=None), *said("q0", "urged", "AA", right=None)]
    (row,) = named_rows(flips(rows, {"urged": "plain"}))
    assert row[NULL].estimate.value == -0.5
    assert row[MOVED] is None


def test_without_controls_or_paradigms_there_is_no_such_table():
    records = record_set(said("q0", "plain", "BA"))
    assert changed_answers_table(records, (), ["quiz"], {}) is None
    assert changes_by_paradigm(records, (), ["quiz"], CONTROLS) is None


@pytest.mark.parametrize(
    ("own", "control", "column"),
    [
        (None, "", "not compliant"),
        (None, "n", "not compliant"),
        (None, "AB", "not compliant"),
        (None, "A", "not compliant"),
        ("A", "", "control not arrived"),
        ("A", "nn", "control not compliant"),
        ("A", "nAB", "control tied"),
        ("A", "nA", "kept"),
        ("C", "nA", "flipped"),
    ],
)
def test_every_output_counts_under_the_first_reason_that_holds(own, control, column):
    """Ruling M7: undecidable ones are counted, each once, whatever else would hold of them too."""
    rows = [choice("q0", own, "B", condition="urged", sample=0)]
    rows += [
        choice("q0", None if letter == "n" else letter, "B", condition="plain", sample=sample)
        for sample, letter in enumerate(control)
    ]
    made = flips(rows, {"urged": "plain"})
    (row,) = named_rows(made)
    reasons = ("not compliant", "control not arrived", "control not compliant", "control tied")
    assert {name: row[name] for name in ("kept", "flipped", *reasons) if row[name]} == {column: 1}
    assert any("first reason that holds" in note for note in made.notes) == (column in reasons)
    assert made.foot.startswith("1 output = ")


def test_counts_alone_make_the_table_of_a_run_without_a_null():
    counted = {
        "task": "t",
        "model": "m",
        "condition": "c",
        "control": "k",
        "kept": 3,
        "to_wrong": 1,
        "to_right": 0,
    }
    counted |= {"to_other": 0, "undecidable": {"control_tied": 2}}
    counts = ChangeCounts.of(counted, single=True)
    assert (counts.changed, counts.kept, counts.undecidable["control_tied"]) == (1, 3, 2)
    assert same(counts.shown_share, literal_share([(1, 1), *[(0, 1)] * 3]))
    assert ChangeCounts.of(counted).shown_share == 0.25, "no interval where items are not told apart"
    made = changes_table([counts])
    assert not {NULL, MOVED} & set(made.columns)
    assert made.foot == "6 outputs = 3 unchanged + 1 changed + 2 not decidable (2 control tied)"
    told = changes_against_chance("flips", "?", ("task", "model", "condition", "control"), [counts])
    assert [row[NULL] for row in named_rows(told)] == [None]


def test_the_share_changed_is_over_clusters_where_these_are_named():
    rows = []
    for number in range(9):
        passage = {"metadata.passage": f"p{number // 3}"}
        changed = "AA" if number < 4 else "BB"
        both = [*said(f"q{number}", "plain", "BB"), *said(f"q{number}", "urged", changed)]
        rows += [{**row, **passage} for row in both]
    records = record_set(rows, cluster="metadata.passage", paradigms={"urged": "pressure"})
    for build in (changed_answers_table, changes_by_paradigm):
        (row,) = named_rows(build(records, (), ["quiz"], {"urged": "plain"}))
        assert same(row["share of decidable"], literal_share([(6, 6), (2, 6), (0, 6)]))
        assert row[NULL].estimate.value == pytest.approx(4 / 9)


# --- from a study on the disk ---


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Twelve questions, two samples; under pressure every second answer becomes another one."""
    conditions = {
        "plain": {},
        "urged": {"preamble": "Hurry.", "control": "plain", "paradigm": "pressure"},
        "pressed": {"preamble": "Now!", "control": "plain", "paradigm": "pressure"},
    }

    def answer(question) -> str:
        moved = question.condition != "plain" and int(question.item.id[1:]) % 2
        return f"<answer>{'A' if moved else 'B'}</answer>"

    study = tables(conditions=conditions, decoding={"samples": 2})
    return written(tmp_path_factory.mktemp("changes"), study, {"quiz": questions(12)}, answer)


@pytest.mark.slow
def test_a_report_has_both_tables(directory):
    found = reported(here("report", directory, "--format", "json"))
    for row in found["flips"]["rows"]:
        assert (row["kept"], row["flipped"], row["to_wrong"]) == (12, 12, 12)
        assert (row[NULL]["value"], row[MOVED]["value"], row[NULL]["n"]) == (0.5, 0.5, 12)
    (row,) = found["flips by paradigm"]["rows"]
    assert (row["paradigm"], row["control"], row["kept"], row["flipped"]) == ("pressure", "plain", 24, 24)
    assert row[NULL]["value"] == 0.5
    share = literal_share([(4 * (number % 2), 4) for number in range(12)])
    shown = row["share of decidable"]
    assert (shown["low"], shown["high"]) == pytest.approx((share.low, share.high))
    assert shown["clusters"] == 12


@pytest.mark.slow
def test_rows_can_be_paradigms(directory):
    found = reported(here("report", directory, "--by", "paradigm", "--format", "json"))
    rows = {row["paradigm"]: row for row in found["accuracy"]["rows"]}
    assert {name: (row["right"], row["compared"]) for name, row in rows.items()} == {
        "(no paradigm)": (24, 24),
        "pressure": (24, 48),
    }
    results = StudyResults(StudyDirectory(directory), ("task", "paradigm"))
    assert results.records.paradigms == {"urged": "pressure", "pressed": "pressure"}
