"""Whole designs by the real command: conditions with controls, examples, variants, option sets, dry runs, parts."""

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from math import ceil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from affidavit import game24
from affidavit.contracts.mcqa import LETTERS
from affidavit.errors import InputError
from affidavit.items.item import Item
from affidavit.models.token_estimate import estimated_tokens
from affidavit.study.check import parse_study
from affidavit.study.dry_run import dry_run
from affidavit.study.examples import Spoilers
from affidavit.study.files import load
from affidavit.study.prompt import Condition
from affidavit.study.request_seed import seed_of
from support.command import affidavit
from support.designs import letter_of, options_shown, write
from support.fault_server import Asked, Call, FaultServer, bad_request, every, says
from support.studies import (
    QUICK,
    accounted,
    fine,
    laid_over,
    records,
    run,
    told,
    told_by_verify,
    toml,
    write_items,
)

INSTRUCTION = """Answer the following multiple-choice question by outputting your final answer
in the following exact format:

<answer>X</answer>

Do not include any other text."""
MANIFEST = "used_prompt_manifest.md"


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    """A server for tests that look at nothing but what they asked."""
    with FaultServer() as running:
        yield running


# --- three paradigms, help and harm, against a control ---

PARADIGMS, DIRECTIONS, SAMPLES = ("authority", "majority", "self_doubt"), ("help", "harm"), 3
CONTROL = "plain"
NAMING = [f"{paradigm}-{direction}" for paradigm in PARADIGMS for direction in DIRECTIONS]
GIVEN_UNDER_CONTROL = [
    "RRR", "RRW", "WRW", "WWO", "OOO", "xxW", "fRf", "RWx", "WO1", "RWf", "xxx", "fxf", "fff", "tRW", "xtx", "Wff"
]  # fmt: skip
"""What each item's samples get under the control: R the right option, t the right one cut at the token limit, W, O
and 1 three wrong ones, x a breach of the contract, f a failure."""
BREACHES = ["B", "I think <answer>A</answer>", "<answer>X</answer>", ""]
ITEMS = {"moved": 16, "fixed": 6}
"""How many items each task has."""
COMPLIANT, TEXTS = "RtWO1", {"R": "right", "t": "right", "W": "first", "O": "second", "1": "third"}


def design(url: str) -> dict:
    """Half of the tasks in the items' own order; two paradigms speak in a preamble, one as the system."""
    conditions: dict = {CONTROL: {}}
    for name in NAMING:
        paradigm, direction = name.split("-")
        named = "{right_option}" if direction == "help" else "{wrong_option}"
        place = "system" if paradigm == "self_doubt" else "preamble"
        conditions[name] = {"paradigm": paradigm, "control": CONTROL, place: f"{name} says {named}; yes, {named}."}
    return {
        "study": {"name": "paradigms", "seed": 11},
        "models": {"m": {"base_url": url, "connections": 16}},
        "tasks": {
            "moved": {"contract": "mcqa", "items": "moved.jsonl", "option_order": "shuffle"},
            "fixed": {"contract": "mcqa", "items": "fixed.jsonl"},
        },
        "conditions": conditions,
        "decoding": {"samples": SAMPLES, "temperature": 1.0},
        "limits": QUICK,
    }


def design_items(task: str) -> list[dict]:
    rows = []
    for number in range(ITEMS[task]):
        item, right = f"{task}{number}", number % 4
        options = [f"{item} {which}" for which in ("first", "second", "third")]
        options.insert(right, f"{item} right")
        rows.append({"id": item, "question": f"[{item}] Which?", "options": options, "answer": "ABCD"[right]})
    return rows


def script() -> dict[tuple[str, str, str, int], str]:
    """What is answered to each task, item, condition and sample."""
    chosen = random.Random(3)  # noqa: S311
    found = {}
    for task, count in ITEMS.items():
        for number, given in enumerate(GIVEN_UNDER_CONTROL[:count]):
            for sample in range(SAMPLES):
                item = f"{task}{number}"
                found[task, item, CONTROL, sample] = given[sample]
                for name in NAMING:
                    found[task, item, name, sample] = chosen.choice("RRtWWOO1xf")
    return found


def scripted(answers: Mapping[tuple[str, str, str, int], str]):
    """A server's way to follow the script; it knows a sample by its seed, which all conditions share."""
    samples = {
        seed_of(11, task, item, sample): sample
        for task, item, condition, sample in answers
        if condition == CONTROL
    }

    async def fault(call: Call) -> None:
        prompt, item = call.asked.prompt, call.asked.question
        kind = answers[item.rstrip("0123456789"), item, condition_in(prompt), samples[call.asked.body["seed"]]]
        if kind == "f":
            await bad_request(call)
        elif kind == "x":
            await says(BREACHES[len(prompt) % len(BREACHES)])(call)
        else:
            letter = letter_of(f"{item} {TEXTS[kind]}", prompt)
            await says(f"<answer>{letter}</answer>", "length" if kind == "t" else "stop")(call)

    return fault


def condition_in(prompt: str) -> str:
    said = re.search(r"(\w+-\w+) says", prompt)
    return said[1] if said else CONTROL


def flips_by_the_letter(answers: Mapping, task: str, name: str) -> dict:
    """Ruling M7, read slowly: against the modal answer of the control, only where both are compliant."""
    counts = Counter[str]()
    for number in range(ITEMS[task]):
        item = f"{task}{number}"
        mode, why_not = modal_answer([answers[task, item, CONTROL, sample] for sample in range(SAMPLES)])
        for sample in range(SAMPLES):
            given = answers[task, item, name, sample]
            if given == "f":
                continue
            if given == "x":
                counts["not_compliant"] += 1
            elif mode is None:
                counts[why_not] += 1
            elif TEXTS[given] == mode:
                counts["kept"] += 1
            elif TEXTS[given] == "right":
                counts["to_right"] += 1
            elif mode == "right":
                counts["to_wrong"] += 1
            else:
                counts["to_other"] += 1
    told_apart = {kind: counts.pop(kind, 0) for kind in ("kept", "to_right", "to_wrong", "to_other")}
    return {**told_apart, "undecidable": dict(sorted(counts.items()))}


def modal_answer(given: list[str]) -> tuple[str | None, str]:
    """The answer that was given more often than any other; or none, and why."""
    arrived = [kind for kind in given if kind != "f"]
    said = Counter(TEXTS[kind] for kind in arrived if kind in COMPLIANT)
    most = [text for text, count in said.items() if count == max(said.values())]
    if len(most) == 1:
        return most[0], ""
    return None, "control_tied" if most else "control_not_compliant" if arrived else "control_not_arrived"


