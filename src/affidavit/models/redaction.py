"""Secrets taken out of whatever is written or printed: keys, passwords, headers, values of the environment.

Whatever a server says *about* a request is cleaned, also of large pieces of a secret; a model's output stays word
for word (ruling C2), and it is only said that one holds a secret.
"""

import html
import json
import re
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Iterator
from unicodedata import normalize
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from affidavit.models.secret_pieces import SECRET, halves, without_pieces

_SHORTEST_SECRET, _SHORTEST_PIECE = 4, 6
_MOST_READ = 2000
"""Characters of what a server says that are looked at: a few hundred are kept, and cleaning takes its time."""
_MOST_KNOWN = 1000
"""Texts whose clean form is remembered: servers say the same of themselves with every response."""
MASK = "█"


def secret_note(outputs: int, model: str) -> str:
    """What is said of outputs that hold a secret."""
    return (
        f"WARNING: {outputs:,} outputs of {model} hold a secret that was sent with the requests. They are kept "
        "word for word: do not publish them, and change the secret. `affidavit report DIR --mask NAME` covers the "
        "value of an environment variable on the page"
    )


class Redaction:
    """The secrets that are known, and texts without them.

    >>> redaction = Redaction()
    >>> redaction.add("sk-123456")
    >>> redaction.redacted("refused: SK-123456"), redaction.redacted("refused: sk-\\n123456")
    ('refused: [secret]', '(not kept: it repeats a [secret])')
    >>> redaction.redacted("c2stMTIzNDU2"), redaction.holds("my key is sk-123456")
    ('[secret]', True)
    """

    def __init__(self) -> None:
        self._spellings: set[str] = set()
        self._telling: set[str] = set()
        """The spellings that are looked for in outputs."""
        self._bare_parts: set[str] = set()
        self._bare_spellings: set[str] = set()
        self._bare_halves: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._known: dict[str, str] = {}

    def add(self, secret: str, *, ordinary: bool = False) -> None:
        """One more; a word too short to be a secret would only blot out ordinary text.

        What may just as well be an `ordinary` word, such as a header that names a program, is taken out of what
        servers say, and in an output it means nothing.
        """
        if len(secret) >= _SHORTEST_SECRET:
            spellings = {each.lower() for each in _spellings(secret)}
            self._spellings |= spellings
            self._bare_spellings |= {bare for each in spellings if len(bare := _bare(each)) >= _SHORTEST_PIECE}
            if not ordinary:
                self._telling |= spellings
                self._bare_halves |= halves(_bare(secret))
            ranked = sorted(self._spellings, key=lambda each: (-len(each), each))
            self._pattern = re.compile("|".join(map(re.escape, ranked)), re.IGNORECASE)
        for part in (secret, *secret.split()):
            if len(bare := _bare(part)) >= _SHORTEST_SECRET:
                self._bare_parts.add(bare)
        self._known.clear()

    def holds(self, text: str) -> bool:
        """Whether a secret stands in a text, in any of its spellings."""
        if not self._telling:
            return False
        small = text.lower()
        return any(spelling in small for spelling in self._telling)

    def redacted(self, text: str) -> str:
        """The text with every secret blotted out; nothing of it if one is still there in another spelling.

        Of a long text only the beginning is given back.
        """
        if self._pattern is None and not self._bare_parts:
            return text
        clean = self._known.get(text)
        if clean is None and len(text) > _MOST_READ:
            # A secret may be cut in two at the end: as much as one can take is left out there.
            longest = max(map(len, (*self._spellings, *self._bare_parts)))
            return self._cleaned(text[: _MOST_READ + longest])[: -longest - 1] + "…"
        if clean is None:
            clean = self._cleaned(text)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            if len(text) <= 1000:
                self._known[text] = clean
        return clean

    def _cleaned(self, text: str) -> str:
        clean = text if self._pattern is None else self._pattern.sub(SECRET, text)
        if _is_read_in(clean, self._bare_parts | self._bare_spellings):
            return _NOT_KEPT
        for spelling in self._telling:
            clean = without_pieces(clean, spelling)
        return _NOT_KEPT if _is_read_in(clean, self._bare_halves) else clean

    def masked(self, text: str) -> str:
        """The text with every secret covered, as long as before, so that places in it stay where they are."""
        return text if self._pattern is None else self._pattern.sub(lambda found: MASK * len(found[0]), text)


_NOT_KEPT = f"(not kept: it repeats a {SECRET})"


def _is_read_in(text: str, known: set[str]) -> bool:
    """Whether somebody who undoes the spelling of a text reads one of these there."""
    return bool(known) and any(each in bare for bare in map(_bare, _read_otherwise(text)) for each in known)


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it may come back: plain, in an address, in JSON, in HTML, in base64 wherever it begins there."""
    yield secret
    words = secret.encode("utf-8", "surrogatepass")
    yield from (quote(words, safe=""), quote(words), quote_plus(words))
    yield from (words.hex(), b32encode(words).decode().rstrip("="))
    yield from (json.dumps(secret)[1:-1], html.escape(secret), html.escape(secret).replace("&#x27;", "&#39;"))
    for encode in (b64encode, urlsafe_b64encode):
        for shift, depends_on_before in enumerate((0, 2, 3)):
            packed = bytes(shift) + words
            piece = encode(packed).decode().rstrip("=")[depends_on_before:]
            whole = piece if len(packed) % 3 == 0 else piece[:-1]  # the last one depends on what follows
            yield from (each for each in (piece, whole) if len(each) >= _SHORTEST_PIECE)


_NUMBERED = re.compile(r"&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));?")
_ESCAPED = re.compile(r"\\{1,8}(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")


def _read_otherwise(text: str) -> Iterator[str]:
    """A text as it is, and as somebody reads it who undoes HTML, addresses and escapes, each once or twice."""
    yield text
    for _ in range(2):
        text = _NUMBERED.sub(lambda found: _letter(found[1], found[2]), text)
        text = _ESCAPED.sub(lambda found: _letter(found[1] or found[2], None), text)
        for name, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&")):
            text = text.replace(name, letter)
        yield text
        yield unquote_plus(text)
        text = unquote(text)
    yield normalize("NFC", text)


def _letter(hexadecimal: str | None, decimal: str | None) -> str:
    code = int(hexadecimal, 16) if hexadecimal else int(decimal or "0")
    return chr(code) if code < 0x110000 else ""


def _bare(text: str) -> str:
    """A text without blanks, quotes and backslashes, which change when it is repeated; in small letters."""
    return re.sub(r"[\s\\'\"]+", "", text).lower()
