"""Every command by itself: what it says of itself, what it prints, and how it ends."""

import json
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from rich.table import Table

from affidavit.commands import (
    audit,
    batch,
    contracts,
    doctor,
    exit_codes,
    export,
    import_logs,
    init,
    judge,
    label,
    merge,
    models,
    output,
    read,
    results,
    run,
    verify,
)
from affidavit.commands.given_code import contract_options
from affidavit.commands.main import cli
from affidavit.commands.starter import MODEL, STARTER, write_starter
from affidavit.errors import UsageError
from affidavit.models import weights
from affidavit.study.check import parse_study

COMMANDS = {
    "audit": audit.audit,
    "batch": batch.batch,
    "import": import_logs.import_logs,
    "contracts": contracts.contracts,
    "export": export.export,
    "doctor": doctor.doctor,
    "init": init.init,
    "run": run.run,
    "read": read.read,
    "merge": merge.merge,
    "label": label.label,
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


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"contracts", "doctor", "init", "models"}))
def test_a_command_that_is_given_nothing_shows_its_help(name):
    code, said = told(name)
    assert code == 2
    assert said.startswith(f"Usage: cli {name} ")


@pytest.mark.slow
def test_help_loads_no_room_but_the_commands():
    program = "import sys, affidavit.commands.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.split() if name.startswith("affidavit.")}
    assert rooms == {"commands", "errors", "plain_text"}


# --- init ---


def test_a_study_to_start_from_is_a_study_and_is_never_written_over(tmp_path):
    paths = write_starter(tmp_path / "new")
    assert [path.name for path in paths] == list(STARTER)
    study = parse_study(paths[0].read_text(), where="study.toml")
    assert (study.decoding.samples, study.tasks["advice"].contract, study.judging) == (3, "text", None)
    assert [model.provider.embedded for model in study.models.values()] == [MODEL]
    for path in paths[1:]:
        assert all(json.loads(line) for line in path.read_text().splitlines())
    paths[1].write_text("mine")
    there = " and ".join(map(str, paths))
    with pytest.raises(UsageError, match=f"expected a place without a study, found {there}"):
        write_starter(tmp_path / "new")
    for path in (paths[0], paths[2]):
        path.unlink()
    with pytest.raises(UsageError, match=f"found {paths[1]}\nNothing was written"):
        write_starter(tmp_path / "new")
    assert [path.exists() for path in paths] == [False, True, False]
    assert paths[1].read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_written_over_either(tmp_path):
    (tmp_path / "study.toml").symlink_to(tmp_path / "elsewhere" / "study.toml")
    with pytest.raises(UsageError, match="Nothing was written"):
        write_starter(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_what_is_commented_out_in_it_is_right_too(tmp_path):
    """Whoever takes the marks away has a study with a server, another task and judges."""
    text = write_starter(tmp_path)[0].read_text()
    whole = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)
    study = parse_study(whole, where="study.toml")
    assert (set(study.models), set(study.tasks)) == ({"smollm2", "server"}, {"trivia", "advice", "hands"})
    assert study.judging is not None
    assert study.judging.judges == ["server"]
    commented = set(re.findall(r"^# (\w+) = ", text.partition("# [judging]")[2], re.MULTILINE))
    assert commented == set(study.judging.__struct_fields__) - {"tasks"}
    variants = re.search(r"# (variants = .*)", text)[1]
    parse_study(text.replace('conditions = ["free"]', variants), where="study.toml")


def test_what_was_written_is_told_with_what_to_do_next(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    (tmp_path / "models").mkdir()
    (tmp_path / f"models/{MODEL}.gguf").touch()
    code, said = told("init", tmp_path / "a b")
    assert code == 0
    run = f"  affidavit run '{tmp_path}/a b/study.toml'"
    assert said.splitlines() == [
        *(f"wrote {tmp_path}/a b/{name}" for name in STARTER),
        "next:",
        f"{run} --dry-run",
        f"{run} --limit 2",
        run,
        "the results will be in the directory of the study's name: first-study",
        "every key of the file: docs/studies.md; judging its open task: docs/judging.md",
    ]


def test_weights_that_are_not_here_come_first(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(weights, "find_spec", lambda name: None)  # whatever package is installed here
    _, said = told("init", tmp_path / "new")
    assert said.split("next:\n")[1].splitlines()[0] == "  affidavit models pull smollm2"


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
