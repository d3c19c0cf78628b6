"""Multiple choice over a column says of every text what it says of the text alone, deviations too."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.choice_columns import read_choices
from affidavit.contracts.deviation import CLOSING, OPENING, Deviation
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.contracts.whitespace import WHITESPACE
from support.strategies import choice_texts

CASES = Path(__file__).parents[1] / "tables" / "mcqa.jsonl"
texts = choice_texts.map(lambda text: text.encode("utf-8", "replace").decode())


def by_rows(raws: list[str | None], options: str) -> list[tuple]:
    contract = MultipleChoice(options)
    readings = [None if raw is None else contract.read(raw) for raw in raws]
    return [
        (None, None, None) if reading is None
        else (reading.protocol_compliant, reading.extracted_answer, reading.deviation)
        for reading in readings
    ]  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.none() | texts, max_size=8), st.sampled_from(["A-B", "A-D", "A-W"]))
def test_a_column_says_what_its_rows_say(raws, options):
    assert read_choices(pl.Series(raws, dtype=pl.String), options).rows() == by_rows(raws, options)


def test_every_deviation_is_found_in_columns_too():
    lines = map(json.loads, CASES.read_text().splitlines())
    raws = [case["raw"] for case in lines if "raw" in case and "\\ud" not in json.dumps(case["raw"])]
    found = read_choices(pl.Series(raws), "A-D")
    assert found.rows() == by_rows(raws, "A-D")
    assert set(found["deviation"].drop_nulls()) == set(Deviation)


def test_deviations_can_be_left_out():
    raws = pl.Series([f"{OPENING}A{CLOSING}", "B", None])
    assert read_choices(raws, "A-D", deviations=False).rows() == [(True, "A"), (False, None), (None, None)]


@pytest.mark.parametrize("blank", WHITESPACE)
def test_whitespace_is_what_python_says_it_is(blank):
    """Ruling M1."""
    assert blank.isspace()
    assert read_choices(pl.Series([f"{blank}{OPENING}A{CLOSING}{blank}"]), "A-D")["extracted_answer"].item() == "A"
