"""`affidavit read` over files: JSON Lines, CSV and Parquet say the same, keep what they are given, and fail well.

Every test runs the real command in a process of its own, over real files.
"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import cycle, islice
from pathlib import Path

import polars as pl
import pytest

from affidavit import AnswerKey, AnswerReading, Asked, Hand, game24, judge, mcqa, number
from affidavit.reading import columns
from affidavit.reading.json_lines import PIECE
from affidavit.reading.line_batches import BATCH
from affidavit.reading.row_lines import decode_row
from support.command import COMMAND, ENVIRONMENT, affidavit
from support.killed_command import calls, killed
from support.kills import wait
from support.read_rows import EVALUATION, META
from support.strategies import LINE_BREAKS, NEARLY_WHITESPACE, WHITESPACE

KINDS = ("jsonl", "csv", "parquet")
TABLES = Path(__file__).parents[1] / "tables"
Table = dict[str, list]


def quick(names: Iterable[str], *quick_ones: str) -> list[object]:
    """The names as parameters; all but the quick ones are left out by `make check`."""
    return [name if name in quick_ones else pytest.param(name, marks=pytest.mark.slow) for name in names]


# --- the same table in three kinds of file ---


def write(path: Path, table: Table, **types: pl.DataType) -> Path:
    """A file of the kind that its ending says; cells of CSV are as a person would write them."""
    if path.suffix == ".parquet":
        pl.DataFrame(table, schema_overrides=types).write_parquet(path, row_group_size=1000)
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
            writer.writerow(table)
            writer.writerows([cell(value) for value in row] for row in zip(*table.values(), strict=True))
    else:
        rows = (dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True))
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def cell(value: object) -> str:
    """A value in CSV: nothing for null, `true` and `false`, JSON where it has parts."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def load(path: Path) -> list[dict[str, object]]:
    """The rows of a file; a member that stands twice in one is refused."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path, glob=False).rows(named=True)
    if path.suffix == ".csv":
        csv.field_size_limit(sys.maxsize)
        header, *rows = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True)
        return [dict(zip(header, row, strict=True)) for row in rows]
    return [json.loads(line, object_pairs_hook=once_each) for line in path.read_bytes().split(b"\n") if line]


def once_each(members: list[tuple[str, object]]) -> dict[str, object]:
    assert len(dict(members)) == len(members), [name for name, _ in members]
    return dict(members)


def as_kind(kind: str, row: dict[str, object]) -> dict[str, object]:
    """A row as a file of this kind holds it."""
    return {name: cell(value) for name, value in row.items()} if kind == "csv" else row


def seen(gained: dict[str, object]) -> dict[str, object]:
    """What a row gained, as CSV shows it: what cannot be seen is spelt out, but for line breaks and the output."""
    return {
        name: value
        if name == "raw_output" or not isinstance(value, str)
        else "".join(each if each == "\n" or each.isprintable() else f"\\u{ord(each):04x}" for each in value)
        for name, value in gained.items()
    }


def check_added(
    tmp_path: Path, kind: str, contract: str, table: Table, added: list[dict], *options: str, **types: pl.DataType
) -> None:
    """The command gives every row of the table what it should gain, changes nothing else and says nothing."""
    source, out = write(tmp_path / f"in.{kind}", table, **types), tmp_path / f"out.{kind}"
    done = affidavit("read", contract, source, "-o", out, *options, cwd=tmp_path)
    told = [line for line in done.stderr.splitlines() if not line.startswith(b"note: ")]
    assert (done.returncode, told) == (0, [])
    found = load(out)
    assert len(found) == len(added)
    for values, gained, row in zip(zip(*table.values(), strict=True), added, found, strict=True):
        given = dict(zip(table, values, strict=True))
        expected = as_kind(kind, given) | as_kind(kind, seen(gained) if kind == "csv" else gained)
        assert row == expected, ascii(given)[:200]
        assert list(row) == list(expected)


# --- the nastiest texts, in rows, columns and files ---

MALFORMED = [
    "<answer>A", "A</answer>", "<answer>", "</answer>", "<answer></answer>", "<answer>AB</answer>", "<answer>E</answer>",
    "<answer>X</answer>", "<Answer>A</Answer>", "<answer>a</answer>", "< answer>A</answer>", "<answer>A< /answer>",
    "<answer>A</answer><answer>B</answer>", "<answer>A</answer>\n<answer>A</answer>", "</answer>A<answer>", "<answer/>",
    "<answer><answer>A</answer></answer>", "<think>B</think><answer>A</answer>", "<think><answer>A</answer></think>",
    "＜answer＞A＜/answer＞", "&lt;answer&gt;A&lt;/answer&gt;", "<answer>A</answer>.", "<answer>A\0</answer>", "<answer>А</answer>",
    "**A**", "(A)", "A.", "A", "a", "A. Paris", "A) Paris", "`A`", "The answer is A", "<anſwer>A</anſwer>", "\\boxed{A}",
]  # fmt: skip
NASTY = [
    "", "\0", "\0<answer>A</answer>", *WHITESPACE, *NEARLY_WHITESPACE, *LINE_BREAKS, *MALFORMED,
    *(f"{blank}<answer>A</answer>{blank}" for blank in (*WHITESPACE, *NEARLY_WHITESPACE, "\r\n")),
    *(f"<answer>{blank}A</answer>" for blank in WHITESPACE + NEARLY_WHITESPACE),
    *(f"<answer>A</answer>{blank}x" for blank in WHITESPACE), *(f"a{blank}b" for blank in LINE_BREAKS),
    '"', '""', "'", ",", '","', '"\n"', '"<answer>B</answer>"', "=1+1", "#", "null", "NaN", "true", "\\", "\\u0000", "\\n",
    "😀", "👩‍👩‍👧<answer>A</answer>", "e\u0301<answer>A</answer>\u0301", "<answer>A\u0301</answer>", "é", "\U0010ffff", "\ufffe", "\ufdfa",
    "<answer>A</answer>" * 1000, "*" * 1000 + "A" + "*" * 1000, "x" * 1_000_000, "\u2028" * 400_000 + "<answer>C</answer>",
]  # fmt: skip
KEYS = ["A", "B", None, "D", "C"]


def holdable(raw: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in raw)


def cases(name: str) -> list[dict]:
    lines = map(json.loads, (TABLES / f"{name}.jsonl").read_text().splitlines())
    return [case for case in lines if "raw" in case and holdable(case["raw"])]


def with_nulls(kind: str, texts: list[str]) -> list[str | None]:
    """A cell of CSV cannot be null, a text in the other kinds can."""
    return texts if kind == "csv" else [None, *texts, None]


def choice(raw: str | None, key: str | None) -> dict[str, object]:
    """What a row with a text and a key gains, by the contract itself."""
    if raw is None:
        return dict.fromkeys(("protocol_compliant", "extracted_answer", "deviation", "correct"))
    reading = mcqa.read(raw)
    answer = reading.extracted_answer
    return {
        "protocol_compliant": reading.protocol_compliant,
        "extracted_answer": answer,
        "deviation": reading.deviation,
        "correct": None if answer is None or key is None else answer == key,
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_choices_in_files_are_choices_in_rows_and_columns(tmp_path, kind):
    texts = with_nulls(kind, [*NASTY, *(case["raw"] for case in cases("mcqa"))])
    keys = list(islice(cycle(KEYS), len(texts)))
    added = list(map(choice, texts, keys))
    in_columns = columns.mcqa(pl.Series(texts, dtype=pl.String))
    assert in_columns.rows() == [tuple(row.values())[:3] for row in added]
    check_added(
        tmp_path, kind, "mcqa", {"id": list(range(len(texts))), "raw_output": texts, "answer": keys}, added
    )


def lenses(kind: str, raw: str | None) -> dict[str, str | None] | None:
    """A column has a place for each; elsewhere those that cannot read are left out (ruling M24)."""
    if raw is None:
        return None
    return {
        f"{lens.name}/{lens.version}": lens.read(raw).extracted_answer
        for lens in mcqa.lenient_readings()
        if lens.knows_enough(None) or kind == "parquet"
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_other_readings_are_the_same_in_all_files(tmp_path, kind):
    """Ruling M5."""
    texts = with_nulls(kind, NASTY)
    added = [
        {name: value for name, value in choice(raw, None).items() if name != "correct"}
        | {"other_readings": lenses(kind, raw)}
        for raw in texts
    ]
    check_added(tmp_path, kind, "mcqa", {"raw_output": texts, "n": [1] * len(texts)}, added, "--lenses")


HANDS = [([4, 9, 10, 13], 24), (None, None), ([9, 4], 13), ([4, 9, 10, 13], None), ([2, 5, 8, 11], 24)]


def game(raw: str | None, numbers: list[int] | None, target: int | None) -> dict[str, object]:
    names = ("protocol_compliant", "candidate", "extraction_method", "candidate_start", "candidate_end")
    if raw is None:
        return dict.fromkeys((*names, "correct", "reason"))
    hand = None if numbers is None else Hand(tuple(numbers), 24 if target is None else target)
    reading = game24.read(raw, hand)
    validation = None if hand is None else game24.validate(reading, hand)
    return {
        **dict(zip(names, (reading.protocol_compliant, *reading.fields().values()), strict=True)),
        "correct": None if validation is None else validation.correct,
        "reason": None if validation is None else validation.reason,
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_games_in_files_are_games_in_rows_and_columns(tmp_path, kind):
    raws = [case["raw"] for case in cases("game24")]
    texts = with_nulls(kind, [raw for raw in raws + NASTY if len(raw) < 10_000])
    hands = list(islice(cycle(HANDS), len(texts)))
    numbers, targets = [hand for hand, _ in hands], [target for _, target in hands]
    added = list(map(game, texts, numbers, targets))
    types = {"numbers": pl.List(pl.Int64()), "target": pl.Int64()}
    in_columns = columns.game24(
        pl.Series(texts, dtype=pl.String),
        pl.Series(numbers, dtype=types["numbers"]),
        pl.Series(targets, dtype=pl.Int64),
    )
    assert in_columns.rows(named=True) == added
    table = {"raw_output": texts, "numbers": numbers, "target": targets}
    check_added(tmp_path, kind, "game24", table, added, **types)
    if kind == "parquet":
        words = [hand and " ".join(map(str, hand)) for hand in numbers]
        check_added(tmp_path, kind, "game24", table | {"numbers": words}, added, target=pl.Int64())


def numbered(raw: str | None, key: str | None) -> dict[str, object]:
    """What a row with a text and a right answer gains, by the contract itself."""
    if raw is None:
        return dict.fromkeys(("protocol_compliant", *number.fields_added({"answer": None})))
    reading = number.read(raw)
    validation = number.validate(reading, AnswerKey(key))
    correct = None if validation is None else validation.correct
    return {"protocol_compliant": reading.protocol_compliant, **reading.fields(), "correct": correct}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_in_files_are_numbers_in_rows_and_columns(tmp_path, kind):
    texts = with_nulls(kind, [*NASTY, *(case["raw"] for case in cases("number"))])
    keys = list(islice(cycle(["72", "1,072", None, "-0.50", "so\n#### 72"]), len(texts)))
    added = list(map(numbered, texts, keys))
    in_columns = columns.number(pl.Series(texts, dtype=pl.String))
    assert in_columns.rows() == [tuple(row.values())[:-1] for row in added]
    check_added(tmp_path, kind, "number", {"raw_output": texts, "answer": keys}, added)


ASKED = {
    name: META[name] for name in ("judge_model", "target_model", "question_id", "prompt_variant", "output_id")
}
JUDGEMENTS = [
    (json.dumps(EVALUATION), "Here is a fine answer.", ASKED),
    (json.dumps(EVALUATION), "Here is a\u2028fine\xa0answer.", {**ASKED, "output_id": "o\r\n,\"'\0"}),
    (json.dumps(EVALUATION | {"verdict": "GOOD", "flags": ["HALLUCINATION", "x"]}), "Nothing.", ASKED),
    (json.dumps(EVALUATION | {"evidence": []}), None, ASKED),
    (json.dumps(EVALUATION)[:-1], "Here is a fine answer.", None),
    ('{"verdict": "\\ud800"}', "x", None),
    ("I cannot judge this.\r", None, None),
    *((raw, raw or None, None) for raw in ("", "\0", "\x1c", "{}", "[]", '{"a": "\0"}', "{" * 40, "\ufeff{}")),
    *((case["raw"], None, None) for case in cases("judge")[:40]),
]  # fmt: skip


def evaluation(raw: str | None, judged: str | None, asked: dict[str, str] | None) -> dict[str, object]:
    reading = judge.read(raw or "", Asked(asked or {}, judged))
    fields = {"protocol_compliant": reading.protocol_compliant, **reading.fields()}
    return dict.fromkeys(fields) if raw is None else fields


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_judgements_in_files_are_judgements_in_rows_and_columns(tmp_path, kind):
    rows = JUDGEMENTS if kind == "csv" else [*JUDGEMENTS, (None, "x", None)]
    raws, judged, asked = map(list, zip(*rows, strict=True))
    added = [evaluation(*row) for row in rows]
    assert len({tuple(row["flags"]) for row in added if row["flags"] is not None}) > 4
    struct = pl.Struct(dict.fromkeys(ASKED, pl.String()))
    in_columns = columns.judge(pl.Series(raws), pl.Series(judged), pl.Series(asked, dtype=struct))
    assert in_columns.rows(named=True) == added
    table = {"raw_output": raws, "judged_output": judged, "asked": asked}
    check_added(tmp_path, kind, "judge", table, added, asked=struct)


@pytest.mark.slow
@pytest.mark.parametrize("kind", quick(KINDS, "parquet"))
def test_a_name_that_was_not_asked_for_is_null_in_a_struct(tmp_path, kind):
    """As in columns: a struct has all of its fields in every row, so null stands for one that is not there."""
    raw, names = json.dumps(EVALUATION), ("output_id", "judge_model")
    metas = [{"output_id": "other"}, {"judge_model": "J"}, {}, None]
    added = [evaluation(raw, None, meta) for meta in metas]
    if kind == "parquet":
        metas = [meta and {name: meta.get(name) for name in names} for meta in [*metas[:2], None, None]]
    table = {"raw_output": [raw] * len(metas), "asked": metas}
    check_added(tmp_path, kind, "judge", table, added, asked=pl.Struct(dict.fromkeys(names, pl.String())))


KEY_COLUMNS = {
    "all null": (pl.Null(), [None, None, None]),
    "null integers": (pl.Int64(), [None, None, None]),
    "null numbers": (pl.Float64(), [None, None, None]),
    "categories": (pl.Categorical(), ["A", "B", None]),
    "a closed list": (pl.Enum(["A", "B"]), ["A", "B", None]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", quick(KEY_COLUMNS, "null integers", "a closed list"))
def test_keys_in_columns_of_other_types(tmp_path, case):
    kind, keys = KEY_COLUMNS[case]
    texts = ["<answer>A</answer>", "<answer>C</answer>", "A"]
    added = list(map(choice, texts, keys))
    check_added(tmp_path, "parquet", "mcqa", {"raw_output": texts, "answer": keys}, added, answer=kind)


# --- JSON Lines keep their bytes ---

PLAIN = [
    b'{"id": 1, "raw_output": "<answer>A</answer>", "answer": "A"}',
    b'{"raw_output":"B. Paris","answer":null}',
    b'{"raw_output": null, "answer": "C"}',
    b'{"answer": "D", "raw_output": "<answer>C</answer>\\n"}',
    b'{"raw_output": "<think>x</think><answer>B</answer>"}',
    b'{"raw_output": ""}',
]
ODD = {
    "lone surrogates": b'{"raw_output": "\\ud800<answer>A</answer>", "x": "\\udfff"}',
    "a lone surrogate elsewhere": b'{"raw_output": "<answer>A</answer>", "x\\udc00": "\\ud83d"}',
    "a pair": b'{"raw_output": "<answer>A</answer>", "x": "\\ud83d\\ude00"}',
    "the last of two texts": b'{"raw_output": "x", "raw_output": "<answer>B</answer>"}',
    "the last of two keys": b'{"answer": 7, "raw_output": "<answer>B</answer>", "answer": "B"}',
    "repeated keys": b'{"x": 1, "raw_output": "A", "x": 2, "x": 1}',
    "40 digits": b'{"raw_output": "A.", "x": ' + b"9" * 40 + b"}",
    "5,000 digits": b'{"raw_output": "A.", "x": -' + b"7" * 5000 + b', "y": 1e400, "z": 1E-999}',
    "1.0 beside 1": b'{"raw_output": "A)", "x": 1.0, "y": 1, "z": 1.00e0, "w": -0.0}',
    "odd order and spacing": b'{  "z":1 ,"raw_output"\t:\t"<answer>D</answer>" , "answer" :"D"  ,  "a":  [ 1,2 ]  }',
    "blanks after it": b'{"raw_output": "<answer>A</answer>"}  \t ',
    "blanks before it": b' \t{"raw_output": "<answer>A</answer>"}',
    "a carriage return": b'{"raw_output": "<answer>A</answer>"}\r',
    "no numbers": b'{"x": NaN, "y": [Infinity, -Infinity], "raw_output": "<answer>A</answer>"}',
    "names inside": b'{"x": {"protocol_compliant": 1, "raw_output": 2, "answer": 9}, "raw_output": "<answer>A</answer>"}',
    "a brace at the end": b'{"raw_output": "<answer>A</answer>", "x": {"y": {"deviation": "}"}}}',
    "braces in a text": b'{"raw_output": "}", "x": "{\\"raw_output\\": \\"y\\"}"}',
    "an escaped name": b'{"raw\\u005foutput": "<answer>A</answer>", "\\u0061nswer": "A"}',
    "other characters": '{"naïve": "日本語 😀 e\u0301 \u2028 \x85 \ufeff", "raw_output": "<answer>A</answer> "}'.encode(),
    "control characters": b'{"raw_output": "<answer>A</answer>\t\x00\x1f", "x": "\x01\x7f"}',
    "escapes": b'{"raw_output": "\\u003canswer>A\\u003C\\/answer>", "x": "\\/\\b\\f\\u00e9\\u00E9"}',
    "deep": b'{"raw_output": "x", "y": ' + b"[" * 300 + b"]" * 300 + b"}",
    "a long line": b'{"raw_output": "x", "y": "' + b"z" * (PIECE + 1000) + b'"}',
    "a longer text": b'{"raw_output": "' + b" " * (2 * PIECE) + b'<answer>A</answer>", "answer": "B"}',
    "almost a name": b'{"raw_output": "A", "deviation ": 1, "Correct": 2, "protocol_complian": 3, "": 4}',
}  # fmt: skip
BLANK = [b"", b"  ", b"\r", b"\t \r", b"\x0b\x0c"]
NOTHING = b'"protocol_compliant": false, "extracted_answer": null, "deviation": "no_tag"}'
REPLACED = {
    b'{"deviation": null, "raw_output": "x"}': b'{"raw_output": "x", ' + NOTHING,
    b'{"raw_output": "x", "protocol\\u005fcompliant": {"a": 1}}': b'{"raw_output": "x", ' + NOTHING,
    b' {"a":1.0,"extracted_answer" : [1, 2],"b":"\\ud800" ,"raw_output":"x"} \r': (
        b' {"a":1.0, "b":"\\ud800", "raw_output":"x", ' + NOTHING + b" \r"
    ),
    b'{"deviation": 1, "raw_output": "x", "deviation": 2}': b'{"raw_output": "x", ' + NOTHING,
    b'{"correct": true, "raw_output": "x"}': b'{"correct": true, "raw_output": "x", ' + NOTHING,
    b'{"correct": true, "raw_output": "x", "answer": "A"}': (
        b'{"raw_output": "x", "answer": "A", ' + NOTHING[:-1] + b', "correct": null}'
    ),
}


known_choice = cache(choice)


def spliced(line: bytes) -> bytes:
    """The line with what it gains before its last brace: no byte of its own is touched."""
    if line in REPLACED:
        return REPLACED[line]
    row = decode_row(line.decode(), where="")
    gained = known_choice(row["raw_output"], row.get("answer"))
    members = {name: gained[name] for name in gained if name != "correct" or "answer" in row}
    brace = line.rindex(b"}")
    return line[:brace] + b", " + json.dumps(members)[1:-1].encode() + line[brace:]


def check_bytes(tmp_path: Path, *files: bytes) -> None:
    """Every line comes out with nothing but the new members, and the summary counts what a plain loop counts."""
    names = [f"in{place}.jsonl" for place in range(len(files))]
    for name, content in zip(names, files, strict=True):
        (tmp_path / name).write_bytes(content)
    done = affidavit("read", "mcqa", *names, "-o", "out.jsonl", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for content in files for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    lines = [line for line in lines if line.strip()]
    found = (tmp_path / "out.jsonl").read_bytes().split(b"\n")
    assert found.pop() == b""
    for place, (line, out) in enumerate(zip(lines, found, strict=True)):
        assert out == spliced(line), (place, line[:200])
    check_counts(json.loads(done.stdout), lines)


def check_counts(summary: dict, lines: list[bytes]) -> None:
    rows = [decode_row(line.decode(), where="") for line in lines]
    gained = [known_choice(row["raw_output"], row.get("answer")) for row in rows]
    counts = Counter(each["protocol_compliant"] for each in gained)
    parts = [summary[name] for name in ("n", "compliant", "non_compliant", "failed", "unread", "pending")]
    assert parts == [len(lines), counts[True], counts[False], counts[None], 0, 0]
    assert summary["deviations"] == Counter(each["deviation"] for each in gained if each["deviation"])
    right = Counter(each["correct"] for each in gained if each["correct"] is not None)
    share = summary["accuracy_over_compliant"]
    assert share is None or (share["n"], round(share["value"] * share["n"])) == (right.total(), right[True])
    assert (share is None) == (not right)
    arrived = sum(row["raw_output"] is not None and row.get("answer") is not None for row in rows)
    assert summary["yield"] is None or summary["yield"]["n"] == arrived


@pytest.mark.slow
def test_odd_lines_keep_their_bytes(tmp_path):
    odd = [*ODD.values(), *BLANK, *REPLACED, *PLAIN]
    check_bytes(tmp_path, b"\xef\xbb\xbf" + b"\n".join(odd), *(line + b"\n" for line in odd))


@pytest.mark.slow
def test_odd_lines_among_very_many_keep_their_bytes(tmp_path):
    """Most batches are plain, some are not, and none of them ends where the rows that are read at once do."""
    wide = [line[:-1] + b', "pad": "' + b"z" * 400 + b'"}' for line in PLAIN]
    count = BATCH // 400 + 3 * (PIECE // 50)
    lines = list(islice(cycle([*PLAIN, *wide * 2]), count))
    for start in (PIECE // 25, count - 500):
        lines[start:start] = [*ODD.values(), *BLANK, *REPLACED]
    lines.insert(count // 2, b'{"raw_output": "\\ud800"}')
    check_bytes(tmp_path, b"\n".join(lines), b"\r\n".join(PLAIN))


@pytest.mark.slow
@pytest.mark.parametrize("end", quick(["\n", "\r\n", " \n"], "\n"), ids=["LF", "CRLF", "blank"])
def test_batches_end_anywhere(tmp_path, end):
    """In the middle of a character, of an escape, of a brace and its line feed, and between two lines."""
    first, second = (
        '{"raw_output": "é%s\\u00e9"}'.encode(),
        '{"raw_output": "<answer>A</answer>", "x": "é"}'.encode(),
    )
    room = PIECE - len(first) - len(end) + 2
    files = [
        end.encode().join([first % (b"x" * (room + shift)), *[second] * 30, b""])
        for shift in (-50, -49, -25, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9, 10)
    ]
    check_bytes(tmp_path, *files)


NO_LINES = {
    "two in a line": b'{"raw_output":"x"} {"raw_output":"y"}\n',
    "two and a blank line": b'{"raw_output":"x"}{"raw_output":"y"}\n\n',
    "one in two lines": b'{"raw_output":"x","y":{}\n,"z":{}}\n',
    "as many as lines": b'{"raw_output":"x","y":{}\n,"z":{}}\n{"raw_output":"x"} {"raw_output":"y"}\n',
    "too deep": b'{"raw_output":"x","y":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
}


@pytest.mark.parametrize("case", quick(NO_LINES, "as many as lines", "too deep"))
def test_a_line_is_an_object(tmp_path, case):
    (tmp_path / "in.jsonl").write_bytes(NO_LINES[case])
    check_refused(tmp_path, ["in.jsonl", "-o", "out.jsonl"], "in.jsonl:1: expected a JSON object, found ")


# --- what is wrong, and where ---


def check_refused(
    tmp_path: Path, arguments: list[object], message: str, contract: str = "mcqa", given: bytes = b""
) -> None:
    """Exit code 2, one message, and nothing is left behind or changed."""
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    done = affidavit("read", contract, *arguments, given=given, cwd=tmp_path)
    told = done.stderr.decode()
    assert "Traceback" not in told, told[-2000:]
    assert told.startswith(f"affidavit: {message}"), told
    assert told.count("\n") <= 2, told
    assert (done.returncode, done.stdout) == (2, b"")
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


DEEP = 70_000
GOOD = b'{"raw_output": "<answer>A</answer>", "answer": "A"}\n' * DEEP
BAD_LINES = {
    "not JSON": (b'{"raw_output": "x", }', "expected a JSON object, found "),
    "not UTF-8": (b'{"raw_output": "caf\xe9"}', "expected text in UTF-8, found byte 0xe9 at byte 20 of the line"),
    "no such field": (b'{"text": "x"}', "expected a field 'raw_output', found the fields 'text'"),
    "another type": (b'{"raw_output": ["x"]}', "expected a text in 'raw_output', found [\"x\"]"),
    "a key outside the set": (b'{"raw_output": "x", "answer": "E"}', "expected a letter from A to D in 'answer', found \"E\""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_line_deep_inside_is_found(tmp_path, case):
    line, message = BAD_LINES[case]
    (tmp_path / "in.jsonl").write_bytes(GOOD + b"\n" + line + b"\n" + GOOD)
    check_refused(tmp_path, ["in.jsonl", "-o", "out.jsonl"], f"in.jsonl:{DEEP + 2}: {message}")


CELLS = b'id,raw_output,answer\n' + b'1,"a\n""b""",A\n' * 3000  # fmt: skip
BAD_CELLS = {
    "a cell too few": (CELLS + b"1,x\n2,y,A\n", "in.csv:6002: expected 3 cells, as in the header, found 2 cells"),
    "a cell too many": (CELLS + b"1,x,A,\n", "in.csv:6002: expected 3 cells, as in the header, found 4 cells"),
    "an unclosed quote": (CELLS + b'1,"x,A\n' + b"2,y,A\n" * 9, "in.csv:6002: expected CSV, found "),
    "a quote inside": (CELLS + b'1,"x" y,A\n', "in.csv:6002: expected CSV, found "),
    "not UTF-8": (CELLS + b"1,caf\xe9,A\n" + b"2,y,A\n" * 9, "in.csv:6002: expected text in UTF-8, found byte 0xe9"),
    "a key outside the set": (CELLS + b"1,x,E\n", "in.csv:6002: expected a letter from A to D in 'answer', found \"E\""),
    "two columns of one name": (b"raw_output,x,x\n1,2,3\n", "in.csv:1: expected columns of different names, found "),
    "no such column": (b"text\nx\n", "in.csv:1: expected a column 'raw_output', found the columns text\nA column `text` may hold"),
    "the first row": (b"id,raw_output,answer\n1,x,E\n2,y,A\n", "in.csv:2: expected a letter from A to D in 'answer', found \"E\""),
    "a Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid x\n", "in.csv: expected rows as JSON Lines, CSV or Parquet, found a Git LFS"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_CELLS)
