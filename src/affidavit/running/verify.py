"""Check a study directory: every byte against its checksum, then every derived field against the raw text."""

import re
from dataclasses import asdict, dataclass, field

from affidavit.archive.layout import (
    GROWING,
    INVALID,
    ITEMS,
    JUDGING,
    LABELS,
    LOCK,
    MANIFEST,
    PAGE,
    RECORDS,
    REVISIONS,
    SEAL,
    STUDY,
    VALID,
)
from affidavit.archive.lock import Holder
from affidavit.archive.record import (
    Failed,
    Judgement,
    Label,
    Response,
)
from affidavit.archive.seal import Root, Seal
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import FrozenStudy, PlannedStudy, StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import StorageError, UsageError
from affidavit.json_values import Fields
from affidavit.judging.label_draws import LabelDraw
from affidavit.reading.worker_process import workers as begun_workers
from affidavit.running.derivation_workers import derived_lines
from affidavit.running.rederivation import Rederivation, other_form
from affidavit.running.revision_checks import RevisionChecks, RevisionFound
from affidavit.study.freezing import plan_of

MOST_DIFFERENCES = 20
_OTHER_LABELS = "its digest of the labels is not that of the records"
_OTHER_ROOT = "its root digest is not that of the plan and the records"


@dataclass(frozen=True)
class DrawFound:
    """One draw for people to label, as it is on the record."""

    about: str
    n: int
    outputs: int
    """How many there were to draw from."""
    raters: int
    by: tuple[str, ...]
    date: str

    @classmethod
    def of(cls, draw: LabelDraw) -> "DrawFound":
        """What is told of a draw."""
        return cls(draw.about, draw.n, draw.size, draw.raters, draw.by, draw.date)


@dataclass
class Verified:
    """What a check of a study came to; true if it is sealed and everything in it follows."""

    sealed: bool = False
    since_seal: list[str] = field(default_factory=list)
    """Why it is not sealed: what was written since, or that there is no seal."""
    records: int = 0
    responses: int = 0
    judgements: int = 0
    failures: int = 0
    labels: int = 0
    torn: bool = False
    """Whether the open segment ends in a torn tail, which the next run will cut."""
    holder: Holder | None = None
    root_sha256: str = ""
    """Over what was asked and what came back."""
    seal_sha256: str = ""
    """Over seal.json, which lists every file: the one to publish; empty if there is no seal."""
    labels_sha256: str = ""
    """Over what people said of outputs; empty if they said nothing."""
    differing: int = 0
    differences: list[str] = field(default_factory=list)
    """The first places at which something says what does not follow from the raw texts and the plan."""
    fits: str = ""
    """Which of the two the expected digest is; empty if none was given."""
    revisions: list[RevisionFound] = field(default_factory=list)
    """Of a plan that has grown: what each revision added, and the root digest that it had (ruling C11)."""
    draws: list["DrawFound"] = field(default_factory=list)
    """What was drawn for people to label, where it was made again from the study's seed."""
    not_read_again: str = ""
    """Why nothing was derived again: a contract is code, and nobody named it."""
    checked: list[str] = field(default_factory=list)
    """Every file that was checked, and how."""
    not_checked: list[str] = field(default_factory=list)
    """Every file that was not, and why."""

    def __bool__(self) -> bool:
        """Whether it is sealed and consistent; what was changed on the disk is raised before."""
        return self.sealed and not self.differing and not self.not_read_again

    @property
    def page_checked(self) -> bool:
        """Whether there is nothing on the page that was not checked."""
        return not any(line.startswith(f"{PAGE}: ") for line in self.not_checked)

    def as_json(self) -> Fields:
        """What was found, as JSON values."""
        return asdict(self)

    def count(self, line: Line) -> None:
        """One more record."""
        self.records += 1
        self.responses += isinstance(line.record, Response)
        self.judgements += isinstance(line.record, Judgement)
        self.failures += isinstance(line.record, Failed)
        self.labels += isinstance(line.record, Label)

    def differ(self, where: str, said: str) -> None:
        """One more thing that does not follow."""
        self.differing += 1
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(f"{where}: {said}")


