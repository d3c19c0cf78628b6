"""`affidavit compare`: differences that are there are found, those that are not distinguishable are not claimed."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError
from affidavit.models.model import Failure, Reason
from affidavit.results.comparison import MOST_MOVED, _readings, as_one_family, pair_sides, parse_side
from affidavit.results.study_results import StudyResults
from affidavit.results.words import label_of
from affidavit.statistics.differences import PairedDifference, mcnemar, sign_flip_test, tango
from affidavit.statistics.multiplicity import holm, holm_steps
from affidavit.study.task import Question
from support.command import affidavit
from support.kept_outputs import kept
from support.outputs_elsewhere import write_jsonl
from support.studies import fine, records, run, toml, write_items
from support.written_study import Answer, here, questions, reported, tables, written

RIGHT, WRONG, BREACH = "<answer>B</answer>", "<answer>A</answer>", "It is B."
TWO = {"plain": {}, "urged": {"preamble": "!"}}
MEASURES = ["compliance", "accuracy over answers", "yield"]


def number(question: Question) -> int:
    return int(question.item.id[1:])


def compared(first: object, second: object, *options: str) -> dict:
    return reported(here("compare", first, second, "--format", "json", *options))


def by_measure(found: dict) -> dict[str, dict]:
    return {row["measure"]: row for row in found["comparison"]["rows"]}


def check_chances(found: dict, expected: list[float]) -> None:
    """The p-values of all rows, adjusted over the whole table, and the level of each verdict (ruling S3)."""
    rows = found["comparison"]["rows"]
    assert [row["p"] for row in rows] == pytest.approx(expected)
    assert [row["p, Holm"] for row in rows] == pytest.approx(holm(expected).tolist())
    assert [row["level"] for row in rows] == pytest.approx(holm_steps(expected).levels.tolist())


# --- known differences ---


@pytest.fixture(scope="module")
def conditions(tmp_path_factory) -> Path:
    """Forty items: 10 right and all compliant in one condition; 30 right, 6 of them against the contract, in the other."""

    def answer(question: Question) -> Answer:
        n = number(question)
        if question.condition == "urged" and n >= 34:
            return BREACH
        return RIGHT if n < (10 if question.condition == "plain" else 30) else WRONG

    folder = tmp_path_factory.mktemp("conditions")
    return written(folder, tables(conditions=TWO), {"quiz": questions(40)}, answer)


@pytest.mark.slow
def test_two_conditions_of_one_study(conditions):
    found = compared(f"{conditions}@condition=plain", f"{conditions}@condition=urged")
    rows = by_measure(found)
    assert list(rows) == MEASURES
    assert {(row["task"], row["model"]) for row in rows.values()} == {("quiz", "m")}
    # Compliance: 6 lost, none won. Accuracy, over the 34 that both have: 20 won. Yield: 20 won of 40.
    chances = [mcnemar(6, 0, pairs=40), mcnemar(0, 20, pairs=34), mcnemar(0, 20, pairs=40)]
    check_chances(found, [each.p_value for each in chances])
    assert [row["difference"]["value"] for row in rows.values()] == pytest.approx([-6 / 40, 20 / 34, 20 / 40])
    assert [row["items"] for row in rows.values()] == [40, 34, 40]
    assert [row["in words"] for row in rows.values()] == ["lower", "higher", "higher"]
    assert [row["left out"] for row in rows.values()] == [0, 6, 0], "six items have no answer on one side"
    assert found["comparison"]["notes"][0].startswith("Items left out are those of which one side has no answer")
    assert "those whose right answer is not known" in found["comparison"]["notes"][0]
    # Each interval is at the level that its verdict used: the smallest p-values, which are equal, at a third of 5 %.
    for measure, counts in {
        "compliance": (6, 0, 40),
        "accuracy over answers": (0, 20, 34),
        "yield": (0, 20, 40),
    }.items():
        ends = tango(*counts[:2], pairs=counts[2], level=rows[measure]["level"])
        assert (rows[measure]["difference"]["low"], rows[measure]["difference"]["high"]) == pytest.approx(ends)
    assert sorted(0.05 / row["level"] for row in rows.values()) == pytest.approx([1, 3, 3])
    assert "McNemar, exact" in found["comparison"]["identity"]
    assert "Holm over 3 comparisons" in found["comparison"]["identity"]
    assert found["comparison"]["identity"].startswith("3 comparisons, paired by item")


@pytest.mark.slow
def test_mid_p_on_request(conditions):
    sides = (f"{conditions}@condition=plain", f"{conditions}@condition=urged")
    found = compared(*sides, "--mid-p")
    tables = ((6, 0, 40), (0, 20, 34), (0, 20, 40))
    check_chances(found, [mcnemar(b, c, pairs=n, mid_p=True).p_value for b, c, n in tables])
    assert "McNemar, mid-p" in found["comparison"]["identity"]


@pytest.mark.slow
def test_items_of_a_cluster_are_one_unit(conditions):
    # ruling S8
    opened = StudyResults(StudyDirectory(conditions))
    sides = []
    for name in ("plain", "urged"):
        side = opened.side(name, {"condition": name})
        passage = (pl.col("item_id").str.slice(1).cast(pl.Int64) % 20).cast(pl.String)
        sides.append(replace(side, records=side.records.with_columns(passage=passage)))
    paired = pair_sides(*sides, cluster="passage")
    compliance = paired.rows[0].difference
    assert (compliance.items, compliance.size) == (40, 20)
    first, second = np.ones(40), np.array([n < 34 for n in range(40)])
    expected = PairedDifference.of_counts(
        first, [1] * 40, second, [1] * 40, clusters=[str(n % 20) for n in range(40)]
    )
    assert compliance == expected
    table = as_one_family([paired], seed=0)[0]
    assert table.rows[0][table.columns.index("difference")].estimate.clusters == 20


@pytest.mark.slow
def test_several_comparisons_are_one_family(conditions):
    # ruling S3: on the page all controls stand in one table
    opened = StudyResults(StudyDirectory(conditions))
    sides = [opened.side(name, {"condition": name}) for name in ("plain", "urged")]
    there, back = pair_sides(*sides), pair_sides(*sides[::-1])
    tables = as_one_family([there, back], seed=0)
    chances = [each.value for table in tables for each in table.column("p")]
    levels = [each.value for table in tables for each in table.column("level")]
    assert levels == pytest.approx(holm_steps(chances).levels.tolist())
    assert [table.question.partition(",")[0] for table in tables] == [
        "What is different in urged",
        "What is different in plain",
    ]
    assert all("Holm over 6 comparisons" in table.foot for table in tables)


@pytest.mark.slow
def test_the_other_way_round_everything_is_the_other_way_round(conditions):
    there = by_measure(compared(f"{conditions}@condition=plain", f"{conditions}@condition=urged"))
    back = by_measure(compared(f"{conditions}@condition=urged", f"{conditions}@condition=plain"))
    for measure in MEASURES:
        assert back[measure]["difference"]["value"] == -there[measure]["difference"]["value"]
        assert back[measure]["p"] == there[measure]["p"]
        assert {back[measure]["in words"], there[measure]["in words"]} == {"higher", "lower"}


def test_two_models_over_repeated_samples(tmp_path):
    def answer(question: Question) -> Answer:
        if question.item.id == "q0" and question.model == "large" and question.sample == 0:
            return Failure(Reason.TIMEOUT)
        right = (number(question) + question.sample) % 3 == 0 or (
            question.model == "large" and question.sample < 2
        )
        return RIGHT if right else WRONG

    study = tables(models=("small", "large"), decoding={"samples": 3})
    directory = written(tmp_path, study, {"quiz": questions(12)}, answer)
    found = compared(f"{directory}@model=small", f"{directory}@model=large")
    each = np.zeros(12)
    for n in range(12):
        small = [(n + sample) % 3 == 0 for sample in range(3)]
        large = [small[sample] or sample < 2 for sample in range(3) if (n, sample) != (0, 0)]
        each[n] = sum(large) / len(large) - sum(small) / 3
    p_value = sign_flip_test(each, seed=0).p_value
    check_chances(found, [1.0, p_value, p_value])
    rows = by_measure(found)
    assert [row["in words"] for row in rows.values()][1:] == ["higher", "higher"]
    assert rows["yield"]["difference"]["value"] == pytest.approx(each.mean()), "the mean of item differences"
    expected = PairedDifference.of_means(np.zeros(12), each, scale=1).estimate(rows["yield"]["level"])
    assert (rows["yield"]["difference"]["low"], rows["yield"]["difference"]["high"]) == pytest.approx(
        (expected.low, expected.high)
    )
    assert "sign flips" in found["comparison"]["identity"]


@pytest.mark.slow
def test_two_studies_over_the_items_that_both_have(tmp_path):
    def good(question: Question) -> Answer:
        return Failure(Reason.TIMEOUT) if number(question) == 12 else RIGHT

    first = written(tmp_path / "first", tables(), {"quiz": questions(20)}, lambda question: WRONG)
    second = written(tmp_path / "second", tables(), {"quiz": questions(30)[8:]}, good)
    found = compared(first, second)
    rows = by_measure(found)
    assert {row["items"] for row in rows.values()} == {11}, "q8 to q19 are common, and q12 did not arrive"
    assert found["comparison"]["question"].endswith(
        f"(8 items with outputs only in {first}, 10 items with outputs only in {second}: not compared)"
    )
    assert {row["left out"] for row in rows.values()} == {1}
    assert rows["yield"]["difference"]["value"] == 1.0
    check_chances(found, [1.0, mcnemar(0, 11, pairs=11).p_value, mcnemar(0, 11, pairs=11).p_value])
    assert set(rows["yield"]) >= {"task", "model", "condition"}, "what both sides share is named"
    assert found["moved readings"]["rows"] == [], "no output is in both"
    told = "11 of 11 questions that both answer have another text, of which 11 are read differently"
    assert found["moved readings"]["identity"] == told


@pytest.mark.slow
def test_what_is_not_distinguishable_is_not_claimed(tmp_path):
    def answer(question: Question) -> Answer:
        better = question.condition == "urged"
        return RIGHT if number(question) < 5 or (number(question) in (5, 6, 7) and better) else WRONG

    directory = written(tmp_path, tables(conditions=TWO), {"quiz": questions(16)}, answer)
    row = by_measure(compared(f"{directory}@condition=plain", f"{directory}@condition=urged"))["yield"]
    assert row["p"] == mcnemar(0, 3, pairs=16).p_value == 0.25
    assert row["level"] == pytest.approx(0.05 / 3), "nothing was rejected: Holm stopped at its first step"
    wins = [int(n in (5, 6, 7)) for n in range(16)]
    least = PairedDifference.of_counts([0] * 16, [1] * 16, wins, [1] * 16).detectable(0.05 / 3)
    found_in = f"a true difference of {100 * least:.1f} points would be found in 80 % of such studies"
    assert row["in words"] == f"not distinguishable at this n; {found_in}"
    assert (row["difference"]["low"], row["difference"]["high"]) == pytest.approx(
        tango(0, 3, pairs=16, level=0.05 / 3)
    )


@pytest.mark.slow
def test_identical_sides_do_not_differ(conditions):
    for sides in (
        (conditions, conditions),
        (f"{conditions}@condition=plain", f"{conditions}@condition=plain"),
    ):
        found = compared(*sides)
        for row in found["comparison"]["rows"]:
            assert (row["difference"]["value"], row["p"], row["p, Holm"]) == (0.0, 1.0, 1.0)
            assert row["in words"].startswith("not distinguishable at this n; a true difference of ")
            assert row["difference"]["low"] < 0 < row["difference"]["high"], "no interval of zero width"
        assert "moved readings" not in found


# --- what is refused ---


def test_sides_without_common_items_are_refused(tmp_path, conditions):
    other = written(tmp_path, tables(), {"quiz": questions(60)[50:]}, lambda question: RIGHT)
    done = here("compare", conditions, other)
    assert fine(done, 2)
    assert b"expected items that both sides have, found none" in done.stderr


@pytest.mark.parametrize(
    ("choice", "refused"),
    [
        ("@model=nobody", b"expected a model of the study: m, found 'nobody'"),
        ("@task=quiz,condition=nowhere", b"expected a condition of the study: "),
    ],
)
def test_a_choice_that_the_study_does_not_have_is_refused(conditions, choice, refused):
    done = here("compare", conditions, f"{conditions}{choice}")
    assert fine(done, 2)
    assert refused in done.stderr


@pytest.mark.parametrize("choice", ["@modle=m", "@model", "@sample=1", "@model=m,x"])
def test_a_choice_that_is_none_is_refused(conditions, choice):
    with pytest.raises(UsageError, match="DIR@model=NAME"):
        parse_side(f"{conditions}{choice}")
    done = here("compare", conditions, f"{conditions}{choice}")
    assert fine(done, 2)


def test_what_is_no_study_is_refused(tmp_path, conditions):
    assert fine(here("compare", conditions, tmp_path), 2)


# --- two versions of one contract over the same outputs ---

OWN = """
from affidavit import AnswerReading, Validation


