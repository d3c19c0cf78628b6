"""Outputs that exist already, taken into a directory of their own, so that they can be judged like any others.

They are kept in the same journal as a study's: verbatim, with checksums and a seal. Taking the same outputs in
again changes nothing; others are refused.
"""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from affidavit.archive.disk import Disk, told
from affidavit.archive.journal import Archive
from affidavit.archive.lock import locked
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.record import checked_line
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields, digest
from affidavit.judging.outputs import folder_rows, imported
from affidavit.reading.jsonl import decode_row
from affidavit.running.ledger import ImportedStanding, is_judgement
from affidavit.running.manifest import manifest_page, write_manifest
from affidavit.study.freezing import STUDY, read_frozen

_TEXTS = (".md", ".markdown", ".txt")


def rows_in(source: Path, pattern: str | None) -> Iterator[tuple[str, Fields]]:
    """Place and fields of every output of a file (JSON Lines, CSV, Parquet), or of a folder of texts."""
    if source.is_dir():
        if pattern is None:
            hint = "For example --pattern '{question_id}/{prompt_variant}_{target_model}.md'."
            raise UsageError(str(source), expected="--pattern for a folder of texts", found="none", hint=hint)
        return folder_rows(_texts(source), pattern)
    if not source.is_file():
        raise InputError(str(source), expected="a study, a file of outputs or a folder of texts", found="neither")
    kinds = {".csv": _csv_rows, ".parquet": _parquet_rows, ".pq": _parquet_rows}
    return kinds.get(source.suffix.lower(), _json_rows)(source)


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _TEXTS and path.is_file():
            yield path.relative_to(folder).as_posix(), _read(path)


def _read(path: Path) -> str:
    try:
        with told(str(path)):
            return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(str(path), expected="text in UTF-8", found=str(error)) from error


def _json_rows(path: Path) -> Iterator[tuple[str, Fields]]:
    for number, line in enumerate(_read(path).removeprefix("\ufeff").split("\n"), 1):
        if line.strip():
            yield f"{path}:{number}", decode_row(line, where=f"{path}:{number}")


def _csv_rows(path: Path) -> Iterator[tuple[str, Fields]]:
    # Lines end at line feeds alone; whatever else a text holds is its own, and it may be long.
    lines = _read(path).removeprefix("\ufeff").split("\n")
    csv.field_size_limit(sys.maxsize)
    reader = csv.DictReader((f"{line}\n" for line in lines), strict=True)
    try:
        for number, row in enumerate(reader, 1):
            where = f"{path}:row {number}"
            if None in row or None in row.values():
                raise InputError(where, expected=f"{len(reader.fieldnames or ())} cells", found="more or fewer")
            yield where, dict(row)
    except csv.Error as error:
        raise InputError(str(path), expected="CSV", found=str(error)) from error


def _parquet_rows(path: Path) -> Iterator[tuple[str, Fields]]:
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(str(path), expected="Parquet", found=str(error).partition("\n")[0]) from error
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        yield f"{path}:row {number}", row


def take_in(directory: Path, rows: Iterator[tuple[str, Fields]], disk: Disk) -> None:
    """Keep outputs in a directory; the same ones are kept once."""
    with told(str(directory)):
        disk.make_directory(directory)
    with locked(directory):
        before = read_frozen(directory)
        name = _name(directory, before)
        taken = imported(name, rows)
        named = [(record["task"], record["model"], record["condition"]) for record in taken.records]
        config: Fields = {
            "name": name,
            "seed": 0,
            "models": {target: {"identity": target} for target in sorted(taken.targets)},
            "imported": {
                "sha256": digest(sorted(str(digest(record)) for record in taken.records)),
                "cells": [[*cell, count] for cell, count in sorted(Counter(named).items())],
            },
            "not_arrived": [each._asdict() for each in taken.not_arrived],
        }
        if before is None:
            content = {
                "kind": "study",
                "v": 1,
                "config": config,
                "versions": versions(),
                "git": git_state(Path.cwd()),
            }
            with told(str(directory / STUDY)):
                disk.place(directory / STUDY, checked_line(content))
        elif before["config"] != json.loads(json.dumps(config)):
            raise UsageError(
                str(directory),
                expected="the outputs that were taken in there",
                found="others",
                hint="Give other outputs a directory of their own with --out.",
            )
        _append(directory, config, taken.records, disk)


def _name(directory: Path, before: Fields | None) -> str:
    """The directory's name when outputs were first taken in, wherever it has gone since."""
    config = None if before is None else before["config"]
    return str(config["name"]) if isinstance(config, dict) else directory.resolve().name


def _append(directory: Path, config: Fields, records: list[Fields], disk: Disk) -> None:
    """Write whatever a run that was killed has not written yet."""
    archive, standing, there = Archive(directory, disk), ImportedStanding(config), set[str]()
    for record in archive.recover():
        there.add(str(record["key"]))
        if not is_judgement(record):
            standing.load(record)
    missing = [record for record in records if record["key"] not in there]
    for number, record in enumerate(missing, 1):
        archive.append(record)
        standing.add(record)
        if number % 64 == 0:
            archive.commit()
    if missing:
        write_manifest(directory, manifest_page(str(config["name"]), []), disk)
        archive.seal(standing.counts())


def is_study(path: Path) -> bool:
    """Whether a path is a directory in which a study, or outputs, are kept."""
    return (path / STUDY).is_file()
