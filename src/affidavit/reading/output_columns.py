"""Which column of a row of outputs is what: named by the user, or called as it is called here; never guessed.

A column that is called by one of our names is taken and said. One that is called by a name that others use for the
same thing (`target`, `completion`, `model_name`) is proposed, and left where it is. What is taken is told by the
first row; a later row that differs is refused, so that nothing is pooled without a word.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.json_values import Fields, shown
from affidavit.reading.column_path import ColumnPath


class Role(StrEnum):
    """What a column can be."""

    TEXT = "text"
    ANSWER = "answer"
    ID = "id"
    MODEL = "model"
    CONDITION = "condition"
    TASK = "task"
    PROMPT = "prompt"
    SAMPLE = "sample"
    OUTPUT_ID = "output_id"


OPTIONS: dict[Role, str] = {role: f"--{role.value}" for role in Role if role is not Role.OUTPUT_ID}
OPTIONS[Role.TEXT] = "--field"
"""What names the column of a role on the command line."""
OUR_NAMES = {role: RAW_OUTPUT if role is Role.TEXT else role.value for role in Role}
NAMES = (Role.TASK, Role.ID, Role.CONDITION, Role.MODEL, Role.OUTPUT_ID)
"""The roles whose values are names: if one row has one, all have."""
SYNONYMS: dict[Role, tuple[str, ...]] = {
    Role.TEXT: (
        "completion", "response", "output", "prediction", "generation", "generated_text", "model_output", "raw",
        "text", "resps", "result", "model_response",
    ),
    Role.ANSWER: (
        "target", "gold", "label", "correct_answer", "answer_key", "answerKey", "expected", "reference",
        "ground_truth", "solution", "ideal",
    ),
    Role.ID: ("question_id", "item_id", "doc_id", "example_id", "sample_id", "custom_id", "qid", "uid", "idx"),
    Role.MODEL: ("model_name", "target_model", "model_id", "engine", "llm"),
    Role.CONDITION: ("prompt_variant", "variant", "prompt_id", "setting", "prompt_type"),
    Role.TASK: ("task_name", "dataset", "benchmark", "subset"),
    Role.PROMPT: ("input", "question_text", "instruction", "messages", "full_prompt"),
    Role.SAMPLE: ("sample_index", "attempt", "repeat", "epoch", "seed", "trial", "run"),
}  # fmt: skip
"""What others call these columns."""
UNNAMED, ONE_CONDITION = "unnamed", "base"
"""The model and the condition of rows that name none."""
OPTION_TEXTS = "options"
"""Where the options' texts are looked for: no option names another column."""
_LIKE_OPTIONS = ("choices", "option_texts", "alternatives", "candidates", "endings")
_HOLDS = {
    Role.TEXT: "the models' texts",
    Role.ANSWER: "the right answers",
    Role.ID: "the ids of items",
    Role.MODEL: "the models' names",
    Role.CONDITION: "the conditions",
    Role.TASK: "the tasks",
    Role.PROMPT: "the prompts",
    Role.SAMPLE: "the numbers of samples",
}


@dataclass(frozen=True)
class OutputColumns:
    """The column of each role that has one."""

    paths: Mapping[Role, ColumnPath]
    protocol: ClassVar[Mapping[Role, str]] = {
        Role.TEXT: RAW_OUTPUT,
        Role.ID: "question_id",
        Role.CONDITION: "prompt_variant",
        Role.MODEL: "target_model",
        Role.OUTPUT_ID: "output_id",
        Role.PROMPT: "prompt",
    }
    """The names that the protocol of judging has for them."""

    @classmethod
    def of(cls, names: Mapping[str, str] | Mapping[Role, str]) -> "OutputColumns":
        """The columns of these names, by role."""
        return cls({Role(role): ColumnPath(name) for role, name in names.items()})

    def names(self) -> dict[str, str]:
        """The names by role, as a study keeps them."""
        return {role.value: self.paths[role].text for role in Role if role in self.paths}

    @property
    def text(self) -> ColumnPath:
        """Where the models' texts are."""
        return self.paths[Role.TEXT]

    @property
    def answer(self) -> ColumnPath:
        """Where the right answers are; by our own name unless another was given."""
        return self.paths.get(Role.ANSWER, _OUR_ANSWER)

    def item_row(self, row: Fields) -> Fields:
        """The row as a contract takes it: with the right answer, if there is one, in `answer`."""
        return with_answer(row, row, self.answer)

    @cached_property
    def taken(self) -> tuple[ColumnPath, ...]:
        """The columns that stand in a record under names of their own; all others stay in its row."""
        return tuple(path for role, path in self.paths.items() if role is not Role.ANSWER)

    @cached_property
    def not_there(self) -> tuple[str, ...]:
        """Those of our names for columns that rows may not have, as the first had none."""
        named = {path.text for path in self.paths.values()}
        roles = (role for role in (*NAMES, Role.SAMPLE) if role not in self.paths)
        return tuple(name for name in map(OUR_NAMES.__getitem__, roles) if name not in named)


