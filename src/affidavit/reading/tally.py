"""Counts of what a contract said, row by row.

Every row is in exactly one of compliant, non-compliant, unread and failed (ruling C5).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from affidavit.contracts.contract import COMPLIANT
from affidavit.contracts.parts import Parts

_COUNTERS = ("errors", "failures", "tokens")
_BY_READING = ("lenses", "looked_through", "keyed_through", "right_through")
_NOT_SEALED = ("unread_keyed", "unread_unsaid", "failed_keyed", "failed_unsaid", *_BY_READING[1:])


@dataclass
class Tally:
    """The counts over any number of rows."""

    compliant: int = 0
    non_compliant: int = 0
    unread: int = 0
    failed: int = 0
    pending: int = 0
    """What was planned and not asked yet."""
    truncated: int = 0
    """Outputs cut at the token limit, compliant or not (ruling C6)."""
    right: int = 0
    """Compliant outputs whose answer is right."""
    compared: int = 0
    """Outputs that hold an answer, which could be compared."""
    keyed: int = 0
    """Outputs to items whose answer is known."""
    unsaid: int = 0
    """Outputs that are not compliant, and of whose right answer nobody says whether it is known."""
    unread_keyed: int = 0
    """Unread outputs to items whose answer is known: they arrived, and none of them is right (ruling M6)."""
    unread_unsaid: int = 0
    """Unread outputs of whose right answer nobody says whether it is known."""
    failed_keyed: int = 0
    """Failed ones of items whose answer is known: of accuracy, only the bounds know them (ruling S6)."""
    failed_unsaid: int = 0
    """Failed ones of whose right answer nobody says whether it is known."""
    breakdowns: dict[str, Counter[str]] = field(default_factory=dict)
    valid_but_for_evidence: int = 0
    """Evaluations that nothing speaks against but `evidence_not_located` (ruling J6)."""
    lenses: dict[str, int] = field(default_factory=dict)
    """By reading, outputs in which it finds an answer."""
    looked_through: dict[str, int] = field(default_factory=dict)
    """By reading, outputs that it could read: some need to know more of the question (ruling M24)."""
    keyed_through: dict[str, int] = field(default_factory=dict)
    """By reading, those of them whose right answer is known."""
    right_through: dict[str, int] = field(default_factory=dict)
    """By reading, outputs that are right by it."""
    errors: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    """Why no output arrived, where that is known."""
    tokens: Counter[str] = field(default_factory=Counter)
    """What the server counted, by its names; `outputs` is how many came with a count."""

    @property
    def n(self) -> int:
        """All that was planned."""
        return self.compliant + self.non_compliant + self.unread + self.failed + self.pending

    @property
    def known(self) -> int:
        """Outputs whose right answer is known: where any answer is compared, those of which nobody says so too.

        An output that breaks the contract must not be left out because nobody says that it could have been right.
        """
        unsaid = self.unsaid + self.unread_unsaid if self.compared else 0
        return self.keyed + self.unread_keyed + unsaid

    @property
    def missing(self) -> int:
        """Of what could have been right, as far as is known: without an answer that was read, or failed."""
        failed = self.failed_keyed + (self.failed_unsaid if self.compared else 0)
        return self.known - self.compared + failed

    @property
    def arrived(self) -> int:
        """Rows that hold an output that was read."""
        return self.compliant + self.non_compliant

    def add(
        self,
        added: Mapping[str, object],
        *,
        parts: Parts | None = None,
        right_answer_known: bool | None = False,
        times: int = 1,
    ) -> None:
        """Count rows by the fields that each of them got; what the contract's parts count, by its values too."""
        match added[COMPLIANT]:
            case True:
                self.compliant += times
            case False:
                self.non_compliant += times
            case _:
                self._add_unknown(added, right_answer_known, times)
                return
        if right_answer_known is None:
            self.unsaid += times
        else:
            self.keyed += times * right_answer_known
        # Answer-level figures are over outputs that hold an answer (rulings M6 and G12).
        holds = added[COMPLIANT] if parts is None else parts.holds_answer(added)
        if holds and added.get("correct") is not None:
            self.compared += times
            self.right += times * (added["correct"] is True)
        if parts is not None:
            for name in parts.counted:
                if name not in self.breakdowns:
                    self.breakdowns[name] = Counter()
            for name, label in parts.labels(added):
                self.breakdowns[name][label] += times
            self.valid_but_for_evidence += times * parts.nearly_kept(added)

    def add_readings(
        self,
        added: Mapping[str, object],
        right: Collection[str],
        *,
        right_answer_known: bool | None,
        times: int = 1,
    ) -> None:
        """Count what lenient readings found in rows that were read, if any were asked, and which were right."""
        readings = added.get("other_readings")
        if added[COMPLIANT] is None or not isinstance(readings, dict):
            return
        for lens, answer in readings.items():
            found = (answer is not None, True, right_answer_known is True, lens in right)
            for name, counts in zip(_BY_READING, found, strict=True):
                by_reading: dict[str, int] = getattr(self, name)
                by_reading[lens] = by_reading.get(lens, 0) + times * counts

    def add_tokens(self, usage: Mapping[str, int | str] | None) -> None:
        """What a server counted for one output; what it told in words is not added up."""
        tokens, counted = self.tokens, False
        for name, count in () if usage is None else usage.items():
            if type(count) is int:
                if not counted:
                    tokens["outputs"] += 1
                tokens[name] += count
                counted = True

    def _add_unknown(self, added: Mapping[str, object], known: bool | None, times: int) -> None:  # noqa: FBT001
        keyed, unsaid = times * (known is True), times * (known is None)
        if "unread" in added:
            self.unread += times
            self.unread_keyed += keyed
            self.unread_unsaid += unsaid
            self.errors[str(added["unread"])] += times
        else:
            self.failed += times
            self.failed_keyed += keyed
            self.failed_unsaid += unsaid

    def counts(self) -> dict[str, object]:
        """All counts as JSON values, but for what only items tell: no seal has it."""
        counts = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _NOT_SEALED}
        if not self.unsaid:
            del counts["unsaid"]  # which is so for all contracts but some of users
        blocks = {name: dict(counter) for name, counter in self.breakdowns.items()}
        return {**counts, "breakdowns": blocks, **{name: dict(getattr(self, name)) for name in _COUNTERS}}

    @classmethod
    def total(cls, tallies: "Iterable[Tally]") -> "Tally":
        """The counts of all together.

        >>> Tally.total([Tally(right=1, tokens=Counter(outputs=1)), Tally(right=2)]).counts()["right"]
        3
        """
        total = cls()
        for tally in tallies:
            for each in fields(cls):
                mine, other = getattr(total, each.name), getattr(tally, each.name)
                if each.name == "breakdowns":
                    for name, counts in other.items():
                        mine[name] = mine.get(name, Counter()) + counts
                elif each.name in _BY_READING:
                    both = {name: mine.get(name, 0) + other.get(name, 0) for name in mine | other}
                    setattr(total, each.name, both)
                else:
                    setattr(total, each.name, mine + other)
        return total

    def blocks(self, titles: Mapping[str, str]) -> Iterator[tuple[str, str, Counter[str]]]:
        """Field, title and counts of every breakdown that counted something, in the order of the titles."""
        return ((name, titles[name], self.breakdowns[name]) for name in titles if self.breakdowns.get(name))


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first; of equals, the first by name."""
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))
