"""One output of a harness, read by a contract: what it counts, its answer, and what is said of it in words."""

import json
from dataclasses import dataclass
from functools import cached_property

from affidavit.contracts.contract import COMPLIANT, RAW_OUTPUT, Unread
from affidavit.integrations.figures import OutputCounts, counts_of
from affidavit.json_values import Fields
from affidavit.reading.rows import UNREAD, NoOutput, RowReader, RowResult


@dataclass(frozen=True)
class OutputReading:
    """What a contract said of one output."""

    reader: RowReader
    text: str | None
    """The output verbatim; None if none arrived."""
    result: RowResult

    @classmethod
    def of(cls, reader: RowReader, text: str | None, row: Fields, *, where: str) -> "OutputReading":
        """The reading of a text that answers the question of this row; the row's right answer is in `answer`."""
        return cls(reader, text, reader.read({**row, RAW_OUTPUT: text}, where=where))

    @cached_property
    def counts(self) -> OutputCounts:
        """What the output counts in each figure."""
        return counts_of(self.result, self.reader.parts)

    @cached_property
    def fields(self) -> Fields:
        """What was read, by the names that `affidavit read` has for it: JSON values only."""
        said = {name: value for name, value in self.result.added.items() if name != RAW_OUTPUT}
        plain: Fields = json.loads(json.dumps(said))
        return plain

    @property
    def error(self) -> str | None:
        """What a contract of the user's own raised, if it did (ruling C8)."""
        return self.result.outcome.error if isinstance(self.result.outcome, Unread) else None

    @property
    def answer(self) -> str | None:
        """The answer that the output holds; None if it holds none, or the contract reads no answers."""
        if not self._holds_answer:
            return None
        shown = self.fields.get("extracted_answer")
        if shown is None:
            shown = self.reader.parts.result_columns(self.fields, self.reader.params).get("answer")
        return None if shown is None else str(shown)

    @property
    def answer_or_text(self) -> str | None:
        """The same; of a contract that reads no answers, the text that follows it."""
        return self.text if self.answer is None and self._holds_answer else self.answer

    @property
    def _holds_answer(self) -> bool:
        known = self.fields.get(COMPLIANT) is not None
        return known and self.reader.parts.holds_answer(self.fields)

    @property
    def words(self) -> str:
        """What is to be said of the output in a line.

        >>> from affidavit import mcqa
        >>> for text in ("<answer>B</answer>", "B. Paris", None):
        ...     print(OutputReading.of(RowReader(mcqa), text, {"answer": "B"}, where="here").words)
        compliant, right
        non-compliant: option_text
        no output
        """
        if isinstance(self.result.outcome, NoOutput):
            return "no output"
        if self.error is not None:
            return f"{UNREAD}: {self.error}"
        parts, counts = self.reader.parts, self.counts
        kept = parts.outcome_words.kept if counts.compliance else parts.outcome_words.broken
        verdict = {True: ", right", False: ", wrong", None: ""}[counts.accuracy_over_answers]
        failing = parts.kind_of_failing(self.fields)
        return f"{kept}{verdict}" if failing in (None, "", "not compliant") else f"{kept}{verdict}: {failing}"
