"""Inspect AI: what the header and the samples of its logs mean, whichever file holds them.

Every field that is used has its type here, so that any other value is refused with the path to it; all others,
above all the events, are passed over. The text is that of the first choice's message; those of others are kept
beside it. So is `completion`, which scorers read, where a solver rewrote it. Where Inspect's own code is known
to write or trim such a text, and the log does not show that it did not, the output is not called verbatim.

The prompt is the text of the user where a conversation has one message of theirs: then that is what was sent.
"""

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from affidavit.errors import InputError
from affidavit.exchange.json_documents import refuse
from affidavit.exchange.log import Grader, Log, PrintedScore, Recount
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.json_values import Fields

_ATTACHMENT = "attachment://"
_NO_GRADE = "Grade not found in model output"
_REWRITTEN = re.compile(r"ANSWER: [A-Z]?(, [A-Z])*")
"""What the multiple choice solver puts in place of an answer to shuffled options."""
_COUNTS: Mapping[object, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_COUNTS_IN_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ACCURACY = ("accuracy", "inspect_ai/accuracy")
_RECOUNTED = (*_ACCURACY, "mean", "inspect_ai/mean")


class _Metric(msgspec.Struct):
    name: str | None = None
    value: float | None = None
    params: dict[str, object] | None = None
    options: dict[str, object] | None = None


class _Scored(msgspec.Struct):
    """What was printed for a scorer, or for one entry of its values."""

    name: str
    scorer: str | None = None
    reducer: str | None = None
    params: dict[str, object] | None = None
    metrics: dict[str, _Metric] | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None


class _Results(msgspec.Struct):
    total_samples: int | None = None
    completed_samples: int | None = None
    scores: list[_Scored] | None = None
    scorer: _Scored | None = None
    """In version 1: the only one, its metrics beside it."""
    metrics: dict[str, _Metric] | None = None


class _Scorer(msgspec.Struct):
    name: str
    options: dict[str, object] | None = None
    metrics: object = None


class _Evaluated(msgspec.Struct):
    task: str
    model: str
    created: str | None = None
    dataset: dict[str, object] | None = None
    config: dict[str, object] | None = None
    model_roles: dict[str, object] | None = None
    scorers: list[_Scorer] | None = None
    packages: dict[str, object] | None = None


class _Plan(msgspec.Struct):
    steps: list[dict[str, object]] | None = None


class _Error(msgspec.Struct):
    message: str


class Header(msgspec.Struct):
    """What a log says of itself before its samples."""

    version: int
    eval: _Evaluated
    status: str = "started"
    plan: _Plan | None = None
    results: _Results | None = None
    stats: dict[str, object] | None = None
    error: _Error | None = None
    invalidated: bool | None = None

    def scored(self) -> list[_Scored]:
        """What was printed, in the form of every version."""
        if self.results is None:
            return []
        if self.results.scorer is not None:
            only = msgspec.structs.replace(self.results.scorer, metrics=self.results.metrics)
            return [*(self.results.scores or ()), only]
        return self.results.scores or []

    def facts(self) -> Fields:
        """What a reader of the outputs should know of the log."""
        scored = [(each.name, each.scored_samples, each.unscored_samples) for each in self.scored()]
        used = (self.stats or {}).get("model_usage")
        said: Fields = {
            "version": self.version,
            "status": self.status,
            "created": self.eval.created,
            "error": self.error and self.error.message,
            "invalidated": self.invalidated or None,
            "completed": self.results and self.results.completed_samples,
            "scored": {name: count for name, count, _ in scored if count is not None} or None,
            "unscored": {name: count for name, _, count in scored if count} or None,
            "inspect_ai": (self.eval.packages or {}).get("inspect_ai"),
            "models_used": list(used) if isinstance(used, dict) and used else None,
        }
        return {name: value for name, value in said.items() if value is not None}


class _Part(msgspec.Struct):
    """A part of a message: a text, a reasoning, an image."""

    type: str
    text: str | None = None
    reasoning: str | None = None
    redacted: bool | None = None
    signature: str | None = None


class _Message(msgspec.Struct):
    role: str = "assistant"
    content: str | list[_Part] | None = None
    reasoning: str | None = None
    """Where older versions put it."""
    tool_calls: list[object] | None = None

    def texts(self) -> list[str]:
        """The texts of its parts, in their order."""
        if isinstance(self.content, str):
            return [self.content]
        return [part.text for part in self.parts() if part.type == "text" and part.text is not None]

    def parts(self) -> list[_Part]:
        """Its parts, if it is in any."""
        return self.content if isinstance(self.content, list) else []

    def is_text(self) -> bool:
        """Whether it is one text and nothing else."""
        return isinstance(self.content, str) or len(self.texts()) == len(self.parts()) == 1


class _Choice(msgspec.Struct):
    message: _Message
    stop_reason: str | None = None


class _Output(msgspec.Struct):
    choices: list[_Choice] | None = None
    completion: str | None = None
    error: str | None = None
    usage: dict[str, object] | None = None

    def other_texts(self) -> dict[str, str]:
        """The texts of further choices, by their place: Inspect scores the first alone."""
        others = enumerate((self.choices or ())[1:], 1)
        return {f"choices[{place}]": "\n".join(each.message.texts()) for place, each in others}


class _Score(msgspec.Struct):
    value: object = None
    answer: str | None = None
    explanation: str | None = None


class Sample(msgspec.Struct):
    """One sample of a log: one epoch of an item."""

    id: int | str
    epoch: int
    input: str | list[_Message]
    target: str | list[str]
    choices: list[str] | None = None
    messages: list[_Message] | None = None
    output: _Output | None = None
    scores: dict[str, _Score] | None = None
    score: _Score | None = None
    """In version 1: of the only scorer."""
    metadata: dict[str, object] | None = None
    error: _Error | str | None = None
    limit: dict[str, object] | str | None = None
    invalidation: object = None

    def error_text(self) -> str | None:
        """What stopped the sample, or the request for its output."""
        if self.error is not None:
            return self.error if isinstance(self.error, str) else self.error.message
        return None if self.output is None else self.output.error


Attachment = Callable[[str], str | None]
"""The text that a sample keeps under a name; None if it has none of it."""


class StoredSample(NamedTuple):
    """A sample, and where it stands."""

    place: str
    where: str
    sample: Sample
    attachment: Attachment


def log_of(
    path: Path, form: str, header: Header, samples: Callable[[], Iterator[StoredSample]], **facts: object
) -> Log:
    """The log whose header and samples these are."""
    return Log(
        path=path,
        format=form,
        task=header.eval.task,
        outputs=lambda: _outputs(header, samples()),
        printed=tuple(_printed(header)),
        planned=_planned(header),
        graders=_graders(header),
        facts={**header.facts(), **{name: value for name, value in facts.items() if value is not None}},
    )


def _planned(header: Header) -> int | None:
    """How many samples there should be: of the items that were chosen, where no results say it."""
    if header.results is not None and header.results.total_samples is not None:
        return header.results.total_samples
    ids, epochs = (header.eval.dataset or {}).get("sample_ids"), (header.eval.config or {}).get("epochs")
    if not isinstance(ids, list) or not isinstance(epochs, int | None):
        return None
    return len(ids) * (1 if epochs is None else epochs)


def _graders(header: Header) -> tuple[Grader, ...]:
    """The models that graded: those that a scorer or the role names, and the evaluated one where none is named.

    A role is of the scorers that ask a model; where none is known to, it may be of any.
    """
    roles = {role: _models(said) for role, said in (header.eval.model_roles or {}).items()}
    scorers = [(_unqualified(each.name), each.options or {}) for each in header.eval.scorers or ()]
    scorers += [(_unqualified(each.scorer or each.name), each.params or {}) for each in header.scored()]
    found = []
    for name, options in scorers:
        named = _models(options.get("model"))
        if not named and name.startswith("model_graded_"):
            role = options.get("model_role")
            named = roles.get(role if isinstance(role, str) else "grader") or [header.eval.model]
        found += [Grader(model, name) for model in named]
    return tuple(dict.fromkeys(found or [Grader(model) for model in roles.get("grader", ())]))


def _models(said: object) -> list[str]:
    """The names of models, in any of the ways in which a header has them."""
    each_said = [each.get("model", each.get("name")) if isinstance(each, dict) else each for each in _listed(said)]
    return [each for each in each_said if isinstance(each, str)]


def _listed(said: object) -> list[object]:
    return said if isinstance(said, list) else [said]


def _unqualified(name: str) -> str:
    return name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class _Terms:
    """What the header says that every sample is read by."""

    model: str
    shuffled: bool
    only_scorer: str
    """Whose word the score of version 1 is."""
    with_accuracy: frozenset[str]
    """Scorers whose 1 and 0 are right and wrong, because accuracy is made of them."""


def _terms(header: Header) -> _Terms:
    printed = header.scored()
    return _Terms(
        model=header.eval.model,
        shuffled=any(_shuffles(each) for each in (header.plan and header.plan.steps) or ()),
        only_scorer=printed[0].name if printed else "score",
        with_accuracy=frozenset(_with_accuracy(header)),
    )


def _shuffles(step: Fields) -> bool:
    params = step.get("params")
    is_choice = str(step.get("solver")).endswith("multiple_choice")
    return is_choice and isinstance(params, dict) and bool(params.get("shuffle"))


def _with_accuracy(header: Header) -> Iterator[str]:
    for scored in header.scored():
        if any((metric.name or key) in _ACCURACY for key, metric in (scored.metrics or {}).items()):
            yield _word_name(scored)
    for scorer in header.eval.scorers or ():
        if any(isinstance(each, dict) and each.get("name") in _ACCURACY for each in _listed(scorer.metrics)):
            yield from (scorer.name, _unqualified(scorer.name))


def _outputs(header: Header, samples: Iterable[StoredSample]) -> Iterator[LoggedOutput]:
    terms, seen = _terms(header), set[tuple[str, int]]()
    for place, where, sample, attachment in samples:
        if not 1 <= sample.epoch < 1 << 31:
            refuse(where, expected="an epoch from 1 on", found=sample.epoch)
        key = str(sample.id), sample.epoch
        if key in seen:
            expected = "an id and epoch that no other sample has"
            raise InputError(where, expected=expected, found=f"{key[0]!r}, epoch {sample.epoch} again")
        seen.add(key)
        yield _output(place, where, sample, attachment, terms)


def _output(place: str, where: str, sample: Sample, attachment: Attachment, terms: _Terms) -> LoggedOutput:
    reply = _reply(sample, terms)
    systems, prompt = ([], None) if terms.shuffled else _prompt(sample.messages or [], attachment)
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    output = sample.output or _Output()
    is_known = output.completion in (None, "", reply.text, reply.error)
    is_other = not is_known and not str(output.completion).startswith(_ATTACHMENT)
    beside: Fields = {
        "inspect_targets": targets if len(targets) > 1 else None,
        "inspect_limit": sample.limit.get("type") if isinstance(sample.limit, dict) else sample.limit,
        "inspect_stop_reason": reply.stop_reason if reply.stop_reason != reply.finish_reason else None,
        "inspect_completion": output.completion if is_other else None,
        "inspect_system": systems or None,
        "inspect_invalidated": True if sample.invalidation is not None else None,
    }
    return LoggedOutput(
        place=place,
        item_id=str(sample.id),
        model=terms.model,
        raw_output=reply.text,
        verbatim=reply.verbatim,
        sample=sample.epoch - 1,
        prompt=prompt,
        question=_resolved(sample.input, attachment) if isinstance(sample.input, str) else None,
        options=sample.choices,
        answer=(targets[0] or None) if len(targets) == 1 else None,
        error=reply.error,
        no_answer=reply.no_answer,
        finish_reason=reply.finish_reason,
        reasoning=reply.reasoning,
        words=tuple(_words(sample, terms, where)),
        other_texts=output.other_texts(),
        more={**(sample.metadata or {}), **{name: value for name, value in beside.items() if value is not None}},
    )


class _Reply(NamedTuple):
    text: str | None
    verbatim: bool
    no_answer: NoAnswer | None
    error: str | None
    stop_reason: str | None
    finish_reason: str | None
    reasoning: str | None


def _reply(sample: Sample, terms: _Terms) -> _Reply:
    """What the model said, or why there is nothing of it."""
    output = sample.output or _Output()
    choice = output.choices[0] if output.choices else _Choice(_Message())
    message, stop_reason = choice.message, choice.stop_reason
    # A text without usage was never generated: for `model_length` Inspect's providers put the error in its place.
    cut = stop_reason == "max_tokens" or (stop_reason == "model_length" and output.usage is not None)
    finish_reason = "length" if cut else stop_reason
    texts, reasoning = message.texts(), _reasoning(message)
    text = "\n".join(texts)
    is_thought = reasoning is not None or finish_reason == "length"
    absence, error = _absence(sample, message, text, stop_reason, is_thought=is_thought)
    verbatim = len(texts) <= 1 and not _may_be_changed(text, message, finish_reason, output, terms)
    said = text if absence is None else None
    return _Reply(said, verbatim, absence, error, stop_reason, finish_reason, reasoning)


def _absence(
    sample: Sample, message: _Message, text: str, stop_reason: str | None, *, is_thought: bool
) -> tuple[NoAnswer | None, str | None]:
    """Why a text is no answer, if it is none, and what went wrong (ruling C1)."""
    error = sample.error_text()
    if text:
        # A provider that refuses a request has its message put into the place of the text.
        is_refusal = sample.output is not None and text == sample.output.error
        return (NoAnswer.ERROR if is_refusal else None), error
    if error is not None:
        return NoAnswer.ERROR, error
    if sample.limit is not None:
        return NoAnswer.LIMIT, None
    if stop_reason == "content_filter":
        return NoAnswer.ERROR, stop_reason
    is_missing = bool(message.tool_calls) or (message.content is None and not is_thought)
    return (NoAnswer.MISSING if is_missing else None), None


def _may_be_changed(
    text: str, message: _Message, finish_reason: str | None, output: _Output, terms: _Terms
) -> bool:
    """Whether a text may be one that Inspect wrote or trimmed."""
    if finish_reason in ("content_filter", "model_length") and output.usage is None:
        return True
    if terms.shuffled and _REWRITTEN.fullmatch(text):
        return True
    # What a model says between <think> and </think> is cut out, and the rest trimmed; a server that has signed its
    # reasoning gave it apart.
    unsigned = (part.type == "reasoning" and part.signature is None for part in message.parts())
    return (message.reasoning is not None or any(unsigned)) and text == text.strip()


def _reasoning(message: _Message) -> str | None:
    parts = message.parts()
    said = [part.reasoning for part in parts if part.type == "reasoning" and not part.redacted and part.reasoning]
    return "\n".join(each for each in (message.reasoning, *said) if each) or None


def _prompt(messages: list[_Message], attachment: Attachment) -> tuple[list[str], str | None]:
    """The texts of the system, and the one of the user if that is all that the model was sent."""
    systems = [each for each in messages if each.role == "system"]
    others = [each for each in messages if each.role != "system"]
    if [each.role for each in others] not in (["user"], ["user", "assistant"]):
        return [], None
    sent = [*systems, others[0]]
    texts = [_resolved(text, attachment) for each in sent if each.is_text() for text in each.texts()]
    known = [text for text in texts if text is not None]
    return (known[:-1], known[-1]) if len(known) == len(sent) else ([], None)


def _resolved(text: str, attachment: Attachment) -> str | None:
    return attachment(text.removeprefix(_ATTACHMENT)) if text.startswith(_ATTACHMENT) else text


def _words(sample: Sample, terms: _Terms, where: str) -> Iterator[SourceWord]:
    """What each scorer said; of a value with several entries, each by itself."""
    scores = dict(sample.scores or {})
    if sample.score is not None:
        if scores:
            refuse(where, expected="a score or scores", found="both of them")
        scores = {terms.only_scorer: sample.score}
    for name, score in scores.items():
        entries = dict(enumerate(score.value, 1)) if isinstance(score.value, list) else score.value
        for entry, value in entries.items() if isinstance(entries, dict) else [(None, entries)]:
            yield _word(name if entry is None else f"{name}.{entry}", value, score, terms, where)


def _word(name: str, value: object, score: _Score, terms: _Terms, where: str) -> SourceWord:
    if not isinstance(value, str | int | float | None):
        refuse(where, expected=f"a text or a number as the score of {name!r}", found=value)
    no_answer = NoAnswer.SENTINEL if value == "N" else None
    if (score.explanation or "").startswith(_NO_GRADE):
        no_answer = NoAnswer.ERROR
    points = _points(value)
    is_whole = not isinstance(score.value, dict | list)
    return SourceWord(
        scorer=name,
        answer=score.answer,
        correct=_verdict(value, points, is_counted=name in terms.with_accuracy, is_whole=is_whole),
        points=points,
        score=value,
        no_answer=no_answer,
    )


def _points(value: str | float | None) -> float | None:
    """What a value counts in a mean or an accuracy; a text that means no number counts 0 there."""
    if value is None or value in _COUNTS:
        return _COUNTS.get(value)
    unknown = 0.0 if isinstance(value, str) else None
    try:
        number = float(_COUNTS_IN_WORDS.get(value.lower(), value) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return unknown
    return number if math.isfinite(number) else unknown


def _verdict(value: object, points: float | None, *, is_counted: bool, is_whole: bool) -> bool | None:
    """Right or wrong, where a value says so: 1 and 0 only of a scorer whose accuracy is made."""
    if value in ("C", "I"):
        return value == "C"
    if isinstance(value, bool) and is_whole:
        return value
    is_word = isinstance(value, int | float) or (isinstance(value, str) and value.lower() in _COUNTS_IN_WORDS)
    return bool(points) if is_counted and is_word and points in (0.0, 1.0) else None


def _word_name(scored: _Scored) -> str:
    """The name of the words that a printed score is made of."""
    is_entry = scored.scorer is not None and _unqualified(scored.scorer) != _unqualified(scored.name)
    return f"{scored.scorer}.{scored.name}" if is_entry else scored.name


def _printed(header: Header) -> Iterator[PrintedScore]:
    usual = _listed((header.eval.config or {}).get("epochs_reducer", "mean"))
    for scored in header.scored():
        reducer = scored.reducer or (usual[0] if len(usual) == 1 else None)
        for key, metric in (scored.metrics or {}).items():
            if metric.value is None or not math.isfinite(metric.value):
                continue
            is_mean = (metric.name or key) in _RECOUNTED and not (metric.params or metric.options)
            yield PrintedScore(
                scorer=_word_name(scored),
                metric=key if reducer in (None, "mean") else f"{key} ({reducer})",
                value=metric.value,
                recount=_recount(_word_name(scored), reducer) if is_mean else None,
            )


class _Counted(NamedTuple):
    sample: int
    points: float
    score: object


_Reduced = Callable[[list[_Counted]], float | None]


class ReducedMean:
    """The mean over items of what a reducer makes of the epochs of each."""

    def __init__(self, scorer: str, *, reducer: _Reduced, of_verdicts: bool = False) -> None:
        self._scorer = scorer
        self._reducer = reducer
        self._of_verdicts = of_verdicts
        self._items: dict[str, list[_Counted]] = {}

    def add(self, output: LoggedOutput) -> None:
        """One output more; what is unscored counts nowhere."""
        for word in output.words:
            if word.scorer == self._scorer and word.points is not None:
                counted = _Counted(output.sample, word.points, word.score)
                self._items.setdefault(output.item_id, []).append(counted)

    def value(self) -> float | None:
        """The mean; None over nothing, and where it hangs on a threshold that the log does not name."""
        if self._of_verdicts and any(each.points not in (0, 1) for item in self._items.values() for each in item):
            return None
        reduced = [self._reducer(sorted(item, key=lambda each: each.sample)) for item in self._items.values()]
        counted = [each for each in reduced if each is not None]
        return math.fsum(counted) / len(counted) if counted else None


def _recount(scorer: str, reducer: object) -> Callable[[], Recount] | None:
    """What makes a mean again, the epochs brought together as the log says; None if how is not known here."""
    if reducer == "mean":
        return mean_of_items(scorer)
    if not isinstance(reducer, str):
        return None
    if reducer in _REDUCERS:
        return partial(ReducedMean, scorer, reducer=_REDUCERS[reducer])
    name, _, count = reducer.rpartition("_")
    if name in _REDUCERS_OF and re.fullmatch("[1-9][0-9]{0,8}", count):
        return partial(ReducedMean, scorer, reducer=partial(_REDUCERS_OF[name], int(count)), of_verdicts=True)
    return None


def _most_common(epochs: list[_Counted]) -> float:
    """Of equally common ones, that which came first."""
    commonest, _ = Counter(each.score for each in epochs).most_common(1)[0]
    return next(each.points for each in epochs if each.score == commonest)


def _right(epochs: list[_Counted]) -> int:
    return sum(each.points >= 1 for each in epochs)


def _pass_at(count: int, epochs: list[_Counted]) -> float | None:
    total, wrong = len(epochs), len(epochs) - _right(epochs)
    if total < count:
        return None
    return 1.0 if wrong < count else 1.0 - math.prod(1.0 - count / size for size in range(wrong + 1, total + 1))


_REDUCERS: Mapping[str, _Reduced] = {
    "mode": _most_common,
    "max": lambda epochs: max(each.points for each in epochs),
    "median": lambda epochs: statistics.median(each.points for each in epochs),
}
_REDUCERS_OF: Mapping[str, Callable[[int, list[_Counted]], float | None]] = {
    "at_least": lambda count, epochs: float(_right(epochs) >= count),
    "pass_at": _pass_at,
}
