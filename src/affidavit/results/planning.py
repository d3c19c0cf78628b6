"""What a study could find, before anything is asked: its comparisons, and the differences that they would show.

Comparisons are those of conditions with their controls, for each model, and those of models, under each condition.
Every comparison has up to three measures, and a table of them is one family: each row is held to Holm's first step
(ruling S3), the level over all rows of all tasks, which is the hardest. Items are paired, one sample of each, and
power is that of McNemar's exact test, which such a table uses: on how many items two sides differ is not known
beforehand, so it is said for a few shares. More samples of an item make a study a little better than this.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from affidavit.json_values import Fields
from affidavit.plain_text import plain
from affidavit.statistics.power import LEVEL, POWER, mcnemar_power, pairs_needed
from affidavit.study.crossing import Cell

DISCORDANCES = (0.1, 0.25, 0.5)
"""Shares of items on which two sides differ; at one half they are independent, and each is right half the time."""
DIFFERENCE = 0.05
MEASURES_OF_A_COMPARISON = 3
"""Compliance, accuracy over answers, accuracy over all outputs."""
_NEAR, _MANY = 5e-4, 500
"""How closely a detectable difference is told; discordant pairs from which the normal approximation serves."""


@dataclass(frozen=True)
class PlannedTask:
    """The comparisons of one task, and what they could show."""

    task: str
    items: int
    comparisons: int
    rows: int
    """Of all tables of differences of the study: measures of comparisons, over all tasks."""

    @property
    def level(self) -> float:
        """Of each row: Holm's first step."""
        return LEVEL / max(1, self.rows)

    def detectable(self, discordance: float) -> float | None:
        """The smallest difference that would be found in 80 % of such studies; None if none would be."""
        # Sides that differ on fewer items than that cannot differ by so much.
        if mcnemar_power(discordance, discordance, self.items, level=self.level) < POWER:
            return None
        least, most = 0.0, discordance
        while most - least > _NEAR:
            middle = (least + most) / 2
            found = mcnemar_power(middle, discordance, self.items, level=self.level) >= POWER
            least, most = (least, middle) if found else (middle, most)
        return most

    def items_needed(self, difference: float, discordance: float) -> int | None:
        """How many items it takes to find this difference; None if sides that differ so seldom cannot have it."""
        if difference > discordance:
            return None
        # The exact test needs some pairs more than the normal approximation, and its power goes up in steps.
        about = pairs_needed(difference, discordance, level=self.level)
        if about * discordance > _MANY:
            return about
        for pairs in range(about, 2 * about + 100):
            if mcnemar_power(difference, discordance, pairs, level=self.level) >= POWER:
                return pairs
        return about

    def as_json(self, difference: float) -> Fields:
        """The figures as JSON values, a row for each share of items on which two sides differ."""
        rows = [
            {
                "discordance": share,
                "detectable_difference": self.detectable(share),
                "items_needed": self.items_needed(difference, share),
            }
            for share in DISCORDANCES
        ]
        return {
            "task": self.task,
            "items": self.items,
            "comparisons": self.comparisons,
            "level": self.level,
            "power": POWER,
            "difference": difference,
            "if_two_sides_differ_on": rows,
        }

    def in_words(self, difference: float) -> Iterator[str]:
        """The figures as lines for a terminal."""
        each = "comparison" if self.comparisons == 1 else "comparisons"
        needed = {share: self.items_needed(difference, share) for share in DISCORDANCES}
        known = [count for count in needed.values() if count is not None]
        points = f"{difference * 100:g} points"
        enough = "perhaps" if known else "no"
        if known and not min(known) <= self.items < max(known):
            enough = "no" if self.items < min(known) else "yes"
        size = f"{self.comparisons:,} {each}, {self.items:,} items"
        yield f"{plain(self.task)}: {size}: enough for {points}? {enough}"
        for share in DISCORDANCES:
            least, count = self.detectable(share), needed[share]
            shown = "too few to find any difference" if least is None else f"{least * 100:.1f} points are found"
            items = f"{points} cannot occur" if count is None else f"{points} take {count:,} items"
            yield f"  answers differ on {share:.0%} of items: {shown}; {items}"


def planned_tasks(
    items: Mapping[Cell, int], controls: Mapping[str, str], tasks: Collection[str] = ()
) -> list[PlannedTask]:
    """The tasks with something to compare; `items` says how many each cell asks, `controls` is by condition.

    >>> asked = {Cell("quiz", model, condition): 40 for model in ("a", "b") for condition in ("free", "firm")}
    >>> planned_tasks(asked, {"firm": "free"})
    [PlannedTask(task='quiz', items=40, comparisons=4, rows=12)]
    """
    found: dict[str, tuple[int, int]] = {}
    for task in tasks or dict.fromkeys(cell.task for cell in items):
        cells = [cell for cell in items if cell.task == task]
        if pairs := comparisons(cells, controls):
            found[task] = min(items[cell] for pair in pairs for cell in pair), len(pairs)
    rows = MEASURES_OF_A_COMPARISON * sum(count for _, count in found.values())
    return [PlannedTask(task, least, count, rows) for task, (least, count) in found.items()]


def comparisons(cells: Sequence[Cell], controls: Mapping[str, str]) -> list[tuple[Cell, Cell]]:
    """Conditions against their controls for each model, and models against each other under each condition."""
    there = set(cells)
    against = [
        (cell, control)
        for cell in cells
        if cell.condition in controls
        for control in [cell._replace(condition=controls[cell.condition])]
        if control in there
    ]
    of_models = [
        (one, other)
        for one, other in combinations(cells, 2)
        if one.task == other.task and one.condition == other.condition
    ]
    return [*against, *of_models]


def planning_lines(planned: Sequence[PlannedTask], difference: float) -> Iterator[str]:
    """What such a study would find, as lines for a terminal; none where nothing is compared."""
    if planned:
        level = planned[0].level
        yield f"what differences of two shares would be found in {POWER:.0%} of such studies"
        yield f"  (one sample of each item; each of {planned[0].rows:,} rows at a level of {level:.2g}, by Holm):"
    for task in planned:
        yield from (f"  {line}" for line in task.in_words(difference))
