"""promptfoo: an export is one JSON document with `results.version`; versions 2 and 3 are read, others refused.

Each row of `results.results` is one output: of a test (`testIdx`, the item, since tests may share their variables)
under a column of the table (`promptIdx`: a provider with a prompt). Version 2 has neither number, and its rows are
in no order: there an output is looked for in the table, by its variables, prompt, text and verdict, and has the
numbers of that row and column. Where outputs share all of these, the table's order decides, and changes nothing
that was read or scored; an output that is not in the table is refused.

The first word of an output is `promptfoo`, whether the test passed; then there is one for each assertion. "No
assertions" passes and is no verdict. A row's `error` repeats the reason of a failed assertion: it is an error of
the output only if `failureReason` says so or, where that is not kept, if there is no output. An output that is no
text, or that a transform came over, is not verbatim (ruling I1). The right answer is the value of the one
assertion `equals`, as it was compared; variables stay variables, whatever their names.

A repeat has a number of its own among the tests, and nothing says that it is one. Tests whose variables and whole
configuration are the same are therefore samples of one item, the first of them.
"""

import json
import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeGuard

from affidavit.exchange.json_documents import document, list_in, object_in, refuse, text_in
from affidavit.exchange.log import Grader, Log, LogFormat, PrintedScore
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer, SourceWord
from affidavit.json_values import Fields, kept_as_shown

_BEGINS = re.compile(
    rb'\s*\{\s*(?:"evalId"\s*:\s*(?:"[^"]*"|null)\s*,\s*)?"results"\s*:\s*\{\s*"version"\s*:\s*-?\d'
)
_OVERALL = "promptfoo"
_NO_ASSERTIONS = "No assertions"
_TEST_TRANSFORMS = ("transform", "postprocess")
_PROVIDER_TRANSFORMS = (*_TEST_TRANSFORMS, "transformResponse", "responseParser")
_NONE, _ASSERT, _ERROR = 0, 1, 2
"""What `failureReason` says."""


def _recognises(head: bytes, _path: Path) -> bool:
    return _BEGINS.match(head) is not None


def _opened(path: Path) -> Log:
    export = _Export(path)
    config = export.config
    description = config.get("description")
    metadata = _object_or_none(export.fields.get("metadata")) or {}
    facts = {"version": export.version, "evalId": export.fields.get("evalId")}
    facts |= {name: metadata.get(name) for name in ("promptfooVersion", "evaluationCreatedAt")}
    stats = export.stats()
    return Log(
        path=path,
        format=PROMPTFOO.name,
        task=description if isinstance(description, str) and description.strip() else path.stem,
        outputs=partial(_outputs, path),
        printed=(*_printed_counts(stats), *_printed_columns(export.columns)),
        planned=sum(stats.values()),
        graders=_graders(config, export.rows),
        facts={name: value for name, value in facts.items() if value is not None},
    )


class _Column(NamedTuple):
    """A column of the table: one provider's outputs to one prompt."""

    provider: str | None
    label: str
    raw: str | None
    metrics: Fields


