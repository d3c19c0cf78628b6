"""`affidavit gate`: whether a study meets thresholds, by exit codes, JUnit XML, Markdown and JSON."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import xml.sax
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from affidavit.commands.main import cli
from affidavit.models.model import Failure, Reason
from affidavit.results.gate import MEASURES, ThresholdCheck
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson
from affidavit.study.task import Question
from support.command import COMMAND, ENVIRONMENT, affidavit
from support.fault_server import Call, says, status
from support.judged_studies import open_study, serving
from support.scripted_judge import evaluation, first_line, judge_prompt
from support.studies import FIRST, fine, run
from support.written_study import Answer, here, questions, tables, written

THRESHOLDS = {
    "--min-compliance": 16 / 18,
    "--min-accuracy": 12 / 16,
    "--min-yield": 12 / 18,
    "--max-failed": 2 / 20,
    "--max-invalid": 2 / 4,
    "--max-fabricated": 8 / 16,
}
"""What the studies below have exactly, by hand."""
JUDGED = ("--max-invalid", "--max-fabricated")


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """Twenty items: 12 right, 4 wrong, 2 against the contract, 2 that never arrived."""

    def answer(question: Question) -> Answer:
        n = int(question.item.id[1:])
        if n < 2:
            return Failure(Reason.CONTENT_FILTER)
        return "B." if n < 4 else f"<answer>{'A' if n < 8 else 'B'}</answer>"

    return written(tmp_path_factory.mktemp("gated"), tables(), {"quiz": questions(20)}, answer)


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> Path:
    """Two models, two questions in two variants, judged by one of them, which makes up its quotes for one variant."""

    async def answer(call: Call) -> None:
        prompt = judge_prompt(call.asked.prompt)
        if prompt is None:
            await says(f"The answer of {call.asked.body['model']}, as it is.")(call)
            return
        made_up = prompt.meta["prompt_variant"] == "short"
        quote = "Nobody ever said this at all." if made_up else first_line(prompt.output)
        await says(json.dumps(evaluation(prompt.meta, quote)))(call)

    folder = tmp_path_factory.mktemp("judged")
    few = {"models": {"gamma": None}, "tasks": {"advice": {"variants": {"listed": None, "firm": None}}}}
    with serving(answer) as server:
        open_study(folder, server.url, few, {"judging": {"judges": ["alpha"]}})
        assert fine(run(folder), 0)
    return folder / "out"


def gate(directory: Path, *options: object) -> CompletedProcess[bytes]:
    return here("gate", directory, *options)


def checks(directory: Path, *options: object) -> list[dict]:
    done = gate(directory, *options, "--json")
    assert done.returncode in (0, 3), done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["held"] == (done.returncode == 0) == all(check["held"] for check in found["checks"])
    return found["checks"]


# --- the six thresholds ---


def options_of(*, judged: bool) -> list[str]:
    """All thresholds on what one of the two studies has, at the very value."""
    exact = {name: bound for name, bound in THRESHOLDS.items() if (name in JUDGED) == judged}
    return [part for name, bound in exact.items() for part in (name, repr(bound))]


@pytest.mark.slow
def test_a_threshold_is_met_at_the_very_value(study, judged):
    assert fine(affidavit("gate", study, *options_of(judged=False)), 0)
    assert fine(affidavit("gate", judged, *options_of(judged=True)), 0)


@pytest.mark.slow
@pytest.mark.parametrize("option", THRESHOLDS)
def test_a_threshold_is_not_met_beyond(study, judged, option):
    beyond = THRESHOLDS[option] + (1e-9 if option.startswith("--min") else -1e-9)
    assert fine(gate(judged if option in JUDGED else study, option, repr(beyond)), 3)


@pytest.mark.slow
def test_each_threshold_is_about_its_figure_with_its_interval(study, judged):
    (found,) = checks(study, "--min-accuracy", "0.5")
    expected = wilson(12, 16)
    figures = {
        "value": 0.75,
        "low": expected.low,
        "high": expected.high,
        "n": 16,
        "clusters": 16,
        "method": "Wilson 95%",
    }
    assert found == {
        "who": "quiz, m, base", "measure": "accuracy over compliant", "threshold": 0.5, "at_least": True,
        "found": figures, "on_interval": False, "baseline": "", "decided": 0.75, "held": True,
    }  # fmt: skip
    measures = [each["measure"] for each in checks(study, *(x for o in THRESHOLDS for x in (o, "0.5")))]
    assert sorted(measures) == sorted(MEASURES.values())
    who = [
        (each["who"], each["found"]["value"], each["found"]["n"]) for each in checks(judged, "--max-invalid", "1")
    ]
    # ruling J8: of others' outputs alone
    assert who == [("alpha, free, cross_judge", 0.5, 4)]
    who = [each["found"] for each in checks(judged, "--max-fabricated", "1")]
    assert [(each["value"], each["n"]) for each in who] == [(0.5, 16)]


@pytest.mark.slow
def test_on_the_interval_its_end_on_the_wrong_side_has_to_hold(study, judged):
    for directory, options in ((study, options_of(judged=False)), (judged, options_of(judged=True))):
        found = checks(directory, *options, "--on", "interval")
        assert not any(each["held"] for each in found), "a small study is not sure"
        ends = []
        for option in options[::2]:
            measure = MEASURES[option[2:].replace("-", "_")]
            figure = next(each["found"] for each in found if each["measure"] == measure)
            ends += [option, repr(figure["low" if option.startswith("--min") else "high"])]
        assert all(each["held"] for each in checks(directory, *ends, "--on", "interval"))


@pytest.mark.slow
def test_every_group_has_to_hold(tmp_path):
    def answer(question: Question) -> Answer:
        return f"<answer>{'B' if question.model == 'good' else 'A'}</answer>"

    directory = written(tmp_path, tables(models=("good", "bad")), {"quiz": questions(4)}, answer)
    assert fine(gate(directory, "--min-accuracy", "0.5"), 3)
    found = {each["who"]: each["held"] for each in checks(directory, "--min-accuracy", "0.5")}
    assert found == {"quiz, bad, base": False, "quiz, good, base": True}
    assert fine(gate(directory, "--min-accuracy", "0.5", "--by", "task"), 0), "half of all are right"


# --- figures that are not there ---


@pytest.mark.slow
def test_a_missing_figure_meets_no_threshold(tmp_path, study):
    keyless = [{name: value for name, value in row.items() if name != "answer"} for row in questions(3)]
    directory = written(tmp_path / "keyless", tables(), {"quiz": keyless}, lambda question: "<answer>B</answer>")
    lost = written(tmp_path / "lost", tables(), {"quiz": questions(3)}, lambda question: Failure(Reason.TIMEOUT))
    for place, option, bound in (
        (directory, "--min-accuracy", "0"), (directory, "--min-yield", "0"), (lost, "--min-compliance", "0"),
        (study, "--max-invalid", "1"), (study, "--max-fabricated", "1"),
    ):  # fmt: skip
        (found,) = checks(place, option, bound)
        assert (found["found"], found["held"]) == (None, False)
    assert fine(gate(directory, "--min-compliance", "1"), 0)


def test_a_single_item_is_never_enough_for_an_interval_s_end(tmp_path):
    def answer(question: Question) -> Answer:
        return "<answer>B</answer>"

    directory = written(tmp_path, tables(decoding={"samples": 9}), {"quiz": questions(1)}, answer)
    assert fine(gate(directory, "--min-accuracy", "1"), 0)
    done = gate(directory, "--min-accuracy", "0.2", "--on", "interval", "--json")
    assert fine(done, 3)
    (found,) = json.loads(done.stdout, parse_constant=pytest.fail)["checks"]
    assert (found["found"]["n"], found["found"]["clusters"]) == (9, 1)


@pytest.mark.slow
def test_a_judging_that_is_not_finished_passes_no_gate(tmp_path):
    """Nor do judgements that failed, where failures are bounded."""
    asked = []

    async def answer(call: Call) -> None:
        if (prompt := judge_prompt(call.asked.prompt)) is None:
            await says("An answer, as it is.")(call)
            return
        asked.append(prompt)
        if len(asked) > 1:
            await status(401)(call)
        else:
            await says(json.dumps(evaluation(prompt.meta, first_line(prompt.output))))(call)

    few = {
        "models": {"gamma": None, "alpha": {"connections": 1}},
        "tasks": {"advice": {"variants": {"listed": None, "firm": None}}},
    }
    with serving(answer) as server:
        open_study(tmp_path, server.url, few, {"judging": {"judges": ["alpha"]}})
        assert fine(run(tmp_path), 4)
    found = checks(tmp_path / "out", "--max-invalid", "1", "--max-failed", "0.01")
    judging = [each for each in found if each["who"].startswith("alpha, free")]
    assert [each["held"] for each in judging if each["measure"] == "pending"] == [False, False]
    assert [each["held"] for each in judging if each["measure"] == "failed"] == [False]


# --- what is refused, and what is broken ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), b"at least one threshold"),
        (("--min-compliance", "95"), b"--min-compliance: expected a share from 0 to 1, found 95.0\nWrite 0.95."),
        (("--max-failed", "-0.1"), b"a share from 0 to 1"),
        (("--min-yield", "nan"), b"a share from 0 to 1"),
        (("--min-yield", "0.5", "--by", "nonsense"), b"--by"),
        (("--min-yield", "half"), b"not a valid float"),
    ],
)
def test_what_was_asked_wrongly_is_refused(study, options, said):
    done = gate(study, *options)
    assert fine(done, 2)
    assert said in done.stderr


def test_what_is_no_study_is_refused_and_what_is_broken_is_told(study, tmp_path):
    assert fine(gate(tmp_path, "--min-yield", "0"), 2)
    broken = shutil.copytree(study, tmp_path / "broken")
    content = bytearray((broken / FIRST).read_bytes())
    content[len(content) // 2] ^= 1
    (broken / FIRST).write_bytes(content)
    done = affidavit("gate", broken, "--min-yield", "0")
    assert fine(done, 5)
    assert str(FIRST).encode() in done.stderr
    nowhere = gate(study, "--min-yield", "0", "--junit", tmp_path / "no/such/place.xml")
    assert fine(nowhere, 2)
    assert b"the name of a file to write" in nowhere.stderr


@pytest.mark.slow
def test_a_shell_script_goes_by_the_exit_codes(study, tmp_path):
    broken = shutil.copytree(study, tmp_path / "broken")
    (broken / FIRST).write_bytes(b"{}\n")
    here, there, command = shlex.quote(str(study)), shlex.quote(str(broken)), shlex.quote(str(COMMAND))
    script = f"""
        set -e
        {command} gate {here} --min-compliance 0.8 --format md > passed.md
        echo "0 goes on"
        for order in "gate {here} --min-compliance 0.99" "gate {here}" "gate {there} --min-yield 0"; do
            code=0
            {command} $order > /dev/null 2> errors || code=$?
            echo "$code goes on"
        done
        {command} gate {here} --min-compliance 0.99 --format md > failed.md
        echo "never said"
    """
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("0 goes on\n3 goes on\n2 goes on\n5 goes on\n", 3), done.stderr
    assert (tmp_path / "passed.md").read_text().startswith("## trial meets its thresholds\n")
    assert (tmp_path / "failed.md").read_text().startswith("## trial does not meet 1 of 1 thresholds")


# --- the record of it ---

HOSTILE = "a|b`c`[d](e)\n\x1b[31m<b>&amp;\"'"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> tuple[Path, CompletedProcess[bytes]]:
    """The folder of a study of hostile names, with the records of a gate that two of four checks pass."""
    folder = tmp_path_factory.mktemp("hostile")

    def answer(question: Question) -> Answer:
        return f"<answer>{'B' if question.model == 'm' else 'A'}</answer>"

    directory = written(folder, tables(models=("m", HOSTILE)), {"quiz": questions(3)}, answer)
    done = affidavit(
        "gate", directory, "--min-compliance", "1", "--min-accuracy", "0.5", "--min-yield", "1", "--max-failed", "0",
        "--junit", folder / "gate.xml", "--summary", folder / "gate.md", "--format", "md",
    )  # fmt: skip
    assert fine(done, 3)
    return folder, done


PLAIN = HOSTILE.replace("\n", "\\u000a").replace("\x1b", "\\u001b")


def test_junit_is_read_back_with_its_counts_and_messages(hostile):
    suite = ElementTree.fromstring((hostile[0] / "gate.xml").read_bytes())  # noqa: S314 - our own
    assert suite.tag == "testsuite"
    assert suite.attrib == {"name": "trial", "tests": "8", "failures": "2"}
    cases = list(suite)
    assert {case.tag for case in cases} == {"testcase"}
    assert len(cases) == 8
    failed = {(case.get("classname"), case.get("name")): case.find("failure") for case in cases if len(case)}
    assert set(failed) == {
        ("trial.accuracy over compliant", f"quiz, {PLAIN}, base"), ("trial.yield", f"quiz, {PLAIN}, base")
    }  # fmt: skip
    for (_, name), failure in failed.items():
        assert failure.text == failure.get("message")
        assert failure.text.startswith(f"{name}, ")
    message = failed["trial.accuracy over compliant", f"quiz, {PLAIN}, base"].text
    assert message.endswith(", accuracy over answers: 0.0% [0.0, 56.1] n=3, required at least 50.0%")


class Names(xml.sax.ContentHandler):
    """The names of elements, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def startElement(self, name, attrs):  # noqa: N802
        self.found.append(name)


