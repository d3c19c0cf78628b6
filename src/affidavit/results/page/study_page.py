"""`report.html`: the page of a study's directory, gathered from it and written beside it.

A reader opens it first and can do without it: everything on it is made from the archive, and can be made again.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import NamedTuple

import polars as pl
from msgspec.structs import replace

from affidavit import __version__
from affidavit.archive.disk import Disk, new_file, storage_errors
from affidavit.archive.layout import PAGE
from affidavit.archive.record import ImportIdentity, Judgement, Record, Response
from affidavit.archive.study_directory import ImportedStudy, StudyDirectory
from affidavit.contracts.evaluation import JudgingMethod
from affidavit.contracts.frozen_contract import frozen_contract
from affidavit.contracts.own_file import GivenContracts, is_in_file
from affidavit.json_values import Fields, canonical, digest
from affidavit.plain_text import counted_noun
from affidavit.reading.output_columns import Role
from affidavit.reading.summary import rows_and_outputs
from affidavit.results.caveats import said_first, trial_note
from affidavit.results.comparison import Side, as_one_family, pair_sides
from affidavit.results.counting import ITEM
from affidavit.results.groups import CELL
from affidavit.results.page.content import AskedSection, Content, Prompt
from affidavit.results.page.headline import Answer, headline
from affidavit.results.page.samples import (
    FindingSamples,
    Sample,
    imported_samples,
    output_samples,
    raw_of,
    sampled,
)
from affidavit.results.page.text import brief
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.study.crossing import condition_of
from affidavit.study.freezing import examples_from_frozen, frozen_items
from affidavit.study.prompt import template
from affidavit.study.study_file import requests_of

MOST_JUDGES = 8
MOST_ITEMS, MOST_PROMPTED, MOST_PROMPTS, MOST_COMPARED, LARGE = 50_000, 10_000, 60, 4, 200_000
"""Items, and rows from elsewhere, that are looked through for the questions of samples; prompts that are shown;
conditions that are compared with their control from so many questions on."""


class Page(NamedTuple):
    """Where the page is, and its headline."""

    path: Path
    answers: Sequence[Answer]


Mask = Callable[[str], str]
"""Covers what must not be shown in a text, which stays as long as it is."""


def write_page(  # noqa: PLR0913 - whose page, and how it is grouped and shown
    directory: StudyDirectory,
    *,
    by: Sequence[str] = CELL,
    cluster: str | None = None,
    include_self: bool = False,
    out: Path | None = None,
    mask: Mask = str,
) -> Page:
    """Write the page of a study; it is there whole, or not at all."""
    gathered, made = make_page(directory, by=by, cluster=cluster, include_self=include_self, mask=mask)
    if out is None:
        path = directory.path / PAGE
        # In the directory a name that leads elsewhere is replaced, never followed.
        with storage_errors(str(path)):
            Disk().place(path, made)
        return Page(path, gathered.answers)
    with new_file(out) as stream:
        stream.write(made)
    return Page(out, gathered.answers)


def make_page(  # noqa: PLR0913 - whose page, and how it is grouped and shown
    directory: StudyDirectory,
    *,
    by: Sequence[str] = CELL,
    cluster: str | None = None,
    include_self: bool = False,
    called: str | None = None,
    mask: Mask = str,
) -> tuple[Content, bytes]:
    """What is on the page of a study, and the page; `called` is the directory's name, where it had another."""
    from affidavit.results.page.html import page  # noqa: PLC0415 - it brings Jinja2

    gathered = content(directory, by=by, cluster=cluster, include_self=include_self, called=called, mask=mask)
    # Once more over all of it: names and words of judges are not outputs.
    return gathered, mask(page(gathered)).encode("utf-8", "backslashreplace")


