"""The documentation cannot drift: its examples run, its headings are complete, its help is generated."""

import doctest
import json
import re
import tomllib
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import affidavit
from affidavit.archive.seal import Seal, SealedFile, SealedSegment
from affidavit.archive.study_directory import BeforeGrowth, _RevisionFile, _StudyFile
from affidavit.contracts.deviation import Deviation, ReasonedDeviation
from affidavit.contracts.evaluation import EvidenceKind
from affidavit.contracts.finding import Code, Flag
from affidavit.contracts.game24 import INSTRUCTION, Method, Reason
from affidavit.contracts.harness_readings import NoAnswer
from affidavit.contracts.json_deviation import JsonDeviation
from affidavit.contracts.label_set import LabelDeviation
from affidavit.contracts.number import Number, number
from affidavit.contracts.number_deviation import NumberDeviation, NumberMethod
from affidavit.judging.directory import _Judge, _JudgingFile
from affidavit.judging.label_draws import LabelDraw, Stratum, _LabelsFile
from affidavit.models import model
from affidavit.models.model import PERMANENT
from affidavit.models.registry import PROVIDERS
from affidavit.models.settings import SettingsTable
from affidavit.reading.rows import _OF_RECORDS
from affidavit.study.check import parse_study
from affidavit.study.study_file import Study
from support import write_commands_page, write_modules_page
from support.pages import PAGES, ROOT

ON_THE_PAGE_OF_OBJECTS = {"Deviations": [*JsonDeviation], "Reasons": ["ok", "wrong_fields"]}
ENUMS = {
    "contracts.md": {
        "Deviations": Deviation,
        "Deviations after reasoning": ReasonedDeviation,
        "No answer": NoAnswer,
        "Extraction methods": Method,
        "Reasons": Reason,
        "Flags": Flag,
        "Findings": Code,
        "Evidence kinds": EvidenceKind,
    },
    "labels.md": {"Deviations": LabelDeviation},
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page):
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_tables_on_the_front_page_fit_into_a_terminal():
    """As the command prints them at eighty columns; rows of data and the drawing of the rooms are no tables."""
    blocks = re.findall(r"^```(?:console)?\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    lines = [
        line for block in blocks for line in block.splitlines() if not line.startswith("{") and "─" not in line
    ]
    assert "$ make demo" in lines
    assert [line for line in lines if len(line) > 80] == []


def test_studies_on_the_pages_are_studies():
    blocks = [
        block for page in PAGES for block in re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.M | re.S)
    ]
    assert blocks
    for block in blocks:
        parse_study(block, where="a page")


def keys_of_a_study() -> dict[str, set[str]]:
    """The keys of each table of a study file, by the structs that read it."""
    tables = {each.name: each.type for each in msgspec.structs.fields(Study)}
    found = {}
    for name, kind in tables.items():
        kinds = [
            part for part in (kind, *get_args(kind)) if isinstance(part, type) and issubclass(part, SettingsTable)
        ]
        assert len(kinds) == 1, name
        found[name] = set(kinds[0].__struct_fields__)
    providers = {key for provider in PROVIDERS.values() for key in provider.__struct_fields__}
    found["models"] = (found["models"] - {"provider"}) | providers
    return found


def keys_on(page: Path, table: str) -> set[str]:
    """The keys that the studies of a page give a table, and those that its text names as code."""
    blocks = re.findall(r"^```toml\n(.*?)^```$", page.read_text(), re.M | re.S)
    given = [tomllib.loads(block).get(table, {}) for block in blocks]
    by_name = table in ("models", "tasks", "conditions")
    keys = {key for each in given for inner in (each.values() if by_name else [each]) for key in inner}
    return keys | set(re.findall(r"`(\w+)(?: = [^`]+)?`", page.read_text()))


@pytest.mark.parametrize("table", keys_of_a_study())
def test_every_key_of_a_study_is_documented(table):
    """`[judging]` on its own page, all others on that of studies."""
    page = ROOT / "docs" / ("judging.md" if table == "judging" else "studies.md")
    assert keys_of_a_study()[table] - keys_on(page, table) == set()


def test_every_field_of_a_record_is_documented():
    page = (ROOT / "docs" / "running.md").read_text() + (ROOT / "docs" / "judging.md").read_text()
    named = set(re.findall(r"`(\w+)`", page))
    assert set(_OF_RECORDS) - named == set()


def keys_by_file() -> dict[str, set[str]]:
    """The keys that running.md gives each file beside the journal."""
    page = (ROOT / "docs" / "running.md").read_text()
    table = page.partition("| file | keys |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", table, re.MULTILINE)
    return {file: set(re.findall(r"`(\w+)`", said)) for file, said in rows}


