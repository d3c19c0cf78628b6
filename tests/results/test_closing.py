"""What a run came to, on a terminal and for programs: counts with their shares, whatever the names."""

import io
import json
from collections import Counter

import pytest
from rich.console import Console

from affidavit import game24, mcqa
from affidavit.contracts.read_by import ReadBy
from affidavit.reading.tally import Tally
from affidavit.results.caveats import AskedCell
from affidavit.results.changed_answers import MOVES, UNDECIDABLE, ChangeCounts, changes_table
from affidavit.results.closing import MOST_LABELS, ClosedRun, as_json, as_tables, listed, task_table
from affidavit.results.groups import Group, ItemKind
from affidavit.results.table import Table
from affidavit.results.terminal import shown
from affidavit.results.token_counts import tallies_by, tokens_json
from affidavit.study.crossing import Cell
from support.fault_server import FaultServer
from support.studies import QUICK, fine, run, toml, write_items
from support.written_study import here, questions, tables

FREE, URGED = Cell("quiz", "m", "free"), Cell("quiz", "m\n", "urged")
RIGHT, WRONG = ItemKind(compliant=1, right=1, compared=1, keyed=1), ItemKind(compliant=1, compared=1, keyed=1)
CHANGED = {
    "task": "quiz", "model": "m", "condition": "urged", "control": "free", "kept": 4,
    **dict(zip(MOVES, (3, 2, 1), strict=True)), "undecidable": {UNDECIDABLE[0]: 5},
}  # fmt: skip


def closed(**changed: object) -> ClosedRun:
    tallies = {
        FREE: Tally(compliant=8, non_compliant=2, right=6, compared=8, keyed=10),
        URGED: Tally(compliant=5, failed=1, pending=4, failures=Counter(timeout=1)),
    }
    groups = [
        Group(tuple(FREE), 10, {RIGHT: 6, WRONG: 2, ItemKind(non_compliant=1, keyed=1): 2}, 7),
        Group(tuple(URGED), 10, {ItemKind(compliant=1): 5, ItemKind(failed=1): 1}, 7),
    ]
    asked = [AskedCell(tuple(FREE), 10), AskedCell(tuple(URGED), 10, 4, items=10, items_asked=6, first=True)]
    parts = {
        "read_by": {"quiz": ReadBy.of(mcqa)}, "parts": {"quiz": mcqa}, "tallies": tallies, "groups": groups,
        "asked": asked,
    }  # fmt: skip
    return ClosedRun(**{**parts, **changed})


def on_a_terminal(what: object) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(what)
    return console.file.getvalue()


def test_every_cell_has_its_row_and_every_task_adds_up():
    table = task_table(closed(), "quiz")
    assert [row[:2] for row in table.rows] == [("m", "free"), ("m\n", "urged")]
    compliance, accuracy, over_all = table.rows[0][2:5]
    assert [(share.value, share.n) for share in (compliance, accuracy, over_all)] == [
        (0.8, 10),
        (0.75, 8),
        (0.6, 10),
    ]
    assert table.rows[1][3:5] == (None, None), "nothing to compare with"
    assert table.foot == "20 planned = 13 compliant + 2 non-compliant + 0 unread + 1 failed + 4 pending"


def test_where_every_answer_counts_the_words_are_those_of_the_report():
    # ruling G12
    table, usual = task_table(closed(parts={"quiz": game24}), "quiz"), task_table(closed(), "quiz")
    assert table.columns[2:5] == ("marker rate", "accuracy over compliant", "solve rate")
    assert table.rows == usual.rows


def test_columns_that_are_rarely_needed_stand_only_where_they_are():
    assert task_table(closed(), "quiz").columns[5:] == ("failed", "pending")
    usual = closed(tallies={FREE: Tally(compliant=8, non_compliant=2)}, groups=closed().groups[:1])
    assert task_table(usual, "quiz").columns[5:] == ()


