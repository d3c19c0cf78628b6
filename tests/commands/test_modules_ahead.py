"""What the end of a run needs is loaded while answers are awaited, and no sooner: starting a run is waited for."""

import subprocess
import sys
from collections import Counter
from contextlib import suppress

import pytest

from affidavit.commands import modules_ahead
from affidavit.commands.modules_ahead import PAGE, TABLES, ModulesAhead, loaded_meanwhile
from affidavit.reading.tally import Tally
from affidavit.results.page.page_at_the_end import CHEAP
from affidavit.running.asked_now import AskedNow
from affidavit.study.crossing import Cell

CELL = Cell("quiz", "m", "free")
BEFORE_THE_FIRST_QUESTION = (
    "commands.main",
    "commands.modules_ahead",
    "commands.run_progress",
    "results.judging",
    "running.study_run",
    "study.files",
)


def asked(done: int, planned: int = 9) -> AskedNow[Cell]:
    tally = Tally(compliant=done, pending=planned - done)
    return AskedNow({CELL: tally}, {CELL: planned}, Counter({CELL: done}) if done else Counter())


@pytest.fixture
def loaded(monkeypatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(modules_ahead, "import_module", names.append)
    return names


def test_nothing_is_loaded_before_the_first_answer_and_then_once(loaded):
    ahead = ModulesAhead(page=True)
    ahead.tell(asked(0))
    ahead.wait()
    assert loaded == []
    ahead.tell(asked(1))
    ahead.tell(asked(2))
    ahead.wait()
    assert loaded == [*TABLES, *PAGE]


@pytest.mark.parametrize(("page", "planned"), [(False, 9), (True, CHEAP)])
def test_a_run_that_writes_no_page_loads_nothing_for_one(loaded, page, planned):
    ahead = ModulesAhead(page=page)
    ahead.tell(asked(1, planned))
    ahead.wait()
    assert loaded == list(TABLES)


def test_a_module_that_cannot_be_loaded_is_told_by_whoever_needs_it(monkeypatch, capfd):
    monkeypatch.setattr(modules_ahead, "TABLES", ("affidavit.nowhere",))
    ahead = ModulesAhead(page=False)
    ahead.tell(asked(1))
    ahead.wait()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("error", [None, KeyError("raised by the block")])
def test_what_a_block_has_loaded_is_there_at_its_end_however_it_ends(loaded, error):
    with suppress(KeyError), loaded_meanwhile(("one", "two")):
        if error:
            raise error
    assert loaded == ["one", "two"]


@pytest.mark.parametrize("name", [*TABLES, *PAGE])
def test_what_is_loaded_is_there(name):
    assert modules_ahead.import_module(name).__name__ == name


@pytest.mark.slow
def test_a_run_asks_before_it_loads_what_shows_its_results():
    modules = ", ".join(f"affidavit.{name}" for name in BEFORE_THE_FIRST_QUESTION)
    program = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"rich", "polars", "numpy", "scipy", "jinja2", "affidavit.results.closing"}
    assert heavy & set(done.stdout.split()) == set()
