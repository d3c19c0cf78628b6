"""How far the figures of a task lie apart over its conditions, beside minimum and maximum by hand."""

from collections.abc import Sequence

import pytest

from affidavit.results.counting import groups
from affidavit.results.groups import CELL
from affidavit.results.sensitivity import range_table
from affidavit.results.table import Table
from affidavit.statistics.shares import wilson
from support.record_sets import Row, choice, named_rows, record_set


def said(condition: str, letters: str, model: str = "m", right: str | None = "B") -> list[Row]:
    """An output of each item; a dash is not compliant."""
    return [
        choice(f"q{number}", None if letter == "-" else letter, right, condition=condition, model=model)
        for number, letter in enumerate(letters)
    ]


def ranges(rows: Sequence[Row], by: Sequence[str] = CELL) -> Table | None:
    records = record_set(rows, by=by)
    return range_table(records, groups(records))


THREE = [*said("plain", "BBBB-"), *said("urged", "BAA--"), *said("calm", "BBA--")]


def test_the_lowest_the_highest_and_what_lies_between():
    compliance, accuracy = named_rows(ranges(THREE))
    assert (compliance["measure"], accuracy["measure"]) == ("compliance", "accuracy over compliant")
    assert compliance["conditions"] == accuracy["conditions"] == 3
    # Of two that are equally low, the first by name.
    assert (compliance["lowest under"], compliance["lowest"]) == ("calm", wilson(3, 5))
    assert (compliance["highest under"], compliance["highest"]) == ("plain", wilson(4, 5))
    assert compliance["range"] == pytest.approx(1 / 5)
    assert (accuracy["lowest under"], accuracy["lowest"]) == ("urged", wilson(1, 3))
    assert (accuracy["highest under"], accuracy["highest"]) == ("plain", wilson(4, 4))
    assert accuracy["range"] == pytest.approx(2 / 3)


def test_each_model_has_a_range_of_its_own():
    rows = [*THREE, *said("plain", "AAAAA", "n"), *said("urged", "AAAAB", "n")]
    found = {(row["model"], row["measure"]): row["range"] for row in named_rows(ranges(rows))}
    assert found == pytest.approx(
        {
            ("m", "compliance"): 0.2,
            ("m", "accuracy over compliant"): 2 / 3,
            ("n", "compliance"): 0.0,
            ("n", "accuracy over compliant"): 0.2,
        }
    )


def test_conditions_without_a_figure_have_no_place_in_a_range():
    rows = [*said("plain", "BB"), *said("urged", "--"), *said("calm", "AB")]
    found = {row["measure"]: (row["conditions"], row["range"]) for row in named_rows(ranges(rows))}
    assert found == {"compliance": (3, 1.0), "accuracy over compliant": (2, 0.5)}
    unknown = [*said("plain", "BB", right=None), *said("urged", "B-", right=None)]
    assert [row["measure"] for row in named_rows(ranges(unknown))] == ["compliance"]


@pytest.mark.parametrize(
    ("rows", "by"),
    [
        (said("plain", "BA"), CELL),
        ([*said("plain", "BA"), *said("urged", "BA", "n")], CELL),
        (THREE, ("task", "model")),
        (THREE, ("condition",)),
        ([], CELL),
    ],
)
def test_with_fewer_than_two_conditions_to_compare_there_is_none(rows, by):
    assert ranges(rows, by) is None


@pytest.mark.parametrize("by", [("condition", "task", "model"), ("model", "condition", "task")])
def test_the_order_of_names_changes_no_figure(by):
    made = ranges(THREE, by)
    assert made.columns[:2] == tuple(name for name in by if name != "condition")
    assert [row["range"] for row in named_rows(made)] == [row["range"] for row in named_rows(ranges(THREE))]
