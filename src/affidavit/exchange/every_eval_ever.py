"""Every Eval Ever: `UUID_samples.jsonl`, a row for each output and metric, with the aggregate `UUID.json` beside.

Rows of one sample with the same question and the same texts are words about one output. Where one sample id stands
for several questions, as in suites, an item's name has the evaluation before it. Turns of dialogues and of agents
are no answer to one prompt: they are left out and counted in the facts; a file of nothing else is refused.

`output.raw` should be the complete response. Rows made from lm-eval have what its filter left, and rows made from
Inspect what its scorer read: neither is verbatim. What a row's metadata says under `verbatim`, as ours do, is
taken for its word. Multiple choice by log-likelihoods names an option in its place, and is refused. Some
converters write `is_correct` false for every graded metric: beside a score other than 0, false is a verdict only
of a metric that says true somewhere in the file.

Versions 0.2 have the same fields. Where one of them has a text for a list of texts, it is refused.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

from affidavit.errors import InputError
from affidavit.exchange.batch_output import first_keys, placed_rows, row_at
from affidavit.exchange.json_documents import (
    document,
    list_in,
    number_in_words,
    object_in,
    refuse,
    text_in,
)
from affidavit.exchange.log import HEAD, Grader, Log, LogFormat, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.json_values import Fields, canonical
from affidavit.plain_text import counted_noun
from affidavit.reading.source import reading_on
from affidavit.reading.utf8 import BYTE_ORDER_MARK

_VERSION = re.compile(r"(instance_level_eval_)?0\.(3\.0|2\.\d{1,3})")
_DIALOGUES = ("multi_turn", "agentic")
_ROW_KEYS = frozenset({"schema_version", "evaluation_id", "sample_id", "interaction_type"})
_AGGREGATE_KEYS = frozenset({"schema_version", "evaluation_id"})
_REWRITTEN = re.compile(r"lm.?eval|inspect", re.IGNORECASE)
"""Sources whose converters write what was left of an output, and not the output."""
_LM_EVAL = re.compile(r"lm.?eval", re.IGNORECASE)
_NO_MEAN = re.compile(
    r"elo|rank|rmse|auroc|macro|micro|bleu|chrf|ppl|perplexity|mcc|@|pass_at|stderr|percent", re.I
)
"""Metrics that are not, or not certainly, the mean of their rows."""
_AS_THEY_ARE = frozenset({"", "none", "exact_match", "llm_judge"})
"""Ways of extraction after which a text that equals what was extracted may still be whole."""
_INVALID = "[invalid]"
_EPOCH = re.compile(r"[1-9][0-9]{0,8}")
_COUNT = re.compile(r"[0-9]{1,9}")
_KINDS = {str: "a text", dict: "an object", bool: "true or false", int: "a number"}
_Kind = TypeVar("_Kind", str, Fields, bool, int)


def _recognises(head: bytes, _path: Path) -> bool:
    return _keys(head) >= _ROW_KEYS


def _is_aggregate(head: bytes, _path: Path) -> bool:
    keys = _keys(head)
    return keys >= _AGGREGATE_KEYS and "sample_id" not in keys and "retrieved_timestamp" in keys


def _keys(head: bytes) -> frozenset[str]:
    content = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    return first_keys(content) if content.startswith(b"{") else frozenset()


# --- one row ---


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What is used of a row."""

    name: str
    scorer: str
    sample_id: str
    model: str
    repeat: int
    question: str
    prompt: str | None
    references: Sequence[str]
    choices: Sequence[str]
    texts: Sequence[str]
    thoughts: Sequence[str]
    extracted: str | None
    methods: Sequence[str]
    score: int | float | None
    correct: bool | None
    error: str | None
    more: Fields

    def digest(self) -> bytes:
        """Of what rows about one output have in common."""
        return sha256(canonical([self.question, list(self.texts)])).digest()[:16]


