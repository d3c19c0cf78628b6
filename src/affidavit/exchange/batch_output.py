"""Batch output as OpenAI has it, and as Groq, Azure and vLLM write it: one answer a line, in any order.

    {"id", "custom_id", "response": {"status_code", "request_id", "body"}, "error"}

What a body says is decided where live responses are read (ruling C1): bodies of /v1/completions and /v1/responses
are put into the words of a chat completion first. Other bodies have no text and are refused by name. Content in
several parts is their texts, one after another, which nobody wrote as one: such an output is not called verbatim.
Nothing is scored.

The requests are in a file of their own. It is looked for in the same folder, and taken if it is the only one that
has every `custom_id`; otherwise none is, and the facts say why. Several files may answer requests of one input, as
those of answers and of errors do: each counts its own. A model may answer under another name than it was
asked by: the answer's counts, and the facts say that they differ. A failure has no answer's name. It is counted
under the name that answered the other requests to the same model, where that is one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from msgspec.structs import replace

from affidavit.errors import InputError
from affidavit.exchange.batch_line import body_in, judged, response_in, returned
from affidavit.exchange.json_documents import lines, list_in, object_in, refuse, row_of, text_in
from affidavit.exchange.log import HEAD, Log, LogFormat
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.json_values import Fields, shown
from affidavit.models.chat_response import read_chat, read_refusal
from affidavit.models.model import Answer, Completion, Failure
from affidavit.reading.output_columns import UNNAMED
from affidavit.reading.source import LONGEST_ROW, reading_on, too_long
from affidavit.reading.utf8 import BYTE_ORDER_MARK, decoded

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]:,]', re.DOTALL)
_CUT_SHORT = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""Why a response of /v1/responses is incomplete, in the words of a chat completion."""
_NO_TEXT = {
    "list": "embeddings",
    "embedding": "embeddings",
    "modr": "moderations",
    "score": "scores",
    "rerank": "ranks",
}
_FAMILIAR = ("chat.completion", "text_completion", "response")


def first_keys(head: bytes) -> frozenset[str]:
    r"""The keys of the JSON object that a file begins with, as far as its head shows them.

    >>> sorted(first_keys(b'{"id": "a", "response": {"body": {"id": "\\"x\\": {"}}, "custom_id": "q", "err'))
    ['custom_id', 'id', 'response']
    """
    depth, last, found = 0, b"", set()
    for match in _TOKEN.finditer(head):
        token = match[0]
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif token == b":" and depth == 1 and last.startswith(b'"'):
            found.add(last[1:-1].decode("utf-8", "replace"))
        if depth < 1:
            break
        last = token
    return frozenset(found)


def placed_rows(path: Path) -> Iterator[tuple[int, int, Fields]]:
    """The rows of a JSON Lines file, each with the byte where it begins and its line."""
    place, number = 0, 1
    with reading_on(str(path)), path.open("rb") as stream:
        while line := stream.readline(LONGEST_ROW + 1):
            if not line.isspace():
                yield place, number, _decoded(line, f"{path}:{number}")
            place, number = place + len(line), number + 1


def row_at(stream: BinaryIO, place: int, *, where: str) -> Fields:
    """The row that begins at a byte of an open file."""
    with reading_on(where):
        stream.seek(place)
        line = stream.readline(LONGEST_ROW + 1)
    return _decoded(line, where)


def _decoded(line: bytes, where: str) -> Fields:
    if len(line) > LONGEST_ROW:
        raise too_long(where)
    return row_of(decoded(line.removeprefix(BYTE_ORDER_MARK), where=where), where=where)


def _recognises(head: bytes, _path: Path) -> bool:
    keys = _keys_of_object(head)
    return "custom_id" in keys and not keys.isdisjoint({"response", "error"}) and "url" not in keys


def is_requests(head: bytes, _path: Path) -> bool:
    """Whether a file holds the requests of a batch, by its head."""
    keys = _keys_of_object(head)
    return {"custom_id", "url"} <= keys and keys.isdisjoint({"response", "error"})


def _keys_of_object(head: bytes) -> frozenset[str]:
    content = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    return first_keys(content) if content.startswith(b"{") else frozenset()