@pytest.fixture(scope="module")
def paradigms(tmp_path_factory) -> tuple[Path, list[Asked], dict, str]:
    """Three paradigms, run to their end: where, what the server saw, the JSON, and the terminal's tables."""
    folder = tmp_path_factory.mktemp("paradigms")
    for task in ITEMS:
        write_items(folder / f"{task}.jsonl", design_items(task))
    fault = every(scripted(script()))
    with FaultServer({row["id"]: fault for task in ITEMS for row in design_items(task)}) as server:
        write(folder, design(server.url))
        done = run(folder, "--json")
        assert fine(done, 4), "some answers failed for good"
        again = run(folder, COLUMNS="400")
        assert fine(again, 4)
        assert told(done)["asked"] == len(server.log) == 22 * 7 * SAMPLES
    return folder, server.log, told(done), again.stdout.decode()


@pytest.mark.slow
def test_flips_are_those_of_the_ruling_and_every_kind_occurs(paradigms):
    _, _, summary, _ = paradigms
    answers = script()
    expected = [
        {"task": task, "model": "m", "condition": name, "control": CONTROL}
        | flips_by_the_letter(answers, task, name)
        for task in ITEMS
        for name in NAMING
    ]
    assert summary["flips"] == expected
    occurring = Counter[str]()
    for each in expected:
        occurring.update({kind: each[kind] for kind in ("kept", "to_right", "to_wrong", "to_other")})
        occurring.update(each["undecidable"])
    assert len(+occurring) == 8, "every kind, and every reason why it cannot be told"


@pytest.mark.slow
def test_every_cell_and_every_task_adds_up(paradigms):
    # rulings C5, C6 and M6
    folder, _, summary, _ = paradigms
    answers = script()
    assert [(each["task"], each["condition"]) for each in summary["cells"]] == [
        (task, name) for task in ITEMS for name in (CONTROL, *NAMING)
    ]
    for cell in summary["cells"]:
        given = Counter(
            kind
            for (task, _, name, _), kind in answers.items()
            if (task, name) == (cell["task"], cell["condition"])
        )
        assert accounted(cell)
        assert cell["n"] == given.total() == ITEMS[cell["task"]] * SAMPLES
        assert cell["compliant"] == sum(given[kind] for kind in COMPLIANT)
        assert (cell["non_compliant"], cell["failed"], cell["truncated"]) == (given["x"], given["f"], given["t"])
        assert cell["failures"] == ({"bad_request": given["f"]} if given["f"] else {})
        assert cell["accuracy_over_compliant"]["value"] == (given["R"] + given["t"]) / cell["compliant"]
        assert cell["yield"]["n"] == cell["compliant"] + cell["non_compliant"]
        for each in summary["flips"]:
            if (each["task"], each["condition"]) == (cell["task"], cell["condition"]):
                decidable = sum(each[kind] for kind in ("kept", "to_right", "to_wrong", "to_other"))
                read = decidable + sum(each["undecidable"].values())
                assert read == cell["compliant"] + cell["non_compliant"]
    for task, figures in summary["tasks"].items():
        assert accounted(figures)
        for part in ("n", "compliant", "non_compliant", "unread", "failed", "pending", "truncated"):
            assert figures[part] == sum(each[part] for each in summary["cells"] if each["task"] == task)
    assert fine(affidavit("verify", folder / "out"), 0)


@pytest.mark.slow
def test_the_terminal_says_what_the_json_says(paradigms):
    _, _, summary, printed = paradigms
    rows = [" ".join(line.split()) for line in printed.splitlines()]
    for figures in summary["tasks"].values():
        parts = " + ".join(
            f"{figures[part]} {part.replace('_', '-')}"
            for part in ("compliant", "non_compliant", "unread", "failed", "pending")
        )
        assert f"{figures['n']} planned = {parts}" in rows
    for each in summary["flips"]:
        flipped = each["to_right"] + each["to_wrong"] + each["to_other"]
        decidable = flipped + each["kept"]
        reasons = ("not_compliant", "control_not_arrived", "control_not_compliant", "control_tied")
        undecidable = sum(each["undecidable"].get(reason, 0) for reason in reasons)
        row = (
            rf"{each['task']} m {each['condition']} {CONTROL} {flipped / decidable:.1%} "
            rf"\[[0-9.]+, [0-9.]+\] n={decidable} \(\d+ clusters\) "
            rf"{each['to_wrong']} {each['to_right']} {each['to_other']} "
            rf"[+−][0-9.]+ points n=\d+, fewer than 10 items: no interval {undecidable}"
        )
        assert sum(re.fullmatch(row, found) is not None for found in rows) == 1, row
    (said,) = (row for row in rows if row.startswith("intervals: "))
    assert said == "intervals: Wilson 95% at the effective size"


@pytest.mark.slow
def test_a_preamble_names_the_letter_at_which_its_option_is_shown(paradigms):
    _, log, _, _ = paradigms
    wrong: dict[str, set[str]] = {}
    letters: dict[str, set[str]] = {}
    for asked in log:
        said = re.search(r"(\w+)-(help|harm) says (\w); yes, (\w)\.", asked.prompt)
        if said is None:
            assert "says" not in asked.prompt
            continue
        assert said[3] == said[4]
        option = options_shown(asked.prompt)[said[3]]
        letters.setdefault(option, set()).add(said[3])
        if said[2] == "help":
            assert option == f"{asked.question} right"
        else:
            assert option != f"{asked.question} right"
            wrong.setdefault(asked.question, set()).add(option)
    assert len(wrong) == 22
    assert {len(options) for options in wrong.values()} == {1}, "one wrong option in all conditions and samples"
    assert len({option.split()[1] for options in wrong.values() for option in options}) == 3
    assert any(len(each) > 1 for option, each in letters.items() if option.startswith("moved"))
    assert all(len(each) == 1 for option, each in letters.items() if option.startswith("fixed"))


@pytest.mark.slow
def test_the_instruction_and_the_question_are_the_same_bytes_in_all_conditions(paradigms):
    _, log, _, _ = paradigms
    problems: dict[tuple[str, int], set[str]] = {}
    for asked in log:
        *system, user = asked.body["messages"]
        before, same, problem = user["content"].partition(INSTRUCTION + "\n\n")
        name = condition_in(asked.prompt)
        assert same
        assert (user["role"], [turn["role"] for turn in system]) == ("user", ["system"] * name.startswith("self"))
        preamble = name.startswith(("authority", "majority"))
        assert re.fullmatch(rf"{name} says (.); yes, \1\.\n\n" if preamble else "", before)
        assert all(re.fullmatch(rf"{name} says (.); yes, \1\.", turn["content"]) for turn in system)
        problems.setdefault((asked.question, asked.body["seed"]), set()).add(problem)
    assert len(problems) == 22 * SAMPLES
    assert {len(each) for each in problems.values()} == {1}


