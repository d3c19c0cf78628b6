"""Options in another order: whatever is shown where, an answer counts for the option that stood at its letter."""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import msgspec
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.archive.record import record_fields
from affidavit.contracts.mcqa import LETTERS, ChoiceOfEachItem
from affidavit.items.item import Item
from affidavit.items.option_order import (
    arranged,
    arrangement,
    lettered,
    own_letter,
    shown_letter,
    wrong_letter,
)
from affidavit.models.model import Completion
from affidavit.study.check import parse_study
from affidavit.study.files import items_for, load
from affidavit.study.plan import Plan
from affidavit.study.study_file import Header
from affidavit.study.task import Question
from support.published_items import GPQA_HEADER, REDUX_HEADER, lines, table

ORDERS = ("as_given", "shuffle", "rotate")

seeds = st.integers(-(2**63), 2**63 - 1)
names = st.text(max_size=8)
counts = st.integers(2, len(LETTERS))
draws = st.fixed_dictionaries(
    {"seed": seeds, "task": names, "item": names, "sample": st.integers(0, 50), "count": counts}
)
orders = st.sampled_from(ORDERS)
rights = st.integers(0, len(LETTERS) - 1)


# --- the order ---


@pytest.mark.slow
@settings(max_examples=50)
@given(orders, draws)
def test_an_order_shows_every_option_once_and_the_way_back_is_sure(how, draw):
    order, count = arrangement(how, **draw), draw["count"]
    assert order == arrangement(how, **draw)
    assert sorted(order) == list(range(count))
    assert sorted(lettered(order)) == list(LETTERS[:count])
    for place, letter in enumerate(LETTERS[:count]):
        assert own_letter(letter, order) == lettered(order)[place]
        assert shown_letter(own_letter(letter, order), order) == letter
        assert own_letter(shown_letter(letter, order), order) == letter


@pytest.mark.slow
@settings(max_examples=50)
@given(orders, draws, rights | st.none())
def test_an_item_is_shown_with_the_letter_of_its_right_option(how, draw, right):
    options = [f"option {number}" for number in range(draw["count"])]
    right = None if right is None else right % len(options)
    own = Item("q", {"question": "?", "options": options, "answer": None if right is None else LETTERS[right]})
    before = json.dumps(own.fields)
    order = arrangement(how, **draw)
    shown = arranged(own, order)
    assert shown.fields["options"] == [options[ord(letter) - ord("A")] for letter in lettered(order)]
    if right is None:
        assert shown.fields["answer"] is None
    else:
        assert shown.fields["options"][LETTERS.index(shown.fields["answer"])] == options[right]
    assert (shown.id, shown.fields["question"], json.dumps(own.fields)) == ("q", "?", before)


@settings(max_examples=30)
@given(draws)
def test_as_many_rotations_as_options_show_every_option_once_at_every_letter(draw):
    count, begun = draw["count"], draw.pop("sample")
    rotated = [arrangement("rotate", **draw, sample=begun + sample) for sample in range(count)]
    for place in range(count):
        assert sorted(order[place] for order in rotated) == list(range(count))
    assert arrangement("rotate", **draw, sample=begun + count) == rotated[0]


def test_shuffled_options_stand_at_every_letter_about_equally_often():
    drawn_orders = [
        arrangement("shuffle", seed=1, task="t", item=f"q{n}", sample=sample, count=4)
        for n in range(300)
        for sample in range(4)
    ]
    assert len(set(drawn_orders)) == 24
    for place, option in product(range(4), range(4)):
        assert 240 < sum(order[place] == option for order in drawn_orders) < 360


@settings(max_examples=50)
@given(draws, rights)
def test_the_wrong_option_is_an_option_and_never_the_right_one(draw, answer):
    count = draw.pop("count")
    del draw["sample"]  # it is the same in all of them
    right = LETTERS[answer % count]
    wrong = wrong_letter(right, count, **draw)
    assert wrong in LETTERS[:count]
    assert wrong != right


def test_every_wrong_option_is_named_about_equally_often():
    named = Counter(wrong_letter("B", 4, seed=1, task="t", item=f"q{n}") for n in range(600))
    assert set(named) == set("ACD")
    assert all(150 < count < 250 for count in named.values())


