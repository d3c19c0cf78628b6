"""Every option that a message, a help text or a docstring names is an option of the command that it is about."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from affidavit.commands.main import cli

PACKAGE = Path(__file__).parents[1] / "src" / "affidavit"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
TYPED = re.compile(
    r"\baffidavit ((?:models |batch |label |contracts (?=show|try))?[a-z]+)\b((?:(?!\baffidavit\b|&&)[^`;|\n])*)"
)
"""A command as one types it, up to its end; a sentence that only speaks of a command puts it between backticks."""

SHOWN_BY = {
    # The commands that show the messages of a module: each option that it names must be an option of all of them.
    "archive.foreign_names": "run judge read",
    "archive.versions": "read",
    "commands.audit": "audit",
    "commands.contract_or_pattern": "audit import",
    "commands.doctor": "doctor",
    "commands.export": "export",
    "commands.given_code": "judge verify",
    "commands.import_logs": "import",
    "commands.judge": "judge",
    "commands.main": "run",
    "commands.merge": "merge",
    "commands.part_options": "read",
    "commands.read": "read",
    "commands.read_into_parts": "read",
    "commands.read_summary": "read",
    "commands.read_into_study": "read",
    "commands.run": "run",
    "commands.starter": "run",
    "commands.study_place": "run",
    "commands.typed_contract": "read",
    "commands.table_files": "report",
    "commands.verify": "verify",
    "commands.what_is_left": "run judge",
    "commands.skipped_logs": "audit import",
    "contracts.frozen_contract": "read",
    "contracts.given_parameters": "read",
    "contracts.own_file": "judge verify",
    "contracts.parts": "read",
    "contracts.pattern": "read audit import",
    "errors": "read",
    "exchange.plain_tables": "audit import",
    "exchange.registry": "audit import",
    "exchange.right_answers": "audit import",
    "exchange.unreadable_logs": "audit import",
    "integrations.export_formats": "export",
    "judging.outputs": "judge",
    "judging.prompt": "judge",
    "models.environment_values": "report",
    "models.setup_fault": "judge",
    "reading.advice_notes": "read",
    "reading.engines": "read",
    "reading.frames": "read",
    "reading.output_columns": "read audit import",
    "reading.part_files.plan": "read",
    "reading.part_files.ray_engine": "read",
    "reading.rows": "read",
    "results.gate": "gate",
    "results.majorities": "report gate",
    "results.page.chosen_outputs": "report",
    "results.read_groups": "read",
    "results.second_readings": "audit",
    "results.study_results": "report gate",
    "running.import_outputs": "judge",
    "running.judge_panel": "judge",
    "running.judging_run": "judge",
    "running.second_reading": "audit",
    "running.study_outputs": "judge",
    "running.study_run": "run",
    "running.taken_over": "run",
    "running.verify": "verify",
    "study.dry_run": "run",
    "study.files": "run",
    "study.first_prompts": "run",
    "study.freezing": "run",
    "study.models_file": "judge",
}
OF_SEVERAL = {
    "commands.batch", "commands.contracts", "commands.label", "commands.label_options", "commands.models", "commands.sheet_folder",
    "commands.results", "interface", "judging.label_columns", "judging.label_draws", "judging.label_questions",
    "models.batch_files", "results.page.verification", "running.batch_export", "running.label_draw",
    "running.label_records", "running.labelled_study", "running.row_labels",
}  # fmt: skip
"""Modules of several commands, whose texts are about now the one, now the other: some command has the option."""
OF_OTHER_PROGRAMS = {
    "archive.provenance": "--no-pager --no-optional-locks --get-regexp --porcelain --ignore-submodules",
    "commands.batch_words": "--model",
    "models.weights": "--no-deps --only-binary --no-input --disable-pip-version-check --retries --dest --no-index "
    "--find-links",
}
"""Of git, of pip, and of vLLM."""


def commands(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for below, each in command.commands.items():
            yield from commands(each, f"{name} {below}".strip())


def options_of(command: click.Command) -> set[str]:
    return {"--help", *(word for each in command.params for word in (*each.opts, *each.secondary_opts))}


OPTIONS = {name: options_of(command) for name, command in commands(cli)}
ALL = set().union(*OPTIONS.values())


class Mention(NamedTuple):
    """An option in a text, and where that is."""

    module: str
    line: int
    option: str
    command: str
    """The command that the text names before it; empty if it names none."""
    is_docstring: bool


def mentions(tree: ast.AST, module: str) -> Iterator[Mention]:
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inner:
            for option, command in named_in(words_of(node)):
                yield Mention(module, node.lineno, option, command, id(node) in docstrings)


def words_of(node: ast.Constant | ast.JoinedStr) -> str:
    """A text as it is written; what is put into it stands as one word."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return node.value if isinstance(node.value, str) else ""


