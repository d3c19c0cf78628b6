"""A sealed study that labels are drawn from or added to: its outputs by key, and what people said of them.

Labels are about outputs that stay as they are. So the study has to be sealed, but for labels that a killed
`label add` has left: running that again seals them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Protocol

from affidavit.archive.corruption import corrupt
from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive
from affidavit.archive.layout import LABELS
from affidavit.archive.parquet_copy import keep_copy
from affidavit.archive.record import ImportIdentity, Label, Response
from affidavit.archive.seal import Seal
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import FrozenStudy, StudyDirectory, parts_of_study
from affidavit.errors import UsageError
from affidavit.json_values import Fields, canonical
from affidavit.judging.directory import read_judging
from affidavit.judging.drawn_from import DrawnFrom
from affidavit.judging.label_draws import Drawable, LabelDraw, drawn_after, last_draw, read_draws
from affidavit.judging.label_names import keys_by_name
from affidavit.judging.label_questions import LabelQuestion, label_question
from affidavit.judging.terms import FrozenJudging

FEWEST_DIGITS = 8
"""Of a key, by which an output may be named."""
LabelPlace = tuple[str, str, str]
"""The output's key, what was asked, and the rater: the last label of each counts."""


class LabelledStudy:
    """A study whose journal is open, all of it seen; the caller holds the directory's lock."""

    def __init__(self, directory: StudyDirectory, archive: Archive, seal: Seal) -> None:
        self.directory = directory
        self.study: FrozenStudy = directory.frozen()
        self.judging: FrozenJudging | None = read_judging(directory)
        self.draws: tuple[LabelDraw, ...] = read_draws(directory)
        self.outputs: dict[str, Drawable] = {}
        """By key, in the order of the journal."""
        self.labels: dict[LabelPlace, Label] = {}
        """What counts of what people said."""
        self._label_numbers: dict[LabelPlace, int] = {}
        self.all_labels: set[Label] = set()
        """What was said, if it counts or was corrected since."""
        self._archive = archive
        self._seal = seal
        self._numbers: dict[str, int] = {}
        self._drawn_after: dict[str, dict[str, int]] = {}
        self._parts = parts_of_study(self.study)
        self._params: dict[str, Fields] = {}
        """Of the contract that read an output, by its key; equal ones are one."""
        self._kinds_of_params: dict[bytes, Fields] = {}
        self._own_ids: dict[str, str | None] = {}
        """The key of the output that came with this id; None where several did."""
        self._listed = DrawnFrom(self.draws, with_texts=True)
        for number, line in enumerate(archive.recover(), 1):
            self._see(number, line)
        refuse_other_draws(directory, self._listed, self.study, self.judging)

    def _see(self, number: int, line: Line) -> None:
        record = line.record
        self._listed.see(record)
        if isinstance(record, Label):
            place = record.labelled_key, record.about, record.rater
            self.labels[place], self._label_numbers[place] = record, number
            self.all_labels.add(record)
            return
        refuse_unsealed(self.directory, self._seal, number)
        if isinstance(record, Response):
            subject = record.subject
            self.outputs[record.key] = Drawable(record.key, *subject.cell)
            self._numbers[record.key] = number
            params = record.contract_params
            self._params[record.key] = self._kinds_of_params.setdefault(canonical(params), params)
            if isinstance(subject, ImportIdentity) and subject.output_id is not None:
                taken = subject.output_id in self._own_ids
                self._own_ids[subject.output_id] = None if taken else record.key

    def question(self, about: str, scale: tuple[float, float] | None) -> LabelQuestion:
        """What people are asked; a name of the study's own has the scale that it was drawn with."""
        before = last_draw(self.draws, about)
        if before is not None and before.ends is not None and scale not in (None, before.ends):
            low, high = before.ends
            expected = f"as at the draw for {about}: {low:g},{high:g}"
            raise UsageError("--scale", expected=expected, found="{:g},{:g}".format(*scale))
        ends = scale if before is None or before.ends is None or scale is not None else before.ends
        return label_question(about, None if self.judging is None else self.judging.terms.rubric, ends)

    def question_of(self, question: LabelQuestion, key: str, options: Sequence[str] = ()) -> LabelQuestion:
        """The question as it is asked of one output, whose contract says what its answers look like."""
        return question.read_by(self._parts[self.outputs[key].task], self._params[key], options)

    def compares_answers(self, tasks: Iterable[str]) -> bool:
        """Whether what people say that an output means can be compared in any of these tasks."""
        return any(self._parts[task].meaning_compared for task in tasks)

    def drawable(self, question: LabelQuestion, tasks: Iterable[str], records: int) -> list[Drawable]:
        """The list that a draw is from: outputs of these tasks among the first records, judged ones if need be."""
        judged = frozenset(self.judging.terms.outputs) if question.judged and self.judging is not None else None
        chosen = frozenset(tasks)
        return [
            output
            for key, output in self.outputs.items()
            if output.task in chosen and self._numbers[key] <= records and (judged is None or key in judged)
        ]

    @property
    def sealed_records(self) -> int:
        """How many records the seal is over."""
        return self._seal.records

    def key_of(self, name: str) -> str | None:
        """The output of this name: that on a sheet, its key, a head that no other has, or the id it came with."""
        if name in self._on_sheets:
            return self._on_sheets[name]
        if name in self.outputs:
            return name
        if self._own_ids.get(name) is not None:
            return self._own_ids[name]
        if len(name) < FEWEST_DIGITS:
            return None
        fitting = [key for key in self._heads.get(name[:FEWEST_DIGITS], []) if key.startswith(name)]
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def _on_sheets(self) -> dict[str, str]:
        return keys_by_name(self.draws, self.texts)

    def precedes_its_draw(self, place: LabelPlace) -> bool:
        """Whether the label that counts there was given before its output was drawn."""
        key, about, _ = place
        after = self._drawn_after.setdefault(about, drawn_after(self.draws, about)).get(key)
        return after is not None and self._label_numbers[place] <= after

    @property
    def texts(self) -> dict[str, str]:
        """The digest of each output's text, by its key."""
        return self._listed.texts

    @property
    def records(self) -> int:
        """How many records there are, labels too."""
        return self._listed.records

    @cached_property
    def _heads(self) -> dict[str, list[str]]:
        by_head: dict[str, list[str]] = {}
        for key in self.outputs:
            by_head.setdefault(key[:FEWEST_DIGITS], []).append(key)
        return by_head

    def append(self, labels: Iterable[Label]) -> None:
        """Write labels down, a group at a time."""
        append_labels(self._archive, labels)

    def sealed(self) -> Seal:
        """The seal over everything as it stands now."""
        return sealed_again(self.directory, self._archive, self._seal)


