"""What is said of requests that were written as files, whichever command has written them."""

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from affidavit.plain_text import plain_lines

if TYPE_CHECKING:
    from affidavit.json_values import Fields
    from affidavit.running.batch_export import Exported


def exported_json(exported: "Exported") -> "Fields":
    """What was exported, for programs."""
    return {
        "directory": str(exported.directory),
        "asks": "judges" if exported.judging else "models",
        "requests": exported.requests,
        "files": [
            {"path": str(each.path), "model": each.model, "requests": each.requests, "bytes": each.size}
            for each in exported.files
        ],
        "left_to_run": dict(exported.live),
        "judging_waits_for": exported.judging_waits_for,
    }


def say_exported(exported: "Exported", code: Sequence[str]) -> None:
    """Which files were written, and what to do with them; `code` are the options that name a contract's code."""
    for line in exported_lines(exported, code):
        click.echo(plain_lines(line))


def exported_lines(exported: "Exported", code: Sequence[str]) -> Iterator[str]:
    """The lines of it, for a terminal."""
    of = "judgements" if exported.judging else "questions"
    for each in exported.files:
        yield f"{each.path}  {each.requests:,} requests to {each.model}, {each.size:,} bytes"
    for name, count in exported.live.items():
        live = "judge" if exported.judging else "run"
        yield f"not in these files: {count:,} open {of} to {name}; `affidavit {live}` asks them"
    if exported.judging_waits_for:
        yield (
            f"the judging waits for {exported.judging_waits_for:,} outputs that may still come: export again once "
            "they are there, or let `affidavit run` ask the judges live"
        )
    if not exported.files:
        yield f"nothing was written: no {of} are open for a batch"
        return
    take_in = shlex.join(["affidavit", "batch", "import", str(exported.directory), *code])
    yield "next: give each file to a batch service, or to `vllm run-batch -i FILE -o ANSWERS --model MODEL`; then"
    yield f"  {take_in} ANSWERS..."
