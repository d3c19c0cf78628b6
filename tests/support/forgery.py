"""A study's directory in memory, to be forged by somebody who knows the format and computes every digest anew."""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.line_shapes import NotARecordError
from affidavit.archive.record_lines import decode
from affidavit.archive.seal import Root
from affidavit.json_values import digest
from support.command import affidavit
from support.fault_server import Call, FaultServer, every, says
from support.judged_studies import agreeable
from support.scripted_judge import judge_prompt
from support.studies import QUICK, fine, toml, write_items

CHECKED = ("study.json", "items.jsonl", "judging.json", "seal.json")
PLAIN = ("attempts.jsonl", "run_log.jsonl")
SEALED = ("study.json", "items.jsonl", "judging.json", *PLAIN, "used_prompt_manifest.md")

Files = dict[str, bytes]


# --- what is forged ---

CONTRACT = """
from pathlib import Path, PurePosixPath
from affidavit import AnswerReading, Validation

Path({trace!r}).touch()


class Own:
    name, version, params = "own", 1, {{}}

    def instruction(self, item=None):
        return "Say the number."

    def read(self, raw, item=None):
        return AnswerReading(raw.strip() or None)

    def validate(self, reading, item):
        return Validation(reading.extracted_answer == item["answer"], "compared")

    def grammar(self, item=None):
        return None


own = Own()
"""
QUESTIONS = ("q1", "q2", "h1", "w1", "s1")
ANSWERS = {"q1": "<answer>B</answer>", "q2": "B, I think", "h1": "<answer>(13-9)*(10-4)</answer>", "s1": "7"}


async def answering(call: Call) -> None:
    """A model that answers each question in its own way, and judges by the rules."""
    if judge_prompt(call.asked.prompt) is not None or call.asked.question not in ANSWERS:
        await agreeable(call)
    else:
        await says(ANSWERS[call.asked.question])(call)


def server() -> FaultServer:
    return FaultServer(dict.fromkeys(QUESTIONS, every(answering)))


def make_studies(folder: Path, url: str) -> None:
    """Two sealed studies in a folder: `planned`, of every kind of contract, and `imported`; both are judged."""
    (folder / "own.py").write_text(CONTRACT.format(trace=str(folder / "trace")))
    options = {"options": ["w", "x", "y", "z"], "answer": "B"}
    write_items(folder / "quiz.jsonl", [{"id": q, "question": f"[{q}] Which?", **options} for q in ("q1", "q2")])
    write_items(folder / "hands.jsonl", [{"id": "h1", "question": "[h1]", "numbers": [4, 9, 10, 13]}])
    write_items(folder / "open.jsonl", [{"id": "w1", "question": "[w1] What now?"}])
    write_items(folder / "sums.jsonl", [{"id": "s1", "question": "[s1] How many?", "answer": "7"}])
    tables = {
        "study": {"name": "forged", "seed": 7},
        "models": {name: {"base_url": url, "connections": 4} for name in ("alpha", "beta")},
        "tasks": {
            "quiz": {"contract": "mcqa", "items": "quiz.jsonl", "option_order": "shuffle"},
            "hands": {"contract": "game24", "items": "hands.jsonl", "conditions": ["plain"]},
            "advice": {"contract": "text", "items": "open.jsonl", "variants": {"bare": "{question}"}},
            "sums": {"contract": "own.py:own", "items": "sums.jsonl", "conditions": ["plain"]},
        },
        "conditions": {"plain": {}, "urged": {"preamble": "Hurry!", "control": "plain", "paradigm": "haste"}},
        "judging": {"judges": ["alpha", "beta"], "tasks": ["advice"]},
        "limits": QUICK,
    }
    (folder / "study.toml").write_text("\n".join(toml(tables)))
    assert fine(affidavit("run", "study.toml", "--out", "planned", cwd=folder, page=True), 0)
    rows = [
        {
            "question_id": "w1",
            "prompt_variant": variant,
            "target_model": "gpt",
            "output_id": f"o{variant}",
            "raw_output": f"Said {variant}.\nDone.",
            "prompt": "Say it, and be done.",
        }
        for variant in ("A", "B")
    ]
    write_items(folder / "outputs.jsonl", rows)
    order = ("judge", "outputs.jsonl", "--out", "imported", "--judge", "alpha", "--models", "study.toml")
    assert fine(affidavit(*order, cwd=folder, page=True), 0)
    (folder / "trace").unlink()


