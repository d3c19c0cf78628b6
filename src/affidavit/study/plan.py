"""The plan of a study: every question, made when its turn comes, with the key that its answer is kept under."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple, cast

from affidavit.archive.record import Failed, Response
from affidavit.contracts.contract import AnyContract, Unread
from affidavit.errors import InputError
from affidavit.items.item import Item
from affidavit.items.option_order import (
    Arrangement,
    arranged,
    arrangement,
    own_letter,
    shown_letter,
    wrong_letter,
)
from affidavit.json_values import canonical
from affidavit.models.model import Completion, Failure, Message, Request
from affidavit.models.request_body import SharedRequest
from affidavit.study.answer_records import failure_record, response_record
from affidavit.study.crossing import Cell, LeftOut, cells, condition_of
from affidavit.study.prompt import RIGHT_OPTION, WRONG_OPTION, Condition, Example, messages, template
from affidavit.study.request_seed import seed_of
from affidavit.study.study_file import Study, requests_of
from affidavit.study.task import Question, Task

Examples = Mapping[tuple[str, str], tuple[Example, ...]]
"""Worked examples by task and condition."""


class Plan:
    """All questions of a study."""

    def __init__(
        self, study: Study, contracts: Mapping[str, AnyContract], counts: Mapping[str, int], examples: Examples
    ) -> None:
        self.study = study
        crossed = cells(study)
        self.cells = [cell for cell in crossed if not isinstance(cell, LeftOut)]
        self.left_out = [cell for cell in crossed if isinstance(cell, LeftOut)]
        self.tasks = {name: self._task(name, contracts[name], counts[name], examples) for name in study.tasks}
        # The key is the digest of one JSON object with sorted names; what questions share of it is encoded once.
        self._shared = {name: SharedRequest(fields) for name, fields in requests_of(study).items()}
        self._heads = {
            each: b'{"condition":%b,"item":' % canonical(each) for each in {c.condition for c in self.cells}
        }
        self._names = {name: canonical(name) for name in (*study.models, *study.tasks)}

    def _task(self, name: str, contract: AnyContract, count: int, examples: Examples) -> Task:
        table, conditions = self.study.tasks[name], dict[str, tuple[Condition, ...]]()
        for cell in self.cells:
            if cell.task == name:
                more = (condition_of(self.study, name, cell.condition),)
                conditions[cell.model] = conditions.get(cell.model, ()) + more
        return Task(
            name,
            contract,
            count,
            conditions,
            {condition: each for (task, condition), each in examples.items() if task == name},
            table.option_order,
        )

    @property
    def planned(self) -> dict[Cell, int]:
        """Questions of each cell."""
        return {cell: self.tasks[cell.task].count * self.study.decoding.samples for cell in self.cells}

    def templates(self) -> Iterator[tuple[str, str, tuple[Message, ...]]]:
        """Task, condition and conversation with its placeholders, each once."""
        for task in self.tasks.values():
            for condition in dict.fromkeys(each for many in task.conditions.values() for each in many):
                examples = task.examples.get(condition.name, ())
                yield task.name, condition.name, template(condition, task.contract, examples=examples)

    def questions(self, task: Task, item: Item, model: str) -> Iterator[Question]:
        """What one model is asked about one item."""
        for condition in task.conditions.get(model, ()):
            yield from self._samples(task, item, model, condition)

    def question(self, task: Task, item: Item, model: str, condition: str, sample: int) -> Question | None:
        """One question of the plan; None if the plan has none like it."""
        chosen = next((each for each in task.conditions.get(model, ()) if each.name == condition), None)
        if chosen is None:
            return None
        if not 0 <= sample < self.study.decoding.samples:
            return None
        return self._sample(task, item, model, chosen, sample)

    def _samples(self, task: Task, item: Item, model: str, condition: Condition) -> Iterator[Question]:
        if task.option_order == "as_given":
            prompt = self._prompt(task, item, model, condition, None)
            for sample in range(self.study.decoding.samples):
                yield prompt.question(self, sample)
            return
        for sample in range(self.study.decoding.samples):
            yield self._sample(task, item, model, condition, sample)

    def _sample(self, task: Task, item: Item, model: str, condition: Condition, sample: int) -> Question:
        if task.option_order == "as_given":
            return self._prompt(task, item, model, condition, None).question(self, sample)
        order = self._order(task, item, sample)
        return self._prompt(task, arranged(item, order), model, condition, order).question(self, sample)

    def _order(self, task: Task, item: Item, sample: int) -> Arrangement:
        count, seed = len(cast("list[str]", item.fields["options"])), self.study.study.seed
        return arrangement(task.option_order, seed=seed, task=task.name, item=item.id, sample=sample, count=count)

    def _prompt(
        self, task: Task, item: Item, model: str, condition: Condition, order: Arrangement | None
    ) -> "_Prompt":
        asked = messages(
            item,
            condition,
            task.contract,
            examples=task.examples.get(condition.name, ()),
            letters=self._letters(task, item, order) if condition.names_options else None,
        )
        grammar = task.grammar(item) if condition.constrained else None
        if isinstance(grammar, Unread):
            raise InputError(item.id, expected="a grammar from the contract", found=grammar.error)
        said = canonical(asked)
        shared, constraint = self._shared[model], {}
        if grammar is not None:
            constraint = self.study.models[model].provider.grammar_fields(grammar)
        to_seed, from_seed = shared.around_seed(said, constraint)
        names = canonical(item.id), self._names[model]
        start = b'%b%b,"model":%b,"request":' % (self._heads[condition.name], *names)
        end = b',"sample":', b',"task":%b}' % self._names[task.name]
        request = Request(shared.without_seed(asked, constraint), grammar=grammar)
        around_seed, said_sha256 = (to_seed, from_seed), sha256(said).hexdigest()
        return _Prompt(
            task, item, model, condition.name, order, request, said_sha256, start, around_seed, end, shared.seeded
        )

    def _letters(self, task: Task, item: Item, order: Arrangement | None) -> dict[str, str]:
        """What the names of options stand for in a preamble; the wrong one is one option, wherever it is shown."""
        right, count = str(item.fields["answer"]), len(cast("list[str]", item.fields["options"]))
        own_right = right if order is None else own_letter(right, order)
        wrong = wrong_letter(own_right, count, seed=self.study.study.seed, task=task.name, item=item.id)
        return {RIGHT_OPTION: right, WRONG_OPTION: wrong if order is None else shown_letter(wrong, order)}

    def response(self, question: Question, completion: Completion) -> Response:
        """The record of an answer."""
        return response_record(self.study.study.name, question, completion)

    def failure(self, question: Question, failure: Failure) -> Failed:
        """The record of a question that nobody answered."""
        return failure_record(self.study.study.name, question, failure)


class _Prompt(NamedTuple):
    """What the samples of a question have in common."""

    task: Task
    item: Item
    model: str
    condition: str
    order: Arrangement | None
    request: Request
    prompt_sha256: str
    start: bytes
    """Of the object whose digest is the key: all before the request."""
    around_seed: tuple[bytes, bytes]
    """The request, up to its seed and from there on."""
    end: tuple[bytes, bytes]
    """All after the request, up to the number of the sample and from there on."""
    seeded: bool
    """Whether a seed is sent."""

    def question(self, plan: Plan, sample: int) -> Question:
        """One sample."""
        to_seed, from_seed = self.around_seed
        body, sent = self.request.body, to_seed + from_seed
        if self.seeded:
            seed = seed_of(plan.study.study.seed, self.task.name, self.item.id, sample)
            body, sent = {**body, "seed": seed}, b"%b%d%b" % (to_seed, seed, from_seed)
        key = sha256(b"%b%b%b%d%b" % (self.start, sent, self.end[0], sample, self.end[1])).hexdigest()
        request = Request(body, sample, self.request.grammar, encoded=sent)
        return Question(
            key,
            self.task,
            self.item,
            self.model,
            self.condition,
            sample,
            self.prompt_sha256,
            request,
            self.order,
        )
