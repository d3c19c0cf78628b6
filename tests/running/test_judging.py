"""A study judged from end to end by the real command: every way of answering lands where the rulings say."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import cycle, product
from pathlib import Path

import jsonschema
import pytest

from affidavit import Asked as AskedOfJudge
from affidavit import Judge, judge
from affidavit.archive.path_names import encode
from affidavit.contracts.evaluation import META
from affidavit.contracts.evaluation_reader import EVIDENCE_ITEM, TOP
from affidavit.contracts.rubric import DEFAULT, Dimension, Level, Rubric, Thresholds
from affidavit.contracts.rubric_file import parse_rubric
from affidavit.errors import InputError
from affidavit.judging.prompt import evaluation_schema
from affidavit.study.check import parse_study
from support.command import affidavit
from support.fault_server import Asked, Call, FaultServer, content_filter, every, says, status
from support.judged_studies import (
    METHODS,
    MODELS,
    QUESTIONS,
    VARIANTS,
    agreeable,
    frozen,
    judge_again,
    judgements,
    open_study,
    said_by,
    serving,
    variant_of,
)
from support.scripted_judge import (
    CROSS_ON_ITSELF,
    FOUR,
    PLANTED_AND_TAKEN,
    PLANTED_AND_TOLD,
    TREES,
    WAYS,
    JudgePrompt,
    Way,
    canonical,
    digest,
    evaluation,
    first_line,
    judge_prompt,
    judged_in,
    nonce,
    put,
    reply,
    tree_files,
)
from support.studies import every_byte, fine, records, run, told, toml, write_items

PARTS = ("planned", "valid", "invalid", "failed", "pending")


Slot = tuple[str, str, str, str]
"""Judge, target, question and variant."""


def script() -> dict[Slot, str]:
    """How each judge answers about each output; every way occurs, among others' outputs and own ones."""
    ways = {True: cycle(["cross on itself", *WAYS]), False: cycle(WAYS)}
    chosen: dict[Slot, str] = {
        ("alpha", "beta", "q1", "firm"): "planted and told",
        ("alpha", "beta", "q2", "firm"): "planted and taken",
    }
    for slot in product(MODELS, MODELS, QUESTIONS, VARIANTS):
        if slot not in chosen:
            chosen[slot] = next(ways[slot[0] == slot[1]])
    return chosen


ALL_WAYS = WAYS | {
    "cross on itself": CROSS_ON_ITSELF,
    "planted and told": PLANTED_AND_TOLD,
    "planted and taken": PLANTED_AND_TAKEN,
}
SCRIPT = script()


async def scripted(call: Call) -> None:
    """All three models: answer a question, or judge by the script."""
    model, prompt = call.asked.body["model"], judge_prompt(call.asked.prompt)
    if prompt is None:
        await says(said_by(model, call.asked.question, variant_of(call.asked.prompt)))(call)
        return
    meta = prompt.meta
    slot = (model, meta["target_model"], meta["question_id"], meta["prompt_variant"])
    await reply(call, ALL_WAYS[SCRIPT[slot]], prompt)


def small_study(folder: Path, url: str, *changes: Mapping) -> None:
    """One model, one question in two words, judged by itself."""
    few = {"tasks": {"advice": {"variants": {"short": None, "listed": None}}}}
    open_study(folder, url, {"models": {"beta": None, "gamma": None}}, few, *changes, questions=("q1",))


ONE_JUDGE = {"judging": {"judges": ["alpha"]}}


# --- every way of answering ---


@dataclass(frozen=True)
class Judged:
    """The study of all ways, judged."""

    directory: Path
    log: list[Asked]
    summary: dict
    told: str

    @property
    def prompts(self) -> list[tuple[Asked, JudgePrompt]]:
        return judged_in(self.log)


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> Judged:
    folder = tmp_path_factory.mktemp("judged")
    with serving(scripted) as server:
        open_study(folder, server.url, {"judging": {"judges": list(MODELS)}})
        done = run(folder, "--json")
        assert fine(done, 4), "some judgements failed"
        log = list(server.log)
        again = judge_again(folder, judges=MODELS)
        assert fine(again, 4)
    return Judged(folder / "out", log, told(done), again.stdout.decode())


def slot_of(record: Mapping) -> Slot:
    asked = record["asked"]
    return record["judge"], asked["target_model"], asked["question_id"], asked["prompt_variant"]


@pytest.mark.slow
def test_every_way_of_answering_occurs_and_every_slot_is_judged_once(judged):
    # ruling J9
    assert set(SCRIPT.values()) == set(ALL_WAYS)
    asked = Counter(
        (each.body["model"], *(prompt.meta[x] for x in ("target_model", "question_id", "prompt_variant")))
        for each, prompt in judged.prompts
    )
    assert asked == dict.fromkeys(SCRIPT, 1)
    first = {each["key"]: each for each in judgements(judged.directory)}
    assert Counter(map(slot_of, first.values())) == dict.fromkeys(SCRIPT, 1)


