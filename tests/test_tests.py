"""The tests stay as they are meant: each room has tests of its own, none leans on another, none on a clock."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "affidavit"
FILES = sorted(TESTS.rglob("test_*.py"))
MODULES = sorted(
    ".".join(("affidavit", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if path.name != "__init__.py"
)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def inside(path: Path) -> list[ast.AST]:
    """Everything in a file, whatever is asked of it."""
    return list(ast.walk(tree(path)))


@cache
def imported(path: Path) -> frozenset[str]:
    """Full names of all that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in inside(path):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def name_of(path: Path) -> str:
    return str(path.relative_to(TESTS))


def test_every_module_is_imported_by_a_test_of_its_own_room():
    """Modules of no room by a test of no room."""
    tried: dict[str, set[str]] = {}
    for path in FILES:
        room, *_ = (*path.relative_to(TESTS).parts[:-1], "")
        tried.setdefault(room, set()).update(imported(path))
    rooms = {module: module.split(".")[1] if module.count(".") > 1 else "" for module in MODULES}
    assert [module for module, room in rooms.items() if module not in tried.get(room, ())] == []


def test_no_test_file_imports_another():
    tests = {other.stem for other in FILES} | {"conftest"}
    assert [
        (name_of(path), name) for path in FILES for name in imported(path) if tests & set(name.split("."))
    ] == []


def test_what_tests_share_is_below_support_and_is_no_test():
    places = {path.parent for path in TESTS.rglob("*.py") if path not in FILES and path.name != "conftest.py"}
    assert places == {TESTS / "support"}


# --- no test depends on how fast the machine is ---

SHORTEST_GUARD = 60.0
"""Seconds; whoever waits for an event may give up after so many, and nothing else may be a matter of time."""
CLOCKS = {"monotonic", "perf_counter", "process_time", "time"}
GUARDED = {"wait", "join", "timeout"}
"""Calls whose first argument is how long they wait; others are told by the name `timeout`."""


def called(node: ast.AST) -> str:
    """The last part of the name by which something is called; empty if nothing is."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


@cache
def nodes() -> list[tuple[str, ast.AST, bool]]:
    """Calls and comparisons in the tests, each with its place and whether it is in a loop until something is so."""
    return list(_nodes())


def _nodes() -> Iterator[tuple[str, ast.AST, bool]]:
    for path in sorted(TESTS.rglob("*.py")):
        loops = [node for node in inside(path) if isinstance(node, ast.While)]
        looping = {id(inner) for loop in loops for inner in ast.walk(loop)}
        for node in inside(path):
            if isinstance(node, ast.Call | ast.Compare):
                yield f"{name_of(path)}:{node.lineno}", node, id(node) in looping


def test_whoever_sleeps_looks_again_whether_something_is_so():
    """What sleeps in an event loop is scripted: a server's answer, a clock that the test holds."""
    asleep = [
        (place, looping)
        for place, node, looping in nodes()
        if called(node) == "sleep" and getattr(getattr(node.func, "value", None), "id", "time") == "time"
    ]
    assert asleep
    assert [place for place, looping in asleep if not looping] == []


def test_nobody_gives_up_soon():
    soon = []
    for place, node, _ in nodes():
        if isinstance(node, ast.Call) and called(node) != "Counter":  # which counts reasons by their names
            waits = [word.value for word in node.keywords if word.arg == "timeout"]
            waits += node.args[:1] if called(node) in GUARDED else []
            seconds = [wait.value for wait in waits if isinstance(wait, ast.Constant)]
            soon += [place for value in seconds if isinstance(value, int | float) and value < SHORTEST_GUARD]
    assert soon == []


def test_no_duration_has_an_upper_bound():
    """`monotonic() - began < 5` fails on a busy machine; `monotonic() < end` within a loop is a guard."""
    bounded = []
    for place, node, _ in nodes():
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
                low = left if isinstance(operator, ast.Lt | ast.LtE) else right
                if isinstance(low, ast.BinOp) and any(called(inner) in CLOCKS for inner in ast.walk(low)):
                    bounded.append(place)
    assert bounded == []
