"""The findings of one evaluation, bounded: however hostile an answer is, what is said of it is small (ruling J4).

Flags come from all findings; the first 200 are kept, and the others are counted by code. A path or a value is cut
at 200 characters, and at 40 once the kept ones have filled the room that there is for all of them. Together with
what `repeated` lets through, a record of an answer of n bytes never takes more than 6 n + 100 kB.
"""

from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import NamedTuple

from affidavit.contracts.finding import FLAG_OF, LONGEST, Code, Finding, Flag
from affidavit.json_values import Fields

MOST = 200
"""Findings that are kept."""
ROOM = 40_000
"""Characters for the paths and values of all findings, before they are cut shorter."""
SHORT = 40


@dataclass(frozen=True, slots=True)
class FurtherFindings:
    """How many findings of a code were not kept."""

    code: Code
    count: int

    def fields(self) -> Fields:
        """The count as a JSON object."""
        return {"code": self.code, "count": self.count}


class Findings(NamedTuple):
    """What a check found, as far as it is kept."""

    kept: tuple[Finding, ...]
    further: tuple[FurtherFindings, ...]
    """In the order in which the first of each was met."""
    flags: tuple[Flag, ...]
    """Of all findings, in the protocol's order."""


_NOTHING = Findings((), (), ())


class FindingsSoFar:
    """Findings on their way; those that are not kept cost nothing but a count."""

    __slots__ = ("_flags", "_further", "_kept", "_room")

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self._further: dict[Code, int] = {}
        self._flags: set[Flag | None] = set()
        self._room = ROOM

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def full(self) -> bool:
        """Whether the next one is only counted, so that its words need not be made."""
        return len(self._kept) >= MOST

    def add(self, code: Code, path: str, expected: str, found: str, declared: Flag | None = None) -> None:
        """One more finding; `declared` is the criterion that the judge itself named."""
        if self.full:
            self.count(code, declared)
            return
        self._flags.add(declared or FLAG_OF.get(code))
        longest = LONGEST if self._room > 0 else SHORT
        path, expected, found = cut(path, longest), cut(expected, longest), cut(found, longest)
        self._room -= _written(path) + _written(expected) + _written(found)
        self._kept.append(Finding(code, path, expected, found, declared))

    def count(self, code: Code, declared: Flag | None = None) -> None:
        """One more that is not kept."""
        self._flags.add(declared or FLAG_OF.get(code))
        self._further[code] = self._further.get(code, 0) + 1

    def all(self) -> Findings:
        """What was found."""
        if not self._kept:  # most evaluations are sound, and there are many
            return _NOTHING
        flags = tuple(flag for flag in Flag if flag in self._flags)
        further = tuple(FurtherFindings(code, count) for code, count in self._further.items())
        return Findings(tuple(self._kept), further, flags)


def cut(text: str, longest: int) -> str:
    r"""The text, or as much of it as JSON writes in so many characters, with an ellipsis.

    >>> cut("abcdef", 6), cut("abcdef", 5), cut("\x7f\x7f", 10)
    ('abcdef', 'abcd…', '\x7f…')
    """
    if len(text) <= longest and _written(text) <= longest:
        return text
    low, high = 0, min(len(text), longest)
    while low < high:  # the longest head that fits beside the ellipsis
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _written(text[:middle]) < longest else (low, middle - 1)
    return f"{text[:low]}…"


def repeated(text: str) -> str:
    r"""A text of the judge's as a reading repeats it: whole, unless JSON would write it much longer than it is.

    The answer stands beside it, verbatim. Three characters for each byte are what ordinary letters of any
    language take at most; a text full of DEL takes six, and twice that would be too much.

    >>> repeated("Привет, мир"), len(repeated("\x7f" * 1000))
    ('Привет, мир', 7)
    """
    if text.isascii() and text.isprintable():
        return text
    size = len(text.encode("utf-8", "surrogatepass"))
    return text if _written(text) <= 3 * size + SHORT else cut(text, SHORT)


def _written(text: str) -> int:
    """How many characters JSON needs for a text."""
    return len(encode_basestring_ascii(text)) - 2
