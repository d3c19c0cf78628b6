"""`affidavit run` from a study file to a sealed directory: what it promises on an ordinary day, and to whom."""

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.journal import Archive, Walk
from affidavit.archive.record import Failed, QuestionIdentity
from affidavit.archive.seal import Root, file_sha256
from affidavit.errors import StorageError
from support.command import affidavit
from support.fault_server import (
    ESCAPES,
    RIGHT,
    FaultServer,
    bad_request,
    content_filter,
    cut_chunked,
    cut_json,
    dead_address,
    echo,
    error_object,
    escaping_error,
    every,
    first,
    not_http,
    reset,
    says,
    status,
    unauthorised,
)
from support.studies import (
    FIRST,
    every_byte,
    fine,
    items,
    quiz,
    records,
    run,
    told,
    told_by_verify,
    write_items,
    write_study,
)

# --- studies to run ---


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    """A server without faults, for tests that look at nothing but what they asked."""
    with FaultServer() as running:
        yield running


# --- an ordinary study ---


@pytest.mark.slow
def test_a_study_is_run_once_and_then_holds(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url)
        done = run(tmp_path)
        assert fine(done, 0)
        assert b"20 planned = 20 compliant + 0 non-compliant + 0 unread + 0 failed + 0 pending" in done.stdout
        assert b"100.0% [83.9, 100.0] n=20" in done.stdout
        assert server.questions() == {f"q{n}": 1 for n in range(20)}
        again = run(tmp_path)
        assert fine(again, 0)
        assert b"nothing to do" in again.stdout
        assert (len(server.log), server.looked_up) == (20, 1)
    checked = affidavit("verify", tmp_path / "out")
    assert fine(checked, 0)
    assert b"20 records, 20 of them responses; sealed" in checked.stdout


@pytest.mark.slow
def test_the_numbers_for_programs_are_those_for_people(tmp_path, server):
    write_study(tmp_path, server.url, count=3)
    before, after = told(run(tmp_path, "--json")), told(run(tmp_path, "--json"))
    assert (before["asked"], after["asked"]) == (3, 0)
    assert before["root_sha256"] == after["root_sha256"] == told_by_verify(tmp_path / "out")["root_sha256"]
    assert before["tasks"] == after["tasks"]
    assert before["tasks"]["quiz"]["accuracy_over_compliant"]["value"] == 1.0


@pytest.mark.slow
def test_what_is_asked_is_what_the_study_says(tmp_path):
    changed = {
        "models": {"m": {"model": "org/m-1", "body": {"top_k": 3}, "headers": {"X-Title": "trial"}}},
        "decoding": {"temperature": 0.5, "max_tokens": 7, "top_p": 0.9},
        "conditions": {"polite": {"preamble": "Please.", "system": "Be brief."}},
    }
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=1, changed=changed)
        assert fine(run(tmp_path), 0)
    asked = server.log[0]
    assert asked.headers["X-Title"] == "trial"
    seed = asked.body.pop("seed")
    assert 0 <= seed < 2**31
    system, user = asked.body.pop("messages")
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"].startswith("Please.\n\nAnswer the following")
    assert user["content"].endswith("[q0] Which one?\n\nA. w\nB. x\nC. y\nD. z")
    assert asked.body == {"model": "org/m-1", "temperature": 0.5, "max_tokens": 7, "top_p": 0.9, "top_k": 3}


