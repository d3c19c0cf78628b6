"""promptfoo's rows become outputs with a word for each assertion; no assertion is no verdict, and nothing is guessed."""

import json
from pathlib import Path

import pytest

from affidavit.errors import InputError
from affidavit.exchange.log import HEAD, Log
from affidavit.exchange.logged_output import LoggedOutput, NoAnswer
from affidavit.exchange.promptfoo_exports import PROMPTFOO
from support.log_mutations import mutations, read_or_refused

PASSED = {"pass": True, "score": 1, "reason": "All assertions passed"}
FREE = {"pass": True, "score": 1, "reason": "No assertions", "tokensUsed": {}}


def graded(kind: str, passed: bool, score: float, **more) -> dict:
    return {"pass": passed, "score": score, "reason": "", "assertion": {"type": kind, **more}}


def row(test: int, prompt: int, output: object = "Paris.", **more) -> dict:
    return {
        "testIdx": test,
        "promptIdx": prompt,
        "provider": {"id": ("lab:a", "lab:b")[prompt], "label": ""},
        "prompt": {"raw": f"Capital {test}?", "label": "Capital {{n}}?"},
        "vars": {"n": str(test)},
        "response": {"output": output, "finishReason": "stop"},
        "success": True,
        "score": 1,
        "failureReason": 0,
        "gradingResult": {**PASSED, "componentResults": [graded("contains", True, 1, value="Par")]},
        "testCase": {"vars": {}, "assert": [], "options": {}},
        **more,
    }


def column(provider: str, label: str = "Capital {{n}}?", **metrics) -> dict:
    return {"raw": label, "label": label, "provider": provider, "metrics": metrics}


def export(
    rows: list, *, prompts: list | None = None, config: object = None, stats: object = None, **more
) -> dict:
    results = {
        "version": 3,
        "prompts": [column("lab:a"), column("lab:b")] if prompts is None else prompts,
        "results": rows,
        "stats": {"successes": len(rows), "failures": 0, "errors": 0} if stats is None else stats,
    }
    return {"evalId": "eval-1", "results": results, "config": {} if config is None else config, **more}


def written(folder: Path, content: object) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(content))
    return path


def outputs(path: Path) -> list[LoggedOutput]:
    return list(PROMPTFOO.opened(path).outputs())


def recounted(log: Log) -> dict[tuple[str | None, str], tuple[float, float | None]]:
    again = [printed.recount() for printed in log.printed if printed.recount is not None]
    for output in log.outputs():
        for each in again:
            each.add(output)
    pairs = zip(log.printed, again, strict=True)
    return {(printed.model, printed.metric): (printed.value, each.value()) for printed, each in pairs}


def test_rows_become_outputs_and_assertions_words(tmp_path):
    failing = {
        "success": False,
        "score": 0.5,
        "error": "too long",
        "failureReason": 1,
        "gradingResult": {
            "pass": False,
            "score": 0.5,
            "reason": "too long",
            "componentResults": [graded("contains", True, 1), None, graded("word-count", False, 0)],
        },
    }
    path = written(tmp_path, export([row(1, 1, "Rome, of course.\n", **failing), row(0, 0)]))
    first, second = outputs(path)
    assert (first.item_id, first.model, first.condition, first.sample) == ("1", "lab:b", None, 0)
    assert (first.raw_output, first.verbatim, first.prompt) == ("Rome, of course.\n", True, "Capital 1?")
    assert (first.error, first.no_answer, first.finish_reason) == (None, None, "stop")
    assert first.more == {"vars": {"n": "1"}, "promptIdx": 1}
    assert [(word.scorer, word.correct, word.points, word.score) for word in first.words] == [
        ("promptfoo", False, 0.0, 0.5),
        ("contains[0]", True, 1.0, 1),
        ("word-count[2]", False, 0.0, 0),
    ]
    assert (second.item_id, second.model, second.words[0].correct) == ("0", "lab:a", True)