# --- a log and its requests ---


class _Asked(NamedTuple):
    """Where a request stands in its file, and of which model it was asked."""

    place: int
    line: int
    model: str | None
    answers: int
    """How many it was to give."""


@dataclass(frozen=True, slots=True)
class _Requests:
    """The requests of a batch, each found again by its id; they stay in their file until they are asked for."""

    path: Path | None
    asked: Mapping[str, _Asked]
    answered_by: Mapping[str | None, str]
    """Of each model that was asked, which one answered, where that is one."""

    def model_of_failure(self, custom_id: str) -> str:
        """Under which name a request without an answer is counted."""
        request = self.asked.get(custom_id)
        asked = None if request is None else request.model
        return self.answered_by.get(asked, asked or UNNAMED)


def _opened(path: Path) -> Log:
    answered = {custom_id: _model_in(fields, where) for _, where, custom_id, fields in _rows(path)}
    source, asked, why_not = _requests_beside(path, answered)
    pairs = {(None if (at := asked.get(name)) is None else at.model, model) for name, model in answered.items()}
    answers: dict[str | None, set[str]] = defaultdict(set)
    for asked_model, model in pairs:
        if model is not None:
            answers[asked_model].add(model)
    alone = {name: next(iter(models)) for name, models in answers.items() if len(models) == 1}
    requests = _Requests(source, asked, alone)
    others = _outputs_beside(path, asked, answered)
    left = asked.keys() - answered.keys() - {name for ids in others.values() for name in ids}
    # What nobody answered is missing once: in the first of the files that share the requests.
    own = answered.keys() | (left if all(path < each for each in others) else set())
    names = ", ".join(each.name for each in others)
    return Log(
        path=path,
        format=BATCH.name,
        task=path.stem,
        outputs=partial(_outputs, path, requests),
        planned=None if source is None else sum(asked[name].answers for name in own),
        notes=_notes(path, source, names, why_not),
        facts=_facts(source, why_not, asked, answered, len(left)),
    )


def _notes(path: Path, source: Path | None, names: str, why_not: str) -> list[str]:
    """What a person must know of the requests of a batch."""
    if source is None:
        beside = any(True for _ in _files_beside(path, is_requests))
        return (
            [f"no requests are read beside it: {why_not}; what nobody answered is not counted"] if beside else []
        )
    return [f"other requests of {source.name} are answered in {names}"] if names else []


def _outputs_beside(
    path: Path, asked: Mapping[str, _Asked], answered: Collection[str]
) -> dict[Path, frozenset[str]]:
    """The files that answer other requests of the same input, such as those that failed, with their ids."""
    found = {}
    for each in _files_beside(path, _recognises) if asked else ():
        try:
            ids = frozenset(custom_id for _, _, custom_id, _ in _rows(each))
        except InputError:
            continue  # what is wrong with it is told when it is read itself
        if ids and ids <= asked.keys() and ids.isdisjoint(answered):
            found[each] = ids
    return found


def _facts(
    source: Path | None,
    why_not: str,
    asked: Mapping[str, _Asked],
    answered: Mapping[str, str | None],
    without: int,
) -> Fields:
    if source is None:
        return {"requests": f"none: {why_not}"}
    facts: Fields = {"requests": source.name}
    if without:
        facts["requests_without_an_answer"] = without
    differ = Counter(
        f"asked of {asked[name].model}, answered by {model}"
        for name, model in answered.items()
        if model is not None and asked[name].model not in (None, model)
    )
    return {**facts, "models_differ": dict(differ)} if differ else facts


def _requests_beside(path: Path, answered: Mapping[str, str | None]) -> tuple[Path | None, dict[str, _Asked], str]:
    """The one file of requests that has all ids; otherwise none, and why."""
    fitting: list[tuple[Path, dict[str, _Asked]]] = []
    said = []
    for each in _files_beside(path, is_requests):
        try:
            asked = _asked_in(each)
        except InputError as error:
            said.append(f"{each.name} cannot be read ({error.expected} expected, found {error.found})")
            continue
        if missing := next((name for name in answered if name not in asked), None):
            said.append(f"{each.name} does not have {shown(missing)}")
        else:
            fitting.append((each, asked))
    if len(fitting) == 1:
        return *fitting[0], ""
    if fitting:
        return None, {}, f"{', '.join(each.name for each, _ in fitting)} fit alike"
    return None, {}, "; ".join(said) or "no file of requests beside it"


