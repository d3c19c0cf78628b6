"""What an output answers: the item as it was shown, or the right answer whatever its column was called."""

import json

from affidavit.archive.study_directory import StudyDirectory
from affidavit.exchange.asked_items import AskedItems
from affidavit.exchange.study_records import StudyRecords
from support.exports import TIMEOUT, imported, planned
from support.kept_outputs import kept


def asked(study) -> list[dict | None]:
    records = StudyRecords(StudyDirectory(study))
    items = AskedItems(records.directory, records.frozen)
    return [items.of(record) for record in records]


def test_an_item_of_a_plan_is_known_whether_it_was_answered_or_not(tmp_path):
    found = asked(planned(tmp_path, "<answer>B</answer>", TIMEOUT))
    assert [(each["question"], each["answer"]) for each in found] == [
        ("[q0] Which one?", "B"),
        ("[q1] Which one?", "B"),
    ]


def test_of_outputs_from_elsewhere_the_right_answer_is_known_by_our_name(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"id": "q", "gold": "C", "answer": "said", "raw_output": "C"}))
    kept(tmp_path / "study", file, contract="mcqa", answer="gold")
    assert asked(tmp_path / "study") == [{"answer": "C"}]


def test_what_nobody_knows_is_nothing(tmp_path):
    assert asked(imported(tmp_path, [{"id": "q", "raw_output": "C"}])) == [None]
