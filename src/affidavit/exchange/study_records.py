"""The records of a study as they leave it for other tools: each question, judgement and label once.

A question that failed and was answered later is answered: what leaves is the last word on it. The journal is
walked once. Of a failure only its place is remembered until the walk has shown that nothing followed, so that what
is in memory grows with what was never answered, and with nothing else.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from affidavit.archive.record import Failed, ImportIdentity, Label, Record, Response
from affidavit.archive.segments import Place
from affidavit.archive.study_directory import FrozenStudy, StudyDirectory, parts_of_study
from affidavit.contracts.parts import Parts


def answer_of(response: Response, parts: Parts) -> str | None:
    """What was read from an output, in the item's own letters, as a text; None where nothing was."""
    own = response.fields
    columns = parts.result_columns(own, response.contract_params)
    value = columns.get("answer", own.get("own_answer", own.get("extracted_answer")))
    return value if value is None or isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class StudyRecords:
    """A study whose records are wanted, one after the other."""

    directory: StudyDirectory

    @cached_property
    def frozen(self) -> FrozenStudy:
        """What was frozen; a directory without it is refused."""
        return self.directory.frozen()

    @cached_property
    def parts(self) -> dict[str, Parts]:
        """The parts of the contract of each task; no code of a user is run."""
        return parts_of_study(self.frozen)

    def check(self) -> bool:
        """Whether a seal covers everything; what is sealed and not as it was sealed is refused."""
        seal = self.directory.seal()
        return seal is not None and not self.directory.check_seal(seal)

    def __iter__(self) -> Iterator[Record]:
        """Each in the order of the journal, and at the end the failures after which nothing came."""
        waiting: dict[bytes, Place] = {}
        for line in self.directory.walk():
            record = line.record
            if isinstance(record, Label):
                yield record
                continue
            key = bytes.fromhex(record.key)
            waiting.pop(key, None)
            # An output from elsewhere is not asked again: nothing follows its failure.
            if isinstance(record, Failed) and not isinstance(record.subject, ImportIdentity):
                waiting[key] = line.place
            else:
                yield record
        yield from self.directory.records_at(waiting.values())
