"""LiteLLM's proxy, from PyPI, in front of a scripted server: studies go through it, and its refusals are understood.

Outside CI: `make interop` makes the environment and runs this file; no other target collects it. With
`AFFIDAVIT_GOLDEN=write` what the proxy answers is kept anew.
"""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

import pytest

from support.golden_files import golden
from support.litellm_answers import KEPT, KEY, MODEL, WITH, WITHOUT, as_text, ask
from support.pages import ROOT
from support.pretend_servers import Pretended, pretending
from support.studies import fine, quiz, records, run, told_by_verify, write_study

BIN = ROOT / ".venv-interop" / "litellm" / "bin"
CONFIG = """
model_list:
  - model_name: {model}
    litellm_params:
      model: openai/scripted
      api_base: {behind}/v1
      api_key: none
general_settings:
  master_key: {key}
"""
PATIENCE = 600.0
"""Seconds until it has to be up."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_up(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/health/liveliness")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


@contextmanager
def proxy(folder: Path, behind: str, *, how: str) -> Iterator[str]:
    """The proxy on loopback, with one model and one key; its address."""
    (folder / "config.yaml").write_text(CONFIG.format(model=MODEL, behind=behind, key=KEY))
    (folder / "shadows").mkdir()
    if how == WITHOUT:
        (folder / "shadows" / "prisma.py").write_text("raise ModuleNotFoundError(\"No module named 'prisma'\")\n")
    port = free_port()
    # Nothing of it may call home, and it may not look for newer prices.
    surroundings = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(folder / "shadows"),
        "LITELLM_TELEMETRY": "False",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    command = [BIN / "litellm", "--config", folder / "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=surroundings, stdout=log, stderr=log)
        try:
            end = time.monotonic() + PATIENCE
            while not is_up(port):
                assert process.poll() is None, (folder / "proxy.log").read_text()
                assert time.monotonic() < end, (folder / "proxy.log").read_text()
                time.sleep(0.5)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(600)


@pytest.fixture(scope="module")
def behind() -> Iterator[str]:
    with pretending(Pretended(models=("scripted",))) as url:
        yield url


@pytest.fixture(scope="module")
def usual(behind, tmp_path_factory) -> Iterator[str]:
    with proxy(tmp_path_factory.mktemp("usual"), behind, how=WITH) as url:
        yield url


@pytest.fixture(scope="module")
def bare(behind, tmp_path_factory) -> Iterator[str]:
    with proxy(tmp_path_factory.mktemp("bare"), behind, how=WITHOUT) as url:
        yield url


def test_what_is_kept_of_its_answers_is_what_it_answers(usual, bare):
    version = subprocess.run(
        [BIN / "python", "-c", "from importlib.metadata import version; print(version('litellm'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    found = as_text(version, {WITH: ask(usual), WITHOUT: ask(bare)})
    assert golden(KEPT.name, found) == found


def table(url: str, **changed: object) -> dict:
    """The model's table; a key that is None is left out."""
    return {"models": {"m": {"base_url": f"{url}/v1", "model": MODEL, "key_env": "THE_KEY", **changed}}}


@pytest.mark.parametrize("above", ["/v1", ""], ids=["with /v1", "without /v1, where it answers too"])
def test_a_study_goes_through_it(usual, tmp_path, above):
    write_study(tmp_path, "", count=6, changed=table(usual, base_url=usual + above))
    done = run(tmp_path, "--json", THE_KEY=KEY)
    assert fine(done, 0)
    assert quiz(done)["compliant"] == quiz(done)["n"] == 6
    assert len(records(tmp_path / "out")) == 6
    assert told_by_verify(tmp_path / "out")["sealed"]


@dataclass(frozen=True)
class Mistake:
    """A table as it was written, what is said of it, and how the message has it mended."""

    says: tuple[str, ...]
    model: dict = field(default_factory=dict)
    key: str = KEY
    mended: dict = field(default_factory=dict)
    bare: bool = False


MISTAKES = {
    "a wrong model name": Mistake(
        (f"expected one of its models: {MODEL}, found 'qwen-7b-instruct'", f"Did you mean {MODEL}?"),
        model={"model": "qwen-7b-instruct"},
        mended={"model": MODEL},
    ),
    "a wrong key": Mistake(
        (
            "expected a server that takes our credentials, found HTTP 400: No connected db.",
            "Set the variable THE_KEY",
        ),
        key="sk-wrong",
    ),
    "no key": Mistake(
        ("found HTTP 401: Authentication Error, No api key passed in.", 'key_env = "NAME" in [models.m]'),
        model={"key_env": None},
        mended={"key_env": "THE_KEY"},
    ),
    "no key, where prisma is missing": Mistake(
        ("found HTTP 500", "Does it want a key?", 'key_env = "NAME" in [models.m]'),
        model={"key_env": None},
        mended={"key_env": "THE_KEY"},
        bare=True,
    ),
    "the address of one resource": Mistake(
        ("expected the OpenAI chat interface, found HTTP 404", 'write base_url = "URL/v1" in [models.m]'),
        model={"base_url": "URL/v1/chat/completions"},
        mended={"base_url": "URL/v1"},
    ),
    "an address below which nothing is": Mistake(
        ("expected the OpenAI chat interface, found HTTP 404", 'write base_url = "URL/v1" in [models.m]'),
        model={"base_url": "URL/api/v1"},
        mended={"base_url": "URL/v1"},
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_and_what_is_advised_works(request, tmp_path, mistake):
    url = request.getfixturevalue("bare" if mistake.bare else "usual")
    put = {name: value and value.replace("URL", url) for name, value in mistake.model.items()}
    write_study(tmp_path, "", count=3, changed=table(url, **put))
    done = run(tmp_path, THE_KEY=mistake.key)
    assert fine(done, 2)
    said = done.stderr.decode()
    assert re.search(rf"models\.m at {re.escape(url)}\S*: expected ", said)
    for words in mistake.says:
        assert words.replace("URL", url) in said, said
    assert "Nothing was written." in said
    assert not (tmp_path / "out").exists()
    mended = {name: value.replace("URL", url) for name, value in mistake.mended.items()}
    write_study(tmp_path, "", count=3, changed=table(url, **{**put, **mended}))
    assert fine(run(tmp_path, THE_KEY=KEY), 0)
    assert len(records(tmp_path / "out")) == 3
