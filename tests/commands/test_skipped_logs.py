"""The option to go on without unreadable logs: one place, the same words."""

import click
from click.testing import CliRunner

from affidavit.commands.main import cli
from affidavit.commands.skipped_logs import skip_option


def test_a_command_gets_it_as_a_flag():
    @click.command()
    @skip_option
    def said(*, skip_unreadable: bool) -> None:
        click.echo(skip_unreadable)

    assert CliRunner().invoke(said, []).output == "False\n"
    assert CliRunner().invoke(said, ["--skip-unreadable"]).output == "True\n"


def test_audit_and_import_say_it_in_the_same_words():
    told = {str(each.help) for name in ("audit", "import") for each in cli.commands[name].params
            if isinstance(each, click.Option) and each.name == "skip_unreadable"}  # fmt: skip
    assert len(told) == 1
