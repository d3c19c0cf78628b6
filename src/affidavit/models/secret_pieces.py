"""Pieces of a secret that came in two: over two fields, or because somebody has cut a text in the middle of it.

Whoever has half of a key has less to guess. So half of one is taken out wherever it stands, and its first eight
characters are where a text ends, for there it may have been cut. More pieces, each less than half, are not known.
"""

SECRET = "[secret]"  # noqa: S105 - what stands in the place of one
TELLING = 8
"""Characters of a secret, from its beginning or its end, that are too many to be shown."""
_AFTER_A_CUT = " \t\r\n.…*\"'`)]}>"
"""What may stand behind the place at which a text was cut."""


def halves(spelling: str) -> set[str]:
    """The first and the last half: if a secret is cut in two, one of them is in one piece. None of a short one.

    >>> sorted(halves("0123456789abcdef")), halves("0123456789")
    (['01234567', '89abcdef'], set())
    """
    half = (len(spelling) + 1) // 2
    return {spelling[:half], spelling[-half:]} if half >= TELLING else set()


def without_pieces(text: str, spelling: str) -> str:
    """A text without the pieces of a secret, which is given in small letters.

    >>> without_pieces("it begins 0123456789AB and ends CDEF", "0123456789abcdef")
    'it begins [secret] and ends CDEF'
    >>> without_pieces("01234567 is not the key 01234567...", "0123456789abcdefghij")
    '01234567 is not the key [secret]...'
    """
    searched = 0
    while (place := _piece(_small(text), spelling, searched)) is not None:
        start, end = place
        text = f"{text[:start]}{SECRET}{text[end:]}"
        searched = start + len(SECRET)
    return text


def _piece(text: str, spelling: str, searched: int) -> tuple[int, int] | None:
    """Where the next large piece stands, behind what was searched already."""
    half, places = (len(spelling) + 1) // 2, list[tuple[int, int]]()
    if half >= TELLING:
        if (start := text.find(spelling[:half], searched)) >= 0:
            places.append((start, start + _alike(text[start:], spelling)))
        if (at := text.find(spelling[-half:], searched)) >= 0:
            before = _alike(text[searched:at][::-1], spelling[:-half][::-1])
            places.append((at - before, at + half))
    if len(spelling) > TELLING and (start := _beginning_at_the_end(text, spelling, searched)) >= 0:
        places.append((start, len(text.rstrip(_AFTER_A_CUT))))
    return min(places, default=None)


def _beginning_at_the_end(text: str, spelling: str, searched: int) -> int:
    """Where a text goes over into a secret and ends before that does; -1: it does not."""
    cut = text.rstrip(_AFTER_A_CUT)
    start = cut.find(spelling[:TELLING], max(searched, len(cut) - len(spelling)))
    while start >= 0 and not spelling.startswith(cut[start:]):
        start = cut.find(spelling[:TELLING], start + 1)
    return start


def _alike(text: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(text, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))


def _small(text: str) -> str:
    """A text in small letters, each in the place of its own."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(a if len(a := c.lower()) == 1 else c for c in text)
