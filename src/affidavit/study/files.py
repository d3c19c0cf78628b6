"""Everything that a study file names: contracts, items, worked examples, weights. All is checked on reading."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from hashlib import sha256
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from affidavit.contracts.contract import AnyContract, Unread
from affidavit.contracts.given_parameters import with_files
from affidavit.contracts.own_file import GivenContracts, OwnFile, is_in_file, read_own_file
from affidavit.contracts.parts import parts_of
from affidavit.contracts.registry import is_known, parts_named, task_contract_named
from affidavit.contracts.rubric import DEFAULT, Rubric
from affidavit.contracts.rubric_file import parse_rubric
from affidavit.errors import InputError, Mistakes, UsageError, did_you_mean
from affidavit.items.hands import generated_hands
from affidavit.items.hub import PREFIX, HubSource, hub_rows, hub_source
from affidavit.items.item import Item, items_of
from affidavit.items.item_files import item_rows
from affidavit.json_values import Fields, canonical
from affidavit.models.endpoint import refuse_address
from affidavit.models.model import Model
from affidavit.models.registry import check_environment, open_model, refuse_unknown_weights, weights_of
from affidavit.models.token_estimate import estimated_tokens, fewest_tokens
from affidavit.reading.source import file_source
from affidavit.study.check import check_study, parse_study
from affidavit.study.crossing import example_files
from affidavit.study.examples import Spoilers, read_examples
from affidavit.study.plan import Examples, Plan
from affidavit.study.prompt import Example, instruction_fault, problem_fault
from affidavit.study.study_file import Generate, Study, TaskTable, decode_study
from affidavit.study.task import Task

ItemSource = Path | HubSource | Generate

_DOWNLOAD = "Download it, and give the path of the file."
MOST_ITEMS = 2**53
"""More than any file holds, and a number that every reader of JSON has: larger limits say no more."""


@dataclass(frozen=True)
class StudyFiles:
    """A study, and what the files hold that it names."""

    study: Study
    file: Path
    """The study file; its paths are meant from where it is."""
    contracts: Mapping[str, AnyContract]
    own_files: Mapping[str, OwnFile]
    """The file of each task's contract that is code of the study's author."""
    items: Mapping[str, ItemSource]
    examples: Examples = field(default_factory=dict)
    weights: Mapping[str, Path] = field(default_factory=dict)
    """The file of each model that runs here."""
    rubric: Rubric = DEFAULT
    """What judges score by."""
    trial: int | None = None
    """Of a trial: the first so many items of each task are all that is asked about."""

    @property
    def beside(self) -> Path:
        """The directory of the study file."""
        return self.file.parent

    def model(self, name: str) -> Model:
        """A model of the study, ready to be asked."""
        return open_model(name, self.study.models[name], self.study.limits, beside=self.beside)

    @property
    def own_code(self) -> Path | None:
        """The study file, if a contract that it names is code of the study's author; else None."""
        return self.file if self.own_files else None

    @property
    def given_contracts(self) -> GivenContracts:
        """The code that the user has named by naming the study file."""
        return GivenContracts(file.place for file in self.own_files.values())

    def check_models(self, names: Iterable[str]) -> None:
        """Refuse names that no model of the study has."""
        for name in names:
            if name not in self.study.models:
                hint = did_you_mean(name, self.study.models)
                raise UsageError("--model", expected=", ".join(self.study.models), found=repr(name), hint=hint)

    def limited(self, most: int) -> "StudyFiles":
        """The same study about the first so many items of each task, or of its sample."""
        most = min(most, MOST_ITEMS)
        tasks = {
            name: msgspec.structs.replace(
                task,
                limit=most if task.sample is None and (task.limit is None or most < task.limit) else task.limit,
                sample=task.sample if task.sample is None else min(most, task.sample),
            )
            for name, task in self.study.tasks.items()
        }
        return replace(self, study=msgspec.structs.replace(self.study, tasks=tasks), trial=most)

    def plan(self, counts: Mapping[str, int]) -> Plan:
        """The plan over so many items of each task."""
        return Plan(self.study, self.contracts, counts, self.examples)


def load(path: Path, *, with_weights: bool = True) -> StudyFiles:
    """The study of a file, with everything that it names, meant from where the file is.

    All mistakes that can be found without asking anybody are told at once. Without weights, as for a listing,
    those of a known model need not be at hand, and nothing needs to be in the environment.
    """
    study = decode_study(_text(path), where=str(path))
    named = _NamedFiles(study, path)
    named.read(with_weights=with_weights)
    if named.mistakes and with_weights:
        # By itself, this is told by the run, which knows who has anything left to answer.
        with named.mistakes.gathered():
            check_environment(study.models)
    named.mistakes.refuse()
    files = StudyFiles(
        study,
        path,
        named.contracts,
        named.own_files,
        named.items,
        named.examples,
        named.weights,
        named.rubric,
    )
    _refuse_overflow(files)
    return files


