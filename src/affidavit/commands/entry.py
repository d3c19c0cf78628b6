"""Where the command begins: on a system that it does not run on, one message in place of a traceback.

Nothing of ours or of others is imported before that is known: a library may have its own needs there.
"""

import sys
from typing import NoReturn

from affidavit.commands.exit_codes import INTERRUPTED, WRONG
from affidavit.errors import not_posix


def main() -> NoReturn:
    """Run the command; never returns."""
    if sys.platform == "win32":
        sys.stderr.write(f"affidavit: {not_posix()}\n")
        raise SystemExit(WRONG)
    try:
        from affidavit.commands.main import main as command
    except KeyboardInterrupt:  # before anything was begun
        raise SystemExit(INTERRUPTED) from None
    command()
