"""Rows through a contract of the user's own: what its code does stays with it, and what it says is held to its word."""

from types import SimpleNamespace

import pytest

from affidavit import AnswerReading, Validation
from affidavit.reading.rows import RowReader
from affidavit.reading.tally import Tally

ROWS = [{"id": number, "raw_output": text, "key": "B"} for number, text in enumerate(("B", "C", "well B", None))]


class Letter:
    """A single letter, right if it is the item's key."""

    name, version, params = "letter", 1, {}

    def instruction(self, item=None, /):
        return "Give a letter."

    def read(self, raw, item=None, /):
        return AnswerReading(raw if len(raw) == 1 else None)

    def validate(self, reading, item, /):
        given = reading.extracted_answer
        return None if given is None else Validation(given == item["key"], "compared")

    def grammar(self, item=None, /):
        return None


def told(contract: object, rows: list[dict] = ROWS) -> tuple[Tally, list[dict]]:
    reader, tally, added = RowReader(contract), Tally(), []
    for row in rows:
        result = reader.read(row, where=f"row {row['id']}")
        tally.add(result.added, parts=reader.parts, right_answer_known=result.right_answer_known)
        added.append(result.added)
    return tally, added


class Taking(Letter):
    def item(self, row, *, where):
        return {"key": row.pop("key")}


class Clearing(Letter):
    def item(self, row, *, where):
        kept = dict(row)
        row.clear()
        return kept


@pytest.mark.parametrize("contract", [Taking(), Clearing()])
def test_what_a_contract_does_to_a_row_is_not_done_to_the_row(contract):
    rows = [dict(row) for row in ROWS]
    before = told(Letter())
    assert told(contract, rows) == before
    assert told(contract, rows) == before, "the same once more: nothing was taken away"
    assert rows == ROWS


class Knowing(Letter):
    def __init__(self, says: object) -> None:
        self.says = says

    def right_answer_known(self, item):
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.mark.parametrize(
    ("says", "known", "unread"),
    [
        pytest.param(True, 3, "", id="yes"),
        pytest.param(False, 2, "", id="no: what was compared was known all the same"),
        pytest.param(None, 3, "", id="only a validation tells"),
        pytest.param(1, 3, "right_answer_known(item) must give True, False or None, not 1", id="another word"),
        pytest.param(KeyError("truth"), 3, "KeyError: 'truth'", id="it raises"),
    ],
)
def test_who_says_what_is_known_is_held_to_it(says, known, unread):
    tally, added = told(Knowing(says))
    assert tally.known == known
    assert [unread in each.get("unread", "") for each in added if each.get("unread")] == ([True] if unread else [])
    assert tally.unread == bool(unread), "only the output that nothing else could tell about"


class Wanting(Letter):
    """Every item has the letter that is right in a parameter of its contract."""

    def __init__(self, want: str = "") -> None:
        self.want = want

    @property
    def params(self):
        return {"want": self.want}

    def validate(self, reading, item, /):
        given = reading.extracted_answer
        return None if given is None else Validation(given == self.want, "compared")

    def for_item(self, row, *, where):
        return Wanting(row["want"])


def test_a_row_is_read_by_the_contract_of_its_own_item():
    rows = [{"id": 1, "raw_output": "C", "want": "C"}, {"id": 2, "raw_output": "C", "want": "B"}]
    assert [each["correct"] for each in told(Wanting(), rows)[1]] == [True, False]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param(KeyError("want"), "KeyError: 'want'", id="it raises"),
        pytest.param(Wanting, "the class Wanting", id="a class"),
        pytest.param(SimpleNamespace(name="x"), "'version'", id="no contract"),
        pytest.param(type("N", (Letter,), {"params": {"x": float("nan")}})(), "'params'", id="NaN"),
        pytest.param(type("T", (Letter,), {"params": {"x": (1, 2)}})(), "'params'", id="a tuple"),
    ],
)
def test_an_item_whose_contract_is_none_is_unread(given, said):
    class Odd(Letter):
        def for_item(self, row, *, where):
            if isinstance(given, Exception):
                raise given
            return given

    _, added = told(Odd(), ROWS[:1])
    assert said in added[0]["unread"]
