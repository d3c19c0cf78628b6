"""A contract in one file of the user's own, with everything that is particular to it: every command finds its parts.

The file is the one that the documentation shows.
"""

import csv
import inspect
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.parquet_copy import copied_frame, make_copy, records_frame
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.contract import Unread, guarded
from affidavit.contracts.count_table import CountTable
from affidavit.contracts.declaration import DeclaredParts, declaration_of
from affidavit.contracts.own_file import load_contract
from affidavit.contracts.parts import OWN_DATA, OWN_METHODS, Mark, Parts, parts_of
from affidavit.errors import UsageError
from affidavit.results.tables import OUR_TABLES
from affidavit.study.task import Question
from support.command import affidavit
from support.fault_server import Asked, FaultServer
from support.pages import ROOT
from support.studies import QUICK, fine, laid_over, records, run, toml, write_items
from support.written_study import NOBODY, here, reported, written

PAGE = (ROOT / "docs" / "contracts.md").read_text()
FILES = dict(re.findall(r"whole of `(.+?)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))

THINGS = {
    "roo": ("a grown kangaroo", 66_000, "70 kg"),
    "owl": ("a barn owl", 500, "520 g"),
    "van": ("a small van", 1_500_000, "3 t"),
    "jar": ("a jar [jar] of jam", 450, "It weighs <b>450 g</b>, or so."),
    "ant": ("an ant | a small one", 0.005, "Nobody can know that."),
    "hat": ("a hat that nobody weighed", None, "100 g"),
}
"""Name, weight in grams, and what the scripted model says."""
ITEMS = [{"id": name, "thing": f"{thing} [{name}]", "grams": grams} for name, (thing, grams, _) in THINGS.items()]


def study_tables(url: str, **changed: object) -> dict:
    below = {
        "study": {"name": "weights", "seed": 7},
        "models": {"m": {"base_url": url, "connections": 4}},
        "tasks": {"weigh": {"contract": "quantity.py:quantity", "items": "things.jsonl"}},
        "conditions": {"free": {}, "shown": {"examples": "examples.jsonl"}},
        "limits": QUICK,
    }
    return laid_over(below, changed)


def said(asked: Asked) -> str:
    """What the model says of the thing that was asked about last."""
    return THINGS[re.findall(r"\[(\w+)\]", asked.body["messages"][-1]["content"])[-1]][2]


def write_study(folder: Path, url: str) -> None:
    folder.mkdir()
    (folder / "quantity.py").write_text(FILES["quantity.py"])
    write_items(folder / "things.jsonl", ITEMS)
    write_items(folder / "examples.jsonl", [{"id": "x", "thing": "a bag of flour", "grams": 1000}])
    (folder / "study.toml").write_text("\n".join(toml(study_tables(url))))


class Ran:
    """A run of the documentation's contract, and what was asked; the contract's file is gone afterwards."""

    def __init__(self, folder: Path) -> None:
        with FaultServer(answer=said) as server:
            write_study(folder, server.url)
            done = run(folder, page=True)
        fine(done, 0)
        self.folder, self.out = folder, folder / "out"
        self.stdout, self.stderr = done.stdout.decode(), done.stderr.decode()
        self.log = server.log
        (folder / "quantity.py").unlink()
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Ran:
    return Ran(tmp_path_factory.mktemp("own") / "study")


# --- run ---


@pytest.mark.slow
def test_the_prompt_is_made_of_its_instruction_its_problem_and_its_example(ran):
    instruction = "Answer with a number and one of the units g, kg and t, and nothing else."
    prompts = {tuple(turn["content"] for turn in asked.body["messages"]) for asked in ran.log}
    worked = (f"{instruction}\n\nHow much does a bag of flour weigh?", "1000 g")
    expected = {f"{instruction}\n\nHow much does {item['thing']} weigh?" for item in ITEMS}
    assert prompts == {(each,) for each in expected} | {(*worked, each) for each in expected}
    assert "How much does {thing} weigh?" in (ran.out / "used_prompt_manifest.md").read_text()


def test_a_run_closes_with_its_counts(ran):
    assert "m, free, units: 3 g, 1 kg, 1 t" in ran.stdout
    assert "m, shown, reasons: 2 ok, 1 too_far_off" in ran.stdout
    assert "note:" not in ran.stderr, "the contract itself says which right answers are known"


def test_its_records_say_which_right_answers_are_known(ran):
    known = {record["item_id"]: record["keyed"] for record in records(ran.out)}
    assert known == {name: grams is not None for name, (_, grams, _) in THINGS.items()}


def test_an_item_that_it_refuses_is_named(tmp_path):
    write_study(tmp_path / "study", NOBODY)
    write_items(tmp_path / "study" / "things.jsonl", [ITEMS[0], {"id": "no", "grams": 3}])
    done = run(tmp_path / "study")
    fine(done, 2)
    assert "things.jsonl:2" in done.stderr.decode()
    assert "there is nothing to weigh in 'thing'" in done.stderr.decode()


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_its_items_may_be_any_rows_in_any_file(ending, tmp_path):
    write_study(tmp_path / "study", NOBODY)
    rows = pl.DataFrame([{**item, "grams": item["grams"] and float(item["grams"])} for item in ITEMS])
    path = tmp_path / "study" / f"rows.{ending}"
    {"jsonl": rows.write_ndjson, "csv": rows.write_csv, "parquet": rows.write_parquet}[ending](path)
    write_items(tmp_path / "study" / "examples.jsonl", [{"id": "x", "thing": "a bag of flour", "grams": 1000}])
    study = study_tables(NOBODY, tasks={"weigh": {"items": path.name}})
    (tmp_path / "study" / "study.toml").write_text("\n".join(toml(study)))
    done = affidavit("run", tmp_path / "study" / "study.toml", "--dry-run", "--json")
    fine(done, 0)
    assert [cell["requests"] for cell in json.loads(done.stdout)["cells"]] == [len(ITEMS)] * 2


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "found an empty file"),
        ([{"thing": "a hat"}], "expected an 'id'"),
        ([{"id": "x", "thing": "a bag of flour", "grams": 1}], "an example of the prompt is this very question"),
    ],
)
def test_items_that_cannot_be_asked_about_are_refused(rows, why, tmp_path):
    write_study(tmp_path / "study", NOBODY)
    write_items(tmp_path / "study" / "things.jsonl", rows)
    done = run(tmp_path / "study")
    fine(done, 2)
    assert why in done.stderr.decode()


