"""What is tested for the page: every condition against its control, and every two models of a task."""

from dataclasses import replace

import polars as pl

from affidavit.results.comparison import Side, as_one_family, pair_sides
from affidavit.results.counting import ITEM
from affidavit.results.groups import CELL
from affidavit.results.model_ranking import MOST_RANKED, models_compared
from affidavit.results.page.headline import NOT_RANKED_LARGE, NOT_RANKED_MANY, Compared
from affidavit.results.study_order import order_of
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table

MOST_COMPARED, LARGE = 4, 200_000
"""Conditions that are compared with their control from so many questions on; beyond it models are not tested."""


def compared(results: StudyResults) -> Compared:
    """All differences that the page speaks of."""
    controls = against_controls(results)
    if is_large(results):
        return Compared(None, controls, NOT_RANKED_LARGE)
    models, conditions = _ranked_models(results)
    many = any(len(names) > MOST_RANKED for names in models.values())
    return Compared(
        models_compared(results.records, conditions, models), controls, NOT_RANKED_MANY if many else ""
    )


def is_large(results: StudyResults) -> bool:
    """Whether a page cannot wait for every comparison."""
    return int(results.records.planned["planned"].sum()) >= LARGE


def _ranked_models(results: StudyResults) -> tuple[dict[str, list[str]], dict[str, str]]:
    """By task its models, and the condition under which they are compared: a control, or else its first."""
    order, planned = order_of(results), results.records.planned
    models: dict[str, list[str]] = {}
    conditions: dict[str, str] = {}
    for task in planned["task"].unique(maintain_order=True):
        own = planned.filter(pl.col("task") == task)
        conditions[task] = order.sorted("condition", own["condition"])[0]
        under = own.filter(pl.col("condition") == conditions[task])
        models[task] = order.sorted("model", under["model"])
    return models, conditions


_COMPARED = ["kind", "judge", *CELL, "item_id", "protocol_compliant", "correct", "keyed"]
_NAMES = pl.col("task", "model", "item_id").cast(pl.Categorical)
"""What is grouped and joined by, as numbers."""


def compared_conditions(results: StudyResults) -> dict[str, str]:
    """Conditions with their controls, as many as a page can wait for: of a large study, a few."""
    controls = results.controls
    ordered = order_of(results).sorted("condition", controls)
    return {name: controls[name] for name in ordered[: MOST_COMPARED if is_large(results) else None]}


def against_controls(results: StudyResults) -> dict[str, Table]:
    """Each condition against its control, in the cells that both have; all of them are one family (ruling S3)."""
    if not results.controls:
        return {}
    # Each side is gone through several times: once from the disk is enough.
    pairs = compared_conditions(results)
    named = pl.col("condition").is_in([*pairs, *pairs.values()])
    records = results.records
    own = [] if records.cluster == ITEM else [records.cluster]
    answer = pl.when(pl.col("task").is_in(records.tasks_by_validation)).then(pl.col("answer"))
    columns = [*map(pl.col, (*_COMPARED, *own)), answer.is_not_null().replace(old=False, new=None).alias("answer")]
    chosen = records.outputs().filter(named).select(columns).with_columns(_NAMES)
    parts = chosen.collect(engine="streaming").partition_by("condition", as_dict=True)
    found = {}
    for condition, control in pairs.items():
        if not {(condition,), (control,)} <= parts.keys():
            continue  # nothing has arrived under one of them
        sides = [
            Side(name, parts[name,].lazy(), {}, records.seed, by_validation=records.tasks_by_validation)
            for name in (control, condition)
        ]
        paired = pair_sides(*sides, shared=("task", "model"), cluster=records.cluster)
        if paired.rows:  # else they have no item in common, or nothing has arrived: there is nothing to compare
            found[f"{condition} − {control}"] = paired
    tables = dict(zip(found, as_one_family(list(found.values()), seed=results.records.seed), strict=True))
    # On the page all comparisons stand in one table, without the headings of each.
    alone = {name: (paired.without_partner,) if paired.without_partner else () for name, paired in found.items()}
    return {name: replace(table, notes=(*table.notes, *alone[name])) for name, table in tables.items()}