def test_junit_is_read_by_other_parsers_too(hostile):
    handler = Names()
    xml.sax.parse(str(hostile[0] / "gate.xml"), handler)  # noqa: S317 - our own
    assert (handler.found.count("testcase"), handler.found.count("failure")) == (8, 2)
    if importlib.util.find_spec("lxml") is not None:
        from lxml import etree  # noqa: PLC0415

        tree = etree.parse(str(hostile[0] / "gate.xml"))
        assert len(tree.findall("testcase")) == 8
        assert len(tree.findall("testcase/failure")) == 2


def test_a_gate_that_holds_has_no_failure(study, tmp_path):
    assert fine(gate(study, "--min-yield", "0.1", "--junit", tmp_path / "gate.xml"), 0)
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()  # noqa: S314
    assert (suite.get("tests"), suite.get("failures"), len(suite), len(suite[0])) == ("1", "0", 1, 0)


def test_the_summary_is_one_table_with_every_name_as_text(hostile):
    folder, done = hostile
    page = (folder / "gate.md").read_text()
    assert done.stdout.decode() == page
    assert all(each.isprintable() or each == "\n" for each in page)
    assert page.startswith("## trial does not meet 2 of 8 thresholds\n")
    tokens, rows = MarkdownIt("commonmark").enable("table").parse(page), []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            assert {part.type for part in tokens[place + 1].children} <= {"text"}
            rows[-1].append("".join(part.content for part in tokens[place + 1].children))
    assert rows[0] == ["", "figure", "found", "decided by", "required"]
    assert [row[0] for row in rows[1:]] == ["✓", "✓", "✗", "✓", "✗", "✓", "✓", "✓"]
    figure = f"quiz, {PLAIN}, base: accuracy over answers"
    assert rows[3] == ["✗", figure, "0.0% [0.0, 56.1] n=3", "value 0.0%", "≥ 50.0%"]
    assert [row[4] for row in rows[7:]] == ["≤ 0.0%"] * 2


