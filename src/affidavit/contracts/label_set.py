"""A closed set of labels: what the inside of an answer block says in them, and what a right answer may be.

>>> topics = KnownLabels(("art", "economy", "sport"), none="none")
>>> topics.said("sport, art"), topics.said("none"), topics.said("weather")
(('art', 'sport'), (), <LabelDeviation.UNKNOWN_LABEL: 'unknown_label'>)
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase

from affidavit.errors import ParameterError
from affidavit.json_values import shown

SEPARATOR = ", "
"""What stands between the labels of an answer as it is recorded."""
LONGEST = 10_000
"""Characters of all labels and the word for none together: a record never cuts an answer (ruling L1)."""
_FORBIDDEN = re.compile("[,<\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ud800-\udfff]")
"""Where an entry or a block would end, line breaks, other control characters, halves of surrogate pairs."""
# Of ASCII alone: what is the same letter beyond it changes with the versions of Unicode (ruling L4).
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_A_LABEL = "without comma, '<', line breaks and blanks around it"


class LabelDeviation(StrEnum):
    """What an output that is not compliant did instead; the first that applies (ruling L4)."""

    EMPTY = "empty"
    ONLY_REASONING = "only_reasoning"
    TAG_IN_WRONG_CASE = "tag_in_wrong_case"
    UNCLOSED_TAG = "unclosed_tag"
    UNOPENED_TAG = "unopened_tag"
    NO_BLOCK = "no_block"
    TEXT_AFTER = "text_after"
    EMPTY_SET = "empty_set"
    EMPTY_LABEL = "empty_label"
    UNKNOWN_LABEL = "unknown_label"
    WRONG_CASE = "wrong_case"
    NONE_AND_LABELS = "none_and_labels"
    REPEATED_LABEL = "repeated_label"
    SEVERAL_LABELS = "several_labels"


@dataclass(frozen=True)
class KnownLabels:
    """The labels in their order, the word for none of them, and whether an answer is exactly one (ruling L1)."""

    labels: tuple[str, ...]
    none: str = ""
    """Empty: the empty set cannot be answered."""
    single: bool = False

    @classmethod
    def of(cls, labels: object, none: object = "", single: object = False) -> "KnownLabels":  # noqa: FBT002 - a value to be checked, whatever it is
        """The labels that these parameters mean; an InputError at the name of the first that does not fit.

        >>> KnownLabels.of(["art", "sport", "art"])
        Traceback (most recent call last):
        affidavit.errors.ParameterError: parameters.labels: expected every label once, found "art" twice
        """
        texts = _labels(labels)
        if not isinstance(single, bool):
            raise _refused("single", "true or false", single)
        if not isinstance(none, str) or (none and not _is_label(none)):
            raise _refused("none", f"a word {_A_LABEL}, or an empty text", none)
        if none in texts:
            raise _refused("none", "a word that is not one of the labels", none)
        if none and single:
            hint = "Exactly one label is asked for: make the word for none one of the labels."
            raise _refused("none", "an empty text where 'single' is true", none, hint)
        if none and (length := len(SEPARATOR.join((*texts, none)))) > LONGEST:
            expected = f"labels and a word for none of at most {LONGEST:,} characters together"
            raise ParameterError("none", expected=expected, found=f"{length:,}")
        return cls(texts, none, single)

    @cached_property
    def _entries(self) -> frozenset[str]:
        return frozenset((*self.labels, self.none)) if self.none else frozenset(self.labels)

    @cached_property
    def _in_any_case(self) -> frozenset[str]:
        return frozenset(entry.translate(_LOWER) for entry in self._entries)

    def said(self, content: str) -> "tuple[str, ...] | LabelDeviation":
        """The set that the trimmed content of a block names, in the order of the labels (L3), or why none."""
        if not content:
            return LabelDeviation.EMPTY_SET
        entries = content.split(",")
        if not all(map(str.strip, entries)):
            return LabelDeviation.EMPTY_LABEL
        different = self._different(entries)
        if different is None:
            return LabelDeviation.UNKNOWN_LABEL
        if not different <= self._entries:
            return LabelDeviation.WRONG_CASE
        if self.none in different:
            return () if len(entries) == 1 else LabelDeviation.NONE_AND_LABELS
        if len(different) < len(entries):
            return LabelDeviation.REPEATED_LABEL
        if self.single and len(entries) > 1:
            return LabelDeviation.SEVERAL_LABELS
        return self.ordered(different)

    def _different(self, entries: Sequence[str]) -> set[str] | None:
        """The different entries, trimmed; None if one of them is unknown in any case.

        Each is looked at once, for models that lose their way write one label a thousand times; and none after the
        first that is unknown, as others write a thousand labels.
        """
        seen, different = set[str](), set[str]()
        for entry in entries:
            if entry not in seen:
                label = entry.strip()
                if label not in self._entries and label.translate(_LOWER) not in self._in_any_case:
                    return None
                seen.add(entry)
                different.add(label)
        return different

    def ordered(self, labels: Collection[str]) -> tuple[str, ...]:
        """Those of the labels that are among these, in their own order."""
        return tuple(label for label in self.labels if label in labels)

    def written(self, labels: Sequence[str]) -> str:
        """A set as it is recorded (ruling L3).

        >>> KnownLabels(("art", "sport"), none="none").written([])
        'none'
        """
        return SEPARATOR.join(labels) if labels else self.none

    def right(self, answer: object) -> tuple[str, ...] | None:
        """The set that a right answer is, a list or a text (ruling L5); None if no output could ever give it.

        >>> topics = KnownLabels(("art", "sport"))
        >>> topics.right(["sport", "art"]), topics.right("sport"), topics.right([]), topics.right("weather")
        (('art', 'sport'), ('sport',), None, None)
        >>> topics.right('["sport", "art"]')
        ('art', 'sport')
        """
        if isinstance(answer, str):
            said = self.said(answer.strip())
            if not isinstance(said, LabelDeviation):
                return said
            answer = json_list(answer)
        if not isinstance(answer, list) or not all(isinstance(label, str) for label in answer):
            return None
        known = set(answer) <= set(self.labels) and len(set(answer)) == len(answer)
        enough = len(answer) == 1 if self.single else bool(answer or self.none)
        return self.ordered(answer) if known and enough else None


def json_list(text: str) -> list[object] | None:
    """The list that a text is as JSON, as cells of tables have it; None for any other text.

    >>> json_list('["art", "sport"]'), json_list("[art]"), json_list("art")
    (['art', 'sport'], None, None)
    """
    if not text.lstrip().startswith("["):
        return None
    try:
        value: list[object] = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _labels(given: object) -> tuple[str, ...]:
    """The labels of a parameter (ruling L1)."""
    if not isinstance(given, list | tuple) or not given:
        say = [("labels", ["bug", "question"])]
        raise ParameterError(
            "labels",
            expected="a list of one or more labels",
            found=shown(given),
            hint="Say which there are: {}.",
            say=say,
        )
    before: set[str] = set()
    for label in given:
        if not isinstance(label, str) or not _is_label(label):
            raise _refused("labels", f"texts {_A_LABEL}", label)
        if label in before:
            raise ParameterError("labels", expected="every label once", found=f"{shown(label)} twice")
        before.add(label)
    if (length := len(SEPARATOR.join(given))) > LONGEST:
        expected = f"labels of at most {LONGEST:,} characters together"
        raise ParameterError("labels", expected=expected, found=f"{length:,}")
    return tuple(given)


def _is_label(text: str) -> bool:
    """Whether a text can be read as one entry of a block."""
    return text == text.strip() != "" and _FORBIDDEN.search(text) is None


def _refused(name: str, expected: str, found: object, hint: str = "") -> ParameterError:
    return ParameterError(name, expected=expected, found=shown(found), hint=hint)
