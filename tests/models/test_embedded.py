"""The embedded model, for real: llama.cpp with the SmolLM2 weights in a process of its own."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.models import embedded, weights
from affidavit.models.embedded import RESTARTS, Embedded, EmbeddedProvider
from affidavit.models.endpoint import Endpoint
from affidavit.models.llama_process import LlamaProcess
from affidavit.models.model import Answer, Completion, Failure, Reason, Request
from affidavit.models.quantisation import quantize
from affidavit.models.redaction import Redaction
from affidavit.models.request_body import SharedRequest, shared_fields
from affidavit.models.settings import Limits
from support.held_llama import Gate
from support.processes import gone
from support.weight_files import ready_to_run

PATIENT = Limits(connect=600.0)
ONE_OF_FOUR = 'root ::= "<answer>" [A-D] "</answer>"'
QUESTION = "Which city is the capital of France?\n\nA. Rome\nB. Paris\nC. Oslo\nD. Bern"


PROVIDER = EmbeddedProvider()


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The weights, and the library to run them."""
    return ready_to_run()


def request(text: str = QUESTION, *, seed: int = 1, grammar: str | None = None, most: int = 24) -> Request:
    shared = SharedRequest(shared_fields("m", {"temperature": 0.8, "max_tokens": most}, own=PROVIDER.own_fields))
    constraint = {} if grammar is None else PROVIDER.grammar_fields(grammar)
    return Request(
        shared.body(({"role": "user", "content": text},), seed=seed, constraint=constraint), grammar=grammar
    )


Did = Callable[[Embedded], Awaitable[object]]


def within(path: Path, do: Did, *, slots: int = 2, context: int = 512) -> object:
    """What `do` gives with the model at hand."""

    async def go() -> object:
        async with asyncio.timeout(600), Embedded("m", path, PATIENT, slots=slots, context=context) as model:
            return await do(model)

    return asyncio.run(go())


async def kill(model: Embedded) -> None:
    """End the model's process as the system would."""
    os.kill(process_of(model), signal.SIGKILL)
    await model._served.child._process.wait()


def process_of(model: Embedded) -> int:
    """The number of the process that runs llama.cpp."""
    assert model._served is not None
    return model._served.child._process.pid


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


def test_weights_that_are_not_there_are_told_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    with pytest.raises(InputError, match="No such file"):
        within(tmp_path / "m.gguf", lambda model: model.reachable())


def test_a_process_that_cannot_be_had_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    monkeypatch.setattr(embedded, "find_spec", lambda _: object())
    monkeypatch.setattr(sys, "executable", "/none")
    with pytest.raises(UsageError, match="expected a process for it, found No such file"):
        within(tmp_path / "m.gguf", lambda model: model.reachable())


@pytest.mark.parametrize("word", ["slots", "context", "threads"])
def test_numbers_below_one_are_refused(word):
    with pytest.raises(UsageError, match=rf"models\.m\.{word}: expected a number from 1 on, found 0"):
        Embedded("m", Path("m.gguf"), Limits(), **{word: 0})


def test_nothing_is_started_by_a_question_outside_the_block():
    with pytest.raises(RuntimeError, match="inside `async with`"):
        asyncio.run(Embedded("m", Path("m.gguf"), Limits()).complete(request()))


