"""Every format against damage and malice: a log is refused with its place, or read; never a traceback, never all memory.

A log that was cut may be read as far as it goes: then each of its outputs is one of the whole log, as it was there.
"""

import json
import os
import random
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.read_by import ReadBy
from affidavit.errors import InputError
from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput
from affidavit.exchange.registry import LOG_FORMATS, logs_of
from affidavit.reading.compressed import zstd
from affidavit.results.second_readings import audit_fields, audit_report
from affidavit.running.second_reading import audit_terms, audited
from support.log_mutations import read_or_refused
from support.small_logs import MARK, TEXT, TIME, WRITERS, write_small_log

DEEP = 1_000_000
"""Levels of brackets: more than any reader of JSON goes down."""
IN_ZIP, IN_PARQUET = "Inspect .eval", "lighteval details"
AS_TEXT = [form for form in WRITERS if form not in (IN_ZIP, IN_PARQUET)]
SPARSE = 3 << 30
"""Bytes of a file that has none of them on the disk."""
ZSTANDARD = 93
"""The method of the zip format that packs by it."""
MOST_MEMORY = 1536 << 20
"""Bytes of addresses that a process gets to read it: less than half of it."""

every_format = pytest.mark.parametrize("form", WRITERS)


def only_log(path: Path) -> Log:
    (log,) = logs_of([path])
    return log


def read(path: Path) -> list[LoggedOutput] | InputError:
    return read_or_refused(only_log, path)


def files_of(path: Path) -> list[Path]:
    """The files that a log is read from, those beside it too."""
    return sorted(each for each in (path if path.is_dir() else path.parent).rglob("*") if each.is_file())


