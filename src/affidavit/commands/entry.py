"""Where the command begins: one message, or none, in place of a traceback before there is anything to tell of.

Nothing of ours or of others is imported before: a library may have its own needs on a system that the command does
not run on, and whoever presses Ctrl-C while modules are loaded is answered by the exit code alone.
"""

import sys

TYPE_CHECKING = False  # without loading `typing`
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> "NoReturn":
    """Run the command; never returns."""
    try:
        _run()
    except KeyboardInterrupt:  # before anything was begun: commands end by themselves
        from affidavit.commands.exit_codes import INTERRUPTED

        raise SystemExit(INTERRUPTED) from None


def _run() -> "NoReturn":
    if sys.platform == "win32":
        from affidavit.commands.exit_codes import WRONG
        from affidavit.errors import not_posix

        sys.stderr.write(f"affidavit: {not_posix()}\n")
        raise SystemExit(WRONG)
    from affidavit.commands.main import main as command

    command()
