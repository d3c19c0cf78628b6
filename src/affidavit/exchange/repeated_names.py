"""Names that two values of one object have: JSON keeps the last, and nobody knows which is meant (ruling I4).

To look at every name while JSON is decoded takes longer than to decode it. So names are counted, in the text and
in what was made of it, and only where the counts differ is the text read again with care. Whoever writes blanks
before colons has everything read with care.
"""

import json
from collections.abc import Iterable
from functools import partial

from affidavit.errors import InputError
from affidavit.json_values import Fields, shown
from affidavit.reading.row_lines import DECODER
from affidavit.reading.utf8 import decoded_whole

_IN_TEXT = '":', '\\":', '\\\\":'
"""How a name ends; a quote and a colon within a text; how a name ends whose last character is a backslash."""
_IN_BYTES = tuple(each.encode() for each in _IN_TEXT)
_HINT = "Of such values every reader of JSON keeps another, or the last: take out the one that is not meant."


def refuse_repeated_names(content: str | bytes, value: object, *, where: str) -> None:
    """Refuse JSON, of which `value` was made, in which an object has one name twice; the place is `where`.

    >>> refuse_repeated_names('{"a": {"b": 1, "b": 2}}', {"a": {"b": 2}}, where="log.json:3")
    Traceback (most recent call last):
    affidavit.errors.InputError: log.json:3: expected names that no two values have, found "b" twice: 1 and 2
    Of such values every reader of JSON keeps another, or the last: take out the one that is not meant.
    """
    if _may_repeat(content, _names_in(value)):
        _read_with_care(content, where)


def _may_repeat(content: str | bytes, names: int) -> bool:
    """Whether the text may have more names than there are; where no blank stands before a colon, no is certain."""
    end, quoted, escaped = _IN_TEXT if isinstance(content, str) else _IN_BYTES
    if (written := content.count(end)) == names:  # type: ignore[arg-type] # of the content's own kind
        return False
    # Within a text a quote stands behind a backslash; a name may end with one, and then there are two.
    return written - content.count(quoted) != names or escaped in content  # type: ignore[arg-type, operator]


def _read_with_care(content: str | bytes, where: str) -> None:
    text = content if isinstance(content, str) else decoded_whole(content, name=where)
    decoder = json.JSONDecoder(
        object_pairs_hook=partial(_distinct, where), strict=False, parse_int=DECODER.parse_int
    )
    try:
        decoder.decode(text)
    except RecursionError as error:
        raise InputError(where, expected="JSON", found="JSON nested too deeply") from error


def _names_in(value: object) -> int:
    count, inner = 0, [value]
    for each in inner:  # which grows meanwhile
        parts: Iterable[object] = ()
        if type(each) is dict:
            count += len(each)
            parts = each.values()
        elif type(each) is list:
            parts = each
        for part in parts:
            if type(part) is dict or type(part) is list:
                inner.append(part)
    return count


def _distinct(where: str, pairs: list[tuple[str, object]]) -> Fields:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            said = f"{shown(name)} twice: {shown(found[name])} and {shown(value)}"
            raise InputError(where, expected="names that no two values have", found=said, hint=_HINT)
        found[name] = value
    return found
