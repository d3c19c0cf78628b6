"""Published items become our own rows, or are refused with their place; nothing changes without a word."""

import io
import json
from contextlib import suppress
from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.contracts.expression import solve
from affidavit.contracts.game24 import game24
from affidavit.contracts.mcqa import LETTERS, MultipleChoice
from affidavit.errors import InputError, UsageError
from affidavit.items.formats import FORMATS
from affidavit.items.hands import SOLVABLE_HANDS, generated_hands
from affidavit.items.item import check
from affidavit.items.item_files import published_rows
from affidavit.reading.source import bytes_source
from support.published_items import GPQA_HEADER, REDUX_HEADER, lines, table


def parquet(*rows):
    out = io.BytesIO()
    pl.DataFrame(list(rows), infer_schema_length=None).write_parquet(out)
    return out.getvalue()


def item(item_id, answer="B", options=("red", "blue", "green", "grey"), question="Colour of the sky?", **metadata):
    return {
        "id": item_id, "question": question, "options": list(options), "answer": answer, "metadata": metadata
    }  # fmt: skip


def rows_of(name, content):
    return published_rows(bytes_source(name, content))


def one(name, content):
    ((where, row),) = rows_of(name, content)
    return where, row


SKY, COLOURS = "Colour of the sky?", ["red", "blue", "green", "grey"]
OWN = {"id": "q1", "question": SKY, "options": COLOURS, "answer": "B"}
PRO = {"question_id": 7, "question": SKY, "options": COLOURS, "answer": "B", "answer_index": 1, "category": "air"}
PRO_ITEM = item("7", answer_index=1, category="air")
ARC = {
    "id": "arc_1",
    "question": {"stem": SKY, "choices": [{"label": a, "text": b} for a, b in zip("ABCD", COLOURS, strict=True)]},
    "answerKey": "B",
}
ARC_FLAT = {"id": "f1", "question": SKY, "choices": {"text": COLOURS, "label": list("1234")}, "answerKey": "2"}
AQUA = {
    "question": SKY,
    "options": ["A)red", "B) blue", "C)C)", "D)grey"],
    "rationale": "Look up.",
    "correct": "B",
}
REDUX = [SKY, str(COLOURS), "1", "ok", "sky.org", "", ""]
REDUX_REST = {"error_type": "ok", "source": "sky.org", "correct_answer": "", "potential_reason": ""}
SOLVED = "48 / 2 = <<48/2=24>>24 in May.\n24 + 1048 = 1072 in all.\n#### 1,072"
GSM8K = {"question": "Clips?", "answer": SOLVED}
HANDS_HEADER = ["Rank", "Puzzles", "AMT (s)", "Solved rate"]
N_A = ["N/A"]


