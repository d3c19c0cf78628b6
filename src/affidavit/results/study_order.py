"""In which order rows stand on the page: that of the study's own file, with controls first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from affidavit.archive.study_directory import PlannedStudy
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.results.values import Value


@dataclass(frozen=True)
class StudyOrder:
    """The places of names; a name that has none comes after those that do, by the alphabet."""

    tasks: Sequence[str] = ()
    models: Sequence[str] = ()
    conditions: Sequence[str] = ()
    controls: Mapping[str, str] = field(default_factory=dict)
    """Conditions with the control that they are compared with."""

    @classmethod
    def of(cls, frozen: Mapping[str, Sequence[str]], controls: Mapping[str, str]) -> "StudyOrder":
        """The order that was frozen with a study, if it was."""
        tasks, models, conditions = (tuple(frozen.get(name, ())) for name in ("tasks", "models", "conditions"))
        return cls(tasks, models, conditions, dict(controls))

    def key(self, column: str, value: str) -> tuple[bool, int, str]:
        """Where a value of a column stands, as a key to sort by.

        >>> order = StudyOrder(models=("small", "large"), controls={"firm": "free"})
        >>> sorted(["large", "small", "odd"], key=lambda name: order.key("model", name))
        ['small', 'large', 'odd']
        >>> sorted(["firm", "authority", "free"], key=lambda name: order.key("condition", name))
        ['free', 'authority', 'firm']
        """
        known = {"task": self.tasks, "model": self.models, "target": self.models, "condition": self.conditions,
                 "variant": self.conditions}.get(column, ())  # fmt: skip
        later = column == "condition" and value not in self.controls.values() and bool(self.controls)
        return later, known.index(value) if value in known else len(known), value

    def sorted(self, column: str, values: Iterable[str]) -> list[str]:
        """Distinct values in this order."""
        return sorted(dict.fromkeys(values), key=lambda value: self.key(column, value))

    def rows_of(self, table: Table) -> Table:
        """A table whose first columns name its rows, with the rows in this order."""
        names = []
        for column in table.columns:
            if column not in ("task", "model", "condition", "target", "variant"):
                break
            names.append(column)
        if not names:
            return table

        def place(row: tuple[Value, ...]) -> list[tuple[bool, int, str]]:
            return [self.key(name, str(value)) for name, value in zip(names, row, strict=False)]

        return replace(table, rows=tuple(sorted(table.rows, key=place)))


def order_of(results: StudyResults) -> StudyOrder:
    """The order of a study's rows, as it was frozen."""
    frozen = results.frozen
    return StudyOrder.of(frozen.order if isinstance(frozen, PlannedStudy) else {}, results.controls)
