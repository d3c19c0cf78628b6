"""A judging is gathered record by record: every judgement once, own ones apart, and no score that cannot be."""

import pytest
from msgspec.structs import replace

from affidavit.archive.record import Judgement
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import StorageError
from affidavit.judging.directory import read_judging
from affidavit.results.gathered_judging import GatheredJudging
from support.command import affidavit
from support.judged_studies import MODELS, QUESTIONS, VARIANTS, judge_again, open_study, serving
from support.studies import fine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    with serving() as server:
        open_study(folder, server.url, {})
        assert fine(affidavit("run", "study.toml", "--out", "out", cwd=folder), 0)
        assert fine(judge_again(folder), 0)
    return StudyDirectory(folder / "out")


def gathered(directory: StudyDirectory, watch=None) -> GatheredJudging:
    judging = read_judging(directory)
    assert judging is not None
    return GatheredJudging(directory.frozen(), judging, watch)


def test_every_judgement_is_gathered_once_and_own_ones_apart(judged):
    seen = []
    found = gathered(judged, seen.append)
    for each in judged.records():
        found(each)
    figures = found.figures(include_self=False)
    outputs_of_one = len(QUESTIONS) * len(VARIANTS)
    assert len(figures.primary.evaluations) == outputs_of_one * (len(MODELS) - 1)
    assert len(figures.own.evaluations) == outputs_of_one
    assert len(seen) == outputs_of_one * len(MODELS)
    assert all(isinstance(each, Judgement) for each in seen)


def test_a_judgement_without_all_scores_is_corruption(judged):
    found = gathered(judged)
    (whole, *_) = (each for each in judged.records() if isinstance(each, Judgement))
    less = dict(list(whole.scores.items())[1:])
    with pytest.raises(StorageError, match="a score for every dimension of the rubric"):
        found(replace(whole, scores=less))
