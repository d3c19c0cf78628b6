"""judge/1: one strict JSON object with scores, a verdict and evidence that anyone can check.

An evaluation is valid if nothing under the five criteria speaks against it; invalid does not mean low
quality. Everything that can be told is told, with its place in the JSON, what was expected and what was
found (ruling J4). Every quote is looked for in the judged output (ruling J6): a score whose evidence is
nowhere to be found is an opinion.

    >>> [flag.value for flag in judge.read("I would rather not say.").flags]
    ['UNPARSABLE_OUTPUT', 'JUDGE_REFUSAL_OR_EVASION']
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from affidavit.contracts.asked_row import ASKED_FIELDS, asked_row
from affidavit.contracts.contract import Validation
from affidavit.contracts.evaluation import NOTHING_ASKED, Asked, EvaluationReading
from affidavit.contracts.evaluation_reader import read_evaluation
from affidavit.contracts.finding import ADVISORY, Code
from affidavit.contracts.judge_instruction import judge_instruction
from affidavit.contracts.parts import FieldType, OutcomeWords, Parts
from affidavit.contracts.rubric import DEFAULT, Rubric
from affidavit.contracts.strict_json import Refused, decode
from affidavit.json_values import Fields

MOST_EVIDENCE = 64
"""Evidence items of one evaluation (ruling J1)."""
_MOST = {"evidence": MOST_EVIDENCE}


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
        asked = item or NOTHING_ASKED
        return judge_instruction(asked.rubric or self.rubric, asked.meta)

    def read(self, raw: str, item: Asked | None = None, /) -> EvaluationReading:
        """Every finding that can be told, and the evaluation as far as it can be read."""
        asked = item or NOTHING_ASKED
        evaluation = decode(raw, most=_MOST)
        if isinstance(evaluation, Refused):
            found, checked = evaluation.findings, (asked.judged_output is not None, asked.identified)
            return EvaluationReading(found.kept, found.flags, *checked, {}, further_findings=found.further)
        return read_evaluation(evaluation, asked, asked.rubric or self.rubric)

    def validate(self, reading: EvaluationReading, item: Asked, /) -> Validation | None:
        """None: there is no key to a judgement."""
        return None

    def grammar(self, item: Asked | None = None, /) -> str | None:
        """None: quotes and reasons are free text."""
        return None

    # --- the optional parts ---

    summary = "One strict JSON object with scores, a verdict and evidence; none of five criteria is against it."
    rulings = "J1-J6"
    passing = (
        '{"meta": {"judge_model": "judge-x", "target_model": "model-t", "question_id": "Q1", '
        '"prompt_variant": "A", "output_id": "o-7", "method": "cross_judge", "timestamp": "2026-01-15"}, '
        '"scores": {"FORMAT_COMPLIANCE": 2, "INSTRUCTION_COMPLIANCE": 2, "SEMANTIC_FIDELITY": 1, '
        '"COMPLETENESS": 2, "overall_score": 7}, "verdict": "PASS", "flags": [], "evidence": ['
        '{"dimension": "FORMAT_COMPLIANCE", "quote": "1. Introduction", "reason": "Numbered as asked."}, '
        '{"dimension": "INSTRUCTION_COMPLIANCE", "quote": "in three parts", "reason": "As asked."}, '
        '{"dimension": "SEMANTIC_FIDELITY", "quote": "most readers", "reason": "The source says many."}, '
        '{"dimension": "COMPLETENESS", "quote": "in conclusion", "reason": "All parts are there."}], "notes": ""}'
    )
    failing = "Here is my evaluation: 7 of 8 points, a clear pass."

    for_items = False
    has_grammar = False
    evaluates = True
    item_fields = ASKED_FIELDS
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
    counted_if_kept = ("verdict",)

    def item(self, row: Fields, *, where: str) -> Asked:
        """The judged text and the names that were asked for."""
        return asked_row(row, where=where)

    def right_answer_known(self, item: object) -> bool:
        """Never: there is no key to a judgement."""
        return False

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """What the evaluation says and what speaks against it."""
        return {
            "valid": bool,
            "flags": [str],
            "findings": [dict.fromkeys(("code", "path", "expected", "found"), str)],
            "further_findings": [{"code": str, "count": int}],
            "judge_flags": [str],
            "further_judge_flags": int,
            "scores": dict.fromkeys(self.rubric.ids, int),
            "verdict": str,
            "evidence": [{"dimension": str, "quote": str, "kind": str, "start": int, "end": int}],
            "evidence_checked": bool,
            "identifiers_checked": bool,
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
        codes = _codes(fields)
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
        return set(_codes(fields)) - set(ADVISORY) == {Code.EVIDENCE_NOT_LOCATED}


def _codes(fields: Mapping[str, object]) -> list[str]:
    """The codes of all findings, each once: also of those that are only counted."""
    found = (*_listed(fields, "findings"), *_listed(fields, "further_findings"))
    return list(dict.fromkeys(each["code"] for each in found))


def _listed(fields: Mapping[str, object], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []


judge = Judge()
