"""A log read a second time: everything is counted once, and what moved is told by its kind."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.number import number
from affidavit.errors import InputError, UsageError
from affidavit.exchange.log import Grader, Log, PrintedScore
from affidavit.exchange.log_source import LogSource, sources_of
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.reading.output_columns import Role
from affidavit.running.second_reading import (
    MOST_KEPT,
    MOST_TEXT,
    Move,
    OwnVerdict,
    SecondReading,
    SourceVerdict,
    audit_terms,
    second_readings,
)

RIGHT, WRONG, BARE = "<answer>B</answer>", "<answer>C</answer>", "B. Paris"


def word(correct: bool | None, scorer: str = "match", **more) -> SourceWord:
    return SourceWord(scorer=scorer, correct=correct, points=None if correct is None else float(correct), **more)


def output(
    text: str | None, *words: SourceWord, item: str = "q1", answer: str | None = "B", **more
) -> LoggedOutput:
    return LoggedOutput(place=more.pop("place", "line 1"), item_id=item, model="m", raw_output=text, answer=answer, words=words, **more)  # fmt: skip


def source(outputs: Sequence[LoggedOutput], **more) -> LogSource:
    log = Log(path=Path("a.jsonl"), format="made up", task="quiz", outputs=lambda: iter(outputs), **more)
    return sources_of([log])[0]


def read(outputs: Sequence[LoggedOutput], **terms) -> SecondReading:
    (reading,) = second_readings(source(outputs), audit_terms(mcqa, **terms))
    return reading


@pytest.mark.parametrize(
    ("text", "said", "place", "move"),
    [
        (RIGHT, True, (SourceVerdict.RIGHT, OwnVerdict.RIGHT), None),
        (RIGHT, False, (SourceVerdict.WRONG, OwnVerdict.RIGHT), Move.WRONG_TO_RIGHT),
        (RIGHT, None, (SourceVerdict.NONE, OwnVerdict.RIGHT), None),
        (WRONG, True, (SourceVerdict.RIGHT, OwnVerdict.WRONG), Move.RIGHT_TO_WRONG),
        (WRONG, False, (SourceVerdict.WRONG, OwnVerdict.WRONG), None),
        (BARE, True, (SourceVerdict.RIGHT, OwnVerdict.NON_COMPLIANT), Move.RIGHT_TO_NON_COMPLIANT),
        (BARE, False, (SourceVerdict.WRONG, OwnVerdict.NON_COMPLIANT), None),
        ("", True, (SourceVerdict.RIGHT, OwnVerdict.NON_COMPLIANT), Move.RIGHT_TO_NON_COMPLIANT),
        (None, False, (SourceVerdict.WRONG, OwnVerdict.NO_OUTPUT), Move.NOTHING_SCORED_WRONG),
        (None, None, (SourceVerdict.NONE, OwnVerdict.NO_OUTPUT), None),
    ],
)
def test_each_output_has_one_place_in_the_four_way_table(text, said, place, move):
    reading = read([output(text, word(said))])
    assert reading.table == Counter([place])
    assert reading.moves == (Counter([move]) if move else Counter())
    assert [row.move for row in reading.moved_rows()] == ([move] if move else [])


def test_without_a_right_answer_a_compliant_output_is_neither():
    assert read([output(RIGHT, word(True), answer=None)]).table == Counter(
        [(SourceVerdict.RIGHT, OwnVerdict.UNKNOWN)]
    )


def test_what_had_no_answer_is_counted_by_kind_and_what_of_it_was_scored_as_wrong():
    outputs = [
        output(None, word(False), no_answer=NoAnswer.ERROR),
        output(None, word(None), no_answer=NoAnswer.LIMIT),
        output(RIGHT, word(False, no_answer=NoAnswer.SENTINEL)),
        output(BARE, word(True)),
    ]
    reading = read(outputs)
    assert reading.no_answer == Counter([NoAnswer.ERROR, NoAnswer.LIMIT, NoAnswer.SENTINEL])
    assert +reading.scored_wrong == Counter([NoAnswer.ERROR, NoAnswer.SENTINEL])


def test_only_what_both_judged_is_paired():
    rows = [output(RIGHT, word(True)), output(WRONG, word(None)), output(RIGHT, word(False), answer=None)]
    (counts,) = read(rows).items.values()
    assert (counts.both, counts.both_source, counts.both_own) == (1, 1, 1)
    assert (counts.verdicts, counts.known, counts.arrived) == (2, 2, 3)


def test_long_texts_of_moved_rows_are_kept_up_to_a_limit_and_all_are_counted():
    long = "x" * (MOST_TEXT // 2)
    texts = [long, long, BARE, "", long]
    reading = read([output(text, word(True)) for text in texts])
    assert reading.moves.total() == 5
    assert [row.raw_output for row in reading.moved_rows()] == [long, long, ""]


def test_texts_that_are_not_verbatim_are_counted():
    assert read([output(RIGHT, word(True)), output(BARE, word(True), verbatim=False)]).not_verbatim == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from([RIGHT, WRONG, BARE, "", None]),
            st.sampled_from([True, False, None]),
        ),
        min_size=1,
    )
)
def test_counts_are_those_of_a_literal_count(rows):
    reading = read([output(text, word(said), item=item) for item, text, said in rows])
    assert reading.outputs == len(rows) == sum(each.outputs for each in reading.items.values())
    for item, counts in reading.items.items():
        own = [(text, said) for each, text, said in rows if each == item]
        assert counts.outputs == len(own)
        assert counts.arrived == counts.known == sum(text is not None for text, _ in own)
        assert counts.compliant == counts.answers == sum(text in (RIGHT, WRONG) for text, _ in own)
        assert counts.right == sum(text == RIGHT for text, _ in own)
        assert (counts.verdicts, counts.source_right) == (
            sum(s is not None for _, s in own),
            sum(s is True for _, s in own),
        )
        assert counts.both_source == sum(said is True and text is not None for text, said in own)
        assert counts.both_own == sum(text == RIGHT and said is not None for text, said in own)


def test_many_rows_that_moved_are_counted_and_some_are_kept():
    reading = read([output(BARE, word(True), place=f"line {n}", item=str(n)) for n in range(MOST_KEPT + 5)])
    assert reading.moves[Move.RIGHT_TO_NON_COMPLIANT] == MOST_KEPT + 5
    assert [row.place for row in reading.moved_rows()] == [f"line {n}" for n in range(MOST_KEPT)]


def test_whose_word_stands_for_the_source_may_be_named_and_is_otherwise_told():
    outputs = [output(RIGHT, word(True, "strict"), word(False, "loose"))]
    assert (read(outputs).scorer, read(outputs).other_scorers) == ("strict", ("loose",))
    chosen = read(outputs, scorer="loose")
    assert (chosen.scorer, chosen.other_scorers) == ("loose", ("strict",))
    assert chosen.moves == Counter([Move.WRONG_TO_RIGHT])
    with pytest.raises(UsageError, match=r"--scorer: expected a scorer of a\.jsonl: \"strict\", \"loose\""):
        read(outputs, scorer="losse")


def test_the_score_that_was_printed_first_tells_whose_word_it_is_and_is_made_again():
    outputs = [
        output(RIGHT, word(True, "a"), word(True, "b")),
        output(WRONG, word(True, "a"), word(False, "b"), item="q2"),
    ]
    printed = [PrintedScore(scorer="b", metric="mean", value=0.5, recount=mean_of_items("b"))]
    (reading,) = second_readings(source(outputs, printed=printed, planned=7), audit_terms(mcqa))
    assert (reading.scorer, reading.printed, reading.recomputed, reading.planned) == ("b", printed[0], 0.5, 7)


def test_the_models_of_one_log_are_read_apart():
    outputs = [output(RIGHT, word(True)), LoggedOutput(place="line 2", item_id="q1", model="n", raw_output=BARE)]
    first, second = second_readings(source(outputs, graders=(Grader("n"),)), audit_terms(mcqa))
    assert (first.model, first.is_self_graded, second.model, second.is_self_graded) == ("m", False, "n", True)
    assert (first.outputs, second.outputs) == (1, 1)


@pytest.mark.parametrize("name", ["lawbench", "lawbench-e30981b", "lawbench-e30981b/1"])
def test_a_rule_of_a_harness_stands_for_the_source_where_it_gave_no_verdict(name):
    outputs = [
        output("[正确答案]B<eoa>"),
        output("B or C", item="q2"),
        output(None, item="q3"),
        output(WRONG, item="q4"),
    ]
    reading = read(outputs, source_rule=name)
    assert reading.scorer == "lawbench-e30981b/1"
    assert reading.table == Counter(
        [
            (SourceVerdict.RIGHT, OwnVerdict.NON_COMPLIANT),
            (SourceVerdict.WRONG, OwnVerdict.NON_COMPLIANT),
            (SourceVerdict.NONE, OwnVerdict.NO_OUTPUT),
            (SourceVerdict.WRONG, OwnVerdict.WRONG),
        ]
    )


def test_a_rule_that_there_is_not_is_refused_with_those_that_there_are():
    with pytest.raises(
        UsageError, match=r"--source-rule: expected one of mcqa-after-think/1, .*lawbench-e30981b/1, found 'law'"
    ):
        audit_terms(mcqa, source_rule="law")


def test_right_answers_may_stand_within_a_sentence():
    outputs = [output(RIGHT, word(True), answer="正确答案：B。"), output(RIGHT, word(True), answer=None)]
    reading = read(outputs, answer_pattern="正确答案：(?P<answer>[A-D])。")
    assert reading.table == Counter(
        [(SourceVerdict.RIGHT, OwnVerdict.RIGHT), (SourceVerdict.RIGHT, OwnVerdict.UNKNOWN)]
    )
    with pytest.raises(
        InputError, match=r'a\.jsonl: line 1: expected a right answer that --answer-pattern .*found "B"'
    ):
        read([output(RIGHT, answer="B")], answer_pattern="正确答案：(?P<answer>[A-D])。")


def test_a_right_answer_that_no_output_could_give_is_refused_with_its_place():
    with pytest.raises(InputError, match=r"a\.jsonl: line 1: .*'answer'"):
        read([output(RIGHT, answer="Paris")])


def test_blanks_around_a_right_answer_decide_nothing():
    """Outputs are read without those around them: the key " B" would be nobody's answer (ruling I5)."""
    reading = read([output(RIGHT, word(True), answer=" B\n")])
    assert reading.table == Counter([(SourceVerdict.RIGHT, OwnVerdict.RIGHT)])
    row = output(RIGHT, answer=" B\n").row(log="a", task="t")
    assert (row["answer"], row["source_right_answer"]) == ("B", " B\n")
    assert "source_right_answer" not in output(RIGHT).row(log="a", task="t")


