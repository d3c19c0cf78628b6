"""The table in docs/threat-model.md: what `verify` says of each file of a study that somebody has changed."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from affidavit import __version__
from support.command import affidavit
from support.forgery import Files, fields_of, in_memory, line_of, make_studies, put, resealed, server
from support.studies import fine, write_study

DOCUMENT = Path(__file__).parents[2] / "docs" / "threat-model.md"
FIRST = "records/000001.jsonl"


class Change(NamedTuple):
    """A file of a study, and how a value of it is forged."""

    file: str
    forge: Callable[[bytes], bytes]

    @property
    def study(self) -> str:
        """The study that has such a file."""
        return "grown" if self.file.startswith("revisions/") else "planned"


def _value(name: str, change: Callable[[dict], object]) -> Change:
    """The first line of a file that a change fits, changed."""

    def forge(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True)
        for number, line in enumerate(lines):
            fields = fields_of(name, line)
            if change(fields) is not False:
                lines[number] = line_of(name, fields)
                return b"".join(lines)
        raise AssertionError(name)

    return Change(name, forge)


def _words(name: str, old: bytes, new: bytes) -> Change:
    def forge(content: bytes) -> bytes:
        assert old in content, name
        return content.replace(old, new, 1)

    return Change(name, forge)


def _raw_text(fields: dict) -> object:
    """An output that breaks its contract in the same way, in other words."""
    if fields["raw_output"] != "B, I think":
        return False
    return fields.update(raw_output="B, I guess")


def _reading(fields: dict) -> object:
    return fields.update(extracted_answer="C") if fields.get("extracted_answer") == "B" else False


def _answer(fields: dict) -> object:
    return fields["item"].update(answer="C") if fields["task"] == "quiz" else False


ROWS = {
    "`study.json`: a setting of a request": _value(
        "study.json", lambda f: f["config"]["decoding"].update(max_tokens=77)
    ),
    "`study.json`: a paradigm, the digest of weights": _value(
        "study.json", lambda f: f["config"]["conditions"]["urged"].update(paradigm="other")
    ),
    "`study.json`: versions, git": _value("study.json", lambda f: f["versions"].update(affidavit="9.9")),
    "`items.jsonl`: an answer": _value("items.jsonl", _answer),
    "`items.jsonl`: metadata": _value("items.jsonl", lambda f: f["item"].update(metadata={"level": "hard"})),
    "`revisions/000002.json`: a setting of a request": _value(
        "revisions/000002.json", lambda f: f["config"]["decoding"].update(max_tokens=77)
    ),
    "`revisions/000002.json`: its date": _value("revisions/000002.json", lambda f: f.update(date="2020-01-01")),
    "`revisions/000002.items.jsonl`: an answer": _value("revisions/000002.items.jsonl", _answer),
    "`revisions/000002.items.jsonl`: metadata": _value(
        "revisions/000002.items.jsonl", lambda f: f["item"].update(metadata={"level": "hard"})
    ),
    "`judging.json`: a judge's setting": _value(
        "judging.json", lambda f: f["judges"]["alpha"]["request"].update(max_tokens=77)
    ),
    "`judging.json`: a rubric's words": _value(
        "judging.json", lambda f: f["terms"]["rubric"]["dimensions"][0].update(words="Is it kind?")
    ),
    "a record: what was read from its raw text": _value(FIRST, _reading),
    "a record: its raw text, read alike": _value(FIRST, _raw_text),
    "`attempts.jsonl`": _value("attempts.jsonl", lambda f: f.update(at="2020-01-01T00:00:00Z")),
    "`run_log.jsonl`": _value("run_log.jsonl", lambda f: f.update(at="2020-01-01T00:00:00Z")),
    "`used_prompt_manifest.md`": _words("used_prompt_manifest.md", b"Hurry!", b"Harry!"),
    "`seal.json`: a count": _value("seal.json", lambda f: f["counts"]["cells"][0].update(compliant=99)),
    "a file of the trees": _words("valid_evaluations", b'"verdict": "PASS"', b'"verdict": "FAIL"'),
    "`report.html`: a figure": _words("report.html", b"50.0%", b"51.0%"),
    "`report.html`: the length of a bar in a chart": Change(
        "report.html", lambda page: re.sub(rb'(<rect class="part [^>]* width=")', rb"\g<1>1", page, count=1)
    ),
    "`report.html`: a figure, and that it is of another version": Change(
        "report.html",
        lambda page: page.replace(b"50.0%", b"51.0%").replace(
            f"&#34;{__version__}&#34;".encode(), b"&#34;9.9&#34;"
        ),
    ),
}
HEADS = ["changed", "a byte flipped", "removed", "one value forged, all digests anew"]
HEADS += ["and `--expect` root", "and `--expect` seal"]


def _table() -> dict[str, list[int]]:
    """The codes that the document gives, by what is changed."""
    _, _, behind = DOCUMENT.read_text().partition("| changed ")
    lines = [line for line in f"| changed {behind}".splitlines() if line.startswith("| ")]
    head, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert head == HEADS
    return {row[0]: list(map(int, row[1:])) for row in rows}


@pytest.fixture(scope="module")
def studies(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("threats")
    with server() as serving:
        make_studies(folder, serving.url)
        for count in (2, 3):
            write_study(folder / "growing", serving.url, count=count)
            assert fine(affidavit("run", "growing/study.toml", "--out", "grown", cwd=folder), 0)
    return folder


@pytest.fixture(scope="module")
def originals(studies) -> dict[str, Files]:
    return {name: in_memory(studies / name) for name in ("planned", "grown")}


@pytest.fixture(scope="module")
def kept(studies, originals) -> dict[str, dict[str, str]]:
    """The digests that somebody has kept elsewhere, by study."""
    found = {}
    for study in originals:
        code, said = verified(studies, study)
        assert code == 0, said
        found[study] = {name: json.loads(said)[f"{name}_sha256"] for name in ("root", "seal")}
    return found


def verified(studies: Path, study: str, *options: str) -> tuple[int, str]:
    named = ("--contract", "own.py:own") if study == "planned" else ()
    done = affidavit("verify", study, "--json", *named, *options, cwd=studies)
    assert b"Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout.decode()


def test_the_document_has_every_row():
    assert list(_table()) == list(ROWS)


def name_in(files: Files, name: str) -> str:
    """The file; of a folder, its first."""
    return (
        name
        if name in files
        else min(each for each in files if each.startswith(f"{name}/") and each.endswith("json"))
    )


def flipped(content: bytes) -> bytes:
    """A letter or digit in the middle is another."""
    places = [at.start() for at in re.finditer(rb"\w", content)]
    at = places[len(places) // 2]
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_verify_says_of_a_change_what_the_document_says(studies, originals, kept, row):
    change, codes = ROWS[row], _table()[row]
    study, original = change.study, originals[change.study]
    name = name_in(original, change.file)
    directory = studies / study
    put({**original, name: flipped(original[name])}, directory)
    found = [verified(studies, study)[0]]
    put({each: content for each, content in original.items() if each != name}, directory)
    found.append(verified(studies, study)[0])
    forged = {**original, name: change.forge(original[name])}
    if name not in ("report.html",):
        # A forger would write the page anew, too; that of the old seal is only listed as not checked.
        forged = resealed(forged, directory)
    put(forged, directory)
    found.append(verified(studies, study)[0])
    found += [verified(studies, study, "--expect", kept[study][digest])[0] for digest in ("root", "seal")]
    assert found == codes, row
