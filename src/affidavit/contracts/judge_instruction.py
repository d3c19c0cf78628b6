"""The words given to a judge, all made from the rubric."""

import json
from collections.abc import Mapping

from affidavit.contracts.evaluation import LONGEST_QUOTE, META
from affidavit.contracts.rubric import TOTAL, Rubric, Verdict


def judge_instruction(rubric: Rubric, meta: Mapping[str, str]) -> str:
    """Dimensions, scale, thresholds, rules and the exact shape; meta that is known stands in it."""
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
  "reason" explains the score and is never empty.
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
