"""A judging as it is gathered from the records of a journal: what was judged, and what judges said of it."""

from collections.abc import Callable

from affidavit.archive.corruption import corrupt
from affidavit.archive.record import Judgement, JudgementIdentity, Label, Record, Response
from affidavit.archive.study_directory import FrozenStudy
from affidavit.json_values import shown
from affidavit.judging.plan import JudgingPlan
from affidavit.judging.terms import FrozenJudging
from affidavit.results.judging import Judgements, JudgingFigures, judging_figures
from affidavit.running.ledger import JudgingLedger


class GatheredJudging:
    """The judging of a study, gathered record by record."""

    def __init__(self, study: FrozenStudy, judging: FrozenJudging, watch: Callable[[Record], None] | None) -> None:
        self._seed, self._terms, self._tasks = study.seed, judging.terms, judging.tasks
        self._repeats = judging.repeats
        plan = JudgingPlan(study.name, study.seed, judging.terms, judging.judges)
        self._ledger = JudgingLedger(plan, judging.targets)
        self._judgements = Judgements()
        self._watch = watch

    def __call__(self, record: Record) -> None:
        """One record of the journal."""
        if isinstance(record, Response) and record.subject.task in self._tasks:
            self._judgements.add(record)  # judgements do not name the task
        if isinstance(record, Label) or not isinstance(record.subject, JudgementIdentity):
            return
        self._ledger.load(record)
        scores = record.scores if isinstance(record, Judgement) else None
        if scores is not None and scores.keys() != set(self._terms.rubric.ids):
            where, expected = f"record {record.key[:16]}…", "a score for every dimension of the rubric"
            raise corrupt(where, expected, shown(list(scores)))
        self._judgements.add(record)
        if self._watch is not None:
            self._watch(record)

    def figures(self, *, include_self: bool) -> JudgingFigures:
        """The figures of all that was seen."""
        return judging_figures(
            self._judgements,
            self._terms.rubric,
            self._ledger.tallies,
            repeats=self._repeats,
            include_self=include_self,
            seed=self._seed,
            blind=self._terms.blind,
            without_task=self._terms.without_task,
        )
