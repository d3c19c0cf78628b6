"""Whether the tables of a study fit together; asked before anything else is done with it."""

import re
from collections.abc import Collection

from affidavit.contracts.parts import QUESTION
from affidavit.contracts.registry import is_known, parts_named, refuse_unknown
from affidavit.errors import InputError, Mistakes, did_you_mean
from affidavit.items.hands import SOLVABLE_HANDS
from affidavit.models.settings import check_positive
from affidavit.models.shown_names import quoted_name, shown_name
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
    check_study(study, where=where)
    return study


def check_study(study: Study, *, where: str) -> None:
    """Refuse a study whose tables do not fit together; all mistakes are told at once."""
    _StudyChecks(study, where).all()


class _StudyChecks:
    """The checks of one study; a check that needs what another refused is left out."""

    def __init__(self, study: Study, where: str) -> None:
        self._study = study
        self._where = where
        self._mistakes = Mistakes()

    def _refuse(self, expected: str, found: str, hint: str = "") -> None:
        self._mistakes.add(InputError(self._where, expected=expected, found=found, hint=hint))

    def all(self) -> None:
        """Every check, from the outside to the inside."""
        study = self._study
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", study.study.name):
            expected = "a name of letters, digits, dots, hyphens and underscores in study.name"
            self._refuse(expected, repr(study.study.name))
        for name, many in (("models", study.models), ("tasks", study.tasks), ("conditions", study.conditions)):
            if not many:
                self._refuse(f"at least one [{name}.NAME]", "none")
            if not all(each.strip() for each in many):
                self._refuse(f"a name for every table of [{name}]", "an empty one")
        self._numbers()
        for name, condition in study.conditions.items():
            self._condition(name, condition)
        can_be_crossed = [self._task(name, task) for name, task in study.tasks.items()]
        if all(can_be_crossed):
            self._examples()
        if study.judging is not None:
            self._judging(study.judging)
        self._mistakes.refuse()

    def _numbers(self) -> None:
        """Every number is in its bounds."""
        if not -(2**63) <= (seed := self._study.study.seed) < 2**63:
            self._refuse("a study.seed of at most 64 bits", f"one of {seed.bit_length():,}")
        decoding = self._study.decoding
        counts = {"decoding.max_tokens": decoding.max_tokens, "decoding.samples": decoding.samples}
        with self._mistakes.gathered():
            self._study.limits.check(where=self._where)
        with self._mistakes.gathered():
            check_positive(counts, where=self._where)
        for name in Decoding.__struct_fields__:
            number = getattr(decoding, name)
            if number is not None and f"decoding.{name}" not in counts and not 0 <= number < 1e9:
                self._refuse(f"a finite decoding.{name} from 0", str(number))

    def _judging(self, table: JudgingTable) -> None:
        if not table.judges or not table.conditions:
            self._refuse("at least one judge and one condition in judging", "none")
        self._known("judging.judges", table.judges, self._study.models)
        self._known("judging.tasks", table.tasks, self._study.tasks)
        self._known("judging.conditions", table.conditions, ("free", "schema"))
        for judge in table.judges:
            model = self._study.models.get(judge)
            if "schema" in table.conditions and model is not None and not model.provider.takes_schema:
                self._refuse("judges that take a JSON schema in judging.judges", repr(judge))
        for name in ("repeats", "max_tokens"):
            if not 0 < getattr(table, name) < 1e9:
                self._refuse(f"a positive, finite judging.{name}", str(getattr(table, name)))
        for name in ("temperature", "top_p"):
            if (chosen := getattr(table, name)) is not None and not 0 <= chosen < 1e9:
                self._refuse(f"a finite judging.{name} from 0", str(chosen))
        contracts = [task.contract for task in self._study.tasks.values()]
        if not table.tasks and all(is_known(name) and not parts_named(name).open_ended for name in contracts):
            hint = "Outputs of other tasks are judged if judging.tasks names them."
            self._refuse('a task with contract = "text" for [judging]', "none", hint)

    # --- conditions ---

    def _condition(self, name: str, table: ConditionTable) -> None:
        place = f"conditions.{name}"
        if table.control:
            self._known(f"{place}.control", [table.control], self._study.conditions)
            if table.control == name:
                self._refuse(f"another condition in {place}.control", "the condition itself")
        if isinstance(table.examples, dict):
            self._known(f"{place}.examples", table.examples, self._study.tasks)
        if table.shots is not None:
            if not table.examples:
                self._refuse(f"a file or split to draw from in {place}.examples", "shots alone")
            if not 1 <= table.shots <= MOST_SHOTS:
                self._refuse(f"1 to {MOST_SHOTS:,} in {place}.shots", str(table.shots))
        for words in re.findall(r"\{[A-Za-z_ -]+\}", table.preamble + table.system):
            if words not in (RIGHT_OPTION, WRONG_OPTION) and (
                hint := did_you_mean(words.lower(), (RIGHT_OPTION, WRONG_OPTION))
            ):
                self._refuse(f"{RIGHT_OPTION} or {WRONG_OPTION} in {place}", words, hint)

    def _examples(self) -> None:
        """No examples are named that nobody would be given."""
        used = example_files(self._study)
        for name, table in self._study.conditions.items():
            for task in table.examples if isinstance(table.examples, dict) else ():
                if task in self._study.tasks and (task, name) not in used:
                    expected = f"tasks that are asked under it in conditions.{name}.examples"
                    self._refuse(expected, repr(task))

    def _known(self, place: str, names: Collection[str], known: Collection[str]) -> bool:
        """Refuse names that are not known, or given twice; whether there is none of the former."""
        unknown = [name for name in dict.fromkeys(names) if name not in known]
        for name in unknown if known else ():  # that there is none at all is told by itself
            self._refuse(f"{', '.join(known)} in {place}", quoted_name(name, known), did_you_mean(name, known))
        if len(set(names)) < len(names):
            self._refuse(f"each name once in {place}", ", ".join(names))
        return not unknown

    # --- tasks ---

    def _task(self, name: str, task: TaskTable) -> bool:
        """The checks of one task; whether it can be crossed with models and conditions."""
        place = f"tasks.{name}"
        models = self._known(f"{place}.models", task.models, self._study.models)
        conditions = self._known(f"{place}.conditions", task.conditions, self._study.conditions)
        self._chosen_items(place, task)
        with self._mistakes.gathered():
            refuse_unknown(task.contract, where=f"{self._where}: {place}.contract")
            if self._by_contract(place, task) and models and conditions:
                self._crossing(name, task)
                return True
        return False

    def _by_contract(self, place: str, task: TaskTable) -> bool:
        """What a task may say because of its contract, which is known; whether it can be asked by it."""
        parts = parts_named(task.contract)
        if not parts.for_items:
            hint = "Outputs are judged with a [judging] table, or read with `affidavit read judge`."
            self._refuse(f"a contract that items can be asked by in {place}", repr(task.contract), hint)
            return False
        if isinstance(task.items, Generate):
            if not parts.generates_items:
                expected = f"a file in {place}.items: only hands of game24 are generated"
                self._refuse(expected, f"the contract {task.contract!r}")
            if not 1 <= task.items.generate <= SOLVABLE_HANDS:
                self._refuse(f"1 to {SOLVABLE_HANDS} hands in {place}.items", str(task.items.generate))
        if task.parameters and not parts.parameters:
            hint = f"The option set is a key of the task: write options in [{place}]."
            hint = hint if parts.shows_options and "options" in task.parameters else ""
            self._refuse(
                f"no parameters in {place}, as {task.contract} has none", ", ".join(task.parameters), hint
            )
        if not parts.shows_options and (task.options, task.option_order) != ("A-D", "as_given"):
            expected = f"options and option_order in {place} only with the contract mcqa or mcqa-reasoned"
            self._refuse(expected, f"the contract {task.contract!r}")
        return self._variants(place, task) if task.variants else True

    def _chosen_items(self, place: str, task: TaskTable) -> None:
        """Which items are asked about is said in one way, and there are some."""
        for name in ("limit", "sample"):
            if (number := getattr(task, name)) is not None and not 1 <= number < 1e9:
                self._refuse(f"a whole number from 1 in {place}.{name}", str(number))
        if task.limit is not None and task.sample is not None:
            self._refuse(f"either limit or sample in {place}", "both")

    def _variants(self, place: str, task: TaskTable) -> bool:
        """Other words around the question; whether the task may have any."""
        if not parts_named(task.contract).open_ended:
            self._refuse(f"variants in {place} only with the contract text", f"{task.contract!r}")
            return False
        if task.conditions:
            expected = f"either variants or conditions in {place}: a variant is a condition"
            self._refuse(expected, "both")
        for name, words in task.variants.items():
            if not name.strip() or words.count(QUESTION) != 1:
                self._refuse(f"{QUESTION} once in {place}.variants.{shown_name(name)}", repr(words))
        return True

    def _crossing(self, name: str, task: TaskTable) -> None:
        """Something is asked, and whatever a task names itself can be asked."""
        crossed = cells(self._study, only=name)
        out = [cell for cell in crossed if isinstance(cell, LeftOut)]
        for left in out:
            if task.conditions or len(out) == len(crossed):
                _, model, condition = left.cell
                expected = f"tasks.{name} to be askable of {model} under the condition {condition}"
                self._refuse(expected, left.why)
                break  # the others are mostly left out for the same reason
        asked = {} if task.variants else dict.fromkeys(task.conditions or self._study.conditions)
        for condition in asked:
            control = self._study.conditions[condition].control
            if control and control in self._study.conditions and control not in asked:
                expected = f"the control {control} of the condition {condition} in tasks.{name}.conditions"
                self._refuse(expected, ", ".join(asked))
