"""The tables of a judging: golden small sets, and what holds for every set of judgements."""

import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import product
from math import inf, isclose, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from affidavit.archive.record import decode, encode
from affidavit.archive.study_directory import NotArrived
from affidavit.contracts.rubric import DEFAULT
from affidavit.judging.plan import JudgingPlan, Output
from affidavit.judging.terms import FrozenJudging, JudgeTerms, Terms
from affidavit.models.model import Completion, Failure, Reason
from affidavit.results.judging import POOLED, Judgements, JudgingFigures, judging_figures
from affidavit.results.judging_closing import judging_closing
from affidavit.results.judging_tables import judging_json
from affidavit.running.ledger import JudgingLedger
from affidavit.statistics.means import cluster_mean
from support.scripted_judge import FOUR, evaluation

TEXT = "The words of the output."
MODELS, QUESTIONS, VARIANTS = ("a", "b"), ("q1", "q2"), ("v1", "v2")
Slot = tuple[str, str, str, str]
"""Judge, target, question and variant."""
SLOTS: list[Slot] = list(product(MODELS, MODELS, QUESTIONS, VARIANTS))
PENDING, FAILED, INVALID = "pending", "failed", "invalid"
Given = str | tuple[bool, tuple[int, ...]]
"""What becomes of a judgement: a word, or whether its quotes are found, and its scores."""


def output(target: str, question: str, variant: str) -> Output:
    name = f"{target}-{question}-{variant}"
    return Output(
        sha256(name.encode()).hexdigest(), name, question, variant, target, target, 0, TEXT, "Say something."
    )


OUTPUTS = [output(*names) for names in product(MODELS, QUESTIONS, VARIANTS)]
TERMS = Terms(DEFAULT, "2026-01-05", tuple(sorted(each.key for each in OUTPUTS)))
JUDGES = [JudgeTerms(name, name, {}) for name in MODELS]
PLAN = JudgingPlan("trial", 7, TERMS, JUDGES)
TARGETS = dict.fromkeys(MODELS, 4)


def tables(outcomes: Mapping[Slot, Given], *, include_self: bool = False) -> dict:
    """The figures of these judgements as JSON, through JSON once."""
    return json.loads(json.dumps(judging_json(figures(outcomes, include_self=include_self))))


def figures(outcomes: Mapping[Slot, Given], *, include_self: bool = False) -> JudgingFigures:
    """The figures of these judgements, by way of their records."""
    ledger, kept = JudgingLedger(PLAN, TARGETS), Judgements()
    for name in MODELS:
        for judgement in PLAN.judgements(name, OUTPUTS):
            each = judgement.output
            given_ = outcomes.get((name, each.model, each.question_id, each.prompt_variant), PENDING)
            if given_ == PENDING:
                continue
            if given_ == FAILED:
                record = PLAN.failure(judgement, Failure(Reason.TIMEOUT))
            else:
                record = PLAN.response(judgement, Completion(said(given_, judgement.asked.meta), "stop"))
            record = decode(encode(record, seq=1, group=1)).record
            ledger.add(record)
            kept.add(record)
    return judging_figures(kept, DEFAULT, ledger.tallies, include_self=include_self, seed=0)


def said(outcome: Given, meta: Mapping[str, str]) -> str:
    if outcome == INVALID:
        # It has scores, and high ones: they count for nothing.
        return json.dumps(evaluation(meta, "The words", (2, 2, 2, 2)) | {"verdict": "FAIL"})
    found, scores = outcome
    return json.dumps(evaluation(meta, "The words" if found else "Never said.", scores))