def test_people_and_programs_get_the_same_counts():
    both = Group(("quiz",), 20, {RIGHT: 6, WRONG: 7, ItemKind(non_compliant=1, keyed=1): 2}, 7)
    run = closed(changes=[CHANGED], tasks={"quiz": both})
    found = json.loads(json.dumps(as_json(run)))
    assert found["tasks"]["quiz"]["n"] == 20 == sum(cell["n"] for cell in found["cells"])
    assert [(cell["condition"], cell["compliant"]) for cell in found["cells"]] == [("free", 8), ("urged", 5)]
    assert found["flips"] == [CHANGED]
    said = "4 of 20 questions are pending (4 of m\\u000a · urged): figures are over what was asked so far"
    assert found["notes"][0].startswith(said)
    text = on_a_terminal(as_tables(run))
    assert text.startswith(said), "before any"
    assert "20 planned = 13 compliant + 2 non-compliant + 0 unread + 1 failed + 4 pending" in text
    assert "m\\u000a, urged, failed: 1 timeout" in text
    assert "intervals: Wilson 95%" in text


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (
            {"prompt_tokens": 9, "completion_tokens": 5},
            "tokens of m: 9 in, 5 out, as counted by the server for 1 output",
        ),
        ({"prompt_tokens": "nine", "completion_tokens": 5}, "tokens of m: 5 out, as counted by the server"),
        ({"prompt_tokens": 9, "completion_tokens": "5"}, "tokens of m: 9 in, as counted by the server"),
        ({"prompt_tokens": "nine", "completion_tokens": "five"}, None),
        (None, None),
    ],
)
def test_what_a_server_counted_in_words_is_not_said_to_be_no_tokens(usage, said):
    tally = Tally(compliant=1)
    tally.add_tokens(usage)
    text = on_a_terminal(as_tables(closed(tallies={FREE: tally}, groups=closed().groups[:1])))
    assert "0 in" not in text
    assert "0 out" not in text
    assert (said or "m: its server counted no tokens") in text


def test_programs_get_the_tokens_of_each_name_once():
    counted = Tally(compliant=1, tokens=Counter(prompt_tokens=9, outputs=1))
    found = tokens_json(tallies_by([("a", counted), ("b", Tally(compliant=1)), ("a", counted)]))
    assert found == {"a": {"outputs": 2, "prompt_tokens": 18}, "b": {}}


@pytest.mark.slow
def test_a_task_has_the_figures_of_the_report_by_task(tmp_path):
    """Its cells share their items: nobody may count them as if they were independent."""
    conditions = {"plain": {}, "urged": {"preamble": "!"}}
    study = tables(conditions=conditions, decoding={"samples": 2})
    write_items(tmp_path / "quiz.jsonl", questions(7))
    with FaultServer(answer=lambda asked: f"<answer>{'AB'[int(asked.question[1:]) % 2]}</answer>") as server:
        models = {"m": {"base_url": server.url, "connections": 8}}
        (tmp_path / "study.toml").write_text("\n".join(toml({**study, "models": models, "limits": QUICK})))
        done = run(tmp_path, "--json")
    assert fine(done, 0)
    (by_task,) = json.loads(here("report", tmp_path / "out", "--by", "task", "--format", "json").stdout)["tables"][
        "accuracy"
    ]["rows"]
    found = json.loads(done.stdout, parse_constant=pytest.fail)["tasks"]["quiz"]
    assert found["accuracy_over_compliant"] == by_task["accuracy over compliant"]
    assert found["yield"] == by_task["yield"]
    assert by_task["yield"]["n"] == 28


def test_answers_that_changed_add_up_row_by_row():
    table = changes_table([ChangeCounts.of(CHANGED, single=True)])
    (row,) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (row["kept"], row["flipped"], row["not compliant"]) == (4, 6, 5)
    assert (row["share of decidable"].value, row["share of decidable"].n) == (0.6, 10)
    assert table.foot == "15 outputs = 4 unchanged + 6 changed + 5 not decidable (5 not compliant)"
    (several,) = changes_table([ChangeCounts.of(CHANGED)]).rows
    assert several[table.columns.index("share of decidable")] == 0.6, "no interval where items are not told apart"
    flat = {**CHANGED, **CHANGED["undecidable"]}
    del flat["undecidable"]
    assert ChangeCounts.of(flat) == ChangeCounts.of(CHANGED)
    nothing = changes_table([ChangeCounts.of({**CHANGED, "kept": 0, **dict.fromkeys(MOVES, 0)})])
    assert nothing.rows[0][nothing.columns.index("share of decidable")] is None


