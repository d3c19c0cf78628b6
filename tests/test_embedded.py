"""The embedded model, for real: llama.cpp with the SmolLM2 weights in a process of its own."""

import asyncio
import fcntl
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

import pytest

from affidavit import weights
from affidavit.errors import AffidavitError, InputError, UsageError
from affidavit.model import Answer, Completion, Failure, Reason, Request
from affidavit.models import embedded
from affidavit.models.embedded import RESTARTS, Embedded
from affidavit.study import Limits

ONE_OF_FOUR = 'root ::= "<answer>" [A-D] "</answer>"'
QUESTION = "Which city is the capital of France?\n\nA. Rome\nB. Paris\nC. Oslo\nD. Bern"


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The weights, fetched once if they are not at hand; on a build machine they must be had."""
    try:
        if find_spec("xllamacpp") is None:
            raise weights.not_installed("xllamacpp")
        weights.models_directory().mkdir(parents=True, exist_ok=True)
        with (weights.models_directory() / ".fetching").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes fetch it once
            return weights.pull("smollm2")
    except AffidavitError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no embedded model here: {error}")


def request(text: str = QUESTION, *, seed: int = 1, grammar: str | None = None, most: int = 24) -> Request:
    decoding = {"temperature": 0.8, "max_tokens": most}
    return Request(({"role": "user", "content": text},), decoding, seed=seed, grammar=grammar)


def within(path: Path, do: Callable[[Embedded], Awaitable[object]], *, slots: int = 2, context: int = 512):
    """What `do` gives with the model at hand."""

    async def go() -> object:
        async with asyncio.timeout(60), Embedded("m", path, Limits(), slots=slots, context=context) as model:
            return await do(model)

    return asyncio.run(go())


def process_of(model: Embedded) -> int:
    """The number of the process that runs llama.cpp."""
    assert model._served is not None
    return model._served.child._process.pid


def gone(number: int) -> bool:
    """Whether a process ends soon; one that only waits to be collected has ended."""
    end = monotonic() + 10
    while monotonic() < end:
        try:
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(number, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        sleep(0.02)
    return False


# --- without weights ---


def test_what_is_no_gguf_is_refused_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    (tmp_path / "m.gguf").write_text("hello")
    with pytest.raises(InputError, match="expected a GGUF file"):
        within(tmp_path / "m.gguf", lambda model: model.reachable())


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'affidavit\[embedded\]'"):
        within(tmp_path / "m.gguf", lambda model: model.reachable())


@pytest.mark.slow
def test_weights_that_llama_cannot_load_end_with_its_last_words(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    with pytest.raises(UsageError) as told:
        within(tmp_path / "m.gguf", lambda model: model.reachable())
    assert "expected llama.cpp to load it and listen, found a process that ended" in str(told.value)
    assert "error loading model" in str(told.value)


# --- asking ---


@pytest.mark.slow
def test_it_answers_eight_at_once_and_says_what_it_is(smollm2):
    async def ask(model: Embedded) -> list[Answer]:
        assert await model.reachable() is None
        facts = model.facts()
        assert facts["sha256"] == weights.KNOWN[0].sha256
        assert facts["quantisation"] == "Q4_1 (210), F32 (61), Q8_0 (1)"
        assert model.connections == 8
        return await asyncio.gather(*(model.complete(request(seed=seed)) for seed in range(8)))

    answers = within(smollm2, ask, slots=8)
    assert all(isinstance(each, Completion) and each.text and each.usage for each in answers)


@pytest.mark.slow
def test_a_grammar_is_kept_sixteen_times_in_sixteen(smollm2):
    async def ask(model: Embedded) -> list[Answer]:
        many = (model.complete(request(seed=seed, grammar=ONE_OF_FOUR)) for seed in range(16))
        return await asyncio.gather(*many)

    texts = [each.text for each in within(smollm2, ask, slots=8)]
    assert len(texts) == 16
    assert all(re.fullmatch("<answer>[A-D]</answer>", each) for each in texts), texts


@pytest.mark.slow
def test_the_same_seed_gives_the_same_text_when_asked_alone(smollm2):
    """Alone: among others, rounding depends on who is in the batch, and a sampled text may turn at any token."""

    async def ask(model: Embedded) -> list[str]:
        return [(await model.complete(request(seed=seed))).text for seed in (1, 2, 3, 1, 2, 3)]

    first = within(smollm2, ask, slots=1)
    assert first[:3] == first[3:]
    assert len(set(first)) > 1, "and another seed another text"
    assert within(smollm2, ask, slots=1) == first, "also after a new start"


@pytest.mark.slow
def test_what_cannot_be_asked_is_a_failure_with_its_reason(smollm2):
    async def ask(model: Embedded) -> list[Answer]:
        return [
            await model.complete(request("word " * 2000)),
            await model.complete(request(grammar="root ::= (")),
            await model.complete(request()),
        ]

    too_long, bad, fine = within(smollm2, ask)
    assert too_long.reason is Reason.CONTEXT_OVERFLOW
    assert "512 tokens" in too_long.detail, "the context is that of one slot"
    assert bad.reason is Reason.BAD_REQUEST
    assert "grammar" in bad.detail
    assert isinstance(fine, Completion)


@pytest.mark.slow
def test_the_rendered_prompt_shows_what_the_template_adds(smollm2):
    async def ask(model: Embedded) -> list[str | Failure]:
        own = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"})
        return [await model.render(({"role": "user", "content": "Hi"},)), await model.render(own)]

    added, given = within(smollm2, ask)
    assert "<|im_start|>system\nYou are a helpful AI assistant named SmolLM" in added
    assert added.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert "Be brief." in given
    assert "SmolLM" not in given


# --- ending ---


@pytest.mark.slow
def test_a_killed_process_fails_what_was_open_and_is_started_again(smollm2):
    async def ask(model: Embedded) -> tuple[list[Answer], Answer, int, int]:
        before = process_of(model)
        open_ones = [asyncio.create_task(model.complete(request(seed=n, most=400))) for n in range(2)]
        await asyncio.sleep(0.2)
        os.kill(before, signal.SIGKILL)
        failed = await asyncio.gather(*open_ones)
        assert gone(before)
        await asyncio.sleep(0.1)
        return failed, await model.complete(request()), before, process_of(model)

    failed, again, before, after = within(smollm2, ask)
    assert [each.reason for each in failed] == [Reason.CONNECTION] * 2
    assert isinstance(again, Completion)
    assert before != after
    assert gone(after), "it ends with the block"


@pytest.mark.slow
def test_a_process_that_keeps_dying_is_given_up(smollm2):
    async def ask(model: Embedded) -> Answer:
        for _ in range(RESTARTS):
            os.kill(process_of(model), signal.SIGKILL)
            await model._served.child._process.wait()
            assert await model.reachable() is None
        os.kill(process_of(model), signal.SIGKILL)
        await model._served.child._process.wait()
        return await model.complete(request())

    answer = within(smollm2, ask, slots=1)
    assert answer.reason is Reason.CONNECTION
    assert "ended 4 times in a row" in answer.detail
    assert answer.may_pass, "another run may do better"


PARENT = """
import asyncio, sys
from pathlib import Path
from affidavit.models.embedded import Embedded
from affidavit.study import Limits

