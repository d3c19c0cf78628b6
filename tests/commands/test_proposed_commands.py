"""Mistakes of a first hour that are made without any server: what is typed, what is said, and that what is proposed works.

Those that a server has a part in are in `tests/running/test_setup_mistakes.py`.
"""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.command import affidavit
from support.pages import ROOT
from support.studies import fine, laid_over, toml, write_items
from support.written_study import NOBODY

NUMBER = """from affidavit import Pattern

num = Pattern(name="number", version=1, pattern="-?[0-9]+", words="Answer with the number alone.", compare="number")
"""
SUMS = {
    "study": {"name": "sums"},
    "models": {"m": {"base_url": NOBODY, "flavour": "vllm"}},
    "tasks": {"sums": {"contract": "number.py:num", "items": "sums.jsonl"}},
    "conditions": {"plain": {}},
}
HELD = {"conditions": {"held": {"constrained": True}}}
JUDGE = (
    "judge texts --pattern {question_id}/{prompt_variant}_{target_model}.md --without-task --out judged --dry-run"
)


@dataclass(frozen=True)
class Mistake:
    """A command as it was typed, what is said of it, and how the message has it mended."""

    typed: str
    says: tuple[str, ...]
    mended: str | Callable[[str], str] = ""
    """The command that works; or made of the message; the same again unless given."""
    study: dict = field(default_factory=dict)
    """What is different in the study, `sums.toml`."""
    mended_study: dict = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    mended_files: dict[str, str] = field(default_factory=dict)


def proposed_study(said: str) -> str:
    return f"run {re.search(r'Did you mean (.+)[?]', said)[1]} --dry-run"


def with_proposed_models(said: str) -> str:
    return f"{JUDGE} --judge m {re.search(r'Name it: (--models .+)', said)[1]}"


RUN = "run sums.toml --dry-run"
MISTAKES = {
    "short answers under multiple choice": Mistake(
        RUN,
        (
            "sums.jsonl:1: expected a letter from A to D in 'answer', found \"12\"",
            'A short answer needs a contract of your own; see "A study of short answers" in docs/contracts.md.',
        ),
        study={"tasks": {"sums": {"contract": "mcqa"}}},
        mended_study={"tasks": {"sums": {"contract": "number.py:num"}}},
    ),
    "a pattern under a grammar, with another condition": Mistake(
        RUN,
        ("found none\n", 'has no grammar, as no pattern has: write conditions = ["plain"] in [tasks.sums].'),
        study=HELD,
        mended_study={"tasks": {"sums": {"conditions": ["plain"]}}},
    ),
    "a pattern under a grammar alone": Mistake(
        RUN,
        ("has no grammar, as no pattern has: take constrained = true out of [conditions.held].",),
        study={"conditions": {"held": {"constrained": True}, "plain": None}},
        mended_study={"conditions": {"held": {"constrained": None}}},
    ),
    "a pattern under a grammar that the task asks for": Mistake(
        RUN,
        ("take constrained = true out of [conditions.held].",),
        study=laid_over(HELD, {"tasks": {"sums": {"conditions": ["held"]}}}),
        mended_study={"conditions": {"held": {"constrained": None}}},
    ),
    "a misspelt file of items, beside the study of its name": Mistake(
        RUN,
        ("tasks.sums.items: expected a file of items, found no file 'sum.jsonl'\nDid you mean sums.jsonl?\n",),
        study={"tasks": {"sums": {"items": "sum.jsonl"}}},
        mended_study={"tasks": {"sums": {"items": "sums.jsonl"}}},
    ),
    "items of another ending, if none has the same": Mistake(
        RUN,
        ("found no file 'item.csv'\nDid you mean items.jsonl?\n",),
        study={"tasks": {"sums": {"items": "item.csv"}}},
        files={"items.jsonl": '{"id": "1", "question": "?", "answer": "1"}\n'},
        mended_study={"tasks": {"sums": {"items": "items.jsonl"}}},
    ),
    "the directory of a study in place of its file": Mistake(
        "run sums --dry-run",
        ("sums: expected a study file, found a directory\nDid you mean sums.toml?\n",),
        mended=proposed_study,
        folders=("sums",),
    ),
    "a study file without its ending": Mistake(
        "run sums --dry-run",
        ("sums: expected a study file, found nothing at this place\nDid you mean sums.toml?\n",),
        mended=proposed_study,
    ),
    "the folder in which one is": Mistake(
        "run . --dry-run",
        (".: expected a study file, found a directory\nA study is a TOML file; `affidavit init` writes one.\n",),
        mended=RUN,
    ),
    "no file of models, and one is here": Mistake(
        f"{JUDGE} --judge m",
        ("--models: expected the study's own file here, or another file", "\nName it: --models sums.toml\n"),
        mended=with_proposed_models,
        files={"broken.toml": "[models", "others.toml": "[models.n]\n", "empty.toml": ""},
    ),
    "no file of models, and its name has a space": Mistake(
        f"{JUDGE} --judge m",
        ("\nName it: --models 'my judges.toml'\n",),
        mended=with_proposed_models,
        files={"my judges.toml": f'[models.m]\nbase_url = "{NOBODY}"\n'},
    ),
    "no file of models, and none is here": Mistake(
        f"{JUDGE} --judge nobody",
        ("\nWrite one with a table [models.nobody] that has base_url or embedded, as docs/judging.md shows, ",),
        mended=f"{JUDGE} --judge nobody --models judges.toml",
        mended_files={"judges.toml": f'[models.nobody]\nbase_url = "{NOBODY}"\n'},
    ),
}


