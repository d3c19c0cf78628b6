"""Tokens are estimated within 30 % of what a model's own tokeniser counts, and prompts that cannot fit are refused."""

import asyncio
import json
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.models.embedded import Embedded
from affidavit.models.model import Message
from affidavit.models.settings import Limits
from affidavit.models.token_estimate import estimated_tokens, fewest_tokens
from affidavit.study.dry_run import dry_run
from affidavit.study.files import load
from support.fault_server import LONGEST
from support.studies import items, laid_over, write_items, write_study
from support.weight_files import ready_to_run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
COUNTED = {
    ("trivia", "free"): 8196,
    ("trivia", "grammar"): 8196,
    ("hands", "free"): 3398,
    ("hands", "grammar"): 3398,
}
"""Tokens of the prompts of examples/demo.toml, as llama.cpp's server counted them for SmolLM2."""


@pytest.mark.slow
def test_the_tokens_of_the_demo_are_estimated_within_30_per_cent():
    planned = dry_run(load(EXAMPLES / "demo.toml", with_weights=False))
    for cell in planned.asked:
        counted = COUNTED[cell.cell.task, cell.cell.condition]
        assert 0.7 * counted <= cell.prompt_tokens <= 1.3 * counted, cell


@pytest.mark.slow
def test_the_tokens_of_the_demo_are_those_that_the_embedded_model_counts(monkeypatch):
    """Its own template makes a prompt of the messages, and its own tokeniser counts."""
    said, demo = [], load(EXAMPLES / "demo.toml", with_weights=False)
    with monkeypatch.context() as patch:
        patch.setattr("affidavit.study.dry_run.estimated_tokens", lambda messages: said.append(messages) or 0)
        dry_run(demo)
    counted = iter(asyncio.run(tokens_of(said)))
    monkeypatch.setattr("affidavit.study.dry_run.estimated_tokens", lambda _: next(counted))
    found = {(each.cell.task, each.cell.condition): each.prompt_tokens for each in dry_run(demo).asked}
    assert found == COUNTED


async def tokens_of(conversations: list[list[Message]]) -> list[int]:
    found = []
    async with Embedded("m", ready_to_run(), Limits(connect=LONGEST), slots=1) as model:
        for messages in conversations:
            prompt = {"content": await model.render(messages), "add_special": True, "parse_special": True}
            found.append(len((await model._served.own.ask("tokenize", prompt))["tokens"]))
    return found


def test_letters_beyond_ascii_are_more_tokens():
    said = [[{"role": "user", "content": letter * 400}] for letter in "aя語\ud800"]
    assert [estimated_tokens(each) for each in said] == [130, 230, 330, 330]
    assert [fewest_tokens(each) for each in said] == [50, 100, 150, 150]


@pytest.mark.parametrize(("context", "fits"), [(64, False), (4096, True)])
def test_examples_that_fill_the_context_are_refused_before_anything_is_asked(tmp_path, context, fits):
    shots = [{**row, "id": f"e{row['id']}", "question": f"[e{row['id']}] {'Why not? ' * 20}"} for row in items(8)]
    write_items(tmp_path / "shots.jsonl", shots)
    model = {"base_url": None, "connections": None, "embedded": "smollm2-135m-instruct-q4_1", "context": context}
    changed = laid_over({"conditions": {"taught": {"examples": "shots.jsonl"}}}, {"models": {"m": model}})
    study = write_study(tmp_path, "", changed=changed)
    if fits:
        load(study, with_weights=False)
        return
    with pytest.raises(InputError) as caught:
        load(study, with_weights=False)
    assert caught.value.expected == "a prompt of quiz that fits in the 64 tokens of models.m"
    assert "Give fewer or shorter examples, or context = N in [models.m]." in str(caught.value)
    assert json.dumps(caught.value.found).startswith('"about ')
