"""A contract in a task of lm-evaluation-harness: the prompt, a filter, and figures.

    from affidavit.integrations.lm_eval import TaskContract

    quiz = TaskContract("mcqa")
    prompt, read, figures = quiz.prompt, quiz.read, quiz.figures

stands in a file beside the task's YAML, which names the three with `!function`: `doc_to_text`, the `function` of a
filter, and `process_results`. The contract is made when the task is loaded, before anything is asked. Nothing of
lm-eval is imported: it calls what is here.
"""

from collections.abc import Iterable, Mapping, Sequence
from os import environ
from typing import Self

from affidavit.contracts.contract import AnyContract
from affidavit.errors import UsageError
from affidavit.integrations.contract_words import contract_words
from affidavit.integrations.figures import FIGURES, OutputCounts, settled
from affidavit.integrations.given_contract import given_contract
from affidavit.integrations.output_reading import OutputReading
from affidavit.json_values import Fields, shown
from affidavit.python_words import for_python
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import ANSWER, with_answer
from affidavit.reading.rows import RowReader

NO_CONTENT = "LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER"
"""The variable with the text that lm-eval puts into the place of missing content; empty unless it is set."""
NO_ANSWER = "[invalid]"
"""What lm-eval's own filters leave of an output in which they find nothing; its own metrics take it for wrong."""


class ReadAnswer(str):
    """The answer that an output holds, or lm-eval's word for none: a text to its filters and metrics.

    It carries what the output counts in each figure, which no text could tell.
    """

    counts: OutputCounts | None = None

    @classmethod
    def of(cls, reading: OutputReading, counts: OutputCounts) -> Self:
        """The answer of an output that was read, and what it counts beside the others."""
        text = reading.answer_or_text
        answer = cls(NO_ANSWER if text is None else text)
        answer.counts = counts
        return answer


class TaskContract:
    """A contract as a task of lm-eval uses it."""

    @for_python
    def __init__(
        self,
        contract: str | AnyContract,
        *,
        options: str | None = None,
        parameters: Mapping[str, object] | None = None,
        answer: str = ANSWER,
    ) -> None:
        """`answer` is where a document has its right answer: a column, or a way into nested values."""
        self.contract = given_contract(contract, options, parameters)
        self._answer = ColumnPath(answer)
        self._reader = RowReader(self.contract)

    def __repr__(self) -> str:
        return f"TaskContract({self._reader.label})"

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # lm-eval copies a task's configuration to write it down; a contract never changes.
        return self

    def prompt(self, doc: Fields) -> str:
        """The words of the contract for a document: its instruction and its problem."""
        return contract_words(self.contract, self._row(doc), where=_place(doc))

    def read(self) -> "ContractFilter":
        """The filter, which lm-eval makes by a call when all outputs are there."""
        return ContractFilter(self)

    def readings(self, texts: Sequence[str | None], doc: Fields) -> list[OutputReading]:
        """What the contract says of each output to a document."""
        row, where = self._row(doc), _place(doc)
        return [OutputReading.of(self._reader, text, row, where=where) for text in texts]

    def figures(self, doc: Fields, results: Sequence[object]) -> dict[str, float]:
        """What a document counts in each figure: the mean over its outputs, and nothing where none is counted."""
        counts = [_counts(each, doc) for result in results for each in _listed(result)]
        found = {}
        for name in FIGURES:
            counted = [value for each in counts if (value := getattr(each, name)) is not None]
            if counted:
                found[name] = sum(counted) / len(counted)
        return found

    def _row(self, doc: Fields) -> Fields:
        return with_answer(doc, doc, self._answer)


class ContractFilter:
    """What lm-eval applies to all outputs of a task: an answer for each of them."""

    def __init__(self, contract: TaskContract) -> None:
        self._contract = contract

    def apply(self, resps: Iterable[Sequence[str | None]], docs: Iterable[Fields]) -> list[list[ReadAnswer]]:
        """The answers, in the order of the documents and of the outputs of each."""
        # An empty one could be what a model said: nobody knows which it is, and it is read as a text.
        placeholder = environ.get(NO_CONTENT) or None
        readings = [
            self._contract.readings([None if text == placeholder else text for text in texts], doc)
            for texts, doc in zip(resps, docs, strict=True)
        ]
        counts = iter(settled([each.counts for listed in readings for each in listed]))
        return [[ReadAnswer.of(each, next(counts)) for each in listed] for listed in readings]


def _listed(result: object) -> Sequence[object]:
    """The outputs of a result: one, where a filter has chosen it, or all of a document."""
    return result if isinstance(result, list) else [result]


def _counts(answer: object, doc: Fields) -> OutputCounts:
    if isinstance(answer, ReadAnswer) and answer.counts is not None:
        return answer.counts
    raise UsageError(
        _place(doc),
        expected="an answer that the contract has read",
        found=shown(answer),
        hint="Every filter of a task whose process_results are a contract's figures begins with its read; "
        "filters that choose, such as take_first, may follow.",
    )


def _place(doc: Mapping[str, object]) -> str:
    """Where a document is, for messages: its id, or how its question begins."""
    said = doc.get("id", doc.get("question"))
    return "a document" if said is None else f"document {shown(said)}"