def content(  # noqa: PLR0913 - whose page, and how it is grouped and shown
    directory: StudyDirectory,
    *,
    by: Sequence[str] = CELL,
    cluster: str | None = None,
    include_self: bool = False,
    called: str | None = None,
    mask: Mask = str,
) -> Content:
    """Everything that is on the page; outputs are masked before anything is cut or marked in them."""
    findings = FindingSamples()
    results = StudyResults(
        directory, by, cluster=cluster, watch=lambda record: findings.add(_masked(record, mask))
    )
    with ThreadPoolExecutor(1) as aside:
        # Both are mostly outside of Python's own lock: on two cores one hides behind the other.
        comparisons = aside.submit(_comparisons, results)
        report = results.report(include_self=include_self)
    tables = {table.name: table for table in report.tables}
    rows, kinds = sampled(results.records.outputs())
    rows = rows.with_columns(pl.col("raw_output", "raw_output_escaped", "unread").map_elements(mask, pl.String))
    asked, name = _asked(results), called or directory.path.resolve().name
    return Content(
        name=results.name,
        sealed=results.sealed,
        root_sha256=results.seal.root_sha256 if results.sealed and results.seal is not None else None,
        seal_sha256=results.seal.sha256 if results.sealed and results.seal is not None else None,
        by=results.records.by,
        asked=asked,
        answers=_warned(headline(tables, results.records.by), report.warnings),
        tables=report.tables,
        comparisons=comparisons.result(),
        samples=_samples(results, rows),
        kinds=kinds,
        findings=list(
            findings.shown({key: mask(text) for key, text in _outputs(results, findings.judged_keys()).items()})
        ),
        notes=[*report.warnings, *report.notes, *_notes(results, with_accuracy="accuracy" in tables)],
        digests=list(_digests(results)),
        commands=list(_commands(results, name, include_self=include_self)),
        trial=results.trial is not None,
        imported=results.study is None,
        made_of=_made_of(results, name, include_self=include_self, masked=mask is not str),
    )


def _warned(answers: Sequence[Answer], warnings: Sequence[str]) -> list[Answer]:
    """The headline, whose first sentence is what must be known before any figure."""
    first, *others = answers
    return [first._replace(answer=said_first(warnings, first.answer)), *others]


def _made_of(results: StudyResults, name: str, *, include_self: bool, masked: bool) -> str:
    seal = results.seal if results.sealed else None
    made: Fields = {
        "affidavit": __version__,
        "directory": name,
        "by": list(results.records.by),
        "include_self": include_self,
        "masked": masked,
        **({} if results.records.cluster == ITEM else {"cluster": results.records.cluster_name}),
        "seal_sha256": None if seal is None else seal.sha256,
    }
    return canonical(made).decode()


def _masked(record: Record, mask: Mask) -> Record:
    return replace(record, raw_output=mask(record.raw_output)) if isinstance(record, Judgement) else record


# --- what was asked ---


def _asked(results: StudyResults) -> AskedSection:
    tables = list(_asked_tables(results))
    sizes = {table.name: len(table.rows) for table in tables}
    planned = int(results.records.planned["planned"].sum())
    conditions = len(results.records.planned["condition"].unique())
    parts = (
        counted_noun(sizes["models"], "model"),
        f"{counted_noun(sizes['tasks'], 'task')} under {counted_noun(conditions, 'condition')}",
        f"{counted_noun(planned, 'question')} planned",
    )
    judged = results.judging
    summary = (
        f"{', '.join(parts)}."
        if results.study is not None
        else f"{rows_and_outputs(planned, results.records.coded.frame['failure'].null_count())} made elsewhere."
    )
    if judged is not None:
        judges = ", ".join(brief(each.name, 40) for each in judged.judges[:MOST_JUDGES])
        more = " and others" if len(judged.judges) > MOST_JUDGES else ""
        outputs = counted_noun(len(judged.terms.outputs), "output")
        summary += f" {outputs} judged by {counted_noun(len(judged.judges), 'judge')}: {judges}{more}."
    prompts = list(_prompts(results))
    note = ""
    if len(prompts) > MOST_PROMPTS:
        note = f"{MOST_PROMPTS} of {len(prompts):,} prompts are shown; used_prompt_manifest.md holds all."
    elif results.study is None:
        note = "The outputs were made elsewhere: which prompts they answer is known only as far as their rows say."
        if judged is not None:
            note += " used_prompt_manifest.md holds the prompts of the judges."
    summary = said_first(trial_note(results.trial), summary)
    return AskedSection(summary, tables, prompts[:MOST_PROMPTS], note)


