"""What other harnesses really read, kept in golden/read_by_NAME.jsonl; `make interop` asks the packages anew."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict

from affidavit.contracts.harness_readings import (
    InspectChoice,
    KeyAndOptions,
    LmEvalFlexible,
    OpenCompassFirstOption,
)
from affidavit.contracts.mcqa import LETTERS, MultipleChoice
from support.golden_files import GOLDEN
from support.harness_texts import Asked
from support.pages import ROOT

LENSES = {"inspect": InspectChoice, "lm_eval": LmEvalFlexible, "opencompass": OpenCompassFirstOption}
WITH, WITHOUT = 130, 70
"""How many texts are kept that hold an answer by the rule, and how many that do not."""


def ours(name: str, asked: Asked) -> str | None:
    """What our reading of that name takes from a text."""
    lens = LENSES[name](MultipleChoice(f"A-{LETTERS[len(asked.options) - 1]}"))
    return lens.read(asked.raw, KeyAndOptions(None, tuple(asked.options))).extracted_answer


def theirs(name: str, asked: Sequence[Asked]) -> list[str | None]:
    """What the package itself takes from each, in its own environment."""
    python, script = (
        ROOT / ".venv-interop" / name / "bin" / "python",
        ROOT / "tests" / "support" / f"read_by_{name}.py",
    )
    given = "".join(f"{json.dumps(asdict(each))}\n" for each in asked)
    done = subprocess.run(
        [python, "-W", "ignore", script], input=given, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def as_text(asked: Sequence[Asked], answers: Sequence[str | None]) -> str:
    """The lines that are kept: the first texts with an answer and the first without, each of its own kind once."""
    lines, left = [], {True: WITH, False: WITHOUT}
    for each, answer in zip(asked, answers, strict=True):
        there = answer is not None
        if left[there] and len(each.options) <= 5:
            left[there] -= 1
            lines.append(json.dumps({**asdict(each), "answer": answer}))
    return "\n".join((*lines, ""))


def kept(name: str) -> list[tuple[Asked, str | None]]:
    """Texts, and what the package took from them."""
    rows = map(json.loads, (GOLDEN / f"read_by_{name}.jsonl").read_text().splitlines())
    return [(Asked(row["raw"], row["options"]), row["answer"]) for row in rows]
