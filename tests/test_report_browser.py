"""The page in a real browser: nothing runs, nothing is fetched, nothing overflows, and everybody can read it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from page_studies import demo_study, judged_study

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WHY_NOT = "there is no Chromium; on Debian: apt-get install chromium (`make test` does so when it runs as root)"
WIDTHS, SCHEMES = (360, 768, 1440), ("light", "dark")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None and os.environ.get("CI") != "true", reason=WHY_NOT),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None, WHY_NOT
    rights = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=rights)
        yield running
        running.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("studies")
    return {
        "demo": demo_study(folder / "demo") / "report.html",
        "judged": judged_study(folder / "judged") / "report.html",
    }


class Watched:
    """A page that is open, and everything that it said or asked for."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: str) -> None:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def close(self) -> None:
        self.page.context.close()


@pytest.mark.parametrize("name", ["demo", "judged"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_quiet_and_fits(browser, pages, name, width):
    watched = Watched(browser, pages[name], width, "light")
    page = watched.page
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        # Once more with everything unfolded.
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    # 200 % zoom of a window of 1440 pixels is one of 720 with letters of the same size.
    page.evaluate("document.documentElement.style.fontSize = '200%'") if width == 1440 else None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.said == []
    assert watched.asked == [pages[name].as_uri()]
    watched.close()


@pytest.mark.parametrize("name", ["demo", "judged"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [360, 1440])
def test_everybody_can_read_it(browser, pages, name, scheme, width):
    watched = Watched(browser, pages[name], width, scheme)
    watched.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    found = Axe().run(watched.page)
    grave = [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
    told = [(each["id"], each["nodes"][0]["html"][:300], each["nodes"][0]["failureSummary"]) for each in grave]
    assert told == []
    watched.close()


def test_keys_reach_everything_that_scrolls(browser, pages):
    watched = Watched(browser, pages["demo"], 360, "light")
    watched.page.keyboard.press("Tab")
    assert watched.page.evaluate("document.activeElement.textContent") == "Skip to the results"
    hidden = """() => [...document.querySelectorAll('*')].filter(each =>
        /auto|scroll/.test(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth + 1 &&
        each.tabIndex < 0 && each.tagName !== 'HTML').map(each => each.outerHTML.slice(0, 120))"""
    assert watched.page.evaluate(hidden) == []
    watched.close()


def test_scripts_do_not_run(browser, pages, tmp_path):
    """Should an escape ever be missing, the page's own policy stands in the way."""
    broken = tmp_path / "broken.html"
    text = pages["demo"].read_text()
    planted = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    broken.write_text(text.replace("<main>", f"<main>{planted}<b style='color: red'>", 1))
    watched = Watched(browser, broken, 1440, "light")
    assert watched.page.title() == "does-a-firm-word-buy-obedience: results"
    assert any("Content Security Policy" in each for each in watched.said)
    watched.close()
