"""`report.html`: the page of a study's directory, gathered from it and written beside it.

A reader opens it first and can do without it: everything on it is made from the archive, and can be made again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from msgspec.structs import replace

from affidavit import __version__
from affidavit.archive.disk import Disk, new_file, storage_errors
from affidavit.archive.layout import PAGE
from affidavit.archive.record import Judgement, Record
from affidavit.archive.study_directory import StudyDirectory
from affidavit.json_values import Fields, canonical
from affidavit.results.counting import ITEM
from affidavit.results.page.asked_texts import asked_texts
from affidavit.results.page.chosen_outputs import chosen_outputs, every_output
from affidavit.results.page.content import Content, PageOptions
from affidavit.results.page.differences import compared
from affidavit.results.page.headline import Summary
from affidavit.results.page.judge_samples import FindingSamples
from affidavit.results.page.overview import overview
from affidavit.results.page.samples import Asked, Sample, Shower, raw_of
from affidavit.results.page.setup_section import setup
from affidavit.results.page.study_facts import asked_of
from affidavit.results.page.summaries import sections
from affidavit.results.page.verification import commands, digests, notes
from affidavit.results.study_order import order_of
from affidavit.results.study_results import StudyResults

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
    shown = _shown_outputs(results, options)
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
        samples=shown.samples,
        kinds=shown.kinds,
        every=shown.every,
        per_kind=options.samples,
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


class _Shown(NamedTuple):
    """The outputs that are shown."""

    samples: Sequence[Sample]
    kinds: int
    every: Sequence[Sample]
    """All of them, where that was asked for."""


def _shown_outputs(results: StudyResults, options: PageOptions) -> _Shown:
    if not options.samples and not options.every:
        return _Shown((), 0, ())
    outputs, parts, texts = results.records.outputs(), results.records.parts, results.records.shown_options
    reader = Shower(parts, lambda row: Asked(""), texts)
    chosen = chosen_outputs(outputs, options.samples, lenient=reader.is_right_by_lenient_reading)
    rows = _masked_rows(chosen.rows, options)
    every = _masked_rows(every_output(outputs), options) if options.every else []
    asked = asked_texts(results, [*rows, *every])
    shower, whole = (Shower(parts, asked, texts, whole=whole) for whole in (False, True))
    return _Shown(list(shower.samples(rows)), chosen.kinds, list(whole.samples(every)))


def _masked_rows(rows: pl.DataFrame, options: PageOptions) -> list[dict[str, Any]]:
    if options.masked:
        texts = pl.col("raw_output", "raw_output_escaped", "unread")
        rows = rows.with_columns(texts.map_elements(options.mask, pl.String))
    return rows.rows(named=True)


def _outputs(results: StudyResults, keys: Sequence[str]) -> dict[str, str]:
    """The outputs of these keys."""
    if not keys:
        return {}
    columns = ["key", "raw_output", "raw_output_escaped"]
    found = results.records.outputs().filter(pl.col("key").is_in(keys)).select(columns).collect(engine="streaming")
    return {row["key"]: raw_of(row) for row in found.iter_rows(named=True)}
