"""Outputs from elsewhere: taken in whole or refused by name, kept for good, and judged like any others."""

import csv
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.archive.path_names import decode
from affidavit.contracts.judge import judge
from affidavit.errors import InputError, UsageError
from affidavit.judging.trees import Evaluation, judge_archive
from affidavit.reading.source import Row
from affidavit.running.import_outputs import judged_outputs, rows_in
from support.command import affidavit
from support.fault_server import FaultServer
from support.judged_studies import frozen, judgements
from support.outputs_elsewhere import NAMES, row, write_jsonl, write_models
from support.scripted_judge import TREES, Always, digest, evaluation, fair, judged_in, nonce
from support.studies import every_byte, fine, records, told

FITTING = "{question_id}/{prompt_variant}_{target_model}.md"


ROWS = [
    {**row("Q1", "A", "m", "o1", "First words.\r\nMore\0."), "prompt": "Say a word."},
    {**row("Q1", "B", "m", "o2", ' "quoted", and\n\nmore '), "prompt": " Say\tit: {output} "},
    {**row("Q1", "A", "n", "o3", "Words \u2028 of n."), "prompt": "Say\na word."},
    {**row("Q1", "B", "n", "o4", "é"), "prompt": "Say a word."},
]


def write_csv(path: Path, rows: list[dict]) -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, rows: list[dict]) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer(Always(fair)) as running:
        yield running


def take(
    folder: Path, source: Path, server: FaultServer, *options: str, out: str = "out"
) -> CompletedProcess[bytes]:
    models = write_models(folder, server.url)
    return affidavit(
        "judge", source, "--out", folder / out, "--judge", "j", "--models", models, *options, cwd=folder
    )


def outputs(directory: Path) -> dict[tuple[str, ...], dict]:
    kept = (each for each in records(directory) if each["kind"] == "response")
    return {tuple(each[x] for x in ("item_id", "condition", "model", "output_id")): each for each in kept}


# --- four kinds of source ---


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["csv", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("jsonl", "parquet"))]
)
def test_a_file_is_taken_in_word_for_word_and_judged(tmp_path, server, kind):
    # rulings C2 and J13
    writers = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}
    source = writers[kind](tmp_path / f"given.{kind}", ROWS)
    asked = len(server.log)
    done = take(tmp_path, source, server, "--json")
    assert fine(done, 0)
    kept = outputs(tmp_path / "out")
    assert {names: each["raw_output"] for names, each in kept.items()} == {
        tuple(each[name] for name in NAMES): each["raw_output"] for each in ROWS
    }
    prompts = {prompt.meta["output_id"]: prompt for _, prompt in judged_in(server.log[asked:])}
    terms = digest(frozen(tmp_path / "out")["terms"])
    for each in ROWS:
        prompt = prompts[each["output_id"]]
        assert prompt.meta | {name: each[name] for name in NAMES} == prompt.meta
        assert (prompt.task, prompt.output) == (each["prompt"], each["raw_output"])
        question, variant, target, output = (each[name] for name in NAMES)
        key = digest(["imported", "imported", question, variant, target, 0, output])
        assert prompt.nonce == nonce(terms, key, each["raw_output"], each["prompt"], "j", 1)
    assert told(done)["judging"]["judges"][0]["coverage"]["valid"] == len(ROWS)
    if kind == "csv":
        checked = affidavit("verify", tmp_path / "out")
        assert fine(checked, 0)
        assert b"8 records, 4 of them responses and 4 judgements; sealed" in checked.stdout


@pytest.mark.slow
def test_a_folder_is_taken_in_by_a_pattern(tmp_path, server):
    folder = tmp_path / "given"
    texts = {"Q1/A_m.md": "One\r\n", "Q1/B_m.md": "Two", "Q2/A_m.md": "\ufeffThree", "Q2/B_m.md": "Four words"}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    (folder / "picture.png").write_bytes(b"\x89")
    tasks = write_csv(tmp_path / "tasks.csv", [{"question_id": f"Q{n}", "prompt": f"Say {n}."} for n in (1, 2)])
    done = take(tmp_path, folder, server, "--pattern", FITTING, "--tasks", tasks)
    assert fine(done, 0)
    found = {names: each["raw_output"] for names, each in outputs(tmp_path / "out").items()}
    assert found == {(p.split("/")[0], p.split("/")[1][0], "m", p): text for p, text in texts.items()}


