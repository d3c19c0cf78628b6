"""Which outputs and evaluations a page shows, and what is marked in them.

Of each kind, wrong answers in the right format among them, the few with the smallest keys are shown. A key is a
digest of what was asked, or of an output's names if it came from elsewhere, so nobody chose them, and the same
study shows the same ones. The answer or the candidate is marked where it stands; quotes are marked where they were
found in the judged text, and those that are nowhere are named.
"""

import json
from bisect import insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from affidavit.archive.record import Judgement, JudgementIdentity, Record, RecordedFinding, RecordedQuote
from affidavit.contracts.evaluation import EvidenceKind
from affidavit.contracts.finding import CODES_BY_FLAG, Code
from affidavit.contracts.mcqa import LETTERS
from affidavit.contracts.parts import ANSWER, MARKED, Mark, Parts, parts_of
from affidavit.results.page.text import MOST_MARKS, Piece, brief, pieces

PER_KIND, PER_FINDING, MOST_KINDS, MOST_SAMPLES = 3, 2, 40, 1_000
MOST_PLACES, MOST_QUOTES = 4, 12
"""Of one evaluation: places with the same finding, quotes."""
WRONG = "compliant, wrong"
"""The kind of outputs that follow the format and whose answer is not the right one."""
QUOTE, ABSENT = "quote", "absent"
"""What marks in a judged text, and in what a judge wrote, are of."""
DEFAULT_PARTS = Parts()
_SHOWN = ("task", "item_id", "model", "condition", "sample", "contract", "key")
_CLOSED = {code.value: flag.value for flag, codes in CODES_BY_FLAG.items() for code in codes}


@dataclass(frozen=True)
class Sample:
    """One output, as it is shown."""

    kind: str
    of_kind: int
    """Outputs of this kind in all."""
    where: Mapping[str, str]
    text: Sequence[Piece]
    note: str = ""
    question: Sequence[Piece] = ()
    """What was asked, as far as it is known."""
    row: Sequence[Piece] = ()
    """Of an output from elsewhere: what else stood in its row, the right answer perhaps among it."""


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


# --- outputs ---


def sampled(outputs: pl.LazyFrame) -> tuple[pl.DataFrame, int]:
    """The rows of the outputs that are shown, by kind and key, with `of_kind`, the number of such outputs.

    Also how many kinds there are: beyond `MOST_KINDS` they are left out.
    """
    wrong = pl.col("protocol_compliant").eq_missing(other=True) & pl.col("correct").eq_missing(other=False)
    # Some contracts have kinds of their own for wrong answers.
    kind = pl.coalesce("failing", pl.when(wrong).then(pl.lit(WRONG)))
    chosen = (
        outputs.select("contract", "key", kind=kind)
        .filter(pl.col("kind").is_not_null())
        .group_by("kind", "contract")
        .agg(of_kind=pl.len(), key=pl.col("key").sort().head(PER_KIND))
        .sort("of_kind", "kind", "contract", descending=[True, False, False])
        .collect(engine="streaming")
    )
    kinds = chosen.head(MOST_KINDS).with_columns(place=pl.int_range(pl.len()))
    keys = kinds.explode("key")
    columns = [*_SHOWN, "raw_output", "raw_output_escaped", "options", "right_letter", "unread", "marks", "row"]
    rows = outputs.filter(pl.col("key").is_in(keys["key"].to_list())).select(columns).collect(engine="streaming")
    joined = keys.select("key", "kind", "of_kind", "place").join(rows, on="key").sort("place", "key")
    return joined, len(chosen)


def output_samples(
    rows: pl.DataFrame,
    items: Mapping[tuple[str, str], Mapping[str, object]],
    parts: Mapping[str, Parts],
    arranged: Collection[str] = (),
) -> Iterator[Sample]:
    """The rows as they are shown; `items` by task and id, as far as they are at hand, `parts` by task.

    In tasks that are `arranged` options were shown in another order than the item's own: they get no letters.
    """
    for row in rows.iter_rows(named=True):
        item, in_order = items.get((row["task"], row["item_id"]), {}), row["task"] not in arranged
        shown = _sample(row, parts, right_option="" if in_order else _right_option(item))
        where = {**shown.where, **_right_answer(shown, item)}
        yield replace(shown, where=where, question=pieces(_asked(item, lettered=in_order)))


