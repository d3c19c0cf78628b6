"""One Source of rows: told by content, the same words for the same fault, whatever the door."""

import gzip
import io
import json
import os
import threading
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.errors import InputError, UsageError
from affidavit.reading import csv_files, source
from affidavit.reading.compressed import COMPRESSIONS
from affidavit.reading.csv_files import any_header
from affidavit.reading.foreign_files import ROWS
from affidavit.reading.json_list import JSON_LIST
from affidavit.reading.source import Format, Row, bytes_source, file_source, stream_source
from affidavit.reading.sources import EMPTY, FORMATS, format_of, rows_of
from affidavit.reading.utf8 import decoded_whole
from support.command import affidavit
from support.read_rows import rows as rows_in_lines
from support.row_files import COMPRESS, DOORS, WRITERS, parquet

# --- the same fault, the same words, through every door ---

LINE = b'{"raw_output": "x", "id": "q", "question": "?", "options": ["a", "b"]}\n'
TABLE = b'id,question,options,raw_output\n1,"?\n","[""a"", ""b""]",x\n\n'


def workbook(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 90_000)
    return out.getvalue()


EXCEL = "\nSave it as CSV in UTF-8 with the program that wrote it."
FAULTS = {
    "a workbook": ("x.xlsx", workbook("[Content_Types].xml", "docProps/app.xml", "xl/workbook.xml"), f"x.xlsx: expected {ROWS}, found an Excel workbook (.xlsx){EXCEL}"),
    "a workbook by another name": ("x.jsonl", workbook("docProps/app.xml", "xl/workbook.xml"), f"x.jsonl: expected {ROWS}, found an Excel workbook (.xlsx){EXCEL}"),
    "an old workbook": ("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), f"x.xls: expected {ROWS}, found an Excel workbook of the old kind (.xls){EXCEL}"),
    "a zip": ("x.zip", workbook("a.jsonl"), f"x.zip: expected {ROWS}, found a zip archive\nUnpack it first: `unzip`."),
    "UTF-16": ("x.csv", TABLE.decode().encode("utf-16"), "x.csv: expected text in UTF-8, found text in UTF-16\nConvert the file, for example with `iconv -f utf-16 -t utf-8`."),
    "UTF-16 without a mark": ("x.jsonl", LINE.decode().encode("utf-16le"), "x.jsonl: expected text in UTF-8, found text in UTF-16LE\nConvert the file, for example with `iconv -f utf-16le -t utf-8`."),
    "UTF-32": ("x.jsonl", LINE.decode().encode("utf-32"), "x.jsonl: expected text in UTF-8, found text in UTF-32\nConvert the file, for example with `iconv -f utf-32 -t utf-8`."),
    "a Git LFS pointer": ("x.jsonl", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", f"x.jsonl: expected {ROWS}, found a Git LFS pointer, which stands for a file that was not downloaded\nRun `git lfs pull` in its repository."),
    "a web page": ("x.jsonl", b"\n<!doctype HTML>\n<html><body>Log in</body></html>", f"x.jsonl: expected {ROWS}, found a web page (HTML)\nDownload the file itself."),
    "xz": ("x.jsonl.xz", b"\xfd7zXZ\0\0\x04", f"x.jsonl.xz: expected {ROWS}, found an xz file\nUnpack it first: `unxz`."),
    "an SQLite database": ("x.db", b"SQLite format 3\0" + bytes(99), f"x.db: expected {ROWS}, found an SQLite database\nExport its table as CSV."),
    "other bytes": ("x.jsonl", bytes(range(256)) * 9, f"x.jsonl: expected {ROWS}, found a binary file\nGive a file of one of these kinds."),
    "zeros": ("x.csv", bytes(9999), f"x.csv: expected {ROWS}, found a binary file\nGive a file of one of these kinds."),
    "nothing": ("x.jsonl", b"", f"x.jsonl: expected {ROWS}, found an empty file"),
    "blanks": ("x.csv", b"\xef\xbb\xbf \r\n\n\t", f"x.csv: expected {ROWS}, found an empty file"),
    "nothing, packed": ("x.jsonl.gz", gzip.compress(b""), f"x.jsonl.gz: expected {ROWS}, found an empty file"),
    "an empty list": ("x.json", b" [ ] ", "x.json: expected a JSON list of objects, found an empty list"),
    "Latin-1 in lines": ("x.jsonl", LINE + b'{"raw_output": "caf\xe9"}', "x.jsonl:2: expected text in UTF-8, found byte 0xe9 at byte 20 of the line\nConvert the file, for example with `iconv -f latin1 -t utf-8`."),
    "Latin-1 in cells": ("x.csv", TABLE + b"1,caf\xe9,3,4\n", "x.csv:5: expected text in UTF-8, found byte 0xe9 at byte 6 of the line\nFrom a spreadsheet, save it as CSV UTF-8. Or convert it: `iconv -f latin1 -t utf-8`."),
    "Latin-1 in a list": ("x.json", b'[{"id": 1},\n{"question": "caf\xe9"}]', "x.json:2: expected text in UTF-8, found byte 0xe9 at byte 18 of the line\nConvert the file, for example with `iconv -f latin1 -t utf-8`."),
    "no JSON": ("x.jsonl", LINE + b"{'raw_output': 'x'}\n", "x.jsonl:2: expected a JSON object, found a single quote, where JSON has a double quote, at column 2: \"'raw_output': 'x'}\"\nJSON Lines hold one JSON object per line."),
    "no JSON from the first": ("x.jsonl", b"INFO loading, done\n" + LINE, "x.jsonl:1: expected a JSON object, found no JSON at column 1: 'INFO loading, done'\nJSON Lines hold one JSON object per line."),
    "no object": ("x.jsonl", LINE + b"[1, 2]\n", "x.jsonl:2: expected a JSON object, found [1, 2]\nJSON Lines hold one JSON object per line."),
    "no object in a list": ("x.json", b"[" + LINE + b", 7]", "x.json:row 2: expected a JSON object, found 7"),
    "half a list": ("x.json", b"[" + LINE + b" " + LINE + b"]", "x.json:2: expected a JSON list of objects, found Expecting ',' delimiter at column 2"),
    "text after a list": ("x.json", b"[" + LINE + b"] x", "x.json:2: expected a JSON list of objects, found Extra data at column 2"),
    "too few cells": ("x.csv", TABLE + b"1,2\n", "x.csv:5: expected 4 cells, as in the header, found 2 cells, the first \"1\"\nA text that holds the delimiter"),
    "an open quote": ("x.csv", TABLE + b'1,2,"3,4\n5,6,7,8\n', "x.csv:5: expected CSV, found unexpected end of data\nA text that holds"),
    "text after a quote": ("x.csv", TABLE + b'1,2,"3" 4,5\n', "x.csv:5: expected CSV, found ',' expected after '\"'\nA text that holds"),
    "two columns of one name": ("x.csv", b"raw_output,numbers,id,id\n1,2,3,4\n", 'x.csv:1: expected columns of different names, found ["raw_output", "numbers", "id", "id"]'),
    "two delimiters": ("x.csv", b"a,b;c\n1,2;3\n", "x.csv:1: expected one delimiter: a comma, a semicolon or a tab, found a first row that a comma cuts into 2 cells and a semicolon cuts into 2 cells\nPut the names"),
    "half a Parquet file": ("x.parquet", parquet([{"raw_output": "x"}])[:-9], "x.parquet: expected Parquet, found "),
    "gzip that ends too early": ("x.jsonl.gz", gzip.compress(LINE * 99)[:-9], "x.jsonl.gz: expected the rest of the file, found gzip data that end too early: the file was cut short"),
    "gzip that is broken": ("x.csv.gz", gzip.compress(LINE)[:10] + b"\xff" * 40, "x.csv.gz: expected the rest of the file, found broken gzip data"),
    "gzip with a wrong sum": ("x.csv.gz", gzip.compress(LINE)[:-8] + bytes(8), "x.csv.gz: expected the rest of the file, found CRC check failed"),
    "Zstandard that ends too early": ("x.jsonl.zst", COMPRESS[".zst"](LINE * 99)[:-9], "x.jsonl.zst: expected the rest of the file, found Zstandard data that end too early: the file was cut short"),
    "Zstandard and something else": ("x.jsonl.zst", COMPRESS[".zst"](LINE * 99) + b"something", "x.jsonl.zst: expected the rest of the file, found broken Zstandard data"),
    "packed twice": ("x.jsonl.gz.gz", gzip.compress(gzip.compress(LINE)), f"x.jsonl.gz.gz: expected {ROWS}, found gzip inside gzip\nUnpack it first: `gunzip`."),
    "packed Parquet": ("x.parquet.zst", COMPRESS[".zst"](parquet([{"raw_output": "x"}])), f"x.parquet.zst: expected {ROWS}, found Parquet inside Zstandard\nUnpack it first: `zstd -d`."),
    "a packed workbook": ("x.gz", gzip.compress(workbook("xl/workbook.xml")), f"x.gz: expected {ROWS}, found an Excel workbook (.xlsx){EXCEL}"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_has_the_same_words_at_every_door(tmp_path, monkeypatch, fault):
    name, content, message = FAULTS[fault]
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    words = set()
    for door in DOORS.values():
        with pytest.raises((InputError, UsageError)) as refused:
            door(Path(name))
        words.add(str(refused.value))
    assert len(words) == 1, words
    assert words.pop().startswith(message)


def test_a_file_that_is_not_there_and_a_directory_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    with pytest.raises(InputError, match=r"^x.jsonl: expected a file to read, found No such file or directory$"):
        file_source(Path("x.jsonl"))
    with pytest.raises(InputError, match=r"^folder: expected a file to read, found a directory\nName the files"):
        file_source(Path("folder"))


@pytest.mark.slow
def test_a_study_says_that_its_items_are_a_directory(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "study.toml").write_text(
        '[study]\nname = "s"\nseed = 1\n[models.m]\nbase_url = "http://127.0.0.1:9/v1"\n'
        '[tasks.t]\ncontract = "text"\nitems = "folder"\n[conditions.free]\n'
    )
    done = affidavit("run", "study.toml", "--dry-run", cwd=tmp_path)
    assert b"study.toml: tasks.t.items: expected a file of items, found a directory: 'folder'" in done.stderr


@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_any_bytes_are_rows_or_refused(content):
    for packed in (content, gzip.compress(content), COMPRESS[".zst"](content)):
        with suppress(InputError):
            for row in rows_of(bytes_source("x", packed)):
                assert isinstance(row.fields, dict)


# --- which format it is ---

FORMATS_TOLD = [
    ("x.csv", b'{"a": 1}\n', "JSON Lines"),
    ("x.parquet", b' \n{ "a": 1}\n', "JSON Lines"),
    ("x.jsonl", b'\xef\xbb\xbf[{"a": 1}]', "a JSON list"),
    ("x.txt", parquet([{"a": "b"}]), "Parquet"),
    ("x.jsonl", b"a,b\n1,2\n", "JSON Lines"),
    ("x.json", b"a,b\n1,2\n", "JSON Lines"),
    ("x.txt", b"a,b\n1,2\n", "CSV"),
    ("x.csv.gz", gzip.compress(b"{a},b\n1,2\n"), "CSV"),
    ("x.jsonl.zst", COMPRESS[".zst"](b"a,b\n"), "JSON Lines"),
    ("x", b"{a},b\n1,2\n", "JSON Lines"),
    ("x", b"a,b\n1,2\n", "CSV"),
    ("x", b"[1, 2]\n", "JSON Lines"),
    ("x.pq", b"a\n", "CSV"),
    ("x", b"\n" * 70_000 + b"a,b\n1,2\n", "CSV"),
    ("x.csv", b"", "an empty file"),
]


@pytest.mark.parametrize(("name", "content", "told"), FORMATS_TOLD, ids=range(len(FORMATS_TOLD)))
def test_content_decides_and_the_ending_breaks_ties(name, content, told):
    assert format_of(bytes_source(name, content)).name == told


def cells(content: bytes, *looked_for: str) -> list[dict[str, object]]:
    def columns(first: list[str]) -> list[str] | None:
        return first if set(looked_for) <= set(first) else None

    return [row.fields for row in rows_of(bytes_source("x.csv", content), columns if looked_for else any_header)]


def test_the_first_row_tells_the_delimiter():
    assert cells(b"a;b\n1,2;3\n") == [{"a": "1,2", "b": "3"}]
    assert cells(b"a\tb\n1,2;x\t3\n") == [{"a": "1,2;x", "b": "3"}]
    assert cells(b'"a;b",c\n1;2,3\n') == [{"a;b": "1;2", "c": "3"}]
    assert cells(b"a;b,c;d\n1,2;3;4\n", "d") == [{"a": "1,2", "b,c": "3", "d": "4"}]
    assert cells(b"raw_output;b,c\n1;2\n", "raw_output") == [{"raw_output": "1", "b,c": "2"}]
    assert cells(b"a\nx\n\ny\n") == [{"a": "x"}, {"a": "y"}]
    with pytest.raises(InputError, match="a comma cuts into 2 cells and a tab cuts into 2 cells"):
        cells(b"a,b\tc\n1,2\n")


def test_lines_end_at_line_feeds_and_places_are_lines():
    content = 'a,b\r\n"1\u2028\n2",\x85\r\n\r\n3,"4\r5"\r\n'.encode()
    found = list(rows_of(bytes_source("x.csv", content)))
    assert found == [
        Row("x.csv:2", 1, {"a": "1\u2028\n2", "b": "\x85"}),
        Row("x.csv:5", 2, {"a": "3", "b": "4\r5"}),
    ]
    lines = '{"a": "\u2028"}\r\n\n{"a": "\x85"}'.encode()
    assert [(row.where, row.number) for row in rows_of(bytes_source("x", lines))] == [("x:1", 1), ("x:3", 3)]


def test_a_cell_may_have_any_size():
    long = "many words, " * 100_000
    assert cells(f'a,b\n"{long}",2\n'.encode()) == [{"a": long, "b": "2"}]


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", [b'{"a": "' + b"x" * 700_000, b'a,b\n1,"' + b"x\n" * 400_000, b'[{"a": "' + b"x" * 700_000]
)
def test_a_row_that_never_ends_is_refused(monkeypatch, content):
    monkeypatch.setattr(source, "LONGEST_ROW", 600_000)
    with pytest.raises(
        InputError, match=r"expected a (row|JSON list) of at most 600,000 bytes, found a longer one"
    ):
        list(rows_of(bytes_source("x", gzip.compress(content))))


# --- laws ---

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
tables = st.lists(texts, min_size=1, max_size=3, unique=True).flatmap(
    lambda names: st.lists(st.fixed_dictionaries(dict.fromkeys(["n", *(f"_{name}" for name in names)], texts)), min_size=1, max_size=4)
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=40)
@given(tables)
def test_rows_of_any_text_survive_every_format_and_compression(rows):
    for kind, write in WRITERS.items():
        for ending, compress in COMPRESS.items():
            if kind == "Parquet" and ending:
                continue
            found = rows_of(bytes_source(f"x{ending}", compress(write(rows))))
            assert [row.fields for row in found] == rows, (kind, ending)


@settings(max_examples=20)
@given(st.lists(st.binary(max_size=300), max_size=5), st.integers(1, 400))
def test_bytes_survive_every_compression_however_they_are_packed_and_read(parts, size):
    for compression in COMPRESSIONS.values():
        out = io.BytesIO()
        for part in parts:  # a member or a frame each
            with compression.packed(out) as packed:
                packed.write(part)
        stream = source.Stream(io.BytesIO(out.getvalue()), name="x")
        read = b""
        while some := stream.read(size):
            read += some
        assert read == b"".join(parts)


def test_frames_that_are_to_be_skipped_are_skipped():
    skipped = b"\x53\x2a\x4d\x18\x04\0\0\0abcd"
    content = skipped + COMPRESS[".zst"](LINE) + skipped + COMPRESS[".zst"](LINE) + skipped
    assert len(list(rows_of(bytes_source("x", content)))) == 2


@pytest.mark.slow
def test_the_same_rows_make_the_same_bytes(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(LINE * 9)
    for ending in COMPRESSIONS:
        made = set()
        for name in ("a", "b"):
            done = affidavit("read", "text", "in.jsonl", "-o", f"{name}.jsonl{ending}", cwd=tmp_path)
            notes = [line for line in done.stderr.splitlines() if b"several rows have one id" not in line]
            assert (done.returncode, notes) == (0, [])
            made.add((tmp_path / f"{name}.jsonl{ending}").read_bytes())
        assert len(made) == 1
        again = affidavit("read", "text", f"a.jsonl{ending}", cwd=tmp_path)
        assert len(rows_in_lines(again.stdout)) == 9


# --- pipes ---


@pytest.mark.slow
def test_standard_input_may_be_of_any_format_and_packed(tmp_path):
    for content in (
        LINE * 2,
        gzip.compress(LINE * 2),
        COMPRESS[".zst"](LINE * 2),
        b"[" + LINE + b"," + LINE + b"]",
    ):
        done = affidavit("read", "text", given=content, cwd=tmp_path)
        assert [row["raw_output"] for row in rows_in_lines(done.stdout)] == ["x", "x"]
    done = affidavit("read", "text", "-", given=b"raw_output\tid\nx\t1\n", cwd=tmp_path)
    assert done.stdout == b"raw_output\tid\tprotocol_compliant\nx\t1\ttrue\n"
    done = affidavit("read", "text", "-o", "out.parquet", given=parquet([{"raw_output": "x"}]), cwd=tmp_path)
    assert done.returncode == 0


def test_a_pipe_is_opened_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(gzip.compress(LINE * 5000),))
    writer.start()
    found = file_source(tmp_path / "pipe")
    assert format_of(found) is FORMATS["JSON Lines"]
    assert len(list(rows_of(found))) == 5000
    writer.join()


class Trickle(io.RawIOBase):
    """A stream that gives a byte at a time."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        buffer[: len(self.content[:1])] = self.content[:1]
        given, self.content = len(self.content[:1]), self.content[1:]
        return given


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_slow_stream_is_read_whole(ending):
    found = stream_source("x", Trickle(COMPRESS[ending](LINE * 20)))
    assert len(list(rows_of(found))) == 20


# --- a format is one file and one line ---

NOTES = '''
"""Notes: `name = value` on lines of their own, a blank line between rows."""

from affidavit.reading.source import Format, Row


def rows(source, columns):
    with source.opened() as stream:
        for number, block in enumerate(stream.read().decode().removeprefix("#notes\\n").split("\\n\\n"), 1):
            fields = dict(line.split(" = ", 1) for line in block.strip().split("\\n"))
            yield Row(f"{source.name}:row {number}", number, fields)


NOTES = Format("notes", (".notes",), lambda head: head.startswith(b"#notes"), rows)
'''


def test_a_new_format_is_one_file_and_one_line(tmp_path, monkeypatch):
    module = ModuleType("notes")
    exec(NOTES, module.__dict__)  # noqa: S102 - the one file
    monkeypatch.setitem(FORMATS, module.NOTES.name, module.NOTES)  # the one line
    path = tmp_path / "x.notes.gz"
    rows = [{"id": str(n), "question": "?", "numbers": "", "raw_output": f"{n}"} for n in (1, 2)]
    text = "#notes\n" + "\n\n".join("\n".join(f"{name} = {value}" for name, value in row.items()) for row in rows)
    path.write_bytes(gzip.compress(text.encode()))
    assert [json.loads(line) for line in DOORS["read"](path)] == [
        row | {"protocol_compliant": True} for row in rows
    ]
    assert DOORS["judge"](path) == rows
    questions = [{"id": "1", "question": "?", "options": '["a", "b"]'}]
    path.write_text("#notes\n" + "\n".join(f"{name} = {value}" for name, value in questions[0].items()))
    assert DOORS["items"](path)[0]["options"] == ["a", "b"]


def test_every_format_says_what_it_is():
    for name, each in FORMATS.items():
        assert isinstance(each, Format)
        assert each.name == name
    assert EMPTY.name not in FORMATS
    assert JSON_LIST.recognises(b"[{")
    assert decoded_whole(b"\xef\xbb\xbfx", name="x") == "x"
    assert csv_files.csv.field_size_limit() >= source.LONGEST_ROW


# --- memory ---


def peak(path: Path) -> int:
    tracemalloc.start()
    for _ in rows_of(file_source(path)):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.slow
@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("kind", ["JSON Lines", "semicolons"])
def test_memory_does_not_grow_with_the_file(tmp_path, kind, ending):
    peaks = []
    for count in (100, 10_000, 40_000):  # the first time, whatever is loaded on the way is no part of the file
        rows = [{"raw_output": f"{number} " + "words " * 20, "id": str(number)} for number in range(count)]
        path = tmp_path / f"{count}{ending}"
        path.write_bytes(COMPRESS[ending](WRITERS[kind](rows)))
        peaks.append(peak(path))
    # What other threads of the process take meanwhile is counted too, and is no part of the file: it is not there twice.
    assert peaks[2] < 2 * peaks[1] or peak(path) < 2 * peaks[1] or peak(path) < 2 * peaks[1]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_bomb_costs_no_memory(tmp_path, ending):
    """Hundreds of megabytes of lines out of some kilobytes."""
    path = tmp_path / f"x.jsonl{ending}"
    path.write_bytes(COMPRESS[ending](b'{"raw_output": ""}\n' * 20_000_000))
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    for number, _ in enumerate(rows_of(file_source(path))):
        if number == 300_000:
            break
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200_000_000
    zeros = (
        zstandard.ZstdCompressor().compress(bytes(400_000_000))
        if ending == ".zst"
        else gzip.compress(bytes(400_000_000))
    )
    with pytest.raises(InputError, match="found a binary file"):
        rows_of(bytes_source("x", zeros))
