"""Items in the shapes in which they are published, turned into our own rows.

    {"id": "q1", "question": "…", "options": ["Rome", "Paris"], "answer": "B", "metadata": {}}
    {"id": "1-1-4-6", "numbers": [1, 1, 4, 6], "target": 24, "metadata": {}}

The fields of a row say whose format it is; `FORMATS` is the list. The first row decides for all: a row of another
format is refused. So is whatever could be read in two ways. The rules, where there had to be one:

- *Ids* are the file's own (`id`, `question_id`, `Record ID`). Where that is missing or blank, the id is the
  file's name without its ending, and the row's number: `mmlu-12`. A public Game of 24 hand has its numbers as
  its id, from low to high: `1-1-4-6`. No two rows of a file may have the same id.
- *Rows* are counted from 1 without the header; JSON Lines are counted by line.
- *Questions and options* are kept as they are, with outer blanks and line ends. A blank option is refused.
- *Answers* become letters. MMLU and MMLU-Redux count from 0 or give the letter; ARC's labels 1, 2, 3, 4 are
  A, B, C, D, and the labels are kept in `metadata.labels`. Blanks around an answer do not count. A missing
  answer (no field, null, NaN, blank) is None; one that is not among the options is refused.
- *Equal options* (outer blanks aside) are refused if the right one is among them, for then a right choice could
  be counted as wrong. Other equal ones are kept and named in `metadata.duplicate_options`.
- *MMLU-Redux* rows whose `error_type` is not `ok` keep question, options and answer, and have
  `metadata.flawed`; nothing is mended by `correct_answer`. Flawed rows may have equal or blank options.
- *MMLU-Pro* lists of ten that end in `N/A` were filled up: those at the end are taken off, and their count is
  `metadata.fillers_removed`. Any other `N/A` is an option. `answer` and `answer_index` must agree.
- *AQuA* options lose their letter and bracket (`A)`), which must be there and in order; nothing else.
- *GPQA* options have no order of their own: they are sorted by the SHA-256 of record id (or, without one, the
  question), line feed and column name. The columns, in the order drawn, are `metadata.option_order`.
- *GSM8K* answers are what follows `####` on the last line of the solution that begins with it, as it is written
  there; the solution is kept in `metadata.solution`.
- *Everything else* that a row held is in `metadata`; an object that the row held under that name is joined with
  it. NaN becomes null there, and what JSON cannot hold (dates, decimals, infinities) becomes its text.
- *A list in a cell* of a table is JSON or Python.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, takewhile
from math import isfinite, isnan

from affidavit.contracts.mcqa import LETTERS, equal_options, refuse_doubled_answer
from affidavit.contracts.number import SOLUTION_MARKER, answer_of_solution
from affidavit.contracts.parts import no_field
from affidavit.errors import InputError
from affidavit.items.hands import TARGET
from affidavit.json_values import Fields, shown
from affidavit.reading.source import Row


def items_of_rows(name: str, rows: Iterable[Row], *, id_prefix: str) -> Iterator[tuple[str, Fields]]:
    """Place and item of every row of one source; a row without an id gets the prefix and its number.

    >>> row = {"question": "Two and two?", "choices": ["3", "4"], "answer": 1}
    >>> [item["id"] for _, item in items_of_rows("sums", [Row("sums:row 1", 1, row)], id_prefix="sums")]
    ['sums-1']
    """
    first: Format | None = None
    places: dict[object, str] = {}
    for where, number, fields in rows:
        row_format = format_of(fields)
        if row_format is None or (first is not None and row_format is not first):
            without_id = no_field("id", fields, expected="an 'id' and a 'question'", where=where)
            if first is None and "question" in fields and "id" not in fields and without_id.hint:
                raise without_id
            raise unknown_format(where, f"the fields {shown(list(fields))}", first)
        first = row_format
        row = row_format.read(dict(fields), where).row(where, f"{id_prefix}-{number}")
        if row["id"] in places:
            hint = f"Answers are kept by id, and {places[row['id']]} has this one already."
            raise InputError(where, expected="an id that no other row has", found=shown(row["id"]), hint=hint)
        places[row["id"]] = where
        yield where, row
    if first is None:
        raise InputError(name, expected="at least one item", found="no rows")


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


# --- what every item must be ---


@dataclass
class _Choice:
    """A multiple-choice item as its format gave it: checked when it becomes a row."""

    id: object
    question: object
    options: Sequence[object]
    answer: str | None
    rest: Fields
    notes: Fields = field(default_factory=dict)
    """What we have to say about the row, for its metadata."""

    def row(self, where: str, place_id: str) -> Fields:
        """The item in our own shape."""
        metadata = _metadata(self.rest, self.notes, where)
        flawed = metadata.get("flawed") is True
        question = _words(self.question, "the question", where)
        options = [
            _words(option, f"option {letter}", where, may_be_blank=flawed)
            for letter, option in zip(LETTERS, self.options, strict=False)
        ]
        equal = equal_options(options)
        if not flawed:
            refuse_doubled_answer(options, self.answer, where=where)
        if equal and metadata.setdefault("duplicate_options", equal) != equal:
            raise _two_values("duplicate_options", where)
        item = {"id": _id(self.id, place_id, where), "question": question, "options": options}
        return {**item, "answer": self.answer, "metadata": metadata}


@dataclass
class _OpenQuestion:
    """A question without options, with whatever else its row held: another contract than ours may know of it."""

    id: object
    question: object
    rest: Fields

    def row(self, where: str, place_id: str) -> Fields:
        """The item in our own shape: as a line of our own JSON Lines would hold it."""
        question = _words(self.question, "the question", where)
        rest = {name: _json_value(value, where) for name, value in self.rest.items()}
        return {"id": _id(self.id, place_id, where), "question": question, **rest}


@dataclass
class _Hand:
    """A hand as its format gave it: checked when it becomes a row."""

    id: object
    numbers: object
    target: object
    rest: Fields

    def row(self, where: str, place_id: str) -> Fields:
        """The item in our own shape."""
        numbers = self.numbers
        if not isinstance(numbers, list) or not numbers or not all(type(n) is int and n >= 0 for n in numbers):
            raise InputError(where, expected="a list of whole numbers in 'numbers'", found=_seen(numbers))
        if type(self.target) is not int:
            raise InputError(where, expected="a whole number in 'target'", found=_seen(self.target))
        item = {"id": _id(self.id, place_id, where), "numbers": numbers, "target": self.target}
        return {**item, "metadata": _metadata(self.rest, {}, where)}


def _missing(value: object) -> bool:
    """Whether a value is what tables write for nothing."""
    if isinstance(value, float):
        return isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def _seen(value: object) -> str:
    """A value for the `found` of an error, whatever it is."""
    try:
        return shown(value)
    except (TypeError, ValueError):  # a date, or a number of more digits than Python writes
        return f"a value of the type {type(value).__name__}"


def _id(value: object, place_id: str, where: str) -> str:
    if _missing(value):
        return place_id
    if isinstance(value, str) or type(value) is int:
        return str(value)
    raise InputError(where, expected="a text or a whole number as the id", found=_seen(value))


def _words(value: object, what: str, where: str, *, may_be_blank: bool = False) -> str:
    if isinstance(value, str) and (may_be_blank or value.strip()):
        return value
    raise InputError(where, expected=f"a text that is not blank as {what}", found=_seen(value))


def _count(options: Sequence[object], where: str) -> None:
    if not 2 <= len(options) <= len(LETTERS):
        raise InputError(where, expected=f"2 to {len(LETTERS)} options", found=str(len(options)))


def _letter(answer: object, *spellings: Sequence[str], where: str, hint: str = "") -> str | None:
    """The letter of an answer, given how the options may be called; None where there is no answer."""
    if _missing(answer):
        return None
    called = str(answer).strip() if isinstance(answer, str) or type(answer) is int else None
    for names in spellings:
        for letter, name in zip(LETTERS, names, strict=False):
            if called == name:
                return letter
    expected = "an answer that is one of " + " or ".join(", ".join(names) for names in spellings)
    raise InputError(where, expected=expected, found=_seen(answer), hint=hint)


def _metadata(rest: Fields, notes: Fields, where: str) -> Fields:
    """All that is known besides: other fields, those of a `metadata` object, and our notes."""
    inner = rest.pop("metadata", None)
    if not isinstance(inner, dict):
        inner = {} if inner is None else {"metadata": inner}
    joined: Fields = {}
    for part in (inner, rest, notes):
        for name, value in part.items():
            known = _json_value(value, where)
            if name in joined and joined[name] != known:
                raise _two_values(name, where)
            joined[name] = known
    return joined


def _two_values(name: str, where: str) -> InputError:
    return InputError(where, expected=f"one value for {name!r} in the metadata", found="two")


def _json_value(value: object, where: str) -> object:
    """The value as JSON can hold it."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None if isnan(value) else str(value)
    if isinstance(value, bytes):
        raise InputError(where, expected="texts, numbers and lists of them", found="a field of bytes")
    try:
        if isinstance(value, dict):
            return {str(name): _json_value(inner, where) for name, inner in value.items()}
        if isinstance(value, list):
            return [_json_value(inner, where) for inner in value]
    except RecursionError as error:
        raise InputError(where, expected="simple fields", found="one nested too deeply") from error
    return str(value)


