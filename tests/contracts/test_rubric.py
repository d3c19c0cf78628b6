"""The default rubric, all of its score vectors, and rubrics of other shapes."""

import re
from itertools import product

import pytest

from affidavit.contracts.rubric import DEFAULT, Dimension, Level, MappingRule, Rubric, Thresholds
from affidavit.errors import InputError

FOUR = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
# How many of the 81 vectors have each sum, from 0 to 8.
VECTORS_BY_SUM = (1, 4, 10, 16, 19, 16, 10, 4, 1)


def test_the_default_is_the_rubric_of_the_protocol():
    assert DEFAULT.ids == FOUR
    assert DEFAULT.scores == (0, 1, 2)
    assert DEFAULT.highest_total == 8
    assert (DEFAULT.thresholds.pass_from, DEFAULT.thresholds.fail_to) == (7, 3)
    assert DEFAULT.thresholds.pass_needs_nonzero == FOUR[:2]


@pytest.mark.parametrize("scores", list(product((0, 1, 2), repeat=4)))
def test_each_of_the_81_score_vectors_has_its_verdict(scores):
    """Ruling J3, by its own words."""
    total = sum(scores)
    if total <= 3:
        expected = "FAIL"
    elif total >= 7 and scores[0] != 0 and scores[1] != 0:
        expected = "PASS"
    else:
        expected = "PARTIAL"
    assert DEFAULT.verdict(dict(zip(FOUR, scores, strict=True))) == expected


def test_the_verdicts_are_shared_out_as_the_sums_are():
    verdicts = [DEFAULT.verdict(dict(zip(FOUR, scores, strict=True))) for scores in product((0, 1, 2), repeat=4)]
    assert verdicts.count("FAIL") == sum(VECTORS_BY_SUM[:4]) == 31
    assert verdicts.count("PARTIAL") == sum(VECTORS_BY_SUM[4:7]) == 45
    assert verdicts.count("PASS") == sum(VECTORS_BY_SUM[7:]) == 5


def five(**changes: object) -> Rubric:
    parts: dict[str, object] = {
        "name": "five",
        "dimensions": tuple(Dimension(name, name, "?") for name in "abcde"),
        "scale": (Level(0, "no", ""), Level(1, "half", ""), Level(2, "yes", "")),
        "thresholds": Thresholds(8, 4, ("a",)),
    }
    return Rubric(**{**parts, **changes})  # type: ignore[arg-type]


def test_every_clause_counts_in_a_rubric_of_another_shape():
    """With five dimensions a total of 8 can hide a zero: then the clause on D1 decides."""
    scores = dict(zip("abcde", (0, 2, 2, 2, 2), strict=True))
    assert five().verdict(scores) == "PARTIAL"
    assert five().verdict({**scores, "a": 2, "b": 0}) == "PASS"
    assert five().verdict(dict.fromkeys("abcde", 1)) == "PARTIAL"
    assert five().verdict({**dict.fromkeys("abcde", 1), "a": 0}) == "FAIL"


def test_finer_scores_are_mapped_at_aggregation_only():
    """Ruling J11."""
    scores = dict(zip("abcde", (2, 0, 1, 2, 2), strict=True))
    table = {"a": "D1", "b": "D1", "c": "D2"}
    assert five(maps_to=table).mapped(scores) == {"D1": 0, "D2": 1, "d": 2, "e": 2}
    assert five(maps_to=table, maps_by=MappingRule.MEAN).mapped(scores) == {"D1": 1.0, "D2": 1.0, "d": 2, "e": 2}


def test_the_digest_tells_rubrics_apart():
    """Ruling J7: same content, same digest; another threshold, another digest."""
    assert five().sha256() == five().sha256()
    assert len({DEFAULT.sha256(), five().sha256(), five(thresholds=Thresholds(7, 4, ("a",))).sha256()}) == 3


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"dimensions": ()}, "dimensions of different names, found ()"),
        (
            {"dimensions": (Dimension("a", "", ""), Dimension("a", "", ""))},
            "dimensions of different names, found ('a', 'a')",
        ),
        (
            {"dimensions": (Dimension("overall_score", "", ""),)},
            "dimensions of different names, found ('overall_score',)",
        ),
        ({"scale": (Level(0, "no", ""),)}, "a scale of at least two rising scores, found [0]"),
        (
            {"scale": (Level(1, "yes", ""), Level(0, "no", ""))},
            "a scale of at least two rising scores, found [1, 0]",
        ),
        ({"thresholds": Thresholds(3, 3)}, "fail_to below pass_from, found Thresholds(pass_from=3, fail_to=3,"),
        ({"thresholds": Thresholds(8, 4, ("z",))}, "thresholds on its own dimensions, found Thresholds("),
        ({"maps_to": {"z": "D1"}}, "a mapping of its own dimensions, found {'z': 'D1'}"),
    ],
)
def test_a_rubric_that_cannot_work_is_refused(changes, why):
    with pytest.raises(InputError, match=re.escape(f"rubric 'five': expected {why}")):
        five(**changes)