def steps(size: int) -> Iterator[int]:
    """Where a file is cut: every kilobyte of a large one, more often in a small one."""
    return iter(range(0, size, min(1024, max(1, size // 64))))


def texts_of(found: list[LoggedOutput]) -> set[tuple[str, str | None]]:
    return {(output.place, output.raw_output) for output in found}


def assert_part_of(found: list[LoggedOutput] | InputError, whole: list[LoggedOutput]) -> None:
    if isinstance(found, list):
        assert texts_of(found) <= texts_of(whole)


def test_there_is_a_small_log_of_every_format(tmp_path):
    assert list(WRITERS) == list(LOG_FORMATS)
    for form in WRITERS:
        log = only_log(write_small_log(form, tmp_path / form))
        assert (log.format, [output.raw_output for output in log.outputs()]) == (form, [TEXT] * 3)


# --- cut, and with other bytes ---


@pytest.mark.slow
@every_format
def test_a_log_may_be_cut_anywhere(tmp_path, form):
    path = write_small_log(form, tmp_path)
    whole = list(only_log(path).outputs())
    for file in files_of(path):
        content = file.read_bytes()
        for place in steps(len(content)):
            file.write_bytes(content[:place])
            found = read(path)
            assert_part_of(found, whole)
            if isinstance(found, list) and len(found) < len(whole):
                assert only_log(path).planned == len(whole), "the gap is counted"
        file.write_bytes(content)
    assert texts_of(read(path)) == texts_of(whole)


@pytest.mark.slow
@every_format
def test_any_byte_of_a_log_may_be_another(tmp_path, form):
    path, draw = write_small_log(form, tmp_path), random.Random(form)  # noqa: S311
    for file in files_of(path):
        content = file.read_bytes()
        for _ in range(120):
            changed = bytearray(content)
            for _ in range(draw.choice((1, 1, 1, 4))):
                changed[draw.randrange(len(content))] = draw.choice(
                    (0, 0xFF, 0x22, 0x5C, 0x7B, draw.randrange(256))
                )
            file.write_bytes(changed)
            read(path)
        file.write_bytes(content)


REAL = [
    "inspect/data_arc_qwen.json",
    "inspect/data_arc_sonnet.json",
    "inspect/log_formats.eval",
    "inspect/log_message_deduplication.eval",
    "lm_eval/samples_gsm8k_2025-09-09T13-31-53.431753.jsonl",
    "helm/mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2",
    "promptfoo/sample-export.json",
    "promptfoo/v2-output.json",
    "opencompass/qwen-7b-chat-hf/1-2.json",
    "batch/groq_batch_output.jsonl",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_a_real_log_may_be_cut_at_every_kilobyte_and_have_bytes_changed(tmp_path, public_data, name):
    source, draw = public_data / "logs" / name, random.Random(name)  # noqa: S311
    whole = list(only_log(source).outputs())
    path = tmp_path / source.parent.name / source.name
    path.parent.mkdir()
    for each in files_of(source) if source.is_dir() else [source]:
        copied = path / each.name if source.is_dir() else path
        copied.parent.mkdir(exist_ok=True)
        copied.write_bytes(each.read_bytes())
    for file in files_of(path) if path.is_dir() else [path]:
        content = file.read_bytes()
        for place in steps(len(content)):
            file.write_bytes(content[:place])
            assert_part_of(read(path), whole)
        for _ in range(20):
            changed = bytearray(content)
            changed[draw.randrange(len(content))] = draw.randrange(256)
            file.write_bytes(changed)
            read(path)
        file.write_bytes(content)


# --- what no log has ---


@pytest.mark.slow
@pytest.mark.parametrize("deep", ["[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, "[" * DEEP])
@every_format
def test_json_a_million_levels_deep_is_refused(tmp_path, form, deep):
    """It stands where a reader looks for nothing."""
    found = read(write_small_log(form, tmp_path, spliced=lambda text: text.replace(json.dumps(MARK), deep)))
    assert isinstance(found, InputError)
    assert "nested too deeply" in found.found


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("Inspect .eval", "'1', epoch 1 again"),
        ("Inspect .json", "'1', epoch 1 again"),
        ("lm-eval samples", "a doc_id that no other row of its filter has"),
        ("HELM run", "an instance that no other request of its trial has"),
        ("promptfoo export", "one output of each test, provider and prompt"),
        ("OpenCompass predictions", "names that no two values have"),
        ("batch output", "a custom_id that no other line has"),
        ("Every Eval Ever samples", "one row for a sample and a metric"),
        ("lighteval details", "an id that no other row has"),
    ],
)
def test_an_id_that_comes_twice_is_refused(tmp_path, form, said):
    found = read(write_small_log(form, tmp_path, ids=("1", "2", "1")))
    assert isinstance(found, InputError)
    assert said in str(found)


@pytest.mark.parametrize(
    ("form", "right", "wrong", "said"),
    [
        ("Inspect .eval", '"version": 2', '"version": 99', "a log of Inspect in version 1, 2 or 3, found 99"),
        ("Inspect .json", '"version": 2', '"version": 99', "a log of Inspect in version 1, 2 or 3, found 99"),
        ("lm-eval samples", '"resps": [[', '"resps": [[[', "in 'resps'"),
        ("HELM run", '"generation"', '"telepathy"', "a method among"),
        ("promptfoo export", '"version": 3', '"version": 9', "version 2 or 3 in 'results', found 9"),
        ("OpenCompass predictions", '"prediction"', '"said"', "a field 'prediction'"),
        ("batch output", '"chat.completion"', '"chat.dream"', "a body of the kind"),
        ("Every Eval Ever samples", '"0.3.0"', '"7.1"', "schema_version 0.3.0 or 0.2, found"),
    ],
)
def test_an_unknown_version_is_refused_by_name(tmp_path, form, right, wrong, said):
    def spliced(text: str) -> str:
        return text.replace(right, wrong).replace(f'{wrong}"{TEXT}"]]', f'{wrong}"{TEXT}"]]]')

    found = read(write_small_log(form, tmp_path, spliced=spliced))
    assert isinstance(found, InputError)
    assert said in str(found)


# --- zip files ---


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {each: archive.read(each) for each in archive.namelist()}


@pytest.mark.parametrize(
    "name",
    [
        "samples/../../../out_epoch_1.json",
        "/samples/out_epoch_1.json",
        "../out.json",
        "samples/C:\\out_epoch_1.json",
    ],
)
def test_names_that_lead_elsewhere_write_nothing(tmp_path, name):
    path = write_small_log(IN_ZIP, tmp_path / "a" / "b" / "c", ids=("1", "2"))
    kept = members(path)
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in kept.items():
            archive.writestr(name if each.startswith("samples/1") else each, content)
    before = files_of(tmp_path)
    assert isinstance(read(path), list)
    assert files_of(tmp_path) == before


def bomb(folder: Path, *, method: int, packed: bytes, claimed: int) -> Path:
    """A log whose sample says that it has so many bytes, and unpacks to others."""
    path = write_small_log(IN_ZIP, folder, ids=("1",))
    header = members(path)["header.json"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", header)
        archive.writestr("samples/1_epoch_1.json", packed)
        start, places = archive.start_dir, [each.header_offset for each in archive.infolist()]
    content = bytearray(path.read_bytes())
    for place in (places[1] + 8, start + 46 + len("header.json") + 10):
        content[place : place + 2] = struct.pack("<H", method)
        content[place + 14 : place + 18] = struct.pack("<I", claimed)
    path.write_bytes(content)
    return path


def packed_zeros(method: int) -> bytes:
    """Two gigabytes of zeros, one piece packed and repeated."""
    zeros = bytes(1 << 24)
    if method == ZSTANDARD:
        return zstd.compress(zeros) * 128
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    return piece * 128 + packer.flush()


# --- in bounded memory ---


def limited(path: Path, *arguments: str, memory: int = MOST_MEMORY) -> subprocess.CompletedProcess[str]:
    """`affidavit audit` of a log in a process that gets no more addresses than the limit."""
    command = f'ulimit -v {memory >> 10}; exec "$@"'
    audit = [sys.executable, "-m", "affidavit", "audit", str(path), "--contract", "mcqa", *arguments]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        ["bash", "-c", command, "bash", *audit], env=environment, capture_output=True, text=True, check=False
    )


def assert_refused(done: subprocess.CompletedProcess[str], said: str) -> None:
    assert done.returncode == 2, (done.returncode, done.stderr[-2000:])
    assert "Traceback" not in done.stderr
    assert said in done.stderr


def endless(path: Path, before: str) -> None:
    """A file that begins like this and goes on for gigabytes without a line's end."""
    with path.open("wb") as stream:
        stream.write(before.encode())
        stream.truncate(SPARSE)


def begun(file: Path) -> str:
    """What a file holds up to the inside of one of its texts."""
    text = file.read_text()
    mark = TEXT if TEXT in text else MARK
    return text[: text.index(mark) + len(mark)]


MAIN_FILES: dict[str, Callable[[Path], Path]] = {
    "HELM run": lambda path: path / "scenario_state.json",
    "lighteval details": lambda path: path.with_name(f"results_{TIME}.json"),
}
"""What grows without an end: the log itself, unless it is this one of its files."""


@pytest.mark.slow
@pytest.mark.parametrize("form", [form for form in WRITERS if form != IN_ZIP])
def test_a_line_of_gigabytes_is_refused_in_little_memory(tmp_path, form):
    path = write_small_log(form, tmp_path)
    file = MAIN_FILES.get(form, lambda path: path)(path)
    endless(file, begun(file))
    assert_refused(limited(path), "268,435,456 bytes")


@pytest.mark.slow
def test_a_member_of_gigabytes_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "log.eval"
    name, size = b"header.json", SPARSE - 1024
    common = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, 0, size, size, len(name), 0)
    with path.open("wb") as stream:
        stream.write(b"PK\x03\x04" + common + name)
        stream.seek(30 + len(name) + size)
        start = stream.tell()
        stream.write(b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name)
        stream.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, stream.tell() - start, start, 0))
    assert_refused(limited(path), "header.json: expected at most 268,435,456 bytes")


@pytest.mark.slow
@pytest.mark.parametrize("claimed", [16, 200 << 20])
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, ZSTANDARD], ids=["deflate", "Zstandard"])
def test_a_member_that_unpacks_to_gigabytes_is_unpacked_no_further_than_it_says(tmp_path, method, claimed):
    path = bomb(tmp_path, method=method, packed=packed_zeros(method), claimed=claimed)
    assert path.stat().st_size < 1 << 24
    assert_refused(limited(path), f"samples/1_epoch_1.json: expected {claimed:,} bytes with the checksum")


@pytest.mark.slow
def test_a_table_that_unpacks_to_gigabytes_in_one_line_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "table.jsonl.zst"
    begun_text = b'{"raw_output": "'
    path.write_bytes(zstd.compress(begun_text) + packed_zeros(ZSTANDARD))
    assert_refused(limited(path, "--field", "raw_output"), "a row of at most 268,435,456 bytes")
    plain = tmp_path / "table.csv"
    endless(plain, f'raw_output,ok\n"{"x" * (1 << 16)}')
    assert_refused(limited(plain, "--source-correct", "ok"), "a row of at most 268,435,456 bytes")


@pytest.mark.slow
def test_a_gigabyte_of_long_rows_is_read_in_little_memory(tmp_path):
    """None of them follows the format, and the source calls each right: all moved."""
    row = json.dumps({"raw_output": "a" * (1 << 20), "answer": "B", "source_correct": True}).encode() + b"\n"
    path = tmp_path / "table.jsonl.zst"
    path.write_bytes(zstd.compress(row * 16) * 64)
    done = limited(path, "--json", memory=768 << 20)
    assert done.returncode == 0, done.stderr[-2000:]
    (said,) = json.loads(done.stdout)["logs"]
    assert (said["outputs"], said["moved"], said["compliant"]) == (1024, 1024, 0)


# --- numbers that are none ---

NUMBER = re.compile(r"(?<=[ \[:])-?\d+(?:\.\d+)?(?=[,\]} ])")
NO_NUMBERS = ("NaN", "-Infinity", "1e999", f"1{'0' * 400}", "9" * 5000, '"NaN"', "-1", "true", "null")


@pytest.mark.slow
@pytest.mark.parametrize("form", [form for form in AS_TEXT if form != "OpenCompass predictions"])
def test_any_number_may_be_none_and_what_is_told_is_json_all_the_same(tmp_path, form):
    path, found = write_small_log(form, tmp_path), 0
    for file in files_of(path):
        text = file.read_text()
        for match in NUMBER.finditer(text):
            for other in NO_NUMBERS:
                file.write_text(f"{text[: match.start()]}{other}{text[match.end() :]}")
                readings = []
                with suppress(InputError):
                    readings = audited([path], audit_terms(mcqa))
                if readings:
                    found += 1
                    json.dumps(audit_fields(readings), allow_nan=False)
                    assert audit_report(readings, ReadBy.of(mcqa)).tables
        file.write_text(text)
    assert found