def test_each_record_says_what_the_rulings_say(judged):
    # rulings C1, C6, J1 to J6 and J13
    outputs = {each["key"]: each["raw_output"] for each in records(judged.directory) if each["kind"] == "response"}
    latest = {each["key"]: each for each in judgements(judged.directory)}
    for record in latest.values():
        way: Way = ALL_WAYS[SCRIPT[slot_of(record)]]
        if way.failure:
            assert (record["kind"], record["reason"]) == ("failure", way.failure)
            assert not record.keys() & {"raw_output", "scores", "valid", "verdict"}, "a failure is no output"
            continue
        assert record["kind"] == "judgement"
        assert record["finish_reason"] == way.finish
        assert tuple(record["flags"]) == way.flags, SCRIPT[slot_of(record)]
        assert tuple((each["code"], each["path"]) for each in record["findings"]) == way.findings
        assert tuple(each["kind"] for each in record["evidence"]) == (way.kinds or ())
        assert record["valid"] is record["protocol_compliant"] is not way.flags
        again = judge.read(record["raw_output"], AskedOfJudge(record["asked"], outputs[record["judged_key"]]))
        derived = {**again.fields(), "evidence_checked": True}
        assert {name: record[name] for name in derived} == json.loads(json.dumps(derived))
        for each in record["evidence"]:
            if each["kind"] == "exact":
                assert outputs[record["judged_key"]][each["start"] : each["end"]] == each["quote"]


def test_what_the_server_sent_is_kept_word_for_word(judged):
    # ruling C2
    by_slot = {slot_of(each): each for each in judgements(judged.directory) if each["kind"] == "judgement"}
    for asked, prompt in judged.prompts:
        slot = (asked.body["model"], *(prompt.meta[x] for x in ("target_model", "question_id", "prompt_variant")))
        said = ALL_WAYS[SCRIPT[slot]].answer(prompt)
        if isinstance(said, str):
            assert by_slot[slot]["raw_output"] == said
            assert by_slot[slot]["prompt_sha256"] == digest(asked.body["messages"])
            assert prompt.output == said_by(*slot[1:])


def expected_counts(judge_name: str, method: str) -> dict[str, int]:
    ways = [
        ALL_WAYS[way]
        for (name, target, _, _), way in SCRIPT.items()
        if name == judge_name and (name == target) == (method == "self_judge")
    ]
    failed, invalid = sum(bool(way.failure) for way in ways), sum(bool(way.flags) for way in ways)
    return {
        "planned": len(ways), "valid": len(ways) - failed - invalid, "invalid": invalid, "failed": failed, "pending": 0
    }  # fmt: skip


def test_the_books_balance_for_every_judge_condition_and_method(judged):
    # rulings C5 and J8
    tables = judged.summary["judging"]["judges"]
    assert [(each["method"], each["judge"]) for each in tables] == [*product(METHODS, MODELS)]
    for each in tables:
        counts = each["coverage"]
        assert counts == expected_counts(each["judge"], each["method"])
        assert counts["planned"] == sum(counts[part] for part in PARTS[1:])
        assert counts["planned"] == (16 if each["method"] == "cross_judge" else 8)
        parts = " + ".join(f"{counts[part]} {part}" for part in PARTS[1:])
        assert f"{each['judge']}, free, {each['method']}: {counts['planned']} planned = {parts}" in judged.told
        flags = Counter(
            flag
            for (name, target, _, _), way in SCRIPT.items()
            if (name, name == target) == (each["judge"], each["method"] == "self_judge")
            for flag in ALL_WAYS[way].flags
        )
        assert {flag: round(share["value"] * share["n"]) for flag, share in each["flags"].items()} == flags


def test_each_evaluation_lies_in_its_tree_under_its_names(judged):
    # ruling J12
    given = {each["key"]: each for each in judgements(judged.directory) if each["kind"] == "judgement"}
    found = {
        content["key"]: (tree, names, file, content) for tree, names, file, content in tree_files(judged.directory)
    }
    assert found.keys() == given.keys()
    files = {path for tree in TREES for path in (judged.directory / tree).rglob("*") if path.is_file()}
    assert len(files) == len(given) + 1, "all evaluations, one README, and nothing else"
    for key, record in given.items():
        tree, names, file, content = found[key]
        asked = record["asked"]
        assert tree == TREES[not record["valid"]]
        assert file == "1.json"
        assert names[0] == ("self_judge" if asked["judge_model"] == asked["target_model"] else "cross_judge")
        named = ("target_model", "question_id", "prompt_variant", "output_id")
        assert names[1:] == [record["judge"], *(asked[name] for name in named)]
        path = judged.directory.joinpath(tree, *(part for name in names for part in encode(name)), file)
        assert path.is_file()
        for name in ("asked", "judged_key", "judging_sha256", "flags", "findings", "evidence", "evidence_checked"):
            assert content[name] == record[name]
        if record["valid"]:
            assert content["evaluation"] == json.loads(record["raw_output"])
            assert "raw_output" not in content
        else:
            assert content["raw_output"] == record["raw_output"]
            assert "evaluation" not in content


def test_the_page_of_the_invalid_tree_counts_all(judged):
    page = (judged.directory / TREES[1] / "README.md").read_text()
    total = Counter[str]()
    for method, name in product(METHODS, MODELS):
        total.update(expected_counts(name, method))
    parts = " + ".join(f"{total[part]} {part}" for part in PARTS[1:])
    assert f"\n{total['planned']} planned = {parts}\n" in page
    flags = Counter(flag for way in SCRIPT.values() for flag in ALL_WAYS[way].flags)
    assert {flag: int(n) for flag, n in re.findall(r"^\| `([A-Z_]+)` .* \| (\d+) \|$", page, re.M)} == flags
    assert len(flags) == 5


