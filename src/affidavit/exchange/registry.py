"""Every kind of log that is read here, and how one is told: by its content.

A new format is a file with a `LogFormat` in it, and a line in `LOG_FORMATS`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError, UsageError
from affidavit.exchange.batch_output import BATCH
from affidavit.exchange.every_eval_ever import EVERY_EVAL_EVER
from affidavit.exchange.helm_runs import HELM
from affidavit.exchange.inspect_json import INSPECT_JSON
from affidavit.exchange.inspect_zip import INSPECT_EVAL
from affidavit.exchange.lighteval_details import LIGHTEVAL
from affidavit.exchange.lm_eval_samples import LM_EVAL
from affidavit.exchange.log import HEAD, Log, LogFormat
from affidavit.exchange.opencompass_predictions import OPENCOMPASS
from affidavit.exchange.own_logs import log_if_export
from affidavit.exchange.plain_tables import SOURCE_OPTIONS, Tables
from affidavit.exchange.promptfoo_exports import PROMPTFOO
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.plain_text import counted_noun
from affidavit.reading.output_columns import OPTIONS
from affidavit.reading.source import reading_on

LOG_FORMATS: dict[str, LogFormat] = {
    each.name: each
    for each in (
        INSPECT_EVAL,
        INSPECT_JSON,
        LM_EVAL,
        HELM,
        PROMPTFOO,
        OPENCOMPASS,
        BATCH,
        EVERY_EVAL_EVER,
        LIGHTEVAL,
    )
}
"""Every format that is known, by its name; the first that recognises a file has it."""
_MOST_TOLD = 5
_KNOWN = ", ".join(LOG_FORMATS)
_LOGS = f"What is read: {_KNOWN}."
_TABLE = "If it is a table of outputs (CSV, JSON Lines or Parquet), name its column of texts: --field COLUMN."


def format_of_log(path: Path) -> LogFormat | None:
    """The format of a log; None if it is none of those that are known."""
    if path.is_dir():
        return next((each for each in LOG_FORMATS.values() if each.directories(path)), None)
    if not path.is_file():  # nobody may ever write into a pipe, and a device has no end
        return None
    head = _head(path)
    return next((each for each in LOG_FORMATS.values() if each.recognises(head, path)), None)


def logs_of(
    paths: Sequence[Path], tables: Tables | None = None, unreadable: UnreadableLogs | None = None
) -> Iterator[Log]:
    """The logs of files and directories, in the order of their names; InputError for what is no log, unless
    `unreadable` leaves it out.

    A directory is taken whole: whatever in it is no log and belongs to none is refused by name. A file that is no
    log of a harness may be a table, where `tables` says how it is read; all are tables where it says that.
    """
    watch = unreadable or UnreadableLogs()
    for path in paths:
        if not path.exists():  # a slip of whoever typed it, and no log that could be left out
            raise UsageError(str(path), expected="a log", found="no such file")
    for path in _places(paths, tables, watch):
        opened: list[Log] = []
        with watch.watched(str(path)):
            opened.append(_opened(path, tables))
        yield from opened


def _places(paths: Sequence[Path], tables: Tables | None, watch: UnreadableLogs) -> Iterator[Path]:
    """Where logs are: directories that are none are taken apart."""
    for path in paths:
        if StudyDirectory(path).is_study:
            yield path
        elif tables is not None and tables.are_meant:
            yield from _below(path) if path.is_dir() else [path]
        elif path.is_dir() and format_of_log(path) is None:
            yield from _logs_in(path, watch)
        else:
            yield path


def _logs_in(folder: Path, watch: UnreadableLogs) -> list[Path]:
    """The files of a directory that belong to no log; what those that do belong to one say of outputs that are not
    here is kept, so that nothing of theirs is left out in silence."""
    beside, logs, lacking = 0, list[Path](), dict[str, str]()
    for path in _below(folder):
        if formats := _formats_beside(path):
            beside += 1
            said = next((word for each in formats if (word := each.lacks(path)) is not None), None)
            lacking |= {} if said is None else {str(path): said}
        else:
            logs.append(path)
    if not logs:
        found, hint = "a directory without any", [f"{path}: {said}" for path, said in lacking.items()]
        if beside:
            found += f", but {counted_noun(beside, 'file')} of figures or requests that belong to logs"
        raise InputError(str(folder), expected="logs", found=found, hint="\n".join([*hint[:_MOST_TOLD], _LOGS]))
    watch.without_outputs.update(lacking)
    return logs


def _opened(path: Path, tables: Tables | None) -> Log:
    if StudyDirectory(path).is_study:
        hint = f"`affidavit report {path}` shows it, `affidavit compare {path}` compares what is in it."
        raise InputError(str(path), expected="logs of a harness", found="a study", hint=hint)
    if tables is not None and tables.are_meant:
        return _table(path, tables)
    found = format_of_log(path) if path.exists() else None
    if found is not None:
        return found.opened(path)
    if path.is_file() and (export := _export(path)) is not None:
        return export
    if tables is not None and path.is_file() and tables.has_texts(path):
        return tables.opened(path)
    hint = _LOGS if tables is None or not path.exists() else f"{_LOGS}\n{_TABLE}"
    raise InputError(str(path), expected="a log", found=_found(path), hint=hint)


def _table(path: Path, tables: Tables) -> Log:
    """A file as a table, because a column was named; of a log that is no table it is told why it had to be."""
    try:
        return tables.opened(path)
    except (InputError, UsageError) as error:
        if (found := format_of_log(path)) is None:
            raise
        options = [OPTIONS[each] for each in tables.given] + [SOURCE_OPTIONS[each] for each in tables.source]
        rule = f"Where a column is named, all LOGS are tables: {', '.join(options)}."
        hint = f"{rule} This one is a log ({found.name}), which is read without."
        kind = InputError if isinstance(error, InputError) else UsageError
        raise kind(error.where, expected=error.expected, found=error.found, hint=hint) from error


def _export(path: Path) -> Log | None:
    """A file that an export of ours wrote; what is no file of rows is none, and told as what it is."""
    with suppress(InputError):
        return log_if_export(path)
    return None


def _below(folder: Path) -> Iterator[Path]:
    """The files in a folder and its folders, and the folders that are logs; hidden ones, and links to folders, are
    passed over."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or (path.is_symlink() and path.is_dir()):
            continue
        if path.is_dir() and not StudyDirectory(path).is_study and format_of_log(path) is None:
            yield from _below(path)
        else:
            yield path


def _formats_beside(path: Path) -> list[LogFormat]:
    """The formats beside whose logs a file stands; none if it may be a log itself."""
    if not path.is_file():
        return []
    head = _head(path)
    return [each for each in LOG_FORMATS.values() if each.belongs(head, path)]


def _head(path: Path) -> bytes:
    with reading_on(str(path)), path.open("rb") as stream:
        return stream.read(HEAD)


def _found(path: Path) -> str:
    if not path.exists():
        return "no such file"
    if not path.is_file():
        return "a device or a pipe"
    return "an empty file" if path.stat().st_size == 0 else "a file of another kind"


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """A name for each log that no other has: its own, with as many folders before it as it takes.

    >>> distinct_names([Path("a/x.json"), Path("b/x.json"), Path("b/y.json")])
    ['a/x.json', 'b/x.json', 'y.json']
    """
    names, length = [path.name for path in paths], 1
    longest = max((len(path.parts) for path in paths), default=0)
    while len(set(names)) < len(names) and length < longest:
        length += 1
        counted = Counter(names)
        names = [
            name if counted[name] == 1 else "/".join(path.parts[-length:])
            for name, path in zip(names, paths, strict=True)
        ]
    return names
