"""One address of a server: its resources, its credentials apart, and how many requests wait there."""

from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

from yarl import URL

from affidavit.models.redaction import Redaction


def is_address(url: str) -> bool:
    """Whether requests can be sent there.

    >>> is_address("http://127.0.0.1:8000/v1"), is_address("127.0.0.1:8000/v1"), is_address("http://[::1/v1")
    (True, False, False)
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https")
        return known and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


class Endpoint:
    """One address; a name and password in it become a header, and are never shown."""

    def __init__(self, url: str, redaction: Redaction) -> None:
        parts = urlsplit(url)
        userinfo, _, host = parts.netloc.rpartition("@")
        self._parts = (parts.scheme, host, parts.path.rstrip("/"), parts.query)
        self.host = host
        self.chat = URL(self.at("chat/completions"), encoded=True)
        self.in_flight = 0
        """Requests that wait for an answer."""
        self.headers: Mapping[str, str] = {}
        if userinfo:
            user, _, password = userinfo.partition(":")
            encoded = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
            self.headers = {"Authorization": f"Basic {encoded}"}
            for secret in (userinfo, password, unquote(password), encoded):
                redaction.add(secret)

    def at(self, path: str) -> str:
        """The address of one of the server's resources."""
        scheme, host, above, query = self._parts
        return urlunsplit((scheme, host, f"{above}/{path}", query, ""))
