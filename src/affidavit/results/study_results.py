"""The results of a study's directory: its records as columns, what was planned, and all tables over them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property

import polars as pl

from affidavit.archive.corruption import corrupt
from affidavit.archive.parquet_copy import copied_frame, journal_frame
from affidavit.archive.record import Record
from affidavit.archive.record_columns import SCHEMA, column_of, without_surrogates
from affidavit.archive.study_directory import ImportedStudy, PlannedStudy, StudyDirectory
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.own_file import is_in_file
from affidavit.contracts.read_by import ReadBy
from affidavit.errors import UsageError, did_you_mean
from affidavit.json_values import Fields, canonical
from affidavit.judging.directory import read_judging
from affidavit.judging.label_draws import read_draws
from affidavit.reading.imported_records import frozen_columns
from affidavit.results.caveats import (
    INTERVALS,
    INTERVALS_OF_LABELS,
    AskedCell,
    contradicted_note,
    not_verbatim_note,
    pending_note,
    trial_note,
)
from affidavit.results.comparison import Side
from affidavit.results.counting import ITEM, OR_ITEM, RecordSet, groups
from affidavit.results.gathered_judging import GatheredJudging
from affidavit.results.groups import CELL
from affidavit.results.item_content import ItemContents, content_of, content_of_frozen, together
from affidavit.results.judging import JudgingFigures
from affidavit.results.judging_tables import judging_tables
from affidavit.results.known_answers import ASKED, KnownAnswers, known_answers, known_items
from affidavit.results.label_plan import label_plan
from affidavit.results.label_set import LabelSet
from affidavit.results.labelled_judging import LabelledJudging
from affidavit.results.labelled_tables import labelled_tables
from affidavit.results.no_value import METADATA, named_where_empty
from affidavit.results.output_places import OutputPlaces
from affidavit.results.people_sentence import said_by_people
from affidavit.results.row_values import every_item_of_rows, items_of_rows, row_names, row_values
from affidavit.results.shown_options import ShownOptions, options_of_items, options_of_rows
from affidavit.results.source_scores import source_scores
from affidavit.results.table import Table
from affidavit.results.tables import all_tables
from affidavit.results.text_forms import NOT_SEALED, READ_BY, TRIAL, Report
from affidavit.running.labelled_study import refuse_other_draws
from affidavit.running.server_words import changed
from affidavit.study.crossing import LeftOut, cells
from affidavit.study.freezing import frozen_items, frozen_tables
from affidavit.study.growth import growth_notes
from affidavit.study.study_file import Study

_ITEM = ["task", ITEM]
_AT = "place in the file"


class StudyResults:
    """A study, ready for tables. `watch` sees every record of a judging, once, before its tables are made."""

    def __init__(
        self,
        directory: StudyDirectory,
        by: Sequence[str] = CELL,
        *,
        cluster: str | None = None,
        watch: Callable[[Record], None] | None = None,
    ) -> None:
        """`cluster`: the metadata whose values vary independently, such as the passage of an item (ruling S8)."""
        self.directory = directory
        self.frozen = directory.frozen()
        self.config = self.frozen.config
        self.study: Study | None = None
        """What was planned; None for outputs from elsewhere."""
        self.counts: Mapping[str, int] = {}
        """How many items each task has."""
        if isinstance(self.frozen, ImportedStudy):
            self._planned = [(*names, count, count) for names, count in self.frozen.cells.items()]
        else:
            self.study, self.counts = frozen_tables(self.frozen), self.frozen.counts
            asked = [cell for cell in cells(self.study) if not isinstance(cell, LeftOut)]
            self._planned = [
                (*cell, self.counts[cell.task], self.counts[cell.task] * self.samples) for cell in asked
            ]
        self.seal = directory.seal()
        self.sealed = self.seal is not None and not directory.check_seal(self.seal)
        self.judging = read_judging(directory)
        self._judged = None if self.judging is None else GatheredJudging(self.frozen, self.judging, watch)
        self._figures: dict[bool, JudgingFigures] = {}
        """Of the judging, by whether own outputs are pooled in: tables and the page are made of the same ones."""
        judged = None if self.judging is None else frozenset(self.judging.terms.outputs)
        self._labels = LabelSet(read_draws(directory), judged)
        self._unclustered: list[tuple[str, int]] = []
        """Tasks with items that lack the metadata of clusters, and how many do."""
        self.records = self._record_set(tuple(by), cluster)

    @property
    def name(self) -> str:
        """The study's name."""
        return self.frozen.name

    @property
    def trial(self) -> int | None:
        """Of a trial: it is about the first so many items of each task."""
        return self.frozen.trial if isinstance(self.frozen, PlannedStudy) else None

    @property
    def samples(self) -> int:
        """Answers to each question; of outputs from elsewhere, the most that there are to one."""
        if isinstance(self.frozen, ImportedStudy):
            return self.frozen.samples
        return 1 if self.study is None else self.study.decoding.samples

    @property
    def controls(self) -> dict[str, str]:
        """Conditions with the control against which changed answers are counted."""
        if self.study is None:
            return {}
        return {name: table.control for name, table in self.study.conditions.items() if table.control}

    @property
    def outputs_unsaid(self) -> dict[str, int]:
        """By task, outputs that count as not right although nobody says whether their right answer is known."""
        return dict(self._known.outputs_unsaid)

    @property
    def read_by(self) -> dict[str, ReadBy]:
        """By what the outputs of each task are read, as it was frozen."""
        said = self.config["contracts"].items()
        return {without_surrogates(task): ReadBy.frozen(each) for task, each in said}

    # --- the records ---

    def _record_set(self, by: tuple[str, ...], cluster: str | None) -> RecordSet:
        known = (*CELL, "paradigm", "contract", "sample")
        metadata = [name for name in by if name.startswith(METADATA)]
        if cluster is not None and not cluster.startswith(METADATA):
            raise UsageError("--cluster", expected=f"{METADATA}NAME", found=repr(cluster))
        expected = f"{', '.join(known)} or {METADATA}NAME"
        for name in by:
            if name not in known and name not in metadata:
                raise UsageError("--by", expected=expected, found=repr(name), hint=did_you_mean(name, known))
        if not by or len(set(by)) < len(by):
            raise UsageError("--by", expected=f"{expected}, each once", found=repr(",".join(by)))
        answers, planned = self._known_answers(), self._planned_cells()
        records, self._known = answers.records, answers
        self._asked = self._counted_by_cell(records, planned)
        pending = self._pending_questions(records, planned)
        self._asked = self._with_untouched(self._asked, pending)
        # Of a pending question is said what is said of one that was asked.
        both = [records] if pending is None else [records, pending]
        if metadata:
            both = [self._with_metadata(each, metadata, "--by") for each in both]
        planned = self._planned_in(both[0], planned, by, metadata)
        clustered = [self._clustered(each, cluster, grouped=cluster in metadata) for each in both]
        paradigms = self._paradigms()
        added = {"paradigm": pl.col("condition").replace_strict(paradigms, default="", return_dtype=pl.String)}
        if "contract" in by:
            # A failure is of the task's contract too, although nothing arrived that it could read.
            contracts = self._contracts()
            added["contract"] = pl.col("task").replace_strict(contracts, default=None, return_dtype=pl.String)
        planned, unit, parts = planned.with_columns(**added), clustered[0][1], self.directory.parts()
        named = named_where_empty(planned, [name for name in by if name in (*metadata, "paradigm")])
        records, *more = (each.with_columns(**added).with_columns(**named) for each, _ in clustered)
        planned = planned.with_columns(**named)
        pending = more[0] if more else None
        return RecordSet(
            records, planned, self.frozen.seed, by, parts, unit, paradigms, pending, self._shown_options()
        )

    def _shown_options(self) -> ShownOptions:
        if isinstance(self.frozen, ImportedStudy):
            return options_of_rows(frozen_columns(self.frozen))
        tasks = {} if self.study is None else self.study.tasks
        orders = {name: task.option_order for name, task in tasks.items()}
        return options_of_items(lambda: frozen_items(self.directory), orders, self.frozen.seed)

    def _with_metadata(self, records: pl.LazyFrame, metadata: Sequence[str], option: str) -> pl.LazyFrame:
        """The records with columns of metadata: of their items, or of the rows that outputs came in."""
        if self.study is not None:
            return _joined(records, self._items(metadata, option))
        found = records.with_columns(row_values(name.removeprefix(METADATA)).alias(name) for name in metadata)
        said = found.select((pl.col(name) != "").any() for name in metadata).collect(engine="streaming").row(0)
        for name, there in zip(metadata, said, strict=True):
            if not there:
                known = [f"{METADATA}{each}" for each in row_names(records)]
                expected = f"a field of some row: {', '.join(known) or 'there is none'}"
                raise UsageError(option, expected=expected, found=repr(name), hint=did_you_mean(name, known))
        return found

    def _planned_in(
        self, records: pl.LazyFrame, planned: pl.DataFrame, by: Sequence[str], metadata: Sequence[str]
    ) -> pl.DataFrame:
        """What was planned, by whatever records are grouped by; of outputs from elsewhere, all that there are."""
        own = [*metadata, *(name for name in ("sample",) if name in by)]
        if own and self.study is None:
            rows = records.filter(ASKED).group_by([*CELL, *own]).agg(planned=pl.len().cast(pl.Int64))
            return rows.collect(engine="streaming")
        if metadata:
            sizes = self._items(metadata, "--by").group_by(["task", *metadata]).agg(items=pl.len())
            planned = planned.join(sizes, on="task", how="left").with_columns(
                planned=pl.col("planned") // pl.col("count") * pl.col("items")
            )
        if "sample" in by:
            numbers = pl.DataFrame({"sample": list(range(self.samples))}, schema={"sample": pl.Int64})
            planned = planned.join(numbers, how="cross").with_columns(planned=pl.col("planned") // self.samples)
        return planned

    def _clustered(self, records: pl.LazyFrame, cluster: str | None, *, grouped: bool) -> tuple[pl.LazyFrame, str]:
        """The records with the column of their clusters, and its name; items that lack it are counted.

        Each of those is a cluster of its own, by task and id (ruling S8): nothing says that they belong together.
        Where the same metadata tells groups apart, the column has another name, as these have no value there.
        """
        if cluster is None:
            return records, ITEM
        unit, lacking = f"{cluster}{OR_ITEM}" if grouped else cluster, pl.col(cluster) == ""
        if self.study is None:
            return self._clustered_rows(records, cluster, unit), unit
        items = self._items([cluster], "--cluster")
        self._unclustered = items.filter(lacking)["task"].value_counts().sort("task").rows()
        mark = "item "
        while items[cluster].str.starts_with(mark).any():
            mark += "· "
        names = [
            f"{mark}{canonical([task, item]).decode()}" for task, item in items.select("task", ITEM).iter_rows()
        ]
        own = pl.when(lacking).then(pl.Series(names, dtype=pl.String)).otherwise(pl.col(cluster)).alias(unit)
        return _joined(records, items.select("task", ITEM, own)), unit

    def _clustered_rows(self, records: pl.LazyFrame, cluster: str, unit: str) -> pl.LazyFrame:
        """The same of outputs from elsewhere, whose rows say it."""
        own = row_values(cluster.removeprefix(METADATA))
        found = self._with_metadata(records, [cluster], "--cluster").filter(ASKED).select(*_ITEM, cluster).unique()
        values = found.collect(engine="streaming")
        lacking = values.filter(pl.col(cluster) == "").unique(_ITEM)
        self._unclustered = lacking["task"].value_counts().sort("task").rows()
        mark = "item "
        while values[cluster].str.starts_with(mark).any():
            mark += "· "
        return records.with_columns(
            pl.when(own == "").then(pl.concat_str(pl.lit(mark), pl.col(ITEM))).otherwise(own).alias(unit)
        )

    def cluster_notes(self, chosen: Mapping[str, str]) -> list[str]:
        """How many items of each task that was chosen lack the metadata of clusters."""
        return [
            f"{task}: {count:,} item{'s have' if count != 1 else ' has'} no {self.records.cluster_name}; each is "
            "a cluster of its own, in intervals and in macro averages."
            for task, count in self._unclustered
            if chosen.get("task", task) == task
        ]

    def _counted_by_cell(self, records: pl.LazyFrame, planned: pl.DataFrame) -> pl.DataFrame:
        """Planned questions and those that were `found`, by cell.

        Records that the plan has no place for are refused: no table would show them.
        """
        found = records.filter(ASKED).group_by(list(CELL)).agg(found=pl.len().cast(pl.Int64))
        both = found.collect(engine="streaming").join(planned, on=list(CELL), how="full", coalesce=True)
        both = both.with_columns(pl.col("found").fill_null(0))
        more = both.filter(pl.col("planned").is_null() | (pl.col("found") > pl.col("planned"))).sort(list(CELL))
        if not more.is_empty():
            first = more.row(0, named=True)
            cell = ", ".join(str(first[name]) for name in CELL)
            said = f"{first['planned'] or 0:,} for {cell}, where {first['found']:,} were found"
            raise corrupt(self.frozen.where, "a plan with a place for every record", said)
        return both

    def asked(self, chosen: Mapping[str, str]) -> tuple[AskedCell, ...]:
        """How far the questions were asked of what was chosen of the study, cell by cell."""
        named = [pl.col(column) == value for column, value in chosen.items()]
        cells = self._asked.filter(*named) if named else self._asked
        return tuple(
            AskedCell(tuple(names), planned, planned - found, items, items - untouched, first == items - untouched)
            for *names, planned, found, items, untouched, first in cells.sort(list(CELL))
            .select(*CELL, "planned", "found", "count", "untouched", "first untouched")
            .iter_rows()
        )

    def _pending_questions(self, records: pl.LazyFrame, planned: pl.DataFrame) -> pl.LazyFrame | None:
        """A row for each pending question, with whether its right answer is known (ruling S6); None if none is.

        The frozen items and the plan say which they are: each belongs to its item, as one that was asked.
        """
        if self.study is None or self._asked["planned"].sum() == self._asked["found"].sum():
            return None
        known = known_items(records, frozen_items(self.directory), self.directory.parts(), self._own_contracts)
        known = known.with_columns(pl.int_range(pl.len()).over("task").alias(_AT))
        samples = pl.DataFrame({"sample": list(range(self.samples))}, schema={"sample": SCHEMA["sample"]})
        places = planned.lazy().select(CELL).join(known.lazy(), on="task").join(samples.lazy(), how="cross")
        question = [*CELL, ITEM, "sample"]
        left = places.join(records.filter(ASKED).select(question), on=question, how="anti")
        return left.rename({"known": "keyed"}).collect(engine="streaming").lazy()

    def _with_untouched(self, cells: pl.DataFrame, pending: pl.LazyFrame | None) -> pl.DataFrame:
        """How many items of each cell are `untouched`, all their samples pending, and the place of the first."""
        if pending is None:
            return cells.with_columns(pl.lit(0).alias("untouched"), pl.col("count").alias("first untouched"))
        items = pending.group_by([*CELL, ITEM]).agg(pl.len().alias("samples"), pl.col(_AT).first())
        whole = items.filter(pl.col("samples") == self.samples).group_by(list(CELL))
        counted = whole.agg(untouched=pl.len().cast(pl.Int64), first=pl.col(_AT).min()).collect(engine="streaming")
        counted = counted.rename({"first": "first untouched"})
        return cells.join(counted, on=list(CELL), how="left").with_columns(pl.col("untouched").fill_null(0))

    def _records(self) -> pl.LazyFrame:
        """The columns: from their copy or, with the judging on the same walk, from the journal."""
        if (copied := copied_frame(self.directory, self.seal if self.sealed else None)) is not None:
            return copied
        return journal_frame(self.directory, self._watch)

    def _watch(self, record: Record) -> None:
        """One record of the journal, on whichever walk it is met."""
        if self._judged is not None:
            self._judged(record)
        self._labels.add(record)

    def _see_all(self) -> None:
        """Walk the journal, unless it was walked, or is known to hold nothing of judges and people."""
        silent = self._judged is None and self.sealed and self.seal is not None and not self.seal.labels_sha256
        if not self._labels.seen and not (silent and not self._labels.draws):
            for record in self.directory.records():
                self._watch(record)
        if self._labels.draws:
            refuse_other_draws(self.directory, self._labels, self.frozen, self.judging)

    def _known_answers(self) -> KnownAnswers:
        """The records, with whether the right answer is known also where nothing was read (rulings M6 and S6)."""
        records, parts = self._records(), self.directory.parts()
        if isinstance(self.frozen, ImportedStudy):
            columns = frozen_columns(self.frozen)
            return known_answers(records, lambda: items_of_rows(records, columns), parts, self._own_contracts)
        return known_answers(records, lambda: frozen_items(self.directory), parts, self._own_contracts)

    @property
    def _own_contracts(self) -> list[str]:
        """The tasks with a contract from a file."""
        return [name for name, task in self.config["tasks"].items() if is_in_file(str(task["contract"]))]

    def _paradigms(self) -> dict[str, str]:
        """The paradigms of the conditions that have one."""
        tables = {} if self.study is None else self.study.conditions
        return {without_surrogates(name): table.paradigm for name, table in tables.items() if table.paradigm}

    def _contracts(self) -> dict[str, str]:
        return {task: str(each["contract"]) for task, each in self.config["contracts"].items()}

    def _planned_cells(self) -> pl.DataFrame:
        schema = {
            "task": pl.String,
            "model": pl.String,
            "condition": pl.String,
            "count": pl.Int64,
            "planned": pl.Int64,
        }
        named = [(*map(without_surrogates, row[:3]), *row[3:]) for row in self._planned]
        return pl.DataFrame(named, schema=schema, orient="row")

    def _items(self, metadata: Sequence[str], option: str) -> pl.DataFrame:
        found: list[tuple[object, ...]] = []
        known: dict[str, None] = {}
        for task, item in frozen_items(self.directory):
            more = item.fields.get("metadata")
            values = more if isinstance(more, dict) else {}
            known |= dict.fromkeys(f"{METADATA}{name}" for name in values)
            chosen = (_text(values.get(name.removeprefix(METADATA))) for name in metadata)
            found.append((task, without_surrogates(item.id), *chosen))
        for place, name in enumerate(metadata, 2):
            if not any(row[place] for row in found):
                expected = f"a field in the metadata of some item: {', '.join(known) or 'there is none'}"
                raise UsageError(option, expected=expected, found=repr(name), hint=did_you_mean(name, known))
        return pl.DataFrame(found, schema=dict.fromkeys(("task", "item_id", *metadata), pl.String), orient="row")

    def side(self, name: str, chosen: Mapping[str, str]) -> Side:
        """The study as a side of a comparison, or what was chosen of it by task, model or condition."""
        cells = self._planned_cells()
        for column, value in chosen.items():
            if column not in CELL:
                raise UsageError(name, expected=f"a choice by {', '.join(CELL)}", found=repr(column))
            known = cells[column].unique(maintain_order=True).to_list()
            if value not in known:
                expected = f"a {column} of the study: {', '.join(known)}"
                raise UsageError(name, expected=expected, found=repr(value), hint=did_you_mean(value, known))
        return Side(
            name,
            self.records.records,
            chosen,
            self.records.seed,
            str(self.directory.path.resolve()),
            self.records.tasks_by_validation,
            cache(lambda: self._item_contents(chosen)),
            self.sealed,
            self.asked(chosen),
            tuple(self.cluster_notes(chosen)),
            self.trial,
            {task: by for task, by in self.read_by.items() if chosen.get("task", task) == task},
        )

    def _item_contents(self, chosen: Mapping[str, str]) -> ItemContents:
        """By task and id, what is asked about an item and what is right; of rows from elsewhere, those chosen."""
        parts = self.records.parts
        if isinstance(self.frozen, ImportedStudy):
            named = [pl.col(name) == value for name, value in chosen.items()]
            rows = self.records.part(*named).outputs() if named else self.records.outputs()
            every = every_item_of_rows(rows, frozen_columns(self.frozen))
            return together(((task, item.id), content_of(item.row, parts[task])) for task, item in every)
        return {
            (task, without_surrogates(item.id)): content_of_frozen(item.row, parts[task])
            for task, item in frozen_items(self.directory)
        }

    # --- the report ---

    @property
    def warnings(self) -> list[str]:
        """What must be known before any figure."""
        found = [*trial_note(self.trial), *pending_note(self.asked({})), *contradicted_note(self._contradicted())]
        return [*found, *not_verbatim_note(self._not_verbatim())]

    def _not_verbatim(self) -> int:
        """Outputs from elsewhere whose texts are not as the models wrote them, by the log that they came from."""
        if not isinstance(self.frozen, ImportedStudy):
            return 0
        # Few rows say anything of the kind: those that cannot are not taken apart.
        like = self.records.outputs().filter(pl.col("row").str.contains('"verbatim":false', literal=True))
        said = like.select(pl.col("row").str.json_path_match("$.verbatim"))
        return int(said.filter(pl.col("row") == "false").select(pl.len()).collect(engine="streaming").item())

    def _contradicted(self) -> int:
        """Items from elsewhere whose rows name more than one right answer: no figure knows which of them holds."""
        if not isinstance(self.frozen, ImportedStudy):
            return 0
        named = self.records.records.filter(pl.col("right_letter").is_not_null())
        answers = named.group_by("task", "item_id").agg(pl.col("right_letter").n_unique())
        return int(answers.filter(pl.col("right_letter") > 1).select(pl.len()).collect(engine="streaming").item())

    def report(self, *, include_self: bool = False) -> Report:
        """Every table that has something to say; over a study that is not sealed, the title says so."""
        tables = list(all_tables(self.records, groups(self.records), samples=self.samples, controls=self.controls))
        if isinstance(self.frozen, ImportedStudy) and (said := source_scores(self.records)) is not None:
            tables.append(said)
        figures = self.judging_figures(include_self=include_self)
        tables += [] if figures is None else judging_tables(figures, self.records.by)
        tables += self._labelled_tables(figures)
        title = f"{self.name}: results"
        facts: Fields = {
            "root_sha256": self.seal.root_sha256 if self.seal is not None and self.sealed else None,
            "seal_sha256": self.seal.sha256 if self.seal is not None and self.sealed else None,
            "seed": self.frozen.seed,
            READ_BY: self._contracts_in_words(),
            "grouped_by": ", ".join(self.records.by),
            **({} if self.records.cluster == ITEM else {"clusters": self.records.cluster_name}),
        }
        marks = [*([] if self.trial is None else [TRIAL]), *([] if self.sealed else [NOT_SEALED])]
        if marks:
            title = f"{title} ({', '.join(marks)})"
        intervals = [INTERVALS, INTERVALS_OF_LABELS] if self._labels.questions else [INTERVALS]
        return Report(title, facts, tables, [*intervals, *self._notes()], self.warnings)

    def _contracts_in_words(self) -> str:
        """The contract of each task with the parameters that are not its defaults; one that all have, once."""
        worded = {task: str(by) for task, by in self.read_by.items()}
        if len(set(worded.values())) == 1:
            return next(iter(worded.values()))
        return "; ".join(f"{task}: {words}" for task, words in worded.items())

    def _notes(self) -> Iterator[str]:
        """What a reader of the tables should know of this study's records."""
        if self.samples > 1 and not self.records.within_cells:
            yield (
                "pass@k and majorities are about the samples of an item under one model and condition: they are "
                "left out, as groups hold several of these, or one sample each."
            )
        yield from self.cluster_notes({})
        if self.records.cluster != ITEM:
            name = self.records.cluster_name
            yield f"pass@k, majorities and excess disagreement are over items, not over {name}."
        if isinstance(self.frozen, PlannedStudy):
            yield from growth_notes(self.frozen.revisions)
        yield from self._server_changes()
        for task, count in self.outputs_unsaid.items():
            yield (
                f"{task}: {count:,} outputs are not compliant or unread and count as not right, although nobody "
                "says whether their right answer is known."
            )
        for task, count in self._known.failed_unsaid:
            yield (
                f"{task}: {count:,} failed questions count as missing in the bounds of accuracy, although nobody "
                "says whether their right answer is known."
            )
        for task, fields in self._unknown_fields():
            yield f"{task}: no output has the field {fields}, which a table of its contract counts."

    def _unknown_fields(self) -> Iterator[tuple[str, str]]:
        """Fields that a declared table counts and that no output of the task has, such as misspelt ones."""
        for task, parts in self.records.parts.items():
            declared = [table.fields for table in parts.tables if isinstance(table, CountTable)]
            columns = {column_of(field): field for fields in declared for field in fields}
            if not columns or parts.columns_hold_all:
                continue  # our own contracts name fields that they have, if perhaps in no output of this study
            read = (pl.col("task") == task) & pl.col("protocol_compliant").is_not_null()
            found = self.records.outputs().filter(read).select(pl.len(), pl.col(*columns).is_not_null().any())
            outputs, *present = found.collect(engine="streaming").row(0)
            missing = [name for name, there in zip(columns.values(), present, strict=True) if not there]
            if outputs and missing:
                yield task, ", ".join(map(repr, missing))

    def _server_changes(self) -> Iterator[str]:
        """Where a server named itself otherwise in the course of the study (ruling C9)."""
        who = pl.coalesce("judge", "model").alias("who")
        for kind in ("server_model", "system_fingerprint"):
            told = self.records.records.filter(pl.col(kind).is_not_null())
            counted = told.group_by(who, kind).agg(n=pl.len()).collect(engine="streaming").sort("who", kind)
            for (name,), rows in counted.group_by("who", maintain_order=True):
                yield from changed(str(name), kind, dict(zip(rows[kind], rows["n"], strict=True)))

    def judging_figures(self, *, include_self: bool = False) -> JudgingFigures | None:
        """The figures of the judging; None if nothing was judged."""
        if self._judged is None:
            return None
        self._see_all()
        if include_self not in self._figures:
            self._figures[include_self] = self._judged.figures(include_self=include_self)
        return self._figures[include_self]

    def label_plan(self, width: float) -> Table:
        """How many labels it takes for intervals of this width."""
        self._see_all()
        return label_plan(self.records, self._labels, self._labelled_judging(self.judging_figures()), width=width)

    def _labelled_tables(self, figures: JudgingFigures | None) -> Iterator[Table]:
        """What people said, and what follows from it; nothing where nobody was asked."""
        self._see_all()
        judging = self._labelled_judging(figures) if self._labels.questions else None
        return labelled_tables(self.records, self._labels, judging)

    def _labelled_judging(self, figures: JudgingFigures | None) -> LabelledJudging | None:
        return None if figures is None else LabelledJudging(figures, self._labels, self._places)

    @cached_property
    def _places(self) -> OutputPlaces:
        return OutputPlaces.in_records(self.records)

    def said_by_people(self, *, include_self: bool = False) -> list[str]:
        """How far labels by people move the figures of judges, for summaries; nothing without labels."""
        self._see_all()
        judging = self._labelled_judging(self.judging_figures(include_self=include_self))
        return [] if judging is None or not self._labels.questions else list(said_by_people(judging))


def _joined(records: pl.LazyFrame, items: pl.DataFrame) -> pl.LazyFrame:
    """The records with what their items say, in the same order: tables find records again by their place."""
    return records.join(items.lazy(), on=["task", "item_id"], how="left", maintain_order="left")


def _text(value: object) -> str:
    return "" if value is None else without_surrogates(str(value))