class _NamedFiles:
    """What a study names, as far as it can be read, and every mistake in it that does not follow from another."""

    def __init__(self, study: Study, path: Path) -> None:
        self._study = study
        self._path = path
        self.mistakes = Mistakes()
        self.own_files: dict[str, OwnFile] = {}
        self.contracts: dict[str, AnyContract] = {}
        self.items: dict[str, ItemSource] = {}
        self.examples: dict[tuple[str, str], tuple[Example, ...]] = {}
        self.weights: dict[str, Path] = {}
        self.rubric = DEFAULT

    def read(self, *, with_weights: bool) -> None:
        """Read all of it."""
        study, mistakes, beside = self._study, self.mistakes, self._path.parent
        with mistakes.gathered():
            check_study(study, where=str(self._path))
        crossed = not mistakes
        for name, task in study.tasks.items():
            with mistakes.gathered():
                self._read_contract(name, task)
            with mistakes.gathered():
                self.items[name] = _item_source(task, self._path, name)
        # Which examples are given to whom is known where the tables fit together.
        for (name, condition), file in example_files(study).items() if crossed else ():
            if name in self.contracts:
                with mistakes.gathered():
                    shots = _Shots(study, self._path, name, condition)
                    self.examples[name, condition] = shots.examples(file, self.contracts[name])
        with mistakes.gathered():
            if with_weights:
                self.weights = weights_of(study.models, beside=beside, where=str(self._path))
            else:
                refuse_unknown_weights(study.models, where=str(self._path))
        if study.judging is not None:
            with mistakes.gathered():
                self.rubric = read_rubric(study.judging.rubric, beside)

    def _read_contract(self, name: str, task: TaskTable) -> None:
        if is_in_file(task.contract):
            self.own_files[name] = read_own_file(str(self._path.parent / task.contract))
            self.contracts[name] = self.own_files[name].contract
        elif is_known(task.contract):  # else that is told already
            place = f"{self._path}: tasks.{name}"
            try:
                given = with_files(parts_named(task.contract), task.parameters, beside=self._path.parent)
                self.contracts[name] = task_contract_named(task.contract, task.options, given)
            except (InputError, UsageError) as error:  # about options or parameters, as the contract is known
                where = f"{place}.{error.where}"
                raise InputError(where, expected=error.expected, found=error.found, hint=error.hint) from error


def _refuse_overflow(files: StudyFiles) -> None:
    """Refuse prompts that fill the context of a model before any item is in them, as long examples do."""
    plan = files.plan(dict.fromkeys(files.contracts, 0))
    prompts = {(task, condition): said for task, condition, said in plan.templates()}
    for cell in plan.cells:
        context = files.study.models[cell.model].provider.known_context
        said = prompts[cell.task, cell.condition]
        if context is not None and fewest_tokens(said) > context:
            raise InputError(
                f"{files.file}: conditions.{cell.condition}",
                expected=f"a prompt of {cell.task} that fits in the {context:,} tokens of models.{cell.model}",
                found=f"about {estimated_tokens(said):,} tokens, without any item",
                hint=f"Give fewer or shorter examples, or context = N in [models.{cell.model}].",
            )


def _text(path: Path) -> str:
    if path.is_dir():
        hint = _study_near(path) or "A study is a TOML file; `affidavit init` writes one."
        raise InputError(str(path), expected="a study file", found="a directory", hint=hint)
    if not path.exists():
        hint = _study_near(path) or "`affidavit init` writes a study to start from."
        raise InputError(str(path), expected="a study file", found="nothing at this place", hint=hint)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), expected="a study file in UTF-8", found=str(error)) from error


def _study_near(path: Path) -> str:
    """A hint at the study file in a directory, or beside it with its name; empty if there is none."""
    near = (path / "study.toml", path.parent / f"{path.name}.toml")
    return next((f"Did you mean {each}?" for each in near if each.is_file()), "")


def read_rubric(name: str, beside: Path) -> Rubric:
    """The rubric of this name: our own, or that of a file."""
    if name == DEFAULT.name:
        return DEFAULT
    refuse_address(name, "judging.rubric", expected="a file with a rubric", hint=_DOWNLOAD)
    file = beside / name
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        hint = f'Or rubric = "{DEFAULT.name}".'
        raise InputError(str(file), expected="a rubric in UTF-8", found=str(error), hint=hint) from error
    return parse_rubric(text, where=str(file))


