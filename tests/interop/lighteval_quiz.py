"""Loaded by lighteval, in its own environment: small tasks over the items in a folder `items` beside the run."""

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

PASS = Metrics.pass_at_k(sample_params={"k": 1, "n": 2})


def ask(item: dict, task_name: str) -> Doc:
    return Doc(
        query=item["question"],
        choices=["A", "B", "C", "D"],
        gold_index=1,
        task_name=task_name,
        specific={"subject": item["subject"]},
    )


def quiz(name: str, metrics: list) -> LightevalTaskConfig:
    return LightevalTaskConfig(
        name=name,
        prompt_function=ask,
        hf_repo="items",
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=metrics,
        generation_size=64,
        stop_sequence=["END"],
    )


TASKS_TABLE = [
    quiz("once", [Metrics.exact_match]),
    quiz("twice", [Metrics.exact_match, PASS]),
]
