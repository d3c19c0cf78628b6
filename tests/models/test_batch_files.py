"""Files of requests: split by model, count and size, whole or not there."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.archive.path_names import decode
from affidavit.errors import InputError, UsageError
from affidavit.models.batch_files import (
    CHAT_COMPLETIONS,
    BatchRequest,
    BatchShape,
    free_folder,
    request_line,
    write_batch_files,
)


def request(number: int, model: str = "m", words: str = "Hi") -> BatchRequest:
    body = {"model": model, "messages": [{"role": "user", "content": words}]}
    return BatchRequest(f"{number:064x}", model, json.dumps(body).encode())


def test_a_line_has_what_services_ask_for():
    fields = json.loads(request_line(request(1)))
    assert fields == {
        "custom_id": f"{1:064x}",
        "method": "POST",
        "url": CHAT_COMPLETIONS,
        "body": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    }


def test_a_line_has_the_fields_of_those_that_a_real_service_took(public_data):
    (first, *_) = (public_data / "logs" / "batch" / "groq_batch_input.jsonl").read_text().splitlines()
    theirs, ours = json.loads(first), json.loads(request_line(request(1)))
    assert list(ours) == list(theirs)
    assert [type(each) for each in ours.values()] == [type(each) for each in theirs.values()]
    assert (ours["method"], ours["url"]) == (theirs["method"], theirs["url"])


@pytest.mark.slow
@given(
    lengths=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 400)), max_size=30),
    most_requests=st.integers(1, 5),
    most_bytes=st.integers(700, 2000),
)
@settings(max_examples=60)
def test_files_together_hold_all_requests_and_none_is_too_large(
    tmp_path_factory, lengths, most_requests, most_bytes
):
    folder = tmp_path_factory.mktemp("written") / "batch"
    requests = [request(number, model, "x" * size) for number, (model, size) in enumerate(sorted(lengths))]
    files = write_batch_files(requests, folder, BatchShape(most_requests, most_bytes))
    content = [each.path.read_bytes() for each in files]
    assert b"".join(content) == b"".join(map(request_line, requests))
    assert folder.exists() == bool(requests)
    for each, written in zip(files, content, strict=True):
        lines = written.splitlines()
        assert (each.requests, each.size) == (len(lines), len(written))
        assert 0 < len(lines) <= most_requests
        assert len(written) <= most_bytes
        assert {json.loads(one)["body"]["model"] for one in lines} == {each.model}


def test_no_file_is_begun_anew_while_there_is_room(tmp_path):
    requests = [request(number) for number in range(7)]
    size = len(request_line(requests[0]))
    files = write_batch_files(requests, tmp_path / "by-size", BatchShape(100, 3 * size))
    assert [(each.path.name, each.requests) for each in files] == [
        ("m-0001.jsonl", 3),
        ("m-0002.jsonl", 3),
        ("m-0003.jsonl", 1),
    ]


@pytest.mark.parametrize("model", ["../m", "M", "a/b", "con", "x" * 400])
def test_any_name_of_a_model_stays_in_the_folder(tmp_path, model):
    (file,) = write_batch_files([request(1, model)], tmp_path / "batch", BatchShape())
    *folders, last = file.path.relative_to(tmp_path / "batch").parts
    assert decode((*folders, last.removesuffix("-0001.jsonl"))) == [model]


def test_a_request_that_no_file_could_hold_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(InputError, match="at most 200 bytes, found"):
        write_batch_files([request(1), request(2, words="x" * 500)], tmp_path / "batch", BatchShape(10, 200))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    (tmp_path / "batch").mkdir()
    with pytest.raises(UsageError, match="a folder that is not there yet"):
        write_batch_files([request(1)], tmp_path / "batch", BatchShape())
    assert list((tmp_path / "batch").iterdir()) == []


def test_files_are_written_beside_the_study_where_nothing_is(tmp_path):
    assert free_folder(tmp_path / "capitals") == tmp_path / "capitals-batch"
    (tmp_path / "capitals-batch").mkdir()
    assert free_folder(tmp_path / "capitals") == tmp_path / "capitals-batch-2"
    assert free_folder(Path()).parent == Path.cwd().parent
