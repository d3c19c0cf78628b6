"""The plan of a judging: which outputs are judged by whom, in which words, and what is kept of it.

Each planned judgement is one output, one judge, one condition of decoding and one repeat, under a key of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from affidavit.archive.record import (
    Failed,
    Judgement,
    JudgementIdentity,
    RecordedCount,
    RecordedFinding,
    RecordedQuote,
)
from affidavit.contracts.contract import label
from affidavit.contracts.evaluation import Asked, Evidence, JudgingMethod, own_method
from affidavit.json_values import canonical, digest
from affidavit.judging.prompt import evaluation_schema, judge_messages, nonce_of
from affidavit.judging.terms import SCHEMA, JudgeTerms, Terms
from affidavit.models.model import Completion, Failure, Request
from affidavit.models.request_body import SharedRequest, schema_fields


class Output(NamedTuple):
    """One output that can be judged."""

    key: str
    """Of its record."""
    output_id: str | None
    """The id that it came with; None for an output of a study, which gets a short one (ruling J14)."""
    question_id: str
    prompt_variant: str
    model: str
    """Who gave it, by its name in the study."""
    target_model: str
    """Who that is (ruling J13)."""
    sample: int
    text: str
    task: str
    """The words that it answers, as far as they are known."""
    options: tuple[str, ...] = ()
    """The options that it chose from, as they were shown; none where there are none, or nobody knows them."""


class JudgeCell(NamedTuple):
    """One judge under one condition, on outputs of others or on its own."""

    judge: str
    judging_condition: str
    method: str


class PlannedJudgement(NamedTuple):
    """One output put to one judge, once."""

    key: str
    output: Output
    model: str
    """The judge."""
    condition: str
    repeat: int
    asked: Asked
    prompt_sha256: str
    request: Request


class JudgingPlan:
    """All judgements under frozen terms."""

    def __init__(self, study: str, seed: int, terms: Terms, judges: Sequence[JudgeTerms]) -> None:
        self.study = study
        self.terms = terms
        self.judges = {judge.name: judge for judge in judges}
        self._seed = seed
        self._shared = {judge.name: SharedRequest(judge.request) for judge in judges}
        self._set = frozenset(terms.outputs)

    def judgements(self, judge: str, outputs: Iterable[Output]) -> Iterator[PlannedJudgement]:
        """What one judge is asked about outputs; those outside the set are not judged."""
        terms = self.judges[judge]
        for output in outputs:
            if output.key in self._set:
                for condition in terms.conditions:
                    for repeat in range(1, terms.repeats + 1):
                        yield self.judgement(terms, output, condition, repeat)

    def judgement(self, judge: JudgeTerms, output: Output, condition: str, repeat: int) -> PlannedJudgement:
        """One judgement of the plan."""
        asked, task = self._asked(judge, output), None if self.terms.without_task else output.task
        nonce = nonce_of(
            judging=self.terms.digest,
            output=output.key,
            text=output.text,
            task=task or "",
            judge=judge.name,
            repeat=repeat,
        )
        said = judge_messages(self.terms.contract, asked, task=task, nonce=nonce)
        schema = evaluation_schema(self.terms.rubric, asked.meta) if condition == SCHEMA else None
        drawn = sha256(canonical([self._seed, "judging", output.key, repeat])).digest()
        seed = int.from_bytes(drawn[:4], "big") >> 1
        body = self._shared[judge.name].body(said, seed=seed, constraint=schema_fields(schema))
        what = {
            "condition": condition,
            "judge": judge.name,
            "judged_key": output.key,
            "repeat": repeat,
            "request": body,
        }
        request = Request(body, repeat - 1, schema=schema)
        return PlannedJudgement(digest(what), output, judge.name, condition, repeat, asked, digest(said), request)

    @staticmethod
    def method(judge: JudgeTerms, target: str) -> JudgingMethod:
        """How a judge judges a target (ruling J13)."""
        return own_method(judge.identity, target)

    def _asked(self, judge: JudgeTerms, output: Output) -> Asked:
        """What a judge is given: an alias for the target and one method for all, if the judging is blind."""
        aliases, method = self.terms.aliases, self.method(judge, output.target_model)
        meta = {
            "judge_model": judge.identity,
            "target_model": output.target_model if aliases is None else aliases[output.target_model],
            "question_id": output.question_id,
            "prompt_variant": output.prompt_variant,
            "output_id": self.terms.short_ids[output.key] if output.output_id is None else output.output_id,
            "method": method if aliases is None else JudgingMethod.CROSS,
            "timestamp": self.terms.date,
        }
        return Asked(meta, output.text)

    # --- records ---

    def response(self, judgement: PlannedJudgement, completion: Completion) -> Judgement:
        """The record of an evaluation, valid or not: what arrived, and all that follows from it (ruling C2)."""
        contract = self.terms.contract
        reading = contract.read(completion.text, judgement.asked)
        return Judgement(
            self.identity(judgement),
            completion.text,
            contract=label(contract),
            contract_params=dict(contract.params),
            rubric_sha256=self.terms.rubric.sha256(),
            protocol_compliant=reading.protocol_compliant,
            valid=reading.protocol_compliant,
            flags=reading.flags,
            findings=tuple(
                RecordedFinding(code=each.code, path=each.path, expected=each.expected, found=each.found)
                for each in reading.findings
            ),
            further_findings=tuple(
                RecordedCount(code=each.code, count=each.count) for each in reading.further_findings
            ),
            judge_flags=reading.judge_flags,
            further_judge_flags=reading.further_judge_flags,
            scores=reading.scores,
            verdict=reading.verdict,
            evidence=tuple(_recorded(each) for each in reading.evidence),
            evidence_checked=reading.evidence_checked,
            identifiers_checked=reading.identifiers_checked,
            finish_reason=completion.finish_reason,
            reasoning=completion.reasoning,
            rendered_prompt=completion.rendered_prompt,
            usage=completion.usage,
            server_model=completion.server_model,
            system_fingerprint=completion.system_fingerprint,
        )

    def failure(self, judgement: PlannedJudgement, failure: Failure) -> Failed:
        """The record of a judgement that nobody gave."""
        return Failed(self.identity(judgement), failure.reason)

    def identity(self, judgement: PlannedJudgement) -> JudgementIdentity:
        """What every record says of its judgement."""
        output, schema = judgement.output, judgement.request.schema
        return JudgementIdentity(
            key=judgement.key,
            study=self.study,
            judge=judgement.model,
            judged_key=output.key,
            judging_sha256=self.terms.digest,
            judging_condition=judgement.condition,
            repeat=judgement.repeat,
            asked=dict(judgement.asked.meta),
            target_model=output.target_model,
            method=self.method(self.judges[judgement.model], output.target_model),
            blind=self.terms.blind,
            item_id=output.question_id,
            condition=output.prompt_variant,
            model=output.model,
            sample=output.sample,
            prompt_sha256=judgement.prompt_sha256,
            schema_sha256=None if schema is None else digest(schema),
        )


def _recorded(evidence: Evidence) -> RecordedQuote:
    start, end = evidence.span or (None, None)
    return RecordedQuote(
        dimension=evidence.dimension, quote=evidence.quote, kind=evidence.kind, start=start, end=end
    )