# --- read ---

ROWS = [
    {"raw_output": text, "thing": thing, **({} if grams is None else {"grams": grams})}
    for thing, grams, text in THINGS.values()
]
COUNTED = {"units": {"g": 3, "kg": 1, "t": 1}, "reasons": {"ok": 2, "too_far_off": 1}}
ADDED = {"number": "450", "unit": "g", "fault": "text_around", "quantity_start": 13, "quantity_end": 18}


def as_lines(folder: Path) -> Path:
    write_items(folder / "rows.jsonl", ROWS)
    return folder / "rows.jsonl"


def as_csv(folder: Path) -> Path:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["raw_output", "thing", "grams"])
    writer.writeheader()
    writer.writerows(ROWS)
    (folder / "rows.csv").write_text(out.getvalue())
    return folder / "rows.csv"


def as_parquet(folder: Path) -> Path:
    pl.DataFrame(ROWS).write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def rows_of(path: Path) -> list[dict]:
    """The rows that were written; the fields of a user's contract stand together in tables."""
    match path.suffix:
        case ".jsonl":
            return [json.loads(line) for line in path.read_text().splitlines()]
        case ".csv":
            rows = list(csv.DictReader(io.StringIO(path.read_text())))
        case _:
            rows = pl.read_parquet(path).to_dicts()
    return [{**row, **json.loads(row["fields"])} for row in rows]


