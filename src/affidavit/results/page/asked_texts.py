"""What was asked of the outputs that a page shows: question, options, right answer, prompt to the letter."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from affidavit.archive.record import ImportIdentity, Response
from affidavit.archive.study_directory import ImportedStudy, PlannedStudy
from affidavit.contracts.own_file import GivenContracts, is_in_file
from affidavit.items.item import Item
from affidavit.reading.output_columns import Role
from affidavit.results.page.samples import Asked, fields_listed, question_of, right_answer, right_option
from affidavit.results.study_results import StudyResults
from affidavit.study.freezing import frozen_items, frozen_plan
from affidavit.study.plan import Plan
from affidavit.study.task import Question

MOST_ITEMS, MOST_PROMPTED = 50_000, 10_000
"""Items, and rows from elsewhere, that are looked through for questions; of larger studies none is shown."""
_Row = Mapping[str, Any]


def asked_texts(results: StudyResults, rows: Collection[_Row]) -> Callable[[_Row], Asked]:
    """What is known of the question of each of these rows."""
    if isinstance(results.frozen, ImportedStudy):
        prompts = _prompts_of_rows(results, {row["key"] for row in rows})
        return lambda row: Asked(prompts.get(row["key"], ""), row=_other_fields(row))
    return _Planned(results, rows)


def _other_fields(row: _Row) -> str:
    return fields_listed(json.loads(row["row"] or "{}"))


class _Planned:
    """The questions of a study that was planned here."""

    def __init__(self, results: StudyResults, rows: Collection[_Row]) -> None:
        self._items = _items(results, {(row["task"], row["item_id"]) for row in rows})
        frozen = results.frozen
        tasks = {} if results.study is None else results.study.tasks
        self._arranged = {name for name, task in tasks.items() if task.option_order != "as_given"}
        # A contract of the user's own is code, and is not run for a page.
        own = any(is_in_file(task.contract) for task in tasks.values())
        known = isinstance(frozen, PlannedStudy) and bool(self._items) and not own
        self._plan: Plan | None = None
        if known and isinstance(frozen, PlannedStudy):
            self._plan = frozen_plan(frozen, GivenContracts())

    def __call__(self, row: _Row) -> Asked:
        item = self._items.get((row["task"], row["item_id"]))
        if item is None:
            return Asked("")
        question = self._question(row, item)
        as_given, right = row["task"] not in self._arranged, right_answer(item.fields)
        if row["right_letter"] is not None:
            right = row["right_letter"] if as_given else right_option(row["right_letter"], item.fields)
        if question is None:
            return Asked(question_of(item.fields, lettered=as_given), right=right)
        return Asked(question_of(question.item.fields, lettered=True), _as_sent(question), right)

    def _question(self, row: _Row, item: Item) -> Question | None:
        """The question as it was sent: its key is a digest of it, and must be that of the record."""
        if self._plan is None:
            return None
        task = self._plan.tasks[row["task"]]
        found = self._plan.question(task, item, row["model"], row["condition"], row["sample"])
        return found if found is not None and found.key == row["key"] else None


def _as_sent(question: Question) -> str:
    messages = question.request.messages
    if len(messages) == 1:
        return str(messages[0]["content"])
    return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)


def _items(results: StudyResults, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], Item]:
    items: dict[tuple[str, str], Item] = {}
    if wanted and sum(results.counts.values()) <= MOST_ITEMS:
        for task, item in frozen_items(results.directory):
            if (task, item.id) in wanted:
                items[task, item.id] = item
                if len(items) == len(wanted):
                    break
    return items


def _prompts_of_rows(results: StudyResults, keys: set[str]) -> dict[str, str]:
    """The prompts of these rows, as far as they have one; of a large import none is looked for."""
    large = int(results.records.planned["planned"].sum()) > MOST_PROMPTED
    if large or Role.PROMPT not in results.config["columns"]:
        return {}
    found: dict[str, str] = {}
    for record in results.directory.records():
        if not isinstance(record, Response) or record.key not in keys:
            continue
        if isinstance(record.subject, ImportIdentity) and record.subject.prompt:
            found[record.key] = record.subject.prompt
        if len(found) == len(keys):
            break
    return found
