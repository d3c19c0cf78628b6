"""Who judges, and on which terms: what was asked for, else what was frozen before, else the defaults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from affidavit.archive.study_directory import StudyDirectory
from affidavit.contracts.rubric import DEFAULT, Rubric
from affidavit.errors import UsageError, did_you_mean
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging
from affidavit.judging.terms import FREE, SCHEMA, JudgeTerms
from affidavit.models.model import Model
from affidavit.models.request_body import decoding_in
from affidavit.models.settings import Limits, ModelTable
from affidavit.study.files import read_rubric
from affidavit.study.models_file import ModelsFile


@dataclass(frozen=True)
class JudgePanel:
    """Who judges, by which rubric, and how patiently they are asked."""

    judges: Sequence[JudgeTerms]
    tables: Mapping[str, ModelTable]
    model: Callable[[str], Model]
    """How each judge is reached."""
    rubric: Rubric | None = None
    """None: whatever the study was judged by before, else the default."""
    tasks: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    blind: bool | None = None
    """Whether judges are given aliases (ruling J16); None: as the study was judged before, else no."""
    without_task: bool | None = None
    """Whether judges are told that the words of the task are not known; None: likewise."""
    files: Sequence[str] = ()
    """What was read for it."""


@dataclass(frozen=True, slots=True)
class WantedTerms:
    """What was asked for; None, or nothing, leaves it as it was frozen, or else at its default."""

    judges: Sequence[str]
    rubric: str | None = None
    """'default', or a TOML file."""
    tasks: Sequence[str] = ()
    conditions: Sequence[str] = ()
    repeats: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    blind: bool | None = None
    without_task: bool | None = None


def judge_panel(directory: StudyDirectory, file: ModelsFile, wanted: WantedTerms) -> JudgePanel:
    """The judges that were asked for, each on the terms under which it judged this study before."""
    _check(wanted)
    for name in wanted.judges:
        if name not in file.models:
            hint = did_you_mean(name, file.models) or f"Give the file of models a table [models.{name}]."
            raise UsageError("--judge", expected=", ".join(file.models), found=repr(name), hint=hint)
    before = read_judging(directory)
    known = {} if before is None else {judge.name: judge for judge in before.judges}
    terms = [_terms(name, file.models[name], wanted, known.get(name)) for name in dict.fromkeys(wanted.judges)]
    rubric = None if wanted.rubric is None else read_rubric(wanted.rubric, Path())
    return JudgePanel(
        terms,
        file.models,
        file.model,
        rubric,
        tuple(wanted.tasks),
        file.limits,
        wanted.blind,
        wanted.without_task,
        [str(each) for each in (file.path, wanted.rubric) if each not in (None, DEFAULT.name)],
    )


def _check(wanted: WantedTerms) -> None:
    if not wanted.judges:
        raise UsageError("--judge", expected="at least one judge", found="none")
    for condition in wanted.conditions:
        if condition not in (FREE, SCHEMA):
            raise UsageError("--condition", expected=f"{FREE} or {SCHEMA}", found=repr(condition))
    for option, number in (("--repeats", wanted.repeats), ("--max-tokens", wanted.max_tokens)):
        if number is not None and number < 1:
            raise UsageError(option, expected="a whole number from 1", found=str(number))


def _terms(name: str, table: ModelTable, wanted: WantedTerms, known: JudgeTerms | None) -> JudgeTerms:
    decoding: Fields = {"temperature": 0.0, "max_tokens": 1024} if known is None else decoding_in(known.request)
    if wanted.temperature is not None:
        if not 0 <= wanted.temperature < 1e9:
            raise UsageError("--temperature", expected="a finite number from 0", found=str(wanted.temperature))
        decoding["temperature"] = wanted.temperature
    if wanted.max_tokens is not None:
        decoding["max_tokens"] = wanted.max_tokens
    conditions = tuple(wanted.conditions) or ((FREE,) if known is None else known.conditions)
    if SCHEMA in conditions and not table.provider.takes_schema:
        raise UsageError("--condition", expected=f"free: the judge {name} takes no JSON schema", found=SCHEMA)
    repeats = wanted.repeats or (1 if known is None else known.repeats)
    return JudgeTerms(name, table.identity, table.request(decoding), tuple(dict.fromkeys(conditions)), repeats)