scores = st.tuples(*[st.integers(0, 2)] * 4)
outcome = st.one_of(
    st.sampled_from([PENDING, FAILED, INVALID]), st.tuples(st.just(True), scores), st.tuples(st.booleans(), scores)
)
outcomes = st.lists(outcome, min_size=len(SLOTS), max_size=len(SLOTS)).map(
    lambda many: dict(zip(SLOTS, many, strict=True))
)
few = settings(max_examples=max(1, settings().max_examples // 40))


def own(slot: Slot) -> bool:
    return slot[0] == slot[1]


def cell(table: Mapping) -> tuple[str, list[bool]]:
    """The judge of a table, and whose outputs it is about: others', own ones."""
    return table["judge"], {"cross_judge": [False], "self_judge": [True], POOLED: [False, True]}[table["method"]]


def within(table: Mapping, many: Mapping[Slot, Given]) -> dict[Slot, Given]:
    judge, owns = cell(table)
    return {slot: each for slot, each in many.items() if slot[0] == judge and own(slot) in owns}


def is_valid(each: Given) -> bool:
    return isinstance(each, tuple) and each[0]


# --- laws of one set of judgements ---


def law_every_table_adds_up(many: Mapping[Slot, Given], found: Mapping) -> None:
    """Ruling C5."""
    for table in found["judges"]:
        here, counts = within(table, many), table["coverage"]
        assert counts == {
            "planned": len(here),
            "valid": sum(map(is_valid, here.values())),
            "invalid": sum(each == INVALID or (isinstance(each, tuple) and not each[0]) for each in here.values()),
            "failed": list(here.values()).count(FAILED),
            "pending": list(here.values()).count(PENDING),
        }
        assert counts["planned"] == sum(counts[x] for x in ("valid", "invalid", "failed", "pending"))
        arrived = counts["valid"] + counts["invalid"]
        assert (table["valid"] is None) == (arrived == 0)
        if arrived:
            assert (table["valid"]["value"], table["valid"]["n"]) == (counts["valid"] / arrived, arrived)
            aside = sum(isinstance(each, tuple) for each in here.values())
            assert table["valid_quotes_aside"]["value"] == aside / arrived
        for row in table["verdicts"]:
            shares = [row[name] for name in ("PASS", "PARTIAL", "FAIL") if name in row]
            n = shares[0]["n"]
            assert sum(round(share["value"] * n) for share in shares) == n
        overall = [
            row["mean"]["n"] for row in table["scores"] if row["dimension"] == "overall_score" and row["mean"]
        ]
        assert sum(overall) == counts["valid"]


def law_means_are_over_valid_evaluations(many: Mapping[Slot, Given], found: Mapping) -> None:
    """Ruling J6: and beside them those with the quotes set aside."""
    counted = {"mean": is_valid, "mean_quotes_aside": lambda each: isinstance(each, tuple)}
    for table, name in product(found["judges"], counted):
        here = within(table, many)
        for row in table["scores"]:
            place = FOUR.index(row["dimension"]) if row["dimension"] in FOUR else None
            values = [
                sum(each[1]) if place is None else each[1][place]
                for slot, each in here.items()
                if (slot[1], slot[3]) == (row["target_model"], row["prompt_variant"]) and counted[name](each)
            ]
            if values:
                assert isclose(row[name]["value"], sum(values) / len(values))
                assert row[name]["n"] == len(values)
            else:
                assert row[name] is None


def law_bounds_are_reached_by_the_extremes(many: Mapping[Slot, Given], found: Mapping) -> None:
    """Ruling M6, for scores."""
    for table in found["judges"]:
        here, bounds = within(table, many), table["overall_bounds"]
        for end, total in (("lowest", 0), ("highest", 8)):
            reached = sum(sum(each[1]) if is_valid(each) else total for each in here.values()) / len(here)
            assert isclose(bounds[end], reached)
        assert bounds["missing"] == sum(not is_valid(each) for each in here.values())
        assert bounds["n"] == len(here)


def law_self_preference_is_what_a_hand_computes(many: Mapping[Slot, Given], found: Mapping) -> None:
    """Ruling J8: the own score of an output, less what the others give the same output."""
    expected = []
    for name in MODELS:
        gaps, any_own = [], False
        (other,) = set(MODELS) - {name}
        for question, variant in product(QUESTIONS, VARIANTS):
            mine, theirs = many[name, name, question, variant], many[other, name, question, variant]
            any_own = any_own or is_valid(mine)
            if is_valid(mine) and is_valid(theirs):
                gaps.append(sum(mine[1]) - sum(theirs[1]))
        if any_own:
            expected.append((name, len(gaps), sum(gaps) / len(gaps) if gaps else None))
    told = found["self_preference"]
    assert [(each["judge"], each["outputs"]) for each in told] == [each[:2] for each in expected]
    for each, (_, _, gap) in zip(told, expected, strict=True):
        assert (each["gap"] is None) == (gap is None)
        if gap is not None:
            assert isclose(each["gap"]["value"], gap, abs_tol=1e-12)
            assert each["gap"]["low"] is None or each["gap"]["low"] <= gap <= each["gap"]["high"]


def law_every_quote_is_counted_once(many: Mapping[Slot, Given], found: Mapping) -> None:
    for table in found["judges"]:
        kinds: Counter[str] = Counter()
        for each in within(table, many).values():
            if isinstance(each, tuple):
                kinds["exact" if each[0] else "absent"] += 4
            elif each == INVALID:
                kinds["exact"] += 4
        quotes = dict(table["quotes"])
        share = quotes.pop("fabricated")
        assert +Counter(quotes) == kinds
        assert (share is None) == (not kinds)
        if share:
            assert (share["value"], share["n"]) == (kinds["absent"] / kinds.total(), kinds.total())


@few
@given(outcomes, st.booleans())
def test_what_holds_for_every_set_of_judgements(many, include_self):
    found = tables(many, include_self=include_self)
    assert found["pooled"] is include_self
    assert [each["method"] for each in found["judges"]] == (
        [POOLED] * 2 if include_self else ["cross_judge"] * 2 + ["self_judge"] * 2
    )
    law_every_table_adds_up(many, found)
    law_means_are_over_valid_evaluations(many, found)
    law_bounds_are_reached_by_the_extremes(many, found)
    law_self_preference_is_what_a_hand_computes(many, found)
    law_every_quote_is_counted_once(many, found)


# --- laws of two sets ---


@few
@given(outcomes)
def test_what_failed_and_what_is_invalid_moves_no_score(many):
    # rulings C1 and J8
    less = {slot: PENDING if each in (FAILED, INVALID) else each for slot, each in many.items()}
    before, after = tables(many), tables(less)
    assert before["self_preference"] == after["self_preference"]
    for one, two in zip(before["judges"], after["judges"], strict=True):
        for name in ("scores", "verdicts", "variant_differences", "overall_bounds"):
            assert one[name] == two[name]
        assert one["quotes"]["absent"] == two["quotes"]["absent"]
        for name in ("planned", "valid"):
            assert one["coverage"][name] == two["coverage"][name]


@few
@given(outcomes, outcomes)
def test_own_outputs_move_no_table_of_others_outputs(many, other):
    # ruling J8
    changed = {slot: (other if own(slot) else many)[slot] for slot in SLOTS}
    before, after = tables(many), tables(changed)
    crossed = [[each for each in found["judges"] if each["method"] == "cross_judge"] for found in (before, after)]
    assert crossed[0] == crossed[1]


@few
@given(outcomes, st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=len(SLOTS), max_size=len(SLOTS)))
def test_the_bounds_hold_whatever_the_missing_ones_may_say(many, filling):
    # ruling M6, for scores
    filled = {
        slot: many[slot] if is_valid(many[slot]) else (True, given_)
        for slot, given_ in zip(SLOTS, filling, strict=True)
    }
    before, after = tables(many)["judges"], tables(filled)["judges"]
    for one, two in zip(before, after, strict=True):
        assert two["overall_bounds"]["missing"] == 0
        mean = two["overall_bounds"]["lowest"]
        assert one["overall_bounds"]["lowest"] - 1e-12 <= mean <= one["overall_bounds"]["highest"] + 1e-12


# --- golden ---


def wilson(successes: int, n: int) -> dict:
    """The score interval, in other words than the package's."""
    z, p = 1.959963984540054, successes / n
    middle, reach = p + z * z / 2 / n, z * sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    low, high = ((middle + sign * reach) / (1 + z * z / n) for sign in (-1, 1))
    ends = (0.0 if successes == 0 else low, 1.0 if successes == n else high)
    return {
        "value": p,
        "low": pytest.approx(ends[0]),
        "high": pytest.approx(ends[1]),
        "n": n,
        "method": "Wilson 95%",
    }


def two_clusters(value: float, low: float, high: float, n: int = 2) -> dict:
    return {"value": value, "low": low, "high": high, "n": n, "method": "cluster bootstrap 95%, 2 clusters"}


def one_cluster(value: float, n: int = 1) -> dict:
    return {"value": value, "low": None, "high": None, "n": n, "method": "one cluster: no interval"}


GOLDEN: dict[Slot, Given] = {
    ("a", "b", "q1", "v1"): (True, (2, 2, 2, 2)),
    ("a", "b", "q2", "v1"): (True, (2, 2, 0, 0)),
    ("a", "b", "q1", "v2"): (True, (1, 1, 1, 0)),
    ("a", "b", "q2", "v2"): (False, (2, 2, 2, 1)),
    ("b", "b", "q1", "v1"): (True, (2, 2, 2, 1)),
    ("b", "b", "q2", "v1"): (True, (2, 2, 2, 2)),
    ("b", "b", "q1", "v2"): INVALID,
    ("b", "b", "q2", "v2"): FAILED,
}


def score_rows(variant: str, *means: tuple[dict | None, dict]) -> list[dict]:
    return [
        {
            "target_model": "b",
            "prompt_variant": variant,
            "dimension": name,
            "mean": strict,
            "mean_quotes_aside": aside,
        }
        for name, (strict, aside) in zip((*FOUR, "overall_score"), means, strict=True)
    ]


def test_a_small_set_has_exactly_these_tables():
    found = tables(GOLDEN)
    crossed, empty_crossed, empty_own, selfed = found["judges"]
    both = lambda value, low, high: (two_clusters(value, low, high),) * 2  # noqa: E731
    assert crossed == {
        "judge": "a",
        "judging_condition": "free",
        "method": "cross_judge",
        "coverage": {"planned": 4, "valid": 3, "invalid": 1, "failed": 0, "pending": 0},
        "valid": wilson(3, 4),
        "valid_quotes_aside": wilson(4, 4),
        "flags": {"PROTOCOL_VIOLATION": wilson(1, 4)},
        "findings": {"evidence_not_located": 1, "quote_not_found": 1},
        "quotes": {
            "exact": 12,
            "normalised": 0,
            "elided": 0,
            "absent": 4,
            "absence": 0,
            "fabricated": wilson(4, 16),
        },
        "declared_by_judge": {},
        "scores": [
            *score_rows("v1", both(2, 2, 2), both(2, 2, 2), both(1, 0, 2), both(1, 0, 2), both(6, 4, 8)),
            *score_rows(
                "v2",
                (one_cluster(1), two_clusters(1.5, 1, 2)),
                (one_cluster(1), two_clusters(1.5, 1, 2)),
                (one_cluster(1), two_clusters(1.5, 1, 2)),
                (one_cluster(0), two_clusters(0.5, 0, 1)),
                (one_cluster(3), two_clusters(5, 3, 7)),
            ),
        ],
        "overall_bounds": {"lowest": 15 / 4, "highest": 23 / 4, "missing": 1, "n": 4},
        "verdicts": [
            {"target_model": "b", "prompt_variant": "v1", "PARTIAL": wilson(1, 2), "PASS": wilson(1, 2)},
            {"target_model": "b", "prompt_variant": "v2", "FAIL": wilson(1, 1)},
        ],
        "variant_differences": [{"target_model": "b", "from": "v1", "to": "v2", "difference": one_cluster(-5)}],
    }
    for empty in (empty_crossed, empty_own):
        assert empty["coverage"] == {"planned": 4, "valid": 0, "invalid": 0, "failed": 0, "pending": 4}
        assert empty["valid"] is empty["valid_quotes_aside"] is empty["quotes"]["fabricated"] is None
        assert empty["scores"] == empty["verdicts"] == empty["variant_differences"] == []
        assert empty["overall_bounds"] == {"lowest": 0, "highest": 8, "missing": 4, "n": 4}
    assert (selfed["judge"], selfed["method"]) == ("b", "self_judge")
    assert selfed["flags"] == {"INTERNAL_INCONSISTENCY": wilson(1, 3)}
    # Own 7 and 8 against 8 and 4 by the other: gaps of -1 and 4.
    assert found["self_preference"] == [
        {"judge": "b", "judging_condition": "free", "gap": two_clusters(1.5, -1, 4), "outputs": 2}
    ]


def report(found: JudgingFigures, *, late: int = 0) -> str:
    missing = tuple(NotArrived(f"q{n}", "v1", "a", 0, "timeout") for n in range(12))
    frozen = FrozenJudging(TERMS, tuple(JUDGES), missing, ("t",), TARGETS)
    console = Console(file=io.StringIO(), width=240)
    console.print(judging_closing(frozen, found, late=late))
    return console.file.getvalue()


def test_every_title_of_a_pooled_report_says_that_it_is_pooled():
    # ruling J8
    apart, pooled = report(figures(GOLDEN)), report(figures(GOLDEN, include_self=True))
    assert "pooled" not in apart
    assert POOLED not in apart
    assert "8 outputs, rubric default; evaluations of others' outputs and of own ones are pooled" in pooled
    for line in pooled.splitlines():
        assert "cross_judge" not in line
        assert "self_judge" not in line
        if "planned =" in line or "→" in line:
            assert POOLED in line
    rows = [line for line in pooled.splitlines() if line.split()[:2] in (["a", "free"], ["b", "free"])]
    assert rows
    assert all(POOLED in line for line in rows)


def test_the_report_prints_the_books_and_what_is_missing():
    # ruling C5
    text = report(figures(GOLDEN), late=3)
    assert "a, free, cross_judge: 4 planned = 3 valid + 1 invalid + 0 failed + 0 pending" in text
    assert "b, free, self_judge: 4 planned = 2 valid + 1 invalid + 1 failed + 0 pending" in text
    spaced = " ".join(text.split())
    assert "a free cross_judge v1 → v2 of b -5.00 n=1, one cluster: no interval" in spaced
    assert (
        "b free self_judge own outputs, compared with other judges of the same outputs 1.50 [-1.00, 4.00] n=2"
        in spaced
    )
    assert "not judged, since it never arrived: q9, v1, a, sample 0: timeout" in text
    assert "and 2 more; judging.json lists all" in text
    assert "3 outputs arrived after the set was frozen and are not judged" in text


# --- means over clusters ---


@pytest.mark.parametrize(
    ("values", "value", "low", "high"),
    [
        ([("a", 1.0), ("b", 5.0)], 3.0, 1.0, 5.0),
        ([("a", 1.0), ("a", 3.0), ("b", 5.0)], 3.0, 2.0, 5.0),
        ([("a", 0.0), ("b", 3.0), ("c", 6.0)], 3.0, 0.0, 6.0),
        ([("a", 0.0), ("b", 4.0), ("c", 8.0), ("d", 12.0)], 6.0, 2.0, 10.0),
        ([(n, 7.0) for n in range(9)], 7.0, 7.0, 7.0),
        ([("a", 2.0)] * 99 + [("b", 0.0)], 1.98, 0.0, 2.0),
    ],
)
def test_known_means_have_known_intervals(values, value, low, high):
    # Of k clusters, each draw of k has the same chance: the quantiles can be counted out.
    found = cluster_mean(values, seed=0)
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high))
    assert found.n == len(values)
    assert found.method == f"cluster bootstrap 95%, {len(dict(values))} clusters"


