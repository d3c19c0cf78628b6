"""However hostile a judge's answer of n bytes is, its record and its file take at most 6 n + 100 kB (ruling J4)."""

import json
import tracemalloc
from collections.abc import Callable

import pytest

from affidavit.archive.record import Judgement, encode
from affidavit.contracts.bounded_findings import LONGEST, MOST
from affidavit.contracts.judge import judge
from affidavit.contracts.rubric import DEFAULT
from affidavit.contracts.strict_json import LARGEST, decode
from affidavit.judging.plan import JudgingPlan, Output
from affidavit.judging.terms import FREE, JudgeTerms, Terms
from affidavit.judging.trees import Evaluation, TreeFiles
from affidavit.models.model import Completion

KEY = "ab" * 32
OUTPUT = Output(KEY, KEY, "Q1", "A", "model-t", "model-t", 0, "Take the long ladder. \x7f\x7f\x7f", "Which tool?")
ALLOWED = 100_000
LETTERS = {
    "letters": "x",
    "marks": "é",
    "faces": "😀",
    "escaped controls": "\\u0001",
    "quote marks": '\\"',
    "backslashes": "\\\\",
    "deletes": "\x7f",
    "deletes and letters": "\x7fx",
}
"""What a hostile text is made of, as it stands in JSON: each grows in its own way when it is written again."""


def filled(head: str, part: Callable[[int], str], tail: str, size: int) -> str:
    """As many parts as make an answer of about this size."""
    parts, length, number = [head], len(head) + len(tail), 0
    while length + len((said := part(number)).encode("utf-8", "surrogatepass")) <= size:
        parts.append(said)
        length += len(said.encode("utf-8", "surrogatepass"))
        number += 1
    return "".join(parts) + tail


def meta() -> dict[str, str]:
    return dict(PLAN.judgement(TERMS, OUTPUT, FREE, 1).asked.meta)


def valid(**changed: str) -> str:
    """An evaluation in order, some of its members given as JSON."""
    words = {"quote": "the long ladder", "reason": "it is there"}
    value = {
        "meta": meta(),
        "scores": {**dict.fromkeys(DEFAULT.ids, 2), "overall_score": 8},
        "verdict": "PASS",
        "flags": [],
        "evidence": [{"dimension": each, **words} for each in DEFAULT.ids],
    }
    members = {name: json.dumps(member) for name, member in value.items()} | changed
    return "{" + ",".join(f'"{name}":{member}' for name, member in members.items()) + "}"


def members(key: Callable[[int], str], value: str, size: int, head: str = "{", tail: str = "}") -> str:
    """An object, or the inside of one, of as many members as make up the size."""
    return filled(f'{head}"first":1', lambda number: f',"{key(number)}":{value}', tail, size)