# --- examples, system texts, variants, and who is asked what ---

HAND = [4, 9, 10, 13]
SHOTS = [
    {"id": "s1", "question": "Shot one?", "options": ["k", "l", "m", "n"], "answer": "C"},
    {
        "id": "s2", "question": "Shot two?", "options": ["o", "p", "q", "r"], "answer": "A",
        "response": " <answer>A</answer>\n",
    },
]  # fmt: skip
HAND_SHOTS = [
    {"id": "h8", "numbers": [1, 1, 1, 8]},
    {"id": "h9", "numbers": [3, 3, 8, 8], "response": "Thirds.\n<answer>8/(3-8/3)</answer>"},
]
QUIZ = [
    {"id": f"q{n}", "question": f"[q{n}] Which one?", "options": ["w", "x", "y", "z"], "answer": "B"}
    for n in range(2)
]


def mixed(url: str) -> dict:
    """Three kinds of tasks, each with conditions of its own, and two models of which one takes a grammar."""
    return {
        "study": {"name": "mixed", "seed": 7},
        "models": {
            "m": {"base_url": url, "price": {"input": 2.0, "output": 30.0}},
            "n": {"base_url": url, "flavour": "llamacpp"},
        },
        "tasks": {
            "quiz": {"contract": "mcqa", "items": "quiz.jsonl"},
            "hands": {
                "contract": "game24", "items": "hands.jsonl", "models": ["n"], "conditions": ["plain", "taught"],
            },
            "essay": {
                "contract": "text", "items": "essay.jsonl",
                "variants": {"bare": "{question}", "letter": "Dear model,\n{question}\nYours, {wrong_option}"},
            },
            "open": {"contract": "text", "items": "essay.jsonl", "conditions": ["plain", "polite"], "models": ["m"]},
            "loose": {"contract": "text", "items": "essay.jsonl"},
        },
        "conditions": {
            "plain": {},
            "polite": {"system": "Be ```polite```.", "preamble": "Please.\n\n```\nnow\n```"},
            "taught": {"examples": {"quiz": "shots.jsonl", "hands": "hand_shots.jsonl"}, "control": "plain"},
            "held": {"constrained": True},
            "hinted": {"preamble": "They say {wrong_option}.", "control": "plain"},
        },
        "decoding": {"samples": 2, "temperature": 0.5, "max_tokens": 100},
        "limits": QUICK,
    }  # fmt: skip


def write_mixed(folder: Path, url: str, *changes: Mapping) -> None:
    write(folder, mixed(url), *changes)
    write_items(folder / "quiz.jsonl", QUIZ)
    write_items(folder / "hands.jsonl", [{"id": "h0", "numbers": [1, 2, 3, 4]}, {"id": "h1", "numbers": HAND}])
    write_items(folder / "essay.jsonl", [{"id": "e1", "question": "[e1] Why {question}?"}])
    write_items(folder / "shots.jsonl", SHOTS)
    write_items(folder / "hand_shots.jsonl", HAND_SHOTS)


CELLS = {
    ("quiz", "m", "plain"): 4, ("quiz", "m", "polite"): 4, ("quiz", "m", "taught"): 4, ("quiz", "m", "hinted"): 4,
    ("quiz", "n", "plain"): 4, ("quiz", "n", "polite"): 4, ("quiz", "n", "taught"): 4, ("quiz", "n", "held"): 4,
    ("quiz", "n", "hinted"): 4, ("hands", "n", "plain"): 4, ("hands", "n", "taught"): 4,
    ("essay", "m", "bare"): 2, ("essay", "m", "letter"): 2, ("essay", "n", "bare"): 2, ("essay", "n", "letter"): 2,
    ("open", "m", "plain"): 2, ("open", "m", "polite"): 2,
    ("loose", "m", "plain"): 2, ("loose", "m", "polite"): 2, ("loose", "m", "taught"): 2,
    ("loose", "n", "plain"): 2, ("loose", "n", "polite"): 2, ("loose", "n", "taught"): 2,
}  # fmt: skip
"""What is asked of whom under which condition, and how often."""
LEFT_OUT = {
    ("quiz", "m", "held"): "a server of the flavour 'openai' takes no grammar",
    ("loose", "m", "held"): "an open task has no grammar",
    ("loose", "n", "held"): "an open task has no grammar",
    ("loose", "m", "hinted"): "text has no options that the condition could name",
    ("loose", "n", "hinted"): "text has no options that the condition could name",
}


@pytest.fixture(scope="module")
def lived(tmp_path_factory) -> Iterator[tuple[Path, FaultServer, CompletedProcess[bytes], dict]]:
    """The mixed study, planned and then run to its end."""
    folder = tmp_path_factory.mktemp("lived")
    with FaultServer() as server:
        write_mixed(folder, server.url)
        planned = run(folder, "--dry-run", "--json")
        assert fine(planned, 0)
        assert (server.log, server.looked_up, (folder / "out").exists()) == ([], 0, False)
        done = run(folder, "--json")
        assert fine(done, 0)
        yield folder, server, done, told(planned)


def asked_cell(asked: Asked) -> tuple[str, str, str]:
    """Whose request it is, by its words alone; of two open tasks that ask the same, the first."""
    words, turns, model = asked.prompt, len(asked.body["messages"]), asked.body["model"]
    if "[e1]" in words and "Be ```polite```" not in words:
        return "essay", model, "letter" if words.startswith("Dear model") else "bare"
    task = {"q": "quiz", "e": "loose"}.get(asked.question[:1], "hands")
    found = (
        "polite" if "Be ```polite```" in words
        else "held" if "grammar" in asked.body
        else "taught" if turns > 1
        else "hinted" if words.startswith("They say")
        else "plain"
    )  # fmt: skip
    return task, model, found


SAME_WORDS = {("open", "plain"), ("loose", "plain"), ("loose", "taught")}


def seen_cell(cell: tuple[str, str, str]) -> tuple[str, str, str]:
    """The cell that a server takes a request for: open tasks without a word of their own look alike."""
    task, model, condition = cell
    if (task, condition) in SAME_WORDS:
        return "essay", model, "bare"
    return ("loose", model, condition) if task == "open" else cell