def _files_beside(path: Path, is_one: Callable[[bytes, Path], bool]) -> Iterator[Path]:
    """The other files of its folder that begin like one of a kind."""
    with reading_on(str(path.parent)):
        for each in sorted(path.parent.iterdir()):
            if each != path and each.is_file() and not each.name.startswith("."):
                with each.open("rb") as stream:
                    head = stream.read(HEAD)
                if is_one(head, each):
                    yield each


def _asked_in(path: Path) -> dict[str, _Asked]:
    """The requests of a file by their ids."""
    found: dict[str, _Asked] = {}
    for place, number, fields in placed_rows(path):
        custom_id, body = fields.get("custom_id"), fields.get("body")
        if not isinstance(custom_id, str) or custom_id in found or not isinstance(body, dict):
            refuse(f"{path}:{number}", expected="a request with an id of its own", found=custom_id)
        found[custom_id] = _asked(body, place, number)
    return found


def _asked(body: Fields, place: int, number: int) -> _Asked:
    model, several = body.get("model"), body.get("n")
    return _Asked(
        place,
        number,
        model if isinstance(model, str) and model else None,
        several if type(several) is int and several > 0 else 1,
    )


def _rows(path: Path) -> Iterator[tuple[int, str, str, Fields]]:
    """The lines with their numbers, places and ids; no id comes twice."""
    seen: set[str] = set()
    for number, fields in lines(path):
        where = f"{path}:{number}"
        custom_id = text_in(fields, "custom_id", where=where)
        if custom_id in seen:
            refuse(where, expected="a custom_id that no other line has", found=custom_id)
        seen.add(custom_id)
        yield number, where, custom_id, fields


# --- one line ---


def _outputs(path: Path, requests: _Requests) -> Iterator[LoggedOutput]:
    with ExitStack() as opened:
        asking: BinaryIO | None = None
        if requests.path is not None:
            with reading_on(str(requests.path)):
                asking = opened.enter_context(requests.path.open("rb"))
        for number, where, custom_id, fields in _rows(path):
            asked, model = requests.asked.get(custom_id), _model_in(fields, where)
            prompt = None
            if asking is not None and asked is not None:
                prompt = _prompt(asking, asked, custom_id, f"{requests.path}:{asked.line}")
            bare = LoggedOutput(
                place=f"line {number}",
                item_id=custom_id,
                model=model or requests.model_of_failure(custom_id),
                raw_output=None,
                prompt=prompt,
                more=_beside(fields, None if asked is None or asked.model == model else asked.model),
            )
            answers = _answers(fields, where)
            for each in answers:
                place = bare.place if len(answers) == 1 else f"{bare.place}, choice {each.sample + 1}"
                own = replace(bare, place=place, sample=each.sample, verbatim=each.verbatim)
                yield _with_answer(own, each.answer)


def _with_answer(output: LoggedOutput, answer: "Answer | _Silence") -> LoggedOutput:
    match answer:
        case Completion(text=text, finish_reason=finish, reasoning=reasoning, usage=usage):
            more = output.more if usage is None else {**output.more, "usage": dict(usage)}
            return replace(output, raw_output=text, finish_reason=finish, reasoning=reasoning, more=more)
        case Failure(reason=reason, detail=detail):
            said = f"{reason.value}: {detail}" if detail else reason.value
            return replace(output, no_answer=NoAnswer.ERROR, error=said)
        case _Silence(said=said):
            kind = NoAnswer.ERROR if said else NoAnswer.MISSING
            return replace(output, no_answer=kind, error=said or None)


@dataclass(frozen=True, slots=True)
class _Silence:
    """No response at all, and what the source says of it, if anything."""

    said: str


class _Came(NamedTuple):
    """What came back for one sample of a request."""

    answer: Answer | _Silence
    sample: int = 0
    verbatim: bool = True


