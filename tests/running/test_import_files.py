"""Files of outputs become a study: whole or not at all, once, the same from every kind of file, and verified."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from affidavit.archive.layout import MANIFEST, RECORDS, SEAL, STUDY
from affidavit.archive.record import Failed
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import InputError, UsageError
from affidavit.results.study_results import StudyResults
from affidavit.running.import_files import OutputFiles
from affidavit.running.verify import verify
from support.kept_outputs import kept, opened
from support.outputs_elsewhere import write_jsonl
from support.studies import every_byte

ANSWERS = {"a": ("<answer>B</answer>", "<answer>A</answer>"), "b": ("B.", "<answer>C</answer>"), "c": (None, "C")}
ROWS = [
    {
        "id": f"q{number}",
        "model": model,
        "answer": "BC"[number],
        "subject": ("art", "law")[number],
        "raw_output": raw,
    }
    for model, texts in ANSWERS.items()
    for number, raw in enumerate(texts)
]
OWN = """
from affidavit import AnswerReading, Validation


class Last:
    name, version, params = "last", 1, {}

    def instruction(self, item=None):
        return "Say it last."

    def read(self, raw, item=None):
        return AnswerReading(raw.split()[-1])

    def validate(self, reading, item):
        return Validation(reading.extracted_answer == item["gold"]["text"], "compared")

    def grammar(self, item=None):
        return None