def test_a_bad_cell_deep_inside_is_found(tmp_path, case):
    content, message = BAD_CELLS[case]
    (tmp_path / "in.csv").write_bytes(content)
    check_refused(tmp_path, ["in.csv", "-o", "out.csv"], message)


def test_another_header_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,raw_output\n1,x\n")
    (tmp_path / "b.csv").write_text("raw_output,id\nx,1\n")
    check_refused(
        tmp_path,
        ["a.csv", "b.csv", "-o", "out.csv"],
        'b.csv:1: expected the columns ["id", "raw_output"], as in a.csv, found ',
    )


def scrambled(path: Path) -> None:
    """A Parquet file whose footer is whole and whose data are not."""
    write(path, {"raw_output": [f"<answer>A</answer>{number % 99}" for number in range(100_000)]})
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 5000] = b"\xff" * 5000
    path.write_bytes(content)


GOOD_TEXTS = ["<answer>A</answer>"] * DEEP
BAD_FILES = {
    "no such column": (lambda path: write(path, {"text": ["x"]}), "in.parquet: expected a column 'raw_output', found the columns text"),
    "no texts": (lambda path: write(path, {"raw_output": [1, 2]}), "in.parquet: expected texts in the column 'raw_output', found Int64"),
    "a key outside the set": (
        lambda path: write(path, {"raw_output": list(map(str, range(DEEP + 3000))), "answer": ["A"] * (DEEP + 999) + ["E"] + ["F"] * 2000}),
        f"in.parquet:row {DEEP + 1000}: expected a letter from A to D in 'answer', found \"E\"",
    ),
    "keys that are no texts": (
        lambda path: write(path, {"raw_output": ["x", "y"], "answer": [None, 2]}),
        "in.parquet:row 2: expected a letter from A to D in 'answer', found 2",
    ),
    "no Parquet at all": (lambda path: path.write_bytes(GOOD), "FILES and -o: expected files of one kind: JSON Lines, CSV or Parquet, found in.parquet (JSON Lines), out.parquet (Parquet)"),
    "an empty file": (lambda path: path.write_bytes(b""), "in.parquet: expected rows as JSON Lines, CSV or Parquet, found an empty file"),
    "half a file": (
        lambda path: path.write_bytes(write(path, {"raw_output": GOOD_TEXTS}).read_bytes()[:-50]),
        "in.parquet: expected Parquet, found ",
    ),
    "scrambled data": (scrambled, "in.parquet: expected "),
    "no file": (lambda _: None, "in.parquet: expected a file to read, found No such file or directory"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_parquet_file_is_told(tmp_path, case):
    make, message = BAD_FILES[case]
    make(tmp_path / "in.parquet")
    check_refused(tmp_path, ["in.parquet", "-o", "out.parquet"], message)


OTHER_COLUMNS = {
    "less": ({"text": ["x"]}, "b.parquet: expected a column 'raw_output', found the columns text"),
    "more": (
        {"raw_output": ["x"], "id": [1]},
        "b.parquet: expected the columns raw_output (String), as in a.parquet, found raw_output (String), id (Int64)",
    ),
    "types": ({"raw_output": [7]}, "b.parquet: expected texts in the column 'raw_output', found Int64"),
}


@pytest.mark.parametrize("case", quick(OTHER_COLUMNS, "less"))
def test_parquet_files_of_other_columns_are_refused(tmp_path, case):
    write(tmp_path / "a.parquet", {"raw_output": ["x"]})
    write(tmp_path / "b.parquet", OTHER_COLUMNS[case][0])
    check_refused(tmp_path, ["a.parquet", "b.parquet", "-o", "out.parquet"], OTHER_COLUMNS[case][1])


MIXED = [
    ["a.jsonl", "b.csv", "-o", "out.jsonl"],
    ["a.jsonl", "b.parquet", "-o", "out.jsonl"],
    ["b.csv", "-o", "out.jsonl"],
    ["b.parquet", "-o", "out.csv"],
    ["-", "b.csv"],
    ["-", "b.parquet", "-o", "out.parquet"],
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", MIXED, ids=" ".join)
def test_files_of_several_kinds_are_refused(tmp_path, arguments):
    for name in ("a.jsonl", "b.csv", "b.parquet"):
        write(tmp_path / name, {"raw_output": ["x"]})
    check_refused(tmp_path, arguments, "FILES and -o: expected files of one kind", given=PLAIN[0])


@pytest.mark.parametrize("arguments", [[], ["-o", "-"]], ids=["nothing", "a dash"])
def test_parquet_does_not_go_to_standard_output(tmp_path, arguments):
    write(tmp_path / "in.parquet", {"raw_output": ["x"]})
    check_refused(tmp_path, ["in.parquet", *arguments], "-o: expected a name for the Parquet file")


@pytest.mark.parametrize("kind", quick(KINDS, "parquet"))
def test_a_pipe_is_never_replaced_by_a_file(tmp_path, kind):
    """Nor a device: as root, `-o /dev/null` must leave /dev/null what it is."""
    write(tmp_path / f"in.{kind}", {"raw_output": ["x"]})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        done = affidavit("read", "mcqa", f"in.{kind}", "-o", pipe, cwd=tmp_path)
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert b"Traceback" not in done.stderr
    assert done.returncode == (2 if kind == "parquet" else 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"in.{kind}", "pipe"]


# --- several files, other columns, other names ---


@pytest.mark.parametrize("kind", KINDS)
def test_several_files_come_out_in_the_order_they_were_named(tmp_path, kind):
    for name, ids in {"b": [3, 1], "a": [2, 0], "c": []}.items():
        table = {"id": ids, "raw_output": ["<answer>A</answer>", "x"][: len(ids)]}
        write(tmp_path / f"{name}.{kind}", table, id=pl.Int64(), raw_output=pl.String())
    done = affidavit("read", "mcqa", *(f"{name}.{kind}" for name in "bcab"), "-o", f"out.{kind}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [(int(row["id"]), row["protocol_compliant"]) for row in load(tmp_path / f"out.{kind}")]
    yes, no = ("true", "false") if kind == "csv" else (True, False)
    assert found == [(3, yes), (1, no), (2, yes), (0, no), (3, yes), (1, no)]


def test_a_csv_file_without_a_header_adds_none(tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfid,raw_output\n1,A\n")
    done = affidavit("read", "mcqa", "empty.csv", "a.csv", cwd=tmp_path)
    if done.returncode != 2:  # refusing the empty file would be as good
        expected = b"id,raw_output,protocol_compliant,extracted_answer,deviation\n1,A,false,,bare_letter\n"
        assert (done.returncode, done.stdout) == (0, expected)


@pytest.mark.parametrize("kind", quick(KINDS, "parquet"))
def test_a_file_can_take_the_place_of_its_source(tmp_path, kind):
    path = write(tmp_path / f"odd [a-z]* {{1}}.{kind}", {"raw_output": ["A", "<answer>A</answer>"]})
    done = affidavit("read", "text", path.name, "-o", path.name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [list(row) for row in load(path)] == [["raw_output", "protocol_compliant"]] * 2
    assert list(tmp_path.iterdir()) == [path]


FIELDS = {f"{field} {kind}": (field, kind) for field in ("completion", "answer") for kind in KINDS}


@pytest.mark.slow
@pytest.mark.parametrize("case", FIELDS)
def test_another_column_is_copied_as_raw_output(tmp_path, case):
    """Its empty cells are empty outputs, whatever its name means elsewhere; no name stands twice."""
    field, kind = FIELDS[case]
    texts = ["<answer>A</answer>", "", "A"]
    table = {field: texts, "no key is looked for": ["A"] * 3}
    if field == "completion":
        table["raw_output"] = ["old"] * 3
    source, out = write(tmp_path / f"in.{kind}", table), tmp_path / f"out.{kind}"
    done = affidavit("read", "mcqa", source, "-o", out, "--field", field, cwd=tmp_path)
    assert done.returncode == 0
    replaced = {"completion": "raw_output"}.get(field)
    empty = "note: 1 cells without a text were read as empty outputs: CSV cannot say that none arrived; "
    note = f"{empty}JSON Lines and Parquet can, with null\n" if kind == "csv" else ""
    note += f"note: fields that were there already were replaced: {replaced}\n" if replaced else ""
    assert done.stderr.decode() == note
    expected = []
    for text in texts:
        gained = choice(text, None)
        del gained["correct"]
        expected.append(as_kind(kind, {field: text, "no key is looked for": "A", "raw_output": text, **gained}))
    assert load(out) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("arguments", "column", "option"),
    [
        (["mcqa"], "deviation", "--field"),
        (["labels", "--param", 'labels=["A"]'], "extracted_labels", "--answer"),
        (["number"], "value", "--answer"),
        (["text"], "protocol_compliant", "--id"),
    ],
)
def test_a_column_that_was_named_is_not_written_over(tmp_path, kind, arguments, column, option):
    table = {"raw_output": ["<answer>A</answer>", "A"], column: ["1", "2"]}
    if option == "--answer" and column == "extracted_labels":
        table[column] = ["A", "A"]
    source = write(tmp_path / f"in.{kind}", table)
    done = affidavit("read", *arguments, source.name, "-o", f"out.{kind}", option, column, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    told = f"{option}: expected a column that no field of the contract replaces, found '{column}'\nGive the column"
    assert told in done.stderr.decode()
    assert list(tmp_path.iterdir()) == [source]


# --- a contract of one's own ---

OWN = """
from affidavit import AnswerReading, Validation

class LastWord:
    name, version, params = "last-word", 3, {}
    def instruction(self, item=None): return "End with the answer."
    def read(self, raw, item=None): return AnswerReading(raw.split()[-1])
    def validate(self, reading, item):
        return Validation(reading.extracted_answer == item["key"], "compared") if item["key"] else None
    def grammar(self, item=None): return None

class Torn(LastWord):
    def read(self, raw, item=None):
        if raw == "7": raise ValueError("\\ud800")
        return AnswerReading("\\ud800")
    def validate(self, reading, item): return Validation(False, "\\ud800")

last_word, torn = LastWord(), Torn()
"""


def own_fields(answer: str) -> str:
    return json.dumps(AnswerReading(answer).fields())


@pytest.mark.parametrize("kind", KINDS)
def test_nor_does_a_contract_of_ones_own_write_over_a_column_that_was_named(tmp_path, kind):
    (tmp_path / "mine.py").write_text(OWN)
    column = "extracted_answer" if kind == "jsonl" else "fields"
    write(tmp_path / f"in.{kind}", {"raw_output": ["it is 7"], "key": ["7"], column: ["7"]})
    arguments = (f"in.{kind}", "-o", f"out.{kind}", "--answer", column)
    done = affidavit("read", "mine.py:last_word", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert (
        f"--answer: expected a column that no field of the contract replaces, found '{column}'".encode()
        in done.stderr
    )
    assert not (tmp_path / f"out.{kind}").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_contract_of_ones_own_fills_one_column_with_its_fields(tmp_path, kind):
    """Ruling C8: an output on which it raises is unread, and the others are read."""
    (tmp_path / "mine.py").write_text(OWN)
    table = {"raw_output": ["it is\n7", "8", " ", "é,\""], "key": ["7", "7", "7", ""], "fields": ["old"] * 4}  # fmt: skip
    write(tmp_path / f"in.{kind}", table)
    done = affidavit("read", "mine.py:last_word", f"in.{kind}", "-o", f"out.{kind}", "--json", cwd=tmp_path)
    assert done.returncode == 4
    assert b"note: fields that were there already were replaced: fields\n" in done.stderr
    assert json.loads(done.stdout)["unread"] == 1
    names = ("protocol_compliant", "fields", "correct", "reason", "unread")
    found = load(tmp_path / f"out.{kind}")
    assert [tuple(row) for row in found] == [("raw_output", "key", *names)] * 4
    error = "IndexError: list index out of range"
    expected = [
        (True, own_fields("7"), True, "compared", None),
        (True, own_fields("8"), False, "compared", None),
        (None, None, None, None, error),
        (True, own_fields('é,"'), None, None, None),
    ]
    for row, values in zip(found, expected, strict=True):
        fields = as_kind(kind, dict(zip(names, values, strict=True)))
        assert {name: row[name] for name in names} == fields


@pytest.mark.parametrize("kind", quick(KINDS, "csv", "parquet"))
def test_texts_that_no_file_can_hold_end_nothing(tmp_path, kind):
    """A contract of one's own may say anything, a lone surrogate too; the rows are written all the same."""
    (tmp_path / "mine.py").write_text(OWN)
    write(tmp_path / f"in.{kind}", {"raw_output": ["7", "8"]})
    done = affidavit("read", "mine.py:torn", f"in.{kind}", "-o", f"out.{kind}", cwd=tmp_path)
    assert b"Traceback" not in done.stderr
    assert done.returncode == 4
    assert [row["raw_output"] for row in load(tmp_path / f"out.{kind}")] == ["7", "8"]


# --- the summary ---

SUMMED = {
    "mcqa": (
        {"raw_output": ["A", "hm", "A. x", "<answer>", "", "<answer>A</answer>", "<answer>B</answer>"],
         "answer": ["A", None, "C", "D", "A", "A", "C"]},
        ["--lenses"],
    ),
    "game24": (
        {"raw_output": ["<answer>(13-9)*(10-4)</answer>", "Output: 1+1", "x", "", "4+9+10+13"],
         "numbers": ["4 9 10 13", "1 1", None, "4 9 10 13", "4 9 10 13"]},
        [],
    ),
    "judge": ({"raw_output": ["{}", json.dumps(EVALUATION), "", "x"], "judged_output": ["a", "b a fine answer", None, "c"]}, []),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("contract", quick(SUMMED, "mcqa", "judge"))
def test_the_summary_is_the_same_for_all_kinds_of_file_and_every_time(tmp_path, contract):
    """To the byte: equal counts too stand in one order, whatever the seed of the hashes."""
    table, options = SUMMED[contract]
    summaries = {}
    for seed, kind in enumerate(KINDS):
        write(tmp_path / f"in.{kind}", {name: values * 2000 for name, values in table.items()})
        done = affidavit(
            "read", contract, f"in.{kind}", "--json", *options, cwd=tmp_path, PYTHONHASHSEED=str(seed)
        )
        assert done.returncode == 0
        summaries[kind] = done.stdout
    assert json.loads(summaries["jsonl"]) == json.loads(summaries["csv"]) == json.loads(summaries["parquet"])
    assert summaries["jsonl"] == summaries["csv"] == summaries["parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_short_run_says_nothing_but_its_summary(tmp_path, kind):
    write(tmp_path / f"in.{kind}", {"raw_output": ["<answer>A</answer>"] * 5000})
    done = affidavit("read", "mcqa", f"in.{kind}", "-o", f"out.{kind}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"mcqa/1: 5,000 outputs\n")


# --- killed at a row, or at a call ---

DIES = """
import os, signal
from affidavit import AnswerReading

class Dies:
    name, version, params = "dies", 1, {}
    at = os.environ.get("DIES_AT")
    def instruction(self, item=None): return ""
    def read(self, raw, item=None):
        if raw == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return AnswerReading(raw)
    def validate(self, reading, item): return None
    def grammar(self, item=None): return None

dies = Dies()
"""
ROWS = 40_000
"""More than are read and written together, of any kind of file."""


def parts(tmp_path: Path) -> list[Path]:
    """What a killed run has left under a name that is not for good."""
    return list(tmp_path.glob(".*.partial"))


def left_as_it_was(tmp_path: Path, out: Path, old: bytes | None) -> bool:
    """Whether the old file is there as before, or none if there was none; whatever else is there is cleared away."""
    for part in parts(tmp_path):
        part.unlink()
    return (out.read_bytes() if out.exists() else None) == old


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_a_row_leaves_the_old_file(tmp_path, kind):
    (tmp_path / "mine.py").write_text(DIES)
    write(tmp_path / f"in.{kind}", {"raw_output": [f"row {number}" for number in range(ROWS)]})
    order = [COMMAND, "read", "mine.py:dies", f"in.{kind}", "-o", f"out.{kind}"]
    out = tmp_path / f"out.{kind}"
    for place, row in enumerate((0, ROWS // 2, ROWS - 1)):
        old = b"old" if place % 2 else None
        if old is not None:
            out.write_bytes(old)
        done = subprocess.run(
            order, cwd=tmp_path, env={**ENVIRONMENT, "DIES_AT": f"row {row}"}, capture_output=True, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        if row and kind == "csv":  # the others are written by many megabytes at a time
            assert [part.stat().st_size > 0 for part in parts(tmp_path)] == [True]
        assert left_as_it_was(tmp_path, out, old)
        out.unlink(missing_ok=True)
    done = subprocess.run(order, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0
    assert [row["raw_output"] for row in load(out)] == [f"row {number}" for number in range(ROWS)]
    assert not parts(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("old", [b"old", None], ids=["another file there", "none there"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_a_call_leaves_the_old_file_until_the_last(tmp_path, kind, old):
    write(tmp_path / f"in.{kind}", {"raw_output": ["<answer>A</answer>", "B. Paris", "hm"] * 2000})
    command, out = ("read", "mcqa", f"in.{kind}", "-o", f"out.{kind}"), tmp_path / f"out.{kind}"
    if old is not None:
        out.write_bytes(old)
    last = calls(*command, cwd=tmp_path)
    whole = out.read_bytes()
    ends = []
    for call in range(1, last + 1):
        out.unlink()
        if old is not None:
            out.write_bytes(old)
        killed(call, *command, cwd=tmp_path)
        ends.append(left_as_it_was(tmp_path, out, old))
        if not ends[-1]:
            assert out.read_bytes() == whole
        out.write_bytes(whole)
    assert ends == sorted(ends, reverse=True), "old, then new, and nothing in between"
    assert ends[0]


@pytest.mark.slow
def test_a_run_killed_while_it_waits_for_more_leaves_the_old_file(tmp_path):
    """Multiple choice from standard input, which is read in columns, with rows on the disk already."""
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"old")
    order = [COMMAND, "read", "mcqa", "-", "-o", out.name]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(order, cwd=tmp_path, env=ENVIRONMENT, **streams) as process:
        try:
            process.stdin.write(b'{"raw_output": "<answer>A</answer>"}\n' * (2 * BATCH // 37))
            process.stdin.flush()
            wait(process, lambda: any(part.stat().st_size for part in parts(tmp_path)))
        finally:
            process.kill()
    assert left_as_it_was(tmp_path, out, b"old")
