"""How far the figures of one task and model lie apart over its conditions: sensitivity to format."""

from collections.abc import Mapping, Sequence

from affidavit.results.counting import RecordSet
from affidavit.results.groups import CELL, Group, identity
from affidavit.results.table import Table
from affidavit.results.values import Value

_MEASURES: Mapping[str, tuple[str, ...]] = {
    "compliance": ("compliant", "compliant", "non_compliant"),
    "accuracy over compliant": ("right", "compared"),
}


def range_table(records: RecordSet, groups: Sequence[Group]) -> Table | None:
    """The lowest and the highest compliance and accuracy over the conditions of a task; None with none to compare.

    Conditions with no figure have no place in a range. The range is of what was measured: noise alone has one too.
    """
    if not set(CELL) <= set(records.by):
        return None
    at, others = records.by.index("condition"), [name for name in records.by if name != "condition"]
    together: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        together.setdefault(group.names[:at] + group.names[at + 1 :], []).append(group)
    rows: list[tuple[Value, ...]] = []
    for names, many in together.items():
        for measure, of in _MEASURES.items():
            told = [(share, each.names[at]) for each in many if (share := each.share(*of)) is not None]
            if len(told) > 1:
                least = min(told, key=lambda each: (each[0].value, each[1]))
                most = min(told, key=lambda each: (-each[0].value, each[1]))
                apart = most[0].value - least[0].value
                lowest, highest = (least[1], most[1]) if apart else ("all alike", "all alike")
                rows.append((*names, measure, len(told), lowest, least[0], highest, most[0], apart))
    columns = ("measure", "conditions", "lowest under", "lowest", "highest under", "highest", "range")
    question = "How far apart are compliance and accuracy over the conditions of a task?"
    notes = ("The range grows with the number of conditions and with noise; `compare` tests a difference.",)
    table = Table("format sensitivity", question, (*others, *columns), tuple(rows), identity(groups), notes=notes)
    return table if rows else None
