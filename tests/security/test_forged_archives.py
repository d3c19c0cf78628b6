"""Whatever a directory says, with every digest computed anew: it is refused with its place, or it is harmless.

Thousands of mutants, by the rules of a forger who knows the format: one value of one line is replaced by a value of
any type, removed, doubled, or taken from elsewhere in the directory; then all checksums and seals are made to fit.
The commands run in this process, under a hook that sees every file, process and connection that is opened.
"""

import copy
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from affidavit.commands.main import cli
from support.forgery import (
    CHECKED,
    PLAIN,
    Files,
    fields_of,
    in_memory,
    line_of,
    make_studies,
    put,
    resealed,
    segments_of,
    server,
)

SHARDS, MUTANTS = 20, 260
"""So many tests of so many mutants each: 5,200."""
DEEP: list = []
for _ in range(300):
    DEEP = [DEEP]
STRANGE = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**53, 2**63, 2**64, 10**300, 0.5, -0.0, 1e300, 5e-324, "", " ", "0", "x", "A",
    "../outside/secret.json", "outside/secret.json", "/etc/passwd", "evil.py:own", "own.py:own", "evil", "mcqa/1", "judge",
    "text", "game24", "a" * 3000, "\x1b[2J", "\udcff", "{", "{answer}", "^x$", "*", "`", "<script>", "2026-01-01", "f" * 64,
    [], {}, [[]], {"": None}, {"a": {"b": []}}, [None] * 50, ["x", "x"], DEEP, {"sha256": "0"}, {"bytes": -1},
]  # fmt: skip
FORBIDDEN = {
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect", "os.symlink", "os.link",
    "ctypes.dlopen",
}  # fmt: skip
WRITING = {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "shutil.rmtree"}


@dataclass
class Watch:
    """What commands touch, as Python itself tells it; nothing is told while it is off."""

    inside: Path
    """The directory that is read, which may also be written."""
    beside: Path
    """The folder around it, of which only what was named on the command line may be read."""
    named: frozenset[str]
    port: int
    on: bool = False
    seen: list[str] = field(default_factory=list)

    def hook(self, event: str, arguments: tuple) -> None:
        if not self.on:
            return
        if event == "socket.connect" and arguments[1][:2] == ("127.0.0.1", self.port):
            return
        if event == "subprocess.Popen" and arguments[1][:3] == ["git", "--no-pager", "--no-optional-locks"]:
            return  # which commit this is; asked in the user's own folder, without hooks
        if event == "subprocess.Popen" and arguments[1] == ["uname", "-p"]:
            return  # Python's own way to ask which processor this is
        if event in FORBIDDEN:
            self.seen.append(f"{event} {arguments!r:.200}")
        elif not arguments or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        elif event == "open":
            self._file(
                os.fsdecode(arguments[0]), writing=bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            )
        elif event in WRITING:
            self._file(os.fsdecode(arguments[0]), writing=True)

    def _file(self, name: str, *, writing: bool) -> None:
        path = os.path.abspath(name)  # noqa: PTH100 - links are looked at by their own names
        if path in (str(self.inside), os.devnull) or path.startswith(
            (f"{self.inside}/", os.environ["AFFIDAVIT_CACHE"])
        ):
            return
        foreign = path.startswith((f"{self.beside}/", "/etc/passwd")) and path not in self.named
        # What is named relative to an open folder looks as if it stood here, where nothing has such a name.
        if (writing or foreign) and os.path.lexists(path):
            self.seen.append(f"{'write' if writing else 'read'} {path}")


@dataclass
class Ground:
    """Where mutants are tried: copies of the studies, as they are and as somebody wants them."""

    folder: Path
    studies: dict[str, Files]
    port: int
    """Of the server that the user's own study file names: whoever judges may ask there."""
    digests: dict[str, dict] = field(default_factory=dict)
    figures: dict[str, dict] = field(default_factory=dict)

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)


def verify_command(name: str) -> tuple[str, ...]:
    return ("verify", name, "--json", *(("--contract", "own.py:own") if name == "planned" else ()))


@pytest.fixture(scope="module")
def ground(tmp_path_factory) -> Iterator[Ground]:
    folder = tmp_path_factory.mktemp("ground")
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.json").write_text("{}\n")
    (folder / "evil.py").write_text(
        f"from pathlib import Path\nPath({str(folder / 'outside' / 'ran')!r}).touch()\n"
    )
    before = Path.cwd()
    with server() as serving:
        make_studies(folder, serving.url)
        os.chdir(folder)
        ground = Ground(
            folder,
            {name: in_memory(folder / name) for name in ("planned", "imported")},
            urlsplit(serving.url).port or 0,
        )
        for name in ground.studies:
            done = ground.run(*verify_command(name))
            assert done.exit_code == 0, done.output
            ground.digests[name] = json.loads(done.stdout)
            ground.figures[name] = figures(ground, name)
        yield ground
    os.chdir(before)