def test_the_frozen_terms_say_what_was_asked(judged):
    # ruling J7
    kept = frozen(judged.directory)
    terms = kept["terms"]
    assert terms["rubric"] == json.loads(json.dumps(asdict(DEFAULT)))
    assert terms["contract"] == "judge/1"
    assert terms["contract_params"]["rubric_sha256"] == digest(terms["rubric"])
    keys = sorted(each["key"] for each in records(judged.directory) if each["kind"] == "response")
    assert kept["outputs"] == keys
    assert terms["evaluation_set"] == {"count": 24, "sha256": digest(keys)}
    assert kept["sha256_of_terms"] == digest(terms) == judged.summary["judging"]["sha256_of_terms"]
    assert {each["judging_sha256"] for each in judgements(judged.directory)} == {digest(terms)}
    assert kept["judges"] == {
        name: {
            "identity": name,
            "request": {"model": name, "temperature": 0.0, "max_tokens": 1024},
            "conditions": ["free"],
            "repeats": 1,
        }
        for name in MODELS
    }
    assert kept["targets"] == dict.fromkeys(MODELS, 8)
    assert kept["not_arrived"] == []
    today = datetime.now(UTC).date()
    assert abs((today - datetime.fromisoformat(terms["date"]).date()).days) <= 1
    assert {prompt.meta["timestamp"] for _, prompt in judged.prompts} == {terms["date"]}


def sections(directory: Path) -> dict[str, tuple[str, str, str]]:
    """Heading, digest and words of every prompt in the manifest, by its id."""
    page = (directory / "used_prompt_manifest.md").read_text()
    found = re.findall(
        r"^## (\w+-\d+): ([^\n]*)\n\n- sha256 `([0-9a-f]{64})`\n(?:- [^\n]*\n)+\nuser:\n\n(`{3,})text\n(.*?)\n\4$",
        page,
        re.M | re.S,
    )
    return {name: (heading, sha, words) for name, heading, sha, _, words in found}


def test_the_prompts_are_in_the_manifest_and_fill_to_what_was_sent(judged):
    listed = sections(judged.directory)
    terms = frozen(judged.directory)["terms"]
    assert list(listed) == ["TP-001", "TP-002", "TP-003", "TP-004", "JP-001", "JP-002"]
    for name, method in (("JP-001", "cross_judge"), ("JP-002", "self_judge")):
        heading, sha, words = listed[name]
        assert heading.startswith(method)
        assert sha == digest([{"role": "user", "content": words}]) == terms["prompts"][name]
        asked = [(each, prompt) for each, prompt in judged.prompts if prompt.meta["method"] == method]
        assert len(asked) == (48 if method == "cross_judge" else 24)
        for each, prompt in asked:
            values = {**prompt.meta, "nonce": prompt.nonce, "task": prompt.task, "judged_output": prompt.output}
            filled = re.sub(r"\{(\w+)\}", lambda found, values=values: values[found[1]], words)
            assert [{"role": "user", "content": filled}] == each.body["messages"]


def test_self_and_cross_are_told_by_who_they_are(judged):
    # ruling J13
    for asked, prompt in judged.prompts:
        own = asked.body["model"] == prompt.meta["target_model"]
        assert prompt.meta["method"] == METHODS[own]
        assert prompt.meta["judge_model"] == asked.body["model"]


def test_the_delimiters_carry_the_nonce_of_the_ruling(judged):
    # ruling J10
    terms = digest(frozen(judged.directory)["terms"])
    keys = {
        (each["model"], each["item_id"], each["condition"]): each["key"]
        for each in records(judged.directory)
        if each["kind"] == "response"
    }
    seen = set()
    for asked, prompt in judged.prompts:
        key = keys[prompt.meta["target_model"], prompt.meta["question_id"], prompt.meta["prompt_variant"]]
        assert prompt.meta["output_id"] == key[:8], "short, and unique (ruling J14)"
        assert prompt.nonce == nonce(terms, key, prompt.output, prompt.task, asked.body["model"], 1)
        assert prompt.task == VARIANTS[prompt.meta["prompt_variant"]].replace(
            "{question}", f"[{prompt.meta['question_id']}] What now?"
        )
        seen.add(prompt.nonce)
    assert len(seen) == len(SCRIPT)


@pytest.mark.slow
def test_judging_is_done_once_and_what_failed_in_passing_is_asked_again(judged):
    found = affidavit("verify", judged.directory, "--json")
    assert fine(found, 0)
    assert told(found)["sealed"]
    kinds = Counter(
        (each["kind"], each.get("reason")) for each in judgements(judged.directory) if each["kind"] == "failure"
    )
    failed = Counter(("failure", ALL_WAYS[way].failure) for way in SCRIPT.values() if ALL_WAYS[way].failure)
    # The second command asked again about server errors, and left alone what failed for good.
    assert kinds == failed + Counter({("failure", "server_error"): failed["failure", "server_error"]})