@pytest.mark.parametrize(
    ("name", "content", "where", "expected"),
    [
        ("own.jsonl", lines(OWN), "own.jsonl:1", item("q1")),
        ("own.jsonl", b"\n\n" + lines(OWN | {"level": 3}), "own.jsonl:3", item("q1", level=3)),
        ("own.jsonl", lines(OWN | {"metadata": {"a": [None]}, "b": 2}), "own.jsonl:1", item("q1", a=[None], b=2)),
        ("own.jsonl", lines(OWN | {"metadata": "new"}), "own.jsonl:1", item("q1", metadata="new")),
        ("own.jsonl", lines(OWN | {"id": 12}), "own.jsonl:1", item("12")),
        ("own.jsonl", lines(OWN | {"id": None}), "own.jsonl:1", item("own-1")),
        ("own.jsonl", lines(OWN | {"correct": True}), "own.jsonl:1", item("q1", correct=True)),
        ("own.csv", table(OWN.keys(), [*OWN.values()]), "own.csv:2", item("q1")),
        ("open.csv", b"id,question,gold\nq1,Why?,so", "open.csv:2", {"id": "q1", "question": "Why?", "gold": "so"}),
        ("open.json", b'[{"id": "q1", "question": "Why?"}]', "open.json:row 1", {"id": "q1", "question": "Why?"}),
        *(
            (name, content, where, {"id": "gsm-1", "question": "Clips?", "answer": "1,072", "metadata": {"solution": SOLVED}})
            for name, content, where in (
                ("gsm.jsonl", lines(GSM8K), "gsm.jsonl:1"),
                ("gsm.csv", table(GSM8K.keys(), [*GSM8K.values()]), "gsm.csv:2"),
                ("gsm.parquet", parquet(GSM8K), "gsm.parquet:row 1"),
            )
        ),
        (
            "hands.jsonl", lines({"id": "h", "numbers": [4, 9, 10, 13], "target": 24, "level": 1}), "hands.jsonl:1",
            {"id": "h", "numbers": [4, 9, 10, 13], "target": 24, "metadata": {"level": 1}},
        ),
        (
            "hands.jsonl", lines({"numbers": [1, 2]}), "hands.jsonl:1",
            {"id": "hands-1", "numbers": [1, 2], "target": 24, "metadata": {}},
        ),
        (
            "24.csv", table(HANDS_HEADER, ["1", "6 4 1 1", "4.40", "99.20%"]), "24.csv:2",
            {
                "id": "1-1-4-6", "numbers": [6, 4, 1, 1], "target": 24,
                "metadata": {"Rank": "1", "AMT (s)": "4.40", "Solved rate": "99.20%"},
            },
        ),
        ("dir/mmlu.csv", table([SKY, *COLOURS, "B"]), "dir/mmlu.csv:1", item("mmlu-1")),
        ("C:\\a.b.csv", table([SKY, *COLOURS, ""]), "C:\\a.b.csv:1", item("a.b-1", answer=None)),
        (
            "m.csv", table(["question", *(f"choice{n}" for n in range(4)), "answer"], [SKY, *COLOURS, "1"]),
            "m.csv:2", item("m-1"),
        ),
        (
            "m.csv", table(["", "question", *"ABCD", "answer", "subject"], ["0", SKY, *COLOURS, " B", "air"]),
            "m.csv:2", item("m-1", **{"": "0", "subject": "air"}),
        ),
        (
            "m.csv", table(["id", "question", *"ABCDE", "answer"], ["x", SKY, *COLOURS, "black", "4"]),
            "m.csv:2", item("x", "E", [*COLOURS, "black"]),
        ),
        (
            "m.parquet", parquet({"question": SKY, "subject": "air", "choices": COLOURS, "answer": 1}),
            "m.parquet:row 1", item("m-1", subject="air"),
        ),
        ("pro.json", json.dumps([PRO]).encode(), "pro.json:row 1", PRO_ITEM),
        ("pro.jsonl", lines(PRO), "pro.jsonl:1", PRO_ITEM),
        ("pro.parquet", parquet(PRO), "pro.parquet:row 1", PRO_ITEM),
        (
            "pro.parquet", parquet(PRO | {"day": date(2024, 2, 1), "share": float("nan"), "most": float("inf")}),
            "pro.parquet:row 1", item("7", answer_index=1, category="air", day="2024-02-01", share=None, most="inf"),
        ),
        (
            "pro.jsonl", lines(PRO | {"options": COLOURS + 6 * N_A}), "pro.jsonl:1",
            item("7", answer_index=1, category="air", fillers_removed=6),
        ),
        (
            "pro.jsonl", lines(PRO | {"options": COLOURS + N_A}), "pro.jsonl:1",
            item("7", options=COLOURS + N_A, answer_index=1, category="air"),
        ),
        ("pro.jsonl", lines(PRO | {"answer": None}), "pro.jsonl:1", PRO_ITEM),
        ("arc.jsonl", lines(ARC), "arc.jsonl:1", item("arc_1")),
        (
            "csqa.jsonl", lines(ARC | {"question": ARC["question"] | {"question_concept": "sky"}}), "csqa.jsonl:1",
            item("arc_1", question_concept="sky"),
        ),
        (
            "arc.jsonl",
            lines({"question": {"stem": "?", "choices": [{"label": "A", "text": "x", "para": "p"}, {"label": "B", "text": "y"}]}}),
            "arc.jsonl:1", item("arc-1", None, "xy", "?", choices={"para": ["p", None]}),
        ),
        ("flat.jsonl", lines(ARC_FLAT), "flat.jsonl:1", item("f1", labels=list("1234"))),
        ("flat.parquet", parquet(ARC_FLAT), "flat.parquet:row 1", item("f1", labels=list("1234"))),
        ("flat.jsonl", lines(ARC_FLAT | {"answerKey": ""}), "flat.jsonl:1", item("f1", None, labels=list("1234"))),
        (
            "aqua.jsonl", lines(AQUA), "aqua.jsonl:1",
            item("aqua-1", options=["red", " blue", "C)", "grey"], rationale="Look up."),
        ),
        ("redux.csv", table(REDUX_HEADER, REDUX), "redux.csv:2", item("redux-1", **REDUX_REST)),
        ("redux.csv", table(REDUX_HEADER, REDUX, delimiter=";"), "redux.csv:2", item("redux-1", **REDUX_REST)),
        (
            "redux.csv", table(REDUX_HEADER, [SKY, json.dumps(["é\n", 'a"', "c'"]), "2", "ok", "", "", ""]),
            "redux.csv:2",
            item("redux-1", "C", ["é\n", 'a"', "c'"], **REDUX_REST | {"source": ""}),
        ),
        (
            "redux.csv",
            table(REDUX_HEADER, [SKY, str(["x", "x", ""]), "0", "wrong_groundtruth", "", "2", "twice"]),
            "redux.csv:2",
            item(
                "redux-1", "A", ["x", "x", ""], error_type="wrong_groundtruth", source="", correct_answer="2",
                potential_reason="twice", flawed=True, duplicate_options=[["A", "B"]],
            ),
        ),
    ],
)  # fmt: skip
def test_every_format_becomes_our_own_row(name, content, where, expected):
    assert one(name, content) == (where, expected)
    # A byte order mark changes nothing, and our own rows are read as they are.
    if not content.startswith(b"PAR1"):
        assert one(name, b"\xef\xbb\xbf" + content) == (where, expected)
    assert one("again.jsonl", lines(expected)) == ("again.jsonl:1", expected)


