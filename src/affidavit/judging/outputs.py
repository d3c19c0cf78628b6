"""Outputs that can be judged: those of a study's open tasks, and such as came from elsewhere.

Rows hold `question_id`, `prompt_variant`, `target_model`, `output_id` and `raw_output`, and may hold `prompt`: the
words that were answered. A folder holds a text per file, and a pattern says which part of a path is which:
`{question_id}/{prompt_variant}_{target_model}.md`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from math import prod

from msgspec.structs import asdict, astuple

from affidavit.archive.checked_lines import LONGEST_TEXT
from affidavit.archive.record import ImportIdentity, Response, content_digest
from affidavit.archive.study_directory import IMPORTED, NotArrived
from affidavit.contracts.contract import COMPLIANT, RAW_OUTPUT
from affidavit.contracts.evaluation import IDENTIFIERS
from affidavit.contracts.text import text as text_contract
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, digest, shown
from affidavit.judging.plan import Output
from affidavit.judging.prompt import UNKNOWN_TASK
from affidavit.judging.task_words import PROMPT, TaskWords, is_known
from affidavit.models.model import Message
from affidavit.reading.rows import RowReader

_PARTS = ("question_id", "prompt_variant", "target_model")
MOST_PLACES = 1_000_000
"""Question × variant × target of outputs from elsewhere: every one without an output is listed by name."""


# --- of a study ---


def output_of(response: Response, *, identity: str, task: str) -> Output:
    """The output that a response holds; `identity` is who gave it, `task` the words that it answers."""
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
    )


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


class ImportFacts:
    """What is frozen of outputs from elsewhere: it follows from them and from the names of those without text."""

    def __init__(self, study: str, without_text: Iterable[NotArrived] = ()) -> None:
        self._study = study
        self._without_text = sorted(without_text, key=astuple)
        self._digests: list[str] = []
        self.cells: Counter[tuple[str, str, str]] = Counter()
        """How many there are, by task, model and condition."""
        self._there = {(each.question_id, each.prompt_variant, each.target_model) for each in self._without_text}

    def add(self, response: Response) -> None:
        """One output more."""
        subject = response.subject
        self._digests.append(content_digest(response).hex())
        self.cells[subject.cell] += 1
        self._there.add((subject.item_id, subject.condition, subject.model))

    def config(self) -> Fields:
        """As it is frozen; outputs are missing where others of the same question, variant and target are there."""
        targets = sorted({names[2] for names in self._there})
        return {
            "name": self._study,
            "seed": 0,
            "models": {target: {"identity": target} for target in targets},
            IMPORTED: {
                "sha256": digest(sorted(self._digests)),
                "cells": [[*cell, count] for cell, count in sorted(self.cells.items())],
            },
            "not_arrived": [asdict(missing) for missing in self.not_arrived()],
        }

    def not_arrived(self) -> list[NotArrived]:
        """Outputs that came without a text, or that are missing among the others."""
        return [*self._without_text, *_holes(self._there)]


@dataclass(frozen=True)
class Imported:
    """Rows of outputs, checked: the responses that they become, and those that came without a text."""

    responses: list[Response]
    without_text: list[NotArrived]

    def facts(self, study: str) -> ImportFacts:
        """What is frozen of them."""
        facts = ImportFacts(study, self.without_text)
        for response in self.responses:
            facts.add(response)
        return facts


def imported(study: str, rows: Iterable[tuple[str, Fields]], tasks: TaskWords | None = None) -> Imported:
    """The records of rows, given as place and fields; a row that says twice the same is refused by name.

    `tasks` has the words that were answered, where the rows do not hold them themselves.
    """
    responses, missing, places = list[Response](), list[NotArrived](), dict[tuple[str, ...], str]()
    reader = RowReader(text_contract)
    for where, row in rows:
        names = _identifiers(row, where)
        if names in places:
            expected = "an output that no other row has"
            raise InputError(where, expected=expected, found=f"the names of {places[names]}: {shown(list(names))}")
        places[names] = where
        raw = row.get(RAW_OUTPUT)
        if raw is None:
            missing.append(NotArrived(names[0], names[1], names[2], 0, WITHOUT_TEXT))
            continue
        if not isinstance(raw, str):
            raise InputError(where, expected=f"a text in {RAW_OUTPUT!r}", found=shown(raw))
        if len(raw) > LONGEST_TEXT:
            expected = f"at most {LONGEST_TEXT:,} characters in {RAW_OUTPUT!r}"
            raise InputError(where, expected=expected, found=f"{len(raw):,}")
        question, variant, target, output = names
        prompt = _prompt(row, where, None if tasks is None else tasks.of(question, variant))
        subject = imported_identity(study, question, variant, target, output, prompt)
        responses.append(imported_response(subject, raw, reader))
    if not responses:
        raise InputError("outputs", expected="at least one output", found="none")
    return Imported(responses, missing)


def _prompt(row: Fields, where: str, given: str | None) -> str | None:
    """The words that a row answers: its own, or those of the file of tasks, if they do not contradict them."""
    prompt = row.get(PROMPT)
    if prompt is not None and not isinstance(prompt, str):
        raise InputError(where, expected=f"a text in {PROMPT!r}", found=shown(prompt))
    if given is None or not is_known(prompt):
        return prompt if given is None else given
    if prompt != given:
        expected = f"in {PROMPT!r} what the file of tasks says of it: {shown(given)}"
        raise InputError(where, expected=expected, found=shown(prompt))
    return prompt


def _identifiers(row: Fields, where: str) -> tuple[str, ...]:
    found = []
    for name in IDENTIFIERS:
        value = str(row[name]) if type(row.get(name)) is int else row.get(name)
        if not isinstance(value, str) or not value.strip():
            raise InputError(where, expected=f"a name in {name!r}", found=shown(value))
        found.append(value)
    question, variant, target, output = found
    return question, variant, target, output


def imported_identity(  # noqa: PLR0913, PLR0917 - the names of an output, in the order of the protocol
    study: str, question: str, variant: str, target: str, output: str, prompt: str | None
) -> ImportIdentity:
    """What the record of an output from elsewhere says of it; its names make its key."""
    return ImportIdentity(
        key=digest([IMPORTED, question, variant, target, output]),
        study=study,
        task=IMPORTED,
        item_id=question,
        condition=variant,
        model=target,
        sample=0,
        output_id=output,
        prompt=prompt,
    )


def imported_response(subject: ImportIdentity, raw: str, reader: RowReader) -> Response:
    """The record of an output from elsewhere: the text, and whether there is anything to judge."""
    added = reader.read({RAW_OUTPUT: raw}, where="").added
    compliant = added.pop(COMPLIANT)
    return Response(
        subject,
        raw,
        contract=reader.label,
        contract_params=reader.params,
        protocol_compliant=compliant if isinstance(compliant, bool) else None,
        fields=added,
    )


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
