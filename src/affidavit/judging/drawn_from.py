"""The outputs that draws are from, noted while a journal is walked, and whether every draw follows from them.

Whoever can write labels.json can write down a draw of their own choice. So whoever reads draws makes them again.
"""

from collections.abc import Sequence

from affidavit.archive.record import Record, Response
from affidavit.errors import AffidavitError
from affidavit.judging.label_draws import STRATA, Drawable, LabelDraw, drawn_strata
from affidavit.judging.label_names import list_sha256, text_sha256
from affidavit.judging.label_questions import recorded_question
from affidavit.judging.terms import FrozenJudging


class DrawnFrom:
    """Sees every record of a journal, in its order."""

    def __init__(self, draws: Sequence[LabelDraw], *, with_texts: bool = False) -> None:
        """`with_texts`: note the digests of texts also where nothing was drawn."""
        self._draws = draws
        self._with_texts = with_texts or bool(draws)
        self._outputs: list[tuple[int, Drawable]] = []
        """With their numbers in the journal; none are kept where nothing was drawn."""
        self.records = 0
        """How many were seen."""
        self.texts: dict[str, str] = {}
        """The digest of each output's text, by its key."""

    def see(self, record: Record) -> None:
        """One more record of the journal, whatever it is."""
        self.records += 1
        if self._with_texts and isinstance(record, Response):
            self.texts[record.key] = text_sha256(record.raw_output)
            if self._draws:
                self._outputs.append((self.records, Drawable(record.key, *record.subject.cell)))

    def fault(self, seed: int, judging: FrozenJudging | None) -> str | None:
        """What is wrong with the first draw that does not follow; None if all do. All records were seen."""
        before = 0
        for number, draw in enumerate(self._draws, 1):
            said = self._fault(draw, seed, judging)
            if said is None and draw.drawn_after < before:
                said = "it says that it was drawn before the one before it"
            if said is not None:
                return f"draw {number}: {said}"
            before = draw.drawn_after
        return None

    def _fault(self, draw: LabelDraw, seed: int, judging: FrozenJudging | None) -> str | None:
        judged = frozenset(() if judging is None else judging.terms.outputs)
        try:
            question = recorded_question(draw.about, None if judging is None else judging.terms.rubric, draw.ends)
        except AffidavitError:
            return f"nobody can be asked for {draw.about!r}"
        if not set(draw.by) <= set(STRATA):
            return "its strata are none that there are"
        if not draw.records <= draw.drawn_after <= self.records:
            return "it says that it was drawn after records that the journal does not have"
        outputs = [
            output
            for number, output in self._outputs
            if number <= draw.records
            and output.task in draw.tasks
            and (not question.judged or output.key in judged)
        ]
        if draw.list_sha256 != list_sha256(outputs, self.texts):
            return "it is from other outputs, or from other texts, than the journal has"
        strata = drawn_strata(outputs, seed=seed, about=draw.about, by=draw.by, n=draw.n)
        if strata != draw.strata or draw.n != len(draw.outputs) or draw.shared > draw.n:
            return "it is not the one that the study's seed gives"
        return None
