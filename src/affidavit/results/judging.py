"""What a judging came to: coverage, flags, quotes, scores, verdicts, differences, and what judges give themselves.

The primary tables hold evaluations of other models' outputs only (ruling J8); a judge's own have tables of their
own, unless both are pooled, which every title then says. Invalid evaluations are counted and never averaged:
*invalid* does not mean *low quality*. Beside the mean over the valid ones stands the mean with the clause
`evidence_not_located` set aside (ruling J6), and the bounds between which it would lie if all that is missing were
lowest or highest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, isfinite
from typing import Any, NamedTuple

from affidavit.archive.record import Kind
from affidavit.contracts.finding import ADVISORY, Code
from affidavit.contracts.judge import EvidenceKind, JudgingMethod
from affidavit.contracts.rubric import Rubric
from affidavit.json_values import Fields
from affidavit.judging.plan import JudgeCell
from affidavit.reading.tally import Tally
from affidavit.results.table import Mean, Table, Value
from affidavit.statistics.estimates import Estimate, cluster_mean, wilson

POOLED = "cross + self"
_FOUND = (EvidenceKind.EXACT, EvidenceKind.NORMALISED, EvidenceKind.ELIDED)


class Scored(NamedTuple):
    """One evaluation whose scores can be read, valid or valid but for its quotes."""

    judge: str
    condition: str
    method: str
    target: str
    variant: str
    question: str
    output: str
    verdict: str
    scores: Mapping[str, float]
    """Under the dimensions that they are mapped to (ruling J11)."""
    overall: int
    valid: bool
    """False: only its quotes were nowhere to be found."""


@dataclass
class Judgements:
    """Everything that the tables are made of, gathered record by record."""

    rubric: Rubric
    scored: list[Scored] = field(default_factory=list)

    def add(self, record: Mapping[str, Any]) -> None:
        """One record; only evaluations with scores are kept."""
        if record["kind"] != Kind.JUDGEMENT or record["scores"] is None or record["verdict"] is None:
            return
        codes = {each["code"] for each in record["findings"]} - set(ADVISORY)
        if codes - {Code.EVIDENCE_NOT_LOCATED}:
            return
        asked, scores = record["asked"], record["scores"]
        self.scored.append(
            Scored(
                record["judge"],
                record["judging_condition"],
                asked["method"],
                asked["target_model"],
                asked["prompt_variant"],
                asked["question_id"],
                record["judged_key"],
                record["verdict"],
                self.rubric.mapped(scores),
                sum(scores.values()),
                not codes,
            )
        )


def judge_tables(
    judgements: Judgements, tallies: Mapping[JudgeCell, Tally], *, include_self: bool = False, seed: int = 0
) -> Fields:
    """All tables as JSON values, by judge and condition, primary ones first."""
    groups = _groups(tallies, include_self=include_self)
    return {
        "pooled": include_self,
        "judges": [_judge_table(judgements, cells, method, tallies, seed) for method, cells in groups],
        "self_preference": list(_self_preference(judgements.scored, seed)),
    }


def _groups(tallies: Mapping[JudgeCell, Tally], *, include_self: bool) -> list[tuple[str, list[JudgeCell]]]:
    """The cells that are counted together, and what they are called."""
    if include_self:
        together: dict[tuple[str, str], list[JudgeCell]] = defaultdict(list)
        for cell in sorted(tallies):
            together[cell.judge, cell.judging_condition].append(cell)
        return [(POOLED, cells) for cells in together.values()]
    order = {JudgingMethod.CROSS: 0, JudgingMethod.SELF: 1}
    return [(cell.method, [cell]) for cell in sorted(tallies, key=lambda c: (order[JudgingMethod(c.method)], c))]


def _judge_table(
    judgements: Judgements, cells: Sequence[JudgeCell], method: str, tallies: Mapping[JudgeCell, Tally], seed: int
) -> Fields:
    tally = Tally.total(tallies[cell] for cell in cells)
    judge, condition = cells[0].judge, cells[0].judging_condition
    wanted = set(cells)
    scored = [each for each in judgements.scored if JudgeCell(each.judge, each.condition, each.method) in wanted]
    valid = [each for each in scored if each.valid]
    return {
        "judge": judge,
        "judging_condition": condition,
        "method": method,
        "coverage": _coverage(tally),
        "valid": _share(tally.compliant, tally.arrived),
        "valid_quotes_aside": _share(tally.compliant + tally.valid_but_for_evidence, tally.arrived),
        "flags": {flag: _share(count, tally.arrived) for flag, count in sorted(_block(tally, "flags").items())},
        "findings": dict(sorted(_block(tally, "findings").items())),
        "quotes": _quotes(_block(tally, "evidence")),
        "declared_by_judge": dict(sorted(_block(tally, "declared").items())),
        "scores": [*_score_rows(scored, seed)],
        "overall_bounds": _bounds(valid, tally, judgements.rubric),
        "verdicts": _verdicts(valid),
        "variant_differences": [*_variant_differences(valid, seed)],
    }


def _coverage(tally: Tally) -> Fields:
    """The identity of ruling C5; every planned judgement is there exactly once or named as missing (ruling J9)."""
    return {
        "planned": tally.n,
        "valid": tally.compliant,
        "invalid": tally.non_compliant,
        "failed": tally.failed,
        "pending": tally.pending,
    }


def _block(tally: Tally, name: str) -> Counter[str]:
    return tally.breakdowns.get(name, Counter())


def _quotes(kinds: Counter[str]) -> Fields:
    """What became of the quotes; a fabricated one is nowhere in the judged text (ruling J6)."""
    found, absent = sum(kinds[kind] for kind in _FOUND), kinds[EvidenceKind.ABSENT]
    return {
        **{kind.value: kinds[kind] for kind in EvidenceKind if kind is not EvidenceKind.UNCHECKED},
        "fabricated": _share(absent, found + absent),
    }


def _score_rows(scored: Sequence[Scored], seed: int) -> Iterator[Fields]:
    """Means by target, variant and dimension, over valid evaluations, and with the quotes set aside."""
    groups: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for each in scored:
        groups[each.target, each.variant].append(each)
    for (target, variant), many in sorted(groups.items()):
        for name in (*many[0].scores, "overall_score"):
            yield {
                "target_model": target,
                "prompt_variant": variant,
                "dimension": name,
                "mean": _mean([each for each in many if each.valid], name, seed),
                "mean_quotes_aside": _mean(many, name, seed),
            }


def _mean(many: Sequence[Scored], name: str, seed: int) -> Fields | None:
    if not many:
        return None
    values = [(each.question, each.overall if name == "overall_score" else each.scores[name]) for each in many]
    return _told(cluster_mean(values, seed=seed))


def _bounds(valid: Sequence[Scored], tally: Tally, rubric: Rubric) -> Fields | None:
    """The mean overall score if every missing evaluation gave the lowest total, and if every one the highest."""
    if not tally.n:
        return None
    missing, total = tally.n - len(valid), sum(each.overall for each in valid)
    lowest = len(rubric.ids) * rubric.scores[0]
    return {
        "lowest": (total + missing * lowest) / tally.n,
        "highest": (total + missing * rubric.highest_total) / tally.n,
        "missing": missing,
        "n": tally.n,
    }


def _verdicts(valid: Sequence[Scored]) -> list[Fields]:
    groups: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for each in valid:
        groups[each.target, each.variant][each.verdict] += 1
    return [
        {
            "target_model": target,
            "prompt_variant": variant,
            **{verdict: _share(count, counts.total()) for verdict, count in sorted(counts.items())},
        }
        for (target, variant), counts in sorted(groups.items())
    ]


def _variant_differences(valid: Sequence[Scored], seed: int) -> Iterator[Fields]:
    """Overall scores of two variants of the same questions, of one target: the mean difference, paired."""
    means: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (target, variant, question), overall in _means(valid).items():
        means[target][variant][question] = overall
    for target, variants in sorted(means.items()):
        for first, second in combinations(sorted(variants), 2):
            both = sorted(variants[first].keys() & variants[second].keys())
            if both:
                pairs = [(question, variants[second][question] - variants[first][question]) for question in both]
                difference = _told(cluster_mean(pairs, seed=seed))
                yield {"target_model": target, "from": first, "to": second, "difference": difference}


def _means(valid: Sequence[Scored]) -> dict[tuple[str, str, str], float]:
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for each in valid:
        sums[each.target, each.variant, each.question].append(each.overall)
    return {key: sum(many) / len(many) for key, many in sums.items()}


def _self_preference(scored: Iterable[Scored], seed: int) -> Iterator[Fields]:
    """What a model gives its own outputs above what other judges give the same outputs (ruling J8)."""
    own: dict[tuple[str, str], dict[str, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    others: dict[tuple[str, str], list[int]] = defaultdict(list)
    for each in scored:
        if each.valid and each.method == JudgingMethod.SELF:
            own[each.judge, each.condition][each.output].append(each)
        elif each.valid:
            others[each.condition, each.output].append(each.overall)
    for (judge, condition), outputs in sorted(own.items()):
        gaps = [
            (many[0].question, sum(each.overall for each in many) / len(many) - sum(given) / len(given))
            for output, many in sorted(outputs.items())
            if (given := others.get((condition, output)))
        ]
        gap = _told(cluster_mean(gaps, seed=seed)) if gaps else None
        yield {"judge": judge, "judging_condition": condition, "gap": gap, "outputs": len(gaps)}


def _share(successes: int, n: int) -> Fields | None:
    return _told(wilson(successes, n)) if n else None


def _told(estimate: Estimate) -> Fields:
    return {
        "value": estimate.value,
        "low": estimate.low if isfinite(estimate.low) else None,
        "high": estimate.high if isfinite(estimate.high) else None,
        "n": estimate.n,
        "method": estimate.method,
    }


# --- the same as tables of a report ---


def judging_tables(tables: Mapping[str, Any]) -> list[Table]:
    """The tables of a judging in the form of all others."""
    judges: Sequence[Mapping[str, Any]] = tables["judges"]
    foot = "; ".join(_identity(each) for each in judges)
    names = ("judge", "judging condition", "method")
    by = [(each, (each["judge"], each["judging_condition"], each["method"])) for each in judges]
    return [
        _validity_table(names, by, foot),
        _flag_table(names, by, foot),
        _quote_table(names, by, foot),
        _score_table(names, by, foot),
        _difference_table(names, by, tables["self_preference"], foot),
    ]


_By = list[tuple[Mapping[str, Any], tuple[str, str, str]]]


def _identity(judge: Mapping[str, Any]) -> str:
    counts = judge["coverage"]
    parts = " + ".join(f"{counts[name]:,} {name}" for name in ("valid", "invalid", "failed", "pending"))
    who = f"{judge['judge']}, {judge['judging_condition']}, {judge['method']}"
    return f"{who}: {counts['planned']:,} planned = {parts}"


def _estimate(fields: Mapping[str, Any] | None) -> Estimate | None:
    if fields is None:
        return None
    low, high = (end if fields[name] is None else fields[name] for name, end in (("low", -inf), ("high", inf)))
    return Estimate(fields["value"], low, high, fields["n"], fields["method"])


def _validity_table(names: tuple[str, ...], by: _By, foot: str) -> Table:
    rows = tuple(
        (
            *who,
            *(each["coverage"][name] for name in ("planned", "valid", "invalid", "failed", "pending")),
            _estimate(each["valid"]),
            _estimate(each["valid_quotes_aside"]),
        )
        for each, who in by
    )
    columns = ("planned", "valid", "invalid", "failed", "pending", "share valid", "valid, quotes aside")
    return Table("judges", "Which evaluations are valid?", (*names, *columns), rows, foot)


def _flag_table(names: tuple[str, ...], by: _By, foot: str) -> Table:
    rows = tuple((*who, flag, _estimate(share)) for each, who in by for flag, share in each["flags"].items())
    return Table("flags", "Why are evaluations invalid?", (*names, "flag", "share of evaluations"), rows, foot)


def _quote_table(names: tuple[str, ...], by: _By, foot: str) -> Table:
    kinds = tuple(kind.value for kind in EvidenceKind if kind is not EvidenceKind.UNCHECKED)
    rows = tuple(
        (*who, *(each["quotes"][kind] for kind in kinds), _estimate(each["quotes"]["fabricated"]))
        for each, who in by
    )
    return Table("quotes", "Are the judges' quotes really there?", (*names, *kinds, "fabricated"), rows, foot)


def _score_table(names: tuple[str, ...], by: _By, foot: str) -> Table:
    rows = tuple(
        (
            *who,
            row["target_model"],
            row["prompt_variant"],
            row["dimension"],
            Mean.of(_estimate(row["mean"])),
            Mean.of(_estimate(row["mean_quotes_aside"])),
        )
        for each, who in by
        for row in each["scores"]
    )
    columns = ("target", "variant", "dimension", "mean", "mean, quotes aside")
    return Table("scores", "What do the judges give?", (*names, *columns), rows, foot)


def _difference_table(names: tuple[str, ...], by: _By, gaps: Sequence[Mapping[str, Any]], foot: str) -> Table:
    rows: list[tuple[Value, ...]] = [
        (*who, f"{row['from']} → {row['to']} of {row['target_model']}", Mean.of(_estimate(row["difference"])))
        for each, who in by
        for row in each["variant_differences"]
    ]
    rows += [
        (
            row["judge"],
            row["judging_condition"],
            JudgingMethod.SELF.value,
            "own outputs, above what others give the same",
            Mean.of(_estimate(row["gap"])),
        )
        for row in gaps
    ]
    question = "What moves the overall score: the variant, or whose output it is?"
    return Table("score differences", question, (*names, "difference", "overall score"), tuple(rows), foot)
