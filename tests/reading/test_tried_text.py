"""One text through a contract is read as a row of a file is."""

import pytest
from hypothesis import given

from affidavit import AnswerReading, Span
from affidavit.contracts.registry import BUILT_IN
from affidavit.reading.tried_text import try_text
from support.strategies import any_text, choice_texts


@pytest.mark.parametrize("contract", BUILT_IN.values())
@given(any_text | choice_texts)
def test_any_text_is_read_as_the_contract_reads_it(contract, text):
    found, reading = try_text(contract, text), contract.read(text)
    assert (found.compliant, found.error) == (reading.protocol_compliant, None)
    assert found.fields == reading.fields()
    assert found.lenient_readings == {
        f"{lens.name}/{lens.version}": lens.read(text).extracted_answer
        for lens in contract.lenient_readings()
        if lens.knows_enough(None)
    }
    assert all(0 <= start < end <= len(text) for start, end, _ in found.marks)


class Beyond:
    """Says that its answer stands where no text is."""

    name, version, params = "beyond", 1, {}

    def instruction(self, item=None):
        return ""

    def read(self, raw, item=None):
        return AnswerReading(raw, Span(5, 2000))

    def validate(self, reading, item):
        return None

    def grammar(self, item=None):
        return None


def test_marks_beyond_a_text_are_left_out():
    found = try_text(Beyond(), "short")
    assert (found.compliant, found.marks) == (True, ())
    assert found.fields == {"extracted_answer": "short", "answer_start": 5, "answer_end": 2000}
