"""A contract over somebody's own frame: what `affidavit read` adds to Parquet, for Polars and pandas alike."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pandas
import polars as pl
import pytest

from affidavit import MultipleChoice, Pattern, read_frame
from affidavit.errors import InputError, UsageError
from affidavit.reading import frames
from affidavit.reading.pandas_frames import is_pandas, pandas_frame, polars_frame
from affidavit.reading.parquet_files import ROWS_AT_ONCE
from support.written_study import here

TEXTS = ["<answer>B</answer>", "B. Paris", None, "<answer>C</answer>", "<think>A?</think><answer>A</answer>"]
CHOICES = pl.DataFrame({"id": range(5), "completion": TEXTS, "answer": ["B", "B", "B", None, "A"]})
HANDS = pl.DataFrame(
    {
        "raw_output": ["<answer>(13-9)*(10-4)</answer>", "no", None],
        "numbers": [[4, 9, 10, 13], [4, 9, 10, 13], [1, 1, 1, 1]],
    }
)
OWN = """
from affidavit import Pattern
word = Pattern("word", 1, r"(\\w+)\\.", "Say a word.")
class Raising(Pattern):
    def read(self, raw, item=None):
        print("printed")
        raise ValueError("no")
raising = Raising("raising", 1, r"x", "Say x.")
"""


def by_command(frame: pl.DataFrame, folder, *options: object) -> pl.DataFrame:
    frame.write_parquet(folder / "in.parquet")
    done = here("read", *options, folder / "in.parquet", "-o", folder / "out.parquet")
    assert done.returncode in (0, 4), done.stderr
    return pl.read_parquet(folder / "out.parquet")


@pytest.mark.parametrize(
    ("frame", "contract", "arguments", "options"),
    [
        (CHOICES, "mcqa", {"text": "completion"}, ("--field", "completion")),
        (CHOICES, "mcqa", {"text": "completion", "lenses": True}, ("--field", "completion", "--lenses")),
        (CHOICES, "mcqa", {"text": "completion", "options": "A-E"}, ("--field", "completion", "--options", "A-E")),
        (CHOICES.drop("answer"), "mcqa", {"text": "completion"}, ("--field", "completion")),
        (CHOICES.clear(), "mcqa", {"text": "completion"}, ("--field", "completion")),
        (HANDS, "game24", {}, ()),
        (HANDS, "text", {}, ()),
        (HANDS.select("raw_output"), "judge", {}, ()),
    ],
)
def test_columns_are_those_of_the_command(tmp_path, frame, contract, arguments, options):
    expected = by_command(frame, tmp_path, contract, *options)
    assert read_frame(frame, contract, **arguments).equals(expected)
    assert read_frame(frame.lazy(), contract, **arguments).equals(expected), "a lazy frame is collected"
    given = pandas_frame(frame)
    before = given.copy(deep=True)
    back = read_frame(given, contract, **arguments)
    assert list(back.columns) == expected.columns
    assert pandas_frame(expected).equals(back) or not len(frame)
    assert given.equals(before), "the frame that came in stays as it was"


def test_a_contract_of_one_s_own_is_read_by_its_place_or_itself(tmp_path, capsys):
    (tmp_path / "own.py").write_text(OWN)
    frame = pl.DataFrame({"raw_output": ["one.", "two", None]})
    place = f"{tmp_path / 'own.py'}:word"
    expected = by_command(frame, tmp_path, place)
    assert read_frame(frame, place).equals(expected)
    assert read_frame(frame, Pattern("word", 1, r"(\w+)\.", "Say a word.")).equals(expected)
    raising = read_frame(frame, f"{tmp_path / 'own.py'}:raising")
    assert raising["unread"].to_list() == ["ValueError: no", "ValueError: no", None]
    assert capsys.readouterr().out == ""


def test_a_contract_object_takes_options():
    frame = pl.DataFrame({"raw_output": ["<answer>E</answer>"]})
    assert read_frame(frame, MultipleChoice("A-E"))["extracted_answer"].to_list() == ["E"]
    assert read_frame(frame, MultipleChoice(), options="A-E")["extracted_answer"].to_list() == ["E"]
    with pytest.raises(
        UsageError, match=r"^options: expected a contract that shows options: mcqa or mcqa-reasoned, found game24"
    ):
        read_frame(frame, "game24", options="A-E")
    with pytest.raises(UsageError, match=r"^lenses: expected a contract that has lenient readings"):
        read_frame(frame, "game24", lenses=True)


def test_what_is_no_contract_is_refused():
    frame = pl.DataFrame({"raw_output": ["x"], "answer": [3]})
    with pytest.raises(UsageError, match=r"^contract: expected a contract, with a text in 'name'"):
        read_frame(frame, object())
    with pytest.raises(
        InputError, match=r"(?s)^frame:row 1: expected a letter from A to D .*not its text or its number"
    ):
        read_frame(frame, "mcqa")
    more = pl.DataFrame({"raw_output": ["x"], "answer": ["E"]})
    with pytest.raises(InputError, match=r'(?s)^frame:row 1: expected a letter from A to D .*options = "A-E"'):
        read_frame(more, "mcqa")
    assert read_frame(more, "mcqa", options="A-E")["protocol_compliant"].to_list() == [False]


def test_columns_of_the_same_names_are_replaced():
    once = read_frame(CHOICES, "mcqa", text="completion")
    assert read_frame(once, "mcqa", text="completion").equals(once)


def test_large_frames_are_read_in_parts_and_rows_keep_their_numbers():
    count = ROWS_AT_ONCE + 10
    frame = pl.DataFrame({"raw_output": ["<answer>B</answer>"] * count, "answer": ["B"] * (count - 1) + ["Z"]})
    assert read_frame(frame.drop("answer"), "mcqa")["protocol_compliant"].sum() == count
    with pytest.raises(InputError, match=f"^frame:row {count}: expected"):
        read_frame(frame, "mcqa")


# --- pandas ---


def test_pandas_keeps_its_index_types_and_other_columns():
    frame = pandas.DataFrame(
        {
            "completion": TEXTS,
            "answer": ["B", "B", "B", None, "A"],
            "when": pandas.Timestamp("2026-01-05"),
            7: 1.5,
        },
        index=["a", "a", "b", "c", "d"],
    )
    back = read_frame(frame, "mcqa", text="completion")
    assert is_pandas(back)
    assert list(back.index) == ["a", "a", "b", "c", "d"], "rows of the same name are no trouble"
    assert back["when"].dtype == frame["when"].dtype
    assert back[7].to_list() == [1.5] * 5
    assert str(back["protocol_compliant"].dtype) == "boolean"
    assert back["protocol_compliant"].isna().to_list() == [False, False, True, False, False]
    assert len(back[back["protocol_compliant"]]) == 2, "what never arrived is not taken for compliant"
    assert back["correct"].fillna(value=False).to_list() == [True, False, False, False, False]


def test_pandas_cells_with_lists_and_arrays_are_hands():
    numbers = [[4, 9, 10, 13], pandas.array([4, 9, 10, 13]).to_numpy(), None]
    frame = pandas.DataFrame({"raw_output": HANDS["raw_output"].to_list(), "numbers": numbers})
    assert read_frame(frame, "game24")["reason"].to_list()[0] == "ok"


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["<answer>B</answer>", 5], "^frame:row 2: expected a text in 'raw_output', found 5"),
        ([1.5, 2.5], "^frame: expected texts in the column 'raw_output', found Float64"),
        (
            ["\ud800", "x"],
            "^frame: expected texts in 'raw_output' that a column can hold, found half of a character",
        ),
    ],
)
def test_what_is_no_text_is_refused(column, words):
    with pytest.raises(InputError, match=words):
        read_frame(pandas.DataFrame({"raw_output": pandas.Series(column, dtype=object)}), "mcqa")


def test_two_columns_of_one_name_are_refused():
    frame = pandas.DataFrame([["x", "y"]], columns=["raw_output", "raw_output"])
    with pytest.raises(
        InputError, match=r"^frame: expected columns of different names, found 'raw_output' more than"
    ):
        read_frame(frame, "mcqa")


def test_a_column_that_is_not_there_says_which_there_are():
    for frame in (CHOICES, pandas_frame(CHOICES)):
        with pytest.raises(
            InputError, match=r"(?s)expected a column 'completions', found the columns id, .*comple"
        ):
            read_frame(frame, "mcqa", text="completions")


def test_types_survive_the_way_to_pandas_and_back():
    frame = pl.DataFrame({"t": [True, None], "n": [1, None], "f": [0.5, None], "s": ["x", None], "l": [[1], None]})
    back = polars_frame(pandas_frame(frame), None)
    assert back.drop("l").equals(frame.drop("l"))
    assert back["l"].to_list() == [[1], None]
    assert not is_pandas(frame)
    odd = pandas.DataFrame({"x": [Fraction(1, 2), "y"]})
    assert polars_frame(odd, ["x"])["x"].to_list() == [Fraction(1, 2), "y"]


def test_without_pandas_it_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UsageError, match="expected it to be installed"):
        pandas_frame(CHOICES)
    assert frames.WHERE == "frame"


def test_columns_of_pandas_that_share_a_name_come_out_as_they_came_in():
    frame = pandas.DataFrame([["<answer>A</answer>", 1, 2]], columns=["raw_output", "x", "x"])
    read = read_frame(frame, "mcqa")
    assert list(read.columns)[:3] == ["raw_output", "x", "x"]
    assert list(read.columns).count("x") == 2


@pytest.mark.parametrize("value", [date(2026, 1, 1), Decimal(3), b"x", [Decimal(3)]])
def test_values_that_json_lacks_are_refused_by_their_type(value):
    frame = pandas.DataFrame({"raw_output": ["<answer>A</answer>"], "answer": [value]})
    with pytest.raises(InputError, match=f"found .*{type(value).__name__}"):
        read_frame(frame, "mcqa")


def test_columns_are_known_by_their_very_names():
    """To Polars `*` means all columns, and a name between `^` and `$` a pattern."""
    frame = pl.DataFrame({"^x$": [1], "x": [2], "*": [3], "raw_output": ["<answer>A</answer>"]})
    read = read_frame(frame, "mcqa")
    assert read.row(0, named=True) | {"^x$": 1, "x": 2, "*": 3, "extracted_answer": "A"} == read.row(0, named=True)
    assert read.columns[:4] == frame.columns
