"""Whether the tables of a study fit together; asked before anything else is done with it."""

import re
from collections.abc import Collection

from affidavit.contracts.parts import QUESTION
from affidavit.contracts.registry import parts_named
from affidavit.errors import InputError, did_you_mean
from affidavit.items.hands import SOLVABLE_HANDS
from affidavit.models.settings import check_positive
from affidavit.study.crossing import LeftOut, cells, example_files
from affidavit.study.prompt import RIGHT_OPTION, WRONG_OPTION
from affidavit.study.study_file import (
    ConditionTable,
    Decoding,
    Generate,
    JudgingTable,
    Study,
    TaskTable,
    decode_study,
)

MOST_SHOTS = 1000


def parse_study(text: str, *, where: str) -> Study:
    """The study that a TOML text describes."""
    study = decode_study(text, where=where)
    _StudyChecks(study, where).all()
    return study


class _StudyChecks:
    """The checks of one study; the first that fails is raised."""

    def __init__(self, study: Study, where: str) -> None:
        self._study = study
        self._where = where

    def _refuse(self, expected: str, found: str, hint: str = "") -> InputError:
        return InputError(self._where, expected=expected, found=found, hint=hint)

    def all(self) -> None:
        """Every check, from the outside to the inside."""
        study = self._study
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", study.study.name):
            expected = "a name of letters, digits, dots, hyphens and underscores in study.name"
            raise self._refuse(expected, repr(study.study.name))
        for name, many in (("models", study.models), ("tasks", study.tasks), ("conditions", study.conditions)):
            if not many:
                raise self._refuse(f"at least one [{name}.NAME]", "none")
            if not all(each.strip() for each in many):
                raise self._refuse(f"a name for every table of [{name}]", "an empty one")
        self._numbers()
        for name, condition in study.conditions.items():
            self._condition(name, condition)
        for name, task in study.tasks.items():
            self._task(name, task)
        self._examples()
        if study.judging is not None:
            self._judging(study.judging)

    def _numbers(self) -> None:
        """Every number is in its bounds."""
        if not -(2**63) <= (seed := self._study.study.seed) < 2**63:
            raise self._refuse("a study.seed of at most 64 bits", f"one of {seed.bit_length():,}")
        self._study.limits.check(where=self._where)
        decoding = self._study.decoding
        counts = {"decoding.max_tokens": decoding.max_tokens, "decoding.samples": decoding.samples}
        check_positive(counts, where=self._where)
        for name in Decoding.__struct_fields__:
            if (number := getattr(decoding, name)) is not None and not 0 <= number < 1e9:
                raise self._refuse(f"a finite decoding.{name} from 0", str(number))

    def _judging(self, table: JudgingTable) -> None:
        if not table.judges or not table.conditions:
            raise self._refuse("at least one judge and one condition in judging", "none")
        self._known("judging.judges", table.judges, self._study.models)
        self._known("judging.tasks", table.tasks, self._study.tasks)
        self._known("judging.conditions", table.conditions, ("free", "schema"))
        for judge in table.judges:
            if "schema" in table.conditions and not self._study.models[judge].provider.takes_schema:
                raise self._refuse("judges that take a JSON schema in judging.judges", repr(judge))
        for name in ("repeats", "max_tokens"):
            if not 0 < getattr(table, name) < 1e9:
                raise self._refuse(f"a positive, finite judging.{name}", str(getattr(table, name)))
        for name in ("temperature", "top_p"):
            if (chosen := getattr(table, name)) is not None and not 0 <= chosen < 1e9:
                raise self._refuse(f"a finite judging.{name} from 0", str(chosen))
        if not table.tasks and not any(
            parts_named(task.contract).open_ended for task in self._study.tasks.values()
        ):
            hint = "Outputs of other tasks are judged if judging.tasks names them."
            raise self._refuse('a task with contract = "text" for [judging]', "none", hint)

    # --- conditions ---

    def _condition(self, name: str, table: ConditionTable) -> None:
        place = f"conditions.{name}"
        if table.control:
            self._known(f"{place}.control", [table.control], self._study.conditions)
            if table.control == name:
                raise self._refuse(f"another condition in {place}.control", "the condition itself")
        if isinstance(table.examples, dict):
            self._known(f"{place}.examples", table.examples, self._study.tasks)
        if table.shots is not None:
            if not table.examples:
                raise self._refuse(f"a file or split to draw from in {place}.examples", "shots alone")
            if not 1 <= table.shots <= MOST_SHOTS:
                raise self._refuse(f"1 to {MOST_SHOTS:,} in {place}.shots", str(table.shots))
        for words in re.findall(r"\{[A-Za-z_ -]+\}", table.preamble + table.system):
            if words not in (RIGHT_OPTION, WRONG_OPTION) and (
                hint := did_you_mean(words.lower(), (RIGHT_OPTION, WRONG_OPTION))
            ):
                raise self._refuse(f"{RIGHT_OPTION} or {WRONG_OPTION} in {place}", words, hint)

    def _examples(self) -> None:
        """No examples are named that nobody would be given."""
        used = example_files(self._study)
        for name, table in self._study.conditions.items():
            for task in table.examples if isinstance(table.examples, dict) else ():
                if (task, name) not in used:
                    expected = f"tasks that are asked under it in conditions.{name}.examples"
                    raise self._refuse(expected, repr(task))

    def _known(self, place: str, names: Collection[str], known: Collection[str]) -> None:
        for name in names:
            if name not in known:
                raise self._refuse(f"{', '.join(known)} in {place}", repr(name), did_you_mean(name, known))
        if len(set(names)) < len(names):
            raise self._refuse(f"each name once in {place}", ", ".join(names))

    # --- tasks ---

    def _task(self, name: str, task: TaskTable) -> None:
        place, parts = f"tasks.{name}", parts_named(task.contract)
        self._known(f"{place}.models", task.models, self._study.models)
        self._known(f"{place}.conditions", task.conditions, self._study.conditions)
        if isinstance(task.items, Generate):
            if not parts.generates_items:
                expected = f"a file in {place}.items: only hands of game24 are generated"
                raise self._refuse(expected, f"the contract {task.contract!r}")
            if not 1 <= task.items.generate <= SOLVABLE_HANDS:
                raise self._refuse(f"1 to {SOLVABLE_HANDS} hands in {place}.items", str(task.items.generate))
        self._chosen_items(place, task)
        if not parts.shows_options and (task.options, task.option_order) != ("A-D", "as_given"):
            expected = f"options and option_order in {place} only with the contract mcqa"
            raise self._refuse(expected, f"the contract {task.contract!r}")
        if not parts.for_items:
            hint = "Outputs are judged with a [judging] table, or read with `affidavit read judge`."
            raise self._refuse(f"a contract that items can be asked by in {place}", repr(task.contract), hint)
        if task.variants:
            self._variants(place, task)
        self._crossing(name, task)

    def _chosen_items(self, place: str, task: TaskTable) -> None:
        """Which items are asked about is said in one way, and there are some."""
        for name in ("limit", "sample"):
            if (number := getattr(task, name)) is not None and not 1 <= number < 1e9:
                raise self._refuse(f"a whole number from 1 in {place}.{name}", str(number))
        if task.limit is not None and task.sample is not None:
            raise self._refuse(f"either limit or sample in {place}", "both")

    def _variants(self, place: str, task: TaskTable) -> None:
        if not parts_named(task.contract).open_ended:
            raise self._refuse(f"variants in {place} only with the contract text", f"{task.contract!r}")
        if task.conditions:
            expected = f"either variants or conditions in {place}: a variant is a condition"
            raise self._refuse(expected, "both")
        for name, words in task.variants.items():
            if not name.strip() or words.count(QUESTION) != 1:
                raise self._refuse(f"{QUESTION} once in {place}.variants.{name}", repr(words))

    def _crossing(self, name: str, task: TaskTable) -> None:
        """Something is asked, and whatever a task names itself can be asked."""
        crossed = cells(self._study, only=name)
        out = [cell for cell in crossed if isinstance(cell, LeftOut)]
        for left in out:
            if task.conditions or len(out) == len(crossed):
                _, model, condition = left.cell
                expected = f"tasks.{name} to be askable of {model} under the condition {condition}"
                raise self._refuse(expected, left.why)
        asked = {} if task.variants else dict.fromkeys(task.conditions or self._study.conditions)
        for condition in asked:
            control = self._study.conditions[condition].control
            if control and control not in asked:
                expected = f"the control {control} of the condition {condition} in tasks.{name}.conditions"
                raise self._refuse(expected, ", ".join(asked))
