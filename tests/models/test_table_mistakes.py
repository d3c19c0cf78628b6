"""What is wrong with a study's tables is told in our own words, with table and key: none of the library's."""

import pytest

from affidavit.errors import InputError, MistakesError
from affidavit.models.settings import Limits, check_json
from affidavit.models.table_mistakes import converted
from affidavit.study.check import parse_study
from support.studies import laid_over, toml

FINE = {
    "study": {"name": "small", "seed": 7},
    "models": {"one": {"base_url": "http://127.0.0.1:1/v1"}, "two": {"embedded": "smollm2"}},
    "tasks": {"quiz": {"contract": "mcqa", "items": "items.jsonl"}},
    "conditions": {"base": {}, "held": {"preamble": "Please."}},
    "decoding": {"samples": 2},
}


def text_of(study: dict) -> str:
    return "\n".join(toml(study))


CASES = {
    "a text for true": ({"conditions": {"held": {"constrained": "yes"}}}, 'conditions.held.constrained: expected true or false, found "yes"\nWrite constrained = true, without quotes.'),
    "a text for false": ({"models": {"one": {"seed": "off"}}}, 'models.one.seed: expected true or false, found "off"\nWrite seed = false, without quotes.'),
    "a number for true": ({"conditions": {"held": {"constrained": 1}}}, "conditions.held.constrained: expected true or false, found 1\nWrite constrained = true."),
    "a word that is neither": ({"conditions": {"held": {"constrained": "maybe"}}}, 'conditions.held.constrained: expected true or false, found "maybe"'),
    "a whole number in quotes": ({"decoding": {"samples": "3"}}, 'decoding.samples: expected a whole number, found "3"\nWrite samples = 3, without quotes.'),
    "a broken whole number": ({"decoding": {"max_tokens": 2.5}}, "decoding.max_tokens: expected a whole number, found 2.5"),
    "a number in quotes": ({"decoding": {"temperature": "0.5"}}, 'decoding.temperature: expected a number, found "0.5"\nWrite temperature = 0.5, without quotes.'),
    "a number or none": ({"decoding": {"top_p": []}}, "decoding.top_p: expected a number, found a list"),
    "a limit in words": ({"limits": {"attempt": "long"}}, 'limits.attempt: expected a number, found "long"'),
    "a number for a text": ({"study": {"name": 7}}, 'study.name: expected a text, found 7\nWrite name = "7", in quotes.'),
    "a text for a list": ({"tasks": {"quiz": {"models": "one"}}}, 'tasks.quiz.models: expected a list, found "one"\nWrite models = ["one"].'),
    "a number in a list": ({"tasks": {"quiz": {"models": ["one", 2]}}}, 'tasks.quiz.models[1]: expected a text, found 2\nWrite "2", in quotes.'),
    "a table for a list": ({"tasks": {"quiz": {"models": {"a": 1}}}}, "tasks.quiz.models: expected a list, found a table"),
    "a text for a table": ({"models": {"one": {"headers": "hush"}}}, "models.one.headers: expected a table, found a text"),
    "a table among tables": ({"tasks": {"quiz": "items.jsonl"}}, "tasks.quiz: expected a table, found a text"),
    "a text for a whole table": ({"decoding": "cold"}, "decoding: expected a table, found a text"),
    "a name inside a table": ({"tasks": {"quiz": {"variants": {"a": "{question}", "b": 3}}}}, 'tasks.quiz.variants.b: expected a text, found 3\nWrite b = "3", in quotes.'),
    "one of two types": ({"tasks": {"quiz": {"items": 3}}}, 'tasks.quiz.items: expected a text or a table, found 3\nWrite items = "3", in quotes.'),
    "a missing key": ({"tasks": {"more": {"contract": "mcqa"}}}, "expected a key items in tasks.more, found none"),
    "a missing key of a model": ({"models": {"one": {"price": {"input": 1.0}}}}, "expected a key output in models.one.price, found none"),
    "another key": ({"conditions": {"held": {"constraned": True}}}, "expected a key of conditions.held: preamble, system, constrained, examples, shots, paradigm, control, found 'constraned'\nDid you mean constrained?"),
    "another key further in": ({"models": {"one": {"price": {"inptu": 1.0, "output": 1.0, "input": 1.0}}}}, "expected a key of models.one.price: input, output, found 'inptu'\nDid you mean input?"),
    "another choice": ({"tasks": {"quiz": {"option_order": "shufle"}}}, 'tasks.quiz.option_order: expected "as_given", "shuffle" or "rotate", found "shufle"\nDid you mean shuffle?'),
    "another choice in a list": ({"judging": {"judges": ["two"], "conditions": ["shema"]}}, 'judging.conditions[0]: expected "free" or "schema", found "shema"\nDid you mean schema?'),
    "another choice of a model": ({"models": {"one": {"token_limit": "max_token"}}}, 'models.one.token_limit: expected "max_tokens" or "max_completion_tokens", found "max_token"\nDid you mean max_tokens?'),
    "a number of a model": ({"models": {"two": {"slots": "4"}}}, 'models.two.slots: expected a whole number, found "4"\nWrite slots = 4, without quotes.'),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_table_that_does_not_fit_is_told_in_our_words(name):
    changed, words = CASES[name]
    with pytest.raises(InputError) as caught:
        parse_study(text_of(laid_over(FINE, changed)), where="study.toml")
    assert str(caught.value) == f"study.toml: {words}"


def test_a_table_that_is_missing_is_named():
    without = {name: table for name, table in FINE.items() if name != "study"}
    with pytest.raises(InputError) as caught:
        parse_study(text_of(without), where="study.toml")
    assert str(caught.value) == "study.toml: expected a table [study], found none"


@pytest.mark.parametrize(
    "changed",
    [
        {"headers": {"Authorization": ["hush"]}},
        {"headers": {"Authorization": 4321}},
        {"headers": "hush"},
        {"key_env": ["hush"]},
        {"key_env": 4321},
    ],
)
def test_what_may_be_a_secret_is_not_repeated(changed):
    with pytest.raises(InputError) as caught:
        parse_study(text_of(laid_over(FINE, {"models": {"one": changed}})), where="study.toml")
    assert "hush" not in str(caught.value)
    assert "4321" not in str(caught.value)


def test_a_table_that_fits_is_an_object_of_its_kind():
    assert converted({"attempt": 3}, Limits, where="study.toml", place="limits") == Limits(attempt=3.0)


def test_mistakes_of_several_tables_are_told_together():
    changed = {
        "conditions": {"held": {"constrained": "yes"}},
        "decoding": {"samples": "3"},
        "models": {"one": {"seed": 0}, "two": {"slots": "4", "model": 3}},
    }
    with pytest.raises(MistakesError) as caught:
        parse_study(text_of(laid_over(FINE, changed)), where="study.toml")
    places = [each.where.removeprefix("study.toml: ") for each in caught.value.mistakes]
    assert sorted(places) == [
        "conditions.held.constrained",
        "decoding.samples",
        "models.one.seed",
        "models.two.model",
        "models.two.slots",
    ]


TOGETHER = {
    "a misspelt key and a wrong type": (
        {"conditions": {"held": {"preambel": "x", "constrained": "yes"}}},
        ["'preambel'", '"yes"'],
    ),
    "two wrong types": ({"decoding": {"samples": "3", "temperature": "0.5"}}, ['"3"', '"0.5"']),
    "a misspelt key that is needed": ({"tasks": {"quiz": {"items": None, "itms": "i"}}}, ["'itms'"]),
    "a needed key of another type": ({"tasks": {"quiz": {"items": 3, "limit": "4"}}}, ["3", '"4"']),
    "a wrong type and a missing key": ({"tasks": {"quiz": {"items": None, "limit": "4"}}}, ['"4"', "none"]),
    "keys of a model": ({"models": {"two": {"slots": "4", "modl": "m", "headers": {}}}}, ["'modl'", "headers given", '"4"']),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "found"), TOGETHER.values(), ids=TOGETHER)
