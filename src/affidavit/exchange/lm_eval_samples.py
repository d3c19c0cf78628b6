"""lm-evaluation-harness: `samples_TASK_TIME.jsonl`, with `results_TIME.json` beside it.

There is a row for each document and filter, first all of one filter; so the rows of one output are brought
together again, a filter being a word about it. `resps` has the text as it came, once for each repeat. A filter's
verdict is about the document: with repeats it is about none of them. Log-likelihoods are no text and are refused.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec

from affidavit.errors import InputError
from affidavit.exchange.json_documents import document, list_in, object_in, refuse, row_in
from affidavit.exchange.log import Log, LogFormat, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.json_values import Fields
from affidavit.plain_text import counted_noun
from affidavit.reading.output_columns import UNNAMED
from affidavit.reading.source import LONGEST_ROW, reading_on, too_long

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+)\.jsonl")
_ROW = re.compile(rb'\s*\{\s*"doc_id"\s*:')
_INVALID = "[invalid]"
_VERDICT = re.compile(r"acc|match|correct|^em$|^pass@1$")
"""Metrics whose 0 and 1 are wrong and right; those of others are the ends of a scale."""
_MOST_NAMED = 5
_NO_FILTER = "none"
_MEAN = "mean"
_NO_METRICS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "doc_hash", "prompt_hash",
     "target_hash", "metrics")
)  # fmt: skip


class _Head(msgspec.Struct):
    """What tells rows apart, read without the rest."""

    doc_id: int | str
    filter: str = _NO_FILTER


_head_of = msgspec.json.Decoder(_Head)


class _Block(NamedTuple):
    """Where the rows of a filter begin."""

    filter: str
    place: int
    line: int


def _recognises(head: bytes, _path: Path) -> bool:
    return _ROW.match(head) is not None


def _is_summary(head: bytes, path: Path) -> bool:
    return path.name.startswith("results_") and path.suffix == ".json" and head.lstrip().startswith(b"{")


def _lacks(path: Path) -> str | None:
    """Which tasks were scored over samples that are not beside their results."""
    try:
        counted = document(path, what="results of lm-eval").get("n-samples")
    except InputError:
        return None  # whatever it is: others call files so too
    time = path.stem.removeprefix("results_")
    tasks = [str(task) for task in counted] if isinstance(counted, dict) else []
    lacking = [task for task in tasks if not path.with_name(f"samples_{task}_{time}.jsonl").is_file()]
    if not lacking:
        return None
    named = ", ".join(lacking[:_MOST_NAMED]) + (" and others" if len(lacking) > _MOST_NAMED else "")
    which = counted_noun(len(lacking), "task")
    return f"results of lm-eval without the samples of {which}: {named}; no output of these is here"


def _opened(path: Path) -> Log:
    named = _NAME.fullmatch(path.name)
    task = path.stem if named is None else named["task"]
    beside = None if named is None else path.with_name(f"results_{named['time']}.json")
    summary = {} if beside is None or not beside.is_file() else document(beside, what="results of lm-eval")
    model = summary.get("model_name")
    samples = _inside(summary, "n-samples", task).get("effective")
    repeats = _inside(summary, "configs", task).get("repeats", 1)
    return Log(
        path=path,
        format=LM_EVAL.name,
        task=task,
        outputs=partial(_outputs, path, model if isinstance(model, str) and model.strip() else UNNAMED),
        printed=_printed(_inside(summary, "results", task), _aggregations(_inside(summary, "configs", task))),
        planned=samples * repeats if isinstance(samples, int) and isinstance(repeats, int) else None,
        facts={name: summary[name] for name in ("lm_eval_version", "date", "model_source") if name in summary},
    )


def _inside(fields: Fields, *names: str) -> Fields:
    """The object at the end of a way of names; empty if the way ends too early."""
    for name in names:
        value = fields.get(name)
        fields = value if isinstance(value, dict) else {}
    return fields


def _aggregations(config: Fields) -> dict[str, object]:
    """How each metric is brought together, where the configuration of a task says so."""
    said = config.get("metric_list")
    each_said = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
    return {str(each.get("metric")): each.get("aggregation", _MEAN) for each in each_said}


def _printed(results: Fields, aggregations: Mapping[str, object]) -> tuple[PrintedScore, ...]:
    """The figures of a task: `exact_match,strict-match` is a metric and a filter. Only means are made again."""
    found = []
    for name, value in results.items():
        metric, comma, _ = name.partition(",")
        points = _points(value) if isinstance(value, int | float) else None
        if comma and not metric.endswith("_stderr") and points is not None:
            how = aggregations.get(metric, _MEAN)
            again = mean_of_items(name) if how == _MEAN else None
            kind = _MEAN if how == _MEAN else f"({how})"
            found.append(PrintedScore(scorer=name, metric=kind, value=points, recount=again))
    return tuple(found)


# --- rows ---


def _outputs(path: Path, model: str) -> Iterator[LoggedOutput]:
    """The outputs of each document, all filters' words with them."""
    with reading_on(str(path)):
        state = path.stat()
    blocks, in_blocks = _blocks(path, (state.st_size, state.st_mtime_ns))
    walks = [_rows(path, block, stop=in_blocks) for block in blocks]
    seen: set[str] = set()
    for rows in zip_longest(*walks):
        line, first = rows[0] if rows[0] is not None else next(row for row in rows if row is not None)
        where = f"{path}:{line}"
        for block, row in zip(blocks, rows, strict=True):
            if row is None or row[1].get("doc_id") != first.get("doc_id"):
                found = "no row" if row is None else row[1].get("doc_id")
                at = where if row is None else f"{path}:{row[0]}"
                refuse(at, expected=f"doc_id {first.get('doc_id')!r} by the filter {block.filter!r}", found=found)
        doc_id = first.get("doc_id")
        if not isinstance(doc_id, int | str) or str(doc_id) in seen:
            refuse(where, expected="a doc_id that no other row of its filter has", found=doc_id)
        seen.add(str(doc_id))
        yield from _of_document([row for row in rows if row is not None], path, model)


