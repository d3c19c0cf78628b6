"""The mistakes of a first hour: what was written, what is said, and that what is advised really works.

Each is told before anything is kept: exit 2, and nothing is left on the disk. Then the study is mended as the
message says, and runs.
"""

import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trustme

from affidavit.running.first_failures import MOST_ALIKE
from support.fault_server import FaultServer, bad_request, dead_address, every
from support.litellm_answers import WITHOUT, kept
from support.pretend_servers import (
    LITELLM_UNKNOWN,
    NO_GRAMMAR,
    NO_SEED,
    OLLAMA,
    OLLAMA_UNKNOWN,
    OPENAI_LIMIT,
    OPENAI_TEMPERATURE,
    OPENAI_UNKNOWN,
    VLLM_UNKNOWN,
    Pretended,
    pretending,
)
from support.studies import fine, laid_over, quiz, records, run, write_study

PAGE = (200, "text/html", "<!doctype html><title>A web page</title>")
LITELLM = kept()[WITHOUT]
HELD = {"conditions": {"held": {"constrained": True}}}


@dataclass(frozen=True)
class Mistake:
    """A study as it was written, what is said of it, and how the message has it mended."""

    says: tuple[str, ...]
    server: dict = field(default_factory=dict)
    model: dict = field(default_factory=dict)
    """Keys of the model's table; `URL` is the server's address without a path."""
    mended: dict | Callable[[str], dict] = field(default_factory=dict)
    """The keys that are changed; or made of the message."""
    study: dict = field(default_factory=dict)
    mended_study: dict = field(default_factory=dict)
    mended_server: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)
    mended_environment: dict = field(default_factory=dict)


def proposed_address(said: str) -> dict:
    """The address that a message proposes, word for word."""
    return {"base_url": re.search(r'write base_url = "(.+?)" in \[models\.m\]', said)[1]}


def proposed_name(said: str) -> dict:
    return {"model": re.search(r"Did you mean (\S+)\?", said)[1]}


def said(name: str) -> tuple[int, object]:
    """What LiteLLM's proxy really answered."""
    return LITELLM[name].status, LITELLM[name].body


