"""Names for the rows of a table, as short as they can be and still tell them apart."""

from collections.abc import Sequence

from affidavit.table import Value


def labels(names: Sequence[Sequence[Value]]) -> list[str]:
    """A label for each row, of the parts that tell rows apart.

    >>> labels([("trivia", "small", "free"), ("trivia", "large", "free")])
    ['small', 'large']
    """
    kept = [at for at in range(len(names[0]) if names else 0) if len({row[at] for row in names}) > 1]
    if not kept:
        kept = [max(0, len(names[0]) - 2)] if names and names[0] else []
    return [" · ".join(str(row[at]) for at in kept) for row in names]
