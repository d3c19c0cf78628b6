"""Files that `affidavit export` wrote, as logs: `audit` and `import` take them like those of any harness.

What the source of a study's outputs said stands in the rows of its records: the words are made of that again, as
they stood. The study's own reading is no word of a source. A score that is no number counts nothing here, and so
no figure is made of an export's rows.
"""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from affidavit.errors import InputError
from affidavit.exchange.log import Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.own_exports import OwnExport, source_if_export
from affidavit.json_values import Fields, canonical
from affidavit.reading.source import Row
from affidavit.reading.sources import format_of, rows_of

_NOT_ONE = "a row of an export"
_OWN = frozenset(("id", "model", "condition", "task", "sample", "raw_output", "prompt", "answer", "verbatim"))
_WORDS = frozenset(
    ("source_scorer", "source_answer", "source_correct", "source_score", "source_no_answer", "source_word_about",
     "source_words", "source_error", "source_other_texts")
)  # fmt: skip
"""What a row keeps of its source, and what is made of it again; all else stays as it is."""


def log_if_export(path: Path) -> Log | None:
    """The outputs of a file that an export wrote, as a log; None if it is none."""
    export = source_if_export(path)
    if export is None:
        return None
    note = "an export of a study: what the study itself read of its outputs is no word of a source"
    return Log(
        path=path,
        format=f"an export ({format_of(export.file).name})",
        task=path.stem,
        outputs=partial(_outputs, export),
        notes=(note,),
    )


def _outputs(export: OwnExport) -> Iterator[LoggedOutput]:
    for row in rows_of(export):
        place = row.where.removeprefix(f"{export.name}:")
        yield _output(row, f"line {place}" if place.isdecimal() else place)


def _output(row: Row, place: str) -> LoggedOutput:
    fields = row.fields
    try:
        return _as_it_was(fields, place)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(row.where, expected=_NOT_ONE, found="one that was changed") from error


def _as_it_was(fields: Fields, place: str) -> LoggedOutput:
    raw, answer, why = fields["raw_output"], fields.get("answer"), _kind(fields)
    # A word that found nothing in a text is about the text; all else is about what never came, or came in part. A
    # row has one kind for both, that of the output if it has any.
    is_of_word = why is NoAnswer.SENTINEL and raw is not None
    words, no_answer = tuple(map(_word, _words_of(fields, is_of_word=is_of_word))), None if is_of_word else why
    rest = {name: value for name, value in fields.items() if name not in _OWN | _WORDS}
    if answer is not None and not isinstance(answer, str):
        rest["answer"] = answer  # as the contract of the study had it
    return LoggedOutput(
        place=place,
        item_id=_text(fields["id"]),
        model=_text(fields["model"]),
        raw_output=None if raw is None else _text(raw),
        verbatim=fields.get("verbatim") is not False,
        sample=_number(fields["sample"]),
        condition=_known(fields["condition"]),
        task=_known(fields["task"]),
        prompt=_known(fields.get("prompt")),
        answer=answer if answer is None or isinstance(answer, str) else canonical(answer).decode(),
        error=_known(fields.get("source_error")),
        no_answer=no_answer or (NoAnswer.MISSING if raw is None else None),
        words=words,
        other_texts=_others(fields.get("source_other_texts")),
        columns=rest,
    )


def _words_of(fields: Fields, *, is_of_word: bool) -> list[Mapping[str, object]]:
    """What each scorer said; the fields of the row are the first of them."""
    several = fields.get("source_words")
    if several is not None:
        if not isinstance(several, list):
            raise TypeError(several)
        return several
    if "source_scorer" not in fields:
        return []
    return [fields if is_of_word else {**fields, "source_no_answer": None}]


def _word(said: Mapping[str, object]) -> SourceWord:
    answer, correct, score = (said.get(f"source_{name}") for name in ("answer", "correct", "score"))
    if not isinstance(correct, bool | None):
        raise TypeError(correct)
    return SourceWord(
        scorer=_text(said["source_scorer"]),
        answer=_known(answer),
        correct=correct,
        points=_points(score, correct=correct),
        score=score,
        no_answer=_kind(said),
        about_item=said.get("source_word_about") == "item",
    )


def _kind(said: Mapping[str, object]) -> NoAnswer | None:
    why = said.get("source_no_answer")
    return None if why is None else NoAnswer(_text(why))


def _points(score: object, *, correct: bool | None) -> float | None:
    """What a score counts: a number itself, and what has none what its verdict says."""
    if isinstance(score, int | float) and math.isfinite(score):
        return float(score)
    return float(correct) if correct is not None else None


def _others(texts: object) -> dict[str, str]:
    if texts is None:
        return {}
    if not isinstance(texts, dict):
        raise TypeError(texts)
    return {_text(name): _text(text) for name, text in texts.items()}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _known(value: object) -> str | None:
    return None if value is None else _text(value)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(value)
    return value
