"""lighteval: `details/MODEL/TIME/details_TASK_TIME.parquet`, and `results/MODEL/results_TIME.json` for the scores.

A row is a document with all texts that were sampled for it, and a metric's value is about the document: with one
text it is about that text, with several about none of them. Since 0.10 a row has the structs `doc`, `metric` and
`model_response`; before, it had `example`, `predictions` and `metrics`, and no id. What lighteval left of a text
for scoring stands apart and is not read. A text with thoughts beside it is not called verbatim: LiteLLM, by
which servers are asked, cuts out what stands in `<think>`, and a server that gave its thoughts apart leaves the
same row. Texts that were asked for and are not there are missing. Where every try failed, the text is empty, as
where the answer was: which it was, no log says, and so it is told. Where there are log-probabilities and no
text, a row is refused. `choices` are options only where not every one of them is right: a task without options
keeps its right answers there.

A printed score is made again where lighteval says that it is the mean.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from affidavit.errors import InputError
from affidavit.exchange.batch_output import first_keys
from affidavit.exchange.json_documents import document, list_in, object_in, refuse, text_in
from affidavit.exchange.log import Log, LogFormat, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.json_values import Fields
from affidavit.reading.output_columns import UNNAMED

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_ONCE = 512
"""Rows that travel together: each may have the tokens of many long texts."""
_NAME = re.compile(r"details_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)\.parquet")
_COLUMNS = ("doc", "metric", "model_response")
_OLD_COLUMNS = ("example", "full_prompt", "metrics", "predictions")
_USED = {
    "doc": ("id", "query", "choices", "gold_index", "specific", "sampling_methods", "num_samples"),
    "model_response": ("text", "input", "logprobs", "reasonings"),
}
_OLD_USED = (*_OLD_COLUMNS, "choices", "gold", "gold_index", "specifics")
_VERDICT = re.compile(r"acc|match|correct|(^|_)p?q?em($|_)|pass@(k:k=)?1(?!\d)")
"""Metrics whose 0 and 1 are wrong and right; those of others are the ends of a scale."""
MOST_SAMPLES = 100_000
"""Nobody asks more texts of one document: a number beyond is a damaged one."""
_NO_TEXT = "Log-probabilities ask for no output: there is nothing for a contract to read."


# --- the table ---


def _schema(path: Path) -> "Mapping[str, pl.DataType]":
    """The columns of a Parquet file; InputError if it is none."""
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    try:
        return dict(pl.scan_parquet(path, glob=False).collect_schema())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(str(path), expected="Parquet", found=str(error).partition("\n")[0]) from error


def _columns(head: bytes, path: Path) -> frozenset[str]:
    if not head.startswith(b"PAR1"):
        return frozenset()
    try:
        return frozenset(_schema(path))
    except InputError:
        return frozenset()


def _recognises(head: bytes, path: Path) -> bool:
    columns = _columns(head, path)
    return columns >= set(_COLUMNS) or columns >= set(_OLD_COLUMNS)


def _is_results(head: bytes, path: Path) -> bool:
    if head.lstrip().startswith(b"{"):
        return "config_general" in first_keys(head.lstrip())
    return {"config_general", "results"} <= _columns(head, path)


def _rows(path: Path) -> Iterator[Fields]:
    """The rows, with what is used of them and nothing else."""
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    schema = _schema(path)
    try:
        table = pl.scan_parquet(path, glob=False).select(_selection(path, schema))
        for frame in table.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True):
            yield from frame.iter_rows(named=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(str(path), expected="Parquet", found=str(error).partition("\n")[0]) from error


def _selection(path: Path, schema: "Mapping[str, pl.DataType]") -> "list[pl.Expr]":
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    if not set(_COLUMNS) <= schema.keys():
        return [pl.col(name) for name in _OLD_USED if name in schema]
    found = [pl.col("metric")]
    for name, used in _USED.items():
        kind = schema[name]
        there = {each.name for each in kind.fields} if isinstance(kind, pl.Struct) else set()
        if there.isdisjoint(used):
            refuse(str(path), expected=f"a struct with {used[0]!r} in the column {name!r}", found=str(kind))
        found.append(pl.struct(pl.col(name).struct.field(each) for each in used if each in there).alias(name))
    return found


# --- one row ---


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """What is used of a row, whatever version wrote it."""

    item_id: str
    question: str
    prompt: str | None
    texts: Sequence[str | None]
    """As many as were asked for, or more."""
    thoughts: Sequence[str | None] = ()
    golds: Sequence[str]
    choices: Sequence[str]
    metrics: Fields
    more: Fields = field(default_factory=dict)


def _document(fields: Fields, number: int, where: str) -> _Document:
    doc, response = object_in(fields, "doc", where=where), object_in(fields, "model_response", where=where)
    given, choices = doc.get("id"), _choices(doc, where)
    if given is not None and not isinstance(given, str):
        refuse(where, expected="a text in 'id'", found=given)
    texts, asked = _texts(response, "text", where), _asked(doc, where)
    methods = _texts(doc, "sampling_methods", where)
    if not any(texts) and _any_in(response, "logprobs", where) and (not methods or "LOGPROBS" in methods):
        raise InputError(where, expected="texts", found="log-probabilities of answers, and no text", hint=_NO_TEXT)
    return _Document(
        item_id=given or str(number),
        question=text_in(doc, "query", where=where),
        prompt=_prompt(response.get("input")),
        texts=[*texts, *[None] * (asked - len(texts))],
        thoughts=_texts(response, "reasonings", where),
        golds=[text for place in _gold_places(doc, len(choices), where) for text in choices[place]],
        choices=[text for each in choices for text in each],
        metrics=_metrics(fields, "metric", where),
        more=_specific(doc.get("specific")),
    )


def _old_document(fields: Fields, number: int, where: str) -> _Document:
    texts, choices = fields.get("predictions"), _choices(fields, where)
    if isinstance(texts, list) and any(isinstance(each, float | list | dict) for each in texts):
        raise InputError(where, expected="texts in 'predictions'", found="log-probabilities", hint=_NO_TEXT)
    return _Document(
        item_id=str(number),
        question=text_in(fields, "example", where=where),
        prompt=text_in(fields, "full_prompt", where=where),
        texts=_texts(fields, "predictions", where),
        golds=[text for text in _texts(fields, "gold", where) if text is not None]
        or [text for place in _gold_places(fields, len(choices), where) for text in choices[place]],
        choices=[text for each in choices for text in each],
        metrics=_metrics(fields, "metrics", where),
        more=_specific(fields.get("specifics")),
    )


def _texts(fields: Fields, name: str, where: str) -> list[str | None]:
    """A list of texts, of which some may be missing; empty if there is none."""
    values = [] if fields.get(name) is None else list_in(fields, name, where=where)
    if not all(each is None or isinstance(each, str) for each in values):
        refuse(where, expected=f"texts in {name!r}", found=values)
    return [each if isinstance(each, str) else None for each in values]


def _asked(doc: Fields, where: str) -> int:
    """How many texts were asked for; 1 where the log does not say."""
    value = doc.get("num_samples")
    if value is not None and (type(value) is not int or not 0 < value <= MOST_SAMPLES):
        refuse(where, expected=f"a number from 1 to {MOST_SAMPLES} in 'num_samples'", found=value)
    return value if isinstance(value, int) else 1


def _any_in(fields: Fields, name: str, where: str) -> bool:
    return fields.get(name) is not None and bool(list_in(fields, name, where=where))


def _choices(fields: Fields, where: str) -> list[list[str]]:
    """The choices, each by all texts that stand for it."""
    values = [] if fields.get("choices") is None else list_in(fields, "choices", where=where)
    found: list[list[str]] = []
    for value in values:
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in texts):
            refuse(where, expected="texts in 'choices'", found=values)
        found.append([str(each) for each in texts])
    return found


def _gold_places(fields: Fields, choices: int, where: str) -> list[int]:
    """Which choices are right; none where the answer is not known, for which some tasks have -1."""
    value = fields.get("gold_index")
    places = value if isinstance(value, list) else [] if value is None else [value]
    found = [place for place in places if type(place) is int and place < choices]
    if len(found) < len(places):
        refuse(where, expected=f"numbers below {choices} in 'gold_index'", found=value)
    return [] if any(place < 0 for place in found) else found


def _metrics(fields: Fields, name: str, where: str) -> Fields:
    """The values of metrics; a metric that others of its table have, and it does not, is null there."""
    said = {} if fields.get(name) is None else object_in(fields, name, where=where)
    return {metric: value for metric, value in said.items() if value is not None}


def _specific(value: object) -> Fields:
    return {name: each for name, each in value.items() if each is not None} if isinstance(value, dict) else {}


def _prompt(sent: object) -> str | None:
    """The words that were sent: all of them, or the last of the user in a conversation."""
    if isinstance(sent, list):
        by_user = [each for each in sent if isinstance(each, dict) and each.get("role") == "user"]
        sent = by_user[-1].get("content") if by_user else None
    return sent if isinstance(sent, str) else None


def _outputs(path: Path, model: str) -> Iterator[LoggedOutput]:
    seen: set[str] = set()
    for number, fields in enumerate(_rows(path), 1):
        where = f"{path}:row {number}"
        found = (_document if "doc" in fields else _old_document)(fields, number, where)
        if found.item_id in seen:
            refuse(where, expected="an id that no other row has", found=found.item_id)
        seen.add(found.item_id)
        yield from _of_document(found, number, model)


def _of_document(found: _Document, number: int, model: str) -> Iterator[LoggedOutput]:
    several = len(found.texts) > 1
    words = tuple(_words(found.metrics, about_item=several))
    scorers = {word.scorer for word in words}
    details = {name: value for name, value in found.metrics.items() if name not in scorers}
    golds = list(dict.fromkeys(found.golds))
    more = {**found.more, **({"metrics": details} if details else {})}
    thoughts = found.thoughts if len(found.thoughts) == len(found.texts) else ()
    for sample, text in enumerate(found.texts or [None]):
        yield LoggedOutput(
            place=f"row {number}, text {sample + 1}" if several else f"row {number}",
            item_id=found.item_id,
            model=model,
            raw_output=text,
            verbatim=not (thoughts and text is not None and thoughts[sample]),
            sample=sample,
            no_answer=NoAnswer.MISSING if text is None else None,
            prompt=found.prompt,
            question=found.question,
            options=found.choices if set(found.choices) - set(golds) and golds else None,
            answer=golds[0] if len(golds) == 1 else None,
            reasoning=thoughts[sample] if thoughts else None,
            words=words,
            more={**more, "references": golds} if len(golds) > 1 else more,
        )


def _words(metrics: Fields, *, about_item: bool) -> Iterator[SourceWord]:
    """The metrics that are numbers; others tell how one of these came about."""
    for name, value in metrics.items():
        points = _number(value)
        if points is not None or isinstance(value, float):
            is_verdict = not about_item and points in (0.0, 1.0) and _VERDICT.search(name)
            correct = bool(points) if is_verdict else None
            yield SourceWord(scorer=name, correct=correct, points=points, score=value, about_item=about_item)


def _number(value: object) -> float | None:
    """A number as it can be counted; None if it is none, or beyond all floats."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


