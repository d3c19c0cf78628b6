"""Worked examples for a prompt, and the care that they give nothing away.

An example is an item with an answer that keeps its contract and is right. It must not be one of the questions that
are asked, and no expression in a prompt may solve a hand that is asked (ruling G10): small models copy.
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from affidavit.contracts.contract import AnyContract
from affidavit.contracts.expression import Malformed, parse, solve
from affidavit.contracts.game24 import Game24, Hand
from affidavit.contracts.mcqa import CLOSING, OPENING, MultipleChoice
from affidavit.errors import InputError
from affidavit.items.item import Item, contract_for, items_of
from affidavit.json_values import Fields, shown
from affidavit.reading.rows import RowReader
from affidavit.study.prompt import Condition, Example

RESPONSE = "response"
"""The field of an example that holds the answer word for word, where the right answer alone is not enough."""


def read_examples(
    rows: Iterable[tuple[str, Fields]], contract: AnyContract, *, auto_options: bool = False
) -> Iterator[Example]:
    """The examples of rows, given as place and fields; refused if one does not keep the contract.

    With `auto_options` each is read by the option set that its own options make (ruling M3).
    """
    for where, row in rows:
        given = _taken_response(row)
        _, item = next(items_of([(where, row)], contract, auto_options=auto_options))
        response = _response(item, contract, where=where) if given is None else given
        if not isinstance(response, str):
            raise InputError(where, expected=f"a text in {RESPONSE!r}", found=shown(response))
        options = item.fields.get("options")
        reader = RowReader(contract_for(len(options)) if auto_options and isinstance(options, list) else contract)
        added = reader.read({**item.fields, reader.field: response}, where=where).added
        if added["protocol_compliant"] is not True or added.get("correct") is False:
            raise InputError(
                where,
                expected="an example that keeps the contract and is right",
                found=shown(response),
                hint="A model does as the example does.",
            )
        yield Example(item, response)


def _taken_response(row: Fields) -> object:
    """The response of a row, taken out of it; a reader of published files puts it with the metadata."""
    metadata = row.get("metadata")
    if RESPONSE not in row and isinstance(metadata, dict):
        return metadata.pop(RESPONSE, None)
    return row.pop(RESPONSE, None)


def _response(item: Item, contract: AnyContract, *, where: str) -> str:
    """The shortest answer that keeps the contract."""
    if isinstance(contract, MultipleChoice) and isinstance(answer := item.fields.get("answer"), str):
        return f"{OPENING}{answer}{CLOSING}"
    if isinstance(contract, Game24):
        hand = _hand(item, contract)
        solution = solve(hand.numbers, hand.target)
        if solution is not None:
            return f"{OPENING}{solution}{CLOSING}"
    raise InputError(where, expected=f"an answer, or a text in {RESPONSE!r}", found="neither")


def _hand(item: Item, contract: Game24) -> Hand:
    hand = RowReader(contract).layout.item(dict(item.fields), where=item.id)
    assert isinstance(hand, Hand)  # noqa: S101 - an item of this contract was checked to have one
    return hand


_CALCULATION = re.compile(r"[-(]*+[0-9][-0-9()+*/ \t]*+")
_BETWEEN_OPERANDS = re.compile(r"(?<=[0-9)])[ \t]+(?=[0-9(])")
"""No calculation goes on where an operand follows another: `1) (13-9)*(10-4)`."""
_NUMBER_AND_DASH = re.compile(r"[0-9]+[ \t]*-[ \t]*")
"""What may be a calculation's first term or the prose before it: `Example 2 - (13-9)*(10-4)`."""


class Spoilers:
    """What the words of a prompt already answer."""

    def __init__(self, conditions: Iterable[Condition], examples: Iterable[Example]) -> None:
        texts = [words for each in conditions for words in (each.preamble, each.system, each.variant)]
        self._questions: set[str] = set()
        for example in examples:
            texts.append(example.response)
            if "question" in example.item.fields:
                self._questions.add(_asked(example.item))
        self._solved = {solved for words in texts for solved in _calculations(words)}

    def check(self, item: Item, contract: AnyContract, *, where: str) -> None:
        """Refuse an item that the prompt gives away."""
        if self._questions and _asked(item) in self._questions:
            raise _given_away(where, item, "an example of the prompt is this very question")
        if self._solved and isinstance(contract, Game24):
            hand = _hand(item, contract)
            if (tuple(sorted(hand.numbers)), Fraction(hand.target)) in self._solved:
                raise _given_away(where, item, "the prompt holds a solution (ruling G10)")


def _asked(item: Item) -> str:
    """What makes two items the same question."""
    return str(item.fields.get("question", "")).strip()


def _given_away(where: str, item: Item, why: str) -> InputError:
    hint = "Small models copy. Take the example, or the item, out."
    return InputError(where, expected=f"item {item.id!r} not to be given away", found=why, hint=hint)


def _calculations(words: str) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """The numbers and the value of every calculation in a text.

    >>> list(_calculations("- 2 * 4 (or (1 + 2) * 3) - not 1 / 0."))
    [((2, 4), Fraction(8, 1)), ((1, 2, 3), Fraction(9, 1))]
    """
    for found in _pieces(words):
        expression = parse(_bare(found))
        if isinstance(expression, Malformed) or not expression.has_binary_operator():
            continue
        try:
            yield tuple(sorted(map(int, expression.literals()))), expression.value()
        except ZeroDivisionError:
            continue


def _pieces(words: str) -> Iterator[str]:
    """The parts of a text that may each be a calculation."""
    for match in _CALCULATION.finditer(words):
        for piece in _BETWEEN_OPERANDS.split(match[0]):
            yield piece
            if before := _NUMBER_AND_DASH.match(piece):
                yield piece[before.end() :]


def _bare(found: str) -> str:
    """A calculation without what belongs to the prose around it: dashes, and parentheses that do not close."""
    bare = found.lstrip("- \t").rstrip("-+*/( \t")
    while bare.count(")") > bare.count("(") and bare.endswith(")"):
        bare = bare[:-1].rstrip()
    while bare.count("(") > bare.count(")") and bare.startswith("("):
        bare = bare[1:].lstrip()
    return bare
