"""What holds for every text: totality, determinism, and that whatever is found is really there."""

import ast
import re
import unicodedata
from fractions import Fraction
from itertools import islice, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit import (
    Asked,
    Hand,
    LabelSet,
    MultipleChoice,
    Number,
    ReasonedChoice,
    game24,
    judge,
    locate,
    mcqa,
    mcqa_reasoned,
    number,
    text,
)
from affidavit.contracts.choice_readings import lenient_readings_of
from affidavit.contracts.expression import Expression, parse, solve
from affidavit.contracts.game24 import Method
from affidavit.contracts.mcqa import BASE_INSTRUCTION
from affidavit.contracts.mcqa_reasoned import REASONED_INSTRUCTION
from affidavit.contracts.quotes import _LONG, MatchKind, _Normalised
from support.strategies import (
    WHITESPACE,
    any_text,
    blanks,
    choice_texts,
    game_texts,
    label_texts,
    made_of,
    number_texts,
    quote_texts,
)

HAND = Hand((4, 9, 10, 13))
MARKED = Number(marker="####", unit="$")
LABELS = LabelSet(["a", "b", "a b", "A"], none="none")
TEXTS = st.one_of(any_text, choice_texts, game_texts, label_texts, number_texts, quote_texts)


# --- every contract ---


@pytest.mark.slow
@given(TEXTS)
def test_any_text_gives_the_same_reading_twice(raw):
    """Rulings C3, C4: total and deterministic."""
    for contract, item in (
        (mcqa, None), *((lens, None) for lens in mcqa.lenient_readings()), (mcqa_reasoned, None), (game24, None), (game24, HAND), (text, None),
        (judge, None), (judge, Asked(judged_output=raw)), (number, None), (MARKED, None), (LABELS, None),
    ):  # fmt: skip
        first, second = contract.read(raw, item), contract.read(raw, item)
        assert first == second
        assert isinstance(first.protocol_compliant, bool)
        assert first.fields() == second.fields()


# --- mcqa ---


@given(choice_texts, blanks, blanks)
def test_compliance_is_blind_to_outer_whitespace_and_to_nothing_else(raw, before, after):
    """Rulings M1, M2: trimming changes no reading; a compliant text is the tag once trimmed."""
    reading = mcqa.read(raw)
    assert mcqa.read(before + raw + after) == reading
    assert mcqa.read(raw.strip()) == reading
    assert reading.protocol_compliant == (re.fullmatch("<answer>[A-D]</answer>", raw.strip()) is not None)


@given(st.sampled_from("ABCD"), st.characters(), st.booleans())
def test_one_more_character_breaks_compliance_unless_it_is_whitespace(letter, extra, before):
    raw = f"<answer>{letter}</answer>"
    raw = extra + raw if before else raw + extra
    assert mcqa.read(raw).protocol_compliant == extra.isspace()


@given(choice_texts)
def test_an_answer_or_a_deviation_but_never_both(raw):
    reading = mcqa.read(raw)
    assert (reading.extracted_answer is None) == (reading.deviation is not None)
    assert reading.protocol_compliant == (reading.deviation is None)


@given(choice_texts)
def test_lenses_agree_with_every_compliant_output_and_point_at_their_letter(raw):
    """Ruling M5: a lens is more lenient, never different; other harnesses are (ruling M24)."""
    strict = mcqa.read(raw)
    for lens in lenient_readings_of(mcqa):
        reading = lens.read(raw)
        if strict.protocol_compliant:
            assert reading.extracted_answer == strict.extracted_answer
        if reading.answer_span is not None:
            assert raw[slice(*reading.answer_span)] == reading.extracted_answer


def blocks(raw: str, *, ignore_case: bool = False) -> list[str]:
    """The contents of all blocks, straight from their definition in ruling M4, in quadratic time."""
    flags = re.IGNORECASE | re.ASCII if ignore_case else 0
    tags = list(re.finditer("</?answer>", raw, flags))
    return [
        raw[one.end() : two.start()]
        for one, two in pairwise(tags)
        if not one[0].startswith("</") and two[0].startswith("</")
    ]


