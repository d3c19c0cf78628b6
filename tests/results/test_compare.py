"""`affidavit compare`: differences that are there are found, those that are not distinguishable are not claimed."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from affidavit.errors import UsageError
from affidavit.models.model import Failure, Reason
from affidavit.results.comparison import MOST_MOVED, parse_side
from affidavit.results.words import label_of
from affidavit.statistics.differences import difference_of_clusters, mcnemar, sign_flip_test
from affidavit.statistics.means import clustered_standard_error
from affidavit.statistics.multiplicity import benjamini_hochberg, holm
from affidavit.statistics.power import detectable_mean
from affidavit.study.task import Question
from support.command import affidavit
from support.studies import fine, records, run, toml, write_items
from support.written_study import Answer, here, questions, reported, tables, written

RIGHT, WRONG, BREACH = "<answer>B</answer>", "<answer>A</answer>", "It is B."
TWO = {"plain": {}, "urged": {"preamble": "!"}}
MEASURES = ["compliance", "accuracy over compliant", "yield"]


def number(question: Question) -> int:
    return int(question.item.id[1:])


def compared(first: object, second: object, *options: str) -> dict:
    return reported(here("compare", first, second, "--format", "json", *options))


def by_measure(found: dict) -> dict[str, dict]:
    return {row["measure"]: row for row in found["comparison"]["rows"]}


def check_chances(found: dict, expected: list[float]) -> None:
    """The p-values of all rows, and both ways of adjusting them."""
    rows = found["comparison"]["rows"]
    assert [row["p"] for row in rows] == pytest.approx(expected)
    assert [row["p, Holm"] for row in rows] == pytest.approx(holm(expected).tolist())
    assert [row["p, Benjamini–Hochberg"] for row in rows] == pytest.approx(benjamini_hochberg(expected).tolist())


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
    accuracy = rows["accuracy over compliant"]["difference"]
    before, after = [int(n < 10) for n in range(34)], [int(n < 30) for n in range(34)]
    expected = difference_of_clusters(before, [1] * 34, after, [1] * 34, seed=7)
    assert (accuracy["low"], accuracy["high"], accuracy["n"]) == (expected.low, expected.high, 34)
    assert "McNemar" in found["comparison"]["identity"]
    assert found["comparison"]["identity"].startswith("3 comparisons, paired by item")


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
    right = [12, sum(1 for n in range(12) for s in range(3) if (n, s) != (0, 0) and (s < 2 or (n + s) % 3 == 0))]
    assert rows["yield"]["difference"]["value"] == pytest.approx(right[1] / 35 - right[0] / 36)
    assert "sign flips" in found["comparison"]["identity"]


def test_two_studies_over_the_items_that_both_have(tmp_path):
    def good(question: Question) -> Answer:
        return Failure(Reason.TIMEOUT) if number(question) == 12 else RIGHT

    first = written(tmp_path / "first", tables(), {"quiz": questions(20)}, lambda question: WRONG)
    second = written(tmp_path / "second", tables(), {"quiz": questions(30)[8:]}, good)
    found = compared(first, second)
    rows = by_measure(found)
    assert {row["items"] for row in rows.values()} == {11}, "q8 to q19 are common, and q12 did not arrive"
    assert rows["yield"]["difference"]["value"] == 1.0
    check_chances(found, [1.0, mcnemar(0, 11, pairs=11).p_value, mcnemar(0, 11, pairs=11).p_value])
    assert set(rows["yield"]) >= {"task", "model", "condition"}, "what both sides share is named"
    assert "moved readings" not in found, "no output is in both"


def test_what_is_not_distinguishable_is_not_claimed(tmp_path):
    def answer(question: Question) -> Answer:
        better = question.condition == "urged"
        return RIGHT if number(question) < 5 or (number(question) in (5, 6, 7) and better) else WRONG

    directory = written(tmp_path, tables(conditions=TWO), {"quiz": questions(16)}, answer)
    row = by_measure(compared(f"{directory}@condition=plain", f"{directory}@condition=urged"))["yield"]
    each = [1.0 if n in (5, 6, 7) else 0.0 for n in range(16)]
    least = detectable_mean(clustered_standard_error(each, [1] * 16), 16)
    assert row["p"] == mcnemar(0, 3, pairs=16).p_value == 0.25
    words = f"not distinguishable at this n (smallest detectable difference: {100 * least:.1f} points)"
    assert row["in words"] == words


def test_identical_sides_do_not_differ(conditions):
    for sides in (
        (conditions, conditions),
        (f"{conditions}@condition=plain", f"{conditions}@condition=plain"),
    ):
        found = compared(*sides)
        for row in found["comparison"]["rows"]:
            assert (row["difference"]["value"], row["p"], row["p, Holm"]) == (0.0, 1.0, 1.0)
            assert row["in words"] == "not distinguishable at this n"
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


def test_the_other_way_round_the_same_readings_moved(versions):
    rows = compared(*versions[::-1])["moved readings"]["rows"]
    names = [f"in {directory}" for directory in versions]
    assert {row["item"]: tuple(row[name] for name in names) for row in rows} == MOVED


def test_an_archive_and_its_replay_read_alike(versions):
    lived = versions[0].parents[1] / "lived/out"
    table = compared(lived, versions[0])["moved readings"]
    assert (table["rows"], table["identity"]) == ([], "0 of 7 outputs that both hold are read differently")


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


def test_hostile_names_are_shown_as_text(hostile):
    page = affidavit("compare", *hostile)
    assert fine(page, 0)
    printed = page.stdout.decode()
    assert all(each.isprintable() or each == "\n" for each in printed)
    assert "| quiz | a\\|b\\`c\\`\\[d\\](e)\\\\u000a\\\\u001b\\[31m\\<b\\> | @x | compliance | 6 | " in printed
    rows = [line for line in printed.splitlines() if line.startswith("| quiz ")]
    assert len(rows) == 2 * 2 * 2, "two models, two conditions; compliance and yield, as nobody gave an answer"
    done = affidavit("compare", *hostile, "--format", "csv")
    assert fine(done, 0)
    cells = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), strict=True))
    values = {row[3] for row in cells[1:] if row[2] in ("model", "condition")}
    assert values == {"'=1+1", HOSTILE[1], "'@x", "'\tz"}
    differences = [float(row[3]) for row in cells[1:] if row[2] == "difference"]
    assert differences == [-1.0] * 8, "numbers stay numbers"
    assert {row["model"] for row in compared(*hostile)["comparison"]["rows"]} == set(HOSTILE)


@pytest.mark.slow
def test_the_three_forms_say_the_same_and_can_be_written_to_a_file(conditions, tmp_path):
    sides = (f"{conditions}@condition=plain", f"{conditions}@condition=urged")
    found = by_measure(compared(*sides))
    page = here("compare", *sides).stdout.decode()
    for measure, row in found.items():
        told = row["difference"]
        value, low, high = (f"{100 * told[end]:+.1f}".replace("-", "−") for end in ("value", "low", "high"))
        difference = f"{value} points \\[{low}, {high}\\] n={told['n']}"
        assert f"| {label_of(measure)} | {row['items']} | {difference} | {row['p']:.3g} |" in page
    for form in ("md", "json", "csv"):
        printed = here("compare", *sides, "--format", form)
        placed = affidavit("compare", *sides, "--format", form, "-o", tmp_path / form)
        assert fine(placed, 0)
        assert (tmp_path / form).read_bytes() == printed.stdout
        assert not placed.stdout
    cells = [line.split(",") for line in (tmp_path / "csv").read_text().splitlines()]
    chances = [float(each[3]) for each in cells if each[2] == "p"]
    assert chances == [row["p"] for row in found.values()]
    assert json.loads((tmp_path / "json").read_text())["title"] == " and ".join(sides)
