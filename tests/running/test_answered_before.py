"""A dry run counts what is left to ask: not what was answered, nor what failed permanently."""

import json

import pytest

from affidavit.errors import InputError, UsageError
from affidavit.running.answered_before import AnsweredBefore, answered_before
from affidavit.study.dry_run import dry_run
from affidavit.study.files import load
from support.fault_server import FaultServer, bad_request, every
from support.studies import fine, run, told, write_items, write_study


def test_where_nothing_is_nothing_was_answered(tmp_path):
    assert answered_before(tmp_path / "out", "small") == AnsweredBefore()


@pytest.mark.slow
def test_what_failed_permanently_is_told_apart(tmp_path):
    with FaultServer({"q1": every(bad_request), "q2": every(bad_request)}) as server:
        write_study(tmp_path, server.url, count=6)
        assert fine(run(tmp_path), 4)
        (cell,) = told(run(tmp_path, "--dry-run", "--json"))["cells"]
        assert [cell[name] for name in ("planned", "answered", "failed", "requests")] == [6, 4, 2, 0]
        text = run(tmp_path, "--dry-run").stdout.decode()
        assert "4 of 6 planned questions are answered already, 0 are left to ask" in text
        assert "2 failed permanently: --retry-failed asks again" in text
        (cell,) = told(run(tmp_path, "--dry-run", "--json", "--retry-failed"))["cells"]
        assert [cell[name] for name in ("planned", "answered", "failed", "requests")] == [6, 4, 0, 2]


@pytest.mark.slow
def test_a_trial_is_counted_where_it_is_taken_over_from(tmp_path):
    with FaultServer() as server:
        write_study(tmp_path, server.url, count=6)
        assert fine(run(tmp_path, "--limit", "2"), 0)
        for options, counts in (((), [6, 2, 4]), (("--limit", "2"), [2, 2, 0]), (("--limit", "3"), [3, 2, 1])):
            (cell,) = told(run(tmp_path, "--dry-run", "--json", *options))["cells"]
            assert [cell[name] for name in ("planned", "answered", "requests")] == counts


def embedded(tmp_path, name):
    model = {"base_url": None, "connections": None, "embedded": name}
    return write_study(tmp_path, "", changed={"models": {"m": model}})


def test_a_listing_refuses_an_unknown_name_of_weights_with_the_nearest(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    study = embedded(tmp_path, "smolm2")
    with pytest.raises(
        UsageError,
        match=r"study.toml: models.m.embedded: expected an embedded model: smollm2.*, found 'smolm2'\nDid you mean smollm2",
    ):
        load(study, with_weights=False)


def test_a_listing_takes_a_known_model_whose_weights_are_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_MODELS", str(tmp_path / "models"))
    files = load(embedded(tmp_path, "smollm2"), with_weights=False)
    assert dry_run(files).asked[0].requests > 0


def test_the_items_of_all_tasks_are_looked_at(tmp_path):
    more = {
        "tasks": {
            "more": {"contract": "mcqa", "items": "more.jsonl"},
            "none": {"contract": "mcqa", "items": "no.jsonl"},
        }
    }
    study = write_study(tmp_path, "http://127.0.0.1:9/v1", changed=more)
    write_items(tmp_path / "more.jsonl", [{"id": "1", "question": "?"}])
    (tmp_path / "no.jsonl").write_text("\n")
    with pytest.raises(InputError) as caught:
        dry_run(load(study))
    said = [json.dumps(str(each)) for each in caught.value.mistakes]
    assert len(said) == 2
    assert "more.jsonl:1: expected a list of texts in 'options'" in said[0]
    assert "no.jsonl: expected rows as JSON Lines, CSV or Parquet, found an empty file" in said[1]
