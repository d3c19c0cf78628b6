"""judge/1: one strict JSON object with scores, a verdict and evidence that anyone can check.

An evaluation is valid if nothing under the five criteria speaks against it; invalid does not mean low
quality. Everything that can be told is told, with its place in the JSON, what was expected and what was
found (ruling J4). Every quote is looked for in the judged output (ruling J6): a score whose evidence is
nowhere to be found is an opinion.

    >>> judge.read("I would rather not say.").flags
    (<Flag.JUDGE_REFUSAL_OR_EVASION: 'JUDGE_REFUSAL_OR_EVASION'>,)
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from affidavit.contracts.contract import Span, Validation
from affidavit.contracts.evidence import MatchKind, Quotable
from affidavit.contracts.finding import ADVISORY, Code, Finding, Flag, at_key, flags_of
from affidavit.contracts.parts import FieldType, OutcomeWords, Parts
from affidavit.contracts.rubric import DEFAULT, TOTAL, Rubric, Verdict
from affidavit.contracts.strict_json import Refused, decode
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown

IDENTIFIERS = ("question_id", "prompt_variant", "target_model", "output_id")
NAMES = ("judge_model", *IDENTIFIERS)
META = ("judge_model", "target_model", "question_id", "prompt_variant", "output_id", "method", "timestamp")
TOP = frozenset(("meta", "scores", "verdict", "flags", "evidence", "notes"))
EVIDENCE_ITEM = frozenset(("dimension", "quote", "reason"))
LONGEST_QUOTE = 60
"""Words; a longer quote is noted, and invalidates nothing."""

_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_NAMES: dict[type, str] = {dict: "an object", list: "an array", str: "a string", int: "an integer"}
_KindT = TypeVar("_KindT", dict[str, object], list[object], str, int)
_META = frozenset(META)
_FLAGS = frozenset(Flag)
_VERDICTS = {verdict.value: verdict for verdict in Verdict}


class JudgingMethod(StrEnum):
    """Whose output is judged: another model's, or the judge's own."""

    CROSS = "cross_judge"
    SELF = "self_judge"


_METHODS = frozenset(JudgingMethod)


class EvidenceKind(StrEnum):
    """What became of one evidence item."""

    EXACT = "exact"
    NORMALISED = "normalised"
    ELIDED = "elided"
    ABSENT = "absent"
    ABSENCE = "absence"
    """A blank quote: evidence that something is not there."""
    UNCHECKED = "unchecked"
    """There was no judged output to look in."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a judge was asked: the meta it must repeat, the output it judged, the rubric it was given.

    All may be unknown: without meta nothing is compared, without the judged output no quote is checked,
    and without a rubric the contract's own applies.
    """

    meta: Mapping[str, str] = field(default_factory=dict)
    judged_output: str | None = None
    rubric: Rubric | None = None


_NOTHING = Asked()


class Evidence(NamedTuple):
    """One quote, the dimension it stands for, and where it was found in the judged output."""

    dimension: str
    quote: str
    kind: EvidenceKind
    span: Span | None

    def fields(self) -> Fields:
        """The evidence as a JSON object."""
        start, end = self.span if self.span is not None else (None, None)
        return {
            "dimension": self.dimension,
            "quote": self.quote,
            "kind": self.kind,
            "start": start,
            "end": end,
        }


class EvaluationReading(NamedTuple):
    """What one judge's answer says, and everything that speaks against it."""

    findings: tuple[Finding, ...]
    flags: tuple[Flag, ...]
    evidence_checked: bool
    meta: Mapping[str, str]
    """What the judge states, as far as it is text."""
    scores: Mapping[str, int] | None = None
    """One per dimension, if all are there and on the scale."""
    verdict: Verdict | None = None
    judge_flags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def protocol_compliant(self) -> bool:
        """No flag was raised: the evaluation is valid."""
        return not self.flags

    def fields(self) -> Fields:
        """The evaluation's columns in a row."""
        return {
            "valid": self.protocol_compliant,
            "flags": list(self.flags),
            "findings": [finding.fields() for finding in self.findings],
            "judge_flags": list(self.judge_flags),
            "scores": None if self.scores is None else dict(self.scores),
            "verdict": self.verdict,
            "evidence": [evidence.fields() for evidence in self.evidence],
            "evidence_checked": self.evidence_checked,
        }


