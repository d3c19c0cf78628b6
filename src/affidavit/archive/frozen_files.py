"""Files of one checked line: what was frozen, whole or not at all, and in the one form in which it is written."""

from pathlib import Path

from affidavit.archive.checked_lines import checked_fields, checked_line, is_as_written, only_line_of
from affidavit.archive.corruption import corrupt
from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.regular_files import open_to_read
from affidavit.archive.versions import refuse_other_version
from affidavit.json_values import Fields


def frozen_fields(path: Path, expected: str) -> Fields | None:
    """What a file says; None if it is not there. `expected`: what it is, for the message about one that is not."""
    if not path.exists():
        return None
    with storage_errors(str(path)), open_to_read(path) as stream:
        line = only_line_of(stream)
    fields = checked_fields(line)
    if fields is None or not is_as_written(line, fields):
        raise corrupt(f"{path}:1", expected, "a line that does not fit its checksum, or was not written here")
    refuse_other_version(fields, f"{path}:1")
    return fields


def freeze_fields(path: Path, fields: Fields, disk: Disk) -> None:
    """Write a file for good: it is there whole, or what was there before is."""
    with storage_errors(str(path)):
        disk.place(path, checked_line(fields))
