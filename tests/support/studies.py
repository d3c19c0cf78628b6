"""Studies that are written to a folder, run by the command, and what they left there."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess

from affidavit.archive.checked_lines import checked_fields
from affidavit.archive.segments import segments
from support.command import affidavit

QUICK = {"connect": 600.0, "attempt": 600.0, "sample": 600.0, "run": 600.0, "attempts": 2, "retry_after": 1.0}
"""Few attempts and short waits; no deadline that a slow machine could miss."""

FIRST = Path("records/000001.jsonl")


def items(count: int) -> list[dict]:
    """Questions whose right answer is B, each with its name in its words."""
    return [
        {"id": f"q{n}", "question": f"[q{n}] Which one?", "options": ["w", "x", "y", "z"], "answer": "B"}
        for n in range(count)
    ]


def write_items(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_study(folder: Path, url: str | list[str], *, count: int = 20, changed: Mapping | None = None) -> Path:
    """A study of one model and one task of so many items; `changed` tables are laid over its own."""
    folder.mkdir(exist_ok=True)
    write_items(folder / "items.jsonl", items(count))
    tables = {
        "study": {"name": "trial", "seed": 7},
        "models": {"m": {"base_url": url, "connections": 8}},
        "tasks": {"quiz": {"contract": "mcqa", "items": "items.jsonl"}},
        "limits": QUICK,
    }
    path = folder / "study.toml"
    path.write_text("\n".join(toml(laid_over(tables, changed or {}))))
    return path


def laid_over(below: Mapping, above: Mapping) -> dict:
    both = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            both[name] = laid_over(below[name], above[name])
    return {name: value for name, value in both.items() if value is not None}


def toml(tables: Mapping, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The lines of a TOML file; JSON's words for values are TOML's too."""
    if path:
        yield f"[{'.'.join(json.dumps(name) for name in path)}]"
    yield from (f"{json.dumps(k)} = {_inline(v)}" for k, v in tables.items() if not isinstance(v, Mapping))
    for name, table in tables.items():
        if isinstance(table, Mapping):
            yield from toml(table, (*path, name))


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(name)} = {_inline(each)}' for name, each in value.items())} }}"
    return f"[{', '.join(map(_inline, value))}]" if isinstance(value, list) else json.dumps(value)


def run(folder: Path, *options: str, **environment: str) -> CompletedProcess[bytes]:
    return affidavit("run", folder / "study.toml", "--out", folder / "out", *options, **environment)


def told(done: CompletedProcess[bytes]) -> dict:
    """The summary that `--json` printed."""
    return json.loads(done.stdout)


def quiz(done: CompletedProcess[bytes]) -> dict:
    return told(done)["tasks"]["quiz"]


def accounted(figures: Mapping) -> bool:
    """The accounting identity of ruling C5."""
    parts = ("compliant", "non_compliant", "unread", "failed", "pending")
    return figures["n"] == sum(figures[part] for part in parts) and figures["failed"] == sum(
        figures["failures"].values()
    )


def records(directory: Path) -> list[dict]:
    """What stands on every line of a study's journal, in their order."""
    lines = (
        line for segment in segments(directory) for line in segment.path.read_bytes().splitlines(keepends=True)
    )
    found = [checked_fields(line) for line in lines]
    assert [fields["seq"] for fields in found] == list(range(1, len(found) + 1))
    return found


def every_byte(directory: Path) -> bytes:
    """All that is below a directory, with the names."""
    return b"\n".join(
        str(path).encode() + (path.read_bytes() if path.is_file() else b"")
        for path in sorted(directory.rglob("*"))
    )


def fine(done: CompletedProcess[bytes], code: int) -> bool:
    """The exit code is the one that was promised, and nothing broke on the way."""
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"Exception ignored" not in done.stderr, done.stderr.decode()
    assert done.returncode == code, (done.returncode, done.stdout.decode(), done.stderr.decode())
    return True


def told_by_verify(directory: Path) -> dict:
    return json.loads(affidavit("verify", directory, "--json").stdout)
