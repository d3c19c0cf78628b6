"""Contracts by the names that people type: `mcqa`, `game24`, `judge`, `text`, or `my_file.py:name`."""

import sys
from contextlib import redirect_stdout

from affidavit.contracts.game24 import game24
from affidavit.contracts.judge import judge
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.contracts.text import text
from affidavit.errors import UsageError, did_you_mean
from affidavit.rows import AnyContract
from affidavit.user_contract import load_contract

BUILT_IN = ("mcqa", "game24", "judge", "text")


def contract_named(name: str, options: str | None = None) -> AnyContract:
    """The contract of this name; only multiple choice has an option set."""
    if options is not None and name != "mcqa":
        raise UsageError("--options", expected="the contract mcqa", found=name)
    if name == "mcqa":
        return MultipleChoice("A-D" if options is None else options)
    built_in: dict[str, AnyContract] = {"game24": game24, "judge": judge, "text": text}
    if name in built_in:
        return built_in[name]
    if ":" in name:
        with redirect_stdout(sys.stderr):  # whatever the file prints is no result of ours
            return load_contract(name)
    raise UsageError(
        "CONTRACT",
        expected="mcqa, game24, judge, text or my_file.py:name",
        found=repr(name),
        hint=did_you_mean(name, BUILT_IN),
    )


def task_contract_named(name: str, options: str) -> AnyContract:
    """The contract of a study's task."""
    return contract_named(name, options if name == "mcqa" else None)