def expected_digest(text: str) -> str:
    """A digest that somebody has kept, as it was typed.

    >>> expected_digest("SHA256:" + "AB" * 32) == "ab" * 32
    True
    """
    digits = text.strip().lower().removeprefix("sha256:").strip()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        hint = "All of it: of a digest that is cut short, somebody may find another study that fits."
        raise UsageError("--expect", expected="a digest of 64 hexadecimal digits", found=repr(text), hint=hint)
    return digits


def verify(
    directory: StudyDirectory,
    given: GivenContracts,
    *,
    expect: str | None = None,
    without_code: bool = False,
    workers: int = 1,
) -> Verified:
    """Check everything; corruption is raised, what does not follow from the raw texts and the plan is listed.

    Of contracts of an author's own only those that the user has named are run, and only once the expected digest
    fits. If one is not named, that is raised, or, `without_code`, told with all that can be checked without it.
    `workers`: processes that derive records again; beyond one, this process looks at what they found.
    """
    study = directory.frozen()
    verified = Verified(holder=directory.holder())
    seal = directory.seal()
    if seal is None:
        verified.since_seal.append("there is no seal")
    else:
        verified.seal_sha256 = seal.sha256
        verified.since_seal += directory.check_seal(seal)
    if isinstance(study, PlannedStudy):
        directory.check_items(study)
    if expect is not None:
        verified.fits = _which_digest(directory, study, verified.seal_sha256, expect)
    try:
        again = Rederivation(directory, study, plan_of(study, given), given)
    except UsageError as error:
        if not without_code:
            raise
        verified.not_read_again = str(error)
        _count_again(directory, study, seal, verified)
        return verified
    walk, grown = directory.walk(), RevisionChecks(directory, study)
    with begun_workers("derive", workers if workers > 1 else 0) as begun:
        for line, derived in derived_lines(walk, begun, directory, given):
            verified.count(line)
            if said := again.difference(line, derived):
                verified.differ(line.where, said)
            grown.passed(verified.records, line, again.root)
    verified.torn = walk.torn
    _note_digests(directory, again.root, verified)
    verified.sealed = not verified.since_seal
    _check_growth(grown, verified)
    verified.draws = [DrawFound.of(draw) for draw in again.draws]
    if (other_draw := again.other_draw()) is not None:
        verified.differ(*other_draw)
    if verified.sealed and seal is not None:
        _check_summaries(directory, again, seal, verified)
    _list_files(directory, seal, verified, with_trees=again.has_trees)
    return verified


def _check_growth(grown: RevisionChecks, verified: Verified) -> None:
    for where, said in grown.differences():
        verified.differ(where, said)
    if not verified.differing:
        verified.revisions = grown.found(verified.root_sha256)


def _check_summaries(directory: StudyDirectory, again: Rederivation, seal: Seal, verified: Verified) -> None:
    """Whether seal, terms of a judging, list of prompts and trees follow; tells the first that does not."""
    if (
        _check_digests(directory, seal, verified)
        and not verified.differing
        and (other := again.other_summary(seal)) is not None
    ):
        verified.differ(*other)


def _note_digests(directory: StudyDirectory, root: Root, verified: Verified) -> None:
    verified.root_sha256 = root.sha256(directory.path)
    verified.labels_sha256 = root.labels_sha256


def _check_digests(directory: StudyDirectory, seal: Seal, verified: Verified) -> bool:
    """Whether the digests of the seal are those of the records; tells what is not."""
    where = str(directory.path / SEAL)
    if seal.root_sha256 != verified.root_sha256:
        verified.differ(where, _OTHER_ROOT)
    elif seal.labels_sha256 != verified.labels_sha256:
        verified.differ(where, _OTHER_LABELS)
    else:
        return True
    return False


