"""A table of a report that a contract declares: which of its fields are counted by their values, and of how many.

It is data, so that it can be frozen with a study: reports and pages are made without the contract's code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from affidavit.json_values import Fields

SHARES = ("", "arrived", "compliant", "non-compliant")
"""What counts may stand over: nothing, all outputs that were read, those of them that are compliant or are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTable:
    """A table of a report, declared: how often outputs have each value of some of the contract's fields.

    Rows are the values of `fields` that occur; an output whose first field is null is in none. With a `share`,
    each count stands over the outputs that were read (`"arrived"`), or over those of them that are compliant
    (`"compliant"`) or not compliant (`"non-compliant"`) and then counts these alone, as a share with its interval.

    >>> CountTable(name="styles", question="How do they write?", fields=("style",), share="arrived").share
    'arrived'
    >>> CountTable(name="styles", question="How do they write?", fields=("style",), share="all")
    Traceback (most recent call last):
    ValueError: a CountTable has '', 'arrived', 'compliant' or 'non-compliant' in share, not 'all'
    """

    name: str
    question: str
    fields: tuple[str, ...]
    share: str = ""
    only_non_compliant: bool = False
    explains: tuple[str, ...] | None = ()
    """The values of the first field that say why an output is not compliant; None: all of them."""

    def __post_init__(self) -> None:
        for part in ("name", "question"):
            if not _is_line(words := getattr(self, part)):
                raise _wrong("a line of text", part, words)
        if not _are_texts(self.fields) or not self.fields or len(set(self.fields)) < len(self.fields):
            raise _wrong("a tuple of different field names", "fields", self.fields)
        if self.share not in SHARES:
            raise _wrong("'', 'arrived', 'compliant' or 'non-compliant'", "share", self.share)
        if not isinstance(self.only_non_compliant, bool):
            raise _wrong("True or False", "only_non_compliant", self.only_non_compliant)
        if self.explains is not None and not _are_texts(self.explains):
            raise _wrong("a tuple of texts, or None,", "explains", self.explains)
        # A count over non-compliant outputs that holds others too is no share of them, and explains none of them.
        if not self.only_non_compliant and (self.share == "non-compliant" or self.explains is None):
            expected = "True where non-compliant outputs are explained or shared out"
            raise _wrong(expected, "only_non_compliant", self.only_non_compliant)
        if self.only_non_compliant and self.share == "compliant":
            raise _wrong("False where compliant outputs are shared out", "only_non_compliant", True)  # noqa: FBT003

    def declared(self) -> Fields:
        """The table as JSON values, as it is frozen with a study."""
        return {
            "name": self.name,
            "question": self.question,
            "fields": list(self.fields),
            "share": self.share,
            "only_non_compliant": self.only_non_compliant,
            "explains": None if self.explains is None else list(self.explains),
        }

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> "CountTable":
        """The table whose `declared` this is; a ValueError or TypeError for anything else."""
        explains = declared.get("explains")
        lists = {"fields": tuple(declared["fields"]), "explains": None if explains is None else tuple(explains)}
        return cls(**{**declared, **lists})


def _wrong(expected: str, part: str, found: object) -> ValueError:
    return ValueError(f"a CountTable has {expected} in {part}, not {found!r}")


def _is_line(words: object) -> bool:
    return isinstance(words, str) and bool(words.strip()) and words.isprintable()


def _are_texts(values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, str) for value in values)
