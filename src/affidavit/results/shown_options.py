"""The texts of an item's options as they were shown, which some readings need to know (ruling M24)."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from affidavit.archive.record_columns import without_surrogates
from affidavit.items.item import Item
from affidavit.items.option_order import OptionOrder, arrangement
from affidavit.reading.output_columns import OutputColumns

Texts = tuple[str, ...]
ShownOptions = Callable[[str, str, int, str | None], Texts | None]
"""The options of a question by its task, item, sample and, of outputs from elsewhere, row; None if unknown."""


def options_of_items(
    items: Callable[[], Iterable[tuple[str, Item]]], orders: Mapping[str, OptionOrder], seed: int
) -> ShownOptions:
    """Those of a planned study, in the order that the plan drew for the sample; items are read when needed."""
    read: list[dict[tuple[str, str], tuple[str, Texts]]] = []

    def known() -> dict[tuple[str, str], tuple[str, Texts]]:
        # Several threads ask at once: nobody may see items of which only some are read.
        if not read:
            read.append(
                {
                    (name, without_surrogates(item.id)): (item.id, texts)
                    for name, item in items()
                    if (texts := _texts(item.fields.get("options"))) is not None
                }
            )
        return read[0]

    def shown(task: str, item_id: str, sample: int, row: str | None) -> Texts | None:
        if (found := known().get((task, item_id))) is None:
            return None
        own, texts = found
        order = orders.get(task, "as_given")
        if order == "as_given":
            return texts
        drawn = arrangement(order, seed=seed, task=task, item=own, sample=sample, count=len(texts))
        return tuple(texts[option] for option in drawn)

    return shown


def options_of_rows(columns: OutputColumns) -> ShownOptions:
    """Those that stood in the rows of outputs from elsewhere."""

    @lru_cache(maxsize=65_536)
    def in_row(row: str) -> Texts | None:
        return _texts(columns.item_row(json.loads(row)).get("options"))

    return lambda task, item_id, sample, row: None if row is None else in_row(row)


def _texts(options: object) -> Texts | None:
    if not isinstance(options, list) or not all(isinstance(each, str) for each in options):
        return None
    return tuple(options)
