"""Logs are sources of rows: under our names, with names of their own, and counted as they are walked."""

from pathlib import Path

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.exchange.log import Log
from affidavit.exchange.log_source import LOG_ROWS, log_sources, source_if_log, sources_of
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.plain_tables import SourceRole, Tables
from affidavit.exchange.registry import distinct_names
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.reading.sources import format_of, rows_of
from support.written_logs import write_log

OUTPUTS = [
    LoggedOutput(place="line 1", item_id="q1", model="m", raw_output="B", answer="B", prompt="Which?"),
    LoggedOutput(
        place="line 2",
        item_id="q1",
        model="m",
        sample=1,
        raw_output=None,
        no_answer=NoAnswer.ERROR,
        error="timeout",
        words=[SourceWord(scorer="a"), SourceWord(scorer="b", no_answer=NoAnswer.SENTINEL)],
    ),
    LoggedOutput(place="line 3", item_id="q2", model="m", raw_output="C", verbatim=False, condition="loud"),
]
BESIDE = LoggedOutput(place="1", item_id="q", model="m", raw_output="B", other_texts={"choices[1]": "C"})


def source(path: str = "logs/a.jsonl"):
    return sources_of([Log(path=Path(path), format="made up", task="quiz", outputs=lambda: iter(OUTPUTS))])[0]


def test_outputs_become_rows_under_our_names():
    first, second, third = rows_of(source())
    assert first.where == "logs/a.jsonl: line 1"
    assert first.fields == {
        "id": "q1",
        "model": "m",
        "task": "quiz",
        "condition": "base",
        "sample": 0,
        "output_id": "a.jsonl: line 1",
        "raw_output": "B",
        "prompt": "Which?",
        "answer": "B",
        "verbatim": True,
    }
    assert (second.fields["raw_output"], second.fields["source_error"]) == (None, "timeout")
    assert second.fields["source_no_answer"] == "error"
    assert [each["source_scorer"] for each in second.fields["source_words"]] == ["a", "b"]
    assert (third.fields["verbatim"], third.fields["condition"]) == (False, "loud")


def test_a_word_about_the_whole_item_says_so():
    said = SourceWord(scorer="f1", score=0.5, about_item=True)
    row = LoggedOutput(place="1", item_id="q", model="m", raw_output="B", words=[said]).row(log="a", task="t")
    assert (row["source_word_about"], row["source_correct"], row["source_score"]) == ("item", None, 0.5)


def test_other_texts_stand_in_the_row_and_are_counted():
    logs = sources_of([Log(path=Path("a"), format="made up", task="t", outputs=lambda: iter([*OUTPUTS, BESIDE]))])[
        0
    ]
    (*others, last) = rows_of(logs)
    assert last.fields["source_other_texts"] == {"choices[1]": "C"}
    assert not any("source_other_texts" in each.fields for each in others)
    assert logs.counted["with other texts"] == 1


def test_every_walk_counts_anew():
    logs = source()
    for _ in range(2):
        list(rows_of(logs))
        assert logs.counted == {"outputs": 3, "error": 1, "sentinels": 1, "not verbatim": 1}


def test_a_log_has_no_bytes_to_read():
    with pytest.raises(UsageError, match="output by output"), source().opened():
        pass
    assert format_of(source()) is LOG_ROWS


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/x.json"], ["x.json"]),
        (["a/x.json", "b/x.json"], ["a/x.json", "b/x.json"]),
        (["a/c/x.json", "b/c/x.json", "y.json"], ["a/c/x.json", "b/c/x.json", "y.json"]),
        (["x.json", "a/x.json"], ["x.json", "a/x.json"]),
    ],
)
def test_no_two_logs_have_one_name(paths, names):
    assert distinct_names(list(map(Path, paths))) == names


def test_a_folder_that_leads_into_itself_ends(tmp_path):
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / ".hidden").mkdir()
    with pytest.raises(InputError, match="a directory without any"):
        log_sources([tmp_path])


def test_whatever_is_no_log_is_refused_by_name(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty.json").touch()
    for name, found in (
        ("notes.txt", "of another kind"),
        ("empty.json", "an empty file"),
        ("none", "no such file"),
    ):
        with pytest.raises((InputError, UsageError), match=found) as refused:
            log_sources([tmp_path / name])
        assert refused.value.where == str(tmp_path / name)
    (tmp_path / "empty.json").unlink()
    with pytest.raises(InputError, match=r"notes\.txt: expected a log"):
        log_sources([tmp_path])
    assert source_if_log(tmp_path / "notes.txt") is None
    (tmp_path / "notes.txt").unlink()
    with pytest.raises(InputError, match="a directory without any"):
        log_sources([tmp_path])


def test_a_log_that_is_given_twice_is_refused(tmp_path):
    log = Log(path=tmp_path / "a.jsonl", format="made up", task="quiz", outputs=lambda: iter(()))
    other = Log(
        path=tmp_path / "." / "b" / ".." / "a.jsonl", format="made up", task="quiz", outputs=lambda: iter(())
    )
    with pytest.raises(UsageError, match="every log once"):
        sources_of([log, other])


def test_a_study_is_no_log_and_what_shows_it_is_told(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.json").write_text("{}")
    for place in (tmp_path / "study", tmp_path):
        with pytest.raises(InputError, match="expected logs of a harness, found a study") as refused:
            log_sources([place], Tables(source={SourceRole.CORRECT: "ok"}))
        assert f"`affidavit report {tmp_path / 'study'}`" in refused.value.hint


def test_a_slip_of_a_name_is_no_log_that_could_be_left_out(tmp_path):
    write_log(tmp_path)
    unreadable = UnreadableLogs(skipped=True)
    with pytest.raises(UsageError, match="no such file"):
        log_sources([tmp_path, tmp_path / "loggs"], unreadable=unreadable)


def test_a_log_that_had_to_be_a_table_is_told_why(tmp_path):
    log = write_log(tmp_path)
    with pytest.raises(InputError, match="all LOGS are tables: --source-correct") as refused:
        log_sources([log], Tables(source={SourceRole.CORRECT: "ok"}))
    assert "This one is a log (lm-eval samples)" in refused.value.hint
