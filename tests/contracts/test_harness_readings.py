"""What other harnesses would have read: as their packages read it, on any text, in linear time (rulings M24 to M29)."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.choice_readings import Lens
from affidavit.contracts.contract import AnswerKey, label
from affidavit.contracts.first_option import first_option
from affidavit.contracts.harness_readings import (
    HarnessReading,
    InspectChoice,
    KeyAndOptions,
    LawBench,
    LmEvalFlexible,
    NoAnswer,
    OpenCompassFirstOption,
    SimpleEvals,
    _last_match,
    harness_readings_of,
)
from affidavit.contracts.mcqa import MultipleChoice, mcqa
from affidavit.contracts.punctuation import without_punctuation
from support.harness_readings import LENSES, WITH, WITHOUT, kept, ours
from support.harness_texts import OPTIONS, PARTS, asked
from support.strategies import any_text, choice_texts, made_of

THEIRS = harness_readings_of(mcqa)
texts = made_of(*PARTS)


@pytest.mark.parametrize("name", LENSES)
def test_what_the_package_read_is_what_we_read(name):
    """Kept from the packages themselves; see interop/test_harness_readings.py."""
    every = kept(name)
    assert len(every) == WITH + WITHOUT
    assert [(each, ours(name, each)) for each, _ in every] == every


def test_their_names_tell_the_version():
    assert [label(lens) for lens in THEIRS] == [
        "inspect-choice-0.3.285/1", "lm-eval-flexible-0.4.13/1", "simple-evals-9e2fafd/1",
        "opencompass-first-option-0.5.4/1", "lawbench-e30981b/1",
    ]  # fmt: skip
    assert all(isinstance(lens, Lens) and lens.source for lens in THEIRS)
    assert [*mcqa.lenient_readings()[-len(THEIRS) :]] == [*THEIRS]


@given(any_text | choice_texts | texts)
def test_any_text_gives_the_same_reading_twice_an_answer_or_why_there_is_none(raw):
    for lens in THEIRS:
        for item in (None, KeyAndOptions("B", ("Rome", "Paris", "a.b", "Guilty of Romance"))):
            reading = lens.read(raw, item)
            assert isinstance(reading, HarnessReading)
            assert reading == lens.read(raw, item)
            assert (reading.extracted_answer is None) == (reading.no_answer is not None)
            assert reading.protocol_compliant == (reading.no_answer is None)
            json.dumps(reading.fields())


@pytest.mark.slow
@given(any_text | texts)
def test_the_pattern_of_simple_evals_is_searched_for_as_it_stands(raw):
    """Ruling M27."""
    found = re.search(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?", raw)
    assert SimpleEvals(mcqa).read(raw).extracted_answer == (found and found[1])


def test_a_small_letter_is_an_answer_of_simple_evals_that_equals_no_key():
    lens = SimpleEvals(mcqa)
    assert lens.validate(lens.read("answer: b"), AnswerKey("B")).correct is False


@given(any_text | choice_texts | texts)
def test_lawbench_counts_letters_that_occur(raw):
    """Ruling M29."""
    there, reading = {*raw} & {*"ABCD"}, LawBench(mcqa).read(raw)
    assert reading.extracted_answer == (there.pop() if len(there) == 1 else None)
    assert (reading.no_answer is NoAnswer.NOTHING_FOUND) == ({*raw}.isdisjoint("ABCD"))


def test_lawbench_gives_the_published_figures(public_data):
    """Ruling M29: score and abstention rate of three models, to the last digit."""
    folder, lens = public_data / "logs" / "opencompass", LawBench(mcqa)
    header, *lines = (folder / "results.csv").read_text().splitlines()
    assert (header, len(lines)) == ("task,model_name,score,abstention_rate", 3)
    for task, model, score, abstention in (line.split(",") for line in lines):
        outputs = json.loads((folder / model / f"{task}.json").read_text()).values()
        readings = [lens.read(each["prediction"]) for each in outputs]
        keys = [AnswerKey(each["refr"].removeprefix("正确答案：")[0]) for each in outputs]
        verdicts = map(lens.validate, readings, keys)
        right = sum(verdict is not None and verdict.correct for verdict in verdicts)
        abstained = sum(reading.no_answer is NoAnswer.NOTHING_FOUND for reading in readings)
        assert right / len(readings) == float(score)
        assert abstained / len(readings) == float(abstention)


# --- items ---


def test_the_options_reach_the_reading_that_needs_them():
    """Ruling M26."""
    lens, texts = LmEvalFlexible(mcqa), ["Rome", "Paris", "Oslo", "Bern"]
    item = lens.item({"answer": "B", "options": texts}, where="here")
    assert item == KeyAndOptions("B", ("Rome", "Paris", "Oslo", "Bern"))
    assert lens.knows_enough(item)
    assert lens.validate(lens.read("It is Paris", item), item).correct
    assert lens.params == {"options": "A-D", "unicode": unicodedata.unidata_version}


@pytest.mark.parametrize(
    "options",
    [None, [], ["a", "b", "c"], ["a", "b", "c", 4], ["a"] * 5, "abcd", {"A": "x"}, ["a", "b", "c", None]],
)
def test_options_that_do_not_fit_are_unknown(options):
    lens = LmEvalFlexible(mcqa)
    item = lens.item({"answer": "B", "options": options}, where="here")
    assert item == KeyAndOptions("B", None)
    assert not lens.knows_enough(item)
    assert lens.read("(B)", item).no_answer is NoAnswer.OPTIONS_UNKNOWN
    assert not lens.knows_enough(None)


def test_other_readings_need_no_options():
    assert [lens.name for lens in mcqa.lenient_readings() if not lens.knows_enough(AnswerKey("B"))] == [
        "lm-eval-flexible-0.4.13"
    ]


@pytest.mark.parametrize("lens", mcqa.lenient_readings(), ids=label)
def test_every_other_reading_shows_what_it_reads_and_what_not(lens):
    item = KeyAndOptions("B", ("Rome", "Paris", "Oslo", "Bern"))
    assert lens.read(lens.passing, item).extracted_answer == "B"
    assert lens.read(lens.failing, item).extracted_answer is None
    assert lens.summary.endswith(".")
    assert re.match(r"M\d+", lens.rulings)


def test_fields_are_told_beforehand():
    for lens in THEIRS:
        assert {*lens.fields_added({})} == {*lens.read("", None).fields()}
        assert "correct" in lens.fields_added({"answer": "B"})


# --- the parts that they are made of ---


def literal_first_option(text: str, letters: str) -> str | None:
    """The steps whose search is another in our code than in the source, one by one as the source has them."""
    one = f"[{letters}]"
    for pattern in (
        r"答案是\s?(\S+)(?:。|$)", r"答案应该是\s?(\S+)(?:。|$)", r"答案为\s?(\S+)(?:。|$)",
        f"[Tt]he correct answer is:?.*?boxed{{({one})}}", rf"(\s|^){one}[\s。，,：:\.$]", r"1.\s?(.*?)$",
        rf"1.\s?({one})[.。$]?$", f"({one}):", f"({one})",
    ):  # fmt: skip
        if (match := re.search(pattern, text.strip(), re.DOTALL)) is not None:
            captured = match[1] or match[0]
            for letter in letters:
                if letter in captured:
                    return letter
    return None


@pytest.mark.slow
def test_first_options_are_found_as_by_the_patterns_themselves():
    """Ruling M28: texts that have nothing for the other patterns."""
    pieces = (
        "答案应该是",
        "答案为x",
        "The correct answer is",
        "boxed{B}",
        "boxed{D}",
        "。",
        "x",
        "A",
        "C",
        "1",
        "\n",
        " x ",
        "D:",
    )
    for number in range(20_000):
        drawn, left = [], number * 7919 + 13
        while left:
            left, place = divmod(left, len(pieces))
            drawn.append(pieces[place])
        text = "x".join((*drawn, "x"))
        if not re.search(r"答案[是为]?\s*[ABCD]|答案应该?是\s*[ABCD]|[Tt]he correct answer is\s+[ABCD]", text):
            assert first_option(text, "ABCD") == literal_first_option(text, "ABCD"), text


@given(
    st.lists(st.text("ab .", min_size=1, max_size=9), min_size=1, max_size=5, unique=True),
    st.text("abx .", max_size=200) | st.text("ab", min_size=60, max_size=200),
)
def test_the_last_option_in_a_text_is_the_last_match_of_all_of_them(texts, plain):
    """Ruling M26: also where options overlap, or begin at every place."""
    longest_first = sorted(texts, key=lambda text: len(re.escape(text)), reverse=True)
    matches = re.findall("|".join(map(re.escape, longest_first)), plain)
    there = tuple(text for text in texts if text in plain)
    assert ([_last_match(there, plain)] if there else []) == matches[-1:]


@pytest.mark.slow
def test_punctuation_is_what_unicode_says_it_is():
    every = "".join(map(chr, range(0x20000)))
    left = without_punctuation(every)
    assert left == "".join(each for each in every if unicodedata.category(each)[0] != "P")
    assert without_punctuation("\ud800<$>") == "\ud800<$>"


@pytest.mark.parametrize("lens", [InspectChoice, LmEvalFlexible, OpenCompassFirstOption, SimpleEvals, LawBench])
def test_larger_sets_have_more_letters(lens):
    raw = "answer: E"
    item = KeyAndOptions(None, ("one", "two", "six", "ten", "all"))
    assert lens(MultipleChoice("A-E")).read(raw, item).extracted_answer == "E"
    assert lens(mcqa).read(raw, KeyAndOptions(None, ("one", "two", "six", "ten"))).extracted_answer != "E"


def test_drawn_texts_are_drawn_again_alike():
    assert asked(50) == asked(50)
    assert {*OPTIONS} >= {option for each in asked(50) for option in each.options}


def test_the_packages_are_named_by_the_versions_that_the_names_tell():
    folder = Path(__file__).parents[1] / "interop"
    packages = {"inspect": ("inspect_ai", InspectChoice(mcqa)), "lm_eval": ("lm_eval", LmEvalFlexible(mcqa))}
    for name, (package, lens) in packages.items():
        (version,) = re.findall(rf"^{package}(?:\[.*\])?==(\S+)", (folder / f"{name}.txt").read_text(), re.M)
        assert lens.name.endswith(f"-{version}")
        assert version in lens.source
