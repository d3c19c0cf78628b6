"""What a person types in a notebook: studies, their results, and contracts over frames.

It stands above all rooms and decides nothing: every function calls what the command of its name calls, and gives
back an object instead of printing. Errors speak of arguments where the commands speak of options, and show no
traceback into the rooms.

    >>> frame = read_frame(pl.DataFrame({"completion": ["<answer>B</answer>", "B."]}), "mcqa", text="completion")
    >>> frame["protocol_compliant"].to_list()
    [True, False]
"""

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack, cast

import polars as pl

from affidavit.archive.item_columns import items_frame
from affidavit.archive.parquet_copy import records_frame
from affidavit.archive.study_directory import ImportedStudy, StudyDirectory
from affidavit.commands.run_progress import RunProgress
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.read_by import ReadBy
from affidavit.errors import UsageError, did_you_mean
from affidavit.exchange.plain_tables import roles_named
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.integrations.given_contract import given_contract
from affidavit.json_values import Fields
from affidavit.judging.label_columns import label_columns_of
from affidavit.models.environment_values import mask_of
from affidavit.python_words import Names, Place, for_python, names_in, path_of
from affidavit.reading import frames
from affidavit.reading.output_columns import ANSWER, Role
from affidavit.reading.rows import RowReader
from affidavit.results import gate as gates
from affidavit.results import study_results
from affidavit.results.comparison import ITEM, Side, comparison_tables, parse_side, read_otherwise
from affidavit.results.gate import GateResult
from affidavit.results.groups import CELL
from affidavit.results.page import study_page
from affidavit.results.page.content import PageOptions
from affidavit.results.page.verified_page import verify_study
from affidavit.results.second_readings import audit_report
from affidavit.results.table import Table
from affidavit.results.text_forms import Report, as_csv, as_json, as_latex, as_markdown
from affidavit.running import judging_run, study_run
from affidavit.running import verify as verification
from affidavit.running.import_outputs import outputs_in
from affidavit.running.judge_panel import WantedTerms
from affidavit.running.second_reading import audit_terms, audited
from affidavit.running.stopping import StopSwitch
from affidavit.running.verify import Verified
from affidavit.study.crossing import left_out
from affidavit.study.files import given_contracts, load
from affidavit.study.models_file import models_for

Given = TypeVar("Given")


# --- results ---


class Thresholds(TypedDict, total=False):
    """What can be gated: shares from 0 to 1."""

    min_compliance: float
    min_accuracy: float
    min_yield: float
    max_invalid: float
    max_fabricated: float
    max_failed: float


class NoSuchTableError(UsageError, KeyError):
    """A table that is not among the results."""


