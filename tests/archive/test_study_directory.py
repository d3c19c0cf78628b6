"""One object over a study's directory: what was frozen, the items, the journal, the seal, the lock."""

import shutil
from pathlib import Path

import pytest

from affidavit.archive import seal as seal_module
from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.disk import Disk
from affidavit.archive.record import Failed, QuestionIdentity, Response
from affidavit.archive.seal import SealedFile, sealed_file
from affidavit.archive.study_directory import FrozenItem, ImportedStudy, PlannedStudy, Revision, StudyDirectory
from affidavit.errors import InputError, LockedError, StorageError

STUDIES = Path(__file__).parents[1] / "golden" / "studies"


@pytest.fixture
def planned(tmp_path) -> StudyDirectory:
    return StudyDirectory(shutil.copytree(STUDIES / "planned", tmp_path / "planned"))


def test_a_planned_study_says_what_was_frozen(planned):
    study = planned.frozen()
    assert isinstance(study, PlannedStudy)
    assert (study.name, study.seed) == ("kept", 7)
    assert study.identities == {"alpha": "alpha", "beta": "beta"}
    assert study.counts == {"quiz": 3, "hands": 2, "advice": 2}
    planned.check_items(study)
    assert planned.judging_fields()["tasks"] == ["advice"]


def test_an_imported_study_says_what_was_taken_in():
    study = StudyDirectory(STUDIES / "imported").frozen()
    assert isinstance(study, ImportedStudy)
    assert study.identities == {"alpha": "alpha", "gpt": "gpt"}
    assert study.cells == {("imported", "alpha", "B"): 1, ("imported", "gpt", "A"): 2, ("imported", "gpt", "B"): 1}
    assert (study.samples, study.config["tasks"]["imported"]["contract"]) == (1, "text")
    assert study.config["columns"]["id"] == "question_id"


def test_a_directory_without_a_study_is_refused(tmp_path):
    directory = StudyDirectory(tmp_path)
    assert not directory.is_study
    assert directory.frozen_or_none() is None
    assert not directory.has_records
    assert directory.judging_fields() is None
    assert directory.seal() is None
    with pytest.raises(InputError, match=r"expected a study directory, found no study\.json in it"):
        directory.frozen()


MISTYPED = {
    "no config": {"config": None},
    "a name that is a number": {"config": {"name": 7, "seed": 0, "models": {}}},
    "no seed": {"config": {"name": "s", "models": {}}},
    "a model without an identity": {"config": {"name": "s", "seed": 0, "models": {"m": {}}}},
    "counts in words": {"counts": {"quiz": "many"}},
}


@pytest.mark.parametrize("changed", MISTYPED.values(), ids=MISTYPED)
def test_a_study_of_other_types_is_corruption_although_its_checksum_fits(planned, changed):
    path = planned.path / "study.json"
    path.write_bytes(checked_line({**checked_fields(path.read_bytes()), **changed}))
    with pytest.raises(StorageError) as caught:
        planned.frozen()
    assert caught.value.where == f"{path}:1"
    assert caught.value.expected == "the fields of a study"


def test_a_seal_of_other_types_is_corruption_although_its_checksum_fits(planned):
    path = planned.path / "seal.json"
    path.write_bytes(checked_line({**checked_fields(path.read_bytes()), "segments": [{"name": "000001.jsonl"}]}))
    with pytest.raises(StorageError) as caught:
        planned.seal()
    assert (caught.value.where, caught.value.expected) == (f"{path}:1", "the fields of a seal")


def test_an_item_of_other_types_is_corruption_although_its_checksum_fits(planned):
    path = planned.path / "items.jsonl"
    path.write_bytes(
        path.read_bytes() + checked_line({"kind": "item", "v": 3, "task": "quiz", "id": 7, "item": {}})
    )
    with pytest.raises(StorageError) as caught:
        list(planned.items())
    assert caught.value.where == f"{path}:8"


