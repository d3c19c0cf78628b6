"""The plan of a study: every question, made when its turn comes, with the key that its answer is kept under."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from affidavit.contract import Fields, label
from affidavit.dataset import Item
from affidavit.model import Completion, Failure, Request
from affidavit.prompt import Condition, messages
from affidavit.record import Kind, canonical
from affidavit.rows import RAW_OUTPUT, AnyContract, RowReader
from affidavit.study import Study, conditions_of, decoding_of, seed_of


@dataclass(frozen=True)
class Task:
    """Items of one kind and the contract that reads the answers."""

    name: str
    contract: AnyContract
    count: int

    @cached_property
    def reader(self) -> RowReader:
        """The contract over rows."""
        return RowReader(self.contract)

    @cached_property
    def about(self) -> Fields:
        """What every record says of its contract (ruling C3)."""
        return {"contract": label(self.contract), "contract_params": dict(self.contract.params)}


class Question(NamedTuple):
    """One question, asked once."""

    key: str
    task: Task
    item: Item
    model: str
    condition: str
    sample: int
    prompt_sha256: str
    request: Request


class Plan:
    """All questions of a study."""

    def __init__(self, study: Study, tasks: Iterable[Task]) -> None:
        self.study = study
        self.tasks = {task.name: task for task in tasks}
        self._conditions = {condition.name: condition for condition in conditions_of(study)}
        self._decoding = decoding_of(study)
        self._bodies = {name: table.body for name, table in study.models.items()}

    @property
    def per_item(self) -> int:
        """Questions that each model is asked about an item."""
        return len(self._conditions) * self.study.decoding.samples

    @property
    def planned(self) -> dict[str, int]:
        """Questions of each task, over all models."""
        each = self.per_item * len(self.study.models)
        return {name: task.count * each for name, task in self.tasks.items()}

    def questions(self, task: Task, item: Item, model: str) -> Iterator[Question]:
        """What one model is asked about one item."""
        for condition in self._conditions.values():
            yield from self._samples(task, item, model, condition)

    def question(self, task: Task, item: Item, model: str, condition: str, sample: int) -> Question | None:
        """One question of the plan; None if the plan has none like it."""
        if model not in self._bodies or condition not in self._conditions:
            return None
        samples = self._samples(task, item, model, self._conditions[condition])
        return next((each for each in samples if each.sample == sample), None)

    def _samples(self, task: Task, item: Item, model: str, condition: Condition) -> Iterator[Question]:
        asked = messages(item, condition, task.contract)
        grammar = self._grammar(task, item, condition)
        said = canonical(asked)
        # The key is the digest of one JSON object with sorted names; the messages in its middle are encoded once.
        start = canonical(
            {
                "condition": condition.name,
                "decoding": {**self._decoding, **self._bodies[model]},
                "grammar": grammar,
                "item": item.id,
            }
        )
        start = b"".join((start[:-1], b',"messages":', said, b","))
        prompt = sha256(said).hexdigest()
        for sample in range(self.study.decoding.samples):
            seed = seed_of(self.study.study.seed, task.name, item.id, sample)
            end = canonical({"model": model, "sample": sample, "task": task.name})[1:]
            key = sha256(start + end).hexdigest()
            request = Request(asked, self._decoding, seed, sample, grammar)
            yield Question(key, task, item, model, condition.name, sample, prompt, request)

    def _grammar(self, task: Task, item: Item, condition: Condition) -> str | None:
        if not condition.constrained:
            return None
        return task.contract.grammar(task.reader.layout.item(dict(item.fields), where=item.id))

    def response(self, question: Question, completion: Completion) -> Fields:
        """The record of an answer: what arrived, and everything that its contract says of it."""
        return {
            "kind": Kind.RESPONSE,
            **self.identity(question),
            **question.task.about,
            RAW_OUTPUT: completion.text,
            **derived(question.task, question.item, completion.text),
            "finish_reason": completion.finish_reason,
            "reasoning": completion.reasoning,
            "usage": None if completion.usage is None else dict(completion.usage),
        }

    def failure(self, question: Question, failure: Failure) -> Fields:
        """The record of a question that nobody answered; what was said on the way is a fact about the day."""
        return {"kind": Kind.FAILURE, **self.identity(question), "reason": failure.reason}

    def identity(self, question: Question) -> Fields:
        """What every record says of its question."""
        return {
            "key": question.key,
            "study": self.study.study.name,
            "task": question.task.name,
            "item_id": question.item.id,
            "model": question.model,
            "condition": question.condition,
            "sample": question.sample,
            "prompt_sha256": question.prompt_sha256,
        }


def derived(task: Task, item: Item, raw: str) -> Fields:
    """Every field that follows from the raw text and the item alone (ruling C2)."""
    result = task.reader.read({**item.fields, RAW_OUTPUT: raw}, where=item.id)
    return {**result.added, "keyed": result.has_key}
