"""The house stays as it is drawn: rooms import in one direction, pure rooms stay pure, nothing grows out of hand."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from affidavit.contracts.registry import BUILT_IN

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
    "exchange": "contracts archive reading models",
    "study": "contracts archive reading items models",
    "judging": "contracts archive reading items models",
    "running": "contracts archive reading items models exchange study judging",
    "results": "contracts statistics archive reading items exchange study judging running",
    "integrations": "contracts statistics archive reading items models exchange study judging running results",
    "commands": "contracts statistics archive reading items models exchange study judging running results integrations",
}
TOP = {"errors", "json_values", "plain_text", "python_words", "interface", "__init__", "__main__"}
ABOVE_ALL_ROOMS = {"interface", "__init__", "__main__"}
PURE_ROOMS = {"contracts", "statistics", "study", "results"}
TOUCHES_THE_WORLD = {
    # In pure rooms, the few files that bring the world in.
    "contracts.given_parameters",
    "contracts.own_file",
    "study.files",
    "study.freezing",
    "study.models_file",
    "study.dry_run",
    "results.study_results",
    "results.page.study_page",
}
WORLDLY_MODULES = {
    "os", "sys", "io", "pathlib", "shutil", "tempfile", "time", "random", "secrets", "socket", "subprocess",
    "threading", "asyncio", "httptools", "logging", "signal", "platform", "getpass", "uuid", "glob",
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
NAMES = [name_of(path) for path in FILES]
NAMES_KNOWN = frozenset(NAMES)


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(PACKAGE.joinpath(*name.split(".")).with_suffix(".py").read_text())


@cache
def nodes_of(name: str) -> list[ast.AST]:
    """Everything in a module, whatever is asked of it."""
    return list(ast.walk(tree_of(name)))


@cache
def imported(name: str) -> frozenset[str]:
    """Full names of the modules that a module imports, anywhere in it."""
    return frozenset(_imported(nodes_of(name)))


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not _in_memory(node):
            module = node.module or ""
            names = {f"{module}.{alias.name}" for alias in node.names}
            modules = {each for each in names if each.removeprefix("affidavit.") in NAMES_KNOWN}
            found.update(modules or {module})
    return found


def _in_memory(node: ast.ImportFrom) -> bool:
    """A text that is written to as if it were a file touches nothing."""
    return node.module == "io" and [alias.name for alias in node.names] == ["StringIO"]


def own(modules: frozenset[str] | set[str]) -> set[str]:
    """Those of our own modules, without the package's name."""
    return {module.removeprefix("affidavit.") for module in modules if module.startswith("affidavit.")}


def test_every_module_is_in_a_room():
    assert {room_of(name) for name in NAMES} == {"top", *MAY_IMPORT}
    assert {name for name in NAMES if room_of(name) == "top"} <= TOP


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_every_room_says_what_it_is_for(room):
    said = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text()))
    assert said is not None
    assert said.endswith(".")
    assert len(said.splitlines()) == 1


def test_rooms_import_in_one_direction():
    against = []
    for name in NAMES:
        room = room_of(name)
        allowed = {"top", room, *MAY_IMPORT.get(room, "").split()}
        others = [] if name in ABOVE_ALL_ROOMS else sorted(own(imported(name)))
        against += [f"{name} -> {other}" for other in others if room_of(other) not in allowed]
    assert against == []


def test_no_imports_run_in_a_circle():
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " → ".join((*path, name))
        if name in done or name not in NAMES_KNOWN:
            return
        for other in sorted(own(imported(name))):
            visit(other, (*path, name))
        done.add(name)

    for name in NAMES:
        visit(name, ())


def test_pure_rooms_touch_nothing():
    """No clock, disk, network, randomness or environment."""
    pure = [name for name in NAMES if room_of(name) in PURE_ROOMS and name not in TOUCHES_THE_WORLD]
    assert pure
    assert [place for name in pure for place in touched(name)] == []


def touched(name: str) -> Iterator[str]:
    """Where a module touches the world."""
    roots = {module.partition(".")[0] for module in imported(name)}
    yield from (f"{name} imports {root}" for root in sorted(roots & WORLDLY_MODULES))
    for node in nodes_of(name):
        match node:
            case ast.Call(func=ast.Name(id=called)) if called in WORLDLY_CALLS:
                yield f"{name}:{node.lineno} calls {called}"
            case ast.Attribute(attr=attribute) if attribute in WORLDLY_METHODS:
                yield f"{name}:{node.lineno} uses {attribute}"


def test_files_and_functions_fit_a_reader():
    assert [fault for path in FILES for fault in misfits(path)] == []


def misfits(path: Path) -> Iterator[str]:
    """What in a file is too long to be read, or has a name that could head any file."""
    name = name_of(path)
    if (lines := len(path.read_text().splitlines())) > 600:
        yield f"{name} has {lines} lines"
    if path.stem in BANNED_NAMES:
        yield f"{name} could be about anything"
    for node in nodes_of(name):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > 60:
                yield f"{name}: {node.name} has {size} lines"
        if isinstance(node, ast.ClassDef) and node.name.lower() in BANNED_NAMES:
            yield f"{name}: {node.name} could be about anything"


