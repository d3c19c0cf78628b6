"""Write the judgements of the golden studies anew, after a change of judging that is meant.

    PYTHONPATH=tests:src .venv/bin/python tests/support/renew_judged_studies.py

The outputs stay as they are, and so do the judges' texts, but for the id that they must state: each is read
again under today's terms and written after the outputs, and the seal is made over all of it.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from affidavit.archive.checked_lines import checked_fields
from affidavit.archive.disk import Disk
from affidavit.archive.record import Failed, Judgement
from affidavit.archive.study_directory import NotArrived, StudyDirectory
from affidavit.contracts.registry import task_contract_named
from affidavit.judging.directory import write_judging
from affidavit.judging.plan import JudgingPlan, Output
from affidavit.judging.terms import FrozenJudging, JudgeTerms, Terms
from affidavit.models.model import Completion, Failure
from affidavit.running.ledger import StudyLedger
from affidavit.running.manifest import write_manifest
from affidavit.running.study_outputs import StudyOutputs, open_tasks
from affidavit.study.freezing import plan_of

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


def frozen_again(fields: dict) -> FrozenJudging:
    """The judging of these fields, its terms those of today."""
    judges = [
        JudgeTerms(name, each["identity"], each["decoding"], tuple(each["conditions"]), each["repeats"])
        for name, each in fields["judges"].items()
    ]
    return FrozenJudging(
        Terms.of({"blind": False, **fields["terms"]}, fields["outputs"]),
        tuple(judges),
        tuple(NotArrived(**each) for each in fields["not_arrived"]),
        tuple(fields["tasks"]),
        fields["targets"],
    )


def judged_again(
    plan: JudgingPlan, outputs: dict[str, Output], lines: list[bytes]
) -> Iterator[Judgement | Failed]:
    """The records that these lines become."""
    for fields in map(checked_fields, lines):
        judge, output = plan.judges[fields["judge"]], outputs[fields["judged_key"]]
        asked = plan.judgement(judge, output, fields["judging_condition"], fields["repeat"])
        if fields["kind"] == "failure":
            yield plan.failure(asked, Failure(fields["reason"], ""))
        else:
            raw = fields["raw_output"].replace(fields["asked"]["output_id"], asked.asked.meta["output_id"])
            rest = (fields[name] for name in ("finish_reason", "reasoning", "usage", "rendered_prompt"))
            yield plan.response(asked, Completion(raw, *rest))


def renew(path: Path) -> str:
    """Write the judging of one study anew; gives its root digest."""
    directory = StudyDirectory(path)
    lines = (path / "records/000002.jsonl").read_bytes().splitlines(keepends=True)
    frozen = frozen_again(directory.judging_fields())
    for name in ("records/000002.jsonl", "seal.json", "judging.json"):
        (path / name).unlink()
    study = directory.frozen()
    ledger = StudyLedger(study, plan_of(study, task_contract_named, None), None)
    outputs = StudyOutputs(directory, study, ledger.plan, open_tasks(study))
    first = directory.archive(Disk())
    for line in first.recover():
        ledger.load(line.record)
        outputs.add(line)
    first.seal(ledger.counts())
    write_judging(directory, frozen, Disk())
    plan, judging = ledger.open_judging(frozen)
    with closing(directory.archive(Disk())) as archive:
        list(archive.recover())
        for record in judged_again(plan, {output.key: output for output in outputs}, lines):
            archive.append(record)
            archive.commit()
            judging.add(record)
        write_manifest(path, ledger.manifest(), Disk())
        root = archive.seal(ledger.counts()).root_sha256
    for tree in ("valid_evaluations", "invalid_evaluations"):
        shutil.rmtree(path / tree, ignore_errors=True)
    return root


if __name__ == "__main__":
    for each in ("planned", "imported"):
        sys.stdout.write(f"{each} {renew(STUDIES / each)}\n")
