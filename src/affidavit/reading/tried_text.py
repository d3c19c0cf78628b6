"""One text through a contract, to see what it says: the reading, lenient readings, and what is marked.

It is read as a row that has nothing but this text, so that a contract of the user's own is held to its shape too.

    >>> from affidavit import mcqa
    >>> found = try_text(mcqa, "So <answer>B</answer>")
    >>> found.compliant, found.fields["deviation"], found.lenient_readings["mcqa-last-tag/1"]
    (False, <Deviation.TEXT_AROUND: 'text_around'>, 'B')
    >>> [(found.text[start:end], kind) for start, end, kind in found.marks]
    [('<answer>B</answer>', 'lenient')]
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from affidavit.contracts.contract import COMPLIANT, RAW_OUTPUT, AnyContract, label
from affidavit.contracts.parts import ANSWER, Mark, parts_of
from affidavit.json_values import Fields
from affidavit.reading.rows import LENIENT_READINGS, UNREAD, RowReader

WHERE = "the text"
_OF_VALIDATION = ("correct", "reason")


@dataclass(frozen=True)
class TriedText:
    """What a contract says of a text."""

    text: str
    compliant: bool | None
    """None: the contract, which is the user's own, raised."""
    error: str | None
    """What it raised."""
    fields: Fields
    """What was read, by the names of a record; what only a validation tells is there if there was one."""
    lenient_readings: Fields
    """By the label of each lenient reading that the contract has: its answer, or null."""
    readings_left_out: Mapping[str, str]
    """By the label of those that could not read, what they need to know of the question."""
    marks: tuple[Mark, ...]


def try_text(contract: AnyContract, text: str) -> TriedText:
    """What the contract says of the text alone, without an item."""
    reader = RowReader(contract)
    if reader.parts.lenient_readings():
        reader = RowReader(contract, lenses=True)
    added = reader.read({RAW_OUTPUT: text}, where=WHERE).added
    compliant, error, lenient = (added.pop(name, None) for name in (COMPLIANT, UNREAD, LENIENT_READINGS))
    fields = {name: value for name, value in added.items() if value is not None or name not in _OF_VALIDATION}
    marks = [] if error is not None else list(reader.parts.marks(text, fields))
    if compliant is True:  # whatever is marked is here what the contract did take
        marks = [mark._replace(kind=ANSWER) for mark in marks]
    readings = lenient if isinstance(lenient, dict) else {}
    return TriedText(
        text,
        compliant if isinstance(compliant, bool) else None,
        error if isinstance(error, str) else None,
        fields,
        readings,
        {
            label(lens): parts_of(lens).needs_to_know
            for lens in reader.parts.lenient_readings()
            if readings and label(lens) not in readings
        },
        tuple(_within(marks, len(text))),
    )


def _within(marks: Iterable[Mark], size: int) -> Iterable[Mark]:
    """The marks that lie in a text of this size: a user's contract may say anything."""
    return (mark for mark in marks if 0 <= mark.start < mark.end <= size)