@pytest.mark.parametrize(
    ("made", "pattern", "said"),
    [
        ({"Q1/A_m.md": b"x"}, None, "expected --pattern for a folder of texts"),
        ({"Q1/A_m.md": b"x"}, "{question_id}.md", "each of {question_id}, {prompt_variant}"),
        ({"Q1/A_m.md": b"x"}, f"{FITTING}{{question_id}}", "each of {question_id}, {prompt_variant}"),
        ({"Q1/A_m.md": b"x", "notes.md": b"x"}, FITTING, 'found "notes.md"'),
        ({"Q1/A_m.md": b"\xff"}, FITTING, "expected text in UTF-8"),
        ({"Q1/A.png": b"x"}, FITTING, "at least one output, found none"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused(tmp_path, made, pattern, said):
    for path, content in made.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    with pytest.raises((InputError, UsageError)) as refused:
        judged_outputs("x", lambda: rows_in(tmp_path, pattern))
    assert said in str(refused.value)


# --- rows that are refused, and rows that are missing ---


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(), row(raw="other")], "given.jsonl:2: expected an output that no other row has, found the names of"),
        ([row(output=5), row(output="5")], 'given.jsonl:1: ["Q1", "A", "m", "5"]'),
        *(
            ([{**row(), name: value}], f"given.jsonl:1: expected a name in '{name}', found {json.dumps(value)}")
            for name in NAMES
            for value in ("", " \t", None, True, 1.5)
        ),
        (
            [{key: value for key, value in row().items() if key != "output_id"}],
            "a name in 'output_id', found null",
        ),
        ([row(raw=5)], "given.jsonl:1: expected a text in 'raw_output', found 5"),
        ([{**row(), "prompt": 5}], "given.jsonl:1: expected a text in 'prompt', found 5"),
        ([row(raw=None)], "at least one output, found none"),
        ([], "at least one output, found none"),
    ],
)
def test_rows_that_do_not_fit_are_refused_by_name(rows, said):
    with pytest.raises(InputError) as refused:
        judged_outputs(
            "x", lambda: [Row(f"given.jsonl:{number}", number, each) for number, each in enumerate(rows, 1)]
        )
    assert said in str(refused.value)


def test_nothing_is_begun_where_a_row_is_refused(tmp_path, server):
    asked = len(server.log)
    done = take(tmp_path, write_jsonl(tmp_path / "given.jsonl", [row(), row("Q2"), row(raw="other")]), server)
    assert fine(done, 2)
    for said in ("given.jsonl:3: expected", "given.jsonl:1: "):
        assert said in done.stderr.decode()
    assert not (tmp_path / "out/study.json").exists()
    assert len(server.log) == asked


@pytest.mark.slow
def test_what_is_null_and_what_is_missing_are_named_beside_the_books(tmp_path, server):
    # rulings C1 and C5
    rows = [row("Q1", "A", "m"), row("Q1", "B", "n"), row("Q2", "A", "n", raw=None), row("Q1", "B", "m", raw="")]
    done = take(tmp_path, write_jsonl(tmp_path / "given.jsonl", rows), server, "--json")
    assert fine(done, 0)
    missing = {tuple(each.values()) for each in told(done)["judging"]["not_arrived"]}
    hole = "there is no such output"
    assert missing == {
        ("Q2", "A", "n", 0, "the text is null"),
        ("Q1", "A", "n", 0, hole),
        ("Q2", "A", "m", 0, hole),
        ("Q2", "B", "m", 0, hole),
        ("Q2", "B", "n", 0, hole),
    }
    coverage = told(done)["judging"]["judges"][0]["coverage"]
    assert coverage["planned"] == 3, "an empty text is an output, null is none"
    again = take(tmp_path, tmp_path / "given.jsonl", server)
    assert b"never arrived: Q2, A, n, sample 0: the text is null" in again.stdout


