"""Everything that a study file names: contracts, items, worked examples, weights. All is checked on reading."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from affidavit.archive.disk import told
from affidavit.contracts.contract import AnyContract, Unread
from affidavit.contracts.rubric import DEFAULT, Rubric
from affidavit.contracts.rubric_file import parse_rubric
from affidavit.errors import InputError
from affidavit.items.formats import generated_hands, rows_of
from affidavit.items.hub import PREFIX, HubSource, hub_rows, hub_source
from affidavit.items.item import Item, is_own, items_of, read_items
from affidavit.json_values import Fields
from affidavit.models.model import Model
from affidavit.models.registry import chosen
from affidavit.models.settings import ModelTable
from affidavit.models.weights import describe, find
from affidavit.reading.json_lines import Source, open_source
from affidavit.study.check import parse_study
from affidavit.study.examples import Spoilers, read_examples
from affidavit.study.plan import Examples, Plan
from affidavit.study.prompt import Example, instruction_fault
from affidavit.study.study_file import Generate, Study, TaskTable, example_files
from affidavit.study.task import Task

ItemSource = Path | HubSource | Generate
FindContract = Callable[[str, str], AnyContract]
"""A contract by its name and option set."""


@dataclass(frozen=True)
class StudyFiles:
    """A study, and what the files hold that it names."""

    study: Study
    beside: Path
    """The directory of the study file, from which its paths are meant."""
    contracts: Mapping[str, AnyContract]
    items: Mapping[str, ItemSource]
    examples: Examples = field(default_factory=dict)
    weights: Mapping[str, Path] = field(default_factory=dict)
    """The file of each model that runs here."""
    rubric: Rubric = DEFAULT
    """What judges score by."""

    def model(self, name: str) -> Model:
        """A model of the study, ready to be asked."""
        table, limits = self.study.models[name], self.study.limits
        return chosen(name, table, limits, beside=self.beside, weights=self.weights.get(name))

    def plan(self, counts: Mapping[str, int]) -> Plan:
        """The plan over so many items of each task."""
        return Plan(self.study, self.contracts, counts, self.examples)


def load(path: Path, contract: FindContract, *, with_weights: bool = True) -> StudyFiles:
    """The study of a file, with everything that it names, meant from where the file is."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), expected="a study file in UTF-8", found=str(error)) from error
    study = parse_study(text, where=str(path))
    contracts = {name: task_contract(task, path.parent, contract) for name, task in study.tasks.items()}
    return StudyFiles(
        study,
        path.parent,
        contracts,
        {name: _item_source(task, path, name) for name, task in study.tasks.items()},
        {
            (task, condition): _read_examples(path.parent / file, contracts[task])
            for (task, condition), file in example_files(study).items()
        },
        model_weights(study.models, path.parent) if with_weights else {},
        DEFAULT if study.judging is None else read_rubric(study.judging.rubric, path.parent),
    )


def read_rubric(name: str, beside: Path) -> Rubric:
    """The rubric of this name: our own, or that of a file."""
    if name == DEFAULT.name:
        return DEFAULT
    file = beside / name
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = f'Or rubric = "{DEFAULT.name}".'
        raise InputError(str(file), expected="a rubric in UTF-8", found=str(error), hint=hint) from error
    return parse_rubric(text, where=str(file))


def task_contract(task: TaskTable, beside: Path, contract: FindContract) -> AnyContract:
    """The contract of a task; one of the user's own is meant from where the study file is."""
    name = str(beside / task.contract) if ":" in task.contract else task.contract
    return contract(name, task.options)


def _item_source(task: TaskTable, study: Path, name: str) -> ItemSource:
    if isinstance(task.items, Generate):
        return task.items
    if task.items.startswith(PREFIX):
        return hub_source(task.items)
    file = study.parent / task.items
    if not file.is_file():
        where = f"{study}: tasks.{name}.items"
        raise InputError(where, expected="a file of items", found=f"no file {str(file)!r}")
    return file


def _read_examples(file: Path, contract: AnyContract) -> tuple[Example, ...]:
    if not file.is_file():
        raise InputError(str(file), expected="a file of worked examples", found="no such file")
    found = tuple(read_examples(_rows(file), contract))
    if not found:
        raise InputError(str(file), expected="at least one worked example", found="none")
    return found


def model_weights(models: Mapping[str, ModelTable], beside: Path) -> dict[str, Path]:
    """The file of each model that runs here."""
    named = {name: find(table.embedded) for name, table in models.items() if table.embedded}
    found = named | {name: beside / table.gguf for name, table in models.items() if table.gguf}
    for path in found.values():
        describe(path)  # whatever is no GGUF is told before its digest is frozen
    return found


# --- items ---


def items_for(files: StudyFiles, task: Task) -> Iterator[Item]:
    """The items of a task, each checked against its contract and against all that will be asked about it."""
    source = files.items[task.name]
    conditions = tuple(dict.fromkeys(each for many in task.conditions.values() for each in many))
    spoilers = Spoilers(task.contract, conditions, [each for many in task.examples.values() for each in many])
    naming = next((each.name for each in conditions if each.names_options), None)
    held = next((each.name for each in conditions if each.constrained), None)
    rows = _source_rows(files, source)
    for where, item in items_of(rows, task.contract):
        spoilers.check(item, where=where)
        if naming is not None and item.fields.get("answer") is None:
            expected = f"an answer: the condition {naming} names the right or a wrong option"
            raise InputError(where, expected=expected, found="none")
        if (fault := instruction_fault(item, task.contract)) is not None:
            raise InputError(where, expected="an instruction from the contract", found=fault)
        if held is not None and not isinstance(grammar := task.grammar(item), str):
            expected = f"a grammar from the contract: the condition {held} holds the output to it"
            found = grammar.error if isinstance(grammar, Unread) else "none"
            raise InputError(where, expected=expected, found=found)
        yield item


def _source_rows(files: StudyFiles, source: ItemSource) -> Iterator[tuple[str, Fields]]:
    if isinstance(source, Generate):
        return generated_hands(source.generate, files.study.study.seed)
    if isinstance(source, HubSource):
        directory = source.directory
        here = source if directory is None else replace(source, name=str((files.beside / directory).resolve()))
        return hub_rows(here)
    return _rows(source)


def _rows(source: Path) -> Iterator[tuple[str, Fields]]:
    """Place and fields of the rows of a file of any known format. Our own format is read line by line."""
    first = next(_lines(source), None) if _may_be_lines(source) else None
    if first is not None and is_own(first[1]):
        return read_items(_lines(source))
    with told(str(source)):
        content = source.read_bytes()
    return rows_of(str(source), content)


def _may_be_lines(path: Path) -> bool:
    with open_source(path) as stream:
        return stream.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    source = Source(str(path), lambda: open_source(path))
    return (line for batch in source.batches() for line in batch.lines())
