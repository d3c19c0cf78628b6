"""mcqa-reasoned/1 over a whole column of texts: equal to `read` row by row, for every text that a column can hold.

>>> read_reasoned(pl.Series(["So B. <answer>B</answer>", "B. Paris", None]), "A-D").rows()
[(True, 'B', None, 14, 15), (False, None, 'option_text', None, None), (None, None, None, None, None)]
"""

import polars as pl

from affidavit.contracts.column_diagnoses import (
    Diagnoses,
    Part,
    Tagged,
    by_opening_tag,
    diagnose_broken,
    diagnose_unopened,
)
from affidavit.contracts.deviation import CLOSING, OPENING, THINK_END, ReasonedDeviation
from affidavit.contracts.whitespace import WHITESPACE

_BLOCK = len(f"{OPENING}A{CLOSING}")


def read_reasoned(raw: pl.Series, options: str) -> pl.DataFrame:
    """Compliance, answer, deviation and the answer's place of a column of outputs."""
    height, block = len(raw), f"{OPENING}[{options}]{CLOSING}"
    every = Part(pl.int_range(height, eager=True, dtype=pl.UInt32), raw.str.strip_chars_end(WHITESPACE))
    thinking = every.where(every.having(THINK_END))
    found = Diagnoses(height, ReasonedDeviation)
    tagged, untagged = by_opening_tag(_closing_parts(every, thinking))
    blocks = tagged.tails.texts.str.count_matches(block)
    letters = pl.Series([None], dtype=pl.String).new_from_index(0, height)
    answered = _answered(tagged.where(blocks > 0), blocks.filter(blocks > 0), block, found)
    letters = letters.scatter(answered.rows, answered.texts)
    # From here on, no text has a well-formed block in the part that counts.
    tried = pl.repeat(value=False, n=height, dtype=pl.Boolean, eager=True)
    tried = tried.scatter(thinking.rows, thinking.matching(block))
    broken = tagged.where(blocks == 0)
    broken = found.sift(broken, ReasonedDeviation.ANSWER_IN_REASONING, tried.gather(broken.rows))
    diagnose_broken(broken, options, found)
    untagged = found.sift(untagged, ReasonedDeviation.ANSWER_IN_REASONING, tried.gather(untagged.rows))
    untagged = found.sift(untagged, ReasonedDeviation.EMPTY, every.texts.gather(untagged.rows) == "")
    untagged = found.sift(untagged, ReasonedDeviation.NOTHING_AFTER_REASONING, untagged.texts == "")
    diagnose_unopened(untagged, options, found)
    return _frame(raw, letters, found.names(), every.texts.str.len_chars())


def _closing_parts(every: Part, thinking: Part) -> Part:
    """Each text after its last `</think>`, which those that are thinking have (ruling M8)."""
    if not len(thinking):
        return every
    texts = every.texts.clone()  # a column is changed where it stands
    return Part(every.rows, texts.scatter(thinking.rows, thinking.texts.str.split(THINK_END).list.last()))


def _answered(part: Tagged, blocks: pl.Series, block: str, found: Diagnoses) -> Part:
    """The rows that are compliant, each with its letter (ruling M9); the others are settled. All have a block."""
    several = part.where(blocks > 1)
    different = several.tails.texts.str.extract_all(block).list.n_unique() > 1
    several = found.sift(several, ReasonedDeviation.CONFLICTING_ANSWERS, different)
    agreed = Part.of_all([part.where(blocks == 1), several])
    # Texts are trimmed at their end.
    at_end = agreed.texts.str.tail(_BLOCK)
    ends = at_end.str.contains(rf"\A{block}\z")
    found.settle(agreed.where(~ends), ReasonedDeviation.TEXT_AFTER)
    return Part(agreed.rows.filter(ends), at_end.filter(ends).str.slice(len(OPENING), 1))


def _frame(raw: pl.Series, letters: pl.Series, deviations: pl.Series, sizes: pl.Series) -> pl.DataFrame:
    """The columns of a reading; null throughout where nothing arrived."""
    answer, end = pl.col("extracted_answer"), pl.col("size").cast(pl.Int64) - len(CLOSING)
    frame = pl.DataFrame({"extracted_answer": letters, "deviation": deviations, "size": sizes}).select(
        answer.is_not_null().alias("protocol_compliant"),
        answer,
        "deviation",
        pl.when(answer.is_not_null()).then(end - 1).alias("answer_start"),
        pl.when(answer.is_not_null()).then(end).alias("answer_end"),
    )
    return frame if raw.null_count() == 0 else frame.with_columns(pl.when(raw.is_not_null()).then(pl.all()))
