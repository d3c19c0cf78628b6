"""A log read a second time: what its source said of each output, and what a contract says of the same (ruling I5).

One walk over a log counts everything that is said of it. Of the rows whose verdict moved, some of each kind are
kept with their texts, the worst kinds first; all are counted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from msgspec.structs import replace

from affidavit.contracts.contract import COMPLIANT, AnyContract, label
from affidavit.contracts.harness_readings import NoAnswer as NothingRead
from affidavit.contracts.mcqa import MultipleChoice, mcqa
from affidavit.contracts.parts import parts_of
from affidavit.errors import InputError, UsageError, did_you_mean
from affidavit.exchange.log import Grader, PrintedScore, Recount
from affidavit.exchange.log_source import LogSource, log_sources
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.plain_tables import SourceRole, Tables
from affidavit.exchange.recounts import MeanOfItems
from affidavit.exchange.right_answers import AnswerPattern
from affidavit.exchange.unreadable_logs import UnreadableLogs
from affidavit.json_values import Fields, shown
from affidavit.reading.cell_values import unknown_if_empty
from affidavit.reading.column_path import ColumnPath
from affidavit.reading.output_columns import ANSWER, Role
from affidavit.reading.rows import UNREAD, RowReader

NO_DIAGNOSIS = "unspecified"
"""What a deviation is called where a contract has no words for it."""
MOST_KEPT = 200
"""Rows of each kind of move that are kept with their texts."""
MOST_TEXT = 1 << 22
"""Characters of texts that are kept of them all: outputs may be long, and a log may have any number."""


class SourceVerdict(StrEnum):
    """What the source said of an output."""

    RIGHT = "right"
    WRONG = "wrong"
    NONE = "no verdict"


class OwnVerdict(StrEnum):
    """What the contract says of it."""

    RIGHT = "compliant, right"
    WRONG = "compliant, wrong"
    UNKNOWN = "compliant, right answer not known"
    NON_COMPLIANT = "non-compliant"
    UNREAD = "unread"
    NO_OUTPUT = "no output"


class Move(StrEnum):
    """How a verdict moved; the worst first: what a score hides most."""

    NOTHING_SCORED_WRONG = "no output, scored as wrong"
    NOTHING_SCORED_RIGHT = "no output, scored as right"
    RIGHT_TO_WRONG = "right by the source, wrong by the contract"
    WRONG_TO_RIGHT = "wrong by the source, right by the contract"
    RIGHT_TO_NON_COMPLIANT = "right by the source, non-compliant"


_MOVES: Mapping[tuple[SourceVerdict, OwnVerdict], Move] = {
    (SourceVerdict.WRONG, OwnVerdict.NO_OUTPUT): Move.NOTHING_SCORED_WRONG,
    (SourceVerdict.RIGHT, OwnVerdict.NO_OUTPUT): Move.NOTHING_SCORED_RIGHT,
    (SourceVerdict.RIGHT, OwnVerdict.WRONG): Move.RIGHT_TO_WRONG,
    (SourceVerdict.WRONG, OwnVerdict.RIGHT): Move.WRONG_TO_RIGHT,
    (SourceVerdict.RIGHT, OwnVerdict.NON_COMPLIANT): Move.RIGHT_TO_NON_COMPLIANT,
}


@dataclass(frozen=True, slots=True)
class MovedRow:
    """An output whose verdict moved, with its text and both readings."""

    move: Move
    place: str
    item_id: str
    raw_output: str | None
    answer: str | None
    """The right one, as the source has it."""
    source: SourceWord | None
    own: Fields
    """What the contract adds to the row."""


@dataclass(slots=True)
class ItemCounts:
    """What was counted of the outputs of one item."""

    outputs: int = 0
    arrived: int = 0
    compliant: int = 0
    answers: int = 0
    """Outputs that hold an answer whose right one is known."""
    right: int = 0
    known: int = 0
    """Arrived outputs whose right answer is known."""
    verdicts: int = 0
    """Outputs of which the source says right or wrong."""
    source_right: int = 0
    both: int = 0
    """Outputs that were read, with a verdict of the source and a known right answer: what is paired."""
    both_source: int = 0
    both_own: int = 0


@dataclass
class SecondReading:
    """What a source said of the outputs of one model in one log, and what a contract says of them."""

    log: str
    format: str
    task: str
    model: str
    scorer: str | None
    """Whose word stands for the source; None if it said nothing."""
    other_scorers: tuple[str, ...]
    graders: tuple[Grader, ...]
    planned: int | None
    """How many outputs the log has by its own account."""
    of_log: int = 0
    """How many it has, of all its models."""
    printed: PrintedScore | None = None
    recomputed: float | None = None
    mean: MeanOfItems | None = None
    """What makes its figure, where the log printed none."""
    by_rule: bool = False
    """Whether the rule of another harness stands for the source's word."""
    notes: tuple[str, ...] = ()
    """What a person should be told of how the log is read."""
    table: Counter[tuple[SourceVerdict, OwnVerdict]] = field(default_factory=Counter)
    """The four-way table."""
    no_answer: Counter[NoAnswer] = field(default_factory=Counter)
    """Why the source had no answer, by kind (ruling I3)."""
    scored_wrong: Counter[NoAnswer] = field(default_factory=Counter)
    """Of these, what it scored as wrong all the same."""
    not_verbatim: int = 0
    other_texts: int = 0
    """Outputs of which the source has further texts, which nobody reads."""
    items: dict[str, ItemCounts] = field(default_factory=dict)
    moves: Counter[Move] = field(default_factory=Counter)
    moved: dict[Move, list[MovedRow]] = field(default_factory=dict)
    deviations: Counter[str] = field(default_factory=Counter)
    """Why outputs are not compliant, by the contract's own words."""
    unequal: tuple[str, str] | None = None
    """A right answer, and the first answer that the source called right and that is not equal to it."""
    about_items: int = 0
    """Outputs on which the source's word is about all samples of their item together, and about none of them."""
    scored: int = 0
    """Outputs with a score of the source."""
    scored_between: int = 0
    """Of these, those whose score is neither 0 nor 1."""
    _kept: int = 0
    """Characters of what moved that are kept."""

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.table.total()

    @property
    def unread(self) -> int:
        """Outputs on which a contract of the user's own raised an error."""
        return sum(self.table[said, OwnVerdict.UNREAD] for said in SourceVerdict)

    @property
    def compared(self) -> int:
        """Outputs of which both the source and the contract say something that could differ."""
        said = (SourceVerdict.RIGHT, SourceVerdict.WRONG)
        own = (OwnVerdict.RIGHT, OwnVerdict.WRONG, OwnVerdict.NON_COMPLIANT, OwnVerdict.NO_OUTPUT)
        return sum(self.table[each, other] for each in said for other in own)

    @property
    def verdicts(self) -> int:
        """Outputs of which the source says right or wrong."""
        return sum(each.verdicts for each in self.items.values())

    @property
    def graded_by(self) -> tuple[str, ...]:
        """The models that gave the words which stand for the source."""
        return tuple(dict.fromkeys(each.model for each in self.graders if each.scorer in (None, self.scorer)))

    @property
    def is_self_graded(self) -> bool:
        """Whether the model that is evaluated graded its own outputs."""
        return self.model in self.graded_by

    def moved_rows(self) -> Iterator[MovedRow]:
        """The rows that were kept, the worst kinds first."""
        for move in Move:
            yield from self.moved.get(move, ())

    def add(self, output: LoggedOutput, row: Fields, reader: RowReader, *, where: str) -> None:
        """One output more."""
        word = next((each for each in output.words if each.scorer == self.scorer), None)
        if self.mean is not None:
            self.mean.add(output)
        result = reader.read(row, where=where)
        said, own = _source_verdict(word), _own_verdict(output, result.added, reader)
        self.table[said, own] += 1
        self.not_verbatim += not output.verbatim
        self.other_texts += bool(output.other_texts)
        self._note(row, said, own, result.added)
        if word is not None:
            self.about_items += word.about_item
            self.scored += word.points is not None
            self.scored_between += word.points not in (None, 0.0, 1.0)
        kind = output.no_answer or (None if word is None else word.no_answer)
        if kind is None and output.error is not None:
            kind = NoAnswer.ERROR  # there is a text, and it may be half of one
        is_counted = word is not None and word.about_item and output.item_id in self.items
        if kind is not None and (output.no_answer is not None or not is_counted):
            self.no_answer[kind] += 1
            # What counts 0 is scored as wrong, whatever the source calls it; a word about the item does so once.
            is_wrong = said is SourceVerdict.WRONG or (word is not None and word.points == 0)
            self.scored_wrong[kind] += is_wrong and not is_counted
        self._count(output.item_id, said, own, known=result.right_answer_known is True)
        if (move := _MOVES.get((said, own))) is not None:
            self.moves[move] += 1
            moved = MovedRow(
                move, output.place, output.item_id, output.raw_output, output.answer, word, result.added
            )
            kept, size = self.moved.setdefault(move, []), len(output.raw_output or "")
            if len(kept) < MOST_KEPT and self._kept + size <= MOST_TEXT:
                kept.append(moved)
                self._kept += size

    def _note(self, row: Fields, said: SourceVerdict, own: OwnVerdict, added: Fields) -> None:
        """What a reader needs to know of an output that is not as it should be."""
        if own is OwnVerdict.NON_COMPLIANT:
            self.deviations[str(added.get("deviation") or NO_DIAGNOSIS)] += 1
        is_unequal = said is SourceVerdict.RIGHT and own is OwnVerdict.WRONG and self.unequal is None
        if is_unequal and isinstance(answer := added.get("extracted_answer"), str):
            self.unequal = str(row.get(ANSWER)), answer

    def _count(self, item_id: str, said: SourceVerdict, own: OwnVerdict, *, known: bool) -> None:
        counts = self.items.setdefault(item_id, ItemCounts())
        arrived, right = own is not OwnVerdict.NO_OUTPUT, own is OwnVerdict.RIGHT
        counts.outputs += 1
        counts.arrived += arrived
        counts.compliant += own in (OwnVerdict.RIGHT, OwnVerdict.WRONG, OwnVerdict.UNKNOWN)
        counts.answers += own in (OwnVerdict.RIGHT, OwnVerdict.WRONG)
        counts.right += right
        counts.known += arrived and known
        if said is not SourceVerdict.NONE:
            counts.verdicts += 1
            counts.source_right += said is SourceVerdict.RIGHT
            if known and own not in (OwnVerdict.NO_OUTPUT, OwnVerdict.UNREAD):
                counts.both += 1
                counts.both_source += said is SourceVerdict.RIGHT
                counts.both_own += right