@pytest.mark.slow
def test_models_conditions_and_samples_multiply(tmp_path):
    with FaultServer() as server:
        changed = {
            "models": {"other": {"base_url": server.url, "connections": 3}},
            "conditions": {"free": {}, "urged": {"preamble": "Think."}},
            "decoding": {"samples": 3, "temperature": 1.0},
        }
        write_study(tmp_path, server.url, count=5, changed=changed)
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        assert quiz(done)["compliant"] == len(server.log) == 5 * 2 * 2 * 3
    kept = records(tmp_path / "out")
    names = ("item_id", "model", "condition", "sample")
    assert len({tuple(each[name] for name in names) for each in kept}) == len({each["key"] for each in kept}) == 60
    seeds: dict[tuple[str, str], set[int]] = {}
    for asked in server.log:
        seeds.setdefault((asked.question, asked.body["model"]), set()).add(asked.body["seed"])
    assert all(len(each) == 3 for each in seeds.values()), "one seed per sample, shared by conditions"
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_several_tasks_each_with_its_contract(tmp_path):
    write_items(
        tmp_path / "hands.jsonl", [{"id": "h1", "numbers": [4, 9, 10, 13]}, {"id": 2, "numbers": [1, 1, 1, 1]}]
    )

    def answer(asked):
        return RIGHT if asked.question else "Let me see.\n<answer>(13-9)*(10-4)</answer>"

    with FaultServer(answer=answer) as server:
        changed = {"tasks": {"hands": {"contract": "game24", "items": "hands.jsonl"}}}
        write_study(tmp_path, server.url, count=4, changed=changed)
        done = run(tmp_path, "--json")
    assert fine(done, 0)
    tasks = told(done)["tasks"]
    assert (tasks["quiz"]["n"], tasks["hands"]["n"]) == (4, 2)
    assert tasks["hands"]["reasons"] == {"ok": 1, "wrong_numbers": 1}
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_a_contract_that_raises_leaves_its_output_unread_and_the_others_read(tmp_path):
    # ruling C8
    (tmp_path / "own.py").write_text(
        "from affidavit import AnswerReading, Validation\n"
        "class Own:\n"
        "    name, version, params = 'own', 1, {}\n"
        "    def instruction(self, item=None): return ''\n"
        "    def read(self, raw, item=None):\n"
        "        if raw != 'fine': raise KeyError(raw)\n"
        "        return AnswerReading(raw)\n"
        "    def validate(self, reading, item): return Validation(True, 'so')\n"
        "    def grammar(self, item=None): return None\n"
        "own = Own()\n"
    )
    with FaultServer({"q2": every(says(ESCAPES))}, answer=lambda asked: "fine") as server:
        write_study(tmp_path, server.url, count=5, changed={"tasks": {"quiz": {"contract": "own.py:own"}}})
        done = run(tmp_path)
        assert fine(done, 4)
        assert b"5 planned = 4 compliant + 0 non-compliant + 1 unread + 0 failed + 0 pending" in done.stdout
        assert harmless(done)
        assert records(tmp_path / "out")[-1]["raw_output"] in ("fine", ESCAPES)
        # A study that somebody sent must not choose which code is run.
        refused = affidavit("verify", tmp_path / "out")
        assert fine(refused, 2)
        assert b"--study STUDY.toml" in refused.stderr
        assert fine(affidavit("verify", tmp_path / "out", "--study", tmp_path / "study.toml"), 0)


# --- what is refused before the first request ---


@pytest.mark.slow
def test_a_changed_study_is_refused_with_what_changed(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url)
        assert fine(run(tmp_path), 0)
        before, asked = every_byte(tmp_path / "out"), len(server.log)
        changed = {
            "decoding": {"temperature": 0.7},
            "study": {"seed": 8},
            "conditions": {"urged": {"preamble": "!"}},
        }
        write_study(tmp_path, server.url, count=19, changed=changed)
        done = run(tmp_path)
        assert fine(done, 2)
        for said in (
            b"decoding.temperature: was 0.0, is 0.7",
            b"seed: was 7, is 8",
            b"conditions.base: was {",
        ):
            assert said in done.stderr, done.stderr
        assert len(server.log) == asked
        unlocked = re.compile(rb"out/lock[^\n]*\n")
        assert unlocked.sub(b"", every_byte(tmp_path / "out")) == unlocked.sub(b"", before)


