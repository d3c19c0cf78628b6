"""The archive keeps what is finished, whatever happens to the disk, and finds out whatever was changed."""

import contextlib
import errno
import random
import re
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import structs

from affidavit.archive.checked_lines import checked_fields, checked_line, is_whole
from affidavit.archive.journal import Archive
from affidavit.archive.record import (
    Failed,
    QuestionIdentity,
    Record,
    Response,
    content_digest,
)
from affidavit.archive.seal import Root, check_seal, read_seal
from affidavit.archive.segments import scan, segments
from affidavit.archive.versions import FORMAT
from affidavit.errors import StorageError
from affidavit.json_values import canonical
from support.crash_disk import DROPPED, KEPT, FailingDisk, InstantDisk, Killed, Platter, State, TraceDisk, torn
from support.strategies import any_text

FIRST = Path("records/000001.jsonl")
SECOND = Path("records/000002.jsonl")


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


def key_of(number: int) -> str:
    return sha256(str(number).encode()).hexdigest()


def asked(number: int, **changed: object) -> QuestionIdentity:
    names = {"study": "s", "task": "t", "item_id": f"q{number}", "model": "m", "condition": "c", "sample": 0}
    digests = {"prompt_sha256": "0" * 64, "grammar_sha256": None}
    return QuestionIdentity(**{"key": key_of(number), **names, **digests, **changed})


def saying(number: int, text: str) -> Response:
    return Response(asked(number), text, "text/1", {}, True, {}, "stop")


@cache
def answer(number: int) -> Response:
    """What is always asked at this place and always answered so: every fifth time at length."""
    return saying(number, f"ANSWER: {number}\0\u2028\ud800" + "é " * (0 if number % 5 else number * 29 % 211))


def failure(number: int, reason: str = "timeout", **changed: object) -> Failed:
    return Failed(asked(number, **changed), reason)


def answers(count: int) -> list[Record]:
    return [answer(number) for number in range(count)]


def recovered(directory: Path) -> list[Record]:
    archive = Archive(directory, InstantDisk())
    records = [line.record for line in archive.recover()]
    archive.close()
    return records


def write_on(directory, disk, steps, finished=lambda count: None):
    """One session: go on where the archive stands, group by group.

    A number is a group of so many records, "seal" a seal; a number below zero is a group that is not committed.
    """
    archive = Archive(directory, disk)
    count = sum(1 for _ in archive.recover())
    finished(count)
    for step in steps:
        if step == "seal":
            archive.seal({"records": count})
            continue
        for number in range(count, count + abs(step)):
            archive.append(answer(number))
        count += abs(step)
        if step > 0:
            archive.commit()
            finished(count)
    archive.close()


def made(directory: Path, *steps) -> Path:
    """An archive of one session, with the other files of a study."""
    directory.mkdir(exist_ok=True)
    lines = [checked_line({"item": number, "text": "é" * number}) for number in range(20)]
    (directory / "study.json").write_bytes(checked_line({"kind": "study", "v": 3, "name": "sums"}))
    (directory / "items.jsonl").write_bytes(b"".join(lines))
    write_on(directory, InstantDisk(), steps)
    return directory


def assert_goes_on(directory: Path, *, finished: int) -> None:
    """Everything finished is there, nothing else is, and the archive can be written to and sealed."""
    found = recovered(directory)
    assert found == answers(len(found))
    assert len(found) >= finished, f"lost {finished - len(found)} finished records"
    once = State.of(directory)
    archive = Archive(directory, InstantDisk())
    assert [line.record for line in archive.recover()] == found
    assert State.of(directory) == once, "the second recovery changed something"
    archive.append(answer(len(found)))
    archive.commit()
    seal = archive.seal({})
    assert read_seal(directory) == seal
    assert recovered(directory) == answers(len(found) + 1)


# --- what is written comes back ---