def test_json_says_what_the_summary_says(study):
    options = [x for option, bound in THRESHOLDS.items() for x in (option, str(bound))]
    found = checks(study, *options, "--on", "interval")
    page = gate(study, *options, "--on", "interval", "--format", "md").stdout.decode()
    rows = [line for line in page.splitlines() if line.startswith(("| ✓", "| ✗"))]
    assert [row.startswith("| ✓") for row in rows] == [each["held"] for each in found]
    assert [each["held"] for each in found] == [False] * 6
    assert all(each["on_interval"] for each in found)


# --- what decided ---


@pytest.mark.slow
def test_the_end_of_the_interval_that_decided_is_printed(study, tmp_path):
    options = ("--min-accuracy", "0.7", "--max-failed", "0.2", "--on", "interval")
    lower, upper = wilson(12, 16).low, wilson(2, 20).high
    assert [each["decided"] for each in checks(study, *options)] == [lower, upper]
    for form in ("md", "text"):
        printed = gate(study, *options, "--format", form).stdout.decode()
        assert f"lower end {lower * 100:.1f}%" in printed
        assert f"upper end {upper * 100:.1f}%" in printed
    gate(study, *options, "--junit", tmp_path / "gate.xml")
    assert f"lower end {lower * 100:.1f}% decides" in (tmp_path / "gate.xml").read_text()