@pytest.mark.slow
def test_where_a_model_is_reached_and_how_patiently_may_change(tmp_path, server):
    with dead_address() as address:
        write_study(tmp_path, f"http://{address}/v1", count=3)
        assert fine(run(tmp_path), 2)
    write_study(tmp_path, server.url, count=2)
    assert fine(run(tmp_path), 0)
    changed = {"models": {"m": {"connections": 2, "headers": {"X-New": "yes"}}}, "limits": {"attempts": 3}}
    write_study(tmp_path, server.url, count=3, changed=changed)
    assert fine(run(tmp_path), 0)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"decoding": {"temprature": 1.0}}, "Did you mean temperature?"),
        ({"modles": {}}, "Did you mean models?"),
        ({"models": {"m": {"conections": 3}}}, "Did you mean connections?"),
        ({"limits": {"attempts": 0}}, "a positive, finite limits.attempts, found 0"),
        ({"limits": {"attempt": 1e300}}, "a positive, finite limits.attempt, found 1e+300"),
        ({"study": {"name": "../elsewhere"}}, "underscores in study.name, found '../elsewhere'"),
        ({"tasks": {"quiz": {"contract": "mcqaa"}}}, "Did you mean mcqa?"),
        (
            {"tasks": {"quiz": {"items": "none.jsonl"}}},
            "tasks.quiz.items: expected a file of items, found no file",
        ),
        (
            {"tasks": {"quiz": {"options": "A-E"}}},
            "items.jsonl:1: expected 5 options, as A-E says, found 4 options",
        ),
        (
            {"models": {"m": {"key_env": "AFFIDAVIT_TEST_NO_SUCH_KEY"}}},
            "expected a value in the environment variable AFFIDAVIT_TEST_NO_SUCH_KEY, found none",
        ),
        (
            {"models": {"m": {"base_url": "localhost:8000/v1"}}},
            "expected an http:// or https:// address in models.m.base_url, found something else",
        ),
        ({"models": {"m": {"base_url": []}}}, "exactly one of base_url, embedded, gguf, replay"),
        ({"models": {"m": {"replay": "elsewhere"}}}, "found base_url and replay"),
        ({"models": {"m": {"context": 4096}}}, "no context in models.m: it has no meaning beside base_url"),
        (
            {"models": {"m": {"base_url": "http://[::1/v1"}}},
            "expected an http:// or https:// address in models.m.base_url, found something else",
        ),
        (
            {"models": {"m": {"base_url": None, "connections": None, "replay": "nowhere"}}},
            "nowhere: expected a study directory, found nothing at this place",
        ),
        (
            {"models": {"m": {"base_url": None, "connections": None, "gguf": "nowhere"}}},
            "nowhere: expected a file of weights, found No such file or directory",
        ),
        (
            {"models": {"m": {"base_url": None, "connections": None, "embedded": "smolm2"}}},
            "Did you mean smollm2?",
        ),
        ({"conditions": {"held": {"constrained": True}}}, "'openai' takes no grammar"),
        ({"decoding": {"samples": 0}}, "a positive, finite decoding.samples, found 0"),
    ],
)
def test_a_study_that_is_wrong_is_refused_before_anything_is_asked(tmp_path, server, changed, said):
    write_study(tmp_path, server.url, changed=changed)
    asked = len(server.log), server.looked_up
    done = run(tmp_path)
    assert fine(done, 2)
    assert said in done.stderr.decode()
    assert (len(server.log), server.looked_up) == asked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"options": ["one", "two", "three"]}, "expected 4 options, as A-D says, found 3 options"),
        ({"answer": "E"}, "expected a letter from A to D in 'answer', found \"E\""),
        ({"question": " "}, "expected a text in 'question', found \" \""),
        ({"id": "q3"}, "expected an 'id' that no other item has, found \"q3\""),
        ({"raw_output": "x"}, "expected an item to ask about, found a field 'raw_output': an output"),
    ],
)
def test_an_item_that_does_not_fit_is_refused_before_anything_is_asked(tmp_path, server, row, said):
    # ruling M3
    write_study(tmp_path, server.url)
    write_items(tmp_path / "items.jsonl", [*items(20), {**items(21)[20], **row}])
    asked = len(server.log)
    done = run(tmp_path)
    assert fine(done, 2)
    assert "items.jsonl:21" in done.stderr.decode()
    assert said in done.stderr.decode()
    assert len(server.log) == asked
    write_items(tmp_path / "items.jsonl", items(20))
    assert fine(run(tmp_path), 0), "a refused study leaves nothing behind that is in the way of a mended one"


def test_a_server_that_is_not_there(tmp_path, server):
    asked = len(server.log)
    with dead_address() as address:
        other = {"models": {"other": {"base_url": server.url}}}
        write_study(tmp_path, f"http://{address}/v1", changed=other)
        done = run(tmp_path)
    assert fine(done, 2)
    said = f"models.m at http://{address}/v1: expected a server that answers, found the connection was refused"
    assert said in done.stderr.decode()
    assert len(server.log) == asked
    assert not (tmp_path / "out").exists(), "nothing is frozen"


