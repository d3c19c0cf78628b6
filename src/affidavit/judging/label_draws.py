"""What is drawn for people to label: at random from a frozen list of outputs, by the study's seed (ruling S10).

Every output of the list has a number by chance, a digest over seed, question and key. Those with the lowest
numbers are drawn, of each stratum as many as of any other. So a draw is the same on every machine, follows from
what is on the record, and a larger one holds the smaller one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec

from affidavit.archive.corruption import as_written
from affidavit.archive.disk import Disk
from affidavit.archive.layout import LABELS
from affidavit.archive.study_directory import StudyDirectory
from affidavit.errors import UsageError
from affidavit.json_values import digest

STRATA = ("task", "model", "condition")
"""What outputs may be told apart by before they are drawn."""
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Drawable(NamedTuple):
    """An output of the list."""

    key: str
    task: str
    model: str
    condition: str

    def stratum(self, by: Sequence[str]) -> tuple[str, ...]:
        """Where it belongs."""
        return tuple(getattr(self, name) for name in by)


class Stratum(msgspec.Struct, frozen=True):
    """Outputs that were drawn from by themselves."""

    names: tuple[str, ...]
    size: _Count
    outputs: tuple[str, ...]
    """The keys of those that were drawn, the lowest number first."""


class LabelDraw(msgspec.Struct, frozen=True):
    """One draw, as it is frozen in labels.json."""

    about: str
    ends: tuple[float, float] | None
    """Of the scale of a name of one's own."""
    tasks: tuple[str, ...]
    by: tuple[str, ...]
    n: _Count
    raters: Annotated[int, msgspec.Meta(ge=1, le=100)]
    shared: _Count
    """How many of the new outputs are given to all raters."""
    date: str
    records: _Count
    """How many records the journal had: the list is of the outputs among them."""
    list_sha256: str
    """Over the keys and texts of the list: what outputs are called on sheets follows from it."""
    drawn_after: _Count
    """How many records the journal had when this was drawn, labels too: only labels after them answer it."""
    strata: tuple[Stratum, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The keys of all that were drawn."""
        return tuple(key for stratum in self.strata for key in stratum.outputs)

    @property
    def size(self) -> int:
        """How many outputs the list has."""
        return sum(stratum.size for stratum in self.strata)


class _LabelsFile(msgspec.Struct, frozen=True):
    draws: tuple[LabelDraw, ...]


def read_draws(directory: StudyDirectory) -> tuple[LabelDraw, ...]:
    """All draws of a study, in their order; none if there was none."""
    fields = directory.labels_fields()
    if fields is None:
        return ()
    with as_written(f"{directory.path / LABELS}:1", "the fields of draws"):
        return msgspec.convert(fields, _LabelsFile).draws


def write_draws(directory: StudyDirectory, draws: Sequence[LabelDraw], disk: Disk) -> None:
    """Freeze them; the file is there whole, or what was there before is."""
    directory.freeze_labels({"draws": [msgspec.to_builtins(draw) for draw in draws]}, disk)


def last_draw(draws: Iterable[LabelDraw], about: str) -> LabelDraw | None:
    """The draw that counts for a question: the last, which holds those before it."""
    return next((draw for draw in reversed(tuple(draws)) if draw.about == about), None)


def draw_number(draws: Iterable[LabelDraw], about: str, n: int) -> int:
    """Which draw of a question the one of `n` outputs is, from 1: only a larger one is another."""
    return 1 + len({draw.n for draw in draws if draw.about == about and draw.n < n})


def shared_before(draws: Iterable[LabelDraw], about: str, n: int) -> int:
    """How many outputs smaller draws of the question have given to all of several raters."""
    smaller = {draw.n: draw for draw in draws if draw.about == about and draw.n < n}
    found = held = 0
    for size, draw in sorted(smaller.items()):
        found += min(draw.shared, size - held) if draw.raters > 1 else 0
        held = size
    return found


def drawn_after(draws: Iterable[LabelDraw], about: str) -> dict[str, int]:
    """By output, after how many records of the journal the first draw that holds it was made."""
    found: dict[str, int] = {}
    for draw in draws:
        if draw.about == about:
            for key in draw.outputs:
                found.setdefault(key, draw.drawn_after)
    return found


# --- by chance ---


def drawn_strata(
    outputs: Iterable[Drawable], *, seed: int, about: str, by: Sequence[str], n: int
) -> tuple[Stratum, ...]:
    """`n` of the outputs by chance, as many of each stratum as of any other, as far as it has so many.

    >>> some = [Drawable(digest(at), "t", "ab"[at % 4 == 0], "c") for at in range(40)]
    >>> [(each.names, each.size, len(each.outputs)) for each in
    ...  drawn_strata(some, seed=7, about="verdict", by=["model"], n=30)]
    [(('a',), 30, 20), (('b',), 10, 10)]
    """
    numbered: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for output in outputs:
        numbered.setdefault(output.stratum(by), []).append(
            (digest([seed, "labels", about, output.key]), output.key)
        )
    shares = _shares({names: len(members) for names, members in numbered.items()}, n)
    return tuple(
        Stratum(names, len(members), tuple(key for _, key in sorted(members)[: shares[names]]))
        for names, members in sorted(numbered.items())
    )


def _shares(sizes: Mapping[tuple[str, ...], int], n: int) -> dict[tuple[str, ...], int]:
    """How many of each stratum: one more of each in turn, the first by name first, until there are `n`."""
    shares = dict.fromkeys(sorted(sizes), 0)
    left = min(n, sum(sizes.values()))
    while left:
        open_still = [names for names in shares if shares[names] < sizes[names]]
        each = max(1, min(left // len(open_still), *(sizes[names] - shares[names] for names in open_still)))
        for names in open_still[:left]:
            shares[names] += each
        left -= each * min(left, len(open_still))
    return shares


def sheets(draw: LabelDraw, new: Sequence[str], *, seed: int) -> list[list[str]]:
    """Of each rater, the keys of the outputs to label, each list in an order of its own.

    The order depends on all texts of the list, as names on sheets do: seed and keys alone would tell who is where.
    """
    mixed = sorted(new, key=lambda key: digest([seed, "shared", draw.about, draw.list_sha256, key]))
    shared, rest = mixed[: draw.shared], mixed[draw.shared :]
    lists = [[*shared, *rest[rater :: draw.raters]] for rater in range(draw.raters)]
    return [
        sorted(keys, key=lambda key: digest([seed, "order", draw.about, draw.list_sha256, rater, key]))
        for rater, keys in enumerate(lists)
    ]


def refuse_other_design(before: LabelDraw, wanted: LabelDraw) -> None:
    """Refuse a draw that does not hold the one before it of the same question."""
    for name, was, is_now in (
        ("--by", ",".join(before.by), ",".join(wanted.by)),
        ("--task", ", ".join(before.tasks), ", ".join(wanted.tasks)),
        ("--scale", before.ends, wanted.ends),
    ):
        if was != is_now:
            hint = "A further draw holds the first. Ask under another name, or draw for a copy of the study."
            raise UsageError(
                name,
                expected=f"as at the first draw for {before.about}: {was or 'none'}",
                found=f"{is_now or 'none'}",
                hint=hint,
            )
    if wanted.n < before.n:
        hint = f"{before.n} were drawn; a further draw is larger, and holds these."
        raise UsageError("-n", expected=f"at least {before.n}", found=str(wanted.n), hint=hint)
