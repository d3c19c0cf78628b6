"""Counts of what a contract said, row by row.

Every row is in exactly one of compliant, non-compliant, unread and failed (ruling C5).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from affidavit.contracts.contract import COMPLIANT
from affidavit.contracts.finding import ADVISORY, Code

BREAKDOWNS = {
    "deviation": "deviations",
    "extraction_method": "methods",
    "reason": "reasons",
    "flags": "flags",
    "findings": "findings",
    "judge_flags": "flags of the judge",
    "verdict": "verdicts of valid evaluations",
    "evidence": "quotes",
    "declared": "declared by the judge, by overall score",
}
"""The added fields that are counted by value, with the title of their block."""


_COUNTERS = ("errors", "failures", "tokens")


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
    """Compliant outputs whose answer could be compared."""
    keyed: int = 0
    """Outputs to items whose answer is known."""
    breakdowns: dict[str, Counter[str]] = field(default_factory=dict)
    valid_but_for_evidence: int = 0
    """Evaluations that nothing speaks against but `evidence_not_located` (ruling J6)."""
    lenses: dict[str, int] = field(default_factory=dict)
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
    def arrived(self) -> int:
        """Rows that hold an output that was read."""
        return self.compliant + self.non_compliant

    def add(
        self,
        added: Mapping[str, object],
        *,
        counted: Iterable[str] = (),
        has_key: bool = False,
        times: int = 1,
    ) -> None:
        """Count rows by the fields that each of them gained; those in `counted` by their values too."""
        match added[COMPLIANT]:
            case True:
                self.compliant += times
            case False:
                self.non_compliant += times
            case _:
                self._add_unknown(added, times)
                return
        self.keyed += times * has_key
        # Answer-level figures are over compliant outputs only (ruling M6).
        if added[COMPLIANT] and added.get("correct") is not None:
            self.compared += times
            self.right += times * (added["correct"] is True)
        for name in counted:
            counts = self.breakdowns.setdefault(name, Counter())
            for label in _labels(name, added):
                counts[label] += times
        if "findings" in counted and _only_evidence_is_missing(added):
            self.valid_but_for_evidence += times
        readings = added.get("other_readings")
        if isinstance(readings, dict):
            for lens, answer in readings.items():
                self.lenses[lens] = self.lenses.get(lens, 0) + times * (answer is not None)

    def add_tokens(self, usage: object) -> None:
        """What a server counted for one output."""
        if isinstance(usage, Mapping):
            self.tokens["outputs"] += 1
            for name, count in usage.items():
                self.tokens[name] += count

    def _add_unknown(self, added: Mapping[str, object], times: int) -> None:
        if "unread" in added:
            self.unread += times
            self.errors[str(added["unread"])] += times
        else:
            self.failed += times

    def counts(self) -> dict[str, object]:
        """All counts as JSON values."""
        counts = {each.name: getattr(self, each.name) for each in fields(self)}
        blocks = {name: dict(counter) for name, counter in self.breakdowns.items()}
        return {**counts, "breakdowns": blocks, **{name: dict(getattr(self, name)) for name in _COUNTERS}}

    @classmethod
    def of(cls, counts: Mapping[str, Any]) -> "Tally":
        """The tally whose `counts` these are.

        >>> Tally.of(Tally(failed=2, failures=Counter(timeout=2)).counts()).failures["timeout"]
        2
        """
        counters = {name: Counter(counts[name]) for name in _COUNTERS}
        blocks = {name: Counter(each) for name, each in counts["breakdowns"].items()}
        return cls(**{**counts, **counters, "breakdowns": blocks})

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
                elif each.name == "lenses":
                    total.lenses = {name: mine.get(name, 0) + other.get(name, 0) for name in mine | other}
                else:
                    setattr(total, each.name, mine + other)
        return total

    def blocks(self) -> Iterator[tuple[str, Counter[str]]]:
        """Title and counts of every breakdown that counted something, in their fixed order."""
        return ((BREAKDOWNS[name], self.breakdowns[name]) for name in BREAKDOWNS if self.breakdowns.get(name))


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first; of equals, the first by name."""
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _labels(name: str, added: Mapping[str, object]) -> Iterator[str]:
    if name == "declared":
        yield from _declared(added)
        return
    value = added.get(name)
    if name == "verdict" and not added[COMPLIANT]:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if name == "evidence":
            yield from (each["kind"] for each in value)
        else:
            # How many evaluations have it, not how often one has it.
            yield from dict.fromkeys(each["code"] if name == "findings" else each for each in value)


def _declared(added: Mapping[str, object]) -> Iterator[str]:
    """The overall score of an evaluation in which the judge itself named a criterion (ruling J5)."""
    if Code.DECLARED_BY_JUDGE in _codes(added):
        scores = added.get("scores")
        yield str(sum(scores.values())) if isinstance(scores, dict) else "no score"


def _only_evidence_is_missing(added: Mapping[str, object]) -> bool:
    return {code for code in _codes(added) if code not in ADVISORY} == {Code.EVIDENCE_NOT_LOCATED}


def _codes(added: Mapping[str, object]) -> set[str]:
    findings = added.get("findings")
    return {each["code"] for each in findings} if isinstance(findings, list) else set()
