"""What a model is asked in another harness: the contract's own words, as a study would have them."""

from affidavit.contracts.contract import AnyContract
from affidavit.items.item import Item, check
from affidavit.json_values import Fields
from affidavit.study.prompt import Condition, messages

_NO_CONDITION = Condition("integration")
"""Nothing stands around the instruction: the harness has its own ways for that."""


def contract_words(contract: AnyContract, row: Fields, *, where: str) -> str:
    """The instruction and the problem of a row; refused if the contract could not ask about it.

    >>> from affidavit import mcqa
    >>> row = {"question": "2 + 2?", "options": ["3", "4", "5", "6"], "answer": "B"}
    >>> print(contract_words(mcqa, row, where="here").rpartition("text.")[2].strip())
    2 + 2?
    <BLANKLINE>
    A. 3
    B. 4
    C. 5
    D. 6
    """
    check(row, contract, where=where)
    item = Item(str(row.get("id", where)), {name: value for name, value in row.items() if name != "id"})
    (asked,) = messages(item, _NO_CONDITION, contract)
    return asked["content"]
