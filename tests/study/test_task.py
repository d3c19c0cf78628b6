"""A task's contract over its items: the same for all, or with the parameters of each item."""

import pytest

from affidavit import MultipleChoice, game24
from affidavit.contracts.contract import Unread
from affidavit.items.item import Item
from affidavit.study.task import Task

HAND = Item("h1", {"numbers": [4, 9, 10, 13], "target": 24})


class Raises(MultipleChoice):
    def grammar(self, item=None, /):
        raise ValueError("no grammar today")


def question(count: int) -> Item:
    return Item("q1", {"question": "?", "options": [str(n) for n in range(count)], "answer": "B"})


@pytest.mark.parametrize(
    ("contract", "item", "grammar"),
    [
        (MultipleChoice(), question(4), 'root ::= "<answer>" [A-D] "</answer>"'),
        (MultipleChoice("A-F"), question(6), 'root ::= "<answer>" [A-F] "</answer>"'),
    ],
)
def test_an_item_has_the_grammar_of_its_contract(contract, item, grammar):
    assert Task("t", contract, 1, {}).grammar(item) == grammar


def test_the_grammar_of_a_hand_is_made_of_its_numbers():
    assert '"13"' in Task("t", game24, 1, {}).grammar(HAND)


def test_a_contract_that_raises_is_told_and_ends_nothing():
    """Ruling C8."""
    found = Task("t", Raises(), 1, {}).grammar(question(4))
    assert isinstance(found, Unread)
    assert found.error == "ValueError: no grammar today"


def test_a_task_reads_all_its_items_with_one_reader_where_they_do_not_differ():
    task = Task("t", MultipleChoice(), 1, {})
    assert task.reader_for(question(4)) is task.reader
