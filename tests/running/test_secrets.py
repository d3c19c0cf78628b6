"""Secrets: in an address, in headers, in a body, in the environment; nothing that is written or printed has one."""

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from urllib.parse import quote

import pytest

from support.command import affidavit
from support.fault_server import (
    RIGHT,
    Call,
    Fault,
    FaultServer,
    chat,
    content_filter,
    cut_chunked,
    cut_json,
    dead_address,
    error_body,
    every,
    not_http,
    not_json,
    reset,
    response,
    says,
)
from support.studies import every_byte, fine, records, run, write_study

CANARY = {
    "key": "sk-cAnary/key+7f3a",
    "password": "cAnary pass&91c2",
    "user": "cAnary-user-2b",
    "query": "cAnary-query=6d",
    "header": "cAnary-header-55e0",
    "header from the environment": "cAnary-header-env-0c",
    "body": "cAnary-body~44",
    "deep in the body": "cAnary-deep-body-8e",
}
ENVIRONMENT = {
    "TEST_KEY": CANARY["key"],
    "TEST_HEADER": CANARY["header from the environment"],
    "TEST_BODY": CANARY["body"],
    "TEST_DEEP": CANARY["deep in the body"],
}
MODEL = {
    "headers": {"X-Org": CANARY["header"], "X-Env": {"env": "TEST_HEADER"}},
    "body": {"api_key": {"env": "TEST_BODY"}, "routes": [{"to": {"env": "TEST_DEEP"}, "weight": 1}]},
}


def spelt(secret: str) -> list[str]:
    """A secret in the ways in which a server may repeat it."""
    plain = secret.encode()
    packed = [base64.b64encode(plain).decode(), base64.urlsafe_b64encode(plain).decode()]
    shifted = base64.b64encode(b"x" + plain + b"yz").decode()
    words = [secret, secret.upper(), secret.lower(), quote(secret, safe=""), quote(secret).lower()]
    numbered = "".join(f"&#{ord(letter)};" for letter in secret)
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in secret)
    broken = base64.encodebytes(plain * 3).decode()
    more = [plain.hex(), numbered, escaped, quote(quote(secret, safe=""), safe=""), broken, html.escape(secret)]
    return [*words, *packed, *(each.rstrip("=") for each in packed), shifted, json.dumps(secret)[1:-1], *more]


def url_of(address: str, *, with_password: bool = True) -> str:
    user, password, query = (quote(CANARY[name], safe="") for name in ("user", "password", "query"))
    return f"http://{f'{user}:{password}@' if with_password else ''}{address}/v1?version=2&code={query}"


SAID = [each for secret in CANARY.values() for each in spelt(secret)]
SECRETS = [*SAID, base64.b64encode(f"{CANARY['user']}:{CANARY['password']}".encode()).decode()]


def echoing(code: int, form: str, known: Sequence[str] = ()) -> Fault:
    """An error that repeats what was sent in this way."""

    async def fault(call: Call) -> None:
        headers, body = dict(call.asked.headers), call.asked.body
        told = {
            "headers": "\n".join(f"{name}: {value}" for name, value in headers.items()),
            "request": {
                "headers": headers,
                "body": {key: value for key, value in body.items() if key != "messages"},
            },
            "spellings": " | ".join(known),
        }[form]
        more = {"Location": f"http://127.0.0.1:1/?k={quote(CANARY['key'])}"} if code == 302 else {}
        await call.send(response(error_body(told), code=code, headers={"X-Echo": CANARY["header"], **more}))

    return fault


def named(spelling: str) -> Fault:
    """An answer that says it of itself."""
    said = dict.fromkeys(("model", "system_fingerprint", "id"), f"x {spelling} y")
    body = json.loads(chat({"content": RIGHT}, f"stop {spelling}", **said))
    body["usage"] = {"prompt_tokens": spelling, "completion_tokens": ["?", spelling]}
    return lambda call: call.send(response(json.dumps(body).encode()))


def script(known: Sequence[str]) -> dict[str, Fault]:
    faults = [
        echoing(code, form, known)
        for code in (200, 302, 400, 404, 429, 500, 503)
        for form in ("headers", "request", "spellings")
    ]
    faults += [reset, cut_json, cut_chunked, not_http, not_json, content_filter]
    faults += [named(spelling) for spelling in known]
    return {f"q{n}": every(fault) for n, fault in enumerate(faults)}


