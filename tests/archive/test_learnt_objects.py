"""The quick reader of usual lines says what the decoders of any line say: the same record, or no word at all."""

import json
from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.archive.checked_lines import content_of
from affidavit.archive.learnt_objects import MOST_LEARNT, LearntObjects
from affidavit.archive.line_shapes import NotARecordError
from affidavit.archive.record import (
    ImportIdentity,
    Placed,
    QuestionIdentity,
    Response,
    any_record,
    encode,
)
from affidavit.archive.record_lines import decode, usual_response

OWN = {"correct": True, "deviation": None, "extracted_answer": "B", "unread": None, "other_readings": {"a/1": "B"}}
QUESTION = QuestionIdentity("a" * 64, "s", "t", "q1", "m", "c", 0, "b" * 64, None)
IMPORT = ImportIdentity("a" * 64, "s", "t", "q1", "m", "c", 0, "o", "Why?")
ARRIVAL = {"finish_reason": "stop", "usage": {"prompt_tokens": 90, "note": "x"}, "keyed": True}
LINES = [
    encode(Response(subject, "B", "mcqa/1", {"options": "A-D"}, True, OWN, **ARRIVAL), seq=7, group=3)
    for subject in (QUESTION, IMPORT)
]
FIELDS = [json.loads(line) for line in LINES]
NAMES = sorted({*FIELDS[0], *FIELDS[1]} - {"sha256"})


def said(read: Callable[[bytes], Placed], line: bytes) -> str:
    """The record with all types, or the refusal in its words."""
    try:
        return repr(read(line))
    except NotARecordError as error:
        return f"refused: expected {error.expected}, found {error.found}"


def said_of_any(line: bytes) -> str:
    """The same by the decoders that take any line, which know none."""
    return said(lambda given: any_record(content_of(given)), line)


def as_line(content: str) -> bytes:
    """An object with a checksum that fits: whoever forges a line computes it as we do."""
    start = content.encode("utf-8", "surrogatepass")[:-1]
    return start + b',"sha256":"' + sha256(start).hexdigest().encode() + b'"}\n'


def same(line: bytes) -> None:
    for known in LINES:
        decode(known)  # both kinds are learnt, whichever test comes first
    # Twice: what the first reading learns must not change what the second one says.
    assert said(decode, line) == said(decode, line) == said_of_any(line)


VALUES = [
    "null", "true", "false", "0", "-0", "1", "-1", "1.0", "1e0", "-0.0", "0.1", "1e400", "-1e400", "1e-400", "NaN",
    "Infinity", "-Infinity", "01", "+1", "1.", ".5", "9007199254740992", "9007199254740993", "18446744073709551616",
    "-9223372036854775809", "1" * 5000, '""', '"x"', '"é"', r'"\ud800"', r'"\udc00"', r'"\ud83d\ude00"',
    r'"\ud83d\u0041"', r'"\u0000"', '"\x00"', '"\n"', r'"\/"', r'"\x"', '"' + "a" * 64 + '"', '"' + "A" * 64 + '"',
    '"' + "a" * 63 + '"', '"' + "a" * 64 + r'\n"', '"' + "a" * 63 + ' "', '"' + "٣" * 64 + '"', "[]", "[1,]", "{}",
    '{"a":1,"a":2}', '{"a":1.0}', '{"a":-1}', '{"a":true}', '{"a":null}', '{"a":9007199254740993}', '{"a":"\\ud800"}',
    '{"\\ud800":1}', '{"a":1e400}', '{"a":NaN}', '{"a":[{"b":-0.0}]}', "[" * 2000 + "]" * 2000, '"response"',
    '"failure"', '"judgement"', "2", "2.0", '"2"', '{"a":"' + "x" * 70 + '"}', "'x'", "", "\ufeff1", '"\ud800"',
]  # fmt: skip
"""What a forger puts in the place of a value."""
hostile = st.sampled_from(VALUES)
names = st.sampled_from(NAMES).map(json.dumps) | st.sampled_from(
    [
        '"\\u006bey"',
        '"\\ud800"',
        '"own field"',
        '"a"',
        '"é"',
        '"__dict__"',
        '"further_0"',
        '"sha256"',
        '"judged_key"',
    ]
)
blanks = st.sampled_from(["", "", "", " ", "\t", "\n", "\r", "\x0b", "\u00a0"])


