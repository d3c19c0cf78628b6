"""The page of an audit: warnings first, every text escaped, nothing loaded, the rows that moved with both readings."""

import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from affidavit.contracts.mcqa import mcqa
from affidavit.contracts.read_by import ReadBy
from affidavit.exchange.log import Grader, Log, PrintedScore
from affidavit.exchange.log_source import sources_of
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.results.page.audit_page import MOST_ROWS, MadeOf, audit_page
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


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def log_of(outputs: list[LoggedOutput], name: str = "a", **more) -> Log:
    return Log(path=Path(f"{name}.jsonl"), format="made up", task=name, outputs=lambda: iter(outputs), **more)


def page_of_logs(*logs: Log, most: int = 0) -> str:
    readings = [each for source in sources_of(logs) for each in second_readings(source, audit_terms(mcqa))]
    made_of = MadeOf([each.path.name for each in logs], NOON)
    return audit_page(audit_report(readings, ReadBy.of(mcqa)), readings, made_of, most=most)


def page_of(outputs: list[LoggedOutput], name: str = "a", **more) -> str:
    return page_of_logs(log_of(outputs, name, **more))


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


def moved_of(page: str) -> list[Element]:
    return [each for each in elements(page) if each.tag == "article"]


def test_rows_that_moved_are_shared_among_logs_and_more_can_be_asked_for():
    many = log_of([output(number, "B.", said=True, answer="B", name="x") for number in range(90)], "many")
    some = log_of([output(number, "B.", said=True, answer="B", name="y") for number in range(40)], "some")
    page = page_of_logs(many, some)
    assert len(moved_of(page)) == MOST_ROWS
    for said in (
        "many.jsonl, x: 30 of 90",
        "some.jsonl, y: 30 of 40",
        "60 of 130 are shown",
        "--moved N shows more",
    ):
        assert said in words(page)
    more = page_of_logs(many, some, most=100)
    assert len(moved_of(more)) == 100
    assert "many.jsonl, x: 60 of 90" in words(more)
    every = words(page_of_logs(many, some, most=200))
    assert "130 of 130 are shown, the worst kinds first. Long" in every


def test_a_card_has_the_right_answer():
    (card,) = moved_of(page_of([output(1, "It is B. Sure.", said=True, answer="B")]))
    assert "Right answer: B" in " ".join("".join(card.itertext()).split())


def test_a_page_says_when_it_was_made_of_what():
    right = [output(1, "<answer>B</answer>", said=True, answer="B")]
    shown = words(page_of_logs(log_of(right, "b"), log_of(right, "c")))
    before, _ = shown.split("Summary", 1)
    for said in ("Read by mcqa/1", "b.jsonl", "c.jsonl", "2 outputs in 2 rows", "1 March 2026, 12:00 UTC"):
        assert said in before


def test_what_the_summary_has_stands_there_alone():
    right = [output(1, "<answer>B</answer>", said=True, answer="B")]
    printed = [PrintedScore(scorer="m", metric="accuracy", value=1.0, recount=mean_of_items("m"))]
    page = page_of(right, printed=printed)
    tables = [each for each in elements(page) if each.tag == "table"]
    summary, scores = (
        [head.text for head in table.iter("th") if head.get("scope") == "col"] for table in tables[:2]
    )
    assert summary[:3] == ["model", "printed", "right by the source"]
    assert scores == ["log", "task", "model", "outputs", "printed", "from its rows", "both verdicts", "p, Holm"]
    assert rows_of_summary(page)[1][1] == "1 accuracy"


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
        "difference, at the level of its test", "moved",
    ]  # fmt: skip
    assert [cell.split()[0] for cell in row] == ["m", "100.0%", "50.0%", "50.0%", "100.0%", "−50.0", "1"]


def test_logs_of_several_tasks_are_never_ranked_across_them():
    wrong = [output(1, "<answer>B</answer>", said=True, answer="A", name="x")]
    right = [output(2, "<answer>B</answer>", said=True, answer="B", name="y")]
    logs = [log_of(made, task) for task, made in (("b", wrong), ("a", right), ("c", wrong))]
    rows = rows_of_summary(page_of_logs(*logs))
    assert [row[0] for row in rows if len(row) == 1] == ["a", "b", "c"]
