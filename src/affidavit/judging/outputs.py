"""Outputs that can be judged: those of a study's open tasks, and such as came from elsewhere.

Rows hold `question_id`, `prompt_variant`, `target_model`, `output_id` and `raw_output`, and may hold `prompt`: the
words that were answered. A folder holds a text per file, and a pattern says which part of a path is which:
`{question_id}/{prompt_variant}_{target_model}.md`.
"""

import re
from collections.abc import Iterable, Iterator, Set
from math import prod

from msgspec.structs import astuple

from affidavit.archive.record import Failed, ImportIdentity, Response
from affidavit.archive.study_directory import NotArrived
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, shown
from affidavit.judging.plan import Output
from affidavit.judging.prompt import UNKNOWN_TASK
from affidavit.models.model import Message
from affidavit.reading.imported_records import NO_CONTENT

_PARTS = ("question_id", "prompt_variant", "target_model")
MOST_PLACES = 1_000_000
"""Question × variant × target of outputs from elsewhere: every one without an output is listed by name."""


# --- of a study ---


def output_of(response: Response, *, identity: str, task: str, options: object = None) -> Output:
    """The output that a response holds; `identity` is who gave it, `task` the words that it answers.

    `options` are those of its question, as far as they are a list of texts.
    """
    subject = response.subject
    return Output(
        key=subject.key,
        output_id=subject.output_id if isinstance(subject, ImportIdentity) else None,
        question_id=subject.item_id,
        prompt_variant=subject.condition,
        model=subject.model,
        target_model=identity,
        sample=subject.sample,
        text=response.raw_output,
        task=task,
        options=_texts_of(options),
    )


def _texts_of(options: object) -> tuple[str, ...]:
    if not isinstance(options, list | tuple) or not all(isinstance(option, str) for option in options):
        return ()
    return tuple(options)


def transcript(messages: Iterable[Message]) -> str:
    """A conversation as one text, for a judge to read.

    >>> transcript([{"role": "user", "content": "Hello?"}])
    'Hello?'
    >>> print(transcript([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}]))
    [system]
    Be brief.
    <BLANKLINE>
    [user]
    Hello?
    """
    turns = list(messages)
    if len(turns) == 1:
        return turns[0]["content"]
    return "\n\n".join(f"[{turn['role']}]\n{turn['content']}" for turn in turns)


# --- from elsewhere ---


WITHOUT_TEXT = "the text is null"


class MissingOutputs:
    """What is missing among outputs from elsewhere: rows without a text, and places that no row is at."""

    def __init__(self) -> None:
        self._without_text: list[NotArrived] = []
        self._there: set[tuple[str, str, str]] = set()

    def add(self, record: Response | Failed) -> None:
        """One record, of an output or of a row without a text."""
        subject = record.subject
        self._there.add((subject.item_id, subject.condition, subject.model))
        if isinstance(record, Failed):
            why = WITHOUT_TEXT if record.reason == NO_CONTENT else record.reason
            names = (subject.item_id, subject.condition, subject.model)
            self._without_text.append(NotArrived(*names, subject.sample, why))

    def listed(self) -> list[NotArrived]:
        """All of them; a place is one where others of the same question, variant and target are there."""
        return [*sorted(self._without_text, key=astuple), *_holes(self._there)]


def imported_task(subject: ImportIdentity) -> str:
    """The words that an output from elsewhere answers."""
    return UNKNOWN_TASK if subject.prompt is None else subject.prompt


def _holes(there: Set[tuple[str, str, str]]) -> list[NotArrived]:
    """Question × variant × target without an output, where each of the three is known from another."""
    each = [list(dict.fromkeys(names[part] for names in there)) for part in range(3)]
    if (places := prod(map(len, each))) > MOST_PLACES:
        expected = f"at most {MOST_PLACES:,} places of question × variant × target"
        hint = "Name the variants and targets of all questions alike, or give outputs a directory for each study."
        raise InputError("outputs", expected=expected, found=f"{places:,}", hint=hint)
    return [
        NotArrived(question, variant, target, 0, "there is no such output")
        for question in sorted(each[0])
        for variant in sorted(each[1])
        for target in sorted(each[2])
        if (question, variant, target) not in there
    ]


def path_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern of paths as a regular expression with a group for each name.

    >>> path_pattern("{question_id}/{prompt_variant}_{target_model}.md").fullmatch("Q1/A_gpt.md").groups()
    ('Q1', 'A', 'gpt')
    """
    names = re.findall(r"\{(\w*)\}", pattern)
    if sorted(names) != sorted(_PARTS):
        raise UsageError(
            "--pattern",
            expected="each of {question_id}, {prompt_variant} and {target_model} once",
            found=repr(pattern),
        )
    parts = re.split(r"\{(\w+)\}", pattern)
    return re.compile(
        "".join(f"(?P<{part}>[^/]+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
    )


def folder_rows(files: Iterable[tuple[str, str]], pattern: str) -> Iterator[tuple[str, Fields]]:
    """Rows of the texts of a folder, given as path below it and text; the path is the output's id."""
    compiled = path_pattern(pattern)
    for path, raw in files:
        names = compiled.fullmatch(path)
        if names is None:
            hint = "Every text of the folder has to fit; move the others elsewhere."
            raise InputError(path, expected=f"a path like {pattern}", found=shown(path), hint=hint)
        yield path, {**names.groupdict(), "output_id": path, RAW_OUTPUT: raw}
