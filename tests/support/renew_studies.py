"""Write the studies of golden/studies anew, by the code as it is, from what they say themselves.

    PYTHONPATH=tests:src python tests/support/renew_studies.py

Needed only where the form of a record, a key or a frozen file has changed on purpose: the outputs stay as they are,
and so does everything that is read from them. It reads the old files as plain JSON, whatever their version.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from affidavit.archive.disk import Disk
from affidavit.archive.layout import MANIFEST
from affidavit.archive.record import Failed, ImportIdentity, Judgement, Response, content_digest
from affidavit.archive.study_directory import FrozenItem, NotArrived, StudyDirectory
from affidavit.contracts.frozen_contract import named_contract
from affidavit.contracts.own_file import GivenContracts
from affidavit.judging.directory import write_judging
from affidavit.judging.outputs import imported_task, output_of, transcript
from affidavit.judging.terms import FrozenJudging, JudgeTerms, Terms
from affidavit.models.model import Completion, Failure, Reason
from affidavit.models.registry import read_model_tables
from affidavit.reading.imported_records import ImportFacts, NamedRow, RecordMaker
from affidavit.reading.output_columns import OutputColumns
from affidavit.running.import_outputs import ImportedOutputs
from affidavit.running.ledger import StudyLedger
from affidavit.running.manifest import write_manifest
from affidavit.study.freezing import frozen_items, plan_of

STUDIES = Path(__file__).parents[1] / "golden" / "studies"
TEXT, COLUMNS = named_contract("text"), OutputColumns.of(OutputColumns.protocol)


def fields_of(path: Path) -> dict | None:
    """What a file of one line says; None if there is no such file."""
    return json.loads(path.read_bytes()) if path.exists() else None


def segments(path: Path) -> Iterator[list[dict]]:
    """The records of each segment."""
    for file in sorted((path / "records").glob("*.jsonl")):
        yield [json.loads(line) for line in file.read_bytes().splitlines()]


def completion(old: Mapping) -> Completion:
    """What arrived then; what was not noted then is not known."""
    known = {name: value for name, value in old.items() if name in Completion.__slots__ and name != "usage"}
    return Completion(old["raw_output"], **known, usage=old["usage"])


class Renewed:
    """One study, written once more into another directory."""

    def __init__(self, old: Path, new: Path, beside: Path) -> None:
        self.old, self.directory = old, StudyDirectory(new)
        self.items_sha256 = self.renew_items()
        self.study = self.frozen()
        self.plan = plan_of(self.study, GivenContracts([f"{beside}/own.py:own"]))
        self.items = {}
        if self.plan is not None:
            self.items = {(task, item.id): item for task, item in frozen_items(self.directory)}
        self.ledger = StudyLedger.of(self.study, self.plan, None)
        self.keys: dict[str, str] = {}
        self.outputs = {}

    def renew_items(self) -> str | None:
        """The same items on lines of today; the digest of their file, None if there is none."""
        if not (self.old / "items.jsonl").exists():
            return None
        lines = map(json.loads, (self.old / "items.jsonl").read_bytes().splitlines())
        items = [FrozenItem(each["task"], each["id"], each["item"]) for each in lines]
        sha256 = self.directory.draft_items(items, Disk())
        self.directory.keep_items(Disk())
        return sha256

    def frozen(self):
        """The frozen study, its models with every key that is frozen today."""
        kept = {
            name: value
            for name, value in fields_of(self.old / "study.json").items()
            if name not in ("v", "sha256")
        }
        if kept["config"].get("imported") is None:
            usual = read_model_tables({"m": {"base_url": "http://h"}}, where="")["m"].frozen()
            models = kept["config"]["models"]
            kept["config"]["models"] = {name: {**usual, **each} for name, each in models.items()}
        else:
            kept["config"] = self.of_outputs(kept["config"])
        if self.items_sha256 is not None:
            kept["items_file_sha256"] = self.items_sha256
        return self.directory.freeze(kept, Disk())

    def of_outputs(self, config: Mapping) -> dict:
        """What is frozen of outputs from elsewhere, by their records as they are written today."""
        facts = ImportFacts(config["name"])
        for old in (old for records in segments(self.old) for old in records if "output_id" in old):
            record = self.imported(config["name"], old)
            facts.add(record, content_digest(record))
        return ImportedOutputs(config["name"], TEXT, COLUMNS, list).config(facts)

    def imported(self, study: str, old: Mapping) -> Response | Failed:
        names = (old[name] for name in ("task", "item_id", "model", "condition", "sample", "output_id", "prompt"))
        row = NamedRow("", *names, old.get("raw_output"), old.get("row", {}))
        return RecordMaker(study, COLUMNS, TEXT.contract).record(row, old["sample"])

    def write(self) -> str:
        """All of it; the digest of its seal."""
        seal = None
        for records in segments(self.old):
            archive = self.directory.archive(Disk())
            list(archive.recover())
            if any("judged_key" in old for old in records) and self.ledger.judging is None:
                self.open_judging()
            for old in records:
                record = self.record(old)
                archive.append(record)
                self.ledger.load(record)
            if (self.old / MANIFEST).exists():
                write_manifest(self.directory.path, self.ledger.manifest(), Disk())
            seal = archive.seal(self.ledger.counts())
        return seal.root_sha256

    def open_judging(self) -> None:
        """The same judging of the same outputs, by the keys that these have now."""
        old = fields_of(self.old / "judging.json")
        judges = tuple(
            JudgeTerms(
                name, each["identity"], each.get("request") or {"model": name, **each["decoding"]},
                tuple(each["conditions"]), each["repeats"],
            )
            for name, each in old["judges"].items()
        )  # fmt: skip
        outputs = tuple(sorted(self.keys[key] for key in old["outputs"]))
        missing = tuple(NotArrived(**each) for each in old["not_arrived"])
        terms = Terms.of(old["terms"], outputs)
        frozen = FrozenJudging(terms, judges, missing, tuple(old["tasks"]), old["targets"])
        write_judging(self.directory, frozen, Disk())
        self.ledger.open_judging(frozen)

    def record(self, old: Mapping) -> Response | Failed | Judgement:
        """The record as it would be written today."""
        if "judged_key" in old:
            return self.judgement(old)
        if "prompt_sha256" not in old:
            return self.kept(old, self.imported(self.study.name, old), None)
        item = self.items[old["task"], old["item_id"]]
        task = self.plan.tasks[old["task"]]
        question = self.plan.question(task, item, old["model"], old["condition"], old["sample"])
        if old["kind"] == "failure":
            return self.plan.failure(question, Failure(Reason(old["reason"])))
        return self.kept(old, self.plan.response(question, completion(old)), question)

    def kept(self, old: Mapping, record: Response | Failed, question) -> Response | Failed:
        subject = record.subject
        if isinstance(record, Failed):
            return record
        words = (
            imported_task(subject)
            if isinstance(subject, ImportIdentity)
            else transcript(question.request.messages)
        )
        identity = self.study.identities[subject.model]
        self.keys[old["key"]] = record.key
        self.outputs[record.key] = output_of(record, identity=identity, task=words)
        return record

    def judgement(self, old: Mapping) -> Judgement | Failed:
        plan = self.ledger.judging_plan
        output = self.outputs[self.keys[old["judged_key"]]]
        judged = plan.judgement(plan.judges[old["judge"]], output, old["judging_condition"], old["repeat"])
        if old["kind"] == "failure":
            return plan.failure(judged, Failure(Reason(old["reason"])))
        # A judge repeats the name of the output, which is made of its key.
        raw = old["raw_output"].replace(old["asked"]["output_id"], judged.asked.meta["output_id"])
        return plan.response(judged, completion({**old, "raw_output": raw}))


def main() -> None:
    """Renew them all, and say their digests."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from running.test_study_on_record import OWN  # noqa: PLC0415 - the one contract that is not ours

    for old in sorted(path for path in STUDIES.iterdir() if path.is_dir()):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "own.py").write_text(OWN)
            new = Path(folder) / old.name
            new.mkdir()
            sys.stdout.write(f"{old.name} {Renewed(old, new, Path(folder)).write()}\n")
            (new / "lock").unlink(missing_ok=True)
            shutil.rmtree(old)
            shutil.copytree(new, old)


if __name__ == "__main__":
    main()