def test_the_declared_flag_the_quotes_and_the_verdicts_are_counted(judged):
    for each in judged.summary["judging"]["judges"]:
        ways = [
            way
            for (name, target, _, _), way in SCRIPT.items()
            if (name, name == target) == (each["judge"], each["method"] == "self_judge")
        ]
        kinds = Counter(kind for way in ways for kind in ALL_WAYS[way].kinds or ())
        quotes = dict(each["quotes"])
        share = quotes.pop("fabricated")
        assert +Counter(quotes) == kinds
        looked_for = kinds.total() - kinds["absence"]
        assert (share["value"], share["n"]) == (kinds["absent"] / looked_for, looked_for)
        codes = Counter(code for way in ways for code in {code for code, _ in ALL_WAYS[way].findings})
        assert each["findings"] == codes
        assert each["declared_by_judge"] == ({"7": ways.count("flags itself")} if "flags itself" in ways else {})


# --- identities, conditions, repeats, rubrics ---


@pytest.mark.slow
def test_two_entries_of_one_identity_judge_each_other_as_themselves(tmp_path):
    # ruling J13
    one = {"models": {"alpha": {"identity": "org/One"}, "beta": {"identity": "org/One"}}}
    with serving() as server:
        open_study(tmp_path, server.url, one, {"judging": {"judges": list(MODELS)}}, questions=("q1",))
        done = run(tmp_path, "--json")
        assert fine(done, 0)
    methods = {(each["judge"], each["model"]): each["asked"]["method"] for each in judgements(tmp_path / "out")}
    same = {"alpha", "beta"}
    assert methods == {(one, two): METHODS[one == two or {one, two} == same] for one in MODELS for two in MODELS}
    counts = {
        (each["judge"], each["method"]): each["coverage"]["valid"] for each in told(done)["judging"]["judges"]
    }
    assert counts == {
        ("alpha", "cross_judge"): 4, ("beta", "cross_judge"): 4, ("gamma", "cross_judge"): 8,
        ("alpha", "self_judge"): 8, ("beta", "self_judge"): 8, ("gamma", "self_judge"): 4,
    }  # fmt: skip
    files = list(tree_files(tmp_path / "out"))
    assert len(files) == len(judgements(tmp_path / "out")) == 36, "every judgement has a file of its own"
    assert Counter((names[1], content["asked"]["judge_model"]) for _, names, _, content in files) == {
        ("alpha", "org/One"): 12, ("beta", "org/One"): 12, ("gamma", "gamma"): 12
    }  # fmt: skip
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_conditions_and_repeats_are_kept_apart(tmp_path):
    both = {"judging": {**ONE_JUDGE["judging"], "conditions": ["free", "schema"], "repeats": 3}}
    with serving() as server:
        small_study(tmp_path, server.url, both)
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        prompts = judged_in(server.log)
    given = judgements(tmp_path / "out")
    assert len(given) == len({each["key"] for each in given}) == len(prompts) == 2 * 2 * 3
    schemas = [each.body.get("response_format") for each, _ in prompts]
    assert sum(each is None for each in schemas) == 6
    for asked, prompt in prompts:
        sent = asked.body.get("response_format")
        if sent is not None:
            assert sent["type"] == "json_schema"
            assert sent["json_schema"]["schema"] == json.loads(json.dumps(evaluation_schema(DEFAULT, prompt.meta)))
    repeats = Counter((each["judged_key"], each["judging_condition"], each["repeat"]) for each in given)
    assert len(repeats) == 12
    assert {each["schema_sha256"] is None for each in given if each["judging_condition"] == "free"} == {True}
    assert {each["schema_sha256"] is None for each in given if each["judging_condition"] == "schema"} == {False}
    assert len({prompt.nonce for _, prompt in prompts}) == 2 * 3, "each repeat has its own, in both conditions"
    seeds = {(prompt.meta["output_id"], each.body["seed"]) for each, prompt in prompts}
    assert len(seeds) == 2 * 3
    names = Counter(file for _, _, file, _ in tree_files(tmp_path / "out"))
    assert names == dict.fromkeys(
        ("1.json", "2.json", "3.json", "schema-1.json", "schema-2.json", "schema-3.json"), 2
    )
    tables = told(done)["judging"]["judges"]
    assert [(each["judging_condition"], each["coverage"]["planned"]) for each in tables] == [
        ("free", 6),
        ("schema", 6),
    ]
    assert fine(affidavit("verify", tmp_path / "out"), 0)


