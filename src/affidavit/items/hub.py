"""Items of the Hugging Face Hub, or of a directory laid out like one of its data sets.

    hf:cais/mmlu:abstract_algebra@validation#<commit>
       └ name    └ configuration  └ split    └ revision

Only the name must be there. The rules:

- A *name* is `owner/name` on the Hub. One that begins with `./`, `../`, `/` or `~/` is a directory here, from
  where the program runs. The name of a data set that is also that of a directory here is refused.
- The *configuration* is the one that the data set calls its default, unless it is given. If it has none, the
  choice is the user's, and the error names them all.
- The *split* is `test` unless it is given, and never another one instead.
- A *revision* is a whole commit: branches and tags move. Without the network, `datasets` takes the newest copy
  in its cache, whatever was asked for; a copy of another commit, or of a configuration that nobody named, is
  refused here.
- *Code* of a data set is never run: that is why `datasets` must be version 4 or newer, which cannot.
- *Rows* are told apart by their fields, as those of a file are (see `formats.py`), and counted from 1. A
  row without an id is called by name, configuration, split and number: `mmlu-abstract_algebra-test-12`.
- *Values* are what `datasets` makes of the files: its CSV reader takes `NA`, `None` and the like for nothing,
  and numbers for numbers. An option that was lost that way is refused like any that is blank or no text.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from affidavit.errors import AffidavitError, InputError, UsageError
from affidavit.items.formats import items_of_rows
from affidavit.json_values import Fields, shown
from affidavit.reading.source import Row

PREFIX = "hf:"
"""What the source of a task's items begins with if it is one of these."""
_FORM = "hf:NAME[:CONFIGURATION][@SPLIT][#COMMIT]"
_SOURCE = re.compile(
    r"hf:(?P<name>[^:@#]+)"
    r"(?::(?P<config>[^:@#]+))?"
    r"(?:@(?P<split>\w+(?:\.\w+)*))?"
    r"(?:#(?P<revision>[0-9a-f]{40}))?"
)
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+", re.ASCII)
_PATH = re.compile(r"(?:\.{0,2}|~)/|\.{1,2}$|~$")
_LONGEST_REASON = 400
"""Characters of a foreign error that are told."""
_OLDEST = 4
"""The first version of `datasets` that cannot run the code of a data set."""


@dataclass(frozen=True, slots=True)
class HubSource:
    """Where items come from: a data set of the Hub, or a directory."""

    name: str
    config: str | None
    split: str
    revision: str | None

    @property
    def directory(self) -> Path | None:
        """The directory here; None for a data set of the Hub."""
        return Path(self.name).expanduser() if _PATH.match(self.name) else None

    def __str__(self) -> str:
        config = f":{self.config}" if self.config is not None else ""
        revision = f"#{self.revision}" if self.revision is not None else ""
        return f"{PREFIX}{self.name}{config}@{self.split}{revision}"


def hub_source(text: str) -> HubSource:
    """The source that a text names; UsageError if it has another form.

    >>> hub_source("hf:cais/mmlu:abstract_algebra@validation")
    HubSource(name='cais/mmlu', config='abstract_algebra', split='validation', revision=None)
    >>> str(hub_source("hf:./folder"))
    'hf:./folder@test'
    """
    parts = _SOURCE.fullmatch(text)
    if parts is None or any(part is not None and part != part.strip() for part in parts.groups()):
        hint = "A split is a word, a commit has 40 hexadecimal digits, and a path has no ':', '@' or '#'."
        raise UsageError("items", expected=f"{_FORM}, as in hf:cais/mmlu:all@test", found=shown(text), hint=hint)
    source = HubSource(parts["name"], parts["config"], parts["split"] or "test", parts["revision"])
    if source.directory is None and not _HUB_NAME.fullmatch(source.name):
        hint = "A path begins with './', '../', '/' or '~/', as in hf:./folder."
        raise UsageError(text, expected="owner/name, as in hf:cais/mmlu", found=shown(source.name), hint=hint)
    if source.directory is not None and source.revision is not None:
        raise UsageError(text, expected="a directory without a revision", found=f"#{source.revision}")
    return source


def hub_rows(source: HubSource) -> Iterator[tuple[str, Fields]]:
    """Place and item of every row of the split; it is downloaded first if it is not in the cache.

    UsageError if there is no such thing or it cannot be reached, InputError at the first row that is no item.
    """
    named = (re.split(r"[/\\]", source.name.rstrip("/"))[-1].lstrip(".") or "item", source.config, source.split)
    yield from items_of_rows(str(source), _rows(source), id_prefix="-".join(part for part in named if part))


def _rows(source: HubSource) -> Iterator[Row]:
    library = _library()
    with _told(source):
        for number, row in enumerate(_split(library, source), 1):
            yield Row(f"{source}:row {number}", number, row)


def _split(library: Any, source: HubSource) -> Any:  # noqa: ANN401 - it has no types
    """The rows of the split."""
    with _cache(source) as cache:
        builder = _builder(library, source, cache)
        builder.download_and_prepare()
        splits = list(builder.info.splits or ())
        if source.split not in splits:
            raise _not_among("splits", splits, source.split, source)
        # A directory's copy is gone in a moment, so it is read now; the Hub's stays on the disk.
        split = builder.as_dataset(split=source.split, in_memory=cache is not None)
    _check_features(split.features.to_dict(), str(source))
    return split