@pytest.mark.slow
def test_a_cell_may_be_as_long_as_any_output(tmp_path, server):
    long = "many words, " * 40_000
    done = take(tmp_path, write_csv(tmp_path / "given.csv", [row(raw=f"x\n{long}")]), server)
    assert fine(done, 0)
    assert outputs(tmp_path / "out")["Q1", "A", "m", "o1"]["raw_output"] == f"x\n{long}"


def test_a_table_with_ragged_rows_is_refused(tmp_path, server):
    (tmp_path / "given.csv").write_text(",".join((*NAMES, "raw_output")) + "\nQ1,A,m,o1\n")
    done = take(tmp_path, tmp_path / "given.csv", server)
    assert fine(done, 2)
    assert b'given.csv:2: expected 5 cells, as in the header, found 4 cells, the first "Q1"' in done.stderr


# --- names of every kind ---

ODD = ["../x", "..", "CON", "con", "Con", "a/b", "/etc/passwd", "x" * 300, "X" * 300, "é" * 300, "😀" * 300, "nul\0l",
       "\ud800", "~", "~+", "1.json", "a ", " a", "a", "A", ".", "-", "README.md", "aux.txt", "a\\b", "line\nbreak",
       "\u202eabc", "ﬁ", "fi"]  # fmt: skip


