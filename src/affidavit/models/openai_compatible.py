"""Any server that speaks the OpenAI chat interface: vLLM, llama.cpp, Ollama, OpenAI, OpenRouter.

One attempt at a time, and whatever the world does becomes a value. Credentials go to the configured address and
nowhere else: redirections are not followed, and no word of an exception or of a server is kept before every
secret was taken out of it.
"""

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self, get_args

import msgspec

from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields
from affidavit.models.chat_response import listed_models, most_bytes, read_refusal, read_response, too_large
from affidavit.models.connections import MOST_CONNECTIONS, Connections
from affidavit.models.endpoint import Endpoint, addresses_meant, is_address, server_place, shown_address
from affidavit.models.environment_values import is_secret_header, look_up, name_of
from affidavit.models.http_connection import EndedEarlyError, HttpError, HttpResponse, NotHttpError, TooLargeError
from affidavit.models.model import Answer, Completion, Failure, Model, Reason, Request, Server, SetupFault
from affidavit.models.redaction import Redaction, secret_note
from affidavit.models.response_ids import request_name
from affidavit.models.retry_after import retry_after
from affidavit.models.sent_body import SentBody
from affidavit.models.settings import Limits, ModelTable, Provider, SettingsTable, Uses, check_positive
from affidavit.models.setup_fault import NO_CONNECTION, AskedServer, fault_of
from affidavit.models.several_servers import SeveralServers
from affidavit.models.shown_names import quoted_name, shown_name

Flavour = Literal["openai", "llamacpp", "vllm", "ollama", "openrouter"]
"""Servers speak one interface, and differ in what they add to it."""

GRAMMAR_IN_BODY: Mapping[str, Callable[[str], Fields]] = {
    "llamacpp": lambda grammar: {"grammar": grammar},
    "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
}
"""How a grammar is sent, by flavour; the others take none."""
_REPEATS_IDS = ("ollama",)
"""Flavours that draw the ids of responses from a thousand numbers."""
_LONGEST_DETAIL = 300
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_FRAMING = ("connection", "content-length", "host", "transfer-encoding")
"""Headers that say where a request ends and for whom it is: ours to write."""