def test_a_server_that_refuses_the_key_is_asked_nothing(tmp_path):
    with FaultServer(models=unauthorised) as server:
        write_study(tmp_path, server.url)
        done = run(tmp_path)
        assert fine(done, 2)
        assert b"expected a server that takes our credentials, found HTTP 401" in done.stderr
        assert not server.log
        assert not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_written_to_is_refused(tmp_path, server):
    write_study(tmp_path, server.url)
    (tmp_path / "out").write_text("a file")
    asked = len(server.log)
    assert fine(run(tmp_path), 5)
    assert len(server.log) == asked


@pytest.mark.slow
def test_nothing_to_do_is_said_only_of_a_study_whose_questions_all_have_answers(tmp_path):
    with FaultServer({f"q{n}": every(bad_request) for n in range(3)}) as server:
        write_study(tmp_path, server.url, count=3)
        for _ in range(2):
            done = run(tmp_path)
            assert fine(done, 4)
            assert b"every question has been answered" not in done.stdout
    assert len(server.log) == 3


# --- texts are kept as they came ---

TEXTS = {
    "q0": "\0 and \0",
    "q1": "\ud800 alone, \udfff\ud800 the wrong way round",
    "q2": "lines\u2028of\u2029many\x85kinds\x0b\x0c\x1c\r\n\r",
    "q3": "e" + "\u0301" * 1_000_000,
    "q4": "\ufeff" + RIGHT,
    "q5": "",
    "q6": "\u202eright to left\u202c \U0001f600 \U0010ffff \uffff",
    "q7": RIGHT + "\n",
}


@pytest.mark.slow
def test_any_text_comes_back_from_the_archive_as_it_was_sent(tmp_path):
    # ruling C2; what is sent is JSON with \u escapes, the only way to send a lone surrogate
    with FaultServer(answer=lambda asked: TEXTS[asked.question]) as server:
        write_study(tmp_path, server.url, count=len(TEXTS))
        done = run(tmp_path)
        assert fine(done, 0)
    kept = {each["item_id"]: each for each in records(tmp_path / "out")}
    assert {name: each["raw_output"] for name, each in kept.items()} == TEXTS
    assert [name for name, each in sorted(kept.items()) if each["protocol_compliant"]] == ["q7"]
    assert harmless(done)
    assert fine(affidavit("verify", tmp_path / "out"), 0)


def harmless(done: CompletedProcess[bytes]) -> bool:
    """Nothing that commands a terminal was printed: control, format and other invisible characters."""
    printed = (done.stdout + done.stderr).decode()
    return all(character.isprintable() or character == "\n" for character in printed)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_nothing_that_a_server_says_commands_the_terminal(tmp_path, options):
    faults = [escaping_error, status(500, ESCAPES), says(ESCAPES), status(401, ESCAPES)]
    with FaultServer({f"q{n}": every(fault) for n, fault in enumerate(faults)}) as server:
        changed = {"limits": {"attempts": 1}, "models": {"m": {"connections": 1}}}
        write_study(tmp_path, server.url, count=4, changed=changed)
        done = run(tmp_path, *options)
        assert fine(done, 4)
        assert b"HTTP 400: told" in done.stderr
        assert b"refused our credentials" in done.stderr
        assert harmless(done)
        assert harmless(affidavit("verify", tmp_path / "out"))


@pytest.mark.slow
def test_a_study_can_be_run_on_the_answers_of_another(tmp_path):
    with FaultServer({"q1": every(says("no")), "q2": every(content_filter)}) as server:
        write_study(tmp_path / "lived", server.url, changed={"decoding": {"samples": 2}})
        lived = run(tmp_path / "lived", "--json")
        assert fine(lived, 4)
        asked = len(server.log)
        replayed = {"base_url": None, "connections": None, "replay": "../lived/out"}
        changed = {"models": {"m": replayed}, "decoding": {"samples": 2}}
        write_study(tmp_path / "again", server.url, changed=changed)
        again = run(tmp_path / "again", "--json")
        assert fine(again, 4)
        assert len(server.log) == asked
    for figures in (quiz(lived), quiz(again)):
        assert (figures["compliant"], figures["non_compliant"], figures["failed"]) == (36, 2, 2)

    def answers(directory: Path) -> dict:
        kept = (each for each in records(directory) if each["kind"] == "response")
        return {each["key"]: {k: v for k, v in each.items() if k not in ("seq", "group")} for each in kept}

    assert answers(tmp_path / "lived/out") == answers(tmp_path / "again/out")


