"""A contract from one regular expression and an instruction.

The pattern must match the *whole* trimmed output, as it must in mcqa/1: what may stand around an answer is
said by the pattern, not guessed by us. The answer is the group named `answer`, else the first group, else
the whole match. Patterns run on the Rust engine that Polars carries, in rows as in columns (ruling C8): it
needs linear time on any text, and one pattern has one meaning. It has no look-around and no backreferences.

A number after four hashes, as GSM8K writes its solutions:

    >>> gsm8k = Pattern(
    ...     name="gsm8k",
    ...     version=1,
    ...     pattern=r"(?s).*#### (?P<answer>-?[0-9][0-9,]*(?:\\.[0-9]+)?)",
    ...     words="Solve the problem step by step. End with a line that holds #### and the number alone.",
    ...     compare="number",
    ... )
    >>> reading = gsm8k.read("48 / 2 = 24 clips in May.\\n#### 1,072")
    >>> reading.extracted_answer, gsm8k.validate(reading, AnswerKey("1072")).correct
    ('1,072', True)
    >>> gsm8k.read("#### 72 clips").protocol_compliant
    False
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Literal

from affidavit.contracts.contract import Answered, AnswerKey, AnswerReading, Validation
from affidavit.contracts.parts import KeyedParts, number_text
from affidavit.errors import InputError, ParameterError, UsageError
from affidavit.json_values import Fields, shown

_SURROGATE = re.compile("[\ud800-\udfff]")
_PRIVATE = range(0xF0000, 0x110000 - 0x800, 0x800)
COMPARED_AS = ("text", "number")
"""What both sides of a comparison may be taken for."""
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Pattern(KeyedParts):
    """A contract of one's own, without a line of code."""

    name: str
    version: int
    pattern: str
    words: str
    compare: Literal["text", "number"] = "text"

    def __post_init__(self) -> None:
        if self.compare not in COMPARED_AS:
            raise UsageError(
                f"pattern {self.name!r}", expected="compare='text' or 'number'", found=repr(self.compare)
            )
        # By itself first: `a)|(b` would otherwise close the group that anchors it.
        _answer_group(self.name, self.pattern)

    @cached_property
    def group(self) -> int:
        """The number of the group that holds the answer; 0 is the whole match."""
        return _answer_group(self.name, self.whole)

    @property
    def params(self) -> Mapping[str, object]:
        """The pattern and how answers are compared."""
        return {"pattern": self.pattern, "compare": self.compare}

    @property
    def answers(self) -> str:
        """What a key may be, in words."""
        return "a number" if self.compare == "number" else "a text"

    def can_answer(self, key: str) -> bool:
        """Whether answers can be compared with this key."""
        return self.compare == "text" or _number(key) is not None

    @property
    def whole(self) -> str:
        """The pattern anchored at both ends, as both paths run it."""
        return rf"\A(?:{self.pattern})\z"

    def instruction(self, item: object = None, /) -> str:
        """The words, whatever the item."""
        return self.words

    def read(self, raw: str, item: object = None, /) -> AnswerReading:
        """The answer if the whole trimmed text matches."""
        import polars as pl  # noqa: PLC0415 - a quarter of a second that only this contract needs

        text, private = _without_surrogates(raw.strip())
        found = pl.Series([text], dtype=pl.String).str.extract(self.whole, self.group).item()
        return AnswerReading.nothing() if found is None else AnswerReading(_with_surrogates(found, private))

    def validate(self, reading: AnswerReading, item: Answered, /) -> Validation | None:
        """Compare the answer with the key, as texts or as exact numbers; None without an answer or a key."""
        if reading.extracted_answer is None or item.answer is None:
            return None
        if self.compare == "text":
            correct = reading.extracted_answer == item.answer
            return Validation(correct, "ok" if correct else "wrong_answer")
        key, answer = _number(item.answer), _number(reading.extracted_answer)
        if key is None:
            raise InputError("answer", expected="a number to compare with", found=repr(item.answer))
        if answer is None:
            return Validation(False, "not_a_number")  # noqa: FBT003 - the field's name says it
        return Validation(answer == key, "ok" if answer == key else "wrong_answer")

    def grammar(self, item: object = None, /) -> None:
        """None: a regular expression is not a GBNF grammar."""

    def item(self, row: Fields, *, where: str) -> AnswerKey:
        """The key in `answer`: a text, or a number."""
        return super().item({**row, "answer": number_text(row.get("answer"))}, where=where)