class ServerProvider(SettingsTable, Provider, frozen=True, kw_only=True):
    """`base_url`: a server, at one address or several."""

    flavours = get_args(Flavour)

    base_url: str | list[str] = ""
    flavour: Flavour = "openai"
    key_env: str | None = None
    """The environment variable that holds the key; the key itself is never in a file."""
    connections: int = 32
    """Requests that are sent at once to each address, at most."""
    headers: dict[str, str | dict[str, str]] = msgspec.field(default_factory=dict)
    """Each a text, or `{ env = "NAME" }`."""

    @property
    def addresses(self) -> list[str]:
        """Where it is reached."""
        return [self.base_url] if isinstance(self.base_url, str) else self.base_url

    def apart(self) -> "list[ServerProvider]":
        """The same settings, once for each address."""
        return [msgspec.structs.replace(self, base_url=each) for each in self.addresses]

    @property
    def takes_grammar(self) -> bool:
        """By its flavour."""
        return self.flavour in GRAMMAR_IN_BODY

    @property
    def takes_schema(self) -> bool:
        """Every flavour has `response_format`."""
        return True

    @property
    def takes_batches(self) -> bool:
        """Every flavour: who answers a file is not our matter, and need not be the server itself."""
        return True

    def grammar_fields(self, grammar: str) -> Fields:
        """As its flavour takes one."""
        return GRAMMAR_IN_BODY[self.flavour](grammar)

    def check(self, *, where: str, place: str) -> None:
        """Refuse what is no address, and a number of connections that is none."""
        check_positive({f"{place}.connections": self.connections}, where=where)
        if self.connections > MOST_CONNECTIONS:
            expected = f"at most {MOST_CONNECTIONS:,} in {place}.connections"
            raise InputError(where, expected=expected, found=f"{self.connections:,}")
        for number, address in enumerate(self.addresses):
            # The address itself is not repeated: it may hold a password.
            which = f"{place}.base_url" + (f"[{number}]" if len(self.addresses) > 1 else "")
            if not is_address(address):
                expected = f"an http:// or https:// address in {which}"
                raise InputError(where, expected=expected, found="something else")
            if (first := _first_alike(address, self.addresses)) < number:
                expected = f"each server once in {place}.base_url"
                raise InputError(where, expected=expected, found=f"[{first}] and [{number}] alike")
        if self.key_env is not None and any("@" in address for address in self.addresses):
            expected = f"either a key in {place}.key_env or a name and password in {place}.base_url"
            raise InputError(where, expected=expected, found="both: a request has room for one of them")
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or name.lower() in _FRAMING:
                expected = f"names of headers in {place}.headers, none of {', '.join(_FRAMING)}"
                raise InputError(where, expected=expected, found=quoted_name(name))
            if not isinstance(value, str) and name_of(value) is None:
                expected = f'a text or {{ env = "NAME" }} in {place}.headers.{shown_name(name)}'
                raise InputError(where, expected=expected, found="another table")

    def uses(self) -> Uses:
        """Its addresses, and the variables of its key and headers."""
        return Uses(tuple(map(shown_address, self.addresses)), tuple(name for _, name in self.variables()))

    def variables(self) -> tuple[tuple[str, str], ...]:
        """Those of its key and its headers."""
        key = () if self.key_env is None else (("key_env", self.key_env),)
        headers = ((f"headers.{shown_name(name)}", name_of(value)) for name, value in self.headers.items())
        return (*key, *((place, variable) for place, variable in headers if variable is not None))

    @classmethod
    def from_frozen(cls, *, flavour: str, context: int) -> Self:
        """Settings of the same flavour, without an address."""
        return cls(flavour=flavour)  # type: ignore[arg-type]

    def open(self, name: str, table: ModelTable, limits: Limits, *, beside: Path) -> Model:
        """The model at its server, or at several."""
        if len(self.addresses) == 1:
            return OpenAICompatible(name, self, limits, body=table.body, model=table.model)
        shared = Redaction()  # what one server says may hold what is secret with another
        body, model = table.body, table.model
        servers = [
            Server(
                shown_address(each.addresses[0]),
                OpenAICompatible(name, each, limits, body=body, model=model, shared=shared),
            )
            for each in self.apart()
        ]
        return SeveralServers(name, servers)


def _first_alike(address: str, addresses: Sequence[str]) -> int:
    """The place of the first address of the same server as this one, however it is written."""
    places = [server_place(each) if is_address(each) else None for each in addresses]
    return places.index(server_place(address))


