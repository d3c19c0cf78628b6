"""A page on which charts have as much in them as they can have: long names, wide letters, points in one place."""

from affidavit.results.comparison import MEASURES
from affidavit.results.page.content import AskedSection, Content, Section
from affidavit.results.page.headline import Compared, headline
from affidavit.results.page.html import page
from affidavit.results.page.summary_table import task_summary
from affidavit.results.study_order import StudyOrder
from affidavit.results.table import Table
from affidavit.results.values import Chance, Mean, Points
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.shares import wilson

BY = ("task", "model", "condition")
MODELS = [
    "meta-llama/Meta-Llama-3.1-405B-Instruct-FP8",
    "MIXTRAL-8X22B-INSTRUCT-V0.1-WWWWWWWWWWWWWW",
    "日本語のとても長いモデルの名前・二〇二六年版・四十文字ぎりぎりの長さのもの",
    "a" * 39,
    "модель-среднего-размера-для-проверки",
    "m",
]
CONDITIONS = ["free", "an-authority-that-is-wrong", "firm", "한국어-조건"]
NAMES = [("trivia", model, condition) for model in MODELS for condition in CONDITIONS]
DIMENSIONS = [
    "FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS", "HELPFULNESS", "CLARITY",
    "INTERNATIONALISATION_READINESS", "TONE", "明確さ", "SAFETY_OF_THE_ADVICE", "CONCISENESS",
]  # fmt: skip


def _tables() -> list[Table]:
    counts = ("planned", "compliant", "non-compliant", "unread", "failed", "pending", "truncated", "compliance")
    compliance = [
        (1_234_567, 900_000 - 30_000 * at, 200_000, 34_567, 50_000, 50_000 + 30_000 * at, 0, wilson(90 - at, 100))
        for at in range(len(NAMES))
    ]
    right = (300_000, 380_000, wilson(61, 80), wilson(3, 10), 0.3, 0.7)
    answered = ("right", "compared", "accuracy over compliant", "yield", "if missing wrong", "if missing right")
    kinds = [
        (*NAMES[0], f"{'a_long_name_of_a_deviation_' * 2}{at}", 10 ** (at % 6), wilson(2, 10)) for at in range(40)
    ]
    judge = ("judge", "judging condition", "method")
    quotes = [(name, "free", "cross_judge", 30_000, 1, 1_000, 20_000, 100, wilson(2, 7)) for name in MODELS]
    scores = [
        (MODELS[0], "free", "cross_judge", model, condition, dimension, Mean(wilson(at % 7, 6 + at)) if at else None)
        for model in MODELS[:3] for condition in CONDITIONS for at, dimension in enumerate(DIMENSIONS)
    ]  # fmt: skip
    rows = [(*name, *row) for name, row in zip(NAMES, compliance, strict=True)]
    return [
        Table("compliance", "Who?", (*BY, *counts), tuple(rows), ""),
        Table("accuracy", "Right?", (*BY, *answered), tuple((*name, *right) for name in NAMES), ""),
        Table("deviations", "What?", (*BY, "deviation", "count", "share"), tuple(kinds), "", explains=None),
        Table("letters", "Which?", (*BY, "letter", "share", "against the key", "p (Holm)"), tuple(_letters()), ""),
        Table("quotes", "There?", (*judge, "exact", "normalised", "elided", "absent", "absence", "fabricated"), tuple(quotes), ""),
        Table("scores", "Given?", (*judge, "target", "variant", "dimension", "mean"), tuple(scores), ""),
    ]  # fmt: skip


def _letters() -> list[tuple]:
    ends = [(-0.99, -1.0, -0.9), (0.99, 0.9, 1.0), (0.0, -0.01, 0.01), (0.05, float("-inf"), float("inf"))]
    return [
        (*name, letter, wilson(1, 4), Points(Estimate(*ends[at], 40, "t")), Chance(0.01 * at))
        for name in NAMES for at, letter in enumerate("ABCD")
    ]  # fmt: skip


def _sections() -> list[Section]:
    tables = {table.name: table for table in _tables()}
    summaries = headline(tables, BY, Compared(controls=_comparisons()))
    return [Section(each, [task_summary(tables, "trivia", BY, StudyOrder())]) for each in summaries if each.title]


def _comparisons() -> dict[str, Table]:
    columns = ("task", "model", "measure", "difference", "in words")
    ends = [(-0.99, -1.0, -0.9), (0.99, 0.9, 1.0), (0.0, -0.01, 0.01), (0.05, float("-inf"), float("inf"))]
    rows = [
        ("trivia", model, measure, Points(Estimate(*ends[(at + place) % 4], 40, "paired")), "higher" if at % 2 else "–")
        for at, model in enumerate(MODELS) for place, measure in enumerate(MEASURES)
    ]  # fmt: skip
    return {f"{name} − free": Table("differences", "?", columns, tuple(rows), "") for name in CONDITIONS[1:]}


def crowded_page() -> str:
    """The page, as HTML."""
    content = Content(
        "crowded", sealed=False, root_sha256=None, by=BY, asked=AskedSection("much", [], []), sections=_sections(),
        tables=_tables(), comparisons=_comparisons(),
    )  # fmt: skip
    return page(content)
