"""Records → tables, one for each question that a reader has; every table adds up.

A table is over the records of a study, one row for each group: by task, model and condition unless asked
otherwise. Shares over repeated samples of an item are estimated by items: the samples of one item are not
independent, and the interval says so. Answer-level figures are over compliant outputs only (ruling M6).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import polars as pl

from affidavit.archive.record import Kind
from affidavit.contracts.choice_columns import WHITESPACE
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.errors import UsageError
from affidavit.results.table import Table, Value
from affidavit.statistics.estimates import Estimate, bounds_of_share, mean_of_clusters, wilson
from affidavit.statistics.repeated_samples import pass_at_k, yield_at_k

CELL = ("task", "model", "condition")
_COUNTS = ("compliant", "non_compliant", "unread", "failed", "truncated", "right", "compared", "keyed")


@dataclass(frozen=True)
class Sheet:
    """What tables are made of: the records as columns, what was planned, and how to group."""

    records: pl.LazyFrame
    planned: pl.DataFrame
    """Planned questions by task, model, condition and whatever else items are grouped by: `planned`."""
    by: tuple[str, ...] = CELL
    seed: int = 0

    def outputs(self) -> pl.LazyFrame:
        """Questions, answered or failed; judgements have tables of their own."""
        return self.records.filter(pl.col("kind").ne(Kind.JUDGEMENT.value) & pl.col("judge").is_null())


# --- counting ---


def _item_kinds(sheet: Sheet) -> pl.DataFrame:
    """How many items of each group have the same counts: the least that everything below can be told from.

    Eight counts of an item are added up in two whole numbers, fifteen bits for each: a quarter of the time that
    eight sums take, and an item would need thirty thousand outputs in a group to spill over.
    """
    arrived = pl.col("protocol_compliant").is_not_null()
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    which = {
        "compliant": compliant,
        "non_compliant": arrived & ~compliant,
        "unread": pl.col("unread").is_not_null(),
        "failed": pl.col("failure").is_not_null(),
        "truncated": pl.col("truncated").fill_null(value=False),
        "right": compliant & pl.col("correct").fill_null(value=False),
        "compared": compliant & pl.col("correct").is_not_null(),
        "keyed": arrived & pl.col("keyed").fill_null(value=False),
    }
    halves = (_COUNTS[:4], _COUNTS[4:])
    packed = {
        f"half_{number}": pl.sum_horizontal(
            which[name].cast(pl.Int64) * 2 ** (_BITS * at) for at, name in enumerate(half)
        )
        for number, half in enumerate(halves)
    }
    items = list(dict.fromkeys((*sheet.by, "task", "item_id")))
    kinds = (
        sheet.outputs()
        .with_columns(**packed)
        .group_by(items)
        .agg(pl.col(*packed).sum(), outputs=pl.len())
        .group_by([*sheet.by, *packed])
        .agg(items=pl.len().cast(pl.Int64), most=pl.col("outputs").max())
        .collect(engine="streaming")
    )
    if len(kinds) and int(str(kinds["most"].max())) >= 2**_BITS:
        raise UsageError("--by", expected=f"fewer than {2**_BITS:,} outputs of an item in a group", found="more")
    unpacked = [
        (pl.col(f"half_{number}") // 2 ** (_BITS * at) % 2**_BITS).alias(name)
        for number, half in enumerate(halves)
        for at, name in enumerate(half)
    ]
    return kinds.with_columns(unpacked).drop(*packed, "most")


_BITS = 15


@dataclass(frozen=True)
class Group:
    """One row of a table to be: its name, and its items by what they counted."""

    names: tuple[str, ...]
    planned: int
    kinds: pl.DataFrame
    seed: int

    def total(self, name: str) -> int:
        """How many outputs have it."""
        return int((self.kinds[name] * self.kinds["items"]).sum())

    @property
    def pending(self) -> int:
        """Planned and not asked yet."""
        return self.planned - sum(self.total(name) for name in ("compliant", "non_compliant", "unread", "failed"))

    def share(self, successes: str, *of: str) -> Estimate | None:
        """A share of outputs, by items where an item has several; None where there is nothing to share."""
        kinds = self.kinds.with_columns(_of=sum((pl.col(name) for name in of[1:]), pl.col(of[0])))
        kinds = kinds.filter(pl.col("_of") > 0)
        n = int((kinds["_of"] * kinds["items"]).sum())
        if n == 0:
            return None
        if kinds["_of"].max() == 1:
            return wilson(int((kinds[successes] * kinds["items"]).sum()), n)
        if (share := int((kinds[successes] * kinds["items"]).sum()) / n) in (0.0, 1.0):
            return _of_equal_items(share, int(kinds["items"].sum()), n)
        return mean_of_clusters(*(kinds[name].to_numpy() for name in (successes, "_of", "items")), seed=self.seed)


def _of_equal_items(share: float, items: int, n: int) -> Estimate:
    """All or nothing: no resample of equal items differs from them, which is no certainty. Items are counted."""
    return replace(wilson(round(share) * items, items), n=n, method=f"Wilson 95% over {items:,} items")


def groups(sheet: Sheet) -> list[Group]:
    """Every group that was planned, in the order of names."""
    kinds = _item_kinds(sheet)
    parts = {
        tuple(map(_name, names)): part for names, part in kinds.partition_by(list(sheet.by), as_dict=True).items()
    }
    planned = sheet.planned.group_by(list(sheet.by)).agg(pl.col("planned").sum()).sort(list(sheet.by))
    empty = kinds.clear()
    found = []
    for row in planned.iter_rows():
        names = tuple(map(_name, row[:-1]))
        found.append(Group(names, int(row[-1]), parts.get(names, empty), sheet.seed))
    return found


def _name(value: object) -> str:
    return "" if value is None else str(value)


def identity(many: Iterable[Group]) -> str:
    """The accounting identity over groups (ruling C5)."""
    gathered = list(many)
    parts = {name: sum(group.total(name) for group in gathered) for name in _COUNTS[:4]}
    parts["pending"] = sum(group.pending for group in gathered)
    told = " + ".join(f"{count:,} {name.replace('_', '-')}" for name, count in parts.items())
    return f"{sum(group.planned for group in gathered):,} planned = {told}"


# --- the tables ---


def compliance_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """Who keeps the contract? Truncated ones are counted apart, as they read (ruling C6)."""
    rows = tuple(
        (
            *group.names,
            group.planned,
            *(group.total(name) for name in ("compliant", "non_compliant", "unread", "failed")),
            group.pending,
            group.total("truncated"),
            group.share("compliant", "compliant", "non_compliant"),
        )
        for group in many
    )
    columns = ("planned", "compliant", "non-compliant", "unread", "failed", "pending", "truncated", "compliance")
    return Table("compliance", "Who keeps the contract?", (*sheet.by, *columns), rows, identity(many))


def accuracy_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """Who is right, of those that keep the contract; and the yield and the bounds beside it (ruling M6)."""
    rows = []
    for group in many:
        right, compared, keyed = (group.total(name) for name in ("right", "compared", "keyed"))
        bounds = bounds_of_share(right, compared, keyed - compared) if keyed else None
        rows.append(
            (
                *group.names,
                right,
                compared,
                group.share("right", "compared"),
                group.share("right", "keyed"),
                *((None, None) if bounds is None else (bounds.if_wrong.value, bounds.if_right.value)),
            )
        )
    columns = ("right", "compared", "accuracy over compliant", "yield", "if missing wrong", "if missing right")
    question = "Who is right, of those that keep the contract?"
    return Table("accuracy", question, (*sheet.by, *columns), tuple(rows), identity(many))


def repeated_table(sheet: Sheet, many: Sequence[Group], samples: int) -> Table:
    """What do k samples of an item give: one right among the compliant ones, and among all (ruling M7)?"""
    rows, sizes = [], sorted({k for k in (2, 5, 10, samples) if k <= samples})
    for group in many:
        kinds = group.kinds.filter(pl.col("keyed") > 0)
        rows += [(*group.names, k, *_at_k(kinds, k, group.seed)) for k in sizes]
    columns = ("k", "pass@k", "items", "left out", "yield@k", "items of yield")
    question = "How often is one of k samples right?"
    return Table("repeated samples", question, (*sheet.by, *columns), tuple(rows), identity(many))


def _at_k(kinds: pl.DataFrame, k: int, seed: int) -> tuple[Value, ...]:
    right, compared, keyed, times = (kinds[name].to_numpy() for name in ("right", "compared", "keyed", "items"))
    enough, all_of = (int(times[counts >= k].sum()) for counts in (compared, keyed))
    passed = pass_at_k(right, compared, times, k=k, seed=seed).estimate if enough else None
    yielded = yield_at_k(right, keyed, times, k=k, seed=seed).estimate if all_of else None
    return _wide(passed), enough, int(times.sum()) - enough, _wide(yielded), all_of


def _wide(found: Estimate | None) -> Estimate | None:
    """A figure over items that is not certain because they are all alike; of one item nothing can be said."""
    if found is None or found.value not in (0.0, 1.0) or found.n == 1:
        return found
    return _of_equal_items(found.value, found.n, found.n)


def majority_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """What do the samples of an item say most often; ties are ties (ruling M7)."""
    items, by = list(dict.fromkeys((*sheet.by, "task", "item_id"))), list(sheet.by)
    # Where nobody knows what is right, an answer is not wrong either.
    known = pl.when(pl.col("correct").is_null()).then(1).when(pl.col("correct")).then(2).otherwise(0)
    kinds = (
        sheet.outputs()
        .filter(pl.col("answer").is_not_null() & pl.col("protocol_compliant"))
        .group_by([*items, "answer"])
        .agg(n=pl.len().cast(pl.Int64), known=known.max().cast(pl.Int64))
        # Answers that are equally frequent together: the largest of these numbers is then the leader, or the tie.
        .group_by([*items, "n"])
        .agg(answers=pl.len().cast(pl.Int64), known=pl.col("known").max())
        .group_by(items)
        .agg(
            leader=(pl.col("n") * 8 + (pl.col("answers") == 1).cast(pl.Int64) * 4 + pl.col("known")).max(),
            outputs=(pl.col("n") * pl.col("answers")).sum(),
        )
        .group_by([*by, "leader", "outputs"])
        .agg(items=pl.len().cast(pl.Int64))
        .sort([*by, "leader", "outputs"])
        .collect(engine="streaming")
    )
    rows = tuple((*map(_name, names), *_majorities(part)) for names, part in _parts(kinds, by))
    columns = ("items with an answer", "with a majority", "tied", "mean share of the leader", "majority right")
    question = "What do the samples of an item say most often?"
    return Table("majorities", question, (*sheet.by, *columns), rows, identity(many))


def _majorities(kinds: pl.DataFrame) -> tuple[Value, ...]:
    """Items with an answer, those with a majority, ties, the leader's mean share, and how often it is right."""
    counted = [(leader // 8, leader % 8 >= 4, leader % 4, *rest) for leader, *rest in kinds.iter_rows()]
    total = sum(items for *_, items in counted)
    alone = [(known, items) for _, leads, known, _, items in counted if leads]
    led, right = sum(items for _, items in alone), sum(items for known, items in alone if known == 2)
    keyed = sum(items for known, items in alone if known != 1)
    # The sum is exact: it is the same in whichever order the items come.
    share = fsum(n / outputs * items for n, _, _, outputs, items in counted) / total
    return total, led, total - led, share, wilson(right, keyed) if keyed else None


def _parts(frame: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[object, ...], pl.DataFrame]]:
    """The rows of each group, without its name."""
    for names, part in frame.partition_by(list(by), as_dict=True, maintain_order=True).items():
        yield names, part.drop(list(by))


def deviation_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """What did the others do instead?"""
    outputs = sheet.outputs().filter(pl.col("protocol_compliant").eq(other=False))
    return _breakdown(
        sheet, many, outputs, "deviation", ("deviations", "What did non-compliant outputs do instead?")
    )


def failure_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """Why did nothing arrive?"""
    return _breakdown(
        sheet, many, sheet.outputs(), "failure", ("failures", "Why did nothing arrive?"), of="planned"
    )


def _breakdown(  # noqa: PLR0913, PLR0917
    sheet: Sheet,
    many: Sequence[Group],
    outputs: pl.LazyFrame,
    column: str,
    about: tuple[str, str],
    of: str = "outputs",
) -> Table:
    counts = _counted(outputs.filter(pl.col(column).is_not_null()), (*sheet.by, column))
    sizes = {
        group.names: group.planned if of == "planned" else group.total("compliant") + group.total("non_compliant")
        for group in many
    }
    rows = tuple((*row, wilson(row[-1], sizes[row[:-2]])) for row in counts)
    name, question = about
    return Table(name, question, (*sheet.by, name[:-1], "count", f"share of {of}"), rows, identity(many))


def _counted(frame: pl.LazyFrame, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    found = frame.group_by(list(columns)).agg(n=pl.len()).sort(list(columns)).collect(engine="streaming")
    return [(*map(_name, row[:-1]), int(row[-1])) for row in found.iter_rows()]


def expression_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """Where was the expression found, and what does the validator say?"""
    columns = (*sheet.by, "extraction_method", "reason")
    found = _counted(sheet.outputs().filter(pl.col("extraction_method").is_not_null()), columns)
    question = "Where was the expression found, and what does the validator say of it?"
    return Table("expressions", question, (*columns, "count"), tuple(found), identity(many))


def letter_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """Which letters are chosen, and is the right one found wherever it stands?"""
    keys = list(sheet.by)
    chosen = sheet.outputs().filter(pl.col("letter").is_not_null())
    given = chosen.group_by([*keys, "letter"]).agg(
        chosen=pl.len(), found=pl.col("correct").fill_null(value=False).sum()
    )
    there = (
        chosen.filter(pl.col("right_letter").is_not_null())
        .group_by([*keys, pl.col("right_letter").alias("letter")])
        .agg(there=pl.len())
    )
    joined = (
        given.join(there, on=[*keys, "letter"], how="full", coalesce=True).fill_null(0).collect(engine="streaming")
    )
    sizes = joined.group_by(keys).agg(pl.col("chosen").sum().alias("size"))
    rows = tuple(
        (
            *map(_name, row[: len(keys)]),
            letter,
            chosen_times,
            wilson(chosen_times, size) if size else None,
            there_times,
            wilson(found, there_times) if there_times else None,
        )
        for row in joined.join(sizes, on=keys).sort([*keys, "letter"]).iter_rows()
        for letter, chosen_times, found, there_times, size in [row[len(keys) :]]
    )
    columns = ("letter", "chosen", "share", "right there", "recall")
    question = "Which letters are chosen, and is the right one found wherever it stands?"
    return Table("letters", question, (*keys, *columns), rows, identity(many))


def lens_table(sheet: Sheet, many: Sequence[Group]) -> Table:
    """How would lenient readings count? Other readings, not the protocol (ruling M5)."""
    others = (
        sheet.outputs()
        .filter(pl.col("protocol_compliant").eq(other=False) & pl.col("options").is_not_null())
        .select(*sheet.by, "raw_output", "raw_output_escaped", "right_letter", "options")
    )
    own = _compliant_choices(sheet)
    sets = others.select(pl.col("options").unique().sort()).collect(engine="streaming")["options"]
    more = dict[tuple[str, ...], list[int]]()
    for options in sets:
        for *names, counts in _through_lenses(others.filter(pl.col("options") == options), options, sheet.by):
            before = more.get(tuple(names), [0] * len(counts))
            more[tuple(names)] = [one + another for one, another in zip(before, counts, strict=True)]
    rows = []
    for group in many:
        if group.names in own:
            size, *compliant = own[group.names]
            found = more.get(group.names, [0] * 3 * len(LENSES))
            for place, lens in enumerate(LENSES):
                # A compliant output reads the same through every lens.
                n, right, keyed = map(sum, zip(compliant, found[3 * place :], strict=False))
                rows.append((*group.names, lens, n, wilson(n, size), wilson(right, keyed) if keyed else None))
    columns = (*sheet.by, "reading", "answers", "share of outputs", "right, of answers")
    return Table("other readings", "Other readings, not the protocol", columns, tuple(rows), identity(many))


def _compliant_choices(sheet: Sheet) -> dict[tuple[str, ...], list[int]]:
    """Outputs of multiple choice by group: all, the compliant ones, the right ones, those with a key."""
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    counts = (
        sheet.outputs()
        .filter(pl.col("protocol_compliant").is_not_null() & pl.col("options").is_not_null())
        .group_by(list(sheet.by))
        .agg(
            pl.len(),
            compliant.sum().alias("compliant"),
            right=(compliant & pl.col("correct").fill_null(value=False)).sum(),
            compared=(compliant & pl.col("correct").is_not_null()).sum(),
        )
        .collect(engine="streaming")
    )
    at = len(sheet.by)
    return {tuple(map(_name, row[:at])): list(map(int, row[at:])) for row in counts.iter_rows()}


def _through_lenses(others: pl.LazyFrame, options: str, by: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Answers, right ones and keyed ones that outputs of one option set gain by leniency, lens by lens."""
    yield from _escaped_through_lenses(others, options, by)
    block, text = f"{OPENING}([{options}]){CLOSING}", pl.col("raw_output")
    after = text.str.split(THINK_END).list.last().str.strip_chars(WHITESPACE).str.extract(f"^{block}$")
    # `$` also matches before a last line feed in some engines; the stripped text has none.
    last = text.str.extract_all(block).list.last().str.slice(len(OPENING), 1)
    read = others.filter(text.str.contains(OPENING, literal=True)).with_columns(
        **dict(zip(LENSES, (after, last), strict=True))
    )
    counts = [
        count.alias(f"{lens} {name}")
        for lens in LENSES
        for name, count in (
            ("n", pl.col(lens).is_not_null().sum()),
            ("right", (pl.col(lens) == pl.col("right_letter")).sum()),
            ("keyed", (pl.col(lens).is_not_null() & pl.col("right_letter").is_not_null()).sum()),
        )
    ]
    for row in read.group_by(list(by)).agg(counts).collect(engine="streaming").iter_rows():
        yield (*map(_name, row[: len(by)]), list(map(int, row[len(by) :])))


def _escaped_through_lenses(others: pl.LazyFrame, options: str, by: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The same of texts that no column can hold, one by one."""
    lenses, at = MultipleChoice(options).lenient_readings(), len(by)
    escaped = others.filter(pl.col("raw_output_escaped").is_not_null())
    rows = escaped.select(*by, "raw_output_escaped", "right_letter").collect(engine="streaming")
    for row in rows.iter_rows():
        text, right = json.loads(row[at]), row[at + 1]
        letters = [lens.read(text).extracted_answer for lens in lenses]
        counts = [
            [letter is not None, letter is not None and letter == right, letter is not None and right is not None]
            for letter in letters
        ]
        yield (*map(_name, row[:at]), [int(each) for three in counts for each in three])


LENSES = tuple(f"{lens.name}/{lens.version}" for lens in MultipleChoice().lenient_readings())


def flip_table(sheet: Sheet, controls: Mapping[str, str]) -> Table:
    """Did a condition move answers away from those under its control (ruling M7)?"""
    rows, total = [], 0
    for condition, control in controls.items():
        for row in _flips(sheet.outputs(), condition, control).iter_rows(named=True):
            flipped = row["to_wrong"] + row["to_right"] + row["to_other"]
            decidable = flipped + row["kept"]
            undecidable = [row[name] for name in _UNDECIDABLE]
            total += decidable + sum(undecidable)
            share = wilson(flipped, decidable) if decidable else None
            names = (row["task"], row["model"], condition, control)
            rows.append((*names, row["kept"], flipped, share, *(row[n] for n in _MOVES), *undecidable))
    columns = ("task", "model", "condition", "control", "kept", "flipped", "share of decidable", *_MOVES)
    told = [name.replace("_", " ") for name in _UNDECIDABLE]
    foot = f"{total:,} outputs = kept + flipped + undecidable, row by row"
    question = "Did a condition move answers away from its control's?"
    return Table("flips", question, (*columns, *told), tuple(sorted(rows, key=lambda row: row[:4])), foot)


_MOVES = ("to_wrong", "to_right", "to_other")
_UNDECIDABLE = ("not_compliant", "control_not_arrived", "control_not_compliant", "control_tied")


def _flips(outputs: pl.LazyFrame, condition: str, control: str) -> pl.DataFrame:
    item = ["task", "model", "item_id"]
    read = outputs.filter(pl.col("protocol_compliant").is_not_null() & pl.col("contract").str.starts_with("mcqa/"))
    compliant = pl.col("protocol_compliant").fill_null(value=False)
    under_control = read.filter(pl.col("condition") == control)
    answers = (
        under_control.filter(compliant).group_by([*item, "answer"]).agg(n=pl.len(), right=pl.col("correct").any())
    )
    modes = answers.group_by(item).agg(
        mode=pl.col("answer").sort_by("n").last(),
        mode_right=pl.col("right").sort_by("n").last(),
        leaders=(pl.col("n") == pl.col("n").max()).sum(),
    )
    arrived = under_control.group_by(item).agg(arrived=pl.len())
    joined = (
        read.filter(pl.col("condition") == condition)
        .join(modes, on=item, how="left")
        .join(arrived, on=item, how="left")
    )
    kind = (
        pl.when(~compliant)
        .then(pl.lit("not_compliant"))
        .when(pl.col("arrived").is_null())
        .then(pl.lit("control_not_arrived"))
        .when(pl.col("mode").is_null())
        .then(pl.lit("control_not_compliant"))
        .when(pl.col("leaders") > 1)
        .then(pl.lit("control_tied"))
        .when(pl.col("answer") == pl.col("mode"))
        .then(pl.lit("kept"))
        .when(pl.col("correct").fill_null(value=False))
        .then(pl.lit("to_right"))
        .when(pl.col("mode_right").fill_null(value=False))
        .then(pl.lit("to_wrong"))
        .otherwise(pl.lit("to_other"))
    )
    names = ("kept", *_MOVES, *_UNDECIDABLE)
    return (
        joined.with_columns(kind=kind)
        .group_by(["task", "model"])
        .agg(**{name: (pl.col("kind") == name).sum() for name in names})
        .sort(["task", "model"])
        .collect(engine="streaming")
    )


def all_tables(sheet: Sheet, *, samples: int, controls: Mapping[str, str], lenses: bool = True) -> Iterator[Table]:
    """Every table that has something to say."""
    many = groups(sheet)
    yield compliance_table(sheet, many)
    yield deviation_table(sheet, many)
    if any(group.total("keyed") for group in many):
        yield accuracy_table(sheet, many)
        if samples > 1:
            yield repeated_table(sheet, many, samples)
    # Of two samples none is in the majority.
    if samples > 2 and (majorities := majority_table(sheet, many)).rows:
        yield majorities
    letters = letter_table(sheet, many)
    if letters.rows:
        yield letters
    if lenses and (others := lens_table(sheet, many)).rows:
        yield others
    if controls:
        yield flip_table(sheet, controls)
    for table in (expression_table(sheet, many), failure_table(sheet, many)):
        if table.rows:
            yield table
