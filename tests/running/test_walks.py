"""How often the journal is walked: as few times as can be, whatever a command needs of it."""

import gc
import json
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from affidavit.archive import journal
from affidavit.archive.parquet_copy import make_copy
from affidavit.archive.study_directory import StudyDirectory
from support.judged_studies import judgements, open_study, serving
from support.studies import fine, records
from support.written_study import here

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


@pytest.fixture(autouse=True)
def rubbish_is_collected_as_before(monkeypatch):
    """A command that asks models changes how often its process looks for rubbish; this one goes on."""
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda *thresholds: None)


@pytest.fixture
def walks(monkeypatch) -> Callable[[], int]:
    """How often the first segment was gone through since this was last asked."""
    scanned = []
    scan = journal.scan

    def counted(segment: journal.Segment, **how: object):
        scanned.append(segment.number)
        return scan(segment, **how)

    def count() -> int:
        found = scanned.count(1)
        scanned.clear()
        return found

    monkeypatch.setattr(journal, "scan", counted)
    return count


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """A study whose outputs nobody has judged yet, and the server that judges them."""
    monkeypatch.chdir(tmp_path)
    with serving() as server:
        open_study(tmp_path, server.url, {})
        assert fine(here("run", "study.toml", "--out", "out", "--no-page"), 0)
        yield StudyDirectory(tmp_path / "out")


def judge(*options: str, judges: tuple[str, ...] = ("alpha",)):
    return here("judge", "out", *(part for name in judges for part in ("--judge", name)), *options)


@pytest.mark.slow
def test_a_first_judging_walks_the_journal_twice(outputs, walks):
    """Once to recover it, which tells what there is to judge, and once for trees and tables together."""
    walks()
    done = judge("--no-page", "--json", judges=("alpha", "beta"))
    assert fine(done, 0)
    assert walks() == 2
    given = judgements(outputs.path)
    assert len(given) == 2 * 24
    assert {each["judged_key"] for each in given} == {each["key"] for each in records(outputs.path)[:24]}
    tables = json.loads(done.stdout)["judging"]["judges"]
    assert sum(each["coverage"]["planned"] for each in tables) == len(given)


@pytest.mark.slow
def test_a_further_judging_walks_it_twice_too(outputs, walks):
    assert fine(judge("--no-page"), 0)
    walks()
    assert fine(judge("--no-page", judges=("alpha", "beta")), 0)
    assert walks() == 2
    assert len(judgements(outputs.path)) == 2 * 24


@pytest.mark.slow
def test_the_page_takes_one_walk_for_its_columns_and_its_judging(outputs, walks):
    walks()
    assert fine(judge(), 0)
    assert walks() == 3
    assert fine(here("report", "out"), 0)
    assert walks() == 1
    assert fine(here("gate", "out", "--max-invalid", "1"), 0)
    assert walks() == 1
    make_copy(outputs)
    walks()
    assert fine(here("report", "out"), 0)
    assert walks() == 1, "the columns are there; what judges said in full is not among them"
    assert fine(here("compare", "out@model=alpha", "out@model=beta"), 0)
    assert walks() == 0


@pytest.mark.slow
def test_going_on_with_a_run_walks_it_once_and_so_does_a_finished_study(outputs, walks):
    walks()
    assert fine(here("run", "study.toml", "--out", "out", "--no-page"), 0)
    assert walks() == 1, "what its seal counts is counted again"
    (outputs.path / "seal.json").unlink()
    assert fine(here("run", "study.toml", "--out", "out", "--no-page"), 0)
    assert walks() == 1


@pytest.mark.slow
def test_verify_walks_it_once_trees_included(outputs, walks):
    assert fine(judge("--no-page"), 0)
    walks()
    assert fine(here("verify", "out"), 0)
    assert walks() == 1


@pytest.mark.parametrize("name", ["planned", "imported"])
def test_a_study_of_an_earlier_version_verifies_with_the_digest_that_it_had(tmp_path, walks, name):
    directory = shutil.copytree(STUDIES / name, tmp_path / name)
    known = json.loads((directory / "judging.json").read_text())["terms"]["contract_params"]["unicode"]
    if known != unicodedata.unidata_version:
        pytest.skip(f"its quotes were normalised by Unicode {known}")
    done = here("verify", directory, "--json")
    assert fine(done, 0)
    found = json.loads(done.stdout)
    assert (found["sealed"], found["differing"]) == (True, 0)
    assert found["root_sha256"] == json.loads((directory / "seal.json").read_text())["root_sha256"]
    assert walks() == 1
