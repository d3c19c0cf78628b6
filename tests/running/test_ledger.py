"""The ledger: however records are counted, one by one or together, the counts are the same."""

from collections.abc import Callable, Iterable
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.archive.record import Failed, QuestionIdentity, Record, Response
from affidavit.contracts.parts import Parts
from affidavit.errors import StorageError
from affidavit.running import ledger as ledger_module
from affidavit.running.alike_responses import what_counts
from affidavit.running.ledger import ImportLedger, StudyLedger

CELLS = {("t", "m", "c"): 6, ("t", "n", "c"): 40}


class Counted(ImportLedger):
    """Counts what a contract says under `reason`, and keeps what it has seen."""

    def __init__(self) -> None:
        super().__init__(CELLS, lambda _: Parts())
        self.seen: list[str] = []

    def _see(self, response):
        self.seen.append(response.key)


def asked(number: int, model: str) -> QuestionIdentity:
    return QuestionIdentity(f"{number:064x}", "s", "t", f"q{number}", model, "c", 0, "0" * 64, None)


SUBJECTS = st.builds(asked, st.integers(0, 30), st.sampled_from("mn"))
REASONS = st.sampled_from(
    ["ok", "1", 1, True, 1.0, None, nan, "half \ud800", 2**70, [1], {"a": [True]}, {"a": [1]}]
)
RESPONSES = st.builds(
    lambda subject, compliant, reason, correct, finish, prompt, usage, word, keyed: Response(
        subject,
        "text",
        "own/1",
        {},
        compliant,
        {"reason": reason, "correct": correct, **({"unread": "it raised"} if compliant is None else {})},
        finish,
        None,
        prompt,
        usage,
        word,
        word,
        keyed,
    ),
    SUBJECTS,
    st.sampled_from([True, False, None]),
    REASONS,
    st.sampled_from([True, False, None]),
    st.sampled_from(["stop", "length", None]),
    st.sampled_from([None, None, None, "as the template has it"]),
    st.sampled_from([None, {}, {"prompt_tokens": 3}, {"prompt_tokens": 4, "tier": "low"}]),
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([True, False, None]),
)
FAILURES = st.builds(Failed, SUBJECTS, st.sampled_from(["timeout", "bad_request"]))


def counted(add: Callable[[StudyLedger, Iterable[Record]], object], records: list[Record]) -> object:
    """The counts after all records, or what was refused, with everything else that a ledger holds."""
    ledger = StudyLedger("s", 0, Counted(), None)
    try:
        add(ledger, records)
    except StorageError as error:
        return str(error)
    own = ledger.outputs
    return ledger.counts(), own.rendered, list(own.server_words.changes()), own.seen, own.open


def one_by_one(ledger: StudyLedger, records: Iterable[Record]) -> None:
    for record in records:
        ledger.load(record)


def response(number: int, reason: object, **said: object) -> Response:
    return Response(asked(number, "n"), "text", "own/1", {}, True, {"reason": reason}, **said)


def test_equal_responses_are_counted_together_and_like_ones_apart():
    """1 is not true: who counts by values tells them apart."""
    records = [
        response(number, reason) for number, reason in enumerate([1, True, 1.0, "1", None, nan, "\ud800"] * 3)
    ]
    records += [Failed(asked(30, "n"), "timeout"), response(30, 1, finish_reason="length"), response(31, 1)]
    together = counted(StudyLedger.count_all, records)
    assert together == counted(one_by_one, records)
    (_, cell) = together[0]["cells"]
    assert (cell["breakdowns"]["reason"], cell["truncated"]) == (
        {"1": 8, "true": 3, "1.0": 3, "NaN": 3, "\ud800": 3},
        1,
    )


def test_a_record_too_many_is_refused_also_if_it_is_like_others():
    records = [response(number, "ok") for number in range(CELLS["t", "n", "c"] + 1)]
    refused = counted(StudyLedger.count_all, records)
    assert refused == counted(one_by_one, records)
    assert records[-1].key[:16] in refused


@pytest.mark.slow
@given(st.sampled_from([1, 2, 1000]), st.lists(RESPONSES | FAILURES, max_size=12).map(lambda some: some * 3))
def test_records_are_counted_together_as_one_by_one(most, records):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_module, "MOST_ALIKE", most)
        assert counted(StudyLedger.count_all, records) == counted(one_by_one, records)


def test_what_a_contract_can_tell_apart_does_not_count_as_alike():
    told = [
        what_counts(Response(asked(0, "m"), "text", "own/1", {}, True, {"reason": reason}))
        for reason in (1, True, 1.0, "1", None)
    ]
    assert len(set(told)) == 5
    assert what_counts(Response(asked(0, "m"), "text", "own/1", {}, True, {"reason": "half \ud800"})) is None
    assert what_counts(Response(asked(1, "m"), "other", "own/1", {}, True, {"reason": 1})) == told[0]