def clean(*places: bytes) -> bool:
    """No secret is there, in any spelling, in any case."""
    for place in places:
        small = place.lower()
        found = [secret for secret in SECRETS if secret.lower().encode() in small]
        assert found == []
        assert b"canary" not in small, re.findall(rb"(?i).{40}canary.{40}", place)[:3]
    return True


def printed(*ended: CompletedProcess[bytes]) -> list[bytes]:
    return [done.stdout + done.stderr for done in ended]


def study_of(folder: Path, url: str, count: int, **model: object) -> None:
    limits = {"attempts": 1, "connect": 600.0, "attempt": 600.0, "sample": 600.0}
    changed = {"models": {"m": {**MODEL, **model}}, "limits": limits}
    write_study(folder, url, count=count, changed=changed)


@pytest.mark.slow
@pytest.mark.parametrize("key", [True, False], ids=["with a key", "with a password"])
def test_no_secret_is_written_or_printed_whatever_a_server_says(tmp_path, key):
    used = [name for name in CANARY if name not in (("user", "password") if key else ("key",))]
    known = [each for name in used for each in spelt(CANARY[name])]
    faults, more = script(known), {"key_env": "TEST_KEY"} if key else {}
    with FaultServer(faults) as server:
        url = url_of(server.address, with_password=not key)
        study_of(tmp_path, url, len(faults) + 2, **more)
        planned = run(tmp_path, "--dry-run"), run(tmp_path, "--dry-run", "--json")
        ended = [*planned, run(tmp_path, "--json", **ENVIRONMENT)]
        assert fine(ended[-1], 4)
        asked = server.log[0]
        assert asked.body["api_key"] == CANARY["body"]
        assert asked.body["routes"] == [{"to": CANARY["deep in the body"], "weight": 1}]
        assert asked.headers["X-Env"] == CANARY["header from the environment"]
    with FaultServer({f"q{n}": every(echoing(401, "headers")) for n in range(100)}) as server:
        study_of(tmp_path, url_of(server.address, with_password=not key), len(faults) + 2, **more)
        ended.append(run(tmp_path, "--retry-failed", **ENVIRONMENT))
    with dead_address() as address:
        study_of(tmp_path, url_of(address, with_password=not key), len(faults) + 2, **more)
        ended.append(run(tmp_path, **ENVIRONMENT))
    ended += [affidavit("verify", tmp_path / "out"), affidavit("report", tmp_path / "out")]
    written = every_byte(tmp_path / "out")
    assert b"[secret]" in written, "the server did repeat them"
    assert clean(written, *printed(*ended))
    kept = [each for each in records(tmp_path / "out") if each["kind"] == "response"]
    assert len(kept) == len(known) + 2
    assert {each["raw_output"] for each in kept} == {RIGHT}


def in_pieces(cut: int) -> Fault:
    """An error that has the key in two strings, or one that ends in the middle of it; and every third is an answer."""
    one, two = CANARY["key"][:cut], CANARY["key"][cut:]

    async def fault(call: Call) -> None:
        if cut % 3 == 0:
            body = chat(
                {"content": RIGHT}, "stop", model=f"m {one}", system_fingerprint=f"{two} f", id=f"i {one}…"
            )
            await call.send(response(body))
            return
        told = {"begins": one, "ends": two} if cut % 3 == 1 else f"{'.' * (295 - cut)}{one}"
        await call.send(response(error_body(told), code=400))

    return fault


@pytest.mark.slow
def test_of_a_secret_that_comes_in_pieces_less_than_half_is_kept(tmp_path):
    key = CANARY["key"]
    faults = {f"q{cut}": every(in_pieces(cut)) for cut in range(1, len(key))}
    with FaultServer(faults) as server:
        study_of(tmp_path, server.url, len(key), key_env="TEST_KEY")
        done = run(tmp_path, **ENVIRONMENT)
        assert fine(done, 4)
        assert server.questions() == {f"q{n}": 1 for n in range(len(key))}
    half = (len(key) + 1) // 2
    for place in (every_byte(tmp_path / "out"), *printed(done)):
        small = place.decode().lower()
        assert key[:half].lower() not in small
        assert key[-half:].lower() not in small
    assert b"[secret]" in every_byte(tmp_path / "out")