def items(quote: str, dimension: str, size: int) -> str:
    """64 evidence items that share the size."""
    each = max((size - 1200) // 64 - 60, 1)
    texts = [
        quote * (each // len(quote.encode())),
        dimension * (each // len(dimension.encode()) if dimension else 0),
    ]
    item = f'{{"dimension":"{texts[1] or "COMPLETENESS"}","quote":"{texts[0]}","reason":"r"}}'
    return "[" + ",".join([item] * 64) + "]"


HOSTILE: dict[str, Callable[[int], str]] = {
    "unknown fields": lambda size: members(lambda n: f"a{n}", "1", size),
    "one unknown field": lambda size: members(lambda n: "k" * (size // 2), "1", size),
    "unknown dimensions": lambda size: valid(scores=members(lambda n: f"{n}" + "\x7f" * 30, "1", size - 2000)),
    "unknown fields of items": lambda size: valid(
        evidence="[" + ",".join([members(lambda n: f"{n}" + "\x7f" * 30, "1", size // 70)] * 64) + "]"
    ),
    "repeated keys below long ones": lambda size: members(lambda n: "b", "1", size - 700, *nested("\\\\" * 50, 3)),
    "repeated keys in the deep": lambda size: members(lambda n: "b", "1", size - 700, *nested("k" * 10, 30)),
    "numbers beyond a double": lambda size: members(lambda n: f"{n}", "1e999", size, *nested("\x7f" * 40, 3)),
    "half characters": lambda size: members(lambda n: f"{n}", '"\\ud800' + "\x7f" * 30 + '"', size),
    "half characters as they are": lambda size: members(lambda n: f"\ud800{n}", '"\udfff"', size),
    "half characters in long paths": lambda size: members(
        lambda n: f"{n}", '"\\ud800' + "\x7f" * 30 + '"', size, *nested("\x7f" * 40, 3)
    ),
    "empty flags": lambda size: valid(flags=listed('""', size)),
    "flags of one delete": lambda size: valid(flags=listed('"\x7f"', size)),
    "flags of many deletes": lambda size: valid(flags=listed('"' + "\x7f" * 30 + '"', size)),
    "one flag": lambda size: valid(flags='["' + "\x7f" * max(size - 1500, 1) + '"]'),
    "declared criteria": lambda size: valid(flags=listed('"PROTOCOL_VIOLATION"', size)),
    "numbers as flags": lambda size: valid(flags=listed("1", size)),
    "numbers as evidence": lambda size: valid(evidence="[" + ",".join(["1"] * 64) + "]"),
    "notes of deletes": lambda size: valid(notes='"' + "\x7f" * max(size - 1500, 1) + '"'),
    "deletes in the meta": lambda size: valid(
        meta=json.dumps(dict.fromkeys(meta(), "@")).replace("@", "\x7f" * max((size - 1500) // 8, 1))
    ),
    "controls outside of JSON": lambda size: "\x01" * size,
    "deletes outside of JSON": lambda size: "\x7f" * size,
    "an object among controls": lambda size: "\x01" * (size // 2) + "{}" + "\x01" * (size // 2 - 2),
    "everything at once": lambda size: members(
        lambda n: f"{n}" + "\x7f" * 30,
        "1",
        size,
        valid(
            evidence=items("\x7f", "\x7f", min(size // 2, 8000)),
            flags=listed('"' + "\x7f" * 30 + '"', min(size // 4, 4000)),
        )[:-1]
        + ",",
    ),
    **{
        f"quotes of {name}": lambda size, each=each: valid(evidence=items(each, "", size))
        for name, each in LETTERS.items()
    },
    **{
        f"dimensions of {name}": lambda size, each=each: valid(evidence=items(each, each, size))
        for name, each in LETTERS.items()
    },
    **{
        f"fields of {name}": lambda size, each=each: members(lambda n: f"{n}" + each * 40, "1", size)
        for name, each in LETTERS.items()
    },
}


def nested(key: str, depth: int) -> tuple[str, str]:
    """What opens so many objects within objects, and what closes them."""
    return f'{{"{key}":' * (depth - 1) + "{", "}" * depth


def listed(element: str, size: int) -> str:
    return "[" + ",".join([element] * max((size - 1500) // (len(element) + 1), 1)) + "]"


TERMS = JudgeTerms("judge-x", "judge-x", {"temperature": 0.0})
PLAN = JudgingPlan("study", 7, Terms(DEFAULT, "2026-01-05", (KEY,)), [TERMS])


def judged(raw: str) -> Judgement:
    return PLAN.response(PLAN.judgement(TERMS, OUTPUT, FREE, 1), Completion(raw, "stop"))


@pytest.mark.parametrize(
    "size", [600, 9_000, *(pytest.param(size, marks=pytest.mark.slow) for size in (4_000, 30_000, LARGEST))]
)
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_kept_of_a_hostile_answer_is_bounded_by_its_size(name, size):
    raw = HOSTILE[name](size)
    bytes_of_answer = len(raw.encode("utf-8", "surrogatepass"))
    record = judged(raw)
    line = encode(record, seq=1, group=1)
    subject = record.subject
    source = {
        "key": subject.key,
        "judged_key": subject.judged_key,
        "judging_sha256": subject.judging_sha256,
        "prompt_sha256": subject.prompt_sha256,
    }
    _, file = TreeFiles(judge).file(Evaluation(raw, subject.asked, {}, record.reading, source))
    allowed = 6 * bytes_of_answer + ALLOWED
    assert len(line) <= allowed, f"the line exceeds by {len(line) - allowed}"
    assert len(file) <= allowed, f"the file exceeds by {len(file) - allowed}"
    assert len(record.findings) <= MOST
    for finding in record.findings:
        assert max(map(len, (finding.path, finding.expected, finding.found))) <= LONGEST


def test_flags_come_from_all_findings_and_those_that_are_not_kept_are_counted_by_code():
    raw = valid(flags=json.dumps(["odd"] * 236), extra="1", **{f"x{n}": "1" for n in range(5_000)})
    raw = raw.replace('"verdict":"PASS"', '"verdict":"FAIL"')
    reading = judge.read(raw)
    assert {finding.code.value for finding in reading.findings} == {"unknown_field"}
    assert len(reading.findings) == MOST
    assert [(each.code.value, each.count) for each in reading.further_findings] == [
        ("unknown_field", 5_001 - MOST),
        ("verdict_mismatch", 1),
    ]
    assert [flag.value for flag in reading.flags] == ["PROTOCOL_VIOLATION", "INTERNAL_INCONSISTENCY"]
    assert (len(reading.judge_flags), reading.further_judge_flags) == (200, 36)
    counted = dict(judge.labels(reading.fields()))
    assert counted["findings"] == "verdict_mismatch", "what is only counted is counted in the tables too"
    assert not judge.nearly_kept(reading.fields())


def peak(work: Callable[[str], object], raw: str) -> int:
    """The most bytes that were held at once."""
    tracemalloc.start()
    work(raw)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held


@pytest.mark.slow
def test_findings_that_are_not_kept_cost_no_memory():
    raw = members(lambda n: f"a{n}", "1", LARGEST)
    assert sum(each.count for each in judge.read(raw).further_findings) > 20_000
    # A finding for each of them would take more than five million bytes.
    assert peak(judge.read, raw) < peak(decode, raw) + 300_000
