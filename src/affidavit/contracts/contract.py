"""The shape that every contract has: the words given to the model, and the code that reads what comes back.

Three questions are kept apart (ruling C1). Whether an output *arrived* is not asked here: a contract
only ever sees text that did. `read` says whether the text keeps the contract; `validate` says whether
what was read is right. A reading never holds the raw text, so `validate` cannot peek at it.

A contract of one's own is any object of this shape; nothing has to be inherited or registered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from affidavit.json_values import Fields

RAW_OUTPUT = "raw_output"
"""The field that holds a model's text verbatim (ruling C2)."""
COMPLIANT = "protocol_compliant"


class Span(NamedTuple):
    """A stretch of text in code points: `text[span.start:span.end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether an answer that was read is right, and by which rule."""

    correct: bool
    reason: str


class Reading(Protocol):
    """What a contract found in one raw output."""

    @property
    def protocol_compliant(self) -> bool:
        """Whether the output keeps the contract."""

    def fields(self) -> Fields:
        """The contract's own findings by their source names; JSON values only."""


ItemT_contra = TypeVar("ItemT_contra", contravariant=True)
ReadingT = TypeVar("ReadingT")


class Contract(Protocol[ItemT_contra, ReadingT]):
    """What is asked of a model, and how its answer is read.

    Same raw text, item, version and parameters: the same reading, for ever (ruling C3). A change of
    behaviour is a new version.
    """

    @property
    def name(self) -> str:
        """One word, such as `mcqa`."""

    @property
    def version(self) -> int:
        """Counts changes of behaviour from 1."""

    @property
    def params(self) -> Mapping[str, object]:
        """JSON values that, beside name and version, decide every reading."""

    def instruction(self, item: ItemT_contra | None = None, /) -> str:
        """The words given to the model."""

    def read(self, raw: str, item: ItemT_contra | None = None, /) -> ReadingT:
        """What the text says; a value for any string, in time linear in its length (ruling C4)."""

    def validate(self, reading: ReadingT, item: ItemT_contra, /) -> Validation | None:
        """Whether what was read is right; None where there is nothing to compare."""

    def grammar(self, item: ItemT_contra | None = None, /) -> str | None:
        """A GBNF grammar that only compliant outputs fit; None where there is none."""


AnyContract = Contract[Any, Any]
CORE = ("name", "version", "params", "instruction", "read", "validate", "grammar")
"""What every contract has."""


def label(contract: Contract[ItemT_contra, ReadingT]) -> str:
    """Name and version as they are written everywhere, such as `mcqa/1`."""
    return f"{contract.name}/{contract.version}"


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The known right answer to an item, or None where nobody knows it."""

    answer: str | None


class Answered(Protocol):
    """Any item that carries its right answer."""

    @property
    def answer(self) -> str | None:
        """The right answer, or None where nobody knows it."""


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """One answer and where it stands: enough for most contracts, also for one of your own.

    >>> AnswerReading("42", Span(5, 7)).protocol_compliant
    True
    >>> AnswerReading.nothing().fields()
    {'extracted_answer': None, 'answer_start': None, 'answer_end': None}
    """

    extracted_answer: str | None
    answer_span: Span | None = None

    @classmethod
    def nothing(cls) -> "AnswerReading":
        """The reading of an output that does not keep its contract."""
        return cls(None)

    @property
    def protocol_compliant(self) -> bool:
        """An answer was read."""
        return self.extracted_answer is not None

    def fields(self) -> Fields:
        """The answer and its place; None throughout when there is none."""
        start, end = self.answer_span if self.answer_span is not None else (None, None)
        return {"extracted_answer": self.extracted_answer, "answer_start": start, "answer_end": end}


@dataclass(frozen=True, slots=True)
class Unread:
    """An output that its contract could not read because the contract itself raised (ruling C8)."""

    error: str


@dataclass(frozen=True, slots=True)
class Read:
    """An output that was read: the reading and, where there is something to compare, its validation."""

    reading: Reading
    validation: Validation | None


ResultT = TypeVar("ResultT")


def guarded(step: Callable[[], ResultT]) -> ResultT | Unread:
    """The result of a step of a user's code; whatever it raises becomes a value (ruling C8).

    Built-in contracts are not called through this, but for the last resort of a run: it must not lose an answer.

    >>> guarded(lambda: 1 // 0)
    Unread(error='ZeroDivisionError: integer division or modulo by zero')
    """
    try:
        return step()
    except KeyboardInterrupt:
        raise
    # The one place where foreign code may fail in any way, even by `sys.exit` or a panic of a library; only Ctrl-C
    # goes through.
    except BaseException as error:  # noqa: BLE001
        return Unread(_described(error))


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}".encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - an error that cannot even say what it is
        return type(error).__name__
