"""One item of a study as a line of `items.jsonl`."""

from collections.abc import Mapping

from affidavit.archive.checked_lines import LONGEST_LINE, checked_line
from affidavit.archive.versions import FORMAT
from affidavit.errors import InputError
from affidavit.json_values import shown


def item_line(task: str, name: str, fields: Mapping[str, object]) -> bytes:
    """The line, with its checksum; an item that no line can hold is refused."""
    try:
        line = checked_line({"kind": "item", "v": FORMAT, "task": task, "id": name, "item": fields})
    except ValueError as error:
        where, hint = _place(task, name), "JSON has no word for NaN and infinities: use null, or a text."
        raise InputError(where, expected="values that JSON can hold", found=str(error), hint=hint) from error
    if len(line) > LONGEST_LINE:
        where, expected = _place(task, name), f"at most {LONGEST_LINE:,} bytes as JSON"
        raise InputError(where, expected=expected, found=f"{len(line):,}")
    return line


def _place(task: str, name: str) -> str:
    return f"tasks.{task}.items: {shown(name)}"
