"""What is odd in the parameters of a task's contract, and allowed: said before anything is asked."""

from collections.abc import Iterator, Mapping

from affidavit.contracts.parts import parts_of
from affidavit.study.task import Task


def contract_notes(tasks: Mapping[str, Task]) -> Iterator[str]:
    """What a person is told of each task's contract."""
    for name, task in tasks.items():
        yield from (f"tasks.{name}: {note}" for note in parts_of(task.contract).parameter_notes())
