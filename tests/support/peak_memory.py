"""The most memory that a command needs, with the processes that it starts."""

import subprocess
import sys
from pathlib import Path

# Each process tells its own: what its parent is told begins with what the parent itself needed before.
_TOLD_AT_THE_END = """
import sys
from resource import RUSAGE_CHILDREN, getrusage
from affidavit.commands.main import main
try:
    main()
finally:
    own = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
    print(max(own, getrusage(RUSAGE_CHILDREN).ru_maxrss), file=sys.stderr)
"""


def peak_memory(*arguments: object, cwd: Path) -> int:
    """Kibibytes that the command needs at most; it ends well."""
    order = [sys.executable, "-c", _TOLD_AT_THE_END, *map(str, arguments)]
    done = subprocess.run(order, capture_output=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return int(done.stderr.split()[-1])
