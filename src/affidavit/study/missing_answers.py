"""Items without a right answer, in tasks whose contract compares with one: said before anything is asked.

A key that is misspelt, or that others call so (`target`, `gold`), is named, and never taken.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from affidavit.contracts.parts import parts_of
from affidavit.items.item import Item
from affidavit.json_values import shown
from affidavit.plain_text import counted_noun
from affidavit.reading.output_columns import ANSWER, SYNONYMS, Role
from affidavit.study.task import Task

_OTHER_THINGS = {ANSWER, "id", "question", "options", "metadata"}
"""Keys of an item that mean something else."""


class MissingAnswers:
    """Counts the items of each task that have no right answer."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        keyed = {name for name, task in tasks.items() if ANSWER in (parts_of(task.contract).item_fields or ())}
        self._items = dict.fromkeys((name for name in tasks if name in keyed), 0)
        self._missing: Counter[str] = Counter()
        self._likely: dict[str, str] = {}

    def add(self, task: str, item: Item) -> None:
        """One more item."""
        if task not in self._items:
            return
        self._items[task] += 1
        if item.fields.get(ANSWER) is None:
            self._missing[task] += 1
            # A row of a published format has what is not known of it in its metadata.
            more = item.fields.get("metadata")
            names = [*item.fields, *(more if isinstance(more, dict) else ())]
            if task not in self._likely and (key := likely_key(names)) is not None:
                self._likely[task] = key

    def notes(self) -> Iterator[str]:
        """What a person is told of each task of which any is missing."""
        for task, count in self._items.items():
            if not (missing := self._missing[task]):
                continue
            have = "has" if missing == 1 else "have"
            note = f"{missing:,} of {counted_noun(count, 'item')} of {task} {have} no right answer in `{ANSWER}`"
            if task in self._likely:
                key = shown(self._likely[task]).strip('"')
                note += f"; rows have a key `{key}`: call it `{ANSWER}` if it holds the right answers"
            yield note


def likely_key(names: Iterable[str]) -> str | None:
    """The key of a row that may hold its right answer under another name; None if none looks like it.

    >>> likely_key(["question", "options", "anwser"]), likely_key(["question", "target"]), likely_key(["source"])
    ('anwser', 'target', None)
    """
    lower = {name.lower(): name for name in names if name not in _OTHER_THINGS}
    if near := difflib.get_close_matches(ANSWER, lower, 1, cutoff=0.75):
        return lower[near[0]]
    return next((lower[name.lower()] for name in SYNONYMS[Role.ANSWER] if name.lower() in lower), None)
