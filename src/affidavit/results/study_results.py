"""The results of a study's directory: its records as columns, what was planned, and all tables over them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from affidavit.archive.journal import check_seal, journal, read_seal, segments
from affidavit.archive.parquet_copy import records_frame
from affidavit.archive.record_columns import without_surrogates
from affidavit.contracts.contract import label
from affidavit.contracts.text import text as text_contract
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging
from affidavit.judging.outputs import IMPORTED
from affidavit.judging.plan import JudgingPlan
from affidavit.results.counting import CELL, Sheet, all_tables
from affidavit.results.judging import Judgements, judge_tables, judging_tables
from affidavit.results.table import Table
from affidavit.results.text_forms import NOT_FROZEN, Report
from affidavit.running.ledger import JudgeStanding, is_judgement
from affidavit.study.freezing import frozen_items, read_frozen
from affidavit.study.study_file import LeftOut, cells, thawed

METADATA = "metadata."
Watch = Callable[[Mapping[str, Any]], None]


class Results:
    """A study, ready for tables."""

    def __init__(self, directory: Path, by: Sequence[str] = CELL) -> None:
        frozen = read_frozen(directory)
        if frozen is None:
            raise InputError(str(directory), expected="a study directory", found="no study.json in it")
        self.directory = directory
        self.config: Mapping[str, Any] = frozen["config"]  # type: ignore[assignment]
        self.counts: Mapping[str, int] = frozen.get("counts", {})  # type: ignore[assignment]
        """How many items each task has."""
        self.study = None if IMPORTED in self.config else thawed(self.config)
        self.seal = read_seal(directory)
        if self.seal is not None:
            check_seal(directory, self.seal)
        self.frozen = self.seal is not None and len(self.seal.segments) == len(segments(directory))
        self.sheet = self._sheet(tuple(by))

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self.config["name"])

    @property
    def samples(self) -> int:
        """Answers to each question."""
        return 1 if self.study is None else self.study.decoding.samples

    @property
    def controls(self) -> dict[str, str]:
        """Conditions with the one that flips are told against."""
        if self.study is None:
            return {}
        return {name: table.control for name, table in self.study.conditions.items() if table.control}

    # --- the sheet ---

    def _sheet(self, by: tuple[str, ...]) -> Sheet:
        known = (*CELL, "contract", "sample")
        metadata = [name for name in by if name.startswith(METADATA)]
        expected = f"{', '.join(known)} or {METADATA}NAME"
        for name in by:
            if name not in known and name not in metadata:
                raise UsageError("--by", expected=expected, found=repr(name))
        if not by or len(set(by)) < len(by):
            raise UsageError("--by", expected=f"{expected}, each once", found=repr(",".join(by)))
        if metadata and self.study is None:
            raise UsageError("--by", expected="items", found="outputs from elsewhere, which have no metadata")
        records = records_frame(self.directory)
        planned = self._planned_cells()
        if metadata:
            items = self._items(metadata)
            records = records.join(items.lazy(), on=["task", "item_id"], how="left")
            sizes = items.group_by(["task", *metadata]).agg(items=pl.len())
            planned = planned.join(sizes, on="task", how="left").with_columns(
                planned=pl.col("planned") // pl.col("count") * pl.col("items")
            )
        if "sample" in by:
            numbers = pl.DataFrame({"sample": list(range(self.samples))}, schema={"sample": pl.Int64})
            planned = planned.join(numbers, how="cross").with_columns(planned=pl.col("planned") // self.samples)
        if "contract" in by:
            # A failure is of the task's contract too, although nothing arrived that it could read.
            contract = pl.col("task").replace_strict(self._contracts(), default=None, return_dtype=pl.String)
            records, planned = records.with_columns(contract=contract), planned.with_columns(contract=contract)
        return Sheet(records, planned, by, int(self.config["seed"]))

    def _contracts(self) -> dict[str, str]:
        if self.study is None:
            return {IMPORTED: label(text_contract)}
        return {task: str(each["contract"]) for task, each in self.config["contracts"].items()}

    def _planned_cells(self) -> pl.DataFrame:
        schema = {
            "task": pl.String,
            "model": pl.String,
            "condition": pl.String,
            "count": pl.Int64,
            "planned": pl.Int64,
        }
        if self.study is None:
            rows = [(*names, count, count) for *names, count in self.config["imported"]["cells"]]
        else:
            asked = [cell for cell in cells(self.study) if not isinstance(cell, LeftOut)]
            rows = [(*cell, self.counts[cell.task], self.counts[cell.task] * self.samples) for cell in asked]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def _items(self, metadata: Sequence[str]) -> pl.DataFrame:
        found: list[tuple[object, ...]] = []
        for task, item in frozen_items(self.directory):
            more = item.fields.get("metadata")
            values = more if isinstance(more, dict) else {}
            chosen = (_text(values.get(name.removeprefix(METADATA))) for name in metadata)
            found.append((task, without_surrogates(item.id), *chosen))
        for place, name in enumerate(metadata, 2):
            if not any(row[place] for row in found):
                raise UsageError("--by", expected="a field in the metadata of some item", found=repr(name))
        return pl.DataFrame(found, schema=dict.fromkeys(("task", "item_id", *metadata), pl.String), orient="row")

    # --- the report ---

    def report(self, *, lenses: bool = True, include_self: bool = False, watch: Watch | None = None) -> Report:
        """Every table that has something to say; over a study that is not sealed, the title says so.

        `watch` sees every record of a judging on the way: reading them takes longer than all tables.
        """
        tables = list(all_tables(self.sheet, samples=self.samples, controls=self.controls, lenses=lenses))
        tables += self._judging(include_self=include_self, watch=watch)
        title = f"{self.name}: results"
        facts: Fields = {
            "root_sha256": self.seal.root_sha256 if self.seal is not None and self.frozen else None,
            "seed": self.config["seed"],
            "grouped_by": ", ".join(self.sheet.by),
        }
        if not self.frozen:
            title = f"{title} ({NOT_FROZEN})"
        return Report(title, facts, tables, [INTERVALS])

    def _judging(self, *, include_self: bool, watch: Watch | None) -> list[Table]:
        figures = self.judging_figures(include_self=include_self, watch=watch)
        return [] if figures is None else judging_tables(figures)

    def judging_figures(self, *, include_self: bool = False, watch: Watch | None = None) -> Fields | None:
        """The tables of the judging as JSON values; None if nothing was judged."""
        judging = read_judging(self.directory)
        if judging is None:
            return None
        plan = JudgingPlan(self.name, int(self.config["seed"]), judging.terms, judging.judges)
        books = JudgeStanding(plan, judging.targets)
        judgements = Judgements(judging.terms.rubric)
        for record in journal(self.directory):
            if is_judgement(record):
                books.load(record)
                judgements.add(record)
                if watch is not None:
                    watch(record)
        seed = int(self.config["seed"])
        return judge_tables(judgements, books.tallies, include_self=include_self, seed=seed)


INTERVALS = (
    "Intervals are at 95 %: Wilson for shares of single samples, a bootstrap over items where items have several; "
    "for deviations, letters, other readings, flips and failures always Wilson, as if the samples of an item were "
    "independent; docs/statistics.md says how, and when they mislead."
)


def _text(value: object) -> str:
    return "" if value is None else without_surrogates(str(value))
