"""Columns of labels by people: as they are named, and what each row says in them."""

import pytest

from affidavit.contracts.rubric import DEFAULT
from affidavit.errors import InputError, UsageError
from affidavit.judging.label_columns import (
    LONGEST_NAME,
    RowLabels,
    checked_day,
    checked_rater,
    is_blank,
    label_columns,
    label_columns_of,
    likely_labels,
)

GIVEN = ("human.verdict=verdict", "scores[0]=score:COMPLETENESS", "right=correct", "meant=answer", "tone=calm:1,5")


def labels_of(row: dict, *given: str, rubric=DEFAULT, **columns: object) -> list[tuple]:
    named = label_columns(given, **columns)
    assert named is not None
    return [tuple(each) for each in RowLabels(named, rubric).of(row, where="rows.jsonl:7")]


def test_each_column_is_one_question_with_its_scale():
    row = {"human": {"verdict": "pass"}, "scores": [2.0, 1], "right": False, "meant": 3, "tone": 4}
    said = [(about, value) for about, value, *_ in labels_of(row, *GIVEN)]
    assert said == [
        ("verdict", "PASS"), ("score:COMPLETENESS", 2), ("correct", False), ("answer", "3"), ("calm", 4.0),
    ]  # fmt: skip
    assert [type(value) for _, value in said] == [str, int, bool, str, float]


@pytest.mark.parametrize("row", [{}, {"tone": None}, {"tone": " "}, {"tone": ""}])
def test_no_value_is_no_label(row):
    assert labels_of(row, "tone=calm:1,5") == []


@pytest.mark.parametrize(
    ("given", "row", "why"),
    [
        ("a=verdict", {"a": "GOOD"}, "rows.jsonl:7: expected PASS, PARTIAL, FAIL in 'a', found \"GOOD\""),
        ("a=verdict", {"a": ["PASS"]}, "in 'a'"),
        ("a=verdict", {"a": True}, "found true"),
        ("a=score:COMPLETENESS", {"a": 1.5}, "expected 0, 1, 2 in 'a', found 1.5"),
        ("a=score:COMPLETENESS", {"a": True}, "found true"),
        ("a=correct", {"a": 2}, "expected yes, no in 'a', found 2"),
        ("a.b=calm:1,5", {"a": {"b": 6}}, "expected a number from 1 to 5 in 'a.b', found 6"),
        ("a=calm:1,5", {"a": "NaN"}, "a number from 1 to 5"),
        ("a=calm:0,1", {"a": True}, "found true"),
        ("a=answer", {"a": "x" * 201}, "the answer that is meant"),
    ],
)
def test_what_is_off_the_scale_is_refused_by_its_place(given, row, why):
    with pytest.raises(InputError) as refused:
        labels_of(row, given)
    assert why in str(refused.value)


def test_raters_and_days_are_those_of_options_columns_or_the_column_itself():
    row = {"one": "yes", "two": "no", "who": 7, "when": "2026-01-31T23:00:00Z"}
    assert [each[2] for each in labels_of(row, "one=correct", "two=correct")] == ["one", "two"]
    named = labels_of(row, "one=correct", "two=correct", raters=["one=anna", "two=ben"])
    assert [each[2] for each in named] == ["anna", "ben"]
    assert labels_of(row, "one=correct", raters=["eve"]) == [("correct", True, "eve", "", "one")]
    by_row = labels_of(row, "one=correct", rater_column="who", date_column="when")
    assert by_row == [("correct", True, "7", "2026-01-31", "one")]
    assert labels_of({**row, "when": None}, "one=correct", date_column="when")[0][3] == ""
    for wrong in (
        {"who": None},
        {"who": ""},
        {"who": True},
        {"who": "x" * 201},
        {"when": "31.1.2026"},
        {"when": 3},
    ):
        with pytest.raises(InputError, match=r"rows\.jsonl:7"):
            labels_of({**row, **wrong}, "one=correct", rater_column="who", date_column="when")