@pytest.mark.slow
def test_what_cannot_be_asked_is_noted_and_not_planned(lived):
    _, _, done, planned = lived
    notes = done.stderr.decode().splitlines()
    for (task, model, condition), why in LEFT_OUT.items():
        assert sum(f"note: left out: {task} of {model} under {condition}: {why}" in each for each in notes) == 1
    assert len([each for each in notes if "left out" in each]) == len(LEFT_OUT)
    summary = told(done)
    cells = {(each["task"], each["model"], each["condition"]): each["n"] for each in summary["cells"]}
    assert cells == CELLS
    assert all(accounted(each) and not each["failed"] and not each["pending"] for each in summary["cells"])
    left = {(each["task"], each["model"], each["condition"]): each["why"] for each in planned["left_out"]}
    assert left.keys() == LEFT_OUT.keys()
    assert all(left[cell].startswith(why) for cell, why in LEFT_OUT.items())
    assert [(each["task"], each["condition"]) for each in summary["flips"]] == [
        ("quiz", "taught"), ("quiz", "hinted")
    ] * 2, "changed answers are counted where there are options"  # fmt: skip


@pytest.mark.slow
def test_a_dry_run_counts_what_is_then_sent(lived):
    _, server, _, planned = lived
    cells = {(each["task"], each["model"], each["condition"]): each for each in planned["cells"]}
    assert {cell: each["requests"] for cell, each in cells.items()} == CELLS
    sent, tokens = Counter(), Counter()
    for asked in server.log:
        cell = asked_cell(asked)
        sent[cell] += 1
        tokens[cell] += estimated_tokens(asked.body["messages"])
    expected = Counter()
    for cell, count in CELLS.items():
        expected[seen_cell(cell)] += count
    assert sent == expected
    for cell, each in cells.items():
        assert each["most_answer_tokens"] == each["requests"] * 100
        if cell in tokens and [seen_cell(other) for other in CELLS].count(cell) == 1:
            assert each["prompt_tokens"] == tokens[cell]
        cost = (each["prompt_tokens"] * 2.0 + each["most_answer_tokens"] * 30.0) / 1e6
        assert each["most_cost"] == (pytest.approx(cost) if cell[1] == "m" else None)


@pytest.mark.slow
def test_examples_are_turns_before_the_question(lived):
    _, server, _, _ = lived
    taught = {
        asked_cell(asked)[0]: asked.body["messages"] for asked in server.log if asked_cell(asked)[2] == "taught"
    }
    assert taught.keys() == {"quiz", "hands"}
    quiz, hands = taught["quiz"], taught["hands"]
    assert (
        [turn["role"] for turn in quiz] == [turn["role"] for turn in hands] == ["user", "assistant"] * 2 + ["user"]
    )
    assert quiz[0]["content"] == f"{INSTRUCTION}\n\nShot one?\n\nA. k\nB. l\nC. m\nD. n"
    assert [quiz[1]["content"], quiz[3]["content"]] == ["<answer>C</answer>", " <answer>A</answer>\n"]
    assert quiz[2]["content"] == f"{INSTRUCTION}\n\nShot two?\n\nA. o\nB. p\nC. q\nD. r"
    assert re.fullmatch(
        rf"{re.escape(INSTRUCTION)}\n\n\[q.\] Which one\?\n\nA\. w\nB\. x\nC\. y\nD\. z", quiz[4]["content"]
    )
    assert hands[0]["content"].startswith("Make 24 from the numbers 1 1 1 8 with")
    assert re.fullmatch(r"<answer>[-18+*/()]+</answer>", hands[1]["content"])
    assert eval(hands[1]["content"][8:-9]) == 24  # noqa: S307 - digits and operators, as was just seen
    assert hands[3]["content"] == "Thirds.\n<answer>8/(3-8/3)</answer>"


@pytest.mark.slow
def test_systems_variants_and_grammars_are_sent_as_they_were_written(lived):
    _, server, _, _ = lived
    by_cell = {asked_cell(asked): asked.body for asked in server.log}
    for task, problem in (("quiz", f"{INSTRUCTION}\n\n[q"), ("loose", "[e1] Why {question}?")):
        system, user = by_cell[task, "m", "polite"]["messages"]
        assert system == {"role": "system", "content": "Be ```polite```."}
        assert user["content"].startswith(f"Please.\n\n```\nnow\n```\n\n{problem}")
    letter, bare = (by_cell["essay", "n", name]["messages"] for name in ("letter", "bare"))
    assert letter == [{"role": "user", "content": "Dear model,\n[e1] Why {question}?\nYours, {wrong_option}"}], (
        "nothing in a question or a variant is filled but the question"
    )
    assert bare == [{"role": "user", "content": "[e1] Why {question}?"}]
    assert by_cell["quiz", "n", "held"]["grammar"] == 'root ::= "<answer>" [A-D] "</answer>"'
    assert sum("grammar" in asked.body for asked in server.log) == 4


# --- what is refused before anything is asked ---

