"""A contract as it is typed: mistakes are told in the words of a command line."""

import pytest

from affidavit.commands.typed_contract import typed_contract
from affidavit.errors import InputError, UsageError


def test_options_and_parameters_are_taken_as_they_are_typed():
    assert typed_contract("mcqa", "A-E", ()).contract.params == {"options": "A-E"}
    assert typed_contract("number", None, ["marker=####", "sign=false"]).contract.params["marker"] == "####"


@pytest.mark.parametrize("name", ["mcqa", "mcqa-reasoned"])
def test_the_option_set_is_no_parameter(name):
    with pytest.raises(
        UsageError, match=rf"^--param: expected a parameter of {name}, found 'options=A-E'"
    ) as caught:
        typed_contract(name, None, ["options=A-E"])
    assert caught.value.hint == "The option set has an option of its own: use --options A-E."


@pytest.mark.parametrize(
    ("name", "words", "told"),
    [
        (
            "labels",
            ["labels=bug,billing"],
            '--param labels: expected a list of one or more labels, found "bug,billing"\n'
            'Say which there are: --param \'labels=["bug", "question"]\'.',
        ),
        (
            "labels",
            [],
            "--param labels: expected a list of one or more labels, found null\n"
            'Say which there are: --param \'labels=["bug", "question"]\'.',
        ),
        (
            "number",
            ["decimal=,"],
            '--param thousands: expected another character than in decimal, found ","\n'
            "With --param 'decimal=\",\"', say --param 'thousands=\".\"' or --param 'thousands=\"\"', which allows none.",
        ),
        ("number", ["sign=no"], '--param sign: expected true or false, found "no"'),
    ],
)
def test_a_parameter_that_does_not_fit_is_told_as_it_is_typed(name, words, told):
    with pytest.raises(InputError) as caught:
        typed_contract(name, None, words)
    assert str(caught.value) == told


def test_a_pattern_is_taken_as_it_stands_and_compared_as_it_is_said():
    contract = typed_contract("pattern", None, ["compare=number"], "[0-9]").contract
    assert contract.params == {"pattern": "[0-9]", "compare": "number"}
    assert typed_contract("pattern", None, [], "'1'").contract.params["pattern"] == "'1'"


@pytest.mark.parametrize(
    ("name", "options", "words", "pattern", "told"),
    [
        ("pattern", None, [], None, "--pattern: expected a regular expression, found none\n"),
        ("pattern", None, [], "(?=a)", "--pattern: expected a regular expression without look-around"),
        ("pattern", None, ["compare=nubmer"], "a", '--param compare: expected "text" or "number", found "nubmer"'),
        ("pattern", "A-E", [], "a", "--options: expected a contract that shows options"),
        ("pattern", None, ["pattern=[A-D]"], None, "The pattern has an option of its own: use --pattern '[A-D]'."),
        ("mcqa", None, [], "a", "--pattern: expected the contract pattern beside it, found 'mcqa'\n"),
        ("out.jsonl", None, [], "a", "affidavit read pattern FILE --pattern REGEX"),
    ],
)
def test_a_pattern_that_does_not_fit_is_told_as_it_is_typed(name, options, words, pattern, told):
    with pytest.raises((InputError, UsageError)) as caught:
        typed_contract(name, options, words, pattern)
    assert told in str(caught.value)
