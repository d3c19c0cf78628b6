"""Logs that real tools wrote: how they are kept among the golden files, and their figures made again."""

import os
from pathlib import Path

from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput
from support.golden_files import GOLDEN
from support.pages import ROOT

LOGS = GOLDEN / "logs"
KEPT = "2026-01-02T03-04-05.678901"
"""The time in the names of logs that are kept."""


def keep(log: Path, name: str, folder: Path) -> None:
    """Write a log among the golden files, without the names of this machine's folders, if that is wished."""
    if os.environ.get("AFFIDAVIT_GOLDEN") == "write":
        kept = LOGS / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        content = log.read_bytes()
        for place, word in ((folder, b"FOLDER"), (ROOT, b"PROJECT"), (Path.home(), b"HOME")):
            content = content.replace(bytes(place), word)
        kept.write_bytes(content)


def recounted(log: Log, outputs: list[LoggedOutput]) -> dict[tuple[str, str], tuple[float, float | None]]:
    """Each figure that was printed, with the same made again."""
    found = {}
    for printed in log.printed:
        if printed.recount is not None:
            recount = printed.recount()
            for output in outputs:
                recount.add(output)
            found[printed.scorer, printed.metric] = printed.value, recount.value()
    return found


def lighteval_log(name: str, folder: Path) -> Path:
    """A folder as lighteval writes it, with the task of this name; its own names for files would not fit everywhere."""
    details = folder / "details" / "openai" / "tiny" / KEPT / f"details_{name}|0_{KEPT}.parquet"
    results = folder / "results" / "openai" / "tiny" / f"results_{KEPT}.json"
    for path, kept in ((details, f"{name}.parquet"), (results, f"{name}.json")):
        path.parent.mkdir(parents=True)
        path.write_bytes((LOGS / "lighteval" / kept).read_bytes())
    return folder
