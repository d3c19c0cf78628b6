"""Whether the revisions of a plan are what they say: each a growth of the one before, over the records of then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from affidavit.archive.corruption import as_written
from affidavit.archive.record import Failed, QuestionIdentity, Record, Response
from affidavit.archive.seal import Root
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import FrozenStudy, ImportedStudy, Revision, StudyDirectory
from affidavit.study.crossing import Cell, cells
from affidavit.study.frozen_form import from_frozen
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


class _QuestionsOfRevisions:
    """Which revision was the first to ask a question."""

    def __init__(self, directory: StudyDirectory, revisions: Sequence[Revision]) -> None:
        self._cells: dict[tuple[str, str, str], int] = {}
        self._samples: list[tuple[int, int]] = []
        """A number of samples, and the revision that has so many first."""
        self._items: dict[tuple[str, str], int] = {}
        """The items that were added to those of the plan itself."""
        for revision in revisions if len(revisions) > 1 else ():
            with as_written(revision.where, "a revision of the plan"):
                tables = from_frozen(revision.config)
                for cell in cells(tables):
                    if isinstance(cell, Cell):
                        self._cells.setdefault((cell.task, cell.model, cell.condition), revision.number)
                self._samples.append((tables.decoding.samples, revision.number))
            for item in directory.added_items(revision):
                self._items[item.task, item.id] = revision.number

    def first_asked_in(self, record: Record) -> int:
        """The number of that revision; 1 for what nobody asked for."""
        subject = record.subject if isinstance(record, Response | Failed) else None
        if not isinstance(subject, QuestionIdentity):
            return 1
        samples = next((number for count, number in self._samples if subject.sample < count), 1)
        return max(samples, self._cells.get(subject.cell, 1), self._items.get((subject.task, subject.item_id), 1))


class RevisionChecks:
    """Watches a walk over the journal, and says which root digest each revision had before the next."""

    def __init__(self, directory: StudyDirectory, study: FrozenStudy) -> None:
        self._directory = directory
        self._revisions: Sequence[Revision] = () if isinstance(study, ImportedStudy) else study.revisions
        self._questions = _QuestionsOfRevisions(directory, self._revisions)
        self._too_early: dict[int, str] = {}
        self.roots: dict[int, str] = {}
        """The root digest of each revision that was followed by another, as the records give it."""

    def passed(self, records: int, line: Line, root: Root) -> None:
        """So many records were passed, with that on this line, and this is their root."""
        for revision in self._revisions[1:]:
            if revision.before is None or revision.before.records < records:
                continue
            if self._questions.first_asked_in(line.record) >= revision.number:
                self._too_early.setdefault(revision.number, line.where)
            if revision.before.records == records:
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
            elif not additions(before.config, after.config, (before.counts, after.counts)):
                yield after.where, "it adds nothing to the plan before it"
            if (place := self._too_early.get(after.number)) is not None:
                yield (
                    after.where,
                    f"{place} answers what was asked only from this revision on, and stands before it",
                )
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
