"""What people can be asked of an output, and what they may answer (ruling S10).

verdict           one of the verdicts of the frozen rubric
score:DIMENSION   one of the scores of its scale
correct           whether the output's answer is right
answer            the answer that the output means, whatever form it has, as its contract knows answers; `none`
                  if it gives none
NAME              a number between two ends: a name of the study's own, such as a score in the rows of outputs
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TypeAlias

from affidavit.contracts.parts import Parts
from affidavit.contracts.rubric import TOTAL, Rubric, Verdict
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.json_values import shown

VERDICT, CORRECT, ANSWER, SCORE = "verdict", "correct", "answer", "score:"
NO_ANSWER = "none"
LabelValue: TypeAlias = str | int | float | bool
NEEDS_RUBRIC = "a study with a rubric, for what judges are asked"
NOT_JUDGED = "Judge the study first: `affidavit judge`. Or label what needs no judge: correct, answer, a name."
OVERALL_NAMES = (TOTAL, "overall", "total")
OVERALL = "An overall score is the sum of its dimensions: ask for each of these, or for the verdict on it."
"""What to do instead of asking for the sum of scores."""
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_LONGEST = 200
_FARTHEST = 1e100
"""No end of a scale is further from 0."""


@dataclass(frozen=True)
class LabelQuestion:
    """One thing that people are asked of outputs, with its scale."""

    about: str
    """As a label's record names it."""
    words: str
    """The question, for the form."""
    values: tuple[str | int, ...] = ()
    """All that may be answered; none where the scale is one of numbers, or any text."""
    ends: tuple[float, float] | None = None
    """Of a scale of numbers."""
    titles: tuple[str, ...] = ()
    """What each of the values stands for, such as the text of an option; none where nobody knows."""
    typed: str = "the answer that is meant"
    """What is to be typed, where the scale is any text."""
    meant: Callable[[str], str | None] | None = None
    """What a typed text is, as a contract compares it; None for a text that is no answer."""

    @property
    def judged(self) -> bool:
        """Whether it is what judges are asked, too."""
        return self.about == VERDICT or self.about.startswith(SCORE)

    @property
    def scale(self) -> str:
        """What may be answered, in words."""
        if self.ends is not None:
            return f"a number from {self.ends[0]:g} to {self.ends[1]:g}"
        if self.values:
            return ", ".join(map(str, self.values))
        return f"{self.typed}, or {NO_ANSWER}"

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Each value with what it stands for, for a form; empty where the answer is typed."""
        titles = self.titles or ("",) * len(self.values)
        return [(str(value), title) for value, title in zip(self.values, titles, strict=True)]

    def read_by(self, parts: Parts, params: Mapping[str, object], options: Sequence[str] = ()) -> "LabelQuestion":
        """The same of an output that a contract has read: the contract says what its answers look like.

        `options`: the texts of the options, as they were shown.
        """
        if self.about != ANSWER:
            return self
        values = parts.meanings(params)
        titles = (*options, "the output gives no answer") if values and len(options) == len(values) else ()
        return replace(
            self,
            values=tuple(dict.fromkeys((*values, NO_ANSWER))) if values else (),
            titles=titles,
            typed=parts.meaning_words,
            meant=parts.meant,
        )

    def value(self, given: object, *, where: str, column: str = "value") -> LabelValue:
        """What somebody has answered in this column; refused if it is off the scale.

        >>> LabelQuestion("correct", "Right?", ("yes", "no")).value(" Yes ", where="a.csv:2")
        True
        >>> LabelQuestion("score:D", "D?", (0, 1, 2)).value("3", where="a.csv:2")
        Traceback (most recent call last):
        affidavit.errors.InputError: a.csv:2: expected 0, 1, 2 in 'value', found "3"
        """
        # A column of whole numbers that has gaps comes as 2.0 from many tables.
        said = int(given) if isinstance(given, float) and given.is_integer() else given
        known = isinstance(said, str | int | float) and (self.about == CORRECT or not isinstance(said, bool))
        text = str(said).strip() if known else ""
        found = self._found(text)
        if found is None:
            raise InputError(where, expected=f"{self.scale} in {column!r}", found=shown(given))
        return found

    def _found(self, text: str) -> LabelValue | None:
        if self.about == CORRECT:
            return _YES.get(text.lower())
        if self.ends is not None:
            return _number(text, self.ends)
        if self.about == ANSWER:
            return self._answer(text)
        # Beyond ASCII, case makes words of others: `paß` would be a PASS.
        word = text.upper() if text.isascii() else ""
        return next((value for value in self.values if str(value) == word), None)

    def _answer(self, text: str) -> str | None:
        if text.lower() == NO_ANSWER:
            return NO_ANSWER
        alike = [str(value) for value in self.values if str(value).casefold() == text.casefold()]
        if alike:
            return text if text in alike else alike[0] if len(alike) == 1 else None
        answer = text if self.meant is None else self.meant(text)
        if answer is None or (self.values and answer not in self.values):
            return None
        return answer if 0 < len(answer) <= _LONGEST and answer.isprintable() else None


_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _number(text: str, ends: tuple[float, float]) -> float | None:
    if _DECIMAL.fullmatch(text) is None:
        return None
    found = float(text)
    return found if isfinite(found) and ends[0] <= found <= ends[1] else None


def label_question(about: str, rubric: Rubric | None, scale: tuple[float, float] | None) -> LabelQuestion:
    """The question that is asked by this name; `rubric` is the frozen one, `scale` that of a name of one's own."""
    if about not in (VERDICT, CORRECT, ANSWER) and not about.startswith(SCORE):
        _refuse_taken(about, rubric)
    return recorded_question(about, rubric, scale)


