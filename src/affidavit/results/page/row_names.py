"""Names for the rows of a table, as short as they can be and still tell them apart."""

from collections.abc import Sequence
from itertools import pairwise

from affidavit.results.values import Value

_BETWEEN, _NOTHING = " · ", "–"
_BOUNDARIES = "-_/.: "


def naming(columns: Sequence[str]) -> int:
    """The place of the name that a lone row goes by: its model or judge, or else the last.

    >>> naming(("task", "model", "condition")), naming(("judge", "method")), naming(("task", "metadata.subject"))
    (1, 0, 1)
    """
    return next((columns.index(each) for each in ("model", "judge") if each in columns), len(columns) - 1)


def telling(names: Sequence[Sequence[Value]]) -> list[int]:
    """The places of the parts that tell rows apart.

    >>> telling([("trivia", "small", "free"), ("trivia", "large", "free")])
    [1]
    """
    return [at for at in range(len(names[0]) if names else 0) if len({row[at] for row in names}) > 1]


def labels(names: Sequence[Sequence[Value]], lone: int, *, always: bool = False) -> list[str]:
    """A label for each row, of the parts that tell rows apart; `lone` is the place of the part where none does.

    That part is there `always`, if asked for.

    >>> labels([("trivia", "small", "free"), ("trivia", "large", "free")], 1)
    ['small', 'large']
    """
    return [_BETWEEN.join(row) for row in zip(*_columns(names, lone, always=always), strict=True)]


def short_labels(names: Sequence[Sequence[Value]], lone: int, most: int, *, always: bool = False) -> list[str]:
    """Labels of at most so many characters, apart wherever the full ones are.

    What all names begin or end with is left out first, then what is far from where a name differs from others.

    >>> short_labels([("org/llama-3-8b-instruct", "free"), ("org/llama-3-70b-instruct", "firm")], 0, 20)
    ['…8b… · free', '…70b… · firm']
    """
    full = labels(names, lone, always=always)
    if max(map(len, full), default=0) <= most:
        return full
    columns = [_without_shared(column) for column in _columns(names, lone, always=always)]
    widths = [min(most, max(map(len, column))) for column in columns]
    while sum(widths) > most - len(_BETWEEN) * (len(widths) - 1) and max(widths) > 3:
        widths[widths.index(max(widths))] -= 1
    cut = [_cut(column, width) for column, width in zip(columns, widths, strict=True)]
    return _apart([_BETWEEN.join(row) for row in zip(*cut, strict=True)], full, most)


def _columns(names: Sequence[Sequence[Value]], lone: int, *, always: bool) -> list[list[str]]:
    """The parts that tell rows apart, part by part."""
    kept = sorted({*telling(names), *([lone] if always else [])}) or [lone]
    return [[str(row[at]) or _NOTHING for row in names] for at in kept]


def _without_shared(texts: list[str]) -> list[str]:
    front = _shared(texts)
    texts = [f"…{text[front:]}" for text in texts] if front > 3 else texts
    back = _shared([text[::-1] for text in texts])
    return [f"{text[: len(text) - back]}…" for text in texts] if back > 3 else texts


def _shared(texts: list[str]) -> int:
    """How many characters all texts begin with, up to a boundary."""
    low, high = min(texts), max(texts)
    if low == high:
        return 0
    same = _alike(low, high)
    return max((at + 1 for at in range(same) if low[at] in _BOUNDARIES), default=0)


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(texts: list[str], width: int) -> list[str]:
    """The texts, of long ones the front and what follows where they differ from the one most like them."""
    ordered = sorted(set(texts))
    differs = dict.fromkeys(ordered, 0)
    for before, after in pairwise(ordered):
        alike = _alike(before, after)
        differs[before], differs[after] = max(differs[before], alike), max(differs[after], alike)
    return [_cut_at(text, differs[text], width) for text in texts]


def _cut_at(text: str, place: int, width: int) -> str:
    if len(text) <= width:
        return text
    if place < width - 2:
        return f"{text[: width - 1]}…"
    front = max(0, width // 3 - 1)
    rest = text[max(front, min(place - 1, len(text) - (width - front - 1))) :]
    room = width - front - 1
    return f"{text[:front]}…{rest if len(rest) <= room else rest[: room - 1] + '…'}"


def _apart(short: list[str], full: list[str], most: int) -> list[str]:
    """The short labels, numbered where the same one would stand for different rows."""
    meant: dict[str, str] = {}
    found = []
    for label, means in zip(short, full, strict=True):
        number, tried = 1, label
        while meant.setdefault(tried, means) != means:
            number += 1
            tail = f" ({number})"
            tried = label[: most - len(tail)] + tail
        found.append(tried)
    return found
