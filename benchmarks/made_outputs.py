"""Outputs of models, made up: the mixture of texts that benchmarks of multiple choice read."""

import random
from collections.abc import Iterator

LONG = 1530
"""Characters of a long text on average, so that all outputs together have 770 bytes on average."""
# Per cent of the outputs, and the shapes that these have.
SHAPES = (
    (30, ("{tag}",)),
    (10, ("{blank}{tag}{blank}", "{blank}{tag}", "{tag}{blank}")),
    (25, ("<think>{long}</think>\n\n{tag}", "{long}\n\n{tag}")),
    (
        5,
        (
            "<answer> {letter} </answer>",
            "<ANSWER>{letter}</ANSWER>",
            "<answer>G</answer>",
            "<answer>It is {letter}</answer>",
        ),
    ),
    (
        5,
        (
            "{long}<answer>{letter}\n</answer>",
            "{long}<Answer>{letter}</Answer>",
            "{long}<answer>H</answer>",
            "{long}<answer>It is {letter}</answer>",
        ),
    ),
    (10, ("{long}\n<answer>{letter}",)),
    (15, ("{long}", "{long}", "{letter}. {long}", "{letter}. Paris", "**{letter}**")),
)


class Outputs:
    """An endless mixture of outputs: strict, padded, reasoned, malformed, unclosed, plain prose."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        letters = "eeetaoinshrdlu"
        words = ["".join(self._chance.choices(letters, k=self._chance.randint(1, 9))) for _ in range(3000)]
        drawn = self._chance.choices(words, k=1_500_000)
        # Some line breaks and quotes, which JSON escapes; about one long text in seven is not ASCII.
        drawn[::23] = [f"{word}." for word in drawn[::23]]
        drawn[::90] = [f'"{word}".\n' for word in drawn[::90]]
        drawn[::1499] = ["naïve –"] * len(drawn[::1499])
        self._prose = " ".join(drawn)

    def __iter__(self) -> Iterator[str]:
        shapes = [shape for _, some in SHAPES for shape in some]
        weights = [share / len(some) for share, some in SHAPES for _ in some]
        while True:
            yield from (shape.format_map(self) for shape in self._chance.choices(shapes, weights, k=1000))

    def __getitem__(self, piece: str) -> str:
        match piece:
            case "long":
                size = int(self._chance.gammavariate(2, LONG / 2))
                start = self._chance.randrange(len(self._prose) - size)
                return self._prose[start : start + size].lstrip()
            case "blank":
                return self._chance.choice((" ", "\n", "\n\n", "  ", "\r\n", "\t", "\u00a0"))
            case _:
                letter = self._chance.choice("ABCD")
                return letter if piece == "letter" else f"<answer>{letter}</answer>"
