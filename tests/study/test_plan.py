"""Studies and plans: what is refused, what is asked, and the keys under which answers are kept."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import MultipleChoice, game24
from affidavit.archive.disk import Disk
from affidavit.archive.record import record_fields
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError
from affidavit.items.item import Item, items_of
from affidavit.json_values import digest
from affidavit.models.model import Completion, Failure, Reason
from affidavit.models.request_body import BELONGS_ELSEWHERE
from affidavit.reading.csv_files import any_header
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.source import bytes_source
from affidavit.running.pace import Pace
from affidavit.study.check import parse_study
from affidavit.study.files import load
from affidavit.study.freezing import frozen_items
from affidavit.study.frozen_form import changes, from_frozen, frozen
from affidavit.study.plan import Plan
from affidavit.study.request_seed import seed_of
from affidavit.study.study_file import requests_of
from support.written_study import plan_of_frozen

STUDY = """
[study]
name = "small"
seed = 7

[models.one]
base_url = "http://127.0.0.1:1/v1"

[models.two]
base_url = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
flavour = "llamacpp"

[tasks.trivia]
contract = "mcqa"
items = "items.jsonl"

[conditions.free]

[conditions.polite]
preamble = "Please."

[decoding]
samples = 2
"""
ITEM = Item("q1", {"question": "Two?", "options": ["1", "2", "3", "4"], "answer": "B"})


def plan(text: str = STUDY) -> Plan:
    return Plan(parse_study(text, where="study.toml"), {"trivia": MultipleChoice()}, {"trivia": 1}, {})


WRONG = {
    "not TOML": ("[study", "expected TOML, found Expected ']' at the end of a table declaration"),
    "no name": ("[study]\n[models.m]\nbase_url='http://h'\n[tasks.t]\ncontract='mcqa'\nitems='i'", "expected a key name in study, found none"),
    "a misspelt key": (STUDY.replace("base_url =", "base_ulr =", 1), "expected known keys in models.one, found 'base_ulr'"),
    "a name that leaves the directory": (STUDY.replace('"small"', '"../x"'), "underscores in study.name, found '../x'"),
    "no model": (STUDY.replace("[models.one]", "[models]\n[other]"), "a key of the file: study, models, tasks"),
    "a parameter beside the contract": (
        STUDY.replace('contract = "mcqa"', 'contract = "number"\nmarker = "####"'),
        "found 'marker'\nIt is a parameter of number: parameters = { marker = … }.",
    ),
    "a parameter that is nearly another key": (
        STUDY.replace('contract = "mcqa"', 'contract = "labels"\nsingle = true'),
        "found 'single'\nIt is a parameter of labels: parameters = { single = … }.",
    ),
    "an option set among the parameters": (
        STUDY.replace('contract = "mcqa"', 'contract = "mcqa"\nparameters = { options = "A-E" }'),
        "The option set is a key of the task: write options in [tasks.trivia].",
    ),
    "no address": (STUDY.replace('"http://127.0.0.1:1/v1"\n\n', '"localhost"\n\n'), "an http:// or https:// address in models.one.base_url"),
    "a seed of 65 bits": (STUDY.replace("seed = 7", f"seed = {2**64}"), "a study.seed of at most 64 bits, found one of 65"),
    "a seed of thousands of digits": (STUDY.replace("seed = 7", f"seed = {'9' * 5000}"), "expected TOML, found Exceeds the limit"),
    "lists in lists in lists": (STUDY + "x = " + "[" * 5000 + "]" * 5000, "expected TOML, found values that are nested too deeply"),
    "tables in tables in tables": (STUDY + "x = " + "{ a = " * 5000 + "1" + " }" * 5000, "expected TOML, found values that are nested too deeply"),
    "more connections than ports": (STUDY.replace('flavour = "llamacpp"', "connections = 999999999"), "at most 50,000 in models.two.connections, found 999,999,999"),
    "a host of 300 letters": (STUDY.replace("http://127.0.0.1:1/v1", f"http://{'a' * 300}/v1", 1), "an http:// or https:// address in models.one.base_url"),
    "no connection": (STUDY.replace('flavour = "llamacpp"', "connections = 0"), "a positive, finite models.two.connections, found 0"),
    "an endless limit": (STUDY + "[limits]\nattempt = inf\n", "a positive, finite limits.attempt, found inf"),
    **{
        f"a body with {key}": (
            STUDY.replace('flavour = "llamacpp"', f"body = {{ {key} = 1 }}"),
            f"only further keys in models.two.body, found '{key}'\nIt belongs ",
        )
        for key in BELONGS_ELSEWHERE
    },
    "a body with a date": (STUDY.replace('flavour = "llamacpp"', "body = { a = [{ b = 2026-01-31 }] }"), "a JSON value in models.two.body.a[0].b, found 2026-01-31"),
    "a body with an infinity": (STUDY.replace('flavour = "llamacpp"', "body = { a = [-inf] }"), "a JSON value in models.two.body.a[0], found -inf"),
    "a tool with no number": (STUDY.replace('flavour = "llamacpp"', "tools = [{ a = nan }]"), "a JSON value in models.two.tools[0].a, found nan"),
    "a deep body": (STUDY.replace('flavour = "llamacpp"', f"body = {{ a = {'[' * 40}{']' * 40} }}"), "at most 32 levels in models.two.body.a[0]"),
    "tools that are none": (STUDY.replace('flavour = "llamacpp"', "tools = [1]"), "models.two.tools[0]: expected a table, found a whole number"),
    "a limit of another name": (STUDY.replace('flavour = "llamacpp"', 'token_limit = "most"'), 'models.two.token_limit: expected "max_tokens" or "max_completion_tokens", found "most"'),
    "a header with a date": (STUDY.replace('flavour = "llamacpp"', "headers = { a = 2026-01-31 }"), "models.two.headers"),
    "a name that is a time": (STUDY.replace('flavour = "llamacpp"', "model = 07:32:00"), "models.two.model"),
    "a price that is no number": (STUDY.replace('flavour = "llamacpp"', "price = { input = nan, output = 1 }"), "finite prices from 0 in models.two.price"),
    "no sample": (STUDY.replace("samples = 2", "samples = 0"), "a positive, finite decoding.samples, found 0"),
    "a grammar for a server that takes none": (
        STUDY.replace('preamble = "Please."', "constrained = true").replace(
            '"items.jsonl"', '"items.jsonl"\nconditions = ["polite"]'
        ), "takes no grammar",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_study_is_refused(name):
    text, words = WRONG[name]
    with pytest.raises(InputError) as caught:
        parse_study(text, where="study.toml")
    assert "study.toml" in str(caught.value)
    assert words in str(caught.value)


def test_a_password_in_a_wrong_address_is_not_repeated():
    with pytest.raises(InputError) as caught:
        parse_study(STUDY.replace('"http://127.0.0.1:1/v1"\n\n', '"ftp://me:hush@host"\n\n'), where="s")
    assert "hush" not in str(caught.value)


ADDRESS = "https://me:hush@127.0.0.1/x"


@pytest.mark.parametrize("key", ["replay", "gguf", "embedded"])
def test_an_address_in_place_of_a_path_is_refused_and_not_repeated(key):
    with pytest.raises(InputError) as caught:
        parse_study(STUDY.replace('base_url = "http://127.0.0.1:1/v1"', f'{key} = "{ADDRESS}"'), where="s")
    assert f".{key}: expected " in str(caught.value)
    assert "found an address\n" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_an_address_in_place_of_a_file_is_refused_and_not_repeated(tmp_path):
    judging = f'[judging]\njudges = ["one"]\ntasks = ["trivia"]\nrubric = "{ADDRESS}"\n'
    examples = f'examples = "{ADDRESS}"\npreamble = "Please."'
    (tmp_path / "items.jsonl").write_text("")
    for changed in (
        STUDY.replace("items.jsonl", ADDRESS),
        STUDY.replace('preamble = "Please."', examples),
        STUDY + judging,
    ):
        (tmp_path / "study.toml").write_text(changed)
        with pytest.raises(InputError) as caught:
            load(tmp_path / "study.toml")
        assert "found an address\n" in str(caught.value)
        assert "hush" not in str(caught.value)


def test_what_decides_the_answers_is_frozen_and_nothing_else():
    study = parse_study(STUDY, where="s")
    moved = parse_study(STUDY.replace("127.0.0.1:1", "127.0.0.1:9") + "[limits]\nattempt = 1\n", where="s")
    assert changes(frozen(study), frozen(moved)) == []
    warmer = parse_study(STUDY + "temperature = 0.5\n", where="s")
    assert list(map(str, changes(frozen(study), frozen(warmer)))) == ["decoding.temperature: was 0.0, is 0.5"]


BAD_ITEMS = {
    "no id": '{"question": "?", "options": ["a", "b", "c", "d"]}',
    "blank id": '{"id": " ", "question": "?", "options": ["a", "b", "c", "d"]}',
    "no question": '{"id": 1, "options": ["a", "b", "c", "d"]}',
    "no options": '{"id": 1, "question": "?"}',
    "three options": '{"id": 1, "question": "?", "options": ["a", "b", "c"]}',
    "an option that is no text": '{"id": 1, "question": "?", "options": ["a", "b", "c", 4]}',
    "a blank option": '{"id": 1, "question": "?", "options": ["a", "b", " ", "d"]}',
    "the right option twice": '{"id": 1, "question": "?", "options": ["a", "b", "b ", "d"], "answer": "B"}',
    "an answer outside the set": '{"id": 1, "question": "?", "options": ["a", "b", "c", "d"], "answer": "E"}',
    "an output": '{"id": 1, "question": "?", "options": ["a", "b", "c", "d"], "raw_output": "A"}',
    "no object": "[]",
}
WHY = {
    "no id": "an 'id': a text or a whole number, found no 'id' among the keys question, options",
    "blank id": "an 'id': a text or a whole number, found \" \"",
    "no question": "a text in 'question', found no 'question' among the keys id, options",
    "no options": "a list of texts in 'options', found no 'options' among the keys id, question",
    "three options": "4 options, as A-D says, found 3 options",
    "an option that is no text": 'a list of texts in \'options\', found ["a", "b", "c", 4]',
    "a blank option": 'a text in every option, found ["a", "b", " ", "d"]',
    "the right option twice": 'one option with the right answer, found ["a", "b", "b ", "d"]',
    "an answer outside the set": "a letter from A to D in 'answer', found \"E\"",
    "an output": "an item to ask about, found a field 'raw_output': an output",
    "no object": "a JSON object, found []",
}


def placed(name, text):
    return ((row.where, row.fields) for row in JSON_LINES.rows(bytes_source(name, text.encode()), any_header))


@pytest.mark.parametrize("name", BAD_ITEMS)
def test_an_item_that_does_not_fit_is_refused(name):
    """Ruling M3."""
    with pytest.raises(InputError, match=rf"^items\.jsonl:3: expected {re.escape(WHY[name])}"):
        list(items_of(placed("items.jsonl", f"\n\n{BAD_ITEMS[name]}"), MultipleChoice()))


def test_ids_are_unique():
    hand = '{"id": 1, "numbers": [4, 9, 10, 13]}'
    assert next(items_of(placed("f", hand), game24))[1].id == "1"
    with pytest.raises(InputError, match=r"^f:2: expected an 'id' that no other item has, found \"1\""):
        list(items_of(placed("f", f"{hand}\n{hand}"), game24))


def test_every_question_has_a_key_of_its_own():
    planned = plan()
    questions = [
        each for model in ("one", "two") for each in planned.questions(planned.tasks["trivia"], ITEM, model)
    ]
    assert sum(planned.planned.values()) == 8 == len({each.key for each in questions})
    free, polite = (
        [each for each in questions if each.condition == name and each.model == "one"]
        for name in ("free", "polite")
    )
    assert [each.request.body["seed"] for each in free] == [each.request.body["seed"] for each in polite]
    assert len({each.request.body["seed"] for each in free}) == 2
    assert polite[0].request.messages[0]["content"].startswith("Please.\n\nAnswer the following")


def test_keys_stay_the_same_for_ever():
    planned = plan()
    first = next(planned.questions(planned.tasks["trivia"], ITEM, "one"))
    assert first.key == "2fbed248d6d42a098e55d41660c35674d69936debd3585bbe5561f805ebb2ad2"
    assert first.prompt_sha256 == "9034f6776b5660a3261c732f9e09ae9984c3954c3a885aa0a2287a6b9dc59311"
    assert first.request.body["seed"] == seed_of(7, "trivia", "q1", 0) == 1370363107


def of_model_two(settings: str) -> str:
    return STUDY.replace('flavour = "llamacpp"', f'flavour = "llamacpp"\n{settings}')


HELD = STUDY.replace('preamble = "Please."', "constrained = true")
ASKED = {
    "plain": (STUDY, "one"),
    "a grammar": (HELD, "two"),
    "further keys on both sides of the seed": (of_model_two('body = { a = 1, "m~" = [], r = "é", stop = ["%d"], z = { b = 1, a = 2 } }'), "two"),
    "tools": (of_model_two('tools = [{ type = "function", function = { name = "f" } }]'), "two"),
    "another name of the limit": (of_model_two('token_limit = "max_completion_tokens"'), "two"),
    "everything": (HELD.replace('flavour = "llamacpp"', 'flavour = "vllm"\nmodel = "its-name"\nbody = { top_k = 1 }') + "top_p = 0.5\n", "two"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_a_key_is_the_digest_of_the_request_that_is_sent(name):
    """Ruling C9: what is hashed is the merged request, all of it, whatever is encoded beforehand."""
    text, model = ASKED[name]
    planned = plan(text)
    for item in (ITEM, Item("q%d", {**ITEM.fields, "question": 'Half \ud800 "quoted" {"seed":1}?'})):
        for question in planned.questions(planned.tasks["trivia"], item, model):
            asked = {"task": "trivia", "item": item.id, "condition": question.condition, "model": model}
            assert question.key == digest({**asked, "request": question.request.body, "sample": question.sample})
            assert question.prompt_sha256 == digest(question.request.messages)
            assert question.request.body["seed"] == seed_of(7, "trivia", item.id, question.sample)


def test_the_merged_request_holds_what_a_study_says_in_many_places():
    text, _ = ASKED["everything"]
    planned = plan(text.replace("[decoding]", '[decoding]\ntemperature = 0.5\nmax_tokens = 9').replace(
        'model = "its-name"', 'model = "its-name"\ntools = [{ type = "function" }]\ntoken_limit = "max_completion_tokens"'
    ))  # fmt: skip
    question = planned.question(planned.tasks["trivia"], ITEM, "two", "polite", 1)
    body = dict(question.request.body)
    assert body.pop("structured_outputs")["grammar"] == question.request.grammar
    assert body == {
        "model": "its-name", "messages": question.request.messages, "temperature": 0.5, "top_p": 0.5,
        "max_completion_tokens": 9, "tools": [{"type": "function"}], "top_k": 1, "seed": question.request.body["seed"],
    }  # fmt: skip


def test_a_key_depends_on_what_is_asked_and_not_on_where():
    changed = {
        "the server": of_model_two("connections = 3").replace("127.0.0.1:1", "10.0.0.1:1"),
        "the temperature": STUDY + "temperature = 0.5\n",
        "the name at the server": of_model_two('model = "another"'),
        "a further key": of_model_two("body = { top_k = 3 }"),
        "a tool": of_model_two('tools = [{ type = "function" }]'),
        "the name of the limit": of_model_two('token_limit = "max_completion_tokens"'),
        "the seed": STUDY.replace("seed = 7", "seed = 8"),
    }
    plans = [plan(), *map(plan, changed.values())]
    first, elsewhere, *others = (next(each.questions(each.tasks["trivia"], ITEM, "two")).key for each in plans)
    assert first == elsewhere
    assert len({first, *others}) == 1 + len(others)


def test_what_decides_a_request_is_frozen():
    """Ruling C9."""
    study = parse_study(
        of_model_two('tools = [{ type = "function" }]\ntoken_limit = "max_completion_tokens"'), where="s"
    )
    again = from_frozen(frozen(study))
    assert requests_of(again) == requests_of(study)
    plain = parse_study(STUDY, where="s")
    assert list(map(str, changes(frozen(plain), frozen(study)))) == [
        "models.two.token_limit: was 'max_tokens', is 'max_completion_tokens'",
        "models.two.tools: was [], is [{'type': 'function'}]",
    ]


def test_records_say_everything_but_the_day():
    planned = plan()
    question = next(planned.questions(planned.tasks["trivia"], ITEM, "one"))
    response = planned.response(question, Completion("<answer>B</answer>", "stop", None, {"prompt_tokens": 3}))
    assert list(record_fields(response)) == [
        "kind", "key", "study", "task", "item_id", "model", "condition", "sample", "prompt_sha256",
        "grammar_sha256", "raw_output", "contract", "contract_params", "protocol_compliant", "extracted_answer",
        "deviation", "correct", "right_answer", "keyed", "finish_reason", "reasoning", "rendered_prompt", "usage",
        "server_model", "system_fingerprint",
    ]  # fmt: skip
    assert (response.correct, response.keyed, response.contract) == (True, True, "mcqa/1")
    failure = planned.failure(question, Failure(Reason.TIMEOUT, "after 3 s"))
    assert record_fields(failure)["reason"] == Reason.TIMEOUT
    assert "detail" not in record_fields(failure)


@given(st.lists(st.booleans(), max_size=300), st.integers(1, 200))
def test_the_pace_stays_between_one_and_the_most(kept_up, most):
    pace = Pace(most)
    for number, fine in enumerate(kept_up):
        pace.kept_up() if fine else pace.pushed_back(now=float(number))
        assert 1 <= pace.limit <= most


def test_a_crowd_of_refusals_counts_once():
    pace = Pace(100)
    for _ in range(24):
        pace.kept_up()
    for _ in range(10):
        pace.pushed_back(now=5.0)
    assert pace.limit == 20


def test_items_of_any_format_and_generated_hands_are_frozen(tmp_path):
    (tmp_path / "mmlu.csv").write_text('"Two, or\nthree?",2,3,4,5,A\nFour?,1,2,3,4,D\n', encoding="utf-8")
    text = (
        STUDY.replace('"items.jsonl"', '"mmlu.csv"')
        + '[tasks.hands]\ncontract = "game24"\nitems = { generate = 3 }\n'
    )
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    files = load(tmp_path / "study.toml")
    directory = tmp_path / "out"
    directory.mkdir()
    study = StudyDirectory(directory)
    planned = plan_of_frozen(study, files, Disk())
    assert {name: task.count for name, task in planned.tasks.items()} == {"trivia": 2, "hands": 3}
    found = [(task, item.id, item.fields.get("answer")) for task, item in frozen_items(study)]
    assert found[3:] == [("trivia", "mmlu-1", "A"), ("trivia", "mmlu-2", "D")]
    assert [task for task, _, _ in found[:3]] == ["hands"] * 3
    assert plan_of_frozen(study, files, Disk()).planned == planned.planned
    with pytest.raises(InputError, match="only hands of game24"):
        parse_study(STUDY.replace('"items.jsonl"', "{ generate = 3 }"), where="s")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_lacks_is_refused_by_the_name_of_its_item(tmp_path, number):
    row = '{"id": "q7", "question": "?", "options": ["a", "b", "c", "d"], "answer": "A", "metadata": {"n": %s}}'
    (tmp_path / "items.jsonl").write_text(row % number)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match=r'items: "q7": expected values that JSON can hold'):
        plan_of_frozen(StudyDirectory(tmp_path / "out"), load(tmp_path / "study.toml"), Disk())
