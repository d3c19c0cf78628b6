"""What a model would be asked first, shown before anything is asked."""

import json

from affidavit.study.dry_run import dry_run
from affidavit.study.files import items_for, load
from affidavit.study.first_prompts import MOST_LINES, FirstPrompt, prompt_lines
from support.command import affidavit
from support.studies import toml, write_items
from support.written_study import questions, tables

CONDITIONS = {"plain": {}, "terse": {"system": "Be brief."}}


def test_a_dry_run_shows_a_prompt_of_each_task_and_json_has_all(tmp_path):
    write_items(tmp_path / "quiz.jsonl", questions(3))
    (tmp_path / "study.toml").write_text("\n".join(toml(tables(conditions=CONDITIONS))))
    planned = json.loads(affidavit("run", "study.toml", "--dry-run", "--json", cwd=tmp_path).stdout)
    assert [(each["task"], each["condition"], each["item"]) for each in planned["prompts"]] == [
        ("quiz", "plain", "q0"),
        ("quiz", "terse", "q0"),
    ]
    plain, terse = (each["messages"] for each in planned["prompts"])
    assert [message["role"] for message in terse] == ["system", "user"]
    assert plain[0] == terse[1]
    lines = affidavit("run", "study.toml", "--dry-run", cwd=tmp_path).stdout.decode().splitlines()
    at = lines.index("the first question of quiz under plain, q0:")
    assert [line.removeprefix("  ") for line in lines[at + 1 :]][: len(plain[0]["content"].splitlines())] == (
        plain[0]["content"].splitlines()
    )
    assert "the prompts of other conditions: --dry-run --json" in lines


def test_a_prompt_is_what_is_then_sent(tmp_path):
    write_items(tmp_path / "quiz.jsonl", questions(2))
    (tmp_path / "study.toml").write_text("\n".join(toml(tables(conditions=CONDITIONS))))
    files = load(tmp_path / "study.toml")
    shown = {each.condition: each.messages for each in dry_run(files).prompts}
    plan = files.plan({"quiz": 2})
    task = plan.tasks["quiz"]
    first = next(iter(items_for(files, task)))
    assert shown == {each.condition: each.request.messages for each in plan.questions(task, first, "m")}


def test_a_long_prompt_is_cut_and_nothing_reaches_the_terminal_unseen():
    said = "\n".join(["\x1b[2J" + "x" * 500, *map(str, range(40))])
    lines = prompt_lines([FirstPrompt("t", "c", "i", ({"role": "user", "content": said},))])
    assert len(lines) == MOST_LINES + 3
    assert lines[-1] == f"  … and {41 - MOST_LINES} lines more"
    assert all(line.isprintable() and len(line) < 200 for line in lines)