@pytest.mark.parametrize(
    ("decided", "threshold", "words"),
    [
        (0.5, 0.5, ("value 50.0%", "≥ 50.0%")),
        (0.79996, 0.8, ("value 79.996%", "≥ 80.000%")),
        (0.8995, 0.8995, ("value 89.95%", "≥ 89.95%")),
        (0.95, 0.8995, ("value 95.00%", "≥ 89.95%")),
        (0.899496, 0.8995, ("value 89.9496%", "≥ 89.9500%")),
    ],
)
def test_two_numbers_that_differ_do_not_look_alike(decided, threshold, words):
    check = ThresholdCheck("a", "yield", threshold, True, Estimate(decided, 0, 1, 9, ""), on_interval=False)
    assert (check.decided_by, check.required) == words
    assert (f"; {words[0]} decides" in str(check)) == (words[0] != "value 50.0%")


def test_a_terminal_gets_no_markdown(study):
    printed = gate(study, "--min-compliance", "0.5").stdout.decode()
    assert printed.startswith("trial meets its thresholds\n")
    assert not any(line.startswith(("#", "|")) for line in printed.splitlines())


def test_pending_is_a_row_only_where_something_is_pending(study, tmp_path):
    def answer(question: Question) -> Answer:
        return None if question.item.id == "q0" else "<answer>B</answer>"

    part = written(tmp_path, tables(), {"quiz": questions(4)}, answer, sealed=False)
    assert [each["measure"] for each in checks(part, "--min-yield", "0")] == ["pending", "yield"]
    assert [each["measure"] for each in checks(study, "--min-yield", "0")] == ["yield"]