def _listed(value: object, name: str, where: str) -> list[object]:
    """The list in a field, or in the text of a table's cell."""
    found = list_in_cell(value) if isinstance(value, str) else value
    if isinstance(found, list):
        _count(found, where)
        return found
    hint = "In a cell, write a JSON list; numpy's way to print one leaves out the commas."
    raise InputError(where, expected=f"a list of texts in {name!r}", found=_seen(value), hint=hint)


# A Python text as `repr` writes it. Two of them side by side, as numpy prints lists, would be one to Python.
_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})"
_PLAIN = r"\\\0\n\r\ud800-\udfff"
_LITERAL = f"(?:'(?:[^'{_PLAIN}]|{_ESCAPE})*+'|\"(?:[^\"{_PLAIN}]|{_ESCAPE})*+\")"
_PYTHON_LIST = re.compile(rf"\s*+\[[ \n]*+{_LITERAL}(?:[ \n]*+,[ \n]*+{_LITERAL})*+[ \n]*+\]\s*+")


def list_in_cell(text: str) -> object:
    """What the cell says if it is JSON, or a Python list of texts; else the text itself.

    >>> list_in_cell('["a", "b"]'), list_in_cell("['a', 'b']"), list_in_cell("['a' 'b']")
    (['a', 'b'], ['a', 'b'], "['a' 'b']")
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ast.literal_eval(text.strip()) if _PYTHON_LIST.fullmatch(text) else text


# --- one reader for each format: it takes out of the row what it knows ---


def _take_id(row: Fields) -> object:
    """The row's own id; null if it has none."""
    for name in ("id", "question_id", "Record ID"):
        value = row.pop(name, None)
        if not _missing(value):
            return value
    return None