RUBRIC = """
name = "essay"
maps_by = "mean"
[[dimensions]]
id = "LAYOUT"
title = "Layout"
words = "Is it laid out as asked?"
maps_to = "FORMAT_COMPLIANCE"
[[dimensions]]
id = "LENGTH"
title = "Length"
words = "Is it as long as asked?"
maps_to = "FORMAT_COMPLIANCE"
[[dimensions]]
id = "ORDERS"
title = "Orders"
words = "Does it do as told?"
maps_to = "INSTRUCTION_COMPLIANCE"
[[dimensions]]
id = "SENSE"
title = "Sense"
words = "Does it keep to the matter?"
maps_to = "SEMANTIC_FIDELITY"
[[dimensions]]
id = "WHOLE"
title = "Wholeness"
words = "Is all of it there?"
maps_to = "COMPLETENESS"
[[scale]]
score = 0
title = "No"
words = "not at all"
[[scale]]
score = 1
title = "Half"
words = "in part"
[[scale]]
score = 2
title = "Yes"
words = "it does"
[thresholds]
pass_from = 9
fail_to = 4
pass_needs_nonzero = ["LAYOUT"]
"""
FIVE = {"LAYOUT": 2, "LENGTH": 1, "ORDERS": 2, "SENSE": 2, "WHOLE": 2}


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "mapped"), [("mean", 1.5), pytest.param("min", 1, marks=pytest.mark.slow)])
def test_a_finer_rubric_from_a_file_is_judged_by_and_mapped(tmp_path, rule, mapped):
    # ruling J11
    async def fine_judge(call: Call) -> None:
        prompt = judge_prompt(call.asked.prompt)
        if prompt is None:
            await agreeable(call)
            return
        assert prompt.dimensions == tuple(FIVE)
        value = evaluation(prompt.meta, first_line(prompt.output))
        value |= {"scores": {**FIVE, "overall_score": 9}, "verdict": "PASS"}
        value["evidence"] = [{**value["evidence"][0], "dimension": name} for name in FIVE]
        await says(json.dumps(value))(call)

    (tmp_path / "essay.toml").write_text(RUBRIC.replace('"mean"', f'"{rule}"'))
    with serving(fine_judge) as server:
        small_study(tmp_path, server.url, ONE_JUDGE, {"judging": {"rubric": "essay.toml"}})
        done = run(tmp_path, "--json")
        assert fine(done, 0)
        (_, prompt), *_ = judged_in(server.log)
    assert "overall_score is the sum of all dimensions, from 0 to 10." in prompt.words
    assert (
        "FAIL if overall_score <= 4; else PASS if overall_score >= 9 and LAYOUT > 0; else PARTIAL." in prompt.words
    )
    for record in judgements(tmp_path / "out"):
        assert record["scores"] == FIVE, "the archived scores stay as they are"
        assert record["rubric_sha256"] == digest(frozen(tmp_path / "out")["terms"]["rubric"])
    tables = told(done)["judging"]["tables"]
    means = {row["dimension"]: (row["mean"]["value"], row["range"]) for row in tables["scores, own outputs"]}
    expected = {name: (value, "0–2") for name, value in zip(FOUR, (mapped, 2, 2, 2), strict=True)}
    # ruling J11: the sum of mapped dimensions and the native total are two figures
    assert means == {**expected, "mapped overall": (mapped + 6, "0–8"), "overall_score": (9, "0–10")}
    assert list(means) == [*FOUR, "mapped overall", "overall_score"]
    assert "score bounds" not in tables, "nothing is missing"
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("pass_from = 9", "pass_from = 4"), "fail_to below pass_from"),
        (("score = 2", "score = 1"), "a scale of at least two rising scores"),
        (('id = "LENGTH"', 'id = "LAYOUT"'), "dimensions of different names"),
        (('["LAYOUT"]', '["SHAPE"]'), "thresholds on its own dimensions"),
        (('maps_by = "mean"', 'maps_by = "median"'), "a rubric, found Invalid enum value 'median'"),
        (("[thresholds]", "[limits]"), "a rubric, found Object contains unknown field `limits`"),
    ],
)
def test_a_rubric_that_is_wrong_is_refused(change, said):
    assert parse_rubric(RUBRIC, where="essay.toml").ids == tuple(FIVE)
    with pytest.raises(InputError, match=f"essay.toml: expected .*{said}"):
        parse_rubric(RUBRIC.replace(*change), where="essay.toml")


@pytest.mark.slow
def test_nothing_is_asked_where_the_rubric_is_wrong(tmp_path):
    (tmp_path / "essay.toml").write_text(RUBRIC.replace("pass_from = 9", "pass_from = 4"))
    with serving() as server:
        small_study(tmp_path, server.url, ONE_JUDGE, {"judging": {"rubric": "essay.toml"}})
        done = run(tmp_path)
        assert fine(done, 2)
        assert b"essay.toml: expected fail_to below pass_from" in done.stderr
        assert not server.log


# --- what is frozen ---


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Iterator[tuple[Path, FaultServer]]:
    """A small study, judged by one of its models, and the server that is still there."""
    folder = tmp_path_factory.mktemp("small")
    with serving() as server:
        small_study(folder, server.url, {"models": {"beta": {"base_url": server.url}}}, ONE_JUDGE)
        assert fine(run(folder), 0)
        yield folder, server