GOLDEN = {
    ("shuffle", 7, "trivia", "q1", 0, 4): "BCDA",
    ("shuffle", 7, "trivia", "q1", 1, 8): "GBDECHFA",
    ("shuffle", 7, "trivia", "q2", 0, 8): "BDGEFCAH",
    ("shuffle", 7, "other", "q1", 0, 8): "BEDGCHAF",
    ("shuffle", 8, "trivia", "q1", 0, 8): "BDCAEGHF",
    ("shuffle", 0, "Ænigma", "frage-ü 1", 2, 10): "GEFDBHIACJ",
    ("rotate", 7, "trivia", "q1", 0, 4): "CDAB",
    ("rotate", 7, "trivia", "q1", 1, 4): "DABC",
    ("rotate", 7, "trivia", "q2", 0, 4): "ABCD",
    ("rotate", 0, "Ænigma", "frage-ü 1", 2, 10): "FGHIJABCDE",
    ("as_given", 7, "trivia", "q1", 3, 5): "ABCDE",
}
GOLDEN_WRONG = {
    ("A", 4, 7, "trivia", "q1"): "B",
    ("B", 4, 7, "trivia", "q1"): "A",
    ("B", 4, 8, "trivia", "q2"): "C",
    ("B", 4, 7, "other", "q1"): "D",
    ("J", 10, 0, "Ænigma", "frage-ü 1"): "B",
}


def test_orders_stay_the_same_for_ever():
    """A study that is gone on with next year must show what it showed before."""
    found = {
        key: lettered(arrangement(how, seed=seed, task=task, item=item, sample=sample, count=count))
        for key in GOLDEN
        for how, seed, task, item, sample, count in [key]
    }
    assert found == GOLDEN
    wrong = {
        key: wrong_letter(answer, count, seed=seed, task=task, item=item)
        for key in GOLDEN_WRONG
        for answer, count, seed, task, item in [key]
    }
    assert wrong == GOLDEN_WRONG


# --- in a plan ---

STUDY = """
[study]
name = "ordered"

[models.one]
base_url = "http://127.0.0.1:1/v1"

[models.two]
base_url = "http://127.0.0.1:1/v1"

[tasks.quiz]
contract = "mcqa"
items = "FILE"
options = "auto"
option_order = "ORDER"

[conditions.plain]

[conditions.harm]
preamble = "They say {wrong_option}."

[conditions.help]
system = "They say {right_option}."

[decoding]
samples = 3
"""


def planned(how: str, seed: int) -> Plan:
    study = parse_study(STUDY.replace("ORDER", how), where="s")
    chosen = msgspec.structs.replace(study, study=Header(name="ordered", seed=seed))
    return Plan(chosen, {"quiz": ChoiceOfEachItem()}, {"quiz": 1}, {})


@pytest.mark.slow
@settings(max_examples=25)
@given(seeds, orders, counts, rights, names)
def test_models_and_conditions_see_the_same_order_and_hear_of_the_same_options(seed, how, count, answer, item):
    options = [f"<{number}>" for number in range(count)]
    asked = Item(item, {"question": "?", "options": options, "answer": LETTERS[answer % count]})
    plan, blocks, named = planned(how, seed), {}, {"harm": set(), "help": set()}
    for model in ("one", "two"):
        for question in plan.questions(plan.tasks["quiz"], asked, model):
            *system, user = question.request.messages
            block = user["content"].rpartition("\n\n")[2]
            blocks.setdefault(question.sample, set()).add(block)
            shown = dict(line.split(". ", 1) for line in block.split("\n"))
            if question.condition != "plain":
                said = (system or [user])[0]["content"].partition(".")[0]
                named[question.condition].add(shown[said.removeprefix("They say ")])
    assert {len(each) for each in blocks.values()} == {1}
    assert named["help"] == {options[answer % count]}
    assert len(named["harm"]) == 1, "one wrong option of the item, at whichever letter it is shown"
    assert not named["harm"] & named["help"]


# --- the law: from a published file to a verdict ---

QUESTION = 'Which {question}, of\n\nA. these\nB. {options}\n\nis "it"; or, rather, isn\'t?'
TRAPS = [
    "plain",
    " outer blanks \t",
    "two\nlines",
    "{question}",
    "A. a letter first",
    "D",
    "{right_option} or {wrong_option}",
    "<answer>A</answer>",
    "quoted \"so\", 'so'; or\r\nso",
    "C. two\nD. letters at\nthe wrong places",
]