def _own(row: Fields, where: str) -> _Choice:
    options = _listed(row.pop("options"), "options", where)
    answer = _letter(row.pop("answer", None), LETTERS[: len(options)], where=where)
    return _Choice(_take_id(row), row.pop("question"), options, answer, row)


def _own_open(row: Fields, where: str) -> _OpenQuestion:
    return _OpenQuestion(_take_id(row), row.pop("question"), row)


def _own_hand(row: Fields, where: str) -> _Hand:
    return _Hand(_take_id(row), row.pop("numbers"), row.pop("target", TARGET), row)


def _public_hand(row: Fields, where: str) -> _Hand:
    puzzle = row.pop("Puzzles")
    if not isinstance(puzzle, str) or not re.fullmatch(r" *[0-9]{1,9}(?: +[0-9]{1,9}){3} *", puzzle):
        raise InputError(where, expected="four whole numbers in 'Puzzles'", found=_seen(puzzle))
    numbers = [int(number) for number in puzzle.split()]
    return _Hand("-".join(map(str, sorted(numbers))), numbers, TARGET, row)


def _choice_columns(row: Fields) -> list[str]:
    """The columns of the options, as far as they run without a gap: `A`, `B`, … or `choice0`, `choice1`, …"""
    numbered = (f"choice{number}" for number in range(len(LETTERS) + 1))
    return list(takewhile(row.__contains__, LETTERS)) or list(takewhile(row.__contains__, numbered))