@pytest.mark.parametrize(
    ("variables", "cases", "items"),
    [
        (["x", "x", "x"], [{"assert": []}] * 3, [("0", 0), ("0", 1), ("0", 2)]),
        (["x", "y", "x"], [{"assert": []}] * 3, [("0", 0), ("1", 0), ("0", 1)]),
        (["x", "x", "x"], [{"assert": []}, {"assert": [{"type": "x"}]}, {"assert": []}], [("0", 0), ("1", 0), ("0", 1)]),
        (["x", "x"], [None, None], [("0", 0), ("1", 0)]),
    ],
)  # fmt: skip
def test_a_repeated_test_is_one_item_with_samples(tmp_path, variables, cases, items):
    """Its rows come in the order in which they were done; nothing but the equality of tests says that it is one."""
    rows = [
        row(test, prompt, vars={"n": variable}, testCase=case)
        for test, (variable, case) in enumerate(zip(variables, cases, strict=True))
        for prompt in (0, 1)
    ]
    log = PROMPTFOO.opened(written(tmp_path, export(rows[::-1])))
    found = [(each.item_id, each.sample) for each in reversed(list(log.outputs())) if each.model == "lab:a"]
    assert found == items
    repeats = [each.more.get("testIdx") for each in log.outputs() if each.sample]
    assert len(repeats) == 2 * sum(sample > 0 for _, sample in items)
    assert None not in repeats


@pytest.mark.parametrize(
    ("fields", "said", "word"),
    [
        ({"gradingResult": FREE}, ("Paris.", None, None), (None, 1.0, None)),
        ({"gradingResult": None}, ("Paris.", None, None), (None, 1.0, None)),
        ({"success": False, "gradingResult": PASSED}, ("Paris.", None, None), (False, 0.0, None)),
        (
            {"success": False, "failureReason": 2, "error": "429", "response": None, "gradingResult": None},
            (None, NoAnswer.ERROR, "429"), (None, 0.0, NoAnswer.ERROR),
        ),
        (
            {"success": False, "failureReason": 2, "error": "grader is down"},
            ("Paris.", None, "grader is down"), (None, 0.0, NoAnswer.ERROR),
        ),
        (
            {"success": False, "failureReason": None, "response": {"error": "429"}, "gradingResult": None},
            (None, NoAnswer.ERROR, "429"), (None, 0.0, NoAnswer.ERROR),
        ),
        (
            {"success": False, "failureReason": None, "error": "too long", "gradingResult": None},
            ("Paris.", None, None), (False, 0.0, None),
        ),
        ({"response": {}, "gradingResult": FREE}, (None, NoAnswer.MISSING, None), (None, 1.0, None)),
        ({"response": {"output": ""}}, ("", None, None), (True, 1.0, None)),
    ],
)  # fmt: skip
def test_no_assertion_is_no_verdict_and_an_error_no_failed_assertion(tmp_path, fields, said, word):
    (found,) = outputs(written(tmp_path, export([row(0, 0, **fields)])))
    assert (found.raw_output, found.no_answer, found.error) == said
    first = found.words[0]
    assert (first.correct, first.points, first.no_answer) == word


@pytest.mark.parametrize(
    ("fields", "config", "verbatim"),
    [
        ({}, {}, True),
        ({"testCase": {"options": {"transform": "output.trim()"}}}, {}, False),
        ({"testCase": {"options": {"postprocess": "output.trim()"}}}, {}, False),
        ({}, {"defaultTest": {"options": {"transform": "output.trim()"}}}, False),
        ({}, {"providers": [{"id": "lab:a", "transform": "output"}]}, False),
        ({}, {"providers": {"id": "lab:a", "transform": "output"}}, False),
        ({}, {"providers": [{"id": "lab:a", "config": {"transformResponse": "json.x"}}]}, False),
        ({}, {"providers": [{"lab:a": {"config": {"responseParser": "json.x"}}}]}, False),
        ({}, {"providers": [{"id": "lab:b", "transform": "output"}, "lab:a"]}, True),
        ({"testCase": None}, {"tests": [{"options": {"transform": "output"}}]}, False),
        ({"testCase": None}, {"scenarios": [{"config": [{"options": {"transform": "output"}}]}]}, False),
        ({"response": {"output": {"capital": "Paris"}}}, {}, False),
    ],
)
def test_what_a_transform_came_over_is_not_verbatim(tmp_path, fields, config, verbatim):
    (found,) = outputs(written(tmp_path, export([row(0, 0, **fields)], config=config)))
    assert found.verbatim is verbatim
    assert found.raw_output in ("Paris.", '{"capital":"Paris"}')


