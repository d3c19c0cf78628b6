"""Outputs drawn for people to label: the draw is frozen and sealed, and then written out as sheets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import NamedTuple, Protocol

from affidavit.archive.disk import Disk
from affidavit.archive.record import ImportIdentity, Response
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import UsageError, did_you_mean
from affidavit.judging.label_draws import (
    STRATA,
    LabelDraw,
    draw_number,
    drawn_strata,
    last_draw,
    refuse_other_design,
    shared_before,
    sheets,
    write_draws,
)
from affidavit.judging.label_names import list_sha256, name_on_sheet
from affidavit.judging.label_questions import (
    ANSWER,
    NEEDS_RUBRIC,
    NOT_JUDGED,
    OVERALL,
    OVERALL_NAMES,
    LabelQuestion,
    scale_words,
)
from affidavit.judging.plan import Output
from affidavit.reading.column_path import ColumnPath
from affidavit.running.labelled_study import LabelledStudy, labelled_study
from affidavit.running.study_outputs import StudyOutputs
from affidavit.study.freezing import plan_of


@dataclass(frozen=True)
class WantedDraw:
    """What somebody asks to be drawn."""

    about: str
    n: int
    by: tuple[str, ...] = ()
    raters: int = 1
    shared: int | None = None
    """Of all that are drawn for the question, how many are given to all raters; a fifth of them unless said."""
    tasks: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    again: bool = False
    """Whether only the sheets of a frozen draw of so many outputs are to be written again."""


@dataclass(frozen=True)
class LabelSheet:
    """What one rater is given."""

    study: str
    rater: int
    raters: int
    question: LabelQuestion
    levels: Sequence[str]
    """What the values of the scale mean."""
    outputs: Sequence[Output]
    """Each under its name on the sheet in place of its key, which would tell who gave it."""
    draw: int = 1
    """Which draw of the question it is."""
    questions: Mapping[str, LabelQuestion] = field(default_factory=dict)
    """The question as it is asked of an output, by its name, where the contract says more of the answers."""

    def asked_of(self, output: Output) -> LabelQuestion:
        """The question as it is asked of one output."""
        return self.questions.get(output.key, self.question)


class DrawnTarget(NamedTuple):
    """How many outputs of one model in one task were drawn, and how many there are."""

    task: str
    model: str
    drawn: int
    size: int


@dataclass(frozen=True)
class Drawn:
    """A draw as it stands on the record."""

    draw: LabelDraw
    new: int
    """Outputs that no earlier draw has; the sheets hold these alone."""
    sheets: Sequence[LabelSheet]
    targets: Sequence[DrawnTarget]
    root_sha256: str
    seal_sha256: str


class HandsOut(Protocol):
    """Where sheets go."""

    def check(self, draw: LabelDraw, sheets: Sequence[LabelSheet]) -> None:
        """Refuse what cannot be written there; nothing is frozen yet."""

    def write(self) -> None:
        """Write the sheets that were checked; the draw is frozen and sealed."""


def draw_labels(
    directory: StudyDirectory,
    wanted: WantedDraw,
    given: GivenContracts,
    disk: Disk,
    hands_out: HandsOut | None = None,
) -> Drawn:
    """Draw, or take the same draw once more; frozen and sealed before anything is handed out, under one lock."""
    _refuse_odd(wanted)
    with labelled_study(directory, disk) as labelled:
        question = labelled.question(wanted.about, wanted.scale)
        before = last_draw(labelled.draws, wanted.about)
        if question.ends is not None and before is None:
            _refuse_unknown_name(directory, wanted.about, is_judged=labelled.judging is not None)
        draw = _frozen(labelled, wanted) if wanted.again else _drawn(labelled, wanted, question, before)
        again = wanted.again or (before is not None and _same(before, draw))
        if not wanted.again and again and before is not None:
            draw = before
        plan = plan_of(labelled.study, given)
        made = _sheets(labelled, draw, question, StudyOutputs(directory, labelled.study, plan, draw.tasks))
        if hands_out is not None:
            hands_out.check(draw, made)
        if not again:
            write_draws(directory, (*labelled.draws, draw), disk)
        seal = labelled.sealed()
        if hands_out is not None:
            hands_out.write()
    targets = _targets(labelled, draw, question)
    return Drawn(draw, len(_new(labelled, draw)), made, targets, seal.root_sha256, seal.sha256)


def _frozen(labelled: LabelledStudy, wanted: WantedDraw) -> LabelDraw:
    """The draw of so many outputs as it is on the record; of several, that for so many raters, or the last."""
    of_question = [draw for draw in labelled.draws if draw.about == wanted.about]
    found = [draw for draw in of_question if draw.n == wanted.n]
    if not found:
        known = ", ".join(dict.fromkeys(f"-n {draw.n}" for draw in of_question))
        expected = f"a draw for {wanted.about} that is frozen: {known or 'there is none'}"
        raise UsageError("--again", expected=expected, found=f"-n {wanted.n}")
    return next((draw for draw in reversed(found) if draw.raters == wanted.raters), found[-1])


def _new(labelled: LabelledStudy, draw: LabelDraw) -> list[str]:
    """The keys of what no smaller draw of the question holds."""
    earlier = _outputs_before(labelled.draws, draw)
    return [key for key in draw.outputs if key not in earlier]


def _sheets(
    labelled: LabelledStudy, draw: LabelDraw, question: LabelQuestion, outputs: StudyOutputs
) -> list[LabelSheet]:
    new = _new(labelled, draw)
    names = {key: name_on_sheet(draw, key, labelled.texts[key]) for key in new}
    found = _texts(labelled.directory, outputs, frozenset(new))
    shown = {key: output._replace(key=names[key]) for key, output in found.items()}
    asked = {names[key]: labelled.question_of(question, key, output.options) for key, output in found.items()}
    rubric = None if labelled.judging is None else labelled.judging.terms.rubric
    return [
        LabelSheet(
            labelled.study.name,
            number,
            draw.raters,
            question,
            scale_words(draw.about, rubric),
            [shown[key] for key in keys],
            draw_number(labelled.draws, draw.about, draw.n),
            asked,
        )
        for number, keys in enumerate(sheets(draw, new, seed=labelled.study.seed), 1)
    ]


def _targets(labelled: LabelledStudy, draw: LabelDraw, question: LabelQuestion) -> list[DrawnTarget]:
    listed = Counter((each.task, each.model) for each in labelled.drawable(question, draw.tasks, draw.records))
    taken = Counter((labelled.outputs[key].task, labelled.outputs[key].model) for key in draw.outputs)
    return [DrawnTarget(task, model, taken[task, model], size) for (task, model), size in sorted(listed.items())]


def _refuse_unknown_name(directory: StudyDirectory, about: str, *, is_judged: bool) -> None:
    """Refuse a name of one's own under which no output has a number: nothing could be corrected by such labels."""
    path, numbers = ColumnPath(about), dict[str, None]()
    for record in directory.records():
        if isinstance(record, Response) and isinstance(record.subject, ImportIdentity):
            row = record.subject.row
            if _is_number(path.of(row)):
                return
            numbers |= dict.fromkeys(name for name, value in row.items() if _is_number(value))
    hint = did_you_mean(about, numbers)
    if not hint and is_judged and about.lower() in OVERALL_NAMES:
        hint = OVERALL
    found = f"{about!r}, which no output has"
    expected = f"a name under which outputs came with a number: {', '.join(numbers) or 'here there is none'}"
    raise UsageError("--what", expected=expected, found=found, hint=hint or _ELSE)


