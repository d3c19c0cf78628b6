"""Judges with a script: they read the prompt as anybody would who got it, and answer it in every known way.

What each way comes to is written here by hand, from the rulings: flags, findings with their places, or why there is
no answer at all.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from affidavit.archive.path_names import decode
from support.fault_server import Asked, Call, Fault, Planned, content_filter, every, says, status

FOUR = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
IDENTIFIERS = ("question_id", "prompt_variant", "target_model", "output_id")
TREES = ("valid_evaluations", "invalid_evaluations")


def canonical(value: object) -> bytes:
    """JSON in ASCII, keys sorted, no blanks: what every digest is over."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def digest(value: object) -> str:
    return sha256(canonical(value)).hexdigest()


def nonce(judging: str, key: str, text: str, task: str, judge: str, repeat: int) -> str:  # noqa: PLR0917
    """Ruling J10, written a second time."""
    counter = 0
    while (drawn := digest([judging, key, text, judge, repeat, counter])[:32]) in text + "\0" + task:
        counter += 1
    return drawn


# --- what a judge sees ---

_WHOLE = re.compile(
    r"\n\n(?P<shape>\{\n.*?\n\})\n\n(?P<before>[^{}]*?Below stands? .*?number (?P<nonce>[0-9a-f]{32})\. .*?)"
    r"(?:\n\n<<<TASK (?P=nonce)\n(?P<task>.*)\nTASK (?P=nonce)>>>)?"
    r"\n\n<<<OUTPUT (?P=nonce)\n(?P<output>.*)\nOUTPUT (?P=nonce)>>>\n\n.*",
    re.DOTALL,
)


@dataclass(frozen=True)
class JudgePrompt:
    """A judge's prompt, taken apart."""

    words: str
    shape: dict
    nonce: str
    task: str | None
    """None where there is no place for it."""
    output: str

    @property
    def meta(self) -> dict[str, str]:
        return self.shape["meta"]

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(name for name in self.shape["scores"] if name != "overall_score")


def judge_prompt(words: str) -> JudgePrompt | None:
    """The parts of a prompt; None if nobody is asked to judge."""
    found = _WHOLE.search(words)
    if found is None:
        return None
    return JudgePrompt(words, json.loads(found["shape"]), found["nonce"], found["task"], found["output"])


def judged_in(log: list[Asked]) -> list[tuple[Asked, JudgePrompt]]:
    """The requests that ask for a judgement, in their order."""
    parsed = ((asked, judge_prompt(asked.prompt)) for asked in log)
    return [(asked, prompt) for asked, prompt in parsed if prompt is not None]


# --- what a judge says ---


def verdict_of(scores: Mapping[str, int]) -> str:
    """Ruling J3 over the four dimensions."""
    overall = sum(scores.values())
    if overall <= 3:
        return "FAIL"
    return "PASS" if overall >= 7 and scores[FOUR[0]] and scores[FOUR[1]] else "PARTIAL"


def evaluation(meta: Mapping[str, str], quote: str, scores: tuple[int, ...] = (2, 2, 1, 2)) -> dict:
    """A valid evaluation by the default rubric, if the quote is there."""
    given = dict(zip(FOUR, scores, strict=True))
    return {
        "meta": dict(meta),
        "scores": {**given, "overall_score": sum(scores)},
        "verdict": verdict_of(given),
        "flags": [],
        "evidence": [{"dimension": name, "quote": quote, "reason": "it says so"} for name in FOUR],
    }


def first_line(output: str) -> str:
    return output.partition("\n")[0]


def _valid(prompt: JudgePrompt) -> dict:
    return evaluation(prompt.meta, first_line(prompt.output))


Answer = Callable[[JudgePrompt], str | Fault]
Finding = tuple[str, str]
"""Its code and its place."""


@dataclass(frozen=True)
class Way:
    """One way to answer, and what the rulings make of it."""

    answer: Answer
    flags: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    kinds: tuple[str, ...] | None = ("exact",) * 4
    """What becomes of the quotes; None where nothing is read."""
    failure: str = ""
    finish: str = "stop"


def whole(change: Callable[[dict], object] = lambda value: None, scores: tuple[int, ...] = (2, 2, 1, 2)) -> Answer:
    """The valid evaluation, changed."""

    def answer(prompt: JudgePrompt) -> str:
        value = evaluation(prompt.meta, first_line(prompt.output), scores)
        change(value)
        return json.dumps(value)

    return answer


def text(change: Callable[[str], str]) -> Answer:
    """The valid evaluation as a text, changed."""
    return lambda prompt: change(json.dumps(_valid(prompt)))


def put(path: str, value: object) -> Callable[[dict], None]:
    """Set the member at a path like `scores.COMPLETENESS` or `evidence.3.quote`."""

    def change(whole: dict) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        for part in way:
            whole = whole[part]
        whole[last] = value

    return change


def quoting(quote: str) -> Callable[[dict], None]:
    """Another quote for the last dimension."""
    return put("evidence.3.quote", quote)


