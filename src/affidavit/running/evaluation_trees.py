"""The two trees of a study: a projection of the journal, rebuilt at will."""

from collections.abc import Callable, Collection, Iterator
from hashlib import sha256

from affidavit.archive.disk import digests_below
from affidavit.archive.layout import INVALID, VALID
from affidavit.archive.record import Judgement, Record
from affidavit.archive.study_directory import StudyDirectory
from affidavit.judging.plan import JudgingPlan
from affidavit.judging.terms import FREE
from affidavit.judging.trees import Evaluation, TreeFiles, judge_archive
from affidavit.reading.tally import Tally


def write_trees(
    directory: StudyDirectory,
    plan: JudgingPlan,
    tallies: Collection[Tally],
    watch: Callable[[Record], None] | None = None,
) -> None:
    """Write both trees anew from the journal; `watch` sees every record on the way."""
    with judge_archive(directory.path, plan.terms.contract, anew=True) as trees:
        for record in directory.records():
            if isinstance(record, Judgement):
                trees.add(_evaluation(record))
            if watch is not None:
                watch(record)
        missing = Tally.total(tallies)
        trees.add_missing(failed=missing.failed, pending=missing.pending)


class ExpectedTrees:
    """What the trees of a study must hold, gathered from its records as they pass.

    Where neither tree is there, there is nothing to compare: they can be made at will.
    """

    def __init__(self, directory: StudyDirectory, plan: JudgingPlan) -> None:
        self._path = directory.path
        self._there = any((self._path / tree).exists() for tree in (VALID, INVALID))
        self._files = TreeFiles(plan.terms.contract)
        self._digests: dict[str, str] = {}

    def add(self, judgement: Judgement) -> None:
        """One more evaluation that must be there."""
        if self._there:
            self._expect(*self._files.file(_evaluation(judgement)))

    def _expect(self, parts: list[str], content: bytes) -> None:
        self._digests["/".join(parts)] = sha256(content).hexdigest()

    def first_difference(self, tallies: Collection[Tally]) -> str | None:
        """The first file that is not what the records make it; None if there is none such."""
        if not self._there:
            return None
        missing = Tally.total(tallies)
        self._files.add_missing(failed=missing.failed, pending=missing.pending)
        self._expect(*self._files.readme())
        return next((str(self._path / name) for name in sorted(self._differing())), None)

    def _differing(self) -> Iterator[str]:
        there = {
            f"{tree}/{name}": digest
            for tree in (VALID, INVALID)
            for name, digest in digests_below(self._path / tree)
        }
        return (name for name in there.keys() | self._digests.keys() if there.get(name) != self._digests.get(name))


def _evaluation(judgement: Judgement) -> Evaluation:
    subject = judgement.subject
    condition = "" if subject.judging_condition == FREE else f"{subject.judging_condition}-"
    return Evaluation(
        raw=judgement.raw_output,
        asked=subject.asked,
        stated={},
        read=judgement.reading,
        source={
            "key": subject.key,
            "judged_key": subject.judged_key,
            "target_model": subject.target_model,
            "method": subject.method,
            "blind": subject.blind,
            "judging_sha256": subject.judging_sha256,
            "judging_condition": subject.judging_condition,
            "prompt_sha256": subject.prompt_sha256,
            "schema_sha256": subject.schema_sha256,
        },
        names={"judge_model": subject.judge, "target_model": subject.target_model, "method": subject.method},
        file=f"{condition}{subject.repeat}",
    )
