"""Multiple choice after reasoning over a column says of every text what it says of the text alone."""

import json
import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.column_diagnoses import Diagnoses, Part
from affidavit.contracts.deviation import Deviation, ReasonedDeviation
from affidavit.contracts.mcqa_reasoned import ReasonedChoice
from affidavit.contracts.reasoned_columns import read_reasoned
from support.strategies import WHITESPACE, choice_texts

CASES = Path(__file__).parents[1] / "tables" / "mcqa_reasoned.jsonl"
PIECES = (
    "<answer>", "</answer>", "<ANSWER>", "</Answer>", "<answer>A</answer>", "<answer>B</answer>", "<answer>B</answer>",
    "<answer>X</answer>", "<answer>E</answer>", "<answer> B </answer>", "<think>", "</think>", "</think>", "A", "B", "b",
    "E", "X", "(", ")", ".", ":", "*", "**", "`", " ", "\n", "ſ", "é", "漢", "😀", "\0", "\u200b", "\x1c", "So it is ",
)  # fmt: skip
texts = choice_texts.map(lambda text: text.encode("utf-8", "replace").decode())


def by_rows(raws: list[str | None], options: str) -> list[tuple]:
    contract = ReasonedChoice(options)
    readings = [None if raw is None else contract.read(raw) for raw in raws]
    return [
        (None,) * 5 if reading is None
        else (reading.protocol_compliant, reading.extracted_answer, reading.deviation, *(reading.answer_span or (None, None)))
        for reading in readings
    ]  # fmt: skip


def random_texts(count: int) -> list[str | None]:
    """Texts made of the parts that the contract looks for, a missing one now and then; the same every time."""
    chance = random.Random(8)  # noqa: S311
    return [
        None if chance.random() < 0.01 else "".join(chance.choices(PIECES, k=chance.randrange(10)))
        for _ in range(count)
    ]


@pytest.mark.slow
def test_a_column_says_what_its_rows_say_of_twenty_thousand_texts():
    raws = random_texts(20_000)
    found = read_reasoned(pl.Series(raws, dtype=pl.String), "A-D")
    assert found.rows() == by_rows(raws, "A-D")
    assert set(found["deviation"].drop_nulls()) == set(ReasonedDeviation)


@pytest.mark.parametrize("options", ["A-B", "A-W"])
def test_other_option_sets_in_columns(options):
    raws = random_texts(2_000)
    assert read_reasoned(pl.Series(raws, dtype=pl.String), options).rows() == by_rows(raws, options)


@pytest.mark.slow
@given(st.lists(st.none() | texts, max_size=8), st.sampled_from(["A-B", "A-D", "A-W"]))
def test_a_column_says_what_its_rows_say(raws, options):
    assert read_reasoned(pl.Series(raws, dtype=pl.String), options).rows() == by_rows(raws, options)


def test_every_case_of_the_table_is_read_alike_in_columns():
    lines = map(json.loads, CASES.read_text().splitlines())
    raws = [case["raw"] for case in lines if "options" not in case and "\\ud8" not in json.dumps(case["raw"])]
    found = read_reasoned(pl.Series(raws), "A-D")
    assert found.rows() == by_rows(raws, "A-D")
    assert set(found["deviation"].drop_nulls()) == set(ReasonedDeviation)


@pytest.mark.parametrize("raws", [[], [None], [""], ["</think>"], ["<answer>A</answer>"]])
def test_columns_of_nothing_or_of_one_text(raws):
    assert read_reasoned(pl.Series(raws, dtype=pl.String), "A-D").rows() == by_rows(raws, "A-D")


@pytest.mark.parametrize("blank", WHITESPACE)
def test_whitespace_is_what_python_says_it_is(blank):
    """Ruling M1."""
    raw = f"{blank}<answer>A</answer>{blank}"
    assert read_reasoned(pl.Series([raw]), "A-D").row(0)[1:] == ("A", None, 9, 10)


def test_a_diagnosis_is_known_by_its_name_in_either_list():
    found = Diagnoses(2, ReasonedDeviation)
    found.settle(Part(pl.Series([1], dtype=pl.UInt32), pl.Series(["x"])), Deviation.NO_TAG)
    assert found.names().to_list() == [None, "no_tag"]
