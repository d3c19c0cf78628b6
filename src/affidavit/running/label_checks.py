"""Whether labels and draws follow: labels are on their scales, and each draw is the one that the seed gives."""

from affidavit.archive.layout import LABELS
from affidavit.archive.record import Label, Record
from affidavit.archive.study_directory import FrozenStudy, StudyDirectory
from affidavit.errors import AffidavitError
from affidavit.judging.drawn_from import DrawnFrom
from affidavit.judging.label_draws import LabelDraw, last_draw, read_draws
from affidavit.judging.label_questions import recorded_question
from affidavit.judging.terms import FrozenJudging

_YES_OR_NO = {True: "yes", False: "no"}


class LabelChecks:
    """Watches a walk over the journal."""

    def __init__(self, directory: StudyDirectory, study: FrozenStudy, judging: FrozenJudging | None) -> None:
        self._directory = directory
        self._study = study
        self._judging = judging
        self.draws: tuple[LabelDraw, ...] = read_draws(directory)
        seal = directory.seal()
        # Texts are noted where there may be labels: a study without any stays as small in memory as it was.
        labelled = seal is None or bool(seal.labels_sha256)
        self._outputs = DrawnFrom(self.draws, with_texts=labelled)

    def see(self, record: Record) -> None:
        """One more record of the journal, whatever it is."""
        self._outputs.see(record)

    def difference(self, label: Label, *, is_known: bool) -> str | None:
        """What a label says that it cannot; None if it can. `is_known`: whether its output stands before it."""
        if not is_known:
            return "it is about an output that no earlier record holds"
        if self._outputs.texts.get(label.labelled_key, label.text_sha256) != label.text_sha256:
            return "it is about another text than the output has: a label of another run"
        draw = last_draw(self.draws, label.about)
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
        said = self._outputs.fault(self._study.seed, self._judging)
        return None if said is None else (str(self._directory.path / LABELS), said)


def _any_scale(label: Label) -> tuple[float, float] | None:
    """A scale that any number is on, for a label of a number that was never drawn for."""
    return (-_FAR, _FAR) if type(label.value) is float else None


_FAR = 1e150
