"""Answers from another study's archive: the same questions give the same answers, and an import gives none."""

import asyncio
import gc
import shutil
from pathlib import Path

import pytest

from affidavit.archive.record import Response
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import InputError
from affidavit.models.model import Failure, Request
from affidavit.models.replay import Replay
from support.studies import fine
from support.written_study import here, questions, tables, written

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


@pytest.fixture(autouse=True)
def rubbish_is_collected_as_before(monkeypatch):
    """A command that asks models changes how often its process looks for rubbish; this one goes on."""
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda *thresholds: None)


def test_an_answer_that_the_archive_does_not_hold_is_a_failure():
    replay = Replay("again", STUDIES / "planned", "alpha")
    answer = asyncio.run(replay.complete(Request({"messages": ({"role": "user", "content": "Never asked."},)})))
    assert isinstance(answer, Failure)
    assert not answer.may_pass


def test_all_answers_of_a_study_come_back(tmp_path):
    study = tables(models=("m",))
    first = written(
        tmp_path / "first", study, {"quiz": questions(4)}, lambda question: f"\ud800 {question.item.id}"
    )
    folder = tmp_path / "second"
    folder.mkdir()
    shutil.copy(tmp_path / "first" / "quiz.jsonl", folder)
    (folder / "study.toml").write_text(
        '[study]\nname = "trial"\nseed = 7\n[models.m]\nreplay = "../first/out"\n'
        '[tasks.quiz]\ncontract = "mcqa"\nitems = "quiz.jsonl"\n'
    )
    assert fine(here("run", folder / "study.toml", "--out", folder / "out", "--no-page"), 0)
    texts = [
        {
            record.subject.item_id: record.raw_output
            for record in StudyDirectory(path).records()
            if isinstance(record, Response)
        }
        for path in (first, folder / "out")
    ]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 4


def test_outputs_from_elsewhere_cannot_be_replayed():
    """They do not say word for word what they answer."""
    with pytest.raises(InputError) as caught:
        Replay("again", STUDIES / "imported", "gpt")
    assert caught.value.where == str(STUDIES / "imported")
    assert caught.value.found.startswith("outputs from elsewhere")
    assert "affidavit judge" in caught.value.hint


def test_a_study_that_replays_an_import_is_refused_before_anything_is_asked(tmp_path):
    shutil.copytree(STUDIES / "imported", tmp_path / "imported")
    (tmp_path / "items.jsonl").write_text('{"id": "q1", "question": "What now?"}\n')
    (tmp_path / "study.toml").write_text(
        '[study]\nname = "again"\n[models.gpt]\nreplay = "imported"\n'
        '[tasks.advice]\ncontract = "text"\nitems = "items.jsonl"\n'
    )
    done = here("run", tmp_path / "study.toml", "--out", tmp_path / "out")
    assert fine(done, 2)
    assert b"expected a study whose questions were asked by Affidavit" in done.stderr
