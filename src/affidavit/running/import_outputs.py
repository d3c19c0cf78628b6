"""Outputs that exist already, taken into a directory of their own, so that they can be judged like any others.

They are kept in the same journal as a study's: verbatim, with checksums and a seal. Taking the same outputs in
again changes nothing; others are refused. All are read and checked before the first is written.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from affidavit.archive.checked_lines import LONGEST_TEXT
from affidavit.archive.corruption import corrupt
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import STUDY
from affidavit.archive.provenance import git_state, versions
from affidavit.archive.record import Response
from affidavit.archive.regular_files import open_to_read, other_kind
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.judging.outputs import Imported, folder_rows, imported
from affidavit.judging.task_words import task_words
from affidavit.reading.source import file_source
from affidavit.reading.sources import rows_of
from affidavit.running.ledger import ImportLedger
from affidavit.running.manifest import manifest_page, write_manifest

_TEXTS = (".md", ".markdown", ".txt")


@dataclass(frozen=True)
class Intake:
    """What is to be judged: the outputs of a directory, or such as were read elsewhere and are kept in one."""

    directory: StudyDirectory
    name: str = ""
    """Of the study that outputs from elsewhere become."""
    taken: Imported | None = None
    """Outputs from elsewhere, read and checked; None where the directory has all that there is."""
    files: tuple[str, ...] = ()
    """What was read for it."""

    @property
    def is_new(self) -> bool:
        """Whether there are outputs that stand nowhere in the directory yet."""
        return self.taken is not None and not self.directory.is_study

    def check(self) -> Fields:
        """What is frozen of outputs from elsewhere; refused if the directory has others."""
        config = {} if self.taken is None else self.taken.facts(self.name).config()
        before = self.directory.frozen_or_none() if self.directory.is_study else None
        if self.taken is not None and before is not None and before.config != json.loads(json.dumps(config)):
            raise UsageError(
                str(self.directory),
                expected="the outputs that were taken in there",
                found="others",
                hint="Give other outputs, or other words of their tasks, a directory of their own with --out.",
            )
        return config

    @contextmanager
    def kept(self, disk: Disk) -> Iterator[StudyDirectory]:
        """The directory with all outputs in it, locked; if the block refuses something, new ones do not stay.

        Outputs that were never judged are no study yet: whoever mends what was wrong begins anew. What a disk
        refuses is left as a kill would leave it, to be gone on with.
        """
        with self.directory.made(disk):
            new = self.is_new
            try:
                self._keep(disk)
                yield self.directory
            except (UsageError, InputError):
                if new and self.directory.judging_fields() is None:
                    self.directory.take_back(disk)
                raise

    def _keep(self, disk: Disk) -> None:
        if self.taken is None:
            return
        config = self.check()
        if not self.directory.is_study:
            if self.directory.has_records:
                study = str(self.directory.path / STUDY)
                raise corrupt(study, "the study that the records belong to", "no such file")
            about: Fields = {"config": config, "versions": versions(), "git": git_state(Path.cwd())}
            self.directory.freeze(about, disk)
        _append(self.directory, self.name, self.taken, disk)


def outputs_in(
    source: Path,
    *,
    out: Path | None = None,
    pattern: str | None = None,
    tasks: Path | None = None,
    without_task: bool | None = None,
) -> Intake:
    """The outputs of a study's directory, or of a file or folder from elsewhere; nothing is written for it.

    `tasks` is a file with the words of the tasks that outputs from elsewhere answer.
    """
    if tasks is not None and without_task:
        hint = "Leave out one of the two."
        raise UsageError("--without-task", expected="no --tasks FILE beside it", found=str(tasks), hint=hint)
    if StudyDirectory(source).is_study:
        if out is not None:
            raise UsageError("--out", expected="no other directory for a study", found=str(out))
        if tasks is not None:
            hint = "Outputs get their tasks when they are taken in: name their file or folder, and another --out."
            expected = "no file of tasks for a study's directory, which holds the words as far as they are known"
            raise UsageError("--tasks", expected=expected, found=str(tasks), hint=hint)
        return Intake(StudyDirectory(source))
    if out is None:
        hint = "Or did you mean a study's directory?" if source.is_dir() else ""
        raise UsageError(str(source), expected="--out DIR, where the outputs are kept", found="none", hint=hint)
    directory = StudyDirectory(out)
    before = directory.frozen_or_none() if directory.is_study else None
    # The directory's name when outputs were first taken in, wherever it has gone since.
    name = out.resolve().name if before is None else before.name
    words = None if tasks is None else task_words((row.where, row.fields) for row in rows_of(file_source(tasks)))
    taken = imported(name, rows_in(source, pattern), words)
    intake = Intake(directory, name, taken, tuple(str(file) for file in (source, tasks) if file is not None))
    intake.check()
    return intake


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


def _append(directory: StudyDirectory, name: str, taken: Imported, disk: Disk) -> None:
    """Write whatever a run that was killed has not written yet."""
    archive, ledger, there = directory.archive(disk), ImportLedger(taken.facts(name).cells), set[str]()
    for line in archive.recover():
        if isinstance(line.record, Response):
            there.add(line.record.key)
            ledger.load(line.record)
    missing = [response for response in taken.responses if response.key not in there]
    for number, response in enumerate(missing, 1):
        archive.append(response)
        ledger.add(response)
        if number % 64 == 0:
            archive.commit()
    if missing or directory.seal() is None:
        write_manifest(directory.path, manifest_page(name, []), disk)
        archive.seal(ledger.counts())
