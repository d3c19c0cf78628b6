import pytest

from affidavit import MultipleChoice, Number, Pattern, label
from affidavit.errors import InputError, UsageError
from affidavit.integrations.given_contract import given_contract
from support.own_contracts import ECHO, LETTER


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("mcqa",), ("mcqa/1", {"options": "A-D"})),
        (("mcqa", "A-E"), ("mcqa/1", {"options": "A-E"})),
        ((MultipleChoice("A-C"),), ("mcqa/1", {"options": "A-C"})),
        ((MultipleChoice("A-C"), "A-F"), ("mcqa/1", {"options": "A-F"})),
        (("json", None, {"schema": "schema.json"}), ("json/1", None)),
        ((Pattern("letter", 1, "[A-D]", "One letter."),), ("letter/1", {"pattern": "[A-D]", "compare": "text"})),
        (("own.py:echo",), ("echo/1", {})),
        (("own.py:letter",), ("letter/1", {"pattern": "[A-D]", "compare": "text"})),
    ],
)
def test_a_name_or_an_object_is_a_contract(given, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(ECHO + LETTER)
    (tmp_path / "schema.json").write_text('{"type": "object", "required": ["year"]}')
    contract = given_contract(*given)
    name, params = expected
    assert label(contract) == name
    assert params is None or contract.params == params
    if name == "json/1":
        assert contract.read("{}").deviation == "schema_required"


def test_parameters_are_those_of_the_contract():
    assert given_contract("number", parameters={"marker": "####"}).params == Number(marker="####").params


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (("mqca",), UsageError, "Did you mean mcqa?"),
        ((object(),), UsageError, "contract: expected a contract"),
        (("number", None, {"markr": "#"}), UsageError, "Did you mean marker?"),
        (("number", None, {"tolerance": -1}), InputError, "parameters.tolerance"),
        ((Number(), None, {"marker": "####"}), UsageError, "Give them to the object itself."),
        (("number", "A-E"), UsageError, "a contract that shows options"),
        (("none.py:echo",), UsageError, "no file 'none.py'"),
    ],
)
def test_what_is_no_contract_is_refused(given, kind, said):
    with pytest.raises(kind) as refused:
        given_contract(*given)
    assert said in str(refused.value)
