"""`verify` by several processes: the same words in the same order, and the same exit codes, as by one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.reading.worker_process import workers
from affidavit.running.derivation_workers import derived_lines
from affidavit.running.rederivation import Derived
from support.command import affidavit
from support.forgery import (
    Files,
    fields_of,
    in_memory,
    line_of,
    make_studies,
    put,
    resealed,
    segments_of,
    server,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ground(tmp_path_factory) -> Path:
    """A folder with a judged study that was asked and one that came from elsewhere."""
    folder = tmp_path_factory.mktemp("ground")
    with server() as serving:
        make_studies(folder, serving.url)
    return folder


Change = Callable[[dict], object]
FORGERIES: dict[str, Change] = {
    "nothing": lambda fields: None,
    "another text": lambda fields: (
        fields.update(raw_output="<answer>C</answer>") if "raw_output" in fields else None
    ),
    "another item": lambda fields: fields.update(item_id="q9") if "item_id" in fields else None,
    "another key": lambda fields: fields.update(key="0" * 64),
    "another finding": lambda fields: (
        fields.update(protocol_compliant=not fields["protocol_compliant"])
        if "protocol_compliant" in fields
        else None
    ),
    "the same key as others": lambda fields: fields.update(key="ab" * 32),
    "another prompt": lambda fields: fields.update(prompt_sha256="0" * 64) if "prompt_sha256" in fields else None,
}


def forged(files: Files, change: Change, *, every: int) -> Files:
    """Each such line of the journal changed, and all digests computed anew."""
    files = dict(files)
    for name in segments_of(files):
        lines = [fields_of(name, line) for line in files[name].splitlines(keepends=True)]
        for fields in lines[::every]:
            change(fields)
        files[name] = b"".join(line_of(name, fields) for fields in lines)
    return files


def verified(folder: Path, name: str, *options: str) -> tuple[int, dict, bytes]:
    """Exit code, what was found, and the words."""
    own = ("--contract", "own.py:own") if name.startswith("planned") else ()
    done = affidavit("verify", name, "--json", *own, *options, cwd=folder)
    return done.returncode, json.loads(done.stdout or b"{}"), done.stderr


@pytest.mark.parametrize("study", ["planned", "imported"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_what_several_find_is_what_one_finds(ground, study, forgery):
    mutant = ground / f"{study}-{forgery.replace(' ', '-')}"
    files = forged(in_memory(ground / study), FORGERIES[forgery], every=2)
    put(resealed(files, mutant), mutant)
    alone, several = (verified(ground, mutant.name, "--workers", count) for count in ("1", "3"))
    assert several == alone
    assert alone[0] == (0 if forgery == "nothing" else 5)
    assert b"Traceback" not in alone[2] + several[2]


def test_a_broken_line_is_the_same_corruption(ground):
    mutant = ground / "planned-broken"
    files = dict(in_memory(ground / "planned"))
    name = segments_of(files)[0]
    files[name] = files[name].replace(b'"alpha"', b'"alphb"', 1)
    put(files, mutant)
    alone, several = (verified(ground, mutant.name, "--workers", count) for count in ("1", "3"))
    assert several == alone
    assert alone[0] == 5


def test_a_contract_that_nobody_named_is_not_run_by_workers_either(ground):
    (ground / "trace").unlink(missing_ok=True)
    done = affidavit("verify", "planned", "--workers", "3", cwd=ground)
    assert done.returncode == 2
    assert not (ground / "trace").exists()


@pytest.mark.parametrize("range_bytes", [1, 5000, 1 << 20])
def test_lines_come_back_in_their_order_however_many_are_in_a_range(ground, range_bytes):
    """And with what is wrong with each: here with the form of every third."""
    mutant = ground / f"planned-order-{range_bytes}"
    files = forged(in_memory(ground / "planned"), lambda fields: fields.update(key="0" * 64), every=3)
    put(resealed(files, mutant), mutant)
    directory, given = StudyDirectory(mutant), GivenContracts([f"{ground / 'own.py'}:own"])
    with workers("derive", 2) as begun:
        found = list(derived_lines(directory.walk(), begun, directory, given, range_bytes=range_bytes))
    assert [line.placed.seq for line, _ in found] == list(range(1, len(found) + 1))
    assert all(derived is not None for _, derived in found)
    assert any(derived != Derived() for _, derived in found)
    assert all(derived == Derived() for number, (_, derived) in enumerate(found) if number % 3)
