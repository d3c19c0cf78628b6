"""A judged study whose judge errs in a known way, and people who label some of its outputs.

Outputs come from elsewhere: two targets, `able` and `weak`, answer every question under two variants. What people
would say of an output follows from its name, and so does what the judge says: it knows most of the truth, and is
kind to `weak`.
"""

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path

from support.command import affidavit
from support.fault_server import Call, FaultServer, says
from support.outputs_elsewhere import row, write_jsonl, write_models
from support.scripted_judge import Always, evaluation, judge_prompt
from support.studies import fine, records

TARGETS, VARIANTS = {"able": 0.7, "weak": 0.4}, ("A", "B")
"""How often each deserves a PASS."""
_KINDNESS = {"able": 0.05, "weak": 0.35}
"""How often the judge lets a bad output of each pass."""
_HARSHNESS = 0.1


def chance(*names: object) -> float:
    return random.Random(json.dumps(names)).random()  # noqa: S311


def deserves(output: str) -> bool:
    """Whether people give this output a PASS; a FAIL otherwise."""
    return chance("truth", output) < TARGETS[output.split("-", maxsplit=1)[0]]


def passes(output: str) -> bool:
    """Whether the judge does."""
    if deserves(output):
        return chance("judge", output) >= _HARSHNESS
    return chance("judge", output) < _KINDNESS[output.split("-", maxsplit=1)[0]]


def words(output: str) -> str:
    return f"This is {output}.\nIt says no more."


async def the_judge(call: Call) -> None:
    prompt = judge_prompt(call.asked.prompt)
    assert prompt is not None
    line = prompt.output.partition("\n")[0]
    scores = (2, 2, 2, 2) if passes(line.removeprefix("This is ").rstrip(".")) else (0, 1, 0, 1)
    await says(json.dumps(evaluation(prompt.meta, line, scores)))(call)


def outputs(questions: int) -> list[str]:
    return [f"{target}-{variant}-{n}" for n in range(questions) for variant in VARIANTS for target in TARGETS]


def judged_outputs(folder: Path, questions: int = 50) -> Path:
    """The directory of the study, judged and sealed."""
    folder.mkdir(exist_ok=True)
    rows = [
        row(f"q{output.split('-')[2]}", output.split("-")[1], output.split("-")[0], output, words(output))
        for output in outputs(questions)
    ]
    write_jsonl(folder / "outputs.jsonl", rows)
    with FaultServer(Always(the_judge)) as server:
        write_models(folder, server.url, j={"connections": 16})
        options = ("--out", "judged", "--judge", "j", "--models", "models.toml", "--no-page", "--json")
        assert fine(affidavit("judge", "outputs.jsonl", *options, cwd=folder), 0)
    return folder / "judged"


def sheet(path: Path) -> list[dict[str, str]]:
    """The rows of a sheet that was drawn."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def name_in(text: str) -> str:
    """Which output a text is."""
    return text.partition("\n")[0].removeprefix("This is ").rstrip(".")


def keys_of(directory: Path) -> dict[str, str]:
    """The key of every output, by its name."""
    found = records(directory)
    return {name_in(each["raw_output"]): each["key"] for each in found if each["kind"] == "response"}


def filled(rows: Iterable[dict[str, str]], rater: str = "anna", *, errs: float = 0.0) -> list[dict[str, str]]:
    """The rows as a person fills them in, who errs now and then."""
    said = []
    for each in rows:
        name = name_in(each["text"])
        good = deserves(name) != (chance(rater, name) < errs)
        said.append({**each, "value": "PASS" if good else "FAIL", "rater": rater, "date": "2026-01-31"})
    return said


def write_sheet(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
