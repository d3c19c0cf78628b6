"""Secrets taken out of whatever is written or printed: keys, passwords, headers."""

import re

_SHORTEST_SECRET = 4


class Redaction:
    """The secrets that are known, and texts without them.

    >>> redaction = Redaction()
    >>> redaction.add("sk-123456")
    >>> redaction.redacted("refused: sk-123456"), redaction.redacted("refused: sk-\\n123456")
    ('refused: [secret]', '(not kept: it repeats a [secret])')
    """

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._bare_parts: set[str] = set()

    def add(self, secret: str) -> None:
        """One more; a word too short to be a secret would only blot out ordinary text."""
        if len(secret) >= _SHORTEST_SECRET:
            self._secrets.add(secret)
        for part in (secret, *secret.split()):
            if len(bare := _bare(part)) >= _SHORTEST_SECRET:
                self._bare_parts.add(bare)

    def redacted(self, text: str) -> str:
        """The text with every secret blotted out; nothing of it if one is still there in another spelling."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "[secret]")
        bare = _bare(text)
        repeats = any(part in bare for part in self._bare_parts)
        return "(not kept: it repeats a [secret])" if repeats else text


def _bare(text: str) -> str:
    """A text without blanks, quotes and backslashes, which change when it is repeated."""
    return re.sub(r"[\s\\'\"]+", "", text)
