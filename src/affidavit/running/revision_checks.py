"""Whether the revisions of a plan are what they say: each a growth of the one before, over the records of then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from affidavit.archive.corruption import as_written
from affidavit.archive.seal import Root
from affidavit.archive.study_directory import FrozenStudy, ImportedStudy, Revision, StudyDirectory
from affidavit.study.growth import additions, refused


@dataclass(frozen=True)
class RevisionFound:
    """One revision of a plan, for people."""

    number: int
    date: str
    """Empty of the first, which is not dated."""
    added: Sequence[str]
    root_sha256: str
    """Over what there was before the next one; of the last, over all there is."""


class RevisionChecks:
    """Watches a walk over the journal, and says which root digest each revision had before the next."""

    def __init__(self, directory: StudyDirectory, study: FrozenStudy) -> None:
        self._directory = directory
        self._revisions: Sequence[Revision] = () if isinstance(study, ImportedStudy) else study.revisions
        self.roots: dict[int, str] = {}
        """The root digest of each revision that was followed by another, as the records give it."""

    def passed(self, records: int, root: Root) -> None:
        """So many records were passed, and this is their root."""
        for revision in self._revisions:
            if revision.before is not None and revision.before.records == records:
                earlier = revision.number - 1
                self.roots[earlier] = root.sha256(self._directory.path, revision=earlier)

    def differences(self) -> Iterator[tuple[str, str]]:
        """What does not follow: where it stands, and what is wrong with it."""
        for before, after in pairwise(self._revisions):
            with as_written(after.where, "a growth of the plan"):
                wrong = refused(before.config, after.config)
                fewer = [name for name, count in before.counts.items() if after.counts.get(name, 0) < count]
            if wrong or fewer:
                said = "; ".join([*map(str, wrong[:3]), *(f"{name} has fewer items" for name in fewer)])
                yield after.where, f"it is no growth of the plan before it: {said}"
            if after.before is not None and self.roots.get(before.number) != after.before.root_sha256:
                yield after.where, "the root digest before it is not that of the records before it"

    def found(self, root_sha256: str) -> list[RevisionFound]:
        """The revisions, if there is more than one."""
        if len(self._revisions) < 2:
            return []
        first = RevisionFound(1, "", (), self.roots.get(1, ""))
        return [
            first,
            *(
                RevisionFound(
                    after.number,
                    after.date,
                    additions(before.config, after.config, (before.counts, after.counts)),
                    self.roots.get(after.number, root_sha256),
                )
                for before, after in pairwise(self._revisions)
            ),
        ]
