"""Of which questions the right answer is known: a fact of the item, also where no record of it says so.

An output that was read says so itself. One that is unread, or that never arrived, belongs to accuracy over all
outputs and to the bounds of accuracy just as well, if its item has a right answer (rulings M6 and S6). No code of
a user is run to find out. The first that says something is believed: for our own contracts the item as it was
frozen; for a contract from a file another output of the same item that was read, then an `answer` in the item, and
if nothing says anything, whether answers of the task are compared at all.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from affidavit.archive.record_columns import without_surrogates
from affidavit.contracts.contract import Unread, guarded
from affidavit.contracts.parts import Parts
from affidavit.items.item import Item

_ITEM, _KNOWN = ["task", "item_id"], "right answer known"
ASKED = pl.col("kind").is_in(["response", "failure"]) & pl.col("judge").is_null()
"""Records of questions, answered or failed."""


@dataclass(frozen=True)
class KnownAnswers:
    """The records, each with whether its right answer is known, and those of which nobody said so."""

    records: pl.LazyFrame
    outputs_unsaid: tuple[tuple[str, int], ...] = ()
    """By task, outputs without an answer that count as not right although nobody says what would be right."""
    failed_unsaid: tuple[tuple[str, int], ...] = ()
    """By task, failed questions that count as missing although nobody says what would be right."""


def known_answers(
    records: pl.LazyFrame,
    items: Callable[[], Iterable[tuple[str, Item]]],
    parts: Mapping[str, Parts],
    own: Collection[str],
) -> KnownAnswers:
    """The same records in their order, `keyed` where it can be told; `own`: tasks with a contract from a file."""
    unread = pl.col("unread").is_not_null() & pl.col("keyed").ne_missing(other=True)
    unsaid = pl.col("keyed").is_null() & pl.col("protocol_compliant").eq_missing(other=False)
    # Of an output from elsewhere that never arrived, its record says so.
    failed = pl.col("failure").is_not_null() & pl.col("keyed").is_null()
    open_still = ASKED & (failed | unread | unsaid)
    counts = {"outputs": (~failed).sum().cast(pl.Int64), "failed": failed.sum().cast(pl.Int64)}
    found = records.filter(open_still).group_by(_ITEM).agg(**counts).collect(engine="streaming")
    if found.is_empty():
        return KnownAnswers(records)
    said, compares = _said_by_outputs(records.filter(ASKED), own)
    wanted = set(found.select(_ITEM).iter_rows())
    of_items = {
        place: _said_of(item, parts.get(task, Parts()))
        for task, item in items()
        if (place := (task, without_surrogates(item.id))) in wanted and said.get(place) is None
    }
    words = [said.get(place, of_items.get(place)) for place in found.select(_ITEM).iter_rows()]
    told = found.with_columns(pl.Series("said", words, dtype=pl.Boolean)).with_columns(
        pl.coalesce("said", pl.col("task").is_in(list(compares))).alias(_KNOWN)
    )
    known = pl.when(open_still).then(pl.col(_KNOWN)).otherwise(pl.col("keyed"))
    joined = records.join(told.select(*_ITEM, _KNOWN).lazy(), on=_ITEM, how="left", maintain_order="left")
    return KnownAnswers(
        joined.with_columns(keyed=known).drop(_KNOWN), _unsaid(told, "outputs"), _unsaid(told, "failed")
    )


def known_items(
    records: pl.LazyFrame,
    items: Iterable[tuple[str, Item]],
    parts: Mapping[str, Parts],
    own: Collection[str],
) -> pl.DataFrame:
    """Every item by task and id, and whether its right answer is `known`, told as of those that were asked."""
    said, compares = _said_by_outputs(records.filter(ASKED), own)
    rows = []
    for task, item in items:
        place = (task, without_surrogates(item.id))
        word = said[place] if place in said else _said_of(item, parts.get(task, Parts()))
        rows.append((*place, task in compares if word is None else word))
    schema = {"task": pl.String, "item_id": pl.String, "known": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _said_by_outputs(asked: pl.LazyFrame, own: Collection[str]) -> tuple[dict[tuple[str, str], bool], set[str]]:
    """What the outputs of an item say, of tasks with a contract from a file, and the tasks that compare answers.

    One output that says yes is enough.
    """
    if not own:
        return {}, set()
    keyed, read = pl.col("keyed"), pl.col("protocol_compliant").is_not_null()
    # That nothing is known is what an unread output says too where nobody has told.
    words = asked.filter(pl.col("task").is_in(list(own)) & keyed.is_not_null() & (keyed | read))
    compared = pl.col("correct").is_not_null().any()
    found = words.group_by(_ITEM).agg(keyed.any(), compared=compared).collect(engine="streaming").rows()
    return {(task, item): known for task, item, known, _ in found}, {row[0] for row in found if row[3]}


def _said_of(item: Item, parts: Parts) -> bool | None:
    """What a contract says of an item; of one from a file, what it says unless it says otherwise.

    A built-in contract with other parameters may refuse the item: then an `answer` that is given is known.
    """
    said = guarded(lambda: parts.right_answer_known(parts.item(item.row, where=item.id)))
    return Parts().right_answer_known(item.row) if isinstance(said, Unread) else said


def _unsaid(told: pl.DataFrame, name: str) -> tuple[tuple[str, int], ...]:
    """By task, how many count as known that nobody has told of."""
    counted = told.filter(pl.col("said").is_null() & pl.col(_KNOWN)).group_by("task").agg(pl.col(name).sum())
    return tuple((task, count) for task, count in counted.sort("task").iter_rows() if count)