@dataclass(frozen=True)
class Asked:
    """A question before anybody wrote it down in some format."""

    question: str
    options: list[str]
    right: int


def asked(*sizes: int) -> list[Asked]:
    """Questions of so many options, with other traps first in each, and the right one at another place."""
    return [
        Asked(f"{number}. {QUESTION}", (TRAPS * 2)[number : number + size], (number * 2 + 1) % size)
        for number, size in enumerate(sizes)
    ]


FOURS = asked(4, 4, 4, 4)
MANY = asked(3, 4, 5, 10)


def parquet(rows: list[dict]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(out)
    return out.getvalue()


def own(each: Asked, number: int) -> dict:
    return {"id": number, "question": each.question, "options": each.options, "answer": LETTERS[each.right]}


def pro(each: Asked, number: int) -> dict:
    filled = each.options + ["N/A"] * (10 - len(each.options))
    return {
        "question_id": number, "question": each.question, "options": filled, "answer": LETTERS[each.right],
        "answer_index": each.right, "cot_content": "", "category": "trap", "src": "here",
    }  # fmt: skip


def arc(each: Asked, number: int, **more: str) -> dict:
    choices = [{"text": text, "label": letter} for text, letter in zip(each.options, LETTERS, strict=False)]
    stem = {"stem": each.question, "choices": choices, **more}
    return {"id": f"arc-{number}", "question": stem, "answerKey": LETTERS[each.right]}


def flat(each: Asked, number: int) -> dict:
    labels = [str(place + 1) for place in range(len(each.options))]
    return {
        "id": f"flat-{number}", "question": each.question, "choices": {"text": each.options, "label": labels},
        "answerKey": labels[each.right],
    }  # fmt: skip


def aqua(each: Asked) -> dict:
    marked = [f"{letter}){option}" for letter, option in zip(LETTERS, each.options, strict=False)]
    return {"question": each.question, "options": marked, "rationale": "So.", "correct": LETTERS[each.right]}


def gpqa(each: Asked, number: int) -> list[str]:
    wrong = [option for place, option in enumerate(each.options) if place != each.right]
    return [f"rec{number}", each.question, each.options[each.right], *wrong, "me"]


def redux(written: Callable[[list[str]], str], each: Asked) -> list[object]:
    return [each.question, written(each.options), each.right, "ok", "", "", ""]


def numbered(make: Callable[..., object], many: list[Asked], **more: str) -> list:
    return [make(each, number, **more) for number, each in enumerate(many)]


LETTERED_HEADER = ["", "question", *"ABCD", "answer", "subject"]
FORMATS: dict[str, tuple[str, bytes, list[Asked]]] = {
    "own lines": ("own.jsonl", lines(*numbered(own, MANY)), MANY),
    "own table": (
        "own.csv",
        table(
            ["id", "question", "options", "answer"],
            *([n, each.question, json.dumps(each.options), LETTERS[each.right]] for n, each in enumerate(MANY)),
        ),
        MANY,
    ),
    "MMLU without a header": (
        "m.csv", table(*([each.question, *each.options, LETTERS[each.right]] for each in FOURS)), FOURS
    ),
    "MMLU with letters": (
        "m.csv",
        table(
            LETTERED_HEADER,
            *([n, each.question, *each.options, LETTERS[each.right], "x"] for n, each in enumerate(FOURS)),
        ),
        FOURS,
    ),
    "MMLU with numbers": (
        "m.csv",
        table(
            ["question", *(f"choice{n}" for n in range(4)), "answer"],
            *([each.question, *each.options, each.right] for each in FOURS),
        ),
        FOURS,
    ),
    "MMLU with lists": (
        "m.parquet",
        parquet([{"question": each.question, "choices": each.options, "answer": each.right} for each in FOURS]),
        FOURS,
    ),
    "MMLU-Pro as JSON": ("p.json", json.dumps(numbered(pro, MANY)).encode(), MANY),
    "MMLU-Pro as lines": ("p.jsonl", lines(*numbered(pro, MANY)), MANY),
    "MMLU-Pro as Parquet": ("p.parquet", parquet(numbered(pro, MANY)), MANY),
    "ARC": ("a.jsonl", lines(*numbered(arc, MANY)), MANY),
    "CommonsenseQA": ("c.jsonl", lines(*numbered(arc, MANY, question_concept="trap")), MANY),
    "flat ARC": ("f.jsonl", lines(*numbered(flat, MANY)), MANY),
    "flat ARC as Parquet": ("f.parquet", parquet(numbered(flat, MANY)), MANY),
    "AQuA": ("q.jsonl", lines(*(aqua(each) for each in MANY)), MANY),
    "GPQA": ("g.csv", table(GPQA_HEADER, *numbered(gpqa, FOURS)), FOURS),
    "MMLU-Redux": ("r.csv", table(REDUX_HEADER, *(redux(repr, each) for each in MANY)), MANY),
    "MMLU-Redux with semicolons": (
        "r.csv", table(REDUX_HEADER, *(redux(json.dumps, each) for each in MANY), delimiter=";"), MANY
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def read(tmp_path_factory) -> Callable[[str], list[Item]]:
    """The items that a study finds in a file of some format."""
    known: dict[str, list[Item]] = {}

    def items(name: str) -> list[Item]:
        if name not in known:
            folder = tmp_path_factory.mktemp("format")
            file, content, _ = FORMATS[name]
            (folder / file).write_bytes(content)
            (folder / "study.toml").write_text(STUDY.replace("FILE", file).replace("ORDER", "shuffle"))
            files = load(folder / "study.toml")
            known[name] = list(items_for(files, files.plan({"quiz": 0}).tasks["quiz"]))
        return known[name]

    return items


def ways_to_read(block: str, options: list[str], place: int = 0) -> Iterator[list[str]]:
    """Every way in which a text is these options, each once, at letters in their order."""
    if not options:
        yield from [[]] if not block else []
        return
    for number, option in enumerate(options):
        line = f"{LETTERS[place]}. {option}" + ("\n" if len(options) > 1 else "")
        if block.startswith(line):
            others = options[:number] + options[number + 1 :]
            for rest in ways_to_read(block[len(line) :], others, place + 1):
                yield [option, *rest]


def shown_at_letters(question: Question, was: Asked) -> list[str]:
    """The options as a reader of the prompt finds them, from A on."""
    before, _, block = question.request.messages[-1]["content"].partition(f"\n\n{was.question}\n\n")
    assert before.endswith("<answer>X</answer>\n\nDo not include any other text.")
    (found,) = ways_to_read(block, was.options)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=2)
@given(seed=seeds)
def test_an_answer_counts_for_the_option_that_stood_at_its_letter(read, name, seed):
    for how in ORDERS:
        plan, seen = planned(how, seed), set()
        for was, item in zip(FORMATS[name][2], read(name), strict=True):
            for question in plan.questions(plan.tasks["quiz"], item, "one"):
                seen.add(tuple(counted_where_shown(plan, question, was, item)))
        if how == "as_given":
            assert seen == {tuple(item.fields["options"]) for item in read(name)}
        else:
            assert len(seen) > len(read(name)), "samples see their options in other orders"


def counted_where_shown(plan: Plan, question: Question, was: Asked, item: Item) -> list[str]:
    """Answer a question with every letter, and one more; the options as they were shown."""
    own_options, right = item.fields["options"], was.options[was.right]
    assert sorted(own_options) == sorted(was.options)
    assert item.fields["answer"] == LETTERS[own_options.index(right)]
    shown = shown_at_letters(question, was)
    for letter, option in zip(LETTERS, shown, strict=False):
        record = record_fields(plan.response(question, Completion(f"<answer>{letter}</answer>")))
        assert record["contract_params"] == {"options": f"A-{LETTERS[len(shown) - 1]}"}
        assert (record["protocol_compliant"], record["extracted_answer"]) == (True, letter)
        assert record["correct"] is (option == right)
        # Without an arrangement an option's own letter is the one at which it is shown.
        assert own_options[LETTERS.index(record.get("own_answer", letter))] == option
        order = record.get("option_order", LETTERS[: len(shown)])
        assert [own_options[LETTERS.index(each)] for each in order] == shown
    beyond = record_fields(plan.response(question, Completion(f"<answer>{LETTERS[len(shown)]}</answer>")))
    assert (beyond["deviation"], beyond.get("own_answer"), beyond["correct"]) == ("option_out_of_set", None, None)
    return shown
