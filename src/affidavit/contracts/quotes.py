"""Where a quote stands in a text, and how much had to be overlooked to find it (ruling J6).

Three kinds of match, tried in this order, and a verdict that is none of them:

    exact        the quote stands there, code point for code point
    normalised   it does after NFKC, with typographic quotes and dashes folded and whitespace removed
    elided       its pieces between ellipses do, in order, without overlap
    absent       it does not

Whatever is found has a span in the *original* text. `unicodedata.normalize` needs quadratic time on long
runs of combining marks, so text is normalised in pieces that hold at most 32 of them (ruling C4).
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache

from affidavit.contracts.contract import Span

MARKS_AT_ONCE = 32
SHORTEST_PIECE = 8
SHORTEST_EAST_ASIAN_PIECE = 4
_SIZE = 4096
_FEW_MARKS = MARKS_AT_ONCE + 1
_FEW = 8
_LONG = 50_000
"""Characters from which a text is normalised before any quote is looked for in it."""

_FOLDS = {
    "'": "\u2018\u2019\u201a\u201b",
    '"': "\u201c\u201d\u201e\u201f",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
}
_FOLD = tuple((fancy, plain) for plain, fancies in _FOLDS.items() for fancy in fancies)
_LONGEST_LETTER = "\ufdfa"
_LONGEST_LETTER_IN_FULL = unicodedata.normalize("NFKC", _LONGEST_LETTER)
_ASCII_BLANKS = "".join(chr(code) for code in range(128) if chr(code).isspace()).encode()
_COMMON_BLANKS = " \n\r\t"
# NFKC has turned every … into three dots by the time a quote is split.
_DOTS = "..."
_ELLIPSIS = re.compile(r"\[\.\.\.\.*+\]|\(\.\.\.\.*+\)|\.\.\.\.*+")
_EAST_ASIAN = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u30ff\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\uff66-\uff9f"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff]"
)


class MatchKind(StrEnum):
    """How a quote was found."""

    EXACT = "exact"
    NORMALISED = "normalised"
    ELIDED = "elided"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Location:
    """How a quote was found and, unless it is absent, from its first to its last matched character."""

    kind: MatchKind
    span: Span | None


ABSENT = Location(MatchKind.ABSENT, None)


def locate(quote: str, text: str) -> Location:
    """The leftmost place of the quote in the text, by the strictest kind of match that finds it.

    >>> locate("the “big” house", 'In  the "big"\\nhouse.')
    Location(kind=<MatchKind.NORMALISED: 'normalised'>, span=Span(start=4, end=19))
    >>> locate("It was late [...] we went home.", "It was late, so we went home.").kind.value
    'elided'
    >>> locate("never said", "something else").kind.value
    'absent'
    """
    return Quotable(text).locate(quote)


class Quotable:
    """A text in which many quotes are looked for; it is normalised at most once."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _normalised(self) -> "_Normalised":
        return _Normalised(self._text)

    def locate(self, quote: str) -> Location:
        """See `locate`."""
        if not quote.strip():
            return ABSENT
        if len(self._text) >= _LONG and self._normalised.letter_by_letter:
            return self._locate_once(quote)
        return self._exact(quote) or _locate_normalised(_wanted(quote), self._normalised)

    def _exact(self, quote: str, since: int = 0, until: int | None = None) -> Location | None:
        start = self._text.find(quote, since, until)
        return None if start < 0 else Location(MatchKind.EXACT, Span(start, start + len(quote)))

    def _locate_once(self, quote: str) -> Location:
        """The same, with one search through a long text for a quote that is not there, or is there once.

        Where nothing attaches to what stands before it, whatever is there exactly is there normalised too: an
        exact place holds a normalised one, and begins and ends no further from it than the quote is long.
        """
        wanted, searched = _wanted(quote), self._normalised
        if not wanted:
            return self._exact(quote) or ABSENT
        start = searched.find(wanted)
        if start < 0:
            return _locate_elided(wanted, searched)
        span = searched.original(start, start + len(wanted))
        exact = self._exact(quote, max(0, span.start - len(quote)), span.end + len(quote))
        if exact is None and searched.text.find(wanted, start + 1) >= 0:
            exact = self._exact(quote, span.start)
        return exact or Location(MatchKind.NORMALISED, span)


def _locate_normalised(wanted: str, searched: "_Normalised") -> Location:
    if not wanted:
        return ABSENT
    start = searched.find(wanted)
    if start < 0:
        return _locate_elided(wanted, searched)
    return Location(MatchKind.NORMALISED, searched.original(start, start + len(wanted)))


