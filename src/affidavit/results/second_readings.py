"""Second readings of logs → tables: what a source scored, what had no answer, what the contract says, what moved.

Both figures are over the same outputs and have intervals over items (ruling S1); their difference is paired by
item, and all logs of one audit are one family (rulings S2, S3 and I5).
"""

from collections.abc import Iterator, Sequence

from affidavit.contracts.contract import COMPLIANT
from affidavit.contracts.read_by import ReadBy
from affidavit.exchange.logged_output import NoAnswer
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.json_values import Fields, shown
from affidavit.plain_text import counted_noun
from affidavit.results.caveats import FEWEST
from affidavit.results.moved_rows import moved_rows, title_of
from affidavit.results.table import Table
from affidavit.results.text_forms import READ_BY, Report
from affidavit.results.values import Chance, Points, Value
from affidavit.running.second_reading import Move, MovedRow, OwnVerdict, SecondReading, SourceVerdict
from affidavit.statistics.differences import PairedDifference
from affidavit.statistics.estimate import Estimate
from affidavit.statistics.multiplicity import Verdict, family
from affidavit.statistics.shares import ClusterSums, share

SEED = 0
"""Of the signs that are drawn where a test draws any: an audit has no study whose seed it could take."""
MOST_SHOWN = 20
_LONGEST_TEXT = 120
SCORES = "second reading"
"""The table of what each source scored, and what the contract says."""
MOVED = "moved"
"""The table of the rows whose verdict is another."""
_CLOSE = 1e-9
_NAMES = ("log", "task", "model")
_SHARE_DIGITS = 1.0


def audit_report(
    readings: Sequence[SecondReading],
    read_by: ReadBy,
    *,
    moved: int = MOST_SHOWN,
    unreadable: UnreadableLogs | None = None,
) -> Report:
    """All that an audit says, logs that were left out before all others, the largest difference first."""
    verdicts = _verdicts(readings)
    pairs = sorted(zip(readings, verdicts, strict=True), key=lambda pair: _place(*pair))
    ordered, judged = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    tables = [
        _scores(ordered, judged),
        _no_answers(ordered),
        _deviations(ordered),
        _four_ways(ordered),
        _moved(ordered, moved),
    ]
    facts: Fields = {READ_BY: str(read_by)}
    notes = ["intervals: 95 %, over items; of differences at the level of their tests", *_notes(ordered)]
    left_out = [] if unreadable is None else unreadable.notes()
    warnings = [*left_out, *_warnings(ordered)]
    return Report("a second reading", facts, [each for each in tables if each.rows], notes, warnings)


def audit_fields(readings: Sequence[SecondReading], unreadable: UnreadableLogs | None = None) -> Fields:
    """The counts of an audit for programs, log by log in the order they were given."""
    watch = unreadable or UnreadableLogs()
    logs = [_fields(each) for each in readings]
    return {"logs": logs, "left_out": watch.fields(), "without_outputs": watch.without_outputs}


def _fields(reading: SecondReading) -> Fields:
    counts = reading.items.values()
    return {
        "log": reading.log,
        "model": reading.model,
        "task": reading.task,
        "outputs": reading.outputs,
        "planned": reading.planned,
        "errors": reading.no_answer[NoAnswer.ERROR] + reading.no_answer[NoAnswer.LIMIT],
        "missing": reading.no_answer[NoAnswer.MISSING],
        "sentinels": reading.no_answer[NoAnswer.SENTINEL],
        "no_answer": {kind.value: count for kind, count in sorted(reading.no_answer.items())},
        "scored_wrong_without_answer": reading.scored_wrong.total(),
        "source": {
            "scorer": reading.scorer,
            "printed": None if reading.printed is None else reading.printed.value,
            "recomputed": reading.recomputed,
            "right": sum(each.source_right for each in counts),
            "verdicts": sum(each.verdicts for each in counts),
        },
        "four_ways": [
            {"source": said.value, "contract": own.value, "outputs": reading.table[said, own]}
            for said in SourceVerdict
            for own in OwnVerdict
            if reading.table[said, own]
        ],
        "unread": reading.unread,
        "compliant": sum(each.compliant for each in counts),
        "answers": sum(each.answers for each in counts),
        "right": sum(each.right for each in counts),
        "deviations": dict(sorted(reading.deviations.items())),
        "compared": reading.compared,
        "moved": reading.moves.total(),
        "moves": {move.value: reading.moves[move] for move in Move if reading.moves[move]},
        "not_verbatim": reading.not_verbatim,
        "other_texts": reading.other_texts,
        "graders": [{"model": each.model, "scorer": each.scorer} for each in reading.graders],
        "self_graded": reading.is_self_graded,
    }


