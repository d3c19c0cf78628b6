"""Samples of outputs on the page: of every outcome, with question, right answer, prompt and all readings."""

import json
from pathlib import Path

import polars as pl
import pytest

from affidavit.archive.record_columns import SCHEMA
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.contracts.number import number
from affidavit.results.page.chosen_outputs import LENIENT, RIGHT, TRUNCATED, UNKNOWN, WRONG, chosen_outputs
from affidavit.results.page.content import PageOptions
from affidavit.results.page.samples import Asked, Shower
from affidavit.results.page.study_page import content
from support.command import affidavit
from support.studies import fine
from support.written_study import questions, tables, written

# --- which ---


def outputs_of(*cells):
    """Records as columns, with keys that grow."""
    rows = [
        dict.fromkeys(SCHEMA) | {"key": f"{at:03}", "task": "t", "item_id": "q1", "contract": "c/1"} | each
        for at, each in enumerate(cells)
    ]
    return pl.LazyFrame(rows, schema=SCHEMA)


GOOD = {"protocol_compliant": True, "correct": True, "raw_output": "14"}
BAD = {"protocol_compliant": True, "correct": False, "raw_output": "12"}
OPEN = {"protocol_compliant": True, "correct": None, "raw_output": "12"}
BREACH = {"protocol_compliant": False, "correct": None, "failing": "not compliant", "raw_output": "Hm."}
BREACH_WRONG = BREACH | {"correct": False}
OWN_KIND = BAD | {"failing": "answer block: wrong_value"}
NOTHING = {"failure": "timeout", "contract": None}
CUT = GOOD | {"truncated": True}


@pytest.mark.parametrize(
    ("cells", "kinds"),
    [
        ([], []),
        ([GOOD, OPEN, NOTHING],
         [(RIGHT, 1, ["000"]), (UNKNOWN, 1, ["001"]), ("no output: timeout", 1, ["002"])]),
        ([BAD] * 5 + [GOOD], [(RIGHT, 1, ["005"]), (WRONG, 5, ["000", "001", "002"])]),
        ([BREACH, BREACH_WRONG], [("not compliant", 2, ["000", "001"])]),
        ([BREACH, BAD, BAD], [(WRONG, 2, ["001", "002"]), ("not compliant", 1, ["000"])]),
        ([OWN_KIND], [("answer block: wrong_value", 1, ["000"])]),
        ([CUT], [(RIGHT, 1, ["000"]), (TRUNCATED, 1, ["000"])]),
    ],
)  # fmt: skip
def test_every_outcome_is_a_kind_that_is_shown(cells, kinds):
    chosen = chosen_outputs(outputs_of(*cells))
    found: dict[tuple[str, int], list[str]] = {}
    for row in chosen.rows.iter_rows(named=True):
        found.setdefault((row["kind"], row["of_kind"]), []).append(row["key"])
    assert [(*kind, keys) for kind, keys in found.items()] == kinds
    assert chosen.kinds == len(kinds)


def test_as_many_of_a_kind_are_shown_as_were_asked_for():
    assert len(chosen_outputs(outputs_of(*[BAD] * 9), 7).rows) == 7


# --- how ---

LETTERS = {"options": "A-D", "right_letter": "B", "raw_output": "<answer>A</answer>", "letter": "A"}


@pytest.mark.parametrize(
    ("cells", "marks", "note"),
    [
        (BAD, [""], ""),
        (BREACH, [""], ""),
        (BAD | LETTERS, ["answer"], "Marked: what the contract read."),
        (BREACH | LETTERS, ["lenient"], "Marked: the last well-formed block, which a lenient reading would"),
    ],
)
def test_an_output_is_shown_with_its_marks_and_the_right_answer(cells, marks, note):
    rows = chosen_outputs(outputs_of(cells)).rows.rows(named=True)
    parts = {"t": MultipleChoice("A-D")} if "options" in cells else {}
    (shown,) = Shower(parts, lambda row: Asked("Which?", right="B: Paris")).samples(rows)
    assert shown.where["right answer"] == "B: Paris"
    assert [piece.kind for piece in shown.text] == marks
    assert shown.note.startswith(note)
    assert bool(shown.note) == bool(note)