@pytest.mark.parametrize("write", [as_lines, as_csv, as_parquet])
def test_its_item_its_counts_and_its_note_are_in_read(write: Callable[[Path], Path], tmp_path):
    (tmp_path / "quantity.py").write_text(FILES["quantity.py"])
    path = write(tmp_path)
    out = tmp_path / f"out{path.suffix}"
    done = affidavit("read", "quantity.py:quantity", path, "-o", out, "--json", cwd=tmp_path)
    fine(done, 0)
    figures = json.loads(done.stdout)
    assert {title: figures[title] for title in COUNTED} == COUNTED
    assert (figures["yield"]["value"], figures["yield"]["n"]) == (2 / 5, 5)
    assert done.stderr.decode() == "note: 1 of 6 rows have no 'grams': weights could not be checked\n"
    jar = rows_of(out)[3]
    assert {name: jar[name] for name in ADDED} == ADDED
    shown = affidavit("read", "quantity.py:quantity", path, "-o", out, cwd=tmp_path).stdout.decode()
    assert re.search(
        r"^units\n  g +3   50\.0%\n  kg +1   16\.7%\n  t +1   16\.7%\n\nreasons\n", shown, re.MULTILINE
    )


# --- report, without the code ---


def test_its_tables_are_in_a_report_although_its_file_is_gone(ran):
    tables = reported(here("report", ran.out, "--format", "json"))
    units = [row for row in tables["units"]["rows"] if row["condition"] == "free"]
    assert [(row["unit"], row["count"], row["share of outputs"]["n"]) for row in units] == [
        ("g", 3, 6), ("kg", 1, 6), ("t", 1, 6),
    ]  # fmt: skip
    assert units[0]["share of outputs"]["value"] == 0.5
    faults = [row for row in tables["faults"]["rows"] if row["condition"] == "shown"]
    assert [(row["fault"], row["count"], row["share of non-compliant"]["n"]) for row in faults] == [
        ("no_quantity", 1, 2), ("text_around", 1, 2),
    ]  # fmt: skip
    identity = "12 planned = 8 compliant + 4 non-compliant + 0 unread + 0 failed + 0 pending"
    assert tables["units"]["identity"] == tables["faults"]["identity"] == identity
    assert tables["units"]["question"] == "Which units are used?"


def test_its_tables_are_in_markdown_too(ran):
    page = here("report", ran.out, "--format", "md").stdout.decode()
    table = page.partition("## Which units are used?")[2].partition("## ")[0]
    assert "| weigh | m | free | kg | 1 | 16.7%" in table
    assert "12 planned = 8 compliant" in table


