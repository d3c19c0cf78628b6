"""What other harnesses would have read in the same outputs, each by the rule of one version of it (ruling M24).

The rules are theirs, with their oddities; the code is ours, and linear where theirs is not (ruling C4). Each is a
contract of its own, named after its source and version. Outputs were asked for by our protocol and not by theirs:
what they read here says how much a figure depends on who reads, and nothing about a harness with its own prompts.

    >>> from affidavit import mcqa
    >>> raw = "The answer is (B).\\n\\nANSWER: b"
    >>> {lens.name: lens.read(raw).extracted_answer for lens in harness_readings_of(mcqa) if lens.name[0] in "is"}
    {'inspect-choice-0.3.285': 'B', 'simple-evals-9e2fafd': 'b'}
"""

import re
import string
import unicodedata
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, ClassVar

from affidavit.contracts.answer_word import matches_at_answer
from affidavit.contracts.choice_readings import Lens, StrictChoice
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.first_option import first_option
from affidavit.contracts.parts import FieldType
from affidavit.contracts.punctuation import without_punctuation
from affidavit.json_values import Fields


class NoAnswer(StrEnum):
    """Why the rule of another harness gives no answer (ruling M24)."""

    NOTHING_FOUND = "nothing_found"
    SEVERAL_LETTERS = "several_letters"
    OPTIONS_UNKNOWN = "options_unknown"


@dataclass(frozen=True, slots=True)
class HarnessReading:
    """What another harness would compare with the key, or why there is nothing: exactly one of the two is there.

    It has no place in the text: most rules look at an edited copy.
    """

    extracted_answer: str | None
    no_answer: NoAnswer | None

    @property
    def protocol_compliant(self) -> bool:
        """An answer was read."""
        return self.no_answer is None

    def fields(self) -> Fields:
        """The answer, and why there is none, by their names."""
        return {"extracted_answer": self.extracted_answer, "no_answer": self.no_answer}


def _reading(answer: str | None, otherwise: NoAnswer = NoAnswer.NOTHING_FOUND) -> HarnessReading:
    return HarnessReading(answer, otherwise if answer is None else None)


