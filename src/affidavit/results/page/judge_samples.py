"""Which evaluations a page shows: of each finding, and of valid ones, the few with the smallest keys.

Quotes are marked where they were found in the judged text, and those that are nowhere are named.
"""

import json
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from affidavit.archive.record import Judgement, JudgementIdentity, Record, RecordedFinding, RecordedQuote
from affidavit.contracts.evaluation import EvidenceKind
from affidavit.contracts.finding import CODES_BY_FLAG, Code
from affidavit.contracts.parts import Mark
from affidavit.results.page.text import MOST_MARKS, Piece, brief, pieces

PER_FINDING = 2
MOST_PLACES, MOST_QUOTES = 4, 12
"""Of one evaluation: places with the same finding, quotes."""
QUOTE, ABSENT = "quote", "absent"
"""What marks in a judged text, and in what a judge wrote, are of."""
VALID = "valid"
"""Evaluations without a finding that makes them invalid."""
_CLOSED = {code.value: flag.value for flag, codes in CODES_BY_FLAG.items() for code in codes}


@dataclass(frozen=True)
class Quote:
    """One quote of a judge, and what became of it."""

    dimension: str
    kind: str
    text: Sequence[Piece]


@dataclass(frozen=True)
class JudgeSample:
    """One evaluation that has a finding, as it is shown."""

    code: str
    flag: str
    of_kind: int
    """Evaluations with such a finding in all."""
    findings: Sequence[tuple[str, str, str]]
    """Path, expected, found."""
    where: Mapping[str, str]
    text: Sequence[Piece]
    judged: Sequence[Piece]
    quotes: Sequence[Quote]
    rest: str = ""
    """What of it is not shown."""


@dataclass
class FindingSamples:
    """The evaluations that are shown, gathered record by record."""

    counts: dict[str, int] = field(default_factory=dict)
    """Evaluations that have a finding, by its code."""
    _chosen: dict[str, list[Judgement]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """One record; of evaluations with a finding, and of valid ones, those with the smallest keys are kept."""
        if not isinstance(record, Judgement):
            return
        for code in (*record.codes, *((VALID,) if record.valid else ())):
            self.counts[code] = self.counts.get(code, 0) + 1
            chosen = self._chosen.setdefault(code, [])
            if len(chosen) < PER_FINDING or record.key < chosen[-1].key:
                insort(chosen, record, key=lambda judgement: judgement.key)
                del chosen[PER_FINDING:]

    def judged_keys(self) -> list[str]:
        """The outputs that the chosen evaluations are about."""
        return sorted({each.subject.judged_key for chosen in self._chosen.values() for each in chosen})

    def shown(self, judged: Mapping[str, str]) -> Iterator[JudgeSample]:
        """The evaluations in the order of the protocol's list; `judged` are the outputs by their keys."""
        for code in dict.fromkeys((VALID, *Code, *self._chosen)):
            for judgement in self._chosen.get(code, ()):
                text = judged.get(judgement.subject.judged_key, "")
                yield _evaluation(code, self.counts[code], judgement, text)


def _evaluation(code: str, of_kind: int, judgement: Judgement, judged: str) -> JudgeSample:
    found = [finding for finding in judgement.findings if finding.code == code]
    further = sum(each.count for each in judgement.further_findings if each.code == code)
    evidence = judgement.evidence
    marks = [
        Mark(quote.start, quote.end, QUOTE)
        for quote in evidence
        if quote.start is not None and quote.end is not None
    ]
    quotes = list(_quotes(evidence))
    more = {
        "places": max(len(found) - MOST_PLACES, 0) + further,
        "quotes": len(quotes) - MOST_QUOTES,
        "marks": len(marks) - MOST_MARKS,
    }
    return JudgeSample(
        code,
        "no flag" if code == VALID else _CLOSED.get(code, "no flag of its own"),
        of_kind,
        [_place(finding) for finding in found[:MOST_PLACES]],
        _where(judgement.subject),
        pieces(judgement.raw_output, _invented(judgement.raw_output, evidence)),
        pieces(judged, marks),
        quotes[:MOST_QUOTES],
        _rest(more),
    )


def _where(subject: JudgementIdentity) -> dict[str, str]:
    return {
        "judge": subject.judge,
        "judging condition": subject.judging_condition,
        "model": subject.model,
        "condition": subject.condition,
        "item id": subject.item_id,
        "repeat": str(subject.repeat),
        "key": subject.key,
        "method": subject.method,
    }


def _place(finding: RecordedFinding) -> tuple[str, str, str]:
    return brief(finding.path, 300), brief(finding.expected, 300), brief(finding.found, 300)


def _rest(more: Mapping[str, int]) -> str:
    """What is left out, if anything is.

    >>> _rest({"places": 5, "quotes": -2, "marks": 1})
    'Not shown of this evaluation: 5 more places, 1 more marks.'
    """
    listed = ", ".join(f"{count:,} more {what}" for what, count in more.items() if count > 0)
    return f"Not shown of this evaluation: {listed}." if listed else ""


def _invented(raw: str, evidence: Iterable[RecordedQuote]) -> Iterator[Mark]:
    """Where a judge wrote down the quotes that are nowhere in what it judged, each as often as it did."""
    after: dict[str, int] = {}
    for quote in evidence:
        if quote.kind != EvidenceKind.ABSENT:
            continue
        for spelt in (json.dumps(quote.quote, ensure_ascii=ascii_only) for ascii_only in (False, True)):
            if (start := raw.find(spelt, after.get(spelt, 0))) >= 0:
                after[spelt] = start + len(spelt)
                yield Mark(start + 1, start + len(spelt) - 1, ABSENT)
                break


def _quotes(evidence: Iterable[RecordedQuote]) -> Iterator[Quote]:
    seen = set()
    for quote in evidence:
        if quote.kind == EvidenceKind.UNCHECKED or (quote.dimension, quote.quote) in seen:
            continue
        seen.add((quote.dimension, quote.quote))
        yield Quote(brief(quote.dimension, 80), quote.kind, pieces(quote.quote))