def long_paths(root: Path) -> Iterator[tuple[str, ...]]:
    """All files below a directory, however long their paths are together."""

    def below(here: int, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        try:
            for name in sorted(os.listdir(here)):
                flags = os.O_RDONLY | os.O_NOFOLLOW
                opened = os.open(name, flags, dir_fd=here)
                if os.path.isdir(f"/proc/self/fd/{opened}"):  # noqa: PTH112
                    yield from below(opened, (*parts, name))
                else:
                    os.close(opened)
                    yield (*parts, name)
        finally:
            os.close(here)

    yield from below(os.open(root, os.O_RDONLY | os.O_DIRECTORY), ())


@pytest.mark.slow
def test_any_name_is_kept_below_the_root_and_decoded_back(tmp_path, server):
    # ruling J12
    rows = [row(*(names := (ODD * 2)[n : n + 4]), raw=f"Words of {n}.") for n in range(len(ODD))]
    wide = [row("😀" * 300, "é" * 300, "X" * 300, "😀" * 300, raw="Far down.")]
    assert len(names) == 4
    before = set(tmp_path.parent.iterdir())
    done = take(tmp_path, write_jsonl(tmp_path / "given.jsonl", rows + wide), server, "--json")
    assert fine(done, 0)
    assert set(tmp_path.parent.iterdir()) == before
    expected = {tuple(each[name] for name in NAMES) for each in rows + wide}
    assert set(outputs(tmp_path / "out")) == expected
    paths = [path for path in long_paths(tmp_path / "out") if path[0] in TREES and path[-1] != "README.md"]
    found = [decode(path[1:-1]) for path in paths]
    assert {(names[3], names[4], names[2], names[5]) for names in found} == expected
    assert len(paths) == len({tuple(part.lower() for part in path) for path in paths}) == len(expected)
    assert max(len("/".join(path)) for path in paths) > 4096, "longer than the system takes in one piece"
    checked = affidavit("verify", tmp_path / "out")
    assert fine(checked, 0)
    again = take(tmp_path, tmp_path / "given.jsonl", server, "--json")
    assert fine(again, 0)
    assert told(again)["asked"] == 0
    shutil.rmtree(tmp_path / "out")


names = st.one_of(
    st.text(st.characters(), min_size=1).filter(str.strip),
    st.sampled_from(ODD),
    st.sampled_from("aA.~é😀").flatmap(lambda letter: st.integers(50, 300).map(lambda size: letter * size)),
)
RAW = json.dumps(
    evaluation(dict.fromkeys(("judge_model", *NAMES, "timestamp"), "x") | {"method": "self_judge"}, "x")
)


@settings(max_examples=settings().max_examples // 20)
@given(st.lists(st.tuples(names, names, names, names, names), min_size=1, max_size=4, unique=True))
def test_no_names_leave_the_archive_or_meet_in_it(many):
    # ruling J12, by the writer itself
    with TemporaryDirectory() as folder:
        root = Path(folder, "root")
        with judge_archive(root, judge) as trees:
            for judge_name, *given_names in many:
                meta = {"judge_model": judge_name, **dict(zip(NAMES, given_names, strict=True))}
                reading = judge.read(RAW).fields()
                trees.add(Evaluation(raw=RAW, asked=meta, stated={}, read=reading, source={}))
        assert os.listdir(folder) == ["root"]  # noqa: PTH208
        found = [decode(path[1:-1]) for path in long_paths(root) if path[-1] != "README.md"]
        told_apart = {(n[1], n[3], n[4], n[2], n[5]) for n in found}
        assert told_apart == set(many)
        assert len(found) == len(many)
        shutil.rmtree(root)


# --- once, and again ---


@pytest.fixture(scope="module")
def taken(tmp_path_factory, server) -> Path:
    folder = tmp_path_factory.mktemp("taken")
    assert fine(take(folder, write_jsonl(folder / "given.jsonl", ROWS), server), 0)
    return folder


def without_lock(directory: Path) -> dict[Path, bytes]:
    """Content by path; the log of runs and the lock tell of the day, not of the study."""
    return {
        path.relative_to(directory): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name not in ("lock", "run_log.jsonl", "attempts.jsonl")
    }


@pytest.mark.slow
def test_taking_the_same_in_again_changes_nothing(tmp_path, server, taken):
    shutil.copytree(taken, tmp_path, dirs_exist_ok=True)
    before, asked = without_lock(tmp_path / "out"), len(server.log)
    turned = write_jsonl(tmp_path / "given.jsonl", ROWS[::-1])
    assert fine(take(tmp_path, turned, server), 0), "the order of the rows says nothing"
    assert fine(take(tmp_path, write_csv(tmp_path / "given.csv", ROWS), server), 0), "nor does their file"
    assert without_lock(tmp_path / "out") == before
    assert len(server.log) == asked


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([*ROWS[:-1], {**ROWS[-1], "raw_output": "e"}], id="another text"),
        pytest.param(ROWS[:-1], id="one fewer", marks=pytest.mark.slow),
        pytest.param([*ROWS, row("Q9")], id="one more", marks=pytest.mark.slow),
        pytest.param([{**ROWS[0], "prompt": "?"}, *ROWS[1:]], id="another prompt", marks=pytest.mark.slow),
    ],
)
def test_other_outputs_are_refused(tmp_path, server, taken, rows):
    shutil.copytree(taken, tmp_path, dirs_exist_ok=True)
    before = every_byte(tmp_path / "out")
    done = take(tmp_path, write_jsonl(tmp_path / "given.jsonl", rows), server)
    assert fine(done, 2)
    assert b"expected the outputs that were taken in there, found others" in done.stderr
    assert every_byte(tmp_path / "out") == before


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0, 1, 3, 4])
def test_a_kill_between_the_outline_and_the_records_is_mended(tmp_path, server, taken, kept):
    shutil.copytree(taken, tmp_path, dirs_exist_ok=True)
    whole = without_lock(tmp_path / "out")
    root = json.loads((taken / "out/seal.json").read_text())["root_sha256"]
    lines = (tmp_path / "out/records/000001.jsonl").read_bytes().splitlines(keepends=True)
    shutil.rmtree(tmp_path / "out")
    # What such a kill leaves: the outline, and the first so many records.
    (tmp_path / "out/records").mkdir(parents=True)
    (tmp_path / "out/study.json").write_bytes(whole[Path("study.json")])
    if kept:
        (tmp_path / "out/records/000001.jsonl").write_bytes(b"".join(lines[:kept]))
    if kept < len(ROWS):
        asked = len(server.log)
        order = ("judge", tmp_path / "out", "--judge", "j", "--models", write_models(tmp_path, server.url))
        refused = affidavit(*order, cwd=tmp_path)
        assert fine(refused, 2)
        assert b"expected all outputs that were to be taken in, found" in refused.stderr
        assert len(server.log) == asked, "what is not all there is not judged"
    assert fine(take(tmp_path, tmp_path / "given.jsonl", server), 0)
    assert json.loads((tmp_path / "out/seal.json").read_text())["root_sha256"] == root
    after = without_lock(tmp_path / "out")
    for name in [name for name in whole if name.parts[0] in TREES]:
        assert after[name] == whole[name]
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_a_directory_of_its_own_needs_no_source_any_more(tmp_path, server, taken):
    shutil.copytree(taken, tmp_path, dirs_exist_ok=True)
    models = write_models(tmp_path, server.url, second={"identity": "m"})
    done = affidavit("judge", tmp_path / "out", "--judge", "second", "--models", models, "--json", cwd=tmp_path)
    assert fine(done, 0)
    methods = {(each["judge"], each["model"]): each["asked"]["method"] for each in judgements(tmp_path / "out")}
    assert methods == {
        ("j", "m"): "cross_judge", ("j", "n"): "cross_judge", ("second", "m"): "self_judge", ("second", "n"): "cross_judge"
    }  # fmt: skip
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["given.jsonl", "--judge", "j", "--models", "models.toml"], "expected --out DIR"),
        (["out", "--out", "other", "--judge", "j", "--models", "models.toml"], "no other directory for a study"),
        (
            ["nothing.jsonl", "--out", "new", "--judge", "j", "--models", "models.toml"],
            "nothing.jsonl: expected a file to read, found No such file or directory",
        ),
        (["out", "--judge", "j"], "Name it: --models models.toml"),
        (["out", "--judge", "jj", "--models", "models.toml"], "Did you mean j?"),
        (["out", "--judge", "j", "--models", "none.toml"], "a TOML file with [models.NAME]"),
    ],
)
def test_what_is_asked_for_wrongly_is_refused(tmp_path, server, taken, arguments, said):
    shutil.copytree(taken, tmp_path, dirs_exist_ok=True)
    write_models(tmp_path, server.url)
    done = affidavit("judge", *arguments, cwd=tmp_path)
    assert fine(done, 2)
    assert said in done.stderr.decode()


