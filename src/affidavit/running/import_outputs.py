"""Outputs that exist already, taken into a directory of their own, so that they can be judged like any others.

They are kept in the same journal as a study's: verbatim, with checksums and a seal. Taking the same outputs in
again changes nothing; others are refused.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from affidavit.archive.checked_lines import LONGEST_TEXT
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.record import Response
from affidavit.archive.regular_files import open_to_read, other_kind
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.judging.outputs import ImportFacts, folder_rows, imported
from affidavit.reading.source import file_source
from affidavit.reading.sources import rows_of
from affidavit.running.ledger import ImportLedger
from affidavit.running.manifest import manifest_page, write_manifest

_TEXTS = (".md", ".markdown", ".txt")


def outputs_directory(source: Path, *, out: Path | None = None, pattern: str | None = None) -> StudyDirectory:
    """The study in a directory; outputs from elsewhere are taken into `out` first."""
    if StudyDirectory(source).is_study:
        if out is not None:
            raise UsageError("--out", expected="no other directory for a study", found=str(out))
        return StudyDirectory(source)
    if out is None:
        hint = "Or did you mean a study's directory?" if source.is_dir() else ""
        raise UsageError(str(source), expected="--out DIR, where the outputs are kept", found="none", hint=hint)
    take_in(StudyDirectory(out), rows_in(source, pattern), Disk())
    return StudyDirectory(out)


def rows_in(source: Path, pattern: str | None) -> Iterator[tuple[str, Fields]]:
    """Place and fields of every output of a file of rows, or of a folder of texts."""
    if source.is_dir():
        if pattern is None:
            hint = "For example --pattern '{question_id}/{prompt_variant}_{target_model}.md'."
            raise UsageError(str(source), expected="--pattern for a folder of texts", found="none", hint=hint)
        return folder_rows(_texts(source), pattern)
    return ((row.where, row.fields) for row in rows_of(file_source(source), _columns))


def _columns(cells: list[str]) -> list[str] | None:
    return cells if RAW_OUTPUT in cells else None


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in _below(folder):
        if path.suffix.lower() in _TEXTS:
            yield path.relative_to(folder).as_posix(), _read(path)


def _below(folder: Path) -> Iterator[Path]:
    """Everything below a folder that is no folder, in order; a link to a folder is not gone into."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            yield from _below(entry)
        else:
            yield entry


def _read(path: Path) -> str:
    if (found := other_kind(path)) is not None:
        hint = "A folder of texts is data, and nothing in it may lead elsewhere. Put a plain copy in its place."
        raise InputError(str(path), expected="a regular file", found=found, hint=hint)
    try:
        with storage_errors(str(path)), open_to_read(path) as stream:
            content = stream.read(LONGEST_TEXT + 1)
        if len(content) > LONGEST_TEXT:
            raise InputError(str(path), expected=f"at most {LONGEST_TEXT:,} bytes", found="more")
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(str(path), expected="text in UTF-8", found=str(error)) from error


def take_in(directory: StudyDirectory, rows: Iterator[tuple[str, Fields]], disk: Disk) -> None:
    """Keep outputs in a directory; the same ones are kept once."""
    with storage_errors(str(directory)):
        disk.make_directory(directory.path)
    with directory.locked():
        before = directory.frozen_or_none()
        # The directory's name when outputs were first taken in, wherever it has gone since.
        name = directory.path.resolve().name if before is None else before.name
        taken = imported(name, rows)
        facts = ImportFacts(name, taken.without_text)
        for response in taken.responses:
            facts.add(response)
        config = facts.config()
        if before is None:
            directory.freeze({"config": config, "versions": versions(), "git": git_state(Path.cwd())}, disk)
        elif before.config != json.loads(json.dumps(config)):
            raise UsageError(
                str(directory),
                expected="the outputs that were taken in there",
                found="others",
                hint="Give other outputs a directory of their own with --out.",
            )
        _append(directory, name, facts.cells, taken.responses, disk)


def _append(
    directory: StudyDirectory,
    name: str,
    cells: Counter[tuple[str, str, str]],
    responses: list[Response],
    disk: Disk,
) -> None:
    """Write whatever a run that was killed has not written yet."""
    archive, ledger, there = directory.archive(disk), ImportLedger(cells), set[str]()
    for line in archive.recover():
        if isinstance(line.record, Response):
            there.add(line.record.key)
            ledger.load(line.record)
    missing = [response for response in responses if response.key not in there]
    for number, response in enumerate(missing, 1):
        archive.append(response)
        ledger.add(response)
        if number % 64 == 0:
            archive.commit()
    if missing or directory.seal() is None:
        write_manifest(directory.path, manifest_page(name, []), disk)
        archive.seal(ledger.counts())
