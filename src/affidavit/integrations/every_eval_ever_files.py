"""Every Eval Ever 0.3.0: for each task, model and condition an aggregate file and the instances beside it.

The aggregate has the figures of our tables with their intervals, and says by kind how many outputs are no
instance: the schema of an instance has no word for an output without an answer. The two belong together as the
schema has it: the aggregate names the file of instances with its digest, and every instance names the result that
it counts in, accuracy over answers, which is the mean of their scores.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any
from uuid import UUID

from affidavit.archive.disk import new_directories, refuse_study, storage_errors
from affidavit.archive.provenance import versions
from affidavit.archive.record import Failed, ImportIdentity, JudgementIdentity, Label, Response
from affidavit.archive.record_columns import without_surrogates
from affidavit.archive.study_directory import FrozenStudy, ImportedStudy
from affidavit.contracts.parts import Parts
from affidavit.exchange.asked_items import AskedItems
from affidavit.exchange.export_format import ExportFormat, ExportOrder, Written
from affidavit.integrations.every_eval_ever_rows import (
    SCHEMA_VERSION,
    Asked,
    OfRun,
    asked_of_row,
    instance,
    left_out_as,
)
from affidavit.json_values import Fields, canonical, digest
from affidavit.reading.imported_records import frozen_columns
from affidavit.reading.output_columns import ONE_CONDITION
from affidavit.results.counting import groups
from affidavit.results.groups import OUTCOMES, Group
from affidavit.results.study_results import StudyResults
from affidavit.statistics.estimate import Estimate

_FOLDER = "data"
_HELD = 4 << 20
"""Bytes of instances that wait until they are written: a study may have more cells than files may be open."""
_MEASURES = {
    "accuracy_over_answers": ("right", "compared"),
    "accuracy_over_all_outputs": ("right", "keyed"),
    "compliance": ("compliant", "compliant", "non_compliant"),
}
"""The figures of a cell, by what they are of what; instances count in the first."""
_WORDS = {
    "accuracy_over_answers": "right answers, of outputs with an answer whose right answer is known",
    "accuracy_over_all_outputs": "right answers, of all outputs whose right answer is known",
    "compliance": "outputs that follow the format, of all that were read",
}
_FIRST = next(iter(_MEASURES))

Cell = tuple[str, str, str]


@dataclass
class _CellFiles:
    """The two files of one task, model and condition, while they are made."""

    order: ExportOrder
    cell: Cell
    model_id: str
    root: str
    """What of the study tells these files from those of any other."""
    waiting: list[bytes] = field(default_factory=list)
    rows: int = 0
    not_verbatim: int = 0
    """Instances whose text is not the model's own, as their source recorded it (ruling I1)."""
    checksum: Any = field(default_factory=sha256)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Of the evaluation: its task, and the condition where there may be others."""
        task, _, condition = self.cell
        return task if condition == ONE_CONDITION else f"{task}, {condition}"

    @property
    def evaluation_id(self) -> str:
        """As the schema would have it."""
        return f"{self.name}/{self.model_id}/{self.retrieved}"

    @property
    def retrieved(self) -> str:
        """When the files were written, in seconds of the Unix epoch."""
        return str(int(self.order.at.timestamp()))

    @property
    def place(self) -> str:
        """Of the aggregate, below the directory: the schema knows three folders and a random number for a name."""
        number = UUID(bytes=bytes.fromhex(digest([self.root, self.evaluation_id, self.cell]))[:16], version=4)
        developer, _, model = self.model_id.rpartition("/")
        folders = (self.name, developer or "unknown", model)
        return "/".join((_FOLDER, *map(_folder_name, folders), f"{number}.json"))

    @property
    def instances(self) -> str:
        """Of the instances, beside it."""
        return self.place.removesuffix(".json") + "_samples.jsonl"

    @property
    def run(self) -> OfRun:
        """What all instances say."""
        result = f"{self.evaluation_id}/{_FIRST}"
        return OfRun(self.evaluation_id, self.name, result, self.model_id)

    def add(self, row: Fields) -> int:
        """One instance more; gives its bytes."""
        line = canonical(row) + b"\n"
        self.waiting.append(line)
        self.checksum.update(line)
        self.rows += 1
        return len(line)

    def write_waiting(self, root: Path) -> None:
        """Write what waits."""
        if self.waiting:
            path = root / self.instances
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as stream:
                stream.writelines(self.waiting)
            self.waiting.clear()


def _folder_name(name: str) -> str:
    """A name that any disk takes, and no path: what tells files apart is their own name.

    >>> _folder_name("org/a b"), _folder_name(".."), _folder_name("é")
    ('org_a_b', '_', '_')
    """
    kept = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "_" for each in name[:80])
    return kept.strip(".") or "_"


# --- the walk ---


def _write(order: ExportOrder) -> Written:
    refuse_study(order.out)
    results = StudyResults(order.records.directory)
    frozen = order.records.frozen
    root = results.seal.root_sha256 if results.seal is not None else ""
    cells: dict[Cell, _CellFiles] = {}
    written = Written()
    with new_directories(order.out, (_FOLDER,)) as partial, storage_errors(str(order.out)):
        _walk(order, cells, partial, root)
        for group in groups(results.records):
            cell = _cell_of(group, cells)
            files = cells.get(cell) or _CellFiles(order, cell, _model_id(frozen, cell[1]), root)
            files.write_waiting(partial)
            path = partial / files.place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                json.dumps(_aggregate(files, group, frozen), indent=2, sort_keys=True).encode() + b"\n"
            )
            written.rows["aggregates"] += 1
            written.rows["instances"] += files.rows
            written.left_out.update(files.left_out)
    return written


def _cell_of(group: Group, cells: Mapping[Cell, _CellFiles]) -> Cell:
    """The cell of a group, by the names that records have: tables spell out what no column can hold."""
    spelt = {tuple(map(without_surrogates, cell)): cell for cell in cells}
    task, model, condition = group.names
    return spelt.get((task, model, condition), (task, model, condition))


def _walk(order: ExportOrder, cells: dict[Cell, _CellFiles], partial: Path, root: str) -> None:
    records, frozen, held = order.records, order.records.frozen, 0
    asked = _Items(order)
    for record in records:
        if isinstance(record, Label) or isinstance(record.subject, JudgementIdentity):
            continue
        assert isinstance(record, Response | Failed)  # noqa: S101 - judgements are of judgements
        cell = record.subject.cell
        if cell not in cells:
            cells[cell] = _CellFiles(order, cell, _model_id(frozen, cell[1]), root)
        files, parts = cells[cell], records.parts.get(cell[0], _DEFAULT_PARTS)
        why = left_out_as(record, parts)
        if why is None and isinstance(record, Response):
            question = asked.of(record)
            held += files.add(instance(record, question, parts, files.run))
            files.not_verbatim += not question.verbatim
        elif why is not None:
            files.left_out[why] += 1
        if held > _HELD:
            for each in cells.values():
                each.write_waiting(partial)
            held = 0


_DEFAULT_PARTS = Parts()


def _model_id(frozen: FrozenStudy, model: str) -> str:
    return frozen.identities.get(model, model)


class _Items:
    """What outputs answer: the items of a plan as they were shown, or the rows that outputs came in."""

    def __init__(self, order: ExportOrder) -> None:
        frozen = order.records.frozen
        self._columns = frozen_columns(frozen) if isinstance(frozen, ImportedStudy) else None
        self._items = AskedItems(order.records.directory, frozen)

    def of(self, record: Response) -> Asked:
        """What an output answers."""
        subject = record.subject
        if isinstance(subject, ImportIdentity):
            return Asked({}) if self._columns is None else asked_of_row(subject, self._columns)
        return Asked(self._items.of(record) or {})


# --- the aggregate ---


def _aggregate(files: _CellFiles, group: Group, frozen: FrozenStudy) -> Fields:
    order, counts = files.order, _counts(files, group)
    measured = {name: group.share(*of) for name, of in _MEASURES.items()}
    results = [_result(files, name, each, counts, frozen) for name, each in measured.items() if each is not None]
    said: Fields = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": files.evaluation_id,
        "retrieved_timestamp": files.retrieved,
        "source_metadata": {
            "source_name": frozen.name,
            "source_type": "evaluation_run",
            "source_organization_name": order.organization,
            "evaluator_relationship": order.relationship,
            "additional_details": {**counts, "root_sha256": files.root},
        },
        "eval_library": {"name": "affidavit", "version": str(versions().get("affidavit", "unknown"))},
        "model_info": {
            "name": files.cell[1],
            "id": files.model_id,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": results,
    }
    if files.rows:
        said["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": files.instances,
            "hash_algorithm": "sha256",
            "checksum": files.checksum.hexdigest(),
            "total_rows": files.rows,
        }
    return said


def _counts(files: _CellFiles, group: Group) -> dict[str, str]:
    """What became of every planned question, and by kind what is no instance; the schema takes texts alone."""
    outcomes = {name.replace("_", "-"): group.total(name) for name in OUTCOMES}
    said = {"planned": group.planned, **outcomes, "pending": group.pending, "instances": files.rows}
    if files.not_verbatim:
        said["not verbatim"] = files.not_verbatim
    kinds = {f"left out: {kind}": count for kind, count in sorted(files.left_out.items())}
    return {name: str(count) for name, count in {**said, **kinds}.items()}


def _result(
    files: _CellFiles, name: str, figure: Estimate, counts: Mapping[str, str], frozen: FrozenStudy
) -> Fields:
    task = files.cell[0]
    return {
        "evaluation_result_id": f"{files.evaluation_id}/{name}",
        "evaluation_name": files.name,
        "source_data": _source(frozen, task),
        "metric_config": {
            "evaluation_description": _WORDS[name],
            "metric_id": name,
            "metric_name": name.replace("_", " "),
            "metric_kind": "accuracy" if name == _FIRST else "pass_rate",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "additional_details": {"contract": _contract(frozen, task)},
        },
        "score_details": {"score": figure.value, "details": dict(counts), "uncertainty": _uncertainty(figure)},
        **_generation(frozen),
    }


def _uncertainty(figure: Estimate) -> Fields:
    said: Fields = {"num_samples": figure.n}
    if isfinite(figure.low) and isfinite(figure.high):
        said["confidence_interval"] = {
            "lower": figure.low,
            "upper": figure.high,
            "confidence_level": 0.95,
            "method": figure.method,
        }
    return said


def _contract(frozen: FrozenStudy, task: str) -> str:
    described = frozen.config["contracts"].get(task, {})
    return json.dumps({name: described.get(name) for name in ("contract", "params")}, sort_keys=True)


def _source(frozen: FrozenStudy, task: str) -> Fields:
    """Where the items came from, as far as the study says: a file has a name on one machine only."""
    said: Fields = {"dataset_name": task, "source_type": "other"}
    items = frozen.config["tasks"].get(task, {}).get("items")
    if isinstance(items, str) and items.startswith("hf:"):
        said["additional_details"] = {"items": items}
    return said


def _generation(frozen: FrozenStudy) -> Fields:
    """How answers were decoded, where it was asked here."""
    decoding = frozen.config.get("decoding")
    if not isinstance(decoding, Mapping):
        return {}
    names: Sequence[tuple[str, type]] = (("temperature", float), ("top_p", float), ("max_tokens", int))
    known = {name: kind(value) for name, kind in names if isinstance(value := decoding.get(name), int | float)}
    return {"generation_config": {"generation_args": known}} if known else {}


EVERY_EVAL_EVER = ExportFormat(
    "eee", "Every Eval Ever 0.3.0, aggregate and instances", "", _write, names_who_evaluates=True
)
