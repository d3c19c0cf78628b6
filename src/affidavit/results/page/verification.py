"""How figures were made, and how to check them: notes, digests, and what to type."""

import shlex
from collections.abc import Iterator

import polars as pl

from affidavit.contracts.own_file import is_in_file
from affidavit.plain_text import counted_noun
from affidavit.results.counting import ITEM
from affidavit.results.groups import CELL
from affidavit.results.page.differences import compared_conditions
from affidavit.results.study_results import StudyResults


def notes(results: StudyResults, *, with_accuracy: bool) -> Iterator[str]:
    """What a reader of the figures should know of how they were made."""
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
    if (left_out := len(results.controls) - len(compared_conditions(results))) > 0:
        yield f"{left_out} more conditions are not compared here, as the study is large; use affidavit compare."


def _rows_of_items(results: StudyResults) -> str:
    """How many rows outputs from elsewhere have of one item: not all need to have as many."""
    counts = results.records.outputs().group_by([*CELL, ITEM]).agg(rows=pl.len()).select("rows")
    least, most = counts.select(pl.min("rows").alias("least"), pl.max("rows").alias("most")).collect().row(0)
    rows = counted_noun(most, "row") if least == most else f"{least:,} to {counted_noun(most, 'row')}"
    return f"An item has {rows} of one model under one condition."


def digests(results: StudyResults) -> Iterator[tuple[str, str]]:
    """Of what a digest is, and the digest."""
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


def commands(results: StudyResults, name: str, *, include_self: bool) -> Iterator[tuple[str, str]]:
    """What each command is for, and what to type."""
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