def _asked_tables(results: StudyResults) -> Iterator[Table]:
    config, counts = results.config, results.counts
    study = results.study
    named = config["models"].items()
    if study is None:
        yield Table("models", "Models", ("model",), tuple((name,) for name, _ in named), "")
    else:
        models = tuple((name, str(each.get("model", name)), str(each.get("flavour", ""))) for name, each in named)
        yield Table("models", "Models", ("model", "name at its server", "kind"), models, "")
    if requests := tuple(_requests(results)):
        columns = "who is asked", "as", "setting", "value"
        yield Table("requests", "Settings of every request", columns, requests, "")
    described = config["contracts"]
    if study is None:
        yield from _imported_tables(results)
        return
    tasks = tuple(
        (
            name, str(described[name]["contract"]), _settings(described[name]["params"]), counts.get(name, 0),
            each.option_order if results.records.parts[name].shows_options else "",
        )
        for name, each in study.tasks.items()
    )  # fmt: skip
    yield Table("tasks", "Tasks", ("task", "contract", "parameters", "items", "order of options"), tasks, "")
    conditions = tuple(
        (
            name,
            each.control or "–",
            each.paradigm or "–",
            "yes" if each.constrained else "no",
            each.preamble,
            each.system,
        )
        for name, each in study.conditions.items()
        if name in set(results.records.planned["condition"])
    )
    if conditions:
        shown = ("condition", "control", "paradigm", "constrained decoding", "preamble", "system")
        yield Table("conditions", "Conditions", shown, conditions, "")
    decoding = tuple((name, str(value)) for name, value in config["decoding"].items())
    yield Table("decoding", "Decoding", ("setting", "value"), decoding, "")


def _imported_tables(results: StudyResults) -> Iterator[Table]:
    """What is known of outputs from elsewhere: by which contract they were read, and from which columns."""
    planned = results.records.planned.group_by("task").agg(pl.col("planned").sum()).sort("task")
    sizes, described = dict(planned.select("task", "planned").iter_rows()), results.config["contracts"]
    tasks = tuple(
        (name, str(each["contract"]), _settings(each["params"]), sizes.get(name, 0))
        for name, each in described.items()
    )
    yield Table("tasks", "Tasks", ("task", "contract", "parameters", "rows"), tasks, "")
    columns = tuple((name, str(role)) for role, name in results.config["columns"].items())
    yield Table("columns", "Columns of the rows", ("column", "taken as"), columns, "")
    files = results.frozen.files if isinstance(results.frozen, ImportedStudy) else ()
    if files:
        named = tuple((file.name, file.sha256) for file in files)
        yield Table("files", "Files that were read", ("file", "sha256"), named, "")


def _requests(results: StudyResults) -> Iterator[tuple[str, ...]]:
    """What was really sent with every request (ruling C9), to models and to judges."""
    asked = {} if results.study is None else requests_of(results.study)
    for who, merged in asked.items():
        yield from ((who, "model", name, str(value)) for name, value in merged.items())
    for judge in () if results.judging is None else results.judging.judges:
        yield from ((judge.name, "judge", name, str(value)) for name, value in judge.request.items())


def _settings(value: object) -> str:
    """Parameters as a study file would have them.

    >>> _settings({"marker": "####", "sign": True, "labels": ["a", "b"]})
    'marker = "####", sign = true, labels = ["a", "b"]'
    """
    if not isinstance(value, Mapping) or not value:
        return "–"
    return ", ".join(f"{name} = {json.dumps(each, ensure_ascii=False)}" for name, each in value.items())


