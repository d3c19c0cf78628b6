"""Other readings of multiple choice: each a contract of its own that reads more than the protocol (ruling M5).

They read outputs that were asked for by the strict contract, and whatever it accepts they read alike, so that what
each of them adds is the cost of strictness by one rule that has a name. None of them is the protocol.

    >>> from affidavit import mcqa
    >>> [lens.read("So it must be B.\\nAnswer: B").extracted_answer for lens in lenient_readings_of(mcqa)]
    [None, None, None, None, 'B', 'B']
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Protocol

from affidavit.contracts.choice_forms import after_think
from affidavit.contracts.contract import Answered, AnswerReading, AnyContract, Span, Validation
from affidavit.contracts.deviation import CLOSING, OPENING, Deviation, ReasonedDeviation
from affidavit.contracts.parts import KeyedParts


class StrictReading(Protocol):
    """What the strict contract says of a text."""

    @property
    def extracted_answer(self) -> str | None:
        """The letter of a compliant output."""

    @property
    def deviation(self) -> Deviation | ReasonedDeviation | None:
        """What an output that is not compliant did instead (ruling M4)."""


class StrictChoice(Protocol):
    """The strict contract over one option set, which the readings here go out from."""

    @property
    def options(self) -> str:
        """The option set, such as `A-D`."""

    @property
    def letters(self) -> str:
        """Every letter of the option set, in order."""

    @property
    def answers(self) -> str:
        """What a key may be, in words."""

    def can_answer(self, key: str) -> bool:
        """Whether an output could ever give this answer."""

    def instruction(self, item: object = None, /) -> str:
        """The words given to the model."""

    def read(self, raw: str, item: object = None, /) -> StrictReading:
        """The letter or the diagnosis."""

    def grammar(self, item: object = None, /) -> str:
        """A grammar of the compliant outputs."""


class AnyAnswer(Protocol):
    """A reading that may hold an answer."""

    @property
    def extracted_answer(self) -> str | None:
        """The answer, or None."""


@dataclass(frozen=True)
class Lens(KeyedParts):
    """What all other readings share: the words, the key and the grammar of the strict contract."""

    choice: StrictChoice

    @property
    def params(self) -> Mapping[str, object]:
        """The option set."""
        return {"options": self.choice.options}

    @property
    def answers(self) -> str:
        """What a key may be, in words."""
        return self.choice.answers

    def can_answer(self, key: str) -> bool:
        """Whether an output could ever give this answer."""
        return self.choice.can_answer(key)

    def instruction(self, item: object = None, /) -> str:
        """The base instruction: a lens reads outputs that were asked for by the protocol."""
        return self.choice.instruction(item)

    def validate(self, reading: AnyAnswer, item: Answered, /) -> Validation | None:
        """Compare the letter with the key, as the strict contract does."""
        if reading.extracted_answer is None or item.answer is None:
            return None
        correct = reading.extracted_answer == item.answer
        return Validation(correct, "ok" if correct else "wrong_option")

    def grammar(self, item: object = None, /) -> str:
        """The strict grammar: what it gives keeps the protocol."""
        return self.choice.grammar(item)


@dataclass(frozen=True)
class AfterThink(Lens):
    """mcqa-after-think/1: the strict rule on the text after the last `</think>` (ruling M5).

    >>> from affidavit import mcqa
    >>> AfterThink(mcqa).read("<think>C?</think> <answer>B</answer>").extracted_answer
    'B'
    """

    name: str = field(default="mcqa-after-think", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "The tag that is all there is after the reasoning."
    rulings: ClassVar[str] = "M5"
    passing: ClassVar[str] = "<think>C?</think><answer>B</answer>"
    failing: ClassVar[str] = "<think>C?</think>It is <answer>B</answer>"

    def read(self, raw: str, item: object = None, /) -> AnswerReading:
        """The letter if what follows the reasoning is compliant."""
        after = after_think(raw)
        return _whole(_forms(self.choice.options), raw, after)


@dataclass(frozen=True)
class LastTag(Lens):
    """mcqa-last-tag/1: the last well-formed block anywhere (ruling M5).

    >>> from affidavit import mcqa
    >>> LastTag(mcqa).read("<answer>A</answer> No: <answer>B</answer>!").extracted_answer
    'B'
    """

    name: str = field(default="mcqa-last-tag", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "The last well-formed tag, wherever it stands."
    rulings: ClassVar[str] = "M5"
    passing: ClassVar[str] = "It is <answer>B</answer>."
    failing: ClassVar[str] = "It is B."

    def read(self, raw: str, item: object = None, /) -> AnswerReading:
        """The letter of the last well-formed block."""
        return _last(_forms(self.choice.options).block, raw)


@dataclass(frozen=True)
class _Diagnosed(Lens):
    """A reading of the texts that ruling M4 diagnoses as one kind, so that it adds what the diagnosis counts."""

    _kind: ClassVar[Deviation]

    def read(self, raw: str, item: object = None, /) -> AnswerReading:
        """The letter of a compliant text, or of one of that kind: there the first capital of the set."""
        forms, trimmed = _forms(self.choice.options), raw.strip()
        if not self._may_be(trimmed):
            return _whole(forms, raw, raw)
        if self.choice.read(raw, item).deviation is not self._kind:
            return AnswerReading.nothing()
        # Around the letter stand only signs, or an option's text after it.
        found = forms.letter.search(raw)
        return AnswerReading.nothing() if found is None else AnswerReading(found[0], Span(*found.span()))

    def _may_be(self, trimmed: str) -> bool:
        """What every text of that kind fulfils, and no compliant one: most texts need no diagnosis."""
        raise NotImplementedError


@dataclass(frozen=True)
class BareLetter(_Diagnosed):
    """mcqa-bare-letter/1: also a letter that is the whole output, in the forms of M4.13 (ruling M20).

    >>> from affidavit import mcqa
    >>> BareLetter(mcqa).read(" **B** ").extracted_answer
    'B'
    """

    name: str = field(default="mcqa-bare-letter", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "A letter that is the whole output."
    rulings: ClassVar[str] = "M20"
    passing: ClassVar[str] = "(B)"
    failing: ClassVar[str] = "B. Paris"
    _kind: ClassVar[Deviation] = Deviation.BARE_LETTER

    def _may_be(self, trimmed: str) -> bool:
        return trimmed[-1:] in _ENDS_BARE or self.choice.can_answer(trimmed)


@dataclass(frozen=True)
class OptionText(_Diagnosed):
    """mcqa-option-text/1: also an output that begins as the option's own line does, M4.14 (ruling M21).

    >>> from affidavit import mcqa
    >>> OptionText(mcqa).read("B. Paris").extracted_answer
    'B'
    """

    name: str = field(default="mcqa-option-text", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "The letter at the beginning of an option's line."
    rulings: ClassVar[str] = "M21"
    passing: ClassVar[str] = "B. Paris"
    failing: ClassVar[str] = "It is B."
    _kind: ClassVar[Deviation] = Deviation.OPTION_TEXT

    def _may_be(self, trimmed: str) -> bool:
        return trimmed[1:2] in _AFTER_LETTER and self.choice.can_answer(trimmed[0])


@dataclass(frozen=True)
class AnswerLine(Lens):
    """mcqa-answer-line/1: also the last line that is `Answer: B` and nothing else (ruling M22).

    >>> from affidavit import mcqa
    >>> AnswerLine(mcqa).read("Answer: A? No.\\nanswer: B.").extracted_answer
    'B'
    """

    name: str = field(default="mcqa-answer-line", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "The last line that is `Answer: B`."
    rulings: ClassVar[str] = "M22"
    passing: ClassVar[str] = "So:\nAnswer: B"
    failing: ClassVar[str] = "The answer: B"

    def read(self, raw: str, item: object = None, /) -> AnswerReading:
        """The letter of a compliant text, or of the last such line."""
        forms, last = _forms(self.choice.options), None
        for match in forms.end_of_answer_line.finditer(raw):
            start = max(raw.rfind("\n", 0, match.start()), raw.rfind("\r", 0, match.start())) + 1
            if _ANSWER.fullmatch(raw, start, match.start()):
                last = match
        return _whole(forms, raw, raw) if last is None else AnswerReading(last[1], Span(*last.span(1)))


@dataclass(frozen=True)
class LastLetter(Lens):
    """mcqa-last-letter/1: the last capital of the set that stands alone as a word (ruling M23).

    >>> from affidavit import mcqa
    >>> LastLetter(mcqa).read("Not A, so (B), as in ABBA.").extracted_answer
    'B'
    """

    name: str = field(default="mcqa-last-letter", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    summary: ClassVar[str] = "The last capital of the set that stands alone as a word."
    rulings: ClassVar[str] = "M23"
    passing: ClassVar[str] = "I say B."
    failing: ClassVar[str] = "I say b."

    def read(self, raw: str, item: object = None, /) -> AnswerReading:
        """The letter of the last such word."""
        form, end, size = _forms(self.choice.options).lone_letter, len(raw), _FIRST_LOOK
        # From the end, ever further back: most texts name their answer there.
        while end > 0:
            start = max(0, end - size)
            found = [match.start() for match in form.finditer(raw, start, end + 1) if match.start() < end]
            if found:
                return AnswerReading(raw[found[-1]], Span(found[-1], found[-1] + 1))
            end, size = start, size * 4
        return AnswerReading.nothing()


_FIRST_LOOK = 256
"""Characters that are looked at first."""
_ENDS_BARE, _AFTER_LETTER = (".", ")", "*", "`"), (".", ")", ":")
_BLANK = r"[^\S\r\n]*+"
"""Whitespace within a line (rulings M1 and G2)."""
_ANSWER = re.compile(rf"{_BLANK}(?ai:answer)")


@dataclass(frozen=True, slots=True)
class _Forms:
    """The regular expressions of one option set; each is linear on any text (ruling C4)."""

    block: re.Pattern[str]
    letter: re.Pattern[str]
    lone_letter: re.Pattern[str]
    end_of_answer_line: re.Pattern[str]
    """From the colon on: a text has few of them."""


@cache
def _forms(options: str) -> _Forms:
    return _Forms(
        block=re.compile(f"{OPENING}([{options}]){CLOSING}"),
        letter=re.compile(f"[{options}]"),
        # The letter first: a set of letters is searched for quickly.
        lone_letter=re.compile(rf"[{options}](?!\w)(?<!\w[{options}])"),
        end_of_answer_line=re.compile(rf":{_BLANK}([{options}])\.?{_BLANK}(?=[\r\n]|\Z)"),
    )


def _whole(forms: _Forms, raw: str, end: str) -> AnswerReading:
    """The letter if the end of the text is compliant (rulings M1, M2)."""
    match = forms.block.fullmatch(end.strip())
    if match is None:
        return AnswerReading.nothing()
    start = len(raw) - len(end.lstrip()) + len(OPENING)
    return AnswerReading(match[1], Span(start, start + 1))


def _last(form: re.Pattern[str], raw: str) -> AnswerReading:
    """The letter of the last match."""
    last = None
    for match in form.finditer(raw):
        last = match
    return AnswerReading.nothing() if last is None else AnswerReading(last[1], Span(*last.span(1)))


def lenient_readings_of(choice: StrictChoice) -> tuple[AnyContract, ...]:
    """Our own other readings over the option set of a strict contract (rulings M5, M20 to M23)."""
    return (
        AfterThink(choice),
        LastTag(choice),
        BareLetter(choice),
        OptionText(choice),
        AnswerLine(choice),
        LastLetter(choice),
    )
