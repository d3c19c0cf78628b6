"""The job of a worker of `verify`: it is shown lines, and tells those that do not follow."""

import msgspec
import pytest

from affidavit.archive.checked_lines import checked_content, checked_fields, checked_line, with_checksum
from affidavit.reading.worker_channel import Message
from affidavit.running.derivation_job import DerivationSetup, begin, found_in
from support.fault_server import FaultServer
from support.studies import FIRST, fine, run, write_study


@pytest.mark.slow
def test_it_tells_by_number_what_is_wrong_with_a_line_and_nothing_of_the_others(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=4)
        assert fine(run(tmp_path), 0)
    work = begin(Message(msgspec.msgpack.encode(DerivationSetup(str(tmp_path / "out"), ())), memoryview(b"")))
    lines = (tmp_path / "out" / FIRST).read_bytes().splitlines(keepends=True)
    assert found_in(memoryview(b"".join(work(Message(b"", memoryview(b"".join(lines)))).body))) == []
    fields = checked_fields(lines[2])
    fields["protocol_compliant"] = False
    lines[2] = checked_line(fields)
    lines[1] = with_checksum(checked_content(lines[1])[:-1] + b" ")
    first, second = found_in(memoryview(b"".join(work(Message(b"", memoryview(b"".join(lines)))).body)))
    assert (first.number, second.number) == (1, 2)
    assert "in another form than it is written" in first.derived.form
    assert second.derived.form is None
    assert second.derived.said == "protocol_compliant is False; the plan and the raw text give True"