async def main():
    async with Embedded("m", Path(sys.argv[1]), Limits(), slots=1, context=512) as model:
        print(model._served.child._process.pid, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.slow
def test_when_we_are_killed_the_process_ends_too(smollm2):
    with subprocess.Popen([sys.executable, "-c", PARENT, smollm2], stdout=subprocess.PIPE) as parent:
        try:
            child = int(parent.stdout.readline())
            os.kill(child, 0)
        finally:
            parent.kill()
    assert gone(child)


@pytest.mark.slow
def test_a_start_that_is_called_off_leaves_no_process(smollm2, monkeypatch):
    real, began = embedded._Child.address, []

    async def noted(child) -> str:
        began.append(child._process.pid)
        return await real(child)

    async def go() -> None:
        starting = asyncio.create_task(Embedded("m", smollm2, Limits(), slots=1).__aenter__())
        while not began:
            await asyncio.sleep(0.001)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    monkeypatch.setattr(embedded._Child, "address", noted)
    asyncio.run(go())
    assert gone(began[0])


# --- quantised twice ---


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "types"), [("Q4_0", "Q4_0 (211), F32 (61)"), ("Q8_0", "Q8_0 (211), F32 (61)")])
def test_weights_quantised_twice_load_answer_and_say_so(smollm2, tmp_path, monkeypatch, kind, types):
    pytest.importorskip("gguf", reason="gguf is not installed")
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    made = weights.quantize(smollm2, kind)
    assert re.search(f"-{kind.lower()}-from-q4_1$", made.stem)
    (found,) = weights.at_hand()
    assert (found.quantisation, found.licence) == (types, "Apache-2.0")
    assert found.quantised_twice_from == weights.KNOWN[0].sha256
    assert weights.find(made.stem) == made
    answer = within(made, lambda model: model.complete(request(grammar=ONE_OF_FOUR)), slots=1)
    assert re.fullmatch("<answer>[A-D]</answer>", answer.text)
