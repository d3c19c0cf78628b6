"""The page of a study: what is on it, that it adds up with the tables, and that no text on it is anything but text."""

import base64
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs

from affidavit.archive.checked_lines import checked_line
from affidavit.archive.record import Judgement, JudgementIdentity, RecordedFinding, RecordedQuote
from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.contract import Span
from affidavit.results.page import charts, page_at_the_end, study_page
from affidavit.results.page import html as report_page
from affidavit.results.page.content import AskedSection, Content, PageOptions, Prompt, Section
from affidavit.results.page.headline import Answer, Compared, Summary, headline
from affidavit.results.page.html import page, shown_table
from affidavit.results.page.judge_samples import FindingSamples, JudgeSample, Quote
from affidavit.results.page.overview import Fact
from affidavit.results.page.row_names import labels, short_labels
from affidavit.results.page.samples import Reading, Sample
from affidavit.results.page.summary_table import SHARES, SummaryTable, task_summary
from affidavit.results.page.text import HEAD, Mark, brief, pieces, visible
from affidavit.results.study_order import StudyOrder
from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points
from affidavit.statistics.means import mean_of_clusters
from affidavit.statistics.shares import wilson
from affidavit.study.task import Question
from support.command import affidavit
from support.fault_server import Asked as Request
from support.fault_server import FaultServer, every, status
from support.golden_files import golden
from support.studies import fine, run, write_study
from support.written_study import questions, tables, written

HTML = "{http://www.w3.org/1999/xhtml}"


# --- texts that would like to be more than text ---

PAYLOADS = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)><script>x</script></svg>",
    "javascript:alert(1)", "[click](javascript:alert(1))", "![x](http://127.0.0.1/steal.png)", "<a href=//x>y</a>",
    "{{ 7 * 7 }}", "{% for x in content %}{{ x }}{% endfor %}", "{# gone #}", "{{ ''.__class__.__mro__ }}",
    "</pre></article></main><h1>Mine</h1>", "</style><style>*{display:none}</style>", "</title><title>taken",
    "</svg><script>1</script>", "<!--", "-->", "<![CDATA[ ]]>", "<?xml version='1.0'?>", "&lt;b&gt;", "&#60;b&#62;",
    "\" onmouseover=\"alert(1)", "' autofocus onfocus='alert(1)", "`onload=alert(1)", "<math><mi//xlink:href=x>",
    "<iframe srcdoc='<script>1</script>'>", "<base href=//x>", "<meta http-equiv=refresh content=0>",
    "<form action=x><input autofocus>", "<details open ontoggle=alert(1)>", "<template><b>", "<noscript><p title=\"</noscript><img>\">",
    "\x1b[2J\x1b]0;title\x07", "\u202eevil\u202c", "\u2066\u2069", "\x00null\x00", "\ud800half", "\udc00", "\ufeff", "\u200b\u200d",
    "$\\frac{1}{2}$", "a" * 120, "e" + "\u0301" * 60, "日本語のモデル", "\U0001f600", "\r\n\t\x0b\x0c", "\x85\u2028\u2029", "%s %(x)s {0}",
    "<xmp>", "<plaintext>",
]  # fmt: skip
SHELLS = [
    "{}", "B. {}", "{}{}", "<answer>{}</answer>", "<b>{}</b>", "'{}'", '"{}"', "{}\n{}", "x=\"{}", "<!--{}", "{}-->",
    "<p {}>", "&{};", "<{}>", "{{{{{}}}}}", "{{% {} %}}", "]]>{}", "<style>{}", "\u202e{}", "\x00{}", "{}\ud83d",
]  # fmt: skip
HOSTILE = [shell.replace("{}", text) for text, shell in product(PAYLOADS, SHELLS)][:1000]
TAME = [f"text {number}" for number in range(len(HOSTILE))]
ALLOWED = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "http-equiv", "content", "name"}, "title": {"id"}, "style": set(),
    "link": {"rel", "href"},
    "body": set(), "a": {"class", "href"}, "header": {"class"}, "p": {"class"}, "h1": set(), "h2": {"id", "class"},
    "h3": {"id"}, "h4": set(), "span": {"class"}, "strong": set(), "em": set(), "code": {"class"}, "nav": {"aria-label"},
    "ol": set(), "ul": {"class"}, "li": set(), "main": set(), "section": {"id", "aria-labelledby", "aria-label", "class"}, "dl": {"class"},
    "div": {"class", "tabindex", "role", "aria-label"}, "dt": set(), "dd": {"class"}, "table": {"class", "role"}, "caption": set(),
    "thead": {"role"}, "tbody": {"role"}, "tr": {"role", "class"}, "th": {"scope", "class", "role", "data-label", "colspan"},
    "td": {"class", "role", "data-label"}, "figure": set(), "figcaption": set(),
    "article": {"class", "aria-label"}, "pre": {"class", "tabindex", "role", "aria-label"}, "mark": {"class"},
    "details": {"class", "open"}, "wbr": set(), "summary": set(), "q": set(), "footer": set(),
    "svg": {"class", "viewbox", "width", "height", "role", "aria-labelledby", "preserveaspectratio", "aria-hidden", "focusable"},
    "desc": {"id"}, "defs": set(), "pattern": {"id", "width", "height", "patternunits"},
}  # fmt: skip
SHAPES = {
    "rect": {"class", "x", "y", "width", "height", "fill", "fill-opacity"}, "path": {"class", "d"},
    "text": {"class", "x", "y"}, "tspan": {"x", "y"},
}  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> Element:
    """The page as a browser reads it."""
    return html5lib.parse(text)


