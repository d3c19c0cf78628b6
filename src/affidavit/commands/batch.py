"""`affidavit batch`: open requests as files for a batch service, and its answers back into the study."""

import gc
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from affidavit.commands.batch_words import exported_json, say_exported
from affidavit.commands.exit_codes import DONE, ENDED_WITH_FAILURES
from affidavit.commands.given_code import code_options, contract_options
from affidavit.errors import UsageError
from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.json_values import Fields
    from affidavit.results.judging import Judgements
    from affidavit.running.batch_import import Imported

_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}


class Bytes(click.ParamType[int]):
    """A number of bytes, as a person writes it."""

    name = "SIZE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; 1 MB is a million."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]{1,12})\s*([kmg]?b)?", str(value).strip().lower())
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no size: write 200MB, or a number of bytes.", param, ctx)
        return int(found[1]) * _UNITS[found[2] if found[2] not in (None, "b") else ""]


@click.group(no_args_is_help=True)
def batch() -> None:
    """Ask by batch: files of requests, and their answers.

    A batch service answers files of requests within a day, often at half the price; `vllm run-batch` answers them
    without a server. `export` writes what a run would ask now, `import` takes the answers in, and `run` asks
    whatever is left. A study may be answered in both ways: its records and its root digest are the same.

    \b
    Examples:
      affidavit batch export study.toml
      affidavit batch import capitals answers.jsonl errors.jsonl

    \b
    Exit codes: 0 done; 2 something asked for is wrong; 4 some samples failed or are pending;
    5 the disk refused or the archive is broken; 6 another run holds the directory.
    """


@batch.command("export", no_args_is_help=True)
@click.argument("source", metavar="STUDY", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where the files are written: a folder that is not there yet; NAME-batch unless given.",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="With a study file: the study's directory; ./<study name> unless given.",
)
@click.option("--model", "models", multiple=True, help="Export this model only; may be given more than once.")
@click.option("--retry-failed", is_flag=True, help="Also export what failed permanently, such as bad_request.")
@click.option(
    "--max-requests",
    type=click.IntRange(min=1),
    default=50_000,
    show_default=True,
    metavar="N",
    help="Requests in one file.",
)
@click.option("--max-bytes", type=Bytes(), default="200MB", show_default=True, help="Bytes of one file.")
@click.option(
    "--url",
    default="/v1/chat/completions",
    show_default=True,
    metavar="PATH",
    help="The endpoint that every line names; some services want another.",
)
@contract_options
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def export(
    source: Path,
    folder: Path | None,
    directory: Path | None,
    models: tuple[str, ...],
    max_requests: int,
    max_bytes: int,
    url: str,
    contracts: tuple[str, ...],
    study: Path | None,
    *,
    retry_failed: bool,
    as_json: bool,
) -> None:
    """Write the open requests as batch files.

    STUDY is a study file, whose plan is made and frozen as by `run`, or the directory of a study. Written is what
    a run would ask now: the request as it would be sent, with the key of the question as its custom_id. Only
    models behind a base_url can wait in a file; others are left to `run`. Once all outputs of a study with judges
    are there, it is what the judges are to be asked.

    \b
    Examples:
      affidavit batch export study.toml
      affidavit batch export capitals -o again --max-requests 10000

    \b
    Exit codes: 0 done; 2 the study is wrong, or no model takes batches; 5 the disk refused
    or the archive is broken; 6 another run holds the directory.
    """
    gc.set_threshold(10_000, 20, 50)
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.output import show
    from affidavit.models.batch_files import BatchShape
    from affidavit.running.batch_export import ExportOptions, export_directory, export_study
    from affidavit.study.files import given_contracts, load

    options = ExportOptions(folder, models, retry_failed, BatchShape(max_requests, max_bytes, url), _note)
    code = code_options(contracts, study)
    if source.is_dir() and directory is not None:
        raise UsageError(
            "--directory", expected="it beside a study file alone", found=f"the directory {source}, too"
        )
    with redirect_stdout(sys.stderr):  # whatever a contract of the user's own prints is no result
        if source.is_dir():
            exported = export_directory(StudyDirectory(source), given_contracts(contracts, study), options)
        else:
            files = load(source)
            code = code_options(study=files.own_code)
            exported = export_study(files, directory, options)
    if as_json:
        show(exported_json(exported))
    else:
        say_exported(exported, code)
    sys.exit(DONE)


