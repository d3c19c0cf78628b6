"""Small logs that the real tools wrote against a server of the tests: what each has, and its figures made again."""

from collections import Counter

import pytest

from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.registry import logs_of
from support.kept_logs import LOGS, lighteval_log, recounted


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


@pytest.mark.parametrize(("name", "texts"), [("once", 1), ("twice", 2)])
def test_lighteval_s_details_are_read_with_what_is_not_there(name, texts, tmp_path):
    (log,) = logs_of([lighteval_log(name, tmp_path)])
    found = list(log.outputs())
    written = {"3": ["", None], "1": ["\n\nA ", "B"], "2": ["", None], "4": ["It is B.", "B"], "0": ["B", "A"]}
    texts_by_item = {item: said[:texts] for item, said in written.items()}
    assert [(each.item_id, each.sample, each.raw_output) for each in found] == [
        (item, sample, text) for item, said in texts_by_item.items() for sample, text in enumerate(said)
    ]
    assert [each.no_answer for each in found if each.raw_output is None] == [NoAnswer.MISSING] * 2 * (texts - 1)
    assert [(each.item_id, each.sample) for each in found if not each.verbatim] == [("1", 0)]
    assert log.notes == ("2 texts are empty: lighteval writes the same where every try to ask failed",)
    made = {scorer: figure for (scorer, _), figure in recounted(log, found).items()}
    printed = {"em": 0.2} if texts == 1 else {"em": 0.6, "pass@k:k=1&n=2": 0.3}
    assert made == {scorer: (value, pytest.approx(value, abs=1e-12)) for scorer, value in printed.items()}


def test_a_grader_without_a_grade_is_an_error_and_the_model_graded_itself():
    log, found = opened("inspect/graded.json")
    assert [word.no_answer for output in found for word in output.words] == [None, NoAnswer.ERROR]
    assert {each.model for each in log.graders} == {output.model for output in found}