class _Export:
    """One export, read whole, its outline checked."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.fields = document(path, what="an export of promptfoo")
        self.results = object_in(self.fields, "results", where=self.where)
        version = self.results.get("version")
        if isinstance(version, bool) or version not in (2, 3):
            refuse(self.where, expected="version 2 or 3 in 'results'", found=version)
        self.version = 3 if version == 3 else 2
        self.config = _object_or_none(self.fields.get("config")) or {}
        self.rows = [
            _object(row, f"{self.where}: results.results[{place}]")
            for place, row in enumerate(list_in(self.results, "results", where=self.where))
        ]
        self.columns = [
            _column(each, f"{self.where}: prompts[{place}]") for place, each in enumerate(self._prompts())
        ]

    def _prompts(self) -> list[object]:
        if self.version == 3:
            return list_in(self.results, "prompts", where=self.where)
        head = object_in(object_in(self.results, "table", where=self.where), "head", where=self.where)
        return list_in(head, "prompts", where=self.where)

    def stats(self) -> dict[str, int]:
        """The counts that were printed; older exports have errors among the failures."""
        found = {}
        stats = object_in(self.results, "stats", where=self.where)
        for name in ("successes", "failures", "errors"):
            count = stats.get(name)
            if count is None and name == "errors":
                continue
            if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 2**53:
                refuse(self.where, expected=f"a count in 'stats.{name}'", found=count)
            found[name] = count
        return found


def _column(value: object, where: str) -> _Column:
    fields = _object(value, where)
    provider = fields.get("provider")
    raw, label = fields.get("raw"), fields.get("label", fields.get("display"))
    return _Column(
        provider=provider if isinstance(provider, str) and provider.strip() else None,
        label=label if isinstance(label, str) and label else text_in(fields, "raw", where=where),
        raw=raw if isinstance(raw, str) else None,
        metrics=_object_or_none(fields.get("metrics")) or {},
    )


def _conditions(columns: Sequence[_Column]) -> list[str | None]:
    """The name of each column's prompt, where there are several; two of one name have their numbers too."""
    labels, providers = {column.label for column in columns}, {column.provider for column in columns}
    if len(labels) == 1 and len(providers) == len(columns):
        return [None] * len(columns)
    count = Counter((column.provider, column.label) for column in columns)
    return [
        column.label if count[column.provider, column.label] == 1 else f"{column.label} (prompt {place + 1})"
        for place, column in enumerate(columns)
    ]


# --- what was printed ---


class _Total:
    """What outputs count together, of one column or of all."""

    def __init__(self, counted: Callable[[LoggedOutput, SourceWord], float], column: int | None = None) -> None:
        self._counted = counted
        self._column = column
        self._total: float | None = None

    def add(self, output: LoggedOutput) -> None:
        """One output more."""
        if self._column is None or output.more.get("promptIdx") == self._column:
            for word in output.words[:1]:
                self._total = (self._total or 0) + self._counted(output, word)

    def value(self) -> float | None:
        """The total; None over nothing."""
        return self._total


def _passed(_output: LoggedOutput, word: SourceWord) -> float:
    return word.points or 0


def _failed(output: LoggedOutput, word: SourceWord) -> float:
    return float(not word.points and word.no_answer is not NoAnswer.ERROR)


def _not_passed(_output: LoggedOutput, word: SourceWord) -> float:
    return float(not word.points)


def _in_error(_output: LoggedOutput, word: SourceWord) -> float:
    return float(not word.points and word.no_answer is NoAnswer.ERROR)


def _score(_output: LoggedOutput, word: SourceWord) -> float:
    return word.score if isinstance(word.score, int | float) else 0.0


def _printed_counts(stats: Mapping[str, int]) -> Iterator[PrintedScore]:
    counted = {
        "successes": _passed,
        "failures": _failed if "errors" in stats else _not_passed,
        "errors": _in_error,
    }
    for name, count in stats.items():
        recount = partial(_Total, counted[name])
        yield PrintedScore(scorer=_OVERALL, metric=f"{name} (count)", value=float(count), recount=recount)


def _printed_columns(columns: Sequence[_Column]) -> Iterator[PrintedScore]:
    conditions = _conditions(columns)
    counted = {
        "testPassCount": (_passed, "count"),
        "score": (_score, "sum"),
        "testErrorCount": (_in_error, "count"),
    }
    for place, (column, condition) in enumerate(zip(columns, conditions, strict=True)):
        for name, (counts, kind) in counted.items():
            value = column.metrics.get(name)
            if _is_number(value):
                yield PrintedScore(
                    scorer=_OVERALL,
                    metric=f"{name} ({kind})" if condition is None else f"{name} ({kind}), {condition}",
                    value=float(value),
                    recount=partial(_Total, counts, place),
                    model=column.provider,
                )


