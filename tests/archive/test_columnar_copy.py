"""The copy in columns: in the user's cache, made of a large sealed study, and found by what it was made of."""

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.parquet_copy import WORTH_A_COPY, copied_frame, copy_of, make_copy, records_frame
from affidavit.archive.seal import file_sha256
from affidavit.archive.study_directory import StudyDirectory
from affidavit.models.model import Completion, Failure, Reason
from affidavit.results.study_results import StudyResults
from affidavit.results.text_forms import as_json
from affidavit.study.files import load
from affidavit.study.plan import Plan
from affidavit.study.task import Question
from support.command import affidavit
from support.fault_server import FaultServer
from support.studies import fine, records, run, toml
from support.written_study import Answer, Hasty, append, plan_of_frozen, questions, reported, tables, written

SURROGATES = {"q5": "\ud800 <answer>B</answer>", "q6": "\udfff\ud800"}
STUDY = tables(
    models=("m", "n"),
    conditions={"plain": {}, "urged": {"preamble": "!", "control": "plain"}},
    decoding={"samples": 2},
)


def first_day(question: Question) -> Answer:
    """Everything but q9: answers, strange texts, and failures of which some will pass."""
    number = int(question.item.id[1:])
    if number == 9:
        return None
    if number in (3, 4) and question.sample == 0:
        return Failure(Reason.TIMEOUT if number == 3 else Reason.CONTENT_FILTER)
    if question.item.id in SURROGATES:
        return SURROGATES[question.item.id]
    text = "It is <answer>B</answer>" if number == 2 else f"<answer>{'ABCD'[number % 4]}</answer>"
    return Completion(
        text, "length" if number == 1 else "stop", None, {"prompt_tokens": 9, "completion_tokens": 5}
    )


def second_day(question: Question) -> Answer:
    """What timed out is answered once, and fails once more."""
    if question.item.id != "q3" or question.sample:
        return None
    return "<answer>B</answer>" if question.model == "m" else Failure(Reason.SERVER_ERROR)


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """The directory of a small study in two segments, with a copy as large ones have it."""
    folder = tmp_path_factory.mktemp("copied")
    directory = written(folder, STUDY, {"quiz": questions(10)}, first_day, sealed=False)
    append(directory, plan_in(folder), second_day)
    make_copy(StudyDirectory(directory))
    return directory


def plan_in(folder: Path) -> Plan:
    files = load(folder / "study.toml")
    return plan_of_frozen(StudyDirectory(folder / "out"), files, Hasty())


def figures(directory: Path) -> dict:
    return json.loads(json.dumps(as_json(StudyResults(StudyDirectory(directory)).report())))


def copy_in_cache(directory: Path) -> Path:
    study = StudyDirectory(directory)
    return copy_of(study, study.seal())


def of_the_journal(directory: Path, monkeypatch) -> dict:
    """The figures, without the copy's help."""
    with monkeypatch.context() as patched:
        patched.setenv("AFFIDAVIT_CACHE", "off")
        return figures(directory)


def emptied(directory: Path) -> Path:
    """Put a copy without records in place of the copy, with a side file that vouches for it."""
    copy = copy_in_cache(directory)
    pl.read_parquet(copy).clear().write_parquet(copy)
    copy.with_suffix(".json").write_bytes(checked_line({"copy_sha256": file_sha256(copy)}))
    return copy


def pending(found: dict) -> int:
    return sum(row["pending"] for row in found["tables"]["compliance"]["rows"])


@pytest.fixture
def fresh(copied, tmp_path, monkeypatch) -> Path:
    """The same directory, with its copy in a cache of its own."""
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    directory = shutil.copytree(copied, tmp_path / "out")
    make_copy(StudyDirectory(directory))
    return directory


@pytest.mark.slow
def test_all_tables_are_the_same_from_the_copy_and_from_the_journal(fresh, monkeypatch):
    from_copy = figures(fresh)
    assert from_copy == of_the_journal(fresh, monkeypatch)
    assert pending(from_copy) == 8
    assert {"accuracy", "repeated samples", "letters", "other readings", "flips", "failures"} <= set(
        from_copy["tables"]
    )
    emptied(fresh)
    assert pending(figures(fresh)) == 80, "it is the copy that is counted while it fits"


@pytest.mark.slow
def test_the_frame_of_the_copy_is_that_of_the_journal(fresh, monkeypatch):
    from_copy = records_frame(StudyDirectory(fresh)).collect().sort("key")
    monkeypatch.setenv("AFFIDAVIT_CACHE", "off")
    assert from_copy.equals(records_frame(StudyDirectory(fresh)).collect().sort("key"))


@pytest.mark.slow
def test_a_copy_in_the_directory_is_never_read(fresh, monkeypatch):
    """A second truth: whoever sends a directory could send other figures with it."""
    forged = pl.read_parquet(copy_in_cache(fresh)).clear()
    for name in ("records.parquet", copy_in_cache(fresh).name):
        forged.write_parquet(fresh / name)
        (fresh / name).with_suffix(".json").write_bytes(checked_line({"copy_sha256": file_sha256(fresh / name)}))
    assert figures(fresh) == of_the_journal(fresh, monkeypatch)


def test_the_cache_is_its_owner_s_alone_and_the_directory_gets_nothing(fresh):
    cache = copy_in_cache(fresh).parent
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert sorted(path.suffix for path in cache.iterdir()) == [".json", ".parquet"]
    assert not list(fresh.glob("*.parquet*"))


