"""Inspect's zip files: whole and unfinished ones, samples in one member or in many, and what pretends to be one."""

import json
import zipfile
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.inspect_json import INSPECT_JSON
from affidavit.exchange.inspect_zip import INSPECT_EVAL
from affidavit.exchange.log import Log, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput
from affidavit.reading.compressed import zstd
from affidavit.reading.source import LONGEST_ROW

HEADER, START = "header.json", "_journal/start.json"
EVALUATED = {
    "task": "quiz",
    "model": "openai/tiny",
    "dataset": {"samples": 9, "sample_ids": [1, 2]},
    "config": {"epochs": 2},
}
SCORE = {"name": "match", "scorer": "match", "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}
BEGUN = {"version": 2, "eval": EVALUATED, "plan": {}}
DONE = {**BEGUN, "status": "success", "results": {"total_samples": 4, "scores": [SCORE]}}


def sample(number: int | str = 1, epoch: int = 1, **more) -> dict:
    message = {"role": "assistant", "content": "B"}
    return {
        "id": number,
        "epoch": epoch,
        "input": "Which?",
        "target": "B",
        "messages": [{"role": "user", "content": "Which?"}, message],
        "output": {"choices": [{"message": message, "stop_reason": "stop"}], "usage": {}},
        "scores": {"match": {"value": "C"}},
        "events": [],
        **more,
    }


def named(*samples: dict) -> dict[str, object]:
    return {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}


def written(folder: Path, members: dict[str, object], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A log of members, each JSON or bytes."""
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path


def in_frames(path: Path) -> Path:
    """The same log with its members packed by Zstandard, in two frames each.

    The standard library cannot write that: it stores the frames, and what they are is written over what it says.
    """
    with zipfile.ZipFile(path) as archive:
        contents = {each: archive.read(each) for each in archive.namelist()}
        checks = [(each.CRC, each.file_size) for each in archive.infolist()]
    frames = {name: zstd.compress(content[:9]) + zstd.compress(content[9:]) for name, content in contents.items()}
    written(path.parent, frames, zipfile.ZIP_STORED)
    with zipfile.ZipFile(path) as archive:
        start, places = archive.start_dir, [each.header_offset for each in archive.infolist()]
    packed = bytearray(path.read_bytes())
    for name, place, (checksum, size) in zip(contents, places, checks, strict=True):
        for at in (place + 8, start + 10):
            packed[at : at + 2] = (93).to_bytes(2, "little")
            packed[at + 6 : at + 10] = checksum.to_bytes(4, "little")
            packed[at + 14 : at + 18] = size.to_bytes(4, "little")
        start += 46 + len(name)
    path.write_bytes(packed)
    return path


def opened(folder: Path, members: dict[str, object]) -> Log:
    return INSPECT_EVAL.opened(written(folder, members))


def outputs(folder: Path, members: dict[str, object]) -> list[LoggedOutput]:
    return list(opened(folder, members).outputs())


def recognised(path: Path) -> bool:
    with path.open("rb") as stream:
        return INSPECT_EVAL.recognises(stream.read(65536), path)


MEMBERS = {START: BEGUN, **named(sample(2, 2), sample(2, 1), sample(1)), "summaries.json": [], HEADER: DONE}


@pytest.mark.parametrize("packing", ["deflated", "stored", "Zstandard"])
def test_samples_are_read_in_their_order_whatever_packs_them(tmp_path, packing):
    path = written(tmp_path, MEMBERS, zipfile.ZIP_STORED if packing == "stored" else zipfile.ZIP_DEFLATED)
    log = INSPECT_EVAL.opened(in_frames(path) if packing == "Zstandard" else path)
    assert recognised(path)
    for _ in range(2):
        assert [(each.place, each.item_id, each.sample, each.raw_output) for each in log.outputs()] == [
            ("samples/2_epoch_2.json", "2", 1, "B"),
            ("samples/2_epoch_1.json", "2", 0, "B"),
            ("samples/1_epoch_1.json", "1", 0, "B"),
        ]
    assert (log.task, log.planned, log.facts["status"], "unfinished" in log.facts) == ("quiz", 4, "success", False)
    assert [(each.scorer, each.value) for each in log.printed] == [("match", 0.5)]


def test_a_log_that_was_not_finished_is_read_and_says_so(tmp_path):
    summaries = {"_journal/summaries/1.json": [{"id": 1}], "_journal/summaries/2.json": [{"id": 2}, {"id": 3}]}
    log = opened(tmp_path, {START: BEGUN, **named(sample(1)), **summaries})
    assert [each.item_id for each in log.outputs()] == ["1"]
    assert (log.planned, log.printed) == (4, ())
    assert log.facts == {"version": 2, "status": "started", "unfinished": True, "summarised": 3}
    assert opened(tmp_path, {START: BEGUN}).facts["summarised"] == 0


IN_PARTS = "samples/7_epoch_3"


def parts(**shell) -> dict[str, object]:
    first = {name: value for name, value in sample(7, 3, **shell).items() if name not in ("messages", "events")}
    return {
        f"{IN_PARTS}/sample.json": {**first, "message_refs": [[0, 2]], "sequences": {"messages": [2]}},
        f"{IN_PARTS}/metadata.json": {"subject": "art"},
        f"{IN_PARTS}/messages/0.json": "no list: it is never opened",
        f"{IN_PARTS}/events/0.json": [],
        f"{IN_PARTS}/attachments/0.json": ["zero", "one"],
        f"{IN_PARTS}/attachments/2.json": ["two", 5],
    }


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Which?", "Which?"),
        ("attachment://0", "zero"),
        ("attachment://1", "one"),
        ("attachment://2", "two"),
        ("attachment://3", None),
        ("attachment://4", None),
        ("attachment://" + "9" * 17, None),
        ("attachment://" + "9" * 5000, None),
        ("attachment://-1", None),
        ("attachment://\u0663", None),
    ],
)
def test_a_sample_in_parts_is_its_shell_and_what_it_needs(tmp_path, said, question):
    whole, apart = outputs(tmp_path, {HEADER: {**DONE, "version": 3}, **named(sample(1)), **parts(input=said)})
    assert (whole.item_id, apart.item_id, apart.sample, apart.raw_output) == ("1", "7", 2, "B")
    assert (apart.question, apart.prompt, apart.more) == (question, None, {"subject": "art"})
    assert apart.place == f"{IN_PARTS}/sample.json"


def test_ids_may_be_any_names_and_nothing_is_written(tmp_path):
    members = {
        HEADER: DONE,
        "samples/../../../etc/x_epoch_1.json": sample("../../../etc/x"),
        "samples/a/b_epoch_1.json": sample("a/b"),
        "samples/two\nlines_epoch_1.json": sample("two\nlines"),
        "../samples/9_epoch_1.json": sample(9),
        "/samples/9_epoch_1.json": sample(9),
        "samples/9.json": sample(9),
        "samples/9_epoch_x.json": sample(9),
        "other/samples/9_epoch_1.json": b"no JSON",
    }
    assert [each.item_id for each in outputs(tmp_path, members)] == ["../../../etc/x", "a/b", "two\nlines"]
    assert [each.name for each in tmp_path.iterdir()] == ["log.eval"]


def test_a_sample_that_a_strict_decoder_refuses_is_read_too(tmp_path):
    odd = sample(1, scores={"match": {"value": float("nan")}}, metadata={"half": "\ud800"}, input="attachment://a")
    for attachments, question in (({"a": "put aside"}, "put aside"), ({}, None)):
        (found,) = outputs(tmp_path, {HEADER: DONE, **named(odd | {"attachments": attachments})})
        assert (found.raw_output, found.question, found.words[0].points) == ("B", question, None)


DEEP = b'{"id": 1, "events": ' + b"[" * 1_000_000


@pytest.mark.parametrize(
    ("members", "member", "said"),
    [
        ({"samples/1_epoch_1.json": sample()}, "", "header.json or _journal/start.json, found neither"),
        ({HEADER: [DONE]}, HEADER, "the header of an Inspect log"),
        ({HEADER: b"{"}, HEADER, "no JSON"),
        ({HEADER: b"\xff"}, f"{HEADER}:1", "UTF-8"),
        ({HEADER: b"[" * 1_000_000}, HEADER, "nested too deeply"),
        ({HEADER: {**DONE, "version": 4}}, HEADER, "version 1, 2 or 3, found 4"),
        ({HEADER: {**DONE, "eval": {**EVALUATED, "model": 5}}}, HEADER, "with str in 'eval.model', found int"),
        ({START: {"version": 2}}, START, "missing required field `eval`"),
        ({START: BEGUN, "_journal/summaries/1.json": {}}, "_journal/summaries/1.json", "a list of summaries"),
        ({START: BEGUN, "_journal/summaries/1.json": b"["}, "_journal/summaries/1.json", "no JSON"),
        ({START: BEGUN, "_journal/summaries/1.json": b"[" * 1_000_000}, "_journal/summaries/1.json", "too deeply"),
        ({HEADER: DONE, "samples/1_epoch_1.json": DEEP}, "samples/1_epoch_1.json", "nested too deeply"),
        ({HEADER: DONE, "samples/1_epoch_1.json": b"[]"}, "samples/1_epoch_1.json", "a sample of an Inspect log"),
        ({HEADER: DONE, **named(sample()), "samples/x_epoch_9.json": sample("1")}, "samples/x_epoch_9.json", "again"),
        ({HEADER: DONE, **named(sample(7, 3)), **parts()}, f"{IN_PARTS}/sample.json", "'7', epoch 3 again"),
        ({HEADER: DONE, **parts(), f"{IN_PARTS}/metadata.json": []}, f"{IN_PARTS}/metadata.json", "the metadata"),
        ({HEADER: DONE, **parts(input="attachment://0"), f"{IN_PARTS}/attachments/0.json": {}},
         f"{IN_PARTS}/attachments/0.json", "a list of texts"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_member(tmp_path, members, member, said):
    with pytest.raises(InputError) as refused:
        outputs(tmp_path, members)
    assert refused.value.where == f"{tmp_path / 'log.eval'}{': ' if member else ''}{member}"
    assert said in str(refused.value)


def test_a_member_of_more_than_the_limit_is_refused_before_it_is_unpacked(tmp_path):
    path = written(tmp_path, {HEADER: DONE, **named(sample())})
    packed = bytearray(path.read_bytes())
    at = packed.rindex(b"PK\x01\x02") + 24
    packed[at : at + 4] = (LONGEST_ROW + 1).to_bytes(4, "little")
    path.write_bytes(packed)
    with pytest.raises(InputError, match="at most 268,435,456 bytes") as refused:
        list(INSPECT_EVAL.opened(path).outputs())
    assert refused.value.where == f"{path}: samples/1_epoch_1.json"


def test_a_log_that_was_cut_is_told_as_one_and_refused(tmp_path):
    path = written(tmp_path, MEMBERS)
    whole = path.read_bytes()
    for size in range(100, len(whole), 173):
        path.write_bytes(whole[:size])
        assert recognised(path)
        with pytest.raises(InputError, match="may have been cut"):
            INSPECT_EVAL.opened(path)


@pytest.mark.parametrize(
    ("members", "is_one"),
    [
        ({START: {}}, True),
        ({HEADER: {}}, True),
        ({"samples/1_epoch_1.json": {}}, True),
        ({"first.txt": {}, "samples/1_epoch_1.json": {}}, True),
        ({"first.txt": {}, HEADER: {}}, True),
        ({"first.txt": {}, "folder/header.json": {}}, False),
        ({"word/document.xml": {}, "_rels/.rels": {}}, False),
        ({}, False),
    ],
)
def test_a_log_is_told_by_its_members(tmp_path, members, is_one):
    assert recognised(written(tmp_path, members)) is is_one


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04", b"PK\x03\x04" + b"\xff" * 40, b"{}"])
def test_other_files_are_none(tmp_path, content):
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    assert not recognised(path)


@pytest.mark.slow
def test_real_logs_may_be_cut_or_have_any_byte_changed(tmp_path, public_data):
    path = tmp_path / "log.eval"
    whole = (public_data / "logs" / "inspect" / "log_streaming.eval").read_bytes()
    sound = {"No", "No.", "Yes."}
    for place in range(0, len(whole), 29):
        for changed in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            path.write_bytes(changed)
            try:
                assert {each.raw_output for each in INSPECT_EVAL.opened(path).outputs()} <= sound
            except InputError:
                continue


# --- real logs ---


PRINTED = {
    "data_arc_qwen.json": [1 / 3],
    "data_arc_sonnet.json": [1.0],
    "log_formats.eval": [0.0],
    "log_message_deduplication.eval": [0.0],
    "log_read_sample.eval": [1.0],
    "log_streaming.eval": [0.75],
}


def again(read: Log, printed: PrintedScore) -> float | None:
    mean = printed.recount()
    for output in read.outputs():
        mean.add(output)
    return mean.value()


@pytest.mark.parametrize("name", PRINTED)
def test_what_real_logs_printed_is_made_again_from_their_samples(public_data, name):
    path = public_data / "logs" / "inspect" / name
    form = INSPECT_EVAL if name.endswith(".eval") else INSPECT_JSON
    head = path.read_bytes()[:65536]
    assert [each for each in (INSPECT_JSON, INSPECT_EVAL) if each.recognises(head, path)] == [form]
    read = form.opened(path)
    assert (
        [each.value for each in read.printed if each.metric == "accuracy"]
        == [again(read, each) for each in read.printed[:1]]
        == PRINTED[name]
    )
    found = list(read.outputs())
    assert len(found) == read.planned
    assert all(each.verbatim and each.no_answer is None and each.raw_output for each in found)


def test_real_outputs_are_as_they_were_recorded(public_data):
    folder = public_data / "logs" / "inspect"
    found = list(INSPECT_EVAL.opened(folder / "log_streaming.eval").outputs())
    assert [(each.item_id, each.sample, each.raw_output, each.answer) for each in found] == [
        ("2", 1, "No", " No"),
        ("2", 0, "No.", " No"),
        ("1", 0, "No", " Yes"),
        ("1", 1, "Yes.", " Yes"),
    ]
    (third,) = INSPECT_EVAL.opened(folder / "log_message_deduplication.eval").outputs()
    assert (third.raw_output, third.prompt, third.question) == ("done", None, "Guess the number")
    documents = INSPECT_JSON.opened(folder / "data_arc_qwen.json").outputs()
    assert [each.words[0].answer for each in documents] == ["A", "D", "A"]