# --- the log ---


def _opened(path: Path) -> Log:
    columns = set(_schema(path))
    if not (columns >= set(_COLUMNS) or columns >= set(_OLD_COLUMNS)):
        refuse(str(path), expected="the columns of lighteval's details", found=sorted(columns))
    named = _NAME.fullmatch(path.name)
    task = path.stem if named is None else named["task"]
    beside = None if named is None else _results_beside(path, named["time"])
    results = {} if beside is None else document(beside, what="results of lighteval")
    general = _inside(results, "config_general")
    return Log(
        path=path,
        format=LIGHTEVAL.name,
        task=task,
        outputs=partial(_outputs, path, _model(general, path, named)),
        printed=_printed(results, task),
        notes=tuple(_notes(path, general)),
        facts={
            "results": None if beside is None else beside.name,
            **{name: general[name] for name in ("lighteval_sha", "max_samples") if general.get(name) is not None},
        },
    )


def _notes(path: Path, general: Fields) -> list[str]:
    """What a person must know of empty texts, where a server was asked."""
    empty = _empty_texts(path) if "provider" in _inside(general, "model_config") else 0
    texts = "1 text is empty" if empty == 1 else f"{empty:,} texts are empty"
    return [f"{texts}: lighteval writes the same where every try to ask failed"] if empty else []


