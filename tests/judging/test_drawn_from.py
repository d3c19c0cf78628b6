"""Draws made again from the records: one that somebody chose is told, whatever was changed in it."""

import pytest
from msgspec.structs import replace

from affidavit.archive.record import Failed, Label, QuestionIdentity, Response
from affidavit.json_values import digest
from affidavit.judging.drawn_from import DrawnFrom
from affidavit.judging.label_draws import Drawable, LabelDraw, drawn_strata
from affidavit.judging.label_names import list_sha256, text_sha256

SEED = 7
QUESTION = QuestionIdentity("0" * 64, "t", "t", "q", "m", "c", 0, "b" * 64, None)
SUBJECTS = [replace(QUESTION, task="t", key=digest(at), model="ab"[at % 2]) for at in range(60)]
RESPONSES = [Response(each, f"text {each.key}", "text/1", {}, True, {}) for each in SUBJECTS]
OUTPUTS = [Drawable(each.key, *each.cell) for each in SUBJECTS]
TEXTS = {each.key: text_sha256(each.raw_output) for each in RESPONSES}


def draw_of(n: int, records: int = 60, after: int = 60) -> LabelDraw:
    listed = OUTPUTS[:records]
    strata = drawn_strata(listed, seed=SEED, about="correct", by=(), n=n)
    named = list_sha256(listed, TEXTS)
    return LabelDraw("correct", None, ("t",), (), n, 1, n, "2026-01-31", records, named, after, strata)


def fault(*draws: LabelDraw, records=tuple(RESPONSES)) -> str | None:
    seen = DrawnFrom(draws)
    for record in records:
        seen.see(record)
    return seen.fault(SEED, None)


def test_draws_that_follow_have_no_fault():
    assert fault(draw_of(20), draw_of(30, after=60)) is None
    assert fault(draw_of(20, records=40, after=50)) is None


CHOSEN = tuple(each.key for each in OUTPUTS[:20])


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"strata": (replace(draw_of(20).strata[0], outputs=CHOSEN),)}, "not the one that the study's seed gives"),
        ({"n": 30}, "not the one that the study's seed gives"),
        ({"shared": 21}, "not the one that the study's seed gives"),
        ({"strata": ()}, "not the one that the study's seed gives"),
        ({"records": 61}, "records that the journal does not have"),
        ({"drawn_after": 61}, "records that the journal does not have"),
        ({"drawn_after": 59}, "records that the journal does not have"),
        ({"list_sha256": "0" * 64}, "from other outputs, or from other texts"),
        ({"tasks": ()}, "from other outputs, or from other texts"),
        ({"by": ("stratum",)}, "strata are none that there are"),
        ({"about": "verdicts:"}, "nobody can be asked"),
    ],
)
def test_a_draw_that_was_changed_is_told(changed, why):
    said = fault(draw_of(20), replace(draw_of(20), **changed))
    assert said is not None
    assert said.startswith("draw 2: ")
    assert why in said


def test_a_draw_before_the_one_before_it_is_told():
    assert "before the one before it" in (fault(draw_of(20, 40, after=60), draw_of(30, 40, after=50)) or "")


def test_a_draw_of_another_run_is_told():
    """Its keys are the same, and what was drawn; the texts are not."""
    other = [Response(each, "else", "text/1", {}, True, {}) for each in SUBJECTS]
    assert "from other texts" in (fault(draw_of(20), records=other) or "")


def test_texts_are_noted_of_outputs_alone_and_only_where_somebody_asks():
    label = Label(SUBJECTS[0].key, "correct", True, "anna", "2026-01-31", "0" * 64)
    records = [*RESPONSES, Failed(QUESTION, "timeout"), label]
    for draws, with_texts, expected in (((), False, {}), ((), True, TEXTS), ((draw_of(20),), False, TEXTS)):
        seen = DrawnFrom(draws, with_texts=with_texts)
        for record in records:
            seen.see(record)
        assert (seen.texts, seen.records) == (expected, 62)
