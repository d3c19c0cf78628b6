"""Items as lines: what a line cannot hold is refused, with the item's place."""

import pytest

from affidavit.archive.checked_lines import LONGEST_LINE, checked_fields
from affidavit.archive.item_lines import item_line
from affidavit.errors import InputError


def test_a_line_holds_the_item_and_its_checksum():
    fields = checked_fields(item_line("quiz", "q1", {"question": "2 + 2?"}))
    assert fields is not None
    assert (fields["task"], fields["id"], fields["item"]) == ("quiz", "q1", {"question": "2 + 2?"})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"weight": float("nan")}, "expected values that JSON can hold"),
        ({"question": "x" * LONGEST_LINE}, f"expected at most {LONGEST_LINE:,} bytes as JSON"),
    ],
)
def test_what_no_line_can_hold_is_refused_with_its_place(fields, words):
    with pytest.raises(InputError) as refused:
        item_line("quiz", "q1", fields)
    assert str(refused.value).startswith(f'tasks.quiz.items: "q1": {words}')