def test_mistakes_of_one_table_are_told_together(changed, found):
    with pytest.raises(InputError) as caught:
        parse_study(text_of(laid_over(FINE, changed)), where="study.toml")
    said = caught.value.mistakes if isinstance(caught.value, MistakesError) else [caught.value]
    assert [each.found for each in said] == found


MISPLACED = "sk-1234567890abcdefghij"


@pytest.mark.parametrize(
    "changed",
    [
        {"models": {"api_key": MISPLACED}},
        {"models": {"one": {"connections": MISPLACED}}},
        {"models": {"one": {"flavour": MISPLACED}}},
        {"models": {"one": {"token_limit": MISPLACED}}},
        {"models": {"one": {"seed": MISPLACED}}},
    ],
    ids=lambda changed: ".".join(("models", *changed["models"])),
)
def test_a_key_at_the_wrong_place_is_not_repeated(changed):
    with pytest.raises(InputError) as caught:
        parse_study(text_of(laid_over(FINE, changed)), where="study.toml")
    assert "sk-" not in str(caught.value)


AS_A_NAME = {
    "key of a model": ({"models": {"one": {MISPLACED: 1}}}, "known keys in models.one, found 'sk-123…', a name of 23 characters"),
    "model that is no table": ({"models": {MISPLACED: 1}}, "a table [models.sk-123…], found a whole number"),
    "task that is no table": ({"tasks": {MISPLACED: 1}}, "tasks.sk-123…: expected a table, found 1"),
    "table": ({MISPLACED: {}}, "found 'sk-123…', a name of 23 characters"),
    "key of a table": ({"decoding": {MISPLACED: 1}}, "a key of decoding: temperature, "),
    "key of a table in a table": ({"models": {"one": {"price": {"input": 1, "output": 1, MISPLACED: 1}}}}, "a key of models.one.price: input, output, found 'sk-123…'"),
    "header": ({"models": {"one": {"headers": {MISPLACED: 5}}}}, "models.one.headers.sk-123…: expected a text or a table, found a whole number"),
    "header with a blank": ({"models": {"one": {"headers": {f"Bearer {MISPLACED}": ""}}}}, "names of headers in models.one.headers, none of"),
    "header of a table": ({"models": {"one": {"headers": {MISPLACED: {"a": "b"}}}}}, 'a text or { env = "NAME" } in models.one.headers.sk-123…, found another table'),
    "body with a secret": ({"models": {"one": {"body": {MISPLACED: {"api_key": "x"}}}}}, "no secret in models.one.body.sk-123….api_key, found a text"),
    "variant": ({"tasks": {"open": {"contract": "text", "items": "i", "variants": {MISPLACED: "Say."}}}}, "{question} once in tasks.open.variants.sk-123…, found"),
    "variant of another type": ({"tasks": {"open": {"contract": "text", "items": "i", "variants": {MISPLACED: 3}}}}, "tasks.open.variants.sk-123…: expected a text, found 3\nWrite sk-123… = \"3\""),
    "task of examples": ({"conditions": {"held": {"examples": {MISPLACED: "e.jsonl"}}}}, "quiz in conditions.held.examples, found 'sk-123…'"),
}  # fmt: skip


