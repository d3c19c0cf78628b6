"""The words of the tasks that outputs from elsewhere answer: a table of their own, by question, or by variant too.

A row has `question_id` and `prompt`, and may have `prompt_variant`: without one it is about every variant that has
no row of its own. A table with a row for each output is as good, as long as it does not contradict itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from affidavit.contracts.evaluation import IDENTIFIERS
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, shown

QUESTION, VARIANT = IDENTIFIERS[:2]
PROMPT = "prompt"
_LISTED = 3
"""Outputs that a message names."""


class TaskWords:
    """What was asked, by question and variant."""

    def __init__(self, words: Mapping[tuple[str, str | None], str]) -> None:
        self._words = words
        self._used: set[tuple[str, str | None]] = set()

    def of(self, question: str, variant: str) -> str | None:
        """The words of a task; None if they are not there.

        >>> words = TaskWords({("q1", None): "Why?", ("q1", "brief"): "Why? Be brief."})
        >>> words.of("q1", "brief"), words.of("q1", "plain"), words.of("q2", "plain")
        ('Why? Be brief.', 'Why?', None)
        """
        for name in ((question, variant), (question, None)):
            if name in self._words:
                self._used.add(name)
                return self._words[name]
        return None

    def unused(self) -> list[str]:
        """The rows that no output has used so far, in words.

        >>> words = TaskWords({("q1", "practise"): "Why?"})
        >>> words.of("q1", "practice"), words.unused()
        (None, ['"q1", "practise"'])
        """
        return [_in_words(*name) for name in self._words if name not in self._used]


def task_words(rows: Iterable[tuple[str, Fields]]) -> TaskWords:
    """The words in rows, given as place and fields; two rows that say different things are refused by name."""
    words, places = dict[tuple[str, str | None], str](), dict[tuple[str, str | None], str]()
    for where, row in rows:
        question = _name(row, QUESTION, where)
        variant = None if row.get(VARIANT) in (None, "") else _name(row, VARIANT, where)
        prompt = row.get(PROMPT)
        if not isinstance(prompt, str) or not prompt.strip():
            hint = f"A file of tasks has {QUESTION} and {PROMPT}, and may have {VARIANT}. Here: {', '.join(row)}."
            raise InputError(where, expected=f"the words of a task in {PROMPT!r}", found=shown(prompt), hint=hint)
        if words.setdefault((question, variant), prompt) != prompt:
            about = _in_words(question, variant)
            expected = f"the same words as in {places[question, variant]}: both are of {about}"
            raise InputError(where, expected=expected, found=shown(prompt))
        places.setdefault((question, variant), where)
    return TaskWords(words)


def _name(row: Fields, name: str, where: str) -> str:
    value = str(row[name]) if type(row.get(name)) is int else row.get(name)
    if not isinstance(value, str) or not value.strip():
        hint = f"A file of tasks has {QUESTION} and {PROMPT}, and may have {VARIANT}. Here: {', '.join(row)}."
        raise InputError(where, expected=f"a name in {name!r}", found=shown(value), hint=hint)
    return value


class Unasked(NamedTuple):
    """An output of which nobody knows what it answers."""

    question_id: str
    prompt_variant: str


def is_known(prompt: str | None) -> bool:
    """Whether words of a task say anything: an empty cell of a table says nothing."""
    return prompt is not None and bool(prompt.strip())


def refuse_unknown_tasks(where: str, unasked: Sequence[Unasked], total: int, *, hint: str) -> None:
    """Refuse to judge outputs whose task is not known: a judge cannot say whether they do what nobody told it."""
    if unasked:
        named = dict.fromkeys(_in_words(*each) for each in unasked)
        listed = "; ".join(list(named)[:_LISTED])
        more = f", and {len(named) - _LISTED:,} more" if len(named) > _LISTED else ""
        found = f"none for {len(unasked):,} of {total:,}: {listed}{more}"
        raise UsageError(where, expected="the words of the task of every output", found=found, hint=hint)


def _in_words(question: str, variant: str | None) -> str:
    return shown(question) if variant is None else f"{shown(question)}, {shown(variant)}"
