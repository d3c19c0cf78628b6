"""What a text without a well-formed block did instead is the same for both contracts of multiple choice."""

import pytest
from hypothesis import assume, given

from affidavit import mcqa, mcqa_reasoned
from affidavit.contracts.choice_forms import ChoiceForms, after_think
from affidavit.contracts.deviation import Deviation, ReasonedDeviation
from support.strategies import choice_texts

FORMS = ChoiceForms.of("A-D")


def test_the_later_entries_of_both_lists_are_the_same():
    """Rulings M4, M10."""
    both = [[each.value for each in names] for names in (Deviation, ReasonedDeviation)]
    assert both[0][5:] == both[1][5:]
    assert (both[0][5], both[0][-1]) == ("placeholder", "no_tag")


@pytest.mark.slow
@given(choice_texts)
def test_without_a_block_both_contracts_say_what_the_forms_say(raw):
    """Rulings M4, M10."""
    assume(raw.strip() and "</think>" not in raw and not FORMS.block.search(raw))
    assert FORMS.without_block(raw) == mcqa.read(raw).deviation == mcqa_reasoned.read(raw).deviation


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        ("a", "a"),
        ("</think>", ""),
        ("a</think>b</think>c", "c"),
        ("<think>a", "<think>a"),
        ("a</Think>b", "a</Think>b"),
    ],
)
def test_reasoning_ends_at_the_last_tag(raw, part):
    """Ruling M8."""
    assert after_think(raw) == part
