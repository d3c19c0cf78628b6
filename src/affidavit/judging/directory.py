"""`judging.json`: the terms of a judging as they were frozen in a study's directory."""

from typing import Any

from affidavit.archive.disk import Disk
from affidavit.archive.journal import corrupt
from affidavit.archive.study_directory import JUDGING, StudyDirectory
from affidavit.judging.terms import FrozenJudging, JudgeTerms, NotArrived, Terms


def read_judging(directory: StudyDirectory) -> FrozenJudging | None:
    """What was frozen; None if nothing was judged yet."""
    fields: Any = directory.judging_fields()
    if fields is None:
        return None
    terms = Terms.of(fields["terms"], fields["outputs"])
    if terms.digest != fields["sha256_of_terms"]:
        where = str(directory.path / JUDGING)
        raise corrupt(where, f"terms with the digest {fields['sha256_of_terms']}", terms.digest)
    return FrozenJudging(
        terms,
        tuple(JudgeTerms.of(name, facts) for name, facts in fields["judges"].items()),
        tuple(NotArrived(**missing) for missing in fields["not_arrived"]),
        tuple(fields["tasks"]),
        fields["targets"],
    )


def write_judging(directory: StudyDirectory, frozen: FrozenJudging, disk: Disk) -> None:
    """Freeze it; the file is there whole, or not at all."""
    directory.freeze_judging(
        {
            "sha256_of_terms": frozen.terms.digest,
            "terms": frozen.terms.facts(),
            "outputs": list(frozen.terms.outputs),
            "tasks": list(frozen.tasks),
            "targets": dict(frozen.targets),
            "not_arrived": [missing._asdict() for missing in frozen.not_arrived],
            "judges": {judge.name: judge.facts() for judge in frozen.judges},
        },
        disk,
    )