def changed_byte(copy: Path) -> None:
    content = bytearray(copy.read_bytes())
    content[len(content) // 2] ^= 1
    copy.write_bytes(content)


WAYS: dict[str, Callable[[Path], object]] = {
    "a changed byte": changed_byte,
    "no side file": lambda copy: copy.with_suffix(".json").unlink(),
    "no copy": lambda copy: copy.unlink(),
    "a torn side file": lambda copy: copy.with_suffix(".json").write_bytes(b"{"),
    "an empty copy": lambda copy: copy.write_bytes(b""),
    "a copy that is a directory": lambda copy: (copy.unlink(), copy.mkdir()),
    "a copy that is a link": lambda copy: (
        copy.rename(copy.with_name("x")) and copy.symlink_to(copy.with_name("x"))
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_copy_that_is_not_whole_is_not_used(fresh, monkeypatch, way):
    expected = of_the_journal(fresh, monkeypatch)
    WAYS[way](emptied(fresh))
    assert figures(fresh) == expected


def test_a_copy_of_other_segments_is_not_found(fresh):
    study = StudyDirectory(fresh)
    seal = study.seal()
    other = replace(seal, segments=(replace(seal.segments[0], sha256="0" * 64), *seal.segments[1:]))
    assert copied_frame(study, seal) is not None
    assert copied_frame(study, other) is None
    assert copied_frame(study, None) is None, "nothing is counted from a copy before the seal was checked"


@pytest.mark.slow
def test_a_copy_is_not_used_once_more_was_written_after_its_seal(copied, tmp_path):
    folder = shutil.copytree(copied.parent, tmp_path / "again")
    directory, plan = (
        folder / "out",
        plan_in(folder),
    )

    def third_day(question: Question) -> Answer:
        return "<answer>B</answer>" if question.item.id == "q9" else None

    append(directory, plan, third_day, sealed=False)
    found = figures(directory)
    assert found["title"].endswith("(not sealed)")
    assert pending(found) == 0, "what was written since is counted"
    append(directory, plan, lambda question: None)
    assert figures(directory)["tables"] == found["tables"], "sealed anew: the copy is of another seal"


def test_a_failure_that_was_answered_later_appears_once(copied):
    kept = records(copied)
    assert len(kept) == 72 + 4
    frame = records_frame(StudyDirectory(copied)).collect()
    assert len(frame) == frame["key"].n_unique() == 72
    again = frame.filter(pl.col("item_id") == "q3", pl.col("sample") == 0).sort("model")
    assert again["failure"].to_list() == [None, None, "server_error", "server_error"]
    assert again["letter"].to_list() == ["B", "B", None, None]


def test_lone_surrogates_are_escaped_and_come_back(copied):
    frame = records_frame(StudyDirectory(copied)).collect()
    strange = frame.filter(pl.col("item_id").is_in(list(SURROGATES)))
    assert strange["raw_output"].null_count() == len(strange) == 16
    for row in strange.iter_rows(named=True):
        assert row["raw_output_escaped"].isascii()
        assert json.loads(row["raw_output_escaped"]) == SURROGATES[row["item_id"]]
    others = frame.filter(~pl.col("item_id").is_in(list(SURROGATES)), pl.col("failure").is_null())
    assert others["raw_output"].null_count() == 0
    assert others["raw_output_escaped"].null_count() == len(others)


@pytest.mark.slow
def test_names_that_no_column_can_hold_are_spelt_out(tmp_path):
    rows = [{**questions(1)[0], "id": name} for name in ("\ud800", "plain")]
    directory = written(tmp_path, tables(), {"quiz": rows}, lambda question: "<answer>B</answer>")
    make_copy(StudyDirectory(directory))
    assert sorted(records_frame(StudyDirectory(directory)).collect()["item_id"]) == ["\\ud800", "plain"]


def test_a_study_that_is_not_sealed_gets_no_copy_and_no_parts_stay_behind(tmp_path, fresh):
    directory = written(tmp_path / "open", tables(), {"quiz": questions(2)}, lambda question: "x", sealed=False)
    make_copy(StudyDirectory(directory))
    assert len(list((tmp_path / "cache").iterdir())) == 2, "the other study's"


@pytest.mark.slow
def test_a_large_study_gets_its_copy_when_it_is_sealed_and_a_small_one_does_not(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(cache))
    samples = 4
    count = WORTH_A_COPY // samples + 1

    def answer(question: Question) -> Answer:
        if (question.item.id, question.sample) == ("q0", 0):
            return None
        number = (int(question.item.id[1:]) + question.sample) % 7
        return (
            Failure(Reason.CONTENT_FILTER)
            if number == 6
            else ["x\ud800", *(f"<answer>{x}</answer>" for x in "ABBBC")][number]
        )

    study = tables(decoding={"samples": samples})
    directory = written(tmp_path / "large", study, {"quiz": questions(count)}, answer, sealed=False)
    with FaultServer() as server:
        study["models"]["m"]["base_url"] = server.url
        (tmp_path / "large/study.toml").write_text("\n".join(toml(study)))
        written(tmp_path / "small", tables(), {"quiz": questions(2)}, lambda question: "x", sealed=False)
        assert fine(run(tmp_path / "small", AFFIDAVIT_CACHE=str(cache)), 0)
        assert not cache.exists()
        assert fine(run(tmp_path / "large", AFFIDAVIT_CACHE=str(cache)), 4)
        assert len(server.log) == 1, "the last answer"
    assert copy_in_cache(directory).is_file()
    found = figures(directory)
    assert found == of_the_journal(directory, monkeypatch)
    assert (
        reported(affidavit("report", directory, "--format", "json", AFFIDAVIT_CACHE=str(cache))) == found["tables"]
    )
    (row,) = found["tables"]["compliance"]["rows"]
    assert row["planned"] == count * samples == sum(row[name] for name in ("compliant", "non-compliant", "failed"))
    assert fine(affidavit("verify", directory), 0)
    emptied(directory)
    assert pending(figures(directory)) == count * samples, "it was the copy that was counted"