def test_labels_are_cut_and_counted_together_where_there_are_many():
    many = Counter({f"l{number}": 9 - number for number in range(9)})
    assert listed(many) == "9 l0, 8 l1, 7 l2, 6 l3, 5 l4, 4 l5, 6 others"
    assert MOST_LABELS == 6
    assert listed(Counter({"x\n" * 100: 1})).isprintable()


@pytest.mark.parametrize("name", ["plain", "\x1b[31mred", "two\nlines"])
def test_no_name_commands_the_terminal(name):
    table = Table(name, f"What of {name}?", (name, "count"), ((name, 3),), f"3 of {name}", (name,))
    text = on_a_terminal(shown(table, beside="mcqa/1", lines=[name]))
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert "  mcqa/1" in text.splitlines()[0]
    assert "3 of" in text


def test_a_table_without_rows_says_so():
    text = on_a_terminal(shown(Table("t", "What?", ("a",), (), ""), title="Another title"))
    assert text.split("\n")[:3] == ["Another title", "", "  no rows"]


OWN = """
from affidavit import AnswerReading, Validation
class Own:
    name, version, params = "own", 1, {}
    def instruction(self, item=None): return ""
    def read(self, raw, item=None): return AnswerReading(raw if raw in ("A", "B") else None)
    def validate(self, reading, item):
        key = item.get("truth")
        return None if key is None or reading.extracted_answer is None else Validation(
            reading.extracted_answer == key, "compared")
    def grammar(self, item=None): return None
own = Own()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "silent", "noted"),
    [("q0", {"q1 urged"}, 0), ("q0 q1", {"q1 urged"}, 0), ("q0 q1", {"q1 plain", "q1 urged"}, 2)],
    ids=["another output says that none is known", "another output says that one is", "nobody says"],
)
def test_the_note_on_answers_that_nobody_knows_is_that_of_the_report(tmp_path, truth, silent, noted):
    rows = [
        {"id": name, "question": f"[{name}] ?", "truth": "A" if name in truth else None} for name in ("q0", "q1")
    ]

    def answer(asked) -> str:
        return "?" if f"{asked.question} {'urged' if '!' in asked.prompt else 'plain'}" in silent else "A"

    write_items(tmp_path / "quiz.jsonl", rows)
    (tmp_path / "own.py").write_text(OWN)
    conditions = {"plain": {}, "urged": {"preamble": "!"}}
    study = tables(conditions=conditions, tasks={"quiz": {"contract": "own.py:own"}})
    with FaultServer(answer=answer) as server:
        study |= {"models": {"m": {"base_url": server.url, "connections": 8}}, "limits": QUICK}
        (tmp_path / "study.toml").write_text("\n".join(toml(study)))
        done = run(tmp_path)
    assert fine(done, 0)
    notes = done.stderr.decode().count(
        f"note: quiz: {noted} of 4 outputs are not compliant and count as not right"
    )
    report = here("report", tmp_path / "out", "--format", "md").stdout.decode()
    assert (notes, done.stderr.count(b"nobody says"), report.count("nobody says")) == (
        (1,) * 3 if noted else (0,) * 3
    )


def test_answers_that_changed_fit_a_terminal_in_one_table():
    """What is not decidable is one column; why is said in the line below."""
    counted = {**CHANGED, "undecidable": dict.fromkeys(UNDECIDABLE, 1)}
    cells = [ChangeCounts.of({**counted, "model": model}, single=True) for model in ("large-model-2", "small-1")]
    console = Console(width=80, file=io.StringIO())
    console.print(as_tables(closed(changes=[counted], changed=changes_table(cells))))
    lines = console.file.getvalue().partition("How many answers changed")[2].splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("large-model-2" in line for line in lines) == 1, "in one part"
    said = " ".join(" ".join(lines).split())
    assert (
        "+ 8 not decidable (2 not compliant, 2 control not read, 2 control not compliant, 2 control tied)" in said
    )