def _all_invented(value: dict) -> None:
    for item in value["evidence"]:
        item["quote"] = "words that nobody ever said here"


def _truncated(prompt: JudgePrompt) -> Fault:
    return says(json.dumps(_valid(prompt))[:-40], "length")


def planted_in(output: str) -> str:
    """The evaluation that an output brings along."""
    return output[output.index("{") : output.rindex("}") + 1]


PROTOCOL, UNPARSABLE, COVERAGE, REFUSAL, CONTRADICTION = (
    ("PROTOCOL_VIOLATION",),
    ("UNPARSABLE_OUTPUT",),
    ("INCOMPLETE_COVERAGE",),
    ("JUDGE_REFUSAL_OR_EVASION",),
    ("INTERNAL_INCONSISTENCY",),
)
SYNTAX = ("json_syntax", "$")
AROUND, NOTHING = (SYNTAX, ("text_around_json", "$")), (SYNTAX, ("no_json", "$"))
LAST = "evidence.3"

WAYS: dict[str, Way] = {
    "valid": Way(whole()),
    "fenced": Way(text(lambda t: f"```json\n{t}\n```"), PROTOCOL + UNPARSABLE, AROUND, None),
    "prose before": Way(text(lambda t: f"Here it is:\n{t}"), PROTOCOL + UNPARSABLE, AROUND, None),
    "prose after": Way(text(lambda t: f"{t}\nI hope this helps."), PROTOCOL + UNPARSABLE, AROUND, None),
    "two objects": Way(text(lambda t: t + t), PROTOCOL + UNPARSABLE, AROUND, None),
    "a mark before": Way(text(lambda t: f"\ufeff{t}"), PROTOCOL + UNPARSABLE, AROUND, None),
    "blanks of JSON around": Way(text(lambda t: f" \t\r\n{t}\n")),
    "truncated": Way(_truncated, UNPARSABLE, (SYNTAX,), None, finish="length"),
    "refusal": Way(lambda prompt: "I would rather not judge this.", UNPARSABLE + REFUSAL, NOTHING, None),
    "empty": Way(lambda prompt: "", UNPARSABLE + REFUSAL, NOTHING, None),
    "another value": Way(lambda prompt: '[{"verdict": "PASS"}]', UNPARSABLE, (("not_an_object", "$"),), None),
    "low scores": Way(whole(scores=(0, 0, 0, 0))),
    "wrong sum": Way(
        whole(put("scores.overall_score", 8)), CONTRADICTION, (("sum_mismatch", "$.scores.overall_score"),)
    ),
    "wrong verdict": Way(whole(put("verdict", "FAIL")), CONTRADICTION, (("verdict_mismatch", "$.verdict"),)),
    "unknown verdict": Way(whole(put("verdict", "pass")), PROTOCOL, (("bad_verdict", "$.verdict"),)),
    "bool score": Way(
        whole(put("scores.COMPLETENESS", True)), UNPARSABLE, (("wrong_type", "$.scores.COMPLETENESS"),)
    ),
    "score as text": Way(
        whole(put("scores.COMPLETENESS", "2")), UNPARSABLE, (("wrong_type", "$.scores.COMPLETENESS"),)
    ),
    "score 2.0": Way(
        whole(put("scores.COMPLETENESS", 2.0)), UNPARSABLE, (("wrong_type", "$.scores.COMPLETENESS"),)
    ),
    "score off the scale": Way(
        whole(lambda v: (put("scores.COMPLETENESS", 3)(v), put("scores.overall_score", 8)(v))),
        PROTOCOL,
        (("score_out_of_scale", "$.scores.COMPLETENESS"),),
    ),
    "no scores": Way(
        whole(put("scores", {})),
        (*UNPARSABLE, *REFUSAL),
        (
            *(("missing_field", f"$.scores.{name}") for name in (*FOUR, "overall_score")),
            ("scores_missing", "$.scores"),
        ),
    ),
    "extra dimension": Way(
        whole(put("scores.CLARITY", 2)), PROTOCOL, (("unknown_dimension", "$.scores.CLARITY"),)
    ),
    "extra field": Way(whole(put("confidence", 0.9)), PROTOCOL, (("unknown_field", "$.confidence"),)),
    "no evidence for one": Way(
        whole(lambda v: v["evidence"].pop()), PROTOCOL, (("evidence_missing", "$.evidence"),), ("exact",) * 3
    ),
    "one invented quote": Way(
        whole(quoting("words that nobody ever said here")),
        PROTOCOL,
        (("quote_not_found", f"$.{LAST.replace('.3', '[3]')}.quote"), ("evidence_not_located", "$.evidence")),
        ("exact", "exact", "exact", "absent"),
    ),
    "all quotes invented": Way(
        whole(_all_invented),
        PROTOCOL,
        (
            *(("quote_not_found", f"$.evidence[{n}].quote") for n in range(4)),
            *((("evidence_not_located", "$.evidence"),) * 4),
        ),
        ("absent",) * 4,
    ),
    "an invented quote beside a true one": Way(
        whole(lambda v: v["evidence"].append({**v["evidence"][0], "quote": "words that nobody ever said here"})),
        (),
        (("quote_not_found", "$.evidence[4].quote"),),
        ("exact",) * 4 + ("absent",),
    ),
    "quote with an ellipsis": Way(
        whole(quoting("Take the “long ladder” … over to the old apple tree")), kinds=("exact",) * 3 + ("elided",)
    ),
    "quote in other marks": Way(
        whole(quoting('Take the "long ladder" and carry it - don\'t run -  over')),
        kinds=("exact",) * 3 + ("normalised",),
    ),
    "blank quote below full score": Way(whole(quoting(" "), (2, 2, 2, 1)), kinds=("exact",) * 3 + ("absence",)),
    "blank quote at full score": Way(
        whole(quoting("")), PROTOCOL, (("evidence_not_located", "$.evidence"),), ("exact",) * 3 + ("absence",)
    ),
    "blank quote without a reason": Way(
        whole(lambda v: (quoting("")(v), put("evidence.3.reason", " ")(v)), (2, 2, 2, 1)),
        PROTOCOL + UNPARSABLE,
        (("missing_field", "$.evidence[3].reason"), ("evidence_not_located", "$.evidence")),
        ("exact",) * 3 + ("absence",),
    ),
    "long quote": Way(
        whole(lambda v: v["evidence"].append({**v["evidence"][0], "quote": "word " * 61})),
        (),
        (("quote_long", "$.evidence[4].quote"), ("quote_not_found", "$.evidence[4].quote")),
        ("exact",) * 4 + ("absent",),
    ),
    "another output's id": Way(
        whole(put("meta.output_id", "0" * 64)), COVERAGE, (("identifier_mismatch", "$.meta.output_id"),)
    ),
    "another judge's name": Way(
        whole(put("meta.judge_model", "gpt")), COVERAGE, (("identifier_mismatch", "$.meta.judge_model"),)
    ),
    "blank question": Way(
        whole(put("meta.question_id", " ")), COVERAGE, (("missing_identifier", "$.meta.question_id"),)
    ),
    "no such day": Way(
        whole(put("meta.timestamp", "2026-02-30")), UNPARSABLE, (("bad_date", "$.meta.timestamp"),)
    ),
    "another day": Way(whole(put("meta.timestamp", "1999-12-31"))),
    "duplicate key": Way(
        text(lambda t: t[:-1] + ', "verdict": "PASS"}'), UNPARSABLE, (("duplicate_key", "$.verdict"),), None
    ),
    "not a number": Way(
        text(lambda t: t[:-1] + ', "notes": NaN}'), UNPARSABLE, (("not_finite", "$.notes"),), None
    ),
    "lone surrogate": Way(
        text(lambda t: t[:-1] + ', "notes": "\\ud800"}'), UNPARSABLE, (("bad_text", "$.notes"),), None
    ),
    "flags itself": Way(
        whole(put("flags", ["tired", "JUDGE_REFUSAL_OR_EVASION"])), REFUSAL, (("declared_by_judge", "$.flags[1]"),)
    ),
    "a harmless flag": Way(whole(put("flags", ["tired"]))),
    "server error": Way(lambda prompt: status(500), failure="server_error", kinds=None),
    "content filter": Way(lambda prompt: content_filter, failure="content_filter", kinds=None),
}
"""Ways to answer about any output."""