def own_places(study: Study, beside: Path) -> dict[str, str]:
    """Where the contracts of the author's own are, by task; they are meant from where the study file is."""
    tasks = study.tasks.items()
    return {name: str(beside / task.contract) for name, task in tasks if is_in_file(task.contract)}


def given_contracts(places: Iterable[str], study_file: Path | None) -> GivenContracts:
    """The contracts that a command line names: each by itself, or by the study file that names them."""
    named: list[str] = []
    if study_file is not None:
        named += own_places(parse_study(_text(study_file), where=str(study_file)), study_file.parent).values()
    return GivenContracts([*places, *named])


def _item_source(task: TaskTable, study: Path, name: str) -> ItemSource:
    if isinstance(task.items, Generate):
        return task.items
    if task.items.startswith(PREFIX):
        return hub_source(task.items)
    file, where = study.parent / task.items, f"{study}: tasks.{name}.items"
    refuse_address(task.items, where, expected="a file of items", hint=f"{_DOWNLOAD} Or {PREFIX}NAME of the Hub.")
    if not file.is_file():
        found = f"a directory: {str(file)!r}" if file.is_dir() else f"no file {str(file)!r}"
        raise InputError(where, expected="a file of items", found=found, hint=_nearest_file(file, task.items))
    return file


def _nearest_file(file: Path, named: str) -> str:
    """A hint at a file beside the one that is not there, of a like name; empty if there is none.

    One of the same ending is meant before all others: beside `sums.jsonl` there is often its study, `sums.toml`.
    """
    beside = [each for each in sorted(file.parent.iterdir()) if each.is_file()] if file.parent.is_dir() else []
    for those in ([each for each in beside if each.suffix == file.suffix], beside):
        by_stem = {each.stem: each.name for each in those}
        if nearest := get_close_matches(file.stem, by_stem, 1):
            return f"Did you mean {Path(named).with_name(by_stem[nearest[0]])}?"
    return ""


class _Shots(NamedTuple):
    """The worked examples of a task under a condition: all of a file, or as many of it as are drawn."""

    study: Study
    file: Path
    task: str
    condition: str

    def examples(self, name: str, contract: AnyContract) -> tuple[Example, ...]:
        """Those of the file, or split, of this name."""
        shots = self.study.conditions[self.condition].shots
        rows = self._rows(name, contract)
        if shots is not None:
            self._refuse_items(name)
            rows = iter(drawn_shots(rows, shots, seed=self.study.study.seed, task=self.task))
        found = tuple(read_examples(rows, contract))
        if len(found) < (shots or 1):
            expected = (
                "at least one worked example" if shots is None else f"at least {shots} rows to draw shots from"
            )
            raise InputError(str(self._place(name)), expected=expected, found=f"{len(found)}" if found else "none")
        return found

    def _place(self, name: str) -> Path | HubSource:
        return hub_source(name) if name.startswith(PREFIX) else self.file.parent / name

    def _rows(self, name: str, contract: AnyContract) -> Iterator[tuple[str, Fields]]:
        place = self._place(name)
        if isinstance(place, HubSource):
            return hub_rows(_from_here(place, self.file.parent))
        where = f"{self.file}: conditions.{self.condition}.examples"
        refuse_address(name, where, expected="a file of worked examples", hint=_DOWNLOAD)
        if not place.is_file():
            raise InputError(str(place), expected="a file of worked examples", found="no such file")
        return item_rows(file_source(place), as_they_are=parts_of(contract).takes_any_row)

    def _refuse_items(self, name: str) -> None:
        """Refuse to draw shots from the items themselves: a model would be shown what it is asked."""
        items, place = self.study.tasks[self.task].items, self._place(name)
        if not isinstance(items, str):
            return
        of_items = self._place(items)
        same = of_items == place
        if isinstance(of_items, Path) and isinstance(place, Path) and of_items.exists() and place.exists():
            same = of_items.samefile(place)
        if same:
            raise InputError(
                f"{self.file}: conditions.{self.condition}.examples",
                expected=f"another file or split than the items of {self.task} to draw shots from",
                found=repr(name),
                hint="A model would be shown what it is asked. Most data sets have a split for it: train, or dev.",
            )


def drawn_shots(
    rows: Iterable[tuple[str, Fields]], count: int, *, seed: int, task: str
) -> list[tuple[str, Fields]]:
    """So many rows, in their order: those whose SHA-256 of seed, task and id is the least.

    It is the same draw for every model and condition, and more shots hold fewer ones.

    >>> rows = [(f"f:{number}", {"id": name}) for number, name in enumerate("abcdef", 1)]
    >>> [row["id"] for _, row in drawn_shots(rows, 2, seed=7, task="t")]
    ['c', 'f']
    """
    ranked = (
        (sha256(canonical([seed, "shots", task, str(row.get("id", number))])).digest(), number, where, row)
        for number, (where, row) in enumerate(rows, 1)
    )
    chosen = nsmallest(count, ranked, key=lambda each: each[:2])
    return [(where, row) for _, _, where, row in sorted(chosen, key=lambda each: each[1])]