def moved_most(readings: Sequence[SecondReading], most: float) -> Iterator[str]:
    """What is not met where at most such a share of what can be compared may move: each log by its name.

    A log of which nothing can be compared meets nothing: nobody knows what would move.
    """
    for each in readings:
        moved, compared = each.moves.total(), each.compared
        if not compared:
            which = "contract" if each.verdicts else "source"
            yield f"{title_of(each)}: the {which} has no verdict on any output, so nothing can be compared"
        elif moved > most * compared:
            said = f"{moved:,} of {compared:,} outputs that can be compared moved"
            yield f"{title_of(each)}: {said}, {moved / compared:.2%}: more than {most:.2%}"


# --- what a score becomes ---


def _verdicts(readings: Sequence[SecondReading]) -> list[Verdict | None]:
    """What the difference of each log is, all of them one family; None where nothing is paired."""
    differences = [_difference(each) for each in readings]
    tested = iter(family([each for each in differences if each is not None], seed=SEED))
    return [None if each is None else next(tested) for each in differences]


def _difference(reading: SecondReading) -> PairedDifference | None:
    both = [each for each in reading.items.values() if each.both]
    if not both:
        return None
    sizes = [each.both for each in both]
    return PairedDifference.of_counts(
        [each.both_source for each in both], sizes, [each.both_own for each in both], sizes
    )


def _place(reading: SecondReading, verdict: Verdict | None) -> tuple[float, str, str]:
    return (0.0 if verdict is None else -abs(verdict.estimate.value), reading.log, reading.model)


def _share(reading: SecondReading, part: str, whole: str) -> Estimate | None:
    sums = ClusterSums.of((getattr(each, part), getattr(each, whole)) for each in reading.items.values())
    return share(sums) if sums.n else None


def _scores(readings: Sequence[SecondReading], verdicts: Sequence[Verdict | None]) -> Table:
    columns = (
        *_NAMES, "outputs", "printed", "from its rows", "right by the source", "difference", "both verdicts",
        "moved", "compliance", "accuracy over answers", "yield", "p, Holm",
    )  # fmt: skip
    rows = tuple(
        (
            *_named(each),
            each.outputs,
            _printed(each),
            None if each.recomputed is None else f"{each.recomputed:.4g}",
            _share(each, "source_right", "verdicts"),
            None if verdict is None else Points(verdict.estimate),
            each.compared,
            each.moves.total(),
            _share(each, "compliant", "arrived"),
            _share(each, "right", "answers"),
            _share(each, "right", "known"),
            None if verdict is None else Chance(verdict.adjusted),
        )
        for each, verdict in zip(readings, verdicts, strict=True)
    )
    note = (
        "Difference: right by the contract less right by the source, paired by item, over outputs that were read, "
        "of which the source has a verdict and the right answer is known; what never arrived is not in it. "
        "Its interval is at the level of its test, and so changes with the logs beside it. "
        "Both verdicts: outputs of which both have one. Moved: those whose verdict is another, and those that "
        "never arrived and that the source scored."
    )
    return Table(
        SCORES,
        "What did the source score, and what does the contract say?",
        columns,
        rows,
        _identity(readings),
        (note,),
    )


def _printed(reading: SecondReading) -> str | None:
    """What the source printed, with what it calls the figure if that is no mean."""
    printed = reading.printed
    if printed is None:
        return None
    return f"{printed.value:.4g}" + ("" if printed.metric == "mean" else f" {printed.metric}")