_ELSE = (
    "Labels under this name could correct nothing. Ask for verdict, score:DIMENSION, correct or answer; labels "
    "for agreement alone need no draw: `affidavit label add --scale`."
)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        return isfinite(float(value))
    except (ValueError, OverflowError):
        return False


def _refuse_odd(wanted: WantedDraw) -> None:
    for name in wanted.by:
        if name not in STRATA:
            hint = did_you_mean(name, STRATA)
            raise UsageError("--by", expected=f"{', '.join(STRATA)}", found=repr(name), hint=hint)
    if len(set(wanted.by)) < len(wanted.by):
        raise UsageError("--by", expected="each name once", found=",".join(wanted.by))
    if wanted.shared is not None and not 0 <= wanted.shared <= wanted.n:
        raise UsageError("--shared", expected=f"at most the {wanted.n} that are drawn", found=str(wanted.shared))


def _drawn(
    labelled: LabelledStudy, wanted: WantedDraw, question: LabelQuestion, before: LabelDraw | None
) -> LabelDraw:
    if question.judged and labelled.judging is None:
        raise UsageError("--what", expected=NEEDS_RUBRIC, found=wanted.about, hint=NOT_JUDGED)
    tasks = _tasks(labelled, wanted, question, before)
    if wanted.about == ANSWER and not labelled.compares_answers(tasks):
        expected = "a task whose contract compares an answer that a person names with the right one"
        found = f"none of {', '.join(tasks)}"
        raise UsageError("--what", expected=expected, found=found, hint="Ask whether outputs are right: correct.")
    _refuse_labels_off_scale(labelled, question)
    records = labelled.sealed_records if before is None else before.records
    outputs = labelled.drawable(question, tasks, records)
    if len(outputs) < wanted.n:
        hint = "Draw fewer, or draw from more tasks."
        if before is not None and len(labelled.drawable(question, tasks, labelled.sealed_records)) > len(outputs):
            hint = (
                f"The list was frozen on {before.date}, by the first draw; outputs that came since are in no draw "
                f"of {wanted.about}. Take them in as a study of their own, and draw there."
            )
        expected = f"at least as many outputs as are to be drawn, {wanted.n:,}"
        raise UsageError("-n", expected=expected, found=f"{len(outputs):,}", hint=hint)
    by = tuple(name for name in STRATA if name in wanted.by)
    strata = drawn_strata(outputs, seed=labelled.study.seed, about=wanted.about, by=by, n=wanted.n)
    shared = wanted.n // 5 if wanted.shared is None else wanted.shared
    shared = max(0, shared - shared_before(labelled.draws, wanted.about, wanted.n))
    draw = LabelDraw(
        wanted.about,
        question.ends,
        tasks,
        by,
        wanted.n,
        wanted.raters,
        wanted.n if wanted.raters == 1 else shared,
        datetime.now(UTC).date().isoformat(),
        records,
        list_sha256(outputs, labelled.texts),
        labelled.records,
        strata,
    )
    if before is not None:
        refuse_other_design(before, draw)
    return draw