def _row(fields: Fields, where: str) -> _Row:
    given, output = object_in(fields, "input", where=where), object_in(fields, "output", where=where)
    evaluation, more = (
        object_in(fields, "evaluation", where=where),
        _optional(fields, "metadata", dict, where) or {},
    )
    name, extracted = text_in(fields, "evaluation_name", where=where), _attributions(fields, where)
    _refuse_other_media(fields, output, where)
    terminal = [value for value, _, is_terminal in extracted if is_terminal]
    return _Row(
        name=name,
        scorer=_optional(fields, "evaluation_result_id", str, where) or name,
        sample_id=text_in(fields, "sample_id", where=where),
        model=_model(fields, where),
        repeat=_repeat(more),
        question=text_in(given, "raw", where=where),
        prompt=_optional(given, "formatted", str, where),
        references=_texts(given, "reference", where),
        choices=[] if given.get("choices") is None else _texts(given, "choices", where),
        texts=_texts(output, "raw", where),
        thoughts=[] if output.get("reasoning_trace") is None else _texts(output, "reasoning_trace", where),
        extracted=terminal[0] if len(terminal) == 1 else None,
        methods=[method for _, method, _ in extracted],
        score=_score(evaluation, where),
        correct=_optional(evaluation, "is_correct", bool, where),
        error=_optional(fields, "error", str, where) or None,
        more=more,
    )


def _optional(fields: Fields, name: str, kind: type[_Kind], where: str) -> _Kind | None:
    """The value in a field that may be absent or null; refused if it is of another kind."""
    value = fields.get(name)
    if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        refuse(where, expected=f"{_KINDS[kind]} or null in {name!r}", found=value)
    return value


def _texts(fields: Fields, name: str, where: str) -> list[str]:
    values = list_in(fields, name, where=where)
    if not all(isinstance(each, str) for each in values):
        refuse(where, expected=f"texts in {name!r}", found=values)
    return [each for each in values if isinstance(each, str)]


def _model(fields: Fields, where: str) -> str:
    model = text_in(fields, "model_id", where=where)
    return model if model.strip() else refuse(where, expected="a name in 'model_id'", found=model)


def _score(evaluation: Fields, where: str) -> int | float | None:
    score = number_in_words(evaluation.get("score"))
    if score is not None and (not isinstance(score, int | float) or isinstance(score, bool)):
        refuse(where, expected="a number or null in 'score'", found=score)
    return score


def _finite(score: int | float | None) -> float | None:
    """A score as it can be counted; None if it is no number, or beyond all floats."""
    try:
        return None if score is None or not math.isfinite(score) else float(score)
    except OverflowError:
        return None


def _repeat(more: Fields) -> int:
    """The repeat, which rows made from Inspect count as epochs from 1 on."""
    epoch = more.get("epoch")
    return int(epoch) - 1 if isinstance(epoch, str) and _EPOCH.fullmatch(epoch) else 0


def _attributions(fields: Fields, where: str) -> list[tuple[str, str, bool]]:
    """What was extracted, how, and whether that was the answer."""
    found = []
    for each in list_in(fields, "answer_attribution", where=where):
        if not isinstance(each, dict):
            refuse(where, expected="objects in 'answer_attribution'", found=each)
        is_terminal = _optional(each, "is_terminal", bool, where)
        value, method = (text_in(each, name, where=where) for name in ("extracted_value", "extraction_method"))
        found.append((value, method, is_terminal is not False))
    return found


def _refuse_other_media(fields: Fields, output: Fields, where: str) -> None:
    modality = fields.get("modality")
    if output.get("media") is not None or modality not in (None, "text", "text_to_text"):
        refuse(where, expected="texts", found=modality or "media")


# --- the rows of a file, brought together ---


@dataclass(slots=True)
class _Contents:
    """Where the rows of each output stand, and what they say of the file; the rows themselves stay in it."""

    outputs: dict[tuple[str, str, int, bytes], list[tuple[int, int]]] = field(default_factory=dict)
    names: dict[tuple[str, str, int], dict[str, bytes]] = field(default_factory=dict)
    """Of each sample, what digest each evaluation has of it."""
    evaluations: Counter[str] = field(default_factory=Counter)
    scorers: Counter[str] = field(default_factory=Counter)
    says_true: set[str] = field(default_factory=set)
    """Scorers that call an output correct: of these, false is a verdict too."""
    models: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    dialogues: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    is_a_suite: bool = False
    """Whether a sample id stands for several questions."""

    def add(self, row: _Row, place: int, number: int, where: str) -> None:
        """One row more; refused if it says again what another said."""
        digest, sample = row.digest(), (row.sample_id, row.model, row.repeat)
        known = self.names.setdefault(sample, {})
        if known.setdefault(row.name, digest) != digest:
            refuse(where, expected="a sample_id that no other row of its evaluation has", found=row.sample_id)
        self.is_a_suite = self.is_a_suite or any(each != digest for each in known.values())
        self.outputs.setdefault((*sample, digest), []).append((place, number))
        self.evaluations[row.name] += 1
        self.scorers[row.scorer] += 1
        if row.correct is True:
            self.says_true.add(row.scorer)
        self.models.add(row.model)
        self.texts += max(len(row.texts), 1)