def _graders(config: Fields, rows: Sequence[Fields]) -> tuple[Grader, ...]:
    """The models that the export names as graders; the one that promptfoo takes by default is not in it."""
    tests = [config.get("defaultTest"), *_items(config.get("tests")), *(row.get("testCase") for row in rows)]
    found: dict[str, None] = {}
    for test in tests:
        fields = _object_or_none(test) or {}
        options = _object_or_none(fields.get("options")) or {}
        for holder in (options, *_assertions(fields.get("assert"))):
            kind = holder.get("type")
            grader = _provider_name(holder.get("provider"))
            if grader is not None and not (isinstance(kind, str) and "similar" in kind):
                found[grader] = None
    return tuple(map(Grader, found))


def _assertions(value: object) -> Iterator[Fields]:
    """Assertions, those of sets too."""
    for each in _items(value):
        if isinstance(each, dict):
            yield each
            yield from (inner for inner in _items(each.get("assert")) if isinstance(inner, dict))


def _provider_name(value: object) -> str | None:
    found = value.get("id") if isinstance(value, dict) else value
    return found if isinstance(found, str) and found.strip() else None


def _provider_names(row: Fields) -> list[str]:
    """The names of a row's provider, its label first: by this it goes wherever it has one."""
    provider = row.get("provider")
    label = provider.get("label") if isinstance(provider, dict) else None
    return [name for name in (_provider_name(label), _provider_name(provider)) if name is not None]


# --- where version 2 has an output ---


class _Places:
    """Where outputs stand: by the numbers that a row has or, in version 2, in the table."""

    def __init__(self, export: _Export) -> None:
        self._columns = export.columns
        self._cells: defaultdict[tuple[object, ...], deque[tuple[int, int]]] = defaultdict(deque)
        self._by_provider = any(_provider_names(row) for row in export.rows)
        self._vars: list[str] = []
        self.tests: list[Fields | None] = []
        self._has_table = export.version == 2
        if self._has_table:
            self._read(object_in(export.results, "table", where=export.where), f"{export.where}: results.table")

    def _read(self, table: Fields, where: str) -> None:
        names = list_in(object_in(table, "head", where=where), "vars", where=where)
        self._vars = [
            each if isinstance(each, str) else refuse(where, expected="names", found=each) for each in names
        ]
        for number, line in enumerate(list_in(table, "body", where=where)):
            at = f"{where}.body[{number}]"
            fields = _object(line, at)
            self.tests.append(_object_or_none(fields.get("test")))
            shared = tuple(_table_text(each) for each in list_in(fields, "vars", where=at))
            for column, cell in enumerate(list_in(fields, "outputs", where=at)):
                if cell is not None:
                    inner = _object(cell, at)
                    provider = self._columns[column].provider if column < len(self._columns) else None
                    key = (
                        shared,
                        provider if self._by_provider else None,
                        *(_plain(inner.get(name), at) for name in ("prompt", "text", "pass", "score")),
                    )
                    self._cells[key].append((number, column))

    def place(self, row: Fields, where: str) -> tuple[int, int]:
        """The numbers of a row's test and column."""
        test, column = row.get("testIdx"), row.get("promptIdx")
        if self._has_table and test is None and column is None:
            test, column = self._in_table(row, where)
        if _index(column, "promptIdx", where) >= len(self._columns):
            refuse(where, expected=f"one of {len(self._columns):,} prompts in 'promptIdx'", found=column)
        return _index(test, "testIdx", where), _index(column, "promptIdx", where)

    def _in_table(self, row: Fields, where: str) -> tuple[int, int]:
        variables = object_in(row, "vars", where=where)
        shared = tuple(_table_text(variables.get(name, "")) for name in self._vars)
        prompt = object_in(row, "prompt", where=where).get("raw")
        verdict = (_plain(row.get("success"), where), _plain(row.get("score"), where))
        for provider in (*_provider_names(row), None):
            for text in _table_texts(row):
                if found := self._cells.get((shared, provider, _plain(prompt, where), text, *verdict)):
                    return found.popleft()
        return refuse(where, expected="an output that is in the table, once", found=prompt)


