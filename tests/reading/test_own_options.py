"""`--options auto`: every row is read over its own item's options, from every kind of file (ruling M3)."""

import csv
import io
import json

import polars as pl
import pytest

from affidavit.contracts.mcqa import ChoiceOfEachItem, MultipleChoice
from affidavit.contracts.mcqa_reasoned import ReasonedOfEachItem
from affidavit.errors import InputError
from affidavit.reading.rows import RowReader
from support.command import affidavit

ROWS = [
    ("<answer>E</answer>", "E", 5, True, None),
    ("<answer>D</answer>", "A", 2, False, "option_out_of_set"),
    ("<answer>B</answer>", "B", 2, True, None),
    ("<answer>E</answer>", "A", 4, False, "option_out_of_set"),
    ("<answer>E</answer>", None, 5, True, None),
]
"""Text, right answer, number of options; whether it is compliant, and the deviation."""
CONTRACTS = ["mcqa", "mcqa-reasoned"]


def rows(answer: str) -> list[dict[str, object]]:
    return [
        {"id": str(at), "raw_output": raw, answer: key, "options": [f"option {place}" for place in range(many)]}
        for at, (raw, key, many, *_) in enumerate(ROWS)
    ]


def write(path, of: list[dict[str, object]]) -> None:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in of))
    elif path.suffix == ".parquet":
        pl.DataFrame(of).write_parquet(path)
    else:
        out = io.StringIO(newline="")
        writer = csv.DictWriter(out, list(of[0]))
        writer.writeheader()
        writer.writerows({**row, "options": json.dumps(row["options"])} for row in of)
        path.write_text(out.getvalue())


def found(path) -> list[dict[str, object]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_dicts()
    said = {"": None, "true": True, "false": False}
    with path.open(newline="") as stream:
        read = [{name: said.get(cell, cell) for name, cell in row.items()} for row in csv.DictReader(stream)]
    for row in read:
        if isinstance(row.get("other_readings"), str):
            row["other_readings"] = json.loads(str(row["other_readings"]))
    return read


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("answer", ["answer", "target"])
@pytest.mark.parametrize("lenses", [False, True])
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_every_row_is_read_over_its_own_options(tmp_path, contract, kind, lenses, answer):
    write(tmp_path / f"in.{kind}", rows(answer))
    command = ["read", contract, f"in.{kind}", "--options", "auto", "--answer", answer, "-o", f"out.{kind}"]
    run = affidavit(*command, *(["--lenses"] if lenses else []), cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    for row, (raw, key, many, compliant, deviation) in zip(found(tmp_path / f"out.{kind}"), ROWS, strict=True):
        letter = raw[len("<answer>")]
        assert row["protocol_compliant"] is compliant, row
        assert (row["extracted_answer"], row["deviation"]) == (letter if compliant else None, deviation)
        assert row["correct"] == (letter == key if compliant and key is not None else None)
        if lenses:
            # The others read over the same options, and know their texts where they need them.
            others = row["other_readings"]
            assert others["mcqa-last-tag/1"] == (letter if compliant else None)
            assert "lm-eval-flexible-0.4.13/1" in others, many


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_files_and_studies_agree(tmp_path, kind):
    write(tmp_path / f"in.{kind}", rows("answer"))
    command = ["read", "mcqa", f"in.{kind}", "--options", "auto", "--json"]
    alone = json.loads(affidavit(*command, "-o", f"out.{kind}", cwd=tmp_path).stdout)
    study = json.loads(affidavit(*command, "--out", "study", cwd=tmp_path).stdout)["tasks"]["imported"]
    same = ("n", "compliant", "non_compliant", "accuracy_over_compliant", "yield", "deviations")
    assert {name: alone[name] for name in same} == {name: study[name] for name in same}


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"raw_output": "x", "choices": ["a", "b"]}, "Did you mean choices?"),
        ({"raw_output": "x", "options": None}, "found null"),
        ({"raw_output": "x", "options": "a; b"}, 'found "a; b"'),
        ({"raw_output": None, "options": ["a"]}, 'found ["a"]'),
        ({"raw_output": "x", "answer": "C", "options": ["a", "b"]}, "a letter from A to B in 'answer'"),
    ],
)
def test_a_row_without_fitting_options_is_a_mistake_of_the_file(tmp_path, contract, row, said):
    good = json.dumps({"raw_output": "x", "options": ["a", "b"]})
    (tmp_path / "in.jsonl").write_text(f"{good}\n{json.dumps(row)}\n")
    run = affidavit("read", contract, "in.jsonl", "--options", "auto", "-o", "out.jsonl", cwd=tmp_path)
    assert run.returncode == 2
    assert "in.jsonl:2: expected " in run.stderr.decode()
    assert said in run.stderr.decode()


def test_an_empty_cell_is_no_option_set(tmp_path):
    (tmp_path / "in.csv").write_text("raw_output,options\nx,\n")
    run = affidavit("read", "mcqa", "in.csv", "--options", "auto", "-o", "out.csv", cwd=tmp_path)
    assert run.returncode == 2
    assert "in.csv:2: expected a list of 2 to 23 texts in 'options', found null" in run.stderr.decode()


@pytest.mark.parametrize("contract", [ChoiceOfEachItem(), ReasonedOfEachItem()])
def test_readers_are_made_once_for_each_contract_and_columns_are_not_used(contract):
    reader = RowReader(contract, answer="gold")
    assert reader.parts.differs_by_item
    assert not reader.in_columns
    # What a row gets depends on its options, so equal texts are not enough to be read alike.
    assert reader.item_fields == ("answer", "options")
    for many in (2, 3, 2, 3):
        row = {"raw_output": "<answer>C</answer>", "gold": "B", "options": ["x"] * many}
        assert reader.read(row, where="f:1").added["correct"] == (None if many == 2 else False)
    assert len(reader._of_items) == 2


class Growing:
    """A user's contract that makes a new one for every row."""

    name, version, params = "growing", 1, {}

    def __init__(self) -> None:
        self.fitting = MultipleChoice("A-C")

    def instruction(self, item=None):
        return ""

    def read(self, raw, item=None):
        return self.fitting.read(raw)

    def validate(self, reading, item):
        return None

    def grammar(self, item=None):
        return None

    def for_item(self, row, *, where):
        return MultipleChoice("A-B") if row["id"] % 2 else self.fitting


def test_a_contract_that_makes_a_new_one_for_every_row_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("affidavit.reading.rows._READERS_KEPT", 3)
    reader = RowReader(Growing(), answer="gold")
    for number in range(20):
        row = {"id": number, "raw_output": "<answer>C</answer>", "gold": "A"}
        added = reader.read(row, where="f:1").added
        assert (added["protocol_compliant"], added["correct"]) == ((False, None) if number % 2 else (True, False))
        assert len(reader._of_items) <= 3


def test_a_mistake_in_a_row_is_no_traceback_in_python():
    with pytest.raises(InputError, match="f:1: expected a list of 2 to 23 texts in 'options'"):
        RowReader(ChoiceOfEachItem()).read({"raw_output": "x"}, where="f:1")
