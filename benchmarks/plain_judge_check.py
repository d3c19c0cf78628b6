"""The judge rules as one would write them by hand around `json.loads`: what judge.read is measured by.

It says only whether an evaluation is valid: no places, no findings, no advice, no evidence. It stops at the
first fault, but on valid evaluations it does all the work that the rules ask for.
"""

import json
import math
import re
from datetime import date

META = {"judge_model", "target_model", "question_id", "prompt_variant", "output_id", "method", "timestamp"}
DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
CRITERIA = {
    "PROTOCOL_VIOLATION",
    "UNPARSABLE_OUTPUT",
    "INCOMPLETE_COVERAGE",
    "JUDGE_REFUSAL_OR_EVASION",
    "INTERNAL_INCONSISTENCY",
}
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
SURROGATE = re.compile("[\ud800-\udfff]")


class FaultError(ValueError):
    pass


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise FaultError("duplicate key")
    return members


def finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise FaultError("not finite")
    return value


def whole(text: str) -> int:
    if len(text) > 308:
        finite(text)
    return int(text)


def depth(text: str) -> int:
    deepest = open_now = 0
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            open_now += 1
            deepest = max(deepest, open_now)
        elif character in "}]":
            open_now -= 1
    return deepest


def has_surrogates(value: object) -> bool:
    if isinstance(value, str):
        return SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(has_surrogates(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(map(has_surrogates, value))


def is_valid(raw: str) -> bool:
    """Whether the text is a valid evaluation, its quotes unchecked."""
    if len(raw.encode("utf-8", "surrogatepass")) > 256 * 1024:
        return False
    # The quick way out that any careful author takes before counting character by character.
    if raw.count("{") + raw.count("[") > 32 and depth(raw) > 32:
        return False
    try:
        value = json.loads(
            raw, object_pairs_hook=unique, parse_float=finite, parse_int=whole, parse_constant=finite
        )
    except ValueError:
        return False
    if ("\\u" in raw or not raw.isascii()) and has_surrogates(value):
        return False
    if not isinstance(value, dict) or not set(value) <= {
        "meta",
        "scores",
        "verdict",
        "flags",
        "evidence",
        "notes",
    }:
        return False
    return (
        meta_holds(value.get("meta"))
        and scores_hold(value.get("scores"), value.get("verdict"))
        and flags_hold(value.get("flags"))
        and evidence_holds(value.get("evidence"), value["scores"])
        and ("notes" not in value or isinstance(value["notes"], str))
    )


def meta_holds(meta: object) -> bool:
    if not isinstance(meta, dict) or set(meta) != META:
        return False
    for key in META:
        if not isinstance(meta[key], str) or not meta[key].strip():
            return False
    if meta["method"] not in {"cross_judge", "self_judge"}:
        return False
    if (meta["judge_model"] == meta["target_model"]) != (meta["method"] == "self_judge"):
        return False
    if DAY.fullmatch(meta["timestamp"]) is None:
        return False
    try:
        date.fromisoformat(meta["timestamp"])
    except ValueError:
        return False
    return True


def scores_hold(scores: object, verdict: object) -> bool:
    if not isinstance(scores, dict) or set(scores) != {*DIMENSIONS, "overall_score"}:
        return False
    total = 0
    for dimension in DIMENSIONS:
        score = scores[dimension]
        if type(score) is not int or not 0 <= score <= 2:
            return False
        total += score
    if type(scores["overall_score"]) is not int or scores["overall_score"] != total:
        return False
    if total <= 3:
        return verdict == "FAIL"
    if total >= 7 and scores["FORMAT_COMPLIANCE"] and scores["INSTRUCTION_COMPLIANCE"]:
        return verdict == "PASS"
    return verdict == "PARTIAL"


def flags_hold(flags: object) -> bool:
    if not isinstance(flags, list):
        return False
    return all(isinstance(flag, str) and flag not in CRITERIA for flag in flags)


def evidence_holds(evidence: object, scores: dict[str, int]) -> bool:
    if not isinstance(evidence, list) or len(evidence) > 64:
        return False
    carried = set()
    for item in evidence:
        if not isinstance(item, dict) or set(item) != {"dimension", "quote", "reason"}:
            return False
        dimension, quote, reason = item["dimension"], item["quote"], item["reason"]
        if dimension not in DIMENSIONS or not isinstance(quote, str) or not isinstance(reason, str):
            return False
        if quote.strip() or (scores[dimension] < 2 and reason.strip()):
            carried.add(dimension)
    return len(carried) == len(DIMENSIONS)
