"""LLM evaluation on the record.

    >>> from affidavit import mcqa
    >>> mcqa.read("<answer>B</answer>").extracted_answer
    'B'

`open_study`, `run_study`, `judge_study`, `read_frame`, `compare`, `gate` and `verify` are for Python what the
commands are for the terminal; docs/python.md shows them. Names are loaded when they are first used: a program pays
for what it names.
"""

import sys as _sys
from importlib import import_module as _import_module

TYPE_CHECKING = False  # without loading `typing`, which takes longer than all of this
if TYPE_CHECKING:
    from affidavit import statistics
    from affidavit.contracts.choice_readings import AfterThink, LastTag
    from affidavit.contracts.contract import AnswerKey, AnswerReading, Contract, Reading, Span, Validation, label
    from affidavit.contracts.count_table import CountTable
    from affidavit.contracts.evaluation import Asked
    from affidavit.contracts.game24 import Hand, game24
    from affidavit.contracts.json_object import JsonObject, json_object
    from affidavit.contracts.judge import Judge, judge
    from affidavit.contracts.labels import LabelSet
    from affidavit.contracts.mcqa import MultipleChoice, mcqa
    from affidavit.contracts.mcqa_reasoned import ReasonedChoice, mcqa_reasoned
    from affidavit.contracts.number import Number, number
    from affidavit.contracts.pattern import Pattern
    from affidavit.contracts.quotes import locate
    from affidavit.contracts.rubric import Rubric
    from affidavit.contracts.text import text
    from affidavit.errors import AffidavitError, InputError, LockedError, MistakesError, StorageError, UsageError
    from affidavit.interface import (
        Results,
        Study,
        audit,
        compare,
        gate,
        judge_study,
        open_study,
        read_frame,
        run_study,
        verify,
    )
    from affidavit.results.gate import GateResult
    from affidavit.results.table import Table
    from affidavit.running.verify import Verified

__version__ = "0.1.0"

_HOME = {
    "affidavit.contracts.contract": (
        "AnswerKey", "AnswerReading", "Contract", "Reading", "Span", "Validation", "label",
    ),
    "affidavit.contracts.count_table": ("CountTable",),
    "affidavit.contracts.game24": ("Hand", "game24"),
    "affidavit.contracts.evaluation": ("Asked",),
    "affidavit.contracts.json_object": ("JsonObject", "json_object"),
    "affidavit.contracts.judge": ("Judge", "judge"),
    "affidavit.contracts.labels": ("LabelSet",),
    "affidavit.contracts.choice_readings": ("AfterThink", "LastTag"),
    "affidavit.contracts.mcqa": ("MultipleChoice", "mcqa"),
    "affidavit.contracts.mcqa_reasoned": ("ReasonedChoice", "mcqa_reasoned"),
    "affidavit.contracts.number": ("Number", "number"),
    "affidavit.contracts.pattern": ("Pattern",),
    "affidavit.contracts.text": ("text",),
    "affidavit.contracts.quotes": ("locate",),
    "affidavit.contracts.rubric": ("Rubric",),
    "affidavit.errors": (
        "AffidavitError", "InputError", "LockedError", "MistakesError", "StorageError", "UsageError",
    ),
    "affidavit.interface": (
        "Results", "Study", "audit", "compare", "gate", "judge_study", "open_study", "read_frame", "run_study",
        "verify",
    ),
    "affidavit.results.gate": ("GateResult",),
    "affidavit.results.table": ("Table",),
    "affidavit.running.verify": ("Verified",),
}  # fmt: skip
_ON_ANY_SYSTEM = ("affidavit.contracts.", "affidavit.errors")
"""Whose names load everywhere; what keeps, locks and asks needs a POSIX system."""
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AffidavitError", "AfterThink", "AnswerKey", "AnswerReading", "Asked", "Contract", "CountTable",
    "GateResult", "Hand", "InputError", "JsonObject", "Judge", "LabelSet", "LastTag", "LockedError",
    "MistakesError", "MultipleChoice", "Number", "Pattern", "Reading", "ReasonedChoice", "Results", "Rubric",
    "Span", "StorageError", "Study", "Table", "UsageError", "Validation", "Verified", "audit", "compare", "game24",
    "gate", "json_object", "judge", "judge_study", "label", "locate", "mcqa", "mcqa_reasoned", "number",
    "open_study", "read_frame", "run_study", "statistics", "text", "verify",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "statistics":
        return _import_module("affidavit.statistics")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'affidavit' has no attribute {name!r}")
    if _sys.platform == "win32" and not _MODULE_OF[name].startswith(_ON_ANY_SYSTEM):
        raise _import_module("affidavit.errors").not_posix()
    value: object = getattr(_import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