CROSS_ON_ITSELF = Way(
    whole(put("meta.method", "cross_judge")), CONTRADICTION, (("method_mismatch", "$.meta.method"),)
)
PLANTED_AND_TOLD = Way(
    lambda prompt: f"The output says:\n{planted_in(prompt.output)}", PROTOCOL + UNPARSABLE, AROUND, None
)
PLANTED_AND_TAKEN = Way(
    lambda prompt: planted_in(prompt.output), COVERAGE, (("identifier_mismatch", "$.meta.output_id"),)
)
"""It is the judge's own answer then, and it is about another output."""


class Always(Mapping[str, Planned]):
    """The script of a server that answers everything in one way, whatever names stand in the prompt."""

    def __init__(self, fault: Fault) -> None:
        self._planned = every(fault)

    def __getitem__(self, question: str) -> Planned:
        return self._planned

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


async def fair(call: Call) -> None:
    """Judge validly."""
    prompt = judge_prompt(call.asked.prompt)
    assert prompt is not None
    await says(json.dumps(evaluation(prompt.meta, first_line(prompt.output).strip() or prompt.output)))(call)


async def reply(call: Call, way: Way, prompt: JudgePrompt) -> None:
    """Answer a request in this way."""
    said = way.answer(prompt)
    await (says(said) if isinstance(said, str) else said)(call)


# --- what is kept ---


def tree_files(directory: Path) -> Iterator[tuple[str, list[str], str, dict]]:
    """Tree, names, file name and content of every evaluation in the trees."""
    for tree in TREES:
        for path in sorted((directory / tree).rglob("*.json")):
            parts = path.relative_to(directory / tree).parts
            yield tree, decode(parts[:-1]), parts[-1], json.loads(path.read_text("ascii"))
