"""The scripts of docs/scale.md: parsed, and run as a job array would run them."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from support.command import COMMAND

PAGE = (Path(__file__).parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")
SLURM, MERGE, _ = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.M | re.S)
(JOB,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "outputs").mkdir()
    for name in ("a", "b"):
        lines = [json.dumps({"raw_output": f"<answer>{'ABCD'[n % 4]}</answer>", "answer": "A"}) for n in range(20)]
        (tmp_path / "outputs" / f"{name}.jsonl").write_text("\n".join(lines))
    return tmp_path


def typed(script: str, folder: Path, **variables: object) -> str:
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **{name: str(value) for name, value in variables.items()}}
    order = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(order, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def merged(folder: Path) -> int:
    typed(MERGE, folder)
    return json.loads((folder / "read" / "manifest.json").read_bytes())["rows"]


@pytest.mark.slow
def test_the_job_array_reads_every_row_once(folder):
    options = dict(re.findall(r"^#SBATCH --([a-z-]+)=(.+)$", SLURM, re.M))
    first, last = map(int, options["array"].split("-"))
    for task in range(first, last + 1):
        typed(SLURM, folder, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT=last, SLURM_CPUS_PER_TASK=1)
    assert merged(folder) == 40


@pytest.mark.slow
def test_the_indexed_job_reads_every_row_once(folder):
    job = yaml.safe_load(JOB)
    assert (job["apiVersion"], job["kind"], job["spec"]["completionMode"]) == ("batch/v1", "Job", "Indexed")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["sh", "-c"]
    (script,) = container["args"]
    for index in range(job["spec"]["completions"]):
        typed(script, folder, JOB_COMPLETION_INDEX=index)
    assert merged(folder) == 40
