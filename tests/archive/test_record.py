"""A record comes back from its line as it was, lines on record stay what they are, and nothing else passes."""

import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit.archive.checked_lines import checked_fields, checked_line
from affidavit.archive.journal import Archive, Walk
from affidavit.archive.line_shapes import NotARecordError
from affidavit.archive.record import (
    Failed,
    ImportIdentity,
    Judgement,
    JudgementIdentity,
    Label,
    Placed,
    QuestionIdentity,
    Record,
    RecordedCount,
    RecordedFinding,
    RecordedQuote,
    Response,
    content_digest,
    content_digest_of,
    encode,
    encoded,
    record_fields,
)
from affidavit.archive.record_columns import RecordColumns
from affidavit.archive.record_lines import decode
from affidavit.archive.seal import Root, read_seal
from affidavit.archive.versions import FORMAT
from affidavit.contracts.evaluation import META
from affidavit.errors import StorageError
from affidavit.json_values import canonical
from support.strategies import any_text

STUDIES = Path(__file__).parents[1] / "golden" / "studies"
"""Studies that were written before records had types, by the commands of that time."""
LINES = [
    pytest.param(line, id=f"{path.parts[-3]}-{path.stem}-{number}")
    for path in sorted(STUDIES.glob("*/records/*.jsonl"))
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1)
]

# --- any record ---

