"""Reads the JSON object of a judge: all that speaks against it is told, with its place (rulings J2 to J6)."""

import re
from datetime import date
from functools import cache, lru_cache
from typing import TypeVar

from affidavit.contracts.bounded_findings import FindingsSoFar, repeated
from affidavit.contracts.evaluation import (
    IDENTIFIERS,
    LONGEST_QUOTE,
    META,
    MOST_JUDGE_FLAGS,
    NAMES,
    Asked,
    EvaluationReading,
    Evidence,
    EvidenceKind,
    JudgingMethod,
    own_method,
)
from affidavit.contracts.finding import Code, Flag, at_key, found_value
from affidavit.contracts.quotes import MatchKind, Quotable
from affidavit.contracts.rubric import TOTAL, Rubric, Verdict

TOP = frozenset(("meta", "scores", "verdict", "flags", "evidence", "notes"))
EVIDENCE_ITEM = frozenset(("dimension", "quote", "reason"))

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NAMES: dict[type, str] = {dict: "an object", list: "an array", str: "a string", int: "an integer"}
_KindT = TypeVar("_KindT", dict[str, object], list[object], str, int)
_META = frozenset(META)
_FLAGS = frozenset(Flag)
_VERDICTS = {verdict.value: verdict for verdict in Verdict}
_METHODS = frozenset(JudgingMethod)
_EVIDENCE_KINDS = {kind: EvidenceKind(kind) for kind in MatchKind}


def read_evaluation(evaluation: dict[str, object], asked: Asked, rubric: Rubric) -> EvaluationReading:
    """Every finding that can be told, and the evaluation as far as it can be read."""
    return _EvaluationReader(evaluation, asked, rubric).reading()


_EvidenceTexts = tuple[str | None, str | None, str | None]
"""Dimension, quote and reason of an evidence item; None where one is not there or not a text."""