V1 = {"base_url": "URL/v1"}
MISTAKES = {
    "no /v1, as vLLM says it": Mistake(
        ("models.m at URL: expected the OpenAI chat interface, found HTTP 404", "Its models are listed at URL/v1"),
        model={"base_url": "URL"},
        mended=proposed_address,
    ),
    "no /v1, as Ollama says it": Mistake(
        ("found HTTP 404", "Its models are listed at URL/v1"),
        server=OLLAMA,
        model={"base_url": "URL/"},
        mended=proposed_address,
    ),
    "the address of one resource": Mistake(
        ("Its models are listed at URL/v1",),
        model={"base_url": "URL/v1/chat/completions"},
        mended=proposed_address,
    ),
    "an interface below another path": Mistake(
        ("Its models are listed at URL/api/v1",),
        server={"above": "/api/v1"},
        model={"base_url": "URL"},
        mended=proposed_address,
    ),
    "a model that Ollama has not": Mistake(
        (
            "expected one of its models: llama3.2:latest, qwen2.5:7b, found 'llama3.2'",
            "Did you mean llama3.2:latest?",
        ),
        server={**OLLAMA, "unknown_model": OLLAMA_UNKNOWN},
        model={**V1, "model": "llama3.2"},
        mended=proposed_name,
    ),
    "a model that vLLM has not": Mistake(
        (
            "expected one of its models: qwen2.5-7b-instruct, found 'qwen2.5-7b'",
            "Did you mean qwen2.5-7b-instruct?",
        ),
        server={"unknown_model": VLLM_UNKNOWN},
        model={**V1, "model": "qwen2.5-7b"},
        mended=proposed_name,
    ),
    "a model that OpenAI has not": Mistake(
        ("Did you mean gpt-4o-mini?",),
        server={"models": ("gpt-4o-mini", "o3"), "unknown_model": OPENAI_UNKNOWN},
        model={**V1, "model": "gpt4o-mini"},
        mended=proposed_name,
    ),
    "a model that LiteLLM has not": Mistake(
        ("Did you mean qwen2.5-7b-instruct?",),
        server={"unknown_model": LITELLM_UNKNOWN},
        model={**V1, "model": "qwen-7b-instruct"},
        mended=proposed_name,
    ),
    "the name of the study in place of the model's": Mistake(
        ("expected one of its models: qwen2.5-7b-instruct, found 'm'",),
        server={"unknown_model": VLLM_UNKNOWN},
        model=V1,
        mended={"model": "qwen2.5-7b-instruct"},
    ),
    "no key": Mistake(
        ("expected a server that takes our credentials, found HTTP 401", 'key_env = "NAME" in [models.m]'),
        server={"key": "sk-right"},
        model=V1,
        mended={"key_env": "THE_KEY"},
        mended_environment={"THE_KEY": "sk-right"},
    ),
    "a wrong key": Mistake(
        (
            "found HTTP 401: Incorrect API key provided.",
            "Set the variable THE_KEY to a key that this server takes.",
        ),
        server={"key": "sk-right"},
        model={**V1, "key_env": "THE_KEY"},
        environment={"THE_KEY": "sk-wrong"},
        mended_environment={"THE_KEY": "sk-right"},
    ),
    "a wrong key, as LiteLLM says it": Mistake(
        (
            "models.m at URL/v1: expected a server that takes our credentials, found HTTP 400: No connected db.",
            "Set the variable THE_KEY to a key that this server takes.",
        ),
        server={"key": "sk-right", "wrong_key": said("a question, with a wrong key")},
        model={**V1, "key_env": "THE_KEY"},
        environment={"THE_KEY": "sk-wrong"},
        mended_environment={"THE_KEY": "sk-right"},
    ),
    "no key, as LiteLLM fails over it": Mistake(
        (
            "models.m at URL/v1: expected a server that answers, found HTTP 500",
            "Does it want a key? Name the variable",
        ),
        server={"key": "sk-right", "wrong_key": said("a question, without a key")},
        model=V1,
        mended={"key_env": "THE_KEY"},
        mended_environment={"THE_KEY": "sk-right"},
    ),
    "a key that is not in the environment": Mistake(
        ("models.m.key_env: expected a value in the environment variable THE_KEY",),
        server={"key": "sk-right"},
        model={**V1, "key_env": "THE_KEY"},
        mended_environment={"THE_KEY": "sk-right"},
    ),
    "a server that takes no max_tokens": Mistake(
        ("expected a server that takes max_tokens", 'token_limit = "max_completion_tokens" in [models.m]'),
        server={"refused": OPENAI_LIMIT},
        model=V1,
        mended={"token_limit": "max_completion_tokens"},
    ),
    "a server that takes no seed": Mistake(
        ("expected a server that takes a seed, found HTTP 422", "Write seed = false in [models.m]"),
        server={"refused": NO_SEED},
        model=V1,
        mended={"seed": False},
    ),
    "a server that takes no such temperature": Mistake(
        ("expected a server that takes this temperature", "temperature in [decoding]"),
        server={"refused": OPENAI_TEMPERATURE},
        model=V1,
        mended_study={"decoding": {"temperature": 1.0}},
    ),
    "a server that refuses a grammar": Mistake(
        ("expected a server that takes a grammar", "leave out conditions with constrained = true"),
        server={"refused": NO_GRAMMAR},
        model={**V1, "flavour": "llamacpp"},
        study=HELD,
        mended_study={"conditions": {"held": {"constrained": False}}},
    ),
    "a server that does not know what a grammar is": Mistake(
        ("models.m: expected an answer that fits the grammar that was sent", '"The answer is B."'),
        server={"answer": "The answer is B."},
        model={**V1, "flavour": "vllm"},
        study=HELD,
        mended_study={"conditions": {"held": {"constrained": False}}},
    ),
    "a page of something else": Mistake(
        ("expected the OpenAI chat interface", "Is another service at this address?"),
        server={"nowhere": PAGE, "above": "/far/away"},
        model=V1,
        mended={"base_url": "URL/far/away"},
    ),
    "an address that leads elsewhere": Mistake(
        ("expected the OpenAI chat interface, found HTTP 301", "we follow nowhere"),
        server={"nowhere": (301, "text/plain", ""), "above": "/far/away"},
        model=V1,
        mended={"base_url": "URL/far/away"},
    ),
    "https where there is none": Mistake(
        ("expected a server that answers", "Is it http:// in place of https://?"),
        model={"base_url": "SECURE/v1"},
        mended=V1,
    ),
    "a name that nobody knows": Mistake(
        ("found the host has no address", "Is it spelt right in base_url?"),
        model={"base_url": "http://no-such-host.invalid:8000/v1"},
        mended=V1,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_and_what_is_advised_works(tmp_path, mistake):
    pretended = Pretended(**mistake.server)
    with pretending(pretended) as url:
        write(tmp_path, url, mistake.model, mistake.study)
        done = run(tmp_path, **mistake.environment)
        assert fine(done, 2)
        said = done.stderr.decode()
        for words in mistake.says:
            assert words.replace("URL", url) in said
        assert "Nothing was written." in said or "environment variable" in said
        assert not (tmp_path / "out").exists()
        mended = mistake.mended(said) if callable(mistake.mended) else mistake.mended
        vars(pretended).update(mistake.mended_server)
        write(tmp_path, url, {**mistake.model, **mended}, laid_over(mistake.study, mistake.mended_study))
        done = run(tmp_path, "--json", **{**mistake.environment, **mistake.mended_environment})
        assert fine(done, 0)
    assert quiz(done)["n"] == 3
    assert len(records(tmp_path / "out")) == 3


def write(folder: Path, url: str, model: dict, study: dict) -> None:
    table = {
        name: value.replace("URL", url).replace("SECURE", url.replace("http://", "https://"))
        if isinstance(value, str)
        else value
        for name, value in model.items()
    }
    write_study(folder, f"{url}/v1", count=3, changed=laid_over(study, {"models": {"m": table}}))


@pytest.mark.slow
def test_nobody_is_there(tmp_path):
    with dead_address() as address:
        write_study(tmp_path, f"http://{address}/v1", count=3)
        done = run(tmp_path)
    assert fine(done, 2)
    assert b"found the connection was refused\nIs it running, and is this its address?" in done.stderr
    assert not (tmp_path / "out").exists()


@contextmanager
def secure(authority: trustme.CA) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with pretending(Pretended(), tls=context) as url:
        yield url


@pytest.mark.slow
def test_a_certificate_that_is_not_trusted_and_http_in_place_of_https(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with secure(authority) as url:
        write_study(tmp_path, url.replace("https://", "http://") + "/v1", count=3)
        done = run(tmp_path)
        assert fine(done, 2)
        assert b"https:// in place of http://" in done.stderr, done.stderr
        write_study(tmp_path, f"{url}/v1", count=3)
        done = run(tmp_path)
        assert fine(done, 2)
        assert b"found its certificate is not trusted here\nIts certificate is not one" in done.stderr
        assert fine(run(tmp_path, SSL_CERT_FILE=str(tmp_path / "ca.pem")), 0)


@pytest.mark.slow
def test_the_answers_of_a_trial_that_another_model_fails_are_dropped_and_counted(tmp_path):
    first, second = Pretended(), Pretended(unknown_model=VLLM_UNKNOWN)
    with ExitStack() as stack:
        urls = [stack.enter_context(pretending(each)) for each in (first, second)]
        models = {"m": {"base_url": f"{urls[0]}/v1"}, "n": {"base_url": f"{urls[1]}/v1", "model": "qwen2.5-7b"}}
        write_study(tmp_path, "", count=3, changed={"models": models})
        done = run(tmp_path)
        assert fine(done, 2)
        assert b"Nothing was written. 1 answers of the trial were dropped." in done.stderr
        assert not (tmp_path / "out").exists()
        assert fine(run(tmp_path, "--model", "m"), 4), "the others can be asked without it"
        assert len(first.asked) == 4


@pytest.mark.slow
def test_requests_that_are_all_refused_alike_are_one_mistake(tmp_path):
    faults = {f"q{n}": every(bad_request) for n in range(60)}
    with FaultServer(faults) as server:
        write_study(tmp_path, server.url, count=60)
        done = run(tmp_path)
        assert fine(done, 2)
        assert f"the first {MOST_ALIKE} requests were refused alike".encode() in done.stderr
        assert MOST_ALIKE <= len(server.log) <= MOST_ALIKE + 8, "and no more than were open"
        assert not (tmp_path / "out").exists(), "nothing is frozen"
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=30)
        assert fine(run(tmp_path), 0), "another plan, as nothing was answered"
    assert len(records(tmp_path / "out")) == 30


@pytest.mark.slow
def test_refusals_are_kept_once_something_is_answered(tmp_path):
    faults = {f"q{n}": every(bad_request) for n in range(15)}
    with FaultServer(faults) as server:
        write_study(tmp_path, server.url, count=30)
        done = run(tmp_path, "--json")
        assert fine(done, 4)
    assert quiz(done)["failures"] == {"bad_request": 15}


@pytest.mark.slow
def test_a_study_of_which_nothing_was_answered_is_not_called_sealed(tmp_path):
    with FaultServer({f"q{n}": every(bad_request) for n in range(3)}) as server:
        write_study(tmp_path, server.url, count=3)
        done = run(tmp_path)
        assert fine(done, 4)
        assert b"not sealed: no question was answered yet" in done.stdout
        assert b"digest" not in done.stdout
        assert not (tmp_path / "out" / "seal.json").exists()
        assert b"--retry-failed" in done.stderr
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        done = run(tmp_path)
        assert fine(done, 4)
        assert fine(run(tmp_path, "--retry-failed"), 0)
