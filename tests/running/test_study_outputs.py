"""The outputs of a study that can be judged, and the trees of what was judged, of studies that are kept as golden."""

import shutil
from pathlib import Path

import pytest

from affidavit.archive.record import Judgement, Response
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.judging.directory import read_judging
from affidavit.judging.plan import JudgingPlan
from affidavit.judging.trees import INVALID, VALID
from affidavit.reading.tally import Tally
from affidavit.running.evaluation_trees import ExpectedTrees, write_trees
from affidavit.running.study_outputs import StudyOutputs, open_tasks
from affidavit.study.freezing import plan_of

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


@pytest.fixture(params=["planned", "imported"])
def directory(request, tmp_path) -> StudyDirectory:
    return StudyDirectory(shutil.copytree(STUDIES / request.param, tmp_path / request.param))


def outputs_of(directory: StudyDirectory, *, lines: int | None = None) -> StudyOutputs:
    """The outputs, as far as so many lines of the journal tell."""
    study = directory.frozen()
    outputs = StudyOutputs(directory, study, plan_of(study, GivenContracts()), open_tasks(study))
    for line in list(directory.walk())[:lines]:
        outputs.add(line)
    return outputs


def test_every_output_of_an_open_task_comes_with_the_words_that_it_answers(directory):
    outputs = outputs_of(directory)
    frozen = read_judging(directory)
    assert sorted(outputs.keys) == sorted(frozen.terms.outputs)
    assert dict(outputs.targets) == frozen.targets
    texts = {record.key: record.raw_output for record in directory.records() if isinstance(record, Response)}
    found = list(outputs)
    assert {output.key: output.text for output in found} == {key: texts[key] for key in outputs.keys}
    assert all(output.task for output in found)
    assert list(outputs.not_arrived()) == list(frozen.not_arrived)


def test_what_the_journal_has_not_told_yet_has_not_arrived(directory):
    nothing = outputs_of(directory, lines=0)
    assert list(nothing) == []
    missing = {each.why for each in nothing.not_arrived()}
    assert missing == ({"not asked yet"} if "planned" in str(directory) else set())
    if "imported" in str(directory):
        told = {each.why for each in outputs_of(directory).not_arrived()}
        assert told == {"the text is null", "there is no such output"}, (
            "only the rows themselves say what is missing"
        )


def judging_of(directory: StudyDirectory) -> tuple[JudgingPlan, list[Judgement], list[Tally]]:
    """Its plan, its judgements, and how many of those planned are not there."""
    study, frozen = directory.frozen(), read_judging(directory)
    plan = JudgingPlan(study.name, study.seed, frozen.terms, frozen.judges)
    given = [record for record in directory.records() if isinstance(record, Judgement)]
    counts = directory.seal().counts["judging"]
    return plan, given, [Tally(failed=cell["failed"], pending=cell["pending"]) for cell in counts]


@pytest.mark.slow
def test_the_trees_hold_what_was_judged_and_a_changed_one_is_found(directory):
    plan, given, tallies = judging_of(directory)
    seen: list[object] = []
    write_trees(directory, plan, tallies, seen.append)
    assert seen == list(directory.records())
    files = sorted(path for tree in (VALID, INVALID) for path in (directory.path / tree).rglob("*.json"))
    assert len(files) == len(given) > 0
    assert first_difference(directory) is None
    files[0].write_bytes(files[0].read_bytes() + b"\n")
    assert first_difference(directory) == str(files[0])
    files[0].unlink()
    assert first_difference(directory) == str(files[0])
    for tree in (VALID, INVALID):
        shutil.rmtree(directory.path / tree)
    assert first_difference(directory) is None, "where there are none, there is nothing to compare"


def first_difference(directory: StudyDirectory) -> str | None:
    plan, given, tallies = judging_of(directory)
    expected = ExpectedTrees(directory, plan)
    for judgement in given:
        expected.add(judgement)
    return expected.first_difference(tallies)
