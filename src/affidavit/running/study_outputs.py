"""The outputs of a study's directory that can be judged, read from the journal as they are needed."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from affidavit.archive.journal import journal
from affidavit.archive.record import Kind
from affidavit.contracts.registry import parts_named
from affidavit.items.item import Item
from affidavit.json_values import Fields
from affidavit.judging.outputs import IMPORTED, imported_task, output_of, spoken
from affidavit.judging.plan import NotArrived, Output
from affidavit.study.freezing import frozen_items
from affidavit.study.plan import Plan


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


def open_tasks(config: Mapping[str, Any]) -> list[str]:
    """The tasks whose outputs are judged unless others are named: open ones, or those from elsewhere."""
    if IMPORTED in config:
        return [IMPORTED]
    return [name for name, task in config["tasks"].items() if parts_named(task["contract"]).open_ended]