@lru_cache(maxsize=1)
def _blocks(path: Path, _state: tuple[int, int]) -> tuple[list[_Block], bool]:
    """The filters in the order of their first rows, and whether all rows of each follow one another.

    A log is walked several times; as long as nobody has written to it, its blocks are looked for once.
    """
    blocks: dict[str, _Block] = {}
    last, in_blocks = "", True
    for place, number, line in _lines(path, 0, 1):
        try:
            name = _head_of.decode(line).filter
        except (msgspec.MsgspecError, UnicodeDecodeError):  # half of a surrogate pair; or no row at all
            said = _row(path, number, line).get("filter", _NO_FILTER)
            name = said if isinstance(said, str) else refuse(f"{path}:{number}", expected="a filter", found=said)
        if name not in blocks:
            blocks[name] = _Block(name, place, number)
        elif name != last:
            in_blocks = False
        last = name
    return list(blocks.values()), in_blocks


def _rows(path: Path, block: _Block, *, stop: bool) -> Iterator[tuple[int, Fields]]:
    """The rows of a filter; `stop`: none comes behind that of another."""
    for _, number, line in _lines(path, block.place, block.line):
        row = _row(path, number, line)
        if row.get("filter", _NO_FILTER) == block.filter:
            yield number, row
        elif stop:
            return


def _lines(path: Path, place: int, number: int) -> Iterator[tuple[int, int, bytes]]:
    """The lines from a place on that are not blank, each with its place and number."""
    with reading_on(str(path)), path.open("rb") as stream:
        stream.seek(place)
        while line := stream.readline(LONGEST_ROW + 1):
            if len(line) > LONGEST_ROW:
                raise too_long(str(path))
            if not line.isspace():
                yield place, number, line
            place, number = place + len(line), number + 1


def _row(path: Path, number: int, line: bytes) -> Fields:
    return row_in(line, where=f"{path}:{number}")


def _of_document(rows: Sequence[tuple[int, Fields]], path: Path, model: str) -> Iterator[LoggedOutput]:
    line, row = rows[0]
    where = f"{path}:{line}"
    texts = _texts(row, where)
    words = [_words(each, len(texts), f"{path}:{number}") for number, each in rows]
    beside = _other_texts(rows, texts, path)
    doc = object_in(row, "doc", where=where)
    target = row.get("target")
    for sample, text in enumerate(texts):
        yield LoggedOutput(
            place=f"line {line}" if len(texts) == 1 else f"line {line}, repeat {sample + 1}",
            item_id=str(row["doc_id"]),
            model=model,
            raw_output=text,
            sample=sample,
            no_answer=NoAnswer.MISSING if text is None else None,
            prompt=_prompt(row.get("arguments")),
            question=doc["question"] if isinstance(doc.get("question"), str) else None,  # type: ignore[arg-type]
            options=_options(doc),
            answer=None if target is None else str(target),
            words=tuple(word for each in words for word in each[sample]),
            other_texts=beside[sample],
            more={name: value for name, value in doc.items() if name not in ("question", "options", "choices")},
        )