def _answers(fields: Fields, where: str) -> Sequence[_Came]:
    """What came back, each with the number of its sample."""
    came = returned(fields, where)
    status, body, error = came.status, came.body, came.error
    if status is None:
        return [_Came(_Silence(came.said))]
    if status != 200:
        return [_Came(judged(partial(read_refusal, status), body or error, where))]
    if not body and not isinstance(body, dict):
        return [_Came(_Silence(came.said))]
    failed = isinstance(body, dict) and body.get("error")
    if error is not None and not failed:
        refuse(where, expected="an answer or an error, not both", found=fields.get("error"))
    if isinstance(body, str):
        return [_Came(judged(read_chat, body, where))]
    return _choices(_as_chat(body, where), where)


def _model_in(fields: Fields, where: str) -> str | None:
    """The model that says it answered; None where none did."""
    response = response_in(fields, where)
    body = None if response is None else body_in(response, where)
    model = body.get("model") if isinstance(body, dict) else None
    if model is not None and not isinstance(model, str):
        refuse(where, expected="a text in 'model' of the body", found=model)
    return model or None


def _beside(fields: Fields, asked: str | None) -> Fields:
    """What else is worth keeping of a line."""
    response = fields.get("response")
    found = {"request_id": response.get("request_id") if isinstance(response, dict) else None}
    found |= {"asked_model": asked}
    return {name: value for name, value in found.items() if isinstance(value, str)}


# --- bodies ---


def _as_chat(body: Fields, where: str) -> Fields:
    """A body in the words of a chat completion; refused if it is of another kind."""
    kind = body.get("object")
    if kind == "response":
        return _of_response(body, where)
    if isinstance(kind, str) and kind not in _FAMILIAR and not body.get("error"):
        _refuse_kind(kind, where)
    if "choices" not in body:
        if not body or body.get("error") or kind in _FAMILIAR:
            return body
        _refuse_kind(kind, where)
    if body["choices"] is not None:
        list_in(body, "choices", where=where)
    return body


def _refuse_kind(kind: object, where: str) -> NoReturn:
    named = next(
        (said for start, said in _NO_TEXT.items() if isinstance(kind, str) and kind.startswith(start)), None
    )
    raise InputError(
        where,
        expected="the body of a chat completion, a completion or a response",
        found=f"a body of the kind {shown(kind)}" + (f" ({named}, and no text)" if named else ""),
        hint="Nothing is guessed of a log: what holds no text cannot be read as outputs.",
    )


def _choice(choice: object, where: str) -> tuple[object, bool]:
    """A choice whose text is in a message, as it is in chats; and whether that is the text as it came."""
    if not isinstance(choice, dict):
        return None if choice is None else refuse(where, expected="an object in 'choices'", found=choice), True
    finish = choice.get("finish_reason")
    if finish is not None and not isinstance(finish, str):
        refuse(where, expected="a text in 'finish_reason'", found=finish)
    if "message" not in choice and "text" in choice:
        return {**choice, "message": {"content": _text_or_none(choice, "text", where)}}, True
    message = {} if choice.get("message") is None else object_in(choice, "message", where=where)
    if not isinstance(message.get("content"), list):
        _text_or_none(message, "content", where)
        return choice, True
    texts = list(_content_texts(message, where))
    return {**choice, "message": {**message, "content": "".join(texts) if texts else None}}, len(texts) < 2


def _content_texts(message: Fields, where: str) -> Iterator[str]:
    """The texts of a message whose content is a list of parts."""
    for part in list_in(message, "content", where=where):
        if not isinstance(part, dict):
            refuse(where, expected="objects in 'content'", found=part)
        kind = text_in(part, "type", where=where)
        if kind in ("text", "refusal"):
            yield text_in(part, kind, where=where)


def _text_or_none(fields: Fields, name: str, where: str) -> str | None:
    value = fields.get(name)
    return value if value is None else text_in(fields, name, where=where)


def _choices(chat: Fields, where: str) -> Sequence[_Came]:
    """Each choice by the rule for chats; what is not about one choice goes with the first."""
    choices = chat.get("choices")
    if not isinstance(choices, list) or not choices:
        return [_Came(judged(read_chat, chat, where))]
    samples, found = _samples(choices, where), list[_Came]()
    for sample, (choice, is_as_it_came) in zip(samples, [_choice(each, where) for each in choices], strict=True):
        about = {} if found else chat
        answer = judged(read_chat, {**about, "choices": [choice]}, where)
        found.append(_Came(answer, sample, is_as_it_came))
    return sorted(found, key=lambda each: each.sample)