def _contents(path: Path) -> _Contents:
    contents = _Contents()
    for place, number, fields in placed_rows(path):
        where = f"{path}:{number}"
        contents.versions.add(_version(fields, where))
        contents.runs.add(text_in(fields, "evaluation_id", where=where))
        kind = text_in(fields, "interaction_type", where=where)
        if kind in _DIALOGUES:
            contents.dialogues[kind] += 1
        elif kind == "single_turn":
            contents.add(_row(fields, where), place, number, where)
        else:
            refuse(where, expected="an interaction_type of the schema", found=kind)
    if contents.dialogues and not contents.outputs:
        found = f"{contents.dialogues.total()} dialogues and runs of agents"
        hint = "A contract reads the answer to one prompt; several turns are not one."
        raise InputError(str(path), expected="rows of single turns", found=found, hint=hint)
    return contents


def _version(fields: Fields, where: str) -> str:
    version = text_in(fields, "schema_version", where=where)
    if _VERSION.fullmatch(version) is None:
        refuse(where, expected="schema_version 0.3.0 or 0.2", found=version)
    return version


def _outputs(path: Path, contents: _Contents, library: str) -> Iterator[LoggedOutput]:
    with reading_on(str(path)), path.open("rb") as stream:
        for places in contents.outputs.values():
            wheres = [f"{path}:{number}" for _, number in places]
            rows = [
                _row(row_at(stream, at, where=where), where) for (at, _), where in zip(places, wheres, strict=True)
            ]
            seen: set[str] = set()
            for row, where in zip(rows, wheres, strict=True):
                if row.scorer in seen:
                    refuse(where, expected="one row for a sample and a metric", found=row.sample_id)
                seen.add(row.scorer)
            numbers = ", ".join(str(number) for _, number in places)
            place = f"line {numbers}" if len(places) == 1 else f"lines {numbers}"
            item = f"{rows[0].name}: {rows[0].sample_id}" if contents.is_a_suite else rows[0].sample_id
            yield from _of_rows(rows, place, item, _Whole(library, contents.says_true), wheres[0])


class _Whole(NamedTuple):
    """What is known of a file that decides what its rows say."""

    library: str
    says_true: Collection[str]


def _of_rows(rows: Sequence[_Row], place: str, item: str, whole: _Whole, where: str) -> Iterator[LoggedOutput]:
    first, library = rows[0], whole.library
    _refuse_log_likelihoods(first, library, where)
    if first.repeat and len(first.texts) > 1:
        refuse(where, expected="one text for each epoch", found=len(first.texts))
    words = tuple(_word(row, whole) for row in rows)
    thoughts = first.thoughts if len(first.thoughts) == len(first.texts) else []
    for sample, text in enumerate(first.texts or [None]):
        raw, no_answer = _text(first, text, library)
        yield LoggedOutput(
            place=place if len(first.texts) < 2 else f"{place}, text {sample + 1}",
            item_id=item,
            model=first.model,
            raw_output=raw,
            verbatim=not any(_is_rewritten(row, library) for row in rows),
            sample=first.repeat + sample,
            prompt=first.prompt,
            question=first.question,
            options=_options(first),
            answer=first.references[0] if len(first.references) == 1 else None,
            error=next((row.error for row in rows if row.error), None),
            no_answer=no_answer,
            reasoning=thoughts[sample] if thoughts else None,
            words=words,
            more=first.more if len(first.references) < 2 else {**first.more, "references": first.references},
        )


def _refuse_log_likelihoods(row: _Row, library: str, where: str) -> None:
    by_argmax = any(method.startswith("argmax_choice_logprob") for method in row.methods)
    if by_argmax or (_is_of_lm_eval(row, library) and row.choices):
        raise InputError(
            where,
            expected="the text of an answer in 'output.raw'",
            found="an option that was chosen by log-likelihoods",
            hint="Multiple choice by log-likelihoods asks for no output: there is nothing for a contract to read.",
        )