class Own:
    name, version, params = "own", {version}, {{}}

    def instruction(self, item=None):
        return "End with ANSWER: and a letter."

    def read(self, raw, item=None):
        {read}

    def validate(self, reading, item):
        if reading.extracted_answer is None:
            return None
        right = reading.extracted_answer == "B"
        return Validation(right, "ok" if right else "wrong")

    def grammar(self, item=None):
        return None


own = Own()
"""
STRICT = 'return AnswerReading(raw[8:] if raw.startswith("ANSWER: ") else None)'
LENIENT = """
        if raw == "boom":
            raise ValueError(raw)
        found = raw.upper().partition("ANSWER: ")
        return AnswerReading(found[2] if found[1] else None)"""
OUTPUTS = {
    "q0": "ANSWER: B", "q1": "answer: B", "q2": "ANSWER: C", "q3": "boom", "q4": "ANSWER: b", "q5": "\ud800 answer: B",
    "q6": None, "q7": "no idea",
}  # fmt: skip
MOVED = {
    "q1": ("own/1 not compliant", "own/2 compliant B (ok)"),
    "q3": ("own/1 not compliant", "own/2 unread"),
    "q4": ("own/1 compliant b (wrong)", "own/2 compliant B (ok)"),
    "q5": ("own/1 not compliant", "own/2 compliant B (ok)"),
}
"""Ours, by hand: what each version reads where the two differ."""


def open_items(count: int) -> list[dict]:
    return [{"id": f"q{n}", "question": f"[q{n}] Which one?"} for n in range(count)]


def own_study(folder: Path, version: int) -> dict:
    folder.mkdir(exist_ok=True)
    (folder / "own.py").write_text(OWN.format(version=version, read=STRICT if version == 1 else LENIENT))
    return tables(tasks={"quiz": {"contract": "own.py:own"}})


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> tuple[Path, Path]:
    """The same outputs, replayed by the real command under both versions of a contract."""
    folder = tmp_path_factory.mktemp("versions")

    def answer(question: Question) -> Answer:
        said = OUTPUTS[question.item.id]
        return Failure(Reason.CONTENT_FILTER) if said is None else said

    written(folder / "lived", own_study(folder / "lived", 1), {"quiz": open_items(8)}, answer)
    for version in (1, 2):
        again = folder / f"v{version}"
        study = own_study(again, version)
        study["models"]["m"] = {"replay": "../lived/out"}
        write_items(again / "quiz.jsonl", open_items(8))
        (again / "study.toml").write_text("\n".join(toml(study)))
        assert fine(run(again), 4), "one never arrived"
    return folder / "v1/out", folder / "v2/out"


@pytest.mark.slow
def test_the_readings_that_moved_are_listed_and_no_others(versions):
    # rulings C3 and C8
    found = compared(*versions)
    keys = {each["item_id"]: each["key"] for each in records(versions[0])}
    names = [f"in {directory}" for directory in versions]
    rows = {row["item"]: row for row in found["moved readings"]["rows"]}
    assert {item: tuple(row[name] for name in names) for item, row in rows.items()} == MOVED
    for item, row in rows.items():
        assert (row["key"], row["task"], row["model"], row["condition"]) == (keys[item][:16], "quiz", "m", "base")
    assert found["moved readings"]["identity"] == "4 of 7 outputs that both hold are read differently"
    # Compliance where both were read: q3 was not, under the second version.
    compliance = by_measure(found)["compliance"]
    assert (compliance["items"], compliance["difference"]["value"]) == (6, pytest.approx(2 / 6))


@pytest.mark.slow
def test_the_other_way_round_the_same_readings_moved(versions):
    rows = compared(*versions[::-1])["moved readings"]["rows"]
    names = [f"in {directory}" for directory in versions]
    assert {row["item"]: tuple(row[name] for name in names) for row in rows} == MOVED


def test_an_archive_and_its_replay_read_alike(versions):
    lived = versions[0].parents[1] / "lived/out"
    table = compared(lived, versions[0])["moved readings"]
    assert (table["rows"], table["identity"]) == ([], "0 of 7 outputs that both hold are read differently")


@pytest.mark.slow
def test_of_two_runs_of_one_study_the_texts_that_differ_are_counted_too(tmp_path):
    """Three texts differ, and one of them gives another answer."""
    said = {2: f"{RIGHT} ", 4: f"{RIGHT}\n", 6: WRONG}
    first = written(tmp_path / "first", tables(), {"quiz": questions(9)}, lambda question: RIGHT)
    second = written(
        tmp_path / "second", tables(), {"quiz": questions(9)}, lambda question: said.get(number(question), RIGHT)
    )
    table = compared(first, second)["moved readings"]
    assert table["rows"] == []
    assert table["identity"] == (
        "0 of 6 outputs that both hold are read differently; 3 of 9 questions that both answer have another text, of "
        "which 1 is read differently"
    )


@pytest.mark.slow
def test_of_many_moved_readings_the_first_are_listed_and_all_are_counted(tmp_path):
    count = MOST_MOVED + 10
    first, second = (
        written(
            tmp_path / f"v{version}",
            own_study(tmp_path / f"v{version}", version),
            {"quiz": open_items(count)},
            lambda question: "answer: B",
        )
        for version in (1, 2)
    )
    table = compared(first, second)["moved readings"]
    assert len(table["rows"]) == MOST_MOVED
    told = f"{count} of {count} outputs that both hold are read differently; the first {MOST_MOVED} are listed"
    assert table["identity"] == told


# --- forms, and hostile names ---

HOSTILE = ("=1+1", "a|b`c`[d](e)\n\x1b[31m<b>")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("hostile")
    rows = [{**questions(1)[0], "id": f"{name}{n}"} for n, name in enumerate(HOSTILE * 3)]

    def made(place: str, answer: Callable[[Question], Answer]) -> Path:
        study = tables(models=HOSTILE, conditions={"@x": {}, "\tz": {"preamble": "!"}})
        return written(folder / place, study, {"quiz": rows}, answer)

    return made("one", lambda question: RIGHT), made("two", lambda question: BREACH)


@pytest.mark.slow
def test_hostile_names_are_shown_as_text(hostile):
    page = affidavit("compare", *hostile, "--format", "md")
    assert fine(page, 0)
    printed = page.stdout.decode()
    assert all(each.isprintable() or each == "\n" for each in printed)
    assert "| quiz | a\\|b\\`c\\`\\[d\\](e)\\\\u000a\\\\u001b\\[31m\\<b\\> | @x | compliance | 6 | " in printed
    rows = [line for line in printed.splitlines() if line.startswith("| quiz ")]
    assert len(rows) == 2 * 2 * 3, "two models, two conditions, three measures"
    assert sum("no item has an answer on both sides" in row for row in rows) == 4
    done = affidavit("compare", *hostile, "--format", "csv")
    assert fine(done, 0)
    cells = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), strict=True))
    values = {row[3] for row in cells[1:] if row[2] in ("model", "condition")}
    assert values == {"'=1+1", HOSTILE[1].replace("\x1b", "\\u001b"), "'@x", "'\\u0009z"}
    differences = [float(row[3]) for row in cells[1:] if row[2] == "difference" and row[3]]
    assert differences == [-1.0] * 8, "numbers stay numbers"
    assert {row["model"] for row in compared(*hostile)["comparison"]["rows"]} == set(HOSTILE)


@pytest.mark.slow
def test_the_three_forms_say_the_same_and_can_be_written_to_a_file(conditions, tmp_path):
    sides = (f"{conditions}@condition=plain", f"{conditions}@condition=urged")
    found = by_measure(compared(*sides))
    page = here("compare", *sides, "--format", "md").stdout.decode()
    assert not any(line.startswith(("#", "|")) for line in here("compare", *sides).stdout.decode().splitlines())
    for measure, row in found.items():
        told = row["difference"]
        value, low, high = (f"{100 * told[end]:+.1f}".replace("-", "−") for end in ("value", "low", "high"))
        difference = f"{value} points \\[{low}, {high}\\] n={told['n']}"
        cells = (label_of(measure), row["items"], row["left out"], difference, f"{row['level']:.3g}")
        assert f"| {' | '.join(map(str, cells))} | {row['p']:.3g} |" in page
    for form in ("md", "json", "csv"):
        printed = here("compare", *sides, "--format", form)
        placed = affidavit("compare", *sides, "--format", form, "-o", tmp_path / f"x.{form}")
        assert fine(placed, 0)
        assert (tmp_path / f"x.{form}").read_bytes() == printed.stdout
        assert not placed.stdout
    cells = [line.split(",") for line in (tmp_path / "x.csv").read_text().splitlines()]
    chances = [float(each[3]) for each in cells if each[2] == "p"]
    assert chances == [row["p"] for row in found.values()]
    assert json.loads((tmp_path / "x.json").read_text())["title"] == " and ".join(sides)


# --- what attacks on the promise broke ---

BOTH = {"free": {}, "firm": {"preamble": "!"}}


@pytest.mark.slow
def test_every_answer_counts_in_a_comparison_where_it_counts_in_the_report(tmp_path):
    """Ruling G12: a hand that is solved without the marker is solved."""
    hands = [{"id": f"h{n}", "numbers": [3, 3, 8, 8]} for n in range(20)]
    study = tables(conditions=BOTH)
    study["tasks"] = {"hands": {"contract": "game24", "items": "hands.jsonl"}}
    solved, other = "8 / (3 - 8 / 3)", "<answer>3 + 3 + 8 + 8</answer>"

    def answer(question: Question) -> Answer:
        marked = f"<answer>{solved}</answer>" if number(question) % 2 else other
        return f"So:\n{solved}" if question.condition == "free" else marked

    directory = written(tmp_path, study, {"hands": hands}, answer)
    found = json.loads(
        affidavit(
            "compare", f"{directory}@condition=free", f"{directory}@condition=firm", "--format", "json"
        ).stdout
    )
    rows = {row["measure"]: row for row in found["tables"]["comparison"]["rows"]}
    for measure in ("yield", "accuracy over answers"):
        assert rows[measure]["difference"]["value"] == -0.5
        assert rows[measure]["in words"] == "lower"


@pytest.mark.slow
def test_cells_and_items_without_a_partner_are_told_apart(tmp_path):
    one, two = tables(conditions=BOTH), tables(models=("m", "n"), conditions=BOTH)
    first = written(tmp_path / "first", two, {"quiz": questions(12)}, lambda question: RIGHT)
    second = written(tmp_path / "second", one, {"quiz": questions(15)}, lambda question: WRONG)
    question = compared(first, second)["comparison"]["question"]
    assert f"quiz, n, firm only in {first}, quiz, n, free only in {first}" in question
    assert f"3 items with outputs only in {second}" in question
    assert f"items with outputs only in {first}" not in question


@pytest.mark.slow
def test_items_of_one_id_and_other_content_are_told(tmp_path):
    first = written(tmp_path / "first", tables(), {"quiz": questions(12)}, lambda question: RIGHT)
    other = [{**row, "question": f"{row['question']} Really?"} for row in questions(12)[:5]] + questions(12)[5:]
    second = written(tmp_path / "second", tables(), {"quiz": other}, lambda question: RIGHT)
    notes = compared(first, second)["comparison"]["notes"]
    assert "5 of 12 items have one id on both sides, and another text or right answer." in notes
    assert "Both sides are the same outputs." in compared(first, first)["comparison"]["notes"]


@pytest.mark.slow
def test_a_choice_is_made_once_and_a_directory_may_have_any_name(tmp_path):
    with pytest.raises(UsageError, match="each at most once, found 'model=n'"):
        parse_side("study@model=m,model=n")
    assert parse_side("at@home@model=m") == ("at@home", {"model": "m"})
    directory = written(tmp_path / "at@home", tables(), {"quiz": questions(3)}, lambda question: RIGHT)
    assert fine(affidavit("compare", directory, f"{directory}@model=m"), 0)


# --- one id, another right answer ---


def elsewhere(folder: Path, name: str, keys: str, **more: object) -> Path:
    """Twelve outputs to as many items, all of which say B."""
    rows = [
        {"id": f"q{at}", "model": "m", "raw_output": RIGHT if at else BREACH, "answer": key, **more}
        for at, key in enumerate(keys)
    ]
    kept(folder / name, write_jsonl(folder / f"{name}.jsonl", rows))
    return folder / name


@pytest.mark.slow
def test_outputs_that_are_compared_with_another_right_answer_are_not_read_differently(tmp_path):
    first, second = elsewhere(tmp_path, "one", "B" * 12), elsewhere(tmp_path, "two", "AAA" + "B" * 9)
    found = compared(first, second)
    assert found["moved readings"]["rows"] == []
    said = "0 of 12 outputs that both hold are read differently; 2 are read alike and compared with another right answer"
    assert found["moved readings"]["identity"] == said, "the first holds no answer"
    note = "3 of 12 items have one id on both sides, and another text or right answer."
    assert note in found["comparison"]["notes"]
    assert note in compared(second, first)["comparison"]["notes"]
    assert note not in compared(first, elsewhere(tmp_path, "same", "B" * 12, seconds=3))["comparison"]["notes"]


@pytest.mark.slow
def test_the_text_of_an_item_from_elsewhere_is_what_its_rows_say(tmp_path):
    first, second = (elsewhere(tmp_path, text, "B" * 12, question=text) for text in ("this", "that"))
    notes = compared(first, second)["comparison"]["notes"]
    assert "12 of 12 items have one id on both sides, and another text or right answer." in notes
    unknown = compared(first, elsewhere(tmp_path, "none", "B" * 12))["comparison"]["notes"]
    assert not any("another text" in note for note in unknown), "what one side does not say is no difference"


def test_models_of_one_directory_may_have_different_right_answers(tmp_path):
    rows = [
        {"id": f"q{at}", "model": model, "raw_output": RIGHT, "answer": key if at < 4 else "B"}
        for at in range(12)
        for model, key in (("small", "B"), ("large", "C"))
    ]
    kept(tmp_path / "study", write_jsonl(tmp_path / "rows.jsonl", rows))
    sides = [f"{tmp_path / 'study'}@model={name}" for name in ("small", "large")]
    notes = compared(*sides)["comparison"]["notes"]
    assert "4 of 12 items have one id on both sides, and another text or right answer." in notes


def test_what_is_read_alike_and_judged_otherwise_says_so():
    row = {"contract": "own/1", "protocol_compliant": True, "answer": "B", "correct": True}
    row |= dict.fromkeys(("letter", "reason", "unread"))
    both = {**row, **{f"{name}_2": value for name, value in row.items()}, "correct_2": None}
    assert _readings(both) == ("own/1 compliant B, right", "own/1 compliant B, not compared")
