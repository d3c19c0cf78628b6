"""Tables that leave the tool: LaTeX, CSV in a file or a directory, tables for a terminal."""

import csv
import io
from dataclasses import replace

import polars as pl
import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.commands.table_files import FORMS, is_directory, write_csv_files
from affidavit.interface import open_study
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.text_forms import INDEX, Report, as_csv_files, safe
from affidavit.results.values import ESTIMATED, Mean, estimate_of
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson
from support.command import affidavit
from support.golden_files import GOLDEN
from support.studies import every_byte, fine
from support.written_study import here, questions, tables, written


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two models with names that spreadsheets and terminals could take for something else."""

    def answer(question):
        return "<answer>B</answer>" if int(question.item.id[1:]) % 3 else "B."

    models = ("=1+1", "meta-llama/Llama-3.1-8B-Instruct-Q4_K_M")
    return written(tmp_path_factory.mktemp("study"), tables(models=models), {"quiz": questions(9)}, answer)


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.slow
def test_csv_goes_to_a_directory_with_a_file_for_each_table(study, tmp_path):
    done = affidavit("report", study, "--format", "csv", "--out", tmp_path / "tables")
    assert fine(done, 0)
    assert not done.stdout
    index = rows_of((tmp_path / "tables" / INDEX).read_text())
    assert index[0] == ["table", "file", "question", "rows", "identity", "notes"]
    results = open_study(study).results()
    assert [row[0] for row in index[1:]] == list(results)
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {INDEX, *(row[1] for row in index[1:])}
    for name, file, question, count, identity, _ in index[1:]:
        frame = results[name].to_polars()
        found = rows_of((tmp_path / "tables" / file).read_text())
        assert found[0] == list(map(safe, frame.columns))
        assert len(found) - 1 == int(count) == len(frame)
        assert (question, identity) == (results[name].question, safe(results[name].foot))
        for cells, values in zip(found[1:], frame.rows(), strict=True):
            for cell, value in zip(cells, values, strict=True):
                expected = "" if value is None else safe(value) if isinstance(value, str) else value
                assert cell == expected if isinstance(expected, str) else float(cell) == expected


@pytest.mark.slow
def test_comparisons_go_the_same_ways(study, tmp_path):
    sides = (f"{study}@model==1+1", f"{study}@model=meta-llama/Llama-3.1-8B-Instruct-Q4_K_M")
    assert fine(here("compare", *sides, "--format", "csv", "-o", tmp_path / "tables"), 0)
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {INDEX, "comparison.csv"}
    latex = here("compare", *sides, "--format", "latex")
    assert latex.stdout.count(b"\\begin{table}") == 1
    assert fine(here("compare", *sides, "-o", tmp_path / "page.md"), 0)
    assert (tmp_path / "page.md").read_text().startswith("# "), "a file is Markdown unless something else is asked"


@pytest.mark.slow
def test_a_name_that_ends_in_csv_is_one_file(study, tmp_path):
    assert fine(here("report", study, "--format", "csv", "-o", tmp_path / "all.csv"), 0)
    assert (tmp_path / "all.csv").read_bytes() == here("report", study, "--format", "csv").stdout
    assert is_directory(tmp_path)


def test_tables_of_an_earlier_report_go_and_other_files_stay(tmp_path):
    write_csv_files(
        tmp_path, {"a.csv": "1\n", "b.csv": "2\n", INDEX: "table,file\na,a.csv\nb,b.csv\nc,../c.csv\n"}
    )
    (tmp_path / "mine.csv").write_text("mine")
    write_csv_files(tmp_path, {"a.csv": "3\n", INDEX: "table,file\na,a.csv\n"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.csv": "3\n", "mine.csv": "mine", INDEX: "table,file\na,a.csv\n",
    }  # fmt: skip


def test_names_of_files_are_safe_and_of_one_table_each():
    names = ["../x", "X", "tables", "", "x", "pass@k"]
    clusters = Estimate(0.5, 0.1, 0.9, 80, "method", 40)
    made = [Table(name, "Q?", ("a", "b"), ((wilson(1, 2), Mean(clusters)),), "") for name in names]
    files = as_csv_files(Report("r", {}, made))
    assert list(files) == ["x.csv", "x-2.csv", "tables-2.csv", "table.csv", "x-3.csv", "pass-k.csv", INDEX]
    head, row = rows_of(files["x.csv"])
    assert head == [f"{name}{end}" for name in "ab" for end in ("", "_low", "_high", "_n", "_clusters")]
    assert row[5:] == ["0.5", "0.1", "0.9", "80", "40"]


def estimated(table: Table) -> set[str]:
    """The columns in which some row has an estimate."""
    return {
        name
        for at, name in enumerate(table.columns)
        if any(estimate_of(row[at]) is not None for row in table.rows)
    }


GOLDEN_STUDIES = sorted((GOLDEN / "studies").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("directory", GOLDEN_STUDIES, ids=lambda path: path.name)
def test_a_table_has_the_same_columns_whatever_was_found(directory):
    """A program that has read one report can read the next: which figures exist is no part of the shape."""
    for table in StudyResults(StudyDirectory(directory)).report(include_self=True).tables:
        assert estimated(table) <= ESTIMATED, "a column of estimates that values.py does not know"
        places = [at for at, name in enumerate(table.columns) if name in ESTIMATED]
        bare = [tuple(None if at in places else value for at, value in enumerate(row)) for row in table.rows]
        for rows in (bare, []):
            emptied = replace(table, rows=tuple(rows))
            assert list(emptied.flat_columns()) == list(table.flat_columns())
            frame = emptied.to_polars()
            for name in (name for name in estimated(table) if rows):
                assert frame[name].dtype == frame[f"{name}_low"].dtype == pl.Float64
                assert frame[f"{name}_n"].dtype == frame[f"{name}_clusters"].dtype == pl.Int64


@pytest.mark.slow
def test_changed_answers_have_one_header_with_and_without_a_null(tmp_path):
    heads = []
    for samples in (1, 2):
        study = tables(conditions={"plain": {}, "urged": {"control": "plain"}}, decoding={"samples": samples})
        directory = written(
            tmp_path / str(samples), study, {"quiz": questions(2)}, lambda asked: "<answer>B</answer>"
        )
        assert fine(here("report", directory, "--format", "csv", "--out", tmp_path / f"tables {samples}"), 0)
        heads.append((tmp_path / f"tables {samples}" / "flips.csv").read_text().splitlines()[0])
    assert heads[0] == heads[1]
    assert "excess disagreement_low" in heads[0]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", ["report", "compare", "gate"])
def test_a_terminal_gets_tables_that_fit(study, command, columns):
    options = {"report": ("--format", "text"), "compare": (study,), "gate": ("--min-yield", "0.1")}[command]
    done = affidavit(command, study, *options, COLUMNS=str(columns))
    assert fine(done, 0)
    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines)) <= columns
    assert not any("…" in line or line.startswith(("#", "|")) for line in lines)
    assert "Llama-3.1-8B-Instruct-Q4_K_M" in "".join("".join(lines).split())


@pytest.mark.slow
def test_every_form_can_be_printed(study):
    printed = {form: here("report", study, "--format", form).stdout for form in FORMS}
    assert len(set(printed.values())) == len(FORMS)
    assert all(printed.values())


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_what_is_masked_is_covered_however_it_is_wrapped_or_escaped(tmp_path, form):
    secret = "sk_" + "0123456789abcdef" * 4
    model = f"model {secret}"
    directory = written(
        tmp_path, tables(models=(model,)), {"quiz": questions(2)}, lambda question: "<answer>B</answer>"
    )
    open_text = affidavit("report", directory, "--format", form, COLUMNS="60").stdout.decode()
    done = affidavit("report", directory, "--format", form, "--mask", "KEY", KEY=secret, COLUMNS="60")
    assert fine(done, 0)
    for text, there in ((open_text, True), (done.stdout.decode(), False)):
        bare = "".join(text.split()).replace("\\", "")
        assert (secret in bare) == there


# --- evidence is not written over ---


@pytest.fixture
def evidence(tmp_path):
    return written(tmp_path, tables(), {"quiz": questions(5)}, lambda question: "<answer>B</answer>")


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [
        ("report", "OUT", "--format", "md", "-o", "OUT/study.json"),
        ("report", "OUT", "--format", "csv", "-o", "OUT/records/000001.jsonl"),
        ("report", "OUT", "-o", "OUT/seal.json"),
        ("report", "OUT", "--format", "csv", "-o", "OUT"),
        ("compare", "OUT", "OUT", "--format", "md", "-o", "OUT/run_log.jsonl"),
        ("gate", "OUT", "--min-yield", "0.1", "--junit", "OUT/items.jsonl"),
        ("gate", "OUT", "--min-yield", "0.1", "--summary", "OUT/used_prompt_manifest.md"),
        ("read", "mcqa", "IN", "-o", "OUT/records/000001.jsonl"),
    ],
)
def test_no_result_is_written_over_what_a_study_rests_on(evidence, order):
    before = every_byte(evidence)
    (evidence.parent / "in.jsonl").write_text('{"raw_output": "x"}\n')
    names = {"OUT": str(evidence), "IN": str(evidence.parent / "in.jsonl")}
    given = [names.get(word, word.replace("OUT", str(evidence))) for word in order]
    done = affidavit(*given)
    assert fine(done, 2)
    assert b"evidence" in done.stderr or b"ends in .csv" in done.stderr
    assert every_byte(evidence) == before


@pytest.mark.slow
def test_csv_takes_no_file_of_another_kind(evidence):
    file = evidence.parent / "mine.jsonl"
    file.write_text("mine")
    done = affidavit("report", evidence, "--format", "csv", "-o", file)
    assert fine(done, 2)
    assert (file.read_text(), b"expected a directory, or a file that ends in .csv" in done.stderr) == (
        "mine",
        True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "begins"), [("t.tex", b"%"), ("t.json", b"{"), ("t.md", b"# "), ("t.csv", b"table,")]
)
def test_the_ending_of_a_file_says_its_form(evidence, name, begins):
    assert fine(affidavit("report", evidence, "-o", evidence.parent / name), 0)
    assert (evidence.parent / name).read_bytes().startswith(begins)


@pytest.mark.parametrize("ending", [".pdf", ".xlsx", ".gz"])
def test_a_page_is_not_written_under_the_ending_of_something_else(study, tmp_path, ending):
    done = here("report", study, "-o", tmp_path / f"out{ending}")
    assert fine(done, 2)
    assert b"--out: expected .html for the page, or .md, .json, .csv, .tex, .txt for tables" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".pdf", ".xlsx", ".html", ".gz"])
def test_a_comparison_is_not_written_under_the_ending_of_something_else(study, tmp_path, ending):
    file = tmp_path / f"out{ending}"
    done = here("compare", study, study, "-o", file)
    assert fine(done, 2)
    assert b"--out: expected .md, .json, .csv, .tex, .txt, found " in done.stderr
    assert not list(tmp_path.iterdir())
    assert fine(here("compare", study, study, "-o", file, "--format", "md"), 0)
    assert file.read_bytes().startswith(b"# ")


def test_a_comparison_in_a_file_without_an_ending_is_markdown(study, tmp_path):
    assert fine(here("compare", study, study, "-o", tmp_path / "out"), 0)
    assert (tmp_path / "out").read_bytes().startswith(b"# ")


def test_a_part_of_a_study_has_no_report_and_a_person_is_told_what_to_use(study, tmp_path):
    """The choice that compare and gate take is understood, and refused by name."""
    done = here("report", f"{study}@task=quiz")
    assert fine(done, 2)
    said = done.stderr.decode()
    assert "expected the directory of a whole study, found a part of one" in said
    assert f"affidavit report {study} --by task" in said
    odd = tmp_path / "a@task=quiz"
    assert b"nothing at this place" in here("report", odd).stderr, "there is no study before the choice either"