def _locate_elided(wanted: str, searched: "_Normalised") -> Location:
    if _DOTS not in wanted:
        return ABSENT
    pieces = [piece for piece in _ELLIPSIS.split(wanted) if piece]
    if not pieces or any(_too_short(piece) for piece in pieces):
        return ABSENT
    first, end = -1, 0
    for piece in pieces:
        start = searched.text.find(piece, end)
        if start < 0:
            return ABSENT
        first, end = (start if first < 0 else first), start + len(piece)
    return Location(MatchKind.ELIDED, searched.original(first, end))


def _too_short(piece: str) -> bool:
    """Whether a piece between ellipses could stand anywhere by chance."""
    if len(piece) >= SHORTEST_PIECE:
        return False
    return len(piece) < SHORTEST_EAST_ASIAN_PIECE or _EAST_ASIAN.search(piece) is None


def _wanted(quote: str) -> str:
    """What is looked for once a quote is not there exactly."""
    return _without_quote_marks(_Normalised(quote).text)


def _without_quote_marks(quote: str) -> str:
    """The folded quote without one pair of equal marks around it; nothing is left of a pair alone."""
    if len(quote) >= 2 and quote[0] == quote[-1] and quote[0] in "'\"":
        return quote[1:-1]
    return quote


class _Normalised:
    """A text as quotes are looked for in it, with the way back to the original."""

    def __init__(self, original: str) -> None:
        self._original = original
        self._cuts = _ASCII_CUTS if original.isascii() else _cuts_for(original)
        self.letter_by_letter = original.isascii() or self._cuts.mark.search(original) is None
        """Whether nothing in it attaches to what stands before it."""
        self._starts: list[int] = []  # of each piece in the original
        self._places: list[int] = []  # of each piece in the normalised text
        folded, place = [], 0
        for start, piece in self._pieces():
            plain = _folded_before(piece) if len(piece) <= _FEW_MARKS else _folded(piece)
            self._starts.append(start)
            self._places.append(place)
            folded.append(plain)
            place += len(plain)
        self.text = "".join(folded)

    def find(self, wanted: str) -> int:
        """Where it is first, or -1; a quote with an ellipsis stands word for word in no text without one."""
        return -1 if _DOTS in wanted and not self._has_dots else self.text.find(wanted)

    @cached_property
    def _has_dots(self) -> bool:
        return _DOTS in self.text

    def _pieces(self) -> Iterator[tuple[int, str]]:
        text = self._original
        if text.isascii():
            return ((start, text[start : start + _SIZE]) for start in range(0, len(text), _SIZE))
        if self.letter_by_letter or self._cuts.long_run.search(text) is None:
            return _cut_before(self._cuts.plain, text)
        return ((match.start(), match[0]) for match in self._cuts.piece.finditer(text))

    def original(self, start: int, end: int) -> Span:
        """The stretch of the original that the normalised characters `start` to `end` come from."""
        return Span(self._unit(start).start, self._unit(end - 1).end)

    def _unit(self, place: int) -> Span:
        """The code points of the original that gave the normalised character at `place`."""
        number = bisect_right(self._places, place) - 1
        # Several pieces may share a place when all but the last of them vanish; bisect gives the last.
        reached, start = self._places[number], self._starts[number]
        stop = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._original)
        start, reached = self._nearest(start, stop, reached, place)
        for unit in self._cuts.unit.finditer(self._original, start, stop):
            reached += len(_folded(unit[0]))
            if reached > place:
                return _within(unit[0], unit.start(), place - reached + len(_folded(unit[0])))
        raise AssertionError("every normalised character comes from a unit of the original")

    def _nearest(self, start: int, stop: int, reached: int, place: int) -> tuple[int, int]:
        """A unit shortly before the one that gave the character at `place`, and where what it gives begins.

        By halves: to go through the units of a whole piece would take longer than to find the quote.
        """
        while stop - start > _FEW:
            middle = self._cuts.plain.search(self._original, (start + stop) // 2, stop)
            if middle is None:
                break
            before = reached + len(_folded(self._original[start : middle.start()]))
            if before > place:
                stop = middle.start()
            else:
                start, reached = middle.start(), before
        return start, reached


def _within(unit: str, start: int, place: int) -> Span:
    """The code points that gave the character at `place` of the folded unit: one, unless they were joined."""
    each = [_folded(character) for character in unit]
    if "".join(each) != _folded(unit):
        return Span(start, start + len(unit))
    for offset, folded in enumerate(each):
        place -= len(folded)
        if place < 0:
            return Span(start + offset, start + offset + 1)
    raise AssertionError("a place within the unit belongs to one of its code points")


def _cut_before(plain: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """Pieces of about the same size, each beginning with a code point that leaves the last one alone."""
    start = 0
    while start < len(text):
        following = plain.search(text, start + _SIZE)
        end = len(text) if following is None else following.start()
        yield start, text[start:end]
        start = end


def _folded(piece: str) -> str:
    """NFKC, then folded, then without whitespace: in this order (ruling J6)."""
    if piece.isascii():
        return piece.encode("ascii").translate(None, _ASCII_BLANKS).decode("ascii")
    # The one letter that becomes eighteen is replaced first: it comes to the same, in a fraction of the time.
    piece = unicodedata.normalize("NFKC", piece.replace(_LONGEST_LETTER, _LONGEST_LETTER_IN_FULL))
    # One replacement after the other: each is a search for one character, and most of them are not there.
    for fancy, plain in _FOLD:
        piece = piece.replace(fancy, plain)
    for blank in _COMMON_BLANKS:
        piece = piece.replace(blank, "")
    return "".join(piece.split())


_folded_before = lru_cache(maxsize=1024)(_folded)
"""The same, for pieces that come again and again: a long run of marks is cut into thousands that are alike."""


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Regular expressions that cut a text where normalising the parts is normalising the whole."""

    plain: re.Pattern[str]
    """A code point that does not attach to what stands before it."""
    mark: re.Pattern[str]
    """One that does."""
    long_run: re.Pattern[str]
    """More marks than may be normalised at once."""
    unit: re.Pattern[str]
    """The shortest pieces: a code point and up to 32 that attach to it."""
    piece: re.Pattern[str]
    """Many units at once; only where more than 32 marks follow each other is a piece a single unit."""

    @classmethod
    def of(cls, plain: str, glue: str) -> "_Cuts":
        unit = f"{plain}{glue}{{0,{MARKS_AT_ONCE}}}+|{glue}{{1,{MARKS_AT_ONCE}}}+"
        marked = f"{plain}{{1,64}}{glue}{{0,{MARKS_AT_ONCE}}}(?!{glue})"
        return cls(
            plain=re.compile(plain),
            mark=re.compile(glue),
            long_run=re.compile(f"{glue}{{{MARKS_AT_ONCE + 1}}}"),
            unit=re.compile(unit),
            piece=re.compile(f"(?:{marked}){{1,64}}|{unit}"),
        )


def _cuts_for(text: str) -> _Cuts:
    """A character class is fast up to U+FFFF and slow beyond, so few texts get the class that goes beyond."""
    if len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):  # there is nothing beyond U+FFFF
        return _cuts_within_bmp()
    far = map(ord, _far_range().findall(text))
    return _cuts_within_bmp() if _far_glue().isdisjoint(far) else _cuts_beyond_bmp()


_ANY, _NONE = re.compile("(?s)."), re.compile("(?!)")
_ASCII_CUTS = _Cuts(
    plain=_ANY, mark=_NONE, long_run=_NONE, unit=_ANY, piece=_ANY
)  # every character stands for itself


@cache
def _cuts_within_bmp() -> _Cuts:
    near = "".join(f"\\u{code:04x}" for code in _glue() if code <= 0xFFFF)
    return _Cuts.of(f"[^{near}]", f"[{near}]")


@cache
def _cuts_beyond_bmp() -> _Cuts:
    listed = "".join(f"\\U{code:08x}" for code in _glue())
    return _Cuts.of(f"[^{listed}]", f"[{listed}]")


@cache
def _far_glue() -> frozenset[int]:
    return frozenset(code for code in _glue() if code > 0xFFFF)


@cache
def _far_range() -> re.Pattern[str]:
    """The range that holds all glue beyond U+FFFF, and much besides: mathematical letters, for one."""
    return re.compile(f"[\\U{min(_far_glue()):08x}-\\U{max(_far_glue()):08x}]")


@cache
def _glue() -> tuple[int, ...]:
    """The code points that may change, or join, what stands before them when text is normalised.

    These are the combining marks, the second halves of composed characters, and whatever decomposes to
    something that begins with one of them, by this interpreter's Unicode version. Built once, when the
    first text beyond ASCII has to be normalised.
    """
    decompositions = {}
    for code in range(0xA0, 0x30000):
        decomposition = unicodedata.decomposition(chr(code))
        if decomposition:
            decompositions[code] = decomposition
    glue = {code for code in range(0x300, 0x20000) if unicodedata.combining(chr(code))}
    pairs = (text.split() for text in decompositions.values() if not text.startswith("<"))
    glue.update(int(pair[1], 16) for pair in pairs if len(pair) == 2)
    glue.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # Hangul joins by rule, not by table
    glue.update(code for code in decompositions if ord(unicodedata.normalize("NFKD", chr(code))[0]) in glue)
    return tuple(sorted(glue))
