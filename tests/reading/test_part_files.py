"""Files of any size, range by range: the same parts whoever reads them, each there once or named."""

import json
import os
import signal
from collections import Counter
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.frozen_contract import named_contract
from affidavit.contracts.parts import Advice
from affidavit.errors import AffidavitError, InputError, UsageError
from affidavit.reading.batches import Result
from affidavit.reading.part_files.counts import counts_of, result_of
from affidavit.reading.part_files.folder import BAD_ROWS, MANIFEST, PLAN, PartsFolder
from affidavit.reading.part_files.merge import merged
from affidavit.reading.part_files.part_job import (
    PartJob,
    PartSetup,
    Refused,
    Written,
    answered,
    contract_of,
    written_or_raise,
)
from affidavit.reading.part_files.part_reading import PartReader, Places
from affidavit.reading.part_files.plan import ColumnsRead, Plan, RangeSizes, Shard, planned
from affidavit.reading.part_files.range_source import lines_between
from affidavit.reading.part_files.run import PartsRead, read_parts
from affidavit.reading.tally import Tally
from affidavit.reading.worker_process import WorkerProcess
from support import killed_command
from support.command import affidavit
from support.row_files import WRITERS

MCQA = named_contract("mcqa")
COLUMNS = ColumnsRead("raw_output", "answer", lenses=False)
TEXTS = ("<answer>A</answer>", "B", "A. yes\nor no", "<think>…</think><answer>C</answer>", "")


def rows(count: int) -> list[dict[str, str]]:
    return [
        {"id": f"q{number}", "raw_output": TEXTS[number % len(TEXTS)], "answer": "ABCD"[number % 4]}
        for number in range(count)
    ]


def written(path: Path, kind: str = "JSON Lines", count: int = 500) -> Path:
    path.write_bytes(WRITERS[kind](rows(count)))
    return path


def with_bad_rows(path: Path) -> Path:
    lines = written(path).read_bytes().splitlines(keepends=True)
    lines[7], lines[300], lines[499] = b'{"raw_output": \n', b'{"raw_output": 3}\n', b"[1]"
    path.write_bytes(b"".join([*lines[:100], b"\n", *lines[100:]]))
    return path


def plan_of(*paths: Path, size: int = 4_000) -> Plan:
    return planned(paths, MCQA, COLUMNS, RangeSizes(size, 90))


def content(folder: PartsFolder, plan: Plan) -> bytes:
    return b"".join((folder.path / plan.name_of(number)).read_bytes() for number in range(len(plan.ranges)))


# --- ranges ---

LINES = st.lists(st.sampled_from([b"", b'{"a": 1}', b"{}", b"x" * 30, "ü".encode()]), max_size=12)


@given(lines=LINES, size=st.integers(1, 60), ends=st.booleans())
def test_every_line_is_in_one_range(tmp_path_factory, lines, size, ends):
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    whole = b"\n".join(lines) + (b"\n" if ends else b"")
    path.write_bytes(whole)
    found = []
    for start in range(0, max(len(whole), 1), size):
        with lines_between("rows", path, start, min(start + size, len(whole))).opened() as stream:
            found.append(stream.read())
    assert b"".join(found) == whole
    assert all(part.endswith(b"\n") for part in found[:-1] if part and part != found[-1] and whole.endswith(b"\n"))


def test_parts_are_what_one_file_is(tmp_path):
    path = written(tmp_path / "rows.jsonl")
    plan, folder = plan_of(path), PartsFolder(tmp_path / "parts")
    assert len(plan.ranges) > 5
    result = read_parts(plan, folder)
    manifest = folder.finished(plan)
    affidavit("read", "mcqa", path, "-o", tmp_path / "whole.jsonl")
    assert content(folder, plan) == (tmp_path / "whole.jsonl").read_bytes()
    assert result.tally.n == manifest.rows == 500
    assert [part.sha256 for part in manifest.parts] == [
        sha256((folder.path / part.name).read_bytes()).hexdigest() for part in manifest.parts
    ]


