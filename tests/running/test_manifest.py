"""The list of prompts: whatever a name or a prompt holds, it stays what it is."""

import pytest
from markdown_it import MarkdownIt

from affidavit.archive.disk import Disk
from affidavit.contracts.mcqa import MultipleChoice
from affidavit.reading.tally import Tally
from affidavit.running.manifest import MANIFEST, manifest_page, task_sections, write_manifest
from affidavit.study.check import parse_study
from affidavit.study.crossing import Cell
from affidavit.study.plan import Plan

STUDY = """
[study]
name = "s"
[models.one]
base_url = "http://127.0.0.1:1/v1"
[models."a ` b"]
base_url = "http://127.0.0.1:1/v1"
[tasks.quiz]
contract = "mcqa"
items = "items.jsonl"
[conditions.free]
[conditions.hostile]
preamble = '''
````
# no heading
```'''
"""


def plan() -> Plan:
    return Plan(parse_study(STUDY, where="study.toml"), {"quiz": MultipleChoice()}, {"quiz": 1}, {})


def page(asked: dict[tuple[str, str], int], rendered: dict | None = None) -> str:
    """The page of a study of which so much was asked, by model and condition."""
    tallies = {cell: Tally(pending=5) for cell in plan().cells}
    for (model, condition), count in asked.items():
        tallies[Cell("quiz", model, condition)] = Tally(compliant=count, pending=5 - count)
    return manifest_page("s", task_sections(plan(), tallies, rendered or {}))


def test_a_prompt_under_which_nothing_was_asked_is_not_listed():
    assert "##" not in page({})
    listed = page({("one", "free"): 1})
    assert "## TP-001: `quiz`, `free`" in listed
    assert "- asked of `one` 1 time\n" in listed
    assert "hostile" not in listed
    assert "- asked of `one` 3 times\n" in page({("one", "free"): 3})


def test_a_prompt_is_listed_with_its_digest_and_word_for_word():
    listed = page({("one", "free"): 1})
    blocks = [token.content for token in MarkdownIt().parse(listed) if token.type == "fence"]
    assert len(blocks) == 1
    assert blocks[0].startswith("Answer the following multiple-choice question")
    digests = [line for line in listed.splitlines() if line.startswith("- sha256 `")]
    assert [len(line) for line in digests] == [len("- sha256 ``") + 64]


def test_no_prompt_and_no_name_breaks_out_of_its_place():
    cell = Cell("quiz", "a ` b", "hostile")
    listed = page({("a ` b", "hostile"): 2}, {cell: ("0" * 64, "`````\n# no heading, either")})
    tokens = MarkdownIt().parse(listed)
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings == ["Prompts used in s", "TP-002: `quiz`, `hostile`"]
    blocks = [token.content for token in tokens if token.type == "fence"]
    assert blocks[0].startswith("````\n# no heading\n```")
    assert blocks[1] == "`````\n# no heading, either\n"
    assert "- asked of ``a ` b`` 2 times" in listed


def test_of_outputs_from_elsewhere_it_says_that_nothing_was_asked_here():
    first = "# Prompts used in s\n\nThe outputs were made elsewhere: no model was asked for them here.\n"
    assert manifest_page("s", [], asked_here=False) == first
    judged = manifest_page("s", ["## JP-001\n"], asked_here=False)
    assert judged.startswith(f"{first}\nWritten by the run from its records.")
    assert "elsewhere" not in page({})


@pytest.mark.parametrize("before", [None, b"old"])
def test_the_page_is_written_whole(tmp_path, before):
    if before is not None:
        (tmp_path / MANIFEST).write_bytes(before)
    write_manifest(tmp_path, "# Prompts\né\n", Disk())
    assert (tmp_path / MANIFEST).read_bytes() == "# Prompts\né\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]