# --- what was altered is found ---


def alter(directory: Path, number: int, change: Callable[[dict], None]) -> None:
    """Rewrite a record so that its checksum fits."""
    lines = (directory / FIRST).read_bytes().splitlines(keepends=True)
    fields = checked_fields(lines[number - 1])
    change(fields)
    lines[number - 1] = checked_line(fields)
    (directory / FIRST).write_bytes(b"".join(lines))


def reseal(directory: Path, **changed: object) -> None:
    """Put a seal over what is there now, as somebody would who wants to hide a change."""
    seal = checked_fields((directory / "seal.json").read_bytes())
    seal["segments"][0]["sha256"] = file_sha256(directory / FIRST)
    (directory / "seal.json").write_bytes(checked_line(seal))
    root = Root()
    for line in Walk(directory):
        root.add_line(line.content, line.placed)
    seal |= {"root_sha256": root.sha256(directory), **changed}
    (directory / "seal.json").write_bytes(checked_line(seal))


@pytest.fixture(scope="module")
def finished(tmp_path_factory, server) -> Path:
    """The folder of a finished study, to be copied."""
    folder = tmp_path_factory.mktemp("finished")
    write_study(folder, server.url, count=len(ALTERED) + 2)
    assert fine(run(folder), 0)
    return folder


ALTERED = {
    "a wrong answer": {"extracted_answer": "A", "correct": False},
    "a verdict": {"correct": False},
    "compliance": {"protocol_compliant": False},
    "a diagnosis": {"deviation": "text_around"},
    "the raw text": {"raw_output": "<answer>A</answer>"},
    "the contract": {"contract": "mcqa/2"},
    "its parameters": {"contract_params": {"options": "A-C"}},
    "the item": {"item_id": "q99"},
    "the question": {"prompt_sha256": "0" * 64},
    "the model": {"model": "another"},
    "the condition": {"condition": "another"},
    "the sample": {"sample": 1},
}


WHY_ALTERED = {
    "a wrong answer": "extracted_answer is 'A'; the plan and the raw text give 'B'",
    "a verdict": "correct is False; the plan and the raw text give True",
    "compliance": "protocol_compliant is False; the plan and the raw text give True",
    "a diagnosis": "deviation is 'text_around'; the plan and the raw text give None",
    "the raw text": "extracted_answer is 'B'; the plan and the raw text give 'A'",
    "the contract": "contract is 'mcqa/2'; the plan and the raw text give 'mcqa/1'",
    "its parameters": "contract_params is {'options': 'A-C'}; the plan and the raw text give {'options': 'A-D'}",
    "the item": "there is no item 'q99' of the task 'quiz' in items.jsonl",
    "the question": "prompt_sha256 is '000",
    "the model": "the plan has no such question",
    "the condition": "the plan has no such question",
    "the sample": "the plan has no such question",
}


@pytest.mark.slow
@pytest.mark.parametrize("sealed", [True, False], ids=["sealed again", "not sealed"])
def test_a_field_that_does_not_follow_from_the_raw_text_and_the_plan_is_found(tmp_path, finished, sealed):
    # ruling C2
    directory = shutil.copytree(finished / "out", tmp_path / "out")
    for number, changed in enumerate(ALTERED.values(), 2):
        alter(directory, number, lambda fields, changed=changed: fields.update(changed))
    if sealed:
        reseal(directory)
    else:
        (directory / "seal.json").unlink()
    done = affidavit("verify", directory)
    assert fine(done, 5)
    said = done.stderr.decode()
    assert f"{directory / FIRST}:1: " not in said
    for number, name in enumerate(ALTERED, 2):
        assert f"{directory / FIRST}:{number}: {WHY_ALTERED[name]}" in said, name


def test_counts_that_do_not_follow_from_the_records_are_found(tmp_path, finished):
    # ruling C2; a finished study prints the counts of its seal
    directory = shutil.copytree(finished / "out", tmp_path / "out")
    counts = checked_fields((directory / "seal.json").read_bytes())["counts"]
    counts["cells"][0]["right"] -= 1
    reseal(directory, counts=counts)
    done = affidavit("verify", directory)
    assert fine(done, 5)
    assert b"seal.json: its counts are not those of the records" in done.stderr


