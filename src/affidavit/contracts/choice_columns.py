"""mcqa/1 over a whole column of texts: equal to `read` row by row, for every text that a column can hold.

>>> read_choices(pl.Series(["<answer>B</answer>", "B. Paris", None]), "A-D").rows()
[(True, 'B', None), (False, None, 'option_text'), (None, None, None)]
"""

from collections.abc import Iterator

import polars as pl

from affidavit.contracts.column_diagnoses import (
    BLANK,
    Diagnoses,
    Part,
    Tagged,
    by_opening_tag,
    diagnose_broken,
    diagnose_unopened,
)
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END, Deviation
from affidavit.contracts.whitespace import WHITESPACE

_TAG_BYTES = len(f"{OPENING}A{CLOSING}")


def read_choices(raw: pl.Series, options: str, *, deviations: bool = True) -> pl.DataFrame:
    """Compliance, answer and, unless they are left out, deviations of a column of outputs.

    Texts are first told apart by their length and by where they sort, which costs next to nothing; only the
    few that can still be the padded tag are trimmed.
    """
    chosen = [chr(code) for code in range(ord(options[0]), ord(options[-1]) + 1)]
    tags = pl.DataFrame({"text": [f"{OPENING}{letter}{CLOSING}" for letter in chosen]})
    tags = tags.with_columns(letter=pl.Series(chosen))
    rows = pl.int_range(len(raw), eager=True, dtype=pl.UInt32)
    size = raw.str.len_bytes()
    letters = pl.Series([None], dtype=pl.String).new_from_index(0, len(raw))
    every = Part(rows, raw)
    part = Part.of_all([every.where(size == _TAG_BYTES), *_padded(every.where(size > _TAG_BYTES))])
    known = part.texts.to_frame("text").join(tags, on="text", how="left", maintain_order="left")
    letters = letters.scatter(part.rows, known["letter"])
    answered = letters.is_not_null()
    frame = pl.DataFrame({"protocol_compliant": answered, "extracted_answer": letters})
    if deviations:
        frame = frame.with_columns(_deviations(every.where(~answered), options, len(raw)))
    return frame if raw.null_count() == 0 else frame.with_columns(pl.when(raw.is_not_null()).then(pl.all()))


def _padded(part: Part) -> Iterator[Part]:
    """The texts that could be the tag with whitespace around it, trimmed.

    Such a text begins with whitespace, all of which sorts before `!` or after `~`; or it begins as the tag does
    and ends with whitespace.
    """
    begins_as_tag = part.where((part.texts > OPENING[:2]) & (part.texts < "<b"))
    last = begins_as_tag.texts.str.tail(1)
    for found in (
        part.where((part.texts < "!") | (part.texts > "~")),
        begins_as_tag.where((last < "!") | (last > "~")),
    ):
        yield Part(found.rows, found.texts.str.strip_chars(WHITESPACE))


def _deviations(part: Part, options: str, height: int) -> pl.Series:
    """The diagnosis of every row of the part, by the closed list of ruling M4."""
    found = Diagnoses(height, Deviation)
    tagged, rest = by_opening_tag(part)
    _diagnose_tagged(tagged, options, found)
    diagnose_unopened(rest, options, found)
    return found.names()


def _diagnose_tagged(part: Tagged, options: str, found: Diagnoses) -> None:
    """Settle texts with an opening tag."""
    block = f"{OPENING}[{options}]{CLOSING}"
    count = part.tails.texts.str.count_matches(block)
    whole, whole_count = part.where(count > 0), count.filter(count > 0)
    after_think = whole.matching(rf"{THINK_END}{BLANK}*{block}{BLANK}*\z")
    rest = found.sift(whole, Deviation.REASONING_THEN_ANSWER, after_think)
    several = found.sift(rest, Deviation.TEXT_AROUND, whole_count.filter(~after_think) == 1)
    different = several.texts.str.extract_all(block).list.n_unique() > 1
    found.settle(found.sift(several, Deviation.CONFLICTING_ANSWERS, different), Deviation.REPEATED_ANSWER)
    diagnose_broken(part.where(count == 0), options, found)