class SawDraws(Protocol):
    """Has seen a journal and the draws of its study."""

    def fault(self, seed: int, judging: FrozenJudging | None) -> str | None:
        """What is wrong with the first draw that does not follow; None if all do."""


def refuse_other_draws(
    directory: StudyDirectory, seen: "SawDraws", study: FrozenStudy, judging: FrozenJudging | None
) -> None:
    """Refuse draws that do not follow from the seed and the outputs, before anything rests on them."""
    if (said := seen.fault(study.seed, judging)) is not None:
        raise corrupt(str(directory.path / LABELS), "draws by the study's seed from its outputs", said)


_GROUP = 64


def append_labels(archive: Archive, labels: Iterable[Label]) -> None:
    """Write labels to a journal, a group at a time."""
    for label in labels:
        archive.append(label)
        if archive.group_size >= _GROUP:
            archive.commit()
    archive.commit()


def sealed_again(directory: StudyDirectory, archive: Archive, before: Seal) -> Seal:
    """The seal over everything as it stands now; what outputs and judgements came to has not changed."""
    if directory.is_sealed_by(before) and not directory.check_seal(before):
        return before
    seal = archive.seal(before.counts)
    if seal.root_sha256 != before.root_sha256:
        raise corrupt(str(directory.path), f"the root digest {before.root_sha256}", seal.root_sha256)
    keep_copy(directory, seal)
    return seal


def refuse_unsealed(directory: StudyDirectory, seal: Seal | None, records: int) -> Seal:
    """The seal; refused if there is none, or if so many records reach beyond it."""
    if seal is None or records > seal.records:
        found = "one without a seal" if seal is None else "records since its seal"
        hint = "Run or judge it to its end first; then it is sealed."
        raise UsageError(str(directory), expected="a sealed study", found=found, hint=hint)
    return seal


@contextmanager
def labelled_study(directory: StudyDirectory, disk: Disk) -> Iterator[LabelledStudy]:
    """The study, locked, for the length of the block; refused unless it is sealed."""
    directory.frozen()
    with directory.locked():
        seal = refuse_unsealed(directory, directory.seal(), 0)
        with closing(directory.archive(disk)) as archive:
            yield LabelledStudy(directory, archive, seal)
