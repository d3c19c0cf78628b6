"""The Python interface: every function on real studies, equal to its command, in notebooks too."""

import asyncio
import json
import signal
import subprocess
import sys
import time
import traceback
from html.parser import HTMLParser
from inspect import signature
from pathlib import Path

import click
import polars as pl
import pytest

import affidavit as public
from affidavit import interface
from affidavit.commands import results as commands
from affidavit.results import gate as gates
from affidavit.results.table import Table
from affidavit.running.stopping import StopSwitch
from affidavit.statistics.shares import wilson
from affidavit.study.task import Question
from support.command import affidavit
from support.fault_server import FaultServer, every, first, hang, status, unauthorised
from support.judged_studies import open_study as write_open_study
from support.judged_studies import serving
from support.studies import fine, run, write_study
from support.written_study import here, questions, reported, tables, written

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e|"


def answer(question: Question) -> str:
    """Two of twenty break the format, and two are wrong; under the condition firm, four."""
    number, firm = int(question.item.id[1:]), question.condition == "firm"
    if number < 2:
        return "B."
    return f"<answer>{'A' if number < (6 if firm else 4) else 'B'}</answer>"


@pytest.fixture(scope="module")
def directory(tmp_path_factory) -> Path:
    conditions = {"free": {}, "firm": {"system": "Be firm."}}
    items = {"quiz": questions(20, metadata={"half": "first"})}
    place = tmp_path_factory.mktemp("study")
    return written(place, tables(conditions=conditions), items, answer)


@pytest.fixture
def study(directory) -> public.Study:
    return public.open_study(directory)


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Path:
    """A study that was really run, and verifies."""
    folder = tmp_path_factory.mktemp("asked")
    with FaultServer() as server:
        write_study(folder, server.url, count=6)
        assert fine(run(folder), 0)
    return folder / "out"


# --- what is public ---


def test_public_names_are_shown_and_nothing_else():
    assert dir(public) == sorted([*public.__all__, "__version__"])
    assert {"open_study", "run_study", "judge_study", "read_frame", "compare", "gate", "verify"} <= set(
        dir(public)
    )
    assert {"AffidavitError", "UsageError", "InputError", "StorageError", "LockedError"} <= set(dir(public))
    assert public.statistics.wilson(1, 2).n == 2


def test_importing_the_package_imports_nothing_heavy():
    seen = "import sys, affidavit; dir(affidavit); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "polars",
        "numpy",
        "httptools",
        "rich",
        "click",
        "msgspec",
        "asyncio",
        "affidavit.interface",
    }


# --- a study ---


def test_a_study_is_opened_and_says_what_it_is(study, directory):
    assert (study.name, study.directory) == ("trial", directory)
    assert repr(study) == "<Study 'trial': 40 records, sealed>"
    assert repr(study.part(condition="free")) == "<Part of 'trial': condition=free>"


def test_a_study_that_is_not_sealed_says_so(tmp_path):
    place = written(tmp_path, tables(), {"quiz": questions(2)}, lambda question: "B", sealed=False)
    study = public.open_study(str(place))
    assert repr(study) == "<Study 'trial': not sealed>"
    assert study.records().collect().height == 2
    assert study.results().title == "trial: results (not sealed)"


def test_records_are_one_row_each_with_their_text(study):
    records = study.records()
    assert isinstance(records, pl.LazyFrame)
    frame = records.collect()
    assert frame.height == 40
    assert frame["raw_output"].value_counts().sort("raw_output").rows() == [
        ("<answer>A</answer>", 6),
        ("<answer>B</answer>", 30),
        ("B.", 4),
    ]
    assert frame["protocol_compliant"].sum() == 36


def test_items_are_one_row_each_and_join_with_the_records(study):
    items = study.items().collect()
    assert items.columns[:2] == ["task", "item_id"]
    assert items["options"].to_list()[0] == ["w", "x", "y", "z"]
    assert json.loads(items["metadata"][0]) == {"half": "first"}
    assert study.records().join(study.items(), on=["task", "item_id"]).collect().height == 40