@given(choice_texts)
def test_the_diagnosis_follows_the_closed_list(raw):
    """Ruling M4, its blocks found by their definition instead of by the contract's patterns."""
    held, loose, letters = blocks(raw), blocks(raw, ignore_case=True), set("ABCD")
    good = [content for content in held if content in letters]
    trimmed = raw.strip()
    after_think = raw.rpartition("</think>")[2].strip()
    capitals = {chr(code) for code in range(ord("A"), ord("Z") + 1)}
    applies = {
        "empty": not trimmed,
        "reasoning_then_answer": "</think>" in raw and re.fullmatch("<answer>[A-D]</answer>", after_think),
        "text_around": len(good) == 1,
        "conflicting_answers": len(good) > 1 and len(set(good)) > 1,
        "repeated_answer": len(good) > 1,
        "placeholder": "X" in held,
        "option_out_of_set": any(content in capitals - letters for content in held),
        "inner_whitespace": any(
            content != content.strip() and content.strip() in {*"ABCDabcd"} for content in held
        ),
        "wrong_case": any(content in {*"ABCDabcd"} for content in loose),
        "answer_not_a_letter": bool(held),
        "unclosed_tag": "<answer>" in raw,
        "unopened_tag": "</answer>" in raw,
        "bare_letter": re.fullmatch(r"[A-D][.)]?|\([A-D]\)|(\*+)[A-D]\1|`[A-D]`", trimmed),
        "option_text": re.match(r"[A-D][.):]", trimmed),
        "no_tag": True,
    }
    expected = next(name for name, holds in applies.items() if holds)
    assert mcqa.read(raw).deviation == (None if mcqa.read(raw).protocol_compliant else expected)


@given(st.sampled_from("BCDEFGHIJKLMNOPQRSTUVW"), st.characters(codec="ascii"))
def test_the_option_set_decides_which_letters_comply(last, letter):
    """Ruling M3."""
    reading = MultipleChoice(f"A-{last}").read(f"<answer>{letter}</answer>")
    assert reading.protocol_compliant == ("A" <= letter <= last)


@pytest.mark.slow
def test_whitespace_is_what_python_strips():
    """Ruling M1: 29 code points, no more."""
    assert [character for character in map(chr, range(0x110000)) if not character.strip()] == WHITESPACE
    for character in WHITESPACE:
        assert mcqa.read(f"{character}<answer>A</answer>{character}").extracted_answer == "A"


@given(any_text)
def test_the_base_instruction_is_invariant(question):
    assert mcqa.instruction(question) == MultipleChoice("A-J").instruction() == BASE_INSTRUCTION


# --- mcqa-reasoned ---

reasoned_texts = made_of(
    "<answer>", "</answer>", "<ANSWER>", "<answer>A</answer>", "<answer>B</answer>", "<answer>B</answer>",
    "<answer>X</answer>", "<answer>E</answer>", "<answer> b</answer>", "</think>", "<think>", "A", "b", "X", "(B)", ".",
    "**", " ", "\n", "ſ",
)  # fmt: skip


@pytest.mark.slow
@given(reasoned_texts, blanks, blanks)
def test_after_reasoning_outer_whitespace_moves_the_place_and_nothing_else(raw, before, after):
    """Rulings M1, M9."""
    reading, padded = mcqa_reasoned.read(raw), mcqa_reasoned.read(before + raw + after)
    assert (padded.extracted_answer, padded.deviation) == (reading.extracted_answer, reading.deviation)
    if reading.answer_span is not None:
        assert padded.answer_span == tuple(place + len(before) for place in reading.answer_span)


@given(reasoned_texts)
def test_after_reasoning_there_is_an_answer_with_its_place_or_a_deviation(raw):
    reading = mcqa_reasoned.read(raw)
    assert (reading.extracted_answer is None) == (reading.deviation is not None) == (reading.answer_span is None)
    if reading.answer_span is not None:
        assert raw[slice(*reading.answer_span)] == reading.extracted_answer
        assert raw[reading.answer_span.end :].rstrip() == "</answer>"


@given(reasoned_texts)
def test_whatever_the_strict_contract_reads_is_read_after_reasoning_too(raw):
    """Rulings M2, M9; and the lens of ruling M11 agrees with every compliant output."""
    strict, reading = mcqa.read(raw), mcqa_reasoned.read(raw)
    if strict.protocol_compliant:
        assert reading.extracted_answer == strict.extracted_answer
    last_tag, *_ = mcqa_reasoned.lenient_readings()
    found = last_tag.read(raw)
    if reading.protocol_compliant:
        assert found.extracted_answer == reading.extracted_answer
        assert found.answer_span == reading.answer_span


