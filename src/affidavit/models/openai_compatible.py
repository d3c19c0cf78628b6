"""Any server that speaks the OpenAI chat interface: vLLM, llama.cpp, Ollama, OpenAI, OpenRouter.

One attempt at a time, and whatever the world does becomes a value. Credentials go to the configured address and
nowhere else: redirections are not followed, and no word of an exception or of a server is kept before every
secret was taken out of it.
"""

import asyncio
import json
import os
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Self
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp
from yarl import URL

from affidavit.errors import UsageError
from affidavit.json_values import Fields
from affidavit.models.chat_response import read_chat, read_refusal
from affidavit.models.model import Answer, Failure, Reason, Request
from affidavit.models.settings import Limits, ModelTable

_KEPT_OPEN = 30.0
"""Seconds that an idle connection is kept."""
_LONGEST_DETAIL = 300
_SHORTEST_SECRET = 4


class OpenAICompatible:
    """One model at one or several addresses; requests are spread over them."""

    def __init__(self, name: str, table: ModelTable, limits: Limits) -> None:
        self.name = name
        self.connections = table.connections
        self._table = table
        self._limits = limits
        self._most_bytes = int(limits.body_megabytes * 1e6)
        self._secrets = _Secrets()
        urls = [table.base_url] if isinstance(table.base_url, str) else table.base_url
        self._places = [_Place(url, self._secrets) for url in urls]
        self._headers = self._checked_headers()
        self._session: aiohttp.ClientSession | None = None

    def _checked_headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self._table.headers}
        for name, value in self._table.headers.items():
            self._refuse_breaks(f"headers.{name}", value)
            self._secrets.add(value)
        if self._table.key_env:
            key = os.environ.get(self._table.key_env, "").strip()
            if not key:
                raise UsageError(
                    f"models.{self.name}.key_env",
                    expected=f"a key in the environment variable {self._table.key_env}",
                    found="none",
                    hint=f"Set it before running: export {self._table.key_env}=…",
                )
            self._refuse_breaks("key_env", key)
            self._secrets.add(key)
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _refuse_breaks(self, place: str, value: str) -> None:
        if any(each < " " and each != "\t" for each in value) or not value.isascii():
            expected = "a text that a header can carry: ASCII, without line breaks"
            raise UsageError(f"models.{self.name}.{place}", expected=expected, found="another")

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self.connections, keepalive_timeout=_KEPT_OPEN),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._limits.connect),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers=self._headers,
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def reachable(self) -> Failure | None:
        """The first address that does not answer at all, or refuses the key."""
        for place in self._places:
            try:
                async with asyncio.timeout(self._limits.connect):
                    failure = await self._looked_up(place)
            except TimeoutError:
                failure = Failure(Reason.TIMEOUT, f"no answer within {self._limits.connect:g} s")
            if failure is not None:
                return Failure(failure.reason, f"{place.shown}: {failure.detail}")
        return None

    async def _looked_up(self, place: "_Place") -> Failure | None:
        try:
            async with self._opened().get(place.at("models"), headers=place.headers, allow_redirects=False) as got:
                # Whatever else it answers, somebody is there: not every server lists its models.
                return Failure(Reason.UNAUTHORISED, f"HTTP {got.status}") if got.status in (401, 403) else None
        except (aiohttp.ClientError, OSError) as error:
            return self._connection_failure(error)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("a model is asked inside `async with`")
        return self._session

    async def complete(self, request: Request) -> Answer:
        """One attempt; whoever calls sets its deadline."""
        place = min(self._places, key=_Place.load)
        place.in_flight += 1
        try:
            answer = await self._asked(place, request)
        except (aiohttp.ClientError, OSError) as error:
            answer = self._connection_failure(error)
        finally:
            place.in_flight -= 1
        if isinstance(answer, Failure) and answer.detail:
            # Cut only what is clean: half a secret would not be known for one.
            clean = self._secrets.removed_from(answer.detail)[:_LONGEST_DETAIL]
            return Failure(answer.reason, clean, answer.retry_after, answer.slow_down)
        return answer

    async def _asked(self, place: "_Place", request: Request) -> Answer:
        body = json.dumps(self._body(request)).encode()
        async with self._opened().post(
            place.chat, data=body, headers=place.headers, allow_redirects=False
        ) as response:
            content = await self._capped(response)
            if isinstance(content, Failure):
                return content
            if response.status == 200:
                return read_chat(content)
            failure = read_refusal(response.status, content)
            wait = retry_after(response.headers.get("Retry-After"), now=datetime.now(UTC))
            return Failure(failure.reason, failure.detail, wait, failure.slow_down)

    def _body(self, request: Request) -> Fields:
        body: Fields = {"model": self._table.model or self.name, "messages": list(request.messages)}
        body.update(request.decoding)
        if request.seed is not None:
            body["seed"] = request.seed
        if request.grammar is not None:
            if self._table.kind == "llamacpp":
                body["grammar"] = request.grammar
            else:
                body["structured_outputs"] = {"grammar": request.grammar}
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        body.update(self._table.body)
        return body

    async def _capped(self, response: aiohttp.ClientResponse) -> bytes | Failure:
        """The body, unless it is larger than any answer should be; also when it is packed."""
        pieces, size = [], 0
        try:
            if response.content_length is not None and response.content_length <= self._most_bytes:
                return self._unpacked(await response.read(), response.headers.get("Content-Encoding", "identity"))
            async for piece in response.content.iter_any():
                size += len(piece)
                if size > self._most_bytes:
                    return self._too_large()
                pieces.append(piece)
        except aiohttp.ClientPayloadError:
            return Failure(Reason.BAD_BODY, "the body ended early")
        return self._unpacked(b"".join(pieces), response.headers.get("Content-Encoding", "identity"))

    def _unpacked(self, content: bytes, encoding: str) -> bytes | Failure:
        """The server was told to send plain bytes; some pack them all the same."""
        if encoding.lower() in ("identity", ""):
            return content
        if encoding.lower() not in ("gzip", "deflate"):
            return Failure(Reason.BAD_BODY, "the body is packed in a way that was not asked for")
        packed = zlib.decompressobj(47)
        try:
            unpacked = packed.decompress(content, self._most_bytes + 1)
        except zlib.error:
            return Failure(Reason.BAD_BODY, "the body cannot be unpacked")
        if len(unpacked) > self._most_bytes:
            return self._too_large()
        return unpacked if packed.eof else Failure(Reason.BAD_BODY, "the body ended early")

    def _too_large(self) -> Failure:
        return Failure(Reason.TOO_LARGE, f"a body of more than {self._limits.body_megabytes:g} MB")

    def _connection_failure(self, error: Exception) -> Failure:
        """What went wrong, by its kind: the words of an exception may hold an address with a password."""
        match error:
            case aiohttp.ServerTimeoutError() | TimeoutError():
                return Failure(Reason.TIMEOUT, f"no connection within {self._limits.connect:g} s")
            case aiohttp.ClientPayloadError():
                return Failure(Reason.BAD_BODY, "the body ended early")
            case aiohttp.ClientConnectorDNSError():
                return Failure(Reason.CONNECTION, "the host has no address")
            case aiohttp.ClientResponseError():
                return Failure(Reason.BAD_BODY, "the response is not HTTP")
            case aiohttp.InvalidURL():
                return Failure(Reason.BAD_REQUEST, "the address is not one")
            case OSError(strerror=str(words)):
                return Failure(Reason.CONNECTION, words if "//" not in words else "the connection failed")
            case _:
                return Failure(Reason.CONNECTION, "the connection broke")


