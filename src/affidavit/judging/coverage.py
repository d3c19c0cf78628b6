"""Whether a set of evaluations covers what was asked: every planned one once, and none twice (ruling J9).

Planned is what the names in the rows make: each judge on each question × variant × target. Rows that do not say
which evaluation they hold are counted and left out.

    >>> from affidavit.contracts.evaluation import NAMES
    >>> coverage = Coverage()
    >>> for question, variant in (("Q1", "A"), ("Q1", "A"), ("Q1", "B"), ("Q2", "A")):
    ...     coverage.add(Asked(dict(zip(NAMES, ("J", question, variant, "T", "o"), strict=True))), evaluated=True)
    >>> print(coverage.text())
    coverage: 4 of 4 evaluations say which output they are about
      double: 1
        judge J, question Q1, variant A, target T, output o: 2 times
      missing: 1 of 4
        judge J, question Q2, variant B, target T
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice, product

from affidavit.contracts.evaluation import IDENTIFIERS, Asked
from affidavit.json_values import Fields, canonical
from affidavit.plain_text import plain

LISTED = 20
"""Evaluations of a kind that are listed by name; the others are counted."""
_WORDS = {
    "judge_model": "judge",
    "question_id": "question",
    "prompt_variant": "variant",
    "target_model": "target",
    "output_id": "output",
    "repeat": "repeat",
}
_Slot = tuple[str, ...]
_CELL = IDENTIFIERS[:3]


class Coverage:
    """The evaluations of a set as they come; memory grows by some bytes for each, not by its text."""

    def __init__(self) -> None:
        self._evaluations = 0
        self._unidentified = 0
        self._seen: set[bytes] = set()
        self._double: set[bytes] = set()
        self._times: Counter[_Slot] = Counter()
        self._cells: dict[str, set[_Slot]] = {}
        self._parts: tuple[dict[str, None], ...] = ({}, {}, {})

    def add(self, asked: Asked, *, evaluated: bool) -> None:
        """One row: what was asked, and whether there is an evaluation of it."""
        self._evaluations += evaluated
        if not asked.identified:
            self._unidentified += evaluated
            return
        meta = asked.meta
        judge, cell = meta.get("judge_model", ""), tuple(meta[name] for name in _CELL)
        for part, name in zip(self._parts, cell, strict=True):
            part.setdefault(name)
        cells = self._cells.setdefault(judge, set())
        if evaluated:
            cells.add(cell)
            self._count((judge, *cell, meta["output_id"], asked.repeat or ""))

    def _count(self, slot: _Slot) -> None:
        # A digest in place of six names: there may be a million of them.
        digest = sha256(canonical(slot)).digest()[:16]
        if digest not in self._seen:
            self._seen.add(digest)
            return
        self._double.add(digest)
        if slot in self._times or len(self._times) < LISTED:
            self._times[slot] += 1 if slot in self._times else 2

    @property
    def known(self) -> bool:
        """Whether any row says which evaluation it holds."""
        return bool(self._cells)

    def _planned(self) -> int:
        return len(self._cells) * len(self._parts[0]) * len(self._parts[1]) * len(self._parts[2])

    def _missing(self) -> Iterator[_Slot]:
        for judge, cells in sorted(self._cells.items()):
            for cell in product(*map(sorted, self._parts)):
                if cell not in cells:
                    yield judge, *cell

    def fields(self) -> Fields:
        """The coverage as JSON values: counts, and the first of each kind by name."""
        planned = self._planned()
        double = [_named(slot) | {"times": times} for slot, times in sorted(self._times.items())]
        return {
            "evaluations": self._evaluations,
            "unidentified": self._unidentified,
            "planned": planned,
            "missing": planned - sum(map(len, self._cells.values())),
            "missing_listed": [_named(slot) for slot in islice(self._missing(), LISTED)],
            "double": len(self._double),
            "double_listed": double,
        }

    def text(self) -> str:
        """The coverage as lines for a terminal."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        identified = self._evaluations - self._unidentified
        yield (f"coverage: {identified:,} of {self._evaluations:,} evaluations say which output they are about")
        if not self.known:
            return
        yield f"  double: {len(self._double):,}"
        for slot, times in sorted(self._times.items()):
            yield f"    {_in_words(slot)}: {times:,} times"
        yield from _others(len(self._double))
        planned = self._planned()
        missing = planned - sum(map(len, self._cells.values()))
        yield f"  missing: {missing:,} of {planned:,}"
        for slot in islice(self._missing(), LISTED):
            yield f"    {_in_words(slot)}"
        yield from _others(missing)


def _others(count: int) -> Iterator[str]:
    if count > LISTED:
        yield f"    and {count - LISTED:,} others"


def _named(slot: _Slot) -> Fields:
    return {name: value for name, value in zip(_WORDS, slot, strict=False) if value}


def _in_words(slot: _Slot) -> str:
    return ", ".join(f"{_WORDS[name]} {plain(str(value))}" for name, value in _named(slot).items())
