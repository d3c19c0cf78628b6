"""Small logs that the real tools wrote against a server of the tests: what each has, and its figures made again."""

from collections import Counter

import pytest

from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.registry import logs_of
from support.kept_logs import LOGS, recounted


def opened(name: str) -> tuple[Log, list[LoggedOutput]]:
    (log,) = logs_of([LOGS / name])
    return log, list(log.outputs())


@pytest.mark.parametrize(
    ("name", "outputs", "sentinels", "figures"),
    [
        ("lm_eval/repeats-1", 4, {"exact_match,strict": 2, "exact_match,loose": 1}, 2),
        ("lm_eval/repeats-2", 8, {"exact_match,strict": 4, "exact_match,loose": 2}, 2),
        ("inspect/graded.json", 2, {}, 1),
    ],
)
def test_figures_of_real_logs_are_made_again(name, outputs, sentinels, figures):
    log, found = opened(name)
    assert len(found) == log.planned == outputs
    assert all(output.verbatim for output in found)
    kinds = Counter(
        word.scorer for output in found for word in output.words if word.no_answer is NoAnswer.SENTINEL
    )
    assert kinds == sentinels
    made = recounted(log, found)
    assert len(made) == figures
    for printed, again in made.values():
        assert again == pytest.approx(printed, abs=1e-12)


def test_a_grader_without_a_grade_is_an_error_and_the_model_graded_itself():
    log, found = opened("inspect/graded.json")
    assert [word.no_answer for output in found for word in output.words] == [None, NoAnswer.ERROR]
    assert {each.model for each in log.graders} == {output.model for output in found}
