"""Where nothing was read, the item says whether a right answer is known: for yield (ruling M6) and bounds (S6)."""

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.models.model import Failure, Reason
from affidavit.results.study_results import StudyResults
from support.written_study import here, questions, reported, tables, written

FAILED = Failure(Reason.SERVER_ERROR)
OWN = """
from affidavit import AnswerReading, Validation
class Own:
    name, version, params = "own", 1, {{}}
    def instruction(self, item=None): return ""
    def read(self, raw, item=None):
        if raw == "boom": raise ValueError("boom")
        return AnswerReading(raw if raw in ("A", "B") else None)
    def validate(self, reading, item):
        key = item.get({key!r})
        return None if key is None or reading.extracted_answer is None else Validation(
            reading.extracted_answer == key, "compared")
    def grammar(self, item=None): return None
own = Own()
"""


def accuracy(directory) -> dict:
    (row,) = reported(here("report", directory, "--format", "json"))["accuracy"]["rows"]
    names = ("yield", "if missing wrong", "if missing right")
    return {name: (round(row[name]["value"] * row[name]["n"]), row[name]["n"]) for name in names}


def test_a_failed_question_without_a_key_is_in_no_bound(tmp_path):
    """Ruling S6: nobody could have been right or wrong there."""
    without = [{name: value for name, value in row.items() if name != "answer"} for row in questions(6)]
    items = {"quiz": [*questions(2), *without[2:]]}
    said = {"q0": "<answer>B</answer>", "q2": "<answer>B</answer>"}
    found = accuracy(written(tmp_path, tables(), items, lambda asked: said.get(asked.item.id, FAILED)))
    assert found == {"yield": (1, 1), "if missing wrong": (1, 2), "if missing right": (2, 2)}


def own_study(tmp_path, rows: list[dict], said: dict, *, key: str = "answer", samples: int = 1):
    (tmp_path / "own.py").write_text(OWN.format(key=key))
    study = tables(tasks={"quiz": {"contract": "own.py:own"}}, decoding={"samples": samples})
    return written(tmp_path, study, {"quiz": rows}, lambda asked: said[asked.item.id][asked.sample])


def item(name: str, **more: object) -> dict:
    return {"id": name, "question": "?", **more}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "rows", "said", "expected"),
    [
        pytest.param(
            "answer",
            [item("a", answer="A"), item("b", answer="A"), item("c"), item("d", answer="A"), item("e")],
            {"a": ["A"], "b": ["boom"], "c": ["A"], "d": [FAILED], "e": ["A"]},
            {"yield": (1, 2), "if missing wrong": (1, 3), "if missing right": (3, 3)},
            id="an `answer` in the item is a known one",
        ),
        pytest.param(
            "truth",
            [item("a", truth="A"), item("b"), item("c", truth="A")],
            {"a": ["A", "boom", FAILED], "b": ["A", "boom", FAILED], "c": ["boom", "boom", FAILED]},
            {"yield": (1, 4), "if missing wrong": (1, 6), "if missing right": (6, 6)},
            id="another output of the item tells; if none does, what the task is like",
        ),
        pytest.param(
            "truth",
            [item("a"), item("b")],
            {"a": ["A", "boom"], "b": ["B", FAILED]},
            None,
            id="nothing is compared: there is no accuracy",
        ),
    ],
)
def test_of_a_contract_from_a_file_the_first_that_says_something_is_believed(tmp_path, key, rows, said, expected):
    directory = own_study(tmp_path, rows, said, key=key, samples=max(map(len, said.values())))
    (tmp_path / "own.py").unlink()  # no code of a user is run for a report
    if expected is None:
        assert "accuracy" not in reported(here("report", directory, "--format", "json"))
    else:
        assert accuracy(directory) == expected


def test_a_reader_is_told_of_what_nobody_says(tmp_path):
    rows = [item("a", truth="A"), item("c", truth="A"), item("d", truth="A")]
    said = {"a": ["A"], "c": ["boom"], "d": [FAILED]}
    results = StudyResults(StudyDirectory(own_study(tmp_path, rows, said, key="truth")))
    notes = [note for note in results.report().notes if "nobody says" in note]
    assert [note.split(",")[0] for note in notes] == [
        "quiz: 1 outputs are not compliant or unread and count as not right",
        "quiz: 1 failed questions count as missing in the bounds of accuracy",
    ]