def test_what_a_rule_cannot_read_is_left_out_and_several_letters_are_an_answer():
    """Ruling M24: a rule that needs the options' texts has no figure of rows without them."""
    unreadable = read([output("The answer is (B)."), output(WRONG, item="q2")], source_rule="lm-eval-flexible")
    assert (unreadable.verdicts, unreadable.no_answer) == (0, Counter())
    several = read([output("B or C"), output("no idea", item="q2")], source_rule="lawbench")
    assert several.verdicts == 2
    assert several.no_answer == several.scored_wrong == Counter([NoAnswer.SENTINEL])
    assert several.by_rule


@pytest.mark.parametrize("points", [0.0, 0.25, None])
def test_what_counts_nothing_is_scored_as_wrong_whatever_it_is_called(points):
    said = SourceWord(scorer="match", points=points, no_answer=NoAnswer.SENTINEL)
    reading = read([output(BARE, said)])
    assert (reading.no_answer[NoAnswer.SENTINEL], reading.scored_wrong[NoAnswer.SENTINEL]) == (1, points == 0)


def test_a_word_about_an_item_is_counted_once():
    said = SourceWord(scorer="match", points=0.0, no_answer=NoAnswer.SENTINEL, about_item=True)
    outputs = [output(BARE, said, item=item, sample=sample) for item in ("q1", "q2") for sample in range(3)]
    reading = read(outputs)
    assert reading.no_answer == reading.scored_wrong == Counter({NoAnswer.SENTINEL: 2})