@pytest.mark.slow
def test_a_directory_may_be_given_as_the_one_here(tmp_path, server):
    models, source = write_models(tmp_path, server.url), write_jsonl(tmp_path / "given.jsonl", ROWS[:1])
    (tmp_path / "here").mkdir()
    for out, cwd in ((".", tmp_path / "here"), (tmp_path / "here", tmp_path)):
        done = affidavit("judge", source, "--out", out, "--judge", "j", "--models", models, cwd=cwd)
        assert fine(done, 0)
    (tmp_path / "here").rename(tmp_path / "there")
    moved = affidavit("judge", source, "--out", "there", "--judge", "j", "--models", models, cwd=tmp_path)
    assert fine(moved, 0), "it is the same outputs, wherever they are"
    assert json.loads((tmp_path / "there/study.json").read_text())["config"]["name"] == "here"


# --- outputs that were read into a study ---


@pytest.mark.slow
def test_outputs_that_were_read_by_a_contract_are_judged_like_any_others(tmp_path, server):
    rows = [
        {"id": f"q{number}", "model": model, "answer": "B", "prompt": "Which one?", "raw_output": raw}
        for model, texts in (("m", ("<answer>B</answer>", "B.")), ("n", (None, "<answer>A</answer>")))
        for number, raw in enumerate(texts)
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    assert fine(affidavit("read", "mcqa", "rows.jsonl", "--out", "out", cwd=tmp_path), 0)
    order = ("judge", "out", "--judge", "j", "--models", write_models(tmp_path, server.url))
    none = affidavit(*order, cwd=tmp_path)
    assert fine(none, 2)
    assert b"expected outputs to judge, found none" in none.stderr, "no open task, and none was named"
    done = affidavit(*order, "--task", "imported", "--json", cwd=tmp_path)
    assert fine(done, 0)
    assert told(done)["judging"]["judges"][0]["coverage"]["valid"] == 3
    assert [
        (each["question_id"], each["target_model"], each["why"]) for each in told(done)["judging"]["not_arrived"]
    ] == [("q0", "n", "the text is null")]
    checked = affidavit("verify", "out", cwd=tmp_path)
    assert fine(checked, 0)
    assert b"7 records, 3 of them responses and 3 judgements; sealed" in checked.stdout
    report = affidavit("report", "out", "--format", "json", cwd=tmp_path)
    assert {"compliance", "accuracy"} < set(told(report)["tables"])