def copied(small: tuple[Path, FaultServer], to: Path) -> Path:
    shutil.copytree(small[0], to, dirs_exist_ok=True)
    return to


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"rubric": "essay.toml"},
            ["contract_params.rubric_sha256: was ", "rubric.name: was 'default', is 'essay'"],
        ),
        ({"temperature": 0.5}, ["judges.alpha.request.temperature: was 0.0, is 0.5"]),
        pytest.param(
            {"max_tokens": 9}, ["judges.alpha.request.max_tokens: was 1024, is 9"], marks=pytest.mark.slow
        ),
        pytest.param(
            {"top_p": 0.5}, ["judges.alpha.request.top_p: was not there, is 0.5"], marks=pytest.mark.slow
        ),
        pytest.param({"repeats": 2}, ["judges.alpha.repeats: was 1, is 2"], marks=pytest.mark.slow),
        pytest.param(
            {"conditions": ["free", "schema"]},
            ["judges.alpha.conditions: was ['free'], is ['free', 'schema']"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_another_way_of_judging_is_refused_with_what_changed(small, tmp_path, changed, said):
    # ruling J7
    folder = copied(small, tmp_path)
    (folder / "essay.toml").write_text(RUBRIC)
    few = {"models": {"beta": {"base_url": small[1].url}}}
    small_study(folder, small[1].url, few, ONE_JUDGE, {"judging": changed})
    before, asked = every_byte(folder / "out"), len(small[1].log)
    done = run(folder)
    assert fine(done, 2)
    for each in said:
        assert each in done.stderr.decode()
    assert len(small[1].log) == asked
    assert every_byte(folder / "out") == before


@pytest.mark.slow
def test_the_command_refuses_the_same_and_keeps_what_was_frozen(small, tmp_path):
    folder, server = copied(small, tmp_path), small[1]
    (folder / "essay.toml").write_text(RUBRIC)
    before, asked = every_byte(folder / "out"), len(server.log)
    for options, said in (
        (("--rubric", "essay.toml"), "rubric.name: was 'default', is 'essay'"),
        (("--temperature", "1"), "judges.alpha.request.temperature: was 0.0, is 1.0"),
        (("--condition", "schema"), "judges.alpha.conditions: was ['free'], is ['schema']"),
        (("--task", "nonsense"), "tasks: was ['advice'], is ['nonsense']"),
    ):
        done = judge_again(folder, *options)
        assert fine(done, 2)
        assert said in done.stderr.decode()
    assert every_byte(folder / "out") == before
    # Nothing said is nothing changed, whatever the defaults are.
    assert fine(judge_again(folder), 0)
    assert fine(judge_again(folder, "--rubric", "default", "--temperature", "0", "--repeats", "1"), 0)
    assert len(server.log) == asked


@pytest.mark.slow
def test_judgements_without_their_terms_are_not_gone_on_with(small, tmp_path):
    # ruling J7: other terms would be pooled with those that are lost
    folder, asked = copied(small, tmp_path), len(small[1].log)
    (folder / "out/judging.json").unlink()
    before = every_byte(folder / "out/records")
    for done in (judge_again(folder), run(folder)):
        assert fine(done, 5)
        assert b"judging.json: expected the file that was sealed, found no such file" in done.stderr
    assert fine(affidavit("verify", folder / "out"), 5)
    assert every_byte(folder / "out/records") == before
    assert len(small[1].log) == asked


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"judges": []}, "at least one judge"),
        ({"judges": ["alfa"]}, "Did you mean alpha?"),
        ({"judges": ["alpha", "alpha"]}, "each name once in judging.judges"),
        ({"tasks": ["advise"]}, "Did you mean advice?"),
        ({"conditions": []}, "at least one judge and one condition"),
        ({"conditions": ["free", "free"]}, "each name once in judging.conditions"),
        ({"repeats": 0}, "a positive, finite judging.repeats"),
        ({"max_tokens": 0}, "a positive, finite judging.max_tokens"),
        *(
            ({name: value}, f"a finite judging.{name} from 0")
            for name in ("temperature", "top_p")
            for value in (-1.0, float("nan"), float("inf"))
        ),
    ],
)
def test_a_judging_table_that_is_wrong_is_refused(table, said):
    judging = {"judges": ["alpha"], **table}
    study = {
        "study": {"name": "trial"},
        "models": {"alpha": {"base_url": "http://127.0.0.1:1/v1"}},
        "tasks": {"advice": {"contract": "text", "items": "items.jsonl"}},
        "judging": judging,
    }
    text = "\n".join(toml(study)).replace("NaN", "nan").replace("Infinity", "inf")
    with pytest.raises(InputError) as refused:
        parse_study(text, where="study.toml")
    assert said in " ".join((str(refused.value), *getattr(refused.value, "__notes__", ())))


@pytest.mark.slow
@pytest.mark.parametrize("temperature", ["nan", "inf", "-1"])
def test_a_temperature_that_is_no_temperature_is_refused(small, tmp_path, temperature):
    done = judge_again(copied(small, tmp_path), "--temperature", temperature)
    assert fine(done, 2)
    assert b"--temperature: expected a finite number from 0" in done.stderr


@pytest.mark.slow
def test_a_second_judge_may_come_later(small, tmp_path):
    # ruling J7
    folder, server = copied(small, tmp_path), small[1]
    before, asked = frozen(folder / "out"), len(server.log)
    done = judge_again(folder, "--repeats", "2", "--json", judges=("beta",))
    assert fine(done, 0)
    after = frozen(folder / "out")
    assert after["terms"] == before["terms"]
    assert after["judges"]["alpha"] == before["judges"]["alpha"]
    assert after["judges"]["beta"]["repeats"] == 2
    fresh = judged_in(server.log[asked:])
    assert len(fresh) == 4 * 2, "four outputs, each twice"
    assert {prompt.meta["timestamp"] for _, prompt in fresh} == {before["terms"]["date"]}
    coverage = {
        (each["judge"], each["method"]): each["coverage"]["valid"] for each in told(done)["judging"]["judges"]
    }
    assert coverage == {
        ("alpha", "cross_judge"): 2,
        ("alpha", "self_judge"): 2,
        ("beta", "cross_judge"): 2 * 2,
        ("beta", "self_judge"): 2 * 2,
    }
    assert fine(affidavit("verify", folder / "out"), 0)