def _note(line: str) -> None:
    click.echo(f"note: {plain_lines(line)}", err=True)


@batch.command("import", no_args_is_help=True)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("answers", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@contract_options
@click.option("--json", "as_json", is_flag=True, help="Print what came of it as JSON.")
def import_batch(
    directory: Path, answers: tuple[Path, ...], contracts: tuple[str, ...], study: Path | None, *, as_json: bool
) -> None:
    """Take the answers of a batch into the study.

    DIR is the study's directory, FILE are the files that the batch service wrote: those of answers and those of
    errors, in any order, whole or cut off. Answers are found by their custom_id and kept as a live run keeps them.
    An error is a failure and no answer; one that may pass stays open for `run`. An answer that is on the record is
    never replaced; of several to one question the first counts. It can be stopped and given again at any time.

    \b
    Examples:
      affidavit batch import capitals answers.jsonl errors.jsonl

    \b
    Exit codes: 0 every sample answered; 2 a file holds no answers, or this is no study;
    4 some samples failed or are pending; 5 the disk refused or the archive is broken;
    6 another run holds the directory.
    """
    gc.set_threshold(10_000, 20, 50)
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.progress import StatusLine
    from affidavit.commands.study_place import refuse_study_file
    from affidavit.results.judging import Judgements
    from affidavit.running.batch_import import ImportOptions, import_answers
    from affidavit.study.files import given_contracts
    from affidavit.study.models_file import limits_for

    refuse_study_file(directory, "batch import")
    judgements = Judgements()
    gc.freeze()
    with redirect_stdout(sys.stderr), StatusLine(sys.stderr) as status:

        def tell(of: str, count: int) -> None:
            status.show(lambda _seconds: f"{count:,} {of}")

        given = given_contracts(contracts, study)
        study_directory = StudyDirectory(directory)
        options = ImportOptions(tell, limits_for(study_directory), judgements.add)
        imported = import_answers(study_directory, answers, given, options)
    _report(imported, judgements, code_options(contracts, study), as_json=as_json)
    sys.exit(ENDED_WITH_FAILURES if imported.open else DONE)


def _report(imported: "Imported", judgements: "Judgements", code: Sequence[str], *, as_json: bool) -> None:
    from affidavit.commands.judge import figures_of, json_of, say_digests, show_judging
    from affidavit.commands.output import show
    from affidavit.results import closing

    ended, judged = imported.ended, imported.judged
    closed = None if ended is None else closing.closed_run(ended, imported.contracts, with_tasks=as_json)
    begun = judged is not None and judged.begun and any(each.n > each.pending for each in judged.tallies.values())
    figures = figures_of(judged, judgements) if judged is not None and begun else None
    if as_json:
        judging = {} if judged is None or figures is None else {"judging": json_of(judged, figures)}
        show({**_imported_json(imported), **({} if closed is None else closing.as_json(closed)), **judging})
    else:
        if closed is not None and imported.seal_sha256:
            show(closing.as_tables(closed))
        if judged is not None and figures is not None:
            show_judging(judged, figures)
        for line in _imported_lines(imported):
            click.echo(plain_lines(line))
        if imported.seal_sha256:
            say_digests(imported.directory, imported.root_sha256, imported.seal_sha256)
        else:
            click.echo(plain_lines(f"not sealed: no question was answered yet ({imported.directory})"))
    for note in () if closed is None or not imported.seal_sha256 else closing.notes(closed):
        _note(note)
    for said, count in imported.counts.details.most_common(5):
        _note(f"{count:,} failed with {said}")
    for note in (*imported.notes, *_odd_lines(imported)):
        _note(note)
    for line in (*_what_follows(imported, code), *_judges_that_wait(imported)):
        click.echo(plain_lines(line), err=True)


def _imported_json(imported: "Imported") -> "Fields":
    counts = imported.counts
    named = ("doubled", "differing", "missing", "unknown", "unreadable")
    return {
        "directory": str(imported.directory),
        "root_sha256": imported.root_sha256,
        "seal_sha256": imported.seal_sha256,
        "lines": imported.lines,
        "answers": counts.answers,
        "failures": dict(counts.failures),
        "known": counts.known,
        **{
            name: {"count": few.count, "first": few.first}
            for name, few in ((name, getattr(counts, name)) for name in named)
        },
        "open": imported.open,
    }


def _imported_lines(imported: "Imported") -> "Iterator[str]":
    counts = imported.counts
    failed = ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.failures.items()))
    said = f"{counts.answers:,} answered, {counts.failures.total():,} failed"
    yield f"from {imported.lines:,} lines were taken in: {said}{f' ({failed})' if failed else ''}"
    if again := counts.asked_again:
        yield f"  failures that may pass, and are asked again by a live run: {again:,}"
    if counts.known:
        yield f"  lines about what is on the record already, which change nothing: {counts.known:,}"