@pytest.mark.parametrize(
    ("components", "tests", "answer"),
    [
        ([graded("equals", True, 1, value="Paris")], [], "Paris"),
        ([graded("icontains", True, 1, value="Paris")], [], None),
        ([graded("not-equals", True, 1, value="Rome")], [], None),
        ([graded("equals", True, 1, value="a"), graded("equals", False, 0, value="b")], [], None),
        ([graded("equals", True, 1, value="{{n}}")], [], None),
        (
            [graded("equals", True, 1, value="{{n}}") | {"metadata": {"renderedAssertionValue": "Oslo"}}],
            [],
            "Oslo",
        ),
        ([graded("equals", True, 1, value="file://a.txt")], [], None),
        ([graded("equals", True, 1, value={"a": 1})], [], None),
        ([], [{"type": "assert-set", "assert": [{"type": "equals", "value": "Bern"}]}], "Bern"),
    ],
)
def test_the_answer_is_what_the_output_was_to_equal(tmp_path, components, tests, answer):
    fields = {
        "gradingResult": {**PASSED, "componentResults": components},
        "testCase": {"vars": {"expected": "Madrid"}, "assert": tests},
        "vars": {"expected": "Madrid"},
    }
    (found,) = outputs(written(tmp_path, export([row(0, 0, **fields)])))
    assert found.answer == answer
    assert found.more["vars"] == {"expected": "Madrid"}


@pytest.mark.parametrize(
    ("prompts", "conditions"),
    [
        ([column("lab:a"), column("lab:b")], [None, None]),
        ([column("lab:a", "short"), column("lab:a", "long")], ["short", "long"]),
        ([column("lab:a", "short"), column("lab:a", "short")], ["short (prompt 1)", "short (prompt 2)"]),
        ([column("lab:a", "short"), column("lab:b", "long")], ["short", "long"]),
    ],
)
def test_several_prompts_are_conditions(tmp_path, prompts, conditions):
    rows = [row(0, place, provider={"id": each["provider"]}) for place, each in enumerate(prompts)]
    found = outputs(written(tmp_path, export(rows, prompts=prompts)))
    assert [each.condition for each in found] == conditions
    assert [each.model for each in found] == [each["provider"] for each in prompts]


@pytest.mark.parametrize(
    ("provider", "model"),
    [({"id": "lab:a", "label": "A, cold"}, "A, cold"), ("lab:c", "lab:c"), (None, "lab:a"), ({}, "lab:a")],
)
def test_a_provider_goes_by_its_label(tmp_path, provider, model):
    (found,) = outputs(written(tmp_path, export([row(0, 0, provider=provider)])))
    assert found.model == model


def test_counts_and_sums_are_made_again(tmp_path):
    rows = [
        row(0, 0, score=0.75),
        row(1, 0, success=False, score=0.5, failureReason=1),
        row(0, 1, success=False, score=0, failureReason=2, error="429", response=None),
        row(1, 1, gradingResult=FREE),
    ]
    prompts = [
        column("lab:a", score=1.25, testPassCount=1, testErrorCount=0),
        column("lab:b", score=1, testPassCount=1, testErrorCount=1),
    ]
    content = export(rows, prompts=prompts, stats={"successes": 2, "failures": 1, "errors": 1})
    log = PROMPTFOO.opened(written(tmp_path, content))
    found = recounted(log)
    assert found == {
        (None, "successes (count)"): (2, 2),
        (None, "failures (count)"): (1, 1),
        (None, "errors (count)"): (1, 1),
        ("lab:a", "score (sum)"): (1.25, 1.25),
        ("lab:a", "testPassCount (count)"): (1, 1),
        ("lab:a", "testErrorCount (count)"): (0, 0),
        ("lab:b", "score (sum)"): (1, 1),
        ("lab:b", "testPassCount (count)"): (1, 1),
        ("lab:b", "testErrorCount (count)"): (1, 1),
    }
    assert log.planned == 4
    del content["results"]["stats"]["errors"]
    content["results"]["stats"]["failures"] = 2
    assert recounted(PROMPTFOO.opened(written(tmp_path, content)))[None, "failures (count)"] == (2, 2)


