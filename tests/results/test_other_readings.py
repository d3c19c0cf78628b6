"""What other readings would make of a score, beside a count output by output (rulings M5, M24 and M30)."""

from collections import defaultdict
from dataclasses import replace
from random import Random

import pytest

from affidavit.contracts.harness_readings import KeyAndOptions, LmEvalFlexible
from affidavit.contracts.mcqa import mcqa
from affidavit.items.item import Item
from affidavit.reading.output_columns import OutputColumns
from affidavit.results.counting import groups
from affidavit.results.groups import CELL
from affidavit.results.other_readings import LENSES, lenient_table
from affidavit.results.shown_options import options_of_items, options_of_rows
from affidavit.results.table import Table
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.multiplicity import holm
from support.literal_shares import literal_share, same
from support.record_sets import Row, choice, named_rows, record_set

TEXTS = (
    "<answer>B</answer>", " <answer>A</answer>\n", "B. Paris", "(B)", "So it is A.\nAnswer: B", "ANSWER: b", "no idea",
    "A or B", "\ud800<answer>B</answer>", "It is Paris.",
)  # fmt: skip
OPTIONS = ("Rome", "Paris", "Oslo", "Bern")
NEEDY = LENSES.index("lm-eval-flexible-0.4.13/1")


def output(item: str, text: str, right: str | None = "B", **more: object) -> Row:
    reading, escaped = mcqa.read(text), "\ud800" in text
    told = {"raw_output": None if escaped else text}
    if escaped:
        told["raw_output_escaped"] = '"' + text.replace("\ud800", "\\ud800") + '"'
    return choice(item, reading.extracted_answer, right, **told, **more)


def made(rows: list[Row], *, known: bool = False, **how: object) -> Table | None:
    shown = (lambda *question: OPTIONS) if known else None
    records = replace(record_set(rows, **how), shown_options=shown)
    return lenient_table(records, groups(records), ["quiz"], {})


def drawn(seed: int, items: int, samples: int) -> list[tuple[Row, str]]:
    chance, rows = Random(seed), []  # noqa: S311
    for number in range(items):
        right = None if number % 7 == 6 else chance.choice("AB")
        for sample in range(samples):
            text = chance.choice(TEXTS)
            row = output(f"q{number}", text, right, sample=sample, **{"metadata.passage": f"p{number // 3}"})
            rows.append((row, text))
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True], ids=["options unknown", "options known"])
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("cluster", ["item_id", "metadata.passage"])
def test_every_figure_is_what_a_count_output_by_output_gives(samples, cluster, known):
    rows = drawn(3, 40, samples)
    found = {
        row["reading"]: row for row in named_rows(made([row for row, _ in rows], known=known, cluster=cluster))
    }
    assert [*found] == [*LENSES]
    item, tested = KeyAndOptions(None, OPTIONS) if known else None, {}
    for name, lens in zip(LENSES, mcqa.lenient_readings(), strict=True):
        if not lens.knows_enough(item):
            assert [
                found[name][column]
                for column in ("answers", "share of outputs", "right, of outputs", "difference", "p")
            ] == [None] * 5
            continue
        counted, clusters = defaultdict(lambda: [0, 0, 0]), {}
        answers = 0
        for row, text in rows:
            answer = lens.read(text, item).extracted_answer
            answers += answer is not None
            if row["right_letter"] is not None:
                each = counted[row["item_id"]]
                clusters[row["item_id"]] = row[cluster]
                each[0] += row["correct"] is True
                each[1] += answer == row["right_letter"]
                each[2] += 1
        by_cluster = defaultdict(lambda: [0, 0])
        for name_of_item, (_, right, n) in counted.items():
            by_cluster[clusters[name_of_item]][0] += right
            by_cluster[clusters[name_of_item]][1] += n
        strict, right, n = zip(*counted.values(), strict=True)
        above = None if cluster == "item_id" else [clusters[each] for each in counted]
        difference = PairedDifference.of_counts(strict, n, right, n, clusters=above)
        assert found[name]["answers"] == answers
        assert same(found[name]["right, of outputs"], literal_share([tuple(each) for each in by_cluster.values()]))
        assert found[name]["difference"].estimate.value == pytest.approx(difference.value, abs=1e-12)
        assert found[name]["p"].value == difference.test(5).p_value
        tested[name] = difference.test(5).p_value
    adjusted = holm([*tested.values()]).tolist()
    assert [found[name]["p (Holm)"].value for name in tested] == pytest.approx(adjusted)


def test_a_reading_that_cannot_read_says_so():
    """Ruling M24."""
    table = made([output("q0", "It is Paris.")])
    assert "needs the options' texts" in table.notes[-1]
    assert named_rows(table)[NEEDY]["answers"] is None
    known = made([output("q0", "It is Paris.")], known=True)
    assert named_rows(known)[NEEDY]["answers"] == 1
    assert not any("needs the options' texts" in note for note in known.notes)


