"""What is published: what the metadata promise, which extras hints name, and what a wheel is refused for."""

import re
import tomllib
from pathlib import Path

import pytest

import affidavit
from support import try_wheel
from support.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]


def test_the_version_is_stated_twice_and_alike():
    assert PROJECT["version"] == affidavit.__version__


def extras_named(text: str) -> set[str]:
    """The extras of the package that a text has people install."""
    named = re.findall(r"pip install ['\"]?(?:affidavit|\.)\[([^\]{]*)\]", text)
    return {extra.strip() for names in named for extra in names.split(",")}


@pytest.mark.slow
def test_every_extra_that_a_hint_names_is_one():
    named = {path.name: extras_named(path.read_text()) for path in SOURCES}
    assert {"embedded", "hf"} <= set.union(*named.values()), "nothing would be tested"
    assert {
        name: extras - PROJECT["optional-dependencies"].keys() for name, extras in named.items() if extras
    } == {name: set() for name, extras in named.items() if extras}


def test_an_extra_that_is_none_would_be_seen():
    assert extras_named("run: pip install 'affidavit[embeded]'") == {"embeded"}
    assert extras_named("`pip install '.[embedded,hf]'`") == {"embedded", "hf"}


@pytest.mark.parametrize(
    ("library", "extra"),
    [("xllamacpp", "embedded"), ("gguf", "embedded"), ("datasets", "hf"), ("polars-hash", "bulk")],
)
def test_an_extra_brings_the_library_whose_lack_is_told(library, extra):
    assert any(re.match(rf"{library}\b", each) for each in PROJECT["optional-dependencies"][extra])


def test_the_size_of_the_dependencies_is_stated_and_within_its_bound():
    """`make wheel` holds what is installed to the same bounds."""
    stated = re.search(r"(\d+) MB on disk, (\d+) MB with `embedded`", (ROOT / "README.md").read_text())
    bounds = try_wheel.MOST_MEGABYTES
    assert bounds[""] - 20 < int(stated[1]) <= bounds[""]
    assert bounds["embedded"] - 20 < int(stated[2]) <= bounds["embedded"]


def test_the_system_is_stated_where_people_look():
    assert "Operating System :: POSIX" in PROJECT["classifiers"]
    assert "POSIX" in (ROOT / "README.md").read_text()


# --- what a wheel is refused for ---

TREE = {"affidavit/__init__.py", "affidavit/py.typed", "affidavit/results/page/files/page.css"}
LICENCE = "affidavit-1.dist-info/licenses/LICENSE"
METADATA = "\n".join(
    [
        "Metadata-Version: 2.4",
        "License-Expression: Apache-2.0",
        *(f"Classifier: {each}" for each in try_wheel.CLASSIFIERS),
        "Description-Content-Type: text/markdown",
        "",
        "# Affidavit",
    ]
)


def faults(names: set[str], metadata: str = METADATA) -> list[str]:
    return list(try_wheel.faults_of_contents(names, metadata, TREE))


def test_a_whole_wheel_has_no_fault():
    assert faults({*TREE, LICENCE}) == []


@pytest.mark.parametrize(
    ("names", "metadata", "told"),
    [
        (
            {*TREE, LICENCE} - {"affidavit/results/page/files/page.css"},
            METADATA,
            "page.css is in the tree and not in",
        ),
        ({*TREE, LICENCE, "tests/conftest.py"}, METADATA, "tests/conftest.py is in the wheel and not in the tree"),
        ({*TREE, LICENCE} - {"affidavit/py.typed"}, METADATA, "no affidavit/py.typed"),
        (TREE, METADATA, "no LICENSE"),
        ({*TREE, LICENCE}, METADATA.replace("Classifier: Typing :: Typed\n", ""), "no classifier Typing :: Typed"),
        ({*TREE, LICENCE}, METADATA.replace("Apache-2.0", "MIT"), "the licence is MIT"),
        ({*TREE, LICENCE}, METADATA.removesuffix("# Affidavit"), "no README"),
    ],
)
def test_a_wheel_is_refused(names, metadata, told):
    assert any(told in fault for fault in faults(names, metadata))


def test_the_package_in_the_tree_is_listed_whole():
    files = try_wheel.tree_files()
    assert {"affidavit/py.typed", "affidavit/results/page/files/page.css", "affidavit/commands/entry.py"} <= files
    assert not {
        name for name in files if not name.startswith("affidavit/") or "test" in Path(name).stem.split("_")
    }


def test_too_much_room_is_refused(tmp_path):
    for name in ("polars", "pip", "affidavit"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "library.so").write_bytes(bytes(3_000_000))
    assert try_wheel.dependencies(tmp_path).keys() == {"polars"}
    try_wheel.check_room(tmp_path, "", most=4)
    with pytest.raises(try_wheel.WheelError, match="take 3 MB of at most 2: polars 3"):
        try_wheel.check_room(tmp_path, "", most=2)


def test_an_environment_without_dependencies_was_not_measured(tmp_path):
    with pytest.raises(try_wheel.WheelError, match="with embedded take 0 MB"):
        try_wheel.check_room(tmp_path, "embedded", most=4)
