"""Outputs that came from elsewhere."""

import json
from collections.abc import Mapping
from pathlib import Path

from support.studies import QUICK, toml

NAMES = ("question_id", "prompt_variant", "target_model", "output_id")


TASK = "Say some fine words."


def row(
    question: str = "Q1", variant: str = "A", target: str = "m", output: str = "o1", raw: object = "Fine words."
):
    """An output with the words of its task."""
    values = (question, variant, target, output, raw, TASK)
    return dict(zip((*NAMES, "raw_output", "prompt"), values, strict=True))


def bare(*names: str, **given: object):
    """An output alone, without the words of its task."""
    return {name: value for name, value in row(*names, **given).items() if name != "prompt"}


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def write_models(folder: Path, url: str, **models: Mapping) -> Path:
    tables = {"models": models or {"j": {}}, "limits": {**QUICK, "attempts": 1}}
    tables["models"] = {name: {"base_url": url, **each} for name, each in tables["models"].items()}
    (folder / "models.toml").write_text("\n".join(toml(tables)))
    return folder / "models.toml"
