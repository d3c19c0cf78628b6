"""Judging what people have: with the words of the task, or plainly without; nothing is written before all is checked."""

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from affidavit.archive.disk import Disk
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.errors import UsageError
from affidavit.models.token_estimate import estimated_tokens
from affidavit.running.import_outputs import outputs_in
from affidavit.running.judge_panel import WantedTerms, judge_panel
from affidavit.running.judging_dry_run import judging_dry_run, most_judging
from affidavit.study.files import load
from affidavit.study.models_file import read_models
from support.command import affidavit
from support.fault_server import FaultServer, says, status
from support.judged_studies import frozen, judge_again, open_study, serving
from support.outputs_elsewhere import TASK, bare, row, write_jsonl, write_models
from support.scripted_judge import Always, fair, judged_in
from support.studies import every_byte, fine, records, run, told

BARE = [bare("Q1", "A", "m", "o1"), bare("Q1", "B", "m", "o2", raw="Other words."), bare("Q2", "A", "m", "o3")]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(Always(fair)) as running:
        yield running


def judge(folder: Path, *options: object, **environment: str) -> CompletedProcess[bytes]:
    named = () if "--judge" in options else ("--judge", "j")
    order = ("judge", "outputs.jsonl", "--out", "out", "--models", "models.toml", *named, *options)
    return affidavit(*order, cwd=folder, **environment)


def outputs(folder: Path, url: str, rows: list[dict] = BARE, **models: dict) -> None:
    write_jsonl(folder / "outputs.jsonl", rows)
    write_models(folder, url, **models)


# --- the words of the task ---


@pytest.mark.slow
def test_without_the_words_of_the_task_nothing_is_asked_or_written(tmp_path, server):
    outputs(tmp_path, server.url, [*BARE, row("Q2", "B")])
    asked = len(server.log)
    for options in ((), ("--dry-run",)):
        done = judge(tmp_path, *options)
        assert fine(done, 2)
        said = done.stderr.decode()
        assert (
            'outputs.jsonl: expected the words of the task of every output, found none for 3 of 4: "Q1", "A"'
            in said
        )
        assert "--tasks FILE" in said
        assert "--without-task" in said
    assert not (tmp_path / "out").exists()
    assert len(server.log) == asked


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", pytest.param("jsonl", marks=pytest.mark.slow)])
def test_a_file_of_tasks_gives_each_output_its_words(tmp_path, server, ending):
    outputs(tmp_path, server.url)
    rows = [("Q1", "", "Why?"), ("Q1", "B", "Why? Be brief."), ("Q2", "", "How,\nand when?")]
    names = ("question_id", "prompt_variant", "prompt")
    if ending == "csv":
        cells = "".join(f'{question},{variant},"{words}"\n' for question, variant, words in rows)
        (tmp_path / "tasks.csv").write_text(",".join(names) + "\n" + cells)
    else:
        write_jsonl(tmp_path / "tasks.jsonl", [dict(zip(names, each, strict=True)) for each in rows])
    asked = len(server.log)
    assert fine(judge(tmp_path, "--tasks", f"tasks.{ending}"), 0)
    shown = {prompt.meta["output_id"]: prompt.task for _, prompt in judged_in(server.log[asked:])}
    assert shown == {"o1": "Why?", "o2": "Why? Be brief.", "o3": "How,\nand when?"}
    assert "without_task" not in frozen(tmp_path / "out")["terms"]
    assert fine(affidavit("verify", tmp_path / "out"), 0)
    again = affidavit("judge", "out", "--judge", "j", "--models", "models.toml", "--json", cwd=tmp_path)
    assert told(again)["asked"] == 0, "the directory knows the words"


