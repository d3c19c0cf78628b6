"""What may be added to a study once it was answered: models, conditions, tasks, items and samples (ruling C11).

Nothing that was asked may change or vanish: then the records would tell of another study. What is only added is
asked in the next run, and a revision of the plan says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from affidavit.archive.study_directory import Revision
from affidavit.study.crossing import Cell, cells
from affidavit.study.frozen_form import Change, changes, from_frozen

_ADDED_BY_NAME = ("models", "tasks", "conditions", "contracts", "items", "weights")
"""Tables of what is frozen to which names may be added."""
_DECIDED_BY_CELLS = ("models", "conditions")
"""Lists of a task that may change as long as all that was asked is still asked."""
_DECIDED_BY_ITEMS = ("limit", "sample")
"""Keys of a task that choose its items, which are looked at themselves."""


def refused(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """What is different between two frozen plans and is no growth; items are looked at elsewhere.

    >>> from affidavit.study.study_file import decode_study
    >>> from affidavit.study.frozen_form import frozen
    >>> text = '[study]\\nname = "s"\\n[models.m]\\nbase_url = "http://h"\\n[tasks.t]\\ncontract = "mcqa"\\nitems = "i"\\n'
    >>> plans = [frozen(decode_study(words, where="s")) for words in (text, text + "[models.n]\\nbase_url = 'http://h'")]
    >>> refused(*plans), [str(each) for each in refused(*reversed(plans))][0][:12]
    ([], 'models.n: wa')
    """  # noqa: E501
    asked = _cells(before)
    found = [each for each in changes(before, after) if not _is_growth(each, asked)]
    if not found and (lost := sorted(asked - _cells(after))):
        # Lists of names allow for it, and still something is not asked any more.
        return [Change((*cell,), "asked", None, removed=True) for cell in lost]
    return found


def _cells(config: Mapping[str, Any]) -> set[Cell]:
    return {cell for cell in cells(from_frozen(config)) if isinstance(cell, Cell)}


def _is_growth(change: Change, asked: set[Cell]) -> bool:
    match change.path:
        case (table, _) if table in _ADDED_BY_NAME and change.added:
            return True
        case ("examples", _) if change.added:
            return all((task, condition) not in _prompts(asked) for task, condition in _examples(change))
        case ("examples", task, condition) if change.added:
            return (task, condition) not in _prompts(asked)
        case ("tasks", _, "variants", _) if change.added:
            return True
        case ("tasks", _, key):
            return key in (*_DECIDED_BY_CELLS, *_DECIDED_BY_ITEMS)
        case ("items", _):
            return not change.removed
        case ("decoding", "samples"):
            return int(str(change.is_now)) > int(str(change.was))
    return False


def _prompts(asked: set[Cell]) -> set[tuple[str, str]]:
    return {(cell.task, cell.condition) for cell in asked}


def _examples(change: Change) -> list[tuple[str, str]]:
    return [(change.path[1], condition) for condition in change.is_now] if isinstance(change.is_now, dict) else []


def growth_notes(revisions: Sequence[Revision]) -> Iterator[str]:
    """What a reader is told of a plan that has grown: what was added when."""
    for before, after in pairwise(revisions):
        added = ", ".join(additions(before.config, after.config, (before.counts, after.counts))) or "nothing"
        yield (
            f"The plan has grown: revision {after.number}, of {after.date}, added {added}. What it added was "
            "asked later than the rest."
        )


def additions(
    before: Mapping[str, Any], after: Mapping[str, Any], counts: tuple[Mapping[str, int], Mapping[str, int]]
) -> list[str]:
    """What a growth added, in words; `counts` are the items of each task before and after. Nothing: it is none.

    >>> additions({"models": {"a": {}}, "decoding": {"samples": 1}}, {"models": {"a": {}, "b": {}},
    ...           "decoding": {"samples": 3}}, ({"t": 5}, {"t": 8}))
    ['the model b', '3 items of t', 'samples 2 to 3']
    """
    found = []
    for table, word in (("tasks", "task"), ("models", "model"), ("conditions", "condition")):
        old, new = before.get(table, {}), after.get(table, {})
        found += [f"the {word} {name}" for name in new if name not in old]
    for task, table in before.get("tasks", {}).items():
        variants = after["tasks"][task].get("variants", {})
        found += [f"the variant {name} of {task}" for name in variants if name not in table.get("variants", {})]
    old_counts, new_counts = counts
    for task, count in new_counts.items():
        if task in old_counts and count > old_counts[task]:
            found.append(f"{count - old_counts[task]:,} items of {task}")
    was, now = before["decoding"]["samples"], after["decoding"]["samples"]
    if now > was:
        found.append(f"samples {was + 1} to {now}" if now > was + 1 else f"sample {now}")
    return found or (["further cells"] if _cells(before) != _cells(after) else [])