LATE = {
    "reading.imported_records": {"affidavit.reading.repeat_counts", "numpy"},
    "reading.part_files.ray_engine": {"ray", "ray.data"},
    "reading.part_files.run": {"affidavit.reading.part_files.ray_engine"},
    "contracts.labels": {"affidavit.contracts.label_columns"},
    "contracts.json_schema": {"jsonschema_rs"},
    "contracts.mcqa": {"affidavit.contracts.choice_columns"},
    "contracts.mcqa_reasoned": {"affidavit.contracts.reasoned_columns"},
    "contracts.number": {"affidavit.contracts.number_columns"},
    "contracts.pattern": {"polars"},
    "exchange.lighteval_details": {"polars"},
    "integrations.inspect": {"inspect_ai", "inspect_ai.scorer"},
    "items.hub": {"datasets"},
    "reading.column_digests": {"polars_hash"},
    "reading.worker_channel": {"numpy"},
    "reading.line_batches": {"affidavit.reading.choices"},
    "reading.parquet_files": {"polars", "affidavit.reading.shortest_decimals"},
    "reading.engines": {"affidavit.reading.cell_batches", "affidavit.reading.frame_batches"},
    "archive.parquet_copy": {"polars", "affidavit.archive.record_columns"},
    "archive.copy_writer": {"affidavit.archive.parquet_file"},
    "running.import_outputs": {
        "affidavit.archive.record_columns",
        "affidavit.reading.output_rows",
    },
    "archive.root_entries": {"numpy"},
    "models.quantisation": {"gguf", "numpy"},
    "results.page.page_at_the_end": {"affidavit.results.page.study_page"},
    "models.llama_server": {"xllamacpp"},
    "results.closing": {
        "affidavit.results.counting",
        "affidavit.results.study_results",
        "affidavit.results.tables",
    },
    "results.comparison": {"numpy"},
    "results.page.study_page": {"affidavit.results.page.html"},
    "results.table": {"polars", "affidavit.archive.record_columns", "affidavit.reading.pandas_frames"},
    "reading.pandas_frames": {"pandas"},
}
"""What is imported where it is used, because it is heavy and few need it."""


def test_only_commands_and_heavy_libraries_are_imported_late():
    """Imports hidden in functions: the command line's, and whatever brings a large library where few need it."""
    for name in NAMES:
        if room_of(name) == "commands":
            continue
        functions = [node for node in nodes_of(name) if isinstance(node, ast.FunctionDef)]
        late = {module for function in functions for module in _imported(ast.walk(function))}
        allowed = (
            {"numpy", "scipy.special", "scipy.optimize"}
            if room_of(name) == "statistics"
            else LATE.get(name, set())
        )
        assert late <= allowed, name


# --- nobody outside asks which contract it is ---

MAY_KNOW_THE_CONTRACT = {"results.choices", "results.label_scores", "results.other_readings"}
"""Beside the room of the contracts: files of results that are about one contract."""


@cache
def contract_classes() -> frozenset[str]:
    """The classes that contracts are made of: whatever inherits from `Parts`, and `Parts` itself."""
    classes = [
        (node.name, {base.id for base in node.bases if isinstance(base, ast.Name)})
        for name in NAMES
        if room_of(name) == "contracts"
        for node in nodes_of(name)
        if isinstance(node, ast.ClassDef)
    ]
    found = {"Parts"}
    while more := {name for name, bases in classes if bases & found} - found:
        found |= more
    return frozenset(found)


def instances(nodes: Iterable[ast.AST]) -> set[str]:
    """The names under which a module knows our contracts themselves."""
    return {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("affidavit")
        for alias in node.names
        if alias.name in BUILT_IN
    }


def contract_questions(nodes: Sequence[ast.AST]) -> list[int]:
    """The lines of a module that ask of which type a contract is, or what it is called."""
    classes, ours = contract_classes(), instances(nodes)
    return sorted({node.lineno for node in nodes if _asks(node, classes, ours)})


def _asks(node: ast.AST, classes: frozenset[str], ours: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, of]):
            return bool(_names(of) & classes)
        case ast.MatchClass(cls=cls):
            return bool(_names(cls) & classes)
        case ast.Compare(left=left, comparators=others):
            sides = [left, *others]
            texts = [text for side in sides for text in _texts(side)]
            return (
                any(isinstance(side, ast.Name) and side.id in ours | classes for side in sides)
                or any(map(_is_label, texts))
                or (bool(texts) and any(map(_is_of_contract, sides)))
            )
        case ast.Match(subject=subject, cases=cases):
            texts = [text for case in cases for text in _texts(case.pattern)]
            return any(map(_is_label, texts)) or (bool(texts) and _is_of_contract(subject))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[*args]):
            prefixes = ("startswith", "endswith", "starts_with", "removeprefix", "removesuffix", "count", "find")
            texts = [text for arg in args for text in _texts(arg)] if attr in prefixes else []
            return any(map(_is_label, texts)) or (bool(texts) and _is_of_contract(value))
        case ast.Dict(keys=keys):
            return any(_is_label(text) for key in keys if key is not None for text in _texts(key))
    return False


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {
        each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)
    }