class _EvaluationReader:
    """One evaluation on its way through rulings J2 to J6."""

    def __init__(self, evaluation: dict[str, object], asked: Asked, rubric: Rubric) -> None:
        self.evaluation = evaluation
        self.asked = asked
        self.rubric = rubric
        self.ids = rubric.ids
        self.found = FindingsSoFar()

    def reading(self) -> EvaluationReading:
        self.refuse_others(self.evaluation, "$", TOP)
        meta = self.meta(self.member(self.evaluation, "$", "meta", dict) or {})
        given: dict[str, object] = self.member(self.evaluation, "$", "scores", dict) or {}
        scores = self.scores(given)
        verdict = self.verdict(scores)
        judge_flags = self.judge_flags(self.member(self.evaluation, "$", "flags", list) or [])
        evidence = self.evidence(self.member(self.evaluation, "$", "evidence", list) or [], given)
        if "notes" in self.evaluation:
            self.member(self.evaluation, "$", "notes", str)
        found = self.found.all()
        return EvaluationReading(
            findings=found.kept,
            further_findings=found.further,
            flags=found.flags,
            evidence_checked=self.asked.judged_output is not None,
            identifiers_checked=self.asked.identified,
            meta=meta,
            scores=scores,
            verdict=verdict,
            judge_flags=judge_flags and tuple(map(repeated, judge_flags[:MOST_JUDGE_FLAGS])),
            further_judge_flags=max(len(judge_flags) - MOST_JUDGE_FLAGS, 0) if judge_flags else 0,
            evidence=evidence,
        )

    def tell(self, code: Code, path: str, expected: str, found: str) -> None:
        self.found.add(code, path, expected, found)

    def refuse_others(
        self, members: dict[str, object], path: str, known: frozenset[str], code: Code = Code.UNKNOWN_FIELD
    ) -> None:
        if members.keys() <= known:
            return
        expected = "no other dimension" if code is Code.UNKNOWN_DIMENSION else "no field but the protocol's"
        for key in members:
            if key in known:
                continue
            if self.found.full:  # there may be tens of thousands
                self.found.count(code)
            else:
                self.tell(code, at_key(path, key), expected, found_value(key))

    def member(self, members: dict[str, object], path: str, key: str, kind: type[_KindT]) -> _KindT | None:
        """The member if it is there and of its type; otherwise that is told, and it is None."""
        value = members.get(key)
        # Exactly this type: a bool is an int to isinstance, but not to ruling J2.
        if type(value) is kind:
            return value
        if key in members:
            self.tell(Code.WRONG_TYPE, at_key(path, key), _NAMES[kind], found_value(value))
        else:
            self.tell(Code.MISSING_FIELD, at_key(path, key), _NAMES[kind], "nothing")
        return None

    # --- meta ---

    def meta(self, meta: dict[str, object]) -> dict[str, str]:
        self.refuse_others(meta, "$.meta", _META)
        stated: dict[str, str] = {}
        for name in META:
            value = meta.get(name)
            if type(value) is not str or not value.strip():
                value = self.doubtful_meta(meta, name)
            if value is not None:
                stated[name] = value
        for name in NAMES if self.asked.meta else ():
            asked = self.asked.meta.get(name)
            if asked is not None and stated.get(name, asked) != asked:
                self.tell(
                    Code.IDENTIFIER_MISMATCH, f"$.meta.{name}", found_value(asked), found_value(stated[name])
                )
        self.method(stated)
        self.timestamp(stated)
        return stated

    def doubtful_meta(self, meta: dict[str, object], name: str) -> str | None:
        """A part of the meta that is missing, mistyped or blank; blank counts as missing where a name belongs."""
        value = meta.get(name, "")
        if name in NAMES and isinstance(value, str) and not value.strip():
            code = Code.MISSING_IDENTIFIER if name in IDENTIFIERS else Code.MISSING_FIELD
            self.tell(code, f"$.meta.{name}", "a name", found_value(value) if name in meta else "nothing")
            return None
        return self.member(meta, "$.meta", name, str)

    def method(self, stated: dict[str, str]) -> None:
        method = stated.get("method")
        if method is None:
            return
        if method not in _METHODS:
            self.tell(Code.BAD_METHOD, "$.meta.method", "cross_judge or self_judge", found_value(method))
        elif "judge_model" in stated and "target_model" in stated:
            fitting = own_method(stated["judge_model"], stated["target_model"])
            if method != fitting:
                self.tell(Code.METHOD_MISMATCH, "$.meta.method", fitting, found_value(method))

    def timestamp(self, stated: dict[str, str]) -> None:
        day = stated.get("timestamp")
        if day is not None and not _is_day(day):
            self.tell(Code.BAD_DATE, "$.meta.timestamp", "a calendar day as YYYY-MM-DD", found_value(day))

    # --- scores and verdict ---

    def scores(self, given: dict[str, object]) -> dict[str, int] | None:
        """The scores if every dimension has one on the scale."""
        self.refuse_others(given, "$.scores", _names_of_scores(self.ids), Code.UNKNOWN_DIMENSION)
        scale, whole, on_scale = self.rubric.scores, {}, True
        for dimension in self.ids:
            score = self.member(given, "$.scores", dimension, int)
            if score is not None:
                whole[dimension] = score
                if score not in scale:
                    on_scale = False
                    expected = "one of " + ", ".join(map(str, scale))
                    self.tell(Code.SCORE_OUT_OF_SCALE, at_key("$.scores", dimension), expected, found_value(score))
        self.total(given, whole)
        return whole if on_scale and len(whole) == len(self.ids) else None

    def total(self, given: dict[str, object], whole: dict[str, int]) -> None:
        overall = self.member(given, "$.scores", TOTAL, int)
        if len(whole) < len(self.ids):
            absent = ", ".join(dimension for dimension in self.ids if dimension not in given)
            if absent:
                self.tell(Code.SCORES_MISSING, "$.scores", "a score for every dimension", f"no {absent}")
        elif overall is not None and overall != (total := sum(whole.values())):
            self.tell(Code.SUM_MISMATCH, f"$.scores.{TOTAL}", f"{total}, the sum", found_value(overall))

    def verdict(self, scores: dict[str, int] | None) -> Verdict | None:
        word = self.member(self.evaluation, "$", "verdict", str)
        if word is None:
            return None
        verdict = _VERDICTS.get(word)
        if verdict is None:
            self.tell(Code.BAD_VERDICT, "$.verdict", "PASS, PARTIAL or FAIL", found_value(word))
        elif scores is not None and (fitting := self.rubric.verdict(scores)) is not verdict:
            self.tell(Code.VERDICT_MISMATCH, "$.verdict", fitting, found_value(word))
        return verdict

    # --- the judge's own flags ---

    def judge_flags(self, flags: list[object]) -> tuple[str, ...]:
        if not flags:
            return ()
        for place, flag in enumerate(flags):
            path = f"$.flags[{place}]"
            if not isinstance(flag, str):
                self.tell(Code.WRONG_TYPE, path, _NAMES[str], found_value(flag))
            elif flag in _FLAGS:
                self.found.add(Code.DECLARED_BY_JUDGE, path, "no criterion", found_value(flag), Flag(flag))
        return tuple(flag for flag in flags if isinstance(flag, str))

    # --- evidence ---

    def evidence(self, items: list[object], scores: dict[str, object]) -> tuple[Evidence, ...]:
        judged = None if self.asked.judged_output is None else Quotable(self.asked.judged_output)
        carried: dict[str, bool] = {}
        found = []
        for place, item in enumerate(items):
            if type(item) is not dict:
                self.tell(Code.WRONG_TYPE, _evidence_path(place), _NAMES[dict], found_value(item))
                continue
            dimension, quote, reason = self.evidence_texts(item, place)
            evidence = None if quote is None else self.look_for(quote, dimension or "", place, judged)
            if evidence is not None:
                found.append(evidence)
            if dimension in self.ids:
                carries = evidence is not None and self.carries(evidence, scores.get(dimension), reason)
                carried[dimension] = carries or carried.get(dimension, False)
        self.coverage(carried)
        return tuple(found)

    def evidence_texts(self, item: dict[str, object], place: int) -> _EvidenceTexts:
        """The parts of an item; whatever is wrong with them is told."""
        dimension, quote, reason = item.get("dimension"), item.get("quote"), item.get("reason")
        whole = len(item) == len(EVIDENCE_ITEM) and dimension in self.ids
        if whole and type(dimension) is type(quote) is type(reason) is str and reason.strip():
            return dimension, quote, reason
        path = _evidence_path(place)
        self.refuse_others(item, path, EVIDENCE_ITEM)
        dimension = self.member(item, path, "dimension", str)
        if dimension is not None and dimension not in self.ids:
            known = ", ".join(self.ids)
            self.tell(Code.UNKNOWN_DIMENSION, f"{path}.dimension", f"one of {known}", found_value(dimension))
        quote, reason = self.member(item, path, "quote", str), self.member(item, path, "reason", str)
        if reason is not None and not reason.strip():  # it has to explain the score (ruling J6)
            self.tell(Code.MISSING_FIELD, f"{path}.reason", "a reason", found_value(reason))
        return dimension, quote, reason

    def look_for(self, quote: str, dimension: str, place: int, judged: Quotable | None) -> Evidence:
        """What became of a quote."""
        if dimension not in self.ids:
            dimension = repeated(dimension)
        kept = repeated(quote)
        if not quote.strip():
            return Evidence(dimension, kept, EvidenceKind.ABSENCE, None)
        # Sixty-one words need at least as many characters and sixty blanks.
        if len(quote) > 2 * LONGEST_QUOTE and (words := len(quote.split())) > LONGEST_QUOTE:
            path = f"{_evidence_path(place)}.quote"
            self.tell(Code.QUOTE_LONG, path, f"at most {LONGEST_QUOTE} words", f"{words} words")
        if judged is None:
            return Evidence(dimension, kept, EvidenceKind.UNCHECKED, None)
        location = judged.locate(quote)
        if location.kind is MatchKind.ABSENT:
            path = f"{_evidence_path(place)}.quote"
            self.tell(Code.QUOTE_NOT_FOUND, path, "words of the judged output", found_value(quote))
        return Evidence(dimension, kept, _EVIDENCE_KINDS[location.kind], location.span)

    def carries(self, evidence: Evidence, score: object, reason: str | None) -> bool:
        """Whether an item supports its dimension: a located quote, or a reasoned absence below full score."""
        if evidence.kind is not EvidenceKind.ABSENCE:
            return evidence.kind is not EvidenceKind.ABSENT
        below = type(score) is int and score < self.rubric.scores[-1]
        return below and reason is not None and bool(reason.strip())

    def coverage(self, carried: dict[str, bool]) -> None:
        for dimension in self.ids:
            if dimension not in carried:
                self.tell(Code.EVIDENCE_MISSING, "$.evidence", f"an item for {dimension}", "none")
            elif not carried[dimension]:
                expected = f"a quote for {dimension} that is there, or a reasoned absence"
                self.tell(Code.EVIDENCE_NOT_LOCATED, "$.evidence", expected, "neither")


def _evidence_path(place: int) -> str:
    return f"$.evidence[{place}]"


@cache
def _names_of_scores(dimensions: tuple[str, ...]) -> frozenset[str]:
    return frozenset((*dimensions, TOTAL))


def _is_day(text: str) -> bool:
    return len(text) == len("2026-01-31") and _is_calendar_day(text)


@lru_cache(maxsize=64)  # a judging has one date or two
def _is_calendar_day(text: str) -> bool:
    if _DAY.fullmatch(text) is None:  # ISO 8601 knows days of weeks, too
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