def _samples(choices: Sequence[object], where: str) -> Sequence[int]:
    """The numbers of the choices: their own, or their places where none has one."""
    own = [each.get("index") if isinstance(each, dict) else None for each in choices]
    numbers = [each for each in own if type(each) is int and each >= 0]
    if all(each is None for each in own):
        return range(len(choices))
    if len(set(numbers)) < len(own):
        refuse(where, expected="choices with an 'index' each", found=own)
    return numbers


def _of_response(body: Fields, where: str) -> Fields:
    """What /v1/responses answers: its text is all parts of its messages, one after another, as it defines it."""
    status = text_in(body, "status", where=where)
    common = {name: body[name] for name in ("id", "model", "error") if body.get(name)}
    if status in ("failed", "cancelled"):
        return {"error": status, **common}
    if status not in ("completed", "incomplete"):
        refuse(where, expected="the 'status' of a response that has ended", found=status)
    output = list_in(body, "output", where=where)
    parts = [_parts(each, where) for each in output]
    texts = [text for kind, text in _flat(parts) if kind == "output_text"]
    message = {
        "content": "".join(texts) if texts else None,
        "refusal": "".join(text for kind, text in _flat(parts) if kind == "refusal"),
        "reasoning": "\n".join(text for kind, text in _flat(parts) if kind in ("reasoning_text", "summary_text")),
        "tool_calls": [kind for kind, _ in _flat(parts) if kind.endswith("_call")],
    }
    choice = {"message": message, "finish_reason": _finish(body, status)}
    return {**common, "usage": _usage(body.get("usage")), "choices": [choice]}


def _flat(parts: Sequence[Sequence[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    return (part for each in parts for part in each)


def _parts(item: object, where: str) -> list[tuple[str, str]]:
    """The texts of one piece of a response, each with its kind."""
    if not isinstance(item, dict):
        refuse(where, expected="objects in 'output'", found=item)
    kind = text_in(item, "type", where=where)
    if kind not in ("message", "reasoning"):
        return [(kind, "")]
    found = []
    for part in list_in(item, "content", where=where) if kind == "message" else _thoughts(item):
        if not isinstance(part, dict):
            refuse(where, expected="objects in 'content'", found=part)
        name = text_in(part, "type", where=where)
        found.append((name, text_in(part, "refusal" if name == "refusal" else "text", where=where)))
    return found


def _thoughts(item: Fields) -> list[object]:
    """The thinking itself where a server shows it; its summary otherwise."""
    whole, summary = item.get("content"), item.get("summary")
    return whole if isinstance(whole, list) and whole else summary if isinstance(summary, list) else []


def _finish(body: Fields, status: str) -> str | None:
    if status == "completed":
        return "stop"
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return _CUT_SHORT.get(reason, reason) if isinstance(reason, str) else status


def _usage(usage: object) -> Fields | None:
    if not isinstance(usage, dict):
        return None
    return {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens")}


# --- requests ---


def _prompt(requests: BinaryIO, asked: _Asked, custom_id: str, where: str) -> str | None:
    """The last words of the user in a request; None where they are no single text."""
    fields = row_at(requests, asked.place, where=where)
    if fields.get("custom_id") != custom_id:
        refuse(where, expected=f"the request {shown(custom_id)}, as before", found=fields.get("custom_id"))
    body = object_in(fields, "body", where=where)
    return _last_words(next((body[name] for name in ("prompt", "messages", "input") if name in body), None))


def _last_words(messages: object) -> str | None:
    if isinstance(messages, str):
        return messages
    if not isinstance(messages, list):
        return None
    by_user = [each for each in messages if isinstance(each, dict) and each.get("role") == "user"]
    content = by_user[-1].get("content") if by_user else None
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        content = content[0].get("text")
    return content if isinstance(content, str) else None


BATCH = LogFormat("batch output", _recognises, _opened, is_requests)
