"""Texts without punctuation: without every code point whose Unicode category begins with P.

What that is depends on the version of Unicode, which a contract that uses it has among its parameters (ruling C3).
"""

import re
import unicodedata
from functools import cache

_BEYOND = re.compile("[\U00010000-\U0010ffff]")
"""What stands beyond the first 65,536 code points: a regular expression is quick with the others only."""


def without_punctuation(text: str) -> str:
    """The text without punctuation; symbols such as `$` and `<` are none.

    >>> without_punctuation("“St. John's”, $5")
    'St Johns $5'
    """
    if text.isascii():
        return text.translate(_in_ascii())
    rest = _near().sub("", text)
    if _BEYOND.search(rest) is None:
        return rest
    return _BEYOND.sub(lambda found: "" if is_punctuation(ord(found[0])) else found[0], rest)


@cache
def _in_ascii() -> dict[int, None]:
    return dict.fromkeys(filter(is_punctuation, range(128)))


@cache
def _near() -> re.Pattern[str]:
    every = "".join(re.escape(chr(code)) for code in filter(is_punctuation, range(0x10000)))
    return re.compile(f"[{every}]+")


def is_punctuation(code: int) -> bool:
    """Whether a code point is punctuation.

    >>> is_punctuation(ord("…")), is_punctuation(ord("+"))
    (True, False)
    """
    return unicodedata.category(chr(code)).startswith("P")
