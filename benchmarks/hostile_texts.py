"""Every parser of model text on hostile shapes: how its time grows with the text, and what a megabyte costs.

Every parser must be linear (ruling C4). Time is taken at sizes that differ by a factor of four and told as
growth per doubling, from the first size to the last and in the worst single step: 2 is linear, 4 quadratic.
The bound of 2.5 leaves to caches and a noisy machine what they need and is far from quadratic. Linear is not
enough if the factor is bad, so a megabyte, far more than any model writes, may take no more than 50 ms.

Strict JSON refuses texts above 256 kB before it parses, so its readers are measured on small texts too.
Timings below 0.2 ms are noise and count as 0.2 ms in growth. Each timing is the least of several.
A kB is 1,024 bytes of UTF-8.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from time import perf_counter, sleep

from affidavit import (
    Hand,
    JsonObject,
    LabelSet,
    Number,
    Pattern,
    game24,
    json_object,
    judge,
    locate,
    mcqa,
    mcqa_reasoned,
    number,
    text,
)
from affidavit.contracts import expression, strict_json
from affidavit.contracts.contract import AnyContract
from affidavit.contracts.harness_readings import KeyAndOptions

KB, MB = 1024, 1024 * 1024
SIZES = (64 * KB, 256 * KB, MB, 4 * MB)
SMALL_SIZES = (4 * KB, 16 * KB, 64 * KB, 256 * KB)
MOST_GROWTH, MOST_MS_PER_MB = 2.5, 50.0
NOISE = 0.0002
GIVE_UP = 2.0
"""Seconds; when a text takes longer, larger ones are left out: a quadratic parser would take hours."""
LOOKS, MORE_LOOKS_FOR = 3, 30.0
"""A busy machine is slow for up to a second at a time. So every timing is taken in passes that lie far apart,
and what breaks a bound is looked at again, for so many seconds at most, until it holds."""

Parser = Callable[[str], object]
Shape = Callable[[int], str]

PROSE = "We add the first two numbers, then look at what is left over, and so on. It is not that hard.\n"
EVALUATION_END = '{"meta": {}, "scores": {}, "verdict": "PASS", "flags": [], "evidence": []}'


def around(unit: str, *, before: str = "", after: str = "") -> Shape:
    """A unit, repeated until the text has its size."""
    fixed, each = len((before + after).encode()), len(unit.encode())
    return lambda size: before + unit * ((size - fixed) // each) + after


def nested_tags(size: int) -> str:
    pairs = size // len("<answer></answer>")
    return "<answer>" * pairs + "</answer>" * pairs


SHAPES: Mapping[str, Shape] = {
    "<answer> unclosed": around("<answer>"),
    "<answer> nested": nested_tags,
    "</answer>": around("</answer>"),
    "empty blocks": around("<answer></answer>"),
    "</think>": around("</think>"),
    "<ANSWER>": around("<ANSWER>"),
    "</ANSWER>, then one": around("</ANSWER>", after="<answer>"),
    "labels": around("art, ", before="<answer>", after="art</answer>"),
    "commas": around(",", before="<answer>", after="</answer>"),
    "different labels": lambda size: (
        f"<answer>{','.join(f'{number:07}' for number in range(size // 8 - 3))}</answer>"
    ),
    "blanks": around(" "),
    "line feeds": around("\n"),
    "blank, line feed": around(" \n"),
    "(": around("("),
    "[": around("["),
    "{": around("{"),
    "-": around("-"),
    "-, then 1": around("-", after="1"),
    "digits": around("1234567890"),
    "digits on lines": around("7\n"),
    "1+": around("1+"),
    "{}": around("{}"),
    "[]": around("[]"),
    '"': around('"'),
    '""': around('""'),
    "backslashes": around("\\\\", before='{"a": "', after='"}'),
    "…": around("…"),
    "letters...": around("abcdefgh..."),
    "U+0301": around("\u0301"),
    "e U+0301": around("e\u0301"),
    "Output:": around("Output:"),
    "= 24": around("= 24"),
    "calculations": around("1+1+1+1\n"),
    "equations": around("1+1=x\n"),
    "half calculations": around("(1+1\n"),
    "different calculations": lambda size: "".join(f"{number:06}+1+1+1\n" for number in range(size // 13)),
    "fence": around("```json\n"),
    "fence, blanks": around(" ", before="```\n", after="\n```"),
    "fenced object": around(" ", before='```\n{"a":', after="1}\n```"),
    "members": lambda size: "{" + ",".join(f'"{number:06}":1' for number in range(size // 11)) + "}",
    "items, none fits": around("1,", before='{"a": [', after="1]}"),
    "items, all fit": around('"b",', before='{"name": "Ada", "year": 7, "a": ["b"], "b": [', after='"b"]}'),
    "one long number": around("7", before='{"name": "Ada", "year": 7.', after="}"),
    "one long name": around("Aa ", before='{"year": 7, "name": "', after='1"}'),
    "one long key": around("a", before='{"name": "Ada", "year": 7, "', after='b": 1}'),
    "long key, NaN": lambda size: around("NaN,", before=f'{{"{"k" * (size // 2)}": [', after="0]}")(size),
    "groups of three": around(",000", before="<answer>1", after="x</answer>"),
    "digits in a block": around("1234567890", before="<answer>", after=".x</answer>"),
    "#### on lines": around("#### \n"),
    "#### on one line": around("#### "),
    "blanks, ####": around(" ", after="####"),
    "<ANSWER> unclosed": around("<ANSWER>"),
    "ABCD": around("ABCD"),
    "Answer:": around("Answer:"),
    "Answer: blanks": around(" ", before="ANSWER:", after="é"),
    "Answer: line feeds": around("ANSWER:\n"),
    "answers on lines": around("Answer: B!\n"),
    "$a": around("$a", after="$"),
    "$ blanks": around(" ", before="$a", after="x"),
    "** blanks": around("** a ", after="x"),
    "答案是": around("答案是", after=" x"),
    "答案是 blank": around("答案是 ", after="x"),
    "the correct answer is": around("the correct answer is "),
    "(a)": around("(a)"),
    "prose": around(PROSE),
    "prose, letter": around(PROSE, after="<answer>B</answer>"),
    "prose, labels": around(PROSE, after="<answer>sport, art</answer>"),
    "prose, expression": around(PROSE, after="<answer>(13-9)*(10-4) = 24</answer>"),
    "prose, number": around(PROSE, after="#### 1,072"),
    "prose, JSON": around(PROSE, after=EVALUATION_END),
    "prose, quote": around(PROSE, after="There were no such words to be found here at all."),
}
FREE_STEP = {
    **{
        shape: "answers may be handed to another engine once a text is long"
        for shape in SHAPES
        if "prose," in shape
    },
    "different labels": "so many small texts at once outgrow the caches, whoever cuts them",
}
FREE_COST = {
    "long key, NaN": "every NaN is a finding, and findings are what costs",
    "members": "every member is a finding, up to a thousand of them",
    "items, none fits": "every item is a finding, up to a thousand of them",
    "items, all fit": "one is there twice, and every item is asked whether it is the fault",
    "one long number": "it is taken exactly",
    "different calculations": "every line is a candidate that has to be looked at",
    "ABCD": "every capital is a candidate that has to be looked at",
    "Answer: line feeds": "every line is a candidate that has to be looked at",
    "answers on lines": "every line is a candidate that has to be looked at",
}
"""Shapes of which one bound is not asked, and why; their growth over all sizes is bounded like any other's."""
HAND = Hand((4, 9, 10, 13))
QUOTE = "no such words … here at all"
SHORT_TEXT = "It was late, so we went home; nobody had seen the lights of the harbour."
GSM8K = Pattern(
    name="gsm8k",
    version=1,
    pattern=r"(?s).*#### (?P<answer>-?[0-9][0-9,]*(?:\.[0-9]+)?)",
    words="Solve the problem step by step. End with a line that holds #### and the number alone.",
    compare="number",
)
TOPICS = LabelSet(["art", "economy", "sport"], none="none")
ITEM = KeyAndOptions("B", ("Rome", "Paris", "a.b", "Guilty of Romance"))


SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^(?:[A-Z][a-z]* ?)+$"},
        "year": {"type": "integer", "minimum": 0, "multipleOf": 7},
    },
    "required": ["name", "year"],
    "patternProperties": {"^(?:a|aa)+$": {"maxLength": 3}},
    "additionalProperties": {"items": {"type": "string", "maxLength": 1}, "uniqueItems": True},
}
DATED = JsonObject(SCHEMA)


def _read(lens: AnyContract, raw: str) -> object:
    return lens.read(raw, ITEM)


PARSERS: Mapping[str, Parser] = {
    "mcqa.read": mcqa.read,
    "mcqa_reasoned.read": mcqa_reasoned.read,
    **{f"{lens.name} lens": partial(_read, lens) for lens in mcqa.lenient_readings()},
    "number.read": number.read,
    "number.read, marker": Number(marker="####", unit="$").read,
    "game24.read": game24.read,
    "game24.read, hand": lambda raw: game24.read(raw, HAND),
    "labels.read": TOPICS.read,
    "json_object.read": json_object.read,
    "JsonObject(schema).read": DATED.read,
    "judge.read": judge.read,
    "locate in shape": lambda raw: locate(QUOTE, raw),
    "locate shape": lambda raw: locate(raw, SHORT_TEXT),
    "expression.parse": expression.parse,
    "strict_json.decode": strict_json.decode,
    "text.read": text.read,
    "Pattern.read, GSM8K": GSM8K.read,
}
SMALL_PARSERS: Mapping[str, Parser] = {
    "json_object.read, small": json_object.read,
    "JsonObject.read, small": DATED.read,
    "judge.read, small": judge.read,
    "strict_json.decode, small": strict_json.decode,
}
ALL_PARSERS = {**PARSERS, **SMALL_PARSERS}


