"""A study that several servers of one model answer: nothing is lost or doubled, whoever is slow, dead or busy."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from support.command import affidavit
from support.fault_server import (
    LONGEST,
    Fault,
    FaultServer,
    Planned,
    dead_address,
    every,
    held_until,
    limited,
    status,
)
from support.pretend_servers import VLLM_UNKNOWN, Pretended, pretending
from support.studies import fine, records, run, told, told_by_verify, write_study

COUNT = 80
CHANGED = {"models": {"m": {"connections": 4}}, "limits": {"attempts": 6, "run": LONGEST}}


class Always:
    """A script that does the same with every question."""

    def __init__(self, fault: Fault, *, after: int = 0, times: int = 1_000_000) -> None:
        """From so many questions on, and only so many times."""
        self._fault, self._after, self._times, self._came = fault, after, times, 0

    def get(self, _question: str) -> Planned | None:
        self._came += 1
        return every(self._fault) if self._after < self._came <= self._after + self._times else None


@contextmanager
def servers(count: int) -> Iterator[list[FaultServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(FaultServer()) for _ in range(count)]


def run_at(folder: Path, urls: list[str], code: int = 0, **changed: object) -> dict:
    """What the run said for programs, with what it said to people as `said`."""
    write_study(folder, urls, count=COUNT, changed={**CHANGED, **changed})
    done = run(folder, "--json")
    assert fine(done, code)
    return {**told(done), "said": done.stderr.decode()}


def attempts(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "out" / "attempts.jsonl").read_text().splitlines()]


def answered_by(folder: Path) -> Counter[str]:
    """How many answers came from each address."""
    return Counter(each["server"] for each in attempts(folder) if each["outcome"] == "response")


def whole(folder: Path) -> bool:
    """Every question has one record, which is an answer, and one attempt that was answered."""
    keys = [record["key"] for record in records(folder / "out")]
    given = Counter(each["key"] for each in attempts(folder) if each["outcome"] == "response")
    return len(keys) == len(set(keys)) == COUNT and given == Counter(keys)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> str:
    """The root digest of the study when one server answers all of it."""
    folder = tmp_path_factory.mktemp("alone")
    with FaultServer() as server:
        return run_at(folder, [server.url])["root_sha256"]


@pytest.mark.slow
def test_a_slow_server_and_a_dying_one_cost_no_record_and_no_answer_twice(tmp_path, alone):
    with servers(4) as all_four:
        slow, dying, *well = all_four

        def others_are_done() -> bool:
            # A run that waited for the slow one could not come so far: it holds four questions, and no more.
            return sum(len(server.log) for server in (*well, dying)) >= COUNT - 5

        slow.script = Always(held_until(others_are_done), after=1)
        dying.script = Always(dying.gone(float("inf")), after=1, times=1)
        ended = run_at(tmp_path, [server.url for server in all_four])
        assert whole(tmp_path)
        assert ended["root_sha256"] == alone == told_by_verify(tmp_path / "out")["root_sha256"]
        seen = sum((server.questions() for server in (*well, slow)), Counter())
        at_the_dying = {each["key"] for each in attempts(tmp_path) if each.get("server") == dying.url}
        assert set(seen.values()) == {1}, "what was answered was asked of nobody else"
        assert len(at_the_dying) >= 2
        assert answered_by(tmp_path)[dying.url] == COUNT - len(seen)
        assert f"note: m: the server at {dying.url} was left out" in ended["said"]


@pytest.mark.slow
def test_all_of_four_servers_are_asked_alike(tmp_path, alone):
    with servers(4) as all_four:
        ended = run_at(tmp_path, [server.url for server in all_four])
        assert whole(tmp_path)
        assert ended["root_sha256"] == alone
        assert all(server.looked_up == 1 and server.log for server in all_four)
        assert answered_by(tmp_path) == {server.url: len(server.log) for server in all_four}


@pytest.mark.slow
def test_no_file_but_that_of_attempts_says_which_server_answered(tmp_path):
    with servers(2) as both:
        run_at(tmp_path, [server.url for server in both])
        addresses = [server.address.encode() for server in both]
        found = {
            path.name
            for path in (tmp_path / "out").rglob("*")
            if path.is_file() and any(address in path.read_bytes() for address in addresses)
        }
    assert found == {"attempts.jsonl"}


@pytest.mark.slow
def test_a_server_that_was_dead_from_the_beginning_is_told_of_and_the_others_are_asked(tmp_path, alone):
    with servers(2) as both, dead_address() as dead:
        ended = run_at(tmp_path, [both[0].url, f"http://me:pass-phrase-1@{dead}/v1", both[1].url])
        assert whole(tmp_path)
        assert ended["root_sha256"] == alone
        left_out, at_the_end = (line for line in ended["said"].splitlines() if dead in line)
        assert left_out.startswith(f"note: m: the server at http://{dead}/v1 is left out for now (connection: ")
        assert at_the_end.startswith(f"note: m: the server at http://{dead}/v1 was left out once, and those")
        assert "pass-phrase-1" not in ended["said"]


@pytest.mark.slow
def test_where_all_are_dead_it_is_as_with_one(tmp_path):
    with dead_address() as one, dead_address() as other:
        write_study(tmp_path, [f"http://{one}/v1", f"http://{other}/v1"])
        done = run(tmp_path)
    assert fine(done, 2)
    assert f"models.m at http://{one}/v1: expected a server that answers".encode() in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_each_server_is_tried_and_the_one_that_has_another_model_is_named(tmp_path):
    right, wrong = Pretended(), Pretended(models=("llama",), unknown_model=VLLM_UNKNOWN)
    with pretending(right) as one, pretending(wrong) as other:
        write_study(
            tmp_path,
            [f"{one}/v1", f"{other}/v1"],
            changed={"models": {"m": {"model": "qwen2.5-7b-instruct"}}},
        )
        done = run(tmp_path)
    assert fine(done, 2)
    assert f"models.m at {other}/v1: expected one of its models: llama".encode() in done.stderr
    assert b"1 answers of the trial were dropped" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_server_that_fails_at_once_does_not_draw_all_questions_to_itself(tmp_path, alone):
    """It always has the fewest open requests."""
    with servers(3) as all_three:
        all_three[1].script = Always(status(500), after=3)
        ended = run_at(tmp_path, [server.url for server in all_three])
        assert whole(tmp_path)
        assert ended["root_sha256"] == alone
        failed = Counter(each["key"] for each in attempts(tmp_path) if each["outcome"] == "server_error")
        assert max(failed.values()) < 6


@pytest.mark.slow
def test_a_server_that_asks_for_a_wait_is_spared_alone(tmp_path, alone):
    """What it refused is asked of the other at once: it would wait for longer than the run may take."""
    with servers(2) as both:
        both[0].script = Always(limited("100"), after=2)
        ended = run_at(tmp_path, [server.url for server in both], limits={**CHANGED["limits"], "retry_after": 90})
        assert whole(tmp_path)
        assert ended["root_sha256"] == alone
        refused = [each for each in attempts(tmp_path) if each["outcome"] == "rate_limited"]
        assert 0 < len(refused) <= 4, "those that were open when it asked for the wait"
        assert both[1].questions().total() >= COUNT - 2


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_with_other_servers(tmp_path, alone):
    with servers(2) as first_two:
        for server in first_two:
            server.script = Always(status(401, "bad key"), after=20)
        stopped = run_at(tmp_path, [server.url for server in first_two], code=4)
        assert re.search(r"m at http://127\.0\.0\.1:\d+/v1 refused our credentials", stopped["stopped"])
    with servers(3) as others:
        ended = run_at(tmp_path, [server.url for server in others])
    given = Counter(each["key"] for each in attempts(tmp_path) if each["outcome"] == "response")
    assert (len(given), max(given.values())) == (COUNT, 1)
    assert ended["root_sha256"] == alone


@pytest.mark.slow
def test_doctor_and_the_dry_run_show_all_of_them(tmp_path):
    with servers(2) as both, dead_address() as dead:
        urls = [both[0].url, f"http://me:pass-phrase-1@{dead}/v1", both[1].url]
        path = write_study(tmp_path, urls)
        dry, doctor = affidavit("run", path, "--dry-run"), affidavit("doctor", path)
        for done in (dry, doctor):
            words = (done.stdout + done.stderr).decode()
            for shown in (both[0].url, f"http://{dead}/v1", both[1].url):
                assert shown in words
            assert "pass-phrase-1" not in words
        assert fine(dry, 0)
        assert fine(doctor, 4)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 20])
def test_a_server_that_has_another_model_now_costs_no_question(tmp_path, alone, after):
    """It refuses quickly, so that it always has the least to do; what others answer was no fault of the question."""
    with servers(2) as both:
        both[0].script = Always(status(404, "The model `m` does not exist."), after=after)
        said = run_at(tmp_path, [each.url for each in both])
    assert said["root_sha256"] == alone
    assert whole(tmp_path)
    assert "was left out" in said["said"]


def test_one_server_under_two_spellings_is_refused(tmp_path):
    write_study(tmp_path, ["http://127.0.0.1:9/v1", "HTTP://127.0.0.1:9/v1/"], count=2)
    done = affidavit("run", "study.toml", "--dry-run", cwd=tmp_path)
    assert fine(done, 2)
    assert b"each server once in models.m.base_url, found [0] and [1] alike" in done.stderr
