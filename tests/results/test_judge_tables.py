"""The tables of a judging (ruling J15) against a slow, literal count over random judgements."""

import io
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import inf, isclose, isfinite, sqrt
from statistics import mean, stdev
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import t as student

from affidavit.archive.record import QuestionIdentity, Response, encode
from affidavit.archive.record_lines import decode
from affidavit.archive.study_directory import NotArrived
from affidavit.contracts.rubric import DEFAULT
from affidavit.judging.plan import JudgeCell, JudgingPlan, Output
from affidavit.judging.terms import FrozenJudging, JudgeTerms, Terms
from affidavit.models.model import Completion, Failure, Reason
from affidavit.reading.tally import Tally
from affidavit.results.judge_scores import score_columns
from affidavit.results.judging import (
    POOLED,
    Evaluation,
    JudgedPlace,
    JudgedSide,
    Judgements,
    JudgingFigures,
    judging_figures,
)
from affidavit.results.judging_closing import judging_closing
from affidavit.results.judging_tables import BLIND, JUDGING_TABLES, OWN, judging_json, judging_tables
from affidavit.results.table import Table
from affidavit.results.values import Mean, estimate_of
from affidavit.running.ledger import JudgingLedger
from affidavit.statistics.agreement import alpha, weighted_kappa
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.means import cluster_mean
from affidavit.statistics.self_preference import JudgedScore, self_preference
from affidavit.statistics.shares import wilson
from support.scripted_judge import FOUR, evaluation, verdict_of

TEXT = "The words of the output."
JUDGE_NAMES, TARGET_NAMES = ("a", "b", "c"), ("a", "b", "c", "z")
VARIANTS, REPEATS = ("v1", "v2"), (1, 2)
QUESTIONS = {"t1": tuple(f"q{n}" for n in range(11)), "t2": ("q0", "q1", "q2")}
TASKS = tuple(QUESTIONS)
PENDING, FAILED, INVALID, CUT = "pending", "failed", "invalid", "cut"
COLUMNS = (*FOUR, "overall_score")


class Slot(NamedTuple):
    """One planned judgement."""

    judge: str
    target: str
    task: str
    question: str
    variant: str
    repeat: int

    @property
    def own(self) -> bool:
        return self.judge == self.target

    @property
    def output(self) -> str:
        return key_of(self.target, self.task, self.question, self.variant)


Given = str | tuple[bool, tuple[int, ...]]
"""What becomes of a judgement: a word, or whether its quotes are found, and its scores."""
Outcomes = Mapping[Slot, Given]


def key_of(target: str, task: str, question: str, variant: str) -> str:
    return sha256(f"{target}-{task}-{question}-{variant}".encode()).hexdigest()


# Two tasks have questions of the same ids: they are not the same questions.
ASKED = [(task, question) for task, questions in QUESTIONS.items() for question in questions]
PLACES = [(target, *asked, variant) for target, asked, variant in product(TARGET_NAMES, ASKED, VARIANTS)]
OUTPUTS = [
    Output(key_of(*place), "-".join(place), place[2], place[3], place[0], place[0], 0, TEXT, "Say something.")
    for place in PLACES
]
TASK_OF = {key_of(*place): place[1] for place in PLACES}
TERMS = Terms(DEFAULT, "2026-01-05", tuple(sorted(each.key for each in OUTPUTS)))
JUDGES = [JudgeTerms(name, name, {}, repeats=len(REPEATS)) for name in JUDGE_NAMES]
REPEATED = dict.fromkeys(JUDGE_NAMES, len(REPEATS))
PLAN = JudgingPlan("trial", 7, TERMS, JUDGES)
TARGETS = dict.fromkeys(TARGET_NAMES, len(ASKED) * len(VARIANTS))
SLOTS = [Slot(judge, *place, repeat) for judge, place, repeat in product(JUDGE_NAMES, PLACES, REPEATS)]


def figures(outcomes: Outcomes, *, include_self: bool = False, blind: bool = False) -> JudgingFigures:
    """The figures of these judgements, by way of their records."""
    ledger, kept = JudgingLedger(PLAN, TARGETS), Judgements()
    for output in OUTPUTS:
        subject = QuestionIdentity(
            output.key, "trial", TASK_OF[output.key], output.question_id, output.model, output.prompt_variant, 0, "", None
        )  # fmt: skip
        kept.add(Response(subject, TEXT, "text/1", {}, protocol_compliant=True, fields={}))
    for name in JUDGE_NAMES:
        for judgement in PLAN.judgements(name, OUTPUTS):
            each = judgement.output
            place = (each.model, TASK_OF[each.key], each.question_id, each.prompt_variant)
            outcome = outcomes.get(Slot(name, *place, judgement.repeat), PENDING)
            if outcome == PENDING:
                continue
            if outcome == FAILED:
                record = PLAN.failure(judgement, Failure(Reason.TIMEOUT))
            else:
                ended = "length" if outcome == CUT else "stop"
                record = PLAN.response(judgement, Completion(said(outcome, judgement.asked.meta), ended))
            record = decode(encode(record, seq=1, group=1)).record
            ledger.add(record)
            kept.add(record)
    return judging_figures(
        kept, DEFAULT, ledger.tallies, repeats=REPEATED, include_self=include_self, seed=0, blind=blind
    )


def said(outcome: Given, meta: Mapping[str, str]) -> str:
    if outcome == INVALID:
        # It has scores, and high ones: they count for nothing.
        return json.dumps(evaluation(meta, "The words", (2, 2, 2, 2)) | {"verdict": "FAIL"})
    if outcome == CUT:
        return json.dumps(evaluation(meta, "The words"))[:-40]
    found, scores = outcome
    return json.dumps(evaluation(meta, "The words" if found else "Never said.", scores))


def drawn(seed: int) -> dict[Slot, Given]:
    """A judging in which anything may have become of a judgement; sometimes one judge has said nothing."""
    draw = random.Random(seed)  # noqa: S311
    silent = draw.choice((*JUDGE_NAMES, None, None))
    quality = {key: draw.randrange(3) for key in TASK_OF}

    def one(slot: Slot) -> Given:
        word = draw.choices((PENDING, FAILED, INVALID, CUT, ""), (1, 1, 1, 1, 12))[0]
        if slot.judge == silent or word:
            return PENDING if slot.judge == silent else word
        scores = tuple(min(2, max(0, quality[slot.output] + draw.randrange(-1, 2))) for _ in FOUR)
        return (draw.random() < 0.85, scores)

    return {slot: one(slot) for slot in SLOTS}


