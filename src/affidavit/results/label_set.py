"""What people said of outputs, and what was drawn for them to label, gathered record by record (ruling S10).

Of several labels of one output by one rater to one question the last one counts. A label counts for a corrected
figure if its output was drawn for that question before it was given, and it did not come with the output; for
agreement all labels do.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from affidavit.archive.record import Label, Record, Response
from affidavit.judging.drawn_from import DrawnFrom
from affidavit.judging.label_draws import Drawable, LabelDraw, drawn_after, last_draw
from affidavit.judging.label_questions import SCORE, VERDICT, LabelValue
from affidavit.judging.terms import FrozenJudging

ByRater = Mapping[str, LabelValue]
"""What each rater said of one output."""


@dataclass
class LabelSet:
    """All labels of a study, with its draws."""

    draws: tuple[LabelDraw, ...] = ()
    judged: Collection[str] | None = None
    """The outputs that judges were to judge: what is asked of judges is drawn from these alone."""
    corrections: Counter[str] = field(default_factory=Counter)
    """By question: labels in whose place a later one of the same rater has come."""
    _values: dict[tuple[str, str, str], LabelValue] = field(default_factory=dict)
    _numbers: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Of the labels in the journal."""
    _of_rows: set[tuple[str, str, str]] = field(default_factory=set)
    """Of these: what came with its output, whether that was drawn or not."""
    _from: DrawnFrom = field(init=False)
    _of: dict[str, "DrawnLabels"] = field(default_factory=dict)
    _listed: dict[str, tuple[int, Drawable]] = field(default_factory=dict)
    """Outputs with their numbers in the journal, where anything was drawn."""

    def __post_init__(self) -> None:
        self._from = DrawnFrom(self.draws)

    def add(self, record: Record) -> None:
        """One more record of the journal, in its order."""
        self._from.see(record)
        if isinstance(record, Label):
            place = record.about, record.labelled_key, record.rater
            self.corrections[record.about] += self._values.get(place, record.value) != record.value
            self._values[place], self._numbers[place] = record.value, self._from.records
            (self._of_rows.discard if record.column is None else self._of_rows.add)(place)
        elif self.draws and isinstance(record, Response):
            self._listed[record.key] = self._from.records, Drawable(record.key, *record.subject.cell)

    def fault(self, seed: int, judging: FrozenJudging | None) -> str | None:
        """What is wrong with the first draw that does not follow from what was shown to this; None if all do."""
        return self._from.fault(seed, judging)

    @property
    def seen(self) -> bool:
        """Whether any record was shown to this."""
        return self._from.records > 0

    @property
    def questions(self) -> list[str]:
        """All that people were asked, or have said something of."""
        return sorted({draw.about for draw in self.draws} | {about for about, _, _ in self._values})

    @cached_property
    def _by_question(self) -> dict[str, dict[str, dict[str, LabelValue]]]:
        found: dict[str, dict[str, dict[str, LabelValue]]] = defaultdict(lambda: defaultdict(dict))
        for (about, key, rater), value in sorted(self._values.items(), key=lambda each: each[0]):
            found[about][key][rater] = value
        return found

    def said(self, about: str) -> Mapping[str, ByRater]:
        """By output, what each rater said."""
        return self._by_question.get(about, {})

    def of(self, about: str) -> "DrawnLabels":
        """The labels of one question, as its draw makes them fit for correcting figures; once all were seen."""
        if about not in self._of:
            self._of[about] = self._drawn_labels(about)
        return self._of[about]

    def _drawn_labels(self, about: str) -> "DrawnLabels":
        draw = last_draw(self.draws, about)
        if draw is None:
            return DrawnLabels(about, None, self.said(about), {}, {})
        strata = {
            key: output.stratum(draw.by)
            for key, (number, output) in self._listed.items()
            if number <= draw.records and output.task in draw.tasks and self._may_be_drawn(about, key)
        }
        own, after = self._given_by_people(about), drawn_after(self.draws, about)
        answers = {
            key: {rater: value for rater, value in each.items() if self._numbers[about, key, rater] > after[key]}
            for key, each in own.items()
            if key in after
        }
        before = [key for key, each in answers.items() if not each]
        answers = {key: each for key, each in answers.items() if each}
        return DrawnLabels(about, draw, self.said(about), strata, answers, before)

    def _given_by_people(self, about: str) -> Mapping[str, ByRater]:
        """By output, what raters said who had it before them: nothing that came with the outputs."""
        found = {
            key: {rater: value for rater, value in each.items() if (about, key, rater) not in self._of_rows}
            for key, each in self.said(about).items()
        }
        return {key: each for key, each in found.items() if each}

    def _may_be_drawn(self, about: str, key: str) -> bool:
        asked_of_judges = about == VERDICT or about.startswith(SCORE)
        return self.judged is None or not asked_of_judges or key in self.judged


@dataclass(frozen=True)
class DrawnLabels:
    """The labels of one question, and which outputs they speak for."""

    about: str
    draw: LabelDraw | None
    said: Mapping[str, ByRater]
    strata: Mapping[str, tuple[str, ...]]
    """Of every output that was there when it was drawn."""
    answers: Mapping[str, ByRater]
    """Of `said`, what answers the draw: what was said of drawn outputs once they were drawn."""
    labelled_before: Sequence[str] = ()
    """Drawn outputs that nobody has labelled but before they were drawn: somebody picked them."""

    @cached_property
    def drawn(self) -> frozenset[str]:
        """The outputs that were drawn."""
        return frozenset(() if self.draw is None else self.draw.outputs)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Of the scale of a name of the study's own."""
        return None if self.draw is None else self.draw.ends

    @property
    def labelled(self) -> list[str]:
        """Those of them that somebody labelled once they were drawn."""
        return list(self.answers)

    @property
    def raters(self) -> Sequence[str]:
        """Everybody who labelled anything."""
        return sorted({rater for each in self.said.values() for rater in each})

    def later(self, keys: Iterable[str]) -> int:
        """How many of these outputs are not on the list: no figure is about them."""
        return 0 if self.draw is None else sum(key not in self.strata for key in set(keys))

    @property
    def coverage(self) -> str:
        """The accounting identity of what was drawn (ruling C5); empty where nothing was."""
        there, drawn = len(self.labelled), len(self.drawn)
        if self.draw is None:
            return ""
        return f"{self.about}: {drawn:,} drawn = {there:,} labelled + {drawn - there:,} not labelled"

    def label_of(self, key: str, number: Callable[[LabelValue], float]) -> float | None:
        """The label of a drawn output as a number, of several raters their mean; None where there is none."""
        return _mean(self.answers[key], number) if key in self.answers else None

    def mean_of_all(self, key: str, number: Callable[[LabelValue], float]) -> float:
        """The mean of all that was said of a labelled output, drawn or not."""
        return _mean(self.said[key], number)


def _mean(said: ByRater, number: Callable[[LabelValue], float]) -> float:
    values = [number(value) for _, value in sorted(said.items())]
    return sum(values) / len(values)
