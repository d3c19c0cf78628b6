"""What a study says of its outputs, made once more: records from raw texts and plan, summaries from records."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple, TypeAlias

from affidavit.archive.corruption import ODD_VALUES, corrupt, in_words
from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import (
    ITEMS,
    JUDGING,
    MANIFEST,
    SEAL,
)
from affidavit.archive.record import (
    Failed,
    ImportIdentity,
    Judgement,
    JudgementIdentity,
    Label,
    Placed,
    QuestionIdentity,
    Record,
    Response,
    content_digest_of,
    encode,
    record_fields,
)
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.seal import Root, Seal
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import (
    FrozenStudy,
    ImportedStudy,
    NotArrived,
    StudyDirectory,
)
from affidavit.contracts.own_file import GivenContracts
from affidavit.items.item import Item
from affidavit.json_values import shown
from affidavit.judging.directory import read_judging
from affidavit.judging.label_draws import LabelDraw
from affidavit.judging.outputs import MissingOutputs, imported_task, output_of, transcript
from affidavit.judging.plan import Output
from affidavit.judging.terms import FrozenJudging, aliases_of
from affidavit.models.model import Reason
from affidavit.models.recorded import completion_of
from affidavit.reading.imported_records import ImportFacts, RecordMaker, record_makers
from affidavit.running.evaluation_trees import ExpectedTrees
from affidavit.running.label_checks import LabelChecks
from affidavit.running.ledger import StudyLedger
from affidavit.running.study_outputs import NOT_ASKED
from affidavit.study.answer_records import identity
from affidavit.study.plan import Plan


def _items_of(directory: StudyDirectory, plan: Plan) -> dict[tuple[str, str], Item]:
    """The items, as many of each task as were planned; refused if one is there twice, or of no task."""
    listed = [(task, Item(name, fields)) for task, name, fields in directory.items(to_the_byte=True)]
    items = {(task, item.id): item for task, item in listed}
    found, expected = Counter(task for task, _ in items), {name: task.count for name, task in plan.tasks.items()}
    if found != Counter(expected) or len(items) < len(listed):
        counts = ", ".join(f"{count:,} of {task}" for task, count in sorted(expected.items()))
        said = ", ".join(f"{count:,} of {shown(task)}" for task, count in sorted(found.items()))
        where = str(directory.path / ITEMS)
        raise corrupt(where, f"items of different names, {counts}", f"{said}, on {len(listed):,} lines")
    return items


class Derived(NamedTuple):
    """What was found of a line by whoever derived its record again."""

    form: str | None = None
    """What is wrong with how it is written."""
    said: str | None = None
    """What its record says that does not follow from the raw text and the plan."""


def other_form(content: bytes, placed: Placed) -> str | None:
    """What is wrong with a line that says its record in another way than it is written."""
    if encode(placed.record, seq=placed.seq, group=placed.group) == content:
        return None
    return "the line has a name twice, or says its record in another form than it is written"


class Rederivation:
    """Plans and reads once more what the study planned and read; the records are shown to it in their order."""

    def __init__(
        self,
        directory: StudyDirectory,
        study: FrozenStudy,
        plan: Plan | None,
        given: GivenContracts | None = None,
    ) -> None:
        """`given` are the contracts of users' own that may be run for outputs from elsewhere."""
        self._directory = directory
        self._study = study
        self._plan = plan
        judging = read_judging(directory)
        self._ledger = StudyLedger.of(study, plan, judging)
        judging_plan = self._ledger.judging_plan
        self._trees = None if judging_plan is None else ExpectedTrees(directory, judging_plan)
        self._items: dict[tuple[str, str], Item] = {}
        if plan is not None:
            self._items = _items_of(directory, plan)
        self._judging = judging
        self._labels = LabelChecks(directory, study, judging)
        self._judged = frozenset(() if judging is None else judging.terms.outputs)
        self._import: ImportFacts | None = None
        self._makers: dict[str, RecordMaker] = {}
        self._missing = MissingOutputs()
        if isinstance(study, ImportedStudy):
            self._import = ImportFacts(study.name)
            self._makers = record_makers(study, given or GivenContracts())
        self._outputs: dict[str, Output] = {}
        self._judged_tasks: set[str] = set()
        self._answered: set[str] = set()
        self.root = Root()

    def other_summary(self, seal: Seal) -> tuple[str, str] | None:
        """The first of the files beside the records that is not what they make it, and what is wrong with it."""
        path = self._directory.path
        if self._import is not None and not self._import.config().items() <= self._study.config.items():
            return self._study.where, "it describes other outputs than the records are"
        if (said := self._other_judging()) is not None:
            return str(path / JUDGING), said
        if seal.counts != self._ledger.counts():
            return str(path / SEAL), "its counts are not those of the records"
        if not self._has_its_manifest(path / MANIFEST):
            return str(path / MANIFEST), "it is not the list of the prompts in the records"
        if (other := self._other_tree()) is not None:
            return other, "it is not the file that the records make; `affidavit judge` makes it anew"
        return None

    def other_draw(self) -> tuple[str, str] | None:
        """The first draw for people to label that does not follow, and what is wrong with it."""
        return self._labels.other_draw()

    @property
    def draws(self) -> tuple[LabelDraw, ...]:
        """What was drawn for people to label."""
        return self._labels.draws

    @property
    def has_trees(self) -> bool:
        """Whether there are trees to compare."""
        return self._trees is not None

    def _has_its_manifest(self, path: Path) -> bool:
        with storage_errors(str(path)):
            if not path.exists():
                return False
            manifest = self._ledger.manifest().encode()
            with open_to_read(path) as stream:
                return stream.read(len(manifest) + 1) == manifest

    def _other_judging(self) -> str | None:
        """What the terms of a judging say of the outputs that does not follow from them."""
        if self._judging is None:
            return None
        terms, outputs = self._judging.terms, self._outputs
        if outputs.keys() != self._judged:
            return "it names outputs that no record holds"
        if (said := self._other_tasks(self._judging)) is not None:
            return said
        targets = Counter(output.target_model for output in outputs.values())
        if dict(targets) != self._judging.targets:
            return "its targets are not those of its outputs"
        if terms.aliases is not None and terms.aliases != aliases_of(targets, terms.outputs):
            return "its aliases are not those of its targets"
        missing = self._judging.not_arrived
        if isinstance(self._study, ImportedStudy):
            same = Counter(missing) == Counter(self._missing.listed())
            return None if same else "it lists other outputs as missing than those that are"
        if Counter(map(_names, missing)) != self._not_judged():
            return "it lists other outputs as missing than those that are"
        odd = {each.why for each in missing} - _REASONS - {NOT_ASKED}
        return f"it says of a missing output that it is {shown(min(odd))}" if odd else None

    def _other_tasks(self, judging: FrozenJudging) -> str | None:
        """What is wrong with the tasks that are said to be judged."""
        planned = set(self._study.config["tasks"] if self._plan is None else self._plan.tasks)
        if len(set(judging.tasks)) < len(judging.tasks) or not set(judging.tasks) <= planned:
            return "its tasks are not those of the study, each once"
        return (
            None if self._judged_tasks <= set(judging.tasks) else "outputs of other tasks than its own are judged"
        )

    def _not_judged(self) -> "Counter[_Names]":
        """The names of what was planned in the judged tasks, less what is judged."""
        judging = self._judging
        if judging is None or self._plan is None:
            return Counter()
        planned: Counter[_Names] = Counter()
        for (name, _), item in self._items.items():
            if name in judging.tasks:
                task = self._plan.tasks[name]
                for model in task.conditions:
                    target = self._study.identities[model]
                    for question in self._plan.questions(task, item, model):
                        if question.key not in self._judged:
                            planned[item.id, question.condition, target, question.sample] += 1
        return planned

    def _other_tree(self) -> str | None:
        if self._trees is None or self._ledger.judging is None:
            return None
        return self._trees.first_difference(self._ledger.judging.tallies.values())

    def derived(self, content: bytes, placed: Placed) -> Derived:
        """What can be said of a line whatever stands on all others, for whoever looks at them in their order."""
        if (form := other_form(content, placed)) is not None:
            return Derived(form)
        record = placed.record
        if isinstance(record, Label) or not self._stands_alone(record):
            return Derived()
        return Derived(None, self._said(record, content_digest_of(content, placed)))

    def _stands_alone(self, record: Response | Judgement | Failed) -> bool:
        """Whether nothing else is derived with it: it is no judgement, and not what one is about."""
        return not isinstance(record, Judgement) and record.key not in self._judged

    def difference(self, line: Line, derived: Derived | None = None) -> str | None:
        """What a line says that does not follow; None if all of it does.

        `derived` is what was found of it before, if anybody looked.
        """
        if (form := other_form(line.content, line.placed) if derived is None else derived.form) is not None:
            return form
        record, content = line.record, content_digest_of(line.content, line.placed)
        self._labels.see(record)
        if isinstance(record, Label):
            self.root.add_label(content)
            return self._labels.difference(record, is_known=record.labelled_key in self._answered)
        self.root.add(record.key, content)
        if record.key in self._answered:
            return "its question is answered already, by an earlier record"
        if not isinstance(record, Failed):
            self._answered.add(record.key)
        elif record.reason not in _REASONS:
            return f"reason is {record.reason!r}, which is none of the reasons that there are"
        if derived is None or not self._stands_alone(record):
            said = self._said(record, content)
        else:
            said = derived.said
            self._count_import(record, content)
        if said is not None:
            return said
        self._ledger.load(record)
        if isinstance(record, Judgement) and self._trees is not None:
            self._trees.add(record)
        return None

    def _said(self, record: Response | Judgement | Failed, content: bytes) -> str | None:
        try:
            expected = self._expected(record, content)
        except ODD_VALUES as error:
            return f"the plan cannot ask for it: {in_words(error)}"
        return expected if isinstance(expected, str) else _first_difference(expected, record)

    def _expected(self, record: Response | Judgement | Failed, content: bytes) -> Record | str:
        """The record as it must be; in words why there can be none like it."""
        subject = record.subject
        match subject:
            case JudgementIdentity():
                return self._expected_judgement(record, subject)
            case ImportIdentity() if not isinstance(record, Judgement):
                return self._expected_import(record, subject, content)
            case QuestionIdentity() if self._plan is not None:
                return self._expected_answer(self._plan, record, subject)
        return "it is no record of this study"

    def _expected_answer(
        self, plan: Plan, record: Response | Judgement | Failed, subject: QuestionIdentity
    ) -> Record | str:
        item = self._items.get((subject.task, subject.item_id))
        if item is None:
            return f"there is no item {subject.item_id!r} of the task {subject.task!r} in items.jsonl"
        task = plan.tasks.get(subject.task)
        if task is None:
            return f"there is no task {subject.task!r} in the plan"
        question = plan.question(task, item, subject.model, subject.condition, subject.sample)
        if question is None:
            return "the plan has no such question"
        if not isinstance(record, Response):
            return Failed(identity(plan.study.study.name, question), _reason(record))
        self._keep(record, transcript(question.request.messages))
        return plan.response(question, completion_of(record))

    def _expected_import(self, record: Response | Failed, subject: ImportIdentity, content: bytes) -> Record | str:
        maker = self._makers.get(subject.task)
        if maker is None:
            return f"there is no task {subject.task!r} in study.json"
        self._count_import(record, content)
        if isinstance(record, Response):
            self._keep(record, imported_task(subject))
        return maker.again(record, subject)

    def _count_import(self, record: Record, content: bytes) -> None:
        """An output from elsewhere, of a task that there is: what is said of all of them is made of each."""
        if self._import is None or isinstance(record, Judgement | Label):
            return
        subject = record.subject
        if not isinstance(subject, ImportIdentity) or subject.task not in self._makers:
            return
        self._import.add(record, content)
        if self._judging is not None and subject.task in self._judging.tasks:
            self._missing.add(record)

    def _keep(self, response: Response, words: str) -> None:
        """An output that may be judged by a later record."""
        who = self._study.identities.get(response.subject.model)
        if response.key in self._judged and who is not None:
            self._outputs[response.key] = output_of(response, identity=who, task=words)
            self._judged_tasks.add(response.subject.task)

    def _expected_judgement(
        self, record: Response | Judgement | Failed, subject: JudgementIdentity
    ) -> Record | str:
        plan, output = self._ledger.judging_plan, self._outputs.get(subject.judged_key)
        judge = None if plan is None else plan.judges.get(subject.judge)
        if plan is None or output is None or judge is None:
            return "judging.json knows no such judge or output"
        if subject.judging_condition not in judge.conditions or not 1 <= subject.repeat <= judge.repeats:
            return "judging.json plans no such judgement"
        judgement = plan.judgement(judge, output, subject.judging_condition, subject.repeat)
        if isinstance(record, Judgement):
            return plan.response(judgement, completion_of(record))
        return Failed(plan.identity(judgement), _reason(record))


_REASONS = frozenset(Reason)
_Names: TypeAlias = tuple[str, str, str, int]


def _names(missing: NotArrived) -> _Names:
    return missing.question_id, missing.prompt_variant, missing.target_model, missing.sample


def _reason(record: Record) -> str:
    return record.reason if isinstance(record, Failed) else ""


def _first_difference(expected: Record, record: Record) -> str | None:
    if expected == record:
        return None
    wanted, found = record_fields(expected), record_fields(record)
    for name in (*wanted, *found):
        if name not in wanted:
            return f"{name} is {found[name]!r}; the plan and the raw text give none"
        if found.get(name) != wanted[name]:
            return f"{name} is {found.get(name)!r}; the plan and the raw text give {wanted[name]!r}"
    return None
