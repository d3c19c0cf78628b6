"""Scores of sources, made again from their rows."""

from collections.abc import Callable
from functools import partial

from affidavit.exchange.logged_output import LoggedOutput, SourceWord


class MeanOfItems:
    """The mean over items of the mean points of their samples, by one scorer's word.

    >>> mean = MeanOfItems("match")
    >>> for item, points in (("a", 1.0), ("a", 0.0), ("b", 1.0)):
    ...     word = SourceWord(scorer="match", points=points)
    ...     mean.add(LoggedOutput(place="", item_id=item, model="m", raw_output="", words=(word,)))
    >>> mean.value()
    0.75
    """

    def __init__(self, scorer: str, *, model: str | None = None) -> None:
        self._scorer = scorer
        self._model = model
        self._items: dict[str, tuple[float, int]] = {}

    def add(self, output: LoggedOutput) -> None:
        """One output more; a word about the whole item counts once."""
        if self._model is not None and output.model != self._model:
            return
        for word in output.words:
            if word.scorer == self._scorer and word.points is not None:
                self._add(output, word, word.points)

    def _add(self, output: LoggedOutput, word: SourceWord, points: float) -> None:
        total, count = self._items.get(output.item_id, (0.0, 0))
        if not (word.about_item and count):
            self._items[output.item_id] = total + points, count + 1

    def value(self) -> float | None:
        """The mean; None if no output has points."""
        means = [total / count for total, count in self._items.values()]
        return sum(means) / len(means) if means else None


def mean_of_items(scorer: str, model: str | None = None) -> Callable[[], MeanOfItems]:
    """What makes the mean of one scorer, for one model of a log or for all."""
    return partial(MeanOfItems, scorer, model=model)
