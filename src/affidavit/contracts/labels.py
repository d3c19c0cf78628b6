"""labels/1: a set of known labels in the last answer block; reasoning before it is welcome.

Topics, tags, intents: what a text is about, in words that were agreed upon before. The last `<answer>` block holds
the labels between commas, and nothing follows it. The set is compared with the right one as a whole; how near it
comes is told by precision, recall and F1 of every label.

    >>> topics = LabelSet(["art", "economy", "sport"])
    >>> topics.read("It is about prices on the art market.\\n<answer>economy, art</answer>").extracted_answer
    'art, economy'
    >>> topics.read("<answer>Economy</answer>").deviation.value
    'wrong_case'
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from affidavit.contracts.contract import Answered, AnswerKey, Span, Validation
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END
from affidavit.contracts.label_set import KnownLabels, LabelDeviation, json_list
from affidavit.contracts.parts import PLACE, FieldType, KeyedParts, Mark
from affidavit.errors import InputError, did_you_mean
from affidavit.json_values import Fields, shown

if TYPE_CHECKING:
    import polars as pl

MOST_REASONING = 200
"""Characters before the block under constrained decoding (ruling L6)."""
# ASCII: without it, U+017F (long s) would pass for the s of the tag.
_OPENING, _CLOSING = (re.compile(tag, re.IGNORECASE | re.ASCII) for tag in (OPENING, CLOSING))


@dataclass(frozen=True, slots=True)
class LabelReading:
    """The set and where it stands, or why there is none: either all three, or the deviation."""

    extracted_labels: tuple[str, ...] | None
    extracted_answer: str | None
    answer_span: Span | None
    deviation: LabelDeviation | None

    @property
    def protocol_compliant(self) -> bool:
        """The output ends with a block of known labels."""
        return self.deviation is None

    def fields(self) -> Fields:
        """The set as a text and as a list, its place, and the diagnosis, by their names in the record."""
        start, end = self.answer_span if self.answer_span is not None else (None, None)
        return {
            "extracted_answer": self.extracted_answer,
            "extracted_labels": None if self.extracted_labels is None else list(self.extracted_labels),
            "answer_start": start,
            "answer_end": end,
            "deviation": self.deviation,
        }


@dataclass(frozen=True)
class LabelSet(KeyedParts):
    """The contract over one list of labels.

    >>> LabelSet(["yes", "no"], single=True).read("<answer>yes, no</answer>").deviation.value
    'several_labels'
    """

    known: Sequence[str]
    """The parameter `labels`."""
    none: str = ""
    single: bool = False
    name: str = field(default="labels", init=False, repr=False)
    version: int = field(default=1, init=False, repr=False)

    summary: ClassVar[str] = "A set of known labels, between commas, in the last answer block; reasoning first."
    rulings: ClassVar[str] = "L1-L8"
    passing: ClassVar[str] = "It is about the price of a goalkeeper.\n<answer>economy, sport</answer>"
    failing: ClassVar[str] = "<answer>economy, football</answer>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "known", KnownLabels.of(self.known, self.none, self.single).labels)

    @cached_property
    def vocabulary(self) -> KnownLabels:
        """The labels, the word for none, and how many an answer may have."""
        return KnownLabels.of(self.known, self.none, self.single)

    @property
    def params(self) -> Mapping[str, object]:
        """The labels in their order, the word for none, and whether it must be exactly one."""
        return {"labels": list(self.known), "none": self.none, "single": self.single}

    @property
    def answers(self) -> str:
        """What a key may be, in words."""
        number = "one of the labels" if self.single else "a list of labels, or a text with them between commas,"
        return f"{number} or {self.none!r}" if self.none else number

    def instruction(self, item: object = None, /) -> str:
        """The labels, and where the answer belongs; no example, as small models copy examples."""
        listed = ", ".join(self.known)
        if self.single:
            asked = f"Choose the one label that applies, out of these: {listed}."
            put = "Put this label, and nothing else, between <answer> and </answer>"
        else:
            asked = f"Choose all labels that apply, out of these: {listed}."
            put = "Put the labels, separated by commas, and nothing else, between <answer> and </answer>"
        otherwise = f" If no label applies, put {self.none} there." if self.none else ""
        return f"{asked}\n\nYou may reason first. {put}, at the end of your output.{otherwise}"

    def read(self, raw: str, item: object = None, /) -> LabelReading:
        """The set in the last block after the reasoning, if nothing follows it (rulings L2, L3)."""
        start = _spoken_from(raw)
        block = _last_block(raw, start)
        if block is None:
            return _nothing(_without_last_block(raw[start:], thought=start > 0))
        if raw[block.end + len(CLOSING) :].strip():
            return _nothing(LabelDeviation.TEXT_AFTER)
        span = _trimmed(raw, block)
        said = self.vocabulary.said(raw[span.start : span.end])
        if isinstance(said, LabelDeviation):
            return _nothing(said)
        return LabelReading(said, self.vocabulary.written(said), span, None)

    def validate(self, reading: LabelReading, item: Answered, /) -> Validation | None:
        """Compare the sets as wholes (ruling L5); None for an output without one (ruling M6) or without a key."""
        if reading.extracted_labels is None or item.answer is None:
            return None
        right = self.vocabulary.right(item.answer)
        if right is None:
            raise InputError("answer", expected=self.answers, found=shown(item.answer))
        correct = reading.extracted_labels == right
        return Validation(correct, "ok" if correct else "wrong_set")

    def grammar(self, item: object = None, /) -> str:
        """A finite GBNF grammar: some reasoning, then a block with labels in their order (ruling L6)."""
        last, quoted = len(self.known) - 1, [json.dumps(label, ensure_ascii=False) for label in self.known]
        rules = [f'root ::= [^<]{{0,{MOST_REASONING}}} "{OPENING}" set "{CLOSING}"']
        if self.single:
            return "\n".join((*rules, f"set ::= {' | '.join(quoted)}"))
        none = f" | {json.dumps(self.none, ensure_ascii=False)}" if self.none else ""
        rules.append(f"set ::= from0{none}")
        # From one label on: it, with or without others, or others without it.
        for at, label in enumerate(quoted[:-1]):
            rules.append(f'from{at} ::= {label} (", " from{at + 1})? | from{at + 1}')
        return "\n".join((*rules, f"from{last} ::= {quoted[last]}"))

    # --- the optional parts ---

    parameters: ClassVar[Mapping[str, str]] = {
        "labels": "the labels there are, a list",
        "none": "the word that stands for no label at all; without it, an answer has at least one",
        "single": "whether an answer is exactly one label",
    }
    required_parameters = ("labels",)
    columns_hold_all = True
    meaning_compared = True
    meaning_words = "known labels, with commas between them"
    counted: ClassVar[Mapping[str, str]] = {"deviation": "deviations"}
    failing_field = "deviation"
    tables = (
        CountTable(
            name="deviations",
            question="What did non-compliant outputs do instead?",
            fields=("deviation",),
            share="arrived",
            only_non_compliant=True,
            explains=None,
        ),
        "label scores",
    )

    def right_means(self) -> str:
        """That no part of a set is right (ruling L5)."""
        return "" if self.single else "the whole set"

    def with_parameters(self, given: Mapping[str, object]) -> "LabelSet":
        """The contract over these labels; they have to be given."""
        known = KnownLabels.of(given.get("labels"), given.get("none", ""), given.get("single", False))
        return LabelSet(known.labels, known.none, known.single)

    def read_texts(self, texts: "pl.Series") -> "pl.DataFrame":
        """What `read` says of a column of texts."""
        from affidavit.contracts.label_columns import read_labels  # noqa: PLC0415 - it brings Polars

        return read_labels(texts, self.vocabulary)

    def can_answer(self, key: str) -> bool:
        """Whether an output could ever give this set."""
        return self.vocabulary.right(key) is not None

    def item(self, row: Fields, *, where: str) -> AnswerKey:
        """The key in `answer`, a list or a text, as an answer would have it (ruling L5)."""
        answer = row.get("answer")
        if answer is None:
            return AnswerKey(None)
        right = self.vocabulary.right(answer)
        if right is None:
            expected = f"{self.answers} in 'answer'"
            raise InputError(where, expected=expected, found=shown(answer), hint=self.answer_hint(answer, row))
        return AnswerKey(self.vocabulary.written(right))

    def meanings(self, params: Mapping[str, object]) -> tuple[str, ...]:
        """The labels, where an answer is exactly one."""
        return tuple(self.known) if self.single else ()

    def meant(self, typed: str) -> str | None:
        """The set, in the order of the parameter."""
        right = self.vocabulary.right(typed)
        return None if right is None else self.vocabulary.written(right)

    def answer_hint(self, answer: object, row: Fields) -> str:
        """The label that an unknown one may have been meant for, or else which there are.

        >>> LabelSet(["art", "sport"]).answer_hint(["art", "sprot"], {})
        'Did you mean sport?'
        """
        entries = answer
        if isinstance(answer, str):
            listed = json_list(answer)
            entries = answer.split(",") if listed is None else listed
        texts = [each.strip() for each in entries if isinstance(each, str)] if isinstance(entries, list) else []
        unknown = (did_you_mean(text, self.known) for text in texts if text and text not in self.known)
        if (not answer or entries == []) and not self.none and not self.single:
            return "Where no label may be right, give the contract a word for that, its parameter `none`."
        return next(unknown, "") or f"The labels are {shown(list(self.known))}. Unknown: leave it null."

    def fields_added(self, row: Fields) -> Mapping[str, FieldType]:
        """The set, its place and its diagnosis; `correct` where the row has a key."""
        added: dict[str, FieldType] = {"extracted_answer": str, "extracted_labels": [str]}
        added |= {"answer_start": int, "answer_end": int, "deviation": str}
        return {**added, "correct": bool} if "answer" in row else added

    def example(self, row: Fields, *, where: str) -> str | None:
        """The block of the right set."""
        answer = self.item(row, where=where).answer
        return None if answer is None else f"{OPENING}{answer}{CLOSING}"

    def marks(self, raw: str, fields: Mapping[str, object]) -> Iterator[Mark]:
        """The set; or what stands in its place."""
        if fields.get("answer_start") is not None:
            yield from super().marks(raw, fields)
        elif (block := _last_block(raw, _spoken_from(raw))) is not None:
            span = _trimmed(raw, block)
            if span.start < span.end:
                yield Mark(*span, PLACE)

    def result_columns(self, fields: Mapping[str, object], params: Mapping[str, object]) -> Fields:
        """The set that was given and the right one, both as they are recorded."""
        right = self.vocabulary.right(fields.get("right_answer"))
        return {
            "letter": fields.get("extracted_answer"),
            "right_letter": None if right is None else self.vocabulary.written(right),
        }


def _nothing(deviation: LabelDeviation) -> LabelReading:
    return LabelReading(None, None, None, deviation)


def _spoken_from(raw: str) -> int:
    """Where the text after the last `</think>` begins; 0 if there is none."""
    return len(raw) - len(raw.rpartition(THINK_END)[2])


def _last_block(raw: str, start: int) -> Span | None:
    """The content of the block that the last opening tag from `start` on begins; None if it is not closed."""
    opening = raw.rfind(OPENING, start)
    closing = -1 if opening < 0 else raw.find(CLOSING, opening)
    return None if closing < 0 else Span(opening + len(OPENING), closing)


def _trimmed(raw: str, span: Span) -> Span:
    held = raw[span.start : span.end]
    first = span.end - len(held.lstrip())
    return Span(first, first + len(held.strip()))


def _without_last_block(text: str, *, thought: bool) -> LabelDeviation:
    """The diagnosis of a text whose last opening tag, if any, is not closed; `thought`: it is behind reasoning."""
    if not text.strip():
        return LabelDeviation.ONLY_REASONING if thought else LabelDeviation.EMPTY
    first = text.find(OPENING)
    if first < 0 or text.find(CLOSING, first) < 0:  # no block in exact case
        opening = _OPENING.search(text)
        if opening is not None and _CLOSING.search(text, opening.end()) is not None:
            return LabelDeviation.TAG_IN_WRONG_CASE
    if first >= 0:
        return LabelDeviation.UNCLOSED_TAG
    return LabelDeviation.UNOPENED_TAG if CLOSING in text else LabelDeviation.NO_BLOCK


labels = LabelSet(("economy", "politics", "sport"))
"""The contract with three labels for an example; `with_parameters` asks for labels of one's own."""
