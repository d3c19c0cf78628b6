"""`valid_evaluations/` and `invalid_evaluations/` of a study: a projection of the journal, rebuilt at will."""

import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from affidavit.archive.disk import digests_below
from affidavit.archive.journal import journal
from affidavit.archive.record import Kind
from affidavit.contracts.contract import RAW_OUTPUT
from affidavit.judging.plan import FREE, JudgingPlan
from affidavit.judging.trees import INVALID, VALID, Evaluation, judge_archive
from affidavit.reading.tally import Tally
from affidavit.running.ledger import StudyBooks


def write_trees(directory: Path, plan: JudgingPlan, tallies: Collection[Tally]) -> None:
    """Write both trees anew from the journal."""
    _write_trees(directory, directory, plan, tallies)


def _write_trees(directory: Path, below: Path, plan: JudgingPlan, tallies: Collection[Tally]) -> None:
    with judge_archive(below, plan.terms.contract, anew=True) as trees:
        for fields in journal(directory):
            if fields["kind"] == Kind.JUDGEMENT:
                trees.add(_evaluation(fields))
        missing = Tally.total(tallies)
        trees.add_missing(failed=missing.failed, pending=missing.pending)


def other_trees(directory: Path, books: StudyBooks) -> str | None:
    """The first file of the trees that is not what the journal makes it; None if there is none such.

    Where neither tree is there, there is nothing to compare: they can be made at will.
    """
    if books.judging_plan is None or books.judging is None:
        return None
    if not any((directory / tree).exists() for tree in (VALID, INVALID)):
        return None
    with tempfile.TemporaryDirectory() as made:
        _write_trees(directory, Path(made), books.judging_plan, books.judging.tallies.values())
        return next((str(directory / name) for name in sorted(_differing(directory, Path(made)))), None)


def _differing(here: Path, made: Path) -> Iterator[str]:
    trees = (VALID, INVALID)
    contents = [
        {f"{tree}/{name}": digest for tree in trees for name, digest in digests_below(root / tree)}
        for root in (here, made)
    ]
    for name in contents[0].keys() | contents[1].keys():
        if contents[0].get(name) != contents[1].get(name):
            yield name


def _evaluation(fields: Mapping[str, Any]) -> Evaluation:
    digests = ("key", "judged_key", "judging_sha256", "judging_condition", "prompt_sha256", "schema_sha256")
    condition = "" if fields["judging_condition"] == FREE else f"{fields['judging_condition']}-"
    return Evaluation(
        raw=fields[RAW_OUTPUT],
        asked=fields["asked"],
        stated={},
        read=fields,
        source={name: fields[name] for name in digests},
        judge=fields["judge"],
        file=f"{condition}{fields['repeat']}",
    )