@pytest.mark.slow
@given(reasoned_texts, reasoned_texts)
def test_what_stands_before_the_last_end_of_reasoning_changes_no_answer(before, raw):
    """Ruling M8."""
    raw = raw.replace("<think>", "").replace("</think>", "")
    alone, after = mcqa_reasoned.read(raw), mcqa_reasoned.read(f"{before}</think>{raw}")
    assert after.extracted_answer == alone.extracted_answer


@given(reasoned_texts)
def test_the_diagnosis_after_reasoning_follows_the_closed_list(raw):
    """Ruling M10, its blocks found by their definition instead of by the contract's patterns."""
    reading, letters = mcqa_reasoned.read(raw), set("ABCD")
    head, _, part = raw.rpartition("</think>")
    good = [content for content in blocks(part) if content in letters]
    ends = any(raw.rstrip().endswith(f"<answer>{letter}</answer>") for letter in letters)
    assert reading.protocol_compliant == (ends and len(set(good)) == 1)
    applies = {
        "empty": not raw.strip(),
        "conflicting_answers": len(set(good)) > 1,
        "text_after": bool(good),
        "answer_in_reasoning": any(content in letters for content in blocks(head)),
        "nothing_after_reasoning": "</think>" in raw and not part.strip(),
    }
    # The later entries are those of the strict list, of a text without a well-formed block.
    expected = next((name for name, holds in applies.items() if holds), None) or mcqa.read(part).deviation
    assert reading.deviation == (None if reading.protocol_compliant else expected)


@pytest.mark.slow
@given(st.sampled_from("BCDEFGHIJKLMNOPQRSTUVW"), st.text(st.characters(exclude_characters="<"), max_size=800))
def test_whatever_the_grammar_after_reasoning_completes_is_compliant(last, reasoning):
    """Ruling M11: at most so many characters other than <, then the block."""
    contract = ReasonedChoice(f"A-{last}")
    assert contract.grammar() == f'root ::= [^<]{{0,800}} "<answer>" [A-{last}] "</answer>"'
    reading = contract.read(f"{reasoning}<answer>{last}</answer>")
    assert (reading.extracted_answer, reading.answer_span.start) == (last, len(reasoning) + len("<answer>"))


@given(any_text)
def test_the_instruction_after_reasoning_is_invariant(question):
    """Ruling M11; it is no answer itself."""
    words = mcqa_reasoned.instruction(question)
    assert words == ReasonedChoice("A-J").instruction() == REASONED_INSTRUCTION
    assert mcqa_reasoned.read(words).deviation == "placeholder"


# --- game24 ---


@given(game_texts, st.sampled_from([None, HAND]))
def test_the_span_points_at_the_candidate(raw, hand):
    reading = game24.read(raw, hand)
    assert (reading.candidate == "") == (reading.extraction_method is Method.EMPTY)
    assert (reading.candidate_span is None) == (reading.extraction_method is Method.EMPTY)
    if reading.candidate_span is not None:
        assert raw[slice(*reading.candidate_span)] == reading.candidate
        assert reading.candidate == reading.candidate.strip()


def clean(line: str, target: int) -> str:
    """Ruling G6, word by word."""
    line = line.strip()
    if line.startswith("Output:") and line[7:].strip():
        line = line[7:].strip()
    cut = re.sub(rf"\s*=\s*{target}\.?\Z", "", line)
    return cut if cut.strip() else line


def plausible(line: str, hand: Hand | None) -> bool:
    """Ruling G5, word by word."""
    expression = parse(line)
    if not isinstance(expression, Expression):
        return False
    if hand is None:
        return expression.has_binary_operator()
    return sorted(re.findall("[0-9]+", line)) == sorted(map(str, hand.numbers))


@pytest.mark.slow
@given(game_texts, st.sampled_from([None, HAND, Hand((9, 4), 13)]))
def test_the_candidate_is_found_as_the_rulings_say(raw, hand):
    """Rulings G1 to G6 by a slow and literal reader."""
    target = 24 if hand is None else hand.target
    method, candidate = Method.EMPTY, ""
    for content in reversed(blocks(raw)):
        if content.strip():
            lines = [line for line in re.split(r"\r\n|\n|\r", content) if line.strip()]
            options = [clean(content, target), *(clean(line, target) for line in reversed(lines))]
            fallback = clean(lines[-1], target)
            found = (each for each in options if plausible(each, hand))
            method = Method.ANSWER_BLOCK
            candidate = clean(lines[0], target) if len(lines) == 1 else next(found, fallback)
            break
    lines = [line.strip() for line in re.split(r"\r\n|\n|\r", raw)]
    if method is Method.EMPTY:
        marked = [line for line in lines if line.startswith("Output:") and line[7:].strip()]
        if marked:
            method, candidate = Method.OUTPUT_LINE, clean(marked[-1], target)
    if method is Method.EMPTY:
        for line in reversed(lines):
            if plausible(clean(line, target), hand):
                method, candidate = Method.FALLBACK_BOTTOM_SCAN, clean(line, target)
                break
    reading = game24.read(raw, hand)
    assert (reading.extraction_method, reading.candidate) == (method, candidate)