# --- whoever reads ---

KINDS = ("JSON Lines", "commas", "Parquet")
ENDINGS = {"JSON Lines": ".jsonl", "commas": ".csv", "Parquet": ".parquet"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_workers_and_shards_make_the_same_parts(tmp_path, kind):
    if kind == "JSON Lines":
        paths = [with_bad_rows(tmp_path / f"{name}.jsonl") for name in "ab"]
    else:
        paths = [written(tmp_path / f"{name}{ENDINGS[kind]}", kind) for name in "ab"]
    plan = plan_of(*paths)
    alone, together = PartsFolder(tmp_path / "alone"), PartsFolder(tmp_path / "together")
    counts = read_parts(plan, alone).tally.counts()
    assert read_parts(plan, together, how=PartsRead(workers=2)).tally.counts() == counts
    shards = [PartsFolder(tmp_path / f"shard-{number}") for number in (1, 2, 3)]
    for number, shard in enumerate(shards, 1):
        read_parts(plan, shard, shard=Shard(number, 3))
    _, joined = merged([shard.path for shard in shards], tmp_path / "joined")
    assert alone.finished(plan) == together.finished(plan) == joined
    names = {path.name for path in alone.path.iterdir()}
    for other in (together.path, tmp_path / "joined"):
        assert {path.name for path in other.iterdir()} == names
        assert all((alone.path / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_shards_may_write_into_one_directory(tmp_path):
    plan, folder = plan_of(written(tmp_path / "rows.jsonl")), PartsFolder(tmp_path / "parts")
    for number in (2, 1):
        read_parts(plan, folder, shard=Shard(number, 2))
    assert merged([folder.path], None)[1].rows == 500


def test_a_worker_that_dies_leaves_what_is_done(tmp_path, monkeypatch):
    plan, folder = plan_of(written(tmp_path / "rows.jsonl")), PartsFolder(tmp_path / "parts")
    begun = []

    class Noted(WorkerProcess):
        def __init__(self, job):
            super().__init__(job)
            begun.append(self)

    def kill_after_two(tally, size):
        if len(folder.parts(plan)) == 2:
            os.kill(begun[0].pid, signal.SIGKILL)

    monkeypatch.setattr("affidavit.reading.worker_process.WorkerProcess", Noted)
    with pytest.raises(UsageError, match="SIGKILL"):
        read_parts(plan, folder, how=PartsRead(workers=2), progress=kill_after_two)
    assert len(folder.parts(plan)) >= 2
    assert not (folder.path / MANIFEST).exists()
    read_parts(plan, folder)
    whole = PartsFolder(tmp_path / "whole")
    read_parts(plan, whole)
    assert folder.finished(plan) == whole.finished(plan)
    assert not list(folder.path.glob(".*"))


@pytest.mark.slow
def test_killed_anywhere_it_goes_on_to_the_same_digest(tmp_path):
    written(tmp_path / "rows.jsonl", count=40)
    order = ("read", "mcqa", "rows.jsonl", "--parts")
    count = killed_command.calls(*order, "whole", cwd=tmp_path)
    assert count > 5
    digest = json.loads((tmp_path / "whole" / MANIFEST).read_bytes())["digest"]
    for at in range(1, count + 1):
        folder = f"killed-{at}"
        killed_command.killed(at, *order, folder, cwd=tmp_path)
        done = affidavit(*order, folder, cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        assert json.loads((tmp_path / folder / MANIFEST).read_bytes())["digest"] == digest, at
        assert not list((tmp_path / folder).glob(".*")), at


# --- bad rows ---


def test_bad_rows_are_left_out_and_named(tmp_path):
    path = with_bad_rows(tmp_path / "rows.jsonl")
    plan, folder = plan_of(path), PartsFolder(tmp_path / "parts")
    assert read_parts(plan, folder).tally.n == 497
    manifest = folder.finished(plan)
    assert (manifest.rows, manifest.bad_rows) == (497, 3)
    told = [json.loads(line) for line in (folder.path / BAD_ROWS).read_bytes().splitlines()]
    assert [(row["file"], row["line"]) for row in told] == [(str(path), 8), (str(path), 302), (str(path), 501)]
    assert told[1]["expected"] == "a text in 'raw_output'"
    lines = content(folder, plan).splitlines()
    assert len(lines) == 497
    assert all("protocol_compliant" in json.loads(line) for line in lines)


def test_strict_stops_at_the_first(tmp_path):
    plan, folder = plan_of(with_bad_rows(tmp_path / "rows.jsonl")), PartsFolder(tmp_path / "parts")
    with pytest.raises(InputError, match=r"rows\.jsonl:8"):
        read_parts(plan, folder, how=PartsRead(strict=True))
    with pytest.raises(InputError, match="8"):
        read_parts(plan, folder, how=PartsRead(strict=True, workers=2))
    assert 0 not in folder.parts(plan)
    assert not list(folder.path.glob(".*"))


# --- what does not fit is named ---


def test_another_reading_is_refused(tmp_path):
    path = written(tmp_path / "rows.jsonl")
    folder = PartsFolder(tmp_path / "parts")
    read_parts(plan_of(path), folder)
    before = {each.name: each.read_bytes() for each in folder.path.iterdir()}
    others = {
        "read": planned([path], MCQA, ColumnsRead("id", "answer", lenses=False), RangeSizes(4_000, 90)),
        "described": planned([path], named_contract("mcqa", "A-E"), COLUMNS, RangeSizes(4_000, 90)),
        "ranges": plan_of(path, size=5_000),
    }
    path.write_bytes(path.read_bytes().replace(b"q0", b"q9", 1))
    others["inputs"] = plan_of(path)
    for what, other in others.items():
        with pytest.raises(UsageError, match=f"those of another, with other .*{what}"):
            read_parts(other, folder)
    assert {each.name: each.read_bytes() for each in folder.path.iterdir()} == before


def test_a_directory_of_other_files_is_refused(tmp_path):
    plan = plan_of(written(tmp_path / "rows.jsonl"))
    with pytest.raises(UsageError, match="other files"):
        read_parts(plan, PartsFolder(tmp_path))
    with pytest.raises(UsageError, match="a file"):
        read_parts(plan, PartsFolder(tmp_path / "rows.jsonl"))


def shards_of(tmp_path: Path) -> tuple[Plan, list[Path]]:
    plan = plan_of(written(tmp_path / "rows.jsonl"))
    paths = [tmp_path / f"shard-{number}" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        read_parts(plan, PartsFolder(path), shard=Shard(number, 3))
    return plan, paths


def test_a_missing_double_foreign_or_changed_shard_is_named(tmp_path):
    plan, (first, second, third) = shards_of(tmp_path)
    with pytest.raises(UsageError, match="parts missing: 1, 4, 7") as missing:
        merged([first, third], tmp_path / "out")
    assert f"all {len(plan.ranges)} parts" in str(missing.value)
    with pytest.raises(UsageError, match=r"it in .*shard-1 too"):
        merged([first, second, third, first], tmp_path / "out-2")
    (tmp_path / "others").mkdir()
    foreign = tmp_path / "others" / "shard-1"
    read_parts(plan_of(written(tmp_path / "others.jsonl", count=501)), PartsFolder(foreign), shard=Shard(1, 3))
    with pytest.raises(UsageError, match="one of another plan"):
        merged([first, second, foreign], tmp_path / "out-3")
    changed = next(second.glob("part-*.jsonl"))
    changed.write_bytes(changed.read_bytes().replace(b"q", b"Q", 1))
    with pytest.raises(InputError, match="SHA-256"):
        merged([first, second, third], tmp_path / "out-4")
    with pytest.raises(UsageError, match="a directory for the parts of several"):
        merged([first, third], None)
    with pytest.raises(InputError, match="the plan of part files"):
        merged([tmp_path], None)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"v": 1}', b"\xff"])
def test_a_plan_that_is_none_is_named(tmp_path, content):
    (tmp_path / PLAN).write_bytes(content)
    with pytest.raises(AffidavitError, match="the plan of part files"):
        merged([tmp_path], None)


@pytest.mark.parametrize("typed", ["", "0/2", "3/2", "1", "1/2/3", "-1/2", "a/b", "1/0", " 1/2"])
def test_a_shard_that_is_none_is_refused(typed):
    with pytest.raises(UsageError, match="i/n with i from 1 to n"):
        Shard.typed(typed)


def test_every_part_is_of_one_shard():
    for count in range(1, 9):
        for number in range(40):
            assert sum(Shard(each, count).has(number) for each in range(1, count + 1)) == 1


# --- what is said between processes ---

COUNTS = st.builds(
    Tally,
    compliant=st.integers(0, 9),
    right=st.integers(0, 9),
    breakdowns=st.dictionaries(st.text(), st.builds(Counter, st.dictionaries(st.text(), st.integers(1, 9)))),
    lenses=st.dictionaries(st.text(), st.integers(0, 9)),
    errors=st.builds(Counter, st.dictionaries(st.text(), st.integers(1, 9))),
)
RESULTS = st.builds(
    Result,
    tally=COUNTS,
    unchecked=st.integers(0, 9),
    replaced=st.frozensets(st.text()),
    advised=st.builds(
        Counter, st.dictionaries(st.builds(Advice, st.text(), st.text(), st.text()), st.integers(1, 9))
    ),
    empty_cells=st.integers(0, 9),
)


@given(RESULTS)
def test_counts_come_back_from_json(result):
    assert result_of(json.loads(json.dumps(counts_of(result)))) == result


def test_a_range_that_is_refused_is_refused_where_it_was_asked_for(tmp_path):
    plan = plan_of(with_bad_rows(tmp_path / "rows.jsonl"))
    setup = PartSetup(plan, str(tmp_path), str(tmp_path), strict=True, own_file=None, named={})
    refused = PartJob(setup).read(0)
    assert isinstance(refused, Refused)
    with pytest.raises(InputError, match=r"rows\.jsonl:8"):
        written_or_raise(refused)
    done = PartJob(setup).read(1)
    assert isinstance(done, Written)
    assert (tmp_path / done.written.content).stat().st_size == done.written.part.size
    with pytest.raises(InputError, match=r"rows\.jsonl:8"):
        answered(msgspec.msgpack.encode(refused))


def test_a_contract_of_a_plan_is_run_only_if_it_is_the_file_that_was_planned(tmp_path):
    own = tmp_path / "own.py"
    own.write_text('from affidavit import Pattern\nmine = Pattern("mine", 1, "(?P<answer>[A-D])", "A letter.")\n')
    plan = planned([written(tmp_path / "rows.jsonl")], named_contract(f"{own}:mine"), COLUMNS)
    assert contract_of(plan, f"{own}:mine").name == "mine"
    own.write_text(own.read_text() + "# changed\n")
    with pytest.raises(UsageError, match="the file of the contract 'mine' that read these outputs"):
        contract_of(plan, f"{own}:mine")
    with pytest.raises(UsageError, match="none named"):
        contract_of(plan, None)


def test_a_reader_writes_under_a_name_of_nobodys(tmp_path):
    plan = plan_of(written(tmp_path / "rows.jsonl"))
    reader = PartReader(plan, MCQA.contract, Places(tmp_path, tmp_path), {}, strict=False)
    first, again = reader.read(0), reader.read(0)
    assert first.part == again.part
    assert first.content != again.content
    assert not (tmp_path / plan.name_of(0)).exists()
