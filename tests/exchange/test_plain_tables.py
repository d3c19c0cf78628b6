"""Tables as logs: the source's word stands in columns that are named, its verdicts are few words, nothing is guessed."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contracts.mcqa import mcqa
from affidavit.errors import InputError, UsageError
from affidavit.exchange.log_source import log_sources
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.plain_tables import SourceRole, Tables, roles_named
from affidavit.reading.output_columns import Role
from affidavit.running.second_reading import audit_terms, audited

ROWS: list[dict] = [
    {"qid": "q1", "text": "<answer>B</answer>", "gold": "B", "ok": True, "read": "B", "pts": 1},
    {"qid": "q1", "text": "B", "gold": "B", "ok": True, "read": "B", "pts": 0.5},
    {"qid": "q2", "text": "C.", "gold": "B", "ok": False, "read": "[invalid]", "pts": 0},
    {"qid": "q3", "text": None, "gold": "A", "ok": False, "read": None, "pts": None},
    {"qid": "q4", "text": "<answer>A</answer>", "gold": "A", "ok": None, "read": "", "pts": None},
]
NAMED = {Role.TEXT: "text", Role.ANSWER: "gold", Role.ID: "qid"}
SOURCE = {SourceRole.CORRECT: "ok", SourceRole.ANSWER: "read", SourceRole.SCORE: "pts"}


def as_jsonl(folder: Path, rows: list[dict]) -> Path:
    path = folder / "table.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def as_csv(folder: Path, rows: list[dict]) -> Path:
    path = folder / "table.csv"
    pl.DataFrame(rows, infer_schema_length=None).write_csv(path)
    return path


def as_parquet(folder: Path, rows: list[dict]) -> Path:
    path = folder / "table.parquet"
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    return path


WRITERS = {"JSON Lines": as_jsonl, "CSV": as_csv, "Parquet": as_parquet}


def outputs(path: Path, named: dict = NAMED, source: dict = SOURCE) -> list[LoggedOutput]:
    return list(Tables(named, source, ("gold", "answer")).opened(path).outputs())


@pytest.mark.parametrize("kind", WRITERS)
def test_rows_of_every_kind_of_table_become_the_same_outputs(tmp_path, kind):
    path = WRITERS[kind](tmp_path, ROWS)
    log = Tables(NAMED, SOURCE, ("gold",)).opened(path)
    found = list(log.outputs())
    assert found == list(log.outputs())
    assert (log.format, log.task, log.printed, log.has_mean) == (f"a table ({kind})", "table", (), True)
    nothing = "" if kind == "CSV" else None
    assert [(each.item_id, each.sample, each.raw_output, each.answer) for each in found] == [
        ("q1", 0, "<answer>B</answer>", "B"),
        ("q1", 1, "B", "B"),
        ("q2", 0, "C.", "B"),
        ("q3", 0, nothing, "A"),
        ("q4", 0, "<answer>A</answer>", "A"),
    ]
    words = [word for each in found for word in each.words]
    assert [(word.scorer, word.correct, word.answer, word.points) for word in words] == [
        ("ok", True, "B", 1.0),
        ("ok", True, "B", 0.5),
        ("ok", False, None, 0.0),
        ("ok", False, None, None),
        ("ok", None, None, None),
    ]
    assert [word.no_answer for word in words] == [None, None, NoAnswer.SENTINEL, None, None]
    assert [each.no_answer for each in found].count(NoAnswer.MISSING) == (kind != "CSV")
    first = {"JSON Lines": "line 1", "CSV": "line 2", "Parquet": "row 1"}
    assert found[0].place == first[kind]


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        (True, True), ("true", True), ("TRUE", True), ("True", True), (1, True), (1.0, True), ("1", True),
        ("yes", True), (" Yes ", True), (False, False), ("false", False), (0, False), ("0", False), (0.0, False),
        ("no", False), ("NO", False), ("", None), (" ", None), (None, None),
    ],
)  # fmt: skip
def test_verdicts_are_few_words(tmp_path, cell, verdict):
    path = as_jsonl(tmp_path, [{"raw_output": "B", "ok": cell}])
    (output,) = outputs(path, {}, {SourceRole.CORRECT: "ok"})
    assert output.words[0].correct is verdict
    assert output.words[0].points == (None if verdict is None else float(verdict))


VERDICTS = {"true", "false", "1", "0", "1.0", "0.0", "yes", "no"}


@given(
    st.one_of(
        st.text(),
        st.integers(),
        st.floats(),
        st.lists(st.integers()),
        st.sampled_from(["1.00", "true.0", "y", "C"]),
    )
)
def test_any_other_cell_is_refused_with_its_row_and_value(tmp_path_factory, cell):
    """Or it is one of the words, or empty: nothing is a verdict by chance."""
    folder = tmp_path_factory.mktemp("table")
    path = as_jsonl(folder, [{"raw_output": "B", "ok": True}, {"raw_output": "B", "ok": cell}])
    word = f"{cell:g}" if isinstance(cell, float) else str(cell).strip().casefold()
    if word in VERDICTS or not word:
        assert len(outputs(path, {}, {SourceRole.CORRECT: "ok"})) == 2
    else:
        with pytest.raises(InputError, match="'ok'") as refused:
            outputs(path, {}, {SourceRole.CORRECT: "ok"})
        assert refused.value.where == f"{path}:2"


@pytest.mark.parametrize(
    ("rows", "given_columns", "source", "said"),
    [
        (ROWS, NAMED, {SourceRole.CORRECT: "okay"}, "--source-correct: expected a column of .*: qid, text, gold, ok,"),
        (ROWS, NAMED, {SourceRole.ANSWER: "text"}, "--source-answer: expected a column that is not --field already"),
        (ROWS, NAMED, {SourceRole.ANSWER: "ok", SourceRole.CORRECT: "ok"}, "that is not --source-answer already"),
        (ROWS, {**NAMED, Role.MODEL: "llm"}, SOURCE, "--model: expected a column of .*, found 'llm'"),
        (ROWS, {Role.ANSWER: "gold"}, SOURCE, "expected a field 'raw_output'"),
        (ROWS, NAMED, {SourceRole.SCORE: "read"}, "jsonl:1: expected a number or nothing in 'read', found \"B\""),
        ([{"raw_output": 5}], {}, {}, "jsonl:1: expected a text in 'raw_output', found 5"),
        ([{"raw_output": "a"}, {"text": "b"}], {}, {}, "jsonl:2: expected a field 'raw_output'"),
        ([{"raw_output": "a"}, {"raw_output": "a", "id": 1}], {}, {}, "jsonl:2: expected no 'id', as in the first row"),
        ([{"raw_output": "a", "id": 1, "sample": 0}] * 2, {}, {}, "jsonl:2: expected an output that no other row has"),
        ([{"raw_output": "a", "verbatim": "perhaps"}], {}, {}, "nothing in 'verbatim', found \"perhaps\""),
        ([], {}, {}, "found an empty file"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_by_its_place(tmp_path, rows, given_columns, source, said):
    with pytest.raises((InputError, UsageError), match=said):
        outputs(as_jsonl(tmp_path, rows), given_columns, source)


def test_columns_and_no_rows_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("raw_output,ok\n")
    with pytest.raises(InputError, match="found columns and no rows"):
        outputs(path, {}, {})


def test_what_no_column_holds_stays_in_the_row_under_its_own_name(tmp_path):
    row = {"raw_output": "x", "numbers": [1, 2], "target": 24, "answer": {"a": 1}, "source_correct": "no"}
    path = as_jsonl(tmp_path, [{**row, "verbatim": False, "task": "t", "output_id": "mine"}])
    (output,) = outputs(path, {}, {})
    said = output.row(log="table", task="other")
    assert {name: said[name] for name in ("numbers", "target", "answer")} == {
        "numbers": [1, 2],
        "target": 24,
        "answer": {"a": 1},
    }
    assert (said["task"], said["output_id"], said["verbatim"], said["source_correct"]) == (
        "t",
        "mine",
        False,
        False,
    )
    assert (output.answer, output.words[0].scorer) == ('{"a":1}', "source_correct")


def test_scores_that_are_no_finite_number_count_nothing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("raw_output,pts\na,nan\nb,inf\nc,0.25\nd,\n")
    found = [output.words[0] for output in outputs(path, {}, {SourceRole.SCORE: "pts"})]
    assert [(word.points, word.score) for word in found] == [
        (None, "nan"),
        (None, "inf"),
        (0.25, "0.25"),
        (None, None),
    ]


def test_the_figure_is_made_of_the_rows_and_nothing_is_printed(tmp_path):
    terms = audit_terms(mcqa, columns=NAMED, source_columns={SourceRole.CORRECT: "ok"})
    (reading,) = audited([as_jsonl(tmp_path, ROWS)], terms)
    assert (reading.printed, reading.scorer, reading.outputs) == (None, "ok", 5)
    assert reading.recomputed == pytest.approx(1 / 3)
    assert reading.moves.total() == 2
    terms = audit_terms(mcqa, columns=NAMED, source_columns={SourceRole.SCORE: "pts"})
    (reading,) = audited([as_jsonl(tmp_path, ROWS)], terms)
    assert reading.recomputed == pytest.approx((0.75 + 0) / 2)


def test_each_task_and_model_has_a_figure_of_its_own(tmp_path):
    rows = [
        {"raw_output": "B", "answer": "B", "task": task, "model": model, "id": "1", "source_correct": right}
        for task, model, right in (("s", "a", 1), ("s", "b", 0), ("t", "a", 0))
    ]
    found = audited([as_jsonl(tmp_path, rows)], audit_terms(mcqa))
    assert [(each.task, each.model, each.recomputed, each.of_log) for each in found] == [
        ("s", "a", 1.0, 3),
        ("s", "b", 0.0, 3),
        ("t", "a", 0.0, 3),
    ]


def test_a_table_is_told_by_our_name_for_texts_or_by_a_named_column(tmp_path):
    path = as_jsonl(tmp_path, ROWS)
    with pytest.raises(InputError, match=r"expected a log, found a file of another kind") as refused:
        log_sources([path], Tables())
    assert "--field COLUMN" in refused.value.hint
    with pytest.raises(InputError):
        log_sources([path])
    assert log_sources([path], Tables({Role.TEXT: "text"}))[0].log.notes[0] == "columns: `text` as text"
    (tmp_path / "b").mkdir()
    as_jsonl(tmp_path / "b", [{"raw_output": "B"}])
    assert [each.log_name for each in log_sources([tmp_path / "b"], Tables())] == ["table.jsonl"]
    named = Tables({Role.TEXT: "raw_output"})
    assert [each.log_name for each in log_sources([tmp_path / "b"], named)] == ["table.jsonl"]


@pytest.mark.parametrize("deep", ["[" * 1_000_000, '{"a":' * 1_000_000 + "1" + "}" * 1_000_000])
def test_a_cell_a_million_levels_deep_is_refused(tmp_path, deep):
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"raw_output": "B", "beside": {deep}}}\n')
    with pytest.raises(InputError, match="nested too deeply"):
        outputs(path, {}, {})


@pytest.mark.parametrize("kind", WRITERS)
def test_a_table_that_was_cut_is_refused_or_read_as_far_as_it_goes(tmp_path, kind):
    path = WRITERS[kind](tmp_path, ROWS)
    content, whole = path.read_bytes(), {(each.place, each.raw_output) for each in outputs(path)}
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place])
        try:
            found = outputs(path)
        except (InputError, UsageError):  # of a header that was cut, a column is not there
            continue
        assert {(each.place, each.raw_output) for each in found} <= whole


def test_columns_are_named_by_what_they_hold():
    assert roles_named({"text": "a", "source_score": "b"}) == ({Role.TEXT: "a"}, {SourceRole.SCORE: "b"})
    with pytest.raises(UsageError, match="Did you mean source_correct") as refused:
        roles_named({"source_corect": "a"})
    assert refused.value.where == "columns"