HARD_TEXTS = {
    "empty": "",
    "NUL": "\0",
    "lone surrogates": "\ud800 \udfff\ud800",
    "line separators": "\u2028\u2029\x85\r\n\v\f\x1c",
    "a million combining marks": "e" + "\u0301" * 1_000_000,
    "what ends a line here": '","sha256":"' + "0" * 64 + '"}\n',
    "beyond the first plane": "😀\U0010ffff",
}
fields_of_any_kind = st.dictionaries(
    any_text,
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text | st.lists(any_text),
    max_size=4,
)


def joined(value):
    """JSON knows no pair of surrogates but as one character; see `test_two_halves_of_a_pair_come_back_as_one`."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, dict):
        return {joined(key): joined(inner) for key, inner in value.items()}
    return [joined(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.slow
@given(fields_of_any_kind)
def test_fields_are_one_line_of_ascii_and_come_back(fields):
    fields = joined(fields)
    line = checked_line(fields)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert len(line.decode().splitlines()) == 1
    assert checked_fields(line) == fields


@given(any_text, st.data())
def test_no_part_of_a_line_is_whole(text, data):
    line = checked_line({"text": text})
    cut = data.draw(st.integers(0, len(line) - 1))
    assert checked_fields(line[:cut]) is None
    assert checked_fields(line[cut + 1 :]) is None
    assert checked_fields(line + line) is None


def test_two_halves_of_a_pair_come_back_as_one():
    """The one text that does not come back as it was: whoever puts texts together joins the pair first."""
    line = checked_line({"text": "\ud83d" + "\ude00"})
    assert checked_fields(line)["text"] == "😀"


@pytest.mark.slow
@pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_any_text_comes_back_from_the_archive(tmp_path, text):
    archive = Archive(tmp_path)
    written = saying(0, text)
    archive.append(written)
    archive.commit()
    archive.close()
    assert recovered(tmp_path) == [written]
    archive = Archive(tmp_path)
    assert len(list(archive.recover())) == 1
    archive.seal({})
    assert recovered(tmp_path) == [written]


# --- loss of power ---

FIRST_SESSION = (1, 4, "seal", 2, 6, -10)
SECOND_SESSION = (1, 5, "seal", 1, -9)


def states_on_the_way(disk: TraceDisk, fates, *, start: int = 0):
    """After every call from `start` on: how many records are finished, and each state a loss of power may leave."""
    platter = Platter(disk.before, disk.numbers)
    for place, call in enumerate(disk.calls, 1):
        platter.apply(call)
        if place > start:
            for fate in fates():
                yield place, platter.finished, platter.after_power_loss(fate)


class Losses:
    """Rebuilds states, each once, and remembers where the archive broke its promise."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.seen: dict[object, int] = {}
        self.broken: list[str] = []

    def examine(self, states, *, story: str) -> None:
        for place, finished, state in states:
            known = (tuple(state.files.items()), state.directories)
            if self.seen.get(known, -1) >= finished:
                continue
            self.seen[known] = finished
            state.rebuild(self.directory)
            try:
                assert_goes_on(self.directory, finished=finished)
            except (StorageError, AssertionError) as error:
                told = str(error).splitlines()[0].replace(f"{self.directory}/", "")
                self.broken.append(f"{story}, power lost after call {place}: {told}")

    def verdict(self) -> str:
        return "\n".join([f"{len(self.broken)} of {len(self.seen)} states:", *self.broken[:20]])


def fates_drawn_from(rng: random.Random, tears: int):
    return lambda: (DROPPED, KEPT, *(torn(rng) for _ in range(tears)))


def two_sessions(tmp_path: Path) -> list[TraceDisk]:
    """One session that ends in the middle of a group, and one that finds its tail torn."""
    directory = tmp_path / "study"
    directory.mkdir()
    first = TraceDisk(directory)
    write_on(directory, first, FIRST_SESSION, first.finished)
    whole = (directory / SECOND).read_bytes()
    (directory / SECOND).write_bytes(whole[:-500])
    second = TraceDisk(directory)
    write_on(directory, second, SECOND_SESSION, second.finished)
    assert (directory / "records/000002.torn-1").is_file()
    return [first, second]


