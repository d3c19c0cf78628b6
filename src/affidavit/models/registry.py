"""The model that a table of a study stands for."""

from pathlib import Path

from affidavit.models.embedded import Embedded
from affidavit.models.model import Model
from affidavit.models.openai_compatible import OpenAICompatible
from affidavit.models.replay import Replay
from affidavit.models.settings import Limits, ModelTable


def chosen(name: str, table: ModelTable, limits: Limits, *, beside: Path, weights: Path | None) -> Model:
    """A server, another study's answers, or a file of weights that runs here; paths are meant from `beside`."""
    if table.replay:
        return Replay(name, beside / table.replay, table.model or name)
    if weights is not None:
        return Embedded(
            name,
            weights,
            limits,
            slots=table.slots,
            context=table.context,
            threads=table.threads,
            body=table.body,
        )
    return OpenAICompatible(name, table, limits)