def _text(row: _Row, text: str | None, library: str) -> tuple[str | None, NoAnswer | None]:
    """The text of an output, or why there is none."""
    if text == _INVALID and _is_of_lm_eval(row, library):
        return None, NoAnswer.SENTINEL
    if row.error is not None and not text:
        return None, NoAnswer.ERROR
    return text, NoAnswer.MISSING if text is None else None


def _is_of_lm_eval(row: _Row, library: str) -> bool:
    return "lm_eval_metrics" in row.more or _LM_EVAL.search(library) is not None


def _is_rewritten(row: _Row, library: str) -> bool:
    """Whether the texts are what was left of the model's own: as the row itself says, or else by its marks."""
    if (said := row.more.get("verbatim")) in ("true", "false"):
        return said == "false"
    if _REWRITTEN.search(library) or _is_of_lm_eval(row, library) or row.more.keys() >= {"stop_reason", "epoch"}:
        return True
    return row.extracted in row.texts and not _AS_THEY_ARE.issuperset(row.methods)


def _options(row: _Row) -> Sequence[str] | None:
    # Rows made from HELM list the right answers as choices where a task has no others.
    return row.choices if set(row.choices) - set(row.references) else None


def _word(row: _Row, whole: _Whole) -> SourceWord:
    points = _finite(row.score)
    is_invalid = row.texts == [_INVALID] and _is_of_lm_eval(row, whole.library)
    about_item = len(row.texts) > 1
    is_unused = row.correct is False and points != 0 and row.scorer not in whole.says_true
    return SourceWord(
        scorer=row.scorer,
        answer=None if is_invalid else row.extracted,
        correct=None if about_item or is_unused else row.correct,
        points=points,
        score=row.score,
        no_answer=NoAnswer.SENTINEL if is_invalid else None,
        about_item=about_item,
    )


# --- the aggregate ---


def _opened(path: Path) -> Log:
    contents = _contents(path)
    beside = _aggregate_of(path)
    aggregate = {} if beside is None else document(beside, what="an aggregate of Every Eval Ever")
    where = str(beside)
    if beside is not None:
        _version(aggregate, where)
    library, details = _library(aggregate, where), _optional(aggregate, "detailed_evaluation_results", dict, where)
    rows = contents.evaluations.total()
    total = None if details is None else _optional(details, "total_rows", int, where)
    is_a_row_each = contents.texts == rows == len(contents.outputs)
    names = list(contents.evaluations)
    return Log(
        path=path,
        format=EVERY_EVAL_EVER.name,
        task=names[0] if len(names) == 1 else path.stem.removesuffix("_samples"),
        outputs=partial(_outputs, path, contents, library),
        printed=_printed(aggregate, contents, where),
        planned=_planned(aggregate) or (total if is_a_row_each else None),
        graders=_graders(aggregate, where),
        facts=_facts(contents, aggregate, beside, library),
    )


def _facts(contents: _Contents, aggregate: Fields, beside: Path | None, library: str) -> Fields:
    facts: Fields = {
        "schema_version": sorted(contents.versions),
        "aggregate": None if beside is None else beside.name,
    }
    if library:
        facts["source"] = library
    if contents.dialogues:
        facts["left_out"] = dict(contents.dialogues)
    if beside is not None and list(contents.runs) != [aggregate.get("evaluation_id")]:
        facts["evaluation_ids_differ"] = True
    return facts


def _aggregate_of(path: Path) -> Path | None:
    """The aggregate beside a file: of its name, or the only one that points to it."""
    named = path.with_name(path.stem.removesuffix("_samples") + ".json")
    if _looks_like_aggregate(named):
        return named
    with reading_on(str(path.parent)):
        others = [each for each in sorted(path.parent.glob("*.json")) if _looks_like_aggregate(each)]
    pointing = [each for each in others if _points_to(each, path.name)]
    return pointing[0] if len(pointing) == 1 else None


def _looks_like_aggregate(path: Path) -> bool:
    if not path.is_file():
        return False
    with reading_on(str(path)), path.open("rb") as stream:
        return _is_aggregate(stream.read(HEAD), path)


def _planned(aggregate: Fields) -> int | None:
    """How many outputs there were to be, as an aggregate of our own says: its instances leave out some of them."""
    library, source = aggregate.get("eval_library"), aggregate.get("source_metadata")
    if not isinstance(library, dict) or library.get("name") != "affidavit" or not isinstance(source, dict):
        return None
    said = source.get("additional_details")
    planned = said.get("planned") if isinstance(said, dict) else None
    return int(planned) if isinstance(planned, str) and _COUNT.fullmatch(planned) else None


