"""A judging with labels, made in memory: sixty questions, two targets, one judge, and what people say of some."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from affidavit.archive.record import Label, QuestionIdentity, Response
from affidavit.contracts.rubric import DEFAULT
from affidavit.json_values import digest
from affidavit.judging.label_draws import LabelDraw, Stratum
from affidavit.results.judging import Evaluation, FailedJudgement, JudgedPlace, JudgedSide, JudgingFigures
from affidavit.results.label_set import LabelSet
from affidavit.results.labelled_judging import LabelledJudging
from affidavit.results.output_places import OutputPlace, OutputPlaces

QUESTIONS, TARGETS = 60, ("able", "weak")
_QUESTION = QuestionIdentity("0" * 64, "s", "t", "q", "m", "v", 0, "b" * 64, None)
Says = Callable[[str, int], bool]
"""Whether an output deserves a PASS, by its target and the number of its question."""


def key_of(target: str, question: int) -> str:
    return digest([target, question])


def labelled(
    judge: Says,
    people: Says,
    *,
    valid: Says = lambda _target, _question: True,
    drawn: Says = lambda _target, question: question % 2 == 0,
    listed: int = QUESTIONS,
    cluster: Callable[[int], str] = "q{}".format,
) -> LabelledJudging:
    """The judging; what is not valid has failed, and questions from `listed` on were asked after the draw."""
    places = [(target, question) for question in range(QUESTIONS) for target in TARGETS]
    evaluations = [_evaluation(*each, judge(*each)) for each in places if valid(*each)]
    failures = [
        FailedJudgement("j", "free", "cross_judge", target, "v", "t", f"q{question}", key_of(target, question))
        for target, question in places
        if not valid(target, question)
    ]
    figures = JudgingFigures(
        DEFAULT,
        7,
        JudgedSide([], evaluations, failures),
        JudgedSide([], [], []),
        pooled=False,
        places=[JudgedPlace("t", f"q{question}", "v", target) for target, question in places],
    )
    of = {
        key_of(target, question): OutputPlace("t", f"model-{target}", "v", cluster(question))
        for target, question in places
    }
    chosen = [key_of(*each) for each in places if each[1] < listed and drawn(*each)]
    labels = _labels(places, chosen, listed)
    for target, question in places:
        if key_of(target, question) in chosen:
            said = "PASS" if people(target, question) else "FAIL"
            labels.add(Label(key_of(target, question), "verdict", said, "anna", "2026-01-31", "0" * 64))
    return LabelledJudging(figures, labels, OutputPlaces(of))


def _labels(places: Sequence[tuple[str, int]], chosen: Sequence[str], listed: int) -> LabelSet:
    size = listed * len(TARGETS)
    stratum = Stratum((), size, tuple(chosen))
    n = len(chosen)
    draw = LabelDraw("verdict", None, ("t",), (), n, 1, n, "2026-01-31", size, "", len(places), (stratum,))
    found = LabelSet((draw,))
    for target, question in places:
        subject = replace(_QUESTION, key=key_of(target, question), item_id=f"q{question}", model=f"model-{target}")
        found.add(Response(subject, "x", "text/1", {}, protocol_compliant=True, fields={}))
    return found


def _evaluation(target: str, question: int, passes: bool) -> Evaluation:
    score = 2 if passes else 0
    return Evaluation(
        judge="j",
        condition="free",
        method="cross_judge",
        target=target,
        variant="v",
        task="t",
        question=f"q{question}",
        output=key_of(target, question),
        repeat=0,
        valid=True,
        scores=dict.fromkeys(DEFAULT.ids, score),
        verdict="PASS" if passes else "FAIL",
        flags=(),
        truncated=False,
        quotes=(),
    )
