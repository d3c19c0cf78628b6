"""The summary of a tally, for people and for programs.

Shares come with their interval and n; accuracy is over outputs with an answer, and beside it stand accuracy over
all outputs and the bounds within which accuracy would lie if all missing answers were wrong or right (ruling M6).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from affidavit.contracts.contract import label as contract_label
from affidavit.contracts.parts import Parts, parts_of
from affidavit.json_values import Fields
from affidavit.plain_text import counted_noun, plain
from affidavit.reading.accounting import identity as accounting_identity
from affidavit.reading.tally import Tally, ranked
from affidavit.statistics.estimate import Estimate, in_words
from affidavit.statistics.shares import Bounds, bounds_of_share, wilson


class Shares(NamedTuple):
    """The main figures; None where there is nothing to share."""

    compliance: Estimate | None
    accuracy: Estimate | None
    """Right answers, of compliant outputs."""
    right_of_all: Estimate | None
    """Compliant and right, of all outputs whose right answer is known; programs know it as the yield."""
    bounds: Bounds | None
    """Accuracy if missing answers were wrong, and if they were right; failed ones count as missing (ruling S6)."""


def shares_of(tally: Tally) -> Shares:
    """The main figures of rows that are independent of each other."""
    return Shares(
        _estimate(tally.compliant, tally.arrived),
        _estimate(tally.right, tally.compared),
        _estimate(tally.right, tally.known),
        _bounds(tally),
    )


def figures(tally: Tally, contract: str, params: Fields, parts: Parts, shares: Shares) -> Fields:
    """The summary as JSON values; a share without observations is null."""
    return {
        "contract": contract,
        "contract_params": params,
        "n": tally.n,
        "compliant": tally.compliant,
        "non_compliant": tally.non_compliant,
        "unread": tally.unread,
        "failed": tally.failed,
        "pending": tally.pending,
        "truncated": tally.truncated,
        "compliance": _json(shares.compliance),
        "accuracy_over_compliant": _json(shares.accuracy),
        "yield": _json(shares.right_of_all),
        "accuracy_bounds": None if shares.bounds is None else [each.fields() for each in shares.bounds],
        "valid_without_the_evidence_not_located_clause": (
            _share(tally.compliant + tally.valid_but_for_evidence, tally.arrived)
            if parts.outcome_words.nearly
            else None
        ),
        **{_key(title): dict(ranked(counts)) for _, title, counts in tally.blocks(parts.counted)},
        "other_readings": {
            lens: _share(tally.lenses.get(lens, 0), tally.looked_through.get(lens, 0))
            for lens in _lenses(tally, parts)
        },
        "other_readings_yield": {
            lens: _share(tally.right_through.get(lens, 0), tally.keyed_through.get(lens, 0))
            for lens in _lenses(tally, parts)
        },
        "unread_errors": dict(ranked(tally.errors)),
        "failures": dict(ranked(tally.failures)),
    }


_FIGURES = (
    "contract", "contract_params", "n", "compliant", "non_compliant", "unread", "failed", "pending", "truncated",
    "compliance", "accuracy_over_compliant", "yield", "accuracy_bounds", "other_readings",
    "other_readings_yield", "unread_errors", "failures", "valid_without_the_evidence_not_located_clause", "task",
    "model", "condition",
)  # fmt: skip


def _key(title: str) -> str:
    """The name of a count among the figures; it never takes the place of another figure.

    >>> _key("flags of the judge"), _key("yield")
    ('flags_of_the_judge', 'counts_of_yield')
    """
    key = title.replace(",", "").replace(" ", "_")
    return f"counts_of_{key}" if key in _FIGURES else key


def unknown_answers_note(tally: Tally, unsaid: int | None = None) -> str | None:
    """The note where a contract does not say of some outputs whether their right answer is known.

    `unsaid`: how many these are, where more than the tally tells: other outputs to the same item may have said so.

    >>> print(unknown_answers_note(Tally(compliant=1, compared=1, non_compliant=9, keyed=10)))
    None
    """
    if unsaid is None:
        unsaid = tally.unsaid + tally.unread_unsaid if tally.compared else 0
    if not unsaid:
        return None
    which = "not compliant or unread" if tally.unread_unsaid else "not compliant"
    outputs = counted_noun(tally.arrived + tally.unread, "output")
    are, count, whose, have = (
        ("is", "counts", "its", "its item has") if unsaid == 1 else ("are", "count", "their", "their items have")
    )
    return (
        f"{unsaid:,} of {outputs} {are} {which} and {count} as not right, although nobody says whether "
        f"{whose} right answer is known: {have} no 'answer', and the contract has no right_answer_known(item); "
        'see "Optional parts" in docs/contracts.md.'
    )


def rows_and_outputs(rows: int, outputs: int) -> str:
    """How many outputs there are and, where some rows have none, of how many rows.

    >>> rows_and_outputs(1, 1), rows_and_outputs(561, 524)
    ('1 output', '561 rows, 524 outputs')
    """
    arrived = counted_noun(outputs, "output")
    return arrived if rows == outputs else f"{counted_noun(rows, 'row')}, {arrived}"


def identity(tally: Tally, parts: Parts) -> str:
    """The accounting identity of ruling C5; an evaluation is never unread."""
    words = parts.outcome_words
    counts = {words.kept: tally.compliant, words.broken: tally.non_compliant}
    if not parts.evaluates:
        counts["unread"] = tally.unread
    return accounting_identity({**counts, "failed": tally.failed, "pending": tally.pending})


def text(tally: Tally, contract: str, parts: Parts) -> str:
    """The summary as lines for a terminal.

    >>> from affidavit import mcqa
    >>> tally = Tally()
    >>> tally.add({"protocol_compliant": True, "deviation": None}, parts=mcqa)
    >>> tally.add({"protocol_compliant": False, "deviation": "bare_letter"}, parts=mcqa)
    >>> print(text(tally, "mcqa/1", mcqa))
    mcqa/1: 2 outputs
    <BLANKLINE>
      compliant       1   50.0% [9.5, 90.5] n=2, Wilson 95%
      non-compliant   1
    <BLANKLINE>
    deviations
      bare_letter     1   50.0%
    <BLANKLINE>
    2 planned = 1 compliant + 1 non-compliant + 0 unread + 0 failed + 0 pending
    """
    return "\n".join(_lines(tally, contract, parts))


MOST_LABELS, LONGEST_LABEL = 20, 40


def _labelled(counts: Counter[str]) -> Iterator[tuple[str, int]]:
    """The most frequent values, each on one line and not too long: some are texts of a model's making."""
    for label, count in ranked(counts)[:MOST_LABELS]:
        short = plain(label[:LONGEST_LABEL])
        yield short if len(label) <= LONGEST_LABEL else f"{short}…", count
    if len(counts) > MOST_LABELS:
        yield "others", counts.total() - sum(count for _, count in ranked(counts)[:MOST_LABELS])