@pytest.mark.slow
def test_with_the_option_judges_readers_and_the_record_are_told(tmp_path, server):
    # one output has words: all are judged alike, and none is shown its task
    outputs(tmp_path, server.url, [*BARE, row("Q2", "B", "m", "o4")])
    asked = len(server.log)
    done = judge(tmp_path, "--without-task")
    assert fine(done, 0)
    prompts = [prompt for _, prompt in judged_in(server.log[asked:])]
    assert {prompt.task for prompt in prompts} == {None}
    for prompt in prompts:
        assert "The words of the task that the model was given are not known." in prompt.words
        assert TASK not in prompt.words
        assert "<<<TASK" not in prompt.words
    terms = frozen(tmp_path / "out")["terms"]
    assert terms["without_task"] is True
    said = "judged without the words of the task"
    assert done.stdout.decode().count(said) == 1
    manifest = (tmp_path / "out/used_prompt_manifest.md").read_text()
    assert "cross_judge, without the words of the task, judging" in manifest
    assert "are not known. Judge the output by what it shows itself" in manifest
    tables = affidavit("report", "out", "--format", "md", cwd=tmp_path).stdout.decode()
    silent = [part.partition("\n")[0] for part in tables.split("\n## ")[1:] if said not in part]
    assert len(silent) < tables.count("\n## ")
    assert not any("judge" in title or "verdict" in title or "score" in title for title in silent), silent
    assert fine(affidavit("report", "out", cwd=tmp_path), 0)
    assert said in (tmp_path / "out/report.html").read_text()
    assert fine(affidavit("verify", tmp_path / "out"), 0)
    summary = told(affidavit("judge", "out", "--judge", "j", "--models", "models.toml", "--json", cwd=tmp_path))
    assert (summary["asked"], summary["judging"]["without_task"]) == (0, True), "nothing said is nothing changed"