def _empty_texts(path: Path) -> int:
    import polars as pl  # noqa: PLC0415 - few files need it, and it is slow to import

    kind = _schema(path).get("model_response")
    there = {each.name: each.dtype for each in kind.fields} if isinstance(kind, pl.Struct) else {}
    if there.get("text") != pl.List(pl.String):
        return 0
    count = pl.col("model_response").struct.field("text").list.count_matches("").sum()
    try:
        return int(pl.scan_parquet(path, glob=False).select(count).collect(engine="streaming").item() or 0)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(str(path), expected="Parquet", found=str(error).partition("\n")[0]) from error


def _results_beside(path: Path, time: str) -> Path | None:
    """The results of a run: beside its details, a folder above as on the hub, or in `results` beside `details`."""
    name = f"results_{time}.json"
    folders = [path.parent, path.parent.parent]
    folders += [above.parent / "results" / inner for above, inner in _below_details(path)]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _below_details(path: Path) -> Iterator[tuple[Path, Path]]:
    """The folders called `details` above a file, each with the way from there to its model."""
    for above in path.parents:
        if above.name == "details" and above not in (path.parent, path.parent.parent):
            yield above, path.parent.parent.relative_to(above)


def _model(general: Fields, path: Path, named: re.Match[str] | None) -> str:
    """Whose outputs they are: as the results say, or by the folders that lighteval names after it."""
    for said in (general.get("model_name"), _inside(general, "model_config").get("model_name")):
        if isinstance(said, str) and said.strip():
            return said
    is_in_place = named is not None and path.parent.name == named["time"]
    folders = [inner.as_posix() for _, inner in _below_details(path)] if is_in_place else []
    return folders[0] if folders else UNNAMED


