"""Sets of labels over a column: what is said of every text is what is said of the text alone, places too."""

import json
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.choice_columns import WHITESPACE
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.label_columns import SCHEMA, read_labels
from affidavit.contracts.label_set import LabelDeviation
from affidavit.contracts.labels import LabelSet
from support.strategies import label_texts

CASES = Path(__file__).parents[1] / "tables" / "labels.jsonl"
CONTRACTS = (
    LabelSet(["a", "b", "a b", "A"], none="none"),
    LabelSet(["b", "a"]),
    LabelSet(["a", "b", "é"], single=True),
)
texts = label_texts.map(lambda text: text.encode("utf-8", "replace").decode())


def by_rows(raws: list[str | None], contract: LabelSet) -> list[tuple]:
    readings = [None if raw is None else contract.read(raw) for raw in raws]
    return [
        (None,) * len(SCHEMA) if reading is None else (reading.protocol_compliant, *reading.fields().values())
        for reading in readings
    ]


@pytest.mark.slow
@given(st.lists(st.none() | texts, max_size=8), st.sampled_from(CONTRACTS))
def test_a_column_says_what_its_rows_say(raws, contract):
    found = read_labels(pl.Series(raws, dtype=pl.String), contract.vocabulary)
    assert found.schema == SCHEMA
    assert found.rows() == by_rows(raws, contract)


def structured(draw: Random) -> str:
    """A text that is often an answer, and often nearly one."""
    words = ("a", "b", "A", "a b", "none", "NONE", "é", "É", "c", "", "😀")
    between = (",", ", ", " ,", ",\u2003", ";", " ")
    inside = "".join(draw.choice(words) + draw.choice(between) for _ in range(draw.randint(0, 2)))
    inside += draw.choice(words)
    tags = ((OPENING, CLOSING),) * 6 + (
        ("<Answer>", CLOSING),
        (OPENING, "</ANSWER>"),
        (OPENING, ""),
        ("", CLOSING),
    )
    opening, closing = draw.choice(tags)
    before = draw.choice(
        ("", "", "So: ", f"<think>b{THINK_END}", f"{OPENING}a{CLOSING} no ", "é\0😀", OPENING, "ſ")
    )
    after = draw.choice(("", "", "", "\n", "\x1c\u3000", ".", CLOSING, THINK_END, f" {OPENING}", "\ufeff"))
    pad = draw.choice(("", "", *WHITESPACE))
    return f"{before}{opening}{pad}{inside}{draw.choice(('', pad))}{closing}{after}"


@pytest.mark.slow
def test_columns_equal_rows_over_twenty_thousand_texts():
    draw = Random(11)  # noqa: S311
    raws = [structured(draw) for _ in range(20_000)]
    for contract in CONTRACTS:
        found = read_labels(pl.Series(raws), contract.vocabulary)
        assert found.rows() == by_rows(raws, contract)
        shares = found["protocol_compliant"].mean()
        assert 0.01 < shares < 0.6, "texts of both kinds are among them"


def test_every_deviation_is_found_in_columns_too():
    lines = [json.loads(line) for line in CASES.read_text().splitlines()]
    of_the_set = [case for case in lines if "known" not in case and "\\ud8" not in json.dumps(case["raw"])]
    found = set()
    for none, single in (("", False), ("none", False), ("", True)):
        chosen = [
            each for each in of_the_set if (each.get("none", ""), each.get("single", False)) == (none, single)
        ]
        contract, raws = (
            LabelSet(["art", "economy", "politics", "sport"], none, single),
            [each["raw"] for each in chosen],
        )
        columns = contract.read_texts(pl.Series(raws))
        assert columns.rows() == by_rows(raws, contract)
        found |= set(columns["deviation"].drop_nulls())
    assert found == set(LabelDeviation)


@pytest.mark.parametrize("height", [0, 1])
def test_a_column_of_nothing_has_its_types(height):
    found = read_labels(pl.Series([None] * height, dtype=pl.String), CONTRACTS[0].vocabulary)
    assert found.schema == SCHEMA
    assert found.rows() == [(None,) * len(SCHEMA)] * height
