"""What the samples of an item give together: one right among k (ruling M7), and what most say (ruling S5)."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from affidavit.errors import UsageError
from affidavit.results.collecting import collected
from affidavit.results.counting import RecordSet, holds_answer, name_of
from affidavit.results.groups import Group, ItemKind, identity
from affidavit.results.table import Table
from affidavit.results.values import Value
from affidavit.statistics.item_means import mean_share
from affidavit.statistics.repeated_samples import FEWEST_VOTES, pass_at_k, yield_at_k


def repeated_table(records: RecordSet, groups: Sequence[Group], samples: int) -> Table:
    """What do k samples of an item give: one right among those with an answer, and among all (ruling M7)?"""
    rows, sizes = [], sorted({k for k in (2, 5, 10, samples) if k <= samples})
    for group in groups:
        kinds = {kind: items for kind, items in group.kinds.items() if kind.keyed}
        # An item of which nothing arrived, failed or pending, has no sample: it is left out, and counted.
        missing = {kind: kind.failed_keyed + kind.pending_keyed for kind in group.kinds if not kind.keyed}
        lost = sum(group.kinds[kind] for kind, questions in missing.items() if questions)
        rows += [(*group.names, k, *_at_k(kinds, k, lost)) for k in sizes]
    columns = ("k", "pass@k", "items", "left out", "yield@k", "items of yield")
    question = "How often is one of k samples right?"
    return Table("repeated samples", question, (*records.by, *columns), tuple(rows), identity(groups))


def _at_k(kinds: Mapping[ItemKind, int], k: int, lost: int) -> tuple[Value, ...]:
    right, compared, keyed = ([getattr(kind, name) for kind in kinds] for name in ("right", "compared", "keyed"))
    times = list(kinds.values())
    enough, all_of = (
        sum(items for count, items in zip(counts, times, strict=True) if count >= k)
        for counts in (compared, keyed)
    )
    passed = pass_at_k(right, compared, times, k=k).estimate if enough else None
    yielded = yield_at_k(right, keyed, times, k=k).estimate if all_of else None
    return passed, enough, sum(times) - enough + lost, yielded, all_of


def majority_table(records: RecordSet, groups: Sequence[Group]) -> Table:
    """What do most samples of an item say, over items with at least three that hold an answer (ruling S5)?"""
    shift = _shift(records.coded.largest[records.item_unit])
    votes = _votes(records, shift)
    rows = tuple((*map(name_of, names), *_majorities(part, shift)) for names, part in _by_group(votes, records.by))
    columns = (
        "items with an answer", "too few answers", "with a majority", "tied", "mean share of the leader",
        "majority right",
    )  # fmt: skip
    question = (
        f"What do most samples of an item say, where at least {FEWEST_VOTES} hold an answer, and is it right?"
    )
    return Table("majorities", question, (*records.by, *columns), rows, identity(groups))


def _votes(records: RecordSet, shift: int) -> pl.DataFrame:
    """How many items of each group have so many answers, leaders with so many, and how many of these are right."""
    items, by = list(dict.fromkeys((*records.by, "task", "item_id"))), list(records.by)
    right = pl.when(pl.col("correct")).then(pl.lit("right")).otherwise(pl.lit("wrong"))
    by_word = pl.col("task").is_in(records.tasks_by_validation)
    # By the validator's word two expressions are one answer if both are right, or both wrong (ruling G12).
    answer = pl.when(by_word & pl.col("correct").is_not_null()).then(right).otherwise(pl.col("answer"))
    # Where nobody knows what is right, an answer is not wrong either.
    known = pl.when(pl.col("correct").is_null()).then(1).when(pl.col("correct")).then(2).otherwise(0)
    n, answers = pl.col("n"), pl.col("answers")
    counted = (
        records.outputs()
        .filter(holds_answer(records.tasks_by_validation) & pl.col("answer").is_not_null())
        .group_by([*items, answer.alias("answer")])
        .agg(n=pl.len().cast(pl.Int64), known=known.max().cast(pl.Int64))
        # Answers that are equally frequent together: the largest of these numbers is then that of the leaders.
        .group_by([*items, "n"])
        .agg(
            answers=pl.len().cast(pl.Int64),
            right=(pl.col("known") == 2).sum().cast(pl.Int64),
            known=(pl.col("known") != 1).any().cast(pl.Int64),
        )
        .group_by(items)
        .agg(
            leader=(((n * shift + answers) * shift + pl.col("right")) * 2 + pl.col("known")).max(),
            outputs=(n * answers).sum(),
        )
        .group_by([*by, "leader", "outputs"])
        .agg(items=pl.len().cast(pl.Int64))
        .sort([*by, "leader", "outputs"])
    )
    return collected(counted, records.coded.frame.height)


_WIDEST = 20
"""Bits of each of three numbers that a whole number says of leaders, beside one bit."""


def _shift(largest: int) -> int:
    """A power of two that is more than an item has outputs in a group.

    >>> _shift(1), _shift(7), _shift(8)
    (2, 8, 16)
    """
    if largest >= 2**_WIDEST:
        expected = f"fewer than {2**_WIDEST:,} outputs of an item in a group"
        raise UsageError("--by", expected=expected, found=f"{largest:,}")
    return 1 << largest.bit_length()


def _majorities(kinds: pl.DataFrame, shift: int) -> tuple[Value, ...]:
    """Items with an answer, with too few, with one leader, with several; the lead's share, and how often right."""
    counted = [(*_leaders(leader, shift), outputs, items) for leader, outputs, items in kinds.iter_rows()]
    total = sum(items for *_, items in counted)
    voted = [each for each in counted if each[-2] >= FEWEST_VOTES]
    size, alone = sum(items for *_, items in voted), sum(items for _, tied, *_, items in voted if tied == 1)
    lead = [(n / outputs, items, outputs) for n, *_, outputs, items in voted]
    # Of t leaders of which one is right, 1/t is right; within a tolerance, several may be.
    right = [(good / tied, items, outputs) for _, tied, good, known, outputs, items in voted if known]
    return total, total - size, alone, size - alone, _mean(lead), _mean(right)


def _leaders(number: int, shift: int) -> tuple[int, int, int, bool]:
    """Outputs of each leader, how many leaders there are, how many are right, and whether that is known."""
    three, known = divmod(number, 2)
    return three // shift**2, three // shift % shift, three % shift, bool(known)


def _mean(shares: Sequence[tuple[float, int, int]]) -> Value:
    """The mean of shares of items, with how many items have each and from how many outputs."""
    if not shares:
        return None
    values, times, _ = map(list, zip(*shares, strict=True))
    return mean_share(values, times, outputs=sum(items * outputs for _, items, outputs in shares))


def _by_group(frame: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    """The rows of each group, without its name."""
    for names, part in frame.partition_by(list(by), as_dict=True, maintain_order=True).items():
        yield names, part.drop(list(by))