class OpenAICompatible:
    """One model at one address."""

    def __init__(  # noqa: PLR0913
        self,
        name: str,
        server: ServerProvider,
        limits: Limits,
        *,
        body: Mapping[str, object] | None = None,
        model: str = "",
        shared: Redaction | None = None,
    ) -> None:
        """`shared`: the secrets of all servers, where the model has several; its notes say which one this is."""
        self.name = name
        self._model = model or name
        """As the server knows it."""
        self.connections = server.connections
        self._server = server
        self._limits = limits
        self._most_bytes = most_bytes(limits.body_megabytes)
        self._redaction = Redaction() if shared is None else shared
        repeats = server.flavour in _REPEATS_IDS
        self._headers = self._checked_headers()
        (url,) = server.addresses
        self._endpoint = Endpoint(url, self._redaction, self._headers, repeats_ids=repeats)
        self._called = name if shared is None else f"{name} at {self._endpoint.host}"
        """In its notes."""
        self._sent = SentBody(name, body or {}, self._redaction)
        self._outputs_with_secret = 0
        self._connections: Connections | None = None
        self._astray: dict[bytes, None] = {}
        """Requests whose response belonged to another one."""
        self._stray = 0

    def _checked_headers(self) -> dict[str, str]:
        own = {
            name: value
            if isinstance(value, str)
            else look_up(value["env"], place=f"models.{self.name}.headers.{shown_name(name)}")
            for name, value in self._server.headers.items()
        }
        for name, value in own.items():
            self._refuse_breaks(f"headers.{shown_name(name)}", value)
            ordinary = isinstance(self._server.headers[name], str) and not is_secret_header(name)
            self._redaction.add(value, ordinary=ordinary)
        if variable := self._server.key_env:
            key = look_up(variable, place=f"models.{self.name}.key_env")
            self._refuse_breaks("key_env", key)
            self._redaction.add(key)
            own = {name: value for name, value in own.items() if name.lower() != "authorization"}
            own["Authorization"] = f"Bearer {key}"
        return own

    def _refuse_breaks(self, place: str, value: str) -> None:
        if any(character < " " and character != "\t" for character in value) or not value.isascii():
            expected = "a text that a header can carry: ASCII, without line breaks"
            raise UsageError(f"models.{self.name}.{place}", expected=expected, found="another")

    def facts(self) -> Fields:
        """Nothing: what is known of a server before it is asked stands in its table."""
        return {}

    def notes(self) -> list[str]:
        """What its server did with the ids of its responses (ruling C9), and outputs that hold a secret."""
        notes = []
        if self._outputs_with_secret:
            notes.append(secret_note(self._outputs_with_secret, self._called))
        if self._endpoint.ids.repeated:
            where = f"the server at {self._endpoint.host}"
            notes.append(f"{self.name}: {where} repeats the ids of its responses; they prove nothing")
        if self._stray:
            notes.append(
                f"{self._called}: {self._stray:,} responses had the id of a response to another request and were "
                "not taken, but asked for again over new connections; attempts.jsonl has the ids"
            )
        return notes

    async def __aenter__(self) -> Self:
        self._connections = Connections(
            limit=self.connections, connect_seconds=self._limits.connect, most_bytes=self._most_bytes
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.close()

    async def _exchange(self, request: bytes, *, anew: bool = False) -> HttpResponse:
        if self._connections is None:
            raise RuntimeError("a model is asked inside `async with`")
        return await self._connections.exchange(self._endpoint.origin, request, anew=anew)

    async def reachable(self) -> Failure | None:
        """Whether its address does not answer at all, or refuses the key."""
        try:
            async with asyncio.timeout(self._limits.connect):
                response = await self._exchange(self._endpoint.get("models"))
        except TimeoutError:
            return Failure(Reason.TIMEOUT, f"{NO_CONNECTION}, or no word, within {self._limits.connect:g} s")
        except (HttpError, OSError, UnicodeError) as error:
            failure = self._connection_failure(error)
            return None if failure.reason is Reason.TOO_LARGE else failure
        # Whatever else it answers, somebody is there: not every server lists its models.
        return read_refusal(response.status, response.body) if response.status in (401, 403) else None

    async def setup_fault(self, failure: Failure) -> SetupFault | None:
        """What is wrong with the address, the key, the name or the settings, if that is what failed."""
        server = AskedServer(
            name=self.name,
            address=shown_address(self._endpoint.url),
            model=self._model,
            key_env=self._server.key_env,
            flavour=self._server.flavour,
        )
        asked_wrongly = (Reason.BAD_REQUEST, Reason.BAD_BODY, Reason.NO_CHOICES)
        if failure.reason in asked_wrongly or failure.status == 500:
            listed, status = await self._models_at(self._endpoint)
            other = await self._address_with_models() if listed is None else None
            server = replace(server, listed=listed, status=status, elsewhere=other)
        return fault_of(replace(failure, detail=self._redaction.redacted(failure.detail)), server)

    async def _address_with_models(self) -> str | None:
        """Another address of the same server, of those that people mean, at which it lists models."""
        for url in addresses_meant(self._endpoint.url):
            listed, _ = await self._models_at(Endpoint(url, self._redaction, self._headers))
            if listed is not None:
                return shown_address(url)
        return None

    async def _models_at(self, endpoint: Endpoint) -> tuple[list[str] | None, int | None]:
        """The models that a server lists; if it lists none, the status with which it answered."""
        try:
            async with asyncio.timeout(self._limits.connect):
                response = await self._exchange(endpoint.get("models"))
        except (HttpError, OSError, UnicodeError):
            return None, None
        names = listed_models(response.body) if response.status == 200 else None
        return None if names is None else [self._redaction.redacted(name) for name in names], response.status

    def clean_of(self, addresses: Iterable[str]) -> None:
        """Take what is secret in other addresses out of what the server says, too."""
        for url in addresses:
            Endpoint(url, self._redaction, {})

    def clean(self, text: str) -> str:
        """A text without any secret that is sent with requests."""
        return self._redaction.redacted(text)

    async def resource(self, path: str, fields: Mapping[str, object] | None = None) -> bytes | Failure:
        """What a resource at its address answers, for whoever looks at more than an answer."""
        request = self._endpoint.get(path)
        if fields is not None:
            request = self._endpoint.post(path, self._sent.of(fields))
        try:
            response = await self._exchange(request)
        except (HttpError, OSError, UnicodeError) as error:
            return self._connection_failure(error)
        body = self._unpacked(response.body, response.header("Content-Encoding") or "identity")
        if isinstance(body, Failure) or response.status == 200:
            return body
        try:
            failure = read_refusal(response.status, body)
        except RecursionError:
            return Failure(Reason.BAD_BODY, "the body is nested too deeply")
        return replace(failure, detail=self.clean(failure.detail)[:_LONGEST_DETAIL], status=response.status)

    async def complete(self, request: Request) -> Answer:
        """One attempt; whoever calls sets its deadline."""
        content = self._sent.encoded(request)
        try:
            answer = await self._own_answer(content)
        except (HttpError, OSError, UnicodeError) as error:
            answer = self._connection_failure(error)
        if isinstance(answer, Failure) and answer.detail:
            # Cut only what is clean: half a secret would not be known for one.
            return replace(answer, detail=self._redaction.redacted(answer.detail)[:_LONGEST_DETAIL])
        if isinstance(answer, Completion):
            said = answer.text if answer.reasoning is None else f"{answer.text}\n{answer.reasoning}"
            self._outputs_with_secret += self._redaction.holds(said)
        return answer

    async def _own_answer(self, content: bytes) -> Answer:
        """The answer to this request; one that belongs to another is a failure (ruling C9)."""
        ids = self._endpoint.ids
        if ids.prove_nothing and not self._astray:
            return await self._answer_to(content)
        named = request_name(content)
        anew = named in self._astray
        answer = await self._answer_to(content, anew=anew)
        if ids.is_stray(answer.response_id, named, asked_again=anew):
            self._stray += 1
            self._astray[named] = None
            detail = "the response has the id of a response to another request"
            return Failure(Reason.STRAY_RESPONSE, detail, response_id=answer.response_id)
        if anew and isinstance(answer, Completion):
            del self._astray[named]
        return answer

    async def _answer_to(self, content: bytes, *, anew: bool = False) -> Answer:
        response = await self._exchange(self._endpoint.post("chat/completions", content), anew=anew)
        body = self._unpacked(response.body, response.header("Content-Encoding") or "identity")
        if isinstance(body, Failure):
            return body
        megabytes = self._limits.body_megabytes
        answer = read_response(response.status, body, self._redaction.redacted, most_megabytes=megabytes)
        if isinstance(answer, Completion) or response.status == 200:
            return answer
        return replace(answer, retry_after=retry_after(response.header("Retry-After"), now=datetime.now(UTC)))

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
        if packed.unused_data:
            return Failure(Reason.BAD_BODY, "there is more behind the packed body")
        return unpacked if packed.eof else Failure(Reason.BAD_BODY, "the body ended early")

    def _too_large(self) -> Failure:
        return too_large(self._limits.body_megabytes)

    def _connection_failure(self, error: Exception) -> Failure:
        """What went wrong, by its kind: the words of an exception may hold an address with a password."""
        match error:
            case TimeoutError():
                return Failure(Reason.TIMEOUT, f"{NO_CONNECTION} within {self._limits.connect:g} s")
            case EndedEarlyError():
                return Failure(Reason.BAD_BODY, "the body ended early")
            case NotHttpError():
                return Failure(Reason.BAD_BODY, "the response is not HTTP")
            case TooLargeError():
                return self._too_large()
            case ssl.SSLCertVerificationError():
                return Failure(Reason.CONNECTION, "its certificate is not trusted here")
            case ssl.SSLError():
                return Failure(Reason.CONNECTION, "no encrypted connection comes about")
            case socket.gaierror() | UnicodeError():
                return Failure(Reason.CONNECTION, "the host has no address")
            case ConnectionRefusedError():
                return Failure(Reason.CONNECTION, "the connection was refused")
            case OSError(strerror=str(words)):
                return Failure(Reason.CONNECTION, words if "//" not in words else "the connection failed")
            case _:
                return Failure(Reason.CONNECTION, "the connection broke")
