"""The version of the format in which studies are kept: one number for all files of a directory."""

from collections.abc import Mapping

from affidavit.errors import StorageError
from affidavit.json_values import shown

FORMAT = 3
"""Counts changes of what the files of a directory hold."""


def refuse_other_version(fields: Mapping[str, object], where: str) -> None:
    """Refuse a file of another version of the format, by its version."""
    found = fields.get("v")
    if type(found) is int and found == FORMAT:
        return
    older = type(found) is int and 0 < found < FORMAT
    hint = (
        "It was written by an earlier version of Affidavit, which can still read it. Run the study again with "
        "this one, or take its outputs in with `affidavit read CONTRACT OUTPUTS --out DIR`."
        if older
        else "It was written by a later version of Affidavit, or changed after it was written."
    )
    raise StorageError(
        where, expected=f"version {FORMAT} of the format", found=f"version {shown(found)}", hint=hint
    )
