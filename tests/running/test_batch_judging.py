"""Judges are asked by batch as they are live: the same prompts, the same judgements, the same root digest."""

import json
import random
from pathlib import Path

import pytest

from support.batch_service import answered, requests_in, write_lines
from support.command import affidavit
from support.judged_studies import MODELS, VARIANTS, agreeable, judgements, open_study, serving
from support.studies import fine, records, run, told_by_verify

pytestmark = pytest.mark.slow

JUDGEMENTS = len(MODELS) * len(MODELS) * len(VARIANTS) * 2
OWN = {"judging": {"judges": list(MODELS)}}
EVERY_JUDGE = [part for name in MODELS for part in ("--judge", name)]


def batch(folder: Path, *order: object, code: int = 0) -> dict:
    done = affidavit(*order, "--json", cwd=folder)
    assert fine(done, code)
    return json.loads(done.stdout)


def answers(folder: Path, files: str, url: str, *, leave: int = 0) -> Path:
    lines = answered(sorted((folder / files).glob("*.jsonl")), url)
    random.Random(3).shuffle(lines)  # noqa: S311
    return write_lines(folder / f"{files}.answers", lines[leave:])


def by_key(directory: Path) -> dict[str, dict]:
    return {
        record["key"]: {name: value for name, value in record.items() if name not in ("seq", "group", "sha256")}
        for record in records(directory)
    }


def test_a_study_with_judges_goes_by_batch_from_end_to_end(tmp_path):
    with serving() as server:
        open_study(tmp_path, server.url, OWN)
        first = batch(tmp_path, "batch", "export", "study.toml", "--directory", "out", "-o", "asked")
        assert (first["asks"], first["requests"], first["judging_waits_for"]) == ("models", 24, 24)
        taken = batch(tmp_path, "batch", "import", "out", answers(tmp_path, "asked", server.url))
        assert (taken["answers"], taken["open"]) == (24, 0)
        second = batch(tmp_path, "batch", "export", "study.toml", "--directory", "out", "-o", "judged")
        assert (second["asks"], second["requests"]) == ("judges", JUDGEMENTS)
        assert told_by_verify(tmp_path / "out")["sealed"]
        taken = batch(tmp_path, "batch", "import", "out", answers(tmp_path, "judged", server.url))
        assert (taken["answers"], taken["open"]) == (JUDGEMENTS, 0)
        live = tmp_path / "live"
        open_study(live, server.url, OWN)
        assert fine(run(live), 0)
    verified = told_by_verify(tmp_path / "out")
    assert verified["differences"] == []
    assert verified["root_sha256"] == told_by_verify(live / "out")["root_sha256"]
    assert by_key(tmp_path / "out") == by_key(live / "out")


def test_an_import_ends_as_a_run_does_and_says_that_judges_wait(tmp_path):
    """The same closing tables; and the next command, as long as one is left."""
    to_batch = b"by batch: affidavit batch export study.toml --directory out"
    with serving() as server:
        open_study(tmp_path, server.url, OWN)
        batch(tmp_path, "batch", "export", "study.toml", "--directory", "out", "-o", "asked")
        some = answers(tmp_path, "asked", server.url, leave=4)
        waiting = affidavit("batch", "import", "out", some, cwd=tmp_path)
        assert fine(waiting, 4)
        assert b"the judging has not begun: it waits for 4 outputs that may still come" in waiting.stderr
        assert to_batch not in waiting.stderr
        done = affidavit("batch", "import", "out", answers(tmp_path, "asked", server.url), cwd=tmp_path)
        assert fine(done, 0)
        assert f"the judging has not begun: {', '.join(MODELS)} can be asked now".encode() in done.stderr
        assert to_batch in done.stderr
        assert b"or live: affidavit run study.toml --out out" in done.stderr
        batch(tmp_path, "batch", "export", "study.toml", "--directory", "out", "-o", "judged")
        judged = answers(tmp_path, "judged", server.url)
        closed = affidavit("batch", "import", "out", judged, cwd=tmp_path)
        assert fine(closed, 0)
        assert b"the judging has not begun" not in closed.stderr
        told_of = batch(tmp_path, "batch", "import", "out", judged)
        live = run(tmp_path)
        assert fine(live, 0)
        assert told_of["judging"] == json.loads(run(tmp_path, "--json").stdout)["judging"]
    tables = live.stdout[: live.stdout.index(b"nothing to do")]
    assert b"judging" in tables
    assert closed.stdout.startswith(tables)


def test_what_judges_left_open_is_exported_again_or_asked_live(tmp_path):
    with serving() as server:
        open_study(tmp_path, server.url, {})
        assert fine(run(tmp_path), 0)
        one = ("judge", "out", *EVERY_JUDGE, "--batch", "judged")
        assert batch(tmp_path, *one)["requests"] == JUDGEMENTS
        taken = batch(tmp_path, "batch", "import", "out", answers(tmp_path, "judged", server.url, leave=5), code=4)
        assert (taken["answers"], taken["open"], taken["missing"]["count"]) == (JUDGEMENTS - 5, 5, 5)
        again = batch(tmp_path, "batch", "export", "out", "-o", "rest")
        assert (again["asks"], again["requests"]) == ("judges", 5)
        keys = {each["custom_id"] for each in requests_in((tmp_path / "rest").glob("*.jsonl"))}
        server.log.clear()
        assert fine(affidavit("judge", "out", *EVERY_JUDGE, cwd=tmp_path), 0)
        assert len(server.log) == 5
        live = tmp_path / "live"
        open_study(live, server.url, {})
        assert fine(run(live), 0)
        assert fine(affidavit("judge", "out", *EVERY_JUDGE, cwd=live), 0)
    assert keys <= {record["key"] for record in judgements(tmp_path / "out")}
    assert told_by_verify(tmp_path / "out")["root_sha256"] == told_by_verify(live / "out")["root_sha256"]


def test_outputs_from_elsewhere_are_judged_by_batch(tmp_path):
    row = {
        "question_id": "q1",
        "prompt_variant": "A",
        "target_model": "t",
        "output_id": "o",
        "prompt": "What now?",
    }
    write_lines(
        tmp_path / "outputs.jsonl", [{**row, "raw_output": "This.\nThat.", "output_id": f"o{n}"} for n in range(3)]
    )
    with serving(agreeable, questions=("q1",)) as server:
        (tmp_path / "models.toml").write_text(f'[models.j]\nbase_url = "{server.url}"\n')
        order = ("judge", "outputs.jsonl", "--judge", "j", "--models", "models.toml", "--out", "out")
        assert batch(tmp_path, *order, "--batch", "asked")["requests"] == 3
        refused = affidavit("batch", "export", "out", "-o", "again", cwd=tmp_path)
        assert fine(refused, 2)
        assert b"--judge j --models FILE --batch FOLDER" in refused.stderr
        taken = batch(tmp_path, "batch", "import", "out", answers(tmp_path, "asked", server.url))
    assert (taken["answers"], taken["open"]) == (3, 0)
    assert told_by_verify(tmp_path / "out")["differences"] == []
