"""What the documentation shows of the terminal is what is printed: every command of it is typed word for word."""

import re

import pytest

from support.command import affidavit
from support.fault_server import FaultServer
from support.pages import ROOT
from support.studies import fine
from support.transcripts import (
    followed,
    pages_with_transcripts,
    same_texts,
    setting,
    shown_file,
    shown_steps,
    without_digests,
    without_figures,
    write,
)
from support.weight_files import ready_to_run

TUTORIAL = ROOT / "docs" / "tutorial.md"


MANY_COMMANDS = 6


def slow_if_it_asks(page):
    around, many = setting(page), len(dict(shown_steps(page))) > MANY_COMMANDS
    slow = around.server or around.embedded or many
    marks = [pytest.mark.slow, *([pytest.mark.long] if page.name == "tutorial.md" else [])] if slow else []
    return pytest.param(page, marks=marks, id=page.name)


@pytest.mark.parametrize("page", [slow_if_it_asks(page) for page in pages_with_transcripts()])
def test_transcripts_are_real(page, tmp_path):
    """Files that a page shows with `cat` are made from what it shows, or are there; all other commands really run."""
    if setting(page).embedded:
        ready_to_run()
    if (public := setting(page).public) is not None and not public.is_dir():
        pytest.skip("the public data sets are not beside this checkout (../shared/data)")
    shown = dict(shown_steps(page))
    printed = dict(followed(page, tmp_path))
    assert printed.keys() >= {command for command in shown if not shown_file(command)}
    as_shown = without_digests
    if setting(page).embedded and not same_texts(*map("".join, (shown.values(), printed.values()))):
        as_shown = without_figures
    for command, said in printed.items():
        if as_shown is without_figures and "/invalid_evaluations/" in command:
            # What is wrong with another evaluation is that model's matter; that it is told is ours.
            assert '"code": ' in said, command
            continue
        assert as_shown(said) == as_shown(shown[command]), command


def test_a_page_is_written_anew_where_what_is_printed_has_changed(tmp_path):
    page, before, now = tmp_path / "page.md", *(f"seal's digest {64 * digit}" for digit in "ab")
    text = '```console\n$ cat a.txt\nb\n$ cat a.txt | tr b c\n{}\n$ echo "' + now + '"\n' + before + "\n```\n"
    page.write_text(text.format("old"))
    write(page)
    assert page.read_text() == text.format("c"), "another digest is no news"


def test_the_files_of_the_tutorial_are_those_that_it_shows():
    files = setting(TUTORIAL).files
    shown = {name: text for command, text in shown_steps(TUTORIAL) if (name := shown_file(command))}
    several = dict(shown_steps(TUTORIAL))["head texts/*/*.md"]
    shown |= dict(re.findall(r"^==> (.+) <==\n(.+\n)", several, re.MULTILINE))
    assert shown == {str(path.relative_to(files)): path.read_text() for path in files.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "port", "asked"), [("ollama.toml", "11434", 16), ("vllm.toml", "8000", 96)], ids=["ollama", "vllm"]
)
def test_the_studies_of_the_tutorial_run_against_a_server(tmp_path, name, port, asked):
    files = setting(TUTORIAL).files
    (tmp_path / "capitals.jsonl").write_bytes((files / "capitals.jsonl").read_bytes())
    with FaultServer() as server:
        study = (files / name).read_text().replace(f"127.0.0.1:{port}", server.address)
        (tmp_path / name).write_text(study)
        assert fine(affidavit("run", name, cwd=tmp_path), 0)
        assert len(server.log) == asked
        assert sum("structured_outputs" in each.body for each in server.log) == (64 if name == "vllm.toml" else 0)