def worded_blocks(tally: Tally, parts: Parts) -> Iterator[tuple[str, str, Counter[str]]]:
    """Name, title and counts of every breakdown that counted something, by what people read for its values."""
    for name, title in parts.counted.items():
        labels = parts.value_labels.get(name, {})
        worded: Counter[str] = Counter()
        for value, count in tally.breakdowns.get(name, Counter()).items():
            worded[labels.get(value, value)] += count
        if worded:
            yield name, title, worded


def _lines(tally: Tally, contract: str, parts: Parts) -> Iterator[str]:
    words, blocks = parts.outcome_words, list(worded_blocks(tally, parts))
    width = max((len(label) for _, _, counts in blocks for label, _ in _labelled(counts)), default=0)
    least = words.nearly or words.broken
    width, digits = max(width, len(least)), len(f"{tally.n:,}")

    def line(label: str, count: int, note: str = "") -> str:
        return f"  {label:<{width}}   {count:>{digits},}   {note}".rstrip()

    yield f"{contract}: {rows_and_outputs(tally.n, tally.arrived + tally.unread)}"
    yield ""
    yield line(words.kept, tally.compliant, _noted(tally.compliant, tally.arrived))
    yield line(words.broken, tally.non_compliant)
    if words.nearly:
        lenient = tally.compliant + tally.valid_but_for_evidence
        noted = _noted(lenient, tally.arrived)
        yield line(words.nearly, lenient, f"{noted}: {words.nearly_how}" if noted else "")
    if tally.unread:
        yield line("unread", tally.unread, "the contract itself raised an error")
    if tally.failed:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in ranked(tally.failures))
        yield line("failed", tally.failed, f"no output arrived ({reasons or 'the text is null'})")
    if tally.pending:
        yield line("pending", tally.pending, "not asked yet")
    if tally.truncated:
        yield line("truncated", tally.truncated, "cut at the token limit; also counted above")
    yield from _right_lines(tally, line)
    for name, title, counts in blocks:
        yield ""
        yield plain(title)
        total = _whole(name, counts, tally, parts)
        yield from (line(label, count, f"{count / total:.1%}") for label, count in _labelled(counts))
    yield from _lens_lines(tally, parts)
    yield ""
    yield identity(tally, parts)