class Results(Mapping[str, Table]):
    """The tables of a study or of a comparison, by their names."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tables = {table.name: table for table in report.tables}

    @property
    def title(self) -> str:
        """What the results are of; it says so where the study is not sealed."""
        return self._report.title

    @property
    def tables(self) -> list[Table]:
        """All of them, in the order of the report."""
        return list(self._report.tables)

    @property
    def notes(self) -> list[str]:
        """What is said of all tables: how the intervals are made."""
        return [*self._report.warnings, *self._report.notes]

    def __getitem__(self, name: str) -> Table:
        if name in self._tables:
            return self._tables[name]
        known, hint = ", ".join(map(repr, self._tables)), did_you_mean(str(name), self._tables)
        raise NoSuchTableError(self.title, expected=f"one of the tables {known}", found=repr(name), hint=hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"<Results {self.title!r}: {', '.join(self)}>"

    def __str__(self) -> str:
        return "\n\n\n".join(map(str, self.tables))

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables)

    def to_markdown(self) -> str:
        """What `affidavit report --format md` prints."""
        return as_markdown(self._report)

    def to_json(self) -> Fields:
        """What `affidavit report --format json` prints, as JSON values."""
        return as_json(self._report)

    def to_csv(self) -> str:
        """What `affidavit report --format csv` prints."""
        return as_csv(self._report)

    def to_latex(self) -> str:
        """What `affidavit report --format latex` prints."""
        return as_latex(self._report)


# --- studies ---


@dataclass(frozen=True, slots=True)
class Part:
    """What was chosen of a study, to be compared."""

    study: "Study"
    chosen: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<Part of {self.study.name!r}: {_chosen_in_words(self.chosen)}>"


class Study:
    """A study's directory. It holds nothing: every method reads what is on the disk now."""

    @for_python
    def __init__(self, directory: Place) -> None:
        self._directory = StudyDirectory(path_of(directory))
        self._frozen = self._directory.frozen()

    @property
    def name(self) -> str:
        """The study's name."""
        return self._frozen.name

    @property
    def directory(self) -> Path:
        """Where it is kept."""
        return self._directory.path

    def __repr__(self) -> str:
        seal = self._directory.seal()
        if seal is None or not self._directory.is_sealed_by(seal):
            return f"<Study {self.name!r}: not sealed>"
        return f"<Study {self.name!r}: {seal.records:,} records, sealed>"

    @for_python
    def records(self) -> pl.LazyFrame:
        """One row for each question or judgement, in the columns of docs/results.md; `raw_output` is the text."""
        return records_frame(self._directory)

    @for_python
    def items(self) -> pl.LazyFrame:
        """One row for each item as it was asked: `task`, `item_id`, and the item's own fields.

        A field whose values are of different kinds is JSON in a text.
        """
        if isinstance(self._frozen, ImportedStudy):
            found = "outputs from elsewhere, which have none"
            raise UsageError(str(self.directory), expected="a study with items", found=found)
        return items_frame(list(self._directory.items()))

    @for_python
    def results(self, by: Names = CELL, *, cluster: str | None = None, include_self: bool = False) -> Results:
        """Every table of the report, grouped by task, model and condition or by other columns.

        `by` takes contract, sample and metadata.NAME too; `cluster`, a metadata.NAME, is what varies independently
        where items do not; `include_self` pools judgements of own outputs with the others.
        """
        opened = study_results.StudyResults(self._directory, names_in(by), cluster=cluster)
        return Results(opened.report(include_self=include_self))

    def part(self, *, task: str | None = None, model: str | None = None, condition: str | None = None) -> Part:
        """A part of the study for `compare`: of one task, model or condition."""
        chosen = {"task": task, "model": model, "condition": condition}
        return Part(self, {name: value for name, value in chosen.items() if value is not None})

    @for_python
    def compare(
        self, other: "Study | Part | Place", *, mid_p: bool = False, cluster: str | None = None
    ) -> Results:
        """What is different in another study, against this one; see `affidavit.compare`."""
        return compare(self, other, mid_p=mid_p, cluster=cluster)

    @for_python
    def gate(
        self,
        *,
        on: Literal["value", "interval"] = "value",
        by: Names = CELL,
        baseline: "Study | Part | Place | None" = None,
        margin: float = gates.MARGIN,
        cluster: str | None = None,
        **thresholds: Unpack[Thresholds],
    ) -> GateResult:
        """Whether the study meets thresholds, such as `min_compliance=0.95`; see `affidavit.gate`."""
        return gate(self, on=on, by=by, baseline=baseline, margin=margin, cluster=cluster, **thresholds)

    @for_python
    def verify(
        self, *, expect: str | None = None, contracts: Names = (), study_file: Place | None = None
    ) -> Verified:
        """Check every byte, then derive everything that is derived again; see `affidavit.verify`."""
        return verify(self, expect=expect, contracts=contracts, study_file=study_file)

    @for_python
    def write_page(
        self,
        out: Place | None = None,
        *,
        by: Names = CELL,
        cluster: str | None = None,
        include_self: bool = False,
        mask: Names = (),
    ) -> Path:
        """Write the page, `report.html` in the study's directory unless another place is given; says where.

        `mask` names environment variables whose values are covered wherever they stand on the page.
        """
        path = None if out is None else path_of(out)
        covered = mask_of(names_in(mask))
        options = PageOptions(by=names_in(by), cluster=cluster, include_self=include_self, mask=covered)
        return study_page.write_page(self._directory, options, out=path).path


@for_python
def open_study(directory: Place) -> Study:
    """The study in a directory, of any state: planned, running, sealed, or of outputs from elsewhere."""
    return Study(directory)