# --- items ---


def items_for(files: StudyFiles, task: Task) -> Iterator[Item]:
    """The items of a task that are asked about: all of them, the first, or a sample."""
    table, items = files.study.tasks[task.name], _checked_items(files, task)
    if table.sample is not None:
        return iter(sampled_items(items, table.sample, seed=files.study.study.seed, task=task.name))
    return items if table.limit is None else islice(items, min(table.limit, MOST_ITEMS))


def sampled_items(items: Iterable[Item], count: int, *, seed: int, task: str) -> list[Item]:
    """So many of the items, in their order: those whose SHA-256 of seed, task and id is the least.

    A larger sample holds a smaller one of the same seed, whatever is added behind the items.

    >>> items = [Item(name, {}) for name in "abcdef"]
    >>> [item.id for item in sampled_items(items, 2, seed=7, task="t")]
    ['a', 'e']
    """
    ranked = (
        (sha256(canonical([seed, task, item.id])).digest(), number, item) for number, item in enumerate(items)
    )
    chosen = nsmallest(count, ranked, key=lambda each: each[:2])
    return [item for _, _, item in sorted(chosen, key=lambda each: each[1])]


def _checked_items(files: StudyFiles, task: Task) -> Iterator[Item]:
    """Every item, checked against its contract and against all that will be asked about it."""
    source = files.items[task.name]
    conditions = tuple(dict.fromkeys(each for many in task.conditions.values() for each in many))
    spoilers = Spoilers(task.contract, conditions, [each for many in task.examples.values() for each in many])
    naming = next((each.name for each in conditions if each.names_options), None)
    held = next((each.name for each in conditions if each.constrained), None)
    rows = _source_rows(files, source, task.contract)
    for where, item in items_of(rows, task.contract):
        spoilers.check(item, where=where)
        if naming is not None and item.fields.get("answer") is None:
            expected = f"an answer: the condition {naming} names the right or a wrong option"
            raise InputError(where, expected=expected, found="none")
        if (odd := problem_fault(item, task.contract)) is not None:
            raise InputError(where, expected=odd.expected, found=odd.found, hint=odd.hint)
        if (fault := instruction_fault(item, task.contract)) is not None:
            raise InputError(where, expected="an instruction from the contract", found=fault)
        if held is not None and not isinstance(grammar := task.grammar(item), str):
            expected = f"a grammar from the contract: the condition {held} constrains decoding"
            if isinstance(grammar, Unread):
                raise InputError(where, expected=expected, found=grammar.error)
            raise _no_grammar(files, task, held, where=where)
        yield item


def _no_grammar(files: StudyFiles, task: Task, held: str, *, where: str) -> InputError:
    """The refusal of a contract without a grammar: at its parameters where they are why, else at the item."""
    why, mended = parts_of(task.contract).why_no_grammar(), _without_grammar(files, task.name, held)
    if not why:
        expected = f"a grammar from the contract: the condition {held} constrains decoding"
        hint = f"This contract has no grammar, as no pattern has: {mended}."
        return InputError(where, expected=expected, found="none", hint=hint)
    place = f"{files.file}: tasks.{task.name}.parameters"
    expected = f"parameters with a grammar: the condition {held} constrains decoding"
    hint = f"docs/json.md says what a grammar keeps. Change the schema, or {mended}."
    return InputError(place, expected=expected, found=why, hint=hint)


def _without_grammar(files: StudyFiles, task: str, held: str) -> str:
    """What to do about a task that has no grammar."""
    named = files.study.tasks[task].conditions
    free = [
        name
        for name, table in files.study.conditions.items()
        if not table.constrained and (not named or name in named)
    ]
    listed = ", ".join(f'"{name}"' for name in free)
    return (
        f"write conditions = [{listed}] in [tasks.{task}]"
        if free
        else f"take constrained = true out of [conditions.{held}]"
    )


def _from_here(source: HubSource, beside: Path) -> HubSource:
    """A source whose directory, if it is one, is meant from where the study file is."""
    directory = source.directory
    return source if directory is None else replace(source, name=str((beside / directory).resolve()))


def _source_rows(files: StudyFiles, source: ItemSource, contract: AnyContract) -> Iterator[tuple[str, Fields]]:
    if isinstance(source, Generate):
        return generated_hands(source.generate, files.study.study.seed)
    if isinstance(source, HubSource):
        return hub_rows(_from_here(source, files.beside))
    return item_rows(file_source(source), as_they_are=parts_of(contract).takes_any_row)
