"""What is kept of findings and of a judge's own words is bounded, and what is not kept is counted (ruling J4)."""

import json

from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.bounded_findings import MOST, ROOM, SHORT, FindingsSoFar, cut, repeated
from affidavit.contracts.finding import LONGEST, Code, Flag
from support.strategies import any_text

heavy = st.text(st.sampled_from('\x7f\\"\u00e9x\u2026\ud800\x01😀'), max_size=400)
texts = any_text | heavy


def written(text: str) -> int:
    return len(json.dumps(text)) - 2


@given(texts, st.integers(1, 250))
def test_a_text_is_cut_where_json_would_write_more_and_nowhere_else(text, longest):
    kept = cut(text, longest)
    if written(text) <= longest:
        assert kept == text
    else:
        assert kept.endswith("…")
        assert text.startswith(kept[:-1])
        assert written(kept[:-1]) < longest
        assert written(text[: len(kept)]) >= longest, "one more character would not fit"


@given(texts)
def test_what_is_repeated_costs_at_most_three_times_its_bytes_and_a_little(text):
    kept = repeated(text)
    assert written(kept) <= 3 * len(text.encode("utf-8", "surrogatepass")) + SHORT + 6
    assert kept == text or kept.endswith("…")


def test_the_first_ones_are_kept_and_all_count():
    found = FindingsSoFar()
    for number in range(MOST):
        found.add(Code.UNKNOWN_FIELD, f"$.x{number}", "no field", "x")
    assert found.full
    found.add(Code.BAD_DATE, "$.meta.timestamp", "a day", "none")
    found.add(Code.DECLARED_BY_JUDGE, "$.flags[0]", "no criterion", "it", Flag.INTERNAL_INCONSISTENCY)
    found.count(Code.BAD_DATE)
    kept, further, flags = found.all()
    assert [finding.path for finding in kept] == [f"$.x{number}" for number in range(MOST)]
    assert [(each.code, each.count) for each in further] == [(Code.BAD_DATE, 2), (Code.DECLARED_BY_JUDGE, 1)]
    assert flags == (Flag.PROTOCOL_VIOLATION, Flag.UNPARSABLE_OUTPUT, Flag.INTERNAL_INCONSISTENCY)


def test_long_texts_are_cut_shorter_once_the_room_is_full():
    found = FindingsSoFar()
    for _ in range(MOST):
        found.add(Code.WRONG_TYPE, "$" * 300, "e" * 150, "f" * 300)
    kept = found.all().kept
    assert {(len(each.path), len(each.expected), len(each.found)) for each in kept} == {
        (LONGEST, 150, LONGEST), (SHORT, SHORT, SHORT),
    }  # fmt: skip
    assert sum(len(each.path) == LONGEST for each in kept) == -(-ROOM // (2 * (LONGEST + 5) + 150))


def test_nothing_found_is_nothing_raised():
    assert not FindingsSoFar()
    assert FindingsSoFar().all() == ((), (), ())