def named_in(text: str) -> Iterator[tuple[str, str]]:
    """The options in a text, each with the command that it is typed after."""
    typed = {
        found.start() + match.start(2): match[1]
        for match in TYPED.finditer(text)
        for found in OPTION.finditer(match[2])
    }
    for found in OPTION.finditer(text):
        yield found[0], typed.get(found.start(), "")


def faults(mention: Mention) -> list[str]:
    """Why an option has no business where it is named."""
    module, option = mention.module, mention.option
    if option in OF_OTHER_PROGRAMS.get(module, "").split():
        return []
    if mention.command:
        known = OPTIONS.get(mention.command)
        fits = known is not None and option in known
        return [] if fits else [f"affidavit {mention.command} has no {option}"]
    if option not in ALL:
        return [f"no command has {option}"]
    unseen = mention.is_docstring and not module.startswith("commands.")  # those of commands are their help
    own = [] if unseen or module in OF_SEVERAL else SHOWN_BY.get(module, "nobody").split()
    return [f"affidavit {name} has no {option}" for name in own if option not in OPTIONS.get(name, ())]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@cache
def all_mentions() -> list[Mention]:
    texts = {name_of(path): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}
    return [each for name, text in texts.items() if "--" in text for each in mentions(ast.parse(text), name)]


def test_every_option_that_is_named_is_one_of_the_command():
    assert [(each.module, each.line, words) for each in all_mentions() for words in faults(each)] == []


def test_the_table_has_no_module_that_names_nothing():
    named = {each.module for each in all_mentions()}
    assert named >= {*SHOWN_BY, *OF_SEVERAL, *OF_OTHER_PROGRAMS}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hint = 'Choose another place with --out.'", []),
        ("hint = 'Choose another place with --output.'", ["no command has --output"]),
        ("hint = 'More options: --options A-E.'", ["affidavit run has no --options"]),
        ("hint = 'More options: `affidavit read mcqa --options A-E`.'", []),
        ("hint = f'to continue: affidavit judge {place} --retry-failed'", []),
        (
            "hint = f'to continue: affidavit verify {place} --retry-failed'",
            ["affidavit verify has no --retry-failed"],
        ),
        ("hint = 'affidavit models quantize m --to Q8_0'", []),
        ("hint = 'affidavit models pull m --to Q8_0'", ["affidavit models pull has no --to"]),
        ("hint = 'affidavit view my-study --out x'", ["affidavit view has no --out"]),
        ("'''As `read` with --options has it.'''", []),
        ("'''As `read` with --choices has it.'''", ["no command has --choices"]),
    ],
)
def test_an_option_that_the_command_does_not_have_would_be_seen(line, said):
    found = list(mentions(ast.parse(line), "running.study_run"))
    assert len(found) == 1
    assert faults(found[0]) == said


DOCS = [*sorted((PACKAGE.parents[1] / "docs").glob("*.md")), PACKAGE.parents[1] / "README.md"]


@pytest.mark.parametrize(
    "page", [*DOCS, PACKAGE / "commands/starter_files/study.toml"], ids=lambda page: page.name
)
def test_commands_in_the_docs_have_the_options_that_they_are_typed_with(page):
    """All of them, not only those whose transcripts are run."""
    typed = [(option, command) for option, command in named_in(page.read_text()) if command]
    assert [each for each in typed if each[0] not in OPTIONS.get(each[1], ())] == []
