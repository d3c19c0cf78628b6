"""The tables of an audit: the largest difference first, one family of tests, every output in one place."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.read_by import ReadBy
from affidavit.exchange.log import Grader, Log, PrintedScore
from affidavit.exchange.log_source import sources_of
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.results.second_readings import audit_fields, audit_report, moved_most
from affidavit.results.text_forms import Report
from affidavit.results.values import Chance, Points
from affidavit.running.second_reading import SecondReading, audit_terms, second_readings
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.multiplicity import holm
from affidavit.statistics.shares import wilson

RIGHT, WRONG, BARE = "<answer>B</answer>", "<answer>C</answer>", "B. Paris"


def log(
    name: str, texts: list[str | None], verdicts: list[bool | None], changes: Sequence[dict] = (), **more
) -> Log:
    """A log of outputs like these; `changes` are what each of the first has otherwise."""
    outputs = [
        LoggedOutput(
            **{
                "place": f"line {number}",
                "item_id": f"q{number}",
                "model": name,
                "raw_output": text,
                "answer": "B",
                "no_answer": NoAnswer.ERROR if text is None else None,
                "words": [SourceWord(scorer="match", correct=said, points=None if said is None else float(said))],
                **other,
            }
        )
        for number, (text, said, other) in enumerate(
            zip(texts, verdicts, [*changes, *[{}] * len(texts)], strict=False)
        )
    ]
    return Log(path=Path(f"{name}.jsonl"), format="made up", task="quiz", outputs=lambda: iter(outputs), **more)


def readings(*logs: Log) -> list[SecondReading]:
    return [each for source in sources_of(logs) for each in second_readings(source, audit_terms(mcqa))]


def report(*logs: Log, **more) -> Report:
    return audit_report(readings(*logs), ReadBy.of(mcqa), **more)


SAME = log("same", [RIGHT] * 6 + [WRONG] * 6, [True] * 6 + [False] * 6)
LOST = log("lost", [BARE] * 10 + [WRONG] * 2, [True] * 10 + [False] * 2)
FOUND = log("found", [RIGHT] * 4 + [WRONG] * 8, [False] * 12)


def test_the_largest_difference_comes_first_and_all_logs_are_one_family():
    table = report(SAME, LOST, FOUND).tables[0]
    assert table.column("model") == ["lost", "found", "same"]
    differences = [
        PairedDifference.of_counts([1] * 10 + [0] * 2, [1] * 12, [0] * 12, [1] * 12),
        PairedDifference.of_counts([0] * 12, [1] * 12, [1] * 4 + [0] * 8, [1] * 12),
        PairedDifference.of_counts([1] * 6 + [0] * 6, [1] * 12, [1] * 6 + [0] * 6, [1] * 12),
    ]
    adjusted = holm([each.test(seed=0).p_value for each in differences]).tolist()
    assert table.column("p, Holm") == [Chance(each) for each in adjusted]
    points = [each for each in table.column("difference") if isinstance(each, Points)]
    assert [each.estimate.value for each in points] == [-10 / 12, 4 / 12, 0.0]


def test_shares_have_the_interval_of_every_share():
    (row,) = report(LOST).tables[0].to_polars().rows(named=True)
    assert (row["right by the source"], row["right by the source_low"]) == (
        wilson(10, 12).value,
        wilson(10, 12).low,
    )
    assert (row["compliance"], row["compliance_high"]) == (wilson(2, 12).value, wilson(2, 12).high)
    assert (row["accuracy over answers"], row["accuracy over answers_n"], row["yield"]) == (0.0, 2, 0.0)


def test_every_output_is_in_one_place():
    for table in report(SAME, LOST, log("gone", [None, RIGHT], [False, True])).tables:
        total, parts = table.foot.split(" outputs = ")
        assert int(total) == 26 == sum(int(part.split(" ")[0]) for part in parts.split(" + "))
        if table.name == "four ways":
            assert sum(table.counts("outputs")) == 26


def test_an_error_scored_as_wrong_is_told_first_and_shown_first():
    found = report(log("gone", [None, BARE, RIGHT], [False, True, True]))
    assert found.warnings[0] == "gone.jsonl, gone: 1 output without an answer scored as wrong: 1 error."
    no_answer, moved = found.tables[1], found.tables[4]
    assert no_answer.rows == (("gone.jsonl", "quiz", "gone", "error", 1, 1),)
    assert moved.column("move") == ["no output, scored as wrong", "right by the source, non-compliant"]


def test_moved_rows_of_all_logs_stand_together_the_worst_kind_first():
    found = report(LOST, log("worse", [WRONG, None], [True, False]), FOUND, moved=40).tables[-1]
    assert found.column("move") == [
        "no output, scored as wrong",
        "right by the source, wrong by the contract",
        *["wrong by the source, right by the contract"] * 4,
        *["right by the source, non-compliant"] * 10,
    ]


def test_each_figure_is_over_what_it_is_about():
    """Outputs of which the source has no verdict, or whose right answer nobody knows, are in some of them."""
    changes = [{}, {"item_id": "q0", "sample": 1}, {}, {"answer": None}]
    unknown = log("partly", [RIGHT, RIGHT, WRONG, RIGHT], [True, None, True, True], changes)
    (row,) = report(unknown).tables[0].to_polars().rows(named=True)
    assert (row["right by the source"], row["right by the source_n"]) == (1.0, 3)
    assert (row["compliance_n"], row["yield"], row["yield_n"]) == (4, 2 / 3, 3)
    assert (row["difference"], row["difference_n"]) == (-0.5, 2)


def test_so_many_rows_that_moved_are_shown_and_all_are_counted():
    moved = report(LOST, moved=3).tables[-1]
    assert (len(moved.rows), moved.notes) == (3, ("3 of 10 rows that moved.",))
    several = report(LOST, FOUND, moved=3).tables[-1]
    assert several.notes == (
        "3 of 14 rows that moved: 1 of 10 of lost.jsonl, lost; 2 of 4 of found.jsonl, found.",
    )
    assert [table.name for table in report(LOST, moved=0).tables] == [
        "second reading",
        "deviations",
        "four ways",
    ]


def test_texts_that_are_not_verbatim_are_told_before_any_figure():
    changed = log("own", [RIGHT, BARE], [True, True], [{"verbatim": False}] * 2)
    said = "own.jsonl, own: 2 texts not verbatim: a filter or a transform may have changed what the model wrote."
    assert report(changed).warnings == [said]


@pytest.mark.parametrize(
    ("value", "planned", "said"),
    [
        (0.5, 12, []),
        (0.5 + 1e-12, None, []),
        (0.5 + 1e-8, None, ["same.jsonl, same: the source printed 0.50000001000000005; the rows here give 0.5."]),
        (0.75, None, ["same.jsonl, same: the source printed 0.75; the rows here give 0.5."]),
        (
            0.75,
            100,
            [
                "same.jsonl, same: by its own account the log has 100 outputs; here are 12.",
                "same.jsonl, same: the source printed 0.75, which may be right over all of them; the rows here give 0.5.",
            ],
        ),
    ],
)
def test_a_printed_score_that_the_rows_do_not_give_is_told(value, planned, said):
    printed = [PrintedScore(scorer="match", metric="accuracy", value=value, recount=mean_of_items("match"))]
    found = report(
        log("same", [RIGHT] * 6 + [WRONG] * 6, [True] * 6 + [False] * 6, printed=printed, planned=planned)
    )
    assert found.warnings == said
    assert found.tables[0].column("printed") == [f"{value:.4g} accuracy"]


@pytest.mark.parametrize(
    ("graders", "said"),
    [
        ([Grader("other")], "graded by other."),
        ([Grader("other", "match")], "graded by other."),
        ([Grader("same")], "graded by the evaluated model itself."),
        ([Grader("other"), Grader("same", "match")], "graded by the evaluated model itself, beside other."),
        ([Grader("same", "prose")], "the scorer prose, whose word is not the one above, was graded by the evaluated model itself."),
        ([Grader("x", "prose")], "the scorer prose, whose word is not the one above, was graded by x."),
    ],
)  # fmt: skip
def test_who_graded_is_told(graders, said):
    found = log("same", [RIGHT], [True], graders=graders)
    assert report(found).warnings == [f"same.jsonl, same: {said}"]
    fields = audit_fields(readings(found))["logs"][0]
    assert fields["self_graded"] is said.startswith("graded by the evaluated model")
    assert fields["graders"] == [{"model": each.model, "scorer": each.scorer} for each in graders]


def test_a_log_that_moves_too_much_or_has_nothing_to_compare_is_named():
    silent = log("silent", [RIGHT], [None])
    assert list(moved_most(readings(SAME, LOST, silent), 0.8)) == [
        "lost.jsonl, lost: 10 of 12 outputs that can be compared moved, 83.33%: more than 80.00%",
        "silent.jsonl, silent: the source has no verdict on any output, so nothing can be compared",
    ]
    assert list(moved_most(readings(SAME, LOST), 10 / 12)) == []
    assert list(moved_most([], 0)) == []


def test_a_share_that_moved_is_of_what_can_be_compared():
    """Outputs without a verdict of one of the two would hide those that moved."""
    few = log("few", [BARE] * 2 + [RIGHT] * 98, [True] * 2 + [None] * 98)
    assert list(moved_most(readings(few), 0.5)) == [
        "few.jsonl, few: 2 of 2 outputs that can be compared moved, 100.00%: more than 50.00%"
    ]
    unknown = log("unknown", [RIGHT] * 4, [True] * 4, [{"answer": None}] * 4)
    assert list(moved_most(readings(unknown), 0.5)) == [
        "unknown.jsonl, unknown: the contract has no verdict on any output, so nothing can be compared"
    ]
    assert audit_fields(readings(few))["logs"][0]["compared"] == 2


def test_a_contract_that_may_be_the_wrong_one_is_told():
    bare = report(log("bare", [BARE] * 12, [True] * 12))
    assert bare.warnings == [
        "bare.jsonl, bare: none of 12 outputs follows the format; 12 are option_text. Was this format asked for?"
    ]
    assert bare.tables[1].rows == (("bare.jsonl", "quiz", "bare", "option_text", 12),)
    wrong = report(log("wrong", [WRONG] * 12, [True] * 12))
    (said,) = wrong.warnings
    assert said.startswith(
        'wrong.jsonl, wrong: none of 12 answers equals its right answer: right answers are like "B"'
    )
    assert report(log("few", [BARE] * 9 + [RIGHT], [True] * 10)).warnings == []


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (3, "none of 3 outputs follows the format; 3 are option_text"),
        (1, "its one output does not follow the format: option_text"),
    ],
)
def test_even_a_small_log_without_an_output_that_follows_the_format_is_told(outputs, said):
    small = report(log("small", [BARE] * outputs, [True] * outputs))
    assert small.warnings == [f"small.jsonl, small: {said}. Was this format asked for?"]


def test_the_printed_score_stands_beside_what_is_right_by_the_source():
    columns = report(LOST).tables[0].columns
    first = columns.index("printed")
    assert columns[first : first + 3] == ("printed", "from its rows", "right by the source")


def test_the_four_ways_are_there_for_programs():
    found = audit_fields(readings(log("gone", [None, RIGHT, BARE], [False, True, None])))["logs"][0]
    assert found["four_ways"] == [
        {"source": "right", "contract": "compliant, right", "outputs": 1},
        {"source": "wrong", "contract": "no output", "outputs": 1},
        {"source": "no verdict", "contract": "non-compliant", "outputs": 1},
    ]
    assert (found["errors"], found["missing"], found["sentinels"], found["unread"]) == (1, 0, 0, 0)


def test_other_texts_than_the_one_that_is_read_are_told_first():
    beside = log("beside", [RIGHT, WRONG], [True, False], [{"other_texts": {"choices[1]": BARE}}])
    assert (
        "beside.jsonl, beside: 1 output with other texts than the one that is read: further choices, or other filters'."
        in report(beside).warnings
    )
    assert not any("other texts" in each for each in report(SAME).warnings)


def test_other_scorers_are_told_with_the_option_that_takes_one():
    words = [SourceWord(scorer=name, correct=True) for name in ("exact_match,strict", "exact_match,flexible")]
    two = log("two", [RIGHT], [True], [{"words": words}])
    said = 'the source\'s word is that of exact_match,strict; --scorer takes another: "exact_match,flexible".'
    assert f"two.jsonl, two: {said}" in report(two).warnings
    (source,) = sources_of([two])
    by_rule = second_readings(source, audit_terms(mcqa, source_rule="lawbench"))
    assert not any("--scorer" in each for each in audit_report(by_rule, ReadBy.of(mcqa)).warnings)


def test_a_word_about_an_item_has_no_verdict_on_outputs_and_that_is_told():
    word = SourceWord(scorer="match", points=1.0, about_item=True)
    repeats = log("repeats", [RIGHT, WRONG], [None, None], [{"words": [word]}] * 2)
    said = "the word of match is about the item with all its samples: 2 outputs have no verdict."
    assert f"repeats.jsonl, repeats: {said}" in report(repeats).warnings
    assert not any("about the item" in each for each in report(SAME).warnings)


@pytest.mark.parametrize(("points", "is_told"), [((0.0, 1.0), True), ((0.0, 0.5), False)])
def test_scores_of_a_table_are_no_verdicts_and_that_is_told_where_they_look_like_some(points, is_told):
    """Ruling I4: nothing is guessed, and whoever named the column may have meant another option."""
    words = [{"words": [SourceWord(scorer="ok", points=each)]} for each in points]
    table = log("table", [RIGHT, WRONG], [None, None], words, has_mean=True)
    assert any("--source-correct takes the column" in each for each in report(table).warnings) is is_told