def _source_verdict(word: SourceWord | None) -> SourceVerdict:
    if word is None or word.correct is None:
        return SourceVerdict.NONE
    return SourceVerdict.RIGHT if word.correct else SourceVerdict.WRONG


def _own_verdict(output: LoggedOutput, added: Fields, reader: RowReader) -> OwnVerdict:
    if output.raw_output is None:
        return OwnVerdict.NO_OUTPUT
    if added.get(UNREAD) is not None or not isinstance(compliant := added.get(COMPLIANT), bool):
        return OwnVerdict.UNREAD
    correct = added.get("correct")
    if (compliant or reader.parts.every_answer_counts) and isinstance(correct, bool):
        return OwnVerdict.RIGHT if correct else OwnVerdict.WRONG
    return OwnVerdict.UNKNOWN if compliant else OwnVerdict.NON_COMPLIANT


# --- over a log ---


@dataclass(frozen=True)
class Terms:
    """On which terms logs are read a second time."""

    contract: AnyContract
    scorer: str | None = None
    """Whose word stands for the source, where it has several; otherwise it is the one whose score it printed first
    or, where it printed none, the first that said anything."""
    source_rule: AnyContract | None = None
    """What stands for the source's word where its log has none: the rule by which another harness would read."""
    answer: str = ANSWER
    """The column of right answers."""
    answer_pattern: AnswerPattern | None = None
    """What these must match, to give the answer alone; None: they are it as they are."""
    columns: Mapping[Role, str] = field(default_factory=dict)
    """The columns of tables that were named."""
    source_columns: Mapping[SourceRole, str] = field(default_factory=dict)
    """Those of them that hold the source's word."""

    def tables(self) -> Tables:
        """How files are read that are no log of a harness."""
        return Tables(self.columns, self.source_columns, unknown_if_empty(parts_of(self.contract), self.answer))

    def scorer_of(self, source: LogSource) -> str | None:
        """Whose word stands for the source, as far as that is known before its outputs are."""
        if self.source_rule is not None:
            return label(self.source_rule)
        return self.scorer or next((each.scorer for each in source.log.printed), None)

    def refuse_no_answers(self, row: Fields, *, where: str) -> None:
        """Refuse a column of right answers that was named and is not there: all accuracies would be missing."""
        if self.answer != ANSWER and not ColumnPath(self.answer).is_in(row):
            names = [name for name in row if not name.startswith("source_")]
            raise InputError(
                where,
                expected=f"right answers in {self.answer!r}, which --answer names",
                found=f"the columns {', '.join(names)}",
                hint=did_you_mean(self.answer, names),
            )

    def right_answer(self, row: Fields, *, where: str) -> Fields:
        """The row with the right answer alone in its column."""
        return row if self.answer_pattern is None else self.answer_pattern.of(row, where=where)