def test_a_question_that_is_answered_twice_is_found(tmp_path, finished):
    directory = shutil.copytree(finished / "out", tmp_path / "out")
    other = checked_fields((directory / FIRST).read_bytes().splitlines(keepends=True)[0])
    copied = {name: value for name, value in other.items() if name not in ("seq", "group", "v")}
    alter(directory, 4, lambda fields: fields.update(copied))
    reseal(directory)
    done = affidavit("verify", directory)
    assert fine(done, 5)
    assert f"{directory / FIRST}:4: its question is answered already, by an earlier record" in done.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("study.json", "1: expected the study as it was frozen, found a line that does not fit its checksum"),
        ("items.jsonl", r"8: expected the (file as it was sealed|item as it was frozen), found another"),
        ("seal.json", "1: expected the seal as it was written, found a line that does not fit its checksum"),
        (str(FIRST), "8: expected record 8 as it was written, found a line that does not fit its checksum"),
    ],
)
def test_a_changed_byte_is_found_by_verify_and_by_the_next_run(tmp_path, server, finished, name, why):
    folder = shutil.copytree(finished, tmp_path / "copy")
    path, asked = folder / "out" / name, len(server.log)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    for done in (affidavit("verify", folder / "out"), run(folder)):
        assert fine(done, 5)
        assert re.search(f"{re.escape(str(path))}:{why}", done.stderr.decode())
    assert len(server.log) == asked


# --- secrets ---

KEY, PASSWORD, HEADER = "sk-canary-7f3a", "canary-pass-91c2", "canary-header-55e0"
PACKED = "dXNlcjpjYW5hcnktcGFzcy05MWMy"  # user:PASSWORD in base64


def moved(url: str, address: str) -> str:
    """The same server, with the same credentials, at another address."""
    return re.sub(r"127[\d.:]+", address, url)


@pytest.mark.slow
@pytest.mark.parametrize(("credentials", "options"), [("key", ()), ("password", ("--json",))])
def test_no_secret_is_written_or_printed_whatever_fails(tmp_path, credentials, options):
    faults = [echo(code) for code in (400, 404, 429, 500, 503, 200)]
    faults += [echo(code, shape="value") for code in (400, 500, 200)]
    faults += [reset, cut_json, cut_chunked, not_http, error_object, content_filter]
    script = {f"q{n}": every(fault) for n, fault in enumerate(faults)} | {"q19": first(echo(500))}
    model: dict = {"headers": {"X-Organisation": HEADER}}
    with FaultServer(script) as server:
        url = server.url.replace("//", f"//user:{PASSWORD}@") if credentials == "password" else server.url
        model |= {"key_env": "AFFIDAVIT_TEST_KEY"} if credentials == "key" else {}
        write_study(tmp_path, url, changed={"models": {"m": model}})
        ended = [run(tmp_path, *options, AFFIDAVIT_TEST_KEY=KEY)]
        assert fine(ended[0], 4)
        sent = f"Bearer {KEY}" if credentials == "key" else f"Basic {PACKED}"
        assert all(asked.headers["Authorization"] == sent for asked in server.log)
        assert all(asked.headers["X-Organisation"] == HEADER for asked in server.log)
    with FaultServer({f"q{n}": every(echo(401)) for n in range(20)}) as server:
        write_study(tmp_path, moved(url, server.address), changed={"models": {"m": model}})
        ended.append(run(tmp_path, *options, "--retry-failed", AFFIDAVIT_TEST_KEY=KEY))
    with dead_address() as address:
        write_study(tmp_path, moved(url, address), changed={"models": {"m": model}})
        ended.append(run(tmp_path, *options, AFFIDAVIT_TEST_KEY=KEY))
    ended.append(affidavit("verify", tmp_path / "out"))
    written = every_byte(tmp_path / "out")
    assert b"[secret]" in written, "the server did repeat them"
    for place in (written, *(done.stdout + done.stderr for done in ended)):
        for secret in (KEY, PASSWORD, HEADER, PACKED):
            assert secret.encode() not in place