def test_graders_that_are_named(tmp_path):
    config = {
        "description": "Capitals",
        "defaultTest": {"options": {"provider": "lab:judge"}, "assert": [{"type": "llm-rubric", "value": "x"}]},
        "tests": [
            {
                "assert": [
                    {"type": "llm-rubric", "provider": {"id": "lab:other"}},
                    {"type": "similar", "provider": "lab:vectors"},
                ]
            },
            {"assert": [{"type": "assert-set", "assert": [{"type": "g-eval", "provider": "lab:judge"}]}]},
            "file://more.yaml",
        ],
    }
    log = PROMPTFOO.opened(written(tmp_path, export([row(0, 0)], config=config)))
    assert (log.task, [each.model for each in log.graders], log.facts["version"]) == (
        "Capitals",
        ["lab:judge", "lab:other"],
        3,
    )
    assert PROMPTFOO.opened(written(tmp_path, export([row(0, 0)]))).graders == ()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row(0, 0), row(0, 0)], "one output of each test, provider and prompt"),
        ([row(0, 0), row(0, 1, provider={"id": "lab:a"})], "one output of each test, provider and prompt"),
        ([row(0, 0), row(0, 0) | {"promptIdx": 7}], "one of 2 prompts in 'promptIdx', found 7"),
        ([row(0, 0), row(0, 0) | {"testIdx": None}], "a number in 'testIdx', found null"),
        ([row(0, 0), row(0, 0) | {"testIdx": -1}], "a number in 'testIdx', found -1"),
        ([row(0, 0), row(1, 0, failureReason=3)], "0, 1 or 2 in 'failureReason', found 3"),
        ([row(0, 0), row(1, 0, success="yes")], "true or false in 'success'"),
        ([row(0, 0), row(1, 0, gradingResult={"componentResults": [{"score": 1}]})], "true or false in 'pass'"),
        ([row(0, 0), row(1, 0, response="Paris")], "an object in 'response'"),
        ([row(0, 0), "row"], "an object"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path, rows, said):
    path = written(tmp_path, export(rows))
    with pytest.raises(InputError) as refused:
        outputs(path)
    assert refused.value.where.startswith(f"{path}: results.results[1]")
    assert said in str(refused.value)


@pytest.mark.parametrize("version", [1, 4, "3", None, True, 2.5])
def test_other_versions_are_refused(tmp_path, version):
    content = export([row(0, 0)])
    content["results"]["version"] = version
    with pytest.raises(InputError, match="expected version 2 or 3 in 'results'"):
        PROMPTFOO.opened(written(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "is_log"),
    [
        ('{"evalId": "eval-1", "results": {"version": 3,', True),
        ('{"evalId": null, "results": {\n "version": 4,', True),
        ('{"results": {"version": 2, "results": [', True),
        ('{"results": {"gsm8k": {"exact_match": 1}}}', False),
        ('{"version": 2, "results": []}', False),
        ("", False),
    ],
)
def test_told_by_content(tmp_path, content, is_log):
    assert PROMPTFOO.recognises(content.encode(), tmp_path / "x.json") is is_log


# --- version 2 ---


def cell(text: str, prompt: str, **more) -> dict:
    return {"pass": True, "score": 1, "text": text, "prompt": prompt, **more}


def old_row(output: str, prompt: str, n: object, **more) -> dict:
    fields = {
        "prompt": {"raw": prompt},
        "vars": {"n": n},
        "response": {"output": output},
        "success": True,
        "score": 1,
    }
    return fields | more


def old_export(rows: list, body: list, *, providers: object = "lab:a", heads: list | None = None) -> dict:
    heads = (
        [{"raw": "a {{n}}", "display": "first"}, {"raw": "b {{n}}", "display": "second"}]
        if heads is None
        else heads
    )
    table = {"head": {"prompts": heads, "vars": ["n"]}, "body": body}
    stats = {"successes": len(rows), "failures": 0}
    results = {"version": 2, "results": rows, "stats": stats, "table": table}
    return {"results": results, "config": {"providers": providers}}


def line(n: str, *cells: dict, **more) -> dict:
    return {"outputs": list(cells), "vars": [n], **more}


