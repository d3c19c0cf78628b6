"""Texts for the laws: anything at all, and texts made of the parts that contracts look for."""

import random

from hypothesis import strategies as st

WHITESPACE = list(filter(str.isspace, map(chr, range(0x110000))))
NEARLY_WHITESPACE = ["\u200b", "\ufeff", "\u180e", "\u2060", "\0"]
LINE_BREAKS = ["\n", "\r\n", "\r", "\u2028", "\v", "\f", "\x85", "\x1c"]

any_text = st.text(st.characters())  # surrogates included
blanks = st.lists(st.sampled_from(WHITESPACE), max_size=4).map("".join)


def made_of(*parts: str, most: int = 12) -> st.SearchStrategy[str]:
    """Texts that string parts together, with anything between them now and then."""
    pieces = st.one_of(
        st.sampled_from(parts),
        st.sampled_from(parts),
        st.sampled_from(WHITESPACE + NEARLY_WHITESPACE),
        st.text(st.characters(), max_size=3),
    )
    return st.lists(pieces, max_size=most).map("".join)


def random_texts(*parts: str, count: int, seed: int, most: int = 12) -> list[str]:
    """So many texts as `made_of` makes them, the same every time; none has lone surrogates, which no column holds.

    A law that looks at tens of thousands of texts takes them from here: drawing them for Hypothesis, which could
    make a failing one smaller, takes longer than reading them.
    """
    chance = random.Random(seed)  # noqa: S311
    blank = WHITESPACE + NEARLY_WHITESPACE

    def character() -> str:
        code = chance.randrange(chance.choice((0x80, 0x100, 0x3000, 0xD800, 0x110000)))
        return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"

    def piece() -> str:
        match chance.randrange(4):
            case 0:
                return chance.choice(blank)
            case 1:
                return "".join(character() for _ in range(chance.randint(0, 3)))
            case _:
                return chance.choice(parts)

    return ["".join(piece() for _ in range(chance.randint(0, most))) for _ in range(count)]


CHOICE_PARTS = (
    "<answer>", "</answer>", "<ANSWER>", "</Answer>", "<answer>B</answer>", "A", "B", "b", "E", "X", "</think>",
    "<think>", "(", ")", ".", ":", "*", "**", "`", " ", "\n", "ſ",
)  # fmt: skip
choice_texts = made_of(*CHOICE_PARTS)
label_texts = made_of(
    "<answer>", "</answer>", "<ANSWER>", "</Answer>", "<answer>b, a</answer>", "a", "b", "A", "none", "None", "a b", "c",
    ",", ", ", ",,", "</think>", "<think>", "<answer", ".", " ", "\n", "ſ",
)  # fmt: skip
GAME_PARTS = (
    "<answer>", "</answer>", "Output:", "= 24", "=24.", "=", "4", "9", "10", "13", "0", "+", "-", "*", "/", "(", ")",
    "(13-9)*(10-4)", "4+9+10+13", " ", *LINE_BREAKS, "->",
)  # fmt: skip
game_texts = made_of(*GAME_PARTS)
number_texts = made_of(
    "<answer>", "</answer>", "<answer>72</answer>", "<ANSWER>", "</Answer>", "</think>", "####", "\n#### 72", "Answer:",
    "answer:", "\\boxed{", "72", "1,072", "0.50", "-3", "+", "-", "$", "km", "%", "apples", ",", ".", "e", "/", " ",
    "\u2212", *LINE_BREAKS,
)  # fmt: skip
quote_texts = made_of(
    "…", "...", "[...]", "(…)", "“", "”", '"', "'", "’", "—", "-", "ﬁ", "fi", "e\u0301", "é", "\u0301", "漢字", "かな",
    "한", "\u1112\u1161\u11ab", "the quick", "brown fox", " ", "\n", "ﷺ", "\U000110a5\U000110ba", "😀",
)  # fmt: skip
