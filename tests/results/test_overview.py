"""The facts at the head of the page: what was asked of whom, when, and with which settings."""

from datetime import UTC, datetime

import pytest

from affidavit.archive.run_events import RunTimes
from affidavit.archive.study_directory import StudyDirectory
from affidavit.results.page.costs import TokenSums
from affidavit.results.page.overview import Asked, Fact, overview
from affidavit.results.page.study_page import content
from support.kept_outputs import kept
from support.outputs_elsewhere import write_jsonl
from support.written_study import questions, tables, written


def facts(**known):
    given = {"models": [("m", {"model": "m"})], "tasks": [("quiz", "mcqa/1", 40)], "conditions": ["base"], **known}
    return {fact.name: list(fact.lines) for fact in overview(Asked(**given))}


@pytest.mark.parametrize(
    ("known", "name", "lines"),
    [
        ({}, "models", ["m"]),
        ({"models": [("m", {"model": "org/m-7b"})]}, "models", ["m (org/m-7b)"]),
        ({"models": [(f"m{n}", {"model": f"m{n}"}) for n in range(5)]}, "models", ["m0, m1, m2, m3, m4"]),
        ({"models": [(f"m{n}", {"model": "x"}) for n in range(10)]}, "models",
         [*(f"m{n} (x)" for n in range(8)), "and 2 more"]),
        ({"conditions": ["base"]}, "conditions", None),
        ({"conditions": ["free", "firm"], "controls": frozenset({"free"})}, "conditions", ["free (control), firm"]),
        ({"conditions": ["plain", "long"], "variants": True}, "prompt variants", ["plain, long"]),
        ({"samples": 2, "seed": 7, "decoding": {"temperature": 0.8, "max_tokens": 9, "samples": 2}}, "settings",
         ["2 samples of each item, temperature 0.8, at most 9 tokens, seed 7"]),
        ({"files": ["a.jsonl"]}, "files", ["a.jsonl"]),
        ({"files": ["a.jsonl"]}, "settings", None),
        ({"tokens": TokenSums(10, 5, 2, 2)}, "tokens", ["10 in, 5 out"]),
        ({"tokens": TokenSums(10, 5, 2, 3)}, "tokens", ["10 in, 5 out, of 2 of 3 outputs"]),
        ({"tokens": TokenSums(0, 0, 0, 3)}, "tokens", None),
        ({"times": RunTimes()}, "run", None),
        ({"times": RunTimes(1, datetime(2026, 3, 1, tzinfo=UTC), None, without_end=1)}, "run",
         ["1 March 2026, 00:00 UTC", "took one run that was cut off"]),
    ],
)  # fmt: skip
def test_a_fact_is_said_in_a_few_lines_and_left_out_where_it_is_not_known(known, name, lines):
    assert facts(**known).get(name) == lines


def test_the_facts_of_a_study_are_in_the_order_of_its_file(tmp_path):
    design = tables(
        models=("zeta", "alpha"), conditions={"wild": {"control": "tame", "preamble": "!"}, "tame": {}}
    )
    directory = StudyDirectory(
        written(tmp_path, design, {"quiz": questions(3)}, lambda question: "<answer>B</answer>")
    )
    found = content(directory)
    assert Fact("models", ["zeta", "alpha"]) in found.overview
    assert Fact("conditions", ["tame (control), wild"]) in found.overview
    (section,) = found.sections
    assert [row[:2] for row in section.tables[0].table.rows] == [
        ("tame", "zeta"), ("tame", "alpha"), ("wild", "zeta"), ("wild", "alpha")
    ]  # fmt: skip


def test_a_study_whose_order_was_not_kept_goes_by_the_alphabet(tmp_path):
    design = tables(models=("zeta", "alpha"))
    directory = StudyDirectory(
        written(tmp_path, design, {"quiz": questions(3)}, lambda question: "<answer>B</answer>")
    )
    assert directory.frozen().order == {"models": ["zeta", "alpha"], "tasks": ["quiz"], "conditions": ["base"]}
    rows = [{"id": f"q{n}", "raw_output": "B", "model": model} for n in range(2) for model in ("zeta", "alpha")]
    kept(tmp_path / "imported", write_jsonl(tmp_path / "rows.jsonl", rows), contract="mcqa")
    found = content(StudyDirectory(tmp_path / "imported"))
    assert Fact("models", ["alpha", "zeta"]) in found.overview
    assert Fact("outputs", ["4 outputs made elsewhere"]) in found.overview