@pytest.mark.parametrize("content", [lines(OWN), lines(AQUA), table([SKY, *COLOURS, "B"]), lines(ARC_FLAT)])
def test_a_row_is_an_item_that_the_contract_takes(content):
    check(one("x", content)[1], MultipleChoice(), where="x")


def test_gpqa_options_are_drawn_once_and_for_all():
    rows = [[f"rec{n}", f"Why {n}?", "right", "wrong one", "wrong two", "wrong three", "me"] for n in range(40)]
    items = [row for _, row in rows_of("gpqa.csv", table(GPQA_HEADER, *rows))]
    order = ["Incorrect Answer 2", "Correct Answer", "Incorrect Answer 3", "Incorrect Answer 1"]
    assert items[0] == item(
        "rec0", "B", ["wrong two", "right", "wrong three", "wrong one"], "Why 0?", Writer="me", option_order=order
    )
    for row in items:
        assert row["options"][LETTERS.index(row["answer"])] == "right"
    assert {row["answer"] for row in items} == set("ABCD")
    # The order hangs on the record alone: other rows, another file or another format change nothing.
    again = lines(*(dict(zip(GPQA_HEADER, row, strict=True)) for row in reversed(rows)))
    assert [row for _, row in rows_of("other.jsonl", again)] == items[::-1]


def test_gpqa_without_a_record_id_is_drawn_by_the_question():
    header, cells = GPQA_HEADER[1:], ["Why 0?", "right", "x", "y", "z", "me"]
    first, second = (row for _, row in rows_of("g.csv", table(header, cells, ["Why 1?", *cells[1:]])))
    assert (first["id"], second["id"]) == ("g-1", "g-2")
    assert one("h.csv", table(header, ["Why 1?", *cells[1:]]))[1] == second | {"id": "h-1"}


