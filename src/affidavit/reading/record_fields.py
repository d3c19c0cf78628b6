"""What a record says of a text that was read: the contract's own fields, cut to a size, and the right answer."""

from typing import NamedTuple

from affidavit.contracts.contract import COMPLIANT
from affidavit.json_values import Fields
from affidavit.reading.rows import UNREAD, RowReader

LONGEST_READ = 10_000
"""Characters of a text that a contract read from an output: all of it stands beside it, and a record must not
become many times as large as what was said. Whether it is right is found out before."""


class ReadFields(NamedTuple):
    """The fields of a reading, as a record has them."""

    protocol_compliant: bool | None
    own: Fields
    keyed: bool | None
    """Whether the right answer is known; of an unread output yes or no, never that nobody has told."""


def record_fields_of(reader: RowReader, row: Fields, *, where: str) -> ReadFields:
    """What the contract says of a row's text, as a record keeps it (ruling C2)."""
    result = reader.read(row, where=where)
    own: Fields = dict(result.added)
    compliant, known = own.pop(COMPLIANT), result.right_answer_known
    for name, value in own.items():
        if type(value) is str and len(value) > LONGEST_READ:
            own[name] = value[:LONGEST_READ]
    if "answer" in row:
        own["right_answer"] = row["answer"]
    if isinstance(compliant, bool):
        return ReadFields(compliant, own, known)
    return ReadFields(None, own, known is True if UNREAD in own else known)
