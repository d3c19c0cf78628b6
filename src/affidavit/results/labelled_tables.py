"""All tables about labels by people: what they said, how far it is what judges say, and what it corrects."""

from collections.abc import Iterator

from affidavit.results.corrected_readings import reading_tables
from affidavit.results.corrected_tables import judge_tables
from affidavit.results.counting import RecordSet, groups
from affidavit.results.groups import identity
from affidavit.results.label_set import LabelSet
from affidavit.results.label_tables import label_tables
from affidavit.results.labelled_judging import LabelledJudging
from affidavit.results.table import Table


def labelled_tables(records: RecordSet, labels: LabelSet, judging: LabelledJudging | None) -> Iterator[Table]:
    """Every table that has rows; none where nobody was asked, and nobody has said anything."""
    if not labels.questions:
        return
    foot = identity(groups(records))
    yield from label_tables(labels, judging, seed=records.seed, foot=foot)
    if judging is not None:
        yield from judge_tables(judging, records.by)
    yield from reading_tables(records, labels, foot)
