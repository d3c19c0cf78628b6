"""The page of an audit: warnings first, every text escaped, nothing loaded, the rows that moved with both readings."""

import re
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.read_by import ReadBy
from affidavit.exchange.log import Grader, Log
from affidavit.exchange.log_source import sources_of
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.results.page.audit_page import MOST_ROWS, audit_page
from affidavit.results.second_readings import audit_report
from affidavit.running.second_reading import audit_terms, second_readings

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e\x1b[2J{{ 7 * 7 }}[a](javascript:alert(1))"
)


def output(
    number: int, text: str | None, *, said: bool | None, name: str = "m", answer: str | None = None
) -> LoggedOutput:
    word = SourceWord(scorer=name, answer=name, correct=said, points=None if said is None else float(said))
    kind = NoAnswer.ERROR if text is None else None
    return LoggedOutput(place=f"line {number} {name}", item_id=f"{name}{number}", model=name, raw_output=text, answer=answer, words=[word], no_answer=kind)  # fmt: skip


def page_of(outputs: list[LoggedOutput], name: str = "a", **more) -> str:
    log = Log(path=Path(f"{name}.jsonl"), format="made up", task=name, outputs=lambda: iter(outputs), **more)
    readings = [each for source in sources_of([log]) for each in second_readings(source, audit_terms(mcqa))]
    return audit_page(audit_report(readings, ReadBy.of(mcqa)), readings)


def elements(page: str) -> list[Element]:
    return [each for each in html5lib.parse(page, namespaceHTMLElements=False).iter() if isinstance(each.tag, str)]


def words(page: str) -> str:
    return " ".join("".join(html5lib.parse(page, namespaceHTMLElements=False).itertext()).split())


def test_what_must_be_known_first_stands_before_the_tables():
    shown = words(
        page_of([output(1, None, said=False, answer="B"), output(2, "<answer>B</answer>", said=True, answer="B")])
    )
    first = shown.index("1 output without an answer scored as wrong: 1 error.")
    assert first < shown.index("What did the source score") < shown.index("Rows that moved")
    assert "2 outputs = 1 compliant, right" in shown


def test_rows_that_moved_are_shown_with_their_text_and_both_readings():
    shown = words(page_of([output(1, "It is B. Sure.", said=True, answer="B")]))
    for said in ("right by the source, non-compliant", "It is B. Sure.", "a.jsonl: line 1 m", "no_tag", "m read"):
        assert said in shown
    nothing = words(page_of([output(1, "<answer>B</answer>", said=True, answer="B")]))
    assert "No rows: every verdict of the source is that of the contract." in nothing


def test_so_many_are_shown_and_all_are_counted():
    page = page_of([output(number, "B.", said=True, answer="B") for number in range(MOST_ROWS + 9)])
    assert sum(each.tag == "article" for each in elements(page)) == MOST_ROWS
    assert f"{MOST_ROWS} of {MOST_ROWS + 9} are shown" in words(page)


@pytest.mark.parametrize("place", ["text", "name", "graders"])
def test_hostile_texts_stay_texts(place):
    plain = page_of([output(1, "B.", said=True)])
    outputs = [
        output(1, HOSTILE if place == "text" else "B.", said=True, name=HOSTILE if place == "name" else "m")
    ]
    page = page_of(outputs, graders=[Grader(HOSTILE)] if place == "graders" else [])
    assert {each.tag for each in elements(page)} - {"ul", "li"} <= {each.tag for each in elements(plain)} | {
        "mark",
        "wbr",
    }
    attributes = {name for each in elements(page) for name in each.attrib}
    assert not any(name.startswith("on") for name in attributes)
    assert not [each for each in elements(page) if "javascript:" in "".join(each.attrib.values())]
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "{{ 7 * 7 }}" in page


def test_nothing_is_loaded_and_nothing_runs():
    page = page_of([output(1, "B.", said=True)])
    policy = next(each.get("content") for each in elements(page) if each.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not {"script", "iframe", "object", "img"} & {each.tag for each in elements(page)}
    assert all(each.get("href") in ("data:,", "#results") for each in elements(page) if each.get("href"))


def rows_of_summary(page: str) -> list[list[str]]:
    """The cells of the first table, row by row, without what is drawn in them."""
    table = next(each for each in elements(page) if each.tag == "table")
    return [
        [" ".join("".join(cell.itertext()).split()) for cell in row if cell.tag in ("th", "td")]
        for row in table.iter("tr")
    ]


def test_the_source_s_score_stands_beside_ours_before_anything_else():
    outputs = [
        output(1, "It is B.", said=True, answer="B"),
        output(2, "<answer>B</answer>", said=True, answer="B"),
    ]
    head, row = rows_of_summary(page_of(outputs))
    assert [re.sub("0%50%100%", "", name) for name in head] == [
        "model", "right by the source", "accuracy over all outputs", "format compliance", "accuracy over answers",
        "difference", "moved",
    ]  # fmt: skip
    assert [cell.split()[0] for cell in row] == ["m", "100.0%", "50.0%", "50.0%", "100.0%", "−50.0", "1"]


def test_logs_of_several_tasks_are_never_ranked_across_them():
    wrong = [output(1, "<answer>B</answer>", said=True, answer="A", name="x")]
    right = [output(2, "<answer>B</answer>", said=True, answer="B", name="y")]
    logs = [
        Log(path=Path(f"{task}.jsonl"), format="made up", task=task, outputs=lambda made=made: iter(made))
        for task, made in (("b", wrong), ("a", right), ("c", wrong))
    ]
    readings = [each for source in sources_of(logs) for each in second_readings(source, audit_terms(mcqa))]
    rows = rows_of_summary(audit_page(audit_report(readings, ReadBy.of(mcqa)), readings))
    assert [row[0] for row in rows if len(row) == 1] == ["a", "b", "c"]
