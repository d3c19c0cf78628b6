"""JSON values: named ones, one way to write them down, and how a message shows one."""

import json
from hashlib import sha256
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]

from affidavit.plain_text import plain

Fields = dict[str, object]
"""Named JSON values, as they are written to a row or a record."""

# One encoder for all: `json.dumps` would make a new one for every value, at half of the cost of a small record.
# Looking for circles is left out: what is encoded here holds none.
_chunks = c_make_encoder(None, None, encode_basestring_ascii, None, ":", ",", True, False, False)  # noqa: FBT003
_LONGEST_SHOWN = 80


def canonical(value: object) -> bytes:
    """JSON in ASCII with sorted keys and no blanks: equal values, equal bytes.

    >>> canonical({"b": "\\ud800", "a": 1})
    b'{"a":1,"b":"\\\\ud800"}'
    """
    return "".join(_chunks(value, 0)).encode("ascii")


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON."""
    return sha256(canonical(value)).hexdigest()


def shown(value: object, longest: int = _LONGEST_SHOWN) -> str:
    """A JSON value for a message: on one line, cut when long, and nothing in it that could command a terminal.

    >>> shown({"a": [1, None]}), shown("x" * 100)[-10:], shown("正确\\u202e")
    ('{"a": [1, null]}', 'xxxxxxxxx…', '"正确\\\\u202e"')
    """
    return _cut_json(value, longest, in_ascii=False)


def kept_as_shown(value: object, longest: int = _LONGEST_SHOWN) -> str:
    """The same for what is kept: in ASCII, the same in every version of Python, whatever it knows of characters.

    >>> kept_as_shown("正确")
    '"\\\\u6b63\\\\u786e"'
    """
    return _cut_json(value, longest, in_ascii=True)


def _cut_json(value: object, longest: int, *, in_ascii: bool) -> str:
    try:
        text = plain(json.dumps(value[:longest] if isinstance(value, str) else value, ensure_ascii=in_ascii))
    except RecursionError:
        return "a value nested too deeply to be shown"
    except TypeError:  # from a table, whose cells hold more than JSON does
        return f"a value of the type {type(value).__name__}"
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
