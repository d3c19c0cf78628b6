"""`judging.json`: the terms of a judging as they were frozen in a study's directory."""

from typing import Annotated, Any

import msgspec

from affidavit.archive.corruption import as_written, corrupt
from affidavit.archive.disk import Disk
from affidavit.archive.layout import JUDGING
from affidavit.archive.study_directory import NotArrived, StudyDirectory
from affidavit.judging.terms import FrozenJudging, JudgeTerms, Terms


class _Judge(msgspec.Struct, frozen=True):
    identity: str
    request: dict[str, Any]
    conditions: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    repeats: Annotated[int, msgspec.Meta(ge=1)]


class _JudgingFile(msgspec.Struct, frozen=True):
    sha256_of_terms: str
    terms: dict[str, Any]
    outputs: tuple[str, ...]
    tasks: tuple[str, ...]
    targets: dict[str, int]
    not_arrived: tuple[NotArrived, ...]
    judges: dict[str, _Judge]


def read_judging(directory: StudyDirectory) -> FrozenJudging | None:
    """What was frozen; None if nothing was judged yet."""
    fields = directory.judging_fields()
    if fields is None:
        return None
    where = f"{directory.path / JUDGING}:1"
    with as_written(where, "the fields of a judging"):
        file = msgspec.convert(fields, _JudgingFile)
        terms = Terms.of(file.terms, file.outputs)
    if terms.digest != file.sha256_of_terms:
        raise corrupt(where, f"terms with the digest {file.sha256_of_terms}", terms.digest)
    judges = tuple(
        JudgeTerms(name, judge.identity, judge.request, judge.conditions, judge.repeats)
        for name, judge in file.judges.items()
    )
    return FrozenJudging(terms, judges, file.not_arrived, file.tasks, file.targets)


def write_judging(directory: StudyDirectory, frozen: FrozenJudging, disk: Disk) -> None:
    """Freeze it; the file is there whole, or not at all."""
    directory.freeze_judging(
        {
            "sha256_of_terms": frozen.terms.digest,
            "terms": frozen.terms.facts(),
            "outputs": list(frozen.terms.outputs),
            "tasks": list(frozen.tasks),
            "targets": dict(frozen.targets),
            "not_arrived": [msgspec.structs.asdict(missing) for missing in frozen.not_arrived],
            "judges": {judge.name: judge.facts() for judge in frozen.judges},
        },
        disk,
    )
