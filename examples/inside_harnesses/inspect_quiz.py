"""A task of Inspect that asks in a contract's words and is scored by it.

inspect eval examples/inside_harnesses/inspect_quiz.py --model openai-api/local/tiny --model-base-url http://127.0.0.1:8000/v1
"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.solver import generate

from affidavit.integrations.inspect import contract_prompt, contract_scorer

QUESTIONS = Path(__file__).parents[1] / "demo_questions.jsonl"


@task
def quiz(contract: str = "mcqa") -> Task:
    """Forty questions with four options each."""
    fields = FieldSpec(id="id", input="question", choices="options", target="answer")
    return Task(
        dataset=json_dataset(str(QUESTIONS), fields),
        solver=[contract_prompt(contract), generate()],
        scorer=contract_scorer(contract),
    )
