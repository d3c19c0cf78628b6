"""Two studies that were read with other parameters: it is said before any figure."""

import json

import pytest

import affidavit
from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.comparison import read_otherwise
from affidavit.results.study_results import StudyResults
from support.written_study import here

TEXTS = ["<answer>4</answer>", "#### 4", "#### 5", "<answer>5</answer>", "about 4"]
OTHERWISE = "with other parameters: marker none / ####"


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    """The same outputs, read as they are and with a marker, each a study of its own."""
    folder = tmp_path_factory.mktemp("parameters")
    rows = [{"id": f"q{at}", "model": "m", "raw_output": raw, "answer": "4"} for at, raw in enumerate(TEXTS * 3)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, more in (("plain", []), ("marked", ["--param", "marker=####"])):
        run = here("read", "number", folder / "rows.jsonl", *more, "--out", folder / name / "s")
        heading = run.stdout.decode().splitlines()[0]
        assert heading == ("imported  number/1" if not more else "imported  number/1, marker ####")
    return folder / "plain" / "s", folder / "marked" / "s"


def in_one_line(run) -> str:
    return " ".join(run.stdout.decode().split())


def warning(first, second, words=OTHERWISE):
    return f"imported is read {words} ({first} / {second})."


@pytest.mark.slow
def test_a_comparison_says_so_before_its_figures(sides):
    text = in_one_line(here("compare", *sides))
    assert text.index(OTHERWISE) < text.index("What is different")
    page = here("compare", *sides, "--format", "md").stdout.decode()
    assert page.index("with other parameters") < page.index("What is different")
    assert json.loads(here("compare", *sides, "--format", "json").stdout)["notes"] == [warning(*sides)]
    assert affidavit.compare(*map(str, sides)).notes == [warning(*sides)]


def test_moved_readings_show_the_parameters_that_differ(sides):
    tables = json.loads(here("compare", *sides, "--format", "json").stdout)["tables"]
    moved = tables["moved readings"]["rows"]
    # By the marker alone a number counts there, and in a block here (ruling N3).
    assert {row[f"in {sides[0]}"].partition(")")[0] for row in moved} == {"number/1 (marker none"}
    assert {row[f"in {sides[1]}"].partition(")")[0] for row in moved} == {"number/1 (marker ####"}


@pytest.mark.slow
def test_a_gate_against_such_a_baseline_says_so_first(sides):
    text = in_one_line(here("gate", sides[1], "--baseline", sides[0], "--margin", "1"))
    assert text.startswith(f"imported is read {OTHERWISE} (")
    assert text.count(OTHERWISE) == 1
    page = here("gate", sides[1], "--baseline", sides[0], "--format", "md").stdout.decode()
    assert page.index("with other parameters") < page.index("| figure |")
    found = affidavit.gate(sides[1], baseline=sides[0])
    assert OTHERWISE in found.warnings[0]
    assert found.as_json()["notes"][0] == found.warnings[0]
    assert OTHERWISE in found.table.notes[0]


@pytest.mark.slow
def test_nothing_is_said_where_both_are_read_alike(sides):
    text = in_one_line(here("compare", sides[0], sides[0]))
    assert "is read" not in text
    assert affidavit.gate(sides[0], baseline=sides[0]).warnings == ()
    assert affidavit.gate(sides[0], min_compliance=0.1).warnings == ()


def test_of_a_part_only_its_own_task_is_said(sides):
    first, second = (StudyResults(StudyDirectory(path)) for path in sides)
    assert len(read_otherwise(first.side("a", {"task": "imported"}), second.side("b", {}))) == 1
    assert first.side("a", {"task": "imported"}).read_by.keys() == {"imported"}


def test_another_contract_is_said_too(sides, tmp_path):
    rows = sides[0].parents[1] / "rows.jsonl"
    here("read", "text", rows, "--out", tmp_path / "s")
    text = in_one_line(here("compare", sides[1], tmp_path / "s"))
    assert "imported is read by other contracts: number/1, marker #### / text/1 (" in text


@pytest.mark.slow
def test_a_report_names_contracts_with_their_parameters(sides):
    assert here("report", sides[1], "--format", "text").stdout.decode().splitlines()[1] == (
        "read by number/1, marker ####"
    )
    assert (
        "\n- read by: number/1, marker \\#\\#\\#\\#\n"
        in here("report", sides[1], "--format", "md").stdout.decode()
    )
    assert json.loads(here("report", sides[0], "--format", "json").stdout)["read_by"] == "number/1"


def test_programs_get_the_parameters_of_a_study(sides, tmp_path):
    rows = sides[0].parents[1] / "rows.jsonl"
    run = here("read", "number", rows, "--param", "marker=####", "--out", tmp_path / "s", "--json")
    found = json.loads(run.stdout)
    assert found["tasks"]["imported"]["contract_params"]["marker"] == "####"
    assert found["tasks"]["imported"]["contract"] == found["cells"][0]["contract"] == "number/1"