def test_readings_that_count_every_output_as_the_contract_are_named():
    """Beside their 0.0 stands an interval (ruling S2); of several samples of an item nothing is said."""
    rows = [output(f"q{at}", "<answer>B</answer>") for at in range(12)]
    (note,) = (note for note in made(rows).notes if note.startswith("The same"))
    assert note.startswith("The same as by the contract on all 12 outputs: mcqa-after-think/1, mcqa-last-tag/1, ")
    assert "inspect-choice" not in note
    moved = made([*rows, output("q12", "It is <answer>B</answer>")])
    (note,) = (note for note in moved.notes if note.startswith("The same"))
    assert "on all 13 outputs: mcqa-after-think/1, mcqa-bare-letter/1, " in note
    samples = made([output("q0", "<answer>B</answer>", sample=sample) for sample in range(3)])
    assert not any(note.startswith("The same") for note in samples.notes)


def test_without_a_right_answer_nothing_moves():
    (row, *_) = named_rows(made([output("q0", "B", None)]))
    assert (row["right, of outputs"], row["difference"], row["p"], row["p (Holm)"]) == (None,) * 4


def test_of_nothing_that_was_read_there_is_no_table():
    assert made([choice("q0", None, failure="timeout", protocol_compliant=None)]) is None


def test_other_tables_have_other_outputs():
    """Two option sets in one group are read each by its own."""
    rows = [output("q0", "<answer>B</answer>"), choice("q1", None, "E", options="A-E", raw_output="Answer: E")]
    found = {row["reading"]: row["answers"] for row in named_rows(made(rows))}
    assert found["mcqa-answer-line/1"] == 2
    assert found["inspect-choice-0.3.285/1"] == 1


# --- the options as they were shown ---


def test_options_stand_in_the_order_that_was_drawn():
    item = Item("q\ud800", {"question": "?", "options": ["w", "x", "y", "z"], "answer": "B"})
    orders = {"quiz": "rotate"}
    shown = options_of_items(
        lambda: [("quiz", item), ("plain", item), ("hands", Item("h", {"numbers": [1]}))], orders, 7
    )
    every = [shown("quiz", "q\\ud800", sample, None) for sample in range(4)]
    assert {*map("".join, every)} == {"wxyz", "xyzw", "yzwx", "zwxy"}
    assert shown("plain", "q\\ud800", 3, None) == ("w", "x", "y", "z")
    assert shown("hands", "h", 0, None) is None
    assert shown("quiz", "unknown", 0, None) is None


def test_rows_from_elsewhere_say_their_options():
    shown = options_of_rows(OutputColumns({}))
    assert shown("t", "i", 0, '{"options": ["a", "b"]}') == ("a", "b")
    assert (
        shown("t", "i", 0, '{"options": "a, b"}') is shown("t", "i", 0, "{}") is shown("t", "i", 0, None) is None
    )


def test_the_reading_that_needs_options_is_the_only_one():
    assert [lens.name for lens in mcqa.lenient_readings() if not lens.knows_enough(None)] == [
        LmEvalFlexible(mcqa).name
    ]


# --- lenient readings ---


@pytest.mark.parametrize("unit", ["item_id", "metadata.passage"])
@pytest.mark.parametrize("by", [CELL, (*CELL, "sample")])
def test_lenient_readings_are_shares_over_the_same_clusters(unit, by):
    rows = []
    for number in range(8):
        for sample in range(2):
            text = ["<answer>B</answer>", "So: <answer>B</answer>", "\ud800<answer>A</answer>", "no"][
                (number + sample) % 4
            ]
            row = choice(f"q{number}", "B" if text[0] == "<" else None, sample=sample)
            escaped = text.startswith("\ud800")
            row |= {"raw_output": None if escaped else text, "metadata.passage": f"p{number // 4}"}
            rows.append(row | {"raw_output_escaped": '"\\ud800<answer>A</answer>"' if escaped else None})
    records = record_set(rows, by=by, cluster=unit)
    found = named_rows(lenient_table(records, groups(records), ["quiz"], {}))
    last = [row for row in found if row["reading"] == LENSES[1]]
    for row in last:
        own = [each for each in rows if each["sample"] == int(row.get("sample", each["sample"]))]
        holds = defaultdict(lambda: [0, 0])
        for each in own:
            holds[each[unit]][0] += each["raw_output"] != "no"
            holds[each[unit]][1] += 1
        assert same(row["share of outputs"], literal_share([tuple(each) for each in holds.values()]))
        assert (row["answers"], row["right, of answers"].n) == (sum(each[0] for each in holds.values()),) * 2


def test_whoever_asks_while_items_are_read_sees_all_of_them():
    """Several threads walk over records at once; half of the items was once taken for all."""
    asked = []

    def items():
        for number in range(3):
            if not asked:
                asked.append(number)
                asked.append(shown("quiz", "q2", 0, None))
            yield "quiz", Item(f"q{number}", {"options": ["a", str(number)]})

    shown = options_of_items(items, {}, 7)
    assert shown("quiz", "q0", 0, None) == ("a", "0")
    assert asked[1] == ("a", "2")