@dataclass(frozen=True, slots=True)
class Cell:
    """The seconds of one parser on one shape, by size; larger sizes are left out when it takes too long."""

    parser: str
    shape: str
    seconds: Mapping[int, float]

    @property
    def growth(self) -> float:
        """The factor per doubling from the first size to the last."""
        return self._per_doubling(min(self.seconds), max(self.seconds))

    @property
    def step(self) -> float:
        """The factor per doubling between the two neighbouring sizes where it is worst."""
        return max((self._per_doubling(*pair) for pair in pairwise(self.seconds)), default=1.0)

    @property
    def ms_per_mb(self) -> float:
        largest = max(self.seconds)
        return self.seconds[largest] * 1000 * MB / largest

    def _per_doubling(self, small: int, large: int) -> float:
        if small == large:
            return 1.0
        ratio = max(NOISE, self.seconds[large]) / max(NOISE, self.seconds[small])
        return float(ratio ** (1 / math.log2(large / small)))

    def is_broken(self) -> bool:
        return any(self.broken())

    def broken(self) -> Iterator[str]:
        place = f"{self.parser} on {self.shape!r}"
        if self.growth > MOST_GROWTH:
            yield f"{place}: growth {self.growth:.2f} per doubling, more than {MOST_GROWTH}"
        if self.step > MOST_GROWTH and self.shape not in FREE_STEP:
            yield f"{place}: growth {self.step:.2f} per doubling in one step, more than {MOST_GROWTH}"
        if self.ms_per_mb > MOST_MS_PER_MB and self.shape not in FREE_COST:
            yield f"{place}: {self.ms_per_mb:.1f} ms/MB, more than {MOST_MS_PER_MB:.0f}"


def least(parser: Parser, shape: Shape, size: int) -> float:
    """The shortest of up to three runs, in seconds; a long run is alone.

    Every run has a text of its own: a `str` that was once encoded keeps its UTF-8.
    """
    times: list[float] = []
    while len(times) < 3 and sum(times) < 0.01:
        raw = shape(size)
        start = perf_counter()
        parser(raw)
        times.append(perf_counter() - start)
    return min(times)


def looked_at(cell: Cell) -> Cell:
    """The cell after one more look; at each size the lesser time counts."""
    parser, shape = ALL_PARSERS[cell.parser], SHAPES[cell.shape]
    seconds: dict[int, float] = {}
    for size, known in cell.seconds.items():
        seconds[size] = min(known, least(parser, shape, size))
        if seconds[size] > GIVE_UP:
            break
    return replace(cell, seconds=seconds)


def all_cells() -> list[Cell]:
    locate("e\u0301", "other")  # tables for text beyond ASCII are made once, and not while the clock runs
    cells = [
        Cell(parser, shape, dict.fromkeys(sizes, math.inf))
        for parsers, sizes in ((PARSERS, SIZES), (SMALL_PARSERS, SMALL_SIZES))
        for shape in SHAPES
        for parser in parsers
    ]
    for _ in range(LOOKS):
        cells = [looked_at(cell) for cell in cells]
    end = perf_counter() + MORE_LOOKS_FOR
    while any(map(Cell.is_broken, cells)) and perf_counter() < end:
        sleep(0.5)
        cells = [looked_at(cell) if cell.is_broken() else cell for cell in cells]
    return cells


def report(*, everything: bool) -> Iterator[str]:
    """Print the table; yield every bound that is not held."""
    print(f"1. Parsers on hostile texts, 64 kB to 4 MB (small: 4 kB to 256 kB), {len(SHAPES)} shapes")
    print(f"   bounds: growth per doubling {MOST_GROWTH}, and {MOST_MS_PER_MB:.0f} ms/MB at the largest size\n")
    found = all_cells()
    row = "{:<26} {:>6}  {:<18} {:>6}  {:<18} {:>6}  {:<18}".format
    print(row("worst of each parser", "growth", "on", "step", "on", "ms/MB", "on"))
    for parser in ALL_PARSERS:
        own = [each for each in found if each.parser == parser]
        grown, stepped = max(own, key=lambda each: each.growth), max(own, key=lambda each: each.step)
        slow = max(own, key=lambda each: each.ms_per_mb)
        print(
            row(
                parser, f"{grown.growth:.2f}", grown.shape, f"{stepped.step:.2f}", stepped.shape,
                f"{slow.ms_per_mb:.1f}", slow.shape,
            )
        )  # fmt: skip
    for shape, why in (FREE_STEP | FREE_COST).items():
        bound = "cost" if shape in FREE_COST else "step"
        print(f"not bounded in {bound}: {shape} ({why})")
    if everything:
        print_all(found)
    print()
    for each in found:
        yield from each.broken()


def print_all(found: Sequence[Cell]) -> None:
    row = "{:<26} {:<18} {:>6} {:>6} {:>7}   {}".format
    print("\n" + row("parser", "shape", "growth", "step", "ms/MB", "ms at each size"))
    for each in found:
        times = " ".join(f"{seconds * 1000:8.3f}" for seconds in each.seconds.values())
        figures = f"{each.growth:.2f}", f"{each.step:.2f}", f"{each.ms_per_mb:.1f}"
        print(row(each.parser, each.shape, *figures, times))