# --- parts and baselines ---


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> dict[str, Path]:
    """Forty items under two models: all right; as before; ten of forty wrong under one model."""

    def made(name: str, wrong: int, count: int = 40, models: tuple[str, ...] = ("m", "n")) -> Path:
        def answer(question: Question) -> Answer:
            lost = question.model == "n" and int(question.item.id[1:]) < wrong
            return f"<answer>{'A' if lost else 'B'}</answer>"

        study = tables(models=models, conditions={"free": {}, "firm": {"preamble": "!"}})
        return written(tmp_path_factory.mktemp(name), study, {"quiz": questions(count)}, answer)

    return {"before": made("before", 0), "same": made("same", 0), "worse": made("worse", 10),
            "more": made("more", 0, 44), "other": made("other", 0, 40, ("m", "o"))}  # fmt: skip


@pytest.mark.slow
def test_a_part_is_gated_alone(versions):
    worse = versions["worse"]
    assert fine(gate(worse, "--min-accuracy", "0.9"), 3)
    assert fine(gate(f"{worse}@model=m", "--min-accuracy", "0.9"), 0)
    found = checks(f"{worse}@model=n,condition=firm", "--min-accuracy", "0")
    assert [(each["who"], each["found"]["value"]) for each in found] == [("quiz, n, firm", 0.75)]
    for wrong in ("@model=x", "@modle=n", "@model"):
        assert fine(gate(f"{worse}{wrong}", "--min-accuracy", "0"), 2)
    refused = gate(f"{worse}@model=m", "--max-invalid", "0.1")
    assert fine(refused, 2)
    assert b"a whole study" in refused.stderr


