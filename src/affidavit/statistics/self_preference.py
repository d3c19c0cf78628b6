"""What judges add to the scores of their own outputs, apart from how severe they are (ruling S7).

The model: score = output effect + judge effect + γ · [the judge is the author], fitted by least squares over
outputs that at least two judges have scored. The output effect takes out how good an output is, the judge effect
how severe a judge is to everybody; γ is what is left for the judge's own outputs. The raw difference of means
mixes γ with both. Errors are cluster-robust by question: G/(G − 1) times the sandwich (CR1), t with G − 1 degrees
of freedom.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from affidavit.statistics.estimate import Estimate

if TYPE_CHECKING:
    from numpy import float64, intp
    from numpy.typing import NDArray

    Floats = NDArray[float64]
    Positions = NDArray[intp]

FEWEST_QUESTIONS = 10
"""With fewer questions there is no interval."""
_TOLERANCE = 1e-9


class JudgedScore(NamedTuple):
    """One score of one output by one judge."""

    judge: str
    output: Hashable
    question: Hashable
    """The cluster: questions of two tasks are never one."""
    score: float
    own: bool
    """Whether the judge is the author."""


class SelfPreference(NamedTuple):
    """γ of one judge, or of several that share one."""

    judges: tuple[str, ...]
    """More than one: their own γ cannot be told apart from how severe they are."""
    gamma: Estimate | None
    """None: nothing separates it from the effects of judges and outputs."""
    outputs: int
    """Outputs in the fit that these judges wrote and scored, and another judge has scored too."""
    questions: int
    """Questions that these outputs answer."""


def self_preference(scores: Iterable[JudgedScore]) -> list[SelfPreference]:
    """γ of every judge that has scored outputs of its own.

    One γ for each judge where a third judge or a target that does not judge identifies it; the others share one.
    Below 10 questions, and where the fit leaves no residual, there is a value and no interval.

    >>> given = [JudgedScore(judge, (q, author), q, 4 + (judge == "a") - (judge == author == "b"), judge == author)
    ...          for q in range(3) for author in "abc" for judge in "ab"]
    >>> [(each.judges, round(each.gamma.value, 6), each.gamma.method) for each in self_preference(given)]
    [(('a',), 0.0, '3 questions: no interval below 10'), (('b',), -1.0, '3 questions: no interval below 10')]
    """
    kept = _scored_by_two(list(scores))
    owners = sorted({each.judge for each in kept if each.own})
    if not owners:
        return []
    judges = sorted({each.judge for each in kept})
    groups = _groups(kept, judges, owners)
    return _fitted(kept, judges, groups)


def _scored_by_two(scores: Sequence[JudgedScore]) -> list[JudgedScore]:
    judges: dict[Hashable, set[str]] = defaultdict(set)
    for each in scores:
        judges[each.output].add(each.judge)
    kept = [each for each in scores if len(judges[each.output]) > 1]
    # The order of records must not decide the last digits of a sum.
    return sorted(kept, key=lambda each: (str(each.question), str(each.output), each.judge, each.score))


def _groups(scores: Sequence[JudgedScore], judges: Sequence[str], owners: Sequence[str]) -> list[tuple[str, ...]]:
    """The judges whose γ is identified, each alone, and together those whose is not."""
    design = _design(scores, judges, [(name,) for name in owners])
    first = len(judges) - 1
    alone = [name for at, name in enumerate(owners, first) if _identified(design, at)]
    rest = tuple(name for name in owners if name not in alone)
    return [*((name,) for name in alone), *([rest] if rest else [])]


def _design(scores: Sequence[JudgedScore], judges: Sequence[str], groups: Sequence[tuple[str, ...]]) -> "Floats":
    """Columns of judges but the first, then of γ, each less its mean over the output."""
    import numpy as np

    columns = np.zeros((len(scores), len(judges) - 1 + len(groups)))
    place = {name: at for at, name in enumerate(judges[1:])}
    group_of = {name: len(judges) - 1 + at for at, group in enumerate(groups) for name in group}
    for row, each in enumerate(scores):
        if each.judge in place:
            columns[row, place[each.judge]] = 1
        if each.own:
            columns[row, group_of[each.judge]] = 1
    return _within(columns, _numbered([each.output for each in scores]))


def _numbered(names: Sequence[Hashable]) -> "Positions":
    import numpy as np

    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


def _within(columns: "Floats", groups: "Positions") -> "Floats":
    """The columns less their means over each group: what is left once every group has an effect of its own."""
    import numpy as np

    sums = np.zeros((int(groups.max()) + 1, columns.shape[1]))
    np.add.at(sums, groups, columns)
    left: Floats = columns - (sums / np.bincount(groups)[:, None])[groups]
    return left


def _identified(design: "Floats", at: int) -> bool:
    """Whether a column is more than a combination of the others."""
    import numpy as np

    others, column = np.delete(design, at, axis=1), design[:, at]
    left = column - others @ np.linalg.lstsq(others, column, rcond=None)[0] if others.size else column
    return bool(np.linalg.norm(left) > _TOLERANCE * max(1.0, float(np.linalg.norm(column))))


def _fitted(
    scores: Sequence[JudgedScore], judges: Sequence[str], groups: Sequence[tuple[str, ...]]
) -> list[SelfPreference]:
    """The least-squares fit, the effects of outputs taken out first (Frisch, Waugh and Lovell)."""
    import numpy as np

    design = _design(scores, judges, groups)
    outputs, questions = (_numbered([getattr(each, name) for each in scores]) for name in ("output", "question"))
    given = _within(np.array([[each.score] for each in scores], dtype=float), outputs)[:, 0]
    inverse = np.linalg.pinv(design.T @ design, hermitian=True)
    effects = inverse @ design.T @ given
    # What is left of zero after rounding has either sign, by the machine's own order of additions.
    effects[np.abs(effects) < _TOLERANCE] = 0.0
    residuals = given - design @ effects
    clusters = int(questions.max()) + 1
    meat = np.zeros((clusters, design.shape[1]))
    np.add.at(meat, questions, design * residuals[:, None])
    bread = meat @ inverse
    correction = clusters / (clusters - 1) if clusters > 1 else 1.0
    errors = np.sqrt(correction * (bread**2).sum(axis=0))
    exact = float(np.abs(residuals).max()) < _TOLERANCE
    found = []
    for at, group in enumerate(groups, len(judges) - 1):
        own = [each for each in scores if each.own and each.judge in group]
        there, asked = len({each.output for each in own}), len({each.question for each in own})
        gamma = None
        if _identified(design, at):
            gamma = _estimate(float(effects[at]), float(errors[at]), (there, asked, clusters), exact=exact)
        found.append(SelfPreference(group, gamma, there, asked))
    return found


def _estimate(value: float, error: float, sizes: tuple[int, int, int], *, exact: bool) -> Estimate:
    from scipy.special import stdtrit

    outputs, own_questions, clusters = sizes
    if own_questions < FEWEST_QUESTIONS:
        return Estimate(
            value, -inf, inf, outputs, f"{own_questions} questions: no interval below {FEWEST_QUESTIONS}", clusters
        )
    if exact or error == 0:
        return Estimate(value, -inf, inf, outputs, "the model fits every score: no interval", clusters)
    reach = float(stdtrit(clusters - 1, 0.975)) * error
    method = f"output and judge effects, CR1 by question, t 95%, {clusters:,} questions"
    return Estimate(value, value - reach, value + reach, outputs, method, clusters)