def audit_terms(  # noqa: PLR0913 - all that can be said of an audit
    contract: AnyContract,
    *,
    options: str | None = None,
    scorer: str | None = None,
    source_rule: str | None = None,
    columns: Mapping[Role, str] | None = None,
    source_columns: Mapping[SourceRole, str] | None = None,
    answer_pattern: str | None = None,
) -> Terms:
    """The terms as they are typed; UsageError for what has no meaning."""
    if parts_of(contract).evaluates:
        raise UsageError("--contract", expected="a contract that reads answers", found=contract.name)
    rule = None if source_rule is None else _rule(source_rule, options)
    given = columns or {}
    answer = given.get(Role.ANSWER, ANSWER)
    pattern = None if answer_pattern is None else AnswerPattern(answer_pattern, answer)
    return Terms(contract, scorer, rule, answer, pattern, given, source_columns or {})


def _rule(name: str, options: str | None) -> AnyContract:
    """The rule of another harness by its name, without its version if that tells it."""
    rules = {label(each): each for each in MultipleChoice(options or mcqa.options).lenient_readings()}
    found = [rule for each, rule in rules.items() if each == name or each.startswith((f"{name}-", f"{name}/"))]
    if len(found) != 1:
        expected = f"one of {', '.join(rules)}"
        hint = "\n".join(filter(None, (did_you_mean(name, list(rules)), "All of them read multiple choice only.")))
        raise UsageError("--source-rule", expected=expected, found=repr(name), hint=hint)
    return found[0]