@pytest.mark.slow
def test_a_study_may_not_be_lower_than_its_baseline(versions):
    before = versions["before"]
    assert fine(gate(versions["same"], "--baseline", before, "--margin", "0.1"), 0)
    assert fine(gate(versions["same"], "--baseline", before), 3), (
        "40 equal items do not show a margin of two points"
    )
    found = checks(versions["worse"], "--baseline", before, "--margin", "0.1")
    lost = {(each["who"], each["measure"]) for each in found if not each["held"]}
    assert lost == {("quiz, n, firm", "yield"), ("quiz, n, free", "yield")}
    assert len(found) == 8
    for each in found:
        assert each["held"] == (each["found"]["low"] >= -0.1)
        assert (each["threshold"], each["decided"], each["baseline"]) == (-0.1, each["found"]["low"], str(before))
    assert fine(gate(versions["worse"], "--baseline", before, "--margin", "1"), 0)
    assert fine(gate(f"{versions['worse']}@model=m", "--baseline", f"{before}@model=m", "--margin", "0.1"), 0)
    printed = gate(versions["worse"], "--baseline", before).stdout.decode()
    assert "−25.0 points" in printed
    assert f"differences are to {before}, paired by item" in " ".join(printed.split())


@pytest.mark.slow
def test_what_a_baseline_lacks_is_counted_and_not_passed(versions):
    done = gate(versions["more"], "--baseline", versions["before"], "--format", "md")
    assert b"4 items with outputs only in trial: not compared" in done.stdout
    order = (versions["other"], "--baseline", versions["before"], "--margin", "0.1")
    found = {each["who"]: each for each in checks(*order)}
    assert not any(found[f"quiz, o, {each}"]["held"] for each in ("free", "firm"))
    assert found["quiz, m, free"]["held"]


def test_one_check_is_one(study):
    assert b"1 check = 1 met + 0 not met" in here("gate", study, "--min-compliance", "0.5").stdout


@pytest.mark.slow
def test_a_margin_is_a_share(versions):
    refused = gate(versions["same"], "--baseline", versions["before"], "--margin", "2")
    assert fine(refused, 2)
    assert b"--margin: expected a share from 0 to 1, found 2.0" in refused.stderr


# --- in a workflow ---


@pytest.mark.slow
def test_the_summary_is_added_for_github(study, tmp_path):
    step = tmp_path / "summary.md"
    step.write_text("before\n")
    done = affidavit("gate", study, "--min-yield", "0.1", "--format", "md", GITHUB_STEP_SUMMARY=str(step))
    assert fine(done, 0)
    assert step.read_bytes() == b"before\n" + done.stdout
    nowhere = affidavit("gate", study, "--min-yield", "0.1", GITHUB_STEP_SUMMARY=str(tmp_path / "no/such"))
    assert fine(nowhere, 5)


def test_the_example_workflow_names_real_options():
    workflow = (Path(__file__).parents[2] / "examples" / "github-gate.yml").read_text()
    orders = re.findall(r"affidavit (\w+)((?:[^\n]|\\\n)*)", re.sub(r"^\s*#.*", "", workflow, flags=re.MULTILINE))
    assert {"run", "gate"} <= {name for name, _ in orders}
    for name, rest in orders:
        known = {option for each in cli.get_command(None, name).params for option in each.opts}
        assert set(re.findall(r"--[a-z][a-z-]*", rest)) <= known, name


# --- what attacks on the promise broke ---


def test_a_part_that_is_not_asked_passes_no_gate(tmp_path):
    design = tables(conditions={"free": {}, "firm": {"preamble": "!"}})
    design["tasks"]["quiz"]["conditions"] = ["free"]
    design["tasks"]["more"] = {"contract": "mcqa", "items": "more.jsonl"}
    directory = written(
        tmp_path, design, {"quiz": questions(12), "more": questions(12)}, lambda question: "garbage"
    )
    done = gate(f"{directory}@task=quiz,condition=firm", "--min-compliance", "0.9")
    assert fine(done, 2)
    assert b"expected a part that is asked, found none" in done.stderr


