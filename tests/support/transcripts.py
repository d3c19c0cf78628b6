"""The console blocks of the documentation: typed word for word in a folder, and compared with what they show.

    PYTHONPATH=tests:src python tests/support/transcripts.py               write what is printed now into the pages
    PYTHONPATH=tests:src python tests/support/transcripts.py tutorial.md   into this page alone

What is shown there is never typed. Pages whose commands ask the embedded model take minutes: they are written where
they are named, all others by `make docs`.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from support.command import silent_command
from support.fault_server import FaultServer
from support.judge_of_the_page import judge_of_the_page
from support.pages import PAGES, ROOT, steps, transcripts
from support.sums_of_the_page import sums_of_the_page

PUBLIC = ROOT.parent / "shared" / "data"
"""Real outputs of real models, kept beside the project."""
DIGEST = re.compile("(?<=digest )( *)[0-9a-f]{64}")
"""Seals cover times and judgings their date, so that digests are others every day."""
OWN_FILES = re.compile(r"whole of `(.+?)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Files of Python that a page shows as such."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a page's commands find around them."""

    columns: int = 100
    """The width of the terminal."""
    files: Path | None = None
    """A folder whose files are there already; files that a page shows without one are made of what it shows."""
    examples: bool = False
    """Whether the folder of examples is there under its name."""
    server: Callable[[], FaultServer] | None = None
    """Stands in for the server at `address`."""
    address: str = ""
    embedded: bool = False
    """Whether the embedded model is asked."""
    public: Path | None = None
    """A folder of the public data that is there under its own name; without it nothing can be typed."""


SETTINGS = {
    "README.md": Setting(columns=80, examples=True),
    "export.md": Setting(examples=True),
    "contracts.md": Setting(server=sums_of_the_page, address="127.0.0.1:8000"),
    "judging.md": Setting(columns=80, server=judge_of_the_page, address="127.0.0.1:8000"),
    "second-reading.md": Setting(columns=80, public=PUBLIC / "logs" / "opencompass"),
    "tutorial.md": Setting(files=ROOT / "examples" / "tutorial", embedded=True),
}


def setting(page: Path) -> Setting:
    """Nothing in particular, unless the page has its own."""
    return SETTINGS.get(page.name, Setting())


def pages_with_transcripts() -> list[Path]:
    """The pages that show commands."""
    return [page for page in PAGES if transcripts(page)]


def followed(page: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Every command of a page, typed in a folder, and what it printed."""
    around = setting(page)
    _lay_files(page, folder)
    environment = {**os.environ, "PATH": silent_command(folder / "bin"), "COLUMNS": str(around.columns)}
    with _server(around) as server:
        here = server.address if server else ""
        for command, shown in shown_steps(page):
            name = shown_file(command)
            if name and not (folder / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(shown.replace(around.address, here) if server else shown)
                continue
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            printed = done.stdout + done.stderr
            yield command, printed.replace(here, around.address) if server else printed


def shown_file(command: str) -> str | None:
    """The file that a command shows as it is, if it does nothing else."""
    match = re.fullmatch(r"cat ([\w./-]+)", command)
    return match and match[1]


def shown_steps(page: Path) -> list[tuple[str, str]]:
    """Every command of a page with what it shows."""
    return [step for block in transcripts(page) for step in steps(block)]


def without_digests(text: str) -> str:
    """What is the same on every day."""
    return DIGEST.sub("…", text)


def same_texts(shown: str, printed: str) -> bool:
    """Whether a model gave the very texts that a page shows: the first root digest is over them.

    >>> same_texts("root digest   " + 64 * "a", "sealed\\nroot digest   " + 64 * "a")
    True
    """
    one, other = (re.search("root digest +([0-9a-f]{64})", text) for text in (shown, printed))
    return one is not None and other is not None and one[1] == other[1]


def without_figures(text: str) -> str:
    """What is the same on every processor: arithmetic that differs in its last digits may change a word or two.

    >>> without_figures("  plain  62.5% [30.6, 86.3] n=8")
    ' plain # [#, #] n=#'
    """
    return re.sub(r"\s+", " ", re.sub(r"\d(?:[\d.,]*\d)?%?", "#", without_digests(text)))


def write(page: Path) -> None:
    """Replace what a page shows by what its commands print now; digests alone are no news."""
    with tempfile.TemporaryDirectory() as folder:
        printed = dict(followed(page, Path(folder)))
    text = page.read_text()
    for command, before in shown_steps(page):
        now = printed.get(command, before)
        if without_digests(now) != without_digests(before):
            text = text.replace(f"$ {command}\n{before}", f"$ {command}\n{now}")
    page.write_text(text)


def _lay_files(page: Path, folder: Path) -> None:
    files = setting(page).files
    for path in sorted(files.rglob("*")) if files else ():
        if path.is_file():
            copy = folder / path.relative_to(files)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    public = setting(page).public
    if public is not None:
        (folder / public.name).symlink_to(public)
    if setting(page).examples:
        (folder / "examples").symlink_to(ROOT / "examples")
    for name, content in OWN_FILES.findall(page.read_text()):
        (folder / name).write_text(content)


def _server(around: Setting) -> AbstractContextManager[FaultServer | None]:
    return around.server() if around.server else nullcontext()


def main(names: list[str]) -> None:
    """Write the pages of these names, or all that do not ask the embedded model."""
    for page in pages_with_transcripts():
        around = setting(page)
        there = around.public is None or around.public.is_dir()
        if there and (page.name in names or (not names and not around.embedded)):
            write(page)
            sys.stdout.write(f"wrote {page}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