def audited(logs: Sequence[Path], terms: Terms, unreadable: UnreadableLogs | None = None) -> list[SecondReading]:
    """The second reading of every log, in their order; UsageError if there is no output at all."""
    watch, found = unreadable or UnreadableLogs(), list[SecondReading]()
    for source in log_sources(logs, terms.tables(), watch):
        with watch.watched(source.name):
            found += second_readings(source, terms)
    if not found:
        what = "none: no log is left" if watch.found else "none"
        raise UsageError("LOGS", expected="at least one output", found=what, hint="\n".join(watch.notes()))
    return found


def second_readings(source: LogSource, terms: Terms) -> list[SecondReading]:
    """The second reading of each model in a log."""
    reader, found = RowReader(terms.contract, answer=terms.answer), dict[tuple[str, str], SecondReading]()
    recounts = {id(each): each.recount() for each in source.log.printed if each.recount is not None}
    scorers: dict[str, None] = {}
    chosen = terms.scorer_of(source)
    for output, row, where in _judged(source, terms, list(recounts.values())):
        scorers.update(dict.fromkeys(word.scorer for word in output.words))
        chosen = chosen or next(iter(scorers), None)
        about = output.task or source.log.task, output.model
        if (reading := found.get(about)) is None:
            reading = found[about] = _begun(source, *about, chosen)
        reading.scorer = reading.scorer or chosen
        reading.add(output, row, reader, where=where)
    if terms.scorer is not None and terms.scorer not in scorers:
        expected = f"a scorer of {source.log_name}: {', '.join(map(shown, scorers)) or 'none'}"
        hint = did_you_mean(terms.scorer, list(scorers))
        raise UsageError("--scorer", expected=expected, found=repr(terms.scorer), hint=hint)
    of_log = sum(each.outputs for each in found.values())
    for reading in found.values():
        reading.of_log = of_log
        _printed(reading, source, recounts)
        reading.other_scorers = tuple(name for name in scorers if name != reading.scorer)
        reading.by_rule = terms.source_rule is not None
    return list(found.values())


