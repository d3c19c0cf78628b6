"""What is odd in a contract's parameters is said with the task that has it."""

from affidavit import JsonObject, mcqa
from affidavit.study.contract_notes import contract_notes
from affidavit.study.task import Task


def test_each_task_is_named_that_has_something_odd():
    contracts = {"events": JsonObject({"city": "Rome"}), "quiz": mcqa, "any": JsonObject()}
    tasks = {name: Task(name, contract, 1, {}) for name, contract in contracts.items()}
    (note,) = contract_notes(tasks)
    assert note.startswith("tasks.events: the schema has keywords that JSON Schema does not know: city;")
