"""Where the sheets of a draw go: looked at before anything is frozen, and never over what somebody filled in.

A sheet that is there byte for byte is passed over, so that whoever was killed between two of them runs the same
command again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import to_builtins

from affidavit.archive.disk import new_file, refuse_study, storage_errors
from affidavit.errors import UsageError
from affidavit.json_values import digest
from affidavit.judging.label_draws import LabelDraw
from affidavit.results.label_sheets import rubric_name, rubric_text, sheet_csv, sheet_name
from affidavit.results.page.label_form import label_form
from affidavit.running.label_draw import LabelSheet


class SheetFolder:
    """A directory for the sheets of one draw; NAME-labels without a name, or the first of it with a number."""

    def __init__(self, study: Path, place: Path | None = None) -> None:
        """`study`: the directory of the study, in which no sheet may be."""
        self._study = study.resolve()
        self._named = place
        self._place = place or Path(f"{self._study.name}-labels")
        self._contents: dict[str, bytes] = {}

    @property
    def paths(self) -> list[Path]:
        """All files of the draw."""
        return [self._place / name for name in self._contents]

    def check(self, draw: LabelDraw, sheets: Sequence[LabelSheet]) -> None:
        """Choose the directory and make it; refused before anything is frozen if the sheets cannot be there."""
        self._contents = _contents(draw, sheets)
        first, number = self._place, 1
        self._refuse_odd_place()
        while self._named is None and not self._is_free(draw.about):
            number += 1
            self._place = first.with_name(f"{first.name}-{number}")
            self._refuse_odd_place()
        for path in self.paths:
            self._refuse_other(path)
        with storage_errors(str(self._place), hint="Nothing was drawn."):
            self._place.mkdir(parents=True, exist_ok=True)

    def write(self) -> None:
        """Write what is not there yet; the caller holds the lock of the study."""
        for path in self.paths:
            self._refuse_other(path)
            if not path.exists():
                with new_file(path) as stream:
                    stream.write(self._contents[path.name])

    def _refuse_odd_place(self) -> None:
        real = self._place.resolve()
        for above in (real, *real.parents):
            refuse_study(above)
        found = None
        if self._place.is_symlink():
            found = "a link"
        elif self._place.exists() and not self._place.is_dir():
            found = "a file"
        if found is not None:
            hint = "Nothing was drawn. Choose another directory: --out."
            raise UsageError(str(self._place), expected="a directory for sheets", found=found, hint=hint)

    def _is_free(self, about: str) -> bool:
        """Whether no sheet of the question is there, or one of these, and none that differs."""
        base = sheet_name(about, 1, 1)
        others = any(self._place.glob(f"{base}.*")) or any(self._place.glob(f"{base}-*"))
        there = [path for path in self.paths if path.exists()]
        return bool(there or not others) and all(map(self._is_written, there))

    def _is_written(self, path: Path) -> bool:
        """Whether the sheet is there, byte for byte."""
        if path.is_symlink() or not path.is_file():
            return False
        with storage_errors(str(path)):
            return path.read_bytes() == self._contents[path.name]

    def _refuse_other(self, path: Path) -> None:
        if path.is_symlink() or (path.exists() and not self._is_written(path)):
            hint = "Somebody may have filled it in. Choose another directory: --out."
            raise UsageError(str(path), expected="no other sheet there", found="one", hint=hint)


def _contents(draw: LabelDraw, sheets: Sequence[LabelSheet]) -> dict[str, bytes]:
    """Of each file of a draw, what is in it."""
    texts, of_draw = dict[str, str](), digest(to_builtins(draw))
    for sheet in sheets:
        name = sheet_name(sheet.question.about, sheet.rater, sheet.raters, sheet.draw)
        texts |= {f"{name}.csv": sheet_csv(sheet), f"{name}.html": label_form(sheet, draw_sha256=of_draw)}
        if rubric := rubric_text(sheet):
            texts[rubric_name(sheet.question.about, sheet.draw)] = rubric
    return _encoded(texts)


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