def test_cells_may_have_several_lines_and_rows_are_still_counted():
    content = b'"Two\r\nlines, ""quoted""\n?",a, b ,"c\n",d,A\r\n\r\nNext\xe2\x80\xa8?,a,b,c,d,B'
    first, second = rows_of("m.csv", content)
    options = ["a", " b ", "c\n", "d"]
    assert first == ("m.csv:1", item("m-1", "A", options, 'Two\r\nlines, "quoted"\n?'))
    assert second == ("m.csv:6", item("m-2", "B", "abcd", "Next\u2028?"))


def test_equal_wrong_options_are_kept_and_named():
    first, second = (row for _, row in rows_of("m.csv", table([SKY, *"xyz", "x\t", "B"], [SKY, *"xxyy", ""])))
    assert first == item("m-1", "B", ["x", "y", "z", "x\t"], duplicate_options=[["A", "D"]])
    assert second == item("m-2", None, "xxyy", duplicate_options=[["A", "B"], ["C", "D"]])


REFUSED = [
    ("m.csv", b"", "m.csv: expected rows as JSON Lines, CSV or Parquet, found an empty file"),
    ("m.csv", b"\xef\xbb\xbf \r\n", "m.csv: expected rows as JSON Lines, CSV or Parquet, found an empty file"),
    ("m.json", b"[]", "m.json: expected a JSON list of objects, found an empty list"),
    ("m.parquet", parquet(PRO)[:60], "m.parquet: expected Parquet, found"),
    ("m.csv", table(REDUX_HEADER), "m.csv: expected at least one item, found no rows"),
    ("m.csv", b"version https://git-lfs.github.com/spec/v1\noid x", "found a Git LFS pointer, which stands for a file"),
    ("m.csv", "é".encode("utf-16"), "expected text in UTF-8, found text in UTF-16\nConvert the file, for example with `iconv -f utf-16 -t utf-8`"),
    ("m.csv", b"a,b\nc,\xe9", "m.csv:2: expected text in UTF-8, found byte 0xe9 at byte 3 of the line\nFrom a spreadsheet, save it as CSV UTF-8"),
    ("m.csv.gz", b"\x1f\x8b\x08", "m.csv.gz: expected the rest of the file, found gzip data that end too early"),
    # no known format
    ("m.csv", b"name,age\nx,3", 'expected items of a known format, found a first row of ["name", "age"]\nLooked for: our hands'),
    ("m.jsonl", lines({"prompt": "?"}), 'm.jsonl:1: expected items of a known format, found the fields ["prompt"]\nLooked'),
    ("m.json", b"[1, 2]", "m.json:1: expected a JSON object, found [1, 2]"),
    ("m.json", b'[{"id": 1}, 2]', "m.json:row 1: expected items of a known format"),
    ("m.json", json.dumps([OWN, 2]).encode(), "m.json:row 2: expected a JSON object, found 2"),
    ("m.json", b'[{"id": 1', "m.json:1: expected a JSON list of objects, found Expecting ',' delimiter at column 10"),
    ("m.jsonl", lines(OWN)[:40], "m.jsonl:1: expected a JSON object"),
    ("m.jsonl", lines(OWN, AQUA), "m.jsonl:2: expected our questions (question, options), as in the rows before, found"),
    # rows and cells
    ("m.csv", table([SKY, *COLOURS, "B"], [SKY, "x", "B"]), f'm.csv:2: expected 6 cells, found 3 cells, the first "{SKY}"\nA text'),
    ("m.csv", table(REDUX_HEADER, [*REDUX, ""]), "m.csv:2: expected 7 cells, as in the header, found 8 cells"),
    ("m.csv", table([*REDUX_HEADER, "source"], REDUX), "m.csv:1: expected columns of different names"),
    ("m.csv", b'a,b,c,d,e,A\na,"b', "m.csv:2: expected CSV, found unexpected end of data"),
    ("m.csv", b'a,"b" c,c,d,e,A', "m.csv:1: expected CSV, found ',' expected after '\"'"),
    ("m.csv", b"a,b,c,d,e,A\rf,b,c,d,e,A", "m.csv:1: expected CSV, found new-line character seen in unquoted"),
    # ids
    ("m.jsonl", lines(OWN, OWN), 'm.jsonl:2: expected an id that no other row has, found "q1"\nAnswers are kept by id, and m.jsonl:1'),
    ("24.csv", table(HANDS_HEADER, ["1", "1 1 4 6", "", ""], ["2", "6 4 1 1", "", ""]), '24.csv:3: expected an id that no'),
    ("m.jsonl", lines(OWN | {"id": 1.5}), "m.jsonl:1: expected a text or a whole number as the id, found 1.5"),
    # questions and options
    ("m.jsonl", lines(OWN | {"question": " "}), 'expected a text that is not blank as the question, found " "'),
    ("m.jsonl", lines(OWN | {"question": 5}), "expected a text that is not blank as the question, found 5"),
    ("m.jsonl", lines(OWN | {"options": ["a", 1, "c"]}), "expected a text that is not blank as option B, found 1"),
    ("m.csv", table([SKY, "a", "", "c", "d", "A"]), 'm.csv:1: expected a text that is not blank as option B, found ""'),
    ("m.jsonl", lines(OWN | {"options": "ab"}), "expected a list of texts in 'options', found \"ab\""),
    ("m.jsonl", lines(OWN | {"options": ["a"]}), "expected 2 to 23 options, found 1"),
    ("m.jsonl", lines(OWN | {"options": [str(n) for n in range(24)]}), "expected 2 to 23 options, found 24"),
    ("m.jsonl", lines({f"choice{n}": str(n) for n in range(24)} | {"question": "?", "answer": 23}), "expected 2 to 23 options, found 24"),
    ("m.csv", table([SKY, "x", "y", "z", "x ", "A"]), "m.csv:1: expected one option with the right answer, found"),
    ("g.csv", table(GPQA_HEADER, ["r", SKY, "x", "x", "y", "z", ""]), "g.csv:2: expected one option with the right"),
    ("r.csv", table(REDUX_HEADER, [SKY, "['a' 'b' 'c']", *REDUX[2:]]), "expected a list of texts in 'choices', found \"['a' 'b' 'c']\"\nIn a cell"),
    ("r.csv", table(REDUX_HEADER, [SKY, "['a', f'b']", *REDUX[2:]]), "expected a list of texts in 'choices'"),
    ("r.csv", table(REDUX_HEADER, [SKY, r"['a', '\d']", *REDUX[2:]]), "expected a list of texts in 'choices'"),
    ("r.csv", table(REDUX_HEADER, [SKY, "['a', 5]", *REDUX[2:]]), "expected a list of texts in 'choices'"),
    ("r.csv", table(REDUX_HEADER, [SKY, '["a", 5]', *REDUX[2:]]), "expected a text that is not blank as option B, found 5"),
    ("m.csv", table(["question", *"ABD", "answer"], [SKY, *"xyz", "B"]), 'm.csv:2: expected columns of options without a gap, found also ["D"]'),
    # answers
    ("m.jsonl", lines(OWN | {"answer": "E"}), 'm.jsonl:1: expected an answer that is one of A, B, C, D, found "E"'),
    ("m.jsonl", lines(OWN | {"answer": "AB"}), 'expected an answer that is one of A, B, C, D, found "AB"'),
    ("m.jsonl", lines(OWN | {"answer": "b"}), 'expected an answer that is one of A, B, C, D, found "b"'),
    ("m.jsonl", lines(OWN | {"answer": 1}), "expected an answer that is one of A, B, C, D, found 1"),
    ("m.csv", table([SKY, *COLOURS, "E"]), 'm.csv:1: expected an answer that is one of A, B, C, D or 0, 1, 2, 3, found "E"'),
    ("r.csv", table(REDUX_HEADER, [*REDUX[:2], "4", *REDUX[3:]]), 'r.csv:2: expected an answer that is one of A, B, C, D or 0, 1, 2, 3, found "4"'),
    ("r.csv", table(REDUX_HEADER, [*REDUX[:2], "1.0", *REDUX[3:]]), 'found "1.0"'),
    ("m.jsonl", lines({"question": "?", "choices": ["a", "b"], "answer": True}), "found true"),
    ("p.jsonl", lines(PRO | {"answer_index": 2}), "p.jsonl:1: expected the same answer in 'answer' and 'answer_index', found B and 2, which is C"),
    ("p.jsonl", lines(PRO | {"options": COLOURS + 6 * N_A, "answer": "J"}), "one of A, B, C, D, found \"J\"\nThe last 6 options are 'N/A'"),
    ("p.jsonl", lines(PRO | {"options": 10 * N_A}), "p.jsonl:1: expected 2 to 23 options, found 0"),
    ("p.jsonl", lines(PRO | {"options": 3 * N_A}), "expected one option with the right answer"),
    ("f.jsonl", lines(ARC_FLAT | {"answerKey": "B"}), 'f.jsonl:1: expected an answer that is one of 1, 2, 3, 4, found "B"'),
    ("f.jsonl", lines(ARC_FLAT | {"choices": {"text": COLOURS, "label": list("ABDC")}}), "expected the labels A, B, C, D or 1, 2, 3, 4, in order"),
    ("f.jsonl", lines(ARC_FLAT | {"choices": {"text": COLOURS, "label": list("ABC")}}), "expected lists of the same length in"),
    ("a.jsonl", lines(ARC | {"question": {"stem": "?"}}), "a.jsonl:1: expected a list of objects in 'question.choices', found null"),
    ("q.jsonl", lines(AQUA | {"correct": "E"}), 'q.jsonl:1: expected an answer that is one of A, B, C, D, found "E"'),
    ("q.jsonl", lines(AQUA | {"options": ["A)1", "2"]}), "q.jsonl:1: expected an option that begins with 'B)', found \"2\""),
    # hands
    ("24.csv", table(HANDS_HEADER, ["1", "1 1 4", "", ""]), "24.csv:2: expected four whole numbers in 'Puzzles', found \"1 1 4\""),
    ("h.jsonl", lines({"numbers": [1, "2"]}), "h.jsonl:1: expected a list of whole numbers in 'numbers', found [1, \"2\"]"),
    ("h.jsonl", lines({"numbers": [1, 2], "target": None}), "h.jsonl:1: expected a whole number in 'target', found null"),
    # solutions
    ("g.jsonl", lines(GSM8K | {"answer": "72"}), "g.jsonl:1: expected a solution in 'answer' with a line that begins with ####"),
    ("g.jsonl", lines(GSM8K | {"answer": "72\n####"}), "found \"72\\n####\"\nA question of your own needs an 'id' too"),
    ("g.jsonl", lines(GSM8K | {"answer": 72}), "found 72"),
    # metadata
    ("m.jsonl", lines(OWN | {"level": 1, "metadata": {"level": 2}}), "m.jsonl:1: expected one value for 'level' in the metadata, found two"),
    ("m.csv", table([*"ABCD", "question", "duplicate_options"], ["x", "x", "y", "z", "?", "no"]), "expected one value for 'duplicate_options'"),
    ("p.parquet", parquet(PRO | {"image": b"\x89PNG"}), "p.parquet:row 1: expected texts, numbers and lists of them, found a field of bytes"),
    ("m.jsonl", lines(OWN)[:-2] + b', "deep": ' + b"[" * 900 + b"]" * 900 + b"}", "expected simple fields, found one nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED)
def test_what_is_not_clear_is_refused_with_its_place(name, content, message):
    with pytest.raises(InputError) as caught:
        list(rows_of(name, content))
    assert message in str(caught.value)


def test_an_unknown_format_is_told_what_was_looked_for():
    with pytest.raises(InputError) as caught:
        list(rows_of("x.csv", b"a,b"))
    assert all(one.name in caught.value.hint for one in FORMATS)


# --- laws ---

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)


@st.composite
def questions(draw, least=2, most=10):
    options = draw(st.lists(texts, min_size=least, max_size=most, unique_by=str.strip))
    key = draw(st.integers(0, len(options) - 1))
    return draw(texts), options, key


def written_own(question, options, key):
    return lines({"question": question, "options": options, "answer": LETTERS[key]})


def written_pro(question, options, key):
    row = {"question_id": 1, "question": question, "options": options, "answer": LETTERS[key], "answer_index": key}
    return json.dumps([row], ensure_ascii=False).encode()


def written_arc(question, options, key):
    choices = [{"label": LETTERS[place], "text": option} for place, option in enumerate(options)]
    return lines({"question": {"stem": question, "choices": choices}, "answerKey": LETTERS[key]})


def written_flat_arc(question, options, key):
    labels = [str(place + 1) for place in range(len(options))]
    return lines({"question": question, "choices": {"text": options, "label": labels}, "answerKey": labels[key]})


def written_aqua(question, options, key):
    marked = [f"{LETTERS[place]}){option}" for place, option in enumerate(options)]
    return lines({"question": question, "options": marked, "correct": LETTERS[key]})


def written_redux(question, options, key):
    return table(REDUX_HEADER, [question, repr(options), key, "ok", "", "", ""], delimiter=";")


def written_redux_json(question, options, key):
    return table(REDUX_HEADER, [question, json.dumps(options), key, "ok", "", "", ""])


def written_columns(question, options, key):
    header = ["question", *(f"choice{place}" for place in range(len(options))), "answer"]
    return table(header, [question, *options, key])


WRITERS = [
    written_own, written_pro, written_arc, written_flat_arc, written_aqua, written_redux, written_redux_json,
    written_columns,
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(questions())
def test_an_item_comes_back_from_every_format_as_it_went_in(asked):
    question, options, key = asked
    for write in WRITERS:
        if write is written_pro and len(options) == 10 and options[-1] == "N/A":
            continue
        _, row = one("x", write(question, options, key))
        assert (row["question"], row["options"], row["answer"]) == (question, options, LETTERS[key]), (
            write.__name__
        )
        assert json.loads(json.dumps(row, allow_nan=False)) == row


@pytest.mark.slow
@settings(max_examples=60)
@given(questions(least=4, most=4), st.booleans())
def test_an_item_comes_back_from_tables_of_four(asked, lettered):
    question, options, key = asked
    header = [["question", *"ABCD", "answer"]] if lettered else []
    _, row = one("x", table(*header, [question, *options, LETTERS[key]]))
    assert (row["question"], row["options"], row["answer"]) == (question, options, LETTERS[key])
    right, *wrong = options
    _, row = one("x", table(GPQA_HEADER, ["rec", question, right, *wrong, ""]))
    assert (row["question"], sorted(row["options"])) == (question, sorted(options))
    assert row["options"][LETTERS.index(row["answer"])] == right


@pytest.mark.slow
@settings(max_examples=10)
@given(questions())
def test_an_item_comes_back_from_parquet(asked):
    question, options, key = asked
    _, row = one(
        "x",
        parquet({"question_id": 1, "question": question, "options": [*options, "end"], "answer": LETTERS[key]}),
    )
    assert (row["question"], row["options"], row["answer"]) == (question, [*options, "end"], LETTERS[key])


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(content):
    with suppress(InputError):
        list(rows_of("x", content))


# --- generated hands ---


@pytest.mark.slow
def test_a_sample_of_hands_is_stable_and_solvable():
    ten = list(generated_hands(10, seed=3))
    assert list(generated_hands(4, seed=3)) == ten[:4]
    assert list(generated_hands(4, seed=4)) != ten[:4]
    for where, row in ten:
        check(row, game24, where=where)
        assert where == f"generated hands:{row['id']}"
        assert row["id"] == "-".join(map(str, row["numbers"]))
        assert (row["target"], row["metadata"]) == (24, {})
        assert solve(row["numbers"]) is not None
    assert len({row["id"] for _, row in ten}) == 10


@pytest.mark.parametrize("count", [0, -1, SOLVABLE_HANDS + 1])
def test_there_are_only_so_many_hands(count):
    with pytest.raises(UsageError, match="expected 1 to 1362 hands"):
        generated_hands(count, seed=0)


@pytest.mark.slow
def test_all_solvable_hands():
    everything = [row["id"] for _, row in generated_hands(None, seed=0)]
    assert len(everything) == len(set(everything)) == SOLVABLE_HANDS
    assert everything[0] == "1-1-1-8"