def _inside(fields: Fields, *names: str) -> Fields:
    """The object at the end of a way of names; empty if the way ends too early."""
    for name in names:
        value = fields.get(name)
        fields = value if isinstance(value, dict) else {}
    return fields


def _printed(results: Fields, task: str) -> tuple[PrintedScore, ...]:
    """The figures of a task, without their errors."""
    printed = _inside(results, "results", task)
    means = _means(_inside(results, "config_tasks", task)) or _means(
        _inside(results, "config_tasks", task.rpartition("|")[0])
    )
    found = []
    for name, value in printed.items():
        number = _number(value)
        if number is not None and not (name.endswith("_stderr") and name.removesuffix("_stderr") in printed):
            again = mean_of_items(name) if name in means else None
            found.append(PrintedScore(scorer=name, metric="mean" if again else name, value=number, recount=again))
    return tuple(found)


def _means(config: Fields) -> frozenset[str]:
    """The metrics of a task whose score is the mean over its documents."""
    metrics = config.get("metrics")
    found: set[str] = set()
    for metric in metrics if isinstance(metrics, list) else []:
        names, over = (
            (metric.get("metric_name"), metric.get("corpus_level_fn")) if isinstance(metric, dict) else ("", "")
        )
        for name in names if isinstance(names, list) else [names]:
            how = over.get(name) if isinstance(over, dict) and isinstance(name, str) else over
            if how == "mean" and isinstance(name, str):
                found.add(name)
    return frozenset(found)


LIGHTEVAL = LogFormat("lighteval details", _recognises, _opened, _is_results)
