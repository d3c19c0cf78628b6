"""`affidavit read --parts` and `--workers`: files of any size, read range by range."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from affidavit.archive.disk import new_file
from affidavit.commands.part_options import PartOptions
from affidavit.commands.progress import Progress
from affidavit.contracts.own_file import is_in_file
from affidavit.errors import InputError, UsageError
from affidavit.plain_text import counted_noun, plain_lines
from affidavit.reading.json_lines import JSON_LINES
from affidavit.reading.output_columns import named_columns
from affidavit.reading.part_files.folder import BAD_ROWS, MANIFEST, Manifest, PartsFolder
from affidavit.reading.part_files.plan import ColumnsRead, Plan, Shard, planned
from affidavit.reading.part_files.run import ENGINES, PartsRead, read_parts
from affidavit.reading.worker_process import usual_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from affidavit.contracts.frozen_contract import NamedContract
    from affidavit.reading.batches import Result
    from affidavit.reading.output_columns import Role
    from affidavit.reading.rows import RowReader


class PartsOrder(NamedTuple):
    """What is to be read into parts, how, and where to."""

    paths: Sequence[Path]
    folder: Path | None
    """None: into one file, by way of parts that go when it is whole."""
    file: Path | None
    columns: ColumnsRead
    named: "Mapping[str, str]"
    """Columns that no field of the contract may replace, each with the option that named it."""
    workers: int | None
    shard: Shard
    strict: bool
    engine: str


def parts_order(
    given: PartOptions,
    files: Sequence[Path],
    file: Path | None,
    reader: "RowReader",
    columns: "Mapping[Role, str]",
) -> PartsOrder:
    """What was typed, refused where it does not fit together."""
    if (given.folder is None) == (file is None):
        found = "neither" if file is None else "both"
        raise UsageError("--parts", expected="either --parts DIR or -o FILE", found=found)
    if given.shard is not None and given.folder is None:
        raise UsageError("--shard", expected="--parts DIR beside it", found="-o")
    if (engine := given.engine or "local") not in ENGINES:
        raise UsageError("--engine", expected=" or ".join(ENGINES), found=repr(engine))
    paths = [*files, *([] if given.files_from is None else listed_files(given.files_from))]
    if not paths:
        raise UsageError("FILES", expected="at least one file, directory or pattern", found="none")
    read = ColumnsRead(reader.field, reader.answer.text, bool(reader.lenses))
    shard = Shard() if given.shard is None else Shard.typed(given.shard)
    return PartsOrder(
        paths, given.folder, file, read, named_columns(columns), given.workers, shard, given.strict, engine
    )


def read_into_parts(order: PartsOrder, contract: str, read_by: "NamedContract") -> "tuple[Result, int]":
    """The counts of all that was read here, and how many rows of it are none."""
    paths = every_file(order.paths)
    plan = planned(paths, read_by, order.columns)
    with _folder(order, plan) as folder:
        with Progress(sys.stderr, sum(each.size for each in plan.inputs)) as progress:
            result = read_parts(
                plan,
                folder,
                shard=order.shard,
                how=PartsRead(
                    strict=order.strict,
                    own_file=contract if is_in_file(contract) else None,
                    named=dict(order.named),
                    workers=usual_count() if order.workers is None else order.workers,
                    engine=order.engine,
                ),
                progress=progress.tell,
            )
        if order.shard.count > 1:
            _say_what_next(order.shard, folder, plan)
            return result, sum(part.bad for number, part in folder.parts(plan).items() if order.shard.has(number))
        manifest = folder.finished(plan)
        if order.file is not None:
            _join(folder, manifest, order.file)
        else:
            say_manifest(folder, manifest)
        return result, manifest.bad_rows


@contextmanager
def _folder(order: PartsOrder, plan: Plan) -> "Iterator[PartsFolder]":
    """Where the parts go; those of a single file lie beside it until it is whole."""
    if order.folder is not None:
        yield PartsFolder(order.folder)
        return
    assert order.file is not None  # noqa: S101 - one of the two was given
    if plan.format != JSON_LINES.name:
        hint = "Give --parts DIR in place of -o FILE: every part is a file of its own."
        raise UsageError(
            "-o", expected="JSON Lines, whose parts can be put into one file", found=plan.format, hint=hint
        )
    parent = order.file.absolute().parent
    if not parent.is_dir():
        raise UsageError("-o", expected="a file in a directory that is there", found=repr(str(order.file)))
    with tempfile.TemporaryDirectory(prefix=".affidavit-parts-", dir=parent) as name:
        yield PartsFolder(Path(name))


def _join(folder: PartsFolder, manifest: Manifest, out: Path) -> None:
    """One file of all parts, and one of bad rows beside it if there are any."""
    with new_file(out) as stream:
        for part in manifest.parts:
            with (folder.path / part.name).open("rb") as content:
                shutil.copyfileobj(content, stream, 1 << 20)
    if manifest.bad_rows:
        beside = out.with_name(f"{out.name}.bad_rows.jsonl")
        with new_file(beside) as stream:
            stream.write((folder.path / BAD_ROWS).read_bytes())
        _say_bad(manifest.bad_rows, beside)


def every_file(paths: Sequence[Path]) -> list[Path]:
    """Files, and those in directories and behind patterns, in the order of their names; none twice."""
    found: list[Path] = []
    for path in paths:
        if str(path) == "-":
            raise UsageError("-", expected="files, of which any range can be read", found="standard input")
        if path.is_dir():
            inside = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        elif path.exists() or not set("*?[") & set(str(path)):
            inside = [path]
        else:
            inside = sorted(Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))))
        if not inside:
            raise InputError(str(path), expected="files of rows", found="none")
        found += inside
    twice = [path for path in found if found.count(path) > 1]
    if twice:
        raise UsageError(str(twice[0]), expected="every file once", found="it twice")
    return found


def listed_files(listing: Path) -> list[Path]:
    """The files that a file names, one on a line; blank lines and those that begin with # name none."""
    try:
        lines = listing.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(listing), expected="a list of files, one on a line", found=str(error)) from error
    return [Path(line.strip()) for line in lines if line.strip() and not line.lstrip().startswith("#")]


def say_manifest(folder: PartsFolder, manifest: Manifest) -> None:
    """Where everything is."""
    parts = counted_noun(len(manifest.parts), "part")
    _note(f"{parts} in {folder.path}, {MANIFEST} lists them; digest {manifest.digest}")
    if manifest.bad_rows:
        _say_bad(manifest.bad_rows, folder.path / BAD_ROWS)


def _say_bad(count: int, where: Path) -> None:
    _note(f"left out, as they could not be read: {counted_noun(count, 'row')}; see {where}")


def _say_what_next(shard: Shard, folder: PartsFolder, plan: Plan) -> None:
    mine = sum(map(shard.has, range(len(plan.ranges))))
    _note(
        f"shard {shard}: {mine} of {counted_noun(len(plan.ranges), 'part')} in {folder.path}; "
        "when all shards are there: affidavit merge DIR..."
    )


def _note(text: str) -> None:
    click.echo(f"note: {plain_lines(text)}", err=True)
