"""Numbers over a column: every text gives what it gives alone, its place and its deviation too."""

import json
import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.contract import COMPLIANT
from affidavit.contracts.number import Number
from affidavit.contracts.number_columns import SCHEMA, read_numbers
from affidavit.contracts.number_deviation import NumberDeviation, NumberMethod
from support.strategies import LINE_BREAKS, NEARLY_WHITESPACE, WHITESPACE, number_texts

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "tables" / "number.jsonl").read_text().splitlines()
    if "\\ud800" not in line
]
CONTRACTS = [
    Number(),
    Number(marker="####"),
    Number(marker="Answer:", unit="$"),
    Number(marker="####", thousands="", sign=False, unit="km"),
    Number(decimal=",", thousands=".", unit="%"),
    Number(thousands=" ", unit="(a|b)*"),
]
PIECES = [
    "<answer>", "</answer>", "<answer>", "</answer>", "</think>", "<think>", "<ANSWER>", "</Answer>", "\\boxed{", "####",
    "Answer:", "answer:", "72", "1,072", "0.50", "-3", "+", "-", "$", "km", "%", " apples", "1.5", ",", ".", " ", "e",
    "/", "007", "(a|b)*", "\u2212", "１", "é", "😀", *LINE_BREAKS, *NEARLY_WHITESPACE, *WHITESPACE,
]  # fmt: skip


def by_rows(raws: list[str | None], contract: Number) -> list[dict]:
    readings = [None if raw is None else contract.read(raw) for raw in raws]
    return [
        dict.fromkeys(SCHEMA) if reading is None
        else {COMPLIANT: reading.protocol_compliant, **reading.fields()}
        for reading in readings
    ]  # fmt: skip


def structured(chance: random.Random) -> str:
    """A text of the parts that the contract looks for, often in an order that makes a place."""
    words = [chance.choice(PIECES) for _ in range(chance.randint(0, 9))]
    answer = "".join(chance.choice(PIECES) for _ in range(chance.randint(0, 3)))
    if chance.random() < 0.4:
        words.insert(chance.randint(0, len(words)), f"<answer>{answer}</answer>")
    if chance.random() < 0.3:
        words.insert(chance.randint(0, len(words)), f"\n#### {answer}\n")
    return "".join(words)


@pytest.mark.slow
def test_twenty_thousand_texts_are_read_in_columns_as_in_rows():
    chance = random.Random(72)  # noqa: S311 - the same texts every time
    raws = [structured(chance) for _ in range(20_000)]
    seen: set[str | None] = set()
    for contract in CONTRACTS:
        found = contract.read_texts(pl.Series(raws))
        assert found.schema == SCHEMA
        expected = by_rows(raws, contract)
        assert [each for each in zip(raws, found.to_dicts(), expected, strict=True) if each[1] != each[2]][
            :3
        ] == []
        seen |= set(found["deviation"]) | set(found["extraction_method"])
    assert {*NumberDeviation, *NumberMethod} - seen == {NumberDeviation.TOO_LONG}, "which takes a thousand digits"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['ruling']}")
def test_the_cases_of_the_table_are_read_in_columns_too(case):
    contract = Number(**case.get("params", {}))
    assert read_numbers(pl.Series([case["raw"]]), contract.notation, contract.marker).to_dicts() == by_rows(
        [case["raw"]], contract
    )


@pytest.mark.slow
@given(
    st.lists(st.none() | number_texts.map(lambda text: text.encode("utf-8", "replace").decode()), max_size=8),
    st.sampled_from(CONTRACTS),
)
def test_a_column_says_what_its_rows_say(raws, contract):
    assert contract.read_texts(pl.Series(raws, dtype=pl.String)).to_dicts() == by_rows(raws, contract)


def test_a_missing_text_gives_nothing():
    assert Number().read_texts(pl.Series([None], dtype=pl.String)).to_dicts() == [dict.fromkeys(SCHEMA)]
    assert Number(marker="####").read_texts(pl.Series([], dtype=pl.String)).schema == SCHEMA
