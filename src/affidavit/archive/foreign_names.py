"""Files of somebody else under the names that a study uses: a new study must not write over them.

What a killed run leaves before its plan is frozen is ours: a lock that names its holder, and items whose lines
have their checksums.
"""

import os
from pathlib import Path

from affidavit.archive.checked_lines import checked_fields
from affidavit.archive.disk import storage_errors
from affidavit.archive.layout import FILES, FOLDERS, ITEMS, LOCK, RECORDS, SEAL, STUDY
from affidavit.archive.lock import names_a_holder
from affidavit.archive.regular_files import open_to_read
from affidavit.errors import UsageError


def refuse_foreign_names(directory: Path) -> None:
    """Refuse a directory without a study in which our names stand for something else; nothing is written for it.

    Records or a seal without their study are corruption, which is told elsewhere.
    """
    if not directory.is_dir():
        return
    with storage_errors(str(directory)), os.scandir(directory) as entries:
        names = {entry.name for entry in entries}
    if names & {STUDY, SEAL, RECORDS}:
        return
    foreign = [name for name in (*FILES, *FOLDERS) if name in names and not _is_ours(directory / name)]
    if foreign:
        raise UsageError(
            str(directory),
            expected="a place for a study: nothing there yet under the names of its files",
            found=f"{foreign[0]}, which is of no study",
            hint="It would be written over. Choose another place with --out, or give the study another name.",
        )


def _is_ours(path: Path) -> bool:
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        return True  # or it is nobody's: whoever opens it refuses links and devices
    if path.name == LOCK:
        return names_a_holder(path)
    if path.name != ITEMS:
        return False
    with open_to_read(path) as stream:
        return checked_fields(stream.readline()) is not None