def _judged(
    source: LogSource, terms: Terms, recounts: Sequence[Recount]
) -> Iterator[tuple[LoggedOutput, Fields, str]]:
    """Each output with the source's words, the row that it becomes, and its place."""
    rule = None if terms.source_rule is None else RowReader(terms.source_rule, answer=terms.answer)
    is_first = True
    for output in source.log.outputs():
        for recount in recounts:
            recount.add(output)
        where = f"{source.name}: {output.place}"
        row = output.row(log=source.log_name, task=source.log.task)
        if is_first:
            terms.refuse_no_answers(row, where=where)
        is_first, row = False, terms.right_answer(row, where=where)
        yield (output if rule is None else _by_rule(output, row, rule, where=where)), row, where


def _begun(source: LogSource, task: str, model: str, scorer: str | None) -> SecondReading:
    log = source.log
    mean = MeanOfItems(scorer) if log.has_mean and scorer is not None else None
    return SecondReading(
        source.log_name, log.format, task, model, scorer, (), tuple(log.graders), log.planned,
        mean=mean, notes=tuple(log.notes),
    )  # fmt: skip


def _by_rule(output: LoggedOutput, row: Fields, rule: RowReader, *, where: str) -> LoggedOutput:
    """The output with what a rule reads of it as its first word; what the rule does not find is wrong by it."""
    if output.raw_output is None:
        return output
    try:
        result = rule.read(row, where=where)
    except InputError as error:
        hint = f"--source-rule {rule.label} reads multiple choice only: leave it out where answers are others."
        raise InputError(error.where, expected=error.expected, found=error.found, hint=hint) from error
    answer, why = result.added.get("extracted_answer"), result.added.get("no_answer")
    # What a rule cannot read is left out of its figures (ruling M24); several letters are an answer, and wrong.
    is_read = result.right_answer_known and why != NothingRead.OPTIONS_UNKNOWN
    verdict = result.added.get("correct") is True if is_read else None
    word = SourceWord(
        scorer=rule.label,
        answer=answer if isinstance(answer, str) else None,
        correct=verdict,
        points=None if verdict is None else float(verdict),
        no_answer=NoAnswer.SENTINEL if why == NothingRead.NOTHING_FOUND else None,
    )
    return replace(output, words=(word, *output.words))


def _printed(reading: SecondReading, source: LogSource, recounts: Mapping[int, Recount]) -> None:
    """The source's own figure, and the same from its rows."""
    if reading.mean is not None:
        reading.recomputed = reading.mean.value()
    its = [each for each in source.log.printed if each.scorer == reading.scorer]
    # A figure of several models together is nobody's of them.
    its = [each for each in its if each.model == reading.model] or [
        each for each in its if each.model is None and reading.outputs == reading.of_log
    ]
    if its:
        recount = recounts.get(id(its[0]))
        reading.printed = its[0]
        reading.recomputed = None if recount is None else recount.value()
