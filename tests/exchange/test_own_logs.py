"""An export of a study is a log again: its ids, its right answers, and the words of whoever scored it first."""

from pathlib import Path

import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.errors import InputError
from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import NoAnswer
from affidavit.exchange.own_logs import log_if_export
from affidavit.exchange.plain_exports import CSV, JSON_LINES, PARQUET
from affidavit.exchange.plain_tables import Tables
from affidavit.exchange.registry import logs_of
from affidavit.results.second_readings import audit_fields
from affidavit.running.second_reading import audit_terms, audited
from support.exports import exported, imported
from support.written_logs import write_log
from support.written_study import here

FORMS = {form.name: form for form in (PARQUET, CSV, JSON_LINES)}
ANY_FORM = pytest.mark.parametrize("name", FORMS)


def export_of_log(folder: Path, name: str) -> tuple[Path, Path]:
    """A log, and the export of the study that `import` made of it."""
    log, study, out = write_log(folder), folder / "study", folder / f"out{FORMS[name].ending}"
    done = here("import", log, "-o", study, "--contract", "mcqa", "--options", "A-D")
    assert done.returncode == 0, done.stderr
    exported(study, FORMS[name], out)
    return log, out


def opened(path: Path) -> Log:
    (log,) = logs_of([path], Tables())
    return log


@ANY_FORM
def test_the_source_said_the_same_before_and_after(tmp_path, name):
    log, out = export_of_log(tmp_path, name)
    before, after = (list(opened(each).outputs()) for each in (log, out))
    for field in ("item_id", "model", "raw_output", "sample", "answer", "no_answer", "verbatim", "prompt"):
        assert [getattr(each, field) for each in after] == [getattr(each, field) for each in before]
    # The row of the last says that nothing came; that a filter found nothing in it is no other kind beside that.
    assert [each.words for each in after[:2]] == [each.words for each in before[:2]]
    rows = [each.row(log="other", task="quiz") for each in after]
    assert [row["output_id"] for row in rows] == [f"{log.name}: line {number}" for number in (1, 2, 3)]
    assert rows[0]["question"] == "[0] Which?"


@ANY_FORM
def test_an_audit_of_an_export_is_that_of_the_log(tmp_path, name):
    log, out = export_of_log(tmp_path, name)
    first, again = (audit_fields(audited([each], audit_terms(mcqa)))["logs"][0] for each in (log, out))
    same = ("task", "model", "outputs", "four_ways", "no_answer", "scored_wrong_without_answer", "moves")
    assert {each: again[each] for each in same} == {each: first[each] for each in same}
    assert again["source"]["scorer"] == first["source"]["scorer"]
    assert (again["source"]["printed"], again["source"]["recomputed"]) == (None, None)


@ANY_FORM
def test_what_never_arrived_is_missing_and_no_column_is_proposed(tmp_path, name):
    out = tmp_path / f"out{FORMS[name].ending}"
    exported(imported(tmp_path), FORMS[name], out)
    log = opened(out)
    *_, last = log.outputs()
    assert (last.raw_output, last.no_answer, last.words) == (None, NoAnswer.MISSING, ())
    assert len(log.notes) == 1


def test_a_row_that_was_changed_is_refused_with_its_place(tmp_path):
    _, out = export_of_log(tmp_path, "jsonl")
    out.write_text(out.read_text().replace('"source_correct":true', '"source_correct":"yes"', 1))
    log = log_if_export(out)
    with pytest.raises(InputError, match=r"out\.jsonl:1: expected a row of an export"):
        list(log.outputs())


def test_other_files_are_none(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "q", "raw_output": "B"}')
    assert log_if_export(tmp_path / "rows.jsonl") is None