class _Place:
    """One address, its credentials taken out of it."""

    def __init__(self, url: str, secrets: "_Secrets") -> None:
        parts = urlsplit(url)
        userinfo, _, host = parts.netloc.rpartition("@")
        self._parts = (parts.scheme, host, parts.path.rstrip("/"), parts.query)
        self.shown = host
        self.chat = URL(self.at("chat/completions"), encoded=True)
        self.in_flight = 0
        self.headers: Mapping[str, str] = {}
        if userinfo:
            user, _, password = userinfo.partition(":")
            packed = b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode()
            self.headers = {"Authorization": f"Basic {packed}"}
            for secret in (userinfo, password, unquote(password), packed):
                secrets.add(secret)

    def at(self, path: str) -> str:
        """The address of one of the server's resources."""
        scheme, host, above, query = self._parts
        return urlunsplit((scheme, host, f"{above}/{path}", query, ""))

    def load(self) -> int:
        """Requests that wait for an answer."""
        return self.in_flight


class _Secrets:
    """What must never be written or printed."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._parts: set[str] = set()

    def add(self, secret: str) -> None:
        """One more; a word too short to be a secret would only blot out ordinary text."""
        if len(secret) >= _SHORTEST_SECRET:
            self._known.add(secret)
        for part in (secret, *secret.split()):
            if len(bare := _bare(part)) >= _SHORTEST_SECRET:
                self._parts.add(bare)

    def removed_from(self, text: str) -> str:
        """The text with every secret blotted out; nothing of it if one is still there in another spelling."""
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, "[secret]")
        bare = _bare(text)
        return "(not kept: it repeats a [secret])" if any(part in bare for part in self._parts) else text


def _bare(text: str) -> str:
    """A text without blanks, quotes and backslashes, which change when it is repeated."""
    return re.sub(r"[\s\\'\"]+", "", text)


def retry_after(header: str | None, *, now: datetime) -> float | None:
    """The seconds that a server asks to wait, given as seconds or as a date; None if it says nothing sensible.

    >>> retry_after("8", now=datetime(2026, 1, 1, tzinfo=UTC))
    8.0
    >>> retry_after("Thu, 01 Jan 2026 00:00:05 GMT", now=datetime(2026, 1, 1, tzinfo=UTC))
    5.0
    >>> retry_after("soon", now=datetime(2026, 1, 1, tzinfo=UTC))
    """
    if header is None:
        return None
    with suppress(ValueError):
        seconds = float(header)
        return seconds if 0 <= seconds < float("inf") else None
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())
