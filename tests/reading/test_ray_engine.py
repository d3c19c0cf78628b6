"""Real Ray, on this machine: the same parts as one process makes, also where workers of it die."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from affidavit.contracts.frozen_contract import named_contract
from affidavit.reading.part_files.folder import PartsFolder
from affidavit.reading.part_files.part_job import PartSetup, answered
from affidavit.reading.part_files.plan import ColumnsRead, RangeSizes, planned
from affidavit.reading.part_files.ray_engine import RangeTask
from affidavit.reading.part_files.run import PartsRead, read_parts

pytest.importorskip("ray", reason="Ray is not installed: make test does so")
COLUMNS = ColumnsRead("raw_output", "answer", lenses=False)
DEADLY = """
import os, signal
from pathlib import Path

from affidavit import Pattern

class Deadly(Pattern):
    def read(self, raw, item=None, /):
        seen = Path(__file__).with_suffix(".seen")
        if raw == "<answer>C</answer>" and not seen.exists():
            seen.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(raw)

deadly = Deadly(name="deadly", version=1, pattern="<answer>(?P<answer>[A-D])</answer>", words="Tag it.")
"""


def rows(path: Path) -> Path:
    lines = [
        json.dumps({"id": str(n), "raw_output": f"<answer>{'ABCD'[n % 4]}</answer>", "answer": "A"})
        for n in range(60)
    ]
    lines[7] = "{"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_ray_makes_the_same_parts_though_a_worker_of_it_dies(tmp_path):
    file = tmp_path / "deadly.py"
    file.write_text(DEADLY)
    own, folder = f"{file}:deadly", tmp_path / "ray"
    script = Path(__file__).parents[1] / "support" / "read_on_ray.py"
    order = [sys.executable, script, rows(tmp_path / "rows.jsonl"), own, folder, "500"]
    done = subprocess.run(order, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert file.with_suffix(".seen").exists(), "a worker died"
    plan = planned([tmp_path / "rows.jsonl"], named_contract(own), COLUMNS, RangeSizes(500, 90))
    assert len(plan.ranges) > 4
    here = PartsFolder(tmp_path / "here")
    assert read_parts(plan, here, how=PartsRead(own_file=own)).tally.counts() == said["counts"]
    assert msgspec.to_builtins(here.finished(plan)) == said["manifest"]
    assert {path.name for path in folder.iterdir()} == {path.name for path in here.path.iterdir()}


def test_a_task_says_what_a_worker_says(tmp_path):
    plan = planned([rows(tmp_path / "rows.jsonl")], named_contract("mcqa"), COLUMNS, RangeSizes(500, 90))
    setup = PartSetup(plan, str(tmp_path), str(tmp_path), strict=False, own_file=None, named={})
    said = RangeTask(msgspec.msgpack.encode(setup))({"number": 1})
    assert answered(said["answer"]).part.number == 1