def _mmlu(row: Fields, where: str) -> _Choice:
    options = [row.pop(column) for column in _choice_columns(row)]
    _count(options, where)
    if beyond := [name for name in row if re.fullmatch("[A-Z]|choice[0-9]+", name)]:
        raise InputError(where, expected="columns of options without a gap", found=f"also {shown(beyond)}")
    return _Choice(_take_id(row), row.pop("question"), options, _take_counted(row, len(options), where), row)


def _mmlu_list(row: Fields, where: str) -> _Choice:
    options = _listed(row.pop("choices"), "choices", where)
    answer = _take_counted(row, len(options), where)
    notes: Fields = {"flawed": True} if row.get("error_type", "ok") != "ok" else {}
    return _Choice(_take_id(row), row.pop("question"), options, answer, row, notes)


def _take_counted(row: Fields, count: int, where: str) -> str | None:
    """The answer as a letter or counted from 0."""
    counted = [str(place) for place in range(count)]
    return _letter(row.pop("answer", None), LETTERS[:count], counted, where=where)


def _mmlu_pro(row: Fields, where: str) -> _Choice:
    options = _listed(row.pop("options"), "options", where)
    kept = len(options)
    while len(options) == 10 and kept and options[kept - 1] == "N/A":
        kept -= 1
    fillers = len(options) - kept
    _count(options[:kept], where)
    hint = f"The last {fillers} options are 'N/A': they fill up the list and are no options." if fillers else ""
    answer = _letter(row.pop("answer", None), LETTERS[:kept], where=where, hint=hint)
    counted = [str(place) for place in range(kept)]
    by_index = _letter(row.get("answer_index"), counted, where=where, hint=hint)
    if answer and by_index and answer != by_index:
        found = f"{answer} and {shown(row['answer_index'])}, which is {by_index}"
        raise InputError(where, expected="the same answer in 'answer' and 'answer_index'", found=found)
    notes: Fields = {"fillers_removed": fillers} if fillers else {}
    return _Choice(_take_id(row), row.pop("question"), options[:kept], answer or by_index, row, notes)


def _arc(row: Fields, where: str) -> _Choice:
    question = row["question"]
    inner = dict(question) if isinstance(question, dict) else {}
    row["question"], choices = inner.pop("stem", None), inner.pop("choices", None)
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise InputError(where, expected="a list of objects in 'question.choices'", found=_seen(choices))
    names = dict.fromkeys(chain(("label", "text"), *choices))
    row["choices"] = {name: [choice.get(name) for choice in choices] for name in names}
    choice = _arc_flat(row, where)
    choice.notes = _metadata(inner, choice.notes, where)
    return choice


def _arc_flat(row: Fields, where: str) -> _Choice:
    choices = row.pop("choices")
    inner = dict(choices) if isinstance(choices, dict) else {}
    labels, texts = inner.pop("label", None), inner.pop("text", None)
    if not isinstance(labels, list) or not isinstance(texts, list) or len(labels) != len(texts):
        expected = "lists of the same length in 'choices.label' and 'choices.text'"
        raise InputError(where, expected=expected, found=_seen(choices))
    _count(labels, where)
    letters, numbers = list(LETTERS[: len(labels)]), [str(place) for place in range(1, len(labels) + 1)]
    if labels not in (letters, numbers):
        expected = f"the labels {', '.join(letters)} or {', '.join(numbers)}, in order"
        raise InputError(where, expected=expected, found=_seen(labels))
    notes: Fields = {"labels": labels} if labels == numbers else {}
    if inner:
        notes["choices"] = inner
    answer = _letter(row.pop("answerKey", None), labels, where=where)
    return _Choice(_take_id(row), row.pop("question"), texts, answer, row, notes)


def _aqua(row: Fields, where: str) -> _Choice:
    options: list[object] = []
    marked = _listed(row.pop("options"), "options", where)
    for letter, option in zip(LETTERS, marked, strict=False):
        if not isinstance(option, str) or not option.startswith(f"{letter})"):
            raise InputError(where, expected=f"an option that begins with '{letter})'", found=_seen(option))
        options.append(option[2:])
    answer = _letter(row.pop("correct"), LETTERS[: len(options)], where=where)
    return _Choice(_take_id(row), row.pop("question"), options, answer, row)


