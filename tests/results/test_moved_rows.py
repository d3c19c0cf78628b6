"""The rows that moved, as they are shared: every log has its part, and every kind of move."""

from collections import Counter

import pytest

from affidavit.results.moved_rows import MOST_NAMED, moved_rows
from affidavit.running.second_reading import Move, MovedRow, SecondReading

LOST, WON, GONE = Move.RIGHT_TO_NON_COMPLIANT, Move.WRONG_TO_RIGHT, Move.NOTHING_SCORED_WRONG


def reading(name: str, **moves: int) -> SecondReading:
    """A log of which so many rows moved; the names of moves are those above, in small letters."""
    found = SecondReading(name, "made up", "quiz", "m", None, (), (), None)
    for kind, count in moves.items():
        move = {"lost": LOST, "won": WON, "gone": GONE}[kind]
        found.moves[move] = count
        found.moved[move] = [MovedRow(move, f"line {at}", f"q{at}", "B.", "B", None, {}) for at in range(count)]
    return found


def test_logs_take_turns_and_what_one_lacks_the_others_have():
    found = moved_rows([reading("a", lost=50), reading("b", lost=3), reading("c"), reading("d", lost=50)], 20)
    assert Counter(each.log for each, _ in found.rows) == {"a": 9, "b": 3, "d": 8}
    assert found.of_logs == [("a, m", 9, 50), ("b, m", 3, 3), ("d, m", 8, 50)]


def test_kinds_of_a_log_take_turns_and_the_worst_stands_first():
    found = moved_rows([reading("a", lost=50, won=50, gone=2), reading("b", won=50)], 12)
    assert [(each.log, row.move) for each, row in found.rows] == [
        *[("a", GONE)] * 2, *[("a", WON)] * 2, *[("b", WON)] * 6, *[("a", LOST)] * 2,
    ]  # fmt: skip
    assert [row.place for each, row in found.rows if each.log == "b"] == [f"line {at}" for at in range(6)]


def test_where_there_is_room_for_few_the_worst_is_among_them():
    (only,) = moved_rows([reading("a", lost=50), reading("b", lost=9, gone=1)], 1).rows
    assert (only[0].log, only[1].move) == ("b", GONE)


@pytest.mark.parametrize("most", [0, 1, 7, 100])
def test_never_more_than_asked_for_and_none_twice(most):
    found = moved_rows([reading("a", lost=5, won=1), reading("b", gone=4)], most)
    assert len({(each.log, row.move, row.place) for each, row in found.rows}) == len(found.rows) == min(most, 10)
    assert found.all_moved == 10


def test_a_note_says_how_many_of_each_log_are_shown():
    one, other = reading("a", lost=5), reading("b", lost=2)
    assert moved_rows([one], 5).note() == ""
    assert moved_rows([one], 2).note() == "2 of 5 rows that moved."
    assert moved_rows([one, other], 3).note() == "3 of 7 rows that moved: 2 of 5 of a, m; 1 of 2 of b, m."
    many = [reading(f"log {at}", lost=2) for at in range(MOST_NAMED + 2)]
    said = moved_rows(many, MOST_NAMED + 1).note()
    assert said.endswith(f"1 of 2 of log {MOST_NAMED - 1}, m; 1 of 4 of 2 further logs.")