def figures(ground: Ground, name: str) -> dict:
    done = ground.run("report", name, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["tables"]


# --- mutants ---


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    """The way to every value in a value."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def at(value: object, path: tuple) -> object:
    for key in path:
        value = value[key]
    return value


def mutated(fields: dict, others: dict, dice: random.Random) -> dict:
    """One value is another, is gone, is there twice, or comes from another line of the directory."""
    fields = copy.deepcopy(fields)
    path = dice.choice([path for path in places(fields) if path])
    holder, key = at(fields, path[:-1]), path[-1]
    match dice.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[dice.choice([f"{key}x", "", "kind", "v", "name", "\udcff"])] = holder[key]
        case 1:
            holder.insert(0, holder[key])
        case 2:
            holder[key] = at(others, dice.choice(list(places(others))))
        case 3 if isinstance(holder[key], str) and holder[key]:
            at_ = dice.randrange(len(holder[key]))
            holder[key] = holder[key][:at_] + dice.choice(["", "x", "/", "\0", "é"]) + holder[key][at_ + 1 :]
        case 3 if isinstance(holder[key], int) and not isinstance(holder[key], bool):
            holder[key] += dice.choice([-1, 1, 10])
        case _:
            holder[key] = copy.deepcopy(dice.choice(STRANGE))
    return fields


def mutant(files: Files, dice: random.Random) -> tuple[str, Files]:
    """The directory with one line changed; and which file it is in."""
    names = [*(name for name in (*CHECKED, *PLAIN) if name in files), *segments_of(files) * 3]
    name = dice.choice(names)
    lines = files[name].splitlines(keepends=True)
    number = dice.randrange(len(lines))
    other = fields_of(name, dice.choice(lines))
    match dice.randrange(20):
        case 0:
            lines.insert(dice.randrange(len(lines) + 1), lines[number])
        case 1:
            del lines[number]
        case 2:
            lines.append(
                line_of(name, {"kind": dice.choice(["response", "label", "note"]), "v": 3, "seq": len(lines) + 1})
            )
        case _:
            lines[number] = line_of(name, mutated(fields_of(name, lines[number]), other, dice))
    return name, {**files, name: b"".join(lines)}


SAID = ("--contract", "Name the file as it was", "format", "version")
"""What a refusal speaks of that is no corruption: code that the user must name, a version that this one does not read."""


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_forged_directory_is_refused_or_harmless(ground, shard):
    dice = random.Random(shard)  # noqa: S311
    codes: Counter[int] = Counter()
    for number in range(MUTANTS):
        study = "imported" if number % 4 == 3 else "planned"
        directory = ground.folder / study
        original = ground.studies[study]
        name, files = mutant(original, dice)
        files = resealed(files, directory)
        put(files, directory)
        mark = f"shard {shard}, mutant {number}: {name}"
        done = watched(ground, study, *verify_command(study), mark=mark)
        codes[done.exit_code] += 1
        assert done.exit_code in (0, 2, 5, 7), (mark, done.output)
        if done.exit_code == 2:
            assert any(word in done.stderr for word in SAID), (mark, done.stderr)
        if done.exit_code == 5:
            assert str(study) in done.stderr, (mark, done.stderr)
        if done.exit_code == 0 and files != original:
            harmless(ground, study, json.loads(done.stdout), mark)
        if number % 3 == 0:
            other_command(ground, study, dice, mark)
        put(original, directory)
    assert codes[5] > codes.total() / 3, codes
    assert not (ground.folder / "outside" / "ran").exists()


def harmless(ground: Ground, study: str, found: dict, mark: str) -> None:
    """The digest that was published tells it from the original; under the same root digest, all figures are the same."""
    kept = ground.digests[study]
    assert found["seal_sha256"] != kept["seal_sha256"], mark
    if found["root_sha256"] == kept["root_sha256"]:
        assert figures(ground, study) == ground.figures[study], mark


def other_command(ground: Ground, study: str, dice: random.Random, mark: str) -> None:
    """Whatever else reads the directory ends with a word too."""
    commands = [
        ("report", study, "--format", "json"),
        ("report", study, "--by", "model", "--format", "md"),
        ("gate", study, "--min-compliance", "0.5"),
        ("compare", study, study),
        ("judge", study, "--judge", "beta", "--models", "study.toml", "--no-page"),
        ("read", "text", f"{study}/records/000001.jsonl", "-o", f"{study}/read.jsonl"),
    ]
    if dice.randrange(10) == 0:
        commands = [("report", study)]
    command = dice.choice(commands)
    done = watched(ground, study, *command, mark=f"{mark}: {command}")
    assert done.exit_code in (0, 1, 2, 3, 4, 5, 7), (mark, command, done.output)


def watched(ground: Ground, study: str, *command: str, mark: str) -> Result:
    """The command, with all that it touches; no traceback, no file elsewhere, no process, no connection."""
    watch = Watch(
        ground.folder / study,
        ground.folder,
        frozenset(map(str, (ground.folder / "own.py", ground.folder / "study.toml"))),
        ground.port,
    )
    WATCHES.append(watch)
    watch.on = True
    try:
        done = ground.run(*command)
    finally:
        watch.on = False
        WATCHES.remove(watch)
    assert done.exception is None or isinstance(done.exception, SystemExit), (mark, repr(done.exception))
    assert watch.seen == [], mark
    return done


WATCHES: list[Watch] = []
"""Who wants to know; a hook cannot be taken away again."""
sys.addaudithook(lambda event, arguments: [watch.hook(event, arguments) for watch in WATCHES] and None)