@pytest.mark.parametrize(
    ("given", "columns", "why"),
    [
        (("human",), {}, "--label: expected COLUMN=WHAT, found 'human'"),
        (("=verdict",), {}, "expected COLUMN=WHAT"),
        (("a=",), {}, "expected COLUMN=WHAT"),
        (
            ("a=tone:5,1",),
            {},
            "--label: expected two numbers, the second one larger, such as 0,1, found 'a=tone:5,1'",
        ),
        (("a=correct", "a=verdict"), {}, "--label: expected each column once"),
        (("a=correct", "b=correct"), {"raters": ["anna"]}, "--rater a=NAME --rater b=NAME"),
        (("a=correct", "b=correct"), {"rater_column": "who"}, "--rater: expected a rater for each column"),
        (("a=correct",), {"raters": ["b=anna"]}, "--rater: expected a column of --label: a, found 'b'"),
        (("a=correct",), {"raters": ["a=anna", "ben"]}, "--rater: expected one rater of 'a'"),
        (("a=correct",), {"raters": ["a="]}, "printable characters"),
        ((), {"raters": ["anna"]}, "--rater: expected --label COLUMN=WHAT beside it"),
        ((), {"date_column": "when"}, "--date-column: expected --label"),
        ((), {"rater_column": "who"}, "--rater-column: expected --label"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, columns, why):
    with pytest.raises((UsageError, InputError)) as refused:
        label_columns(given, **columns)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("given", "rubric", "why"),
    [
        ("a=calm", DEFAULT, "--label a=calm:1,5"),
        ("a=verdict:0,1", DEFAULT, "none for verdict, which has one"),
        ("a=score:NONE", DEFAULT, "a dimension of the rubric"),
        ("a=score:COMPLETENESS", None, "where outputs are judged: --label a=score:COMPLETENESS"),
    ],
)
def test_a_question_that_nobody_can_be_asked_is_refused_under_the_option(given, rubric, why):
    with pytest.raises(UsageError, match=r"^--label: ") as refused:
        labels_of({}, given, rubric=rubric)
    assert why in str(refused.value)


def test_verdicts_need_no_rubric():
    assert labels_of({"a": "FAIL"}, "a=verdict", rubric=None) == [("verdict", "FAIL", "a", "", "a")]


def test_all_that_is_looked_into_is_told_by_its_option():
    named = label_columns(["a=correct"], rater_column="who", date_column="when")
    assert named is not None
    told = [(option, path.text) for option, path in RowLabels(named, None).paths]
    assert told == [("--label", "a"), ("--rater-column", "who"), ("--date-column", "when")]
    assert named.notes() == ["labels by people: `a` as correct by whom `who` names"]


def test_python_names_the_same():
    one = label_columns_of({"a": "verdict", "b": "calm:0,1"}, {"a": "anna"}, None, None)
    assert one == label_columns(["a=verdict", "b=calm:0,1"], ["a=anna"])
    assert label_columns_of({"a": "verdict"}, "eve", None, None) == label_columns(["a=verdict"], ["eve"])
    assert label_columns_of({}, "", None, None) is None


def test_likely_columns_are_proposed_and_never_taken():
    first = {"human_score": 3, "human_1": None, "Annotator-2-Rating": "4", "human_notes": "x", "expert": [1]}
    notes = likely_labels(first, label_columns(["human_1=correct"]))
    assert [note.rsplit(" ", 1)[1] for note in notes] == ["human_score=WHAT", "Annotator-2-Rating=WHAT"]


def test_names_and_days_are_checked():
    assert checked_rater("x" * LONGEST_NAME, where="")
    assert checked_day("2026-01-31", where="") == "2026-01-31"
    assert [is_blank(each) for each in (" ", None, 0)] == [True, True, False]
    for name in ("", "a\nb", "x" * (LONGEST_NAME + 1)):
        with pytest.raises(InputError):
            checked_rater(name, where="a:1")
    with pytest.raises(InputError, match=r"a day such as 2026-01-31 in 'when', found \"20260131\""):
        checked_day("20260131", where="a:1", column="when")