@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        f"user:{PASSWORD}@127.0.0.1:8000/v1",
        f"htp://user:{PASSWORD}@127.0.0.1/v1",
        f"htp://user:at@{PASSWORD}@127.0.0.1/v1",
        f"htp://user:slash/{PASSWORD}@127.0.0.1/v1",
        f"http://user:{PASSWORD}@[::1/v1",
        f"http://user:{PASSWORD}@127.0.0.1:999999/v1",
        f"http://user:{PASSWORD}@:80/v1",
    ],
)
def test_no_password_is_printed_of_an_address_that_is_wrong(tmp_path, url):
    write_study(tmp_path, url, count=1)
    done = run(tmp_path)
    assert PASSWORD.encode() not in done.stdout + done.stderr
    assert PASSWORD.encode() not in every_byte(tmp_path / "out")
    assert fine(done, 4 if done.returncode == 4 else 2)


ODD = {
    "X-Quoting": "back\\slash'quote\"canary",
    "X-Blanks": "two  blanks  canary",
    "X-Tab": "tab\tcanary",
    "X-Scheme": "Token canary-with-a-scheme",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_a_secret_of_odd_characters_is_one_too(tmp_path, name):
    """As a server repeats it: in a text, as a JSON value, or without the scheme before it."""
    faults = [echo(400), echo(400, shape="value"), echo(400, shape="last words")]
    with FaultServer({f"q{n}": every(fault) for n, fault in enumerate(faults)}) as server:
        write_study(tmp_path, server.url, count=3, changed={"models": {"m": {"headers": {name: ODD[name]}}}})
        done = run(tmp_path)
        assert fine(done, 4)
    assert b"canary" not in done.stdout + done.stderr + every_byte(tmp_path / "out")


@pytest.mark.parametrize("place", ["key", "header"])
def test_a_secret_that_no_header_can_carry_is_refused(tmp_path, server, place):
    broken = "canary\r\nX-Injected: yes"
    model = {"key_env": "AFFIDAVIT_TEST_KEY"} if place == "key" else {"headers": {"X-Secret": broken}}
    write_study(tmp_path, server.url, count=1, changed={"models": {"m": model}})
    done = run(tmp_path, AFFIDAVIT_TEST_KEY=broken)
    assert b"canary" not in done.stdout + done.stderr
    assert fine(done, 2)


# --- a disk without room ---


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A disk of its own, which `mount` can make larger."""
    place.mkdir()
    options = f"size={kilobytes}k"
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a small disk")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"this machine mounts no small disk: {made.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", range(130, 320, 20))
def test_a_full_disk_ends_a_run_and_loses_nothing(tmp_path, kilobytes):
    said = "Well, " * 350 + RIGHT
    with FaultServer(answer=lambda asked: said) as server, small_disk(tmp_path / "small", kilobytes) as disk:
        write_study(tmp_path, server.url, count=100)
        command = ("run", tmp_path / "study.toml", "--out", disk / "out")
        done = affidavit(*command)
        assert fine(done, 5)
        assert b"Make room" in done.stderr or b"No space left" in done.stderr
        paid = len(server.log)
        if not paid:
            assert b"Nothing was asked" in done.stderr or b"No space left" in done.stderr
        if (disk / "out/study.json").exists():
            assert fine(affidavit("verify", disk / "out"), 7)
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        assert fine(affidavit(*command), 0)
        assert len(server.log) <= 100 + 8, "no more is asked again than was open"
        assert fine(affidavit("verify", disk / "out"), 0)
        assert len(records(disk / "out")) == 100


class Stumbling(Disk):
    """One write breaks off half way; all others succeed, as when somebody makes room a moment later."""

    def __init__(self, at: int) -> None:
        self._left = at

    def write(self, file: int, content: bytes) -> None:
        self._left -= 1
        if self._left == 0:
            super().write(file, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(file, content)


def test_after_a_write_that_broke_off_nothing_is_written_behind_it(tmp_path):
    archive = Archive(tmp_path, Stumbling(at=3))
    assert not list(archive.recover())
    kept = 0
    for number in range(6):
        asked = QuestionIdentity(f"{number:064x}", "s", "t", "q", "m", "c", 0, "0" * 64, None)
        try:
            archive.append(Failed(asked, "timeout"))
            archive.commit()
        except StorageError:
            continue
        kept += 1
    archive.close()
    assert len(list(Archive(tmp_path).recover())) == kept, "whatever was said to be finished is there"