def _library() -> Any:  # noqa: ANN401 - it has no types
    """The library `datasets`, if it is here and cannot run code."""
    try:
        import datasets  # noqa: PLC0415 - a second, and not every installation has it
    except ImportError as error:
        raise _not_installed(str(error)) from error
    # A folder of this name where the program runs can be imported too, and has no version.
    version = str(getattr(datasets, "__version__", "another thing of that name"))
    number = re.match(r"[0-9]+", version)
    if number is None or int(number[0]) < _OLDEST:
        raise _not_installed(version)
    return datasets


def _not_installed(found: str) -> UsageError:
    expected = f"the library datasets, version {_OLDEST} or newer"
    return UsageError("items of the Hub", expected=expected, found=found, hint="run: pip install 'affidavit[hf]'")


@contextmanager
def _cache(source: HubSource) -> Iterator[str | None]:
    """Where `datasets` keeps its copy: for a directory in a place that is gone afterwards."""
    if source.directory is None:
        yield None
    else:
        # In its own cache it would take what another directory of that name held, or this one before a change.
        with TemporaryDirectory(prefix="affidavit-", ignore_cleanup_errors=True) as place:
            yield place


def _builder(library: Any, source: HubSource, cache: str | None) -> Any:  # noqa: ANN401 - it has no types
    """What `datasets` reads the source with; checked for what it would let pass."""
    path = source.name
    if source.directory is not None:
        path = str(source.directory)
        _check_directory(source.directory, source)
    elif Path(path).is_dir():
        hint = f"For the directory write hf:./{path}; for the Hub's, run this elsewhere."
        raise UsageError(
            str(source), expected="one thing of that name", found="a directory here as well", hint=hint
        )
    try:
        builder = library.load_dataset_builder(path, source.config, revision=source.revision, cache_dir=cache)
    except ValueError as error:
        # Out of the cache the library knows no list of configurations, and says so in its own words.
        if "cache" not in str(error):
            _check_config(library.get_dataset_config_names(path, revision=source.revision), source)
        raise
    if builder.name == "cache":
        _check_cached(builder.config.name, builder.hash, source)
    return builder


def _check_directory(directory: Path, source: HubSource) -> None:
    if not directory.is_dir():
        found = "a file" if directory.exists() else "nothing there"
        hint = "Give the path of a file without 'hf:'." if directory.exists() else ""
        raise UsageError(str(source), expected="a directory", found=found, hint=hint)
    if any((directory / mark).is_file() for mark in ("state.json", "dataset_dict.json")):
        hint = "Write it again with to_parquet or to_json."
        raise UsageError(str(source), expected="files of items", found="what save_to_disk writes", hint=hint)


def _check_config(known: list[str], source: HubSource) -> None:
    """Refuse a configuration that is not there, and none where there are several."""
    if source.config not in known and (source.config is not None or len(known) > 1):
        raise _not_among("configurations", known, source.config, source)


def _check_cached(config: str, commit: str, source: HubSource) -> None:
    """Refuse a copy out of the cache that is not what was asked for."""
    hint = "The Hub could not be reached: try again with the network, or ask for what is in the cache."
    if source.revision not in (None, commit):
        found = f"only {commit} in the cache"
        raise UsageError(str(source), expected=f"the commit {source.revision}", found=found, hint=hint)
    if config != (source.config or "default"):
        expected = "the configuration by its name"
        raise UsageError(str(source), expected=expected, found=f"{shown(config)} in the cache", hint=hint)


_SIMPLE = {"Value", "ClassLabel", "List", "LargeList", "Sequence", "Json"}


def _check_features(features: object, where: str) -> None:
    """Refuse pictures, sound and the like: without them a question is not what was published."""
    if isinstance(features, list):
        features = dict(enumerate(features))
    if isinstance(features, dict):
        kind = features.get("_type", "Value")
        if isinstance(kind, str) and kind not in _SIMPLE:
            raise InputError(
                where, expected="texts, numbers and lists of them", found=f"a field of the type {kind}"
            )
        for inner in features.values():
            _check_features(inner, where)


def _not_among(what: str, names: list[str], given: str | None, source: HubSource) -> UsageError:
    found = "none" if given is None else shown(given)
    hint = f"The form is {_FORM}."
    return UsageError(str(source), expected=f"one of its {what}: {', '.join(names)}", found=found, hint=hint)


@contextmanager
def _told(source: HubSource) -> Iterator[None]:
    """Whatever `datasets` raises becomes one error with the source's name."""
    try:
        yield
    except AffidavitError:
        raise
    except ConnectionError as error:
        hint = "Without the network, give a directory with its files: hf:./folder."
        raise UsageError(str(source), expected="an answer of the Hub", found=_words(error), hint=hint) from error
    except FileNotFoundError as error:
        hint = "If it is there but asks for a login, run: hf auth login" if source.directory is None else ""
        raise UsageError(str(source), expected="a data set", found=_words(error), hint=hint) from error
    # HTTP, Arrow, pandas and others come through: there is no list of what may be raised.
    except Exception as error:
        raise UsageError(str(source), expected="a data set that can be read", found=_words(error)) from error


def _words(error: BaseException) -> str:
    """The reason in one line: that of the cause where the error says only that there was one."""
    while type(error).__name__ == "DatasetGenerationError" and error.__cause__ is not None:
        error = error.__cause__
    words = " ".join(str(error).split())[:_LONGEST_REASON]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
