"""Item, condition and contract become the messages that a model is given.

Preamble, then the contract's instruction, which never varies, then the problem. A condition changes what stands
around the instruction, and nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from affidavit.contracts.game24 import Game24
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.dataset import Item
from affidavit.model import Message
from affidavit.rows import AnyContract, layout_of


@dataclass(frozen=True, slots=True)
class Condition:
    """What one way of asking adds."""

    name: str
    preamble: str = ""
    system: str = ""
    constrained: bool = False
    """Whether the output is held to the contract's grammar."""


def messages(item: Item, condition: Condition, contract: AnyContract) -> tuple[Message, ...]:
    """The conversation that asks about an item.

    >>> item = Item("q", {"question": "2 + 2?", "options": ["3", "4"]})
    >>> print(messages(item, Condition("free"), MultipleChoice("A-B"))[0]["content"])
    Answer the following multiple-choice question by outputting your final answer
    in the following exact format:
    <BLANKLINE>
    <answer>X</answer>
    <BLANKLINE>
    Do not include any other text.
    <BLANKLINE>
    2 + 2?
    <BLANKLINE>
    A. 3
    B. 4
    """
    parts = (condition.preamble, instruction(item, contract), problem(item, contract))
    asked = {"role": "user", "content": "\n\n".join(part for part in parts if part)}
    return ({"role": "system", "content": condition.system}, asked) if condition.system else (asked,)


def instruction(item: Item, contract: AnyContract) -> str:
    """The contract's own words."""
    if isinstance(contract, Game24):
        # Only the hand makes the words, and `check` has seen to it that there is one.
        return contract.instruction(layout_of(contract).item(dict(item.fields), where=item.id))  # type: ignore[arg-type]
    return contract.instruction()


def problem(item: Item, contract: AnyContract) -> str:
    """The question as it is put, with its options."""
    if isinstance(contract, Game24):
        return ""  # the instruction states the hand
    question = str(item.fields["question"])
    if isinstance(contract, MultipleChoice):
        return "\n\n".join((question, _lettered(item.fields, contract)))
    return question


def _lettered(fields: Mapping[str, object], contract: MultipleChoice) -> str:
    options = cast("list[str]", fields["options"])
    return "\n".join(f"{letter}. {option}" for letter, option in zip(contract.letters, options, strict=True))