@pytest.mark.slow
def test_a_judge_that_is_named_twice_is_asked_once(small, tmp_path):
    # ruling J9
    folder, server = copied(small, tmp_path), small[1]
    asked = len(server.log)
    assert fine(judge_again(folder, judges=("beta", "beta")), 0)
    fresh = Counter(prompt.meta["output_id"] for _, prompt in judged_in(server.log[asked:]))
    assert set(fresh.values()) == {1}
    assert fine(affidavit("verify", folder / "out"), 0)


# --- outputs that are not there ---


@pytest.mark.slow
def test_what_never_arrived_stands_beside_the_books_and_what_came_late_is_said(tmp_path):
    async def filtered(call: Call) -> None:
        bad = judge_prompt(call.asked.prompt) is None and variant_of(call.asked.prompt) == "firm"
        await (content_filter if bad and filtering else agreeable)(call)

    filtering = True
    with serving(filtered) as server:
        small_study(
            tmp_path, server.url, ONE_JUDGE, {"tasks": {"advice": {"variants": {"listed": VARIANTS["listed"]}}}}
        )
        done = run(tmp_path, "--json")
        assert fine(done, 4), "an output is missing"
        judging = told(done)["judging"]
        missing = {"question_id": "q1", "prompt_variant": "firm", "target_model": "alpha", "sample": 0}
        assert judging["not_arrived"] == [{**missing, "why": "content_filter"}]
        assert judging["judges"][0]["coverage"] == {
            "planned": 2,
            "valid": 2,
            "invalid": 0,
            "failed": 0,
            "pending": 0,
        }
        assert frozen(tmp_path / "out")["terms"]["evaluation_set"]["count"] == 2
        filtering = False
        late = run(tmp_path, "--retry-failed")
        assert fine(late, 0)
        said = " ".join(late.stdout.decode().split())
        assert "never arrived: q1, firm, alpha, sample 0: content_filter" in said
        assert "1 output arrived after the set was frozen and is not judged" in said
        assert "alpha, free, self_judge: 2 planned = 2 valid + 0 invalid + 0 failed + 0 pending" in said
    assert len(judgements(tmp_path / "out")) == 2
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_trying_again_what_failed_for_good_does_not_stop_the_judging(tmp_path):
    async def filtered(call: Call) -> None:
        bad = judge_prompt(call.asked.prompt) is None and variant_of(call.asked.prompt) == "firm"
        await (content_filter if bad else agreeable)(call)

    with serving(filtered) as server:
        small_study(tmp_path, server.url, ONE_JUDGE)
        assert "judging" in told(run(tmp_path, "--retry-failed", "--json"))


@pytest.mark.slow
def test_nothing_is_judged_before_every_output_is_there(tmp_path):
    with serving(questions=QUESTIONS) as server:
        open_study(tmp_path, server.url, ONE_JUDGE)
        done = run(tmp_path, "--model", "alpha", "--json")
        assert fine(done, 4)
        assert "judging" not in told(done)
        assert b"note: the judging has not begun: it waits for " in done.stderr
        assert not judged_in(server.log)
        assert not (tmp_path / "out/judging.json").exists()
        whole = run(tmp_path, "--json")
        assert fine(whole, 0)
        assert told(whole)["judging"]["judges"][0]["coverage"]["valid"] == 16


@pytest.mark.slow
def test_judging_does_not_wait_for_tasks_that_are_not_judged(tmp_path):
    question = {"id": "q9", "question": "[q9] Which?", "options": ["this", "that", "both", "none"], "answer": "A"}
    quiz = {"quiz": {"contract": "mcqa", "items": "quiz.jsonl"}}
    with FaultServer({"q1": every(agreeable), "q9": every(status(500))}) as server:
        small_study(tmp_path, server.url, ONE_JUDGE, {"tasks": quiz})
        write_items(tmp_path / "quiz.jsonl", [question])
        done = run(tmp_path, "--json")
    assert fine(done, 4)
    assert told(done)["tasks"]["quiz"]["failed"] == 1
    assert told(done)["judging"]["judges"][0]["coverage"]["valid"] == 2


@pytest.mark.slow
def test_a_study_without_outputs_to_judge_is_told_so(tmp_path):
    with FaultServer() as server:
        small_study(
            tmp_path,
            server.url,
            {"tasks": {"advice": {"contract": "game24", "items": {"generate": 2}, "variants": None}}},
        )
        assert fine(run(tmp_path), 0)
        done = judge_again(tmp_path)
        assert fine(done, 2)
        assert b"expected outputs to judge, found none" in done.stderr
        assert not (tmp_path / "out/judging.json").exists()


# --- the prompt, the schema and the validator are one ---