def _lacks(path: Path) -> str | None:
    """That the instances of an aggregate are not beside it, and how many outputs these would be."""
    if path.with_name(f"{path.stem}_samples.jsonl").is_file():
        return None
    with reading_on(str(path.parent)):
        instances = sorted(path.parent.glob("*.jsonl"))
    if any(_aggregate_of(each) == path for each in instances):
        return None
    try:
        aggregate = document(path, what="an aggregate of Every Eval Ever")
    except InputError:
        aggregate = {}  # then nobody knows what it is of
    model, details = aggregate.get("model_info"), aggregate.get("detailed_evaluation_results")
    count = _planned(aggregate) or (details.get("total_rows") if isinstance(details, dict) else None)
    counted = f", by its own account of {counted_noun(count, 'output')}" if isinstance(count, int) else ""
    whose = f", {model['id']}" if isinstance(model, dict) and isinstance(model.get("id"), str) else ""
    return f"an aggregate of Every Eval Ever without instances{whose}{counted}: no output of it is here"


def _points_to(aggregate: Path, name: str) -> bool:
    try:
        details = document(aggregate, what="an aggregate").get("detailed_evaluation_results")
    except InputError:
        return False  # it may be anybody's
    at = details.get("file_path") if isinstance(details, dict) else None
    return isinstance(at, str) and at.rpartition("/")[2] == name


def _library(aggregate: Fields, where: str) -> str:
    """The harness that an aggregate was made from, by all names that it gives."""
    library = _optional(aggregate, "eval_library", dict, where) or {}
    source = _optional(aggregate, "source_metadata", dict, where) or {}
    said = [_optional(library, "name", str, where), _optional(source, "source_name", str, where)]
    return ", ".join(dict.fromkeys(each for each in said if each))


def _results(aggregate: Fields, where: str) -> Iterator[tuple[Fields, Fields]]:
    """Each printed result and what it says of its metric."""
    for result in list_in(aggregate, "evaluation_results", where=where) if aggregate else []:
        if not isinstance(result, dict):
            refuse(where, expected="objects in 'evaluation_results'", found=result)
        yield result, object_in(result, "metric_config", where=where)


def _printed(aggregate: Fields, contents: _Contents, where: str) -> tuple[PrintedScore, ...]:
    results = list(_results(aggregate, where))
    of_name = Counter(text_in(result, "evaluation_name", where=where) for result, _ in results)
    found = []
    for result, config in results:
        name, own = text_in(result, "evaluation_name", where=where), result.get("evaluation_result_id")
        said = [config.get(key) for key in ("metric_name", "metric_id", "evaluation_description")]
        metric = next((each for each in said if isinstance(each, str) and each), "score")
        scorer = own if isinstance(own, str) and own in contents.scorers else name
        is_known = scorer in contents.scorers and (scorer == own or of_name[name] == 1)
        is_mean = not contents.dialogues and not _is_no_mean(config)
        score = _finite(_score(object_in(result, "score_details", where=where), where))
        if score is not None:
            again = mean_of_items(scorer) if is_known and is_mean and len(contents.models) == 1 else None
            found.append(PrintedScore(scorer=scorer, metric=metric, value=score, recount=again))
    return tuple(found)


def _is_no_mean(config: Fields) -> bool:
    """Whether a metric may be something else than the mean of its rows, or leaves some of them out."""
    said = [config.get(name) for name in ("metric_name", "metric_id", "metric_kind", "metric_unit")]
    said.append(config.get("evaluation_description"))
    return config.get("has_unknown_level") is True or any(
        isinstance(each, str) and _NO_MEAN.search(each) for each in said
    )


def _graders(aggregate: Fields, where: str) -> tuple[Grader, ...]:
    found: dict[str, None] = {}
    for _, config in _results(aggregate, where):
        judging = _optional(config, "llm_scoring", dict, where) or {}
        for judge in list_in(judging, "judges", where=where) if judging else []:
            if not isinstance(judge, dict):
                refuse(where, expected="objects in 'judges'", found=judge)
            found[text_in(object_in(judge, "model_info", where=where), "id", where=where)] = None
    return tuple(map(Grader, found))


EVERY_EVAL_EVER = LogFormat("Every Eval Ever samples", _recognises, _opened, _is_aggregate, _lacks)