@pytest.mark.long
@pytest.mark.slow
def test_no_loss_of_power_loses_what_is_finished(tmp_path):
    losses = Losses(tmp_path / "after")
    fates = fates_drawn_from(seeded(1), 226)
    for number, disk in enumerate(two_sessions(tmp_path), 1):
        losses.examine(states_on_the_way(disk, fates), story=f"session {number}")
    assert losses.broken == [], losses.verdict()
    assert len(losses.seen) >= 5_000


def killed_then_resumed(directory: Path, kill_at: int) -> tuple[TraceDisk, int] | None:
    """The calls of a session killed at a call and of the next one, and where the next begins; None if it ended."""
    State({}, frozenset()).rebuild(directory)
    disk = TraceDisk(directory, kill_at=kill_at)
    try:
        write_on(directory, disk, (2, 3, "seal", 2, -2), disk.finished)
    except Killed:
        disk.end_of_process()
        start = len(disk.calls)
        write_on(directory, disk, (2, "seal", 1), disk.finished)
        return disk, start
    return None


@pytest.mark.slow
def test_a_killed_session_then_a_loss_of_power_in_the_next(tmp_path):
    """What a killed process left in memory only, names of files too, is made safe before anything builds on it."""
    losses = Losses(tmp_path / "after")
    fates = fates_drawn_from(seeded(3), 12)
    kill_at = 1
    while traced := killed_then_resumed(tmp_path / "study", kill_at):
        disk, start = traced
        losses.examine(states_on_the_way(disk, fates, start=start), story=f"killed at call {kill_at}")
        kill_at += 1
    assert losses.broken == [], losses.verdict()
    assert kill_at > 20


# --- bits and cuts ---


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def check(directory: Path) -> None:
    seal = read_seal(directory)
    assert seal is not None
    check_seal(directory, seal)


def flips_are_found(directory: Path, *, flips: int, seed: int) -> None:
    """Flip random bits, one at a time, anywhere in the archive."""
    rng = seeded(seed)
    made(directory, 5, 9, "seal", 8, 3, "seal")
    check(directory)
    files = State.of(directory).files
    for _ in range(flips):
        name = rng.choices(list(files), weights=[len(content) for content in files.values()])[0]
        bit = rng.randrange(8 * len(files[name]))
        (directory / name).write_bytes(flipped(files[name], bit))
        with pytest.raises(StorageError) as caught:
            check(directory)
        line = files[name].count(b"\n", 0, bit // 8) + 1
        assert caught.value.where == f"{directory / name}:{line}"
        assert caught.value.found in ("another content", "a line that does not fit its checksum")
        (directory / name).write_bytes(files[name])
    check(directory)


@pytest.mark.slow
def test_a_flipped_bit_in_a_sealed_archive_is_found_and_named(tmp_path):
    flips_are_found(tmp_path, flips=100, seed=4)


@pytest.mark.slow
def test_thousands_of_flipped_bits_are_found_and_named(tmp_path):
    flips_are_found(tmp_path, flips=2_000, seed=5)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("study.json", "study.json: expected the file that was sealed, found no such file"),
        ("items.jsonl", "items.jsonl: expected the file that was sealed, found no such file"),
        (str(FIRST), f"{SECOND}: expected the segment {FIRST.name}, found another name"),
        (str(SECOND), "records: expected 2 segments, found 1"),
    ],
)
def test_a_missing_file_is_found(tmp_path, name, why):
    made(tmp_path, 3, "seal", 2, "seal")
    (tmp_path / name).unlink()
    with pytest.raises(StorageError, match=re.escape(f"{tmp_path}/{why}")):
        check(tmp_path)