@dataclass(frozen=True)
class HarnessLens(Lens):
    """What the readings of other harnesses share."""

    source: ClassVar[str]
    """Whose rule it is, and of which version."""

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The answer, or why there is none; `correct` where the row has a key."""
        added: dict[str, FieldType] = {"extracted_answer": str, "no_answer": str}
        return {**added, "correct": bool} if "answer" in row else added


# --- Inspect ---


@dataclass(frozen=True)
class InspectChoice(HarnessLens):
    """inspect-choice-0.3.285/1: what Inspect's `multiple_choice` takes from a text for `choice()` (ruling M25).

    >>> from affidavit import mcqa
    >>> InspectChoice(mcqa).read("Answer: A?\\nANSWER: **b**.").extracted_answer
    'B'
    """

    name: str = field(default="inspect-choice-0.3.285", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "What Inspect 0.3.285 takes from an output."
    rulings: ClassVar[str] = "M24-M25"
    passing: ClassVar[str] = "ANSWER: B"
    failing: ClassVar[str] = "The answer is B."
    source = "inspect_ai 0.3.285, one answer allowed"

    def read(self, raw: str, item: object = None, /) -> HarnessReading:
        """The letter of the last `ANSWER:`, in either case, if it is one letter of the set."""
        if ":" not in raw:
            return _reading(None)
        bare = _IN_DOLLARS.sub(r"\1", raw) if "$" in raw else raw
        bare = _IN_STARS.sub(r"\1", bare) if "**" in bare else bare
        bare = _without_parentheses(bare) if "(" in bare else bare
        found = _last_body(_ON_A_LINE, bare)
        body = _last_body(_ANYWHERE, bare) if found is None else found
        tokens = [each for each in (body or "").strip().upper().split(",") if each]
        alone = len(tokens) == 1 and len(tokens[0]) == 1 and tokens[0] in self.choice.letters
        return _reading(tokens[0] if alone else None)


_BODY = r"([A-Za-z\d][A-Za-z\d,]*+(?: ++[A-Za-z\d,]++)*+)"
"""Letters, digits, commas and blanks, from a letter or digit to the last that is no blank: the source finds
the same by trying ever longer ones."""
_IN_DOLLARS = re.compile(rf"\$\s*+{_BODY}\s*+\$")
_IN_STARS = re.compile(rf"\*\*\s*+{_BODY}\s*+\*\*")
_IN_PARENTHESES = re.compile(r"\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))", re.IGNORECASE)
r"""The end of `(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|$))`: what stands before is
looked at where this is found."""
_ON_A_LINE = re.compile(
    r"^ANSWER\s*+:(?:\s*+([A-Za-z\d,][A-Za-z\d ,]*+)(?=\s*+(?:\Z|\.)|[^\S\n]*+\n)"
    r"|(?=[^\S ]*+ (?:[^\S\n]*+\n|\s*+(?:\Z|\.))))",
    re.IGNORECASE | re.MULTILINE,
)
r"""What `^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)` finds, in one way. Where that pattern finds nothing else, it
takes a blank for the answer: that is an answer too, and no letter."""
_ANYWHERE = re.compile(
    r"ANSWER\s*+:(?:\s*+([A-Za-z\d,][A-Za-z\d ,]*)(?!\w)|(?=\s* (?!\w)))",
    re.IGNORECASE,
)
r"""The same of `ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)`; where a word goes on in other letters, both go
back to the last blank or comma."""


def _without_parentheses(text: str) -> str:
    """The text without the parentheses of single letters and digits, where a list of answers may have them."""

    def bare(found: re.Match[str]) -> str:
        at = found.start()
        while at and text[at - 1].isspace():
            at -= 1
        return found[1] if not at or text[at - 1] in ":," else found[0]

    return _IN_PARENTHESES.sub(bare, text)


def _last_body(form: re.Pattern[str], text: str) -> str | None:
    """What the last match captures, empty if that is a blank; None without a match."""
    last = deque(matches_at_answer(form, text), maxlen=1)
    return last[0][1] or "" if last else None


# --- the LM evaluation harness ---


@dataclass(frozen=True, slots=True)
class KeyAndOptions:
    """The right answer to an item, and the texts of its options as they were shown; None if unknown."""

    answer: str | None
    options: tuple[str, ...] | None


@dataclass(frozen=True)
class LmEvalFlexible(HarnessLens):
    """lm-eval-flexible-0.4.13/1: `flexible-extract` of `mmlu_flan_cot_zeroshot` (ruling M26).

    >>> from affidavit import mcqa
    >>> item = KeyAndOptions("B", ("Rome", "Paris", "Oslo", "Bern"))
    >>> LmEvalFlexible(mcqa).read("It is Paris, of course.", item).extracted_answer
    'B'
    >>> LmEvalFlexible(mcqa).read("It is Paris, of course.").no_answer
    <NoAnswer.OPTIONS_UNKNOWN: 'options_unknown'>
    """

    name: str = field(default="lm-eval-flexible-0.4.13", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "What lm-evaluation-harness 0.4.13 takes by flexible extraction."
    rulings: ClassVar[str] = "M24, M26"
    passing: ClassVar[str] = "The answer is (B)."
    failing: ClassVar[str] = "The answer is B."
    source = "lm_eval 0.4.13, flexible-extract of mmlu_flan_cot_zeroshot"
    item_fields = ("answer", "options")
    needs_to_know = "option texts in `options`"

    @property
    def params(self) -> Mapping[str, object]:
        """The option set, and the version of Unicode that says what punctuation is (ruling C3)."""
        return {**super().params, "unicode": unicodedata.unidata_version}

    def item(self, row: Fields, *, where: str) -> KeyAndOptions:  # type: ignore[override]
        """The key, and the options if they are as many texts as the set has letters."""
        options, known = row.get("options"), None
        if isinstance(options, list) and len(options) == len(self.choice.letters):
            known = tuple(each for each in options if isinstance(each, str))
        key = super().item(row, where=where)
        return KeyAndOptions(key.answer, known if known and len(known) == len(self.choice.letters) else None)

    def knows_enough(self, item: Any) -> bool:  # noqa: ANN401
        """Whether the options' texts are known, without which nobody can say what it would read."""
        return isinstance(item, KeyAndOptions) and item.options is not None

    def read(self, raw: str, item: object = None, /) -> HarnessReading:
        """The last letter in parentheses; else the last option whose text occurs; else the last after a colon."""
        if not isinstance(item, KeyAndOptions) or item.options is None:
            return _reading(None, NoAnswer.OPTIONS_UNKNOWN)
        found = _last_in_parentheses(raw) or _last_option_text(raw, item.options)
        if found is None and ":" in raw:
            after = _after_colon(self.choice.options).findall(raw)
            found = after[-1] if after else None
        # The source compares without case and ASCII punctuation: what is left of a text may be a letter too.
        said = "" if found is None else found.lower().translate(_NO_PUNCTUATION)
        alone = len(said) == 1 and said in self.choice.letters.lower()
        return _reading(said.upper() if alone else None)


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LETTER_IN_PARENTHESES = re.compile(r"\([A-Z]\)")