def test_its_tables_can_be_grouped_otherwise(ran):
    tables = reported(here("report", ran.out, "--format", "json", "--by", "model"))
    assert [(row["unit"], row["count"], row["share of outputs"]["n"]) for row in tables["units"]["rows"]] == [
        ("g", 6, 12), ("kg", 2, 12), ("t", 2, 12),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def page(ran) -> str:
    """The page, made when the contract's file was gone."""
    (ran.out / "report.html").unlink()
    done = here("report", ran.out)
    assert done.returncode == 0
    return (ran.out / "report.html").read_text()


@pytest.mark.slow
def test_its_tables_are_on_the_page(page):
    assert "Which units are used?" in page
    assert "What did non-compliant outputs do instead?" in page
    assert "4 of 12 outputs did not follow the format: 2 no_quantity, 2 text_around." in page.replace(
        "&nbsp;", " "
    )


def test_its_marks_are_in_the_samples_of_the_page(page):
    assert "It weighs &lt;b&gt;<mark" in page
    marked = re.findall(r"<mark[^>]*>(.*?)</mark>", page)
    assert marked
    assert set(marked) >= {"450 g", "3 t"}  # the second is compliant and wrong
    assert "thing: a jar [jar] of jam [jar]" in page, "what was asked, as far as it can be shown without its code"


def test_the_kinds_of_failing_are_its_own(page):
    assert "text_around" in page
    assert "no_quantity" in page
    assert "not compliant</h" not in page


def test_the_copy_in_columns_serves_as_well(ran, monkeypatch):
    """Whichever way the records are read: their columns hold what the tables count."""
    study = StudyDirectory(ran.out)
    make_copy(study)
    assert copied_frame(study, study.seal()).collect()["field.unit"].to_list().count("g") == 6
    copied = reported(here("report", ran.out, "--format", "json"))
    monkeypatch.setenv("AFFIDAVIT_CACHE", "off")
    assert reported(here("report", ran.out, "--format", "json")) == copied


def test_a_copy_without_what_is_counted_is_not_used(ran, tmp_path):
    study = StudyDirectory(shutil.copytree(ran.out, tmp_path / "out"))
    make_copy(study)
    seal = study.seal()
    declared(study.path, lambda own: {**own, "tables": [{**TABLE, "fields": ["number"]}]})
    assert copied_frame(study, seal) is None


# --- declarations that no contract could have made ---


def declared(folder: Path, change: Callable[[dict], object]) -> None:
    """Put another declaration into a study, with a checksum that fits."""
    file = folder / "study.json"
    fields = checked_fields(file.read_bytes())
    described = fields["config"]["contracts"]["weigh"]
    described["declared"] = change(described["declared"])
    file.write_bytes(checked_line({name: value for name, value in fields.items() if name != "sha256"}))
    (folder / "seal.json").unlink()


TABLE = {
    "name": "t", "question": "?", "fields": ["unit"], "share": "", "only_non_compliant": False, "explains": [],
}  # fmt: skip
HOSTILE: dict[str, object] = {
    "no object": [],
    "null": None,
    "another name": {"item": "os.system"},
    "tables that are none": {"tables": {"name": "t"}},
    "a table that is none": {"tables": [7]},
    "a table without a name": {"tables": [{name: each for name, each in TABLE.items() if name != "name"}]},
    "a table with another part": {"tables": [{**TABLE, "rows": []}]},
    "an empty name": {"tables": [{**TABLE, "name": " "}]},
    "a name of two lines": {"tables": [{**TABLE, "name": "a\nb"}]},
    "a number for a name": {"tables": [{**TABLE, "name": 7}]},
    "no field": {"tables": [{**TABLE, "fields": []}]},
    "a field that is no text": {"tables": [{**TABLE, "fields": [["unit"]]}]},
    "a field twice": {"tables": [{**TABLE, "fields": ["unit", "unit"]}]},
    "fields that are a number": {"tables": [{**TABLE, "fields": 7}]},
    "an unknown share": {"tables": [{**TABLE, "share": "all"}]},
    "a share that is a list": {"tables": [{**TABLE, "share": []}]},
    "a share of others": {"tables": [{**TABLE, "share": "non-compliant"}]},
    "a share of the opposite": {"tables": [{**TABLE, "share": "compliant", "only_non_compliant": True}]},
    "a flag that is none": {"tables": [{**TABLE, "only_non_compliant": 1}]},
    "explains a number": {"tables": [{**TABLE, "explains": 7}]},
    "explains everything": {"tables": [{**TABLE, "explains": None}]},
    "marks that are none": {"mark_fields": "ab"},
    "marks of three": {"mark_fields": [["a", "b", "c"]]},
    "marks of numbers": {"mark_fields": [[1, 2]]},
    "a failing field that is none": {"failing_field": ["fault"]},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_declaration_is_refused(change, ran, tmp_path):
    shutil.copytree(ran.out, tmp_path / "out")
    declared(tmp_path / "out", lambda _: change)
    for arguments in (["--format", "json"], []):
        done = here("report", tmp_path / "out", *arguments)
        assert done.returncode == 5
        assert "study.json:1: expected the contracts of a study, found" in done.stderr.decode()


@pytest.mark.slow
def test_a_strange_declaration_that_a_contract_could_make_is_shown_and_nothing_more(ran, tmp_path):
    """Markup, names of ours, fields that nobody has or that are called like a column."""
    shutil.copytree(ran.out, tmp_path / "out")
    names = ["<script>x</script>", "compliance", "accuracy", "judges", "a|b", "compliance of weigh", "letters"]
    tables = [{**TABLE, "name": name, "question": f"{name}?"} for name in names]
    fields = ["task", "flags", "sample", "raw_output", "count", "nobody has it", "field.unit"]
    tables += [{**TABLE, "name": f"of {field}", "fields": ["unit", field], "share": "arrived"} for field in fields]
    declared(tmp_path / "out", lambda own: {**own, "tables": tables, "mark_fields": [["unit", "quantity_end"]]})
    found = reported(here("report", tmp_path / "out", "--format", "json"))
    own = ["compliance of weigh", "compliance of weigh of weigh", "accuracy of weigh", "judges of weigh", "a|b"]
    assert set(own) | {f"of {field}" for field in fields} <= found.keys()
    assert all(sum(row["count"] for row in table["rows"]) == 10 for name, table in found.items() if name in own)
    assert {"right", "compared"} <= found["accuracy"]["rows"][0].keys()
    assert found["of count"]["rows"][0]["count (field)"] == ""
    assert here("report", tmp_path / "out").returncode == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>x" not in page
    assert "&lt;script&gt;x" in page


def test_a_declaration_comes_back_as_it_was_frozen(tmp_path):
    (tmp_path / "quantity.py").write_text(FILES["quantity.py"])
    contract = load_contract(f"{tmp_path}/quantity.py:quantity")
    frozen = json.loads(json.dumps(declaration_of(contract)))
    parts = DeclaredParts(frozen)
    assert (parts.tables, parts.mark_fields) == (contract.tables, contract.mark_fields)
    fields = {"protocol_compliant": False, "fault": "text_around", "quantity_start": 1, "quantity_end": 3}
    assert parts.kind_of_failing(fields) == parts_of(contract).kind_of_failing(fields) == "text_around"
    assert list(parts.marks("so it is", fields)) == [Mark(1, 3, "answer")]


def test_the_names_of_all_our_tables_are_kept_from_others(ran):
    known = json.loads((ROOT / "tests" / "golden" / "everything.json").read_text())["tables"]
    assert known.keys() - {"deviations", "expressions"} <= set(OUR_TABLES)


# --- parts that are not what they must be ---

WRONG = {
    "counted = ['unit']": "counted",
    "counted = {'unit': 'u', 'reason': 'u'}": "counted",
    "tables = ('letters',)": "tables",
    "tables = CountTable(name='n', question='q', fields=('f',))": "tables",
    "tables = 2 * (CountTable(name='n', question='q', fields=('f',), only_non_compliant=True, explains=None),)": (
        "tables"
    ),
    "mark_fields = ('a', 'b')": "mark_fields",
    "failing_field = None": "failing_field",
    "problem_template = 7": "problem_template",
    "check = 'no'": "check",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_part_that_is_not_what_it_must_be_is_named_before_anything_is_read(line, tmp_path):
    part = WRONG[line]
    (tmp_path / "own.py").write_text(f"{FILES['quantity.py']}\nclass Own(Quantity):\n    {line}\n\nown = Own()\n")
    with pytest.raises(UsageError, match=f"in '{part}'") as refused:
        load_contract(f"{tmp_path}/own.py:own")
    assert "Optional parts" in refused.value.hint


def test_a_table_that_cannot_be_is_named_by_its_file(tmp_path):
    (tmp_path / "own.py").write_text(
        "from affidavit import CountTable\nCountTable(name='', question='q', fields=())"
    )
    with pytest.raises(UsageError, match="a CountTable has a line of text in name, not ''"):
        load_contract(f"{tmp_path}/own.py:own")


PER_ITEM = """
from my_contract import LastLine


class PerItem(LastLine):
    name = "per-item"

    def __init__(self, marker="ANSWER"):
        self.params = {"marker": marker}

    def for_item(self, row, *, where):
        return PerItem(row["marker"]) if row["marker"] else None

    def instruction(self, item=None, /):
        return f"Begin the last line with {self.params['marker']}."


per_item = PerItem()
"""


def test_a_contract_may_have_other_parameters_for_each_item(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "my_contract.py").write_text(FILES["my_contract.py"])
    (tmp_path / "study" / "own.py").write_text(PER_ITEM)
    rows = [{"id": name, "question": "?", "marker": name} for name in ("one", "two")]
    study = study_tables(NOBODY, tasks={"weigh": {"contract": "own.py:per_item"}}, conditions={"shown": None})
    asked: dict[str, str] = {}

    def answer(question: Question) -> str:
        asked[question.item.id] = question.request.messages[-1]["content"].partition("\n")[0]
        return "ANSWER: x"

    study["tasks"]["weigh"]["items"] = "weigh.jsonl"
    out = written(tmp_path / "study", study, {"weigh": rows}, answer)
    assert asked == {name: f"Begin the last line with {name}." for name in ("one", "two")}
    assert [each["contract_params"] for each in records(out)] == [{"marker": "one"}, {"marker": "two"}]
    write_items(tmp_path / "study" / "weigh.jsonl", [{"id": "q", "question": "?", "marker": ""}])
    done = affidavit("run", tmp_path / "study" / "study.toml", "--out", tmp_path / "new")
    fine(done, 2)
    assert "expected a contract from the contract's for_item(), with a text in 'name'" in done.stderr.decode()


BUILT_IN = "from affidavit import MultipleChoice\nfive = MultipleChoice('A-E')\n"
CALLED_MCQA = """
from my_contract import LastLine


class Own(LastLine):
    name = "mcqa"


five = Own()
"""


@pytest.mark.parametrize(
    ("source", "has"), [(BUILT_IN, True), (CALLED_MCQA, False)], ids=["built in", "called like one"]
)
def test_a_built_in_contract_in_a_file_keeps_its_tables_and_none_gets_them_by_its_name(source, has, tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "my_contract.py").write_text(FILES["my_contract.py"])
    (tmp_path / "study" / "own.py").write_text(source)
    rows = [{"id": "q", "question": "?", "options": list("vwxyz"), "answer": "E"}]
    study = study_tables(NOBODY, tasks={"weigh": {"contract": "own.py:five"}}, conditions={"shown": None})
    study["tasks"]["weigh"]["items"] = "weigh.jsonl"
    out = written(tmp_path / "study", study, {"weigh": rows}, lambda _: "E.")
    tables = reported(here("report", out, "--format", "json"))
    assert ("deviations" in tables) is has


# --- the yield ---


def yields(text: str) -> bool:
    return (
        re.search(r"^  right +10   10\.0% \[5\.5, 17\.4\] n=100: accuracy over all outputs$", text, re.M)
        is not None
    )


def outputs(**more: object) -> list[dict]:
    """A hundred outputs for the contract of the documentation: ten keep it and are right, ninety do not keep it."""
    texts = ["12 it is.\nANSWER: 12"] * 10 + ["It is 12."] * 90
    return [{"raw_output": text, **more} for text in texts]


KNOWS_BY_ITSELF = """
from my_contract import LastLine
from affidavit import Validation


class Twelve(LastLine):
    name = "twelve"

    def validate(self, reading, item, /):
        return None if reading.extracted_answer is None else Validation(reading.extracted_answer == "12", "compared")


class Knows(Twelve):
    name = "knows"

    def right_answer_known(self, item):
        return True


twelve, knows = Twelve(), Knows()
"""
NOTE = (
    "90 of 100 outputs are not compliant and count as not right, although nobody says whether their right answer is "
    "known: their items have no 'answer', and the contract has no right_answer_known(item)"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        ("my_contract.py:last_line", {"answer": "12"}, 100, ""),
        ("own.py:knows", {}, 100, ""),
        ("own.py:twelve", {}, 100, NOTE),
        ("own.py:twelve", {"answer": "12"}, 100, ""),
        ("my_contract.py:last_line", {}, None, ""),
        ("own.py:twelve", {"answer": None, "gold": "12"}, 100, NOTE),
    ],
    ids=[
        "by answer",
        "by the contract",
        "by nobody",
        "by answer although not compared with",
        "nothing is compared",
        "by another field than a null answer",
    ],
)
@pytest.mark.parametrize("command", ["run", "read"])
def test_the_yield_is_over_all_outputs_whose_right_answer_is_known(command, case, tmp_path):
    contract, row, n, note = case
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "my_contract.py").write_text(FILES["my_contract.py"])
    (folder / "own.py").write_text(KNOWS_BY_ITSELF)
    rows = outputs(**row)
    if command == "read":
        write_items(folder / "rows.jsonl", rows)
        done = affidavit("read", contract, "rows.jsonl", "--json", cwd=folder)
        figures = json.loads(done.stdout)
    else:
        done = asked_about(folder, contract, rows)
        figures = json.loads(done.stdout)["tasks"]["sum"]
    fine(done, 0)
    assert (figures["yield"] or {}).get("n") == n
    assert figures["yield"] is None or figures["yield"]["value"] == 10 / n
    notes = [line for line in done.stderr.decode().splitlines() if line.startswith("note:")]
    assert [note in line for line in notes] == ([True] if note else [])
    if command == "run":
        gate = here("gate", folder / "out", "--min-yield", "0.5")
        assert gate.returncode == 3
        tables = json.loads(here("report", folder / "out", "--format", "json").stdout)["tables"]
        shown = [row["yield"] for row in tables["accuracy"]["rows"]] if "accuracy" in tables else []
        assert [(each["value"], each["n"]) for each in shown] == ([] if n is None else [(0.1, 100)])


def asked_about(folder: Path, contract: str, rows: list[dict]):
    """A run whose questions get these outputs as answers, one each."""
    texts = {f"q{number}": str(row.pop("raw_output")) for number, row in enumerate(rows)}
    items = [{"id": name, "question": f"[{name}] 7 + 5?", **row} for name, row in zip(texts, rows, strict=True)]
    write_items(folder / "items.jsonl", items)
    with FaultServer(answer=lambda asked: texts[asked.question]) as server:
        tables: Mapping[str, object] = {
            "study": {"name": "sums", "seed": 1},
            "models": {"m": {"base_url": server.url, "connections": 8}},
            "tasks": {"sum": {"contract": contract, "items": "items.jsonl"}},
            "limits": QUICK,
        }
        (folder / "study.toml").write_text("\n".join(toml(tables)))
        return run(folder, "--json")


def test_the_yield_of_read_is_said_to_people_as_it_is(tmp_path):
    (tmp_path / "my_contract.py").write_text(FILES["my_contract.py"])
    write_items(tmp_path / "rows.jsonl", outputs(answer="12"))
    done = affidavit("read", "my_contract.py:last_line", "rows.jsonl", cwd=tmp_path)
    assert yields(done.stderr.decode())


# --- the page on contracts ---


def test_every_optional_part_has_its_row_on_the_page():
    section = PAGE.partition("### Optional parts\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)(\(.*?\))?` \|", section.partition("| of a `CountTable` |")[0], re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted((*OWN_DATA, *OWN_METHODS))
    for name, shown in rows:
        parameters = (
            [] if name in OWN_DATA else list(inspect.signature(getattr(Parts, name)).parameters.values())[1:]
        )
        spelt = [f"*, {each.name}" if each.kind is each.KEYWORD_ONLY else each.name for each in parameters]
        assert shown == (f"({', '.join(spelt)})" if spelt else "")
    of_table = section.partition("| of a `CountTable` |")[2]
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?`) \|", of_table, re.MULTILINE)))
    assert named == list(inspect.signature(CountTable).parameters)


# --- what a careful reader would miss ---

RAISES = """
from affidavit import AnswerReading, CountTable, Validation


class Fragile:
    name, version, params = "fragile", 1, {}
    tables = (CountTable(name="styles", question="In which style?", fields=("stile",)),)

    def instruction(self, item=None):
        return "Say the number."

    def read(self, raw, item=None):
        if "!" in raw:
            raise ValueError("an exclamation")
        return AnswerReading(raw.strip())

    def validate(self, reading, item):
        return Validation(reading.extracted_answer == "12", "compared")

    def grammar(self, item=None):
        return None


fragile = Fragile()
"""


@pytest.fixture(scope="module")
def fragile(tmp_path_factory) -> tuple[Path, str, str]:
    """A study of which one output of ten is read, as its contract raises on the others; what the run said."""
    folder = tmp_path_factory.mktemp("fragile")
    (folder / "own.py").write_text(RAISES)
    texts = ["12", *["12!"] * 9]
    done = asked_about(folder, "own.py:fragile", [{"raw_output": text, "answer": "12"} for text in texts])
    fine(done, 4)
    again = affidavit("run", folder / "study.toml", "--out", folder / "out", cwd=folder)
    return folder, again.stdout.decode(), again.stderr.decode()


@pytest.mark.slow
def test_a_study_with_unread_outputs_passes_no_gate(fragile):
    done = here("gate", fragile[0] / "out", "--min-compliance", "0.95", "--max-failed", "0", "--json")
    assert fine(done, 3)
    found = {check["measure"]: check["held"] for check in json.loads(done.stdout)["checks"]}
    assert found == {"unread": False, "compliance": True, "failed": True}


def test_a_declared_field_that_no_output_has_is_told(fragile):
    notes = json.loads(here("report", fragile[0] / "out", "--format", "json").stdout)["notes"]
    assert "sum: no output has the field 'stile', which a table of its contract counts." in notes


def test_the_advice_to_verify_works_as_it_is_typed(fragile):
    _, stdout, _ = fragile
    (advice,) = re.findall("^to verify: (.+)$", stdout, re.MULTILINE)
    assert fine(affidavit(*shlex.split(advice)[1:]), 0)


TALKATIVE = RAISES.replace(
    "    def read(self, raw, item=None):",
    """    def read(self, raw, item=None):
        print("hello from", item["id"])""",
)


@pytest.mark.slow
def test_what_it_prints_is_no_result_and_it_is_told_the_id_of_its_item(tmp_path):
    (tmp_path / "own.py").write_text(TALKATIVE)
    rows = [{"raw_output": "12", "answer": "12"}]
    done = asked_about(tmp_path, "own.py:fragile", rows)
    fine(done, 0)
    assert json.loads(done.stdout)["tasks"]["sum"]["compliant"] == 1
    assert "hello from q0" in done.stderr.decode()
    checked = affidavit("verify", tmp_path / "out", "--study", tmp_path / "study.toml", "--json")
    assert json.loads(checked.stdout)["differing"] == 0


def test_every_field_of_its_readings_is_in_the_columns(ran):
    frame = records_frame(StudyDirectory(ran.out)).collect()
    said = {row["item_id"]: json.loads(row["fields"]) for row in frame.iter_rows(named=True)}
    assert {name: fields["unit"] for name, fields in said.items()} == {
        "roo": "kg", "owl": "g", "van": "t", "jar": "g", "ant": None, "hat": "g",
    }  # fmt: skip


FICKLE = """
from affidavit import AnswerReading

asked = []


class Fickle:
    name, version, params = "fickle", 1, {}

    def instruction(self, item=None):
        asked.append(item)
        if item and item["id"] == "q2" and asked.count(item) > 1:
            raise RuntimeError("no words left")
        return "Say it."

    def read(self, raw, item=None):
        return AnswerReading(raw)

    def validate(self, reading, item):
        return None

    def grammar(self, item=None):
        return None


fickle = Fickle()
"""


@pytest.mark.slow
def test_a_contract_that_has_no_words_any_more_is_told_by_item(tmp_path):
    (tmp_path / "own.py").write_text(FICKLE)
    tables = {
        "study": {"name": "fickle", "seed": 1},
        "models": {"m": {"base_url": NOBODY, "connections": 1}},
        "tasks": {"sum": {"contract": "own.py:fickle", "items": "items.jsonl"}},
        "limits": QUICK,
    }
    write_items(tmp_path / "items.jsonl", [{"id": f"q{n}", "question": f"[q{n}]"} for n in range(4)])
    with FaultServer() as server:
        tables["models"]["m"]["base_url"] = server.url
        (tmp_path / "study.toml").write_text("\n".join(toml(tables)))
        done = run(tmp_path)
    assert fine(done, 2)
    assert b"q2: expected the contract's words, as before, found RuntimeError: no words left" in done.stderr


class Panic(BaseException):
    """As libraries that are not written in Python raise it."""


@pytest.mark.parametrize("error", [Panic("out"), SystemExit(3), GeneratorExit(), ValueError("x")])
def test_whatever_foreign_code_raises_becomes_a_value(error):
    """Ruling C8."""

    def step() -> None:
        raise error

    assert isinstance(guarded(step), Unread)


def test_ctrl_c_goes_through():
    def step() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded(step)
