"""Parameters as they are typed, and those that are files."""

from typing import ClassVar

import pytest

from affidavit.contracts.given_parameters import parameters_given, with_files
from affidavit.contracts.parts import Parts
from affidavit.contracts.registry import contract_named
from affidavit.errors import InputError, UsageError


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("marker=####", "####"),
        ("marker=Answer:", "Answer:"),
        ("marker=", ""),
        ("unit=km/h", "km/h"),
        ('unit="1"', "1"),
        ("places=2", 2),
        ("sign=true", True),
        ("tolerance=0.5", 0.5),
        ("tolerance=0.10", 0.1),
        ("tolerance=1_000.25", 1000.25),
        ("tolerance=1e3", 1000.0),
        ("tolerance=inf", float("inf")),
        # What a double would round stays as it was typed (ruling N7).
        ("tolerance=0.10000000000000000001", "0.10000000000000000001"),
        ("tolerances=[0.5, 0.30000000000000000001]", [0.5, "0.30000000000000000001"]),
        ("tolerance=9007199254740993.0", "9007199254740993.0"),
        ("tolerance=1e400", "1e400"),
        ("tolerance=1e-400", "1e-400"),
        ("tolerance=1e99999999999999999999", "1e99999999999999999999"),
        ("labels=['a', 'b']", ["a", "b"]),
        ("equation=a=b", "a=b"),
        ("lines=1\nother=2", "1\nother=2"),
        ("deep=" + "[" * 5000, "[" * 5000),
    ],
)
def test_a_value_is_as_in_a_study_file_or_else_a_text(word, value):
    assert parameters_given([word]) == {word.partition("=")[0]: value}


def test_a_tolerance_of_many_digits_is_kept_as_it_was_typed():
    contract = contract_named("number", parameters=parameters_given(["tolerance=0.10000000000000000001"]))
    assert contract.params["tolerance"] == "0.10000000000000000001"  # ruling N7


@pytest.mark.parametrize("words", [["marker"], ["=x"], ["a=1", "a=2"]])
def test_words_that_are_no_parameters_are_refused(words):
    with pytest.raises(UsageError, match="--param: expected"):
        parameters_given(words)


class Filed(Parts):
    parameters: ClassVar = {"schema": "a file", "fields": "names"}
    file_parameters = ("schema",)


def test_a_file_counts_by_its_content_and_is_looked_for_beside(tmp_path):
    (tmp_path / "s.json").write_text('{"type": "object"}')
    given = with_files(Filed(), {"schema": "s.json", "fields": ["a"]}, beside=tmp_path)
    assert given == {"schema": {"type": "object"}, "fields": ["a"]}
    assert with_files(Filed(), {"schema": {"type": "object"}}, beside=tmp_path) == {"schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        ("{", "expected JSON"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "expected JSON"),
        ('{"type": "object", "a": {"type": "null", "type": "array"}}', 'the name "type" twice'),
        ("null", "expected a JSON value"),
    ],
)
def test_a_file_that_is_no_json_is_refused_at_its_parameter(tmp_path, content, reason):
    if content is not None:
        (tmp_path / "s.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=rf"parameters\.schema: .*{reason}"):
        with_files(Filed(), {"schema": "s.json"}, beside=tmp_path)


def test_parameters_that_a_contract_does_not_have_are_refused():
    with pytest.raises(UsageError, match="no parameters of mcqa, found 'marker'"):
        contract_named("mcqa", parameters={"marker": "x"})
    with pytest.raises(UsageError, match="the file gives it"):
        contract_named("nowhere.py:shouting", parameters={"marker": "x"})
