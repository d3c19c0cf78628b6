"""Two trees of evaluations: one file each, below its names, whole or not there at all (ruling J12)."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from affidavit.archive.path_names import decode
from affidavit.contracts.judge import judge
from affidavit.errors import UsageError
from affidavit.judging.trees import INVALID, VALID, Evaluation, judge_archive

META = {
    "judge_model": "J", "target_model": "T/1", "question_id": "Q1", "prompt_variant": "A", "output_id": "out-1",
    "method": "cross_judge",
}  # fmt: skip
READ = {
    "valid": True, "flags": [], "findings": [], "judge_flags": [], "evidence": [], "evidence_checked": True,
    "further_findings": [], "further_judge_flags": 0, "identifiers_checked": True,
}  # fmt: skip


def evaluation(raw: str = '{"verdict": "PASS"}', *, valid: bool = True, **changed: object) -> Evaluation:
    flags = [] if valid else ["UNPARSABLE_OUTPUT"]
    parts = {"asked": META, "stated": {}, "read": {**READ, "valid": valid, "flags": flags}, "source": {"key": "k"}}
    return Evaluation(raw, **{**parts, **changed})


def files(directory: Path) -> dict[tuple[str, ...], dict]:
    """What is kept, by tree, names and file."""
    found = {}
    for path in sorted(directory.rglob("*.json")):
        tree, *names, file = path.relative_to(directory).parts
        found[(tree, *decode(names), file)] = json.loads(path.read_text())
    return found


def test_an_evaluation_lies_below_its_names_in_the_tree_that_its_validity_says(tmp_path):
    with judge_archive(tmp_path / "out", judge) as trees:
        trees.add(evaluation())
        trees.add(evaluation("not JSON \ud800", valid=False))
    names = ("cross_judge", "J", "T/1", "Q1", "A", "out-1")
    kept = files(tmp_path / "out")
    assert list(kept) == [(INVALID, *names, "2.json"), (VALID, *names, "1.json")]
    valid, invalid = kept[VALID, *names, "1.json"], kept[INVALID, *names, "2.json"]
    assert (valid["evaluation"], valid["key"], valid["asked"]) == ({"verdict": "PASS"}, "k", META)
    assert (invalid["raw_output"], invalid["flags"]) == ("not JSON \ud800", ["UNPARSABLE_OUTPUT"])
    assert valid["raw_output_sha256"] == sha256(b'{"verdict": "PASS"}').hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"asked": {}, "stated": META}, ("cross_judge", "J", "T/1", "Q1", "A", "out-1", "1.json")),
        ({"asked": {}, "stated": {}}, ("", "", "", "", "", "", "1.json")),
        ({"asked": {"judge_model": "m", "target_model": "m"}}, ("self_judge", "m", "m", "", "", "", "1.json")),
        (
            {"names": {"judge_model": "name in the study"}},
            ("cross_judge", "name in the study", "T/1", "Q1", "A", "out-1", "1.json"),
        ),
        ({"file": "schema-3"}, ("cross_judge", "J", "T/1", "Q1", "A", "out-1", "schema-3.json")),
    ],
)
def test_names_are_those_that_were_asked_for_or_else_that_the_judge_states(tmp_path, changed, names):
    with judge_archive(tmp_path / "out", judge) as trees:
        trees.add(evaluation(**changed))
    assert list(files(tmp_path / "out")) == [(VALID, *names)]


def test_the_page_of_the_invalid_tree_accounts_for_everything_that_was_planned(tmp_path):
    with judge_archive(tmp_path / "out", judge) as trees:
        trees.add(evaluation())
        trees.add(evaluation("x", valid=False))
        trees.add_missing(failed=2, pending=3)
    page = (tmp_path / "out" / INVALID / "README.md").read_text()
    assert "7 planned = 1 valid + 1 invalid + 2 failed + 3 pending" in page
    assert "| `UNPARSABLE_OUTPUT` |" in page


def test_trees_are_never_written_over_unless_they_are_made_anew(tmp_path):
    with judge_archive(tmp_path, judge) as trees:
        trees.add(evaluation())
    with pytest.raises(UsageError, match="expected a name that is free, found something there already"):
        judge_archive(tmp_path, judge).__enter__()
    with judge_archive(tmp_path, judge, anew=True):
        pass
    assert files(tmp_path) == {}