def _texts(node: ast.AST) -> list[str]:
    """The texts that stand in a side of a comparison: one, or those of a tuple, a list or a set."""
    match node:
        case ast.Constant(value=str(text)) | ast.MatchValue(value=ast.Constant(value=str(text))):
            return [text]
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.MatchOr(patterns=parts):
            return [text for part in parts for text in _texts(part)]
    return []


def _is_label(text: str) -> bool:
    """Whether a text can only be the name or the label of a contract; common words may be anything."""
    name, slash, _ = text.partition("/")
    return name in BUILT_IN and (
        bool(slash) or name not in {"json", "judge", "labels", "number", "pattern", "text"}
    )


def _is_of_contract(node: ast.AST) -> bool:
    """Whether a side of a comparison is a contract, its name, its label, or a field or column that holds one."""
    match node:
        case ast.Name(id="contract") | ast.Attribute(attr="contract"):
            return True
        case ast.Attribute(value=value, attr="name" | "label" | "str"):
            return _is_of_contract(value)
        case ast.Subscript(value=value, slice=key):
            return _is_of_contract(value) or _texts(key) == ["contract"]
        case ast.Call(func=ast.Name(id="label" | "str"), args=args):
            return any(map(_is_of_contract, args))
        case ast.Call(func=ast.Attribute(value=value, attr="col" | "get" | "partition" | "lower"), args=args):
            return _is_of_contract(value) or any(_texts(arg) == ["contract"] for arg in args)
    return False


def test_nobody_else_asks_which_contract_it_is():
    """A contract owns what is particular to it; everybody else asks for a part."""
    others = [name for name in NAMES if room_of(name) != "contracts" and name not in MAY_KNOW_THE_CONTRACT]
    assert {name: lines for name in others if (lines := contract_questions(nodes_of(name)))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(contract, MultipleChoice)",
        "isinstance(reader.contract, (Judge, mcqa.MultipleChoice))",
        "isinstance(parts, Game24 | Text)",
        "issubclass(kind, Pattern)",
        "type(contract) is Judge",
        "contract.name == 'own'",
        "task.contract != 'text'",
        "'text' == task.contract",
        "record['contract'] == 'judge/1'",
        "fields.get('contract') in ('judge', 'text')",
        "name == 'mcqa'",
        "name in {'game24', 'other'}",
        "label(contract) == 'judge/1'",
        "str(record.contract).startswith('x')",
        "name.startswith('mcqa/')",
        "pl.col('contract').str.starts_with('text/')",
        "'mcqa' in names",
        "from affidavit import judge as ours\nchosen is ours",
        "from affidavit.contracts.mcqa import mcqa\nmcqa == chosen",
        "match contract:\n    case Judge():\n        pass",
        "match task.contract:\n    case 'text' | 'judge':\n        pass",
        "{'mcqa': 1, 'other': 2}[name]",
    ],
)
def test_a_question_which_contract_it_is_would_be_seen(line):
    assert contract_questions(list(ast.walk(ast.parse(line)))) != []


@pytest.mark.parametrize(
    "line",
    [
        "from affidavit import judge\nparts_of(judge).evaluates",
        "def read(contract: Judge) -> Judge:\n    return Judge(rubric)",
        "isinstance(reading, Accepted)",
        "element.tag == 'text'",
        "'judge' in columns",
        "name == contract.name",
        "parts.shows_options",
        "raise UsageError('--lenses', expected='mcqa', found=contract.name)",
    ],
)
def test_what_only_uses_a_contract_is_no_such_question(line):
    assert contract_questions(list(ast.walk(ast.parse(line)))) == []


def test_every_ruling_that_is_cited_is_written_down():
    """A citation leads somewhere: docs/rulings.md has a heading for each, and every ruling of it."""
    stated = set(re.findall(r"^### ([CMGNOLJI]\d+)\. ", (ROOT / "docs" / "rulings.md").read_text(), re.MULTILINE))
    expected = {
        f"{group}{number}"
        for group, last in (("C", 11), ("M", 11), ("G", 12), ("N", 9), ("O", 9), ("L", 8), ("J", 16), ("I", 5))
        for number in range(1, last + 1)
    } | {f"M{number}" for number in range(20, 31)}
    assert stated == expected
    for path in (*FILES, *sorted((ROOT / "tests").rglob("test_*.py"))):
        sentences = re.findall(r"[Rr]ulings? ((?:[CMGNOLJI]\d+[\d.]*(?:,| and| to)? ?)+)", path.read_text())
        cited = {number for sentence in sentences for number in re.findall(r"[CMGNOLJI]\d+", sentence)}
        assert cited <= expected, path
