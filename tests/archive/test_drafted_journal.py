"""Records that are drafted are there all at once, sealed, and as any journal reads them; or none of them is."""

import pytest

from affidavit.archive.disk import Disk
from affidavit.archive.drafted_journal import DraftedJournal
from affidavit.archive.journal import Archive, Walk
from affidavit.archive.line_shapes import NotARecordError, Shape, check_nothing_left, check_type
from affidavit.archive.record import ImportIdentity, Response
from affidavit.archive.seal import Root, check_seal, read_seal


def record(number: int) -> Response:
    subject = ImportIdentity(f"{number:064x}", "s", "t", f"q{number}", "m", "c", 0, None, None, {"n": number})
    return Response(subject, "é" * number, "text/1", {}, True, {})


def test_what_was_drafted_is_a_sealed_journal(tmp_path):
    draft = DraftedJournal(tmp_path, Root(), Disk())
    for number in range(1, 4):
        draft.append(record(number))
    assert list(Walk(tmp_path)) == [], "nothing has its place before it is kept"
    seal = draft.keep({})
    assert [line.record for line in Walk(tmp_path)] == [record(number) for number in range(1, 4)]
    assert (seal, check_seal(tmp_path, seal)) == (read_seal(tmp_path), ())
    archive = Archive(tmp_path)
    assert len(list(archive.recover())) == 3
    assert archive.root_sha256() == seal.root_sha256
    archive.append(record(4))
    archive.seal({})
    assert len(list(Walk(tmp_path))) == 4


def test_a_draft_that_is_dropped_or_killed_leaves_nothing_behind(tmp_path):
    DraftedJournal(tmp_path, Root(), Disk()).append(record(1))  # and then the process was killed
    draft = DraftedJournal(tmp_path, Root(), Disk())
    draft.append(record(2))
    draft.drop()
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_never_put_beside_records(tmp_path):
    archive = Archive(tmp_path)
    archive.append(record(1))
    archive.seal({})
    draft = DraftedJournal(tmp_path, Root(), Disk())
    draft.append(record(2))
    with pytest.raises(ValueError, match="first segment"):
        draft.keep({})
    draft.drop()
    assert len(list(Walk(tmp_path))) == 1


def test_fields_of_a_line_are_of_their_types_or_refused_by_name():
    shape = Shape(ImportIdentity)
    fields = {**dict.fromkeys(ImportIdentity.__struct_fields__, ""), "sample": 0, "row": {}, "more": 1}
    assert shape.take(fields)[-1] == {}
    assert fields == {"more": 1}
    for use, said in (
        (lambda: check_nothing_left(fields), ("no other field", "a field 'more'")),
        (lambda: check_type(1, (str, dict), "x"), ("a text or an object in 'x'", "1")),
        (lambda: shape.take({}), ("a field 'key'", "none")),
        (lambda: shape.all_of([], "x"), ("an object in 'x'", "[]")),
    ):
        with pytest.raises(NotARecordError) as refused:
            use()
        assert (refused.value.expected, refused.value.found) == said
