"""The house stays as it is drawn: imports run along the line, pure rooms stay pure, nothing grows out of hand."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "affidavit"

# The line. A module may import what stands before it, never what stands after.
LINE = (
    "errors",
    "terminal",
    "contract",
    "finding",
    "strict_json",
    "expression",
    "evidence",
    "rubric",
    "rubric_file",
    "contracts.mcqa",
    "contracts.game24",
    "contracts.judge",
    "contracts.pattern",
    "contracts.text",
    "columns",
    "expressions",
    "jsonl",
    "rows",
    "once",
    "choice_gains",
    "choice_lines",
    "estimates",
    "paired_tests",
    "repeated_samples",
    "agreement",
    "power",
    "tally",
    "summary",
    "archive_names",
    "user_contract",
    "contract_names",
    "cells",
    "item_formats",
    "hub_items",
    "dataset",
    "model",
    "json_bytes",
    "chat_response",
    "prompt",
    "record",
    "arrangement",
    "examples",
    "study",
    "study_check",
    "plan",
    "flips",
    "judge_prompt",
    "judging",
    "outputs",
    "standing",
    "prompt_manifest",
    "study_books",
    "record_columns",
    "table",
    "metrics",
    "report_text",
    "comparison",
    "gate",
    "page_text",
    "row_labels",
    "chart_svg",
    "charts",
    "report_headline",
    "page_samples",
    "page_content",
    "report_page",
    "run_report",
    "judge_tables",
    "judge_report",
    "pace",
    "gguf_header",
    "storage",
    "lock",
    "archive",
    "commits",
    "judge_archive",
    "engines.local",
    "engines.csv_files",
    "engines.parquet_files",
    "provenance",
    "weights",
    "models.openai_compatible",
    "models.llama_server",
    "models.embedded",
    "models.replay",
    "models.chosen",
    "study_files",
    "study_directory",
    "run_log",
    "judging_directory",
    "columnar_copy",
    "runner",
    "judge_run",
    "study_run",
    "dry_run",
    "intake",
    "models_file",
    "study_report",
    "study_page",
    "verify",
    "progress",
    "run_progress",
    "screen",
    "starter",
    "models_command",
    "judge_command",
    "results_commands",
    "run_command",
    "cli",
    "__main__",
)
# These touch the world; all others are pure.
TOUCHES_THE_WORLD = {
    "user_contract",
    "contract_names",
    "hub_items",
    "storage",
    "lock",
    "archive",
    "commits",
    "judge_archive",
    "engines.local",
    "engines.csv_files",
    "engines.parquet_files",
    "provenance",
    "weights",
    "models.openai_compatible",
    "models.llama_server",
    "models.embedded",
    "models.replay",
    "models.chosen",
    "study_files",
    "study_directory",
    "run_log",
    "judging_directory",
    "columnar_copy",
    "runner",
    "judge_run",
    "study_run",
    "dry_run",
    "intake",
    "models_file",
    "study_report",
    "study_page",
    "verify",
    "progress",
    "run_progress",
    "screen",
    "starter",
    "models_command",
    "judge_command",
    "results_commands",
    "run_command",
    "cli",
    "__main__",
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


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py"]
TREES = {name_of(path): ast.parse(path.read_text()) for path in FILES}
PURE = sorted(TREES.keys() - TOUCHES_THE_WORLD)


def imported(tree: ast.AST) -> set[str]:
    """Full names of the modules that a tree imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not _in_memory(node):
            found.add(node.module or "")
    return found


def _in_memory(node: ast.ImportFrom) -> bool:
    """A text that is written to as if it were a file touches nothing."""
    return node.module == "io" and [alias.name for alias in node.names] == ["StringIO"]


def own(modules: set[str]) -> set[str]:
    """Those of our own modules, without the package's name."""
    return {module.removeprefix("affidavit.") for module in modules if module.startswith("affidavit.")}


def test_every_module_has_its_place_on_the_line():
    assert sorted(TREES) == sorted(LINE)


@pytest.mark.parametrize("name", LINE)
def test_imports_run_along_the_line(name):
    """With a total order there can be no cycle either."""
    place = LINE.index(name)
    assert [other for other in own(imported(TREES[name])) if LINE.index(other) >= place] == []


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_touch_nothing(name):
    """No clock, disk, network, randomness or environment."""
    roots = {module.partition(".")[0] for module in imported(TREES[name])}
    assert roots & WORLDLY_MODULES == set()
    assert own(imported(TREES[name])) & TOUCHES_THE_WORLD == set()
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


def test_only_commands_and_heavy_libraries_are_imported_late():
    """Imports hidden in functions: the command line's, and whatever brings a large library where few need it."""
    late = set()
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                late.update((name, module) for module in imported(node))
    assert {name for name, _ in late} <= {
        "cli",
        "models_command",
        "judge_command",
        "results_commands",
        "columnar_copy",
        "comparison",
        "run_command",
        "intake",
        "estimates",
        "paired_tests",
        "repeated_samples",
        "agreement",
        "power",
        "contracts.pattern",
        "engines.local",
        "item_formats",
        "hub_items",
        "weights",
        "models.llama_server",
        "study_page",
    }
    assert {module for name, module in late if name == "engines.local"} == {"affidavit.choice_lines"}
    for few_need_it in ("contracts.pattern", "item_formats"):
        assert {module for name, module in late if name == few_need_it} == {"polars"}
    assert {module for name, module in late if name == "hub_items"} == {"datasets"}
    assert {module for name, module in late if name == "study_page"} == {"affidavit.report_page"}


def test_every_ruling_that_is_cited_is_written_down():
    """A citation leads somewhere: docs/rulings.md has a heading for each, and every ruling of it."""
    stated = set(re.findall(r"^### ([CMGJ]\d+)\. ", (ROOT / "docs" / "rulings.md").read_text(), re.MULTILINE))
    expected = {
        f"{group}{number}"
        for group, last in (("C", 8), ("M", 7), ("G", 11), ("J", 13))
        for number in range(1, last + 1)
    }
    assert stated == expected
    for path in (*FILES, *sorted((ROOT / "tests").glob("test_*.py"))):
        sentences = re.findall(r"[Rr]ulings? ((?:[CMGJ]\d+[\d.]*(?:,| and| to)? ?)+)", path.read_text())
        cited = {number for sentence in sentences for number in re.findall(r"[CMGJ]\d+", sentence)}
        assert cited <= expected, path
