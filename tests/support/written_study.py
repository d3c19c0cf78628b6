"""Studies written to the disk as a run leaves them, by the same classes, without asking anybody.

    directory = written(folder, tables(conditions={"plain": {}}), {"quiz": rows}, answer)

`answer` gets each question of the plan and gives a text, a completion, a failure, or None: not asked yet.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

from click.testing import CliRunner

from affidavit.archive.disk import Disk
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import StudyDirectory
from affidavit.commands.main import cli
from affidavit.models.model import Completion, Failure
from affidavit.running.ledger import StudyLedger
from affidavit.running.manifest import write_manifest
from affidavit.study.files import StudyFiles, load
from affidavit.study.freezing import draft, frozen_items
from affidavit.study.plan import Plan
from affidavit.study.task import Question
from support.studies import laid_over, toml, write_items

Answer = str | Completion | Failure | None
NOBODY = "http://127.0.0.1:9/v1"


class Hasty(Disk):
    """Waits for nothing: what it writes is thrown away soon."""

    def sync(self, file: int) -> None:
        return

    def sync_directory(self, path: Path) -> None:
        return


def tables(*, models: Sequence[str] = ("m",), **changed: object) -> dict:
    """A study of multiple choice; what is given is laid over it."""
    below = {
        "study": {"name": "trial", "seed": 7},
        "models": {name: {"base_url": NOBODY} for name in models},
        "tasks": {"quiz": {"contract": "mcqa", "items": "quiz.jsonl"}},
    }
    return laid_over(below, changed)


def questions(count: int, **more: object) -> list[dict]:
    """Items q0, q1, … whose right answer is B."""
    return [
        {"id": f"q{n}", "question": f"[q{n}] Which one?", "options": ["w", "x", "y", "z"], "answer": "B", **more}
        for n in range(count)
    ]


def written(
    folder: Path,
    study: Mapping,
    items: Mapping[str, list[dict]],
    answer: Callable[[Question], Answer],
    *,
    sealed: bool = True,
) -> Path:
    """The directory of a study whose questions were answered like this."""
    folder.mkdir(exist_ok=True, parents=True)
    for task, rows in items.items():
        write_items(folder / f"{task}.jsonl", rows)
    file = folder / "study.toml"
    file.write_text("\n".join(toml(study)))
    directory = folder / "out"
    directory.mkdir()
    plan = plan_of_frozen(StudyDirectory(directory), load(file), Hasty())
    append(directory, plan, answer, sealed=sealed)
    return directory


def plan_of_frozen(directory: StudyDirectory, files: StudyFiles, disk: Disk) -> Plan:
    """The plan of a study, frozen now unless it is."""
    drafted = draft(directory, files, disk)
    drafted.freeze(disk)
    return drafted.plan


def append(
    directory: Path, plan: Plan, answer: Callable[[Question], Answer], *, sealed: bool = True
) -> Seal | None:
    """One more segment of answers; with a seal over all, unless it is left open."""
    study = StudyDirectory(directory)
    archive, ledger = study.archive(Hasty()), StudyLedger.of(study.frozen(), plan, None)
    for line in archive.recover():
        ledger.load(line.record)
    for name, item in frozen_items(study):
        task = plan.tasks[name]
        for model in task.conditions:
            for question in plan.questions(task, item, model):
                given = answer(question)
                if given is None:
                    continue
                if isinstance(given, Failure):
                    record = plan.failure(question, given)
                else:
                    told = Completion(given, "stop") if isinstance(given, str) else given
                    record = plan.response(question, told)
                archive.append(record)
                ledger.outputs.add(record)
    if sealed:
        write_manifest(directory, ledger.manifest(), Hasty())
        return archive.seal(ledger.counts())
    archive.commit()
    archive.close()
    return None


def here(*arguments: object) -> CompletedProcess[bytes]:
    """The command within this process: ten times as quick as `affidavit`, for tests that look at figures."""
    order = [str(each) for each in arguments]
    result = CliRunner().invoke(cli, order)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return CompletedProcess(order, result.exit_code, result.stdout_bytes, result.stderr_bytes)


def reported(done) -> dict:
    """The tables of a report that was printed as JSON, by name."""
    assert done.returncode == 0, (done.stdout.decode(), done.stderr.decode())
    return json.loads(done.stdout)["tables"]