@st.composite
def forged(draw: st.DrawFn) -> str:
    """An object that is nearly a line: values and names replaced, repeated, left out, in any order, with blanks."""
    fields = {name: json.dumps(value) for name, value in draw(st.sampled_from(FIELDS)).items() if name != "sha256"}
    pairs = [(json.dumps(name), value) for name, value in fields.items()]
    for _ in range(draw(st.integers(0, 3))):
        match draw(st.integers(0, 5)):
            case 0 | 1:
                at = draw(st.integers(0, len(pairs) - 1))
                pairs[at] = (pairs[at][0], draw(hostile))
            case 2:
                pairs.insert(draw(st.integers(0, len(pairs))), (draw(names), draw(hostile)))
            case 3:
                pairs.insert(draw(st.integers(0, len(pairs))), draw(st.sampled_from(pairs)))
            case 4:
                del pairs[draw(st.integers(0, len(pairs) - 1))]
            case _:
                pairs = draw(st.permutations(pairs))
        pairs = pairs or [('"v"', "2")]
    gap = draw(blanks)
    return f"{gap}{{{gap}" + f"{gap},".join(f"{name}{gap}:{gap}{value}" for name, value in pairs) + "}"


@given(forged())
def test_a_forged_line_is_read_as_if_none_had_been_learnt(content):
    same(as_line(content))


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("fields", FIELDS, ids=["question", "import"])
def test_every_value_in_the_place_of_every_field(fields, value):
    written = {name: json.dumps(each) for name, each in fields.items() if name != "sha256"}
    for name in written:
        content = ",".join(f'"{each}":{value if each == name else own}' for each, own in written.items())
        same(as_line(f"{{{content}}}"))


@given(st.binary(min_size=2))
@example(b"{}")
@example(b"\xef\xbb\xbf{}")
@example(b'{"key":"\xff"}')
@example(b'{"key":"\xed\xa0\x80"}')
def test_any_bytes(content):
    start = content[:-1]
    same(start + b',"sha256":"' + sha256(start).hexdigest().encode() + b'"}\n')


@given(forged().map(as_line), st.data())
def test_any_byte_changed_in_a_line_that_fits_its_checksum(line, data):
    content = line[: line.rindex(b',"sha256":"')]
    at = data.draw(st.integers(0, max(0, len(content) - 1)))
    byte = data.draw(st.binary(max_size=2))
    start = content[:at] + byte + content[at + 1 :]
    same(start + b',"sha256":"' + sha256(start).hexdigest().encode() + b'"}\n')


@pytest.mark.parametrize("line", LINES, ids=["question", "import"])
def test_a_usual_line_is_read_quickly_once_its_fields_are_known(line):
    decode(line)
    assert repr(usual_response(content_of(line))) == said_of_any(line)


def test_own_fields_stand_in_the_order_of_their_names_however_the_line_has_them():
    first = {name: value for name, value in FIELDS[0].items() if name != "sha256"}
    turned = dict(reversed(first.items()))
    line = as_line(json.dumps(turned))
    assert said(decode, line) == said_of_any(line) == said(decode, LINES[0])


# --- what is learnt ---


def test_names_are_learnt_up_to_a_number_and_plain_ones_only():
    objects = LearntObjects({"x": int}, {})
    for odd in ("a b", "é", "\ud800", "", "1", 'a"', "a\\", "a\x00"):
        objects.learn([odd])
        assert objects.read(json.dumps({"x": 1, odd: 2}).encode()) is None
    many = [f"name_{number}" for number in range(MOST_LEARNT)]
    objects.learn(many)
    objects.learn(["one_more"])
    everything = {"x": 1, **dict.fromkeys(many)}
    assert objects.read(json.dumps(everything).encode())[1] == dict.fromkeys(sorted(many))
    assert objects.read(b'{"x":1,"one_more":2}') is None


@pytest.mark.parametrize("name", ["further_0", "x_", "__init__", "__struct_fields__", "self", "None", "class"])
def test_a_further_field_may_have_any_plain_name(name):
    objects = LearntObjects({"x": int}, {}, {"y": bool})
    objects.learn([name, "a"])
    found, further = objects.read(json.dumps({"x": 1, name: [2]}).encode())
    assert (found.x, found.y, further) == (1, None, {name: [2]})
