"""The house stays as it is drawn: rooms import in one direction, pure rooms stay pure, nothing grows out of hand."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "affidavit"

# The rooms, and which others each may import; every room may import the top.
MAY_IMPORT = {
    "contracts": "",
    "statistics": "",
    "archive": "contracts",
    "reading": "contracts statistics archive",
    "items": "contracts archive reading",
    "models": "archive",
    "study": "contracts archive reading items models",
    "judging": "contracts archive reading items models",
    "running": "contracts archive reading items models study judging",
    "results": "contracts statistics archive reading items study judging running",
    "commands": "contracts statistics archive reading items models study judging running results",
}
TOP = {"errors", "json_values", "plain_text", "interface", "__init__", "__main__"}
ABOVE_ALL_ROOMS = {"interface", "__init__", "__main__"}
PURE_ROOMS = {"contracts", "statistics", "study", "results"}
TOUCHES_THE_WORLD = {
    # In pure rooms, the few files that bring the world in.
    "contracts.registry",
    "study.files",
    "study.freezing",
    "study.models_file",
    "study.dry_run",
    "results.study_results",
    "results.page.study_page",
}
WORLDLY_MODULES = {
    "os", "sys", "io", "pathlib", "shutil", "tempfile", "time", "random", "secrets", "socket", "subprocess",
    "threading", "asyncio", "aiohttp", "logging", "signal", "platform", "getpass", "uuid", "glob",
}  # fmt: skip
WORLDLY_CALLS = {"open", "print", "input", "eval", "exec", "compile", "__import__", "breakpoint"}
WORLDLY_METHODS = {"now", "today", "utcnow", "getenv", "read_text", "write_text", "environ"}
BANNED_NAMES = {
    "utils",
    "util",
    "common",
    "helpers",
    "misc",
    "base",
    "core",
    "manager",
    "handler",
    "processor",
    "data",
    "info",
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def room_of(name: str) -> str:
    """The room that a module is in; modules of no room stand at the top."""
    return name.partition(".")[0] if "." in name else "top"


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]
TREES = {name_of(path): ast.parse(path.read_text()) for path in FILES}
PURE = sorted(name for name in TREES if room_of(name) in PURE_ROOMS and name not in TOUCHES_THE_WORLD)


@cache
def imported(name: str) -> frozenset[str]:
    """Full names of the modules that a module imports, anywhere in it."""
    return frozenset(_imported(TREES[name]))


def _imported(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not _in_memory(node):
            module = node.module or ""
            names = {f"{module}.{alias.name}" for alias in node.names}
            modules = {each for each in names if each.removeprefix("affidavit.") in TREES}
            found.update(modules or {module})
    return found


def _in_memory(node: ast.ImportFrom) -> bool:
    """A text that is written to as if it were a file touches nothing."""
    return node.module == "io" and [alias.name for alias in node.names] == ["StringIO"]


def own(modules: frozenset[str] | set[str]) -> set[str]:
    """Those of our own modules, without the package's name."""
    return {module.removeprefix("affidavit.") for module in modules if module.startswith("affidavit.")}


def test_every_module_is_in_a_room():
    assert {room_of(name) for name in TREES} == {"top", *MAY_IMPORT}
    assert {name for name in TREES if room_of(name) == "top"} <= TOP


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_every_room_says_what_it_is_for(room):
    said = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text()))
    assert said is not None
    assert said.endswith(".")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("name", sorted(TREES))
def test_rooms_import_in_one_direction(name):
    if name in ABOVE_ALL_ROOMS:
        return
    room = room_of(name)
    allowed = {"top", room, *MAY_IMPORT.get(room, "").split()}
    assert {other for other in own(imported(name)) if room_of(other) not in allowed} == set()


def test_no_imports_run_in_a_circle():
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " → ".join((*path, name))
        if name in done or name not in TREES:
            return
        for other in sorted(own(imported(name))):
            visit(other, (*path, name))
        done.add(name)

    for name in TREES:
        visit(name, ())


@pytest.mark.parametrize("name", PURE)
def test_pure_rooms_touch_nothing(name):
    """No clock, disk, network, randomness or environment."""
    roots = {module.partition(".")[0] for module in imported(name)}
    assert roots & WORLDLY_MODULES == set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in WORLDLY_CALLS, f"{name}:{node.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr not in WORLDLY_METHODS, f"{name}:{node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_fit_a_reader(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= 600
    assert path.stem not in BANNED_NAMES
    for node in ast.walk(TREES[name_of(path)]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            assert size <= 60, f"{node.name} has {size} lines"
        if isinstance(node, ast.ClassDef):
            assert node.name.lower() not in BANNED_NAMES


LATE = {
    "contracts.mcqa": {"affidavit.contracts.choice_columns"},
    "contracts.pattern": {"polars"},
    "items.hub": {"datasets"},
    "reading.line_batches": {"affidavit.reading.choices"},
    "reading.parquet_files": {"polars"},
    "reading.engines": {"affidavit.reading.cell_batches", "affidavit.reading.frame_batches"},
    "archive.parquet_copy": {"polars", "affidavit.archive.record_columns"},
    "models.quantisation": {"gguf", "numpy"},
    "models.llama_server": {"xllamacpp"},
    "results.comparison": {"numpy"},
    "results.page.study_page": {"affidavit.results.page.html"},
}
"""What is imported where it is used, because it is heavy and few need it."""


def test_only_commands_and_heavy_libraries_are_imported_late():
    """Imports hidden in functions: the command line's, and whatever brings a large library where few need it."""
    for name, tree in TREES.items():
        if room_of(name) == "commands":
            continue
        late = {
            module for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for module in _imported(node)
        }
        allowed = (
            {"numpy", "scipy.special", "scipy.optimize"}
            if room_of(name) == "statistics"
            else LATE.get(name, set())
        )
        assert late <= allowed, name


def test_every_ruling_that_is_cited_is_written_down():
    """A citation leads somewhere: docs/rulings.md has a heading for each, and every ruling of it."""
    stated = set(re.findall(r"^### ([CMGJ]\d+)\. ", (ROOT / "docs" / "rulings.md").read_text(), re.MULTILINE))
    expected = {
        f"{group}{number}"
        for group, last in (("C", 8), ("M", 7), ("G", 11), ("J", 13))
        for number in range(1, last + 1)
    }
    assert stated == expected
    for path in (*FILES, *sorted((ROOT / "tests").rglob("test_*.py"))):
        sentences = re.findall(r"[Rr]ulings? ((?:[CMGJ]\d+[\d.]*(?:,| and| to)? ?)+)", path.read_text())
        cited = {number for sentence in sentences for number in re.findall(r"[CMGJ]\d+", sentence)}
        assert cited <= expected, path
