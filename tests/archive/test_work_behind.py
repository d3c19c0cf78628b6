"""Work behind is done in its order, and what it raises is told to whoever goes on."""

import pytest

from affidavit.archive.work_behind import WorkBehind


def test_work_is_done_in_its_order():
    behind, done = WorkBehind(), list[int]()
    for number in range(5):
        behind.do(done.append, number)
    behind.wait()
    behind.end()
    assert done == [0, 1, 2, 3, 4]


def test_what_failed_is_told_before_anything_else_is_done():
    behind, done = WorkBehind(), list[int]()

    def fails() -> None:
        raise OSError("full")

    behind.do(fails)
    with pytest.raises(OSError, match="full"):
        behind.do(done.append, 1)
    behind.wait()
    behind.end()
    assert done == []
