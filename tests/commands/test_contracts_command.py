"""`affidavit contracts`: what there is, and what one of them says of a text."""

import json
import re

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from affidavit.commands.contracts import contracts
from affidavit.commands.main import cli
from affidavit.commands.marked_text import STROKES, marked_lines
from affidavit.contracts.contract import label
from affidavit.contracts.parts import Mark
from affidavit.contracts.registry import BUILT_IN
from support.command import affidavit

OWN = """
from affidavit import AnswerReading, MultipleChoice, Span

class LastWord:
    name, version, params = "last-word", 3, {}
    mark_fields = (("answer_start", "answer_end"),)
    def instruction(self, item=None): return "End with the answer."
    def read(self, raw, item=None):
        print("looking")
        start = raw.rindex(" ") + 1
        return AnswerReading(raw[start:], Span(start, len(raw)))
    def validate(self, reading, item): return None
    def grammar(self, item=None): return None

last_word, five = LastWord(), MultipleChoice("A-E")
"""


def said(*arguments: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(cli, ["contracts", *arguments], input=given, catch_exceptions=False)


def tried(*arguments: str, given: str) -> dict:
    result = said("try", *arguments, "--json", given=given.encode())
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


# --- the list ---


def test_every_built_in_contract_is_listed_with_its_examples():
    output = said().stdout
    blocks = output.split("\n\n")
    assert [block.split("  ")[0] for block in blocks] == [label(each) for each in BUILT_IN.values()]
    for block, contract in zip(blocks, BUILT_IN.values(), strict=True):
        assert contract.summary in block
        assert f"rulings    {contract.rulings}" in block
        kept, broken = contract.outcome_words.kept, contract.outcome_words.broken
        assert f"\n             {kept}" in block
        assert f"\n             {broken}" in block


def test_the_first_of_the_list():
    assert said().stdout.split("\n\n")[0].splitlines() == [
        "mcqa/1  One letter in one tag and nothing else: the whole output is that tag.",
        "  parameter  options: the option set, A-B to A-W (--options); A-D unless given",
        "  rulings    M1-M7",
        "  passes     <answer>B</answer>",
        "             compliant: extracted_answer B",
        "  fails      The answer is <answer>B</answer>.",
        "             non-compliant: deviation text_around",
    ]


def test_defaults_are_said_once_and_what_is_required_has_none():
    lines = said().stdout.splitlines()
    told = {
        line.split()[1].rstrip(":"): line.rpartition("; ")[2] for line in lines if line.startswith("  parameter  ")
    }
    assert told == {
        "options": "A-D unless given",
        "marker": "none unless given",
        "thousands": '"," unless given',
        "decimal": '"." unless given',
        "sign": "true unless given",
        "unit": "none unless given",
        "tolerance": '"0" unless given',
        "labels": "required (economy, politics, sport in the examples)",
        "none": "none unless given",
        "single": "false unless given",
        "schema": "{} unless given",
        "fields": "null unless given",
        "pattern": "required (Answer: (?P<answer>[A-D]) in the examples)",
        "compare": '"text" unless given',
    }
    for contract in BUILT_IN.values():
        for words in contract.parameters.values():
            assert not re.search("unless given|default|required", words), "the list says it"
    found = {
        each["contract"]: each["required_parameters"] for each in json.loads(said("--json").stdout)["contracts"]
    }
    assert {name: names for name, names in found.items() if names} == {
        "labels/1": ["labels"],
        "pattern/1": ["pattern"],
    }


def test_for_machines_the_examples_are_whole():
    found = {each["contract"]: each for each in json.loads(said("--json").stdout)["contracts"]}
    assert found.keys() == {label(each) for each in BUILT_IN.values()}
    for each in BUILT_IN.values():
        described = found[label(each)]
        assert described["passing"]["text"] == each.passing
        assert (described["passing"]["protocol_compliant"], described["failing"]["protocol_compliant"]) == (
            True,
            False,
        )
    assert found["mcqa/1"]["params"] == {"options": "A-D"}
    assert found["mcqa/1"]["failing"]["lenient_readings"]["mcqa-last-tag/1"] == "B"
    assert list(found["mcqa/1"]["failing"]["lenient_readings_left_out"]) == ["lm-eval-flexible-0.4.13/1"]
    assert found["text/1"]["failing"] == {"text": " \n", "protocol_compliant": False, "fields": {}, "marks": []}


# --- one text ---


def test_a_text_is_shown_with_its_reading_and_its_marks():
    given = b"The answer is <answer>B</answer>\n"
    assert said("try", "mcqa", given=given).stdout.splitlines() == [
        "mcqa/1: non-compliant",
        "  options  A-D",
        "",
        "read",
        "  extracted_answer  null",
        "  deviation         text_around",
        "",
        "lenient readings, not the protocol",
        "  mcqa-after-think/1                null",
        "  mcqa-last-tag/1                   B",
        "  mcqa-bare-letter/1                null",
        "  mcqa-option-text/1                null",
        "  mcqa-answer-line/1                null",
        "  mcqa-last-letter/1                B",
        "  inspect-choice-0.3.285/1          null",
        "  simple-evals-9e2fafd/1            null",
        "  opencompass-first-option-0.5.4/1  B",
        "  lawbench-e30981b/1                B",
        "  lm-eval-flexible-0.4.13/1         not read: needs option texts in `options`",
        "",
        "text, 33 characters",
        "  The answer is <answer>B</answer>",
        "                ~~~~~~~~~~~~~~~~~~",
        "marked ~: the last well-formed block, which a lenient reading would accept and the protocol does not",
    ]


@pytest.mark.parametrize(
    ("arguments", "given", "strokes"),
    [
        (["number"], b"So <answer>72 clips</answer>", "             ~~~~~~~~"),
        (["number", "--param", "marker=####"], b"#### 72 clips", "       ~~~~~~~~"),
        (["labels", "--param", 'labels=["a"]'], b"So <answer> b </answer>", "              ~"),
    ],
)
def test_where_no_lenient_reading_exists_none_is_spoken_of(arguments, given, strokes):
    lines = said("try", *arguments, given=given).stdout.splitlines()
    assert lines[-2:] == [
        strokes,
        "marked ~: what stands where the answer should stand, and is not in the format",
    ]


@pytest.mark.parametrize("name", ["mcqa", "mcqa-reasoned"])
def test_what_was_read_is_marked_as_the_answer(name):
    found = tried(name, given=" <answer>B</answer>")
    assert found["protocol_compliant"] is True
    assert found["marks"] == [{"start": 1, "end": 19, "kind": "answer"}]


def test_options_are_given_as_to_read():
    assert tried("mcqa-reasoned", "--options", "A-E", given="<answer>E</answer>")["params"] == {"options": "A-E"}


def test_json_may_be_asked_for_before_the_name_of_the_command():
    assert json.loads(said("--json", "try", "text", given=b"x").stdout)["protocol_compliant"] is True


def test_findings_stand_each_on_a_line():
    lines = said("try", "judge", given=b"I pass").stdout.splitlines()
    assert lines[0] == "judge/1: invalid"
    at = lines.index("  findings")
    assert [json.loads(line)["code"] for line in lines[at + 1 : at + 3]] == ["json_syntax", "no_json"]


def test_a_contract_of_ones_own_is_tried_and_what_it_prints_is_no_part_of_it(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    done = affidavit("contracts", "try", "mine.py:last_word", "--json", given=b"it is 7", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"looking\n")
    assert json.loads(done.stdout)["marks"] == [{"start": 6, "end": 7, "kind": "answer"}]
    done = affidavit("contracts", "try", "mine.py:five", given=b"<answer>E</answer>", cwd=tmp_path)
    assert done.stdout.startswith(b"mcqa/1: compliant\n  options  A-E\n")


def test_one_that_raises_leaves_the_text_unread(tmp_path):
    """Ruling C8."""
    (tmp_path / "mine.py").write_text(OWN)
    done = affidavit("contracts", "try", "mine.py:last_word", given=b"7", cwd=tmp_path)
    assert done.returncode == 4
    assert b"last-word/3: unread, ValueError: substring not found" in done.stdout
    assert b"Traceback" not in done.stderr
    found = json.loads(
        affidavit("contracts", "try", "mine.py:last_word", "--json", given=b"7", cwd=tmp_path).stdout
    )
    assert (found["protocol_compliant"], found["unread"]) == (None, "ValueError: substring not found")


@pytest.mark.parametrize(
    ("arguments", "given", "told"),
    [
        (["mcq"], b"", "CONTRACT: expected mcqa, mcqa-reasoned, number"),
        (["mcqa", "--options", "A-Z"], b"", "options: expected a run of 2 to 23 letters from A"),
        (["mcqa", "--options", "auto"], b"", "--options: expected an option set, such as A-E, found 'auto'"),
        (["text", "--options", "A-E"], b"", "--options: expected a contract that shows options"),
        (["text", "--param", "x=1"], b"", "parameters: expected no parameters of text, found 'x'"),
        (["text", "--param", "x"], b"", "--param: expected a name and a value"),
        (["mcqa", "--param", "options=A-E"], b"", "The option set has an option of its own: use --options A-E."),
        (["nowhere.py:x"], b"", "nowhere.py"),
        (
            ["text"],
            b"ok\ncaf\xe9",
            "standard input:2: expected text in UTF-8, found byte 0xe9 at byte 4 of the line",
        ),
    ],
)
def test_mistakes_are_told(arguments, given, told):
    result = said("try", *arguments, given=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_no_text_commands_the_terminal_or_passes_for_a_line_of_ours():
    output = said("try", "mcqa", given="\x1b[2J\rmcqa/1: compliant\u2028\x9b".encode()).stdout
    assert "\x1b" not in output
    assert "  \\u001b[2J\\u000dmcqa/1: compliant\\u2028\\u009b" in output.splitlines()


def test_colours_are_for_terminals_alone(monkeypatch):
    given = b"<answer>B</answer>"
    monkeypatch.setattr("affidavit.commands.contracts._is_terminal", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    runner = CliRunner()
    coloured = runner.invoke(contracts, ["try", "mcqa"], input=given, color=True).stdout
    assert "\x1b[32m\x1b[1m<" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in runner.invoke(contracts, ["try", "mcqa"], input=given, color=True).stdout


def test_nothing_at_all_is_a_text_too():
    assert tried("text", given="")["protocol_compliant"] is False


# --- marks below a text ---


def test_strokes_stand_below_what_is_marked_however_wide_it_is():
    text = "漢\x1bé <answer>"
    lines = list(marked_lines(text, [Mark(0, 2, "answer"), Mark(4, 12, "lenient")], width=40))
    assert lines == ["漢\\u001bé <answer>", "^^^^^^^^  ~~~~~~~~"]


def test_a_long_line_is_cut_and_its_marks_with_it():
    lines = list(marked_lines("abcdefghij\n\nk", [Mark(3, 6, "answer")], width=4))
    assert lines == ["abcd", "   ^", "efgh", "^^", "ij", "", "k"]


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60), st.integers(1, 30), st.data())
def test_every_character_is_shown_once_and_nothing_else(text, width, data):
    start = data.draw(st.integers(0, len(text)))
    marks = [Mark(start, data.draw(st.integers(start, len(text))), "answer")]
    plain_lines = list(marked_lines(text, [], width=width))
    shown = [line for line in marked_lines(text, marks, width=width) if set(line) - {" ", *STROKES.values()}]
    assert all(line.isprintable() for line in plain_lines)
    assert [line for line in plain_lines if set(line) - {" ", *STROKES.values()}] == shown


# --- one contract, and what is typed in its place ---


def test_a_contract_is_shown_with_its_words():
    output = said("show", "mcqa", "--options", "A-E").stdout
    assert output.startswith("mcqa/1  ")
    assert "\n  instruction\n    Answer the following multiple-choice question" in output
    described = json.loads(said("show", "json", "--json").stdout)
    assert (described["contract"], described["instruction"]) == ("json/1", BUILT_IN["json"].instruction())


@pytest.mark.parametrize("name", [*BUILT_IN])
def test_every_contract_can_be_shown(name):
    required = {"labels": ["--param", 'labels=["a"]'], "pattern": ["--pattern", "[A-D]"]}.get(name, [])
    assert said("show", name, *required).exit_code == 0


def test_a_pattern_is_tried_and_shown_as_it_is_typed():
    found = tried("pattern", "--pattern", "Answer: (?P<answer>[A-D])", given="Answer: B")
    assert (found["protocol_compliant"], found["fields"]["extracted_answer"]) == (True, "B")
    assert found["params"] == {"pattern": "Answer: (?P<answer>[A-D])", "compare": "text"}
    assert "pattern/1" in said("show", "pattern", "--pattern", "[A-D]").stdout


def test_a_name_without_a_command_and_a_text_as_an_argument_are_told_what_to_type():
    done = affidavit("contracts", "json")
    assert done.returncode == 2
    assert "affidavit contracts try json reads a text from standard input." in done.stderr.decode()
    done = affidavit("contracts", "try", "mcqa", "It is B")
    assert done.returncode == 2
    assert "The text comes from standard input: echo 'TEXT' | affidavit contracts try mcqa" in done.stderr.decode()
    assert b"No such command 'jsn'" in affidavit("contracts", "jsn").stderr
