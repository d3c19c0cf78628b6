"""The figures of a judging as tables, and as JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from affidavit.contracts.evaluation import EvidenceKind, JudgingMethod
from affidavit.json_values import Fields
from affidavit.results.judging import POOLED, JudgeFigures, JudgingFigures
from affidavit.results.table import Table
from affidavit.results.values import Mean, Value
from affidavit.statistics.estimate import Estimate

BLIND = "blind judging: judges were given aliases in place of the targets' names"
NAMES = ("judge", "judging condition", "method")


def judging_tables(figures: JudgingFigures) -> list[Table]:
    """A table for each question that a reader has about the judges."""
    foot = "; ".join([*([BLIND] if figures.blind else []), *(judge.identity for judge in figures.judges)])
    return [
        _validity_table(figures.judges, foot),
        _flag_table(figures.judges, foot),
        _quote_table(figures.judges, foot),
        _score_table(figures.judges, foot),
        _difference_table(figures, foot),
    ]


def _validity_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    rows = tuple(
        (
            *judge.names,
            judge.planned,
            *(judge.coverage[name] for name in ("valid", "invalid", "failed", "pending")),
            judge.valid,
            judge.valid_quotes_aside,
        )
        for judge in judges
    )
    columns = ("planned", "valid", "invalid", "failed", "pending", "share valid", "valid, quotes aside")
    return Table("judges", "Which evaluations are valid?", (*NAMES, *columns), rows, foot)


def _flag_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    rows = tuple((*judge.names, flag, share) for judge in judges for flag, share in judge.flags.items())
    return Table("flags", "Why are evaluations invalid?", (*NAMES, "flag", "share of evaluations"), rows, foot)


def _quote_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    kinds = tuple(kind.value for kind in EvidenceKind if kind is not EvidenceKind.UNCHECKED)
    rows = tuple((*judge.names, *(judge.quotes[kind] for kind in kinds), judge.fabricated) for judge in judges)
    return Table(
        "quotes", "Are the judges' quotes in the judged text?", (*NAMES, *kinds, "fabricated"), rows, foot
    )


def _score_table(judges: Sequence[JudgeFigures], foot: str) -> Table:
    rows = tuple(
        (
            *judge.names,
            score.target,
            score.variant,
            score.dimension,
            Mean.of(score.mean),
            Mean.of(score.mean_quotes_aside),
        )
        for judge in judges
        for score in judge.scores
    )
    columns = ("target", "variant", "dimension", "mean", "mean, quotes aside")
    return Table("scores", "Which scores do the judges give?", (*NAMES, *columns), rows, foot)


def _difference_table(figures: JudgingFigures, foot: str) -> Table:
    rows: list[tuple[Value, ...]] = [
        (*judge.names, f"{each.first} → {each.second} of {each.target}", Mean.of(each.difference))
        for judge in figures.judges
        for each in judge.variant_differences
    ]
    rows += [
        (
            each.judge,
            each.judging_condition,
            POOLED if figures.pooled else JudgingMethod.SELF.value,
            "own outputs, compared with other judges of the same outputs",
            Mean.of(each.gap),
        )
        for each in figures.self_preference
    ]
    question = "Does the overall score depend on the prompt variant, or on whose output it is?"
    return Table("score differences", question, (*NAMES, "difference", "overall score"), tuple(rows), foot)


# --- as JSON ---


def judging_json(figures: JudgingFigures) -> Fields:
    """All figures as JSON values, by judge and condition."""
    return {
        "pooled": figures.pooled,
        "blind": figures.blind,
        "judges": [_judge_json(judge) for judge in figures.judges],
        "self_preference": [
            {
                "judge": each.judge,
                "judging_condition": each.judging_condition,
                "gap": _json(each.gap),
                "outputs": each.outputs,
            }
            for each in figures.self_preference
        ],
    }


def _judge_json(judge: JudgeFigures) -> Fields:
    return {
        "judge": judge.judge,
        "judging_condition": judge.judging_condition,
        "method": judge.method,
        "coverage": {"planned": judge.planned, **judge.coverage},
        "valid": _json(judge.valid),
        "valid_quotes_aside": _json(judge.valid_quotes_aside),
        "flags": _json_values(judge.flags),
        "findings": dict(judge.findings),
        "quotes": {**judge.quotes, "fabricated": _json(judge.fabricated)},
        "declared_by_judge": dict(judge.declared_by_judge),
        "scores": [
            {
                "target_model": score.target,
                "prompt_variant": score.variant,
                "dimension": score.dimension,
                "mean": _json(score.mean),
                "mean_quotes_aside": _json(score.mean_quotes_aside),
            }
            for score in judge.scores
        ],
        "overall_bounds": None if judge.overall_bounds is None else asdict(judge.overall_bounds),
        "verdicts": [
            {"target_model": each.target, "prompt_variant": each.variant, **_json_values(each.shares)}
            for each in judge.verdicts
        ],
        "variant_differences": [
            {
                "target_model": each.target,
                "from": each.first,
                "to": each.second,
                "difference": _json(each.difference),
            }
            for each in judge.variant_differences
        ],
    }


def _json(estimate: Estimate | None) -> Fields | None:
    return None if estimate is None else estimate.fields()


def _json_values(shares: Mapping[str, Estimate]) -> Fields:
    return {name: share.fields() for name, share in shares.items()}
