"""OpenCompass: `MODEL/TASK.json`, an object of `"0"`, `"1"`, … with a prompt, a prediction and a reference each.

The model is the folder's name and the task the file's; neither is in the file. A prediction is the model's text as
it came, also if it is empty. The reference stays as it stands: `正确答案：B。` is no letter. Such a file holds no
verdicts. Where the task is one of LawBench's multiple choice, told by its reference and by its prompt or by the
published `results.csv` one folder above, the word of LawBench is made again by its own rule (ruling M29), so that
the published score and abstention rate can be held against the outputs. Predictions that were chosen by perplexity
are no text of a model and are refused.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from affidavit.contracts.harness_readings import LawBench
from affidavit.contracts.harness_readings import NoAnswer as NothingRead
from affidavit.contracts.mcqa import mcqa
from affidavit.errors import InputError
from affidavit.exchange.json_documents import document, refuse
from affidavit.exchange.log import HEAD, Log, LogFormat, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.exchange.recounts import mean_of_items
from affidavit.json_values import Fields
from affidavit.reading.output_columns import UNNAMED
from affidavit.reading.source import reading_on
from affidavit.reading.utf8 import decoded_whole

_BEGINS = re.compile(
    rb'\s*\{\s*"\d{1,18}"\s*:\s*\{\s*"(?:origin_prompt|prediction|gold|refr|label: |in-context examples)'
)
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")
_PUBLISHED = re.compile(r"task,model(?:_name)?,score,abstention_rate\r?\n?")
_MOST_PUBLISHED = 1 << 24
_LAWBENCH = "lawbench"
_KEY = re.compile(r"正确答案：([A-D])")
_TEMPLATE = "[正确答案]", "<eoa>"
_LAWBENCH_READING = LawBench(mcqa)
_ROW = frozenset(("origin_prompt", "prediction", "refr", "gold"))


def _recognises(head: bytes, _path: Path) -> bool:
    return _BEGINS.match(head) is not None


def _belongs(head: bytes, path: Path) -> bool:
    return path.name == "results.csv" and _is_published(head)


def _is_published(head: bytes) -> bool:
    first = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    return _PUBLISHED.fullmatch(first.decode("ascii", "replace")) is not None


def _opened(path: Path) -> Log:
    model = path.absolute().parent.name or UNNAMED
    printed = _printed(path.absolute().parent.parent / "results.csv", path.stem, model)
    rows = document(path, what="predictions of OpenCompass")
    last = max((_index(path, name) for name in rows), default=-1)
    return Log(
        path=path,
        format=OPENCOMPASS.name,
        task=path.stem,
        outputs=partial(_outputs, path, model, is_published=bool(printed)),
        printed=printed,
        planned=last + 1 if last + 1 != len(rows) else None,
    )


def _index(path: Path, name: str) -> int:
    if _INDEX.fullmatch(name) is None:
        refuse(str(path), expected='"0", "1", … as names of predictions', found=name)
    return int(name)


# --- what was published ---


def _printed(path: Path, task: str, model: str) -> tuple[PrintedScore, ...]:
    """Score and abstention rate of a model on a task; none if they are not there, or of another kind."""
    if not path.is_file():
        return ()
    with reading_on(str(path)), path.open("rb") as stream:
        content = stream.read(_MOST_PUBLISHED + 1)
    if not _is_published(content[:HEAD]):
        return ()
    if len(content) > _MOST_PUBLISHED:
        raise InputError(
            str(path), expected=f"at most {_MOST_PUBLISHED:,} bytes of published scores", found="more"
        )
    found = [
        (line, row)
        for line, row in _table(decoded_whole(content, name=str(path)), path)
        if row[:2] == [task, model]
    ]
    if len(found) > 1:
        refuse(f"{path}:{found[1][0]}", expected="one row of each task and model", found=f"{task},{model}")
    return tuple(score for line, row in found for score in _scores(row, f"{path}:{line}"))


def _table(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        next(rows)
        for row in rows:
            if row and len(row) != 4:
                refuse(f"{path}:{rows.line_num}", expected="four cells", found=",".join(row))
            yield rows.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}:{rows.line_num}", expected="a row of a CSV table", found=str(error)) from error


def _scores(row: list[str], where: str) -> Iterator[PrintedScore]:
    score, rate = (_share(cell, where) for cell in row[2:])
    yield PrintedScore(scorer=_LAWBENCH, metric="score", value=score, recount=mean_of_items(_LAWBENCH))
    yield PrintedScore(scorer=_LAWBENCH, metric="abstention_rate", value=rate, recount=_AbstentionRate)


def _share(cell: str, where: str) -> float:
    try:
        share = float(cell)
    except ValueError:
        share = math.nan
    return share if math.isfinite(share) else refuse(where, expected="a number", found=cell)


class _AbstentionRate:
    """The share of outputs in which LawBench finds no letter at all."""

    def __init__(self) -> None:
        self._none = self._all = 0

    def add(self, output: LoggedOutput) -> None:
        """One output more, if it has the word."""
        for word in output.words:
            if word.scorer == _LAWBENCH:
                self._none += word.no_answer is NoAnswer.SENTINEL
                self._all += 1

    def value(self) -> float | None:
        """The share; None over nothing."""
        return self._none / self._all if self._all else None


# --- predictions ---


def _outputs(path: Path, model: str, *, is_published: bool) -> Iterator[LoggedOutput]:
    for name, row in document(path, what="predictions of OpenCompass").items():
        _index(path, name)
        where = f'{path}: "{name}"'
        if not isinstance(row, dict):
            refuse(where, expected="an object with a prediction", found=row)
        texts = _texts(row, where)
        given = row.get("origin_prompt")
        answer = _answer(row)
        for sample, text in enumerate(texts):
            yield LoggedOutput(
                place=f'"{name}"' if len(texts) == 1 else f'"{name}", prediction {sample + 1}',
                item_id=name,
                model=model,
                raw_output=text,
                sample=sample,
                prompt=_prompt(given, where),
                answer=answer,
                no_answer=NoAnswer.MISSING if text is None else None,
                words=_words(text, answer) if is_published or _demands_template(given) else (),
                more=_more(row, answer),
            )


def _texts(row: Fields, where: str) -> list[str | None]:
    """What the model said: one text, or one for each time it was asked."""
    if any(name.startswith("label: ") or name.casefold() == "ppl" for name in row):
        raise InputError(
            where,
            expected="a prediction that is the model's text",
            found="perplexities of given answers",
            hint="Such a run asks for no output: there is nothing for a contract to read.",
        )
    if "prediction" not in row:
        refuse(where, expected="a field 'prediction'", found=sorted(row))
    said = row["prediction"]
    texts = said if isinstance(said, list) and said else [said]
    if not all(each is None or isinstance(each, str) for each in texts):
        refuse(where, expected="a text in 'prediction'", found=said)
    return [each if isinstance(each, str) else None for each in texts]


def _prompt(given: object, where: str) -> str | None:
    """The words that were sent, if they are one text or one message of a person."""
    if given is None or isinstance(given, str):
        return given
    if not isinstance(given, list):
        refuse(where, expected="a text or a list of messages in 'origin_prompt'", found=given)
    if any(isinstance(message, list) for message in given):
        raise InputError(where, expected="one prompt", found="rounds of a conversation, each with a prediction")
    for message in given:
        if not (isinstance(message, dict) and isinstance(message.get("role"), str)):
            refuse(where, expected="messages with a role in 'origin_prompt'", found=message)
    if len(given) != 1 or given[0]["role"] != "HUMAN":
        return None
    text = given[0].get("prompt")
    return text if isinstance(text, str) else None


def _answer(row: Fields) -> str | None:
    """The reference as it stands, if it is one text or number."""
    reference = row.get("gold", row.get("refr"))
    if isinstance(reference, int | float) and not isinstance(reference, bool):
        return str(reference)
    return reference if isinstance(reference, str) else None


def _more(row: Fields, answer: str | None) -> Fields:
    more = {name: value for name, value in row.items() if name not in _ROW}
    reference = row.get("gold", row.get("refr"))
    if answer is None and reference is not None:
        more["gold"] = reference
    given = row.get("origin_prompt")
    if isinstance(given, list) and len(given) > 1:
        more["origin_prompt"] = given
    return more


def _demands_template(given: object) -> bool:
    """Whether a prompt wants the answer as LawBench's multiple choice does: `[正确答案]A<eoa>`."""
    messages = given if isinstance(given, list) else [{"prompt": given}]
    texts = [each.get("prompt") for each in messages if isinstance(each, dict)]
    return any(isinstance(text, str) and all(part in text for part in _TEMPLATE) for text in texts)


def _words(text: str | None, answer: str | None) -> tuple[SourceWord, ...]:
    """What LawBench says of a text; nothing where the reference is none of its multiple choice."""
    key = _KEY.match(answer or "")
    if text is None or key is None:
        return ()
    reading = _LAWBENCH_READING.read(text)
    correct = reading.extracted_answer == key[1]
    nothing = reading.no_answer is NothingRead.NOTHING_FOUND
    return (
        SourceWord(
            scorer=_LAWBENCH,
            answer=reading.extracted_answer,
            correct=correct,
            points=float(correct),
            no_answer=NoAnswer.SENTINEL if nothing else None,
        ),
    )


OPENCOMPASS = LogFormat("OpenCompass predictions", _recognises, _opened, _belongs)
