"""Outputs as a page shows them: what was asked, what came, what is marked in it, what every reading says."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from affidavit.contracts.contract import label
from affidavit.contracts.harness_readings import KeyAndOptions
from affidavit.contracts.mcqa import LETTERS
from affidavit.contracts.parts import ANSWER, MARKED, Mark, Parts, parts_of
from affidavit.results.page.chosen_outputs import SHOWN
from affidavit.results.page.text import Piece, brief, pieces
from affidavit.results.shown_options import ShownOptions

DEFAULT_PARTS = Parts()
NO_ANSWER = "no answer"


class Reading(NamedTuple):
    """What some readings say of an output, all the same."""

    names: Sequence[str]
    answer: str
    verdict: str
    """Right or wrong; empty where nothing is compared."""


@dataclass(frozen=True)
class Sample:
    """One output, as it is shown."""

    kind: str
    of_kind: int | None
    """Outputs of this kind in all; None where nobody has counted them."""
    where: Mapping[str, str]
    text: Sequence[Piece]
    note: str = ""
    question: Sequence[Piece] = ()
    """What was asked, as far as it is known."""
    row: Sequence[Piece] = ()
    """Of an output from elsewhere: what else stood in its row, the right answer perhaps among it."""
    prompt: Sequence[Piece] = ()
    """What was sent, to the letter."""
    readings: Sequence[Reading] = ()
    """The contract's first, then lenient ones by their answers."""
    outcome: str = ""

    @property
    def readings_in_short(self) -> str:
        """How many lenient readings say what."""
        return ", ".join(
            f"{len(each.names)} {each.answer}{f' ({each.verdict})' if each.verdict else ''}"
            for each in self.readings[1:]
        )


class Asked(NamedTuple):
    """What is known of the question of an output."""

    question: str
    """With its options, as they were shown."""
    prompt: str = ""
    """As it was sent, message by message; empty where nobody can tell it to the letter."""
    right: str = ""
    row: str = ""
    """Of an output from elsewhere: what else stood in its row."""