@dataclass(frozen=True)
class Judge(Parts):
    """The judge contract over one rubric."""

    rubric: Rubric = DEFAULT
    name: str = field(default="judge", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)

    @property
    def params(self) -> Mapping[str, object]:
        """The rubric by its digest, and the Unicode version that normalises quotes (ruling C3)."""
        return {"rubric_sha256": self.rubric.sha256(), "unicode": unicodedata.unidata_version}

    def instruction(self, item: Asked | None = None, /) -> str:
        """Rubric, scale, thresholds, rules and the exact shape, all made from the rubric."""
        asked = item or _NOTHING
        return _instruction(asked.rubric or self.rubric, asked.meta)

    def read(self, raw: str, item: Asked | None = None, /) -> EvaluationReading:
        """Every finding that can be told, and the evaluation as far as it can be read."""
        asked = item or _NOTHING
        evaluation = decode(raw)
        if isinstance(evaluation, Refused):
            findings = evaluation.findings
            return EvaluationReading(findings, flags_of(findings), asked.judged_output is not None, meta={})
        return _EvaluationReader(evaluation, asked, asked.rubric or self.rubric).reading()

    def validate(self, reading: EvaluationReading, item: Asked, /) -> Validation | None:
        """None: there is no key to a judgement."""
        return None

    def grammar(self, item: Asked | None = None, /) -> str | None:
        """None: quotes and reasons are free text."""
        return None

    # --- the optional parts ---

    for_items = False
    has_grammar = False
    evaluates = True
    item_fields = ("judged_output", "asked")
    checked_by = "judged_output"
    unchecked = "quotes could not be checked (evidence_checked is false)"
    outcome_words = OutcomeWords("valid", "invalid", "valid if quotes are ignored", "without evidence_not_located")
    counted: ClassVar[Mapping[str, str]] = {
        "flags": "flags",
        "findings": "findings",
        "judge_flags": "flags of the judge",
        "verdict": "verdicts of valid evaluations",
        "evidence": "quotes",
        "declared": "declared by the judge, by overall score",
    }
    several_values = ("evidence",)

    def item(self, row: Fields, *, where: str) -> Asked:
        """The judged text and the meta that was asked for."""
        judged, asked = row.get("judged_output"), row.get("asked")
        if judged is not None and not isinstance(judged, str):
            raise InputError(where, expected="a text in 'judged_output'", found=shown(judged))
        if asked is None:
            asked = {}
        if not isinstance(asked, dict):
            raise InputError(where, expected="an object in 'asked'", found=shown(asked))
        for name in (*NAMES, "method"):
            if asked.get(name) is not None and not isinstance(asked[name], str):
                raise InputError(where, expected=f"a text in 'asked.{name}'", found=shown(asked[name]))
        return Asked({name: asked[name] for name in (*NAMES, "method") if asked.get(name) is not None}, judged)

    def right_answer_known(self, item: object) -> bool:
        """Never: there is no key to a judgement."""
        return False

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """What the evaluation says and what speaks against it."""
        return {
            "valid": bool,
            "flags": [str],
            "findings": [dict.fromkeys(("code", "path", "expected", "found"), str)],
            "judge_flags": [str],
            "scores": dict.fromkeys(self.rubric.ids, int),
            "verdict": str,
            "evidence": [{"dimension": str, "quote": str, "kind": str, "start": int, "end": int}],
            "evidence_checked": bool,
        }

    def verdict(self, row: Fields, validation: Validation | None) -> Fields:
        """Nothing: there is no key to a judgement."""
        return {}

    def labels(self, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
        """Flags, codes of findings, kinds of quotes, the verdict of a valid evaluation, what the judge declared.

        Findings and flags count evaluations that have them, not how often one has them; quotes count each.
        """
        for name in ("flags", "judge_flags"):
            yield from ((name, flag) for flag in dict.fromkeys(_listed(fields, name)))
        codes = list(dict.fromkeys(each["code"] for each in _listed(fields, "findings")))
        yield from (("findings", code) for code in codes)
        yield from (("evidence", each["kind"]) for each in _listed(fields, "evidence"))
        verdict, scores = fields.get("verdict"), fields.get("scores")
        if fields.get("valid") and isinstance(verdict, str):
            yield "verdict", verdict
        if Code.DECLARED_BY_JUDGE in codes:
            # The overall score of an evaluation in which the judge itself named a criterion (ruling J5).
            yield "declared", str(sum(scores.values())) if isinstance(scores, dict) else "no score"

    def nearly_kept(self, fields: Mapping[str, object]) -> bool:
        """Whether nothing speaks against the evaluation but that its quotes are not there (ruling J6)."""
        codes = {each["code"] for each in _listed(fields, "findings")}
        return codes - set(ADVISORY) == {Code.EVIDENCE_NOT_LOCATED}


def _listed(fields: Mapping[str, object], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []


_EvidenceTexts = tuple[str | None, str | None, str | None]
"""Dimension, quote and reason of an evidence item; None where one is not there or not a text."""


class _EvaluationReader:
    """One evaluation on its way through rulings J2 to J6."""

    def __init__(self, evaluation: dict[str, object], asked: Asked, rubric: Rubric) -> None:
        self.evaluation = evaluation
        self.asked = asked
        self.rubric = rubric
        self.ids = rubric.ids
        self.findings: list[Finding] = []

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
        findings = tuple(self.findings)
        return EvaluationReading(
            findings=findings,
            flags=flags_of(findings),
            evidence_checked=self.asked.judged_output is not None,
            meta=meta,
            scores=scores,
            verdict=verdict,
            judge_flags=judge_flags,
            evidence=evidence,
        )

    def tell(self, code: Code, path: str, expected: str, found: str) -> None:
        self.findings.append(Finding(code, path, expected, found))

    def refuse_others(self, members: dict[str, object], path: str, known: frozenset[str]) -> None:
        if members.keys() <= known:
            return
        for key in members:
            if key not in known:
                self.tell(Code.UNKNOWN_FIELD, at_key(path, key), "no field but the protocol's", shown(key))

    def member(self, members: dict[str, object], path: str, key: str, kind: type[_KindT]) -> _KindT | None:
        """The member if it is there and of its type; otherwise that is told, and it is None."""
        value = members.get(key)
        # Exactly this type: a bool is an int to isinstance, but not to ruling J2.
        if type(value) is kind:
            return value
        if key in members:
            self.tell(Code.WRONG_TYPE, at_key(path, key), _NAMES[kind], shown(value))
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
                self.tell(Code.IDENTIFIER_MISMATCH, f"$.meta.{name}", shown(asked), shown(stated[name]))
        self.method(stated)
        self.timestamp(stated)
        return stated

    def doubtful_meta(self, meta: dict[str, object], name: str) -> str | None:
        """A part of the meta that is missing, mistyped or blank; blank counts as missing where a name belongs."""
        value = meta.get(name, "")
        if name in NAMES and isinstance(value, str) and not value.strip():
            code = Code.MISSING_IDENTIFIER if name in IDENTIFIERS else Code.MISSING_FIELD
            self.tell(code, f"$.meta.{name}", "a name", shown(value) if name in meta else "nothing")
            return None
        return self.member(meta, "$.meta", name, str)

    def method(self, stated: dict[str, str]) -> None:
        method = stated.get("method")
        if method is None:
            return
        if method not in _METHODS:
            self.tell(Code.BAD_METHOD, "$.meta.method", "cross_judge or self_judge", shown(method))
        elif "judge_model" in stated and "target_model" in stated:
            fitting = own_method(stated["judge_model"], stated["target_model"])
            if method != fitting:
                self.tell(Code.METHOD_MISMATCH, "$.meta.method", fitting, shown(method))

    def timestamp(self, stated: dict[str, str]) -> None:
        day = stated.get("timestamp")
        if day is not None and not _is_day(day):
            self.tell(Code.BAD_DATE, "$.meta.timestamp", "a calendar day as YYYY-MM-DD", shown(day))

    # --- scores and verdict ---

    def scores(self, given: dict[str, object]) -> dict[str, int] | None:
        """The scores if every dimension has one on the scale."""
        for key in given:
            if key not in self.ids and key != TOTAL:
                self.tell(Code.UNKNOWN_DIMENSION, at_key("$.scores", key), "no other dimension", shown(key))
        scale, whole, on_scale = self.rubric.scores, {}, True
        for dimension in self.ids:
            score = self.member(given, "$.scores", dimension, int)
            if score is not None:
                whole[dimension] = score
                if score not in scale:
                    on_scale = False
                    expected = "one of " + ", ".join(map(str, scale))
                    self.tell(Code.SCORE_OUT_OF_SCALE, at_key("$.scores", dimension), expected, shown(score))
        self.total(given, whole)
        return whole if on_scale and len(whole) == len(self.ids) else None

    def total(self, given: dict[str, object], whole: dict[str, int]) -> None:
        overall = self.member(given, "$.scores", TOTAL, int)
        if len(whole) < len(self.ids):
            absent = ", ".join(dimension for dimension in self.ids if dimension not in given)
            if absent:
                self.tell(Code.SCORES_MISSING, "$.scores", "a score for every dimension", f"no {absent}")
        elif overall is not None and overall != (total := sum(whole.values())):
            self.tell(Code.SUM_MISMATCH, f"$.scores.{TOTAL}", f"{total}, the sum", shown(overall))

    def verdict(self, scores: dict[str, int] | None) -> Verdict | None:
        word = self.member(self.evaluation, "$", "verdict", str)
        if word is None:
            return None
        verdict = _VERDICTS.get(word)
        if verdict is None:
            self.tell(Code.BAD_VERDICT, "$.verdict", "PASS, PARTIAL or FAIL", shown(word))
        elif scores is not None and (fitting := self.rubric.verdict(scores)) is not verdict:
            self.tell(Code.VERDICT_MISMATCH, "$.verdict", fitting, shown(word))
        return verdict

    # --- the judge's own flags ---

    def judge_flags(self, flags: list[object]) -> tuple[str, ...]:
        kept = []
        for place, flag in enumerate(flags):
            path = f"$.flags[{place}]"
            if not isinstance(flag, str):
                self.tell(Code.WRONG_TYPE, path, _NAMES[str], shown(flag))
                continue
            kept.append(flag)
            if flag in _FLAGS:
                self.findings.append(
                    Finding(Code.DECLARED_BY_JUDGE, path, "no criterion", shown(flag), declared=Flag(flag))
                )
        return tuple(kept)

    # --- evidence ---

    def evidence(self, items: list[object], scores: dict[str, object]) -> tuple[Evidence, ...]:
        judged = None if self.asked.judged_output is None else Quotable(self.asked.judged_output)
        carried: dict[str, bool] = {}
        found = []
        for place, item in enumerate(items):
            path = f"$.evidence[{place}]"
            if type(item) is not dict:
                self.tell(Code.WRONG_TYPE, path, _NAMES[dict], shown(item))
                continue
            dimension, quote, reason = self.evidence_texts(item, path)
            evidence = None if quote is None else self.look_for(quote, dimension or "", path, judged)
            if evidence is not None:
                found.append(evidence)
            if dimension in self.ids:
                carries = evidence is not None and self.carries(evidence, scores.get(dimension), reason)
                carried[dimension] = carries or carried.get(dimension, False)
        self.coverage(carried)
        return tuple(found)

    def evidence_texts(self, item: dict[str, object], path: str) -> _EvidenceTexts:
        """The parts of an item; whatever is wrong with them is told."""
        dimension, quote, reason = item.get("dimension"), item.get("quote"), item.get("reason")
        texts = type(dimension) is str and type(quote) is str and type(reason) is str
        if texts and dimension in self.ids and len(item) == len(EVIDENCE_ITEM):
            return cast("_EvidenceTexts", (dimension, quote, reason))
        self.refuse_others(item, path, EVIDENCE_ITEM)
        dimension = self.member(item, path, "dimension", str)
        if dimension is not None and dimension not in self.ids:
            known = ", ".join(self.ids)
            self.tell(Code.UNKNOWN_DIMENSION, f"{path}.dimension", f"one of {known}", shown(dimension))
        return dimension, self.member(item, path, "quote", str), self.member(item, path, "reason", str)

    def look_for(self, quote: str, dimension: str, path: str, judged: Quotable | None) -> Evidence:
        """What became of a quote."""
        if not quote.strip():
            return Evidence(dimension, quote, EvidenceKind.ABSENCE, None)
        # Sixty-one words need at least as many characters and sixty blanks.
        if len(quote) > 2 * LONGEST_QUOTE and (words := len(quote.split())) > LONGEST_QUOTE:
            self.tell(Code.QUOTE_LONG, f"{path}.quote", f"at most {LONGEST_QUOTE} words", f"{words} words")
        if judged is None:
            return Evidence(dimension, quote, EvidenceKind.UNCHECKED, None)
        location = judged.locate(quote)
        if location.kind is MatchKind.ABSENT:
            self.tell(Code.QUOTE_NOT_FOUND, f"{path}.quote", "words of the judged output", shown(quote))
        return Evidence(dimension, quote, EvidenceKind(location.kind), location.span)

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


def own_method(judge_model: str, target_model: str) -> JudgingMethod:
    """How a judge judges a target: itself, if the two names are the same string (ruling J13)."""
    return JudgingMethod.SELF if judge_model == target_model else JudgingMethod.CROSS


def _is_day(text: str) -> bool:
    match = _DAY.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


# --- the words given to a judge ---


def _instruction(rubric: Rubric, meta: Mapping[str, str]) -> str:
    dimensions = "\n".join(f"- {each.id} ({each.title}): {each.words}" for each in rubric.dimensions)
    levels = "\n".join(f"- {each.score} = {each.title}: {each.words}." for each in reversed(rubric.scale))
    # Small judges copy examples: what stands here for a score is no score, so that a copy is never valid.
    words = {"quote": "<words copied from the output>", "reason": "<why they support the score>"}
    shape = {
        "meta": {name: meta.get(name, f"<{name}>") for name in META},
        "scores": {**dict.fromkeys(rubric.ids, f"<{_any_of(rubric.scores)}>"), TOTAL: "<the sum>"},
        "verdict": f"<{_any_of(tuple(Verdict))}>",
        "flags": [],
        "evidence": [{"dimension": name, **words} for name in rubric.ids],
        "notes": "",
    }
    return f"""\
Judge one output of a language model. Score each dimension:

{dimensions}

Scale, whole numbers only:

{levels}

{TOTAL} is the sum of all dimensions, from {len(rubric.ids) * rubric.scores[0]} to {rubric.highest_total}.

{_verdict_rule(rubric)}

Rules:
- Answer with exactly one JSON object in the shape below: no Markdown, no explanation, no other text.
- Repeat the values of "meta" as they are given.
- "evidence" holds at least one item per dimension. "quote" is copied from the judged output word for word,
  at most {LONGEST_QUOTE} words; leave it empty only to show that something is missing, and say in "reason" what.
- "flags" describes this evaluation, never the judged output: leave it empty unless you cannot evaluate.
- "notes" may be left out.

{json.dumps(shape, indent=2, ensure_ascii=False)}"""


def _any_of(values: tuple[object, ...]) -> str:
    *others, last = map(str, values)
    return f"{', '.join(others)} or {last}"


def _verdict_rule(rubric: Rubric) -> str:
    limits = rubric.thresholds
    condition = "".join(f" and {dimension} > 0" for dimension in limits.pass_needs_nonzero)
    return (
        f"verdict: FAIL if {TOTAL} <= {limits.fail_to}; else PASS if {TOTAL} >= {limits.pass_from}{condition}; "
        "else PARTIAL."
    )


judge = Judge()
