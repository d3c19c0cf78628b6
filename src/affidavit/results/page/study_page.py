"""`report.html`: the page of a study's directory, gathered from it and written beside it.

A reader opens it first and can do without it: everything on it is made from the archive, and can be made again.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import polars as pl
from msgspec.structs import replace

from affidavit import __version__
from affidavit.archive.disk import Disk, new_file, storage_errors
from affidavit.archive.layout import PAGE
from affidavit.archive.record import ImportIdentity, Judgement, Record, Response
from affidavit.archive.study_directory import ImportedStudy, StudyDirectory
from affidavit.json_values import Fields, canonical
from affidavit.reading.output_columns import Role
from affidavit.results.counting import ITEM
from affidavit.results.page.content import Content, PageOptions
from affidavit.results.page.differences import compared
from affidavit.results.page.headline import Summary
from affidavit.results.page.overview import overview
from affidavit.results.page.samples import (
    FindingSamples,
    Sample,
    imported_samples,
    output_samples,
    raw_of,
    sampled,
)
from affidavit.results.page.setup_section import setup
from affidavit.results.page.study_facts import asked_of
from affidavit.results.page.summaries import sections
from affidavit.results.page.verification import commands, digests, notes
from affidavit.results.study_order import order_of
from affidavit.results.study_results import StudyResults
from affidavit.study.freezing import frozen_items

MOST_ITEMS, MOST_PROMPTED = 50_000, 10_000
"""Items, and rows from elsewhere, that are looked through for the questions of samples."""
DEFAULT = PageOptions()


class Page(NamedTuple):
    """Where the page is, and its headline."""

    path: Path
    warnings: Sequence[str]
    summaries: Sequence[Summary]


def write_page(directory: StudyDirectory, options: PageOptions = DEFAULT, *, out: Path | None = None) -> Page:
    """Write the page of a study; it is there whole, or not at all."""
    gathered, made = make_page(directory, options)
    summaries = [section.summary for section in gathered.sections]
    if out is None:
        path = directory.path / PAGE
        # In the directory a name that leads elsewhere is replaced, never followed.
        with storage_errors(str(path)):
            Disk().place(path, made)
        return Page(path, gathered.warnings, summaries)
    with new_file(out) as stream:
        stream.write(made)
    return Page(out, gathered.warnings, summaries)


def make_page(
    directory: StudyDirectory, options: PageOptions = DEFAULT, *, called: str | None = None
) -> tuple[Content, bytes]:
    """What is on the page of a study, and the page; `called` is the directory's name, where it had another."""
    from affidavit.results.page.html import page  # noqa: PLC0415 - it brings Jinja2

    gathered = content(directory, options, called=called)
    # Once more over all of it: names and words of judges are not outputs.
    return gathered, options.mask(page(gathered)).encode("utf-8", "backslashreplace")


def content(directory: StudyDirectory, options: PageOptions = DEFAULT, *, called: str | None = None) -> Content:
    """Everything that is on the page; outputs are masked before anything is cut or marked in them."""
    findings, mask = FindingSamples(), options.mask
    results = StudyResults(
        directory, options.by, cluster=options.cluster, watch=lambda record: findings.add(_masked(record, mask))
    )
    with ThreadPoolExecutor(1) as aside:
        # Both are mostly outside of Python's own lock: on two cores one hides behind the other.
        tested = aside.submit(compared, results)
        report = results.report(include_self=options.include_self)
    rows, kinds = sampled(results.records.outputs())
    rows = rows.with_columns(pl.col("raw_output", "raw_output_escaped", "unread").map_elements(mask, pl.String))
    name, differences = called or directory.path.resolve().name, tested.result()
    sealed, order = results.seal if results.sealed else None, order_of(results)
    with_accuracy = any(table.name == "accuracy" for table in report.tables)
    return Content(
        name=results.name,
        sealed=results.sealed,
        root_sha256=None if sealed is None else sealed.root_sha256,
        seal_sha256=None if sealed is None else sealed.sha256,
        by=results.records.by,
        asked=setup(results),
        overview=overview(asked_of(results)),
        warnings=report.warnings,
        sections=sections(results, report, differences, include_self=options.include_self),
        tables=[order.rows_of(table) for table in report.tables],
        comparisons={key: order.rows_of(table) for key, table in differences.controls.items()},
        models=None if differences.models is None else order.rows_of(differences.models),
        samples=_samples(results, rows),
        kinds=kinds,
        findings=list(
            findings.shown({key: mask(text) for key, text in _outputs(results, findings.judged_keys()).items()})
        ),
        notes=[*report.warnings, *report.notes, *notes(results, with_accuracy=with_accuracy)],
        digests=list(digests(results)),
        commands=list(commands(results, name, include_self=options.include_self)),
        trial=results.trial is not None,
        imported=results.study is None,
        made_of=_made_of(results, name, options),
    )


def _made_of(results: StudyResults, name: str, options: PageOptions) -> str:
    seal = results.seal if results.sealed else None
    made: Fields = {
        "affidavit": __version__,
        "directory": name,
        "by": list(results.records.by),
        "include_self": options.include_self,
        "masked": options.masked,
        **({} if results.records.cluster == ITEM else {"cluster": results.records.cluster_name}),
        **({} if options.samples == DEFAULT.samples else {"samples": options.samples}),
        **({"every": True} if options.every else {}),
        "seal_sha256": None if seal is None else seal.sha256,
    }
    return canonical(made).decode()


def _masked(record: Record, mask: Callable[[str], str]) -> Record:
    return replace(record, raw_output=mask(record.raw_output)) if isinstance(record, Judgement) else record


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
