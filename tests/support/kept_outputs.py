"""Files of outputs taken into a directory, by the functions that `affidavit read --out` calls, in this process."""

from collections.abc import Mapping
from pathlib import Path

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.frozen_contract import named_contract
from affidavit.reading.output_columns import Role
from affidavit.reading.source import file_source
from affidavit.running.import_files import OutputFiles, output_files
from affidavit.running.import_outputs import Kept, keep_outputs, name_in
from support.written_study import Hasty


def opened(
    *paths: Path, contract: str = "mcqa", options: str | None = None, given: Mapping[Role, str] | None = None
) -> OutputFiles:
    """The files, and which of their columns is what."""
    return output_files([file_source(path) for path in paths], given or {}, named_contract(contract, options))


def kept(
    out: Path, *paths: Path, contract: str = "mcqa", options: str | None = None, **given: str
) -> tuple[Kept, OutputFiles]:
    """The files in a directory, sealed; columns are given by their roles."""
    directory, roles = StudyDirectory(out), {Role(role): name for role, name in given.items()}
    files = opened(*paths, contract=contract, options=options, given=roles)
    with directory.made(Hasty()):
        taken = files.imported(name_in(directory), named_contract(contract, options))
        return keep_outputs(directory, taken, Hasty()), files
