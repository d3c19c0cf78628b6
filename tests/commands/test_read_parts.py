"""`read --parts`, `--workers`, `--shard` and `merge`: what is typed, what is said, and how it ends."""

import gc
import json
from pathlib import Path

import pytest

from affidavit.commands.part_options import PartOptions, given_parts
from affidavit.commands.rare_collection import look_for_garbage_rarely
from affidavit.commands.read_into_parts import every_file, listed_files
from affidavit.commands.read_summary import print_summary
from affidavit.contracts.mcqa import mcqa
from affidavit.errors import InputError, UsageError
from affidavit.reading.batches import Result
from affidavit.reading.part_files.folder import MANIFEST, PLAN
from affidavit.reading.rows import RowReader
from affidavit.reading.tally import Tally
from support.command import affidavit
from support.row_files import WRITERS

KINDS = ("JSON Lines", "commas", "Parquet")
ENDINGS = {"JSON Lines": ".jsonl", "commas": ".csv", "Parquet": ".parquet"}
TEXTS = ("<answer>A</answer>", "B", "A. yes", "<think>…</think><answer>C</answer>", "")


def written(path: Path, kind: str = "JSON Lines", count: int = 500) -> Path:
    rows = [
        {"id": f"q{number}", "raw_output": TEXTS[number % len(TEXTS)], "answer": "ABCD"[number % 4]}
        for number in range(count)
    ]
    path.write_bytes(WRITERS[kind](rows))
    return path


def test_nothing_given_reads_no_ranges():
    names = ("folder", "workers", "shard", "files_from", "engine", "strict")
    nothing = {f"parts_{name}": None for name in names}
    assert given_parts(nothing) == PartOptions(None, None, None, None, None, strict=False)
    assert not given_parts(nothing).any
    for name in names:
        assert given_parts({**nothing, f"parts_{name}": "1/2"}).any, name


def test_garbage_is_looked_for_rarely():
    before = gc.get_threshold()
    try:
        look_for_garbage_rarely()
        assert gc.get_threshold()[0] > before[0]
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def test_the_summary_goes_where_the_rows_do_not(capsys):
    result = Result(Tally(compliant=3, non_compliant=1))
    print_summary(result, RowReader(mcqa), None, as_json=False, rows_on_stdout=True)
    out, err = capsys.readouterr()
    assert (out, "4 outputs" in err) == ("", True)
    print_summary(result, RowReader(mcqa), None, as_json=True, rows_on_stdout=False)
    out, err = capsys.readouterr()
    assert (json.loads(out)["compliant"], err) == (3, "")


def test_a_list_of_files_is_read_line_by_line(tmp_path):
    (tmp_path / "list").write_text("# those of monday\n a b.jsonl \n\n#c\nd\n")
    assert listed_files(tmp_path / "list") == [Path("a b.jsonl"), Path("d")]
    (tmp_path / "list").write_bytes(b"\xff")
    for path in (tmp_path / "list", tmp_path / "none"):
        with pytest.raises(InputError, match="a list of files, one on a line"):
            listed_files(path)


def test_hidden_files_and_folders_of_a_folder_are_passed_over(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).touch()
    assert every_file([tmp_path]) == [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(UsageError, match="every file once"):
        every_file([tmp_path, tmp_path / "a"])


# --- the command ---


def test_files_directories_patterns_and_lists(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("b", "a", "c"):
        written(tmp_path / "in" / f"{name}.jsonl", count=5)
    (tmp_path / "list.txt").write_text("# the first\nin/a.jsonl\n\nin/b.jsonl\n")
    cases = {
        "directory": (["in"], 15),
        "pattern": (["in/[ab].jsonl"], 10),
        "list": (["--files-from", "list.txt"], 10),
        "files": (["in/c.jsonl"], 5),
    }
    for name, (given_files, expected) in cases.items():
        done = affidavit("read", "mcqa", *given_files, "--parts", name, "--json", "--workers", 1, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / name / MANIFEST).read_bytes())["rows"] == expected
    inputs = json.loads((tmp_path / "directory" / PLAN).read_bytes())["inputs"]
    assert [each["name"] for each in inputs] == ["in/a.jsonl", "in/b.jsonl", "in/c.jsonl"]


REFUSED = {
    "both": (["rows.jsonl", "--parts", "p", "-o", "o.jsonl"], "either --parts DIR or -o FILE"),
    "neither": (["rows.jsonl", "--workers", "2"], "either --parts DIR or -o FILE"),
    "a study": (["rows.jsonl", "--parts", "p", "--out", "d"], "no --parts, --workers, --shard or --files-from"),
    "a shard of a file": (["rows.jsonl", "-o", "o.jsonl", "--shard", "1/2"], "--parts DIR beside it"),
    "no such engine": (["rows.jsonl", "--parts", "p", "--engine", "spark"], "local"),
    "standard input": (["-", "--parts", "p"], "standard input"),
    "nothing": (["--parts", "p"], "at least one file"),
    "twice": (["rows.jsonl", "rows.jsonl", "--parts", "p"], "every file once"),
    "no match": (["*.none", "--parts", "p"], "files of rows"),
    "several kinds": (["rows.jsonl", "rows.csv", "--parts", "p"], "files of one kind"),
    "one file of Parquet": (["rows.parquet", "-o", "o.parquet", "--workers", "2"], "--parts DIR"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_together_is_refused(tmp_path, case):
    for kind in KINDS:
        written(tmp_path / f"rows{ENDINGS[kind]}", kind, count=3)
    words, expected = REFUSED[case]
    done = affidavit("read", "mcqa", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr.decode()
    assert not (tmp_path / "p").exists()


@pytest.mark.slow
def test_workers_write_the_file_that_one_process_writes(tmp_path):
    written(tmp_path / "rows.jsonl", count=60)
    for order in ((), ("--workers", 2)):
        assert (
            affidavit("read", "mcqa", "rows.jsonl", "-o", f"o{len(order)}.jsonl", *order, cwd=tmp_path).returncode
            == 0
        )
    assert (tmp_path / "o0.jsonl").read_bytes() == (tmp_path / "o2.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o0.jsonl", "o2.jsonl", "rows.jsonl"]


def test_shards_are_merged_by_the_command(tmp_path):
    written(tmp_path / "rows.jsonl", count=20)
    for shard in ("1/2", "2/2"):
        done = affidavit("read", "mcqa", "rows.jsonl", "--parts", f"s{shard[0]}", "--shard", shard, cwd=tmp_path)
        assert b"affidavit merge" in done.stderr
    done = affidavit("merge", "s1", "s2", "-o", "all", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    whole = affidavit("read", "mcqa", "rows.jsonl", "-o", "whole.jsonl", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads(whole.stdout)
