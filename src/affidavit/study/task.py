"""A task: items of one kind, the contract that reads the answers, and the ways in which they are asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

from affidavit.contracts.contract import AnyContract, Unread, guarded
from affidavit.items.item import Item
from affidavit.items.option_order import Arrangement, OptionOrder
from affidavit.models.model import Request
from affidavit.reading.rows import RowReader
from affidavit.study.prompt import Condition, Example


@dataclass(frozen=True)
class Task:
    """Items of one kind and the contract that reads the answers."""

    name: str
    contract: AnyContract
    count: int
    conditions: Mapping[str, tuple[Condition, ...]]
    """What each model is asked under."""
    examples: Mapping[str, tuple[Example, ...]] = field(default_factory=dict)
    """Worked examples by condition."""
    option_order: OptionOrder = "as_given"

    @cached_property
    def reader(self) -> RowReader:
        """The contract over rows."""
        return RowReader(self.contract, of_one_item=True)

    def reader_for(self, item: Item) -> RowReader:
        """The contract over an item's rows: with the parameters of the item, where items differ in them."""
        fitting = self.reader.parts.for_item(item.row, where=item.id)
        return self.reader if fitting is self.contract else RowReader(fitting, of_one_item=True)

    def grammar(self, item: Item) -> str | Unread | None:
        """The grammar that holds an answer to the contract; None if there is none."""
        reader = self.reader_for(item)
        asked = reader.item(item.row, where=item.id)
        return asked if isinstance(asked, Unread) else guarded(partial(reader.contract.grammar, asked))


class Question(NamedTuple):
    """One question, asked once."""

    key: str
    task: Task
    item: Item
    """As it is shown: its options may stand in another order than its own."""
    model: str
    condition: str
    sample: int
    prompt_sha256: str
    request: Request
    order: Arrangement | None = None
    """Which of the item's own options stand where; None if they are as they were given."""