ANSWER = OUR_NAMES[Role.ANSWER]
"""Where a contract finds the right answer."""
_OUR_ANSWER = ColumnPath(ANSWER)


def with_answer(about: Fields, row: Fields, answer: ColumnPath) -> Fields:
    """What a row says of its question, with the right answer of its column in `answer`, and no other there.

    >>> with_answer({"answer": "said", "gold": "B"}, {"answer": "said", "gold": "B"}, ColumnPath("gold"))
    {'answer': 'B', 'gold': 'B'}
    >>> with_answer({"answer": "said"}, {"answer": "said"}, ColumnPath("gold"))
    {}
    """
    if answer.text == ANSWER:
        return about
    if answer.is_in(row):
        return {**about, ANSWER: answer.of(row)}
    return _OUR_ANSWER.taken_out(about)


def named_columns(given: Mapping[Role, str]) -> dict[str, str]:
    """The columns that were named, each with the option that named it; of a way into a column, the column.

    >>> named_columns({Role.ANSWER: "gold", Role.TEXT: "response.text"})
    {'gold': '--answer', 'response': '--field', 'response.text': '--field'}
    """
    named = {role: (str(ColumnPath(name).steps[0]), name) for role, name in given.items()}
    return {column: OPTIONS[role] for role, columns in named.items() for column in columns}


def columns_of(first: Fields, given: Mapping[Role, str], *, where: str) -> OutputColumns:
    """The columns of a file, by its first row: those that were named, and those of our names.

    >>> columns_of({"raw_output": "B", "target": "B", "model": "m"}, {Role.ANSWER: "target"}, where="").names()
    {'text': 'raw_output', 'answer': 'target', 'model': 'model'}
    """
    paths: dict[Role, ColumnPath] = {}
    for role in Role:
        path = ColumnPath(given.get(role, OUR_NAMES[role]))
        if role not in given and path.text in given.values():
            continue  # it was named as something else
        if path.is_in(first):
            paths[role] = path
        elif role in given and role is not Role.TEXT:
            raise UsageError(
                OPTIONS[role],
                expected=f"a column of {where}: {', '.join(first)}",
                found=repr(path.text),
                hint=did_you_mean(path.text, first),
            )
    if Role.TEXT not in paths and Role.TEXT not in given and RAW_OUTPUT in given.values():
        named = next(role for role, name in given.items() if name == RAW_OUTPUT)
        hint = "Name the column of texts with --field, if it is another."
        raise UsageError(
            OPTIONS[named], expected=f"another column than {_HOLDS[Role.TEXT]}", found=repr(RAW_OUTPUT), hint=hint
        )
    if Role.TEXT not in paths:
        raise no_text(ColumnPath(given.get(Role.TEXT, RAW_OUTPUT)), first, where=where)
    _refuse_doubles(paths, given)
    return OutputColumns(paths)


def _refuse_doubles(paths: Mapping[Role, ColumnPath], given: Mapping[Role, str]) -> None:
    """One column is one thing: what it holds would be counted under two names."""
    roles: dict[str, Role] = {}
    for role, path in paths.items():
        if (other := roles.setdefault(path.text, role)) is not role:
            named = role if role in given else other
            expected = f"a column that is not {_HOLDS.get(other, other)} already"
            raise UsageError(OPTIONS[named], expected=expected, found=repr(path.text))


