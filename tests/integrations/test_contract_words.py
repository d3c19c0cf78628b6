import pytest

from affidavit import MultipleChoice, Number, game24, mcqa, text
from affidavit.errors import InputError
from affidavit.integrations.contract_words import contract_words
from affidavit.items.item import Item
from affidavit.study.prompt import Condition, messages

ROW = {"id": "q1", "question": "Capital of France?", "options": ["Rome", "Paris", "Bonn", "Oslo"], "answer": "B"}


@pytest.mark.parametrize(
    ("contract", "row"),
    [
        (mcqa, ROW),
        (MultipleChoice("A-B"), {**ROW, "options": ["Rome", "Paris"]}),
        (Number(marker="####"), {"id": "q2", "question": "6 * 7?", "answer": "42"}),
        (game24, {"id": "h1", "numbers": [4, 9, 10, 13], "target": 24}),
        (text, {"id": "t1", "question": "Write to me."}),
    ],
)
def test_a_model_is_asked_as_a_study_would_ask_it(contract, row):
    fields = {name: value for name, value in row.items() if name != "id"}
    (asked,) = messages(Item(row["id"], fields), Condition("free"), contract)
    assert contract_words(contract, row, where="here") == asked["content"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**ROW, "options": ["Rome"]}, "here"),
        ({"id": "q", "options": ROW["options"]}, "'question'"),
        ({**ROW, "answer": "E"}, "'answer'"),
    ],
)
def test_what_cannot_be_asked_is_refused_where_it_stands(row, said):
    with pytest.raises(InputError) as refused:
        contract_words(mcqa, row, where="here")
    assert said in str(refused.value)
