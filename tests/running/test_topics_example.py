"""The example study of topics on the model that runs here: what the grammar of labels admits is compliant."""

import pytest

from support.command import affidavit
from support.pages import ROOT
from support.studies import fine, records
from support.weight_files import ready_to_run

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"


@pytest.mark.long
def test_every_output_that_ended_under_the_grammar_is_compliant(tmp_path):
    """Ruling L6, for two samples of each item; those that were cut count apart (ruling C6)."""
    ready_to_run()
    study = (EXAMPLES / "topics.toml").read_text()
    free = study[study.index("[conditions.free]") : study.index("[conditions.grammar]")]
    (tmp_path / "study.toml").write_text(f"{study.replace(free, '')}samples = 2\n")
    (tmp_path / "topics.jsonl").write_bytes((EXAMPLES / "topics.jsonl").read_bytes())
    assert fine(affidavit("run", "study.toml", "--out", "out", cwd=tmp_path), 0)
    found = records(tmp_path / "out")
    ended = [each for each in found if each["finish_reason"] == "stop"]
    assert len(found) == 24
    assert len(ended) > 12
    assert {each["protocol_compliant"] for each in ended} == {True}
    assert len({each["extracted_answer"] for each in ended}) > 3
    for each in ended:
        there = each["raw_output"][each["answer_start"] : each["answer_end"]]
        assert there == each["extracted_answer"], "the grammar has the labels in their order"
    assert fine(affidavit("verify", "out", cwd=tmp_path), 0)