def no_text(path: ColumnPath, row: Fields, *, where: str) -> InputError:
    """The refusal of a row without the place of texts: how far its way leads, or a column that may be meant."""
    expected, (part, inner) = f"a field {path.text!r}", path.known_part(row)
    if part:
        holds = (
            f"an object with {', '.join(map(repr, inner))}" if isinstance(inner, dict) and inner else shown(inner)
        )
        hint = "What did not arrive is null, there or on the way. Mend the way with --field, or the row."
        return InputError(where, expected=expected, found=f"in {part!r} {holds}", hint=hint)
    found = "the fields " + ", ".join(map(repr, row)) if row else "no field at all"
    return InputError(where, expected=expected, found=found, hint=text_hint(path.text, row, "field"))


def not_a_text(path: ColumnPath, value: object, *, where: str) -> InputError:
    """The refusal of a value that is no text; of an object or a list, it is said how to name what is inside."""
    inside = next((f".{name}" for name in value), "") if isinstance(value, dict) else ""
    inside = "[0]" if isinstance(value, list) and value else inside
    hint = ""
    if inside:
        hint = (
            f"What stands inside of it is named by its way: --field '{path.text}{inside}'. If it is the output "
            "itself, parsed already: a contract reads the text as the model wrote it."
        )
    return InputError(where, expected=f"a text in {path.text!r}", found=shown(value), hint=hint)


def text_hint(given: str, names: Iterable[str], what: str) -> str:
    """What to do where the column of texts is not there: a name that is like the one given, or a likely one."""
    known = list(names)
    if given != RAW_OUTPUT and (like := did_you_mean(given, known)):
        return like
    likely = [name for name in SYNONYMS[Role.TEXT] if name in known]
    if likely:
        return f"A column `{likely[0]}` may hold the models' texts: name it with --field {likely[0]}."
    return f"Name the {what} that holds the model's text with --field."


def proposals(
    names: Iterable[str], columns: OutputColumns, roles: Collection[Role] = tuple(SYNONYMS)
) -> list[str]:
    """Columns that may be what no column was taken for, each with the option that names it.

    >>> proposals(["raw_output", "target", "model"], OutputColumns.of({"text": "raw_output", "model": "model"}))
    ['a column `target` may hold the right answers: name it with --answer target']
    """
    known, used = list(names), {path.text for path in columns.paths.values()}
    notes = []
    for role, others in SYNONYMS.items():
        if role in roles and role not in columns.paths:
            likely = next((name for name in others if name in known and name not in used), None)
            if likely is not None:
                notes.append(f"a column `{likely}` may hold {_HOLDS[role]}: name it with {OPTIONS[role]} {likely}")
    return notes


def options_proposals(names: Iterable[str], needs: str) -> list[str]:
    """A column that may hold the options' texts, where there is none of our name; `needs`: what looks for them.

    >>> options_proposals(["raw_output", "choices"], "lm-eval-flexible-0.4.13/1")
    ["a column `choices` may hold the options' texts, which lm-eval-flexible-0.4.13/1 needs: call it `options`"]
    """
    known = list(names)
    likely = [] if OPTION_TEXTS in known else [name for name in _LIKE_OPTIONS if name in known]
    return [
        f"a column `{name}` may hold the options' texts, which {needs} needs: call it `{OPTION_TEXTS}`"
        for name in likely[:1]
    ]


def name_in(row: Fields, path: ColumnPath, *, where: str) -> str:
    """The name in a column; a whole number is one, too."""
    value = path.of(row)
    if type(value) is int:
        return str(value)
    if not isinstance(value, str) or value.isspace() or not value:
        raise InputError(where, expected=f"a name in {path.text!r}", found=shown(value))
    return value


def number_in(row: Fields, path: ColumnPath, *, where: str) -> int:
    """The whole number from 0 on in a column."""
    value = path.of(row)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if type(value) is not int or not 0 <= value < 2**53:
        raise InputError(where, expected=f"a whole number from 0 on in {path.text!r}", found=shown(value))
    return value


def refuse_new_names(row: Fields, columns: OutputColumns, *, where: str) -> None:
    """Refuse a row that has a column of our names which the first did not have; one may be named as another."""
    for name in columns.not_there:
        if row.get(name) is not None:
            expected, hint = f"no {name!r}, as in the first row", f"Give {name!r} to all rows, or to none."
            raise InputError(where, expected=expected, found=shown(row[name]), hint=hint)
