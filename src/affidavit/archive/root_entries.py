"""What records say, in the order of their keys: entries of half a key (16 bytes) and a digest (32 bytes).

Few entries are sorted as they are. Of many, whole columns are sorted, which takes a sixth of the time and NumPy.
"""

from collections.abc import Iterator
from operator import itemgetter

KEY, SIZE = 16, 48
_MANY = 2_000
"""Entries from which on NumPy is worth loading."""


def digests_in_order(entries: bytes | bytearray) -> bytes:
    """The digests in the order of their keys; of several of one key the last.

    >>> digests_in_order(b"b" * 16 + b"2" * 32 + b"a" * 16 + b"0" * 32 + b"a" * 16 + b"1" * 32)[::32]
    b'12'
    """
    return _of_few(entries) if len(entries) < _MANY * SIZE else _of_many(entries)


def _of_few(entries: bytes | bytearray) -> bytes:
    found = [bytes(entries[at : at + SIZE]) for at in range(0, len(entries), SIZE)]
    found.sort(key=itemgetter(slice(KEY)))
    if len({entry[:KEY] for entry in found}) < len(found):
        found = list({entry[:KEY]: entry for entry in found}.values())  # sorting has left them in their order
    return b"".join([entry[KEY:] for entry in found])


def _of_many(entries: bytes | bytearray) -> bytes:
    import numpy as np  # noqa: PLC0415 - heavy, and small studies do without

    rows = np.frombuffer(entries, np.uint8).reshape(-1, SIZE)
    first, second = rows[:, :KEY].copy().view(">u8").T.astype(np.uint64)
    order = np.argsort(first)
    if (np.diff(first[order]) > 0).all():
        return rows[order, KEY:].tobytes()  # as nearly always: no two keys begin alike
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    last = np.append((first[1:] != first[:-1]) | (second[1:] != second[:-1]), True)
    return rows[order[last], KEY:].tobytes()


def by_first_byte(entries: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
    """The entries that begin with each byte, in their order."""
    import numpy as np  # noqa: PLC0415 - heavy, and only those who have many at once come here

    rows = np.frombuffer(entries, np.uint8).reshape(-1, SIZE)
    ends = np.cumsum(np.bincount(rows[:, 0], minlength=256)) * SIZE
    content, start = rows[np.argsort(rows[:, 0], kind="stable")].tobytes(), 0
    for byte, end in enumerate(ends.tolist()):
        if end > start:
            yield byte, content[start:end]
        start = end
