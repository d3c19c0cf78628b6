"""Work behind is done in its order, and what it raises is told to whoever goes on."""

from threading import Event

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


def test_what_waits_behind_a_failure_is_not_done():
    behind, done, may_fail = WorkBehind(waiting=2), list[int](), Event()

    def fails() -> None:
        may_fail.wait()
        raise OSError("full")

    behind.do(fails)
    behind.do(done.append, 1)
    behind.do(done.append, 2)
    may_fail.set()
    with pytest.raises(OSError, match="full"):
        behind.wait()
    behind.wait()
    behind.end()
    assert done == []
