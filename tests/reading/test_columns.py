"""Columns say what rows say, for every text that a column can hold."""

import json
from itertools import cycle
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import affidavit.reading.polars_namespace  # noqa: F401 - gives expressions their namespace
from affidavit import Asked, Hand, LabelSet, MultipleChoice, Number, Pattern, game24, judge, mcqa, text
from affidavit.contracts.deviation import Deviation
from affidavit.reading import columns
from support.strategies import (
    CHOICE_PARTS,
    GAME_PARTS,
    LINE_BREAKS,
    NEARLY_WHITESPACE,
    WHITESPACE,
    choice_texts,
    game_texts,
    made_of,
    random_texts,
)

TABLES = Path(__file__).parents[1] / "tables"


def holdable(raw: str) -> bool:
    """Whether a column can hold the text: it has no lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in raw)


def cases(table: str) -> list[dict[str, object]]:
    lines = map(json.loads, (TABLES / f"{table}.jsonl").read_text().splitlines())
    return [case for case in lines if "raw" in case and holdable(case["raw"])]


def series(texts: list[str | None]) -> pl.Series:
    return pl.Series(texts, dtype=pl.String)


NASTY = [
    None, "", "\0", "\0<answer>A</answer>", *WHITESPACE, *NEARLY_WHITESPACE, *LINE_BREAKS,
    *(f"{blank}<answer>A</answer>{blank}" for blank in WHITESPACE + NEARLY_WHITESPACE),
    *(f"<answer>{blank}A</answer>" for blank in WHITESPACE + NEARLY_WHITESPACE),
    *(f"<answer>A</answer>{blank}x" for blank in WHITESPACE),
    "<answer>A</answer>" * 1000, "<answer>" * 1000, "</answer>" * 1000, "*" * 1000 + "A" + "*" * 1000,
    " " * 1_000_000 + "<answer>C</answer>", "x" * 1_000_000, "<answer>B" + " " * 1_000_000 + "</answer>",
    "<anſwer>A</anſwer>", "<ANSWER>a</answer>", "\u212a", "é", "\U0010ffff", "\ufdfa", "<answer>Å</answer>",
    "1+1\u2028<answer>4+9+10+13</answer>", "Output:\x1c4+9+10+13\r\n= 24", '{"a": "\0"}', "{" * 40,
]  # fmt: skip


# --- multiple choice ---


def check_choices(texts: list[str | None], options: str = "A-D") -> None:
    contract = MultipleChoice(options)
    expected = [
        (None, None, None) if each is None
        else ((reading := contract.read(each)).protocol_compliant, reading.extracted_answer, reading.deviation)
        for each in texts
    ]  # fmt: skip
    frame = columns.mcqa(series(texts), options=options)
    assert frame.rows() == expected
    assert frame.schema == columns.choice_schema()
    lean = columns.mcqa(series(texts), options=options, deviations=False)
    assert lean.equals(frame.drop("deviation"))


@pytest.mark.slow
def test_choices_of_the_table():
    for options in ("A-B", "A-C", "A-D", "A-E", "A-W"):
        check_choices([case["raw"] for case in cases("mcqa")], options)


@pytest.mark.slow
def test_the_nastiest_texts_of_all():
    check_choices(NASTY)


@pytest.mark.slow
@given(st.lists(choice_texts.filter(holdable), max_size=12), st.sampled_from(["A-D", "A-B", "A-W"]))
def test_choices_in_columns_are_choices_in_rows(texts, options):
    check_choices(texts, options)


@pytest.mark.slow
def test_twenty_thousand_choices():
    whole = ("<answer>A</answer>", "<answer>E</answer>", "<answer>X</answer>")
    texts = random_texts(*CHOICE_PARTS, *whole, count=25_000, seed=1)
    check_choices(texts)
    assert set(columns.mcqa(series(texts))["deviation"]) == {None, *Deviation}


def test_whitespace_is_the_same_in_columns():
    """Ruling M1."""
    assert sorted(columns.WHITESPACE) == WHITESPACE


# --- Game of 24 ---


def game_row(raw: str | None, hand: Hand | None) -> tuple[object, ...]:
    if raw is None:
        return (None,) * 7
    reading = game24.read(raw, hand)
    validation = None if hand is None else game24.validate(reading, hand)
    judged = (None, None) if validation is None else (validation.correct, validation.reason)
    return (reading.protocol_compliant, *reading.fields().values(), *judged)


def check_games(rows: list[tuple[str | None, Hand | None]]) -> None:
    numbers = pl.Series(
        [None if hand is None else list(hand.numbers) for _, hand in rows], dtype=pl.List(pl.Int64)
    )
    targets = pl.Series([None if hand is None else hand.target for _, hand in rows], dtype=pl.Int64)
    frame = columns.game24(series([raw for raw, _ in rows]), numbers, targets)
    assert frame.rows() == [game_row(raw, hand) for raw, hand in rows]
    assert frame.schema == columns.GAME_SCHEMA


HANDS = [None, Hand((4, 9, 10, 13)), Hand((9, 4), 13), Hand((4, 9, 10, 13), 36)]


@pytest.mark.slow
def test_games_of_the_table():
    small = [case for case in cases("game24") if all(number < 2**63 for number in case["numbers"] or [])]
    check_games(
        [(case["raw"], case["numbers"] and Hand(tuple(case["numbers"]), case.get("target", 24))) for case in small]
    )
    check_games([(raw, hand) for raw in NASTY for hand in HANDS])


def test_games_without_hands():
    raws = [case["raw"] for case in cases("game24")]
    assert columns.game24(series(raws)).rows() == [game_row(raw, None) for raw in raws]


@pytest.mark.slow
@given(st.lists(st.tuples(game_texts.filter(holdable), st.sampled_from(HANDS)), max_size=12))
def test_games_in_columns_are_games_in_rows(rows):
    check_games(rows)


@pytest.mark.slow
def test_twenty_thousand_games():
    texts = random_texts(*GAME_PARTS, count=25_000, seed=2)
    check_games(list(zip(texts, cycle(HANDS))))


# --- judgements ---


def check_judgements(rows: list[tuple[str | None, str | None, dict[str, str] | None]]) -> None:
    names = ("judge_model", *("question_id", "prompt_variant", "target_model", "output_id"))
    asked = pl.Series([meta for *_, meta in rows], dtype=pl.Struct(dict.fromkeys(names, pl.String)))
    frame = columns.judge(series([raw for raw, *_ in rows]), series([judged for _, judged, _ in rows]), asked)
    for found, (raw, judged, meta) in zip(frame.iter_rows(named=True), rows, strict=True):
        if raw is None:
            assert set(found.values()) == {None}
        else:
            reading = judge.read(raw, Asked(meta or {}, judged))
            assert found == {"protocol_compliant": reading.protocol_compliant, **reading.fields()}
    assert frame.schema == columns.judge_schema(judge)


@pytest.mark.slow
def test_judgements_of_the_table():
    rows = [
        (case["raw"], case["judged"], case["asked"])
        for case in cases("judge")
        if holdable(json.dumps(case["raw"], ensure_ascii=False) + (case["judged"] or ""))
    ]
    keep = {"judge_model", "question_id", "prompt_variant", "target_model", "output_id"}
    rows = [
        (raw, judged, asked and {name: asked[name] for name in asked if name in keep})
        for raw, judged, asked in rows
    ]
    findable = [row for row in rows if holdable(repr(judge.read(row[0], Asked(row[2] or {}, row[1]))))]
    check_judgements([*findable, *findable[:50], (None, None, None), *((raw, raw, None) for raw in NASTY)])


JSON_PARTS = (
    '{"meta":',
    "{",
    "}",
    "[",
    "]",
    '"',
    '"scores"',
    ":",
    ",",
    "1",
    "true",
    '{"a": 1}',
    "…",
    "\\u0041",
    " ",
)


@pytest.mark.slow
@given(st.lists(made_of(*JSON_PARTS).filter(holdable), max_size=12))
def test_judgements_in_columns_are_judgements_in_rows(texts):
    check_judgements([(raw, raw[::-1], None) for raw in texts])


@pytest.mark.slow
def test_twenty_thousand_judgements():
    texts = random_texts(*JSON_PARTS, count=25_000, seed=3)
    check_judgements([(raw, raw[::-1], None) for raw in texts])


# --- patterns and open text ---


PATTERNS = [".*", "(?s).*", r"(?s).*#### ([0-9]+)", r"\w+(\s*)", "(a)|b", "[^x]*(?P<answer>x)"]


def check_pattern(texts: list[str | None], regex: str) -> None:
    contract = Pattern(name="p", version=1, pattern=regex, words="")
    readings = [None if each is None else contract.read(each) for each in texts]
    assert columns.pattern(series(texts), contract).rows() == [
        (None, None) if each is None else (each.protocol_compliant, each.extracted_answer) for each in readings
    ]


def check_open_text(texts: list[str | None]) -> None:
    expected = [None if each is None else text.read(each).protocol_compliant for each in texts]
    assert columns.text(series(texts))["protocol_compliant"].to_list() == expected


@pytest.mark.slow
@pytest.mark.parametrize("regex", PATTERNS)
def test_patterns_in_columns_are_patterns_in_rows(regex):
    check_pattern([*NASTY, "a", "b", "ab c", "1 #### 2 #### 3", "yyx", "\u2003x"], regex)


def test_open_text_in_columns_is_open_text_in_rows():
    check_open_text(NASTY)


PATTERN_PARTS = ("####", "1", "24", "a", "b", "x", "ab", "é", "\0")


@pytest.mark.slow
@given(st.lists(made_of(*PATTERN_PARTS).filter(holdable), max_size=12), st.sampled_from(PATTERNS))
def test_drawn_texts_in_columns_are_the_same_texts_in_rows(texts, regex):
    check_pattern(texts, regex)
    check_open_text(texts)


@pytest.mark.slow
def test_twenty_thousand_patterns_and_open_texts():
    texts = random_texts(*PATTERN_PARTS, count=25_000, seed=4)
    for number, regex in enumerate(PATTERNS):
        check_pattern(texts[number :: len(PATTERNS)], regex)
    check_open_text(texts)


# --- labels ---


def test_labels_of_the_table_and_the_nastiest_texts():
    contract = LabelSet(["A", "art", "sport"], none="none")
    texts = [*NASTY, *(case["raw"] for case in cases("labels"))]
    found = columns.labels(series(texts), contract)
    for raw, (compliant, *fields) in zip(texts, found.iter_rows(), strict=True):
        reading = None if raw is None else contract.read(raw)
        assert compliant == (None if reading is None else reading.protocol_compliant)
        assert fields == ([None] * 5 if reading is None else list(reading.fields().values()))


# --- expressions ---


@pytest.mark.slow
def test_expressions_give_structs_of_the_same_columns():
    frame = pl.DataFrame(
        {
            "raw_output": ["<answer>A</answer>", None, "4+9 = 13"],
            "numbers": [[4, 9], None, [4, 9]],
            "target": [24, 24, 13],
        }
    )
    raw = pl.col("raw_output").affidavit
    read = frame.lazy().select(
        choice=raw.mcqa(options="A-E"),
        lean=raw.mcqa(deviations=False),
        game=raw.game24("numbers", pl.col("target")),
        bare=raw.game24(),
        goal=raw.game24(numbers="numbers", target=13),
        judged=raw.judge("raw_output"),
        open=raw.text(),
        labels=raw.labels(LabelSet(["A", "B"])),
        number=raw.number(),
        marked=raw.number(Number(marker="4+9 =")),
        piece=raw.pattern(Pattern(name="p", version=1, pattern=r".*= ([0-9]+)", words="")),
    )
    for found in (read.collect(), read.collect(engine="streaming")):
        assert found["choice"].struct.unnest().equals(columns.mcqa(frame["raw_output"], options="A-E"))
        assert found["lean"].struct.unnest().equals(columns.mcqa(frame["raw_output"], deviations=False))
        assert found["game"].struct.field("reason").to_list() == ["illegal_characters", None, "ok"]
        assert found["goal"].struct.field("correct").to_list() == [False, None, True]
        assert found["bare"].struct.field("candidate").to_list() == ["A", None, ""]
        assert found["judged"].struct.unnest().equals(columns.judge(frame["raw_output"], frame["raw_output"]))
        assert found["labels"].struct.field("extracted_labels").to_list() == [["A"], None, None]
        assert found["open"].struct.field("protocol_compliant").to_list() == [True, None, True]
        assert found["number"].struct.unnest().equals(columns.number(frame["raw_output"]))
        assert found["marked"].struct.field("value").to_list() == [None, None, "13"]
        assert found["piece"].struct.field("extracted_answer").to_list() == [None, None, "13"]
    assert mcqa.params == {"options": "A-D"}
