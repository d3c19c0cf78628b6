"""Studies whose records are written out, and the writing, within this process."""

import json
from datetime import UTC, datetime
from pathlib import Path

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.frozen_contract import named_contract
from affidavit.exchange.export_format import ExportFormat, ExportOrder, Written
from affidavit.exchange.log_source import log_sources
from affidavit.exchange.study_records import StudyRecords
from affidavit.models.model import Failure, Reason
from affidavit.running.import_files import output_files
from affidavit.running.import_outputs import keep_outputs, name_in
from support.kept_outputs import kept
from support.written_study import Answer, Hasty, questions, tables, written

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOSTILE = (
    "<answer>B</answer>",
    "<answer>A</answer>",
    "",
    " \n",
    "=HYPERLINK('x')",
    "'quoted'",
    "-1",
    "a\0b",
    "half \ud800 pair",
    "cr\rlf\r\nend\n",
    '"quotes", and, commas',
    "\u2028\u202e\x1b[31m",
    "＝1",
    "NaN",
    "é" * 5000,
)
"""Texts that some file or some reader might change."""


def exported(study: Path, form: ExportFormat, out: Path, **chosen: str) -> Written:
    """A study's records, written out at one time."""
    records = StudyRecords(StudyDirectory(study))
    return form.write(ExportOrder(records=records, out=out, at=AT, chosen=chosen))


def hostile_rows() -> list[dict]:
    """Outputs from elsewhere with every hostile text, and one that never arrived."""
    rows = [
        {"id": f"q{n}", "question": "Which?", "answer": "B", "raw_output": text} for n, text in enumerate(HOSTILE)
    ]
    return [*rows, {"id": "none", "question": "Which?", "answer": "B", "raw_output": None}]


def imported(folder: Path, rows: list[dict] | None = None, contract: str = "mcqa") -> Path:
    """A study of outputs from elsewhere."""
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in (hostile_rows() if rows is None else rows)))
    kept(folder / "study", file, contract=contract)
    return folder / "study"


def planned(folder: Path, *answers: Answer, sealed: bool = True) -> Path:
    """A study that was asked: what each item got, and one item more that is pending."""
    got = {f"q{n}": answer for n, answer in enumerate(answers)}
    study, rows = tables(conditions={"plain": {}}), {"quiz": questions(len(answers) + 1)}
    return written(folder, study, rows, lambda asked: got.get(asked.item.id), sealed=sealed)


def of_logs(folder: Path, *logs: Path, contract: str = "text", **parameters: object) -> Path:
    """A study of logs, as `affidavit import` makes one."""
    folder.mkdir(exist_ok=True)
    read_by, directory = named_contract(contract, None, parameters), StudyDirectory(folder / "study")
    outputs = output_files(log_sources(logs), {}, read_by)
    with directory.made(Hasty()):
        keep_outputs(directory, outputs.imported(name_in(directory), read_by), Hasty())
    return directory.path


TIMEOUT = Failure(Reason.TIMEOUT, "")