def imported_samples(
    rows: pl.DataFrame, prompts: Mapping[str, str], parts: Mapping[str, Parts]
) -> Iterator[Sample]:
    """Rows from elsewhere as they are shown; `prompts` by key, where one is known."""
    for row in rows.iter_rows(named=True):
        fields, prompt = json.loads(row["row"] or "{}"), prompts.get(row["key"], "")
        yield replace(_sample(row, parts), question=pieces(prompt), row=pieces(_listed(fields)))


def _sample(row: Mapping[str, Any], parts: Mapping[str, Parts], *, right_option: str = "") -> Sample:
    """The output of a row with its marks and names; `right_option` is said beside the right letter."""
    raw, own = raw_of(row), parts.get(row["task"], DEFAULT_PARTS)
    if row["options"] is not None:
        own = parts_of(own.with_options(row["options"]))
    marks = list(own.marks(raw, json.loads(row["marks"] or "{}")))
    if row["kind"] == WRONG:  # whatever is marked is here what the contract did accept
        marks = [mark._replace(kind=ANSWER) for mark in marks]
    where = {name.replace("_", " "): str(row[name]) for name in _SHOWN if row[name] is not None}
    if row["right_letter"] is not None:
        where["right answer"] = row["right_letter"] + right_option
    note = brief(str(row["unread"]), 300) if row["unread"] else _note(marks)
    return Sample(row["kind"], int(row["of_kind"]), where, pieces(raw, marks), note)


def _right_answer(shown: Sample, item: Mapping[str, object]) -> dict[str, str]:
    """What a wrong answer should have been, where only its item says so."""
    if shown.kind != WRONG or "right answer" in shown.where or "answer" not in item:
        return {}
    return {"right answer": brief(_shown(item["answer"]), 100)}


def _right_option(item: Mapping[str, object]) -> str:
    """The text of the right option: where options were shown in another order, its letter alone misleads."""
    options, answer = item.get("options"), item.get("answer")
    if not isinstance(options, list) or answer not in tuple(LETTERS[: len(options)]):
        return " as it was shown"
    return f" as it was shown: {brief(str(options[LETTERS.index(str(answer))]), 100)}"


def raw_of(row: Mapping[str, Any]) -> str:
    """The text of a row of columns, whichever way it stands there."""
    if row["raw_output"] is None:
        return str(json.loads(row["raw_output_escaped"])) if row["raw_output_escaped"] else ""
    return str(row["raw_output"])


def _note(marks: Sequence[Mark]) -> str:
    kinds = {mark.kind for mark in marks}
    said = "; ".join(words for kind, words in MARKED.items() if kind in kinds)
    return f"Marked: {said}." if said else ""


def _asked(item: Mapping[str, object], *, lettered: bool) -> str:
    """The question with its options, or the numbers, in a few lines; of an item without these, all its fields."""
    lines = [str(item["question"])] if "question" in item else []
    options = item.get("options")
    if isinstance(options, list):
        starts = [f"{letter}. " for letter in LETTERS] if lettered else ["– "] * len(options)
        lines += [f"{start}{option}" for start, option in zip(starts, options, strict=False)]
    if "numbers" in item:
        lines.append(f"numbers: {item['numbers']}")
    return "\n".join(lines) or _listed(item)


def _listed(fields: Mapping[str, object]) -> str:
    return "\n".join(f"{name}: {brief(_shown(value), 300)}" for name, value in fields.items())


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- evaluations ---


@dataclass
class FindingSamples:
    """The evaluations that are shown, gathered record by record."""

    counts: dict[str, int] = field(default_factory=dict)
    """Evaluations that have a finding, by its code."""
    _chosen: dict[str, list[Judgement]] = field(default_factory=dict)

    def add(self, record: Record) -> None:
        """One record; only evaluations with findings are kept, and of those the ones with the smallest keys."""
        if not isinstance(record, Judgement):
            return
        for code in record.codes:
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
        for code in dict.fromkeys((*Code, *self._chosen)):
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
        _CLOSED.get(code, "no flag of its own"),
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
