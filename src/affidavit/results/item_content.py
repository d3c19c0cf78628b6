"""What the items of two sides have in common but their ids: their text, and what is right.

Two studies may give one id to different questions, and rows from elsewhere may name different right answers for
one item. What only one side knows is no difference. No code of a user is run to find out.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from affidavit.contracts.contract import Unread, guarded
from affidavit.contracts.parts import Parts
from affidavit.json_values import Fields, digest

ItemContent: TypeAlias = Mapping[str, frozenset[str]]
"""What is known of an item, by what it is; several of a kind where rows of one item contradict each other."""
ItemContents: TypeAlias = Mapping[tuple[str, str], ItemContent]
"""By task and id."""
RIGHT, WHOLE = "right answer", "whole"
_TEXTS = ("question", "options")


def content_of(fields: Fields, parts: Parts) -> ItemContent:
    """The text and the right answer of an item, as far as it has them.

    >>> from affidavit import mcqa
    >>> sorted(content_of({"question": "Which?", "answer": "B", "seconds": 3}, mcqa))
    ['question', 'right answer']
    >>> sorted(content_of({"answer": None}, mcqa))
    []
    """
    found = {name: frozenset([digest(fields[name])]) for name in _TEXTS if fields.get(name) is not None}
    right = _right(fields, parts)
    return found if right is None else {**found, RIGHT: frozenset([right])}


def content_of_frozen(fields: Fields, parts: Parts) -> ItemContent:
    """The same of an item that is on record as it is; beside it all of it, its metadata aside."""
    asked = {name: value for name, value in fields.items() if name != "metadata"}
    return {**content_of(fields, parts), WHOLE: frozenset([digest(asked)])}


def _right(fields: Fields, parts: Parts) -> str | None:
    """What answers are compared with; of a contract from a file, its `answer`."""
    if parts.item_fields is None:
        answer = fields.get("answer")
        return None if answer is None else digest(answer)
    item = guarded(lambda: parts.item(fields, where=""))
    return None if isinstance(item, Unread) or not parts.right_answer_known(item) else repr(item)


def together(contents: Iterable[tuple[tuple[str, str], ItemContent]]) -> ItemContents:
    """Items that may be there several times, each once with all that is said of it.

    >>> said = [(("t", "q"), {RIGHT: frozenset("A")}), (("t", "q"), {RIGHT: frozenset("B")})]
    >>> sorted(together(said)["t", "q"][RIGHT])
    ['A', 'B']
    """
    found: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
    for place, content in contents:
        known = found.setdefault(place, {})
        for name, values in content.items():
            known[name] = known.get(name, frozenset()) | values
    return found


def differing(one: ItemContents, another: ItemContents, *names: str) -> set[tuple[str, str]]:
    """The items of both that differ in what both know, or in what is named of it.

    >>> first, second = {RIGHT: frozenset("A")}, {RIGHT: frozenset("B"), "question": frozenset("?")}
    >>> differing({("t", "q"): first}, {("t", "q"): second}), differing({("t", "q"): first}, {("t", "q"): first})
    ({('t', 'q')}, set())
    """
    return {
        place
        for place in one.keys() & another.keys()
        if any(
            one[place][name] != another[place][name]
            for name in one[place].keys() & another[place].keys()
            if not names or name in names
        )
    }
