"""`run_log.jsonl`: for every run, which models it used, with which parameters, and when it was."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from msgspec.structs import asdict

from affidavit.archive.disk import Disk, storage_errors
from affidavit.archive.layout import RUN_LOG
from affidavit.archive.provenance import git_state, machine, versions
from affidavit.json_values import Fields, canonical
from affidavit.models.model import Model
from affidavit.models.settings import ModelTable


class RunLog:
    """The log, for one run."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._path = directory / RUN_LOG
        self._disk = disk
        self._run = uuid4().hex

    def began(
        self,
        facts: Fields,
        models: Sequence[Model],
        tables: Mapping[str, ModelTable],
        requests: Mapping[str, Mapping[str, object]],
    ) -> None:
        """What the run sets out with; `requests` are those of each model without messages and seed (ruling C9)."""
        described = {
            model.name: {
                "model": table.model,
                "flavour": table.provider.flavour,
                "request": requests[model.name],
                **({} if table.price is None else {"price": asdict(table.price)}),
                **model.facts(),
            }
            for model in models
            for table in [tables[model.name]]
        }
        self._began(facts, described, {model.name: requests[model.name] for model in models})

    def began_import(self, facts: Fields, requests: Mapping[str, Mapping[str, object]]) -> None:
        """The same of an import of batch answers: who was asked what is known, but not where or when."""
        described = {name: {"model": request["model"], "request": request} for name, request in requests.items()}
        self._began(facts, described, requests)

    def _began(
        self, facts: Fields, described: Mapping[str, Fields], requests: Mapping[str, Mapping[str, object]]
    ) -> None:
        tools = {name: request.get("tools") for name, request in requests.items()}
        surroundings = {"versions": versions(), "git": git_state(Path.cwd()), "machine": machine()}
        self._add("began", {**facts, "models": described, "tools": tools, **surroundings})

    def ended(self, facts: Fields) -> None:
        """What it came to."""
        self._add("ended", facts)

    def _add(self, event: str, facts: Fields) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        with storage_errors(str(self._path)):
            file = self._disk.reopen_lines(self._path)
            try:
                self._disk.write(file, canonical({"run": self._run, "event": event, "at": at, **facts}) + b"\n")
            finally:
                self._disk.close(file)
