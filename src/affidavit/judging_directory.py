"""A judging in a study's directory: its frozen terms, the outputs that it is about, and the two trees made of it.

judging.json             rubric, thresholds, prompts, date, the outputs by their keys, the judges
valid_evaluations/  invalid_evaluations/      a projection of the journal, rebuilt at will
"""

import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from affidavit.archive import corrupt, read_seal, scan, segments
from affidavit.contract import Fields
from affidavit.dataset import Item
from affidavit.judge_archive import INVALID, VALID, Evaluation, judge_archive
from affidavit.judging import FREE, FrozenJudging, JudgeTerms, JudgingPlan, NotArrived, Output, Terms
from affidavit.outputs import IMPORTED, imported_task, output_of, spoken
from affidavit.plan import Plan
from affidavit.record import Kind, checked_line, decode
from affidavit.rows import RAW_OUTPUT
from affidavit.storage import Disk, digests_below, told
from affidavit.study_books import StudyBooks
from affidavit.study_directory import frozen_items
from affidavit.tally import Tally

JUDGING = "judging.json"


def read_judging(directory: Path) -> FrozenJudging | None:
    """What was frozen; None if nothing was judged yet."""
    path = directory / JUDGING
    if not path.exists():
        return None
    with told(str(path)):
        fields: Any = decode(path.read_bytes())
    if fields is None:
        raise corrupt(f"{path}:1", "the judging as it was frozen", "a line that does not fit its checksum")
    terms = Terms.of(fields["terms"], fields["outputs"])
    if terms.digest != fields["sha256_of_terms"]:
        raise corrupt(str(path), f"terms with the digest {fields['sha256_of_terms']}", terms.digest)
    return FrozenJudging(
        terms,
        tuple(JudgeTerms.of(name, facts) for name, facts in fields["judges"].items()),
        tuple(NotArrived(**each) for each in fields["not_arrived"]),
        tuple(fields["tasks"]),
        fields["targets"],
    )


def write_judging(directory: Path, frozen: FrozenJudging, disk: Disk) -> None:
    """Freeze it; the file is there whole, or not at all."""
    line = {
        "kind": "judging",
        "v": 1,
        "sha256_of_terms": frozen.terms.digest,
        "terms": frozen.terms.facts(),
        "outputs": list(frozen.terms.outputs),
        "tasks": list(frozen.tasks),
        "targets": dict(frozen.targets),
        "not_arrived": [each._asdict() for each in frozen.not_arrived],
        "judges": {judge.name: judge.facts() for judge in frozen.judges},
    }
    with told(str(directory / JUDGING)):
        disk.place(directory / JUDGING, checked_line(line))


# --- the outputs ---


class StudyOutputs:
    """The outputs of a study, or of an import, read from the journal as they are needed."""

    def __init__(
        self, directory: Path, config: Mapping[str, Any], plan: Plan | None, tasks: Collection[str]
    ) -> None:
        self._directory = directory
        self._plan = plan
        self._tasks = frozenset(tasks)
        self._identities = {name: str(each["identity"]) for name, each in config["models"].items()}
        self._items: dict[tuple[str, str], Item] = {}
        if plan is not None:
            self._items = {(task, item.id): item for task, item in frozen_items(directory) if task in self._tasks}
        self._holes = [NotArrived(**each) for each in config.get("not_arrived", ())]
        self._records = sum(1 for _ in journal(directory))

    def __iter__(self) -> Iterator[Output]:
        """Every output, in the order of the journal as it was when this was made."""
        for number, fields in enumerate(journal(self._directory), 1):
            if number > self._records:
                return
            if fields["kind"] == Kind.RESPONSE and fields["task"] in self._tasks:
                yield output_of(fields, identity=self._identities[str(fields["model"])], task=self._words(fields))

    def _words(self, fields: Fields) -> str:
        if self._plan is None:
            return imported_task(fields)
        task, sample = str(fields["task"]), fields["sample"]
        item = self._items[task, str(fields["item_id"])]
        number = sample if isinstance(sample, int) else -1
        question = self._plan.question(
            self._plan.tasks[task], item, str(fields["model"]), str(fields["condition"]), number
        )
        return "" if question is None else spoken(question.request.messages)

    def not_arrived(self) -> Iterator[NotArrived]:
        """What was planned and is not there."""
        if self._plan is None:
            yield from self._holes
            return
        settled = {
            f["key"]: str(f["reason"]) if f["kind"] == Kind.FAILURE else "" for f in journal(self._directory)
        }
        for (name, _), item in self._items.items():
            task = self._plan.tasks[name]
            for model in task.conditions:
                for question in self._plan.questions(task, item, model):
                    if why := settled.get(question.key, "not asked yet"):
                        target = self._identities[model]
                        yield NotArrived(item.id, question.condition, target, question.sample, why)


def journal(directory: Path) -> Iterator[Fields]:
    """Every record, one after the other, as far as the journal is whole."""
    seal, first = read_seal(directory), 1
    sealed = 0 if seal is None else len(seal.segments)
    for segment in segments(directory):
        for line in scan(segment.path, first=first, sealed=segment.number <= sealed):
            first += 1
            yield line.fields


def open_tasks(config: Mapping[str, Any]) -> list[str]:
    """The tasks whose outputs are judged unless others are named: open ones, or those from elsewhere."""
    if IMPORTED in config:
        return [IMPORTED]
    return [name for name, task in config["tasks"].items() if task["contract"] == "text"]


# --- the trees ---


def write_trees(directory: Path, plan: JudgingPlan, tallies: Collection[Tally]) -> None:
    """Write both trees anew from the journal."""
    _write_trees(directory, directory, plan, tallies)


def _write_trees(directory: Path, below: Path, plan: JudgingPlan, tallies: Collection[Tally]) -> None:
    with judge_archive(below, plan.terms.contract, anew=True) as trees:
        for fields in journal(directory):
            if fields["kind"] == Kind.JUDGEMENT:
                trees.add(_evaluation(fields))
        missing = Tally.total(tallies)
        trees.add_missing(failed=missing.failed, pending=missing.pending)


def other_trees(directory: Path, books: StudyBooks) -> str | None:
    """The first file of the trees that is not what the journal makes it; None if there is none such.

    Where neither tree is there, there is nothing to compare: they can be made at will.
    """
    if books.judging_plan is None or books.judging is None:
        return None
    if not any((directory / tree).exists() for tree in (VALID, INVALID)):
        return None
    with tempfile.TemporaryDirectory() as made:
        _write_trees(directory, Path(made), books.judging_plan, books.judging.tallies.values())
        return next((str(directory / name) for name in sorted(_differing(directory, Path(made)))), None)


def _differing(here: Path, made: Path) -> Iterator[str]:
    trees = (VALID, INVALID)
    contents = [
        {f"{tree}/{name}": digest for tree in trees for name, digest in digests_below(root / tree)}
        for root in (here, made)
    ]
    for name in contents[0].keys() | contents[1].keys():
        if contents[0].get(name) != contents[1].get(name):
            yield name


def _evaluation(fields: Mapping[str, Any]) -> Evaluation:
    digests = ("key", "judged_key", "judging_sha256", "judging_condition", "prompt_sha256", "schema_sha256")
    condition = "" if fields["judging_condition"] == FREE else f"{fields['judging_condition']}-"
    return Evaluation(
        raw=fields[RAW_OUTPUT],
        asked=fields["asked"],
        stated={},
        read=fields,
        source={name: fields[name] for name in digests},
        judge=fields["judge"],
        file=f"{condition}{fields['repeat']}",
    )