@pytest.mark.parametrize(
    ("file", "kinds"),
    [
        ("study.json", [_StudyFile]),
        ("revisions/000002.json", [_RevisionFile, BeforeGrowth]),
        ("judging.json", [_JudgingFile, _Judge]),
        ("labels.json", [_LabelsFile, LabelDraw, Stratum]),
        ("seal.json", [Seal, SealedSegment, SealedFile]),
    ],
)
def test_every_key_of_a_file_is_documented(file, kinds):
    keys = {key for kind in kinds for key in kind.__struct_fields__}
    said = keys_by_file()
    assert keys <= said[file] | (said["study.json"] if file.startswith("revisions") else set())
    assert said[file] <= keys, "no key of another file"


@pytest.mark.parametrize("file", ["items.jsonl", "run_log.jsonl", "attempts.jsonl"])
def test_every_key_of_the_lines_of_a_study_is_documented(file):
    """As they were written once."""
    lines = (ROOT / "examples" / "smollm2-answers" / file).read_text().splitlines()
    keys = {key for line in lines for key in json.loads(line)}
    assert keys - {"kind", "v", "sha256"} <= keys_by_file()[file]


def test_every_reason_for_a_failure_is_told_with_what_is_done_about_it():
    page = (ROOT / "docs" / "running.md").read_text()
    rows = re.findall(r"^\| (`.+?) \|.*\| (yes|with `--retry-failed`) \|$", page, re.MULTILINE)
    told = {name: again for names, again in rows for name in re.findall("`(.+?)`", names)}
    assert told == {each.value: "with `--retry-failed`" if each in PERMANENT else "yes" for each in model.Reason}


@pytest.mark.parametrize("page", ENUMS)
def test_every_name_of_a_closed_list_has_its_heading(page):
    sections = re.split(r"^### (.+)$", (ROOT / "docs" / page).read_text(), flags=re.MULTILINE)
    by_title = dict(zip(sections[1::2], sections[2::2], strict=True))
    for title, names in ENUMS[page].items():
        text = re.split(r"^## ", by_title[title], flags=re.MULTILINE)[0]
        assert re.findall(r"^#### `(.+)`$", text, re.MULTILINE) == [name.value for name in names], title


def test_every_name_of_the_closed_lists_of_numbers_has_its_heading():
    """On a page of its own, in sections of the second level."""
    sections = re.split(r"^## (.+)$", (ROOT / "docs" / "number.md").read_text(), flags=re.MULTILINE)
    by_title = dict(zip(sections[1::2], sections[2::2], strict=True))
    for title, names in (("Methods", NumberMethod), ("Deviations", NumberDeviation)):
        found = re.findall(r"^#### `(.+)`$", by_title[title], re.MULTILINE)
        assert found == [name.value for name in names], title
    parameters = re.findall(r"^\| `(\w+)` \|", by_title["Parameters"], re.MULTILINE)
    assert parameters == list(number.parameters)


def test_every_name_of_the_contract_of_objects_has_its_heading():
    sections = re.split(r"^## (.+)$", (ROOT / "docs" / "json.md").read_text(), flags=re.MULTILINE)
    by_title = dict(zip(sections[1::2], sections[2::2], strict=True))
    for title, names in ON_THE_PAGE_OF_OBJECTS.items():
        assert re.findall(r"^#### `(.+)`$", by_title[title], re.MULTILINE) == names, title


def test_the_command_reference_is_what_the_commands_say():
    assert write_commands_page.PAGE.read_text() == write_commands_page.page(), "run `make docs`"


def test_the_page_of_modules_is_what_the_modules_say():
    assert write_modules_page.PAGE.read_text() == write_modules_page.page(), "run `make docs`"


def test_the_map_names_every_room():
    design = (ROOT / "docs" / "design.md").read_text()
    for path in (ROOT / "src" / "affidavit").iterdir():
        if not path.name.startswith("__") and (path.suffix == ".py" or (path / "__init__.py").exists()):
            assert f"`{path.name}{'/' if path.is_dir() else ''}`" in design, path.name


def test_every_public_name_is_documented_and_leads_somewhere():
    pages = "\n".join(page.read_text() for page in PAGES)
    for name in affidavit.__all__:
        assert getattr(affidavit, name) is not None
        assert re.search(rf"\b{name}\b", pages), name
    assert set(affidavit.__all__) <= set(dir(affidavit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = affidavit.nothing


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", prose):
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def test_the_instruction_in_the_rulings_is_the_one_that_is_given():
    text = " ".join((ROOT / "docs" / "rulings.md").read_text().split())
    assert INSTRUCTION in text
    assert number.instruction() in text
    assert Number(marker="####").instruction() in text


@pytest.mark.parametrize("name", ["constraints.txt", "Makefile", "pyproject.toml"])
def test_nothing_is_fetched_from_a_named_place(name):
    """Packages come by name, from wherever the machine is set up to get them."""
    assert "://" not in (ROOT / name).read_text()