def write(folder: Path, study: dict, files: dict[str, str]) -> None:
    (folder / "sums.toml").write_text("\n".join(toml(study)))
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_and_what_is_proposed_works(tmp_path, mistake):
    (tmp_path / "number.py").write_text(NUMBER)
    write_items(tmp_path / "sums.jsonl", [{"id": "1", "question": "What is 7 + 5?", "answer": "12"}])
    for name in ("texts/tea", *mistake.folders):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "texts/tea/plain_ann.md").write_text("Tea is made of leaves.\n")
    study = laid_over(SUMS, mistake.study)
    write(tmp_path, study, mistake.files)
    done = affidavit(*shlex.split(mistake.typed), cwd=tmp_path)
    assert fine(done, 2)
    said = done.stderr.decode()
    for words in mistake.says:
        assert words in said
    write(tmp_path, laid_over(study, mistake.mended_study), mistake.mended_files)
    mended = mistake.mended(said) if callable(mistake.mended) else mistake.mended or mistake.typed
    assert fine(affidavit(*shlex.split(mended), cwd=tmp_path), 0)


def test_the_section_that_is_named_is_there():
    assert "\n### A study of short answers\n" in (ROOT / "docs" / "contracts.md").read_text()


@pytest.mark.parametrize("answer", ["Paris", "a", "E"])
def test_an_answer_that_is_an_option_or_a_letter_is_no_short_answer(tmp_path, answer):
    (tmp_path / "sums.toml").write_text(
        "\n".join(toml(laid_over(SUMS, {"tasks": {"sums": {"contract": "mcqa"}}})))
    )
    options = ["Paris", "Rome", "Bern", "Oslo"]
    write_items(tmp_path / "sums.jsonl", [{"id": "1", "question": "?", "options": options, "answer": answer}])
    done = affidavit("run", "sums.toml", "--dry-run", cwd=tmp_path)
    assert fine(done, 2)
    assert b"expected a letter from A to D" in done.stderr
    assert b"short answer" not in done.stderr


@pytest.mark.slow
def test_whoever_asks_for_html_is_told_of_the_page(tmp_path):
    done = affidavit("report", ROOT / "examples" / "smollm2-answers", "--format", "html", cwd=tmp_path)
    assert fine(done, 2)
    assert b"'html' is the page: leave out --format; -o FILE.html says where." in done.stderr
    page = tmp_path / "page.html"
    assert fine(affidavit("report", ROOT / "examples" / "smollm2-answers", "-o", page), 0)
    assert page.exists()
    other = affidavit("report", tmp_path, "--format", "pdf")
    assert b"'pdf' is not one of 'text', 'md', 'json', 'csv', 'latex'" in other.stderr


def test_a_dry_run_of_a_judging_names_the_file_of_models(tmp_path):
    (tmp_path / "texts/tea").mkdir(parents=True)
    (tmp_path / "texts/tea/plain_ann.md").write_text("Tea is made of leaves.\n")
    (tmp_path / "judges.toml").write_text(f'[models.m]\nbase_url = "{NOBODY}"\n')
    done = affidavit(*shlex.split(f"{JUDGE} --judge m --models judges.toml"), cwd=tmp_path)
    assert fine(done, 0)
    assert b"\nfiles: texts, judges.toml\n" in done.stdout
