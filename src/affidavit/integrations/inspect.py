"""A contract in Inspect: `contract_prompt` asks in its words, `contract_scorer` reads the outputs.

    from affidavit.integrations.inspect import contract_prompt, contract_scorer

    Task(dataset=..., solver=[contract_prompt("mcqa"), generate()], scorer=contract_scorer("mcqa"))

Its metrics are `compliance`, `accuracy_over_answers` and `accuracy_over_all_outputs`, over every sample and epoch.
Each gives its value, the ends of its interval, and its n. Inspect knows all of these names as soon as one of them
is imported from here; until then nothing of Inspect is imported.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from affidavit.contracts.contract import AnyContract
from affidavit.errors import UsageError
from affidavit.integrations.contract_words import contract_words
from affidavit.integrations.figures import FIGURES
from affidavit.integrations.given_contract import given_contract
from affidavit.integrations.inspect_samples import Sample, figure, place_of, row_of, score_of
from affidavit.python_words import for_python
from affidavit.reading.rows import RowReader

if TYPE_CHECKING:
    from inspect_ai.scorer import Metric, Score, Scorer
    from inspect_ai.solver import Solver

    compliance: Callable[[], Metric]
    accuracy_over_answers: Callable[[], Metric]
    accuracy_over_all_outputs: Callable[[], Metric]
    contract_scorer: Callable[..., Scorer]
    contract_prompt: Callable[..., Solver]

SCORER, SOLVER = "contract_scorer", "contract_prompt"


def __getattr__(name: str) -> object:
    if name not in (*FIGURES, SCORER, SOLVER):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _registered()[name]


@cache
def _registered() -> dict[str, object]:
    """Everything here by its name, as Inspect has it in its registry."""
    try:
        from inspect_ai import scorer as scorers  # noqa: PLC0415 - no dependency: it is who calls this
        from inspect_ai import solver as solvers  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UsageError(
            __name__,
            expected="Inspect in this environment",
            found=f"no module {error.name}",
            hint="Install the package inspect_ai beside this one.",
        ) from error
    metrics = {name: scorers.metric(name=name, scores="unreduced")(_metric_of(name)) for name in FIGURES}
    return {
        **metrics,
        SCORER: scorers.scorer(metrics=[made() for made in metrics.values()], name=SCORER)(_scorer),
        SOLVER: solvers.solver(name=SOLVER)(_solver),
    }


def _metric_of(name: str) -> "Callable[[], Metric]":
    def made() -> "Metric":
        # Inspect looks at the type of the scores: to metrics of its first kind it does not give the samples' ids.
        def metric(scores: list[Any]) -> dict[str, float]:
            return figure(name, scores)

        return metric

    return made


@for_python
def _scorer(
    contract: str | AnyContract,
    options: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> "Scorer":
    """A scorer that reads outputs by this contract.

    `contract` is a name (mcqa, number, "my_file.py:name" ...) or a contract; `options` is the option set of
    multiple choice, such as "A-E", or "auto"; `parameters` are those of a contract that is named.
    """
    reader = RowReader(given_contract(contract, options, parameters))

    async def score(state: Sample, _target: object) -> "Score":
        from inspect_ai.scorer import Score  # noqa: PLC0415

        said = score_of(reader, state)
        return Score(
            value=said.value,
            answer=said.answer,
            explanation=said.explanation,
            reason=said.reason,
            metadata=said.metadata,
        )

    return score


@for_python
def _solver(
    contract: str | AnyContract,
    options: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> "Solver":
    """A solver that puts a sample to the model in the words of this contract, in place of the sample's own."""
    asked = given_contract(contract, options, parameters)

    async def solve(state: Any, _generate: object) -> Any:  # noqa: ANN401 - Inspect's own type
        state.user_prompt.text = contract_words(asked, row_of(state), where=place_of(state))
        return state

    return solve