def _odd_lines(imported: "Imported") -> "Iterator[str]":
    """What is odd about the files, with the first few names of each kind."""
    counts = imported.counts
    for few, what in (
        (counts.doubled, "questions with several lines, of which the first answer counts"),
        (counts.differing, "of these with answers that differ"),
        (counts.unknown, "lines with a custom_id that no question of this study has; they were left"),
        (counts.unreadable, "lines that cannot be read; they were left"),
        (counts.missing, "open questions without a line; they stay open"),
    ):
        if few.count:
            yield f"{what}: {few.count:,} ({few})"


def _what_follows(imported: "Imported", code: Sequence[str]) -> "Iterator[str]":
    """What is left, and what to type."""
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.commands.what_is_left import what_is_left
    from affidavit.study.models_file import study_file_of

    directory = StudyDirectory(imported.directory)
    if imported.ended is not None:
        file = study_file_of(directory) or Path("STUDY.toml")
        out = [] if imported.directory == Path(directory.frozen().name) else ["--out", str(directory)]
        again = shlex.join(["affidavit", "run", str(file), *out])
        if left := what_is_left(imported.ended.tallies.values(), again, lacking="an answer"):
            yield left
    judges = dict.fromkeys(cell.judge for cell, each in imported.judgements.items() if each.failed + each.pending)
    again = shlex.join(
        ["affidavit", "judge", str(directory), *(part for name in judges for part in ("--judge", name))]
    )
    if left := what_is_left(imported.judgements.values(), again, lacking="a judgement"):
        yield left
    if not imported.open:
        yield f"results: affidavit report {directory}"
        yield f"to verify: {shlex.join(['affidavit', 'verify', str(directory), *code])}"


def _judges_that_wait(imported: "Imported") -> "Iterator[str]":
    """That the judges of the study's file were not asked yet, and what to type for it."""
    from affidavit.archive.study_directory import StudyDirectory
    from affidavit.running.study_outputs import open_tasks
    from affidavit.running.study_run import waits_for
    from affidavit.study.models_file import own_judges

    directory, ended = StudyDirectory(imported.directory), imported.ended
    if imported.judged is not None or ended is None or (own := own_judges(directory)) is None:
        return
    if waits := waits_for(ended.tallies, own.tasks or open_tasks(directory.frozen())):
        yield f"the judging has not begun: it waits for {waits:,} outputs that may still come"
        return
    elsewhere = imported.directory != Path(directory.frozen().name)
    by_batch, live = (
        shlex.join(["affidavit", *words, str(own.file), *([option, str(directory)] if elsewhere else [])])
        for words, option in ((("batch", "export"), "--directory"), (("run",), "--out"))
    )
    yield f"the judging has not begun: {', '.join(own.names)} can be asked now"
    yield f"  by batch: {by_batch}"
    yield f"  or live: {live}"
