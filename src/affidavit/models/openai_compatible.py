"""Any server that speaks the OpenAI chat interface: vLLM, llama.cpp, Ollama, OpenAI, OpenRouter.

One attempt at a time, and whatever the world does becomes a value. Credentials go to the configured address and
nowhere else: redirections are not followed, and no word of an exception or of a server is kept before every
secret was taken out of it.
"""

import asyncio
import json
import os
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self, get_args

import aiohttp
import msgspec

from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.models.chat_response import read_chat, read_refusal
from affidavit.models.endpoint import Endpoint, is_address
from affidavit.models.model import Answer, Failure, Model, Reason, Request
from affidavit.models.redaction import Redaction
from affidavit.models.retry_after import retry_after
from affidavit.models.settings import Limits, ModelTable, Provider, SettingsTable, check_positive

Flavour = Literal["openai", "llamacpp", "vllm", "ollama", "openrouter"]
"""Servers speak one interface, and differ in what they add to it."""

_GRAMMAR_IN_BODY: Mapping[str, Callable[[str], Fields]] = {
    "llamacpp": lambda grammar: {"grammar": grammar},
    "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
}
"""How a grammar is sent, by flavour; the others take none."""
_KEPT_OPEN = 30.0
"""Seconds that an idle connection is kept."""
_LONGEST_DETAIL = 300


class ServerProvider(SettingsTable, Provider, frozen=True, kw_only=True):
    """`base_url`: a server, at one address or several."""

    flavours = get_args(Flavour)

    base_url: str | list[str] = ""
    flavour: Flavour = "openai"
    key_env: str | None = None
    """The environment variable that holds the key; the key itself is never in a file."""
    connections: int = 32
    """Requests that are sent at once, at most."""
    headers: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def addresses(self) -> list[str]:
        """Where it is reached."""
        return [self.base_url] if isinstance(self.base_url, str) else self.base_url

    @property
    def takes_grammar(self) -> bool:
        """By its flavour."""
        return self.flavour in _GRAMMAR_IN_BODY

    @property
    def takes_schema(self) -> bool:
        """Every flavour has `response_format`."""
        return True

    def check(self, *, where: str, place: str) -> None:
        """Refuse what is no address, and a number of connections that is none."""
        check_positive({f"{place}.connections": self.connections}, where=where)
        if not all(map(is_address, self.addresses)):
            # The address itself is not repeated: it may hold a password.
            expected = f"an http:// or https:// address in {place}.base_url"
            raise InputError(where, expected=expected, found="something else")

    @classmethod
    def from_frozen(cls, *, flavour: str, context: int) -> Self:
        """Settings of the same flavour, without an address."""
        return cls(flavour=flavour)  # type: ignore[arg-type]

    def open(self, name: str, table: ModelTable, limits: Limits, *, beside: Path) -> Model:
        """The model at its server."""
        return OpenAICompatible(name, self, limits, model=table.model, body=table.body)


class OpenAICompatible:
    """One model at one or several addresses; requests are spread over them."""

    def __init__(
        self, name: str, server: ServerProvider, limits: Limits, *, model: str, body: Mapping[str, object]
    ) -> None:
        self.name = name
        self.connections = server.connections
        self._server = server
        self._limits = limits
        self._model = model
        self._further_fields = body
        self._most_bytes = int(limits.body_megabytes * 1e6)
        self._redaction = Redaction()
        self._endpoints = [Endpoint(url, self._redaction) for url in server.addresses]
        self._headers = self._checked_headers()
        self._session: aiohttp.ClientSession | None = None

    def _checked_headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self._server.headers}
        for name, value in self._server.headers.items():
            self._refuse_breaks(f"headers.{name}", value)
            self._redaction.add(value)
        if variable := self._server.key_env:
            key = os.environ.get(variable, "").strip()
            if not key:
                raise UsageError(
                    f"models.{self.name}.key_env",
                    expected=f"a key in the environment variable {variable}",
                    found="none",
                    hint=f"Set it before running: export {variable}=…",
                )
            self._refuse_breaks("key_env", key)
            self._redaction.add(key)
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _refuse_breaks(self, place: str, value: str) -> None:
        if any(character < " " and character != "\t" for character in value) or not value.isascii():
            expected = "a text that a header can carry: ASCII, without line breaks"
            raise UsageError(f"models.{self.name}.{place}", expected=expected, found="another")

    def facts(self) -> Fields:
        """Nothing: what is known of a server before it is asked stands in its table."""
        return {}

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
        for endpoint in self._endpoints:
            try:
                async with asyncio.timeout(self._limits.connect):
                    failure = await self._failure_at(endpoint)
            except TimeoutError:
                failure = Failure(Reason.TIMEOUT, f"no answer within {self._limits.connect:g} s")
            if failure is not None:
                return Failure(failure.reason, f"{endpoint.host}: {failure.detail}")
        return None

    async def _failure_at(self, endpoint: Endpoint) -> Failure | None:
        try:
            async with self._open_session().get(
                endpoint.at("models"), headers=endpoint.headers, allow_redirects=False
            ) as response:
                # Whatever else it answers, somebody is there: not every server lists its models.
                refused = response.status in (401, 403)
                return Failure(Reason.UNAUTHORISED, f"HTTP {response.status}") if refused else None
        except (aiohttp.ClientError, OSError) as error:
            return self._connection_failure(error)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("a model is asked inside `async with`")
        return self._session

    async def complete(self, request: Request) -> Answer:
        """One attempt; whoever calls sets its deadline."""
        endpoint = min(self._endpoints, key=lambda endpoint: endpoint.in_flight)
        endpoint.in_flight += 1
        try:
            answer = await self._answer_from(endpoint, request)
        except (aiohttp.ClientError, OSError) as error:
            answer = self._connection_failure(error)
        finally:
            endpoint.in_flight -= 1
        if isinstance(answer, Failure) and answer.detail:
            # Cut only what is clean: half a secret would not be known for one.
            clean = self._redaction.redacted(answer.detail)[:_LONGEST_DETAIL]
            return Failure(answer.reason, clean, answer.retry_after, answer.slow_down)
        return answer

    async def _answer_from(self, endpoint: Endpoint, request: Request) -> Answer:
        body = json.dumps(self._body(request)).encode()
        async with self._open_session().post(
            endpoint.chat, data=body, headers=endpoint.headers, allow_redirects=False
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
        body: Fields = {"model": self._model, "messages": list(request.messages)}
        body.update(request.decoding)
        if request.seed is not None:
            body["seed"] = request.seed
        if request.grammar is not None:
            body.update(_GRAMMAR_IN_BODY[self._server.flavour](request.grammar))
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        body.update(self._further_fields)
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
