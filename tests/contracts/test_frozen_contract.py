"""A contract as a study freezes it: by name, version and parameters; one from a file by its digest, never by its place."""

import pytest

from affidavit.contracts.frozen_contract import described, frozen_contract, named_contract
from affidavit.contracts.mcqa import MultipleChoice, mcqa
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import InputError, UsageError

OWN = "from affidavit import MultipleChoice\n\nfive = MultipleChoice('A-E')\n"


def test_a_contract_of_ours_comes_back_from_what_was_frozen():
    for options in (None, "A-C"):
        named = named_contract("mcqa", options)
        table, said = named.table(), named.described()
        assert frozen_contract(table["contract"], table["options"], said, GivenContracts()) == named.contract
        assert said == {"contract": "mcqa/1", "params": {"options": options or "A-D"}}
    assert described(mcqa, "ab") == {**described(mcqa), "file_sha256": "ab"}


def test_one_from_a_file_comes_back_only_if_it_is_named_and_the_same(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    named = named_contract(f"{path}:five")
    table, said = named.table(), named.described()
    assert (table["contract"], named.contract) == ("own.py:five", MultipleChoice("A-E")), "folders are not kept"
    assert frozen_contract("own.py:five", "A-D", said, GivenContracts([f"{path}:five"])) == named.contract
    for given in (GivenContracts(), GivenContracts([f"{path}:five"])):
        path.write_text(f"{OWN}# changed\n")
        with pytest.raises(UsageError, match="the file of the contract 'five' that read these outputs"):
            frozen_contract("own.py:five", "A-D", said, given)


def test_what_cannot_be_is_refused(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    with pytest.raises(UsageError, match="--options: expected none beside a contract from a file, found 'A-C'"):
        named_contract(f"{tmp_path}/own.py:five", "A-C")
    with pytest.raises(InputError, match="found 'nothing'"):
        frozen_contract("nothing", "A-D", {}, GivenContracts())