@for_python
def compare(
    first: Study | Part | Place, second: Study | Part | Place, *, mid_p: bool = False, cluster: str | None = None
) -> Results:
    """What is different in the second study against the first: paired differences, and readings that moved.

    A side is a study, a part of one (`study.part(condition="free")`), or a text as the command takes it:
    "my-study@condition=free". With `mid_p`, McNemar's test of single samples is the less careful mid-p form.
    `cluster`, a metadata.NAME of the first side's items, is what varies independently where items do not.
    """
    sides = [_side(first, cluster), _side(second)]
    tables = comparison_tables(*sides, mid_p=mid_p, cluster=cluster or ITEM)
    title, warnings = f"{sides[0].name} and {sides[1].name}", read_otherwise(*sides)
    return Results(Report(title, {}, tables, warnings=warnings))


def _side(side: Study | Part | Place, cluster: str | None = None) -> Side:
    study, chosen = _part(side)
    name = f"{study.directory}@{_chosen_in_words(chosen)}" if chosen else str(study.directory)
    return study_results.StudyResults(StudyDirectory(study.directory), cluster=cluster).side(name, chosen)


def _part(side: Study | Part | Place) -> tuple[Study, Mapping[str, str]]:
    """The study of a side, and what was chosen of it: by `study.part`, or in a text as the command takes it."""
    if isinstance(side, str):
        directory, chosen = (side, {}) if Path(side).is_dir() else parse_side(side)
        return Study(directory), chosen
    return (side.study, side.chosen) if isinstance(side, Part) else (_study(side), {})


def _chosen_in_words(chosen: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in chosen.items())


@for_python
def gate(  # noqa: PLR0913 - the options of the command
    study: Study | Part | Place,
    *,
    on: Literal["value", "interval"] = "value",
    by: Names = CELL,
    baseline: Study | Part | Place | None = None,
    margin: float = gates.MARGIN,
    cluster: str | None = None,
    **thresholds: Unpack[Thresholds],
) -> GateResult:
    """Whether every group of a study meets the thresholds that are given; the result is true if all are met.

    Thresholds are shares from 0 to 1: min_compliance, min_accuracy, min_yield, max_invalid, max_fabricated and
    max_failed, held against the value, or against the end of its interval on the wrong side. With a `baseline`,
    compliance and accuracy over all outputs may not be lower than there by more than `margin`: the lower end of
    the paired difference decides. `cluster`, a metadata.NAME, is what varies independently where items do not.
    """
    given = cast("Mapping[str, float]", thresholds)
    for name in given:
        if name not in gates.MEASURES:
            hint = did_you_mean(name, gates.MEASURES)
            raise UsageError("gate", expected=", ".join(gates.MEASURES), found=repr(name), hint=hint)
    if on not in ("value", "interval"):
        raise UsageError("on", expected="'value' or 'interval'", found=repr(on))
    whole, chosen = _part(study)
    opened = study_results.StudyResults(StudyDirectory(whole.directory), names_in(by), cluster=cluster)
    against = None if baseline is None else gates.Baseline(_side(baseline, cluster), margin)
    return gates.gate(opened, given, on_interval=on == "interval", chosen=chosen, baseline=against)


@for_python
def verify(
    study: Study | Place,
    *,
    expect: str | None = None,
    contracts: Names = (),
    study_file: Place | None = None,
) -> Verified:
    """Check every byte of a study, then every reading; the result is true if it is sealed and everything follows.

    What was changed on the disk is raised as a StorageError that says where, and so is another digest than the one
    that is expected. A contract of an author's own is code: it is run only if `contracts` names its file
    ("my_file.py:name"), or `study_file` the study file that does.
    """
    wanted = None if expect is None else verification.expected_digest(expect)
    given = given_contracts(names_in(contracts), None if study_file is None else path_of(study_file))
    directory = StudyDirectory(_study(study).directory)
    return verify_study(directory, given, expect=wanted)


def _study(study: Study | Place) -> Study:
    return study if isinstance(study, Study) else Study(study)


# --- running and judging ---


