"""Lines are found by the keys that they are about, in whatever order and shape they stand."""

import json
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.errors import InputError
from affidavit.running.answer_lines import NAMED, AnswerLines, NamedFew
from support.batch_service import failed, said, write_lines


def key(number: int) -> bytes:
    """Some begin alike, as far as they are told apart at first."""
    return bytes(7) + bytes([number % 3]) + number.to_bytes(24)


def written(folder: Path, content: bytes, name: str = "answers.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.slow
@given(numbers=st.lists(st.integers(0, 12), min_size=1, max_size=40), split=st.integers(0, 40))
def test_every_line_is_found_by_its_key_in_the_order_of_the_files(tmp_path_factory, numbers, split):
    folder = tmp_path_factory.mktemp("lines")
    lines = [said(key(number).hex(), f"text {place}") for place, number in enumerate(numbers)]
    paths = [write_lines(folder / "a", lines[:split]), write_lines(folder / "b", lines[split:])]
    with AnswerLines(paths) as found:
        assert len(found) == len(numbers)
        assert [each.lines for each in found.files] == [len(lines[:split]), len(lines[split:])]
        for number in range(0, 13, 2):
            texts = [
                line.value("response")["body"]["choices"][0]["message"]["content"]
                for _, line in found.of(key(number))
            ]
            assert texts == [f"text {place}" for place, each in enumerate(numbers) if each == number]
        assert found.unknown().count == sum(number % 2 for number in numbers)


def test_ids_that_are_no_keys_and_lines_without_one_are_counted_and_named(tmp_path):
    good = json.dumps(said(key(1).hex(), "A")).encode()
    odd = [b'{"custom_id": 7}', b"no json", b"[]", b'{"custom_id": "cut', b'{"other": "x"}', b"\xff{}"]
    foreign = ["mine", key(1).hex().upper() + "", f"{key(2).hex()[:-2]}  ", "request-1"]
    content = b"\n".join([good, b"", b"  ", *odd, *(json.dumps(failed(each, "x")).encode() for each in foreign)])
    with AnswerLines([written(tmp_path, content)]) as found:
        assert len(found) >= 1
        assert found.unreadable.count == len(odd)
        assert found.unreadable.first[0].startswith(f"{tmp_path}/answers.jsonl:4 (7")
        assert found.count(key(1)) >= 1
        assert found.unknown().count == len(foreign) - (len(found) - 1)


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + json.dumps(said(key(1).hex(), "A")).encode() + b"\r\n",
        json.dumps(said(key(1).hex(), "half \ud800")).encode(),
        b'{"odd": NaN, "custom_id": "%b", "error": "x"}' % key(1).hex().encode(),
        b'{"a": "\x01", "custom_id": "%b", "error": "x"}' % key(1).hex().encode(),
    ],
    ids=["mark and CR LF", "half a character", "NaN", "control character"],
)
def test_lines_of_every_spelling_are_read(tmp_path, content):
    with AnswerLines([written(tmp_path, content)]) as found:
        ((name, line),) = found.of(key(1))
        assert (name, line.value("custom_id")) == ("answers.jsonl", key(1).hex())
        assert found.unknown().count == 0


def test_a_line_whose_body_is_no_json_is_a_line_all_the_same(tmp_path):
    """What is wrong with its body, the reader of bodies says, as it does of one that came over a connection."""
    line = b'{"custom_id": "%b", "response": {"status_code": 200, "body": {"choices": oh no}}}'
    with AnswerLines([written(tmp_path, line % key(1).hex().encode())]) as found:
        assert (len(found), found.unreadable.count) == (1, 0)
        assert [name for name, _ in found.of(key(1))] == ["answers.jsonl"]


@pytest.mark.parametrize("name", ["custom_id", "custom\\u005fid"])
def test_a_line_about_two_questions_is_about_none(tmp_path, name):
    first, second = (key(number).hex() for number in (1, 2))
    content = f'{{"custom_id": "{first}", "error": "x", "{name}": "{second}"}}'.encode()
    with AnswerLines([written(tmp_path, content)]) as found:
        assert (len(found), found.unreadable.count) == (0, 1)
        assert "2 times" in str(found.unreadable)


def test_a_line_that_is_nested_too_deeply_is_left(tmp_path):
    deep = b'{"response": ' + b"[" * 200_000 + b', "custom_id": "x"}'
    with AnswerLines([written(tmp_path, deep)]) as found:
        assert (len(found), found.unreadable.count) == (0, 1)


def test_files_of_requests_are_refused_and_so_is_what_is_not_there(tmp_path):
    asked = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {}}
    with pytest.raises(InputError, match="expected answers of a batch, found its requests"):
        AnswerLines([write_lines(tmp_path / "asked.jsonl", [asked])])
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        AnswerLines([tmp_path / "nowhere.jsonl"])


def test_an_empty_file_has_no_lines(tmp_path):
    with AnswerLines([written(tmp_path, b"")]) as found:
        assert (len(found), found.unknown().count, found.count(key(1))) == (0, 0, 0)


def test_of_many_things_a_few_are_named():
    few = NamedFew()
    for number in range(5):
        few.add(str(number))
    other = NamedFew()
    other.add("x")
    assert (str(few), few.count, len(few.first)) == ("0, 1, 2 and 2 more", 5, NAMED)
    other.extend(few)
    assert (str(other), other.count) == ("x, 0, 1 and 3 more", 6)


def test_real_lines_of_a_service_have_ids_of_their_own(public_data):
    paths = [public_data / "logs" / "batch" / "groq_batch_output.jsonl"]
    with AnswerLines(paths) as found:
        assert (len(found), found.unknown().first) == (0, ['"request-2"', '"request-3"', '"request-1"'])


@pytest.mark.slow
def test_lines_in_any_order_are_found(tmp_path):
    numbers = list(range(500))
    random.Random(4).shuffle(numbers)  # noqa: S311
    with AnswerLines(
        [write_lines(tmp_path / "a", [failed(key(each).hex(), str(each)) for each in numbers])]
    ) as found:
        assert [next(found.of(key(each)))[1].value("error") for each in range(500)] == [
            str(each) for each in range(500)
        ]


@pytest.mark.slow
def test_a_line_takes_a_few_bytes_of_memory_however_long_it_is(tmp_path):
    """Where it stands and the beginning of its key, and as much again while these are sorted."""
    peaks = []
    for count in (10_000, 30_000):
        path = tmp_path / str(count)
        with path.open("wb") as stream:
            for number in range(count):
                stream.write(b'{"custom_id": "%064x", "error": "%b"}\n' % (number, b"x" * 300))
        tracemalloc.start()
        try:
            lines = AnswerLines([path])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert len(lines) == count
    assert (peaks[1] - peaks[0]) / 20_000 < 60


def test_a_byte_that_is_no_text_makes_a_line_unreadable_wherever_it_stands(tmp_path):
    """One such line must not end an import: it is counted, and all others are taken."""
    good, bad = (json.dumps(said(key(n).hex(), "text")).encode() for n in (1, 2))
    lines = [
        good,
        bad.replace(b"text", b"caf\xe9"),
        json.dumps(said(key(3).hex(), "caf\u00e9"), ensure_ascii=False).encode(),
    ]
    with AnswerLines([written(tmp_path, b"\n".join(lines))]) as found:
        assert [len(list(found.of(key(n)))) for n in (1, 2, 3)] == [1, 0, 1]
        assert found.unreadable.count == 1
        assert found.unknown().count == 0
