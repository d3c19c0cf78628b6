"""Worked examples for a prompt, and the care that they give nothing away.

An example is an item with an answer that follows the format and is right. It must not be one of the questions that
are asked, and no expression in a prompt may solve a hand that is asked (ruling G10): small models copy.
"""

from collections.abc import Iterable, Iterator

from affidavit.contracts.contract import COMPLIANT, AnyContract
from affidavit.contracts.parts import parts_of
from affidavit.errors import InputError
from affidavit.items.item import Item, items_of
from affidavit.json_values import Fields, shown
from affidavit.reading.rows import RowReader
from affidavit.study.prompt import Condition, Example

RESPONSE = "response"
"""The field of an example that holds the answer word for word, where the right answer alone is not enough."""


def read_examples(rows: Iterable[tuple[str, Fields]], contract: AnyContract) -> Iterator[Example]:
    """The examples of rows, given as place and fields; refused if one does not follow the format."""
    for where, row in rows:
        given = _taken_response(row)
        _, item = next(items_of([(where, row)], contract))
        fitting = parts_of(contract).for_item(item.row, where=where)
        response = parts_of(fitting).example(item.row, where=where) if given is None else given
        if response is None:
            raise InputError(where, expected=f"an answer, or a text in {RESPONSE!r}", found="neither")
        if not isinstance(response, str):
            raise InputError(where, expected=f"a text in {RESPONSE!r}", found=shown(response))
        reader = RowReader(fitting)
        added = reader.read({**item.row, reader.field: response}, where=where).added
        if added[COMPLIANT] is not True or added.get("correct") is False:
            raise InputError(
                where,
                expected="an example that follows the format and is right",
                found=shown(response),
                hint="Models imitate worked examples.",
            )
        yield Example(item, response)


def _taken_response(row: Fields) -> object:
    """The response of a row, taken out of it; a reader of published files puts it with the metadata."""
    metadata = row.get("metadata")
    if RESPONSE not in row and isinstance(metadata, dict):
        return metadata.pop(RESPONSE, None)
    return row.pop(RESPONSE, None)


class Spoilers:
    """What the words of a prompt already answer."""

    def __init__(
        self, contract: AnyContract, conditions: Iterable[Condition], examples: Iterable[Example]
    ) -> None:
        self._parts = parts_of(contract)
        texts = [words for each in conditions for words in (each.preamble, each.system, each.variant)]
        self._questions: set[str] = set()
        for example in examples:
            texts.append(example.response)
            if asked := self._asked(example.item):
                self._questions.add(asked)
        self._solved = {solved for words in texts for solved in self._parts.solved_by(words)}

    def check(self, item: Item, *, where: str) -> None:
        """Refuse an item that the prompt gives away."""
        if self._questions and self._asked(item) in self._questions:
            raise _given_away(where, item, "an example of the prompt is this very question")
        if self._solved and self._parts.given_away(item.row, self._solved):
            raise _given_away(where, item, "the prompt holds a solution (ruling G10)")

    def _asked(self, item: Item) -> str:
        """What makes two items the same question; empty if nothing does."""
        if self._parts.takes_any_row and "question" not in item.fields:
            return self._parts.problem(item.row).strip()
        return str(item.fields.get("question", "")).strip()


def _given_away(where: str, item: Item, why: str) -> InputError:
    hint = "Small models copy from the prompt. Remove the example, or the item."
    return InputError(where, expected=f"item {item.id!r} not to be given away", found=why, hint=hint)
