"""The solve rate (ruling G12), beside a count by hand and one output by output."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.results.counting import groups
from affidavit.results.groups import CELL
from affidavit.results.page.headline import Compared, headline
from affidavit.results.solving import ALL, solve_table
from affidavit.results.table import Table
from affidavit.results.tables import accuracy_table, all_tables
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson
from support.literal_shares import literal_share, same
from support.record_sets import Row, hand, named_rows, record_set
from support.written_study import here, reported, tables, written

TEXTS = {
    "block": "So:\n<answer>(13-9)*(10-4)</answer>",
    "block, wrong": "<answer>4+9+10+13</answer>",
    "block, no expression": "<answer>I give up</answer>",
    "line": "Output: (10-4)*(13-9)",
    "line, wrong": "Output: 4*9*10*13",
    "scan": "Let me see.\n(13-9)*(10-4)",
    "scan, wrong": "It may be\n4+9+10+13",
    "nothing": "I give up.",
    "empty": "",
}
SHARES = ("solve rate", "share of outputs", "with an answer", "accuracy over answers", "marker rate")


def solved(rows: Iterable[Row], by: Sequence[str] = CELL, cluster: str = "item_id") -> Table | None:
    records = record_set(rows, by=by, cluster=cluster)
    return solve_table(records, groups(records), ["hands"], {})


def by_method(table: Table | None) -> dict[str, Row]:
    return {row["extraction_method"]: row for row in named_rows(table)}


# --- by hand ---

ONCE = ["block", "block", "block, wrong", "line", "line, wrong", "scan", "scan", "scan, wrong", "nothing", "empty"]
EXPECTED = {
    ALL: (10, 5, (5, 10), (10, 10), (8, 10), (5, 8), (5, 10)),
    "answer_block": (3, 2, (2, 10), (3, 10), None, (2, 3), None),
    "output_line": (2, 1, (1, 10), (2, 10), None, (1, 2), None),
    "fallback_bottom_scan": (3, 2, (2, 10), (3, 10), None, (2, 3), None),
    "empty": (2, 0, (0, 10), (2, 10), None, None, None),
}
"""Outputs, right ones, and the shares as right of how many."""


def test_ten_outputs_counted_by_hand():
    made = by_method(solved(hand(f"h{number}", TEXTS[kind]) for number, kind in enumerate(ONCE)))
    assert next(iter(made)) == ALL
    assert made.keys() == EXPECTED.keys()
    for method, (outputs, right, *shares) in EXPECTED.items():
        row = made[method]
        assert (row["outputs"], row["right"]) == (outputs, right)
        for name, counts in zip(SHARES, shares, strict=True):
            assert row[name] == (None if counts is None else wilson(*counts)), (method, name)


def test_a_marker_around_no_expression_is_an_answer_and_a_wrong_one():
    row = by_method(solved([hand("h0", TEXTS["block, no expression"]), hand("h1", TEXTS["scan"])]))[ALL]
    values = {name: row[name].value for name in SHARES}
    assert values == {
        "solve rate": 0.5, "share of outputs": 1, "with an answer": 1, "accuracy over answers": 0.5, "marker rate": 0.5,
    }  # fmt: skip


def test_what_did_not_arrive_or_was_not_read_is_in_no_figure():
    rows = [hand("h0", TEXTS["block"]), hand("h1", TEXTS["block, wrong"])]
    failed = {"task": "hands", "item_id": "h2", "kind": "failure", "failure": "server_error"}
    unread = {"task": "hands", "item_id": "h3", "unread": "ValueError"}
    assert solved([*rows, failed, unread]).rows == solved(rows).rows
    assert solved([failed, unread]) is None
    assert solved([]) is None


def without_hand(item: str, text: str, **more: object) -> Row:
    """An output of which nobody knows the hand."""
    return hand(item, text, correct=None, reason=None, keyed=False, **more)


def test_an_output_whose_hand_is_not_known_is_neither_solved_nor_unsolved():
    rows = [hand(f"h{number}", TEXTS[kind]) for number, kind in enumerate(ONCE)]
    unknown = [without_hand(f"u{number}", TEXTS[kind]) for number, kind in enumerate(ONCE[:4])]
    table = solved([*rows, *unknown])
    row = by_method(table)[ALL]
    assert (row["outputs"], row["right"]) == (14, 5)
    assert row["solve rate"] == wilson(5, 10)
    assert row["marker rate"] == wilson(9, 14), "of all outputs"
    assert by_method(table)["answer_block"]["solve rate"] == wilson(2, 10)
    assert table.notes == ("No hand is known for 4 of 14 outputs: the solve rate is over the others.",)


def test_where_no_hand_is_known_there_is_no_solve_rate():
    table = solved([without_hand(f"u{number}", TEXTS[kind]) for number, kind in enumerate(ONCE)])
    assert [row["solve rate"] for row in named_rows(table)] == [None] * 5
    assert "No hand is known for 10 of 10 outputs" in table.notes[0]
    records = record_set([without_hand("u0", TEXTS["scan"])])
    tables = {made.name: made for made in all_tables(records, groups(records), samples=1, controls={})}
    (summary,) = headline(tables, CELL, Compared())
    (answer,) = (each.answer for each in summary.answers if each.table == "solve rate")
    assert answer == "No hand is known for 1 of 1 output: nothing could be checked, and there is no solve rate."
    assert "not checked: no hand" in str(tables["expressions"])


def test_the_solve_rate_is_accuracy_over_all_outputs():
    rows = [
        hand(f"h{number}", TEXTS[kind], sample=sample) for number, kind in enumerate(ONCE) for sample in (0, 1)
    ]
    unread = {"task": "hands", "item_id": "h0", "sample": 2, "unread": "ValueError", "keyed": True}
    records = record_set([*rows, without_hand("u0", TEXTS["block"]), unread])
    (accuracy,) = named_rows(accuracy_table(records, groups(records)))
    solve = by_method(solve_table(records, groups(records), ["hands"], {}))
    assert solve[ALL]["solve rate"] == accuracy["yield"]
    assert solve.keys() == EXPECTED.keys()


@pytest.mark.slow
def test_a_study_of_ten_hands_says_the_same(tmp_path):
    items = [{"id": f"h{number}", "numbers": [4, 9, 10, 13]} for number in range(10)]
    study = tables(tasks={"quiz": None, "hands": {"contract": "game24", "items": "hands.jsonl"}})

    def answer(question) -> str:
        return TEXTS[ONCE[int(question.item.id[1:])]]

    directory = written(tmp_path, study, {"hands": items}, answer)
    found = reported(here("report", directory, "--format", "json"))
    rows = {row["extraction_method"]: row for row in found["solve rate"]["rows"]}
    assert rows.keys() == EXPECTED.keys()
    for method, (outputs, right, *shares) in EXPECTED.items():
        row = rows[method]
        values = [None if row[name] is None else row[name]["value"] for name in SHARES]
        assert (row["outputs"], row["right"]) == (outputs, right)
        assert values == [None if of is None else of[0] / of[1] for of in shares]
    (accuracy,) = found["accuracy"]["rows"]
    assert (accuracy["right"], accuracy["compared"]) == (5, 8), "of all methods, as in the solve rate"
    page = here("report", directory, "--format", "md").stdout.decode()
    assert "all methods" in page
    assert "no expression found" in page


# --- output by output ---


def clusters(part: Iterable[Row], of: Iterable[Row], unit: str) -> list[tuple[int, int]]:
    successes, sizes = (Counter(row[unit] for row in many) for many in (part, of))
    return [(successes[name], n) for name, n in sizes.items()]


def check(found: Estimate | None, counted: list[tuple[int, int]]) -> None:
    assert (found is None) == (not counted)
    assert found is None or same(found, literal_share(counted))


def check_method(row: Mapping, arrived: list[Row], unit: str) -> None:
    method = row["extraction_method"]
    own = [each for each in arrived if method in (ALL, each["extraction_method"])]
    right, answered = ([each for each in own if each[name]] for name in ("correct", "answer"))
    assert (row["outputs"], row["right"]) == (len(own), len(right))
    check(row["solve rate"], clusters(right, arrived, unit))
    check(row["share of outputs"], clusters(own, arrived, unit))
    check(row["accuracy over answers"], clusters(right, answered, unit))
    if method == ALL:
        check(row["with an answer"], clusters(answered, arrived, unit))
        marked = [each for each in arrived if each["extraction_method"] in ("answer_block", "output_line")]
        check(row["marker rate"], clusters(marked, arrived, unit))


def random_rows(draw: Random, items: int, samples: int) -> list[Row]:
    return [
        hand(
            f"h{number}", TEXTS[draw.choice(list(TEXTS))], sample=sample, **{"metadata.passage": f"p{number // 3}"}
        )
        for number in range(items)
        for sample in range(samples)
        if draw.random() < 0.8
    ]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["item_id", "metadata.passage"])
@settings(max_examples=10)
@given(draw=st.randoms(use_true_random=False), items=st.integers(1, 9), samples=st.integers(1, 4))
def test_every_figure_is_that_of_the_outputs_one_by_one(unit, draw, items, samples):
    rows = random_rows(draw, items, samples)
    made = by_method(solved(rows, cluster=unit))
    assert made.keys() == {each["extraction_method"] for each in rows} | ({ALL} if rows else set())
    for row in made.values():
        check_method(row, rows, unit)
    for name in ("outputs", "right"):
        assert sum(row[name] for method, row in made.items() if method != ALL) == (made[ALL][name] if made else 0)