def _prompts(results: StudyResults) -> Iterator[Prompt]:
    """The words of every task and condition; a contract of the user's own is code, and is not run for a page."""
    study = results.study
    if study is None:
        return
    examples = examples_from_frozen(results.config)
    cells = dict.fromkeys((row["task"], row["condition"]) for row in results.records.planned.iter_rows(named=True))
    for task, condition in cells:
        if is_in_file(study.tasks[task].contract):
            turns = [("prompt", "The contract is the study's own code; see used_prompt_manifest.md.")]
            yield Prompt(task, condition, turns, None)
            continue
        table, described = study.tasks[task], results.config["contracts"][task]
        contract = frozen_contract(table.contract, table.options, described, GivenContracts())
        said = template(
            condition_of(study, task, condition), contract, examples=examples.get((task, condition), ())
        )
        yield Prompt(task, condition, [(turn["role"], turn["content"]) for turn in said], digest(said))
    judged = results.judging
    if judged is not None:
        for method in JudgingMethod:
            said = judged.terms.template(method)
            yield Prompt("judging", method.value, [(t["role"], t["content"]) for t in said], digest(said))


# --- differences ---

_COMPARED = ["kind", "judge", *CELL, "item_id", "protocol_compliant", "correct", "keyed"]
_NAMES = pl.col("task", "model", "item_id").cast(pl.Categorical)
"""What is grouped and joined by, as numbers."""


def _compared_conditions(results: StudyResults) -> dict[str, str]:
    """Conditions with their controls, as many as a page can wait for: of a large study, a few."""
    large = int(results.records.planned["planned"].sum()) >= LARGE
    return dict(list(results.controls.items())[: MOST_COMPARED if large else None])


def _comparisons(results: StudyResults) -> dict[str, Table]:
    """Each condition against its control, in the cells that both have; all of them are one family (ruling S3)."""
    if not results.controls:
        return {}
    # Each side is gone through several times: once from the disk is enough.
    pairs = _compared_conditions(results)
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
    return {name: dataclass_replace(table, notes=(*table.notes, *alone[name])) for name, table in tables.items()}


# --- samples ---


def _samples(results: StudyResults, rows: pl.DataFrame) -> list[Sample]:
    if isinstance(results.frozen, ImportedStudy):
        prompts = _prompts_of_rows(results, set(rows["key"]))
        return list(imported_samples(rows, prompts, results.records.parts))
    wanted = set(zip(rows["task"], rows["item_id"], strict=True))
    items: dict[tuple[str, str], Mapping[str, object]] = {}
    if wanted and sum(results.counts.values()) <= MOST_ITEMS:
        for task, item in frozen_items(results.directory):
            if (task, item.id) in wanted:
                items[task, item.id] = item.fields
                if len(items) == len(wanted):
                    break
    arranged = [] if results.study is None else [
        name for name, task in results.study.tasks.items() if task.option_order != "as_given"
    ]  # fmt: skip
    return list(output_samples(rows, items, results.records.parts, arranged))


def _prompts_of_rows(results: StudyResults, keys: set[str]) -> dict[str, str]:
    """The prompts of these rows, as far as they have one; of a large import none is looked for."""
    large = int(results.records.planned["planned"].sum()) > MOST_PROMPTED
    if large or Role.PROMPT not in results.config["columns"]:
        return {}
    found: dict[str, str] = {}
    for record in results.directory.records():
        if not isinstance(record, Response) or record.key not in keys:
            continue
        if isinstance(record.subject, ImportIdentity) and record.subject.prompt:
            found[record.key] = record.subject.prompt
        if len(found) == len(keys):
            break
    return found


def _outputs(results: StudyResults, keys: Sequence[str]) -> dict[str, str]:
    """The outputs of these keys."""
    if not keys:
        return {}
    columns = ["key", "raw_output", "raw_output_escaped"]
    found = results.records.outputs().filter(pl.col("key").is_in(keys)).select(columns).collect(engine="streaming")
    return {row["key"]: raw_of(row) for row in found.iter_rows(named=True)}


# --- method, digests, commands ---


