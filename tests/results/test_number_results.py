"""Numbers in a report: their tables beside those of other contracts, and equal numbers as equal answers."""

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.contracts.contract import label
from affidavit.contracts.number import number
from affidavit.contracts.registry import BUILT_IN, frozen_parts
from affidavit.errors import InputError
from support.written_study import here, questions, reported, tables, written

SAID = ["<answer>1,072</answer>", "<answer>1072.0</answer>", "<answer>7</answer>"]
"""What the three samples of an item say: twice the same number, and another."""


@pytest.fixture
def study(tmp_path):
    sums = {"contract": "number", "items": "sums.jsonl", "parameters": {"unit": "$", "tolerance": 0.5}}
    items = [{"id": f"s{n}", "question": "How many?", "answer": "1 + 1071\n#### 1,072"} for n in range(4)]

    def answer(question) -> str:
        if question.task.name == "quiz":
            return "B"
        return "It is 1072." if question.item.id == "s3" else SAID[question.sample]

    given = tables(tasks={"sums": sums}, decoding={"samples": 3})
    return written(tmp_path, given, {"sums": items, "quiz": questions(2)}, answer)


@pytest.mark.slow
def test_the_tables_of_two_contracts_stand_side_by_side(study):
    found = reported(here("report", study, "--format", "json"))
    (methods,) = found["extraction methods"]["rows"]
    assert (methods["extraction_method"], methods["count"]) == ("answer_block", 9)
    deviations = {(row["task"], row["deviation"]): row["count"] for row in found["deviations"]["rows"]}
    assert deviations == {("sums", "number_in_text"): 3, ("quiz", "bare_letter"): 6}
    accuracy = {row["task"]: (row["right"], row["compared"]) for row in found["accuracy"]["rows"]}
    assert accuracy["sums"] == (6, 9)
    assert here("verify", study).returncode == 0


@pytest.mark.slow
def test_where_answers_were_found_is_counted_over_those_that_were(tmp_path):
    """Ruling N8: what was refused was not found, and the shares add up."""
    said = ["<answer>7</answer>", "#### 7", "#### 8", "<answer>7 apples</answer>", "#### seven", "It is 7."]
    sums = {"contract": "number", "items": "sums.jsonl", "parameters": {"marker": "####"}}
    items = [{"id": str(n), "question": "How many?", "answer": 7} for n in range(len(said))]
    given = tables(tasks={"quiz": None, "sums": sums})
    study = written(tmp_path, given, {"sums": items}, lambda question: said[int(question.item.id)])
    rows = reported(here("report", study, "--format", "json"))["extraction methods"]["rows"]
    assert [(row["extraction_method"], row["count"]) for row in rows] == [("answer_block", 1), ("marker_line", 2)]
    assert [row["share of compliant"]["n"] for row in rows] == [3, 3]
    assert sum(row["share of compliant"]["value"] for row in rows) == pytest.approx(1)


@pytest.mark.slow
def test_a_majority_is_over_values(study):
    """Ruling N8: 1,072 and 1072.0 are one answer, and two of three samples."""
    (row,) = reported(here("report", study, "--format", "json"))["majorities"]["rows"]
    assert (row["with a majority"], row["tied"]) == (3, 0)
    assert row["mean share of the leader"]["value"] == pytest.approx(2 / 3)
    assert row["majority right"]["value"] == 1


FORGED: dict[str, tuple[object, str]] = {
    "a number": ({**number.params, "marker": 5}, ".marker: expected at most 50 printable characters, no outer blanks, "
    "no <, no digit or sign last, found 5"),
    "a list": ({**number.params, "unit": ["$"]}, ".unit: expected at most 20 characters, no outer blanks, digits, "
    'signs, separators, < or >, found ["$"]'),
    "null": ({**number.params, "thousands": None}, ".thousands: expected one of "),
    "a name too many": ({**number.params, "more": 1}, ": expected exactly these: marker, thousands, decimal, sign, unit, "
    'tolerance, found ["decimal", "marker", "more", "sign", "thousands", "tolerance", "unit"]'),
    "a name too few": ({"marker": "", "unit": ""}, ": expected exactly these: marker, thousands, decimal, sign, unit, "
    'tolerance, found ["marker", "unit"]'),
    "no names": ({}, ": expected exactly these: marker"),
}  # fmt: skip


@pytest.mark.parametrize(("forged", "told"), FORGED.values(), ids=FORGED)
def test_parameters_that_were_forged_are_refused_at_their_name_when_a_study_is_opened(study, forged, told):
    file = study / "study.json"
    fields = checked_fields(file.read_bytes())
    fields["config"]["contracts"]["sums"]["params"] = forged
    file.write_bytes(checked_line({name: value for name, value in fields.items() if name != "sha256"}))
    (study / "seal.json").unlink()  # whoever forges a study leaves it out, or makes another
    for arguments in (("report", study), ("verify", study), ("report", study, "--format", "json")):
        done = here(*arguments)
        assert done.returncode == 5
        assert f"study.json:1: contracts.sums.params{told}" in done.stderr.decode()


@pytest.mark.parametrize("name", BUILT_IN)
def test_other_names_of_parameters_than_a_contract_has_are_refused(name):
    """Ruling C3: beside name and version, its parameters decide every reading, all of them and no others."""
    contract = BUILT_IN[name]
    said = {"contract": label(contract), "params": dict(contract.params)}
    frozen_parts(name, said)
    for params in ({**said["params"], "more": 1}, {"more": 1}, [], None):
        with pytest.raises(InputError, match=r"^parameters: expected "):
            frozen_parts(name, {**said, "params": params})
