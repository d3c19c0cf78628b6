"""Blind judging (ruling J16): judges are given aliases, and everything that is kept has the true names."""

import json
from pathlib import Path

import pytest

from affidavit.archive.path_names import decode
from support.command import affidavit
from support.fault_server import FaultServer
from support.judged_studies import frozen, judge_again, judgements, open_study, serving
from support.outputs_elsewhere import row, write_jsonl, write_models
from support.scripted_judge import Always, fair, judge_prompt, judged_in
from support.studies import every_byte, fine, run, told

JUDGED = {"models": {"gamma": None}, "tasks": {"advice": {"variants": {"short": None, "listed": None}}}}


def study(folder: Path, url: str, **judging: object) -> None:
    """Two models and one question, judged by one of the two."""
    open_study(folder, url, JUDGED, {"judging": {"judges": ["alpha"], **judging}}, questions=("q1",))


def given_to_judges(server: FaultServer) -> list[dict]:
    prompts = (judge_prompt(asked.prompt) for asked in server.log)
    return [prompt.meta for prompt in prompts if prompt is not None]


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.mark.slow
def test_judges_get_aliases_and_everything_kept_has_true_names(tmp_path, server):
    study(tmp_path, server.url, blind=True)
    done = run(tmp_path, "--json")
    assert fine(done, 0)
    terms = frozen(tmp_path / "out")["terms"]
    aliases = terms["aliases"]
    assert (terms["blind"], sorted(aliases)) == (True, ["alpha", "beta"])
    given = given_to_judges(server)
    assert {meta["target_model"] for meta in given} == set(aliases.values())
    assert {meta["method"] for meta in given} == {"cross_judge"}
    for record in judgements(tmp_path / "out"):
        assert (record["blind"], record["valid"]) == (True, True)
        assert record["method"] == ("self_judge" if record["target_model"] == "alpha" else "cross_judge")
        assert record["asked"]["target_model"] == aliases[record["target_model"]]
    files = [
        path.relative_to(tmp_path / "out").parts for path in (tmp_path / "out").rglob("*evaluations/**/*.json")
    ]
    assert {tuple(decode(parts[1:4])) for parts in files} == {
        ("self_judge", "alpha", "alpha"),
        ("cross_judge", "alpha", "beta"),
    }
    kept = json.loads((tmp_path / "out").joinpath(*files[0]).read_text())
    assert kept["blind"] is True
    judging = told(done)["judging"]
    assert judging["blind"] is True
    assert {judge["method"] for judge in judging["judges"]} == {"cross_judge", "self_judge"}
    scores = [row for name in ("scores", "scores, own outputs") for row in judging["tables"][name]]
    assert {row["target"] for row in scores} == {"alpha", "beta"}
    manifest = (tmp_path / "out" / "used_prompt_manifest.md").read_text()
    assert "JP-001: cross_judge, blind" in manifest
    assert "JP-002" not in manifest
    tables = affidavit("report", tmp_path / "out", "--format", "md", cwd=tmp_path)
    assert tables.stdout.decode().count("blind judging: judges were given aliases") >= 3
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
def test_a_judge_that_joins_later_gets_the_same_aliases(tmp_path, server):
    study(tmp_path, server.url, blind=True)
    assert fine(run(tmp_path), 0)
    first = {meta["target_model"] for meta in given_to_judges(server)}
    del server.log[:]
    done = judge_again(tmp_path, judges=("beta",))
    assert fine(done, 0)
    assert b"blind judging: judges were given aliases" in done.stdout
    assert {meta["target_model"] for meta in given_to_judges(server)} == first
    assert fine(affidavit("verify", tmp_path / "out"), 0)


@pytest.mark.slow
@pytest.mark.parametrize("began_blind", [True, False])
def test_a_judging_is_blind_from_the_first_or_never(tmp_path, server, began_blind):
    study(tmp_path, server.url, blind=began_blind)
    assert fine(run(tmp_path), 0)
    before, asked = every_byte(tmp_path / "out"), len(server.log)
    study(tmp_path, server.url, blind=not began_blind)
    refused = [run(tmp_path)]
    if not began_blind:
        refused.append(judge_again(tmp_path, "--blind"))
    for done in refused:
        assert fine(done, 2)
        assert f"blind: was {began_blind}, is {not began_blind}" in done.stderr.decode()
    assert (every_byte(tmp_path / "out"), len(server.log)) == (before, asked)
    assert fine(judge_again(tmp_path), 0), "nothing said is nothing changed"


@pytest.mark.slow
def test_the_option_makes_a_first_judging_blind_as_the_key_does(tmp_path, server):
    few = {"tasks": {"advice": {"variants": {"short": None, "listed": None}}}, "models": {"gamma": None}}
    open_study(tmp_path, server.url, few, questions=("q1",))
    assert fine(run(tmp_path), 0)
    planned = judge_again(tmp_path, "--blind", "--dry-run", "--json")
    assert [judge["requests"] for judge in told(planned)["judges"]] == [4]
    assert not (tmp_path / "out/judging.json").exists()
    done = judge_again(tmp_path, "--blind")
    assert fine(done, 0)
    assert b"blind judging: judges were given aliases" in done.stdout
    aliases = frozen(tmp_path / "out")["terms"]["aliases"]
    given = given_to_judges(server)
    assert {meta["target_model"] for meta in given} == set(aliases.values())
    assert not {"alpha", "beta"} & {meta["target_model"] for meta in given}
    assert {meta["method"] for meta in given} == {"cross_judge"}
    again = judge_again(tmp_path, "--blind", "--json")
    assert (told(again)["asked"], told(again)["judging"]["blind"]) == (0, True)


@pytest.mark.slow
def test_outputs_from_elsewhere_are_judged_blind(tmp_path):
    rows = [row("Q1", "A", target, f"o-{number}") for number, target in enumerate(("gpt", "qwen"))]
    with FaultServer(Always(fair)) as running:
        models, source = write_models(tmp_path, running.url), write_jsonl(tmp_path / "given.jsonl", rows)
        order = ("judge", source, "--out", tmp_path / "out", "--judge", "j", "--models", models, "--blind")
        assert fine(affidavit(*order), 0)
        prompts = [prompt for _, prompt in judged_in(running.log)]
    aliases = frozen(tmp_path / "out")["terms"]["aliases"]
    assert sorted(aliases) == ["gpt", "qwen"]
    assert {prompt.meta["target_model"] for prompt in prompts} == set(aliases.values())
    assert not any("gpt" in prompt.words or "qwen" in prompt.words for prompt in prompts)
    assert {each["target_model"] for each in judgements(tmp_path / "out")} == {"gpt", "qwen"}
    assert fine(affidavit("verify", tmp_path / "out"), 0)
