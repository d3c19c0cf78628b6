"""The form for people: what is on it, that nothing of a study gets out of its place, and a round trip in a browser."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, sync_playwright

from affidavit.contracts.rubric import DEFAULT
from affidavit.judging.label_questions import label_question, scale_words
from affidavit.judging.plan import Output
from affidavit.results.label_sheets import file_names, rubric_text, sheet_csv
from affidavit.results.page.label_form import label_form
from affidavit.running.label_draw import LabelSheet
from support.command import affidavit
from support.labelled_studies import deserves, judged_outputs, name_in, sheet
from support.strategies import any_text
from support.studies import fine, told_by_verify

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WHY_NOT = "there is no Chromium; on Debian: apt-get install chromium (`make test` does so when it runs as root)"


def a_sheet(*texts: tuple[str, str], about: str = "correct", study: str = "s") -> LabelSheet:
    outputs = [
        Output(f"{at:064x}", None, "q", "c", "secret-model", "secret", 0, text, task)
        for at, (task, text) in enumerate(texts)
    ]
    return LabelSheet(study, 1, 1, label_question(about, None, (0, 1) if about == "tone" else None), (), outputs)


HOSTILE = [
    "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</pre><h1>", "{{ 7 * 7 }}", "\u202e\x00\ud800",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_model_wrote_is_text_on_the_form(text):
    page = label_form(a_sheet((text, text), study=text), draw_sha256="0" * 64)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script>") == page.count("</script>") == 1
    assert page.count("<pre>") == page.count("</pre>") == 2
    assert not set("\u202e\x00\ud800") & set(page)


@pytest.mark.slow
@given(any_text, any_text)
def test_no_text_adds_a_tag(task, text):
    plain, made = (label_form(a_sheet(each), draw_sha256="0" * 64) for each in (("a", "b"), (task, text)))
    assert re.findall(r"<\w+", made) == re.findall(r"<\w+", plain)


def test_the_form_keeps_its_entries_by_draw_and_names_its_policy():
    one, other = (label_form(a_sheet(("t", "x")), draw_sha256=digit * 64) for digit in "ab")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', one)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert "unsafe" not in policy[1]
    kept = [re.search(r'data-kept-as="([^"]+)"', page)[1] for page in (one, other)]
    assert kept[0] != kept[1]
    assert "secret" not in one


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "@x", "-2", "\t=1"])
def test_no_cell_of_a_sheet_is_a_formula(text):
    row = sheet_csv(a_sheet((text, text))).splitlines()[1]
    assert f"'{text[-3:]}" in row or "'" in row
    assert not re.search(rf"(?:^|,){re.escape(text)}(?:,|$)", row)


@pytest.mark.slow
@given(st.text(max_size=20), st.integers(1, 5))
def test_files_of_a_draw_have_names_that_lead_nowhere(about, raters):
    names = file_names(about, raters)
    assert len(set(names)) == 2 * raters
    assert all(Path(name).name == name for name in names)


def test_a_further_draw_is_saved_under_a_name_of_its_own():
    first, second = a_sheet(("t", "x")), replace(a_sheet(("t", "x")), draw=2)
    names = [
        re.search(r'data-file-name="([^"]+)"', label_form(each, draw_sha256="0" * 64))[1]
        for each in (first, second)
    ]
    assert names == ["correct-filled.csv", "correct-draw-2-filled.csv"]


def test_a_sheet_says_what_scores_mean_and_where_a_rubric_is():
    score, verdict = (
        replace(
            a_sheet(("t", "x")), question=label_question(about, DEFAULT, None), levels=scale_words(about, DEFAULT)
        )
        for about in ("score:COMPLETENESS", "verdict")
    )
    assert "0: Not satisfied; the dimension fails" in sheet_csv(score)
    assert "PASS, PARTIAL, FAIL; by verdict-rubric.txt" in sheet_csv(verdict)
    assert rubric_text(verdict).startswith("Which verdict does this output deserve?\nGive each dimension a score")
    assert rubric_text(a_sheet(("t", "x"))) == ""


# --- in a browser ---


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, WHY_NOT
    rights = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=rights, timeout=120_000)
        yield running
        running.close()


def wait_until_kept(context, form, page):
    """A browser keeps entries behind the window they were made in: until another window has them too."""
    said, other = page.get_by_role("status").inner_text(), context.new_page()
    for _ in range(1_000):
        other.goto(form)
        if other.get_by_role("status").inner_text() == said:
            break
    other.close()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None and os.environ.get("CI") != "true", reason=WHY_NOT)
def test_drawn_filled_in_saved_added_and_reported(browser, tmp_path):
    """The whole way of a label, with the form closed in the middle."""
    judged_outputs(tmp_path, 15)
    assert fine(affidavit("label", "draw", "judged", "-n", "32", "--what", "verdict", cwd=tmp_path), 0)
    form = (tmp_path / "judged-labels" / "verdict.html").as_uri()
    context = browser.new_context(offline=True, accept_downloads=True)
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.set_default_timeout(120_000)
    page.goto(form)
    sets = page.locator("fieldset")
    assert sets.count() == 32
    said = {}

    def fill(at: int) -> None:
        each = sets.nth(at)
        name = name_in(each.locator("pre").nth(1).inner_text())
        value = "PASS" if deserves(name) else "FAIL"
        each.get_by_label(value, exact=True).check()
        said[each.get_attribute("data-output")] = value

    for at in range(10):
        fill(at)
    sets.nth(31).get_by_label("PASS", exact=True).check()
    sets.nth(31).get_by_label("cannot tell").check()
    page.get_by_label("Your name").fill('Anna "A", of B')
    assert page.get_by_role("status").inner_text() == "10 of 32 labelled, 1 left out"
    wait_until_kept(context, form, page)
    page.close()
    page = context.new_page()
    page.goto(form)
    sets = page.locator("fieldset")
    assert page.get_by_role("status").inner_text() == "10 of 32 labelled, 1 left out"
    for at in range(10, 31):
        fill(at)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the file").click()
    saved = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(saved)
    assert saved.name == "verdict-filled.csv"
    assert {row["output"]: row["value"] for row in sheet(saved)} == said
    assert faults == []
    assert fine(affidavit("label", "add", "judged", saved.name, cwd=tmp_path), 0)
    found = told_by_verify(tmp_path / "judged")
    assert (found["sealed"], found["labels"]) == (True, 31)
    tables = json.loads(affidavit("report", "judged", "--format", "json", cwd=tmp_path).stdout)["tables"]
    (row,) = tables["labels"]["rows"]
    assert (row["outputs drawn"], row["drawn and labelled"], row["raters"]) == (32, 31, 1)
    assert "1 of the 32 outputs that were drawn are not labelled" in " ".join(
        tables["corrected verdicts"]["notes"]
    )
    raters = {row["rater"] for row in tables["label agreement"]["rows"]}
    assert raters == {'Anna "A", of B'}