numbers = st.integers(0, 30).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.builds("{}{}{}".format, inner, st.sampled_from("+-*/"), inner),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=12,
)


@given(expressions)
def test_expressions_have_their_exact_value(written):
    """Ruling G7, against Python's own grammar over rationals."""
    exact = re.sub("([0-9]+)", r"Fraction(\1)", written)
    try:
        expected = eval(exact, {"Fraction": Fraction})  # noqa: S307 - the text is made of digits and operators
    except ZeroDivisionError:
        with pytest.raises(ZeroDivisionError):
            parse(written).value()
    else:
        assert parse(written).value() == expected


@given(st.text(alphabet="0123456789()+-*/ \t\n", max_size=30))
def test_the_grammar_admits_no_more_than_pythons(written):
    """Whatever we admit, Python's parser admits as well, once line breaks are blanks."""
    if isinstance(parse(written), Expression):
        ast.parse(written.replace("\n", " ").strip(), mode="eval")


@pytest.mark.slow
@given(st.lists(st.integers(0, 13), min_size=1, max_size=4), st.integers(-5, 40))
def test_what_the_solver_finds_is_a_solution(hand, target):
    solution = solve(hand, target)
    if solution is not None:
        item = Hand(tuple(hand), target)
        assert game24.validate(game24.read(f"<answer>{solution}</answer>", item), item).reason == "ok"


# --- number ---


def number_line(raw: str, marker: str) -> str | None:
    """Ruling N3, word by word."""
    lines = [line.strip() for line in re.split(r"\r\n|\n|\r", raw)]
    marked = [line for line in lines if line.startswith(marker)]
    return marked[-1][len(marker) :].strip() if marked else None


@pytest.mark.slow
@given(number_texts, st.sampled_from([number, MARKED, Number(marker="Answer:")]))
def test_the_number_is_found_as_the_rulings_say(raw, contract):
    """Rulings N1 to N5 by a slow and literal reader."""
    spoken = raw.split("</think>")[-1]
    held = blocks(spoken)
    line = number_line(spoken, contract.marker) if contract.marker else None
    method = "answer_block" if held else "marker_line" if line is not None else None
    answer = held[-1].strip() if held else line
    reading = contract.read(raw)
    assert reading.extraction_method == method
    digits = r"(?:[0-9]+|[1-9][0-9]?[0-9]?(?:,[0-9][0-9][0-9])+)(?:\.[0-9]+)?"
    unit = r"\$" if contract.unit else "(?!)"
    blank = "[ \u00a0\u202f]?"
    forms = [
        f"[-+]?{digits}",
        f"[-+]?{digits}{blank}{unit}",
        f"[-+]?{unit}{blank}{digits}",
        f"{unit}{blank}[-+]?{digits}",
    ]
    fits = answer is not None and any(re.fullmatch(form, answer) for form in forms)
    assert reading.protocol_compliant == fits
    assert reading.extracted_answer == (answer if fits else None)


@pytest.mark.slow
@given(number_texts, st.sampled_from([number, MARKED]))
def test_a_number_has_its_place_and_a_value_or_else_a_deviation(raw, contract):
    reading = contract.read(raw)
    present = [reading.extracted_answer, reading.answer_span, reading.value]
    assert all(each is None for each in present) if reading.deviation else None not in present
    if reading.answer_span is not None:
        assert raw[slice(*reading.answer_span)] == reading.extracted_answer
        assert Fraction(reading.value) == Fraction(re.sub("[^-+0-9.]", "", reading.extracted_answer))


decimals = st.decimals(allow_nan=False, allow_infinity=False, places=6).map("{:f}".format)


@given(decimals, decimals, st.decimals(0, 10**6, allow_nan=False, places=7).map("{:f}".format))
def test_numbers_are_compared_exactly(one, other, tolerance):
    """Ruling N7, against rational numbers."""
    contract = Number(tolerance=tolerance)
    validation = contract.validate(
        contract.read(f"<answer>{one}</answer>"), contract.item({"answer": other}, where="x")
    )
    assert validation.correct == (abs(Fraction(one) - Fraction(other)) <= Fraction(tolerance))


