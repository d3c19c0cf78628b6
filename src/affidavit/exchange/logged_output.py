"""One output of a log, and what its source said of it, kept apart (ruling I2).

A log's format knows where these stand; nobody else looks into a log. What the source did not record is None, never
a value that stands for nothing. Both are structs of msgspec, made in a third of a dataclass's time: a log may hold
a million.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from affidavit.json_values import Fields
from affidavit.reading.output_columns import ONE_CONDITION


class NoAnswer(StrEnum):
    """Why a source had no answer to score; each kind is counted by itself (ruling I3)."""

    ERROR = "error"
    """The source says that asking or scoring failed."""
    LIMIT = "limit"
    """The source stopped the sample: time, tokens, messages."""
    MISSING = "missing"
    """There is no completion, and the source does not say why."""
    SENTINEL = "sentinel"
    """The source's extraction gave its own word for "nothing found", such as `[invalid]`."""


class SourceWord(Struct, frozen=True, kw_only=True):
    """What one scorer or filter of the source said of an output."""

    scorer: str
    """By the name that the source has for it; with a metric or filter where these are what tells words apart."""
    answer: str | None = None
    """What it read from the output."""
    correct: bool | None = None
    """Its verdict; None where it is neither right nor wrong, or of the item as a whole."""
    points: float | None = None
    """What the output counts in the score; None if the source leaves it out."""
    score: object = None
    """Its value as it stands in the log."""
    no_answer: NoAnswer | None = None
    """Why it had nothing to read, where it says so."""
    about_item: bool = False
    """Whether the word is about all samples of the item together: then it is on each of them, and about none."""

    def fields(self) -> Fields:
        """As a record keeps it."""
        said: Fields = {
            "source_scorer": self.scorer,
            "source_answer": self.answer,
            "source_correct": self.correct,
            "source_score": self.score,
        }
        if self.no_answer is not None:
            said["source_no_answer"] = self.no_answer.value
        if self.about_item:
            said["source_word_about"] = "item"
        return said


class LoggedOutput(Struct, frozen=True, kw_only=True):
    """One output as a source recorded it."""

    place: str
    """Where it stands in its log, for messages and to tell outputs apart: `line 3`, `samples/1_epoch_1.json`."""
    item_id: str
    model: str
    raw_output: str | None
    """The completion as the source recorded it; None if there is none (rulings C1 and I1)."""
    verbatim: bool = True
    """Whether that is the model's own text, and not what a filter or a transform left of it."""
    sample: int = 0
    """The repeat or epoch, from 0 on."""
    condition: str | None = None
    """Where one log holds several prompts."""
    task: str | None = None
    """Where one log holds several tasks."""
    prompt: str | None = None
    question: str | None = None
    options: Sequence[str] | None = None
    answer: str | None = None
    """The right answer, as the source has it."""
    error: str | None = None
    """What the source says went wrong."""
    no_answer: NoAnswer | None = None
    """Why there is nothing to score, where that is so whoever scores."""
    finish_reason: str | None = None
    reasoning: str | None = None
    words: Sequence[SourceWord] = ()
    other_texts: Mapping[str, str] = {}
    """Texts that the source has of it beside this one, by their place: kept, counted, and read by nobody."""
    more: Mapping[str, object] = {}
    """Whatever else the source has beside it: metadata of the item."""
    columns: Mapping[str, object] = {}
    """Where the log is a table: its columns that are none of these, as the row has them."""

    def row(self, *, log: str, task: str) -> Fields:
        """The row that it becomes: under our names for columns. Those that decide how a row is
        taken apart are always there; of the others, what is not known is left out.

        >>> said = SourceWord(scorer="match", answer="B", correct=True, points=1.0, score="C")
        >>> output = LoggedOutput(place="1", item_id="q", model="m", raw_output="B.", answer="B", words=[said])
        >>> row = output.row(log="a.jsonl", task="t")
        >>> row["raw_output"], row["answer"], row["source_correct"], row["output_id"]
        ('B.', 'B', True, 'a.jsonl: 1')
        """
        answer = None if self.answer is None else self.answer.strip()
        row: Fields = {
            "id": self.item_id,
            "model": self.model,
            "task": self.task or task,
            "condition": self.condition or ONE_CONDITION,
            "sample": self.sample,
            "output_id": f"{log}: {self.place}",
            "raw_output": self.raw_output,
            "prompt": self.prompt,
            "answer": answer,
            "verbatim": self.verbatim,
        }
        row.update(self._words())
        if answer != self.answer:
            # Outputs are read without the blanks around them: a key that has some could be nobody's answer.
            row["source_right_answer"] = self.answer
        if self.question is not None:
            row["question"] = self.question
        if self.options is not None:
            row["options"] = list(self.options)
        if self.finish_reason is not None:
            row["finish_reason"] = self.finish_reason
        if self.reasoning is not None:
            row["reasoning"] = self.reasoning
        if self.error is not None:
            row["source_error"] = self.error
        if self.no_answer is not None:
            row["source_no_answer"] = self.no_answer.value
        if self.other_texts:
            row["source_other_texts"] = dict(self.other_texts)
        if self.more:
            row["metadata"] = dict(self.more)
        row.update(self.columns)
        return row

    def _words(self) -> Fields:
        """The first word in fields of its own, and all of them where there are several."""
        if not self.words:
            return {}
        every = [word.fields() for word in self.words]
        return every[0] if len(every) == 1 else {**every[0], "source_words": every}
