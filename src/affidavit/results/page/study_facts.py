"""What is known of a study, gathered for the first lines of its page."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from affidavit.archive.layout import RUN_LOG
from affidavit.archive.run_events import RunTimes, run_times
from affidavit.archive.study_directory import ImportedStudy
from affidavit.plain_text import counted_noun
from affidavit.reading.summary import rows_and_outputs
from affidavit.results.page.costs import TokenSums, cost_in_words
from affidavit.results.page.overview import Asked
from affidavit.results.study_order import order_of
from affidavit.results.study_results import StudyResults


def asked_of(results: StudyResults) -> Asked:
    """Who was asked what, when, and with which settings."""
    order, planned, config = order_of(results), results.records.planned, results.config
    tokens, imported = _tokens(results), isinstance(results.frozen, ImportedStudy)
    names = {column: order.sorted(column, planned[column]) for column in ("task", "model", "condition")}
    sizes, times = _sizes(results), _times(results)
    judging = results.judging
    return Asked(
        models=[(name, config["models"].get(name, {})) for name in names["model"]],
        tasks=[(name, str(results.read_by.get(name, "")), sizes.get(name, 0)) for name in names["task"]],
        conditions=names["condition"],
        controls=frozenset(results.controls.values()),
        variants=_are_variants(results, names["condition"]),
        samples=results.samples,
        decoding=config.get("decoding", {}),
        seed=None if imported else results.frozen.seed,
        counts=_counts(results),
        times=times,
        tokens=_sum(tokens, judged=False),
        judge_tokens=_sum(tokens, judged=True),
        cost=cost_in_words([(who, sums) for (_, who), sums in tokens.items()], _prices(times)),
        judges=() if judging is None else [each.name for each in judging.judges],
        judged="" if judging is None else _judged(judging.terms.rubric.name, len(judging.terms.outputs)),
        files=[file.name for file in results.frozen.files] if isinstance(results.frozen, ImportedStudy) else None,
    )


def _judged(rubric: str, outputs: int) -> str:
    return f"{counted_noun(outputs, 'output')}, rubric {rubric}"


def _sizes(results: StudyResults) -> Mapping[str, int]:
    """By task its items; of outputs from elsewhere, its rows."""
    if results.study is not None:
        return results.counts
    planned = results.records.planned.group_by("task").agg(pl.col("planned").sum())
    return dict(planned.select("task", "planned").iter_rows())


def _are_variants(results: StudyResults, conditions: list[str]) -> bool:
    tasks = {} if results.study is None else results.study.tasks
    variants = {name for task in tasks.values() for name in task.variants}
    return bool(variants) and set(conditions) <= variants


def _counts(results: StudyResults) -> str:
    """How many questions were planned, and what became of them."""
    planned = int(results.records.planned["planned"].sum())
    frame = results.records.coded.frame
    failed = int(frame["failure"].count())
    if results.study is None:
        return f"{rows_and_outputs(planned, frame['failure'].null_count())} made elsewhere"
    asked = frame.height if results.records.pending is None else int((~frame["is pending"]).sum())
    missing = {"failed": failed, "pending": planned - asked}
    rest = "".join(f", {count:,} {what}" for what, count in missing.items() if count)
    return f"{asked - failed:,} of {counted_noun(planned, 'question')}{rest}"


def _times(results: StudyResults) -> RunTimes:
    """When it was run; of a sealed study, by what was sealed of its log."""
    if results.study is None and results.judging is None:
        return RunTimes()
    sealed = results.seal.files.get(RUN_LOG) if results.sealed and results.seal is not None else None
    if results.sealed and sealed is None:
        return RunTimes()
    return run_times(results.directory.path, None if sealed is None else sealed.bytes)


def _tokens(results: StudyResults) -> dict[tuple[bool, str], TokenSums]:
    """Tokens as servers counted them, by whether they are of judgements, and by who answered."""
    counted = pl.any_horizontal(pl.col("prompt_tokens", "completion_tokens").is_not_null())
    arrived = pl.col("failure").is_null()
    sums: list[dict[str, Any]] = (
        results.records.records.group_by(
            judged=pl.col("judge").is_not_null(), who=pl.coalesce("judge", "model").cast(pl.String)
        )
        .agg(
            prompt=pl.col("prompt_tokens").sum(),
            completion=pl.col("completion_tokens").sum(),
            counted=counted.sum().cast(pl.Int64),
            arrived=arrived.sum().cast(pl.Int64),
        )
        .collect(engine="streaming")
        .sort("judged", "who")
        .rows(named=True)
    )
    return {(bool(row.pop("judged")), str(row.pop("who"))): TokenSums(**row) for row in sums}


def _sum(tokens: Mapping[tuple[bool, str], TokenSums], *, judged: bool) -> TokenSums:
    return sum((sums for (of_judge, _), sums in tokens.items() if of_judge is judged), TokenSums())


def _prices(times: RunTimes) -> dict[str, Mapping[str, Any]]:
    """By model, as the last run that asked it knew."""
    found = {name: known.get("price") for name, known in times.models.items()}
    return {name: price for name, price in found.items() if isinstance(price, dict)}
