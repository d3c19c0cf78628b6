"""What judges would be asked, without asking: requests, tokens and, where prices are given, cost.

Of outputs that are there, every prompt is made, and its tokens are estimated as for a study. Of outputs that a
study still has to ask for, only the most can be said: as if all of them arrived, each as long as it may be.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from affidavit.archive.study_directory import IMPORTED
from affidavit.contracts.evaluation import IDENTIFIERS, META, Asked, own_method
from affidavit.contracts.judge import Judge
from affidavit.contracts.own_file import GivenContracts
from affidavit.contracts.parts import parts_of
from affidavit.json_values import Fields
from affidavit.judging.directory import read_judging
from affidavit.judging.outputs import transcript
from affidavit.judging.plan import JudgingPlan, Output
from affidavit.judging.prompt import judge_messages
from affidavit.judging.terms import FrozenJudging, JudgeTerms
from affidavit.models.request_body import decoding_in
from affidavit.models.settings import ModelTable
from affidavit.models.token_estimate import estimated_tokens
from affidavit.plain_text import counted_noun, plain
from affidavit.running.answered_before import JudgedOnce
from affidavit.running.import_outputs import Intake
from affidavit.running.judge_panel import JudgePanel
from affidavit.running.judging_run import first_terms, same_terms
from affidavit.running.ledger import StudyLedger
from affidavit.running.study_outputs import StudyOutputs, TakenOutputs, open_tasks
from affidavit.study.dry_run import (
    PlannedRequests,
    PromptCount,
    asked_so_far,
    in_hundredths,
    machine_notes,
    most_costs,
    requests_table,
    used_lines,
    without_price,
)
from affidavit.study.files import StudyFiles, items_for
from affidavit.study.freezing import plan_of

COLUMNS = ("judge", "judging condition")


@dataclass(frozen=True)
class JudgingDryRun:
    """What a judging would ask, by judge and condition; nothing is asked for it, and nothing written."""

    outputs: int
    asked: Sequence[PlannedRequests]
    rubric: str
    without_task: bool
    uses: Mapping[str, Sequence[str]]
    machine_notes: Sequence[str] = ()
    """What is to be known of judges that run here."""

    @property
    def already(self) -> int:
        """Judgements that are there, or that failed permanently."""
        return sum(each.answered for each in self.asked)

    def as_json(self) -> Fields:
        """The counts as JSON values."""
        return {
            "outputs": self.outputs,
            "judges": judges_json(self.asked),
            "already": self.already,
            "rubric": self.rubric,
            "without_task": self.without_task,
            "uses": {kind: list(each) for kind, each in self.uses.items()},
            "notes": list(self.machine_notes),
        }

    def as_table(self) -> RenderableType:
        """The counts for a terminal."""
        said = f"  {counted_noun(self.outputs, 'output')}, rubric {self.rubric}; {asked_so_far(self.asked)}"
        title = Text.assemble(("judging", "bold"), plain(said))
        notes = _already(self.asked)
        if self.without_task:
            notes.append("judges are told that the words of the task are not known")
        lines = map(Text, (*used_lines(self.uses), *notes, *map(plain, self.machine_notes)))
        return Group(title, Text(""), requests_table(COLUMNS, self.asked), Text(""), *lines)


def _already(asked: Sequence[PlannedRequests]) -> list[str]:
    already = sum(each.answered for each in asked)
    return [f"{already:,} judgements are there already and are not asked for again"] if already else []


def judges_json(asked: Sequence[PlannedRequests]) -> list[Fields]:
    """The counts of each judge and condition as JSON values."""
    names = ("judge", "judging_condition")
    return [{**dict(zip(names, each.names, strict=True)), **each.as_json()} for each in asked]


# --- of outputs that are there ---


@dataclass(frozen=True)
class _Standing:
    """What there is to judge, on which terms, and what was judged."""

    frozen: FrozenJudging
    plan: JudgingPlan
    outputs: StudyOutputs | TakenOutputs
    settled: frozenset[bytes] = frozenset()


def judging_dry_run(
    intake: Intake, panel: JudgePanel, given: GivenContracts, *, beside: Path = Path(), retry_failed: bool = False
) -> JudgingDryRun:
    """Make every prompt that would be sent, and count; paths of weights are meant from `beside`."""
    standing = _of_directory(intake, panel, given, retry_failed=retry_failed) or _of_taken(intake, panel)
    plan, asked = standing.plan, list[PlannedRequests]()
    for judge in panel.judges:
        counts = {condition: PromptCount() for condition in judge.conditions}
        for judgement in plan.judgements(judge.name, standing.outputs):
            count = counts[judgement.condition]
            if bytes.fromhex(judgement.key) in standing.settled:
                count.answered += 1
            else:
                count.add(estimated_tokens(judgement.request.messages))
        asked += [_planned(judge, panel.tables[judge.name], name, count) for name, count in counts.items()]
    terms = standing.frozen.terms
    notes = tuple(machine_notes(asked, panel.tables, panel.limits, beside=beside))
    return JudgingDryRun(
        len(terms.outputs), asked, terms.rubric.name, terms.without_task, _used(intake, panel), notes
    )


def _planned(judge: JudgeTerms, table: ModelTable, condition: str, count: PromptCount) -> PlannedRequests:
    longest = decoding_in(judge.request).get("max_tokens", 0)
    return PlannedRequests(
        names=(judge.name, condition),
        model=judge.name,
        requests=count.requests,
        prompt_tokens=count.tokens,
        most_answer_tokens=count.requests * (longest if isinstance(longest, int) else 0),
        price=table.price,
        longest_prompt=count.longest,
        answered=count.answered,
    )


def _of_taken(intake: Intake, panel: JudgePanel) -> _Standing:
    """Outputs from elsewhere that stand in no directory yet."""
    assert intake.taken is not None  # noqa: S101 - else there is a directory
    tasks = tuple(panel.tasks or (IMPORTED,))
    outputs = TakenOutputs(intake.records, tasks, where=intake.used[0], unused_words=intake.unused_words)
    frozen = first_terms(intake.directory, panel, outputs, tasks)
    return _Standing(frozen, JudgingPlan(intake.name, 0, frozen.terms, frozen.judges), outputs)


def _of_directory(
    intake: Intake, panel: JudgePanel, given: GivenContracts, *, retry_failed: bool
) -> _Standing | None:
    """Outputs of a directory, and their judgements; None where it does not have all outputs yet."""
    directory = intake.directory
    before = read_judging(directory) if directory.is_study else None
    if intake.taken is not None and before is None:
        return None
    study = directory.frozen()
    plan = plan_of(study, given)
    tasks = tuple(panel.tasks or (before.tasks if before is not None else open_tasks(study)))
    frozen = None if before is None else same_terms(directory, panel, before, tasks)
    ledger = StudyLedger.of(study, plan, frozen, retry_failed=retry_failed)
    outputs = StudyOutputs(directory, study, plan, tasks)
    for line in directory.walk():
        ledger.load(line.record)
        outputs.add(line)
    settled = frozenset[bytes]() if ledger.judging is None else frozenset(ledger.judging.settled)
    if frozen is None:
        frozen = first_terms(directory, panel, outputs, tasks)
    return _Standing(frozen, JudgingPlan(study.name, study.seed, frozen.terms, frozen.judges), outputs, settled)


def _used(intake: Intake, panel: JudgePanel) -> dict[str, tuple[str, ...]]:
    """What of the world a judging would use, each thing once, without any secret."""
    used = [panel.tables[judge.name].uses() for judge in panel.judges]
    found = {
        "addresses": [address for each in used for address in each.addresses],
        "environment": [name for each in used for name in each.environment],
        "files": [*intake.used, *panel.files, *(file for each in used for file in each.files)],
    }
    return {kind: tuple(dict.fromkeys(each)) for kind, each in found.items()}


# --- of outputs that a study has yet to ask for ---


def most_judging(files: StudyFiles, judged: Set[JudgedOnce] = frozenset()) -> list[PlannedRequests]:
    """The most that the judges of a study would be asked: every planned output arrives, as long as it may be.

    What is `judged` already is not asked for again.
    """
    table, study = files.study.judging, files.study
    if table is None:
        return []
    counts = {(name, condition): PromptCount() for name in table.judges for condition in table.conditions}
    for output in _planned_outputs(files):
        for name in table.judges:
            tokens = _most_tokens(files, study.models[name].identity or name, output)
            for condition, repeat in product(table.conditions, range(1, table.repeats + 1)):
                count = counts[name, condition]
                if JudgedOnce(name, condition, repeat, output.key) in judged:
                    count.answered += 1
                else:
                    count.add(tokens)
    return [
        PlannedRequests(
            names=names,
            model=names[0],
            requests=count.requests,
            prompt_tokens=count.tokens,
            most_answer_tokens=count.requests * table.max_tokens,
            price=study.models[names[0]].price,
            longest_prompt=count.longest,
            answered=count.answered,
        )
        for names, count in counts.items()
    ]


def most_judging_notes(files: StudyFiles, judging: Sequence[PlannedRequests]) -> list[str]:
    """What is to be known of the judges of a study that run here."""
    study = files.study
    return list(machine_notes(judging, study.models, study.limits, beside=files.beside))


def most_judging_table(
    outputs: Sequence[PlannedRequests], judging: Sequence[PlannedRequests], notes: Sequence[str] = ()
) -> RenderableType:
    """The counts of the judging that follows these outputs, and what both cost together."""
    said = "  at most: as if every planned output arrived, as long as it may be"
    title = Text.assemble("\n", ("judging", "bold"), said)
    costs = [*most_costs(outputs), *most_costs(judging)]
    unknown = f", {without}" if (without := without_price([*outputs, *judging])) else ""
    total = f"outputs and judging together cost at most {in_hundredths(sum(costs))}{unknown}" if costs else ""
    already = [*_already(judging), *map(plain, notes)]
    lines = [Text("\n".join(("", *already)))] if already else []
    lines += [Text(""), Text(total)] if total else []
    return Group(title, Text(""), requests_table(COLUMNS, judging), *lines)


def _planned_outputs(files: StudyFiles) -> Iterator[Output]:
    """All outputs that would be judged, without their texts."""
    study, plan = files.study, files.plan(dict.fromkeys(files.contracts, 0))
    table = study.judging
    named = () if table is None else table.tasks
    judged = named or [name for name, contract in files.contracts.items() if parts_of(contract).open_ended]
    for name in judged:
        task = plan.tasks[name]
        for item in items_for(files, task):
            for model in task.conditions:
                for question in plan.questions(task, item, model):
                    identity = study.models[model].identity or model
                    words = transcript(question.request.messages)
                    yield Output(
                        key=question.key,
                        output_id=None,
                        question_id=item.id,
                        prompt_variant=question.condition,
                        model=model,
                        target_model=identity,
                        sample=question.sample,
                        text="",
                        task=words,
                    )


def _most_tokens(files: StudyFiles, judge: str, output: Output) -> int:
    """The tokens of a judge's prompt about an output that is as long as it may be."""
    names = (output.question_id, output.prompt_variant, output.target_model, output.key[:8])
    meta = {**dict(zip(IDENTIFIERS, names, strict=True)), "judge_model": judge, "timestamp": "2000-01-01"}
    meta["method"] = own_method(judge, output.target_model)
    assert meta.keys() == set(META)  # noqa: S101 - what the prompt states, and nothing else
    contract = Judge(files.rubric)
    said = judge_messages(contract, Asked(meta, ""), task=output.task, nonce="0" * 32)
    return estimated_tokens(said) + files.study.decoding.max_tokens
