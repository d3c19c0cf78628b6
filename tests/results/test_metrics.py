"""The tables of a study: golden ones of a study that holds every case, and laws over random records.

The golden files are what `affidavit report` says of that study. To renew them after a change that is meant:

    AFFIDAVIT_GOLDEN=write .venv/bin/pytest tests/test_metrics.py -k golden

and read the difference before it is kept.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import fsum, isclose
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit import AnswerReading, MultipleChoice, Validation, game24
from affidavit.archive.record import Record, Response, record_fields
from affidavit.archive.record_columns import SCHEMA, RecordColumns
from affidavit.archive.study_directory import StudyDirectory
from affidavit.commands.table_files import FORMS
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.mcqa import ChoiceOfEachItem
from affidavit.contracts.mcqa_reasoned import ReasonedOfEachItem
from affidavit.contracts.parts import parts_of
from affidavit.contracts.registry import contract_named
from affidavit.errors import UsageError
from affidavit.items.item import Item
from affidavit.models.model import Completion, Failure, Reason
from affidavit.results.counting import RecordSet, groups
from affidavit.results.groups import CELL, identity
from affidavit.results.known_answers import known_answers
from affidavit.results.other_readings import LENSES
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.tables import all_tables
from affidavit.results.text_forms import as_json
from affidavit.results.values import Points
from affidavit.running.changed_answers import Answers
from affidavit.statistics.disagreement import ItemPairs, excess_disagreement
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import ClusterSums, wilson
from affidavit.statistics.shares import share as share_of_clusters
from affidavit.study.check import parse_study
from affidavit.study.plan import Plan
from affidavit.study.request_seed import seed_of
from affidavit.study.task import Question
from support.command import affidavit
from support.designs import letter_of, write
from support.fault_server import Call, FaultServer, bad_request, content_filter, every, hang, says, status
from support.golden_files import golden
from support.kills import started, wait_for
from support.literal_shares import literal_share, same
from support.strategies import NEARLY_WHITESPACE, WHITESPACE, choice_texts, game_texts
from support.studies import QUICK, fine, run, toml, write_items, write_study
from support.written_study import here, questions, reported, tables, written

SAMPLES = 3

# --- a study in which everything occurs ---

OWN = """
from affidavit import AnswerReading, Validation


class Own:
    name, version, params = "own", 1, {"options": ["not", "ours"]}

    def instruction(self, item=None):
        return "Say something fine."

    def read(self, raw, item=None):
        if raw == "boom":
            raise ValueError("\\ud800 boom")
        return AnswerReading(raw[5:] if raw.startswith("fine ") else None)

    def validate(self, reading, item):
        return Validation(reading.extracted_answer == "B", "so it is")

    def grammar(self, item=None):
        return None


own = Own()
"""
SCRIPT = {
    "plain": {
        "q0": "RRR", "q1": "RWx", "q2": "WWx", "q3": "fRt", "q4": "kxF", "q5": "fFs",
        "h0": "aow", "h1": "bnf", "o0": "11u", "o1": "2n1",
    },
    "urged": {"q0": "RWW", "q1": "RRf", "q2": "WOR", "q3": "OOO", "q4": "RWT", "q5": "RRR"},
}  # fmt: skip
"""What each sample of each item gets. Of the quiz: R the right option, W and O wrong ones, t the right one cut at the
token limit, T an opened tag cut there, x a text around the right one, k a thought before it; f, F and s are a bad
request, a content filter and an error of the server. Of the hands: a block and an `Output:` line that are right, a
wrong value, a bare line, nothing. Of our own contract: 1 is right, 2 wrong, n against the contract, u raises."""
HANDS = {
    "a": "<answer>(13-9)*(10-4)</answer>", "o": "Output: (13-9)*(10-4)", "w": "<answer>4+9+10+13</answer>",
    "b": "Well:\n(1+1+1)*8", "n": "I give up.",
}  # fmt: skip
OWN_TEXTS = {"1": "fine B", "2": "fine C", "n": "no", "u": "boom"}
FAILURES = {"f": bad_request, "F": content_filter, "s": status(500)}


def golden_items() -> dict[str, list[dict]]:
    quiz = []
    for number in range(6):
        options = [f"q{number} {which}" for which in ("first", "second", "third")]
        options.insert(number % 4, f"q{number} right")
        item = {"id": f"q{number}", "question": f"[q{number}] Which?", "options": options}
        quiz.append({**item, "answer": "ABCD"[number % 4], "metadata": {"half": number // 3}})
    hands = [{"id": "h0", "numbers": [4, 9, 10, 13]}, {"id": "h1", "numbers": [1, 1, 1, 8]}]
    return {"quiz": quiz, "hands": hands, "own": [{"id": f"o{n}", "question": f"[o{n}] What?"} for n in range(2)]}


async def golden_answer(call: Call) -> None:
    prompt, samples = call.asked.prompt, {}
    item = call.asked.question or ("h0" if "13" in prompt else "h1")
    task = {"q": "quiz", "h": "hands", "o": "own"}[item[0]]
    for sample in range(SAMPLES):
        samples[seed_of(11, task, item, sample)] = sample
    kind = SCRIPT["urged" if "Hurry." in prompt else "plain"][item][samples[call.asked.body["seed"]]]
    if kind in FAILURES:
        await FAILURES[kind](call)
    elif task != "quiz":
        await says((HANDS if task == "hands" else OWN_TEXTS)[kind])(call)
    elif kind == "T":
        await says("I think <answer>", "length")(call)
    else:
        option = {"W": "first", "O": "second"}.get(kind, "right")
        tag = f"<answer>{letter_of(f'{item} {option}', prompt)}</answer>"
        text = {"x": f"It is {tag}", "k": f"<think>hm</think>\n{tag}"}.get(kind, tag)
        await says(text, "length" if kind == "t" else "stop")(call)


@pytest.fixture(scope="module")
def everything(tmp_path_factory) -> Path:
    """The directory of the study, run by the real command."""
    folder = tmp_path_factory.mktemp("everything")
    for task, rows in golden_items().items():
        write_items(folder / f"{task}.jsonl", rows)
    (folder / "own.py").write_text(OWN)
    names = [row["id"] for rows in golden_items().values() for row in rows]
    with FaultServer(dict.fromkeys([*names, ""], every(golden_answer))) as server:
        study = {
            "study": {"name": "everything", "seed": 11},
            "models": {"m": {"base_url": server.url}},
            "tasks": {
                "quiz": {"contract": "mcqa", "items": "quiz.jsonl", "option_order": "shuffle"},
                "hands": {"contract": "game24", "items": "hands.jsonl", "conditions": ["plain"]},
                "own": {"contract": "own.py:own", "items": "own.jsonl", "conditions": ["plain"]},
            },
            "conditions": {"plain": {}, "urged": {"preamble": "Hurry.", "control": "plain"}},
            "decoding": {"samples": SAMPLES, "temperature": 1.0},
            "limits": {**QUICK, "attempts": 1},
        }
        write(folder, study)
        assert fine(run(folder), 4), "some answers failed for good, and a contract raised"
    return folder / "out"


def rounded(value: object) -> object:
    """The same, its numbers to nine places: the last bits are the library's."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.slow
