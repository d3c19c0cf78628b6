"""A contract as a study freezes it: its name, options, version and parameters, never its code.

Planned studies and outputs from elsewhere say it alike, so that whoever reads a directory needs to know one way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from affidavit.contracts.contract import AnyContract, label
from affidavit.contracts.declaration import declaration_of
from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.own_file import GivenContracts, is_in_file, object_name, read_own_file
from affidavit.contracts.parts import is_ours
from affidavit.contracts.registry import (
    BUILT_IN,
    contract_named,
    own_parameters,
    parts_named,
    task_contract_named,
)
from affidavit.errors import InputError, UsageError
from affidavit.json_values import Fields


@dataclass(frozen=True)
class NamedContract:
    """A contract by the name that somebody typed."""

    name: str
    """Of one from a file, without the folders: where it lies does not matter."""
    contract: AnyContract
    options: str = mcqa.options
    file_sha256: str | None = None
    """Of the file that it is from."""

    def table(self) -> Fields:
        """What a study's task says of it."""
        return {"contract": self.name, "options": self.options}

    def described(self) -> Fields:
        """What a study freezes of it."""
        return described(self.contract, self.file_sha256)


def named_contract(
    name: str, options: str | None = None, parameters: Mapping[str, object] | None = None
) -> NamedContract:
    """The contract of this name, read from its file if it is in one."""
    if parameters or not is_in_file(name):
        return NamedContract(name, contract_named(name, options, parameters), options or mcqa.options)
    if options is not None:
        hint = "Write the options into the file, as in MultipleChoice('A-E')."
        raise UsageError(
            "--options", expected="none beside a contract from a file", found=repr(options), hint=hint
        )
    file = read_own_file(name)
    folder_free = name.rpartition(":")[0].replace("\\", "/").rpartition("/")[2]
    return NamedContract(f"{folder_free}:{object_name(name)}", file.contract, file_sha256=file.sha256)


def described(contract: AnyContract, file_sha256: str | None = None) -> Fields:
    """A contract by name, version and parameters (ruling C3); of a user's own also what results need of it."""
    said: Fields = {"contract": label(contract), "params": dict(contract.params)}
    if not is_ours(contract):
        declared = declaration_of(contract)
        # A user's contract of the name of one of ours is never taken for it: it says what it declares, if nothing.
        if declared or contract.name in BUILT_IN:
            said["declared"] = declared
    return said if file_sha256 is None else {**said, "file_sha256": file_sha256}


def frozen_contract(name: str, options: str, said: Mapping[str, Any], given: GivenContracts) -> AnyContract:
    """The contract that a study has frozen; one from a file only if the user has named it."""
    if is_in_file(name):
        return given.contract(name, str(said["file_sha256"]))
    try:
        return task_contract_named(name, options, own_parameters(parts_named(name), said))
    except UsageError as error:  # it is the directory that names it, not the user
        raise InputError(error.where, expected=error.expected, found=error.found) from error