@pytest.mark.slow
def test_a_judge_that_joins_later_is_told_the_same(tmp_path, server):
    outputs(tmp_path, server.url, j={}, late={})
    assert fine(judge(tmp_path, "--without-task"), 0)
    asked = len(server.log)
    assert fine(affidavit("judge", "out", "--judge", "late", "--models", "models.toml", cwd=tmp_path), 0)
    assert {prompt.task for _, prompt in judged_in(server.log[asked:])} == {None}
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        pytest.param(
            BARE,
            ("--without-task", "--tasks", "tasks.csv"),
            "--without-task: expected no --tasks FILE beside it, found tasks.csv",
            id="both",
        ),
        pytest.param(
            [row()],
            ("--without-task",),
            "--without-task: expected outputs whose task is not known, found the words of the task of all 1",
            id="words that are there",
        ),
        pytest.param(BARE, ("--tasks", "none.csv"), "none.csv: expected a file to read, found No such file", id="no file"),
        pytest.param(BARE, ("--tasks", "tasks.csv"), 'found none for 1 of 3: "Q2", "A"', id="a question left out"),
        pytest.param([row()], ("--task", "other"), "expected outputs to judge, found none", id="no such task"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_anything_is_written(tmp_path, server, rows, options, said):
    outputs(tmp_path, server.url, rows)
    (tmp_path / "tasks.csv").write_text("question_id,prompt\nQ1,Why?\n")
    asked = len(server.log)
    done = judge(tmp_path, *options)
    assert fine(done, 2)
    assert said in done.stderr.decode()
    assert not (tmp_path / "out").exists()
    assert len(server.log) == asked


@pytest.mark.slow
def test_a_study_knows_the_words_of_its_tasks(tmp_path):
    with serving() as running:
        open_study(tmp_path, running.url, {"models": {"beta": None, "gamma": None}}, questions=("q1",))
        assert fine(run(tmp_path), 0)
        before = every_byte(tmp_path / "out")
        done = judge_again(tmp_path, "--without-task")
        assert fine(done, 2)
        assert b"expected outputs whose task is not known, found the words of the task of all 4" in done.stderr
        done = judge_again(tmp_path, "--tasks", "items.jsonl")
        assert fine(done, 2)
        assert b"--tasks: expected no file of tasks for a study's directory" in done.stderr
        assert every_byte(tmp_path / "out") == before


def test_a_row_of_tasks_that_is_about_no_output_is_named(tmp_path):
    outputs(tmp_path, "http://127.0.0.1:9/v1", BARE[:1])
    (tmp_path / "tasks.csv").write_text("question_id,prompt_variant,prompt\nQ1,Aa,Why?\n")
    intake = outputs_in(tmp_path / "outputs.jsonl", out=tmp_path / "out", tasks=tmp_path / "tasks.csv")
    panel = judge_panel(intake.directory, read_models(tmp_path / "models.toml"), WantedTerms(["j"]))
    with pytest.raises(UsageError, match=r'A row of the file of tasks is about no output: "Q1", "Aa"\. Give them'):
        judging_dry_run(intake, panel, GivenContracts(()))


@pytest.mark.slow
@pytest.mark.parametrize("began_without", [True, False])
def test_a_judging_is_with_the_task_or_without(tmp_path, server, began_without):
    outputs(tmp_path, server.url, BARE if began_without else [row()], j={}, k={})
    assert fine(judge(tmp_path, *(("--without-task",) if began_without else ())), 0)
    before = every_byte(tmp_path / "out")
    if not began_without:
        done = affidavit("judge", "out", "--judge", "k", "--models", "models.toml", "--without-task", cwd=tmp_path)
        assert fine(done, 2)
        assert b"without_task: was False, is True" in done.stderr
    else:
        (tmp_path / "tasks.csv").write_text("question_id,prompt\nQ1,Why?\nQ2,How?\n")
        done = judge(tmp_path, "--tasks", "tasks.csv")
        assert fine(done, 2)
        assert b"expected the outputs that were taken in there, found others" in done.stderr
        assert b"or other words of their tasks, a directory of their own with --out" in done.stderr
    assert every_byte(tmp_path / "out") == before


# --- before anything is written ---


KEYED = {"key_env": "KEY_OF_J", "body": {"user": {"env": "USER_OF_J"}}}


@pytest.mark.slow
def test_all_variables_that_hold_nothing_are_told_at_once_and_nothing_is_written(tmp_path, server):
    outputs(tmp_path, server.url, [row()], j=KEYED, k={"headers": {"X-Team": {"env": "TEAM_OF_K"}}})
    done = judge(tmp_path, "--judge", "j", "--judge", "k")
    assert fine(done, 2)
    said = done.stderr.decode()
    assert "models.j.key_env, models.j.body, models.k.headers.X-Team: expected values in" in said
    assert "the environment variables KEY_OF_J, USER_OF_J and TEAM_OF_K, found none" in said
    assert "export KEY_OF_J=… USER_OF_J=… TEAM_OF_K=…" in said
    assert not (tmp_path / "out").exists()
    one = judge(tmp_path, USER_OF_J="ab-12-cd")
    assert b"models.j.key_env: expected a value in the environment variable KEY_OF_J, found none" in one.stderr
    assert not (tmp_path / "out").exists()
    assert fine(judge(tmp_path, USER_OF_J="ab-12-cd", KEY_OF_J="sk-12-34"), 0)
    assert fine(judge(tmp_path), 0), "a judge with nothing left to judge needs no key"


@pytest.mark.slow
def test_a_run_tells_what_its_judges_lack_before_the_first_question(tmp_path):
    with serving() as running:
        keyed = {"models": {"beta": {"key_env": "KEY_OF_BETA"}, "gamma": {"key_env": "KEY_OF_GAMMA"}}}
        judged = {"judging": {"judges": ["gamma"]}, "tasks": {"advice": {"models": ["alpha", "beta"]}}}
        open_study(tmp_path, running.url, keyed, judged, questions=("q1",))
        done = run(tmp_path)
        assert fine(done, 2)
        assert b"the environment variables KEY_OF_BETA and KEY_OF_GAMMA, found none" in done.stderr
        assert not running.log
        assert not (tmp_path / "out").exists()
        assert fine(run(tmp_path, "--model", "alpha"), 4), "who is not asked needs no key"


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        pytest.param({"base_url": "http://127.0.0.1:9/v1"}, id="no server"),
        pytest.param({"embedded": "no-such-model", "base_url": None}, id="no weights", marks=pytest.mark.slow),
    ],
)
def test_a_judge_that_cannot_be_asked_leaves_nothing_behind(tmp_path, server, model):
    outputs(tmp_path, server.url, [row()], j={name: value for name, value in model.items() if value})
    if "embedded" in model:
        (tmp_path / "models.toml").write_text('[models.j]\nembedded = "no-such-model"\n')
    done = judge(tmp_path)
    assert fine(done, 2)
    assert not (tmp_path / "out").exists()
    outputs(tmp_path, server.url, [row(raw="Mended.")])
    assert fine(judge(tmp_path), 0), "whatever was wrong can be mended, the outputs too"


@pytest.mark.slow
def test_what_was_asked_or_judged_is_never_taken_back(tmp_path, server):
    outputs(tmp_path, server.url, [row()])
    assert fine(judge(tmp_path), 0)
    before = every_byte(tmp_path / "out")
    with pytest.raises(ValueError, match="never taken away"):
        StudyDirectory(tmp_path / "out").take_back(Disk())
    assert every_byte(tmp_path / "out") == before