@pytest.mark.slow
def test_weights_that_llama_cannot_load_end_with_its_last_words(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    with pytest.raises(UsageError) as told:
        within(tmp_path / "m.gguf", lambda model: model.reachable())
    assert "expected llama.cpp to load it and listen, found a process that ended" in str(told.value)
    assert re.search("error loading model|failed to load model|model loading error", str(told.value)), told.value


# --- asking ---


@pytest.mark.slow
def test_it_answers_eight_at_once_and_says_what_it_is(smollm2):
    async def ask(model: Embedded) -> list[Answer]:
        assert await model.reachable() is None
        facts = model.facts()
        assert facts["sha256"] == weights.KNOWN[0].sha256
        assert facts["quantisation"] == "Q4_1 (210), F32 (61), Q8_0 (1)"
        assert model.connections == 8
        assert (await model._served._ask_llama("props"))["total_slots"] == 8
        return await asyncio.gather(*(model.complete(request(seed=seed)) for seed in range(8)))

    answers = within(smollm2, ask, slots=8)
    assert all(isinstance(each, Completion) and each.text and each.usage for each in answers)
    assert {each.server_model for each in answers} == {smollm2.name}, "not where on this machine it is"


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
def test_a_question_longer_than_a_slot_is_a_failure_with_its_reason(smollm2):
    async def ask(model: Embedded) -> list[Answer]:
        before = process_of(model)
        answers = [await model.complete(request("word " * count)) for count in (2000, 600, 300)]
        assert process_of(model) == before
        return answers

    *too_long, fine = within(smollm2, ask)
    for each in too_long:
        assert each.reason is Reason.CONTEXT_OVERFLOW
        assert "512 tokens" in each.detail, "the context is that of one slot"
    assert isinstance(fine, Completion)


@pytest.mark.slow
def test_a_bad_grammar_is_a_bad_request_and_the_process_lives_on(smollm2):
    async def ask(model: Embedded) -> list[Answer]:
        before = process_of(model)
        answers = [await model.complete(request(grammar=each)) for each in BAD_GRAMMARS]
        answers += [await model.complete(request(grammar=each, most=4)) for each in DEEP_GRAMMARS]
        assert isinstance(await model.complete(request(most=4)), Completion), "and a question without one"
        assert process_of(model) == before
        return answers

    answers = within(smollm2, ask)
    for each in answers[: len(BAD_GRAMMARS)]:
        assert each.reason is Reason.BAD_REQUEST
        assert "grammar" in each.detail
    assert all(each.text == "a" for each in answers[len(BAD_GRAMMARS) :])


BAD_GRAMMARS = (
    "",
    "\0",
    "# nothing",
    "root ::= (",
    'other ::= "a"',
    'root ::= root "a"',
    "root ::= other",
    "root ::= [",
    "root ::= " + "(" * 200_000,
    "root ::= r0\n" + "\n".join(f"r{n} ::= r{n + 1}" for n in range(100_000)),
)
DEEP_GRAMMARS = (
    "root ::= " + "(" * 4000 + '"a"' + ")" * 4000,
    "root ::= r0\n" + "\n".join(f"r{n} ::= r{n + 1}" for n in range(3998)) + '\nr3998 ::= "a"',
)


@pytest.mark.slow
def test_the_context_is_what_llama_gives_not_what_was_asked(smollm2):
    async def ask(model: Embedded) -> object:
        return model.facts()["context"]

    assert within(smollm2, ask, slots=1, context=100) == 256
    assert within(smollm2, ask, slots=1, context=20_000) == 8192


@pytest.mark.slow
def test_nobody_else_on_this_machine_can_ask_or_look(smollm2):
    async def ask(model: Embedded) -> list[int]:
        own = model._served.own
        stranger = Endpoint(f"http://{own._endpoint.host}", Redaction())

        async def status(request: bytes) -> int:
            return (await own.connections.exchange(stranger.origin, request)).status

        assert await status(own._endpoint.get("slots")) == 501, "not even with the key"
        looks = [await status(stranger.get(path)) for path in ("props", "slots", "v1/models", "apply-template")]
        return [*looks, await status(stranger.post("v1/chat/completions", b"{}"))]

    assert set(within(smollm2, ask, slots=1)) == {401}


@pytest.mark.slow
def test_it_starts_in_a_directory_with_files_named_like_python_s(smollm2, tmp_path, monkeypatch):
    for name in ("threading", "xllamacpp", "affidavit"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    assert within(smollm2, lambda model: model.reachable(), slots=1) is None


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


@pytest.mark.slow
def test_every_completion_has_its_rendered_prompt_made_once(smollm2, monkeypatch):
    real, asked = embedded._Served.render, []

    async def noted(served, messages) -> str | Failure:
        asked.append(messages)
        return await real(served, messages)

    async def ask(model: Embedded) -> list[Answer]:
        same = [model.complete(request("Hi", seed=seed, most=2)) for seed in range(6)]
        return await asyncio.gather(*same, model.complete(request("Who are you?", most=2)))

    monkeypatch.setattr(embedded._Served, "render", noted)
    *same, other = within(smollm2, ask)
    prompts = {each.rendered_prompt for each in same}
    assert len(prompts) == 1
    prompt = prompts.pop()
    assert prompt.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM"), (
        "the template's own"
    )
    assert prompt.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert "Who are you?" in other.rendered_prompt
    assert len(asked) == 2


@pytest.mark.slow
def test_as_many_prompts_are_kept_as_are_of_use(smollm2):
    async def ask(model: Embedded) -> list[str]:
        for number in range(70):
            await model.render(({"role": "user", "content": str(number)},))
        await model.render(({"role": "user", "content": "6"},))  # the oldest that is left becomes the newest
        await model.render(({"role": "user", "content": "70"},))
        return [key[0][0][1] for key in model._prompts]

    kept = within(smollm2, ask, slots=1)
    assert kept == [str(number) for number in (*range(8, 70), 6, 70)]


@pytest.mark.slow
def test_an_answer_stays_when_its_prompt_cannot_be_rendered(smollm2, monkeypatch):
    async def refused(*_) -> Failure:
        return Failure(Reason.BAD_REQUEST, "no")

    monkeypatch.setattr(embedded._Served, "render", refused)
    answer = within(smollm2, lambda model: model.complete(request()), slots=1)
    assert isinstance(answer, Completion)
    assert answer.rendered_prompt is None


# --- ending ---


@pytest.mark.slow
def test_a_killed_process_fails_what_was_open_and_is_started_again(smollm2, tmp_path, monkeypatch):
    gate = Gate(tmp_path / "gate")
    gate.load()
    for name, value in gate.environment.items():
        monkeypatch.setenv(name, value)

    async def ask(model: Embedded) -> tuple[list[Answer], Answer, int, int]:
        before = process_of(model)
        open_ones = [asyncio.create_task(model.complete(request(seed=n))) for n in range(2)]
        while gate.given < 2:
            await asyncio.sleep(0.001)
        await kill(model)
        failed = await asyncio.gather(*open_ones)
        gate.open()
        return failed, await model.complete(request()), before, process_of(model)

    failed, again, before, after = within(smollm2, ask)
    assert [each.reason for each in failed] == [Reason.CONNECTION] * 2
    assert isinstance(again, Completion)
    assert before != after
    assert gone(before)
    assert gone(after), "it ends with the block"


@pytest.mark.slow
def test_a_process_that_keeps_dying_is_given_up(smollm2):
    async def ask(model: Embedded) -> Answer:
        for _ in range(RESTARTS):
            await kill(model)
            assert await model.reachable() is None
        await kill(model)
        return await model.complete(request())

    answer = within(smollm2, ask, slots=1)
    assert answer.reason is Reason.CONNECTION
    assert "ended 4 times in a row" in answer.detail
    assert answer.may_pass, "another run may do better"


@pytest.mark.slow
def test_weights_that_changed_during_the_run_are_not_loaded_again(smollm2, tmp_path):
    path = tmp_path / "m.gguf"
    path.symlink_to(smollm2)

    async def ask(model: Embedded) -> Answer:
        await kill(model)
        path.unlink()
        path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
        return await model.complete(request())

    answer = within(path, ask, slots=1)
    assert answer.reason is Reason.CONNECTION
    assert "the file has changed" in answer.detail


@pytest.mark.slow
def test_an_end_during_a_restart_leaves_no_process_and_none_is_started_later(smollm2, monkeypatch):
    real, begun = LlamaProcess.address, []

    async def noted(child) -> str:
        begun.append(child._process.pid)
        return await real(child)

    async def go() -> None:
        async with Embedded("m", smollm2, Limits(), slots=1) as model:
            await kill(model)
            monkeypatch.setattr(LlamaProcess, "address", noted)
            restarting = asyncio.create_task(model.complete(request()))
            while not begun:
                await asyncio.sleep(0.001)
        await restarting
        with pytest.raises(RuntimeError, match="inside `async with`"):
            await model.complete(request())

    asyncio.run(go())
    assert len(begun) == 1
    assert gone(begun[0])


PARENT = """
import asyncio, sys
from pathlib import Path
from affidavit.models.endpoint import Endpoint
from affidavit.models.embedded import Embedded
from affidavit.models.settings import Limits

async def main():
    async with Embedded("m", Path(sys.argv[1]), Limits(), slots=1, context=512) as model:
        print(model._served.child._process.pid, flush=True)
        await asyncio.sleep(3600)

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
    real, began = LlamaProcess.address, []

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

    monkeypatch.setattr(LlamaProcess, "address", noted)
    asyncio.run(go())
    assert gone(began[0])


# --- quantised twice ---


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "types"), [("Q4_0", "Q4_0 (211), F32 (61)"), ("Q8_0", "Q8_0 (211), F32 (61)")])
def test_weights_quantised_twice_load_answer_and_say_so(smollm2, tmp_path, monkeypatch, kind, types):
    pytest.importorskip("gguf", reason="gguf is not installed")
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path))
    made = quantize(smollm2, kind)
    assert re.search(f"-{kind.lower()}-from-q4_1$", made.stem)
    (found,) = weights.at_hand()
    assert (found.quantisation, found.licence) == (types, "Apache-2.0")
    assert found.quantised_twice_from == weights.KNOWN[0].sha256
    assert weights.find(made.stem) == made
    answer = within(made, lambda model: model.complete(request(grammar=ONE_OF_FOUR)), slots=1)
    assert re.fullmatch("<answer>[A-D]</answer>", answer.text)
