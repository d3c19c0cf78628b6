"""Ids of responses: when one id for two requests means that an answer went astray, and when it means nothing."""

import pytest

from affidavit.models.response_ids import FIRST_ANSWERS, KEPT, ResponseIds


def known(count: int = FIRST_ANSWERS) -> ResponseIds:
    """A server that gave so many different ids."""
    ids = ResponseIds()
    assert not any(ids.is_stray(f"id-{n}", b"request %d" % n) for n in range(count))
    return ids


def test_one_id_for_two_requests_is_stray():
    """Ruling C9."""
    ids = known()
    assert ids.is_stray("id-7", b"another")
    assert ids.is_stray("id-7", b"a third")
    assert not ids.is_stray("id-7", b"request 7"), "the same request may have the same answer"
    assert not ids.is_stray(None, b"another")
    assert not ids.prove_nothing


@pytest.mark.parametrize("before", range(1, FIRST_ANSWERS))
def test_a_server_that_repeats_ids_from_its_first_answers_on_is_believed_no_id(before):
    ids = known(before)
    assert not ids.is_stray("id-0", b"another")
    assert ids.prove_nothing
    assert not ids.is_stray("id-0", b"a third")


def test_so_is_one_that_repeats_an_id_over_a_connection_of_its_own():
    ids = known()
    assert ids.is_stray("id-7", b"another")
    assert not ids.is_stray("id-8", b"another", asked_again=True)
    assert ids.prove_nothing


def test_no_more_is_remembered_than_there_is_room_for():
    ids = known(3 * KEPT)
    assert len(ids._requests) == KEPT
    assert ids.is_stray(f"id-{3 * KEPT - 1}", b"another")
    assert not ids.is_stray("id-0", b"another"), "that was long ago"