BODY = [line("1", cell("A", "a 1"), cell("B", "b 1")), line("2", cell("C", "a 2"), cell("D", "b 2"))]
OLD = [
    old_row("B", "b 1", "1"),
    old_row("C", "a 2", "2"),
    old_row("A", "a 1", "1"),
    old_row("D", "b 2", "2"),
]


def test_outputs_of_version_2_are_found_in_the_table(tmp_path):
    found = outputs(written(tmp_path, old_export(OLD, BODY)))
    assert [(each.item_id, each.condition, each.raw_output) for each in found] == [
        ("0", "second", "B"),
        ("1", "first", "C"),
        ("0", "first", "A"),
        ("1", "second", "D"),
    ]
    assert {(each.model, each.words[0].correct, each.words[0].points) for each in found} == {("lab:a", None, 1.0)}


@pytest.mark.parametrize(
    ("row_more", "text"),
    [
        ({"success": False, "score": 0, "error": "too long"}, "too long\n---\nA"),
        ({"success": False, "score": 0, "error": "too long"}, "[FAIL] too long\n---\nA"),
        ({"success": False, "score": 0, "error": "429", "response": {}}, "429"),
        ({}, "[PASS] A"),
    ],
)
def test_the_table_of_version_2_shows_reasons_before_outputs(tmp_path, row_more, text):
    shown = cell(text, "a 1", **({"pass": False, "score": 0} if row_more else {}))
    (found,) = outputs(written(tmp_path, old_export([old_row("A", "a 1", "1", **row_more)], [line("1", shown)])))
    assert (found.item_id, found.raw_output) == ("0", None if text == "429" else "A")
    assert found.no_answer is (NoAnswer.ERROR if text == "429" else None)


def test_tests_of_version_2_may_share_their_variables(tmp_path):
    body = [line("1", cell("A", "a 1")), line("1", cell("B", "a 1")), line("1", cell("A", "a 1"))]
    rows = [old_row("A", "a 1", "1"), old_row("A", "a 1", "1"), old_row("B", "a 1", "1")]
    found = outputs(written(tmp_path, old_export(rows, body)))
    assert [(each.item_id, each.raw_output) for each in found] == [("0", "A"), ("2", "A"), ("1", "B")]
    with pytest.raises(InputError, match="expected an output that is in the table, once"):
        outputs(written(tmp_path, old_export([*rows, rows[0]], body)))


def test_variables_of_version_2_stand_in_the_table_as_json(tmp_path):
    body = [line('{"x":[1]}', cell("A", "a 1"))]
    (found,) = outputs(written(tmp_path, old_export([old_row("A", "a 1", {"x": [1]})], body)))
    assert found.item_id == "0"


def test_providers_of_version_2_are_told_by_row_or_column_and_never_guessed(tmp_path):
    heads = [{"raw": "a", "label": "a", "provider": "lab:a"}, {"raw": "a", "label": "a", "provider": "lab:b"}]
    body = [line("1", cell("A", "a 1"), cell("A", "a 1"))]
    plain = [old_row("A", "a 1", "1"), old_row("A", "a 1", "1")]
    named = [old_row("A", "a 1", "1", provider={"id": each}) for each in ("lab:b", "lab:a")]
    both = ["lab:a", "lab:b"]
    found = outputs(written(tmp_path, old_export(plain, body, providers=both, heads=heads)))
    assert [each.model for each in found] == ["lab:a", "lab:b"]
    found = outputs(written(tmp_path, old_export(named, body, providers=both, heads=heads)))
    assert [(each.model, each.more["promptIdx"]) for each in found] == [("lab:b", 1), ("lab:a", 0)]
    with pytest.raises(InputError, match="expected the provider of the output"):
        outputs(written(tmp_path, old_export(OLD, BODY, providers=both)))


def test_a_transform_of_a_test_of_version_2(tmp_path):
    changed = {"options": {"transform": "output"}}
    body = [BODY[0] | {"test": changed}, BODY[1] | {"test": {}}]
    found = outputs(written(tmp_path, old_export(OLD, body)))
    assert [(each.item_id, each.verbatim) for each in found] == [
        ("0", False),
        ("1", True),
        ("0", False),
        ("1", True),
    ]


