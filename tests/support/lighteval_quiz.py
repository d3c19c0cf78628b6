"""Loaded by lighteval, in its own environment: small tasks over the items in a folder `items` beside the run."""

from typing import Any


def ask(item: dict, task_name: str) -> Any:
    from lighteval.tasks.requests import Doc  # noqa: PLC0415 - not in the environment of tests

    return Doc(
        query=item["question"],
        choices=["A", "B", "C", "D"],
        gold_index=1,
        task_name=task_name,
        specific={"subject": item["subject"]},
    )


def tasks() -> list[Any]:
    from lighteval.metrics.metrics import Metrics  # noqa: PLC0415
    from lighteval.tasks.lighteval_task import LightevalTaskConfig  # noqa: PLC0415

    metrics = {
        "once": [Metrics.exact_match],
        "twice": [Metrics.exact_match, Metrics.pass_at_k(sample_params={"k": 1, "n": 2})],
    }
    return [
        LightevalTaskConfig(
            name=name,
            prompt_function=ask,
            hf_repo="items",
            hf_subset="default",
            hf_avail_splits=["test"],
            evaluation_splits=["test"],
            metrics=of_task,
            generation_size=64,
            stop_sequence=["END"],
        )
        for name, of_task in metrics.items()
    ]


def __getattr__(name: str) -> list[Any]:
    """The tasks, by the name under which lighteval looks for them; only it can make them."""
    if name == "TASKS_TABLE":
        return tasks()
    raise AttributeError(name)
