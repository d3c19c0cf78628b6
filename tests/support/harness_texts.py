"""Texts as models write them, and worse, for the rules of other harnesses: drawn with a seed, the same every time."""

import random
from dataclasses import dataclass

PARTS = (
    "ANSWER", "Answer", "answer", "anſwer", "The answer is", "the correct answer is", "the answer is option",
    "The correct answer is option", "The correct option is", "the correct answer option is",
    "The answer to the question is", "boxed{B}", "\\boxed{C}", ":", ":", "：", " ", " ", "  ", "\n", "\n\n", "\t", "\r",
    "\x1c", "\u3000", "A", "B", "C", "D", "E", "Z", "a", "b", "d", "K", "ı", "é", "_", "1", "1.", "2", "٣", "10", ",",
    ".", "。", "，", "(", ")", "(A)", "(B)", "(c)", "(Z)", "$", "$B$", "$ C $", "$ A, B $", "*", "**", "**B**", "** d **",
    "** a , b **", "and", "<answer>", "</answer>", "<answer>B</answer>", "<answer>A</answer>", "<answer>C</answer>",
    "答案", "答案是", "答案为", "答案应该是", "答案选项", "选项", "选", "选择", "故", "故选", "只有", "只有选项", "是", "为", "应该",
    "说法", "不", "对", "错", "正确", "错误", "的", "正确的", "正确答案", "所以", "所以答", "所有", "因此", "显然", "即", "项",
    "Paris", "paris", "Rome", "guilty", "Guilty of Romance", "x = 1", "St. John's", "-", "—", "“", "'", "`", "#", "%",
    "ANSWER: B", "ANSWER: A,", "Answer: $C$", "\nANSWER: D.", "\nANSWER:\n", "A:", "B)", "C.", "[正确答案]A<eoa>", "ABBA",
    "\0", "\ud800", "😀",
)  # fmt: skip
OPTIONS = (
    "Paris", "Rome", "Guilty", "Guilty of Romance", "x = 1", "1", "10", "St. John's", "the answer", "A and B", "B", "b",
    "(C)", "- Paris", "- b", "- $b", "...", "", "  ", "é", "an", "K", "A only, not B", "None of the above.", "答案", "x.y",
    "“”", "a*b", "[ab]+", "- -", "Rome ", "ROME", "<answer>", "ς", "İ",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A text, and the options that it chose from."""

    raw: str
    options: list[str]


def asked(count: int, *, seed: int = 24) -> list[Asked]:
    """So many of them; most are of four options."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    found = []
    for _ in range(count):
        parts = chance.choices(PARTS, k=chance.choice((1, 2, 3, 4, 6, 8, 12, 20)))
        if chance.random() < 0.15:
            parts.insert(chance.randrange(len(parts) + 1), chance.choice(OPTIONS))
        sizes = (2, 3, 5, 10, 23)
        size = 4 if chance.random() < 0.8 else chance.choice(sizes)
        glue = chance.choice(("", "", " "))
        found.append(Asked(glue.join(parts), chance.choices(OPTIONS, k=size)))
    return found