def test_one_cluster_has_no_interval_and_none_has_no_mean():
    found = cluster_mean([("a", 1.0), ("a", 2.0)], seed=0)
    assert (found.value, found.low, found.high, found.n) == (1.5, -inf, inf, 2)
    assert found.method == "one cluster: no interval"
    with pytest.raises(ValueError, match="no mean of nothing"):
        cluster_mean([], seed=0)


floats = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(st.tuples(st.integers(0, 6), floats), min_size=1, max_size=30), st.integers(0, 99))
def test_a_mean_over_clusters_is_seeded_and_lies_among_its_clusters(values, seed):
    found = cluster_mean(values, seed=seed)
    assert found == cluster_mean(iter(values), seed=seed)
    assert isclose(found.value, sum(v for _, v in values) / len(values), rel_tol=1e-9, abs_tol=1e-6)
    clusters = means(values)
    if len(clusters) > 1:
        assert min(clusters) - 1e-6 <= found.low <= found.high <= max(clusters) + 1e-6


def means(values: Iterable[tuple[int, float]]) -> list[float]:
    gathered: dict[int, list[float]] = {}
    for cluster, value in values:
        gathered.setdefault(cluster, []).append(value)
    return [sum(many) / len(many) for many in gathered.values()]


def test_another_seed_may_draw_another_interval():
    values = [(n, float(n * n % 17)) for n in range(12)]
    drawn = {(found.low, found.high) for found in (cluster_mean(values, seed=seed) for seed in range(5))}
    assert len(drawn) > 1