text = any_text.map(lambda given: given.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
"""JSON knows no pair of surrogates but as one character."""
maybe = st.none() | text
key = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
count = st.integers(-(2**70), 2**70)
value = st.recursive(
    st.none() | st.booleans() | count | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
ON_LINES = {
    *QuestionIdentity.__struct_fields__, *ImportIdentity.__struct_fields__, *Response.__struct_fields__,
    "kind", "v", "seq", "group", "sha256", "correct", "unread", "judged_key",
}  # fmt: skip
own_name = (text | st.sampled_from(["output_id", "prompt", "valid", "flags"])).filter(
    lambda name: name not in ON_LINES - {"output_id", "prompt"}
)
questions = st.builds(QuestionIdentity, key, text, text, text, text, text, count, text, maybe)
rows = st.dictionaries(text, value, max_size=3)
imports = st.builds(ImportIdentity, key, text, text, text, text, text, count, maybe, maybe, rows)
judged = st.builds(
    JudgementIdentity,
    *(key, text, text, key, text, text, count),
    st.fixed_dictionaries(dict.fromkeys(META, text)),
    *(text, text, st.booleans(), text, text, text, count, text, maybe),
)
usage = st.none() | st.dictionaries(text, st.integers(0, 2**53) | text, max_size=2)
arrival = {
    "finish_reason": maybe, "reasoning": maybe, "rendered_prompt": maybe, "usage": usage, "server_model": maybe,
    "system_fingerprint": maybe,
}  # fmt: skip
params = st.dictionaries(text, value, max_size=2)


def responses(subject: st.SearchStrategy, names: st.SearchStrategy[str]) -> st.SearchStrategy[Response]:
    kept = st.fixed_dictionaries({}, optional={"correct": st.none() | st.booleans(), "unread": maybe})
    own = st.builds(lambda known, more: {**more, **known}, kept, st.dictionaries(names, value, max_size=3))
    compliant, keyed = st.none() | st.booleans(), st.none() | st.booleans()
    return st.builds(Response, subject, text, text, params, compliant, own, keyed=keyed, **arrival)


findings = st.builds(RecordedFinding, code=text, path=text, expected=text, found=text)
quotes = st.builds(
    RecordedQuote, dimension=text, quote=text, kind=text, start=st.none() | count, end=st.none() | count
)
judgements = st.builds(
    Judgement,
    *(judged, text, text, params, text, st.booleans(), st.booleans()),
    flags=st.lists(text, max_size=2).map(tuple),
    findings=st.lists(findings, max_size=2).map(tuple),
    further_findings=st.lists(st.builds(RecordedCount, code=text, count=count), max_size=2).map(tuple),
    judge_flags=st.lists(text, max_size=2).map(tuple),
    further_judge_flags=count,
    scores=st.none() | st.dictionaries(text, count, max_size=3),
    verdict=maybe,
    evidence=st.lists(quotes, max_size=2).map(tuple),
    evidence_checked=st.booleans(),
    identifiers_checked=st.booleans(),
    **arrival,
)
labels = st.builds(Label, key, text, text | count | st.booleans(), text, text, key, st.none() | text)
records = st.one_of(
    responses(questions, own_name),
    responses(imports, own_name.filter(lambda name: name not in ("output_id", "prompt"))),
    st.builds(Failed, questions | judged, text),
    st.builds(Failed, imports, text, st.none() | st.booleans()),
    judgements,
    labels,
)

QUESTION = QuestionIdentity("a" * 64, "s", "t", "q", "m", "c", 0, "b" * 64, None)
POSITION = {"group": 1, "seq": 1, "v": FORMAT}
CONFUSING = [
    Response(QUESTION, '"group":1,"seq":1,"v":1', "own/1", POSITION, True, {"nested": [POSITION], "a": '"v":1'}),
    Response(QUESTION, "", "own/1", {"v": 12, "group": 11, "seq": 10}, None, {"vv": {"v": 1}, "unread": "\ud800"}),
]
"""Records that speak of positions themselves."""


@pytest.mark.slow
@given(records, st.integers(1, 2**40), st.integers(1, 2**40))
@example(CONFUSING[0], 1, 1)
@example(CONFUSING[1], 1, 1)
def test_a_record_comes_back_from_its_line(record, seq, group):
    line = encode(record, seq=seq, group=group)
    assert line.isascii()
    assert line.count(b"\n") == 1
    placed = decode(line)
    assert placed == Placed(seq, group, record)
    assert encode(placed.record, seq=seq, group=group) == line
    assert checked_fields(line) == {**record_fields(record), "v": FORMAT, "seq": seq, "group": group}
    assert content_digest_of(line, placed) == content_digest(record)


@pytest.mark.slow
@given(records, st.integers(1, 2**40), st.integers(1, 2**40))
@example(CONFUSING[0], 1, 1)
@example(CONFUSING[1], 1, 1)
def test_a_line_and_its_digest_are_those_of_all_fields_together(record, seq, group):
    line, digest = encoded(record, seq=seq, group=group)
    assert line == checked_line({**record_fields(record), "v": FORMAT, "seq": seq, "group": group})
    assert digest == content_digest(record)


@pytest.mark.slow
@given(records, st.data())
def test_no_part_of_a_line_is_a_record(record, data):
    line = encode(record, seq=1, group=1)
    cut = data.draw(st.integers(0, len(line) - 1))
    assert decode(line[:cut]) is None
    assert decode(line[cut + 1 :]) is None


def test_records_of_two_kinds_are_never_equal():
    imported = ImportIdentity("a" * 64, "s", "t", "q", "m", "c", 0, "b" * 64, None)
    assert Response(QUESTION, "", "text/1", {}, True, {}) != Response(imported, "", "text/1", {}, True, {})


# --- lines that were written before ---


@pytest.mark.parametrize("line", LINES)
def test_a_line_on_record_is_written_again_to_the_byte(line):
    placed = decode(line)
    assert encode(placed.record, seq=placed.seq, group=placed.group) == line
    fields = {name: value for name, value in checked_fields(line).items() if name not in ("seq", "group", "v")}
    if fields["kind"] == "failure" and "row" not in fields:
        fields = {name: fields[name] for name in ("kind", "key", "reason")}
    expected = sha256(canonical(fields)).digest()
    assert content_digest(placed.record) == content_digest_of(line, placed) == expected


@pytest.mark.parametrize(
    ("study", "root_sha256"),
    {
        "planned": "646e4b0c3063de27971a2b586261a942dc6129134152e9a6fc10dc57c2bd04d1",
        "imported": "79496aaf6b215f241381fcd25c579b41cc70e22bc1f9c11eec81d87c83e5d9fe",
        "own": "148a1d535a528edba6d2d0ffb57d3f9df69989ed44afc0c8bc5a808bcaf4e25e",
    }.items(),
)
def test_a_study_on_record_has_the_root_digest_that_it_had(study, root_sha256):
    root = Root()
    for line in Walk(STUDIES / study):
        root.add_line(line.content, line.placed)
    assert root.sha256(STUDIES / study) == read_seal(STUDIES / study).root_sha256 == root_sha256


def test_the_studies_on_record_hold_records_of_every_kind():
    kinds = {(type(each.record), type(each.record.subject)) for study in STUDIES.iterdir() for each in Walk(study)}
    assert kinds == {
        (Response, QuestionIdentity), (Response, ImportIdentity), (Judgement, JudgementIdentity),
        (Failed, QuestionIdentity), (Failed, ImportIdentity), (Failed, JudgementIdentity),
    }  # fmt: skip


# --- lines that fit their checksum and are no records ---

IMPORT = ImportIdentity("a" * 64, "s", "t", "q", "m", "c", 0, "o1", None)
JUDGED = JudgementIdentity(
    "a" * 64,
    "s",
    "j",
    "b" * 64,
    "c" * 64,
    "free",
    1,
    dict.fromkeys(META, "x"),
    "t",
    "cross_judge",
    False,
    "q",
    "c",
    "m",
    0,
    "d" * 64,
    None,
)
RESPONSE = record_fields(
    Response(QUESTION, "B", "mcqa/1", {}, True, {"correct": True}, usage={"prompt_tokens": 1}, keyed=True)
)
JUDGEMENT = record_fields(
    Judgement(
        JUDGED, "{}", "judge/1", {}, "e" * 64, protocol_compliant=True, valid=True, flags=("F",), judge_flags=(),
        findings=(RecordedFinding(code="c", path="$", expected="a", found="b"),), scores={"D1": 2}, verdict="PASS",
        evidence=(RecordedQuote(dimension="D1", quote="x", kind="exact", start=0, end=1),), evidence_checked=True,
        further_findings=(RecordedCount(code="c", count=3),), further_judge_flags=0,
        identifiers_checked=True,
    )
)  # fmt: skip
FAILED = record_fields(Failed(QUESTION, "timeout"))
LABEL = record_fields(Label("a" * 64, "verdict", "PASS", "r1", "2026-01-31", "b" * 64))
ABSENT = object()

MISTYPED = {
    "no kind": (RESPONSE, {"kind": ABSENT}, "one of response, failure, judgement, label in 'kind'", "null"),
    "another kind": (RESPONSE, {"kind": "rumour"}, "one of response, failure, judgement, label in 'kind'", '"rumour"'),
    "a kind that is a list": (RESPONSE, {"kind": []}, "one of response, failure, judgement, label in 'kind'", "[]"),
    "another version": (RESPONSE, {"v": 1}, "a line of version 3", "version 1"),
    "a version that is true": (RESPONSE, {"v": True}, "a line of version 3", "version true"),
    "no version": (RESPONSE, {"v": ABSENT}, "a line of version 3", "version null"),
    "a version that is a text": (RESPONSE, {"v": "2"}, "a line of version 3", 'version "2"'),
    "no key": (RESPONSE, {"key": ABSENT}, "a field 'key'", "none"),
    "a key that is a number": (RESPONSE, {"key": 7}, "a text in 'key'", "7"),
    "a key that is no digest": (RESPONSE, {"key": "q1"}, "64 hexadecimal digits in 'key'", '"q1"'),
    "a key in capitals": (RESPONSE, {"key": "A" * 64}, "64 hexadecimal digits in 'key'", f'"{"A" * 64}"'),
    "no number": (RESPONSE, {"seq": ABSENT}, "a field 'seq'", "none"),
    "a number that is a text": (RESPONSE, {"seq": "1"}, "a whole number in 'seq'", '"1"'),
    "a group that is true": (RESPONSE, {"group": True}, "a whole number in 'group'", "true"),
    "no text": (RESPONSE, {"raw_output": None}, "a text in 'raw_output'", "null"),
    "no model": (RESPONSE, {"model": ABSENT}, "a field 'model'", "none"),
    "a sample that is a text": (RESPONSE, {"sample": "0"}, "a whole number in 'sample'", '"0"'),
    "a sample and a half": (RESPONSE, {"sample": 0.5}, "a whole number in 'sample'", "0.5"),
    "a prompt without a digest": (RESPONSE, {"prompt_sha256": None}, "a text in 'prompt_sha256'", "null"),
    "compliance in words": (
        RESPONSE, {"protocol_compliant": "yes"}, "true or false or null in 'protocol_compliant'", '"yes"'
    ),
    "parameters that are a list": (RESPONSE, {"contract_params": []}, "an object in 'contract_params'", "[]"),
    "usage in parts": (RESPONSE, {"usage": {"prompt_tokens": 1.5}}, "counts from 0 to 2**53, or texts, in 'usage'", '{"prompt_tokens": 1.5}'),
    "usage below nothing": (RESPONSE, {"usage": {"prompt_tokens": -1}}, "counts from 0 to 2**53, or texts, in 'usage'", '{"prompt_tokens": -1}'),
    "usage beyond reason": (RESPONSE, {"usage": {"n": 2**53 + 1}}, "counts from 0 to 2**53, or texts, in 'usage'", '{"n": 9007199254740993}'),
    "a server that is a number": (RESPONSE, {"server_model": 1}, "a text or null in 'server_model'", "1"),
    "correct in words": (RESPONSE, {"correct": "no"}, "true or false or null in 'correct'", '"no"'),
    "keyed as a number": (RESPONSE, {"keyed": 1}, "true or false or null in 'keyed'", "1"),
    "unread as an object": (RESPONSE, {"unread": {}}, "a text or null in 'unread'", "{}"),
    "an import without its id": (
        record_fields(Response(IMPORT, "", "text/1", {}, True, {})), {"output_id": ABSENT}, "a field 'output_id'", "none"
    ),
    "a failure without a reason": (FAILED, {"reason": ABSENT}, "a field 'reason'", "none"),
    "a reason that is a number": (FAILED, {"reason": 500}, "a text in 'reason'", "500"),
    "a failure that says more": (FAILED, {"raw_output": ""}, "no other field", "a field 'raw_output'"),
    "a failed judgement of nothing": (
        record_fields(Failed(JUDGED, "timeout")), {"judged_key": None}, "a text in 'judged_key'", "null"
    ),
    "a judgement of nothing": (JUDGEMENT, {"judged_key": ABSENT}, "a field 'judged_key'", "none"),
    "a judgement that says more": (JUDGEMENT, {"correct": True}, "no other field", "a field 'correct'"),
    "a method that is gone": (
        JUDGEMENT, {"asked": {name: "x" for name in META if name != "method"}}, "a text in 'asked.method'", "null"
    ),
    "flags that are a text": (JUDGEMENT, {"flags": "F"}, "a list in 'flags'", '"F"'),
    "a flag that is a number": (JUDGEMENT, {"flags": [1]}, "texts in 'flags'", "[1]"),
    "a finding that is a text": (JUDGEMENT, {"findings": ["c"]}, "an object in 'findings'", '"c"'),
    "a finding without a code": (
        JUDGEMENT, {"findings": [{"path": "$", "expected": "", "found": ""}]}, "a field 'code'", "none"
    ),
    "a count that is a text": (
        JUDGEMENT, {"further_findings": [{"code": "c", "count": "3"}]}, "a whole number in 'count'", '"3"'
    ),
    "flags that are not counted": (
        JUDGEMENT, {"further_judge_flags": ABSENT}, "a field 'further_judge_flags'", "none"
    ),
    "a quote without a place": (
        JUDGEMENT, {"evidence": [{"dimension": "D", "quote": "", "kind": ""}]}, "a field 'end'", "none"
    ),
    "a score and a half": (JUDGEMENT, {"scores": {"D1": 1.5}}, "whole numbers in 'scores'", '{"D1": 1.5}'),
    "validity in words": (JUDGEMENT, {"valid": "yes"}, "true or false in 'valid'", '"yes"'),
    "a label of nothing": (LABEL, {"labelled_key": "x"}, "64 hexadecimal digits in 'labelled_key'", '"x"'),
    "a label of no text": (LABEL, {"text_sha256": "x"}, "64 hexadecimal digits in 'text_sha256'", '"x"'),
    "a label without a rater": (LABEL, {"rater": None}, "a text in 'rater'", "null"),
    "a label of a column that is none": (LABEL, {"column": 1}, "a text or null in 'column'", "1"),
    "a label that is a list": (LABEL, {"value": [1]}, "a text or a whole number or a number or true or false in 'value'", "[1]"),
}  # fmt: skip


def changed_line(fields: dict, changed: dict) -> bytes:
    said = {**fields, "v": FORMAT, "seq": 1, "group": 1, **changed}
    return checked_line({name: value for name, value in said.items() if value is not ABSENT})


@pytest.mark.parametrize(("fields", "changed", "expected", "found"), MISTYPED.values(), ids=MISTYPED)
def test_a_line_whose_fields_are_no_record_is_corruption(tmp_path, fields, changed, expected, found):
    assert decode(changed_line(fields, {})) is not None
    path = tmp_path / "records" / "000001.jsonl"
    path.parent.mkdir()
    path.write_bytes(
        encode(Failed(QUESTION, "timeout"), seq=1, group=1) + changed_line(fields, {"seq": 2, **changed})
    )
    for use in (lambda: list(Walk(tmp_path)), lambda: list(Archive(tmp_path).recover())):
        with pytest.raises(StorageError) as caught:
            use()
        assert (caught.value.where, caught.value.expected, caught.value.found) == (f"{path}:2", expected, found)


@pytest.mark.parametrize("content", [b"[1]", b"7", b'"x"', b"{", b"{nothing", b"[" * 100_000, b'{"a":\xff}'])
def test_a_checksum_over_anything_else_makes_no_record(content):
    start = content.removesuffix(b"}")
    line = b"".join((start, b',"sha256":"', sha256(start).hexdigest().encode(), b'"}\n'))
    with pytest.raises(NotARecordError):
        decode(line)


@pytest.mark.slow
@given(records, st.data())
def test_no_field_of_another_type_is_anything_but_told(record, data):
    """Whatever stands in whichever field: a record, or a refusal that names what was expected."""
    fields = {**record_fields(record), "v": FORMAT, "seq": 1, "group": 1}
    name = data.draw(st.sampled_from(sorted(fields)))
    fields[name] = data.draw(value)
    line = checked_line(fields)
    place = {each: fields[each] for each in ("v", "seq", "group")}
    with suppress(NotARecordError):
        assert checked_fields(line) == {**record_fields(decode(line).record), **place}


# --- labels ---


def test_labels_are_kept_in_the_journal_and_have_no_part_in_the_root_digest(tmp_path):
    answer: Record = Response(QUESTION, "B", "text/1", {}, True, {})
    label = Label(QUESTION.key, "verdict", "PASS", "r1", "2026-01-31", "b" * 64)
    roots = []
    for name, kept in (("without", [answer]), ("with", [answer, label])):
        (tmp_path / name).mkdir()
        archive = Archive(tmp_path / name)
        for record in kept:
            archive.append(record)
        roots.append(archive.seal({}).root_sha256)
        assert [line.record for line in Walk(tmp_path / name)] == kept
    assert roots[0] == roots[1]


def test_a_row_of_columns_has_a_place_for_every_record():
    for study in STUDIES.iterdir():
        for line in Walk(study):
            assert json.dumps(RecordColumns({}).row(line.record))