def test_items_of_different_kinds_are_json(tmp_path):
    rows = [{**row, "metadata": {"n": n}} for n, row in enumerate(questions(2))]
    rows[0]["id"] = "\ud800"
    study = public.open_study(written(tmp_path, tables(), {"quiz": rows}, lambda question: "B"))
    assert study.items().collect()["item_id"].to_list() == ["\\ud800", "q1"]


@pytest.mark.slow
def test_results_are_the_tables_of_the_report(study, directory):
    results = study.results(by=["model", "condition"])
    shown = reported(here("report", directory, "--by", "model,condition", "--format", "json"))
    assert list(results) == list(shown) == [table.name for table in results.tables]
    assert results.to_json()["tables"] == shown
    assert results["compliance"].to_polars()["compliance"].to_list() == [0.9, 0.9]
    assert here("report", directory, "--by", "model,condition", "--format", "md").stdout.decode() == (
        results.to_markdown()
    )
    assert here("report", directory, "--by", "model,condition", "--format", "csv").stdout.decode() == (
        results.to_csv()
    )
    assert study.results(by="model, condition").to_json() == results.to_json()
    assert repr(results).startswith("<Results 'trial: results': compliance, ")
    assert "Intervals are at 95 % unless a table says otherwise." in results.notes[0]


def test_a_table_that_is_not_there_says_which_there_are(study):
    results = study.results()
    with pytest.raises(KeyError) as missing:
        _ = results["complience"]
    assert isinstance(missing.value, public.UsageError)
    assert "expected one of the tables 'compliance', " in str(missing.value)
    assert "Did you mean compliance?" in str(missing.value)
    assert results.get("nothing") is None
    assert "nothing" not in results


@pytest.mark.slow
def test_a_comparison_is_the_command_s(study, directory):
    sides = [f"{directory}@condition={name}" for name in ("free", "firm")]
    shown = reported(here("compare", *sides, "--format", "json"))
    by_part = public.compare(study.part(condition="free"), study.part(condition="firm"))
    assert by_part.to_json()["tables"] == shown == public.compare(*sides).to_json()["tables"]
    assert list(by_part) == ["comparison"], "readings are compared between studies"
    accuracy = by_part["comparison"].to_polars().filter(pl.col("measure") == "accuracy over answers")
    assert accuracy["difference"].to_list() == [pytest.approx(-2 / 18)]


@pytest.mark.slow
def test_clusters_are_those_of_the_commands(tmp_path):
    """Ruling S8, in Python as in the shell: figures, comparisons and gates over passages."""
    rows = [{**row, "metadata": {"passage": f"p{n // 2}"}} for n, row in enumerate(questions(30))]
    study = tables(conditions={"free": {}, "firm": {"system": "Be firm."}})
    place = written(tmp_path, study, {"quiz": rows}, lambda asked: f"<answer>{'AB'[hash_of(asked) % 2]}</answer>")
    sides, passage = [f"{place}@condition={name}" for name in ("free", "firm")], "metadata.passage"
    shown = reported(here("compare", *sides, "--cluster", passage, "--format", "json"))
    assert public.compare(*sides, cluster=passage).to_json()["tables"] == shown
    assert public.compare(*sides).to_json()["tables"] != shown
    whole = public.open_study(place)
    assert whole.compare(sides[1], cluster=passage).to_json() != whole.compare(sides[1]).to_json()
    done = here("gate", sides[0], "--min-yield", "0.1", "--on", "interval", "--cluster", passage, "--json")
    found = public.gate(sides[0], min_yield=0.1, on="interval", cluster=passage)
    assert json.loads(done.stdout) == found.as_json()
    assert found.as_json() != public.gate(sides[0], min_yield=0.1, on="interval").as_json()
    assert "over clusters" in whole.write_page(tmp_path / "page.html", cluster=passage).read_text()


def hash_of(asked) -> int:
    return int(asked.key[:8], 16)


@pytest.mark.parametrize(
    ("command", "function"),
    [(commands.compare, public.compare), (commands.gate, public.gate), (commands.compare, public.Study.compare)],
)
def test_python_takes_the_options_of_the_command(command, function):
    """Where output goes, and in which form, is the shell's alone; thresholds are held by their own test."""
    of_the_shell = {"form", "out", "junit_file", "summary_file", "as_json", *gates.MEASURES}
    options = {each.name for each in command.params if isinstance(each, click.Option)} - of_the_shell
    assert options <= set(signature(function).parameters)


