"""`affidavit doctor`: facts of this machine, what a named model can do, and how it ends."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit import __version__
from affidavit.commands import machine
from affidavit.commands.doctor_report import (
    CheckedStudy,
    as_json,
    lines_before_asking,
    model_lines,
    slow_parts,
    usable,
)
from affidavit.commands.machine import Extra, Machine, this_machine
from affidavit.errors import InputError, MistakesError, UsageError
from affidavit.models.ability import CheckedModel, Lacks, Untold, Works
from affidavit.models.weights import Weights
from support.command import affidavit
from support.fault_server import dead_address
from support.pretend_servers import OLLAMA, Able, pretending
from support.studies import fine, items, write_items, write_study

SMALL = Weights(
    path=Path("small.gguf"),
    size=98_362_432,
    sha256="ab",
    quantisation="Q4_1 (3)",
    licence=None,
    quantised_twice_from=None,
)
BARE = Extra(name="embedded", libraries={"gguf": "0.10", "xllamacpp": None})
GOOD = Machine(
    versions={"affidavit": "0.1.0", "Python": "3.11.2 (CPython)", "platform": "Linux"},
    extras=(BARE, Extra(name="hf", libraries={"datasets": "4.0"})),
    models_directory="~/.cache/affidavit/models",
    cache="~/.cache/affidavit/columns",
    cache_bytes=1_500_000,
    open_files=(1024, -1),
    cores=2,
    avx=True,
    sync_seconds=0.004,
)
SERVER = CheckedModel(
    name="server",
    where="http://127.0.0.1:8000/v1",
    flavour="vllm",
    asked_as="qwen",
    listed=["qwen", "other"],
    abilities={"seed": Works(), "grammar": Lacks("taken and ignored"), "reasoning": Untold("none came")},
)
AWAY = CheckedModel(name="away", where="http://h/v1", flavour="openai", fault="nobody is there\nIs it running?")


# --- the report, of facts that are given ---


def test_the_report_is_for_people():
    assert [*lines_before_asking(GOOD), *model_lines([SERVER, AWAY])] == [
        "installation",
        "  affidavit  0.1.0",
        "  Python     3.11.2 (CPython)",
        "  platform   Linux",
        "",
        "extras",
        "  embedded  not installed: pip install 'affidavit[embedded]'",
        "  hf        datasets 4.0",
        "",
        "weights in ~/.cache/affidavit/models",
        "  none; to get a small model: affidavit models pull smollm2",
        "",
        "machine",
        "  2 cores; open files: 1,024 now, no limit above",
        "  a small file takes 4.0 ms to the disk",
        "  cache of columns in ~/.cache/affidavit/columns: 1.5 MB of at most 5,000.0 MB",
        "",
        "would be slow",
        "  nothing that was looked at",
        "",
        "server at http://127.0.0.1:8000/v1 (vllm)",
        "  lists qwen, other",
        "  answers as qwen",
        "  seed       yes",
        "  grammar    no: taken and ignored",
        "  reasoning  cannot be told: none came",
        "",
        "away at http://h/v1 (openai)",
        "  cannot be used",
        "    nobody is there",
        "    Is it running?",
        "",
        "1 of 2 can be asked",
    ]


def test_the_report_is_for_programs():
    content = json.loads(json.dumps(as_json(GOOD, [SERVER, AWAY])))
    assert content["limits"] == {"open_files": 1024, "most_open_files": -1, "cores": 2, "avx2": True}
    assert content["extras"][0] == {
        "name": "embedded",
        "installed": False,
        "libraries": {"gguf": "0.10", "xllamacpp": None},
        "command": "pip install 'affidavit[embedded]'",
    }
    assert [model["usable"] for model in content["models"]] == [True, False]
    assert content["models"][0]["abilities"]["grammar"] == {"found": "no", "detail": "taken and ignored"}
    assert content["usable"] is False
    assert usable([SERVER])
    assert usable([])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"cores": 1}, ["one core"]),
        ({"avx": False}, ["no AVX2"]),
        ({"avx": None}, []),
        ({"sync_seconds": 0.049}, []),
        ({"sync_seconds": 0.2}, ["a file takes 200 ms to the disk"]),
        ({"sync_seconds": None}, ["not measured"]),
        ({"open_files": (64, 128)}, ["at most 128 open files"]),
        ({"weights": (SMALL,)}, ["weights are here, and nothing that runs them: pip install"]),
        ({"weights": (replace(SMALL, fault="broken"),)}, []),
        ({"cores": 1, "avx": False}, ["one core", "no AVX2"]),
    ],
)
def test_what_would_be_slow(changed, said):
    found = slow_parts(replace(GOOD, **changed))
    assert len(found) == len(said)
    assert all(line.startswith(words) for line, words in zip(found, said, strict=True))


@pytest.mark.parametrize(
    ("cores", "files", "line"),
    [
        (1, (64, 128), "  1 core; open files: 64 now, 128 at most"),
        (16, (1024, -1), "  16 cores; open files: 1,024 now, no limit above"),
        (2, (-1, -1), "  2 cores; open files: no limit"),
    ],
)
def test_limits_are_told(cores, files, line):
    assert line in lines_before_asking(replace(GOOD, cores=cores, open_files=files))


def test_weights_are_listed_with_their_faults():
    lines = lines_before_asking(replace(GOOD, weights=(SMALL, replace(SMALL, fault="it is torn"))))
    assert "  small  98.4 MB" in lines
    assert "  small  98.4 MB  cannot be used: it is torn" in lines
    assert not [line for line in lines if "can be asked" in line]


ONE = InputError("s.toml", expected="a name", found="none", hint="Give it one.")
TWO = MistakesError([ONE, UsageError("CONTRACT", expected="mcqa", found="'x'")])


def test_a_study_that_does_not_fit_is_told_at_the_end_too():
    lines = model_lines([], [CheckedStudy("fine.toml"), CheckedStudy("s.toml", ONE)])
    assert lines[-2:] == ["0 of 0 can be asked", "s.toml does not fit: see above"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (None, ["  study: fits"]),
        (ONE, ["  study: does not fit", "    s.toml: expected a name, found none", "    Give it one."]),
        (
            TWO,
            [
                "  study: does not fit",
                "    2 mistakes",
                "    1. s.toml: expected a name, found none",
                "       Give it one.",
                "    2. CONTRACT: expected mcqa, found 'x'",
            ],
        ),
    ],
)
def test_a_study_is_told_before_any_model_is_asked(fault, said):
    study = CheckedStudy("s.toml", fault)
    lines = lines_before_asking(GOOD, [study])
    assert lines[lines.index("s.toml") :] == ["s.toml", *said]
    (content,) = as_json(GOOD, [], [study])["studies"]
    assert content["fits"] is (fault is None)
    assert [each["where"] for each in content["mistakes"]] == [each.where for each in study.mistakes]


# --- the facts ---


def test_the_facts_are_those_of_this_installation(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/some").write_bytes(b"a" * 300)
    found = this_machine()
    assert found.versions["affidavit"] == __version__
    assert re.fullmatch(r"\d.*", found.versions["polars"])
    assert [extra.name for extra in found.extras] == ["bulk", "embedded", "hf", "ray"]
    assert set(found.extras[1].libraries) == {"gguf", "xllamacpp"}
    assert (found.cache, found.cache_bytes) == (str(tmp_path / "cache"), 300)
    assert found.models_directory == str(tmp_path / "models")
    assert {"AFFIDAVIT_CACHE", "AFFIDAVIT_MODELS"} <= set(found.variables)
    assert found.cores >= 1
    assert found.sync_seconds > 0


@pytest.mark.parametrize(
    ("flags", "kind", "expected"),
    [
        ("flags\t\t: fpu sse avx avx2", "x86_64", True),
        ("flags\t\t: fpu sse avx", "x86_64", False),
        ("model name: other", "x86_64", None),
        ("Features: fp asimd", "aarch64", None),
    ],
)
def test_whether_a_processor_has_avx(tmp_path, flags, kind, expected):
    (tmp_path / "cpuinfo").write_text(f"processor: 0\n{flags}\n")
    assert machine._has_avx(tmp_path / "cpuinfo", kind) is expected
    assert machine._has_avx(tmp_path / "nothing", kind) is None


def test_a_directory_that_takes_no_file_is_not_measured(tmp_path):
    assert machine._sync_seconds(tmp_path / "nowhere") is None
    assert list(tmp_path.iterdir()) == []
    assert machine._sync_seconds(tmp_path) > 0
    assert list(tmp_path.iterdir()) == []


def test_whose_home_it_is_is_not_told(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    assert machine._from_home(Path("/home/somebody/.cache/affidavit")) == "~/.cache/affidavit"
    assert machine._from_home(Path("/srv/models")) == "/srv/models"


# --- the command ---


@pytest.mark.slow
def test_without_a_name_it_says_what_is_here():
    done = affidavit("doctor")
    assert fine(done, 0)
    assert re.match(rf"installation\n  affidavit +{re.escape(__version__)}\n", done.stdout.decode())
    assert done.stderr == b""


@pytest.mark.slow
@pytest.mark.parametrize("way", [[], ["--model"]])
def test_a_server_is_asked_by_its_address(way):
    with pretending(Able(**OLLAMA, schema=True)) as url:
        done = affidavit("doctor", *way, f"{url}/v1", "--json")
        wrong = affidavit("doctor", *way, url)
    assert fine(done, 0)
    (model,) = json.loads(done.stdout)["models"]
    assert (model["where"], model["asked_as"]) == (f"{url}/v1", "llama3.2:latest")
    assert model["abilities"]["JSON schema"] == {"found": "yes", "detail": ""}
    assert fine(wrong, 4)
    assert f'write base_url = "{url}/v1"'.encode() in wrong.stdout


STUDY = """
[study]
name = "s"

