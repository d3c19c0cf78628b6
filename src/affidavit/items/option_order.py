"""In which order an item's options are shown, and the way back to its own order.

The order is drawn by a stable hash of the study's seed, the task, the item and the number of the sample, so it is
the same for every model and condition: pairs see the same options at the same letters. An answer is read as it
was given, checked against the key as it was shown, and kept with the letter that it has in the item itself.

    >>> item = Item("q1", {"question": "2 + 2?", "options": ["3", "4", "5"], "answer": "B"})
    >>> order = arrangement("rotate", seed=7, task="sums", item="q1", sample=0, count=3)
    >>> shown = arranged(item, order)
    >>> shown.fields["options"], shown.fields["answer"], lettered(order)
    (['5', '3', '4'], 'C', 'CAB')
    >>> own_letter("C", order)
    'B'
"""

from hashlib import sha256
from typing import Literal, cast

from affidavit.contracts.mcqa import LETTERS
from affidavit.items.item import Item
from affidavit.json_values import canonical

OptionOrder = Literal["as_given", "shuffle", "rotate"]
Arrangement = tuple[int, ...]
"""For each place, from the top, the number of the option that is shown there."""


def arrangement(how: OptionOrder, *, seed: int, task: str, item: str, sample: int, count: int) -> Arrangement:  # noqa: PLR0913
    """The order for one sample.

    `shuffle` draws a new order for each sample. `rotate` begins at a drawn option and moves on by one with each
    sample, so that as many samples as there are options show every option once at every letter.
    """
    if how == "as_given":
        return tuple(range(count))
    if how == "rotate":
        start = (int.from_bytes(_drawn(seed, task, item), "big") + sample) % count
        return tuple((start + place) % count for place in range(count))
    return tuple(sorted(range(count), key=lambda option: _drawn(seed, task, item, sample, option)))


def _drawn(*of: object) -> bytes:
    return sha256(canonical(["options", *of])).digest()


def arranged(item: Item, order: Arrangement) -> Item:
    """The item as it is shown: options in this order, and the letter of the right one with them."""
    options, answer = cast("list[str]", item.fields["options"]), item.fields.get("answer")
    shown = {**item.fields, "options": [options[option] for option in order]}
    if answer is not None:
        shown["answer"] = shown_letter(str(answer), order)
    return Item(item.id, shown)


def own_letter(letter: str, order: Arrangement) -> str:
    """The letter that an option has in the item, from the letter at which it was shown."""
    return LETTERS[order[LETTERS.index(letter)]]


def shown_letter(letter: str, order: Arrangement) -> str:
    """The letter at which an option is shown, from the letter that it has in the item."""
    return LETTERS[order.index(LETTERS.index(letter))]


def lettered(order: Arrangement) -> str:
    """The order as the options' own letters, from the top."""
    return "".join(LETTERS[option] for option in order)


def wrong_letter(answer: str, count: int, *, seed: int, task: str, item: str) -> str:
    """One of the wrong options, by its own letter: the same for every model, condition and sample of an item.

    >>> wrong_letter("B", 4, seed=7, task="trivia", item="q1") in "ACD"
    True
    """
    wrong = [letter for letter in LETTERS[:count] if letter != answer]
    return wrong[int.from_bytes(sha256(canonical(["wrong", seed, task, item])).digest(), "big") % len(wrong)]
