"""A contract as a program gives it: by the name that people type, or as the object that it is."""

from collections.abc import Mapping
from pathlib import Path

from affidavit.contracts.contract import AnyContract
from affidavit.contracts.given_parameters import with_files
from affidavit.contracts.own_file import checked_contract
from affidavit.contracts.parts import parts_of
from affidavit.contracts.registry import contract_named, parts_named
from affidavit.errors import UsageError


def given_contract(
    contract: str | AnyContract,
    options: str | None = None,
    parameters: Mapping[str, object] | None = None,
) -> AnyContract:
    """The contract that was meant, over this option set and with these parameters if any are given.

    A parameter that names a file is looked for in the current directory, as is a contract in a file of its own.

    >>> from affidavit import Number, label
    >>> label(given_contract("mcqa", "A-E")), given_contract("number", parameters={"marker": "####"}).marker
    ('mcqa/1', '####')
    >>> given_contract(Number(), parameters={"marker": "####"})
    Traceback (most recent call last):
    affidavit.errors.UsageError: parameters: expected none beside a contract that is an object, found marker
    Give them to the object itself.
    """
    if isinstance(contract, str):
        return contract_named(
            contract, options, with_files(parts_named(contract), parameters or {}, beside=Path())
        )
    asked = checked_contract(contract, "contract")
    if parameters:
        raise UsageError(
            "parameters",
            expected="none beside a contract that is an object",
            found=", ".join(parameters),
            hint="Give them to the object itself.",
        )
    return asked if options is None else parts_of(asked).with_options(options)
