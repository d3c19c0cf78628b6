"""`verify` makes the page again from the records: whatever was changed on it by hand shows."""

import json
import re
from pathlib import Path

import pytest

from affidavit.archive.layout import PAGE
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.own_file import GivenContracts
from affidavit.results.page.content import PageOptions
from affidavit.results.page.study_page import write_page
from affidavit.results.page.verified_page import verify_study
from support.written_study import here, questions, tables, written


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("paged")
    return written(folder, tables(), {"quiz": questions(6)}, lambda question: "<answer>B</answer>")


@pytest.fixture
def page(study) -> Path:
    write_page(StudyDirectory(study))
    return study / PAGE


def verified(study: Path):
    return verify_study(StudyDirectory(study), GivenContracts())


@pytest.mark.slow
def test_the_page_that_was_written_is_the_page_that_is_made_again(study, page):
    found = verified(study)
    assert bool(found), found.differences
    assert f"{PAGE}: made again from the records and compared" in found.checked
    assert not any(line.startswith(PAGE) for line in found.not_checked)
    write_page(StudyDirectory(study), PageOptions(by=("model",)))
    assert verified(study), "whatever it is grouped by"
    write_page(StudyDirectory(study), PageOptions(samples=1, every=True))
    assert verified(study), "whatever it shows of the outputs"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"), [("100.0%", "99.9%"), ("6 compliant", "7 compliant"), ("</main>", "!</main>")]
)
def test_a_figure_or_a_word_that_was_changed_is_found(study, page, old, new):
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new))
    found = verified(study)
    assert (bool(found), found.differing) == (False, 1)
    assert "it is not the page of these records" in found.differences[0]
    done = here("verify", study, "--json")
    assert (done.returncode, json.loads(done.stdout)["differing"]) == (5, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r'(<rect class="part [^>]* width=")[0-9.]+', r"\g<1>99.1"),
        (r'(<rect class="part [^>]*/?>)', r"\1\1"),
        (r'(<rect class="part )\w+', r"\1ink"),
        (r"(<svg\b[^>]*>)", r"\1<image href='data:,x'/>"),
        (r"(<svg\b[^>]*>)", r"\1<img src='data:,x'><!-- </svg>"),
        (r"<svg\b", "<svg onload='x'"),
        (r"(<text\b[^>]*>)", r"\g<1>99 %"),
        (r"<main>", "<main><svg><text>99 %</text></svg>"),
        (r"<svg\b.*?</svg>", ""),
    ],
    ids=[
        "a size",
        "a bar",
        "a colour",
        "a picture",
        "a comment",
        "an attribute",
        "a word",
        "one more chart",
        "no chart",
    ],
)
def test_whatever_was_changed_in_a_chart_is_found(study, page, old, new):
    text, count = re.subn(old, new, page.read_text(), count=1, flags=re.DOTALL)
    assert count == 1
    page.write_text(text)
    found = verified(study)
    assert (found.differing, found.differences[0].split(": ", 1)[1].startswith("it is not the page")) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('<meta name="affidavit"', '<meta name="x"', "it does not say what it was made of"),
        ("&#34;affidavit&#34;:&#34;", "&#34;affidavit&#34;:&#34;9.", "another version of Affidavit wrote it"),
        (
            "seal_sha256&#34;:&#34;",
            "seal_sha256&#34;:&#34;0",
            "it is of an earlier state of the study: another seal",
        ),
    ],
)
def test_a_page_that_cannot_be_compared_is_listed_as_not_checked(study, page, old, new, why):
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new, 1))
    found = verified(study)
    assert bool(found)
    assert any(line.startswith(f"{PAGE}: {why}") for line in found.not_checked), found.not_checked


@pytest.mark.slow
def test_a_study_without_a_page_is_verified_without_one(study, page):
    page.unlink()
    assert verified(study)
