"""LLM evaluation on the record.

    >>> from affidavit import mcqa
    >>> mcqa.read("<answer>B</answer>").extracted_answer
    'B'

The public names are loaded when they are first used: a program pays for the contracts it names.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affidavit.contracts.contract import AnswerKey, AnswerReading, Contract, Reading, Span, Validation, label
    from affidavit.contracts.count_table import CountTable
    from affidavit.contracts.evidence import locate
    from affidavit.contracts.game24 import Hand, game24
    from affidavit.contracts.judge import Asked, Judge, judge
    from affidavit.contracts.mcqa import AfterThink, LastTag, MultipleChoice, mcqa
    from affidavit.contracts.pattern import Pattern
    from affidavit.contracts.rubric import Rubric
    from affidavit.contracts.text import text

__version__ = "0.1.0"

_HOME = {
    "affidavit.contracts.contract": (
        "AnswerKey", "AnswerReading", "Contract", "Reading", "Span", "Validation", "label",
    ),
    "affidavit.contracts.count_table": ("CountTable",),
    "affidavit.contracts.game24": ("Hand", "game24"),
    "affidavit.contracts.judge": ("Asked", "Judge", "judge"),
    "affidavit.contracts.mcqa": ("AfterThink", "LastTag", "MultipleChoice", "mcqa"),
    "affidavit.contracts.pattern": ("Pattern",),
    "affidavit.contracts.text": ("text",),
    "affidavit.contracts.evidence": ("locate",),
    "affidavit.contracts.rubric": ("Rubric",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AfterThink", "AnswerKey", "AnswerReading", "Asked", "Contract", "CountTable", "Hand", "Judge", "LastTag",
    "MultipleChoice", "Pattern", "Reading", "Rubric", "Span", "Validation", "game24", "judge", "label",
    "locate", "mcqa", "text",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'affidavit' has no attribute {name!r}")
    value: object = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
