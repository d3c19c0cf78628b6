"""Item, condition and contract become the messages that a model is given.

Preamble, then the contract's instruction, which never varies, then the problem. A condition is what stands around
the instruction: a preamble, worked examples, a system text, a variant of the question, or a grammar that holds the
output. Nothing else changes with it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from affidavit.contracts.contract import AnyContract, Unread, guarded
from affidavit.contracts.parts import QUESTION, Parts, is_ours, parts_of
from affidavit.errors import InputError
from affidavit.items.item import Item
from affidavit.models.model import Message

RIGHT_OPTION, WRONG_OPTION = "{right_option}", "{wrong_option}"
"""What a preamble or a system text may name: the letters of the right and of one wrong option, as shown."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One way of asking."""

    name: str
    preamble: str = ""
    system: str = ""
    constrained: bool = False
    """Whether decoding is constrained to the contract's grammar."""
    variant: str = QUESTION
    """An open task's own words around the question."""

    @property
    def names_options(self) -> bool:
        """Whether the words depend on which option is right."""
        words = self.preamble + self.system
        return RIGHT_OPTION in words or WRONG_OPTION in words


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: an item, and an answer to it that keeps the contract."""

    item: Item
    response: str


def messages(
    item: Item,
    condition: Condition,
    contract: AnyContract,
    *,
    examples: Sequence[Example] = (),
    letters: Mapping[str, str] | None = None,
) -> tuple[Message, ...]:
    """The conversation that asks about an item; `letters` says what the names of options stand for.

    >>> from affidavit import MultipleChoice
    >>> item = Item("q", {"question": "2 + 2?", "options": ["3", "4"]})
    >>> condition = Condition("doubt", preamble="Experts say that {wrong_option} is right.")
    >>> print(messages(item, condition, MultipleChoice("A-B"), letters={WRONG_OPTION: "A"})[0]["content"])
    Experts say that A is right.
    <BLANKLINE>
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
    named = letters or {}
    turns = [turn for example in examples for turn in _worked(example, contract)]
    problem = condition.variant.replace(QUESTION, _problem(item, contract))
    asked = _joined(_filled(condition.preamble, named), _instruction(item, contract), problem)
    return _conversation(_filled(condition.system, named), turns, asked)


def template(
    condition: Condition, contract: AnyContract, *, examples: Sequence[Example] = ()
) -> tuple[Message, ...]:
    """The same conversation with its placeholders, as it is listed in the manifest of prompts.

    >>> from affidavit import game24
    >>> print(template(Condition("free"), game24)[0]["content"].partition("\\n")[0])
    Make {target} from the numbers {numbers} with + - * / and parentheses.
    """
    turns = [turn for example in examples for turn in _worked(example, contract)]
    parts = parts_of(contract)
    problem = condition.variant.replace(QUESTION, parts.problem_template)
    asked = _joined(condition.preamble, _instruction_template(contract, parts), problem)
    return _conversation(condition.system, turns, asked)


def _instruction_template(contract: AnyContract, parts: Parts) -> str:
    if parts.instruction_template is not None:
        return parts.instruction_template
    said = guarded(contract.instruction)
    return "{instruction}" if isinstance(said, Unread) else said


def _conversation(system: str, turns: Sequence[Message], asked: str) -> tuple[Message, ...]:
    first = [{"role": "system", "content": system}] if system else []
    return (*first, *turns, {"role": "user", "content": asked})


def _worked(example: Example, contract: AnyContract) -> tuple[Message, Message]:
    asked = _joined(_instruction(example.item, contract), _problem(example.item, contract))
    return {"role": "user", "content": asked}, {"role": "assistant", "content": example.response}


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


_NAMES = re.compile("|".join(map(re.escape, (RIGHT_OPTION, WRONG_OPTION))))


def _filled(words: str, letters: Mapping[str, str]) -> str:
    return _NAMES.sub(lambda name: letters[name[0]], words) if words else ""


def _instruction(item: Item, contract: AnyContract) -> str:
    """The contract's own words for an item."""
    if is_ours(contract):
        return _words(item, contract)
    said = guarded(partial(_words, item, contract))
    if isinstance(said, Unread):  # it had words when the study was frozen
        raise InputError(item.id, expected="the contract's words, as before", found=said.error)
    return said


def _words(item: Item, contract: AnyContract) -> str:
    fitting = parts_of(contract).for_item(item.row, where=item.id)
    return fitting.instruction(parts_of(fitting).item(item.row, where=item.id))


def instruction_fault(item: Item, contract: AnyContract) -> str | None:
    """Why a contract of the user's own has no words for an item; None if it has."""
    if is_ours(contract):
        return None
    said: object = guarded(partial(_words, item, contract))
    if isinstance(said, Unread):
        return said.error
    return None if isinstance(said, str) else f"an instruction of the type {type(said).__name__}"


def problem_fault(item: Item, contract: AnyContract) -> InputError | None:
    """Why an item has no words that a prompt could show; None if it has."""
    try:
        _problem(item, contract)
    except InputError as error:
        return error
    return None


def _problem(item: Item, contract: AnyContract) -> str:
    """The item's own words, with its options where it shows any."""
    return parts_of(contract).problem(item.row)