@pytest.mark.slow
def test_a_directory_with_something_else_in_it_keeps_that(tmp_path, server):
    outputs(tmp_path, "http://127.0.0.1:9/v1", [row()])
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("mine")
    assert fine(judge(tmp_path), 2)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["lock", "notes.txt"]


# --- dry runs ---


@pytest.mark.slow
def test_a_dry_run_counts_what_is_then_sent_and_writes_nothing(tmp_path, server):
    price = {"price": {"input": 1000.0, "output": 2000.0}}
    outputs(tmp_path, server.url, [row(), row("Q2")], j=price, k={"key_env": "KEY_OF_K"})
    options = ("--condition", "free", "--condition", "schema", "--repeats", "2", "--max-tokens", "50")
    asked = len(server.log)
    done = judge(tmp_path, "--judge", "j", "--judge", "k", *options, "--dry-run", "--json")
    assert fine(done, 0)
    assert len(server.log) == asked
    assert not (tmp_path / "out").exists()
    planned = told(done)
    assert {name: planned[name] for name in ("outputs", "already", "rubric", "without_task")} == {
        "outputs": 2, "already": 0, "rubric": "default", "without_task": False
    }  # fmt: skip
    assert [(each["judge"], each["judging_condition"], each["requests"]) for each in planned["judges"]] == [
        ("j", "free", 4), ("j", "schema", 4), ("k", "free", 4), ("k", "schema", 4)
    ]  # fmt: skip
    assert planned["uses"] == {
        "addresses": [server.url], "environment": ["KEY_OF_K"], "files": ["outputs.jsonl", "models.toml"]
    }  # fmt: skip
    (first, *_, last) = planned["judges"]
    assert first["most_answer_tokens"] == 4 * 50
    assert first["most_cost"] == (first["prompt_tokens"] * 1000 + 4 * 50 * 2000) / 1e6
    assert last["most_cost"] is None
    text = judge(tmp_path, *options, "--dry-run", COLUMNS="80").stdout.decode()
    assert f"{first['prompt_tokens']:,}" in text
    assert "nothing is asked yet" in text
    assert f"it would ask: {server.url}" in text
    assert "files: outputs.jsonl" in text
    assert max(map(len, text.splitlines())) <= 80
    assert fine(judge(tmp_path, *options), 0)
    sent = [each.body["messages"] for each, _ in judged_in(server.log[asked:])]
    assert sum(map(estimated_tokens, sent)) == sum(each["prompt_tokens"] for each in planned["judges"][:2])
    left = told(judge(tmp_path, "--judge", "j", "--judge", "k", *options, "--dry-run", "--json", KEY_OF_K="x-1-2"))
    assert ([each["requests"] for each in left["judges"]], left["already"]) == ([0, 0, 4, 4], 8)


@pytest.mark.slow
def test_a_dry_run_of_a_directory_counts_what_is_left(tmp_path):
    outputs(tmp_path, "http://127.0.0.1:9/v1", [row(output="o1"), row("Q2", output="o2")])

    async def sometimes(call):
        await (fair if '"o1"' in call.asked.prompt else status(400))(call)

    with FaultServer(Always(sometimes)) as running:
        write_models(tmp_path, running.url)
        assert fine(judge(tmp_path), 4)
        before = every_byte(tmp_path / "out")
        order = ("judge", "out", "--judge", "j", "--models", "models.toml", "--dry-run", "--json")
        assert [told(affidavit(*order, cwd=tmp_path))[name] for name in ("outputs", "already")] == [2, 2]
        again = told(affidavit(*order, "--retry-failed", cwd=tmp_path))
        assert (again["already"], again["judges"][0]["requests"]) == (1, 1)
        assert every_byte(tmp_path / "out") == before