# --- how it is forged ---


def in_memory(directory: Path) -> Files:
    """Every file of a directory by its name there."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def put(files: Mapping[str, bytes], directory: Path) -> None:
    """Make a directory hold these files and nothing else; what is there already is not written again."""
    folders = {f"{directory}/{parent}" for name in files for parent in PurePosixPath(name).parents}
    there = set()
    for folder, below, names in os.walk(directory, topdown=False):
        for path in (f"{folder}/{name}" for name in (*names, *below)):
            if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - thousands of times
                if path not in folders:
                    shutil.rmtree(path)
            elif path[len(str(directory)) + 1 :] in files and not os.path.islink(path):  # noqa: PTH114
                there.add(path)
            else:
                Path(path).unlink()
    for name, content in files.items():
        path = directory / name
        if str(path) not in there:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif path.read_bytes() == content:
            continue
        path.write_bytes(content)


def segments_of(files: Iterable[str]) -> list[str]:
    return sorted(name for name in files if name.startswith("records/"))


def fields_of(name: str, line: bytes) -> dict:
    """What a line of a file says."""
    found = json.loads(line) if name in PLAIN or not is_checked(name) else checked_fields(line)
    assert isinstance(found, dict), name
    return found


def line_of(name: str, fields: Mapping[str, object]) -> bytes:
    """A line that says so, with a checksum where the file has them."""
    return checked_line(fields) if is_checked(name) else json.dumps(fields).encode() + b"\n"


def is_checked(name: str) -> bool:
    return name in CHECKED or name.startswith(("records/", "revisions/"))


def resealed(files: Files, directory: Path) -> Files:
    """The files with every digest computed anew that somebody could compute who has all of them."""
    files = dict(files)
    _refresh(
        files, "study.json", lambda study: study.update(items_file_sha256=_sha256(files.get("items.jsonl", b"")))
    )
    _refresh(files, "judging.json", lambda judging: judging.update(sha256_of_terms=digest(judging["terms"])))
    put(files, directory)
    for name in revisions_of(files):
        _refresh(files, name, lambda revision, name=name: _regrow(revision, name, files, directory))
        put(files, directory)
    _refresh(files, "seal.json", lambda seal: _reseal(seal, files, directory))
    return files


def _refresh(files: Files, name: str, change) -> None:
    """Change what a file of one line says; one that somebody has spoilt stays as it is."""
    if name not in files or (fields := checked_fields(files[name])) is None:
        return
    try:
        change(fields)
        files[name] = checked_line(fields)
    except (TypeError, AttributeError, LookupError, ValueError):
        return


def revisions_of(files: Iterable[str]) -> list[str]:
    """The files of a plan's growths, in order."""
    return sorted(name for name in files if name.startswith("revisions/") and name.endswith(".json"))


def _regrow(revision: dict, name: str, files: Mapping[str, bytes], directory: Path) -> None:
    """What a revision says of its items, and of the records before it."""
    added = files.get(name.replace(".json", ".items.jsonl"))
    revision["items_file_sha256"] = "" if added is None else _sha256(added)
    number = int(name.removeprefix("revisions/").removesuffix(".json"))
    before = _root_of(files, revision["before"]["records"])
    revision["before"]["root_sha256"] = before.sha256(directory, revision=number - 1)


def _reseal(seal: dict, files: Mapping[str, bytes], directory: Path) -> None:
    seal["segments"] = [
        {
            "name": name.removeprefix("records/"),
            "records": files[name].count(b"\n"),
            "sha256": _sha256(files[name]),
        }
        for name in segments_of(files)
    ]
    seal["files"] = {
        name: {"bytes": len(files[name]), "sha256": _sha256(files[name])}
        for name in sorted(files)
        if name in SEALED or name.startswith("revisions/")
    }
    seal["root_sha256"] = _root_of(files).sha256(directory)


def _root_of(files: Mapping[str, bytes], records: int | None = None) -> Root:
    """Over all records, or the first of them."""
    root, left = Root(), records
    for name in segments_of(files):
        lines = files[name].splitlines(keepends=True)
        for line in lines if left is None else lines[:left]:
            try:
                placed = decode(line)
            except NotARecordError:
                continue
            if placed is not None:
                root.add_line(line, placed)
        left = None if left is None else max(0, left - len(lines))
    return root


def _sha256(content: bytes) -> str:
    return sha256(content).hexdigest()
