"""Whether a process has gone."""

import os
from pathlib import Path
from time import monotonic, sleep


def gone(number: int) -> bool:
    """Whether a process ends soon; one that only waits to be collected has ended."""
    end = monotonic() + 120
    while monotonic() < end:
        try:
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(number, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        sleep(0.02)
    return False
