"""What a file says is used under a guard; and no line is read that is longer than any that was written."""

import io

import msgspec
import pytest

from affidavit.archive import checked_lines
from affidavit.archive.checked_lines import checked_fields, checked_line, lines_of, only_line_of
from affidavit.archive.corruption import as_written, corrupt, in_words
from affidavit.errors import InputError, StorageError, UsageError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("options"), "KeyError: 'options'"),
        (ValueError("two\nlines"), r"ValueError: two\nlines"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (OverflowError("too large"), "OverflowError: too large"),
        (msgspec.ValidationError("Expected `int`"), "ValidationError: Expected `int`"),
        (InputError("h1", expected="a hand", found="[]"), "a hand, found []"),
    ],
)
def test_whatever_a_value_cannot_be_used_for_is_corruption_with_its_place(error, said):
    def use():
        with as_written("study.json:1", "the fields of a study"):
            raise error

    with pytest.raises(StorageError) as told:
        use()
    assert (told.value.where, told.value.found, told.value.exit_code) == ("study.json:1", said, 5)
    assert in_words(error) == said


@pytest.mark.parametrize(
    "error", [UsageError("x", expected="y", found="z"), corrupt("a", "b", "c"), OSError("full")]
)
def test_what_is_no_odd_value_passes(error):
    def use():
        with as_written("study.json:1", "the fields of a study"):
            raise error

    with pytest.raises(type(error)) as told:
        use()
    assert told.value is error


def test_a_line_beyond_the_longest_is_no_line(monkeypatch):
    line = checked_line({"text": "x" * 50})
    for longest, whole in ((len(line), True), (len(line) - 1, False)):
        monkeypatch.setattr(checked_lines, "LONGEST_LINE", longest)
        assert (checked_fields(line) is not None) == whole
        assert [checked_fields(each) is not None for each in lines_of(io.BytesIO(line * 2))][:1] == [whole]
        assert (checked_fields(only_line_of(io.BytesIO(line))) is not None) == whole


def test_of_a_line_without_an_end_a_part_is_read(monkeypatch):
    monkeypatch.setattr(checked_lines, "LONGEST_LINE", 1000)
    endless = io.BytesIO(b"x" * 10_000)
    assert {len(part) for part in lines_of(endless)} == {1001, 10_000 % 1001}
