"""One address of a server: its resources, and its credentials apart."""

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit, urlunsplit

from affidavit import __version__
from affidavit.errors import InputError
from affidavit.models.connections import Origin
from affidavit.models.redaction import Redaction
from affidavit.models.response_ids import ResponseIds

_OWN_HEADERS = {
    "User-Agent": f"affidavit/{__version__}",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}
_KEPT_IN_TARGETS = "/?%:@!$&'()*+,;=~[]|"
"""What is sent as it was written; the rest, spaces and letters beyond ASCII, is escaped."""


def is_address(url: str) -> bool:
    """Whether requests can be sent there.

    >>> is_address("http://127.0.0.1:8000/v1"), is_address("127.0.0.1:8000/v1"), is_address("http://[::1/v1")
    (True, False, False)
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        known = parts.scheme in ("http", "https") and (parts.port is None or parts.port > 0)
        # What no name server could be asked for: too long, an empty part, characters that no name has.
        named = host.isprintable() and " " not in host and len(host.rstrip(".").encode("idna")) <= _LONGEST_HOST
        return known and named and bool(host.rstrip("."))
    except ValueError:
        return False


def server_place(url: str) -> tuple[str, str, int | None, str, str]:
    """Of an address what says which server is asked, and where: equal for equal places, however they are written.

    >>> server_place("http://H:80/v1/") == server_place("HTTP://h/v1#x") != server_place("http://h:8000/v1")
    True
    """
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", parts.port or usual, parts.path.rstrip("/"), parts.query


_LONGEST_HOST = 253
"""Bytes of the name of a host."""


def refuse_address(path: str, place: str, *, expected: str, hint: str) -> None:
    """Refuse an address where a path is meant; it is not repeated, as it may hold a password.

    >>> refuse_address("http://me:word@h/x", "s: models.m.replay", expected="a directory", hint="Copy it here.")
    Traceback (most recent call last):
    affidavit.errors.InputError: s: models.m.replay: expected a directory, found an address
    Copy it here.
    """
    if re.match(r"\s*[A-Za-z][A-Za-z0-9+.-]*:/", path):
        raise InputError(place, expected=expected, found="an address", hint=hint)


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


def addresses_meant(url: str) -> list[str]:
    """Addresses of the same server that people mean when they write this one, the likeliest first.

    >>> addresses_meant("http://h:8000"), addresses_meant("http://h/v1/chat/completions?key=a")[0]
    (['http://h:8000/v1', 'http://h:8000/api/v1'], 'http://h/v1?key=a')
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    above = path.removesuffix("/chat/completions").removesuffix("/completions")
    paths = dict.fromkeys([above, f"{above}/v1", "/v1", "/api/v1"])
    return [urlunsplit(parts._replace(path=each)) for each in paths if each and each != path]


class Endpoint:
    """One address; a name and password in it become a header, and are never shown."""

    def __init__(
        self,
        url: str,
        redaction: Redaction,
        headers: Mapping[str, str] | None = None,
        *,
        repeats_ids: bool = False,
    ) -> None:
        """`headers`: sent with every request, in place of our own of the same name."""
        parts = urlsplit(url)
        self.url = url
        """As it was given: it may hold a password."""
        self.origin = _origin(parts)
        self.host = _host(parts)
        """As it is named to the server, and to people."""
        self._above, self._query = parts.path.rstrip("/"), parts.query
        self._headers = _merged(_OWN_HEADERS, headers or {}, _credentials(parts, redaction))
        self._heads: dict[tuple[str, str], bytes] = {}
        self.ids = ResponseIds(prove_nothing=repeats_ids)
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            for secret in (value or name, quote(value or name)):
                redaction.add(secret, ordinary=not value)

    def target(self, path: str) -> str:
        """What stands in the first line of a request for one of the server's resources."""
        return quote(urlunsplit(("", "", f"{self._above}/{path}", self._query, "")), safe=_KEPT_IN_TARGETS)

    def get(self, path: str) -> bytes:
        """A request for a resource, as it is sent."""
        return self._head("GET", path) + b"\r\n"

    def post(self, path: str, content: bytes) -> bytes:
        """A request that brings JSON to a resource, as it is sent."""
        return b"%bContent-Length: %d\r\n\r\n%b" % (self._head("POST", path), len(content), content)

    def _head(self, method: str, path: str) -> bytes:
        head = self._heads.get((method, path))
        if head is None:
            lines = [f"{method} {self.target(path)} HTTP/1.1", f"Host: {self.host}"]
            lines += (f"{name}: {value}" for name, value in self._headers.items())
            head = self._heads[method, path] = "".join(f"{line}\r\n" for line in lines).encode("ascii")
        return head


def _origin(parts: SplitResult) -> Origin:
    encrypted = parts.scheme == "https"
    return Origin(parts.hostname or "", parts.port or (443 if encrypted else 80), encrypted)


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    name = name if name.isascii() else name.encode("idna").decode()
    return (f"[{name}]" if ":" in name else name) + (f":{parts.port}" if parts.port else "")


def _credentials(parts: SplitResult, redaction: Redaction) -> dict[str, str]:
    """The header that name and password of an address become."""
    userinfo = parts.netloc.rpartition("@")[0]
    if not userinfo:
        return {}
    user, _, password = userinfo.partition(":")
    encoded = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
    for secret in (userinfo, password, unquote(password), encoded):
        redaction.add(secret)
    for name in (user, unquote(user)):
        redaction.add(name, ordinary=True)
    return {"Authorization": f"Basic {encoded}"}


def _merged(*headers: Mapping[str, str]) -> dict[str, str]:
    """Headers under their names in the spelling that came last, which may differ in capitals."""
    named = {name.lower(): (name, value) for each in headers for name, value in each.items()}
    return dict(named.values())