def test_what_stands_in_the_place_of_an_answer_is_not_said_to_be_a_lenient_reading():
    rows = chosen_outputs(outputs_of(BREACH | {"raw_output": "<answer>72 clips</answer>"})).rows.rows(named=True)
    (shown,) = Shower({"t": number}, lambda row: Asked("")).samples(rows)
    assert [tuple(piece) for piece in shown.text] == [("<answer>", ""), ("72 clips", "place"), ("</answer>", "")]
    assert shown.note == "Marked: what stands where the answer should stand, and is not in the format."


def test_all_readings_of_an_output_stand_side_by_side():
    cells = BREACH | {"options": "A-D", "right_letter": "B", "raw_output": "B"}
    shower = Shower({"t": MultipleChoice("A-D")}, lambda row: Asked(""))
    chosen = chosen_outputs(outputs_of(cells), lenient=shower.is_right_by_lenient_reading)
    assert [row["kind"] for row in chosen.rows.iter_rows(named=True)] == ["not compliant", LENIENT]
    (shown, _) = shower.samples(chosen.rows.rows(named=True))
    own, *lenient = shown.readings
    assert own == (("c/1",), "no answer", "")
    assert ("B", "right") in {(each.answer, each.verdict) for each in lenient}
    assert any("mcqa-bare-letter/1" in each.names for each in lenient if each.answer == "B")
    assert shown.readings_in_short == ", ".join(
        f"{len(each.names)} {each.answer}{' (right)' if each.answer == 'B' else ''}" for each in lenient
    )


# --- whole studies ---


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    design = tables(conditions={"base": {"preamble": "Now then."}})
    replies = ["<answer>B</answer>", "<answer>A</answer>", "B", "word " * 400]
    return written(
        folder, design, {"quiz": questions(12)}, lambda question: replies[int(question.item.id[1:]) % 4]
    )


@pytest.mark.slow
def test_the_prompt_is_the_one_that_was_sent(study):
    found = content(StudyDirectory(study))
    samples = {sample.kind: sample for sample in found.samples}
    assert {RIGHT, WRONG, LENIENT} <= samples.keys()
    prompt = "".join(piece.text for piece in samples[RIGHT].prompt)
    assert prompt.startswith("Now then.\n\nAnswer the following multiple-choice question")
    assert prompt.endswith("A. w\nB. x\nC. y\nD. z")


@pytest.mark.slow
def test_a_small_study_is_shown_whole(study, tmp_path):
    found = content(StudyDirectory(study), PageOptions(every=True, samples=1))
    assert len(found.every) == 12
    assert max(sum(len(piece.text) for piece in sample.text) for sample in found.every) == 2000
    assert fine(affidavit("report", study, "--all", "-o", tmp_path / "all.html"), 0)
    assert (tmp_path / "all.html").read_text().count('<details class="one">') == 12


@pytest.mark.slow
def test_the_page_for_a_pager_fits_80_columns(study):
    done = affidavit("report", study, "--text")
    fine(done, 0)
    text = done.stdout.decode()
    assert max(map(len, text.splitlines())) <= 80
    for part in ("models: m", "tasks: quiz: mcqa/1, 12 items", "Format: Compliance: 50.0%", "root digest "):
        assert part in text
    tables_said = json.loads(affidavit("report", study, "--format", "json").stdout)["tables"]
    assert all(tables_said[name]["identity"][:40] in " ".join(text.split()) for name in ("compliance", "accuracy"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--text", "--format", "md"), "--text: expected to be alone"),
        (("--text", "--samples", "4"), "found --samples or --all"),
        (("--samples", "4", "--format", "md"), "--samples, --all: expected the page, found --format md"),
        (("--all", "-o", "tables.csv"), "--samples, --all: expected the page, found --format csv"),
    ],
)
def test_options_of_the_page_are_refused_beside_something_else(study, options, words):
    done = affidavit("report", study, *options)
    assert fine(done, 2)
    assert words in done.stderr.decode()


@pytest.mark.slow
def test_the_right_option_is_named_where_options_were_shuffled(tmp_path: Path):
    design = tables()
    design["tasks"]["quiz"]["option_order"] = "shuffle"
    rows = [{**row, "options": ["Nile", "Congo", "Niger", "Tigris"], "answer": "A"} for row in questions(5)]
    directory = written(tmp_path, design, {"quiz": rows}, lambda question: "Nile, I think.")
    assert fine(affidavit("report", directory), 0)
    assert " as it was shown: Nile</strong>" in (directory / "report.html").read_text()
