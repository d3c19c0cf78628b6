"""`judging.json`: the terms of a judging as they were frozen in a study's directory."""

from pathlib import Path
from typing import Any

from affidavit.archive.disk import Disk, told
from affidavit.archive.journal import corrupt
from affidavit.archive.record import checked_line, decode
from affidavit.judging.plan import FrozenJudging, JudgeTerms, NotArrived, Terms

JUDGING = "judging.json"


def read_judging(directory: Path) -> FrozenJudging | None:
    """What was frozen; None if nothing was judged yet."""
    path = directory / JUDGING
    if not path.exists():
        return None
    with told(str(path)):
        fields: Any = decode(path.read_bytes())
    if fields is None:
        raise corrupt(f"{path}:1", "the judging as it was frozen", "a line that does not fit its checksum")
    terms = Terms.of(fields["terms"], fields["outputs"])
    if terms.digest != fields["sha256_of_terms"]:
        raise corrupt(str(path), f"terms with the digest {fields['sha256_of_terms']}", terms.digest)
    return FrozenJudging(
        terms,
        tuple(JudgeTerms.of(name, facts) for name, facts in fields["judges"].items()),
        tuple(NotArrived(**each) for each in fields["not_arrived"]),
        tuple(fields["tasks"]),
        fields["targets"],
    )


def write_judging(directory: Path, frozen: FrozenJudging, disk: Disk) -> None:
    """Freeze it; the file is there whole, or not at all."""
    line = {
        "kind": "judging",
        "v": 1,
        "sha256_of_terms": frozen.terms.digest,
        "terms": frozen.terms.facts(),
        "outputs": list(frozen.terms.outputs),
        "tasks": list(frozen.tasks),
        "targets": dict(frozen.targets),
        "not_arrived": [each._asdict() for each in frozen.not_arrived],
        "judges": {judge.name: judge.facts() for judge in frozen.judges},
    }
    with told(str(directory / JUDGING)):
        disk.place(directory / JUDGING, checked_line(line))