@pytest.mark.slow
def test_what_a_study_would_use_is_listed_without_secrets(tmp_path):
    (tmp_path / "own.py").write_text("from affidavit import MultipleChoice\n\nown = MultipleChoice('A-D')\n")
    changed = {
        "models": {"m": {**MODEL, "key_env": "TEST_KEY"}, "n": {"replay": "other-study"}},
        "tasks": {"quiz": {"contract": "own.py:own"}},
    }
    write_study(tmp_path, url_of("127.0.0.1:8000", with_password=False), count=1, changed=changed)
    done = run(tmp_path, "--dry-run", "--json")
    assert fine(done, 0)
    told = json.loads(done.stdout)
    assert told["uses"] == {
        "addresses": ["http://127.0.0.1:8000/v1?version=…&code=…"],
        "environment": ["TEST_KEY", "TEST_HEADER", "TEST_DEEP", "TEST_BODY"],
        "files": ["items.jsonl", "other-study"],
        "code": ["own.py"],
    }
    assert told["requests"]["m"]["api_key"] == {"env": "TEST_BODY"}
    text = run(tmp_path, "--dry-run").stdout.decode()
    for line in (
        "it would ask: http://127.0.0.1:8000/v1",
        "variables of the environment: TEST_KEY",
        "files: items.jsonl",
        "code that is run, also for this listing: own.py",
    ):
        assert line in text
    assert clean(text.encode(), done.stdout)


# --- outputs ---


@pytest.mark.slow
def test_an_output_that_holds_a_secret_stays_and_is_told_of(tmp_path):
    """Ruling C2: word for word; but nobody may overlook it, and the page can be shown."""
    key, late = CANARY["key"], f"<answer>B</answer> {CANARY['body']}"
    faults = {"q1": every(says(f"I was given {key}.")), "q2": every(says(late.upper()))}
    with FaultServer(faults) as server:
        study_of(tmp_path, server.url, 5, key_env="TEST_KEY")
        done = run(tmp_path, **ENVIRONMENT)
        assert fine(done, 0)
    note = b"note: WARNING: 2 outputs of m hold a secret"
    assert note in done.stderr
    assert clean(*printed(done))
    assert {each["raw_output"] for each in records(tmp_path / "out")} >= {f"I was given {key}.", late.upper()}
    shown = affidavit("report", tmp_path / "out")
    assert key in (tmp_path / "out" / "report.html").read_text()
    masked = affidavit("report", tmp_path / "out", "--mask", "TEST_KEY", "--mask", "TEST_BODY", **ENVIRONMENT)
    assert fine(shown, 0)
    assert fine(masked, 0)
    page = (tmp_path / "out" / "report.html").read_bytes()
    assert clean(page)
    assert f"I was given {'█' * len(key)}.".encode() in page
    assert fine(affidavit("verify", tmp_path / "out"), 0)


def test_a_mask_needs_a_value(tmp_path):
    done = affidavit("report", tmp_path, "--mask", "TEST_KEY")
    assert fine(done, 2)
    assert b"--mask: expected a value in the environment variable TEST_KEY, found none" in done.stderr


REFUSED: Mapping[str, tuple[dict, str]] = {
    "a key in the body": ({"body": {"api_key": "sk-cAnary"}}, "expected no secret in models.m.body.api_key, found a text"),
    "deep in it": ({"body": {"a": [{"Auth-Token": "sk-cAnary"}]}}, "expected no secret in models.m.body.a[0].Auth-Token"),
    "another name for it": ({"body": {"x_client_secret": "sk-cAnary"}}, "models.m.body.x_client_secret"),
    "a header that is a table": ({"headers": {"X": {"enw": "A"}}}, 'a text or { env = "NAME" } in models.m.headers.X'),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_a_secret_in_a_file_is_refused_with_what_to_do(tmp_path, name):
    model, why = REFUSED[name]
    write_study(tmp_path, "http://127.0.0.1:9/v1", count=1, changed={"models": {"m": model}})
    done = run(tmp_path)
    assert fine(done, 2)
    assert why in done.stderr.decode()
    assert clean(*printed(done))


@pytest.mark.slow
def test_names_that_only_look_like_secrets_are_taken(tmp_path):
    body = {
        "stop_token_ids": [1],
        "max_tokens_to_sample": 3,
        "eos_token": "</s>",
        "key": 1,
        "prompt_cache_key": "a",
    }
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=1, changed={"models": {"m": {"body": body}}})
        assert fine(run(tmp_path), 0)
        assert body.items() <= server.log[0].body.items()


@pytest.mark.slow
def test_a_variable_that_is_not_there_is_asked_for_before_anything_else(tmp_path):
    with FaultServer() as server:
        study_of(tmp_path, server.url, 1)
        done = run(tmp_path, TEST_HEADER="x-y-z-a", TEST_BODY="x")
        assert fine(done, 2)
        assert b"models.m.body: expected a value in the environment variable TEST_DEEP, found none" in done.stderr
        assert not server.log
