"""`affidavit gate`: whether a study meets thresholds, by exit codes, JUnit XML, Markdown and JSON."""

import importlib.util
import json
import shlex
import shutil
import subprocess
import xml.sax
from pathlib import Path
from subprocess import CompletedProcess
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from affidavit.models.model import Failure, Reason
from affidavit.results.gate import MEASURES
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


def test_a_threshold_is_met_at_the_very_value(study, judged):
    assert fine(affidavit("gate", study, *options_of(judged=False)), 0)
    assert fine(affidavit("gate", judged, *options_of(judged=True)), 0)


@pytest.mark.parametrize("option", THRESHOLDS)
def test_a_threshold_is_not_met_beyond(study, judged, option):
    beyond = THRESHOLDS[option] + (1e-9 if option.startswith("--min") else -1e-9)
    assert fine(gate(judged if option in JUDGED else study, option, repr(beyond)), 3)


def test_each_threshold_is_about_its_figure_with_its_interval(study, judged):
    (found,) = checks(study, "--min-accuracy", "0.5")
    expected = wilson(12, 16)
    figures = {"value": 0.75, "low": expected.low, "high": expected.high, "n": 16, "method": "Wilson 95%"}
    assert found == {
        "who": "quiz, m, base", "measure": "accuracy over compliant", "threshold": 0.5, "at_least": True,
        "found": figures, "on_interval": False, "held": True,
    }  # fmt: skip
    measures = [each["measure"] for each in checks(study, *(x for o in THRESHOLDS for x in (o, "0.5")))]
    assert sorted(measures) == sorted(MEASURES.values())
    who = [
        (each["who"], each["found"]["value"], each["found"]["n"]) for each in checks(judged, "--max-invalid", "1")
    ]
    assert who == [("alpha, free, cross_judge", 0.5, 4), ("alpha, free, self_judge", 0.5, 4)]
    who = [each["found"] for each in checks(judged, "--max-fabricated", "1")]
    assert [(each["value"], each["n"]) for each in who] == [(0.5, 16), (0.5, 16)]


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


def test_every_group_has_to_hold(tmp_path):
    def answer(question: Question) -> Answer:
        return f"<answer>{'B' if question.model == 'good' else 'A'}</answer>"

    directory = written(tmp_path, tables(models=("good", "bad")), {"quiz": questions(4)}, answer)
    assert fine(gate(directory, "--min-accuracy", "0.5"), 3)
    found = {each["who"]: each["held"] for each in checks(directory, "--min-accuracy", "0.5")}
    assert found == {"quiz, bad, base": False, "quiz, good, base": True}
    assert fine(gate(directory, "--min-accuracy", "0.5", "--by", "task"), 0), "half of all are right"


# --- figures that are not there ---


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


def test_without_an_interval_nothing_holds_on_it_and_the_json_is_json(tmp_path):
    def answer(question: Question) -> Answer:
        return f"<answer>{'AB'[question.sample % 2]}</answer>"

    directory = written(tmp_path, tables(decoding={"samples": 2}), {"quiz": questions(1)}, answer)
    assert fine(gate(directory, "--min-accuracy", "0.5"), 0)
    done = gate(directory, "--min-accuracy", "0", "--on", "interval", "--json")
    assert fine(done, 3)
    (found,) = json.loads(done.stdout, parse_constant=pytest.fail)["checks"]
    assert (found["found"]["low"], found["found"]["high"]) == (None, None)


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
    assert sorted(each["held"] for each in judging if each["measure"] == "failed") == [False, True]


# --- what is refused, and what is broken ---


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), b"at least one threshold"),
        (("--min-compliance", "95"), b"--min-compliance: expected a share from 0 to 1, found 95.0"),
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
        {command} gate {here} --min-compliance 0.8 > passed.md
        echo "0 goes on"
        for order in "gate {here} --min-compliance 0.99" "gate {here}" "gate {there} --min-yield 0"; do
            code=0
            {command} $order > /dev/null 2> errors || code=$?
            echo "$code goes on"
        done
        {command} gate {here} --min-compliance 0.99 > failed.md
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
        "--junit", folder / "gate.xml", "--summary", folder / "gate.md",
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
    assert message.endswith(", accuracy over compliant: 0.0% [0.0, 56.1] n=3, required at least 50.0%")


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
    assert rows[0] == ["", "figure", "found", "required"]
    assert [row[0] for row in rows[1:]] == ["✓", "✓", "✗", "✓", "✗", "✓", "✓", "✓"]
    assert rows[3] == ["✗", f"quiz, {PLAIN}, base: accuracy over compliant", "0.0% [0.0, 56.1] n=3", "≥ 50.0%"]
    assert [row[3] for row in rows[7:]] == ["≤ 0.0%"] * 2


def test_json_says_what_the_summary_says(study):
    options = [x for option, bound in THRESHOLDS.items() for x in (option, str(bound))]
    found = checks(study, *options, "--on", "interval")
    page = gate(study, *options, "--on", "interval").stdout.decode()
    rows = [line for line in page.splitlines() if line.startswith(("| ✓", "| ✗"))]
    assert [row.startswith("| ✓") for row in rows] == [each["held"] for each in found]
    assert [each["held"] for each in found] == [False] * 6
    assert all(each["on_interval"] for each in found)
