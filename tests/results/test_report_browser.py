"""The page in a real browser: nothing runs, nothing is fetched, nothing overflows, and everybody can read it."""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from support.audited_page import audited_page
from support.crowded_page import crowded_page
from support.page_studies import demo_study, judged_study

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WHY_NOT = "there is no Chromium; on Debian: apt-get install chromium (`make test` does so when it runs as root)"
LONGEST = 120.0
"""Seconds that the browser may take for anything."""
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
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=rights, timeout=1000 * LONGEST)
        yield running
        running.close()


GIVEN = os.environ.get("AFFIDAVIT_PAGE")
"""Another page to look at, in place of those that are made here: `make look PAGE=demo/report.html`."""
NAMES = ["demo", "judged"] if GIVEN is None else ["given"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    if GIVEN is not None:
        return {"given": Path(GIVEN).resolve()}
    folder = tmp_path_factory.mktemp("studies")
    (folder / "crowded.html").write_text(crowded_page())
    (folder / "audited.html").write_text(audited_page())
    return {
        "audited": folder / "audited.html",
        "crowded": folder / "crowded.html",
        "demo": demo_study(folder / "demo") / "report.html",
        "judged": judged_study(folder / "judged") / "report.html",
    }


class Watched:
    """A page that is open, and everything that it said or asked for."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: str, zoom: int = 1) -> None:
        seen = {"width": width // zoom, "height": 900 // zoom}
        context = browser.new_context(viewport=seen, device_scale_factor=zoom, color_scheme=scheme)
        context.set_default_timeout(1000 * LONGEST)
        self.page: Page = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())

    def unfold(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")

    def overflow(self) -> int:
        """Pixels that the page is wider than its window."""
        root = "document.documentElement"
        return int(self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))

    def close(self) -> None:
        self.page.context.close()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "zoom"), [*((width, 1) for width in WIDTHS), (768, 2), (1440, 2)])
def test_it_is_quiet_and_fits(browser, pages, name, width, zoom):
    watched = Watched(browser, pages[name], width, "light", zoom)
    assert watched.overflow() == 0
    watched.unfold()
    assert watched.overflow() == 0
    assert watched.said == []
    assert watched.asked == [pages[name].as_uri()]
    watched.close()


BROKEN = """() => [...document.querySelectorAll('.scroll tbody td:not(.number), .scroll tbody th.short')].flatMap(cell => {
    const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    while (text.nextNode())
        for (const word of text.currentNode.data.matchAll(/[A-Za-z]+/g)) {
            const place = document.createRange();
            place.setStart(text.currentNode, word.index);
            place.setEnd(text.currentNode, word.index + word[0].length);
            if (word[0].length < 20 && !cell.querySelector('.digest') && place.getClientRects().length > 1)
                found.push(word[0]);
        }
    return found;
})"""


@pytest.mark.parametrize(("width", "least"), [(400, 170), (1200, 220), (1440, 220)])
def test_a_column_of_words_has_room_for_them(browser, pages, width, least):
    watched = Watched(browser, pages["demo" if GIVEN is None else "given"], width, "light")
    watched.unfold()
    assert watched.page.evaluate(BROKEN) == []
    widths = "[...document.querySelectorAll('td.words')].map(each => each.getBoundingClientRect().width)"
    found = watched.page.evaluate(widths)
    assert found or GIVEN is not None
    assert all(each >= least for each in found)
    watched.close()


@pytest.mark.skipif(GIVEN is not None, reason="the page of an audit is made here")
@pytest.mark.parametrize("width", [1440, 1280])
def test_all_figures_of_an_audit_are_seen_at_once(browser, pages, width):
    watched = Watched(browser, pages["audited"], width, "light")
    wide = "each => each.scrollWidth - each.clientWidth"
    hidden = watched.page.evaluate(f"[...document.querySelectorAll('.scroll')].map({wide})")
    watched.close()
    assert hidden
    assert set(hidden) == {0}


@pytest.mark.skipif(GIVEN is not None, reason="the page of an audit is made here")
@pytest.mark.parametrize("width", [390, 500, 768])
def test_counts_below_a_table_are_not_cut_where_it_scrolls(browser, pages, width):
    watched = Watched(browser, pages["audited"], width, "light")
    right = "each => each.getBoundingClientRect().right"
    ends = watched.page.evaluate(f"[...document.querySelectorAll('caption')].map({right})")
    overflow = watched.overflow()
    watched.close()
    assert ends
    assert (max(ends) <= width, overflow) == (True, 0)


@pytest.mark.parametrize("name", NAMES)
def test_letters_can_be_twice_as_large(browser, pages, name):
    """Where only the text is enlarged, lines break and nothing is cut off."""
    watched = Watched(browser, pages[name], 768, "light")
    watched.unfold()
    watched.page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert watched.overflow() == 0
    watched.close()


@pytest.mark.parametrize("name", NAMES)
def test_it_prints_whole_and_in_the_colours_of_paper(browser, pages, name):
    watched = Watched(browser, pages[name], 688, "dark")  # A4 without its margins
    watched.page.emulate_media(media="print", color_scheme="dark")
    assert watched.overflow() == 0
    lost = """() => [...document.querySelectorAll('main table, main pre, main svg:not(.narrow)')].filter(each =>
        each.getBoundingClientRect().right > document.documentElement.clientWidth + 1 ||
        each.scrollHeight > each.clientHeight + 1 && each.tagName === 'PRE' ||
        each.getBoundingClientRect().height === 0).map(each => each.outerHTML.slice(0, 120))"""
    assert watched.page.evaluate(lost) == []
    paper, ink = (
        watched.page.evaluate(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color")
    )
    assert (paper, ink) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
    watched.close()


MISPLACED = """() => [...document.querySelectorAll('svg.chart')].filter(each => each.getClientRects().length)
    .flatMap(chart => {
        const frame = chart.getBoundingClientRect(), found = [];
        const boxes = [...chart.querySelectorAll('text')]
            .flatMap(text => text.querySelector('tspan') ? [...text.querySelectorAll('tspan')] : [text])
            .map(line => [line.lastChild.textContent, line.getBoundingClientRect()])
            // A box has room for accents and descenders, which may reach into that of the next line.
            .map(([words, box]) => ({words, left: box.left, right: box.right,
                top: box.top + 0.12 * box.height, bottom: box.bottom - 0.12 * box.height}));
        boxes.forEach((one, at) => {
            if (one.left < frame.left - 1 || one.right > frame.right + 1 ||
                one.top < frame.top - 1 || one.bottom > frame.bottom + 1) found.push(['cut', one.words]);
            for (const other of boxes.slice(at + 1))
                if (one.left < other.right - 0.5 && other.left < one.right - 0.5 &&
                    one.top < other.bottom - 0.5 && other.top < one.bottom - 0.5)
                    found.push(['over another', one.words, other.words]);
        });
        return found;
    })"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll('svg.chart')]
    .filter(each => each.getClientRects().length)
    .map(each => 11 * each.getBoundingClientRect().width / each.viewBox.baseVal.width))"""


@pytest.mark.parametrize("name", ["crowded", *NAMES] if GIVEN is None else NAMES)
@pytest.mark.parametrize(("width", "media"), [(360, "screen"), (780, "screen"), (1440, "screen"), (688, "print")])
def test_words_in_charts_are_whole_apart_and_large_enough(browser, pages, name, width, media):
    watched = Watched(browser, pages[name], width, "light")
    watched.page.emulate_media(media=media)
    shown = watched.page.evaluate(
        "[...document.querySelectorAll('svg.chart')].map(e => e.getClientRects().length)"
    )
    assert sum(shown) * 2 == len(shown) > 0, "one of the two drawings of every chart"
    assert watched.page.evaluate(MISPLACED) == []
    assert watched.page.evaluate(SMALLEST) >= 9.9
    watched.close()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [360, 1440])
def test_everybody_can_read_it(browser, pages, name, scheme, width):
    watched = Watched(browser, pages[name], width, scheme)
    watched.unfold()
    found = Axe().run(watched.page)
    told = [
        (each["impact"], each["id"], each["nodes"][0]["html"][:300], each["nodes"][0]["failureSummary"])
        for each in found.response["violations"]
    ]
    assert told == []
    watched.close()


@pytest.mark.parametrize("name", NAMES)
def test_keys_reach_everything_that_scrolls(browser, pages, name):
    watched = Watched(browser, pages[name], 360, "light")
    watched.page.keyboard.press("Tab")
    assert watched.page.evaluate("document.activeElement.textContent") == "Skip to the results"
    hidden = """() => [...document.querySelectorAll('*')].filter(each =>
        /auto|scroll/.test(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth + 1 &&
        each.tabIndex < 0 && each.tagName !== 'HTML').map(each => each.outerHTML.slice(0, 120))"""
    assert watched.page.evaluate(hidden) == []
    watched.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_gives_it_out_is_asked_for_nothing_else(browser, pages, name):
    """Not even for an icon."""
    asked: list[str] = []

    class Gives(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(pages[name].read_bytes())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Gives) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.set_default_timeout(1000 * LONGEST)
        page.goto(f"http://127.0.0.1:{server.server_port}/report", wait_until="networkidle")
        page.close()
        server.shutdown()
    assert asked == ["/report"]


@pytest.mark.parametrize("name", NAMES)
def test_scripts_do_not_run(browser, pages, tmp_path, name):
    """Should an escape ever be missing, the page's own policy stands in the way."""
    broken = tmp_path / "broken.html"
    text = pages[name].read_text()
    title = re.search("<title>(.*)</title>", text)[1]
    planted = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    broken.write_text(text.replace("<main>", f"<main>{planted}<b style='color: red'>", 1))
    watched = Watched(browser, broken, 1440, "light")
    end = monotonic() + LONGEST
    while not any("Content Security Policy" in each for each in watched.said):
        assert monotonic() < end, watched.said
        watched.page.wait_for_timeout(20)  # messages come when they come
    assert watched.page.title() == title
    watched.close()