def named(element: Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()


def attributes(element: Element) -> set[str]:
    return {name.rpartition("}")[2].lower() for name in element.attrib}


def content_of(texts: list[str]) -> Content:
    """A page on which every text stands in every place that data can have."""
    by = ("task", "model", "condition")
    names = [(text, texts[-1 - at], texts[at // 2]) for at, text in enumerate(texts)]
    counts = ("planned", "compliant", "non-compliant", "unread", "failed", "pending", "truncated", "compliance")
    some = (10, 6, 4, 0, 1, 0, 0, wilson(6, 10))
    compliance = Table(
        "compliance", "Who?", (*by, *counts), tuple((*name, *some) for name in names), texts[0], (texts[1],)
    )
    answered = ("right", "compared", "accuracy over compliant", "yield", "if missing wrong", "if missing right")
    right = (3, 6, wilson(3, 6), wilson(3, 10), 0.3, 0.7)
    accuracy = Table("accuracy", "Right?", (*by, *answered), tuple((*name, *right) for name in names), texts[2])
    deviations = Table(
        "deviations", "What?", (*by, "deviation", "count", "share"),
        tuple((*name, texts[at], 2, wilson(2, 10)) for at, name in enumerate(names[:60])), "",
    )  # fmt: skip
    judge = ("judge", "judging condition", "method")
    quotes = Table(
        "quotes", "There?", (*judge, "exact", "normalised", "elided", "absent", "absence", "fabricated"),
        tuple((*name, 3, 1, 1, 2, 1, wilson(2, 7)) for name in names[:40]), "",
    )  # fmt: skip
    scores = Table(
        "scores", "Given?", (*judge, "target", "variant", "dimension", "mean", "mean, quotes aside"),
        tuple(("j", "free", "cross", *name, Mean(wilson(1, 2)), None) for name in names[:25]), "",
    )  # fmt: skip
    letters = Table(
        "letters", "Which?", (*by, "letter", "against the key", "share", "p (Holm)"),
        tuple((*name, text, Points(wilson(1, 2)), wilson(1, 2), Chance(0.5)) for name, text in zip(names[:25], texts, strict=False)), "",
    )  # fmt: skip
    tables = {table.name: table for table in (compliance, accuracy, deviations, letters)}
    some_rows = tuple((*name, wilson(6, 10), Mean(wilson(1, 2)), 3) for name in names[:60])
    summary = SummaryTable(
        Table(texts[4], texts[-1], ("condition", "model", texts[1], "share", "score", "count"), some_rows, "", (texts[0],)),
        ("condition", "model", texts[1]), "condition", {"share": SHARES, "score": (0, 2)}, {"share": [0.25] * 60},
    )  # fmt: skip
    told = Summary(texts[-2], [Answer(brief(text, 80), brief(text, 300), "compliance") for text in texts])
    readings = [Reading((text, text), text, text) for text in texts[:3]]
    where = [{"model": text, "item id": text, "key": "0" * 64} for text in texts]
    return Content(
        name=texts[3],
        sealed=False,
        root_sha256=None,
        by=by,
        asked=AskedSection("what", [compliance], [Prompt(t, t, [(t, t)], "–") for t in texts], texts[4]),
        overview=[Fact(text, [text, text]) for text in texts],
        warnings=texts,
        sections=[
            *(
                Section(each, [task_summary(tables, each.title, by, StudyOrder())])
                for each in headline(tables, by, Compared())[:1]
            ),
            Section(told, [summary]),
        ],
        tables=[*tables.values(), quotes, scores],
        samples=[
            Sample(text, 5, where[at], *(pieces(text), text), *[pieces(text)] * 3, readings, text)
            for at, text in enumerate(texts)
        ],
        every=[Sample(text, 1, where[at] | {"condition": text}, pieces(text)) for at, text in enumerate(texts)],
        kinds=5,
        findings=[
            JudgeSample(
                text,
                text,
                3,
                [(text, text, text)],
                where[at],
                pieces(text),
                pieces(text),
                [Quote(text, "absent", pieces(text))],
            )
            for at, text in enumerate(texts)
        ],
        notes=texts,
        digests=[(text, text) for text in texts],
        commands=[(text, text) for text in texts],
    )


def shape(text: str) -> Counter:
    """What elements with which attributes a page has, other than what depends on the length of a text."""
    found: Counter = Counter()
    for element in parsed(text).iter():
        name = named(element)
        if name == "wbr":  # where a long name may be broken
            continue
        if str(element.tag).startswith(SVG) and (name in SHAPES or (name == "title" and not element.attrib)):
            continue
        kept = attributes(element) - ({"class"} if name in ("th", "dd", "td", "tr") else set())
        found[name, tuple(sorted(kept))] += 1
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_hostile_texts_stay_texts(part):
    texts = HOSTILE[part::5]
    written = page(content_of(texts)).encode("utf-8", "strict").decode()
    root = parsed(written)
    for element in root.iter():
        name, found = named(element), attributes(element)
        assert found <= (ALLOWED | SHAPES)[name], (name, found)
        assert element.get("fill", "url(#").startswith("url(#")
        own = ("#", "data:,") if name == "link" else ("#",)
        assert all(value.startswith(own) for key, value in element.attrib.items() if key.endswith("href"))
        assert not any(name.startswith("on") for name in found)
    shown = Counter("".join(pre.itertext()) for pre in root.iter(f"{HTML}pre"))
    for text in texts:
        assert visible(text) in shown, repr(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", written)


@pytest.mark.slow
def test_no_element_comes_from_a_text():
    """Hostile or tame, the page has the same elements, but for lines of words in charts and what they are short for."""
    texts = [text for text in HOSTILE[::10] if len(visible(text)) < 200]
    hostile, tame = (shape(page(content_of(many))) for many in (texts, TAME[: len(texts)]))
    assert hostile == tame


# --- texts ---


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_what_is_shown_of_a_short_text_is_all_of_it(text):
    marks = [Mark(len(text) // 3, len(text) // 2, "quote")]
    shown = pieces(text, marks)
    assert "".join(piece.text for piece in shown) == visible(text)
    assert all(each.isprintable() or each in "\n\t" for piece in shown for each in piece.text)


def test_a_long_text_is_cut_where_it_says_so_and_never_at_a_mark():
    text = "".join(f"{number:07} " for number in range(100_000))
    at = text.index("0050000")
    shown = pieces(text, [Mark(at, at + 7, "quote")])
    assert [piece.text for piece in shown if piece.kind == "quote"] == ["0050000"]
    assert [piece.kind for piece in shown].count("gap") == 2
    assert sum(len(piece.text) for piece in shown) < 4 * HEAD
    left_out = sum(
        int(re.search(r"[\d,]+", piece.text)[0].replace(",", "")) for piece in shown if piece.kind == "gap"
    )
    assert left_out + sum(len(piece.text) for piece in shown if piece.kind != "gap") == len(text)


def test_marks_that_overlap_are_marked_once():
    shown = pieces("abcdefgh", [Mark(1, 5, "quote"), Mark(3, 7, "quote")])
    assert [tuple(piece) for piece in shown] == [
        ("a", ""), ("bcde", "quote"), ("fg", "quote"), ("h", "")
    ]  # fmt: skip


# --- judges ---


def judgement(key: str, code: str, quotes: list[tuple[str, str, Span | None]]) -> Judgement:
    subject = JudgementIdentity(
        key=key, study="s", judge="j", judged_key="out", judging_sha256="", judging_condition="free", repeat=1,
        asked={"method": "cross_judge"}, target_model="m", method="cross_judge", blind=False, item_id="q", condition="A", model="m", sample=0, prompt_sha256="",
        schema_sha256=None,
    )  # fmt: skip
    return Judgement(
        subject, json.dumps([quote for quote, _, _ in quotes]), contract="judge/1", contract_params={},
        rubric_sha256="", protocol_compliant=False, valid=False, flags=(), judge_flags=(), scores=None, verdict=None,
        findings=(RecordedFinding(code=code, path="$", expected="this", found="that"),), evidence_checked=True,
        further_findings=(), further_judge_flags=0, identifiers_checked=True,
        evidence=tuple(
            RecordedQuote(
                dimension="D", quote=quote, kind=kind, start=span and span.start, end=span and span.end
            )
            for quote, kind, span in quotes
        ),
    )  # fmt: skip


def test_quotes_are_marked_where_they_were_found_and_absent_ones_named():
    samples = FindingSamples()
    quotes = [("the ladder", "exact", Span(5, 15)), ("a chainsaw", "absent", None)]
    for key in "dbca":
        samples.add(judgement(key, "quote_not_found", quotes))
    assert samples.judged_keys() == ["out"]
    shown = list(samples.shown({"out": "Take the ladder out."}))
    assert [(each.where["key"], each.of_kind) for each in shown] == [("a", 4), ("b", 4)]
    assert [tuple(piece) for piece in shown[0].judged] == [("Take ", ""), ("the ladder", "quote"), (" out.", "")]
    assert [(quote.kind, quote.text[0].text) for quote in shown[0].quotes] == [
        ("exact", "the ladder"), ("absent", "a chainsaw")
    ]  # fmt: skip
    written = [('["the ladder", "', ""), ("a chainsaw", "absent"), ('"]', "")]
    assert [tuple(piece) for piece in shown[0].text] == written


@pytest.mark.parametrize("quote", ["“Grüße” \\ \n", "\ud800", 'a"b', "\u202e"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_an_absent_quote_is_marked_as_the_judge_spelt_it(quote, ascii_only):
    samples = FindingSamples()
    record = judgement("k", "quote_not_found", [(quote, "absent", None)])
    samples.add(structs.replace(record, raw_output=f"so: {json.dumps(quote, ensure_ascii=ascii_only)}."))
    (shown,) = samples.shown({})
    assert [piece.kind for piece in shown.text] == ["", "absent", ""]


def test_a_name_that_all_rows_share_is_said_once():
    rows = (("quiz", "m", "firm", "free", 3), ("quiz", "m", "kind", "free", 4))
    table = Table("flips", "?", ("task", "model", "condition", "control", "count"), rows, "all")
    shown = shown_table(table, ("task", "model", "condition", "control"))
    assert shown.same == "task quiz, model m, control free"
    assert shown.heads == [("condition", False), ("count", True)]
    assert [[each.main for each in row] for row in shown.rows] == [["firm", "3"], ["kind", "4"]]
    alone = shown_table(replace(table, rows=rows[:1]), ("task", "model", "condition", "control"))
    assert (alone.same, len(alone.heads)) == ("", 5)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3, '<td class="number"><span>3</span></td>'),
        ("higher", "<td><span>higher</span></td>"),
        ("x" * 28, f"<td><span>{'x' * 28}</span></td>"),
        ("x" * 29, f'<td class="words"><span>{"x" * 29}</span></td>'),
    ],
)
def test_cells_of_many_words_have_a_column_with_room(value, shown):
    content = content_of(TAME[:5])
    table = Table("results", "?", ("model", "n", "result"), (("m", 1, value),), "")
    assert shown in page(replace(content, tables=[*content.tables, table]))


# --- whole studies ---


def answer(asked: Request) -> str:
    number = int(re.search(r"\[q(\d+)\]", asked.prompt)[1])
    return ["<answer>B</answer>", "B. Because", "It is <answer>C</answer>", "<answer>A</answer>"][number % 4]


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Path:
    """A study with its page, as a run leaves it."""
    folder = tmp_path_factory.mktemp("page") / "small"
    with FaultServer(answer=answer) as server:
        write_study(folder, server.url, count=12)
        done = run(folder, page=True)
        fine(done, 0)
    out = folder / "out"
    assert f"results: {out / 'report.html'}\n" in done.stdout.decode()
    return out


def normalised(text: str) -> str:
    """The page without what changes from machine to machine, and without its style."""
    text = re.sub(r"(?s)<style>.*?</style>", "<style></style>", text)
    text = re.sub(r"sha256-[A-Za-z0-9+/=]+", "sha256-", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"(?s)(<th scope=\"row\">versions</th>).*?</tr>", r"\1", text)
    text = re.sub(r"(<dt>run</dt><dd>).*?</dd>", r"\1</dd>", text)
    text = re.sub(r"<tr><th scope=\"row\">commit of .*?</tr>\n", "", text)
    return re.sub(r"\n\n+", "\n", text)


@pytest.mark.slow
def test_the_page_of_a_small_study_is_the_one_on_record(study):
    """If it is meant to be another: AFFIDAVIT_GOLDEN=write .venv/bin/pytest tests/results/test_report_page.py -k on_record"""
    found = normalised((study / "report.html").read_text())
    assert found == golden("small_page.html", found)


def test_the_policy_allows_the_style_and_nothing_else(study):
    root = parsed((study / "report.html").read_text())
    (style,) = root.iter(f"{HTML}style")
    (policy,) = [m.get("content") for m in root.iter(f"{HTML}meta") if m.get("http-equiv")]
    digest = base64.b64encode(sha256((style.text or "").encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:")
    assert "unsafe" not in policy
    assert not list(root.iter(f"{HTML}script"))
    assert "://" not in (study / "report.html").read_text()


def test_it_can_be_read_by_ear(study):
    root = parsed((study / "report.html").read_text())
    levels = [int(named(each)[1]) for each in root.iter() if re.fullmatch("h[1-6]", named(each))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for link in root.iter(f"{HTML}a"):
        assert link.get("href", "")[1:] in ids
    for table in root.iter(f"{HTML}table"):
        assert table.find(f"{HTML}caption") is not None
        assert all(head.get("scope") for head in table.iter(f"{HTML}th"))
    drawn = [each for each in root.iter() if named(each) == "svg" and each.get("role") == "img"]
    assert drawn
    for each in drawn:
        first, second = list(each)[:2]
        assert (named(first), named(second)) == ("title", "desc")
        assert first.text
        assert second.text
        assert each.get("aria-labelledby") == f"{first.get('id')} {second.get('id')}"


@pytest.mark.slow
def test_the_figures_are_those_of_the_tables(study):
    tables = json.loads(affidavit("report", study, "--format", "json").stdout)["tables"]
    text = "".join(parsed((study / "report.html").read_text()).itertext())
    for name in ("compliance", "accuracy"):
        assert tables[name]["identity"] in text
    assert "6 of 12 outputs did not follow the format" in text
    assert "50.0% [25.4, 74.6] n=12" in text


@pytest.mark.slow
def test_report_writes_the_page_and_tells_its_headline(study, tmp_path):
    before = (study / "report.html").read_bytes()
    (study / "report.html").unlink()
    done = affidavit("report", study)
    fine(done, 0)
    said = done.stdout.decode()
    assert said.startswith(
        "quiz\n  Accuracy: Over all outputs: 25.0% [8.9, 53.2] n=12.\n  Format: Compliance: 50.0% "
    )
    assert said.endswith(f"the page: {study / 'report.html'}\n")
    assert (study / "report.html").read_bytes() == before
    fine(affidavit("report", study, "-o", tmp_path / "other.html", "--by", "model"), 0)
    assert (tmp_path / "other.html").read_text().startswith("<!doctype html>")
    assert affidavit("report", study, "--format", "md").stdout.startswith(b"# ")
    assert fine(affidavit("verify", study), 0)


@pytest.mark.slow
def test_a_study_that_went_on_after_its_seal_claims_no_digest_of_all(study, tmp_path):
    more = shutil.copytree(study, tmp_path / "more")
    (more / "records" / "000002.jsonl").write_bytes(b"")
    found = study_page.content(StudyDirectory(more))
    assert (found.sealed, found.root_sha256) == (False, None)
    names = [name for name, _ in found.digests]
    assert "records sealed before, by key (root)" in names
    assert "all records, by key (root)" not in names


@pytest.mark.slow
def test_a_study_that_is_not_sealed_says_so_in_its_title(study, tmp_path):
    open_one = tmp_path / "open"
    shutil.copytree(study, open_one)
    (open_one / "seal.json").unlink()
    study_page.write_page(StudyDirectory(open_one))
    root = parsed((open_one / "report.html").read_text())
    (title,) = root.iter(f"{HTML}title")
    assert title.text.endswith("(not sealed)")
    assert "(not sealed)" in "".join(next(root.iter(f"{HTML}h1")).itertext())


@pytest.mark.slow
def test_a_study_without_any_output_has_a_page(tmp_path):
    with FaultServer({f"q{number}": every(status(500)) for number in range(3)}) as server:
        write_study(tmp_path / "dead", server.url, count=3, changed={"limits": {"attempts": 1}})
        done = run(tmp_path / "dead", page=True)
    fine(done, 4)
    fine(affidavit("report", tmp_path / "dead" / "out"), 0)
    text = (tmp_path / "dead" / "out" / "report.html").read_text()
    assert "No output has arrived yet." in text
    assert "3 planned = 0 compliant + 0 non-compliant + 0 unread" in text


@pytest.mark.slow
def test_a_page_that_cannot_be_written_costs_nothing_but_the_page(study, tmp_path):
    with FaultServer(answer=answer) as server:
        write_study(tmp_path / "s", server.url, count=4)
        (tmp_path / "s" / "out" / ".report.html.partial").mkdir(parents=True)  # where it is put together
        done = run(tmp_path / "s", page=True)
    fine(done, 0)
    assert b"as no page could be written" in done.stdout
    assert b"affidavit report" in done.stdout


def test_a_large_study_is_told_what_to_type(study, tmp_path):
    assert page_at_the_end.is_cheap(StudyDirectory(study))
    large = tmp_path / "large"
    large.mkdir()
    segment = {"name": "000001.jsonl", "records": 20_000, "sha256": ""}
    seal = {
        "kind": "seal",
        "v": 3,
        "segments": [segment],
        "files": {},
        "counts": {},
        "judges": {},
        "root_sha256": "",
    }
    (large / "seal.json").write_bytes(checked_line(seal))
    assert not page_at_the_end.is_cheap(StudyDirectory(large))
    assert page_at_the_end.page_at_the_end(StudyDirectory(large), anew=True) == f"affidavit report {large}"
    assert not (large / "report.html").exists()


@pytest.mark.slow
def test_twenty_models_and_long_names_are_limited_and_said():
    names = [("t", f"model {number} " + "x" * 300, f"c{number % 20}") for number in range(400)]
    counts = ("planned", "compliant", "non-compliant", "unread", "failed", "pending", "truncated", "compliance")
    rows = tuple((*name, 10, 5, 5, 0, 0, 0, 0, wilson(5, 10)) for name in names)
    table = Table("compliance", "Who?", ("task", "model", "condition", *counts), rows, "")
    drawn = charts.outcomes(table, None, ("task", "model", "condition"))
    assert drawn.note == f"The first {charts.MOST_ROWS} of 400 rows are shown."
    content = Content(
        "n", sealed=True, root_sha256="0", by=("task", "model", "condition"), asked=AskedSection("s", [], []),
        sections=[Section(summary, [task_summary({"compliance": table}, "t", BY, StudyOrder())])
                  for summary in headline({"compliance": table}, BY, Compared())],
        tables=[table],
    )  # fmt: skip
    text = page(content)
    assert "100 more rows are not shown here" in text
    assert "Show all 400 rows" in text
    assert "yield" not in text
    assert len(text) < 1_000_000


def crossed(models: int, conditions: int) -> tuple[Table, Table]:
    names = [("quiz", f"org/model-{m}b-chat", f"c{c}") for m in range(models) for c in range(conditions)]
    compliance = Table(
        "compliance",
        "?",
        ("task", "model", "condition", "compliance"),
        tuple((*n, wilson(5, 9)) for n in names),
        "",
    )
    accuracy = Table(
        "accuracy", "?", ("task", "model", "condition", "accuracy over compliant"), compliance.rows, ""
    )
    return compliance, accuracy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "conditions", "titles", "note"),
    [
        (8, 3, ["Compliance and accuracy"], ""),
        (2, 1, ["Compliance and accuracy"], ""),
        (20, 4, [f"quiz, c{c}: compliance and accuracy" for c in range(4)], ""),
        (20, 8, [f"quiz, c{c}: compliance and accuracy" for c in range(6)], "6 of 8 scatter plots are shown."),
        (30, 2, [f"quiz, c{c}: compliance and accuracy" for c in range(2)],
         "The first 24 of 30 points are shown."),
    ],
)  # fmt: skip
def test_a_scatter_plot_has_as_many_points_as_can_be_named(models, conditions, titles, note):
    drawn = report_page._scatter_plots(*crossed(models, conditions), ("task", "model", "condition"))
    assert [each.title for each in drawn] == titles
    assert drawn[-1].note == note


def test_a_single_point_is_no_scatter_plot():
    compliance, accuracy = crossed(1, 2)
    names, figures = [row[:3] for row in accuracy.rows], accuracy.rows[0][3]
    bare = replace(accuracy, rows=((*names[0], figures), (*names[1], None)))
    assert report_page._scatter_plots(compliance, bare, ("task", "model", "condition")) == []
    assert len(report_page._scatter_plots(compliance, accuracy, ("task", "model", "condition"))) == 1


def test_a_name_that_is_shortened_in_a_chart_is_there_in_full():
    names = [f"some-organisation/Some-Model-{size}B-Instruct-Q4_K_M-with-a-long-name" for size in (1, 8)]
    drawn = charts.deviations(dict.fromkeys(names, 3))
    for svg in drawn.svg.splitlines():
        titles = [each.text for each in parsed(svg).iter(f"{SVG}text") for each in each.iter(f"{SVG}title")]
        assert titles == names


NAMES = st.lists(
    st.tuples(st.just("t"), st.text("ab-/", max_size=70), st.sampled_from(["free", "firm" * 12, ""])),
    min_size=1, max_size=9, unique=True,
)  # fmt: skip


@pytest.mark.slow
@given(NAMES, st.integers(20, 60))
@example([("t", "x" * 80 + end, "c") for end in ("a", "b", "ab", "")], 20)
def test_short_labels_are_short_and_tell_apart_what_is_not_the_same(names, most):
    found, full = short_labels(names, 1, most), labels(names, 1)
    assert all(len(each) <= most for each in found)
    assert len(set(found)) == len(set(full))
    assert max(map(len, full)) > most or found == full


def test_labels_of_models_that_people_have():
    llama = "meta-llama/Meta-Llama-3.1-{}-Instruct-Q4_K_M"
    names = [(model, c) for model in (llama.format("8B"), llama.format("70B"), "gpt-4o") for c in ("free", "harm")]
    assert short_labels(names, 0, 30)[1::2] == [
        "meta-l…-8B-Instruct-Q4… · harm",
        "meta-l…-70B-Instruct-Q… · harm",
        "gpt-4o · harm",
    ]
    names = [
        (f"some-organisation/Some-Model-{size}B-Instruct-Q{bits}_K_M", condition)
        for size in (1, 8, 70) for bits in (2, 4, 8) for condition in ("plain", "authority-help", "authority-harm")
    ]  # fmt: skip
    assert short_labels(names, 0, 40)[0] == "…1B-Instruct-Q2… · plain"


def test_a_figure_without_an_interval_is_drawn_without_one():
    bare = mean_of_clusters([1], [2], seed=0)
    rows = (("t", "a", "c", bare), ("t", "b", "c", wilson(5, 9)))
    drawn = charts.scatter("", [row[:3] for row in rows], 1, [(row[3], row[3]) for row in rows], "scatter-1")
    assert drawn.note == "1 without an interval in one or both directions: from a single item."


def test_what_is_left_out_of_an_evaluation_is_said():
    samples = FindingSamples()
    quotes = [(f"quote {number}", "exact", Span(number, number + 1)) for number in range(20)]
    record = judgement("k", "sum_mismatch", quotes)
    samples.add(structs.replace(record, findings=record.findings * 9))
    (shown,) = samples.shown({"out": "x" * 30})
    assert (len(shown.findings), len(shown.quotes)) == (4, 12)
    assert shown.rest == "Not shown of this evaluation: 5 more places, 8 more quotes, 8 more marks."


def test_a_quote_that_a_judge_invents_four_times_is_marked_four_times():
    samples = FindingSamples()
    samples.add(judgement("k", "quote_not_found", [("a chainsaw", "absent", None)] * 4))
    (shown,) = samples.shown({})
    assert [piece.kind for piece in shown.text].count("absent") == 4


@pytest.mark.slow
def test_the_commands_make_the_same_page_again(study, tmp_path):
    options = PageOptions(by=("model",), include_self=True)
    study_page.write_page(StudyDirectory(study), options, out=tmp_path / "page.html")
    assert ">affidavit report out --by model --include-self<" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_a_field_of_metadata_that_no_item_has_is_refused(study):
    done = affidavit("report", study, "--by", "metadata.subjcet")
    assert fine(done, 2)
    assert b"--by: expected a field in the metadata of some item: " in done.stderr
    assert b"found 'metadata.subjcet'" in done.stderr


# --- differences are over the clusters that were named (ruling S8) ---


BY = ("task", "model", "condition")


@pytest.mark.slow
def test_differences_of_the_page_are_over_the_clusters_that_were_named(tmp_path):
    rows = [{**row, "metadata": {"passage": str(number // 5)}} for number, row in enumerate(questions(60))]
    design = tables(conditions={"free": {}, "firm": {"preamble": "!", "control": "free"}})

    def answer(question: Question) -> str:
        lost = question.condition == "firm" and int(question.item.id[1:]) < 20
        return f"<answer>{'A' if lost else 'B'}</answer>"

    directory = written(tmp_path, design, {"quiz": rows}, answer)
    for options, words in (((), "lower"), (("--cluster", "metadata.passage"), "not distinguishable")):
        assert fine(affidavit("report", directory, *options, "-o", tmp_path / "page.html"), 0)
        text = (tmp_path / "page.html").read_text()
        section = text[text.index('id="differences"') :]
        section = section[section.index("<tbody>") :]
        row = next(each for each in section.split("<tr>") if "accuracy over all outputs" in each)
        assert words in row