def test_two_studies_are_compared_with_the_readings_that_moved(study, tmp_path, directory):
    items = {"quiz": questions(20, metadata={"half": "first"})}
    conditions = {"free": {}, "firm": {"system": "Be firm."}}
    other = written(tmp_path, tables(conditions=conditions), items, lambda question: "<answer>B</answer>")
    results = study.compare(other)
    assert list(results) == ["comparison", "moved readings"]
    assert "0 of 30 outputs" in results["moved readings"].foot
    assert list(study.compare(directory / ".." / directory.name)) == ["comparison"], "the same study"


@pytest.mark.slow
def test_a_gate_is_true_if_it_is_met_and_lists_its_checks(study, directory):
    assert study.gate(min_compliance=0.9)
    result = public.gate(directory, min_compliance=0.9, min_accuracy=0.85, by=["condition"])
    assert not result
    assert [check.held for check in result] == [True, True, False, True]
    assert [(check.who, check.measure) for check in result.failed] == [("firm", "accuracy over compliant")]
    assert repr(result) == "<GateResult of 'trial': 1 of 4 checks not met>"
    assert "4 checks = 3 met + 1 not met" in str(result)
    assert "<td" in result._repr_html_()
    assert not study.gate(min_compliance=0.9, on="interval")
    done = here("gate", directory, "--min-compliance", "0.9", "--json")
    assert json.loads(done.stdout) == study.gate(min_compliance=0.9).as_json()
    assert set(interface.Thresholds.__annotations__) == set(gates.MEASURES)


@pytest.mark.slow
def test_parts_and_baselines_are_gated_as_by_the_command(study, directory):
    first, second = (study.part(condition=name) for name in ("free", "firm"))
    sides = (f"{directory}@condition=firm", "--baseline", f"{directory}@condition=free")
    found = public.gate(second, baseline=first, margin=0.5, min_compliance=0.1)
    done = here("gate", *sides, "--margin", "0.5", "--min-compliance", "0.1", "--json")
    assert json.loads(done.stdout) == found.as_json()
    assert [check.baseline == "" for check in found].count(True) == 1
    assert study.gate(baseline=study, margin=1.0)


@pytest.mark.slow
def test_tables_as_latex_are_what_the_command_prints(study, directory):
    assert here("report", directory, "--format", "latex").stdout.decode() == study.results().to_latex()


def test_a_study_is_verified(asked, tmp_path):
    verified = public.verify(asked)
    assert verified
    assert (verified.sealed, verified.responses) == (True, 6)
    assert public.open_study(asked).verify(study_file=asked.parent / "study.toml") == verified


def test_what_was_changed_is_raised_with_its_place(asked, tmp_path):
    copy = tmp_path / "copy"
    for path in asked.rglob("*"):
        if path.is_file():
            target = copy / path.relative_to(asked)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    journal = copy / "records" / "000001.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"<answer>", b"<Answer>", 1))
    with pytest.raises(public.StorageError, match=r"000001\.jsonl:1: expected"):
        public.verify(copy)
    with pytest.raises(public.StorageError, match=r"000001\.jsonl:1: expected"):
        public.open_study(copy).results()


def test_the_page_is_written_where_it_is_asked_for(asked, tmp_path):
    study = public.open_study(asked)
    place = study.write_page(tmp_path / "page.html", by="model")
    assert place == tmp_path / "page.html"
    assert "trial" in place.read_text()


