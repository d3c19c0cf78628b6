"""The models of a TOML file: a study's own, or a file with nothing but `[models.NAME]`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from affidavit.errors import InputError
from affidavit.models.model import Model
from affidavit.models.registry import chosen
from affidavit.models.settings import Limits, ModelTable
from affidavit.study.check import check_models
from affidavit.study.files import model_weights
from affidavit.study.freezing import read_frozen


@dataclass(frozen=True)
class ModelsFile:
    """Models that can be asked, and how patiently."""

    models: Mapping[str, ModelTable]
    limits: Limits
    beside: Path

    def model(self, name: str) -> Model:
        """One of them, ready to be asked."""
        table = self.models[name]
        weights = model_weights({name: table}, self.beside).get(name)
        return chosen(name, table, self.limits, beside=self.beside, weights=weights)


class _File(msgspec.Struct, frozen=True):
    """The parts of a file that say who can be asked; a study has others, which are not looked at."""

    models: dict[str, ModelTable]
    limits: Limits = Limits()


def read_models(path: Path) -> ModelsFile:
    """The models of a file."""
    try:
        file = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(str(path), expected="a TOML file with [models.NAME]", found=str(error)) from error
    except msgspec.ValidationError as error:
        raise InputError(str(path), expected="models", found=str(error)) from error
    check_models(file.models, where=str(path))
    return ModelsFile(file.models, file.limits, path.parent)


def study_file_of(directory: Path) -> Path | None:
    """The file of a study, looked for here and beside its directory, by its name or as study.toml."""
    frozen = read_frozen(directory)
    config = None if frozen is None else frozen["config"]
    name = config.get("name") if isinstance(config, dict) else None
    for folder in (Path(), directory.parent):
        for file in (folder / f"{name}.toml", folder / "study.toml"):
            if file.is_file() and _study_name(file) == name:
                return file
    return None


def _study_name(path: Path) -> object:
    try:
        study = tomllib.loads(path.read_text(encoding="utf-8")).get("study")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    return study.get("name") if isinstance(study, dict) else None
