"""Which column is what: named, or called as we call it; others are proposed, and nothing is taken by a guess."""

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import (
    OPTIONS,
    SYNONYMS,
    OutputColumns,
    Role,
    columns_of,
    name_in,
    no_text,
    not_a_text,
    number_in,
    proposals,
    refuse_new_names,
)

NESTED = {"response": {"body": {"choices": [{"message": {"content": "B"}}, {"message": None}]}}, "id": 1}


@pytest.mark.parametrize(
    ("text", "row", "there", "value"),
    [
        ("a", {"a": None}, True, None),
        ("a", {}, False, None),
        ("a.b", {"a": {"b": 1}}, True, 1),
        ("a.b", {"a.b": 2, "a": {"b": 1}}, True, 2),
        ("a.b", {"a": {"c": 1}}, False, None),
        ("a.b", {"a": [1]}, False, None),
        ("a[1]", {"a": [1, 2]}, True, 2),
        ("a[2]", {"a": [1, 2]}, False, None),
        ("a[0]", {"a": "text"}, False, None),
        ("a..b", {"a": {"": {"b": 1}}}, False, None),
        ("[0]", {"[0]": 3}, True, 3),
        ("a b.c-d[0][1]", {"a b": {"c-d": [[0, 5]]}}, True, 5),
        ("response.body.choices[0].message.content", NESTED, True, "B"),
        ("response.body.choices[2].message.content", NESTED, False, None),
    ],
)
def test_a_path_leads_to_a_value_or_nowhere(text, row, there, value):
    path = ColumnPath(text)
    assert (path.is_in(row), path.of(row)) == (there, value)
    taken = path.taken_out(row)
    assert not there or taken != row
    assert there or taken is row


def test_null_on_the_way_is_null_at_its_end():
    """A failed request of a batch leaves null where its response would stand."""
    for row in (NESTED, {"response": None}, {"response": {"body": {"choices": None}}}):
        path = ColumnPath("response.body.choices[1].message.content")
        assert (path.is_in(row), path.of(row), path.taken_out(row) is row) == (True, None, True)
    failed = {"response": {"body": {"error": "overloaded"}}}
    assert not path.is_in(failed)
    with pytest.raises(InputError) as refused:
        raise no_text(path, failed, where="f:1")
    assert refused.value.found == "in 'response.body' an object with 'error'"


def test_what_is_inside_of_a_value_is_named_by_its_way():
    for value, hint in (({"body": 1}, "'response.body'"), ([1], "'response[0]'"), (7, ""), ([], "")):
        error = not_a_text(ColumnPath("response"), value, where="f:1")
        assert error.expected == "a text in 'response'"
        assert hint in error.hint
        assert bool(error.hint) == bool(hint)


def test_what_is_taken_out_leaves_everything_else():
    taken = ColumnPath("response.body.choices[0].message.content").taken_out(NESTED)
    assert taken == {"response": {"body": {"choices": [{"message": {}}, {"message": None}]}}, "id": 1}
    assert NESTED["response"]["body"]["choices"][0]["message"] == {"content": "B"}, "the row itself stays"
    assert ColumnPath("a[0]").taken_out({"a": [1, 2]}) == {"a": [None, 2]}


def test_our_names_are_taken_and_others_are_proposed():
    first = {"raw_output": "x", "target": "B", "model_name": "m", "condition": "c", "extra": 1}
    columns = columns_of(first, {}, where="f:1")
    assert columns.names() == {"text": "raw_output", "condition": "condition"}
    assert proposals(first, columns) == [
        "a column `target` may hold the right answers: name it with --answer target",
        "a column `model_name` may hold the models' names: name it with --model model_name",
    ]
    named = columns_of(first, {Role.ANSWER: "target", Role.MODEL: "model_name"}, where="f:1")
    assert proposals(first, named) == []
    assert named.item_row({"target": "B"}) == {"target": "B", "answer": "B"}
    assert named.item_row({}) == {}
    assert OutputColumns.of(named.names()) == named


def test_every_synonym_is_proposed_and_none_is_taken():
    for role, names in SYNONYMS.items():
        for name in names:
            row = {name: "x"} if role is Role.TEXT else {"raw_output": "x", name: "x"}
            if role is Role.TEXT:
                with pytest.raises(InputError, match=rf"name it with --field {name}\."):
                    columns_of(row, {}, where="f:1")
            else:
                columns = columns_of(row, {}, where="f:1")
                assert role not in columns.paths
                assert proposals(row, columns) == [
                    note for note in proposals(row, columns) if OPTIONS[role] in note
                ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({Role.ANSWER: "targt"}, "--answer: expected a column of f:1: raw_output, target, found 'targt'"),
        (
            {Role.MODEL: "target", Role.ANSWER: "target"},
            "--model: expected a column that is not the right answers",
        ),
        ({Role.ID: "target", Role.ANSWER: "target"}, "--id: expected a column that is not the right answers"),
    ],
)
def test_what_is_named_must_be_there_and_be_one_thing(given, said):
    with pytest.raises(UsageError) as refused:
        columns_of({"raw_output": "x", "target": "B"}, given, where="f:1")
    assert str(refused.value).startswith(said)


def test_names_and_numbers_are_what_they_must_be():
    assert name_in({"m": 5}, ColumnPath("m"), where="f:1") == "5"
    assert [number_in({"s": value}, ColumnPath("s"), where="f:1") for value in (0, "12")] == [0, 12]
    for value in (None, "", " ", True, 1.5, []):
        with pytest.raises(InputError, match="f:1: expected a name in 'm', found"):
            name_in({"m": value}, ColumnPath("m"), where="f:1")
    for value in (None, "", "-1", -1, True, 1.5, "x", 2**60):
        with pytest.raises(InputError, match="f:1: expected a whole number from 0 on in 's', found"):
            number_in({"s": value}, ColumnPath("s"), where="f:1")


def test_a_later_row_may_not_bring_a_name_that_the_first_had_not():
    columns = OutputColumns.of({"text": "raw_output"})
    refuse_new_names({"raw_output": "x", "model": None, "answer": "B"}, columns, where="f:2")
    with pytest.raises(InputError, match="f:2: expected no 'model', as in the first row, found \"m\""):
        refuse_new_names({"raw_output": "x", "model": "m"}, columns, where="f:2")


def test_a_column_that_is_named_as_something_else_is_not_taken_by_its_name():
    columns = columns_of(
        {"answer": "B.", "target": "B"}, {Role.TEXT: "answer", Role.ANSWER: "target"}, where="f:1"
    )
    assert columns.names() == {"text": "answer", "answer": "target"}
    alone = columns_of({"answer": "B.", "id": "q"}, {Role.TEXT: "answer"}, where="f:1")
    assert alone.names() == {"text": "answer", "id": "id"}
    assert alone.item_row({}) == {}
