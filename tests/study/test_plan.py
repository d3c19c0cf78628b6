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
from affidavit.models.model import Completion, Failure, Reason
from affidavit.reading.csv_files import any_header
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.source import bytes_source
from affidavit.running.pace import Pace
from affidavit.study.check import parse_study
from affidavit.study.files import load
from affidavit.study.freezing import freeze_or_check, frozen_items
from affidavit.study.frozen_form import changes, frozen
from affidavit.study.plan import Plan
from affidavit.study.request_seed import seed_of

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
    "no name": ("[study]\n[models.m]\nbase_url='http://h'\n[tasks.t]\ncontract='mcqa'\nitems='i'", "found Object missing required field `name`"),
    "a misspelt key": (STUDY.replace("base_url =", "base_ulr =", 1), "expected known keys in models.one, found 'base_ulr'"),
    "a name that leaves the directory": (STUDY.replace('"small"', '"../x"'), "underscores in study.name, found '../x'"),
    "no model": (STUDY.replace("[models.one]", "[models]\n[other]"), "unknown field `other`"),
    "no address": (STUDY.replace('"http://127.0.0.1:1/v1"\n\n', '"localhost"\n\n'), "an http:// or https:// address in models.one.base_url"),
    "no connection": (STUDY.replace('flavour = "llamacpp"', "connections = 0"), "a positive, finite models.two.connections, found 0"),
    "an endless limit": (STUDY + "[limits]\nattempt = inf\n", "a positive, finite limits.attempt, found inf"),
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


def test_what_decides_the_answers_is_frozen_and_nothing_else():
    study = parse_study(STUDY, where="s")
    moved = parse_study(STUDY.replace("127.0.0.1:1", "127.0.0.1:9") + "[limits]\nattempt = 1\n", where="s")
    assert changes(frozen(study), frozen(moved)) == []
    warmer = parse_study(STUDY + "temperature = 0.5\n", where="s")
    assert changes(frozen(study), frozen(warmer)) == ["decoding.temperature: was 0.0, is 0.5"]


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
    "no id": "an 'id': a text or a whole number, found null",
    "blank id": "an 'id': a text or a whole number, found \" \"",
    "no question": "a text in 'question', found null",
    "no options": "a list of texts in 'options', found null",
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
    assert [each.request.seed for each in free] == [each.request.seed for each in polite]
    assert len({each.request.seed for each in free}) == 2
    assert polite[0].request.messages[0]["content"].startswith("Please.\n\nAnswer the following")


def test_keys_stay_the_same_for_ever():
    planned = plan()
    first = next(planned.questions(planned.tasks["trivia"], ITEM, "one"))
    assert first.key == "07f41b90490a2eedcf27bc05e5e51d077bb0cee3df45f3fd4a5040b4bbd8195c"
    assert first.prompt_sha256 == "9034f6776b5660a3261c732f9e09ae9984c3954c3a885aa0a2287a6b9dc59311"
    assert first.request.seed == seed_of(7, "trivia", "q1", 0) == 1370363107


def test_a_key_depends_on_what_is_asked_and_not_on_where():
    here, there = plan(), plan(STUDY.replace("127.0.0.1:1", "10.0.0.1:1"))
    warm = plan(STUDY + "temperature = 0.5\n")
    keys = [next(each.questions(each.tasks["trivia"], ITEM, "one")).key for each in (here, there, warm)]
    assert keys[0] == keys[1] != keys[2]


def test_records_say_everything_but_the_day():
    planned = plan()
    question = next(planned.questions(planned.tasks["trivia"], ITEM, "one"))
    response = planned.response(question, Completion("<answer>B</answer>", "stop", None, {"prompt_tokens": 3}))
    assert list(record_fields(response)) == [
        "kind", "key", "study", "task", "item_id", "model", "condition", "sample", "prompt_sha256",
        "grammar_sha256", "raw_output", "contract", "contract_params", "protocol_compliant", "extracted_answer",
        "deviation", "correct", "right_answer", "keyed", "finish_reason", "reasoning", "rendered_prompt", "usage",
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
    planned = freeze_or_check(study, files, Disk())
    assert {name: task.count for name, task in planned.tasks.items()} == {"trivia": 2, "hands": 3}
    found = [(task, item.id, item.fields.get("answer")) for task, item in frozen_items(study)]
    assert found[3:] == [("trivia", "mmlu-1", "A"), ("trivia", "mmlu-2", "D")]
    assert [task for task, _, _ in found[:3]] == ["hands"] * 3
    assert freeze_or_check(study, files, Disk()).planned == planned.planned
    with pytest.raises(InputError, match="only hands of game24"):
        parse_study(STUDY.replace('"items.jsonl"', "{ generate = 3 }"), where="s")
