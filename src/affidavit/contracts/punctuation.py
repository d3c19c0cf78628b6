"""Texts without punctuation: without every code point whose Unicode category begins with P.

What that is depends on the version of Unicode, which a contract that uses it has among its parameters (ruling C3).
"""

import unicodedata


class _Kept(dict[int, int | None]):
    """By code point, itself or None, found when it is first asked for: there are a million of them."""

    def __missing__(self, code: int) -> int | None:
        kept = self[code] = None if unicodedata.category(chr(code)).startswith("P") else code
        return kept


_KEPT = _Kept()


def without_punctuation(text: str) -> str:
    """The text without punctuation; symbols such as `$` and `<` are none.

    >>> without_punctuation("“St. John's”, $5")
    'St Johns $5'
    """
    return text.translate(_KEPT)