def _which_digest(directory: StudyDirectory, study: FrozenStudy, seal_sha256: str, expected: str) -> str:
    """Which digest the expected one is; refused if it is none: before any code of an author is run."""
    if expected == seal_sha256:
        return "seal's digest"
    root, grown = Root(), RevisionChecks(directory, study)
    for count, line in enumerate(directory.walk(), 1):
        root.add_line(line.content, line.placed)
        grown.passed(count, line, root)
    if expected == (found := root.sha256(directory.path)):
        return "root digest"
    if expected == root.labels_sha256:
        return "labels' digest"
    for number, earlier in grown.roots.items():
        if expected == earlier:
            return f"root digest of revision {number}"
    both = f"the root digest {found} and the seal's digest {seal_sha256 or 'of none'}"
    hint = "It is another study, or was changed since. Ask whoever keeps the digest; do not use these figures."
    if grown.roots:
        hint = (
            "The plan has grown, and each growth makes a new seal: of an earlier revision only the root digest "
            f"can be compared. If what you keep is a root digest: {hint[0].lower()}{hint[1:]}"
        )
    raise StorageError(str(directory), expected=f"the digest {expected}", found=both, hint=hint)


def _count_again(directory: StudyDirectory, study: FrozenStudy, seal: Seal | None, verified: Verified) -> None:
    """What can be checked where nothing can be read again."""
    root, walk, grown = Root(), directory.walk(), RevisionChecks(directory, study)
    for line in walk:
        verified.count(line)
        if said := other_form(line.content, line.placed):
            verified.differ(line.where, said)
        root.add_line(line.content, line.placed)
        grown.passed(verified.records, line, root)
    verified.torn = walk.torn
    _note_digests(directory, root, verified)
    verified.sealed = not verified.since_seal
    _check_growth(grown, verified)
    if verified.sealed and seal is not None:
        _check_digests(directory, seal, verified)
    _list_files(directory, seal, verified, with_trees=False)


# --- which files were checked, and how ---

_TREES = (f"{VALID}/", f"{INVALID}/")


def _list_files(directory: StudyDirectory, seal: Seal | None, verified: Verified, *, with_trees: bool) -> None:
    """Say of every file in the directory whether it was checked, and how; the page is looked at elsewhere."""
    sealed = frozenset(() if seal is None else seal.files)
    for name in sorted(directory.names()):
        how = _how_derived(name, verified, with_trees=with_trees) or _how_sealed(name, sealed, verified)
        if how is not None:
            verified.checked.append(f"{name}: {how}")
        elif name != PAGE:
            verified.not_checked.append(f"{name}: {_why_not(name, verified)}")
    if verified.not_read_again:
        verified.not_checked.append(f"what was read from the raw texts: {_NOT_NAMED}")
    if not (directory.path / PAGE).exists():
        verified.not_checked.append(f"{PAGE}: there is none")


_NOT_NAMED = "a contract is code that nobody named"


def _how_derived(name: str, verified: Verified, *, with_trees: bool) -> str | None:
    """How a file was derived again; None if it was not."""
    if verified.not_read_again:
        return None
    if name == f"{RECORDS}/":
        by = "checksums and seal" if verified.seal_sha256 else "checksums"
        return f"{by}; every field derived again from its raw text"
    if name == MANIFEST and verified.sealed:
        return "written again from the records and compared"
    if name in _TREES and verified.sealed and with_trees:
        return "every file written again from the records and compared"
    return None


def _how_sealed(name: str, sealed: frozenset[str], verified: Verified) -> str | None:
    """How the bytes of a file were checked; None if they were not."""
    if name == SEAL:
        return "checksum and root digest" if verified.not_read_again else "checksum, counts and root digest"
    if name == LABELS and not verified.not_read_again:
        by = "checksum and seal" if name in sealed and verified.sealed else "checksum"
        return f"{by}; every draw made again from the study's seed"
    if name in (STUDY, ITEMS, JUDGING, LABELS):
        return "checksum and seal" if name in sealed else "checksum"
    if name == f"{RECORDS}/":
        return "checksums and seal" if verified.seal_sha256 else "checksums"
    if name == f"{REVISIONS}/":
        return "checksums; each is a growth of the plan before it, over the records of then"
    return "seal" if name in sealed and verified.sealed else None


def _why_not(name: str, verified: Verified) -> str:
    if name == LOCK:
        return "it says who writes now, and nothing of the study"
    if name in _TREES and verified.not_read_again:
        return _NOT_NAMED
    return "no seal is over it" if name in (*GROWING, MANIFEST, *_TREES) else "no file of a study"