def test_the_golden_tables_as_json(everything):
    done = affidavit("report", everything, "--format", "json")
    assert fine(done, 0)
    found = rounded(json.loads(done.stdout))
    for name in ("root_sha256", "seal_sha256"):
        assert re.fullmatch("[0-9a-f]{64}", found[name])
        found[name] = "as sealed"
    assert found == json.loads(golden("everything.json", json.dumps(found, indent=2) + "\n"))


@pytest.mark.slow
def test_the_golden_tables_as_markdown(everything, tmp_path):
    printed = affidavit("report", everything, "--format", "md")
    assert fine(printed, 0)
    placed = affidavit("report", everything, "--format", "md", "--out", tmp_path / "report.md")
    assert fine(placed, 0)
    assert (tmp_path / "report.md").read_bytes() == printed.stdout
    assert not placed.stdout
    page = re.sub("[0-9a-f]{64}", "as sealed", printed.stdout.decode())
    assert page == golden("everything.md", page)


def by_cell(rows: Iterable[dict]) -> dict[tuple[str, str], dict]:
    return {(row["task"], row["condition"]): row for row in rows}


@pytest.mark.slow
def test_the_main_figures_are_those_of_the_script_counted_by_hand(everything):
    # rulings C1, C5, C6 and M6
    found = reported(here("report", everything, "--format", "json"))
    columns = ("planned", "compliant", "non-compliant", "unread", "failed", "pending", "truncated")
    rows = by_cell(found["compliance"]["rows"])
    assert {cell: tuple(row[name] for name in columns) for cell, row in rows.items()} == {
        ("hands", "plain"): (6, 3, 2, 0, 1, 0, 0),
        ("own", "plain"): (6, 4, 1, 1, 0, 0, 0),
        ("quiz", "plain"): (18, 9, 4, 0, 5, 0, 1),
        ("quiz", "urged"): (18, 16, 1, 0, 1, 0, 1),
    }
    told = "48 planned = 32 compliant + 8 non-compliant + 1 unread + 7 failed + 0 pending"
    assert found["compliance"]["identity"] == told
    rows = by_cell(found["accuracy"]["rows"])
    shares = ("accuracy over compliant", "yield", "if missing wrong", "if missing right")
    expected = {
        ("hands", "plain"): (3, 4, 3 / 4, 3 / 5, 3 / 6, 5 / 6),
        ("own", "plain"): (3, 4, 3 / 4, 3 / 6, 3 / 6, 5 / 6),
        ("quiz", "plain"): (6, 9, 6 / 9, 6 / 13, 6 / 18, 15 / 18),
        ("quiz", "urged"): (8, 16, 8 / 16, 8 / 17, 8 / 18, 10 / 18),
    }
    for cell, row in rows.items():
        values = [row[name]["value"] if isinstance(row[name], dict) else row[name] for name in shares]
        assert (row["right"], row["compared"], *values) == pytest.approx(expected[cell])
        assert row["accuracy over compliant"]["n"] == row["compared"]


@pytest.mark.slow
def test_repeated_samples_flips_and_the_rest_counted_by_hand(everything):
    # rulings M5 and M7
    found = reported(here("report", everything, "--format", "json"))
    at_k = {
        (row["condition"], row["k"]): (
            row["pass@k"]["value"],
            row["items"],
            row["left out"],
            row["yield@k"]["value"],
        )
        for row in found["repeated samples"]["rows"]
        if row["task"] == "quiz"
    }
    assert at_k == {
        # q0 1, q1 1, q2 0, q3 1, q4 left out, as is q5, of which nothing arrived; of all outputs q0 1, q1 2/3, q2 0, q3 1, q4 0
        ("plain", 2): pytest.approx((3 / 4, 4, 2, 8 / 15)),
        ("plain", 3): pytest.approx((1, 1, 5, 2 / 3)),
        # q0 2/3, q1 1, q2 2/3, q3 0, q4 1, q5 1; q4 has three outputs, one right: 2/3
        ("urged", 2): pytest.approx((13 / 18, 6, 0, 4 / 6)),
        ("urged", 3): pytest.approx((3 / 4, 4, 2, 4 / 5)),
    }
    columns = ("items with an answer", "too few answers", "with a majority", "tied")
    shares = ("mean share of the leader", "majority right")
    majorities = {
        (row["task"], row["condition"]): (
            *(row[name] for name in columns),
            *(row[name] and row[name]["value"] for name in shares),
        )
        for row in found["majorities"]["rows"]
    }
    assert majorities == {
        # h0: right, right, wrong; h1: one answer alone
        ("hands", "plain"): (2, 1, 1, 0, pytest.approx(2 / 3), 1.0),
        ("own", "plain"): (2, 2, 0, 0, None, None),
        # q0 alone has three answers
        ("quiz", "plain"): (4, 3, 1, 0, 1.0, 1.0),
        # q0 RWW, q2 WOR tied by three, q3 OOO, q5 RRR
        ("quiz", "urged"): (6, 2, 3, 1, pytest.approx((2 / 3 + 1 / 3 + 2) / 4), pytest.approx((1 / 3 + 1) / 4)),
    }
    (row,) = found["flips"]["rows"]
    names = (
        "kept", "flipped", "to_wrong", "to_right", "to_other",
        "not compliant", "control not arrived", "control not compliant", "control tied",
    )  # fmt: skip
    assert (row["condition"], row["control"]) == ("urged", "plain")
    assert tuple(row[name] for name in names) == (2, 7, 5, 1, 1, 1, 3, 2, 2)
    assert row["share of decidable"]["value"] == 7 / 9
    # Pairs of q0 RRR and RWW, q1 RW and RR, q2 WW and WOR, q3 .RR and OOO, of different numbers (ruling S4)
    assert row["excess disagreement"]["value"] == pytest.approx((4 / 6 + (1 / 2 - 1) + 3 / 4 + 1) / 4)
    assert row["to wrong minus to right"]["value"] == pytest.approx((4 / 6 - 1 / 2 - 2 / 4 + 1) / 4)
    lenses = {
        (row["task"], row["condition"], row["reading"]): (row["answers"], row["right, of answers"]["value"])
        for row in found["other readings"]["rows"]
        if row["reading"] in LENSES[:2]
    }
    assert lenses == {
        ("quiz", "plain", LENSES[0]): (10, 7 / 10),
        ("quiz", "plain", LENSES[1]): (13, 10 / 13),
        ("quiz", "urged", LENSES[0]): (16, 8 / 16),
        ("quiz", "urged", LENSES[1]): (16, 8 / 16),
    }, "only multiple choice has them"
    counted = {
        name: {(row["task"], row["condition"], row[name[:-1]]): row["count"] for row in found[name]["rows"]}
        for name in ("deviations", "failures")
    }
    assert counted["deviations"] == {
        ("quiz", "plain", "text_around"): 3,
        ("quiz", "plain", "reasoning_then_answer"): 1,
        ("quiz", "urged", "unclosed_tag"): 1,
    }
    assert counted["failures"] == {
        ("hands", "plain", "bad_request"): 1,
        ("quiz", "plain", "bad_request"): 2,
        ("quiz", "plain", "content_filter"): 2,
        ("quiz", "plain", "server_error"): 1,
        ("quiz", "urged", "bad_request"): 1,
    }
    expressions = {(row["extraction_method"], row["reason"]): row["count"] for row in found["expressions"]["rows"]}
    assert expressions == {
        ("answer_block", "ok"): 1, ("output_line", "ok"): 1, ("answer_block", "wrong_value"): 1,
        ("fallback_bottom_scan", "ok"): 1, ("empty", "empty"): 1,
    }  # fmt: skip
    letters = found["letters"]["rows"]
    assert {row["task"] for row in letters} == {"quiz"}
    assert {row["letter"] for row in letters} == set("ABCD")
    for condition, compliant, right in (("plain", 9, 6), ("urged", 16, 8)):
        rows = [row for row in letters if row["condition"] == condition]
        assert sum(row["chosen"] for row in rows) == sum(row["right there"] for row in rows) == compliant
        told = [(row["recall"]["value"], row["right there"]) for row in rows if row["recall"]]
        assert sum(share * n for share, n in told) == pytest.approx(right)