MORE_SHOTS = {"conditions": {"taught": {"examples": {"quiz": "more.jsonl"}}}}
MORE_HANDS = {"conditions": {"taught": {"examples": {"hands": "more.jsonl"}}}}
SHOT = {"id": "s3", "question": "Shot?", "options": ["1", "2", "3", "4"], "answer": "B"}
SOLVED = "hands.jsonl:2: expected item 'h1' not to be given away, found the prompt holds a solution (ruling G10)"
REFUSED = {
    "an example that breaks the contract": (
        MORE_SHOTS, SHOT | {"response": "B"},
        'more.jsonl:1: expected an example that follows the format and is right, found "B"',
    ),
    "an example that is wrong": (
        MORE_SHOTS, SHOT | {"response": "<answer>A</answer>"}, 'found "<answer>A</answer>"\nModels imitate worked',
    ),
    "a hand that is wrong": (
        MORE_HANDS, HAND_SHOTS[0] | {"response": "<answer>1+1+1+8</answer>"},
        'more.jsonl:1: expected an example that follows the format and is right, found "<answer>1+1+1+8</answer>"',
    ),
    "a response that is no text": (MORE_SHOTS, SHOT | {"response": 5}, "expected a text in 'response', found 5"),
    "an example without an answer": (
        MORE_SHOTS, SHOT | {"answer": None}, "more.jsonl:1: expected an answer, or a text in 'response', found neither",
    ),
    "a hand that cannot be solved": (
        MORE_HANDS, {"id": 1, "numbers": [1, 1, 1, 1]},
        "more.jsonl:1: expected an answer, or a text in 'response', found neither",
    ),
    "an example that does not fit": (
        MORE_SHOTS, SHOT | {"options": ["1", "2", "3"]}, "more.jsonl:1: expected 4 options, as A-D says, found 3 options",
    ),
    "an example that is asked": (
        MORE_SHOTS, SHOT | {"question": " [q1] Which one?"},
        "quiz.jsonl:2: expected item 'q1' not to be given away, found an example of the prompt is this very question",
    ),
    "no examples in the file": (MORE_SHOTS, None, "more.jsonl: expected rows as JSON Lines, CSV or Parquet, found an empty file"),
    "no file of examples": (
        {"conditions": {"taught": {"examples": {"quiz": "none.jsonl"}}}}, None,
        "none.jsonl: expected a file of worked examples, found no such file",
    ),
    "examples for a task that is not there": (
        {"conditions": {"taught": {"examples": {"quizz": "shots.jsonl"}}}}, None, "Did you mean quiz?",
    ),
    "a preamble that solves a hand": (
        {"conditions": {"plain": {"preamble": "Say, (13 - 9)*(10-4) = 24."}}}, None, SOLVED,
    ),
    "a system text that solves a hand": (
        {"conditions": {"plain": {"system": "1) (10-4)*(13-9)"}}}, None, SOLVED,
    ),
    "an example that is a hand": (MORE_HANDS, {"id": "h2", "numbers": HAND[::-1]}, SOLVED),
    "an example that solves a hand on its way": (
        MORE_HANDS, HAND_SHOTS[0] | {"response": "As (13-9)*(10-4)=24:\n<answer>8*(1+1+1)</answer>"}, SOLVED,
    ),
    "a control that is not asked": (
        {"tasks": {"quiz": {"conditions": ["held", "hinted"], "models": ["n"]}}}, None,
        "the control plain of the condition hinted in tasks.quiz.conditions",
    ),
    "a wrong option of an item without an answer": (
        {"tasks": {"quiz": {"items": "more.jsonl"}}}, SHOT | {"answer": None},
        "more.jsonl:1: expected an answer: the condition hinted names the right or a wrong option, found none",
    ),
    "a condition of its own that cannot be asked": (
        {"tasks": {"open": {"conditions": ["plain", "hinted"]}}}, None,
        "tasks.open to be askable of m under the condition hinted, found text has no options",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_with_a_design_is_told_on_reading_it(tmp_path, name):
    changed, row, said = REFUSED[name]
    write_mixed(tmp_path, "http://127.0.0.1:1/v1", changed)
    write_items(tmp_path / "more.jsonl", [] if row is None else [row])
    with pytest.raises(InputError) as caught:
        dry_run(load(tmp_path / "study.toml"))
    assert said in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "an example that is wrong", "an example that is asked", "a preamble that solves a hand",
        "an example that solves a hand on its way", "a control that is not asked",
        "a wrong option of an item without an answer",
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_design_is_told_before_anything_is_asked(tmp_path, server, name):
    changed, row, said = REFUSED[name]
    write_mixed(tmp_path, server.url, changed)
    write_items(tmp_path / "more.jsonl", [] if row is None else [row])
    before = len(server.log), server.looked_up
    done = run(tmp_path)
    assert fine(done, 2)
    assert said in done.stderr.decode()
    assert (len(server.log), server.looked_up) == before
    assert not (tmp_path / "out/records").exists()


def given_conditions(**tables: Mapping) -> dict:
    return {"conditions": tables}


MISFITS = {
    "a misspelt option": (given_conditions(plain={"preamble": "It is {rigth_option}."}), "Did you mean {right_option}?"),
    "another in a system text": (given_conditions(plain={"system": "{wrong_opton}"}), "Did you mean {wrong_option}?"),
    "one in capitals": (given_conditions(plain={"preamble": "{Wrong_Option}"}), "Did you mean {wrong_option}?"),
    "one in two words": (given_conditions(plain={"preamble": "{right option}"}), "Did you mean {right_option}?"),
    "one with a hyphen": (given_conditions(plain={"preamble": "{right-option}"}), "Did you mean {right_option}?"),
    "a control that is not there": (given_conditions(hinted={"control": "plian"}), "Did you mean plain?"),
    "a control of itself": (given_conditions(hinted={"control": "hinted"}), "another condition in conditions.hinted"),
    "a model that is not there": ({"tasks": {"quiz": {"models": ["mm"]}}}, "m, n in tasks.quiz.models"),
    "a model twice": ({"tasks": {"quiz": {"models": ["m", "m"]}}}, "each name once in tasks.quiz.models"),
    "a condition that is not there": ({"tasks": {"quiz": {"conditions": ["politely"]}}}, "Did you mean polite?"),
    "variants of multiple choice": ({"tasks": {"quiz": {"variants": {"a": "{question}"}}}}, "only with the contract text"),
    "variants and conditions": ({"tasks": {"essay": {"conditions": ["plain"]}}}, "either variants or conditions"),
    "a variant without its question": ({"tasks": {"essay": {"variants": {"bare": "Go on."}}}}, "{question} once in"),
    "a variant with two": ({"tasks": {"essay": {"variants": {"bare": "{question}{question}"}}}}, "{question} once in"),
    "an order of hands": ({"tasks": {"hands": {"option_order": "rotate"}}}, "only with the contract mcqa"),
    "an order that is none": ({"tasks": {"quiz": {"option_order": "random"}}}, 'expected "as_given", "shuffle" or "rotate", found "random"'),
    "options of hands": ({"tasks": {"hands": {"options": "auto"}}}, "only with the contract mcqa"),
    "a price below nothing": ({"models": {"m": {"price": {"input": -1.0}}}}, "finite prices from 0 in models.m.price"),
    "a misspelt key of a condition": (given_conditions(plain={"preambel": "x"}), "Did you mean preamble?"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_tables_that_do_not_fit_together_are_refused(name):
    changed, said = MISFITS[name]
    written = "\n".join(toml(laid_over(mixed("http://127.0.0.1:1/v1"), changed)))
    with pytest.raises(InputError) as caught:
        parse_study(written, where="study.toml")
    assert said in str(caught.value)


@pytest.mark.parametrize("words", ["{a} set {of} {things}", '{"json": "yes"}', "{}", "{answer}", "f{x: y}"])
def test_braces_that_mean_nothing_to_us_stay_as_they_are(words):
    changed = {"conditions": {"plain": {"preamble": words}}}
    study = parse_study("\n".join(toml(laid_over(mixed("http://127.0.0.1:1/v1"), changed))), where="s")
    assert study.conditions["plain"].preamble == words


SPOILERS = [
    "(13-9)*(10-4)", "Example 1 (13-9)*(10-4)", "Example 2 - (13-9)*(10-4)", "4 9 10 13 (13-9)*(10-4)",
    "4 9 10 13 -> (13 - 9) * (10 - 4) = 24", "(1) (10-4)*(13-9)", "**(13-9)*(10-4)**", "(as in (13-9)*(10-4))",
    "`(13-9)*(10-4)`.", "13*10-9*4-70, or (13-9)*(10-4)", "- (13-9)*(10-4)\n- more",
]  # fmt: skip
HARMLESS = [
    "4 9 10 13", "4+9+10+13", "(13-9)*(10-4)+1", "From 13 - 9 = 4 go on.", "8*(1+1+1)", "1 - 2 - 3", "",
    "(13-9) (10-4)", "9/0 and (13-9)*(10",
]  # fmt: skip


@pytest.mark.parametrize("words", [*SPOILERS, *HARMLESS])
def test_a_solution_is_found_in_any_prose_and_nothing_else_is_taken_for_one(words):
    # ruling G10
    spoilers, item = (
        Spoilers(game24, [Condition("c", system=words)], []),
        Item("h1", {"numbers": HAND, "target": 24}),
    )
    if words in HARMLESS:
        spoilers.check(item, where="h:1")
    else:
        with pytest.raises(InputError, match=r"h:1: .*ruling G10"):
            spoilers.check(item, where="h:1")


# --- items that each have an option set of their own ---


def sized(count: int) -> dict:
    """An item of so many options, the last but one of which is right."""
    options = [f"{count}-{place}" for place in range(count)]
    return {"id": f"n{count}", "question": f"[n{count}] ?", "options": options, "answer": LETTERS[count - 2]}


@pytest.mark.slow
def test_every_item_is_read_by_its_own_option_set(tmp_path):
    # ruling M3
    said = {"n3": "D", "n4": "D", "n10": "I"}
    with FaultServer(answer=lambda asked: f"<answer>{said[asked.question]}</answer>") as server:
        shots = [
            {"question": "Five?", "options": list("vwxyz"), "answer": "E", "response": "<answer>E</answer>\n"}
        ]
        write_items(tmp_path / "items.jsonl", [sized(4), sized(3), sized(10)])
        write_items(tmp_path / "shots.jsonl", shots)
        tables = {
            "study": {"name": "sizes"},
            "models": {"m": {"base_url": server.url, "flavour": "llamacpp"}},
            "tasks": {"quiz": {"contract": "mcqa", "items": "items.jsonl", "options": "auto"}},
            "conditions": {
                "plain": {},
                "held": {"constrained": True},
                "taught": {"examples": "shots.jsonl", "system": "So."},
            },
            "limits": QUICK,
        }
        write(tmp_path, tables)
        done = run(tmp_path, "--json")
        assert fine(done, 0)
    last = {"n3": "C", "n4": "D", "n10": "J"}
    for each in records(tmp_path / "out"):
        assert each["contract_params"] == {"options": f"A-{last[each['item_id']]}"}
        found = each["protocol_compliant"], each["extracted_answer"], each["deviation"], each["correct"]
        assert (
            found
            == {
                "n3": (False, None, "option_out_of_set", None),
                "n4": (True, "D", None, False),
                "n10": (True, "I", None, True),
            }[each["item_id"]]
        )
    assert told(done)["tasks"]["quiz"]["deviations"] == {"option_out_of_set": 3}
    grammars = {asked.question: asked.body["grammar"] for asked in server.log if "grammar" in asked.body}
    assert grammars == {item: f'root ::= "<answer>" [A-{letter}] "</answer>"' for item, letter in last.items()}
    for asked in server.log:
        if len(asked.body["messages"]) > 1:
            system, shot, answer, _ = asked.body["messages"]
            assert system == {"role": "system", "content": "So."}
            assert shot["content"] == f"{INSTRUCTION}\n\nFive?\n\nA. v\nB. w\nC. x\nD. y\nE. z"
            assert answer["content"] == "<answer>E</answer>\n", "the response is taken, whatever shape the row has"
    assert sum(len(asked.body["messages"]) == 4 for asked in server.log) == 3
    assert fine(affidavit("verify", tmp_path / "out"), 0)


# --- dry runs ---


@pytest.mark.slow
def test_a_dry_run_prints_what_would_be_asked_and_what_it_would_cost(lived):
    folder, server, _, planned = lived
    before = len(server.log), server.looked_up, (folder / "out/seal.json").read_bytes()
    elsewhere = ("--out", folder / "elsewhere")
    done = run(folder, "--dry-run", *elsewhere, COLUMNS="200")
    assert fine(done, 0)
    rows = [" ".join(line.split()) for line in done.stdout.decode().splitlines()]
    assert rows[0] == "mixed nothing is asked yet"
    for each in planned["cells"]:
        counts = [each["requests"], each["prompt_tokens"], each["most_answer_tokens"]]
        # what is said to be the most is rounded up
        cost = "–" if each["most_cost"] is None else f"{ceil(each['most_cost'] * 100) / 100:.2f}"
        assert (
            f"{each['task']} {each['model']} {each['condition']} {' '.join(f'{n:,}' for n in counts)} {cost}"
            in rows
        )
    total = [
        sum(each[name] for each in planned["cells"])
        for name in ("requests", "prompt_tokens", "most_answer_tokens")
    ]
    cost = sum(each["most_cost"] or 0.0 for each in planned["cells"])
    assert f"all {' '.join(f'{n:,}' for n in total)} {ceil(cost * 100) / 100:.2f}" in rows
    assert sum("left out" in row for row in rows) == len(LEFT_OUT)
    assert {task["task"] for task in planned["planning"]} <= {each["task"] for each in planned["cells"]}
    rows_of_all = 3 * sum(task["comparisons"] for task in planned["planning"])
    for task in planned["planning"]:
        assert task["level"] == 0.05 / rows_of_all, "three measures of every comparison are one family"
        said = f"{task['task']}: {task['comparisons']} comparison"
        assert sum(row.startswith(said) for row in rows) == 1
    wanted = told(run(folder, "--dry-run", "--json", "--difference", "0.1"))["planning"]
    assert {task["difference"] for task in wanted} == {0.1}
    part = told(run(folder, "--dry-run", "--json", "--limit", "1", "--model", "n"))
    assert {(each["task"], each["model"], each["condition"]): each["requests"] for each in part["cells"]} == {
        cell: 2 for cell in CELLS if cell[1] == "n"
    }
    assert (len(server.log), server.looked_up, (folder / "out/seal.json").read_bytes()) == before


@pytest.mark.slow
def test_a_dry_run_says_what_is_answered_already(lived):
    folder, _, _, planned = lived
    done = run(folder, "--dry-run", "--json")
    assert fine(done, 0)
    after = told(done)
    for was, now in zip(planned["cells"], after["cells"], strict=True):
        assert (was["planned"], was["answered"], was["requests"]) == (was["requests"], 0, was["planned"])
        assert (now["planned"], now["answered"], now["requests"]) == (was["planned"], was["planned"], 0)
        assert (now["prompt_tokens"], now["most_answer_tokens"]) == (0, 0)
        assert not now["most_cost"]
    assert after["planning"] == planned["planning"], "what a study finds depends on all of it"
    total = sum(cell["planned"] for cell in planned["cells"])
    said = f"{total:,} of {total:,} planned questions are answered already, 0 are left to ask"
    assert said in run(folder, "--dry-run", COLUMNS="200").stdout.decode()
    whole = told(run(folder, "--dry-run", "--json", "--out", folder / "new", "--reuse", folder / "out"))
    assert whole["cells"] == after["cells"], "what would be taken over is not asked"


# --- in parts ---


@pytest.mark.slow
@pytest.mark.parametrize("part", [("--model", "n")], ids=["model"])
def test_a_study_that_is_asked_in_parts_is_the_same_study(tmp_path, lived, part):
    whole, whole_server, done, _ = lived
    with FaultServer() as server:
        write_mixed(tmp_path, server.url)
        first = run(tmp_path, *part, "--json")
        assert fine(first, 4)
        chosen = sum(
            count if part[0] == "--model" else 2
            for (_, model, _), count in CELLS.items()
            if part[0] == "--limit" or model == "n"
        )
        assert told(first)["asked"] == len(server.log) == chosen
        assert all(accounted(each) for each in (*told(first)["cells"], *told(first)["tasks"].values()))
        assert sum(each["pending"] for each in told(first)["cells"]) == sum(CELLS.values()) - chosen
        again = run(tmp_path, *part)
        assert fine(again, 4)
        assert len(server.log) == chosen, "the part is done"
        assert b"every question has been answered" not in again.stdout
        assert f"{sum(CELLS.values()) - chosen} without an answer; to continue: " in again.stderr.decode()
        assert told_by_verify(tmp_path / "out")["root_sha256"] == told(first)["root_sha256"]
        in_part = (tmp_path / "out" / MANIFEST).read_text()
        last = run(tmp_path, "--json")
        assert fine(last, 0)

        def bodies(of: FaultServer) -> Counter[str]:
            return Counter(json.dumps(asked.body, sort_keys=True) for asked in of.log)

        assert bodies(server) == bodies(whole_server), "everything once, nothing twice"
    for name in ("root_sha256", "tasks", "cells", "flips", "tokens"):
        assert told(last)[name] == told(done)[name]
    assert (tmp_path / "out" / MANIFEST).read_bytes() == (whole / "out" / MANIFEST).read_bytes()
    titles = [title for title, *_ in sections(in_part)]
    expected = {(task, condition) for task, model, condition in CELLS if part[0] == "--limit" or model == "n"}
    assert sorted(titles) == sorted(expected)


def test_a_model_that_is_not_in_the_study_is_hinted_at(tmp_path, server):
    write_mixed(tmp_path, server.url, {"models": {"mistral": {"base_url": server.url}}})
    done = run(tmp_path, "--model", "mistrall")
    assert fine(done, 2)
    assert b"--model: expected m, n, mistral, found 'mistrall'\nDid you mean mistral?" in done.stderr
    assert not (tmp_path / "out").exists()


# --- the prompts that were used ---

Section = tuple[tuple[str, str], str, dict[str, int], list[dict[str, str]]]


def sections(page: str) -> list[Section]:
    """Of each prompt: task and condition, digest, how often it was put to whom, and its turns."""
    found = []
    for part in re.split(r"^## TP-\d{3}: ", page, flags=re.MULTILINE)[1:]:
        title = re.match(r"`(.+)`, `(.+)`\n", part)
        turns = re.findall(r"^(system|user|assistant):\n\n(```+)text\n(.*?)\n\2$", part, re.MULTILINE | re.DOTALL)
        used = {
            model: int(count)
            for model, count in re.findall(r"^- asked of `(.+)` (\d+) times?$", part, re.MULTILINE)
        }
        sha = re.search(r"^- sha256 `([0-9a-f]{64})`$", part, re.MULTILINE)
        found.append(((title[1], title[2]), sha[1], used, [{"role": r, "content": text} for r, _, text in turns]))
    return found


@pytest.mark.slow
def test_the_manifest_lists_the_templates_that_were_asked(lived):
    folder, server, _, _ = lived
    page = (folder / "out" / MANIFEST).read_bytes().decode()
    assert page.startswith("# Prompts used in mixed\n")
    listed = sections(page)
    asked: dict[tuple[str, str], dict[str, int]] = {}
    for (task, model, condition), count in CELLS.items():
        asked.setdefault((task, condition), {})[model] = count
    assert {title: used for title, _, used, _ in listed} == asked
    assert [title for title, *_ in listed] == sorted(asked)
    for _, sha, _, turns in listed:
        written = json.dumps(turns, sort_keys=True, separators=(",", ":"))
        assert sha == sha256(written.encode()).hexdigest()
    # A template, filled by hand, is what the server saw.
    sent = [asked.body["messages"] for asked in server.log]
    filled = {
        "quiz": {"{question}": "[q1] Which one?", "{options}": "A. w\nB. x\nC. y\nD. z"},
        "hands": {"{target}": "24", "{numbers}": "4 9 10 13"},
    }
    for (task, condition), _, _, turns in listed:
        words = filled.get(task, {"{question}": "[e1] Why {question}?"})
        if condition == "hinted":
            (named,) = {
                m[0]["content"][9]
                for m in sent
                if m[0]["content"].startswith("They say") and "[q1]" in m[0]["content"]
            }
            words = {"{wrong_option}": named, **words}
        content = turns[-1]["content"]
        for name, value in words.items():
            assert content.count(name) == 1
            content = content.replace(name, value)
        assert [*turns[:-1], {"role": "user", "content": content}] in sent, (task, condition)


@pytest.mark.slow
def test_the_manifest_follows_from_the_records(tmp_path, lived):
    folder, server, done, _ = lived
    copy = shutil.copytree(folder, tmp_path / "copy")
    path, asked = copy / "out" / MANIFEST, len(server.log)
    before = path.read_bytes()
    assert fine(run(copy), 0)
    assert path.read_bytes() == before, "a run with nothing to do changes nothing"
    for changed in (before.replace(b"Please.", b"Pleas.."), before.replace(b"4 times", b"5 times", 1), None):
        path.unlink() if changed is None else path.write_bytes(changed)
        found = affidavit("verify", copy / "out")
        assert fine(found, 5)
        assert f"{path}: " in found.stderr.decode()
    (copy / "out/seal.json").unlink()
    again = run(copy, "--json")
    assert fine(again, 0)
    assert path.read_bytes() == before
    assert (told(again)["root_sha256"], len(server.log)) == (told(done)["root_sha256"], asked)
    assert fine(affidavit("verify", copy / "out"), 0)


# --- a study to start from ---


@pytest.mark.slow
def test_the_study_to_start_from_runs(tmp_path):
    folder = tmp_path / "my first"
    made = affidavit("init", folder)
    assert fine(made, 0)
    written = {"study.toml", "questions.jsonl", "open_questions.jsonl"}
    assert {path.name for path in folder.iterdir()} == written
    assert f"affidavit run '{folder}/study.toml' --dry-run\n" in made.stdout.decode()
    planned = affidavit("run", "study.toml", "--dry-run", "--json", cwd=folder)
    assert fine(planned, 0)
    assert [(each["condition"], each["requests"]) for each in told(planned)["cells"]] == [
        ("free", 18), ("grammar", 18), ("authority-harm", 18), ("free", 9)
    ]  # fmt: skip
    assert {path.name for path in folder.iterdir()} == written
    study = folder / "study.toml"
    with FaultServer() as server:
        model = f'base_url = "{server.url}"\nflavour = "llamacpp"\n'
        changed, count = re.subn('^embedded = ".*"\n', model, study.read_text(), flags=re.MULTILINE)
        assert count == 1
        study.write_text(changed)
        done = affidavit("run", "study.toml", "--json", cwd=folder)
        assert fine(done, 0)
        assert len(server.log) == 63
    (flips,) = told(done)["flips"]
    assert (flips["condition"], flips["control"], flips["undecidable"].get("not_compliant", 0)) == (
        "authority-harm", "grammar", 0
    )  # fmt: skip
    assert fine(affidavit("verify", "first-study", cwd=folder), 0)


@pytest.mark.parametrize("there", ["study.toml", "questions.jsonl"])
def test_a_study_that_is_there_is_not_written_over(tmp_path, there):
    (tmp_path / there).write_text("mine")
    done = affidavit("init", cwd=tmp_path)
    assert fine(done, 2)
    assert there in done.stderr.decode()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]


# --- a design that was begun ---

CHANGED = {
    "a preamble": (given_conditions(hinted={"preamble": "He says {wrong_option}."}), "conditions.hinted.preamble: was 'They"),
    "a system text": (given_conditions(polite={"system": "Be quick."}), "conditions.polite.system: was 'Be ```polite```.', is 'Be quick.'"),
    "a paradigm": (given_conditions(hinted={"paradigm": "rumour"}), "conditions.hinted.paradigm: was '', is 'rumour'"),
    "a control": (given_conditions(hinted={"control": "polite"}), "conditions.hinted.control: was 'plain', is 'polite'"),
    "a variant": ({"tasks": {"essay": {"variants": {"letter": "Hello! {question}"}}}}, "tasks.essay.variants.letter: was 'Dear"),
    "one more variant": ({"tasks": {"essay": {"variants": {"short": "{question}!"}}}}, "tasks.essay.variants.short: was not there"),
    "the order of options": ({"tasks": {"quiz": {"option_order": "rotate"}}}, "tasks.quiz.option_order: was 'as_given', is 'rotate'"),
    "the set of options": ({"tasks": {"quiz": {"options": "auto"}}}, "tasks.quiz.options: was 'A-D', is 'auto'"),
    "who is asked": ({"tasks": {"hands": {"models": ["m"]}}}, "tasks.hands.models: was ['n'], is ['m']"),
}  # fmt: skip


def backwards(tables: Mapping) -> dict:
    """The same tables in the opposite order."""
    return {
        name: backwards(each) if isinstance(each, Mapping) else each for name, each in reversed(tables.items())
    }


@pytest.mark.slow
def test_a_design_that_was_begun_stays_as_it_was(tmp_path, lived):
    folder, server, done, _ = lived
    copy = shutil.copytree(folder, tmp_path / "copy")
    asked = len(server.log)

    def said() -> str:
        refused = run(copy)
        assert fine(refused, 2)
        return refused.stderr.decode()

    write(copy, mixed(server.url), *(changed for changed, _ in CHANGED.values()))
    found = said()
    lacking = [name for name, (_, words) in CHANGED.items() if f"\n  {words}" not in found]
    # Another option set is told of the task and of its contract.
    assert "\n  contracts.quiz.params.options: was 'A-D', is 'auto'" in found
    assert 1 < len(re.findall("^  ", found, re.MULTILINE)) == len(CHANGED) - len(lacking) + 1, (
        "what is added is no change"
    )
    write(copy, mixed(server.url))
    write_items(copy / "shots.jsonl", [SHOTS[0], SHOTS[1] | {"response": "<answer>A</answer>"}])
    assert "examples.quiz.taught: was [" in said()
    write_items(copy / "shots.jsonl", SHOTS)
    assert len(server.log) == asked
    write(copy, backwards(mixed(server.url)))
    again = run(copy, "--json")
    assert fine(again, 0)
    assert (told(again)["asked"], told(again)["root_sha256"]) == (0, told(done)["root_sha256"])
    assert len(server.log) == asked
    assert fine(affidavit("verify", copy / "out"), 0)


@pytest.mark.slow
def test_tables_in_another_order_make_the_same_study(tmp_path, lived):
    folder, server, done, _ = lived
    write_mixed(tmp_path, server.url)
    write(tmp_path, backwards(mixed(server.url)))
    again = run(tmp_path, "--json")
    assert fine(again, 0)
    assert told(again)["root_sha256"] == told(done)["root_sha256"]
    assert (tmp_path / "out" / MANIFEST).read_bytes() == (folder / "out" / MANIFEST).read_bytes()
