"""The right answer taken out of what a source keeps of it: `正确答案：B。` holds more than a letter."""

from dataclasses import dataclass
from functools import cached_property

from affidavit.contracts.pattern import Pattern
from affidavit.errors import InputError
from affidavit.json_values import Fields, shown
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import ANSWER

AS_IT_STANDS = "source_right_answer"
"""Where a row keeps what its right answer was taken out of."""


@dataclass(frozen=True)
class AnswerPattern:
    """What a whole right answer must match, the answer being its group of that name.

    >>> AnswerPattern("正确答案：(?P<answer>[A-D])。").of({"answer": "正确答案：B。"}, where="row 1")
    {'answer': 'B', 'source_right_answer': '正确答案：B。'}
    """

    pattern: str
    column: str = ANSWER

    def __post_init__(self) -> None:
        """Refuse what is no pattern before anything is read."""
        _ = self._reads

    @cached_property
    def _path(self) -> ColumnPath:
        return ColumnPath(self.column)

    @cached_property
    def _reads(self) -> Pattern:
        return Pattern("right answers", 1, self.pattern, "")

    def of(self, row: Fields, *, where: str) -> Fields:
        """The row with the answer alone in its column; InputError where nothing matches."""
        said = self._path.of(row)
        if said is None:
            return row
        found = self._reads.read(said).extracted_answer if isinstance(said, str) else None
        if found is None:
            expected = f"a right answer that --answer-pattern {self.pattern} matches"
            raise InputError(where, expected=expected, found=shown(said))
        return {**row, self.column: found, **({} if found == said else {AS_IT_STANDS: said})}