@for_python
def run_study(  # noqa: PLR0913
    study_file: Place,
    out: Place | None = None,
    *,
    limit: int | None = None,
    reuse: Sequence[Place] = (),
    models: Names = (),
    retry_failed: bool = False,
    progress: bool = True,
) -> Study:
    """Run a study from its file, or go on with it; a warning says what is left without an answer.

    `out` is its directory, ./<study name> unless given. `limit` makes a trial of the first items of each task, in
    a directory of its own whose name ends in -trial; `reuse` names studies whose answers to the same questions are
    taken over, as those of the trial are; `models` asks these alone. It works beside a running event loop, as in a
    notebook. Ctrl-C, or the notebook's stop, asks nothing more, seals what has come back and raises
    KeyboardInterrupt; running again goes on.
    """
    if limit is not None and limit < 1:
        raise UsageError("limit", expected="a whole number from 1", found=str(limit))
    files = load(path_of(study_file))
    files.check_models(names_in(models))
    for line in left_out(files.study):
        warnings.warn(line, stacklevel=3)
    switch = StopSwitch()

    def run(shown: RunProgress | None) -> study_run.Ended:
        options = study_run.Options(
            None if out is None else path_of(out),
            retry_failed,
            limit,
            [path_of(place) for place in reuse],
            names_in(models),
            progress=None if shown is None else shown.tell,
            judging_progress=None if shown is None else shown.tell_judging,
            stop=switch,
        )
        return study_run.run_study(files, options)

    ended = _in_own_thread(run, switch, progress=progress)
    judged = ended.judged
    if not ended.begun:
        why = ended.stopped or "nothing was asked"
        raise UsageError(str(study_file), expected="requests that can be answered", found=f"none: {why}")
    _warn_of_open(ended.open, ended.stopped or (judged.stopped if judged else None), "an answer", "run_study")
    return Study(ended.directory)


@for_python
def judge_study(  # noqa: PLR0913
    source: Study | Place,
    judges: Names,
    *,
    models: Place | None = None,
    out: Place | None = None,
    pattern: str | None = None,
    tasks_file: Place | None = None,
    without_task: bool | None = None,
    contracts: Names = (),
    study_file: Place | None = None,
    rubric: str | None = None,
    tasks: Names = (),
    conditions: Names = (),
    repeats: int | None = None,
    blind: bool | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    labels: Mapping[str, str] | None = None,
    rater: str | Mapping[str, str] = "",
    rater_column: str | None = None,
    date_column: str | None = None,
    retry_failed: bool = False,
    progress: bool = True,
) -> Study:
    """Judge the outputs of a study, or go on with it; a warning says what is left without a judgement.

    `source` is a study, or a file of outputs from elsewhere, which are kept in `out`; `tasks_file` has the words
    of their tasks, unless they stand beside the outputs in a column `prompt`, or `without_task` says that nobody
    knows them. Judges are models of the study's own file, which is looked for here, or of the file `models`.
    `labels` says what columns of labels by people in the rows are about, such as `{"human": "verdict"}`. For the
    rest see `affidavit judge --help`; for event loops and Ctrl-C, `run_study`.
    """
    intake = outputs_in(
        source.directory if isinstance(source, Study) else path_of(source),
        out=None if out is None else path_of(out),
        pattern=pattern,
        tasks=None if tasks_file is None else path_of(tasks_file),
        without_task=without_task,
    )
    columns = label_columns_of(labels or {}, rater, rater_column, date_column)
    named = (names_in(judges), rubric, names_in(tasks), names_in(conditions))
    wanted = WantedTerms(*named, repeats, temperature, max_tokens, blind, without_task)
    file = models_for(intake.directory, None if models is None else path_of(models), wanted.judges)
    given = given_contracts(names_in(contracts), None if study_file is None else path_of(study_file))
    switch = StopSwitch()

    def judge(shown: RunProgress | None) -> judging_run.Judged:
        tell = None if shown is None else shown.tell_judging
        options = judging_run.JudgeOptions(retry_failed, tell, stop=switch, labels=columns)
        return judging_run.judge_outputs(intake, file, wanted, given, options)

    judged = _in_own_thread(judge, switch, progress=progress)
    _warn_of_open(judged.open, judged.stopped, "a judgement", "judge_study")
    return Study(judged.directory)


