"""The counts of a part, as JSON keeps them: what is added up over all parts to one summary."""

from collections import Counter
from dataclasses import fields
from typing import Any, cast

from affidavit.contracts.parts import Advice
from affidavit.json_values import Fields
from affidavit.reading.batches import Result
from affidavit.reading.tally import Tally


def counts_of(result: Result) -> Fields:
    """All counts of what was read.

    >>> result_of(counts_of(Result(Tally(right=2, errors=Counter(x=1)), unchecked=3))).tally.right
    2
    """
    tally: Fields = {}
    for each in fields(Tally):
        value = getattr(result.tally, each.name)
        if each.name == "breakdowns":
            value = {name: dict(counts) for name, counts in value.items()}
        tally[each.name] = dict(value) if isinstance(value, Counter) else value
    return {
        "tally": tally,
        "unchecked": result.unchecked,
        "replaced": sorted(result.replaced),
        "advised": [[*advice, times] for advice, times in sorted(result.advised.items())],
        "empty_cells": result.empty_cells,
    }


def result_of(said: Fields) -> Result:
    """What was read, from its counts."""
    counts = cast("dict[str, Any]", said)
    tally = Tally(**counts["tally"])
    tally.breakdowns = {name: Counter(each) for name, each in tally.breakdowns.items()}
    tally.errors, tally.failures, tally.tokens = map(Counter, (tally.errors, tally.failures, tally.tokens))
    advised = Counter({Advice(*advice): times for *advice, times in counts["advised"]})
    return Result(tally, counts["unchecked"], frozenset(counts["replaced"]), advised, counts["empty_cells"])
