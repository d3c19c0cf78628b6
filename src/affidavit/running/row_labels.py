"""Labels that came with the rows of outputs, put on the record beside them: never drawn (ruling S10).

Rows are looked through before anything is kept, so that what is wrong is told by file and line. The labels are
then read from the rows as the record has them, in a walk of their own: whoever was killed between outputs and
labels runs the same command again, and memory grows with labels alone.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from affidavit.archive.disk import Disk
from affidavit.archive.record import ImportIdentity, Label, Record, Response
from affidavit.archive.seal import Seal
from affidavit.archive.study_directory import ImportedStudy, StudyDirectory
from affidavit.contracts.rubric import Rubric
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.json_values import Fields, shown
from affidavit.judging.directory import read_judging
from affidavit.judging.label_columns import LabelColumns, RowLabels
from affidavit.judging.label_names import text_sha256
from affidavit.judging.label_questions import LabelValue
from affidavit.plain_text import counted_noun
from affidavit.reading.json_cells import json_cells
from affidavit.reading.source import Row
from affidavit.running.labelled_study import LabelPlace, append_labels, refuse_unsealed, sealed_again


@dataclass(frozen=True)
class KeptLabels:
    """What came of the labels of rows."""

    added: int
    there: int
    """Those that were on the record already."""
    without_output: int
    """Labels of rows whose text is null: there is no output that they could be about."""
    seal: Seal

    def as_json(self) -> Fields:
        """The same as JSON values."""
        counts = {"added": self.added, "there": self.there, "without_output": self.without_output}
        return {**counts, "labels_sha256": self.seal.labels_sha256}

    def in_words(self) -> list[str]:
        """What a person is told of them, a line each."""
        there = f"; {self.there:,} on the record already" if self.there else ""
        lost = f"; {self.without_output:,} of rows without a text left out" if self.without_output else ""
        return [
            f"{counted_noun(self.added, 'label')} by people kept{there}{lost}",
            "  they were not drawn: they count for agreement, confusion and bias, and correct no figure",
            f"  labels' digest {self.seal.labels_sha256 or 'of none'}",
        ]


def check_rows(rows: Iterable[Row], labels: RowLabels) -> None:
    """Refuse the first label of rows that cannot be, and a column that no row has."""
    open_still, first = labels.paths, Fields()
    for row in rows:
        first = first or row.fields
        fields = json_cells(row.fields, where=row.where)
        for _ in labels.of(fields, where=row.where):
            pass
        if open_still:
            open_still = [(option, path) for option, path in open_still if not path.is_in(fields)]
    for option, path in open_still:
        expected = f"a column of the rows: {', '.join(first)}"
        raise UsageError(option, expected=expected, found=repr(path.text), hint=did_you_mean(path.text, first))


def check_recorded(directory: StudyDirectory, labels: RowLabels) -> None:
    """The same for the rows that a study's record has; and none of them may differ from a label that is there."""
    if not isinstance(directory.frozen(), ImportedStudy):
        hint = "Add labels of other outputs from a file: `affidavit label add`."
        expected = "outputs that came from elsewhere, whose rows hold labels"
        raise UsageError("--label", expected=expected, found="a study that was asked here", hint=hint)
    found = _Found(directory, labels)
    check_rows(found.rows(directory.records()), labels)
    found.new()


def keep_row_labels(directory: StudyDirectory, columns: LabelColumns, disk: Disk) -> KeptLabels:
    """Have the labels of all rows on the record, sealed; the caller holds the directory's lock."""
    seal = refuse_unsealed(directory, directory.seal(), 0)
    found = _Found(directory, RowLabels(columns, frozen_rubric(directory)))
    with closing(directory.archive(disk)) as archive:
        outputs = 0
        for number, line in enumerate(archive.recover(), 1):
            outputs = outputs if isinstance(line.record, Label) else number
            found.see(line.record)
        refuse_unsealed(directory, seal, outputs)
        new = found.new()
        append_labels(archive, new)
        seal = sealed_again(directory, archive, seal)
    return KeptLabels(len(new), len(found.wanted) - len(new), found.without_output, seal)


def frozen_rubric(directory: StudyDirectory) -> Rubric | None:
    """By which a study is judged; None if it is not."""
    judging = read_judging(directory) if directory.is_study else None
    return None if judging is None else judging.terms.rubric


class _Found:
    """The labels in the rows of a record, and those that stand beside them."""

    def __init__(self, directory: StudyDirectory, labels: RowLabels) -> None:
        self._directory = directory
        self._labels = labels
        self.wanted: list[Label] = []
        self.without_output = 0
        self._there: dict[LabelPlace, list[LabelValue]] = {}
        """All that a rater ever said of an output: what was corrected since was said all the same."""

    def see(self, record: Record) -> None:
        """One more record, in the order of the journal."""
        if isinstance(record, Label):
            place = record.labelled_key, record.about, record.rater
            self._there.setdefault(place, []).append(record.value)
        elif isinstance(record.subject, ImportIdentity):
            said = list(self._labels.of(record.subject.row, where=self._place(record.key)))
            if not isinstance(record, Response):
                self.without_output += len(said)
            elif said:
                text = text_sha256(record.raw_output)
                self.wanted += [
                    Label(record.key, each.about, each.value, each.rater, each.date, text, each.column)
                    for each in said
                ]

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """The rows among records, all of which are seen."""
        for number, record in enumerate(records, 1):
            self.see(record)
            if not isinstance(record, Label) and isinstance(record.subject, ImportIdentity):
                yield Row(self._place(record.key), number, record.subject.row)

    def new(self) -> list[Label]:
        """Those that are not on the record yet; refused if a rater said something else there."""
        new = []
        for label in self.wanted:
            before = self._there.get((label.labelled_key, label.about, label.rater), [])
            if not before:
                new.append(label)
            elif all((type(each), each) != (type(label.value), label.value) for each in before):
                by, last = shown(label.rater), shown(before[-1])
                expected = f"no label of {label.about} that differs from one of {by} on the record: {last}"
                hint = "Is it another person's? Name them: --rater. Corrections come by `affidavit label add`."
                raise InputError(
                    self._place(label.labelled_key), expected=expected, found=shown(label.value), hint=hint
                )
        return new

    def _place(self, key: str) -> str:
        return f"{self._directory}: output {key[:16]}…"
