"""What of a study was answered before, in its directory or in one whose answers it takes over: for `--dry-run`."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from affidavit.archive.record import Failed, JudgementIdentity, Label
from affidavit.archive.study_directory import StudyDirectory
from affidavit.models.model import PERMANENT
from affidavit.running.taken_over import TakenOver, reused_directories, trial_directory


class JudgedOnce(NamedTuple):
    """One output put to one judge, once."""

    judge: str
    condition: str
    repeat: int
    output: str
    """The key of the output."""


@dataclass(frozen=True)
class AnsweredBefore:
    """The questions and judgements that a run would not ask for again."""

    answered: Set[bytes] = frozenset()
    """The keys of questions."""
    failed: Set[bytes] = frozenset()
    """The keys of those that failed permanently, unless these are asked for again."""
    judged: Set[JudgedOnce] = field(default_factory=frozenset)
    """Judgements that are there, or that failed permanently."""


def answered_before(
    directory: Path,
    study: str,
    *,
    limit: int | None = None,
    reuse: Sequence[Path] = (),
    retry_failed: bool = False,
) -> AnsweredBefore:
    """What is there of a study of this name in its directory; of a trial, in the directory of the trial."""
    here = StudyDirectory(directory if limit is None else trial_directory(directory))
    answered, failed, judged = set[bytes](), set[bytes](), set[JudgedOnce]()
    for record in here.records() if here.is_study else ():
        if isinstance(record, Label):
            continue
        subject, key = record.subject, bytes.fromhex(record.key)
        if isinstance(record, Failed) and (retry_failed or record.reason not in PERMANENT):
            continue
        if isinstance(subject, JudgementIdentity):
            judged.add(JudgedOnce(subject.judge, subject.judging_condition, subject.repeat, subject.judged_key))
        else:
            (failed if isinstance(record, Failed) else answered).add(key)
    answered |= TakenOver(reused_directories(here, study, reuse, trial=limit is None), answered).keys
    return AnsweredBefore(answered, failed - answered, judged)
