"""Few entries and many are put in one order, and of several words on one key the last counts."""

from hypothesis import given
from hypothesis import strategies as st

from affidavit.archive.root_entries import KEY, SIZE, _of_few, _of_many, by_first_byte, digests_in_order

keys = st.sampled_from([b"\0" * KEY, b"\0" * 15 + b"\1", b"\xff" * KEY, b"\xff" * 8 + b"\0" * 8, b"a" * KEY])
entry = st.builds(bytes.__add__, keys | st.binary(min_size=KEY, max_size=KEY), st.binary(min_size=32, max_size=32))
entries = st.lists(entry, min_size=1, max_size=30)


def literally(found: list[bytes]) -> bytes:
    last = {each[:KEY]: each[KEY:] for each in found}
    return b"".join(last[key] for key in sorted(last))


@given(entries)
def test_both_ways_give_the_last_word_on_each_key_in_the_order_of_keys(found):
    assert _of_few(b"".join(found)) == _of_many(b"".join(found)) == literally(found)


def test_any_number_of_entries_is_put_in_order():
    for count in (0, 1, 1_999, 2_000, 2_001):
        found = [(count - n).to_bytes(KEY) + n.to_bytes(32) for n in range(count)]
        assert digests_in_order(b"".join(found)) == b"".join(n.to_bytes(32) for n in reversed(range(count)))


@given(entries)
def test_entries_are_sorted_by_their_first_byte_and_keep_their_order(found):
    expected: dict[int, bytes] = {}
    for each in found:
        expected[each[0]] = expected.get(each[0], b"") + each
    assert dict(by_first_byte(b"".join(found))) == expected
    assert all(len(part) % SIZE == 0 for part in expected.values())
