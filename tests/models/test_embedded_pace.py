"""Attempts of a model that runs here: how long they may take, what is said of it before, meanwhile and at the end."""

import asyncio
import re
from contextlib import suppress
from pathlib import Path

import pytest

from affidavit.commands.run_line import judge_line, run_line
from affidavit.models import embedded
from affidavit.models.embedded import Embedded
from affidavit.models.embedded_pace import ANSWER_RATE, PROMPT_RATE, RATED_BYTES, EmbeddedPace
from affidavit.models.model import Completion, Failure, Reason, Request
from affidavit.models.settings import Limits
from affidavit.running.asked_now import AskedNow
from affidavit.study.dry_run import dry_run
from affidavit.study.files import load
from support.studies import write_study

PACE = EmbeddedPace(slots=8, threads=1, context=4096, weight_bytes=RATED_BYTES)


@pytest.mark.parametrize(
    ("changed", "tokens", "seconds"),
    [
        ({}, (PROMPT_RATE, 0), 8),
        ({}, (0, ANSWER_RATE), 8),
        ({"slots": 1}, (PROMPT_RATE, ANSWER_RATE), 2),
        ({"threads": 4}, (PROMPT_RATE, ANSWER_RATE), 4),
        ({"weight_bytes": 10 * RATED_BYTES}, (PROMPT_RATE, 0), 80),
        ({"context": 100}, (80, 1000), 8 * (80 / PROMPT_RATE + 20 / ANSWER_RATE)),
        ({"context": 80}, (1000, 1000), 8 * 80 / PROMPT_RATE),
    ],
)
def test_questions_that_are_answered_at_once_share_the_threads(changed, tokens, seconds):
    pace = EmbeddedPace(**{**vars(PACE), **changed})
    assert pace.seconds(*map(int, tokens)) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("slots", "seconds", "said"),
    [
        (8, 200.0, "Set attempt = 420 in [limits], or slots = 2 in [models.m]."),
        (8, 480.0, "Set attempt = 1020 and sample = 2040 in [limits], or slots = 1 in [models.m]."),
        (8, 2000.0, "Set slots = 1 in [models.m] and attempt = 540 in [limits]."),
        (1, 200.0, "Set attempt = 420 in [limits]."),
    ],
)
def test_what_is_advised_would_do(slots, seconds, said):
    pace = EmbeddedPace(**{**vars(PACE), "slots": slots})
    assert pace.advice("m", seconds, attempt=120.0, sample=900.0) == said


# --- before ---


def planned_notes(tmp_path, model, *, question="Why?", decoding=None):
    table = {"base_url": None, "connections": None, "embedded": "smollm2", **model}
    changed = {"models": {"m": table}, "decoding": decoding or {}, "limits": {"attempt": 120, "sample": 900}}
    study = write_study(tmp_path, "", changed=changed)
    rows = (tmp_path / "items.jsonl").read_text().replace("Which one?", question)
    (tmp_path / "items.jsonl").write_text(rows)
    return dry_run(load(study, with_weights=False)).notes


def test_a_listing_says_that_attempts_may_take_too_long(tmp_path):
    slow, seed = planned_notes(tmp_path, {"context": 8192}, question="Why? " * 2000, decoding={"max_tokens": 1024})
    assert slow.startswith("m: an attempt may take ")
    assert " s, more than the 120 s of attempt in [limits]: 8 slots share 1 thread, prompts have up to 2," in slow
    assert "and answers up to 1,024, at a rough 81 prompt tokens and 41 answer tokens a second. Set " in slow
    assert slow.endswith("or slots = 1 in [models.m].")
    assert seed == (
        "m: with slots = 8 questions are answered together, and the same seed does not always give the same text; "
        "with slots = 1 it does."
    )


def test_a_listing_says_that_answers_may_be_cut(tmp_path):
    (cut,) = planned_notes(tmp_path, {"slots": 1, "context": 1024}, decoding={"max_tokens": 1000})
    assert re.fullmatch(
        r"m: a prompt and the longest answer take about 1,\d\d\d tokens, more than its context of 1,024: answers may "
        r"be cut\. Set context = (1536|2048) in \[models\.m\], or a smaller max_tokens\.",
        cut,
    ), cut


def test_a_listing_says_nothing_of_what_will_do(tmp_path):
    assert planned_notes(tmp_path, {"slots": 1}) == ()


# --- meanwhile, and at the end ---


def asked(monkeypatch, *outcomes) -> Embedded:
    """A model that was asked so often: a number stands for the seconds after which an attempt was called off."""
    model, clock, waiting = Embedded("m", Path("nowhere.gguf"), Limits()), [0.0], list(outcomes)

    async def complete(request):
        answer = waiting.pop(0)
        if isinstance(answer, float):
            clock[0] += answer
            raise asyncio.CancelledError
        return answer

    monkeypatch.setattr(model, "_complete", complete)
    monkeypatch.setattr(embedded, "monotonic", lambda: clock[0])
    request = Request({"messages": [{"role": "user", "content": "?"}], "max_tokens": 40})

    async def ask():
        for _ in outcomes:
            with suppress(asyncio.CancelledError):
                await model.complete(request)

    asyncio.run(ask())
    return model


ANSWER, REFUSAL = Completion("A", finish_reason="stop"), Failure(Reason.BAD_REQUEST, "no")


def test_a_model_says_that_its_attempts_take_too_long(monkeypatch):
    model = asked(monkeypatch, 120.0, 120.0, ANSWER)
    assert model.slowness() == model.notes()[-1]
    assert model.slowness() == (
        "m: 2 attempts were not answered within the 120 s of attempt in [limits], 1 was: 8 slots share 1 thread. "
        "Set attempt = 300 in [limits], or slots = 4 in [models.m]."
    )


@pytest.mark.parametrize("outcomes", [[ANSWER], [3.0], [120.0, REFUSAL], [120.0, *[ANSWER] * 20]])
def test_it_says_nothing_where_that_is_not_the_main_failure(outcomes, monkeypatch):
    model = asked(monkeypatch, *outcomes)
    assert model.slowness() is None
    assert model.notes() == []


@pytest.mark.parametrize("line", [run_line, judge_line])
def test_progress_says_it_too(line):
    now = AskedNow({}, {}, slow=["m: 2 attempts were not answered"])
    assert line(now, 4.0).splitlines()[1:] == ["m: 2 attempts were not answered"]