@pytest.mark.slow
def test_a_study_counts_at_most_what_its_judges_are_then_asked(tmp_path):
    with serving() as running:
        price = {"models": {"beta": {"price": {"input": 1.0, "output": 1.0}}, "gamma": None}}
        judged = {"judging": {"judges": ["beta"], "repeats": 2, "max_tokens": 70}, "decoding": {"max_tokens": 100}}
        open_study(tmp_path, running.url, price, judged)
        done = run(tmp_path, "--dry-run", "--json")
        assert fine(done, 0)
        (planned,) = told(done)["judging"]
        assert {name: planned[name] for name in ("judge", "judging_condition", "requests", "most_answer_tokens")} == {
            "judge": "beta", "judging_condition": "free", "requests": 32, "most_answer_tokens": 32 * 70
        }  # fmt: skip
        text = run(tmp_path, "--dry-run", COLUMNS="80").stdout.decode()
        assert "at most: as if every planned output arrived, as long as it may be" in text
        words = " ".join(text.split())
        assert "The cost is without that of alpha, which has no price." in words, "of the outputs"
        assert "outputs and judging together cost at most" in words
        assert words.count(", without that of alpha, which has no price") == 1, "of both together"
        assert told(run(tmp_path, "--dry-run", "--json", "--limit", "1"))["judging"][0]["requests"] == 16
        assert not running.log
        assert not (tmp_path / "out").exists()
        assert fine(run(tmp_path), 0)
        sent = [each.body["messages"] for each, _ in judged_in(running.log)]
        after = told(run(tmp_path, "--dry-run", "--json"))["judging"][0]
        assert (after["planned"], after["answered"], after["requests"], after["prompt_tokens"]) == (32, 32, 0, 0)
        text = run(tmp_path, "--dry-run", COLUMNS="80").stdout.decode()
        assert "32 judgements are there already and are not asked for again" in text
    outputs_sent = sum(
        len(each["raw_output"].encode()) // 4 for each in records(tmp_path / "out") if each["kind"] == "response"
    )
    # Empty outputs are counted at 100 tokens each: what is left is the prompts' own size, within a token per request.
    own = planned["prompt_tokens"] - 32 * 100
    assert abs(own - (sum(map(estimated_tokens, sent)) - 2 * outputs_sent)) <= 2 * 32


@pytest.mark.slow
def test_a_study_without_judging_counts_none(tmp_path):
    open_study(tmp_path, "http://127.0.0.1:9/v1", {})
    assert most_judging(load(tmp_path / "study.toml")) == []
    done = run(tmp_path, "--dry-run", "--json")
    assert "judging" not in told(done)
    assert b"judging" not in run(tmp_path, "--dry-run").stdout


@pytest.mark.slow
def test_a_dry_run_says_whether_judges_are_shown_the_task(tmp_path):
    outputs(tmp_path, "http://127.0.0.1:9/v1")
    intake = outputs_in(tmp_path / "outputs.jsonl", out=tmp_path / "out")
    file = read_models(tmp_path / "models.toml")
    panel = judge_panel(intake.directory, file, WantedTerms(["j"], without_task=True))
    planned = judging_dry_run(intake, panel, GivenContracts(()))
    assert planned.as_json()["without_task"] is True
    done = judge(tmp_path, "--without-task", "--dry-run")
    assert b"judges are told that the words of the task are not known" in done.stdout


# --- what is seen at the end ---


@pytest.mark.slow
def test_the_last_table_says_what_each_target_got_in_80_columns(tmp_path, server):
    rows = [row(f"Q{n}", "A", target, f"{target}{n}") for n in range(12) for target in ("m", "n")]
    outputs(tmp_path, server.url, rows)
    done = judge(tmp_path, COLUMNS="80")
    assert fine(done, 0)
    text = done.stdout.decode()
    end = text[text.index("Which verdicts and overall scores does each target get?") : text.index("sealed in")]
    assert "judging condition: free" in end
    rows_of = [line.split() for line in end.splitlines() if line.split()[:1] in (["m"], ["n"])]
    shares = ["12", "100.0%", "[75.8,", "100.0]", "0.0%", "[0.0,", "24.2]", "0.0%", "[0.0,", "24.2]"]
    assert rows_of == [["m", *shares], ["n", *shares], ["m", "7.00", "n=12"], ["n", "7.00", "n=12"]]
    assert "\n\n\n" not in end
    assert max(len(line) for line in end.splitlines()) <= 80


@pytest.mark.slow
def test_where_nothing_is_valid_that_is_said(tmp_path):
    async def prose(call):
        await says("I like it.")(call)

    with FaultServer(Always(prose)) as running:
        outputs(tmp_path, running.url, [row()])
        done = judge(tmp_path)
    assert fine(done, 0)
    assert b"No evaluation of others' outputs is valid, so no target has a verdict or a score." in done.stdout
    assert json.loads((tmp_path / "out/seal.json").read_text())["root_sha256"]