def recorded_question(about: str, rubric: Rubric | None, scale: tuple[float, float] | None) -> LabelQuestion:
    """The same of a label on the record, whose name may be older than the rubric."""
    if scale is not None and (about in (VERDICT, CORRECT, ANSWER) or about.startswith(SCORE)):
        raise UsageError(
            "--scale", expected=f"none for {about}, which has one", found=f"{scale[0]:g},{scale[1]:g}"
        )
    if about == CORRECT:
        return LabelQuestion(about, "Is the answer of this output right?", ("yes", "no"))
    if about == ANSWER:
        return LabelQuestion(about, "Which answer does this output mean?")
    if about == VERDICT:
        verdicts = tuple(each.value for each in Verdict)
        return LabelQuestion(about, "Which verdict does this output deserve?", verdicts)
    if about.startswith(SCORE):
        return _of_rubric(about, rubric)
    if not about.strip() or not about.isprintable() or len(about) > _LONGEST or _is_odd(about):
        raise UsageError(
            "--what", expected="verdict, score:DIMENSION, correct, answer or a name", found=shown(about)
        )
    if scale is None:
        hint = "Or is it verdict, score:DIMENSION, correct or answer?"
        raise UsageError("--scale", expected=f"LOW,HIGH: the scale of {about}", found="none", hint=hint)
    return LabelQuestion(about, f"{about}?", ends=scale)


def _is_odd(about: str) -> bool:
    """Whether a sheet could not hold the name as it is: blanks around it, or what begins a formula."""
    return about != about.strip() or about[0] in "=+-@'"


def _refuse_taken(about: str, rubric: Rubric | None) -> None:
    """Refuse a name of one's own that is one of ours but for its case, or a dimension's."""
    taken = {name.casefold(): name for name in (VERDICT, CORRECT, ANSWER)}
    if rubric is not None:
        taken |= {name.casefold(): f"{SCORE}{name}" for name in rubric.ids}
    meant = taken.get(about.strip().casefold())
    if about.strip().casefold().startswith(SCORE):
        meant = f"{SCORE}DIMENSION"
    if meant is not None:
        hint = f"Did you mean {meant}?"
        raise UsageError("--what", expected="a name that is not another question's", found=shown(about), hint=hint)


def _of_rubric(about: str, rubric: Rubric | None) -> LabelQuestion:
    if rubric is None:
        raise UsageError("--what", expected=NEEDS_RUBRIC, found=about, hint=NOT_JUDGED)
    name = about.removeprefix(SCORE)
    dimension = next((each for each in rubric.dimensions if each.id == name), None)
    if dimension is None:
        known = ", ".join(f"{SCORE}{each}" for each in rubric.ids)
        hint = OVERALL if name in OVERALL_NAMES else did_you_mean(name, rubric.ids)
        raise UsageError("--what", expected=f"a dimension of the rubric: {known}", found=shown(about), hint=hint)
    return LabelQuestion(about, f"{dimension.title}: {dimension.words}", rubric.scores)


def parse_scale(
    text: str | None, *, option: str = "--scale", found: str | None = None
) -> tuple[float, float] | None:
    """The two ends of a scale, as they were typed for an option; `found`: all that was typed for it.

    >>> parse_scale("0,1"), parse_scale(None)
    ((0.0, 1.0), None)
    """
    if text is None:
        return None
    low, comma, high = text.partition(",")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (0.0, 0.0)
    if not comma or not all(abs(end) <= _FARTHEST for end in ends) or ends[0] >= ends[1]:
        expected = "two numbers, the second one larger, such as 0,1"
        raise UsageError(option, expected=expected, found=repr(found or text))
    return ends


def scale_words(about: str, rubric: Rubric | None) -> Sequence[str]:
    """What the values of a scale mean, a line each; of a verdict the rubric that it follows from (ruling J3).

    Empty where they explain themselves.
    """
    if rubric is None or not (about == VERDICT or about.startswith(SCORE)):
        return []
    levels = [f"{level.score}: {level.title}; {level.words}" for level in rubric.scale]
    return [*_verdict_words(rubric, levels)] if about == VERDICT else levels


def _verdict_words(rubric: Rubric, levels: Sequence[str]) -> Iterator[str]:
    limits = rubric.thresholds
    low, high = rubric.scores[0], rubric.scores[-1]
    yield f"Give each dimension a score, from {low} to {high}; their sum makes the verdict."
    for each in rubric.dimensions:
        yield f"{each.id} ({each.title}): {each.words}"
    yield from levels
    needed = ", ".join(limits.pass_needs_nonzero)
    yield f"{Verdict.FAIL}: the sum is {limits.fail_to} or less"
    yield f"{Verdict.PASS}: it is {limits.pass_from} or more{f', and none of {needed} is 0' if needed else ''}"
    yield f"{Verdict.PARTIAL}: all others"