def _lenses(tally: Tally, parts: Parts) -> dict[str, str]:
    """The names of all other readings if any was asked for, those that could not read too, with what they need."""
    every = parts.lenient_readings() if tally.lenses else ()
    return {contract_label(lens): parts_of(lens).needs_to_know for lens in every} or dict.fromkeys(
        tally.lenses, ""
    )


_READING, _FOUND, _RIGHT = "reading", "answer found", "accuracy over all outputs"


def _lens_lines(tally: Tally, parts: Parts) -> Iterator[str]:
    """Other readings apart from everything else, in columns of their own: their names are long.

    Where right answers are known, accuracy stands beside how often an answer is found: the one is no score.
    """
    if not (lenses := _lenses(tally, parts)):
        return
    rows = [(lens, *_through(tally, lens, needs)) for lens, needs in lenses.items()]
    right = (_RIGHT,) if any(tally.keyed_through.values()) else ()
    yield ""
    yield "lenient readings: other readings, not the protocol"
    read = [found for _, found, *more in rows if more]
    first, second = max(map(len, (_READING, *lenses))), max(map(len, (_FOUND, *read)))
    for name, found, *more in [(_READING, _FOUND, *right), *rows]:
        yield f"  {name:<{first}}   {found:<{second}}   {''.join(more)}".rstrip()


def _through(tally: Tally, lens: str, needs: str) -> tuple[str, ...]:
    """In how many outputs a reading finds an answer and, where it could read, its accuracy over all of them."""
    read, known = tally.looked_through.get(lens, 0), tally.keyed_through.get(lens, 0)
    if not read:
        return (f"not read: needs {needs}",)
    found = tally.lenses[lens]
    if not any(tally.keyed_through.values()):
        return f"{found:,} of {read:,}", _noted(found, read)
    right = _estimate(tally.right_through[lens], known)
    return f"{found:,} of {read:,}  {found / read:.1%}", "–" if right is None else in_words(right)


def _whole(name: str, counts: Counter[str], tally: Tally, parts: Parts) -> int:
    """What the counts of a breakdown are shares of: values, outputs that keep the contract, or all outputs."""
    if name in parts.several_values:
        return counts.total()
    return tally.compliant if name in parts.counted_if_kept else tally.arrived


def _right_lines(tally: Tally, line: Callable[[str, int, str], str]) -> Iterator[str]:
    if (bounds := _bounds(tally)) is not None:
        yield ""
        yield "answers"
        # The method stands above, beside compliance: so the lines fit into a terminal.
        over, of_all = _estimate(tally.right, tally.compared), wilson(tally.right, tally.known)
        none = "no output holds an answer: no accuracy over answers"
        yield line("right", tally.right, none if over is None else f"{in_words(over)}: accuracy over answers")
        yield line("right", tally.right, f"{in_words(of_all)}: accuracy over all outputs")
        for what, bound in zip(("wrong", "right"), bounds, strict=True):
            yield f"  accuracy if all missing answers were {what}   {in_words(bound)}"


def _bounds(tally: Tally) -> Bounds | None:
    """Accuracy if all missing answers were wrong, and if they were right; None if no right answer is known."""
    if not tally.known:
        return None
    return bounds_of_share(tally.right, tally.compared, tally.missing)


def _noted(successes: int, n: int) -> str:
    share = _estimate(successes, n)
    return "" if share is None else f"{in_words(share)}, {share.method}"


def _estimate(successes: int, n: int) -> Estimate | None:
    return wilson(successes, n) if n else None


def _share(successes: int, n: int) -> Fields | None:
    return _json(_estimate(successes, n))


def _json(share: Estimate | None) -> Fields | None:
    return None if share is None else share.fields()
