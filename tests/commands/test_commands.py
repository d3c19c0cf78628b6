"""Every command by itself: what it says of itself, what it prints, and how it ends."""

import json
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from rich.table import Table

from affidavit.commands import exit_codes, init, judge, models, output, read, results, run, verify
from affidavit.commands.given_code import contract_options
from affidavit.commands.main import cli
from affidavit.commands.starter import STARTER, write_starter
from affidavit.errors import UsageError
from affidavit.study.check import parse_study

COMMANDS = {
    "init": init.init,
    "run": run.run,
    "read": read.read,
    "judge": judge.judge,
    "report": results.report,
    "compare": results.compare,
    "gate": results.gate,
    "verify": verify.verify,
    "models": models.models,
}


def told(*arguments: object) -> tuple[int, str]:
    """Exit code and all that was said, within this process."""
    done = CliRunner().invoke(cli, [str(each) for each in arguments])
    return done.exit_code, done.output


def test_the_command_line_has_these_commands_and_no_other():
    assert cli.commands == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_by_example_and_how_it_ends(name):
    code, said = told(name, "--help")
    assert code == 0
    assert re.search(r"^  Examples?:\n +affidavit " + name, said, re.MULTILINE), said
    ends = re.search(r"Exit codes: (.*?)(?:\n\n|\Z)", said, re.DOTALL)
    codes = {int(number) for number in re.findall(r"(?:^|; |, )(\d+) ", ends[1].replace("\n", " "))}
    known = {value for value in vars(exit_codes).values() if isinstance(value, int)} | {2, 6}
    assert 0 in codes
    assert codes <= known


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"init", "models"}))
def test_a_command_that_is_given_nothing_shows_its_help(name):
    code, said = told(name)
    assert code == 2
    assert said.startswith(f"Usage: cli {name} ")


def test_help_loads_no_room_but_the_commands():
    program = "import sys, affidavit.commands.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.split() if name.startswith("affidavit.")}
    assert rooms == {"commands", "errors", "plain_text"}


# --- init ---


def test_a_study_to_start_from_is_a_study_and_is_never_written_over(tmp_path):
    paths = write_starter(tmp_path / "new")
    assert [path.name for path in paths] == list(STARTER)
    assert parse_study(paths[0].read_text(), where="study.toml").tasks
    assert all(json.loads(line) for line in paths[1].read_text().splitlines())
    paths[1].write_text("mine")
    with pytest.raises(UsageError, match=rf"expected a place without a study, found {paths[0]} and {paths[1]}"):
        write_starter(tmp_path / "new")
    paths[0].unlink()
    with pytest.raises(UsageError, match=f"found {paths[1]}\nNothing was written"):
        write_starter(tmp_path / "new")
    assert not paths[0].exists()
    assert paths[1].read_text() == "mine"


def test_what_was_written_is_told_with_what_to_do_next(tmp_path):
    code, said = told("init", tmp_path / "a b")
    assert code == 0
    assert said.splitlines() == [
        f"wrote {tmp_path}/a b/study.toml",
        f"wrote {tmp_path}/a b/questions.jsonl",
        f"next: affidavit run '{tmp_path}/a b/study.toml' --dry-run",
    ]


# --- what is printed at the end ---


@click.command()
@click.option("--json", "as_json", is_flag=True)
def shows(*, as_json: bool) -> None:
    """Something to show."""
    table = Table("name", box=None, padding=0)
    table.add_row("x" * 150)
    output.show({"a": "é\x1b"} if as_json else table)


@pytest.mark.parametrize(("columns", "widest"), [(None, 150), ("80", 80)])
def test_a_table_is_as_wide_as_it_needs_where_nobody_says_how_wide_the_screen_is(monkeypatch, columns, widest):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    lines = CliRunner().invoke(shows).output.splitlines()
    assert max(map(len, lines)) == widest
    assert not [line for line in lines if line.endswith(" ")]


def test_json_is_ascii():
    said = CliRunner().invoke(shows, ["--json"]).output
    assert said.isascii()
    assert json.loads(said) == {"a": "é\x1b"}


def test_code_is_named_in_one_way_wherever_it_may_be_run():
    @click.command()
    @contract_options
    def bare(**given: object) -> None:
        """Nothing."""

    options = {option.name: option.to_info_dict() for option in bare.params}
    assert set(options) == {"contracts", "study"}
    for command in (judge.judge, verify.verify):
        own = {option.name: option.to_info_dict() for option in command.params if option.name in options}
        assert own == options