_RIGHT = "Correct Answer"
_GPQA = (_RIGHT, "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


def _gpqa(row: Fields, where: str) -> _Choice:
    item_id, question = _take_id(row), row.pop("Question")
    drawn_by = question if item_id is None else item_id
    order = sorted(_GPQA, key=lambda column: _digest(f"{drawn_by}\n{column}"))
    answer = LETTERS[order.index(_RIGHT)]
    options = [row.pop(column) for column in order]
    return _Choice(item_id, question, options, answer, row, {"option_order": order})


def _gsm8k(row: Fields, where: str) -> _OpenQuestion:
    solution = row.pop("answer")
    answer = answer_of_solution(solution) if isinstance(solution, str) else None
    if not answer:
        hint = "A question of your own needs an 'id' too; then its row is taken as it is."
        expected = f"a solution in 'answer' with a line that begins with {SOLUTION_MARKER} and has the answer"
        raise InputError(where, expected=expected, found=_seen(solution), hint=hint)
    item_id, question = _take_id(row), row.pop("question")
    return _OpenQuestion(
        item_id, question, {"answer": answer, "metadata": _metadata(row, {"solution": solution}, where)}
    )


# --- which format a row has ---


@dataclass(frozen=True, slots=True)
class Format:
    """A published shape of items: its name, how it is recognised, and its reader."""

    name: str
    looks: str
    """The fields that tell it, in words."""
    tells: Callable[[Fields], bool]
    read: Callable[[Fields, str], _Choice | _Hand | _OpenQuestion]


def _has(*names: str, without: str = "") -> Callable[[Fields], bool]:
    return lambda row: all(name in row for name in names) and (not without or without not in row)


def _holds(name: str, kind: type) -> Callable[[Fields], bool]:
    return lambda row: "question" in row and isinstance(row.get(name), kind)


_QUESTION = ("question", "options")
FORMATS = (
    Format("our hands", "numbers", _has("numbers"), _own_hand),
    Format("Game of 24", "Puzzles", _has("Puzzles"), _public_hand),
    Format("GPQA", "Question, Correct Answer, Incorrect Answer 1 to 3", _has("Question", *_GPQA), _gpqa),
    Format("ARC or CommonsenseQA", "question.stem, question.choices", _holds("question", dict), _arc),
    Format("ARC, flat", "question, choices.label, choices.text", _holds("choices", dict), _arc_flat),
    Format("AQuA", "question, options, correct; no answer", _has(*_QUESTION, "correct", without="answer"), _aqua),
    Format("MMLU-Pro", "question_id, question, options", _has("question_id", *_QUESTION, without="id"), _mmlu_pro),
    Format("our questions", "question, options", _has(*_QUESTION), _own),
    Format("MMLU-Redux or MMLU with lists", "question, choices", _has("question", "choices"), _mmlu_list),
    Format("MMLU", "question, A to D", _has("question", "A", "B"), _mmlu),
    Format("MMLU", "question, choice0 to choice3", _has("question", "choice0", "choice1"), _mmlu),
    Format("our open questions", "id, question", _has("id", "question"), _own_open),
    Format("GSM8K", "question, answer with ####; no id", _has("question", "answer"), _gsm8k),
)
"""Every format that is known; the first that fits a row is the row's."""


def format_of(row: Fields) -> Format | None:
    """The format of a row; None if it has none that is known."""
    return next((one for one in FORMATS if one.tells(row)), None)


def unknown_format(where: str, found: str, first: Format | None = None) -> InputError:
    """The refusal of a row that has no known format, or not that of the rows before it."""
    if first is not None:
        expected = f"{first.name} ({first.looks}), as in the rows before"
        return InputError(where, expected=expected, found=found, hint="A file holds items of one format.")
    expected = "items of a known format"
    looked_for = "; ".join(f"{one.name} ({one.looks})" for one in FORMATS)
    hint = f"Looked for: {looked_for}; MMLU without a header (six cells, the last a letter)."
    return InputError(where, expected=expected, found=found, hint=hint)