def _last_in_parentheses(raw: str) -> str | None:
    """The last capital in parentheses, in any option set."""
    found = _LETTER_IN_PARENTHESES.findall(raw) if "(" in raw else ()
    return found[-1] if found else None


def _last_option_text(raw: str, options: Sequence[str]) -> str | None:
    """The letter of the option whose text occurs last, without case and punctuation; the longest of several there.

    An option of which nothing is left occurs everywhere, so that none is the last. One with a blank at its end
    loses the blank and is no option any more: then its text is the answer.
    """
    texts = _plain_options(tuple(options))
    plain = without_punctuation(raw.lower())
    there = () if "" in texts else tuple(text for text in texts if text in plain)
    if not there:
        return None
    text = _last_match(there, plain).strip()
    return texts.get(text, text) or None


def _last_match(texts: tuple[str, ...], plain: str) -> str:
    """The last match of a pattern of these alternatives, each of which is in the text somewhere.

    Matches do not overlap, so an earlier one may take away what a later one begins with. Going back from the last
    place where any of them begins, what stands before matters only as long as another begins within reach.
    """
    longest, starts = max(map(len, texts)), [max(map(plain.rfind, texts))]
    while (before := max(_last_before(starts[-1], longest, text, plain) for text in texts)) >= 0:
        starts.append(before)
        if len(starts) > _MOST_STEPS_BACK:
            return str(_alternatives(texts).findall(plain)[-1])
    end, found, first = 0, "", _longest_first(texts)
    for start in reversed(starts):
        if start >= end:
            found = next(text for text in first if plain.startswith(text, start))
            end = start + len(found)
    return found


def _last_before(place: int, reach: int, text: str, plain: str) -> int:
    """Where a text begins last before a place and within reach of it; -1 if nowhere."""
    return plain.rfind(text, max(0, place - reach + 1), place - 1 + len(text))


_MOST_STEPS_BACK = 32


@cache
def _after_colon(options: str) -> re.Pattern[str]:
    return re.compile(rf":\s*+([{options}])")


@lru_cache(maxsize=4096)
def _plain_options(options: tuple[str, ...]) -> dict[str, str]:
    """The letters of options by their texts as they are looked for; of equal ones, the last."""
    return {without_punctuation(each.strip().lower()): chr(ord("A") + place) for place, each in enumerate(options)}