# --- hostile content ---


RICH = export(
    [
        row(
            0,
            0,
            testCase={"assert": [{"type": "llm-rubric", "provider": {"id": "j"}}], "options": {"provider": "j"}},
        )
    ],
    config={
        "description": "d",
        "providers": [{"id": "lab:a", "config": {"x": 1}}, {"lab:b": {}}],
        "defaultTest": {"options": {"transform": ""}, "assert": [{"type": "equals"}]},
        "tests": [{"assert": []}],
        "scenarios": [{"tests": [{"options": {}}]}],
    },
    prompts=[column("lab:a", score=1, testPassCount=1)],
    metadata={"promptfooVersion": "0.1"},
)


@pytest.mark.slow
@pytest.mark.parametrize("content", [RICH, old_export(OLD[2:3], BODY[:1])], ids=["3", "2"])
@pytest.mark.parametrize(
    "other", [None, 5, -1.5, True, "text", [1], {"x": 1}, float("nan"), 10**400], ids=lambda value: str(value)[:8]
)
def test_wrong_types_anywhere_are_read_soundly_or_refused(tmp_path, other, content):
    for changed in mutations(content, other):
        path = written(tmp_path, changed)
        read_or_refused(PROMPTFOO.opened, path)


@pytest.mark.parametrize("content", [RICH, old_export(OLD, BODY)], ids=["3", "2"])
def test_a_cut_export_is_refused_with_its_place(tmp_path, content):
    path = written(tmp_path, content)
    whole = path.read_bytes()
    for size in range(0, len(whole), 71):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError) as refused:
            outputs(path)
        assert refused.value.where.startswith(str(path))


def test_nesting_is_refused_where_it_is_too_deep(tmp_path):
    path = written(tmp_path, {})
    path.write_text('{"results": {"version": 3, "prompts": ' + "[" * 1_000_000)
    with pytest.raises(InputError, match="nested too deeply"):
        PROMPTFOO.opened(path)
    content = json.dumps(export([row(0, 0, "HERE")]))
    for depth in range(900, 990, 10):
        path.write_text(content.replace('"HERE"', "[" * depth + "]" * depth))
        read_or_refused(PROMPTFOO.opened, path)


def test_real_exports(public_data):
    folder = public_data / "logs" / "promptfoo"
    paths = [folder / "sample-export.json", folder / "v2-output.json"]
    assert all(PROMPTFOO.recognises(path.read_bytes()[:HEAD], path) for path in paths)
    new, old = (PROMPTFOO.opened(path) for path in paths)
    assert (new.planned, old.planned, new.graders, old.graders) == (4, 10, (), ())
    assert (new.task, old.task) == (
        "Comparing OpenAI flagship and mini models performance on riddles",
        "v2-output",
    )
    rows = list(new.outputs())
    assert [(each.item_id, each.model) for each in rows] == [
        ("0", "openai:gpt-5-mini"),
        ("0", "openai:gpt-5"),
        ("1", "openai:gpt-5-mini"),
        ("1", "openai:gpt-5"),
    ]
    assert rows[1].raw_output == "An echo."
    assert {(each.error, each.condition, each.verbatim, each.words[0].correct) for each in rows} == {
        (None, None, True, False)
    }
    for log, count in ((new, 9), (old, 2)):
        found = recounted(log)
        assert len(found) == count
        assert all(value == again for value, again in found.values())
    rows = list(old.outputs())
    assert sorted({each.item_id for each in rows}) == ["0", "1", "2", "3", "4"]
    assert {len([each for each in rows if each.item_id == item]) for item in "01234"} == {2}
    assert {each.words[0].correct for each in rows} == {None}
    assert len({each.condition for each in rows}) == 2


def test_what_stands_in_the_place_of_an_output_is_none(tmp_path):
    """A request that failed has no output, whatever its provider put there (ruling C1)."""
    response = {"output": "<html>429</html>", "error": "API error 429"}
    failed = row(0, 0, response=response, failureReason=2, error="API error 429", success=False)
    (found,) = outputs(written(tmp_path, export([failed])))
    assert (found.raw_output, found.no_answer, found.error) == (None, NoAnswer.ERROR, "API error 429")