def test_each_output_that_is_not_there_is_counted_whatever_a_word_is_about():
    said = SourceWord(scorer="match", points=0.0, about_item=True)
    gone = [
        output(None, said, item=item, sample=sample, no_answer=NoAnswer.MISSING)
        for item in ("q1", "q2") for sample in (1, 2)
    ]  # fmt: skip
    reading = read([output(BARE, said), *gone])
    assert reading.no_answer == Counter({NoAnswer.MISSING: 4})
    assert reading.scored_wrong == Counter({NoAnswer.MISSING: 1}), "the score of q1 is also that of a text"


def test_what_never_arrived_and_what_is_unread_move_no_score():
    """Rulings C1 and C8: an outage leaves all scores where they were."""
    gone = [output(None, word(True), item="q1"), output(None, word(False), item="q2")]
    reading = read([*gone, output(RIGHT, word(True), item="q3")])
    assert sum(each.both for each in reading.items.values()) == 1
    assert reading.moves == Counter([Move.NOTHING_SCORED_WRONG, Move.NOTHING_SCORED_RIGHT])


def test_a_figure_of_several_models_together_is_nobodys():
    def printed(model: str | None) -> PrintedScore:
        return PrintedScore(scorer="match", metric="mean", value=1.0, model=model)

    outputs = [output(RIGHT, word(True)), LoggedOutput(place="line 2", item_id="q1", model="n", raw_output=BARE, words=[word(True)])]  # fmt: skip
    both = second_readings(source(outputs, printed=[printed(None), printed("n")]), audit_terms(mcqa))
    assert [each.printed and each.printed.model for each in both] == [None, "n"]
    (alone,) = second_readings(source(outputs[:1], printed=[printed(None)]), audit_terms(mcqa))
    assert alone.printed is not None