@given(decimals, st.integers(0, 5), st.booleans())
def test_equal_numbers_have_one_value(written, zeros, plus):
    """Ruling N7: leading zeros, zeros at the end and a plus change nothing."""
    whole, _, fraction = written.lstrip("-").partition(".")
    sign = "-" if written.startswith("-") else "+" if plus else ""
    padded = f"{sign}{'0' * zeros}{whole}.{fraction}{'0' * zeros}"
    one, other = (number.read(f"<answer>{text}</answer>").value for text in (written, padded))
    assert one == other
    assert number.read(f"<answer>{one}</answer>").value == one


# --- labels ---


def said(content: str, contract: LabelSet) -> tuple[frozenset[str] | None, str | None]:
    """Rulings L3 and L4 on the content of a block, word by word: the set, or the diagnosis."""
    entries = [entry.strip() for entry in content.split(",")]
    known = {*contract.known, *([contract.none] if contract.none else [])}

    def is_in_any_case(entry: str) -> bool:
        return any(re.fullmatch(re.escape(each), entry, re.IGNORECASE | re.ASCII) for each in known)

    applies = {
        "empty_set": not content.strip(),
        "empty_label": "" in entries,
        "unknown_label": not all(map(is_in_any_case, entries)),
        "wrong_case": not set(entries) <= known,
        "none_and_labels": contract.none in entries and len(entries) > 1,
        "repeated_label": len(set(entries)) < len(entries),
        "several_labels": contract.single and len(entries) > 1,
    }
    broken = next((name for name, holds in applies.items() if holds), None)
    return (None, broken) if broken else (frozenset(entries) - {contract.none}, None)


@pytest.mark.slow
@given(
    label_texts,
    st.sampled_from([LABELS, LabelSet(["b", "a"]), LabelSet(["a", "b"], single=True), LabelSet(["x"], "a")]),
)
def test_labels_are_read_as_the_rulings_say(raw, contract):
    """Rulings L2 to L4 by a slow and literal reader."""
    text = raw.split("</think>")[-1]
    held, last = blocks(text), re.fullmatch(r"(.*)</answer>([^<]*)(<.*)?", text, re.DOTALL)
    opened = re.search("<answer>(?!.*</answer>)", text, re.DOTALL)
    behind = text.rpartition("<answer>")[2].partition("</answer>")[2]
    applies = {
        "empty": not raw.strip(),
        "only_reasoning": not text.strip(),
        "tag_in_wrong_case": not held and blocks(text, ignore_case=True),
        "unclosed_tag": opened,
        "unopened_tag": not held and last,
        "no_block": not held,
        "text_after": behind.strip(),
    }
    expected, labels = next((name for name, holds in applies.items() if holds), None), None
    if expected is None:
        labels, expected = said(held[-1], contract)
    reading = contract.read(raw)
    assert reading.deviation == expected
    assert (None if reading.extracted_labels is None else frozenset(reading.extracted_labels)) == labels


@given(label_texts)
def test_the_place_of_a_set_of_labels_reads_as_the_set(raw):
    """Ruling L3: what stands at the span is the set, in the model's order; the answer is in the contract's."""
    reading = LABELS.read(raw)
    assert (
        (reading.deviation is None) == (reading.extracted_labels is not None) == (reading.answer_span is not None)
    )
    if reading.answer_span is not None:
        there = raw[slice(*reading.answer_span)]
        assert there == there.strip()
        again = LABELS.read(f"<answer>{there}</answer>")
        assert (again.extracted_labels, again.extracted_answer) == (
            reading.extracted_labels,
            reading.extracted_answer,
        )
        assert (
            LABELS.read(f"<answer>{reading.extracted_answer}</answer>").extracted_labels
            == reading.extracted_labels
        )
        assert [each for each in LABELS.known if each in reading.extracted_labels] == list(
            reading.extracted_labels
        )


# --- evidence ---


@pytest.mark.slow
@given(quote_texts, quote_texts, quote_texts)
def test_a_quote_that_is_there_is_found_exactly_at_its_first_place(before, quote, after):
    location = locate(quote, before + quote + after)
    if quote.strip():
        assert location.kind is MatchKind.EXACT
        assert location.span.start == (before + quote + after).find(quote)
        assert (before + quote + after)[slice(*location.span)] == quote