last = Last()
"""


def table(results: StudyResults, name: str) -> list[dict]:
    (found,) = (each for each in results.report().tables if each.name == name)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def checked(directory: StudyDirectory, *contracts: str) -> None:
    found = verify(directory, GivenContracts(contracts))
    assert (found.sealed, found.differences) == (True, [])


@pytest.mark.slow
def test_three_models_in_one_file_are_three_in_the_study(tmp_path):
    done, _ = kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", ROWS))
    study = done.directory.frozen()
    assert study.cells == {("imported", model, "base"): 2 for model in "abc"}
    checked(done.directory)
    rows = table(StudyResults(done.directory), "compliance")
    assert {row["model"]: (row["compliant"], row["non-compliant"], row["failed"]) for row in rows} == {
        "a": (2, 0, 0), "b": (1, 1, 0), "c": (0, 1, 1),
    }  # fmt: skip
    accuracy = {row["model"]: row for row in table(StudyResults(done.directory), "accuracy")}
    # rulings M6 and S6: the one that never arrived is missing, and its right answer is known
    assert accuracy["c"]["if missing right"].n == 2


@pytest.mark.slow
def test_what_else_stood_in_the_rows_groups_and_clusters(tmp_path):
    done, _ = kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", ROWS))
    rows = table(StudyResults(done.directory, ("metadata.subject", "model")), "compliance")
    assert [(row["metadata.subject"], row["model"], row["planned"]) for row in rows] == [
        (subject, model, 1) for subject in ("art", "law") for model in "abc"
    ]
    clustered = StudyResults(done.directory, ("model",), cluster="metadata.subject")
    assert clustered.records.cluster == "metadata.subject"
    assert {row["model"] for row in table(clustered, "compliance")} == set("abc")
    with pytest.raises(UsageError, match=r"a field of some row: metadata\.answer, metadata\.subject, found"):
        StudyResults(done.directory, ("metadata.subjct",))


def test_rows_without_the_metadata_are_clusters_of_their_own(tmp_path):
    # ruling S8
    rows = [{**row, "subject": None} if row["id"] == "q1" else row for row in ROWS]
    done, _ = kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", rows))
    results = StudyResults(done.directory, cluster="metadata.subject")
    assert results.cluster_notes({}) == [
        "imported: 1 item has no metadata.subject; each is a cluster of its own, in intervals and in macro averages."
    ]


def write(path: Path, rows: list[dict]) -> Path:
    if path.suffix == ".jsonl":
        return write_jsonl(path, rows)
    if path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


@pytest.mark.parametrize("kind", ["json", "csv", "parquet"])
def test_the_same_rows_are_the_same_study_from_every_kind_of_file(tmp_path, kind):
    rows = [row for row in ROWS if row["raw_output"] is not None]
    roots = []
    for ending in ("jsonl", kind):
        done, _ = kept(tmp_path / ending / "out", write(tmp_path / f"rows.{ending}", rows))
        checked(done.directory)
        roots.append(done.seal.root_sha256)
    assert roots[0] == roots[1]


def test_an_empty_cell_of_csv_is_an_empty_output_and_is_counted(tmp_path):
    (tmp_path / "rows.csv").write_text("id,answer,raw_output\nq1,,\nq2,B,<answer>B</answer>\n")
    done, files = kept(tmp_path / "out", tmp_path / "rows.csv")
    assert files.counted["empty_cells"] == 1
    first, second = done.directory.records()
    assert (first.raw_output, first.keyed, second.keyed) == ("", False, True)


def test_columns_are_named_also_inside_of_nested_values(tmp_path):
    rows = [
        {
            "custom_id": "r1",
            "gold": {"text": "B"},
            "response": {"body": {"choices": [{"message": {"content": raw}}]}},
        }
        for raw in ("<answer>B</answer>", None)
    ]
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    text = "response.body.choices[0].message.content"
    done, _ = kept(tmp_path / "out", path, text=text, answer="gold.text", id="custom_id")
    first, second = done.directory.records()
    assert (first.raw_output, first.correct, first.subject.item_id) == ("<answer>B</answer>", True, "r1")
    assert first.subject.row == {"gold": {"text": "B"}, "response": {"body": {"choices": [{"message": {}}]}}}
    assert isinstance(second, Failed)
    assert (second.keyed, second.subject.sample) == (True, 1)
    checked(done.directory)


def test_a_contract_of_the_users_own_reads_and_verifies_when_it_is_named(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    rows = [{"raw_output": raw, "gold": {"text": "yes"}} for raw in ("I say yes", "no", "")]
    place = f"{tmp_path}/own.py:last"
    done, _ = kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", rows), contract=place)
    assert sum(tally.unread for tally in done.tallies.values()) == 1
    checked(done.directory, place)
    with pytest.raises(UsageError, match="the file of the contract 'last' that read these outputs"):
        verify(done.directory, GivenContracts())
    assert table(StudyResults(done.directory), "compliance")[0]["unread"] == 1, "a report runs no code"


def test_columns_that_were_not_taken_are_proposed(tmp_path):
    rows = [{"raw_output": "<answer>B</answer>", "target": "B", "model_name": "m"}]
    files = opened(write_jsonl(tmp_path / "rows.jsonl", rows))
    assert isinstance(files, OutputFiles)
    notes = files.notes()
    assert "a column `target` may hold the right answers: name it with --answer target" in notes
    assert "no column names the model: all outputs are of one, `unnamed`" in notes
    assert [note for note in notes if note.startswith("rows have no id")]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.jsonl", "", "expected rows as JSON Lines, CSV or Parquet, found an empty file"),
        ("rows.jsonl", "\n \n", "found an empty file"),
        ("rows.csv", "raw_output,id\n", "expected at least one row, found columns and no rows"),
        ("rows.json", "[]", "found an empty list"),
        ("rows.jsonl", '{"completion": "x"}', "name it with --field completion."),
    ],
)
def test_a_file_without_rows_or_texts_is_refused(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as refused:
        opened(tmp_path / name)
    assert said in str(refused.value)


def test_an_empty_file_among_others_is_refused_by_name(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match=r"empty\.jsonl: expected rows"):
        opened(write_jsonl(tmp_path / "rows.jsonl", ROWS), tmp_path / "empty.jsonl")


# --- once, and again ---


def test_a_row_that_is_refused_leaves_no_directory(tmp_path):
    with pytest.raises(InputError, match=r"rows.jsonl:7: expected a name in 'model'"):
        kept(tmp_path / "out", write_jsonl(tmp_path / "rows.jsonl", [*ROWS, {"id": "x", "raw_output": "y"}]))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_same_outputs_change_nothing_and_others_are_refused(tmp_path):
    path = write_jsonl(tmp_path / "rows.jsonl", ROWS)
    kept(tmp_path / "out", path)
    before = every_byte(tmp_path / "out")
    again, _ = kept(tmp_path / "out", write(tmp_path / "rows.json", ROWS[::-1]))
    assert sum(tally.n for tally in again.tallies.values()) == len(ROWS)
    assert every_byte(tmp_path / "out") == before
    new, changed = {**ROWS[0], "id": "another"}, {**ROWS[0], "raw_output": "changed"}
    around = {**ROWS[0], "subject": "music"}
    for others, word in (
        (ROWS[1:], "is not among them now"),
        ([changed, *ROWS[1:]], "has changed"),
        ([around, *ROWS[1:]], "has another row around the same text"),
        ([*ROWS, new], "is new"),
    ):
        said = f"expected the outputs that were taken in there, found others: the output .*{word}"
        with pytest.raises(UsageError, match=said):
            kept(tmp_path / "out", write_jsonl(tmp_path / "others.jsonl", others))
    with pytest.raises(
        UsageError, match="read as they were taken in there, by mcqa/1, found mcqa/1, options A-E"
    ) as told:
        kept(tmp_path / "out", path, options="A-E")
    assert "The outputs may be the same" in str(told.value)
    assert every_byte(tmp_path / "out") == before


@pytest.mark.parametrize("left", ["outline", "outline and some records", "draft"])
def test_what_a_kill_leaves_is_completed(tmp_path, left):
    path = write_jsonl(tmp_path / "rows.jsonl", ROWS)
    done, _ = kept(tmp_path / "out", path)
    (tmp_path / "out" / SEAL).unlink()
    records = tmp_path / "out" / RECORDS / "000001.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    records.unlink()
    if left == "outline and some records":
        records.write_bytes(b"".join(lines[:2]))
    if left == "draft":
        for name in (STUDY, MANIFEST):
            (tmp_path / "out" / name).unlink()
        records.parent.rmdir()
        (tmp_path / "out" / ".records.partial").write_bytes(lines[0])
    again, _ = kept(tmp_path / "out", path)
    assert again.seal.root_sha256 == done.seal.root_sha256
    checked(again.directory)