def _named(reading: SecondReading) -> tuple[str, str, str]:
    return reading.log, reading.task, reading.model


def _identity(readings: Sequence[SecondReading]) -> str:
    """Every output is in one place of the four-way table (ruling C5)."""
    counts = {own: sum(each.table[said, own] for each in readings for said in SourceVerdict) for own in OwnVerdict}
    total = sum(each.outputs for each in readings)
    return f"{counted_noun(total, 'output')} = " + " + ".join(
        f"{count:,} {own.value}" for own, count in counts.items()
    )


def _no_answers(readings: Sequence[SecondReading]) -> Table:
    rows = tuple(
        (*_named(each), kind.value, count, each.scored_wrong[kind])
        for each in readings
        for kind, count in sorted(each.no_answer.items())
    )
    question = "Where did the source have no answer, and what did it score there?"
    columns = (*_NAMES, "why", "outputs", "scored as wrong")
    return Table("no answer", question, columns, rows, _identity(readings))


def _deviations(readings: Sequence[SecondReading]) -> Table:
    rows = tuple(
        (*_named(each), deviation, count)
        for each in readings
        for deviation, count in sorted(each.deviations.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    question = "What did outputs that do not follow the format do instead?"
    return Table("deviations", question, (*_NAMES, "deviation", "outputs"), rows, _identity(readings))


def _four_ways(readings: Sequence[SecondReading]) -> Table:
    rows = tuple(
        (*_named(each), said.value, own.value, each.table[said, own])
        for each in readings
        for said in SourceVerdict
        for own in OwnVerdict
        if each.table[said, own]
    )
    question = "What does the contract say of what the source called right and wrong?"
    columns = (*_NAMES, "by the source", "by the contract", "outputs")
    return Table("four ways", question, columns, rows, _identity(readings))


def _moved(readings: Sequence[SecondReading], most: int) -> Table:
    """The rows that moved, the worst kinds first."""
    found = moved_rows(readings, most)
    rows = tuple(_moved_row(each, row) for each, row in found.rows)
    notes = (note,) if (note := found.note()) else ()
    columns = ("log", "place", "item", "move", "text", "right answer", "the source read", "the contract read")
    return Table(MOVED, "Which rows moved?", columns, rows, _identity(readings), notes)


def _moved_row(reading: SecondReading, row: MovedRow) -> tuple[Value, ...]:
    source = None if row.source is None else row.source.answer
    return (
        reading.log,
        row.place,
        row.item_id,
        row.move.value,
        _cut(row.raw_output),
        _cut(row.answer),
        _cut(source),
        read_in_words(row.own),
    )


def _cut(text: str | None) -> str | None:
    """A text on one line: its end is where answers are."""
    if text is None:
        return None
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TEXT else f"…{line[-_LONGEST_TEXT:]}"


def read_in_words(own: Fields) -> str:
    """What the contract read, or why it read nothing."""
    for name in ("extracted_answer", "candidate", "deviation", "unread"):
        if (value := own.get(name)) is not None:
            return _cut(str(value)) or ""
    if (compliant := own.get(COMPLIANT)) is None:
        return "–"
    return "compliant" if compliant else "non-compliant"


# --- what must be known first ---


def _warnings(readings: Sequence[SecondReading]) -> Iterator[str]:
    for each in readings:
        name = title_of(each)
        if wrong := each.scored_wrong.total():
            kinds = ", ".join(
                f"{count:,} {kind.value}" for kind, count in sorted(each.scored_wrong.items()) if count
            )
            noun = counted_noun(wrong, "output")
            by = f" by the rule {each.scorer}" if each.by_rule else ""
            yield f"{name}: {noun} without an answer scored as wrong{by}: {kinds}."
        if given := each.table[SourceVerdict.RIGHT, OwnVerdict.NO_OUTPUT]:
            yield f"{name}: {counted_noun(given, 'output')} that never arrived scored as right."
        yield from _unfitting(each, name)
        yield from _who_graded(each, name)
        if each.unread:
            noun = counted_noun(each.unread, "output")
            yield f"{name}: {noun} unread: the contract itself raised an error, so they are in no figure."
        if each.not_verbatim:
            noun = counted_noun(each.not_verbatim, "text")
            yield f"{name}: {noun} not verbatim: a filter or a transform may have changed what the model wrote."
        if each.other_texts:
            noun = counted_noun(each.other_texts, "output")
            yield f"{name}: {noun} with other texts than the one that is read: further choices, or other filters'."
        yield from _about_scores(each, name)


def _unfitting(each: SecondReading, name: str) -> Iterator[str]:
    """That the contract may be the wrong one: no output follows it, or no answer equals its key."""
    if (others := each.deviations.total()) and not any(item.compliant for item in each.items.values()):
        deviation, count = each.deviations.most_common(1)[0]
        said = f"none of {others:,} outputs follows the format; {count:,} are {deviation}"
        if others == 1:
            said = f"its one output does not follow the format: {deviation}"
        yield f"{name}: {said}. Was this format asked for?"
    answers = sum(item.answers for item in each.items.values())
    if each.unequal is not None and answers >= FEWEST and not any(item.right for item in each.items.values()):
        right, read = (shown(_cut(text)) for text in each.unequal)
        yield (
            f"{name}: none of {answers:,} answers equals its right answer: right answers are like {right}, "
            f"answers like {read}. --answer-pattern takes an answer out of a longer text."
        )


def _who_graded(each: SecondReading, name: str) -> Iterator[str]:
    """Which models gave the words that stand for the source, and which gave others."""
    if each.by_rule:
        yield f"{name}: read by the rule {each.scorer}, in place of whatever the source says."
        return
    by = each.graded_by
    if each.is_self_graded:
        others = [model for model in by if model != each.model]
        beside = f", beside {', '.join(others)}" if others else ""
        yield f"{name}: graded by the evaluated model itself{beside}."
    elif by:
        yield f"{name}: graded by {', '.join(by)}."
    for other in dict.fromkeys(one for one in each.graders if one.scorer not in (None, each.scorer)):
        who = "the evaluated model itself" if other.model == each.model else other.model
        yield f"{name}: the scorer {other.scorer}, whose word is not the one above, was graded by {who}."


def _notes(readings: Sequence[SecondReading]) -> list[str]:
    """How logs were read, each said once."""
    return list(dict.fromkeys(f"{each.log}: {note}" for each in readings for note in each.notes))


def _about_scores(each: SecondReading, name: str) -> Iterator[str]:
    printed, again = each.printed, each.recomputed
    is_whole = each.planned in (None, each.of_log)
    if not is_whole:
        yield f"{name}: by its own account the log has {each.planned:,} outputs; here are {each.of_log:,}."
    if printed is not None and again is not None and not _is_close(printed.value, again):
        over = "" if is_whole else ", which may be right over all of them"
        digits = ".6g" if f"{printed.value:.6g}" != f"{again:.6g}" else ".17g"
        yield f"{name}: the source printed {printed.value:{digits}}{over}; the rows here give {again:{digits}}."
    if each.scorer is None:
        yield f"{name}: the source has no word on its outputs."
    elif each.other_scorers and not each.by_rule:
        others = ", ".join(map(shown, each.other_scorers))
        yield f"{name}: the source's word is that of {each.scorer}; --scorer takes another: {others}."
    if each.about_items:
        noun = counted_noun(each.about_items, "output")
        yield f"{name}: the word of {each.scorer} is about the item with all its samples: {noun} have no verdict."
    if each.mean is not None and each.scored and not each.scored_between and not each.verdicts:
        yield (
            f"{name}: the scores in {each.scorer} are all 0 or 1, and scores are no verdicts, so nothing is "
            "compared. If 1 is right and 0 wrong, --source-correct takes the column."
        )


def _is_close(one: float, other: float) -> bool:
    """Whether two figures are one, but for the order in which their parts were added up."""
    return abs(one - other) <= _CLOSE * max(1.0, abs(one))
