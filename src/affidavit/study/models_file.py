"""The models of a TOML file: a study's own, or a file with nothing but `[models.NAME]`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import msgspec

from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError, UsageError
from affidavit.models.model import Model
from affidavit.models.registry import open_model, read_model_tables
from affidavit.models.settings import Limits, ModelTable
from affidavit.models.table_mistakes import converted
from affidavit.study.study_file import toml_tables


@dataclass(frozen=True)
class ModelsFile:
    """Models that can be asked, and how patiently."""

    models: Mapping[str, ModelTable]
    limits: Limits
    beside: Path
    constrained: bool = False
    """Whether the file is a study that constrains decoding."""
    path: Path | None = None
    """The file itself, if there is one."""
    is_address: bool = False
    """Whether somebody named an address, and no file: then nobody has said which of its models is meant."""

    def model(self, name: str) -> Model:
        """One of them, ready to be asked."""
        return open_model(name, self.models[name], self.limits, beside=self.beside)


class _File(msgspec.Struct, frozen=True):
    """The parts of a file that say who can be asked; a study has others, which are not looked at."""

    models: dict[str, ModelTable]
    limits: Limits = Limits()
    conditions: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


def read_models(path: Path) -> ModelsFile:
    """The models of a file."""
    expected = "a TOML file with [models.NAME]"
    try:
        tables = toml_tables(path.read_text(encoding="utf-8"), where=str(path), expected=expected)
        if isinstance(models := tables.get("models"), dict):
            tables["models"] = read_model_tables(models, where=str(path))
        file = converted(tables, _File, where=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), expected=expected, found=str(error)) from error
    file.limits.check(where=str(path))
    constrained = any(condition.get("constrained") is True for condition in file.conditions.values())
    return ModelsFile(file.models, file.limits, path.parent, constrained, path)


def is_study_file(path: Path) -> bool:
    """Whether a file says that it is a study, and not only who can be asked."""
    tables = _tables_or_nothing(path)
    return "study" in tables or "tasks" in tables


def models_at(address: str, key_env: str | None) -> ModelsFile:
    """The one model at an address, by a name of its own.

    >>> models_at("http://127.0.0.1:8000/v1", None).models["server"].provider.addresses
    ['http://127.0.0.1:8000/v1']
    """
    table = {"base_url": address, **({} if key_env is None else {"key_env": key_env})}
    return ModelsFile(read_model_tables({"server": table}, where="the address"), Limits(), Path(), is_address=True)


def models_for(directory: StudyDirectory, file: Path | None, wanted: Collection[str] = ()) -> ModelsFile:
    """The models of a file, or else of the study's own; an error proposes one that has those `wanted`."""
    path = file or study_file_of(directory)
    if path is None:
        raise UsageError(
            "--models",
            expected="the study's own file here, or another file with [models.NAME]",
            found="none",
            hint=_likely_file(wanted),
        )
    return read_models(path)


class _Limited(msgspec.Struct, frozen=True):
    """The part of a study file that says what a response may be."""

    limits: Limits = Limits()


def limits_for(directory: StudyDirectory) -> Limits:
    """The limits of the study's own file, if it is here: a directory keeps none, since they decide no answer."""
    path = study_file_of(directory)
    if path is None:
        return Limits()
    tables = {name: table for name, table in _tables_or_nothing(path).items() if name == "limits"}
    limits = converted(tables, _Limited, where=str(path)).limits
    limits.check(where=str(path))
    return limits


class OwnJudges(NamedTuple):
    """Who is to judge a study, by its own file."""

    file: Path
    names: Sequence[str]
    tasks: Sequence[str]
    """That are judged; all open ones if none is named."""


def own_judges(directory: StudyDirectory) -> OwnJudges | None:
    """The judges that the study's own file names, if it is here and names any; no code of a user is run for it."""
    path = study_file_of(directory)
    table = {} if path is None else _tables_or_nothing(path).get("judging")
    if path is None or not isinstance(table, dict) or not isinstance(names := table.get("judges"), list):
        return None
    tasks = table.get("tasks")
    return OwnJudges(path, [str(each) for each in names], list(map(str, tasks)) if isinstance(tasks, list) else [])


def _likely_file(wanted: Collection[str]) -> str:
    """A hint at a file here that has the models, or else at what such a file holds; none is taken unasked."""
    named = {file: _model_names(file) for file in sorted(Path().glob("*.toml")) if file.is_file()}
    fitting = [file for file, names in named.items() if names and names.issuperset(wanted)]
    if fitting:
        return f"Name it: --models {quote(str(fitting[0]))}"
    name = next(iter(wanted), "NAME")
    return (
        f"Write one with a table [models.{name}] that has base_url or embedded, as docs/judging.md shows, "
        "and name it: --models FILE"
    )


def _model_names(path: Path) -> set[str]:
    models = _tables_or_nothing(path).get("models")
    return set(models) if isinstance(models, dict) else set()


def study_file_of(directory: StudyDirectory) -> Path | None:
    """The file of a study, looked for here, by its name or as study.toml.

    Not beside the directory: both may come from somebody else, and the file says whom to ask, with which key.
    """
    frozen = directory.frozen_or_none()
    name = None if frozen is None else frozen.name
    for file in (Path(f"{name}.toml"), Path("study.toml")):
        if file.is_file() and _study_name(file) == name:
            return file
    return None


def _study_name(path: Path) -> object:
    study = _tables_or_nothing(path).get("study")
    return study.get("name") if isinstance(study, dict) else None


def _tables_or_nothing(path: Path) -> Mapping[str, object]:
    """The tables of a file; none of one that cannot be read."""
    try:
        return toml_tables(path.read_text(encoding="utf-8"), where=str(path))
    except (OSError, UnicodeDecodeError, InputError):
        return {}
