"""Studies and plans: what is refused, what is asked, and the keys under which answers are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import MultipleChoice, game24
from affidavit.archive.disk import Disk
from affidavit.errors import InputError
from affidavit.items.item import Item, items_of, read_items
from affidavit.models.model import Completion, Failure, Reason
from affidavit.running.pace import Pace
from affidavit.study.check import parse_study
from affidavit.study.files import load
from affidavit.study.freezing import frozen_items, opened
from affidavit.study.plan import Plan
from affidavit.study.study_file import changes, frozen, seed_of

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
    "not TOML": ("[study", "TOML"),
    "no name": ("[study]\n[models.m]\nbase_url='http://h'\n[tasks.t]\ncontract='mcqa'\nitems='i'", "`name`"),
    "a misspelt key": (STUDY.replace("base_url =", "base_ulr =", 1), "base_url"),
    "a name that leaves the directory": (STUDY.replace('"small"', '"../x"'), "study.name"),
    "no model": (STUDY.replace("[models.one]", "[models]\n[other]"), "unknown"),
    "no address": (STUDY.replace('"http://127.0.0.1:1/v1"\n\n', '"localhost"\n\n'), "http://"),
    "no connection": (STUDY.replace('flavour = "llamacpp"', "connections = 0"), "connections"),
    "an endless limit": (STUDY + "[limits]\nattempt = inf\n", "finite limits.attempt"),
    "no sample": (STUDY.replace("samples = 2", "samples = 0"), "decoding.samples"),
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


@pytest.mark.parametrize("name", BAD_ITEMS)
def test_an_item_that_does_not_fit_is_refused(name):
    """Ruling M3."""
    with pytest.raises(InputError, match=r"items\.jsonl:3"):
        list(items_of(read_items([("items.jsonl:3", BAD_ITEMS[name])]), MultipleChoice()))


def test_ids_are_unique():
    hand = '{"id": 1, "numbers": [4, 9, 10, 13]}'
    assert next(items_of(read_items([("f:1", hand)]), game24))[1].id == "1"
    with pytest.raises(InputError, match="f:2"):
        list(items_of(read_items([("f:1", hand), ("f:2", hand)]), game24))


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
    assert list(response) == [
        "kind", "key", "study", "task", "item_id", "model", "condition", "sample", "prompt_sha256",
        "grammar_sha256", "raw_output", "contract", "contract_params", "protocol_compliant", "extracted_answer",
        "deviation", "correct", "keyed", "right_answer", "finish_reason", "reasoning", "rendered_prompt", "usage",
    ]  # fmt: skip
    assert (response["correct"], response["keyed"], response["contract"]) == (True, True, "mcqa/1")
    failure = planned.failure(question, Failure(Reason.TIMEOUT, "after 3 s"))
    assert (failure["reason"], "detail" in failure) == (Reason.TIMEOUT, False)


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
    contracts = {"mcqa": MultipleChoice(), "game24": game24}
    files = load(tmp_path / "study.toml", lambda name, options: contracts[name])
    directory = tmp_path / "out"
    directory.mkdir()
    planned = opened(directory, files, Disk())
    assert {name: task.count for name, task in planned.tasks.items()} == {"trivia": 2, "hands": 3}
    found = [(task, item.id, item.fields.get("answer")) for task, item in frozen_items(directory)]
    assert found[:2] == [("trivia", "mmlu-1", "A"), ("trivia", "mmlu-2", "D")]
    assert [task for task, _, _ in found[2:]] == ["hands"] * 3
    assert opened(directory, files, Disk()).planned == planned.planned
    with pytest.raises(InputError, match="only hands of game24"):
        parse_study(STUDY.replace('"items.jsonl"', "{ generate = 3 }"), where="s")
