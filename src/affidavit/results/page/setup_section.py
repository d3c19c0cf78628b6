"""The setup of a study: models, tasks, conditions, settings and prompts, as tables and texts."""

import json
from collections.abc import Iterator, Mapping

import polars as pl

from affidavit.archive.study_directory import ImportedStudy
from affidavit.contracts.evaluation import JudgingMethod
from affidavit.contracts.frozen_contract import frozen_contract
from affidavit.contracts.own_file import GivenContracts, is_in_file
from affidavit.json_values import digest
from affidavit.plain_text import counted_noun
from affidavit.reading.summary import rows_and_outputs
from affidavit.results.caveats import said_first, trial_note
from affidavit.results.page.content import AskedSection, Prompt
from affidavit.results.page.text import brief
from affidavit.results.study_results import StudyResults
from affidavit.results.table import Table
from affidavit.study.crossing import condition_of
from affidavit.study.freezing import examples_from_frozen
from affidavit.study.prompt import template
from affidavit.study.study_file import requests_of

MOST_JUDGES, MOST_PROMPTS = 8, 60
"""Judges that the summary names, and prompts that are shown."""


def setup(results: StudyResults) -> AskedSection:
    """Everything that is known of what was asked."""
    tables = list(_asked_tables(results))
    sizes = {table.name: len(table.rows) for table in tables}
    planned = int(results.records.planned["planned"].sum())
    conditions = len(results.records.planned["condition"].unique())
    parts = (
        counted_noun(sizes["models"], "model"),
        f"{counted_noun(sizes['tasks'], 'task')} under {counted_noun(conditions, 'condition')}",
        f"{counted_noun(planned, 'question')} planned",
    )
    judged = results.judging
    summary = (
        f"{', '.join(parts)}."
        if results.study is not None
        else f"{rows_and_outputs(planned, results.records.coded.frame['failure'].null_count())} made elsewhere."
    )
    if judged is not None:
        judges = ", ".join(brief(each.name, 40) for each in judged.judges[:MOST_JUDGES])
        more = " and others" if len(judged.judges) > MOST_JUDGES else ""
        outputs = counted_noun(len(judged.terms.outputs), "output")
        summary += f" {outputs} judged by {counted_noun(len(judged.judges), 'judge')}: {judges}{more}."
    prompts = list(_prompts(results))
    note = ""
    if len(prompts) > MOST_PROMPTS:
        note = f"{MOST_PROMPTS} of {len(prompts):,} prompts are shown; used_prompt_manifest.md holds all."
    elif results.study is None:
        note = "The outputs were made elsewhere: which prompts they answer is known only as far as their rows say."
        if judged is not None:
            note += " used_prompt_manifest.md holds the prompts of the judges."
    summary = said_first(trial_note(results.trial), summary)
    return AskedSection(summary, tables, prompts[:MOST_PROMPTS], note)


def _asked_tables(results: StudyResults) -> Iterator[Table]:
    config, counts = results.config, results.counts
    study = results.study
    named = config["models"].items()
    if study is None:
        yield Table("models", "Models", ("model",), tuple((name,) for name, _ in named), "")
    else:
        models = tuple((name, str(each.get("model", name)), str(each.get("flavour", ""))) for name, each in named)
        yield Table("models", "Models", ("model", "name at its server", "kind"), models, "")
    if requests := tuple(_requests(results)):
        columns = "who is asked", "as", "setting", "value"
        yield Table("requests", "Settings of every request", columns, requests, "")
    described = config["contracts"]
    if study is None:
        yield from _imported_tables(results)
        return
    tasks = tuple(
        (
            name, str(described[name]["contract"]), _settings(described[name]["params"]), counts.get(name, 0),
            each.option_order if results.records.parts[name].shows_options else "",
        )
        for name, each in study.tasks.items()
    )  # fmt: skip
    yield Table("tasks", "Tasks", ("task", "contract", "parameters", "items", "order of options"), tasks, "")
    conditions = tuple(
        (
            name,
            each.control or "–",
            each.paradigm or "–",
            "yes" if each.constrained else "no",
            each.preamble,
            each.system,
        )
        for name, each in study.conditions.items()
        if name in set(results.records.planned["condition"])
    )
    if conditions:
        shown = ("condition", "control", "paradigm", "constrained decoding", "preamble", "system")
        yield Table("conditions", "Conditions", shown, conditions, "")
    decoding = tuple((name, str(value)) for name, value in config["decoding"].items())
    yield Table("decoding", "Decoding", ("setting", "value"), decoding, "")


def _imported_tables(results: StudyResults) -> Iterator[Table]:
    """What is known of outputs from elsewhere: by which contract they were read, and from which columns."""
    planned = results.records.planned.group_by("task").agg(pl.col("planned").sum()).sort("task")
    sizes, described = dict(planned.select("task", "planned").iter_rows()), results.config["contracts"]
    tasks = tuple(
        (name, str(each["contract"]), _settings(each["params"]), sizes.get(name, 0))
        for name, each in described.items()
    )
    yield Table("tasks", "Tasks", ("task", "contract", "parameters", "rows"), tasks, "")
    columns = tuple((name, str(role)) for role, name in results.config["columns"].items())
    yield Table("columns", "Columns of the rows", ("column", "taken as"), columns, "")
    files = results.frozen.files if isinstance(results.frozen, ImportedStudy) else ()
    if files:
        named = tuple((file.name, file.sha256) for file in files)
        yield Table("files", "Files that were read", ("file", "sha256"), named, "")


def _requests(results: StudyResults) -> Iterator[tuple[str, ...]]:
    """What was really sent with every request (ruling C9), to models and to judges."""
    asked = {} if results.study is None else requests_of(results.study)
    for who, merged in asked.items():
        yield from ((who, "model", name, str(value)) for name, value in merged.items())
    for judge in () if results.judging is None else results.judging.judges:
        yield from ((judge.name, "judge", name, str(value)) for name, value in judge.request.items())


def _settings(value: object) -> str:
    """Parameters as a study file would have them.

    >>> _settings({"marker": "####", "sign": True, "labels": ["a", "b"]})
    'marker = "####", sign = true, labels = ["a", "b"]'
    """
    if not isinstance(value, Mapping) or not value:
        return "–"
    return ", ".join(f"{name} = {json.dumps(each, ensure_ascii=False)}" for name, each in value.items())


def _prompts(results: StudyResults) -> Iterator[Prompt]:
    """The words of every task and condition; a contract of the user's own is code, and is not run for a page."""
    study = results.study
    if study is None:
        return
    examples = examples_from_frozen(results.config)
    cells = dict.fromkeys((row["task"], row["condition"]) for row in results.records.planned.iter_rows(named=True))
    for task, condition in cells:
        if is_in_file(study.tasks[task].contract):
            turns = [("prompt", "The contract is the study's own code; see used_prompt_manifest.md.")]
            yield Prompt(task, condition, turns, None)
            continue
        table, described = study.tasks[task], results.config["contracts"][task]
        contract = frozen_contract(table.contract, table.options, described, GivenContracts())
        said = template(
            condition_of(study, task, condition), contract, examples=examples.get((task, condition), ())
        )
        yield Prompt(task, condition, [(turn["role"], turn["content"]) for turn in said], digest(said))
    judged = results.judging
    if judged is not None:
        for method in JudgingMethod:
            said = judged.terms.template(method)
            yield Prompt("judging", method.value, [(t["role"], t["content"]) for t in said], digest(said))