LONGER = Rubric(
    "longer",
    tuple(Dimension(f"d{n}", f"Title {n}", f"Words {n}?") for n in range(6)),
    tuple(Level(score, str(score), "so") for score in (1, 2, 3, 4, 5)),
    Thresholds(24, 12, ("d1",)),
)
ASKED = {
    "judge_model": "j", "target_model": "t", "question_id": "Q1", "prompt_variant": "A", "output_id": "o1",
    "method": "cross_judge", "timestamp": "2026-01-05",
}  # fmt: skip


def shaped(rubric: Rubric, scores: tuple[int, ...], asked: Mapping[str, str] = ASKED) -> dict:
    """An evaluation in the shape that the instruction shows."""
    given = dict(zip(rubric.ids, scores, strict=True))
    return {
        "meta": dict(asked),
        "scores": {**given, "overall_score": sum(scores)},
        "verdict": rubric.verdict(given).value,
        "flags": [],
        "evidence": [{"dimension": name, "quote": "the text", "reason": "r"} for name in rubric.ids],
    }


@pytest.mark.parametrize("rubric", [DEFAULT, LONGER], ids=lambda rubric: rubric.name)
def test_instruction_schema_and_validator_name_the_same_fields(rubric):
    words = Judge(rubric).instruction(AskedOfJudge(ASKED))
    shape = json.loads(words[words.index("\n\n{\n") :])
    schema = evaluation_schema(rubric, ASKED)
    assert set(shape) == TOP
    assert tuple(shape["meta"]) == META == tuple(schema["properties"]["meta"]["required"])
    assert [*shape["scores"]] == [*rubric.ids, "overall_score"] == schema["properties"]["scores"]["required"]
    assert all(set(item) == EVIDENCE_ITEM for item in shape["evidence"])
    assert [item["dimension"] for item in shape["evidence"]] == list(rubric.ids)
    assert {*schema["required"], "notes"} == TOP
    items = schema["properties"]["evidence"]["prefixItems"]
    assert [item["properties"]["dimension"]["const"] for item in items] == list(rubric.ids)
    assert all(set(item["required"]) == EVIDENCE_ITEM for item in items)
    lowest, highest = len(rubric.ids) * rubric.scores[0], rubric.highest_total
    assert schema["properties"]["scores"]["properties"]["overall_score"] == {"enum": [*range(lowest, highest + 1)]}
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("rubric", [DEFAULT, LONGER], ids=lambda rubric: rubric.name)
def test_every_combination_of_scores_fits_the_schema_and_is_valid(rubric):
    fits = jsonschema.Draft202012Validator(evaluation_schema(rubric, ASKED))
    few = list(product(rubric.scores, repeat=len(rubric.ids)))[:: 1 if rubric is DEFAULT else 401]
    for scores in few:
        value = shaped(rubric, scores)
        assert fits.is_valid(value)
        assert Judge(rubric).read(json.dumps(value), AskedOfJudge(ASKED, "This is the text.")).protocol_compliant


MALFORMED = {
    "no meta": lambda v: v.pop("meta"),
    "another name": put("meta.output_id", "o2"),
    "no name": lambda v: v["meta"].pop("question_id"),
    "another judge": put("meta.judge_model", "k"),
    "another method": put("meta.method", "self_judge"),
    "extra in meta": put("meta.mood", "good"),
    "score too high": put("scores.COMPLETENESS", 3),
    "score too low": put("scores.COMPLETENESS", -1),
    "score as text": put("scores.COMPLETENESS", "2"),
    "score as truth": put("scores.COMPLETENESS", True),
    "half a score": put("scores.COMPLETENESS", 1.5),
    "no score": lambda v: v["scores"].pop("COMPLETENESS"),
    "no total": lambda v: v["scores"].pop("overall_score"),
    "total too high": put("scores.overall_score", 9),
    "extra dimension": put("scores.CLARITY", 1),
    "unknown verdict": put("verdict", "GOOD"),
    "no verdict": lambda v: v.pop("verdict"),
    "no flags": lambda v: v.pop("flags"),
    "flags of another type": put("flags", {}),
    "a criterion as flag": put("flags", ["PROTOCOL_VIOLATION"]),
    "no evidence": put("evidence", []),
    "evidence for three": lambda v: v["evidence"].pop(),
    "evidence for a stranger": put("evidence.0.dimension", "CLARITY"),
    "evidence twice for one": put("evidence.0.dimension", FOUR[1]),
    "no quote": lambda v: v["evidence"][0].pop("quote"),
    "quote of another type": put("evidence.0.quote", 1),
    "extra in evidence": put("evidence.0.line", 1),
    "extra field": put("confidence", 1),
    "an array": None,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_fits_neither_the_schema_nor_the_validator(name):
    value: object = shaped(DEFAULT, (2, 2, 1, 2))
    if MALFORMED[name] is None:
        value = [value]
    else:
        MALFORMED[name](value)
    assert not jsonschema.Draft202012Validator(evaluation_schema(DEFAULT, ASKED)).is_valid(value)
    asked = AskedOfJudge(ASKED, "This is the text.")
    assert not judge.read(json.dumps(value), asked).protocol_compliant


def test_digests_are_over_one_canonical_form():
    assert canonical({"b": "é\ud800", "a": [1, None]}) == b'{"a":[1,null],"b":"\\u00e9\\ud800"}'