def normal(text: str) -> str:
    """Ruling J6's normal form of a text that has no long run of marks."""
    table = {**dict.fromkeys(range(0x2018, 0x201C), "'"), **dict.fromkeys(range(0x201C, 0x2020), '"')}
    table |= dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-")
    return "".join(unicodedata.normalize("NFKC", text).translate(table).split())


@pytest.mark.slow
@given(quote_texts, quote_texts)
def test_what_is_found_is_really_there(quote, searched):
    location = locate(quote, searched)
    wanted = normal(quote)
    if len(wanted) >= 2 and wanted[0] == wanted[-1] and wanted[0] in "'\"":
        wanted = wanted[1:-1]
    if location.kind is MatchKind.ABSENT:
        assert quote not in searched or not quote.strip()
        assert not wanted or wanted not in normal(searched)
        return
    stretch = normal(searched[slice(*location.span)])
    if location.kind is MatchKind.NORMALISED:
        assert wanted in stretch
    elif location.kind is MatchKind.ELIDED:
        place = 0
        for piece in re.split(r"\[\.{3,}\]|\(\.{3,}\)|\.{3,}", wanted):
            place = stretch.index(piece, place) + len(piece)


@given(
    st.lists(st.sampled_from([*"ae\u0301\u0323\u0327", "한", "\u1161", "\u11a8", "\uffc2", "ﷺ", " "]), max_size=40)
)
def test_normalising_in_pieces_is_normalising_the_whole(characters):
    text = "".join(characters)
    if re.search("[\u0301\u0323\u0327]{33}", text) is None:
        assert _Normalised(text).text == normal(text)


@pytest.mark.slow
def test_a_million_combining_marks_are_read_in_time():
    """Ruling C4: one normalisation of such a run would take minutes."""
    marks = "".join(islice((mark for _ in range(500_000) for mark in ("\u0301", "\u0327")), 1_000_000))
    assert locate("not there at all", "x" + marks).kind is MatchKind.ABSENT
    assert locate("x" + marks[:40], "y\u00a0x" + marks).kind is MatchKind.EXACT


@pytest.mark.slow
@given(quote_texts, quote_texts | st.sampled_from(['""', "''", "...", '"..."', "“”"]))
def test_a_quote_is_found_in_a_long_text_as_in_a_short_one(searched, quote):
    """Ruling J6: a long text is searched in another order, and a quote is found in the same way and place."""
    filler = "\u0416" * _LONG  # which no quote has, and nothing attaches to
    assert locate(quote, f"{searched}{filler}") == locate(quote, f"{searched}\u0416")
    plain = searched.encode("ascii", "ignore").decode()
    assert locate(quote, f"{plain}{'~' * _LONG}") == locate(quote, f"{plain}~")


few = st.lists(st.sampled_from(["a", "a", "b", " ", "  ", '"', "“", "”", "...", "…", "é"]), max_size=24).map(
    "".join
)
"""Texts of which one holds another many times, now word for word and now only normalised."""


@pytest.mark.slow
@given(few, few)
@example("“a b”a b", '"a b"')
@example("a  ba b", "a b")
@example("a  ba  b", " a b")
@example("a b...a b", "a b...")
def test_of_many_places_in_a_long_text_the_one_of_the_short_text_is_found(searched, quote):
    """Ruling J6: the first exact place, however many normalised ones stand before it."""
    assert locate(quote, f"{searched}{'~' * _LONG}") == locate(quote, f"{searched}~")
    assert locate(quote, f"{searched}{'Ж' * _LONG}") == locate(quote, f"{searched}Ж")


def test_a_pair_of_quote_marks_alone_is_found_exactly_or_not_at_all():
    for filler in ("~", "~" * _LONG, "\u0416" * _LONG):
        assert locate('""', f'so ""{filler}').kind is MatchKind.EXACT
        assert locate('""', f'so " "{filler}').kind is MatchKind.ABSENT


@pytest.mark.parametrize("size", [100, 5_000, 60_000])
def test_the_place_of_a_quote_is_that_of_its_letters_however_long_the_text(size):
    """Ruling J6: the way back from the normalised text."""
    for letters in ("Ab cd ", "ﬁn é “a” — ", "e\u0301 \u1112\u1161\u11ab "):
        text = letters * (size // len(letters)) + "the  one\nplace " + letters * 40
        start = text.index("the  one")
        assert locate("the one place", text).span == (start, start + len("the  one\nplace"))
