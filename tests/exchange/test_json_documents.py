"""JSON of logs: what is none is refused with its place, whatever it is."""

import pytest

from affidavit.errors import InputError
from affidavit.exchange.json_documents import document, lines, list_in, object_in, text_in


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no JSON"),
        (b"[1]", r"found \[1\]"),
        (b'{"a": 1', "no JSON at column 8"),
        (b'{"a": 1}}', "Extra data"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"\xff\xfe{", "UTF"),
    ],
)
def test_what_is_no_object_is_refused(tmp_path, content, said):
    path = tmp_path / "log.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as refused:
        document(path, what="a log")
    assert refused.value.where.startswith(str(path))


def test_lines_end_at_line_feeds_alone_and_keep_their_numbers(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes('{"a": "\u2028"}\r\n\n{"a": 2}'.encode())
    assert list(lines(path)) == [(1, {"a": "\u2028"}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("read", "expected"), [(text_in, "a text"), (object_in, "an object"), (list_in, "a list")]
)
@pytest.mark.parametrize("fields", [{}, {"a": None}, {"a": 1.5}])
def test_fields_of_another_type_are_refused_with_their_place(read, expected, fields):
    with pytest.raises(InputError, match=f"here: expected {expected} in 'a'"):
        read(fields, "a", where="here")
    assert (text_in({"a": ""}, "a", where=""), object_in({"a": {}}, "a", where=""), list_in({"a": []}, "a", where="")) == ("", {}, [])  # fmt: skip
