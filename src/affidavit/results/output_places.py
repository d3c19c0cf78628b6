"""Where each output of a study stands: what labels are of, whether a judge has judged it or not."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from affidavit.results.counting import RecordSet
from affidavit.results.judging import Evaluation, JudgingFigures


class OutputPlace(NamedTuple):
    """One output: which cell it is of, and what it varies with."""

    task: str
    model: str
    variant: str
    cluster: Hashable
    """Its question, or what stands above that (ruling S8)."""


@dataclass(frozen=True)
class OutputPlaces:
    """All outputs by their keys."""

    of: Mapping[str, OutputPlace]

    @classmethod
    def in_records(cls, records: RecordSet) -> "OutputPlaces":
        """Those of a study's records."""
        wanted = ("key", "task", "model", "condition", records.cluster)
        rows = records.outputs().select(*dict.fromkeys(wanted)).collect(engine="streaming")
        columns = [rows[name].to_list() for name in wanted]
        return cls(
            {
                key: OutputPlace(task, model, variant, (task, cluster))
                for key, task, model, variant, cluster in zip(*columns, strict=True)
            }
        )

    def cluster(self, evaluation: Evaluation) -> Hashable:
        """What a judged output varies with."""
        place = self.of.get(evaluation.output)
        return evaluation.cluster if place is None else place.cluster

    def of_targets(self, figures: JudgingFigures, by: Sequence[str]) -> Mapping[tuple[str, ...], Sequence[str]]:
        """The outputs of judged tasks, judged or not, by the task, target or variant that they are of."""
        targets = {
            place.model: each.target
            for each in figures.primary.given
            if (place := self.of.get(each.output)) is not None
        }
        found: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for key, place in self.of.items():
            if place.model in targets and place.task in figures.tasks:
                names = {"task": place.task, "target": targets[place.model], "variant": place.variant}
                found[tuple(names[name] for name in by)].append(key)
        return found
