"""The command line: arguments → one call → a printed result and an exit code.

Nothing is decided here. Heavy modules are imported by the command that needs them, so that `--help` answers
at once.
"""

import gc
import signal
import sys
from typing import NoReturn

import click

from affidavit import __version__
from affidavit.commands.audit import audit
from affidavit.commands.batch import batch
from affidavit.commands.contracts import contracts
from affidavit.commands.doctor import doctor
from affidavit.commands.exit_codes import DONE, INTERRUPTED, STORAGE, TERMINATED
from affidavit.commands.export import export
from affidavit.commands.import_logs import import_logs
from affidavit.commands.init import init
from affidavit.commands.judge import judge
from affidavit.commands.label import label
from affidavit.commands.merge import merge
from affidavit.commands.models import models
from affidavit.commands.read import read
from affidavit.commands.results import compare, gate, report
from affidavit.commands.run import run
from affidavit.commands.verify import verify
from affidavit.errors import AffidavitError
from affidavit.plain_text import plain_lines


class _Commands(click.Group):
    """A group whose commands report what a person can mend in one message, without a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except KeyboardInterrupt:  # click itself would say so, and end with 1
            ctx.exit(INTERRUPTED)

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except AffidavitError as error:
            click.echo(f"affidavit: {plain_lines(str(error))}", err=True)
            context.exit(error.exit_code)
        except BrokenPipeError:
            # The reader of our output has gone (`| head`): that is its right, and no failure of ours.
            _silence_output()
            context.exit(DONE)
        except OSError as error:
            # Whatever has a name was told about by name; what is left are the standard streams.
            _silence_output()
            if sys.__stderr__ is not None:
                sys.__stderr__.write(f"affidavit: standard input or output: {error.strerror or error}\n")
            context.exit(STORAGE)
        except KeyboardInterrupt:
            context.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="affidavit")
def cli() -> None:
    """LLM evaluation on the record.

    Every score traces back to a verbatim output, the contract that read it, and evidence anyone can check.
    """


for command in (
    init,
    run,
    batch,
    read,
    merge,
    import_logs,
    export,
    audit,
    judge,
    label,
    report,
    compare,
    gate,
    verify,
    contracts,
    models,
    doctor,
):
    cli.add_command(command)


def _silence_output() -> None:
    """Keep Python from complaining, at exit, about output that nobody reads."""
    sys.stdout = None
    sys.stderr = None


def main() -> NoReturn:
    """Run the command; never returns."""
    # As an exception, so that whatever is half-written is cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        cli(prog_name="affidavit")
    finally:
        gc.freeze()  # the process ends: nothing that was loaded need be looked through for garbage once more
    raise SystemExit(DONE)
