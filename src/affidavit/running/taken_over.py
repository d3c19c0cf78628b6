"""Answers that were given in another directory to the very same questions: they are taken over, not asked again.

A question is the same if its key is: the same item, condition, model, request and sample. So a trial of the first
items is the beginning of the whole study, and a study that begins anew in another directory asks only what is new.
"""

from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from affidavit.archive.corruption import corrupt
from affidavit.archive.journal import GROUP_RECORDS, Archive
from affidavit.archive.record import QuestionIdentity, Response
from affidavit.archive.segments import Place
from affidavit.archive.study_directory import ImportedStudy, PlannedStudy, StudyDirectory
from affidavit.errors import InputError, UsageError
from affidavit.models.recorded import completion_of
from affidavit.running.ledger import QuestionLedger
from affidavit.study.plan import Plan
from affidavit.study.task import Question

TRIAL = "-trial"


def trial_directory(directory: Path) -> Path:
    """Where the trial of a study is kept.

    >>> trial_directory(Path("runs/capitals")).as_posix()
    'runs/capitals-trial'
    """
    named = directory if directory.name not in ("", "..") else directory.resolve()
    if not named.name:
        hint = "Choose another place with --out."
        raise UsageError(str(directory), expected="a directory with a name", found="the root of all", hint=hint)
    return named.with_name(f"{named.name}{TRIAL}")


def is_trial_of(trial: StudyDirectory, study: str) -> bool:
    """Whether a directory is the sealed trial of a study of this name; no link is followed that nobody named."""
    if trial.path.is_symlink() or not trial.is_study or trial.seal() is None:
        return False
    frozen = trial.frozen()
    return isinstance(frozen, PlannedStudy) and frozen.name == study


def reused_directories(
    directory: StudyDirectory, study: str, reuse: Iterable[Path], *, trial: bool
) -> list[StudyDirectory]:
    """The studies whose answers are taken over: those that were named, and the study's own trial, if `trial`."""
    own = StudyDirectory(trial_directory(directory.path)) if trial else None
    return [*map(StudyDirectory, reuse), *([own] if own is not None and is_trial_of(own, study) else [])]


class TakenOver:
    """The answers of other directories, by key; each is read when its question comes."""

    def __init__(self, directories: Iterable[StudyDirectory], settled: Set[bytes] = frozenset()) -> None:
        """What is `settled` needs no answer from elsewhere."""
        self._places: dict[bytes, tuple[StudyDirectory, Place]] = {}
        for directory in directories:
            for line in _sealed(directory).walk():
                if isinstance(line.record, Response) and isinstance(line.record.subject, QuestionIdentity):
                    key = bytes.fromhex(line.record.key)
                    if key not in settled:
                        self._places[key] = (directory, line.place)

    @property
    def keys(self) -> set[bytes]:
        """Of all questions that are answered there, and not settled here."""
        return set(self._places)

    def restrict(self, questions: Iterable[Question]) -> None:
        """Leave what answers none of these questions; an answer that is not what its key says is refused."""
        kept: dict[bytes, tuple[StudyDirectory, Place]] = {}
        for question in questions if self._places else ():
            key = bytes.fromhex(question.key)
            if (found := self._places.get(key)) is not None:
                self._answer(question, *found)
                kept[key] = found
        self._places = kept

    def write(self, plan: Plan, questions: Iterable[Question], ledger: QuestionLedger, archive: Archive) -> int:
        """Write the records of all questions that are answered there; how many that are."""
        count = 0
        for question, answer in self._answers(questions):
            record = plan.response(question, completion_of(answer))
            archive.append(record)
            ledger.add(record)
            count += 1
            if archive.group_size >= GROUP_RECORDS:
                archive.commit()
        archive.commit()
        return count

    def _answers(self, questions: Iterable[Question]) -> Iterator[tuple[Question, Response]]:
        for question in questions:
            if (found := self._places.pop(bytes.fromhex(question.key), None)) is not None:
                yield question, self._answer(question, *found)

    @staticmethod
    def _answer(question: Question, directory: StudyDirectory, place: Place) -> Response:
        for record in directory.records_at([place]):
            if isinstance(record, Response) and _answers(record, question):
                return record
        raise corrupt(str(directory), "answers to the questions of their keys", "another record")


def _answers(record: Response, question: Question) -> bool:
    """Whether a record says that it answers the question of its key; the key is a digest over all of this."""
    subject = record.subject
    return isinstance(subject, QuestionIdentity) and (
        (subject.key, subject.task, subject.item_id, subject.model, subject.condition, subject.sample)
        == (
            question.key,
            question.task.name,
            question.item.id,
            question.model,
            question.condition,
            question.sample,
        )
    )


def _sealed(directory: StudyDirectory) -> StudyDirectory:
    """A directory that is what was sealed, in which nothing leads elsewhere; others are refused."""
    if isinstance(directory.frozen(), ImportedStudy):
        raise InputError(
            str(directory), expected="a study with questions of its own", found="outputs from elsewhere"
        )
    seal = directory.seal()
    if seal is None or directory.check_seal(seal):
        hint = "Run it again to its end, or take it away: then nothing is taken over from there."
        raise InputError(str(directory), expected="a sealed study", found="one that is not sealed", hint=hint)
    return directory
