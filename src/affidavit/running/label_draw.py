"""Outputs drawn for people to label: the draw is frozen and sealed, and then written out as sheets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from affidavit.archive.disk import Disk
from affidavit.archive.record import Response
from affidavit.archive.segments import Line
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import UsageError, did_you_mean
from affidavit.judging.label_draws import (
    STRATA,
    LabelDraw,
    drawn_strata,
    last_draw,
    refuse_other_design,
    sheets,
    write_draws,
)
from affidavit.judging.label_questions import NEEDS_RUBRIC, NOT_JUDGED, LabelQuestion, score_words
from affidavit.judging.plan import Output
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
    """Outputs that are given to all raters; a fifth of them unless said."""
    tasks: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None


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


@dataclass(frozen=True)
class Drawn:
    """A draw as it stands on the record."""

    draw: LabelDraw
    new: int
    """Outputs that no earlier draw has; the sheets hold these alone."""
    sheets: Sequence[LabelSheet]
    root_sha256: str
    seal_sha256: str


def draw_labels(directory: StudyDirectory, wanted: WantedDraw, given: GivenContracts, disk: Disk) -> Drawn:
    """Draw, or take the same draw once more; frozen and sealed before anything is handed out."""
    _refuse_odd(wanted)
    with labelled_study(directory, disk) as labelled:
        question = labelled.question(wanted.about, wanted.scale)
        before = last_draw(labelled.draws, wanted.about)
        draw = _drawn(labelled, wanted, question, before)
        again = before is not None and _same(before, draw)
        outputs = StudyOutputs(directory, labelled.study, plan_of(labelled.study, given), draw.tasks)
        if again and before is not None:
            draw = before
        else:
            write_draws(directory, (*labelled.draws, draw), disk)
        seal = labelled.sealed()
    earlier = _outputs_before(labelled.draws, draw)
    new = [key for key in draw.outputs if key not in earlier]
    lists = sheets(draw, new, seed=labelled.study.seed)
    texts = _texts(directory, outputs, frozenset(new))
    rubric = None if labelled.judging is None else labelled.judging.terms.rubric
    made = [
        LabelSheet(
            labelled.study.name,
            number,
            draw.raters,
            question,
            score_words(draw.about, rubric),
            [texts[key] for key in keys],
        )
        for number, keys in enumerate(lists, 1)
    ]
    return Drawn(draw, len(new), made, seal.root_sha256, seal.sha256)


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
    records = labelled.sealed_records if before is None else before.records
    outputs = labelled.drawable(question, tasks, records)
    if len(outputs) < wanted.n:
        hint = "Draw fewer, or draw from more tasks."
        expected = f"at least as many outputs as are to be drawn, {wanted.n:,}"
        raise UsageError("-n", expected=expected, found=f"{len(outputs):,}", hint=hint)
    by = tuple(name for name in STRATA if name in wanted.by)
    strata = drawn_strata(outputs, seed=labelled.study.seed, about=wanted.about, by=by, n=wanted.n)
    shared = wanted.n // 5 if wanted.shared is None else wanted.shared
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
        strata,
    )
    if before is not None:
        refuse_other_design(before, draw)
    return draw


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
