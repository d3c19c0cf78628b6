"""What LiteLLM's proxy really answered, kept in golden/litellm.json with its version; `make interop` asks it anew.

The requests are those that people send in their first hour: the right one, and each mistake once. The proxy knows one
model and one key, and has no database.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from http.client import HTTPConnection
from urllib.parse import urlsplit

from support.golden_files import GOLDEN

KEPT = GOLDEN / "litellm.json"
MODEL, KEY = "qwen2.5-7b-instruct", "sk-right"
WITH, WITHOUT = "with prisma", "without prisma"
"""Two installations: its extra alone, and with the library for databases that it leaves out."""


@dataclass(frozen=True)
class Asked:
    """A request: where, with which key, for which model; without a model it asks for the list."""

    path: str
    key: str | None = KEY
    model: str | None = None


CHAT = "/v1/chat/completions"
REQUESTS = {
    "the list of models": Asked("/v1/models"),
    "the list of models, without /v1": Asked("/models"),
    "the list of models, elsewhere": Asked("/v1/chat/completions/models"),
    "the list of models, without a key": Asked("/v1/models", key=None),
    "the list of models, with a wrong key": Asked("/v1/models", key="sk-wrong"),
    "a question": Asked(CHAT, model=MODEL),
    "a question, without /v1": Asked("/chat/completions", model=MODEL),
    "a question, elsewhere": Asked("/v1/chat/completions/chat/completions", model=MODEL),
    "a question, without a key": Asked(CHAT, key=None, model=MODEL),
    "a question, with a wrong key": Asked(CHAT, key="sk-wrong", model=MODEL),
    "a question to another model": Asked(CHAT, model="qwen-7b-instruct"),
}


@dataclass(frozen=True)
class Said:
    """What came back; a body that is no JSON is a text."""

    status: int
    kind: str
    body: object

    @property
    def content(self) -> bytes:
        """The bytes of the body."""
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@cache
def kept() -> Mapping[str, Mapping[str, Said]]:
    """By installation and request, what is kept."""
    held = json.loads(KEPT.read_text())["answers"]
    return {how: {name: Said(**fields) for name, fields in said.items()} for how, said in held.items()}


def ask(url: str) -> dict[str, Said]:
    """What a proxy answers to each request."""
    return {name: _ask(url, asked) for name, asked in REQUESTS.items()}


def as_text(version: str, answers: Mapping[str, Mapping[str, Said]]) -> str:
    """What is kept of these answers."""
    held = {how: {name: asdict(said) for name, said in each.items()} for how, each in answers.items()}
    return json.dumps({"package": "litellm", "version": version, "answers": held}, indent=1) + "\n"


def _ask(url: str, asked: Asked) -> Said:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=600)
    headers = {"Content-Type": "application/json"}
    if asked.key is not None:
        headers["Authorization"] = f"Bearer {asked.key}"
    body = None
    if asked.model is not None:
        messages = [{"role": "user", "content": "Which one?"}]
        body = json.dumps({"model": asked.model, "messages": messages, "max_tokens": 5, "seed": 3})
    try:
        connection.request("GET" if body is None else "POST", asked.path, body, headers)
        response = connection.getresponse()
        content = response.read().decode()
    finally:
        connection.close()
    kind = response.getheader("Content-Type", "").partition(";")[0]
    return Said(response.status, kind, _timeless(json.loads(content)) if kind == "application/json" else content)


def _timeless(body: object) -> object:
    """Without what differs each time."""
    return {**body, "id": "chatcmpl-1", "created": 0} if isinstance(body, dict) and "choices" in body else body
