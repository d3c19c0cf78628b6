"""What a worker does of part files: the number of a range → its part, written and not yet committed."""

from pathlib import Path

import msgspec

from affidavit.contracts.contract import AnyContract
from affidavit.contracts.frozen_contract import frozen_contract
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import AffidavitError, InputError, StorageError, UsageError
from affidavit.reading.part_files.part_reading import PartReader, Places, WrittenPart
from affidavit.reading.part_files.plan import Plan
from affidavit.reading.worker_channel import Answer, Message

_KINDS: dict[str, type[AffidavitError]] = {
    kind.__name__: kind for kind in (InputError, UsageError, StorageError, AffidavitError)
}


class PartSetup(msgspec.Struct, frozen=True):
    """What is the same for all ranges."""

    plan: Plan
    folder: str
    base: str
    """The directory from which inputs are named."""
    strict: bool
    own_file: str | None
    """Where a contract of the user's own is; None for those that come with the package."""
    named: dict[str, str]
    """Columns that no field of the contract may replace, each with the option that named it."""


class Refused(msgspec.Struct, frozen=True, tag=True):
    """Why a range has no part."""

    kind: str
    where: str
    expected: str
    found: str
    hint: str

    def error(self) -> AffidavitError:
        """The same error, here."""
        kind = _KINDS.get(self.kind, AffidavitError)
        return kind(self.where, expected=self.expected, found=self.found, hint=self.hint)


class Written(msgspec.Struct, frozen=True, tag=True):
    """A part that was written."""

    written: WrittenPart


_setup = msgspec.msgpack.Decoder(PartSetup)
_answer: "msgspec.msgpack.Decoder[Refused | Written]" = msgspec.msgpack.Decoder(Refused | Written)


def contract_of(plan: Plan, own_file: str | None) -> AnyContract:
    """The contract of a plan; one of the user's own is run only where the user has named its file."""
    given = GivenContracts(() if own_file is None else (own_file,))
    return frozen_contract(plan.contract, plan.options, plan.described, given)


def begin(message: Message) -> "PartJob":
    """The job that a setup is about."""
    return PartJob(_setup.decode(message.content))


class PartJob:
    """Ranges, one after another."""

    def __init__(self, setup: PartSetup) -> None:
        contract = contract_of(setup.plan, setup.own_file)
        places = Places(Path(setup.base), Path(setup.folder))
        self._reader = PartReader(setup.plan, contract, places, setup.named, strict=setup.strict)

    def __call__(self, message: Message) -> Answer:
        """The part of a range, or why there is none."""
        return Answer(msgspec.msgpack.encode(self.read(int(message.content))))

    def read(self, number: int) -> Written | Refused:
        """The same, here."""
        try:
            return Written(self._reader.read(number))
        except AffidavitError as error:
            return Refused(type(error).__name__, error.where, error.expected, error.found, error.hint)


def written_or_raise(answer: Written | Refused) -> WrittenPart:
    """The part; the error in its place if there is none."""
    if isinstance(answer, Refused):
        raise answer.error()
    return answer.written


def answered(content: bytes) -> WrittenPart:
    """What a worker said."""
    return written_or_raise(_answer.decode(content))