def _longest_first(texts: tuple[str, ...]) -> list[str]:
    """In the order in which the source tries them."""
    return sorted(texts, key=lambda text: len(re.escape(text)), reverse=True)


@lru_cache(maxsize=4096)
def _alternatives(texts: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _longest_first(texts))))


# --- simple-evals ---


@dataclass(frozen=True)
class SimpleEvals(HarnessLens):
    """simple-evals-9e2fafd/1: the first `Answer: B`, as its GPQA has it (ruling M27).

    >>> from affidavit import mcqa
    >>> SimpleEvals(mcqa).read("Answer: $B$, not answer: C").extracted_answer
    'B'
    """

    name: str = field(default="simple-evals-9e2fafd", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "What simple-evals takes from an output."
    rulings: ClassVar[str] = "M24, M27"
    passing: ClassVar[str] = "Answer: B"
    failing: ClassVar[str] = "The answer is B."
    source = "simple-evals 9e2fafd, gpqa_eval.py"

    def read(self, raw: str, item: object = None, /) -> HarnessReading:
        """The letter as it stands: a small one is an answer too, and equals no key."""
        form = _answer_anywhere(self.choice.options)
        found = next(matches_at_answer(form, raw), None) if ":" in raw else None
        return _reading(None if found is None else found[1])


@cache
def _answer_anywhere(options: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)Answer[ \t]*+:[ \t]*+\$?([{options}])\$?")


# --- OpenCompass and LawBench ---


@dataclass(frozen=True)
class OpenCompassFirstOption(HarnessLens):
    """opencompass-first-option-0.5.4/1: `first_option_postprocess`, its last resort included (ruling M28).

    >>> from affidavit import mcqa
    >>> OpenCompassFirstOption(mcqa).read("I think that the answer is B, not C, or so").extracted_answer
    'B'
    """

    name: str = field(default="opencompass-first-option-0.5.4", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "What OpenCompass 0.5.4 takes for the first option."
    rulings: ClassVar[str] = "M24, M28"
    passing: ClassVar[str] = "The answer is B."
    failing: ClassVar[str] = "the answer is b."
    source = "opencompass 0.5.4, first_option_postprocess"

    def read(self, raw: str, item: object = None, /) -> HarnessReading:
        """The letter by the first of its patterns that gives one; any capital of the set at the end."""
        return _reading(first_option(raw, self.choice.letters))


@dataclass(frozen=True)
class LawBench(HarnessLens):
    """lawbench-e30981b/1: the one letter of the set that occurs in the text at all (ruling M29).

    >>> from affidavit import mcqa
    >>> LawBench(mcqa).read("[B]").extracted_answer, LawBench(mcqa).read("B, as in ABBA").no_answer
    ('B', <NoAnswer.SEVERAL_LETTERS: 'several_letters'>)
    """

    name: str = field(default="lawbench-e30981b", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "The one letter of the set that LawBench finds in an output."
    rulings: ClassVar[str] = "M24, M29"
    passing: ClassVar[str] = "It is B."
    failing: ClassVar[str] = "A or B"
    source = "LawBench e30981b, multi_choice_judge"

    def read(self, raw: str, item: object = None, /) -> HarnessReading:
        """The letter if it is the only one; none at all is what the source counts as an abstention."""
        there = [letter for letter in self.choice.letters if letter in raw]
        several = len(there) > 1
        return _reading(there[0] if len(there) == 1 else None, _SEVERAL if several else NoAnswer.NOTHING_FOUND)


_SEVERAL = NoAnswer.SEVERAL_LETTERS


def harness_readings_of(choice: StrictChoice) -> tuple[AnyContract, ...]:
    """What other harnesses would have read, over the option set of a strict contract (rulings M24 to M29)."""
    return (
        InspectChoice(choice),
        LmEvalFlexible(choice),
        SimpleEvals(choice),
        OpenCompassFirstOption(choice),
        LawBench(choice),
    )
