"""What was found once and looked at, kept in golden/; `AFFIDAVIT_GOLDEN=write` writes it anew."""

import os
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name: str, found: str) -> str:
    """What is kept under this name; after it was written, if that was asked for."""
    if os.environ.get("AFFIDAVIT_GOLDEN") == "write":
        (GOLDEN / name).write_text(found)
    return (GOLDEN / name).read_text()
