"""The figures of outputs are those of `affidavit read`: the same counts, whichever contract, and however they fall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import AnswerReading, Validation, game24, mcqa, number
from affidavit.contracts.own_file import checked_contract
from affidavit.integrations.figures import FIGURES, OutputCounts, counts_of, estimate, settled
from affidavit.reading.rows import RowReader
from affidavit.reading.summary import shares_of
from affidavit.reading.tally import Tally
from support.strategies import choice_texts, game_texts, number_texts


class Shouting:
    """Reads capitals; raises at a `!`; says of nothing whether its right answer is known."""

    name, version, params = "shouting", 1, {}

    def instruction(self, item=None):
        return "Shout."

    def read(self, raw, item=None):
        if "!" in raw:
            raise ValueError(raw)
        return AnswerReading(raw) if raw.isupper() else AnswerReading.nothing()

    def validate(self, reading, item):
        if reading.extracted_answer is None or item.get("gold") is None:
            return None
        return Validation(reading.extracted_answer == item["gold"], "compared")

    def grammar(self, item=None):
        return None


shouting = checked_contract(Shouting(), "here")


def rows_of(texts, **more):
    fields = {"raw_output": st.none() | texts, **more}
    return st.lists(st.fixed_dictionaries(fields), max_size=12)


letters = rows_of(choice_texts, answer=st.sampled_from(["A", "B", None]))
numbers = rows_of(number_texts, answer=st.sampled_from(["72", None]))
hands = rows_of(game_texts, numbers=st.sampled_from([[4, 9, 10, 13], None]))
shouts = rows_of(st.sampled_from(["A", "B", "a", "!"]), gold=st.sampled_from(["A", None]))
keyed_shouts = rows_of(st.sampled_from(["A", "b", "!"]), answer=st.just("A"), gold=st.sampled_from(["A", None]))


def successes_and_n(counts: list[OutputCounts], name: str) -> tuple[int, int]:
    found = [value for each in counts if (value := getattr(each, name)) is not None]
    return sum(found), len(found)


def law_of_counts(contract, rows):
    reader, tally, counts = RowReader(contract), Tally(), []
    for row in rows:
        result = reader.read(row, where="here")
        tally.add(result.added, parts=reader.parts, right_answer_known=result.right_answer_known)
        counts.append(counts_of(result, reader.parts))
    counts = settled(counts)
    expected = [(tally.compliant, tally.arrived), (tally.right, tally.compared), (tally.right, tally.known)]
    assert [successes_and_n(counts, name) for name in FIGURES] == expected
    for name, share in zip(FIGURES, shares_of(tally), strict=False):
        counted = [(number, getattr(each, name)) for number, each in enumerate(counts)]
        assert estimate((number, value) for number, value in counted if value is not None) == share


@given(letters)
def test_letters_count_as_in_the_summary(rows):
    law_of_counts(mcqa, rows)


@given(numbers)
def test_numbers_count_as_in_the_summary(rows):
    law_of_counts(number, rows)


@given(hands)
def test_candidates_count_as_in_the_summary(rows):
    law_of_counts(game24, rows)


@given(shouts | keyed_shouts)
def test_a_contract_of_the_user_s_own_counts_as_in_the_summary(rows):
    law_of_counts(shouting, rows)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], []),
        ([OutputCounts(False, None, None, unsaid=True)], [None]),
        ([OutputCounts(False, None, None, unsaid=True), OutputCounts(True, False, False)], [False, False]),
        ([OutputCounts(True, None, None), OutputCounts(True, True, True)], [None, True]),
    ],
)
def test_outputs_of_which_nobody_says_so_count_beside_compared_ones(counts, expected):
    assert [each.accuracy_over_all_outputs for each in settled(counts)] == expected


def test_clusters_widen_the_interval():
    alone = estimate((number, number % 2 == 0) for number in range(40))
    together = estimate((number // 4, number // 4 % 2 == 0) for number in range(40))
    assert (alone.value, alone.n) == (together.value, together.n) == (0.5, 40)
    assert together.low < alone.low
    assert estimate([]) is None
