"""Whether labels and draws follow: labels are on their scales, and each draw is the one that the seed gives."""

from affidavit.archive.layout import LABELS
from affidavit.archive.record import Label, Response
from affidavit.archive.study_directory import FrozenStudy, StudyDirectory
from affidavit.errors import AffidavitError
from affidavit.judging.label_draws import STRATA, Drawable, LabelDraw, drawn_strata, last_draw, read_draws
from affidavit.judging.label_questions import recorded_question
from affidavit.judging.terms import FrozenJudging

_YES_OR_NO = {True: "yes", False: "no"}


class LabelChecks:
    """Watches a walk over the journal."""

    def __init__(self, directory: StudyDirectory, study: FrozenStudy, judging: FrozenJudging | None) -> None:
        self._directory = directory
        self._study = study
        self._judging = judging
        self._draws = read_draws(directory)
        self._seen = 0
        self._outputs: list[tuple[int, Drawable]] = []
        """With their numbers in the journal; none are kept where nothing was drawn."""

    def see(self, record: object) -> None:
        """One more record of the journal, whatever it is."""
        self._seen += 1
        if self._draws and isinstance(record, Response):
            self._outputs.append((self._seen, Drawable(record.key, *record.subject.cell)))

    def difference(self, label: Label, *, is_known: bool) -> str | None:
        """What a label says that it cannot; None if it can. `is_known`: whether its output stands before it."""
        if not is_known:
            return "it is about an output that no earlier record holds"
        draw = last_draw(self._draws, label.about)
        rubric = None if self._judging is None else self._judging.terms.rubric
        # Nobody but the adding of a label outside a draw knows the scale of a name of one's own.
        ends = None if draw is None else draw.ends
        try:
            question = recorded_question(label.about, rubric, ends or _any_scale(label))
            spelt = _YES_OR_NO[label.value] if isinstance(label.value, bool) else label.value
            fits = question.value(spelt, where="")
        except AffidavitError:
            return f"value is {label.value!r}, which is off the scale of {label.about!r}"
        same = (type(fits), fits) == (type(label.value), label.value)
        return None if same else f"value is {label.value!r}, where the scale of {label.about!r} has {fits!r}"

    def other_draw(self) -> tuple[str, str] | None:
        """The first draw that is not the one that the seed gives, and what is wrong with it."""
        for number, draw in enumerate(self._draws, 1):
            if (said := self._other(draw)) is not None:
                return str(self._directory.path / LABELS), f"draw {number}: {said}"
        return None

    def _other(self, draw: LabelDraw) -> str | None:
        judged = frozenset(() if self._judging is None else self._judging.terms.outputs)
        rubric = None if self._judging is None else self._judging.terms.rubric
        try:
            question = recorded_question(draw.about, rubric, draw.ends)
        except AffidavitError:
            return f"nobody can be asked for {draw.about!r}"
        if not set(draw.by) <= set(STRATA):
            return "its strata are none that there are"
        outputs = [
            output
            for number, output in self._outputs
            if number <= draw.records
            and output.task in draw.tasks
            and (not question.judged or output.key in judged)
        ]
        strata = drawn_strata(outputs, seed=self._study.seed, about=draw.about, by=draw.by, n=draw.n)
        return None if strata == draw.strata else "it is not the one that the study's seed gives"


def _any_scale(label: Label) -> tuple[float, float] | None:
    """A scale that any number is on, for a label of a number that was never drawn for."""
    return (-_FAR, _FAR) if type(label.value) is float else None


_FAR = 1e150