[models.one]
base_url = "URL/v1"
model = "llama3.2:latest"
flavour = "llamacpp"

[models.two]
base_url = "http://DEAD/v1"

[tasks.quiz]
contract = "mcqa"
items = "items.jsonl"

[conditions.held]
constrained = true
"""


@pytest.mark.slow
@pytest.mark.parametrize("fits", [True, False])
def test_a_study_is_checked_and_every_model_of_it_is_asked(tmp_path, fits):
    if fits:
        write_items(tmp_path / "items.jsonl", items(2))
    with pretending(Able(**OLLAMA)) as url, dead_address() as dead:
        (tmp_path / "study.toml").write_text(STUDY.replace("URL", url).replace("DEAD", dead))
        done = affidavit("doctor", tmp_path / "study.toml", "--json")
    assert fine(done, 4 if fits else 2)
    (study,) = json.loads(done.stdout)["studies"]
    assert study["fits"] is fits
    assert fits or study["mistakes"][0]["expected"] == "a file of items"
    one, two = json.loads(done.stdout)["models"]
    assert "no grammar holds here" in one["fault"]
    assert one["abilities"]["grammar"]["found"] == "no"
    assert "the connection was refused" in two["fault"]
    assert done.stderr == b"asking one\nasking two\n"


@pytest.mark.slow
def test_a_study_whose_models_cannot_be_read_is_told_with_all_its_mistakes(tmp_path):
    (tmp_path / "study.toml").write_text(
        STUDY.replace("[conditions.held]", "slots = 3\n[conditions.held]").replace("base_url", "base_ulr")
    )
    done = affidavit("doctor", tmp_path / "study.toml")
    assert fine(done, 2)
    assert done.stdout == b""
    assert b"3 mistakes" in done.stderr


@pytest.mark.slow
def test_no_secret_is_printed(tmp_path):
    """Neither a key, nor a password in an address, also where the server repeats them."""
    secret = "-".join(("sk", "5ecret", "5ecret"))
    refusal = (401, {"error": {"message": f"Incorrect API key provided: {secret}."}})
    with pretending(Able(key="another", wrong_key=refusal)) as url:
        done = affidavit("doctor", f"{url}/v1", "--key-env", "DOCTOR_KEY", DOCTOR_KEY=secret)
        in_address = affidavit("doctor", f"{url.replace('://', f'://me:{secret}@')}/v1", "--json")
    for each in (done, in_address):
        assert fine(each, 4)
        assert secret.encode() not in each.stdout + each.stderr
    assert b"Set the variable DOCTOR_KEY to a key that this server takes" in done.stdout


@pytest.mark.slow
def test_what_one_server_says_holds_no_secret_of_another(tmp_path):
    secret = "-".join(("pw", "bravo", "999"))
    upstream = (400, {"error": {"message": f"upstream bob:{secret} refused"}})
    with pretending(Able(key="k", wrong_key=upstream)) as first, pretending(Able()) as second:
        addresses = [f"{first}/v1", f"{second.replace('://', f'://bob:{secret}@')}/v1"]
        path = write_study(tmp_path, addresses, count=2)
        done = affidavit("doctor", path)
    assert b"upstream" in done.stdout
    assert secret.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.toml"], "nothing.toml: expected a TOML file with [models.NAME]"),
        (["ftp://127.0.0.1/v1"], "expected an http:// or https:// address"),
        (["nothing.toml", "--key-env", "KEY"], "--key-env: expected the address of a server, found nothing.toml"),
        (["--zebra"], "No such option"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, said):
    done = affidavit("doctor", *arguments)
    assert fine(done, 2)
    assert said in done.stderr.decode()
    assert done.stdout == b""