def _index(value: object, name: str, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        refuse(where, expected=f"a number in {name!r}", found=value)
    return value


def _table_texts(row: Fields) -> Iterator[str]:
    """What the table of version 2 may show for an output: its text, with the reason or error before it."""
    output = (_object_or_none(row.get("response")) or {}).get("output")
    text = output if isinstance(output, str) else "" if output is None else _table_text(output)
    error = row.get("error")
    said = error if isinstance(error, str) else ""
    yield text
    yield said
    yield f"{said}\n---\n{text}"
    yield f"[FAIL] {said}\n---\n{text}"
    yield f"[PASS] {text}"


def _table_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return _json(value) or ""


def _plain(value: object, where: str) -> object:
    """A value to look for in the table; only plain ones can be there."""
    return refuse(where, expected="a plain value", found=value) if isinstance(value, dict | list) else value


# --- outputs ---


@dataclass(frozen=True, slots=True)
class _Whole:
    """What rows have from the export as a whole."""

    columns: Sequence[_Column]
    conditions: Sequence[str | None]
    only_provider: str | None
    transformed: frozenset[str]
    all_transformed: bool
    tests_transformed: bool
    tests: Sequence[Fields | None]
    samples: Mapping[int, tuple[int, int]]
    """Which item a test is a sample of, and its number among these."""


def _whole(export: _Export, tests: Sequence[Fields | None], placed: Sequence[tuple[int, int]]) -> _Whole:
    config = export.config
    entries = [_provider(each) for each in _list(config.get("providers"))]
    scenarios = [each for each in _items(config.get("scenarios")) if isinstance(each, dict)]
    inner = (test for each in scenarios for name in ("config", "tests") for test in _items(each.get(name)))
    return _Whole(
        columns=export.columns,
        conditions=_conditions(export.columns),
        only_provider=entries[0][0][0] if len(entries) == 1 and entries[0][0] else None,
        transformed=frozenset(name for names, changed in entries if changed for name in names),
        all_transformed=_is_transformed(config.get("defaultTest")),
        tests_transformed=any(_is_transformed(each) for each in (*_items(config.get("tests")), *inner)),
        tests=tests,
        samples=_samples(export.rows, [test for test, _ in placed], tests),
    )


def _outputs(path: Path) -> Iterator[LoggedOutput]:
    export = _Export(path)
    places = _Places(export)
    seen: set[tuple[int, str, str | None]] = set()
    taken: set[tuple[int, int]] = set()
    wheres = [f"{path}: results.results[{number}]" for number in range(len(export.rows))]
    placed = [places.place(row, where) for row, where in zip(export.rows, wheres, strict=True)]
    whole = _whole(export, places.tests, placed)
    for number, (row, (test, column), where) in enumerate(zip(export.rows, placed, wheres, strict=True)):
        place = f"results.results[{number}]"
        output = _output(row, (test, column), whole, where=where, place=place)
        key = (test, output.model, output.condition)
        if (test, column) in taken or key in seen:
            refuse(
                where,
                expected="one output of each test, provider and prompt",
                found=f"test {test}, prompt {column}",
            )
        seen.add(key)
        taken.add((test, column))
        yield output


def _samples(
    rows: Sequence[Fields], of_tests: Sequence[int], tests: Sequence[Fields | None]
) -> dict[int, tuple[int, int]]:
    """Each test as a sample of an item: tests that are alike in all that was asked and demanded are repeats."""
    asked: defaultdict[int, set[str | None]] = defaultdict(set)
    for row, test in zip(rows, of_tests, strict=True):
        case = _case(row, test, tests)
        asked[test].add(None if case is None else _json([case, row.get("vars")]))
    alike: defaultdict[object, list[int]] = defaultdict(list)
    for test in sorted(asked):
        alike[test if None in asked[test] else frozenset(asked[test])].append(test)
    return {test: (same[0], number) for same in alike.values() for number, test in enumerate(same)}


def _case(row: Fields, test: int, tests: Sequence[Fields | None]) -> Fields | None:
    """The test as it was configured, where the row or the table has it."""
    case = _object_or_none(row.get("testCase"))
    return tests[test] if case is None and test < len(tests) else case


def _output(row: Fields, at: tuple[int, int], whole: _Whole, *, where: str, place: str) -> LoggedOutput:
    test, column = at
    item, sample = whole.samples[test]
    response = row.get("response")
    if response is not None and not isinstance(response, dict):
        refuse(where, expected="an object in 'response'", found=response)
    response = response or {}
    text = _text(response.get("output"), where)
    case = _object_or_none(row.get("testCase"))
    model, names = _model(row, whole.columns[column], whole, where)
    error = _error(row, response, text, where)
    if response.get("error") is not None:
        text = None  # the request failed: what stands in the place of its output is none (ruling C1)
    grading = row.get("gradingResult")
    if grading is not None and not isinstance(grading, dict):
        refuse(where, expected="an object in 'gradingResult'", found=grading)
    prompt = _object_or_none(row.get("prompt")) or {}
    raw, reason = prompt.get("raw"), response.get("finishReason")
    return LoggedOutput(
        place=place,
        item_id=str(item),
        model=model,
        raw_output=text,
        verbatim=isinstance(response.get("output"), str | None) and not _came_over(case, test, names, whole),
        sample=sample,
        condition=whole.conditions[column],
        prompt=raw if isinstance(raw, str) else None,
        answer=_answer(grading, case),
        error=error,
        no_answer=None if text is not None else NoAnswer.MISSING if error is None else NoAnswer.ERROR,
        finish_reason=reason if isinstance(reason, str) else None,
        words=tuple(_words(row, grading or {}, where, in_error=error is not None)),
        more={"vars": row.get("vars") or {}, "promptIdx": column, **({"testIdx": test} if sample else {})},
    )


def _text(output: object, where: str) -> str | None:
    """The output; of one that is no text, its JSON."""
    if output is None or isinstance(output, str):
        return output
    return _json(output) or refuse(where, expected="a text in 'response.output'", found=output)


def _json(value: object) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return None


def _model(row: Fields, column: _Column, whole: _Whole, where: str) -> tuple[str, list[str]]:
    """Whose output it is, and all names of that provider."""
    names = _provider_names(row)
    names += [] if names or column.provider is None else [column.provider]
    names += [] if names or whole.only_provider is None else [whole.only_provider]
    if not names:
        refuse(where, expected="the provider of the output", found=row.get("provider"))
    return names[0], names


def _error(row: Fields, response: Fields, text: str | None, where: str) -> str | None:
    """What went wrong in asking or grading; None for an assertion that failed."""
    reason, error = row.get("failureReason"), row.get("error")
    if reason is not None and (isinstance(reason, bool) or reason not in (_NONE, _ASSERT, _ERROR)):
        refuse(where, expected="0, 1 or 2 in 'failureReason'", found=reason)
    said = error if error is not None else response.get("error")
    is_error = reason == _ERROR if reason is not None else text is None and said is not None
    if not is_error:
        return None
    return said if isinstance(said, str) else "no reason given" if said is None else kept_as_shown(said)


def _came_over(case: Fields | None, test: int, names: Sequence[str], whole: _Whole) -> bool:
    """Whether something came over the output between the provider and the log."""
    if case is None and test < len(whole.tests):
        case = whole.tests[test]
    own = whole.tests_transformed if case is None else _is_transformed(case)
    return own or whole.all_transformed or any(name in whole.transformed for name in names)


def _is_transformed(test: object) -> bool:
    options = _object_or_none((_object_or_none(test) or {}).get("options")) or {}
    return any(options.get(name) not in (None, "") for name in _TEST_TRANSFORMS)


def _provider(value: object) -> tuple[list[str], bool]:
    """The names of a provider that is configured, the one it goes by first, and whether it has a transform."""
    options = _object_or_none(value) or {}
    name: object = value if isinstance(value, str) else options.get("id")
    if len(options) == 1 and name is None:
        (name, inner), *_ = options.items()
        options = _object_or_none(inner) or {}
    names = [each for each in (_provider_name(options.get("label")), _provider_name(name)) if each is not None]
    config = _object_or_none(options.get("config")) or {}
    settings = [holder.get(each) for holder in (options, config) for each in _PROVIDER_TRANSFORMS]
    return names, any(each not in (None, "") for each in settings)


# --- words ---


def _words(row: Fields, grading: Fields, where: str, *, in_error: bool) -> Iterator[SourceWord]:
    """Whether the test passed, and each assertion's word."""
    success, score = row.get("success"), row.get("score")
    if not isinstance(success, bool):
        refuse(where, expected="true or false in 'success'", found=success)
    if score is not None and not _is_number(score):
        refuse(where, expected="a number in 'score'", found=score)
    components = list_in(grading, "componentResults", where=where) if grading.get("componentResults") else []
    is_graded = bool(components) or (bool(grading) and grading.get("reason") != _NO_ASSERTIONS)
    yield SourceWord(
        scorer=_OVERALL,
        correct=success if not in_error and (is_graded or not success) else None,
        points=float(success),
        score=score,
        no_answer=NoAnswer.ERROR if in_error else None,
    )
    for number, each in enumerate(components):
        if each is not None:
            yield _component(_object(each, where), number, f"{where}.gradingResult.componentResults[{number}]")


def _component(result: Fields, number: int, where: str) -> SourceWord:
    passed, score = result.get("pass"), result.get("score")
    if not isinstance(passed, bool):
        refuse(where, expected="true or false in 'pass'", found=passed)
    if score is not None and not _is_number(score):
        refuse(where, expected="a number in 'score'", found=score)
    kind = (_object_or_none(result.get("assertion")) or {}).get("type")
    failed = (_object_or_none(result.get("metadata")) or {}).get("graderError") is True
    return SourceWord(
        scorer=f"{kind if isinstance(kind, str) else 'assertion'}[{number}]",
        correct=None if failed else passed,
        points=None if score is None else float(score),
        score=score,
        no_answer=NoAnswer.ERROR if failed else None,
    )


def _answer(grading: Fields | None, case: Fields | None) -> str | None:
    """What the output was compared with, if there is one assertion `equals` and its text is known."""
    components = [each for each in _items((grading or {}).get("componentResults")) if isinstance(each, dict)]
    if components:
        found = [(each.get("assertion"), _object_or_none(each.get("metadata")) or {}) for each in components]
    else:
        found = [(each, {}) for each in _assertions((case or {}).get("assert"))]
    texts = [
        metadata.get("renderedAssertionValue", assertion.get("value"))
        for assertion, metadata in found
        if isinstance(assertion, dict) and assertion.get("type") == "equals"
    ]
    text = texts[0] if len(texts) == 1 else None
    # A template or the name of a file is not what was compared.
    return text if isinstance(text, str) and "{{" not in text and not text.startswith("file://") else None


# --- values ---


def _object(value: object, where: str) -> Fields:
    return value if isinstance(value, dict) else refuse(where, expected="an object", found=value)


def _object_or_none(value: object) -> Fields | None:
    return value if isinstance(value, dict) else None


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53


PROMPTFOO = LogFormat("promptfoo export", _recognises, _opened)