def _texts(row: Fields, where: str) -> list[str | None]:
    """What the model said, once for each repeat."""
    resps = list_in(row, "resps", where=where)
    if len(resps) != 1 or not isinstance(resps[0], list) or any(isinstance(each, list) for each in resps[0]):
        raise InputError(
            where,
            expected="one request with the texts of its answers in 'resps'",
            found="log-likelihoods of several answers, and no text",
            hint="Multiple choice by log-likelihoods asks for no output: there is nothing for a contract to read.",
        )
    if not all(each is None or isinstance(each, str) for each in resps[0]):
        refuse(where, expected="texts in 'resps'", found=resps)
    # A request to which nothing came back has one missing answer, and not none.
    return [each if isinstance(each, str) else None for each in resps[0]] or [None]


def _words(row: Fields, repeats: int, where: str) -> list[list[SourceWord]]:
    """What a filter's row says, for each repeat."""
    name, about_item = str(row.get("filter", _NO_FILTER)), repeats > 1
    answers = _filtered(row, repeats, where)
    said = row.get("metrics")
    metrics = [str(each) for each in said] if isinstance(said, list) else sorted(row.keys() - _NO_METRICS)
    found: list[list[SourceWord]] = []
    if not metrics and name != _NO_FILTER:  # what it left is its word, though nothing was made of it
        return [[SourceWord(scorer=name, answer=answer, about_item=about_item)] for answer in answers]
    for answer in answers:
        is_invalid = answer == _INVALID
        found.append(
            [
                SourceWord(
                    scorer=f"{metric},{name}",
                    answer=None if is_invalid else answer,
                    correct=None if about_item else _verdict(metric, points),
                    points=points,
                    score=row.get(metric),
                    no_answer=NoAnswer.SENTINEL if is_invalid else None,
                    about_item=about_item,
                )
                for metric in metrics
                for points in [_points(row.get(metric))]
            ]
        )
    return found


def _filtered(row: Fields, repeats: int, where: str) -> list[str | None]:
    """What a filter left for each repeat; one answer for all of them stands at each."""
    left = _left(row, where)
    texts = [each if isinstance(each, str) else None for each in left]
    return texts if len(texts) == repeats else (texts[:1] or [None]) * repeats


def _left(row: Fields, where: str) -> list[object]:
    left = list_in(row, "filtered_resps", where=where)
    return left[0] if len(left) == 1 and isinstance(left[0], list) else left


def _other_texts(
    rows: Sequence[tuple[int, Fields]], texts: Sequence[str | None], path: Path
) -> list[dict[str, str]]:
    """For each repeat, the texts that stand nowhere else: of a filter whose row has other ones than the first, and
    what a filter left beside the one answer that is its word."""
    found: list[dict[str, str]] = [{} for _ in texts]
    first = rows[0][1].get("resps")
    for number, row in rows:
        where, name = f"{path}:{number}", row.get("filter", _NO_FILTER)
        if row.get("resps") != first:
            others = _texts(row, where)
            if len(others) != len(texts):
                refuse(where, expected=f"{len(texts)} texts in 'resps', as by the first filter", found=len(others))
            for place, (text, other) in enumerate(zip(texts, others, strict=True)):
                if other is not None and other != text:
                    found[place][f"{name}: resps"] = other
        left = _left(row, where)
        if len(left) != len(texts):
            further = ((place, each) for place, each in enumerate(left) if place and isinstance(each, str))
            found[0].update({f"{name}: filtered_resps[{place}]": each for place, each in further})
    return found


def _points(value: object) -> float | None:
    """What a metric's value counts; some versions write it as a text. What is no finite number counts nothing."""
    try:
        points = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return points if math.isfinite(points) else None


def _verdict(metric: str, points: float | None) -> bool | None:
    return bool(points) if points in (0.0, 1.0) and _VERDICT.search(metric) else None


def _prompt(arguments: object) -> str | None:
    """The words that were sent, in any of the shapes that versions have."""
    if isinstance(arguments, dict):
        first = next(iter(arguments.values()), None)
        arguments = [[first.get("arg_0")]] if isinstance(first, dict) else None
    while isinstance(arguments, list) and arguments:
        arguments = arguments[0]
    return arguments if isinstance(arguments, str) else None


def _options(doc: Fields) -> list[str] | None:
    """The options' texts, where the document has any."""
    found = doc.get("options", doc.get("choices"))
    found = found.get("text") if isinstance(found, dict) else found
    if isinstance(found, list) and found and all(isinstance(each, str) for each in found):
        return [str(each) for each in found]
    return None


LM_EVAL = LogFormat("lm-eval samples", _recognises, _opened, _is_summary, _lacks)