def test_items_come_back_as_they_were_frozen(tmp_path):
    directory = StudyDirectory(tmp_path)
    items = [FrozenItem("t", f"q{number}", {"question": "\ud800", "number": number}) for number in range(1_001)]
    drafted = directory.draft_items(items, Disk())
    assert list(directory.drafted_items()) == items
    assert not (tmp_path / "items.jsonl").exists()
    directory.keep_items(Disk())
    study = of_items(drafted)
    assert directory.check_items(study) == {"items.jsonl": sealed_file(tmp_path / "items.jsonl")}
    assert list(directory.items()) == items
    with (tmp_path / "items.jsonl").open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(StorageError, match=r"items\.jsonl:1002: expected the item as it was frozen"):
        directory.check_items(study)


def test_a_draft_that_is_dropped_leaves_nothing(tmp_path):
    directory = StudyDirectory(tmp_path)
    directory.draft_items([FrozenItem("t", "q", {})], Disk())
    directory.drop_draft(Disk())
    assert not list(tmp_path.iterdir())


def of_items(sha256: str) -> PlannedStudy:
    """A study with nothing but the digest of its items."""
    first = Revision(1, "study.json:1", {}, {}, sha256)
    return PlannedStudy("study.json:1", "s", 0, {}, {}, {}, None, {}, sha256, (first,))


def test_records_are_found_again_where_a_walk_has_passed_them(planned):
    lines = list(planned.walk())
    assert [line.placed.seq for line in lines] == list(range(1, len(lines) + 1))
    assert len({line.segment.number for line in lines}) == 2
    responses = [line for line in lines if isinstance(line.record, Response)]
    assert list(planned.records_at(line.place for line in responses)) == [line.record for line in responses]
    assert list(planned.records()) == [line.record for line in lines]


def test_a_torn_tail_is_seen_by_whoever_walks_and_cut_by_whoever_recovers(planned):
    (planned.path / "seal.json").unlink()
    (planned.path / "records/000002.jsonl").unlink()
    path = planned.path / "records/000001.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    walk = planned.walk()
    assert not walk.torn
    count = sum(1 for _ in walk)
    assert walk.torn
    archive = planned.archive(Disk())
    assert sum(1 for _ in archive.recover()) == count == whole.count(b"\n") - 1
    archive.close()
    assert path.with_suffix(".torn-1").read_bytes() == whole[path.stat().st_size : -9]


def test_a_seal_is_over_everything_until_more_is_written(planned):
    seal = planned.seal()
    assert planned.is_sealed_by(seal)
    assert seal.records == len(list(planned.walk()))
    planned.check_seal(seal)
    archive = planned.archive(Disk())
    list(archive.recover())
    archive.append(Failed(QuestionIdentity("f" * 64, "s", "t", "q", "m", "c", 0, "0" * 64, None), "timeout"))
    archive.commit()
    archive.close()
    assert not planned.is_sealed_by(seal)
    assert not planned.is_sealed_by(None)


def test_files_that_were_just_found_as_they_were_sealed_are_not_read_again(planned, monkeypatch):
    read, open_to_read = [], seal_module.open_to_read

    def noted(path: Path):
        read.append(path.name)
        return open_to_read(path)

    seal, hashed = planned.seal(), planned.check_items(planned.frozen())
    monkeypatch.setattr(seal_module, "open_to_read", noted)
    assert planned.check_seal(seal, hashed=hashed) == ()
    assert "items.jsonl" not in read
    assert {"study.json", "000001.jsonl"} <= set(read)
    other = SealedFile(hashed["items.jsonl"].bytes, "0" * 64)
    assert planned.check_seal(seal, hashed={"items.jsonl": other}) == ()
    assert "items.jsonl" in read, "the file decides, not what was said of it"


def test_who_holds_the_lock_is_told(planned):
    assert planned.holder() is None
    with planned.locked():
        assert planned.holder() is not None
        with pytest.raises(LockedError), StudyDirectory(planned.path).locked():
            pass
    assert planned.holder() is None