# --- groups ---

NAMES = (*CELL, "sample", "contract", "metadata.half")
SUBSETS = [subset for size in range(1, len(NAMES) + 1) for subset in combinations(NAMES, size)]


def totals(results: StudyResults) -> Counter[str]:
    found = Counter[str]()
    for group in groups(results.records):
        assert group.pending == 0
        names = ("compliant", "non_compliant", "unread", "failed", "truncated", "right", "compared", "keyed")
        found.update({"planned": group.planned, **{name: group.total(name) for name in names}})
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "subsets",
    [SUBSETS[::9], pytest.param(SUBSETS, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_whatever_it_is_grouped_by_the_totals_are_the_same(everything, subsets):
    expected = totals(StudyResults(StudyDirectory(everything)))
    assert (expected["planned"], expected["compliant"], expected["failed"]) == (48, 32, 7)
    for subset in subsets:
        assert totals(StudyResults(StudyDirectory(everything), subset)) == expected, subset


@pytest.mark.slow
def test_every_table_can_be_grouped_by_metadata_and_contract(everything):
    # Failures are of their task's contract, although nothing arrived that it could read.
    done = here("report", everything, "--by", "metadata.half, contract", "--format", "json")
    rows = {(row["metadata.half"], row["contract"]): row for row in reported(done)["compliance"]["rows"]}
    expected = {("(no half)", "game24/1"): 6, ("(no half)", "own/1"): 6, ("0", "mcqa/1"): 18, ("1", "mcqa/1"): 18}
    assert {group: row["planned"] for group, row in rows.items()} == expected
    assert {group: row["failed"] for group, row in rows.items()} == dict(zip(expected, (1, 0, 1, 5), strict=True))


@pytest.mark.parametrize("by", ["nonsense", "task,modle", "metadata", "item_id", "", "task,task", "key"])
def test_an_unknown_name_to_group_by_is_refused(everything, by):
    with pytest.raises(
        UsageError, match=r"--by: expected task, model, condition, paradigm, contract, sample or metadata"
    ):
        StudyResults(StudyDirectory(everything), tuple(filter(None, by.split(","))))


def test_the_commands_refuse_it_too(everything):
    for command in (("report", everything, "--format", "csv"), ("gate", everything, "--min-yield", "0")):
        done = here(*command, "--by", "task, modle,")
        assert fine(done, 2)
        assert b"found 'modle'" in done.stderr


def test_missing_empty_and_unwritable_metadata_are_groups_that_add_up(tmp_path):
    values = [None, "", "x", "\ud800", 1, "1", ["="]]
    rows = [{**row, "metadata": {"s": value}} for row, value in zip(questions(7), values, strict=True)]
    rows.append({**questions(8)[7], "id": "\udfff"})
    directory = written(tmp_path, tables(), {"quiz": rows}, lambda question: "<answer>B</answer>")
    results = StudyResults(StudyDirectory(directory), ("metadata.s",))
    found = {group.names[0]: (group.planned, group.total("compliant")) for group in groups(results.records)}
    assert found == {"(no s)": (3, 3), "x": (1, 1), "\\ud800": (1, 1), "1": (2, 2), "['=']": (1, 1)}


@pytest.mark.slow
def test_items_without_the_metadata_are_a_row_with_a_name_that_nobody_else_has(tmp_path):
    values = ["art", None, "(no subject)", ""]
    rows = [{**row, "metadata": {"subject": value}} for row, value in zip(questions(4), values, strict=True)]

    def answer(question: Question) -> str | None:
        return None if question.item.id == "q3" else "<answer>B</answer>"

    directory = written(tmp_path, tables(), {"quiz": rows}, answer, sealed=False)
    by = ("--by", "metadata.subject")
    found = {
        row["metadata.subject"]: (row["planned"], row["compliant"], row["pending"])
        for row in reported(here("report", directory, *by, "--format", "json"))["compliance"]["rows"]
    }
    assert found == {"((no subject))": (2, 1, 1), "(no subject)": (1, 1, 0), "art": (1, 1, 0)}
    for form in FORMS:
        assert b"((no subject))" in here("report", directory, *by, "--format", form).stdout
    assert fine(here("report", directory, *by), 0)
    assert "((no subject))" in (directory / "report.html").read_text()


# --- studies that are not done ---


@pytest.mark.slow
def test_over_a_study_that_is_not_sealed_the_title_says_so_and_pending_is_counted(tmp_path):
    def answer(question: Question) -> str | None:
        return "<answer>B</answer>" if question.item.id in ("q0", "q1") else None

    directory = written(tmp_path, tables(), {"quiz": questions(5)}, answer, sealed=False)
    done = here("report", directory, "--format", "json")
    assert fine(done, 0)
    found = json.loads(done.stdout)
    assert (found["title"], found["root_sha256"]) == ("trial: results (not sealed)", None)
    (row,) = found["tables"]["compliance"]["rows"]
    assert (row["planned"], row["compliant"], row["pending"]) == (5, 2, 3)
    assert b"# trial: results (not sealed)\n" in here("report", directory, "--format", "md").stdout


@pytest.mark.slow
def test_a_run_that_was_killed_has_a_report(tmp_path):
    with FaultServer({f"q{n}": every(hang) for n in range(100, 400)}) as server:
        write_study(tmp_path, server.url, count=400)
        with started(tmp_path) as process:
            wait_for(server, 108, process)
            process.kill()
            process.wait()
    done = here("report", tmp_path / "out", "--format", "json")
    assert fine(done, 0)
    found = json.loads(done.stdout)
    assert found["title"] == "trial: results (not sealed)"
    (row,) = found["tables"]["compliance"]["rows"]
    assert (row["planned"], row["compliant"], row["pending"]) == (400, 100, 300)


def test_what_is_no_study_is_refused(tmp_path):
    for directory in (tmp_path, tmp_path / "nowhere"):
        done = here("report", directory, "--format", "md")
        assert fine(done, 2)
        assert b"a study directory" in done.stderr


# --- intervals ---


def shares_of(directory: Path, name: str = "accuracy over compliant") -> list[dict]:
    found = as_json(StudyResults(StudyDirectory(directory)).report())["tables"]
    del found["chance"]  # which repeats the accuracy
    return [row[name] for table in found.values() for row in table["rows"] if name in row]


@pytest.mark.slow
def test_single_samples_have_wilson_and_several_are_told_by_items(tmp_path):
    def answer(question: Question) -> str:
        return f"<answer>{'B' if question.item.id < 'q4' or question.sample else 'A'}</answer>"

    one = written(tmp_path / "one", tables(), {"quiz": questions(10)}, answer)
    (share,) = shares_of(one)
    expected = wilson(4, 10)
    assert (share["low"], share["high"], share["n"]) == (expected.low, expected.high, 10)
    assert share["method"] == "Wilson 95%"
    three = written(tmp_path / "three", tables(decoding={"samples": 3}), {"quiz": questions(10)}, answer)
    (share,) = shares_of(three)
    expected = literal_share([(3, 3)] * 4 + [(2, 3)] * 6)
    assert (share["value"], share["n"], share["clusters"]) == (24 / 30, 30, 10)
    assert share["method"] == "Wilson 95% at the effective size, 10 clusters"
    assert (share["low"], share["high"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["A", "B"])
def test_all_or_nothing_over_repeated_samples_is_no_certainty(tmp_path, letter):
    study = tables(decoding={"samples": 4})
    directory = written(tmp_path, study, {"quiz": questions(5)}, lambda question: f"<answer>{letter}</answer>")
    right = letter == "B"
    over_items, over_outputs = wilson(5 if right else 0, 5), literal_share([(4 if right else 0, 4)] * 5)
    for name in ("accuracy over compliant", "yield", "pass@k", "yield@k"):
        expected = over_items if "@" in name else over_outputs
        for share in shares_of(directory, name):
            assert share["value"] == float(right)
            assert (share["low"], share["high"]) == pytest.approx((expected.low, expected.high))
            assert share["high"] - share["low"] > 0.3
            assert share["n"] == (5 if "@" in name else 20)


@pytest.mark.slow
def test_one_item_with_several_samples_says_next_to_nothing(tmp_path):
    def answer(question: Question) -> str:
        return f"<answer>{'AB'[question.sample % 2]}</answer>"

    directory = written(tmp_path, tables(decoding={"samples": 2}), {"quiz": questions(1)}, answer)
    (share,) = shares_of(directory)
    assert (share["value"], share["n"], share["clusters"]) == (0.5, 2, 1)
    assert share["low"] < 0.1
    assert share["high"] > 0.9
    assert b"n=2 (1 cluster)" in here("report", directory, "--format", "md").stdout


# --- outputs and contracts that are strange ---


def test_nobody_who_keeps_the_contract_leaves_the_other_readings(tmp_path):
    # ruling M5
    directory = written(tmp_path, tables(), {"quiz": questions(3)}, lambda question: "So: <answer>B</answer>")
    found = reported(here("report", directory, "--format", "json"))
    assert "letters" not in found
    assert [row["answers"] for row in found["other readings"]["rows"]] == [0, 3, 0, 0, 0, 3, 0, 3, 0, 3, 3], (
        "the option w occurs in the tag: so reads a harness that looks for options"
    )


@pytest.mark.slow
def test_counts_that_are_words_are_left_out(tmp_path):
    def answer(question: Question) -> Completion:
        return Completion(
            "<answer>B</answer>", "stop", None, {"prompt_tokens": f"{10**30}", "completion_tokens": 2}
        )

    directory = written(tmp_path, tables(), {"quiz": questions(2)}, answer)
    assert fine(here("report", directory, "--format", "md"), 0)
    frame = StudyResults(StudyDirectory(directory)).records.records.collect()
    assert frame["prompt_tokens"].to_list() == [None, None]
    assert frame["completion_tokens"].to_list() == [2, 2]


def test_whatever_a_contract_of_ones_own_calls_its_fields_there_is_a_report(tmp_path):
    (tmp_path / "own.py").write_text(
        "from affidavit import Validation\n"
        "class Reading:\n"
        "    protocol_compliant = True\n"
        "    def fields(self):\n"
        "        return {'extracted_answer': [1], 'deviation': 2, 'extraction_method': {'a': 1}}\n"
        "class Own:\n"
        "    name, version, params = 'own', 1, {'options': ']['}\n"
        "    def instruction(self, item=None): return ''\n"
        "    def read(self, raw, item=None): return Reading()\n"
        "    def validate(self, reading, item): return Validation(True, 'so')\n"
        "    def grammar(self, item=None): return None\n"
        "own = Own()\n"
    )
    study = tables(tasks={"quiz": {"contract": "own.py:own"}})
    directory = written(tmp_path, study, {"quiz": [{"id": "a", "question": "?"}]}, lambda question: "x\ud800")
    found = reported(here("report", directory, "--format", "json"))
    assert found["accuracy"]["rows"][0]["right"] == 1
    assert "letters" not in found
    assert "other readings" not in found


# --- laws over random records ---

STUDY = {
    "study": {"name": "random", "seed": 3},
    "models": {name: {"base_url": "http://127.0.0.1:9/v1"} for name in ("m", "n")},
    "tasks": {
        "fixed": {"contract": "mcqa", "items": "x", "option_order": "shuffle"},
        "each": {"contract": "mcqa", "items": "x", "options": "auto"},
        "reasoned": {"contract": "mcqa-reasoned", "items": "x", "options": "auto"},
        "hands": {"contract": "game24", "items": "x"},
        "own": {"contract": "own.py:own", "items": "x"},
    },
    "conditions": {"plain": {}, "urged": {"preamble": "!", "control": "plain"}, "other": {"control": "urged"}},
}
CONTROLS = {"urged": "plain", "other": "urged"}


class Own:
    """Accepts whatever begins with an a, raises on a b."""

    name, version, params = "own", 1, {}

    def instruction(self, item=None):
        return ""

    def read(self, raw, item=None):
        if raw.startswith("b"):
            raise KeyError(raw)
        return AnswerReading(raw if raw.startswith("a") else None)

    def validate(self, reading, item):
        return None if reading.extracted_answer is None else Validation("x" in reading.extracted_answer, "x")

    def grammar(self, item=None):
        return None


def random_items() -> dict[str, list[Item]]:
    letters = "abcdefghijklmnopqrstuvw"

    def choice(name: str, count: int, answer: str | None) -> Item:
        fields = {"question": f"{name}?", "options": list(letters[:count])}
        return Item(name, fields if answer is None else {**fields, "answer": answer})

    return {
        "fixed": [choice(f"f{n}", 4, "ABC"[n]) for n in range(3)],
        "each": [choice("e0", 2, "B"), choice("e1", 5, "E"), choice("e2", 23, None)],
        "reasoned": [choice("r0", 4, "B"), choice("r1", 3, None)],
        "hands": [Item("h0", {"numbers": [4, 9, 10, 13]})],
        "own": [Item("o0", {"question": "?"}), Item("o1", {"question": "!", "answer": "ax"})],
    }


def plan_of(samples: int) -> Plan:
    study = parse_study("\n".join(toml({**STUDY, "decoding": {"samples": samples}})), where="study.toml")
    contracts = {
        "fixed": MultipleChoice(),
        "each": ChoiceOfEachItem(),
        "reasoned": ReasonedOfEachItem(),
        "hands": game24,
        "own": Own(),
    }
    return Plan(study, contracts, {name: len(many) for name, many in random_items().items()}, {})


PLANS = {samples: plan_of(samples) for samples in (1, 3)}
whole = st.builds(
    lambda before, letter, after: f"{before}<answer>{letter}</answer>{after}",
    st.sampled_from(["", " ", "\n", "\x1c", "\u2003", "\u200b", "So: ", "<think></think>", "\ud800"]),
    st.sampled_from("AABBBCDEXb"),
    st.sampled_from(["", "\x1f", "\u3000\n", "\ufeff", "!", "</think>", "<answer>A</answer>"]),
)
blanks = st.lists(st.sampled_from([*WHITESPACE, *NEARLY_WHITESPACE, "<answer>C</answer>", "</think>"]), max_size=5)
choices = st.one_of(whole, whole, whole, blanks.map("".join), choice_texts)
texts = {
    "fixed": choices,
    "each": choices,
    "reasoned": choices,
    "hands": game_texts,
    "own": st.sampled_from(["a", "ax", "b", "c", "a\ud800"]),
}


@st.composite
def journals(draw) -> tuple[Plan, list[Record], list[Question]]:
    """A plan, the records of some of its questions, and those that nobody has asked yet."""
    plan = PLANS[draw(st.sampled_from([1, 3]))]
    records, pending = [], []
    for name, many in random_items().items():
        for item in many:
            for model in ("m", "n"):
                for question in plan.questions(plan.tasks[name], item, model):
                    fate = draw(st.integers(0, 9))
                    if fate == 0:
                        pending.append(question)
                    elif fate == 1:
                        records.append(plan.failure(question, Failure(draw(st.sampled_from([*Reason])))))
                    else:
                        finish = "length" if fate == 2 else "stop"
                        records.append(plan.response(question, Completion(draw(texts[name]), finish)))
    return plan, records, pending


def record_set(plan: Plan, records: list[Record], by: Sequence[str] = CELL) -> RecordSet:
    rows = [(*cell, count) for cell, count in plan.planned.items()]
    planned = pl.DataFrame(rows, schema=[*CELL, "planned"], orient="row")
    parts = {name: parts_of(task.contract) for name, task in plan.tasks.items()}
    columns = RecordColumns(parts)
    frame = columns.frame(map(columns.row, records)).lazy()
    items = [(task, item) for task, many in random_items().items() for item in many]
    known = known_answers(frame, lambda: items, parts, ["own"])
    fields = [record_fields(record) for record in records]
    keyed, left = known_items(fields), pending_of(plan, fields)
    rows_left = [{**each, "keyed": each["item_id"] in keyed} for each in left]
    names = ("task", "model", "condition", "item_id", "sample", "keyed")
    pending = pl.LazyFrame(rows_left, schema={name: SCHEMA[name] for name in names}) if left else None
    return RecordSet(known.records, planned, 5, tuple(by), parts, pending=pending)


def pending_of(plan: Plan, records: Iterable[Mapping]) -> list[dict]:
    """Every question of the plan of which there is no record."""
    names = ("task", "model", "condition", "item_id", "sample")
    asked = {tuple(each[name] for name in names) for each in records}
    planned = (
        (*cell, item.id, sample)
        for cell in plan.planned
        for item in random_items()[cell.task]
        for sample in range(plan.study.decoding.samples)
    )
    return [dict(zip(names, question, strict=True)) for question in planned if question not in asked]


def tables_of(records: RecordSet, plan: Plan) -> dict[str, Table]:
    samples = plan.study.decoding.samples
    return {
        table.name: table for table in all_tables(records, groups(records), samples=samples, controls=CONTROLS)
    }


def rows_of(table: Table | None) -> list[dict]:
    return [] if table is None else [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def value(found: object) -> object:
    return found.value if isinstance(found, Estimate) else found


def share(part: int, of: int) -> float | None:
    return part / of if of else None


def holds_answer(each: Mapping) -> bool:
    """Ruling M6, and ruling G12: any candidate is an answer."""
    return bool(each["candidate"]) if each["contract"] == "game24/1" else each["protocol_compliant"]


class Counted:
    """The records of one group, counted as slowly as the rulings read."""

    def __init__(self, records: list[dict], planned: int, known: set[str], pending: list[dict]) -> None:
        self.planned, self.pending = planned, pending
        self.pending_keyed = [each for each in pending if each["item_id"] in known]
        self.failed = [each for each in records if each["kind"] == "failure"]
        self.failures = Counter(each["reason"] for each in self.failed)
        self.outputs = [each for each in records if each["kind"] == "response"]
        self.read = [each for each in self.outputs if each["protocol_compliant"] is not None]
        self.unread = [each for each in self.outputs if each["protocol_compliant"] is None]
        self.compliant = [each for each in self.read if each["protocol_compliant"]]
        self.others = [each for each in self.read if not each["protocol_compliant"]]
        self.answered = [each for each in self.read if holds_answer(each)]
        self.compared = [each for each in self.answered if each.get("correct") is not None]
        self.right = [each for each in self.compared if each["correct"]]
        self.keyed = [each for each in self.outputs if each["item_id"] in known]
        self.failed_keyed = [each for each in self.failed if each["item_id"] in known]

    def of_items(self, many: Iterable[dict]) -> Counter[tuple[str, str]]:
        return Counter((each["task"], each["item_id"]) for each in many)


def counted(plan: Plan, records: list[dict], by: Sequence[str]) -> dict[tuple[str, ...], Counted]:
    planned = Counter[tuple[str, ...]]()
    for cell, count in plan.planned.items():
        planned[tuple(getattr(cell, name) for name in by)] += count
    many = defaultdict(list)
    for each in records:
        many[tuple(each[name] for name in by)].append(each)
    known, left = known_items(records), defaultdict(list)
    for each in pending_of(plan, records):
        left[tuple(each[name] for name in by)].append(each)
    return {names: Counted(many[names], count, known, left[names]) for names, count in sorted(planned.items())}


def known_items(records: list[dict]) -> set[str]:
    """Items whose right answer is known: by a key, by a hand, or because an answer to them was compared.

    Where a contract from a file has told nothing of an item, the other items of its task tell.
    """
    keys = {item.id for many in random_items().values() for item in many if "answer" in item.fields}
    compared = {each["item_id"] for each in records if each.get("correct") is not None}
    answered = {each["item_id"] for each in records if each.get("protocol_compliant")}
    untold = {"o0"} - answered if "o1" in compared else set()
    return {*keys, "h0", *compared, *untold}


def at_least_one(right: int, of: int, k: int) -> float:
    """The share of all subsets of k samples with a right one, subset by subset."""
    subsets = list(combinations([True] * right + [False] * (of - right), k))
    return sum(map(any, subsets)) / len(subsets)


def check_shares(row: Mapping, group: Counted) -> None:
    """Values by the letter, and whose interval it is."""
    pairs = {
        "compliance": (group.compliant, group.read),
        "accuracy over compliant": (group.right, group.compared),
        "yield": (group.right if group.keyed else [], group.keyed),
    }
    for name, (part, of) in pairs.items():
        if name not in row:
            continue
        found, items = row[name], group.of_items(of)
        assert value(found) == share(len(part), len(of))
        if found is not None:
            parts = group.of_items(part)
            assert same(found, literal_share([(parts[item], size) for item, size in items.items()]))


def check_bounds(row: Mapping, group: Counted) -> None:
    """Missing are all that hold no answer and did not have to: of items whose right answer is known (ruling S6)."""
    sizes = group.of_items([*group.keyed, *group.failed_keyed, *group.pending_keyed])
    right = group.of_items(group.right)
    wrong = group.of_items(each for each in group.compared if not each["correct"])
    if not sizes:
        assert (row["if missing wrong"], row["if missing right"]) == (None, None)
        return
    assert same(row["if missing wrong"], literal_share([(right[item], n) for item, n in sizes.items()]))
    assert same(row["if missing right"], literal_share([(n - wrong[item], n) for item, n in sizes.items()]))


def check_counts(made: Mapping[str, Table], groups_of: Mapping, by: Sequence[str]) -> None:
    for row, group in zip(rows_of(made["compliance"]), groups_of.values(), strict=True):
        counts = tuple(row[name] for name in ("compliant", "non-compliant", "unread", "failed", "pending"))
        assert row["planned"] == group.planned == sum(counts)
        assert row["pending"] == len(group.pending)
        settled = [group.compliant, group.others, group.unread]
        assert counts[:4] == (*map(len, settled), group.failures.total())
        assert row["truncated"] == sum(each["finish_reason"] == "length" for each in group.outputs)
        check_shares(row, group)
    for row, group in zip(rows_of(made.get("accuracy")), groups_of.values(), strict="accuracy" in made):
        assert (row["right"], row["compared"]) == (len(group.right), len(group.compared))
        check_bounds(row, group)
        check_shares(row, group)
    breakdowns = {
        "deviations": {
            names: Counter(d for each in group.others if (d := each.get("deviation")) is not None)
            for names, group in groups_of.items()
        },
        "failures": {names: group.failures for names, group in groups_of.items()},
    }
    for name, expected in breakdowns.items():
        found = {(*(row[each] for each in by), row[name[:-1]]): row["count"] for row in rows_of(made.get(name))}
        assert found == {(*names, kind): n for names, kinds in expected.items() for kind, n in kinds.items()}
    for row in rows_of(made.get("deviations")):
        group = groups_of[tuple(row[each] for each in by)]
        outputs = [each for each in group.read if each["contract"].startswith("mcqa")]
        own = group.of_items(each for each in outputs if each.get("deviation") == row["deviation"])
        clusters = [(own[item], size) for item, size in group.of_items(outputs).items()]
        assert same(row["share of outputs"], literal_share(clusters))
    for row in rows_of(made.get("failures")):
        group = groups_of[tuple(row[each] for each in by)]
        own = group.of_items(each for each in group.failed if each["reason"] == row["failure"])
        planned = group.of_items([*group.outputs, *group.failed, *group.pending])
        clusters = [(own[item], size) for item, size in planned.items()]
        assert same(row["share of planned"], literal_share(clusters))


def check_feet(made: Mapping[str, Table], plan: Plan, by_task: Mapping) -> None:
    """Under every table stands the identity of all that it is about: of its contract's tasks, however grouped."""
    for table in made.values():
        tasks = {name for name, task in plan.tasks.items() if has_table(task.contract, table.name)} or set(
            plan.tasks
        )
        counts = Counter[str]()
        for (task,), group in by_task.items():
            if task in tasks:
                counts["planned"] += group.planned
                counts["compliant"] += len(group.compliant)
                counts["non-compliant"] += len(group.others)
                counts["unread"] += len(group.unread)
                counts["failed"] += len(group.failed)
        settled = ("compliant", "non-compliant", "unread", "failed")
        counts["pending"] = counts["planned"] - sum(counts[name] for name in settled)
        parts = " + ".join(f"{counts[name]} {name}" for name in (*settled, "pending"))
        if table.name not in ("flips", "flips by paradigm"):
            assert table.foot == f"{counts['planned']} planned = {parts}"


def has_table(contract: AnyContract, name: str) -> bool:
    return any(name == (table if isinstance(table, str) else table.name) for table in parts_of(contract).tables)


def read_slowly(each: Mapping, names: tuple[str, ...], letters: dict, lenses: dict) -> None:
    """One output of multiple choice, by the contract and by its lenses."""
    right = each.get("right_answer")
    contract = contract_named(each["contract"].partition("/")[0], each["contract_params"]["options"])
    for lens in contract.lenient_readings():
        if not lens.knows_enough(None):
            continue
        letter, place = lens.read(each["raw_output"]).extracted_answer, (*names, f"{lens.name}/1")
        lenses[place].update(n=1, answers=letter is not None)
        if letter is not None and right is not None:
            lenses[place].update(keyed=1, right=letter == right)
        if right is not None:
            lenses[place].update(known=1)
    if each["protocol_compliant"]:
        letters[(*names, each["extracted_answer"])].update(chosen=1, found=right == each["extracted_answer"])
        if right is not None:
            letters[(*names, right)].update(there=1)


def check_preference(row: Mapping, group: Counted, letter: str) -> None:
    """The letter's share less the key's, item by item; intervals over items."""
    outputs = [each for each in group.compliant if each["contract"].startswith("mcqa")]
    chosen = [each for each in outputs if each["extracted_answer"] == letter]
    there = [each for each in outputs if each.get("right_answer") == letter]
    assert row["share"] == clustered(chosen, outputs)
    assert row["recall"] == clustered([each for each in there if each["extracted_answer"] == letter], there)
    keyed = [each for each in outputs if each.get("right_answer") is not None]
    differences = []
    for item in dict.fromkeys((each["task"], each["item_id"]) for each in keyed):
        of_item = [each for each in keyed if (each["task"], each["item_id"]) == item]
        given = [(each["extracted_answer"] == letter) - (each["right_answer"] == letter) for each in of_item]
        differences.append(sum(given) / len(given))
    assert (row["against the key"] is None) == (not differences)
    if differences:
        assert isclose(row["against the key"].estimate.value, fsum(differences) / len(differences), abs_tol=1e-12)
    assert row["p"] is row["p (Holm)"] is None, "fewer than ten items"


def check_choices(made: Mapping[str, Table], groups_of: Mapping, by: Sequence[str]) -> None:
    """Letters and lenses, of multiple choice alone."""
    letters, lenses, compliant = defaultdict(Counter), defaultdict(Counter), Counter()
    for names, group in groups_of.items():
        for each in group.read:
            if each["contract"].startswith("mcqa"):
                read_slowly(each, names, letters, lenses)
                compliant[names] += each["protocol_compliant"]
    found = {(*(row[each] for each in by), row["letter"]): row for row in rows_of(made.get("letters"))}
    assert found.keys() == letters.keys()
    for place, row in found.items():
        counts = letters[place]
        assert (row["chosen"], row["right there"]) == (counts["chosen"], counts["there"])
        assert value(row["recall"]) == share(counts["found"], counts["there"])
        check_preference(row, groups_of[place[:-1]], place[-1])
        compliant[place[:-1]] -= row["chosen"]
    assert not any(compliant.values()), "letters sum to compliant"
    needy = [f"{lens.name}/1" for lens in MultipleChoice().lenient_readings() if not lens.knows_enough(None)]
    found = {
        (*(row[each] for each in by), row["reading"]): row
        for row in rows_of(made.get("other readings"))
        if row["reading"] not in needy
    }
    assert found.keys() == lenses.keys()
    for place, row in found.items():
        counts = lenses[place]
        assert (row["answers"], row["share of outputs"].n) == (counts["answers"], counts["n"])
        assert value(row["right, of answers"]) == share(counts["right"], counts["keyed"])
        assert value(row["right, of outputs"]) == share(counts["right"], counts["known"])
        assert (row["difference"] is None) == (not counts["known"])


def check_repeated(made: Mapping[str, Table], groups_of: Mapping, by: Sequence[str]) -> None:
    for row in rows_of(made.get("repeated samples")):
        group, k = groups_of[tuple(row[name] for name in by)], row["k"]
        right, compared, keyed = map(group.of_items, (group.right, group.compared, group.keyed))
        for name, of, number in (("pass@k", compared, row["items"]), ("yield@k", keyed, row["items of yield"])):
            enough = [at_least_one(right[item], n, k) for item, n in of.items() if n >= k and item in keyed]
            assert number == len(enough)
            found = row[name]
            assert (found is None) == (not enough)
            if found is not None:
                assert isclose(found.value, sum(enough) / len(enough), abs_tol=1e-12)
                assert found.low < found.high
                assert found.n == len(enough)
        planned = group.of_items([*group.keyed, *group.failed_keyed, *group.pending_keyed])
        assert row["left out"] == len(planned) - row["items"]


def vote(each: Mapping) -> str | None:
    """The answer that a sample votes for; by the validator's word, whether it is right (ruling G12)."""
    if each["contract"] == "game24/1":
        return None if not each["candidate"] else str(each["correct"])
    return each.get("own_answer", each.get("extracted_answer"))


def check_majorities(made: Mapping[str, Table], groups_of: Mapping, by: Sequence[str]) -> None:
    """Ruling S5."""
    expected = {}
    for names, group in groups_of.items():
        answers, right = defaultdict(Counter), {}
        for each in group.answered:
            if (answer := vote(each)) is not None:
                answers[each["task"], each["item_id"]][answer] += 1
                right[each["task"], each["item_id"], answer] = each.get("correct")
        voted = {item: given for item, given in answers.items() if given.total() >= 3}
        leads = {item: [a for a, n in given.items() if n == max(given.values())] for item, given in voted.items()}
        verdicts = [[right[*item, answer] for answer in leading] for item, leading in leads.items()]
        known = [sum(each) / len(each) for each in verdicts if None not in each]
        if answers:
            shares = [max(given.values()) / given.total() for given in voted.values()]
            alone = sum(len(leading) == 1 for leading in leads.values())
            counts = (len(answers), len(answers) - len(voted), alone, len(voted) - alone)
            means = (pytest.approx(sum(many) / len(many)) if many else None for many in (shares, known))
            expected[names] = (*counts, *means)
    columns = (
        "items with an answer", "too few answers", "with a majority", "tied", "mean share of the leader",
        "majority right",
    )  # fmt: skip
    found = {
        tuple(row[each] for each in by): tuple(value(row[name]) for name in columns)
        for row in rows_of(made.get("majorities"))
    }
    assert found == (expected if "majorities" in made else {})


def clustered(part: Iterable[dict], of: Iterable[dict]) -> Estimate | None:
    """The share of ruling S1, its items counted one by one."""
    successes, sizes = (Counter((each["task"], each["item_id"]) for each in many) for many in (part, of))
    return share_of_clusters(ClusterSums.of((successes[item], n) for item, n in sizes.items())) if sizes else None


def check_solving(made: Mapping[str, Table], groups_of: Mapping, by: Sequence[str]) -> None:
    """Ruling G12."""
    expected = {}
    for names, group in groups_of.items():
        arrived = [each for each in group.read if each["contract"] == "game24/1"]
        for method in {each["extraction_method"] for each in arrived} | ({"all"} if arrived else set()):
            of_method = [each for each in arrived if method in ("all", each["extraction_method"])]
            right = [each for each in of_method if each["reason"] == "ok"]
            answered = [each for each in of_method if each["candidate"]]
            marked = [each for each in arrived if each["extraction_method"] in ("answer_block", "output_line")]
            everything = method == "all"
            expected[*names, method] = (
                len(of_method),
                len(right),
                clustered(right, arrived),
                clustered(of_method, arrived),
                clustered(answered, arrived) if everything else None,
                clustered(right, answered),
                clustered(marked, arrived) if everything else None,
            )
    found = (
        {tuple(row[: len(by) + 1]): row[len(by) + 1 :] for row in made["solve rate"].rows}
        if ("solve rate" in made)
        else {}
    )
    assert found == expected


def check_ranges(made: Mapping[str, Table], by: Sequence[str]) -> None:
    """The least and the most of the tables that stand above."""
    expected = {}
    for name, measure in (("compliance", "compliance"), ("accuracy", "accuracy over compliant")):
        together = defaultdict(list)
        for row in rows_of(made.get(name)) if by == CELL else []:
            if row[measure] is not None:
                together[row["task"], row["model"]].append(row[measure].value)
        for names, shares in together.items():
            if len(shares) > 1:
                expected[*names, measure] = (len(shares), min(shares), max(shares), max(shares) - min(shares))
    found = {
        (row["task"], row["model"], row["measure"]): (
            row["conditions"], row["lowest"].value, row["highest"].value, row["range"],
        )
        for row in rows_of(made.get("format sensitivity"))
    }  # fmt: skip
    assert found == expected


def check_chance(made: Mapping[str, Table], groups_of: Mapping, by: Sequence[str]) -> None:
    expected = {}
    for names, group in groups_of.items():
        read = [
            each
            for each in group.keyed
            if each["contract"].startswith("mcqa") and each["protocol_compliant"] is not None
        ]
        answered = [each for each in read if each["protocol_compliant"] and each["correct"] is not None]
        # The outputs that accuracy is over; where there is none, all of them.
        if outputs := answered or read:
            sizes = [
                "ABCDEFGHIJKLMNOPQRSTUVW".index(each["contract_params"]["options"][-1]) + 1 for each in outputs
            ]
            items = {(each["task"], each["item_id"]) for each in outputs}
            expected[names] = (len(items), pytest.approx(sum(1 / size for size in sizes) / len(sizes)))
    found = {
        tuple(row[each] for each in by): (row["items"], row["chance level"]) for row in rows_of(made.get("chance"))
    }
    assert found == expected


def check_flips(made: Mapping[str, Table], plan: Plan, records: list[Record]) -> None:
    """The same as the run itself told."""
    answers = Answers(plan.study)
    for record in records:
        if isinstance(record, Response):
            answers.add(record)
    expected = {}
    for cell, control, flips in answers.flips():
        if flips.n:
            expected[(*cell, control.condition)] = {**flips.counts(), "n": flips.n}
    found = {}
    for row in rows_of(made["flips"]):
        moves = {name: row[name] for name in ("to_wrong", "to_right", "to_other")}
        reasons = ("not_compliant", "control_not_arrived", "control_not_compliant", "control_tied")
        undecidable = {name: row[name.replace("_", " ")] for name in reasons}
        assert row["flipped"] == sum(moves.values())
        assert value(row["share of decidable"]) == share(row["flipped"], row["flipped"] + row["kept"])
        found[tuple(row[name] for name in (*CELL, "control"))] = {
            "kept": row["kept"],
            **moves,
            "undecidable": {name: n for name, n in sorted(undecidable.items()) if n},
            "n": row["kept"] + row["flipped"] + sum(undecidable.values()),
        }
    assert found == expected
    assert made["flips"].foot.startswith(f"{sum(each['n'] for each in expected.values()):,} outputs = ")


def check_pairs(made: Mapping[str, Table], fields: list[dict]) -> None:
    """Ruling S4, pair by pair."""
    answers, keys = defaultdict(dict), {}
    for each in fields:
        if each["kind"] == "response" and each["contract"].startswith("mcqa") and each["protocol_compliant"]:
            place = (each["task"], each["model"], each["condition"], each["item_id"])
            answers[place][each["sample"]] = each.get("own_answer", each.get("extracted_answer"))
            keys[place[0], place[3]] = random_keys().get(place[3])
    for row in rows_of(made["flips"]):
        kinds = Counter()
        for (task, model, condition, item), said in list(answers.items()):
            if (task, model, condition) == (row["task"], row["model"], row["condition"]):
                control = answers.get((task, model, row["control"], item), {})
                kinds[ItemPairs.of(control, said, keys[task, item])] += 1
        expected = excess_disagreement(kinds)
        if expected is None:
            assert row["excess disagreement"] is row["to wrong minus to right"] is None
        else:
            assert row["excess disagreement"].estimate == expected.excess
            assert row["to wrong minus to right"] == (expected.to_wrong and Points(expected.to_wrong))


def random_keys() -> dict[str, str | None]:
    return {item.id: item.fields.get("answer") for many in random_items().values() for item in many}


def law_tables_are_the_records_read_slowly(journal: tuple[Plan, list[Record], list[Question]]) -> None:
    plan, records, _ = journal
    fields = [record_fields(record) for record in records]
    for by in (CELL, ("model",), ("condition", "task")):
        made = tables_of(record_set(plan, records, by), plan)
        groups_of = counted(plan, fields, by)
        assert all(
            list(replace(table, rows=()).flat_columns()) == list(table.flat_columns()) for table in made.values()
        )
        check_counts(made, groups_of, by)
        check_feet(made, plan, counted(plan, fields, ("task",)))
        check_choices(made, groups_of, by)
        check_repeated(made, groups_of, by)
        check_majorities(made, groups_of, by)
        check_solving(made, groups_of, by)
        check_ranges(made, by)
        check_chance(made, groups_of, by)
    check_flips(made, plan, records)
    check_pairs(made, fields)


def law_failures_move_no_score(journal: tuple[Plan, list[Record], list[Question]]) -> None:
    """Ruling C1: what did not arrive is counted where it belongs and nowhere else."""
    plan, records, pending = journal
    failed = [plan.failure(question, Failure(Reason.SERVER_ERROR)) for question in pending]
    before, after = (tables_of(record_set(plan, many), plan) for many in (records, records + failed))
    assert before.keys() | {"failures"} == after.keys() | {"failures"}
    for name in before.keys() - {"failures"}:
        # What is missing is missing in the bounds (ruling S6), and left out of pass@k, whether asked or not.
        moved = ("failed", "pending")
        kept = [column for column in before[name].columns if column not in moved]
        assert [[row[column] for column in kept] for row in rows_of(before[name])] == [
            [row[column] for column in kept] for row in rows_of(after[name])
        ]
    assert after["compliance"].foot.endswith(" + 0 pending")
    total = sum(row["count"] for row in rows_of(after.get("failures")))
    assert total == sum(row["failed"] for row in rows_of(after["compliance"]))


def law_order_does_not_matter(journal: tuple[Plan, list[Record], list[Question]]) -> None:
    """The same records, the same tables, in whichever order they came."""
    plan, records, _ = journal
    assert tables_of(record_set(plan, records), plan) == tables_of(record_set(plan, records[::-1]), plan)


LAWS = [law_tables_are_the_records_read_slowly, law_failures_move_no_score, law_order_does_not_matter]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=40)
@given(journal=journals())
def test_the_laws_of_tables(law, journal):
    law(journal)


@pytest.mark.parametrize(
    ("by", "within"),
    [
        (CELL, True),
        (("task", "condition"), False),
        (("model",), False),
        (("task",), False),
        ((*CELL, "sample"), False),
    ],
)
def test_samples_are_never_pooled_over_tasks_or_conditions(by, within):
    """The outputs of an item under two conditions are not two samples of one; one sample is no majority."""
    plan = PLANS[3]
    found = record_set(plan, [])
    assert replace(found, by=by).within_cells == within
    alone = replace(found, planned=found.planned.filter(model="m"))
    assert replace(alone, by=("task", "condition")).within_cells


@pytest.mark.slow
def test_nothing_at_all_adds_up_too():
    plan = PLANS[3]
    made = tables_of(record_set(plan, []), plan)
    planned = sum(plan.planned.values())
    expected = f"{planned} planned = 0 compliant + 0 non-compliant + 0 unread + 0 failed + {planned} pending"
    assert made["compliance"].foot == expected == identity(groups(record_set(plan, [])))
    assert {row["compliance"] for row in rows_of(made["compliance"])} == {None}
    assert set(made) == {"compliance", "accuracy", "repeated samples", "deviations", "flips"}
