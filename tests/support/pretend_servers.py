"""Servers that answer as those do which people have: the addresses, the lists of models and the words of refusals.

Bodies are those of Ollama 0.5, vLLM 0.6 and 0.10, LiteLLM 1.55 (its proxy; `litellm_answers` has a newer one), llama.cpp's server b4500, the hosted
interface of OpenAI as of 2025, and a hosted one that takes no seed (Mistral's).
"""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Pretended:
    """What a server knows, and how it refuses."""

    models: tuple[str, ...] = ("qwen2.5-7b-instruct",)
    above: str = "/v1"
    """The path at which its interface is."""
    nowhere: tuple[int, str, str] = (404, "application/json", '{"detail":"Not Found"}')
    """What it says anywhere else: status, kind and body."""
    unknown_model: tuple[int, Mapping[str, object]] | None = None
    """None: it answers under any name."""
    refused: tuple[str, int, Mapping[str, object]] | None = None
    """A key of the request that it does not take, or a value of one, and what it says then."""
    key: str | None = None
    wrong_key: tuple[int, Mapping[str, object] | str] = (
        401,
        {"error": {"message": "Incorrect API key provided."}},
    )
    answer: str = "<answer>B</answer>"
    asked: list[dict] = field(default_factory=list)
    """The bodies of the requests that it answered."""

    def listed(self) -> tuple[int, object]:
        data = [{"id": name, "object": "model", "owned_by": "library"} for name in self.models]
        return 200, {"object": "list", "data": data}

    def completed(self, body: dict) -> tuple[int, object]:
        if self.unknown_model is not None and body["model"] not in self.models:
            status, said = self.unknown_model
            return status, json.loads(json.dumps(said).replace("NAME", body["model"]))
        if self.refused is not None and _has(body, self.refused[0]):
            return self.refused[1], self.refused[2]
        self.asked.append(body)
        choice = {"index": 0, "message": {"role": "assistant", "content": self.answer}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return 200, {
            "id": f"chatcmpl-{len(self.asked)}",
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }


@dataclass
class Able(Pretended):
    """A server whose answers depend on what it is asked with."""

    follows_seed: bool = True
    """Whether the same seed gives the same text; otherwise every text is new."""
    grammar_key: str = ""
    """The key of a request in which it takes a grammar; it does not look at others."""
    schema: bool = False
    reasoning: str = ""
    """The field in which it puts what it thought."""
    thinks_aloud: bool = False
    logprobs: bool = False
    tokens: int = 5
    """As many as it says that it wrote."""

    def completed(self, body: dict) -> tuple[int, object]:
        status, said = super().completed(body)
        if status == 200:
            choice = said["choices"][0]
            choice["message"]["content"] = self._text(body)
            if self.reasoning:
                choice["message"][self.reasoning] = "An owl is an animal."
            if self.logprobs and body.get("logprobs"):
                choice["logprobs"] = {"content": [{"token": "An", "logprob": -0.1}]}
            said["usage"]["completion_tokens"] = self.tokens
        return status, said

    def _text(self, body: dict) -> str:
        if self.grammar_key and self.grammar_key in body:
            return "<answer>C</answer>"
        if self.schema and "response_format" in body:
            return json.dumps({"letter": "C"})
        drawn = body.get("seed") if self.follows_seed else len(self.asked)
        return ("<think>Which?</think>" if self.thinks_aloud else "") + f"Animal {drawn} sleeps."


def _has(body: Mapping[str, object], wanted: str) -> bool:
    name, _, value = wanted.partition("=")
    return name in body and (not value or str(body[name]) == value)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # head and body in one piece: two small ones would wait for each other
    server: "_Server"

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, body: dict | None) -> None:
        pretended = self.server.pretended
        path = self.path.partition("?")[0]
        if path not in (f"{pretended.above}/models", f"{pretended.above}/chat/completions"):
            return self._say(*pretended.nowhere)
        if pretended.key is not None and self.headers.get("Authorization") != f"Bearer {pretended.key}":
            status, said = pretended.wrong_key
            if isinstance(said, str):
                return self._say(status, "text/plain", said)
        elif body is None:
            status, said = pretended.listed()
        else:
            status, said = pretended.completed(body)
        return self._say(status, "application/json", json.dumps(said))

    def _say(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    pretended: Pretended

    def handle_error(self, *_: object) -> None:
        return


@contextmanager
def pretending(pretended: Pretended, *, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The server, and its address without a path."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.pretended = pretended
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


OLLAMA = {"nowhere": (404, "text/plain", "404 page not found"), "models": ("llama3.2:latest", "qwen2.5:7b")}
OLLAMA_UNKNOWN = (
    404,
    {
        "error": {
            "message": 'model "NAME" not found, try pulling it first',
            "type": "api_error",
            "param": None,
            "code": None,
        }
    },
)
VLLM_UNKNOWN = (
    404,
    {
        "object": "error",
        "message": "The model `NAME` does not exist.",
        "type": "NotFoundError",
        "param": None,
        "code": 404,
    },
)
OPENAI_UNKNOWN = (
    404,
    {
        "error": {
            "message": "The model `NAME` does not exist or you do not have access to it.",
            "type": "invalid_request_error",
            "param": None,
            "code": "model_not_found",
        }
    },
)
LITELLM_UNKNOWN = (
    400,
    {
        "error": {
            "message": "/chat/completions: Invalid model name passed in model=NAME. "
            "Call `/v1/models` to view available models for your key.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "400",
        }
    },
)
OPENAI_LIMIT = (
    "max_tokens",
    400,
    {
        "error": {
            "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "type": "invalid_request_error",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        }
    },
)
OPENAI_TEMPERATURE = (
    "temperature=0.0",
    400,
    {
        "error": {
            "message": "Unsupported value: 'temperature' does not support 0.0 with this model. "
            "Only the default (1) value is supported.",
            "type": "invalid_request_error",
            "param": "temperature",
            "code": "unsupported_value",
        }
    },
)
NO_SEED = (
    "seed",
    422,
    {
        "object": "error",
        "message": {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
            ]
        },
        "type": "invalid_request_error",
    },
)
NO_GRAMMAR = (
    "grammar",
    400,
    {"error": {"message": "Unrecognized request argument supplied: grammar", "type": "invalid_request_error"}},
)
