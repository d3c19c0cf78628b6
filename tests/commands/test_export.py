"""`affidavit export`: where files go, what is said of them, and what is refused."""

import json

import polars as pl
import pytest

from affidavit.commands import export
from affidavit.integrations.export_formats import EXPORT_FORMATS
from support.exports import imported, planned
from support.written_study import here

FORMS = list(EXPORT_FORMATS)


def ended(*arguments: object) -> tuple[int, str, str]:
    done = here("export", *arguments)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_help_names_every_format():
    said = f"{export.export.help} {[each.help for each in export.export.params if each.name == 'form']}"
    assert [name for name in FORMS if said.count(f"{name}") < 2] == []


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("parquet", "study.parquet"),
        ("csv", "study.csv"),
        ("jsonl", "study.jsonl"),
        ("inspect-scores", "study-inspect-scores.jsonl"),
        ("eee", "study-eee"),
    ],
)
def test_unless_it_is_named_a_file_has_the_name_of_the_study(tmp_path, monkeypatch, form, name):
    study = imported(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    code, out, err = ended(study, "--format", form)
    assert (code, out.startswith(f"{name}: ")) == (0, True), err
    assert [path.name for path in (tmp_path / "here").iterdir()] == [name]
    code, out, err = ended(study, "--format", form)
    assert (code, out) == (2, "")
    assert f"{name}: expected a name that is free" in err


def test_a_file_that_is_named_is_replaced(tmp_path):
    study, out = imported(tmp_path), tmp_path / "r.parquet"
    out.write_text("old")
    code, said, _ = ended(study, "--format", "parquet", "-o", out)
    assert (code, said) == (0, f"{out}: 15 response, 1 failure\n")
    assert pl.read_parquet(out).height == 16


def test_what_is_left_out_is_told_by_kind(tmp_path):
    code, out, err = ended(
        imported(tmp_path), "--format", "eee", "-o", tmp_path / "eee", "--organization", "Our lab"
    )
    assert (code, out) == (0, f"{tmp_path / 'eee'}: 1 aggregates, 2 instances\n")
    assert "note: left out: 1 failed: no_content\n" in err
    assert "note: left out: 2 non-compliant: empty\n" in err
    (aggregate,) = (tmp_path / "eee").rglob("*.json")
    source = json.loads(aggregate.read_bytes())["source_metadata"]
    assert (source["source_organization_name"], source["evaluator_relationship"]) == ("Our lab", "other")


def test_a_study_that_is_not_sealed_is_said_to_be_so(tmp_path):
    study = planned(tmp_path, "<answer>B</answer>", sealed=False)
    code, _, err = ended(study, "--format", "jsonl", "-o", tmp_path / "r.jsonl")
    assert (code, err) == (0, "note: the study is not sealed; these are its records as they stand\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "xlsx"], "--format: expected one of parquet, csv, jsonl, inspect-scores, eee"),
        (["--format", "parqet"], "Did you mean parquet?"),
        (["--format", "csv", "--organization", "x"], "--organization: expected --format eee"),
        (["--format", "csv", "--relationship", "other"], "--relationship: expected --format eee"),
        (["--format", "csv", "-o", "none/there.csv"], "no directory 'none'"),
        (["--format", "csv", "-o", "STUDY"], "found a directory"),
        (["--format", "eee", "-o", "STUDY"], "a study's directory"),
        (["--format", "csv", "-o", "STUDY/study.json"], "It is evidence"),
        ([], "Missing option '--format'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, arguments, said):
    study = imported(tmp_path)
    before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    code, out, err = ended(study, *[each.replace("STUDY", str(study)) for each in arguments])
    assert (code, out) == (2, "")
    assert said in err
    assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("form", [form for form in FORMS if not EXPORT_FORMATS[form].takes_a_part])
def test_a_part_is_for_formats_that_need_one(tmp_path, form):
    code, _, err = ended(f"{imported(tmp_path)}@model=unnamed", "--format", form, "-o", tmp_path / "out")
    assert (code, f"expected a whole study for {form}, found a part of one" in err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_part_of_a_study_has_scores(tmp_path):
    part = f"{imported(tmp_path)}@task=imported,model=unnamed"
    assert ended(part, "--format", "inspect-scores", "-o", tmp_path / "s.jsonl")[0] == 0


@pytest.mark.parametrize("what", ["nothing", "rows.jsonl"])
def test_what_is_no_study_is_refused(tmp_path, what):
    imported(tmp_path)
    code, _, err = ended(tmp_path / what, "--format", "csv", "-o", tmp_path / "r.csv")
    assert (code, "expected a study directory" in err) == (2, True)


def test_a_broken_archive_is_no_source_of_rows(tmp_path):
    study = imported(tmp_path)
    segment = study / "records" / "000001.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"half", b"calf"))
    for form in FORMS:
        code, out, err = ended(study, "--format", form, "-o", tmp_path / "out")
        assert (code, out) == (5, "")
        assert str(segment) in err
        assert not (tmp_path / "out").exists()
