"""A new provider is one file and one line: its settings and its model, here, and its key in the registry."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.models.model import Answer, Completion, Failure, Request
from affidavit.models.registry import PROVIDERS
from affidavit.models.settings import Limits, ModelTable, Provider, SettingsTable
from affidavit.running.study_run import Ended, Options, run_study
from affidavit.study.files import load
from support.studies import records, write_study

# --- the one file ---


class ParrotProvider(SettingsTable, Provider, frozen=True, kw_only=True):
    """`parrot`: a file of words that are said whatever is asked."""

    flavours = ("parrot",)

    parrot: str = ""
    birds: int = 2

    def weights(self, *, beside: Path) -> Path:
        if not (beside / self.parrot).is_file():
            raise InputError(self.parrot, expected="a file of words", found="none")
        return beside / self.parrot

    def open(self, name: str, table: ModelTable, limits: Limits, *, beside: Path) -> "Parrot":
        return Parrot(name, (beside / self.parrot).read_text(), self.birds)


class Parrot:
    def __init__(self, name: str, words: str, birds: int) -> None:
        self.name, self.connections, self._words = name, birds, words

    def facts(self) -> dict[str, object]:
        return {"words": len(self._words.split()), "birds": self.connections}

    def notes(self) -> list[str]:
        return ["m: the words are the parrot's"]

    async def __aenter__(self) -> "Parrot":
        return self

    async def __aexit__(self, *error: object) -> None:
        return

    async def reachable(self) -> Failure | None:
        return None

    async def complete(self, request: Request) -> Answer:
        return Completion(self._words, "stop")

    async def setup_fault(self, failure: Failure) -> None:
        return


# --- the one line ---


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(PROVIDERS, "parrot", ParrotProvider)


PARROT = {"m": {"base_url": None, "connections": None, "parrot": "words.txt"}}
"""In place of the server of a written study."""


def parrot_study(folder: Path, **changed: dict) -> Path:
    (folder / "words.txt").write_text("<answer>B</answer>")
    return write_study(folder, "", count=5, changed={"models": PARROT, **changed})


def run(study: Path) -> Ended:
    return run_study(load(study), Options(out=study.parent / "out"))


@pytest.mark.slow
def test_a_study_runs_with_it_and_says_so(tmp_path):
    study = parrot_study(tmp_path)
    ended = run(study)
    assert (ended.asked, ended.open) == (5, 0)
    answers = [record for record in records(tmp_path / "out") if record["kind"] == "response"]
    assert {(answer["raw_output"], answer["correct"]) for answer in answers} == {("<answer>B</answer>", True)}
    began, over = map(json.loads, (tmp_path / "out" / "run_log.jsonl").read_text().splitlines())
    assert over["notes"] == list(ended.notes) == ["m: the words are the parrot's"]
    request = {"model": "m", "temperature": 0.0, "max_tokens": 256}
    assert began["models"] == {
        "m": {"model": "m", "flavour": "parrot", "request": request, "words": 1, "birds": 2}
    }
    config = json.loads((tmp_path / "out" / "study.json").read_bytes())["config"]
    assert config["models"]["m"] == {
        "model": "m", "identity": "m", "tools": [], "token_limit": "max_tokens", "body": {}, "flavour": "parrot", "context": 2048
    }  # fmt: skip
    assert config["weights"] == {"m": sha256(b"<answer>B</answer>").hexdigest()}
    assert run(study).asked == 0


def test_a_study_goes_on_with_the_same_words_only(tmp_path):
    study = parrot_study(tmp_path)
    run(study)
    (tmp_path / "words.txt").write_text("<answer>C</answer>")
    with pytest.raises(UsageError, match=r"weights\.m: was"):
        run(study)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"models": {"m": {**PARROT["m"], "slots": 3}}}, "no slots in models.m: it has no meaning beside parrot"),
        ({"models": {"m": {**PARROT["m"], "replay": "x"}}}, "found replay and parrot"),
        ({"models": {"m": {**PARROT["m"], "bird": 3}}}, "Did you mean birds?"),
        ({"models": {"m": {**PARROT["m"], "parrot": "none.txt"}}}, "expected a file of words, found none"),
        ({"conditions": {"held": {"constrained": True}}}, "'parrot' takes no grammar"),
        (
            {
                "tasks": {"quiz": {"contract": "text"}},
                "judging": {"judges": ["m"], "conditions": ["free", "schema"]},
            },
            "expected judges that take a JSON schema in judging.judges, found 'm'",
        ),
    ],
)
def test_what_it_does_not_have_is_refused_before_anything_is_asked(tmp_path, changed, why):
    with pytest.raises(InputError, match=why):
        run(parrot_study(tmp_path, **changed))
    assert not (tmp_path / "out").exists()
