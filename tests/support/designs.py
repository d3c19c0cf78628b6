"""Studies with conditions: how they are written, and what their prompts showed."""

from collections.abc import Mapping
from pathlib import Path

from support.studies import laid_over, toml


def write(folder: Path, tables: Mapping, *changes: Mapping) -> None:
    """The study file of these tables, with others laid over them."""
    folder.mkdir(exist_ok=True)
    for changed in changes:
        tables = laid_over(tables, changed)
    (folder / "study.toml").write_text("\n".join(toml(tables)))


def options_shown(prompt: str) -> dict[str, str]:
    """Option by letter, as somebody reads it who sees the prompt."""
    return dict(line.split(". ", 1) for line in prompt.rpartition("\n\n")[2].split("\n"))


def letter_of(option: str, prompt: str) -> str:
    """Where an option is shown."""
    (letter,) = (each for each, text in options_shown(prompt).items() if text == option)
    return letter
