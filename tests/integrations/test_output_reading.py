import pytest

from affidavit import JsonObject, Pattern, game24, json_object, mcqa, number, text
from affidavit.integrations.output_reading import OutputReading
from affidavit.reading.rows import RowReader
from support.own_contracts import ECHO


def echo():
    names: dict[str, object] = {}
    exec(ECHO, names)  # noqa: S102 - it is ours
    return names["echo"]


letter = Pattern("letter", 1, "[A-D]", "One letter.")
dated = JsonObject({"properties": {"year": {"type": "integer"}}, "required": ["year"]})
HAND = {"numbers": [4, 9, 10, 13]}


@pytest.mark.parametrize(
    ("contract", "row", "said", "expected"),
    [
        (mcqa, {"answer": "B"}, "<answer>B</answer>", ("B", "B", "compliant, right")),
        (mcqa, {"answer": "C"}, "<answer>B</answer>", ("B", "B", "compliant, wrong")),
        (mcqa, {}, "<answer>B</answer>", ("B", "B", "compliant")),
        (mcqa, {"answer": "B"}, "B. Paris", (None, None, "non-compliant: option_text")),
        (mcqa, {"answer": "B"}, "", (None, None, "non-compliant: empty")),
        (mcqa, {"answer": "B"}, None, (None, None, "no output")),
        (letter, {"answer": "B"}, " B\n", ("B", "B", "compliant, right")),
        (letter, {"answer": "B"}, "b", (None, None, "non-compliant")),
        (number, {"answer": "1072"}, "<answer>1,072</answer>", ("1,072", "1,072", "compliant, right")),
        (dated, {"answer": {"year": 1}}, '{"year": 1.0}', ('{"year":1}', '{"year":1}', "compliant, right")),
        (json_object, {}, "[]", (None, None, "non-compliant: not_an_object")),
        (text, {}, "Dear reader", (None, "Dear reader", "compliant")),
        (text, {}, " ", (None, None, "non-compliant")),
        (echo(), {}, "Hello", ("Hello", "Hello", "compliant")),
        (game24, HAND, "(13-9)*(10-4)", ("(13-9)*(10-4)", "(13-9)*(10-4)", "non-compliant, right")),
        (game24, HAND, "<answer>4+9</answer>", ("4+9", "4+9", "compliant, wrong: answer_block: wrong_numbers")),
    ],
)
def test_an_output_has_an_answer_and_words(contract, row, said, expected):
    reading = OutputReading.of(RowReader(contract), said, row, where="here")
    assert (reading.answer, reading.answer_or_text, reading.words) == expected
    assert "raw_output" not in reading.fields


class Failing:
    name, version, params = "failing", 1, {}

    def instruction(self, item=None):
        return ""

    def read(self, raw, item=None):
        raise ValueError("not today")

    def validate(self, reading, item):
        return None

    def grammar(self, item=None):
        return None


def test_what_a_contract_raises_is_told():
    reading = OutputReading.of(RowReader(Failing()), "text", {"answer": "B"}, where="here")
    assert reading.error == "ValueError: not today"
    assert reading.words == "unread: ValueError: not today"
    assert (reading.answer, reading.answer_or_text) == (None, None)
    assert tuple(reading.counts) == (None, None, False, False)
