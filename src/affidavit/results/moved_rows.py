"""The rows that an audit shows of those that moved: shared among logs, and within each among kinds of move."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from affidavit.plain_text import counted_noun
from affidavit.running.second_reading import Move, MovedRow, SecondReading

MOST_NAMED = 8
"""Logs of which a note says how many of their rows are shown."""
Each = TypeVar("Each")


@dataclass(frozen=True)
class MovedRows:
    """The rows that are shown, and how many of each log that is."""

    rows: Sequence[tuple[SecondReading, MovedRow]]
    """The worst kinds first."""
    of_logs: Sequence[tuple[str, int, int]]
    """Log and model, how many of its rows are shown, and how many moved."""

    @property
    def all_moved(self) -> int:
        """How many rows moved, shown or not."""
        return sum(moved for _, _, moved in self.of_logs)

    def note(self) -> str:
        """What is said where not all are shown; nothing where all are."""
        if len(self.rows) == self.all_moved:
            return ""
        parts = [f"{shown:,} of {moved:,} of {name}" for name, shown, moved in self.of_logs]
        named, others = parts[:MOST_NAMED], self.of_logs[MOST_NAMED:]
        if others:
            shown, moved = sum(each[1] for each in others), sum(each[2] for each in others)
            named.append(f"{shown:,} of {moved:,} of {counted_noun(len(others), 'further log')}")
        said = f": {'; '.join(named)}" if len(parts) > 1 else ""
        return f"{len(self.rows):,} of {self.all_moved:,} rows that moved{said}."


def moved_rows(readings: Sequence[SecondReading], most: int) -> MovedRows:
    """So many of the rows that moved and were kept, shared among logs and, within each, among kinds of move.

    Logs take turns, those with the worst kinds first; so do the kinds of each. What one lacks, the others have.
    """
    order = {move: place for place, move in enumerate(Move)}
    moving = [each for each in readings if each.moves]
    worst_first = sorted(moving, key=lambda each: min(order[move] for move in each.moves))
    of_logs = [[(each, row) for row in in_turns(_kinds(each))] for each in worst_first]
    chosen = list(islice(in_turns(of_logs), most))
    place = {id(each): number for number, each in enumerate(readings)}
    chosen.sort(key=lambda pair: (order[pair[1].move], place[id(pair[0])]))
    shown = Counter(id(each) for each, _ in chosen)
    return MovedRows(chosen, [(title_of(each), shown[id(each)], each.moves.total()) for each in moving])


def _kinds(reading: SecondReading) -> list[list[MovedRow]]:
    return [reading.moved.get(move, []) for move in Move]


def title_of(reading: SecondReading) -> str:
    """What people call it: the log and the model."""
    return f"{reading.log}, {reading.model}"


def in_turns(groups: Sequence[Sequence[Each]]) -> Iterator[Each]:
    """The first of each group, then the second of each, and so on.

    >>> list(in_turns(["abc", "x", "12"]))
    ['a', 'x', '1', 'b', '2', 'c']
    """
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))