@dataclass(frozen=True)
class TypedPattern(Pattern):
    """The contract `pattern`, which is named and given its expression where a contract is named; it has no words.

    >>> pattern.with_parameters({"pattern": "so ([A-D])", "compare": "text"}).read("so B").extracted_answer
    'B'
    """

    name: str = field(default="pattern", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)
    words: str = field(default="", init=False, repr=False)

    summary: ClassVar[str] = "Whatever a regular expression of yours describes, which the whole output must match."
    rulings: ClassVar[str] = "C8"
    passing: ClassVar[str] = "Answer: B"
    failing: ClassVar[str] = "Answer: B, because it is the capital."
    parameters: ClassVar[Mapping[str, str]] = {
        "pattern": "the regular expression; the answer is its group named `answer` (--pattern)",
        "compare": "what answers are compared as, text or number",
    }
    required_parameters: ClassVar[tuple[str, ...]] = ("pattern",)
    typed_with: ClassVar[Mapping[str, str]] = {"pattern": "--pattern"}
    has_grammar: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Nothing: an expression comes by way of `with_parameters`, and to try one takes a heavy library."""

    def with_parameters(self, given: Mapping[str, object]) -> "TypedPattern":
        """The contract of this expression, which has to be given."""
        regex, compare = given.get("pattern"), given.get("compare", "text")
        if not isinstance(regex, str):
            hint = "Say what a whole output must match, the answer as the group named `answer`."
            found = "none" if regex is None else shown(regex)
            raise ParameterError("pattern", expected="a regular expression", found=found, hint=hint)
        if compare not in COMPARED_AS:
            raise ParameterError("compare", expected='"text" or "number"', found=shown(compare))
        try:
            _answer_group(self.name, regex)
        except UsageError as error:
            raise ParameterError("pattern", expected=error.expected, found=error.found) from error
        return TypedPattern(pattern=regex, compare="number" if compare == "number" else "text")


pattern = TypedPattern(pattern="Answer: (?P<answer>[A-D])")
"""The contract with an expression for an example; `with_parameters` asks for one of one's own."""


def _answer_group(name: str, whole: str) -> int:
    """The number of the group that holds the answer; 0 is the whole match."""
    import polars as pl  # noqa: PLC0415

    try:
        groups = pl.Series([""]).str.extract_groups(whole).struct.fields
    except pl.exceptions.ComputeError as error:
        reason = str(error).partition("\n\nThis error")[0]
        raise UsageError(
            f"pattern {name!r}",
            expected="a regular expression without look-around and backreferences",
            found=reason,
        ) from error
    return groups.index("answer") + 1 if "answer" in groups else min(len(groups), 1)


def _without_surrogates(text: str) -> tuple[str, int]:
    """The text as Polars can hold it, and where its lone surrogates went.

    Each becomes one private-use character of a block that the text does not use, so that lengths stay and
    the way back is exact. A text that uses all of these blocks keeps none of its secrets: the first is taken.
    """
    if _SURROGATE.search(text) is None:
        return text, 0
    used = {ord(character) // 0x800 for character in text}
    private = next((block for block in _PRIVATE if block // 0x800 not in used), _PRIVATE[0])
    return _SURROGATE.sub(lambda match: chr(ord(match[0]) - 0xD800 + private), text), private


def _with_surrogates(text: str, private: int) -> str:
    if not private:
        return text
    return re.sub(
        f"[{chr(private)}-{chr(private + 0x7FF)}]", lambda match: chr(ord(match[0]) - private + 0xD800), text
    )


def _number(text: str) -> Decimal | None:
    """The exact number that a text is; commas only where they part full groups of three."""
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


__all__ = ["AnswerKey", "Pattern"]