def _warn_of_open(left: int, stopped: str | None, lacking: str, again: str) -> None:
    if left or stopped:
        why = f" ({stopped})" if stopped else ""
        warnings.warn(f"{left:,} without {lacking}{why}; {again}() again goes on", stacklevel=4)


def _in_own_thread(work: Callable[[RunProgress | None], Given], switch: StopSwitch, *, progress: bool) -> Given:
    """What the work gives, done in a thread of its own: an event loop may be running in this one.

    An interrupt lets the work end in order, which takes seconds, and is raised then. A second one is raised at
    once, while the work ends behind it.
    """
    given: list[Given] = []
    raised: list[BaseException] = []
    ended = threading.Event()

    def whole() -> None:
        try:
            if progress:
                with RunProgress(sys.stderr) as shown:
                    given.append(work(shown))
            else:
                given.append(work(None))
        except BaseException as error:  # noqa: BLE001 - raised again where it was asked for
            raised.append(error)
        finally:
            ended.set()

    try:
        threading.Thread(target=whole, name="affidavit").start()
        _wait_for(ended)
    except KeyboardInterrupt:
        switch.stop("stopped by Ctrl-C")
        _wait_for(ended)
        raise
    if raised:
        raise raised[0]
    return given[0]


def _wait_for(event: threading.Event) -> None:
    # In short waits: one without an end is not always woken by an interrupt.
    while not event.wait(0.1):
        pass


# --- frames ---


@for_python
def read_frame(
    frame: object,
    contract: str | AnyContract,
    *,
    text: str = "raw_output",
    options: str | None = None,
    lenses: bool = False,
) -> Any:  # noqa: ANN401 - Polars or pandas, whichever came in
    """A contract over somebody's own frame: the columns that `affidavit read` adds to Parquet, after its own.

    `contract` is a name (mcqa, game24, "my_file.py:name" ...) or a contract; `text` is the column of
    outputs, null where none arrived; `options` is the option set of multiple choice, such as "A-E"; `lenses` adds
    the lenient readings. Right answers are looked for where the command looks: in `answer`, or in `numbers` and
    `target`. Polars comes back as a DataFrame, from a LazyFrame too; pandas as pandas, with its index.
    """
    asked = given_contract(contract, options)
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no part of the frame
        return frames.read_frame(frame, RowReader(asked, field=text, lenses=lenses))


# --- logs of other harnesses ---


@for_python
def audit(  # noqa: PLR0913 - the options of the command
    logs: Place | Iterable[Place],
    contract: str | AnyContract,
    *,
    options: str | None = None,
    answer: str = "answer",
    columns: Mapping[str, str] | None = None,
    answer_pattern: str | None = None,
    scorer: str | None = None,
    source_rule: str | None = None,
    moved: int = 20,
    skip_unreadable: bool = False,
) -> Results:
    """A second reading of other harnesses' logs: what `affidavit audit` shows, as tables.

    `contract` is a name or a contract, such as a `Pattern`. `columns` names those of plain tables by what they
    hold: `text`, `id`, `model`, `condition`, `task`, `prompt`, `sample`, `source_answer`, `source_correct`,
    `source_score`. For the rest see `affidavit audit --help`.
    """
    given, source_columns = roles_named(columns or {})
    paths = [logs] if isinstance(logs, str | os.PathLike) else list(logs)
    reads = given_contract(contract, options)
    terms = audit_terms(
        reads,
        options=options,
        scorer=scorer,
        source_rule=source_rule,
        columns=given if answer == ANSWER else {**given, Role.ANSWER: answer},
        source_columns=source_columns,
        answer_pattern=answer_pattern,
    )
    with redirect_stdout(sys.stderr):
        places = [path_of(each) for each in paths]
        unreadable = UnreadableLogs.among(places, skipped=skip_unreadable)
        readings = audited(places, terms, unreadable)
        return Results(audit_report(readings, ReadBy.of(reads), moved=moved, unreadable=unreadable))