def _refuse_labels_off_scale(labelled: LabelledStudy, question: LabelQuestion) -> None:
    """Refuse a scale on which labels of the name do not lie: of what was said nothing is left out."""
    if question.ends is None:
        return
    low, high = question.ends
    said = [float(each.value) for each in labelled.labels.values() if each.about == question.about]
    if not all(low <= each <= high for each in said):
        ends = f"{min(said):g} to {max(said):g}"
        expected = f"a scale that holds the labels of {question.about} on the record, {ends}"
        raise UsageError("--scale", expected=expected, found=f"{low:g},{high:g}")


def _tasks(
    labelled: LabelledStudy, wanted: WantedDraw, question: LabelQuestion, before: LabelDraw | None
) -> tuple[str, ...]:
    if wanted.tasks:
        known = list(labelled.study.config["tasks"])
        for name in wanted.tasks:
            if name not in known:
                hint = did_you_mean(name, known)
                raise UsageError("--task", expected=f"a task: {', '.join(known)}", found=repr(name), hint=hint)
        return tuple(sorted(set(wanted.tasks)))
    if before is not None:
        return before.tasks
    if question.judged and labelled.judging is not None:
        return tuple(sorted(labelled.judging.tasks))
    return tuple(sorted(labelled.study.config["tasks"]))


def _same(before: LabelDraw, draw: LabelDraw) -> bool:
    return (before.n, before.raters, before.shared, before.strata) == (
        draw.n,
        draw.raters,
        draw.shared,
        draw.strata,
    )


def _outputs_before(draws: Sequence[LabelDraw], draw: LabelDraw) -> frozenset[str]:
    """The outputs of earlier draws of the same question."""
    earlier = [each for each in draws if each.about == draw.about and each.n < draw.n]
    return frozenset(key for each in earlier for key in each.outputs)


def _texts(directory: StudyDirectory, outputs: StudyOutputs, keys: frozenset[str]) -> dict[str, Output]:
    """The outputs themselves, with the words that they answer."""
    for line in _lines_of(directory, keys):
        outputs.add(line)
    return {output.key: output for output in outputs}


def _lines_of(directory: StudyDirectory, keys: frozenset[str]) -> Iterator[Line]:
    for line in directory.walk():
        record = line.record
        if isinstance(record, Response) and record.key in keys:
            yield line