@pytest.mark.slow
def test_a_flipped_bit_in_an_open_segment_costs_no_earlier_group(tmp_path):
    """In the last group it looks like a torn tail; before, it is corruption."""
    made(tmp_path, 4, 6, 5)
    whole = (tmp_path / FIRST).read_bytes()
    last_group = sum(len(line) for line in whole.splitlines(keepends=True)[:10])
    rng = seeded(6)
    for _ in range(150):
        bit = rng.randrange(8 * len(whole))
        (tmp_path / FIRST).write_bytes(flipped(whole, bit))
        if bit // 8 < last_group:
            line = whole.count(b"\n", 0, bit // 8) + 1
            why = f"{FIRST}:{line}: expected record {line} as it was written, found a line that does not fit its"
            with pytest.raises(StorageError, match=re.escape(why)):
                recovered(tmp_path)
        else:
            assert recovered(tmp_path) == answers(whole.count(b"\n", 0, bit // 8))


def cuts_of_an_open_segment(directory: Path, *groups: int, every: int) -> None:
    """Cut a segment of two groups that are committed and one that is not; one of its records is a long one."""
    made(directory, 1, "seal", *groups)
    whole = (directory / SECOND).read_bytes()
    for size in range(0, len(whole), every):
        (directory / SECOND).write_bytes(whole[:size])
        kept = whole[:size].count(b"\n")
        assert recovered(directory) == answers(1 + kept)
        end = whole.rfind(b"\n", 0, size) + 1
        assert (directory / SECOND).read_bytes() == whole[:end]
        aside = {path: path.read_bytes() for path in directory.glob("records/*.torn-*")}
        assert aside == ({directory / "records/000002.torn-1": whole[end:size]} if end < size else {})
        for path in aside:
            path.unlink()


@pytest.mark.slow
def test_a_cut_open_segment_loses_its_torn_tail_only(tmp_path):
    cuts_of_an_open_segment(tmp_path / "study", 8, 8, -5, every=97)


@pytest.mark.long
@pytest.mark.slow
def test_an_open_segment_cut_at_every_byte_loses_its_torn_tail_only(tmp_path):
    cuts_of_an_open_segment(tmp_path / "study", 3, 2, -2, every=1)


def test_every_torn_tail_is_kept(tmp_path):
    made(tmp_path, 3)
    tails = [b"{", b'{"group":4,', b"\0" * 600, b"\n"]
    for tail in tails:
        with (tmp_path / FIRST).open("ab") as stream:
            stream.write(tail)
        assert recovered(tmp_path) == answers(3)
    assert [(tmp_path / f"records/000001.torn-{n}").read_bytes() for n in (1, 2, 3, 4)] == tails


@pytest.mark.slow
def test_a_sealed_segment_cut_at_any_byte_is_refused(tmp_path):
    directory = made(tmp_path, 4, 5, "seal", 2)
    whole = (directory / FIRST).read_bytes()
    for size in range(len(whole)):
        (directory / FIRST).write_bytes(whole[:size])
        line = whole.count(b"\n", 0, size) + 1
        for use in (check, recovered):
            with pytest.raises(StorageError) as caught:
                use(directory)
            assert caught.value.where == f"{directory / FIRST}:{line}"
            assert caught.value.expected in (f"record {line} as it was written", "9 sealed records")
    assert list(directory.glob("records/*.torn-*")) == []


# --- lines moved about ---


def without(lines, place):
    return lines[:place] + lines[place + 1 :]


def doubled(lines, place):
    return lines[: place + 1] + lines[place:]


def swapped_with_next(lines, place):
    return [*lines[:place], *lines[place : place + 2][::-1], *lines[place + 2 :]]


def moved_to_the_end(lines, place):
    return [*without(lines, place), lines[place]]


def moved_to_the_start(lines, place):
    return [lines[place], *without(lines, place)]


def replaced_by_the_first(lines, place):
    return [*lines[:place], lines[0], *lines[place + 1 :]]


def reversed_from(lines, place):
    return lines[:place] + lines[place:][::-1]


EDITS = [
    without,
    doubled,
    swapped_with_next,
    moved_to_the_end,
    moved_to_the_start,
    replaced_by_the_first,
    reversed_from,
]
GROUPS = (3, 5, 1, 6)


@pytest.mark.parametrize("last", [(), ("seal",)], ids=["open", "sealed"])
@pytest.mark.parametrize("edit", EDITS)
def test_lines_moved_about_are_found(tmp_path, edit, last):
    """All but the last lines of an open segment: without them it is as it was before they were written."""
    made(tmp_path, *GROUPS, *last)
    lines = (tmp_path / FIRST).read_bytes().splitlines(keepends=True)
    unnoticed = []
    for place in range(len(lines)):
        changed = edit(lines, place)
        if changed == lines or (not last and changed == lines[: len(changed)]):
            continue
        State({FIRST: b"".join(changed)}, frozenset({Path("records")})).rebuild(tmp_path / "copy")
        if last:
            (tmp_path / "copy/seal.json").write_bytes((tmp_path / "seal.json").read_bytes())
            for name in ("study.json", "items.jsonl"):
                (tmp_path / "copy" / name).write_bytes((tmp_path / name).read_bytes())
        with contextlib.suppress(StorageError):
            unnoticed.append((place + 1, len(recovered(tmp_path / "copy"))))
    assert unnoticed == [], f"(line, records left of {len(lines)})"


@pytest.mark.parametrize("steps", [(4, "seal", 5, "seal"), (4, "seal", 5)], ids=["sealed", "open"])
def test_swapped_segments_are_found(tmp_path, steps):
    made(tmp_path, *steps)
    one, two = (tmp_path / FIRST).read_bytes(), (tmp_path / SECOND).read_bytes()
    (tmp_path / FIRST).write_bytes(two)
    (tmp_path / SECOND).write_bytes(one)
    with pytest.raises(StorageError, match=f"{FIRST}:1: expected record 1 as it was written, found record 5"):
        recovered(tmp_path)


def test_a_line_is_read_again_from_the_place_that_a_scan_gave(tmp_path):
    made(tmp_path, 4, "seal", 5)
    first = 1
    for segment, records in zip(segments(tmp_path), (4, 5), strict=True):
        lines = list(scan(segment, first=first, sealed=False))
        content = segment.path.read_bytes()
        assert [content[line.place.start : line.place.end] for line in lines] == [each.content for each in lines]
        assert [line.placed.seq for line in lines] == list(range(first, first + records))
        assert {line.place.segment for line in lines} == {segment.number}
        first += records


def test_a_gap_between_segments_is_found(tmp_path):
    made(tmp_path, 4, "seal", 5, "seal", 2)
    (tmp_path / SECOND).unlink()
    with pytest.raises(StorageError, match=f"expected the segment {SECOND.name}, found another name"):
        recovered(tmp_path)


def test_segments_beside_a_missing_seal_are_refused(tmp_path):
    made(tmp_path, 4, "seal", 5)
    (tmp_path / "seal.json").unlink()
    with pytest.raises(StorageError, match=f"{FIRST}: expected a sealed segment, found one that no seal knows"):
        recovered(tmp_path)


# --- a disk that refuses ---

FAULTS = {
    "once": {},
    "for ever": {"lasting": True},
    "once and partly": {"partly": True, "code": errno.ENOSPC},
    "full for ever": {"lasting": True, "partly": True, "code": errno.ENOSPC},
}
TORN = b'{"group":6,"key":"'


def faulty_sessions(directory: Path, disk: FailingDisk) -> tuple[int, Exception | None]:
    """Two sessions over a torn tail: how many records were finished, and the error that ended them."""
    finished, told = [0], None
    try:
        write_on(directory, disk, (2, 3, "seal", 1, 2), finished.append)
        write_on(directory, disk, (2, "seal", "seal", 3), finished.append)
    except (StorageError, OSError) as error:
        told = error
    disk.end_of_process()
    return finished[-1], told


def torn_archive(directory: Path) -> Path:
    State({}, frozenset()).rebuild(directory)
    write_on(directory, InstantDisk(), (2, "seal", 3))
    with (directory / SECOND).open("ab") as stream:
        stream.write(TORN)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [pytest.param(name, marks=() if name == "once and partly" else pytest.mark.slow) for name in FAULTS]
)
def test_an_error_of_the_disk_is_told_and_costs_nothing_finished(tmp_path, fault):
    """At the first call, at the second, and so on until no call is left to fail."""
    directory, bare = tmp_path / "study", []
    for fail_at in count(1):
        disk = FailingDisk(fail_at, **FAULTS[fault])
        finished, told = faulty_sessions(torn_archive(directory), disk)
        assert_goes_on(directory, finished=finished)
        if not disk.has_failed:
            break
        if not isinstance(told, StorageError):
            bare.append((fail_at, told))
    assert fail_at > 50
    assert bare == [], f"{len(bare)} of {fail_at - 1} calls: not told as StorageError"


def stubborn_session(directory: Path, disk: FailingDisk) -> list[Record]:
    """One writer that tries on after every error; what it was told is finished."""
    trying_on = contextlib.suppress(StorageError, OSError)
    archive = Archive(directory, disk)
    finished: list[Record] = []
    waiting: list[Record] = []
    with trying_on:
        finished += [line.record for line in archive.recover()]
    for number in range(len(finished), len(finished) + 8):
        with trying_on:
            archive.append(answer(number))
            waiting.append(answer(number))
        with trying_on:
            if number % 4 == 3:
                archive.seal({})
            elif number % 2:
                archive.commit()
            else:
                continue
            finished, waiting = finished + waiting, []
    disk.end_of_process()
    return finished


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["once", "once and partly"])
def test_an_archive_that_failed_keeps_its_word_to_a_writer_that_tries_on(tmp_path, fault):
    """After an error it either refuses everything, or whatever it calls finished is there."""
    directory, broken = tmp_path / "study", []
    for fail_at in count(1):
        disk = FailingDisk(fail_at, **FAULTS[fault])
        finished = stubborn_session(torn_archive(directory), disk)
        if not disk.has_failed:
            break
        try:
            found = recovered(directory)
            lost = [record for record in finished if record not in found]
            assert lost == [], f"{len(lost)} finished records lost"
        except (StorageError, AssertionError) as error:
            told = str(error).splitlines()[0].replace(f"{directory}/", "")
            broken.append(f"call {fail_at}: {told}")
    assert broken == [], f"{len(broken)} of {fail_at - 1} calls"


# --- one digest over what all records say ---


def root_of(records: list[Record]) -> str:
    """The law in a few lines, by other means than the archive's: of a directory without a plan and a judging."""
    last = {record.key: record for record in records}
    asked = sha256(canonical({"format": FORMAT, "study": {}, "judging": None})).hexdigest().encode()
    return sha256(asked + b"".join(content_digest(last[key]) for key in sorted(last))).hexdigest()


def sealed_root(directory: Path, records: list[Record], *, stops: set[int] = frozenset()) -> str:
    """The root digest of these records, written in this order, with a new session at each stop."""
    State({}, frozenset()).rebuild(directory)
    archive = Archive(directory, InstantDisk())
    for place, record in enumerate(records):
        if place in stops:
            archive.close()
            archive = Archive(directory, InstantDisk())
            list(archive.recover())
            if place % 2:
                archive.seal({})
        archive.append(record)
    return archive.seal({}).root_sha256


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_the_same_answers_give_the_same_root(tmp_path_factory, data):
    """Whatever the order, the interruptions, and the failures that were answered later."""
    directory = tmp_path_factory.mktemp("root") / "study"
    order = data.draw(st.permutations(range(8)))
    records = []
    for number in order:
        tries = data.draw(st.integers(0, 2))
        records += [failure(number, reason) for reason in ("timeout", "reset")[:tries]]
        records.append(answer(number))
    records.append(failure(99))
    stops = data.draw(st.sets(st.integers(0, len(records) - 1), max_size=4))
    assert sealed_root(directory, records, stops=stops) == root_of([*answers(8), failure(99)])


@pytest.mark.parametrize(
    "other",
    [
        answers(7),
        [*answers(7), failure(7)],
        [*answers(7), saying(7, "")],
        [*answers(7), structs.replace(answer(7), subject=asked(7, key=key_of(8)))],
        [*answers(7), structs.replace(answer(7), subject=asked(7, model="n"))],
        [*answers(8), failure(8)],
    ],
    ids=["one less", "one failed", "another text", "another key", "another model", "one more"],
)
def test_other_answers_give_another_root(tmp_path, other):
    assert sealed_root(tmp_path / "study", answers(8)) != sealed_root(tmp_path / "study", other)


def test_of_a_failure_only_its_key_and_reason_count(tmp_path):
    """The key is a digest of all that was asked."""
    roots = {}
    for name, record in {"a": failure(1), "b": failure(1, study="renamed"), "c": failure(1, "reset")}.items():
        root = Root()
        root.add(record.key, content_digest(record))
        roots[name] = root.sha256(tmp_path)
    assert roots["a"] == roots["b"] != roots["c"]


# --- any story at all ---


class AnyStory(RuleBasedStateMachine):
    """The archive beside a plain dict, through crashes that lose any part of what was not synced."""

    def __init__(self):
        super().__init__()
        self.here = contextlib.ExitStack()
        self.directory = Path(self.here.enter_context(TemporaryDirectory()))
        self.finished: list[Record] = []
        self.waiting: list[Record] = []
        self.tails = 0
        self.open()

    def open(self):
        self.disk = InstantDisk()
        self.archive = Archive(self.directory, self.disk)
        found = [line.record for line in self.archive.recover()]
        everything = self.finished + self.waiting
        assert len(self.finished) <= len(found)
        assert found == everything[: len(found)]
        self.finished, self.waiting = found, []
        self.synced = self.size()
        assert len(list(self.directory.glob("records/*.torn-*"))) == self.tails

    def segment(self) -> Path | None:
        names = sorted(self.directory.glob("records/*.jsonl"))
        return names[-1] if names else None

    def size(self) -> int:
        path = self.segment()
        return path.stat().st_size if path else 0

    def answered(self) -> set[str]:
        return {record.key for record in self.finished + self.waiting if isinstance(record, Response)}

    @rule(number=st.integers(0, 30), text=any_text, arrived=st.booleans())
    def append(self, number, text, arrived):
        record = saying(number, joined(text)) if arrived else failure(number)
        if record.key in self.answered():
            return
        before = self.segment()
        self.archive.append(record)
        if self.segment() != before:
            self.synced = 0
        self.waiting.append(record)

    @rule()
    def commit(self):
        self.archive.commit()
        self.finished, self.waiting = self.finished + self.waiting, []
        self.synced = self.size()

    @rule()
    def seal(self):
        self.commit()
        assert self.archive.seal({"records": len(self.finished)}).root_sha256 == root_of(self.finished)
        check(self.directory)

    @rule()
    def stop_and_reopen(self):
        """The process ends without a commit; what it wrote is in the system's memory."""
        self.disk.end_of_process()
        self.open()

    @precondition(lambda self: self.size() > self.synced)
    @rule(data=st.data())
    def lose_power_and_reopen(self, data):
        self.disk.end_of_process()
        content = self.segment().read_bytes()
        kept = content[: data.draw(st.integers(self.synced, len(content)))]
        hole = data.draw(st.integers(self.synced, len(kept)))
        zeroed = data.draw(st.sampled_from((0, 0, 7, 512)))
        kept = kept[:hole] + bytes(len(kept[hole : hole + zeroed])) + kept[hole + zeroed :]
        self.segment().write_bytes(kept)
        self.tails += kept != b"".join(line for line in kept.splitlines(keepends=True) if is_whole(line))
        self.open()

    @invariant()
    def counts_what_waits(self):
        assert self.archive.group_size == len(self.waiting)

    def teardown(self):
        self.disk.end_of_process()
        self.open()
        self.disk.end_of_process()
        self.here.close()


class TestAnyStory(AnyStory.TestCase):
    settings = settings(max_examples=settings().max_examples // 6, stateful_step_count=30)