@pytest.mark.parametrize(("changed", "said"), AS_A_NAME.values(), ids=AS_A_NAME)
def test_a_key_that_stands_in_place_of_a_name_is_not_repeated_as_a_whole(changed, said):
    with pytest.raises(InputError) as caught:
        parse_study(text_of(laid_over(FINE, changed)), where="study.toml")
    assert said in str(caught.value)
    assert MISPLACED[:8] not in str(caught.value)


def test_a_key_whose_value_json_has_not_is_not_repeated_as_a_whole():
    with pytest.raises(
        InputError, match=r"^study.toml: expected a JSON value in models\.m\.body\.sk-123…\[0\], found"
    ):
        check_json({"models.m.body": {MISPLACED: [float("nan")]}}, where="study.toml")


def test_a_key_that_is_named_twice_is_not_repeated_as_a_whole():
    with pytest.raises(InputError) as caught:
        parse_study(f"{text_of(FINE)}\n[models.one.headers.{MISPLACED}]\n" * 2, where="study.toml")
    assert "twice (at line " in str(caught.value)
    assert MISPLACED[:8] not in str(caught.value)


def test_a_long_name_that_is_nearly_a_known_one_is_repeated():
    changed = {"models": {"one": {"connectionsconnections": 3}}}
    with pytest.raises(InputError, match="found 'connectionsconnections'\nDid you mean connections"):
        parse_study(text_of(laid_over(FINE, changed)), where="study.toml")