# --- what people get wrong ---


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda study: public.open_study("nowhere"), "nowhere: expected a study directory, found nothing at this"),
        (lambda study: public.open_study(__file__), "expected a study directory, found a file"),
        (lambda study: public.Study(Path(__file__).parent), "expected a study directory, found no study.json in"),
        (lambda study: study.results(by=["modle"]), "^by: expected task, .*, found 'modle'\nDid you mean model"),
        (lambda study: study.results(by=[]), "^by: expected task, "),
        (lambda study: study.results(by="metadata.nothing"), "^by: expected a field in the metadata of some item"),
        (lambda study: study.gate(), "^gate: expected at least one threshold, found none\nThere are min_compl"),
        (lambda study: study.gate(min_complaince=1), "^gate: expected .*\nDid you mean min_compliance"),
        (lambda study: study.gate(min_compliance=95), "^min_compliance: expected a share from 0 to 1, found 95"),
        (lambda study: study.gate(min_compliance=1, on="both"), "^on: expected 'value' or 'interval'"),
        (lambda study: study.compare(study.part(model="mm")), "expected a model of the study: m, found 'mm'"),
        (lambda study: public.compare("a@b", study), "^a@b: expected DIR@model=NAME"),
        (lambda study: study.write_page("/nowhere/page.html"), "/nowhere"),
        (lambda study: public.run_study("nothing.toml"), "^nothing.toml: expected a study file"),
        (lambda study: public.judge_study(study, ["m"]), "^models: expected the study's own file .*: models=FILE"),
        (lambda study: public.judge_study("outputs.jsonl", ["m"]), r"^outputs\.jsonl: expected out=DIR, where"),
        (lambda study: public.read_frame([], "mcqa"), "^frame: expected a DataFrame .*, found list"),
        (lambda study: public.read_frame(pl.DataFrame({"a": ["x"]}), "mqca"), "Did you mean mcqa"),
        (lambda study: public.read_frame(pl.DataFrame({"a": ["x"]}), "mcqa", text="b"), "expected a column 'b'"),
    ],
)  # fmt: skip
def test_a_slip_is_said_without_a_traceback_into_the_rooms(study, wrong, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "study's own file" in words:
        study = public.open_study(_moved(study.directory, tmp_path / "elsewhere" / "moved"))
    with pytest.raises(public.AffidavitError, match=f"(?s){words}") as slip:
        wrong(study)
    assert "--" not in str(slip.value)
    assert slip.value.__cause__ is None
    assert slip.value.__context__ is None
    files = {Path(frame.filename).name for frame in traceback.extract_tb(slip.value.__traceback__)}
    assert files <= {Path(__file__).name, "interface.py", "python_words.py"}


def _moved(directory: Path, place: Path) -> Path:
    """The study without the file that it was made from."""
    place.mkdir(parents=True)
    for path in directory.iterdir():
        if path.is_file():
            (place / path.name).write_bytes(path.read_bytes())
    return place


# --- notebooks ---


class _Page(HTMLParser):
    """The tags and texts of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.titles: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]

    def handle_data(self, data):
        self.texts.append(data)


def test_a_table_in_a_notebook_holds_nothing_but_its_own_tags():
    table = Table(HOSTILE, HOSTILE, (HOSTILE, "share"), ((HOSTILE, wilson(22, 30)),), HOSTILE, (HOSTILE,))
    page = _Page(table._repr_html_())
    assert set(page.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    harmless = "<script>alert(1)</script>\\u001b[31m\\u202e|"
    assert page.texts == [harmless, harmless, "share", harmless, "73.3% [55.6, 85.8] n=30", harmless, harmless]
    assert page.titles == ["Wilson 95%"], "a figure has its method"
    assert "\x1b" not in str(table) + repr(table)
    assert "\u202e" not in str(table)


def test_hostile_names_are_harmless_in_all_results(tmp_path):
    conditions = {"<b>x</b>": {}, "plain": {}}
    place = written(tmp_path, tables(conditions=conditions), {"quiz": questions(4)}, lambda question: "<b>B")
    results = public.open_study(place).results()
    page = _Page(results._repr_html_())
    assert "b" not in page.tags
    assert "<b>x</b>" in page.texts
    assert "<b>x</b>" in results["compliance"].to_polars()["condition"].to_list()


def test_long_tables_say_what_they_leave_out():
    table = Table("long", "How long?", ("n",), tuple((n,) for n in range(1_000)), "")
    assert "800 more rows are not shown; to_polars() gives all." in str(table)
    assert table._repr_html_().count("<tr>") == 201
    assert table.to_polars().height == 1_000


# --- running and judging ---


@pytest.mark.slow
def test_a_study_is_run_and_gone_on_with(tmp_path, asked):
    with FaultServer({"q5": first(status(500))}) as server:
        file = write_study(tmp_path, server.url, count=6, changed={"limits": {"attempts": 1}})
        trial = public.run_study(file, out=tmp_path / "out", limit=2)
        assert repr(trial) == "<Study 'trial': 2 records, sealed>"
        with pytest.warns(UserWarning, match=r"^1 without an answer; run_study\(\) again goes on$") as warned:
            public.run_study(file, out=tmp_path / "out")
        assert Path(warned[0].filename).name == Path(__file__).name
        study = public.run_study(str(file), out=tmp_path / "out", models=["m"], progress=False)
        assert len(server.log) == 7, "what the trial has asked is taken over"
    assert repr(study) == "<Study 'trial': 7 records, sealed>"
    assert study.verify().root_sha256 == public.verify(asked).root_sha256, "the same as the command's"


@pytest.mark.slow
def test_a_study_is_run_beside_a_running_loop(tmp_path):
    async def cell() -> public.Study:
        return public.run_study(tmp_path / "study.toml", out=tmp_path / "out")

    with FaultServer() as server:
        write_study(tmp_path, server.url, count=3)
        study = asyncio.run(cell())
    assert study.results()["compliance"].counts("compliant") == [3]


def test_what_stops_a_run_is_said(tmp_path):
    with FaultServer({"q2": every(unauthorised)}) as server:
        file = write_study(tmp_path, server.url, count=3)
        with pytest.warns(UserWarning, match=r"without an answer \(m refused our credentials"):
            public.run_study(file, out=tmp_path / "out")


def test_failures_are_warned_of_and_counted(tmp_path):
    with FaultServer({"q1": every(status(400))}) as server:
        file = write_study(tmp_path, server.url, count=3)
        with pytest.warns(UserWarning, match=r"^1 without an answer; "):
            study = public.run_study(file, out=tmp_path / "out")
    assert study.records().collect()["failure"].drop_nulls().to_list() == ["bad_request"]


def test_another_run_holds_the_directory(tmp_path):
    with FaultServer() as server:
        file = write_study(tmp_path, server.url, count=1)
        study = public.run_study(file, out=tmp_path / "out")
        with study._directory.locked(), pytest.raises(public.LockedError, match="no other run holds"):
            public.run_study(file, out=tmp_path / "out")


def test_wrong_arguments_of_a_run_are_refused(tmp_path):
    file = write_study(tmp_path, "http://127.0.0.1:9/v1", count=1)
    with pytest.raises(public.UsageError, match=r"^limit: expected a whole number from 1"):
        public.run_study(file, limit=0)
    with pytest.raises(public.UsageError, match=r"^models: expected m, found 'n'"):
        public.run_study(file, models="n")


@pytest.mark.slow
def test_outputs_are_judged(tmp_path):
    few = {"models": {"gamma": None}, "tasks": {"advice": {"variants": {"listed": None, "firm": None}}}}
    with serving() as server:
        write_open_study(tmp_path, server.url, few)
        study = public.run_study(tmp_path / "study.toml", out=tmp_path / "out")
        judged = public.judge_study(study, ["alpha"], models=tmp_path / "study.toml", progress=False)
        assert judged.directory == study.directory
        for wrong, words in (
            ({"judges": []}, "^judges: expected at least one judge"),
            ({"judges": ["nobody"]}, "^judges: expected alpha, beta, found 'nobody'"),
            ({"judges": "alpha", "conditions": "frei"}, "^conditions: expected free or schema, found 'frei'"),
            ({"judges": "alpha", "repeats": 0}, "^repeats: expected a whole number from 1, found 0"),
        ):
            with pytest.raises(public.UsageError, match=words):
                public.judge_study(study, **wrong, models=tmp_path / "study.toml")
    results = judged.results()
    assert {"judges", "quotes"} <= set(results)
    assert judged.records().collect().filter(pl.col("kind") == "judgement").height == 8
    assert judged.verify()
    assert judged.gate(max_invalid=0.0, max_fabricated=0.0)


def test_outputs_from_elsewhere_are_judged_and_have_no_items(tmp_path):
    names = ("question_id", "prompt_variant", "target_model", "output_id")
    row = dict(zip(names, ("q1", "A", "m", "o1"), strict=True)) | {"raw_output": "Fine words.\nAnd more."}
    row["human"] = "PASS"
    (tmp_path / "outputs.jsonl").write_text(json.dumps(row) + "\n")
    with serving() as server:
        (tmp_path / "models.toml").write_text(f'[models.j]\nbase_url = "{server.url}"\n')
        out, models = tmp_path / "judged", tmp_path / "models.toml"
        with pytest.raises(
            public.UsageError, match=r"(?s)^.*outputs\.jsonl: .* with tasks_file=FILE, .* without_task="
        ):
            public.judge_study(tmp_path / "outputs.jsonl", "j", out=out, models=models)
        assert not out.exists()
        (tmp_path / "tasks.jsonl").write_text('{"question_id": "q1", "prompt": "Say fine words."}\n')
        given = {"out": out, "models": models, "tasks_file": tmp_path / "tasks.jsonl"}
        with pytest.raises(
            public.UsageError, match=r"^without_task: expected no tasks_file=FILE beside it, found .*tasks"
        ):
            public.judge_study(tmp_path / "outputs.jsonl", "j", **given, without_task=True)
        with pytest.raises(public.UsageError, match=r"^labels: expected a column of the rows: question_id"):
            public.judge_study(tmp_path / "outputs.jsonl", "j", **given, labels={"nobody": "verdict"})
        assert not out.exists()
        said = {"labels": {"human": "verdict"}, "rater": {"human": "anna"}}
        study = public.judge_study(tmp_path / "outputs.jsonl", "j", **given, **said)
    assert study.results()["judges"].rows
    labels = study.results()["labels"]
    assert (list(labels.column("question")), list(labels.column("labelled, not drawn"))) == (["verdict"], [1])
    with pytest.raises(public.UsageError, match="expected a study with items, found outputs from elsewhere"):
        study.items()


INTERRUPTED = """
import signal, sys, affidavit
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
try:
    affidavit.run_study(sys.argv[1], out=sys.argv[2])
except KeyboardInterrupt:
    print(affidavit.open_study(sys.argv[2]))
"""


@pytest.mark.slow
def test_an_interrupt_seals_what_has_come_back(tmp_path):
    with FaultServer({"q3": every(hang)}) as server:
        file = write_study(tmp_path, server.url, count=4, changed={"models": {"m": {"connections": 1}}})
        order = [sys.executable, "-c", INTERRUPTED, str(file), str(tmp_path / "out")]
        process = subprocess.Popen(order, stdout=subprocess.PIPE, text=True)
        while not any("q3" in call.prompt for call in server.log):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=600)
    assert (process.returncode, said) == (0, "<Study 'trial': 3 records, sealed>\n")
    with FaultServer() as server:
        again = affidavit("run", write_study(tmp_path, server.url, count=4), "--out", tmp_path / "out")
        assert fine(again, 0)


THREAD = """
import _thread, signal, time
from affidavit import interface
from affidavit.commands import results as commands
from affidavit.running.stopping import StopSwitch
signal.signal(signal.SIGINT, signal.default_int_handler)
switch = StopSwitch()
def work(progress):
    _thread.interrupt_main()
    while switch.why is None:
        time.sleep(0.01)
    print("ended in order:", switch.why)
try:
    interface._in_own_thread(work, switch, progress=False)
except KeyboardInterrupt:
    print("then interrupted")
"""


@pytest.mark.slow
def test_an_interrupt_is_raised_when_the_work_has_ended():
    done = subprocess.run([sys.executable, "-c", THREAD], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "ended in order: stopped by Ctrl-C\nthen interrupted\n"


def test_what_the_work_raises_is_raised_here():
    def work(progress: object) -> None:
        raise public.StorageError("disk", expected="room", found="none")

    with pytest.raises(public.StorageError, match="disk: expected room, found none"):
        interface._in_own_thread(work, StopSwitch(), progress=True)
