"""Contracts by the names that people type: ours, and those of a file."""

import pytest

from affidavit.contracts.contract import label
from affidavit.contracts.own_file import load_contract
from affidavit.contracts.registry import BUILT_IN, contract_named, parts_named, task_contract_named
from affidavit.errors import UsageError

OWN = """
class Own:
    name, version, params = "own", 2, {"n": 1}
    def instruction(self, item=None): return ""
    def read(self, raw, item=None): return None
    def validate(self, reading, item): return None
    def grammar(self, item=None): return None

class Raises(Own):
    @property
    def name(self): raise ValueError("no name today")

fine = Own()
raises = Raises()
print("loaded")
"""


def own(**changed: object) -> str:
    """The file of a contract in which some parts are changed."""
    return OWN + "\n".join(f"Own.{name} = {value}" for name, value in changed.items())


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_contract_of_ours_is_known_by_its_name_and_by_its_label(name):
    contract = contract_named(name)
    assert contract is BUILT_IN[name]
    assert label(contract).startswith(f"{name}/")
    assert type(parts_named(name)) is type(parts_named(label(contract)))


def test_an_option_set_makes_another_contract_of_multiple_choice_and_of_no_other():
    assert contract_named("mcqa", "A-E").params == {"options": "A-E"}
    with pytest.raises(UsageError, match="--options: expected a contract that shows options: mcqa, found game24"):
        contract_named("game24", "A-E")
    assert task_contract_named("mcqa", "A-E").params == {"options": "A-E"}
    assert task_contract_named("game24", "A-E") is contract_named("game24"), (
        "a task has one, whatever its contract"
    )


def test_an_unknown_name_is_told_those_that_are_known():
    with pytest.raises(UsageError) as caught:
        contract_named("gaem24")
    assert str(caught.value) == (
        "CONTRACT: expected mcqa, game24, json, judge, text or my_file.py:name, found 'gaem24'\nDid you mean game24?"
    )


def test_a_contract_of_a_file_is_found_and_what_the_file_prints_is_no_result(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(own())
    contract = contract_named(f"{tmp_path}/mine.py:fine")
    assert (label(contract), contract.params) == ("own/2", {"n": 1})
    assert capsys.readouterr() == ("", "loaded\n")


@pytest.mark.parametrize(
    ("changed", "name", "why"),
    [
        ({"name": "''"}, "fine", "expected a contract, with a text in 'name', found ''"),
        ({"name": "'a\\nb'"}, "fine", "expected a contract, with a text in 'name', found 'a\\nb'"),
        ({"name": "7"}, "fine", "expected a contract, with a text in 'name', found 7"),
        ({}, "raises", "expected a contract, with a text in 'name', found ValueError: no name today"),
        ({"version": "True"}, "fine", "expected a contract, with a whole number in 'version', found True"),
        ({"version": "'1'"}, "fine", "expected a contract, with a whole number in 'version', found '1'"),
        ({"params": "[1]"}, "fine", "expected a contract, with a mapping of JSON values in 'params', found [1]"),
        ({"params": "{'x': {1}}"}, "fine", "a mapping of JSON values in 'params', found {'x': {1}}"),
        ({"params": "{'x': float('nan')}"}, "fine", "a mapping of JSON values in 'params', found {'x': nan}"),
        ({"read": "None"}, "fine", "expected a contract, with a method in 'read', found None"),
        ({"grammar": "'root'"}, "fine", "expected a contract, with a method in 'grammar', found 'root'"),
        ({}, "nothing", "expected a name 'nothing' in the file, found the names Own, Raises, fine, raises"),
    ],
)
def test_what_has_not_the_shape_of_a_contract_is_refused_by_what_it_lacks(tmp_path, changed, name, why):
    (tmp_path / "mine.py").write_text(own(**changed))
    with pytest.raises(UsageError) as caught:
        load_contract(f"{tmp_path}/mine.py:{name}")
    assert caught.value.where == f"{tmp_path}/mine.py:{name}"
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("none.py:x", "expected a Python file before the colon, found no file"),
        (".:x", "expected a Python file before the colon, found no file"),
        ("words.txt:x", "expected a Python file, its name ending in .py"),
        ("broken.py:x", "expected a file that Python can run, found ZeroDivisionError: division by zero"),
        ("exits.py:x", "expected a file that Python can run, found SystemExit"),
    ],
)
def test_a_file_that_cannot_be_had_is_told(tmp_path, monkeypatch, place, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("x = 1")
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")
    with pytest.raises(UsageError) as caught:
        load_contract(place)
    assert why in str(caught.value)
