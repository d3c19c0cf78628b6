"""A run is told by its own questions: none that was answered before, taken over, or is not to be asked."""

from collections import Counter
from pathlib import Path

import pytest

from affidavit.models.model import Model
from affidavit.models.openai_compatible import OpenAICompatible, ServerProvider
from affidavit.models.registry import PROVIDERS
from affidavit.models.settings import Limits, ModelTable
from affidavit.reading.tally import Tally
from affidavit.running.asked_now import AskedNow, left_to_ask
from affidavit.running.study_run import Options, run_study
from affidavit.study.crossing import Cell
from affidavit.study.files import load
from support.fault_server import FaultServer, every, first, status
from support.studies import write_study


@pytest.mark.parametrize(
    ("tally", "left", "with_retries"),
    [
        (Tally(compliant=3, non_compliant=2, unread=1), 0, 0),
        (Tally(pending=4), 4, 4),
        (Tally(failed=3, failures=Counter(timeout=2, bad_request=1), pending=1), 3, 4),
        (Tally(compliant=1, failures=Counter(timeout=0)), 0, 0),
    ],
)
def test_what_is_left_is_counted(tally, left, with_retries):
    assert left_to_ask(tally, retry_failed=False) == left
    assert left_to_ask(tally, retry_failed=True) == with_retries


class Told:
    """What a run told of its progress, at the beginning and in the end."""

    def __init__(self) -> None:
        self.beginning: tuple[int, int] | None = None
        self.now: AskedNow[Cell]

    def __call__(self, now: AskedNow[Cell]) -> None:
        self.beginning = self.beginning or (now.done, now.planned)
        self.now = now

    @property
    def end(self) -> tuple[int, int]:
        """Once the run has ended: all of its questions have."""
        return self.now.done, self.now.planned


def progress_of(study: Path, **options: object) -> Told:
    told = Told()
    run_study(load(study), Options(study.parent / "out", progress=told, **options))
    return told


def two_models(folder: Path, server: FaultServer, *, count: int) -> Path:
    models = {"m": None} | {name: {"base_url": server.url, "connections": 2} for name in ("one", "two")}
    return write_study(folder, server.url, count=count, changed={"models": models, "limits": {"attempts": 1}})


@pytest.mark.slow
def test_a_run_that_goes_on_counts_what_it_asks_itself(tmp_path):
    """Five questions to each of two models: one fails for good, one once in a way that may pass."""
    plan = {"q1": every(status(400)), "q2": first(status(500))}
    with FaultServer(plan) as server:
        study = two_models(tmp_path, server, count=5)
        one = progress_of(study, models=["one"])
        assert (one.beginning, one.end) == ((0, 5), (5, 5)), "the other model is not asked"
        both = progress_of(study)
        assert (both.beginning, both.end) == ((0, 6), (6, 6)), "what may pass, and the other model's"
        assert {cell.model: count for cell, count in both.now.to_ask.items()} == {"one": 1, "two": 5}
        again = progress_of(study, retry_failed=True)
        assert (again.beginning, again.end) == ((0, 3), (3, 3)), "what failed for good too, since it was said"


class SlowModel(OpenAICompatible):
    """A server's model that says that it is slow."""

    def slowness(self) -> str:
        return f"{self.name} is slow"


class SlowProvider(ServerProvider, frozen=True, kw_only=True):
    """What opens it."""

    def open(self, name: str, table: ModelTable, limits: Limits, *, beside: Path) -> Model:
        return SlowModel(name, self, limits, body=table.body, model=table.model)


@pytest.mark.slow
def test_what_a_model_says_of_its_slowness_is_told_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setitem(PROVIDERS, "base_url", SlowProvider)
    with FaultServer({}) as server:
        assert progress_of(two_models(tmp_path, server, count=1)).now.slow == ["one is slow", "two is slow"]


@pytest.mark.slow
def test_what_a_trial_has_answered_is_not_counted(tmp_path):
    with FaultServer({}) as server:
        study = write_study(tmp_path, server.url, count=5)
        assert progress_of(study, limit=2).end == (2, 2)
        assert progress_of(study).end == (3, 3)


def test_a_study_that_has_grown_counts_what_is_new(tmp_path):
    with FaultServer({}) as server:
        progress_of(write_study(tmp_path, server.url, count=3))
        assert progress_of(write_study(tmp_path, server.url, count=7)).end == (4, 4)


@pytest.mark.slow
def test_a_judging_counts_the_judgements_that_it_asks_for(tmp_path):
    """A judge who joins later is told by its own."""
    with FaultServer() as server:
        for judges, cells in ((["m"], {"m": 3}), (["m", "n"], {"n": 3})):
            models = {name: {"base_url": server.url, "connections": 2} for name in ("m", "n")}
            changed = {
                "models": models,
                "tasks": {"quiz": {"contract": "text", "models": ["m"]}},
                "judging": {"judges": judges},
            }
            told = Told()
            study = write_study(tmp_path, server.url, count=3, changed=changed)
            run_study(load(study), Options(tmp_path / "out", judging_progress=told))
            assert (told.beginning, told.end) == ((0, 3), (3, 3))
            assert {cell.judge: count for cell, count in told.now.to_ask.items()} == cells