def test_a_column_of_right_answers_that_is_not_there_is_refused():
    with pytest.raises(
        InputError, match=r"right answers in 'anser', which --answer names, found the columns .*answer"
    ):
        read([output(RIGHT, word(True))], columns={Role.ANSWER: "anser"})


def test_other_texts_are_counted_and_not_read():
    reading = read([output(RIGHT, word(True), other_texts={"choices[1]": WRONG}), output(RIGHT, item="q2")])
    assert (reading.other_texts, reading.outputs, reading.table[SourceVerdict.RIGHT, OwnVerdict.RIGHT]) == (
        1,
        2,
        1,
    )


def calls_of(models: int) -> int:
    """How many calls it takes to read a log of so many models."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    outputs = [replace(output(RIGHT, word(True)), model=f"m{number}") for number in range(models)]
    given, terms = source(outputs), audit_terms(mcqa)
    sys.setprofile(count)
    try:
        second_readings(given, terms)
    finally:
        sys.setprofile(None)
    return calls


def test_models_take_calls_in_proportion_to_their_number():
    few, many = calls_of(50), calls_of(400)
    assert many <= 8.2 * few


def test_a_grader_is_of_its_scorer():
    """Who gave other words than those that stand for the source did not grade (ruling I5)."""
    graders = (Grader("m", "prose"), Grader("other", "match"), Grader("any"))
    (reading,) = second_readings(source([output(RIGHT, word(True))], graders=graders), audit_terms(mcqa))
    assert (reading.graded_by, reading.is_self_graded) == (("other", "any"), False)
    (reading,) = second_readings(source([output(RIGHT, word(True, "prose"))], graders=graders), audit_terms(mcqa))
    assert (reading.graded_by, reading.is_self_graded) == (("m", "any"), True)


@pytest.mark.parametrize(("said", "scored_wrong"), [(False, 1), (True, 0), (None, 0)])
def test_an_error_beside_a_text_is_told(said, scored_wrong):
    """Ruling I3: what was scored after an error is the first thing to know, also if some text had come."""
    reading = read([output(RIGHT, word(said), error="boom")])
    assert (reading.no_answer[NoAnswer.ERROR], reading.scored_wrong[NoAnswer.ERROR]) == (1, scored_wrong)


def test_a_rule_that_meets_other_answers_says_what_it_reads():
    numbers = [LoggedOutput(place="line 1", item_id="q1", model="m", raw_output="#### 12", answer="12")]
    with pytest.raises(InputError, match="expected a letter") as refused:
        second_readings(source(numbers), audit_terms(number, source_rule="lawbench"))
    assert "reads multiple choice only" in refused.value.hint
    with pytest.raises(UsageError, match="All of them read multiple choice only"):
        audit_terms(mcqa, source_rule="none")