seeds = st.integers(0, 10_000)
fewer = settings(max_examples=max(1, settings().max_examples // 100), deadline=None)
few = settings(max_examples=max(2, settings().max_examples // 40), deadline=None)


def is_valid(given_: Given) -> bool:
    return isinstance(given_, tuple) and given_[0]


def scored(given_: Given) -> bool:
    return isinstance(given_, tuple)


def arrived(given_: Given) -> bool:
    return given_ not in (PENDING, FAILED)


def score(given_: Given, column: str) -> int:
    return sum(given_[1]) if column == "overall_score" else given_[1][FOUR.index(column)]


# --- intervals, in other words than the package's ---


def literal_share(clusters: Iterable[tuple[int, int]]) -> tuple[float, float, float, int]:
    """Ruling S1, as it is written."""
    kept = [(s, n) for s, n in clusters if n]
    total = sum(n for _, n in kept)

    def ends(groups: list[tuple[int, int]]) -> tuple[float, float]:
        p, n = sum(s for s, _ in groups) / total, total
        if any(size > 1 for _, size in groups):
            m = total / len(groups)
            more = [*groups, (m, m), (0, m)]
            everything = sum(size for _, size in more)
            middle = sum(s for s, _ in more) / everything
            g = len(more)
            error = g / (g - 1) * sum((s - middle * size) ** 2 for s, size in more) / everything**2
            n = total / max(1, error / (middle * (1 - middle) / everything))
        z = 1.959963984540054
        reach = z * sqrt(p * (1 - p) / n + z * z / 4 / n / n)
        low, high = ((p + z * z / 2 / n + sign * reach) / (1 + z * z / n) for sign in (-1, 1))
        return (0.0 if p == 0 else low), (1.0 if p == 1 else high)

    low, high = ends(kept)
    low = min(low, ends([(n, n) for _, n in kept])[0])
    high = max(high, ends([(0, n) for _, n in kept])[1])
    return sum(s for s, _ in kept) / total, low, high, total


def holds_share(found: Estimate | None, clusters: Mapping[str, list[bool]]) -> None:
    if not clusters:
        assert found is None
        return
    value, low, high, n = literal_share((sum(each), len(each)) for each in clusters.values())
    assert (found.value, found.low, found.high, found.n) == pytest.approx((value, low, high, n))


def holds_mean(found: Mean | None, values: Mapping[tuple[str, str], list[float]]) -> None:
    """The mean with t over questions, from ten on; equal scores have no interval."""
    if not values:
        assert found is None
        return
    estimate, everything = found.estimate, [value for many in values.values() for value in many]
    centre, n, g = mean(everything), len(everything), len(values)
    assert (estimate.value, estimate.n, estimate.clusters) == (pytest.approx(centre), n, g)
    error = (
        sqrt(g / (g - 1) * sum(sum(v - centre for v in many) ** 2 for many in values.values())) / n if g > 1 else 0
    )
    if g < 10 or error < 1e-12:
        assert (estimate.low, estimate.high) == (-inf, inf)
    else:
        reach = student.ppf(0.975, g - 1) * error
        assert (estimate.low, estimate.high) == pytest.approx((centre - reach, centre + reach))


def gathered(slots: Iterable[Slot], key: Callable[[Slot], object], value: Callable[[Slot], object]) -> dict:
    found: dict = {}
    for slot in slots:
        found.setdefault(key(slot), []).append(value(slot))
    return found


# --- every table, counted by hand ---


class Made(NamedTuple):
    """Judgements and the tables that they came to."""

    outcomes: Outcomes
    tables: dict[str, Table]
    pooled: bool

    def sides(self) -> Iterator[tuple[str, list[Slot]]]:
        """The ending of a table's name, and the judgements that it is about (ruling J8)."""
        if self.pooled:
            yield "", list(self.outcomes)
            return
        yield "", [slot for slot in self.outcomes if not slot.own]
        yield OWN, [slot for slot in self.outcomes if slot.own]

    def rows(self, name: str) -> list[dict]:
        table = self.tables.get(name)
        return [] if table is None else [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def here(made: Made, slots: Iterable[Slot], row: Mapping) -> list[Slot]:
    """The judgements that a row is about, by whichever names it has."""
    names = {"judge": "judge", "target": "target", "variant": "variant", "task": "task"}
    if "method" in row:
        assert row["method"] in ({POOLED} if made.pooled else {"cross_judge", "self_judge"})
    return [
        slot
        for slot in slots
        if all(getattr(slot, part) == row[name] for name, part in names.items() if name in row)
    ]


def check_validity(made: Made) -> None:
    """Rulings C5 and C6."""
    for end, slots in made.sides():
        rows = made.rows(f"judges{end}")
        assert [row["judge"] for row in rows] == list(JUDGE_NAMES)
        for row in rows:
            mine = {slot: made.outcomes[slot] for slot in here(made, slots, row)}
            assert row["planned"] == len(mine)
            assert row["valid"] == sum(map(is_valid, mine.values()))
            words = [each for each in mine.values() if isinstance(each, str)]
            assert (row["failed"], row["pending"]) == (words.count(FAILED), words.count(PENDING))
            assert row["planned"] == sum(row[name] for name in ("valid", "invalid", "failed", "pending"))
            assert row["truncated"] == row["invalid and truncated"] == list(mine.values()).count(CUT)
            there = [slot for slot, each in mine.items() if arrived(each)]
            for column, counts in {"share valid": is_valid, "share invalid": lambda each: not is_valid(each),
                                   "valid, quotes aside": scored}.items():  # fmt: skip
                clusters = gathered(there, lambda s: s.output, lambda s, c=counts, m=mine: c(m[s]))
                holds_share(row[column], clusters)
            # A pending judgement is of the output that it is about.
            failed = gathered(mine, lambda s: s.output, lambda s, m=mine: m[s] == FAILED)
            holds_share(row["share of planned failed"], failed)


FLAGS = {
    INVALID: {"INTERNAL_INCONSISTENCY"},
    CUT: {"UNPARSABLE_OUTPUT"},
    False: {"PROTOCOL_VIOLATION"},
    True: set(),
}


def flags_of(given_: Given) -> set[str]:
    return FLAGS[given_[0] if isinstance(given_, tuple) else given_]


def check_flags(made: Made) -> None:
    for end, slots in made.sides():
        found = made.rows(f"flags{end}")
        expected = {
            (s.judge, flag) for s in slots if arrived(made.outcomes[s]) for flag in flags_of(made.outcomes[s])
        }
        assert {(row["judge"], row["flag"]) for row in found} == expected
        assert len(found) == len(expected)
        for row in found:
            there = [slot for slot in here(made, slots, row) if arrived(made.outcomes[slot])]
            carried = gathered(there, lambda s: s.output, lambda s, f=row["flag"]: f in flags_of(made.outcomes[s]))
            holds_share(row["share of evaluations"], carried)
            assert row["evaluations"] == sum(map(sum, carried.values()))


def quotes_of(given_: Given) -> Counter[str]:
    if given_ == INVALID:
        return Counter(exact=4)
    return Counter({"exact" if given_[0] else "absent": 4}) if isinstance(given_, tuple) else Counter()


def check_quotes(made: Made) -> None:
    """The quotes of one evaluation are a cluster (ruling S1)."""
    kinds = ("exact", "normalised", "elided", "absent", "absence")
    for end, slots in made.sides():
        for row in made.rows(f"quotes{end}"):
            counts = [quotes_of(made.outcomes[slot]) for slot in here(made, slots, row)]
            assert [row[kind] for kind in kinds] == [sum(each[kind] for each in counts) for kind in kinds]
            quoted = {str(at): (each["absent"], each.total()) for at, each in enumerate(counts) if each.total()}
            found = row["fabricated"]
            assert (found is None) == (not quoted)
            if quoted:
                assert (found.value, found.low, found.high, found.n) == pytest.approx(
                    literal_share(quoted.values())
                )
        for row in made.rows(f"quotes by kind{end}"):
            counts = [quotes_of(made.outcomes[slot]) for slot in here(made, slots, row)]
            clusters = [(each[row["kind"]], each.total()) for each in counts]
            found = row["share of quotes"]
            assert (found.value, found.low, found.high, found.n) == pytest.approx(literal_share(clusters))
            assert row["quotes"] == sum(s for s, _ in clusters)


def check_verdicts(made: Made) -> None:
    for end, slots in made.sides():
        for name in (f"verdicts by judge{end}", *(["verdicts"] if not end else [])):
            rows = made.rows(name)
            for row in rows:
                there = [slot for slot in here(made, slots, row) if is_valid(made.outcomes[slot])]
                given_ = gathered(
                    there, lambda s: s.output,
                    lambda s, v=row["verdict"]: verdict_of(dict(zip(FOUR, made.outcomes[s][1], strict=True))) == v,
                )  # fmt: skip
                holds_share(row["share of valid"], given_)
                assert row["evaluations"] == sum(map(sum, given_.values()))
            assert sum(row["evaluations"] for row in rows) == sum(is_valid(made.outcomes[slot]) for slot in slots)
    assert "verdicts, own outputs" not in made.tables


def check_scores(made: Made) -> None:
    """By judge, and pooled over judges by group, target and variant; dimensions in the rubric's order."""
    for end, slots in made.sides():
        pooled = ("pooled scores", "scores by target", "scores by variant")
        for name in (f"scores{end}", *(() if end else pooled)):
            rows = made.rows(name)
            for at, row in enumerate(rows):
                assert row["dimension"] == COLUMNS[at % len(COLUMNS)]
                assert row["range"] == ("0–8" if row["dimension"] == "overall_score" else "0–2")
                for column, counted in (("mean", is_valid), ("mean, quotes aside", scored)):
                    there = [slot for slot in here(made, slots, row) if counted(made.outcomes[slot])]
                    values = gathered(
                        there, lambda s: (s.task, s.question),
                        lambda s, d=row["dimension"]: float(score(made.outcomes[s], d)),
                    )  # fmt: skip
                    holds_mean(row[column], values)
            counts = [row["mean, quotes aside"].estimate.n for row in rows if row["dimension"] == "overall_score"]
            assert sum(counts) == sum(scored(made.outcomes[slot]) for slot in slots)


def check_bounds(made: Made) -> None:
    """Ruling S6: reached by the extremes, each with its interval; with anything pending, said to have none."""
    for end, slots in made.sides():
        found = {row["judge"]: row for row in made.rows(f"score bounds{end}")}
        if not end:
            found |= dict(zip(("",), made.rows("pooled score bounds"), strict=False))
        for judge in (*JUDGE_NAMES, *(() if end else ("",))):
            here_ = [slot for slot in slots if judge in (slot.judge, "")]
            mine = [made.outcomes[slot] for slot in here_]
            missing = sum(not is_valid(each) for each in mine)
            assert (judge in found) == (missing > 0)
            if not missing:
                continue
            row = found[judge]
            assert (row["planned"], row["missing"]) == (len(mine), missing)
            for column, total in (("if missing lowest", 0), ("if missing highest", 8)):
                filled = gathered(
                    here_, lambda s: (s.task, s.question),
                    lambda s, t=total: sum(made.outcomes[s][1]) if is_valid(made.outcomes[s]) else t,
                )  # fmt: skip
                found_ = row[column].estimate
                if pending := mine.count(PENDING):
                    assert isclose(found_.value, mean(each for many in filled.values() for each in many))
                    assert found_.method == f"{pending:,} pending: sampling is not in it"
                    continue
                holds_bound(row[column], filled)


def holds_bound(found: Mean, filled: Mapping[tuple[str, str], list[float]]) -> None:
    """A mean like any other, within the scale."""
    if found.estimate.low == -inf:
        assert found.estimate.method.endswith("; sampling is not in it")
    low, high = found.estimate.low, found.estimate.high
    assert low == -inf or 0 <= low <= found.estimate.value <= high <= 8
    if low > 0 and high < 8:
        holds_mean(found, filled)


class Paired(NamedTuple):
    """What is expected of one row of differences."""

    gaps: list[Fraction]
    counts: tuple[int, int, int, int]
    """Questions that are paired, judged by different judges only, under one variant only, not at all."""

    @property
    def p_value(self) -> float:
        """All patterns of signs, as the sign flip test has it."""
        moved = [int(12 * gap) for gap in self.gaps if gap]
        assert [Fraction(gap, 12) for gap in moved] == [gap for gap in self.gaps if gap], "halves and thirds"
        sums = Counter([0])
        for gap in moved:
            sums = Counter(
                {
                    total: sums[total - gap] + sums[total + gap]
                    for each in sums
                    for total in (each + gap, each - gap)
                }
            )
        return sum(n for total, n in sums.items() if abs(total) >= abs(sum(moved))) / sums.total()


def paired(made: Made, slots: Iterable[Slot], row: Mapping) -> Paired:
    """By question: the second variant less the first, within each judge, then the mean over judges."""
    slots = [slot for slot in slots if is_valid(made.outcomes[slot])]
    gaps, kinds = [], Counter()
    for question in QUESTIONS[row["task"]]:
        given_ = [(s.judge, s.variant, sum(made.outcomes[s][1])) for s in slots if s.question == question]
        within = []
        for judge in JUDGE_NAMES:
            first, second = ([total for j, v, total in given_ if (j, v) == (judge, one)] for one in VARIANTS)
            if first and second:
                within.append(Fraction(sum(second), len(second)) - Fraction(sum(first), len(first)))
        if within:
            gaps.append(sum(within) / len(within))
        else:
            kinds[len({variant for _, variant, _ in given_})] += 1
    return Paired(gaps, (len(gaps), kinds[2], kinds[1], kinds[0]))


def check_differences(made: Made) -> None:
    """Rulings S2 and S3 for scores: every question counted once, and the whole table one family."""
    for end, slots in made.sides():
        asked = [slot for slot in slots if made.outcomes[slot] != PENDING]
        for name in (f"score differences{end}", *(() if end else ("pooled score differences",))):
            rows = made.rows(name)
            pooled = name.startswith("pooled")
            known = {(None if pooled else s.judge, s.target, task) for s in asked for task in TASKS}
            assert {(row.get("judge"), row["target"], row["task"]) for row in rows} == known
            assert len(rows) == len(known)
            names = [(row.get("judge", ""), row["task"], row["target"]) for row in rows]
            assert names == sorted(names)
            expected = [paired(made, here(made, slots, row), row) for row in rows]
            check_family(rows, expected)


def check_family(rows: list[dict], expected: list[Paired]) -> None:
    tested = sorted((each.p_value, at) for at, each in enumerate(expected) if each.gaps)
    levels, adjusted, stopped, most = {}, {}, None, 0.0
    for place, (p_value, at) in enumerate(tested):
        left = len(tested) - place
        most = adjusted[at] = min(1.0, max(most, p_value * left))
        if stopped is None and p_value > 0.05 / left:
            stopped = 0.05 / left
        levels[at] = stopped or 0.05 / left
    for at, (row, (gaps, counts)) in enumerate(zip(rows, expected, strict=True)):
        assert (row["from"], row["to"]) == VARIANTS
        assert row["questions"] == sum(counts) == len(QUESTIONS[row["task"]])
        different = row.get("by different judges only", 0)
        assert (row["paired questions"], different, row["one variant only"], row["not judged"]) == counts
        signs = (sum(g > 0 for g in gaps), sum(g < 0 for g in gaps), sum(g == 0 for g in gaps))
        assert (row["higher"], row["lower"], row["equal"]) == signs
        if not gaps:
            assert (row["difference"], row["p"], row["p, Holm"], row["level"]) == (None, None, None, None)
            continue
        assert row["p"].value == pytest.approx(expected[at].p_value)
        assert row["p, Holm"].value == pytest.approx(adjusted[at])
        assert row["level"].value == pytest.approx(levels[at])
        check_interval(row, gaps, levels[at], rejected=adjusted[at] <= 0.05)


def check_interval(row: Mapping, gaps: list[Fraction], level: float, *, rejected: bool) -> None:
    """The t interval at the level of the verdict, and what is said in words."""
    if len(gaps) < 10:
        assert row["difference"] is None
        assert row["in words"].endswith("equal; fewer than 10 questions: only the counts")
        return
    found = row["difference"].estimate
    assert found.value == pytest.approx(float(mean(gaps)))
    if len(set(gaps)) == 1:
        return
    reach = student.ppf(1 - level / 2, len(gaps) - 1) * stdev(map(float, gaps)) / sqrt(len(gaps))
    ends = max(-8, found.value - reach), min(8, found.value + reach)
    assert (found.low, found.high) == pytest.approx(ends)
    if rejected and not ends[0] <= 0 <= ends[1]:
        assert row["in words"] == ("higher" if ends[0] > 0 else "lower")
    else:
        assert row["in words"].startswith("not distinguishable at this n; ")
        assert row["in words"].endswith(" would be found in 80 % of such studies")


def check_agreement(made: Made) -> None:
    """The first valid evaluation of each judge, over outputs that both have judged."""
    for end, slots in made.sides():
        kept = list(made.outcomes) if end else slots
        for row in (*made.rows(f"agreement{end}"), *made.rows("" if end else "pooled agreement")):
            judges = (row["judge"], row["other judge"]) if "judge" in row else JUDGE_NAMES
            outputs: dict[str, dict[str, int]] = {}
            for slot in sorted(kept, key=lambda s: s.repeat):
                if slot.judge in judges and is_valid(made.outcomes[slot]) and (not end or slot.target in judges):
                    value = score(made.outcomes[slot], row["dimension"])
                    outputs.setdefault(slot.output, {}).setdefault(slot.judge, value)
            if end:
                authored = {s.output for s in kept if s.own and s.judge in judges and is_valid(made.outcomes[s])}
                outputs = {output: each for output, each in outputs.items() if output in authored}
            present = sorted({judge for each in outputs.values() for judge in each})
            ratings = [
                [each.get(judge) for judge in present] for _, each in sorted(outputs.items()) if len(each) > 1
            ]
            holds_agreement(row, ratings)


def check_retest(made: Made) -> None:
    for end, slots in made.sides():
        for row in made.rows(f"test-retest{end}"):
            outputs: dict[str, dict[int, int]] = {}
            for slot in here(made, slots, row):
                if is_valid(made.outcomes[slot]):
                    value = score(made.outcomes[slot], row["dimension"])
                    outputs.setdefault(slot.output, {})[slot.repeat] = value
            ratings = [[each[r] for r in REPEATS] for _, each in sorted(outputs.items()) if len(each) == 2]
            holds_agreement(row, ratings)


def holds_agreement(row: Mapping, ratings: list[list[int | None]]) -> None:
    alike = sum(len({value for value in each if value is not None}) == 1 for each in ratings)
    value, low, high, n = literal_share([(1, 1)] * alike + [(0, 1)] * (len(ratings) - alike))
    exact = row["exact agreement"]
    assert (exact.value, exact.low, exact.high, exact.n) == pytest.approx((value, low, high, n))
    assert row["outputs"] == n
    constant = len({value for each in ratings for value in each if value is not None}) == 1
    for column, found in (("ordinal alpha", alpha), ("weighted kappa", weighted_kappa)):
        if constant or (column == "weighted kappa" and len(ratings[0]) > 2):
            assert row[column] is None
            continue
        weights = {"weights": "quadratic"} if found is weighted_kappa else {}
        expected, shown = found(ratings, seed=0, **weights), row[column].estimate
        assert shown.value == pytest.approx(expected.value)
        if len(ratings) < 10:
            said_ = f"{len(ratings)} output{'s' * (len(ratings) > 1)}: no interval below 10"
            assert (shown.low, shown.high, shown.method) == (-inf, inf, said_)
        elif expected.low == expected.high:
            assert shown.low == -inf, "agreement on everything is no certainty"
        else:
            assert (shown.low, shown.high) == pytest.approx((expected.low, expected.high))


def check_self_preference(made: Made) -> None:
    """Ruling S7: over all valid evaluations, pooled or not; raw means over the same outputs stand beside it."""
    valid = [slot for slot, each in made.outcomes.items() if is_valid(each)]
    scores = [JudgedScore(s.judge, s.output, (s.task, s.question), sum(made.outcomes[s][1]), s.own) for s in valid]
    rows = made.rows("self-preference")
    expected = self_preference(scores)
    assert [row["judge"] for row in rows] == [", ".join(each.judges) for each in expected]
    assert [row["judges"] for row in rows] == [len(each.judges) for each in expected], "a name may hold a comma"
    for row, fitted in zip(rows, expected, strict=True):
        assert (row["own outputs"], row["own questions"]) == (fitted.outputs, fitted.questions)
        if fitted.gamma is not None:
            assert row["questions in the fit"] == fitted.gamma.clusters
        assert (row["self-preference"] and row["self-preference"].estimate) == fitted.gamma
        judged = gathered(valid, lambda s: s.output, lambda s: s.judge)
        own = [s for s in valid if s.own and s.judge in fitted.judges and len(set(judged[s.output])) > 1]
        others = [s for s in valid if s.output in {o.output for o in own} and not s.own]
        for column, side in (("own, raw mean", own), ("others, raw mean", others)):
            holds_mean(
                row[column],
                gathered(side, lambda s: (s.task, s.question), lambda s: float(sum(made.outcomes[s][1]))),
            )


CHECKS = (
    check_validity, check_flags, check_quotes, check_verdicts, check_scores, check_bounds, check_differences,
    check_agreement, check_retest, check_self_preference,
)  # fmt: skip


def check(
    outcomes: Outcomes, *, include_self: bool = False, by: tuple[str, ...] = ("task", "model", "condition")
) -> None:
    found = judging_tables(figures(outcomes, include_self=include_self), by)
    made = Made(outcomes, {table.name: table for table in found}, include_self)
    assert len(made.tables) == len(found)
    assert set(made.tables) <= set(JUDGING_TABLES)
    for one in CHECKS:
        one(made)
    for table in found:
        over_tasks = [note for note in table.notes if note.endswith("t1 (11 questions), t2 (3 questions).")]
        known = set(made.outcomes.values()) != {PENDING}
        assert len(over_tasks) == (known and "task" not in table.columns)
        assert "planned = " in table.foot, "ruling C5"
        assert (POOLED in table.question) is include_self, "ruling J8"
        for estimate in (estimate_of(value) for row in table.rows for value in row):
            assert estimate is None or estimate.low != estimate.high, "ruling S11"


@pytest.mark.slow
@few
@given(seeds, st.booleans(), st.sampled_from([("task", "model", "condition"), ("model",), ("condition", "task")]))
def test_every_table_is_what_a_slow_count_gives(seed, include_self, by):
    check(drawn(seed), include_self=include_self, by=by)


@pytest.mark.slow
@pytest.mark.parametrize("include_self", [False, True])
def test_a_judging_of_which_nothing_or_everything_has_arrived(include_self):
    check(dict.fromkeys(SLOTS, PENDING), include_self=include_self)
    check(dict.fromkeys(SLOTS, (True, (2, 2, 2, 2))), include_self=include_self)
    check({slot: (True, (1, 2, 1, 2 - (slot.repeat == 2))) for slot in SLOTS}, include_self=include_self)


# --- laws of two sets ---


def rows_of(outcomes: Outcomes, *, own: bool) -> dict[str, tuple]:
    tables = {table.name: table.rows for table in judging_tables(figures(outcomes))}
    del_ = "self-preference"
    return {name: rows for name, rows in tables.items() if name != del_ and name.endswith(OWN) is own}


@pytest.mark.slow
@fewer
@given(seeds, seeds)
def test_own_outputs_move_no_table_of_others_outputs(seed, other):
    # ruling J8
    one, two = drawn(seed), drawn(other)
    changed = {slot: (two if slot.own else one)[slot] for slot in SLOTS}
    assert rows_of(one, own=False) == rows_of(changed, own=False)


@pytest.mark.slow
@fewer
@given(seeds)
def test_what_failed_and_what_is_invalid_moves_no_score(seed):
    # rulings C1 and J8
    before = drawn(seed)
    after = {slot: FAILED if each in (FAILED, INVALID, CUT) else each for slot, each in before.items()}
    names = ("scores", "pooled scores", "scores by target", "verdicts", "score differences", "agreement",
             "self-preference", "score bounds")  # fmt: skip
    one, two = ({t.name: t.rows for t in judging_tables(figures(each))} for each in (before, after))
    for name in names:
        assert one.get(name) == two.get(name)


# --- what people read ---

SMALL = {slot: (True, (2, 2, 2, 1 + (slot.variant == "v2"))) for slot in SLOTS if slot.judge in "ab"}


TALLIES = {
    JudgeCell("a", "free", "cross_judge"): Tally(compliant=2, tokens=Counter(outputs=2, prompt_tokens=900)),
    JudgeCell("a", "free", "self_judge"): Tally(compliant=1, tokens=Counter(outputs=1, prompt_tokens=400)),
    JudgeCell("b", "free", "cross_judge"): Tally(compliant=1),
    JudgeCell("c", "free", "cross_judge"): Tally(failed=1),
}


def report(found: JudgingFigures, *, late: int = 0) -> str:
    missing = tuple(NotArrived(f"q{n}", "v1", "a", 0, "timeout") for n in range(12))
    frozen = FrozenJudging(TERMS, tuple(JUDGES), missing, TASKS, TARGETS)
    console = Console(file=io.StringIO(), width=240)
    console.print(judging_closing(frozen, found, TALLIES, late=late))
    return console.file.getvalue()


@pytest.mark.slow
def test_every_table_of_a_pooled_report_says_that_it_is_pooled():
    # ruling J8
    apart, pooled = report(figures(SMALL)), report(figures(SMALL, include_self=True))
    assert "pooled in" not in apart
    assert POOLED not in apart
    assert "112 outputs, rubric default; evaluations of others' outputs and of own ones are pooled" in pooled
    assert "cross_judge" not in pooled
    assert "self_judge" not in pooled
    assert "Of judges' own outputs" in apart
    assert "Of judges' own outputs" not in pooled


NO_SCORE = "is valid, so no target has a verdict or a score."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "pooled", "said"),
    [
        (True, False, f"No evaluation of others' outputs {NO_SCORE}"),
        (True, True, f"No evaluation {NO_SCORE}"),
        (False, False, "Judges were given only their own outputs, none of others: see the tables of own outputs."),
    ],
)
def test_why_no_target_has_a_score_is_said(others, pooled, said):
    found = figures(dict.fromkeys(SLOTS, INVALID), include_self=pooled)
    shown = report(found if others else replace(found, primary=JudgedSide([], [], [])))
    assert shown.endswith(f"\n{said}\n\n")


@pytest.mark.slow
def test_what_judging_took_is_said_by_judge():
    text = report(figures(SMALL), late=1)
    assert "tokens of the judge a: 1,300 in, as counted by the server for 3 judgements\n" in text
    assert "the judge b: its server counted no tokens\n" in text
    assert "tokens of the judge c" not in text, "nothing arrived from it"
    assert "1 output arrived after the set was frozen and is not judged" in text


@pytest.mark.slow
def test_the_terminal_shows_every_table_and_what_is_missing():
    # rulings C5 and J15
    found = figures(SMALL)
    text = report(found, late=3)
    assert "a, free, cross_judge: 168 planned = 168 valid + 0 invalid + 0 failed + 0 pending" in text
    assert "a, free, self_judge: 56 planned = 56 valid + 0 invalid + 0 failed + 0 pending" in text
    for table in judging_tables(found):
        assert table.question in text
    assert "Tests are sign flips over questions; Holm over 12 comparisons" in text
    assert "11 higher, 0 lower, 0 equal; all 11 differences are equal" in {
        word for row in difference_rows(found) for word in row.values()
    }
    assert "not judged, since it never arrived: q9, v1, a, sample 0: timeout" in text
    assert "and 2 more; judging.json lists all" in text
    assert "3 outputs arrived after the set was frozen and are not judged" in text


@pytest.mark.slow
def test_the_json_of_a_judging_has_the_rows_of_every_table():
    found = figures(drawn(5))
    as_json = json.loads(json.dumps(judging_json(found), allow_nan=False))
    assert {name: len(rows) for name, rows in as_json["tables"].items()} == {
        table.name: len(table.rows) for table in judging_tables(found)
    }
    assert [each["method"] for each in as_json["judges"]] == ["cross_judge"] * 3 + ["self_judge"] * 3


@pytest.mark.slow
def test_blind_judging_and_unknown_groups_are_said():
    # ruling J16
    for table in judging_tables(figures(SMALL, blind=True), ("model", "sample")):
        assert table.notes[-2:] == (BLIND, "Judgements are not grouped by sample.")


@pytest.mark.slow
def test_tasks_are_told_apart_or_named():
    """Means and differences were once over all tasks without a word."""
    tables = {table.name: table for table in judging_tables(figures(SMALL), ("model",))}
    for name in ("scores by target", "scores by variant", "score differences", "pooled score differences"):
        assert set(tables[name].column("task")) == set(TASKS)
    text = report(figures(SMALL))
    said_ = "Without a column for the task, a row is over all of them: t1 (11 questions), t2 (3 questions)."
    assert text.count(said_) == 1
    one = {
        table.name: table
        for table in judging_tables(scored_as({("a", q, v): (q,) for q in range(3) for v in VARIANTS}))
    }
    assert not any("task" in table.columns or "for the task" in str(table.notes) for table in one.values())


@pytest.mark.slow
def test_targets_with_other_judges_are_named():
    """Over all judges, a target that judges is scored by the others only: their severity is in the rows."""
    pooled = ("pooled scores", "scores by target", "verdicts")
    tables = {table.name: table for table in judging_tables(figures(SMALL))}
    note = (
        "Targets are scored by different judges, never by themselves: a by b; b by a; c, z by a, b. Differences "
        "between rows hold how severe these judges are."
    )
    assert [name for name, table in tables.items() if note in table.notes] == [
        name for name in tables if name in pooled
    ]
    with_own = judging_tables(figures(SMALL, include_self=True))
    assert not any("different judges:" in note for table in with_own for note in table.notes)


def test_the_judges_of_targets_are_named_by_condition_where_these_differ():
    evaluations = scored_as({("a", 0, "v1"): (4,), ("b", 0, "v1"): (4,)}).primary.evaluations
    other = [each._replace(target="y") for each in evaluations]
    schema = [each._replace(condition="schema") for each in (*evaluations, other[0])]
    side = JudgedSide([], [*evaluations, *other, *schema], [])
    found = JudgingFigures(DEFAULT, 0, side, JudgedSide([], [], []), pooled=True)
    (table,) = (table for table in judging_tables(found) if table.name == "scores by target")
    said_ = "Targets are scored by different judges: y by a; z by a, b (judging condition schema). "
    assert [note.startswith(said_) for note in table.notes] == [True]


@pytest.mark.slow
def test_own_questions_and_those_of_the_fit_are_both_told():
    """Thirteen own questions decide whether there is an interval; the fit had sixteen, and only one was told."""
    outcomes = {
        slot: (True, (1, 1, 2, (slot.repeat + len(slot.judge + slot.question)) % 3))
        for slot in SLOTS
        if slot.judge in "ab" and (slot.target == "z" or slot.task == "t1")
    }
    made = {table.name: table for table in judging_tables(figures(outcomes))}["self-preference"]
    assert set(made.column("own questions")) == {11}
    assert set(made.column("questions in the fit")) == {14}


def settled(seed: int) -> dict[Slot, Given]:
    """A judging in which nothing is pending."""
    return {slot: FAILED if each == PENDING else each for slot, each in drawn(seed).items()}


@pytest.mark.slow
@fewer
@given(seeds, st.booleans())
def test_bounds_of_a_finished_judging_cover_sampling(seed, include_self):
    # ruling S6
    outcomes = settled(seed)
    found = {table.name: table for table in judging_tables(figures(outcomes, include_self=include_self))}
    made = Made(outcomes, found, include_self)
    check_bounds(made)
    (pooled,) = made.rows("pooled score bounds")
    lowest, highest = (pooled[f"if missing {end}"].estimate for end in ("lowest", "highest"))
    assert 0 <= lowest.low < lowest.value <= highest.value < highest.high <= 8
    assert lowest.clusters == len(ASKED)


def test_bounds_of_few_questions_say_that_sampling_is_not_in_them():
    three = scored_as({("a", q, "v1"): (5,) for q in range(3)}).primary.evaluations
    kept = Judgements([each._replace(valid=each.question != "q00") for each in three])
    tallies = {JudgeCell("a", "free", "cross_judge"): Tally(compliant=2, non_compliant=1)}
    made = judging_figures(kept, DEFAULT, tallies, repeats={"a": 1}, seed=0)
    tables = {table.name: table for table in judging_tables(made)}
    (lowest,), (highest,) = (tables["score bounds"].column(f"if missing {end}") for end in ("lowest", "highest"))
    assert (lowest.estimate.value, highest.estimate.value) == (pytest.approx(10 / 3), 6)
    assert lowest.estimate.method == "3 clusters: no interval below 10; sampling is not in it"
    assert "pooled score bounds" not in tables


@pytest.mark.slow
def test_no_name_of_a_judge_is_taken_for_all_judges():
    """A judge called `all judges` once had a row like the pooled one; three judges may be paired in two ways."""
    names = {"a": "all judges", "b": "a and b", "c": "b"}
    given_ = {(names[judge], q, "v1"): (q + (judge == "a"),) for judge in "abc" for q in range(4)}
    tables = {table.name: table for table in judging_tables(scored_as(given_))}
    pairs = list(zip(tables["agreement"].column("judge"), tables["agreement"].column("other judge"), strict=True))
    assert set(pairs) == {("a and b", "all judges"), ("a and b", "b"), ("all judges", "b")}
    assert "judge" not in tables["pooled agreement"].columns
    bounds = {table.name: table for table in judging_tables(figures(drawn(2)))}
    assert "judge" not in bounds["pooled score bounds"].columns
    assert set(bounds["score bounds"].column("judge")) <= set(JUDGE_NAMES)


@pytest.mark.slow
def test_failed_judgements_of_one_output_are_a_cluster():
    """Ruling S1: repeats that fail together are fewer tosses than there are judgements."""
    both_repeats = {slot: FAILED if slot.variant == "v1" else (True, (2, 2, 2, 2)) for slot in SLOTS}
    judge = figures(both_repeats).judges[0]
    assert (judge.failed.n, judge.failed.clusters) == (judge.planned, judge.planned // 2)
    independent = wilson(judge.coverage["failed"], judge.planned)
    assert judge.failed.low < independent.low < independent.high < judge.failed.high
    assert figures({}).judges[0].failed.value == 0


@pytest.mark.slow
def test_pending_judgements_belong_to_the_cluster_of_their_output():
    """Ruling S1: there are no more clusters than outputs, however little was asked."""
    begun = {slot: FAILED for slot in SLOTS if slot.repeat == 1 and slot.variant == "v1"}
    for judge in (*figures(begun).judges, *figures({}).judges, *figures(begun, include_self=True).judges):
        assert (judge.failed.n, judge.failed.clusters) == (judge.planned, judge.planned // 2)
        assert judge.failed.value == judge.coverage["failed"] / judge.planned


def test_a_failure_that_was_made_good_is_none():
    slot = Slot("a", "b", "t1", "q0", "v1", 1)
    ledger, kept = JudgingLedger(PLAN, TARGETS), Judgements()
    output = next(each for each in OUTPUTS if each.key == slot.output)
    judgement = next(each for each in PLAN.judgements("a", [output]) if each.repeat == slot.repeat)
    given_ = Completion(said((True, (2, 2, 2, 2)), judgement.asked.meta), "stop")
    for record in (PLAN.failure(judgement, Failure(Reason.TIMEOUT)), PLAN.response(judgement, given_)):
        ledger.add(record)
        kept.add(record)
    (judge, *_) = judging_figures(kept, DEFAULT, ledger.tallies, repeats=REPEATED, seed=0).judges
    assert (judge.coverage["failed"], judge.failed.value) == (0, 0)


def test_the_columns_of_a_rubric_come_in_its_own_order():
    assert [column.name for column in score_columns(DEFAULT)] == list(COLUMNS)


@pytest.mark.slow
def test_the_difference_of_two_questions_is_a_count():
    """Two questions were once reported as -3.00 [-5.00, -1.00]."""
    few_questions = {slot: each for slot, each in SMALL.items() if slot.question in ("q0", "q1")}
    tables = {table.name: table for table in judging_tables(figures(few_questions))}
    assert set(tables["score differences"].column("paired questions")) == {2}
    assert set(tables["score differences"].column("difference")) == {None}
    assert set(tables["score differences"].column("in words")) == {
        "2 higher, 0 lower, 0 equal; fewer than 10 questions: only the counts"
    }


# --- differences of scores ---


def scored_as(
    given_: Mapping[tuple[str, int, str], tuple[int, ...]], *, places: int = 0, seed: int = 0
) -> JudgingFigures:
    """Figures of one target: by judge, question and variant the overall scores of its repeats."""
    evaluations = [
        Evaluation(judge, "free", "cross_judge", "z", variant, "t", f"q{q:02}", f"{q}-{variant}", repeat, True,
                   {name: (total + place) // 4 for place, name in enumerate(FOUR)}, "PASS", (), False, (0,) * 5)
        for (judge, q, variant), totals in given_.items()
        for repeat, total in enumerate(totals, 1)
    ]  # fmt: skip
    known = {JudgedPlace("t", f"q{q:02}", variant, "z") for q in range(places) for variant in VARIANTS}
    known |= {JudgedPlace(each.task, each.question, each.variant, each.target) for each in evaluations}
    sides = JudgedSide([], evaluations, []), JudgedSide([], [], [])
    return JudgingFigures(DEFAULT, seed, *sides, pooled=False, places=sorted(known))


def difference_rows(found: JudgingFigures, name: str = "score differences") -> list[dict]:
    (table,) = (table for table in judging_tables(found) if table.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_thirds_of_points_that_add_up_to_nothing_are_no_difference():
    """Ruling S2: they were once counted as higher by rounding."""
    three = {("a", 0, "v1"): (1, 1, 1), ("b", 0, "v1"): (1, 1, 1), ("c", 0, "v1"): (1, 1, 1)}
    three |= {("a", 0, "v2"): (1, 1, 2), ("b", 0, "v2"): (1, 1, 2), ("c", 0, "v2"): (0, 0, 1)}
    (row,) = difference_rows(scored_as(three), "pooled score differences")
    assert (row["higher"], row["lower"], row["equal"]) == (0, 0, 1)


def test_questions_without_a_pair_are_counted_by_what_they_lack():
    """Both variants judged, by different judges, was once called one variant only; neither was not counted."""
    given_ = {
        ("a", 0, "v1"): (3,),
        ("a", 0, "v2"): (4,),
        ("a", 1, "v1"): (3,),
        ("b", 1, "v2"): (3,),
        ("b", 2, "v1"): (1,),
    }
    found = scored_as(given_, places=5)
    (pooled,) = difference_rows(found, "pooled score differences")
    assert pooled["questions"] == 5
    columns = ("paired questions", "by different judges only", "one variant only", "not judged")
    assert [pooled[name] for name in columns] == [1, 1, 1, 2]
    by_judge = difference_rows(found)
    assert [row["judge"] for row in by_judge] == ["a", "b"]
    assert [[row[name] for name in columns if name in row] for row in by_judge] == [[1, 1, 3], [0, 2, 3]]
    assert by_judge[1]["in words"] == "no question has scores of both variants by this judge"


@pytest.mark.slow
def test_a_difference_of_scores_is_said_like_any_other():
    """Rulings S2 and S3: two judges are one family, each with the interval of its verdict."""
    clear = {("a", q, v): (2 + 2 * (v == "v2") + (q % 3 == 0) * (v == "v2"),) for q in range(12) for v in VARIANTS}
    noise = {
        ("b", q, v): (3 + (q % 2) * (v == "v2") - (q % 2 == 0) * (v == "v2"),) for q in range(12) for v in VARIANTS
    }
    found = scored_as({**clear, **noise})
    first, second = difference_rows(found)
    assert (first["in words"], first["level"].value) == ("higher", 0.025)
    assert first["p"].value == 2 / 2**12
    assert first["difference"].estimate.method == "t over questions 97.5%"
    assert second["level"].value == 0.05
    assert re.fullmatch(
        r"not distinguishable at this n; a true difference of \d\.\d\d points would be found in 80 % of such studies",
        second["in words"],
    )
    notes = {table.name: table.notes for table in judging_tables(found)}["score differences"]
    assert any("Holm over 2 comparisons" in note for note in notes)


@pytest.mark.slow
def test_signs_are_drawn_with_the_seed_of_the_study():
    # ruling S11
    many = {("a", q, v): (4 + (v == "v2") * ((q * 7) % 5 - 1),) for q in range(40) for v in VARIANTS}
    values = [difference_rows(scored_as(many, seed=seed))[0]["p"].value for seed in (1, 1, 2, 3)]
    assert values[0] == values[1]
    assert len(set(values)) > 1


# --- means over clusters ---


@pytest.mark.parametrize(
    ("values", "value", "low", "high"),
    [
        ([("a", 1.0), ("b", 5.0)], 3.0, 1.0, 5.0),
        ([("a", 1.0), ("a", 3.0), ("b", 5.0)], 3.0, 2.0, 5.0),
        ([("a", 0.0), ("b", 3.0), ("c", 6.0)], 3.0, 0.0, 6.0),
        ([("a", 0.0), ("b", 4.0), ("c", 8.0), ("d", 12.0)], 6.0, 2.0, 10.0),
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


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 4)
@given(st.lists(st.tuples(st.integers(0, 6), floats), min_size=1, max_size=30), st.integers(0, 99))
def test_a_mean_over_clusters_is_seeded_and_lies_among_its_clusters(values, seed):
    found = cluster_mean(values, seed=seed)
    assert found == cluster_mean(iter(values), seed=seed)
    assert isclose(found.value, sum(v for _, v in values) / len(values), rel_tol=1e-9, abs_tol=1e-6)
    clusters = means(values)
    if isfinite(found.low):
        assert min(clusters) - 1e-6 <= found.low < found.high <= max(clusters) + 1e-6
    else:
        assert len(clusters) == 1 or max(clusters) - min(clusters) < 1e-6 or "equal" in found.method


def means(values: Iterable[tuple[int, float]]) -> list[float]:
    gathered: dict[int, list[float]] = {}
    for cluster, value in values:
        gathered.setdefault(cluster, []).append(value)
    return [sum(many) / len(many) for many in gathered.values()]


def test_another_seed_may_draw_another_interval():
    values = [(n, float(n * n % 17)) for n in range(12)]
    drawn = {(found.low, found.high) for found in (cluster_mean(values, seed=seed) for seed in range(5))}
    assert len(drawn) > 1
