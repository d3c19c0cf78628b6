"""Precision, recall and F1 of every label, beside a count output by output (rulings L7, L8)."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit import LabelSet
from affidavit.contracts.parts import parts_of
from affidavit.results.counting import groups
from affidavit.results.groups import CELL
from affidavit.results.label_scores import MACRO, label_score_table, lowest_f1
from affidavit.results.table import Table
from affidavit.results.tables import BUILDERS, all_tables
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson
from support.literal_shares import literal_share, same
from support.record_sets import Row, named_rows, record_set
from support.written_study import here, reported, tables, written

TOPICS = LabelSet(["art", "economy", "sport", "weather"], none="none")
OTHERS = LabelSet(["sport", "politics"], none="nothing")
CONTRACTS = {"topics": TOPICS, "others": OTHERS}


def output(item: str, given: str | None, right: str | None, task: str = "topics", **more: object) -> Row:
    """An output that gives a set, as a text; None: it is not compliant."""
    return {
        "task": task,
        "item_id": item,
        "protocol_compliant": given is not None,
        "answer": given,
        "letter": given,
        "right_letter": right,
        "correct": None if given is None or right is None else given == right,
        "keyed": right is not None,
        **more,
    }


def scores(rows: Iterable[Row], by: Sequence[str] = CELL, cluster: str = "item_id") -> Table | None:
    records = record_set(rows, by=by, cluster=cluster)
    records = replace(records, parts={task: parts_of(contract) for task, contract in CONTRACTS.items()})
    return label_score_table(records, groups(records), list(CONTRACTS), {})


def by_label(table: Table | None) -> dict[str, Row]:
    return {row["label"]: row for row in named_rows(table)}


# --- by hand ---

SIX = [
    ("art", "art"), ("art, sport", "art"), ("none", "art, sport"), ("sport", "sport"), ("art", "none"), ("economy", "sport"),
]  # fmt: skip


def test_six_outputs_counted_by_hand():
    table = scores(output(f"i{number}", *sets) for number, sets in enumerate(SIX))
    made = by_label(table)
    assert list(made) == ["art", "economy", "sport", "weather", MACRO], "every label, in its order"
    counts = {label: tuple(row[name] for name in ("TP", "FP", "FN")) for label, row in made.items()}
    assert counts == {
        "art": (2, 1, 1), "economy": (0, 1, 0), "sport": (1, 1, 2), "weather": (0, 0, 0), MACRO: (None, None, None),
    }  # fmt: skip
    assert {row["outputs"] for row in made.values()} == {6}
    assert (made["art"]["precision"], made["art"]["recall"]) == (wilson(2, 3), wilson(2, 3))
    assert (made["sport"]["precision"], made["sport"]["recall"]) == (wilson(1, 2), wilson(1, 3))
    assert (made["economy"]["precision"], made["economy"]["recall"]) == (wilson(0, 1), None)
    assert [made["weather"][name] for name in ("precision", "recall", "F1")] == [None, None, None]
    f1 = {label: row["F1"].value for label, row in made.items() if row["F1"] is not None}
    assert f1 == pytest.approx({"art": 2 / 3, "economy": 0, "sport": 2 / 5, MACRO: (2 / 3 + 0 + 2 / 5) / 3})
    assert [made[MACRO][name] for name in ("precision", "recall")] == [None, None]


def test_what_holds_no_answer_or_has_no_right_one_is_in_no_figure():
    rows = [output(f"i{number}", *sets) for number, sets in enumerate(SIX)]
    others = [
        output("n", None, "art"),
        output("u", "art", None),
        output("f", None, "art", protocol_compliant=None, kind="failure", failure="server_error"),
        output("r", None, "art", protocol_compliant=None, unread="ValueError"),
    ]
    assert scores([*rows, *others]).rows == scores(rows).rows
    assert scores(others) is None
    assert scores([]) is None


def test_the_empty_set_is_a_set():
    made = by_label(scores([output("a", "none", "none"), output("b", "art", "none"), output("c", "none", "art")]))
    assert tuple(made["art"][name] for name in ("TP", "FP", "FN")) == (0, 1, 1)
    assert made["art"]["outputs"] == 3


def test_tasks_that_are_not_told_apart_share_the_labels_that_they_share():
    rows = [output("a", "sport", "sport"), output("b", "politics", "sport", task="others")]
    rows += [output("c", "nothing", "politics, sport", task="others")]
    pooled = by_label(scores(rows, by=("model",)))
    assert list(pooled) == ["art", "economy", "sport", "weather", "politics", MACRO]
    assert tuple(pooled["sport"][name] for name in ("outputs", "TP", "FP", "FN")) == (3, 1, 0, 2)
    apart = named_rows(scores(rows))
    assert [row["label"] for row in apart if row["task"] == "others"] == ["sport", "politics", MACRO]
    assert [row["label"] for row in apart if row["task"] == "topics"][-1] == MACRO


def test_a_report_has_the_table_once_for_all_tasks_with_labels():
    rows = [output(f"i{number}", *sets) for number, sets in enumerate(SIX)]
    records = record_set(rows)
    records = replace(records, parts={"topics": parts_of(TOPICS)})
    made = [table.name for table in all_tables(records, groups(records), samples=1, controls={})]
    assert made.count("label scores") == 1
    assert "label scores" in BUILDERS


# --- output by output ---


def literal_counts(rows: Sequence[Row], label: str, unit: str) -> dict[str, list[int]]:
    """TP, FP and FN of a label, by unit."""
    found: dict[str, list[int]] = {}
    for row in rows:
        given, right = label in row["letter"].split(", "), label in row["right_letter"].split(", ")
        counts = found.setdefault(row[unit], [0, 0, 0])
        counts[0] += given and right
        counts[1] += given and not right
        counts[2] += right and not given
    return found


def check_share(found: Estimate | None, clusters: list[tuple[int, int]]) -> None:
    assert (found is None) == (not any(n for _, n in clusters))
    assert found is None or same(found, literal_share(clusters))


def random_rows(draw: Random, items: int, samples: int) -> list[Row]:
    def some() -> str:
        return ", ".join(label for label in TOPICS.known[:3] if draw.random() < 0.4) or "none"

    return [
        output(f"i{number}", some(), right, sample=sample, **{"metadata.passage": f"p{number // 3}"})
        for number in range(items)
        for right in [some()]
        for sample in range(samples)
        if draw.random() < 0.9
    ]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["item_id", "metadata.passage"])
@settings(max_examples=10)
@given(draw=st.randoms(use_true_random=False), items=st.integers(1, 12), samples=st.integers(1, 3))
def test_every_figure_is_that_of_the_outputs_one_by_one(unit, draw, items, samples):
    rows = random_rows(draw, items, samples)
    made = by_label(scores(rows, cluster=unit))
    assert (not made) == (not rows)
    f1 = []
    for label, row in made.items():
        if label == MACRO:
            continue
        counts = literal_counts(rows, label, unit).values()
        tp, fp, fn = (sum(each[kind] for each in counts) for kind in range(3))
        assert (row["outputs"], row["TP"], row["FP"], row["FN"]) == (len(rows), tp, fp, fn)
        check_share(row["precision"], [(tp, tp + fp) for tp, fp, _ in counts])
        check_share(row["recall"], [(tp, tp + fn) for tp, _, fn in counts])
        assert (row["F1"] is None) == (tp + fp + fn == 0)
        if row["F1"] is not None:
            f1.append(row["F1"].value)
            assert row["F1"].value == pytest.approx(2 * tp / (2 * tp + fp + fn))
            assert row["F1"].low < row["F1"].high, "ruling S11"
            there = sum(any(each) for each in counts)
            assert (row["F1"].n, row["F1"].clusters) == (tp + fp + fn, None if there == tp + fp + fn else there)
    if f1:
        assert made[MACRO]["F1"].value == pytest.approx(sum(f1) / len(f1))
    backwards = by_label(scores(rows[::-1], cluster=unit))
    assert backwards == made, "the order of records changes nothing"


# --- a study ---


@pytest.mark.slow
def test_a_study_shows_the_same_figures_in_every_form(tmp_path):
    items = [
        {"id": f"i{number}", "question": "About what?", "answer": right} for number, (_, right) in enumerate(SIX)
    ]
    items[2]["answer"] = ["sport", "art"]
    task = {"contract": "labels", "items": "topics.jsonl", "parameters": dict(TOPICS.params)}
    study = tables(tasks={"quiz": None, "topics": task})

    def answer(question) -> str:
        return f"Well.\n<answer>{SIX[int(question.item.id[1:])][0]}</answer>"

    directory = written(tmp_path, study, {"topics": items}, answer)
    found = reported(here("report", directory, "--format", "json"))
    expected = by_label(scores(output(f"i{number}", *sets) for number, sets in enumerate(SIX)))
    for row in found["label scores"]["rows"]:
        wanted = expected[row["label"]]
        assert [row[name] for name in ("outputs", "TP", "FP", "FN")] == [
            wanted[name] for name in ("outputs", "TP", "FP", "FN")
        ]
        for name in ("precision", "recall", "F1"):
            assert (row[name] is None) == (wanted[name] is None)
            assert row[name] is None or row[name]["value"] == pytest.approx(wanted[name].value)
    (accuracy,) = found["accuracy"]["rows"]
    assert (accuracy["right"], accuracy["compared"]) == (2, 6), "exact match"
    for form in ("text", "md"):
        shown = here("report", directory, "--format", form).stdout.decode()
        assert "How often is a label right where it is given" in shown
        assert MACRO in shown
        assert shown.count("Right: the whole set.") == 1, "what right means is said once"
    cells = list(csv.DictReader(io.StringIO(here("report", directory, "--format", "csv").stdout.decode())))
    assert {cell["column"] for cell in cells if cell["table"] == "label scores"} >= {"precision", "recall", "F1"}
    assert here("report", directory).returncode == 0
    page = (directory / "report.html").read_text()
    assert "How often is a label right where it is given" in page
    assert "<mark" in page
    assert page.count("Right: the whole set.") == 1
    assert here("verify", directory).returncode == 0


# --- the weakest label in a line ---


def study_of(tmp_path, sets, name="s"):
    """The end of `read --out` over these sets, given and right, by model; each by an item of its own."""
    rows = [
        {"id": f"q{at}", "model": model, "raw_output": f"<answer>{given}</answer>", "answer": right.split(", ")}
        for model, pairs in sets.items()
        for at, (given, right) in enumerate(pairs)
    ]
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = here("read", "labels", path, "--param", 'labels=["art", "sport", "weather"]', "--out", tmp_path / name)
    assert done.returncode == 0, done.stderr.decode()
    return " ".join(done.stdout.decode().split())


GOOD, MIXED = [("art", "art"), ("sport", "sport")] * 6, [("art", "art"), ("sport", "art"), ("sport", "sport")] * 4


@pytest.mark.slow
def test_the_summary_names_the_label_of_the_lowest_f1_of_every_model(tmp_path):
    said = study_of(tmp_path, {"a": MIXED, "b": GOOD[:6]})
    report = reported(here("report", tmp_path / "s", "--format", "json"))["label scores"]["rows"]
    lowest = min(
        (row["F1"] for row in report if row["model"] == "a" and row["F1"]), key=lambda each: each["value"]
    )
    assert lowest["value"] == pytest.approx(2 / 3)
    # Equal labels are both named, none before the other (ruling S9); one that never occurs has no F1 (ruling L7).
    ends = [
        f"[{row['F1']['low'] * 100:.1f}, {row['F1']['high'] * 100:.1f}] n=8"
        for row in report
        if row["model"] == "a" and row["label"] in ("art", "sport")
    ]
    assert f"a, base, lowest F1: art 66.7% {ends[0]}, sport 66.7% {ends[1]}" in said
    assert "b, base, lowest F1: no label named, over fewer than 10 items" in said
    page = here("report", tmp_path / "s").stdout.decode()
    (line,) = (line for line in page.splitlines() if line.startswith("  Labels: "))
    assert f"lowest F1: art 66.7% {ends[0]}, sport 66.7% {ends[1]}." in line
    assert "b: lowest F1: no label named, over fewer than 10 items." in line


def test_of_unequal_labels_only_the_lowest_is_named(tmp_path):
    said = study_of(tmp_path, {"a": [*GOOD, ("weather", "sport"), ("weather", "weather")]})
    assert "a, base, lowest F1: weather 66.7% [" in said
    assert "sport 92" not in said


@pytest.mark.slow
def test_without_a_right_answer_there_is_no_such_line(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"raw_output": "<answer>art</answer>"}\n' * 12)
    done = here("read", "labels", rows, "--param", 'labels=["art"]', "--out", tmp_path / "s")
    assert b"lowest F1" not in done.stdout
    assert b"lowest F1" not in here("report", tmp_path / "s").stdout
    choices = tmp_path / "choices.jsonl"
    choices.write_text('{"raw_output": "<answer>A</answer>", "answer": "A"}\n' * 12)
    assert b"lowest F1" not in here("read", "mcqa", choices, "--out", tmp_path / "c").stdout


def test_few_labels_of_many_equal_ones_are_named():
    each = Estimate(0.5, 0.25, 0.75, n=20, method="")
    columns = ("model", "label", "F1")
    labels = (*(f"label {at}" for at in range(8)), MACRO)
    table = Table("label scores", "?", columns, tuple(("m", label, each) for label in labels), "")
    (words,) = lowest_f1(table, 1).values()
    assert words.startswith("lowest F1: label 0 50.0% [25.0, 75.0] n=20, label 1 ")
    assert words.endswith("label 4 50.0% [25.0, 75.0] n=20 and 3 more")


def test_a_cell_of_a_table_holds_its_labels_as_json_or_between_commas(tmp_path):
    """Ruling L5."""
    lines = ["raw_output,answer"]
    for right in ('["art", "sport"]', "sport, art", '["art"]', "[]", ""):
        cell = right.replace('"', '""')
        lines.append(f'"<answer>sport, art</answer>","{cell}"')
    (tmp_path / "outputs.csv").write_text("\n".join(lines))
    given = ("--param", 'labels=["art", "sport"]', "--param", "none=none")
    done = here("read", "labels", tmp_path / "outputs.csv", *given, "-o", tmp_path / "read.csv")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "read.csv").open(newline="") as file:
        assert [row["correct"] for row in csv.DictReader(file)] == ["true", "true", "false", "false", ""]
