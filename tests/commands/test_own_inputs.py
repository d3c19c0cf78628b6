"""A log that is read is never written over, whatever name it goes by."""

from pathlib import Path

import pytest

from affidavit.commands.own_inputs import refuse_over_input
from affidavit.errors import UsageError
from support.command import affidavit

ROW = '{"raw_output": "B", "answer": "B", "correct": true}\n'


def test_a_file_is_told_by_what_it_is_and_not_by_its_name(tmp_path):
    log, other = tmp_path / "log.jsonl", tmp_path / "other.jsonl"
    log.write_text(ROW)
    other.write_text(ROW)
    (tmp_path / "link").symlink_to(log)
    refuse_over_input("-o", None, [log])
    refuse_over_input("-o", other, [log, Path("-")])
    refuse_over_input("-o", tmp_path / "new", [tmp_path])
    with pytest.raises(UsageError, match=r"-o: expected no file in .*, which is read"):
        refuse_over_input("-o", other, [tmp_path])
    refuse_over_input("-o", tmp_path / "new", [log])
    for name in ("log.jsonl", "link", "../" + tmp_path.name + "/log.jsonl"):
        with pytest.raises(UsageError, match="-o: expected a file that is not read"):
            refuse_over_input("-o", tmp_path / name, [log])


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    [
        ("audit", "log.jsonl", "--contract", "mcqa", "--source-correct", "correct", "--page", "log.jsonl"),
    ],
)
def test_no_page_takes_the_place_of_a_log(tmp_path, order):
    (tmp_path / "log.jsonl").write_text(ROW)
    done = affidavit(*order, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert b"expected a file that is not read, found 'log.jsonl'" in done.stderr
    assert (tmp_path / "log.jsonl").read_text() == ROW