def without_keys(rows: list[dict], count: int) -> list[dict]:
    return [{k: v for k, v in row.items() if k != "answer"} for row in rows[:count]] + rows[count:]


@pytest.mark.slow
def test_a_check_that_is_lost_is_not_met(tmp_path):
    rows = questions(300)
    before = written(tmp_path / "before", tables(), {"quiz": rows}, lambda question: "<answer>B</answer>")
    nobody = written(
        tmp_path / "now", tables(), {"quiz": without_keys(rows, 300)}, lambda question: "<answer>C</answer>"
    )
    found = checks(nobody, "--baseline", before)
    assert {(each["measure"], each["held"]) for each in found} == {("compliance", True), ("yield", False)}
    some = written(
        tmp_path / "some", tables(), {"quiz": without_keys(rows, 200)}, lambda question: "<answer>B</answer>"
    )
    done = gate(some, "--baseline", before, "--margin", "0.05")
    assert b"200 items left out" in b" ".join(done.stdout.split())


@pytest.mark.slow
def test_items_that_failed_are_counted_beside_a_baseline(tmp_path):
    def failing(question: Question) -> Answer:
        return Failure(Reason.TIMEOUT) if int(question.item.id[1:]) < 80 else "<answer>B</answer>"

    before = written(
        tmp_path / "before", tables(), {"quiz": questions(160)}, lambda question: "<answer>B</answer>"
    )
    now = written(tmp_path / "now", tables(), {"quiz": questions(160)}, failing)
    done = gate(now, "--baseline", before, "--margin", "0.05")
    assert b"compliance: 80 items left out" in b" ".join(done.stdout.split())


@pytest.mark.slow
def test_another_model_than_the_baseline_s_is_not_compared_unless_it_is_named(tmp_path):
    one, other = tables(), tables()
    other["models"] = {"x": one["models"]["m"]}
    before = written(tmp_path / "before", one, {"quiz": questions(300)}, lambda question: "<answer>B</answer>")
    now = written(tmp_path / "now", other, {"quiz": questions(300)}, lambda question: "<answer>B</answer>")
    assert not any(each["held"] for each in checks(now, "--baseline", before))
    assert fine(gate(f"{now}@model=x", "--baseline", f"{before}@model=m"), 0)


@pytest.mark.slow
def test_too_few_items_are_said_to_be_too_few(tmp_path):
    directory = written(tmp_path, tables(), {"quiz": questions(30)}, lambda question: "<answer>B</answer>")
    said = b" ".join(gate(directory, "--baseline", directory).stdout.split())
    assert b"30 items are too few for a margin of 2 points, even if nothing changed: that takes 189 items" in said
    assert b"or --margin 0.12" in said
    assert fine(gate(directory, "--baseline", directory, "--margin", "0.12"), 0)
    said = b" ".join(gate(directory, "--min-compliance", "0.95", "--on", "interval").stdout.split())
    assert "30 items are too few to meet ≥ 95.0% by the end of an interval".encode() in said
    assert b"that takes 73" in said


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "needed"), [(1, 35), (2, 36)])
def test_as_many_items_as_a_hint_asks_for_meet_the_threshold(tmp_path, samples, needed):
    """Ruling S1: repeated samples of an item are no independent outputs, and the hint counts as the gate does."""
    study, wanted = tables(decoding={"samples": samples}), ("--min-compliance", "0.9", "--on", "interval")

    def of(items: int) -> Path:
        folder = tmp_path / str(items)
        return written(folder, study, {"quiz": questions(items)}, lambda question: "<answer>B</answer>")

    for few in (1, 10, needed - 1):
        said = b" ".join(gate(of(few), *wanted).stdout.split()).decode()
        assert f"{few} item{' is' if few == 1 else 's are'} too few to meet ≥ 90.0%" in said
        assert f"that takes {needed} " in f"{said} "
    assert fine(gate(of(needed), *wanted), 0)


def test_a_hint_ends_where_nobody_could_have_as_many_items(study):
    said = b" ".join(gate(study, "--min-compliance", "0.999999999999999", "--on", "interval").stdout.split())
    assert b"that takes more than 1,000,000,000" in said