@dataclass(frozen=True)
class Shower:
    """What turns rows into samples."""

    parts: Mapping[str, Parts]
    """Of the contract of each task."""
    asked: Callable[[Mapping[str, Any]], Asked]
    options: ShownOptions | None = None
    """The texts of options, for readings that need them."""
    whole: bool = False
    """Whether texts are shown from end to end."""

    def samples(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[Sample]:
        """The rows as they are shown."""
        for row in rows:
            yield self.sample(row)

    def sample(self, row: Mapping[str, Any]) -> Sample:
        """The output of a row with its marks, its names, its question and all readings."""
        raw, own, asked = raw_of(row), self._parts(row), self.asked(row)
        marks = list(own.marks(raw, json.loads(row["marks"] or "{}")))
        if row["protocol_compliant"]:  # whatever is marked is here what the contract did accept
            marks = [mark._replace(kind=ANSWER) for mark in marks]
        where = {name.replace("_", " "): str(row[name]) for name in SHOWN if row[name] is not None}
        if right := asked.right or (row["right_letter"] or ""):
            where["right answer"] = brief(right, 120)
        note = brief(str(row["unread"]), 300) if row["unread"] else _note(marks)
        arrived = row["failure"] is None
        return Sample(
            row["kind"],
            row["of_kind"],
            where,
            pieces(raw, marks, whole=self.whole) if arrived else [Piece(f"no output: {row['failure']}", "gap")],
            note,
            pieces(asked.question),
            pieces(asked.row),
            pieces(asked.prompt, whole=self.whole),
            list(self._readings(row)) if arrived else (),
            _outcome(row),
        )

    def _parts(self, row: Mapping[str, Any]) -> Parts:
        own = self.parts.get(row["task"], DEFAULT_PARTS)
        return own if row["options"] is None else parts_of(own.with_options(row["options"]))

    def _readings(self, row: Mapping[str, Any]) -> Iterator[Reading]:
        """What the contract says, then the lenient readings by their answers; nothing where there are none."""
        by_answer: dict[str | None, list[str]] = {}
        for name, answer in self.lenient_answers(row):
            by_answer.setdefault(answer, []).append(name)
        right = row["right_letter"]
        if by_answer:
            yield Reading((row["contract"],), row["letter"] or NO_ANSWER, _verdict(row["letter"], right))
        for answer, names in sorted(by_answer.items(), key=lambda said: (said[0] is None, -len(said[1]), said[0])):
            yield Reading(names, answer or NO_ANSWER, _verdict(answer, right))

    def lenient_answers(self, row: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        """The answer of every lenient reading that knows enough of the question."""
        if row["options"] is None:
            return
        raw, item = raw_of(row), KeyAndOptions(row["right_letter"], self._option_texts(row))
        for lens in self._parts(row).lenient_readings():
            if parts_of(lens).knows_enough(item):
                found = lens.read(raw, item).extracted_answer
                yield label(lens), None if found is None else str(found)

    def is_right_by_lenient_reading(self, row: Mapping[str, Any]) -> bool:
        """Whether some lenient reading finds the right answer of an output."""
        right = row["right_letter"]
        return right is not None and any(answer == right for _, answer in self.lenient_answers(row))

    def _option_texts(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        shown = (
            None if self.options is None else self.options(row["task"], row["item_id"], row["sample"], row["row"])
        )
        fits = shown is not None and len(shown) == ord(row["options"][-1]) - ord("A") + 1
        return shown if fits else None


def _verdict(answer: str | None, right: str | None) -> str:
    if answer is None or right is None:
        return ""
    return "right" if answer == right else "wrong"


def _outcome(row: Mapping[str, Any]) -> str:
    """What became of a question, in a word or two."""
    if row["failure"] is not None:
        return "no output"
    if row["unread"] is not None:
        return "unread"
    kept = "compliant" if row["protocol_compliant"] else "non-compliant"
    verdict = {True: ", right", False: ", wrong"}.get(row["correct"], "")
    return f"{kept}{verdict}"


def right_option(letter: str, item: Mapping[str, object]) -> str:
    """The right letter as it was shown, with the option's text: in another order its letter alone misleads."""
    options, answer = item.get("options"), item.get("answer")
    if not isinstance(options, list) or answer not in tuple(LETTERS[: len(options)]):
        return f"{letter} as it was shown"
    return f"{letter} as it was shown: {brief(str(options[LETTERS.index(str(answer))]), 100)}"


def right_answer(item: Mapping[str, object]) -> str:
    """What the item says is right; empty where it says nothing."""
    return brief(_shown(item["answer"]), 100) if item.get("answer") is not None else ""


def raw_of(row: Mapping[str, Any]) -> str:
    """The text of a row of columns, whichever way it stands there."""
    if row["raw_output"] is None:
        return str(json.loads(row["raw_output_escaped"])) if row["raw_output_escaped"] else ""
    return str(row["raw_output"])


def _note(marks: Sequence[Mark]) -> str:
    kinds = {mark.kind for mark in marks}
    said = "; ".join(words for kind, words in MARKED.items() if kind in kinds)
    return f"Marked: {said}." if said else ""


def question_of(item: Mapping[str, object], *, lettered: bool) -> str:
    """The question with its options, or the numbers, in a few lines; of an item without these, all its fields."""
    lines = [str(item["question"])] if "question" in item else []
    options = item.get("options")
    if isinstance(options, list):
        starts = [f"{letter}. " for letter in LETTERS] if lettered else ["– "] * len(options)
        lines += [f"{start}{option}" for start, option in zip(starts, options, strict=False)]
    if "numbers" in item:
        lines.append(f"numbers: {item['numbers']}")
    return "\n".join(lines) or fields_listed(item)


def fields_listed(fields: Mapping[str, object]) -> str:
    """The fields of a row, one in a line."""
    return "\n".join(f"{name}: {brief(_shown(value), 300)}" for name, value in fields.items())


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
