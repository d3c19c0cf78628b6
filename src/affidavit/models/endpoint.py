"""One address of a server: its resources, its credentials apart, and how many requests wait there."""

from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from yarl import URL

from affidavit.models.redaction import Redaction
from affidavit.models.response_ids import ResponseIds


def is_address(url: str) -> bool:
    """Whether requests can be sent there.

    >>> is_address("http://127.0.0.1:8000/v1"), is_address("127.0.0.1:8000/v1"), is_address("http://[::1/v1")
    (True, False, False)
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and (parts.port is None or parts.port > 0)
        # What no name server could be asked for: too long, an empty part, characters that no name has.
        return known and 0 < len((parts.hostname or "").rstrip(".").encode("idna")) <= _LONGEST_HOST
    except ValueError:
        return False


_LONGEST_HOST = 253
"""Bytes of the name of a host."""


def shown_address(url: str) -> str:
    """An address without what may be secret in it: name and password, and the values of a query.

    >>> shown_address("https://me:word@host:8000/v1?key=abc&version=2"), shown_address("http://h/v1?abc")
    ('https://host:8000/v1?key=…&version=…', 'http://h/v1?…')
    >>> shown_address("http://me:8/word@host/v1")
    'http://…@host/v1'
    """
    parts = urlsplit(url)
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":  # of a password that was not encoded, perhaps
        return f"{parts.scheme}://…@{url.rpartition('@')[2].partition('?')[0]}"
    query = [part.partition("=") for part in parts.query.split("&") if part]
    names = "&".join(f"{name}=…" if equals else "…" for name, equals, _ in query)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, names, ""))


class Endpoint:
    """One address; a name and password in it become a header, and are never shown."""

    def __init__(self, url: str, redaction: Redaction, *, repeats_ids: bool = False) -> None:
        parts = urlsplit(url)
        userinfo, _, host = parts.netloc.rpartition("@")
        self._parts = (parts.scheme, host, parts.path.rstrip("/"), parts.query)
        self.host = host
        self.chat = URL(self.at("chat/completions"), encoded=True)
        self.in_flight = 0
        """Requests that wait for an answer."""
        self.ids = ResponseIds(prove_nothing=repeats_ids)
        self.headers: Mapping[str, str] = {}
        if userinfo:
            user, _, password = userinfo.partition(":")
            encoded = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
            self.headers = {"Authorization": f"Basic {encoded}"}
            for secret in (userinfo, password, unquote(password), encoded):
                redaction.add(secret)
            for name in (user, unquote(user)):
                redaction.add(name, ordinary=True)
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            for secret in (value or name, quote(value or name)):
                redaction.add(secret, ordinary=not value)

    def at(self, path: str) -> str:
        """The address of one of the server's resources."""
        scheme, host, above, query = self._parts
        return urlunsplit((scheme, host, f"{above}/{path}", query, ""))
