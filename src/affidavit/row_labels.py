"""Names for the rows of a table, as short as they can be and still tell them apart."""

from collections.abc import Sequence

from affidavit.table import Value

_BETWEEN = " · "
_BOUNDARIES = "-_/.: "


def labels(names: Sequence[Sequence[Value]]) -> list[str]:
    """A label for each row, of the parts that tell rows apart.

    >>> labels([("trivia", "small", "free"), ("trivia", "large", "free")])
    ['small', 'large']
    """
    kept = _telling(names)
    return [_BETWEEN.join(str(row[at]) for at in kept) for row in names]


def short_labels(names: Sequence[Sequence[Value]], most: int) -> list[str]:
    """Labels of at most so many characters: without what all names begin or end with, then without their middles.

    >>> short_labels([("org/llama-3-8b-instruct", "free"), ("org/llama-3-70b-instruct", "firm")], 20)
    ['…8b… · free', '…70b… · firm']
    """
    full = labels(names)
    if max(map(len, full), default=0) <= most:
        return full
    columns = [_without_shared([str(row[at]) for row in names]) for at in _telling(names)]
    widths = [min(most, max(map(len, column))) for column in columns]
    while sum(widths) > most - len(_BETWEEN) * (len(widths) - 1) and max(widths) > 3:
        widths[widths.index(max(widths))] -= 1
    cut = [[_cut(text, width) for text in column] for column, width in zip(columns, widths, strict=True)]
    return [_BETWEEN.join(row) for row in zip(*cut, strict=True)]


def _telling(names: Sequence[Sequence[Value]]) -> list[int]:
    """The places of the parts that tell rows apart; where none does, the last but one."""
    kept = [at for at in range(len(names[0]) if names else 0) if len({row[at] for row in names}) > 1]
    return kept or ([max(0, len(names[0]) - 2)] if names and names[0] else [])


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
    same = next((at for at, each in enumerate(low) if each != high[at]), len(low))
    return max((at + 1 for at in range(same) if low[at] in _BOUNDARIES), default=0)


def _cut(text: str, width: int) -> str:
    """The text, without its middle if it is longer."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