def _notes(results: StudyResults, *, with_accuracy: bool) -> Iterator[str]:
    if with_accuracy:
        yield (
            "Accuracy over answers counts outputs that hold an answer and whose right answer is known; accuracy "
            "over all outputs counts all that arrived and whose right answer is known, one without an answer and "
            "one that could not be read as not right."
        )
    shares = "All other shares" if with_accuracy else "Shares"
    yield f"{shares} are over outputs that were read: unread, failed and pending ones are counted apart."
    if results.samples > 1:
        imported = results.study is None
        yield _rows_of_items(results) if imported else f"Every question was asked {results.samples} times."
    if results.controls:
        yield (
            "Differences are paired by item; p-values are adjusted by Holm over all differences of the page, and "
            "each interval is at the level that its verdict used."
        )
    if (left_out := len(results.controls) - len(_compared_conditions(results))) > 0:
        yield f"{left_out} more conditions are not compared here, as the study is large; use affidavit compare."


def _rows_of_items(results: StudyResults) -> str:
    """How many rows outputs from elsewhere have of one item: not all need to have as many."""
    counts = results.records.outputs().group_by([*CELL, ITEM]).agg(rows=pl.len()).select("rows")
    least, most = counts.select(pl.min("rows").alias("least"), pl.max("rows").alias("most")).collect().row(0)
    rows = counted_noun(most, "row") if least == most else f"{least:,} to {counted_noun(most, 'row')}"
    return f"An item has {rows} of one model under one condition."


def _digests(results: StudyResults) -> Iterator[tuple[str, str]]:
    if results.seal is not None:
        yield "seal.json", results.seal.sha256
        covered = "all records" if results.sealed else "records sealed before"
        yield f"{covered}, by key (root)", results.seal.root_sha256
        for name, file in results.seal.files.items():
            yield name, file.sha256
        for segment in results.seal.segments[:50]:
            yield f"records/{segment.name}, {segment.records} records", segment.sha256
        if len(results.seal.segments) > 50:
            yield "further segments", f"{len(results.seal.segments) - 50} more, in seal.json"
    judged = results.judging
    if judged is not None:
        yield "terms of the judging", judged.terms.digest
        yield "rubric", judged.terms.rubric.sha256()
    for name, value in (results.config.get("weights") or {}).items():
        yield f"weights of {name}", str(value)
    versions = results.frozen.versions
    yield "versions", ", ".join(f"{name} {value}" for name, value in versions.items() if value) or "unknown"
    git = results.frozen.git
    if git is not None:
        yield (
            "commit of the study's repository",
            f"{git['commit']}{', with uncommitted changes' if git['changed'] else ''}",
        )


def _commands(results: StudyResults, name: str, *, include_self: bool) -> Iterator[tuple[str, str]]:
    options = [] if results.records.by == CELL else ["--by", ",".join(results.records.by)]
    options += [] if results.records.cluster == ITEM else ["--cluster", results.records.cluster_name]
    report = ["affidavit", "report", name, *options, *(["--include-self"] if include_self else [])]
    contracts = [str(task["contract"]) for task in results.config["tasks"].values()]
    own = ["--study", "STUDY.toml"] if any(map(is_in_file, contracts)) else []
    if own and results.study is None:
        own = [part for name in dict.fromkeys(contracts) for part in ("--contract", name)]
    yield "Verify every checksum, and read every output again", shlex.join(["affidavit", "verify", name, *own])
    yield "Find the record of a sample by its key", f"grep -h KEY {shlex.quote(name)}/records/*.jsonl"
    yield "Write this page again", shlex.join(report)
    yield (
        "Every table in full, as Markdown, JSON or CSV",
        "\n".join(shlex.join([*report, "--format", form]) for form in ("md", "json", "csv")),
    )
    for condition, control in list(results.controls.items())[:1]:
        sides = [f"{name}@condition={each}" for each in (control, condition)]
        yield "Compare two conditions", shlex.join(["affidavit", "compare", *sides])
    if results.study is not None:
        again = [
            shlex.join(["affidavit", "run", "STUDY.toml", "--out", f"{name}-again"]),
            shlex.join(["affidavit", "compare", name, f"{name}-again"]),
        ]
        yield "Run the study again, and compare the two", "\n".join(again)
